/* scaled_cases.h -- for tests of values and gradients where squares, sums or differences overflow
 * or underflow: vectors of many sizes, and comparisons relative to the size of a number. */
#ifndef EDDY_TESTS_SCALED_CASES_H
#define EDDY_TESTS_SCALED_CASES_H

#include "tests/lib/element_checks.h"

#include <float.h>

static const eddy_dtype floats[] = { EDDY_FLOAT32, EDDY_FLOAT64 };

/* The elements of t are these, to a relative tolerance, also of tiny ones. */
static inline void relatively(const char *what, double tolerance, eddy_tensor t, int n,
                              const double *want)
{
    double got[ROOM];
    ck_assert_int_eq(values(t, got), n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i] || (isnan(got[i]) && isnan(want[i])) ||
                      fabs(got[i] - want[i]) <= tolerance * fabs(want[i]),
                      "%s: element %d is %.17g, not %.17g", what, i, got[i], want[i]);
}
#define ARE(t, ...) relatively(#t, 1e-6, t, V(__VA_ARGS__))

/* Vectors 3 s, 4 s, of the length 5 s. */
typedef struct scaled_case {
    eddy_dtype d;
    double     s;
} scaled_case;

static const scaled_case scales[] = {
    { EDDY_FLOAT32, 1 }, { EDDY_FLOAT32, 1e19 }, { EDDY_FLOAT32, 1e22 }, { EDDY_FLOAT32, 5e37 },
    { EDDY_FLOAT32, 1e-30 },
    { EDDY_FLOAT64, 1 }, { EDDY_FLOAT64, 1e200 }, { EDDY_FLOAT64, 3e307 },
    { EDDY_FLOAT64, 1e-200 }, { EDDY_FLOAT64, 1e-300 },
};
enum { SCALES = sizeof scales / sizeof *scales };

static inline eddy_tensor row_of(const scaled_case *c, double a, double b)
{
    return vec(c->d, V(a * c->s, b * c->s));
}

#endif
