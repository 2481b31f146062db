/* test_pooling.c -- pooling: values and gradients against plain loops in float64 and against
 * PyTorch, ties, NaN, limits.
 *
 * Numbers marked PyTorch are those of max_pool2d and avg_pool2d of its 1.13, without the
 * padding in the count; dy is 1, 2, 3, ... */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"
#include "graph/base/cpu.h"

Suite *pooling_suite(void);

/* ------------------------------------------------- values against loops -- */

typedef struct pooling {
    int64_t batch, in[2], c, ksize[2], step[2];
    bool    same, mean;
    int64_t out[2], before[2];
} pooling;

static void settle(pooling *p)
{
    for (int i = 0; i < 2; i++) {
        const int64_t n = p->in[i], k = p->ksize[i], s = p->step[i];
        p->out[i] = p->same ? (n + s - 1) / s : (n - k) / s + 1;
        const int64_t more = (p->out[i] - 1) * s + k - n;
        p->before[i] = p->same && more > 0 ? more / 2 : 0;
    }
}

/* Elements of x in the window of y[n, h, w, c]: their places; how many. */
static int window(const pooling *p, int64_t n, int64_t h, int64_t w, int64_t c, int64_t *place_of)
{
    int count = 0;
    for (int64_t i = 0; i < p->ksize[0]; i++)
        for (int64_t j = 0; j < p->ksize[1]; j++) {
            const int64_t r = h * p->step[0] - p->before[0] + i;
            const int64_t q = w * p->step[1] - p->before[1] + j;
            if (r < 0 || q < 0 || r >= p->in[0] || q >= p->in[1]) continue;
            place_of[count++] = ((n * p->in[0] + r) * p->in[1] + q) * p->c + c;
        }
    return count;
}

/* y and dx, and what the gradient of dx hands on of ddx. */
static void reference(const pooling *p, const double *x, const double *dy, const double *ddx,
                      double *y, double *dx, double *ddy)
{
    int64_t at[512];
    const int64_t each = p->out[0] * p->out[1] * p->c;
    for (int64_t i = 0; i < p->batch * each; i++) {
        const int64_t n = i / each, c = i % p->c, w = i / p->c % p->out[1];
        const int count = window(p, n, i % each / p->c / p->out[1], w, c, at);
        int       best = 0;
        for (int j = 1; j < count; j++) best = x[at[best]] < x[at[j]] ? j : best;
        y[i] = p->mean ? 0 : x[at[best]];
        ddy[i] = p->mean ? 0 : ddx[at[best]];
        for (int j = 0; j < count && p->mean; j++) {
            y[i] += x[at[j]] / count;
            dx[at[j]] += dy[i] / count;
            ddy[i] += ddx[at[j]] / count;
        }
        if (!p->mean) dx[at[best]] += dy[i];
    }
}

/* Few different numbers, so that there are ties. */
static double *drawn(trial *t, int64_t n)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = pick(t, 9) - 4;
    return v;
}

static void close_array(const char *what, eddy_array *got, const double *want)
{
    for (int64_t i = 0; i < eddy_array_count(got); i++)
        ck_assert_msg(fabs(eddy_array_get(got, i) - want[i]) <= 1e-5 * (1 + fabs(want[i])),
                      "%s %d is %.9g, not %.9g", what, (int)i, eddy_array_get(got, i), want[i]);
    eddy_array_free(got);
}

