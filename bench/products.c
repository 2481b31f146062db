/* products.c -- matrix products compared with OpenBLAS: operations per second, and the ratio of
 * times. For float32, on one thread and on two, the shapes are those of the networks in
 * bench/workloads: forward, gradient of the input (NT), gradient of the weights (TN). For float64,
 * in processor time of one thread, they are thin and small, and the peer is the faster of dgemm and
 * one dgemv for each column.
 *
 *   products [0 | 1 | 2]      at most the baseline, AVX2, AVX-512 */
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

/* -------------------------------------------------------------------- float64 -- */

static const struct shape thin[] = {
    { "column 64x1x64", 0, 0, 64, 1, 64 },
    { "column 500x1x500", 0, 0, 500, 1, 500 },
    { "column 500x1x500, transposed", 1, 0, 500, 1, 500 },
    { "column 1500x1x1500", 0, 0, 1500, 1, 1500 },
    { "column 1500x1x1500, transposed", 1, 0, 1500, 1, 1500 },
    { "two columns 1000x2x1000", 0, 0, 1000, 2, 1000 },
    { "three columns 1000x3x1000", 0, 0, 1000, 3, 1000 },
    { "six columns 1000x6x1000", 0, 0, 1000, 6, 1000 },
    { "tall 100000x5x5", 0, 0, 100000, 5, 5 },
    { "normal equations 5x5x100000", 1, 0, 5, 5, 100000 },
    { "square 4", 0, 0, 4, 4, 4 },
    { "square 16", 0, 0, 16, 16, 16 },
    { "square 64", 0, 0, 64, 64, 64 },
};
enum { THIN = sizeof thin / sizeof *thin, WAYS = 3 };

static double wide_a[MOST], wide_b[MOST], wide_y[MOST];

/* By Eddy, by dgemm, by dgemv. */
static void product64(const eddy_kernel *k, const eddy_product *p, int how)
{
    const CBLAS_TRANSPOSE ta = p->transpose_a ? CblasTrans : CblasNoTrans;
    const int m = (int)p->m, n = (int)p->n, inner = (int)p->k, lda = (int)p->lda;
    if (how == 0) eddy__product_run(k, p);
    else if (how == 1)
        cblas_dgemm(CblasRowMajor, ta, CblasNoTrans, m, n, inner, 1, wide_a, lda, wide_b,
                    (int)p->ldb, 0, wide_y, n);
    else for (int j = 0; j < n; j++)
        cblas_dgemv(CblasRowMajor, ta, p->transpose_a ? inner : m, p->transpose_a ? m : inner, 1,
                    wide_a, lda, wide_b + j, n, 0, wide_y + j, n);
}

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure64(const struct shape *s, bench_table *rates, bench_table *gains)
{
    static bench_samples rate, gain;
    const eddy_kernel k = { .threads = 1 };
    const double      operations = 2.0 * s->m * s->n * s->k;
    const int         times = (int)(SLICE / 10 / operations) + 1;
    eddy_product p = eddy__product_of(EDDY_FLOAT64, s->transpose_a, false, s->m, s->n, s->k);
    p.a = wide_a, p.b = wide_b, p.y = wide_y;
    rate.n = gain.n = 0;
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        double took[WAYS];
        for (int how = 0; how < WAYS; how++) {
            const double start = processor_time();
            for (int j = 0; j < times; j++) product64(&k, &p, how);
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
    static bench_table rates = { .program = "products of float64, one thread" };
    static bench_table gains = { .program = "products of float64 over OpenBLAS" };
    openblas_set_num_threads(1);
    for (int i = 0; i < MOST; i++) wide_a[i] = a[i], wide_b[i] = b[i];
    for (int i = 0; i < THIN; i++) measure64(&thin[i], &rates, &gains);
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
    for (int threads = 1; threads <= 2; threads++) {
        openblas_set_num_threads(threads);
        for (int i = 0; i < SHAPES; i++)
            measure(&shapes[i], threads, &rates[threads - 1], &gains[threads - 1]);
        bench_print(&rates[threads - 1]);
        bench_print(&gains[threads - 1]);
    }
    return 0;
}
