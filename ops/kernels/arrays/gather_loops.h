/* gather_loops.h -- gathering rows of the most common sizes by indices of one type, T: a
 * template of ops/kernels/for_types.h. */

/* Rows [from, to) of y, of a constant number of bytes, 4 or 8. */
EDDY_INLINE void NAME(gather_rows)(const gathering *g, int64_t from, int64_t to, size_t bytes)
{
    const layout  l = g->l;
    const T      *indices = g->indices->data;
    const bits32 *x4 = (const void *)g->x;
    const bits64 *x8 = (const void *)g->x;
    bits32       *y4 = (void *)g->y;
    bits64       *y8 = (void *)g->y;
    const bool    zeros = g->zeros;
    for (int64_t row = from, end; row < to; row = end) {
        const int64_t o = row / l.count, i = row % l.count;
        const T      *at = indices + o / l.outer * l.count + i;
        end = row - i + l.count < to ? row - i + l.count : to;
        for (; row < end && bytes == 4; row++, at++)
            y4[row] = zeros && *at < 0 ? 0 : x4[o * l.rows + *at];
        for (; row < end; row++, at++) y8[row] = zeros && *at < 0 ? 0 : x8[o * l.rows + *at];
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
