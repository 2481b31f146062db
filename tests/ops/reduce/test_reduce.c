/* test_reduce.c -- reductions: values against plain loops, gradients against finite differences and
 * known values. test_scans.c has argmax and argmin, and cumulative sums and products.
 *
 * Cases called M-03 and so on, and what is marked "corner", restate TensorFlow's
 * behavior in small numbers. */
#include "tests/lib/reduction_trials.h"

Suite *reduce_suite(void);

/* ------------------------------------------------- values against loops -- */

/* Folds elements one after the other; whole numbers as such, modulo 2^64. */
typedef struct fold {
    long double real;
    uint64_t    whole;
    int64_t     count;
    bool        has_nan;
} fold;

enum { SUM, MEAN, MAX, MIN, PROD, ANY, ALL, KINDS };

static const struct kind {
    eddy_tensor (*make)(const eddy_reduce_args *);
    double        first;
} kinds[KINDS] = {
    { eddy_sum_with, 0 },         { eddy_mean_with, 0 }, { eddy_max_with, -INFINITY },
    { eddy_min_with, INFINITY },  { eddy_prod_with, 1 }, { eddy_any_with, 0 },
    { eddy_all_with, 1 },
};

static void take(int kind, fold *f, double v)
{
    const uint64_t w = isfinite(v) ? (uint64_t)(int64_t)v : 0;
    f->count++;
    f->has_nan |= isnan(v);
    switch (kind) {
    case SUM: case MEAN: f->real += v, f->whole += w; break;
    case MAX: if (v > (double)f->real) f->real = v; break;
    case MIN: if (v < (double)f->real) f->real = v; break;
    case PROD: f->real *= v, f->whole *= w; break;
    case ANY: if (v != 0) f->real = 1; break;
    case ALL: if (v == 0) f->real = 0; break;
    }
}

static double lowest(eddy_dtype d)
{
    return d == EDDY_INT32 ? INT32_MIN : d == EDDY_INT64 ? (double)INT64_MIN : 0;
}
static double highest(eddy_dtype d)
{
    return d == EDDY_INT32 ? INT32_MAX : d == EDDY_INT64 ? (double)INT64_MAX : UINT8_MAX;
}
static double wrapped(eddy_dtype d, uint64_t v)
{
    return d == EDDY_INT32 ? (double)(int32_t)v : d == EDDY_INT64 ? (double)(int64_t)v : (uint8_t)v;
}

static double result(int kind, eddy_dtype d, fold f)
{
    if (d == EDDY_BOOL) return (double)f.real;
    if (eddy_dtype_is_floating(d)) {
        const double v = kind == MEAN ? (double)(f.real / f.count) : (double)f.real;
        return f.has_nan ? NAN : d == EDDY_FLOAT32 ? (float)v : v;
    }
    if (kind == MAX) return f.count ? (double)f.real : lowest(d);
    if (kind == MIN) return f.count ? (double)f.real : highest(d);
    if (kind == MEAN) return f.count ? (double)((int64_t)f.whole / f.count) : 0;
    return wrapped(d, f.whole);
}

/* x reduced, each dimension of `mask` to size 1. */
static eddy_array *reduced(int kind, const eddy_array *x, unsigned mask)
{
    const eddy_shape s = eddy_array_shape(x);
    eddy_shape       kept = s;
    for (int i = 0; i < s.rank; i++)
        if (mask >> i & 1) kept.dim[i] = 1;
    eddy_array *y = eddy_array_new(EDDY_FLOAT64, kept);
    fold *f = calloc((size_t)eddy_array_count(y) + 1, sizeof *f);
    for (int64_t i = 0; i < eddy_array_count(y); i++)
        f[i] = (fold){ .real = kinds[kind].first, .whole = kind == PROD };
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(s, i, at);
        for (int k = 0; k < s.rank; k++)
            if (mask >> k & 1) at[k] = 0;
        take(kind, &f[place(kept, at)], eddy_array_get(x, i));
    }
    for (int64_t i = 0; i < eddy_array_count(y); i++)
        eddy_array_set(y, i, result(kind, eddy_array_dtype(x), f[i]));
    free(f);
    return y;
}

