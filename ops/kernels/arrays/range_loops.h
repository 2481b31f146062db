/* range_loops.h -- the elements of a range of one type, T: a template of
 * ops/kernels/for_types.h. */

static void NAME(range)(eddy_kernel *k)
{
    const T start = *(const T *)k->in[0]->data, delta = *(const T *)k->in[2]->data;
    T *y = k->out[0]->data;
    for (int64_t i = 0; i < k->out[0]->count; i++) y[i] = (T)(start + (T)i * delta);
}
