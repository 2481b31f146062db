/* check_fused.c -- the check of a plan: registers and memory of fused loops. */
#include "session/compile/check_plan.h"

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
        if (eddy__part_assigns(p) && p->y.memory == variable &&
            buffer_number(c, eddy__part_result(p)) == eddy__check_source(c, b))
            return true;
    }
    return false;
}

static bool read_location(checker *c, registers *g, const location *p, const eddy_buffer *b,
                          bool broadcasts)
{
    if (p->memory)
        return p->memory == b || is_computed_in(c, g->f, p->memory, b)
                   ? eddy__check_read(c, p->memory)
                   : eddy__check_fail(c, "another operand's memory");
    const int32_t held = *register_at(g, p);
    if (broadcasts ? held == buffer_number(c, b) : held >= 0 && held == eddy__check_source(c, b))
        return true;
    return eddy__check_fail(c, "another value's register");
}

static bool write_location(checker *c, registers *g, const part *p)
{
    const eddy_buffer *b = eddy__part_result(p);
    const loop_update *u = p->update;
    if (eddy__part_assigns(p))      /* an Assign has two operands */
        return eddy__check_source(c, u->at[1]) == buffer_number(c, b) && p->y.memory == u->at[2]
                   ? eddy__check_write(c, p->y.memory, u->op)
                   : eddy__check_fail(c, "the result is not what is assigned");
    if (p->y.memory)
        return p->y.memory == b ? eddy__check_write(c, b, p->op)
                                : eddy__check_fail(c, "another result's memory");
    int32_t *holds = register_at(g, &p->y);
    for (int i = 0; i < g->f->n_broadcasts; i++)
        if (g->f->broadcasts[i].to.offset == p->y.offset)
            return eddy__check_fail(c, "a spread is overwritten");
    *holds = buffer_number(c, b);
    return true;
}

/* The registers and accumulators of a worker and its partial reductions must not overlap. */
static bool check_scratch(checker *c, const registers *g, const eddy_kernel *k)
{
    const fused *f = g->f;
    uint64_t     top = 0, common = 0;
    for (int a = 0; a < g->n; a++) {
        const size_t end = g->of[a].offset + (size_t)f->tile * g->of[a].size;
        if (end > top) top = end;
        for (int b = 0; b < g->n; b++)
            if (g->of[b].offset > g->of[a].offset && g->of[b].offset < end)
                return eddy__check_fail(c, "registers overlap");
    }
    for (int i = 0; i < f->n_parts; i++) {
        const fold *p = f->parts[i].fold;
        if (!p) continue;
        if (p->acc < top || p->parts < common) return eddy__check_fail(c, "accumulators overlap");
        top = p->acc + eddy__blocks_acc_bytes(&p->blocks);
        common = p->parts + (uint64_t)p->blocks.count * eddy__blocks_part(&p->blocks);
    }
    const uint64_t workers = (uint64_t)(k->threads > 0 ? k->threads : 1) * f->worker_bytes;
    return (top <= f->worker_bytes && common <= f->common_bytes &&
            f->common_bytes + workers <= k->scratch_size) ||
           eddy__check_fail(c, "too little scratch memory");
}

/* True if part p writes its result to the memory of b. */
static bool writes(const checker *c, const part *p, const eddy_buffer *b)
{
    return p->y.memory && eddy__check_overlap(c, p->y.memory, b);
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
                    return eddy__check_fail(c, "an operand is overwritten while it is read");
            }
            if (i != j && r->y.memory && writes(c, w, r->y.memory) &&
                (!w->fn || !r->fn || w->y.size != r->y.size ||
                 begin_of(c, w->y.memory) != begin_of(c, r->y.memory)))
                return eddy__check_fail(c, "two results in one place");
        }
    for (int i = 0; i < f->n_broadcasts; i++)
        for (int j = 0; j < f->n_parts; j++)
            if (writes(c, &f->parts[j], f->broadcasts[i].from))
                return eddy__check_fail(c, "an operand is overwritten while it is read");
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
        if (!eddy__check_read(c, f->broadcasts[i].from)) return false;
        *register_at(g, &f->broadcasts[i].to) = buffer_number(c, f->broadcasts[i].from);
    }
    for (int i = 0; i < f->n_parts; i++) {
        const part *p = &f->parts[i];
        for (int j = 0; j < p->n; j++)
            if (!read_location(c, g, &p->x[j], p->at[j], is_broadcast(g, &p->x[j])))
                return false;
        if (p->fn && !write_location(c, g, p)) return false;
    }
    for (int i = 0; i < f->n_parts; i++)
        if (!f->parts[i].fn && !write_location(c, g, &f->parts[i])) return false;
    return true;
}

bool eddy__check_fused(checker *c, const instruction *i)
{
    const fused *f = i->kernel.state;
    const size_t most = (size_t)f->n_parts * (LOOP_OPERANDS + 1) + (size_t)f->n_broadcasts;
    registers    g = { .f = f, .of = eddy__check_alloc(c, most, sizeof *g.of),
                       .holds = eddy__check_alloc(c, most, sizeof *g.holds) };
    if (!g.of || !g.holds) return eddy__check_fail(c, "out of memory for the check");
    return run_parts(c, &g) && check_tiles(c, f) && check_scratch(c, &g, &i->kernel);
}
