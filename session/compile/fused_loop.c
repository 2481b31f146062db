/* fused_loop.c -- execution of several fused instructions as one loop over tiles.
 *
 * The loop applies all instructions to one tile of elements before it proceeds to the next tile.
 * A value that is read only inside the loop stays in the tile: it has no memory of its own, and
 * never leaves the cache. The inner loop of each operation is called on the same elements as it
 * would be alone, so the values have the same bits; reductions use the blocks of
 * ops/kernels/reduction/reduce_engine.h.
 *
 * If the session checks values, the result of each part is checked while the tile is in the cache
 * (numerics.h). */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "session/compile/fused_checks.h"

#include <string.h>

/* The first part that failed in a worker; the rest is set only if one did. */
typedef struct failure {
    int             part;      /* the number of parts if none failed */
    eddy_status     status;
    eddy_finiteness found;     /* of an element that is refused */
    int64_t         element;
} failure;

typedef struct running {
    const fused     *f;
    char            *common, *workers;
    int              ready;    /* parts to run: those before an update of an unset variable */
    bool             infinite; /* an operand that is overwritten has infinities */
    const eddy_stop *stop;
    failure          failed[EDDY_MOST_THREADS];   /* by worker */
} running;

static inline void *at_tile(const location *p, char *registers, int64_t at)
{
    return p->memory ? (char *)p->memory->data + (size_t)at * p->size : registers + p->offset;
}

/* ------------------------------------------------------------------ operands -- */

/* Operands of which every tile has the same elements. */
static void broadcast_whole(const fused *f, char *registers)
{
    const int64_t n = f->count < f->tile ? f->count : f->tile;
    for (int i = 0; i < f->n_broadcasts; i++) {
        const broadcast *s = &f->broadcasts[i];
        void            *to = registers + s->to.offset;
        if (!s->once) continue;
        if (s->from->count == 1) eddy__spread(to, s->from->data, s->to.size, n);
        else eddy__expand(&s->expansion, s->to.size, to, s->from->data, 0, n);
    }
}

static inline void broadcast_tile(const fused *f, char *registers, int64_t at, int64_t n)
{
    for (int i = 0; i < f->n_broadcasts; i++) {
        const broadcast *s = &f->broadcasts[i];
        if (s->once) continue;
        eddy__expand(&s->expansion, s->to.size, registers + s->to.offset, s->from->data, at, n);
    }
}

/* -------------------------------------------------------------------- chunks -- */

static void start_reductions(const fused *f, char *registers)
{
    if (f->n_reductions == 0) return;
    for (int i = 0; i < f->n_parts; i++)
        if (f->parts[i].fold)
            eddy__block_start(&f->parts[i].fold->blocks, registers + f->parts[i].fold->acc);
}

/* A chunk is one block of each reduction, or several blocks if there are no reductions. */
static void end_reductions(const running *r, char *registers, int64_t chunk)
{
    const fused *f = r->f;
    for (int i = 0; f->n_reductions > 0 && i < f->n_parts; i++) {
        const fold *p = f->parts[i].fold;
        if (!p) continue;
        const size_t size = eddy__blocks_part(&p->blocks);
        eddy__block_end(&p->blocks, registers + p->acc);
        memcpy(r->common + p->parts + (size_t)chunk * size, registers + p->acc, size);
    }
}

/* Prefetches n elements from `at` on of all streams, while another tile is processed. Hardware
 * prefetchers stop at page boundaries. Not inlined, so that the loop over the parts of small plans
 * keeps its registers. */
static __attribute__((noinline)) void fetch_ahead(const fused *f, int64_t at, int64_t n)
{
    enum { LINE = 64 };
    for (int k = 0; k < f->n_streams; k++) {
        const location *s = &f->streams[k];
        const char     *from = (const char *)s->memory->data + (size_t)at * s->size;
        const char     *end = from + (size_t)n * s->size;
        for (; from < end; from += LINE) __builtin_prefetch(from, 1);
    }
}

/* The elements of each stream that a part prefetches, at least a line of most types. */
static inline int64_t share_of(int64_t n, int parts)
{
    enum { LEAST = 16 };
    return (n / parts + LEAST - 1) & ~(int64_t)(LEAST - 1);
}

/* Refuses elements of the result of a part, [at, at + n) of the loop, if some are not finite. Not
 * inlined, like fetch_ahead. */
