/* row_update_loops.h -- y += x and similar updates for rows of one element type, T: a template of
 * ops/kernels/for_types.h. */
#ifdef NUMBER
#define VERSIONS EDDY_CLONES_OF
#else
#define VERSIONS EDDY_NO_CLONES_OF      /* integers and complex numbers are rare */
#endif

EDDY_INLINE void LOOP(add)(int64_t n, void *y_, const void *x_)
{
    T *restrict y = y_;
    const T *restrict x = x_;
    for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] + x[j]);
}
VERSIONS(NAME(add), (int64_t n, void *y, const void *x), (n, y, x))

EDDY_INLINE void LOOP(sub)(int64_t n, void *y_, const void *x_)
{
    T *restrict y = y_;
    const T *restrict x = x_;
    for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] - x[j]);
}
VERSIONS(NAME(sub), (int64_t n, void *y, const void *x), (n, y, x))

EDDY_INLINE void LOOP(mul)(int64_t n, void *y_, const void *x_)
{
    T *restrict y = y_;
    const T *restrict x = x_;
    for (int64_t j = 0; j < n; j++) y[j] = (T)(y[j] * x[j]);
}
VERSIONS(NAME(mul), (int64_t n, void *y, const void *x), (n, y, x))

/* x must not be 0. The smallest integer divided by -1 would trap, so it wraps around. */
EDDY_INLINE T NAME(quotient)(T a, T b)
{
#if defined(LOWEST) && !defined(NUMBER)
    return (T)(b == (T)-1 && (T)-1 < 1 ? -a : a / b);
#else
    return a / b;
#endif
}

EDDY_INLINE void LOOP(div)(int64_t n, void *y_, const void *x_)
{
    T *restrict y = y_;
    const T *restrict x = x_;
    for (int64_t j = 0; j < n; j++) y[j] = NAME(quotient)(y[j], x[j]);
}
VERSIONS(NAME(div), (int64_t n, void *y, const void *x), (n, y, x))

#ifdef LOWEST
EDDY_INLINE bool NAME(is_nan)(T v)
{
#ifdef NUMBER
    return v != v;
#else
    (void)v;
    return false;
#endif
}

/* The minimum or the maximum of the two; NaN if either is NaN. */
EDDY_INLINE void LOOP(min)(int64_t n, void *y_, const void *x_)
{
    T *restrict y = y_;
    const T *restrict x = x_;
    for (int64_t j = 0; j < n; j++)
        y[j] = y[j] < x[j] || NAME(is_nan)(y[j]) ? y[j] : x[j];
}
VERSIONS(NAME(min), (int64_t n, void *y, const void *x), (n, y, x))

EDDY_INLINE void LOOP(max)(int64_t n, void *y_, const void *x_)
{
    T *restrict y = y_;
    const T *restrict x = x_;
    for (int64_t j = 0; j < n; j++)
        y[j] = y[j] > x[j] || NAME(is_nan)(y[j]) ? y[j] : x[j];
}
VERSIONS(NAME(max), (int64_t n, void *y, const void *x), (n, y, x))
#endif

static eddy_row_fn NAME(row_of)(eddy_row_change change)
{
    switch (change) {
    case EDDY_ROW_PUT: return NULL;
    case EDDY_ROW_ADD: return EDDY_BEST_OF(NAME(add));
    case EDDY_ROW_SUB: return EDDY_BEST_OF(NAME(sub));
    case EDDY_ROW_MUL: return EDDY_BEST_OF(NAME(mul));
    case EDDY_ROW_DIV: return EDDY_BEST_OF(NAME(div));
#ifdef LOWEST
    case EDDY_ROW_MIN: return EDDY_BEST_OF(NAME(min));
    case EDDY_ROW_MAX: return EDDY_BEST_OF(NAME(max));
#else
    case EDDY_ROW_MIN:
    case EDDY_ROW_MAX: return NULL;
#endif
    }
    return NULL;
}
#undef VERSIONS
