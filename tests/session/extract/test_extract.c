/* test_extract.c -- parts of graphs as graphs of their own: cutting, freezing, simplifying, opening
 * the batch, side effects. */
#include "tests/lib/files/memory_files.h"
#include "tests/lib/session_fixture.h"

#include <math.h>

Suite *extract_suite(void);

static void initialize(void) { runs(s, eddy_initializer(g)); }

static bool has_op(const eddy_graph *graph, const char *op)
{
    for (int32_t id = 1; id <= eddy_graph_size(graph); id++)
        if (strcmp(eddy_type_of(eddy_node_at((eddy_graph *)(uintptr_t)graph, id)), op) == 0)
            return true;
    return false;
}

static eddy_array *numbers(eddy_dtype d, eddy_shape shape)
{
    eddy_array *a = eddy_array_new(d, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin(1 + (double)i) / 2);
    return a;
}

/* The output of a model that has one input, fed with x. */
static eddy_array *run_model(eddy_graph *model, const eddy_array *x)
{
    eddy_session *t = eddy_session_new(model);
    eddy_array   *y = eddy_fetch(t, eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0),
                                 EDDY_FEED({ eddy_collection_at(model, EDDY_MODEL_INPUTS, 0), x }));
    ck_assert_msg(y, "%s", eddy_session_message(t));
    eddy_session_free(t);
    return y;
}

static void same_value(eddy_graph *model, eddy_tensor x, eddy_tensor y, const eddy_array *fed)
{
    eddy_array *want = eddy_fetch(s, y, EDDY_FEED({ x, fed })), *got = run_model(model, fed);
    ck_assert_msg(want, "%s", eddy_session_message(s));
    ck_assert(eddy_array_equal(want, got));
    eddy_array_free(want);
    eddy_array_free(got);
}

/* Written and read, it gives the same. */
static void same_from_file(eddy_graph *model, eddy_tensor x, eddy_tensor y, const eddy_array *fed)
{
    eddy_error  e = { 0 };
    char       *text = eddy_graph_to_yaml(model);
    eddy_graph *read = eddy_graph_load(.text = text, .error = &e);
    ck_assert_msg(read, "%s", e.message);
    same_value(read, x, y, fed);
    eddy_graph_free(read);
    eddy_string_free(text);
}

/* ----------------------------------------------------------- a trained model -- */

typedef struct network_ends {
    eddy_tensor x, training, hidden, y, train;
} network_ends;

static network_ends build_network(eddy_shape shape)
{
    network_ends n = { .x = eddy_placeholder(g, "x", EDDY_FLOAT32, shape) };
    n.training = eddy_placeholder(g, "training", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor h = eddy_dense(n.x, 5, "hidden", eddy_relu);
    h = eddy_dropout_layer(h, 0.5, .training_when = n.training);
    h = eddy_batch_norm_layer(h, .training_when = n.training);
    n.hidden = h;
    n.y = eddy_named("y", eddy_softmax(eddy_dense(h, 3, "logits")));
    n.train = eddy_minimize(eddy_adam(g, .learning_rate = eddy_scalar(g, 0.01)),
                            eddy_mean(eddy_square(n.y)));
    fits(g);
    return n;
}

START_TEST(frozen)
{
    eddy_error   e = { 0 };
    eddy_tensor  in, out;
    network_ends n = build_network(EDDY_SHAPE(EDDY_ANY, 4));
    eddy_array  *x = numbers(EDDY_FLOAT32, EDDY_SHAPE(6, 4)), *yes = eddy_array_of(EDDY_BOOL, 1);
    initialize();
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ n.x, x }, { n.training, yes }),
                              EDDY_FETCH(n.train, eddy_update_ops(g, NULL)), NULL), EDDY_OK);
    eddy_graph *model = eddy_extract(EDDY_LIST(n.y), .inputs = EDDY_LIST(n.x),
                                     .values = EDDY_FEED({ n.training, EDDY_NUMBER(EDDY_BOOL, 0) }),
                                     .freeze = s, .new_inputs = &in, .new_outputs = &out,
                                     .error = &e);
    ck_assert_msg(model, "%s", e.message);
    ck_assert(!has_op(model, "Variable") && !has_op(model, "SelectV2") &&
              !has_op(model, "RandomUniform") && !has_op(model, "Assign"));
    ck_assert_int_lt(eddy_graph_size(model), 25);
    ck_assert_int_eq(eddy_collection_size(model, EDDY_TRAINABLE_VARIABLES), 0);
    ck_assert_str_eq(eddy_name_of(in), "x");
    ck_assert_str_eq(eddy_name_of(out), "y");
    ck_assert(eddy_graph_has(model, "hidden/kernel"));
    ck_assert(eddy_same(in, eddy_collection_at(model, EDDY_MODEL_INPUTS, 0)));
    eddy_array *no = eddy_array_of(EDDY_BOOL, 0);
    eddy_array *want = eddy_fetch(s, n.y, EDDY_FEED({ n.x, x }, { n.training, no }));
    eddy_array *got = run_model(model, x);
    for (int64_t i = 0; i < eddy_array_count(want); i++)
        ck_assert_double_eq_tol(eddy_array_get(want, i), eddy_array_get(got, i), 1e-6);
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_array_free(no);
    eddy_array_free(yes);
    eddy_array_free(x);
    eddy_graph_free(model);
}
END_TEST

