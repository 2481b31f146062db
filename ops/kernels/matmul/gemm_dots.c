/* gemm_dots.c -- tiles of the float32 matrix product (GEMM) for operands that are both contiguous
 * along the inner dimension: sixteen or eight inner products at a time. */
#include "ops/kernels/matmul/gemm_tiles.h"

#if defined(__x86_64__)
#include "ops/kernels/matmul/gemm_x86.h"

/* The sums of the elements of four vectors. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE __m128 four_sums(__m256 a, __m256 b, __m256 c, __m256 d)
{
    const __m256 all = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    return _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void put_sums(const eddy_gemm_tile *t, int row, int columns,
                                              __m128 sums)
{
    float *y = t->y + row * t->ldy, at[4];
    if (columns == 4) {
        _mm_storeu_ps(y, t->onto ? _mm_add_ps(_mm_loadu_ps(y), sums) : sums);
        return;
    }
    _mm_storeu_ps(at, sums);
    EDDY_UNROLLED
    for (int j = 0; j < columns; j++) y[j] = t->onto ? y[j] + at[j] : at[j];
}

EDDY_WITH_AVX512 EDDY_TILE_INLINE __m256 halves(__m512 x)
{
    return _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
}

/* One step of 16 elements along the inner dimension, without those that the mask excludes. */
EDDY_WITH_AVX512 EDDY_TILE_INLINE void step_avx512(const eddy_gemm_tile *t, int rows, int columns,
                                                   int64_t p, __mmask16 mask, __m512 sum[6][4])
{
    __m512 b[4];
    EDDY_UNROLLED
    for (int j = 0; j < columns; j++) b[j] = _mm512_maskz_loadu_ps(mask, t->v + j * t->v_step + p);
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        const __m512 a = _mm512_maskz_loadu_ps(mask, t->s + r * t->s_row + p);
        EDDY_UNROLLED
        for (int j = 0; j < columns; j++) sum[r][j] = _mm512_fmadd_ps(a, b[j], sum[r][j]);
    }
}

EDDY_WITH_AVX512 EDDY_TILE_INLINE void dots_avx512(const eddy_gemm_tile *t, int rows, int columns)
{
    const int64_t whole = t->k & ~(int64_t)15;
    const __m256  none = _mm256_setzero_ps();
    __m512        sum[6][4];
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        EDDY_UNROLLED
        for (int j = 0; j < columns; j++) sum[r][j] = _mm512_setzero_ps();
    for (int64_t p = 0; p < whole; p += 16) step_avx512(t, rows, columns, p, 0xffff, sum);
    if (whole < t->k)
        step_avx512(t, rows, columns, whole, (__mmask16)(0xffff >> (16 - (t->k - whole))), sum);
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        put_sums(t, r, columns, four_sums(halves(sum[r][0]),
                                          columns > 1 ? halves(sum[r][1]) : none,
                                          columns > 2 ? halves(sum[r][2]) : none,
                                          columns > 3 ? halves(sum[r][3]) : none));
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE __m256 load_places(const float *x, int places, __m256i mask)
{
    return places == 8 ? _mm256_loadu_ps(x) : _mm256_maskload_ps(x, mask);
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void step_avx2(const eddy_gemm_tile *t, int rows, int columns,
                                               int64_t p, int places, __m256 sum[3][4])
{
    const __m256i mask = eddy__first_of_8(places);
    __m256 a[3];
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) a[r] = load_places(t->s + r * t->s_row + p, places, mask);
    EDDY_UNROLLED
    for (int j = 0; j < columns; j++) {
        const __m256 b = load_places(t->v + j * t->v_step + p, places, mask);
        EDDY_UNROLLED
        for (int r = 0; r < rows; r++) sum[r][j] = _mm256_fmadd_ps(a[r], b, sum[r][j]);
    }
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void dots_avx2(const eddy_gemm_tile *t, int rows, int columns)
{
    const int64_t whole = t->k & ~(int64_t)7;
    const __m256  none = _mm256_setzero_ps();
    __m256        sum[3][4];
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        EDDY_UNROLLED
        for (int j = 0; j < columns; j++) sum[r][j] = _mm256_setzero_ps();
    for (int64_t p = 0; p < whole; p += 8) step_avx2(t, rows, columns, p, 8, sum);
    if (whole < t->k) step_avx2(t, rows, columns, whole, (int)(t->k - whole), sum);
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        put_sums(t, r, columns, four_sums(sum[r][0], columns > 1 ? sum[r][1] : none,
                                          columns > 2 ? sum[r][2] : none,
                                          columns > 3 ? sum[r][3] : none));
}

/* One function for each number of rows and columns. */
#define DOT(set, SET, rows, columns)                                            \
    SET static void set##_##rows##_##columns(const eddy_gemm_tile *t)                \
    {                                                                           \
        dots_##set(t, rows, columns);                                           \
    }
#define DOTS(set, SET, rows)                                                    \
    DOT(set, SET, rows, 1) DOT(set, SET, rows, 2) DOT(set, SET, rows, 3) DOT(set, SET, rows, 4)
#define NAMES(set, rows)                                                        \
    { set##_##rows##_1, set##_##rows##_2, set##_##rows##_3, set##_##rows##_4 }

DOTS(avx2, EDDY_WITH_AVX2, 1)
DOTS(avx2, EDDY_WITH_AVX2, 2)
DOTS(avx2, EDDY_WITH_AVX2, 3)
DOTS(avx512, EDDY_WITH_AVX512, 1)
DOTS(avx512, EDDY_WITH_AVX512, 2)
DOTS(avx512, EDDY_WITH_AVX512, 3)
DOTS(avx512, EDDY_WITH_AVX512, 4)
DOTS(avx512, EDDY_WITH_AVX512, 5)
DOTS(avx512, EDDY_WITH_AVX512, 6)

const eddy_gemm_dots eddy__gemm_dots_avx2 = {
    3, { NAMES(avx2, 1), NAMES(avx2, 2), NAMES(avx2, 3) }
};
const eddy_gemm_dots eddy__gemm_dots_avx512 = {
    6, { NAMES(avx512, 1), NAMES(avx512, 2), NAMES(avx512, 3), NAMES(avx512, 4),
         NAMES(avx512, 5), NAMES(avx512, 6) }
};

#else
typedef int eddy_gemm_dots_unused;         /* a translation unit must hold something */
#endif
