/* layer_norm_loops.h -- the loops of layer normalization for one element type, T: a template of
 * ops/kernels/for_floats.h.
 *
 * A sum over a row uses a fixed number of lanes, whatever the instruction set. */

typedef T NAME(lanes) __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
typedef T NAME(half) __attribute__((vector_size(32)));
typedef T NAME(quarter) __attribute__((vector_size(16)));
enum { NAME(LANES) = 64 / sizeof(T) };

EDDY_INLINE T NAME(fold)(const NAME(lanes) *v)
{
    union { NAME(lanes) v; NAME(half) h[2]; } all = { .v = *v };
    union { NAME(half) h; NAME(quarter) q[2]; } some = { .h = all.h[0] + all.h[1] };
    union { NAME(quarter) q; T x[16 / sizeof(T)]; } few = { .q = some.q[0] + some.q[1] };
    T sum = 0;
    for (size_t i = 0; i < 16 / sizeof(T); i++) sum += few.x[i];
    return sum;
}

EDDY_INLINE T NAME(row_mean)(const T *x, int64_t n)
{
    NAME(lanes) a = { 0 }, b = { 0 };
    int64_t i = 0;
    for (; i + 2 * NAME(LANES) <= n; i += 2 * NAME(LANES)) {
        a += *(const NAME(lanes) *)(x + i);
        b += *(const NAME(lanes) *)(x + i + NAME(LANES));
    }
    a += b;
    T sum = NAME(fold)(&a);
    for (; i < n; i++) sum += x[i];
    return sum / (T)n;
}

/* The mean and the variance, corrected for rounding of the mean. */
EDDY_INLINE T NAME(row_variance)(const T *x, int64_t n, T *mean)
{
    const T m = *mean;
    NAME(lanes) a = { 0 }, b = { 0 };
    int64_t i = 0;
    for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
        const NAME(lanes) d = *(const NAME(lanes) *)(x + i) - m;
        a += d;
        b += d * d;
    }
    T sum = NAME(fold)(&a), squares = NAME(fold)(&b);
    for (; i < n; i++) {
        sum += x[i] - m;
        squares += (x[i] - m) * (x[i] - m);
    }
    const T off = sum / (T)n, variance = squares / (T)n - off * off;
    *mean = m + off;
    return variance > 0 ? variance : squares * 0;        /* NaN stays NaN */
}

EDDY_INLINE void LOOP(rows_forward)(const eddy_norm_work *w, int64_t from, int64_t to)
{
    const int64_t d = w->width;
    const T *scale = w->scale, *offset = w->offset;
    for (int64_t i = from; i < to; i++) {
        const T *x = (const T *)w->x + i * d;
        T *restrict y = (T *)w->y + i * d;
        T mean = NAME(row_mean)(x, d);
        const T variance = NAME(row_variance)(x, d, &mean);
        const T rstd = 1 / (T)sqrt(variance + (T)w->epsilon);
        ((T *)w->mean)[i] = mean;
        ((T *)w->rstd)[i] = rstd;
        for (int64_t j = 0; j < d; j++) y[j] = (x[j] - mean) * rstd * scale[j] + offset[j];
    }
}

/* sums[0] of g and sums[1] of g z, over a row. */
EDDY_INLINE void NAME(row_sums)(const T *x, const T *dy, const T *scale, int64_t n, T mean, T rstd,
                                T *sums)
{
    NAME(lanes) a = { 0 }, b = { 0 };
    int64_t i = 0;
    for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
        const NAME(lanes) g = *(const NAME(lanes) *)(dy + i) * *(const NAME(lanes) *)(scale + i);
        a += g;
        b += g * ((*(const NAME(lanes) *)(x + i) - mean) * rstd);
    }
    sums[0] = NAME(fold)(&a);
    sums[1] = NAME(fold)(&b);
    for (; i < n; i++) {
        const T g = dy[i] * scale[i];
        sums[0] += g;
        sums[1] += g * ((x[i] - mean) * rstd);
    }
}

/* dx of one row; adds its contribution to dscale and doffset. */
EDDY_INLINE void NAME(row_backward)(const eddy_norm_work *w, int64_t i, T *restrict dscale,
                                    T *restrict doffset)
{
    const int64_t d = w->width;
    const T *x = (const T *)w->x + i * d, *dy = (const T *)w->dy + i * d, *scale = w->scale;
    T *restrict dx = (T *)w->y + i * d;
    const T mean = ((const T *)w->mean)[i], rstd = ((const T *)w->rstd)[i];
    T sums[2];
    NAME(row_sums)(x, dy, scale, d, mean, rstd, sums);
    const T a = sums[0] / (T)d, b = sums[1] / (T)d;
    for (int64_t j = 0; j < d; j++) {
        const T z = (x[j] - mean) * rstd;
        dscale[j] += dy[j] * z;
        doffset[j] += dy[j];
        dx[j] = rstd * ((dy[j] * scale[j] - a) - z * b);
    }
}

/* Some rows at a time are summed in T, all of a block in double. */
EDDY_INLINE void LOOP(rows_backward)(const eddy_norm_work *w, int64_t from, int64_t to)
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
            for (int64_t r = i; r < next; r++) NAME(row_backward)(w, r, some, some + d);
            for (int64_t j = 0; j < 2 * d; j++) part[j] += (double)some[j];
        }
    }
}

/* dscale and doffset: the partial sums of the blocks, added in order. */
static void NAME(rows_join)(const eddy_norm_work *w, int64_t blocks, void *dscale_,
                            void *doffset_)
{
    const int64_t d = w->width;
    T *dscale = dscale_, *doffset = doffset_;
    for (int64_t j = 0; j < d; j++) {
        double scale = 0, offset = 0;
        for (int64_t b = 0; b < blocks; b++) {
            scale += w->part[b * 4 * d + j];
            offset += w->part[b * 4 * d + d + j];
        }
        dscale[j] = (T)scale;
        doffset[j] = (T)offset;
    }
}

EDDY_CLONES_OF(NAME(rows_forward), PIECE, (w, from, to))
EDDY_CLONES_OF(NAME(rows_backward), PIECE, (w, from, to))
