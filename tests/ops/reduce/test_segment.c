/* test_segment.c -- segment reductions against plain loops; gradients at ties and zeros; invalid
 * segment ids. */
#include "autodiff/functions.h"
#include "tests/lib/checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/array_trial.h"
#include "build/gen/table.h"

#include <complex.h>
#include <float.h>
#include <math.h>

Suite *segment_suite(void);

enum { SEEDS = 120, MEAN = 4, SQRT_N = 5 };

typedef enum fold { SUM, PROD, MIN, MAX } fold;

typedef eddy_tensor sorted_fn(eddy_tensor x, eddy_tensor ids);
typedef eddy_tensor any_fn(eddy_tensor x, eddy_tensor ids, int64_t n);

/* The sum's variants stand behind MAX. */
static sorted_fn *const sorted[] = { eddy_segment_sum, eddy_segment_prod, eddy_segment_min,
                                     eddy_segment_max, eddy_segment_mean };
static any_fn *const any[] = {
    eddy_unsorted_segment_sum, eddy_unsorted_segment_prod, eddy_unsorted_segment_min,
    eddy_unsorted_segment_max, eddy_unsorted_segment_mean, eddy_unsorted_segment_sqrt_n };

static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                     EDDY_UINT8, EDDY_COMPLEX64, EDDY_COMPLEX128 };
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* ------------------------------------------------------------- plain loops -- */

/* The value of a segment without rows. */
static double empty(int op, eddy_dtype d, bool in_order)
{
    if (op == PROD) return 1;
    if (in_order || (op != MIN && op != MAX)) return 0;
    const bool least = op == MAX;
    switch ((int)d) {
    case EDDY_FLOAT32: return least ? (double)-FLT_MAX : (double)FLT_MAX;
    case EDDY_FLOAT64: return least ? -DBL_MAX : DBL_MAX;
    case EDDY_INT32:   return least ? INT32_MIN : INT32_MAX;
    case EDDY_INT64:   return least ? (double)INT64_MIN : (double)INT64_MAX;
    default:           return least ? 0 : UINT8_MAX;
    }
}

static double complex element(const eddy_array *a, int64_t i)
{
    return eddy_array_get(a, i) + eddy_array_get_imag(a, i) * I;
}

/* Place j of segment s: the fold of x[i,j] over the rows i of that id. */
static double complex folded(int op, const eddy_array *x, const eddy_array *ids, int64_t s,
                             int64_t j, int64_t inner, int *n)
{
    double complex y = op == PROD ? 1 : 0;
    *n = 0;
    for (int64_t i = 0; i < eddy_array_count(ids); i++) {
        if (eddy_array_get(ids, i) != (double)s) continue;
        const double complex v = element(x, i * inner + j);
        if (op == PROD) y *= v;
        else if (op == MIN) y = *n > 0 && creal(y) < creal(v) ? y : v;
        else if (op == MAX) y = *n > 0 && creal(y) > creal(v) ? y : v;
        else y += v;
        ++*n;
    }
    return op == MEAN && *n > 0 ? y / *n : op == SQRT_N && *n > 0 ? y / sqrt(*n) : y;
}

static void check_loops(trial *t, eddy_tensor y, int op, const eddy_array *x,
                        const eddy_array *ids, bool in_order)
{
    eddy_array *got = value(t, y);
    const eddy_dtype d = eddy_array_dtype(got);
    const int64_t segments = eddy_array_shape(got).dim[0];
    const int64_t inner = segments > 0 ? eddy_array_count(got) / segments : 0;
    const double tolerance = d == EDDY_FLOAT32 || d == EDDY_COMPLEX64 ? 1e-6 : 1e-14;
    ck_assert_int_eq(d, eddy_array_dtype(x));
    for (int64_t k = 0; k < segments * inner; k++) {
        int n;
        double complex want = folded(op, x, ids, k / inner, k % inner, inner, &n);
        if (n == 0) want = empty(op, d, in_order);
        if (eddy_dtype_is_integer(d)) want = trunc(creal(want));
        if (d == EDDY_UINT8) want = fmod(creal(want), 256);
        ck_assert_msg(cabs(element(got, k) - want) <= tolerance * fmax(1, cabs(want)),
                      "%s of %s: element %d is %g%+gi, not %g%+gi", eddy_type_of(y),
                      eddy_dtype_name(d), (int)k, eddy_array_get(got, k),
                      eddy_array_get_imag(got, k), creal(want), cimag(want));
    }
    eddy_array_free(got);
}

