/* accuracy.h -- the parts of `make accuracy`. */
#ifndef EDDY_TESTS_ACCURACY_H
#define EDDY_TESTS_ACCURACY_H

#include "graph/op.h"

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

enum { PRECISION = 160 };

typedef int exact_fn(mpfr_t y, const mpfr_t x, mpfr_rnd_t r);
typedef long double filter_fn(long double x);

enum form { REAL, RIGHT, POWER, COMPLEX_EXP, COMPLEX_LOG };   /* RIGHT: without the sign */

/* Of a function of two numbers, or of a complex one, `exact` and `filter` are NULL. */
typedef struct function {
    const eddy_op_def *op;
    exact_fn          *exact;
    filter_fn         *filter;
    double             low, high;   /* where uniform arguments are */
    double             step;        /* of what an implementation subtracts multiples of; or 0 */
    double             most;        /* units in the last place */
    enum form          form;
} function;

/* arguments.c: the i-th argument or pair; *boundary if it is one of a list. */
uint64_t random_word(uint64_t i);
void     argument(const function *f, uint64_t i, double x[2], bool *boundary);

/* exact.c, filter.c: parts of the value, two of a complex number, in PRECISION bits and in long
 * double. False where the filter knows nothing. */
int      exact_parts(const function *f, const double x[2], mpfr_t y[2]);
bool     filter_parts(const function *f, const double x[2], long double y[2]);
exact_fn exact_sigmoid, exact_logit, exact_softplus, exact_ndtr, exact_gelu, exact_erfcx,
         exact_log_ndtr, exact_lgamma, exact_trigamma;
filter_fn exp_filter, sin_filter, cos_filter, tan_filter, sigmoid_filter, logit_filter,
          softplus_filter, ndtr_filter, gelu_filter, erfcx_filter, log_ndtr_filter,
          digamma_filter, trigamma_filter;

/* filter.c: prepares digamma_filter and trigamma_filter. */
void prepare_filters(void);

/* measure.c: prints a row; false if a bound does not hold. */
bool measure(const function *f, uint64_t count);

#endif
