/* transpose_tiles_32.h -- blocked transpose of a plane of 4-byte elements; private to ops/. */
#ifndef EDDY_OPS_KERNELS_ARRAYS_TRANSPOSE_TILES_32_H
#define EDDY_OPS_KERNELS_ARRAYS_TRANSPOSE_TILES_32_H

#include <stdint.h>

enum { EDDY_TILE_SIDE = 16 };

/* y[i * to + j] = x[j * from + i] for i < rows and j < n, both multiples of the side. */
void eddy__transpose_32(uint32_t *y, const uint32_t *x, int64_t rows, int64_t n, int64_t to,
                        int64_t from);

#endif
