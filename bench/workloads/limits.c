/* limits.c -- the current speed of the machine, to compare steps with. */
#include "bench/workloads/workload.h"

#include "build/gen/table.h"

#include <cblas.h>
#include <pthread.h>

enum { SIDE = 768, REPEATS = 5 };

/* The rate of `work` in a time, from the median of REPEATS times. */
static double median_rate(double work, double *seconds)
{
    qsort(seconds, REPEATS, sizeof *seconds, bench_ascending);
    return work / seconds[REPEATS / 2];
}

double limit_products(double (*now)(void), int threads)
{
    const size_t n = (size_t)SIDE * SIDE;
    float       *a = calloc(3 * n, sizeof *a);
    double       seconds[REPEATS];
    bench_need(a, "out of memory");
    bench_uniform(a, 2 * (int64_t)n, 7, -1, 1);
    openblas_set_num_threads(threads);
    for (int i = 0; i < REPEATS; i++) {
        const double start = now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE,
                    a + n, SIDE, 0, a + 2 * n, SIDE);
        seconds[i] = now() - start;
    }
    free(a);
    return median_rate(2.0 * SIDE * SIDE * SIDE, seconds);
}

typedef struct part {
    float *x, *y;
    size_t n;
} part;

static void *add_scaled(void *argument)
{
    const part *p = argument;
    for (size_t i = 0; i < p->n; i++) p->y[i] = 0.5f * p->x[i] + p->y[i];
    return NULL;
}

double limit_bytes(double (*now)(void), int threads, size_t bytes)
{
    enum { MOST = 16 };
    const size_t n = bytes / (2 * sizeof(float));
    float       *x = calloc(2 * n, sizeof *x);
    double       seconds[REPEATS];
    bench_need(x && threads <= MOST, "no memory or too many threads");
    bench_uniform(x, 2 * (int64_t)n, 7, -1, 1);
    for (int i = 0; i < REPEATS; i++) {
        part      parts[MOST];
        pthread_t made[MOST];
        const size_t each = n / (size_t)threads;
        const double start = now();
        for (int k = 0; k < threads; k++) {
            parts[k] = (part){ x + (size_t)k * each, x + n + (size_t)k * each, each };
            if (k > 0) bench_need(pthread_create(&made[k], NULL, add_scaled, &parts[k]) == 0,
                                  "no thread");
        }
        add_scaled(&parts[0]);
        for (int k = 1; k < threads; k++) pthread_join(made[k], NULL);
        seconds[i] = now() - start;
    }
    free(x);
    return median_rate(3.0 * (double)n * sizeof(float), seconds);
}

double limit_functions(double (*now)(void), int threads)
{
    enum { ELEMENTS = 2048, CALLS = 200 };
    static const eddy_op_def *const functions[] = { &eddy_op_tanh, &eddy_op_sigmoid, &eddy_op_exp };
    static float    x[ELEMENTS], y[ELEMENTS];
    const void     *in = x;
    const eddy_type t = { EDDY_FLOAT32, EDDY_SHAPE(ELEMENTS) };
    double          seconds[REPEATS];
    bench_uniform(x, ELEMENTS, 1, -2, 2);
    for (int i = 0; i < REPEATS; i++) {
        const double start = now();
        for (int k = 0; k < (int)(sizeof functions / sizeof *functions); k++)
            for (int call = 0; call < CALLS; call++)
                functions[k]->tile(&t, &t)(ELEMENTS, y, &in, NULL);
        seconds[i] = now() - start;
    }
    return threads * median_rate((double)ELEMENTS * CALLS, seconds);
}
