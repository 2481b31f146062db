/* nonzero_loops.h -- elements that are not 0, for one element type, T: a template of
 * ops/kernels/for_types.h. */

/* Stores the indices of elements that are not 0 in `at`, if it is given, counted from `first` on;
 * returns their number. */
static int64_t NAME(places)(int64_t n, const void *x_, int64_t first, int64_t *at)
{
    const T *x = x_;
    int64_t  found = 0;
    if (!at)
        for (int64_t i = 0; i < n; i++) found += x[i] != 0;
    else
        for (int64_t i = 0; i < n; i++) {
            at[found] = first + i;
            found += x[i] != 0;
        }
    return found;
}
