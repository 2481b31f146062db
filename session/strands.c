/* strands.c -- a stretch of small instructions as one, which runs those that do not
 * depend on each other side by side.
 *
 * What belongs together is a strand: its instructions run in their order on one thread,
 * each by itself, so that the values are those of a plain run to the bit.  A value that
 * only a strand knows lies in memory of the strand's own, which is planned like that of a
 * plan; what is read outside lives from the begin of the whole to its end.
 *
 * An instruction that fails keeps those behind it from running, as far as they have not
 * run yet, and none before it; wide.c sees to it that no variable is changed behind one
 * that may fail on its data.  So a failed run leaves what a plain one would have left. */
#include "session/wide.h"
#include "session/fused.h"
#include "session/pool.h"

#include <stdlib.h>
#include <string.h>

enum { STRANDS_A_THREAD = 4, MOST_STRANDS = 64 };

/* ---------------------------------------------------------------- running -- */

typedef struct weaving {
    const wide  *w;
    uint64_t     step;
    atomic_int   failed;            /* the first part that did; n_parts: none */
} weaving;

static void note_failure(weaving *r, strand *s, int32_t at, eddy_status status)
{
    int first = atomic_load(&r->failed);
    s->status = status;
    while (at < first && !atomic_compare_exchange_weak(&r->failed, &first, at)) continue;
}

static void run_strands(void *arg, int64_t from, int64_t to, int worker)
{
    weaving *r = arg;
    (void)worker;
    for (strand *s = r->w->strands + from; s < r->w->strands + to; s++)
        for (int32_t i = 0; i < s->n; i++) {
            const int32_t at = s->parts[i];
            if (at > atomic_load_explicit(&r->failed, memory_order_relaxed)) break;
            const eddy_status status = eddy_execute(&r->w->parts[at], r->step, &s->error);
            if (status == EDDY_OK) continue;
            note_failure(r, s, at, status);
            break;
        }
}

/* One after the other: what is faster so, and where a variable has no value, since whoever
 * meets it must be the first to. */
static void run_in_order(weaving *r)
{
    for (int32_t i = 0; i < r->w->n_parts && r->failed == r->w->n_parts; i++) {
        strand           *s = &r->w->strands[r->w->strand_of[i]];
        const eddy_status status = eddy_execute(&r->w->parts[i], r->step, &s->error);
        if (status != EDDY_OK) note_failure(r, s, i, status);
    }
}

static bool have_values(const wide *w)
{
    for (int32_t i = 0; i < w->n_states; i++)
        if (!w->states[i]->initialized) return false;
    return true;
}

eddy_status eddy_wide_kernel(eddy_kernel *k)
{
    const wide *w = k->state;
    weaving     r = { .w = w, .step = k->step };
    atomic_init(&r.failed, w->n_parts);
    if (((const instruction *)k->impl)->plan->side_by_side && have_values(w))
        eddy_side_by_side(k, w->n_strands, run_strands, &r);
    else
        run_in_order(&r);
    const int32_t failed = atomic_load(&r.failed);
    if (failed == w->n_parts) return EDDY_OK;
    const strand     *s = &w->strands[w->strand_of[failed]];
    const eddy_status status = s->status;
    ((const instruction *)k->impl)->plan->error = s->error;
    for (int32_t i = 0; i < w->n_strands; i++) w->strands[i].error.status = EDDY_OK;
    return status;
}

/* ---------------------------------------------------------------- strands -- */

typedef struct weaver {
    compile       *c;
    const stretch *s;
    wide          *w;
} weaver;

/* Groups of a stretch by their cost. */
typedef struct group {
    int32_t of, strand;
    double  cost;
} group;

static int by_cost(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost) : x->of - y->of;
}

/* The groups of the stretch, the dearest first; how many. */
static int32_t list_groups(const stretch *s, group *groups, int32_t *number)
{
    int32_t n = 0;
    for (int32_t i = s->first; i < s->end; i++) number[s->group[i]] = -1;
    for (int32_t i = s->first; i < s->end; i++) {
        int32_t *at = &number[s->group[i]];
        if (*at < 0) groups[*at = n++] = (group){ .of = s->group[i] };
        groups[*at].cost += s->cost[i];
    }
    qsort(groups, (size_t)n, sizeof *groups, by_cost);
    return n;
}