/* The two results of a fused batch normalization have one shape, although the rule says nothing of
 * it. */
START_TEST(images)
{
    eddy_error  e = { 0 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 5, 4, 2));
    eddy_tensor training = eddy_placeholder(g, "training", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor h = eddy_conv2d_layer(x, 3, EDDY_DIMS(3), .padding = "SAME");
    eddy_tensor y = eddy_batch_norm_layer(h, .training_when = training);
    initialize();
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .freeze = s,
                                     .values = EDDY_FEED({ training, EDDY_NUMBER(EDDY_BOOL, 0) }),
                                     .error = &e);
    ck_assert_msg(model, "%s", e.message);
    ck_assert(!has_op(model, "SelectV2"));
    eddy_array *fed = numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 5, 4, 2)), *got = run_model(model, fed);
    eddy_array *want = eddy_fetch(s, y, EDDY_FEED({ x, fed },
                                                  { training, EDDY_NUMBER(EDDY_BOOL, 0) }));
    ck_assert(want && eddy_shape_equal(eddy_array_shape(want), eddy_array_shape(got)));
    for (int64_t i = 0; i < eddy_array_count(want); i++)
        ck_assert_double_eq_tol(eddy_array_get(want, i), eddy_array_get(got, i), 1e-6);
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_array_free(fed);
    eddy_graph_free(model);
}
END_TEST

/* Factors of the channels of a convolution that nothing else reads go to its filter. */
START_TEST(scaled_filters)
{
    enum { CASES = 8 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 5, 4, 2)), c[CASES];
    eddy_tensor v = eddy_variable(g, eddy_doubles(g, 0.5, -2, 3));
    eddy_tensor rows = eddy_reshape(eddy_doubles(g, 1, 2, 3, 4), EDDY_SHAPE(4, 1));
    eddy_array *fed = numbers(EDDY_FLOAT64, EDDY_SHAPE(2, 5, 4, 2));
    for (int i = 0; i < CASES; i++)
        c[i] = eddy_conv2d_layer(x, 3, EDDY_DIMS(3), .strides = EDDY_DIMS(2), .no_bias = true);
    const struct scaled_case {
        eddy_tensor y;
        int64_t     fold_bytes;
        bool        stays;
    } cases[CASES] = {
        { eddy_batch_norm_layer(c[0]), 1000, false },
        { Mul(eddy_reshape(v, EDDY_SHAPE(1, 1, 1, 3)), c[1]), 1000, false },
        { Mul(Mul(c[2], v), eddy_doubles(g, 4, 5, 6)), 1000, false },
        { Mul(c[3], rows), 1000, true },
        { Mul(c[4], 2), 1000, true },
        { Add(Mul(c[5], v), c[5]), 1000, true },
        { Mul(c[6], v), 0, true },
        { Mul(eddy_relu(c[7]), v), 1000, true },
    };
    fits(g);
    initialize();
    for (int i = 0; i < CASES; i++) {
        eddy_graph *model = eddy_extract(EDDY_LIST(cases[i].y), .inputs = EDDY_LIST(x),
                                         .freeze = s, .fold_bytes = cases[i].fold_bytes);
        eddy_array *want = eddy_fetch(s, cases[i].y, EDDY_FEED({ x, fed }));
        eddy_array *got = run_model(model, fed);
        ck_assert_msg(has_op(model, "Mul") == cases[i].stays, "case %d", i);
        for (int64_t k = 0; k < eddy_array_count(want); k++)
            ck_assert_double_eq_tol(eddy_array_get(want, k), eddy_array_get(got, k), 1e-13);
        eddy_array_free(want);
        eddy_array_free(got);
        eddy_graph_free(model);
    }
    eddy_array_free(fed);
}
END_TEST

