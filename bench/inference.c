/* inference.c -- runs trained models: perceptron, LeNet, ResNet-50, transformer encoder.
 *
 *   inference [NAME [--folder FOLDER] [--threads N] [--slices] [--cpu] [--profile]]
 *
 * Without a name it lists the models. Weights are random. With --folder it first writes the model,
 * its weights, its input and its output there, for the programs in torch/ and onnxruntime/:
 * NAME.onnx, NAME.safetensors, and NAME.x.npy and NAME.y.npy. With --slices it reads the number of
 * runs to make, one number per line, and prints their times; so scripts/bench_inference.py lets
 * programs take turns. --cpu counts the process's own time. */
#include "bench/bench.h"

#include <eddy/formats.h>
#include <eddy/ops/short_names.h>
#include <math.h>
#include <string.h>

enum { PATH_SIZE = 500, FOLDED = 1 << 26 };

/* Eddy computes y from x, with channels last. The file has channels second, as ONNX and PyTorch
 * do: it computes file_y from file_x, which may be the same tensors. */
typedef struct model {
    eddy_graph *graph;
    eddy_tensor x, y, file_x, file_y;
} model;

static void feed(model *m, eddy_shape s)
{
    m->x = m->file_x = eddy_placeholder(m->graph, "x", EDDY_FLOAT32, s);
}

static void feed_images(model *m, int64_t batch, int side, int channels)
{
    feed(m, EDDY_SHAPE(batch, channels, side, side));
    m->x = eddy_transpose(m->file_x, EDDY_DIMS(0, 2, 3, 1));
}

/* Uniform with the variance 2 / inputs. */
static eddy_tensor weights(const model *m, const char *name, eddy_shape s, int64_t inputs)
{
    const double bound = sqrt(6.0 / (double)inputs);
    return eddy_variable(m->graph, eddy_random_uniform(m->graph, s, -bound, bound), .name = name);
}

/* ----------------------------------------------------------------- models -- */

static void build_perceptron(model *m, int64_t batch)
{
    feed(m, EDDY_SHAPE(batch, 784));
    eddy_tensor h = eddy_relu(eddy_dense(m->x, 512, "dense_0"));
    h = eddy_relu(eddy_dense(h, 512, "dense_1"));
    m->y = eddy_dense(h, 10, "dense_2");
}

/* Convolution 5x5, relu, the largest of each 2x2. */
static eddy_tensor stage(eddy_tensor x, int filters, const char *name)
{
    x = eddy_relu(eddy_conv2d_layer(x, filters, EDDY_DIMS(5), name, .padding = "SAME"));
    return eddy_max_pool2d(x, EDDY_DIMS(2));
}

/* The rows of the first matrix have the order of channels second; Eddy gets them in its own. */
static void build_lenet(model *m, int64_t batch)
{
    enum { LAST = 64, AREA = 49, ROWS = LAST * AREA, HIDDEN = 1024 };
    feed_images(m, batch, 28, 1);
    eddy_tensor w = weights(m, "rows/kernel", EDDY_SHAPE(ROWS, HIDDEN), ROWS);
    eddy_tensor b = eddy_zeros(m->graph, EDDY_FLOAT32, EDDY_SHAPE(HIDDEN));
    b = eddy_variable(m->graph, b, .name = "rows/bias");
    eddy_tensor h = stage(stage(m->x, 32, "conv_0"), LAST, "conv_1");
    eddy_tensor planes = eddy_transpose(h, EDDY_DIMS(0, 3, 1, 2));
    eddy_tensor own = eddy_transpose(eddy_reshape(w, EDDY_SHAPE(LAST, AREA, HIDDEN)),
                                     EDDY_DIMS(1, 0, 2));
    own = eddy_reshape(own, EDDY_SHAPE(ROWS, HIDDEN));
    h = eddy_matmul(eddy_reshape(h, EDDY_SHAPE(batch, ROWS)), own);
    planes = eddy_matmul(eddy_reshape(planes, EDDY_SHAPE(batch, ROWS)), w);
    m->y = eddy_dense(eddy_relu(Add(h, b)), 10, "dense_0");
    m->file_y = eddy_dense(eddy_relu(Add(planes, b)), 10, .reuse = "dense_0");
}

/* Convolution and batch normalization number n. */
static eddy_tensor normalized(model *m, eddy_tensor x, int *n, int filters, int side, int stride)
{
    const int64_t channels = eddy_shape_of(x).dim[3], margin = side / 2;
    char          name[32];
    snprintf(name, sizeof name, "conv_%d/kernel", *n);
    eddy_tensor w = weights(m, name, EDDY_SHAPE(side, side, channels, filters),
                            side * side * channels);
    x = eddy_conv2d(x, w, EDDY_DIMS(stride),
                    .explicit_paddings = EDDY_DIMS(margin, margin, margin, margin));
    snprintf(name, sizeof name, "norm_%d", (*n)++);
    return eddy_batch_norm_layer(x, name, .epsilon = 1e-5);
}

