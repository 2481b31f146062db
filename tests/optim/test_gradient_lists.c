/* test_gradient_lists.c -- clipping the gradients of pairs. Cases called C-13 and so on restate
 * TensorFlow's behavior; test_clip.c tests the same for tensors. */
#include "tests/lib/element_checks.h"

Suite *gradient_lists_suite(void);

/* x0 = [[-2,0,0],[4,0,0]], none, and x1 = [1,-2], dense or as rows 3 and 4 of ten. */
static eddy_gradient_pair pairs[3];

static eddy_tensor variable(eddy_dtype d, eddy_shape shape, const double *x)
{
    return eddy_variable(g, .initial_value = shaped(d, shape, x));
}

static void make_pairs(bool sparse)
{
    static const double zeros[10] = { 0 };
    const eddy_shape shape = EDDY_SHAPE(2, 3), rows = EDDY_SHAPE(sparse ? 10 : 2);
    eddy_tensor values = vec(F32, V(1, -2));
    pairs[0].gradient = shaped(F32, shape, (double[]){ -2, 0, 0, 4, 0, 0 });
    pairs[0].variable = variable(F32, shape, zeros);
    pairs[1] = (eddy_gradient_pair){ .variable = variable(F32, rows, zeros) };
    pairs[2].variable = variable(F32, rows, zeros);
    pairs[2].gradient = !sparse ? values
                      : eddy_indexed_slices(values, vec(EDDY_INT32, V(3, 4)), pairs[2].variable);
}

static eddy_tensor rows_of(eddy_tensor slices)
{
    eddy_tensor v, i;
    return eddy_slices_parts(slices, &v, &i) ? v : slices;
}

static void message(eddy_status status, const char *text)
{
    refused((eddy_tensor){ .graph = g }, status, text);
}

/* C-01 and C-05: the rows that slices hold. */
START_TEST(c05_by_value)
{
    make_pairs(_i);
    eddy_clip_gradients_by_value(pairs, 3, num(F64, -1.5), num(F64, 0.5));
    IS(pairs[0].gradient, -1.5, 0, 0, 0.5, 0, 0);
    IS(rows_of(pairs[2].gradient), 0.5, -1.5);
    ck_assert_int_eq(strcmp(eddy_type_of(pairs[2].gradient), "IndexedSlices") == 0, _i);
    ck_assert_int_eq(pairs[1].gradient.node, 0);
}
END_TEST

/* C-11: each by itself. */
START_TEST(c11_by_norm)
{
    make_pairs(_i);
    eddy_clip_gradients_by_norm(pairs, 3, num(F64, 2));
    NEAR(pairs[0].gradient, -2 / sqrt(5), 0, 0, 4 / sqrt(5), 0, 0);
    NEAR(rows_of(pairs[2].gradient), 2 / sqrt(5), -4 / sqrt(5));
    ck_assert_int_eq(strcmp(eddy_type_of(pairs[2].gradient), "IndexedSlices") == 0, _i);
}
END_TEST

/* C-13, C-15; C-17 with 6. */
START_TEST(c13_c15_by_global_norm)
{
    make_pairs(_i);
    IS(eddy_gradients_global_norm(pairs, 3), 5);
    IS(eddy_clip_gradients_by_global_norm(pairs, 3, num(F64, 6)), 5);
    NEAR(pairs[0].gradient, -2, 0, 0, 4, 0, 0);
    IS(eddy_clip_gradients_by_global_norm(pairs, 3, num(F64, 4)), 5);
    NEAR(pairs[0].gradient, -1.6, 0, 0, 3.2, 0, 0);
    NEAR(rows_of(pairs[2].gradient), 0.8, -1.6);
    ck_assert_int_eq(strcmp(eddy_type_of(pairs[2].gradient), "IndexedSlices") == 0, _i);
    ck_assert_int_eq(pairs[1].gradient.node, 0);
}
END_TEST

/* C-19 */
START_TEST(c19_by_average_norm)
{
    make_pairs(false);
    pairs[0].gradient = shaped(F32, EDDY_SHAPE(2, 3), (double[]){ -3, 0, 0, 4, 0, 0 });
    eddy_clip_gradients_by_average_norm(pairs, 3, num(F64, 0.8));
    NEAR(pairs[0].gradient, -2.88, 0, 0, 3.84, 0, 0);
    NEAR(pairs[2].gradient, 1.6 / sqrt(5), -3.2 / sqrt(5));
}
END_TEST

