/* batch_norm_loops.h -- the loops of batch normalization for one element type, T: a template of
 * ops/kernels/for_floats.h.
 *
 * If there are few columns, several rows are treated as one wide row, so that the inner loops
 * have about WIDE elements; if there are many, they are processed WIDE at a time. */

/* sum[c] = the sum of x[r * stride + c] over the rows. */
EDDY_INLINE void NAME(sum_columns)(const T *x, int64_t rows, int64_t width, int64_t stride,
                                   T *restrict sum)
{
    int64_t r = 0;
    for (int64_t c = 0; c < width; c++) sum[c] = 0;
    for (; r + 4 <= rows; r += 4) {
        const T *a = x + r * stride, *b = a + stride, *e = b + stride, *f = e + stride;
        for (int64_t c = 0; c < width; c++) sum[c] += (a[c] + b[c]) + (e[c] + f[c]);
    }
    for (; r < rows; r++)
        for (int64_t c = 0; c < width; c++) sum[c] += x[r * stride + c];
}

/* d[c] and q[c] = the sums of x - mean[c] and of its squares. */
EDDY_INLINE void NAME(deviations)(const T *x, int64_t rows, int64_t width, int64_t stride,
                                  const T *mean, T *restrict d, T *restrict q)
{
    int64_t r = 0;
    for (int64_t c = 0; c < width; c++) d[c] = q[c] = 0;
    for (; r + 2 <= rows; r += 2) {
        const T *a = x + r * stride, *b = a + stride;
        for (int64_t c = 0; c < width; c++) {
            const T u = a[c] - mean[c], v = b[c] - mean[c];
            d[c] += u + v;
            q[c] += u * u + v * v;
        }
    }
    for (; r < rows; r++)
        for (int64_t c = 0; c < width; c++) {
            const T u = x[r * stride + c] - mean[c];
            d[c] += u;
            q[c] += u * u;
        }
}

/* Merges the mean of `rows` more elements, and the sum of squares about it, into those of `had`. */
EDDY_INLINE void LOOP(merge_rows)(const T *x, int64_t rows, int64_t width, int64_t stride,
                                  double had, double *restrict mean, double *restrict squares)
{
    T sum[WIDE], d[WIDE], q[WIDE];
    const double n = (double)rows, part = n / (had + n);
    NAME(sum_columns)(x, rows, width, stride, sum);
    for (int64_t c = 0; c < width; c++) sum[c] /= (T)rows;
    NAME(deviations)(x, rows, width, stride, sum, d, q);
    for (int64_t c = 0; c < width; c++) {
        const double lost = (double)d[c] / n, off = (double)sum[c] + lost - mean[c];
        squares[c] += (double)q[c] - lost * (double)d[c] + off * off * had * part;
        mean[c] += off * part;
    }
}

#define MERGE_ROWS (const T *x, int64_t rows, int64_t width, int64_t stride, double had, \
                    double *restrict mean, double *restrict squares)
typedef void NAME(merge_rows_fn) MERGE_ROWS;
EDDY_CLONES_OF_FLOATS(NAME(merge_rows), MERGE_ROWS, (x, rows, width, stride, had, mean, squares))
#undef MERGE_ROWS

static inline bool NAME(widens)(const eddy_norm_work *w)
{
    return sizeof(T) == sizeof(float) && w->halves;
}

/* Rows of `width` elements of x or dy from element `at` on, *stride apart; those of bfloat16 are
 * widened to `room`. */
static const T *NAME(some_rows)(const eddy_norm_work *w, const void *from, int64_t at, int64_t rows,
                                int64_t width, int64_t *stride, T *room)
{
    if (!NAME(widens)(w)) return (const T *)from + at;
    widen_rows((const uint16_t *)from + at, rows, width, *stride, (void *)room);
    *stride = width;
    return room;
}

/* The mean of some rows from element `at` on and the sum of squares about it, of `width` columns. */
static void NAME(statistics)(const eddy_norm_work *w, NAME(merge_rows_fn) *merge_rows, int64_t at,
                             int64_t rows, int64_t width, int64_t stride, double *mean,
                             double *squares)
{
    const int64_t most = AT_ONCE / width;
    T             room[AT_ONCE];
    for (int64_t c = 0; c < width; c++) mean[c] = squares[c] = 0;
    for (int64_t r = 0, m; r < rows; r += m) {
        int64_t step = stride;
        m = rows - r < most ? rows - r : most;
        const T *x = NAME(some_rows)(w, w->x, at + r * stride, m, width, &step, room);
        merge_rows(x, m, width, step, (double)r, mean, squares);
    }
}

