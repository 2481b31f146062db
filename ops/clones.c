/* clones.c -- which instructions the processor has. */
#include "ops/clones.h"

#include <stdatomic.h>

static atomic_int limit = EDDY_AVX512;

void eddy_instructions_limit(eddy_instructions most)
{
    atomic_store_explicit(&limit, (int)most, memory_order_relaxed);
}

eddy_instructions eddy_instructions_used(void)
{
#if defined(__x86_64__)
    const int most = atomic_load_explicit(&limit, memory_order_relaxed);
    if (most >= EDDY_AVX512 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return EDDY_AVX512;
    if (most >= EDDY_AVX2 && __builtin_cpu_supports("avx2")) return EDDY_AVX2;
#endif
    return EDDY_BASELINE;
}
