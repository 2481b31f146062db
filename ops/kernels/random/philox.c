/* philox.c -- Philox4x32-10, a counter-based random number generator, and the distributions
 * sampled from its output.
 *
 * Everything works on tiles small enough for L1, in loops without branches, so that compilers
 * vectorize them. The logarithm, sine and cosine of the normal distribution are implemented here:
 * since they use only correctly rounded arithmetic, the same seeds give the same bits on every
 * machine. */
#include "ops/kernels/random/philox.h"
#include "graph/base/cpu.h"
#include "graph/base/min_max.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, TILE = 1024 };         /* blocks enciphered together; elements of a tile */

static const uint32_t multiplier_0 = 0xD2511F53u, multiplier_1 = 0xCD9E8D57u;
static const uint32_t weyl_0 = 0x9E3779B9u, weyl_1 = 0xBB67AE85u;

eddy_philox_block eddy__philox(uint64_t key, uint64_t low, uint64_t high)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32);
    uint32_t c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)multiplier_0 * c0, q = (uint64_t)multiplier_1 * c2;
        c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)q;
        c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p;
        k0 += weyl_0;
        k1 += weyl_1;
    }
    return (eddy_philox_block){ { c0, c1, c2, c3 } };
}

/* The low and the high halves of a * b. */
EDDY_INLINE uint32_t low_half(uint32_t a, uint32_t b) { return a * b; }
EDDY_INLINE uint32_t high_half(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* LANES consecutive blocks, side by side in each loop. */
EDDY_INLINE void encipher_lanes(eddy_stream s, uint64_t first, uint32_t *restrict out)
{
    uint32_t k0 = (uint32_t)s.key, k1 = (uint32_t)(s.key >> 32);
    uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
    EDDY_OVER_LANES
    for (int i = 0; i < LANES; i++) {
        uint64_t low = first + (uint64_t)i;
        c0[i] = (uint32_t)low;
        c1[i] = (uint32_t)(low >> 32);
        c2[i] = (uint32_t)s.step;
        c3[i] = (uint32_t)(s.step >> 32);
    }
    for (int round = 0; round < 10; round++) {
        EDDY_OVER_LANES
        for (int i = 0; i < LANES; i++) {
            const uint32_t a = c0[i], b = c2[i];
            c0[i] = high_half(multiplier_1, b) ^ c1[i] ^ k0;
            c2[i] = high_half(multiplier_0, a) ^ c3[i] ^ k1;
            c1[i] = low_half(multiplier_1, b);
            c3[i] = low_half(multiplier_0, a);
        }
        k0 += weyl_0;
        k1 += weyl_1;
    }
    EDDY_OVER_LANES
    for (int i = 0; i < LANES; i++) {
        out[4 * i] = c0[i];
        out[4 * i + 1] = c1[i];
        out[4 * i + 2] = c2[i];
        out[4 * i + 3] = c3[i];
    }
}

EDDY_INLINE void encipher_all(eddy_stream s, uint64_t first, int64_t n, uint32_t *out)
{
    for (int64_t i = 0; i + LANES <= n; i += LANES)
        encipher_lanes(s, first + (uint64_t)i, out + 4 * i);
}
EDDY_CLONES_OF(encipher, (eddy_stream s, uint64_t first, int64_t n, uint32_t *out),
               (s, first, n, out))

void eddy__philox_words(eddy_stream s, uint64_t first, int64_t n, uint32_t *out)
{
    EDDY_BEST_OF(encipher)(s, first, n, out);
    for (int64_t i = n - n % LANES; i < n; i++) {
        eddy_philox_block b = eddy__philox(s.key, first + (uint64_t)i, s.step);
        memcpy(out + 4 * i, b.word, sizeof b.word);
    }
}

/* A bijection of 64 bits in which each bit of x reaches all bits of the result. */
static uint64_t scramble(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

uint64_t eddy__philox_key(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    uint64_t key = scramble(a + odd);
    key = scramble(key ^ (b + 2 * odd));
    return scramble(key ^ (c + 3 * odd));
}

/* ------------------------------------------------------------- uniform -- */

EDDY_INLINE void spread_all(int64_t n, const uint32_t *restrict w, float low, float high,
                            float *restrict y)
{
    const float width = high - low, below = nextafterf(high, low);  /* replaces values rounded to
                                                                     * high */
    for (int64_t i = 0; i < n; i++) {
        const float v = low + eddy__unit_f32(w[i]) * width;
        y[i] = v < high ? v : below;
    }
}
EDDY_CLONES_OF(spread, (int64_t n, const uint32_t *restrict w, float low, float high,
                        float *restrict y), (n, w, low, high, y))

void eddy__fill_uniform_f32(eddy_stream s, int64_t first, int64_t n, eddy_interval in, float *y)
{
    uint32_t w[TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        int64_t count = eddy__min(n - at, TILE);
        eddy__philox_words(s, (uint64_t)(first + at) / 4, (count + 3) / 4, w);
        EDDY_BEST_OF(spread)(count, w, (float)in.low, (float)in.high, y + at);
    }
}

void eddy__fill_uniform_f64(eddy_stream s, int64_t first, int64_t n, eddy_interval in, double *y)
{
    const double width = in.high - in.low, below = nextafter(in.high, in.low);
    uint32_t w[2 * TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        int64_t count = eddy__min(n - at, TILE);
        double *o = y + at;
        eddy__philox_words(s, (uint64_t)(first + at) / 2, (count + 1) / 2, w);
        for (int64_t i = 0; i < count; i++) {
            double v = in.low + eddy__unit_f64(w[2 * i], w[2 * i + 1]) * width;
            o[i] = v < in.high ? v : below;
        }
    }
}

/* -------------------------------------------------------------- normal -- */

EDDY_INLINE uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}
EDDY_INLINE double double_of(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* log u, u in (0,1] and not subnormal: u = 2^e m with m in [0.707, 1.414), and
 * log m = 2 artanh(t), t = (m - 1)/(m + 1), by its series. */
EDDY_INLINE double log_of_unit(double u)
{
    const uint64_t half = bits_of(0x1.6a09ep-1), one = (uint64_t)1 << 52;
    const double   shift = 0x1p52;                       /* its low bits hold an integer */
    uint64_t biased = (bits_of(u) - half + 1024 * one) >> 52;    /* e + 1024 */
    double   e = double_of(biased | bits_of(shift)) - (shift + 1024);
    double   m = double_of(bits_of(u) - (biased - 1024) * one);
    double   t = (m - 1) / (m + 1), z = t * t;
    double   p = 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    return e * 0x1.62e42fefa39efp-1 + 2 * t * (1 + z * p);
}

/* sin x and cos x for |x| <= pi/4 (their Taylor series). */
EDDY_INLINE double sin_near_zero(double x)
{
    double z = x * x, p = -1.0 / 1307674368000;
    p = p * z + 1.0 / 6227020800;
    p = p * z - 1.0 / 39916800;
    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    return x + x * z * p;
}
EDDY_INLINE double cos_near_zero(double x)
{
    double z = x * x, p = 1.0 / 20922789888000;
    p = p * z - 1.0 / 87178291200;
    p = p * z + 1.0 / 479001600;
    p = p * z - 1.0 / 3628800;
    p = p * z + 1.0 / 40320;
    p = p * z - 1.0 / 720;
    p = p * z + 1.0 / 24;
    return 1 - z * (0.5 - z * p);
}

/* Box and Muller: r = sqrt(-2 log u), the pair is r cos(2 pi v), r sin(2 pi v).
 * 2 pi v = (q + f) pi/2 with an integer q, which selects sine or cosine and the sign. */
EDDY_INLINE void normal_pair(double u, double v, double *z0, double *z1)
{
    const double round = 0x1.8p52;       /* its low bits hold an integer, of either sign */
    double   quarters = 4 * v + round;
    double   angle = (4 * v - (quarters - round)) * 0x1.921fb54442d18p+0;
    uint64_t q = bits_of(quarters), swap = 0 - (q & 1);
    uint64_t s = bits_of(sin_near_zero(angle)), c = bits_of(cos_near_zero(angle));
    uint64_t cosine = ((c & ~swap) | (s & swap)) ^ (((q + 1) & 2) << 62);
    uint64_t sine = ((s & ~swap) | (c & swap)) ^ ((q & 2) << 62);
    double   r = sqrt(-2 * log_of_unit(u));
    *z0 = r * double_of(cosine);
    *z1 = r * double_of(sine);
}

/* Pairs of uniform numbers, of which the first is not 0, become pairs of normal ones, n numbers in
 * all. */
EDDY_INLINE void to_normals_all(int64_t n, double *z)
{
    for (int64_t i = 0; i < n; i += 2) normal_pair(z[i], z[i + 1], &z[i], &z[i + 1]);
}
EDDY_CLONES_OF(to_normals, (int64_t n, double *z), (n, z))

/* One word for each uniform number; below, two. */
void eddy__normals_of_words(int64_t n, const uint32_t *w, double *z)
{
    for (int64_t i = 0; i < n; i += 2) {
        z[i] = (eddy__double_of_word(w[i]) + 1) * 0x1p-32;
        z[i + 1] = eddy__double_of_word(w[i + 1]) * 0x1p-32;
    }
    EDDY_BEST_OF(to_normals)(n, z);
}

static void normals_of_pairs(int64_t n, const uint32_t *w, double *z)
{
    for (int64_t i = 0; i < n; i += 2) {
        z[i] = eddy__unit_f64(w[2 * i], w[2 * i + 1]) + 0x1p-53;
        z[i + 1] = eddy__unit_f64(w[2 * i + 2], w[2 * i + 3]);
    }
    EDDY_BEST_OF(to_normals)(n, z);
}

typedef void normals_fn(int64_t n, const uint32_t *w, double *z);

/* A normal number in (-2, 2) for element i, from blocks that only element i uses; each block gives
 * n candidates. */
static double truncated_at(eddy_stream s, uint64_t i, int n, normals_fn *normals)
{
    double z[4];
    for (uint64_t attempt = 1; attempt < 65536; attempt++) {
        eddy_philox_block b = eddy__philox(s.key, i | attempt << 48, s.step);
        normals(n, b.word, z);
        for (int j = 0; j < n; j++)
            if (fabs(z[j]) < 2) return z[j];
    }
    return 0;                            /* once in 10^300000 elements */
}

/* The elements of a tile, `a_block` of them from each block. */
static void normal_tile(eddy_stream s, int64_t first, int64_t n, int a_block, int truncated,
                        double *z)
{
    uint32_t    w[2 * TILE];
    normals_fn *normals = a_block == 4 ? eddy__normals_of_words : normals_of_pairs;
    int64_t     blocks = (n + a_block - 1) / a_block;
    eddy__philox_words(s, (uint64_t)(first / a_block), blocks, w);
    normals(blocks * a_block, w, z);
    if (!truncated) return;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(z[i]) < 2)) z[i] = truncated_at(s, (uint64_t)(first + i), a_block, normals);
}

