/* gemm.c -- float32 matrix product (GEMM): choice of orientation, block sizes and packing. */
#include "graph/base/stop.h"
#include "ops/kernels/matmul/gemm.h"
#include "graph/kernel.h"
#include "graph/base/cpu.h"
#include "graph/base/min_max.h"
#include "ops/kernels/matmul/matmul_plain.h"

#include <string.h>

/* A packed block stays in the L2 cache, together with strips and the results. A strip whose rows
 * are neighbors takes a line of the L1 cache for each step unless it is packed, so it is
 * shorter. A panel stays in the L1 cache while so many strips are multiplied by it. LINE is in
 * bytes, PAGE in elements. Blocks have a multiple of UNIT columns, whole panels of any tiles, so
 * they may be an eighth larger than BLOCK. */
enum { DEPTH = 384, NEAR_DEPTH = 256, DOT_DEPTH = 512, BLOCK = 128 * 1024, LINE = 64, WAYS = 8,
       PAGE = 1024, STRIPS = 8, SHARED_ROWS = 256, TURN_WIDTH = 512, UNIT = 64 };

/* --------------------------------------------------------------------- plan -- */

/* The approximate number of cycles in this orientation: arithmetic on whole vectors, and
 * transposing. */
static double cost(const eddy_product *p, int lanes, bool transposed)
{
    const double  columns = (double)(eddy__pieces(transposed ? p->m : p->n, lanes) * lanes);
    const double  rows = (double)(transposed ? p->n : p->m), k = (double)p->k;
    const bool    far = transposed ? !p->transpose_a : p->transpose_b;
    double cycles = rows * columns * k / lanes;
    if (far) cycles += 0.35 * columns * k;
    if (transposed) cycles += 1.2 * rows * columns * (double)eddy__pieces(p->k, DEPTH);
    return cycles;
}

/* The same for inner products: arithmetic, or loads if there are few rows and columns, and adding
 * up the lanes. */
static double cost_of_dots(const eddy_product *p, const eddy_gemm_tiles *t)
{
    const double r = (double)eddy__min(p->m, t->dots->rows);
    const double c = (double)eddy__min(p->n, EDDY_DOT_COLUMNS);
    const double most = r * c > r + c ? r * c : r + c, each = (double)p->k / t->lanes;
    return (double)p->m * (double)p->n * (each * most / (r * c) +
                                          1.8 * (double)eddy__pieces(p->k, DOT_DEPTH));
}

/* Whether an operand is contiguous along the inner size. */
static bool along_a(const eddy_product *p) { return !p->transpose_a || (p->m == 1 && p->lda == 1); }
static bool along_b(const eddy_product *p) { return p->transpose_b || (p->n == 1 && p->ldb == 1); }

static void plan_dots(eddy_gemm *g, const eddy_product *p)
{
    g->dots = g->s_apart = true;
    g->transposed = g->pack_v = false;
    g->rows = p->m;
    g->columns = p->n;
    g->strip = (int)eddy__pieces(g->rows, eddy__pieces(g->rows, g->tiles->dots->rows));
    g->panel = EDDY_DOT_COLUMNS;
    g->s_row = p->lda, g->s_step = 1;
    /* Rows that begin at the same offset in a page compete for the same sets of the L1 cache. */
    g->pack_s = p->lda % PAGE == 0 && g->rows > g->strip && g->columns >= 4 * g->panel;
    g->v_step = p->ldb, g->v_transposed = true;
}

