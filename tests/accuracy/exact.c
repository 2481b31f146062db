/* exact.c -- the functions of `make accuracy` by MPFR. */
#include "tests/accuracy/accuracy.h"

/* y = 1 / (1 + e^-x). */
int exact_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_neg(y, x, r);
    mpfr_exp(y, y, r);
    mpfr_add_ui(y, y, 1, r);
    return mpfr_ui_div(y, 1, y, r);
}

/* y = ln(x / (1 - x)). */
int exact_logit(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_t less;
    mpfr_init2(less, 1200);                 /* 1 - x is exact */
    mpfr_ui_sub(less, 1, x, r);
    mpfr_div(less, x, less, r);
    mpfr_log(y, less, r);
    mpfr_clear(less);
    return 0;
}

/* y = ln(1 + e^x). */
int exact_softplus(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    if (mpfr_cmp_si(x, 1000) > 0) return mpfr_set(y, x, r);
    mpfr_exp(y, x, r);
    return mpfr_log1p(y, y, r);
}

/* y = erfc(-x / sqrt 2) / 2. */
int exact_ndtr(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_t root;
    mpfr_init2(root, PRECISION);
    mpfr_sqrt_ui(root, 2, r);
    mpfr_div(y, x, root, r);
    mpfr_neg(y, y, r);
    mpfr_erfc(y, y, r);
    mpfr_clear(root);
    return mpfr_div_ui(y, y, 2, r);
}

int exact_gelu(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    exact_ndtr(y, x, r);
    return mpfr_mul(y, y, x, r);
}

/* y = e^(x^2) erfc x, from 100 on by the asymptotic series in powers of 1 / (2 x^2). */
int exact_erfcx(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_t square, term;
    mpfr_inits2(2 * PRECISION, square, term, (mpfr_ptr)NULL);
    mpfr_sqr(square, x, r);
    if (mpfr_cmp_ui(x, 100) < 0) {
        mpfr_erfc(term, x, r);
        mpfr_exp(y, square, r);
    } else {
        mpfr_set_ui(y, 1, r);
        mpfr_set_ui(term, 1, r);
        mpfr_mul_2ui(square, square, 1, r);
        for (int k = 1; k < 20; k++) {
            mpfr_mul_si(term, term, 1 - 2 * k, r);
            mpfr_div(term, term, square, r);
            mpfr_add(y, y, term, r);
        }
        mpfr_const_pi(term, r);
        mpfr_sqrt(term, term, r);
        mpfr_mul(term, term, x, r);
        mpfr_ui_div(term, 1, term, r);
    }
    mpfr_mul(y, y, term, r);
    mpfr_clears(square, term, (mpfr_ptr)NULL);
    return 0;
}

/* y = the logarithm of the normal distribution function. */
int exact_log_ndtr(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    mpfr_t u;
    mpfr_init2(u, 2 * PRECISION);
    mpfr_sqrt_ui(u, 2, r);
    mpfr_div(u, x, u, r);
    if (mpfr_sgn(x) >= 0) {
        mpfr_erfc(y, u, r);
        mpfr_div_si(y, y, -2, r);
        mpfr_log1p(y, y, r);
    } else {
        mpfr_neg(u, u, r);
        exact_erfcx(y, u, r);
        mpfr_div_ui(y, y, 2, r);
        mpfr_log(y, y, r);
        mpfr_sqr(u, u, r);
        mpfr_sub(y, y, u, r);
    }
    mpfr_clear(u);
    return 0;
}

int exact_lgamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    int sign;
    return mpfr_lgamma(y, &sign, x, r);
}

/* y = the derivative of digamma at x > 0, by its asymptotic series from 40 on. */
int exact_trigamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t r)
{
    static const long above[] = { 1, -1, 1, -1, 5, -691, 7, -3617, 43867, -174611, 854513,
                                  -236364091, 8553103 };
    static const unsigned long below[] = { 6, 30, 42, 30, 66, 2730, 6, 510, 798, 330, 138, 2730,
                                           6 };
    mpfr_t z, part, power;
    mpfr_inits2(PRECISION, z, part, power, (mpfr_ptr)NULL);
    mpfr_set(z, x, r);
    mpfr_set_ui(y, 0, r);
    for (; mpfr_cmp_ui(z, 40) < 0; mpfr_add_ui(z, z, 1, r)) {
        mpfr_sqr(part, z, r);
        mpfr_ui_div(part, 1, part, r);
        mpfr_add(y, y, part, r);
    }
    mpfr_ui_div(power, 1, z, r);
    mpfr_add(y, y, power, r);
    mpfr_sqr(z, power, r);                         /* 1 / z^2 from here on */
    mpfr_div_ui(part, z, 2, r);
    mpfr_add(y, y, part, r);
    for (int k = 0; k < 13; k++) {
        mpfr_mul(power, power, z, r);
        mpfr_mul_si(part, power, above[k], r);
        mpfr_div_ui(part, part, below[k], r);
        mpfr_add(y, y, part, r);
    }
    mpfr_clears(z, part, power, (mpfr_ptr)NULL);
    return 0;
}

/* The real part of ln(x + iy): the sum of squares is exact where it may be near 1. */
static void exact_log_size(mpfr_t y, const mpfr_t a, const mpfr_t b)
{
    mpfr_t size;
    mpfr_init2(size, PRECISION);
    mpfr_hypot(size, a, b, MPFR_RNDN);
    if (mpfr_cmp_d(size, 0.5) > 0 && mpfr_cmp_d(size, 2) < 0) {
        mpfr_t square;
        mpfr_init2(square, 2300);
        mpfr_set_prec(size, 2300);
        mpfr_sqr(size, a, MPFR_RNDN);
        mpfr_sqr(square, b, MPFR_RNDN);
        mpfr_add(size, size, square, MPFR_RNDN);
        mpfr_sub_ui(size, size, 1, MPFR_RNDN);
        mpfr_log1p(y, size, MPFR_RNDN);
        mpfr_div_2ui(y, y, 1, MPFR_RNDN);
        mpfr_clear(square);
    } else {
        mpfr_log(y, size, MPFR_RNDN);
    }
    mpfr_clear(size);
}

int exact_parts(const function *f, const double x[2], mpfr_t y[2])
{
    mpfr_t a, b;
    mpfr_inits2(53, a, b, (mpfr_ptr)NULL);
    mpfr_set_d(a, x[0], MPFR_RNDN);
    mpfr_set_d(b, x[1], MPFR_RNDN);
    if (f->exact != NULL) {
        f->exact(y[0], a, MPFR_RNDN);
    } else if (f->form == POWER) {
        mpfr_pow(y[0], a, b, MPFR_RNDN);
    } else if (f->form == COMPLEX_EXP) {
        mpfr_t size;
        mpfr_init2(size, PRECISION);
        mpfr_exp(size, a, MPFR_RNDN);
        mpfr_sin_cos(y[1], y[0], b, MPFR_RNDN);
        for (int k = 0; k < 2; k++)
            if (!mpfr_zero_p(y[k])) mpfr_mul(y[k], y[k], size, MPFR_RNDN);
        mpfr_clear(size);
    } else {
        exact_log_size(y[0], a, b);
        mpfr_atan2(y[1], b, a, MPFR_RNDN);
    }
    mpfr_clears(a, b, (mpfr_ptr)NULL);
    return f->form == COMPLEX_EXP || f->form == COMPLEX_LOG ? 2 : 1;
}
