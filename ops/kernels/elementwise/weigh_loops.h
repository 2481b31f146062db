/* weigh_loops.h -- weights of the rows of a real transform for one element type, T: a template of
 * ops/kernels/for_floats.h. */

/* to = from, `rows` of n complex numbers: the first and, if `even`, the last, which represent one
 * frequency each, times `ends`; the rest times `others`. */
static void NAME(weigh)(int64_t rows, int64_t n, bool even, double ends, double others,
                        const void *from_, void *to_)
{
    const T *from = from_;
    T       *to = to_;
    const T w = (T)others, e = (T)ends;
    for (; rows-- > 0; from += 2 * n, to += 2 * n) {
        const T *last = from + 2 * n - 2;
        const T  f[2] = { from[0] * e, from[1] * e };
        const T  l[2] = { last[0] * e, last[1] * e };
        for (int64_t j = 0; j < 2 * n; j++) to[j] = from[j] * w;
        memcpy(to, f, sizeof f);
        if (even) memcpy(to + 2 * n - 2, l, sizeof l);
    }
}
