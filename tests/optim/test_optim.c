/* test_optim.c -- properties of all optimizers: TensorFlow's values, checks and messages; slots,
 * the global step, a user-defined optimizer. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

Suite *optim_suite(void);

/* v0 = [1,2], v1 = [3,4] and the cost 5 v0 + 3 v1. */
typedef struct simple {
    eddy_tensor v0, v1, cost;
} simple;

static simple simple_cost(void)
{
    simple m = { .v0 = variable_of(pair_of(g, 1, 2), "v0"),
                 .v1 = variable_of(pair_of(g, 3, 4), "v1") };
    m.cost = Add(Mul(5, m.v0), Mul(3, m.v1));
    return m;
}

static eddy_optimizer *descent(double lr)
{
    return eddy_gradient_descent(g, real(g, lr));
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
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, m.v0, -14, -13, 1e-12);
    near_pair(s, m.v1, -6, -5, 1e-12);
    near(s, step, 1, (double[]){ 1 }, 0);
    eddy_session_free(s);
}
END_TEST

START_TEST(o04_no_variables)
{
    eddy_minimize(descent(3), eddy_scalar(g, 5));
    fails(g, EDDY_INVALID_ARGUMENT, "No variables to optimize.");
}
END_TEST

START_TEST(o06_no_gradients)
{
    simple m = simple_cost();
    eddy_minimize(descent(3), eddy_named("five", eddy_scalar(g, 5)),
                  .var_list = EDDY_LIST(m.v0, m.v1));
    fails(g, EDDY_INVALID_ARGUMENT, "No gradients provided for any variable, check your graph for "
          "ops that do not support gradients, between variables [v0, v1] and loss five.");
}
END_TEST

START_TEST(o06_no_gradients_to_apply)
{
    simple m = simple_cost();
    eddy_gradient_pair pairs[2] = { { .variable = m.v0 }, { .variable = m.v1 } };
    eddy_apply_gradients(descent(3), pairs, 2);
    fails(g, EDDY_INVALID_ARGUMENT, "No gradients provided for any variable: [v0, v1].");
    eddy_apply_gradients(descent(3), pairs, 0);
    fails(g, EDDY_INVALID_ARGUMENT, "No variables provided.");
}
END_TEST

START_TEST(o08_variables_as_gradients)
{
    simple m = simple_cost();
    eddy_optimizer    *o = descent(3);
    eddy_gradient_pair p[2];
    ck_assert_int_eq(eddy_compute_gradients(o, m.cost, p, 2, EDDY_LIST(m.v0, m.v1)), 2);
    eddy_tensor c0 = variable_of(pair_of(g, -1, -1), "c0");
    eddy_tensor c1 = variable_of(pair_of(g, -1, -1), "c1");
    eddy_tensor copy = eddy_group(g, EDDY_LIST(eddy_assign(c0, p[0].gradient),
                                               eddy_assign(c1, p[1].gradient)), NULL);
    p[0].gradient = c0;
    p[1].gradient = c1;
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    eddy_session *s = started(g);
    runs(s, copy);
    runs(s, train);
    near_pair(s, m.v0, -14, -13, 1e-12);
    near_pair(s, m.v1, -6, -5, 1e-12);
    eddy_session_free(s);
}
END_TEST

START_TEST(o10_train_op_collection)
{
    simple m = simple_cost();
    eddy_tensor train = eddy_minimize(descent(3), m.cost);
    fits(g);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAIN_OP), 1);
    ck_assert(eddy_same(eddy_collection_at(g, EDDY_TRAIN_OP, 0), train));
    ck_assert_int_eq(eddy_outputs_of(train), 0);
}
END_TEST

START_TEST(o14_dtypes)
{
    simple m = simple_cost();
    eddy_tensor whole = eddy_number(g, EDDY_INT32, 3), n = variable_of(whole, "n");
    eddy_gradient_pair p[3];
    ck_assert_int_eq(eddy_compute_gradients(descent(3), m.cost, p, 3, EDDY_LIST(m.v0, n)), 2);
    fits(g);
    ck_assert(eddy_is_valid(p[0].gradient));
    ck_assert(!eddy_is_valid(p[1].gradient) && eddy_same(p[1].variable, n));
    ck_assert_int_eq(eddy_compute_gradients(descent(3), whole, p, 3, EDDY_LIST(m.v0)), 0);
    fails(g, EDDY_BAD_DTYPE, "Invalid type int32");
    eddy_compute_gradients(descent(3), m.cost, p, 3, EDDY_LIST(m.v0), .grad_loss = whole);
    fails(g, EDDY_BAD_DTYPE, "Invalid type int32");
    eddy_compute_gradients(descent(3), whole, p, 3, .gate_gradients = (eddy_gate)7);
    fails(g, EDDY_INVALID_ARGUMENT, "gate_gradients must be one of");
}
END_TEST

