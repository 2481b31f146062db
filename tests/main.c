/* main.c -- runs every suite, or those that are named; the list is generated from the names of the
 * files.
 *
 *   run-tests [SUITE...]
 *   CK_RUN_SUITE=name, CK_RUN_CASE=name   run a part
 *   CK_FORK=no                            all in this process, as scripts/tests.sh does
 *   CK_EXCLUDE_TAGS=slow, CK_INCLUDE_TAGS=threads */
#include "build/gen/suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MAIN_SUITES                  /* those of a smaller program */
#define MAIN_SUITES EDDY_SUITES
#endif

/* Some tests ask for more memory than there is. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

static bool is_among(const char *name, int n, char **names)
{
    bool found = n == 0;
    for (int i = 0; i < n; i++) found = found || strcmp(names[i], name) == 0;
    return found;
}

/* The number of failures. A suite without tests fails, too, unless some were to be left out. */
static int run_suite(const char *name, Suite *suite)
{
    SRunner *r = srunner_create(suite);
    srunner_run_all(r, CK_ENV);
    int        failed = srunner_ntests_failed(r);
    const bool some =
        getenv("CK_EXCLUDE_TAGS") || getenv("CK_INCLUDE_TAGS") || getenv("CK_RUN_CASE");
    if (srunner_ntests_run(r) == 0 && !some) {
        fprintf(stderr, "run-tests: %s has no tests\n", name);
        failed++;
    }
    srunner_free(r);
    return failed;
}

int main(int argc, char **argv)
{
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
    char *only[] = { argv[0], getenv("CK_RUN_SUITE") };
    int   n = 0, failed = 0;
    if (argc == 1 && only[1]) argc = 2, argv = only;
#define RUN(name)                                              \
    if (is_among(#name, argc - 1, argv + 1)) {                 \
        failed += run_suite(#name, name##_suite());            \
        n++;                                                   \
    }
    MAIN_SUITES(RUN)
#undef RUN
    if (n < argc - 1) {
        fprintf(stderr, "run-tests: %d of %d suites exist\n", n, argc - 1);
        return 1;
    }
    return failed != 0;
}
