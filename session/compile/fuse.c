/* fuse.c -- loop fusion: consecutive elementwise instructions over the same number of elements
 * become one instruction, together with the sums over their results. */
#include "session/compile/fused_loop.h"

#include <string.h>

enum { MAX_PARTS = 1 << 14, CACHE = 20 * 1024, MIN_TILE = 64, FEW_TILES = 8, MAX_STREAMS = 16 };
/* Of tiles that are prefetched from memory: the fastest cache also holds lines on their way. A
 * step of Adam with ten million parameters takes 8.3 ms with 14 KiB and 9.9 ms with 20. */
enum { CACHE_OF_STREAMS = 14 * 1024 };

/* ------------------------------------------------------------------ selection -- */

/* The result of an update is the memory of its variable. */
static bool is_in_variable(const eddy_plan *p, const instruction *i)
{
    const eddy_kernel *k = &i->kernel;
    return (k->op->flags & EDDY_OP_UPDATES) && i->resizes < 0 && k->n_out == 1 &&
           p->buffer_root[k->in[0] - p->buffers] == p->buffer_root[k->out[0] - p->buffers];
}

/* True if the loop can include this instruction; then adds it to the loop. */
static bool loop_takes(const eddy_plan *p, tile_loop *l, const instruction *i)
{
    return i->run == eddy__kernel_of(i->kernel.op) &&
           eddy__loop_takes(l, &i->kernel, is_in_variable(p, i));
}

/* True if an operand is the result of a reduction in the loop, which is not available before
 * the loop ends. */
static bool reads_reduction(const eddy_plan *p, const int32_t *folded, int32_t first,
                            const instruction *i)
{
    for (int j = 0; j < i->kernel.n_in; j++)
        if (folded[p->buffer_root[i->kernel.in[j] - p->buffers]] > first) return true;
    return false;
}

/* For a root that has views: the bytes that the loop has accessed. */
typedef struct range_use {
    size_t  from, to;               /* bytes */
    int32_t run;                    /* one more than its first instruction */
    bool    written, several;       /* not always the same bytes */
} range_use;

/* True if the loop may still process elements in any order: no instruction reads or writes
 * memory that another one writes, except at the same elements. */
static bool note_access(const eddy_plan *p, range_use *roots, int32_t first, const eddy_buffer *b,
                        bool writes)
{
    const int32_t number = (int32_t)(b - p->buffers), root = p->buffer_root[number];
    const size_t  from = p->buffer_at[number];
    const size_t  to = from + (size_t)b->count * eddy_dtype_size(b->type.dtype);
    range_use    *t = &roots[root];
    if (!p->roots[root].has_views) return true;
    if (t->run != first + 1) {
        *t = (range_use){ from, to, first + 1, writes, false };
        return true;
    }
    const bool same = !t->several && from == t->from && to == t->to;
    const bool starts_loop = from >= t->to || to <= t->from;
    if (!same && !starts_loop && (writes || t->written)) return false;
    t->several = t->several || !same;
    t->written = t->written || writes;
    if (from < t->from) t->from = from;
    if (to > t->to) t->to = to;
    return true;
}

static bool note_accesses(const eddy_plan *p, range_use *roots, int32_t first, const instruction *i)
{
    for (int j = 0; j < i->kernel.n_in; j++)
        if (!note_access(p, roots, first, i->kernel.in[j], false)) return false;
    for (int k = 0; k < i->kernel.n_out; k++)
        if (!note_access(p, roots, first, i->kernel.out[k], true)) return false;
    return true;
}

/* The end of the instructions from `first` on that become one. Either all of them or none run
 * only in the first run. `folded` is, by root, one more than the index of the instruction whose
 * reduction it holds. */
static int32_t last_of_loop(const eddy_plan *p, int32_t first, int32_t *folded, range_use *roots)
{
    const int32_t limit = first < p->n_invariant ? p->n_invariant : p->n_code;
    tile_loop     l = { 0 };
    int32_t       end = first;
    for (; end < limit && end - first < MAX_PARTS; end++) {
        const instruction *i = &p->code[end];
        if (end > first && i->starts_loop) break;
        if (reads_reduction(p, folded, first, i) || !loop_takes(p, &l, i) ||
            !note_accesses(p, roots, first, i))
            break;
        if (eddy__may_fold(i->kernel.op))
            folded[p->buffer_root[i->kernel.out[0] - p->buffers]] = end + 1;
    }
    return end;
}

