/* bfloat16_pairs.c -- see bfloat16_pairs.h. Apart from the kernels, so that the compiler of plans
 * does not link them. */
#include "ops/kernels/bfloat16_pairs.h"
#include "graph/base/cpu.h"

static bool has_instructions(void)
{
#if defined(__x86_64__)
    return eddy__instructions_used() == EDDY_AVX512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

bool eddy__product_has_pairs(int64_t m, int64_t n, int64_t k)
{
    return m > 1 && n > 1 && k > 0 && k % 2 == 0 && has_instructions();
}

/* As eddy__gemm_tiles_used(). Columns are packed for the whole inner size, so it has a bound. */
bool eddy__product_widens(int64_t m, int64_t n, int64_t k)
{
#if defined(__x86_64__)
    enum { MOST = 32 * 1024 };
    return m > 1 && n > 1 && k > 0 && k <= MOST && !eddy__product_has_pairs(m, n, k) &&
           eddy__instructions_used() >= EDDY_AVX2 && __builtin_cpu_supports("fma");
#else
    return (void)m, (void)n, (void)k, false;
#endif
}

bool eddy__conv_has_pairs(int64_t channels)
{
    return channels > 0 && channels % 2 == 0 && has_instructions();
}

/* As eddy__conv_tiles_of(): the transforms of these tiles alone load bfloat16. Normalizations and
 * relu then do, too, so that no casts remain between them. */
bool eddy__kernels_widen(void)
{
#if defined(__x86_64__)
    return eddy__instructions_used() == EDDY_AVX2 && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}