static void plan_tiles(eddy_gemm *g, const eddy_product *p)
{
    g->dots = false;
    g->rows = g->transposed ? p->n : p->m;
    g->columns = g->transposed ? p->m : p->n;
    g->strip = (int)eddy__pieces(g->rows, eddy__pieces(g->rows, g->tiles->rows));
    g->panel = 2 * g->tiles->lanes;
    const int64_t s_ld = (g->transposed ? p->ldb : p->lda);
    g->s_apart = g->transposed ? p->transpose_b : !p->transpose_a;
    g->s_row = g->s_apart ? s_ld : 1;
    g->s_step = g->s_apart ? 1 : s_ld;
    g->v_transposed = g->transposed ? !p->transpose_a : p->transpose_b;
    g->v_step = g->transposed ? p->lda : p->ldb;
    g->pack_v = g->v_transposed || (g->rows > 3 * g->strip && p->k * g->columns > 4096);
    /* Rows that begin at the same offsets in a page compete for the same sets of the L1 cache, if
     * they are more than its ways, and a strip of an operand that is transposed reads a part of a
     * line from each of many rows. */
    g->pack_s = g->s_apart ? s_ld % 512 == 0 && g->strip > WAYS && g->columns > g->panel
                           : s_ld >= 128 && g->columns > 3 * g->panel;
}

/* Pairs lie in memory where elements along k are neighbors; elsewhere packing makes them. */
static void plan_pairs(eddy_gemm *g)
{
    if (g->s_apart) g->s_row /= 2;
    else g->pack_s = true;
    if (g->v_transposed) g->v_step /= 2;
    g->pack_v = true;
}

/* Tiles are fastest if the rows of a packed strip are neighbors. To turn strips for this pays if
 * there are few and each is read often. The distances of rows are not multiples of a page. */
static void plan_strips(eddy_gemm *g)
{
    const int64_t rows = g->depth + LINE / (int64_t)sizeof(float);
    g->s_turned = g->s_apart && !g->dots && g->width >= TURN_WIDTH && g->rows <= SHARED_ROWS &&
                  eddy__gemm_unrolled(g->tiles, g->strip);
    if (g->s_turned) g->pack_s = true;
    if (g->s_apart && !g->s_turned) {
        g->packed_row = rows, g->packed_step = 1;
        g->strip_size = g->strip * rows;
    } else {
        g->packed_row = 1, g->packed_step = g->tiles->step ? g->tiles->step : g->strip;
        g->strip_size = g->packed_step * rows;
    }
}

bool eddy__gemm_plan(eddy_gemm *g, const eddy_product *p)
{
    g->packed = NULL;
    g->shared = NULL;
    g->requests = g->s_turned = false;
    g->pairs = p->pairs;
    g->tiles = p->pairs ? eddy__gemm_pair_tiles : eddy__gemm_tiles_used();
    g->k = p->pairs ? p->k / 2 : p->k;
    if (p->dtype != EDDY_FLOAT32 || !g->tiles || p->m == 0 || p->n == 0 || p->k == 0 ||
        eddy__product_of_triples(p))
        return false;
    const double straight = cost(p, g->tiles->lanes, false);
    const double transposed = cost(p, g->tiles->lanes, true);
    const bool   dots = !p->pairs && along_a(p) && along_b(p);
    g->transposed = transposed < straight;
    const double best = g->transposed ? transposed : straight;
    if (dots && cost_of_dots(p, g->tiles) < best) plan_dots(g, p);
    else if (p->m == 1 || p->n == 1) return false;
    else plan_tiles(g, p);
    if (g->pairs) plan_pairs(g);
    g->depth = g->dots ? DOT_DEPTH : g->s_apart ? DEPTH : NEAR_DEPTH;
    g->depth = eddy__pieces(g->k, eddy__pieces(g->k, g->depth));
    if (!g->dots && g->k > g->depth)
        g->depth = eddy__pieces(g->depth, EDDY_UNROLLED_STEPS) * EDDY_UNROLLED_STEPS;
    const int64_t wide = eddy__pieces(BLOCK / g->depth, UNIT) * UNIT;
    g->width = eddy__pieces(eddy__min(wide, g->columns), g->panel) * g->panel;
    plan_strips(g);
    return true;
}

static bool is_row(const eddy_gemm *g) { return g->panel == EDDY_ROW_COLUMNS; }

