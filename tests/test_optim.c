/* test_optim.c -- optimizers: TensorFlow's numbers, checks and texts. */
#include "eddy.h"
#include "ops/math.h"

#include <check.h>
#include <math.h>
#include <string.h>

Suite *optim_suite(void);

/* ---------------------------------------------------------------- helpers -- */

static eddy_graph *g;

static void setup(void)
{
    g = eddy_graph_new();
    ck_assert_ptr_nonnull(g);
}

static void teardown(void) { eddy_graph_free(g); }

static void fits(void)
{
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
}

/* The graph has this error with this in its sentence. */
static void fails(eddy_status status, const char *text)
{
    ck_assert_str_eq(eddy_status_name(eddy_graph_status(g)), eddy_status_name(status));
    ck_assert_msg(strstr(eddy_graph_message(g), text), "'%s' is not in: %s", text,
                  eddy_graph_message(g));
}

static eddy_tensor vector(int64_t n, const double *x)
{
    return eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(n), x);
}

static eddy_tensor pair_of(double a, double b) { return vector(2, (double[]){ a, b }); }

static eddy_tensor variable(eddy_tensor initial, const char *name)
{
    return eddy_variable(g, .initial_value = initial, .name = name);
}

static eddy_tensor matrix(int64_t rows, int64_t columns, const double *x)
{
    return eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(rows, columns), x);
}

static eddy_tensor index_of(int64_t n, const int32_t *x)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), x);
}

static eddy_tensor rate(double x) { return eddy_number(g, EDDY_FLOAT64, x); }

static void run(eddy_session *s, eddy_tensor t)
{
    eddy_array *out[1] = { NULL };
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), out);
    ck_assert_msg(eddy_session_status(s) == EDDY_OK, "%s", eddy_session_message(s));
    ck_assert_ptr_null(out[0]);
}

static eddy_session *start(void)
{
    eddy_tensor init = eddy_initializer(g);
    fits();
    eddy_session *s = eddy_session_new(g);
    ck_assert_ptr_nonnull(s);
    run(s, init);
    return s;
}

static void has(eddy_session *s, eddy_tensor t, int n, const double *want, double tolerance)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double got = eddy_array_get(a, i);
        ck_assert_msg(fabs(got - want[i]) <= tolerance * fmax(1, fabs(want[i])),
                      "%s[%d] is %.12g, not %.12g", eddy_name_of(t), i, got, want[i]);
    }
    eddy_array_free(a);
}

static void is_pair(eddy_session *s, eddy_tensor t, double a, double b, double tolerance)
{
    has(s, t, 2, (double[]){ a, b }, tolerance);
}

/* v0 = [1,2], v1 = [3,4] and the cost 5 v0 + 3 v1. */
typedef struct simple {
    eddy_tensor v0, v1, cost;
} simple;

static simple simple_cost(void)
{
    simple m = { .v0 = variable(pair_of(1, 2), "v0"), .v1 = variable(pair_of(3, 4), "v1") };
    m.cost = Add(Mul(5, m.v0), Mul(3, m.v1));
    return m;
}

static eddy_optimizer *descent(double lr)
{
    return eddy_gradient_descent(g, rate(lr));
}

/* ------------------------------------------------------------- base class -- */

/* O-02, and the order of the count: after the updates. */
START_TEST(o02_aggregation_method)
{
    simple m = simple_cost();
    eddy_tensor step = eddy_create_global_step(g);
    eddy_tensor train = eddy_minimize(descent(3), m.cost, step, EDDY_LIST(m.v0, m.v1),
                                      .aggregation_method = EDDY_EXPERIMENTAL_ACCUMULATE_N);
    ck_assert_str_eq(eddy_name_of(train), "GradientDescent");
    ck_assert(eddy_graph_has(g, "GradientDescent/update_v0/AssignSub"));
    ck_assert(eddy_graph_has(g, "GradientDescent/update"));
    eddy_session *s = start();
    run(s, train);
    is_pair(s, m.v0, -14, -13, 1e-12);
    is_pair(s, m.v1, -6, -5, 1e-12);
    has(s, step, 1, (double[]){ 1 }, 0);
    eddy_session_free(s);
}
END_TEST

START_TEST(o04_no_variables)
{
    eddy_minimize(descent(3), eddy_scalar(g, 5));
    fails(EDDY_INVALID_ARGUMENT, "No variables to optimize.");
}
END_TEST

