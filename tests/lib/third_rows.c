/* third_rows.c -- see third_rows.h. */
#include "tests/lib/third_rows.h"

void add_third_rows(TCase *some, TCase *many, const TTest *test, int first, int n)
{
    for (int i = 0; i < n; i++)
        tcase_add_loop_test(i % 3 == first ? some : many, test, i, i + 1);
}
