/* vector_complex.h -- exponentials and logarithms of complex numbers whose parts are float64, in the
 * style of vector_math_f64.h. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_COMPLEX_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_COMPLEX_H

#include "ops/kernels/elementwise/complex_numbers.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"

/* e^(x + iy) for |x| <= 700, |y| <= EDDY_CIRCULAR_MOST and no y near a denormal number; elsewhere
 * *beyond is set. */
EDDY_INLINE void eddy__complex_exp_near(double x, double y, double *re, double *im, int *beyond)
{
    double n, cosine_low, sine_low;
    const double u = fabs(y), cosine = eddy__circular_parts_f64(u, 1, &cosine_low);
    const double sine = eddy__circular_parts_f64(u, 0, &sine_low);
    const double part = eddy__exp_parts_f64(x, &n), power = eddy__power_of_2_f64(n);
    const double upright = (sine + (sine * part + sine_low)) * power;
    const uint64_t sign = eddy__bits_of_f64(y) & EDDY_SIGN_BIT_F64;
    *re = (cosine + (cosine * part + cosine_low)) * power;
    *im = eddy__f64_of_bits(eddy__bits_of_f64(upright) ^ sign);
    *beyond = !(fabs(x) <= 700.0) | !(u <= (double)EDDY_CIRCULAR_MOST) | ((u > 0.0) & (u < 0x1p-960));
}

/* For other x and y: powers of 2 in two steps, sines of huge numbers by the C library, and that of a y
 * near a denormal number is y, times 2^400. */
static double complex eddy__complex_exp_far(double complex z)
{
    const double x = creal(z), y = cimag(z), u = fabs(y);
    if (!(fabs(x) <= 1500.0) || !(u < (double)INFINITY)) return cexp(z);
    const int tiny = u < 0x1p-960 && u > 0.0, small = u <= (double)EDDY_CIRCULAR_MOST;
    double    n, cosine_low = 0, sine_low = 0;
    double    cosine = small ? eddy__circular_parts_f64(u, 1, &cosine_low) : cos(u);
    double    sine = tiny ? u * 0x1p400 : small ? eddy__circular_parts_f64(u, 0, &sine_low) : sin(u);
    const double part = eddy__exp_parts_f64(x, &n);
    cosine += cosine * part + cosine_low;
    sine += sine * part + sine_low;
    n = fmax(n, -1600.0);                          /* beyond, the results are 0 or infinite */
    const double most = fmin(n, 2040.0);
    sine = eddy__scaled_f64(sine, tiny ? n - 400.0 : most);
    return eddy__c128(eddy__scaled_f64(cosine, most), signbit(y) ? -sine : sine);
}

/* The logarithm of x + iy where the larger part is between 2^-500 and 2^500 and |x + iy|^2 not within
 * 2^-40 of 1; elsewhere *beyond is set. The square has two parts. */
EDDY_INLINE void eddy__complex_log_near(double x, double y, double *re, double *im, int *beyond)
{
    double n;
    const double u = fabs(x), v = fabs(y), most = u > v ? u : v, least = u > v ? v : u;
    const double large = most * most, small = least * least, square = large + small;
    const double lost = ((large - square) + small) - (eddy__less_product_f64(large, most, most) +
                                                      eddy__less_product_f64(small, least, least));
    const double f = eddy__log_parts_f64(square, &n);
    *re = 0.5 * eddy__log_join_f64(n, f + lost * eddy__power_of_2_f64(-n));
    *im = eddy__atan2_f64(y, x);
    *beyond = !(most <= 0x1p500) | !(most >= 0x1p-500) | !(fabs(square - 1.0) >= 0x1p-40);
}

typedef void eddy_complex_near(double x, double y, double *re, double *im, int *beyond);
enum { EDDY_COMPLEX_AT_ONCE = 64 };

/* near of each element, or far(x) where that sets *beyond. */
EDDY_INLINE void eddy__complex_each(int64_t n, double complex *y, const double complex *x,
                                    eddy_complex_near near, double complex far(double complex))
{
    for (int64_t i = 0; i < n; i++) {
        int beyond;
        double re, im;
        near(creal(x[i]), cimag(x[i]), &re, &im, &beyond);
        y[i] = beyond ? far(x[i]) : eddy__c128(re, im);
    }
}

/* near of a block, as vectors. False if an element is beyond. */
EDDY_INLINE bool eddy__complex_block(double complex *y, const double complex *x, eddy_complex_near near)
{
    const double *in = (const double *)x;
    double *out = (double *)y;
    int any = 0;
    EDDY_INDEPENDENT
    for (int i = 0; i < EDDY_COMPLEX_AT_ONCE; i++) {
        int beyond;
        near(in[2 * i], in[2 * i + 1], &out[2 * i], &out[2 * i + 1], &beyond);
        any |= beyond;
    }
    return !any;
}

/* A tile of complex128. An x that is beyond slows down its neighbors, but does not change them. */
#define EDDY_COMPLEX_TILE(fn, near, far)                                        \
    __attribute__((noinline)) static eddy_status fn(int64_t n, void *y, const void *const *x, \
                                                    const void *attrs)          \
    {                                                                           \
        (void)attrs;                                                            \
        eddy__complex_each(n, y, x[0], near, far);                              \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_INLINE eddy_status fn##_blocks(int64_t n, void *out, const void *const *in, const void *attrs) \
    {                                                                           \
        enum { AT_ONCE = EDDY_COMPLEX_AT_ONCE };                                \
        const double complex *x = in[0];                                        \
        double complex *y = out, some[AT_ONCE], found[AT_ONCE];                 \
        if (n < AT_ONCE / 8) return fn(n, out, in, attrs);                      \
        for (int i = 0; i < AT_ONCE; i++) some[i] = 2;                          \
        for (; n > 0; n -= AT_ONCE, x += AT_ONCE, y += AT_ONCE) {               \
            const int64_t m = n < AT_ONCE ? n : AT_ONCE;                        \
            memcpy(some, x, (size_t)m * sizeof *x);                             \
            const void *block = some;                                           \
            if (!eddy__complex_block(found, some, near)) fn(m, found, &block, attrs); \
            memcpy(y, found, (size_t)m * sizeof *y);                            \
        }                                                                       \
        return EDDY_OK;                                                         \
    }                                                                           \
    EDDY_BLOCKS_FOR_AVX2(fn)

#endif
