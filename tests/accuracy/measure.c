/* measure.c -- one row of `make accuracy`. */
#include "tests/accuracy/accuracy.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

/* In units in the last place: twice what the filter's error may be. */
#define MARGIN (1 / 128.)
enum { BLOCK = 4096, SOME = 8192 };

typedef struct row {
    const function *f;
    double          worst, at[2], filter_error;
    uint64_t        asked;
    mpfr_t          exact[2];
} row;

/* 2^e for a number between 2^e and 2^(e+1); the least one for denormals. */
static double power_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0x7ff0000000000000u;
    memcpy(&x, &bits, sizeof x);
    return x > 0x1p-1022 ? x : 0x1p-1022;
}

/* The error of y beside the exact value, in units in the last place of the latter. */
static double error_of(long double y, const mpfr_t exact)
{
    const double near = mpfr_get_d(exact, MPFR_RNDN), top = 0x1.fffffffffffffp1023;
    if (isnan(near) || isnan(y)) return isnan(near) && isnan(y) ? 0 : INFINITY;
    if (isinf(near) || isinf(y)) {
        return near == (double)y ? 0 : fabs(near) == top || fabsl(y) == top ? 1 : INFINITY;
    }
    mpfr_t difference;
    mpfr_init2(difference, PRECISION);
    mpfr_set_ld(difference, y, MPFR_RNDN);
    mpfr_sub(difference, exact, difference, MPFR_RNDN);
    mpfr_div_d(difference, difference, power_of(near), MPFR_RNDN);
    mpfr_mul_2ui(difference, difference, 52, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

/* Whether the error of y may be above `limit` units, as far as the filter's value f tells: a value
 * below the least number of long double is 0 too, so 0 tells nothing. */
static bool may_exceed(double y, long double f, double limit)
{
    if (f == 0) return true;
    if (y != y) return f == f;
    const double near = (double)f;
    if (!(fabs(near) < (double)INFINITY) || !(fabs(y) < (double)INFINITY)) return near != y;
    return fabsl(y - f) > limit * 0x1p-52 * power_of(near);
}

static void ask(row *r, const double x[2], const double *y, const long double *f, bool known)
{
    const int parts = exact_parts(r->f, x, r->exact);
    r->asked++;
    for (int k = 0; k < parts; k++) {
        const double error = error_of(y[k], r->exact[k]);
        if (!(error <= r->worst)) r->worst = error, r->at[0] = x[0], r->at[1] = x[1];
        if (!known || !(fabsl(f[k]) < 0x1p1023L)) continue;
        const double own = error_of(f[k], r->exact[k]);
        if (!(own <= r->filter_error)) r->filter_error = own;
    }
}

static bool run_block(row *r, uint64_t from)
{
    static double x[BLOCK][2], in[2][BLOCK], out[2 * BLOCK];
    static bool   boundary[BLOCK];
    const bool    is_complex = r->f->form == COMPLEX_EXP || r->f->form == COMPLEX_LOG;
    const int     parts = is_complex ? 2 : 1;
    const eddy_type type = { is_complex ? EDDY_COMPLEX128 : EDDY_FLOAT64, { .rank = 0 } };
    for (int i = 0; i < BLOCK; i++) {
        argument(r->f, from + (uint64_t)i, x[i], &boundary[i]);
        in[0][i] = x[i][0], in[1][i] = x[i][1];
    }
    const void *operands[] = { is_complex ? (const void *)x : in[0], in[1] };
    if (r->f->op->max_inputs == 2 && r->f->form == RIGHT)       /* the order comes first */
        operands[0] = in[1], operands[1] = in[0];
    const eddy_type types[] = { type, type };
    if (r->f->op->tile(types, &type)(BLOCK, out, operands, NULL) != EDDY_OK) return false;
    for (int i = 0; i < BLOCK; i++) {
        long double f[2];
        const bool known = filter_parts(r->f, x[i], f);
        bool asked = !known || boundary[i] || random_word(~(from + (uint64_t)i)) % SOME == 0;
        for (int k = 0; k < parts; k++)
            asked = asked || may_exceed(out[parts * i + k], f[k], r->worst - MARGIN);
        if (asked) ask(r, x[i], &out[parts * i], f, known);
    }
    return true;
}

bool measure(const function *f, uint64_t count)
{
    row r = { .f = f };
    mpfr_inits2(PRECISION, r.exact[0], r.exact[1], (mpfr_ptr)NULL);
    bool ran = true;
    for (uint64_t from = 0; from < count && ran; from += BLOCK) {
        ran = run_block(&r, from);
        if (count > 10000000 && from % (BLOCK * (count / 10 / BLOCK)) == 0)
            fprintf(stderr, "%s: %g of %g, worst %.3f, asked %g\n", f->op->name, (double)from,
                    (double)count, r.worst, (double)r.asked);
    }
    mpfr_clears(r.exact[0], r.exact[1], (mpfr_ptr)NULL);
    const bool kept = ran && r.worst <= f->most, filtered = r.filter_error <= MARGIN / 2;
    printf("%-10s %8.4f at %-24a", f->op->name, r.worst, r.at[0]);
    if (f->form >= POWER) printf(" %-24a", r.at[1]);
    printf(" bound %g, %g arguments, asked %g, filter %.5f%s%s\n", f->most, (double)count,
           (double)r.asked, r.filter_error, kept ? "" : "  ABOVE", filtered ? "" : "  FILTER");
    return kept && filtered;
}
