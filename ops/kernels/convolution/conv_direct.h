/* conv_direct.h -- direct convolution, without a matrix of patches (im2col); private to ops/.
 *
 * Channels are innermost. A tile is a few pixels of a row by one panel of output channels, or a
 * few rows of the filter by such a panel, and stays in registers. A panel is two vectors of
 * channels; the last panel of a group may be one vector. */
#ifndef EDDY_OPS_KERNELS_CONVOLUTION_CONV_DIRECT_H
#define EDDY_OPS_KERNELS_CONVOLUTION_CONV_DIRECT_H

#include "ops/kernels/convolution/conv.h"

/* See eddy__conv_run and eddy__conv_filter_run. With `keep`, a constant filter, input 1 of k, is
 * packed once. */
eddy_status eddy__conv_direct_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s,
                                      bool back, bool keep);
void eddy__conv_direct(const eddy_kernel *k, const void *x, const void *filter, void *y,
                       eddy_conv_finish finish);
eddy_status eddy__conv_direct_weights_prepare(eddy_kernel *k, eddy_dtype d,
                                              const eddy_conv_size *s);
void eddy__conv_direct_weights(const eddy_kernel *k, const void *x, const void *dy, void *dw);

/* y[i, :] = sum over taps t and k < run of x[at[t] + i * x_step + k] w[t * run + k, :] for
 * the pixels i of a strip.  Steps and positions are in elements. */
typedef struct eddy_conv_strip {
    const void    *x, *w;            /* w: [taps * run, one or two vectors] */
    void          *y;
    const int64_t *at;
    int64_t        taps, run;
    int64_t        pixels, x_step, y_step;
    int            channels;         /* of the panel, to be written */
} eddy_conv_strip;

/* dw[k, :] += sum over pixels p of x[p + k] dy[p, :] for k < run.  The pixels are those of
 * some images, rows and columns, with steps in x and in dy for each of the three. */
typedef struct eddy_conv_patch {
    const void *x, *dy;
    void       *dw;                  /* [run, one or two vectors] */
    int64_t     count[3], x_step[3], dy_step[3];
    int64_t     run;
    int         channels;            /* of the panel; dy is read up to its whole width */
} eddy_conv_patch;

/* The loops of one element type and instruction set. */
typedef struct eddy_conv_tiles {
    int  lanes;                      /* of a vector */
    void (*strip)(const eddy_conv_strip *s);
    void (*patch)(const eddy_conv_patch *p);
    const struct eddy_winograd_tiles *wino;              /* NULL: none (conv_winograd.h) */
} eddy_conv_tiles;

extern const eddy_conv_tiles eddy__conv_plain_f32, eddy__conv_plain_f64;
#if defined(__x86_64__)
extern const eddy_conv_tiles eddy__conv_avx2_f32, eddy__conv_avx2_f64;
extern const eddy_conv_tiles eddy__conv_avx512_f32, eddy__conv_avx512_f64;
extern const eddy_conv_tiles eddy__conv_avx512_pairs;
#endif
/* The fastest tiles that the processor supports and the limit allows; for EDDY_BFLOAT16 those for
 * pairs, with float32 results, which have no patches. */
const eddy_conv_tiles *eddy__conv_tiles_of(eddy_dtype d);

/* Applies the epilogue to a strip of the result, at element `y` and from channel `channel` on. */
void eddy__conv_finish_strip(const eddy_conv_finish *f, eddy_dtype d, const eddy_conv_strip *s,
                             int64_t y, int64_t channel);

/* The number of channels of a group of n, padded to whole vectors. */
static inline int64_t eddy__conv_padded(const eddy_conv_tiles *t, int64_t n)
{
    return (n + t->lanes - 1) / t->lanes * t->lanes;
}
/* The width of the panel that begins at channel `from` of n. */
static inline int64_t eddy__conv_panel(const eddy_conv_tiles *t, int64_t n, int64_t from)
{
    return n - from > t->lanes ? 2 * t->lanes : t->lanes;
}

/* ---------------------------------------------------------------- bands -- */

/* The positions of one array that are read for a position of another, along one axis: position i
 * reads i * step + at[t] at tap t; the taps ascend. */
typedef struct eddy_conv_axis {
    int64_t  places, step, taps;
    int64_t  at0, at_step;           /* at[t] = at0 + t * at_step */
    int64_t  tap0, tap_step;         /* index of the tap in the filter: tap0 + t * tap_step */
    int64_t  first, space;           /* position i is first + i * space in its array */
} eddy_conv_axis;

/* Removes the taps that never read one of n elements, except one if that would remove all: the
 * zeros between them then need no memory. */
eddy_conv_axis eddy__conv_trimmed_axis(eddy_conv_axis a, int64_t n);
/* The positions of x that the result reads along the height (i = 0) or the width (1). */
eddy_conv_axis eddy__conv_forward_axis(const eddy_conv_size *s, int i);

static inline int64_t eddy__conv_at(const eddy_conv_axis *a, int64_t tap)
{
    return a->at0 + tap * a->at_step;
}

/* An image, or some rows of it, with channels innermost. */
typedef struct eddy_conv_image {
    const char *data;
    int64_t     h, w, c;
    bool        planes;              /* channels outermost instead */
    size_t      size;                /* of an element */
    bool        halves;              /* it is bfloat16, and float32 in bands */
} eddy_conv_image;

/* Bytes of n pixels in memory. */
static inline size_t eddy__conv_bytes(const eddy_conv_image *m, int64_t n)
{
    return (size_t)(n * m->c) * (m->halves ? sizeof(uint16_t) : m->size);
}

/* Whether only positions inside the image are read, so that no band needs to be copied. */
bool eddy__conv_inside(const eddy_conv_image *m, const eddy_conv_axis *h, const eddy_conv_axis *w);
/* The number of rows and columns of the band that `places` positions of h and all of w read. */
int64_t eddy__conv_band_rows(const eddy_conv_axis *h, int64_t places);
int64_t eddy__conv_band_cols(const eddy_conv_axis *w);
/* Copies the rows read by positions [from, to) of h to `band`, with zeros around the image; the
 * band begins at the position that tap 0 of h and w reads for positions `from` and 0. */
void eddy__conv_fill_band(const eddy_conv_image *m, const eddy_conv_axis *h,
                          const eddy_conv_axis *w, int64_t from, int64_t to, char *band);
/* n elements of an image, in float32 if they are bfloat16. */
void eddy__conv_copy(const eddy_conv_image *m, void *to, const void *from, int64_t n);
/* to[i, j] = from[j, i] if `transposed`, otherwise from[i, j], of n by m elements; the strides are
 * those of rows. */
void eddy__conv_move(size_t size, int64_t n, int64_t m, bool transposed, void *to, int64_t to_row,
                     const void *from, int64_t from_row);

#endif
