/* gather_grad_loops.h -- adding numbers at indices along the last axis: a template of
 * ops/kernels/for_types.h. */

/* y[at[i]] += x[i]; negative indices are left out. */
EDDY_INLINE void NAME(add_at_int32)(int64_t n, T *y, const int32_t *at, const T *x)
{
    for (int64_t i = 0; i < n; i++)
        if (at[i] >= 0) y[at[i]] = (T)(y[at[i]] + x[i]);
}

EDDY_INLINE void NAME(add_at_int64)(int64_t n, T *y, const int64_t *at, const T *x)
{
    for (int64_t i = 0; i < n; i++)
        if (at[i] >= 0) y[at[i]] = (T)(y[at[i]] + x[i]);
}

/* Rows [from, to) of y: one thread computes each sum, in the order of the indices. */
static void NAME(add_numbers)(void *arg, int64_t from, int64_t to, int worker)
{
    const gathering  *g = arg;
    const layout      l = g->l;
    const eddy_buffer *at = g->indices;
    const int64_t     most = eddy__turns_per_look(1);
    (void)worker;
    for (int64_t o = from; o < to; o++) {
        T       *y = (T *)(void *)g->y + o * l.rows;
        const T *x = (const T *)(const void *)g->x + o * l.count;
        for (int64_t i = 0, n; i < l.count; i += n) {
            const int64_t first = o / l.outer * l.count + i;
            n = l.count - i < most ? l.count - i : most;
            if (eddy__stopped(g->stop)) return;
            if (at->type.dtype == EDDY_INT32)
                NAME(add_at_int32)(n, y, (const int32_t *)at->data + first, x + i);
            else NAME(add_at_int64)(n, y, (const int64_t *)at->data + first, x + i);
        }
    }
}
