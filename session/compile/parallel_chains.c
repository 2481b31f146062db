/* parallel_chains.c -- parallel chains: a sequence of small instructions becomes one instruction,
 * which runs independent chains of them in parallel.
 *
 * Instructions that depend on each other form a chain. A chain runs in order on one thread, one
 * instruction at a time, so that the values have the bits of an ordinary run. A value that is used
 * only inside one chain lies in memory of that chain, which is planned like the memory of a plan;
 * a value that is read outside lives from the beginning to the end of the combined instruction.
 *
 * When an instruction fails, later instructions that have not run yet are skipped, and earlier
 * ones are not affected; parallel_groups.c ensures that no variable is changed after an
 * instruction that can fail on its data. So a failed run leaves the same state as an ordinary
 * run. */
#include "graph/base/thread_pool.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/fused_loop.h"
#include "session/compile/program.h"
#include "session/state/run_events.h"

#include <stdlib.h>
#include <string.h>

enum { CHAINS_PER_THREAD = 4, MAX_CHAINS = 64 };

/* ---------------------------------------------------------------- running -- */

typedef struct chains_run {
    const parallel_chains *w;
    atomic_int   failed;            /* the first part that did; n_parts: none */
} chains_run;

static void note_failure(chains_run *r, chain *s, int32_t at, eddy_status status)
{
    int first = atomic_load(&r->failed);
    s->status = status;
    while (at < first && !atomic_compare_exchange_weak(&r->failed, &first, at)) continue;
}

static eddy_status execute(const parallel_chains *w, int32_t at, eddy_error *error)
{
    if (!eddy__traces(w->plan->session)) return eddy__execute(&w->parts[at], error);
    const int64_t     begun = eddy__ticks();
    const eddy_status s = eddy__execute(&w->parts[at], error);
    eddy__trace_instruction(w->plan, -1, &w->parts[at], begun, eddy__ticks());
    return s;
}

static void run_chains(void *arg, int64_t from, int64_t to, int worker)
{
    chains_run *r = arg;
    (void)worker;
    for (chain *s = r->w->chains + from; s < r->w->chains + to; s++)
        for (int32_t i = 0; i < s->n; i++) {
            const int32_t at = s->parts[i];
            if (at > atomic_load_explicit(&r->failed, memory_order_relaxed)) break;
            const eddy_status status = execute(r->w, at, &s->error);
            if (status == EDDY_OK) continue;
            note_failure(r, s, at, status);
            break;
        }
}

/* Runs the instructions in order: if that is faster, or if a variable has no value, because
 * then the first instruction that reads it must report the error. */
static void run_in_order(chains_run *r)
{
    for (int32_t i = 0; i < r->w->n_parts && r->failed == r->w->n_parts; i++) {
        chain            *s = &r->w->chains[r->w->chain_of[i]];
        const eddy_status status = execute(r->w, i, &s->error);
        if (status != EDDY_OK) note_failure(r, s, i, status);
    }
}

static bool variables_have_values(const parallel_chains *w)
{
    for (int32_t i = 0; i < w->n_states; i++)
        if (!w->states[i]->initialized) return false;
    return true;
}

eddy_status eddy__parallel_group_kernel(eddy_kernel *k)
{
    const parallel_chains *w = k->state;
    chains_run r = { .w = w };
    atomic_init(&r.failed, w->n_parts);
    if (w->plan->runs_parallel && variables_have_values(w))
        eddy__side_by_side(k, w->n_chains, run_chains, &r);
    else
        run_in_order(&r);
    const int32_t failed = atomic_load(&r.failed);
    if (failed == w->n_parts) return EDDY_OK;
    const chain      *s = &w->chains[w->chain_of[failed]];
    const eddy_status status = s->status;
    w->plan->error = s->error;
    for (int32_t i = 0; i < w->n_chains; i++) w->chains[i].error.status = EDDY_OK;
    return status;
}

