/* formats.h -- the header of libeddy_formats: model files of other programs, and
 * event files for TensorBoard. */
#ifndef EDDY_ALL_FORMATS_H
#define EDDY_ALL_FORMATS_H

#include "formats/formats.h"
#include "formats/events.h"

#endif
