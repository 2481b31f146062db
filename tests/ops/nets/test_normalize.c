/* test_normalize.c -- layer and batch normalization: values and gradients against plain loops in
 * float64 and against PyTorch, given statistics, singular cases.
 *
 * Numbers marked PyTorch are those of its 1.13, in float64: layer_norm with eps 1e-5 and
 * batch_norm in training with momentum 1 and eps 1e-3, of the x, scale, offset and dy
 * that stand above them. */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"
#include "graph/base/cpu.h"

Suite *normalize_suite(void);

enum { ROWS, COLUMNS };

/* ------------------------------------------------- values against loops -- */

/* x [rows, width] with its scale, offset and dy, and the expected results. */
typedef struct norm {
    int     groups;
    int64_t rows, width;
    double  epsilon, *x, *scale, *offset, *dy;
    double *y, *mean, *variance, *rstd, *dx, *dscale, *doffset;
} norm;

static double *numbers(int64_t n) { return calloc((size_t)n + 1, sizeof(double)); }

/* The group that element i is in. */
static int64_t group_of(const norm *n, int64_t i)
{
    return n->groups == ROWS ? i / n->width : i % n->width;
}

static void statistics(norm *n)
{
    const int64_t all = n->rows * n->width, groups = n->groups == ROWS ? n->rows : n->width;
    const double  count = (double)(n->groups == ROWS ? n->width : n->rows);
    for (int64_t i = 0; i < all; i++) n->mean[group_of(n, i)] += n->x[i] / count;
    for (int64_t i = 0; i < all; i++)
        n->variance[group_of(n, i)] += pow(n->x[i] - n->mean[group_of(n, i)], 2) / count;
    for (int64_t k = 0; k < groups; k++) n->rstd[k] = 1 / sqrt(n->variance[k] + n->epsilon);
}

static void reference(norm *n)
{
    const int64_t all = n->rows * n->width, most = n->rows + n->width;
    const double  count = (double)(n->groups == ROWS ? n->width : n->rows);
    double *sum = numbers(most), *product = numbers(most);
    statistics(n);
    for (int64_t i = 0; i < all; i++) {
        const int64_t k = group_of(n, i), c = i % n->width;
        const double  z = (n->x[i] - n->mean[k]) * n->rstd[k];
        n->y[i] = z * n->scale[c] + n->offset[c];
        sum[k] += n->dy[i] * n->scale[c];
        product[k] += n->dy[i] * n->scale[c] * z;
        n->dscale[c] += n->dy[i] * z;
        n->doffset[c] += n->dy[i];
    }
    for (int64_t i = 0; i < all; i++) {
        const int64_t k = group_of(n, i);
        const double  z = (n->x[i] - n->mean[k]) * n->rstd[k];
        n->dx[i] = n->rstd[k] * (n->dy[i] * n->scale[i % n->width] - sum[k] / count
                                 - z * product[k] / count);
    }
    free(sum);
    free(product);
}

static norm norm_begin(int groups, int64_t rows, int64_t width, double mean, double spread)
{
    const int64_t all = rows * width, most = rows + width;
    norm n = { groups, rows, width, groups == ROWS ? 1e-5 : 1e-3, numbers(all), numbers(width),
               numbers(width), numbers(all), numbers(all), numbers(most), numbers(most),
               numbers(most), numbers(all), numbers(width), numbers(width) };
    for (int64_t i = 0; i < all; i++) {
        n.x[i] = (double)(float)(mean + spread * uniform(-1, 1));
        n.dy[i] = (double)(float)uniform(-1, 1);
    }
    for (int64_t c = 0; c < width; c++) {
        n.scale[c] = (double)(float)uniform(-2, 2);
        n.offset[c] = (double)(float)uniform(-1, 1);
    }
    reference(&n);
    return n;
}

