/* test_tf_cond.c -- TensorFlow's own cases of cond, case and switch_case
 * (control_flow_ops_py_test.py, control_flow_ops_test.py, cond_v2_test.py). */
#include "build/gen/suites.h"
#include "tests/lib/tf_cases.h"

BODY(plus_one, Add(c[0], 1))
BODY(minus_one, Sub(c[0], 1))
BODY(plus_one_and_two, Add(c[0], 1), Add(c[0], 2))
BODY(other_twice, c[1], c[1])
BODY(itself, Identity(c[0]))
BODY(captured, c[0])
BODY(times_42, Mul(c[0], 42))
BODY(times_3, Mul(c[0], 3))
BODY(twice_the_last, Gather(c[0], c[1]))
BODY(l2, Sqrt(Sum(Square(c[0]))))
BODY(l1, Sum(Abs(c[0])))
BODY(not_done, Less(c[2], 3), Add(c[1], 1))
BODY(as_before, c[0], c[1])
BODY(assigned, eddy_assign(c[0], c[1]))

static eddy_tensor choose(eddy_tensor p, eddy_function yes, eddy_function no)
{
    eddy_tensor y[EDDY_MAX_RESULTS] = { eddy_none(p.graph) };
    eddy_cond(p, yes, no, y);
    return y[0];
}
static eddy_tensor less(trial *t, double a, double b)
{
    return Less(constant(t, a), constant(t, b));
}

/* ------------------------------------------------------------------- values -- */

static int by_one(trial *t, eddy_tensor p, eddy_tensor *y)
{
    const eddy_tensor x = whole(t, 10);
    y[0] = choose(p, FUNCTION(plus_one, x), FUNCTION(minus_one, x));
    return 1;
}
static int cond_1(trial *t, eddy_tensor *y) { return by_one(t, less(t, 1, 2), y); }
static int cond_2(trial *t, eddy_tensor *y) { return by_one(t, less(t, 1, 0), y); }
static int cond_true(trial *t, eddy_tensor *y) { return by_one(t, truth(t, true), y); }
static int cond_false(trial *t, eddy_tensor *y) { return by_one(t, truth(t, false), y); }

static int nested_plus(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    y[0] = Add(choose(c[1], FUNCTION(plus_one, c[0]), FUNCTION(minus_one, c[0])), 1);
    return 1;
}
static int cond_3(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = whole(t, 10), p = less(t, 1, 2);
    y[0] = choose(p, FUNCTION(nested_plus, x, p), FUNCTION(minus_one, x));
    return 1;
}