static void one_reduction(trial *t, eddy_shape s)
{
    const int        kind = pick(t, KINDS);
    const eddy_dtype d = kind >= ANY ? EDDY_BOOL : dtypes[pick(t, 5)];
    const bool       floats = eddy_dtype_is_floating(d), keepdims = pick(t, 2);
    unsigned         mask;
    const eddy_dims  axes = some_axes(t, s.rank, &mask);
    const bool       nans = floats && (kind == MAX || kind == MIN) && pick(t, 2);
    eddy_array      *x = some_elements(t, d, s, nans);
    const eddy_reduce_args a =
        *EDDY_ARGS(eddy_reduce_args, .x = fed(t, x), .axes = axes, .keepdims = keepdims);
    eddy_tensor      y = kinds[kind].make(&a);
    ck_assert_msg(eddy_is_valid(y), "%s", eddy_graph_message(t->graph));

    eddy_array *want = reduced(kind, x, mask), *got = value(t, y);
    eddy_shape  shape = { .rank = 0 };
    for (int i = 0; i < s.rank; i++)
        if (keepdims || !(mask >> i & 1)) shape.dim[shape.rank++] = mask >> i & 1 ? 1 : s.dim[i];
    ck_assert(eddy_shape_equal(eddy_array_shape(got), shape));
    ck_assert_int_eq(eddy_array_dtype(got), d);
    const bool exact = !floats || kind == MAX || kind == MIN;
    check_close(t, y, want, exact ? 0 : d == EDDY_FLOAT32 ? 1e-7 : 1e-13);
    eddy_array_free(got);
    eddy_array_free(want);
}

START_TEST(values_against_loops)
{
    trial t = trial_begin((unsigned)_i);
    one_reduction(&t, some_shape(&t, 0, 6));
    trial_end(&t);
}
END_TEST

/* Long enough for the lanes, chunks and tiles of the engine. */
static const int64_t long_shapes[][4] = {
    { 5000 }, { 40000 }, { 3, 2100 }, { 2100, 3 }, { 33, 600 }, { 1100, 37 }, { 40, 40, 40 },
    { 7, 1, 33, 65 }, { 34, 2, 35, 3 }, { 3, 100, 2, 100 },
};
enum { LONG_SHAPES = sizeof long_shapes / sizeof *long_shapes };

START_TEST(values_of_long_runs)
{
    trial t = trial_begin((unsigned)_i);
    eddy_shape s = { .rank = 0 };
    const int64_t *dim = long_shapes[_i % LONG_SHAPES];
    while (s.rank < 4 && dim[s.rank] > 0) s.dim[s.rank] = dim[s.rank], s.rank++;
    one_reduction(&t, s);
    trial_end(&t);
}
END_TEST

START_TEST(sums_are_accurate)
{
    enum { N = 1000000 };
    float *v = malloc(N * sizeof *v);
    for (int i = 0; i < N; i++) v[i] = 0.1f;
    eddy_tensor x = eddy_const(g, F32, EDDY_SHAPE(N), v);
    const double want = (double)0.1f;
    near("mean", 0, eddy_mean(x), 1, &want);
    near("sum", 1e-7, eddy_sum(x), 1, (double[]){ want * N });
    eddy_tensor columns = eddy_sum(eddy_reshape(x, EDDY_SHAPE(N / 4, 4)), .axes = EDDY_AXES(0));
    const double quarter = want * N / 4;
    near("columns", 1e-7, columns, 4, (double[]){ quarter, quarter, quarter, quarter });
    free(v);
    /* Partial results are float64: small addends are not lost, and products do not overflow. */
    IS(eddy_sum(vec(F32, V(1e8, 1, -1e8, 1))), 2);
    IS(eddy_prod(vec(F32, V(1e30, 1e30, 1e-30, 1e-30))), 1);
}
END_TEST

