/* check_plan.c -- verifier for the memory of a plan, for tests.
 *
 * Everything is derived again from the instructions: when each range of memory is first written
 * and last read, which value it then holds, and which values overlap. The lifetimes that emit.c,
 * fuse.c and memory_plan.c recorded are not used.
 *
 * Time is counted in instructions, and within a parallel instruction in the instructions of its
 * chains. The instructions of one chain run in order; those of different chains may run at the
 * same time. */
#include "session/compile/check_plan.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"
#include "ops/kernels/elementwise/elementwise.h"

#include <stdlib.h>

/* ---------------------------------------------------- single instructions -- */

/* True if the kernel of `op` may write output k to the memory from which it reads input j. */
static bool may_overwrite(const checker *c, const instruction *i, int k, int j)
{
    const eddy_kernel *n = &i->kernel;
    if (i->run != eddy__kernel_of(n->op) || k != n->op->in_place_output) return false;
    if (n->op->flags & EDDY_OP_UPDATES) return j == 0 || (n->op->flags & EDDY_OP_IN_PLACE);
    const bool whole = n->in[j]->count == n->out[k]->count &&
                       begin_of(c, n->in[j]) == begin_of(c, n->out[k]) &&
                       eddy_dtype_size(n->in[j]->type.dtype) ==
                           eddy_dtype_size(n->out[k]->type.dtype);
    if (n->op->flags & EDDY_OP_ELEMENTWISE) return whole;
    return (n->op->flags & EDDY_OP_IN_PLACE) && j == n->op->in_place_input && whole;
}

static bool check_overwriting(checker *c, const instruction *i)
{
    const eddy_kernel *n = &i->kernel;
    for (int k = 0; k < n->n_out; k++) {
        for (int j = 0; j < n->n_in; j++)
            if (!eddy__input_is_in(n->op->shape_inputs, j) && n->out[k]->count > 0 &&
                eddy__check_overlap(c, n->in[j], n->out[k]) && !may_overwrite(c, i, k, j))
                return eddy__check_fail(c, "an operand is overwritten while it is read");
        for (int j = 0; j < k; j++)
            if (eddy__check_overlap(c, n->out[j], n->out[k]))
                return eddy__check_fail(c, "two results in one place");
    }
    return true;
}

static bool check_single(checker *c, const instruction *i)
{
    enum { EACH_RUN = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_REFERENCE };
    const eddy_kernel *n = &i->kernel;
    if (c->at < c->p->n_invariant && (n->op->flags & EACH_RUN))
        return eddy__check_fail(c, "an operation for each run that is not in each");
    for (int j = 0; j < n->n_in; j++)
        if (!eddy__check_read(c, n->in[j]) ||
            (eddy__changes_operand(i, j) && !eddy__check_note(c, n->in[j], true)))
            return false;
    for (int k = 0; k < n->n_out; k++)
        if (!eddy__check_write(c, n->out[k], n->op)) return false;
    return check_overwriting(c, i);
}

/* ------------------------------------------------------------ the whole plan -- */

static void note_results(checker *c, const instruction *i)
{
    const fused *f = i->run == eddy__fused_kernel ? i->kernel.state : NULL;
    for (int k = 0; f && k < f->n_parts; k++)
        c->written[buffer_number(c, eddy__part_result(&f->parts[k]))] = 1;
    for (int k = 0; !f && k < i->kernel.n_out; k++)
        c->written[buffer_number(c, i->kernel.out[k])] = 1;
}

static void note_written(checker *c)
{
    for (int32_t n = 0; n < c->p->n_code; n++) {
        const parallel_chains *w = eddy__parallel_chains_of(&c->p->code[n]);
        note_results(c, &c->p->code[n]);
        for (int32_t k = 0; w && k < w->n_parts; k++) note_results(c, &w->parts[k]);
    }
}

