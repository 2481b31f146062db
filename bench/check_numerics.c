/* check_numerics.c -- the price of the option `check_numerics`, beside the same training step
 * without it, and of recording a trace.
 *
 *   check_numerics [ROUNDS] [THREADS]
 *
 * Sessions on one graph run one step each in turn. Prints the median processor time of a step,
 * of all threads, and the median over the rounds of the ratios to the step without the option,
 * measured just before. */
#include "bench/bench.h"

typedef struct model {
    const char *name;
    eddy_graph *graph;
    eddy_tensor x, y, step;
} model;

static void train(model *m, eddy_tensor logits)
{
    m->y = eddy_placeholder(m->graph, "y", EDDY_INT32, EDDY_SHAPE(eddy_shape_of(m->x).dim[0]));
    m->step = eddy_minimize(eddy_adam(m->graph),
                            eddy_mean(eddy_sparse_softmax_cross_entropy(m->y, logits)));
}

static model perceptron(const char *name, int batch, int width)
{
    model m = { .name = name, .graph = eddy_graph_new() };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(batch, 784));
    eddy_tensor h = eddy_relu(eddy_dense(m.x, width, "first"));
    h = eddy_relu(eddy_dense(h, width, "second"));
    train(&m, eddy_dense(h, 10, "last"));
    return m;
}

static model convolutional(const char *name, int batch)
{
    model m = { .name = name, .graph = eddy_graph_new() };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(batch, 28, 28, 1));
    eddy_tensor h = eddy_relu(eddy_conv2d_layer(m.x, 32, EDDY_DIMS(3), "first"));
    h = eddy_max_pool2d(h, EDDY_DIMS(2), EDDY_DIMS(2));
    h = eddy_relu(eddy_conv2d_layer(h, 64, EDDY_DIMS(3), "second"));
    h = eddy_max_pool2d(h, EDDY_DIMS(2), EDDY_DIMS(2));
    train(&m, eddy_dense(eddy_flatten(h), 10, "last"));
    return m;
}

static model transformer(const char *name, int batch)
{
    enum { LENGTH = 64, WIDTH = 128 };
    model m = { .name = name, .graph = eddy_graph_new() };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(batch, LENGTH, WIDTH));
    eddy_tensor h = eddy_transformer_block(m.x, 4, "first", .causal = true, .pre_norm = true);
    h = eddy_transformer_block(h, 4, "second", .causal = true, .pre_norm = true);
    train(&m, eddy_dense(eddy_mean(h, EDDY_DIMS(1)), 10, "last"));
    return m;
}

/* From here on without products. An update alone: its gradient is computed from a feed that is as
 * large as the variable. */
static model update(const char *name, int parameters, bool adam)
{
    model m = { .name = name, .graph = eddy_graph_new() };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(parameters));
    m.y = eddy_placeholder(m.graph, "y", EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor ones = eddy_ones(m.graph, EDDY_FLOAT32, EDDY_SHAPE(parameters));
    eddy_tensor v = eddy_variable(m.graph, ones);
    m.step = eddy_minimize(adam ? eddy_adam(m.graph)
                                : eddy_gradient_descent(m.graph, eddy_scalar(m.graph, 0.01)),
                           eddy_sum(eddy_square(eddy_sub(v, m.x))));
    return m;
}

static model elementwise(const char *name, int n)
{
    model m = { .name = name, .graph = eddy_graph_new() };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(n));
    m.y = eddy_placeholder(m.graph, "y", EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor bell = eddy_exp(eddy_neg(eddy_square(m.x)));
    eddy_tensor y = eddy_sum(eddy_sub(eddy_mul(eddy_tanh(m.x), eddy_sigmoid(m.x)), bell));
    m.step = eddy_gradient(y, m.x);
    return m;
}

static model chain(const char *name, int length)
{
    model m = { .name = name, .graph = eddy_graph_new() };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SCALAR);
    m.y = eddy_placeholder(m.graph, "y", EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor y = m.x;
    for (int i = 0; i < length; i++) y = eddy_tanh(eddy_add(eddy_mul(y, m.x), m.x));
    m.step = eddy_gradient(y, m.x);
    return m;
}

static void start(eddy_session *s, const model *m)
{
    bench_need(s && eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m->graph)), NULL) ==
                        EDDY_OK,
               "a session could not start");
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double step(eddy_session *s, const model *m, const eddy_array *x, const eddy_array *y)
{
    const double from = processor_seconds();
    if (eddy_run(s, EDDY_FEED({ m->x, x }, { m->y, y }), EDDY_FETCH(m->step), NULL) != EDDY_OK)
        bench_need(false, eddy_session_message(s));
    return processor_seconds() - from;
}

static double median(bench_samples *s)
{
    qsort(s->at, (size_t)s->n, sizeof s->at[0], bench_ascending);
    return s->at[s->n / 2];
}

static void measure(const model *m, int rounds, int threads)
{
    enum { KINDS = 3, WARM = 20 };
    eddy_session *s[KINDS] = { eddy_session_new(m->graph, .threads = threads),
                               eddy_session_new(m->graph, .threads = threads,
                                                .check_numerics = true),
                               eddy_session_new(m->graph, .threads = threads, .trace = true) };
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, eddy_shape_of(m->x));
    eddy_array *y = eddy_array_new(EDDY_INT32, eddy_shape_of(m->y));
    bench_samples times = { 0 }, ratios[KINDS] = { { 0 } };
    bench_uniform(eddy_array_data(x), eddy_array_count(x), 3, 0, 1);
    for (int64_t i = 0; i < eddy_array_count(y); i++) eddy_array_set(y, i, (double)(i % 10));
    for (int k = 0; k < KINDS; k++) start(s[k], m);
    for (int r = -WARM; r < rounds; r++) {
        double took[KINDS];
        for (int k = 0; k < KINDS; k++) took[k] = step(s[k], m, x, y);
        if (r < 0) continue;
        bench_add(&times, took[0]);
        for (int k = 1; k < KINDS; k++) bench_add(&ratios[k], took[k] / took[0]);
        if (r % 100 == 99) {
            FILE *none = fopen("/dev/null", "w");
            eddy_session_trace(s[2], none);
            fclose(none);
        }
    }
    printf("%-34s %9.3f ms  checked %.3f  traced %.3f\n", m->name, 1e3 * median(&times),
           median(&ratios[1]), median(&ratios[2]));
    for (int k = 0; k < KINDS; k++) eddy_session_free(s[k]);
    eddy_array_free(x);
    eddy_array_free(y);
    eddy_graph_free(m->graph);
}

int main(int argc, char **argv)
{
    const int   rounds = argc > 1 ? atoi(argv[1]) : 200, threads = argc > 2 ? atoi(argv[2]) : 1;
    const model all[] = { perceptron("784-16-16-10, batch 8", 8, 16),
                          perceptron("784-512-512-10, batch 32", 32, 512),
                          perceptron("784-512-512-10, batch 128", 128, 512),
                          convolutional("two convolutions, batch 32", 32),
                          transformer("two blocks of width 128, batch 8", 8),
                          update("Adam, 10^4 parameters", 10000, true),
                          update("Adam, 10^6 parameters", 1000000, true),
                          update("Adam, 10^7 parameters", 10000000, true),
                          update("gradient descent, 10^7 parameters", 10000000, false),
                          elementwise("elementwise, 10^6 elements", 1000000),
                          chain("333 scalars through tanh", 333) };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) measure(&all[i], rounds, threads);
    return 0;
}