/* Variables stay, with initializers, constraints and names: a checkpoint fits. */
START_TEST(kept_variables)
{
    eddy_error   e = { 0 };
    network_ends n = build_network(EDDY_SHAPE(EDDY_ANY, 4));
    eddy_array  *h = numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 5));
    initialize();
    eddy_graph *model = eddy_extract(EDDY_LIST(n.y), .inputs = EDDY_LIST(n.hidden),
                                     .input_names = "features", .output_names = "scores",
                                     .error = &e);
    ck_assert_msg(model, "%s", e.message);
    ck_assert_int_eq(eddy_collection_size(model, EDDY_TRAINABLE_VARIABLES), 2);
    ck_assert_int_eq(eddy_collection_size(model, EDDY_INITIALIZERS), 2);
    ck_assert(eddy_graph_has(model, "features:0") && eddy_graph_has(model, "scores:0"));
    eddy_session *t = eddy_session_new(model);
    runs(t, eddy_initializer(model));
    for (int i = 0; i < 2; i++) {
        const eddy_tensor v = eddy_collection_at(model, EDDY_GLOBAL_VARIABLES, i);
        eddy_array *value = eddy_variable_value(s, eddy_graph_operation(g, eddy_name_of(v)));
        ck_assert_int_eq(eddy_variable_set(t, v, value), EDDY_OK);
        eddy_array_free(value);
    }
    eddy_array *want = eddy_fetch(s, n.y, EDDY_FEED({ n.hidden, h }));
    eddy_array *got = eddy_fetch(t, eddy_graph_tensor(model, "scores:0"),
                                 EDDY_FEED({ eddy_graph_tensor(model, "features:0"), h }));
    ck_assert(want && got && eddy_array_equal(want, got));
    eddy_array_free(want);
    eddy_array_free(got);
    eddy_array_free(h);
    eddy_session_free(t);
    eddy_graph_free(model);
}
END_TEST

static eddy_tensor twice(eddy_tensor value, void *context)
{
    (void)context;
    return Mul(value, 2);
}