static bool use_scratch(checker *c, const instruction *i)
{
    const eddy_plan *p = c->p;
    const uint64_t   bytes = i->kernel.scratch_size;
    if (bytes == 0) return true;
    const size_t offset = (size_t)((char *)i->kernel.scratch - (char *)p->memory);
    if (offset > p->memory_bytes || bytes > p->memory_bytes - offset)
        return eddy__check_fail(c, "scratch memory beyond the arena");
    c->regions[c->n_regions++] = (region){ offset, bytes, c->time, c->time, -1, c->chain };
    return true;
}

/* Checks one instruction, which may be part of a chain. */
static bool check_instruction(checker *c, const instruction *i)
{
    const bool loop = i->run == eddy__fused_kernel;
    if (!(loop ? eddy__check_fused(c, i) : check_single(c, i)) || !use_scratch(c, i)) return false;
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
    c->accesses = eddy__check_alloc(c, accesses, sizeof *c->accesses);
    if (!c->accesses) return eddy__check_fail(c, "out of memory for the check");
    c->n_accesses = 0;
    for (int32_t r = 0; r < c->p->n_roots; r++) c->last_access[r] = -1;
    for (int32_t k = 0; k < w->n_parts; k++) {
        c->chain = c->chains + w->chain_of[k];
        if (w->parts[k].kernel.threads != 1)
            return eddy__check_fail(c, "a chain on several threads");
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
    for (const shared_operand *s = c->p->shared; s; s = s->next)
        c->regions[c->n_regions++] = (region){
            c->p->roots[s->memory].offset, s->bytes, s->lasts ? 0 : c->begin[s->first],
            s->lasts ? c->begin[c->p->n_code] : c->begin[s->last], s->memory, -1
        };
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
            return eddy__check_fail(c, "memory that holds something else");
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
                return eddy__check_fail(c, "two results in one place");
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
        if (p->outputs[i].buffer >= 0 && !eddy__check_read(c, &p->buffers[p->outputs[i].buffer]))
            return false;
    return check_results(c) && check_regions(c);
}

/* When each instruction begins; false without memory. */
static bool find_times(checker *c)
{
    const eddy_plan *p = c->p;
    c->begin = eddy__check_alloc(c, (size_t)p->n_code + 1, sizeof *c->begin);
    for (int32_t i = 0; c->begin && i < p->n_code; i++) {
        const parallel_chains *w = eddy__parallel_chains_of(&p->code[i]);
        c->begin[i + 1] = c->begin[i] + (w ? w->n_parts : 1);
    }
    c->happens =
        c->begin ? eddy__check_alloc(c, (size_t)c->begin[p->n_code] + 1, sizeof *c->happens) : NULL;
    for (int32_t i = 0; c->happens && i < p->n_code; i++)
        for (int32_t t = c->begin[i]; t < c->begin[i + 1]; t++) c->happens[t] = i;
    return c->happens != NULL;
}

static bool make_room(checker *c)
{
    const size_t n = (size_t)c->p->n_roots;
    c->written = eddy__check_alloc(c, (size_t)c->p->n_buffers, 1);
    c->holds = eddy__check_alloc(c, n, sizeof *c->holds);
    c->first = eddy__check_alloc(c, n, sizeof *c->first);
    c->last = eddy__check_alloc(c, n, sizeof *c->last);
    c->chain_of = eddy__check_alloc(c, n, sizeof *c->chain_of);
    c->last_access = eddy__check_alloc(c, n, sizeof *c->last_access);
    if (!find_times(c)) return false;
    c->regions = eddy__check_alloc(c, n + (size_t)c->begin[c->p->n_code], sizeof *c->regions);
    return c->written && c->holds && c->first && c->last && c->chain_of && c->last_access &&
           c->regions;
}

static bool check_one(const eddy_plan *p, eddy_error *error)
{
    checker c = { .p = p, .error = error, .chain = -1, .arena = { .allocator = p->allocator } };
    const bool ok =
        make_room(&c) ? check_all(&c) : eddy__check_fail(&c, "out of memory for the check");
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