START_TEST(o06_no_gradients)
{
    simple m = simple_cost();
    eddy_minimize(descent(3), eddy_named("five", eddy_scalar(g, 5)),
                  .var_list = EDDY_LIST(m.v0, m.v1));
    fails(EDDY_INVALID_ARGUMENT, "No gradients provided for any variable, check your graph for "
          "ops that do not support gradients, between variables [v0, v1] and loss five.");
}
END_TEST

START_TEST(o06_no_gradients_to_apply)
{
    simple m = simple_cost();
    eddy_gradient_pair pairs[2] = { { .variable = m.v0 }, { .variable = m.v1 } };
    eddy_apply_gradients(descent(3), pairs, 2);
    fails(EDDY_INVALID_ARGUMENT, "No gradients provided for any variable: [v0, v1].");
    eddy_graph_clear_error(g);
    eddy_apply_gradients(descent(3), pairs, 0);
    fails(EDDY_INVALID_ARGUMENT, "No variables provided.");
}
END_TEST

START_TEST(o08_variables_as_gradients)
{
    simple m = simple_cost();
    eddy_optimizer    *o = descent(3);
    eddy_gradient_pair p[2];
    ck_assert_int_eq(eddy_compute_gradients(o, m.cost, p, 2, EDDY_LIST(m.v0, m.v1)), 2);
    eddy_tensor c0 = variable(pair_of(-1, -1), "c0"), c1 = variable(pair_of(-1, -1), "c1");
    eddy_tensor copy = eddy_group(g, EDDY_LIST(eddy_assign(c0, p[0].gradient),
                                               eddy_assign(c1, p[1].gradient)), NULL);
    p[0].gradient = c0;
    p[1].gradient = c1;
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    eddy_session *s = start();
    run(s, copy);
    run(s, train);
    is_pair(s, m.v0, -14, -13, 1e-12);
    is_pair(s, m.v1, -6, -5, 1e-12);
    eddy_session_free(s);
}
END_TEST

START_TEST(o10_train_op_collection)
{
    simple m = simple_cost();
    eddy_tensor train = eddy_minimize(descent(3), m.cost);
    fits();
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAIN_OP), 1);
    ck_assert(eddy_same(eddy_collection_at(g, EDDY_TRAIN_OP, 0), train));
    ck_assert_int_eq(eddy_outputs_of(train), 0);
}
END_TEST

START_TEST(o14_dtypes)
{
    simple m = simple_cost();
    eddy_tensor whole = eddy_number(g, EDDY_INT32, 3), n = variable(whole, "n");
    eddy_gradient_pair p[3];
    ck_assert_int_eq(eddy_compute_gradients(descent(3), m.cost, p, 3, EDDY_LIST(m.v0, n)), 2);
    fits();
    ck_assert(eddy_is_valid(p[0].gradient));
    ck_assert(!eddy_is_valid(p[1].gradient) && eddy_same(p[1].variable, n));
    ck_assert_int_eq(eddy_compute_gradients(descent(3), whole, p, 3, EDDY_LIST(m.v0)), 0);
    fails(EDDY_BAD_DTYPE, "Invalid type int32");
    eddy_graph_clear_error(g);
    eddy_compute_gradients(descent(3), m.cost, p, 3, EDDY_LIST(m.v0), .grad_loss = whole);
    fails(EDDY_BAD_DTYPE, "Invalid type int32");
    eddy_graph_clear_error(g);
    eddy_compute_gradients(descent(3), whole, p, 3, .gate_gradients = (eddy_gate)7);
    fails(EDDY_INVALID_ARGUMENT, "gate_gradients must be one of");
}
END_TEST

START_TEST(o16_none_makes_no_slot)
{
    simple m = simple_cost();
    eddy_optimizer *o = eddy_momentum(g, rate(2), rate(0.9));
    eddy_gradient_pair p[2] = { { pair_of(0.1, 0.1), m.v0 }, { .variable = m.v1 } };
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    ck_assert(eddy_is_valid(eddy_get_slot(o, m.v0, "momentum")));
    ck_assert(!eddy_is_valid(eddy_get_slot(o, m.v1, "momentum")));
    eddy_session *s = start();
    run(s, train);
    is_pair(s, m.v0, 0.8, 1.8, 1e-12);
    is_pair(s, m.v1, 3, 4, 0);
    eddy_session_free(s);
}
END_TEST

