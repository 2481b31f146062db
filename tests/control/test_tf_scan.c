/* test_tf_scan.c -- TensorFlow's own cases of scan, foldl, foldr and map_fn
 * (functional_ops_test.py, map_fn_test.py). */
#include "build/gen/suites.h"
#include "tests/lib/checks.h"
#include "tests/lib/tf_cases.h"

BODY(twice_sum, Mul(Add(x[0], x[1]), 2))
BODY(captured_sum, Mul(Add(x[0], x[1]), c[0]))
BODY(sum, Add(x[0], x[1]))
BODY(sum_of_three, Add(Add(x[0], x[1]), x[2]))
BODY(product, Mul(x[0], x[1]))
BODY(two_products, Mul(x[0], x[2]), Mul(Neg(x[1]), x[2]))
BODY(times_sum, Mul(x[0], Add(x[1], x[2])))
BODY(two_sums, Add(x[0], x[2]), Add(x[1], x[3]))
BODY(two_results, x[0], Neg(x[0]))
BODY(plus_three_twice, Mul(Add(x[0], 3), 2))
BODY(and_negated, Mul(Add(x[0], 3), 2), Mul(Neg(Add(x[0], 3)), 2))
BODY(polynomial, Add(Mul(x[0], x[1]), x[2]))
BODY(other_order, x[1], x[2], x[0])
BODY(square_times, Mul(Square(x[0]), c[0]))
BODY(times, Mul(x[0], c[0]))

static eddy_tensor six(trial *t, eddy_dtype d)
{
    return given(t, d, EDDY_SHAPE(6), (double[]){ 1, 2, 3, 4, 5, 6 });
}
static eddy_tensor pair(trial *t) { return numbers(t, V(1, -1)); }

/* -------------------------------------------------------------------- folds -- */

static int foldl_simple(trial *t, eddy_tensor *y)
{
    eddy_foldl(PLAIN(twice_sum), EDDY_LIST(six(t, I32)), &y[0]);
    eddy_foldl(PLAIN(twice_sum), EDDY_LIST(six(t, I32)), &y[1], EDDY_LIST(whole(t, 10)));
    return 2;
}
static int foldr_simple(trial *t, eddy_tensor *y)
{
    eddy_foldr(PLAIN(twice_sum), EDDY_LIST(six(t, I32)), &y[0]);
    eddy_foldr(PLAIN(twice_sum), EDDY_LIST(six(t, I32)), &y[1], EDDY_LIST(whole(t, 10)));
    return 2;
}
static eddy_tensor two(trial *t) { return eddy_variable(t->graph, whole(t, 2)); }
static int foldl_scoped(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = two(t);
    eddy_foldl(FUNCTION(captured_sum, v), EDDY_LIST(six(t, I32)), &y[0]);
    eddy_foldl(FUNCTION(captured_sum, v), EDDY_LIST(six(t, I32)), &y[1], EDDY_LIST(whole(t, 10)));
    return 2;
}
static int foldr_scoped(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = two(t);
    eddy_foldr(FUNCTION(captured_sum, v), EDDY_LIST(six(t, I32)), &y[0]);
    eddy_foldr(FUNCTION(captured_sum, v), EDDY_LIST(six(t, I32)), &y[1], EDDY_LIST(whole(t, 10)));
    return 2;
}
static int foldl_multi_output(trial *t, eddy_tensor *y)
{
    return eddy_foldl(PLAIN(sum), EDDY_LIST(six(t, F64)), y, EDDY_LIST(pair(t)));
}
static int foldr_multi_output(trial *t, eddy_tensor *y)
{
    return eddy_foldr(PLAIN(sum), EDDY_LIST(six(t, F64)), y, EDDY_LIST(pair(t)));
}
static int foldl_multi_input(trial *t, eddy_tensor *y)
{
    const eddy_tensor e = six(t, F64);
    return eddy_foldl(PLAIN(sum_of_three), EDDY_LIST(e, Neg(e)), y, EDDY_LIST(constant(t, 1)));
}
static int foldr_multi_input(trial *t, eddy_tensor *y)
{
    const eddy_tensor e = six(t, F64);
    return eddy_foldr(PLAIN(sum_of_three), EDDY_LIST(e, Neg(e)), y, EDDY_LIST(constant(t, 1)));
}
static int fold_grad(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 2), e = six(t, F64);
    eddy_foldl(PLAIN(product), EDDY_LIST(e), &y[0], EDDY_LIST(v));
    eddy_foldr(PLAIN(product), EDDY_LIST(e), &y[1], EDDY_LIST(v));
    for (int k = 0; k < 2; k++) y[k] = slope(y[k], v);
    return 2;
}