static void norm_end(norm *n)
{
    double *all[] = { n->x, n->scale, n->offset, n->dy, n->y, n->mean, n->variance, n->rstd, n->dx,
                      n->dscale, n->doffset };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Outputs, then the gradients of x, scale and offset. */
enum { Y, MEAN, VARIANCE, RSTD, DX, DSCALE, DOFFSET, RESULTS };

static int build(const norm *n, eddy_dtype d, eddy_tensor *out)
{
    const eddy_shape  s = EDDY_SHAPE(n->rows, n->width);
    const eddy_tensor x = shaped(d, s, n->x), scale = vec(d, (int)n->width, n->scale);
    const eddy_tensor offset = vec(d, (int)n->width, n->offset);
    const eddy_tensor y = n->groups == ROWS
        ? eddy_layer_norm(x, scale, offset)
        : eddy_fused_batch_norm(x, scale, offset, .is_training = true);
    out[Y] = y;
    out[MEAN] = eddy_output(y, 1);
    out[VARIANCE] = eddy_output(y, 2);
    out[RSTD] = eddy_output(y, n->groups == ROWS ? 2 : 3);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, scale, offset), out + DX,
                   .grad_ys = EDDY_LIST(shaped(d, s, n->dy)));
    return RESULTS;
}

static void run_norm(const norm *n, eddy_dtype d, int threads, eddy_array **got)
{
    eddy_tensor out[RESULTS];
    build(n, d, out);
    eddy_session *s = eddy_session_new(g, .threads = threads);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), (eddy_list){ RESULTS, out }, got), EDDY_OK);
    eddy_session_free(s);
}

static void hold(const norm *n, const char *what, const eddy_array *got, const double *want,
                 double tolerance)
{
    double largest = 1;
    for (int64_t i = 0; i < eddy_array_count(got); i++) largest = fmax(largest, fabs(want[i]));
    for (int64_t i = 0; i < eddy_array_count(got); i++)
        ck_assert_msg(fabs(eddy_array_get(got, i) - want[i]) <= tolerance * largest,
                      "%s %d of %d x %d is %.9g, not %.9g", what, (int)i, (int)n->rows,
                      (int)n->width, eddy_array_get(got, i), want[i]);
}

static void compare(norm *n, eddy_dtype d, double tolerance)
{
    eddy_array *got[RESULTS] = { NULL };
    run_norm(n, d, 1, got);
    if (n->groups == COLUMNS) {
        for (int64_t c = 0; c < n->width && n->rows > 1; c++)
            n->variance[c] *= (double)n->rows / (double)(n->rows - 1);
        hold(n, "variance", got[VARIANCE], n->variance, tolerance);
    }
    hold(n, "y", got[Y], n->y, tolerance);
    hold(n, "mean", got[MEAN], n->mean, tolerance);
    hold(n, "rstd", got[RSTD], n->rstd, tolerance);
    hold(n, "dx", got[DX], n->dx, tolerance);
    hold(n, "dscale", got[DSCALE], n->dscale, tolerance);
    hold(n, "doffset", got[DOFFSET], n->doffset, tolerance);
    for (int i = 0; i < RESULTS; i++) eddy_array_free(got[i]);
}

static const int64_t sizes[][2] = {
    { 1, 1 }, { 1, 7 }, { 7, 1 }, { 5, 3 }, { 33, 16 }, { 40, 31 }, { 100, 33 }, { 9, 64 },
    { 131, 64 }, { 17, 65 }, { 6, 130 }, { 3, 300 }, { 259, 100 }, { 5000, 3 }, { 2049, 32 },
    { 70, 1025 }, { 20000, 1 },
};
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(values_are_those_of_plain_loops)
{
    for (int groups = ROWS; groups <= COLUMNS; groups++) {
        norm n = norm_begin(groups, sizes[_i][0], sizes[_i][1], 0.5, 2);
        compare(&n, F32, 1e-5);
        norm_end(&n);
        n = norm_begin(groups, sizes[_i][0], sizes[_i][1], 0.5, 2);
        compare(&n, F64, 1e-12);
        norm_end(&n);
    }
}
END_TEST

/* A variance far below the square of the mean keeps its digits, and one element far
 * away, the first of all, costs the others none. */
START_TEST(variances_do_not_cancel)
{
    for (int groups = ROWS; groups <= COLUMNS; groups++) {
        norm n = norm_begin(groups, 600, 600, 1000, 1);
        eddy_array *got[RESULTS] = { NULL };
        run_norm(&n, F32, 1, got);
        hold(&n, "rstd", got[RSTD], n.rstd, 1e-5);
        hold(&n, "mean", got[MEAN], n.mean, 1e-7);
        for (int i = 0; i < RESULTS; i++) eddy_array_free(got[i]);
        norm_end(&n);
    }
}
END_TEST