/* The pool gives each thread strands side by side: each the dearest of those left, in
 * turn, the caller the last.  So what the caller alone takes for its share, by which the
 * pool judges whether help pays, is rather too little than too much. */
static int32_t place_of(int32_t number, int32_t n, int32_t threads)
{
    int32_t k = 0;
    for (int32_t round = 0;; round++)
        for (int32_t t = threads - 1; t >= 0; t--) {
            const int32_t from = (int32_t)((int64_t)n * t / threads);
            const int32_t to = (int32_t)((int64_t)n * (t + 1) / threads);
            if (from + round < to && k++ == number) return from + round;
        }
}

/* Each group is a strand, or goes to that which has the least to do. */
static int32_t share_groups(const weaver *v, group *groups, int32_t n)
{
    const int32_t threads = v->c->session->options.threads;
    const int32_t most = threads < MOST_STRANDS / STRANDS_A_THREAD ? threads * STRANDS_A_THREAD
                                                                   : MOST_STRANDS;
    const int32_t strands = n < most ? n : most;
    double        cost[MOST_STRANDS] = { 0 };
    for (int32_t i = 0; i < n; i++) {
        int32_t least = 0;
        for (int32_t k = 1; k < strands; k++)
            if (cost[k] < cost[least]) least = k;
        cost[least] += groups[i].cost;
        groups[i].strand = place_of(least, strands, threads < strands ? threads : strands);
    }
    return strands;
}

static bool make_strands(weaver *v)
{
    const stretch *s = v->s;
    wide          *w = v->w;
    const size_t   n = (size_t)(s->end - s->first);
    group         *groups = eddy_flow_alloc(v->c, n, sizeof *groups);
    int32_t       *number = eddy_flow_alloc(v->c, (size_t)s->end, sizeof *number);
    int32_t       *parts = eddy_plan_alloc(v->c, n, sizeof *parts);
    w->strand_of = eddy_plan_alloc(v->c, n, sizeof *w->strand_of);
    if (!groups || !number || !parts || !w->strand_of) return false;
    const int32_t n_groups = list_groups(s, groups, number);
    w->n_strands = share_groups(v, groups, n_groups);
    w->strands = eddy_plan_alloc(v->c, (size_t)w->n_strands, sizeof *w->strands);
    if (!w->strands) return false;
    for (int32_t g = 0; g < n_groups; g++) number[groups[g].of] = groups[g].strand;
    for (int32_t i = 0; i < w->n_parts; i++) {
        w->strand_of[i] = number[s->group[s->first + i]];
        w->strands[w->strand_of[i]].n++;
    }
    for (int32_t k = 0; k < w->n_strands; k++) {
        w->strands[k].parts = parts;
        parts += w->strands[k].n;
        w->strands[k].n = 0;
    }
    for (int32_t i = 0; i < w->n_parts; i++) {
        strand *to = &w->strands[w->strand_of[i]];
        to->parts[to->n++] = i;
    }
    return true;
}

/* ------------------------------------------------------------------ parts -- */

static fused *fused_of(const instruction *i)
{
    return i->run == eddy_fused_kernel ? i->kernel.state : NULL;
}

/* The instructions for one thread. */
static bool make_parts(weaver *v)
{
    wide *w = v->w;
    w->parts = eddy_plan_alloc(v->c, (size_t)w->n_parts, sizeof *w->parts);
    if (!w->parts) return false;
    for (int32_t i = 0; i < w->n_parts; i++) {
        instruction *to = &w->parts[i];
        const fused *f = fused_of(&v->c->plan->code[v->s->first + i]);
        *to = v->c->plan->code[v->s->first + i];
        to->kernel.impl = to;
        to->kernel.threads = 1;
        if (f) to->kernel.scratch_size = f->common_bytes + f->worker_bytes;
        if (!eddy_prepare(v->c, to)) return false;
    }
    return true;
}

static int operands_of(const eddy_kernel *k) { return k->n_in + k->n_out; }

static eddy_buffer *operand(const eddy_kernel *k, int i)
{
    return i < k->n_in ? k->in[i] : k->out[i - k->n_in];
}

static int32_t root_of(const eddy_plan *p, const eddy_buffer *b)
{
    return p->buffer_root[b - p->buffers];
}

