/* convnet.c -- a convolutional network with a residual block and batch normalization learns
 * to read handwritten digits.
 *
 *   convnet [--epochs N] [--seed N] [--out FOLDER]
 *
 * One graph serves for training and for inference: `training` is fed, and batch normalization uses
 * the statistics of the batch or their moving averages. Fails if the accuracy on held-out images is
 * below the level that the network is known to reach. Run it in the folder that contains data/. */
#include <eddy/eddy.h>

#include "support/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 10, SIDE = 8, WHITE = 16, BATCH = 32 };

typedef struct options {
    int         epochs;
    int64_t     seed;
    const char *folder;
} options;

/* --------------------------------------------------------------- model -- */

typedef struct model {
    eddy_graph *graph;
    eddy_tensor pixels, labels, rate, training;        /* are fed */
    eddy_tensor loss, step, updates, accuracy, filters; /* are fetched */
} model;

/* A convolution with batch normalization and relu; its kernel is regularized. */
static eddy_tensor convolve(const model *m, eddy_tensor x, int64_t filters, const char *name)
{
    eddy_scope_begin(m->graph, name);
    x = eddy_conv2d_layer(x, filters, EDDY_DIMS(3), .padding = "SAME", .no_bias = true,
                          .kernel_initializer = eddy_he_normal_initializer(),
                          .kernel_regularizer = { .l2 = 1e-4 });
    x = eddy_batch_norm_layer(x, .training_when = m->training, .momentum = 0.95);
    eddy_scope_end(m->graph);
    return eddy_relu(x);
}

static model build(const options *o)
{
    eddy_graph *g = eddy_graph_new(.seed = o->seed);
    model       m = { .graph = g };
    m.pixels = eddy_placeholder(g, "pixels", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, SIDE, SIDE, 1));
    m.labels = eddy_placeholder(g, "labels", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    m.rate = eddy_placeholder(g, "rate", EDDY_FLOAT32, EDDY_SCALAR);
    m.training = eddy_placeholder_with_default(
        eddy_const(g, EDDY_BOOL, EDDY_SCALAR, &(bool){ false }), "training", EDDY_SCALAR);

    eddy_tensor h = convolve(&m, m.pixels, 16, "first");
    h = eddy_residual(h, convolve(&m, h, 16, "second"));
    h = eddy_max_pool2d(h, EDDY_DIMS(2));
    h = eddy_residual(h, convolve(&m, h, 32, "third"));
    h = eddy_flatten(eddy_max_pool2d(h, EDDY_DIMS(2)));
    h = eddy_dropout_layer(h, 0.2, .training_when = m.training);
    eddy_tensor logits = eddy_dense(h, CLASSES, "logits");

    eddy_sparse_softmax_cross_entropy_loss(m.labels, logits);
    m.loss = eddy_get_total_loss(g);
    m.step = eddy_minimize(eddy_adam(g, .learning_rate = m.rate), m.loss);
    m.updates = eddy_update_ops(g, NULL);
    eddy_tensor predicted = eddy_argmax(logits, .axis = 1, .output_type = EDDY_INT32);
    m.accuracy = eddy_mean(eddy_cast(eddy_equal(predicted, m.labels), EDDY_FLOAT32));
    const eddy_tensor kernel = eddy_graph_tensor(g, "first/conv2d/kernel:0");
    m.filters = eddy_transpose(kernel, EDDY_DIMS(0, 3, 1, 2));
    return m;
}

/* ------------------------------------------------------------- training -- */

typedef struct batch {
    eddy_array *pixels, *labels;
} batch;

static batch batch_of(int n)
{
    return (batch){ eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n, SIDE, SIDE, 1)),
                    eddy_array_new(EDDY_INT32, EDDY_SHAPE(n)) };
}

static void batch_free(batch b)
{
    eddy_array_free(b.pixels);
    eddy_array_free(b.labels);
}

/* The images order[0], order[1], ...; shifted by up to a pixel if there is a random generator. */
static void fill(batch b, const images *set, const int *order, dice *d)
{
    for (int i = 0; i < eddy_array_count(b.labels); i++) {
        const int dx = d ? dice_below(d, 3) - 1 : 0, dy = d ? dice_below(d, 3) - 1 : 0;
        images_pixels(set, order[i], WHITE, dx, dy,
                      (float *)eddy_array_data(b.pixels) + (ptrdiff_t)i * SIDE * SIDE);
        eddy_array_set(b.labels, i, set->labels[order[i]]);
    }
}

/* losses: the mean of each epoch. */
static bool train(const options *o, const model *m, eddy_session *s, const images *set, int *order,
                  double *losses)
{
    batch       b = batch_of(BATCH);
    eddy_array *yes = eddy_array_of(EDDY_BOOL, 1), *out[3] = { NULL };
    float       now = 0;
    eddy_array *rate = eddy_array_borrow(EDDY_FLOAT32, EDDY_SCALAR, &now);
    dice        d = { (uint64_t)o->seed };
    bool        ok = b.pixels && b.labels && yes && rate;
    const int   batches = set->count / BATCH;
    eddy_progress *bar = eddy_progress_new(.total = (int64_t)o->epochs * batches,
                                           .label = "training", .unit = "steps", .to = stdout);
    for (int epoch = 0; ok && epoch < o->epochs; epoch++) {
        double loss = 0;
        dice_shuffle(&d, order, set->count);
        now = 5e-3f * (1 - (float)epoch / (float)o->epochs);
        for (int i = 0; ok && i < batches; i++) {
            fill(b, set, order + i * BATCH, &d);
            ok = eddy_run(s, EDDY_FEED({ m->pixels, b.pixels }, { m->labels, b.labels },
                                       { m->rate, rate }, { m->training, yes }),
                          EDDY_FETCH(m->loss, m->step, m->updates), out) == EDDY_OK;
            loss += eddy_array_item(out[0]) / batches;
            eddy_progress_add(bar, 1);
        }
        losses[epoch] = loss;
        eddy_progress_log(bar, "  epoch %2d   loss %.4f", epoch + 1, loss);
    }
    eddy_progress_free(bar);
    eddy_array_free(out[0]);
    eddy_array_free(yes);
    eddy_array_free(rate);
    batch_free(b);
    return ok;
}

