/* in_range_loops.h -- a check of indices of one type, T: a template of ops/kernels/for_types.h. */

/* Whether all n indices are in [first, limit), without a branch for each. */
static bool NAME(in_range)(int64_t n, const void *at, int64_t first, int64_t limit)
{
    const T *v = at;
    int      bad = 0;
    for (int64_t i = 0; i < n; i++) bad |= v[i] < first || v[i] >= limit;
    return !bad;
}
