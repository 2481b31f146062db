/* fused_checks.c -- which values of a fused loop are tested for infinities and NaN. */
#include "session/compile/fused_checks.h"
#include "graph/base/dtype.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------- hidden values -- */

enum { NUMBERS_TRIED = 8, MOST_TRIED = NUMBERS_TRIED * NUMBERS_TRIED * NUMBERS_TRIED };

/* Room for one operand or result of all probes. */
typedef struct probes {
    double at[MOST_TRIED];
} probes;

/* Element i of operand j: of the operand that is tried, always the same; of the others, all
 * combinations of different numbers. */
static double probe(int j, int tried, double value, int i)
{
    static const double numbers[NUMBERS_TRIED] = { 0, 1, -1, 0.5, -3, 1e-30, 1e30, INFINITY };
    if (j == tried) return value;
    for (int k = 0; k < j - (tried < j); k++) i /= NUMBERS_TRIED;
    return numbers[i % NUMBERS_TRIED];
}

/* The part may have a finite result although operand j is `value`. */
static bool hides(const part *p, int j, double value)
{
    probes      x[LOOP_OPERANDS], y;
    const void *at[LOOP_OPERANDS];
    const eddy_dtype d = eddy__part_result(p)->type.dtype;
    int              n = 1;
    for (int k = 1; k < p->n; k++) n *= NUMBERS_TRIED;
    for (int k = 0; k < p->n; k++) {
        for (int i = 0; i < n; i++)
            eddy__element_put(p->at[k]->type.dtype, &x[k], i, probe(k, j, value, i));
        at[k] = &x[k];
    }
    if (p->fn(n, &y, at, p->attrs) != EDDY_OK) return true;
    for (int i = 0; i < n; i++)
        if (eddy__finiteness(d, (const char *)&y + (size_t)i * eddy_dtype_size(d), 1) ==
            EDDY_FINITE)
            return true;
    return false;
}

/* Found by trying, so that it holds for every operation and for chains of operations; for five
 * operands, as a chain may have, that would take too many trials. */
static bool may_hide(const part *p, int j)
{
    enum { MOST_OPERANDS = 4, LARGEST = sizeof(double) };
    if (!p->fn || p->n > MOST_OPERANDS || !eddy__may_be_infinite(eddy__part_result(p)->type.dtype))
        return true;
    for (int k = 0; k <= p->n_in; k++)
        if (eddy_dtype_size(p->at[k]->type.dtype) > LARGEST) return true;
    return hides(p, j, INFINITY) || hides(p, j, -INFINITY) || hides(p, j, (double)NAN);
}

/* ---------------------------------------------------------------- the parts -- */

/* The same register, or memory of the same root. */
static bool same_place(const eddy_plan *p, const location *a, const location *b)
{
    if (!a->memory || !b->memory) return !a->memory && !b->memory && a->offset == b->offset;
    return p->buffer_root[a->memory - p->buffers] == p->buffer_root[b->memory - p->buffers];
}

/* Whether the result of part i is tested. It need not be if a later part shows it: that one is
 * tested, or shown by another. */
static bool test_of(const eddy_plan *plan, const fused *f, int i)
{
    const location *y = &f->parts[i].y;
    if (!f->parts[i].fn || !eddy__may_be_infinite(eddy__part_result(&f->parts[i])->type.dtype))
        return false;
    for (int k = i + 1; k < f->n_parts; k++) {
        const part *p = &f->parts[k];
        for (int j = 0; j < p->n; j++)
            if (same_place(plan, &p->x[j], y) && !may_hide(p, j)) return false;
        if (p->fn && same_place(plan, &p->y, y)) break;     /* it is overwritten */
    }
    return true;
}

/* Memory that a part writes. */
static bool is_written(const eddy_plan *p, const fused *f, const eddy_buffer *x)
{
    for (int i = 0; i < f->n_parts; i++) {
        const eddy_buffer *y = f->parts[i].fn ? f->parts[i].y.memory : NULL;
        if (y && p->buffer_root[y - p->buffers] == p->buffer_root[x - p->buffers]) return true;
    }
    return false;
}

static bool is_listed(const loop_checks *c, const eddy_buffer *x)
{
    for (int k = 0; k < c->n_over; k++)
        if (c->over[k].at == x) return true;
    return false;
}

