/* conv_winograd.h -- Winograd convolution (minimal filtering); private to ops/.
 *
 * float32, filters of 3x3 or 5x5, strides, dilations and groups 1, channels innermost. A tile of
 * six by six of the input gives four by four pixels of the result with 3x3 taps, two by two with
 * 5x5: both the tile and the filter are evaluated, as polynomials, at 0, 5/8, -5/8, 3/2, -3/2 and
 * infinity along each axis; the 36 values are multiplied one by one and summed over channels, as
 * 36 matrix products; the pixels are interpolated. 36 products replace 144, or 100. With these
 * points the error, relative to the largest element of a tile, is one to two times that of direct
 * sums (with the usual points 1, -1, 2, -2 it is five times larger). The gradients work the same
 * way: with respect to the input with the filter reversed, with respect to the filter with the
 * transposed transforms and sums over tiles. */
#ifndef EDDY_OPS_KERNELS_CONVOLUTION_CONV_WINOGRAD_H
#define EDDY_OPS_KERNELS_CONVOLUTION_CONV_WINOGRAD_H

#include "ops/kernels/convolution/conv_direct.h"

enum { EDDY_WINOGRAD_IN = 6, EDDY_WINOGRAD_POINTS = 36, EDDY_WINOGRAD_OUT_MOST = 4,
       EDDY_WINOGRAD_TAPS_MOST = 5 };

/* The transforms of one tile for n channels, with filters of `side` taps and `out` pixels of the
 * result along an axis; side + out is 7.  A list has the address of each pixel or tap, row by row;
 * the value at point p of the 36 is at p * step.  Values are written in whole vectors, padded with
 * zeros. */
typedef struct eddy_winograd_tile {
    int  side, out;
    void (*input)(const void *const *from, int64_t n, float *to, int64_t step);  /* of 36 */
    void (*output)(const float *from, int64_t step, int64_t n, float *const *to, float *check);
    void (*slope)(const void *const *from, int64_t n, float *to, int64_t step);  /* out * out */
    void (*filter)(const void *const *from, int64_t n, float *to, int64_t step);  /* side * side */
    /* The transpose of `filter`, as `output` is the transpose of `slope`. Both set *check, a
     * vector, to NaN where a result is not finite. */
    void (*taps)(const float *from, int64_t step, int64_t n, float *const *to, float *check);
    /* input and slope of bfloat16, with AVX2. */
    void (*input_half)(const void *const *from, int64_t n, float *to, int64_t step);
    void (*slope_half)(const void *const *from, int64_t n, float *to, int64_t step);
} eddy_winograd_tile;

/* With 3 taps and with 5. */
typedef struct eddy_winograd_tiles {
    eddy_winograd_tile of[2];
} eddy_winograd_tiles;

extern const eddy_winograd_tiles eddy__winograd_plain;
#if defined(__x86_64__)
extern const eddy_winograd_tiles eddy__winograd_avx2, eddy__winograd_avx512;
#endif
static inline const eddy_winograd_tile *eddy__winograd_tile_of(const eddy_conv_tiles *t,
                                                               int64_t side)
{
    return &t->wino->of[side == 5];
}

/* Like eddy__conv_direct and eddy__conv_direct_weights, to which they fall back if a result is not
 * finite: infinity affects its whole tile, and an intermediate value may overflow. */
eddy_status eddy__conv_winograd_prepare(eddy_kernel *k, const eddy_conv_size *s, bool back);
void eddy__conv_winograd(const eddy_kernel *k, const void *x, const void *filter, void *y,
                         eddy_conv_finish finish);
eddy_status eddy__conv_winograd_weights_prepare(eddy_kernel *k, const eddy_conv_size *s);
void eddy__conv_winograd_weights(const eddy_kernel *k, const void *x, const void *dy, void *dw);

/* The tiles of images [batch, size, c], `out` pixels from one to the next, and the position of the
 * first one. */
typedef struct eddy_winograd_grid {
    int64_t size[2], c, out, first[2], tiles[2], count;
    bool    halves;                  /* of bfloat16 */
} eddy_winograd_grid;
eddy_winograd_grid eddy__winograd_grid_of(const int64_t size[2], int64_t c, int64_t out,
                                  const int64_t first[2], const int64_t covered[2], int64_t batch);
/* The addresses of the pixels of tile t of images x; `outside` for those outside all images. */
void eddy__winograd_find(const eddy_winograd_grid *g, int side, int64_t t, const void *x,
                         const void *outside, const void **at);
/* Whether any lane of a check is NaN. */
bool eddy__winograd_spoilt(const float *check, int lanes);

#endif
