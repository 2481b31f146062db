/* conv_finish_loops.h -- bias, sum and relu of a strip of a convolution for one element
 * type, T: a template of ops/kernels/for_floats.h. */

/* The strip begins at element `at` of the result and at this channel. */
static void NAME(finish)(const eddy_conv_finish *f, const eddy_conv_strip *s, int64_t at,
                         int64_t channel)
{
    const T *bias = f->bias ? (const T *)f->bias + channel : NULL;
    const T *residual = f->residual ? (const T *)f->residual + at : NULL;
    T       *y = s->y;
    for (int64_t i = 0; i < s->pixels; i++, y += s->y_step) {
        if (bias)
            for (int c = 0; c < s->channels; c++) y[c] += bias[c];
        if (residual)
            for (int c = 0; c < s->channels; c++) y[c] += residual[i * s->y_step + c];
        if (f->relu)
            for (int c = 0; c < s->channels; c++) y[c] = y[c] < 0 ? 0 : y[c];
    }
}