static int64_t packed_v(const eddy_gemm *g)
{
    return g->pack_v && !g->packed && !g->shared ? g->depth * g->width : 0;
}
static int64_t packed_s(const eddy_gemm *g)
{
    return g->pack_s ? eddy__min(STRIPS, eddy__pieces(g->rows, g->strip)) * g->strip_size : 0;
}

size_t eddy__gemm_scratch(const eddy_gemm *g)
{
    return (size_t)eddy__pieces((packed_v(g) + packed_s(g)) * (int64_t)sizeof(float), LINE) * LINE;
}

/* ------------------------------------------------------------------- packing -- */

/* Parts that are packed at once: more of them would be written to the same sets of a cache. */
enum { AT_ONCE = 8 };

/* Copies at most 64 elements, for which a call of memcpy would take longer than the copy. */
static inline void copy_row(float *to, const float *from, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 < n; i += 8) memcpy(to + i, from + i, 8 * sizeof *to);
    if (n >= 8) memcpy(to + n - 8, from + n - 8, 8 * sizeof *to);
    else if (n >= 4) {
        memcpy(to, from, 4 * sizeof *to);
        memcpy(to + n - 4, from + n - 4, 4 * sizeof *to);
    } else for (; i < n; i++) to[i] = from[i];
}

/* to[i] is the pair of low[i] and high[i]. */
EDDY_INLINE void pair_up_all(uint32_t *to, const uint16_t *low, const uint16_t *high, int64_t n)
{
    EDDY_INDEPENDENT
    for (int64_t i = 0; i < n; i++) to[i] = (uint32_t)low[i] | (uint32_t)high[i] << 16;
}
EDDY_CLONES_OF(pair_up, (uint32_t *to, const uint16_t *low, const uint16_t *high, int64_t n),
               (to, low, high, n))

/* Rows of n columns, of which rows 2 q and 2 q + 1 become row q of each panel. */
static void pack_pairs(const eddy_gemm *g, float *to, const uint16_t *v, int64_t k, int64_t n)
{
    const int64_t panel = g->panel, step = g->v_step;
    for (int64_t q = 0; q < k; q++, v += 2 * step)
        for (int64_t j = 0; j < n; j += panel)
            EDDY_BEST_OF(pair_up)((uint32_t *)(void *)(to + j * k + q * panel), v + j, v + step + j,
                                  eddy__min(panel, n - j));
}

/* The same for the rows of a strip, which are neighbors. */
static void pack_strip_pairs(const eddy_gemm *g, float *to, const uint16_t *s, int64_t k,
                             int64_t rows)
{
    for (int64_t q = 0; q < k; q++, s += 2 * g->s_step)
        EDDY_BEST_OF(pair_up)((uint32_t *)(void *)(to + q * g->packed_step), s, s + g->s_step,
                              rows);
}

/* Packs k rows of n elements, which are `step` apart, in parts of `size`: those begin `part` apart,
 * with rows `row` apart. `whole` elements of a row may be read. */
static void pack_parts(float *to, int64_t part, int64_t row, const float *from, int64_t step,
                       int64_t k, int64_t n, int64_t size, int64_t whole)
{
    const int64_t read = eddy__pieces(size, 8) * 8, all = eddy__pieces(n, size);
    const int64_t quick = whole < read ? 0 : eddy__min((whole - read) / size + 1, all);
    for (int64_t i = 0; i < quick; i += AT_ONCE)
        eddy__gemm_copy_parts(to + i * part, part, row, from + i * size, step, k,
                              eddy__min(AT_ONCE, quick - i), size);
    for (int64_t i = quick; i < all; i++)
        for (int64_t q = 0; q < k; q++)
            copy_row(to + i * part + q * row, from + i * size + q * step,
                     eddy__min(size, n - i * size));
}

