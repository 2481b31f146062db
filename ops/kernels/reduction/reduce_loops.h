/* reduce_loops.h -- folds over elements of one type, T: a template of ops/kernels/for_types.h,
 * included by ops/kernels/reduction/reducer.h, which defines A, FIRST, LOAD, OP and VERSIONS. */

EDDY_INLINE A NAME(load)(T x) { return (A)(LOAD(x)); }
EDDY_INLINE A NAME(op)(A a, A b) { return (A)(OP(a, b)); }

static void NAME(start)(void *acc_, int64_t n)
{
    A *acc = acc_;
    for (int64_t i = 0; i < n; i++) acc[i] = FIRST;
}

static void NAME(add)(void *acc_, const void *more_, int64_t n)
{
    A *acc = acc_;
    const A *more = more_;
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < n; j++) acc[j] = NAME(op)(acc[j], more[j]);
}

/* Four rows at a time save loads and stores of acc. */
EDDY_INLINE void NAME(fold_rows)(A *restrict acc, const T *restrict x, int64_t rows, int64_t width,
                                 int64_t stride)
{
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {
        const T *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        EDDY_INDEPENDENT
        for (int64_t j = 0; j < width; j++) {
            const A a = NAME(op)(acc[j], NAME(load)(x[j]));
            const A b = NAME(op)(a, NAME(load)(x1[j]));
            const A c = NAME(op)(b, NAME(load)(x2[j]));
            acc[j] = NAME(op)(c, NAME(load)(x3[j]));
        }
    }
    for (; r < rows; r++, x += stride) {
        EDDY_INDEPENDENT
        for (int64_t j = 0; j < width; j++) acc[j] = NAME(op)(acc[j], NAME(load)(x[j]));
    }
}

/* The lanes stay in registers. */
EDDY_INLINE void NAME(fold_lanes)(A *restrict acc, const T *restrict x, int64_t rows)
{
    A lane[LANES];
    for (int j = 0; j < LANES; j++) lane[j] = acc[j];
    for (int64_t r = 0; r < rows; r++, x += LANES)
        for (int j = 0; j < LANES; j++) lane[j] = NAME(op)(lane[j], NAME(load)(x[j]));
    for (int j = 0; j < LANES; j++) acc[j] = lane[j];
}

EDDY_INLINE void NAME(fold_half)(A *lane, int half)
{
    EDDY_OVER_LANES
    for (int j = 0; j < half; j++) lane[j] = NAME(op)(lane[j], lane[j + half]);
}

/* n elements in `lanes` sums: SHORT_LANES or LONG_LANES, and at most n. The loop without
 * EDDY_OVER_LANES keeps them in registers; shorter ones would be unrolled before they are vectors. */
EDDY_INLINE A NAME(line_in_lanes)(const T *restrict x, int64_t n, int lanes)
{
    A lane[LONG_LANES];
    int64_t at = lanes;
    EDDY_OVER_LANES
    for (int j = 0; j < lanes; j++) lane[j] = NAME(load)(x[j]);
    if (lanes == LONG_LANES)
        for (; at + LONG_LANES <= n; at += LONG_LANES)
            for (int j = 0; j < LONG_LANES; j++)
                lane[j] = NAME(op)(lane[j], NAME(load)(x[at + j]));
    for (; at + lanes <= n; at += lanes) {
        EDDY_OVER_LANES
        for (int j = 0; j < lanes; j++) lane[j] = NAME(op)(lane[j], NAME(load)(x[at + j]));
    }
    if (lanes == LONG_LANES) NAME(fold_half)(lane, 16);
    NAME(fold_half)(lane, 8);
    NAME(fold_half)(lane, 4);
    A a = NAME(op)(NAME(op)(lane[0], lane[2]), NAME(op)(lane[1], lane[3]));
    for (; at < n; at++) a = NAME(op)(a, NAME(load)(x[at]));
    return a;
}

/* m blocks of n rows of `width`, each block into accumulators of its own. */
EDDY_INLINE void NAME(fold_each)(A *restrict acc, const T *restrict x, int64_t m, int64_t n,
                                 int64_t width)
{
    if (width > 1) {
        for (int64_t i = 0; i < m; i++, acc += width)
            for (int64_t j = 0; j < n; j++, x += width)
                for (int64_t c = 0; c < width; c++) acc[c] = NAME(op)(acc[c], NAME(load)(x[c]));
    } else if (n >= 4 * LONG_LANES) {
        for (int64_t i = 0; i < m; i++, x += n)
            acc[i] = NAME(op)(acc[i], NAME(line_in_lanes)(x, n, LONG_LANES));
    } else if (n >= SHORT_LANES) {
        for (int64_t i = 0; i < m; i++, x += n)
            acc[i] = NAME(op)(acc[i], NAME(line_in_lanes)(x, n, SHORT_LANES));
    } else {
        for (int64_t i = 0; i < m; i++, x += n) {
            A a = acc[i];
            for (int64_t j = 0; j < n; j++) a = NAME(op)(a, NAME(load)(x[j]));
            acc[i] = a;
        }
    }
}

EDDY_INLINE void LOOP(fold)(void *restrict acc, const void *restrict x, int64_t rows,
                            int64_t width, int64_t stride)
{
    NAME(fold_rows)(acc, x, rows, width, stride);
}

EDDY_INLINE void LOOP(line)(void *restrict acc, const void *restrict x, int64_t rows)
{
    NAME(fold_lanes)(acc, x, rows);
}

EDDY_INLINE void LOOP(each)(void *restrict acc, const void *restrict x, int64_t m, int64_t n,
                            int64_t width)
{
    NAME(fold_each)(acc, x, m, n, width);
}

VERSIONS(NAME(fold), (void *restrict acc, const void *restrict x, int64_t rows, int64_t width,
                      int64_t stride), (acc, x, rows, width, stride))
VERSIONS(NAME(line), (void *restrict acc, const void *restrict x, int64_t rows), (acc, x, rows))
VERSIONS(NAME(each), (void *restrict acc, const void *restrict x, int64_t m, int64_t n,
                      int64_t width), (acc, x, m, n, width))
