/* test_nested.c -- nested loops and branches. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

/* The parts of the bodies below. */
BODY(below, Less(x[0], c[0]))
BODY(below_four, Less(x[0], 4))
BODY(below_two, Less(x[0], 2))
BODY(doubled, Mul(x[0], 2))
BODY(add_one, Add(x[0], 1))
BODY(square, Square(x[0]))
BODY(minus_one, Sub(x[0], 1))
BODY(times, Mul(x[0], c[0]))
BODY(add, Add(x[0], x[1]))
BODY(multiply, Mul(x[0], x[1]))
BODY(times_row, Mul(x[0], c[0]))
BODY(sine, Sin(x[0]))
BODY(exponential, Exp(x[0]))

static eddy_tensor one_of(int n, const eddy_tensor *y, eddy_graph *g)
{
    ck_assert_msg(n >= 1, "%s", eddy_graph_message(g));
    return y[0];
}
static eddy_tensor loop_while(eddy_function cond, eddy_function body, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return one_of(eddy_while_loop(cond, body, EDDY_LIST(x), y, .maximum_iterations = 50), y,
                  x.graph);
}
static eddy_tensor repeat(int n, eddy_function f, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return one_of(eddy_iterate(n, f, EDDY_LIST(x), y), y, x.graph);
}
static eddy_tensor either(eddy_tensor p, eddy_function yes, eddy_function no, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return one_of(eddy_cond(p, yes, no, y, EDDY_LIST(x)), y, x.graph);
}
static eddy_tensor map(eddy_function f, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return one_of(eddy_map_fn(f, EDDY_LIST(x), y), y, x.graph);
}
static eddy_tensor fold(eddy_function f, eddy_tensor rows, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return one_of(eddy_foldl(f, EDDY_LIST(rows), y, EDDY_LIST(x)), y, x.graph);
}
static eddy_tensor scan(eddy_function f, eddy_tensor rows, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    return one_of(eddy_scan(f, EDDY_LIST(rows), y, EDDY_LIST(x)), y, x.graph);
}

/* ------------------------------------------------------ loops and branches -- */

BODY(square_or_less, either(Less(x[0], 50), PLAIN(square), PLAIN(minus_one), x[0]))

/* tf: testWhileCondGrad_Simple -- 3, 9, 81, then one less until it is below 78. */
BODY(not_near_77, GreaterEqual(Abs(Sub(x[0], 77.5)), 1))
START_TEST(cond_in_while)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 3), y = loop_while(PLAIN(not_near_77), PLAIN(square_or_less), x);
    eddy_tensor dx = slope(y, x);
    is(&t, y, V(78)), is(&t, dx, V(4 * 27)), is(&t, slope(dx, x), V(12 * 9));
    refeed(&t, x, 81);
    is(&t, y, V(78)), is(&t, dx, V(1)), is(&t, slope(dx, x), V(0));
    refeed(&t, x, 77.25);
    is(&t, y, V(77.25)), is(&t, dx, V(1));
    trial_end(&t);
}
END_TEST

BODY(square_until_c, loop_while(FUNCTION(below, c[0]), PLAIN(square), x[0]))
START_TEST(while_in_cond)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = fed_real(&t, 2), end = fed_real(&t, 100);
    eddy_tensor y = either(p, FUNCTION(square_until_c, end), PLAIN(sine), x), dx = slope(y, x);
    is(&t, y, V(256)), is(&t, dx, V(1024)), is(&t, slope(dx, x), V(56 * 64));
    refeed(&t, p, 0);
    is(&t, y, V(sin(2))), is(&t, dx, V(cos(2))), is(&t, slope(dx, x), V(-sin(2)));
    refeed(&t, p, 1), refeed(&t, end, 1);
    is(&t, y, V(2)), is(&t, dx, V(1)), is(&t, slope(dx, x), V(0));
    trial_end(&t);
}
END_TEST