static __attribute__((noinline)) eddy_status test(running *r, int i, const void *y, int64_t at,
                                                  int64_t n, int worker)
{
    const fused          *f = r->f;
    const eddy_dtype      d = eddy__part_result(&f->parts[i])->type.dtype;
    const eddy_finiteness found = eddy__finiteness(d, y, n);
    const int             mode = f->checks->of->mode;
    if (found == EDDY_FINITE) return EDDY_OK;
    const bool inherits = found == EDDY_INFINITE && mode == EDDY_NUMERICS_MADE &&
                          (r->infinite || eddy__fused_reads_infinity(f, at, at + n));
    if (!eddy__numerics_refuses(mode, found, inherits ? EDDY_INFINITE : EDDY_FINITE)) {
        atomic_store_explicit(&f->checks->of->infinite, true, memory_order_relaxed);
        return EDDY_OK;
    }
    if (i >= r->failed[worker].part) return EDDY_CHECK_FAILED;
    r->failed[worker] = (failure){ .part = i, .status = EDDY_CHECK_FAILED, .found = found,
                                   .element = at + eddy__find_not_finite(d, y, 0, n, found) };
    return EDDY_CHECK_FAILED;
}

/* Compiled once with checks of values and once without. */
static inline __attribute__((always_inline)) void run_parts(running *r, char *registers,
                                                            int64_t from, int64_t at, int64_t n,
                                                            int worker, bool checks)
{
    const fused  *f = r->f;
    const int64_t end = f->count - at < 2 * n ? f->count : at + 2 * n;   /* of the next tile */
    const int64_t share = f->n_streams > 0 && r->ready > 0 ? share_of(n, r->ready) : n;
    int64_t       next = at + n;
    broadcast_tile(f, registers, at, n);
    for (int i = 0; i < r->ready; i++) {
        const part *p = &f->parts[i];
        const void *x[LOOP_OPERANDS];
        if (f->n_streams > 0 && next < end) {
            fetch_ahead(f, next, share < end - next ? share : end - next);
            next += share;
        }
        for (int j = 0; j < p->n; j++) x[j] = at_tile(&p->x[j], registers, at);
        if (!p->fn) {
            eddy__block_take(&p->fold->blocks, registers + p->fold->acc, at - from, x[0], n);
            continue;
        }
        void       *y = at_tile(&p->y, registers, at);
        eddy_status s = p->fn(n, y, x, p->attrs);
        if (checks && p->tested && s == EDDY_OK && !eddy__all_finite(p->tested, y, n) &&
            test(r, i, y, at, n, worker) != EDDY_OK)
            return;
        if (s == EDDY_OK || i >= r->failed[worker].part) continue;
        r->failed[worker] = (failure){ .part = i, .status = s };
    }
}

static __attribute__((noinline)) void run_checked_tile(running *r, char *registers, int64_t from,
                                                       int64_t at, int64_t n, int worker)
{
    run_parts(r, registers, from, at, n, worker, true);
}

static void run_tile(running *r, char *registers, int64_t from, int64_t at, int64_t n, int worker)
{
    if (r->f->checks) run_checked_tile(r, registers, from, at, n, worker);
    else run_parts(r, registers, from, at, n, worker, false);
}

enum { CHUNKS_PER_LOOK = 4 };

static void run_chunks(void *arg, int64_t first, int64_t end, int worker)
{
    running     *r = arg;
    const fused *f = r->f;
    char        *registers = r->workers + (size_t)worker * f->worker_bytes;
    broadcast_whole(f, registers);
    for (int64_t chunk = first; chunk < end; chunk++) {
        if (chunk % CHUNKS_PER_LOOK == 0 && eddy__stopped(r->stop)) return;
        const int64_t from = chunk * f->chunk;
        const int64_t to = f->count - from < f->chunk ? f->count : from + f->chunk;
        start_reductions(f, registers);
        for (int64_t at = from; at < to; at += f->tile)
            run_tile(r, registers, from, at, to - at < f->tile ? to - at : f->tile, worker);
        if (r->failed[worker].part < f->n_parts && f->checks) return;
        end_reductions(r, registers, chunk);
    }
}

/* ------------------------------------------------------------------- the loop -- */

/* The number of parts before the first update of a variable without a value. */
static int ready_parts(const fused *f)
{
    for (int i = 0; i < f->n_parts; i++) {
        const part *p = &f->parts[i];
        if (!p->update || p->update->variable->initialized || eddy__part_replaces(p)) continue;
        bool given = false;
        for (int j = 0; j < i; j++)
            given = given || (eddy__part_replaces(&f->parts[j]) &&
                              f->parts[j].update->variable == p->update->variable);
        if (!given) return i;
    }
    return f->n_parts;
}

void eddy__part_alone(const part *p, const eddy_kernel *k, instruction *to)
{
    *to = (instruction){ .kernel = *k, .run = eddy__kernel_of(p->op), .resizes = -1,
                         .call = *(const eddy_kernel_call *)k->impl };
    to->call.node = p->node;
    to->kernel.op = p->op;
    to->kernel.attrs = p->attrs;
    to->kernel.in = p->at;
    to->kernel.out = p->at + p->n_in;
    to->kernel.n_in = p->n_in;
    to->kernel.n_out = 1;
    to->kernel.state = to->kernel.scratch = NULL;
    to->kernel.scratch_size = 0;
    to->kernel.op_seed = p->node->id;
    to->kernel.impl = &to->call;
}