void eddy__fill_normal_f32(eddy_stream s, int64_t first, int64_t n, eddy_gaussian d, float *y)
{
    double z[TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        int64_t count = eddy__min(n - at, TILE);
        float  *o = y + at;
        normal_tile(s, first + at, count, 4, d.truncated, z);
        for (int64_t i = 0; i < count; i++) o[i] = (float)(d.mean + d.stddev * z[i]);
    }
}

void eddy__fill_normal_f64(eddy_stream s, int64_t first, int64_t n, eddy_gaussian d, double *y)
{
    double z[TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        int64_t count = eddy__min(n - at, TILE);
        double *o = y + at;
        normal_tile(s, first + at, count, 2, d.truncated, z);
        for (int64_t i = 0; i < count; i++) o[i] = d.mean + d.stddev * z[i];
    }
}

/* ------------------------------------------------------------ integers -- */

/* The upper half of the product. */
static inline uint64_t high_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 uint128;
    return (uint64_t)((uint128)a * b >> 64);
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/* floor(x range / 2^64) and floor(x range / 2^128): x scaled down to [0, range). */
static inline uint64_t scale_64(uint32_t low, uint32_t high, uint64_t range)
{
    uint64_t x = ((uint64_t)high << 32) | low;
    return high_product(x, range);
}
static inline uint64_t scale_128(const uint32_t *w, uint64_t range)
{
    uint64_t low = ((uint64_t)w[1] << 32) | w[0], high = ((uint64_t)w[3] << 32) | w[2];
    const uint64_t carry = high_product(low, range), sum = high * range + carry;
    return high_product(high, range) + (sum < carry);
}

