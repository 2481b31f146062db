/* matmul_threads.c -- one matrix product, distributed over the threads of a kernel. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "graph/kernel.h"
#include "ops/kernels/matmul/half_product.h"
#include "ops/kernels/matmul/gemm.h"
#include "graph/base/min_max.h"
#include "ops/kernels/matmul/matmul_plain.h"
#include "build/gen/table.h"

/* The number of operations from which a piece is worth a thread. */
static const double PIECE = 200e3;

eddy_product eddy__product_of(eddy_dtype d, bool transpose_a, bool transpose_b, int64_t m,
                              int64_t n, int64_t k)
{
    const bool pairs = d == EDDY_BFLOAT16;
    return (eddy_product){ .dtype = pairs ? EDDY_FLOAT32 : d, .pairs = pairs,
                           .transpose_a = transpose_a, .transpose_b = transpose_b, .m = m, .n = n,
                           .k = k, .lda = transpose_a ? m : k, .ldb = transpose_b ? k : n,
                           .ldy = n, .ldr = n, .alpha = 1 };
}

const eddy_gemm *eddy__product_plan(eddy_kernel *k, const eddy_product *p, int b)
{
    eddy_gemm g, *kept;
    const uint64_t workers = (uint64_t)(k->threads > 1 ? k->threads : 1);
    if (p->m == 0 || p->n == 0) return NULL;
    if (p->halves) k->scratch_size += eddy__half_scratch(p) * workers;
    if (p->halves) return NULL;
    const bool many = eddy__gemm_plan(&g, p);
    if (!many && !eddy__gemm_plan_row(&g, p, k, b)) return NULL;
    kept = eddy_kernel_state(k, sizeof g);
    if (!kept) return NULL;
    *kept = g;
    if (many && b >= 0) eddy__gemm_pack(kept, k, b);
    k->scratch_size += eddy__gemm_scratch(kept) * workers;
    return kept;
}

/* ------------------------------------------------------------ what follows -- */

void eddy__product_finish(const eddy_product *p, int64_t i0, int64_t i1, int64_t j0, int64_t j1)
{
    const eddy_type    types[] = { { p->dtype, { 0 } }, { p->dtype, { 0 } } };
    const int64_t      size = (int64_t)eddy_dtype_size(p->dtype), n = j1 - j0;
    const char        *bias = p->bias, *residual = p->residual;
    const eddy_tile_fn add = bias || residual ? eddy_op_add.tile(types, types) : NULL;
    for (int64_t i = i0; i < i1 && (add || p->activation); i++) {
        char *y = (char *)p->y + (i * p->ldy + j0) * size;
        if (bias) add(n, y, (const void *[]){ y, bias + j0 * size }, NULL);
        if (residual) add(n, y, (const void *[]){ y, residual + (i * p->ldr + j0) * size }, NULL);
        if (p->activation) p->activation(n, y, (const void *[]){ y }, NULL);
    }
}

/* ------------------------------------------------------------------ threads -- */

typedef struct job {
    const eddy_product *p;
    const eddy_gemm    *g;                /* NULL: eddy__product_plain */
    bool                by_rows;          /* pieces are rows, otherwise columns */
    int64_t             piece;            /* rows or columns of a piece */
    eddy_product_place  place;
    const void         *arg;
} job;

static float *scratch_of(const job *j, int worker)
{
    const size_t each = j->p->halves ? eddy__half_scratch(j->p) : eddy__gemm_scratch(j->g);
    return (float *)((char *)j->p->scratch + (size_t)worker * each);
}

static double operations(const eddy_product *p)
{
    return 2 * (double)p->m * (double)p->n * (double)p->k;
}

static void gemm_pieces(void *arg, int64_t from, int64_t to, int worker)
{
    const job       *j = arg;
    const eddy_gemm *g = j->g;
    from *= j->piece;
    to = eddy__min(to * j->piece, j->by_rows ? g->rows : g->columns);
    if (j->by_rows) eddy__gemm_block(g, j->p, from, to, 0, g->columns, scratch_of(j, worker));
    else eddy__gemm_block(g, j->p, 0, g->rows, from, to, scratch_of(j, worker));
}

static void half_pieces(void *arg, int64_t from, int64_t to, int worker)
{
    const job          *j = arg;
    const eddy_product *p = j->p;
    from *= j->piece;
    to = eddy__min(to * j->piece, j->by_rows ? p->m : p->n);
    if (j->by_rows) eddy__half_block(p, from, to, 0, p->n, scratch_of(j, worker));
    else eddy__half_block(p, 0, p->m, from, to, scratch_of(j, worker));
}

/* Computes each piece by a call of its own, on any thread: BLAS may round differently for another
 * size. */
static void plain_pieces(void *arg, int64_t from, int64_t to, int worker)
{
    const job          *j = arg;
    const eddy_product *p = j->p;
    (void)worker;
    for (int64_t i = from * j->piece; i < eddy__min(to * j->piece, j->by_rows ? p->m : p->n);
         i += j->piece) {
        if (j->by_rows) eddy__product_plain(p, i, eddy__min(i + j->piece, p->m), 0, p->n);
        else eddy__product_plain(p, 0, p->m, i, eddy__min(i + j->piece, p->n));
    }
}

static void pack_pieces(void *arg, int64_t from, int64_t to, int worker)
{
    const job       *j = arg;
    const eddy_gemm *g = j->g;
    (void)worker;
    eddy__gemm_pack_columns(g, j->p->b, g->shared->data, from * g->panel,
                            eddy__min(to * g->panel, g->columns), j->p->stop);
}

