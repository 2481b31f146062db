/* take_along_loops.h -- the loop of take_along for elements U of one size: a template of
 * ops/kernels/for_sizes.h. */

/* Rows [from, to) of y, each of `inner` elements. */
static void NAME(take)(void *arg, int64_t from, int64_t to, int worker)
{
    const gathering *t = arg;
    const index_list at = indices_of(t);
    const U *restrict x = t->k->in[0]->data;
    U *restrict y = t->k->out[0]->data;
    const int64_t inner = t->y.inner, n = t->x.n;
    int64_t j = from % t->y.n;
    const U *block = x + from / t->y.n * n * inner;
    (void)worker;
    for (int64_t r = from; r < to; r++) {
        for (int64_t c = 0, e = r * inner; c < inner; c++, e++) {
            const int64_t i = index_at(at, e);
            if (i >= 0 && i < n) y[e] = block[i * inner + c];
            else memset(&y[e], 0, sizeof y[e]);
        }
        if (++j == t->y.n) j = 0, block += n * inner;
    }
}