/* ------------------------------------------------------------------- building -- */

typedef struct builder {
    compile  *c;
    eddy_plan *plan;
    int32_t   first, end;           /* instructions */
    fused    *f;
    size_t    slot;                 /* bytes of a register */
    int       slots;
    int      *free_slots, n_free;
    broadcast *broadcasts;          /* room for all of a loop */
    int32_t  *slot_of;              /* by root: its register; -1: none */
    eddy_buffer **external;         /* inputs, followed by outputs */
    int       n_in, n_out;
} builder;

static int32_t root_of(const builder *b, const eddy_buffer *buffer)
{
    return b->plan->buffer_root[buffer - b->plan->buffers];
}

/* True if no instruction outside the loop reads or writes the root. */
static bool is_internal(const builder *b, int32_t root)
{
    const plan_root *r = &b->plan->roots[root];
    return r->kind == VALUE_TEMP && !r->has_views && r->first >= b->first && r->last < b->end;
}

static int take_slot(builder *b)
{
    return b->n_free > 0 ? b->free_slots[--b->n_free] : b->slots++;
}

static void add_external(builder *b, const eddy_buffer *buffer, bool output)
{
    eddy_buffer *known = &b->plan->buffers[buffer - b->plan->buffers];
    eddy_buffer **list = b->external + (output ? 2 * (b->end - b->first) * LOOP_OPERANDS : 0);
    int          *n = output ? &b->n_out : &b->n_in;
    /* only the last few are compared: a reader twice in the list is harmless */
    for (int i = *n - 1; i >= 0 && i >= *n - 8; i--)
        if (list[i] == known) return;
    list[(*n)++] = known;
}

static size_t element(const eddy_buffer *buffer) { return eddy_dtype_size(buffer->type.dtype); }

static location in_memory(builder *b, const eddy_buffer *buffer, bool output)
{
    add_external(b, buffer, output);
    return (location){ .memory = buffer, .size = (uint32_t)element(buffer) };
}

/* The register of a whole operand or result, or its memory. */
static location location_of_whole(builder *b, const eddy_buffer *buffer, bool output)
{
    const int32_t root = root_of(b, buffer);
    if (!is_internal(b, root)) return in_memory(b, buffer, output);
    if (b->slot_of[root] < 0) b->slot_of[root] = take_slot(b);
    /* the offset is in slots until their size is known */
    return (location){ .offset = (uint32_t)b->slot_of[root], .size = (uint32_t)element(buffer) };
}

/* The number of elements of the result after which those of the operand repeat; 0: they do not. */
static int64_t period_of(const eddy_expansion *e)
{
    if (e->rank == 1) return e->step[0] == 0 ? 1 : 0;
    return e->rank == 2 && e->step[0] == 0 && e->step[1] == 1 ? e->dim[1] : 0;
}

static location broadcast_of(builder *b, const eddy_buffer *buffer, eddy_shape result)
{
    for (int i = 0; i < b->f->n_broadcasts; i++) {
        const broadcast *s = &b->f->broadcasts[i];
        if (s->from == buffer && (buffer->count == 1 || eddy_shape_equal(s->result, result)))
            return s->to;
    }
    broadcast *s = &b->f->broadcasts[b->f->n_broadcasts++];
    *s = (broadcast){ .from = buffer, .result = result,
                      .expansion = eddy__expansion_of(buffer->type.shape, result),
                      .to = { .offset = (uint32_t)b->slots++,
                              .size = (uint32_t)element(buffer) } };
    s->period = buffer->count == 1 ? 1 : period_of(&s->expansion);
    add_external(b, buffer, false);
    return s->to;
}

static void release_slots(builder *b, const instruction *i, int32_t at)
{
    for (int j = 0; j < i->kernel.n_in + 1; j++) {
        const eddy_buffer *buffer = j < i->kernel.n_in ? i->kernel.in[j] : i->kernel.out[0];
        const int32_t      root = root_of(b, buffer);
        if (!is_internal(b, root) || b->plan->roots[root].last != at || b->slot_of[root] < 0)
            continue;
        b->free_slots[b->n_free++] = b->slot_of[root];
        b->slot_of[root] = -1;
    }
}

static void grow_slot(builder *b, const eddy_buffer *buffer)
{
    if (element(buffer) > b->slot) b->slot = element(buffer);
}

