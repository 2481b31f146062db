/* parallel_groups.c -- the gain from running small independent kernels in parallel: towers of small
 * layers, forward and with gradients and updates, in three sessions in turns: with that pass,
 * without it, and on one thread. */
#include "bench/bench.h"

enum { SLICES = 60, CHAIN = 1 };

static const double slice_seconds = 4e-3;

typedef struct model {
    int  towers, layers, rows, size;
    bool trains;
} model;

typedef struct runner {
    eddy_session  *session;
    eddy_callable *step;
    int            runs;            /* of a slice */
} runner;

static eddy_tensor tower(eddy_tensor x, const model *m)
{
    for (int i = 0; i < m->layers; i++) x = eddy_relu(eddy_dense(x, m->size, NULL));
    return x;
}

/* The fetched tensors. */
static eddy_tensor build(eddy_graph *g, const model *m)
{
    const eddy_tensor x = eddy_random_normal(g, EDDY_SHAPE(m->rows, m->size));
    eddy_tensor       sum = tower(x, m);
    for (int i = 1; i < m->towers; i++) sum = eddy_add(sum, tower(x, m));
    const eddy_tensor loss = eddy_mean(eddy_square(sum));
    eddy_optimizer *sgd = eddy_gradient_descent(g, .learning_rate = eddy_scalar(g, 1e-3));
    return m->trains ? eddy_minimize(sgd, loss) : loss;
}

static void run(const runner *r)
{
    bench_need(eddy_callable_run(r->step, NULL, NULL) == EDDY_OK, "a step failed");
}

/* Seconds a run. */
static double slice(const runner *r)
{
    const double start = bench_now();
    for (int i = 0; i < r->runs; i++) run(r);
    return (bench_now() - start) / r->runs;
}

static runner begin(eddy_graph *g, eddy_tensor fetch, unsigned without, int threads)
{
    runner r = { .session = eddy_session_new(g, .without = without, .threads = threads) };
    bench_need(eddy_run(r.session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK,
               "no initial values");
    r.step = eddy_callable_new(r.session, (eddy_list){ 0 }, EDDY_LIST(fetch));
    run(&r);
    r.runs = 1;
    const double each = slice(&r);
    r.runs += (int)(slice_seconds / each);
    return r;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *at, double q)
{
    qsort(at, SLICES, sizeof *at, by_size);
    return at[(int)(q * (SLICES - 1))];
}

static void compare(const model *m)
{
    eddy_graph       *g = eddy_graph_new(NULL);
    const eddy_tensor fetch = build(g, m);
    bench_need(eddy_graph_status(g) == EDDY_OK, "no graph");
    runner parallel = begin(g, fetch, 0, 0), serial = begin(g, fetch, EDDY_PASS_PARALLEL, 0);
    runner one = begin(g, fetch, EDDY_PASS_PARALLEL, 1);
    double to_not[SLICES], to_one[SLICES], each[SLICES];
    for (int i = 0; i < SLICES; i++) {
        const double a = slice(&serial), w = slice(&parallel), b = slice(&serial), o = slice(&one);
        to_not[i] = (a + b) / 2 / w;
        to_one[i] = o / w;
        each[i] = w;
    }
    printf("%2d towers of %2d layers, %3d x %3d, %-8s %8.1f us: ", m->towers, m->layers, m->rows,
           m->size, m->trains ? "training" : "forward", 1e6 * quantile(each, 0.5));
    printf("without %5.2f (tenths %4.2f %4.2f), one thread %5.2f (%4.2f %4.2f)\n",
           quantile(to_not, 0.5), quantile(to_not, 0.1), quantile(to_not, 0.9),
           quantile(to_one, 0.5), quantile(to_one, 0.1), quantile(to_one, 0.9));
    fflush(stdout);
    runner *all[] = { &parallel, &serial, &one };
    for (int i = 0; i < 3; i++) {
        eddy_callable_free(all[i]->step);
        eddy_session_free(all[i]->session);
    }
    eddy_graph_free(g);
}

int main(void)
{
    static const model models[] = {
        { 8, 4, 16, 16, false }, { 8, 4, 16, 16, true },   { 8, 4, 16, 32, false },
        { 8, 4, 16, 32, true },  { 8, 4, 16, 48, false },  { 8, 4, 16, 48, true },
        { 8, 4, 32, 64, false }, { 8, 4, 32, 64, true },   { 8, 4, 64, 128, false },
        { 8, 4, 64, 128, true }, { 2, 8, 16, 48, true },   { 32, 2, 8, 32, true },
        { CHAIN, 32, 16, 48, true },
    };
    printf("ratios of the time without the pass, and on one thread, to that with it\n");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) compare(&models[i]);
    return 0;
}
