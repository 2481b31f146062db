/* find_bad_loops.h -- a search for elements that are not finite, for one element type, T: a
 * template of ops/kernels/for_floats.h. */

/* The first element from `at` on that is not finite; x->count if there is none.
 * Whole tiles are tested without a branch. */
static int64_t NAME(find_bad)(const void *x_, int64_t at, int64_t n)
{
    enum { BLOCK = 1024 };
    const T *x = x_, largest = (T)eddy__dtype_largest(EDDY_COLUMN(DTYPE, SUFFIX));
    while (n - at >= BLOCK) {
        int bad = 0;
        for (int64_t i = 0; i < BLOCK; i++)
            bad |= !(x[at + i] <= largest && x[at + i] >= -largest);
        if (bad) break;
        at += BLOCK;
    }
    while (at < n && isfinite(x[at])) at++;
    return at;
}
