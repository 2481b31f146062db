/* matmul.h -- declarations shared by the matrix product and the batched matrix product. */
#ifndef EDDY_OPS_LINEAR_MATMUL_H
#define EDDY_OPS_LINEAR_MATMUL_H

#include "ops/kernels/matmul/matmul_threads.h"

typedef struct eddy_matmul_attrs {
    bool transpose_a, transpose_b;
} eddy_matmul_attrs;
extern const eddy_attr_field eddy__matmul_fields[];

/* The inner sizes of the matrices fit, which may have more dimensions in front; y is
 * [..., *m, *n]. */
bool eddy__infer_product(eddy_infer *c, int64_t *m, int64_t *n);
/* Its operands a and b, of more dimensions the matrices in the last two, as a dense
 * product; nothing says where they are yet. */
eddy_product eddy__product_like(eddy_matmul_attrs t, eddy_type a, eddy_type b);
/* The gradient of both, made of products by the same op. */
void eddy__product_gradient(eddy_rule *r);
double eddy__product_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);

#endif
