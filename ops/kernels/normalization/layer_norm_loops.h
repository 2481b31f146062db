/* layer_norm_loops.h -- the loops of layer normalization for elements T and vectors of WIDTH
 * bytes, for the instruction set SET, whose functions are declared by TARGET. Included by
 * layer_norm_sets.h; SET, WIDTH and TARGET are undefined at the end.
 *
 * A sum over a row uses 64 bytes of lanes, whatever the instruction set. A compiler would keep
 * vectors wider than those of the set in memory, so lanes are made of pieces. */

#define ROWS(name) EDDY_NAME(NAME(name), SET)
#define PIECES     (64 / WIDTH)
#define LANES      ((int64_t)(64 / sizeof(T)))

typedef T ROWS(piece) __attribute__((vector_size(WIDTH), aligned(sizeof(T)), may_alias));
typedef struct ROWS(lanes) { ROWS(piece) piece[PIECES]; } ROWS(lanes);

/* Piece k of the lanes at x. */
#define PIECE_AT(x, k) (((const ROWS(piece) *)(const void *)(x))[k])

/* The sum of the lanes: of halves down to 16 bytes, whose elements are added in order. */
EDDY_INLINE T ROWS(fold)(const ROWS(lanes) *v)
{
    enum { LEAST = 16 / sizeof(T) };
    T x[LANES], sum = 0;
    memcpy(x, v, sizeof x);
    for (int n = LANES / 2; n >= LEAST; n /= 2)
        for (int i = 0; i < n; i++) x[i] += x[i + n];
    for (int i = 0; i < LEAST; i++) sum += x[i];
    return sum;
}

EDDY_INLINE T ROWS(row_mean)(const T *x, int64_t n)
{
    ROWS(lanes) a = { { { 0 } } }, b = { { { 0 } } };
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        for (int k = 0; k < PIECES; k++) {
            a.piece[k] += PIECE_AT(x + i, k);
            b.piece[k] += PIECE_AT(x + i + LANES, k);
        }
    }
    for (int k = 0; k < PIECES; k++) a.piece[k] += b.piece[k];
    T sum = ROWS(fold)(&a);
    for (; i < n; i++) sum += x[i];
    return sum / (T)n;
}

/* The mean and the variance, corrected for rounding of the mean. */
EDDY_INLINE T ROWS(row_variance)(const T *x, int64_t n, T *mean)
{
    const T m = *mean;
    ROWS(lanes) a = { { { 0 } } }, b = { { { 0 } } };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < PIECES; k++) {
            const ROWS(piece) d = PIECE_AT(x + i, k) - m;
            a.piece[k] += d;
            b.piece[k] += d * d;
        }
    }
    T sum = ROWS(fold)(&a), squares = ROWS(fold)(&b);
    for (; i < n; i++) {
        sum += x[i] - m;
        squares += (x[i] - m) * (x[i] - m);
    }
    const T off = sum / (T)n, variance = squares / (T)n - off * off;
    *mean = m + off;
    return variance < 0 ? 0 : variance;        /* NaN stays NaN, also that of no elements */
}

TARGET static void ROWS(rows_forward)(const eddy_norm_work *w, int64_t from, int64_t to)
{
    const int64_t d = w->width;
    const T *scale = w->scale, *offset = w->offset;
    for (int64_t i = from; i < to; i++) {
        const T *x = (const T *)w->x + i * d;
        T *restrict y = (T *)w->y + i * d;
        T mean = ROWS(row_mean)(x, d);
        const T variance = ROWS(row_variance)(x, d, &mean);
        const T rstd = 1 / (T)sqrt(variance + (T)w->epsilon);
        ((T *)w->mean)[i] = mean;
        ((T *)w->rstd)[i] = rstd;
        for (int64_t j = 0; j < d; j++) y[j] = (x[j] - mean) * rstd * scale[j] + offset[j];
    }
    for (int64_t i = from; i < to; i++)
        if (!(((const T *)w->rstd)[i] > 0)) NAME(far_row)(w, i);
}

/* sums[0] of g and sums[1] of g z, over a row. */
EDDY_INLINE void ROWS(row_sums)(const T *x, const T *dy, const T *scale, int64_t n, T mean, T rstd,
                                T *sums)
{
    ROWS(lanes) a = { { { 0 } } }, b = { { { 0 } } };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < PIECES; k++) {
            const ROWS(piece) g = PIECE_AT(dy + i, k) * PIECE_AT(scale + i, k);
            a.piece[k] += g;
            b.piece[k] += g * ((PIECE_AT(x + i, k) - mean) * rstd);
        }
    }
    sums[0] = ROWS(fold)(&a);
    sums[1] = ROWS(fold)(&b);
    for (; i < n; i++) {
        const T g = dy[i] * scale[i];
        sums[0] += g;
        sums[1] += g * ((x[i] - mean) * rstd);
    }
}

/* dx of one row; adds its contribution to dscale and doffset. */
EDDY_INLINE void ROWS(row_backward)(const eddy_norm_work *w, int64_t i, T *restrict dscale,
                                    T *restrict doffset)
{
    const int64_t d = w->width;
    const T *x = (const T *)w->x + i * d, *dy = (const T *)w->dy + i * d, *scale = w->scale;
    T *restrict dx = (T *)w->y + i * d;
    const T mean = ((const T *)w->mean)[i], rstd = ((const T *)w->rstd)[i];
    T sums[2];
    ROWS(row_sums)(x, dy, scale, d, mean, rstd, sums);
    const T a = sums[0] / (T)d, b = sums[1] / (T)d;
    for (int64_t j = 0; j < d; j++) {
        const T z = (x[j] - mean) * rstd;
        dscale[j] += dy[j] * z;
        doffset[j] += dy[j];
        dx[j] = rstd * ((dy[j] * scale[j] - a) - z * b);
    }
}

/* A few rows at a time are summed in T, and these sums in double for the whole block. */
TARGET static void ROWS(rows_backward)(const eddy_norm_work *w, int64_t from, int64_t to)
{
    enum { TOGETHER = 16 };
    const int64_t d = w->width;
    for (int64_t b = from; b < to; b++) {
        double *part = w->part + b * 4 * d;
        T *some = (T *)(part + 2 * d);
        const int64_t last = (b + 1) * w->block < w->rows ? (b + 1) * w->block : w->rows;
        memset(part, 0, (size_t)(2 * d) * sizeof *part);
        for (int64_t i = b * w->block, next; i < last; i = next) {
            next = i + TOGETHER < last ? i + TOGETHER : last;
            memset(some, 0, (size_t)(2 * d) * sizeof *some);
            for (int64_t r = i; r < next; r++) ROWS(row_backward)(w, r, some, some + d);
            for (int64_t j = 0; j < 2 * d; j++) part[j] += (double)some[j];
        }
    }
}

#undef ROWS
#undef PIECES
#undef LANES
#undef PIECE_AT
#undef SET
#undef WIDTH
#undef TARGET