/* A whole step: the gradients of a loss, clipped, move the variables. */
START_TEST(in_a_step)
{
    eddy_tensor v = variable(F64, EDDY_SHAPE(2), (double[]){ 3, 4 });
    eddy_tensor w = variable(F64, EDDY_SCALAR, (double[]){ 12 });
    eddy_tensor loss = Mul(0.5, Add(Sum(Square(v)), Square(w)));
    eddy_optimizer *o = eddy_gradient_descent(g, num(F64, 1));
    ck_assert_int_eq(eddy_compute_gradients(o, loss, pairs, 3, EDDY_LIST(v, w)), 2);
    eddy_clip_gradients_by_global_norm(pairs, 2, num(F64, 6.5));
    eddy_tensor train = eddy_apply_gradients(o, pairs, 2);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(train), NULL);
    eddy_array *a = eddy_fetch(s, v), *b = eddy_fetch(s, w);
    ck_assert_double_eq_tol(eddy_array_get(a, 0), 1.5, 1e-12);
    ck_assert_double_eq_tol(eddy_array_get(a, 1), 2, 1e-12);
    ck_assert_double_eq_tol(eddy_array_item(b), 6, 1e-12);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_session_free(s);
}
END_TEST

/* --------------------------------------------------------------- adaptive -- */

/* The norm of all elements of x, n by columns, that lie in one column. */
static double norm_of(const double *x, int rows, int columns, int column)
{
    double sum = 0;
    for (int i = 0; i < rows; i++) sum += x[i * columns + column] * x[i * columns + column];
    return sqrt(sum);
}

/* The definition in loops: units are the columns if all axes except the last are joined to one. */
static void adaptive(eddy_shape shape, int rows, int columns, double clip, double epsilon)
{
    double w[ROOM], dw[ROOM], want[ROOM];
    for (int i = 0; i < rows * columns; i++) {
        w[i] = i % columns == 1 ? 0 : uniform(-1, 1);
        dw[i] = want[i] = i % columns == 2 ? 0 : uniform(-0.05, 0.05);
    }
    for (int c = 0; c < columns; c++) {
        const double most = clip * fmax(norm_of(w, rows, columns, c), epsilon);
        const double norm = norm_of(dw, rows, columns, c);
        for (int i = 0; norm > most && i < rows; i++)
            want[i * columns + c] *= most / fmax(norm, 1e-6);
    }
    eddy_gradient_pair p[] = { { shaped(F64, shape, dw), variable(F64, shape, w) },
                               { .variable = variable(F64, shape, w) } };
    eddy_clip_gradients_adaptively(p, 2, num(F64, clip), num(F64, epsilon));
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_array *y = eddy_fetch(s, p[0].gradient);
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    for (int i = 0; i < rows * columns; i++)
        ck_assert_double_eq_tol(eddy_array_get(y, i), want[i], 1e-14);
    eddy_array_free(y);
    eddy_session_free(s);
    ck_assert_int_eq(p[1].gradient.node, 0);
}

START_TEST(adaptive_clipping)
{
    adaptive(EDDY_SHAPE(5, 4), 5, 4, 0.02, 1e-3);          /* columns of a dense layer */
    adaptive(EDDY_SHAPE(2, 2, 3, 4), 12, 4, 0.1, 1e-3);    /* filters of a convolution */
    adaptive(EDDY_SHAPE(6), 6, 1, 0.02, 0.5);              /* a bias is one unit */
    adaptive(EDDY_SCALAR, 1, 1, 0.01, 1e-3);
}
END_TEST