/* Small numbers, 0 among them; complex ones with both parts. */
static eddy_array *small(trial *t, eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    const int below = d == EDDY_UINT8 ? 0 : 3;
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double v = pick(t, 4 + below) - below;
        if (eddy_dtype_is_complex(d)) eddy_array_set_complex(a, i, v, pick(t, 5) - 2);
        else eddy_array_set(a, i, v);
    }
    return a;
}

static bool takes(int op, eddy_dtype d)
{
    if (op == SQRT_N) return eddy_dtype_is_differentiable(d);
    return !eddy_dtype_is_complex(d) || (op != MIN && op != MAX);
}

/* Ids in order, with gaps; known while building, or fed. */
START_TEST(sorted_against_loops)
{
    for (int op = 0; op <= MEAN; op++) {
        trial t = trial_begin((unsigned)(_i * 8 + op));
        const eddy_dtype d = dtypes[_i % DTYPES];
        const eddy_shape s = some_shape(&t, 1, 3);
        eddy_array *ids = eddy_array_new(pick(&t, 2) ? EDDY_INT32 : EDDY_INT64,
                                         EDDY_SHAPE(s.dim[0]));
        for (int64_t i = 0, id = pick(&t, 3); i < s.dim[0]; i++, id += pick(&t, 4) / 2)
            eddy_array_set(ids, i, (double)id);
        if (takes(op, d)) {
            eddy_array *x = small(&t, d, s);
            const bool  known = pick(&t, 2);
            const eddy_tensor at = known ? eddy_constant(t.graph, ids, NULL)
                                         : fed(&t, eddy_array_retain(ids));
            const eddy_tensor in = fed(&t, x), y = sorted[op](in, at);
            check_loops(&t, y, op, x, ids, true);
            if (op == SUM || op == MEAN) check_gradient(&t, y, 1, &in);
        }
        eddy_array_free(ids);
        trial_end(&t);
    }
}
END_TEST

/* Ids in any order and of any rank, some negative. */
START_TEST(any_against_loops)
{
    for (int op = 0; op <= SQRT_N; op++) {
        trial t = trial_begin((unsigned)(_i * 8 + op));
        const eddy_dtype d = dtypes[_i % DTYPES];
        const eddy_shape s = some_shape(&t, 0, 4);
        const int64_t    n = 1 + pick(&t, 5);
        eddy_shape own = { .rank = pick(&t, s.rank + 1) };
        for (int i = 0; i < own.rank; i++) own.dim[i] = s.dim[i];
        eddy_array *ids = eddy_array_new(pick(&t, 2) ? EDDY_INT32 : EDDY_INT64, own);
        for (int64_t i = 0; i < eddy_array_count(ids); i++)
            eddy_array_set(ids, i, pick(&t, (int)n + 2) - 2);
        if (takes(op, d) && (op != MEAN || !eddy_dtype_is_integer(d))) {
            eddy_array *x = small(&t, d, s);
            const eddy_tensor in = fed(&t, x);
            const eddy_tensor y = any[op](in, fed(&t, eddy_array_retain(ids)), n);
            check_loops(&t, y, op, x, ids, false);
            if (op == SUM || op >= MEAN) check_gradient(&t, y, 1, &in);
        }
        eddy_array_free(ids);
        trial_end(&t);
    }
}
END_TEST

/* float32 is summed in float64: what was added is still there at the end. */
START_TEST(sums_are_rounded_once)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(4),
                                     (const float[]){ 1e8f, 1, 1, -1e8f });
    const eddy_tensor ids = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(4));
    has_value(eddy_segment_sum(x, ids), 1, (const double[]){ 2 });
    has_value(eddy_unsorted_segment_sum(x, ids, 1), 1, (const double[]){ 2 });
    eddy_graph_free(g);
}
END_TEST

/* ---------------------------------------------------------------- by hand -- */

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void) { eddy_graph_free(g); }

static eddy_tensor ints(int64_t n, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), v);
}
#define IDS(n, ...) ints(n, (const int32_t[]){ __VA_ARGS__ })
#define NUMBERS(...) ((const double[]){ __VA_ARGS__ })

static eddy_tensor slope(eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx;
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx), EDDY_OK);
    return dx;
}