/* O-18 for _i = 1, 2, 3: the gates; S-05 for _i = 0, 1, 2, 3 with rows looked up. */
static void products(bool sparse, eddy_gate gate)
{
    eddy_tensor v0 = variable(matrix(1, 2, (double[]){ 1, 2 }), "v0");
    eddy_tensor v1 = variable(vector(1, (double[]){ 3 }), "v1");
    eddy_tensor x = matrix(2, 1, (double[]){ 4, 5 });
    eddy_tensor rows = sparse ? Gather(v0, index_of(1, (int32_t[]){ 0 })) : v0;
    eddy_tensor loss = Square(Add(MatMul(rows, x), v1));
    eddy_tensor train = eddy_minimize(descent(1), loss, .gate_gradients = gate);
    eddy_session *s = start();
    run(s, train);
    is_pair(s, v0, -135, -168, 1e-12);
    has(s, v1, 1, (double[]){ -31 }, 1e-12);
    eddy_session_free(s);
}

START_TEST(o18_gates) { products(false, (eddy_gate)_i); }
END_TEST

START_TEST(s05_sparse_products) { products(true, (eddy_gate)_i); }
END_TEST

START_TEST(o20_empty_name)
{
    ck_assert_ptr_null(eddy_gradient_descent(g, rate(1), .name = ""));
    fails(EDDY_INVALID_ARGUMENT, "Must specify the optimizer name");
}
END_TEST

/* O-22, with Adam: rows that are looked up twice count twice. */
START_TEST(o22_repeated_rows)
{
    eddy_tensor v = variable(pair_of(1, 2), "v"), w = variable(pair_of(1, 2), "w");
    eddy_tensor twice = Sum(Gather(v, index_of(2, (int32_t[]){ 0, 0 })));
    eddy_tensor once = Mul(2, Sum(Gather(w, index_of(1, (int32_t[]){ 0 }))));
    eddy_tensor a = eddy_minimize(eddy_adam(g), twice, .var_list = EDDY_LIST(v));
    eddy_tensor b = eddy_minimize(eddy_adam(g), once, .var_list = EDDY_LIST(w));
    eddy_session *s = start();
    for (int i = 0; i < 3; i++) {
        run(s, a);
        run(s, b);
        has(s, Sub(v, w), 2, (double[]){ 0, 0 }, 1e-12);
    }
    eddy_session_free(s);
}
END_TEST

START_TEST(plain_tensor_is_not_updated)
{
    eddy_gradient_pair p = { pair_of(1, 1), eddy_named("plain", pair_of(1, 2)) };
    eddy_apply_gradients(descent(1), &p, 1);
    fails(EDDY_UNIMPLEMENTED, "Trying to update a Tensor 'plain'");
}
END_TEST

START_TEST(shapes_and_types_of_gradients)
{
    simple m = simple_cost();
    eddy_gradient_pair p = { vector(1, (double[]){ 1 }), m.v0 };
    eddy_apply_gradients(eddy_adam(g), &p, 1);
    fails(EDDY_BAD_SHAPE, "var and grad do not have the same shape: 'v0' [2], [1]");
    eddy_graph_clear_error(g);
    p.gradient = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 1 });
    eddy_apply_gradients(descent(1), &p, 1);
    fails(EDDY_BAD_DTYPE, "the gradient of 'v0' has type float32, not float64");
}
END_TEST

/* A gradient whose shape only the run knows is not broadcast. */
START_TEST(open_shapes_are_not_broadcast)
{
    simple m = simple_cost();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_gradient_pair p = { x, m.v0 };
    eddy_tensor train = eddy_apply_gradients(eddy_momentum(g, rate(1), rate(0)), &p, 1);
    eddy_session *s = start();
    eddy_array *one = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(1), (double[]){ 1 });
    eddy_array *two = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 1, 2 });
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, one }), EDDY_FETCH(train), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(train), NULL), EDDY_OK);
    is_pair(s, m.v0, 0, 0, 0);
    eddy_array_free(one);
    eddy_array_free(two);
    eddy_session_free(s);
}
END_TEST

