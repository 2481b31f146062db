/* test_resumed_ranks.c -- a training that some ranks begin and others go on with ends with the bits
 * of one that one rank did alone: with whole variables, and with divided slots, gradients and
 * variables. It has all that a checkpoint must keep: shuffled examples, dropout, a schedule, slots,
 * and sums of gradients, of which fewer ranks have more. */
#include "build/gen/suites.h"
#include "tests/lib/ranks/ranks.h"

#include "input.h"
#include "ops/short_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 4, EXAMPLES = 3, INPUTS = 5, RECORDS = 40, STEPS = 6 };
typedef enum division { WHOLE, SLOTS, GRADIENTS, VARIABLES, DIVISIONS } division;

typedef struct training {
    division    division;
    int         from, to;
    const char *restored;               /* a checkpoint; NULL: from the beginning */
    const char *saved;
} training;

typedef struct network {
    eddy_graph *graph;
    eddy_tensor x, y, runs, step;
} network;

/* Clipping by the global norm is around the optimizer, except where gradients are divided: the sum
 * over the parts of a gradient depends on the number of parts. */
static eddy_optimizer *optimizer(eddy_communicator *c, eddy_graph *g, division d, eddy_tensor steps)
{
    const int       runs = PARTS / eddy_communicator_size(c);
    eddy_optimizer *o = eddy_adam(
        g, .learning_rate = eddy_exponential_decay(eddy_scalar(g, 0.1), steps, eddy_scalar(g, 2),
                                                   eddy_scalar(g, 0.5)));
    if (d >= GRADIENTS)
        return eddy_sharded(eddy_accumulate_gradients(o, runs, .pairwise = true), c);
    if (d == SLOTS) o = eddy_sharded(o, c, .averaged = true);
    o = eddy_clipped_gradients(o, .global_norm = eddy_scalar(g, 0.5));
    return eddy_distributed(eddy_accumulate_gradients(o, runs, .pairwise = true), c);
}

static network build(eddy_communicator *c, division d)
{
    network     n = { .graph = eddy_graph_new(.seed = 5) };
    eddy_graph *g = n.graph;
    n.x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EXAMPLES, INPUTS));
    n.y = eddy_placeholder(g, "y", EDDY_FLOAT32, EDDY_SHAPE(EXAMPLES));
    n.runs = eddy_create_global_step(g);
    const double runs = PARTS / eddy_communicator_size(c);
    eddy_tensor  steps = eddy_floordiv(n.runs, eddy_number(g, EDDY_INT64, runs));
    eddy_tensor  h = eddy_dropout(n.x, 0.3, .seed = 4);
    if (d == VARIABLES) eddy_divide_variables_begin(c, g, 5);
    h = eddy_tanh(eddy_dense(h, 7, "hidden", .seed = 1));
    h = eddy_reshape(eddy_dense(h, 1, "out", .seed = 2), EDDY_SHAPE(EXAMPLES));
    if (d == VARIABLES) eddy_divide_variables_end(g);
    n.step = eddy_minimize(optimizer(c, g, d, steps), eddy_mean(Square(Sub(h, n.y))), n.runs);
    return n;
}

static eddy_dataset *batches(void)
{
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(RECORDS, INPUTS));
    eddy_array *y = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(RECORDS));
    for (int i = 0; i < RECORDS * INPUTS; i++) eddy_array_set(x, i, sin(i * 1.7));
    for (int i = 0; i < RECORDS; i++) eddy_array_set(y, i, cos(i));
    const eddy_array *arrays[] = { x, y };
    eddy_dataset     *d = eddy_dataset_shuffle(eddy_dataset_from_arrays(arrays, 2), .seed = 3);
    eddy_array_free(x);
    eddy_array_free(y);
    return eddy_dataset_batch(d, EXAMPLES * PARTS, .drop_remainder = true);
}

/* The ranks begin anew, or where the checkpoint is. */
static bool start(eddy_communicator *c, const training *t, const network *n, eddy_session *s,
                  eddy_dataset *d, eddy_error *e)
{
    if (!t->restored)
        return eddy_initialize_variables(c, n->graph, s, e);
    eddy_checkpoint *file = eddy_checkpoint_open(t->restored, .error = e);
    eddy_array      *runs = eddy_array_new(EDDY_INT64, EDDY_SCALAR);
    eddy_array_set(runs, 0, (double)t->from * PARTS / eddy_communicator_size(c));
    const bool ok =
        file && eddy_restore_part(n->graph, s, t->restored, e) &&
        eddy_variable_set(s, n->runs, runs) == EDDY_OK &&
        eddy_dataset_seek(d, eddy_checkpoint_text(file, EDDY_DATASET_POSITION)) == EDDY_OK;
    eddy_array_free(runs);
    eddy_checkpoint_free(file);
    return ok;
}

