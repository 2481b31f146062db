/* test_same_bits.c -- a training whose batches have eight parts gives the same bits on 1, 2, 4 and
 * 8 ranks: gradients are summed in one order, and random numbers follow the number of the part. So
 * it does if slots and gradients are divided among the ranks. Batch normalization uses the
 * statistics of a part, and its moving averages follow the mean over the parts. */
#include "build/gen/suites.h"
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8, EXAMPLES = 4, INPUTS = 144, CLASSES = 3, STEPS = 4, MOST = 40 };
static const double MOMENTUM = 0.75;

typedef enum kind { MLP, LENET, TRANSFORMER, NORMALIZED, KINDS } kind;
typedef enum division { WHOLE, SLOTS, GRADIENTS, DIVISIONS } division;

/* Whether the ranks have pairwise sums and shares of the runs, without which the bits differ. */
typedef struct training {
    kind        kind;
    division    division;
    bool        pairwise, shares_runs;
    int         n;
    eddy_array *values[MOST];               /* variables at the end, of rank 0; last, averages */
} training;

typedef struct network {
    eddy_graph *graph;
    eddy_tensor x, y, step;
} network;

/* Dropout behind the hidden layer. */
static eddy_tensor mlp(eddy_tensor x)
{
    return eddy_dropout(eddy_relu(eddy_dense(x, 17, "hidden")), 0.3);
}

/* Two convolutions with pooling, and dropout behind a dense layer. */
static eddy_tensor lenet(eddy_tensor x)
{
    eddy_tensor h = eddy_reshape(x, EDDY_SHAPE(EXAMPLES, 12, 12, 1));
    h = eddy_relu(eddy_conv2d_layer(h, 6, EDDY_DIMS(3), .name = "first"));
    h = eddy_relu(eddy_conv2d_layer(eddy_max_pool2d(h, EDDY_DIMS(2)), 8, EDDY_DIMS(3),
                                    .name = "second"));
    h = eddy_flatten(h);
    return eddy_dropout(eddy_relu(eddy_dense(h, 20, "hidden")), 0.4);
}

/* 18 positions of 8 numbers; dropout in two blocks. */
static eddy_tensor transformer(eddy_tensor x)
{
    eddy_tensor h = eddy_reshape(x, EDDY_SHAPE(EXAMPLES, 18, 8));
    for (int i = 0; i < 2; i++)
        h = eddy_transformer_block(h, 2, .causal = true, .dropout = 0.2, .attention_dropout = 0.1,
                                   .training = true, .hidden = 16);
    return eddy_mean(h, EDDY_DIMS(1));
}

/* Batch normalization of the input, and of a convolution. */
static eddy_tensor normalized(eddy_tensor x)
{
    eddy_tensor h = eddy_batch_norm_layer(x, "first", .training = true, .momentum = MOMENTUM);
    h = eddy_conv2d_layer(eddy_reshape(h, EDDY_SHAPE(EXAMPLES, 12, 12, 1)), 4, EDDY_DIMS(3),
                          .name = "images");
    return eddy_flatten(eddy_batch_norm_layer(h, "second", .training = true));
}

/* Clipping by the norm of all gradients, except where gradients are divided. */
static eddy_optimizer *optimizer(eddy_communicator *c, eddy_graph *g, const training *t)
{
    const int       runs = PARTS / eddy_communicator_size(c);
    eddy_optimizer *o = eddy_adam(g);
    if (t->division == GRADIENTS)
        return eddy_sharded(eddy_accumulate_gradients(o, runs, .pairwise = t->pairwise), c);
    if (t->division == SLOTS) o = eddy_sharded(o, c, .averaged = true, .bucket_bytes = 600);
    o = eddy_clipped_gradients(o, .global_norm = eddy_scalar(g, 0.5));
    return eddy_distributed(eddy_accumulate_gradients(o, runs, .pairwise = t->pairwise), c);
}

/* The moving averages with the mean over the parts. */
static eddy_tensor updates(eddy_communicator *c, eddy_graph *g, const training *t)
{
    const int       runs = PARTS / eddy_communicator_size(c);
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    o = eddy_accumulate_gradients(o, runs, .pairwise = t->pairwise);
    return eddy_apply_update_ops(eddy_distributed(o, c), NULL);
}

static network build(eddy_communicator *c, const training *t)
{
    static eddy_tensor (*const bodies[KINDS])(eddy_tensor x) = { mlp, lenet, transformer,
                                                                 normalized };
    network            n = { .graph = eddy_graph_new(.seed = 5) };
    n.x = eddy_placeholder(n.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(EXAMPLES, INPUTS));
    n.y = eddy_placeholder(n.graph, "y", EDDY_INT32, EDDY_SHAPE(EXAMPLES));
    eddy_tensor loss = eddy_mean(
        eddy_sparse_softmax_cross_entropy(n.y, eddy_dense(bodies[t->kind](n.x), CLASSES, "out")));
    n.step = eddy_minimize(optimizer(c, n.graph, t), loss);
    if (t->kind == NORMALIZED)
        n.step = eddy_group(n.graph, EDDY_LIST(n.step, updates(c, n.graph, t)), NULL);
    return n;
}

/* Number j of the input of an example. */
static float input(int example, int j) { return (float)sin(example * 1.7 + j * j); }

