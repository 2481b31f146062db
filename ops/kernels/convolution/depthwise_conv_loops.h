/* depthwise_conv_loops.h -- the loops of depthwise convolutions for vectors of LANES elements T.
 * Names end in KIND. LANES and KIND are undefined at the end.
 *
 * There are at least LANES channels. If their number is not a multiple of LANES, the last vector
 * overlaps the one before, so that it is full; it computes some channels a second time. */

#define NAME(name) OF_KIND(name, KIND)
#define LOOP(name) OF_KIND(NAME(name), all)
#define V          NAME(vector)
#if LANES == 1
typedef T V;
#else
typedef LANES_OF(T, LANES * sizeof(T)) V;
#endif

/* The beginning of the block of channels for channel `at`: earlier if the block would pass the
 * end. */
EDDY_INLINE int64_t NAME(block)(int64_t at, int64_t c) { return at + LANES <= c ? at : c - LANES; }

/* The sums of one position. */
EDDY_INLINE void NAME(one)(const depthwise_work *w, const T *from, const T *filter, T *to,
                           int64_t rows, int64_t cols)
{
    V a = { 0 };
    for (int64_t i = 0; i < rows; i++, from += w->from_row, filter += w->filter_row) {
        const T *x = from, *f = filter;
        for (int64_t j = 0; j < cols; j++, x += w->from_col, f += w->filter_col)
            a += *(const V *)x * *(const V *)f;
    }
    *(V *)to = a;
}

/* Adds to the sums of four neighboring positions the products of a row of three taps, in their order:
 * each of the six inputs is loaded once. */
EDDY_INLINE void NAME(three_by_four)(V *sum, const T *x, const T *f, int64_t x_step, int64_t f_step)
{
    const V t0 = *(const V *)f, t1 = *(const V *)(f + f_step), t2 = *(const V *)(f + 2 * f_step);
    for (int k = 0; k < 6; k++, x += x_step) {
        const V at = *(const V *)x;
        if (k < 4) sum[k] += at * t0;
        if (k > 0 && k < 5) sum[k - 1] += at * t1;
        if (k > 1) sum[k - 2] += at * t2;
    }
}

/* The sums of four positions, whose inputs are `step` and whose results are `space` elements
 * apart. */
EDDY_INLINE void NAME(four)(const depthwise_work *w, const T *from, const T *filter, T *to,
                            int64_t rows, int64_t cols, int64_t step, int64_t space)
{
    const V none = { 0 };
    V sum[4] = { none, none, none, none };
    if (cols == 3 && step == w->from_col)
        for (; rows > 0; rows--, from += w->from_row, filter += w->filter_row)
            NAME(three_by_four)(sum, from, filter, step, w->filter_col);
    for (; rows > 0; rows--, from += w->from_row, filter += w->filter_row) {
        const T *x = from, *f = filter;
        for (int64_t j = 0; j < cols; j++, x += w->from_col, f += w->filter_col) {
            const V tap = *(const V *)f;
            for (int k = 0; k < 4; k++) sum[k] += *(const V *)(x + k * step) * tap;
        }
    }
    for (int k = 0; k < 4; k++) *(V *)(to + k * space) = sum[k];
}

/* Positions p, p + space, ... of a row: four if they have the same taps, otherwise one; returns
 * their number. */
EDDY_INLINE int64_t NAME(places)(const depthwise_work *w, const T *from, const eddy_tap_run *h,
                                 int64_t p, T *to)
{
    const eddy_taps    *v = &w->axis[1];
    const eddy_tap_run *r = &v->at[p];
    const bool    many = same_taps(v, p);
    const int64_t c = w->c, step = many ? (r[v->space].from - r->from) * c : 0;
    const int64_t space = v->space * c;
    const T *x = from + r->from * c;
    const T *f = (const T *)w->filter + (h->tap * w->filter_w + r->tap) * c;
    to += p * c;
    for (int64_t i = 0; i < c; i += LANES) {
        const int64_t at = NAME(block)(i, c);
        if (many) NAME(four)(w, x + at, f + at, to + at, h->count, r->count, step, space);
        else NAME(one)(w, x + at, f + at, to + at, h->count, r->count);
    }
    return many ? 4 : 1;
}

