/* combine.c -- sums, means and extremes of arrays of several ranks, always pair by pair: 0 and 1,
 * 2 and 3, then these results, and so on. So the bits do not depend on who computes them. */
#include "distributed/internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 2048 };               /* elements that stay in the cache */

/* Where the result of the parts from i on is, of so many parts. */
static int place_of(const eddy_combining *x, int parts, int i)
{
    return i + (parts > 1 && i == x->kept && i + 1 < x->n);
}

#define T float
#define NAME(x) x##_float32
#include "distributed/combine_type.h"
#define T double
#define NAME(x) x##_float64
#include "distributed/combine_type.h"
#define T int32_t
#define NAME(x) x##_int32
#include "distributed/combine_type.h"
#define T int64_t
#define NAME(x) x##_int64
#include "distributed/combine_type.h"
#define T uint8_t
#define NAME(x) x##_uint8
#include "distributed/combine_type.h"

typedef void (*combine_fn)(const eddy_combining *x, void **parts, int64_t from, int64_t count,
                           void *out);

/* -------------------------------------------------------------- half types -- */

float eddy__half_to_float(eddy_dtype d, uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float    x;
    if (d == EDDY_FLOAT16) {
        const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
        if (rest < 0x400) {                         /* zero or subnormal */
            x = (float)rest * 0x1p-24f;
            return sign ? -x : x;
        }
        bits = sign | ((rest << 13) + (rest >= 0x7c00 ? 0x70000000u : 0x38000000u));
    }
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds to nearest, ties to even. */
uint16_t eddy__float_to_half(eddy_dtype d, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    const bool     nan = rest > 0x7f800000;
    if (d == EDDY_BFLOAT16)
        return (uint16_t)(nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    if (nan) return (uint16_t)(sign | 0x7e00);
    if (rest >= 0x477ff000) return (uint16_t)(sign | 0x7c00);       /* 65520 and above */
    if (rest < 0x38800000) {                                        /* below 2^-14 */
        float magnitude;
        memcpy(&magnitude, &rest, sizeof magnitude);
        magnitude += 0.5f;                  /* its last bit is then worth 2^-24 */
        uint32_t sum;
        memcpy(&sum, &magnitude, sizeof sum);
        return (uint16_t)(sign | (sum - 0x3f000000));
    }
    return (uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}

static bool is_half(eddy_dtype d) { return d == EDDY_FLOAT16 || d == EDDY_BFLOAT16; }

eddy_dtype eddy__sum_type(eddy_dtype d) { return is_half(d) ? EDDY_FLOAT32 : d; }

/* Parts of a half type, or a result: the other one may be float32. */
static void combine_half(const eddy_combining *x, void **parts, int64_t from, int64_t count,
                         void *out, float *work)
{
    /* As in a binary counter: level[i] is the result of as many parts as the i-th highest digit of
     * the number of parts so far is worth. */
    float *level[16];
    int    used = 0;
    for (int r = 0; r < x->n; r++) {
        float *to = work + (size_t)used * BLOCK;
        if (is_half(x->from))
            for (int64_t i = 0; i < count; i++)
                to[i] = eddy__half_to_float(x->from, ((const uint16_t *)parts[r])[from + i]);
        else memcpy(to, (const float *)parts[r] + from, (size_t)count * sizeof *to);
        level[used++] = to;
        for (int done = r + 1; used > 1 && (done % 2 == 0 || r == x->n - 1); done /= 2) {
            pair_float32(x->how, level[used - 2], level[used - 2], level[used - 1], count);
            used--;
        }
    }
    scale_float32(x->how, x->ranks, level[0], count);
    if (is_half(x->to))
        for (int64_t i = 0; i < count; i++)
            ((uint16_t *)out)[from + i] = eddy__float_to_half(x->to, level[0][i]);
    else memcpy((float *)out + from, level[0], (size_t)count * sizeof(float));
}

/* ------------------------------------------------------------------ types -- */

bool eddy__reduction_fits(eddy_reduction how, eddy_dtype d, char *why, size_t size)
{
    const bool mean = how == EDDY_REDUCE_MEAN, sum = how == EDDY_REDUCE_SUM;
    if (how != EDDY_REDUCE_MIN && how != EDDY_REDUCE_MAX && !mean && !sum)
        snprintf(why, size, "there is no reduction %d", (int)how);
    else if (d == EDDY_BOOL)
        snprintf(why, size, "elements of type bool cannot be reduced");
    else if (mean && !eddy_dtype_is_differentiable(d))
        snprintf(why, size, "the mean of %s; a floating or complex type expected",
                 eddy_dtype_name(d));
    else if (!mean && !sum && eddy_dtype_is_complex(d))
        snprintf(why, size, "%s has no order for min and max", eddy_dtype_name(d));
    else return true;
    return false;
}

static combine_fn function_of(eddy_dtype d)
{
    static const combine_fn functions[EDDY_DTYPES] = {
        [EDDY_FLOAT32] = combine_float32, [EDDY_FLOAT64] = combine_float64,
        [EDDY_INT32] = combine_int32, [EDDY_INT64] = combine_int64, [EDDY_UINT8] = combine_uint8,
        [EDDY_COMPLEX64] = combine_float32, [EDDY_COMPLEX128] = combine_float64,
    };
    return functions[d];
}

size_t eddy__combine_work(eddy_dtype d, int n)
{
    size_t levels = 2;
    while ((1 << levels) < 2 * n) levels++;
    return is_half(d) ? (levels + 1) * BLOCK * sizeof(float) : 0;
}

void eddy__combine(const eddy_combining *x, void **parts, int64_t count, void *out, void *work)
{
    const combine_fn combine = function_of(x->from);
    if (eddy_dtype_is_complex(x->from)) count *= 2;
    for (int64_t from = 0; from < count; from += BLOCK) {
        const int64_t m = count - from < BLOCK ? count - from : BLOCK;
        if (is_half(x->from) || is_half(x->to)) combine_half(x, parts, from, m, out, work);
        else combine(x, parts, from, m, out);
    }
}
