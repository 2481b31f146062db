/* reducers.c -- folding by element type: the loops that every reduction runs.
 *
 * Each loop takes elements in the order in which they stand and treats columns and
 * lanes alone, so all instruction sets compute the same bits. */
#include "ops/reduce.h"
#include "ops/rows.h"

enum { LANES = EDDY_FOLD_LANES, SHORT_LANES = 16 };

/* `load` is the value of an element x, `op` folds the accumulators a and b. */
#define REDUCER(name, T, A, first, load, op)                                    \
    EDDY_INLINE A name##_load(T x) { return (A)(load); }                        \
    EDDY_INLINE A name##_op(A a, A b) { return (A)(op); }                       \
    static void name##_start(void *acc_, int64_t n)                             \
    {                                                                           \
        A *acc = acc_;                                                          \
        for (int64_t i = 0; i < n; i++) acc[i] = (first);                       \
    }                                                                           \
    FOLD(name, T, A)                                                            \
    LINE(name, T, A)                                                            \
    EACH(name, T, A)                                                            \
    static void name##_add(void *acc_, const void *more_, int64_t n)            \
    {                                                                           \
        A *acc = acc_;                                                          \
        const A *more = more_;                                                  \
        EDDY_INDEPENDENT                                                        \
        for (int64_t j = 0; j < n; j++) acc[j] = name##_op(acc[j], more[j]);    \
    }                                                                           \
    VERSIONS(name)

/* Four rows at a time, one after the other, spare loads and stores of acc. */
#define FOLD(name, T, A)                                                        \
    EDDY_INLINE void name##_fold_all(A *restrict acc, const T *restrict x, int64_t rows, \
                                     int64_t width, int64_t stride)             \
    {                                                                           \
        int64_t r = 0;                                                          \
        for (; r + 4 <= rows; r += 4, x += 4 * stride) {                        \
            const T *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;     \
            EDDY_INDEPENDENT                                                    \
            for (int64_t j = 0; j < width; j++) {                               \
                const A a = name##_op(acc[j], name##_load(x[j]));               \
                const A b = name##_op(a, name##_load(x1[j]));                   \
                const A c = name##_op(b, name##_load(x2[j]));                   \
                acc[j] = name##_op(c, name##_load(x3[j]));                      \
            }                                                                   \
        }                                                                       \
        for (; r < rows; r++, x += stride) {                                    \
            EDDY_INDEPENDENT                                                    \
            for (int64_t j = 0; j < width; j++)                                 \
                acc[j] = name##_op(acc[j], name##_load(x[j]));                  \
        }                                                                       \
    }

/* The lanes stay in registers. */
#define LINE(name, T, A)                                                        \
    EDDY_INLINE void name##_line_all(A *restrict acc, const T *restrict x, int64_t rows) \
    {                                                                           \
        A lane[LANES];                                                          \
        for (int j = 0; j < LANES; j++) lane[j] = acc[j];                       \
        for (int64_t r = 0; r < rows; r++, x += LANES)                          \
            for (int j = 0; j < LANES; j++)                                     \
                lane[j] = name##_op(lane[j], name##_load(x[j]));                \
        for (int j = 0; j < LANES; j++) acc[j] = lane[j];                       \
    }

#define EACH(name, T, A)                                                        \
    EDDY_INLINE A name##_long(const T *restrict x, int64_t n)                   \
    {                                                                           \
        A lane[SHORT_LANES];                                                    \
        int64_t at = SHORT_LANES;                                               \
        EDDY_OVER_LANES                                                         \
        for (int j = 0; j < SHORT_LANES; j++) lane[j] = name##_load(x[j]);      \
        for (; at + SHORT_LANES <= n; at += SHORT_LANES) {                      \
            EDDY_OVER_LANES                                                     \
            for (int j = 0; j < SHORT_LANES; j++)                               \
                lane[j] = name##_op(lane[j], name##_load(x[at + j]));           \
        }                                                                       \
        EDDY_OVER_LANES                                                         \
        for (int j = 0; j < 8; j++) lane[j] = name##_op(lane[j], lane[j + 8]);  \
        EDDY_OVER_LANES                                                         \
        for (int j = 0; j < 4; j++) lane[j] = name##_op(lane[j], lane[j + 4]);  \
        A a = name##_op(name##_op(lane[0], lane[2]), name##_op(lane[1], lane[3])); \
        for (; at < n; at++) a = name##_op(a, name##_load(x[at]));              \
        return a;                                                               \
    }                                                                           \
    EDDY_INLINE void name##_each_all(A *restrict acc, const T *restrict x, int64_t m, int64_t n, \
                                     int64_t width)                             \
    {                                                                           \
        for (int64_t i = 0; i < m && width == 1 && n >= SHORT_LANES; i++, x += n) \
            acc[i] = name##_op(acc[i], name##_long(x, n));                      \
        for (int64_t i = 0; i < m && width == 1 && n < SHORT_LANES; i++, x += n) { \
            A a = acc[i];                                                       \
            for (int64_t j = 0; j < n; j++) a = name##_op(a, name##_load(x[j])); \
            acc[i] = a;                                                         \
        }                                                                       \
        for (int64_t i = 0; i < m && width > 1; i++, acc += width)              \
            for (int64_t j = 0; j < n; j++, x += width)                         \
                for (int64_t c = 0; c < width; c++)                             \
                    acc[c] = name##_op(acc[c], name##_load(x[c]));              \
    }