START_TEST(some_kept)
{
    const double two[2] = { 1, 2 }, three[2] = { 3, 4 };
    eddy_tensor  x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_tensor  a = eddy_variable(g, .initial_value = vector(g, 2, two), .name = "a",
                                   .constraint = { .apply = twice });
    eddy_tensor  b = eddy_variable(g, .initial_value = eddy_initialized_value(a), .name = "b");
    eddy_tensor  c = eddy_variable(g, .initial_value = vector(g, 2, three), .name = "c");
    eddy_tensor  y = Add(Mul(x, eddy_read(b)), Mul(c, 1));
    initialize();
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .freeze = s, .keep = EDDY_LIST(b),
                                     .fold_bytes = 0);
    ck_assert_ptr_nonnull(model);       /* the initial value of b needs a, which is frozen */
    ck_assert(eddy_type_of(eddy_graph_operation(model, "b"))[0] == 'V');
    ck_assert(eddy_graph_has(model, "c"));
    ck_assert_str_eq(eddy_type_of(eddy_graph_operation(model, "c")), "Const");
    eddy_graph_free(model);
    model = eddy_extract(EDDY_LIST(y));
    eddy_constraint k;
    ck_assert(eddy_variable_constraint(eddy_graph_operation(model, "a"), &k) && k.apply == twice);
    eddy_session *t = eddy_session_new(model);
    runs(t, eddy_initializer(model));
    eddy_array *got = eddy_fetch(t, eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0),
                                 EDDY_FEED({ eddy_graph_operation(model, "x"),
                                             EDDY_DOUBLES(10, 20) }));
    ck_assert(got && eddy_array_get(got, 0) == 13 && eddy_array_get(got, 1) == 44);
    eddy_array_free(got);
    eddy_session_free(t);
    eddy_graph_free(model);
}
END_TEST

/* ------------------------------------------------------------ control flow -- */

static int step(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor w = *(const eddy_tensor *)context;
    y[0] = eddy_tanh(Add(eddy_matmul(x.at[0], w), x.at[1]));
    return 1;
}

static int yes(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x;
    y[0] = eddy_exp(*(const eddy_tensor *)context);
    return 1;
}
static int no(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x;
    y[0] = Mul(*(const eddy_tensor *)context, 3);
    return 1;
}

START_TEST(loops)
{
    eddy_error  e = { 0 };
    const double w[4] = { 0.5, -0.25, 0.125, 1 };
    eddy_tensor  x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3, 4, 2)), outputs, dx[1];
    eddy_tensor  v = eddy_variable(g, .initial_value = matrix(g, 2, 2, w), .name = "w");
    const eddy_function f = { .build = step, .context = &v };
    eddy_scan(f, EDDY_LIST(x), &outputs, EDDY_LIST(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(4, 2))));
    eddy_gradients(EDDY_LIST(outputs), EDDY_LIST(x), dx);
    fits(g);
    initialize();
    eddy_array *fed = numbers(EDDY_FLOAT64, EDDY_SHAPE(3, 4, 2));
    for (int k = 0; k < 2; k++) {
        const eddy_tensor y = k ? dx[0] : outputs;
        eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .freeze = s,
                                         .fold_bytes = 0, .error = &e);
        ck_assert_msg(model, "%s", e.message);
        same_value(model, x, y, fed);
        same_from_file(model, x, y, fed);
        eddy_graph_free(model);
    }
    eddy_array_free(fed);
}
END_TEST

/* A branch with a constant condition is built in the graph. */
START_TEST(branches)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor when = eddy_placeholder(g, "when", EDDY_BOOL, EDDY_SCALAR), y[1];
    const eddy_function f = { .build = yes, .context = &x }, h = { .build = no, .context = &x };
    eddy_cond(eddy_logical_not(when), f, h, y);
    fits(g);
    for (int k = 0; k < 2; k++) {
        eddy_array *fed = numbers(EDDY_FLOAT64, EDDY_SHAPE(4));
        eddy_graph *model = eddy_extract(EDDY_LIST(y[0]), .inputs = EDDY_LIST(x),
                                         .values = EDDY_FEED({ when, EDDY_NUMBER(EDDY_BOOL, k) }));
        ck_assert_ptr_nonnull(model);
        ck_assert(!has_op(model, "Case") && has_op(model, k ? "Mul" : "Exp") &&
                  !has_op(model, k ? "Exp" : "Mul"));
        eddy_array *got = run_model(model, fed);
        for (int64_t i = 0; i < 4; i++) {
            const double v = eddy_array_get(fed, i);
            ck_assert_double_eq(eddy_array_get(got, i), k ? 3 * v : exp(v));
        }
        eddy_array_free(got);
        eddy_array_free(fed);
        eddy_graph_free(model);
    }
}
END_TEST

