/* projective_transform_loops.h -- images under a projective transform, for one element type, T:
 * a template of ops/kernels/for_types.h. */

/* The type in which means of elements are computed, and the conversion of a mean to an element. */
typedef __typeof__(_Generic((T)0, float: 0.0f, uint8_t: 0.0f, default: 0.0)) NAME(mean);

static inline T NAME(of_mean)(NAME(mean) x)
{
#ifndef NUMBER
    if (sizeof(T) == 8 && x >= 0x1p63) return HIGHEST;
    if (sizeof(T) == 8 && x < -0x1p63) return LOWEST;
#endif
    return (T)x;
}

/* Rows [from, to) of y. */
static void NAME(seen)(void *arg, int64_t from, int64_t to, int worker)
{
    typedef NAME(mean) A;
    const transform_work *v = arg;
    const int64_t image = v->in[0] * v->in[1] * v->c;
    const T       fill = (T)v->fill;
    T            *y = (T *)v->to + from * v->out[1] * v->c;
    (void)worker;
    for (int64_t row = from; row < to; row++) {
        const int64_t b = row / v->out[0];
        const T      *x = (const T *)v->from + b * image;
        for (int64_t j = 0; j < v->out[1]; j++, y += v->c) {
            const sample_point l = sample_point_at(v, b, row % v->out[0], j);
            const A    up = l.rows[0], down = l.rows[1];
            const A    left = l.columns[0], right = l.columns[1];
            for (int64_t c = 0; c < v->c; c++) {
                T p[4];
                for (int k = 0; k < 4; k++)
                    p[k] = l.at[k] < 0 ? fill : x[l.at[k] * v->c + c];
                y[c] = !v->bilinear ? p[0]
                     : NAME(of_mean)(up * (left * (A)p[0] + right * (A)p[1]) +
                                       down * (left * (A)p[2] + right * (A)p[3]));
            }
        }
    }
}

#ifdef NUMBER
/* The transpose, for images [from, to): scatters dy to the source pixels of x. */
static void NAME(back)(void *arg, int64_t from, int64_t to, int worker)
{
    const transform_work *v = arg;
    const int64_t image = v->in[0] * v->in[1] * v->c, seen = v->out[0] * v->out[1];
    (void)worker;
    for (int64_t b = from; b < to; b++) {
        const T *dy = (const T *)v->from + b * seen * v->c;
        T       *dx = (T *)v->to + b * image;
        memset(dx, 0, (size_t)image * sizeof *dx);
        for (int64_t i = 0; i < seen; i++, dy += v->c) {
            const sample_point l = sample_point_at(v, b, i / v->out[1], i % v->out[1]);
            for (int k = 0; k < 4; k++) {
                const T share = (T)l.rows[k / 2] * (T)l.columns[k % 2];
                for (int64_t c = 0; c < v->c && l.at[k] >= 0; c++)
                    dx[l.at[k] * v->c + c] += share * dy[c];
            }
        }
    }
}
#endif
