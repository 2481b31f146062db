/* test_fuzzed.c -- one test for each defect that `make fuzz` found. */
#include "tests/lib/checks.h"

Suite *fuzzed_suite(void);

/* The sizes went through double: the largest became a negative one. */
START_TEST(fill_of_exact_sizes)
{
    static const struct {
        int64_t     size;
        const char *shape;
    } cases[] = { { INT64_MAX, "[9223372036854775807]" },
                  { ((int64_t)1 << 53) + 1, "[9007199254740993]" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_graph *g = eddy_graph_new();
        eddy_fill(eddy_const(g, EDDY_INT64, EDDY_SHAPE(1), &cases[i].size), real(g, 1));
        fails(g, EDDY_LIMIT, cases[i].shape);
        eddy_graph_free(g);
    }
}
END_TEST

Suite *fuzzed_suite(void)
{
    Suite *s = suite_create("fuzzed");
    TCase *t = tcase_create("graphs");
    tcase_add_test(t, fill_of_exact_sizes);
    suite_add_tcase(s, t);
    return s;
}
