/* test_all_optimizers.c -- properties of all optimizers: losses given as functions, constraints,
 * slot names, steps for elements and rows, order of updates. */
#include "optim/internal.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

Suite *all_optimizers_suite(void);

static const double ONE_TWO[] = { 1, 2 }, THREE_FOUR[] = { 3, 4 }, ONES[] = { 1, 1 };

static eddy_tensor variable(const double *x, const char *name)
{
    return eddy_variable(g, vector(g, 2, x), .name = name);
}

/* ------------------------------------------------------ losses by function -- */

/* Uses the later variable first. */
typedef struct model {
    eddy_tensor v0, v1;
    int         calls;
} model;

static model two_variables_model(void)
{
    model m = { .v0 = variable(ONE_TWO, "v0") };
    m.v1 = variable(THREE_FOUR, "v1");
    return m;
}

static int cost(eddy_list none, eddy_tensor *y, void *context)
{
    model *m = context;
    ck_assert_int_eq(none.count, 0);
    m->calls++;
    y[0] = Add(Mul(3, m->v1), Mul(5, m->v0));
    return 1;
}

START_TEST(function_finds_its_variables)
{
    model m = two_variables_model();
    eddy_tensor        unused = variable(ONES, "unused"), all = Mul(unused, 2);
    eddy_gradient_pair p[3];
    eddy_optimizer    *o = eddy_gradient_descent(g, real(g, 3));
    ck_assert_int_eq(eddy_compute_gradients(o, .out = p, .max_out = 3,
                                            .loss_function = { .build = cost, .context = &m }), 2);
    ck_assert_int_eq(m.calls, 1);
    ck_assert(eddy_same(p[0].variable, m.v0) && eddy_same(p[1].variable, m.v1));
    eddy_tensor   train = eddy_apply_gradients(o, p, 2);
    eddy_session *s = started(g);
    runs(s, train);
    has_pair(s, m.v0, -14, -13);
    has_pair(s, m.v1, -6, -5);
    has_pair(s, all, 2, 2);
    eddy_session_free(s);
}
END_TEST

START_TEST(function_is_minimized)
{
    model m = two_variables_model();
    eddy_tensor step = eddy_create_global_step(g);
    eddy_tensor train = eddy_minimize(eddy_gradient_descent(g, real(g, 3)), .global_step = step,
                                      .loss_function = { .build = cost, .context = &m },
                                      .name = "go");
    ck_assert_str_eq(eddy_name_of(train), "go");
    eddy_session *s = started(g);
    runs(s, train);
    has_pair(s, m.v0, -14, -13);
    ck_assert_double_eq(number(s, step), 1);
    eddy_session_free(s);
}
END_TEST

/* A list is watched, trainable or not, and a weight of the loss is its output gradient;
 * gates and aggregation are not even looked at. */
START_TEST(function_with_a_list)
{
    model m = two_variables_model();
    eddy_tensor fixed = eddy_variable(g, vector(g, 2, ONES), .not_trainable = true);
    m.v1 = fixed;
    eddy_tensor train = eddy_minimize(eddy_gradient_descent(g, real(g, 1)),
                                      .var_list = EDDY_LIST(fixed),
                                      .grad_loss = vector(g, 2, THREE_FOUR),
                                      .gate_gradients = (eddy_gate)9,
                                      .aggregation_method = EDDY_EXPERIMENTAL_TREE,
                                      .loss_function = { .build = cost, .context = &m });
    eddy_session *s = started(g);
    runs(s, train);
    has_pair(s, fixed, -8, -11);
    has_pair(s, m.v0, 1, 2);
    eddy_session_free(s);
}
END_TEST

static int constant_loss(eddy_list none, eddy_tensor *y, void *graph)
{
    (void)none;
    y[0] = eddy_named("five", eddy_scalar(graph, 5));
    return 1;
}

