/* resize_loops.h -- image resampling for one element type, T: a template of
 * ops/kernels/for_floats.h.
 *
 * Only the loops along a row are compiled for each instruction set; the other functions select
 * rows. */

EDDY_INLINE const T *NAME(weights)(const eddy_terms *t)
{
    return sizeof(T) == sizeof(float) ? (const T *)(const void *)t->narrow
                                      : (const T *)(const void *)t->wide;
}

/* y = the sum of w[i] x[i] over n vectors, 1 to 4; with `more` it is added to y. */
EDDY_INLINE void LOOP(sum_of)(int n, bool more, const T *const *x, const T *w, int64_t length,
                              T *restrict y)
{
    const T *a = x[0], *b = x[n > 1], *c = x[n > 2 ? 2 : 0], *d = x[n > 3 ? 3 : 0];
    const T  p = w[0], q = w[n > 1], r = w[n > 2 ? 2 : 0], s = w[n > 3 ? 3 : 0];
    switch (more ? 4 + n : n) {
    case 1: for (int64_t i = 0; i < length; i++) y[i] = p * a[i]; break;
    case 2: for (int64_t i = 0; i < length; i++) y[i] = p * a[i] + q * b[i]; break;
    case 3: for (int64_t i = 0; i < length; i++) y[i] = p * a[i] + q * b[i] + r * c[i]; break;
    case 4:
        for (int64_t i = 0; i < length; i++) y[i] = p * a[i] + q * b[i] + r * c[i] + s * d[i];
        break;
    case 5: for (int64_t i = 0; i < length; i++) y[i] += p * a[i]; break;
    case 6: for (int64_t i = 0; i < length; i++) y[i] = y[i] + p * a[i] + q * b[i]; break;
    case 7:
        for (int64_t i = 0; i < length; i++) y[i] = y[i] + p * a[i] + q * b[i] + r * c[i];
        break;
    default:
        for (int64_t i = 0; i < length; i++)
            y[i] = y[i] + p * a[i] + q * b[i] + r * c[i] + s * d[i];
    }
}

/* y = a + w (b - a), which is exactly a where a and b are equal. */
EDDY_INLINE void LOOP(mix)(const T *a, const T *b, T w, int64_t length, T *restrict y)
{
    for (int64_t i = 0; i < length; i++) y[i] = a[i] + w * (b[i] - a[i]);
}

/* ----------------------------------------------------------------- columns -- */

/* y = a row of x with its columns resized; there are at most MOST_FEW channels, c, a constant where
 * this is inlined. */
EDDY_INLINE void NAME(few)(const eddy_terms *v, int64_t c, const T *x, T *restrict y)
{
    const T *w = NAME(weights)(v);
    for (int64_t j = 0; j < v->n; j++, y += c) {
        T sum[4] = { 0 };
        for (int64_t t = v->first[j]; t < v->first[j + 1]; t++)
            for (int64_t i = 0; i < c; i++) sum[i] += w[t] * x[v->at[t] * c + i];
        for (int64_t i = 0; i < c; i++) y[i] = sum[i];
    }
}

/* The same for four terms per column; and for two terms that are interpolated. */
EDDY_INLINE void NAME(few_of_four)(const eddy_terms *v, int64_t c, const T *x, T *restrict y)
{
    const T *w = NAME(weights)(v);
    const int32_t *at = v->at;
    for (int64_t j = 0; j < v->n; j++, y += c, w += 4, at += 4)
        for (int64_t i = 0; i < c; i++)
            y[i] = w[0] * x[at[0] * c + i] + w[1] * x[at[1] * c + i] + w[2] * x[at[2] * c + i] +
                   w[3] * x[at[3] * c + i];
}

EDDY_INLINE void NAME(few_mixed)(const eddy_terms *v, int64_t c, const T *x, T *restrict y)
{
    const T *w = NAME(weights)(v);
    const int32_t *at = v->at;
    for (int64_t j = 0; j < v->n; j++, y += c, w += 2, at += 2)
        for (int64_t i = 0; i < c; i++)
            y[i] = x[at[0] * c + i] + w[1] * (x[at[1] * c + i] - x[at[0] * c + i]);
}

EDDY_INLINE void NAME(few_of)(const eddy_terms *v, int64_t c, const T *x, T *restrict y)
{
    if (v->mix) NAME(few_mixed)(v, c, x, y);
    else if (v->each == 4) NAME(few_of_four)(v, c, x, y);
    else NAME(few)(v, c, x, y);
}

EDDY_INLINE void LOOP(few_columns)(const eddy_terms *v, int64_t c, const T *x, T *restrict y)
{
    switch (c) {
    case 1: NAME(few_of)(v, 1, x, y); break;
    case 2: NAME(few_of)(v, 2, x, y); break;
    case 3: NAME(few_of)(v, 3, x, y); break;
    default: NAME(few_of)(v, MOST_FEW, x, y);
    }
}

EDDY_CLONES_OF_FLOATS(NAME(few_columns), (const eddy_terms *v, int64_t c, const T *x, T *restrict y),
               (v, c, x, y))
