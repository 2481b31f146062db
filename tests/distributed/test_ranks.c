/* test_ranks.c -- collectives, gradients and trainings with 1 to 8 ranks, as threads. */
#include "build/gen/suites.h"
#include "tests/lib/ranks/ranks.h"

#include <string.h>

static int count_of_scenarios(void)
{
    int n = 0;
    while (rank_scenarios[n].name) n++;
    return n;
}

static void run_with(int i, int ranks)
{
    eddy_error e = { 0 };
    ck_assert_msg(on_threads(ranks, rank_scenarios[i].run, &e), "%s with %d ranks: %s",
                  rank_scenarios[i].name, ranks, e.message);
}

START_TEST(few_ranks)
{
    for (int n = 1; n <= 4; n++) run_with(_i, n);
}
END_TEST

START_TEST(many_ranks)
{
    for (int n = 5; n <= 8; n++) run_with(_i, n);
}
END_TEST

Suite *ranks_suite(void)
{
    Suite *s = suite_create("ranks");
    TCase *few = tcase_create("few"), *many = tcase_create("many");
    tcase_set_tags(few, "threads");
    tcase_set_tags(many, "threads many");
    tcase_add_loop_test(few, few_ranks, 0, count_of_scenarios());
    tcase_add_loop_test(many, many_ranks, 0, count_of_scenarios());
    suite_add_tcase(s, few);
    suite_add_tcase(s, many);
    return s;
}