static int two_losses(eddy_list none, eddy_tensor *y, void *graph)
{
    constant_loss(none, y, graph);
    constant_loss(none, y + 1, graph);
    return 2;
}

static int no_loss(eddy_list none, eddy_tensor *y, void *graph)
{
    (void)none, (void)y, (void)graph;
    return 0;
}

START_TEST(function_without_variables)
{
    eddy_optimizer    *o = eddy_gradient_descent(g, real(g, 1));
    eddy_gradient_pair p[1];
    variable(ONES, "v");
    const eddy_function five = { .build = constant_loss, .context = g };
    ck_assert_int_eq(eddy_compute_gradients(o, .out = p, .max_out = 1, .loss_function = five), 0);
    fits(g);
    eddy_minimize(o, .loss_function = five);
    fails(g, EDDY_INVALID_ARGUMENT, "No gradients provided for any variable, check your graph for "
          "ops that do not support gradients, between variables [] and loss five_1.");
    eddy_minimize(o, .loss_function = { .build = two_losses, .context = g });
    fails(g, EDDY_INVALID_ARGUMENT, "the number of results of the loss function is 2; expected 1");
    eddy_minimize(o, .loss_function = { .build = no_loss, .context = g });
    fails(g, EDDY_INVALID_ARGUMENT, "a function that returns None");
    eddy_minimize(o);
    fails(g, EDDY_INVALID_ARGUMENT, "the loss is not a tensor of the optimizer's graph");
}
END_TEST

/* The slices of a gather stay slices. */
static int looked_up(eddy_list none, eddy_tensor *y, void *context)
{
    const model *m = context;
    (void)none;
    y[0] = Sum(Gather(m->v0, eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 1 })));
    return 1;
}

START_TEST(function_with_sparse_gradients)
{
    model m = two_variables_model();
    eddy_gradient_pair p[2];
    eddy_optimizer    *o = eddy_gradient_descent(g, real(g, 1));
    const eddy_function sum = { .build = looked_up, .context = &m };
    ck_assert_int_eq(eddy_compute_gradients(o, .out = p, .max_out = 2, .loss_function = sum), 1);
    ck_assert(eddy_slices_parts(p[0].gradient, NULL, NULL));
}
END_TEST

/* ------------------------------------------------------------- constraints -- */

static eddy_tensor not_negative(eddy_tensor value, void *context)
{
    int *calls = context;
    if (calls) ++*calls;
    return Maximum(value, 0);
}

/* The variable gets the constrained new value, in each optimizer. */
START_TEST(constraints)
{
    const optimizer_case *c = &optimizer_cases[_i];
    int         calls = 0;
    eddy_tensor v = eddy_variable(g, vector(g, 2, (double[]){ 0.001, 3 }), .name = "v",
                                  .constraint = { not_negative, &calls });
    eddy_tensor w = eddy_variable(g, vector(g, 2, (double[]){ 0.001, 3 }), .name = "w");
    eddy_constraint got = { 0 };
    ck_assert(eddy_variable_constraint(v, &got) && got.apply == not_negative);
    ck_assert(!eddy_variable_constraint(w, &got));
    eddy_optimizer    *o = c->make(g);
    eddy_tensor        slope = vector(g, 2, (double[]){ 2, -1 });
    eddy_gradient_pair p[2] = { { slope, v }, { slope, w } };
    eddy_tensor        train = eddy_apply_gradients(o, p, 2);
    fits(g);
    ck_assert_int_eq(calls, 1);
    eddy_session *s = started(g);
    runs(s, train);
    eddy_array *a = eddy_fetch(s, v), *b = eddy_fetch(s, w);
    ck_assert_double_eq(eddy_array_get(a, 0), 0);
    ck_assert_double_lt(eddy_array_get(b, 0), 0);
    ck_assert_double_eq(eddy_array_get(a, 1), eddy_array_get(b, 1));
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_session_free(s);
}
END_TEST

