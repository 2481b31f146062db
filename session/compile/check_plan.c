/* check_plan.c -- verifier for the memory of a plan, for tests.
 *
 * Everything is derived again from the instructions: when each range of memory is first written
 * and last read, which value it then holds, and which values overlap. The lifetimes that emit.c,
 * fuse.c and memory_plan.c recorded are not used.
 *
 * Time is counted in instructions, and within a parallel instruction in the instructions of its
 * chains. The instructions of one chain run in order; those of different chains may run at the
 * same time. */
#include "session/compile/fused_loop.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/program.h"
#include "ops/kernels/elementwise/elementwise.h"

#include <stdlib.h>
#include <string.h>

enum { NEVER = -1 };

/* Bytes of the arena in use from one time to another, inclusive. */
typedef struct region {
    size_t  offset, bytes;
    int32_t first, last, root;      /* root -1: scratch */
    int32_t chain;           /* the only chain that uses the region; -1 if other code uses it too */
} region;

/* An instruction of a chain that reads or writes this memory. */
typedef struct access {
    const eddy_buffer *of;
    int32_t            chain, other;    /* other: the access before of the same root; -1 */
    bool               writes;
} access;

typedef struct checker {
    const eddy_plan *p;
    eddy_error      *error;
    int32_t          at;            /* the instruction */
    int32_t          time;
    int32_t          chain, chains;  /* the current chain, or -1; chains so far */
    int32_t         *begin;         /* by instruction: its time */
    int32_t         *happens;       /* by time: its instruction */
    uint8_t         *written;       /* by buffer: an instruction writes it */
    int32_t         *holds;         /* by root: the buffer that was written there last */
    int32_t         *first, *last;  /* by root: times of the first and last access to its memory */
    int32_t         *chain_of;      /* by root: see region.chain */
    access          *accesses;      /* the accesses made by the chains of one instruction */
    int32_t         *last_access;   /* by root */
    int32_t          n_accesses;
    region          *regions;
    int32_t          n_regions;
    eddy_arena       arena;         /* owns all arrays above */
} checker;

static bool wrong(const checker *c, const char *what)
{
    const eddy_plan *p = c->p;
    const char *name = c->at < p->n_code ? p->code[c->at].call.node->name : "the fetches";
    return eddy__error_set(c->error, EDDY_INTERNAL, "the plan is wrong at instruction %d, %s: %s",
                           (int)c->at, name, what);
}

/* n zeroed items, at least one; NULL if out of memory. */
static void *checker_alloc(checker *c, size_t n, size_t size)
{
    void *p = eddy__arena_alloc(&c->arena, (n + 1) * size);
    return p ? memset(p, 0, (n + 1) * size) : NULL;
}

/* -------------------------------------------------------------- accesses -- */

static int32_t number(const checker *c, const eddy_buffer *b)
{
    return (int32_t)(b - c->p->buffers);
}

static int32_t root_of(const checker *c, const eddy_buffer *b)
{
    return c->p->buffer_root[number(c, b)];
}

/* A carried value of a loop, which the plan of its body may overwrite. */
static bool is_owned(const checker *c, int32_t root)
{
    return c->p->roots[root].kind == VALUE_FEED && c->p->roots[root].owner > 0;
}

/* Memory that only instructions write: in the arena, or of a result; or may overwrite. */
static bool is_written_memory(const checker *c, int32_t root)
{
    const value_kind kind = c->p->roots[root].kind;
    return is_owned(c, root) ||
           (kind != VALUE_FEED && kind != VALUE_CONSTANT && kind != VALUE_VARIABLE);
}

static size_t bytes_of(const eddy_buffer *b)
{
    return (size_t)b->count * eddy_dtype_size(b->type.dtype);
}

static size_t begin_of(const checker *c, const eddy_buffer *b)
{
    return c->p->buffer_at[number(c, b)];
}

/* Two buffers have bytes in common. */
static bool overlap(const checker *c, const eddy_buffer *a, const eddy_buffer *b)
{
    return root_of(c, a) == root_of(c, b) && begin_of(c, a) < begin_of(c, b) + bytes_of(b) &&
           begin_of(c, b) < begin_of(c, a) + bytes_of(a);
}

/* The buffer that holds the elements of b and was written by an instruction: b itself, or an
 * earlier buffer of which b is an alias. */
