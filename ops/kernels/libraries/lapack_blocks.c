/* lapack_blocks.c -- Cholesky and LU factors and triangular solves by blocks.
 *
 * Each halves its matrix: it treats one half, subtracts a product from the other, and treats that
 * (Gustavson 1997). Thus almost all work is products, which are divided into tiles of a few
 * milliseconds, and columns of solutions, which are independent. */
#include "ops/kernels/libraries/lapack_blocks.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/libraries/blas_threads.h"
#include "ops/kernels/libraries/lapack.h"

#include <cblas.h>
#include <string.h>

enum {
    LEAF = 128,            /* rows or columns that LAPACK treats at once */
    NARROW = 16,           /* columns of which LAPACK treats any number of rows at once, */
    PANEL = 1 << 17,       /* and elements of more columns */
    DEPTH = 256,           /* the inner size of a product */
    COLUMNS = 256,         /* of a piece of right-hand sides */
    FEW = 32 << 20         /* operations that are not divided */
};

/* The sides of a tile: some 75 million operations in float64, 67 in float32. */
static int64_t side_of(eddy_dtype d)
{
    return d == EDDY_FLOAT32 ? 512 : d == EDDY_FLOAT64 ? 384 : d == EDDY_COMPLEX64 ? 256 : 192;
}

/* The matrices of one call, in one order. */
typedef struct blocks {
    const eddy_kernel *k;
    eddy_dtype         d;
    CBLAS_ORDER        order;
} blocks;

typedef struct part {      /* of a matrix */
    void   *at;
    int64_t ld;            /* elements between its rows or columns */
} part;

static bool ended(const blocks *b) { return eddy__stopped(b->k->stop); }

/* The part that begins at row i and column j. */
static part part_at(const blocks *b, part p, int64_t i, int64_t j)
{
    const int64_t step = b->order == CblasRowMajor ? i * p.ld + j : j * p.ld + i;
    p.at = (char *)p.at + step * (int64_t)eddy_dtype_size(b->d);
    return p;
}

/* A multiple of the size of a vector, about the half. */
static int64_t half(int64_t n)
{
    const int64_t step = n > LEAF ? 64 : NARROW;
    return (n / 2 + step - 1) / step * step;
}

/* -------------------------------------------------------------- products -- */

/* c [m,n] -= op(a) b with b [depth,n] and op(a) [m,depth]. */
typedef struct product {
    const blocks *b;
    bool          adjoint;
    bool          upper;       /* a is b and `adjoint` is set: only the upper triangle of c */
    int64_t       m, n, depth;
    part          left, right, c;
} product;

static void subtract(const blocks *b, bool adjoint, int64_t m, int64_t n, int64_t depth, part l,
                     part r, part c)
{
    static const float  minus_c64[2] = { -1, 0 }, one_c64[2] = { 1, 0 };
    static const double minus_c128[2] = { -1, 0 }, one_c128[2] = { 1, 0 };
    const CBLAS_TRANSPOSE op = adjoint ? CblasConjTrans : CblasNoTrans;
    const int rows = (int)m, columns = (int)n, inner = (int)depth;
    const int ldl = (int)l.ld, ldr = (int)r.ld, ldc = (int)c.ld;
    eddy__blas_enter();
    if (b->d == EDDY_FLOAT32)
        cblas_sgemm(b->order, op, CblasNoTrans, rows, columns, inner, -1, l.at,
                    ldl, r.at, ldr, 1, c.at, ldc);
    else if (b->d == EDDY_FLOAT64)
        cblas_dgemm(b->order, op, CblasNoTrans, rows, columns, inner, -1,
                    l.at, ldl, r.at, ldr, 1,
                    c.at, ldc);
    else if (b->d == EDDY_COMPLEX64)
        cblas_cgemm(b->order, op, CblasNoTrans, rows, columns, inner, minus_c64, l.at, ldl, r.at,
                    ldr, one_c64, c.at, ldc);
    else
        cblas_zgemm(b->order, op, CblasNoTrans, rows, columns, inner, minus_c128, l.at, ldl, r.at,
                    ldr, one_c128, c.at, ldc);
    eddy__blas_leave();
}

/* The upper triangle of c [n,n] -= r' r. */
static void subtract_square(const blocks *b, int64_t n, int64_t depth, part r, part c)
{
    const int size = (int)n, inner = (int)depth, ldr = (int)r.ld, ldc = (int)c.ld;
    eddy__blas_enter();
    if (b->d == EDDY_FLOAT32)
        cblas_ssyrk(b->order, CblasUpper, CblasTrans, size, inner, -1, r.at,
                    ldr, 1, c.at, ldc);
    else if (b->d == EDDY_FLOAT64)
        cblas_dsyrk(b->order, CblasUpper, CblasTrans, size, inner, -1, r.at,
                    ldr, 1, c.at, ldc);
    else if (b->d == EDDY_COMPLEX64)
        cblas_cherk(b->order, CblasUpper, CblasConjTrans, size, inner, -1, r.at, ldr, 1, c.at, ldc);
    else
        cblas_zherk(b->order, CblasUpper, CblasConjTrans, size, inner, -1, r.at, ldr, 1, c.at, ldc);
    eddy__blas_leave();
}

