/* mlp.c -- one training step of a multi-layer perceptron, 784-512-512-10 with
 * relu, batches of 128, Adam; and the matrix products of such a step alone,
 * which no step that calls the same BLAS can be faster than.
 *
 *   mlp [FOLDER]     where Fashion-MNIST is, if not where Debian puts it
 *
 * Initial values are repeatable, so the losses tell whether another program
 * does the same work.  Without Fashion-MNIST the data are generated. */
#include "bench/bench.h"

#include <cblas.h>
#include <math.h>

enum { BATCH = 128, LAYERS = 3, IMAGES = 8192, STEPS = 60, WARM_UP = 21, LOSSES = 6 };

static const int SIZES[LAYERS + 1] = { 784, 512, 512, 10 };

/* ----------------------------------------------------------------- data -- */

typedef struct data {
    float   *pixels;     /* [IMAGES, 784] */
    int32_t *labels;     /* [IMAGES] */
    bool     fashion;
} data;

/* n bytes of a gzip file after its header; false if there is no such file. */
static bool unzip(const char *folder, const char *file, size_t header, uint8_t *out, size_t n)
{
    char    command[400];
    uint8_t skipped[16];
    snprintf(command, sizeof command, "gzip -dc '%s/%s' 2>/dev/null", folder, file);
    FILE *f = popen(command, "r");
    if (!f) return false;
    bool ok = fread(skipped, 1, header, f) == header && fread(out, 1, n, f) == n;
    pclose(f);
    return ok;
}

static bool load_fashion(data *d, const char *folder)
{
    size_t   area = (size_t)SIZES[0], n = IMAGES * area;
    uint8_t *bytes = malloc(n);
    bool     ok = bytes && unzip(folder, "train-images-idx3-ubyte.gz", 16, bytes, n);
    for (size_t i = 0; ok && i < n; i++) d->pixels[i] = (float)bytes[i] / 255;
    ok = ok && unzip(folder, "train-labels-idx1-ubyte.gz", 8, bytes, IMAGES);
    for (size_t i = 0; ok && i < IMAGES; i++) d->labels[i] = bytes[i];
    free(bytes);
    return ok;
}

/* Uniform pixels, labelled by the largest output of a random linear map. */
static void generate(data *d)
{
    static float map[784 * 10], scores[IMAGES * 10];
    bench_uniform(d->pixels, (int64_t)IMAGES * 784, 100, -1, 1);
    bench_uniform(map, 784 * 10, 101, -1, 1);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, IMAGES, 10, 784, 1, d->pixels, 784,
                map, 10, 0, scores, 10);
    for (int i = 0; i < IMAGES; i++) {
        d->labels[i] = 0;
        for (int k = 1; k < 10; k++)
            if (scores[i * 10 + k] > scores[i * 10 + d->labels[i]]) d->labels[i] = k;
    }
}

static data load(const char *folder)
{
    data d = { .pixels = malloc((size_t)IMAGES * 784 * sizeof(float)),
               .labels = malloc(IMAGES * sizeof(int32_t)) };
    bench_need(d.pixels && d.labels, "out of memory");
    d.fashion = load_fashion(&d, folder);
    if (!d.fashion) generate(&d);
    printf("mlp: %s\n",
           d.fashion ? "Fashion-MNIST" : "generated data (Fashion-MNIST is not installed)");
    return d;
}

/* ---------------------------------------------------------------- model -- */

/* Epsilon is fed, and scaled so as to mean what it does in algorithm 1 of
 * Kingma and Ba, where most programs have it. */
typedef struct model {
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *step;
    eddy_array    *out[2];      /* of the step: loss, nothing */
    int            done;        /* steps */
} model;

/* A matrix, uniform in +-sqrt(6 / rows), or without rows a vector of zeros. */
static eddy_tensor variable(eddy_graph *g, int rows, int cols, uint64_t seed, const char *name)
{
    double      bound = rows > 0 ? sqrt(6.0 / rows) : 0;
    eddy_shape  s = rows > 0 ? EDDY_SHAPE(rows, cols) : EDDY_SHAPE(cols);
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    bench_need(a, "out of memory");
    if (rows > 0) bench_uniform(eddy_array_data(a), eddy_array_count(a), seed, -bound, bound);
    eddy_tensor v = eddy_variable(g, eddy_constant(g, a, NULL), .name = name);
    eddy_array_free(a);
    return v;
}