/* -------------------------------------------------------------------- scans -- */

static int scan_simple(trial *t, eddy_tensor *y)
{
    eddy_scan(PLAIN(product), EDDY_LIST(six(t, F64)), &y[0]);
    eddy_scan(PLAIN(product), EDDY_LIST(six(t, F64)), &y[1], EDDY_LIST(constant(t, 2)));
    return 2;
}
static int scan_reverse(trial *t, eddy_tensor *y)
{
    eddy_scan(PLAIN(product), EDDY_LIST(six(t, F64)), &y[0], .reverse = true);
    eddy_scan(PLAIN(product), EDDY_LIST(six(t, F64)), &y[1], EDDY_LIST(constant(t, 2)), true);
    return 2;
}
static int scan_multi_output(trial *t, eddy_tensor *y)
{
    return eddy_scan(PLAIN(two_products), EDDY_LIST(six(t, F64)), y,
                     EDDY_LIST(constant(t, 1), constant(t, -1)));
}
static int scan_multi_input(trial *t, eddy_tensor *y)
{
    const eddy_tensor e = six(t, F64);
    return eddy_scan(PLAIN(times_sum), EDDY_LIST(Add(e, 1), Neg(e)), y, EDDY_LIST(constant(t, 1)));
}
static int scan_same_type(trial *t, eddy_tensor *y)
{
    const eddy_tensor e = six(t, F64);
    return eddy_scan(PLAIN(two_sums), EDDY_LIST(e, Neg(e)), y);
}
static int scan_scoped(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = two(t);
    eddy_scan(FUNCTION(captured_sum, v), EDDY_LIST(six(t, I32)), &y[0]);
    eddy_scan(FUNCTION(captured_sum, v), EDDY_LIST(six(t, I32)), &y[1], EDDY_LIST(whole(t, 2)));
    return 2;
}
static int scan_grad(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = constant(t, 2);
    eddy_scan(PLAIN(product), EDDY_LIST(six(t, F64)), y, EDDY_LIST(v));
    y[0] = slope(y[0], v);
    return 1;
}
/* TensorFlow has no second derivative of it: a + theta x is linear. */
static int scan_grad_grad(trial *t, eddy_tensor *y)
{
    const eddy_tensor v = eddy_variable(t->graph, constant(t, 1));
    eddy_map_fn(FUNCTION(times, v), EDDY_LIST(numbers(t, V(1, 2, 3))), y);
    eddy_scan(PLAIN(sum), EDDY_LIST(y[0]), y);
    const eddy_tensor d = slope(Square(y[0]), v);       /* 2 v (1 + 9 + 36) */
    y[0] = slope(Sum(y[0]), v), y[1] = d, y[2] = slope(d, v);
    return 3;
}
static int of_matrix(trial *t, bool folds, eddy_tensor *y)
{
    const eddy_tensor e = given(t, F64, EDDY_SHAPE(2, 3), (double[]){ 1, 2, 3, 4, 5, 6 });
    const eddy_tensor z = eddy_zeros(t->graph, F64, EDDY_SHAPE(3));
    return folds ? eddy_foldl(PLAIN(sum), EDDY_LIST(e), y, EDDY_LIST(z))
                 : eddy_scan(PLAIN(sum), EDDY_LIST(e), y, EDDY_LIST(z));
}
static int foldl_shape(trial *t, eddy_tensor *y) { return of_matrix(t, true, y); }
static int scan_shape(trial *t, eddy_tensor *y) { return of_matrix(t, false, y); }

/* --------------------------------------------------------------------- maps -- */