/* The updates of the branch that is taken, and no others. */
static int two_updates(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    y[0] = eddy_assign(c[0], eddy_number(c[0].graph, F64, 1));
    y[1] = eddy_assign(c[1], eddy_number(c[0].graph, F64, 2));
    return 2;
}
static int one_update(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    y[0] = eddy_assign(c[2], eddy_number(c[0].graph, F64, 3));
    y[1] = eddy_number(c[0].graph, F64, 10);
    return 2;
}
static int cond_4(trial *t, eddy_tensor *y)
{
    eddy_tensor v[3];
    for (int i = 0; i < 3; i++) v[i] = eddy_variable(t->graph, constant(t, 7));
    eddy_cond(Greater(whole(t, 3), 2), FUNCTION(two_updates, v[0], v[1], v[2]),
              FUNCTION(one_update, v[0], v[1], v[2]), y);
    for (int i = 0; i < 3; i++) y[2 + i] = after(y[0], v[i]);
    return 5;
}
static int cond_5(trial *t, eddy_tensor *y)
{
    eddy_tensor alive = eddy_equal(constant(t, 0), constant(t, 0)), count = whole(t, 0);
    for (int i = 0; i < 10; i++) {
        eddy_cond(alive, FUNCTION(not_done, alive, count, whole(t, i)),
                  FUNCTION(as_before, alive, count), y);
        alive = y[0], count = y[1];
    }
    y[0] = count;
    return 1;
}
static int cond_7(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = whole(t, 10), z = whole(t, 200);
    return eddy_cond(less(t, 1, 2), FUNCTION(plus_one_and_two, x), FUNCTION(other_twice, x, z), y);
}
static int with_control(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    eddy_control_begin(c[0].graph, EDDY_LIST(c[1]));
    Add(c[0], 1);
    eddy_control_end(c[0].graph);
    y[0] = Add(c[0], 2);
    return 1;
}
static int cond_with_control(trial *t, eddy_tensor *y)
{
    const eddy_tensor a = whole(t, 3), unfed = eddy_placeholder(t->graph, "u", F64, EDDY_SCALAR);
    y[0] = choose(less(t, 0, 1), FUNCTION(with_control, a, unfed), FUNCTION(captured, whole(t, 1)));
    return 1;
}
static int wrong_branch(eddy_list in, eddy_tensor *y, void *context)
{
    (void)in;
    const eddy_tensor x = *(eddy_tensor *)context;
    eddy_assert(eddy_not_equal(x, x), EDDY_LIST(x), "Wrong branch!!!");
    y[0] = x;
    return 1;
}
static int cond_switch_identity(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = whole(t, 5);
    y[0] = choose(less(t, 0, 1), FUNCTION(itself, x), FUNCTION(wrong_branch, x));
    return 1;
}
static int untrue(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    const bool         no = false;
    (void)in;
    const eddy_tensor set = eddy_assign(c[0], eddy_const(c[0].graph, EDDY_BOOL, EDDY_SCALAR, &no));
    eddy_control_begin(c[0].graph, EDDY_LIST(set));
    y[0] = Identity(c[1]);
    eddy_control_end(c[0].graph);
    return 1;
}
static int cond_resource(trial *t, eddy_tensor *y)
{
    const bool        yes = true;
    const eddy_tensor x = constant(t, 1);
    const eddy_tensor v = eddy_variable(t->graph,
                                        eddy_const(t->graph, EDDY_BOOL, EDDY_SCALAR, &yes));
    y[0] = choose(v, FUNCTION(untrue, v, x), FUNCTION(captured, x));
    y[1] = Cast(after(y[0], v), I32);
    return 2;
}
static int one_op(trial *t, double number, eddy_tensor *y)
{
    const eddy_tensor v = eddy_variable(t->graph, whole(t, 0));
    y[0] = choose(eddy_greater_equal(integer(t, number), whole(t, 1)),
                  FUNCTION(assigned, v, whole(t, 1)), FUNCTION(assigned, v, whole(t, 2)));
    y[1] = after(y[0], v);
    return 2;
}
static int one_op_true(trial *t, eddy_tensor *y) { return one_op(t, 2, y); }
static int one_op_false(trial *t, eddy_tensor *y) { return one_op(t, 0, y); }
static int one_value(trial *t, double number, eddy_tensor *y)
{
    const eddy_tensor p = eddy_greater_equal(integer(t, number), whole(t, 1));
    y[0] = choose(p, FUNCTION(captured, whole(t, 1)), FUNCTION(captured, whole(t, 2)));
    return 1;
}
static int one_value_true(trial *t, eddy_tensor *y) { return one_value(t, 2, y); }
static int one_value_false(trial *t, eddy_tensor *y) { return one_value(t, 0, y); }
static int example(trial *t, double number, eddy_tensor *y)
{
    const eddy_tensor x = numbers(t, V(-2, 2));
    y[0] = choose(eddy_equal(integer(t, number), whole(t, 2)), FUNCTION(l2, x), FUNCTION(l1, x));
    return 1;
}
static int example_l1(trial *t, eddy_tensor *y) { return example(t, 1, y); }
static int example_l2(trial *t, eddy_tensor *y) { return example(t, 2, y); }

/* ---------------------------------------------------------------- gradients -- */

static int grad_1(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 10);
    y[0] = slope(choose(less(t, 1, 2), FUNCTION(itself, x), FUNCTION(itself, x)), x);
    return 1;
}
static int grad_2(trial *t, double number, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 10), p = eddy_less(integer(t, number), whole(t, 2));
    y[0] = slope(choose(p, FUNCTION(times_42, x), FUNCTION(times_3, x)), x);
    return 1;
}
static int grad_2_true(trial *t, eddy_tensor *y) { return grad_2(t, 1, y); }
static int grad_2_false(trial *t, eddy_tensor *y) { return grad_2(t, 3, y); }
static int slope_inside(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    y[0] = slope(Mul(c[1], c[1]), c[0]);
    return 1;
}
static int grad_3(trial *t, double number, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 10), p = eddy_less(integer(t, number), whole(t, 2));
    y[0] = choose(p, FUNCTION(slope_inside, x, Mul(x, 7)), FUNCTION(times_3, x));
    return 1;
}
static int grad_3_true(trial *t, eddy_tensor *y) { return grad_3(t, 1, y); }
static int grad_3_false(trial *t, eddy_tensor *y) { return grad_3(t, 3, y); }
static int inner_choice(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    (void)in;
    y[0] = choose(Less(c[0], 1), FUNCTION(captured, c[0]), FUNCTION(captured, c[0]));
    return 1;
}
static int nested_simple(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = constant(t, 0);
    y[0] = slope(choose(truth(t, true), FUNCTION(captured, x), FUNCTION(inner_choice, x)), x);
    y[1] = slope(choose(truth(t, false), FUNCTION(captured, x), FUNCTION(inner_choice, x)), x);
    return 2;
}
static int grad_gather(trial *t, double number, eddy_tensor *y)
{
    const double      in[] = { 1, 42 };
    const int32_t     last[] = { 1, 1 };
    const eddy_tensor v = eddy_variable(t->graph, eddy_const(t->graph, F64, EDDY_SHAPE(2), in));
    const eddy_tensor p = eddy_less(integer(t, number), whole(t, 2));
    const eddy_tensor i = eddy_const(t->graph, I32, EDDY_SHAPE(2), last);
    y[0] = slope(choose(p, FUNCTION(itself, v), FUNCTION(twice_the_last, v, i)), v);
    return 1;
}
static int grad_gather_true(trial *t, eddy_tensor *y) { return grad_gather(t, 1, y); }
static int grad_gather_false(trial *t, eddy_tensor *y) { return grad_gather(t, 3, y); }

