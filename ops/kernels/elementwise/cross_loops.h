/* cross_loops.h -- the cross product for one element type, T: a template of
 * ops/kernels/for_types.h. */

static void NAME(cross)(void *arg, int64_t from, int64_t to, int worker)
{
    const eddy_kernel *k = arg;
    const T *a = (const T *)k->in[0]->data, *b = (const T *)k->in[1]->data;
    T *y = k->out[0]->data;
    (void)worker;
    for (int64_t i = 3 * from; i < 3 * to; i += 3) {
        y[i] = (T)(a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1]);
        y[i + 1] = (T)(a[i + 2] * b[i] - a[i] * b[i + 2]);
        y[i + 2] = (T)(a[i] * b[i + 1] - a[i + 1] * b[i]);
    }
}
