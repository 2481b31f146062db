/* box_copy_loops.h -- the loops of a plane of a box for elements U of one size: a template of
 * ops/kernels/for_sizes.h. */

/* Rows are contiguous on both sides. */
static void NAME(copy)(plane p, void *to, const void *from)
{
    U *restrict y = to;
    const U *restrict x = from;
    bool is_long = p.n * (int64_t)sizeof(U) >= 64;
    for (int64_t i = 0; i < p.rows; i++, y += p.to_row, x += p.from_row)
        if (is_long) memcpy(y, x, (size_t)p.n * sizeof(U));
        else for (int64_t j = 0; j < p.n; j++) y[j] = x[j];
}

/* A row is one element repeated. */
static void NAME(fill)(plane p, void *to, const void *from)
{
    U *restrict y = to;
    const U *restrict x = from;
    for (int64_t i = 0; i < p.rows; i++, y += p.to_row, x += p.from_row) {
        const U v = *x;
        for (int64_t j = 0; j < p.n; j++) y[j] = v;
    }
}

static void NAME(square)(U *restrict y, const U *restrict x, int64_t to, int64_t from)
{
    U t[SIDE][SIDE];
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) t[i][j] = x[j * from + i];
    for (int i = 0; i < SIDE; i++) memcpy(y + i * to, t[i], sizeof t[i]);
}

static inline void NAME(squares)(U *y, const U *x, int64_t rows, int64_t n, plane p)
{
    if (sizeof(U) == 4) {
        eddy__transpose_32((void *)y, (const void *)x, rows, n, p.to_row, p.from);
        return;
    }
    for (int64_t i = 0; i < rows; i += SIDE)
        for (int64_t j = 0; j < n; j += SIDE)
            NAME(square)(y + i * p.to_row + j, x + j * p.from + i, p.to_row, p.from);
}

/* Rows of one side are columns of the other; in squares, so that both sides are accessed by whole
 * cache lines. */
static void NAME(transpose)(plane p, void *to, const void *from)
{
    U *restrict y = to;
    const U *restrict x = from;
    const int64_t rows = p.rows - p.rows % SIDE, n = p.n - p.n % SIDE;
    NAME(squares)(y, x, rows, n, p);
    for (int64_t i = 0; i < p.rows; i++)
        for (int64_t j = i < rows ? n : 0; j < p.n; j++)
            y[i * p.to_row + j] = x[i + j * p.from];
}

/* Any strides. */
static void NAME(step)(plane p, void *to, const void *from)
{
    U *restrict y = to;
    const U *restrict x = from;
    if (p.to == 1 && p.from == 2) {     /* in vectors */
        for (int64_t i = 0; i < p.rows; i++, y += p.to_row, x += p.from_row)
            for (int64_t j = 0; j < p.n; j++) y[j] = x[j * 2];
        return;
    }
    for (int64_t i = 0; i < p.rows; i++, y += p.to_row, x += p.from_row)
        for (int64_t j = 0; j < p.n; j++) y[j * p.to] = x[j * p.from];
}

static const move_fn NAME(moves)[WAYS] = { NAME(copy), NAME(fill), NAME(transpose), NAME(step) };