static void tile(const product *p, int64_t i, int64_t j)
{
    const blocks *b = p->b;
    const int64_t side = side_of(b->d);
    const int64_t m = eddy__min(side, p->m - i), n = eddy__min(side, p->n - j);
    for (int64_t q = 0; q < p->depth && !(q > 0 && ended(b)); q += DEPTH) {
        const int64_t depth = eddy__min(DEPTH, p->depth - q);
        const part    r = part_at(b, p->right, q, j), c = part_at(b, p->c, i, j);
        const part    l = p->adjoint ? part_at(b, p->left, q, i) : part_at(b, p->left, i, q);
        if (p->upper && i == j) subtract_square(b, n, depth, r, c);
        else subtract(b, p->adjoint, m, n, depth, l, r, c);
    }
}

static void tiles(void *arg, int64_t first, int64_t end, int who)
{
    const product *p = arg;
    const int64_t  side = side_of(p->b->d), rows = eddy__pieces(p->m, side);
    (void)who;
    for (int64_t t = first; t < end; t++)
        if (!p->upper || t % rows <= t / rows) tile(p, t % rows * side, t / rows * side);
}

static void run_product(product p)
{
    const int64_t side = side_of(p.b->d);
    eddy__parallel_or_stop(p.b->k, eddy__pieces(p.m, side) * eddy__pieces(p.n, side), 1, tiles, &p);
}

/* ---------------------------------------------------------------- solves -- */

/* b [n,columns] becomes op(t)^-1 b with t a triangle. */
typedef struct system {
    const blocks  *b;
    bool           lower, adjoint, unit;
    bool           minus;      /* -op(t)^-1 b */
    int64_t        n, columns;
    part           t, x;
    const int32_t *pivots;     /* exchanges of rows of x that come before */
    int64_t        exchanges;
} system;

static void solve_leaf(const system *s)
{
    static const float  one_c64[2] = { 1, 0 };
    static const double one_c128[2] = { 1, 0 };
    const CBLAS_ORDER     order = s->b->order;
    const CBLAS_UPLO      uplo = s->lower ? CblasLower : CblasUpper;
    const CBLAS_TRANSPOSE op = s->adjoint ? CblasConjTrans : CblasNoTrans;
    const CBLAS_DIAG      diag = s->unit ? CblasUnit : CblasNonUnit;
    const int rows = (int)s->n, columns = (int)s->columns, ldt = (int)s->t.ld, ldx = (int)s->x.ld;
    eddy__blas_enter();
    if (s->b->d == EDDY_FLOAT32)
        cblas_strsm(order, CblasLeft, uplo, op, diag, rows, columns, 1,
                    s->t.at, ldt, s->x.at, ldx);
    else if (s->b->d == EDDY_FLOAT64)
        cblas_dtrsm(order, CblasLeft, uplo, op, diag, rows, columns, 1,
                    s->t.at, ldt, s->x.at, ldx);
    else if (s->b->d == EDDY_COMPLEX64)
        cblas_ctrsm(order, CblasLeft, uplo, op, diag, rows, columns, one_c64, s->t.at, ldt, s->x.at,
                    ldx);
    else
        cblas_ztrsm(order, CblasLeft, uplo, op, diag, rows, columns, one_c128, s->t.at, ldt,
                    s->x.at, ldx);
    eddy__blas_leave();
}

/* The half that does not depend on the other one comes first. */
static void solve_halves(const system *s)
{
    const blocks *b = s->b;
    const int64_t h = half(s->n), rest = s->n - h;
    const bool    down = s->lower != s->adjoint;
    const part    across = s->lower ? part_at(b, s->t, h, 0) : part_at(b, s->t, 0, h);
    const part    head = s->x, tail = part_at(b, s->x, h, 0);
    system        first = *s, last = *s;
    if (ended(b)) return;
    if (s->n <= LEAF) {
        solve_leaf(s);
        return;
    }
    first.n = h;
    last.n = rest;
    last.t = part_at(b, s->t, h, h);
    last.x = tail;
    solve_halves(down ? &first : &last);
    run_product((product){ .b = b, .adjoint = s->adjoint, .m = down ? rest : h, .n = s->columns,
                           .depth = down ? h : rest, .left = across, .right = down ? head : tail,
                           .c = down ? tail : head });
    solve_halves(down ? &last : &first);
}

