/* quantized_tiles.c -- tiles of products with 8-bit weights for AVX-512 VNNI, for AVX2 and in plain
 * C. */
#include "ops/kernels/matmul/quantized_tiles.h"

#include "graph/base/cpu.h"

#include <string.h>

/* ------------------------------------------------------------------- plain -- */

enum { PLAIN_COLUMNS = 16 };            /* and of AVX2 */

/* Subtracting 128 from a byte changes its highest bit. */
static void join_panel(uint8_t *to, const uint8_t *a, const uint8_t *b, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        to[2 * j] = a[j] ^ EDDY_WEIGHT_ZERO;
        to[2 * j + 1] = b[j] ^ EDDY_WEIGHT_ZERO;
    }
    if (n < PLAIN_COLUMNS) memset(to + 2 * n, 0, (size_t)(2 * (PLAIN_COLUMNS - n)));
}

static void join_pairs(uint8_t *to, int64_t step, const uint8_t *const *rows, int64_t n)
{
    for (int64_t c = 0; c < n; c += PLAIN_COLUMNS, to += step)
        join_panel(to, rows[0] + c, rows[1] + c, n - c < PLAIN_COLUMNS ? n - c : PLAIN_COLUMNS);
}

static void tile_plain(const eddy_quantized_tile *t)
{
    int32_t sum[PLAIN_COLUMNS] = { 0 };
    for (int64_t q = 0; q < t->words; q++) {
        const int16_t *a = (const int16_t *)(const void *)(t->s + q);
        const int8_t  *v = (const int8_t *)t->v + 2 * q * PLAIN_COLUMNS;
        for (int j = 0; j < PLAIN_COLUMNS; j++) sum[j] += a[0] * v[2 * j] + a[1] * v[2 * j + 1];
    }
    for (int j = 0; j < t->columns; j++) {
        const float y = (float)sum[j] * (t->row_scales[0] * t->scales[j]);
        t->y[j] = t->onto ? t->y[j] + y : y;
    }
}

static const eddy_quantized_tiles plain_tiles = { 1, 2, PLAIN_COLUMNS, join_pairs,
                                                  { tile_plain } };

#if defined(__x86_64__)
#include "ops/kernels/matmul/gemm_x86.h"

#define WITH_VNNI                                                               \
    __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512vnni")))

/* The compiler would move the rows of a tile apart and spill their sums. */
#define EDDY_KEPT_IN_REGISTERS(place, sum) __asm__ volatile("" : place((sum)[0]), place((sum)[1]))

/* Rows in groups of three, as in gemm_tiles.c. */
enum { VNNI_ROWS = 12, VNNI_COLUMNS = 32, AVX2_ROWS = 6 };

EDDY_WITH_AVX2 static void join_pairs_avx2(uint8_t *to, int64_t step, const uint8_t *const *rows,
                                           int64_t n)
{
    const __m128i zero = _mm_set1_epi8((char)EDDY_WEIGHT_ZERO);
    int64_t       c = 0;
    for (; c + PLAIN_COLUMNS <= n; c += PLAIN_COLUMNS, to += step) {
        const __m128i a = _mm_xor_si128(_mm_loadu_si128((const void *)(rows[0] + c)), zero);
        const __m128i b = _mm_xor_si128(_mm_loadu_si128((const void *)(rows[1] + c)), zero);
        _mm_storeu_si128((void *)to, _mm_unpacklo_epi8(a, b));
        _mm_storeu_si128((void *)(to + 16), _mm_unpackhi_epi8(a, b));
    }
    if (c < n) join_panel(to, rows[0] + c, rows[1] + c, n - c);
}

/* The interleaving instructions work within 128 bits, so the 32-bit parts of a row are transposed
 * first: then each of the results has 16 columns in order. */
WITH_VNNI static void join_fours(uint8_t *to, int64_t step, const uint8_t *const *rows, int64_t n)
{
    const __m512i turned = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    for (int64_t c = 0; c < n; c += 64, to += 2 * step) {
        const __mmask64 some = n - c < 64 ? ~(uint64_t)0 >> (64 - (n - c)) : ~(uint64_t)0;
        __m512i         r[4];
        EDDY_UNROLLED
        for (int i = 0; i < 4; i++)
            r[i] = _mm512_permutexvar_epi32(turned, _mm512_maskz_loadu_epi8(some, rows[i] + c));
        const __m512i ab = _mm512_unpacklo_epi8(r[0], r[1]), cd = _mm512_unpacklo_epi8(r[2], r[3]);
        _mm512_storeu_si512(to, _mm512_unpacklo_epi16(ab, cd));
        _mm512_storeu_si512(to + 64, _mm512_unpackhi_epi16(ab, cd));
        if (n - c <= VNNI_COLUMNS) return;
        const __m512i ef = _mm512_unpackhi_epi8(r[0], r[1]), gh = _mm512_unpackhi_epi8(r[2], r[3]);
        _mm512_storeu_si512(to + step, _mm512_unpacklo_epi16(ef, gh));
        _mm512_storeu_si512(to + step + 64, _mm512_unpackhi_epi16(ef, gh));
    }
}