START_TEST(handles_that_are_nothing)
{
    simple m = simple_cost();
    eddy_gradient_pair p[2];
    ck_assert_int_eq(eddy_compute_gradients(NULL, m.cost, p, 2), 0);
    fails(EDDY_INVALID_ARGUMENT, "no such optimizer");
    eddy_graph_clear_error(g);
    ck_assert(!eddy_is_valid(eddy_minimize(NULL, m.cost)));
    eddy_graph_clear_error(g);
    ck_assert_int_eq(eddy_compute_gradients(descent(1), m.cost, p, 1), 0);
    fails(EDDY_INVALID_ARGUMENT, "2 variables, room for 1 pairs");
    eddy_graph_clear_error(g);
    ck_assert_ptr_null(eddy_gradient_descent(g));
    fails(EDDY_INVALID_ARGUMENT, "learning_rate is required");
    eddy_graph_clear_error(g);
    ck_assert_ptr_null(eddy_adam(g, .beta1 = pair_of(1, 2)));
    fails(EDDY_BAD_SHAPE, "Adam: beta1 has shape [2]");
    ck_assert_ptr_null(eddy_adam(NULL));
    ck_assert(!eddy_is_valid(eddy_get_slot(NULL, m.v0, "m")));
    ck_assert_int_eq(eddy_optimizer_variables(NULL, NULL, 0), 0);
    ck_assert_str_eq(eddy_optimizer_name(NULL), "");

    eddy_graph     *other = eddy_graph_new();
    eddy_optimizer *o = eddy_adam(other);
    ck_assert_ptr_nonnull(o);
    eddy_graph_free(other);
    ck_assert_ptr_null(eddy_optimizer_graph(o));
    ck_assert(!eddy_is_valid(eddy_get_slot(o, m.v0, "m")));
}
END_TEST

START_TEST(global_step)
{
    ck_assert(!eddy_is_valid(eddy_get_global_step(g)));
    eddy_scope_begin(g, "inner");
    eddy_tensor step = eddy_get_or_create_global_step(g);
    eddy_scope_end(g);
    fits();
    ck_assert_str_eq(eddy_name_of(step), "global_step");
    ck_assert_int_eq(eddy_dtype_of(step), EDDY_INT64);
    ck_assert(eddy_same(eddy_get_or_create_global_step(g), step));
    ck_assert(eddy_collection_has(g, EDDY_GLOBAL_VARIABLES, step));
    ck_assert(!eddy_collection_has(g, EDDY_TRAINABLE_VARIABLES, step));
    eddy_create_global_step(g);
    fails(EDDY_INVALID_ARGUMENT, "\"global_step\" already exists.");
}
END_TEST

START_TEST(global_step_of_another_kind)
{
    variable(rate(1), "global_step");
    eddy_get_global_step(g);
    fails(EDDY_BAD_DTYPE, "does not have integer type: float64");
}
END_TEST

/* Slots wait for nothing around the call, or initialising them would. */
START_TEST(slots_have_no_controls)
{
    simple m = simple_cost();
    eddy_optimizer *o = eddy_adam(g);
    eddy_tensor ph = eddy_placeholder(g, "never_fed", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor loss = m.cost;
    eddy_control_begin(g, EDDY_LIST(ph));
    eddy_minimize(o, loss);
    eddy_control_end(g);
    fits();
    eddy_session *s = start();
    is_pair(s, eddy_get_slot(o, m.v0, "m"), 0, 0, 0);
    eddy_session_free(s);
}
END_TEST

/* ------------------------------------------------- descent and momentum -- */

typedef struct given {
    eddy_tensor v0, v1;
    eddy_gradient_pair pairs[2];
} given;

static given constants(void)
{
    given m = { .v0 = variable(pair_of(1, 2), "v0"), .v1 = variable(pair_of(3, 4), "v1") };
    m.pairs[0] = (eddy_gradient_pair){ pair_of(0.1, 0.1), m.v0 };
    m.pairs[1] = (eddy_gradient_pair){ pair_of(0.01, 0.01), m.v1 };
    return m;
}

START_TEST(s01_descent)
{
    given m = constants();
    eddy_optimizer *o = descent(3);
    eddy_tensor train = eddy_apply_gradients(o, m.pairs, 2);
    ck_assert_int_eq(eddy_optimizer_variables(o, NULL, 0), 0);
    eddy_session *s = start();
    run(s, train);
    is_pair(s, m.v0, 0.7, 1.7, 1e-12);
    is_pair(s, m.v1, 2.97, 3.97, 1e-12);
    eddy_session_free(s);
}
END_TEST

START_TEST(s03_gradients_of_variables)
{
    eddy_tensor v0 = variable(vector(1, (double[]){ 1 }), "v0");
    eddy_tensor v1 = variable(vector(1, (double[]){ 3 }), "v1");
    eddy_gradient_pair p[2];
    ck_assert_int_eq(eddy_compute_gradients(descent(3), Add(v0, v1), p, 2, EDDY_LIST(v0, v1)), 2);
    eddy_session *s = start();
    has(s, p[0].gradient, 1, (double[]){ 1 }, 0);
    has(s, p[1].gradient, 1, (double[]){ 1 }, 0);
    eddy_session_free(s);
}
END_TEST

/* S-07 with one operation (_i = 0), S-09 with two that share the slots. */
START_TEST(s07_s09_momentum)
{
    given m = constants();
    eddy_optimizer *o = eddy_momentum(g, rate(2), rate(0.9));
    eddy_tensor first = eddy_apply_gradients(o, m.pairs, 2);
    eddy_tensor second = _i ? eddy_apply_gradients(o, m.pairs, 2) : first;
    ck_assert_int_eq(eddy_optimizer_variables(o, NULL, 0), 2);
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "momentum")), "v0/Momentum");
    eddy_session *s = start();
    run(s, first);
    run(s, second);
    is_pair(s, m.v0, 0.42, 1.42, 1e-12);
    is_pair(s, eddy_get_slot(o, m.v0, "momentum"), 0.19, 0.19, 1e-12);
    is_pair(s, m.v1, 2.942, 3.942, 1e-12);
    is_pair(s, eddy_get_slot(o, m.v1, "momentum"), 0.019, 0.019, 1e-12);
    eddy_session_free(s);
}
END_TEST

