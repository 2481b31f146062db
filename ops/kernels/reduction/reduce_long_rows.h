/* reduce_long_rows.h -- EACH, the NAME(each) of reduce_loops.h for float32 with accumulators in double
 * precision and AVX2, with the same bits. It replaces GENERAL, a clone of ALL, and adds up long rows
 * by OP here: a compiler would load eight elements at once and take them apart for the conversion,
 * for which the loop takes half as long again. Here, conversions read four elements from memory. */

EDDY_TARGET_AVX2 static double EACH_NAME(row)(const float *restrict x, int64_t n)
{
    enum { PIECES = LONG_LANES / 4 };
    __m256d v[PIECES];
    int64_t at = LONG_LANES;
    _Pragma("GCC unroll 8")
    for (int k = 0; k < PIECES; k++) v[k] = _mm256_cvtps_pd(_mm_loadu_ps(x + 4 * k));
    for (; at + LONG_LANES <= n; at += LONG_LANES)
        _Pragma("GCC unroll 8")
        for (int k = 0; k < PIECES; k++)
            v[k] = OP(v[k], _mm256_cvtps_pd(_mm_loadu_ps(x + at + 4 * k)));
    _Pragma("GCC unroll 3")
    for (int half = PIECES / 2; half > 0; half /= 2)
        _Pragma("GCC unroll 4")
        for (int k = 0; k < half; k++) v[k] = OP(v[k], v[k + half]);
    double a = OP(OP(v[0][0], v[0][2]), OP(v[0][1], v[0][3]));
    for (; at < n; at++) a = OP(a, (double)x[at]);
    return a;
}

EDDY_TARGET_AVX2 static void EACH(void *restrict acc_, const void *restrict x_, int64_t m,
                                  int64_t n, int64_t width)
{
    double      *acc = acc_;
    const float *x = x_;
    (void)GENERAL;
    if (width > 1 || n < 4 * LONG_LANES) ALL(acc, x, m, n, width);
    else for (int64_t i = 0; i < m; i++, x += n) acc[i] = OP(acc[i], EACH_NAME(row)(x, n));
}

#undef EACH
#undef GENERAL
#undef ALL
#undef EACH_NAME
#undef OP
