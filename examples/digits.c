/* digits.c -- a small network learns to read handwritten digits.
 *
 *   digits [--data digits|fashion] [--epochs N] [--seed N] [--out FOLDER]
 *
 * The whole way of working with the library: build a graph, let an optimizer
 * append the training step, run it on batches, measure on images that were
 * held out, save the variables, load them into a fresh session.  Fails if the
 * accuracy is below what the network is known to reach, or if the loaded
 * variables do not give the same predictions.  Equal seeds give equal numbers.
 *
 * What has nothing to do with graphs (reading images, drawing) is in support/. */
#include <eddy/eddy.h>

#include "support/images.h"
#include "support/plot.h"
#include "support/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --------------------------------------------------------------- tasks -- */

typedef struct task {
    const char *name, *about;
    const char *train[2], *test[2];    /* pixels, labels; no test: part of train is held out */
    int         white;                 /* the largest pixel */
    int         hidden[2];
    double      dropout;
    bool        shift;                 /* move training images by up to a pixel */
    int         epochs, batch;
    double      rate;                  /* at first; falls to 0 in a straight line */
    double      expected;              /* accuracy on the images held out */
    const char *labels[CLASSES];
} task;

#define FASHION "/usr/share/datasets/fashion-mnist/"

static const task tasks[] = {
    { .name = "digits", .about = "UCI optical handwritten digits (CC BY 4.0), 8 by 8 pixels",
      .train = { "data/digits-images.idx3-ubyte", "data/digits-labels.idx1-ubyte" },
      .white = 16, .hidden = { 256, 256 }, .dropout = 0.2, .shift = true,
      .epochs = 100, .batch = 32, .rate = 2e-3, .expected = 0.98,
      .labels = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" } },
    { .name = "fashion", .about = "Fashion-MNIST (MIT licence), 28 by 28 pixels",
      .train = { FASHION "train-images-idx3-ubyte.gz", FASHION "train-labels-idx1-ubyte.gz" },
      .test = { FASHION "t10k-images-idx3-ubyte.gz", FASHION "t10k-labels-idx1-ubyte.gz" },
      .white = 255, .hidden = { 256, 128 }, .dropout = 0.1, .shift = false,
      .epochs = 5, .batch = 64, .rate = 2e-3, .expected = 0.88,
      .labels = { "T-shirt", "trousers", "pullover", "dress", "coat",
                  "sandal", "shirt", "sneaker", "bag", "boot" } },
};

static bool load(const task *t, images *train, images *test)
{
    *test = (images){ 0 };
    if (!images_load(train, t->train[0], t->train[1])) return false;
    if (t->test[0]) return images_load(test, t->test[0], t->test[1]);
    images all = *train;
    bool   ok = images_split(&all, 5, train, test);
    images_free(&all);
    return ok;
}

/* --------------------------------------------------------------- model -- */

typedef struct model {
    eddy_graph *graph;
    eddy_tensor pixels, labels, rate, training;          /* are fed */
    eddy_tensor predicted, loss, accuracy, step;         /* are fetched */
} model;

/* Drops out while training, and passes on otherwise. */
static eddy_tensor dropout(eddy_tensor x, double rate, eddy_tensor training)
{
    return eddy_where(training, eddy_dropout(x, rate), x);
}

static model build(const task *t, int pixels, int64_t seed)
{
    eddy_graph *g = eddy_graph_new(.seed = seed);
    model m = { .graph = g };

    m.pixels = eddy_placeholder(g, "pixels", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, pixels));
    m.labels = eddy_placeholder(g, "labels", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    m.rate   = eddy_placeholder(g, "rate", EDDY_FLOAT32, EDDY_SCALAR);
    m.training = eddy_placeholder_with_default(eddy_const(g, EDDY_BOOL, EDDY_SCALAR, &(bool){ false }),
                                               "training", EDDY_SCALAR);

    eddy_tensor h = m.pixels;
    for (int i = 0; i < 2; i++) {
        h = eddy_relu(eddy_dense(h, t->hidden[i], "hidden"));
        h = dropout(h, t->dropout, m.training);
    }
    eddy_tensor logits = eddy_dense(h, CLASSES, "logits");

    m.predicted = eddy_argmax(logits, .axis = 1, .output_type = EDDY_INT32);
    m.accuracy  = eddy_mean(eddy_cast(eddy_equal(m.predicted, m.labels), EDDY_FLOAT32));
    m.loss      = eddy_mean(eddy_sparse_softmax_cross_entropy(m.labels, logits));
    m.step      = eddy_minimize(eddy_adam(g, .learning_rate = m.rate), m.loss);
    return m;
}
