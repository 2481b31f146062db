/* parallel_groups.c -- finding small independent instructions that can run in parallel.
 *
 * Only large kernels are divided over threads. A plan of small kernels may contain independent
 * branches: an ensemble, several heads on one trunk, and the gradients of both. A sequence of
 * consecutive small instructions that falls into independent groups becomes one instruction
 * (parallel_chains.c).
 *
 * Two instructions belong to the same group if one writes memory that the other reads or writes.
 * From each possible start, a sequence is extended as long as this is beneficial. */
#include "session/compile/parallel_groups.h"
#include "session/compile/fused_loop.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "ops/weak_ops.h"

/* Nanoseconds: maximum for one instruction, minimum for a range, cost of starting it, minimum
 * gain. */
enum { MAX_EACH = 40000, LEAST = 20000, BEGIN = 3000, MIN_GAIN = 4000 };
/* Maximum number of instructions in a range, and of steps per instruction of the plan. */
enum { WINDOW = 512, LOOKS = 64 };
static const double MAX_OF_ONE = 0.7;          /* maximum share of the largest group in the whole */
static const int64_t MORE_BYTES = 1 << 20;      /* alive in a range than without it */

/* An instruction of the range that uses these bytes of a root. */
typedef struct use {
    int32_t of, other;              /* other: the use before; -1 */
    size_t  from, to;
} use;

typedef struct root_uses {
    int32_t range_number;           /* number of the range, from 1, to which the uses belong */
    int32_t reads, writes;          /* the last of each; -1 */
} root_uses;

typedef struct finder {
    compile   *c;
    eddy_plan *plan;
    double    *cost;                /* by instruction; negative: unsuitable for a range */
    int32_t   *n_independent;       /* by instruction: later ones that need nothing from it on */
    int64_t   *alive;               /* by instruction: bytes of the arena that are in use */
    int32_t   *group;               /* by instruction: parent in the union-find forest of groups */
    double    *weight;              /* ... if it represents its group: nanoseconds of the group */
    bool      *fallible, *updates;
    root_uses *roots;
    use       *uses;
    int32_t   *by_root;
    int32_t    n_uses, n_risks;
    int32_t    risks[WINDOW];  /* may fail on their data; no update follows */
    int32_t    range_number;        /* of the current range */
    int64_t    steps_left;          /* of the search */
    double     largest;             /* group of the range */
} finder;

/* ------------------------------------------------------------- instructions -- */

static const fused *fused_of(const instruction *i)
{
    return i->run == eddy__fused_kernel ? i->kernel.state : NULL;
}

static bool is_copy(const instruction *i)
{
    return !fused_of(i) && i->run != eddy__kernel_of(i->kernel.op);
}

static bool is_elementwise(const instruction *i) { return i->run == eddy__elementwise_kernel; }

static int32_t root_of(const finder *f, const eddy_buffer *b)
{
    return f->plan->buffer_root[b - f->plan->buffers];
}

static size_t bytes_of(const eddy_buffer *b)
{
    return (size_t)b->count * eddy_dtype_size(b->type.dtype);
}

static bool arithmetic_of(compile *c, const instruction *i, double *flops)
{
    const fused *f = fused_of(i);
    instruction  alone;
    double       each;
    *flops = 0;
    for (int k = 0; k < (f ? f->n_parts : 1); k++) {
        if (f) eddy__part_alone(&f->parts[k], &i->kernel, &alone);
        if (!eddy__instruction_flops(c, f ? &alone : i, &each)) return false;
        *flops += each;
    }
    return true;
}

/* Nanoseconds, roughly. */
static bool estimate(compile *c, const instruction *i, double *cost)
{
    enum { FLOPS = 60, BYTES = 25, CALL = 100 };
    const eddy_kernel *k = &i->kernel;
    double             flops, bytes = 0;
    if (!arithmetic_of(c, i, &flops)) return false;
    for (int j = 0; j < k->n_in; j++) bytes += (double)bytes_of(k->in[j]);
    for (int j = 0; j < k->n_out; j++) bytes += (double)bytes_of(k->out[j]);
    *cost = CALL + (flops / FLOPS > bytes / BYTES ? flops / FLOPS : bytes / BYTES);
    return true;
}