static eddy_tensor doubled(eddy_tensor value, void *context)
{
    (void)context;
    return Mul(2, value);
}

static void wrapped_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy_optimizer *const *inner = eddy_optimizer_state(o);
    (*inner)->def.create_slots(*inner, v);
}

static eddy_tensor wrapped(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor v)
{
    eddy_optimizer *const *inner = eddy_optimizer_state(o);
    return (*inner)->def.apply_dense(*inner, gradient, v);
}

/* Once, by whichever way the update is made: of a step, of an update that yields the value,
 * of an optimizer within another. */
START_TEST(constraints_are_applied_once)
{
    static const eddy_optimizer_def outer = { .name = "Outer", .state_size = sizeof(void *),
                                              .create_slots = wrapped_slots,
                                              .apply_dense = wrapped };
    eddy_optimizer *inner = eddy_adagrad(g, real(g, 1), 3);
    eddy_optimizer *o[] = { inner, eddy_gradient_descent(g, real(g, 0.5)),
                            eddy_optimizer_new(g, &outer, &inner, NULL) };
    eddy_tensor v = eddy_variable(g, vector(g, 2, THREE_FOUR), .constraint = { doubled, NULL });
    eddy_tensor train = eddy_apply_gradients(o[_i], &(eddy_gradient_pair){ vector(g, 2, ONES), v },
                                             1);
    eddy_session *s = started(g);
    runs(s, train);
    has_pair(s, v, 5, 7);
    eddy_session_free(s);
}
END_TEST

/* Of a step, the constraint is part of the loop. */
START_TEST(constraints_cost_no_pass)
{
    const eddy_shape shape = EDDY_SHAPE(300, 200);
    eddy_tensor v = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, shape),
                                  .constraint = { not_negative, NULL });
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, shape);
    eddy_optimizer *o = eddy_adagrad(g, real(g, 0.1));
    eddy_tensor train = eddy_apply_gradients(o, &(eddy_gradient_pair){ x, v }, 1);
    eddy_session *s = started(g);
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, shape);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(train), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_session_plan_info(s).instructions, 1);
    eddy_array_free(a);
    eddy_session_free(s);
}
END_TEST

/* O-12. */
START_TEST(o12_constraint_and_slices)
{
    eddy_tensor v = eddy_variable(g, vector(g, 2, ONE_TWO), .name = "v",
                                  .constraint = { not_negative, NULL });
    eddy_tensor first = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 0 });
    eddy_minimize(eddy_gradient_descent(g, real(g, 1)), Sum(Gather(v, first)));
    fails(g, EDDY_INVALID_ARGUMENT, "Cannot use a constraint function on a sparse variable.");
    eddy_variable_constrain(v, (eddy_constraint){ 0 });
    eddy_minimize(eddy_gradient_descent(g, real(g, 1)), Sum(Gather(v, first)));
    fits(g);
    eddy_variable_constrain(first, (eddy_constraint){ not_negative, NULL });
    fails(g, EDDY_INVALID_ARGUMENT, "variable_constrain: 'Const_1' is not a variable");
    ck_assert(!eddy_variable_constraint(EDDY_NO_TENSOR, NULL));
}
END_TEST

static eddy_tensor nothing(eddy_tensor value, void *context)
{
    (void)context;
    return (eddy_tensor){ .graph = value.graph };
}

START_TEST(constraints_that_fail)
{
    eddy_tensor v = eddy_variable(g, vector(g, 2, ONE_TWO), .name = "v",
                                  .constraint = { nothing, NULL });
    eddy_minimize(eddy_gradient_descent(g, real(g, 1)), Sum(v));
    fails(g, EDDY_INVALID_ARGUMENT, "the constraint of 'v' does not return a tensor of this graph");
}
END_TEST

/* -------------------------------------------------------------- slots -- */