/* M-11: both halves of a number that stands there twice go back to it. */
START_TEST(m_11_ties_share)
{
    const eddy_tensor one = vector(g, 1, NUMBERS(1)), ids = IDS(2, 0, 0);
    const eddy_tensor twice = eddy_concat(EDDY_LIST(one, one), 0);
    has_value(slope(eddy_segment_max(twice, ids), one), 1, NUMBERS(1));
    has_value(slope(eddy_segment_min(twice, ids), one), 1, NUMBERS(1));
    has_value(slope(eddy_segment_max(twice, ids), twice), 2, NUMBERS(0.5, 0.5));
    const eddy_tensor x = vector(g, 6, NUMBERS(3, 3, 1, 0, 0, 7)), at = IDS(6, 1, 1, 1, -1, 0, 0);
    has_value(slope(eddy_unsorted_segment_max(x, at, 3), x), 6, NUMBERS(0.5, 0.5, 0, 0, 0, 1));
    has_value(slope(eddy_unsorted_segment_min(x, at, 3), x), 6, NUMBERS(0, 0, 1, 0, 1, 0));
}
END_TEST

/* M-13: none, one and two zeros in a segment. */
START_TEST(m_13_zeros_in_products)
{
    const eddy_tensor x = vector(g, 6, NUMBERS(2, 0, 4, 0, 0, 3)), ids = IDS(6, 0, 0, 0, 1, 1, 2);
    has_value(slope(eddy_unsorted_segment_prod(x, ids, 3), x), 6, NUMBERS(0, 8, 0, 0, 0, 1));
    has_value(slope(eddy_segment_prod(x, ids), x), 6, NUMBERS(0, 8, 0, 0, 0, 1));
    const eddy_tensor some = IDS(6, 0, 0, -1, 2, -7, 2);
    has_value(slope(eddy_unsorted_segment_prod(x, some, 3), x), 6, NUMBERS(0, 2, 0, 3, 0, 0));
}
END_TEST

/* Derivatives along w of the derivatives of x0 x1 x2, where one or two of them are 0:
 * the second are a sum of single elements, the third are 1. */
START_TEST(second_and_third_order_at_zeros)
{
    const eddy_tensor x = vector(g, 4, NUMBERS(2, 0, _i ? 0 : 4, 0)), ids = IDS(4, 0, 0, 0, 1);
    const eddy_tensor w = vector(g, 4, NUMBERS(1, 10, 100, 1000));
    const eddy_tensor dx = slope(eddy_segment_prod(x, ids), x);
    const eddy_tensor ddx = slope(Mul(dx, w), x), dddx = slope(Mul(ddx, w), x);
    has_value(dx, 4, _i ? NUMBERS(0, 0, 0, 1) : NUMBERS(0, 8, 0, 1));
    has_value(ddx, 4, _i ? NUMBERS(0, 200, 20, 0) : NUMBERS(40, 204, 20, 0));
    has_value(dddx, 4, NUMBERS(2000, 200, 20, 0));
    const eddy_tensor dm = slope(eddy_segment_max(Square(x), ids), x);
    has_value(slope(dm, x), 4, _i ? NUMBERS(2, 0, 0, 2) : NUMBERS(0, 0, 2, 2));
}
END_TEST

/* A NaN leaves its segment without extremes to share with, and others alone. */
START_TEST(nan_and_infinity)
{
    const eddy_tensor x = vector(g, 4, NUMBERS(NAN, 1, -INFINITY, 2)), ids = IDS(4, 0, 0, 1, 1);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(s, eddy_segment_max(x, ids));
    ck_assert(isnan(eddy_array_get(y, 0)) && eddy_array_get(y, 1) == 2);
    eddy_array_free(y);
    eddy_session_free(s);
    has_value(slope(eddy_segment_max(x, ids), x), 4, NUMBERS(0, 0, 0, 1));
    const eddy_tensor low = vector(g, 2, NUMBERS(-INFINITY, 3)), own = IDS(2, 0, 1);
    has_value(eddy_unsorted_segment_max(low, own, 2), 2, NUMBERS(-DBL_MAX, 3));
    has_value(eddy_unsorted_segment_min(Neg(low), own, 2), 2, NUMBERS(DBL_MAX, -3));
    has_value(Exp(eddy_segment_max(low, IDS(2, 0, 2))), 3, NUMBERS(0, 1, exp(3)));
}
END_TEST

START_TEST(nothing)
{
    const eddy_tensor none = vector(g, 0, NULL), no_ids = ints(0, NULL);
    has_value(eddy_segment_mean(none, no_ids), 0, NULL);
    has_value(eddy_unsorted_segment_prod(none, no_ids, 2), 2, NUMBERS(1, 1));
    has_value(eddy_unsorted_segment_mean(none, no_ids, 2), 2, NUMBERS(0, 0));
    has_value(eddy_unsorted_segment_sum(vector(g, 2, NUMBERS(1, 2)), IDS(2, -1, -1), 0), 0, NULL);
    has_value(eddy_unsorted_segment_sum(real(g, 5), eddy_number(g, EDDY_INT32, 1), 3), 3,
              NUMBERS(0, 5, 0));
}
END_TEST