/* Kernels from outside the library may not be safe to run on two threads. */
static bool is_known(const eddy_op_def *op)
{
    for (int i = 0; i < eddy__linked_op_count; i++)
        if (eddy__linked_ops[i] == op) return true;
    return false;
}

static bool is_suitable(const instruction *i)
{
    const unsigned flags = i->kernel.op->flags;
    if (i->resizes >= 0 || i->program || (flags & EDDY_OP_DYNAMIC)) return false;
    if (fused_of(i) || is_copy(i) || is_elementwise(i)) return true;
    return (!(flags & EDDY_OP_SIDE_EFFECT) || (flags & EDDY_OP_UPDATES)) && is_known(i->kernel.op);
}

static bool has_integers(const eddy_op_def *op, eddy_buffer *const *in, int n)
{
    bool some = false;
    for (int j = 0; j < n; j++)
        some = some || (!eddy__input_is_in(op->shape_inputs, j) &&
                        eddy_dtype_is_integer(in[j]->type.dtype));
    return some;
}

/* It may meet elements that are impossible: an index out of range, a division by zero. */
static bool may_fail(const instruction *i)
{
    const fused       *f = fused_of(i);
    const eddy_op_def *op = i->kernel.op;
    if (is_copy(i)) return false;
    if (op->flags & EDDY_OP_LAPACK) return true;
    if (!f) return has_integers(op, i->kernel.in, i->kernel.n_in) &&
                   !((op->flags & EDDY_OP_UPDATES) && op->tile);
    for (int k = 0; k < f->n_parts; k++) {
        const part *p = &f->parts[k];
        if (p->fn && !p->update && has_integers(p->op, p->at, p->n_in)) return true;
    }
    return false;
}

static bool is_update(const finder *f, const instruction *i)
{
    for (int k = 0; k < i->kernel.n_out; k++)
        if (f->plan->roots[root_of(f, i->kernel.out[k])].kind == VALUE_VARIABLE) return true;
    return !fused_of(i) && (i->kernel.op->flags & EDDY_OP_UPDATES);
}

static bool estimate_all(finder *f)
{
    for (int32_t i = f->plan->n_invariant; i < f->plan->n_code; i++) {
        const instruction *at = &f->plan->code[i];
        if (!estimate(f->c, at, &f->cost[i])) return false;
        if (f->cost[i] > MAX_EACH || !is_suitable(at)) f->cost[i] = -1;
        f->fallible[i] = may_fail(at);
        f->updates[i] = is_update(f, at);
    }
    return true;
}

/* ----------------------------------------------------------- start positions -- */

/* The last instruction on which this one depends, judged by whole roots; -1: none. */
static int32_t last_needed(const finder *f, const instruction *i, const int32_t *written,
                           const int32_t *used)
{
    int32_t last = 0;
    for (int j = 0; j < i->kernel.n_in; j++) {
        const int32_t r = root_of(f, i->kernel.in[j]);
        const int32_t at = eddy__changes_operand(i, j) ? used[r] : written[r];
        if (at > last) last = at;
    }
    for (int k = 0; k < i->kernel.n_out; k++) {
        const int32_t at = used[root_of(f, i->kernel.out[k])];
        if (at > last) last = at;
    }
    return last - 1;
}

/* Counts for each instruction the later ones that depend neither on it nor on any after it. A range
 * can begin where there are some. */