START_TEST(names_of_slots)
{
    const char     *names[4] = { NULL, NULL, NULL, NULL };
    two_variables   t = two_of(g, ONE_TWO, THREE_FOUR, ONES, ONES);
    eddy_optimizer *adam = eddy_adam(g), *o = eddy_rmsprop(g, real(g, 1), .centered = true);
    ck_assert_int_eq(eddy_get_slot_names(adam, names, 4), 0);
    eddy_apply_gradients(adam, t.pairs, 2);
    eddy_apply_gradients(o, t.pairs, 2);
    ck_assert_int_eq(eddy_get_slot_names(adam, names, 4), 2);   /* not beta1_power */
    ck_assert_str_eq(names[0], "m");
    ck_assert_str_eq(names[1], "v");
    ck_assert_int_eq(eddy_get_slot_names(o, names, 2), 3);
    ck_assert_str_eq(names[0], "mg");
    ck_assert_str_eq(names[1], "momentum");
    ck_assert_int_eq(eddy_get_slot_names(o, NULL, 0), 3);
    ck_assert_int_eq(eddy_get_slot_names(NULL, names, 4), 0);
}
END_TEST

/* A variable whose shape only its value knows has slots like it. */
START_TEST(slots_of_unknown_shape)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor v = eddy_variable(g, x, .no_validate_shape = true, .name = "v");
    eddy_tensor init_of_v = eddy_graph_operation(g, "v/Assign");
    eddy_optimizer *o = eddy_rmsprop(g, real(g, 1));
    eddy_tensor train = eddy_minimize(o, Sum(Square(v)));
    eddy_tensor r = eddy_get_slot(o, v, "rms");
    eddy_tensor init = eddy_initializer(g);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), THREE_FOUR);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(init_of_v), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(init), NULL), EDDY_OK);
    has_pair(s, r, 1, 1);
    runs(s, train);
    has_pair(s, r, 1 + (36 - 1) * 0.1, 1 + (64 - 1) * 0.1);
    eddy_array_free(a);
    eddy_session_free(s);
}
END_TEST

/* -------------------------------------------------------------- one's own -- */

static void sum_step(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor *x)
{
    const eddy_tensor *lr = eddy_optimizer_state(o);
    x[1] = Add(x[1], gradient);
    x[0] = Sub(x[0], Mul(eddy_hyper(*lr, gradient), x[1]));
}

static void no_slots(eddy_optimizer *o, eddy_tensor v) { (void)o, (void)v; }

/* A step and the names of slots are enough, for dense and sparse gradients; slots that
 * create_slots leaves out (_i = 1) are zeros. */
START_TEST(own_step)
{
    static const eddy_optimizer_def def = { .name = "Sum", .state_size = sizeof(eddy_tensor),
                                            .step = sum_step, .slots = { "sum" } };
    const eddy_optimizer_def left_out = { .name = "Sum", .state_size = sizeof(eddy_tensor),
                                          .create_slots = no_slots, .step = sum_step,
                                          .slots = { "sum" } };
    eddy_tensor     lr = real(g, 0.5), v = variable(ONE_TWO, "v"), w = variable(ONE_TWO, "w");
    eddy_tensor     second = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 1 });
    eddy_optimizer *o = eddy_optimizer_new(g, _i ? &left_out : &def, &lr, NULL);
    eddy_tensor     train = eddy_minimize(o, Add(Sum(v), Sum(Gather(w, second))));
    eddy_session   *s = started(g);
    runs(s, train);
    runs(s, train);
    has_pair(s, v, -0.5, 0.5);
    has_pair(s, w, 1, 0.5);
    has_pair(s, eddy_get_slot(o, w, "sum"), 0, 2);
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, w, "sum")), "w/Sum");
    eddy_session_free(s);
}
END_TEST

/* -------------------------------------------------------------------- order -- */