/* For each block: mean and sum of squares of each column. */
static void NAME(columns_statistics)(const eddy_norm_work *w, int64_t from, int64_t to)
{
    NAME(merge_rows_fn) *const merge_rows = EDDY_BEST_OF(NAME(merge_rows));
    const int64_t d = w->width, side = side_by_side(d);
    for (int64_t b = from; b < to; b++) {
        const int64_t first = b * w->block;
        const int64_t rows = w->rows - first < w->block ? w->rows - first : w->block;
        double *mean = w->part + b * 2 * d, *squares = mean + d;
        double wide[2 * WIDE];
        if (side == 1) {
            for (int64_t c = 0, m; c < d; c += m) {
                m = d - c < WIDE ? d - c : WIDE;
                NAME(statistics)(w, merge_rows, first * d + c, rows, m, d, mean + c, squares + c);
            }
            continue;
        }
        const int64_t whole = rows / side, over = rows - whole * side;
        NAME(statistics)(w, merge_rows, first * d, whole, side * d, side * d, wide, wide + WIDE);
        for (int64_t c = 0; c < d; c++) mean[c] = squares[c] = 0;
        for (int64_t s = 0; s < side && whole > 0; s++)
            merge_statistics(d, (double)(s * whole), mean, squares, (double)whole, wide + s * d,
                             wide + WIDE + s * d);
        for (int64_t r = rows - over; r < rows; r++) {
            T       row[WIDE];
            int64_t step = d;
            const T *x = NAME(some_rows)(w, w->x, (first + r) * d, 1, d, &step, row);
            merge_rows(x, 1, d, d, (double)r, mean, squares);
        }
    }
}

/* wide[i] = the column's number, for as many columns side by side as there are lanes. */
EDDY_INLINE void NAME(widen)(const T *from, int64_t width, int64_t lanes, T *wide)
{
    for (int64_t i = 0, c = 0; i < lanes; i++) {
        wide[i] = from[c];
        c = c + 1 < width ? c + 1 : 0;
    }
}

/* Adds the sums of dy and of dy (x - mean) to a[c] and b[c]. */
EDDY_INLINE void LOOP(sum_products)(const T *x, const T *dy, int64_t rows, int64_t width,
                                    int64_t stride, const T *mean, double *restrict a,
                                    double *restrict b)
{
    const int64_t most = AT_ONCE / 2 / width;
    T s[WIDE], t[WIDE];
    for (int64_t r = 0, last; r < rows; r = last) {
        last = r + most < rows ? r + most : rows;
        for (int64_t c = 0; c < width; c++) s[c] = t[c] = 0;
        for (; r + 2 <= last; r += 2) {
            const T *u = x + r * stride, *du = dy + r * stride;
            for (int64_t c = 0; c < width; c++) {
                const T e = du[c], f = du[c + stride];
                s[c] += e + f;
                t[c] += e * (u[c] - mean[c]) + f * (u[c + stride] - mean[c]);
            }
        }
        for (; r < last; r++)
            for (int64_t c = 0; c < width; c++) {
                s[c] += dy[r * stride + c];
                t[c] += dy[r * stride + c] * (x[r * stride + c] - mean[c]);
            }
        for (int64_t c = 0; c < width; c++) a[c] += (double)s[c], b[c] += (double)t[c];
    }
}

#define SUM_PRODUCTS (const T *x, const T *dy, int64_t rows, int64_t width, int64_t stride, \
                      const T *mean, double *restrict a, double *restrict b)
typedef void NAME(summing) SUM_PRODUCTS;
EDDY_CLONES_OF_FLOATS(NAME(sum_products), SUM_PRODUCTS,
                      (x, dy, rows, width, stride, mean, a, b))
#undef SUM_PRODUCTS

/* The same for rows from element `at` on, as many at a time as are summed in T. */
static void NAME(sum_rows)(const eddy_norm_work *w, NAME(summing) *sum_products, int64_t at,
                           int64_t rows, int64_t width, int64_t stride, const T *mean, double *a,
                           double *b)
{
    const int64_t most = NAME(widens)(w) ? AT_ONCE / 2 / width : rows;
    T             room[2][AT_ONCE / 2];
    for (int64_t r = 0, m; r < rows; r += m) {
        int64_t step = stride, same = stride;
        m = rows - r < most ? rows - r : most;
        const T *x = NAME(some_rows)(w, w->x, at + r * stride, m, width, &step, room[0]);
        const T *dy = NAME(some_rows)(w, w->dy, at + r * stride, m, width, &same, room[1]);
        sum_products(x, dy, m, width, step, mean, a, b);
    }
}

/* For each block: the sums of dy and of dy (x - mean) of each column. */
static void NAME(columns_products)(const eddy_norm_work *w, int64_t from, int64_t to)
{
    NAME(summing) *const sum_products = EDDY_BEST_OF(NAME(sum_products));
    const int64_t d = w->width, side = side_by_side(d), wide = side * d;
    const T *columns = w->mean;
    T mean[WIDE];
    for (int64_t b = from; b < to; b++) {
        const int64_t first = b * w->block;
        const int64_t rows = w->rows - first < w->block ? w->rows - first : w->block;
        double *part = w->part + b * 2 * d, sums[2 * WIDE];
        for (int64_t c = 0, m; c < wide; c += m) {
            const int64_t whole = rows / side, over = rows - whole * side;
            m = wide - c < WIDE ? wide - c : WIDE;
            NAME(widen)(columns + c, side > 1 ? d : m, m, mean);
            for (int64_t i = 0; i < m; i++) sums[i] = sums[WIDE + i] = 0;
            NAME(sum_rows)(w, sum_products, first * d + c, whole, m, wide, mean, sums, sums + WIDE);
            if (over > 0)
                NAME(sum_rows)(w, sum_products, first * d + whole * wide, 1, over * d, wide, mean,
                               sums, sums + WIDE);
            for (int64_t i = 0; i < m; i++) {
                const int64_t at = side > 1 ? i % d : c + i;
                part[at] = (i < d ? 0 : part[at]) + sums[i];
                part[d + at] = (i < d ? 0 : part[d + at]) + sums[WIDE + i];
            }
        }
    }
}

