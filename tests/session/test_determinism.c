/* test_determinism.c -- the same training gives the same bits, with any number of threads and when
 * it is resumed. `make determinism` has more steps, threads and instruction sets. */
#include "build/gen/suites.h"
#include "graph/base/cpu.h"
#include "tests/lib/trainings.h"

enum { STEPS = 20 };

START_TEST(the_same_bits)
{
    const training *t = &trainings[_i];
    const uint64_t  want = training_bits(t, STEPS, (training_way){ .threads = 1 });
    ck_assert(want != 0);
    ck_assert_msg(training_bits(t, STEPS, (training_way){ .threads = 1 }) == want, "%s", t->name);
    ck_assert_msg(training_bits(t, STEPS, (training_way){ .threads = 3 }) == want, "%s", t->name);
    ck_assert_msg(training_bits(t, STEPS, (training_way){ 2, true, true }) == want, "%s", t->name);
    ck_assert_msg(training_bits(t, STEPS - 1, (training_way){ .threads = 1 }) != want, "%s",
                  t->name);
}
END_TEST

/* Without products, the instructions of the processor do not matter either. */
START_TEST(the_same_bits_with_any_instructions)
{
    const training *t = &trainings[TRAININGS - 1];
    const uint64_t  want = training_bits(t, STEPS, (training_way){ .threads = 1 });
    ck_assert(!t->has_products);
    eddy__instructions_limit((eddy_instructions)_i);
    ck_assert(training_bits(t, STEPS, (training_way){ .threads = 1 }) == want);
    eddy_limit_instructions(NULL);
}
END_TEST

Suite *determinism_suite(void)
{
    Suite *suite = suite_create("determinism");
    TCase *c = tcase_create("determinism");
    tcase_set_timeout(c, 60);
    tcase_set_tags(c, "threads");
    tcase_add_loop_test(c, the_same_bits, 0, TRAININGS);
    tcase_add_loop_test(c, the_same_bits_with_any_instructions, EDDY_BASELINE, EDDY_AVX512);
    suite_add_tcase(suite, c);
    return suite;
}
