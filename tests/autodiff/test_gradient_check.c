/* test_gradient_check.c -- the errors that the gradient check finds, and its reports. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/gradient_check_fixture.h"

Suite *gradient_check_suite(void);

/* --------------------------------------------------- operations of our own -- */

/* y = x0 x1; the gradient of x1 is wrong in element 3 alone. */
static eddy_status flawed_kernel(eddy_kernel *k)
{
    const double *a = k->in[0]->data, *b = k->in[1]->data;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < k->out[0]->count; i++) y[i] = a[i] * b[i];
    return EDDY_OK;
}
static eddy_tensor one_at(eddy_tensor like, int64_t element)
{
    const eddy_tensor at = eddy_const(like.graph, EDDY_INT64, EDDY_SCALAR, &element);
    const eddy_shape  shape = eddy_shape_of(like);
    return eddy_one_hot(at, shape.dim[0], .dtype = eddy_dtype_of(like));
}
static void flawed_gradient(eddy_rule *rule)
{
    const eddy_tensor dy = rule->dy[0];
    rule->dx[0] = Mul(dy, rule->x[1]);
    rule->dx[1] = Mul(dy, Add(rule->x[0], one_at(rule->x[1], 3)));
}
static const eddy_op_def flawed_op = {
    .name = "Flawed", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .infer = same_infer,
    .kernel = flawed_kernel, .gradient = flawed_gradient,
};

/* y = x^3, whose first derivative is an op with a wrong gradient. */
static eddy_status cube_kernel(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < k->out[0]->count; i++) y[i] = x[i] * x[i] * x[i];
    return EDDY_OK;
}
static eddy_status slope_kernel(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < k->out[0]->count; i++) y[i] = 3 * x[i] * x[i];
    return EDDY_OK;
}
static void slope_gradient(eddy_rule *rule)
{
    rule->dx[0] = Mul(rule->dy[0], Mul(5, rule->x[0]));        /* 6 would be right */
}
static const eddy_op_def slope_op = {
    .name = "CubeSlope", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = same_infer,
    .kernel = slope_kernel, .gradient = slope_gradient,
};
static void cube_gradient(eddy_rule *rule)
{
    rule->dx[0] = Mul(rule->dy[0], eddy_apply1(&slope_op, NULL, rule->x[0]));
}
static const eddy_op_def cube_op = {
    .name = "Cube", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = same_infer,
    .kernel = cube_kernel, .gradient = cube_gradient,
};

/* ------------------------------------------------------------ right rules -- */

START_TEST(right_ops)
{
    const eddy_tensor x = matrix(g, 2, 3, (double[]){ 0.1, -0.4, 0.7, 1.1, -1.3, 0.9 });
    const eddy_tensor w = matrix(g, 3, 2, (double[]){ 0.3, 0.2, -0.6, 0.8, 0.5, -0.1 });
    const eddy_tensor y = eddy_softmax(MatMul(eddy_tanh(x), w));
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x, w), .report = &r, .order = 2));
    ck_assert_double_lt(r.absolute, 1e-8);
    ck_assert_double_lt(eddy_gradient_error(s, EDDY_LIST(y), EDDY_LIST(x, w)), 1e-8);
    agrees(eddy_gradient_check(s, EDDY_LIST(Sum(Mul(y, y)), eddy_exp(w)), EDDY_LIST(w),
                               .report = &r));
    ck_assert_int_eq(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x)), EDDY_OK);
}
END_TEST

/* Through a network in float32, its weights variables, its input fed. */
START_TEST(network_of_variables)
{
    const network net = network_build(g);
    eddy_array   *batch = network_batch(4);
    runs(s, net.init);
    agrees(eddy_gradient_check(s, EDDY_LIST(net.loss), EDDY_LIST(net.w1, net.b1, net.w2, net.x),
                               EDDY_FEED({ net.x, batch }), .report = &r));
    eddy_array_free(batch);
}
END_TEST

/* One x built from the other: all ways from x to y count. */
START_TEST(nested)
{
    const eddy_tensor x = vector(g, 2, (double[]){ 0.5, 2 }), z = eddy_exp(x);
    agrees(eddy_gradient_check(s, EDDY_LIST(Mul(x, z)), EDDY_LIST(x, z, x), .report = &r,
                               .order = 2));
}
END_TEST