/* ----------------------------------------------------------------- memory -- */

/* By root of which nothing is read outside: one more than its strand; -1: it has several. */
static size_t find_roots(const weaver *v, int32_t *strand_of)
{
    const eddy_plan *p = v->c->plan;
    size_t           n = 0;
    for (int32_t i = 0; i < v->w->n_parts; i++) {
        const eddy_kernel *k = &v->w->parts[i].kernel;
        const int32_t      mark = v->w->strand_of[i] + 1;
        n += k->scratch_size > 0;
        for (int j = 0; j < operands_of(k); j++) {
            const int32_t r = root_of(p, operand(k, j));
            if (!eddy_is_within(v->s, &p->roots[r])) continue;
            n += strand_of[r] == 0;
            strand_of[r] = strand_of[r] == 0 || strand_of[r] == mark ? mark : -1;
        }
    }
    return n;
}

/* Lists what has a place in a strand's memory, and forgets the marks. */
static bool list_roots(weaver *v)
{
    const eddy_plan *p = v->c->plan;
    int32_t         *strand_of = v->s->by_root;
    wide            *w = v->w;
    const size_t     most = find_roots(v, strand_of);
    w->roots = eddy_plan_alloc(v->c, most, sizeof *w->roots);
    if (!w->roots) return false;
    for (int32_t i = 0; i < w->n_parts; i++) {
        const eddy_kernel *k = &w->parts[i].kernel;
        if (k->scratch_size > 0) w->roots[w->n_roots++] = (strand_root){ .root = -1, .part = i };
        for (int j = 0; j < operands_of(k); j++) {
            const int32_t r = root_of(p, operand(k, j));
            if (strand_of[r] > 0)
                w->roots[w->n_roots++] = (strand_root){ .root = r, .part = i };
            strand_of[r] = 0;
        }
    }
    return true;
}

/* What has a place in the strand, with its life among the parts. */
static int32_t roots_of(const weaver *v, int32_t number, plan_root *roots)
{
    const wide *w = v->w;
    int32_t     n = 0;
    for (int32_t i = 0; i < w->n_roots; i++) {
        const strand_root *at = &w->roots[i];
        if (w->strand_of[at->part] != number) continue;
        plan_root *r = &roots[n++];
        if (at->root >= 0) {
            *r = v->c->plan->roots[at->root];
            r->first -= v->s->first;
            r->last -= v->s->first;
        } else
            *r = (plan_root){ .kind = VALUE_TEMP, .first = at->part, .last = at->part,
                              .bytes = w->parts[at->part].kernel.scratch_size };
    }
    return n;
}

/* Places what is in the strands, each strand's behind those before; returns the bytes. */
static bool place_strands(weaver *v, size_t *bytes)
{
    compile   *c = v->c;
    wide      *w = v->w;
    plan_root *roots = eddy_flow_alloc(c, (size_t)w->n_roots, sizeof *roots);
    const bool reuse = !(c->session->options.without & EDDY_PASS_REUSE);
    *bytes = 0;
    if (!roots) return false;
    for (int32_t k = 0; k < w->n_strands; k++) {
        const int32_t n = roots_of(v, k, roots);
        size_t        own, live;
        w->strands[k].at = *bytes;
        if (!eddy_plan_memory(c->plan->allocator, roots, n, w->n_parts, reuse, &own, &live))
            return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory while planning memory");
        for (int32_t i = 0, at = 0; i < w->n_roots; i++)
            if (w->strand_of[w->roots[i].part] == k)
                w->roots[i].offset = *bytes + roots[at++].offset;
        *bytes += own;
    }
    return true;
}

void eddy_settle_wide(eddy_plan *p, instruction *i)
{
    const wide  *w = eddy_wide_of(i);
    char        *memory = i->kernel.scratch;
    const size_t from = memory ? (size_t)(memory - (char *)p->memory) : 0;
    for (int32_t k = 0; w && k < w->n_roots; k++) {
        const strand_root *r = &w->roots[k];
        if (r->root >= 0) p->roots[r->root].offset = from + r->offset;
        else w->parts[r->part].kernel.scratch = memory + r->offset;
    }
}

/* ---------------------------------------------------------- the instruction -- */

