/* transpose_tiles_32.c -- blocked transpose of 4-byte elements, in squares of whole cache lines;
 * other sizes are in box_copy_loops.h.
 *
 * Squares of 8 by 8 are transposed in registers and collected in a square of 16 by 16, so that
 * each cache line of either side is accessed once, however far apart the lines are. */
#include "ops/kernels/arrays/transpose_tiles_32.h"
#include "graph/base/cpu.h"

#include <string.h>

enum { SIDE = EDDY_TILE_SIDE, AREA = 4 * SIDE };

typedef uint32_t __attribute__((may_alias)) element;

EDDY_INLINE void square_plain(element *y, const element *x, int64_t to, int64_t from)
{
    uint32_t t[SIDE][SIDE];
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) t[i][j] = x[j * from + i];
    for (int i = 0; i < SIDE; i++) memcpy(y + i * to, t[i], sizeof t[i]);
}

#if defined(__x86_64__)
#include <immintrin.h>

typedef struct rows8 { __m256 at[8]; } rows8;

/* Rows k and k + 4 of the left half side by side, then those of the right half. */
EDDY_INLINE EDDY_TARGET_AVX2 rows8 load_halves(const float *x, int64_t from)
{
    rows8 r;
    for (int k = 0; k < 4; k++) {
        const float *upper = x + k * from, *lower = x + (k + 4) * from;
        for (int half = 0; half < 2; half++)
            r.at[4 * half + k] = _mm256_insertf128_ps(
                _mm256_castps128_ps256(_mm_loadu_ps(upper + 4 * half)),
                _mm_loadu_ps(lower + 4 * half), 1);
    }
    return r;
}

/* Four rows of two squares of 4 by 4 each, transposed. */
EDDY_INLINE EDDY_TARGET_AVX2 void transpose(__m256 *r)
{
    const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
    const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
    r[0] = _mm256_shuffle_ps(a, c, 0x44);
    r[1] = _mm256_shuffle_ps(a, c, 0xee);
    r[2] = _mm256_shuffle_ps(b, d, 0x44);
    r[3] = _mm256_shuffle_ps(b, d, 0xee);
}

EDDY_INLINE EDDY_TARGET_AVX2 void square_avx2(element *y, const element *x, int64_t to,
                                              int64_t from)
{
    float t[SIDE][SIDE] __attribute__((aligned(32)));
    for (int j = 0; j < SIDE; j += 8)
        for (int i = 0; i < SIDE; i += 8) {
            rows8 r = load_halves((const float *)(const void *)(x + j * from + i), from);
            transpose(r.at);
            transpose(r.at + 4);
            for (int k = 0; k < 8; k++) _mm256_store_ps(&t[i + k][j], r.at[k]);
        }
    for (int i = 0; i < SIDE; i++) memcpy(y + i * to, t[i], sizeof t[i]);
}
#endif

typedef void square_fn(element *y, const element *x, int64_t to, int64_t from);

/* Transposes one area at a time, so that few pages are in use. */
EDDY_INLINE void areas(square_fn *square, element *y, const element *x, int64_t rows, int64_t n,
                       int64_t to, int64_t from)
{
    for (int64_t i0 = 0; i0 < rows; i0 += AREA)
        for (int64_t j0 = 0; j0 < n; j0 += AREA)
            for (int64_t i = i0; i < rows && i < i0 + AREA; i += SIDE)
                for (int64_t j = j0; j < n && j < j0 + AREA; j += SIDE)
                    square(y + i * to + j, x + j * from + i, to, from);
}

#if defined(__x86_64__)
EDDY_TARGET_AVX2 static void transpose_avx2(element *y, const element *x, int64_t rows, int64_t n,
                                            int64_t to, int64_t from)
{
    areas(square_avx2, y, x, rows, n, to, from);
}
#endif

void eddy__transpose_32(uint32_t *y, const uint32_t *x, int64_t rows, int64_t n, int64_t to,
                        int64_t from)
{
#if defined(__x86_64__)
    if (eddy__instructions_used() >= EDDY_AVX2) {
        transpose_avx2(y, x, rows, n, to, from);
        return;
    }
#endif
    areas(square_plain, y, x, rows, n, to, from);
}
