/* fuse.c -- elementwise instructions that follow each other over as many
 * elements become one.
 *
 * The one takes a tile of the elements through all of them before the next.  A
 * value that only they read stays in the tile: it has no memory of its own, and
 * never leaves the cache.  Each op's own inner loop is called on the same
 * elements as before, so the values are the same to the bit. */
#include "session/internal.h"
#include "ops/elementwise.h"

#include <string.h>

enum { OPERANDS = 4, MOST_SPREADS = 24, MOST_PARTS = 1 << 14, CACHE = 24 * 1024, LEAST_TILE = 64 };

/* Where elements are: in memory, or in the tile's registers. */
typedef struct place {
    const eddy_buffer *memory;      /* NULL: in registers */
    size_t             offset;      /* of the register */
    size_t             size;        /* of an element */
} place;

/* An operand with fewer elements, brought to the tile's: once if it has one. */
typedef struct spread {
    const eddy_buffer *from;
    eddy_shape         result;
    eddy_expansion     expansion;
    place              to;
} spread;

typedef struct part {
    eddy_tile_fn fn;
    const void  *attrs;
    int          n;
    place        y, x[OPERANDS];
    instruction *of;
    eddy_state  *updates;           /* of the variable that it updates; or NULL */
} part;

typedef struct fused {
    int     n_parts, n_spreads;
    part   *parts;
    spread *spreads;
    int64_t count, tile;
    bool    updates;                /* variables: then no part can fail on an element */
} fused;

/* ------------------------------------------------------------------ running -- */

static inline void *at_tile(const place *p, char *registers, int64_t at)
{
    return p->memory ? (char *)p->memory->data + (size_t)at * p->size : registers + p->offset;
}

static void bring(const fused *f, char *registers, int64_t at, int64_t n)
{
    for (int i = 0; i < f->n_spreads; i++) {
        const spread *s = &f->spreads[i];
        void         *to = registers + s->to.offset;
        if (s->from->count > 1) eddy_expand(&s->expansion, s->to.size, to, s->from->data, at, n);
        else if (at == 0) eddy_spread(to, s->from->data, s->to.size, n);
    }
}

static bool replaces(const part *p)
{
    return p->updates && p->of->node->op->flags & EDDY_OP_REPLACES;
}

/* Of the parts, those up to the first update of a variable without a value. */
static int ready_parts(const fused *f)
{
    for (int i = 0; i < f->n_parts; i++) {
        const part *p = &f->parts[i];
        if (!p->updates || p->updates->initialized || replaces(p)) continue;
        bool given = false;
        for (int j = 0; j < i; j++)
            given = given || (f->parts[j].updates == p->updates && replaces(&f->parts[j]));
        if (!given) return i;
    }
    return f->n_parts;
}

/* Variables have values now; the update that could not be made says why. */
static eddy_status finish_updates(const fused *f, int ready)
{
    for (int i = 0; i < ready; i++)
        if (f->parts[i].updates) f->parts[i].updates->initialized = true;
    if (ready == f->n_parts) return EDDY_OK;
    return f->parts[ready].of->run(&f->parts[ready].of->kernel);
}

static eddy_status run_fused(eddy_kernel *k)
{
    const fused *f = k->state;
    char        *registers = k->scratch;
    const int    ready = f->updates ? ready_parts(f) : f->n_parts;
    int          failed = f->n_parts;         /* the first of the parts that did */
    eddy_status  status = EDDY_OK;
    for (int64_t at = 0; at < f->count; at += f->tile) {
        const int64_t n = f->count - at < f->tile ? f->count - at : f->tile;
        bring(f, registers, at, n);
        for (int i = 0; i < ready; i++) {
            const part *p = &f->parts[i];
            const void *x[OPERANDS];
            for (int j = 0; j < p->n; j++) x[j] = at_tile(&p->x[j], registers, at);
            eddy_status s = p->fn(n, at_tile(&p->y, registers, at), x, p->attrs);
            if (s != EDDY_OK && i < failed) failed = i, status = s;
        }
    }
    if (status != EDDY_OK) return eddy_elementwise_fail(&f->parts[failed].of->kernel, status);
    return f->updates ? finish_updates(f, ready) : EDDY_OK;
}

/* ------------------------------------------------------------------- choosing -- */

static bool is_elementwise(const instruction *i)
{
    return i->run == eddy_elementwise_kernel && i->kernel.n_in <= OPERANDS &&
           i->kernel.out[0]->count > 0;
}

/* An update of each element by itself, whose result is the variable's memory. */
static bool is_update(const eddy_plan *p, const instruction *i)
{
    const eddy_kernel *k = &i->kernel;
    if (!(k->op->flags & EDDY_OP_UPDATES) || !k->op->tile || i->run != k->op->kernel ||
        i->resizes >= 0 || k->n_out != 1 || k->n_in > OPERANDS || k->out[0]->count == 0 ||
        p->buffer_root[k->in[0] - p->buffers] != p->buffer_root[k->out[0] - p->buffers])
        return false;
    for (int j = 0; j < k->n_in; j++)
        if (k->in[j]->count != k->out[0]->count) return false;
    return true;
}

