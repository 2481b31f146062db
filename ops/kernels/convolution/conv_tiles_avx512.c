/* conv_tiles_avx512.c -- direct and Winograd convolution tiles with AVX-512. */
#include "graph/base/cpu.h"
#include "ops/kernels/convolution/conv_winograd.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))

TARGET EDDY_INLINE __m512 load_f32(const float *x) { return _mm512_loadu_ps(x); }
TARGET EDDY_INLINE __m512 load_some_f32(const float *x, int n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), x);
}
TARGET EDDY_INLINE __m512 spread_f32(float x) { return _mm512_set1_ps(x); }
TARGET EDDY_INLINE __m512 fma_f32(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
TARGET EDDY_INLINE void store_f32(float *y, __m512 v) { _mm512_storeu_ps(y, v); }
TARGET EDDY_INLINE void store_some_f32(float *y, __m512 v, int n)
{
    _mm512_mask_storeu_ps(y, (__mmask16)((1u << n) - 1), v);
}

TARGET EDDY_INLINE __m512d load_f64(const double *x) { return _mm512_loadu_pd(x); }
TARGET EDDY_INLINE __m512d spread_f64(double x) { return _mm512_set1_pd(x); }
TARGET EDDY_INLINE __m512d fma_f64(__m512d a, __m512d b, __m512d c)
{
    return _mm512_fmadd_pd(a, b, c);
}
TARGET EDDY_INLINE void store_f64(double *y, __m512d v) { _mm512_storeu_pd(y, v); }
TARGET EDDY_INLINE void store_some_f64(double *y, __m512d v, int n)
{
    _mm512_mask_storeu_pd(y, (__mmask8)((1u << n) - 1), v);
}

#define FN(name)  name##_f32
#define REAL      float
#define VECTOR    __m512
#define LANES     16
#define MOST      14
#define MOST_ONE  8
#include "ops/kernels/convolution/conv_winograd_tiles.h"
#include "ops/kernels/convolution/conv_direct_tiles.h"

#define FN(name)  name##_f64
#define REAL      double
#define VECTOR    __m512d
#define LANES     8
#define MOST      8
#define MOST_ONE  8
#include "ops/kernels/convolution/conv_direct_tiles.h"

const eddy_winograd_tiles eddy__winograd_avx512 = WINO_TILES;
const eddy_conv_tiles eddy__conv_avx512_f32 = { 16, strip_f32, patch_f32, &eddy__winograd_avx512 };
const eddy_conv_tiles eddy__conv_avx512_f64 = { 8, strip_f64, patch_f64, NULL };
#endif
