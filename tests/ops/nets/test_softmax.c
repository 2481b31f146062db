/* test_softmax.c -- softmax, its logarithm and the losses: values against plain loops, gradients
 * against finite differences and known values.
 *
 * Cases called M-27 and so on, and what is marked "corner", restate TensorFlow's
 * behavior in small numbers. */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"

Suite *softmax_suite(void);

static const eddy_dtype I32 = EDDY_INT32, I64 = EDDY_INT64;

enum { SOFTMAX, LOG_SOFTMAX, DENSE, SPARSE, KINDS };

/* ------------------------------------------------- values against loops -- */

/* Elements in [-scale, scale), now and then -infinity; the first of each lane finite. */
static eddy_array *some_logits(trial *t, eddy_dtype d, eddy_shape s, int axis, double scale)
{
    eddy_array *x = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(s, i, at);
        const bool never = at[axis] > 0 && pick(t, 12) == 0;
        eddy_array_set(x, i, never ? -INFINITY : some_number(t, -scale, scale));
    }
    return x;
}

/* The logarithm of the softmax of x, lane by lane. */
static eddy_array *log_softmax_of(const eddy_array *x, int axis)
{
    const eddy_shape s = eddy_array_shape(x);
    eddy_array      *y = eddy_array_new(F64, s);
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        int64_t at[EDDY_MAX_RANK];
        double  top = -INFINITY, sum = 0;
        position(s, i, at);
        if (at[axis] > 0) continue;
        for (at[axis] = 0; at[axis] < s.dim[axis]; at[axis]++)
            top = fmax(top, eddy_array_get(x, place(s, at)));
        for (at[axis] = 0; at[axis] < s.dim[axis]; at[axis]++)
            sum += exp(eddy_array_get(x, place(s, at)) - top);
        for (at[axis] = 0; at[axis] < s.dim[axis]; at[axis]++)
            eddy_array_set(y, place(s, at), eddy_array_get(x, place(s, at)) - top - log(sum));
    }
    return y;
}

static void check_close(trial *t, eddy_tensor y, const eddy_array *want, double tolerance)
{
    eddy_array *a = value(t, y);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(want)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(close_to(eddy_array_get(a, i), eddy_array_get(want, i), tolerance),
                      "%s: element %d is %.17g, not %.17g", eddy_type_of(y), (int)i,
                      eddy_array_get(a, i), eddy_array_get(want, i));
    eddy_array_free(a);
}

static eddy_shape without(eddy_shape s, int axis)
{
    eddy_shape y = { .rank = 0 };
    for (int i = 0; i < s.rank; i++)
        if (i != axis) y.dim[y.rank++] = s.dim[i];
    return y;
}

static void one_softmax(trial *t, eddy_shape s, int axis, bool logarithm)
{
    const eddy_dtype d = pick(t, 2) ? F32 : F64;
    const eddy_dims  named = pick(t, 2) ? EDDY_AXES(axis) : EDDY_AXES(axis - s.rank);
    eddy_array *x = some_logits(t, d, s, axis, pick(t, 2) ? 2 : 200);
    eddy_array *want = log_softmax_of(x, axis);
    for (int64_t i = 0; i < eddy_array_count(x) && !logarithm; i++)
        eddy_array_set(want, i, exp(eddy_array_get(want, i)));
    /* A value without other readers may be overwritten. */
    const eddy_tensor in = pick(t, 2) ? Neg(Neg(fed(t, x))) : fed(t, x);
    const eddy_softmax_args a = *EDDY_ARGS(eddy_softmax_args, .x = in, .axis = named);
    check_close(t, logarithm ? eddy_log_softmax_with(&a) : eddy_softmax_with(&a), want,
                d == F32 ? 1e-6 : 1e-13);
    eddy_array_free(want);
}

/* Labels that give no weight to impossible classes. */
static eddy_array *some_labels(trial *t, const eddy_array *x)
{
    eddy_array *l = eddy_array_new(eddy_array_dtype(x), eddy_array_shape(x));
    for (int64_t i = 0; i < eddy_array_count(l); i++)
        eddy_array_set(l, i, isinf(eddy_array_get(x, i)) ? 0 : pick(t, 4) * 0.25);
    return l;
}

static void check_losses(trial *t, eddy_tensor loss, const eddy_array *want_loss,
                         const eddy_array *want_slope, double tolerance)
{
    check_close(t, loss, want_loss, tolerance);
    check_close(t, eddy_output(loss, 1), want_slope, tolerance);
}