/* Packs rows of n columns as panels, one after the other, each with its rows contiguous. */
static void pack_panels(const eddy_gemm *g, float *to, const float *v, int64_t k, int64_t n)
{
    const int64_t panel = g->panel;
    if (!g->v_transposed) pack_parts(to, panel * k, panel, v, g->v_step, k, n, panel, n);
    else for (int64_t j = 0; j < n; j += panel)
        eddy__gemm_transpose(to + j * k, panel, v + j * g->v_step, g->v_step,
                             eddy__min(panel, n - j), k);
}

/* Packs rows [r0, r1) in `strips` strips, of which the first `more` have a row more than others. */
static void pack_strips(const eddy_gemm *g, float *to, const void *s, int64_t r0, int64_t r1,
                        int64_t strips, int64_t q, int64_t k)
{
    const int64_t size = (r1 - r0) / strips, more = (r1 - r0) % strips, part = g->strip_size;
    const float  *from = (const float *)s + r0 * g->s_row + q * g->s_step;
    if (!g->s_apart && !g->pairs) {
        const int64_t first = more * (size + 1);
        if (more > 0)
            pack_parts(to, part, g->packed_step, from, g->s_step, k, first, size + 1, g->rows - r0);
        pack_parts(to + more * part, part, g->packed_step, from + first, g->s_step, k,
                   r1 - r0 - first, size, g->rows - r0 - first);
        return;
    }
    for (int64_t i = 0, r = r0, n; i < strips; i++, r += n, to += part) {
        n = size + (i < more);
        if (g->s_turned)
            eddy__gemm_transpose(to, g->packed_step, from + (r - r0) * g->s_row, g->s_row, n, k);
        else if (!g->s_apart)
            pack_strip_pairs(g, to, (const uint16_t *)s + r + 2 * q * g->s_step, k, n);
        else for (int64_t j = 0; j < n; j++, from += g->s_row)
            memcpy(to + j * g->packed_row, from, (size_t)k * sizeof *to);
    }
}

/* Packs k rows of v from row q on, n columns from column c on. */
static void pack_block(const eddy_gemm *g, float *to, const void *v, int64_t q, int64_t k,
                       int64_t c, int64_t n)
{
    const float    *one = v;
    const uint16_t *two = v;
    if (g->pairs && !g->v_transposed) pack_pairs(g, to, two + 2 * q * g->v_step + c, k, n);
    else pack_panels(g, to, one + (g->v_transposed ? c * g->v_step + q : q * g->v_step + c), k, n);
}

/* The columns of all panels. */
static int64_t whole_width(const eddy_gemm *g)
{
    return eddy__pieces(g->columns, g->panel) * g->panel;
}

/* Blocks of `depth` rows, each with all its panels. */
void eddy__gemm_pack_columns(const eddy_gemm *g, const void *v, float *to, int64_t c0, int64_t c1,
                             const eddy_stop *stop)
{
    for (int64_t q = 0; q < g->k && !eddy__stopped(stop); q += g->depth) {
        const int64_t k = eddy__min(g->depth, g->k - q);
        pack_block(g, to + q * whole_width(g) + c0 * k, v, q, k, c0, c1 - c0);
    }
}

static void pack_all(const void *how, const void *from, void *to, const eddy_stop *stop)
{
    const eddy_gemm *g = how;
    eddy__gemm_pack_columns(g, from, to, 0, g->columns, stop);
}

/* cold: optimized for size, as it runs only while a plan is compiled. */
__attribute__((cold)) void eddy__gemm_pack(eddy_gemm *g, const eddy_kernel *k, int operand)
{
    const eddy_packing p = {
        .layout = { (int64_t)(intptr_t)pack_all, g->panel, g->pairs, g->v_transposed, g->v_step,
                    g->k, g->columns, g->depth },
        .bytes = (uint64_t)g->k * (uint64_t)whole_width(g) * sizeof(float),
        .pack = pack_all, .how = g,
    };
    if (g->dots || g->transposed) return;       /* then it is the operand of the rows */
    if (g->rows <= g->strip && !g->pairs && !is_row(g)) return;     /* then it is read once */
    /* With more rows, packing takes less than a twentieth of the time. With so few that a product
     * alone reads the operand as it is, packed rows still are neighbors in the caches. */
    const bool may_share = g->rows <= SHARED_ROWS && g->k * g->columns > 4096 && !is_row(g);
    g->packed = eddy__kernel_packed_or_shared(k, operand, &p, may_share ? &g->shared : NULL);
    g->requests = g->packed && g->s_apart && !g->pack_s && !g->pairs;
}

