/* shared_operands.c -- operands that several products of a run read, packed by the first one. */
#include "session/compile/shared_operands.h"
#include "session/compile/fused_loop.h"
#include "session/compile/parallel_groups.h"

#include <string.h>

/* Products that must read an operand, and instructions from one of them to the next at most. */
enum { READERS = 3, NEAR = 256 };

static int32_t root_of(const eddy_plan *p, const eddy_buffer *b)
{
    return p->buffer_root[b - p->buffers];
}

/* Whether the instruction writes to the memory of the root. This and what else is `cold` is
 * optimized for size, as it runs only while a plan is compiled. */
__attribute__((cold)) static bool writes(const eddy_plan *p, const instruction *i, int32_t root)
{
    const eddy_kernel     *k = &i->kernel;
    const parallel_chains *w = eddy__parallel_chains_of(i);
    const fused           *f = i->run == eddy__fused_kernel ? k->state : NULL;
    bool                   yes = eddy__changes_operand(i, 0) && root_of(p, k->in[0]) == root;
    for (int32_t j = 0; w && j < w->n_parts; j++) yes = yes || writes(p, &w->parts[j], root);
    for (int j = 0; f && j < f->n_parts; j++) {
        const loop_update *u = f->parts[j].update;
        yes = yes || root_of(p, eddy__part_result(&f->parts[j])) == root ||
              (u && root_of(p, u->at[0]) == root);
    }
    for (int j = 0; j < k->n_out; j++) yes = yes || root_of(p, k->out[j]) == root;
    return yes;
}

/* Whether an instruction of [from, to) does. */
__attribute__((cold)) static bool changes(const eddy_plan *p, int32_t root, int32_t from,
                                          int32_t to)
{
    while (from < to && !writes(p, &p->code[from], root)) from++;
    return from < to;
}

/* Whether enough instructions from `at` on read b before it changes: the same operation, with
 * results of the same shape, which in most cases packs b in the same form. */
__attribute__((cold)) static bool has_readers(const eddy_plan *p, int32_t at, const eddy_buffer *b)
{
    const eddy_kernel *first = &p->code[at].kernel;
    int                readers = 1;
    for (int32_t i = at + 1, last = at; i < p->n_code && i <= last + NEAR; i++) {
        const eddy_kernel *k = &p->code[i].kernel;
        bool reads = false;
        for (int j = 0; j < k->n_in; j++) reads = reads || k->in[j] == b;
        if (!reads || k->op != first->op ||
            !eddy_shape_equal(k->out[0]->type.shape, first->out[0]->type.shape))
            continue;
        if (changes(p, root_of(p, b), last, i)) return false;
        if (++readers == READERS) return true;
        last = i;
    }
    return false;
}

/* Whether all iterations of a loop read the same elements. */
static bool is_captured(const compile *c, int32_t root)
{
    const plan_root *r = &c->plan->roots[root];
    return c->captured > 0 && r->kind == VALUE_FEED && r->index >= c->captured &&
           !changes(c->plan, root, 0, c->plan->n_code);
}

__attribute__((cold)) eddy_shared_packing *eddy__share_operand(compile *c, const eddy_buffer *b,
                                                               const eddy_packing *p)
{
    eddy_plan     *plan = c->plan;
    const int32_t  root = root_of(plan, b);
    const int32_t  at = c->preparing ? (int32_t)(c->preparing - plan->code) : -1;
    shared_operand *s = at >= 0 ? plan->shared : NULL;
    for (; s; s = s->next) {
        if (s->operand != b || memcmp(s->layout, p->layout, sizeof s->layout) != 0) continue;
        if (!s->lasts && (at - s->last > NEAR || changes(plan, root, s->last, at))) continue;
        s->last = at;
        return &s->form;
    }
    const bool lasts = is_captured(c, root);
    if (at < 0 || (!lasts && !has_readers(plan, at, b))) return NULL;
    s = eddy__arena_alloc(&plan->arena, sizeof *s);
    if (!s) return NULL;
    *s = (shared_operand){ .next = plan->shared, .operand = b, .bytes = p->bytes, .first = at,
                           .last = at, .lasts = lasts };
    memcpy(s->layout, p->layout, sizeof s->layout);
    return &(plan->shared = s)->form;
}

int32_t eddy__shared_operands(const eddy_plan *p)
{
    int32_t n = 0;
    for (const shared_operand *s = p->shared; s; s = s->next) n++;
    return n;
}

__attribute__((cold)) void eddy__shared_add_roots(eddy_plan *p)
{
    for (shared_operand *s = p->shared; s; s = s->next) {
        s->memory = p->n_roots++;
        p->roots[s->memory] = (plan_root){ .kind = VALUE_TEMP, .bytes = s->bytes,
                                           .first = s->lasts ? 0 : s->first,
                                           .last = s->lasts ? p->n_code : s->last };
    }
}

void eddy__shared_bind(eddy_plan *p)
{
    for (shared_operand *s = p->shared; s; s = s->next)
        s->form.data = (char *)p->memory + p->roots[s->memory].offset;
}