/* Rows [from, to) of the result, of all images. */
EDDY_INLINE void LOOP(depthwise_rows)(const depthwise_work *w, int64_t from, int64_t to)
{
    const eddy_taps *h = &w->axis[0], *v = &w->axis[1];
    for (int64_t r = from; r < to; r++) {
        const eddy_tap_run *run = &h->at[r % h->places];
        const int64_t       row = r / h->places * h->read + run->from;
        const T *x = (const T *)w->from + row * v->read * w->c;
        T *y = (T *)w->to + r * v->places * w->c;
        for (int64_t first = 0; first < v->space; first++)
            for (int64_t p = first; p < v->places;)
                p += v->space * NAME(places)(w, x, run, p, y);
    }
}

/* LANES columns of a row of a plane, which have all taps of the filter's row. */
EDDY_INLINE void NAME(columns)(const depthwise_work *w, const T *x, const T *f, T *to, int64_t rows)
{
    V a = { 0 };
    for (int64_t i = 0; i < rows; i++, x += w->from_row, f += w->filter_row)
        for (int64_t j = 0; j < w->filter_w; j++)
            a += *(const V *)(x + j * w->from_col) * f[j * w->filter_col];
    *(V *)to = a;
}

/* The same for four blocks of columns, in the order of `at`. */
EDDY_INLINE void NAME(four_columns)(const depthwise_work *w, const T *x, const T *f, T *to,
                                    int64_t rows, const int64_t *at)
{
    V a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    for (int64_t i = 0; i < rows; i++, x += w->from_row, f += w->filter_row)
        for (int64_t j = 0; j < w->filter_w; j++) {
            const T *from = x + j * w->from_col, tap = f[j * w->filter_col];
            a += *(const V *)from * tap;
            b += *(const V *)(from + (at[1] - at[0])) * tap;
            c += *(const V *)(from + (at[2] - at[0])) * tap;
            d += *(const V *)(from + (at[3] - at[0])) * tap;
        }
    *(V *)(to + at[0]) = a;
    *(V *)(to + at[1]) = b;
    *(V *)(to + at[2]) = c;
    *(V *)(to + at[3]) = d;
}

/* Columns [p, hi) of a row of a plane, by blocks, of which the last overlap. */
EDDY_INLINE void NAME(line)(const depthwise_work *w, const T *x, const T *f, T *y, int64_t rows,
                            int64_t p, int64_t hi)
{
    const eddy_tap_run *r = w->axis[1].at;
    for (; p + LANES < hi; p += 4 * LANES) {
        int64_t at[4];
        for (int i = 0; i < 4; i++) at[i] = NAME(block)(p + i * LANES, hi);
        NAME(four_columns)(w, x + r[p].from, f, y, rows, at);
    }
    if (p < hi) {
        const int64_t at = NAME(block)(p, hi);
        NAME(columns)(w, x + r[at].from, f, y + at, rows);
    }
}

/* Columns [p, end) of a row of a plane, one after the other. */
EDDY_INLINE void NAME(border)(const depthwise_work *w, const T *x, const T *f, T *to, int64_t rows,
                              int64_t p, int64_t end)
{
    for (; p < end; p++) {
        const eddy_tap_run *r = &w->axis[1].at[p];
        T a = 0;
        for (int64_t i = 0; i < rows; i++) {
            const T *from = x + i * w->from_row + r->from;
            const T *tap = f + i * w->filter_row + r->tap * w->filter_col;
            for (int64_t j = 0; j < r->count; j++)
                a += from[j * w->from_col] * tap[j * w->filter_col];
        }
        to[p] = a;
    }
}

/* Planes [from, to) of the result, of all images; the sums are those of depthwise_rows. */
EDDY_INLINE void LOOP(depthwise_planes)(const depthwise_work *w, int64_t from, int64_t to)
{
    const eddy_taps *h = &w->axis[0], *v = &w->axis[1];
    const int64_t    lo = w->whole.from, hi = w->whole.to;
    for (int64_t plane = from; plane < to; plane++) {
        const T *image = (const T *)w->from + plane / w->multiplier * h->read * v->read;
        T       *y = (T *)w->to + plane * h->places * v->places;
        for (int64_t r = 0; r < h->places; r++, y += v->places) {
            const eddy_tap_run *run = &h->at[r];
            const T *x = image + run->from * v->read;
            const T *f = (const T *)w->filter + plane % w->c + run->tap * w->filter_row;
            NAME(border)(w, x, f, y, run->count, 0, lo);
            NAME(line)(w, x, f, y, run->count, lo, hi);
            NAME(border)(w, x, f, y, run->count, hi, v->places);
        }
    }
}