/* Slices count as the whole gradient; numbers left out are the paper's. */
START_TEST(adaptive_clipping_of_slices)
{
    eddy_tensor v = variable(F64, EDDY_SHAPE(3, 2), (double[]){ 3, 0, 4, 0, 0, 0 });
    eddy_tensor rows = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 3, 1, 1, 1 });
    eddy_gradient_pair p = { eddy_indexed_slices(rows, vec(EDDY_INT32, V(2, 2)), v), v };
    eddy_clip_gradients_adaptively(&p, 1);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_array *y = eddy_fetch(s, p.gradient);
    const double want[] = { 0, 0, 0, 0, 0.05, 1e-5 };
    /* The default is 0.01 of float32. */
    for (int i = 0; i < 6; i++) ck_assert_double_eq_tol(eddy_array_get(y, i), want[i], 1e-8);
    eddy_array_free(y);
    eddy_session_free(s);
}
END_TEST

/* Through clipping, where units of the variable and of its gradient are 0. */
START_TEST(adaptive_clipping_of_zeros)
{
    eddy_tensor v = variable(F64, EDDY_SHAPE(2, 2), (double[]){ 3, 0, 4, 0 });
    eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 0, 0, 0, 0 });
    eddy_gradient_pair p = { x, v };
    eddy_clip_gradients_adaptively(&p, 1, num(F64, 0.01), num(F64, 0.001));
    eddy_tensor dx = slope(p.gradient, x), dv = slope(p.gradient, v);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_array *by_x = eddy_fetch(s, dx), *by_v = eddy_fetch(s, dv);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(eddy_array_get(by_x, i), 1);
        ck_assert_double_eq(eddy_array_get(by_v, i), 0);
    }
    eddy_array_free(by_x);
    eddy_array_free(by_v);
    eddy_session_free(s);
}
END_TEST

/* ----------------------------------------------------------------- errors -- */

START_TEST(nothing_to_clip)
{
    make_pairs(false);
    pairs[0].gradient.node = pairs[2].gradient.node = 0;
    eddy_clip_gradients_by_norm(pairs, 3, num(F32, 1));
    eddy_clip_gradients_adaptively(pairs, 3);
    eddy_clip_gradients_by_value(NULL, 3, num(F32, 1), num(F32, 1));
    ck_assert(!eddy_is_valid(eddy_clip_gradients_by_global_norm(pairs, 0, num(F32, 1))));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    refused(eddy_gradients_global_norm(pairs, 3), EDDY_INVALID_ARGUMENT, "no pair has a gradient");
}
END_TEST

START_TEST(errors)
{
    make_pairs(false);
    const eddy_tensor one = num(F32, 1), none = { 0 };
    eddy_clip_gradients_by_norm(pairs, 3, none);
    message(EDDY_INVALID_ARGUMENT, "_by_norm: the bound is not a tensor of this graph");
    eddy_clip_gradients_by_value(pairs, 3, one, vec(F32, V(1, 2)));
    message(EDDY_BAD_SHAPE, "the upper bound has shape [2]; expected a scalar");
    eddy_clip_gradients_adaptively(pairs, 3, vec(F32, V(1, 2)));
    message(EDDY_BAD_SHAPE, "clip_gradients_adaptively: clip has shape [2]; expected a scalar");
    pairs[0].variable.node = 0;
    eddy_clip_gradients_adaptively(pairs, 3);
    message(EDDY_INVALID_ARGUMENT, "pair 0 has no variable of this graph");
    pairs[2].gradient.node = 12345;
    eddy_clip_gradients_by_norm(pairs, 3, one);
    message(EDDY_INVALID_ARGUMENT, "the gradient of pair 2 is not a tensor of this graph");
    ck_assert(!eddy_is_valid(eddy_gradients_global_norm(pairs, 3)));
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

Suite *gradient_lists_suite(void)
{
    Suite *s = suite_create("gradient_lists");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
    tcase_add_loop_test(c, c05_by_value, 0, 2);
    tcase_add_loop_test(c, c11_by_norm, 0, 2);
    tcase_add_loop_test(c, c13_c15_by_global_norm, 0, 2);
    tcase_add_test(c, c19_by_average_norm);
    tcase_add_test(c, in_a_step);
    tcase_add_test(c, adaptive_clipping);
    tcase_add_test(c, adaptive_clipping_of_slices);
    tcase_add_test(c, adaptive_clipping_of_zeros);
    tcase_add_test(c, nothing_to_clip);
    tcase_add_test(c, errors);
    return s;
}