__attribute__((cold)) bool eddy__gemm_plan_row(eddy_gemm *g, const eddy_product *p,
                                               const eddy_kernel *k, int b)
{
    const eddy_gemm_tiles *tiles = eddy__gemm_tiles_used();
    if (!tiles || p->dtype != EDDY_FLOAT32 || p->pairs || p->m != 1 || p->transpose_b ||
        p->alpha != 1 || p->beta != 0 || p->k == 0 || p->n == 0 || b < 0 ||
        eddy__product_of_triples(p))
        return false;
    *g = (eddy_gemm){ .tiles = tiles, .strip = 1, .panel = EDDY_ROW_COLUMNS, .rows = 1,
                      .columns = p->n, .k = p->k, .s_apart = true, .s_row = p->lda,
                      .s_step = p->transpose_a ? p->lda : 1, .v_step = p->ldb, .depth = p->k };
    if (whole_width(g) > p->n + p->n / 4) return false;     /* too much of it would be empty */
    const int64_t wide = eddy__max(BLOCK / g->depth, 1);
    g->width = eddy__pieces(eddy__min(wide, g->columns), g->panel) * g->panel;
    eddy__gemm_pack(g, k, b);
    return g->packed != NULL;
}

/* --------------------------------------------------------------------- tiles -- */

/* Computes a tile outside y, if it is scaled and added or is not made of whole vectors of rows of
 * y. */
static void tile_apart(const eddy_gemm *g, const eddy_product *p, eddy_gemm_tile_fn fn,
                       eddy_gemm_tile *t, int rows, float beta)
{
    _Alignas(LINE) float tile[EDDY_TILE_ROWS * EDDY_TILE_COLUMNS];
    _Alignas(LINE) float transposed[EDDY_TILE_COLUMNS * EDDY_STRIP_STEP];
    const int64_t n = g->transposed ? rows : t->columns, high = g->transposed ? t->columns : rows;
    const int64_t step = g->transposed ? EDDY_STRIP_STEP : EDDY_TILE_COLUMNS;
    const float   alpha = (float)p->alpha;
    const float  *from = g->transposed ? transposed : tile;
    float        *y = t->y;
    t->onto = g->transposed && beta == 1 && (alpha == 1 || p->beta == 0);
    if (t->onto) eddy__gemm_transpose(tile, EDDY_TILE_COLUMNS, y, p->ldy, high, n);
    t->y = tile;
    t->ldy = EDDY_TILE_COLUMNS;
    fn(t);
    if (g->transposed) eddy__gemm_transpose(transposed, step, tile, EDDY_TILE_COLUMNS, n, high);
    for (int64_t i = 0; i < high; i++, y += p->ldy, from += step) {
        if (beta == 0 || t->onto) copy_row(y, from, n);
        else for (int64_t j = 0; j < n; j++) y[j] = alpha * from[j] + beta * y[j];
    }
}

static eddy_gemm_tile_fn tile_fn(const eddy_gemm *g, const eddy_gemm_tile *t, int rows)
{
    const eddy_gemm_tiles *tiles = g->tiles;
    if (g->dots) return tiles->dots->fn[rows - 1][t->columns - 1];
    if (is_row(g)) return tiles->row;
    return eddy__gemm_tile_fn(tiles, t, rows);
}

/* Multiplies rows [i0, i1) and columns [j0, j1) of y by alpha, unless tiles did, and applies the
 * epilogue. */
