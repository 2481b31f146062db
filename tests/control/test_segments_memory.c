/* test_segments_memory.c -- loops in segments: memory grows as promised, also for a million
 * iterations and for the steps of solvers. */
#include "build/gen/suites.h"
#include "control/segments.h"
#include "control/solvers.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

typedef struct option {
    eddy_recompute recompute;
    int64_t        segment;
} option;
static const option options[] = { { EDDY_RECOMPUTE_NONE, 0 }, { EDDY_RECOMPUTE_NONE, 1 },
                                  { EDDY_RECOMPUTE_NONE, 4 }, { EDDY_RECOMPUTE_SQRT, 0 },
                                  { EDDY_RECOMPUTE_LOG, 0 } };
enum { OPTIONS = 5 };

static eddy_graph *new_trial(trial *t, size_t max_bytes)
{
    eddy_graph *g = eddy_graph_new();
    *t = (trial){ .graph = g, .session = eddy_session_new(g, .max_bytes = max_bytes) };
    return g;
}

/* -------------------------------------------------------- steps of solvers -- */

BODY(pendulum, x[2], Neg(Mul(c[0], Sin(x[1]))))

static eddy_tensor swing(trial *t, eddy_tensor p, eddy_ode_method method, option o)
{
    eddy_tensor       y[2];
    const eddy_tensor at = eddy_const(t->graph, F64, EDDY_SHAPE(2), (double[]){ 0, 3 });
    ck_assert_msg(eddy_odeint(FUNCTION(pendulum, p), EDDY_LIST(constant(t, 1), constant(t, 0)), at,
                              y, method, .steps = 500, .rtol = 1e-10, .recompute = o.recompute,
                              .segment = o.segment) == 2,
                  "%s", eddy_graph_message(t->graph));
    return eddy_index(y[0], "1");
}

/* The memory of a slope of it. */
static double bytes_of_swing(eddy_ode_method method, option o)
{
    trial       t;
    eddy_graph *g = new_trial(&t, 0);
    eddy_tensor p = eddy_placeholder_with_default(eddy_number(g, F64, 2), NULL, EDDY_SCALAR);
    eddy_array_free(value(&t, slope(swing(&t, p, method, o), p)));
    const double bytes = (double)eddy_session_plan_info(t.session).arena_bytes;
    trial_end(&t);
    return bytes;
}

START_TEST(solvers)
{
    const eddy_ode_method method = _i % 2 ? EDDY_RK4 : EDDY_DOPRI5;
    for (int k = 1; k < OPTIONS; k++) {
        trial       t = trial_begin((unsigned)_i);
        eddy_tensor p = fed_real(&t, 2);
        eddy_tensor y = swing(&t, p, method, options[0]), z = swing(&t, p, method, options[k]);
        for (int order = 0; order < 3; order++, y = slope(y, p), z = slope(z, p)) {
            eddy_array *want = value(&t, y);
            is(&t, z, 1, eddy_array_data(want));
            eddy_array_free(want);
        }
        trial_end(&t);
    }
    const option root = { EDDY_RECOMPUTE_SQRT, 0 };
    if (method == EDDY_RK4)         /* without step control the plan knows the memory */
        ck_assert_double_lt(bytes_of_swing(method, root), bytes_of_swing(method, options[0]) / 4);
}
END_TEST

/* ---------------------------------------------------------------- lengths -- */

/* A segment has at least half and at most twice as many iterations as the best number. */
START_TEST(lengths_are_near_the_root)
{
    static const loop_spec root = { .recompute = EDDY_RECOMPUTE_SQRT };
    for (int64_t n = 0; n <= 3000; n++) {
        const int64_t k = eddy__segments_length(&root, n);
        if (k == 0 && n < 4) continue;          /* one segment */
        ck_assert_msg(4 * k * k >= n && k * k <= 4 * n, "of %lld iterations: %lld", (long long)n,
                      (long long)k);
    }
    ck_assert_int_eq(eddy__segments_length(&root, 100), 10);
    ck_assert_int_eq(eddy__segments_length(&root, 5), 4);
    ck_assert_int_eq(eddy__segments_length(&root, 13), 4);
}
END_TEST

/* ---------------------------------------------------------------- memory -- */

enum { WIDE = 16 };
BODY(cell, Tanh(Add(MatMul(x[0], c[0]), x[1])))

/* The planned memory of a derivative of n iterations. */
static double bytes_of(int n, eddy_recompute recompute, int order)
{
    trial       t;
    eddy_graph *g = new_trial(&t, 0);
    eddy_tensor w = fed(&t, filled(&t, F64, EDDY_SHAPE(WIDE, WIDE))), y[1];
    eddy_tensor rows = fed(&t, filled(&t, F64, EDDY_SHAPE(n, 1, WIDE)));
    eddy_foldl(FUNCTION(cell, Mul(w, 0.01)),
               EDDY_LIST(eddy_set_shape(rows, EDDY_SHAPE(n, 1, WIDE))), y,
               EDDY_LIST(eddy_zeros(g, F64, EDDY_SHAPE(1, WIDE))), .recompute = recompute);
    for (int k = 0; k < order; k++) y[0] = slope(y[0], w);
    eddy_array_free(value(&t, y[0]));
    const double bytes = (double)eddy_session_plan_info(t.session).arena_bytes;
    trial_end(&t);
    return bytes;
}

