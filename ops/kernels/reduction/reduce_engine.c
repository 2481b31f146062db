/* reduce_engine.c -- the reduction engine (sum, mean, max, ...): divides the work into loops, and
 * among threads.
 *
 * All work comes down to one loop (reduce_loops.h): rows of neighboring elements are folded into
 * a row of accumulators, which vectorizes for any operation. A contiguous run is first divided
 * into lanes, so that it has rows too. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "graph/base/min_max.h"

#include <string.h>

enum {
    BLOCK   = 1 << 14,   /* elements of a block, if there are several */
    COLUMNS = 512,       /* folded at a time */
    NARROW  = 128,       /* accumulators of rows narrower than this */
    ROOM    = 1024,      /* accumulators at a time */
    SHORT   = 32,        /* largest rows and columns of blocks that are folded many at a time */
    RUN     = 1024,      /* the same for rows of contiguous runs */
    GRAIN   = 1 << 17    /* elements worth a thread */
};

const eddy_reducer *eddy__reducer_of(const eddy_fold *fold, eddy_dtype d)
{
    if ((unsigned)d >= EDDY_DTYPES) return NULL;
    const eddy_reducer *r = &fold->of[eddy__instructions_used()][d];
    return r->fold ? r : NULL;
}

/* --------------------------------------------------------------- blocks -- */

static int64_t lanes_for(int64_t width)
{
    return width == 1 ? EDDY_FOLD_LANES : width < NARROW ? NARROW / width : 1;
}

eddy_blocks eddy__blocks_of(const eddy_reducer *r, int64_t rows, int64_t width)
{
    eddy_blocks b = { .reducer = r, .rows = rows, .width = width };
    if (rows == 0 || width == 0) return b;
    b.period = lanes_for(width) * width;
    b.block = BLOCK / eddy__min(b.period, COLUMNS) * b.period;
    b.count = (rows * width + b.block - 1) / b.block;
    return b;
}

size_t eddy__blocks_acc_bytes(const eddy_blocks *b)
{
    return (size_t)b->period * b->reducer->acc_size;
}
size_t eddy__blocks_part(const eddy_blocks *b) { return (size_t)b->width * b->reducer->acc_size; }

void eddy__block_start(const eddy_blocks *b, void *acc) { b->reducer->start(acc, b->period); }

void eddy__block_take(const eddy_blocks *b, void *acc, int64_t at, const void *x, int64_t n)
{
    const eddy_reducer *r = b->reducer;
    const char *from = x;
    const int64_t place = at % b->period, first = place > 0 ? eddy__min(n, b->period - place) : 0;
    r->fold((char *)acc + (size_t)place * r->acc_size, from, first > 0, first, 0);
    from += (size_t)first * r->size;
    const int64_t rows = (n - first) / b->period, rest = (n - first) % b->period;
    if (b->width == 1) r->line(acc, from, rows);
    else r->fold(acc, from, rows, b->period, b->period);
    from += (size_t)(rows * b->period) * r->size;
    r->fold(acc, from, rest > 0, rest, 0);
}

/* Merges the upper half of the lanes into the lower one until one lane is left. */
void eddy__block_end(const eddy_blocks *b, void *acc)
{
    for (int64_t lanes = b->period / b->width; lanes > 1;) {
        const int64_t half = lanes / 2, from = (lanes - half) * b->width;
        b->reducer->add(acc, (char *)acc + (size_t)from * b->reducer->acc_size, half * b->width);
        lanes -= half;
    }
}

void eddy__blocks_finish(const eddy_blocks *b, void *y, const void *part)
{
    const eddy_reducer *r = b->reducer;
    const size_t bytes = eddy__blocks_part(b);
    char acc[COLUMNS * sizeof(double _Complex)] __attribute__((aligned(64)));
    for (int64_t c = 0; c < b->width; c += COLUMNS) {
        const int64_t n = eddy__min(b->width - c, COLUMNS);
        r->start(acc, n);
        for (int64_t i = 0; i < b->count; i++)
            r->add(acc, (const char *)part + (size_t)i * bytes + (size_t)c * r->acc_size, n);
        r->finish((char *)y + (size_t)c * r->size, acc, n, b->rows);
    }
}

/* -------------------------------------------------------------- the cut -- */

eddy_reduction eddy__reduction_of_block(const eddy_reducer *r, int64_t many, int64_t n,
                                        int64_t width, int64_t stride)
{
    return (eddy_reduction){ .reducer = r, .rows = n, .width = width, .stride = stride,
                             .many = many, .results = many * width, .count = n };
}

/* Merges neighboring axes that are all kept or all folded, and drops axes of size 1: the remaining
 * ones alternate between kept and folded. Returns their number. */
static int merge_axes(eddy_shape s, unsigned mask, int64_t *size, bool *folded)
{
    int n = 0;
    for (int i = 0; i < s.rank; i++) {
        const bool f = mask >> i & 1;
        if (s.dim[i] == 1) continue;
        if (n > 0 && folded[n - 1] == f) size[n - 1] *= s.dim[i];
        else { size[n] = s.dim[i]; folded[n++] = f; }
    }
    return n;
}