START_TEST(threads_and_instructions_change_no_bit)
{
    for (int groups = ROWS; groups <= COLUMNS; groups++)
        for (int how = 0; how < 2; how++) {
            norm n = norm_begin(groups, how ? 15001 : 500, how ? 24 : 700, 0.5, 2);
            eddy_array *first[RESULTS] = { NULL }, *got[RESULTS] = { NULL };
            run_norm(&n, F32, 1, first);
            for (int level = EDDY_BASELINE; level <= EDDY_AVX512; level++) {
                eddy__instructions_limit((eddy_instructions)level);
                run_norm(&n, F32, 4, got);
                for (int i = 0; i < RESULTS; i++) {
                    ck_assert_msg(eddy_array_equal(first[i], got[i]), "%d, %d: result %d", groups,
                                  level, i);
                    eddy_array_free(got[i]);
                    got[i] = NULL;
                }
            }
            for (int i = 0; i < RESULTS; i++) eddy_array_free(first[i]);
            norm_end(&n);
        }
}
END_TEST

/* ------------------------------------------------------ numbers by others -- */

static const double x_of[] = { 1, -2, .5, 3, 0, 1.5, -1, 4, 2, .25, 1, -3 };
static const double dy_of[] = { .3, -.1, .2, .7, .5, -.4, .25, -.6, .9, -.8, .15, .05 };
#define GIVEN                                                                   \
    const eddy_shape  s = EDDY_SHAPE(4, 3);                                     \
    const eddy_tensor x = shaped(F64, s, x_of), dy = shaped(F64, s, dy_of);     \
    const eddy_tensor scale = vec(F64, V(.5, 2, -1)), offset = vec(F64, V(.1, -.2, .3))

START_TEST(layer_norm_is_that_of_pytorch)
{
    GIVEN;
    eddy_tensor y = eddy_layer_norm(x, scale, offset), d[3];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, scale, offset), d, .grad_ys = EDDY_LIST(dy));
    near("y", 1e-14, y, V(0.54449915402112514, -2.9939946824185006, -0.20799903316700014,
        0.71237039446454831, -2.6494815778581935, 0.3, -0.54888491610715728, 2.0710972063750499,
        0.13777877097321073, 0.3400072822002268, 1.6240553447217236, 1.6920422367613155));
    near("dx", 1e-14, d[0], V(0.10754052586460879, 0.021507382507525513, -0.12904790837213431,
        0.07484350137632112, 0.07484703949279059, -0.14969054086911182, 0.029456793130615888,
        0.044183211028514011, -0.073640004159129926, -0.21554197751779106, 0.17512798215594949,
        0.040413995361841572));
    near("dscale", 1e-14, d[1], V(0.41556393508910106, -1.0171956714020089, 0.17799680091944459));
    near("doffset", 1e-14, d[2], V(.45, -.05, .75));
}
END_TEST

START_TEST(batch_norm_is_that_of_pytorch)
{
    GIVEN;
    eddy_tensor y = eddy_fused_batch_norm(x, scale, offset, .is_training = true), d[3];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, scale, offset), d, .grad_ys = EDDY_LIST(dy));
    near("y", 1e-14, y, V(0.16459423602601822, -2.7400702580554634, 0.17197990848649475,
        0.85359942030354574, -0.89274643401512643, -0.34010045756752633, -0.52441094825150936,
        2.8019012140655479, -0.59614064059453686, -0.093782708078054611, 0.03091547800504213,
        1.9642611896755686));
    near("mean", 1e-14, eddy_output(y, 1), V(.8125, .75, .25));
    near("variance", 1e-14, eddy_output(y, 2), V(2.8072916666666665, 6.25, 5.083333333333333));
    near("dx", 1e-14, d[0], V(0.052448139305651176, -0.35339647544064812, 0.0016768332427165517,
        0.060690811143908265, 0.39903780496336816, 0.34123640414869649, 0.16478137471596135,
        -0.22051603187498692, -0.30831239608474731, -0.27792032516552084, 0.17487470235226676,
        -0.034600841306665769));
    near("dscale", 1e-14, d[1], V(1.0916425888397077, -0.92943479897029446, 0.49287735232699531));
    near("doffset", 1e-14, d[2], V(.45, -.05, .75));
}
END_TEST

