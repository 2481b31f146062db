/* quantized_product.c -- see quantized_product.h: quantizes the rows, then multiplies all of them
 * by a panel of weights at a time. Constant weights are packed as panels once. */
#include "ops/kernels/matmul/quantized_product.h"

#include "graph/base/cpu.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "graph/kernel.h"
#include "ops/kernels/matmul/quantized_tiles.h"

#include <math.h>
#include <string.h>

/* 1024 products of at most 127 * 128 are less than 2^24, which float32 represents. */
enum { CHUNK = 1024, LINE = 64, ROWS_OF_PIECE = 96 };
/* Packed panels stay in the L2 cache while many rows are multiplied by them. For few rows, memory
 * decides, which is read faster in long rows. */
enum { FEW_ROWS = 24 };
/* The number of operations from which a piece is worth a thread. */
static const double PIECE = 200e3;
static const float  LEAST = 1e-36f;

/* How the inner dimension is divided, and where in the scratch memory what is. */
typedef struct division {
    int64_t group, per_group;           /* elements of a group, chunks of a group */
    int64_t chunks, words;              /* of a row; room for a chunk */
    int64_t panel, at_once;             /* bytes of a packed panel; panels packed at once */
    uint64_t scales, sums, panels;      /* offsets; the words of the rows are at 0 */
} division;

static uint64_t lines(uint64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static division divide(const eddy_quantized_product *p)
{
    division d = { .group = p->k / p->groups };
    d.per_group = eddy__max(1, eddy__pieces(d.group, CHUNK));
    d.chunks = d.per_group * p->groups;
    d.words = eddy__pieces(eddy__min(d.group, CHUNK), p->tiles->per_word);
    d.panel = d.words * p->tiles->per_word * p->tiles->columns;
    d.at_once = eddy__min(p->m <= FEW_ROWS ? 32 : 8, eddy__pieces(p->n, p->tiles->columns));
    d.scales = lines((uint64_t)p->m * (uint64_t)d.chunks * (uint64_t)d.words * sizeof(int32_t));
    d.sums = d.scales + lines((uint64_t)p->m * (uint64_t)d.chunks * sizeof(float));
    d.panels = d.sums + lines((uint64_t)p->m * (uint64_t)d.chunks * sizeof(int32_t));
    return d;
}

/* Bytes of the packed panels of a worker. */
static uint64_t room_of(const division *d)
{
    return lines((uint64_t)d->panel * (uint64_t)d->at_once);
}

/* The first element of a chunk, and their number. */
static int64_t begin_of(const division *d, int64_t chunk)
{
    return chunk / d->per_group * d->group + chunk % d->per_group * CHUNK;
}
static int64_t length_of(const division *d, int64_t chunk)
{
    return eddy__min(CHUNK, d->group - chunk % d->per_group * CHUNK);
}
static int64_t words_of(const eddy_quantized_product *p, const division *d, int64_t chunk)
{
    return eddy__pieces(length_of(d, chunk), p->tiles->per_word);
}

/* ------------------------------------------------------------- activations -- */

/* The bits of the largest magnitude: as integers they are in the order of the numbers, with
 * infinity and NaN above all others. */
EDDY_INLINE void largest_all(const float *x, int64_t n, int32_t *most)
{
    int32_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= INT32_MAX;
        m = bits > m ? bits : m;
    }
    *most = m;
}
EDDY_CLONES_OF(largest, (const float *x, int64_t n, int32_t *most), (x, n, most))

/* x times `inverse` rounded to even, within 2^22: adding 1.5 * 2^23 leaves a unit in the last
 * place of 1. */
EDDY_INLINE int32_t rounded(float x, float inverse)
{
    const float shifted = x * inverse + 0x1.8p23f;
    int32_t     bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4b400000;
}

EDDY_INLINE void to_bytes_all(const float *x, int64_t n, float inverse, int8_t *to, int32_t *sum)
{
    int32_t s = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t q = rounded(x[i], inverse);
        to[i] = (int8_t)q;
        s += q;
    }
    *sum = s;
}
EDDY_CLONES_OF(to_bytes, (const float *x, int64_t n, float inverse, int8_t *to, int32_t *sum),
               (x, n, inverse, to, sum))

EDDY_INLINE void to_shorts_all(const float *x, int64_t n, float inverse, int16_t *to)
{
    for (int64_t i = 0; i < n; i++) to[i] = (int16_t)rounded(x[i], inverse);
}
EDDY_CLONES_OF(to_shorts, (const float *x, int64_t n, float inverse, int16_t *to),
               (x, n, inverse, to))

typedef struct job {
    const eddy_quantized_product *p;
    division       d;
    int32_t       *words;               /* [m][chunks][words] */
    float         *row_scales;          /* [m][chunks] */
    int32_t       *row_sums;
    uint8_t       *panels;
    const struct eddy_stop *stop;
    bool           by_rows;
} job;

