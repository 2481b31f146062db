/* exact_memo.c -- see exact.h: values of functions that take milliseconds each. Between the samples
 * of a derivative one or two elements change, so that most values are wanted again. */
#include "tests/hunt/exact.h"

#include <stdint.h>

enum { SLOTS = 1 << 12, MEMO_INPUTS = 3 };

static struct slot {
    exact_fn *fn;                 /* NULL: empty */
    mpfr_t    x[MEMO_INPUTS], y;
} slots[SLOTS];

static uint64_t hash_of(int n, const num *x)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < n; i++) {
        const mp_limb_t *limbs = mpfr_custom_get_significand(x[i]);
        const long       count = (mpfr_get_prec(x[i]) + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS;
        if (mpfr_regular_p(x[i])) h ^= (uint64_t)mpfr_get_exp(x[i]);
        for (long k = 0; mpfr_regular_p(x[i]) && k < count; k++)
            h = (h ^ limbs[k]) * 1099511628211u;
        h = (h ^ (h >> 29)) * 1099511628211u;
    }
    return h ^ (h >> 32);
}

static bool is_same(mpfr_srcptr a, mpfr_srcptr b)
{
    return mpfr_get_prec(a) == mpfr_get_prec(b) && mpfr_equal_p(a, b) &&
           !mpfr_signbit(a) == !mpfr_signbit(b);
}

static void keep(mpfr_ptr to, mpfr_srcptr from)
{
    mpfr_init2(to, mpfr_get_prec(from));
    mpfr_set(to, from, MPFR_RNDN);
}

static void forget(struct slot *s)
{
    for (int i = 0; s->fn && i < MEMO_INPUTS; i++) mpfr_clear(s->x[i]);
    if (s->fn) mpfr_clear(s->y);
    s->fn = NULL;
}

num exact_remembered(exact_fn *fn, const eddy_node *node, int n, const num *x)
{
    struct slot *s = &slots[(hash_of(n, x) ^ (uintptr_t)fn >> 4) % SLOTS];
    bool         same = s->fn == fn && n <= MEMO_INPUTS && mpfr_get_prec(s->y) == exact_bits();
    for (int i = 0; same && i < n; i++) same = is_same(s->x[i], x[i]);
    if (same) {
        const num y = exact_number(0);
        mpfr_set(y, s->y, MPFR_RNDN);
        return y;
    }
    const num y = fn(node, n, x);
    if (n > MEMO_INPUTS) return y;
    forget(s);
    s->fn = fn;
    for (int i = 0; i < MEMO_INPUTS; i++) keep(s->x[i], x[i < n ? i : 0]);
    keep(s->y, y);
    return y;
}

void exact_forget(void)
{
    for (int i = 0; i < SLOTS; i++) forget(&slots[i]);
}
