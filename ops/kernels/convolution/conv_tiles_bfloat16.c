/* conv_tiles_bfloat16.c -- tiles of the direct convolution for pairs of bfloat16, by AVX-512 BF16.
 * Each float of x and w stands for two elements that are neighbors along the channels of x. */
#include "graph/base/cpu.h"
#include "ops/kernels/convolution/conv_direct.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")))

TARGET EDDY_INLINE __m512 load_pairs(const float *x) { return _mm512_loadu_ps(x); }
TARGET EDDY_INLINE __m512 spread_pairs(float x) { return _mm512_set1_ps(x); }
TARGET EDDY_INLINE __m512 fma_pairs(__m512 a, __m512 b, __m512 c)
{
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}
TARGET EDDY_INLINE void store_pairs(float *y, __m512 v) { _mm512_storeu_ps(y, v); }
TARGET EDDY_INLINE void store_some_pairs(float *y, __m512 v, int n)
{
    _mm512_mask_storeu_ps(y, (__mmask16)((1u << n) - 1), v);
}

#define STRIPS_ONLY
#define FN(name)  name##_pairs
#define REAL      float
#define VECTOR    __m512
#define LANES     16
#define MOST      14
#define MOST_ONE  8
#include "ops/kernels/convolution/conv_direct_tiles.h"

const eddy_conv_tiles eddy__conv_avx512_pairs = { 16, strip_pairs, NULL, NULL };
#endif
