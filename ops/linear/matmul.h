/* matmul.h -- declarations shared by the matrix product and the batched matrix product. */
#ifndef EDDY_OPS_LINEAR_MATMUL_H
#define EDDY_OPS_LINEAR_MATMUL_H

#include "ops/kernels/matmul/matmul_threads.h"

typedef struct eddy_matmul_attrs {
    bool transpose_a, transpose_b;
} eddy_matmul_attrs;
extern const eddy_attr_field eddy__matmul_fields[];

/* Checks that the inner dimensions of the matrices match; there may be leading dimensions. y is
 * [..., *m, *n]. */
bool eddy__infer_product(eddy_infer *c, int64_t *m, int64_t *n);
/* The product of the matrices in the last two dimensions of a and b, with a result of type y, without
 * the addresses of the operands. */
eddy_product eddy__product_like(eddy_matmul_attrs t, eddy_type a, eddy_type b, eddy_dtype y);
/* The gradient of both operations, composed of products by the same operation. */
void eddy__product_gradient(eddy_rule *r);
/* The batching rule of both, for examples that are single matrices. */
void eddy__product_batch(eddy_batch *b);
double eddy__product_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);

#endif
