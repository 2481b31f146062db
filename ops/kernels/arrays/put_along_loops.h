/* put_along_loops.h -- the loop of put_along for one element type, T: a template of
 * ops/kernels/for_types.h. */

/* One row of single elements: n values to m places. */
static void NAME(put_row)(const int32_t *at, int64_t n, const T *x, int64_t m, T *restrict y)
{
    for (int64_t j = 0; j < n; j++)
        if (at[j] >= 0 && at[j] < m) y[at[j]] = (T)(y[at[j]] + x[j]);
}

/* Outer positions [from, to). */
static void NAME(put)(void *arg, int64_t from, int64_t to, int worker)
{
    const gathering *t = arg;
    const index_list at = indices_of(t);
    const int64_t inner = t->x.inner, n = t->x.n, m = t->y.n;
    const T *x = t->k->in[0]->data;
    T       *y = (T *)t->k->out[0]->data + from * m * inner;
    (void)worker;
    memset(y, 0, (size_t)((to - from) * m * inner) * sizeof *y);
    const bool single = inner == 1 && at.narrow;
    for (int64_t o = from; single && o < to; o++, y += m)
        NAME(put_row)(at.narrow + o * n, n, x + o * n, m, y);
    for (int64_t o = from, e = o * n * inner; !single && o < to; o++, y += m * inner)
        for (int64_t j = 0; j < n; j++)
            for (int64_t c = 0; c < inner; c++, e++) {
                const int64_t i = index_at(at, e);
                if (i >= 0 && i < m)
                    y[i * inner + c] = (T)(y[i * inner + c] + x[e]);
            }
}
