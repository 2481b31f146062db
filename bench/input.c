/* input.c -- what it costs to read, shuffle and batch training data, beside a training step.
 *
 *   input        LeNet on Fashion-MNIST in batches of 64, or on generated images
 *
 * Prints the time of a step whose batch is ready in memory, of a step that takes its batch from
 * a pipeline without threads and with one that reads ahead, and of the pipeline alone. */
#include "bench/bench.h"
#include "input.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64, SIDE = 28, STEPS = 40, ROUNDS = 5 };

#define FASHION "/usr/share/datasets/fashion-mnist/"

static eddy_array *load(const char *path, eddy_shape instead)
{
    eddy_array *a = eddy_idx_load(path, NULL, NULL);
    if (a) return a;
    a = eddy_array_new(EDDY_UINT8, instead);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ((uint8_t *)eddy_array_data(a))[i] = (uint8_t)(i % 10);
    return a;
}

/* Pixels as float32 from 0 to 1, and the label as int32. */
static bool convert(void *context, eddy_record *in, eddy_record *out)
{
    const uint8_t *from = eddy_array_data(eddy_record_array(in, 0));
    float         *to = eddy_record_make(out, 0, EDDY_FLOAT32, EDDY_SHAPE(SIDE, SIDE, 1));
    int32_t       *label = eddy_record_make(out, 1, EDDY_INT32, EDDY_SCALAR);
    (void)context;
    if (!to || !label) return false;
    for (int i = 0; i < SIDE * SIDE; i++) to[i] = (float)from[i] / 255;
    *label = *(const uint8_t *)eddy_array_data(eddy_record_array(in, 1));
    return true;
}

static eddy_dataset *pipeline(const eddy_array *images, const eddy_array *labels, int threads)
{
    const eddy_component types[] = { { EDDY_FLOAT32, EDDY_SHAPE(SIDE, SIDE, 1) },
                                     { EDDY_INT32, EDDY_SCALAR } };
    const eddy_array    *both[] = { images, labels };
    eddy_dataset        *d = eddy_dataset_shuffle(eddy_dataset_from_arrays(both, 2), .seed = 1);
    d = eddy_dataset_map(d, convert, .components = types, .n = 2);
    d = eddy_dataset_repeat(eddy_dataset_batch(d, BATCH, .drop_remainder = true), -1);
    return threads ? eddy_dataset_prefetch(d, .threads = threads) : d;
}

typedef struct lenet {
    eddy_graph   *g;
    eddy_session *s;
    eddy_tensor   x, y, train;
} lenet;

static lenet build(void)
{
    lenet m = { .g = eddy_graph_new() };
    m.x = eddy_placeholder(m.g, "x", EDDY_FLOAT32, EDDY_SHAPE(BATCH, SIDE, SIDE, 1));
    m.y = eddy_placeholder(m.g, "y", EDDY_INT32, EDDY_SHAPE(BATCH));
    eddy_tensor h = m.x;
    for (int i = 0; i < 2; i++) {
        h = eddy_conv2d_layer(h, i == 0 ? 32 : 64, EDDY_DIMS(5), .padding = "SAME");
        h = eddy_max_pool2d(eddy_relu(h), EDDY_DIMS(2));
    }
    h = eddy_relu(eddy_dense(eddy_flatten(h), 1024, "hidden"));
    eddy_tensor loss =
        eddy_mean(eddy_sparse_softmax_cross_entropy(m.y, eddy_dense(h, 10, "logits")));
    m.train = eddy_minimize(eddy_adam(m.g, .name = "adam"), loss);
    m.s = eddy_session_new(m.g);
    bench_need(eddy_run(m.s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.g)), NULL) == EDDY_OK,
               eddy_session_message(m.s));
    return m;
}

/* Seconds of each of STEPS steps: with batches of the pipeline, with one batch again and again
 * if it is NULL, and without a network if `m` is NULL. */
static void measure(const lenet *m, eddy_dataset *d, const eddy_array *const *ready,
                    bench_samples *out)
{
    const eddy_array *b[2] = { ready[0], ready[1] };
    const double      start = bench_now();
    for (int i = 0; i < STEPS; i++) {
        if (d) bench_need(eddy_dataset_next(d, b), eddy_dataset_message(d));
        if (m)
            bench_need(eddy_run(m->s, EDDY_FEED({ m->x, b[0] }, { m->y, b[1] }),
                                EDDY_FETCH(m->train), NULL) == EDDY_OK,
                       eddy_session_message(m->s));
    }
    bench_add(out, (bench_now() - start) / STEPS);
}

int main(void)
{
    static const char *const names[] = { "step, batch in memory", "step, pipeline without threads",
                                         "step, one thread reads ahead", "pipeline alone" };
    eddy_array *images = load(FASHION "train-images-idx3-ubyte.gz", EDDY_SHAPE(60000, SIDE, SIDE));
    eddy_array   *labels = load(FASHION "train-labels-idx1-ubyte.gz", EDDY_SHAPE(60000));
    const lenet   m = build();
    eddy_dataset *first = pipeline(images, labels, 0), *plain = pipeline(images, labels, 0),
                 *ahead = pipeline(images, labels, 1);
    bench_samples     s[4] = { { 0 } };
    const eddy_array *ready[2] = { NULL, NULL };
    bench_need(eddy_dataset_next(first, ready), eddy_dataset_message(first));
    for (int round = 0; round <= ROUNDS; round++) {
        measure(&m, NULL, ready, &s[0]);
        measure(&m, plain, ready, &s[1]);
        measure(&m, ahead, ready, &s[2]);
        measure(NULL, plain, ready, &s[3]);
        if (round == 0) for (int i = 0; i < 4; i++) s[i].n = 0;      /* warms up */
    }
    for (int i = 0; i < 4; i++) {
        double best = s[i].at[0];
        for (int k = 1; k < s[i].n; k++) if (s[i].at[k] < best) best = s[i].at[k];
        printf("%-32s %9.1f us\n", names[i], 1e6 * best);
    }
    eddy_dataset_free(first);
    eddy_dataset_free(plain);
    eddy_dataset_free(ahead);
    eddy_session_free(m.s);
    eddy_graph_free(m.g);
    eddy_array_free(images);
    eddy_array_free(labels);
    return 0;
}
