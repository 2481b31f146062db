/* resize.h -- image resizing to another height and width: code shared by the operations and their
 * gradients; private to ops/.
 *
 * All methods are linear and separable: y = H x V' for each channel, with matrices of few terms
 * per row. The gradient uses the transposes of both matrices. */
#ifndef EDDY_OPS_KERNELS_IMAGES_RESIZE_H
#define EDDY_OPS_KERNELS_IMAGES_RESIZE_H

#include "graph/op.h"

/* ------------------------------------------------------------ the operations -- */

typedef enum eddy_resize_method {
    EDDY_RESIZE_NEAREST, EDDY_RESIZE_BILINEAR, EDDY_RESIZE_BICUBIC, EDDY_RESIZE_AREA
} eddy_resize_method;

typedef struct eddy_resize_attrs {
    eddy_dims size;                  /* height and width of the result; omitted if it is an input */
    bool      align_corners, half_pixel_centers;
} eddy_resize_attrs;
extern const eddy_attr_field eddy__resize_fields[];

/* The operation of a method, which is its variant. */
const eddy_op_def *eddy__resize_op(eddy_resize_method m);
/* Checks the attributes and input 0, images or a tensor of their shape; *x is its shape, of rank 4,
 * and *y that of the result, whose size is the last input, if the op has it, or in the
 * attributes. */
bool eddy__infer_resize(eddy_infer *c, eddy_shape *x, eddy_shape *y);
/* Checks that input i is a size, two integers in [1, 2^24]; *size is open where it is unknown. */
bool eddy__infer_image_size(eddy_infer *c, int i, eddy_dims *size);
/* op->batch: examples become additional images. */
void eddy__resize_batch(eddy_batch *b);
/* op->flops of each method and its gradient, except nearest, which only copies. */
double eddy__resize_bilinear_flops(const void *attrs, int n_in, const eddy_type *in,
                                   const eddy_type *out);
double eddy__resize_bicubic_flops(const void *attrs, int n_in, const eddy_type *in,
                                  const eddy_type *out);
double eddy__resize_area_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out);

/* ---------------------------------------------------------------- the terms -- */

/* The attributes with the size of the result. */
eddy_resize_attrs eddy__resize_to_shape(const eddy_resize_attrs *a, eddy_shape made);

/* A row for each position along an axis: y[i] is the sum of weight[t] x[at[t]] over the t from
 * first[i] up to first[i + 1]. */
typedef struct eddy_terms {
    int64_t  n, read;                /* sizes of y and of x */
    int64_t  each;                   /* terms of every position, if all have as many; else -1 */
    bool     mix;                    /* two terms each, whose weights sum to 1 */
    int64_t *first;
    int32_t *at;
    double  *wide;                   /* the weights */
    float   *narrow;
} eddy_terms;

/* Bytes, a multiple of 8, for the terms of axis i (0 height, 1 width) of size `in`. */
uint64_t eddy__terms_bytes(eddy_resize_method m, const eddy_resize_attrs *a, int i, int64_t in);
/* The terms, or with `back` the transposed ones, in `memory` of that size, with `back` twice. */
eddy_terms eddy__terms_of(eddy_resize_method m, const eddy_resize_attrs *a, int i, int64_t in,
                          bool back, void *memory);

/* ----------------------------------------------------------------- the runs -- */

typedef struct eddy_resample {
    eddy_terms axis[2];
    int64_t    batch, channels;
    int64_t    ring;                 /* rows of x kept with columns resized; 0: rows first */
    uint64_t   each;                 /* scratch of a worker */
    const void *x;
    void       *y;
} eddy_resample;

/* For op->prepare: sets k->state and the scratch memory, for images of shape x, or with `back` for
 * gradients of that shape. */
eddy_status eddy__resample_prepare(eddy_kernel *k, eddy_shape x, bool back);
/* Resizes input `from` of k. */
eddy_status eddy__resample_run(eddy_kernel *k, int from);

#endif