#define VERSIONS(name)                                                          \
    EDDY_CLONES_OF(name##_fold, (void *restrict acc, const void *restrict x, int64_t rows, \
                                int64_t width, int64_t stride), (acc, x, rows, width, stride)) \
    EDDY_CLONES_OF(name##_line, (void *restrict acc, const void *restrict x, int64_t rows), \
                  (acc, x, rows))                                               \
    EDDY_CLONES_OF(name##_each, (void *restrict acc, const void *restrict x, int64_t m, \
                                int64_t n, int64_t width), (acc, x, m, n, width))

#define FINISH(name, T, A, value)                                               \
    static void name(void *y_, const void *acc_, int64_t n, int64_t count)      \
    {                                                                           \
        T *y = y_;                                                              \
        const A *acc = acc_;                                                    \
        (void)count;                                                            \
        for (int64_t j = 0; j < n; j++) {                                       \
            const A a = acc[j];                                                 \
            y[j] = (T)(value);                                                  \
        }                                                                       \
    }

REDUCER(sum_f32, float, double, 0, x, a + b)
REDUCER(sum_f64, double, double, 0, x, a + b)
REDUCER(sum_c64, float complex, double complex, 0, x, a + b)
REDUCER(sum_c128, double complex, double complex, 0, x, a + b)
REDUCER(sum_i32, int32_t, int64_t, 0, x, a + b)
REDUCER(sum_i64, int64_t, int64_t, 0, x, a + b)
REDUCER(sum_u8, uint8_t, int64_t, 0, x, a + b)

REDUCER(prod_f32, float, double, 1, x, a * b)
REDUCER(prod_f64, double, double, 1, x, a * b)
REDUCER(prod_c64, float complex, double complex, 1, x, a * b)
REDUCER(prod_c128, double complex, double complex, 1, x, a * b)
REDUCER(prod_i32, int32_t, int64_t, 1, x, a * b)
REDUCER(prod_i64, int64_t, int64_t, 1, x, a * b)
REDUCER(prod_u8, uint8_t, int64_t, 1, x, a * b)

/* A NaN on either side wins.  In two steps, which compilers turn into vectors. */
EDDY_INLINE float larger_f32(float a, float b)
{
    const float m = a > b ? a : b;
    return a != a ? a : m;
}
EDDY_INLINE double larger_f64(double a, double b)
{
    const double m = a > b ? a : b;
    return a != a ? a : m;
}
EDDY_INLINE float smaller_f32(float a, float b)
{
    const float m = a < b ? a : b;
    return a != a ? a : m;
}
EDDY_INLINE double smaller_f64(double a, double b)
{
    const double m = a < b ? a : b;
    return a != a ? a : m;
}

REDUCER(max_f32, float, float, -INFINITY, x, larger_f32(a, b))
REDUCER(max_f64, double, double, -INFINITY, x, larger_f64(a, b))
REDUCER(max_i32, int32_t, int32_t, INT32_MIN, x, a > b ? a : b)
REDUCER(max_i64, int64_t, int64_t, INT64_MIN, x, a > b ? a : b)
REDUCER(max_u8, uint8_t, uint8_t, 0, x, a > b ? a : b)

REDUCER(min_f32, float, float, INFINITY, x, smaller_f32(a, b))
REDUCER(min_f64, double, double, INFINITY, x, smaller_f64(a, b))
REDUCER(min_i32, int32_t, int32_t, INT32_MAX, x, a < b ? a : b)
REDUCER(min_i64, int64_t, int64_t, INT64_MAX, x, a < b ? a : b)
REDUCER(min_u8, uint8_t, uint8_t, UINT8_MAX, x, a < b ? a : b)

REDUCER(any_b8, uint8_t, uint8_t, 0, x != 0, a | b)
REDUCER(all_b8, uint8_t, uint8_t, 1, x != 0, a & b)

REDUCER(squares_f32, float, double, 0, (double)x * (double)x, a + b)
REDUCER(squares_f64, double, double, 0, x * x, a + b)

/* Of doubles whose squares overflow or vanish: those are multiplied by 2^-600 or 2^600 before. */
REDUCER(large_f64, double, double, 0, (0x1p-600 * x) * (0x1p-600 * x), a + b)
REDUCER(small_f64, double, double, 0, (0x1p600 * x) * (0x1p600 * x), a + b)