static void one_dense_loss(trial *t, eddy_shape s, int axis)
{
    const eddy_dtype d = pick(t, 2) ? F32 : F64;
    eddy_array *x = some_logits(t, d, s, axis, pick(t, 2) ? 2 : 200), *labels = some_labels(t, x);
    eddy_array *loss = eddy_array_new(F64, without(s, axis)), *slopes = log_softmax_of(x, axis);
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        int64_t at[EDDY_MAX_RANK], lane_of[EDDY_MAX_RANK], n = 0;
        position(s, i, at);
        for (int k = 0; k < s.rank; k++)
            if (k != axis) lane_of[n++] = at[k];
        const int64_t lane_number = place(eddy_array_shape(loss), lane_of);
        const double  v = eddy_array_get(slopes, i), l = eddy_array_get(labels, i);
        eddy_array_set(slopes, i, exp(v) - l);
        if (l != 0)
            eddy_array_set(loss, lane_number, eddy_array_get(loss, lane_number) - l * v);
    }
    eddy_tensor y = eddy_softmax_cross_entropy(fed(t, labels), fed(t, x), .axis = EDDY_AXES(axis));
    check_losses(t, y, loss, slopes, d == F32 ? 1e-6 : 1e-13);
    eddy_array_free(loss);
    eddy_array_free(slopes);
}

static void one_sparse_loss(trial *t, eddy_shape s)
{
    const int        last = s.rank - 1;
    const eddy_dtype d = pick(t, 2) ? F32 : F64;
    eddy_array *x = some_logits(t, d, s, last, 20);
    eddy_array *labels = eddy_array_new(pick(t, 2) ? I32 : I64, without(s, last));
    eddy_array *loss = eddy_array_new(F64, without(s, last)), *slopes = log_softmax_of(x, last);
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        const int64_t row = i / s.dim[last], class = i % s.dim[last];
        const double  v = eddy_array_get(slopes, i);
        if (class == 0) eddy_array_set(labels, row, pick(t, (int)s.dim[last]));
        const bool here = eddy_array_get(labels, row) == (double)class;
        if (here) eddy_array_set(loss, row, -v);
        eddy_array_set(slopes, i, exp(v) - here);
    }
    eddy_tensor y = eddy_sparse_softmax_cross_entropy(fed(t, labels), fed(t, x));
    check_losses(t, y, loss, slopes, d == F32 ? 1e-6 : 1e-13);
    eddy_array_free(loss);
    eddy_array_free(slopes);
}

static void one_of_them(trial *t, eddy_shape s, int kind)
{
    const int axis = pick(t, s.rank);
    if (kind == DENSE) one_dense_loss(t, s, axis);
    else if (kind != SPARSE) one_softmax(t, s, axis, kind == LOG_SOFTMAX);
    else if (s.dim[s.rank - 1] > 0) one_sparse_loss(t, s);
}

START_TEST(values_against_loops)
{
    trial t = trial_begin((unsigned)_i);
    one_of_them(&t, some_shape(&t, 1, 5), _i % KINDS);
    trial_end(&t);
}
END_TEST

/* More lanes, and longer ones, than the kernels take at a time. */
static const eddy_shape large[] = {
    { 1, { 5000 } },      { 2, { 3, 4500 } }, { 2, { 700, 5 } }, { 2, { 300, 1 } },
    { 3, { 2, 6, 300 } }, { 3, { 40, 3, 2 } },
};
enum { LARGE = sizeof large / sizeof *large };

START_TEST(values_of_large_ones)
{
    trial t = trial_begin((unsigned)_i);
    one_of_them(&t, large[_i / KINDS % LARGE], _i % KINDS);
    trial_end(&t);
}
END_TEST

START_TEST(extremes)
{
    IS(eddy_softmax(vec(F32, V(1e30, 1e30))), 0.5, 0.5);
    IS(eddy_softmax(vec(F64, V(-1e300, 0, -INFINITY))), 0, 1, 0);
    IS(eddy_log_softmax(vec(F64, V(-1000, 0, -INFINITY))), -1000, 0, -INFINITY);
    IS(eddy_softmax(vec(F32, V(-INFINITY, -INFINITY))), NAN, NAN);
    IS(eddy_softmax(vec(F32, V(INFINITY, 0))), NAN, NAN);
    IS(eddy_log_softmax(vec(F32, V(NAN, 0))), NAN, NAN);
    IS(eddy_log_softmax(vec(F64, V(7))), 0);
    /* A label of 0 contributes nothing, whatever the logit. */
    eddy_tensor x = vec(F64, V(-INFINITY, 0)), z = vec(F64, V(0, 1));
    IS(eddy_softmax_cross_entropy(z, x), 0);
    IS(slope(eddy_softmax_cross_entropy(z, x), x), 0, 0);
    IS(eddy_sparse_softmax_cross_entropy(num(I32, 0), vec(F32, V(0, 1000))), 1000);
    double none[ROOM];
    ck_assert_int_eq(values(eddy_softmax(eddy_zeros(g, F32, EDDY_SHAPE(0, 3))), none), 0);
    ck_assert_int_eq(values(eddy_softmax(eddy_zeros(g, F32, EDDY_SHAPE(3, 0))), none), 0);
    eddy_tensor no_class = eddy_zeros(g, F32, EDDY_SHAPE(2, 0));
    IS(eddy_softmax_cross_entropy(no_class, no_class), 0, 0);
}
END_TEST

