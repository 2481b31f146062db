/* pool_windows_loops.h -- the loops of pooling windows for one element type, T: a template of
 * ops/kernels/for_floats.h.
 *
 * Elements that are neighbors in y are processed together, at most MOST of them: the channels of
 * a window, whose elements in x are neighbors too; or, with a single channel, equal windows,
 * whose elements in x are `step` apart. A maximum starts with the first element of its window and
 * is replaced by larger elements, so a NaN is kept if it comes first and is ignored elsewhere.
 *
 * Windows of two by two, the usual ones, have loops of their own, which stay in registers:
 * a third to a half of the instructions of the others. */

/* ---------------------------------------------------------------- maxima -- */

static void NAME(fill)(T *y, int64_t m, T value)
{
    for (int64_t j = 0; j < m; j++) y[j] = value;
}

EDDY_INLINE void NAME(box_max)(const eddy_window_work *w, const box *b, const T *x,
                               T *restrict y, int64_t m, int64_t step)
{
    const int64_t gap = w->axis[2].apart * w->c;
    if (b->size == 0) NAME(fill)(y, m, -(T)INFINITY);
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            const T *in = x + line_in(w, b, h, i) * w->c;
            for (int64_t k = 0; k < b->count[2]; k++, in += gap) {
                if (h == 0 && i == 0 && k == 0)
                    for (int64_t j = 0; j < m; j++) y[j] = in[j * step];
                else
                    for (int64_t j = 0; j < m; j++)
                        y[j] = y[j] < in[j * step] ? in[j * step] : y[j];
            }
        }
}

/* Of two by two elements: from x, `right` to the next column and `down` to the next row. */
EDDY_INLINE void NAME(square_max)(const T *x, int64_t down, int64_t right, T *restrict y,
                                  int64_t m, int64_t step)
{
    for (int64_t j = 0; j < m; j++, x += step) {
        const T a = x[0], b = x[right], c = x[down], d = x[down + right];
        const T left = a < b ? b : a, more = left < c ? c : left;
        y[j] = more < d ? d : more;
    }
}

/* top = the maxima, and their distance from the first position of the window; -1 in an empty
 * window. */
EDDY_INLINE void NAME(box_find)(const eddy_window_work *w, const box *b, const T *x,
                                T *restrict top, NUMBER *restrict at, int64_t m, int64_t step)
{
    const int64_t gap = w->axis[2].apart * w->c;
    const NUMBER  apart = (NUMBER)w->axis[2].apart;
    for (int64_t j = 0; j < m && b->size == 0; j++) top[j] = -(T)INFINITY, at[j] = -1;
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            const int64_t line = line_in(w, b, h, i);
            const T *in = x + line * w->c;
            NUMBER   number = (NUMBER)(line - b->from);
            for (int64_t k = 0; k < b->count[2]; k++, in += gap, number += apart) {
                if (h == 0 && i == 0 && k == 0) {
                    for (int64_t j = 0; j < m; j++) top[j] = in[j * step], at[j] = 0;
                    continue;
                }
                for (int64_t j = 0; j < m; j++) {
                    const NUMBER larger = -(NUMBER)(top[j] < in[j * step]);
                    at[j] ^= (at[j] ^ number) & larger;     /* compilers branch for a selection */
                    top[j] = top[j] < in[j * step] ? in[j * step] : top[j];
                }
            }
        }
}

/* ----------------------------------------------------------------- means -- */

/* Sums line by line, which limits the rounding errors of long sums. */
EDDY_INLINE void NAME(box_mean)(const eddy_window_work *w, const box *b, const T *x,
                                T *restrict y, int64_t m, int64_t step)
{
    const int64_t gap = w->axis[2].apart * w->c;
    const T share = (T)share_of(w, b);
    T line[MOST];
    for (int64_t j = 0; j < m; j++) y[j] = 0;
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            const T *in = x + line_in(w, b, h, i) * w->c;
            for (int64_t j = 0; j < m; j++) line[j] = 0;
            for (int64_t k = 0; k < b->count[2]; k++, in += gap)
                for (int64_t j = 0; j < m; j++) line[j] += in[j * step];
            for (int64_t j = 0; j < m; j++) y[j] += line[j];
        }
    for (int64_t j = 0; j < m; j++) y[j] /= share;
}