static bool add_reduction(builder *b, part *p, const eddy_blocks *blocks)
{
    p->fold = eddy__plan_alloc(b->c, 1, sizeof *p->fold);
    if (!p->fold) return false;
    p->fold->blocks = *blocks;
    p->n = 1;
    p->x[0] = location_of_whole(b, p->at[0], false);
    p->y = in_memory(b, eddy__part_result(p), true);
    grow_slot(b, p->at[0]);
    b->f->n_reductions++;
    return true;
}

/* False without memory, or for an op without an inner loop, which infer has refused. */
static bool add_tile(builder *b, part *p)
{
    const eddy_buffer *y = eddy__part_result(p);
    eddy_type          in[LOOP_OPERANDS];
    if (p->op->flags & EDDY_OP_UPDATES) {
        p->update = eddy__plan_alloc(b->c, 1, sizeof *p->update);
        if (!p->update) return false;
        *p->update = (loop_update){ p->at[0]->state, p->op, p->at };
        b->f->updates = true;
    }
    for (int j = 0; j < p->n; j++) {
        const eddy_buffer *x = p->at[j];
        in[j] = x->type;
        p->x[j] = x->count == y->count ? location_of_whole(b, x, false)
                                       : broadcast_of(b, x, y->type.shape);
        grow_slot(b, x);
    }
    grow_slot(b, y);
    p->y = location_of_whole(b, y, true);
    p->fn = p->op->tile(in, &y->type);
    return p->fn != NULL;
}

static bool add_part(builder *b, const instruction *i, int32_t at)
{
    part       *p = &b->f->parts[b->f->n_parts++];
    eddy_blocks blocks;
    *p = (part){ .op = i->kernel.op, .attrs = i->kernel.attrs, .node = i->call.node,
                 .at = i->kernel.in, .n_in = i->kernel.n_in, .n = i->kernel.n_in };
    const bool folds = eddy__is_fold(&i->kernel, &blocks);
    if (!(folds ? add_reduction(b, p, &blocks) : add_tile(b, p))) return false;
    release_slots(b, i, at);
    return true;
}

static void renumber_slot(location *p, int32_t *number, int32_t *n)
{
    if (p->memory) return;
    if (number[p->offset] < 0) number[p->offset] = (*n)++;
    p->offset = (uint32_t)number[p->offset];
}

/* Numbers the registers that are still used from 0 on. */
static bool renumber_slots(builder *b)
{
    fused   *f = b->f;
    int32_t *number = eddy__stage_alloc(b->c, (size_t)b->slots, sizeof *number), n = 0;
    if (b->slots > 0 && !number) return false;
    for (int i = 0; i < b->slots; i++) number[i] = -1;
    for (int i = 0; i < f->n_broadcasts; i++) renumber_slot(&f->broadcasts[i].to, number, &n);
    for (int i = 0; i < f->n_parts; i++) {
        renumber_slot(&f->parts[i].y, number, &n);
        for (int j = 0; j < f->parts[i].n; j++) renumber_slot(&f->parts[i].x[j], number, &n);
    }
    b->slots = n;
    return true;
}

static void scale_offset(location *p, size_t slot)
{
    p->offset *= p->memory ? 0 : (uint32_t)slot;
}

static uint64_t round_to_lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/* The largest period of an operand that repeats within n elements; 1 if none does. */
static int64_t longest_period(const fused *f, int64_t n)
{
    int64_t most = 1;
    for (int i = 0; i < f->n_broadcasts; i++)
        if (f->broadcasts[i].period > most && f->broadcasts[i].period <= n)
            most = f->broadcasts[i].period;
    return most;
}

/* Chooses the tile so that the registers of all values fit the fastest cache, if possible. With
 * a short operand, tiles consist of whole rows, so that it is broadcast only once. */
static void size_tile(builder *b, int64_t block)
{
    fused       *f = b->f;
    const int    held = b->slots + 2 * f->n_streams;  /* streams: the next tile too */
    const size_t each = b->slot * (size_t)(held ? held : 1);
    const size_t cache = f->n_streams > 0 ? CACHE_OF_STREAMS : CACHE;
    f->tile = (int64_t)(cache / each) & ~(int64_t)(MIN_TILE - 1);
    if (f->tile < MIN_TILE) f->tile = MIN_TILE;
    f->tile -= f->tile % longest_period(f, f->tile);
    f->chunk = block > 0 ? block : f->tile * FEW_TILES;
    if (f->tile > f->chunk) f->tile = f->chunk;
    for (int i = 0; i < f->n_broadcasts; i++) {
        const int64_t period = f->broadcasts[i].period;
        f->broadcasts[i].once = f->count <= f->tile ||
                             (period > 0 && f->tile % period == 0 && f->chunk % period == 0);
    }
    if (f->tile > f->count) f->tile = f->count;
    const size_t slot = (size_t)round_to_lines((size_t)f->tile * b->slot);
    for (int i = 0; i < f->n_broadcasts; i++) scale_offset(&f->broadcasts[i].to, slot);
    for (int i = 0; i < f->n_parts; i++) {
        scale_offset(&f->parts[i].y, slot);
        for (int j = 0; j < f->parts[i].n; j++) scale_offset(&f->parts[i].x[j], slot);
    }
    f->worker_bytes = slot * (size_t)b->slots;
}