WITH_VNNI EDDY_TILE_INLINE void finish_vnni(const eddy_quantized_tile *t, int r, int j, __m512i sum)
{
    const int       left = t->columns - 16 * j;
    const __mmask16 some = (__mmask16)(left >= 16 ? 0xffff : left > 0 ? 0xffff >> (16 - left) : 0);
    float          *at = t->y + r * t->ldy + 16 * j;
    const __m512    scale = _mm512_mul_ps(_mm512_set1_ps(t->row_scales[r * t->row_step]),
                                          _mm512_maskz_loadu_ps(some, t->scales + 16 * j));
    __m512          y = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale);
    if (t->onto) y = _mm512_add_ps(_mm512_maskz_loadu_ps(some, at), y);
    _mm512_mask_storeu_ps(at, some, y);
}

/* The unsigned weights are w + 128, so 128 times the sum of the row is too much. */
WITH_VNNI EDDY_TILE_INLINE void tile_vnni(const eddy_quantized_tile *t, int rows)
{
    const int32_t *s[VNNI_ROWS / 3];
    const uint8_t *v = t->v;
    const int64_t  s_row = t->s_row;
    __m512i        sum[VNNI_ROWS][2];
    EDDY_UNROLLED
    for (int g = 0; g < VNNI_ROWS / 3; g++) s[g] = t->s + 3 * g * s_row;
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        sum[r][0] = sum[r][1] =
            _mm512_set1_epi32(-EDDY_WEIGHT_ZERO * t->row_sums[r * t->row_step]);
    for (int64_t q = 0; q < t->words; q++, v += 4 * VNNI_COLUMNS) {
        const __m512i b0 = _mm512_loadu_si512(v), b1 = _mm512_loadu_si512(v + 64);
        EDDY_UNROLLED
        for (int r = 0; r < rows; r++) {
            const __m512i a = _mm512_set1_epi32(s[r / 3][r % 3 * s_row + q]);
            sum[r][0] = _mm512_dpbusd_epi32(sum[r][0], b0, a);
            sum[r][1] = _mm512_dpbusd_epi32(sum[r][1], b1, a);
            EDDY_KEPT_IN_REGISTERS("+v", sum[r]);
        }
    }
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        finish_vnni(t, r, 0, sum[r][0]);
        finish_vnni(t, r, 1, sum[r][1]);
    }
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void finish_avx2(const eddy_quantized_tile *t, int r, int j,
                                                 __m256i sum)
{
    const int     left = t->columns - 8 * j;
    const __m256i some = eddy__first_of_8(left >= 8 ? 8 : left > 0 ? left : 0);
    float        *at = t->y + r * t->ldy + 8 * j;
    const __m256  scale = _mm256_mul_ps(_mm256_set1_ps(t->row_scales[r * t->row_step]),
                                        _mm256_maskload_ps(t->scales + 8 * j, some));
    __m256        y = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale);
    if (t->onto) y = _mm256_add_ps(_mm256_maskload_ps(at, some), y);
    _mm256_maskstore_ps(at, some, y);
}

/* vpmaddubsw, which takes bytes, would saturate its sums of two products at 16 bits. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE void tile_avx2(const eddy_quantized_tile *t, int rows)
{
    const int32_t *s[AVX2_ROWS / 3];
    const uint8_t *v = t->v;
    const int64_t  s_row = t->s_row;
    __m256i        sum[AVX2_ROWS][2];
    EDDY_UNROLLED
    for (int g = 0; g < AVX2_ROWS / 3; g++) s[g] = t->s + 3 * g * s_row;
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    for (int64_t q = 0; q < t->words; q++, v += 2 * PLAIN_COLUMNS) {
        const __m256i b0 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)v));
        const __m256i b1 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)(v + 16)));
        EDDY_UNROLLED
        for (int r = 0; r < rows; r++) {
            const __m256i a = _mm256_set1_epi32(s[r / 3][r % 3 * s_row + q]);
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(a, b0));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(a, b1));
            EDDY_KEPT_IN_REGISTERS("+x", sum[r]);
        }
    }
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        finish_avx2(t, r, 0, sum[r][0]);
        finish_avx2(t, r, 1, sum[r][1]);
    }
}

/* One function for each number of rows. */
#define TILE(set, SET, rows) \
    SET static void set##_##rows(const eddy_quantized_tile *t) { tile_##set(t, rows); }
#define SIX(X, set, SET) X(set, SET, 1) X(set, SET, 2) X(set, SET, 3)           \
    X(set, SET, 4) X(set, SET, 5) X(set, SET, 6)
#define TWELVE(X, set, SET) SIX(X, set, SET) X(set, SET, 7) X(set, SET, 8)      \
    X(set, SET, 9) X(set, SET, 10) X(set, SET, 11) X(set, SET, 12)
#define ENTRY(set, SET, rows) set##_##rows,

SIX(TILE, avx2, EDDY_WITH_AVX2)
TWELVE(TILE, vnni, WITH_VNNI)

static const eddy_quantized_tiles avx2_tiles = { AVX2_ROWS, 2, PLAIN_COLUMNS, join_pairs_avx2,
                                                 { SIX(ENTRY, avx2, ) } };
static const eddy_quantized_tiles vnni_tiles = { VNNI_ROWS, 4, VNNI_COLUMNS, join_fours,
                                                 { TWELVE(ENTRY, vnni, ) } };

const eddy_quantized_tiles *eddy__quantized_tiles_used(void)
{
    const eddy_instructions used = eddy__instructions_used();
    if (used == EDDY_BASELINE || !__builtin_cpu_supports("fma")) return &plain_tiles;
    const bool vnni = used == EDDY_AVX512 && __builtin_cpu_supports("avx512vnni");
    return vnni ? &vnni_tiles : &avx2_tiles;
}

#else
const eddy_quantized_tiles *eddy__quantized_tiles_used(void) { return &plain_tiles; }
#endif