START_TEST(one_operation_an_element)
{
    eddy_session *s = eddy_session_new(g, .without = EDDY_PASS_FOLD);
    const eddy_tensor x = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(3, 4)), ids = IDS(3, 0, 0, 1);
    runs(s, eddy_segment_sum(x, ids));
    ck_assert_double_eq(eddy_session_plan_info(s).flops, 12);
    runs(s, eddy_unsorted_segment_max(x, ids, 2));
    ck_assert_double_eq(eddy_session_plan_info(s).flops, 12);
    eddy_session_free(s);
}
END_TEST

/* ----------------------------------------------------------- many examples -- */

static int product_of(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_unsorted_segment_prod(x.at[0], Cast(x.at[1], EDDY_INT32), 3);
    return 1;
}

/* Each example has its own ids; some belong to no segment, none to the next example. */
START_TEST(examples_with_ids_of_their_own)
{
    const eddy_tensor x = matrix(g, 2, 4, NUMBERS(1, 2, 3, 4, 5, 6, 7, 8));
    const eddy_tensor ids = matrix(g, 2, 4, NUMBERS(2, -1, 0, 2, 1, 1, 0, -9));
    eddy_tensor y[EDDY_MAX_RESULTS];
    const eddy_function f = { .build = product_of, .name = "product" };
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x, ids), y), 1);
    has_value(y[0], 6, NUMBERS(3, 1, 4, 7, 30, 1));
    has_value(slope(y[0], x), 8, NUMBERS(4, 0, 1, 1, 6, 5, 1, 0));
    const eddy_tensor outside = matrix(g, 2, 4, NUMBERS(2, 3, 0, 2, 1, 1, 0, 0));
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x, outside), y), 1);
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y[0]), NULL), EDDY_OUT_OF_RANGE);
    eddy_session_free(s);
    const int shared[] = { EDDY_SHARED, 0 };
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(vector(g, 4, NUMBERS(1, 2, 3, 4)), ids), y,
                               .axes = shared), 1);
    has_value(y[0], 6, NUMBERS(3, 1, 4, 3, 2, 1));
}
END_TEST

/* ------------------------------------------------------------- ids that vary -- */

/* The last id of each run says how many segments it has. */
START_TEST(fed_ids)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor ids = eddy_placeholder(g, "ids", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor y = eddy_segment_sum(x, ids), dx = slope(Square(y), x);
    ck_assert_int_eq(eddy_shape_of(y).dim[0], EDDY_ANY);
    eddy_session *s = eddy_session_new(g);
    for (int64_t last = 0; last < 3; last++) {
        const double  ones[] = { 1, 1, 1 };
        const int32_t at[] = { 0, 0, (int32_t)last };
        eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(3), ones);
        eddy_array *b = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), at), *out[2] = { NULL };
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }, { ids, b }), EDDY_FETCH(y, dx), out),
                         EDDY_OK);
        ck_assert_int_eq(eddy_array_count(out[0]), last + 1);
        ck_assert_double_eq(eddy_array_get(out[0], last), last == 0 ? 3 : 1);
        ck_assert_double_eq(eddy_array_get(out[1], 2), last == 0 ? 6 : 2);
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
        eddy_array_free(a);
        eddy_array_free(b);
    }
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(100));
    eddy_array *b = eddy_array_new(EDDY_INT32, EDDY_SHAPE(100));
    for (int i = 0; i < 100; i++) ((int32_t *)eddy_array_data(b))[i] = i / 10;
    eddy_array *many = eddy_fetch(s, y, EDDY_FEED({ x, a }, { ids, b }));
    ck_assert_int_eq(eddy_array_count(many), 10);
    eddy_array_free(many);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_session_free(s);
}
END_TEST

