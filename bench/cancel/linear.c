/* linear.c -- products, attention, factors of matrices, systems of equations. */
#include "bench/cancel/cancel.h"

static eddy_tensor wide(eddy_tensor x) { return eddy_cast(x, EDDY_FLOAT64); }

static eddy_tensor product(eddy_tensor x) { return eddy_matmul(x, x); }
static eddy_tensor product64(eddy_tensor x) { return product(wide(x)); }
static eddy_tensor product_c(eddy_tensor x) { return product(eddy_complex(x, x)); }
static eddy_tensor product_of_integers(eddy_tensor x)
{
    return product(eddy_cast(eddy_mul(x, eddy_scalar(x.graph, 9)), EDDY_INT32));
}
static eddy_tensor einsum64(eddy_tensor x)
{
    return eddy_einsum("bij,bkj->bik", EDDY_LIST(wide(x), wide(x)));
}
static eddy_tensor attention(eddy_tensor x) { return eddy_scaled_dot_product_attention(x, x, x); }
static eddy_tensor lstm(eddy_tensor x)
{
    const eddy_tensor zero = eddy_zeros(x.graph, EDDY_FLOAT32, EDDY_SHAPE(64, 512));
    return eddy_block_lstm(x, zero, zero, eddy_random_normal(x.graph, EDDY_SHAPE(512, 2048)));
}

/* x x' + 1. */
static eddy_tensor positive(eddy_tensor x)
{
    const eddy_tensor one = eddy_eye(x.graph, eddy_shape_of(x).dim[0]);
    return eddy_add(eddy_matmul(x, x, .transpose_b = true), one);
}
static eddy_tensor cholesky(eddy_tensor x) { return eddy_cholesky(positive(x)); }
static eddy_tensor cholesky64(eddy_tensor x) { return eddy_cholesky(wide(positive(x))); }
static eddy_tensor solve64(eddy_tensor x) { return eddy_solve(wide(positive(x)), wide(x)); }
static eddy_tensor lu64(eddy_tensor x) { return eddy_lu(wide(positive(x)), EDDY_INT32); }
static eddy_tensor triangle64(eddy_tensor x)
{
    const eddy_tensor one = eddy_eye(x.graph, eddy_shape_of(x).dim[0]);
    return eddy_triangular_solve(wide(eddy_add(x, one)), wide(x));
}
static eddy_tensor inverse64(eddy_tensor x) { return eddy_inverse(wide(positive(x))); }
static eddy_tensor qr64(eddy_tensor x) { return eddy_qr(wide(x)); }
static eddy_tensor exponential(eddy_tensor x) { return eddy_matrix_exp(wide(x)); }
static eddy_tensor eigh64(eddy_tensor x) { return eddy_eigh(wide(positive(x))); }
static eddy_tensor svd64(eddy_tensor x) { return eddy_svd(wide(x)); }
static eddy_tensor eig64(eddy_tensor x) { return eddy_eig(wide(x)); }

const work linear_works[] = {
    { "matmul", { 1700, 1700 }, .build = product, .every_way = true },
    { "matmul, 2 threads", { 1700, 1700 }, .build = product, .threads = 2 },
    { "matmul f64", { 1500, 1500 }, .build = product64 },
    { "matmul c64", { 1000, 1000 }, .build = product_c },
    { "matmul int32", { 700, 700 }, .build = product_of_integers },
    { "batched f64", { 80, 256, 256 }, .build = product64 },
    { "einsum f64", { 2, 800, 800 }, .build = einsum64 },
    { "attention", { 2, 4000, 64 }, .build = attention },
    { "lstm", { 40, 64, 2048 }, .build = lstm },
    { "cholesky", { 1500, 1500 }, .build = cholesky },
    { "cholesky f64", { 2000, 2000 }, .build = cholesky64 },
    { "solve f64", { 1500, 1500 }, .build = solve64 },
    { "lu f64", { 2000, 2000 }, .build = lu64 },
    { "triangle f64", { 2000, 2000 }, .build = triangle64 },
    { "inverse f64", { 1500, 1500 }, .build = inverse64 },
    { "qr f64", { 1500, 1500 }, .build = qr64 },
    { "matrix_exp", { 600, 600 }, .build = exponential },
    { "eigh f64", { 1000, 1000 }, .build = eigh64, .every_way = true },
    { "svd f64", { 800, 800 }, .build = svd64 },
    { "eig f64", { 700, 700 }, .build = eig64 },
    { .name = NULL },
};