static bool find_independent(finder *f)
{
    const eddy_plan *p = f->plan;
    int32_t         *written = eddy__stage_alloc(f->c, (size_t)p->n_roots, sizeof *written);
    int32_t         *used = eddy__stage_alloc(f->c, (size_t)p->n_roots, sizeof *used);
    int32_t          begin = p->n_invariant;  /* begin of consecutive suitable instructions */
    if (!written || !used) return false;
    for (int32_t i = begin; i < p->n_code; i++) {
        const instruction *at = &p->code[i];
        int32_t            from = last_needed(f, at, written, used) + 1;
        if (from < begin) from = begin;
        if (i - from > WINDOW) from = i - WINDOW;
        if (f->cost[i] < 0) begin = i + 1;
        else if (from < i) {
            f->n_independent[from]++;
            f->n_independent[i]--;
        }
        for (int j = 0; j < at->kernel.n_in; j++) {
            const int32_t r = root_of(f, at->kernel.in[j]);
            used[r] = i + 1;
            if (eddy__changes_operand(at, j)) written[r] = i + 1;
        }
        for (int k = 0; k < at->kernel.n_out; k++)
            written[root_of(f, at->kernel.out[k])] = used[root_of(f, at->kernel.out[k])] = i + 1;
    }
    for (int32_t i = 1; i < p->n_code; i++) f->n_independent[i] += f->n_independent[i - 1];
    return true;
}

/* ------------------------------------------------------------------- growing -- */

static int32_t group_of(finder *f, int32_t i)
{
    while (f->group[i] != i) i = f->group[i] = f->group[f->group[i]];
    return i;
}

static void merge_groups(finder *f, int32_t i, int32_t k)
{
    const int32_t a = group_of(f, i), b = group_of(f, k);
    if (a == b) return;
    f->group[b] = a;
    f->weight[a] += f->weight[b];
    if (f->weight[a] > f->largest) f->largest = f->weight[a];
}

static void merge_overlapping(finder *f, const use *u, int32_t at)
{
    for (; at >= 0; at = f->uses[at].other)
        if (f->uses[at].from < u->to && u->from < f->uses[at].to)
            merge_groups(f, f->uses[at].of, u->of);
}

static void add_use(finder *f, int32_t i, const eddy_buffer *b, bool writes)
{
    const int32_t    number = root_of(f, b);
    const plan_root *root = &f->plan->roots[number];
    root_uses       *r = &f->roots[number];
    const size_t     from = f->plan->buffer_at[b - f->plan->buffers];
    if (root->kind == VALUE_FEED || root->kind == VALUE_CONSTANT) return;
    if (r->range_number != f->range_number)
        *r = (root_uses){ f->range_number, -1, -1 };
    use u = { .of = i, .from = from, .to = from + bytes_of(b) };
    merge_overlapping(f, &u, r->writes);
    if (writes) merge_overlapping(f, &u, r->reads);
    if (writes && !root->has_views) r->reads = r->writes = -1;
    int32_t *list = writes ? &r->writes : &r->reads;
    u.other = *list;
    f->uses[*list = f->n_uses++] = u;
}

/* True if no variable changes after an instruction that may fail, except in the same group. */
static void add_risk(finder *f, int32_t i)
{
    if (f->updates[i]) {
        for (int32_t k = 0; k < f->n_risks; k++) merge_groups(f, f->risks[k], i);
        if (f->n_risks > 1) f->n_risks = 1;
    }
    if (f->fallible[i]) f->risks[f->n_risks++] = i;
}

static void extend_range(finder *f, int32_t i)
{
    const instruction *at = &f->plan->code[i];
    const eddy_kernel *k = &at->kernel;
    f->group[i] = i;
    f->weight[i] = f->cost[i];
    if (f->cost[i] > f->largest) f->largest = f->cost[i];
    for (int j = 0; j < k->n_in; j++) add_use(f, i, k->in[j], eddy__changes_operand(at, j));
    for (int j = 0; j < k->n_out; j++) add_use(f, i, k->out[j], true);
    add_risk(f, i);
    f->steps_left--;
}

