/* gemm_tiles.c -- tiles of the float32 matrix product (GEMM) for AVX-512 and for AVX2. */
#include "ops/kernels/matmul/gemm_tiles.h"

#include "graph/base/cpu.h"

#include <string.h>

eddy_gemm_tile_fn eddy__gemm_tile_fn(const eddy_gemm_tiles *tiles, const eddy_gemm_tile *t,
                                     int64_t rows)
{
    const bool whole = t->columns == 2 * tiles->lanes && t->v_step == t->columns &&
                       t->k % EDDY_UNROLLED_STEPS == 0;
    if (whole && eddy__gemm_unrolled(tiles, rows)) {
        if (t->next && t->s_step == 1) return tiles->requesting[tiles->rows - rows];
        if (t->s_row == 1 && t->s_step == tiles->step) return tiles->unrolled[tiles->rows - rows];
    }
    return (t->s_row == 1 ? tiles->packed : tiles->apart)[rows - 1][t->columns > tiles->lanes];
}

#if defined(__x86_64__)
#include "ops/kernels/matmul/gemm_x86.h"

/* Rows in groups of three: the second and the third are 1 and 2 strides from the first, which an
 * address on x86 can express. */
enum { GROUPS = (EDDY_TILE_ROWS + 2) / 3 };

/* pairs: of bfloat16. Without them, the compiler has no use for the instructions of that set, which
 * it gets because a function of another set could not be inlined. */
EDDY_WITH_BF16 EDDY_TILE_INLINE void tile_512(const eddy_gemm_tile *t, int rows, int vectors,
                                              int64_t s_row, bool pairs)
{
    const int64_t   step = t->s_step, v_step = t->v_step;
    const __mmask16 last = (__mmask16)(0xffff >> (16 * vectors - t->columns));
    const float    *s[GROUPS], *v = t->v;
    __m512          sum[EDDY_TILE_ROWS][2], b[2];
    EDDY_UNROLLED
    for (int g = 0; g < GROUPS; g++) s[g] = t->s + 3 * g * s_row;
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        const float *y = t->y + r * t->ldy + 16 * (vectors - 1);
        if (vectors == 2) sum[r][0] = t->onto ? _mm512_loadu_ps(y - 16) : _mm512_setzero_ps();
        sum[r][vectors - 1] = t->onto ? _mm512_maskz_loadu_ps(last, y) : _mm512_setzero_ps();
    }
    for (int64_t p = t->k; p > 0; p--, v += v_step) {
        if (vectors == 2) b[0] = _mm512_loadu_ps(v);
        b[vectors - 1] = _mm512_maskz_loadu_ps(last, v + 16 * (vectors - 1));
        EDDY_UNROLLED
        for (int r = 0; r < rows; r++) {
            const __m512 a = _mm512_set1_ps(s[r / 3][r % 3 * s_row]);
            EDDY_UNROLLED
            for (int j = 0; j < vectors; j++)
                sum[r][j] = pairs ? _mm512_dpbf16_ps(sum[r][j], (__m512bh)a, (__m512bh)b[j])
                                  : _mm512_fmadd_ps(a, b[j], sum[r][j]);
        }
        EDDY_UNROLLED
        for (int g = 0; g < GROUPS; g++) s[g] += step;
    }
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        float *y = t->y + r * t->ldy + 16 * (vectors - 1);
        if (vectors == 2) _mm512_storeu_ps(y - 16, sum[r][0]);
        if (t->columns == 16 * vectors) _mm512_storeu_ps(y, sum[r][vectors - 1]);
        else _mm512_mask_storeu_ps(y, last, sum[r][vectors - 1]);
    }
}

EDDY_WITH_BF16 EDDY_TILE_INLINE void tile_avx512(const eddy_gemm_tile *t, int rows, int vectors,
                                                 int64_t s_row)
{
    tile_512(t, rows, vectors, s_row, false);
}

EDDY_WITH_BF16 EDDY_TILE_INLINE void tile_pairs(const eddy_gemm_tile *t, int rows, int vectors,
                                                int64_t s_row)
{
    tile_512(t, rows, vectors, s_row, true);
}