static void check_pooling(trial *t, pooling p)
{
    settle(&p);
    const eddy_shape sx = EDDY_SHAPE(p.batch, p.in[0], p.in[1], p.c);
    const eddy_shape sy = EDDY_SHAPE(p.batch, p.out[0], p.out[1], p.c);
    const int64_t    nx = eddy_shape_count(sx), ny = eddy_shape_count(sy);
    const eddy_dtype d = pick(t, 3) ? F32 : F64;
    double *x = drawn(t, nx), *dy = drawn(t, ny), *ddx = drawn(t, nx);
    double *y = calloc((size_t)ny + 1, 8), *dx = calloc((size_t)nx + 1, 8);
    double *ddy = calloc((size_t)ny + 1, 8);
    reference(&p, x, dy, ddx, y, dx, ddy);
    g = t->graph;
    const eddy_tensor in = fed(t, array(d, sx, x)), back = fed(t, array(d, sy, dy));
    const eddy_pool_nd_args a = *EDDY_ARGS(
        eddy_pool_nd_args, .x = in, .ksize = EDDY_DIMS(p.ksize[0], p.ksize[1]),
        .strides = EDDY_DIMS(p.step[0], p.step[1]), .padding = p.same ? "SAME" : "VALID");
    const eddy_tensor out = p.mean ? eddy_avg_pool2d_with(&a) : eddy_max_pool2d_with(&a);
    const eddy_tensor slopes = gradient_with(out, back, in);
    close_array("y", value(t, out), y);
    close_array("dx", value(t, slopes), dx);
    close_array("ddy", value(t, gradient_with(slopes, fed(t, array(d, sx, ddx)), back)), ddy);
    free(x), free(dy), free(ddx), free(y), free(dx), free(ddy);
}

START_TEST(values_are_those_of_plain_loops)
{
    static const int64_t channels[] = { 0, 1, 2, 3, 16, 17, 33, 300 };
    eddy__instructions_limit((eddy_instructions)(_i % 3));
    for (int i = 0; i < 12; i++) {
        trial   t = trial_begin((unsigned)(_i * 100 + i));
        pooling p = { .batch = pick(&t, 4), .same = pick(&t, 2), .mean = pick(&t, 2) };
        p.c = channels[pick(&t, 8)];
        for (int k = 0; k < 2; k++) {
            p.ksize[k] = pick(&t, 2) ? 2 : 1 + pick(&t, 4);
            p.step[k] = pick(&t, 2) ? p.ksize[k] : 1 + pick(&t, 4);
            p.in[k] = (p.same ? 0 : p.ksize[k]) + pick(&t, 7);
        }
        check_pooling(&t, p);
        trial_end(&t);
    }
    g = NULL;
}
END_TEST

START_TEST(threads_and_instructions_change_no_bit)
{
    enum { IMAGES = 40 };
    eddy_array *x = eddy_array_new(F32, EDDY_SHAPE(IMAGES, 30, 31, 20)), *first[4] = { NULL };
    for (int64_t i = 0; i < eddy_array_count(x); i++) eddy_array_set(x, i, uniform(-1, 1));
    g = eddy_graph_new();
    const eddy_tensor in = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 30, 31, 20));
    const eddy_tensor a = eddy_max_pool2d(in, EDDY_DIMS(3), EDDY_DIMS(2), "SAME");
    const eddy_tensor b = eddy_avg_pool2d(in, EDDY_DIMS(2));
    const eddy_tensor all[] = { a, b, slope(Square(a), in), slope(Square(b), in) };
    for (int how = 0; how < 4; how++) {
        eddy_array *got[4] = { NULL };
        eddy__instructions_limit((eddy_instructions)(how % 3));
        eddy_session *s = eddy_session_new(g, .threads = 1 + how);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ in, x }), (eddy_list){ 4, all },
                                  how ? got : first), EDDY_OK);
        for (int i = 0; i < 4 && how; i++) {
            ck_assert(eddy_array_equal(got[i], first[i]));
            eddy_array_free(got[i]);
        }
        eddy_session_free(s);
    }
    for (int i = 0; i < 4; i++) eddy_array_free(first[i]);
    eddy_array_free(x);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------ numbers by others -- */

static eddy_tensor image(eddy_dtype d)
{
    return shaped(d, EDDY_SHAPE(1, 4, 5, 1), (double[]){ 1, 5, 2, 8, 4, 3, 7, 0, 6, 2,
                                                         9, 1, 4, 3, 5, 2, 6, 8, 1, 7 });
}

/* The gradient where 1, 2, 3, ... arrive. */
static eddy_tensor counted(eddy_tensor y, eddy_tensor x)
{
    double    v[ROOM];
    const int n = (int)eddy_shape_count(eddy_shape_of(y));
    for (int i = 0; i < n; i++) v[i] = i + 1;
    return gradient_with(y, shaped(eddy_dtype_of(x), eddy_shape_of(y), v), x);
}

