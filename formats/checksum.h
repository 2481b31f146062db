/* checksum.h -- checksums of files. */
#ifndef EDDY_FORMATS_CHECKSUM_H
#define EDDY_FORMATS_CHECKSUM_H

#include "wire.h"

uint32_t eddy__file_crc32(wire_bytes b);     /* of ZIP */
uint32_t eddy__file_crc32c(wire_bytes b);    /* Castagnoli's, of LevelDB */

#endif