static int32_t source_of(const checker *c, const eddy_buffer *b)
{
    const int32_t root = root_of(c, b);
    int32_t       n = number(c, b);
    while (n >= 0 && !(c->written[n] && c->p->buffer_root[n] == root)) n--;
    return n;
}

/* True if later runs read the root's value where this run wrote it. */
static bool is_kept(const checker *c, int32_t root)
{
    return c->at >= c->p->n_invariant && c->first[root] != NEVER &&
           c->first[root] < c->p->n_invariant;
}

/* True if a change of the variable makes the next run recompute the kept values. */
static bool is_source(const eddy_plan *p, const plan_root *r)
{
    for (int32_t i = 0; i < p->n_sources; i++)
        if (r->kind == VALUE_VARIABLE && p->sources[i].state == p->variables[r->index].state)
            return true;
    return false;
}

/* Checks that memory written by one chain is neither read nor written by another. */
static bool note_access(checker *c, const eddy_buffer *b, bool writes)
{
    int32_t *last = &c->last_access[root_of(c, b)];
    if (c->chain < 0) return true;
    for (int32_t i = *last; i >= 0; i = c->accesses[i].other) {
        const access *a = &c->accesses[i];
        if (a->chain != c->chain && (a->writes || writes) && overlap(c, a->of, b))
            return wrong(c, "chains that depend on each other");
    }
    c->accesses[c->n_accesses] = (access){ b, c->chain, *last, writes };
    *last = c->n_accesses++;
    return true;
}

/* Records an access to the memory of b. In the arena, b must lie inside its root. */
static bool note_access_of(checker *c, const eddy_buffer *b)
{
    const eddy_plan *p = c->p;
    const int32_t    r = root_of(c, b);
    const plan_root *root = &p->roots[r];
    if (root->kind != VALUE_TEMP) return true;
    if (root->bytes == 0 && eddy_shape_count(b->type.shape) == 0) return true; /* an open stack */
    if (b->data != (char *)p->memory + root->offset + begin_of(c, b))
        return wrong(c, "memory of another root");
    if (begin_of(c, b) + bytes_of(b) > root->bytes) return wrong(c, "more elements than memory");
    if (root->offset > p->memory_bytes || root->bytes > p->memory_bytes - root->offset)
        return wrong(c, "memory beyond the arena");
    if (c->first[r] == NEVER) {
        c->first[r] = c->time;
        c->chain_of[r] = c->chain;
    }
    if (c->chain_of[r] != c->chain) c->chain_of[r] = -1;
    c->last[r] = is_kept(c, r) ? c->begin[p->n_code] : c->time;
    return true;
}

static bool read_memory(checker *c, const eddy_buffer *b)
{
    const int32_t    r = root_of(c, b);
    const plan_root *root = &c->p->roots[r];
    if (c->at < c->p->n_invariant && root->kind != VALUE_CONSTANT && root->kind != VALUE_TEMP &&
        !is_source(c->p, root))
        return wrong(c, "an operand that changes from run to run");
    if (!note_access(c, b, false)) return false;
    if (!is_written_memory(c, r)) return true;
    if (c->holds[r] < 0 && !is_owned(c, r)) return wrong(c, "an operand that was not computed");
    if (!c->p->roots[r].has_views && c->holds[r] != source_of(c, b))
        return wrong(c, "an operand that was overwritten");
    return note_access_of(c, b);
}

/* b is in the memory of a carried value, after a buffer that stands for the value itself. */
static bool may_change(const checker *c, const eddy_buffer *b)
{
    int32_t first = 0;
    while (c->p->buffer_root[first] != root_of(c, b)) first++;
    return is_owned(c, root_of(c, b)) && first < number(c, b);
}

static bool write_memory(checker *c, const eddy_buffer *b, const eddy_op_def *op)
{
    const int32_t    r = root_of(c, b);
    const value_kind kind = c->p->roots[r].kind;
    if (c->at < c->p->n_invariant && kind != VALUE_TEMP)
        return wrong(c, "a result that is not kept");
    if (is_kept(c, r) || is_source(c->p, &c->p->roots[r]))
        return wrong(c, "what is kept is changed");
    if ((kind == VALUE_FEED && !may_change(c, b)) || kind == VALUE_CONSTANT)
        return wrong(c, "what is given is changed");
    if (kind == VALUE_VARIABLE && !(op->flags & EDDY_OP_UPDATES))
        return wrong(c, "a variable is changed by what does not update it");
    c->holds[r] = number(c, b);
    return note_access(c, b, true) && note_access_of(c, b);
}

