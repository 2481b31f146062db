/* gemm_x86.h -- definitions shared by the GEMM tiles for x86. */
#ifndef EDDY_OPS_KERNELS_MATMUL_GEMM_X86_H
#define EDDY_OPS_KERNELS_MATMUL_GEMM_X86_H

#include <immintrin.h>

#define EDDY_WITH_AVX2   __attribute__((target("avx2,fma")))
#define EDDY_WITH_AVX512 __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#define EDDY_WITH_BF16 \
    __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")))
#define EDDY_TILE_INLINE static inline __attribute__((always_inline))
/* Unrolls a loop, so that its array is kept in registers. */
#if defined(__clang__)
#define EDDY_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define EDDY_UNROLLED _Pragma("GCC unroll 16")
#endif

/* The mask of the first n of eight. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE __m256i eddy__first_of_8(int n)
{
    static const int32_t ones[16] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    return _mm256_loadu_si256((const void *)(ones + 8 - n));
}

#endif
