/* limits.c -- the current speed of the machine, to compare steps with. */
#include "bench/workloads/workload.h"

#include <cblas.h>
#include <pthread.h>

enum { SIDE = 768, REPEATS = 5 };

double limit_products(double (*now)(void), int threads)
{
    const size_t n = (size_t)SIDE * SIDE;
    float       *a = calloc(3 * n, sizeof *a);
    double       best = 0;
    bench_need(a, "out of memory");
    bench_uniform(a, 2 * (int64_t)n, 7, -1, 1);
    openblas_set_num_threads(threads);
    for (int i = 0; i < REPEATS; i++) {
        const double start = now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE,
                    a + n, SIDE, 0, a + 2 * n, SIDE);
        const double rate = 2.0 * SIDE * SIDE * SIDE / (now() - start);
        if (rate > best) best = rate;
    }
    free(a);
    return best;
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
    double       best = 0;
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
        const double rate = 3.0 * (double)n * sizeof(float) / (now() - start);
        if (rate > best) best = rate;
    }
    free(x);
    return best;
}