static const tf_case conds[] = {
    TF_CASE("testCond_1", cond_1, 11),
    TF_CASE("testCond_2", cond_2, 9),
    TF_CASE("testCond_3", cond_3, 12),
    TF_CASE("testCond_4", cond_4, 1, 2, 1, 2, 7),
    TF_CASE("testCond_5", cond_5, 4),
    TF_CASE("testCond_7", cond_7, 11, 12),
    TF_CASE("testCondInt, true", cond_true, 11),
    TF_CASE("testCondInt, false", cond_false, 9),
    TF_CASE("testCondWithControl", cond_with_control, 5),
    TF_CASE("testCondSwitchIdentity", cond_switch_identity, 5),
    TF_CASE("testCondResource", cond_resource, 1, 0),
    TF_CASE("testOneOpCond, true", one_op_true, 1, 1),
    TF_CASE("testOneOpCond, false", one_op_false, 2, 2),
    TF_CASE("testOneValueCond, true", one_value_true, 1),
    TF_CASE("testOneValueCond, false", one_value_false, 2),
    TF_CASE("testExampleCond, l1", example_l1, 4),
    TF_CASE("testExampleCond, l2", example_l2, 2.8284271247461903),
    TF_CASE("testCondGrad_1", grad_1, 1),
    TF_CASE("testCondGrad_2, true", grad_2_true, 42),
    TF_CASE("testCondGrad_2, false", grad_2_false, 3),
    TF_CASE("testCondGrad_3, true", grad_3_true, 980),
    TF_CASE("testCondGrad_3, false", grad_3_false, 30),
    TF_CASE("testNestedCond_Simple", nested_simple, 1, 1),
    TF_CASE("testCondGrad_Gather, true", grad_gather_true, 1, 1),
    TF_CASE("testCondGrad_Gather, false", grad_gather_false, 0, 2),
};
enum { CONDS = sizeof conds / sizeof *conds };

START_TEST(cond_cases) { check_tf_case(&conds[_i % CONDS], (unsigned)_i / CONDS); }
END_TEST

/* An integer has no gradient. */
START_TEST(cond_int)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor v = whole(&t, 10);
    const eddy_tensor y = choose(truth(&t, true), FUNCTION(plus_one, v), FUNCTION(minus_one, v));
    ck_assert(!eddy_is_valid(eddy_gradient(y, v)));
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------- case, switch_case -- */

/* The first of these functions of a number whose predicate is true. */
typedef struct one_of {
    const char *name;
    int         n;
    bool        equals[3][4];       /* by predicate and x: it is true */
    bool        exclusive, otherwise;
    double      x, want;            /* NAN: a run fails, and says so */
    const char *says;
} one_of;

static const one_of some_cases[] = {
    { "testCase_withDefault", 2, { { 0, 1 }, { 0, 0, 1 } }, false, true, 1, 10, NULL },
    { "testCase_withDefault", 2, { { 0, 1 }, { 0, 0, 1 } }, false, true, 2, 20, NULL },
    { "testCase_withDefault", 2, { { 0, 1 }, { 0, 0, 1 } }, false, true, 3, -1, NULL },
    { "testCase_multiple_matches_exclusive", 3, { { 0, 1 }, { 0, 0, 1 }, { 0, 0, 1 } }, true, true,
      1, 10, NULL },
    { "testCase_multiple_matches_exclusive", 3, { { 0, 1 }, { 0, 0, 1 }, { 0, 0, 1 } }, true, true,
      3, -1, NULL },
    { "testCase_multiple_matches_exclusive", 3, { { 0, 1 }, { 0, 0, 1 }, { 0, 0, 1 } }, true, true,
      2, NAN, "case: more than one pred is true" },
    { "testCase_multiple_matches_non_exclusive", 3, { { 0, 1 }, { 0, 0, 1 }, { 0, 0, 1 } }, false,
      true, 2, 20, NULL },
    { "testCase_withoutDefault", 3, { { 0, 1 }, { 0, 0, 1 }, { 0, 0, 0, 1 } }, false, false, 3, 30,
      NULL },
    { "testCase_withoutDefault", 3, { { 0, 1 }, { 0, 0, 1 }, { 0, 0, 0, 1 } }, false, false, 0, NAN,
      "case: no pred is true" },
    { "testCase_withoutDefault_oneCondition", 1, { { 0, 1 } }, false, false, 1, 10, NULL },
    { "testCase_withoutDefault_oneCondition", 1, { { 0, 1 } }, false, false, 0, NAN,
      "case: no pred is true" },
    { "testCase, duplicate events", 2, { { 0, 1 }, { 0, 1 } }, false, true, 1, 10, NULL },
    { "testCase, none", 1, { { 0, 0, 1 } }, false, true, 1, -1, NULL },
};
enum { SOME_CASES = sizeof some_cases / sizeof *some_cases };