/* An operand that the other one may broadcast stays. */
START_TEST(where_that_broadcasts)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor when = eddy_placeholder(g, "when", EDDY_BOOL, EDDY_SCALAR);
    eddy_tensor y = eddy_where(when, x, eddy_number(g, EDDY_FLOAT64, 7));
    for (int k = 0; k < 2; k++) {
        eddy_array *fed = numbers(EDDY_FLOAT64, EDDY_SHAPE(3));
        eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x),
                                         .values = EDDY_FEED({ when, EDDY_NUMBER(EDDY_BOOL, k) }));
        ck_assert_ptr_nonnull(model);
        ck_assert(has_op(model, "SelectV2") == !k);
        eddy_array *got = run_model(model, fed);
        ck_assert_int_eq(eddy_array_count(got), 3);
        ck_assert_double_eq(eddy_array_get(got, 1), k ? eddy_array_get(fed, 1) : 7);
        eddy_array_free(got);
        eddy_array_free(fed);
        eddy_graph_free(model);
    }
}
END_TEST

/* ------------------------------------------------------------ replacements -- */

START_TEST(replaced)
{
    eddy_error  e = { 0 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor h = eddy_relu(x), dropped = eddy_dropout(h, 0.5);
    eddy_tensor y = Mul(dropped, 2), later = eddy_sqrt(h);
    eddy_array *fed = numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .replace = EDDY_REPLACE({ dropped, h }),
                                     .error = &e);
    ck_assert_msg(model, "%s", e.message);
    ck_assert_int_eq(eddy_graph_size(model), 4);
    same_value(model, x, Mul(h, 2), fed);
    eddy_graph_free(model);
    model = eddy_extract(EDDY_LIST(y), .replace = EDDY_REPLACE({ dropped, later }));
    same_value(model, x, Mul(later, 2), fed);
    eddy_graph_free(model);
    ck_assert_ptr_null(eddy_extract(EDDY_LIST(y), .replace = EDDY_REPLACE({ h, later }),
                                    .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    eddy_array_free(fed);
}
END_TEST

/* ---------------------------------------------------------- number of examples -- */

START_TEST(opened)
{
    eddy_error  e = { 0 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(4, 2, 3)), in, out;
    eddy_tensor flat = eddy_reshape(x, EDDY_SHAPE(4, 6)), rows = eddy_reshape(x, EDDY_SHAPE(8, 3));
    eddy_tensor y = Add(eddy_sum(flat, .axes = EDDY_AXES(1)),
                        eddy_sum(eddy_reshape(eddy_exp(rows), EDDY_SHAPE(4, 6)),
                                 .axes = EDDY_AXES(1)));
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .open_batch = true, .new_inputs = &in,
                                     .new_outputs = &out, .error = &e);
    ck_assert_msg(model, "%s", e.message);
    ck_assert(eddy_shape_equal(eddy_shape_of(out), EDDY_SHAPE(EDDY_ANY)));
    eddy_array *four = numbers(EDDY_FLOAT64, EDDY_SHAPE(4, 2, 3));
    same_value(model, x, y, four);
    same_from_file(model, x, y, four);
    eddy_array *seven = numbers(EDDY_FLOAT64, EDDY_SHAPE(7, 2, 3)), *got = run_model(model, seven);
    eddy_array *want = eddy_fetch(s, y, EDDY_FEED({ x, four }));
    ck_assert_int_eq(eddy_array_count(got), 7);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(eddy_array_get(got, i), eddy_array_get(want, i), 1e-12);
    eddy_array_free(got);
    eddy_array_free(want);
    eddy_array_free(four);
    eddy_array_free(seven);
    eddy_graph_free(model);
}
END_TEST

START_TEST(not_opened)
{
    eddy_error  e = { 0 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(4, 2));
    const double one[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    eddy_tensor y = eddy_named("sum", Add(eddy_exp(x), matrix(g, 4, 2, one)));
    ck_assert_ptr_null(eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .open_batch = true,
                                    .error = &e));
    ck_assert_int_eq(e.status, EDDY_BAD_SHAPE);
    ck_assert_msg(strstr(e.message, "[node 'sum']"), "%s", e.message);
}
END_TEST

/* The body of a loop takes the new shapes. */
START_TEST(opened_loop)
{
    eddy_error  e = { 0 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3, 4, 2));
    const double w[4] = { 0.5, -0.25, 0.125, 1 };
    eddy_tensor m = matrix(g, 2, 2, w), first = ZerosLike(eddy_slice(x, EDDY_DIMS(0, 0, 0),
                                                                     EDDY_DIMS(-1, 1, 2)));
    eddy_tensor in_time = eddy_transpose(x, EDDY_AXES(1, 0, 2)), y[1];
    const eddy_function f = { .build = step, .context = &m };
    eddy_scan(f, EDDY_LIST(in_time), y, EDDY_LIST(eddy_reshape(first, EDDY_SHAPE(3, 2))));
    fits(g);
    eddy_graph *model = eddy_extract(EDDY_LIST(y[0]), .inputs = EDDY_LIST(x), .open_batch = true,
                                     .error = &e);
    ck_assert_msg(model, "%s", e.message);
    eddy_array *five = numbers(EDDY_FLOAT64, EDDY_SHAPE(5, 4, 2)), *got = run_model(model, five);
    ck_assert(eddy_shape_equal(eddy_array_shape(got), EDDY_SHAPE(4, 5, 2)));
    eddy_array *three = numbers(EDDY_FLOAT64, EDDY_SHAPE(3, 4, 2));
    same_value(model, x, y[0], three);
    eddy_array_free(got);
    eddy_array_free(five);
    eddy_array_free(three);
    eddy_graph_free(model);
}
END_TEST

