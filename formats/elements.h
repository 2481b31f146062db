/* elements.h -- elements of files as elements of arrays. */
#ifndef EDDY_FORMATS_ELEMENTS_H
#define EDDY_FORMATS_ELEMENTS_H

#include "../graph/graph.h"
#include "wire.h"

/* A little-endian number of up to 8 bytes. */
uint64_t eddy__number_at(const uint8_t *at, int bytes);
/* Element i of little-endian elements of 8, 16, 32 or 64 bits. */
uint64_t eddy__element_bits(wire_bytes b, int bits, int64_t i);
/* Stores an element of a file, by its bits: a floating-point number has the type of the array, an
 * integer may be narrower. Of complex arrays, i counts the parts. */
void eddy__element_store(eddy_array *a, int bits, bool is_signed, int64_t i, uint64_t value);

/* Whether elements of these bits, each part of complex ones, are the same bytes in a file and in
 * memory. */
bool eddy__element_is_same(eddy_dtype d, int bits);
/* Element i of an array as an integer: exact for integers, else saturated; 0 for NaN. */
int64_t eddy__element_integer(const eddy_array *a, int64_t i);

#endif
