/* complex_numbers.h -- complex numbers for kernels: construction from two parts, and functions
 * that C has for real numbers only. These are computed in double precision. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_COMPLEX_NUMBERS_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_COMPLEX_NUMBERS_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>

/* re + im i.  The formula itself would give NaN for an infinite im. */
static inline float complex eddy__c64(float re, float im)
{
    const union { float part[2]; float complex z; } u = { { re, im } };
    return u.z;
}
static inline double complex eddy__c128(double re, double im)
{
    const union { double part[2]; double complex z; } u = { { re, im } };
    return u.z;
}

static inline double complex eddy__complex_expm1(double complex z)
{
    const double x = creal(z), y = cimag(z), half = sin(0.5 * y);
    return eddy__c128(expm1(x) * cos(y) - 2 * half * half, exp(x) * sin(y));
}

static inline double complex eddy__complex_log1p(double complex z)
{
    const double x = creal(z), y = cimag(z);
    const bool   small = x > -0.5 && x < 0.5 && y > -0.5 && y < 0.5;
    return small ? eddy__c128(0.5 * log1p(x * (2 + x) + y * y), atan2(y, 1 + x)) : clog(1 + z);
}

/* 1 where b is 0, and 0 to a power with a positive real part is 0. */
static inline double complex eddy__complex_pow(double complex a, double complex b)
{
    if (b == 0) return 1;
    return a == 0 && creal(b) > 0 ? 0 : cpow(a, b);
}

#define EDDY_EXPM1(x)  _Generic((x), float: expm1f, double: expm1, default: eddy__complex_expm1)(x)
#define EDDY_LOG1P(x)  _Generic((x), float: log1pf, double: log1p, default: eddy__complex_log1p)(x)
#define EDDY_POW(a, b) _Generic((a), float: powf, double: pow, default: eddy__complex_pow)((a), (b))

#endif
