/* quantized.c -- inference with 8-bit weights beside float32: the same model, extracted twice.
 *
 *   quantized [ROUNDS] [THREADS] [0 | 1 | 2]      at most the baseline, AVX2, AVX-512
 *
 * The two run in turns. Prints the median of the ratios of processor times, of all threads, so that
 * less than 1 is faster than float32; and the ratio of the bytes of weights. */
#include "bench/bench.h"
#include "graph/base/cpu.h"

#include <eddy/ops/short_names.h>

typedef struct model {
    const char  *name;
    eddy_graph  *graph;
    eddy_tensor  x, y;
} model;

static model begin(const char *name, eddy_shape x)
{
    model m = { .name = name, .graph = eddy_graph_new(.seed = 1) };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT32, x);
    return m;
}

static model product(const char *name, int64_t rows, int64_t inner, int64_t columns)
{
    model m = begin(name, EDDY_SHAPE(rows, inner));
    m.y = eddy_dense(m.x, columns, "dense");
    return m;
}

static model perceptron(const char *name, int64_t batch)
{
    model m = begin(name, EDDY_SHAPE(batch, 784));
    eddy_tensor h = eddy_relu(eddy_dense(m.x, 512, "first"));
    h = eddy_relu(eddy_dense(h, 512, "second"));
    m.y = Softmax(eddy_dense(h, 10, "last"));
    return m;
}

static model transformer(const char *name, int64_t batch, int64_t length, int64_t width)
{
    model m = begin(name, EDDY_SHAPE(batch, length, width));
    eddy_tensor h = m.x;
    for (int i = 0; i < 2; i++)
        h = eddy_transformer_block(h, 4, i ? "second" : "first", .causal = true, .pre_norm = true);
    m.y = eddy_dense(h, 65, "next");
    return m;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(eddy_graph *g, eddy_session *s, const eddy_array *x, int times)
{
    const eddy_tensor in = eddy_collection_at(g, EDDY_MODEL_INPUTS, 0);
    const eddy_tensor out = eddy_collection_at(g, EDDY_MODEL_OUTPUTS, 0);
    const double      from = processor_seconds();
    for (int i = 0; i < times; i++) {
        eddy_array *y = NULL;
        if (eddy_run(s, EDDY_FEED({ in, x }), EDDY_FETCH(out), &y) != EDDY_OK)
            bench_need(false, eddy_session_message(s));
        eddy_array_free(y);
    }
    return (processor_seconds() - from) / times;
}

static void measure(model m, int rounds, int threads, bench_table *table)
{
    static bench_samples ratio;
    eddy_quantize_report report;
    eddy_error    e = { 0 };
    eddy_session *train = eddy_session_new(m.graph);
    bench_need(eddy_run(train, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK,
               "a session could not start");
    eddy_graph *wide = eddy_extract(EDDY_LIST(m.y), .inputs = EDDY_LIST(m.x), .freeze = train);
    eddy_graph *narrow = eddy_extract(EDDY_LIST(m.y), .inputs = EDDY_LIST(m.x), .freeze = train,
                                      .quantize = true, .quantized = &report, .error = &e);
    bench_need(wide && narrow, e.message);
    eddy_session *a = eddy_session_new(wide, .threads = threads);
    eddy_session *b = eddy_session_new(narrow, .threads = threads);
    eddy_array   *x = eddy_array_new(EDDY_FLOAT32, eddy_shape_of(m.x));
    bench_uniform(eddy_array_data(x), eddy_array_count(x), 1, -1, 1);
    seconds(wide, a, x, 3), seconds(narrow, b, x, 3);
    const int times = (int)(0.002 / seconds(wide, a, x, 3)) + 1;
    double    least[2] = { 1e9, 1e9 };
    ratio.n = 0;
    for (int i = 0; i < rounds; i++) {
        const double first = seconds(wide, a, x, times), second = seconds(narrow, b, x, times);
        bench_add(&ratio, second / first);
        if (first < least[0]) least[0] = first;
        if (second < least[1]) least[1] = second;
    }
    printf("%-36s float32 %8.1f us, 8 bits %8.1f us at best; weights %.3f of the bytes\n", m.name,
           1e6 * least[0], 1e6 * least[1], (double)report.bytes / (double)report.bytes_before);
    bench_enter(table, m.name, &ratio, "of float32");
    eddy_string_free(report.text);
    eddy_array_free(x);
    eddy_session_free(a);
    eddy_session_free(b);
    eddy_session_free(train);
    eddy_graph_free(wide);
    eddy_graph_free(narrow);
    eddy_graph_free(m.graph);
}

int main(int argc, char **argv)
{
    const int   rounds = argc > 1 ? atoi(argv[1]) : 41, threads = argc > 2 ? atoi(argv[2]) : 1;
    bench_table table = { .program = "quantized" };
    if (argc > 3) eddy__instructions_limit((eddy_instructions)atoi(argv[3]));
    const model models[] = {
        product("product 1x1024x1024", 1, 1024, 1024),
        product("product 1x4096x4096", 1, 4096, 4096),
        product("product 16x1024x1024", 16, 1024, 1024),
        product("product 128x784x512", 128, 784, 512),
        product("product 1024x128x512", 1024, 128, 512),
        perceptron("perceptron, 1", 1),
        perceptron("perceptron, 64", 64),
        transformer("two blocks of 128, 1 of 128", 1, 128, 128),
        transformer("two blocks of 128, 8 of 128", 8, 128, 128),
        transformer("two blocks of 512, 1 of 64", 1, 64, 512),
        transformer("two blocks of 512, 1 of 1", 1, 1, 512),
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        measure(models[i], rounds, threads, &table);
    bench_print(&table);
    return 0;
}
