/* numerics.c -- the check of values for infinities and NaN.
 *
 * Each instruction is checked when it has run, a fused one part by part in its tiles
 * (fused_loop.c), and a loop or branch by the instructions of its body. Constants, feeds and
 * variables are not checked by themselves; where NaN is in one of them, the first result that is
 * NaN too is refused. An infinity is refused if all operands are finite, which is tested only when
 * there is an infinity. */
#include "session/compile/numerics.h"
#include "graph/base/dtype.h"
#include "graph/base/half.h"
#include "session/compile/fused_checks.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/program.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- messages -- */

enum { NAMED_INPUTS = 6 };

typedef struct failure_reason {
    char   text[600];
    size_t used;
} failure_reason;

static void put(failure_reason *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(failure_reason *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(r->text + r->used, sizeof r->text - r->used, format, args);
    va_end(args);
    if (n > 0) r->used += (size_t)n;
    if (r->used >= sizeof r->text) r->used = sizeof r->text - 1;
}

/* Part i of the real or complex numbers of x. */
static double part_at(const eddy_buffer *x, int64_t i)
{
    const eddy_dtype d = x->type.dtype;
    if (d == EDDY_FLOAT16) return (double)eddy__f32_of_f16(((const uint16_t *)x->data)[i]);
    if (d == EDDY_BFLOAT16) return (double)eddy__f32_of_bf16(((const uint16_t *)x->data)[i]);
    return eddy__float_at(eddy_dtype_real(d), x->data, i);
}

static void put_range(failure_reason *r, const eddy_buffer *x)
{
    const int64_t n = x->count * (eddy_dtype_is_complex(x->type.dtype) ? 2 : 1);
    double        low = INFINITY, high = -INFINITY;
    int64_t       nans = 0, infinities = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = part_at(x, i);
        if (isnan(v)) nans++;
        else if (isinf(v)) infinities++;
        else {
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    if (low <= high) put(r, " in [%g, %g]", low, high);
    if (infinities > 0) put(r, " with %lld infinite", (long long)infinities);
    if (nans > 0)
        put(r, " with %lld nan, the first at element %lld", (long long)nans,
            (long long)eddy__find_not_finite(x->type.dtype, x->data, 0, x->count, EDDY_IS_NAN));
}

/* Whether an output took the memory of operand i. */
static bool is_overwritten(const eddy_kernel *k, int i)
{
    for (int j = 0; j < k->n_out; j++)
        if (k->in[i]->data == k->out[j]->data) return true;
    return false;
}

/* "'x' in [0, 1]", with the name of the tensor if the instruction is the node of the graph. */
static void put_input(failure_reason *r, const eddy_kernel *k, int i)
{
    const eddy_node *node = ((const eddy_kernel_call *)k->impl)->node;
    if (k->op == node->op && k->n_in == node->n_inputs)
        put(r, "'%.60s'", eddy_name_of(node->inputs[i]));
    else put(r, "input %d", i);
    if (k->in[i]->data && is_overwritten(k, i)) put(r, ", which was overwritten");
    else if (k->in[i]->data) put_range(r, k->in[i]);
}

/* An assignment does not read its variable, which may have had no value. */
static bool has_values(const eddy_kernel *k, int i)
{
    if (i == 0 && (k->op->flags & EDDY_OP_REPLACES)) return false;
    return eddy__may_be_infinite(k->in[i]->type.dtype) && k->in[i]->data && k->in[i]->count > 0 &&
           !eddy__input_is_in(k->op->shape_inputs, i);
}

/* Of the operands that still have their values. */
static eddy_finiteness worst_input(const eddy_kernel *k)
{
    eddy_finiteness worst = EDDY_FINITE;
    for (int i = 0; i < k->n_in; i++) {
        const eddy_buffer *x = k->in[i];
        if (!has_values(k, i) || is_overwritten(k, i)) continue;
        const eddy_finiteness f = eddy__finiteness(x->type.dtype, x->data, x->count);
        if (f > worst) worst = f;
    }
    return worst;
}

static void put_inputs(failure_reason *r, const eddy_kernel *k)
{
    bool finite = worst_input(k) == EDDY_FINITE;
    int  n = 0;
    for (int i = 0; i < k->n_in; i++)
        if (has_values(k, i) && is_overwritten(k, i)) finite = false;
    for (int i = 0; i < k->n_in; i++) {
        if (!has_values(k, i)) continue;
        if (n == NAMED_INPUTS) put(r, ", ...");
        if (n++ >= NAMED_INPUTS) break;
        if (n == 1) put(r, finite ? "; its inputs are finite: " : "; its inputs are ");
        else put(r, ", ");
        put_input(r, k, i);
    }
}

/* The element as it is printed: "nan", "-inf", or "(nan,0)" for a complex number. */
static void put_element(failure_reason *r, const eddy_buffer *y, int64_t i)
{
    if (eddy_dtype_is_complex(y->type.dtype))
        put(r, "(%g,%g)", part_at(y, 2 * i), part_at(y, 2 * i + 1));
    else put(r, isnan(part_at(y, i)) ? "nan" : "%g", part_at(y, i));
}

eddy_status eddy__numerics_fail(eddy_kernel *k, int output, int64_t element, eddy_finiteness what,
                                bool with_inputs)
{
    const eddy_op_def *op = ((const eddy_kernel_call *)k->impl)->node->op;
    failure_reason     r = { .used = 0 };
    if (k->op != op && k->op->name[0] == '_')
        put(&r, "in %s or operations fused with it, ", op->name);
    put(&r, "output %d, element %lld, is ", output, (long long)element);
    if (with_inputs) {
        put_element(&r, k->out[output], element);
        put_inputs(&r, k);
    } else put(&r, what == EDDY_IS_NAN ? "nan" : "infinite");
    return eddy_kernel_fail(k, EDDY_CHECK_FAILED, "%s", r.text);
}

/* ---------------------------------------------------------------- checking -- */

/* The finiteness of a large value is found by all threads. */
typedef struct search {
    const eddy_buffer *x;
    _Atomic int        worst;
} search;

static void search_part(void *arg, int64_t from, int64_t to, int worker)
{
    search      *s = arg;
    const size_t size = eddy_dtype_size(s->x->type.dtype);
    const char  *data = s->x->data;
    const int    f = (int)eddy__finiteness(s->x->type.dtype,
                                           data + (size_t)from * size, to - from);
    int          known = atomic_load_explicit(&s->worst, memory_order_relaxed);
    (void)worker;
    while (f > known && !atomic_compare_exchange_weak(&s->worst, &known, f)) continue;
}

enum { GRAIN = 1 << 17 };

static eddy_finiteness finiteness_of(const eddy_kernel *k, const eddy_buffer *x)
{
    search s = { .x = x };
    if (!eddy__may_be_infinite(x->type.dtype)) return EDDY_FINITE;
    if (x->count <= GRAIN) return eddy__finiteness(x->type.dtype, x->data, x->count);
    eddy_parallel(k, x->count, GRAIN, search_part, &s);
    return (eddy_finiteness)s.worst;
}

eddy_status eddy__numerics_check(eddy_kernel *k, int mode, eddy_finiteness worst, numerics *to)
{
    for (int i = 0; i < k->n_out; i++) {
        const eddy_buffer    *y = k->out[i];
        const eddy_finiteness found = y->data ? finiteness_of(k, y) : EDDY_FINITE;
        if (found == EDDY_FINITE) continue;
        if (found == EDDY_INFINITE && mode == EDDY_NUMERICS_MADE && worst == EDDY_FINITE)
            worst = worst_input(k);
        if (eddy__numerics_refuses(mode, found, worst))
            return eddy__numerics_fail(
                k, i, eddy__find_not_finite(y->type.dtype, y->data, 0, y->count, found), found,
                true);
        if (to) atomic_store_explicit(&to->infinite, true, memory_order_relaxed);
    }
    return EDDY_OK;
}

/* The worst of the operands whose memory an output takes. */
static eddy_finiteness worst_overwritten(const eddy_kernel *k)
{
    eddy_finiteness worst = EDDY_FINITE;
    for (int j = 0; j < k->n_out; j++)
        for (int i = 0; i < k->n_in; i++) {
            if (k->in[i]->data != k->out[j]->data || !has_values(k, i)) continue;
            const eddy_finiteness f = finiteness_of(k, k->in[i]);
            if (f > worst) worst = f;
        }
    return worst;
}

static eddy_status check_before(eddy_kernel *k, const numerics_check *c)
{
    for (int i = 0; i < c->n_before; i++) {
        const eddy_buffer    *x = c->before[i];
        const eddy_finiteness f = finiteness_of(k, x);
        if (!eddy__numerics_refuses(c->of->mode, f, EDDY_INFINITE)) continue;
        return eddy_kernel_fail(
            k, EDDY_CHECK_FAILED, "element %lld of the value that is fed is %s",
            (long long)eddy__find_not_finite(x->type.dtype, x->data, 0, x->count, f),
            f == EDDY_IS_NAN ? "nan" : "infinite");
    }
    return EDDY_OK;
}

/* True if all outputs are finite, and small: the usual case of small steps, without the choice of a
 * function by type. */
static bool all_finite(const eddy_kernel *k, const numerics_check *c)
{
    for (int i = 0; i < k->n_out; i++) {
        const eddy_buffer *y = k->out[i];
        if (!y->data || !c->how[i].largest) continue;
        if (y->count > GRAIN || !eddy__all_finite(&c->how[i], y->data, y->count)) return false;
    }
    return true;
}

eddy_status eddy__run_checked(instruction *i)
{
    const numerics_check *c = i->numerics;
    eddy_kernel          *k = &i->kernel;
    eddy_finiteness       worst = EDDY_FINITE;
    eddy_status           s = check_before(k, c);
    if (s == EDDY_OK && !c->only_before && c->of->mode == EDDY_NUMERICS_MADE &&
        (c->overwrites || atomic_load_explicit(&c->of->infinite, memory_order_relaxed)))
        worst = worst_overwritten(k);
    if (s == EDDY_OK) {
        s = i->run(k);
        /* A kernel that was stopped has left its result unfinished; the run says so. */
        if (s != EDDY_OK || c->only_before || eddy__stopped(k->stop)) return s;
        if (all_finite(k, c)) return EDDY_OK;
        s = eddy__numerics_check(k, c->of->mode, worst, c->of);
    }
    if (s != EDDY_OK) atomic_store(&c->of->found, true);
    return s;
}

/* ---------------------------------------------------------------- compiling -- */

bool eddy__numerics_begin(compile *c)
{
    c->numerics = c->plan->numerics = eddy__plan_alloc(c, 1, sizeof *c->numerics);
    if (c->numerics) c->numerics->mode = c->session->options.check_numerics;
    return c->numerics != NULL;
}

static bool updates(const instruction *i)
{
    const fused           *f = i->run == eddy__fused_kernel ? i->kernel.state : NULL;
    const parallel_chains *w = eddy__parallel_chains_of(i);
    bool                   any = false;
    if (w)
        for (int32_t k = 0; k < w->n_parts; k++) any = any || updates(&w->parts[k]);
    if (f || w) return any || (f && f->updates);
    return i->run == i->kernel.op->kernel && (i->kernel.op->flags & EDDY_OP_UPDATES);
}

/* The operation changes a part of a large operand in its memory: its operands are checked, and not
 * all of its result each time. */
static bool changes_part(compile *c, const instruction *i, bool *partly)
{
    const eddy_kernel *k = &i->kernel;
    double             flops, others = 0;
    *partly = false;
    if (k->n_out != 1 || k->n_in < 2 || (k->op->flags & EDDY_OP_ELEMENTWISE) ||
        c->plan->buffer_root[k->in[0] - c->plan->buffers] !=
            c->plan->buffer_root[k->out[0] - c->plan->buffers])
        return true;
    if (!eddy__instruction_flops(c, i, &flops)) return false;
    for (int j = 1; j < k->n_in; j++) others += (double)k->in[j]->count;
    *partly = others < (double)k->out[0]->count / 2 && flops < (double)k->out[0]->count;
    return true;
}

/* Lists the operands of an update that are fed: no instruction has checked them. */
static bool list_before(compile *c, const instruction *i, numerics_check *to)
{
    const eddy_plan *p = c->plan;
    eddy_buffer    **list = eddy__plan_alloc(c, (size_t)i->kernel.n_in, sizeof *list);
    if (!list) return false;
    for (int j = 0; j < i->kernel.n_in; j++)
        if (p->roots[p->buffer_root[i->kernel.in[j] - p->buffers]].kind == VALUE_FEED)
            list[to->n_before++] = i->kernel.in[j];
    to->before = list;
    return true;
}

static bool list_tests(compile *c, const instruction *i, numerics_check *to)
{
    eddy_finite_test *how = eddy__plan_alloc(c, (size_t)i->kernel.n_out, sizeof *how);
    for (int j = 0; how && j < i->kernel.n_out; j++)
        how[j] = eddy__finite_test(i->kernel.out[j]->type.dtype);
    to->how = how;
    return how != NULL;
}

/* A result takes the memory of an operand that no instruction of this run has checked. */
static bool overwrites(const eddy_plan *p, const instruction *i)
{
    const eddy_kernel *k = &i->kernel;
    for (int j = 0; j < k->n_out; j++) {
        const value_kind kind = p->roots[p->buffer_root[k->out[j] - p->buffers]].kind;
        if (kind == VALUE_FEED || kind == VALUE_VARIABLE) return true;
    }
    return false;
}

static bool attach(compile *c, instruction *i)
{
    fused                 *f = i->run == eddy__fused_kernel ? i->kernel.state : NULL;
    const parallel_chains *w = eddy__parallel_chains_of(i);
    for (int32_t k = 0; w && k < w->n_parts; k++)
        if (!attach(c, &w->parts[k])) return false;
    if (w) return true;
    numerics_check *to = eddy__plan_alloc(c, 1, sizeof *to);
    if (!to) return false;
    to->of = c->plan->numerics;
    to->only_before = i->run != eddy__kernel_of(i->kernel.op) || i->kernel.n_out == 0;
    if (f && !eddy__fused_checks_make(c, f)) return false;
    if (!to->only_before && !changes_part(c, i, &to->only_before)) return false;
    to->overwrites = overwrites(c->plan, i);
    if (!to->only_before && !list_tests(c, i, to)) return false;
    if (updates(i) && !list_before(c, i, to)) return false;
    i->numerics = to->only_before && to->n_before == 0 ? NULL : to;
    return true;
}

bool eddy__numerics_attach(compile *c)
{
    for (int32_t i = 0; i < c->plan->n_code; i++)
        if (!attach(c, &c->plan->code[i])) return false;
    return true;
}

static eddy_status run_nothing(eddy_kernel *k)
{
    (void)k;
    return EDDY_OK;
}

/* Instead of a print and the like: the value without the effect. */
static eddy_status run_copy(eddy_kernel *k)
{
    const eddy_buffer *x = k->in[0], *y = k->out[0];
    const size_t       bytes = (size_t)y->count * eddy_dtype_size(y->type.dtype);
    if (bytes > 0 && y->data != x->data) memcpy(y->data, x->data, bytes);
    return EDDY_OK;
}

static void drop_effects(instruction *i)
{
    const eddy_kernel *k = &i->kernel;
    const bool acts = i->run == k->op->kernel && (k->op->flags & EDDY_OP_SIDE_EFFECT);
    if (updates(i) || (acts && k->n_out == 0)) i->run = run_nothing;
    else if (acts && k->n_out == 1 && k->n_in > 0 && k->in[0]->count == k->out[0]->count &&
             k->in[0]->type.dtype == k->out[0]->type.dtype)
        i->run = run_copy;
    else return;
    i->resizes = -1;
    i->numerics = NULL;
}

void eddy__numerics_without_effects(eddy_plan *p)
{
    if (!p) return;
    for (int32_t i = 0; i < p->n_code; i++) drop_effects(&p->code[i]);
    for (const eddy_program *q = p->programs; q; q = q->next) {
        eddy__numerics_without_effects(q->condition.plan);
        for (int b = 0; b < q->n_bodies; b++) eddy__numerics_without_effects(q->bodies[b].plan);
    }
    p->writes = false;
}

bool eddy__numerics_exchanges(const eddy_plan *p)
{
    bool any = false;
    for (int32_t i = 0; p && i < p->n_code; i++)
        any = any || (p->code[i].kernel.op->flags & EDDY_OP_EXCHANGES);
    for (const eddy_program *q = p ? p->programs : NULL; q; q = q->next) {
        any = any || eddy__numerics_exchanges(q->condition.plan);
        for (int b = 0; b < q->n_bodies; b++)
            any = any || eddy__numerics_exchanges(q->bodies[b].plan);
    }
    return any;
}

bool eddy__numerics_has_updated(const eddy_plan *p)
{
    for (int32_t i = 0; i < p->begun; i++)
        if (updates(&p->code[i])) return true;
    return false;
}
