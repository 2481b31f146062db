/* bfloat16_avx2.h -- conversions from and to bfloat16 by AVX2. Private to kernels for x86. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_BFLOAT16_AVX2_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_BFLOAT16_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define EDDY_WITH_BFLOAT16 __attribute__((target("avx2"))) static inline

/* The float32 of eight bfloat16. Both halves of the register get all eight, and one instruction
 * moves four of them to their places, which takes half the time of widening and shifting. */
EDDY_WITH_BFLOAT16 __m256i eddy__widened_8(const uint16_t *x)
{
    const __m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)x));
    const __m256i places = _mm256_setr_epi8(-1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7,
                                            -1, -1, 8, 9, -1, -1, 10, 11, -1, -1, 12, 13, -1, -1,
                                            14, 15);
    return _mm256_shuffle_epi8(twice, places);
}

/* Eight float32, rounded to bfloat16. */
EDDY_WITH_BFLOAT16 __m256i eddy__rounded_8(const float *x)
{
    const __m256  v = _mm256_loadu_ps(x);
    const __m256i bits = _mm256_castps_si256(v), one = _mm256_set1_epi32(1);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), one);
    const __m256i up = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256  nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    return _mm256_and_si256(_mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(up),
                                                                 _mm256_castsi256_ps(quiet), nan)),
                            _mm256_set1_epi32((int)0xffff0000u));
}

/* Rounds the 16 float32 of v and w, unless one of them is NaN. The upper halves are incremented if
 * the lower ones exceed 0x8000, or 0x7fff where the upper half is odd. */
EDDY_WITH_BFLOAT16 bool eddy__bfloat16_of_two(uint16_t *to, __m256 v, __m256 w)
{
    enum { IN_ORDER = 0xd8 };
    const __m256i a = _mm256_castps_si256(v), b = _mm256_castps_si256(w);
    const __m256i lower = _mm256_set1_epi32(0xffff);
    const __m256i high = _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
    const __m256i low = _mm256_packus_epi32(_mm256_and_si256(a, lower),
                                            _mm256_and_si256(b, lower));
    const __m256i even = _mm256_andnot_si256(high, _mm256_set1_epi16(1));
    const __m256i up = _mm256_srli_epi16(_mm256_subs_epu16(low, even), 15);
    if (_mm256_movemask_ps(_mm256_cmp_ps(v, w, _CMP_UNORD_Q))) return false;
    _mm256_storeu_si256((void *)to, _mm256_permute4x64_epi64(_mm256_add_epi16(high, up), IN_ORDER));
    return true;
}

EDDY_WITH_BFLOAT16 bool eddy__bfloat16_of_16(uint16_t *to, const float *x)
{
    return eddy__bfloat16_of_two(to, _mm256_loadu_ps(x), _mm256_loadu_ps(x + 8));
}

#endif
