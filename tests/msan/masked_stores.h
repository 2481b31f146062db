/* masked_stores.h -- a masked store that MemorySanitizer follows: clang 14 does not know what
 * _mm256_maskstore_ps writes. Included before the sources that call it. */
#ifndef EDDY_TESTS_MSAN_MASKED_STORES_H
#define EDDY_TESTS_MSAN_MASKED_STORES_H

#include <immintrin.h>

__attribute__((target("avx2"))) static inline void store_masked(float *at, __m256i mask, __m256 x)
{
    float     elements[8];
    const int set = _mm256_movemask_ps(_mm256_castsi256_ps(mask));
    _mm256_storeu_ps(elements, x);
    for (int i = 0; i < 8; i++)
        if (set >> i & 1) at[i] = elements[i];
}
#define _mm256_maskstore_ps store_masked

#endif