/* The variables have values now. Runs the update that failed, so that it records the error. */
static eddy_status finish_updates(const fused *f, const eddy_kernel *k, int ready)
{
    instruction failed;
    for (int i = 0; i < ready; i++)
        if (f->parts[i].update) f->parts[i].update->variable->initialized = true;
    if (ready == f->n_parts) return EDDY_OK;
    eddy__part_alone(&f->parts[ready], k, &failed);
    return failed.run(&failed.kernel);
}

static void finish_reductions(const running *r)
{
    const fused *f = r->f;
    for (int i = 0; f->n_reductions > 0 && i < f->n_parts; i++)
        if (f->parts[i].fold)
            eddy__blocks_finish(&f->parts[i].fold->blocks, f->parts[i].y.memory->data,
                                r->common + f->parts[i].fold->parts);
}

/* The results of reductions, of which all elements are in memory. */
static eddy_status check_reductions(const running *r, const eddy_kernel *k)
{
    const fused *f = r->f;
    for (int i = 0; f->n_reductions > 0 && i < f->n_parts; i++) {
        const part        *p = &f->parts[i];
        const eddy_buffer *y = eddy__part_result(p);
        if (!p->fold) continue;
        const eddy_finiteness found = eddy__finiteness(y->type.dtype, y->data, y->count);
        numerics  *to = f->checks->of;
        const bool inherits = found == EDDY_INFINITE && to->mode == EDDY_NUMERICS_MADE &&
                              (r->infinite || atomic_load(&to->infinite) ||
                               eddy__fused_reads_infinity(f, 0, f->count));
        if (!eddy__numerics_refuses(to->mode, found, inherits ? EDDY_INFINITE : EDDY_FINITE)) {
            if (found != EDDY_FINITE) atomic_store(&to->infinite, true);
            continue;
        }
        instruction failed;
        eddy__part_alone(p, k, &failed);
        atomic_store(&to->found, true);
        return eddy__numerics_fail(&failed.kernel, 0,
                                   eddy__find_not_finite(y->type.dtype, y->data, 0, y->count,
                                                         found), found, false);
    }
    return EDDY_OK;
}

/* The part that failed first records why. */
static eddy_status fail_part(const running *r, const eddy_kernel *k, const failure *why)
{
    const fused *f = r->f;
    instruction  failed;
    eddy__part_alone(&f->parts[why->part], k, &failed);
    if (!f->checks || why->status != EDDY_CHECK_FAILED)
        return eddy__elementwise_fail(&failed.kernel, why->status);
    atomic_store(&f->checks->of->found, true);
    return eddy__numerics_fail(&failed.kernel, 0, why->element, why->found, false);
}

/* Sizes chunks to take about 20 microseconds. The cost model is a third of a nanosecond for
 * each part and element of the most expensive operations, and a tenth for most others. */
static int64_t grain_of(const fused *f)
{
    enum { TENTHS_OF_NANOSECONDS = 200000, EACH = 2 };
    return 1 + TENTHS_OF_NANOSECONDS / (EACH * f->n_parts) / f->chunk;
}

eddy_status eddy__fused_kernel(eddy_kernel *k)
{
    const fused *f = k->state;
    running      r;   /* not zeroed: that would take as long as a small loop */
    r.f = f;
    r.stop = k->stop;
    r.common = k->scratch;
    r.workers = r.common + f->common_bytes;
    r.ready = f->updates ? ready_parts(f) : f->n_parts;
    for (int w = 0; w < k->threads; w++) r.failed[w].part = f->n_parts;
    r.infinite = f->checks && eddy__fused_checks_begin(f);
    if (f->count <= f->chunk) run_chunks(&r, 0, 1, 0);
    else
        eddy__parallel_or_stop(k, (f->count + f->chunk - 1) / f->chunk, grain_of(f), run_chunks,
                               &r);
    const failure *first = r.failed;
    for (int w = 1; w < k->threads; w++)
        if (r.failed[w].part < first->part) first = &r.failed[w];
    if (first->part < f->n_parts) return fail_part(&r, k, first);
    finish_reductions(&r);
    if (f->checks && !eddy__stopped(k->stop)) {
        const eddy_status s = check_reductions(&r, k);
        if (s != EDDY_OK) return s;
        eddy__fused_checks_end(f);
    }
    return f->updates ? finish_updates(f, k, r.ready) : EDDY_OK;
}
