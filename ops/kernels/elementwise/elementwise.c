/* elementwise.c -- elementwise loops with broadcasting, for every operation that has an inner
 * loop (op->tile).
 *
 * When a plan is made, adjacent dimensions in which every operand has the same stride pattern are
 * merged. The innermost merged dimension is then divided into tiles. An operand that is
 * contiguous there is passed in place; one that is constant there, or that repeats a short row, is
 * first broadcast to a tile. Without broadcasting the whole tensor is one run. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "graph/base/cpu.h"

#include <stdatomic.h>
#include <string.h>

/* A grain of cheap arithmetic takes about 20 microseconds. */
enum { TILE = 1024, SHORT = TILE / 4, MAX_OPERANDS = 5, MAX_SIZE = 16, GRAIN = 32768 };

bool eddy__infer_broadcast_shape(eddy_infer *c)
{
    eddy_shape s = c->in[0].shape;
    for (int i = 1; i < c->n_in; i++)
        if (!eddy_shape_broadcast(s, c->in[i].shape, &s))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "shapes do not broadcast");
    c->out[0].shape = s;
    return true;
}

static bool infer_common(eddy_infer *c, eddy_dtype out)
{
    c->out[0].dtype = out == EDDY_DEFAULT_DTYPE ? c->in[0].dtype : out;
    return eddy__infer_broadcast_shape(c);
}

bool eddy__infer_elementwise(eddy_infer *c) { return infer_common(c, EDDY_DEFAULT_DTYPE); }
bool eddy__infer_comparison(eddy_infer *c)  { return infer_common(c, EDDY_BOOL); }

/* ------------------------------------------------------------- the loop -- */

/* Merged dimensions, outermost first; step[i][d] is operand i's step in
 * elements along d, 0 where it is broadcast. Along the innermost dimension, operand i may repeat
 * its first `repeats[i]` elements; their number is that of a row, or 0. A constant is spread to a
 * tile once for each innermost run, which takes as long as other work on the tile, so that many
 * runs have shorter tiles. */
typedef struct loop {
    eddy_tile_fn fn;
    int          rank, n;
    int64_t      row, repeats[MAX_OPERANDS];
    int64_t      count, tile;
    int64_t      dim[EDDY_MAX_RANK];
    int64_t      step[MAX_OPERANDS][EDDY_MAX_RANK];
    size_t       size[MAX_OPERANDS], out_size;
    bool         whole;            /* one contiguous run, no broadcasting */
} loop;

/* Steps of an operand of shape `in` along the dimensions of `out`. */
static void operand_steps(eddy_shape in, eddy_shape out, int64_t *step)
{
    int64_t stride = 1;
    for (int d = out.rank - 1, k = in.rank - 1; d >= 0; d--, k--) {
        int64_t dim = k >= 0 ? in.dim[k] : 1;
        step[d] = dim == 1 ? 0 : stride;
        stride *= dim;
    }
}

static bool mergeable(const loop *l, int64_t step[][EDDY_MAX_RANK], int d, int64_t dim)
{
    for (int i = 0; i < l->n; i++)
        if (l->step[i][l->rank - 1] != step[i][d] * dim) return false;
    return true;
}

/* Joins the last two dimensions where rows are short and each operand is contiguous in both, or
 * constant, or has the same row again and again: a call of fn for each short row takes longer than
 * the row. */
static void join_short_rows(loop *l)
{
    const int inner = l->rank - 1;
    if (l->rank < 2 || l->dim[inner] > SHORT) return;
    for (int i = 0; i < l->n; i++) {
        const int64_t each = l->step[i][inner], next = l->step[i][inner - 1];
        if (next != 0 && (each == 0 || next != l->dim[inner])) return;
    }
    l->row = l->dim[inner];
    for (int i = 0; i < l->n; i++) {
        const bool again = l->step[i][inner] != 0 && l->step[i][inner - 1] == 0;
        l->repeats[i] = again ? l->row : 0;
        l->step[i][inner - 1] = again ? 0 : l->step[i][inner];
    }
    l->dim[inner - 1] *= l->row;
    l->rank--;
}

