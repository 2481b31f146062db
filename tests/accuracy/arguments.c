/* arguments.c -- arguments of `make accuracy`: boundaries with their neighbors, random bits,
 * uniform numbers, and numbers at random distances from boundaries, powers of 2 and multiples of a
 * step. */
#include "tests/accuracy/accuracy.h"

#include <string.h>

/* SplitMix64. */
uint64_t random_word(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Ends of domains and of ranges, zeros, and where kernels change from one formula to another. */
static const double boundaries[] = {
    0.0, 0x1p-1074, 0x1p-1022, 0x0.fffffffffffffp-1022, 0x1.fffffffffffffp1023, INFINITY, 1.0, 0.5,
    0x1p-900, 0x1p-500, 0x1p-54, 0x1p-53, 0x1p-40, 0x1p-27, 0x1p20, 0x1p28, 0x1p51, 0x1p52, 0x1p60,
    0x1p500, 0x1p1000, 0x1p1020, 0.41421356237309503, 2.4142135623730949, 0.70710678118654746,
    1.4142135623730949, 0.29289321881345254, 0.55, 0.85, 0.34657359027997264, 0.75, 0.25,
    1.4616321449683622, 2.0, 2.5, 3.0, 3.5, 4.0, 6.0, 6.5, 7.0, 8.0, 20.0, 26.5, 27.226, 28.0, 36.0,
    37.5, 38.485, 40.0, 60.0, 700.0, 707.0, 709.08956571282410, 709.78271289338397, 710.0,
    710.4758600739439, 711.0, 745.13321910194111, 746.0, 1023.5, 1024.0, 1025.0, 1074.5, 1075.0,
    1076.0, 0.78539816339744828, 1.5707963267948966, 3.1415926535897931, 0x1.921fb54442d18p19, 1e22,
    2.5563485160999e305,
};
enum { BOUNDARIES = sizeof boundaries / sizeof *boundaries, NEIGHBORS = 4 };
enum { SINGLE = 2 * BOUNDARIES * (2 * NEIGHBORS + 1), PAIRS = 4 * BOUNDARIES * BOUNDARIES };

/* Between 0 and 1. */
static double unit(uint64_t w) { return (double)(w >> 11) * 0x1p-53; }

static double uniform(double low, double high, uint64_t w) { return low + (high - low) * unit(w); }

/* x plus or minus as many units in the last place as the logarithm is uniform of. */
static double beside(double x, uint64_t w)
{
    const uint64_t far = (w >> 1) >> (10 + (w >> 1) % 54);
    return from_bits(w & 1 ? bits_of(x) + far : bits_of(x) - far);
}

/* Near a boundary, a power of 2, or a multiple of the step, of which there are a few or 2^60. */
static double hard(double high, double step, uint64_t w, uint64_t v)
{
    const uint64_t kind = v & 3, sign = (v & 4) << 61;
    v >>= 3;
    double x = boundaries[(v >> 8) % BOUNDARIES];
    if (kind == 0) x = from_bits((v >> 8) % 2047 << 52);
    if (kind > 1 && step > 0) {
        const double all = fabs(high) / step + 2;
        x = v & 1 ? floor(unit(v << 3) * all) : (double)(v >> (1 + (v >> 1) % 60));
        x = (double)((long double)x * (step == 0.5 ? 0.5L : step > 0.5 ? 0.78539816339744830962L
                                                                     : 0.34657359027997265471L));
    }
    return from_bits(bits_of(beside(x, w)) | sign);
}

static double single(const function *f, uint64_t i, bool *boundary)
{
    if (*boundary = i < SINGLE, *boundary) {
        const uint64_t neighbor = i / 2 / BOUNDARIES;
        const double   x = boundaries[i / 2 % BOUNDARIES];
        const double   y = from_bits(bits_of(x) + neighbor - (x == 0 ? 0 : NEIGHBORS));
        return i % 2 ? -y : y;
    }
    const uint64_t w = random_word(2 * i), v = random_word(2 * i + 1);
    if (i % 4 == 0) return from_bits(w);
    return i % 4 == 1 ? hard(f->high, f->step, w, v) : uniform(f->low, f->high, w);
}

/* a^b: a number a, and b such that the result is a number; or both of any size. */
static void power_pair(const function *f, uint64_t i, double x[2])
{
    static const double roots[] = { 0.5, -0.5, 1, -1, 2, 3, -2, 1.5, 1. / 3, 10 };
    const uint64_t w = random_word(4 * i), v = random_word(4 * i + 1), u = random_word(4 * i + 2);
    x[0] = i % 4 == 0 ? fabs(from_bits(w)) : i % 4 == 1 ? fabs(hard(2, 0, w, u))
                                           : uniform(f->low, f->high, w);
    x[1] = uniform(-746, 711, v) / log(x[0]);
    if (i % 16 == 2) x[1] = roots[v % 10];
    if (i % 16 == 3 || i % 16 == 4) x[1] = rint(x[1]);
    if (i % 16 == 3) x[0] = -x[0];
    if (i % 16 == 5) x[1] = from_bits(v);
    if (i % 16 == 9) x[1] = hard(1100, 0.5, v, u >> 7);
}

static void exp_pair(const function *f, uint64_t i, double x[2])
{
    const uint64_t w = random_word(4 * i), v = random_word(4 * i + 1), u = random_word(4 * i + 2);
    x[0] = i % 4 == 1 ? hard(f->high, f->step, w, u) : uniform(f->low, f->high, w);
    x[1] = i % 8 == 0 ? from_bits(v) : i % 4 == 2 ? hard(2e6, 0.78539816339744828, v, u >> 7)
                                                  : uniform(-7, 7, v);
    if (i % 64 == 2) {                               /* large times small */
        x[0] = uniform(690, 1500, w);
        x[1] = ldexp(uniform(1, 2, v), -(int)(u % 1100));
    }
}

static void log_pair(const function *f, uint64_t i, double x[2])
{
    const uint64_t w = random_word(4 * i), v = random_word(4 * i + 1), u = random_word(4 * i + 2);
    x[0] = i % 4 == 0 ? from_bits(w) : uniform(f->low, f->high, w);
    x[1] = i % 4 == 0 ? from_bits(v) : uniform(f->low, f->high, v);
    if (i % 8 == 4) x[1] = x[0] * uniform(-4, 4, v);
    if (i % 4 == 1) {                                /* near the unit circle */
        x[0] = beside(uniform(0, 1, w), u);
        x[1] = beside(sqrt(fabs(1 - x[0] * x[0])), v);
    }
}

static void pair(const function *f, uint64_t i, double x[2], bool *boundary)
{
    if (*boundary = i < PAIRS, *boundary) {
        for (int k = 0; k < 2; k++, i /= 2 * BOUNDARIES)
            x[k] = i % 2 ? -boundaries[i / 2 % BOUNDARIES] : boundaries[i / 2 % BOUNDARIES];
    } else if (f->form == POWER) {
        power_pair(f, i, x);
    } else if (f->form == COMPLEX_EXP) {
        exp_pair(f, i, x);
    } else {
        log_pair(f, i, x);
    }
    /* Of infinite complex numbers C says the values, MPFR does not. */
    for (int k = 0; k < 2 && f->form != POWER; k++)
        if (!(fabs(x[k]) < (double)INFINITY)) x[k] = 1;
}

/* Between poles, the bounds do not hold: RIGHT takes positive arguments only. */
void argument(const function *f, uint64_t i, double x[2], bool *boundary)
{
    x[1] = 1;
    if (f->form == REAL) x[0] = single(f, i, boundary);
    else if (f->form == RIGHT) x[0] = fabs(single(f, i, boundary));
    else pair(f, i, x, boundary);
    for (int k = 0; k < 2; k++)
        if (x[k] != x[k]) x[k] = (double)NAN;         /* not one that signals */
}
