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

static bool updates(const eddy_plan *p, const part *of_loop, int32_t root)
{
    const plan_root *r = &p->roots[root];
    return of_loop->update && r->kind == VALUE_VARIABLE &&
           of_loop->update->variable == p->variables[r->index].state;
}

/* Whether an instruction outside of groups writes to the memory of the root. */
static bool one_writes(const eddy_plan *p, const instruction *i, int32_t root)
{
    const eddy_kernel *k = &i->kernel;
    const fused       *f = i->run == eddy__fused_kernel ? k->state : NULL;
    for (int j = 0; f && j < f->n_parts; j++)
        if (root_of(p, eddy__part_result(&f->parts[j])) == root || updates(p, &f->parts[j], root))
            return true;
    for (int j = 0; j < k->n_out; j++)
        if (root_of(p, k->out[j]) == root) return true;
    return k->n_in > 0 && eddy__changes_operand(i, 0) && root_of(p, k->in[0]) == root;
}

static bool writes(const eddy_plan *p, const instruction *i, int32_t root)
{
    const parallel_chains *w = eddy__parallel_chains_of(i);
    for (int32_t j = 0; w && j < w->n_parts; j++)
        if (one_writes(p, &w->parts[j], root)) return true;
    return one_writes(p, i, root);
}

/* Whether an instruction of [from, to) does. */
static bool changes(const eddy_plan *p, int32_t root, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        if (writes(p, &p->code[i], root)) return true;
    return false;
}

/* Whether instruction i is an operation as `like`, and reads b where that does: in most cases, it
 * packs it in the same form. */
static bool reads_alike(const eddy_plan *p, const instruction *i, const instruction *like,
                        const eddy_buffer *b)
{
    const eddy_kernel *k = &i->kernel, *l = &like->kernel;
    bool reads = false;
    if (i->run != like->run || k->op != l->op || k->n_out != l->n_out) return false;
    for (int j = 0; j < k->n_in && j < l->n_in; j++)
        reads = reads || (l->in[j] == b && root_of(p, k->in[j]) == root_of(p, b) &&
                          p->buffer_at[k->in[j] - p->buffers] == p->buffer_at[b - p->buffers]);
    return reads && eddy_shape_equal(k->out[0]->type.shape, l->out[0]->type.shape);
}

/* Whether enough instructions from `at` on read b before it changes. */
static bool has_readers(const eddy_plan *p, int32_t at, const eddy_buffer *b)
{
    const int32_t root = root_of(p, b);
    int32_t       until = at + NEAR;
    int           readers = 1;
    for (int32_t i = at; i + 1 < p->n_code && i < until && !writes(p, &p->code[i], root); i++)
        if (reads_alike(p, &p->code[i + 1], &p->code[at], b)) {
            if (++readers == READERS) return true;
            until = i + 1 + NEAR;
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

eddy_shared_packing *eddy__share_operand(compile *c, const eddy_buffer *b, const eddy_packing *p)
{
    eddy_plan *plan = c->plan;
    if (!c->preparing || p->bytes == 0) return NULL;
    const int32_t at = (int32_t)(c->preparing - plan->code), root = root_of(plan, b);
    const size_t  offset = plan->buffer_at[b - plan->buffers];
    for (shared_operand *s = plan->shared; s; s = s->next) {
        if (s->root != root || s->at != offset || s->bytes != p->bytes ||
            memcmp(s->layout, p->layout, sizeof s->layout) != 0)
            continue;
        if (!s->lasts && (at - s->last > NEAR || changes(plan, root, s->last, at))) continue;
        s->last = at;
        return &s->form;
    }
    const bool lasts = is_captured(c, root);
    if (!lasts && !has_readers(plan, at, b)) return NULL;
    shared_operand *s = eddy__arena_alloc(&plan->arena, sizeof *s);
    if (!s) return NULL;
    *s = (shared_operand){ .next = plan->shared, .root = root, .at = offset, .bytes = p->bytes,
                           .first = at, .last = at, .lasts = lasts };
    memcpy(s->layout, p->layout, sizeof s->layout);
    plan->shared = s;
    return &s->form;
}

int32_t eddy__shared_operands(const eddy_plan *p)
{
    int32_t n = 0;
    for (const shared_operand *s = p->shared; s; s = s->next) n++;
    return n;
}

void eddy__shared_add_roots(eddy_plan *p)
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
