/* half_casts.c -- inner loops that convert between float32 and the 16-bit types. All instruction
 * sets give the same bits. */
#include "ops/kernels/elementwise/half_casts.h"
#include "graph/base/cpu.h"
#include "graph/base/element_types.h"
#include "graph/base/half.h"

#define CONVERSION(name, from, to, value)                                       \
    static eddy_status name(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        const from *a = x[0];                                                   \
        to         *b = y;                                                      \
        (void)attrs;                                                            \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) b[i] = value(a[i]);                     \
        return EDDY_OK;                                                         \
    }

#define BOTH_WAYS(half, ...)                                                    \
    CONVERSION(to_f32_##half, uint16_t, float, eddy__f32_of_##half)             \
    CONVERSION(of_f32_##half, float, uint16_t, eddy__##half##_of_f32)
FOR_HALVES(BOTH_WAYS, 0)
EDDY_CLONES(to_f32_f16)
#if defined(__x86_64__)
/* Not inlined where it converts the rest. */
static __attribute__((noinline)) eddy_status to_f32_bf16_avx2(int64_t n, void *y,
                                                              const void *const *x,
                                                              const void *attrs);
#endif
EDDY_CLONES(to_f32_bf16)
EDDY_CLONES(of_f32_f16)
EDDY_NO_CLONES(of_f32_bf16)

/* to_f32 of of_f32. */
static __attribute__((noinline)) eddy_status round_f32(int64_t n, void *y,
                                                       const void *const *x, const void *attrs)
{
    const float *a = x[0];
    float       *b = y;
    (void)attrs;
    for (int64_t i = 0; i < n; i++) b[i] = eddy__f32_of_bf16(eddy__bf16_of_f32(a[i]));
    return EDDY_OK;
}

#if defined(__x86_64__)
#include "ops/kernels/elementwise/bfloat16_avx2.h"

__attribute__((target("avx2")))
static eddy_status widen_by_avx2(int64_t n, void *y, const void *const *x, const void *attrs)
{
    enum { LANES = 8 };
    const uint16_t *a = x[0];
    float          *b = y;
    int64_t         i = 0;
    for (; i + LANES <= n; i += LANES) _mm256_storeu_si256((void *)(b + i), eddy__widened_8(a + i));
    return i < n ? to_f32_bf16_avx2(n - i, b + i, (const void *[]){ a + i }, attrs) : EDDY_OK;
}

/* The elements that the vector loops leave, one by one. A function without AVX2 would wait for the
 * upper halves of registers. */
__attribute__((target("avx2"), noinline)) static uint16_t narrow_one(float x)
{
    return eddy__bf16_of_f32(x);
}

__attribute__((target("avx2"), noinline))
static void narrow_few(int64_t n, uint16_t *to, const float *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = narrow_one(from[i]);
}

__attribute__((target("avx2")))
static eddy_status narrow_by_avx2(int64_t n, void *y, const void *const *x, const void *attrs)
{
    enum { LANES = 16 };
    const float *a = x[0];
    uint16_t    *b = y;
    int64_t      i = 0;
    for (; i + LANES <= n; i += LANES)
        if (!eddy__bfloat16_of_16(b + i, a + i))
            narrow_few(LANES, b + i, a + i);
    if (i < n) narrow_few(n - i, b + i, a + i);
    (void)attrs;
    return EDDY_OK;
}

__attribute__((target("avx2")))
static eddy_status round_by_avx2(int64_t n, void *y, const void *const *x, const void *attrs)
{
    enum { LANES = 8 };
    const float *a = x[0];
    float       *b = y;
    int64_t      i = 0;
    for (; i + LANES <= n; i += LANES) _mm256_storeu_si256((void *)(b + i), eddy__rounded_8(a + i));
    return round_f32(n - i, b + i, (const void *[]){ a + i }, attrs);
}

/* By AVX-512 BF16, in less than half the time. The instruction takes denormal numbers for 0, so
 * vectors with such numbers are converted by the loop. */
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16")))
static eddy_status narrow_by_avx512(int64_t n, void *y, const void *const *x, const void *attrs)
{
    enum { LANES = 16, LEAST_NORMAL = 0x00800000 };
    const float  *a = x[0];
    uint16_t     *b = y;
    const __m512i all = _mm512_set1_epi32(0x7fffffff), least = _mm512_set1_epi32(LEAST_NORMAL);
    int64_t       i = 0;
    for (; i + LANES <= n; i += LANES) {
        const __m512    v = _mm512_loadu_ps(a + i);
        const __m512i   size = _mm512_and_si512(_mm512_castps_si512(v), all);
        const __mmask16 some = _mm512_test_epi32_mask(size, size);
        if (_mm512_mask_cmplt_epu32_mask(some, size, least) == 0)
            _mm256_storeu_si256((void *)(b + i), (__m256i)_mm512_cvtneps_pbh(v));
        else narrow_few(LANES, b + i, a + i);
    }
    if (i < n) narrow_few(n - i, b + i, a + i);
    (void)attrs;
    return EDDY_OK;
}
#endif

#define BEST(half, name) case EDDY_COLUMN(DTYPE, half): return EDDY_BEST(name##_##half);

bool eddy__dtype_is_half(eddy_dtype d) { return eddy__half_to_f32(d) != NULL; }

eddy_tile_fn eddy__half_to_f32(eddy_dtype half)
{
#if defined(__x86_64__)
    if (half == EDDY_BFLOAT16 && eddy__instructions_used() == EDDY_AVX2) return widen_by_avx2;
#endif
    switch ((int)half) { FOR_HALVES(BEST, to_f32) }
    return NULL;
}

eddy_tile_fn eddy__f32_to_half(eddy_dtype half)
{
#if defined(__x86_64__)
    if (half == EDDY_BFLOAT16 && eddy__instructions_used() == EDDY_AVX512 &&
        __builtin_cpu_supports("avx512bf16"))
        return narrow_by_avx512;
    if (half == EDDY_BFLOAT16 && eddy__instructions_used() >= EDDY_AVX2) return narrow_by_avx2;
#endif
    switch ((int)half) { FOR_HALVES(BEST, of_f32) }
    return NULL;
}

eddy_tile_fn eddy__f32_rounded_to_bfloat16(void)
{
#if defined(__x86_64__)
    if (eddy__instructions_used() >= EDDY_AVX2) return round_by_avx2;
#endif
    return round_f32;
}
