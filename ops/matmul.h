/* matmul.h -- what the product of two matrices shares with that of many. */
#ifndef EDDY_MATMUL_H
#define EDDY_MATMUL_H

#include "graph/op.h"

typedef struct eddy_matmul_attrs {
    bool transpose_a, transpose_b;
} eddy_matmul_attrs;
extern const eddy_attr_field eddy_matmul_fields[];

/* Element types, ranks and inner sizes fit; y is [..., *m, *n].  Both inputs are
 * matrices, or with `many` have more dimensions in front. */
bool eddy_infer_product(eddy_infer *c, bool many, int64_t *m, int64_t *n);
/* y [m,n] = a b with inner size k, of elements of type d that infer let through. */
void eddy_product(eddy_dtype d, eddy_matmul_attrs t, int64_t m, int64_t n, int64_t k,
                  const void *a, const void *b, void *y);
/* The gradient of both, made of products by the same op. */
void eddy_product_gradient(eddy_rule *r);
double eddy_product_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);

#endif