static void loop_make(loop *l, eddy_tile_fn fn, eddy_type out, int n, const eddy_type *in)
{
    int64_t step[MAX_OPERANDS][EDDY_MAX_RANK];
    *l = (loop){ .fn = fn,
                 .n = n,
                 .count = eddy_shape_count(out.shape),
                 .out_size = eddy_dtype_size(out.dtype) };
    for (int i = 0; i < n; i++) {
        operand_steps(in[i].shape, out.shape, step[i]);
        l->size[i] = eddy_dtype_size(in[i].dtype);
    }
    for (int d = 0; d < out.shape.rank; d++) {
        int64_t dim = out.shape.dim[d];
        if (dim == 1) continue;
        bool merge = l->rank > 0 && mergeable(l, step, d, dim);
        if (merge) l->dim[l->rank - 1] *= dim;
        else l->dim[l->rank++] = dim;
        for (int i = 0; i < n; i++) l->step[i][l->rank - 1] = step[i][d];
    }
    l->whole = l->rank <= 1;
    for (int i = 0; i < n && l->rank == 1; i++) l->whole = l->whole && l->step[i][0] == 1;
    join_short_rows(l);
    l->tile = l->row > 0 ? TILE - TILE % l->row : TILE;
    for (int i = 0; i < n && l->rank > 1 && l->row == 0; i++)
        if (l->step[i][l->rank - 1] == 0) l->tile = SHORT;
}

EDDY_INLINE void spread_2_all(uint16_t *to, uint16_t x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = x;
}
EDDY_CLONES_OF(spread_2, (uint16_t *to, uint16_t x, int64_t n), (to, x, n))

EDDY_INLINE void spread_4_all(uint32_t *to, uint32_t x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = x;
}
EDDY_CLONES_OF(spread_4, (uint32_t *to, uint32_t x, int64_t n), (to, x, n))

EDDY_INLINE void spread_8_all(uint64_t *to, uint64_t x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = x;
}
EDDY_CLONES_OF(spread_8, (uint64_t *to, uint64_t x, int64_t n), (to, x, n))

/* For a few elements, selecting an instruction set costs more than it saves. */
void eddy__spread(void *to, const void *from, size_t size, int64_t n)
{
    enum { FEW = 64 };
    switch (size) {
    case 1: memset(to, *(const uint8_t *)from, (size_t)n); return;
    case 2: (n < FEW ? spread_2_base : EDDY_BEST_OF(spread_2))(to, *(const uint16_t *)from, n);
            return;
    case 4: (n < FEW ? spread_4_base : EDDY_BEST_OF(spread_4))(to, *(const uint32_t *)from, n);
            return;
    case 8: (n < FEW ? spread_8_base : EDDY_BEST_OF(spread_8))(to, *(const uint64_t *)from, n);
            return;
    default: for (int64_t i = 0; i < n; i++) memcpy((char *)to + (size_t)i * size, from, size);
    }
}

/* Fills `to` with n bytes that repeat the `row` bytes of x, beginning `skip` bytes behind it. */
static void repeat(char *to, const char *x, int64_t row, int64_t skip, int64_t n)
{
    for (int64_t at = 0, m; at < n; at += m, skip = 0) {
        m = row - skip < n - at ? row - skip : n - at;
        memcpy(to + at, x + skip, (size_t)m);
    }
}