/* Adds the lanes of a from `skip` on to dw. */
EDDY_INLINE void NAME(add)(T *dw, const V *a, int64_t skip)
{
    T lane[LANES];
    memcpy(lane, a, sizeof lane);
    for (int64_t l = skip; l < LANES; l++) dw[l] += lane[l];
}

/* Adds to one tap of the filter the products of x and dy at positions [from, to); for position 0, x
 * would begin at `shift`. */
EDDY_INLINE void NAME(tap)(const depthwise_work *w, const T *x, int64_t shift, const T *dy,
                           int64_t from, int64_t to, T *dw)
{
    for (int64_t i = 0; from < to && i < w->c; i += LANES) {
        const int64_t at = NAME(block)(i, w->c);
        const T *p = x + (shift + at + from * w->x_step), *q = dy + (at + from * w->c);
        V a = { 0 };
        for (int64_t j = from; j < to; j++, p += w->x_step, q += w->c)
            a += *(const V *)p * *(const V *)q;
        NAME(add)(dw + at, &a, i - at);
    }
}

/* The same for three neighboring taps. */
EDDY_INLINE void NAME(three_taps)(const depthwise_work *w, const T *x, int64_t shift, const T *dy,
                                  int64_t from, int64_t to, T *dw)
{
    for (int64_t i = 0; from < to && i < w->c; i += LANES) {
        const int64_t at = NAME(block)(i, w->c);
        const T *p = x + (shift + at + from * w->x_step), *q = dy + (at + from * w->c);
        V a = { 0 }, b = { 0 }, c = { 0 };
        for (int64_t j = from; j < to; j++, p += w->x_step, q += w->c) {
            const V g = *(const V *)q;
            a += *(const V *)p * g;
            b += *(const V *)(p + w->x_tap) * g;
            c += *(const V *)(p + 2 * w->x_tap) * g;
        }
        NAME(add)(dw + at, &a, i - at);
        NAME(add)(dw + w->c + at, &b, i - at);
        NAME(add)(dw + 2 * w->c + at, &c, i - at);
    }
}

/* Taps t, t + 1 and t + 2 together at positions that contribute to all of them, otherwise each
 * alone; returns the number of taps. */
EDDY_INLINE int64_t NAME(taps)(const depthwise_work *w, const T *x, const T *dy, int64_t t, T *dw)
{
    const eddy_tap_range *r = w->ranges + t;
    const int64_t  n = t + 3 <= w->filter_w ? 3 : 1;
    eddy_tap_range all = r[0];
    for (int64_t k = 1; k < n; k++) {
        if (r[k].from > all.from) all.from = r[k].from;
        if (r[k].to < all.to) all.to = r[k].to;
    }
    if (n == 1 || all.to < all.from) all.to = all.from;
    const int64_t shift = t * w->x_tap - w->before_w * w->c;
    dw += t * w->c;
    NAME(three_taps)(w, x, shift, dy, all.from, all.to, dw);
    for (int64_t k = 0; k < n; k++, dw += w->c) {
        const int64_t left = r[k].to < all.from ? r[k].to : all.from;
        const int64_t right = r[k].from > all.to ? r[k].from : all.to;
        NAME(tap)(w, x, shift + k * w->x_tap, dy, r[k].from, left, dw);
        NAME(tap)(w, x, shift + k * w->x_tap, dy, right, r[k].to, dw);
    }
    return n;
}

/* Parts [part, end) of the rows of dy of all images, each summed in a filter of its own. */
EDDY_INLINE void LOOP(depthwise_part)(const depthwise_work *w, int64_t part, int64_t end)
{
    for (; part < end; part++) {
        const int64_t last = (part + 1) * w->part_rows < w->rows ? (part + 1) * w->part_rows
                                                                 : w->rows;
        T *dw = (T *)w->to + part * w->filter_size;
        memset(dw, 0, (size_t)w->filter_size * sizeof *dw);
        for (int64_t r = part * w->part_rows; r < last; r++)
            for (int64_t a = 0; a < w->filter_h; a++) {
                const int64_t row = r % w->out_h * w->step_h - w->before_h + a * w->gap_h;
                if (row < 0 || row >= w->in_h) continue;
                const T *x = (const T *)w->from + (r / w->out_h * w->in_h + row) * w->x_row;
                for (int64_t t = 0; t < w->filter_w;)
                    t += NAME(taps)(w, x, (const T *)w->filter + r * w->dy_row, t,
                                    dw + a * w->filter_w * w->c);
            }
    }
}

#undef V
#undef NAME
#undef LOOP
#undef LANES
#undef KIND
