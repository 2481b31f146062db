/* matmul_threads.h -- the product of two matrices, with an epilogue that is applied while the
 * result is in the cache, on the threads of a kernel. Private to ops/. */
#ifndef EDDY_OPS_KERNELS_MATMUL_MATMUL_THREADS_H
#define EDDY_OPS_KERNELS_MATMUL_MATMUL_THREADS_H

#include "graph/op.h"

/* y = activation(alpha op(a) op(b) + beta y + bias + residual), with y [m,n], the inner
 * size k, and op an optional transpose.  Stored rows are lda, ldb, ldy, ldr elements
 * apart.  If beta is 0, y is not read. */
typedef struct eddy_product {
    eddy_dtype   dtype;                  /* of y */
    bool         pairs;                  /* a and b are bfloat16, and y is float32 */
    bool         halves;                 /* all arrays are bfloat16 (half_product.h) ... */
    bool         round_a, round_b, round_bias;   /* ... except those in float32, which are rounded */
    bool         transpose_a, transpose_b;
    int64_t      m, n, k, lda, ldb, ldy, ldr;
    double       alpha, beta;            /* 1 and 0 except for float32 and float64 */
    const void  *a, *b;
    void        *y;
    const void  *bias;                   /* n elements, for each row; or NULL */
    const void  *residual;               /* [m,n]; or NULL */
    eddy_tile_fn activation;             /* the inner loop of an elementwise op; or NULL */
    const struct eddy_gemm *plan;        /* NULL: by BLAS or a loop */
    void        *scratch;
    const struct eddy_stop *stop;        /* of the kernel that runs it; NULL: none */
} eddy_product;

/* The plain product of dense matrices of type d; that of bfloat16 matrices is float32, unless
 * `halves` is set (see ops/kernels/bfloat16_pairs.h). */
eddy_product eddy__product_of(eddy_dtype d, bool transpose_a, bool transpose_b, int64_t m,
                              int64_t n, int64_t k);

/* Plans products like p, and adds the memory that they need on the threads of k to
 * k->scratch_size.  Returns the value of p->plan, possibly NULL.  b is input `b` of k, which is
 * packed once if it is constant; -1: it is a part of one.  Only in prepare. */
const struct eddy_gemm *eddy__product_plan(eddy_kernel *k, const eddy_product *p, int b);

/* The bits depend on the sizes and the instruction set, never on the number of threads. */
void eddy__product_run(const eddy_kernel *k, const eddy_product *p);

/* `count` products that differ only in the pointers, which `place` sets for number i. */
typedef void (*eddy_product_place)(const void *arg, int64_t i, eddy_product *p);
void eddy__product_many(const eddy_kernel *k, const eddy_product *p, int64_t count,
                        eddy_product_place place, const void *arg);

/* Applies the epilogue to rows [i0, i1) and columns [j0, j1) of y. */
void eddy__product_finish(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1);

#endif