/* Four elements of -0 have the mean -0 here, and 0 above, where a sum begins with 0. */
EDDY_INLINE void NAME(square_mean)(const T *x, int64_t down, int64_t right, T *restrict y,
                                   int64_t m, int64_t step)
{
    for (int64_t j = 0; j < m; j++, x += step)
        y[j] = ((x[0] + x[right]) + (x[down] + x[down + right])) / 4;
}

/* ----------------------------------------------------------------- lines -- */

/* Lines [from, to) of y, of all examples: their maxima, or means. */
EDDY_INLINE void NAME(lines)(const eddy_window_work *w, int64_t from, int64_t to, bool mean,
                             int64_t step)
{
    const int64_t down = w->axis[1].apart * w->c, right = w->axis[2].apart * w->c;
    for (int64_t r = from; r < to; r++) {
        const T *x = (const T *)w->x + r / lines_of(w) * w->places * w->c;
        T *y = (T *)w->y + r * w->axis[2].out * w->c;
        for (int64_t i = 0, taken; i < w->axis[2].out; i += taken, y += taken * w->c) {
            const box  b = box_at(w, r % lines_of(w), i);
            const bool square = is_square(&b) && (w->plain || !mean);
            const T   *in = x + b.from * w->c;
            taken = alike_from(w, i);
            for (int64_t c = 0; c < taken * w->c; c += MOST) {
                const int64_t m = taken * w->c - c < MOST ? taken * w->c - c : MOST;
                if (square && mean) NAME(square_mean)(in + c, down, right, y + c, m, step);
                else if (square) NAME(square_max)(in + c, down, right, y + c, m, step);
                else if (mean) NAME(box_mean)(w, &b, x + c, y + c, m, step);
                else NAME(box_max)(w, &b, x + c, y + c, m, step);
            }
        }
    }
}

/* Wider vectors gain nothing with larger steps: these loops are compiled once. The conditions spare
 * the compiler a version for a step of 1. */
static void NAME(distant_lines)(const eddy_window_work *w, int64_t from, int64_t to, bool mean)
{
    const int64_t step = w->step;
    if (step > 2) NAME(lines)(w, from, to, mean, step);
}

EDDY_INLINE void LOOP(max_lines)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(lines)(w, from, to, false, 1);
    else if (w->step == 2) NAME(lines)(w, from, to, false, 2);
    else NAME(distant_lines)(w, from, to, false);
}

EDDY_INLINE void LOOP(mean_lines)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(lines)(w, from, to, true, 1);
    else if (w->step == 2) NAME(lines)(w, from, to, true, 2);
    else NAME(distant_lines)(w, from, to, true);
}

/* y = the elements of v at the maxima of x; 0 in an empty window. */
EDDY_INLINE void NAME(box_pick)(const eddy_window_work *w, const box *b, const T *x, const T *v,
                                T *restrict y, int64_t m, int64_t step)
{
    const int64_t gap = w->axis[2].apart * w->c;
    T top[MOST];
    if (b->size == 0) NAME(fill)(y, m, 0);
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            int64_t at = line_in(w, b, h, i) * w->c;
            for (int64_t k = 0; k < b->count[2]; k++, at += gap) {
                const T *in = x + at, *from = v + at;
                if (h == 0 && i == 0 && k == 0) {
                    for (int64_t j = 0; j < m; j++) top[j] = in[j * step], y[j] = from[j * step];
                    continue;
                }
                for (int64_t j = 0; j < m; j++) {
                    y[j] = top[j] < in[j * step] ? from[j * step] : y[j];
                    top[j] = top[j] < in[j * step] ? in[j * step] : top[j];
                }
            }
        }
}

/* at = which of two by two elements is the maximum: 1 is the next column, 2 the next row. */
EDDY_INLINE void NAME(square_find)(const T *x, int64_t down, int64_t right, T *restrict top,
                                   NUMBER *restrict at, int64_t m, int64_t step)
{
    for (int64_t j = 0; j < m; j++, x += step) {
        const T a = x[0], b = x[right], c = x[down], d = x[down + right];
        const T left = a < b ? b : a, more = left < c ? c : left;
        const NUMBER first = a < b ? 1 : 0, second = left < c ? 2 : first;
        at[j] = more < d ? 3 : second;
        top[j] = more < d ? d : more;
    }
}

/* m elements of y from element `to` on: the maxima and their indices. `shift` elements precede
 * x. */