START_TEST(pooling_is_that_of_pytorch)
{
    const eddy_tensor x = image(F64), most = eddy_max_pool2d(x, EDDY_DIMS(2));
    const eddy_tensor mean = eddy_avg_pool2d(x, EDDY_DIMS(2));
    const eddy_tensor around = eddy_avg_pool2d(x, EDDY_DIMS(3), EDDY_DIMS(1), "SAME");
    IS(most, 7, 8, 9, 8);
    IS(counted(most, x), 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0);
    IS(mean, 4, 4, 4.5, 4);
    IS(counted(mean, x), .25, .25, .5, .5, 0, .25, .25, .5, .5, 0, .75, .75, 1, 1, 0, .75, .75, 1,
       1, 0);
    NEAR(eddy_slice(around, EDDY_DIMS(0, 0, 0, 0), EDDY_DIMS(1, 1, 5, 1)), 4, 3,
         4.666666666666667, 3.6666666666666665, 5);
}
END_TEST

/* ---------------------------------------------------------------- corners -- */

START_TEST(of_equal_elements_the_first_has_the_gradient)
{
    const eddy_tensor x = shaped(F32, EDDY_SHAPE(1, 2, 2, 1), (double[]){ 1, 3, 3, 3 });
    IS(slope(eddy_max_pool2d(x, EDDY_DIMS(2)), x), 0, 1, 0, 0);
    IS(slope(eddy_max_pool2d(x, EDDY_DIMS(2), EDDY_DIMS(1)), x), 0, 1, 0, 0);
    IS(slope(eddy_max_pool2d(x, EDDY_DIMS(2), EDDY_DIMS(1), "SAME"), x), 0, 2, 1, 1);
}
END_TEST

/* A NaN in the first place is the result and has the gradient; elsewhere it is skipped. */
/* More elements in a window than float32 counts: the number of the largest is one of them. */
START_TEST(a_window_of_more_than_2_to_the_24)
{
    enum { SIDE = 4100, AT = (1 << 24) + 3 };
    const eddy_shape  s = EDDY_SHAPE(1, SIDE, SIDE, 1), one = EDDY_SHAPE(1, 1, 1, 1);
    const double      seven = 7;
    trial             t = trial_begin(1);
    eddy_array       *a = eddy_array_new(F32, s);
    g = t.graph;
    for (int64_t i = 0; i < eddy_array_count(a); i++) ((float *)eddy_array_data(a))[i] = -1;
    eddy_array_set(a, AT, 3);
    const eddy_tensor x = fed(&t, a), dy = fed(&t, array(F32, one, &seven));
    const eddy_tensor y = eddy_max_pool2d(x, EDDY_DIMS(SIDE));
    const eddy_tensor dx = gradient_with(y, dy, x);
    check_values(&t, y, one, (const double[]){ 3 });
    check_values(&t, Sum(dx), EDDY_SCALAR, &seven);
    const eddy_tensor flat = Reshape(dx, EDDY_SHAPE(EDDY_ANY));
    check_values(&t, Gather(flat, eddy_number(g, EDDY_INT64, AT)), EDDY_SCALAR, &seven);
    const eddy_tensor back = gradient_with(dx, Square(x), dy);
    check_values(&t, back, one, (const double[]){ 9 });
    trial_end(&t);
}
END_TEST

START_TEST(nan_is_no_maximum)
{
    const eddy_tensor a = shaped(F32, EDDY_SHAPE(1, 2, 2, 1), (double[]){ NAN, 3, 4, 1 });
    const eddy_tensor b = shaped(F32, EDDY_SHAPE(1, 2, 2, 1), (double[]){ 2, NAN, 4, NAN });
    const eddy_tensor c = shaped(F32, EDDY_SHAPE(1, 1, 3, 1), (double[]){ 2, NAN, -INFINITY });
    IS(eddy_max_pool2d(a, EDDY_DIMS(2)), NAN);
    IS(slope(eddy_max_pool2d(a, EDDY_DIMS(2)), a), 1, 0, 0, 0);
    IS(eddy_max_pool2d(b, EDDY_DIMS(2)), 4);
    IS(slope(eddy_max_pool2d(b, EDDY_DIMS(2)), b), 0, 0, 1, 0);
    IS(eddy_max_pool2d(c, EDDY_DIMS(1, 3)), 2);
    IS(eddy_avg_pool2d(b, EDDY_DIMS(2)), NAN);
}
END_TEST

