/* cross_entropy_loops.h -- the loops of the softmax cross entropies for one element type, T: a
 * template of ops/kernels/for_floats.h. */

EDDY_INLINE double NAME(counted)(T l, T x, T top, T log_sum)
{
    const double e = NAME(loss_term)(l, x, top, log_sum);
    return l != 0 ? e : 0;
}

EDDY_INLINE double NAME(loss_row)(int64_t n, const T *l, const T *x, T top, T log_sum)
{
    double lane[LOSS_LANES] = { 0 }, total = 0;
    int64_t at = 0;
    for (; at + LOSS_LANES <= n; at += LOSS_LANES) {
        EDDY_OVER_LANES
        for (int j = 0; j < LOSS_LANES; j++)
            lane[j] += NAME(counted)(l[at + j], x[at + j], top, log_sum);
    }
    for (; at < n; at++) total += NAME(counted)(l[at], x[at], top, log_sum);
    for (int j = 0; j < LOSS_LANES; j++) total += lane[j];
    return total;
}

/* loss[b->lane + lane] = sum l (ln s - (x - t)); a class of label 0 contributes 0, even
 * if its logit is -infinity. */
EDDY_INLINE void LOOP(loss)(void *losses, const eddy_softmax_block *b, const void *l_,
                            const void *log_sum_)
{
    const T *x = b->x, *top = b->top, *l = l_, *log_sum = log_sum_;
    T *loss = (T *)losses + b->lane;
    double total[EDDY_SOFTMAX_LANES] = { 0 };
    for (int64_t i = 0; i < b->many && b->stride == 1; i++)
        total[i] = NAME(loss_row)(b->n, l + i * b->n, x + i * b->n, top[i], log_sum[i]);
    for (int64_t j = 0; j < b->n && b->stride > 1; j++, x += b->stride, l += b->stride)
        for (int64_t c = 0; c < b->width; c++)
            total[c] += NAME(counted)(l[c], x[c], top[c], log_sum[c]);
    for (int64_t c = 0; c < b->many * b->width; c++) loss[c] = (T)total[c];
}

EDDY_CLONES_OF(NAME(loss), (void *losses, const eddy_softmax_block *b, const void *l,
                            const void *log_sum), (losses, b, l, log_sum))

/* loss = ln s - (x - t) at the label, where 1 is subtracted from y. */
static void NAME(pick)(eddy_kernel *k, const eddy_softmax_block *b, const void *log_sum_)
{
    const T *x = b->x, *top = b->top, *log_sum = log_sum_;
    T *loss = (T *)k->out[0]->data + b->lane, *y = b->y;
    for (int64_t i = 0; i < b->many; i++) {
        const int64_t at = i * b->n + eddy__index_at(k->in[0], b->lane + i);
        loss[i] = log_sum[i] - (x[at] - top[i]);
        y[at] -= 1;
    }
}
