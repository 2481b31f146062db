/* cpu.c -- CPU feature detection: the instruction set in use is the best that the processor
 * supports, up to a limit. */
#include "graph/base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_READ = -1, UNKNOWN = -2 };
static atomic_int limit = NOT_READ;

static int named(const char *set)
{
    static const char *const names[] = { "baseline", "avx2", "avx512" };
    for (int i = EDDY_BASELINE; i <= EDDY_AVX512; i++)
        if (strcmp(set, names[i]) == 0) return i;
    return UNKNOWN;
}

static int read_environment(void)
{
    const char *asked = getenv("EDDY_CPU");
    return asked && *asked ? named(asked) : EDDY_AVX512;
}

static int limit_now(void)
{
    int most = atomic_load_explicit(&limit, memory_order_relaxed);
    if (most != NOT_READ) return most;
    const int read = read_environment();
    /* Another thread may have set it meanwhile. */
    return atomic_compare_exchange_strong(&limit, &most, read) ? read : most;
}

void eddy__instructions_limit(eddy_instructions most)
{
    atomic_store_explicit(&limit, (int)most, memory_order_relaxed);
}

bool eddy_limit_instructions(const char *set)
{
    const int most = set ? named(set) : NOT_READ;
    if (most != UNKNOWN) atomic_store_explicit(&limit, most, memory_order_relaxed);
    return most != UNKNOWN;
}

bool eddy__instructions_are_known(void) { return limit_now() != UNKNOWN; }

eddy_instructions eddy__instructions_used(void)
{
#if defined(__x86_64__)
    const int most = limit_now();
    if (most >= EDDY_AVX512 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        return EDDY_AVX512;
    if (most >= EDDY_AVX2 && __builtin_cpu_supports("avx2")) return EDDY_AVX2;
#endif
    return EDDY_BASELINE;
}
