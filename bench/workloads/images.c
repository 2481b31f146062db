/* images.c -- convolutional networks, channels last: a LeNet on Fashion-MNIST, and a residual
 * network with batch normalization on generated images. */
#include "bench/workloads/workload.h"

#include <eddy/ops/short_names.h>
#include <math.h>

enum { CLASSES = 10 };

/* [side, side, channels, out], drawn as [out, channels, side, side]. */
static eddy_tensor filter(trial *t, int out, int channels, int side, uint64_t seed)
{
    const int64_t area = side * side, n = area * channels * out;
    const double  bound = sqrt(6.0 / (double)(channels * area));
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(side, side, channels, out));
    float        *drawn = malloc((size_t)n * sizeof *drawn), *to = eddy_array_data(a);
    bench_need(a && drawn, "out of memory");
    bench_uniform(drawn, n, seed, -bound, bound);
    for (int64_t o = 0; o < out; o++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t p = 0; p < area; p++)
                to[(p * channels + c) * out + o] = drawn[(o * channels + c) * area + p];
    free(drawn);
    return trial_variable(t, a);
}

/* Fetches the loss and a step with momentum 0.9. */
static void learn(trial *t, eddy_tensor y, eddy_tensor logits, double rate)
{
    eddy_tensor     loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits));
    eddy_optimizer *o = eddy_momentum(t->graph, .learning_rate = eddy_scalar(t->graph, rate),
                                      .momentum = eddy_scalar(t->graph, 0.9));
    trial_fetch(t, loss);
    trial_fetch(t, eddy_minimize(o, loss));
}

/* -------------------------------------------------------------- LeNet -- */

/* Convolution 5x5, relu, the largest of each 2x2. */
static eddy_tensor stage(trial *t, eddy_tensor x, int channels, int out, uint64_t seed)
{
    eddy_tensor w = filter(t, out, channels, 5, seed), b = trial_filled(t, EDDY_SHAPE(out), 0);
    x = eddy_relu(eddy_bias_add(eddy_conv2d(x, w, .padding = "SAME"), b));
    return eddy_max_pool2d(x, EDDY_DIMS(2));
}

/* A matrix whose rows, drawn in the order [channels, area], are put as [area, channels]. */
static eddy_tensor flat_matrix(trial *t, int channels, int area, int columns, uint64_t seed)
{
    const int64_t rows = (int64_t)channels * area;
    const double  bound = sqrt(6.0 / (double)rows);
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(rows, columns));
    float        *drawn = malloc((size_t)(rows * columns) * sizeof *drawn);
    float        *to = eddy_array_data(a);
    bench_need(a && drawn, "out of memory");
    bench_uniform(drawn, rows * columns, seed, -bound, bound);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < columns; k++)
            to[(r % area * channels + r / area) * columns + k] = drawn[r * columns + k];
    free(drawn);
    return trial_variable(t, a);
}

void build_lenet(trial *t, int64_t batch)
{
    enum { IMAGES = 4096, SIDE = 28, LAST = 64, AREA = 49, HIDDEN = 1024 };
    float   *pixels;
    int32_t *labels;
    trial_images(t, IMAGES, &pixels, &labels);
    trial_batches(t, IMAGES / batch);
    eddy_tensor x = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(batch, SIDE, SIDE, 1), pixels);
    eddy_tensor y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch), labels);
    x = stage(t, stage(t, x, 1, 32, 1), 32, LAST, 2);
    x = eddy_reshape(x, EDDY_SHAPE(batch, LAST * AREA));
    eddy_tensor w = flat_matrix(t, LAST, AREA, HIDDEN, 3);
    x = eddy_relu(eddy_bias_add(eddy_matmul(x, w), trial_filled(t, EDDY_SHAPE(HIDDEN), 0)));
    w = trial_matrix(t, HIDDEN, CLASSES, 4, 1);
    x = eddy_bias_add(eddy_matmul(x, w), trial_filled(t, EDDY_SHAPE(CLASSES), 0));
    learn(t, y, x, 0.01);
}

/* ----------------------------------------------------------- residual -- */

/* A convolution and its normalization: parameter k has the numbers of stream k + 1. */
static eddy_tensor normalized(trial *t, eddy_tensor x, int channels, int out, int side, int stride)
{
    const int   margin = side / 2;
    eddy_tensor w = filter(t, out, channels, side, (uint64_t)t->n_variables + 1);
    eddy_tensor scale = trial_filled(t, EDDY_SHAPE(out), 1);
    eddy_tensor offset = trial_filled(t, EDDY_SHAPE(out), 0);
    x = eddy_conv2d(x, w, EDDY_DIMS(stride),
                    .explicit_paddings = EDDY_DIMS(margin, margin, margin, margin));
    return eddy_fused_batch_norm(x, scale, offset, .epsilon = 1e-5, .is_training = true);
}

static eddy_tensor residual(trial *t, eddy_tensor x, int channels, int out, int stride)
{
    eddy_tensor inner = eddy_relu(normalized(t, x, channels, out, 3, stride));
    eddy_tensor y = normalized(t, inner, out, out, 3, 1);
    return eddy_relu(Add(y, channels == out ? x : normalized(t, x, channels, out, 1, stride)));
}

/* Noise of which one channel is lighter, as the label says; channels last. */
static void pictures(trial *t, int n, int side, float **x, int32_t **labels)
{
    enum { CHANNELS = 3 };
    const int64_t area = side * side, all = area * CHANNELS;
    float        *drawn = malloc((size_t)(n * all) * sizeof *drawn);
    *x = trial_memory(t, n * all, sizeof **x);
    *labels = trial_memory(t, n, sizeof **labels);
    bench_need(drawn, "out of memory");
    bench_uniform(drawn, n * all, 100, -1, 1);
    for (int i = 0; i < n; i++) {
        const int label = (int)((bench_word(101, (uint64_t)i) >> 33) % CLASSES);
        (*labels)[i] = label;
        for (int64_t k = 0; k < all; k++) {
            const int64_t c = k % CHANNELS, from = i * all + c * area + k / CHANNELS;
            (*x)[i * all + k] = drawn[from] + (c == label % CHANNELS ? (float)label / 10 : 0);
        }
    }
    free(drawn);
}

void build_residual(trial *t, int64_t batch)
{
    enum { PICTURES = 1024, SIDE = 32 };
    float   *all;
    int32_t *labels;
    pictures(t, PICTURES, SIDE, &all, &labels);
    trial_batches(t, PICTURES / batch);
    eddy_tensor x = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(batch, SIDE, SIDE, 3), all);
    eddy_tensor y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch), labels);
    x = eddy_relu(normalized(t, x, 3, 16, 3, 1));
    x = residual(t, residual(t, x, 16, 16, 1), 16, 16, 1);
    x = residual(t, residual(t, x, 16, 32, 2), 32, 32, 1);
    x = residual(t, residual(t, x, 32, 64, 2), 64, 64, 1);
    x = eddy_mean(x, EDDY_AXES(1, 2));
    eddy_tensor w = trial_matrix(t, 64, CLASSES, (uint64_t)t->n_variables + 1, 1);
    eddy_tensor b = trial_filled(t, EDDY_SHAPE(CLASSES), 0);
    learn(t, y, eddy_bias_add(eddy_matmul(x, w), b), 0.05);
}