/* Part number `part` of the batch. */
static bool run_part(const network *n, eddy_session *s, const eddy_array *const *batch, int part)
{
    const float *x = (const float *)eddy_array_data(batch[0]) + part * EXAMPLES * INPUTS;
    const float *y = (const float *)eddy_array_data(batch[1]) + part * EXAMPLES;
    return eddy_run(s,
                    EDDY_FEED({ n->x, EDDY_VIEW(x, EXAMPLES, INPUTS) },
                              { n->y, EDDY_VIEW(y, EXAMPLES) }),
                    EDDY_FETCH(n->step), NULL) == EDDY_OK;
}

static bool run_step(eddy_communicator *c, const network *n, eddy_session *s, eddy_dataset *d)
{
    const eddy_array *batch[2];
    const int         ranks = eddy_communicator_size(c);
    bool              ok = eddy_dataset_next(d, batch) || eddy_dataset_next(d, batch);
    for (int p = eddy_communicator_rank(c); ok && p < PARTS; p += ranks)
        ok = run_part(n, s, batch, p);
    return ok;
}

static bool train(eddy_communicator *c, void *context)
{
    const training *t = context;
    eddy_error      e = { 0 };
    const network   n = build(c, t->division);
    eddy_dataset   *d = batches();
    eddy_session   *s = eddy_session_new(n.graph, .deterministic = true,
                                         .first_run = eddy_communicator_rank(c),
                                         .run_stride = eddy_communicator_size(c));
    bool            ok = start(c, t, &n, s, d, &e);
    for (int step = t->from; ok && step < t->to; step++) ok = run_step(c, &n, s, d);
    const eddy_metadata position = { EDDY_DATASET_POSITION, eddy_dataset_position(d) };
    ok = ok && eddy_save_ranks_with_metadata(c, n.graph, s, t->saved, &position, 1, &e);
    expect(c, ok, "%s%s%s", e.message, eddy_graph_message(n.graph), eddy_session_message(s));
    eddy_session_free(s);
    eddy_dataset_free(d);
    eddy_graph_free(n.graph);
    return ok;
}

static void train_on(int ranks, training t)
{
    eddy_error e = { 0 };
    ck_assert_msg(eddy_run_threads(ranks, train, &t, &e), "%d ranks: %s", ranks, e.message);
}

/* Whether all values of a are those of b, but for what counts runs of a step. */
static void compare(const char *a, const char *b, const char *what)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *x = eddy_checkpoint_open(a, .error = &e);
    eddy_checkpoint *y = eddy_checkpoint_open(b, .error = &e);
    int              compared = 0;
    ck_assert_msg(x && y, "%s", e.message);
    for (int i = 0; i < eddy_checkpoint_count(x); i++) {
        const char *name = eddy_checkpoint_entry_at(x, i).name;
        if (strstr(name, "AccumulateGradients") || strcmp(name, "global_step") == 0) continue;
        eddy_array *v = eddy_checkpoint_value(x, name, &e), *w = eddy_checkpoint_value(y, name, &e);
        ck_assert_msg(v && w, "%s: %s", what, e.message);
        ck_assert_msg(eddy_array_equal(v, w), "%s: '%s' differs", what, name);
        eddy_array_free(v);
        eddy_array_free(w);
        compared++;
    }
    ck_assert_int_ge(compared, 4 * 3);           /* four variables with two slots each */
    ck_assert_str_eq(eddy_checkpoint_text(x, EDDY_DATASET_POSITION),
                     eddy_checkpoint_text(y, EDDY_DATASET_POSITION));
    eddy_checkpoint_free(x);
    eddy_checkpoint_free(y);
}

/* The row of the loop is how the training is divided. */
START_TEST(other_ranks_go_on)
{
    char folder[] = "/tmp/eddy-resumed-" "XX" "XX" "XX", one[100], half[100], end[100], what[100];
    char remove[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(one, sizeof one, "%s/one.safetensors.index.json", folder);
    snprintf(half, sizeof half, "%s/half.safetensors.index.json", folder);
    snprintf(end, sizeof end, "%s/end.safetensors.index.json", folder);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    train_on(1, (training){ .division = (division)_i, .to = STEPS, .saved = one });
    for (int first = 1; first <= PARTS; first *= 2) {
        train_on(first, (training){ .division = (division)_i, .to = STEPS / 2, .saved = half });
        for (int then = 1; then <= PARTS; then *= 2) {
            train_on(then, (training){ .division = (division)_i, .from = STEPS / 2, .to = STEPS,
                                       .restored = half, .saved = end });
            snprintf(what, sizeof what, "%d ranks, then %d", first, then);
            compare(one, end, what);
        }
    }
    ck_assert_int_eq(system(remove), 0);
}
END_TEST

Suite *resumed_ranks_suite(void)
{
    Suite *s = suite_create("resumed_ranks");
    TCase *c = tcase_create("ranks");
    tcase_set_tags(c, "threads");
    tcase_add_loop_test(c, other_ranks_go_on, 0, DIVISIONS);
    suite_add_tcase(s, c);
    return s;
}
