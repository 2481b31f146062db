/* cumulative_logsumexp_loops.h -- the cumulative log-sum-exp of some lanes for one element
 * type, T: a template of ops/kernels/for_floats.h. */

static void NAME(logsumexp)(const walk *w, int64_t at, int64_t width, int64_t step)
{
    const eddy_scan_attrs *a = w->k->attrs;
    const T *x = (const T *)w->k->in[0]->data + at;
    T       *y = (T *)w->k->out[0]->data + at;
    double   top[TILE], sum[TILE];
    for (int64_t c = 0; c < width; c++) top[c] = -(double)INFINITY, sum[c] = 0;
    for (int64_t j = 0; j < w->lanes.n; j++, x += step, y += step)
        for (int64_t c = 0; c < width; c++) {
            if (a->exclusive) y[c] = (T)(top[c] + eddy__log_f64(sum[c]));
            take_in((double)x[c], &top[c], &sum[c]);
            if (!a->exclusive) y[c] = (T)(top[c] + eddy__log_f64(sum[c]));
        }
}
