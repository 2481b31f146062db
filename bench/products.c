/* products.c -- matrix products compared with OpenBLAS: operations per second, and the ratio of
 * times. For float32, on one thread and on two, the shapes are those of the networks in
 * bench/workloads: forward, gradient of the input (NT), gradient of the weights (TN). For float64
 * and complex128, in processor time of one thread, they are thin and small, single or in batches,
 * and the peer is the faster of gemm and one gemv for the row or for each column.
 *
 *   products [0 | 1 | 2] [thin]      at most the baseline, AVX2, AVX-512; those of 64 bits only */
#include "bench/bench.h"
#include "graph/base/cpu.h"
#include "ops/kernels/matmul/gemm.h"

#include <cblas.h>

enum { ROUNDS = 25, WARM_UP = 2, MOST = 1024 * 3136 };
static const double SLICE = 4e7;               /* operations in one measurement */

static const struct shape {
    const char *name;
    bool        transpose_a, transpose_b;
    int         m, n, k;
} shapes[] = {
    { "logistic forward 128x10x784", 0, 0, 128, 10, 784 },
    { "logistic input 128x784x10", 0, 1, 128, 784, 10 },
    { "logistic weights 784x10x128", 1, 0, 784, 10, 128 },
    { "mlp forward 128x512x784", 0, 0, 128, 512, 784 },
    { "mlp input 128x512x512", 0, 1, 128, 512, 512 },
    { "mlp weights 784x512x128", 1, 0, 784, 512, 128 },
    { "mlp forward 1024x512x784", 0, 0, 1024, 512, 784 },
    { "mlp input 1024x784x512", 0, 1, 1024, 784, 512 },
    { "mlp weights 784x512x1024", 1, 0, 784, 512, 1024 },
    { "small mlp forward 32x32x64", 0, 0, 32, 32, 64 },
    { "small mlp input 32x64x32", 0, 1, 32, 64, 32 },
    { "small mlp weights 64x32x32", 1, 0, 64, 32, 32 },
    { "small mlp forward 32x10x32", 0, 0, 32, 10, 32 },
    { "lenet forward 64x1024x3136", 0, 0, 64, 1024, 3136 },
    { "lenet input 64x3136x1024", 0, 1, 64, 3136, 1024 },
    { "lenet weights 3136x1024x64", 1, 0, 3136, 1024, 64 },
    { "columns weights 32x25x784", 0, 1, 32, 25, 784 },
    { "columns forward 16x1024x144", 0, 0, 16, 1024, 144 },
    { "columns weights 16x144x1024", 0, 1, 16, 144, 1024 },
    { "lstm step 32x1024x256", 0, 0, 32, 1024, 256 },
    { "lstm input 32x256x1024", 0, 1, 32, 256, 1024 },
    { "lstm weights 256x1024x32", 1, 0, 256, 1024, 32 },
    { "gpt forward 1024x384x128", 0, 0, 1024, 384, 128 },
    { "gpt input 1024x128x512", 0, 1, 1024, 128, 512 },
    { "gpt weights 128x512x1024", 1, 0, 128, 512, 1024 },
    { "gpt head 1024x65x128", 0, 0, 1024, 65, 128 },
    { "attention scores 128x128x32", 0, 1, 128, 128, 32 },
    { "attention values 128x32x128", 0, 0, 128, 32, 128 },
    { "square 16", 0, 0, 16, 16, 16 },
    { "square 64", 0, 0, 64, 64, 64 },
    { "square 512", 0, 0, 512, 512, 512 },
    { "square 1024", 0, 0, 1024, 1024, 1024 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static float a[MOST], b[MOST], y[MOST];

static void by_blas(const eddy_product *p)
{
    cblas_sgemm(CblasRowMajor, p->transpose_a ? CblasTrans : CblasNoTrans,
                p->transpose_b ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1, a,
                (int)p->lda, b, (int)p->ldb, 0, y, (int)p->ldy);
}

/* The two alternate, so that a busy machine slows both. */
static void measure(const struct shape *s, int threads, bench_table *rates, bench_table *gains)
{
    static bench_samples ours, gain;
    const eddy_kernel k = { .threads = threads };
    const double      operations = 2.0 * s->m * s->n * s->k;
    const int         times = (int)(SLICE / operations) + 1;
    eddy_product p = eddy__product_of(EDDY_FLOAT32, s->transpose_a, s->transpose_b, s->m, s->n,
                                      s->k);
    eddy_gemm    g;
    p.a = a, p.b = b, p.y = y;
    if (eddy__gemm_plan(&g, &p)) {
        p.plan = &g;
        p.scratch = aligned_alloc(64, (eddy__gemm_scratch(&g) + 64) * (size_t)threads);
        bench_need(p.scratch != NULL, "out of memory");
    }
    ours.n = gain.n = 0;
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        const double start = bench_now();
        for (int j = 0; j < times; j++) by_blas(&p);
        const double blas = bench_now() - start, again = bench_now();
        for (int j = 0; j < times; j++) eddy__product_run(&k, &p);
        const double quick = bench_now() - again;
        if (i < 0) continue;
        bench_add(&ours, 1e-9 * operations * times / quick);
        bench_add(&gain, blas / quick);
    }
    bench_enter(rates, s->name, &ours, "GFLOP/s");
    bench_enter(gains, s->name, &gain, "times");
    free(p.scratch);
}

/* ---------------------------------------------------------------- 64 bits -- */

typedef struct thin {
    const char *name;
    bool        transpose_a;
    int         m, n, k, count;                /* of matrices in a batch */
} thin;

static const thin float64[] = {
    { "column 64x1x64", 0, 64, 1, 64, 1 },
    { "column 500x1x500", 0, 500, 1, 500, 1 },
    { "column 500x1x500, transposed", 1, 500, 1, 500, 1 },
    { "column 1500x1x1500", 0, 1500, 1, 1500, 1 },
    { "column 1500x1x1500, transposed", 1, 1500, 1, 1500, 1 },
    { "row 1x500x500", 0, 1, 500, 500, 1 },
    { "row 1x1500x1500", 0, 1, 1500, 1500, 1 },
    { "two columns 1000x2x1000", 0, 1000, 2, 1000, 1 },
    { "three columns 1000x3x1000", 0, 1000, 3, 1000, 1 },
    { "six columns 1000x6x1000", 0, 1000, 6, 1000, 1 },
    { "tall 100000x5x5", 0, 100000, 5, 5, 1 },
    { "normal equations 5x5x100000", 1, 5, 5, 100000, 1 },
    { "square 4", 0, 4, 4, 4, 1 },
    { "square 8", 0, 8, 8, 8, 1 },
    { "square 12", 0, 12, 12, 12, 1 },
    { "square 16", 0, 16, 16, 16, 1 },
    { "square 24", 0, 24, 24, 24, 1 },
    { "square 64", 0, 64, 64, 64, 1 },
    { "1000 of 3x3x3", 0, 3, 3, 3, 1000 },
    { "1000 of 8x8x8", 0, 8, 8, 8, 1000 },
    { "100 of 32x32x32", 0, 32, 32, 32, 100 },
};
static const thin complex128[] = {
    { "complex column 500x1x500", 0, 500, 1, 500, 1 },
    { "complex column 500x1x500, transposed", 1, 500, 1, 500, 1 },
    { "complex row 1x500x500", 0, 1, 500, 500, 1 },
    { "complex, two columns 500x2x500", 0, 500, 2, 500, 1 },
    { "complex tall 50000x5x5", 0, 50000, 5, 5, 1 },
    { "complex square 4", 0, 4, 4, 4, 1 },
    { "complex square 16", 0, 16, 16, 16, 1 },
    { "complex square 64", 0, 64, 64, 64, 1 },
    { "complex, 1000 of 4x4x4", 0, 4, 4, 4, 1000 },
};
enum { WAYS = 3 };

static double wide_a[2 * MOST], wide_b[2 * MOST], wide_y[2 * MOST];

static void by_gemm(bool is_complex, CBLAS_TRANSPOSE ta, const eddy_product *p)
{
    static const double one[] = { 1, 0 }, zero[] = { 0, 0 };
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, lda = (int)p->lda, ldb = (int)p->ldb;
    if (is_complex)
        cblas_zgemm(CblasRowMajor, ta, CblasNoTrans, m, n, k, one, p->a, lda, p->b, ldb, zero, p->y,
                    n);
    else
        cblas_dgemm(CblasRowMajor, ta, CblasNoTrans, m, n, k, 1, p->a, lda, p->b, ldb, 0, p->y, n);
}

/* The matrix of so many rows and columns, as it is stored, times a vector; `step` is the distance
 * of its elements, and of those of the result. */
static void by_gemv(bool is_complex, CBLAS_TRANSPOSE t, int rows, int columns, const void *matrix,
                    const void *x, void *out, int step)
{
    static const double one[] = { 1, 0 }, zero[] = { 0, 0 };
    if (is_complex)
        cblas_zgemv(CblasRowMajor, t, rows, columns, one, matrix, columns, x, step, zero, out,
                    step);
    else
        cblas_dgemv(CblasRowMajor, t, rows, columns, 1, matrix, columns, x, step, 0, out, step);
}

/* A row, or each of the columns. */
static void by_vectors(bool is_complex, CBLAS_TRANSPOSE ta, const eddy_product *p)
{
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k, size = is_complex ? 16 : 8;
    const bool transposed = ta == CblasTrans;
    if (m == 1) by_gemv(is_complex, CblasTrans, k, n, p->b, p->a, p->y, 1);
    else for (int j = 0; j < n; j++)
        by_gemv(is_complex, ta, transposed ? k : m, transposed ? m : k, p->a,
                (const char *)p->b + j * size, (char *)p->y + j * size, n);
}

/* The matrices of a batch are one after the other. */
static void at(const void *arg, int64_t i, eddy_product *p)
{
    const eddy_product *first = arg;
    const int64_t       size = (int64_t)eddy_dtype_size(p->dtype);
    p->a = (const char *)first->a + i * p->m * p->k * size;
    p->b = (const char *)first->b + i * p->k * p->n * size;
    p->y = (char *)first->y + i * p->m * p->n * size;
}

/* By Eddy, by gemm, by gemv. */
static void product(const thin *s, eddy_product p, int how)
{
    const eddy_kernel     k = { .threads = 1 };
    const eddy_product    first = p;
    const bool            is_complex = p.dtype == EDDY_COMPLEX128;
    const CBLAS_TRANSPOSE ta = s->transpose_a ? CblasTrans : CblasNoTrans;
    if (how == 0 && s->count > 1) eddy__product_many(&k, &p, s->count, at, &first);
    else if (how == 0) eddy__product_run(&k, &p);
    for (int i = 0; i < s->count && how > 0; i++) {
        at(&first, i, &p);
        if (how == 1) by_gemm(is_complex, ta, &p);
        else by_vectors(is_complex, ta, &p);
    }
}

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure64(const thin *s, eddy_dtype d, bench_table *rates, bench_table *gains)
{
    static bench_samples rate, gain;
    const double operations = (d == EDDY_COMPLEX128 ? 8.0 : 2.0) * s->m * s->n * s->k * s->count;
    const int    times = (int)(SLICE / 10 / operations) + 1;
    eddy_product p = eddy__product_of(d, s->transpose_a, false, s->m, s->n, s->k);
    p.a = wide_a, p.b = wide_b, p.y = wide_y;
    rate.n = gain.n = 0;
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        double took[WAYS];
        for (int how = 0; how < WAYS; how++) {
            const double start = processor_time();
            for (int j = 0; j < times; j++) product(s, p, how);
            took[how] = processor_time() - start;
        }
        if (i < 0) continue;
        bench_add(&rate, 1e-9 * operations * times / took[0]);
        bench_add(&gain, (took[1] < took[2] ? took[1] : took[2]) / took[0]);
    }
    bench_enter(rates, s->name, &rate, "GFLOP/s");
    bench_enter(gains, s->name, &gain, "times");
}