/* Block length of the reductions, which is the same for all; 0 without reductions. */
static int64_t reduction_block(const fused *f)
{
    for (int i = 0; i < f->n_parts; i++)
        if (!f->parts[i].fn) return f->parts[i].fold->blocks.block;
    return 0;
}

/* Lays out the accumulators of each worker and the partial result of each block. */
static void place_accumulators(fused *f)
{
    for (int i = 0; i < f->n_parts; i++) {
        fold *p = f->parts[i].fold;
        if (!p) continue;
        p->acc = f->worker_bytes;
        f->worker_bytes += round_to_lines(eddy__blocks_acc_bytes(&p->blocks));
        p->parts = f->common_bytes;
        const uint64_t parts = (uint64_t)p->blocks.count * eddy__blocks_part(&p->blocks);
        f->common_bytes += round_to_lines(parts);
    }
}

/* A copy in the plan's memory; an array of no items is NULL too. */
static void *kept_copy(builder *b, const void *items, int n, size_t size, bool *ok)
{
    void *to = n > 0 ? eddy__plan_alloc(b->c, (size_t)n, size) : NULL;
    *ok = *ok && (to || n == 0);
    return to ? memcpy(to, items, (size_t)n * size) : NULL;
}

static bool make_instruction(builder *b, instruction *to, const instruction *last)
{
    fused     *f = b->f;
    const int  n = b->end - b->first;
    bool       ok = true;
    eddy_buffer **out = b->external + 2 * n * LOOP_OPERANDS;
    memmove(b->external + b->n_in, out, (size_t)b->n_out * sizeof *out);
    f->broadcasts = kept_copy(b, f->broadcasts, f->n_broadcasts, sizeof *f->broadcasts, &ok);
    f->streams = kept_copy(b, f->streams, f->n_streams, sizeof *f->streams, &ok);
    eddy_buffer **external = kept_copy(b, b->external, b->n_in + b->n_out, sizeof *external, &ok);
    *to = *last;
    to->run = eddy__fused_kernel;
    to->kernel.state = f;
    to->kernel.stop = f->updates ? NULL : b->plan->stop;
    const int64_t chunks = (f->count + f->chunk - 1) / f->chunk;
    if (to->kernel.threads > chunks) to->kernel.threads = (int)chunks;
    to->kernel.scratch_size = f->common_bytes + (uint64_t)to->kernel.threads * f->worker_bytes;
    to->kernel.in = external;
    to->kernel.out = external ? external + b->n_in : NULL;
    to->kernel.n_in = b->n_in;
    to->kernel.n_out = b->n_out;
    b->plan->info.fused += n;
    return ok;
}

/* True if x is entirely in memory and not listed yet. */
static bool is_new_stream(const builder *b, const location *x)
{
    if (!x->memory || x->memory->count != b->f->count) return false;
    for (int k = 0; k < b->f->n_streams; k++)
        if (root_of(b, b->f->streams[k].memory) == root_of(b, x->memory)) return false;
    return true;
}

/* Lists the operands and results in memory for prefetching, if they exceed the caches; at most
 * the first MAX_STREAMS. */
static void list_streams(builder *b, location streams[MAX_STREAMS])
{
    enum { LONG = 1 << 20 };                /* bytes */
    fused  *f = b->f;
    int64_t bytes = 0;
    f->streams = streams;
    for (int i = 0; i < f->n_parts; i++)
        for (int j = 0; j <= f->parts[i].n && f->n_streams < MAX_STREAMS; j++) {
            const part     *p = &f->parts[i];
            const location *x = j < p->n ? &p->x[j] : &p->y;
            if (!is_new_stream(b, x)) continue;
            f->streams[f->n_streams++] = *x;
            bytes += f->count * (int64_t)x->size;
        }
    if (bytes < LONG) f->n_streams = 0;
}

