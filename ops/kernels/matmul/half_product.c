/* half_product.c -- see half_product.h.
 *
 * A block of columns is packed for the whole inner size, so that no sum has to leave the cache
 * between two parts of it: results in float32 would take twice the memory of y. */
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/kernels/matmul/gemm_tiles.h"
#include "ops/kernels/matmul/half_product.h"

#include <string.h>

#if defined(__x86_64__)
#include "ops/kernels/matmul/gemm_x86.h"

/* BLOCK: floats of a block of columns; STRIPS: of which as many as a block of rows has. */
enum { DEPTH = 256, BLOCK = 128 * 1024, LEAST_WIDTH = 96, STRIPS = 8, LINE = 16, LANES = 8 };

typedef struct form {
    const eddy_gemm_tiles *tiles;
    int64_t strip, panel;            /* rows and columns of a tile */
    int64_t rows, width, depth;      /* of a block; depth: of the rows that are packed at once */
    int64_t a_step;                  /* from one packed row to the next, if a is not transposed */
} form;

static int64_t parts(int64_t n, int64_t most) { return (n + most - 1) / most; }
static int64_t whole(int64_t n, int64_t unit) { return parts(n, unit) * unit; }

static form form_of(const eddy_product *p)
{
    form f = { .tiles = eddy__gemm_tiles_used() };
    f.strip = parts(p->m, parts(p->m, f.tiles->rows));
    f.panel = 2 * f.tiles->lanes;
    f.rows = eddy__min(STRIPS * f.strip, p->m);
    f.depth = parts(p->k, parts(p->k, DEPTH));
    f.width = whole(eddy__min(eddy__max(BLOCK / p->k, LEAST_WIDTH), p->n), f.panel);
    f.a_step = f.depth + LINE;
    return f;
}

static int64_t packed_a(const form *f) { return whole(f->rows + LANES, LANES) * f->a_step; }
static int64_t packed_b(const form *f, int64_t k) { return f->width * k; }

/* The packed operands, the sums, and float32 copies of the bias and of residuals. */
size_t eddy__half_scratch(const eddy_product *p)
{
    const form f = form_of(p);
    return (size_t)whole(packed_a(&f) + packed_b(&f, p->k) + (2 * f.rows + 1) * f.width, LINE) *
           sizeof(float);
}

int64_t eddy__half_rows(const eddy_product *p) { return form_of(p).strip; }
int64_t eddy__half_columns(void) { return 2 * eddy__gemm_tiles_used()->lanes; }

/* ------------------------------------------------------------------- packing -- */

