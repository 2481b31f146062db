/* test_same_bits.c -- a training whose batches have eight parts gives the same bits on 1, 2, 4 and
 * 8 ranks: gradients are summed in one order, and random numbers follow the number of the part. */
#include "build/gen/suites.h"
#include "tests/lib/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8, EXAMPLES = 4, INPUTS = 9, CLASSES = 3, STEPS = 5, VARIABLES = 4 };

/* Whether the ranks have pairwise sums and shares of the runs, without which the bits differ. */
typedef struct training {
    bool        pairwise, shares_runs;
    eddy_array *values[VARIABLES];          /* at the end, of rank 0 */
} training;

typedef struct network {
    eddy_graph *graph;
    eddy_tensor x, y, step;
} network;

/* Dropout behind the hidden layer; clipping by the norm of all gradients. */
static network build(eddy_communicator *c, const training *t)
{
    network n = { .graph = eddy_graph_new(.seed = 5) };
    n.x = eddy_placeholder(n.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(EXAMPLES, INPUTS));
    n.y = eddy_placeholder(n.graph, "y", EDDY_INT32, EDDY_SHAPE(EXAMPLES));
    eddy_tensor h = eddy_dropout(eddy_relu(eddy_dense(n.x, 17, "hidden")), 0.3);
    eddy_tensor loss =
        eddy_mean(eddy_sparse_softmax_cross_entropy(n.y, eddy_dense(h, CLASSES, "out")));
    eddy_optimizer *o =
        eddy_clipped_gradients(eddy_adam(n.graph), .global_norm = eddy_scalar(n.graph, 0.5));
    o = eddy_accumulate_gradients(o, PARTS / eddy_communicator_size(c), .pairwise = t->pairwise);
    n.step = eddy_minimize(eddy_distributed(o, c), loss);
    return n;
}

/* Runs a step with this part of the global batch. */
static bool run_part(const network *n, eddy_session *s, int step, int part)
{
    float   x[EXAMPLES][INPUTS];
    int32_t y[EXAMPLES];
    for (int i = 0; i < EXAMPLES; i++) {
        const int at = (step * PARTS + part) * EXAMPLES + i;
        for (int j = 0; j < INPUTS; j++) x[i][j] = (float)sin(at * 1.7 + j * j);
        y[i] = at % CLASSES;
    }
    return eddy_run(s,
                    EDDY_FEED({ n->x, EDDY_VIEW(&x[0][0], EXAMPLES, INPUTS) },
                              { n->y, EDDY_VIEW(y, EXAMPLES) }),
                    EDDY_FETCH(n->step), NULL) == EDDY_OK;
}

static bool train(eddy_communicator *c, void *context)
{
    training     *t = context;
    const int     n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_error    e = { 0 };
    const network net = build(c, t);
    eddy_session *s = eddy_session_new(net.graph, .deterministic = true,
                                       .first_run = t->shares_runs ? me : 0,
                                       .run_stride = t->shares_runs ? n : 1);
    bool ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(net.graph)), NULL) == EDDY_OK &&
              eddy_broadcast_variables(c, 0, net.graph, s, &e);
    for (int step = 0; ok && step < STEPS; step++)
        for (int i = 0; ok && i < PARTS / n; i++) ok = run_part(&net, s, step, i * n + me);
    expect(c, ok, "%s%s", e.message, eddy_session_message(s));
    for (int i = 0; ok && me == 0 && i < VARIABLES; i++)
        t->values[i] =
            eddy_variable_value(s, eddy_collection_at(net.graph, EDDY_TRAINABLE_VARIABLES, i));
    eddy_session_free(s);
    eddy_graph_free(net.graph);
    return ok;
}

/* True if trainings with 1 and with `ranks` ranks end with the same bits. */
static bool same_bits(bool pairwise, bool shares_runs, int ranks)
{
    training   one = { true, true, { NULL } }, several = { pairwise, shares_runs, { NULL } };
    eddy_error e = { 0 };
    bool       same = true;
    ck_assert_msg(eddy_run_threads(1, train, &one, &e), "%s", e.message);
    ck_assert_msg(eddy_run_threads(ranks, train, &several, &e), "%s", e.message);
    for (int i = 0; i < VARIABLES; i++) {
        ck_assert_ptr_nonnull(one.values[i]);
        same = same && eddy_array_equal(one.values[i], several.values[i]);
        eddy_array_free(one.values[i]);
        eddy_array_free(several.values[i]);
    }
    return same;
}

START_TEST(any_number_of_ranks)
{
    for (int ranks = 2; ranks <= 8; ranks *= 2)
        ck_assert_msg(same_bits(true, true, ranks), "%d", ranks);
}
END_TEST

/* The comparison notices other sums and other random numbers. */
START_TEST(notices_differences)
{
    ck_assert(!same_bits(false, true, 2));
    ck_assert(!same_bits(true, false, 2));
}
END_TEST

Suite *same_bits_suite(void)
{
    Suite *s = suite_create("same_bits");
    TCase *c = tcase_create("ranks");
    tcase_set_tags(c, "threads");
    tcase_add_test(c, any_number_of_ranks);
    tcase_add_test(c, notices_differences);
    suite_add_tcase(s, c);
    return s;
}