#define TEMPLATE "ops/kernels/random/fill_integer_loops.h"
#define TYPES    FOR_SMALL_INTEGERS
#include "ops/kernels/for_types.h"

void eddy__fill_integer_i64(eddy_stream s, int64_t first, int64_t n, int64_t low, uint64_t range,
                            void *y_)
{
    int64_t *y = y_;
    uint32_t w[4 * TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        int64_t  count = eddy__min(n - at, TILE);
        int64_t *o = y + at;
        eddy__philox_words(s, (uint64_t)(first + at), count, w);
        for (int64_t i = 0; i < count; i++)
            o[i] = (int64_t)((uint64_t)low + scale_128(w + 4 * i, range));
    }
}

uint64_t eddy__integer_at(eddy_stream s, int64_t i, uint64_t range)
{
    eddy_philox_block b = eddy__philox(s.key, (uint64_t)i, s.step);
    return scale_128(b.word, range);
}

void eddy__integers_up_to(eddy_stream s, int64_t first, int64_t n, int64_t *y)
{
    uint32_t w[4 * TILE];
    for (int64_t at = 0; at < n; at += TILE) {
        const int64_t count = eddy__min(n - at, TILE);
        eddy__philox_words(s, (uint64_t)(first + at), count, w);
        for (int64_t i = 0; i < count; i++)
            y[at + i] = (int64_t)scale_128(w + 4 * i, (uint64_t)(first + at + i) + 1);
    }
}