static int map_simple(trial *t, eddy_tensor *y)
{
    return eddy_map_fn(PLAIN(plus_three_twice), EDDY_LIST(six(t, I32)), y);
}
static int map_scoped(trial *t, eddy_tensor *y)
{
    return eddy_map_fn(FUNCTION(times, two(t)), EDDY_LIST(six(t, I32)), y);
}
static int map_grad(trial *t, eddy_tensor *y)
{
    const eddy_tensor p = constant(t, 2), e = six(t, F64);
    eddy_tensor       z;
    eddy_map_fn(FUNCTION(square_times, p), EDDY_LIST(e), &z);
    y[0] = slope(z, p), y[1] = slope(z, e);
    return 2;
}
static int map_multi_output(trial *t, eddy_tensor *y)
{
    return eddy_map_fn(PLAIN(and_negated), EDDY_LIST(six(t, EDDY_INT64)), y);
}
static int map_multi_input(trial *t, eddy_tensor *y)
{
    const eddy_tensor e = six(t, EDDY_INT64);
    return eddy_map_fn(PLAIN(polynomial), EDDY_LIST(e, e, Neg(e)), y);
}
static int map_same_structure(trial *t, eddy_tensor *y)
{
    const eddy_tensor e = six(t, I32);
    return eddy_map_fn(PLAIN(other_order), EDDY_LIST(e, Mul(e, 2), Neg(e)), y);
}

static const tf_case cases[] = {
    TF_CASE("testFoldl_Simple", foldl_simple, 208, 880),
    TF_CASE("testFoldr_Simple", foldr_simple, 450, 1282),
    TF_CASE("testFoldl_Scoped", foldl_scoped, 208, 880),
    TF_CASE("testFoldr_Scoped", foldr_scoped, 450, 1282),
    TF_CASE("testFoldl_SingleInputMultiOutput", foldl_multi_output, 22, 20),
    TF_CASE("testFoldr_SingleInputMultiOutput", foldr_multi_output, 22, 20),
    TF_CASE("testFoldl_MultiInputSingleOutput", foldl_multi_input, 1),
    TF_CASE("testFoldr_MultiInputSingleOutput", foldr_multi_input, 1),
    TF_CASE("testFold_Grad", fold_grad, 720, 720),
    TF_CASE("testFoldShape", foldl_shape, 5, 7, 9),
    TF_CASE("testScan_Simple", scan_simple, 1, 2, 6, 24, 120, 720, 2, 4, 12, 48, 240, 1440),
    TF_CASE("testScan_Reverse", scan_reverse, 720, 720, 360, 120, 30, 6, 1440, 1440, 720, 240, 60,
            12),
    TF_CASE("testScan_SingleInputMultiOutput", scan_multi_output, 1, 2, 6, 24, 120, 720, 1, -2, 6,
            -24, 120, -720),
    TF_CASE("testScan_MultiInputSingleOutput", scan_multi_input, 1, 1, 1, 1, 1, 1),
    TF_CASE("testScan_MultiInputSameTypeOutput", scan_same_type, 1, 3, 6, 10, 15, 21, -1, -3, -6,
            -10, -15, -21),
    TF_CASE("testScan_Scoped", scan_scoped, 1, 6, 18, 44, 98, 208, 6, 16, 38, 84, 178, 368),
    TF_CASE("testScan_Grad", scan_grad, 873),
    TF_CASE("testWhileGradGradFail", scan_grad_grad, 10, 92, 92),
    TF_CASE("testScanShape", scan_shape, 1, 2, 3, 5, 7, 9),
    TF_CASE("testMap_Simple", map_simple, 8, 10, 12, 14, 16, 18),
    TF_CASE("testMap_Scoped", map_scoped, 2, 4, 6, 8, 10, 12),
    TF_CASE("testMap_Grad", map_grad, 91, 4, 8, 12, 16, 20, 24),
    TF_CASE("testMap_SingleInputMultiOutput", map_multi_output, 8, 10, 12, 14, 16, 18, -8, -10, -12,
            -14, -16, -18),
    TF_CASE("testMap_MultiInputSingleOutput", map_multi_input, 0, 2, 6, 12, 20, 30),
    TF_CASE("testMap_MultiInputSameStructureOutput", map_same_structure, 2, 4, 6, 8, 10, 12, -1, -2,
            -3, -4, -5, -6, 1, 2, 3, 4, 5, 6),
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(functional_cases) { check_tf_case(&cases[_i % CASES], (unsigned)_i / CASES); }
END_TEST

/* testMapEmptyTensor, testMapEmptyScalar: no rows, of the shape that rows would have. */
START_TEST(map_of_nothing)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor none = given(&t, F64, EDDY_SHAPE(0, 3, 2), NULL), y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_map_fn(PLAIN(plus_three_twice), EDDY_LIST(none), y), 1);
    is_shaped(&t, y[0], EDDY_SHAPE(0, 3, 2));
    eddy_tensor scalars = given(&t, F64, EDDY_SHAPE(0), NULL);
    ck_assert_int_eq(eddy_map_fn(PLAIN(plus_three_twice), EDDY_LIST(scalars), y), 1);
    is_shaped(&t, y[0], EDDY_SHAPE(0));
    trial_end(&t);
}
END_TEST

