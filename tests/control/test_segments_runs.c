/* test_segments_runs.c -- runs of loops in segments: side effects happen once, draws are repeated,
 * and values of all types are carried, sliced, stacked and mapped. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

typedef struct option {
    eddy_recompute recompute;
    int64_t        segment;
} option;
static const option options[] = { { EDDY_RECOMPUTE_NONE, 0 }, { EDDY_RECOMPUTE_NONE, 1 },
                                  { EDDY_RECOMPUTE_NONE, 4 }, { EDDY_RECOMPUTE_SQRT, 0 },
                                  { EDDY_RECOMPUTE_LOG, 0 } };
enum { OPTIONS = 5 };

/* ---------------------------------------------------------- side effects -- */

BODY(scaled_by_draw, Mul(x[0], eddy_random_uniform(x[0].graph, EDDY_SCALAR, .dtype = EDDY_FLOAT64,
                                                   .minval = 0.5, .maxval = 1.5)))

/* x times draws: the derivative by x is the same product in each run. */
START_TEST(draws_are_repeated)
{
    trial        t = trial_begin((unsigned)_i);
    const option o = options[_i % OPTIONS];
    eddy_tensor  x = fed_real(&t, 3), y[1];
    ck_assert_int_eq(eddy_iterate(11, PLAIN(scaled_by_draw), EDDY_LIST(x), y,
                                  .recompute = o.recompute, .segment = o.segment), 1);
    eddy_tensor d = slope(y[0], x), both = eddy_stack(EDDY_LIST(y[0], Mul(d, x)));
    double      last = 0;
    for (int run = 0; run < 3; run++) {
        eddy_array  *a = value(&t, both);
        const double v = eddy_array_get(a, 0), w = eddy_array_get(a, 1);
        ck_assert_msg(fabs(v - w) <= 1e-12 * fabs(v), "%.17g, not %.17g", w, v);
        ck_assert(v != last);
        last = v;
        eddy_array_free(a);
    }
    trial_end(&t);
}
END_TEST

static int lines;
static void count_line(void *user, const char *line)
{
    (void)user, (void)line;
    lines++;
}

static int with_effects(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context, printed = eddy_print(in.at[0], .write = count_line);
    eddy_assert(Less(in.at[1], 100), EDDY_LIST(in.at[1]), "a large row");
    eddy_assign_add(c[0], in.at[1]);
    y[0] = Add(Mul(printed, c[0]), Sin(in.at[1]));
    return 1;
}

/* Lines are printed and variables updated once an iteration, although the gradient runs the
 * iterations again. */
START_TEST(effects_happen_once)
{
    double      want[4] = { 0 };
    for (int k = 0; k < OPTIONS; k++) {
        trial        t = trial_begin((unsigned)(6 * k + _i));
        const option o = options[k];
        eddy_tensor  v = eddy_variable(t.graph, constant(&t, 0.5), .name = "v");
        eddy_tensor  rows = numbers(&t, V(.1, .2, .3, .4, .5, .6, .7)), x = fed_real(&t, 1.5), y[1];
        initialize(&t);
        const int n = eddy_foldl(FUNCTION(with_effects, v), EDDY_LIST(rows), y, EDDY_LIST(x),
                                 .recompute = o.recompute, .segment = o.segment);
        ck_assert_msg(n == 1, "%s", eddy_graph_message(t.graph));
        eddy_tensor d = slope(y[0], x);
        lines = 0;
        eddy_array *a = value(&t, eddy_stack(EDDY_LIST(y[0], d)));
        ck_assert_int_eq(lines, 7);
        eddy_array *after = value(&t, v);
        const double got[3] = { eddy_array_get(a, 0), eddy_array_get(a, 1),
                                eddy_array_item(after) };
        for (int i = 0; i < 3; i++) {
            if (k == 0) want[i] = got[i];
            ck_assert_msg(fabs(got[i] - want[i]) <= 1e-12, "%.17g, not %.17g", got[i], want[i]);
        }
        ck_assert_double_le(fabs(want[2] - 3.3), 1e-12);
        eddy_array_free(a), eddy_array_free(after);
        trial_end(&t);
    }
}
END_TEST

BODY(counted_step, Add(x[0], 1), LogicalNot(x[1]), eddy_where(x[1], Sin(x[2]), Mul(x[2], x[3])),
     Mul(x[2], Cast(x[0], EDDY_FLOAT64)), x[1], Mul(x[4], x[0]))

/* Integers and truth values are carried, sliced and stacked; rows are taken in reverse. */
START_TEST(other_types)
{
    const option o = options[1 + _i % (OPTIONS - 1)];
    trial        t = trial_begin((unsigned)_i);
    const bool   reverse = _i / SEEDS;
    eddy_tensor  rows = numbers(&t, V(.1, .2, .3, .4, .5, .6, .7)), x = fed_real(&t, 1.5), y[2][6];
    eddy_tensor  whole_rows = given(&t, I32, EDDY_SHAPE(7), (double[]){ 3, 1, 4, 1, 5, 9, 2 });
    for (int k = 0; k < 2; k++)
        ck_assert_msg(eddy_loop(PLAIN(counted_step), EDDY_LIST(whole(&t, 0), truth(&t, true), x),
                                EDDY_LIST(rows, whole_rows), y[k], .reverse = reverse,
                                .recompute = k ? o.recompute : EDDY_RECOMPUTE_NONE,
                                .segment = k ? o.segment : 0) == 6,
                      "%s", eddy_graph_message(t.graph));
    for (int i = 0; i < 6; i++) {
        eddy_array *want = value(&t, y[0][i]);
        check_array(&t, y[1][i], want);
        eddy_array_free(want);
    }
    trial_end(&t);
}
END_TEST