/* ------------------------------------------------------------ worked ones -- */

START_TEST(M_27_cross_entropy_of_one_row)
{
    eddy_tensor logits = shaped(F32, EDDY_SHAPE(1, 2), (double[]){ 0, 0 });
    eddy_tensor labels = shaped(F32, EDDY_SHAPE(1, 2), (double[]){ 1, 0 });
    eddy_tensor loss = eddy_mean(eddy_softmax_cross_entropy(labels, logits), .axes = EDDY_AXES(0));
    NEAR(loss, log(2));
    IS(slope(loss, logits), -0.5, 0.5);
    NEAR(slope(loss, labels), log(2), log(2));
    eddy_tensor sparse = eddy_mean(eddy_sparse_softmax_cross_entropy(vec(I64, V(0)), logits));
    NEAR(sparse, log(2));
    IS(slope(sparse, logits), -0.5, 0.5);
}
END_TEST

/* corner: softmax - labels even where labels do not sum to 1; and d/dlabels */
START_TEST(labels_of_another_sum)
{
    eddy_tensor x = vec(F64, V(log(1), log(3))), z = vec(F64, V(2, 1));
    eddy_tensor loss = eddy_softmax_cross_entropy(z, x);
    NEAR(loss, -2 * log(0.25) - log(0.75));
    NEAR(slope(loss, x), 0.25 - 2, 0.75 - 1);
    NEAR(slope(loss, z), -log(0.25), -log(0.75));
}
END_TEST

/* The backward pass is one product: the forward node has computed the rest. */
START_TEST(backward_reuses_the_forward_pass)
{
    eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor z = eddy_placeholder(g, "z", I32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor dx = slope(eddy_sparse_softmax_cross_entropy(z, x), x);
    ck_assert_str_eq(eddy_type_of(dx), "Mul");
    for (int i = 1; i <= eddy_graph_size(g); i++)
        ck_assert_str_ne(eddy_type_of(eddy_node_at(g, i)), "Softmax");
}
END_TEST

/* corner: 0.5 - z at logit 0; nothing lost far out */
START_TEST(sigmoid_cross_entropy_values)
{
    eddy_tensor x = vec(F64, V(0, 1000, 1000, -1000, -1000)), z = vec(F64, V(0.3, 1, 0, 1, 0));
    eddy_tensor loss = eddy_sigmoid_cross_entropy(z, x);
    NEAR(loss, log(2), 0, 1000, 1000, 0);
    NEAR(slope(loss, x), 0.5 - 0.3, 0, 1, -1, 0);
    IS(slope(loss, z), 0, -1000, -1000, 1000, 1000);
    eddy_tensor far = num(F32, 30), one = num(F32, 1), small = eddy_sigmoid_cross_entropy(one, far);
    near("loss", 1e-19, small, 1, (double[]){ 9.3576229688e-14 });
    near("slope", 1e-19, slope(small, far), 1, (double[]){ -9.3576229688e-14 });
    for (double v = -3; v <= 3; v += 0.5)
        for (double label = 0; label <= 1; label += 0.25) {
            const double s = 1 / (1 + exp(-v)), want = -label * log(s) - (1 - label) * log1p(-s);
            NEAR(eddy_sigmoid_cross_entropy(num(F64, label), num(F64, v)), want);
        }
}
END_TEST

/* corner: half the sum of squares */
START_TEST(l2_loss_values)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, -4 });
    IS(eddy_l2_loss(x), 15);
    IS(slope(eddy_l2_loss(x), x), 1, 2, 3, -4);
    IS(eddy_l2_loss(num(F64, 3)), 4.5);
    IS(eddy_l2_loss(eddy_zeros(g, F64, EDDY_SHAPE(0))), 0);
    IS(eddy_l2_loss(vec(F32, V(1e-30, NAN))), NAN);
}
END_TEST