static void begin_range(finder *f)
{
    f->range_number++;
    f->largest = 0;
    f->n_uses = f->n_risks = 0;
}

/* Nanoseconds that the range saves, of which the whole takes `total` by itself. */
static double gain_of(const finder *f, double total)
{
    const double each = total / f->c->session->options.threads;
    return total - (f->largest > each ? f->largest : each) - BEGIN;
}

/* The end of the best range that begins at `first`, at most `limit`; `first` if there is none.
 * Growing stops when the gain is lost again, or when a long sequence has turned out to be one
 * chain. */
static int32_t best_end(finder *f, int32_t first, int32_t limit)
{
    enum { LONG = 160 };
    int32_t end = first;
    double  total = 0, best = 0;
    begin_range(f);
    for (int32_t i = first; i < limit && f->cost[i] >= 0; i++) {
        extend_range(f, i);
        total += f->cost[i];
        const double gain = gain_of(f, total);
        if (gain > best && gain >= MIN_GAIN && total >= LEAST &&
            f->largest <= MAX_OF_ONE * total) {
            best = gain;
            end = i + 1;
        }
        if ((best > 0 && gain < best / 2) || (i - first > LONG && f->largest > 0.97 * total)) break;
    }
    return end;
}

/* ------------------------------------------------------------------ ranges -- */

static void note_alive(finder *f)
{
    const eddy_plan *p = f->plan;
    for (int32_t r = 0; r < p->n_roots; r++) {
        const plan_root *root = &p->roots[r];
        if (root->kind != VALUE_TEMP || root->first < 0) continue;
        f->alive[root->first] += (int64_t)root->bytes;
        if (root->last < p->n_code) f->alive[root->last + 1] -= (int64_t)root->bytes;
    }
    for (int32_t i = 1; i < p->n_code; i++) f->alive[i] += f->alive[i - 1];
}

/* The memory that chains may use: together with values that enter, leave or cross the range, a
 * little more than the maximum that sequential execution needs. */
static size_t most_bytes(finder *f, const instruction_range *s)
{
    int64_t most = 0, across = f->alive[s->first];
    for (int32_t i = s->first; i < s->end; i++) {
        const eddy_kernel *k = &f->plan->code[i].kernel;
        if (f->alive[i] > most) most = f->alive[i];
        for (int j = 0; j < k->n_out; j++) {
            const int32_t    r = root_of(f, k->out[j]);
            const plan_root *root = &f->plan->roots[r];
            const bool       within = eddy__is_within(s, root), begins = root->first == s->first;
            if (root->kind != VALUE_TEMP || root->first < s->first || f->by_root[r]++ > 0)
                continue;
            across += (begins ? 0 : (int64_t)root->bytes) - (within ? (int64_t)root->bytes : 0);
        }
    }
    for (int32_t i = s->first; i < s->end; i++)
        for (int j = 0; j < f->plan->code[i].kernel.n_out; j++)
            f->by_root[root_of(f, f->plan->code[i].kernel.out[j])] = 0;
    most += MORE_BYTES - across;
    return most > 0 ? (size_t)most : 0;
}

/* Makes *to of the best range from `first` on that has the memory; its end, or `first`. */
static bool make_best_range(finder *f, int32_t first, int32_t *end, instruction *to)
{
    int32_t limit = f->plan->n_code - first < WINDOW ? f->plan->n_code : first + WINDOW;
    bool    made = false;
    for (int tries = 0; tries < 3 && !made; tries++) {
        *end = best_end(f, first, limit);
        if (*end == first) return true;
        begin_range(f);
        for (int32_t i = first; i < *end; i++) extend_range(f, i);
        for (int32_t i = first; i < *end; i++) f->group[i] = group_of(f, i);
        instruction_range s = { .first = first, .end = *end, .group = f->group, .cost = f->cost,
                      .by_root = f->by_root };
        s.most_bytes = most_bytes(f, &s);
        if (!eddy__make_parallel_group(f->c, &s, to, &made)) return false;
        limit = first + (*end - first) / 2;
    }
    if (!made) *end = first;
    return true;
}