START_TEST(of_nothing)
{
    eddy_tensor x = eddy_zeros(g, F32, EDDY_SHAPE(2, 0)), i = eddy_zeros(g, I32, EDDY_SHAPE(2, 0));
    eddy_tensor b = eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(0, 3));
    IS(eddy_sum(x, .axes = EDDY_AXES(1)), 0, 0);
    IS(eddy_prod(x), 1);
    IS(eddy_max(x), -INFINITY);
    IS(eddy_min(x, .axes = EDDY_AXES(-1), .keepdims = true), INFINITY, INFINITY);
    IS(eddy_mean(x), NAN);                                                   /* corner */
    IS(eddy_mean(i, .axes = EDDY_AXES(1)), 0, 0);
    IS(eddy_max(i), INT32_MIN);
    IS(eddy_min(i), INT32_MAX);
    IS(eddy_any(b), 0);
    IS(eddy_all(b, .axes = EDDY_AXES(0)), 1, 1, 1);
    IS(eddy_logsumexp(x), -INFINITY);
    ck_assert_int_eq(eddy_shape_of(eddy_sum(x, .axes = EDDY_AXES(0))).dim[0], 0);
    /* A gradient of no elements. */
    double none[ROOM];
    ck_assert_int_eq(values(slope(eddy_mean(x), x), none), 0);
    ck_assert_int_eq(values(slope(eddy_max(x), x), none), 0);
    ck_assert_int_eq(values(slope(eddy_prod(x), x), none), 0);
}
END_TEST

/* No result to divide among, which perhaps only the run can tell. */
START_TEST(means_of_no_rows)
{
    trial t = trial_begin((unsigned)_i);
    eddy_array *rows = eddy_array_new(F32, EDDY_SHAPE(0, 3));
    eddy_tensor x = fed(&t, rows);
    check_array(&t, slope(eddy_mean(x, .axes = EDDY_AXES(1)), x), rows);
    check_array(&t, slope(eddy_mean(x), x), rows);
    trial_end(&t);
}
END_TEST

START_TEST(integers)
{
    IS(eddy_mean(vec(I32, V(1, 2))), 1);
    IS(eddy_mean(vec(I32, V(-1, -2))), -1);
    IS(eddy_mean(vec(I32, V(INT32_MAX, INT32_MAX))), INT32_MAX);
    IS(eddy_sum(vec(I32, V(INT32_MAX, 1))), INT32_MIN);
    IS(eddy_sum(vec(EDDY_UINT8, V(200, 100))), 44);
    IS(eddy_prod(vec(EDDY_UINT8, V(20, 20))), 144);
}
END_TEST

START_TEST(logsumexp_values)
{
    NEAR(eddy_logsumexp(vec(F64, V(1000, 1000))), 1000 + log(2));
    NEAR(eddy_logsumexp(vec(F64, V(-1000, -1001))), -1000 + log1p(exp(-1)));
    IS(eddy_logsumexp(vec(F32, V(-INFINITY, -INFINITY))), -INFINITY);        /* corner */
    IS(eddy_logsumexp(vec(F32, V(-INFINITY, 3))), 3);
    IS(eddy_logsumexp(vec(F32, V(INFINITY, 3))), INFINITY);
    eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 0, 0, 1, 1 });
    NEAR(eddy_logsumexp(x, .axes = EDDY_AXES(1), .keepdims = true), log(2), 1 + log(2));
    NEAR(eddy_logsumexp(x, .axes = EDDY_AXES(0)), log(1 + exp(1)), log(1 + exp(1)));
    NEAR(slope(eddy_logsumexp(x, .axes = EDDY_AXES(1)), x), 0.5, 0.5, 0.5, 0.5);
    refused(eddy_logsumexp(vec(I32, V(1, 2))), EDDY_BAD_DTYPE, "int32");
}
END_TEST

/* ------------------------------------------------- what fits, and shapes -- */

