/* pool_windows_loops.h -- the loops of pooling windows for one element type, T: a template of
 * ops/kernels/for_floats.h.
 *
 * Elements that are neighbours in y are processed together, at most MOST of them: the channels of
 * a window, whose elements in x are neighbours too; or, with a single channel, equal windows,
 * whose elements in x are `step` apart. A maximum starts with the first element of its window and
 * is replaced by larger elements, so a NaN is kept if it comes first and is ignored elsewhere. */

EDDY_INLINE void NAME(box_max)(const eddy_window_work *w, const box *b, const T *x,
                               T *restrict y, int64_t m, int64_t step)
{
    for (int64_t j = 0; j < m && b->size == 0; j++) y[j] = -(T)INFINITY;
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++)
            for (int64_t k = 0; k < b->count[2]; k++) {
                const T *in = x + place_in(w, b, h, i, k) * w->c;
                if (h == 0 && i == 0 && k == 0)
                    for (int64_t j = 0; j < m; j++) y[j] = in[j * step];
                else
                    for (int64_t j = 0; j < m; j++)
                        y[j] = y[j] < in[j * step] ? in[j * step] : y[j];
            }
}

/* top = the maxima, and the places where they are, -1 in a window of nothing. */
EDDY_INLINE void NAME(box_find)(const eddy_window_work *w, const box *b, const T *x,
                                T *restrict top, NUMBER *restrict at, int64_t m, int64_t step)
{
    for (int64_t j = 0; j < m && b->size == 0; j++) top[j] = -(T)INFINITY, at[j] = -1;
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++)
            for (int64_t k = 0; k < b->count[2]; k++) {
                const int64_t place = place_in(w, b, h, i, k);
                const NUMBER  number = (NUMBER)place;
                const T      *in = x + place * w->c;
                if (h == 0 && i == 0 && k == 0) {
                    for (int64_t j = 0; j < m; j++) top[j] = in[j * step], at[j] = number;
                    continue;
                }
                for (int64_t j = 0; j < m; j++) {
                    at[j] = top[j] < in[j * step] ? number : at[j];
                    top[j] = top[j] < in[j * step] ? in[j * step] : top[j];
                }
            }
}

/* Summed by lines, which keeps long sums exact enough. */
EDDY_INLINE void NAME(box_mean)(const eddy_window_work *w, const box *b, const T *x,
                                T *restrict y, int64_t m, int64_t step)
{
    const T share = (T)share_of(w, b);
    T line[MOST];
    for (int64_t j = 0; j < m; j++) y[j] = 0;
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            for (int64_t j = 0; j < m; j++) line[j] = 0;
            for (int64_t k = 0; k < b->count[2]; k++) {
                const T *in = x + place_in(w, b, h, i, k) * w->c;
                for (int64_t j = 0; j < m; j++) line[j] += in[j * step];
            }
            for (int64_t j = 0; j < m; j++) y[j] += line[j];
        }
    for (int64_t j = 0; j < m; j++) y[j] /= share;
}

/* Lines [from, to) of y, of all examples: their maxima, or means. */
EDDY_INLINE void NAME(lines)(const eddy_window_work *w, int64_t from, int64_t to, bool mean,
                             int64_t step)
{
    for (int64_t r = from; r < to; r++) {
        const T *x = (const T *)w->x + r / lines_of(w) * w->places * w->c;
        T *y = (T *)w->y + r * w->axis[2].out * w->c;
        for (int64_t i = 0, taken; i < w->axis[2].out; i += taken, y += taken * w->c) {
            const box b = box_at(w, r % lines_of(w), i);
            taken = alike_from(w, i);
            for (int64_t c = 0; c < taken * w->c; c += MOST) {
                const int64_t m = taken * w->c - c < MOST ? taken * w->c - c : MOST;
                if (mean) NAME(box_mean)(w, &b, x + c, y + c, m, step);
                else NAME(box_max)(w, &b, x + c, y + c, m, step);
            }
        }
    }
}
EDDY_INLINE void LOOP(max_lines)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(lines)(w, from, to, false, 1);
    else if (w->step == 2) NAME(lines)(w, from, to, false, 2);
    else NAME(lines)(w, from, to, false, w->step);
}
EDDY_INLINE void LOOP(mean_lines)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(lines)(w, from, to, true, 1);
    else if (w->step == 2) NAME(lines)(w, from, to, true, 2);
    else NAME(lines)(w, from, to, true, w->step);
}