START_TEST(large)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(40, 50));
    for (int64_t i = 0; i < 2000; i++) eddy_array_set(a, i, sin((double)i));
    const eddy_tensor big = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    agrees(eddy_gradient_check(s, EDDY_LIST(eddy_tanh(big)), EDDY_LIST(big), .report = &r));
    const eddy_tensor flat = eddy_reshape(big, EDDY_SHAPE(2000));
    const eddy_tensor bad = eddy_apply2(&flawed_op, NULL, flat, flat);
    disagrees(eddy_gradient_check(s, EDDY_LIST(bad), EDDY_LIST(big), .report = &r), "Flawed", 0, 3);
}
END_TEST

/* --------------------------------------------------------------- wrong ones -- */

START_TEST(wrong_element)
{
    const eddy_tensor a = vector(g, 5, (double[]){ 1, 2, 3, 4, 5 });
    const eddy_tensor b = vector(g, 5, (double[]){ 2, 1, 2, 1, 2 });
    const eddy_tensor y = eddy_apply2(&flawed_op, NULL, eddy_exp(a), eddy_tanh(b));
    disagrees(eddy_gradient_check(s, EDDY_LIST(Sum(Square(y))), EDDY_LIST(a, b), .report = &r),
              "Flawed", 1, 3);
    ck_assert_double_eq_tol(r.analytic - r.numeric, 1, 1e-6);
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(a), .report = &r));
    ck_assert_double_gt(eddy_gradient_error(s, EDDY_LIST(y), EDDY_LIST(b)), 0.05);
}
END_TEST

START_TEST(wrong_second)
{
    const eddy_tensor x = vector(g, 3, (double[]){ 1, 2, 3 });
    const eddy_tensor y = eddy_apply1(&cube_op, NULL, x);
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r));
    disagrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r, .order = 2),
              "CubeSlope", 0, 2);
    ck_assert_int_eq(r.order, 2);
    ck_assert_double_eq_tol(r.analytic, 15, 1e-6);
    ck_assert_double_eq_tol(r.numeric, 18, 1e-6);
}
END_TEST

/* A stopped gradient differs from finite differences. */
START_TEST(stopped)
{
    const eddy_tensor x = real(g, 3), y = Mul(x, eddy_stop_gradient(x));
    disagrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r), "StopGradient", 0,
              0);
}
END_TEST

/* ---------------------------------------------------------------- variables -- */

static eddy_tensor variable_of(eddy_tensor initial)
{
    const eddy_tensor v = eddy_variable(g, initial);
    runs(s, eddy_initializer(g));
    return v;
}

/* A read by reference moves with the variable; in the session it keeps its value. */
START_TEST(variable_read)
{
    const double      values[] = { 0.5, -1, 2 };
    const eddy_tensor v = variable_of(vector(g, 3, values)), read = eddy_read(v);
    agrees(eddy_gradient_check(s, EDDY_LIST(Mul(v, eddy_exp(read))), EDDY_LIST(v), .report = &r,
                               .order = 2));
    ck_assert_double_gt(r.relative, 0);
    agrees(eddy_gradient_check(s, EDDY_LIST(Mul(v, read)), EDDY_LIST(v, read), .report = &r,
                               .order = 2));
    has(s, v, 3, values);
    const eddy_tensor z = variable_of(complex_vector(2, EDDY_COMPLEX128));
    agrees(eddy_gradient_check(s, EDDY_LIST(Mul(Conj(z), eddy_read(z))), EDDY_LIST(z),
                               .report = &r, .order = 2));
    const eddy_tensor five = vector(g, 5, (double[]){ 1, 2, 3, 4, 5 }), w = variable_of(five);
    const eddy_tensor bad = eddy_apply2(&flawed_op, NULL, eddy_read(w), eddy_read(w));
    disagrees(eddy_gradient_check(s, EDDY_LIST(bad), EDDY_LIST(w), .report = &r), "Flawed", 1, 3);
    has(s, w, 5, (double[]){ 1, 2, 3, 4, 5 });
}
END_TEST

/* An op that takes a variable by reference and has no gradient is the one at fault. */
START_TEST(variable_by_reference)
{
    const eddy_tensor v = variable_of(vector(g, 2, (double[]){ 1, 2 }));
    const eddy_tensor y = Mul(v, eddy_initialized_value(v));
    disagrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(v), .report = &r),
              "InitializedValue", 0, 0);
    ck_assert_double_eq_tol(r.numeric, 1, 1e-6);
    has(s, v, 2, (double[]){ 1, 2 });
}
END_TEST