/* Computes one innermost run of n elements, of which `skip` were left out, in tiles. */
static eddy_status run_row(const loop *l, const void *attrs, char *y, const char *const *x,
                           int64_t skip, int64_t n)
{
    _Alignas(64) char tile[MAX_OPERANDS][TILE * MAX_SIZE];
    const void   *arg[MAX_OPERANDS];
    eddy_status   s = EDDY_OK;
    const int     inner = l->rank - 1;
    const int64_t most = l->tile, first = n < most ? n : most;
    for (int i = 0; i < l->n; i++)
        if (l->step[i][inner] == 0) {
            const int64_t size = (int64_t)l->size[i];
            if (l->repeats[i] == 0) eddy__spread(tile[i], x[i], l->size[i], first);
            else repeat(tile[i], x[i], l->row * size, skip % l->row * size, first * size);
            arg[i] = tile[i];
        }
    for (int64_t at = 0; at < n; at += most) {
        int64_t m = n - at < most ? n - at : most;
        for (int i = 0; i < l->n; i++)
            if (l->step[i][inner] != 0) arg[i] = x[i] + (size_t)at * l->size[i];
        eddy_status t = l->fn(m, y + (size_t)at * l->out_size, arg, attrs);
        if (t != EDDY_OK) s = t;
    }
    return s;
}

/* Steps to the next row, as an odometer does. */
static void next_row(const loop *l, int64_t *index, const char **at)
{
    for (int d = l->rank - 2; d >= 0; d--) {
        for (int i = 0; i < l->n; i++) at[i] += l->step[i][d] * (int64_t)l->size[i];
        if (++index[d] < l->dim[d]) return;
        for (int i = 0; i < l->n; i++) at[i] -= l->step[i][d] * (int64_t)l->size[i] * l->dim[d];
        index[d] = 0;
    }
}

/* Elements [from, to) of the result, with broadcasting, row by row; the first and the last row may
 * be incomplete. */
static eddy_status run_rows(const loop *l, const void *attrs, char *y, const void *const *x,
                            int64_t from, int64_t to)
{
    const int   inner = l->rank - 1;
    int64_t     index[EDDY_MAX_RANK], rest = from;
    const char *at[MAX_OPERANDS];
    eddy_status s = EDDY_OK;
    for (int i = 0; i < l->n; i++) at[i] = x[i];
    for (int d = inner; d >= 0; d--, rest /= l->dim[d + 1]) {
        index[d] = rest % l->dim[d];
        for (int i = 0; i < l->n; i++) at[i] += l->step[i][d] * (int64_t)l->size[i] * index[d];
    }
    for (int64_t n, skip = index[inner]; from < to; from += n, skip = 0) {
        n = l->dim[inner] - skip < to - from ? l->dim[inner] - skip : to - from;
        eddy_status t = run_row(l, attrs, y + (size_t)from * l->out_size, at, skip, n);
        if (t != EDDY_OK) s = t;
        for (int i = 0; i < l->n; i++) at[i] -= l->step[i][inner] * (int64_t)l->size[i] * skip;
        next_row(l, index, at);
    }
    return s;
}

/* Elements [from, to) of the result. */
static eddy_status loop_run(const loop *l, const void *attrs, char *y, const void *const *x,
                            int64_t from, int64_t to)
{
    const void *at[MAX_OPERANDS];
    if (from >= to) return EDDY_OK;
    if (!l->whole) return run_rows(l, attrs, y, x, from, to);
    for (int i = 0; i < l->n; i++) at[i] = (const char *)x[i] + (size_t)from * l->size[i];
    return l->fn(to - from, y + (size_t)from * l->out_size, at, attrs);
}

/* ------------------------------------------------------------ expansions -- */

eddy_expansion eddy__expansion_of(eddy_shape operand, eddy_shape result)
{
    eddy_expansion e = { 0 };
    int64_t        step[EDDY_MAX_RANK];
    operand_steps(operand, result, step);
    for (int d = 0; d < result.rank; d++) {
        const int64_t dim = result.dim[d];
        if (dim == 1) continue;
        if (e.rank > 0 && e.step[e.rank - 1] == step[d] * dim) e.dim[e.rank - 1] *= dim;
        else e.dim[e.rank++] = dim;
        e.step[e.rank - 1] = step[d];
    }
    if (e.rank == 0) e.dim[e.rank++] = 1;
    return e;
}