/* ------------------------------------------------------------- side effects -- */

START_TEST(effects)
{
    eddy_error  e = { 0 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR), y;
    eddy_tensor v = eddy_variable(g, .initial_value = real(g, 1), .name = "v"), update;
    update = eddy_assign_add(v, x);
    EDDY_CONTROL(g, EDDY_LIST(update)) y = Mul(eddy_read(v), 10);
    initialize();
    eddy_graph   *model = eddy_extract(EDDY_LIST(y));
    eddy_session *t = eddy_session_new(model);
    runs(t, eddy_initializer(model));
    const eddy_tensor out = eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0);
    ck_assert_double_eq(eddy_fetch_number(t, out, EDDY_FEED({ eddy_graph_operation(model, "x"),
                                                              EDDY_NUMBER(EDDY_FLOAT64, 2) })), 30);
    eddy_session_free(t);
    eddy_graph_free(model);

    model = eddy_extract(EDDY_LIST(y), .without_effects = true, .freeze = s);
    ck_assert_ptr_nonnull(model);
    ck_assert_int_eq(eddy_collection_size(model, EDDY_MODEL_INPUTS), 0);
    is_number(eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0), 10);
    eddy_graph_free(model);
    ck_assert_ptr_null(eddy_extract(EDDY_LIST(y), .freeze = s, .error = &e));
    ck_assert(strstr(e.message, "updates the frozen variable 'v'"));
    e = (eddy_error){ 0 };
    ck_assert_ptr_null(eddy_extract(EDDY_LIST(update), .without_effects = true, .error = &e));
    ck_assert(strstr(e.message, "side effects are left out"));
}
END_TEST

/* ------------------------------------------------------------------- details -- */

static void cube_rule(eddy_rule *r) { r->dx[0] = Mul(r->dy[0], 7); }

