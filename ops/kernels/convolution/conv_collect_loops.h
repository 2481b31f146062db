/* conv_collect_loops.h -- the gradient with respect to a filter from its partial sums, for one
 * element type, T: a template of ops/kernels/for_floats.h. */

/* Rows [from, to) of the filter: the sum of the parts, read from their panels. */
static void NAME(collect)(const plan *p, const void *parts_, void *dw_, int64_t from, int64_t to)
{
    const T *parts = parts_;
    T       *dw = dw_;
    const int64_t part = (int64_t)(p->part / sizeof(T)), lanes = 2 * p->tiles->lanes;
    for (int64_t all = from; all < to; all++) {
        const int64_t row = row_in_part(p, all);
        if (row < 0) memset(dw + all * p->dy.c, 0, (size_t)p->dy.c * sizeof(T));
        for (int64_t g = 0; row >= 0 && g < p->groups; g++)
            for (int64_t c = 0; c < p->out_c; c += lanes) {
                const int64_t width = eddy__conv_panel(p->tiles, p->out_c, c);
                const int64_t n = eddy__min(width, p->out_c - c);
                const T *x = parts + p->rows * (g * p->padded + c) + row * width;
                T *y = dw + all * p->dy.c + g * p->out_c + c;
                memcpy(y, x, (size_t)n * sizeof(T));
                for (int64_t i = 1; i < p->parts; i++)
                    for (int64_t j = 0; j < n; j++) y[j] += x[i * part + j];
            }
    }
}