/* The scale of a group, and its inverse; both are 0 for a group of zeros. */
static float scale_of(const float *x, int64_t n, float *inverse)
{
    int32_t bits;
    float   most;
    EDDY_BEST_OF(largest)(x, n, &bits);
    memcpy(&most, &bits, sizeof most);
    *inverse = 0;
    if (bits >= 0x7f800000) return NAN;
    if (most < LEAST) return 0;
    *inverse = 127 / most;
    return most / 127;
}

static void quantize_chunk(const job *j, int64_t row, int64_t chunk, float scale, float inverse)
{
    const division *d = &j->d;
    const int64_t   n = length_of(d, chunk), at = row * d->chunks + chunk;
    const int64_t   room = d->words * j->p->tiles->per_word;
    const float    *x = j->p->x + row * j->p->k + begin_of(d, chunk);
    int32_t        *to = j->words + at * d->words;
    j->row_scales[at] = scale;
    j->row_sums[at] = 0;
    if (!(scale > 0)) memset(to, 0, (size_t)d->words * sizeof *to);
    else if (j->p->tiles->per_word == 4) {
        int8_t *bytes = (int8_t *)(void *)to;
        EDDY_BEST_OF(to_bytes)(x, n, inverse, bytes, &j->row_sums[at]);
        memset(bytes + n, 0, (size_t)(room - n));
    } else {
        int16_t *shorts = (int16_t *)(void *)to;
        EDDY_BEST_OF(to_shorts)(x, n, inverse, shorts);
        memset(shorts + n, 0, (size_t)(room - n) * sizeof *shorts);
    }
}

static void quantize_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const job *j = arg;
    (void)worker;
    for (int64_t row = from; row < to; row++)
        for (int64_t g = 0; g < j->p->groups; g++) {
            float       inverse;
            const float scale = scale_of(j->p->x + row * j->p->k + g * j->d.group, j->d.group,
                                         &inverse);
            for (int64_t c = 0; c < j->d.per_group; c++)
                quantize_chunk(j, row, g * j->d.per_group + c, scale, inverse);
        }
}

/* ----------------------------------------------------------------- weights -- */

/* Packs columns [c0, c1) of a chunk of the weights w as panels, `step` bytes apart. The activations
 * behind the last row are 0, so any weights may stand there. */
static void pack_panels(const eddy_quantized_product *p, const division *d, const uint8_t *w,
                        int64_t chunk, int64_t c0, int64_t c1, uint8_t *to, int64_t step)
{
    const int64_t  each = p->tiles->per_word, rows = length_of(d, chunk);
    const uint8_t *of[4];
    w += begin_of(d, chunk) * p->n + c0;
    for (int64_t i = 0; i < rows; i += each, to += each * p->tiles->columns) {
        for (int64_t e = 0; e < each; e++) of[e] = w + eddy__min(i + e, rows - 1) * p->n;
        p->tiles->join(to, step, of, c1 - c0);
    }
}

/* The bytes of a panel of all weights before a chunk; d->chunks: of all. */
static int64_t packed_before(const eddy_quantized_product *p, const division *d, int64_t chunk)
{
    const int64_t each = p->tiles->per_word, last = d->group - (d->per_group - 1) * CHUNK;
    const int64_t group = (d->per_group - 1) * (CHUNK / each) + eddy__pieces(last, each);
    const int64_t words = chunk / d->per_group * group + chunk % d->per_group * (CHUNK / each);
    return words * each * p->tiles->columns;
}

/* The panels of all columns, each with its chunks. */
static void pack_all(const void *how, const void *from, void *to, const eddy_stop *stop)
{
    enum { COLUMNS = 1024 };
    const eddy_quantized_product *p = how;
    const division d = divide(p);
    const int64_t  step = packed_before(p, &d, d.chunks);
    for (int64_t c = 0; c < p->n; c += COLUMNS)
        for (int64_t chunk = 0; chunk < d.chunks && !eddy__stopped(stop); chunk++)
            pack_panels(p, &d, from, chunk, c, eddy__min(c + COLUMNS, p->n),
                        (uint8_t *)to + c / p->tiles->columns * step + packed_before(p, &d, chunk),
                        step);
}

uint64_t eddy__quantized_plan(eddy_quantized_product *p, const eddy_kernel *k, int w)
{
    p->tiles = eddy__quantized_tiles_used();
    const division d = divide(p);
    const int64_t  panels = eddy__pieces(p->n, p->tiles->columns);
    const eddy_packing form = {
        .layout = { (int64_t)(intptr_t)pack_all, p->tiles->columns, p->tiles->per_word, p->k, p->n,
                    p->groups },
        .bytes = (uint64_t)(panels * packed_before(p, &d, d.chunks)), .pack = pack_all, .how = p,
    };
    p->packed = eddy__kernel_packed(k, w, &form);
    if (p->packed) return d.panels;
    return d.panels + room_of(&d) * (uint64_t)(k->threads > 1 ? k->threads : 1);
}

/* ---------------------------------------------------------------- products -- */