static void thin_products(void)
{
    static bench_table rates = { .program = "products of 64 bits, one thread" };
    static bench_table gains = { .program = "products of 64 bits over OpenBLAS" };
    openblas_set_num_threads(1);
    for (int i = 0; i < 2 * MOST; i++) wide_a[i] = a[i % MOST], wide_b[i] = b[i % MOST];
    for (size_t i = 0; i < sizeof float64 / sizeof *float64; i++)
        measure64(&float64[i], EDDY_FLOAT64, &rates, &gains);
    for (size_t i = 0; i < sizeof complex128 / sizeof *complex128; i++)
        measure64(&complex128[i], EDDY_COMPLEX128, &rates, &gains);
    bench_print(&rates);
    bench_print(&gains);
}

int main(int argc, char **argv)
{
    static bench_table rates[2] = { { .program = "products, one thread" },
                                    { .program = "products, two threads" } };
    static bench_table gains[2] = { { .program = "products over OpenBLAS, one thread" },
                                    { .program = "products over OpenBLAS, two threads" } };
    if (argc > 1) eddy__instructions_limit((eddy_instructions)atoi(argv[1]));
    bench_uniform(a, MOST, 1, -1, 1);
    bench_uniform(b, MOST, 2, -1, 1);
    thin_products();
    for (int threads = 1; threads <= 2 && argc < 3; threads++) {
        openblas_set_num_threads(threads);
        for (int i = 0; i < SHAPES; i++)
            measure(&shapes[i], threads, &rates[threads - 1], &gains[threads - 1]);
        bench_print(&rates[threads - 1]);
        bench_print(&gains[threads - 1]);
    }
    return 0;
}