START_TEST(refusals)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 3), (double[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor open = eddy_placeholder(g, "open", F32, EDDY_UNKNOWN_SHAPE);
    refused(eddy_sum(x, .axes = EDDY_AXES(2)), EDDY_INVALID_ARGUMENT, "axis 2");
    refused(eddy_sum(x, .axes = EDDY_AXES(-3)), EDDY_INVALID_ARGUMENT, "axis -3");
    refused(eddy_mean(x, .axes = EDDY_AXES(1, 0, -1)), EDDY_INVALID_ARGUMENT, "twice");
    refused(eddy_max(open, .axes = EDDY_AXES(1, 1)), EDDY_INVALID_ARGUMENT, "twice");
    refused(eddy_max(open, .axes = EDDY_AXES(9)), EDDY_INVALID_ARGUMENT, "axis 9");
    refused(eddy_sum(x, .axes = { .count = 9 }), EDDY_INVALID_ARGUMENT, "is 9; expected 0 to 8");
    refused(eddy_sum(x, .axes = { .count = -2 }), EDDY_INVALID_ARGUMENT, "is -2; expected 0 to 8");
    refused(eddy_sum(x, .axes = EDDY_AXES(INT64_MIN)), EDDY_INVALID_ARGUMENT, "axis");
    refused(eddy_sum(num(EDDY_BOOL, 1)), EDDY_BAD_DTYPE, "bool");
    refused(eddy_all(x), EDDY_BAD_DTYPE, "float32");
    refused(eddy_cumsum(num(F32, 1)), EDDY_INVALID_ARGUMENT, "axis");
    refused(eddy_cumprod(vec(EDDY_BOOL, V(1, 0))), EDDY_BAD_DTYPE, "bool");
    refused(eddy_argmax(x, .axis = 2), EDDY_INVALID_ARGUMENT, "axis 2");
    refused(eddy_argmax(num(F32, 1)), EDDY_INVALID_ARGUMENT, "axis 0");
    refused(eddy_argmax(x, .output_type = F32), EDDY_BAD_DTYPE, "float32");
    refused(eddy_argmin(eddy_zeros(g, F32, EDDY_SHAPE(0, 2))), EDDY_BAD_SHAPE,
            "Reduction axis 0 is empty in shape [0,2]");
    refused(eddy_linear_scan(x, vec(F32, V(1, 2))), EDDY_BAD_SHAPE, "differ");
    refused(eddy_linear_scan(x, Cast(x, F64)), EDDY_BAD_DTYPE, "w is float64");
    refused(eddy_shift(x, 1, 5), EDDY_INVALID_ARGUMENT, "axis 5");
    eddy_tensor three = vec(F32, V(1, 2, 3)), two = vec(F32, V(1, 2));
    refused(eddy_broadcast_along(three, x, EDDY_AXES(1), false), EDDY_BAD_SHAPE, "[3]");
    refused(eddy_broadcast_along(x, x, EDDY_AXES(1), true), EDDY_BAD_SHAPE, "[2,3]");
    refused(eddy_broadcast_along(two, x, EDDY_AXES(1), true), EDDY_BAD_SHAPE, "[2]");
    const eddy_tensor nothing = EDDY_ZERO_TENSOR;
    ck_assert(!eddy_is_valid(eddy_sum(nothing)));
    ck_assert(!eddy_is_valid(eddy_logsumexp(nothing)));
}
END_TEST

static void has_shape(eddy_tensor t, const char *want)
{
    char text[128];
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), text, sizeof text), want);
}

START_TEST(static_shapes)
{
    eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 3, EDDY_ANY));
    eddy_tensor open = eddy_placeholder(g, "open", F32, EDDY_UNKNOWN_SHAPE);
    has_shape(eddy_sum(x), "[]");
    has_shape(eddy_sum(x, .axes = no_axes), "[?,3,?]");
    has_shape(eddy_sum(x, .axes = EDDY_AXES(-1)), "[?,3]");
    has_shape(eddy_sum(x, .axes = EDDY_AXES(2, 0), .keepdims = true), "[1,3,1]");
    has_shape(eddy_sum(open), "[]");
    has_shape(eddy_sum(open, .keepdims = true), "?");
    has_shape(eddy_sum(open, .axes = EDDY_AXES(1)), "?");
    has_shape(eddy_argmax(x, .axis = 1), "[?,?]");
    has_shape(eddy_argmax(open), "?");
    has_shape(eddy_cumsum(x, .axis = -1), "[?,3,?]");
    eddy_tensor two = eddy_zeros(g, F32, EDDY_SHAPE(5, 7));
    has_shape(eddy_broadcast_along(two, x, EDDY_AXES(1), false), "[5,3,7]");
    has_shape(eddy_logsumexp(x, .axes = EDDY_AXES(0)), "[3,?]");
    has_shape(slope(eddy_mean(x), x), "[?,3,?]");
}
END_TEST

/* ------------------------------------------------------------- gradients -- */