static bool use_scratch(checker *c, const instruction *i)
{
    const eddy_plan *p = c->p;
    const size_t     bytes = i->kernel.scratch_size;
    if (bytes == 0) return true;
    const size_t offset = (size_t)((char *)i->kernel.scratch - (char *)p->memory);
    if (offset > p->memory_bytes || bytes > p->memory_bytes - offset)
        return wrong(c, "scratch memory beyond the arena");
    c->regions[c->n_regions++] = (region){ offset, bytes, c->time, c->time, -1, c->chain };
    return true;
}

/* ---------------------------------------------------- single instructions -- */

/* True if the kernel of `op` may write output k to the memory from which it reads input j. */
static bool may_overwrite(const checker *c, const instruction *i, int k, int j)
{
    const eddy_kernel *n = &i->kernel;
    if (i->run != eddy__kernel_of(n->op) || k != 0) return false;
    if (n->op->flags & EDDY_OP_UPDATES) return j == 0 || (n->op->flags & EDDY_OP_IN_PLACE);
    const bool whole = n->in[j]->count == n->out[0]->count &&
                       begin_of(c, n->in[j]) == begin_of(c, n->out[0]) &&
                       eddy_dtype_size(n->in[j]->type.dtype) ==
                           eddy_dtype_size(n->out[0]->type.dtype);
    if (n->op->flags & EDDY_OP_ELEMENTWISE) return whole;
    return (n->op->flags & EDDY_OP_IN_PLACE) && j == 0 && whole;
}

static bool check_overwriting(checker *c, const instruction *i)
{
    const eddy_kernel *n = &i->kernel;
    for (int k = 0; k < n->n_out; k++) {
        for (int j = 0; j < n->n_in; j++)
            if (!eddy__input_is_in(n->op->shape_inputs, j) && n->out[k]->count > 0 &&
                overlap(c, n->in[j], n->out[k]) && !may_overwrite(c, i, k, j))
                return wrong(c, "an operand is overwritten while it is read");
        for (int j = 0; j < k; j++)
            if (overlap(c, n->out[j], n->out[k]))
                return wrong(c, "two results in one place");
    }
    return true;
}

static bool check_single(checker *c, const instruction *i)
{
    enum { EACH_RUN = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_REFERENCE };
    const eddy_kernel *n = &i->kernel;
    if (c->at < c->p->n_invariant && (n->op->flags & EACH_RUN))
        return wrong(c, "an operation for each run that is not in each");
    for (int j = 0; j < n->n_in; j++)
        if (!read_memory(c, n->in[j]) ||
            (eddy__changes_operand(i, j) && !note_access(c, n->in[j], true)))
            return false;
    for (int k = 0; k < n->n_out; k++)
        if (!write_memory(c, n->out[k], n->op)) return false;
    return check_overwriting(c, i);
}

/* ------------------------------------------------------------ fused loops -- */

/* Which buffer's elements a register holds: -1 none; by its offset. */
typedef struct registers {
    const fused *f;
    location    *of;
    int32_t     *holds;
    int          n;
} registers;

static int32_t *register_at(registers *g, const location *p)
{
    for (int k = 0; k < g->n; k++)
        if (g->of[k].offset == p->offset) {
            if (p->size > g->of[k].size) g->of[k].size = p->size;
            return &g->holds[k];
        }
    g->of[g->n] = *p;
    g->holds[g->n] = -1;
    return &g->holds[g->n++];
}

/* True if the elements of b are computed in the memory of a variable that they are assigned to. */
static bool is_computed_in(const checker *c, const fused *f, const eddy_buffer *variable,
                           const eddy_buffer *b)
{
    for (int i = 0; i < f->n_parts; i++) {
        const part *p = &f->parts[i];
        if (p->assign && p->y.memory == variable &&
            number(c, p->of->kernel.out[0]) == source_of(c, b))
            return true;
    }
    return false;
}

static bool read_location(checker *c, registers *g, const location *p, const eddy_buffer *b,
                          bool broadcasts)
{
    if (p->memory)
        return p->memory == b || is_computed_in(c, g->f, p->memory, b)
                   ? read_memory(c, p->memory)
                   : wrong(c, "another operand's memory");
    const int32_t held = *register_at(g, p);
    if (broadcasts ? held == number(c, b) : held >= 0 && held == source_of(c, b)) return true;
    return wrong(c, "another value's register");
}

