/* third_rows.h -- divides the rows of a loop test between a case that runs everywhere and one
 * that is tagged "many". */
#ifndef EDDY_TESTS_LIB_THIRD_ROWS_H
#define EDDY_TESTS_LIB_THIRD_ROWS_H

#include <check.h>

/* Adds rows first, first + 3, ... below n to `some`, and the others to `many`. Tests of the same
 * rows begin with different ones, so that each row runs in some test. */
void add_third_rows(TCase *some, TCase *many, const TTest *test, int first, int n);

#endif
