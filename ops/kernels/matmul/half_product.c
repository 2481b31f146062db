/* half_product.c -- see half_product.h.
 *
 * A block of columns is packed for the whole inner size, so that no sum has to leave the cache
 * between two parts of it: results in float32 would take twice the memory of y. If there are few
 * rows, the sums of all of them stay in the cache, and a part of the inner size is packed. */
#include "graph/base/half.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/kernels/matmul/gemm_tiles.h"
#include "ops/kernels/matmul/half_product.h"

#include <string.h>

#if defined(__x86_64__)
#include "ops/kernels/elementwise/bfloat16_avx2.h"
#include "ops/kernels/matmul/gemm_x86.h"

/* DEPTH: most elements of a row that are packed at once; BLOCK: floats of a packed block of
 * columns, if that is wide enough; STRIPS: in a block of rows; FEW: most rows whose sums all stay
 * in the cache, with PART floats of columns. */
enum { DEPTH = 256, BLOCK = 256 * 1024, LEAST_WIDTH = 128, STRIPS = 8, LINE = 16, LANES = 8,
       FEW = 128, PART = 128 * 1024 };
/* Rows that are requested before they are packed. */
enum { AHEAD = 16, ROWS_AHEAD = 4 };

typedef struct form {
    const eddy_gemm_tiles *tiles;
    int64_t strip, panel;            /* rows and columns of a tile */
    int64_t rows, width, depth;      /* of a block */
    int64_t inner;                   /* the part of the inner size for which columns are packed */
    int64_t a_step;                  /* from one packed row to the next */
} form;

static int64_t whole(int64_t n, int64_t unit) { return eddy__pieces(n, unit) * unit; }

/* A plan that multiplies bfloat16 goes on with AVX2 if the limit is lowered afterwards. */
static const eddy_gemm_tiles *tiles_now(void)
{
    const eddy_instructions used = eddy__instructions_used();
    return eddy__gemm_tiles_of(used > EDDY_AVX2 ? used : EDDY_AVX2);
}

static form form_of(const eddy_product *p, const eddy_gemm_tiles *tiles)
{
    form f = { .tiles = tiles };
    f.strip = eddy__pieces(p->m, eddy__pieces(p->m, f.tiles->rows));
    f.panel = 2 * f.tiles->lanes;
    const bool few = p->m <= FEW;
    f.rows = few ? p->m : eddy__min(STRIPS * f.strip, p->m);
    f.depth = eddy__pieces(p->k, eddy__pieces(p->k, DEPTH));
    f.inner = few ? f.depth : p->k;
    const int64_t most = eddy__max((few ? PART : BLOCK) / f.inner, LEAST_WIDTH);
    f.width = whole(eddy__min(most, p->n), f.panel);
    f.a_step = f.depth + LINE;
    return f;
}

static int64_t packed_a(const form *f) { return whole(f->rows, f->strip) * f->a_step; }
static int64_t packed_b(const form *f) { return f->width * f->inner; }

/* The packed operands, the sums, and float32 copies of the bias and of residuals. */
static size_t scratch_with(const eddy_product *p, eddy_instructions used)
{
    const form f = form_of(p, eddy__gemm_tiles_of(used));
    return (size_t)whole(packed_a(&f) + packed_b(&f) +
                         (f.rows + f.strip + 1) * f.width, LINE) * sizeof(float);
}

/* Enough for all instructions of the processor, as the limit may change between runs. */
size_t eddy__half_scratch(const eddy_product *p)
{
    const size_t few = scratch_with(p, EDDY_AVX2), many = scratch_with(p, EDDY_AVX512);
    return __builtin_cpu_supports("avx512f") && many > few ? many : few;
}

int64_t eddy__half_rows(const eddy_product *p) { return form_of(p, tiles_now()).strip; }
int64_t eddy__half_columns(void) { return 2 * tiles_now()->lanes; }

/* ------------------------------------------------------------------- packing -- */

/* Elements of an operand: bfloat16, or float32 that are rounded to it when they are packed. */
typedef struct source {
    const uint16_t *halves;          /* or NULL: */
    const float    *floats;
} source;

static source source_of(const void *operand, bool rounds)
{
    return rounds ? (source){ .floats = operand } : (source){ .halves = operand };
}

static source from(source s, int64_t i)
{
    return s.halves ? (source){ .halves = s.halves + i } : (source){ .floats = s.floats + i };
}

