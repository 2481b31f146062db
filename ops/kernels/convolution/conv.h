/* conv.h -- 2-D convolution and its gradients as kernels: sizes, the epilogue applied to the
 * result (bias, sum, relu), and the choice of the algorithm. */
#ifndef EDDY_OPS_KERNELS_CONVOLUTION_CONV_H
#define EDDY_OPS_KERNELS_CONVOLUTION_CONV_H

#include "graph/op.h"

/* The sizes of a convolution; pairs are those of height and width. */
typedef struct eddy_conv_size {
    int64_t batch, in_c, out_c, groups;
    int64_t in[2], out[2], filter[2], step[2], gap[2], before[2];
    bool    planes;                  /* channels come before height and width */
    bool    halves;                  /* x, y and their gradients are bfloat16, filters float32; no
                                      * planes, no residual */
} eddy_conv_size;

/* The epilogue, applied to a result while it is in the cache: y = f(y + bias + residual). */
typedef struct eddy_conv_finish {
    const void *bias, *residual;     /* NULL: none */
    bool        relu;
} eddy_conv_finish;

/* Prepares k->state for operands of type d (for bfloat16, see ops/kernels/bfloat16_pairs.h), and
 * computes y [batch, out, out_c], or with `back` dx from dy. */
eddy_status eddy__conv_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s, bool back);
void eddy__conv_run(const eddy_kernel *k, const void *x, const void *filter, void *y,
                    eddy_conv_finish finish);
/* The gradient of the filter. */
eddy_status eddy__conv_filter_prepare(eddy_kernel *k, eddy_dtype d, const eddy_conv_size *s);
void eddy__conv_filter_run(const eddy_kernel *k, const void *x, const void *dy, void *dw);

/* The algorithm: direct sums (conv_direct.h), or minimal filtering (conv_winograd.h).  A rule
 * chooses; tests and measurements may request another from now on, which is used where
 * possible. */
typedef enum eddy_conv_method {
    EDDY_CONV_BY_RULE, EDDY_CONV_DIRECT, EDDY_CONV_WINOGRAD
} eddy_conv_method;
eddy_conv_method eddy__conv_method_of(eddy_dtype d, const eddy_conv_size *s);
void eddy__conv_method_ask(eddy_conv_method m);

#endif