/* Elements of this type may be impossible (division by zero): then nothing may
 * have been updated yet. */
static bool may_fail(const instruction *i)
{
    const eddy_dtype d = i->kernel.out[0]->type.dtype;
    return eddy_dtype_is_integer(d);
}

static int spreads_of(const instruction *i)
{
    int n = 0;
    for (int j = 0; j < i->kernel.n_in; j++) n += i->kernel.in[j]->count != i->kernel.out[0]->count;
    return n;
}

/* One past the last of the instructions from `first` on that become one. */
static int32_t end_of_run(const eddy_plan *p, int32_t first)
{
    int64_t count = 0;
    int32_t end = first;
    int     spreads = 0;
    bool    updated = false, fallible = false;
    for (; end < p->n_code && end - first < MOST_PARTS; end++) {
        const instruction *i = &p->code[end];
        const bool         update = is_update(p, i);
        if (!update && !is_elementwise(i)) break;
        if (end == first) count = i->kernel.out[0]->count;
        updated = updated || update;
        fallible = fallible || may_fail(i);
        spreads += spreads_of(i);
        if (i->kernel.out[0]->count != count || spreads > MOST_SPREADS || (updated && fallible))
            break;
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
    int32_t  *slot_of;              /* by root; -1: none */
    eddy_buffer **external;         /* inputs, then outputs */
    int       n_in, n_out;
} builder;

static int32_t root_of(const builder *b, const eddy_buffer *buffer)
{
    return b->plan->buffer_root[buffer - b->plan->buffers];
}

/* Nothing outside the run reads or writes it. */
static bool is_inner(const builder *b, int32_t root)
{
    const plan_root *r = &b->plan->roots[root];
    return r->kind == VALUE_TEMP && r->first >= b->first && r->last < b->end;
}

static int take_slot(builder *b)
{
    return b->n_free > 0 ? b->free_slots[--b->n_free] : b->slots++;
}

static void note_external(builder *b, const eddy_buffer *buffer, bool output)
{
    eddy_buffer *known = &b->plan->buffers[buffer - b->plan->buffers];
    eddy_buffer **list = b->external + (output ? 2 * (b->end - b->first) * OPERANDS : 0);
    int          *n = output ? &b->n_out : &b->n_in;
    /* only the last few are compared: a reader twice in the list is harmless */
    for (int i = *n - 1; i >= 0 && i >= *n - 8; i--)
        if (list[i] == known) return;
    list[(*n)++] = known;
}

static size_t element(const eddy_buffer *buffer) { return eddy_dtype_size(buffer->type.dtype); }

/* The register of a whole operand or result, or its memory. */
static place whole(builder *b, const eddy_buffer *buffer, bool output)
{
    const int32_t root = root_of(b, buffer);
    place         p = { .memory = buffer, .size = element(buffer) };
    if (!is_inner(b, root)) {
        note_external(b, buffer, output);
        return p;
    }
    if (b->slot_of[root] < 0) b->slot_of[root] = take_slot(b);
    p.memory = NULL;
    p.offset = (size_t)b->slot_of[root];      /* times the slot's size, when that is known */
    return p;
}

static place spread_of(builder *b, const eddy_buffer *buffer, eddy_shape result)
{
    for (int i = 0; i < b->f->n_spreads; i++) {
        const spread *s = &b->f->spreads[i];
        if (s->from == buffer && (buffer->count == 1 || eddy_shape_equal(s->result, result)))
            return s->to;
    }
    spread *s = &b->f->spreads[b->f->n_spreads++];
    *s = (spread){ .from = buffer, .result = result,
                   .expansion = eddy_expansion_of(buffer->type.shape, result),
                   .to = { .offset = (size_t)b->slots++, .size = element(buffer) } };
    note_external(b, buffer, false);
    return s->to;
}

static void release_slots(builder *b, const instruction *i, int32_t at)
{
    for (int j = 0; j < i->kernel.n_in + 1; j++) {
        const eddy_buffer *buffer = j < i->kernel.n_in ? i->kernel.in[j] : i->kernel.out[0];
        const int32_t      root = root_of(b, buffer);
        if (!is_inner(b, root) || b->plan->roots[root].last != at || b->slot_of[root] < 0) continue;
        b->free_slots[b->n_free++] = b->slot_of[root];
        b->slot_of[root] = -1;
    }
}

/* False only for an op without an inner loop, which infer has refused. */
static bool add_part(builder *b, instruction *i, int32_t at)
{
    const eddy_buffer *y = i->kernel.out[0];
    part              *p = &b->f->parts[b->f->n_parts++];
    eddy_type          in[OPERANDS];
    *p = (part){ .attrs = i->kernel.attrs, .n = i->kernel.n_in, .of = i };
    if (i->kernel.op->flags & EDDY_OP_UPDATES) {
        p->updates = i->kernel.in[0]->state;
        b->f->updates = true;
    }
    for (int j = 0; j < p->n; j++) {
        const eddy_buffer *x = i->kernel.in[j];
        in[j] = x->type;
        p->x[j] = x->count == y->count ? whole(b, x, false) : spread_of(b, x, y->type.shape);
        if (element(x) > b->slot) b->slot = element(x);
    }
    if (element(y) > b->slot) b->slot = element(y);
    p->y = whole(b, y, true);
    p->fn = i->kernel.op->tile(in, &y->type);
    release_slots(b, i, at);
    return p->fn != NULL;
}

static void settle(place *p, size_t slot) { p->offset *= p->memory ? 0 : slot; }

/* Registers of all values of a tile fit the fastest cache, if that is possible. */
static void size_tile(builder *b)
{
    fused       *f = b->f;
    const size_t each = b->slot * (size_t)(b->slots ? b->slots : 1);
    f->tile = (int64_t)(CACHE / each) & ~(int64_t)(LEAST_TILE - 1);
    if (f->tile < LEAST_TILE) f->tile = LEAST_TILE;
    if (f->tile > f->count) f->tile = f->count;
    const size_t slot = ((size_t)f->tile * b->slot + 63) / 64 * 64;
    for (int i = 0; i < f->n_spreads; i++) settle(&f->spreads[i].to, slot);
    for (int i = 0; i < f->n_parts; i++) {
        settle(&f->parts[i].y, slot);
        for (int j = 0; j < f->parts[i].n; j++) settle(&f->parts[i].x[j], slot);
    }
    b->slot = slot * (size_t)b->slots;
}

/* Instructions first to end as one, at position `to`; of the inner roots nothing is left. */
static bool build_fused(builder *b, instruction *to)
{
    eddy_plan   *p = b->plan;
    const int    n = b->end - b->first;
    instruction *kept = eddy_plan_alloc(b->c, (size_t)n, sizeof *kept);
    fused       *f = b->f = eddy_plan_alloc(b->c, 1, sizeof *f);
    b->free_slots = eddy_plan_alloc(b->c, (size_t)n * (OPERANDS + 1), sizeof *b->free_slots);
    b->external = eddy_plan_alloc(b->c, (size_t)n * 3 * OPERANDS, sizeof *b->external);
    if (!kept || !f || !b->free_slots || !b->external) return false;
    f->parts = eddy_plan_alloc(b->c, (size_t)n, sizeof *f->parts);
    f->spreads = eddy_plan_alloc(b->c, MOST_SPREADS + OPERANDS, sizeof *f->spreads);
    if (!f->parts || !f->spreads) return false;
    memcpy(kept, p->code + b->first, (size_t)n * sizeof *kept);
    f->count = kept[0].kernel.out[0]->count;
    for (int i = 0; i < n; i++) {
        kept[i].kernel.impl = &kept[i];
        if (!eddy_plan_add_flops(b->c, &kept[i]) || !add_part(b, &kept[i], b->first + i))
            return false;
    }
    size_tile(b);
    memmove(b->external + b->n_in, b->external + 2 * n * OPERANDS,
            (size_t)b->n_out * sizeof *b->external);
    *to = kept[n - 1];
    to->run = run_fused;
    to->kernel.state = f;
    to->kernel.scratch_size = b->slot;
    to->kernel.in = b->external;
    to->kernel.out = b->external + b->n_in;
    to->kernel.n_in = b->n_in;
    to->kernel.n_out = b->n_out;
    p->info.fused += n;
    return true;
}

static void drop_inner_roots(builder *b)
{
    for (int32_t i = b->first; i < b->end; i++)
        for (int j = 0; j < b->f->parts[i - b->first].n + 1; j++) {
            const eddy_kernel *k = &b->f->parts[i - b->first].of->kernel;
            const int32_t root = root_of(b, j < k->n_in ? k->in[j] : k->out[0]);
            if (is_inner(b, root)) b->plan->roots[root].last = -1;
        }
}

/* Lifetimes among `now` instructions that were n; what began behind the last is
 * of no instruction, and what was dropped has no life. */
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

bool eddy_fuse(compile *c)
{
    eddy_plan *p = c->plan;
    int32_t   *position = eddy_plan_alloc(c, (size_t)p->n_code, sizeof *position);
    int32_t   *slot_of = eddy_plan_alloc(c, (size_t)p->n_roots, sizeof *slot_of), n = 0;
    if (!position || !slot_of) return false;
    for (int32_t r = 0; r < p->n_roots; r++) slot_of[r] = -1;
    for (int32_t i = 0, end; i < p->n_code; i = end, n++) {
        end = end_of_run(p, i);
        builder b = { .c = c, .plan = p, .first = i, .end = end, .slot_of = slot_of };
        if (end - i > 1) {
            if (!build_fused(&b, &p->code[n])) return false;
            drop_inner_roots(&b);
        } else {
            end = i + 1;
            p->code[n] = p->code[i];
        }
        p->code[n].kernel.impl = &p->code[n];
        for (int32_t k = i; k < end; k++) position[k] = n;
    }
    renumber_roots(p, position, p->n_code, n);
    p->n_code = n;
    return true;
}