/* m elements of y: the maxima, or what stands in v where they are; and where that is.  `to` and
 * `shift` say which of y they are, and what is before x and v. */
EDDY_INLINE void NAME(pick)(const eddy_window_work *w, const box *b, int64_t shift, int64_t to,
                            int64_t m, int64_t step)
{
    const T *v = w->v ? (const T *)w->v + shift : NULL;
    const int64_t before = w->all ? shift : w->c > 1 ? shift % w->c : 0;
    T top[MOST], *y = (T *)w->y + to;
    NUMBER at[MOST];
    NAME(box_find)(w, b, (const T *)w->x + shift, top, at, m, step);
    for (int64_t j = 0; j < m; j++)
        y[j] = !v ? top[j] : at[j] < 0 ? 0 : v[at[j] * w->c + j * step];
    for (int64_t j = 0; j < m && w->where; j++)
        w->where[to + j] = at[j] < 0 ? -1 : at[j] * w->c + j * step + before;
}

/* Lines [from, to) of y. */
EDDY_INLINE void NAME(picks)(const eddy_window_work *w, int64_t from, int64_t to, int64_t step)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t shift = r / lines_of(w) * w->places * w->c;
        for (int64_t i = 0, taken; i < w->axis[2].out; i += taken) {
            const box     b = box_at(w, r % lines_of(w), i);
            const int64_t out = (r * w->axis[2].out + i) * w->c;
            taken = alike_from(w, i);
            for (int64_t c = 0; c < taken * w->c; c += MOST) {
                const int64_t m = taken * w->c - c < MOST ? taken * w->c - c : MOST;
                NAME(pick)(w, &b, shift + c, out + c, m, step);
            }
        }
    }
}
EDDY_INLINE void LOOP(pick_lines)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(picks)(w, from, to, 1);
    else NAME(picks)(w, from, to, w->step);
}

/* dx takes in dy where the maxima are, or equal shares of it. */
EDDY_INLINE void NAME(box_back)(const eddy_window_work *w, const box *b, const T *x, const T *dy,
                                T *restrict dx, int64_t m, int64_t step)
{
    T part[MOST];
    NUMBER at[MOST];
    if (x) {
        NAME(box_find)(w, b, x, part, at, m, step);
        for (int64_t j = 0; j < m && b->size > 0; j++) dx[at[j] * w->c + j * step] += dy[j];
        return;
    }
    for (int64_t j = 0; j < m; j++) part[j] = dy[j] / (T)share_of(w, b);
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++)
            for (int64_t k = 0; k < b->count[2]; k++) {
                T *restrict out = dx + place_in(w, b, h, i, k) * w->c;
                for (int64_t j = 0; j < m; j++) out[j * step] += part[j];
            }
}

/* dx of pieces [from, to): CHUNK channels of one example each. */
EDDY_INLINE void NAME(pieces)(const eddy_window_work *w, int64_t from, int64_t to, int64_t step)
{
    const int64_t chunks = (w->c + CHUNK - 1) / CHUNK;
    for (int64_t r = from; r < to; r++) {
        const int64_t c = r % chunks * CHUNK, m = w->c - c < CHUNK ? w->c - c : CHUNK;
        const int64_t begin = r / chunks * w->places * w->c + c;
        const T *x = w->x ? (const T *)w->x + begin : NULL;
        const T *dy = (const T *)w->v + r / chunks * w->windows * w->c + c;
        T *dx = (T *)w->y + begin;
        if (m == w->c) memset(dx, 0, (size_t)(w->places * w->c) * sizeof *dx);
        else for (int64_t i = 0; i < w->places; i++) memset(dx + i * w->c, 0, (size_t)m * sizeof *dx);
        for (int64_t line = 0; line < lines_of(w); line++)
            for (int64_t i = 0, taken; i < w->axis[2].out; i += taken, dy += taken * w->c) {
                const box b = box_at(w, line, i);
                taken = alike_from(w, i);
                NAME(box_back)(w, &b, x, dy, dx, taken * m, step);
            }
    }
}
EDDY_INLINE void LOOP(pieces_back)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(pieces)(w, from, to, 1);
    else NAME(pieces)(w, from, to, w->step);
}

EDDY_CLONES_OF(NAME(max_lines), PIECE, (w, from, to))
EDDY_CLONES_OF(NAME(mean_lines), PIECE, (w, from, to))
EDDY_CLONES_OF(NAME(pick_lines), PIECE, (w, from, to))
EDDY_CLONES_OF(NAME(pieces_back), PIECE, (w, from, to))
