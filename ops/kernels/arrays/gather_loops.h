/* gather_loops.h -- gathering rows of the sizes that matter most by indices of one type, T: a
 * template of ops/kernels/for_types.h. */

/* Rows [from, to) of y, of a constant number of bytes. */
EDDY_INLINE void NAME(gather_rows)(const gathering *g, int64_t from, int64_t to, size_t bytes)
{
    const layout l = g->l;
    const T     *indices = g->indices->data;
    char        *y = g->y + (size_t)from * bytes;
    for (int64_t row = from, end; row < to; row = end) {
        const int64_t o = row / l.count, i = row % l.count;
        const T      *at = indices + o / l.outer * l.count + i;
        const char   *x = g->x + (size_t)(o * l.rows) * bytes;
        end = row - i + l.count < to ? row - i + l.count : to;
        for (; row < end; row++, at++, y += bytes) {
            if (*at < 0) memset(y, 0, bytes);
            else memcpy(y, x + (size_t)*at * bytes, bytes);
        }
    }
}

static void NAME(gather_4)(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    NAME(gather_rows)(arg, from, to, 4);
}

static void NAME(gather_8)(void *arg, int64_t from, int64_t to, int worker)
{
    (void)worker;
    NAME(gather_rows)(arg, from, to, 8);
}
