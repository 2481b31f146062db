/* accuracy.c -- `make accuracy`: float64 functions beside MPFR, on random and boundary arguments.
 *
 *   accuracy [COUNT] [NAME...]  COUNT arguments of each function, 200 000 if left out
 *
 * A filter computes each value in long double too. An argument is asked of MPFR if it is at a
 * boundary, if the filter sees an error that is not `MARGIN` below the largest one so far, and once
 * in 8192 arguments at random. All that are asked measure the filter as well: the program fails if
 * its error is above half of the margin. So the largest error that is printed is that of MPFR.
 *
 * Prints for each function: the largest error in units in the last place, its argument, the bound,
 * how many arguments MPFR was asked, and the largest error of the filter. Fails if a bound does not
 * hold. */
#include "build/gen/table.h"
#include "tests/accuracy/accuracy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF_LN_2 0.34657359027997264
#define PI_BY_4   0.78539816339744828

static const function functions[] = {
    { &eddy_op_exp, mpfr_exp, exp_filter, -750, 715, HALF_LN_2, 1, REAL },
    { &eddy_op_log, mpfr_log, logl, 0, 3, 0, 1, REAL },
    { &eddy_op_sin, mpfr_sin, sin_filter, -1100000, 1100000, PI_BY_4, 1, REAL },
    { &eddy_op_tanh, mpfr_tanh, tanhl, -3, 3, HALF_LN_2 / 2, 2, REAL },
    { &eddy_op_softplus, exact_softplus, softplus_filter, -45, 45, HALF_LN_2, 2, REAL },
    { &eddy_op_expm1, mpfr_expm1, expm1l, -40, 50, HALF_LN_2, 2, REAL },
    { &eddy_op_atan, mpfr_atan, atanl, -5, 5, 0, 2, REAL },
    { &eddy_op_erf, mpfr_erf, erfl, -6, 6, 0, 2, REAL },
    { &eddy_op_lgamma, exact_lgamma, lgammal, 0, 9, 0.5, 2, RIGHT },
    { &eddy_op_digamma, mpfr_digamma, digamma_filter, 0, 9, 0.5, 2, RIGHT },
    { &eddy_op_sigmoid, exact_sigmoid, sigmoid_filter, -45, 45, HALF_LN_2, 2, REAL },
    { &eddy_op_logit, exact_logit, logit_filter, 0, 1, 0, 2, REAL },
    { &eddy_op_gelu, exact_gelu, gelu_filter, -38.5, 9, 0, 2, REAL },
    { &eddy_op_pow, NULL, NULL, 0.5, 2, 0, 2, POWER },
    { &eddy_op_exp, NULL, NULL, -745, 710, HALF_LN_2, 2, COMPLEX_EXP },
    { &eddy_op_log, NULL, NULL, -3, 3, 0, 2, COMPLEX_LOG },
    { &eddy_op_cos, mpfr_cos, cos_filter, -7, 7, PI_BY_4, 1, REAL },
    { &eddy_op_tan, mpfr_tan, tan_filter, -7, 7, PI_BY_4, 2, REAL },
    { &eddy_op_log1p, mpfr_log1p, log1pl, -1, 3, 0, 2, REAL },
    { &eddy_op_exp2, mpfr_exp2, exp2l, -1080, 1030, 0.5, 2, REAL },
    { &eddy_op_log2, mpfr_log2, log2l, 0, 3, 0, 2, REAL },
    { &eddy_op_log10, mpfr_log10, log10l, 0, 3, 0, 2, REAL },
    { &eddy_op_sinh, mpfr_sinh, sinhl, -25, 25, HALF_LN_2, 2, REAL },
    { &eddy_op_cosh, mpfr_cosh, coshl, -25, 25, HALF_LN_2, 2, REAL },
    { &eddy_op_asinh, mpfr_asinh, asinhl, -5, 5, 0, 2, REAL },
    { &eddy_op_acosh, mpfr_acosh, acoshl, 1, 5, 0, 2, REAL },
    { &eddy_op_atanh, mpfr_atanh, atanhl, -1, 1, 0, 2, REAL },
    { &eddy_op_asin, mpfr_asin, asinl, -1, 1, 0, 2, REAL },
    { &eddy_op_acos, mpfr_acos, acosl, -1, 1, 0, 2, REAL },
    { &eddy_op_cbrt, mpfr_cbrt, cbrtl, 1, 8, 0, 2, REAL },
    { &eddy_op_erfc, mpfr_erfc, erfcl, -6, 27.3, 0, 2, REAL },
    { &eddy_op_ndtr, exact_ndtr, ndtr_filter, -38.5, 9, 0, 2, REAL },
    { &eddy_op_erfcx, exact_erfcx, erfcx_filter, -26.7, 30, 0, 2, REAL },
    { &eddy_op_log_ndtr, exact_log_ndtr, log_ndtr_filter, -20, 9, 0, 2, REAL },
    { &eddy_op_polygamma, exact_trigamma, trigamma_filter, 0, 9, 0.5, 2, RIGHT },  /* order 1 */
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Exp is the real function, Exp128 that of complex numbers. */
static bool is_named(const function *f, const char *name)
{
    const size_t n = strlen(f->op->name);
    const char *end = f->form == COMPLEX_EXP || f->form == COMPLEX_LOG ? "128" : "";
    return strncmp(name, f->op->name, n) == 0 && strcmp(name + n, end) == 0;
}

/* False, with a message, for a number of arguments or a function that does not exist. */
static bool understands(int argc, char **argv, uint64_t *count)
{
    char *end = NULL;
    *count = argc > 1 ? strtoull(argv[1], &end, 10) : 200000;
    if (*count == 0 || (end && *end)) {
        fprintf(stderr, "accuracy: %s is no number of arguments\n", argv[1]);
        return false;
    }
    for (int k = 2; k < argc; k++) {
        int i = 0;
        while (i < FUNCTIONS && !is_named(&functions[i], argv[k])) i++;
        if (i < FUNCTIONS) continue;
        fprintf(stderr, "accuracy: no function is called %s\n", argv[k]);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    uint64_t count;
    bool     all = true;
    if (!understands(argc, argv, &count)) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    prepare_filters();
    for (int i = 0; i < FUNCTIONS; i++) {
        bool wanted = argc < 3;
        for (int k = 2; k < argc; k++) wanted = wanted || is_named(&functions[i], argv[k]);
        if (wanted) all = measure(&functions[i], count) && all;
    }
    mpfr_free_cache();
    return all ? 0 : 1;
}