/* The gradient selects elements and does not multiply, so 0 times infinity does not arise. */
START_TEST(an_infinite_gradient_stays_in_its_place)
{
    const eddy_tensor x = shaped(F32, EDDY_SHAPE(1, 2, 2, 1), (double[]){ 1, 2, 3, 4 });
    const eddy_tensor dy = shaped(F32, EDDY_SHAPE(1, 1, 1, 1), (double[]){ INFINITY });
    IS(gradient_with(eddy_max_pool2d(x, EDDY_DIMS(2)), dy, x), 0, 0, 0, INFINITY);
}
END_TEST

START_TEST(options_have_several_forms)
{
    const eddy_tensor x = image(F32), planes = Transpose(x, EDDY_DIMS(0, 3, 1, 2));
    const double want[] = { 7, 8, 9, 8 };
    near("four", 0, eddy_max_pool2d(x, EDDY_DIMS(1, 2, 2, 1), EDDY_DIMS(1, 2, 2, 1)), 4, want);
    near("NCHW", 0, eddy_max_pool2d(planes, EDDY_DIMS(1, 1, 2, 2), .data_format = "NCHW"), 4, want);
    near("NHWC", 0, eddy_max_pool2d(x, EDDY_DIMS(2, 2), .data_format = "NHWC"), 4, want);
    IS(eddy_max_pool2d(x, EDDY_DIMS(4, 1), .strides = EDDY_DIMS(1)), 9, 7, 8, 8, 7);
    ck_assert_str_eq(eddy_name_of(eddy_avg_pool2d(x, EDDY_DIMS(2), .name = "mean")), "mean");
    ck_assert_str_eq(eddy_name_of(eddy_avg_pool2d(planes, EDDY_DIMS(2), .data_format = "NCHW",
                                                  .name = "planes")), "planes");
}
END_TEST

START_TEST(shapes_are_inferred_as_far_as_they_are_known)
{
    char text[64];
    const eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 7, EDDY_ANY, 3));
    const eddy_tensor any = eddy_placeholder(g, "any", F32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor same = eddy_max_pool2d(x, EDDY_DIMS(3), EDDY_DIMS(2), "SAME");
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(same), text, sizeof text), "[?,4,?,3]");
    const eddy_tensor valid = eddy_max_pool2d(x, EDDY_DIMS(3), EDDY_DIMS(2));
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(valid), text, sizeof text), "[?,3,?,3]");
    const eddy_tensor open = eddy_avg_pool2d(any, EDDY_DIMS(2));
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(open), text, sizeof text), "[?,?,?,?]");
    const eddy_tensor empty = shaped(F32, EDDY_SHAPE(1, 0, 2, 1), (double[]){ 0 });
    const eddy_tensor none = eddy_max_pool2d(empty, EDDY_DIMS(1));
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(none), text, sizeof text), "[1,0,2,1]");
    near("no rows", 0, none, 0, NULL);
    near("no slopes", 0, slope(none, empty), 0, NULL);
}
END_TEST

Suite *pooling_suite(void)
{
    Suite *s = suite_create("pooling");
    TCase *loops = tcase_create("loops"), *t = tcase_create("pooling");
    tcase_add_loop_test(loops, values_are_those_of_plain_loops, 0, 30);
    tcase_add_test(loops, threads_and_instructions_change_no_bit);
    suite_add_tcase(s, loops);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, pooling_is_that_of_pytorch);
    tcase_add_test(t, of_equal_elements_the_first_has_the_gradient);
    tcase_add_test(t, nan_is_no_maximum);
    tcase_add_test(t, an_infinite_gradient_stays_in_its_place);
    tcase_add_test(t, options_have_several_forms);
    tcase_add_test(t, shapes_are_inferred_as_far_as_they_are_known);
    suite_add_tcase(s, t);
    TCase *slow = tcase_create("large");
    tcase_set_tags(slow, "slow");
    tcase_add_test(slow, a_window_of_more_than_2_to_the_24);
    suite_add_tcase(s, slow);
    return s;
}
