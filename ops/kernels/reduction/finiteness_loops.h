/* finiteness_loops.h -- the largest magnitude of elements, for one floating type, T: a template of
 * ops/kernels/for_types.h. Of two numbers without signs, the larger one has the larger bits; then
 * comes infinity, and then NaN. So one comparison of integers tells all three apart. */
#define BITS_OF_T EDDY_SIGNED(EDDY_COLUMN(BITS, SUFFIX))

EDDY_INLINE void LOOP(largest)(const void *x_, int64_t n, int64_t *most)
{
    const BITS_OF_T *x = x_, no_sign = (BITS_OF_T)(((uint64_t)1 << (EDDY_COLUMN(BITS, SUFFIX) - 1)) - 1);
    const int64_t    half = n / 2 & ~(int64_t)63;     /* two chains of comparisons, for speed */
    BITS_OF_T        largest = 0, other = 0;
    for (int64_t i = 0; i < half; i++) {
        const BITS_OF_T a = (BITS_OF_T)(x[i] & no_sign), b = (BITS_OF_T)(x[half + i] & no_sign);
        largest = a > largest ? a : largest;
        other = b > other ? b : other;
    }
    for (int64_t i = 2 * half; i < n; i++) {
        const BITS_OF_T bits = (BITS_OF_T)(x[i] & no_sign);
        largest = bits > largest ? bits : largest;
    }
    *most = largest > other ? largest : other;
}
EDDY_CLONES_OF(NAME(largest), (const void *x, int64_t n, int64_t *most), (x, n, most))

#undef BITS_OF_T