/* With or without a value in the session; readers see the fed value. */
START_TEST(variable_fed)
{
    eddy_array       *fed = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 3, 4 });
    const eddy_tensor v = variable_of(vector(g, 2, (double[]){ 1, 2 }));
    const eddy_tensor w = eddy_variable(g, vector(g, 2, (double[]){ 1, 2 }));
    const eddy_list   ys = EDDY_LIST(Square(eddy_read(v)), Mul(v, w), eddy_sqrt(w), eddy_read(w));
    agrees(eddy_gradient_check(s, ys, EDDY_LIST(v, w), EDDY_FEED({ v, fed }, { w, fed }),
                               .report = &r, .order = 2));
    has(s, v, 2, (double[]){ 1, 2 });
    ck_assert_ptr_null(eddy_variable_value(s, w));
    agrees(eddy_gradient_check(s, EDDY_LIST(Mul(v, w)), EDDY_LIST(v), EDDY_FEED({ w, fed }),
                               .report = &r));
    ck_assert_int_eq(eddy_gradient_check(s, ys, EDDY_LIST(v, w), .report = &r),
                     EDDY_UNINITIALIZED);
    ck_assert_ptr_nonnull(strstr(r.text, "uninitialized"));
    has(s, v, 2, (double[]){ 1, 2 });
    eddy_array_free(fed);
}
END_TEST

/* Updates among the ancestors of ys do not change the variables of the caller's session. */
START_TEST(variable_updated)
{
    const eddy_tensor v = variable_of(vector(g, 2, (double[]){ 1, 2 }));
    const eddy_tensor count = variable_of(real(g, 5));
    const eddy_tensor more = eddy_assign_add(count, real(g, 1));
    eddy_control_begin(g, EDDY_LIST(more));
    const eddy_tensor y = Square(eddy_read(v));
    eddy_control_end(g);
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(v), .report = &r));
    ck_assert_int_eq(eddy_gradient_check(s, EDDY_LIST(Mul(v, more)), EDDY_LIST(v), .report = &r),
                     EDDY_CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(r.text, "between runs"));
    ck_assert_double_eq(number(s, count), 5);
}
END_TEST

/* ------------------------------------------------------------------ corners -- */

START_TEST(nothing_to_move)
{
    const eddy_tensor x = vector(g, 2, (double[]){ 1, 2 }), y = vector(g, 1, (double[]){ 5 });
    const eddy_tensor none = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0, 3));
    const eddy_tensor whole = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 2 });
    agrees(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r, .order = 2));
    agrees(eddy_gradient_check(s, EDDY_LIST(Square(none)), EDDY_LIST(none), .report = &r));
    agrees(eddy_gradient_check(s, EDDY_LIST(whole), EDDY_LIST(whole), .report = &r, .order = 2));
    agrees(eddy_gradient_check(s, EDDY_LIST(Square(eddy_cast(whole, EDDY_FLOAT64))),
                               EDDY_LIST(whole, x), .report = &r));
    ck_assert_double_eq(r.absolute, 0);
}
END_TEST

static void cubed(eddy_rule *rule)
{
    rule->dx[0] = Mul(rule->dy[0], Mul(3, Square(rule->x[0])));
}
static void doubled(eddy_rule *rule) { rule->dx[0] = Mul(2, rule->dy[0]); }
static int cubes(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor cube = Mul(x.at[0], Square(x.at[0]));
    eddy_custom_gradient(EDDY_LIST(cube), x, y, cubed, .name = "mapped");
    return 1;
}

/* A custom gradient applies to the nodes between its x and y; nodes that the gradients bypass are
 * not looked at.  Two that are right and one that is not: only that is named. */
START_TEST(custom_gradients)
{
    const eddy_tensor   a = vector(g, 5, (double[]){ 0.6, 0.7, 0.8, 0.9, 1 });
    const eddy_tensor   w = eddy_apply2(&flawed_op, NULL, a, Square(a));
    const eddy_function f = { .build = cubes };
    eddy_tensor         right, wrong, mapped;
    eddy_custom_gradient(EDDY_LIST(w), EDDY_LIST(a), &right, cubed, .name = "right");
    agrees(eddy_gradient_check(s, EDDY_LIST(right), EDDY_LIST(a), .report = &r));
    eddy_vmap(f, EDDY_LIST(right), &mapped);
    eddy_custom_gradient(EDDY_LIST(Mul(3, mapped)), EDDY_LIST(mapped), &wrong, doubled,
                         .name = "wrong");
    const eddy_status status =
        eddy_gradient_check(s, EDDY_LIST(wrong), EDDY_LIST(a), .report = &r);
    ck_assert_msg(strstr(r.text, "gradient 'wrong' of 'mul"), "%s", r.text);
    ck_assert_msg(!strstr(r.text, "'right'") && !strstr(r.text, "vmap_gradient"), "%s", r.text);
    ck_assert_msg(!strstr(r.text, "Flawed"), "%s", r.text);
    ck_assert_str_eq(r.gradient, "wrong");
    disagrees(status, "IdentityN", 0, r.element);
}