eddy_reduction eddy__reduction_of(const eddy_reducer *r, eddy_shape s, unsigned mask)
{
    int64_t size[EDDY_MAX_RANK];
    bool folded[EDDY_MAX_RANK];
    int n = merge_axes(s, mask, size, folded);
    eddy_reduction p = { .reducer = r, .rows = 1, .width = 1, .many = 1, .results = 1, .count = 1 };
    for (int i = 0; i < n; i++) *(folded[i] ? &p.count : &p.results) *= size[i];

    if (n > 0 && !folded[n - 1]) p.width = size[--n];
    p.stride = p.width;
    if (n > 0) p.rows = size[--n];
    int64_t stride = p.width * p.rows;
    if (n > 0) stride *= p.many = size[--n];
    eddy_loop kept[EDDY_MAX_RANK], more[EDDY_MAX_RANK];
    for (; n > 0; stride *= size[--n]) {
        const eddy_loop loop = { size[n - 1], stride };
        if (folded[n - 1]) more[p.n_folded++] = loop;
        else kept[p.n_kept++] = loop;
    }
    for (int i = 0; i < p.n_kept; i++) p.kept[i] = kept[p.n_kept - 1 - i];
    for (int i = 0; i < p.n_folded; i++) p.folded[i] = more[p.n_folded - 1 - i];
    return p;
}

/* ----------------------------------------------------------------- runs -- */

typedef union accumulators {
    double _Complex c128[ROOM];
    double  f64[ROOM];
    float   f32[ROOM];
    int64_t i64[ROOM];
    int32_t i32[ROOM];
    uint8_t u8[ROOM];
} accumulators;

/* Moves *offset to the next position of the loops; false after the last. */
static bool advance(int n, const eddy_loop *loop, int64_t *at, int64_t *offset)
{
    for (int i = n - 1; i >= 0; i--) {
        *offset += loop[i].stride;
        if (++at[i] < loop[i].size) return true;
        *offset -= loop[i].size * loop[i].stride;
        at[i] = 0;
    }
    return false;
}

/* Folds `width` columns of rows, `stride` apart, into acc[0 .. width), block by block, each in the
 * accumulators after these. */
static void fold_rows(const eddy_reduction *p, void *acc, const char *x, int64_t width)
{
    const eddy_reducer *r = p->reducer;
    const int64_t rows = p->rows, stride = p->stride;
    const eddy_blocks b = eddy__blocks_of(r, rows, stride);
    char *const own = (char *)acc + (size_t)width * r->acc_size;
    if (width == stride && b.period <= ROOM / 2) {
        for (int64_t at = 0; at < rows * width && !eddy__stopped(p->stop); at += b.block) {
            eddy__block_start(&b, own);
            eddy__block_take(&b, own, 0, x + (size_t)at * r->size,
                             eddy__min(rows * width - at, b.block));
            eddy__block_end(&b, own);
            r->add(acc, own, width);
        }
        return;
    }
    for (int64_t at = 0; at < rows && !eddy__stopped(p->stop); at += b.block / stride) {
        const int64_t n = eddy__min(rows - at, b.block / stride);
        r->start(own, width);
        r->fold(own, x + (size_t)(at * stride) * r->size, n, width, stride);
        r->add(acc, own, width);
    }
}

/* Whether a whole tensor is folded to one row: always in eddy_blocks, whatever the size. */
static bool is_whole(const eddy_reduction *p)
{
    return p->results == p->width && p->n_folded == 0 && p->stride == p->width;
}

/* Whether the blocks are too small for separate loops. */
static bool is_short(const eddy_reduction *p)
{
    if (p->stride != p->width || is_whole(p)) return false;
    return p->rows <= SHORT ? p->width <= SHORT : p->width == 1 && p->rows <= RUN;
}

/* Results [first, first + n) of those that begin at x: of whole short blocks, or of some columns of
 * one block. */
static void reduce_some(const eddy_reduction *p, char *y, const char *x, int64_t first, int64_t n)
{
    const eddy_reducer *r = p->reducer;
    accumulators acc;
    int64_t at[EDDY_MAX_RANK] = { 0 };
    int64_t offset = first / p->width * p->rows * p->stride + first % p->width;
    r->start(&acc, n);
    do {
        const char *from = x + (size_t)offset * r->size;
        if (is_short(p)) r->each(&acc, from, n / p->width, p->rows, p->width);
        else fold_rows(p, &acc, from, n);
    } while (advance(p->n_folded, p->folded, at, &offset));
    r->finish(y + (size_t)first * r->size, &acc, n, p->count);
}

/* The results of reductions over no elements. */
static void reduce_none(const eddy_reduction *p, char *y)
{
    accumulators acc;
    const eddy_reducer *r = p->reducer;
    for (int64_t i = 0; i < p->results; i += ROOM) {
        const int64_t n = eddy__min(p->results - i, ROOM);
        r->start(&acc, n);
        r->finish(y + (size_t)i * r->size, &acc, n, 0);
    }
}