START_TEST(M_03_minimum_of_two_copies)
{
    eddy_tensor x = vec(F32, V(1));
    IS(slope(eddy_min(eddy_concat(EDDY_LIST(x, x), 0)), x), 1);
    IS(slope(eddy_max(eddy_concat(EDDY_LIST(x, x), 0)), x), 1);
}
END_TEST

START_TEST(M_07_product_of_a_matrix)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, 4 });
    IS(slope(eddy_prod(x), x), 24, 12, 8, 6);
    IS(slope(eddy_prod(x, .axes = EDDY_AXES(0)), x), 3, 4, 1, 2);
    IS(slope(eddy_prod(x, .axes = EDDY_AXES(-1), .keepdims = true), x), 2, 1, 4, 3);
}
END_TEST

START_TEST(M_09_product_with_zeros)
{
    eddy_tensor one = vec(F64, V(0, 2, 3)), two = vec(F64, V(0, 0, 3));
    IS(slope(eddy_prod(one), one), 6, 0, 0);
    IS(slope(eddy_prod(two), two), 0, 0, 0);
    eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), (double[]){ 0, 2, 3, 4 });
    IS(slope(eddy_prod(x), x), 24, 0, 0, 0);
    /* The rank is only known to the run. */
    eddy_tensor open = eddy_placeholder(g, "open", F64, EDDY_UNKNOWN_SHAPE);
    double got[ROOM];
    const feed  x3 = { open, (double[]){ 0, 2, 3 }, 3 };
    ck_assert_int_eq(values_fed(slope(eddy_prod(open), open), 1, &x3, got), 3);
    ck_assert(got[0] == 6 && got[1] == 0 && got[2] == 0);
}
END_TEST

/* Beyond TensorFlow, which divides by the elements here. */
START_TEST(second_derivatives_of_products_with_zeros)
{
    eddy_tensor x = vec(F64, V(0, 2, 3)), h;
    ck_assert_int_eq(eddy_hessians(eddy_prod(x), EDDY_LIST(x), &h), EDDY_OK);
    IS(h, 0, 3, 2, 3, 0, 0, 2, 0, 0);
    eddy_tensor z = vec(F64, V(0, 0, 5));
    ck_assert_int_eq(eddy_hessians(eddy_prod(z), EDDY_LIST(z), &h), EDDY_OK);
    IS(h, 0, 5, 0, 5, 0, 0, 0, 0, 0);
    IS(slope(eddy_cumprod(x), x), 1 + 2 + 6, 0, 0);
    IS(slope(eddy_cumprod(x, .exclusive = true), x), 1 + 2, 0, 0);
    IS(slope(eddy_cumprod(x, .reverse = true), x), 6, 3 * 0 + 3, 1 + 2 + 0);
}
END_TEST

START_TEST(M_29_means)
{
    const double v[] = { 1, 2, 3, 4, 5, 6 };
    const double sixth = 1.0 / 6, third = 1.0 / 3;
    eddy_tensor  x = shaped(F32, EDDY_SHAPE(2, 3), v);
    NEAR(slope(eddy_mean(x), x), sixth, sixth, sixth, sixth, sixth, sixth);
    NEAR(slope(eddy_mean(x, .axes = EDDY_AXES(1)), x), third, third, third, third, third, third);
    eddy_tensor there = Cast(x, F64), dx = slope(eddy_mean(Cast(there, F32)), x);
    ck_assert_int_eq(eddy_dtype_of(dx), F32);
    NEAR(dx, sixth, sixth, sixth, sixth, sixth, sixth);
    /* The count is only known to the run. */
    eddy_tensor batch = eddy_placeholder(g, "batch", F32, EDDY_SHAPE(EDDY_ANY));
    double      got[ROOM];
    ck_assert_int_eq(values_fed(slope(eddy_mean(batch), batch), 1, &(feed){ batch, v, 4 }, got), 4);
    ck_assert(got[0] == 0.25 && got[3] == 0.25);
}
END_TEST

