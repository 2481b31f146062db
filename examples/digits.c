/* digits.c -- a small network learns to read handwritten digits.
 *
 *   digits [--data digits|fashion] [--epochs N] [--seed N] [--out FOLDER]
 *
 * A complete use of the library: build a graph, let an optimizer append the training step, run it
 * on batches, measure on held-out images, save the variables, load them into a new session, write
 * the network without its training to a file, which infer.c reads, and write a report. Fails if the
 * accuracy is below the level that the network is known to reach, or if the loaded variables do not
 * give the same predictions. Equal seeds give equal results.
 *
 * Code that does not concern graphs (reading images, drawing) is in support/. */
#include <eddy/eddy.h>
#include <eddy/formats.h>
#include <eddy/formats/events.h>

#include "support/images.h"
#include "support/print_images.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --------------------------------------------------------------- tasks -- */

typedef struct task {
    const char *name, *about;
    const char *train[2], *test[2];    /* pixels, labels; no test: part of train is held out */
    int         white;                 /* the largest pixel */
    int         hidden[2];
    double      dropout;
    bool        shift;                 /* move training images by up to a pixel */
    int         epochs, batch;
    double      rate;                  /* initial; falls linearly to 0 */
    double      expected;              /* accuracy on the held-out images */
    const char *labels[CLASSES];
} task;

#define FASHION "/usr/share/datasets/fashion-mnist/"

static const task tasks[] = {
    { .name = "digits", .about = "UCI optical handwritten digits (CC BY 4.0), 8 by 8 pixels",
      .train = { "data/digits-images.idx3-ubyte", "data/digits-labels.idx1-ubyte" },
      .white = 16, .hidden = { 256, 256 }, .dropout = 0.2, .shift = true,
      .epochs = 100, .batch = 32, .rate = 2e-3, .expected = 0.98,
      .labels = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9" } },
    { .name = "fashion", .about = "Fashion-MNIST (MIT license), 28 by 28 pixels",
      .train = { FASHION "train-images-idx3-ubyte.gz", FASHION "train-labels-idx1-ubyte.gz" },
      .test = { FASHION "t10k-images-idx3-ubyte.gz", FASHION "t10k-labels-idx1-ubyte.gz" },
      .white = 255, .hidden = { 512, 256 }, .dropout = 0.05, .shift = false,
      .epochs = 5, .batch = 32, .rate = 1e-3, .expected = 0.88,
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

/* Dropout during training, the identity otherwise. */
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
    m.training = eddy_placeholder_with_default(
        eddy_const(g, EDDY_BOOL, EDDY_SCALAR, &(bool){ false }), "training", EDDY_SCALAR);

    eddy_tensor h = m.pixels;
    for (int i = 0; i < 2; i++) {
        h = eddy_relu(eddy_dense(h, t->hidden[i], "hidden"));
        h = dropout(h, t->dropout, m.training);
    }
    eddy_tensor logits = eddy_dense(h, CLASSES, "logits");

    m.predicted = eddy_argmax(logits, .axis = 1, .output_type = EDDY_INT32);
    m.accuracy  = eddy_mean(eddy_cast(eddy_equal(m.predicted, m.labels), EDDY_FLOAT32));
    m.loss      = eddy_mean(eddy_sparse_softmax_cross_entropy(m.labels, logits));

    enum { MOST = 8 };
    eddy_gradient_pair pairs[MOST];
    eddy_optimizer    *adam = eddy_adam(g, .learning_rate = m.rate);
    const int          n = eddy_compute_gradients(adam, m.loss, pairs, MOST);
    m.step = eddy_apply_gradients(adam, pairs, n);

    eddy_summary_scalar("loss", m.loss);
    eddy_summary_scalar("accuracy", m.accuracy);
    eddy_summary_scalar("learning_rate", m.rate);
    eddy_summary_training(m.step, pairs, n);
    for (int i = 0; i < n; i++) {
        char tag[100];
        snprintf(tag, sizeof tag, "values/%.80s", eddy_name_of(pairs[i].variable));
        eddy_summary_histogram(tag, pairs[i].variable);
    }
    return m;
}

/* ---------------------------------------------------------- evaluation -- */

/* Predicts every image of the set; returns how many are right, -1 on an error. */
static int evaluate(const model *m, eddy_session *s, const images *set, int white, int *predicted)
{
    enum { AT_ONCE = 1000 };
    int         right = 0, area = set->rows * set->cols;
    eddy_array *out[1] = { NULL };
    for (int first = 0; first < set->count; first += AT_ONCE) {
        int         n = set->count - first < AT_ONCE ? set->count - first : AT_ONCE;
        eddy_array *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n, area));
        for (int i = 0; x && i < n; i++)
            images_pixels(set, first + i, white, 0, 0,
                          (float *)eddy_array_data(x) + (ptrdiff_t)i * area);
        eddy_status status =
            eddy_run(s, EDDY_FEED({ m->pixels, x }), EDDY_FETCH(m->predicted), out);
        eddy_array_free(x);
        if (status != EDDY_OK) {
            fprintf(stderr, "%s\n", eddy_session_message(s));
            eddy_array_free(out[0]);
            return -1;
        }
        for (int i = 0; i < n; i++) {
            predicted[first + i] = (int)eddy_array_get(out[0], i);
            right += predicted[first + i] == set->labels[first + i];
        }
    }
    eddy_array_free(out[0]);
    return right;
}

