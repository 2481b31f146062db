/* fold.c -- the engine behind every reduction.
 *
 * All work comes down to one loop: rows of neighbouring elements taken into a
 * row of accumulators, which vectorises whatever the operation.  A contiguous
 * run is cut into lanes first, so that it has rows too. */
#include "ops/reduce.h"
#include "ops/rows.h"

/* ------------------------------------------------------------ reducers -- */

/* `load` is the value of an element x, `op` folds the accumulators a and b. */
#define REDUCER(name, T, A, first, load, op)                                    \
    static inline A name##_load(T x) { return (A)(load); }                      \
    static inline A name##_op(A a, A b) { return (A)(op); }                     \
    static void name##_start(void *acc_, int64_t n)                             \
    {                                                                           \
        A *acc = acc_;                                                          \
        for (int64_t i = 0; i < n; i++) acc[i] = (first);                       \
    }                                                                           \
    static void name##_fold(void *restrict acc_, const void *restrict x_,       \
                            int64_t rows, int64_t width, int64_t stride)        \
    {                                                                           \
        A *restrict acc = acc_;                                                 \
        const T *x = x_;                                                        \
        int64_t r = 0;                                                          \
        for (; r + 4 <= rows; r += 4, x += 4 * stride) {                        \
            const T *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;     \
            EDDY_INDEPENDENT                                                    \
            for (int64_t j = 0; j < width; j++) {                               \
                const A p = name##_op(name##_load(x[j]), name##_load(x1[j]));   \
                const A q = name##_op(name##_load(x2[j]), name##_load(x3[j]));  \
                acc[j] = name##_op(acc[j], name##_op(p, q));                    \
            }                                                                   \
        }                                                                       \
        for (; r < rows; r++, x += stride) {                                    \
            EDDY_INDEPENDENT                                                    \
            for (int64_t j = 0; j < width; j++)                                 \
                acc[j] = name##_op(acc[j], name##_load(x[j]));                  \
        }                                                                       \
    }                                                                           \
    static void name##_each(void *restrict acc_, const void *restrict x_,       \
                            int64_t m, int64_t n, int64_t width)                \
    {                                                                           \
        A *restrict acc = acc_;                                                 \
        const T *x = x_;                                                        \
        for (int64_t i = 0; i < m && width == 1; i++, x += n) {                 \
            A a = acc[i];                                                       \
            for (int64_t j = 0; j < n; j++) a = name##_op(a, name##_load(x[j])); \
            acc[i] = a;                                                         \
        }                                                                       \
        for (int64_t i = 0; i < m && width > 1; i++, acc += width)              \
            for (int64_t j = 0; j < n; j++, x += width)                         \
                for (int64_t c = 0; c < width; c++)                             \
                    acc[c] = name##_op(acc[c], name##_load(x[c]));              \
    }                                                                           \
    static void name##_join(void *acc_, int64_t lanes, int64_t width)           \
    {                                                                           \
        A *acc = acc_;                                                          \
        while (lanes > 1) {                                                     \
            const int64_t half = lanes / 2;                                     \
            const A *from = acc + (lanes - half) * width;                       \
            for (int64_t j = 0; j < half * width; j++)                          \
                acc[j] = name##_op(acc[j], from[j]);                            \
            lanes -= half;                                                      \
        }                                                                       \
    }

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
static inline float larger_f32(float a, float b)
{
    const float m = a > b ? a : b;
    return a != a ? a : m;
}
static inline double larger_f64(double a, double b)
{
    const double m = a > b ? a : b;
    return a != a ? a : m;
}
static inline float smaller_f32(float a, float b)
{
    const float m = a < b ? a : b;
    return a != a ? a : m;
}
static inline double smaller_f64(double a, double b)
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
FINISH(mean_i32, int32_t, int64_t, count > 0 ? a / count : 0)
FINISH(mean_i64, int64_t, int64_t, count > 0 ? a / count : 0)
FINISH(mean_u8, uint8_t, int64_t, count > 0 ? a / count : 0)

