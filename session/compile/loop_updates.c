/* loop_updates.c -- fused loops write a value that is assigned to a variable directly to the
 * variable's memory, so that Assign need not copy it. */
#include "session/compile/fused_loop.h"

#include <string.h>

static bool is_in_root(const eddy_plan *p, const location *x, int32_t root)
{
    return x->memory && p->buffer_root[x->memory - p->buffers] == root;
}

static bool reads_root(const eddy_plan *plan, const part *p, int32_t root)
{
    for (int j = 0; j < p->n; j++)
        if (is_in_root(plan, &p->x[j], root)) return true;
    return false;
}

/* True if both are the same register, or memory of the same root. */
static bool is_same_place(const eddy_plan *p, const location *a, const location *b)
{
    if (!a->memory || !b->memory) return !a->memory && !b->memory && a->offset == b->offset;
    return is_in_root(p, a, p->buffer_root[b->memory - p->buffers]);
}

/* True if nothing reads these elements after the loop, whose last instruction is before `end`. */
static bool is_temporary(const eddy_plan *p, const location *x, int32_t end)
{
    const plan_root *r = x->memory ? &p->roots[p->buffer_root[x->memory - p->buffers]] : NULL;
    return !r || (r->kind == VALUE_TEMP && !r->has_views && !r->kept && r->last < end);
}

/* The part that computes what part `last` assigns; -1: none (a broadcast, or not in the loop). */
static int writer_of(const eddy_plan *p, const fused *f, int last)
{
    const location *value = &f->parts[last].x[1];
    int             i = last - 1;
    while (i >= 0 && !(f->parts[i].fn && is_same_place(p, &f->parts[i].y, value))) i--;
    return i;
}

/* True if part `from` may write the variable instead of part `assign`: nothing between them
 * reads the old value, no other part writes the variable, and no part between them is one that
 * may end the loop early (an update of a variable that has no value). */
static bool may_write(const eddy_plan *p, const fused *f, int from, int assign)
{
    const eddy_buffer *variable = f->parts[assign].y.memory;
    const int32_t      root = variable ? p->buffer_root[variable - p->buffers] : -1;
    if (root < 0) return false;
    for (int i = 0; i < f->n_parts; i++) {
        const part *other = &f->parts[i];
        const bool  between = i > from && i < assign;
        if (i != assign && is_in_root(p, &other->y, root)) return false;
        if (between &&
            (reads_root(p, other, root) || (other->update && !eddy__part_replaces(other))))
            return false;
    }
    return true;
}

/* Part `from` writes the variable, and `assign` is dropped. Readers of the value, up to the next
 * part that writes where it was, read the variable. */
static void write_variable(const eddy_plan *plan, fused *f, int from, int assign)
{
    part          *p = &f->parts[from];
    const location value = p->y, variable = f->parts[assign].y;
    bool           live = true;
    p->y = variable;
    p->update = f->parts[assign].update;
    f->n_parts--;
    memmove(&f->parts[assign], &f->parts[assign + 1],
            (size_t)(f->n_parts - assign) * sizeof *f->parts);
    for (int i = from + 1; i < f->n_parts && live; i++) {
        p = &f->parts[i];
        for (int j = 0; j < p->n; j++)
            if (is_same_place(plan, &p->x[j], &value)) p->x[j] = variable;
        live = !(p->fn && is_same_place(plan, &p->y, &value));
    }
}

void eddy__assign_directly(const eddy_plan *p, fused *f, int32_t end)
{
    for (int i = 0; f->updates && i < f->n_parts;) {
        const part *assign = &f->parts[i];
        const bool  copies =
            eddy__part_replaces(assign) && !eddy__part_assigns(assign) && assign->n == 2;
        const int   from = copies && is_temporary(p, &assign->x[1], end) ? writer_of(p, f, i) : -1;
        if (from >= 0 && may_write(p, f, from, i)) write_variable(p, f, from, i);
        else i++;
    }
}