/* full: the last vector is whole, too. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE void part_avx2(const eddy_gemm_tile *t, int rows, int vectors,
                                               int64_t s_row, bool full)
{
    const int64_t step = t->s_step, v_step = t->v_step;
    const __m256i last = eddy__first_of_8(8 - 8 * vectors + t->columns);
    const float  *s[2], *v = t->v;
    __m256        sum[6][2], b[2];
    EDDY_UNROLLED
    for (int g = 0; g < 2; g++) s[g] = t->s + 3 * g * s_row;
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        const float *y = t->y + r * t->ldy + 8 * (vectors - 1);
        if (vectors == 2) sum[r][0] = t->onto ? _mm256_loadu_ps(y - 8) : _mm256_setzero_ps();
        sum[r][vectors - 1] = t->onto ? _mm256_maskload_ps(y, last) : _mm256_setzero_ps();
    }
    for (int64_t p = t->k; p > 0; p--, v += v_step) {
        if (vectors == 2) b[0] = _mm256_loadu_ps(v);
        b[vectors - 1] = full ? _mm256_loadu_ps(v + 8 * (vectors - 1))
                              : _mm256_maskload_ps(v + 8 * (vectors - 1), last);
        EDDY_UNROLLED
        for (int r = 0; r < rows; r++) {
            const __m256 a = _mm256_broadcast_ss(s[r / 3] + r % 3 * s_row);
            EDDY_UNROLLED
            for (int j = 0; j < vectors; j++) sum[r][j] = _mm256_fmadd_ps(a, b[j], sum[r][j]);
        }
        EDDY_UNROLLED
        for (int g = 0; g < 2; g++) s[g] += step;
    }
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++) {
        float *y = t->y + r * t->ldy + 8 * (vectors - 1);
        if (vectors == 2) _mm256_storeu_ps(y - 8, sum[r][0]);
        if (full || (vectors == 1 && t->columns == 8)) _mm256_storeu_ps(y, sum[r][vectors - 1]);
        else _mm256_maskstore_ps(y, last, sum[r][vectors - 1]);
    }
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void tile_avx2(const eddy_gemm_tile *t, int rows, int vectors,
                                               int64_t s_row)
{
    if (vectors == 2 && t->columns == 16) part_avx2(t, rows, vectors, s_row, true);
    else part_avx2(t, rows, vectors, s_row, false);
}

/* sum += a b. The compiler would move the sums between registers and spill them. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE void add_in_place(__m256 *sum, __m256 a, __m256 b)
{
    __asm__("vfmadd231ps %1, %2, %0" : "+x"(*sum) : "x"(a), "x"(b));
}

/* Eight steps are one piece of code. With a request of `next` in each step, or a branch around it,
 * tiles took 12 to 25 % longer in the slow phases of a shared machine. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE void steps_avx2(const eddy_gemm_tile *t, int rows, int64_t s_row,
                                                int64_t s_step, bool request)
{
    enum { PANEL = 16, LINE = 16 };
    const float *s[2] = { t->s, t->s + 3 * s_row }, *v = t->v, *next = t->next;
    __m256       sum[6][2];
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < 2; j++)
            sum[r][j] = t->onto ? _mm256_loadu_ps(t->y + r * t->ldy + 8 * j) : _mm256_setzero_ps();
    for (int64_t p = 0; p < t->k; p += EDDY_UNROLLED_STEPS) {
        if (request) {
            __builtin_prefetch(next, 0, 2);
            next += LINE;
        }
        EDDY_UNROLLED
        for (int q = 0; q < EDDY_UNROLLED_STEPS; q++) {
            const __m256 b0 = _mm256_loadu_ps(v + q * PANEL);
            const __m256 b1 = _mm256_loadu_ps(v + q * PANEL + 8);
            EDDY_UNROLLED
            for (int r = 0; r < rows; r++) {
                const __m256 a = _mm256_broadcast_ss(s[r / 3] + r % 3 * s_row + q * s_step);
                add_in_place(&sum[r][0], a, b0);
                add_in_place(&sum[r][1], a, b1);
            }
        }
        v += EDDY_UNROLLED_STEPS * PANEL;
        s[0] += EDDY_UNROLLED_STEPS * s_step;
        s[1] += EDDY_UNROLLED_STEPS * s_step;
    }
    EDDY_UNROLLED
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < 2; j++) _mm256_storeu_ps(t->y + r * t->ldy + 8 * j, sum[r][j]);
}

EDDY_WITH_AVX2 static void unrolled_5(const eddy_gemm_tile *t)
{
    steps_avx2(t, 5, 1, EDDY_PACKED_STEP, false);
}
EDDY_WITH_AVX2 static void unrolled_6(const eddy_gemm_tile *t)
{
    steps_avx2(t, 6, 1, EDDY_PACKED_STEP, false);
}
EDDY_WITH_AVX2 static void requesting_5(const eddy_gemm_tile *t)
{
    steps_avx2(t, 5, t->s_row, 1, true);
}
EDDY_WITH_AVX2 static void requesting_6(const eddy_gemm_tile *t)
{
    steps_avx2(t, 6, t->s_row, 1, true);
}

/* A single row, with the bits that it has if the operand is not packed (matmul_plain.c): products
 * are rounded before they are added. Memory is the limit, so lines are requested long before they
 * are needed. */
