/* schedule_nodes.c -- execution order of a plan's nodes.
 *
 * Expensive nodes keep the order in which they were built. Elementwise nodes wait until another
 * node needs them, and so do parts of variables and feeds: their operands are mostly those of
 * their neighbors, and loops over the same number of elements become adjacent, so that fuse.c
 * can merge them. Variables are updated as early as possible, so that gradients are freed early,
 * but after all readers of the old value that were built before, so that no reader needs a copy
 * of it. Exchanges with other ranks begin as early as possible, too, except those that gather.
 * Where values are checked, variables are updated at the end, so that a value that fails the run
 * has changed none. */
#include "session/compile/ir.h"

#include <string.h>

enum { ANY_COUNT = -1 };

typedef struct edges {
    int32_t *from, *to;             /* n of them */
    int32_t  n, capacity;
} edges;

typedef struct scheduler {
    compile  *c;
    ir_graph *ir;
    edges     extra;                /* edges besides inputs and controls: `to` comes after `from` */
    int32_t  *extra_start;          /* by node: its first edge in extra, sorted by `to` */
    int32_t  *user_start, *next;    /* by node: the nodes that depend on it */
    int32_t  *pending;              /* by node: number of dependencies that are not resolved yet */
    uint8_t  *scheduled;            /* by node: in the order or in the current batch */
    int32_t  *order, n_order;       /* the result */
    int32_t  *batch, n_batch;       /* about to be ordered by their counts */
    int32_t  *ready, n_ready;       /* prompt nodes that can run now */
    int32_t  *stack;
    int32_t  *seen;                 /* by node: number of dependencies that are scheduled */
    int32_t  *batch_index;          /* by node: index in the batch; -1: not in it */
    int64_t   count;                /* number of elements of the last loop in the order */
} scheduler;

/* ------------------------------------------------ lazy nodes and updates -- */

static bool reads_storage(const ir_graph *f, const ir_node *n)
{
    for (int i = 0; i < n->n_inputs; i++)
        if (f->nodes[n->inputs[i].node]->variable >= 0 && n->inputs[i].output == STORAGE)
            return true;
    return false;
}

/* A view of memory that exists in all of the run, so that a late view keeps none alive. */
static bool is_given_part(const ir_graph *f, const ir_node *n)
{
    const ir_node *x = f->nodes[n->inputs[0].node];
    return eddy__ir_is_view(n) && (x->values || x->feed >= 0 || x->variable >= 0);
}

static bool is_lazy(const ir_graph *f, const ir_node *n)
{
    if (n->kept || n->n_controls > 0 || n->values || n->n_inputs == 0 || n->n_outputs != 1)
        return false;
    return (n->alias || is_given_part(f, n) || (n->op->flags & EDDY_OP_ELEMENTWISE)) &&
           !reads_storage(f, n);
}

/* Whether the result is larger than the input: what ranks gather should not wait in memory for its
 * use. All ranks must decide alike, and one input has the same shape on all of them. */
static bool gathers(const ir_graph *f, const ir_node *n)
{
    return n->n_inputs == 1 && n->n_outputs == 1 &&
           eddy_shape_count(n->outputs[0].shape) >
               eddy_shape_count(eddy__ir_type(f, n->inputs[0]).shape);
}

/* Updates, and exchanges with other ranks, which take their time while the next nodes run. */
static bool is_prompt(const ir_graph *f, const ir_node *n)
{
    return ((n->op->flags & EDDY_OP_UPDATES) && n->n_controls == 0) ||
           ((n->op->flags & EDDY_OP_EXCHANGES) && !gathers(f, n));
}

/* The number of elements, if the node is a loop over elements. */
static int64_t count_of(const ir_node *n)
{
    const bool loop = n->op->flags & (EDDY_OP_ELEMENTWISE | EDDY_OP_UPDATES);
    return loop && !n->alias && !n->values && n->n_outputs > 0
               ? eddy_shape_count(n->outputs[0].shape)
               : ANY_COUNT;
}

/* ---------------------------------------------------------------- edges -- */

static bool add_edge(void *to_scheduler, int32_t from, int32_t to)
{
    scheduler *a = to_scheduler;
    edges     *e = &a->extra;
    if (from == 0 || from == to) return true;
    if (e->n == e->capacity) {
        const int32_t bigger = e->capacity ? 2 * e->capacity : 64;
        int32_t      *p = eddy__stage_alloc(a->c, 2 * (size_t)bigger, sizeof *p);
        if (!p) return false;
        if (e->n > 0) {
            memcpy(p, e->from, (size_t)e->n * sizeof *p);
            memcpy(p + bigger, e->to, (size_t)e->n * sizeof *p);
        }
        *e = (edges){ p, p + bigger, e->n, bigger };
    }
    e->from[e->n] = from;
    e->to[e->n++] = to;
    return true;
}