static eddy_tensor bottleneck(model *m, eddy_tensor x, int *n, int width, int stride)
{
    const bool same = eddy_shape_of(x).dim[3] == 4 * width && stride == 1;
    eddy_tensor y = eddy_relu(normalized(m, x, n, width, 1, 1));
    y = eddy_relu(normalized(m, y, n, width, 3, stride));
    y = normalized(m, y, n, 4 * width, 1, 1);
    return eddy_relu(Add(y, same ? x : normalized(m, x, n, 4 * width, 1, stride)));
}

static void build_resnet50(model *m, int64_t batch)
{
    static const int blocks[] = { 3, 4, 6, 3 };
    int n = 0;
    feed_images(m, batch, 224, 3);
    eddy_tensor x = eddy_relu(normalized(m, m->x, &n, 64, 7, 2));
    x = eddy_max_pool2d(x, EDDY_DIMS(3), EDDY_DIMS(2),
                        .explicit_paddings = EDDY_DIMS(1, 1, 1, 1));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < blocks[i]; k++)
            x = bottleneck(m, x, &n, 64 << i, i > 0 && k == 0 ? 2 : 1);
    m->y = eddy_dense(eddy_mean(x, EDDY_AXES(1, 2)), 1000, "dense_0");
}

static void build_encoder(model *m, int64_t batch)
{
    enum { BLOCKS = 6, HEADS = 8, POSITIONS = 128, WIDTH = 512 };
    char name[32];
    feed(m, EDDY_SHAPE(batch, POSITIONS, WIDTH));
    m->y = m->x;
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(name, sizeof name, "block_%d", i);
        m->y = eddy_transformer_block(m->y, HEADS, name, .activation = eddy_gelu);
    }
}

static const struct entry {
    const char *name;
    void      (*build)(model *m, int64_t batch);
    int64_t     batch;
} models[] = {
    { "mlp_b1", build_perceptron, 1 },
    { "mlp_b64", build_perceptron, 64 },
    { "lenet_b1", build_lenet, 1 },
    { "lenet_b64", build_lenet, 64 },
    { "resnet50_b1", build_resnet50, 1 },
    { "resnet50_b8", build_resnet50, 8 },
    { "encoder_b1", build_encoder, 1 },
    { "encoder_b8", build_encoder, 8 },
};
enum { MODELS = sizeof models / sizeof *models };

/* ------------------------------------------------------------ preparation -- */

typedef struct options {
    const struct entry *what;
    const char         *folder;
    int                 threads;
    bool                slices, cpu, profile;
} options;

/* Biases, scales and moving averages differ from their initial values by up to 0.1. */
static void set_vectors(eddy_graph *g, eddy_session *s)
{
    for (int i = 0; i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        float             change[4096];
        if (eddy_shape_of(v).rank != 1) continue;
        eddy_array   *a = eddy_variable_value(s, v);
        const int64_t n = a ? eddy_array_count(a) : 0;
        float        *at = eddy_array_data(a);
        bench_need(a && n <= 4096, "a variable has no value");
        bench_uniform(change, n, (uint64_t)i, -0.1, 0.1);
        for (int64_t k = 0; k < n; k++) at[k] += change[k];
        bench_need(eddy_variable_set(s, v, a) == EDDY_OK, eddy_session_message(s));
        eddy_array_free(a);
    }
}

static eddy_graph *frozen(eddy_session *s, eddy_tensor x, eddy_tensor y)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .input_names = "x",
                                 .output_names = "y", .freeze = s, .fold_bytes = FOLDED,
                                 .error = &e);
    bench_need(g, e.message);
    return g;
}

static const char *path_of(const options *o, const char *ending)
{
    static char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.%s", o->folder, o->what->name, ending);
    return path;
}

static void write_files(const options *o, const model *m, eddy_session *s, const eddy_array *x)
{
    eddy_error  e = { 0 };
    eddy_graph *g = frozen(s, m->file_x, m->file_y);
    eddy_array *y = eddy_fetch(s, m->file_y, EDDY_FEED({ m->file_x, x }));
    bench_need(y, eddy_session_message(s));
    bench_need(eddy_save(s, path_of(o, "safetensors"), (eddy_list){ 0 }) == EDDY_OK,
               eddy_session_message(s));
    eddy_array_save(x, path_of(o, "x.npy"), NULL, &e);
    eddy_array_save(y, path_of(o, "y.npy"), NULL, &e);
    eddy_onnx_write(EDDY_LIST(eddy_collection_at(g, EDDY_MODEL_OUTPUTS, 0)),
                    path_of(o, "onnx"), .error = &e);
    bench_need(e.status == EDDY_OK, e.message);
    eddy_array_free(y);
    eddy_graph_free(g);
}