EDDY_INLINE void NAME(find)(const eddy_window_work *w, const box *b, int64_t shift, int64_t to,
                            int64_t m, int64_t step)
{
    const int64_t before = b->from * w->c + (w->all ? shift : w->c > 1 ? shift % w->c : 0);
    const int64_t down = w->axis[1].apart * w->c, right = w->axis[2].apart * w->c;
    const T *x = (const T *)w->x + shift;
    T *y = (T *)w->y + to;
    int64_t *restrict where = w->where + to;
    NUMBER at[MOST];
    if (is_square(b)) {
        NAME(square_find)(x + b->from * w->c, down, right, y, at, m, step);
        for (int64_t j = 0; j < m; j++)         /* without products of 64 bits */
            where[j] = j * step + before + (-(int64_t)(at[j] & 1) & right) +
                       (-(int64_t)(at[j] >> 1) & down);
        return;
    }
    NAME(box_find)(w, b, x, y, at, m, step);
    for (int64_t j = 0; j < m; j++)
        where[j] = at[j] < 0 ? -1 : at[j] * w->c + j * step + before;
}

/* Lines [from, to) of y. */
EDDY_INLINE void NAME(picks)(const eddy_window_work *w, int64_t from, int64_t to, int64_t step)
{
    for (int64_t r = from; r < to; r++) {
        const int64_t shift = r / lines_of(w) * w->places * w->c;
        const T *x = (const T *)w->x + shift, *v = w->v ? (const T *)w->v + shift : NULL;
        for (int64_t i = 0, taken; i < w->axis[2].out; i += taken) {
            const box     b = box_at(w, r % lines_of(w), i);
            const int64_t out = (r * w->axis[2].out + i) * w->c;
            taken = alike_from(w, i);
            for (int64_t c = 0; c < taken * w->c; c += MOST) {
                const int64_t m = taken * w->c - c < MOST ? taken * w->c - c : MOST;
                if (w->where) NAME(find)(w, &b, shift + c, out + c, m, step);
                else NAME(box_pick)(w, &b, x + c, v + c, (T *)w->y + out + c, m, step);
            }
        }
    }
}

static void NAME(distant_picks)(const eddy_window_work *w, int64_t from, int64_t to)
{
    const int64_t step = w->step;
    if (step > 1) NAME(picks)(w, from, to, step);
}

EDDY_INLINE void LOOP(pick_lines)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(picks)(w, from, to, 1);
    else NAME(distant_picks)(w, from, to);
}

/* ------------------------------------------------------------- gradients -- */

/* dx = dy at the maxima and 0 elsewhere, for windows of two by two elements that do not overlap. */
EDDY_INLINE void NAME(square_max_back)(const T *x, int64_t down, int64_t right, const T *dy,
                                       T *restrict dx, int64_t m)
{
    const int64_t both = down + right;
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < m; j++) {
        const T a = x[j], b = x[j + right], c = x[j + down], d = x[j + both], g = dy[j];
        const T left = a < b ? b : a, more = left < c ? c : left;
        const T third = more < d ? 0 : g, second = left < c ? 0 : third;
        dx[j] = a < b ? 0 : second;
        dx[j + right] = a < b ? second : 0;
        dx[j + down] = left < c ? third : 0;
        dx[j + both] = more < d ? g : 0;
    }
}

EDDY_INLINE void NAME(square_mean_back)(int64_t down, int64_t right, const T *dy, T *restrict dx,
                                        int64_t m)
{
    const int64_t both = down + right;
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < m; j++) {
        const T share = dy[j] / 4;
        dx[j] = share;
        dx[j + right] = share;
        dx[j + down] = share;
        dx[j + both] = share;
    }
}

/* Adds dy to dx at the maxima; assigns it if windows do not overlap. */
EDDY_INLINE void NAME(box_max_back)(const eddy_window_work *w, const box *b, const T *x,
                                    const T *dy, T *restrict dx, int64_t m, int64_t step)
{
    const int64_t gap = w->axis[2].apart;
    T top[MOST];
    NUMBER at[MOST];
    NAME(box_find)(w, b, x, top, at, m, step);
    if (!w->alone) {
        const int64_t c = w->c, first = b->from * c;
        for (int64_t j = 0; j < m && b->size > 0; j++) dx[first + at[j] * c + j * step] += dy[j];
        return;
    }
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            int64_t place = line_in(w, b, h, i);
            for (int64_t k = 0; k < b->count[2]; k++, place += gap) {
                const NUMBER number = (NUMBER)(place - b->from);
                T *restrict out = dx + place * w->c;
                for (int64_t j = 0; j < m; j++) out[j * step] = at[j] == number ? dy[j] : 0;
            }
        }
}

