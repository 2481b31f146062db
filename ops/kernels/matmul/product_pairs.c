/* product_pairs.c -- whether products of bfloat16 matrices are computed without casts. A file of its
 * own, so that a compiler of plans links no product. */
#include "ops/kernels/matmul/matmul_threads.h"
#include "graph/base/cpu.h"

bool eddy__product_has_pairs(int64_t m, int64_t n, int64_t k)
{
#if defined(__x86_64__)
    return eddy__instructions_used() == EDDY_AVX512 && __builtin_cpu_supports("avx512bf16") &&
           m > 1 && n > 1 && k > 0 && k % 2 == 0;
#else
    (void)m, (void)n, (void)k;
    return false;
#endif
}