static void negate(const system *s)
{
    const bool    by_rows = s->b->order == CblasRowMajor;
    const int64_t lines = by_rows ? s->n : s->columns, each = by_rows ? s->columns : s->n;
    const int     numbers = (int)(eddy_dtype_is_complex(s->b->d) ? 2 * each : each);
    for (int64_t i = 0; i < lines; i++) {
        void *at = (by_rows ? part_at(s->b, s->x, i, 0) : part_at(s->b, s->x, 0, i)).at;
        if (eddy_dtype_real(s->b->d) == EDDY_FLOAT32) cblas_sscal(numbers, -1, at, 1);
        else cblas_dscal(numbers, -1, at, 1);
    }
}

static void solve_piece(void *arg, int64_t first, int64_t end, int who)
{
    const system *whole = arg;
    (void)who;
    for (int64_t i = first; i < end; i++) {
        system s = *whole;
        s.x = part_at(s.b, whole->x, 0, i * COLUMNS);
        s.columns = eddy__min(COLUMNS, whole->columns - i * COLUMNS);
        if (s.exchanges > 0)
            eddy__lapack_exchange(s.b->d, s.columns, s.x.at, s.x.ld, s.exchanges, s.pivots);
        if (s.minus) negate(&s);
        if (s.n > 0) solve_halves(&s);
    }
}

static void run_system(system s)
{
    eddy__parallel_or_stop(s.b->k, eddy__pieces(s.columns, COLUMNS), 1, solve_piece, &s);
}

void eddy__blocks_triangle_solve(const eddy_kernel *k, eddy_dtype d, bool lower, bool adjoint,
                                 bool unit, int64_t n, int64_t columns, const void *a, void *x)
{
    const blocks b = { k, d, CblasRowMajor };
    const system s = { .b = &b, .lower = lower, .adjoint = adjoint, .unit = unit, .n = n,
                       .columns = columns, .t = { (void *)(uintptr_t)a, n }, .x = { x, columns } };
    if (n == 0 || columns == 0) return;
    if ((double)n * (double)n * (double)columns < FEW) solve_leaf(&s);
    else run_system(s);
}

/* --------------------------------------------------------------- factors -- */

/* The upper triangle of a becomes u with u' u = a. */
static int cholesky(const blocks *b, int64_t n, part a)
{
    const int64_t h = half(n), rest = n - h;
    if (ended(b)) return 0;
    if (n <= LEAF) return eddy__lapack_cholesky(b->d, n, a.at, a.ld);
    const part right = part_at(b, a, 0, h);
    const int  bad = cholesky(b, h, a);
    if (bad != 0) return bad;
    run_system((system){ .b = b, .adjoint = true, .n = h, .columns = rest, .t = a, .x = right });
    run_product((product){ .b = b, .adjoint = true, .upper = true, .m = rest, .n = rest, .depth = h,
                           .left = right, .right = right, .c = part_at(b, a, h, h) });
    const int later = cholesky(b, rest, part_at(b, a, h, h));
    return later == 0 ? 0 : (int)h + later;
}

int eddy__blocks_cholesky(const eddy_kernel *k, eddy_dtype d, int64_t n, void *a)
{
    const blocks b = { k, d, CblasColMajor };
    if (n <= side_of(d)) return eddy__lapack_cholesky(d, n, a, n);
    return cholesky(&b, n, (part){ a, n });
}

/* a [m,n] becomes l u with its rows exchanged. */
static int lu(const blocks *b, int64_t m, int64_t n, part a, int32_t *pivots)
{
    const int64_t h = half(n), rest = n - h;
    if (ended(b)) return 0;
    if (n <= NARROW || (n <= LEAF && m * n <= PANEL))
        return eddy__lapack_lu(b->d, m, n, a.at, a.ld, pivots);
    const part right = part_at(b, a, 0, h), low = part_at(b, a, h, 0), last = part_at(b, a, h, h);
    const int  bad = lu(b, m, h, a, pivots);
    if (ended(b)) return 0;
    run_system((system){ .b = b, .lower = true, .unit = true, .n = h, .columns = rest, .t = a,
                         .x = right, .pivots = pivots, .exchanges = h });
    run_product((product){ .b = b, .m = m - h, .n = rest, .depth = h, .left = low, .right = right,
                           .c = last });
    const int later = lu(b, m - h, rest, last, pivots + h);
    if (ended(b)) return 0;
    run_system((system){ .b = b, .columns = h, .x = low, .pivots = pivots + h, .exchanges = rest });
    for (int64_t i = h; i < n; i++) pivots[i] += (int32_t)h;
    return bad != 0 ? bad : later != 0 ? (int)h + later : 0;
}

int eddy__blocks_lu(const eddy_kernel *k, eddy_dtype d, int64_t n, void *a, int32_t *pivots)
{
    const blocks b = { k, d, CblasColMajor };
    if (n <= side_of(d)) return eddy__lapack_lu(d, n, n, a, n, pivots);
    return lu(&b, n, n, (part){ a, n }, pivots);
}