/* By variable: a list of the nodes that read its value from before the run, and the last node
 * that used its storage. */
typedef struct uses {
    int32_t *first;                 /* by variable: its latest read; 0: none */
    int32_t *other;                 /* by read: the previous read of the same variable */
    int32_t *reader;
    int32_t  n;
    int32_t *last;                  /* by variable */
} uses;

/* The variable of which input i is the old value, possibly a part of it or reshaped; -1: none. */
static int32_t old_value(const ir_graph *f, const ir_node *n, int i, const int32_t *alias_of)
{
    const ir_node *x = f->nodes[n->inputs[i].node];
    if (x->variable >= 0) return n->inputs[i].output == BEFORE_RUN ? x->variable : -1;
    return alias_of[x->id];
}

/* Orders an update after the readers of the old value and after the previous use of the
 * storage. */
static bool order_update(scheduler *a, const ir_node *n, uses *u)
{
    const int32_t v = a->ir->nodes[n->inputs[0].node]->variable;
    for (int32_t at = u->first[v]; at > 0; at = u->other[at])
        if (!add_edge(a, u->reader[at], n->id)) return false;
    u->first[v] = 0;
    return true;
}

static bool order_storage(scheduler *a, const ir_node *n, uses *u)
{
    for (int i = 0; i < n->n_inputs; i++) {
        const ir_node *x = a->ir->nodes[n->inputs[i].node];
        if (x->variable < 0 || n->inputs[i].output != STORAGE) continue;
        if (!add_edge(a, u->last[x->variable], n->id)) return false;
        u->last[x->variable] = n->id;
    }
    return !(n->op->flags & EDDY_OP_UPDATES) || order_update(a, n, u);
}

static bool order_variables(scheduler *a)
{
    const ir_graph *f = a->ir;
    const size_t    v = (size_t)a->c->plan->n_variables;
    size_t          inputs = 1;
    for (int32_t id = 1; id <= f->size; id++) inputs += (size_t)f->nodes[id]->n_inputs;
    int32_t *alias_of = eddy__stage_alloc(a->c, (size_t)f->size + 1, sizeof *alias_of);
    uses     u = { .first = eddy__stage_alloc(a->c, v, sizeof(int32_t)),
                   .other = eddy__stage_alloc(a->c, inputs, sizeof(int32_t)),
                   .reader = eddy__stage_alloc(a->c, inputs, sizeof(int32_t)),
                   .last = eddy__stage_alloc(a->c, v, sizeof(int32_t)) };
    if (!alias_of || !u.first || !u.other || !u.reader || !u.last) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        const bool     shares = n->alias || eddy__ir_is_view(n);
        alias_of[id] = shares ? old_value(f, n, 0, alias_of) : -1;
        for (int i = 0; i < n->n_inputs && !n->alias; i++) {
            const int32_t of = old_value(f, n, i, alias_of);
            if (of < 0) continue;
            u.reader[++u.n] = id;
            u.other[u.n] = u.first[of];
            u.first[of] = u.n;
        }
        if (!order_storage(a, n, &u)) return false;
    }
    return true;
}

/* Sorts the extra edges by `to`, by counting. */
static bool sort_extra(scheduler *a)
{
    const edges *e = &a->extra;
    const size_t size = (size_t)a->ir->size;
    int32_t     *start = eddy__stage_alloc(a->c, size + 2, sizeof *start);
    int32_t     *from = eddy__stage_alloc(a->c, (size_t)e->n, sizeof *from);
    if (!start || !from) return false;
    for (int32_t i = 0; i < e->n; i++) start[e->to[i] + 1]++;
    for (size_t id = 0; id <= size; id++) start[id + 1] += start[id];
    for (int32_t i = 0; i < e->n; i++) from[start[e->to[i]]++] = e->from[i];
    memmove(start + 1, start, (size + 1) * sizeof *start);
    start[0] = 0;
    a->extra.from = from;
    a->extra_start = start;
    return true;
}