enum { AHEAD = 1024 };
#define ROW(set, SET, type, lanes, zero, load, store, spread, mul, add)         \
    SET static void set##_row(const eddy_gemm_tile *t)                          \
    {                                                                           \
        enum { VECTORS = EDDY_ROW_COLUMNS / (lanes) };                          \
        const float *v = t->v;                                                  \
        type         sum[VECTORS];                                              \
        _Alignas(64) float y[EDDY_ROW_COLUMNS];                                 \
        EDDY_UNROLLED                                                           \
        for (int j = 0; j < VECTORS; j++) sum[j] = zero();                      \
        for (int64_t p = 0; p < t->k; p++, v += EDDY_ROW_COLUMNS) {             \
            const type a = spread(t->s[p * t->s_step]);                         \
            EDDY_UNROLLED                                                       \
            for (int j = 0; j < EDDY_ROW_COLUMNS; j += 16)                      \
                __builtin_prefetch(v + j + AHEAD);                              \
            EDDY_UNROLLED                                                       \
            for (int j = 0; j < VECTORS; j++)                                   \
                sum[j] = add(sum[j], mul(a, load(v + (lanes) * j)));            \
        }                                                                       \
        EDDY_UNROLLED                                                           \
        for (int j = 0; j < VECTORS; j++) store(y + (lanes) * j, sum[j]);       \
        memcpy(t->y, y, (size_t)t->columns * sizeof *y);                        \
    }
ROW(avx2, EDDY_WITH_AVX2, __m256, 8, _mm256_setzero_ps, _mm256_loadu_ps, _mm256_store_ps,
    _mm256_set1_ps, _mm256_mul_ps, _mm256_add_ps)
ROW(avx512, EDDY_WITH_AVX512, __m512, 16, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_store_ps,
    _mm512_set1_ps, _mm512_mul_ps, _mm512_add_ps)

/* One function for each number of rows and vectors. */
#define TILE(set, SET, rows, vectors)                                           \
    SET static void set##_##rows##_##vectors(const eddy_gemm_tile *t)                \
    {                                                                           \
        tile_##set(t, rows, vectors, 1);                                        \
    }                                                                           \
    SET static void set##_##rows##_##vectors##_apart(const eddy_gemm_tile *t)        \
    {                                                                           \
        tile_##set(t, rows, vectors, t->s_row);                                 \
    }
#define SIX(X, set, SET) X(set, SET, 1) X(set, SET, 2) X(set, SET, 3)           \
    X(set, SET, 4) X(set, SET, 5) X(set, SET, 6)
#define FOURTEEN(X, set, SET) SIX(X, set, SET) X(set, SET, 7) X(set, SET, 8)    \
    X(set, SET, 9) X(set, SET, 10) X(set, SET, 11) X(set, SET, 12) X(set, SET, 13) X(set, SET, 14)
#define TILES(set, SET, rows)  TILE(set, SET, rows, 1) TILE(set, SET, rows, 2)
#define PACKED(set, SET, rows) { set##_##rows##_1, set##_##rows##_2 },
#define APART(set, SET, rows)  { set##_##rows##_1_apart, set##_##rows##_2_apart },

SIX(TILES, avx2, EDDY_WITH_AVX2)
FOURTEEN(TILES, avx512, EDDY_WITH_BF16)
FOURTEEN(TILES, pairs, EDDY_WITH_BF16)

static const eddy_gemm_tiles avx2_tiles = {
    EDDY_PACKED_ROWS, 8, { SIX(PACKED, avx2, ) }, { SIX(APART, avx2, ) },
    &eddy__gemm_dots_avx2, avx2_row, EDDY_PACKED_STEP,
    { unrolled_6, unrolled_5 }, { requesting_6, requesting_5 }
};
static const eddy_gemm_tiles avx512_tiles = {
    14, 16, { FOURTEEN(PACKED, avx512, ) }, { FOURTEEN(APART, avx512, ) },
    &eddy__gemm_dots_avx512, avx512_row, 0, { NULL }, { NULL }
};

static const eddy_gemm_tiles pair_tiles = {
    14, 16, { FOURTEEN(PACKED, pairs, ) }, { FOURTEEN(APART, pairs, ) }, NULL, NULL, 0,
    { NULL }, { NULL }
};
const eddy_gemm_tiles *const eddy__gemm_pair_tiles = &pair_tiles;

