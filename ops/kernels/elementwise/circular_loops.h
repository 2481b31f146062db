/* circular_loops.h -- a function whose vectorized form has a bounded range, for T: a template of
 * ops/kernels/for_types.h. */

/* y = near(x), or far(x) where |x| is above EDDY_CIRCULAR_MOST. Such an x slows down its neighbors,
 * but does not change them. */
EDDY_INLINE eddy_status NAME(circular)(int64_t n, T *y, const T *x, T near(T), T far(T))
{
    enum { AT_ONCE = 512 };
    const T most = (T)EDDY_CIRCULAR_MOST;
    for (int64_t at = 0; at < n; at += AT_ONCE, x += AT_ONCE, y += AT_ONCE) {
        const int64_t m = n - at < AT_ONCE ? n - at : AT_ONCE;
        int any = 0;
        for (int64_t i = 0; i < m; i++) any |= !(fabs(x[i]) <= most);
        if (any) {
            for (int64_t i = 0; i < m; i++) y[i] = fabs(x[i]) <= most ? near(x[i]) : far(x[i]);
            continue;
        }
        EDDY_INDEPENDENT
        for (int64_t i = 0; i < m; i++) y[i] = near(x[i]);
    }
    return EDDY_OK;
}