/* Dependency number `at` (0, 1, ...) of node id; 0 after the last. */
static int32_t dependency(const scheduler *a, int32_t id, int32_t at)
{
    const ir_node *n = a->ir->nodes[id];
    if (at < n->n_inputs) return n->inputs[at].node;
    at -= n->n_inputs;
    if (at < n->n_controls) return n->controls[at];
    at -= n->n_controls;
    return at < a->extra_start[id + 1] - a->extra_start[id]
               ? a->extra.from[a->extra_start[id] + at]
               : 0;
}

static bool find_users(scheduler *a)
{
    const int32_t size = a->ir->size;
    a->user_start = eddy__stage_alloc(a->c, (size_t)size + 2, sizeof(int32_t));
    if (!a->user_start) return false;
    for (int32_t id = 1; id <= size; id++)
        for (int32_t at = 0, d; (d = dependency(a, id, at)) > 0; at++) {
            a->pending[id]++;
            a->user_start[d + 1]++;
        }
    for (int32_t id = 0; id <= size; id++) a->user_start[id + 1] += a->user_start[id];
    a->next = eddy__stage_alloc(a->c, (size_t)a->user_start[size + 1], sizeof(int32_t));
    int32_t *fill = eddy__stage_alloc(a->c, (size_t)size + 1, sizeof *fill);
    if (!a->next || !fill) return false;
    for (int32_t id = 1; id <= size; id++)
        for (int32_t at = 0, d; (d = dependency(a, id, at)) > 0; at++)
            a->next[a->user_start[d] + fill[d]++] = id;
    return true;
}

/* --------------------------------------------------------------- batches -- */

/* The node is computed by now, or will be whenever it is needed. */
static void resolve(scheduler *a, int32_t first)
{
    int32_t top = 0;
    a->stack[top++] = first;
    while (top > 0) {
        const int32_t id = a->stack[--top];
        for (int32_t i = a->user_start[id]; i < a->user_start[id + 1]; i++) {
            const int32_t  next = a->next[i];
            const ir_node *n = a->ir->nodes[next];
            if (--a->pending[next] > 0) continue;
            if (is_lazy(a->ir, n)) a->stack[top++] = next;
            else if (is_prompt(a->ir, n)) a->ready[a->n_ready++] = next;
        }
    }
}

/* Adds the node to the batch, preceded by all of its dependencies that are not scheduled yet. */
static void add_to_batch(scheduler *a, int32_t wanted)
{
    int32_t top = 0;
    if (a->scheduled[wanted]) return;
    a->stack[top++] = wanted;
    while (top > 0) {
        const int32_t id = a->stack[top - 1];
        int32_t       d;
        while ((d = dependency(a, id, a->seen[id])) > 0 && a->scheduled[d]) a->seen[id]++;
        if (d > 0) {
            a->stack[top++] = d;
            continue;
        }
        top--;
        a->scheduled[id] = 1;
        a->batch_index[id] = a->n_batch;
        a->batch[a->n_batch++] = id;
    }
}