START_TEST(s11_sparse_nesterov)
{
    eddy_tensor v0 = variable(pair_of(1, 2), "v0"), v1 = variable(pair_of(3, 4), "v1");
    eddy_tensor rows = Mul(10, v0), at = index_of(2, (int32_t[]){ 0, 1 });
    eddy_gradient_pair p[2] = { { eddy_indexed_slices_of(rows, at, EDDY_SHAPE(2)), v0 },
                                { pair_of(3, 3), v1 } };
    eddy_optimizer *o = eddy_momentum(g, rate(2), rate(0.9), .use_nesterov = true);
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    const double want0[] = { -37, 1352.8, -49468.78, 1808955.84 };
    const double want1[] = { -8.4, -24.66, -45.294, -69.8646 };
    eddy_session *s = start();
    for (int i = 0; i < 4; i++) {
        run(s, train);
        is_pair(s, v0, want0[i], 2 * want0[i], 1e-8);
        is_pair(s, v1, want1[i], want1[i] + 1, 1e-12);
    }
    eddy_session_free(s);
}
END_TEST

START_TEST(s13_fed_gradients)
{
    static const double fed[] = { 0.00096264342, 0.17075552, 0.35077485, 0.9694621, 0.38578293,
                                  0.27885768, 0.27233034, 0.58697265, 0.8215279, 0.68297005 };
    static const double want[] = { -9.6264346e-05, -0.017181443, -0.053967446, -0.15459226,
                                   -0.20323303, -0.23598288, -0.26649091, -0.32823896,
                                   -0.41656655, -0.49369633 };
    eddy_tensor v = variable(rate(0), "v"), gradient = rate(7);
    eddy_gradient_pair p = { gradient, v };
    eddy_tensor train = eddy_apply_gradients(eddy_momentum(g, rate(0.1), rate(0.1)), &p, 1);
    eddy_session *s = start();
    for (int i = 0; i < 10; i++) {
        eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SCALAR, &fed[i]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ gradient, a }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(a);
        has(s, v, 1, &want[i], 1e-7);
    }
    eddy_session_free(s);
}
END_TEST

START_TEST(s15_sparse_momentum)
{
    eddy_tensor v0 = variable(matrix(1, 2, (double[]){ 1, 2 }), "v0");
    eddy_tensor x = matrix(2, 1, (double[]){ 4, 5 });
    eddy_tensor loss = Square(MatMul(Gather(v0, index_of(1, (int32_t[]){ 0 })), x));
    eddy_tensor train = eddy_minimize(eddy_momentum(g, rate(1), rate(0)), loss);
    eddy_session *s = start();
    run(s, train);
    is_pair(s, v0, -111, -138, 1e-12);
    eddy_session_free(s);
}
END_TEST