/* tf: testNestedWhileGrad_Simple -- 8 x. */
BODY(twice_the_inner, Mul(loop_while(PLAIN(below_four), PLAIN(doubled), x[0]), 2))
START_TEST(while_in_while)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 1), y = loop_while(PLAIN(below_two), PLAIN(twice_the_inner), x);
    eddy_tensor dx = slope(y, x);
    is(&t, y, V(8)), is(&t, dx, V(8));
    refeed(&t, x, 0.375);                            /* 6 by four doublings, and one more */
    is(&t, y, V(12)), is(&t, dx, V(32));
    refeed(&t, x, 3);
    is(&t, y, V(3)), is(&t, dx, V(1));
    trial_end(&t);
}
END_TEST

/* The inner loop runs as often as the outer counter says. */
BODY(fewer_than, Less(x[0], c[0]))
BODY(count_and_times, Add(x[0], 1), Mul(x[1], c[0]))
static int triangle(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor       z[2], *c = context;
    const eddy_tensor zero = eddy_number(in.at[0].graph, EDDY_INT32, 0);
    eddy_while_loop(FUNCTION(fewer_than, in.at[0]), FUNCTION(count_and_times, c[0]),
                    EDDY_LIST(zero, in.at[1]), z, .maximum_iterations = 20);
    y[0] = Add(in.at[0], 1);
    y[1] = z[1];
    return 2;
}
START_TEST(inner_counts_from_outer_ones)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 0), a = fed_real(&t, 1.25), zero = whole(&t, 0),
                one = fed_real(&t, 1), y[2];
    eddy_while_loop(FUNCTION(fewer_than, n), FUNCTION(triangle, a), EDDY_LIST(zero, one), y,
                    .maximum_iterations = 20);
    eddy_tensor da = slope(y[1], a), dda = slope(da, a);
    for (int k = 0; k < 7; k++) {
        const int p = k * (k - 1) / 2;              /* a^p */
        refeed(&t, n, k);
        is(&t, y[1], V(pow(1.25, p))), is(&t, da, V(p * pow(1.25, p - 1)));
        is(&t, dda, V(p * (p - 1) * pow(1.25, p - 2)));
    }
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------ rows of rows -- */

BODY(scanned_row, Add(x[0], Sum(scan(PLAIN(multiply), x[1], x[0]))))

/* z + z r0 + z r0 r1 + ...: the plain loop, with its derivative in z. */
START_TEST(scan_in_scan)
{
    trial        t = trial_begin((unsigned)_i);
    const double v[6] = { 0.5, -1, 2, 0.25, 1.5, -0.5 };
    eddy_tensor  rows = given(&t, F64, EDDY_SHAPE(2, 3), v), z = fed_real(&t, 0.75);
    eddy_tensor  y = scan(PLAIN(scanned_row), rows, z), dz = slope(y, z);
    double       at = 0.75, want[2], factor = 1, sum = 0;
    for (int r = 0; r < 2; r++) {
        double p = 1, all = 1;
        for (int i = 0; i < 3; i++) all += p *= v[3 * r + i];
        want[r] = at *= all;
        sum += factor *= all;
    }
    is(&t, y, 2, want), is(&t, dz, 1, &sum);
    trial_end(&t);
}
END_TEST

BODY(add_mapped, Add(x[0], Sum(Square(map(FUNCTION(times_row, x[0]), x[1])))))
START_TEST(map_in_scan)
{
    trial        t = trial_begin((unsigned)_i);
    const double v[4] = { 0.5, -1, 0.25, 0.75 };
    eddy_tensor  rows = given(&t, F64, EDDY_SHAPE(2, 2), v), z = fed_real(&t, 0.5);
    eddy_tensor  y = fold(PLAIN(add_mapped), rows, z), dz = slope(y, z), drows = slope(y, rows);
    /* w = z + z^2 (v0^2 + v1^2), then the same with the second row */
    const double p = 1.25, q = 0.0625 + 0.5625, w = 0.5 + 0.25 * p, dw = 1 + p, s = 1 + 2 * w * q;
    is(&t, y, V(w + w * w * q)), is(&t, dz, V(dw * s));
    is(&t, drows, V(s * 0.5 * 0.5, s * 0.5 * -1, w * w * 0.5, w * w * 1.5));
    is(&t, slope(dz, z), V(2 * p * s + dw * dw * 2 * q));
    trial_end(&t);
}
END_TEST