/* A heap of batch indices, the smallest on top. */
static void heap_push(int32_t *heap, int32_t *n, int32_t v)
{
    int32_t at = (*n)++;
    for (; at > 0 && heap[(at - 1) / 2] > v; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = v;
}

static int32_t heap_pop(int32_t *heap, int32_t *n)
{
    const int32_t top = heap[0], v = heap[--*n];
    int32_t       at = 0;
    for (int32_t child = 1; child < *n; child = 2 * at + 1) {
        if (child + 1 < *n && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= v) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = v;
    return top;
}

/* Nodes of the batch that can be next: of the present count, and all others. */
typedef struct ready_queues {
    int32_t *same, n_same, *other, n_other;
} ready_queues;

static void push_ready(const scheduler *a, ready_queues *s, int32_t at)
{
    const int64_t count = count_of(a->ir->nodes[a->batch[at]]);
    if (count == a->count || count == ANY_COUNT) heap_push(s->same, &s->n_same, at);
    else heap_push(s->other, &s->n_other, at);
}

/* Continues with the element count of the first node of the other queue. */
static void change_count(scheduler *a, ready_queues *s)
{
    const int32_t n = s->n_other;
    int32_t      *old = s->other;
    a->count = count_of(a->ir->nodes[a->batch[old[0]]]);
    s->other = a->stack;                    /* free while a batch is ordered */
    s->n_other = 0;
    for (int32_t i = 0; i < n; i++) push_ready(a, s, old[i]);
    memcpy(old, s->other, (size_t)s->n_other * sizeof *old);
    s->other = old;
}

/* Appends the batch to the order so that loops with equal element counts are adjacent. */
static void order_batch(scheduler *a, int32_t *batch_pending, ready_queues s)
{
    for (int32_t i = 0; i < a->n_batch; i++) {
        batch_pending[i] = 0;
        for (int32_t at = 0, d; (d = dependency(a, a->batch[i], at)) > 0; at++)
            batch_pending[i] += a->batch_index[d] >= 0;
        if (batch_pending[i] == 0) push_ready(a, &s, i);
    }
    while (s.n_same + s.n_other > 0) {
        if (s.n_same == 0) change_count(a, &s);
        const int32_t i = heap_pop(s.same, &s.n_same), id = a->batch[i];
        a->order[a->n_order++] = id;
        for (int32_t k = a->user_start[id]; k < a->user_start[id + 1]; k++) {
            const int32_t at = a->batch_index[a->next[k]];
            if (at >= 0 && --batch_pending[at] == 0) push_ready(a, &s, at);
        }
    }
    for (int32_t i = 0; i < a->n_batch; i++) a->batch_index[a->batch[i]] = -1;
    a->n_batch = 0;
}

/* ----------------------------------------------------------- scheduling -- */

static bool allocate(scheduler *a)
{
    const size_t n = (size_t)a->ir->size + 1;
    a->pending = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    a->scheduled = eddy__stage_alloc(a->c, n, 1);
    a->order = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    a->batch = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    a->ready = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    a->stack = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    a->batch_index = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    a->seen = eddy__stage_alloc(a->c, n, sizeof(int32_t));
    if (!a->pending || !a->scheduled || !a->order || !a->batch || !a->ready || !a->stack ||
        !a->batch_index || !a->seen)
        return false;
    memset(a->batch_index, 0xff, n * sizeof(int32_t));
    return true;
}

/* True if the memory exists when the run begins, or is never needed. */
static bool is_given(const ir_node *n)
{
    return n->values || n->feed >= 0 || n->variable >= 0 || n->op == &eddy_op_type_only;
}

/* True for small computations from feeds, constants and variables, which would otherwise
 * separate large loops. */
static bool is_early(const scheduler *a, const ir_node *n)
{
    enum { FEW = 16 };
    if (!is_lazy(a->ir, n) || eddy_shape_count(n->outputs[0].shape) > FEW) return false;
    for (int i = 0; i < n->n_inputs; i++)
        if (!a->scheduled[n->inputs[i].node]) return false;
    return true;
}

static bool schedule(scheduler *a)
{
    const ir_graph *f = a->ir;
    const size_t    n = (size_t)f->size + 1;
    int32_t        *batch_pending = eddy__stage_alloc(a->c, n, sizeof *batch_pending);
    ready_queues    s = { eddy__stage_alloc(a->c, n, sizeof *s.same), 0,
                   eddy__stage_alloc(a->c, n, sizeof *s.other), 0 };
    if (!batch_pending || !s.same || !s.other) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        if (!is_given(f->nodes[id])) continue;
        add_to_batch(a, id);
        resolve(a, id);
    }
    for (int32_t id = 1; id <= f->size; id++)
        if (is_early(a, f->nodes[id])) add_to_batch(a, id);
    order_batch(a, batch_pending, s);
    for (int32_t id = 1; id <= f->size; id++) {
        if (a->scheduled[id] || is_lazy(f, f->nodes[id]) || is_prompt(f, f->nodes[id])) continue;
        add_to_batch(a, id);
        order_batch(a, batch_pending, s);
        resolve(a, id);
        while (a->n_ready > 0 && !a->c->plan->numerics) {
            for (int32_t u = 0; u < a->n_ready; u++) add_to_batch(a, a->ready[u]);
            const int32_t made = a->n_ready;
            for (int32_t u = 0; u < made; u++) resolve(a, a->ready[u]);
            a->n_ready -= made;
            memmove(a->ready, a->ready + made, (size_t)a->n_ready * sizeof *a->ready);
        }
        order_batch(a, batch_pending, s);
    }
    for (int32_t id = 1; id <= f->size; id++) add_to_batch(a, id);
    order_batch(a, batch_pending, s);
    return true;
}

bool eddy__schedule_nodes(compile *c)
{
    scheduler a = { .c = c, .ir = c->ir };
    eddy__stage_begin(c);
    return allocate(&a) && order_variables(&a) && eddy__readers_first(c, &a, add_edge) &&
           sort_extra(&a) && find_users(&a) &&
           schedule(&a) && eddy__ir_reorder(c, a.order);
}
