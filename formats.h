/* formats.h -- the header of libeddy_formats, which reads model files of other programs. */
#ifndef EDDY_ALL_FORMATS_H
#define EDDY_ALL_FORMATS_H

#include "formats/formats.h"

#endif
