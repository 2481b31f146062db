/* combine_type.h -- the loops of combine.c for one type T; included once for each type, with NAME. */

/* to = a and b */
static void NAME(pair)(eddy_reduction how, T *to, const T *a, const T *b, int64_t n)
{
    if (how == EDDY_REDUCE_MIN)
        for (int64_t i = 0; i < n; i++) to[i] = a[i] < b[i] || isnan((double)a[i]) ? a[i] : b[i];
    else if (how == EDDY_REDUCE_MAX)
        for (int64_t i = 0; i < n; i++) to[i] = a[i] > b[i] || isnan((double)a[i]) ? a[i] : b[i];
    else
        for (int64_t i = 0; i < n; i++) to[i] = (T)(a[i] + b[i]);
}

static void NAME(scale)(eddy_reduction how, int ranks, T *a, int64_t count)
{
    if (how == EDDY_REDUCE_MEAN)
        for (int64_t i = 0; i < count; i++) a[i] = (T)(a[i] / (T)ranks);
}

/* Elements [from, from + count) of all parts, of which those with an even number are changed; in
 * place of the one that is kept, the next one. */
static void NAME(combine)(const eddy_combining *x, void **parts, int64_t from, int64_t count,
                          void *out)
{
    T *to = (T *)out + from;
    for (int step = 1; step < x->n; step *= 2)
        for (int i = 0; i + step < x->n; i += 2 * step) {
            const int a = place_of(x, step, i), b = place_of(x, step, i + step);
            T        *sum = parts[step == 1 && i == x->kept ? b : a];
            NAME(pair)(x->how, 2 * step < x->n ? sum + from : to, (const T *)parts[a] + from,
                       (const T *)parts[b] + from, count);
        }
    if (x->n == 1 && out != parts[0])
        memcpy(to, (const T *)parts[0] + from, (size_t)count * sizeof(T));
    NAME(scale)(x->how, x->ranks, to, count);
}

#undef T
#undef NAME