BODY(grown_step, Mul(x[0], 1.25), x[0])

/* Stacks of a loop without rows. */
START_TEST(counted_stacks)
{
    const option o = options[_i % OPTIONS];
    trial        t = trial_begin((unsigned)_i);
    eddy_tensor  x = fed_real(&t, 2), y[2];
    double       want[7] = { 2 }, sum = 0;
    for (int i = 1; i < 7; i++) want[i] = 1.25 * want[i - 1];
    for (int i = 0; i < 7; i++) sum += want[i] / 2;
    ck_assert_int_eq(eddy_loop(PLAIN(grown_step), EDDY_LIST(x), EDDY_LIST(), y, 7,
                               .recompute = o.recompute, .segment = o.segment), 2);
    is(&t, y[0], V(1.25 * want[6])), is(&t, y[1], 7, want), is(&t, slope(y[1], x), V(sum));
    trial_end(&t);
}
END_TEST

BODY(below, Less(x[0], 10))
BODY(grow, Add(Mul(x[0], 1.5), 0.25))
static int grown(eddy_list in, eddy_tensor *y, void *context)
{
    const option *o = context;
    const int     n = eddy_while_loop(PLAIN(below), PLAIN(grow), in, y, .recompute = o->recompute,
                                      .segment = o->segment);
    if (n == 1) y[1] = eddy_gradient(Square(y[0]), in.at[0]);
    return n + 1;
}

/* Examples that take different numbers of iterations, with a gradient inside and outside. */
START_TEST(maps_over_examples)
{
    option      none = options[0], some = options[1 + _i % (OPTIONS - 1)];
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(0.1, 12, 2, 0.5, 9)), y[2], z[2];
    x = eddy_set_shape(x, EDDY_SHAPE(5));
    ck_assert_msg(eddy_vmap(((eddy_function){ grown, .context = &none }), EDDY_LIST(x), y) == 2 &&
                  eddy_vmap(((eddy_function){ grown, .context = &some }), EDDY_LIST(x), z) == 2,
                  "%s", eddy_graph_message(t.graph));
    const eddy_tensor want[4] = { y[0], y[1], slope(y[0], x), slope(y[1], x) };
    const eddy_tensor got[4] = { z[0], z[1], slope(z[0], x), slope(z[1], x) };
    for (int i = 0; i < 4; i++) {
        eddy_array *a = value(&t, want[i]);
        is(&t, got[i], 5, eddy_array_data(a));
        eddy_array_free(a);
    }
    trial_end(&t);
}
END_TEST

/* ... and where both a limit that a segment does not divide and the conditions end them. */
static int limited(eddy_list in, eddy_tensor *y, void *context)
{
    const option *o = context;
    return eddy_while_loop(PLAIN(below), PLAIN(grow), in, y, .maximum_iterations = 7,
                           .recompute = o->recompute, .segment = o->segment);
}

START_TEST(maps_of_limited_loops)
{
    static const option how[] = { { EDDY_RECOMPUTE_NONE, 3 }, { EDDY_RECOMPUTE_NONE, 2 },
                                  { EDDY_RECOMPUTE_NONE, 7 }, { EDDY_RECOMPUTE_SQRT, 0 } };
    option      none = options[0], some = how[_i % 4];
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(0.1, 12, 2, 0.5, 9, 0.3)), y[1], z[1];
    x = eddy_set_shape(x, EDDY_SHAPE(6));
    ck_assert_msg(eddy_vmap(((eddy_function){ limited, .context = &none }), EDDY_LIST(x), y) == 1 &&
                  eddy_vmap(((eddy_function){ limited, .context = &some }), EDDY_LIST(x), z) == 1,
                  "%s", eddy_graph_message(t.graph));
    y[0] = Sin(y[0]), z[0] = Sin(z[0]);
    for (int order = 0; order < 3; order++, y[0] = slope(y[0], x), z[0] = slope(z[0], x)) {
        eddy_array *a = value(&t, y[0]);
        is(&t, z[0], 6, eddy_array_data(a));
        eddy_array_free(a);
    }
    trial_end(&t);
}
END_TEST

START_TEST(eager)
{
    eddy_graph *g = eddy_graph_new();
    const option o = options[_i];
    eddy_tensor  x = eddy_number(g, F64, 0.1), y[1];
    eddy_while_loop(PLAIN(below), PLAIN(grow), EDDY_LIST(x), y, .recompute = o.recompute,
                    .segment = o.segment);
    const eddy_array *v = eddy_eval(slope(Square(y[0]), x)), *u = eddy_eval(y[0]);
    ck_assert(u && v);
    ck_assert_double_le(fabs(eddy_array_item(v) - 2 * eddy_array_item(u) * pow(1.5, 8)), 1e-9);
    eddy_graph_free(g);
}
END_TEST

Suite *segments_runs_suite(void)
{
    Suite *s = suite_create("segments_runs");
    TCase *c = tcase_create("effects");
    tcase_add_loop_test(c, draws_are_repeated, 0, SEEDS * OPTIONS);
    tcase_add_loop_test(c, effects_happen_once, 0, SEEDS);
    tcase_add_loop_test(c, other_types, 0, 2 * SEEDS);
    tcase_add_loop_test(c, counted_stacks, 0, SEEDS * OPTIONS);
    tcase_add_loop_test(c, maps_over_examples, 0, SEEDS * OPTIONS);
    tcase_add_loop_test(c, maps_of_limited_loops, 0, SEEDS);
    tcase_add_loop_test(c, eager, 0, OPTIONS);
    suite_add_tcase(s, c);
    return s;
}