static int add_square(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = x.count > 1 ? Add(x.at[0], eddy_square(x.at[1])) : eddy_square(x.at[0]);
    return 1;
}

/* Their number is known in a run. TensorFlow's folds without an initializer read the first row, and
 * refuse to read from an array of none. */
START_TEST(rows_that_are_none)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 2)), y[7], dx;
    eddy_tensor   first = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_array   *none = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(0, 2));
    eddy_map_fn(PLAIN(add_square), EDDY_LIST(x), &y[0]);
    eddy_scan(PLAIN(add_square), EDDY_LIST(x), &y[1], EDDY_LIST(first));
    eddy_scan(PLAIN(add_square), EDDY_LIST(x), &y[2], EDDY_LIST(first), .segment = 2);
    eddy_foldl(PLAIN(add_square), EDDY_LIST(x), &y[3], EDDY_LIST(first));
    eddy_scan(PLAIN(add_square), EDDY_LIST(x), &y[4]);
    eddy_scan(PLAIN(add_square), EDDY_LIST(x), &y[5], .reverse = true);
    eddy_foldl(PLAIN(add_square), EDDY_LIST(x), &y[6]);
    for (int k = 0; k < 7; k++) {
        eddy_gradients(EDDY_LIST(y[k]), EDDY_LIST(x), &dx);
        fits(g);
        eddy_array *out[2] = { 0 };
        if (k < 4) {
            ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, none }), EDDY_FETCH(y[k], dx), out), 0);
            ck_assert(eddy_shape_equal(eddy_array_shape(out[0]),
                                       k < 3 ? EDDY_SHAPE(0, 2) : EDDY_SHAPE(2)));
            ck_assert(k < 3 || eddy_array_get(out[0], 1) == 1);
            ck_assert(eddy_shape_equal(eddy_array_shape(out[1]), EDDY_SHAPE(0, 2)));
        } else {
            ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, none }), EDDY_FETCH(y[k], dx), out), 0);
            run_fails(s, EDDY_BAD_SHAPE, "is out of range for dimension 0, which is 0");
        }
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
    eddy_array_free(none);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* testMapOverScalarErrors, testScan_MultiOutputMismatchedInitializer */
START_TEST(refusals)
{
    trial       t = trial_begin(0);
    eddy_tensor y[EDDY_MAX_RESULTS], v = constant(&t, 1);
    ck_assert_int_eq(eddy_map_fn(PLAIN(plus_three_twice), EDDY_LIST(v), y), 0);
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_BAD_SHAPE);
    ck_assert_ptr_nonnull(strstr(eddy_graph_message(t.graph), "is a scalar"));
    trial_end(&t);
    t = trial_begin(0);
    v = constant(&t, 1);
    ck_assert_int_eq(eddy_scan(PLAIN(two_results), EDDY_LIST(six(&t, F64)), y, EDDY_LIST(v)), 0);
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_INVALID_ARGUMENT);
    trial_end(&t);
}
END_TEST

Suite *tf_scan_suite(void)
{
    Suite *s = suite_create("tf_scan");
    TCase *c = tcase_create("tf");
    tcase_add_loop_test(c, functional_cases, 0, CASES * SEEDS);
    tcase_add_loop_test(c, map_of_nothing, 0, SEEDS);
    tcase_add_test(c, rows_that_are_none);
    tcase_add_test(c, refusals);
    suite_add_tcase(s, c);
    return s;
}