EDDY_CLONES_OF_FLOATS(NAME(mix), (const T *a, const T *b, T w, int64_t length, T *restrict y),
               (a, b, w, length, y))
EDDY_CLONES_OF_FLOATS(NAME(sum_of), (int n, bool more, const T *const *x, const T *w, int64_t length,
                              T *restrict y), (n, more, x, w, length, y))

/* -------------------------------------------------------------------- rows -- */

/* A run, its loops, and its scratch memory: the rows that are kept and their numbers, or one
 * row. */
typedef struct NAME(resampler) {
    const eddy_resample *r;
    void (*few_columns)(const eddy_terms *v, int64_t c, const T *x, T *restrict y);
    void (*mix)(const T *a, const T *b, T w, int64_t length, T *restrict y);
    void (*sum_of)(int n, bool more, const T *const *x, const T *w, int64_t length, T *restrict y);
    int64_t *held;
    T       *room;
} NAME(resampler);

/* y = a vector of x of `length` elements: the sum of terms [from, to), whose vectors are `length`
 * apart. */
static void NAME(sum_terms)(const NAME(resampler) *s, const eddy_terms *t, int64_t from, int64_t to,
                            const T *x, int64_t length, T *restrict y)
{
    const T *w = NAME(weights)(t), *part[4];
    if (from == to) memset(y, 0, (size_t)length * sizeof *y);
    for (int64_t i = from; i < to; i += 4) {
        const int n = to - i < 4 ? (int)(to - i) : 4;
        for (int j = 0; j < n; j++) part[j] = x + t->at[i + j] * length;
        s->sum_of(n, i > from, part, w + i, length, y);
    }
}

/* y = a row of x with its columns resized. */
static void NAME(columns)(const NAME(resampler) *s, const T *x, T *restrict y)
{
    const eddy_terms *v = &s->r->axis[1];
    const int64_t     c = s->r->channels;
    const T          *w = NAME(weights)(v);
    if (c >= 1 && c <= MOST_FEW) {
        s->few_columns(v, c, x, y);
        return;
    }
    for (int64_t j = 0; j < v->n; j++, y += c) {
        const int64_t t = v->first[j];
        if (v->mix) s->mix(x + v->at[t] * c, x + v->at[t + 1] * c, w[t + 1], c, y);
        else NAME(sum_terms)(s, v, t, v->first[j + 1], x, c, y);
    }
}

/* Row `row` of x of all images. */
static const T *NAME(row_of_x)(const NAME(resampler) *s, int64_t row)
{
    return (const T *)s->r->x + row * s->r->axis[1].read * s->r->channels;
}

/* The same with its columns resized, from the ring of kept rows, where it is stored if it is
 * missing. */
static const T *NAME(kept)(const NAME(resampler) *s, int64_t row)
{
    const eddy_resample *r = s->r;
    const int64_t slot = row % r->axis[0].read % r->ring;
    T *y = s->room + slot * r->axis[1].n * r->channels;
    if (s->held[slot] == row) return y;
    NAME(columns)(s, NAME(row_of_x)(s, row), y);
    s->held[slot] = row;
    return y;
}

/* Row i of image n after resizing the height: combined from kept rows, or from rows of x, of
 * `length` elements. */
static void NAME(row)(const NAME(resampler) *s, int64_t n, int64_t i, int64_t length, T *y)
{
    const eddy_terms *h = &s->r->axis[0];
    const int64_t     from = h->first[i], to = h->first[i + 1];
    const T *w = NAME(weights)(h), *part[4];
    if (from == to) memset(y, 0, (size_t)length * sizeof *y);
    for (int64_t t = from; t < to; t += 4) {
        const int count = to - t < 4 ? (int)(to - t) : 4;
        for (int j = 0; j < count; j++) {
            const int64_t row = n * h->read + h->at[t + j];
            part[j] = s->r->ring > 0 ? NAME(kept)(s, row) : NAME(row_of_x)(s, row);
        }
        if (h->mix) s->mix(part[0], part[1], w[t + 1], length, y);
        else s->sum_of(count, t > from, part, w + t, length, y);
    }
}

/* Rows [from, to) of y, of all images. */
static void NAME(resample)(const eddy_resample *r, int64_t from, int64_t to, char *scratch)
{
    const eddy_terms *h = &r->axis[0], *v = &r->axis[1];
    const int64_t wide = v->read * r->channels, narrow = v->n * r->channels;
    int64_t      *held = (int64_t *)(void *)scratch;
    const NAME(resampler) s = {
        r, EDDY_BEST_OF(NAME(few_columns)), EDDY_BEST_OF(NAME(mix)), EDDY_BEST_OF(NAME(sum_of)),
        held, (T *)(void *)(held + r->ring),
    };
    for (int64_t i = 0; i < r->ring; i++) held[i] = -1;
    for (int64_t row = from; row < to; row++) {
        const int64_t n = row / h->n, i = row % h->n;
        T *y = (T *)r->y + row * narrow;
        if (r->ring > 0) {
            NAME(row)(&s, n, i, narrow, y);
        } else {
            NAME(row)(&s, n, i, wide, s.room);
            NAME(columns)(&s, s.room, y);
        }
    }
}
