/* crop_and_resize_loops.h -- the loops of crop_and_resize for one element type, T: a template of
 * ops/kernels/for_floats.h. */

/* The position i of a box along an axis: between two elements, as a fraction of their distance. */
typedef struct NAME(place) {
    int64_t low, high;               /* low is -1 outside the image */
    T       part;
} NAME(place);

EDDY_INLINE NAME(place) NAME(place_of)(const crop_work *w, int axis, const T *box, int64_t i)
{
    const T from = box[axis], to = box[axis + 2], last = (T)(w->in[axis] - 1);
    const T step = w->out[axis] > 1 ? (to - from) * last / (T)(w->out[axis] - 1) : 0;
    const T at = w->out[axis] == 1       ? (T)0.5 * (from + to) * last
               : i == w->out[axis] - 1 ? to * last + 0 * step    /* not outside by rounding */
                                       : from * last + (T)i * step;
    NAME(place) p = { .low = -1 };
    if (!(at >= 0 && at <= last)) return p;                  /* or not a number */
    p.low = (int64_t)at;
    p.part = at - (T)p.low;
    if (w->nearest) {
        p.low += p.part >= (T)0.5;
        p.part = 0;
    }
    p.high = p.low + (p.part > 0);
    return p;
}

/* Interpolates between a and b; or their slope. */
EDDY_INLINE T NAME(between)(T a, T b, T part, bool slope)
{
    return slope ? b - a : a + (b - a) * part;
}

/* Rows [from, to) of the crops. */
EDDY_INLINE void LOOP(crop)(const crop_work *w, int64_t from, int64_t to)
{
    const int64_t c = w->c, row = w->in[1] * c;
    T *y = (T *)w->y + from * w->out[1] * c;
    for (int64_t r = from; r < to; r++) {
        const int64_t n = r / w->out[0];
        const T *box = (const T *)w->boxes + 4 * n;
        const T *image = (const T *)w->image + eddy__index_at(w->owner, n) * w->in[0] * row;
        const NAME(place) v = NAME(place_of)(w, 0, box, r % w->out[0]);
        const T *top = image + v.low * row, *bottom = image + v.high * row;
        for (int64_t j = 0; j < w->out[1]; j++, y += c) {
            const NAME(place) h = NAME(place_of)(w, 1, box, j);
            if (v.low < 0 || h.low < 0) {
                for (int64_t i = 0; i < c; i++) y[i] = (T)w->outside;
                continue;
            }
            const T *a = top + h.low * c, *b = top + h.high * c;
            const T *d = bottom + h.low * c, *e = bottom + h.high * c;
            for (int64_t i = 0; i < c; i++)
                y[i] = NAME(between)(NAME(between)(a[i], b[i], h.part, w->slope[1]),
                                     NAME(between)(d[i], e[i], h.part, w->slope[1]), v.part,
                                     w->slope[0]);
        }
    }
}

/* y += weight times a row of dy, each element divided between two columns. */
EDDY_INLINE void NAME(spread)(const crop_work *w, const T *box, T weight, const T *dy, T *y)
{
    const int64_t c = w->c;
    for (int64_t j = 0; j < w->out[1]; j++, dy += c) {
        const NAME(place) h = NAME(place_of)(w, 1, box, j);
        if (h.low < 0) continue;
        const T left = weight * (w->slope[1] ? -1 : 1 - h.part);
        const T right = weight * (w->slope[1] ? 1 : h.part);
        for (int64_t i = 0; i < c; i++) y[h.low * c + i] += left * dy[i];
        if (right != 0)
            for (int64_t i = 0; i < c; i++) y[h.high * c + i] += right * dy[i];
    }
}

/* Rows [from, to) of the images, each element's terms in the order of the boxes. */
EDDY_INLINE void LOOP(crop_back)(const crop_work *w, int64_t from, int64_t to)
{
    const int64_t c = w->c, row = w->in[1] * c;
    T *y = w->y;
    memset(y + from * row, 0, (size_t)((to - from) * row) * sizeof *y);
    for (int64_t n = 0; n < w->n; n++) {
        const int64_t first = eddy__index_at(w->owner, n) * w->in[0];
        const T *box = (const T *)w->boxes + 4 * n;
        if (first >= to || first + w->in[0] <= from) continue;
        for (int64_t i = 0; i < w->out[0]; i++) {
            const T *dy = (const T *)w->dy + (n * w->out[0] + i) * w->out[1] * c;
            const NAME(place) v = NAME(place_of)(w, 0, box, i);
            const int64_t low = first + v.low, high = first + v.high;
            if (v.low < 0) continue;
            if (low >= from && low < to)
                NAME(spread)(w, box, w->slope[0] ? -1 : 1 - v.part, dy, y + low * row);
            if (high >= from && high < to)
                NAME(spread)(w, box, w->slope[0] ? 1 : v.part, dy, y + high * row);
        }
    }
}

EDDY_CLONES_OF_FLOATS(NAME(crop), PIECE, (w, from, to))
EDDY_CLONES_OF_FLOATS(NAME(crop_back), PIECE, (w, from, to))