/* -------------------------------------------------------------- the whole plan -- */

static bool make_room(finder *f)
{
    const size_t n = (size_t)f->plan->n_code, roots = (size_t)f->plan->n_roots;
    size_t       uses = 0;
    for (size_t i = 0; i < n; i++)
        uses += (size_t)(f->plan->code[i].kernel.n_in + f->plan->code[i].kernel.n_out);
    f->cost = eddy__stage_alloc(f->c, n, sizeof *f->cost);
    f->n_independent = eddy__stage_alloc(f->c, n + 1, sizeof *f->n_independent);
    f->alive = eddy__stage_alloc(f->c, n + 2, sizeof *f->alive);
    f->group = eddy__stage_alloc(f->c, n, sizeof *f->group);
    f->weight = eddy__stage_alloc(f->c, n, sizeof *f->weight);
    f->fallible = eddy__stage_alloc(f->c, n, sizeof *f->fallible);
    f->updates = eddy__stage_alloc(f->c, n, sizeof *f->updates);
    f->roots = eddy__stage_alloc(f->c, roots, sizeof *f->roots);
    f->uses = eddy__stage_alloc(f->c, uses, sizeof *f->uses);
    f->by_root = eddy__stage_alloc(f->c, roots, sizeof *f->by_root);
    f->steps_left = (int64_t)LOOKS * f->plan->n_code + 4096;
    return f->cost && f->n_independent && f->alive && f->group && f->weight && f->fallible &&
           f->updates && f->roots && f->uses && f->by_root;
}

/* Lifetimes among the `now` instructions that are left. */
static void renumber_roots(eddy_plan *p, const int32_t *position, int32_t now)
{
    for (int32_t r = 0; r < p->n_roots; r++) {
        plan_root *root = &p->roots[r];
        if (root->first < 0) continue;
        root->first = root->first < p->n_code ? position[root->first] : now;
        if (root->last < p->n_code) root->last = position[root->last];
    }
}

static bool make_groups(finder *f)
{
    eddy_plan *p = f->plan;
    int32_t   *position = eddy__stage_alloc(f->c, (size_t)p->n_code, sizeof *position), n = 0;
    int       *changes = &p->info.changes[__builtin_ctz(EDDY_PASS_PARALLEL)], made = 0;
    if (!position) return false;
    for (int32_t i = 0, end; i < p->n_code; i = end, n++) {
        end = i;
        if (i >= p->n_invariant && f->cost[i] >= 0 && f->n_independent[i] > 0 &&
            f->steps_left > 0 && !make_best_range(f, i, &end, &p->code[n]))
            return false;
        if (end == i) p->code[n] = p->code[end++];
        else {
            *changes += end - i;
            made++;
        }
        p->code[n].kernel.impl = &p->code[n].call;
        for (int32_t k = i; k < end; k++) position[k] = n;
    }
    renumber_roots(p, position, n);
    p->n_code = n;
    p->has_parallel_groups = p->autotuner.best = made > 0;
    FILE *report = f->c->session->options.report;
    if (report) fprintf(report, "parallel: %d instructions in %d groups\n", *changes, made);
    return true;
}

bool eddy__parallelize(compile *c)
{
    const eddy_session_args *o = &c->session->options;
    if (o->threads < 2 || o->max_bytes > 0 || c->plan->n_code < 2) return true;
    eddy__stage_begin(c);
    finder *f = eddy__stage_alloc(c, 1, sizeof *f);
    if (!f) return false;
    *f = (finder){ .c = c, .plan = c->plan };
    if (!make_room(f) || !estimate_all(f) || !find_independent(f)) return false;
    note_alive(f);
    return make_groups(f);
}