START_TEST(o16_none_makes_no_slot)
{
    simple m = simple_cost();
    eddy_optimizer *o = eddy_momentum(g, real(g, 2), real(g, 0.9));
    eddy_gradient_pair p[2] = { { pair_of(g, 0.1, 0.1), m.v0 }, { .variable = m.v1 } };
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    ck_assert(eddy_is_valid(eddy_get_slot(o, m.v0, "momentum")));
    ck_assert(!eddy_is_valid(eddy_get_slot(o, m.v1, "momentum")));
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, m.v0, 0.8, 1.8, 1e-12);
    near_pair(s, m.v1, 3, 4, 0);
    eddy_session_free(s);
}
END_TEST

/* O-18 for _i = 1, 2, 3: the gates; S-05 for _i = 0, 1, 2, 3 with rows looked up. */
static void products(bool sparse, eddy_gate gate)
{
    eddy_tensor v0 = variable_of(matrix(g, 1, 2, (double[]){ 1, 2 }), "v0");
    eddy_tensor v1 = variable_of(vector(g, 1, (double[]){ 3 }), "v1");
    eddy_tensor x = matrix(g, 2, 1, (double[]){ 4, 5 });
    eddy_tensor rows = sparse ? Gather(v0, index_of(g, 1, (int32_t[]){ 0 })) : v0;
    eddy_tensor loss = Square(Add(MatMul(rows, x), v1));
    eddy_tensor train = eddy_minimize(descent(1), loss, .gate_gradients = gate);
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, v0, -135, -168, 1e-12);
    near(s, v1, 1, (double[]){ -31 }, 1e-12);
    eddy_session_free(s);
}

START_TEST(o18_gates) { products(false, (eddy_gate)_i); }
END_TEST

START_TEST(s05_sparse_products) { products(true, (eddy_gate)_i); }
END_TEST

START_TEST(o20_empty_name)
{
    ck_assert_ptr_null(eddy_gradient_descent(g, real(g, 1), .name = ""));
    fails(g, EDDY_INVALID_ARGUMENT, "Must specify the optimizer name");
}
END_TEST

/* O-22, with Adam: rows that are looked up twice count twice. */
START_TEST(o22_repeated_rows)
{
    eddy_tensor v = variable_of(pair_of(g, 1, 2), "v"), w = variable_of(pair_of(g, 1, 2), "w");
    eddy_tensor twice = Sum(Gather(v, index_of(g, 2, (int32_t[]){ 0, 0 })));
    eddy_tensor once = Mul(2, Sum(Gather(w, index_of(g, 1, (int32_t[]){ 0 }))));
    eddy_tensor a = eddy_minimize(eddy_adam(g), twice, .var_list = EDDY_LIST(v));
    eddy_tensor b = eddy_minimize(eddy_adam(g), once, .var_list = EDDY_LIST(w));
    eddy_session *s = started(g);
    for (int i = 0; i < 3; i++) {
        runs(s, a);
        runs(s, b);
        near(s, Sub(v, w), 2, (double[]){ 0, 0 }, 1e-12);
    }
    eddy_session_free(s);
}
END_TEST

START_TEST(plain_tensor_is_not_updated)
{
    eddy_gradient_pair p = { pair_of(g, 1, 1), eddy_named("plain", pair_of(g, 1, 2)) };
    eddy_apply_gradients(descent(1), &p, 1);
    fails(g, EDDY_UNIMPLEMENTED, "Trying to update a Tensor 'plain'");
}
END_TEST

START_TEST(shapes_and_types_of_gradients)
{
    simple m = simple_cost();
    eddy_gradient_pair p = { vector(g, 1, (double[]){ 1 }), m.v0 };
    eddy_apply_gradients(eddy_adam(g), &p, 1);
    fails(g, EDDY_BAD_SHAPE, "var and grad do not have the same shape: 'v0' [2], [1]");
    p.gradient = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 1 });
    eddy_apply_gradients(descent(1), &p, 1);
    fails(g, EDDY_BAD_DTYPE, "the gradient of 'v0' is float32; float64 expected");
}
END_TEST

