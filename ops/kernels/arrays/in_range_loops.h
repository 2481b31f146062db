/* in_range_loops.h -- a check of indices of one type, T: a template of ops/kernels/for_types.h. */

/* Whether all n indices are in [first, limit), without a branch for each. They are compared in their
 * own type: the baseline of x86-64 has no vectors for comparisons of 64 bits. */
static bool NAME(in_range)(int64_t n, const void *at, int64_t first, int64_t limit)
{
    const int64_t largest = sizeof(T) == 8 ? INT64_MAX : INT32_MAX;
    const T      *v = at;
    const T least = (T)(first < -largest - 1 ? -largest - 1 : first);
    const T most = (T)(limit > largest ? largest : limit - 1);
    T       bad = 0;
    for (int64_t i = 0; i < n; i++) bad |= v[i] < least || v[i] > most;
    return !bad;
}
