/* bfloat16_rounding.h -- rounding to bfloat16 by AVX2. Private to kernels for x86. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_BFLOAT16_ROUNDING_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_BFLOAT16_ROUNDING_H

#include <immintrin.h>

/* A bfloat16 in the upper half of each element. The compiler selects among 16-bit values, which
 * takes twice the instructions. */
__attribute__((target("avx2"))) static inline __m256i eddy__bfloat16_of_8(const float *x)
{
    const __m256  v = _mm256_loadu_ps(x);
    const __m256i bits = _mm256_castps_si256(v), one = _mm256_set1_epi32(1);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256  nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(up), _mm256_castsi256_ps(quiet), nan));
}

#endif