static bool write_location(checker *c, registers *g, const part *p)
{
    const eddy_buffer *b = p->of->kernel.out[0];
    if (p->assign)
        return source_of(c, p->assign->kernel.in[1]) == number(c, b) &&
                       p->y.memory == p->assign->kernel.out[0]
                   ? write_memory(c, p->y.memory, p->assign->kernel.op)
                   : wrong(c, "the result is not what is assigned");
    if (p->y.memory)
        return p->y.memory == b ? write_memory(c, b, p->of->kernel.op)
                                : wrong(c, "another result's memory");
    int32_t *holds = register_at(g, &p->y);
    for (int i = 0; i < g->f->n_broadcasts; i++)
        if (g->f->broadcasts[i].to.offset == p->y.offset)
            return wrong(c, "a spread is overwritten");
    *holds = number(c, b);
    return true;
}

/* The registers and accumulators of a worker and its partial reductions must not overlap. */
static bool check_scratch(checker *c, const registers *g, const eddy_kernel *k)
{
    const fused *f = g->f;
    size_t       top = 0, common = 0;
    for (int a = 0; a < g->n; a++) {
        const size_t end = g->of[a].offset + (size_t)f->tile * g->of[a].size;
        if (end > top) top = end;
        for (int b = 0; b < g->n; b++)
            if (g->of[b].offset > g->of[a].offset && g->of[b].offset < end)
                return wrong(c, "registers overlap");
    }
    for (int i = 0; i < f->n_parts; i++) {
        const part *p = &f->parts[i];
        if (p->fn) continue;
        if (p->acc < top || p->parts < common) return wrong(c, "accumulators overlap");
        top = p->acc + eddy__blocks_acc_bytes(&p->blocks);
        common = p->parts + (size_t)p->blocks.count * eddy__blocks_part(&p->blocks);
    }
    const size_t workers = (size_t)(k->threads > 0 ? k->threads : 1) * f->worker_bytes;
    return (top <= f->worker_bytes && common <= f->common_bytes &&
            f->common_bytes + workers <= k->scratch_size) ||
           wrong(c, "too little scratch memory");
}

/* True if part p writes its result to the memory of b. */
static bool writes(const checker *c, const part *p, const eddy_buffer *b)
{
    return p->y.memory && overlap(c, p->y.memory, b);
}

/* Tiles run in parallel and in sequence. Therefore a part may read the result of another part
 * only at the same elements, and the result of a reduction only after the loop. */
static bool check_tiles(const checker *c, const fused *f)
{
    for (int i = 0; i < f->n_parts; i++)
        for (int j = 0; j < f->n_parts; j++) {
            const part *w = &f->parts[i], *r = &f->parts[j];
            for (int k = 0; k < r->n; k++) {
                if (!r->x[k].memory || !writes(c, w, r->x[k].memory)) continue;
                if (!w->fn || r->x[k].size != w->y.size ||
                    begin_of(c, r->x[k].memory) != begin_of(c, w->y.memory))
                    return wrong(c, "an operand is overwritten while it is read");
            }
            if (i != j && r->y.memory && writes(c, w, r->y.memory) &&
                (!w->fn || !r->fn || w->y.size != r->y.size ||
                 begin_of(c, w->y.memory) != begin_of(c, r->y.memory)))
                return wrong(c, "two results in one place");
        }
    for (int i = 0; i < f->n_broadcasts; i++)
        for (int j = 0; j < f->n_parts; j++)
            if (writes(c, &f->parts[j], f->broadcasts[i].from))
                return wrong(c, "an operand is overwritten while it is read");
    return true;
}

static bool is_broadcast(const registers *g, const location *p)
{
    for (int i = 0; i < g->f->n_broadcasts; i++)
        if (!p->memory && g->f->broadcasts[i].to.offset == p->offset) return true;
    return false;
}

