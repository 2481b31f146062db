/* pool2d_loops.h -- the loops of 2-D max and average pooling for one element type, T: a template
 * of ops/kernels/for_floats.h.
 *
 * Channels are contiguous and are processed together, at most MOST of them. A maximum starts with
 * the first element of its window and is replaced by larger elements, so a NaN is kept if it
 * comes first and is ignored elsewhere. */

/* y = the maxima of a window; with v, what stands in v at their places. */
EDDY_INLINE void NAME(window_max)(const pool_work *w, const pool_window *o, const T *x, const T *v,
                                  T *restrict y, int64_t c)
{
    T m[MOST];
    T *restrict top = v ? m : y;
    for (int64_t h = o->from[0]; h < o->to[0]; h++)
        for (int64_t i = o->from[1]; i < o->to[1]; i++) {
            const int64_t at = h * w->row + i * w->c;
            const bool    first = h == o->from[0] && i == o->from[1];
            for (int64_t j = 0; j < c && first; j++) top[j] = x[at + j];
            for (int64_t j = 0; j < c && first && v; j++) y[j] = v[at + j];
            for (int64_t j = 0; j < c && !first && v; j++)
                y[j] = m[j] < x[at + j] ? v[at + j] : y[j];
            for (int64_t j = 0; j < c && !first; j++)
                top[j] = top[j] < x[at + j] ? x[at + j] : top[j];
        }
}

/* Of two by two elements, all there. */
EDDY_INLINE void NAME(square_max)(const T *x, int64_t row, int64_t step, T *restrict y, int64_t c)
{
    const T *a = x, *b = x + step, *d = x + row, *e = d + step;
    for (int64_t j = 0; j < c; j++) {
        const T left = a[j] < b[j] ? b[j] : a[j], more = left < d[j] ? d[j] : left;
        y[j] = more < e[j] ? e[j] : more;
    }
}

/* Rows [from, to) of y, of all images: maxima, or what stands in v at their places. */
EDDY_INLINE void LOOP(max_rows)(const pool_work *w, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t image = r / w->out[0] * w->in[0] * w->row;
        const T *x = (const T *)w->x + image, *v = w->v ? (const T *)w->v + image : NULL;
        T *y = (T *)w->y + r * w->out[1] * w->c;
        for (int64_t i = 0; i < w->out[1]; i++, y += w->c) {
            const pool_window o = window_at(w, r % w->out[0], i);
            const int64_t     at = o.from[0] * w->row + o.from[1] * w->c;
            for (int64_t c = 0; c < w->c; c += MOST) {
                const int64_t m = w->c - c < MOST ? w->c - c : MOST;
                if (o.square && !v) NAME(square_max)(x + at + c, w->row, w->c, y + c, m);
                else NAME(window_max)(w, &o, x + c, v ? v + c : NULL, y + c, m);
            }
        }
    }
}

/* dx takes in dy, or is dy, where the maximum of the window stands, whose number is an
 * integer as wide as a T. */
EDDY_INLINE void NAME(window_max_back)(const pool_work *w, const pool_window *o, const T *x,
                                       const T *dy, T *restrict dx, int64_t c)
{
    T m[MOST];
    NUMBER at_most[MOST], number = 0;
    for (int64_t h = o->from[0]; h < o->to[0]; h++)
        for (int64_t i = o->from[1]; i < o->to[1]; i++, number++) {
            const T *in = x + h * w->row + i * w->c;
            for (int64_t j = 0; j < c && number == 0; j++) m[j] = in[j], at_most[j] = 0;
            for (int64_t j = 0; j < c && number > 0; j++) {
                at_most[j] = m[j] < in[j] ? number : at_most[j];
                m[j] = m[j] < in[j] ? in[j] : m[j];
            }
        }
    number = 0;
    for (int64_t h = o->from[0]; h < o->to[0]; h++)
        for (int64_t i = o->from[1]; i < o->to[1]; i++, number++) {
            T *restrict out = dx + h * w->row + i * w->c;
            if (w->overlap)
                for (int64_t j = 0; j < c; j++) out[j] += at_most[j] == number ? dy[j] : 0;
            else
                for (int64_t j = 0; j < c; j++) out[j] = at_most[j] == number ? dy[j] : 0;
        }
}

/* dx = dy or 0, of two by two elements that belong to no other window. */
EDDY_INLINE void NAME(square_max_back)(const T *x, int64_t row, int64_t step, const T *dy,
                                       T *restrict dx, int64_t c)
{
    const T *a = x, *b = x + step, *d = x + row, *e = d + step;
    T *restrict da = dx, *restrict db = dx + step, *restrict dd = dx + row;
    T *restrict de = dx + row + step;
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < c; j++) {
        const T left = a[j] < b[j] ? b[j] : a[j], more = left < d[j] ? d[j] : left, g = dy[j];
        const T one = a[j] < b[j] ? 1 : 0, two = left < d[j] ? 2 : one;
        const T number = more < e[j] ? 3 : two;
        da[j] = number == 0 ? g : 0;
        db[j] = number == 1 ? g : 0;
        dd[j] = number == 2 ? g : 0;
        de[j] = number == 3 ? g : 0;
    }
}