START_TEST(case_cases)
{
    const one_of *o = &some_cases[_i % SOME_CASES];
    trial         t = trial_begin((unsigned)_i / SOME_CASES);
    eddy_tensor   x = integer(&t, o->x), preds[3], values[3], y[EDDY_MAX_RESULTS];
    eddy_function f[3], otherwise = { 0 };
    eddy_tensor   minus = whole(&t, -1);
    for (int k = 0; k < o->n; k++) {
        preds[k] = Less(x, whole(&t, -1));
        for (int v = 0; v < 4; v++)
            if (o->equals[k][v]) preds[k] = eddy_equal(x, whole(&t, v));
        values[k] = whole(&t, 10 * (k + 1));
        f[k] = (eddy_function){ .build = captured, .context = &values[k] };
    }
    if (o->otherwise) otherwise = (eddy_function){ .build = captured, .context = &minus };
    ck_assert_int_eq(eddy_case(preds, f, o->n, y, otherwise, o->exclusive), 1);
    if (isnan(o->want)) check_run_fails(&t, y[0], EDDY_CHECK_FAILED, o->says);
    else is(&t, y[0], V(o->want));
    trial_end(&t);
}
END_TEST

/* testCaseSideEffects: only the update of the function that is taken. */
START_TEST(case_side_effects)
{
    const int     taken = _i % 3;
    trial         t = trial_begin((unsigned)_i / 3);
    eddy_tensor   v[3], pairs[3][2], y[EDDY_MAX_RESULTS];
    eddy_function f[3];
    for (int k = 0; k < 3; k++) {
        v[k] = eddy_variable(t.graph, whole(&t, -1));
        pairs[k][0] = v[k], pairs[k][1] = whole(&t, k);
        f[k] = (eddy_function){ .build = assigned, .context = pairs[k] };
    }
    const eddy_tensor preds[2] = { less(&t, 1, taken == 0 ? 2 : 0),
                                   less(&t, 1, taken == 1 ? 2 : 0) };
    ck_assert_int_eq(eddy_case(preds, f, 2, y, f[2], true), 1);
    initialize(&t);
    is(&t, y[0], V(taken));
    for (int k = 0; k < 3; k++) is(&t, v[k], V(k == taken ? k : -1));
    trial_end(&t);
}
END_TEST

/* testCaseBasics, testCaseBasics_1branch, out-of-range indices: the last branch. */
START_TEST(switch_cases)
{
    enum { MOST = 5 };
    const int     n = _i % 2 ? MOST : 1;
    trial         t = trial_begin((unsigned)_i / 2);
    eddy_tensor   x = constant(&t, 3), k[MOST], index = integer(&t, 0), y[EDDY_MAX_RESULTS];
    eddy_tensor   pairs[MOST];
    eddy_function f[MOST];
    for (int i = 0; i < n; i++) {
        k[i] = constant(&t, i);
        pairs[i] = Mul(x, k[i]);
        f[i] = (eddy_function){ .build = captured, .context = &pairs[i] };
    }
    ck_assert_int_eq(eddy_switch_case(index, f, n, y), 1);
    const eddy_tensor dx = slope(y[0], x);
    for (int i = -3; i < 8; i++) {
        const int at = i >= 0 && i < n ? i : n - 1;
        refeed(&t, index, i);
        is(&t, y[0], V(3 * at)), is(&t, dx, V(at));
    }
    trial_end(&t);
}
END_TEST

Suite *tf_cond_suite(void)
{
    Suite *s = suite_create("tf_cond");
    TCase *c = tcase_create("tf");
    tcase_add_loop_test(c, cond_cases, 0, CONDS * SEEDS);
    tcase_add_loop_test(c, cond_int, 0, SEEDS);
    tcase_add_loop_test(c, case_cases, 0, SOME_CASES * SEEDS);
    tcase_add_loop_test(c, case_side_effects, 0, 3 * SEEDS);
    tcase_add_loop_test(c, switch_cases, 0, 2 * SEEDS);
    suite_add_tcase(s, c);
    return s;
}