/* The share of the images that are recognized; -1 on an error. */
static double test(const model *m, eddy_session *s, const images *set, const int *order)
{
    batch       b = batch_of(set->count);
    eddy_array *out = NULL;
    double      right = -1;
    if (b.pixels && b.labels) {
        fill(b, set, order, NULL);
        if (eddy_run(s, EDDY_FEED({ m->pixels, b.pixels }, { m->labels, b.labels }),
                     EDDY_FETCH(m->accuracy), &out) == EDDY_OK)
            right = eddy_array_item(out);
    }
    eddy_array_free(out);
    batch_free(b);
    return right;
}

/* The filters of the first layer side by side, and how their elements are distributed. */
static void show_filters(const eddy_array *filters, const eddy_array *side_by_side)
{
    eddy_picture_print(side_by_side, .title = "filters of the first layer");
    eddy_histogram_print(filters, .bins = 10);
}

static FILE *create(const options *o, const char *name, char path[512])
{
    snprintf(path, 512, "%s/%s", o->folder, name);
    FILE *f = fopen(path, "w");
    if (!f) perror(path);
    else printf("  %s\n", path);
    return f;
}

static bool end(FILE *f, eddy_status status)
{
    return f && fclose(f) == 0 && status == EDDY_OK;
}

/* The variables, and two drawings. */
static bool save(const options *o, eddy_session *s, const double *losses,
                 const eddy_array *side_by_side)
{
    const eddy_curve curve = { .name = "loss", .count = o->epochs, .y = losses };
    char             path[512];
    FILE            *f = create(o, "convnet-loss.svg", path);
    bool             ok = f && end(f, eddy_plot_svg(&curve, 1, .to = f, .x_label = "epoch"));
    f = create(o, "convnet-filters.svg", path);
    ok &= f && end(f, eddy_picture_svg(side_by_side, .to = f));
    snprintf(path, sizeof path, "%s/convnet.safetensors", o->folder);
    if (eddy_save(s, path, EDDY_LIST()) != EDDY_OK) return false;
    printf("  %s\n", path);
    return ok;
}

/* What the first layer has learned, and the files. */
static bool show(const options *o, const model *m, eddy_session *s, const double *losses)
{
    eddy_array     *filters = eddy_fetch(s, m->filters);
    eddy_array_room room;
    if (!filters) return false;
    const eddy_array *side_by_side =
        eddy_array_view(&room, EDDY_FLOAT32, EDDY_SHAPE(3, eddy_array_count(filters) / 3),
                        eddy_array_data(filters));
    show_filters(filters, side_by_side);
    const bool ok = !o->folder || save(o, s, losses, side_by_side);
    eddy_array_free(filters);
    return ok;
}

static bool learn(const options *o, const images *set, const images *held_out)
{
    model         m = build(o);
    eddy_session *s = eddy_session_new(m.graph);
    int          *order = malloc((size_t)(set->count + held_out->count) * sizeof *order);
    double       *losses = malloc((size_t)o->epochs * sizeof *losses);
    for (int i = 0; order && i < set->count + held_out->count; i++) order[i] = i;
    printf("UCI optical handwritten digits (CC BY 4.0), %d to learn from, %d held out\n\n",
           set->count, held_out->count);
    double right = -1;
    bool   ok = s && order && losses &&
                eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) == EDDY_OK;
    ok = ok && train(o, &m, s, set, order, losses);
    for (int i = 0; ok && i < held_out->count; i++) order[i] = i;
    ok = ok && (right = test(&m, s, held_out, order)) >= 0;
    ok = ok && show(o, &m, s, losses);
    if (ok) printf("\n  test accuracy %.2f %%\n", 100 * right);
    if (!ok) fprintf(stderr, "%s\n", eddy_session_message(s));
    if (ok && right < 0.98) {
        fprintf(stderr, "the accuracy is below 98 %%\n");
        ok = false;
    }
    free(order);
    free(losses);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return ok;
}

static bool read_options(options *o, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const int number = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--epochs") == 0 && number > 0 && number <= 100000) o->epochs = number;
        else if (strcmp(argv[i], "--seed") == 0 && number > 0) o->seed = number;
        else if (strcmp(argv[i], "--out") == 0) o->folder = argv[i + 1];
        else return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    options o = { .epochs = 30, .seed = 1 };
    images  all, set = { 0 }, held_out = { 0 };
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: convnet [--epochs N] [--seed N] [--out FOLDER]\n");
        return 2;
    }
    if (!images_load(&all, "data/digits-images.idx3-ubyte", "data/digits-labels.idx1-ubyte"))
        return 1;
    bool ok = images_split(&all, 5, &set, &held_out);
    images_free(&all);
    ok = ok && learn(&o, &set, &held_out);
    images_free(&set);
    images_free(&held_out);
    return ok ? 0 : 1;
}