/* y = the means of a window, summed by its rows. */
EDDY_INLINE void NAME(window_mean)(const pool_work *w, const pool_window *o, const T *x,
                                   T *restrict y, int64_t c)
{
    const T count = (T)((o->to[0] - o->from[0]) * (o->to[1] - o->from[1]));
    T sum[MOST];
    for (int64_t j = 0; j < c; j++) sum[j] = 0;
    for (int64_t h = o->from[0]; h < o->to[0]; h++) {
        T line[MOST];
        for (int64_t j = 0; j < c; j++) line[j] = 0;
        for (int64_t i = o->from[1]; i < o->to[1]; i++) {
            const T *in = x + h * w->row + i * w->c;
            for (int64_t j = 0; j < c; j++) line[j] += in[j];
        }
        for (int64_t j = 0; j < c; j++) sum[j] += line[j];
    }
    for (int64_t j = 0; j < c; j++) y[j] = sum[j] / count;
}

EDDY_INLINE void NAME(square_mean)(const T *x, int64_t row, int64_t step, T *restrict y, int64_t c)
{
    const T *a = x, *b = x + step, *d = x + row, *e = d + step;
    for (int64_t j = 0; j < c; j++) y[j] = ((a[j] + b[j]) + (d[j] + e[j])) / 4;
}

/* Rows [from, to) of y, of all images: means. */
EDDY_INLINE void LOOP(mean_rows)(const pool_work *w, int64_t from, int64_t to)
{
    for (int64_t r = from; r < to; r++) {
        const T *x = (const T *)w->x + r / w->out[0] * w->in[0] * w->row;
        T *y = (T *)w->y + r * w->out[1] * w->c;
        for (int64_t i = 0; i < w->out[1]; i++, y += w->c) {
            const pool_window o = window_at(w, r % w->out[0], i);
            const int64_t     at = o.from[0] * w->row + o.from[1] * w->c;
            for (int64_t c = 0; c < w->c; c += MOST) {
                const int64_t m = w->c - c < MOST ? w->c - c : MOST;
                if (o.square) NAME(square_mean)(x + at + c, w->row, w->c, y + c, m);
                else NAME(window_mean)(w, &o, x + c, y + c, m);
            }
        }
    }
}

/* dx takes in an equal share of dy; it is set if no other window has these elements. */
EDDY_INLINE void NAME(window_mean_back)(const pool_work *w, const pool_window *o, const T *dy,
                                        T *restrict dx, int64_t c)
{
    const T count = (T)((o->to[0] - o->from[0]) * (o->to[1] - o->from[1]));
    T share[MOST];
    for (int64_t j = 0; j < c; j++) share[j] = dy[j] / count;
    for (int64_t h = o->from[0]; h < o->to[0]; h++)
        for (int64_t i = o->from[1]; i < o->to[1]; i++) {
            T *restrict out = dx + h * w->row + i * w->c;
            if (w->overlap) for (int64_t j = 0; j < c; j++) out[j] += share[j];
            else for (int64_t j = 0; j < c; j++) out[j] = share[j];
        }
}

/* dx of images [from, to): of maxima if there is x, of means if not. */
EDDY_INLINE void LOOP(images_back)(const pool_work *w, int64_t from, int64_t to)
{
    const int64_t in = w->in[0] * w->row, out = w->out[0] * w->out[1] * w->c;
    for (int64_t n = from; n < to; n++) {
        const T *x = w->x ? (const T *)w->x + n * in : NULL, *dy = (const T *)w->v + n * out;
        T *dx = (T *)w->y + n * in;
        if (!w->covered) memset(dx, 0, (size_t)in * sizeof *dx);
        for (int64_t p = 0; p < w->out[0] * w->out[1]; p++, dy += w->c) {
            const pool_window o = window_at(w, p / w->out[1], p % w->out[1]);
            const int64_t     at = o.from[0] * w->row + o.from[1] * w->c;
            for (int64_t c = 0; c < w->c; c += MOST) {
                const int64_t m = w->c - c < MOST ? w->c - c : MOST;
                if (!x)
                    NAME(window_mean_back)(w, &o, dy + c, dx + c, m);
                else if (o.square && !w->overlap)
                    NAME(square_max_back)(x + at + c, w->row, w->c, dy + c, dx + at + c, m);
                else
                    NAME(window_max_back)(w, &o, x + c, dy + c, dx + c, m);
            }
        }
    }
}

EDDY_CLONES_OF(NAME(max_rows), PIECE, (w, from, to))
EDDY_CLONES_OF(NAME(mean_rows), PIECE, (w, from, to))
EDDY_CLONES_OF(NAME(images_back), PIECE, (w, from, to))