const eddy_gemm_tiles *eddy__gemm_tiles_used(void)
{
    return eddy__gemm_tiles_of(eddy__instructions_used());
}

const eddy_gemm_tiles *eddy__gemm_tiles_of(eddy_instructions used)
{
    if (used == EDDY_BASELINE || !__builtin_cpu_supports("fma")) return NULL;
    return used == EDDY_AVX512 ? &avx512_tiles : &avx2_tiles;
}

/* -------------------------------------------------------------- transposing -- */

/* Transposes eight rows of eight elements in registers. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE void turn_registers(__m256 r[8])
{
    __m256 t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        u[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        u[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        u[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(u[i], u[i + 4], 0x31);
    }
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void turn_block(float *to, int64_t ldto, const float *from,
                                                int64_t ldfrom)
{
    __m256 r[8];
    for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(from + i * ldfrom);
    turn_registers(r);
    for (int i = 0; i < 8; i++) _mm256_storeu_ps(to + i * ldto, r[i]);
}

/* Transposes a block at the edge, which has fewer rows or columns. */
EDDY_WITH_AVX2 static void turn_edge(float *to, int64_t ldto, const float *from, int64_t ldfrom,
                                     int rows, int columns)
{
    const __m256i wide = eddy__first_of_8(columns);
    __m256 r[8];
    for (int i = 0; i < 8; i++)
        r[i] = i < rows ? _mm256_maskload_ps(from + i * ldfrom, wide) : _mm256_setzero_ps();
    turn_registers(r);
    for (int i = 0; i < columns; i++) _mm256_storeu_ps(to + i * ldto, r[i]);
}

EDDY_WITH_AVX2 void eddy__gemm_transpose(float *to, int64_t ldto, const float *from, int64_t ldfrom,
                                         int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i += 8)
        for (int64_t j = 0; j < columns; j += 8) {
            const int64_t high = rows - i < 8 ? rows - i : 8;
            const int64_t wide = columns - j < 8 ? columns - j : 8;
            const float  *x = from + i * ldfrom + j;
            float        *y = to + j * ldto + i;
            if (high == 8 && wide == 8) turn_block(y, ldto, x, ldfrom);
            else turn_edge(y, ldto, x, ldfrom, (int)high, (int)wide);
        }
}

/* ------------------------------------------------------------------ copying -- */

/* Rows that are requested before they are needed: they lie apart, so the processor does not. */
enum { ROWS_AHEAD = 8, LINE = 16 };

EDDY_WITH_AVX2 EDDY_TILE_INLINE void copy_parts(float *to, int64_t part, int64_t row,
                                                const float *from, int64_t step, int64_t k,
                                                int64_t parts, int64_t size, int64_t vectors)
{
    for (int64_t q = 0; q < k; q++, to += row, from += step) {
        for (int64_t j = 0; j < parts * size; j += LINE)
            __builtin_prefetch(from + ROWS_AHEAD * step + j);
        for (int64_t i = 0; i < parts; i++)
            for (int64_t j = 0; j < 8 * vectors; j += 8)
                _mm256_storeu_ps(to + i * part + j, _mm256_loadu_ps(from + i * size + j));
    }
}

EDDY_WITH_AVX2 void eddy__gemm_copy_parts(float *to, int64_t part, int64_t row, const float *from,
                                          int64_t step, int64_t k, int64_t parts, int64_t size)
{
    if (size <= 8) copy_parts(to, part, row, from, step, k, parts, size, 1);
    else if (size <= 16) copy_parts(to, part, row, from, step, k, parts, size, 2);
    else copy_parts(to, part, row, from, step, k, parts, size, (size + 7) / 8);
}

#else

const eddy_gemm_tiles *eddy__gemm_tiles_used(void) { return NULL; }
const eddy_gemm_tiles *const eddy__gemm_pair_tiles = NULL;

void eddy__gemm_transpose(float *to, int64_t ldto, const float *from, int64_t ldfrom, int64_t rows,
                          int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) to[j * ldto + i] = from[i * ldfrom + j];
}

void eddy__gemm_copy_parts(float *to, int64_t part, int64_t row, const float *from, int64_t step,
                           int64_t k, int64_t parts, int64_t size)
{
    for (int64_t q = 0; q < k; q++, to += row, from += step)
        for (int64_t i = 0; i < parts; i++)
            for (int64_t j = 0; j < size; j++) to[i * part + j] = from[i * size + j];
}

#endif
