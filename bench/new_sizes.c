/* new_sizes.c -- the first run with a batch size that a session has not seen, for which it compiles
 * a plan, beside the second run with it. The steps train with Adam; the batch is an open dimension
 * of the graph. A program whose batches differ in every run pays the first row of each model once a
 * size. */
#include "bench/bench.h"

enum { PIXELS = 784, LETTERS = 64, LENGTH = 64, WARM = 3 };

typedef struct model {
    const char   *name;
    int           from, to;         /* batch sizes */
    eddy_graph   *graph;
    eddy_tensor   x, y, loss;
} model;

static model perceptron(const char *name, int inputs, int hidden, int from, int to)
{
    model m = { .name = name, .from = from, .to = to, .graph = eddy_graph_new(.seed = 1) };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(-1, inputs));
    m.y = eddy_placeholder(m.graph, "y", EDDY_INT32, EDDY_SHAPE(-1));
    eddy_tensor h = eddy_dense(m.x, hidden, "first", .activation = eddy_relu);
    h = eddy_dense(h, hidden, "second", .activation = eddy_relu);
    m.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(m.y, eddy_dense(h, 10, "last")));
    return m;
}

/* Two blocks of a transformer that predicts the next letter. */
static model transformer(const char *name, int width, int from, int to)
{
    model m = { .name = name, .from = from, .to = to, .graph = eddy_graph_new(.seed = 1) };
    m.x = eddy_placeholder(m.graph, "x", EDDY_INT32, EDDY_SHAPE(-1, LENGTH));
    m.y = eddy_placeholder(m.graph, "y", EDDY_INT32, EDDY_SHAPE(-1, LENGTH));
    eddy_tensor h = eddy_embedding_layer(m.x, LETTERS, width);
    h = eddy_position_layer(h, LENGTH, .learned = true);
    h = eddy_transformer_block(h, 4, "first", .causal = true, .pre_norm = true);
    h = eddy_transformer_block(h, 4, "second", .causal = true, .pre_norm = true);
    m.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(m.y, eddy_dense(h, LETTERS, "guess")));
    return m;
}

/* A batch: numbers in [0, 1), or letters or classes below 10. */
static eddy_array *batch_of(eddy_tensor x, int n)
{
    eddy_shape s = eddy_shape_of(x);
    s.dim[0] = n;
    eddy_array *a = eddy_array_new(eddy_dtype_of(x), s);
    bench_need(a, "out of memory for a batch");
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const uint64_t word = bench_word(7, (uint64_t)i);
        if (eddy_dtype_of(x) == EDDY_INT32)
            ((int32_t *)eddy_array_data(a))[i] = (int32_t)(word % 10);
        else ((float *)eddy_array_data(a))[i] = (float)(word >> 40) / 16777216.0f;
    }
    return a;
}

/* Seconds of one step with a batch of n. */
static double step(eddy_session *s, eddy_callable *c, const model *m, int n)
{
    eddy_array *feeds[2] = { batch_of(m->x, n), batch_of(m->y, n) }, *out[2] = { NULL };
    const eddy_array *given[2] = { feeds[0], feeds[1] };
    const double start = bench_now();
    bench_need(eddy_callable_run(c, given, out) == EDDY_OK, eddy_session_message(s));
    const double took = bench_now() - start;
    for (int i = 0; i < 2; i++) eddy_array_free(feeds[i]);
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
    return took;
}

static void measure(model m)
{
    bench_table    table = { .program = m.name };
    bench_samples  first = { 0 }, second = { 0 }, ratio = { 0 };
    eddy_tensor    train = eddy_minimize(eddy_adam(m.graph, eddy_scalar(m.graph, 1e-3)), m.loss);
    bench_need(eddy_graph_status(m.graph) == EDDY_OK, eddy_graph_message(m.graph));
    eddy_session  *s = eddy_session_new(m.graph);
    bench_need(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK,
               eddy_session_message(s));
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(m.x, m.y), EDDY_LIST(m.loss, train));
    bench_need(c, eddy_session_message(s));
    for (int i = 0; i < WARM; i++) step(s, c, &m, m.from - 1);
    for (int n = m.from; n <= m.to; n++) {
        const double new = step(s, c, &m, n), again = step(s, c, &m, n);
        bench_add(&first, 1e3 * new);
        bench_add(&second, 1e3 * again);
        bench_add(&ratio, new / again);
    }
    bench_enter(&table, "first run with a batch size", &first, "ms");
    bench_enter(&table, "second run with it", &second, "ms");
    bench_enter(&table, "ratio", &ratio, "");
    bench_print(&table);
    eddy_callable_free(c);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
}

int main(void)
{
    measure(perceptron("MLP 784-512-512-10, 33 to 96", PIXELS, 512, 33, 96));
    measure(transformer("transformer, 2 blocks of width 128, 9 to 40", 128, 9, 40));
    measure(transformer("transformer, 2 blocks of width 64, 9 to 40", 64, 9, 40));
    measure(transformer("transformer, 2 blocks of width 32, 9 to 40", 32, 9, 40));
    measure(perceptron("MLP 8-16-16-10, 2 to 65", 8, 16, 2, 65));
}