static int halves(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_custom_gradient(EDDY_LIST(Mul(0.5, x.at[0])), x, y, doubled, .name = "halves");
    return 1;
}

/* Whether the wrong custom gradient comes first, or is that of a mapped function, only its name
 * is in the report. */
START_TEST(wrong_custom_gradients)
{
    const eddy_tensor   a = vector(g, 3, (double[]){ 0.6, 0.7, 0.8 });
    const eddy_function f = { .build = halves };
    eddy_tensor         right, wrong, mapped;
    eddy_custom_gradient(EDDY_LIST(Mul(3, a)), EDDY_LIST(a), &wrong, doubled, .name = "wrong");
    eddy_custom_gradient(EDDY_LIST(Mul(wrong, Square(wrong))), EDDY_LIST(wrong), &right, cubed,
                         .name = "right");
    eddy_status status = eddy_gradient_check(s, EDDY_LIST(right), EDDY_LIST(a), .report = &r);
    ck_assert_str_eq(r.gradient, "wrong");
    ck_assert_msg(strstr(r.text, "gradient 'wrong' of 'mul'") && !strstr(r.text, "'right'"), "%s",
                  r.text);
    disagrees(status, "IdentityN", 0, r.element);

    eddy_custom_gradient(EDDY_LIST(Mul(a, Square(a))), EDDY_LIST(a), &right, cubed,
                         .name = "right");
    eddy_vmap(f, EDDY_LIST(right), &mapped);
    status = eddy_gradient_check(s, EDDY_LIST(mapped), EDDY_LIST(a), .report = &r);
    ck_assert_str_eq(r.gradient, "halves");
    ck_assert_msg(strstr(r.text, "gradient 'halves' of 'vmap/mul'") && !strstr(r.text, "'right'"),
                  "%s", r.text);
    disagrees(status, "IdentityN", 0, r.element);
}
END_TEST

START_TEST(not_finite)
{
    const eddy_tensor x = real(g, 0), y = eddy_sqrt(x);
    ck_assert_int_eq(eddy_gradient_check(s, EDDY_LIST(y), EDDY_LIST(x), .report = &r),
                     EDDY_CHECK_FAILED);
    ck_assert(isinf(r.absolute) && isinf(r.relative));
    ck_assert(isinf(eddy_gradient_error(s, EDDY_LIST(y), EDDY_LIST(x))));
}
END_TEST

/* Each line of the report is a line of the file. */
static void says(eddy_status status, eddy_status want)
{
    ck_assert_str_eq(eddy_status_name(status), eddy_status_name(want));
    for (char *line = strtok(r.text, "\n"); line; line = strtok(NULL, "\n")) golden_line(line);
    eddy_string_free(r.text);
    r.text = NULL;
    eddy_graph_clear_error(g);
}

