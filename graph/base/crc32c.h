/* crc32c.h -- CRC-32C (Castagnoli), the checksum of iSCSI and ext4: finds every error of up to 32
 * adjacent bits; not installed. */
#ifndef EDDY_GRAPH_BASE_CRC32C_H
#define EDDY_GRAPH_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of bytes that begin with those of checksum `before`; 0 for none. */
uint32_t eddy__crc32c(uint32_t before, const void *p, size_t n);
/* The same without the processor's instruction, for tests. */
uint32_t eddy__crc32c_by_table(uint32_t before, const void *p, size_t n);

#endif