START_TEST(memory_grows_slowly)
{
    const int order = 1 + _i;
    double    plain[3], root[3], logarithm[3];
    for (int i = 0, n = 1000 / order; i < 3; i++, n *= 10) {
        plain[i] = bytes_of(n, EDDY_RECOMPUTE_NONE, order);
        root[i] = bytes_of(n, EDDY_RECOMPUTE_SQRT, order);
        logarithm[i] = bytes_of(n, EDDY_RECOMPUTE_LOG, order);
    }
    for (int i = 1; i < 3; i++) {
        ck_assert_double_gt(plain[i], 9 * plain[i - 1]);
        ck_assert_double_lt(root[i], 4 * root[i - 1]);
        ck_assert_double_lt(logarithm[i] - logarithm[i - 1], order * 8 * 1024);
    }
    ck_assert_double_lt(root[2], plain[2] / 100);
    ck_assert_double_lt(logarithm[2], plain[2] / 500);
}
END_TEST

BODY(fewer, Less(x[0], c[0]))
BODY(count_and_multiply, Add(x[0], 1), Mul(x[1], c[0]))

/* With a limit of 64 KiB, of which a loop without segments would need a thousand. */
START_TEST(a_million_iterations)
{
    static const int64_t limits[] = { 1000000, -1, 1 << 30, 1000000, -1 };
    static const option  how[] = { { EDDY_RECOMPUTE_SQRT, 0 }, { EDDY_RECOMPUTE_SQRT, 1000 },
                                   { EDDY_RECOMPUTE_NONE, 1000 }, { EDDY_RECOMPUTE_LOG, 0 },
                                   { EDDY_RECOMPUTE_LOG, 0 } };
    trial        t;
    eddy_graph  *g = new_trial(&t, 1 << 16);
    eddy_tensor  n = integer(&t, 1000000), x = fed_real(&t, 2), a = fed_real(&t, 0.999999), y[2];
    const double want = 2 * 1e6 * pow(0.999999, 1e6 - 1);
    eddy_while_loop(FUNCTION(fewer, n), FUNCTION(count_and_multiply, a),
                    EDDY_LIST(eddy_number(g, I32, 0), x), y, .maximum_iterations = limits[_i],
                    .recompute = how[_i].recompute, .segment = how[_i].segment);
    const double got = scalar_value(&t, slope(y[1], a));
    ck_assert_msg(fabs(got - want) <= 1e-6 * want, "%.17g, not %.17g", got, want);
    trial_end(&t);
}
END_TEST

/* Segments whose number is large, of a loop that ends soon. */
START_TEST(far_limits)
{
    trial       t;
    eddy_graph *g = new_trial(&t, 1 << 20);
    eddy_tensor n = integer(&t, 5), x = fed_real(&t, 2), a = fed_real(&t, 0.5), y[2];
    const int64_t most = _i % 2 ? INT64_MAX : INT64_MAX - 1, longest = (int64_t)1 << 31;
    for (int k = 0; k < OPTIONS; k++) {
        ck_assert_msg(eddy_while_loop(FUNCTION(fewer, n), FUNCTION(count_and_multiply, a),
                                      EDDY_LIST(eddy_number(g, I32, 0), x), y,
                                      .maximum_iterations = most,
                                      .recompute = options[k].recompute,
                                      .segment = _i / 2 ? longest : options[k].segment) == 2 ||
                      (_i / 2 && options[k].recompute == EDDY_RECOMPUTE_LOG),
                      "%s", eddy_graph_message(g));
        if (_i / 2 && options[k].recompute == EDDY_RECOMPUTE_LOG) {
            eddy_graph_clear_error(g);
            continue;
        }
        is(&t, y[1], V(2. / 32)), is(&t, slope(y[1], a), V(2 * 5. / 16));
    }
    trial_end(&t);
}
END_TEST

Suite *segments_memory_suite(void)
{
    Suite *s = suite_create("segments_memory");
    TCase *c = tcase_create("solvers");
    tcase_add_loop_test(c, solvers, 0, 1);
    suite_add_tcase(s, c);
    c = tcase_create("other seeds");
    tcase_set_tags(c, "many");
    tcase_add_loop_test(c, solvers, 1, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("lengths");
    tcase_add_test(c, lengths_are_near_the_root);
    suite_add_tcase(s, c);
    c = tcase_create("memory");
    tcase_set_tags(c, "slow");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, memory_grows_slowly, 0, 2);
    tcase_add_loop_test(c, a_million_iterations, 0, 5);
    tcase_add_loop_test(c, far_limits, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