static model build(void)
{
    model       m = { .graph = eddy_graph_new() };
    eddy_graph *g = m.graph;
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, SIZES[0]));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor h = x;
    for (int k = 0; k < LAYERS; k++) {
        eddy_tensor w = variable(g, SIZES[k], SIZES[k + 1], (uint64_t)k + 1, "w");
        eddy_tensor b = variable(g, 0, SIZES[k + 1], 0, "b");
        h = eddy_bias_add(eddy_matmul(h, w), b);
        if (k < LAYERS - 1) h = eddy_relu(h);
    }
    eddy_tensor loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, h));
    eddy_tensor epsilon = eddy_placeholder(g, "epsilon", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor train = eddy_minimize(eddy_adam(g, .epsilon = epsilon), loss);
    m.session = eddy_session_new(g);
    eddy_run(m.session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    m.step = eddy_callable_new(m.session, EDDY_LIST(x, y, epsilon), EDDY_LIST(loss, train));
    bench_need(m.step && eddy_session_status(m.session) == EDDY_OK, eddy_graph_message(g));
    return m;
}

/* One step on the next batch, which is lent, not copied; milliseconds. */
static double step(model *m, const data *d)
{
    size_t      first = (size_t)(m->done % (IMAGES / BATCH)) * BATCH;
    float      *pixels = d->pixels + first * 784;
    eddy_array *x = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(BATCH, 784), pixels);
    eddy_array *y = eddy_array_borrow(EDDY_INT32, EDDY_SHAPE(BATCH), d->labels + first);
    eddy_array *e = eddy_array_of(EDDY_FLOAT32, 1e-8 * sqrt(1 - pow(0.999, m->done + 1)));
    double      start = bench_now();
    eddy_status s = eddy_callable_run(m->step, (const eddy_array *const[]){ x, y, e }, m->out);
    double      took = 1e3 * (bench_now() - start);
    bench_need(s == EDDY_OK, eddy_session_message(m->session));
    eddy_array_free(x);
    eddy_array_free(y);
    eddy_array_free(e);
    m->done++;
    return took;
}

/* ---------------------------------------------------------------- floor -- */

/* The matrix products of one step: y = h w; dw = h' dy; dh = dy w' but for the
 * first layer.  Milliseconds. */
static double products(const float *h, const float *w, const float *dy, float *out)
{
    double start = bench_now();
    for (int k = 0; k < LAYERS; k++) {
        int n = SIZES[k], m = SIZES[k + 1];
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, m, n, 1, h, n, w, m,
                    0, out, m);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, m, BATCH, 1, h, n, dy, m,
                    0, out, m);
        if (k > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, n, m, 1, dy, m, w, m,
                        0, out, n);
    }
    return 1e3 * (bench_now() - start);
}

/* Steps and bare products in turn, so that both see the same machine. */
static void measure(bench_table *t, model *m, const data *d, const char *name, const char *floor)
{
    enum { MOST = 784 * 512 };
    float *h = malloc(4 * (size_t)MOST * sizeof *h);
    static bench_samples steps, bare;
    bench_need(h, "out of memory");
    bench_uniform(h, 3 * (int64_t)MOST, 7, -1, 1);
    steps.n = bare.n = 0;
    for (int i = 0; i < STEPS + 3; i++) {
        double took = step(m, d), least = products(h, h + MOST, h + 2 * MOST, h + 3 * MOST);
        if (i < 3) continue;
        bench_add(&steps, took);
        bench_add(&bare, least);
    }
    free(h);
    bench_enter(t, name, &steps, "ms");
    bench_enter(t, floor, &bare, "ms");
}

int main(int argc, char **argv)
{
    bench_table t = { .program = "mlp 784-512-512-10, batch 128, Adam" };
    data        d = load(argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist");
    model       m = build();
    int         all = openblas_get_num_threads();

    openblas_set_num_threads(1);
    printf("mlp: loss");
    for (int i = 0; i < WARM_UP; i++) {
        step(&m, &d);
        if (i < LOSSES || i == WARM_UP - 1) printf("  [%d] %.6g", i, eddy_array_item(m.out[0]));
    }
    measure(&t, &m, &d, "step, 1 BLAS thread", "its matrix products alone");
    if (all > 1) {
        openblas_set_num_threads(all);
        measure(&t, &m, &d, "step, all BLAS threads", "its matrix products alone, all threads");
    }
    printf("  [%d] %.6g\n", m.done - 1, eddy_array_item(m.out[0]));

    eddy_plan_info i = eddy_session_plan_info(m.session);
    printf("mlp: %d nodes, %d instructions, %d in place, arena %zu bytes, lower bound %zu, "
           "%d threads in all\n", i.nodes, i.instructions, i.in_place, i.arena_bytes, i.live_bytes,
           all);
    bench_print(&t);
    eddy_array_free(m.out[0]);
    eddy_session_free(m.session);
    eddy_graph_free(m.graph);
    free(d.pixels);
    free(d.labels);
    return 0;
}