/* ------------------------------------------------------------ training -- */

/* A batch of n images from order[0..n-1]. */
static void fill(const task *t, const images *set, const int *order, int n, dice *d,
                 eddy_array *x, eddy_array *y)
{
    int area = set->rows * set->cols;
    for (int i = 0; i < n; i++) {
        /* One in six is shifted left, right, up and down each; a third stay. */
        int move = t->shift ? dice_below(d, 6) : 0;
        int dx = move == 1 ? 1 : move == 2 ? -1 : 0, dy = move == 3 ? 1 : move == 4 ? -1 : 0;
        images_pixels(set, order[i], t->white, dx, dy,
                      (float *)eddy_array_data(x) + (ptrdiff_t)i * area);
        ((int32_t *)eddy_array_data(y))[i] = set->labels[order[i]];
    }
}

enum { EVERY = 20 };                        /* steps between those in the events */

/* Runs all steps. */
static bool train(const task *t, const model *m, eddy_session *s, const images *set, int64_t seed,
                  int steps, eddy_events *events)
{
    int         per_epoch = set->count / t->batch, area = set->rows * set->cols;
    int        *order = malloc((size_t)set->count * sizeof *order);
    float       rate = 0;
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(t->batch, area));
    eddy_array *y = eddy_array_new(EDDY_INT32, EDDY_SHAPE(t->batch));
    eddy_array *r = eddy_array_borrow(EDDY_FLOAT32, EDDY_SCALAR, &rate);
    eddy_array *yes = eddy_array_of(EDDY_BOOL, 1);
    eddy_array *out[3] = { NULL, NULL, NULL };
    dice        d = { (uint64_t)seed };
    double      loss = 0, accuracy = 0;     /* running averages */
    bool        ok = order && x && y && r && yes;

    for (int i = 0; ok && i < set->count; i++) order[i] = i;
    eddy_progress *bar = eddy_progress_new(.total = steps, .label = "training", .unit = "steps",
                                           .to = stdout);
    for (int i = 0; ok && i < steps; i++) {
        if (i % per_epoch == 0) dice_shuffle(&d, order, set->count);
        fill(t, set, order + i % per_epoch * t->batch, t->batch, &d, x, y);
        rate = (float)(t->rate * (1 - (double)i / steps));
        ok = eddy_events_run(events, s,
                             EDDY_FEED({ m->pixels, x }, { m->labels, y }, { m->rate, r },
                                       { m->training, yes }),
                             EDDY_FETCH(m->loss, m->accuracy, m->step), out, .step = i + 1,
                             .every = EVERY) == EDDY_OK;
        const double keep = i == 0 ? 0 : 0.98;
        loss = keep * loss + (1 - keep) * eddy_array_item(out[0]);
        accuracy = keep * accuracy + (1 - keep) * eddy_array_item(out[1]);
        eddy_progress_metric(bar, "loss", loss);
        eddy_progress_metric(bar, "accuracy", accuracy);
        eddy_progress_add(bar, 1);
        if ((i + 1) % EVERY == 0)
            eddy_events_performance(events, i + 1, s, t->batch * eddy_progress_rate(bar));
    }
    eddy_progress_free(bar);
    if (!ok) fprintf(stderr, "%s\n", eddy_session_message(s));
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_array_free(x);
    eddy_array_free(y);
    eddy_array_free(r);
    eddy_array_free(yes);
    free(order);
    return ok;
}

/* -------------------------------------------------------------- report -- */

/* The first images of the set and the first mistakes. */
static void show_some(const task *t, const images *set, const int *predicted)
{
    enum { EACH = 4 };
    const uint8_t *pixels[2 * EACH];
    const char    *truth[2 * EACH], *guess[2 * EACH];
    int            n = 0, wrong = 0, area = set->rows * set->cols;
    for (int i = 0; i < set->count && wrong < EACH; i++) {
        bool right = predicted[i] == set->labels[i];
        if (right && i >= EACH) continue;
        pixels[n] = set->pixels + (ptrdiff_t)i * area;
        truth[n] = t->labels[set->labels[i]];
        guess[n++] = t->labels[predicted[i]];
        wrong += i >= EACH;
    }
    show_images(n, pixels, set->rows, set->cols, t->white, truth, guess);
}

