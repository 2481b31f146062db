/* add_n_loops.h -- the sum of many tensors of one element type, T: a template of
 * ops/kernels/for_types.h. */

static void NAME(sum)(eddy_kernel *k)
{
    T       *y = k->out[0]->data, sum[TILE];
    int64_t  count = k->out[0]->count;
    for (int64_t from = 0; from < count; from += TILE) {
        int64_t n = count - from < TILE ? count - from : TILE;
        memcpy(sum, (const T *)k->in[0]->data + from, (size_t)n * sizeof *sum);
        int i = 1;
        for (; i + 1 < k->n_in; i += 2) {
            const T *a = (const T *)k->in[i]->data + from;
            const T *b = (const T *)k->in[i + 1]->data + from;
            for (int64_t j = 0; j < n; j++) sum[j] = (T)(sum[j] + a[j] + b[j]);
        }
        if (i < k->n_in) {
            const T *a = (const T *)k->in[i]->data + from;
            for (int64_t j = 0; j < n; j++) sum[j] = (T)(sum[j] + a[j]);
        }
        memcpy(y + from, sum, (size_t)n * sizeof *sum);
    }
}