static inline void request(source s, int64_t n)
{
    const char *at = s.halves ? (const void *)s.halves : (const void *)s.floats;
    for (int64_t i = 0; i < n; i += LINE) __builtin_prefetch(at + (s.halves ? 2 : 4) * i);
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void widen_8(float *to, const uint16_t *from)
{
    _mm256_storeu_si256((void *)to, eddy__widened_8(from));
}

EDDY_WITH_AVX2 EDDY_TILE_INLINE void round_8(float *to, const float *from)
{
    _mm256_storeu_si256((void *)to, eddy__rounded_8(from));
}

/* n elements in float32. */
EDDY_WITH_AVX2 static void widen(float *to, source s, int64_t n)
{
    int64_t i = 0;
    if (s.halves) for (; i + LANES <= n; i += LANES) widen_8(to + i, s.halves + i);
    else for (; i + LANES <= n; i += LANES) round_8(to + i, s.floats + i);
    for (; i < n; i++)
        to[i] = eddy__f32_of_bf16(s.halves ? s.halves[i] : eddy__bf16_of_f32(s.floats[i]));
}

/* to[j * ldto + i] = s[i * lds + j] for i < rows, j < columns; at most MOST columns. A row of
 * `to` may be written up to the next multiple of eight. */
static void widen_turned(float *to, int64_t ldto, source s, int64_t lds, int64_t rows,
                         int64_t columns)
{
    enum { ROWS = 32, MOST = EDDY_TILE_ROWS * STRIPS };
    float straight[ROWS * MOST];
    for (int64_t i = 0; i < rows; i += ROWS) {
        const int64_t n = eddy__min(ROWS, rows - i);
        for (int64_t j = 0; j < n; j++) widen(straight + j * MOST, from(s, (i + j) * lds), columns);
        eddy__gemm_transpose(to + i, ldto, straight, MOST, n, columns);
    }
}

/* A row of `strips` strips, which are `size` apart, in vectors. */
EDDY_WITH_AVX2 EDDY_TILE_INLINE void widen_strips(float *to, int64_t size, source s, int64_t strip,
                                                  int64_t strips)
{
    for (int64_t j = 0; j < strip; j += LANES) {
        float *at = to + j;
        if (s.halves) {
            for (int64_t i = 0; i < strips; i++, at += size)
                widen_8(at, s.halves + i * strip + j);
        } else {
            for (int64_t i = 0; i < strips; i++, at += size)
                round_8(at, s.floats + i * strip + j);
        }
    }
}

/* Columns [0, n) of k rows, in strips, which are `size` apart; each row of a strip is written up to
 * the next multiple of eight, and read as far unless only the first `whole_row` elements of a row
 * may be read. */
EDDY_WITH_AVX2 static void pack_columns(float *to, int64_t strip, int64_t size, source s,
                                        int64_t lds, int64_t k, int64_t n, int64_t whole_row)
{
    const int64_t wide = whole(strip, LANES), strips = eddy__pieces(n, strip);
    const int64_t quick = whole_row < wide ? 0 : eddy__min((whole_row - wide) / strip + 1, strips);
    for (int64_t x = 0; x < k; x++, to += strip, s = from(s, lds)) {
        request(from(s, AHEAD * lds), n);
        widen_strips(to, size, s, strip, quick);
        for (int64_t i = quick; i < strips; i++)
            widen(to + i * size, from(s, i * strip), eddy__min(strip, n - i * strip));
    }
}

/* Columns [c, c + n) of k rows of op(b) from row q on, panel by panel; some at once, as more of
 * them would be written to the same sets of a cache. */
static void pack_b(const eddy_product *p, const form *f, float *to, int64_t c, int64_t n, int64_t q,
                   int64_t k)
{
    enum { AT_ONCE = 8, STEP = EDDY_TILE_ROWS * STRIPS };
    const source  b = from(source_of(p->b, p->round_b),
                           p->transpose_b ? c * p->ldb + q : c + q * p->ldb);
    const int64_t some = AT_ONCE * f->panel, size = f->panel * k;
    for (int64_t j = 0; j < n && !p->transpose_b && !eddy__stopped(p->stop); j += some)
        pack_columns(to + j * k, f->panel, size, from(b, j), p->ldb, k, eddy__min(some, n - j),
                     p->n - c - j);
    for (int64_t j = 0; j < n && p->transpose_b && !eddy__stopped(p->stop); j += f->panel)
        for (int64_t i = 0; i < k; i += STEP)
            widen_turned(to + j * k + i * f->panel, f->panel, from(b, j * p->ldb + i), p->ldb,
                         eddy__min(f->panel, n - j), eddy__min(STEP, k - i));
}

/* Rows [r, r + n) of op(a), k elements of each from index q of the inner size on. */
static void pack_a(const eddy_product *p, const form *f, float *to, int64_t r, int64_t n,
                   int64_t q, int64_t k)
{
    const source a = source_of(p->a, p->round_a);
    if (p->transpose_a)
        pack_columns(to, f->strip, f->strip * f->a_step, from(a, q * p->lda + r), p->lda, k, n,
                     p->m - r);
    for (int64_t i = 0; i < n && !p->transpose_a; i++) {
        request(from(a, (r + i + ROWS_AHEAD) * p->lda + q), k);
        widen(to + i * f->a_step, from(a, (r + i) * p->lda + q), k);
    }
}

/* --------------------------------------------------------------------- blocks -- */

/* n rows of y, rounded, of float32 sums. */
static void finish(const eddy_product *p, const form *f, float *sums, float *room, int64_t r,
                   int64_t n, int64_t c, int64_t columns)
{
    const source bias = source_of(p->bias, p->round_bias), residual = source_of(p->residual, false);
    eddy_product    wide = *p;
    wide.y = sums, wide.ldy = f->width;
    if (p->bias) widen(room, from(bias, c), columns), wide.bias = room;
    room += f->width;
    for (int64_t i = 0; i < n && p->residual; i++)
        widen(room + i * f->width, from(residual, (r + i) * p->ldr + c), columns);
    if (p->residual) wide.residual = room, wide.ldr = f->width;
    const float by = (float)p->alpha;
    for (int64_t i = 0; i < n * f->width && by != 1; i++) sums[i] *= by;
    eddy__product_finish(&wide, 0, n, 0, columns);
    const eddy_tile_fn round = eddy__f32_to_half(EDDY_BFLOAT16);
    for (int64_t i = 0; i < n; i++)
        round(columns, (uint16_t *)p->y + (r + i) * p->ldy + c,
              (const void *[]){ sums + i * f->width }, NULL);
}

/* Adds the products of rows [r, r + n) and of all panels, those of columns from c on, from index q
 * of the inner size on; rounds the sums that are complete. Panels are packed for `inner` of it. */
static void multiply(const eddy_product *p, const form *f, float *scratch, int64_t r, int64_t n,
                     int64_t c, int64_t columns, int64_t q)
{
    const int64_t k = eddy__min(f->depth, p->k - q), at = q % f->inner;
    const int64_t inner = eddy__min(f->inner, p->k - q + at);
    float *a = scratch, *b = a + packed_a(f), *sums = b + packed_b(f);
    float *room = sums + f->rows * f->width;
    pack_a(p, f, a, r, n, q, k);
    for (int64_t j = 0; j < columns; j += f->panel)
        for (int64_t i = 0; i < n; i += f->strip) {
            const int      rows = (int)eddy__min(f->strip, n - i);
            eddy_gemm_tile t = { .s = a + i * f->a_step, .v = b + j * inner + at * f->panel,
                                 .y = sums + i * f->width + j, .v_step = f->panel, .k = k,
                                 .s_row = p->transpose_a ? 1 : f->a_step, .ldy = f->width,
                                 .s_step = p->transpose_a ? f->strip : 1, .onto = q > 0 };
            t.columns = (int)eddy__min(f->panel, columns - j);
            (p->transpose_a ? f->tiles->packed : f->tiles->apart)
                [rows - 1][t.columns > f->tiles->lanes](&t);
        }
    for (int64_t i = 0; i < n && q + k == p->k; i += f->strip)
        finish(p, f, sums + i * f->width, room, r + i, eddy__min(f->strip, n - i), c, columns);
}

/* All rows, and `columns` columns from c on, from index q of the inner size to `last`. */
static void all_rows(const eddy_product *p, const form *f, float *scratch, int64_t r0, int64_t r1,
                     int64_t c, int64_t columns, int64_t q, int64_t last)
{
    pack_b(p, f, scratch + packed_a(f), c, columns, q, last - q);
    for (int64_t r = r0; r < r1; r += f->rows)
        for (int64_t i = q; i < last && !eddy__stopped(p->stop); i += f->depth)
            multiply(p, f, scratch, r, eddy__min(f->rows, r1 - r), c, columns, i);
}

void eddy__half_block(const eddy_product *p, int64_t r0, int64_t r1, int64_t c0, int64_t c1,
                      float *scratch)
{
    const form f = form_of(p, tiles_now());
    for (int64_t c = c0; c < c1; c += f.width)
        for (int64_t q = 0; q < p->k && !eddy__stopped(p->stop); q += f.inner)
            all_rows(p, &f, scratch, r0, r1, c, eddy__min(f.width, c1 - c), q,
                     eddy__min(q + f.inner, p->k));
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