/* Replaces the instructions first..end by one, at position `to`. Internal roots no longer
 * exist. */
static bool build_fused(builder *b, instruction *to)
{
    eddy_plan         *p = b->plan;
    const int          n = b->end - b->first;
    const instruction *code = p->code + b->first;
    location           streams[MAX_STREAMS];
    fused             *f = b->f = eddy__plan_alloc(b->c, 1, sizeof *f);
    if (!f) return false;
    f->parts = eddy__plan_alloc(b->c, (size_t)n, sizeof *f->parts);
    f->broadcasts = b->broadcasts;
    if (!f->parts) return false;
    for (int i = 0; i < n; i++)
        if (!eddy__plan_add_flops(b->c, &code[i]) || !add_part(b, &code[i], b->first + i))
            return false;
    f->count = f->parts[0].fn ? code[0].kernel.out[0]->count : code[0].kernel.in[0]->count;
    eddy__assign_directly(p, f, b->end);
    if (!renumber_slots(b)) return false;
    list_streams(b, streams);
    size_tile(b, reduction_block(f));
    place_accumulators(f);
    return make_instruction(b, to, &code[n - 1]);
}

static void drop_inner_roots(builder *b)
{
    for (int i = 0; i < b->f->n_parts; i++) {
        const part *p = &b->f->parts[i];
        for (int j = 0; j < p->n + 1; j++) {
            const int32_t root = root_of(b, p->at[j]);
            if (is_internal(b, root) && !(p->fold && j > 0)) b->plan->roots[root].last = -1;
        }
    }
}

/* Renumbers lifetimes from n instructions to `now`. Roots that began after the last instruction
 * belong to none, and dropped roots have no lifetime. */
static void renumber_roots(eddy_plan *p, const int32_t *position, int32_t n, int32_t now)
{
    for (int32_t r = 0; r < p->n_roots; r++) {
        plan_root *root = &p->roots[r];
        if (root->first < 0) continue;
        if (root->last < 0) root->first = -1;
        else {
            root->first = root->first < n ? position[root->first] : now;
            if (root->last < n) root->last = position[root->last];
        }
    }
}

/* Memory for the lists of one loop of at most n instructions. */
static bool make_room(builder *b, size_t n)
{
    b->free_slots = eddy__stage_alloc(b->c, n * (LOOP_OPERANDS + 1), sizeof *b->free_slots);
    b->external = eddy__stage_alloc(b->c, n * 3 * LOOP_OPERANDS, sizeof *b->external);
    b->broadcasts =
        eddy__stage_alloc(b->c, LOOP_SPREADS + LOOP_OPERANDS, sizeof *b->broadcasts);
    return b->free_slots && b->external && b->broadcasts;
}

bool eddy__fuse(compile *c)
{
    eddy_plan *p = c->plan;
    eddy__stage_begin(c);
    builder    room = { .c = c, .plan = p };
    int32_t   *position = eddy__stage_alloc(c, (size_t)p->n_code, sizeof *position);
    int32_t   *slot_of = eddy__stage_alloc(c, (size_t)p->n_roots, sizeof *slot_of), n = 0;
    int32_t   *folded = eddy__stage_alloc(c, (size_t)p->n_roots, sizeof *folded);
    range_use *roots = eddy__stage_alloc(c, (size_t)p->n_roots, sizeof *roots);
    if (!position || !slot_of || !folded || !roots ||
        !make_room(&room, (size_t)(p->n_code < MAX_PARTS ? p->n_code : MAX_PARTS)))
        return false;
    for (int32_t r = 0; r < p->n_roots; r++) slot_of[r] = -1;
    room.slot_of = slot_of;
    for (int32_t i = 0, end; i < p->n_code; i = end, n++) {
        end = last_of_loop(p, i, folded, roots);
        builder b = room;
        b.first = i;
        b.end = end;
        if (end - i > 1) {
            if (!build_fused(&b, &p->code[n])) return false;
            drop_inner_roots(&b);
        } else {
            end = i + 1;
            p->code[n] = p->code[i];
        }
        p->code[n].kernel.impl = &p->code[n].call;
        for (int32_t k = i; k < end; k++) position[k] = n;
    }
    renumber_roots(p, position, p->n_code, n);
    if (p->n_invariant > 0) p->n_invariant = position[p->n_invariant - 1] + 1;
    p->n_code = n;
    return true;
}