/* Element i of x, and pointers to it; elements are bfloat16 if `halves`. */
EDDY_INLINE T NAME(at)(const void *x, int64_t i, bool halves)
{
    return halves ? (T)eddy__f32_of_bf16(((const uint16_t *)x)[i]) : ((const T *)x)[i];
}
EDDY_INLINE const void *NAME(from)(const void *x, int64_t i, bool halves)
{
    return (const char *)x + (size_t)i * (halves ? sizeof(uint16_t) : sizeof(T));
}

EDDY_INLINE void NAME(put)(void *y, int64_t i, T value, bool halves)
{
    if (halves) ((uint16_t *)y)[i] = eddy__bf16_of_f32((float)value);
    else ((T *)y)[i] = value;
}

/* y = (x - f) g + h, or with dy, y = dy g - (x - f) h - i, at one element. */
EDDY_INLINE void NAME(apply_one)(const void *x, const void *dy, void *restrict y, int64_t c,
                                 T f[4][WIDE], bool halves)
{
    const T off = NAME(at)(x, c, halves) - f[0][c];
    NAME(put)(y, c, dy ? (NAME(at)(dy, c, halves) * f[1][c] - f[3][c]) - off * f[2][c]
                       : off * f[1][c] + f[2][c], halves);
}

/* For one wide row. The loops over bfloat16 are kept short. */
EDDY_INLINE void NAME(apply_row)(const void *x, const void *dy, void *restrict y, int64_t width,
                                 T f[4][WIDE], bool halves)
{
    enum { STEP = 16 };
    int64_t c = 0;
    if (!halves) {
        for (; c < width; c++) NAME(apply_one)(x, dy, y, c, f, false);
        return;
    }
    for (; c + STEP <= width; c += STEP)
        for (int64_t j = c; j < c + STEP; j++) NAME(apply_one)(x, dy, y, j, f, true);
    for (; c < width; c++) {
        __asm__ volatile("");            /* not in vectors */
        NAME(apply_one)(x, dy, y, c, f, true);
    }
}

/* Some rows of y, or with dy of dx; factor[0..2] belong to the columns. */
EDDY_INLINE void NAME(apply_rows)(const eddy_norm_work *w, int64_t from, int64_t to, bool halves)
{
    const int64_t d = w->width, wide = side_by_side(d) * d, all = (to - from) * d;
    const void *x = NAME(from)(w->x, from * d, halves);
    const void *dy = w->dy ? NAME(from)(w->dy, from * d, halves) : NULL;
    char *y = (char *)w->y + (from * d) * (int64_t)(halves ? sizeof(uint16_t) : sizeof(T));
    T f[4][WIDE];
    for (int64_t c = 0, m; c < wide; c += m) {
        m = wide - c < WIDE ? wide - c : WIDE;
        const int64_t columns = wide > d ? d : m;
        NAME(widen)((const T *)w->mean + c, columns, m, f[0]);
        for (int i = 0; i < (dy ? 3 : 2); i++)
            NAME(widen)((const T *)w->factor[i] + c, columns, m, f[i + 1]);
        for (int64_t at = c; at < all; at += wide) {
            const int64_t now = all - at < m ? all - at : m;
            const void *u = NAME(from)(x, at, halves);
            void *v = y + at * (int64_t)(halves ? sizeof(uint16_t) : sizeof(T));
            if (!dy) NAME(apply_row)(u, NULL, v, now, f, halves);
            else NAME(apply_row)(u, NAME(from)(dy, at, halves), v, now, f, halves);
        }
    }
}

/* As many rows at a time as stay in the L1 cache for all tiles of columns. */
EDDY_INLINE void NAME(apply_some)(const eddy_norm_work *w, int64_t from, int64_t to, bool halves)
{
    const int64_t most = 4 * AT_ONCE / w->width + 1;
    for (int64_t r = from, next; r < to; r = next) {
        next = r + most < to ? r + most : to;
        NAME(apply_rows)(w, r, next, halves);
    }
}

EDDY_INLINE void LOOP(columns_apply)(const eddy_norm_work *w, int64_t from, int64_t to)
{
    NAME(apply_some)(w, from, to, false);
}

EDDY_CLONES_OF_FLOATS(NAME(columns_apply), (const eddy_norm_work *w, int64_t from, int64_t to),
                      (w, from, to))