/* The plan of the product with its shared operand, packed here unless another product did. */
static const eddy_gemm *with_shared(const eddy_kernel *k, const eddy_product *p, eddy_gemm *room)
{
    enum { ELEMENTS = 1 << 15 };        /* worth a thread */
    const eddy_gemm *g = p->plan;
    job              j = { .p = p, .g = g };
    if (!g || !g->shared) return g;
    *room = *g;
    room->packed = g->shared->data;
    if (!g->shared->ready) {
        eddy_parallel(k, eddy__pieces(g->columns, g->panel), 1 + ELEMENTS / (g->k * g->panel),
                      pack_pieces, &j);
        g->shared->ready = !eddy__stopped(p->stop);
    }
    return room;
}

/* Divides the longer side into pieces: many for tiles, which give the same bits for any division;
 * for BLAS, which packs the other operand for each piece, at most eight, which depend only on
 * sizes. Each row of a matrix that is multiplied by a vector is read in as many parts as there are
 * pieces, so these are wide, and, if any division gives the same bits, as few as threads. */
static void divide_work(job *j, int64_t *n, int64_t *grain, int threads)
{
    enum { UNIT = 16, WIDE = 512 };
    const eddy_gemm *g = j->g;
    const bool    tiles = g || j->p->halves;
    const bool    row = !tiles && eddy__product_is_row(j->p);
    const bool    exact = row && !eddy_dtype_is_complex(j->p->dtype);
    const int64_t strip = g ? g->strip : tiles ? eddy__half_rows(j->p) : UNIT;
    const int64_t panel = g ? g->panel : tiles ? eddy__half_columns() : UNIT;
    const int64_t rows = eddy__pieces(g ? g->rows : j->p->m, strip);
    const int64_t columns = eddy__pieces(g ? g->columns : j->p->n, panel);
    j->by_rows = rows > columns;
    *n = j->by_rows ? rows : columns;
    const double  each = operations(j->p) / (double)*n;
    const int64_t worth = each < PIECE ? (int64_t)(PIECE / each) + 1 : 1;
    const int64_t share = eddy__pieces(*n, tiles ? 2 * threads : exact ? eddy__max(threads, 1) : 8);
    *grain = eddy__max(worth, share);
    j->piece = j->by_rows ? strip : panel;
    if (tiles) return;
    if (row && !exact) *grain = eddy__max(*grain, WIDE / UNIT);
    j->piece *= *grain;
    *n = eddy__pieces(*n, *grain);
    *grain = 1;
}

void eddy__product_run(const eddy_kernel *k, const eddy_product *given)
{
    eddy_product        of_run = *given;
    const eddy_product *p = &of_run;
    eddy_gemm           room;
    int64_t n, grain;
    of_run.stop = k->stop;
    const eddy_gemm *g = with_shared(k, p, &room);
    job              j = { .p = p, .g = g };
    if (p->m == 0 || p->n == 0) return;
    if (p->halves && (k->threads <= 1 || operations(p) < 2 * PIECE)) {
        eddy__half_block(p, 0, p->m, 0, p->n, p->scratch);
        return;
    }
    if (p->k == 0 || (!g && !p->halves && operations(p) < PIECE)) {     /* a single piece */
        eddy__product_plain(p, 0, p->m, 0, p->n);
        return;
    }
    if (g && (k->threads <= 1 || operations(p) < 2 * PIECE)) {
        eddy__gemm_block(g, p, 0, g->rows, 0, g->columns, p->scratch);
        return;
    }
    divide_work(&j, &n, &grain, k->threads);
    if (p->halves) eddy_parallel(k, n, grain, half_pieces, &j); /* looks at the stop by itself */
    else if (g) eddy_parallel(k, n, grain, gemm_pieces, &j);                /* as this does */
    else eddy__parallel_or_stop(k, n, grain, plain_pieces, &j);
}

/* --------------------------------------------------------------------- many -- */

static void whole_products(void *arg, int64_t from, int64_t to, int worker)
{
    const job   *j = arg;
    eddy_product p = *j->p;
    for (int64_t i = from; i < to; i++) {
        j->place(j->arg, i, &p);
        if (p.halves) eddy__half_block(&p, 0, p.m, 0, p.n, scratch_of(j, worker));
        else if (j->g)
            eddy__gemm_block(j->g, &p, 0, j->g->rows, 0, j->g->columns, scratch_of(j, worker));
        else eddy__product_plain(&p, 0, p.m, 0, p.n);
    }
}

void eddy__product_many(const eddy_kernel *k, const eddy_product *given, int64_t count,
                        eddy_product_place place, const void *arg)
{
    eddy_product        of_run = *given;
    const eddy_product *p = &of_run;
    job          j = { .p = p, .g = p->plan, .place = place, .arg = arg };
    const double each = operations(p);
    of_run.stop = k->stop;
    if (p->m == 0 || p->n == 0) return;
    /* Does not depend on the number of threads: BLAS gives other bits for a piece than for the
     * whole. */
    if (p->k == 0 || (count < 8 && each > 8 * PIECE)) {
        eddy_product one = *p;
        for (int64_t i = 0; i < count; i++) {
            place(arg, i, &one);
            eddy__product_run(k, &one);
        }
        return;
    }
    const int64_t grain = each < PIECE ? (int64_t)(PIECE / each) + 1 : 1;
    eddy__parallel_or_stop(k, count, grain, whole_products, &j);
}
