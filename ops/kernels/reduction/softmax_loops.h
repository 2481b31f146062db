/* softmax_loops.h -- the exponentials and the last step of softmax and related operations for one
 * element type, T: a template of ops/kernels/for_floats.h. */

/* y = e^y for n consecutive elements, with the bits of the operation Exp. */
EDDY_INLINE void LOOP(exp_in_place)(int64_t n, void *data)
{
    T *y = data;
    EDDY_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = EDDY_REAL_MATH(exp, y[i]);
}
EDDY_CLONES_OF(NAME(exp_in_place), (int64_t n, void *data), (n, data))

/* The final value of an element x with y = e^(x - t), from the top t and the sum s of its lane, and
 * its label. */
EDDY_INLINE T NAME(ended)(ending how, T x, T y, T t, T s, T label)
{
    switch (how) {
    case MINUS_TOP: return x - t;
    case OVER_SUM:  return y / s;
    case OVER_SUM_LESS_LABELS: return y / s - label;
    case LOGARITHM: break;
    }
    return x - t - s;
}

/* Finishes the elements of a block; `labels` is used only if `how` asks for it. */
EDDY_INLINE void NAME(end_rows)(ending how, const eddy_softmax_block *b, const T *labels)
{
    const T *x = b->x, *top = b->top, *sum = b->sum;
    T *y = b->y;
    const bool labeled = how == OVER_SUM_LESS_LABELS;
    for (int64_t i = 0; i < b->many && b->stride == 1; i++) {
        const T t = top[i], s = sum[i];
        EDDY_INDEPENDENT
        for (int64_t at = i * b->n; at < (i + 1) * b->n; at++)
            y[at] = NAME(ended)(how, x[at], y[at], t, s, labeled ? labels[at] : 0);
    }
    for (int64_t j = 0; j < b->n && b->stride > 1; j++)
        EDDY_INDEPENDENT
        for (int64_t c = 0; c < b->width; c++) {
            const int64_t at = j * b->stride + c;
            y[at] = NAME(ended)(how, x[at], y[at], top[c], sum[c], labeled ? labels[at] : 0);
        }
}

EDDY_INLINE void LOOP(minus_top)PIECE { NAME(end_rows)(MINUS_TOP, b, labels); }
EDDY_INLINE void LOOP(over_sum)PIECE { NAME(end_rows)(OVER_SUM, b, labels); }
EDDY_INLINE void LOOP(over_sum_less)PIECE { NAME(end_rows)(OVER_SUM_LESS_LABELS, b, labels); }
EDDY_INLINE void LOOP(log)PIECE { NAME(end_rows)(LOGARITHM, b, labels); }

EDDY_CLONES_OF(NAME(minus_top), PIECE, (b, labels))
EDDY_CLONES_OF(NAME(over_sum), PIECE, (b, labels))
EDDY_CLONES_OF(NAME(over_sum_less), PIECE, (b, labels))
EDDY_CLONES_OF(NAME(log), PIECE, (b, labels))