/* Rows [r0, r1) times a packed panel of one chunk, whose first column is c. */
static void multiply_panel(const job *j, int64_t r0, int64_t r1, int64_t c, int64_t chunk,
                           const uint8_t *packed)
{
    const eddy_quantized_product *p = j->p;
    const division               *d = &j->d;
    const int64_t strip = eddy__pieces(r1 - r0, eddy__pieces(r1 - r0, p->tiles->rows));
    eddy_quantized_tile t = {
        .v = packed, .s_row = d->chunks * d->words,
        .words = words_of(p, d, chunk),
        .scales = p->scales + chunk / d->per_group * p->n + c, .row_step = d->chunks,
        .ldy = p->n, .columns = (int)eddy__min(p->tiles->columns, p->n - c), .onto = chunk > 0,
    };
    for (int64_t r = r0; r < r1; r += strip) {
        const int64_t at = r * d->chunks + chunk;
        t.s = j->words + at * d->words;
        t.row_scales = j->row_scales + at;
        t.row_sums = j->row_sums + at;
        t.y = p->y + r * p->n + c;
        p->tiles->fn[eddy__min(strip, r1 - r) - 1](&t);
    }
}

/* The same for panels that were packed when the plan was made, for as many rows at a time as stay
 * in the caches. */
static void multiply_packed(const job *j, int64_t r0, int64_t r1, int64_t c0, int64_t c1)
{
    enum { CHUNKS = 16 };               /* between two looks at the stop */
    const division *d = &j->d;
    const int64_t   width = j->p->tiles->columns, step = packed_before(j->p, d, d->chunks);
    for (int64_t r = r0; r < r1; r += ROWS_OF_PIECE)
        for (int64_t c = c0; c < c1; c += width) {
            const uint8_t *panel = j->p->packed + c / width * step;
            for (int64_t chunk = 0; chunk < d->chunks; chunk++) {
                if (chunk % CHUNKS == 0 && eddy__stopped(j->stop)) return;
                multiply_panel(j, r, eddy__min(r + ROWS_OF_PIECE, r1), c, chunk, panel);
                panel += words_of(j->p, d, chunk) * j->p->tiles->per_word * width;
            }
        }
}

/* The same for several panels, which are packed in room first. */
static void multiply_panels(const job *j, int64_t r0, int64_t r1, int64_t c0, int64_t c1,
                            uint8_t *room)
{
    const division *d = &j->d;
    const int64_t   width = j->p->tiles->columns;
    for (int64_t chunk = 0; chunk < d->chunks && !eddy__stopped(j->stop); chunk++) {
        pack_panels(j->p, d, j->p->w, chunk, c0, c1, room, d->panel);
        for (int64_t c = c0; c < c1; c += width)
            multiply_panel(j, r0, r1, c, chunk, room + (c - c0) / width * d->panel);
    }
}

/* Pieces are panels of columns, or groups of rows. */
static void multiply(void *arg, int64_t from, int64_t to, int worker)
{
    const job     *j = arg;
    const int64_t  m = j->p->m, width = j->p->tiles->columns;
    const int64_t  block = j->d.at_once * width;
    const int64_t  r0 = j->by_rows ? from * ROWS_OF_PIECE : 0;
    const int64_t  r1 = j->by_rows ? eddy__min(to * ROWS_OF_PIECE, m) : m;
    const int64_t  c0 = j->by_rows ? 0 : from * width;
    const int64_t  c1 = j->by_rows ? j->p->n : eddy__min(to * width, j->p->n);
    if (j->p->packed) {
        multiply_packed(j, r0, r1, c0, c1);
        return;
    }
    uint8_t *room = j->panels + (size_t)worker * room_of(&j->d);
    for (int64_t c = c0; c < c1; c += block)
        multiply_panels(j, r0, r1, c, eddy__min(c + block, c1), room);
}

static int64_t grain(double each) { return each < PIECE ? (int64_t)(PIECE / each) + 1 : 1; }

void eddy__quantized_run(const eddy_kernel *k, const eddy_quantized_product *p)
{
    if (p->m == 0 || p->n == 0) return;
    if (p->k == 0) {
        memset(p->y, 0, (size_t)p->m * (size_t)p->n * sizeof *p->y);
        return;
    }
    const division d = divide(p);
    char          *room = k->scratch;
    job j = { .p = p, .d = d, .words = (int32_t *)(void *)room,
              .row_scales = (float *)(void *)(room + d.scales),
              .row_sums = (int32_t *)(void *)(room + d.sums), .panels = (uint8_t *)room + d.panels,
              .stop = k->stop };
    const int64_t panels = eddy__pieces(p->n, p->tiles->columns);
    const int64_t pieces = eddy__pieces(p->m, ROWS_OF_PIECE);
    const double  all = 2 * (double)p->m * (double)p->n * (double)p->k;
    eddy__parallel_or_stop(k, p->m, grain(4 * (double)p->k), quantize_rows, &j);
    j.by_rows = pieces > panels;
    const int64_t n = j.by_rows ? pieces : panels;
    eddy__parallel_or_stop(k, n, grain(all / (double)n), multiply, &j);
}