BODY(mapped_row, map(FUNCTION(times, c[0]), x[0]))
START_TEST(map_in_map)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor rows = given(&t, F64, EDDY_SHAPE(2, 3), (double[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor a = fed_real(&t, 3), y = map(FUNCTION(mapped_row, a), rows),
                da = slope(Square(y), a);
    is(&t, y, V(3, 6, 9, 12, 15, 18)), is(&t, da, V(6 * 91)), is(&t, slope(da, a), V(2 * 91));
    is(&t, slope(y, rows), V(3, 3, 3, 3, 3, 3));
    trial_end(&t);
}
END_TEST

BODY(sine_if_large, either(Greater(x[0], c[0]), PLAIN(sine), PLAIN(exponential), x[0]))
START_TEST(cond_in_map)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(-1, 0.5, 2)), edge = fed_real(&t, 0);
    eddy_tensor y = map(FUNCTION(sine_if_large, edge), x), dx = slope(y, x), ddx = slope(dx, x);
    is(&t, y, V(exp(-1), sin(0.5), sin(2))), is(&t, dx, V(exp(-1), cos(0.5), cos(2)));
    is(&t, ddx, V(exp(-1), -sin(0.5), -sin(2)));
    refeed(&t, edge, 1);
    is(&t, y, V(exp(-1), exp(0.5), sin(2))), is(&t, ddx, V(exp(-1), exp(0.5), -sin(2)));
    trial_end(&t);
}
END_TEST

BODY(inner_choice, either(Less(x[0], 0), PLAIN(square), PLAIN(sine), x[0]))
START_TEST(cond_in_cond)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = fed_real(&t, -2);
    eddy_tensor y = either(p, PLAIN(inner_choice), PLAIN(exponential), x), dx = slope(y, x);
    is(&t, y, V(4)), is(&t, dx, V(-4)), is(&t, slope(dx, x), V(2));
    refeed(&t, x, 1);
    is(&t, y, V(sin(1))), is(&t, dx, V(cos(1)));
    refeed(&t, p, 0);
    is(&t, y, V(exp(1))), is(&t, dx, V(exp(1)));
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------- depth -- */

/* Level 0 adds c; each level above repeats the one below twice. */
static int level(eddy_list in, eddy_tensor *y, void *context);
typedef struct tower {
    int         height;
    eddy_tensor c;
} tower;
static int level(eddy_list in, eddy_tensor *y, void *context)
{
    tower t = *(tower *)context;
    if (t.height == 0) {
        y[0] = Mul(in.at[0], t.c);
        return 1;
    }
    t.height--;
    y[0] = repeat(2, (eddy_function){ .build = level, .context = &t }, in.at[0]);
    return 1;
}
START_TEST(towers)
{
    trial       t = trial_begin((unsigned)_i);
    tower       all = { 5, fed_real(&t, 1.01) };
    eddy_tensor x = fed_real(&t, 2), y;
    level(EDDY_LIST(x), &y, &all);
    eddy_tensor d = slope(y, all.c);
    is(&t, y, V(2 * pow(1.01, 32))), is(&t, d, V(64 * pow(1.01, 31)));
    is(&t, slope(d, all.c), V(64 * 31 * pow(1.01, 30)));
    trial_end(&t);
}
END_TEST

/* ---------------------------------------------------------------- constants -- */

/* A captured constant is a constant of the body: times 1 and plus 0 cost nothing, at any depth; a
 * gradient with respect to it is still there. */
