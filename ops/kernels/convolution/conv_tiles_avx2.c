/* conv_tiles_avx2.c -- direct and Winograd convolution tiles with AVX2. */
#include "graph/base/cpu.h"
#include "ops/kernels/convolution/conv_winograd.h"

#include <string.h>

#if defined(__x86_64__)
#include "ops/kernels/elementwise/bfloat16_avx2.h"

#define TARGET __attribute__((target("avx2,fma")))

TARGET EDDY_INLINE __m256 load_f32(const float *x) { return _mm256_loadu_ps(x); }
TARGET EDDY_INLINE __m256 load_some_f32(const float *x, int n)
{
    __m256 v = _mm256_setzero_ps();
    memcpy(&v, x, (size_t)n * sizeof *x);
    return v;
}
TARGET EDDY_INLINE __m256 load_halves(const void *x, int64_t c, int some)
{
    const uint16_t *at = (const uint16_t *)x + c;
    uint16_t        first[8] = { 0 };
    if (some) at = memcpy(first, at, (size_t)some * sizeof *at);
    return _mm256_castsi256_ps(eddy__widened_8(at));
}
TARGET EDDY_INLINE __m256 spread_f32(float x) { return _mm256_set1_ps(x); }
TARGET EDDY_INLINE __m256 fma_f32(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
TARGET EDDY_INLINE void store_f32(float *y, __m256 v) { _mm256_storeu_ps(y, v); }
TARGET EDDY_INLINE void store_some_f32(float *y, __m256 v, int n)
{
    memcpy(y, &v, (size_t)n * sizeof *y);
}

TARGET EDDY_INLINE __m256d load_f64(const double *x) { return _mm256_loadu_pd(x); }
TARGET EDDY_INLINE __m256d spread_f64(double x) { return _mm256_set1_pd(x); }
TARGET EDDY_INLINE __m256d fma_f64(__m256d a, __m256d b, __m256d c)
{
    return _mm256_fmadd_pd(a, b, c);
}
TARGET EDDY_INLINE void store_f64(double *y, __m256d v) { _mm256_storeu_pd(y, v); }
TARGET EDDY_INLINE void store_some_f64(double *y, __m256d v, int n)
{
    memcpy(y, &v, (size_t)n * sizeof *y);
}

#define FN(name)  name##_f32
#define REAL      float
#define VECTOR    __m256
#define LANES     8
#define MOST      6
#define MOST_ONE  12
#define HALVES    load_halves
#include "ops/kernels/convolution/conv_winograd_tiles.h"
#include "ops/kernels/convolution/conv_direct_tiles.h"

#define FN(name)  name##_f64
#define REAL      double
#define VECTOR    __m256d
#define LANES     4
#define MOST      6
#define MOST_ONE  12
#include "ops/kernels/convolution/conv_direct_tiles.h"

const eddy_winograd_tiles eddy__winograd_avx2 = WINO_TILES;
const eddy_conv_tiles eddy__conv_avx2_f32 = { 8, strip_f32, patch_f32, &eddy__winograd_avx2 };
const eddy_conv_tiles eddy__conv_avx2_f64 = { 4, strip_f64, patch_f64, NULL };
#endif