/* Runs a step with this part of the global batch. */
static bool run_part(const network *n, eddy_session *s, int step, int part)
{
    float   x[EXAMPLES][INPUTS];
    int32_t y[EXAMPLES];
    for (int i = 0; i < EXAMPLES; i++) {
        const int at = (step * PARTS + part) * EXAMPLES + i;
        for (int j = 0; j < INPUTS; j++) x[i][j] = input(at, j);
        y[i] = at % CLASSES;
    }
    return eddy_run(s,
                    EDDY_FEED({ n->x, EDDY_VIEW(&x[0][0], EXAMPLES, INPUTS) },
                              { n->y, EDDY_VIEW(y, EXAMPLES) }),
                    EDDY_FETCH(n->step), NULL) == EDDY_OK;
}

/* The variables that are trained, and those that EDDY_UPDATE_OPS update. */
static void keep_values(training *t, eddy_graph *g, eddy_session *s)
{
    const int trained = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES);
    t->n = trained + eddy_collection_size(g, EDDY_UPDATE_OPS);
    for (int i = 0; i < t->n && i < MOST; i++)
        t->values[i] = eddy_variable_value(
            s, i < trained ? eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i)
                           : eddy_input(eddy_collection_at(g, EDDY_UPDATE_OPS, i - trained), 0));
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
    expect(c, ok, "%s%s%s", e.message, eddy_graph_message(net.graph), eddy_session_message(s));
    if (ok && me == 0) keep_values(t, net.graph, s);
    eddy_session_free(s);
    eddy_graph_free(net.graph);
    return ok;
}

static void train_on(training *t, int ranks)
{
    eddy_error e = { 0 };
    ck_assert_msg(eddy_run_threads(ranks, train, t, &e), "%s", e.message);
    ck_assert_int_gt(t->n, 0);
    ck_assert_int_le(t->n, MOST);
}

static void free_values(training *t)
{
    for (int i = 0; i < t->n; i++) eddy_array_free(t->values[i]);
}

static bool are_equal(const training *a, const training *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++) same = eddy_array_equal(a->values[i], b->values[i]);
    return same;
}

/* The rows of the loop: each kind of network, whole, with divided slots, with divided gradients. */
START_TEST(any_number_of_ranks)
{
    training one = { .kind = (kind)(_i / DIVISIONS), .pairwise = true, .shares_runs = true };
    one.division = (division)(_i % DIVISIONS);
    train_on(&one, 1);
    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        training several = one;
        train_on(&several, ranks);
        ck_assert_msg(are_equal(&one, &several), "%d", ranks);
        free_values(&several);
    }
    free_values(&one);
}
END_TEST

/* Divided slots change no bits. */
START_TEST(divided_or_whole)
{
    training whole = { .pairwise = true, .shares_runs = true }, divided = whole;
    divided.division = SLOTS;
    train_on(&whole, 4);
    train_on(&divided, 4);
    ck_assert(are_equal(&whole, &divided));
    free_values(&whole);
    free_values(&divided);
}
END_TEST

/* The moving averages of the first layer, by plain loops: of the mean of all examples of a batch,
 * and of the variance of the examples of a part. */
static void expected_averages(int j, double *mean, double *variance)
{
    *mean = 0;
    *variance = 1;
    for (int step = 0; step < STEPS; step++) {
        double of_batch = 0, within = 0;
        for (int part = 0; part < PARTS; part++) {
            const int begin = (step * PARTS + part) * EXAMPLES;
            double    m = 0, v = 0;
            for (int i = 0; i < EXAMPLES; i++) m += input(begin + i, j) / EXAMPLES;
            for (int i = 0; i < EXAMPLES; i++) v += pow(input(begin + i, j) - m, 2) / EXAMPLES;
            of_batch += m / PARTS;
            within += v / PARTS;
        }
        *mean = MOMENTUM * *mean + (1 - MOMENTUM) * of_batch;
        *variance = MOMENTUM * *variance + (1 - MOMENTUM) * within;
    }
}

START_TEST(moving_averages)
{
    training t = { .kind = NORMALIZED, .pairwise = true };
    train_on(&t, 4);
    const eddy_array *means = t.values[t.n - 4], *variances = t.values[t.n - 3];
    ck_assert_int_eq(eddy_array_count(means), INPUTS);
    for (int j = 0; j < INPUTS; j++) {
        double mean, variance;
        expected_averages(j, &mean, &variance);
        ck_assert_double_eq_tol(eddy_array_get(means, j), mean, 1e-6);
        ck_assert_double_eq_tol(eddy_array_get(variances, j), variance, 1e-6);
    }
    free_values(&t);
}
END_TEST

/* The comparison notices other sums and other random numbers. */
START_TEST(notices_differences)
{
    training one = { .pairwise = true, .shares_runs = true }, sums = one, draws = one;
    sums.pairwise = draws.shares_runs = false;
    train_on(&one, 1);
    train_on(&sums, 2);
    train_on(&draws, 2);
    ck_assert(!are_equal(&one, &sums));
    ck_assert(!are_equal(&one, &draws));
    free_values(&one);
    free_values(&sums);
    free_values(&draws);
}
END_TEST

Suite *same_bits_suite(void)
{
    Suite *s = suite_create("same_bits");
    TCase *c = tcase_create("ranks");
    tcase_set_tags(c, "threads");
    tcase_add_loop_test(c, any_number_of_ranks, 0, KINDS * DIVISIONS);
    tcase_add_test(c, divided_or_whole);
    tcase_add_test(c, moving_averages);
    tcase_add_test(c, notices_differences);
    suite_add_tcase(s, c);
    return s;
}