/* -------------------------------------------------------------- gradients -- */

START_TEST(gradients_against_differences)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = { .rank = 1 + pick(&t, 3) };
    for (int i = 0; i < s.rank; i++) s.dim[i] = 1 + pick(&t, 4);
    const int       axis = pick(&t, s.rank), kind = _i % 6;
    const eddy_dims named = EDDY_AXES(axis);
    eddy_tensor x[2] = { fed_numbers(&t, s, -2, 2), fed_numbers(&t, s, 0, 1) }, y;
    if (kind == SOFTMAX) y = eddy_softmax(x[0], .axis = named);
    else if (kind == LOG_SOFTMAX) y = eddy_log_softmax(x[0], .axis = named);
    else if (kind == DENSE) {
        /* The gradient is that of labels that sum to 1, so these do. */
        const eddy_tensor labels = eddy_softmax(x[1], .axis = named);
        y = eddy_softmax_cross_entropy(labels, x[0], .axis = named);
    }
    else if (kind == SPARSE) {
        eddy_array *labels = eddy_array_new(I32, without(s, s.rank - 1));
        for (int64_t i = 0; i < eddy_array_count(labels); i++)
            eddy_array_set(labels, i, pick(&t, (int)s.dim[s.rank - 1]));
        y = eddy_sparse_softmax_cross_entropy(fed(&t, labels), x[0]);
    } else if (kind == 4) y = eddy_sigmoid_cross_entropy(x[1], x[0]);
    else y = eddy_l2_loss(x[0]);
    check_slopes(&t, y, kind == DENSE || kind == 4 ? 2 : 1, x, 3);
    if (kind == DENSE || kind == SPARSE) {
        const int n = kind == DENSE ? 2 : 1;
        const eddy_tensor loss = eddy_expand_dims(y, kind == DENSE ? axis : -1);
        check_slopes(&t, eddy_output(y, 1), n, x, 2);
        check_slopes(&t, Add(loss, eddy_output(y, 1)), n, x, 2);
    }
    trial_end(&t);
}
END_TEST

START_TEST(labels_have_no_gradient)
{
    eddy_tensor x = vec(F32, V(1, 2)), z = eddy_argmax(x);
    NEAR(slope(eddy_sparse_softmax_cross_entropy(z, x), x), 1 / (1 + exp(1)), -1 / (1 + exp(1)));
    ck_assert(!connected(eddy_sparse_softmax_cross_entropy(z, eddy_stop_gradient(x)), x));
}
END_TEST

/* -------------------------------------------------------------- refusals -- */

START_TEST(labels_out_of_range)
{
    static const double bad[] = { -1, 3, 2147483647, -2147483648.0 };
    eddy_array *out = NULL;
    eddy_tensor x = eddy_zeros(g, F32, EDDY_SHAPE(2, 3));
    eddy_tensor z = eddy_placeholder(g, "z", I32, EDDY_SHAPE(2));
    eddy_tensor y = eddy_sparse_softmax_cross_entropy(z, x);
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < 4; i++) {
        char label[32];
        eddy_array *a = array(I32, EDDY_SHAPE(2), (double[]){ 2, bad[i] });
        snprintf(label, sizeof label, "label %.0f ", bad[i]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ z, a }), EDDY_FETCH(y), &out), EDDY_OUT_OF_RANGE);
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), label));
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "is not in [0, 3)"));
        eddy_array_free(a);
    }
    ck_assert_ptr_null(out);
    eddy_session_free(s);
}
END_TEST

