/* test_check_program.c -- the check of plans looks at the plans of bodies too, and finds memory of
 * carried values that holds two values at a time. */
#include "build/gen/suites.h"
#include "session/compile/program.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"

BODY(trade, Sin(x[1]), Mul(x[0], 2))
BODY(in_place, Tanh(Sin(x[0])), Mul(x[1], c[0]))

static trial t;

static void setup(void) { t = trial_begin(0); }
static void teardown(void) { trial_end(&t); }

/* The program of three iterations on two carried values. */
static eddy_program *program_of(int (*build)(eddy_list, eddy_tensor *, void *))
{
    const eddy_tensor   x = numbers(&t, V(1, 2, 3));
    const eddy_function f = FUNCTION(build, numbers(&t, V(4, 5, 6)), Exp(x));
    eddy_tensor         y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_iterate(3, f, EDDY_LIST(Exp(x), Sin(x)), y), 2);
    eddy_session_free(t.session);
    t.session = eddy_session_new(t.graph, .threads = 1, .without = EDDY_PASS_FUSE);
    eddy_array_free(value(&t, Add(y[0], y[1])));
    eddy_program *p = t.session->plans->programs;
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(p->n_carried, 2);
    return p;
}

static bool is_noticed(void)
{
    eddy_error e = { 0 };
    return !eddy__plan_check(t.session->plans, &e);
}

/* The second buffer of each carried value, in the memory of the body and in that of the other. */
START_TEST(buffers_of_carried_values)
{
    eddy_program *p = program_of(trade);
    ck_assert(!is_noticed());
    for (int j = 0; j < 2; j++) {
        size_t *at = &p->carried[j].at[1], was = *at;
        ck_assert_int_ne(p->bodies[0].how[j], RESULT_IN_PLACE);
        *at = p->carried[1 - j].at[1];
        ck_assert(is_noticed());
        *at = p->scratch_bytes - 8;
        ck_assert(is_noticed());
        *at = was;
    }
    p->bodies[0].plan->memory_bytes += p->scratch_bytes;
    ck_assert(is_noticed());
    p->bodies[0].plan->memory_bytes -= p->scratch_bytes;
    ck_assert(!is_noticed());
}
END_TEST

/* A value that is not in the memory of the one before it is not said to be. */
START_TEST(values_that_stay)
{
    eddy_program *p = program_of(trade);
    for (int j = 0; j < 2; j++) {
        const body_result was = p->bodies[0].how[j];
        p->bodies[0].how[j] = RESULT_IN_PLACE;
        ck_assert(is_noticed());
        p->bodies[0].how[j] = was;
    }
    ck_assert(!is_noticed());
}
END_TEST

/* The number of the first buffer of the root. */
static int32_t first_buffer(const eddy_plan *p, int32_t root)
{
    int32_t n = 0;
    while (p->buffer_root[n] != root) n++;
    return n;
}

/* Each operand exchanged with a carried value that an earlier instruction has overwritten. */
START_TEST(overwritten_carried_values)
{
    eddy_program *program = program_of(in_place);
    eddy_plan    *p = program->bodies[0].plan;
    int           tried = 0;
    for (int32_t i = 0; i < p->n_code; i++) {
        const int32_t root = p->buffer_root[p->code[i].kernel.out[0] - p->buffers];
        if (p->roots[root].kind != VALUE_FEED) continue;
        for (int32_t later = i + 1; later < p->n_code; later++) {
            eddy_buffer **in = (eddy_buffer **)(uintptr_t)p->code[later].kernel.in, *was = in[0];
            in[0] = &p->buffers[first_buffer(p, root)];
            ck_assert(is_noticed());
            in[0] = was;
            tried++;
        }
    }
    ck_assert_int_gt(tried, 0);
    ck_assert(!is_noticed());
}
END_TEST

/* The plans of bodies at any depth. */
static int nested(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_function f = { .build = in_place, .context = context };
    return eddy_iterate(2, f, in, y);
}

START_TEST(bodies_in_bodies)
{
    eddy_program *outer = program_of(nested);
    ck_assert_ptr_nonnull(outer->bodies[0].plan->programs);
    eddy_plan *p = outer->bodies[0].plan->programs->bodies[0].plan;
    ck_assert(!is_noticed());
    p->memory_bytes += outer->scratch_bytes + 64;
    eddy_error e = { 0 };
    ck_assert(!eddy__plan_check(t.session->plans, &e));
    golden_begin("session/plan_of_body");
    golden_error(&e);
    golden_end();
    p->memory_bytes -= outer->scratch_bytes + 64;
}
END_TEST

Suite *check_program_suite(void)
{
    Suite *s = suite_create("check_program");
    TCase *c = tcase_create("damaged");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, buffers_of_carried_values);
    tcase_add_test(c, values_that_stay);
    tcase_add_test(c, overwritten_carried_values);
    tcase_add_test(c, bodies_in_bodies);
    suite_add_tcase(s, c);
    return s;
}