/* The frozen graph that is measured; *x receives its input. */
static eddy_graph *prepare(const options *o, eddy_array **x)
{
    model m = { .graph = eddy_graph_new(.seed = 1) };
    o->what->build(&m, o->what->batch);
    if (!m.file_y.graph) m.file_y = m.y;
    eddy_session *s = eddy_session_new(m.graph);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL);
    bench_need(eddy_graph_status(m.graph) == EDDY_OK, eddy_graph_message(m.graph));
    set_vectors(m.graph, s);
    eddy_array *file_x = eddy_array_new(EDDY_FLOAT32, eddy_shape_of(m.file_x));
    bench_need(file_x, "out of memory");
    bench_uniform(eddy_array_data(file_x), eddy_array_count(file_x), 1, -1, 1);
    if (o->folder) write_files(o, &m, s, file_x);
    *x = eddy_fetch(s, m.x, EDDY_FEED({ m.file_x, file_x }));
    eddy_graph *g = frozen(s, m.x, m.y);
    eddy_array_free(file_x);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return g;
}

/* -------------------------------------------------------------- measuring -- */

static double process_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs as often as asked and prints the times in milliseconds. */
static void answer(const options *o, eddy_session *s, eddy_callable *c, const eddy_array *x,
                   int times, eddy_array **y)
{
    double (*const now)(void) = o->cpu ? process_seconds : bench_now;
    for (int i = 0; i < times; i++) {
        const double from = now();
        bench_need(eddy_callable_run(c, &x, y) == EDDY_OK, eddy_session_message(s));
        printf("%s%.6g", i ? " " : "", 1e3 * (now() - from));
    }
    puts("");
    fflush(stdout);
}

/* The largest difference from the output in the file, which another graph has computed, as a part
 * of the largest output. */
static double difference(const options *o, const eddy_array *y)
{
    eddy_error   e = { 0 };
    eddy_array  *want = eddy_array_load(path_of(o, "y.npy"), NULL, &e);
    const float *a = eddy_array_data(y), *b = eddy_array_data(want);
    double       largest = 0, off = 0;
    bench_need(want && eddy_array_count(want) == eddy_array_count(y), e.message);
    for (int64_t i = 0; i < eddy_array_count(y); i++) {
        largest = fmax(largest, fabs((double)b[i]));
        off = fmax(off, fabs((double)a[i] - (double)b[i]));
    }
    eddy_array_free(want);
    return off / largest;
}

static void measure(const options *o)
{
    eddy_array    *x = NULL, *y = NULL;
    char           line[32];
    eddy_graph    *g = prepare(o, &x);
    eddy_session  *s = eddy_session_new(g, .threads = o->threads, .profile = o->profile);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(eddy_collection_at(g, EDDY_MODEL_INPUTS, 0)),
                                         EDDY_LIST(eddy_collection_at(g, EDDY_MODEL_OUTPUTS, 0)));
    const eddy_array *in = x;
    bench_need(c, eddy_session_message(s));
    for (int i = 0; i < 3; i++)
        bench_need(eddy_callable_run(c, &in, &y) == EDDY_OK, eddy_session_message(s));
    if (!o->slices) answer(o, s, c, x, 10, &y);
    else puts("ready"), fflush(stdout);
    while (o->slices && fgets(line, sizeof line, stdin)) answer(o, s, c, x, atoi(line), &y);
    const eddy_plan_info info = eddy_callable_plan_info(c);
    printf("{\"instructions\":%d,\"flops\":%.9g,\"arena_bytes\":%zu,\"difference\":%.3g}\n",
           info.instructions, info.flops, info.arena_bytes, o->folder ? difference(o, y) : 0);
    if (o->profile) eddy_session_profile(s, stdout);
    eddy_array_free(x);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_graph_free(g);
}

int main(int argc, char **argv)
{
    options o = { .threads = 1 };
    for (int i = 0; argc < 2 && i < MODELS; i++) puts(models[i].name);
    for (int i = 1; i < argc; i++) {
        const bool last = i + 1 == argc;
        if (strcmp(argv[i], "--slices") == 0) o.slices = true;
        else if (strcmp(argv[i], "--cpu") == 0) o.cpu = true;
        else if (strcmp(argv[i], "--profile") == 0) o.profile = true;
        else if (strcmp(argv[i], "--folder") == 0 && !last) o.folder = argv[++i];
        else if (strcmp(argv[i], "--threads") == 0 && !last) o.threads = atoi(argv[++i]);
        else
            for (int k = 0; k < MODELS; k++)
                if (strcmp(argv[i], models[k].name) == 0) o.what = &models[k];
    }
    bench_need(argc < 2 || o.what, "no such model");
    if (o.what) measure(&o);
    return 0;
}