/* Ids computed from variables. */
START_TEST(computed_ids)
{
    const eddy_tensor x = eddy_variable(g, vector(g, 3, NUMBERS(0.5, 0.75, 2.5)));
    const eddy_tensor y = eddy_segment_sum(x, Cast(Floor(x), EDDY_INT32));
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    has(s, y, 3, NUMBERS(1.25, 0, 2.5));
    const eddy_array *seen = eddy_eval_in(s, y);
    ck_assert_int_eq(eddy_array_count(seen), 3);
    ck_assert_double_eq(eddy_array_get(seen, 0), 1.25);
    ck_assert_double_eq(eddy_array_get(seen, 1), 0);
    ck_assert_double_eq(eddy_array_get(seen, 2), 2.5);
    has(s, eddy_unsorted_segment_sum(x, Cast(Floor(x), EDDY_INT32), 3), 3, NUMBERS(1.25, 0, 2.5));
    eddy_session_free(s);
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

static void building_says(void)
{
    const eddy_tensor x = vector(g, 2, NUMBERS(1, 2)), ids = IDS(2, 0, 1), three = IDS(3, 0, 1, 2);
    const eddy_tensor flags = Greater(x, 0), z = Complex(x, x);
    eddy_segment_sum(flags, ids), golden_graph(g);
    eddy_segment_max(z, ids), golden_graph(g);
    eddy_segment_sum(x, x), golden_graph(g);
    eddy_segment_sum(x, eddy_reshape(ids, EDDY_SHAPE(2, 1))), golden_graph(g);
    eddy_segment_sum(real(g, 1), ids), golden_graph(g);
    eddy_segment_sum(x, three), golden_graph(g);
    eddy_segment_sum(x, eddy_const(g, EDDY_INT64, EDDY_SHAPE(2), (int64_t[]){ 0, INT64_MAX }));
    golden_graph(g);
    eddy_unsorted_segment_min(z, ids, 2), golden_graph(g);
    eddy_unsorted_segment_sum(x, ids, -1), golden_graph(g);
    eddy_unsorted_segment_sum(x, three, 3), golden_graph(g);
    eddy_unsorted_segment_sum(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1)),
                              eddy_number(g, EDDY_INT32, 0), 3), golden_graph(g);
    eddy_unsorted_segment_mean(ids, ids, 2), golden_graph(g);
    eddy_unsorted_segment_sqrt_n(ids, ids, 2), golden_graph(g);
}

static void run_says(eddy_session *s, eddy_tensor y, eddy_status status)
{
    fits(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL), status);
    golden_line(eddy_session_message(s));
}

START_TEST(messages)
{
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor x = vector(g, 3, NUMBERS(1, 2, 3));
    golden_begin("ops/segment");
    building_says();
    run_says(s, eddy_segment_sum(x, IDS(3, 0, 2, 1)), EDDY_INVALID_ARGUMENT);
    run_says(s, eddy_segment_mean(x, IDS(3, 5, 2, 2)), EDDY_INVALID_ARGUMENT);
    run_says(s, eddy_segment_max(x, IDS(3, -1, 0, 1)), EDDY_OUT_OF_RANGE);
    run_says(s, eddy_segment_prod(x, IDS(3, -3, -2, -1)), EDDY_OUT_OF_RANGE);
    /* a number that does not follow from the ids, as a graph file may have */
    const eddy_tensor few[] = { x, IDS(3, 0, 1, 5), eddy_number(g, EDDY_INT64, 2) };
    run_says(s, eddy_apply(&eddy_op_segment_sum, NULL, 3, few, (eddy_apply_args){ .name = NULL }),
             EDDY_OUT_OF_RANGE);
    run_says(s, eddy_unsorted_segment_sum(x, IDS(3, 0, -1, 2), 2), EDDY_OUT_OF_RANGE);
    run_says(s, eddy_unsorted_segment_mean(x, IDS(3, 0, 7, 1), 2), EDDY_OUT_OF_RANGE);
    run_says(s, eddy_unsorted_segment_prod(x, IDS(3, 0, 0, 0), 0), EDDY_OUT_OF_RANGE);
    golden_end();
    eddy_session_free(s);
}
END_TEST

Suite *segment_suite(void)
{
    Suite *s = suite_create("segment");
    TCase *c = tcase_create("loops");
    tcase_add_loop_test(c, sorted_against_loops, 0, SEEDS);
    tcase_add_loop_test(c, any_against_loops, 0, SEEDS);
    tcase_add_test(c, sums_are_rounded_once);
    suite_add_tcase(s, c);
    c = tcase_create("by hand");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, m_11_ties_share);
    tcase_add_test(c, m_13_zeros_in_products);
    tcase_add_loop_test(c, second_and_third_order_at_zeros, 0, 2);
    tcase_add_test(c, nan_and_infinity);
    tcase_add_test(c, nothing);
    tcase_add_test(c, one_operation_an_element);
    tcase_add_test(c, examples_with_ids_of_their_own);
    tcase_add_test(c, fed_ids);
    tcase_add_test(c, computed_ids);
    tcase_add_test(c, messages);
    suite_add_tcase(s, c);
    return s;
}