static void report(const task *t, const images *set, const int *predicted, int right)
{
    int count[CLASSES][CLASSES] = { { 0 } };
    for (int i = 0; i < set->count; i++) count[set->labels[i]][predicted[i]]++;
    printf("\ntest accuracy  %.2f %%  (%d of %d images that were held out)\n\n",
           100.0 * right / set->count, right, set->count);
    show_confusion(count, t->labels);
    printf("\nthe first images held out, and the first that are taken for something else\n\n");
    show_some(t, set, predicted);
}

/* --------------------------------------------------------------- files -- */

/* Saves the variables, loads them into a fresh session and predicts again. */
static bool check_checkpoint(const task *t, const model *m, eddy_session *s, const images *set,
                             const int *predicted, const char *path)
{
    int          *again = malloc((size_t)set->count * sizeof *again);
    eddy_session *fresh = eddy_session_new(m->graph);
    bool          ok = again && fresh && eddy_save(s, path, EDDY_LIST()) == EDDY_OK;
    if (!ok) fprintf(stderr, "%s\n", eddy_session_message(s));
    if (ok && eddy_restore(fresh, path, EDDY_LIST()) != EDDY_OK) {
        fprintf(stderr, "%s\n", eddy_session_message(fresh));
        ok = false;
    }
    int right = ok ? evaluate(m, fresh, set, t->white, again) : -1;
    ok = right >= 0 && memcmp(again, predicted, (size_t)set->count * sizeof *again) == 0;
    if (right >= 0)
        printf("  %-32s variables; loaded into a fresh session: %.2f %%, %s\n", path,
               100.0 * right / set->count, ok ? "the same predictions" : "OTHER PREDICTIONS");
    eddy_session_free(fresh);
    free(again);
    return ok;
}

/* Writes the network with its weights, without dropout and training. The file also has the
 * accuracy, for infer.c. */
static bool save_model(const task *t, const model *m, eddy_session *s, const images *set, int right,
                       const char *path)
{
    eddy_error  e = { 0 };
    eddy_tensor accuracy = eddy_scalar(m->graph, (double)right / set->count);
    eddy_graph *network = eddy_extract(EDDY_LIST(m->predicted, accuracy),
                                       .output_names = "predicted, test_accuracy",
                                       .inputs = EDDY_LIST(m->pixels), .freeze = s,
                                       .values = EDDY_FEED({ m->training,
                                                             EDDY_NUMBER(EDDY_BOOL, 0) }),
                                       .error = &e);
    const bool ok = network && eddy_graph_save(network, path, &e) == EDDY_OK;
    if (ok) printf("  %-32s network of %d nodes, for infer --data %s\n", path,
                   eddy_graph_size(network), t->name);
    else fprintf(stderr, "%s\n", e.message);
    eddy_graph_free(network);
    return ok;
}

/* The first mistakes, as pictures. */
static void add_mistakes(const task *t, const images *set, const int *predicted, int step,
                         eddy_events *events)
{
    enum { MOST = 12 };
    char        tag[64];
    eddy_array *picture = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(set->rows, set->cols, 1));
    for (int i = 0, wrong = 0; picture && i < set->count && wrong < MOST; i++) {
        if (set->labels[i] == predicted[i]) continue;
        snprintf(tag, sizeof tag, "mistakes/%d: %s taken for %s", ++wrong,
                 t->labels[set->labels[i]], t->labels[predicted[i]]);
        images_pixels(set, i, t->white, 0, 0, eddy_array_data(picture));
        eddy_events_image(events, tag, step, picture, 1);
    }
    eddy_array_free(picture);
}

static bool save_report(const task *t, const model *m, eddy_session *s, const images *set,
                        const int *predicted, int step, eddy_events *events, const char *logs,
                        const char *path)
{
    eddy_error  e = { 0 };
    eddy_array *count = eddy_array_new(EDDY_INT64, EDDY_SHAPE(CLASSES, CLASSES));
    for (int i = 0; count && i < set->count; i++)
        ((int64_t *)eddy_array_data(count))[set->labels[i] * CLASSES + predicted[i]]++;
    eddy_events_table(events, "what (rows) is taken for what (columns)", step, count, t->labels,
                      t->labels);
    eddy_array_free(count);
    add_mistakes(t, set, predicted, step, events);
    eddy_events_graph(events, m->graph);
    eddy_events_profile(events, "training and evaluation", step, s);
    const eddy_hparam about[] = {
        { "epochs", t->epochs, NULL }, { "batch", t->batch, NULL }, { "dropout", t->dropout, NULL },
        { "first rate", t->rate, NULL },
    };
    eddy_events_hparams(events, about, 4, (const char *const[]){ "loss", "accuracy" }, 2);
    const bool ok = eddy_events_close(events, &e) == EDDY_OK &&
                    eddy_events_report(logs, path, t->about, &e) == EDDY_OK;
    if (ok) printf("  %-32s report of the training, for a browser\n", path);
    else fprintf(stderr, "%s\n", e.message);
    return ok;
}