START_TEST(details)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3)), y = x, dx[1];
    eddy_register_gradient(g, "Seven", cube_rule, NULL);
    eddy_graph_set_seed(g, 5);
    EDDY_DEVICE(g, "/cpu:1") EDDY_GRADIENT_OVERRIDE(g, "Square", "Seven") y = eddy_square(x);
    y = Add(y, eddy_random_uniform(g, EDDY_SHAPE(3), .dtype = EDDY_FLOAT64, .seed = 9));
    eddy_collection_add(g, "mine", y);
    eddy_collection_add(g, "mine", eddy_exp(x));
    eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x));
    const eddy_tensor in = eddy_graph_operation(model, "x");
    ck_assert_int_eq(eddy_graph_seed(model), 5);
    ck_assert_int_eq(eddy_collection_size(model, "mine"), 1);
    ck_assert_str_eq(eddy_device_of(eddy_graph_operation(model, "Square")), "/cpu:1");
    eddy_array *fed = numbers(EDDY_FLOAT64, EDDY_SHAPE(3));
    same_value(model, x, y, fed);       /* the same draws */
    const eddy_tensor out = eddy_collection_at(model, EDDY_MODEL_OUTPUTS, 0);
    eddy_gradients(EDDY_LIST(out), EDDY_LIST(in), dx);
    fails(model, EDDY_NO_GRADIENT, "Seven");
    ck_assert(eddy_register_gradient(model, "Seven", cube_rule, NULL));
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(out), EDDY_LIST(in), dx), EDDY_OK);
    eddy_session *t = eddy_session_new(model);
    has(t, dx[0], 3, (const double[]){ 7, 7, 7 });
    eddy_session_free(t);
    eddy_array_free(fed);
    eddy_graph_free(model);
}
END_TEST

/* Every allocation fails once: an error, or a graph that is whole. */
static void survives_no_memory(eddy_tensor x, eddy_tensor y, eddy_feeds values, eddy_array *fed)
{
    int errors = 0;
    for (long at = 1;; at++) {
        failing_allocator f;
        eddy_error        e = { 0 };
        failing_allocator_init(&f);
        f.at = at;
        eddy_graph *model = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x), .freeze = s,
                                         .values = values, .open_batch = true,
                                         .allocator = &f.table, .error = &e);
        const bool done = f.calls < at;
        if (!model) {
            errors++;
            ck_assert_msg(e.status == EDDY_NO_MEMORY, "%ld: %s", at, e.message);
        } else {
            f.at = 0;
            eddy_array *got = run_model(model, fed);
            eddy_array_free(got);
        }
        eddy_graph_free(model);
        ck_assert_int_eq(f.live, 0);
        if (done) break;
    }
    ck_assert_int_gt(errors, 20);
    eddy_array_free(fed);
}

START_TEST(no_memory)
{
    network_ends n = build_network(EDDY_SHAPE(2, 4));
    eddy_tensor  x = eddy_placeholder(g, "images", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 3, 1));
    eddy_tensor  y = eddy_batch_norm_layer(eddy_conv2d_layer(x, 2, EDDY_DIMS(2), .no_bias = true));
    initialize();
    survives_no_memory(n.x, n.y, EDDY_FEED({ n.training, EDDY_NUMBER(EDDY_BOOL, 0) }),
                       numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 4)));
    survives_no_memory(x, y, EDDY_FEED(), numbers(EDDY_FLOAT32, EDDY_SHAPE(2, 3, 3, 1)));
}
END_TEST

Suite *extract_suite(void)
{
    Suite *suite = suite_create("extract");
    TCase *c = tcase_create("extract");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, frozen);
    tcase_add_test(c, images);
    tcase_add_test(c, scaled_filters);
    tcase_add_test(c, kept_variables);
    tcase_add_test(c, some_kept);
    tcase_add_test(c, loops);
    tcase_add_test(c, branches);
    tcase_add_test(c, where_that_broadcasts);
    tcase_add_test(c, replaced);
    tcase_add_test(c, opened);
    tcase_add_test(c, not_opened);
    tcase_add_test(c, opened_loop);
    tcase_add_test(c, effects);
    tcase_add_test(c, details);
    tcase_add_test(c, no_memory);
    suite_add_tcase(suite, c);
    return suite;
}