FINISH(store_f32, float, double, a)
FINISH(store_f64, double, double, a)
FINISH(store_c64, float complex, double complex, a)
FINISH(store_c128, double complex, double complex, a)
FINISH(store_i32, int32_t, int64_t, a)
FINISH(store_i64, int64_t, int64_t, a)
FINISH(store_u8, uint8_t, int64_t, a)
FINISH(copy_f32, float, float, a)
FINISH(copy_i32, int32_t, int32_t, a)
FINISH(copy_u8, uint8_t, uint8_t, a)
FINISH(mean_f32, float, double, a / (double)count)
FINISH(mean_f64, double, double, a / (double)count)
FINISH(mean_c64, float complex, double complex, a / (double)count)
FINISH(mean_c128, double complex, double complex, a / (double)count)
FINISH(root_f32, float, double, sqrt(a))
FINISH(root_f64, double, double, sqrt(a))
/* These put right what root_f64 has left. */
FINISH(large_root, double, double, eddy_norm_is_large(y[j]) ? 0x1p600 * sqrt(a) : y[j])
FINISH(small_root, double, double, eddy_norm_is_small(y[j]) ? 0x1p-600 * sqrt(a) : y[j])
FINISH(mean_i32, int32_t, int64_t, count > 0 ? a / count : 0)
FINISH(mean_i64, int64_t, int64_t, count > 0 ? a / count : 0)
FINISH(mean_u8, uint8_t, int64_t, count > 0 ? a / count : 0)

/* -------------------------------------------------------------- the table -- */

#define ENTRY(T, A, name, end, suffix)                                          \
    { sizeof(T), sizeof(A), name##_start, name##_fold##suffix, name##_line##suffix, \
      name##_each##suffix, name##_add, end }

/* Two kinds of result: in the accumulator's type, or narrowed from it. */
#define WIDE(name, end, s) {                                                    \
    [EDDY_FLOAT32] = ENTRY(float, double, name##_f32, end##_f32, s),            \
    [EDDY_FLOAT64] = ENTRY(double, double, name##_f64, end##_f64, s),           \
    [EDDY_COMPLEX64] = ENTRY(float complex, double complex, name##_c64, end##_c64, s), \
    [EDDY_COMPLEX128] = ENTRY(double complex, double complex, name##_c128, end##_c128, s), \
    [EDDY_INT32] = ENTRY(int32_t, int64_t, name##_i32, end##_i32, s),           \
    [EDDY_INT64] = ENTRY(int64_t, int64_t, name##_i64, end##_i64, s),           \
    [EDDY_UINT8] = ENTRY(uint8_t, int64_t, name##_u8, end##_u8, s) }
#define SAME(name, s) {                                                         \
    [EDDY_FLOAT32] = ENTRY(float, float, name##_f32, copy_f32, s),              \
    [EDDY_FLOAT64] = ENTRY(double, double, name##_f64, store_f64, s),           \
    [EDDY_INT32] = ENTRY(int32_t, int32_t, name##_i32, copy_i32, s),            \
    [EDDY_INT64] = ENTRY(int64_t, int64_t, name##_i64, store_i64, s),           \
    [EDDY_UINT8] = ENTRY(uint8_t, uint8_t, name##_u8, copy_u8, s) }

#define TABLE(s) {                                                              \
    [EDDY_FOLD_SUM]  = WIDE(sum, store, s),                                     \
    [EDDY_FOLD_MEAN] = WIDE(sum, mean, s),                                      \
    [EDDY_FOLD_PROD] = WIDE(prod, store, s),                                    \
    [EDDY_FOLD_MAX]  = SAME(max, s),                                            \
    [EDDY_FOLD_MIN]  = SAME(min, s),                                            \
    [EDDY_FOLD_ANY]  = { [EDDY_BOOL] = ENTRY(uint8_t, uint8_t, any_b8, copy_u8, s) }, \
    [EDDY_FOLD_ALL]  = { [EDDY_BOOL] = ENTRY(uint8_t, uint8_t, all_b8, copy_u8, s) }, \
    [EDDY_FOLD_SQUARES] = {                                                     \
        [EDDY_FLOAT32] = ENTRY(float, double, squares_f32, store_f32, s),       \
        [EDDY_FLOAT64] = ENTRY(double, double, squares_f64, store_f64, s) },    \
    [EDDY_FOLD_NORM] = {                                                        \
        [EDDY_FLOAT32] = ENTRY(float, double, squares_f32, root_f32, s),        \
        [EDDY_FLOAT64] = ENTRY(double, double, squares_f64, root_f64, s) },     \
    [EDDY_FOLD_NORM_LARGE] = {                                                  \
        [EDDY_FLOAT64] = ENTRY(double, double, large_f64, large_root, s) },     \
    [EDDY_FOLD_NORM_SMALL] = {                                                  \
        [EDDY_FLOAT64] = ENTRY(double, double, small_f64, small_root, s) } }

static const eddy_reducer reducers[][EDDY_FOLDS][EDDY_DTYPES] = {
    TABLE(_base),
#if defined(__x86_64__)
    TABLE(_avx2),
    TABLE(_avx512),
#endif
};

const eddy_reducer *eddy_reducer_of(eddy_fold fold, eddy_dtype d)
{
    if ((unsigned)fold >= EDDY_FOLDS || (unsigned)d >= EDDY_DTYPES) return NULL;
    const eddy_reducer *r = &reducers[eddy_instructions_used()][fold][d];
    return r->fold ? r : NULL;
}
