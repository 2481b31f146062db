/* test_onnx_nodes.c -- ONNX's own test models, if Debian's libonnx-testdata is installed: values at
 * ONNX's tolerances, and gradients against differences. */
#include "tests/lib/files/onnx_cases.h"

#include <check.h>
#include <stdio.h>

Suite *onnx_nodes_suite(void);

enum { ANY_NUMBER = 1000 };

/* No case may be wrong, at least so many must pass, and of them at most `most_bound` with constants
 * in place of inputs. */
static void run_all(const char *folder, int least, int most_bound,
                    onnx_result (*one)(const char *))
{
    int    count, passed = 0, bound = 0;
    char **names = names_in(folder, &count);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        const onnx_result r = one(path);
        ck_assert_msg(r.outcome != ONNX_WRONG, "%s: %s", names[i], r.why);
        passed += r.outcome == ONNX_PASSED;
        bound += r.outcome == ONNX_PASSED && r.bound;
    }
    free_names(names);
    ck_assert_msg(count == 0 || (passed >= least && bound <= most_bound),
                  "%s: %d cases pass, %d of them with constants", folder, passed, bound);
    if (count == 0) printf("onnx_nodes: %s is not installed (Debian: libonnx-testdata)\n", folder);
}

START_TEST(nodes) { run_all(ONNX_CASES "/node", 919, 24, run_onnx_case); }
END_TEST
/* No dimension of an input is known while the model is read. */
START_TEST(open_nodes) { run_all(ONNX_CASES "/node", 915, 98, run_open_onnx_case); }
END_TEST
START_TEST(converted) { run_all(ONNX_CASES "/pytorch-converted", 82, ANY_NUMBER, run_onnx_case); }
END_TEST
START_TEST(operators) { run_all(ONNX_CASES "/pytorch-operator", 35, ANY_NUMBER, run_onnx_case); }
END_TEST
START_TEST(simple) { run_all(ONNX_CASES "/simple", 17, ANY_NUMBER, run_onnx_case); }
END_TEST
START_TEST(node_gradients) { run_all(ONNX_CASES "/node", 919, ANY_NUMBER, check_onnx_gradient); }
END_TEST
START_TEST(converted_gradients)
{
    run_all(ONNX_CASES "/pytorch-converted", 82, ANY_NUMBER, check_onnx_gradient);
}
END_TEST
START_TEST(operator_gradients)
{
    run_all(ONNX_CASES "/pytorch-operator", 35, ANY_NUMBER, check_onnx_gradient);
}
END_TEST

Suite *onnx_nodes_suite(void)
{
    Suite *s = suite_create("onnx_nodes");
    TCase *values = tcase_create("values"), *gradients = tcase_create("gradients");
    tcase_set_timeout(values, 600);
    tcase_set_timeout(gradients, 1200);
    tcase_set_tags(values, "many");
    tcase_set_tags(gradients, "slow");
    tcase_add_test(values, nodes);
    tcase_add_test(values, open_nodes);
    tcase_add_test(values, converted);
    tcase_add_test(values, operators);
    tcase_add_test(values, simple);
    tcase_add_test(gradients, node_gradients);
    tcase_add_test(gradients, converted_gradients);
    tcase_add_test(gradients, operator_gradients);
    suite_add_tcase(s, values);
    suite_add_tcase(s, gradients);
    return s;
}
