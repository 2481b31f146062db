/* matmul.h -- what the product of two matrices shares with that of many. */
#ifndef EDDY_MATMUL_H
#define EDDY_MATMUL_H

#include "ops/product.h"

typedef struct eddy_matmul_attrs {
    bool transpose_a, transpose_b;
} eddy_matmul_attrs;
extern const eddy_attr_field eddy_matmul_fields[];

/* Element types, ranks and inner sizes fit; y is [..., *m, *n].  Both inputs are
 * matrices, or with `many` have more dimensions in front. */
bool eddy_infer_product(eddy_infer *c, bool many, int64_t *m, int64_t *n);
/* Its operands a and b, of more dimensions the matrices in the last two, as a dense
 * product; nothing says where they are yet. */
eddy_product eddy_product_like(eddy_matmul_attrs t, eddy_type a, eddy_type b);
/* The gradient of both, made of products by the same op. */
void eddy_product_gradient(eddy_rule *r);
double eddy_product_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);

#endif
