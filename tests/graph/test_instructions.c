/* test_instructions.c -- EDDY_CPU and eddy_limit_instructions, which limit the instructions of the
 * library's own kernels. */
#include "graph/base/cpu.h"
#include "tests/lib/checks.h"

#include <pthread.h>
#include <stdlib.h>

Suite *instructions_suite(void);

static void environment(const char *says)
{
    if (says) setenv("EDDY_CPU", says, 1);
    else unsetenv("EDDY_CPU");
    eddy_limit_instructions(NULL);
}

static void teardown(void) { environment(NULL); }

START_TEST(the_environment_limits_them)
{
    environment(NULL);
    const eddy_instructions best = eddy__instructions_used();
    environment("");
    ck_assert_int_eq(eddy__instructions_used(), best);
    environment("baseline");
    ck_assert_int_eq(eddy__instructions_used(), EDDY_BASELINE);
    environment("avx2");
    ck_assert_int_eq(eddy__instructions_used(), best < EDDY_AVX2 ? best : EDDY_AVX2);
    environment("avx512");
    ck_assert_int_eq(eddy__instructions_used(), best);
    ck_assert(eddy__instructions_are_known());
}
END_TEST

START_TEST(the_program_limits_them)
{
    static const char *const wrong[] = { "", "sse9", "AVX2", "avx512 ", "avx" };
    environment(NULL);
    const eddy_instructions best = eddy__instructions_used();
    environment("baseline");
    ck_assert(eddy_limit_instructions("avx512"));
    ck_assert_int_eq(eddy__instructions_used(), best);
    ck_assert(eddy_limit_instructions("avx2"));
    ck_assert_int_eq(eddy__instructions_used(), best < EDDY_AVX2 ? best : EDDY_AVX2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert(!eddy_limit_instructions(wrong[i]));
        ck_assert_int_eq(eddy__instructions_used(), best < EDDY_AVX2 ? best : EDDY_AVX2);
    }
    ck_assert(eddy_limit_instructions(NULL));
    ck_assert_int_eq(eddy__instructions_used(), EDDY_BASELINE);
    environment("avx512");
    ck_assert(eddy_limit_instructions("baseline"));
    ck_assert_int_eq(eddy__instructions_used(), EDDY_BASELINE);
}
END_TEST

/* A wrong word in the environment does not matter while the program sets the limit. */
START_TEST(the_program_replaces_the_environment)
{
    environment("sse9");
    ck_assert(!eddy__instructions_are_known());
    ck_assert(eddy_limit_instructions("avx2"));
    ck_assert(eddy__instructions_are_known());
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    ck_assert_double_eq(eddy_fetch_number(s, real(g, 1)), 1);
    eddy_session_free(s);
    eddy_graph_free(g);
    ck_assert(eddy_limit_instructions(NULL));
    ck_assert(!eddy__instructions_are_known());
}
END_TEST

/* Threads that set the limit and read it, for ThreadSanitizer. */
static void *limit_many_times(void *wrong)
{
    static const char *const sets[] = { "baseline", "avx2", "avx512", NULL };
    for (int i = 0; i < 1000; i++) {
        if (!eddy_limit_instructions(sets[i % 4])) *(bool *)wrong = true;
        if (eddy__instructions_used() > EDDY_AVX512) *(bool *)wrong = true;
    }
    return NULL;
}

START_TEST(threads_limit_them)
{
    pthread_t thread[4];
    bool      wrong[4] = { false };
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, limit_many_times, &wrong[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++) ck_assert(!wrong[i]);
}
END_TEST

START_TEST(another_word_is_an_error_of_runs)
{
    environment("sse9");
    ck_assert(!eddy__instructions_are_known());
    ck_assert_int_eq(eddy__instructions_used(), EDDY_BASELINE);
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    ck_assert_ptr_null(eddy_fetch(s, real(g, 1)));
    run_fails(s, EDDY_INVALID_ARGUMENT, "EDDY_CPU must be baseline");
    environment("baseline");
    ck_assert_double_eq(eddy_fetch_number(s, real(g, 1)), 1);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

enum { ROWS = 37, COLUMNS = 53 };

/* Formulas and reductions of float32 numbers. */
static eddy_array *computed(const char *cpu)
{
    environment(cpu);
    eddy_graph   *g = eddy_graph_new(.seed = 3);
    eddy_session *s = eddy_session_new(g);
    eddy_tensor   x = eddy_random_normal(g, EDDY_SHAPE(ROWS, COLUMNS));
    eddy_tensor   y = Mul(Tanh(x), Exp(Mul(x, 0.1))), z = Softmax(Add(y, Log(Add(Square(x), 1))));
    eddy_tensor   sum = Sum(z, EDDY_AXES(0)), mean = Mean(y, EDDY_AXES(0));
    eddy_array   *a = eddy_fetch(s, eddy_concat(EDDY_LIST(sum, mean, Max(x, EDDY_AXES(0)))));
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return a;
}

START_TEST(formulas_and_reductions_have_the_same_bits)
{
    eddy_array *best = computed(NULL), *base = computed("baseline"), *avx2 = computed("avx2");
    ck_assert_int_eq(eddy_array_count(best), 3 * COLUMNS);
    ck_assert(eddy_array_equal(best, base));
    ck_assert(eddy_array_equal(best, avx2));
    eddy_array_free(best);
    eddy_array_free(base);
    eddy_array_free(avx2);
}
END_TEST

Suite *instructions_suite(void)
{
    Suite *s = suite_create("instructions");
    TCase *c = tcase_create("instructions");
    tcase_add_checked_fixture(c, NULL, teardown);
    tcase_add_test(c, the_environment_limits_them);
    tcase_add_test(c, another_word_is_an_error_of_runs);
    tcase_add_test(c, the_program_limits_them);
    tcase_add_test(c, the_program_replaces_the_environment);
    tcase_add_test(c, threads_limit_them);
    tcase_add_test(c, formulas_and_reductions_have_the_same_bits);
    suite_add_tcase(s, c);
    return s;
}
