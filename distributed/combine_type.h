/* combine_type.h -- the loops of combine.c for one type T; included once for each type, with NAME. */

/* a = a and b */
static void NAME(pair)(eddy_reduction how, T *a, const T *b, int64_t n)
{
    if (how == EDDY_REDUCE_MIN)
        for (int64_t i = 0; i < n; i++) a[i] = a[i] < b[i] || isnan((double)a[i]) ? a[i] : b[i];
    else if (how == EDDY_REDUCE_MAX)
        for (int64_t i = 0; i < n; i++) a[i] = a[i] > b[i] || isnan((double)a[i]) ? a[i] : b[i];
    else
        for (int64_t i = 0; i < n; i++) a[i] = (T)(a[i] + b[i]);
}

static void NAME(scale)(eddy_reduction how, int ranks, T *a, int64_t count)
{
    if (how == EDDY_REDUCE_MEAN)
        for (int64_t i = 0; i < count; i++) a[i] = (T)(a[i] / (T)ranks);
}

/* Elements [from, from + count) of all parts, of which those with an even number are changed. */
static void NAME(combine)(const eddy_combining *x, void **parts, int64_t from, int64_t count,
                          void *out)
{
    for (int step = 1; step < x->n; step *= 2)
        for (int i = 0; i + step < x->n; i += 2 * step)
            NAME(pair)(x->how, (T *)parts[i] + from, (const T *)parts[i + step] + from, count);
    NAME(scale)(x->how, x->ranks, (T *)parts[0] + from, count);
    if (out != parts[0]) memcpy((T *)out + from, (const T *)parts[0] + from, (size_t)count * sizeof(T));
}

#undef T
#undef NAME