/* corner: ties share the gradient; a NaN poisons it */
START_TEST(ties_share)
{
    eddy_tensor x = vec(F32, V(3, 1, 3, 3));
    NEAR(slope(eddy_max(x), x), 1.0 / 3, 0, 1.0 / 3, 1.0 / 3);
    IS(slope(eddy_min(x), x), 0, 1, 0, 0);
    eddy_tensor m = shaped(F32, EDDY_SHAPE(2, 2), (double[]){ 5, 5, 1, 2 });
    IS(slope(eddy_max(m, .axes = EDDY_AXES(1)), m), 0.5, 0.5, 0, 1);
    IS(slope(eddy_max(m, .axes = EDDY_AXES(1), .keepdims = true), m), 0.5, 0.5, 0, 1);
    IS(slope(eddy_min(m, .axes = EDDY_AXES(0)), m), 0, 0, 1, 1);
    eddy_tensor bad = vec(F32, V(1, NAN));
    IS(eddy_max(bad), NAN);
    IS(eddy_min(bad), NAN);
    IS(slope(eddy_max(bad), bad), NAN, NAN);
    ck_assert(!connected(Cast(eddy_argmax(x), F32), x));                     /* corner */
    ck_assert(!connected(Cast(eddy_any(eddy_greater(x, num(F32, 1))), F32), x));
}
END_TEST

/* corner: norms and deviations have no slope at 0 */
START_TEST(norms_at_zero)
{
    eddy_tensor x = vec(F32, V(0, 0)), c = vec(F32, V(2, 2));
    IS(slope(Sqrt(Sum(Square(x))), x), NAN, NAN);
    IS(slope(Sqrt(Mean(Square(Sub(c, Mean(c))))), c), NAN, NAN);
}
END_TEST

START_TEST(gradients_against_differences)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_shape s = some_shape(&t, 0, 4);
    eddy_shape one = { .rank = 0 };
    while (one.rank < s.rank) one.dim[one.rank] = s.dim[one.rank] % 4, one.rank++;
    unsigned mask;
    const eddy_dims axes = some_axes(&t, one.rank, &mask);
    const bool      keepdims = pick(&t, 2);
    eddy_tensor x = fed_numbers(&t, one, -1, 1), y;
    switch (_i % 6) {
    case 0: y = eddy_sum(Square(x), .axes = axes, .keepdims = keepdims); break;
    case 1: y = Square(eddy_mean(x, .axes = axes, .keepdims = keepdims)); break;
    case 2: y = Square(eddy_max(Exp(x), .axes = axes, .keepdims = keepdims)); break;
    case 3: y = eddy_min(Exp(x), .axes = axes, .keepdims = keepdims); break;
    case 4: y = eddy_prod(x, .axes = axes, .keepdims = keepdims); break;
    default: y = eddy_logsumexp(x, .axes = axes, .keepdims = keepdims); break;
    }
    /* A lane without elements is infinite, and its weighted sum with it. */
    const bool empty_lane = eddy_shape_count(one) == 0;
    if (!empty_lane) check_slopes(&t, y, 1, &x, 3);
    trial_end(&t);
}
END_TEST

Suite *reduce_suite(void)
{
    Suite *suite = suite_create("reduce");
    TCase *values_case = tcase_create("values"), *gradient_case = tcase_create("gradients");
    tcase_add_checked_fixture(values_case, setup, teardown);
    tcase_add_checked_fixture(gradient_case, setup, teardown);
    tcase_add_loop_test(values_case, values_against_loops, 0, 600);
    tcase_add_loop_test(values_case, values_of_long_runs, 0, 20 * LONG_SHAPES);
    tcase_add_test(values_case, sums_are_accurate);
    tcase_add_test(values_case, of_nothing);
    tcase_add_loop_test(values_case, means_of_no_rows, 0, 12);
    tcase_add_test(values_case, integers);
    tcase_add_test(values_case, logsumexp_values);
    tcase_add_test(values_case, refusals);
    tcase_add_test(values_case, static_shapes);
    tcase_add_test(gradient_case, M_03_minimum_of_two_copies);
    tcase_add_test(gradient_case, M_07_product_of_a_matrix);
    tcase_add_test(gradient_case, M_09_product_with_zeros);
    tcase_add_test(gradient_case, second_derivatives_of_products_with_zeros);
    tcase_add_test(gradient_case, M_29_means);
    tcase_add_test(gradient_case, ties_share);
    tcase_add_test(gradient_case, norms_at_zero);
    tcase_add_loop_test(gradient_case, gradients_against_differences, 0, 300);
    suite_add_tcase(suite, values_case);
    suite_add_tcase(suite, gradient_case);
    return suite;
}