/* ---------------------------------------------------------------- main -- */

typedef struct options {
    task        task;
    int64_t     seed;
    const char *folder;
} options;

/* FOLDER/TASK and a suffix, in memory that the next call uses again. */
static const char *path_of(const options *o, const char *ending)
{
    enum { AT_ONCE = 4 };
    static char path[AT_ONCE][512];
    static int  at;
    char       *to = path[at++ % AT_ONCE];
    snprintf(to, sizeof path[0], "%s/%s%s", o->folder, o->task.name, ending);
    return to;
}

static bool read_options(options *o, int argc, char **argv)
{
    *o = (options){ .task = tasks[0], .seed = 1, .folder = "." };
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        int         number = atoi(value);
        if (strcmp(argv[i], "--data") == 0 && strcmp(value, tasks[1].name) == 0) o->task = tasks[1];
        else if (strcmp(argv[i], "--data") == 0 && strcmp(value, tasks[0].name) == 0)
            o->task = tasks[0];
        else if (strcmp(argv[i], "--epochs") == 0 && number > 0 && number <= 100000)
            o->task.epochs = number;
        else if (strcmp(argv[i], "--seed") == 0 && number > 0) o->seed = number;
        else if (strcmp(argv[i], "--out") == 0) o->folder = value;
        else return false;
    }
    return argc % 2 == 1;
}

static bool learn(const options *o, const images *train_set, const images *test_set)
{
    const task   *t = &o->task;
    int area = train_set->rows * train_set->cols, steps = train_set->count / t->batch * t->epochs;
    model         m = build(t, area, o->seed);
    eddy_session *s = eddy_session_new(m.graph, .profile = true);
    char          run[40];
    snprintf(run, sizeof run, "-logs/%lld", (long long)time(NULL));
    const char   *logs = path_of(o, run);
    int          *predicted = malloc((size_t)test_set->count * sizeof *predicted);
    int           right = -1;

    printf("%s\n", t->about);
    printf("  %d images to learn from, %d held out%s\n", train_set->count, test_set->count,
           t->test[0] ? "" : ", every fifth of each digit");
    printf("  network %d-%d-%d-%d, relu, dropout %g\n", area, t->hidden[0], t->hidden[1], CLASSES,
           t->dropout);
    printf("  Adam, %d epochs, batches of %d, rate %g falling to 0, seed %d\n\n", t->epochs,
           t->batch, t->rate, (int)o->seed);

    eddy_events  *events = eddy_events_new(logs);
    bool ok = s && predicted && steps > 0;
    if (ok && eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m.graph)), NULL) != EDDY_OK) {
        fprintf(stderr, "%s\n", eddy_session_message(s));
        ok = false;
    }
    if (ok) ok = train(t, &m, s, train_set, o->seed, steps, events);
    if (ok) ok = (right = evaluate(&m, s, test_set, t->white, predicted)) >= 0;
    if (ok) report(t, test_set, predicted, right);
    if (ok) puts("files");
    ok = ok && check_checkpoint(t, &m, s, test_set, predicted, path_of(o, ".safetensors")) &&
         save_model(t, &m, s, test_set, right, path_of(o, "-model.yaml"));
    if (ok)
        ok = save_report(t, &m, s, test_set, predicted, steps, events, logs, path_of(o, ".html"));
    else eddy_events_close(events, NULL);
    if (ok && right < t->expected * test_set->count) {
        fprintf(stderr, "the accuracy is below %g %%\n", 100 * t->expected);
        ok = false;
    }
    free(predicted);
    eddy_session_free(s);
    eddy_graph_free(m.graph);
    return ok;
}

int main(int argc, char **argv)
{
    options o;
    images  train_set, test_set;
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr,
                "usage: digits [--data digits|fashion] [--epochs N] [--seed N] [--out FOLDER]\n");
        return 2;
    }
    if (!load(&o.task, &train_set, &test_set)) {
        if (o.task.test[0]) fprintf(stderr, "is the package dataset-fashion-mnist installed?\n");
        else fprintf(stderr, "run it where data/ is\n");
        return 1;
    }
    bool ok = learn(&o, &train_set, &test_set);
    images_free(&train_set);
    images_free(&test_set);
    return ok ? 0 : 1;
}