static bool run_parts(checker *c, registers *g)
{
    const fused *f = g->f;
    for (int i = 0; i < f->n_broadcasts; i++) {
        if (!read_memory(c, f->broadcasts[i].from)) return false;
        *register_at(g, &f->broadcasts[i].to) = number(c, f->broadcasts[i].from);
    }
    for (int i = 0; i < f->n_parts; i++) {
        const part *p = &f->parts[i];
        for (int j = 0; j < p->n; j++)
            if (!read_location(c, g, &p->x[j], p->of->kernel.in[j], is_broadcast(g, &p->x[j])))
                return false;
        if (p->fn && !write_location(c, g, p)) return false;
    }
    for (int i = 0; i < f->n_parts; i++)
        if (!f->parts[i].fn && !write_location(c, g, &f->parts[i])) return false;
    return true;
}

static bool check_fused(checker *c, const instruction *i)
{
    const fused *f = i->kernel.state;
    const size_t most = (size_t)f->n_parts * (LOOP_OPERANDS + 1) + (size_t)f->n_broadcasts;
    registers    g = { .f = f, .of = checker_alloc(c, most, sizeof *g.of),
                       .holds = checker_alloc(c, most, sizeof *g.holds) };
    if (!g.of || !g.holds) return wrong(c, "out of memory for the check");
    return run_parts(c, &g) && check_tiles(c, f) && check_scratch(c, &g, &i->kernel);
}

/* ------------------------------------------------------------ the whole plan -- */

static void note_results(checker *c, const instruction *i)
{
    const fused *f = i->run == eddy__fused_kernel ? i->kernel.state : NULL;
    for (int k = 0; f && k < f->n_parts; k++)
        c->written[number(c, f->parts[k].of->kernel.out[0])] = 1;
    for (int k = 0; !f && k < i->kernel.n_out; k++) c->written[number(c, i->kernel.out[k])] = 1;
}

static void note_written(checker *c)
{
    for (int32_t n = 0; n < c->p->n_code; n++) {
        const parallel_chains *w = eddy__parallel_chains_of(&c->p->code[n]);
        note_results(c, &c->p->code[n]);
        for (int32_t k = 0; w && k < w->n_parts; k++) note_results(c, &w->parts[k]);
    }
}

/* Checks one instruction, which may be part of a chain. */
static bool check_instruction(checker *c, const instruction *i)
{
    const bool loop = i->run == eddy__fused_kernel;
    if (!(loop ? check_fused(c, i) : check_single(c, i)) || !use_scratch(c, i)) return false;
    c->time++;
    return true;
}