/* ---------------------------------------------------- forms of batch norm -- */

START_TEST(channels_may_come_second)
{
    const eddy_shape s = EDDY_SHAPE(2, 3, 2, 2);
    double v[24];
    for (int i = 0; i < 24; i++) v[i] = sin(1.7 * i);
    const eddy_tensor x = shaped(F64, s, v), scale = vec(F64, V(.5, 2, -1));
    const eddy_tensor offset = vec(F64, V(.1, -.2, .3)), last = Transpose(x, EDDY_DIMS(0, 2, 3, 1));
    const eddy_tensor a = eddy_fused_batch_norm(x, scale, offset, .is_training = true,
                                                .data_format = "NCHW", .name = "planes");
    const eddy_tensor b = eddy_fused_batch_norm(last, scale, offset, .is_training = true);
    IS(eddy_max(Abs(Sub(Transpose(a, EDDY_DIMS(0, 2, 3, 1)), b))), 0);
    for (int i = 1; i < 3; i++) IS(eddy_max(Abs(Sub(eddy_output(a, i), eddy_output(b, i)))), 0);
    ck_assert_ptr_nonnull(strstr(eddy_name_of(a), "planes/"));
}
END_TEST

/* y = 2 (x - 1) / 2 + 3, and so on. */
START_TEST(statistics_may_be_given)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, 6 });
    const eddy_tensor mean = vec(F64, V(1, 2)), variance = vec(F64, V(4 - 1e-3, 16 - 1e-3));
    const eddy_tensor scale = vec(F64, V(2, 4)), offset = vec(F64, V(3, -1));
    const eddy_tensor y = eddy_fused_batch_norm(x, scale, offset, mean, variance);
    NEAR(y, 3, -1, 5, 3);
    IS(eddy_output(y, 1), 1, 2);
    NEAR(slope(y, x), 1, 1, 1, 1);
    NEAR(slope(y, scale), 1, 1);
    IS(slope(y, offset), 2, 2);
    ck_assert(!connected(y, mean) && !connected(y, variance));
}
END_TEST

START_TEST(batch_normalization_is_made_of_ordinary_operations)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, 6 });
    const eddy_tensor mean = vec(F64, V(1, 2)), variance = vec(F64, V(4, 16));
    const eddy_tensor y = eddy_batch_normalization(x, mean, variance, vec(F64, V(3, -1)),
                                                   vec(F64, V(2, 4)));
    NEAR(y, 3, -1, 5, 3);
    NEAR(slope(y, mean), -2, -2);
    NEAR(eddy_batch_normalization(x, mean, variance), 0, 0, 1, 1);
    NEAR(eddy_batch_normalization(x, mean, variance, .variance_epsilon = 9), 0, 0,
         2 / sqrt(13), 4 / sqrt(25));
}
END_TEST

START_TEST(moments)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 3), (double[]){ 1, 2, 6, 3, 4, 2 });
    const eddy_tensor m = eddy_moments(x, EDDY_AXES(0));
    IS(m, 2, 3, 4);
    IS(eddy_output(m, 1), 1, 1, 4);
    IS(eddy_moments(x), 3);
    IS(eddy_output(eddy_moments(x, EDDY_AXES(1), .keepdims = true), 1), 14.0 / 3, 2.0 / 3);
    /* The second derivative of a variance of two: 1/2 and -1/2. */
    const eddy_tensor v = eddy_output(eddy_moments(x, EDDY_AXES(0)), 1), d = slope(v, x);
    IS(slope(eddy_slice(d, EDDY_DIMS(0, 0), EDDY_DIMS(1, 1)), x), .5, 0, 0, -.5, 0, 0);
}
END_TEST

/* ---------------------------------------------------------------- corners -- */

