/* test_kept_values.c -- what the gradient of a loop does not keep: rows of inputs in another shape,
 * zeros for stacks that nothing reads, and the number of iterations where it is given. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

enum { ROWS = 1000, WIDE = 16 };

static eddy_graph *new_trial(trial *t)
{
    eddy_graph *g = eddy_graph_new();
    *t = (trial){ .graph = g, .session = eddy_session_new(g) };
    return g;
}

/* The planned memory of a run of y. */
static size_t bytes_of(trial *t, eddy_tensor y)
{
    eddy_array_free(value(t, y));
    const size_t bytes = eddy_session_plan_info(t->session).arena_bytes;
    trial_end(t);
    return bytes;
}

static eddy_tensor matrix_rows(trial *t)
{
    const eddy_shape s = EDDY_SHAPE(ROWS, 4, WIDE / 4);
    return eddy_set_shape(fed(t, filled(t, F64, s)), s);
}

static eddy_tensor flat(eddy_tensor row)
{
    return eddy_reshape(eddy_expand_dims(row, 0), EDDY_SHAPE(WIDE));
}
BODY(weighted, Add(Mul(x[0], 0.5), Sum(Mul(flat(x[1]), c[0]))))

/* The gradient of a sum of w . row needs only the rows, which are an input. */
START_TEST(rows_in_another_shape)
{
    trial       t;
    eddy_graph *g = new_trial(&t);
    eddy_tensor w = eddy_ones(g, F64, EDDY_SHAPE(WIDE)), y[1];
    ck_assert_int_eq(eddy_foldl(FUNCTION(weighted, w), EDDY_LIST(matrix_rows(&t)), y,
                                EDDY_LIST(eddy_number(g, F64, 0))), 1);
    ck_assert_uint_lt(bytes_of(&t, slope(y[0], w)), ROWS * sizeof(double));
}
END_TEST

BODY(with_a_stack, Tanh(Mul(x[0], c[0])), Mul(x[0], x[1]))

/* The derivative of the final value, which does not depend on the stack. */
START_TEST(unread_stacks)
{
    trial       t;
    eddy_graph *g = new_trial(&t);
    eddy_tensor a = fed_real(&t, 0.5), y[2];
    ck_assert_int_eq(eddy_loop(FUNCTION(with_a_stack, a), EDDY_LIST(eddy_number(g, F64, 1)),
                               EDDY_LIST(matrix_rows(&t)), y), 2);
    ck_assert_uint_lt(bytes_of(&t, slope(y[0], a)), ROWS * WIDE * sizeof(double));
}
END_TEST

BODY(scaled, Mul(x[0], 0.999))

/* The last segment is shorter, so the loops in segments have a count. The derivative needs no
 * forward iteration, and no carried value before a segment. */
START_TEST(given_counts)
{
    trial t;
    new_trial(&t);
    eddy_tensor x = fed(&t, filled(&t, F64, EDDY_SHAPE(ROWS))), y[1];
    ck_assert_int_eq(eddy_iterate(ROWS + 1, PLAIN(scaled),
                                  EDDY_LIST(eddy_set_shape(x, EDDY_SHAPE(ROWS))), y,
                                  .segment = 10), 1);
    ck_assert_uint_lt(bytes_of(&t, slope(y[0], x)), 4 * ROWS * sizeof(double));
}
END_TEST

Suite *kept_values_suite(void)
{
    Suite *s = suite_create("kept_values");
    TCase *c = tcase_create("memory");
    tcase_add_test(c, rows_in_another_shape);
    tcase_add_test(c, unread_stacks);
    tcase_add_test(c, given_counts);
    suite_add_tcase(s, c);
    return s;
}
