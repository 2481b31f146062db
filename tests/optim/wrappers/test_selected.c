/* test_selected.c -- optimizers that update some of the variables; a function completes the
 * others. */
#include "build/gen/suites.h"
#include "tests/lib/checks.h"

#include "ops/short_names.h"

#include <string.h>

/* The variable "a" is selected; the others become their gradient plus the new value of "a". */
static bool is_a(void *context, eddy_tensor v)
{
    return (void)context, strcmp(eddy_name_of(v), "a") == 0;
}

static eddy_tensor complete(void *context, int count, const eddy_tensor *variables,
                            const eddy_tensor *values)
{
    eddy_tensor all[4], new_a = values[0];
    ++*(int *)context;
    ck_assert_int_eq(count, 3);
    ck_assert(is_a(NULL, variables[0]));
    for (int i = 0; i < count; i++)
        all[i] = i == 0 ? Identity(new_a) : eddy_assign(variables[i], Add(values[i], new_a));
    return eddy_group(variables[0].graph, (eddy_list){ count, all }, NULL);
}

/* a = 1, b = 2, c = 3; the loss 5 a + 7 b + 11 c, where b's gradient is sparse. */
typedef struct problem {
    eddy_graph     *g;
    eddy_tensor     a, b, c, loss;
    eddy_optimizer *inner;
    int             calls;
} problem;

static void build(problem *p)
{
    *p = (problem){ .g = eddy_graph_new() };
    p->a = eddy_variable(p->g, eddy_floats(p->g, 1), .name = "a");
    p->b = eddy_variable(p->g, eddy_floats(p->g, 2), .name = "b");
    p->c = eddy_variable(p->g, eddy_floats(p->g, 3), .name = "c");
    eddy_tensor row = eddy_gather(p->b, eddy_ints(p->g, 0));
    p->loss = eddy_sum(Add(Mul(p->a, 5), Add(Mul(row, 7), Mul(p->c, 11))));
    p->inner = eddy_momentum(p->g, eddy_scalar(p->g, 1), eddy_scalar(p->g, 0.5));
}

static void values_are(eddy_session *s, const problem *p, double a, double b, double c)
{
    ck_assert_double_eq(eddy_fetch_number(s, p->a), a);
    ck_assert_double_eq(eddy_fetch_number(s, p->b), b);
    ck_assert_double_eq(eddy_fetch_number(s, p->c), c);
}

static void run(eddy_session *s, eddy_tensor t)
{
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
}

START_TEST(others_are_completed)
{
    problem p;
    build(&p);
    eddy_optimizer *o = eddy_selected_updates(p.inner, is_a, complete, &p.calls);
    eddy_tensor     step = eddy_minimize(o, p.loss);
    ck_assert_msg(eddy_is_valid(step), "%s", eddy_graph_message(p.g));
    ck_assert_int_eq(p.calls, 1);
    ck_assert_int_eq(eddy_optimizer_variables(o, NULL, 0), 1);      /* the slot of a */
    ck_assert(!eddy_is_valid(eddy_get_slot(p.inner, p.c, "momentum")));
    eddy_session *s = eddy_session_new(p.g);
    run(s, eddy_initializer(p.g));
    run(s, step);
    values_are(s, &p, 1 - 5, 7 - 4, 11 - 4);
    run(s, step);
    values_are(s, &p, -4 - 7.5, 7 - 11.5, 11 - 11.5);
    eddy_session_free(s);
    eddy_graph_free(p.g);
}
END_TEST

/* In the first of two runs nothing changes; in the second, the mean of two equal gradients. */
START_TEST(inside_a_wrapper)
{
    problem p;
    build(&p);
    eddy_optimizer *o = eddy_selected_updates(p.inner, is_a, complete, &p.calls);
    eddy_tensor     step = eddy_minimize(eddy_accumulate_gradients(o, 2), p.loss);
    eddy_session   *s = eddy_session_new(p.g);
    run(s, eddy_initializer(p.g));
    run(s, step);
    values_are(s, &p, 1, 2, 3);
    run(s, step);
    values_are(s, &p, 1 - 5, 7 - 4, 11 - 4);
    eddy_session_free(s);
    eddy_graph_free(p.g);
}
END_TEST

/* Clipping each gradient by its own norm treats variables one by one. */
START_TEST(what_may_be_inside)
{
    problem p;
    build(&p);
    eddy_optimizer *each = eddy_clipped_gradients(p.inner, .norm = eddy_scalar(p.g, 2));
    eddy_tensor     step =
        eddy_minimize(eddy_selected_updates(each, is_a, complete, &p.calls), p.loss);
    eddy_session *s = eddy_session_new(p.g);
    run(s, eddy_initializer(p.g));
    run(s, step);
    values_are(s, &p, 1 - 2, 7 - 1, 11 - 1);
    eddy_session_free(s);
    eddy_graph_free(p.g);
}
END_TEST

Suite *selected_suite(void)
{
    Suite *s = suite_create("selected");
    TCase *c = tcase_create("updates");
    tcase_add_test(c, others_are_completed);
    tcase_add_test(c, inside_a_wrapper);
    tcase_add_test(c, what_may_be_inside);
    suite_add_tcase(s, c);
    return s;
}