START_TEST(statistics_of_nothing_are_nan)
{
    const eddy_tensor two = vec(F32, V(1, 1)), none = shaped(F32, EDDY_SHAPE(0, 2), NULL);
    const eddy_tensor y = eddy_fused_batch_norm(none, two, two, .is_training = true);
    double out[ROOM];
    ck_assert_int_eq(values(y, out), 0);
    IS(eddy_output(y, 1), NAN, NAN);
    IS(eddy_output(y, 2), NAN, NAN);
    ck_assert_int_eq(values(slope(y, none), out), 0);
    IS(slope(y, two), 0, 0);
    const eddy_tensor empty = vec(F32, 0, NULL), flat = shaped(F32, EDDY_SHAPE(2, 0), NULL);
    ck_assert_int_eq(values(eddy_layer_norm(flat, empty, empty), out), 0);
    IS(eddy_output(eddy_layer_norm(flat, empty, empty), 1), NAN, NAN);
    const eddy_tensor columns = eddy_fused_batch_norm(flat, empty, empty, .is_training = true);
    ck_assert_int_eq(values(columns, out), 0);
}
END_TEST

/* One element: no variance, and none divided by 0. */
START_TEST(statistics_of_one)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(1, 2), (double[]){ 3, -4 });
    const eddy_tensor one = vec(F64, V(1, 1)), offset = vec(F64, V(7, 8));
    const eddy_tensor y = eddy_fused_batch_norm(x, one, offset, .is_training = true);
    IS(y, 7, 8);
    IS(eddy_output(y, 1), 3, -4);
    IS(eddy_output(y, 2), 0, 0);
    IS(slope(y, x), 0, 0);
}
END_TEST

START_TEST(nan_stays_in_its_group)
{
    const eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 2), (double[]){ 1, NAN, 3, 6 });
    const eddy_tensor one = vec(F32, V(1, 1)), zero = vec(F32, V(0, 0));
    near("rows", 1e-4, eddy_layer_norm(x, one, zero), V(NAN, NAN, -1, 1));
    near("columns", 1e-3, eddy_fused_batch_norm(x, one, zero, .is_training = true),
         V(-1, NAN, 1, NAN));
}
END_TEST

/* x = -far and far in turns, whose squares are beyond the largest number, and a far mean. */
START_TEST(squares_may_overflow)
{
    for (int i = 0; i < 4; i++) {
        const eddy_dtype  d = i % 2 ? F64 : F32;
        const bool        rows = i < 2;
        const double      far = d == F64 ? 1e200 : 1e25;
        const eddy_shape  s = rows ? EDDY_SHAPE(1, 4) : EDDY_SHAPE(4, 1);
        const eddy_tensor x = shaped(d, s, (double[]){ -far, far, -far, far });
        const eddy_tensor one = shaped(d, EDDY_SHAPE(rows ? 4 : 1), (double[]){ 1, 1, 1, 1 });
        const eddy_tensor zero = Sub(one, one), above = Add(x, 2 * far);
        eddy_tensor y = rows ? eddy_layer_norm(x, one, zero)
                             : eddy_fused_batch_norm(x, one, zero, .is_training = true);
        near("y", 1e-6, y, V(-1, 1, -1, 1));
        near("rstd", 1e-6, Mul(eddy_output(y, rows ? 2 : 3), far), V(1));
        if (rows) near("dx", 1e-6, Mul(slope(Mul(y, vec(d, V(1, 0, 0, 0))), x), far),
                       V(.5, 0, -.5, 0));
        y = rows ? eddy_layer_norm(above, one, zero)
                 : eddy_fused_batch_norm(above, one, zero, .is_training = true);
        near("y", 1e-6, y, V(-1, 1, -1, 1));
        near("mean", 1e-6, Div(eddy_output(y, 1), far), V(2));
    }
}
END_TEST

Suite *normalize_suite(void)
{
    Suite *s = suite_create("normalize");
    TCase *t = tcase_create("normalize");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, values_are_those_of_plain_loops, 0, SIZES);
    tcase_add_test(t, variances_do_not_cancel);
    tcase_add_test(t, threads_and_instructions_change_no_bit);
    tcase_add_test(t, layer_norm_is_that_of_pytorch);
    tcase_add_test(t, batch_norm_is_that_of_pytorch);
    tcase_add_test(t, channels_may_come_second);
    tcase_add_test(t, statistics_may_be_given);
    tcase_add_test(t, batch_normalization_is_made_of_ordinary_operations);
    tcase_add_test(t, moments);
    tcase_add_test(t, statistics_of_nothing_are_nan);
    tcase_add_test(t, statistics_of_one);
    tcase_add_test(t, nan_stays_in_its_group);
    tcase_add_test(t, squares_may_overflow);
    suite_add_tcase(s, t);
    return s;
}
