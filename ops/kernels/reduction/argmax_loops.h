/* argmax_loops.h -- argmax and argmin of a lane, for one element type, T: a template of
 * ops/kernels/for_types.h. */

EDDY_INLINE int NAME(first_hit)(T v, T best)
{
#ifdef NUMBER
    return (v == best) | (v != v);
#else
    return v == best;
#endif
}

EDDY_INLINE int64_t NAME(first_scan)(const T *x, T best, int64_t n)
{
    int64_t j = 0;
    for (; j + SCAN <= n; j += SCAN) {
        int hits = 0;
        EDDY_OVER_LANES
        for (int i = 0; i < SCAN; i++) hits |= NAME(first_hit)(x[j + i], best);
        if (hits) break;
    }
    while (j < n - 1 && !NAME(first_hit)(x[j], best)) j++;
    return j;
}

/* index[c] = the first j with x[j * stride + c] equal to best[c] or NaN, of n; for `many`
 * rows of n elements if width is 1.  Only a lane whose best is NaN contains one. */
EDDY_INLINE void LOOP(first)(int64_t *index, const void *x_, const void *best_, int64_t many,
                             int64_t n, int64_t width, int64_t stride)
{
    const T *x = x_, *best = best_;
    if (stride == 1) {
        for (int64_t i = 0; i < many; i++, x += n) index[i] = NAME(first_scan)(x, best[i], n);
        return;
    }
    for (int64_t c = 0; c < width; c++) index[c] = 0;
    for (int64_t j = n - 1; j >= 0; j--)
        for (int64_t c = 0; c < width; c++) {
            const int hit = NAME(first_hit)(x[j * stride + c], best[c]);
            index[c] = hit ? j : index[c];
        }
}

EDDY_CLONES_OF(NAME(first), (int64_t *index, const void *x, const void *best, int64_t many,
                             int64_t n, int64_t width, int64_t stride),
               (index, x, best, many, n, width, stride))