/* A reduction as a list of pieces, each of up to `step` results; `row` pieces make a row of results
 * or, if blocks are short, all consecutive blocks. */
typedef struct pieces {
    const eddy_reduction *p;
    const char *x;
    char       *y;
    char       *part;              /* of whole tensors: room for each block's accumulators */
    int64_t     step, row, count;
} pieces;

static pieces pieces_of(const eddy_reduction *p, void *y, const void *x)
{
    const bool few = is_short(p);
    const int64_t block = p->width * p->many, row = few ? block : p->width;
    int64_t most = few ? eddy__min(ROOM, GRAIN / p->count) / p->width * p->width : COLUMNS;
    if (most == 0) most = p->width;
    pieces a = { .p = p, .x = x, .y = y, .step = eddy__min(most, row) };
    a.row = (row + a.step - 1) / a.step;
    a.count = p->results / row * a.row;
    return a;
}

static void run_pieces(void *arg, int64_t from, int64_t to, int worker)
{
    const pieces *a = arg;
    const eddy_reduction *p = a->p;
    const int64_t block = p->width * p->many, row = is_short(p) ? block : p->width;
    const int64_t each = block / row * a->row;           /* pieces of one kept position */
    (void)worker;
    for (int64_t i = from; i < to && !eddy__stopped(p->stop); i++) {
        int64_t kept = i / each, offset = 0;
        char *y = a->y + (size_t)(kept * block) * p->reducer->size;
        for (int d = p->n_kept - 1; d >= 0; kept /= p->kept[d--].size)
            offset += kept % p->kept[d].size * p->kept[d].stride;
        const int64_t first = i % each / a->row * row, c = i % a->row * a->step;
        reduce_some(p, y, a->x + (size_t)offset * p->reducer->size, first + c,
                    eddy__min(a->step, row - c));
    }
}

void eddy__reduction_run(const eddy_reduction *p, void *y, const void *x)
{
    if (p->results == 0) return;
    if (p->count == 0) {
        reduce_none(p, y);
        return;
    }
    pieces a = pieces_of(p, y, x);
    run_pieces(&a, 0, a.count, 0);
}

/* -------------------------------------------------------------- kernels -- */

/* Whether the blocks of a whole tensor are divided among threads, because it has too few results to
 * divide. */
static bool is_cut(const eddy_reduction *p, const eddy_blocks *b)
{
    return is_whole(p) && b->count > 1 && p->width <= 4 * COLUMNS;
}

bool eddy__reduction_blocks(const eddy_reduction *p, eddy_blocks *b)
{
    if (!p->reducer || !is_whole(p) || p->width > 4 * COLUMNS) return false;
    *b = eddy__blocks_of(p->reducer, p->rows, p->width);
    return true;
}

void eddy__reduction_prepare(eddy_kernel *k, const eddy_reduction *p)
{
    const eddy_blocks b = eddy__blocks_of(p->reducer, p->rows, p->width);
    if (k->threads > 1 && p->results > 0 && is_cut(p, &b))
        k->scratch_size = (uint64_t)b.count * eddy__blocks_part(&b);
}

static void run_blocks(void *arg, int64_t from, int64_t to, int worker)
{
    const pieces *a = arg;
    const eddy_blocks b = eddy__blocks_of(a->p->reducer, a->p->rows, a->p->width);
    const size_t bytes = eddy__blocks_part(&b);
    accumulators acc;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        char *part = a->part + (size_t)i * bytes;
        void *own = b.period > b.width ? (void *)&acc : part;
        const int64_t first = i * b.block;
        eddy__block_start(&b, own);
        eddy__block_take(&b, own, 0, a->x + (size_t)first * b.reducer->size,
                         eddy__min(b.rows * b.width - first, b.block));
        eddy__block_end(&b, own);
        if (own != part) memcpy(part, own, bytes);
    }
}

void eddy__reduction_kernel(eddy_kernel *k, const eddy_reduction *given, void *y, const void *x)
{
    eddy_reduction        of_run = *given;
    const eddy_reduction *p = &of_run;
    const eddy_blocks b = eddy__blocks_of(p->reducer, p->rows, p->width);
    of_run.stop = k->stop;
    if (k->threads < 2 || p->results == 0 || p->count == 0) {
        eddy__reduction_run(p, y, x);
        return;
    }
    pieces a = pieces_of(p, y, x);
    if (is_cut(p, &b)) {
        a.part = k->scratch;
        eddy__parallel_or_stop(k, b.count, GRAIN / b.block + 1, run_blocks, &a);
        eddy__blocks_finish(&b, y, a.part);
    } else {
        eddy__parallel_or_stop(k, a.count, GRAIN / (a.step * p->count) + 1, run_pieces, &a);
    }
}

eddy_lanes eddy__lanes_of(eddy_shape s, int64_t axis)
{
    const int64_t at = axis < 0 ? axis + s.rank : axis;
    eddy_lanes l = { 1, 1, 1 };
    for (int i = 0; i < s.rank; i++) *(i < at ? &l.outer : i == at ? &l.n : &l.inner) *= s.dim[i];
    return l;
}