/* ----------------------------------------------------------------- chains -- */

typedef struct chains_builder {
    compile                 *c;
    const instruction_range *s;
    parallel_chains         *w;
} chains_builder;

/* Groups of a range by their cost. */
typedef struct group {
    int32_t of, chain;
    double  cost;
} group;

static int by_cost(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost) : x->of - y->of;
}

/* Lists the groups of the range, the most expensive first. Returns their number. */
static int32_t list_groups(const instruction_range *s, group *groups, int32_t *number)
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

/* The pool gives each thread consecutive chains. Distributes the groups, the most expensive
 * first, to the threads in turn, the caller last. The pool judges by the caller's own time
 * whether help pays; this order rather underestimates that time. */
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

/* Makes each group a chain, or adds it to the chain with the least work. */
static int32_t share_groups(const chains_builder *v, group *groups, int32_t n)
{
    const int32_t threads = v->c->session->options.threads;
    const int32_t most = threads < MAX_CHAINS / CHAINS_PER_THREAD ? threads * CHAINS_PER_THREAD
                                                                  : MAX_CHAINS;
    const int32_t chains = n < most ? n : most;
    double        cost[MAX_CHAINS] = { 0 };
    for (int32_t i = 0; i < n; i++) {
        int32_t least = 0;
        for (int32_t k = 1; k < chains; k++)
            if (cost[k] < cost[least]) least = k;
        cost[least] += groups[i].cost;
        groups[i].chain = place_of(least, chains, threads < chains ? threads : chains);
    }
    return chains;
}

static bool make_chains(chains_builder *v)
{
    const instruction_range *s = v->s;
    parallel_chains         *w = v->w;
    const size_t             n = (size_t)(s->end - s->first);
    group                   *groups = eddy__stage_alloc(v->c, n, sizeof *groups);
    int32_t                 *number = eddy__stage_alloc(v->c, (size_t)s->end, sizeof *number);
    int32_t                 *parts = eddy__plan_alloc(v->c, n, sizeof *parts);
    w->chain_of = eddy__plan_alloc(v->c, n, sizeof *w->chain_of);
    if (!groups || !number || !parts || !w->chain_of) return false;
    const int32_t n_groups = list_groups(s, groups, number);
    w->n_chains = share_groups(v, groups, n_groups);
    w->chains = eddy__plan_alloc(v->c, (size_t)w->n_chains, sizeof *w->chains);
    if (!w->chains) return false;
    for (int32_t g = 0; g < n_groups; g++) number[groups[g].of] = groups[g].chain;
    for (int32_t i = 0; i < w->n_parts; i++) {
        w->chain_of[i] = number[s->group[s->first + i]];
        w->chains[w->chain_of[i]].n++;
    }
    for (int32_t k = 0; k < w->n_chains; k++) {
        w->chains[k].parts = parts;
        parts += w->chains[k].n;
        w->chains[k].n = 0;
    }
    for (int32_t i = 0; i < w->n_parts; i++) {
        chain *to = &w->chains[w->chain_of[i]];
        to->parts[to->n++] = i;
    }
    return true;
}

/* ------------------------------------------------------------------ parts -- */

static fused *fused_of(const instruction *i)
{
    return i->run == eddy__fused_kernel ? i->kernel.state : NULL;
}