#define ENTRY(T, A, name, end)                                                  \
    { sizeof(T), sizeof(A), name##_start, name##_fold, name##_each, name##_join, end }

/* Two kinds of result: in the accumulator's type, or narrowed from it. */
#define WIDE(name, end) {                                                       \
    [EDDY_FLOAT32] = ENTRY(float, double, name##_f32, end##_f32),               \
    [EDDY_FLOAT64] = ENTRY(double, double, name##_f64, end##_f64),              \
    [EDDY_COMPLEX64] = ENTRY(float complex, double complex, name##_c64, end##_c64), \
    [EDDY_COMPLEX128] = ENTRY(double complex, double complex, name##_c128, end##_c128), \
    [EDDY_INT32] = ENTRY(int32_t, int64_t, name##_i32, end##_i32),              \
    [EDDY_INT64] = ENTRY(int64_t, int64_t, name##_i64, end##_i64),              \
    [EDDY_UINT8] = ENTRY(uint8_t, int64_t, name##_u8, end##_u8) }
#define SAME(name) {                                                            \
    [EDDY_FLOAT32] = ENTRY(float, float, name##_f32, copy_f32),                 \
    [EDDY_FLOAT64] = ENTRY(double, double, name##_f64, store_f64),              \
    [EDDY_INT32] = ENTRY(int32_t, int32_t, name##_i32, copy_i32),               \
    [EDDY_INT64] = ENTRY(int64_t, int64_t, name##_i64, store_i64),              \
    [EDDY_UINT8] = ENTRY(uint8_t, uint8_t, name##_u8, copy_u8) }

static const eddy_reducer reducers[EDDY_FOLDS][EDDY_DTYPES] = {
    [EDDY_FOLD_SUM]  = WIDE(sum, store),
    [EDDY_FOLD_MEAN] = WIDE(sum, mean),
    [EDDY_FOLD_PROD] = WIDE(prod, store),
    [EDDY_FOLD_MAX]  = SAME(max),
    [EDDY_FOLD_MIN]  = SAME(min),
    [EDDY_FOLD_ANY]  = { [EDDY_BOOL] = ENTRY(uint8_t, uint8_t, any_b8, copy_u8) },
    [EDDY_FOLD_ALL]  = { [EDDY_BOOL] = ENTRY(uint8_t, uint8_t, all_b8, copy_u8) },
    [EDDY_FOLD_SQUARES] = {
        [EDDY_FLOAT32] = ENTRY(float, double, squares_f32, store_f32),
        [EDDY_FLOAT64] = ENTRY(double, double, squares_f64, store_f64) },
};

const eddy_reducer *eddy_reducer_of(eddy_fold fold, eddy_dtype d)
{
    if ((unsigned)fold >= EDDY_FOLDS || (unsigned)d >= EDDY_DTYPES) return NULL;
    const eddy_reducer *r = &reducers[fold][d];
    return r->fold ? r : NULL;
}

/* -------------------------------------------------------------- the cut -- */

enum {
    ROOM  = 1024,        /* accumulators at a time */
    LANES = 32,          /* accumulators that a contiguous run is spread over */
    SHORT = 32,          /* runs up to this length are folded many at a time */
    CHUNK = 1 << 10      /* rows folded before their sum goes to the total */
};

typedef union accumulators {
    double complex c128[ROOM];
    double  f64[ROOM];
    float   f32[ROOM];
    int64_t i64[ROOM];
    int32_t i32[ROOM];
    uint8_t u8[ROOM];
} accumulators;

eddy_reduction eddy_reduction_of_block(const eddy_reducer *r, int64_t many, int64_t n,
                                       int64_t width, int64_t stride)
{
    return (eddy_reduction){ .reducer = r, .rows = n, .width = width, .stride = stride,
                             .many = many, .results = many * width, .count = n };
}

/* Neighbouring axes of a kind are one loop, and axes of size 1 none: what is
 * left alternates between kept and folded. */
static int merge_axes(eddy_shape s, unsigned mask, int64_t *size, bool *folded)
{
    int n = 0;
    for (int i = 0; i < s.rank; i++) {
        const bool f = mask >> i & 1;
        if (s.dim[i] == 1) continue;
        if (n > 0 && folded[n - 1] == f) size[n - 1] *= s.dim[i];
        else { size[n] = s.dim[i]; folded[n++] = f; }
    }
    return n;
}

eddy_reduction eddy_reduction_of(const eddy_reducer *r, eddy_shape s, unsigned mask)
{
    int64_t size[EDDY_MAX_RANK];
    bool folded[EDDY_MAX_RANK];
    int n = merge_axes(s, mask, size, folded);
    eddy_reduction p = { .reducer = r, .rows = 1, .width = 1, .many = 1, .results = 1, .count = 1 };
    for (int i = 0; i < n; i++) *(folded[i] ? &p.count : &p.results) *= size[i];

    if (n > 0 && !folded[n - 1]) p.width = size[--n];
    p.stride = p.width;
    if (n > 0) p.rows = size[--n];
    int64_t stride = p.width * p.rows;
    if (n > 0) stride *= p.many = size[--n];
    eddy_loop kept[EDDY_MAX_RANK], more[EDDY_MAX_RANK];
    for (; n > 0; stride *= size[--n]) {
        const eddy_loop loop = { size[n - 1], stride };
        if (folded[n - 1]) more[p.n_folded++] = loop;
        else kept[p.n_kept++] = loop;
    }
    for (int i = 0; i < p.n_kept; i++) p.kept[i] = kept[p.n_kept - 1 - i];
    for (int i = 0; i < p.n_folded; i++) p.folded[i] = more[p.n_folded - 1 - i];
    return p;
}

/* ----------------------------------------------------------------- runs -- */

/* The next position of some loops: moves *offset there; false after the last. */
static bool advance(int n, const eddy_loop *loop, int64_t *at, int64_t *offset)
{
    for (int i = n - 1; i >= 0; i--) {
        *offset += loop[i].stride;
        if (++at[i] < loop[i].size) return true;
        *offset -= loop[i].size * loop[i].stride;
        at[i] = 0;
    }
    return false;
}

/* Takes rows of `width` elements into acc[0 .. width).  The accumulators after
 * those serve as lanes: each chunk is folded there and then joined to the total,
 * so that no accumulator takes in very many elements. */
static void fold_rows(const eddy_reducer *r, void *acc, const char *x, int64_t rows, int64_t width,
                      int64_t stride)
{
    void *const lane = (char *)acc + (size_t)width * r->acc_size;
    const int64_t most = stride == width && width < LANES ? LANES / width : 1;
    const int64_t lanes = rows < most ? rows : most;
    const int64_t chunk = CHUNK * lanes;
    for (int64_t at = 0; at < rows; at += chunk) {
        const int64_t n = rows - at < chunk ? rows - at : chunk, full = n / lanes;
        const char *from = x + (size_t)(at * stride) * r->size;
        r->start(lane, lanes * width);
        r->fold(lane, from, full, lanes * width, lanes * stride);
        from += (size_t)(full * lanes * stride) * r->size;
        if (n % lanes > 0) r->fold(lane, from, 1, n % lanes * width, 0);
        r->join(acc, lanes + 1, width);
    }
}

/* Blocks that are too small for a loop of their own each. */
static bool is_short(const eddy_reduction *p)
{
    return p->rows <= SHORT && p->width <= SHORT && p->stride == p->width;
}

/* Results [first, first + n) of those from x on: of whole short blocks, or some
 * columns of one block. */
static void reduce_some(const eddy_reduction *p, char *y, const char *x, int64_t first, int64_t n)
{
    const eddy_reducer *r = p->reducer;
    accumulators acc;
    int64_t at[EDDY_MAX_RANK] = { 0 };
    int64_t offset = first / p->width * p->rows * p->stride + first % p->width;
    r->start(&acc, n);
    do {
        const char *from = x + (size_t)offset * r->size;
        if (is_short(p)) r->each(&acc, from, n / p->width, p->rows, p->width);
        else fold_rows(r, &acc, from, p->rows, n, p->stride);
    } while (advance(p->n_folded, p->folded, at, &offset));
    r->finish(y + (size_t)first * r->size, &acc, n, p->count);
}

/* Results of nothing. */
static void reduce_none(const eddy_reduction *p, char *y)
{
    accumulators acc;
    const eddy_reducer *r = p->reducer;
    for (int64_t i = 0; i < p->results; i += ROOM) {
        const int64_t n = p->results - i < ROOM ? p->results - i : ROOM;
        r->start(&acc, n);
        r->finish(y + (size_t)i * r->size, &acc, n, 0);
    }
}

void eddy_reduction_run(const eddy_reduction *p, void *y, const void *x)
{
    if (p->results == 0) return;
    if (p->count == 0) {
        reduce_none(p, y);
        return;
    }
    /* A step ends where a block does; columns need as much room for their lanes. */
    const int64_t block = p->width * p->many, row = p->width < ROOM / 2 ? p->width : ROOM / 2;
    const int64_t step = is_short(p) ? ROOM / p->width * p->width : row;
    const size_t size = p->reducer->size;
    int64_t at[EDDY_MAX_RANK] = { 0 }, offset = 0;
    char *to = y;
    do {
        const char *from = (const char *)x + (size_t)offset * size;
        for (int64_t i = 0, n = 0; i < block; i += n) {
            n = is_short(p) ? block - i : p->width - i % p->width;
            if (n > step) n = step;
            reduce_some(p, to, from, i, n);
        }
        to += (size_t)block * size;
    } while (advance(p->n_kept, p->kept, at, &offset));
}

eddy_lanes eddy_lanes_of(eddy_shape s, int64_t axis)
{
    const int64_t at = axis < 0 ? axis + s.rank : axis;
    eddy_lanes l = { 1, 1, 1 };
    for (int i = 0; i < s.rank; i++) *(i < at ? &l.outer : i == at ? &l.n : &l.inner) *= s.dim[i];
    return l;
}