/* A gradient whose shape only the run knows is not broadcast. */
START_TEST(open_shapes_are_not_broadcast)
{
    simple m = simple_cost();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_gradient_pair p = { x, m.v0 };
    eddy_tensor train = eddy_apply_gradients(eddy_momentum(g, real(g, 1), real(g, 0)), &p, 1);
    eddy_session *s = started(g);
    eddy_array *one = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(1), (double[]){ 1 });
    eddy_array *two = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 1, 2 });
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, one }), EDDY_FETCH(train), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(train), NULL), EDDY_OK);
    near_pair(s, m.v0, 0, 0, 0);
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
    fails(g, EDDY_INVALID_ARGUMENT, "the optimizer is NULL or not valid");
    ck_assert(!eddy_is_valid(eddy_minimize(NULL, m.cost)));
    eddy_graph_clear_error(g);
    ck_assert_int_eq(eddy_compute_gradients(descent(1), m.cost, p, 1), 0);
    fails(g, EDDY_INVALID_ARGUMENT, "the number of variables is 2, but there is room for 1");
    ck_assert_ptr_null(eddy_gradient_descent(g));
    fails(g, EDDY_INVALID_ARGUMENT, "learning_rate is required");
    ck_assert_ptr_null(eddy_adam(g, .beta1 = pair_of(g, 1, 2)));
    fails(g, EDDY_BAD_SHAPE, "Adam: beta1 has shape [2]");
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
    fits(g);
    ck_assert_str_eq(eddy_name_of(step), "global_step");
    ck_assert_int_eq(eddy_dtype_of(step), EDDY_INT64);
    ck_assert(eddy_same(eddy_get_or_create_global_step(g), step));
    ck_assert(eddy_collection_has(g, EDDY_GLOBAL_VARIABLES, step));
    ck_assert(!eddy_collection_has(g, EDDY_TRAINABLE_VARIABLES, step));
    eddy_create_global_step(g);
    fails(g, EDDY_INVALID_ARGUMENT, "\"global_step\" already exists.");
}
END_TEST

START_TEST(global_step_of_another_kind)
{
    variable_of(real(g, 1), "global_step");
    eddy_get_global_step(g);
    fails(g, EDDY_BAD_DTYPE, "does not have integer type: float64");
}
END_TEST

/* Slots wait for nothing around the call, or initializing them would. */
START_TEST(slots_have_no_controls)
{
    simple m = simple_cost();
    eddy_optimizer *o = eddy_adam(g);
    eddy_tensor ph = eddy_placeholder(g, "never_fed", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor loss = m.cost;
    eddy_control_begin(g, EDDY_LIST(ph));
    eddy_minimize(o, loss);
    eddy_control_end(g);
    fits(g);
    eddy_session *s = started(g);
    near_pair(s, eddy_get_slot(o, m.v0, "m"), 0, 0, 0);
    eddy_session_free(s);
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
        v[i] = variable_of(real(g, i), name);
        p[i] = (eddy_gradient_pair){ real(g, 1), v[i] };
    }
    eddy_optimizer *o = eddy_adam(g);
    ck_assert(!eddy_is_valid(eddy_get_slot(o, v[0], "m")));
    eddy_apply_gradients(o, p, N);
    fits(g);
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
    eddy_tensor     lr = eddy_scalar(g, 0.5), v = variable_of(pair_of(g, 1, 2), "v");
    eddy_optimizer *o = eddy_optimizer_new(g, &def, &lr, NULL);
    ck_assert_str_eq(eddy_optimizer_name(o), "Sign");
    eddy_tensor loss = Sum(Gather(v, index_of(g, 1, (int32_t[]){ 1 })));
    eddy_tensor train = eddy_minimize(o, loss, .name = "go");
    ck_assert_str_eq(eddy_name_of(train), "go");
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, v, 1, 1.5, 1e-12);
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
    tcase_add_loop_test(c, s05_sparse_products, 0, 4);
    tcase_add_test(c, o20_empty_name);
    tcase_add_test(c, o22_repeated_rows);
    tcase_add_test(c, plain_tensor_is_not_updated);
    tcase_add_test(c, shapes_and_types_of_gradients);
    tcase_add_test(c, open_shapes_are_not_broadcast);
    tcase_add_test(c, handles_that_are_nothing);
    tcase_add_test(c, global_step);
    tcase_add_test(c, global_step_of_another_kind);
    tcase_add_test(c, slots_have_no_controls);
    tcase_add_test(c, slots_of_many_variables);
    tcase_add_test(c, own_optimizer);
    suite_add_tcase(suite, c);
    return suite;
}