/* Lists the operands that the loop overwrites. An assignment does not read its variable. */
static void list_overwritten(const eddy_plan *plan, const fused *f, loop_checks *c)
{
    for (int i = 0; i < f->n_parts; i++)
        for (int j = f->parts[i].op->flags & EDDY_OP_REPLACES ? 1 : 0; j < f->parts[i].n; j++) {
            const eddy_buffer *x = f->parts[i].x[j].memory;
            if (!x || !eddy__may_be_infinite(x->type.dtype) || is_listed(c, x) ||
                !is_written(plan, f, x))
                continue;
            const plan_root *r = &plan->roots[plan->buffer_root[x - plan->buffers]];
            overwritten *at = &c->over[c->n_over++];
            if (r->kind == VALUE_FEED || r->kind == VALUE_VARIABLE) {
                *at = c->over[c->n_outside];
                at = &c->over[c->n_outside++];
            }
            *at = (overwritten){ .at = x, .fed = r->kind == VALUE_FEED };
        }
}

bool eddy__fused_checks_make(compile *c, fused *f)
{
    size_t       operands = 0;
    loop_checks *to = eddy__plan_alloc(c, 1, sizeof *to);
    for (int i = 0; i < f->n_parts; i++) operands += (size_t)f->parts[i].n;
    if (!to) return false;
    to->of = c->plan->numerics;
    to->over = eddy__plan_alloc(c, operands, sizeof *to->over);
    eddy_finite_test *how = eddy__plan_alloc(c, (size_t)f->n_parts, sizeof *how);
    if (!to->over || !how) return false;
    for (int i = 0; i < f->n_parts; i++) {
        if (!test_of(c->plan, f, i)) continue;
        how[i] = eddy__finite_test(eddy__part_result(&f->parts[i])->type.dtype);
        f->parts[i].tested = &how[i];
    }
    list_overwritten(c->plan, f, to);
    f->checks = to;
    return true;
}

/* ----------------------------------------------------------------- running -- */

/* Each run that updates a variable counts its version up once, when it begins. */
static bool is_known_finite(const loop_checks *c, const overwritten *o)
{
    if (o->at->state) return o->finite > 0 && o->at->state->version == o->finite + 1;
    return !o->fed && !atomic_load_explicit(&c->of->infinite, memory_order_relaxed);
}

bool eddy__fused_checks_begin(const fused *f)
{
    const loop_checks *c = f->checks;
    const bool         infinite = atomic_load_explicit(&c->of->infinite, memory_order_relaxed);
    const int          n = infinite ? c->n_over : c->n_outside;
    bool               any = false;
    for (int k = 0; c->of->mode == EDDY_NUMERICS_MADE && k < n; k++) {
        const eddy_buffer *x = c->over[k].at;
        if (!is_known_finite(c, &c->over[k]) &&
            eddy__finiteness(x->type.dtype, x->data, x->count) != EDDY_FINITE)
            any = true;
    }
    return any;
}

void eddy__fused_checks_end(const fused *f)
{
    const loop_checks *c = f->checks;
    const bool         finite = !atomic_load_explicit(&c->of->infinite, memory_order_relaxed);
    for (int k = 0; k < c->n_outside; k++)
        if (c->over[k].at->state) c->over[k].finite = finite ? c->over[k].at->state->version : 0;
}

bool eddy__fused_reads_infinity(const fused *f, int64_t from, int64_t to)
{
    for (int i = 0; i < f->n_broadcasts; i++) {
        const eddy_buffer *x = f->broadcasts[i].from;
        if (eddy__finiteness(x->type.dtype, x->data, x->count) != EDDY_FINITE) return true;
    }
    for (int i = 0; i < f->n_parts; i++)
        for (int j = f->parts[i].op->flags & EDDY_OP_REPLACES ? 1 : 0; j < f->parts[i].n; j++) {
            const eddy_buffer *x = f->parts[i].x[j].memory;
            if (!x || is_listed(f->checks, x)) continue;
            const size_t size = eddy_dtype_size(x->type.dtype);
            if (eddy__finiteness(x->type.dtype, (const char *)x->data + (size_t)from * size,
                                 to - from) != EDDY_FINITE)
                return true;
        }
    return false;
}
