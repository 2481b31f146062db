/* conv_tiles_plain.c -- portable convolution tiles with vectors of 16 bytes, which every
 * processor has in some form; and the choice of the tiles for this processor. */
#include "graph/base/cpu.h"
#include "ops/kernels/convolution/conv_winograd.h"

#include <string.h>

#define TARGET

typedef float  floats __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));

EDDY_INLINE floats load_f32(const float *x)
{
    floats v;
    memcpy(&v, x, sizeof v);
    return v;
}
EDDY_INLINE floats load_some_f32(const float *x, int n)
{
    floats v = { 0 };
    memcpy(&v, x, (size_t)n * sizeof *x);
    return v;
}
EDDY_INLINE floats spread_f32(float x) { return (floats){ x, x, x, x }; }
EDDY_INLINE floats fma_f32(floats a, floats b, floats c) { return a * b + c; }
EDDY_INLINE void store_f32(float *y, floats v) { memcpy(y, &v, sizeof v); }
EDDY_INLINE void store_some_f32(float *y, floats v, int n)
{
    memcpy(y, &v, (size_t)n * sizeof *y);
}

EDDY_INLINE doubles load_f64(const double *x)
{
    doubles v;
    memcpy(&v, x, sizeof v);
    return v;
}
EDDY_INLINE doubles spread_f64(double x) { return (doubles){ x, x }; }
EDDY_INLINE doubles fma_f64(doubles a, doubles b, doubles c) { return a * b + c; }
EDDY_INLINE void store_f64(double *y, doubles v) { memcpy(y, &v, sizeof v); }
EDDY_INLINE void store_some_f64(double *y, doubles v, int n)
{
    memcpy(y, &v, (size_t)n * sizeof *y);
}

#define FN(name)  name##_f32
#define REAL      float
#define VECTOR    floats
#define LANES     4
#define MOST      6
#define MOST_ONE  8
#include "ops/kernels/convolution/conv_winograd_tiles.h"
#include "ops/kernels/convolution/conv_direct_tiles.h"

#define FN(name)  name##_f64
#define REAL      double
#define VECTOR    doubles
#define LANES     2
#define MOST      6
#define MOST_ONE  8
#include "ops/kernels/convolution/conv_direct_tiles.h"

const eddy_winograd_tiles eddy__winograd_plain = WINO_TILES;
const eddy_conv_tiles eddy__conv_plain_f32 = { 4, strip_f32, patch_f32, &eddy__winograd_plain };
const eddy_conv_tiles eddy__conv_plain_f64 = { 2, strip_f64, patch_f64, NULL };

const eddy_conv_tiles *eddy__conv_tiles_of(eddy_dtype d)
{
    const bool single = d == EDDY_FLOAT32;
#if defined(__x86_64__)
    const eddy_instructions best = eddy__instructions_used();
    if (d == EDDY_BFLOAT16) return &eddy__conv_avx512_pairs;
    if (best == EDDY_AVX512) return single ? &eddy__conv_avx512_f32 : &eddy__conv_avx512_f64;
    if (best == EDDY_AVX2 && __builtin_cpu_supports("fma"))
        return single ? &eddy__conv_avx2_f32 : &eddy__conv_avx2_f64;
#endif
    return single ? &eddy__conv_plain_f32 : &eddy__conv_plain_f64;
}
