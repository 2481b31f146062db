/* test_check_program.c -- the check of plans looks at the plans of bodies too, and finds memory of
 * carried values that holds two values at a time. */
#include "build/gen/suites.h"
#include "session/compile/program.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"

BODY(trade, Sin(x[1]), Mul(x[0], 2))
BODY(steps, Sin(Mul(Tanh(x[1]), c[0])), Mul(x[1], Sin(x[0])))

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
        uint64_t *at = &p->carried[j].at[1], was = *at;
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

static bool is_read_from(const eddy_plan *p, int32_t from, int32_t root)
{
    for (int32_t i = from; i < p->n_code; i++)
        for (int j = 0; j < p->code[i].kernel.n_in; j++)
            if (p->buffer_root[p->code[i].kernel.in[j] - p->buffers] == root) return true;
    return false;
}

/* Each result in the memory of a carried value that is read later. */
START_TEST(results_over_carried_values)
{
    eddy_plan *p = program_of(steps)->bodies[0].plan;
    int        tried = 0;
    for (int32_t i = 0; i < p->n_code; i++)
        for (int32_t r = 0; r < p->n_roots; r++) {
            int32_t *root = &p->buffer_root[p->code[i].kernel.out[0] - p->buffers], was = *root;
            if (p->roots[r].owner == 0 || was == r || !is_read_from(p, i + 1, r)) continue;
            *root = r;
            ck_assert(is_noticed());
            *root = was;
            tried++;
        }
    ck_assert_int_gt(tried, 0);
    ck_assert(!is_noticed());
}
END_TEST

/* The plans of bodies at any depth. */
static int nested(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_function f = { .build = steps, .context = context };
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
    tcase_add_test(c, results_over_carried_values);
    tcase_add_test(c, bodies_in_bodies);
    suite_add_tcase(s, c);
    return s;
}
