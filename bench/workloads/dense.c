/* dense.c -- softmax regression, perceptrons, and the product of a Hessian with a vector. */
#include "bench/workloads/workload.h"

enum { IMAGES = 8192, AREA = 784, HIDDEN = 512, CLASSES = 10 };

static eddy_tensor layer(trial *t, eddy_tensor x, int rows, int columns, uint64_t seed,
                         eddy_tensor (*f)(eddy_tensor))
{
    eddy_tensor w = trial_matrix(t, rows, columns, seed, 1);
    eddy_tensor b = trial_filled(t, EDDY_SHAPE(columns), 0);
    eddy_tensor y = eddy_bias_add(eddy_matmul(x, w), b);
    return f ? f(y) : y;
}

static eddy_tensor mean_loss(eddy_tensor y, eddy_tensor logits)
{
    return eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits));
}

static void feed_images(trial *t, int64_t batch, eddy_tensor *x, eddy_tensor *y)
{
    float   *pixels;
    int32_t *labels;
    trial_images(t, IMAGES, &pixels, &labels);
    trial_batches(t, IMAGES / batch);
    *x = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(batch, AREA), pixels);
    *y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch), labels);
}

static void descend(trial *t, eddy_tensor loss, double rate)
{
    eddy_optimizer *o = eddy_gradient_descent(t->graph, eddy_scalar(t->graph, rate));
    trial_fetch(t, loss);
    trial_fetch(t, eddy_minimize(o, loss));
}

void build_logistic(trial *t, int64_t batch)
{
    eddy_tensor x, y;
    feed_images(t, batch, &x, &y);
    descend(t, mean_loss(y, layer(t, x, AREA, CLASSES, 1, NULL)), 0.1);
}

/* Three layers up to the logits. */
static eddy_tensor three_layers(trial *t, eddy_tensor x, eddy_tensor (*f)(eddy_tensor))
{
    eddy_tensor h = layer(t, x, AREA, HIDDEN, 1, f);
    return layer(t, layer(t, h, HIDDEN, HIDDEN, 2, f), HIDDEN, CLASSES, 3, NULL);
}

void build_perceptron(trial *t, int64_t batch)
{
    eddy_tensor x, y;
    feed_images(t, batch, &x, &y);
    trial_adam(t, mean_loss(y, three_layers(t, x, eddy_relu)), 0);
}

void build_small(trial *t, int64_t batch)
{
    enum { ROWS = 4096, WIDTH = 64, INNER = 32 };
    float   *rows;
    int32_t *labels;
    trial_labeled(t, ROWS, WIDTH, &rows, &labels);
    trial_batches(t, ROWS / batch);
    eddy_tensor x = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(batch, WIDTH), rows);
    eddy_tensor y = trial_feed(t, EDDY_INT32, EDDY_SHAPE(batch), labels);
    eddy_tensor h = layer(t, x, WIDTH, INNER, 1, eddy_relu);
    descend(t, mean_loss(y, layer(t, h, INNER, CLASSES, 2, NULL)), 0.1);
}

/* ------------------------------------------------------------- Hessian -- */

enum { PARAMETERS = 6 };

/* Weights and biases in turn; the direction has streams of its own. */
static const struct direction {
    int      rows, columns;     /* no rows: a vector */
    uint64_t seed;
} directions[PARAMETERS] = {
    { AREA, HIDDEN, 11 }, { 0, HIDDEN, 21 }, { HIDDEN, HIDDEN, 12 },
    { 0, HIDDEN, 22 }, { HIDDEN, CLASSES, 13 }, { 0, CLASSES, 23 },
};

static eddy_array *direction(int i)
{
    const struct direction d = directions[i];
    eddy_array *v = eddy_array_new(EDDY_FLOAT32, d.rows ? EDDY_SHAPE(d.rows, d.columns)
                                                        : EDDY_SHAPE(d.columns));
    bench_need(v, "out of memory");
    bench_uniform(eddy_array_data(v), eddy_array_count(v), d.seed, -1, 1);
    return v;
}

/* The sum of the products of Hv with v. */
static double along(const eddy_array *const *out)
{
    static eddy_array *v[PARAMETERS];
    double sum = 0;
    for (int i = 0; i < PARAMETERS; i++) {
        if (!v[i]) v[i] = direction(i);
        const float *a = eddy_array_data(out[i]), *b = eddy_array_data(v[i]);
        for (int64_t k = 0; k < eddy_array_count(v[i]); k++) sum += (double)a[k] * (double)b[k];
    }
    return sum;
}

void build_hessian(trial *t, int64_t batch)
{
    eddy_tensor x, y, v[PARAMETERS], product[PARAMETERS];
    feed_images(t, batch, &x, &y);
    eddy_tensor loss = mean_loss(y, three_layers(t, x, eddy_tanh));
    const eddy_list parameters = { PARAMETERS, t->variables };
    for (int i = 0; i < PARAMETERS; i++) v[i] = trial_variable(t, direction(i));
    eddy_hessian_vector_product(loss, parameters, (eddy_list){ PARAMETERS, v }, product);
    for (int i = 0; i < PARAMETERS; i++) trial_fetch(t, product[i]);
    t->value = along;
}
