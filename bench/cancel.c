/* cancel.c -- how long a run goes on after it was cancelled.
 *
 *   cancel [TIMES] [THREADS]
 *
 * Each of several runs, of tens to hundreds of milliseconds, is cancelled TIMES times at moments
 * spread over its length; prints the median, the 99th percentile and the maximum of the time from
 * eddy_session_cancel to the return of eddy_run. */
#include <eddy/eddy.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 10000 };

typedef struct work {
    const char *name;
    eddy_shape  shape;
    eddy_tensor (*build)(eddy_graph *g, eddy_tensor x);
} work;

static eddy_tensor product(eddy_graph *g, eddy_tensor x)
{
    (void)g;
    return eddy_sum(eddy_matmul(x, x));
}
static eddy_tensor product64(eddy_graph *g, eddy_tensor x)
{
    const eddy_tensor y = eddy_cast(x, EDDY_FLOAT64);
    (void)g;
    return eddy_sum(eddy_matmul(y, y));
}
static eddy_tensor convolution(eddy_graph *g, eddy_tensor x)
{
    return eddy_sum(eddy_conv2d(x, eddy_random_normal(g, EDDY_SHAPE(7, 7, 64, 128))));
}
static eddy_tensor functions(eddy_graph *g, eddy_tensor x)
{
    (void)g;
    return eddy_sum(eddy_tanh(eddy_exp(eddy_sin(x))));
}
static eddy_tensor softmax(eddy_graph *g, eddy_tensor x)
{
    (void)g;
    return eddy_sum(eddy_square(eddy_softmax(x)));
}
static eddy_tensor sort(eddy_graph *g, eddy_tensor x)
{
    (void)g;
    return eddy_sort(x);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct canceller {
    eddy_session *session;
    double        delay, asked;         /* milliseconds */
} canceller;

static void *cancel(void *of)
{
    canceller            *c = of;
    const struct timespec t = { .tv_sec = (time_t)(c->delay / 1e3),
                                .tv_nsec = (long)(c->delay * 1e6) % 1000000000 };
    nanosleep(&t, NULL);
    c->asked = now();
    eddy_session_cancel(c->session);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run(eddy_session *s, eddy_tensor x, const eddy_array *a, eddy_tensor y,
                  eddy_status *status)
{
    const double start = now();
    *status = eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL);
    return now() - start;
}

static void measure(const work *w, int times, int threads)
{
    static double  took[MOST];
    int            n = 0;
    eddy_status    status;
    eddy_graph    *g = eddy_graph_new(.seed = 1);
    eddy_tensor    x = eddy_placeholder(g, "x", EDDY_FLOAT32, w->shape), y = w->build(g, x);
    eddy_session  *s = eddy_session_new(g, .threads = threads);
    eddy_array    *a = eddy_array_new(EDDY_FLOAT32, w->shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ((float *)eddy_array_data(a))[i] = (float)(i * 7919 % 1000) / 1000;
    run(s, x, a, y, &status);
    const double whole = run(s, x, a, y, &status);
    if (status != EDDY_OK) printf("%s\n", eddy_session_message(s));
    for (int i = 0; i < times; i++) {
        canceller c = { .session = s, .delay = whole * 0.9 * (i + 0.5) / times };
        pthread_t thread;
        pthread_create(&thread, NULL, cancel, &c);
        run(s, x, a, y, &status);
        const double end = now();
        pthread_join(thread, NULL);
        if (status == EDDY_CANCELLED) took[n++] = end - c.asked;
    }
    qsort(took, (size_t)n, sizeof *took, by_size);
    if (n > 0)
        printf("%-12s run %7.1f ms; %d cancelled; median %6.2f, 99th percentile %6.2f, most %6.2f "
               "ms\n",
               w->name, whole, n, took[n / 2], took[n * 99 / 100], took[n - 1]);
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
}

int main(int argc, char **argv)
{
    const work all[] = {
        { "matmul", EDDY_SHAPE(3000, 3000), product },
        { "matmul f64", EDDY_SHAPE(1500, 1500), product64 },
        { "conv2d", EDDY_SHAPE(16, 64, 64, 64), convolution },
        { "functions", EDDY_SHAPE(4000, 4000), functions },
        { "softmax", EDDY_SHAPE(4000, 4000), softmax },
        { "sort", EDDY_SHAPE(4000, 4000), sort },
    };
    const int times = argc > 1 ? atoi(argv[1]) : 100, threads = argc > 2 ? atoi(argv[2]) : 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        measure(&all[i], times < 1 ? 1 : times > MOST ? MOST : times, threads);
    return 0;
}