BODY(times_and_plus, Add(Mul(x[0], c[0]), c[1]))
BODY(inner_times, repeat(2, FUNCTION(times_and_plus, c[0], c[1]), x[0]))
static double flops_of(trial *t, eddy_tensor y)
{
    eddy_session  *s = eddy_session_new(t->graph);
    eddy_array    *a = NULL;
    eddy_feed      feeds[TRIAL_FEEDS];
    eddy_plan_info info;
    for (int i = 0; i < t->n; i++) feeds[i] = (eddy_feed){ t->tensor[i], t->array[i] };
    ck_assert_int_eq(eddy_run(s, (eddy_feeds){ t->n, feeds }, EDDY_FETCH(y), &a), EDDY_OK);
    info = eddy_session_plan_info(s);
    eddy_array_free(a);
    eddy_session_free(s);
    return info.flops;
}
START_TEST(captured_constants)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2, 3)), unit = constant(&t, 1), zero = constant(&t, 0);
    eddy_tensor given_unit = fed_real(&t, 1), given_zero = fed_real(&t, 0);
    eddy_tensor y = repeat(5, FUNCTION(inner_times, unit, zero), x);
    eddy_tensor z = repeat(5, FUNCTION(inner_times, given_unit, given_zero), x);
    is(&t, y, V(1, 2, 3)), is(&t, z, V(1, 2, 3)), is(&t, slope(y, unit), V(60));
    is(&t, slope(z, given_unit), V(60)), is(&t, slope(y, zero), V(30));
    ck_assert(flops_of(&t, y) == 0);
    ck_assert(flops_of(&t, z) == 3 * 2 * 10);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------- neighbors -- */

START_TEST(independent_loops)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2), a = repeat(3, PLAIN(square), x),
                b = repeat(4, PLAIN(doubled), x);
    eddy_tensor y = Add(Mul(a, b), repeat(2, PLAIN(add_one), a)), dx = slope(y, x);
    is(&t, y, V(16 * 512 + 256 + 2)), is(&t, dx, V(16 * 9 * 256 + 1024));
    is(&t, slope(dx, x), V(16 * 72 * 128 + 56 * 64));
    trial_end(&t);
}
END_TEST

/* One loop feeds the next, and its gradient goes through both. */
START_TEST(loops_in_a_row)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(0.5, 0.25)), s = map(PLAIN(square), x), z = fed_real(&t, 1);
    eddy_tensor y = fold(PLAIN(add), scan(PLAIN(multiply), s, z), z), dx = slope(y, x);
    /* 1 + a^2 + a^2 b^2 */
    is(&t, y, V(1 + 0.25 + 0.25 * 0.0625)), is(&t, dx, V(1 + 0.0625, 2 * 0.25 * 0.25));
    trial_end(&t);
}
END_TEST

Suite *nested_suite(void)
{
    Suite *s = suite_create("nested");
    TCase *c = tcase_create("pairs");
    tcase_add_loop_test(c, cond_in_while, 0, SEEDS);
    tcase_add_loop_test(c, while_in_cond, 0, SEEDS);
    tcase_add_loop_test(c, while_in_while, 0, SEEDS);
    tcase_add_loop_test(c, inner_counts_from_outer_ones, 0, SEEDS);
    tcase_add_loop_test(c, scan_in_scan, 0, SEEDS);
    tcase_add_loop_test(c, map_in_scan, 0, SEEDS);
    tcase_add_loop_test(c, map_in_map, 0, SEEDS);
    tcase_add_loop_test(c, cond_in_map, 0, SEEDS);
    tcase_add_loop_test(c, cond_in_cond, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("depth");
    tcase_add_loop_test(c, towers, 0, SEEDS);
    tcase_add_loop_test(c, captured_constants, 0, SEEDS);
    tcase_add_loop_test(c, independent_loops, 0, SEEDS);
    tcase_add_loop_test(c, loops_in_a_row, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