/* The instructions for one thread. */
static bool make_parts(chains_builder *v)
{
    parallel_chains *w = v->w;
    w->parts = eddy__plan_alloc(v->c, (size_t)w->n_parts, sizeof *w->parts);
    if (!w->parts) return false;
    for (int32_t i = 0; i < w->n_parts; i++) {
        instruction *to = &w->parts[i];
        const fused *f = fused_of(&v->c->plan->code[v->s->first + i]);
        *to = v->c->plan->code[v->s->first + i];
        to->kernel.impl = &to->call;
        to->kernel.threads = 1;
        to->kernel.stop = NULL;         /* small, and may be read by an update of the group */
        if (f) to->kernel.scratch_size = f->common_bytes + f->worker_bytes;
        if (!eddy__prepare(v->c, to)) return false;
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

/* By root that no instruction outside reads: one more than its chain; -1: several chains use
 * it. */
static size_t find_roots(const chains_builder *v, int32_t *chain_of)
{
    const eddy_plan *p = v->c->plan;
    size_t           n = 0;
    for (int32_t i = 0; i < v->w->n_parts; i++) {
        const eddy_kernel *k = &v->w->parts[i].kernel;
        const int32_t      mark = v->w->chain_of[i] + 1;
        n += k->scratch_size > 0;
        for (int j = 0; j < operands_of(k); j++) {
            const int32_t r = root_of(p, operand(k, j));
            if (!eddy__is_within(v->s, &p->roots[r])) continue;
            n += chain_of[r] == 0;
            chain_of[r] = chain_of[r] == 0 || chain_of[r] == mark ? mark : -1;
        }
    }
    return n;
}

/* Lists the roots in a chain's memory, and resets the marks. */
static bool list_roots(chains_builder *v)
{
    const eddy_plan *p = v->c->plan;
    int32_t         *chain_of = v->s->by_root;
    parallel_chains *w = v->w;
    const size_t     most = find_roots(v, chain_of);
    w->roots = eddy__plan_alloc(v->c, most, sizeof *w->roots);
    if (!w->roots) return false;
    for (int32_t i = 0; i < w->n_parts; i++) {
        const eddy_kernel *k = &w->parts[i].kernel;
        if (k->scratch_size > 0) w->roots[w->n_roots++] = (chain_root){ .root = -1, .part = i };
        for (int j = 0; j < operands_of(k); j++) {
            const int32_t r = root_of(p, operand(k, j));
            if (chain_of[r] > 0)
                w->roots[w->n_roots++] = (chain_root){ .root = r, .part = i };
            chain_of[r] = 0;
        }
    }
    return true;
}

/* The roots in the memory of the chain, with their lifetimes among its parts. */
static int32_t roots_of(const chains_builder *v, int32_t number, plan_root *roots)
{
    const parallel_chains *w = v->w;
    int32_t     n = 0;
    for (int32_t i = 0; i < w->n_roots; i++) {
        const chain_root *at = &w->roots[i];
        if (w->chain_of[at->part] != number) continue;
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

/* Assigns offsets to the roots of all chains, one chain after the other. Returns the bytes. */
static bool place_chains(chains_builder *v, uint64_t *bytes)
{
    compile         *c = v->c;
    parallel_chains *w = v->w;
    plan_root       *roots = eddy__stage_alloc(c, (size_t)w->n_roots, sizeof *roots);
    const bool       reuse = !(c->without & EDDY_PASS_REUSE);
    *bytes = 0;
    if (!roots) return false;
    for (int32_t k = 0; k < w->n_chains; k++) {
        const int32_t n = roots_of(v, k, roots);
        uint64_t      own, live;
        w->chains[k].at = *bytes;
        if (!eddy__plan_memory(c->plan->allocator, roots, n, w->n_parts, reuse, &own, &live))
            return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while planning memory");
        for (int32_t i = 0, at = 0; i < w->n_roots; i++)
            if (w->chain_of[w->roots[i].part] == k)
                w->roots[i].offset = *bytes + roots[at++].offset;
        *bytes += own;
    }
    return true;
}

void eddy__parallel_groups_bind(eddy_plan *p, instruction *i)
{
    const parallel_chains *w = eddy__parallel_chains_of(i);
    char                  *memory = i->kernel.scratch;
    const size_t           from = memory ? (size_t)(memory - (char *)p->memory) : 0;
    for (int32_t k = 0; w && k < w->n_roots; k++) {
        const chain_root *r = &w->roots[k];
        if (r->root >= 0) p->roots[r->root].offset = from + r->offset;
        else w->parts[r->part].kernel.scratch = memory + r->offset;
    }
    for (int32_t k = 0; w && k < w->n_parts; k++)
        if (w->parts[k].program) eddy__program_attach(&w->parts[k]);
}

/* ---------------------------------------------------------- the instruction -- */

static int add_operand(eddy_buffer **list, int n, eddy_buffer *b)
{
    enum { MAX_SEARCH = 32 };       /* duplicates are harmless; a full search is quadratic */
    for (int i = n - 1; i >= 0 && i >= n - MAX_SEARCH; i--)
        if (list[i] == b) return n;
    list[n] = b;
    return n + 1;
}

/* The operands and results of the parts outside the chains' memory. */
static bool list_operands(const chains_builder *v, eddy_kernel *to)
{
    const eddy_plan *p = v->c->plan;
    size_t           most = 0;
    for (int32_t i = 0; i < v->w->n_parts; i++)
        most += (size_t)operands_of(&v->w->parts[i].kernel);
    eddy_buffer **in = eddy__plan_alloc(v->c, most, sizeof(eddy_buffer *));
    eddy_buffer **out = eddy__plan_alloc(v->c, most, sizeof(eddy_buffer *));
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

/* Lists the variables whose storage a part receives. One that is replaced needs no value. */
static bool list_states(const chains_builder *v)
{
    parallel_chains *w = v->w;
    size_t most = 0;
    for (int32_t i = 0; i < w->n_parts; i++) most += (size_t)w->parts[i].kernel.n_in;
    w->states = eddy__plan_alloc(v->c, most, sizeof(eddy_state *));
    if (!w->states) return false;
    for (int32_t i = 0; i < w->n_parts; i++) {
        const eddy_kernel *k = &w->parts[i].kernel;
        const bool replaces = !fused_of(&w->parts[i]) && (k->op->flags & EDDY_OP_REPLACES);
        for (int j = replaces; j < k->n_in; j++)
            if (k->in[j]->state) w->states[w->n_states++] = k->in[j]->state;
    }
    return true;
}

/* Turns the instructions into parts: their errors go to their chain, and roots in the chain's
 * memory lose their own. */
static bool move_to_chains(const chains_builder *v)
{
    const parallel_chains *w = v->w;
    for (int32_t i = 0; i < w->n_parts; i++) {
        w->parts[i].call.error = &w->chains[w->chain_of[i]].error;
        if (!eddy__plan_add_flops(v->c, &w->parts[i])) return false;
    }
    for (int32_t i = 0; i < w->n_roots; i++)
        if (w->roots[i].root >= 0) v->c->plan->roots[w->roots[i].root].first = -1;
    return true;
}

bool eddy__make_parallel_group(compile *c, const instruction_range *s, instruction *to, bool *made)
{
    parallel_chains *w = eddy__plan_alloc(c, 1, sizeof *w);
    chains_builder v = { .c = c, .s = s, .w = w };
    uint64_t bytes;
    *made = false;
    if (!w) return false;
    w->plan = c->plan;
    w->n_parts = s->end - s->first;
    if (!make_chains(&v) || !make_parts(&v) || !list_roots(&v) || !place_chains(&v, &bytes))
        return false;
    if (bytes > s->most_bytes) return true;
    instruction made_of = { .run = eddy__parallel_group_kernel,
                            .call = c->plan->code[s->first].call,
                            .resizes = -1,
                            .kernel = w->parts[0].kernel };
    made_of.kernel.state = w;
    made_of.kernel.scratch = NULL;
    made_of.kernel.scratch_size = bytes;
    made_of.kernel.threads = c->session->options.threads;
    made_of.kernel.n_in = made_of.kernel.n_out = 0;
    if (!move_to_chains(&v) || !list_operands(&v, &made_of.kernel) || !list_states(&v))
        return false;
    *to = made_of;
    to->kernel.impl = &to->call;
    return *made = true;
}
