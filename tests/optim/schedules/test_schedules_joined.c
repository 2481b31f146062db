/* test_schedules_joined.c -- cyclic rates against PyTorch's formula, and sequences of schedules. */
#include "tests/lib/checks.h"

#include <math.h>

Suite *schedules_joined_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   step;         /* int64, fed */

static void setup(void)
{
    g = eddy_graph_new();
    step = eddy_placeholder(g, "step", EDDY_INT64, EDDY_SCALAR);
}

static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor n(double x) { return real(g, x); }

static double at(eddy_tensor y, int value)
{
    eddy_array *in = eddy_array_of(EDDY_INT64, value), *out = NULL;
    fits(g);
    if (!s) s = eddy_session_new(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ step, in }), EDDY_FETCH(y), &out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    const double got = eddy_array_item(out);
    eddy_array_free(in);
    eddy_array_free(out);
    return got;
}

/* CyclicLR.get_lr of PyTorch, with cycles of 3 steps up and 5 down between 0.1 and 0.7. */
static double torch_cyclic(int t, int mode)
{
    const double total = 3 + 5, ratio = 3 / total, cycle = floor(1 + t / total);
    const double x = 1 + t / total - cycle;
    const double height = (0.7 - 0.1) * (x <= ratio ? x / ratio : (x - 1) / (ratio - 1));
    return 0.1 + height * (mode == 1 ? 1 / pow(2, cycle - 1) : mode == 2 ? pow(0.9, t) : 1);
}

START_TEST(cyclic)
{
    for (int mode = 0; mode < 3; mode++) {
        eddy_tensor y = eddy_cyclic(n(0.1), step, n(0.7), n(3), n(5), (eddy_cyclic_mode)mode,
                                    .gamma = n(0.9));
        eddy_session_free(s);
        s = NULL;
        for (int t = 0; t < 30; t++)
            ck_assert_double_eq_tol(at(y, t), torch_cyclic(t, mode), 1e-14);
    }
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

START_TEST(cyclic_defaults)
{
    eddy_tensor y = eddy_cyclic(n(0), step, n(1));
    ck_assert_str_eq(eddy_name_of(y), "Cyclic");
    ck_assert_double_eq_tol(at(y, 500), 0.25, 1e-15);
    ck_assert_double_eq_tol(at(y, 2000), 1, 1e-15);
    ck_assert_double_eq_tol(at(y, 3500), 0.25, 1e-15);
    ck_assert_double_eq_tol(at(y, 4000), 0, 1e-15);
}
END_TEST

START_TEST(joined)
{
    eddy_tensor real_step = eddy_cast(step, EDDY_FLOAT64);
    eddy_tensor up = eddy_linear_warmup(n(0.8), step, n(4));
    eddy_tensor down = eddy_cosine_decay(n(0.8), Sub(real_step, n(4)), n(6));
    eddy_tensor y = eddy_joined_schedules(step, EDDY_LIST(up, down, n(0.05)),
                                          EDDY_LIST(n(4), eddy_number(g, EDDY_INT32, 9)));
    ck_assert_str_eq(eddy_name_of(y), "JoinedSchedules");
    for (int t = 0; t < 14; t++) {
        const double want = t < 4 ? 0.2 * t
                          : t < 9 ? 0.4 * (1 + cos(3.14159265358979323846 * (t - 4) / 6.0)) : 0.05;
        ck_assert_double_eq_tol(at(y, t), want, 1e-14);
    }
}
END_TEST

START_TEST(joined_of_one)
{
    eddy_tensor y = eddy_joined_schedules(step, EDDY_LIST(n(0.5)));
    ck_assert_double_eq(at(y, 7), 0.5);
}
END_TEST

Suite *schedules_joined_suite(void)
{
    Suite *suite = suite_create("schedules_joined");
    TCase *c = tcase_create("schedules_joined");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, cyclic);
    tcase_add_test(c, cyclic_defaults);
    tcase_add_test(c, joined);
    tcase_add_test(c, joined_of_one);
    suite_add_tcase(suite, c);
    return suite;
}