/* Rows that are not listed keep variable and slot; repeated ones add up. */
START_TEST(sparse_momentum_leaves_other_rows)
{
    eddy_tensor v = variable(vector(3, (double[]){ 1, 2, 3 }), "v");
    eddy_tensor rows = vector(3, (double[]){ 1, 1, 2 }), at = index_of(3, (int32_t[]){ 2, 0, 2 });
    eddy_gradient_pair p = { eddy_indexed_slices_of(rows, at, EDDY_SHAPE(3)), v };
    eddy_optimizer *o = eddy_momentum(g, rate(1), rate(0.5));
    eddy_tensor train = eddy_apply_gradients(o, &p, 1);
    eddy_session *s = start();
    run(s, train);
    has(s, v, 3, (double[]){ 0, 2, 0 }, 1e-12);
    has(s, eddy_get_slot(o, v, "momentum"), 3, (double[]){ 1, 0, 3 }, 1e-12);
    eddy_session_free(s);
}
END_TEST

/* More rows than the variable has. */
START_TEST(many_rows_for_few)
{
    enum { N = 100 };
    int32_t at[N];
    double  rows[N];
    for (int i = 0; i < N; i++) {
        at[i] = i % 2;
        rows[i] = 1;
    }
    eddy_tensor v = variable(pair_of(1, 2), "v");
    eddy_gradient_pair p = { eddy_indexed_slices_of(vector(N, rows), index_of(N, at),
                                                    EDDY_SHAPE(2)), v };
    eddy_tensor train = eddy_apply_gradients(eddy_momentum(g, rate(1), rate(0)), &p, 1);
    eddy_session *s = start();
    run(s, train);
    is_pair(s, v, -49, -48, 1e-12);
    eddy_session_free(s);
}
END_TEST

/* An index outside the variable is an error of the run, and nothing changes. */
START_TEST(sparse_index_outside)
{
    const int32_t bad[] = { -1, 3, INT32_MIN, INT32_MAX };
    char          says[64];
    eddy_tensor   v = variable(vector(3, (double[]){ 1, 2, 3 }), "v");
    eddy_tensor   rows = vector(3, (double[]){ 1, 1, 2 });
    eddy_tensor   x = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(3));
    eddy_gradient_pair p = { eddy_indexed_slices_of(rows, x, EDDY_SHAPE(3)), v };
    eddy_optimizer *o = _i == 0   ? eddy_adam(g, rate(0.1))
                        : _i == 1 ? eddy_momentum(g, rate(1), rate(0.5))
                                  : eddy_gradient_descent(g, rate(0.1));
    eddy_tensor train = eddy_apply_gradients(o, &p, 1);
    eddy_session *s = start();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        eddy_array *at = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), (int32_t[]){ 2, bad[k], 2 });
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, at }), EDDY_FETCH(train), NULL),
                         EDDY_OUT_OF_RANGE);
        snprintf(says, sizeof says, "indices[1] = %ld is not in [0, 3)", (long)bad[k]);
        ck_assert_msg(strstr(eddy_session_message(s), says), "%s", eddy_session_message(s));
        eddy_array_free(at);
        has(s, v, 3, (double[]){ 1, 2, 3 }, 0);
    }
    eddy_session_free(s);
}
END_TEST

/* -------------------------------------------------------------------- Adam -- */

/* B-01, B-03, and B-07 (_i = 1: the rate as a tensor).  The defaults are
 * float32, so the digits are those of a float64 reference only with _i = 2. */
START_TEST(b01_b03_b07_adam)
{
    given m = constants();
    const double tolerance = _i == 2 ? 2e-10 : 1e-7;
    eddy_optimizer *o = _i == 0 ? eddy_adam(g) : _i == 1 ? eddy_adam(g, rate(0.001))
                        : eddy_adam(g, rate(0.001), rate(0.9), rate(0.999), rate(1e-8));
    eddy_tensor train = eddy_apply_gradients(o, m.pairs, 2);
    eddy_tensor slot[8];
    fits();
    ck_assert_int_eq(eddy_optimizer_variables(o, slot, 8), 6);
    ck_assert_str_eq(eddy_name_of(slot[0]), "beta1_power");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "m")), "v0/Adam");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "v")), "v0/Adam_1");
    ck_assert(!eddy_collection_has(g, EDDY_TRAINABLE_VARIABLES, slot[0]));
    const double want0[] = { 0.9990000032, 0.9980000054, 0.9970000072 };
    const double want1[] = { 2.9990000316, 2.9980000540, 2.9970000723 };
    eddy_session *s = start();
    for (int i = 0; i < 3; i++) {
        has(s, slot[0], 1, (double[]){ pow(0.9, i + 1) }, 1e-6);
        has(s, slot[1], 1, (double[]){ pow(0.999, i + 1) }, 1e-6);
        run(s, train);
        is_pair(s, m.v0, want0[i], want0[i] + 1, tolerance);
        is_pair(s, m.v1, want1[i], want1[i] + 1, tolerance);
    }
    is_pair(s, eddy_get_slot(o, m.v0, "m"), 0.0271, 0.0271, 1e-7);
    is_pair(s, eddy_get_slot(o, m.v0, "v"), 2.997001e-05, 2.997001e-05, tolerance / 100);
    eddy_session_free(s);
}
END_TEST