START_TEST(messages)
{
    const eddy_tensor x = vector(g, 2, (double[]){ 1, 2 });
    const eddy_tensor fed = eddy_placeholder(g, "fed", EDDY_FLOAT64, EDDY_SHAPE(2));
    const eddy_tensor noise = eddy_random_uniform(g, EDDY_SHAPE(2), .dtype = EDDY_FLOAT64);
    const eddy_tensor z = complex_vector(2, EDDY_COMPLEX128);
    eddy_graph       *other = eddy_graph_new();
    eddy_session     *foreign = eddy_session_new(other);
    const eddy_tensor a = vector(g, 5, (double[]){ 1, 2, 3, 4, 5 });
    const eddy_tensor bad = eddy_apply2(&flawed_op, NULL, a, Mul(2, a)), nothing = EDDY_ZERO_TENSOR;
    const eddy_list   to = EDDY_LIST(x), none = EDDY_LIST();
    golden_begin("autodiff/gradient_check");
    says(eddy_gradient_check(s, to, to, .report = &r), EDDY_OK);
    says(eddy_gradient_check(s, EDDY_LIST(bad), EDDY_LIST(a), .report = &r), EDDY_CHECK_FAILED);
    says(eddy_gradient_check(s, EDDY_LIST(Mul(x, noise)), to, .report = &r), EDDY_CHECK_FAILED);
    says(eddy_gradient_check(s, EDDY_LIST(Mul(x, fed)), to, .report = &r), EDDY_NOT_FED);
    says(eddy_gradient_check(s, EDDY_LIST(eddy_apply1(&drop_op, NULL, z)), EDDY_LIST(z),
                             .report = &r), EDDY_CHECK_FAILED);
    says(eddy_gradient_check(s, none, to, .report = &r), EDDY_INVALID_ARGUMENT);
    says(eddy_gradient_check(s, to, none, .report = &r), EDDY_INVALID_ARGUMENT);
    says(eddy_gradient_check(s, to, EDDY_LIST(nothing), .report = &r), EDDY_INVALID_ARGUMENT);
    says(eddy_gradient_check(s, to, to, .order = 3, .report = &r), EDDY_INVALID_ARGUMENT);
    says(eddy_gradient_check(s, to, to, .delta = 0, .report = &r), EDDY_INVALID_ARGUMENT);
    says(eddy_gradient_check(s, to, to, { -1, NULL }, .report = &r), EDDY_INVALID_ARGUMENT);
    says(eddy_gradient_check(NULL, to, to, .report = &r), EDDY_INVALID_ARGUMENT);
    real(other, 1);
    says(eddy_gradient_check(foreign, to, to, .report = &r), EDDY_INVALID_ARGUMENT);
    eddy_session_close(foreign);
    says(eddy_gradient_check(foreign, to, to, .report = &r), EDDY_CLOSED);
    golden_end();
    eddy_session_free(foreign);
    eddy_graph_free(other);
    ck_assert(isnan(eddy_gradient_error(s, none, none)));
}
END_TEST

/* Whichever allocation fails, the check ends and releases all memory. */
START_TEST(without_memory)
{
    failing_allocator f;
    eddy_status       status = EDDY_NO_MEMORY;
    for (long at = 1; status == EDDY_NO_MEMORY; at++) {
        failing_allocator_init(&f);
        eddy_graph       *h = eddy_graph_new(&f.table);
        eddy_session     *t = eddy_session_new(h);
        const eddy_tensor x = eddy_variable(h, vector(h, 3, (double[]){ 1, 2, 3 }));
        const eddy_tensor y = Sum(eddy_apply1(&cube_op, NULL, eddy_read(x)));
        runs(t, eddy_initializer(h));
        f.at = f.calls + at;
        status = eddy_gradient_check(t, EDDY_LIST(y), EDDY_LIST(x), .report = &r, .order = 2);
        if (status == EDDY_NO_MEMORY) ck_assert_ptr_nonnull(strstr(r.text, "memory"));
        eddy_string_free(r.text);
        const bool failed = f.calls >= f.at;
        f.at = 0;
        eddy_array *value = eddy_variable_value(t, x);
        ck_assert_double_eq(eddy_array_get(value, 2), 3);
        eddy_array_free(value);
        eddy_session_free(t);
        eddy_graph_free(h);
        ck_assert_int_eq(f.live, 0);
        if (!failed) break;
        status = EDDY_NO_MEMORY;
    }
    ck_assert_int_eq(status, EDDY_CHECK_FAILED);
    r.text = NULL;
}
END_TEST

Suite *gradient_check_suite(void)
{
    Suite *suite = suite_create("gradient_check");
    TCase *t = tcase_create("checks");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, right_ops);
    tcase_add_test(t, network_of_variables);
    tcase_add_test(t, nested);
    tcase_add_test(t, large);
    tcase_add_test(t, wrong_element);
    tcase_add_test(t, wrong_second);
    tcase_add_test(t, stopped);
    tcase_add_test(t, variable_read);
    tcase_add_test(t, variable_by_reference);
    tcase_add_test(t, variable_fed);
    tcase_add_test(t, variable_updated);
    tcase_add_test(t, nothing_to_move);
    tcase_add_test(t, custom_gradients);
    tcase_add_test(t, wrong_custom_gradients);
    tcase_add_test(t, not_finite);
    tcase_add_test(t, messages);
    tcase_add_test(t, without_memory);
    suite_add_tcase(suite, t);
    return suite;
}