/* Adds equal shares of dy to dx; assigns them if windows do not overlap. */
EDDY_INLINE void NAME(box_mean_back)(const eddy_window_work *w, const box *b, const T *dy,
                                     T *restrict dx, int64_t m, int64_t step)
{
    const int64_t gap = w->axis[2].apart * w->c;
    const T share = (T)share_of(w, b);
    T part[MOST];
    for (int64_t j = 0; j < m; j++) part[j] = dy[j] / share;
    for (int64_t h = 0; h < b->count[0]; h++)
        for (int64_t i = 0; i < b->count[1]; i++) {
            T *restrict out = dx + line_in(w, b, h, i) * w->c;
            for (int64_t k = 0; k < b->count[2]; k++, out += gap) {
                if (w->alone) for (int64_t j = 0; j < m; j++) out[j * step] = part[j];
                else for (int64_t j = 0; j < m; j++) out[j * step] += part[j];
            }
        }
}

/* dx of pieces [from, to): `chunk` channels of one example each. */
EDDY_INLINE void NAME(pieces)(const eddy_window_work *w, int64_t from, int64_t to, bool mean,
                              int64_t step)
{
    const int64_t chunks = (w->c + w->chunk - 1) / w->chunk;
    const int64_t down = w->axis[1].apart * w->c, right = w->axis[2].apart * w->c;
    for (int64_t r = from; r < to; r++) {
        const int64_t c = r % chunks * w->chunk, m = w->c - c < w->chunk ? w->c - c : w->chunk;
        const int64_t begin = r / chunks * w->places * w->c + c;
        const T *x = mean ? NULL : (const T *)w->x + begin;
        const T *dy = (const T *)w->v + r / chunks * w->windows * w->c + c;
        T *dx = (T *)w->y + begin;
        if (!w->covered && m == w->c) memset(dx, 0, (size_t)(w->places * m) * sizeof *dx);
        for (int64_t i = 0; i < w->places && !w->covered && m < w->c; i++)
            memset(dx + i * w->c, 0, (size_t)m * sizeof *dx);
        for (int64_t line = 0; line < lines_of(w); line++)
            for (int64_t i = 0, taken; i < w->axis[2].out; i += taken, dy += taken * w->c) {
                const box     b = box_at(w, line, i);
                const bool    square = step == 1 && w->alone && is_square(&b);
                const int64_t at = b.from * w->c;
                taken = alike_from(w, i);
                if (mean && square) NAME(square_mean_back)(down, right, dy, dx + at, taken * m);
                else if (mean) NAME(box_mean_back)(w, &b, dy, dx, taken * m, step);
                else if (square)
                    NAME(square_max_back)(x + at, down, right, dy, dx + at, taken * m);
                else NAME(box_max_back)(w, &b, x, dy, dx, taken * m, step);
            }
    }
}

static void NAME(distant_pieces)(const eddy_window_work *w, int64_t from, int64_t to, bool mean)
{
    const int64_t step = w->step;
    if (step > 1) NAME(pieces)(w, from, to, mean, step);
}

EDDY_INLINE void LOOP(max_back)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(pieces)(w, from, to, false, 1);
    else NAME(distant_pieces)(w, from, to, false);
}

EDDY_INLINE void LOOP(mean_back)(const eddy_window_work *w, int64_t from, int64_t to)
{
    if (w->step == 1) NAME(pieces)(w, from, to, true, 1);
    else NAME(distant_pieces)(w, from, to, true);
}

EDDY_CLONES_OF_FLOATS(NAME(max_lines), PIECE, (w, from, to))
EDDY_CLONES_OF_FLOATS(NAME(mean_lines), PIECE, (w, from, to))
EDDY_CLONES_OF_FLOATS(NAME(pick_lines), PIECE, (w, from, to))
EDDY_CLONES_OF_FLOATS(NAME(max_back), PIECE, (w, from, to))
EDDY_CLONES_OF_FLOATS(NAME(mean_back), PIECE, (w, from, to))