void eddy__expand(const eddy_expansion *e, size_t size, void *to, const void *from, int64_t at,
                  int64_t n)
{
    const int   inner = e->rank - 1;
    int64_t     index[EDDY_MAX_RANK], offset = 0, rest = at;
    char       *y = to;
    for (int d = inner; d >= 0; d--) {
        index[d] = rest % e->dim[d];
        rest /= e->dim[d];
        offset += index[d] * e->step[d];
    }
    while (n > 0) {
        int64_t m = e->dim[inner] - index[inner];
        if (m > n) m = n;
        const char *x = (const char *)from + offset * (int64_t)size;
        if (e->step[inner] == 0) eddy__spread(y, x, size, m);
        else memcpy(y, x, (size_t)m * size);
        y += (size_t)m * size;
        n -= m;
        offset -= index[inner] * e->step[inner];
        index[inner] = 0;
        for (int d = inner - 1; d >= 0; d--) {
            offset += e->step[d];
            if (++index[d] < e->dim[d]) break;
            offset -= e->step[d] * e->dim[d];
            index[d] = 0;
        }
    }
}

/* --------------------------------------------------------------- kernel -- */

eddy_status eddy__elementwise_prepare(eddy_kernel *k)
{
    eddy_type in[MAX_OPERANDS];
    if (k->n_in > MAX_OPERANDS)
        return eddy_kernel_fail(k, EDDY_UNIMPLEMENTED, "%d operands given; expected 1 to %d",
                                k->n_in, MAX_OPERANDS);
    loop *l = eddy_kernel_state(k, sizeof *l);
    if (!l) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    for (int i = 0; i < k->n_in; i++) in[i] = k->in[i]->type;
    eddy_tile_fn fn = k->op->tile(in, &k->out[0]->type);
    if (!fn)
        return eddy_kernel_fail(k, EDDY_BAD_DTYPE, "not implemented for %s",
                                eddy_dtype_name(in[0].dtype));
    loop_make(l, fn, k->out[0]->type, k->n_in, in);
    return EDDY_OK;
}

eddy_status eddy__elementwise_fail(eddy_kernel *k, eddy_status s)
{
    const char *reason = k->op->no_result;
    return eddy_kernel_fail(k, s, "%s", reason ? reason : "an element has no result");
}

/* One run of a loop, cut into pieces. */
typedef struct cut {
    const loop *l;
    const void *attrs, *x[MAX_OPERANDS];
    char       *y;
    atomic_int  status;            /* EDDY_OK, or the status of a piece that failed */
    const eddy_stop *stop;
} cut;

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    cut        *c = arg;
    eddy_status s = EDDY_OK;
    (void)worker;
    for (int64_t end; from < to && s == EDDY_OK && !eddy__stopped(c->stop); from = end) {
        end = to - from < GRAIN ? to : from + GRAIN;
        s = loop_run(c->l, c->attrs, c->y, c->x, from, end);
    }
    if (s != EDDY_OK) atomic_store_explicit(&c->status, (int)s, memory_order_relaxed);
}

eddy_status eddy__elementwise_kernel(eddy_kernel *k)
{
    cut c = { .l = k->state, .attrs = k->attrs, .y = k->out[0]->data, .status = EDDY_OK,
              .stop = k->stop };
    for (int i = 0; i < k->n_in; i++) c.x[i] = k->in[i]->data;
    eddy__parallel_or_stop(k, c.l->count, GRAIN, run_piece, &c);
    const eddy_status s = (eddy_status)atomic_load_explicit(&c.status, memory_order_relaxed);
    return s == EDDY_OK ? s : eddy__elementwise_fail(k, s);
}

eddy_status eddy__elementwise_apply(eddy_tile_fn fn, const void *attrs, eddy_type out, void *y,
                                    int n, const eddy_type *in, const void *const *x)
{
    loop l;
    if (n > MAX_OPERANDS) return EDDY_UNIMPLEMENTED;
    loop_make(&l, fn, out, n, in);
    return loop_run(&l, attrs, y, x, 0, l.count);
}