static bool check_chains(checker *c, const parallel_chains *w)
{
    size_t accesses = 0;
    for (int32_t k = 0; k < w->n_parts; k++) {
        const eddy_kernel *n = &w->parts[k].kernel;
        const fused *f = w->parts[k].run == eddy__fused_kernel ? n->state : NULL;
        accesses += f ? (size_t)f->n_parts * (LOOP_OPERANDS + 1) + (size_t)f->n_broadcasts
                      : (size_t)(n->n_in + n->n_out + 1);
    }
    c->accesses = checker_alloc(c, accesses, sizeof *c->accesses);
    if (!c->accesses) return wrong(c, "out of memory for the check");
    c->n_accesses = 0;
    for (int32_t r = 0; r < c->p->n_roots; r++) c->last_access[r] = -1;
    for (int32_t k = 0; k < w->n_parts; k++) {
        c->chain = c->chains + w->chain_of[k];
        if (w->parts[k].kernel.threads != 1) return wrong(c, "a chain on several threads");
        if (!check_instruction(c, &w->parts[k])) return false;
    }
    c->chain = -1;
    c->chains += w->n_chains;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const region *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Memory that is not private to one chain is in use as long as all chains run. */
static void extend_lifetime(const checker *c, region *r)
{
    const int32_t end = c->begin[c->p->n_code];
    if (r->chain >= 0) return;
    r->first = c->begin[c->happens[r->first]];
    if (r->last < end) r->last = c->begin[c->happens[r->last] + 1] - 1;
}

static bool overlap_in_time(const checker *c, const region *x, const region *y)
{
    if (x->first <= y->last && y->first <= x->last) return true;
    return x->chain >= 0 && y->chain >= 0 && x->chain != y->chain &&
           c->happens[x->first] == c->happens[y->first];
}

/* No two regions with a byte and an instruction in common. */
static bool check_regions(checker *c)
{
    for (int32_t r = 0; r < c->p->n_roots; r++)
        if (c->first[r] != NEVER && c->p->roots[r].bytes > 0)
            c->regions[c->n_regions++] = (region){ c->p->roots[r].offset, c->p->roots[r].bytes,
                                                   c->first[r], c->last[r], r,
                                                   c->chain_of[r] };
    for (int32_t a = 0; a < c->n_regions; a++) extend_lifetime(c, &c->regions[a]);
    if (c->n_regions > 0)
        qsort(c->regions, (size_t)c->n_regions, sizeof *c->regions, by_offset);
    for (int32_t a = 0; a < c->n_regions; a++) {
        const region *x = &c->regions[a];
        for (int32_t b = a + 1; b < c->n_regions; b++) {
            const region *y = &c->regions[b];
            if (y->offset >= x->offset + x->bytes) break;
            if (!overlap_in_time(c, x, y)) continue;
            c->at = c->happens[x->first > y->first ? x->first : y->first];
            return wrong(c, "memory that holds something else");
        }
    }
    return true;
}

/* No array of a fetch is the memory of two roots. */
static bool check_results(const checker *c)
{
    const plan_root *roots = c->p->roots;
    for (int32_t a = 0; a < c->p->n_roots; a++) {
        if (roots[a].kind != VALUE_RESULT) continue;
        for (int32_t b = 0; b < a; b++)
            if (roots[b].kind == roots[a].kind && roots[b].index == roots[a].index)
                return wrong(c, "two results in one place");
    }
    return true;
}

static bool check_all(checker *c)
{
    const eddy_plan *p = c->p;
    note_written(c);
    for (int32_t r = 0; r < p->n_roots; r++) c->holds[r] = c->first[r] = c->last[r] = NEVER;
    for (c->at = 0; c->at < p->n_code; c->at++) {
        const parallel_chains *w = eddy__parallel_chains_of(&p->code[c->at]);
        if (!(w ? check_chains(c, w) : check_instruction(c, &p->code[c->at]))) return false;
    }
    for (int i = 0; i < p->n_fetches; i++)
        if (p->outputs[i].buffer >= 0 && !read_memory(c, &p->buffers[p->outputs[i].buffer]))
            return false;
    return check_results(c) && check_regions(c);
}

/* When each instruction begins; false without memory. */
static bool find_times(checker *c)
{
    const eddy_plan *p = c->p;
    c->begin = checker_alloc(c, (size_t)p->n_code + 1, sizeof *c->begin);
    for (int32_t i = 0; c->begin && i < p->n_code; i++) {
        const parallel_chains *w = eddy__parallel_chains_of(&p->code[i]);
        c->begin[i + 1] = c->begin[i] + (w ? w->n_parts : 1);
    }
    c->happens =
        c->begin ? checker_alloc(c, (size_t)c->begin[p->n_code] + 1, sizeof *c->happens) : NULL;
    for (int32_t i = 0; c->happens && i < p->n_code; i++)
        for (int32_t t = c->begin[i]; t < c->begin[i + 1]; t++) c->happens[t] = i;
    return c->happens != NULL;
}

static bool make_room(checker *c)
{
    const size_t n = (size_t)c->p->n_roots;
    c->written = checker_alloc(c, (size_t)c->p->n_buffers, 1);
    c->holds = checker_alloc(c, n, sizeof *c->holds);
    c->first = checker_alloc(c, n, sizeof *c->first);
    c->last = checker_alloc(c, n, sizeof *c->last);
    c->chain_of = checker_alloc(c, n, sizeof *c->chain_of);
    c->last_access = checker_alloc(c, n, sizeof *c->last_access);
    if (!find_times(c)) return false;
    c->regions = checker_alloc(c, n + (size_t)c->begin[c->p->n_code], sizeof *c->regions);
    return c->written && c->holds && c->first && c->last && c->chain_of && c->last_access &&
           c->regions;
}

static bool check_one(const eddy_plan *p, eddy_error *error)
{
    checker c = { .p = p, .error = error, .chain = -1, .arena = { .allocator = p->allocator } };
    const bool ok = make_room(&c) ? check_all(&c) : wrong(&c, "out of memory for the check");
    eddy__arena_free(&c.arena);
    return ok;
}

bool eddy__plan_check(const eddy_plan *p, eddy_error *error)
{
    if (!check_one(p, error)) return false;
    for (const eddy_program *i = p->programs; i; i = i->next)
        if (!eddy__program_check(p, i, error)) return false;
    return true;
}
