/* main.c -- runs every suite; the list is generated from the names of the files.
 *
 *   CK_RUN_SUITE=name, CK_RUN_CASE=name   run a part
 *   CK_FORK=no                            all in this process, as scripts/tests.sh does
 *   CK_EXCLUDE_TAGS=slow, CK_INCLUDE_TAGS=threads */
#include "build/gen/suites.h"

#include <stdlib.h>
#include <string.h>

#ifndef MAIN_SUITES                  /* those of a smaller program */
#define MAIN_SUITES EDDY_SUITES
#endif

/* Some tests ask for more memory than there is. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

int main(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
    const char *only = getenv("CK_RUN_SUITE");       /* emulators make the others slowly */
    SRunner    *r = srunner_create(NULL);
#define ADD(name) if (!only || strcmp(only, #name) == 0) srunner_add_suite(r, name##_suite());
    MAIN_SUITES(ADD)
#undef ADD
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