EDDY_WITH_AVX2 EDDY_TILE_INLINE void widen_8(float *to, const uint16_t *from)
{
    const __m128i halves = _mm_loadu_si128((const void *)from);
    _mm256_storeu_si256((void *)to, _mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void widen(float *to, const uint16_t *from, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) widen_8(to + i, from + i);
    for (; i < n; i++) {
        const uint32_t bits = (uint32_t)from[i] << 16;
        memcpy(to + i, &bits, sizeof bits);
    }
}

/* Columns [c, c + n) of b, panel by panel. */
EDDY_WITH_AVX2 static void pack_b(const eddy_product *p, const form *f, float *to, int64_t c,
                                  int64_t n)
{
    enum { STEP = 64 };
    float           apart[EDDY_TILE_COLUMNS * STEP];
    const uint16_t *b = p->b;
    for (int64_t q = 0; q < p->k && !p->transpose_b; q++)
        for (int64_t j = 0; j < n; j += f->panel)
            widen(to + j * p->k + q * f->panel, b + q * p->ldb + c + j,
                  eddy__min(f->panel, n - j));
    for (int64_t j = 0; j < n && p->transpose_b; j += f->panel)
        for (int64_t q = 0; q < p->k; q += STEP) {
            const int64_t high = eddy__min(f->panel, n - j), wide = eddy__min(STEP, p->k - q);
            for (int64_t i = 0; i < high; i++)
                widen(apart + i * STEP, b + (c + j + i) * p->ldb + q, wide);
            eddy__gemm_transpose(to + j * p->k + q * f->panel, f->panel, apart, STEP, high, wide);
        }
}

/* A strip whose elements are neighbors along its n rows, each of which may be written up to
 * the next multiple of eight. Of the source, `left` rows are there. */
EDDY_WITH_AVX2 static void pack_rows(float *to, const uint16_t *a, int64_t lda, int64_t k,
                                     int64_t n, int64_t left)
{
    for (int64_t q = 0; q < k; q++, to += n, a += lda) {
        if (left < whole(n, LANES)) widen(to, a, n);
        else
            for (int64_t i = 0; i < n; i += LANES) widen_8(to + i, a + i);
    }
}

/* Rows [r, r + n) of op(a), from index q of the inner size on. */
EDDY_WITH_AVX2 static void pack_a(const eddy_product *p, const form *f, float *to, int64_t r,
                                  int64_t n, int64_t q, int64_t k)
{
    const uint16_t *a = p->a;
    for (int64_t i = 0; i < n && !p->transpose_a; i++)
        widen(to + i * f->a_step, a + (r + i) * p->lda + q, k);
    for (int64_t i = 0; i < n && p->transpose_a; i += f->strip)
        pack_rows(to + i * f->a_step, a + q * p->lda + r + i, p->lda, k,
                  eddy__min(f->strip, n - i), p->m - r - i);
}

/* --------------------------------------------------------------------- blocks -- */

/* y, rounded, of float32 sums. */
EDDY_WITH_AVX2 static void finish(const eddy_product *p, const form *f, float *sums, float *room,
                                  int64_t r, int64_t n, int64_t c, int64_t columns)
{
    const uint16_t *bias = p->bias, *residual = p->residual;
    eddy_product    wide = *p;
    wide.y = sums, wide.ldy = f->width;
    if (bias) widen(room, bias + c, columns), wide.bias = room;
    room += f->width;
    for (int64_t i = 0; i < n && residual; i++)
        widen(room + i * f->width, residual + (r + i) * p->ldr + c, columns);
    if (residual) wide.residual = room, wide.ldr = f->width;
    const float by = (float)p->alpha;
    for (int64_t i = 0; i < n * f->width && by != 1; i++) sums[i] *= by;
    eddy__product_finish(&wide, 0, n, 0, columns);
    const eddy_tile_fn round = eddy__f32_to_half(EDDY_BFLOAT16);
    for (int64_t i = 0; i < n; i++)
        round(columns, (uint16_t *)p->y + (r + i) * p->ldy + c,
              (const void *[]){ sums + i * f->width }, NULL);
}

/* Adds the products of rows that are packed, k elements of each, and of all panels. */
static void multiply(const eddy_product *p, const form *f, const float *a, const float *b,
                     float *sums, int64_t n, int64_t columns, int64_t k, bool onto)
{
    for (int64_t i = 0; i < n; i += f->strip) {
        const int      rows = (int)eddy__min(f->strip, n - i);
        eddy_gemm_tile t = { .s = a + i * f->a_step, .v_step = f->panel, .ldy = f->width, .k = k,
                             .s_row = p->transpose_a ? 1 : f->a_step,
                             .s_step = p->transpose_a ? rows : 1, .onto = onto };
        for (int64_t j = 0; j < columns; j += f->panel) {
            t.columns = (int)eddy__min(f->panel, columns - j);
            t.v = b + j * p->k;
            t.y = sums + i * f->width + j;
            (p->transpose_a ? f->tiles->packed
                            : f->tiles->apart)[rows - 1][t.columns > f->tiles->lanes](&t);
        }
    }
}

void eddy__half_block(const eddy_product *p, int64_t r0, int64_t r1, int64_t c0, int64_t c1,
                      float *scratch)
{
    const form f = form_of(p);
    float *a = scratch, *b = a + packed_a(&f), *sums = b + packed_b(&f, p->k);
    for (int64_t c = c0; c < c1; c += f.width) {
        const int64_t columns = eddy__min(f.width, c1 - c);
        if (eddy__stopped(p->stop)) return;
        pack_b(p, &f, b, c, columns);
        for (int64_t r = r0; r < r1 && !eddy__stopped(p->stop); r += f.rows) {
            const int64_t n = eddy__min(f.rows, r1 - r);
            for (int64_t q = 0; q < p->k; q += f.depth) {
                const int64_t k = eddy__min(f.depth, p->k - q);
                pack_a(p, &f, a, r, n, q, k);
                multiply(p, &f, a, b + q * f.panel, sums, n, columns, k, q > 0);
            }
            finish(p, &f, sums, sums + f.rows * f.width, r, n, c, columns);
        }
    }
}

#else

size_t eddy__half_scratch(const eddy_product *p) { (void)p; return 0; }
int64_t eddy__half_rows(const eddy_product *p) { (void)p; return 1; }
int64_t eddy__half_columns(void) { return 1; }
void eddy__half_block(const eddy_product *p, int64_t r0, int64_t r1, int64_t c0, int64_t c1,
                      float *scratch)
{
    (void)p, (void)r0, (void)r1, (void)c0, (void)c1, (void)scratch;
}

#endif