static void swap_bytes(char *a, char *b, size_t bytes)
{
    char kept[256];
    for (size_t n; bytes > 0; a += n, b += n, bytes -= n) {
        n = bytes < sizeof kept ? bytes : sizeof kept;
        memcpy(kept, a, n);
        memcpy(a, b, n);
        memcpy(b, kept, n);
    }
}

/* Exchanges row i of b with the one that the pivot names. */
static void swap_rows(char *b, size_t row, int64_t i, const int32_t *pivots)
{
    const int64_t j = pivots[i] - 1;
    if (i != j) swap_bytes(b + (size_t)i * row, b + (size_t)j * row, row);
}

void eddy__blocks_lu_solve(const eddy_kernel *k, eddy_dtype d, bool adjoint, int64_t n,
                           int64_t columns, const void *lu, const int32_t *pivots, void *x)
{
    const size_t row = (size_t)columns * eddy_dtype_size(d);
    for (int64_t i = 0; adjoint && i < n && !eddy__stopped_at(k->stop, i * 256); i++)
        swap_rows(x, row, i, pivots);
    eddy__blocks_triangle_solve(k, d, !adjoint, adjoint, adjoint, n, columns, lu, x);
    eddy__blocks_triangle_solve(k, d, adjoint, adjoint, !adjoint, n, columns, lu, x);
    for (int64_t i = n; !adjoint && i-- > 0 && !eddy__stopped_at(k->stop, i * 256);)
        swap_rows(x, row, i, pivots);
}

/* --------------------------------------------------------------- inverse -- */

/* The upper triangle of a [n,n] becomes its inverse: of the part right of the first half, by the
 * inverses of both halves. */
static void invert_triangle(const blocks *b, int64_t n, part a)
{
    const int64_t h = half(n), rest = n - h;
    const blocks  turned = { b->k, b->d, CblasRowMajor };
    const part    right = part_at(b, a, 0, h), last = part_at(b, a, h, h);
    if (ended(b)) return;
    if (n <= LEAF) {
        eddy__lapack_triangle_inverse(b->d, n, a.at, a.ld);
        return;
    }
    run_system((system){ .b = b, .n = h, .columns = rest, .t = a, .x = right });
    run_system((system){ .b = &turned, .lower = true, .minus = true, .n = rest, .columns = h,
                         .t = last, .x = right });
    invert_triangle(b, h, a);
    invert_triangle(b, rest, last);
}

/* Moves the columns of l [n,count] below the diagonal, which begins at row j, to `to`. */
static void take_below(const blocks *b, int64_t n, int64_t j, int64_t count, part a, part to)
{
    const size_t size = eddy_dtype_size(b->d);
    for (int64_t c = 0; c < count; c++) {
        const int64_t first = j + c + 1;
        memcpy(part_at(b, to, first, c).at, part_at(b, a, first, j + c).at,
               (size_t)(n - first) * size);
        memset(part_at(b, a, first, j + c).at, 0, (size_t)(n - first) * size);
    }
}

/* The inverse of u times that of l, from the last columns to the first ones, as in LAPACK's
 * getri. */
void eddy__blocks_lu_inverse(const eddy_kernel *k, eddy_dtype d, int64_t n, void *lu,
                             const int32_t *pivots, void *work, int64_t elements)
{
    const blocks b = { k, d, CblasColMajor }, turned = { k, d, CblasRowMajor };
    const part   a = { lu, n }, l = { work, n };
    const size_t column = (size_t)n * eddy_dtype_size(d);
    if (n <= side_of(d)) {
        eddy__lapack_lu_inverse(d, n, lu, pivots, work, elements);
        return;
    }
    invert_triangle(&b, n, a);
    for (int64_t j = (n - 1) / LEAF * LEAF; j >= 0 && !ended(&b); j -= LEAF) {
        const int64_t count = eddy__min(LEAF, n - j), end = j + count;
        take_below(&b, n, j, count, a, l);
        if (end < n)
            run_product((product){ .b = &b, .m = n, .n = count, .depth = n - end,
                                   .left = part_at(&b, a, 0, end), .right = part_at(&b, l, end, 0),
                                   .c = part_at(&b, a, 0, j) });
        run_system((system){ .b = &turned, .unit = true, .n = count, .columns = n,
                             .t = part_at(&b, l, j, 0), .x = part_at(&b, a, 0, j) });
    }
    for (int64_t i = n; i-- > 0 && !eddy__stopped_at(k->stop, i * 256);)
        swap_rows(lu, column, i, pivots);
}

int64_t eddy__blocks_inverse_work(eddy_dtype d, int64_t n)
{
    return n <= side_of(d) ? eddy__lapack_inverse_work(d, n) : n * LEAF;
}