static void finish(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    const float by = (float)p->alpha;
    for (int64_t i = i0; i < i1 && by != 1 && p->beta == 0; i++) {
        float *y = (float *)p->y + i * p->ldy;
        for (int64_t j = j0; j < j1; j++) y[j] *= by;
    }
    eddy__product_finish(p, i0, i1, j0, j1);
}

/* A run that must end is noticed after that many panels. */
enum { PANELS_PER_LOOK = 8 };

/* Multiplies rows [r0, r1), at most STRIPS strips, by the columns from c on, from index q of the
 * inner dimension on. */
static void some_strips(const eddy_gemm *g, const eddy_product *p, int64_t r0, int64_t r1,
                        int64_t c, int64_t columns, int64_t q, eddy_gemm_tile t, float *room)
{
    const float  *s = g->transposed ? p->b : p->a;
    const int64_t v_panel = g->panel * (g->pack_v || g->packed ? t.k : g->dots ? g->v_step : 1);
    const int64_t y_row = g->transposed ? 1 : p->ldy, y_column = g->transposed ? p->ldy : 1;
    const float   beta = q == 0 ? (float)p->beta : 1;
    const bool    plain = !g->transposed && (p->beta == 0 || (p->alpha == 1 && beta == 1));
    const int64_t strips = eddy__pieces(r1 - r0, g->strip);
    int           until_look = 0;
    t.s_row = g->pack_s ? g->packed_row : g->s_row;
    t.s_step = g->pack_s ? g->packed_step : g->s_step;
    if (g->pack_s) pack_strips(g, room, s, r0, r1, strips, q, t.k);
    for (int64_t j = 0; j < columns; j += g->panel, t.v += v_panel) {
        if (until_look-- == 0) {
            if (eddy__stopped(p->stop)) return;
            until_look = PANELS_PER_LOOK;
        }
        t.columns = (int)eddy__min(g->panel, columns - j);
        for (int64_t i = 0, r = r0, n; i < strips; i++, r += n) {
            n = eddy__pieces(r1 - r, strips - i);
            t.s = g->pack_s ? room + i * g->strip_size : s + r * g->s_row + q * g->s_step;
            t.y = (float *)p->y + r * y_row + (c + j) * y_column;
            t.ldy = p->ldy;
            t.onto = beta == 1;
            if (g->requests) t.next = t.v + v_panel + i * v_panel / strips;
            for (int64_t x = 0; t.onto && x < n; x++)     /* the y of the next panel */
                __builtin_prefetch(t.y + x * y_row + g->panel * y_column);
            if (plain) tile_fn(g, &t, (int)n)(&t);
            else tile_apart(g, p, tile_fn(g, &t, (int)n), &t, (int)n, beta);
        }
    }
    if (q + t.k < g->k) return;
    if (g->transposed) finish(p, c, c + columns, r0, r1);
    else finish(p, r0, r1, c, c + columns);
}

void eddy__gemm_block(const eddy_gemm *g, const eddy_product *p, int64_t r0, int64_t r1, int64_t c0,
                      int64_t c1, float *scratch)
{
    const float  *v = g->transposed ? p->a : p->b;
    const int64_t height = STRIPS * g->strip;
    for (int64_t q = 0; q < g->k; q += g->depth)
        for (int64_t c = c0; c < c1; c += g->width) {
            const int64_t columns = eddy__min(g->width, c1 - c);
            if (eddy__stopped(p->stop)) return;
            const float  *from = v + (g->v_transposed ? c * g->v_step + q : q * g->v_step + c);
            eddy_gemm_tile t = { .v = from, .v_step = g->v_step };
            t.k = eddy__min(g->depth, g->k - q);
            if (g->packed || g->pack_v) {
                if (!g->packed) pack_block(g, scratch, v, q, t.k, c, columns);
                t.v = g->packed ? g->packed + q * whole_width(g) + c * t.k : scratch;
                t.v_step = g->panel;
            }
            for (int64_t r = r0; r < r1; r += height)
                some_strips(g, p, r, eddy__min(r + height, r1), c, columns, q, t,
                            scratch + packed_v(g));
        }
}