/* An update that the caller puts in front is seen by those behind it. */
START_TEST(updates_behind_others)
{
    const optimizer_case *c = &optimizer_cases[_i];
    const double          want = c->counts ? 0 : 1;     /* dual averaging forgets the value */
    eddy_tensor v = variable(ONE_TWO, "v"), w = variable(ONE_TWO, "w");
    eddy_tensor slope = vector(g, 2, ONES), before = eddy_assign_add(v, vector(g, 2, ONES));
    eddy_optimizer *o = c->make(g), *p = c->make(g);
    eddy_control_begin(g, EDDY_LIST(before));
    eddy_tensor a = eddy_apply_gradients(o, &(eddy_gradient_pair){ slope, v }, 1);
    eddy_control_end(g);
    eddy_tensor b = eddy_apply_gradients(p, &(eddy_gradient_pair){ slope, w }, 1);
    eddy_tensor apart = Sub(v, w);
    if (strncmp(c->name, "Ftrl", 4) == 0 || strncmp(c->name, "Proximal", 8) == 0) return;
    eddy_session *s = started(g);
    runs(s, a);
    runs(s, b);
    has_pair(s, apart, want, want);
    eddy_session_free(s);
}
END_TEST

/* A variable that is listed twice is updated twice, as by two steps. */
START_TEST(a_variable_twice)
{
    const optimizer_case *c = &optimizer_cases[_i];
    if (c->everywhere || c->counts) return;             /* their clock is that of the run */
    eddy_tensor v = variable(ONE_TWO, "v"), w = variable(ONE_TWO, "w");
    eddy_tensor slope = vector(g, 2, ONES), at = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2),
                                                            (int32_t[]){ 0, 1 });
    const eddy_gradient_pair twice[2] = { { slope, v }, { eddy_indexed_slices(slope, at, v), v } };
    eddy_tensor   a = eddy_apply_gradients(c->make(g), twice, 2);
    eddy_tensor   b = eddy_apply_gradients(c->make(g), &(eddy_gradient_pair){ slope, w }, 1);
    eddy_tensor   apart = Sub(v, w);
    eddy_session *s = started(g);
    runs(s, a);
    runs(s, b);
    runs(s, b);
    has_pair(s, apart, 0, 0);
    eddy_session_free(s);
}
END_TEST

/* All gradients none, with the gate that waits for all of them. */
START_TEST(gate_of_nothing)
{
    eddy_tensor v = variable(ONE_TWO, "v");
    eddy_minimize(eddy_gradient_descent(g, real(g, 1)), eddy_scalar(g, 5),
                  .var_list = EDDY_LIST(v), .gate_gradients = EDDY_GATE_GRAPH);
    fails(g, EDDY_INVALID_ARGUMENT, "Must have at least one Tensor");
}
END_TEST

Suite *all_optimizers_suite(void)
{
    Suite *suite = suite_create("all_optimizers");
    TCase *c = tcase_create("optim_base");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, function_finds_its_variables);
    tcase_add_test(c, function_is_minimized);
    tcase_add_test(c, function_with_a_list);
    tcase_add_test(c, function_without_variables);
    tcase_add_test(c, function_with_sparse_gradients);
    tcase_add_loop_test(c, constraints, 0, optimizer_case_count);
    tcase_add_loop_test(c, constraints_are_applied_once, 0, 3);
    tcase_add_test(c, constraints_cost_no_pass);
    tcase_add_test(c, o12_constraint_and_slices);
    tcase_add_test(c, constraints_that_fail);
    tcase_add_test(c, names_of_slots);
    tcase_add_test(c, slots_of_unknown_shape);
    tcase_add_loop_test(c, own_step, 0, 2);
    tcase_add_loop_test(c, updates_behind_others, 0, optimizer_case_count);
    tcase_add_loop_test(c, a_variable_twice, 0, optimizer_case_count);
    tcase_add_test(c, gate_of_nothing);
    suite_add_tcase(suite, c);
    return suite;
}