START_TEST(b05_sparse_repeated)
{
    const double start_at[] = { 1, 2 };
    eddy_tensor a = variable(matrix(2, 1, start_at), "a");
    eddy_tensor b = variable(matrix(2, 1, start_at), "b");
    eddy_gradient_pair p[2] = {
        { eddy_indexed_slices_of(matrix(2, 1, (double[]){ 0.1, 0.1 }),
                                 index_of(2, (int32_t[]){ 1, 1 }), EDDY_SHAPE(2, 1)), a },
        { eddy_indexed_slices_of(matrix(1, 1, (double[]){ 0.2 }), index_of(1, (int32_t[]){ 1 }),
                                 EDDY_SHAPE(2, 1)), b } };
    eddy_tensor train = eddy_apply_gradients(eddy_adam(g), p, 2);
    const double want[] = { 1.9990000016, 1.9980000027, 1.9970000036 };
    eddy_session *s = start();
    for (int i = 0; i < 3; i++) {
        run(s, train);
        is_pair(s, a, 1, want[i], 1e-7);
        is_pair(s, b, 1, want[i], 1e-7);
    }
    eddy_session_free(s);
}
END_TEST

/* A row that was listed once goes on moving while its moments decay: the
 * sparse step is the dense one with zeros elsewhere. */
START_TEST(sparse_adam_is_dense_adam)
{
    eddy_tensor a = variable(pair_of(1, 2), "a"), b = variable(pair_of(1, 2), "b");
    eddy_tensor x = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor rows = vector(1, (double[]){ 0.3 });
    eddy_tensor dense = eddy_indexed_slices(rows, x, b);
    eddy_gradient_pair p[2] = { { dense, a }, { Identity(dense), b } };
    eddy_tensor train = eddy_apply_gradients(eddy_adam(g, rate(0.1)), p, 2);
    eddy_tensor difference = Sub(a, b);
    eddy_session *s = start();
    for (int i = 0; i < 4; i++) {
        eddy_array *at = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ i % 2 });
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, at }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(at);
        is_pair(s, difference, 0, 0, 1e-12);
    }
    eddy_session_free(s);
}
END_TEST

/* Two operations of one optimizer advance one clock. */
START_TEST(shared_adam)
{
    given m = constants();
    eddy_optimizer *o = eddy_adam(g);
    eddy_tensor a = eddy_apply_gradients(o, m.pairs, 2), b = eddy_apply_gradients(o, m.pairs, 2);
    eddy_session *s = start();
    run(s, a);
    run(s, b);
    run(s, a);
    is_pair(s, m.v0, 0.9970000072, 1.9970000072, 1e-7);
    eddy_session_free(s);
}
END_TEST

/* B-09: here an optimizer belongs to one graph; the same names in two do not clash. */
START_TEST(b09_two_graphs)
{
    eddy_graph *const first = g, *const second = eddy_graph_new();
    for (int i = 0; i < 2; i++) {
        g = i ? second : first;
        given m = constants();
        eddy_optimizer *o = eddy_adam(g);
        eddy_tensor train = eddy_apply_gradients(o, m.pairs, 2);
        ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "m")), "v0/Adam");
        eddy_session *s = start();
        run(s, train);
        is_pair(s, m.v0, 0.9990000032, 1.9990000032, 1e-7);
        eddy_session_free(s);
    }
    g = first;
    eddy_graph_free(second);
}
END_TEST

/* ----------------------------------------------------------- one's own -- */