START_TEST(refusals)
{
    eddy_tensor x = eddy_zeros(g, F32, EDDY_SHAPE(2, 3)), y = eddy_zeros(g, F32, EDDY_SHAPE(3, 2));
    eddy_tensor z = eddy_zeros(g, I32, EDDY_SHAPE(3)), d = eddy_zeros(g, F64, EDDY_SHAPE(2, 3));
    refused(eddy_softmax(num(F32, 1)), EDDY_INVALID_ARGUMENT, "axis -1");
    refused(eddy_softmax(x, .axis = EDDY_AXES(2)), EDDY_INVALID_ARGUMENT, "axis 2");
    refused(eddy_softmax(x, .axis = EDDY_AXES(0, 1)), EDDY_INVALID_ARGUMENT, "one axis");
    refused(eddy_log_softmax(x, .axis = { .count = -1 }), EDDY_INVALID_ARGUMENT, "one axis");
    refused(eddy_softmax(z), EDDY_BAD_DTYPE, "int32");
    refused(eddy_softmax_cross_entropy(y, x), EDDY_BAD_SHAPE, "[3,2]");
    refused(eddy_softmax_cross_entropy(d, x), EDDY_BAD_DTYPE, "but logits is float32");
    refused(eddy_softmax_cross_entropy(x, x, .axis = EDDY_AXES(-3)), EDDY_INVALID_ARGUMENT, "-3");
    refused(eddy_sparse_softmax_cross_entropy(z, x), EDDY_BAD_SHAPE, "[3]");
    refused(eddy_sparse_softmax_cross_entropy(x, x), EDDY_BAD_DTYPE, "labels");
    refused(eddy_sparse_softmax_cross_entropy(num(I32, 1), num(F32, 1)), EDDY_BAD_SHAPE, "classes");
    refused(eddy_sigmoid_cross_entropy(vec(F32, V(0, 0, 0)), x), EDDY_BAD_SHAPE, "[3]");
    refused(eddy_sigmoid_cross_entropy(z, z), EDDY_BAD_DTYPE, "int32");
    refused(eddy_l2_loss(z), EDDY_BAD_DTYPE, "int32");
    const eddy_tensor nothing = EDDY_ZERO_TENSOR;
    ck_assert(!eddy_is_valid(eddy_softmax(nothing)));
    ck_assert(!eddy_is_valid(eddy_softmax_cross_entropy(nothing, x)));
    ck_assert(!eddy_is_valid(eddy_sigmoid_cross_entropy(x, nothing)));
}
END_TEST

START_TEST(static_shapes)
{
    char text[128];
    eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 5, EDDY_ANY));
    eddy_tensor z = eddy_placeholder(g, "z", F32, EDDY_SHAPE(4, EDDY_ANY, EDDY_ANY));
    eddy_tensor open = eddy_placeholder(g, "open", F32, EDDY_UNKNOWN_SHAPE);
    eddy_tensor rows = eddy_placeholder(g, "rows", I32, EDDY_SHAPE(7, EDDY_ANY));
#define HAS_SHAPE(t, want)                                                      \
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), text, sizeof text), want)
    HAS_SHAPE(eddy_softmax(x), "[?,5,?]");
    HAS_SHAPE(eddy_softmax_cross_entropy(z, x), "[4,5]");
    HAS_SHAPE(eddy_output(eddy_softmax_cross_entropy(z, x), 1), "[4,5,?]");
    HAS_SHAPE(eddy_softmax_cross_entropy(open, x, .axis = EDDY_AXES(1)), "[?,?]");
    HAS_SHAPE(eddy_softmax_cross_entropy(open, open), "?");
    HAS_SHAPE(eddy_sparse_softmax_cross_entropy(rows, x), "[7,5]");
    HAS_SHAPE(eddy_sparse_softmax_cross_entropy(rows, open), "[7,?]");
    HAS_SHAPE(eddy_output(eddy_sparse_softmax_cross_entropy(rows, open), 1), "[7,?,?]");
    HAS_SHAPE(eddy_sigmoid_cross_entropy(z, x), "[4,5,?]");
    HAS_SHAPE(eddy_l2_loss(open), "[]");
}
END_TEST

Suite *softmax_suite(void)
{
    Suite *suite = suite_create("softmax");
    TCase *values_case = tcase_create("values"), *gradient_case = tcase_create("gradients");
    tcase_add_checked_fixture(values_case, setup, teardown);
    tcase_add_checked_fixture(gradient_case, setup, teardown);
    tcase_add_loop_test(values_case, values_against_loops, 0, 400);
    tcase_add_loop_test(values_case, values_of_large_ones, 0, 2 * KINDS * LARGE);
    tcase_add_test(values_case, extremes);
    tcase_add_test(values_case, sigmoid_cross_entropy_values);
    tcase_add_test(values_case, l2_loss_values);
    tcase_add_test(values_case, labels_out_of_range);
    tcase_add_test(values_case, refusals);
    tcase_add_test(values_case, static_shapes);
    tcase_add_test(gradient_case, M_27_cross_entropy_of_one_row);
    tcase_add_test(gradient_case, labels_of_another_sum);
    tcase_add_test(gradient_case, backward_reuses_the_forward_pass);
    tcase_add_loop_test(gradient_case, gradients_against_differences, 0, 180);
    tcase_add_test(gradient_case, labels_have_no_gradient);
    suite_add_tcase(suite, values_case);
    suite_add_tcase(suite, gradient_case);
    return suite;
}