static int add_operand(eddy_buffer **list, int n, eddy_buffer *b)
{
    enum { LOOKED_AT = 32 };        /* one twice is harmless, and to look at all is quadratic */
    for (int i = n - 1; i >= 0 && i >= n - LOOKED_AT; i--)
        if (list[i] == b) return n;
    list[n] = b;
    return n + 1;
}

/* What the parts read and write outside of the strands' memory. */
static bool list_operands(const weaver *v, eddy_kernel *to)
{
    const eddy_plan *p = v->c->plan;
    size_t           most = 0;
    for (int32_t i = 0; i < v->w->n_parts; i++)
        most += (size_t)operands_of(&v->w->parts[i].kernel);
    eddy_buffer **in = eddy_plan_alloc(v->c, most, sizeof(eddy_buffer *));
    eddy_buffer **out = eddy_plan_alloc(v->c, most, sizeof(eddy_buffer *));
    if (!in || !out) return false;
    for (int32_t i = 0; i < v->w->n_parts; i++) {
        const eddy_kernel *k = &v->w->parts[i].kernel;
        for (int j = 0; j < operands_of(k); j++) {
            eddy_buffer     *b = operand(k, j);
            const plan_root *r = &p->roots[root_of(p, b)];
            if (r->kind == VALUE_TEMP && r->first < 0) continue;
            if (j < k->n_in) to->n_in = add_operand(in, to->n_in, b);
            else to->n_out = add_operand(out, to->n_out, b);
        }
    }
    to->in = in;
    to->out = out;
    return true;
}

/* Variables whose storage a part is handed; one that is replaced needs no value. */
static bool list_states(const weaver *v)
{
    wide  *w = v->w;
    size_t most = 0;
    for (int32_t i = 0; i < w->n_parts; i++) most += (size_t)w->parts[i].kernel.n_in;
    w->states = eddy_plan_alloc(v->c, most, sizeof(eddy_state *));
    if (!w->states) return false;
    for (int32_t i = 0; i < w->n_parts; i++) {
        const eddy_kernel *k = &w->parts[i].kernel;
        const bool replaces = !fused_of(&w->parts[i]) && (k->op->flags & EDDY_OP_REPLACES);
        for (int j = replaces; j < k->n_in; j++)
            if (k->in[j]->state) w->states[w->n_states++] = k->in[j]->state;
    }
    return true;
}

/* From now on they are parts: what they say goes to their strand, what lies in its memory
 * has no place elsewhere. */
static bool hand_over(const weaver *v)
{
    const wide *w = v->w;
    for (int32_t i = 0; i < w->n_parts; i++) {
        const fused *f = fused_of(&w->parts[i]);
        eddy_error  *e = &w->strands[w->strand_of[i]].error;
        w->parts[i].error = e;
        for (int k = 0; f && k < f->n_parts; k++) f->parts[k].of->error = e;
        if (!eddy_plan_add_flops(v->c, &w->parts[i])) return false;
    }
    for (int32_t i = 0; i < w->n_roots; i++)
        if (w->roots[i].root >= 0) v->c->plan->roots[w->roots[i].root].first = -1;
    return true;
}

bool eddy_make_wide(compile *c, const stretch *s, instruction *to, bool *made)
{
    wide  *w = eddy_plan_alloc(c, 1, sizeof *w);
    weaver v = { .c = c, .s = s, .w = w };
    size_t bytes;
    *made = false;
    if (!w) return false;
    w->n_parts = s->end - s->first;
    if (!make_strands(&v) || !make_parts(&v) || !list_roots(&v) || !place_strands(&v, &bytes))
        return false;
    if (bytes > s->most_bytes) return true;
    instruction made_of = { .run = eddy_wide_kernel, .plan = c->plan, .resizes = -1,
                            .node = w->parts[0].node, .kernel = w->parts[0].kernel };
    made_of.kernel.state = w;
    made_of.kernel.scratch = NULL;
    made_of.kernel.scratch_size = bytes;
    made_of.kernel.threads = c->session->options.threads;
    made_of.kernel.n_in = made_of.kernel.n_out = 0;
    if (!hand_over(&v) || !list_operands(&v, &made_of.kernel) || !list_states(&v)) return false;
    *to = made_of;
    to->kernel.impl = to;
    return *made = true;
}
