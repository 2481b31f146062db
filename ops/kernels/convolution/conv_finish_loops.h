/* conv_finish_loops.h -- bias, sum and relu of a strip of a convolution for one element
 * type, T: a template of ops/kernels/for_floats.h. */

EDDY_INLINE void NAME(add)(T *y, const T *x, int n)
{
    EDDY_INDEPENDENT
    for (int c = 0; c < n; c++) y[c] += x[c];
}

EDDY_INLINE void NAME(cut)(T *y, int n)
{
    EDDY_INDEPENDENT
    for (int c = 0; c < n; c++) y[c] = y[c] < 0 ? 0 : y[c];
}

/* The strip begins at element `at` of the result and at this channel. */
EDDY_INLINE void LOOP(finish_pixels)(const eddy_conv_finish *f, const eddy_conv_strip *s,
                                     int64_t at, int64_t channel)
{
    const T *bias = f->bias ? (const T *)f->bias + channel : NULL;
    const T *residual = f->residual ? (const T *)f->residual + at : NULL;
    T       *y = s->y;
    for (int64_t i = 0; i < s->pixels; i++, y += s->y_step) {
        if (bias) NAME(add)(y, bias, s->channels);
        if (residual) NAME(add)(y, residual + i * s->y_step, s->channels);
        if (f->relu) NAME(cut)(y, s->channels);
    }
}

EDDY_CLONES_OF_FLOATS(NAME(finish_pixels), (const eddy_conv_finish *f, const eddy_conv_strip *s,
                                            int64_t at, int64_t channel), (f, s, at, channel))

static void NAME(finish)(const eddy_conv_finish *f, const eddy_conv_strip *s, int64_t at,
                         int64_t channel)
{
    EDDY_BEST_OF(NAME(finish_pixels))(f, s, at, channel);
}