/* Slots are found by variable and name, and listed by their own names. */
START_TEST(slots_of_many_variables)
{
    enum { N = 300 };
    eddy_tensor        v[N], all[2 * N + 2], few[3];
    eddy_gradient_pair p[N];
    char               name[32];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "v%d", (i * 7) % N);
        v[i] = variable(rate(i), name);
        p[i] = (eddy_gradient_pair){ rate(1), v[i] };
    }
    eddy_optimizer *o = eddy_adam(g);
    ck_assert(!eddy_is_valid(eddy_get_slot(o, v[0], "m")));
    eddy_apply_gradients(o, p, N);
    fits();
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "v%d/Adam", (i * 7) % N);
        ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, v[i], "m")), name);
        snprintf(name, sizeof name, "v%d/Adam_1", (i * 7) % N);
        ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, v[i], "v")), name);
        ck_assert(!eddy_is_valid(eddy_get_slot(o, v[i], "mv")));
        ck_assert(!eddy_is_valid(eddy_get_slot(o, eddy_get_slot(o, v[i], "m"), "m")));
    }
    ck_assert_int_eq(eddy_optimizer_variables(o, all, 2 * N + 2), 2 * N + 2);
    ck_assert_int_eq(eddy_optimizer_variables(o, few, 3), 2 * N + 2);
    for (int i = 1; i < 2 * N + 2; i++)
        ck_assert_int_lt(strcmp(eddy_name_of(all[i - 1]), eddy_name_of(all[i])), 0);
    for (int i = 0; i < 3; i++) ck_assert(eddy_same(few[i], all[i]));
}
END_TEST

/* Without apply_sparse and finish: the gradient's sign moves the variable. */
static eddy_tensor sign_dense(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor v)
{
    const eddy_tensor *lr = eddy_optimizer_state(o);
    return eddy_assign_sub(v, Mul(eddy_hyper(*lr, v), Sign(gradient)));
}

START_TEST(own_optimizer)
{
    const eddy_optimizer_def def = { .name = "Sign", .state_size = sizeof(eddy_tensor),
                                     .apply_dense = sign_dense };
    eddy_tensor     lr = eddy_scalar(g, 0.5), v = variable(pair_of(1, 2), "v");
    eddy_optimizer *o = eddy_optimizer_new(g, &def, &lr, NULL);
    ck_assert_str_eq(eddy_optimizer_name(o), "Sign");
    eddy_tensor loss = Sum(Gather(v, index_of(1, (int32_t[]){ 1 })));
    eddy_tensor train = eddy_minimize(o, loss, .name = "go");
    ck_assert_str_eq(eddy_name_of(train), "go");
    eddy_session *s = start();
    run(s, train);
    is_pair(s, v, 1, 1.5, 1e-12);
    eddy_session_free(s);
}
END_TEST

Suite *optim_suite(void)
{
    Suite *suite = suite_create("optim");
    TCase *c = tcase_create("optim");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, o02_aggregation_method);
    tcase_add_test(c, o04_no_variables);
    tcase_add_test(c, o06_no_gradients);
    tcase_add_test(c, o06_no_gradients_to_apply);
    tcase_add_test(c, o08_variables_as_gradients);
    tcase_add_test(c, o10_train_op_collection);
    tcase_add_test(c, o14_dtypes);
    tcase_add_test(c, o16_none_makes_no_slot);
    tcase_add_loop_test(c, o18_gates, 0, 4);
    tcase_add_test(c, o20_empty_name);
    tcase_add_test(c, o22_repeated_rows);
    tcase_add_test(c, plain_tensor_is_not_updated);
    tcase_add_test(c, shapes_and_types_of_gradients);
    tcase_add_test(c, open_shapes_are_not_broadcast);
    tcase_add_test(c, handles_that_are_nothing);
    tcase_add_test(c, global_step);
    tcase_add_test(c, global_step_of_another_kind);
    tcase_add_test(c, slots_have_no_controls);
    tcase_add_test(c, s01_descent);
    tcase_add_test(c, s03_gradients_of_variables);
    tcase_add_loop_test(c, s05_sparse_products, 0, 4);
    tcase_add_loop_test(c, s07_s09_momentum, 0, 2);
    tcase_add_test(c, s11_sparse_nesterov);
    tcase_add_test(c, s13_fed_gradients);
    tcase_add_test(c, s15_sparse_momentum);
    tcase_add_test(c, sparse_momentum_leaves_other_rows);
    tcase_add_test(c, many_rows_for_few);
    tcase_add_loop_test(c, sparse_index_outside, 0, 3);
    tcase_add_loop_test(c, b01_b03_b07_adam, 0, 3);
    tcase_add_test(c, b05_sparse_repeated);
    tcase_add_test(c, sparse_adam_is_dense_adam);
    tcase_add_test(c, shared_adam);
    tcase_add_test(c, b09_two_graphs);
    tcase_add_test(c, slots_of_many_variables);
    tcase_add_test(c, own_optimizer);
    suite_add_tcase(suite, c);
    return suite;
}
