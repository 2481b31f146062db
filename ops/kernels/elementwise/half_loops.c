/* half_loops.c -- see half_loops.h. Relu and its gradient do not round, and bfloat16 of one sign
 * are ordered as integers; vectors with infinities or NaN are left to float32. Sums are rounded
 * in registers. */
#include "ops/kernels/elementwise/half_loops.h"
#include "graph/base/half.h"

#if defined(__x86_64__)
#include "ops/kernels/elementwise/bfloat16_avx2.h"

#define WITH_AVX2 __attribute__((target("avx2")))

enum { LANES = 16, LARGEST = 0x7f7f };

/* Not inlined, so that the loops over few elements are not made into vector loops. */
WITH_AVX2 static __attribute__((noinline)) uint16_t relu_of(uint16_t x)
{
    const float v = eddy__f32_of_bf16(x);
    return eddy__bf16_of_f32(v < 0 ? 0 : v);
}

WITH_AVX2 static __attribute__((noinline)) uint16_t relu_grad_of(uint16_t dy, uint16_t y)
{
    return eddy__bf16_of_f32(eddy__f32_of_bf16(dy) * (eddy__f32_of_bf16(y) > 0));
}

WITH_AVX2 static void few_relu(int64_t n, uint16_t *y, const uint16_t *x)
{
    for (int64_t i = 0; i < n; i++) y[i] = relu_of(x[i]);
}

WITH_AVX2 static void few_relu_grad(int64_t n, uint16_t *dx, const uint16_t *dy, const uint16_t *y)
{
    for (int64_t i = 0; i < n; i++) dx[i] = relu_grad_of(dy[i], y[i]);
}

WITH_AVX2 static inline __m256i load(const uint16_t *x)
{
    return _mm256_loadu_si256((const void *)x);
}

WITH_AVX2 static inline __m256i size_of(__m256i x)
{
    return _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
}

WITH_AVX2 static inline bool is_finite(__m256i size)
{
    return !_mm256_movemask_epi8(_mm256_cmpgt_epi16(size, _mm256_set1_epi16(LARGEST)));
}

/* -0 stays, as in float32. */
WITH_AVX2 static eddy_status relu(int64_t n, void *y_, const void *const *x_, const void *attrs)
{
    const uint16_t *x = x_[0];
    uint16_t       *y = y_;
    const __m256i   zero = _mm256_setzero_si256();
    int64_t         i = 0;
    (void)attrs;
    for (; i + LANES <= n; i += LANES) {
        const __m256i v = load(x + i), size = size_of(v);
        const __m256i below = _mm256_and_si256(_mm256_cmpgt_epi16(zero, v),
                                               _mm256_cmpgt_epi16(size, zero));
        if (is_finite(size)) _mm256_storeu_si256((void *)(y + i), _mm256_andnot_si256(below, v));
        else few_relu(LANES, y + i, x + i);
    }
    few_relu(n - i, y + i, x + i);
    return EDDY_OK;
}

/* A product with 0 keeps the sign. */
WITH_AVX2 static eddy_status relu_grad(int64_t n, void *dx_, const void *const *x_,
                                       const void *attrs)
{
    const uint16_t *dy = x_[0], *y = x_[1];
    uint16_t       *dx = dx_;
    int64_t         i = 0;
    (void)attrs;
    for (; i + LANES <= n; i += LANES) {
        const __m256i a = load(dy + i), b = load(y + i), size = size_of(a);
        const __m256i some = _mm256_cmpgt_epi16(b, _mm256_setzero_si256());
        if (is_finite(_mm256_max_epi16(size, size_of(b))))
            _mm256_storeu_si256((void *)(dx + i),
                                _mm256_andnot_si256(_mm256_andnot_si256(some, size), a));
        else few_relu_grad(LANES, dx + i, dy + i, y + i);
    }
    few_relu_grad(n - i, dx + i, dy + i, y + i);
    return EDDY_OK;
}

WITH_AVX2 static __attribute__((noinline)) uint16_t sum_of(uint16_t a, uint16_t b)
{
    return eddy__bf16_of_f32(eddy__f32_of_bf16(a) + eddy__f32_of_bf16(b));
}

WITH_AVX2 static void few_add(int64_t n, uint16_t *y, const uint16_t *a, const uint16_t *b)
{
    for (int64_t i = 0; i < n; i++) y[i] = sum_of(a[i], b[i]);
}

WITH_AVX2 static inline __m256 sum_8(const uint16_t *a, const uint16_t *b)
{
    return _mm256_add_ps(_mm256_castsi256_ps(eddy__widened_8(a)),
                         _mm256_castsi256_ps(eddy__widened_8(b)));
}

WITH_AVX2 static eddy_status add(int64_t n, void *y_, const void *const *x_, const void *attrs)
{
    const uint16_t *a = x_[0], *b = x_[1];
    uint16_t       *y = y_;
    int64_t         i = 0;
    (void)attrs;
    for (; i + LANES <= n; i += LANES)
        if (!eddy__bfloat16_of_two(y + i, sum_8(a + i, b + i), sum_8(a + i + 8, b + i + 8)))
            few_add(LANES, y + i, a + i, b + i);
    few_add(n - i, y + i, a + i, b + i);
    return EDDY_OK;
}

eddy_tile_fn eddy__half_relu(void) { return relu; }
eddy_tile_fn eddy__half_relu_grad(void) { return relu_grad; }
eddy_tile_fn eddy__half_add(void) { return add; }

#else

eddy_tile_fn eddy__half_relu(void) { return NULL; }
eddy_tile_fn eddy__half_relu_grad(void) { return NULL; }
eddy_tile_fn eddy__half_add(void) { return NULL; }

#endif
