/* recompute.c -- cheap values are made again where a later loop reads them.
 *
 * A value that only one loop over tiles makes and reads needs no memory (fuse.c).  One that
 * a later loop reads as well, as most gradients read what the forward pass made, is written,
 * kept, and read again.  Where that loop has the operands at hand, a copy of the node there
 * costs less: an addition, say, is done by the time its result would have come from memory.
 * The same op on the same operands gives the same bits. */
#include "session/passes.h"
#include "build/gen/table.h"
#include "ops/pairs.h"
#include "ops/reduce.h"

/* LEAST_BYTES: smaller values stay in a cache, and are better read there again.  The rest
 * bounds what is looked at, and what a loop takes in. */
enum { LEAST_BYTES = 1 << 21, LONGEST_CHAIN = 4, MOST_RUNS = 4, MOST_COPIES = 16, LOOKED_AT = 64,
       MUCH_SMALLER = 16, MOST_OPERANDS = 4, MOST_SPREADS = 24 };

/* Nodes in a row of which fuse.c makes one loop. */
typedef struct loop {
    int64_t count, block;           /* elements; of a fold's block, or 0 */
    int32_t first, last;            /* nodes */
    int     spreads;                /* operands with fewer elements */
    bool    updated, fallible;      /* a variable is; an element may be impossible */
} loop;

/* A node made once more, for the readers in one run. */
typedef struct copy {
    int32_t of, run, next;          /* the node; where; another copy of it, or 0 */
    int32_t before;                 /* the node that it is put in front of */
    int32_t behind;                 /* another copy to be put there, or 0 */
    int32_t id;                     /* in the new flow */
} copy;

typedef struct search {
    compile   *c;
    eddy_flow *flow;
    int32_t   *first_update, *last_update;      /* by variable: nodes; 0: none */
    int32_t   *reader_start, *reader;           /* by node: those that read it, in order */
    int32_t   *run_of;                          /* by node; 0: none */
    loop      *runs;                            /* from 1 on */
    int32_t    n_runs;
    uint8_t   *fetched;                         /* by node */
    uint8_t   *remade;                          /* by node: nobody needs its memory any more */
    int32_t   *copies_of;                       /* by node: the first of its copies; 0 */
    copy      *copies;                          /* from 1 on */
    int32_t    n_copies, capacity;
    size_t     least;                           /* bytes of a value worth a copy */
} search;

static int64_t count_of(const flow_node *n) { return eddy_shape_count(n->outputs[0].shape); }

static size_t bytes_of(eddy_type t)
{
    return (size_t)eddy_shape_count(t.shape) * eddy_dtype_size(t.dtype);
}

/* The node in whose memory t lies. */
static const flow_node *origin_of(const eddy_flow *f, eddy_tensor t)
{
    const flow_node *n = f->nodes[t.node];
    while (n->alias || eddy_flow_is_view(n)) n = f->nodes[n->inputs[0].node];
    return n;
}

/* ---------------------------------------------------------------------- runs -- */

/* An update of each element by itself, in the variable's memory. */
static bool is_update(const search *s, const flow_node *n)
{
    if (!(n->op->flags & EDDY_OP_UPDATES) || !n->op->tile || n->n_outputs != 1 ||
        n->n_inputs > MOST_OPERANDS || count_of(n) == 0)
        return false;
    const int32_t v = s->flow->nodes[n->inputs[0].node]->variable;
    if (s->last_update[v] != n->id ||
        !eddy_shape_is_known(s->c->plan->variables[v].node->outputs[0].shape))
        return false;
    for (int i = 0; i < n->n_inputs; i++)
        if (eddy_shape_count(eddy_flow_type(s->flow, n->inputs[i]).shape) != count_of(n))
            return false;
    return true;
}

static bool is_loop(const flow_node *n)
{
    return (n->op->flags & EDDY_OP_ELEMENTWISE) && n->n_inputs <= MOST_OPERANDS &&
           !n->values && n->n_outputs == 1 && count_of(n) > 0;
}

static bool is_fold(const search *s, const flow_node *n, eddy_blocks *b)
{
    if (!n->op->folds || n->n_outputs != 1) return false;
    eddy_buffer  x = { .type = eddy_flow_type(s->flow, n->inputs[0]) }, y = { 0 };
    eddy_buffer *in[] = { &x, &x }, *out[] = { &y };
    y.type = n->outputs[0];
    x.count = eddy_shape_count(x.type.shape);
    y.count = count_of(n);
    const eddy_kernel k = { .op = n->op, .attrs = n->attrs, .in = in, .out = out,
                            .n_in = n->n_inputs < 2 ? n->n_inputs : 2, .n_out = 1 };
    return x.count > 0 && n->op->folds(&k, b) && b->count > 0;
}

static int spreads_of(const search *s, const flow_node *n)
{
    int spreads = 0;
    for (int i = 0; i < n->n_inputs; i++)
        spreads += eddy_shape_count(eddy_flow_type(s->flow, n->inputs[i]).shape) != count_of(n);
    return spreads;
}

/* Whether the run may go on with this node; it is then part of it. */
static bool joins(const search *s, const flow_node *n, loop *r)
{
    eddy_blocks b = { 0 };
    const bool  update = is_update(s, n), fold = !update && is_fold(s, n, &b);
    if (!update && !fold && !is_loop(n)) return false;
    const int64_t count = fold ? eddy_shape_count(eddy_flow_type(s->flow, n->inputs[0]).shape)
                               : count_of(n);
    if (r->count == 0) r->count = count;
    if (count != r->count || (fold && r->block > 0 && b.block != r->block)) return false;
    if (fold) r->block = b.block;
    else r->spreads += spreads_of(s, n);
    r->updated = r->updated || update;
    r->fallible = r->fallible || (!fold && eddy_dtype_is_integer(n->outputs[0].dtype));
    return r->spreads <= MOST_SPREADS && !(r->updated && r->fallible);
}

/* No instruction is made of it, so that it ends no run. */
static bool is_nothing(const eddy_flow *f, const flow_node *n)
{
    if (n->values || n->feed >= 0 || n->variable >= 0 || !eddy_kernel_of(n->op))
        return !n->alias || n->n_inputs == 0 || f->nodes[n->inputs[0].node]->variable < 0 ||
               n->inputs[0].output == BEFORE_RUN;
    return n->alias || n->parts;
}

/* An operand is the result of a fold in the run, which is not there before its end. */
static bool reads_fold(const search *s, const flow_node *n, int32_t number)
{
    for (int i = 0; i < n->n_inputs; i++) {
        const flow_node *x = origin_of(s->flow, n->inputs[i]);
        if (x->op->folds && s->run_of[x->id] == number) return true;
    }
    return false;
}

static void find_runs(search *s)
{
    bool open = false;
    for (int32_t id = 1; id <= s->flow->size; id++) {
        const flow_node *n = s->flow->nodes[id];
        if (is_nothing(s->flow, n)) continue;
        loop next = open ? s->runs[s->n_runs] : (loop){ 0 };
        if (open && (reads_fold(s, n, s->n_runs) || !joins(s, n, &next))) {
            open = false;
            next = (loop){ 0 };
        }
        if (!open && !joins(s, n, &next)) continue;
        if (!open) {
            s->n_runs++;
            next.first = id;
        }
        open = true;
        next.last = id;
        s->runs[s->n_runs] = next;
        s->run_of[id] = s->n_runs;
    }
}

/* ------------------------------------------------------------------ operands -- */

/* Is done on an element in less time than the element takes from memory. */
static bool is_cheap(const flow_node *n)
{
    static const eddy_op_def *const cheap[] = {
        &eddy_op_add, &eddy_op_sub, &eddy_op_mul, &eddy_op_neg, &eddy_op_abs, &eddy_op_square,
        &eddy_op_squared_difference, &eddy_op_maximum, &eddy_op_minimum, &eddy_op_relu,
        &eddy_op_relu_grad, &eddy_op_bias_add, &eddy_op_where, &eddy_op_cast, &eddy_op_equal,
        &eddy_op_not_equal, &eddy_op_less, &eddy_op_less_equal, &eddy_op_greater,
        &eddy_op_greater_equal, &eddy_op_logical_and, &eddy_op_logical_or, &eddy_op_logical_xor,
        &eddy_op_logical_not
    };
    if (n->values) return false;        /* folded: it has no attributes any more */
    if (n->op == &eddy_op_pair) return ((const eddy_pair_attrs *)n->attrs)->second < EDDY_PAIR_DIV;
    for (size_t i = 0; i < sizeof cheap / sizeof *cheap; i++)
        if (n->op == cheap[i]) return true;
    return false;
}

/* May be made again: it has no effect and waits for nothing. */
static bool is_plain(const search *s, const flow_node *n)
{
    if (!is_cheap(n) || !is_loop(n) || !eddy_flow_is_function(n) || n->n_controls > 0 || n->effect)
        return false;
    for (int i = 0; i < n->n_inputs; i++)
        if (s->flow->nodes[n->inputs[i].node]->variable >= 0 && n->inputs[i].output == STORAGE)
            return false;
    return true;
}

static copy *copy_in(const search *s, int32_t node, int32_t run)
{
    int32_t at = s->copies_of[node];
    while (at > 0 && s->copies[at].run != run) at = s->copies[at].next;
    return at > 0 ? &s->copies[at] : NULL;
}

/* So many that to look for one begins to take time. */
static bool has_many_copies(const search *s, int32_t node)
{
    int n = 0;
    for (int32_t at = s->copies_of[node]; at > 0; at = s->copies[at].next) n++;
    return n >= MOST_COPIES;
}

static bool reads(const flow_node *n, eddy_tensor x)
{
    for (int i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].node == x.node && n->inputs[i].output == x.output) return true;
    return false;
}

/* Whether nodes in the run read x anyway; *later: whether some behind it do.  Of many
 * readers only the last are looked at. */
static bool is_read_in(const search *s, eddy_tensor x, int32_t number, bool *later)
{
    const int32_t start = s->reader_start[x.node];
    int32_t       at = s->reader_start[x.node + 1] - 1;
    *later = s->fetched[x.node];
    for (int i = 0; i < LOOKED_AT && at >= start; i++, at--) {
        const flow_node *n = s->flow->nodes[s->reader[at]];
        if (s->run_of[n->id] == number && reads(n, x)) return true;
        if (n->id > s->runs[number].last && n->op != &eddy_op_type_only) *later = true;
    }
    return false;
}

/* Something puts it together with others: it may lie in memory that they share. */
static bool is_joined(const search *s, int32_t node)
{
    const int32_t start = s->reader_start[node], end = s->reader_start[node + 1];
    for (int32_t at = start; at < end; at++)
        if (at - start == LOOKED_AT || (s->flow->nodes[s->reader[at]]->op->flags & EDDY_OP_JOINS))
            return true;
    return false;
}

/* What it takes to make a node again in a run, in front of its node `before`. */
typedef struct making {
    int32_t run, before;
    int32_t chain[LONGEST_CHAIN];   /* nodes to be copied, operands first */
    int     n, spreads;
    size_t  bytes, read;            /* of the result; of what the run had not to read before */
} making;

/* How the run gets the elements of an operand that it does not make itself. */
typedef enum reach { AWAY, COSTS, FREE } reach;

/* Not at the cost of a longer life for much memory, nor of a copy of a variable. */
static reach reach_of(const search *s, eddy_tensor x, const making *m)
{
    const flow_node *o = origin_of(s->flow, x);
    bool             later;
    if (o->op == &eddy_op_type_only) return FREE;
    if (s->remade[x.node]) return AWAY;
    if (o->variable >= 0 && s->first_update[o->variable] > 0 &&
        m->before > s->first_update[o->variable])
        return AWAY;
    if (is_read_in(s, x, m->run, &later)) return FREE;
    if (o->values || o->feed >= 0 || o->variable >= 0) return COSTS;
    if (later && s->flow->nodes[x.node] == o) return COSTS;
    return MUCH_SMALLER * bytes_of(o->outputs[0]) <= m->bytes && o->n_outputs == 1 &&
                   !is_joined(s, o->id)
               ? COSTS
               : AWAY;
}

static bool can_make(const search *s, const flow_node *n, making *m, int depth);

/* Whether the run gets or makes x, with the least that it must read for that. */
static bool can_have(const search *s, eddy_tensor x, making *m, int depth)
{
    const size_t bytes = bytes_of(eddy_flow_type(s->flow, x));
    const reach  direct = reach_of(s, x, m);
    making       made = *m;
    if (direct == FREE || copy_in(s, x.node, m->run)) return true;
    if (can_make(s, s->flow->nodes[x.node], &made, depth + 1) &&
        (direct == AWAY || made.read < m->read + bytes)) {
        *m = made;
        return true;
    }
    m->read += bytes;
    return direct == COSTS;
}

/* Whether the run can make n again. */
static bool can_make(const search *s, const flow_node *n, making *m, int depth)
{
    for (int i = 0; i < m->n; i++)
        if (m->chain[i] == n->id) return true;
    if (depth == LONGEST_CHAIN || !is_plain(s, n) || count_of(n) != s->runs[m->run].count ||
        has_many_copies(s, n->id))
        return false;
    for (int i = 0; i < n->n_inputs; i++)
        if (!can_have(s, n->inputs[i], m, depth)) return false;
    if (m->n == LONGEST_CHAIN) return false;
    m->chain[m->n++] = n->id;
    m->spreads += spreads_of(s, n);
    return true;
}

/* Whether n can be made again in a loop that stays one and reads no more than it did. */
static bool fits(const search *s, const flow_node *n, making *m)
{
    const loop *r = &s->runs[m->run];
    if (r->count != count_of(n) || !can_make(s, n, m, 0) ||
        m->read > m->bytes + m->bytes / MUCH_SMALLER ||
        r->spreads + m->spreads > MOST_SPREADS)
        return false;
    for (int i = 0; i < m->n; i++)
        if (r->updated && eddy_dtype_is_integer(s->flow->nodes[m->chain[i]]->outputs[0].dtype))
            return false;
    return true;
}

/* ------------------------------------------------------------------ deciding -- */

/* The runs behind n's own that read it, each with the first node there that does; none if
 * something else needs its memory, or too many do.  *stays: its own run reads it as well. */
static int later_runs(const search *s, const flow_node *n, making *m, bool *stays)
{
    const int32_t own = s->run_of[n->id];
    int           k = 0;
    *stays = false;
    if (own == 0 || s->fetched[n->id]) return 0;
    for (int32_t at = s->reader_start[n->id]; at < s->reader_start[n->id + 1]; at++) {
        const int32_t reader = s->reader[at], number = s->run_of[reader];
        if (number == 0) return 0;
        *stays = *stays || number == own;
        if (number == own || (k > 0 && m[k - 1].run == number)) continue;
        if (k == MOST_RUNS) return 0;
        m[k++] = (making){ .run = number, .before = reader, .bytes = bytes_of(n->outputs[0]) };
    }
    return k;
}

static bool add_copy(search *s, int32_t of, const making *m)
{
    if (s->n_copies + 1 >= s->capacity) {
        const int32_t bigger = s->capacity ? 2 * s->capacity : 32;
        copy         *copies = eddy_flow_alloc(s->c, (size_t)bigger, sizeof *copies);
        if (!copies) return false;
        for (int32_t i = 1; i <= s->n_copies; i++) copies[i] = s->copies[i];
        s->copies = copies;
        s->capacity = bigger;
    }
    s->copies[++s->n_copies] = (copy){ .of = of, .run = m->run, .next = s->copies_of[of],
                                       .before = m->before };
    s->copies_of[of] = s->n_copies;
    return true;
}

/* Of the widest operand or result: what a loop over n's elements takes depends on it. */
static size_t width_of(const search *s, const flow_node *n)
{
    size_t widest = eddy_dtype_size(n->outputs[0].dtype);
    for (int i = 0; i < n->n_inputs; i++) {
        const size_t size = eddy_dtype_size(eddy_flow_type(s->flow, n->inputs[i]).dtype);
        if (size > widest) widest = size;
    }
    return widest;
}

/* Whether the memory that n need not go through takes longer than its copies do, of which
 * one is for nothing if n itself is dropped: two bytes made cost as much as one moved. */
static bool is_worth(const search *s, const flow_node *n, const making *m, int runs, bool stays)
{
    const size_t count = (size_t)count_of(n), each = m->bytes / count;
    size_t       saved = each, made = 0;
    for (int k = 0; k < runs; k++) {
        const size_t read = m[k].read / count;
        saved += each - (read < each ? read : each);
        for (int i = 0; i < m[k].n; i++) made += width_of(s, s->flow->nodes[m[k].chain[i]]);
    }
    if (!stays) made -= width_of(s, n);
    return made == 0 || (m->bytes >= s->least && 2 * saved >= made);
}

/* Makes n again in every later run that reads it, or in none. */
static bool decide(search *s, const flow_node *n)
{
    making m[MOST_RUNS];
    bool   stays;
    if (!is_plain(s, n)) return true;
    const int runs = later_runs(s, n, m, &stays);
    if (stays && bytes_of(n->outputs[0]) < s->least) return true;
    for (int k = 0; k < runs; k++)
        if (!fits(s, n, &m[k])) return true;
    if (runs == 0 || !is_worth(s, n, m, runs, stays)) return true;
    for (int k = 0; k < runs; k++) {
        s->runs[m[k].run].spreads += m[k].spreads;
        for (int i = 0; i < m[k].n; i++)
            if (!add_copy(s, m[k].chain[i], &m[k])) return false;
    }
    s->remade[n->id] = 1;
    return true;
}

/* ----------------------------------------------------------------- rewriting -- */

/* Lists of copies, by the node that they are put in front of: what another copy reads
 * comes before it. */
static int32_t *place_copies(search *s)
{
    const eddy_flow *f = s->flow;
    int32_t         *first = eddy_flow_alloc(s->c, (size_t)f->size + 1, sizeof *first);
    for (int32_t id = f->size; first && id >= 1; id--)
        for (int32_t at = s->copies_of[id]; at > 0; at = s->copies[at].next) {
            copy            *c = &s->copies[at];
            const flow_node *n = f->nodes[id];
            for (int i = 0; i < n->n_inputs; i++) {
                copy *x = copy_in(s, n->inputs[i].node, c->run);
                if (x && x->before > c->before) x->before = c->before;
            }
            c->behind = first[c->before];
            first[c->before] = at;
        }
    return first;
}

/* Appends n as it is in a run, or in none.  What stands in front of a run's first node would
 * else go on with the run before. */
static flow_node *append_again(search *s, eddy_flow *to, const flow_node *n, int32_t number,
                               const int32_t *now)
{
    flow_node *again = eddy_flow_alloc(s->c, 1, sizeof *again);
    if (!again) return NULL;
    *again = *n;
    again->inputs = eddy_flow_alloc(s->c, (size_t)n->n_inputs, sizeof *again->inputs);
    again->controls = eddy_flow_alloc(s->c, (size_t)n->n_controls, sizeof *again->controls);
    if (!again->inputs || !again->controls) return NULL;
    for (int i = 0; i < n->n_controls; i++) again->controls[i] = now[n->controls[i]];
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor x = n->inputs[i];
        const copy       *c = number > 0 ? copy_in(s, x.node, number) : NULL;
        again->inputs[i] = eddy_flow_tensor(c ? c->id : now[x.node], x.output);
    }
    return eddy_flow_append(to, again);
}

/* The flow with the copies in it. */
static bool rebuild(search *s)
{
    const eddy_flow *f = s->flow;
    eddy_flow       *to = eddy_flow_new(s->c, f->size + s->n_copies);
    int32_t         *now = eddy_flow_alloc(s->c, (size_t)f->size + 1, sizeof *now);
    const int32_t   *first = place_copies(s);
    if (!to || !now || !first) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        for (int32_t at = first[id]; at > 0; at = s->copies[at].behind) {
            copy            *c = &s->copies[at];
            flow_node       *n = append_again(s, to, f->nodes[c->of], c->run, now);
            if (!n) return false;
            c->id = n->id;
            n->apart = at == first[id] && s->runs[c->run].first == id;
        }
        const flow_node *n = append_again(s, to, f->nodes[id], s->run_of[id], now);
        if (!n) return false;
        now[id] = n->id;
    }
    for (int i = 0; i < s->c->plan->n_fetches; i++)
        to->fetches[i] = eddy_flow_tensor(now[f->fetches[i].node], f->fetches[i].output);
    s->c->flow = to;
    return true;
}

/* ----------------------------------------------------------------- the whole -- */

static bool find_updates(search *s)
{
    const size_t n = (size_t)s->c->plan->n_variables;
    s->first_update = eddy_flow_alloc(s->c, n, sizeof(int32_t));
    s->last_update = eddy_flow_alloc(s->c, n, sizeof(int32_t));
    if (!s->first_update || !s->last_update) return false;
    for (int32_t id = 1; id <= s->flow->size; id++) {
        const flow_node *node = s->flow->nodes[id];
        if (!(node->op->flags & EDDY_OP_UPDATES)) continue;
        const int32_t v = s->flow->nodes[node->inputs[0].node]->variable;
        if (s->first_update[v] == 0) s->first_update[v] = id;
        s->last_update[v] = id;
    }
    return true;
}

static bool find_readers(search *s)
{
    const eddy_flow *f = s->flow;
    const size_t     size = (size_t)f->size;
    int32_t         *start = s->reader_start = eddy_flow_alloc(s->c, size + 2, sizeof *start);
    int32_t         *fill = eddy_flow_alloc(s->c, size + 1, sizeof *fill);
    s->fetched = eddy_flow_alloc(s->c, size + 1, 1);
    if (!start || !fill || !s->fetched) return false;
    for (int i = 0; i < s->c->plan->n_fetches; i++) s->fetched[f->fetches[i].node] = 1;
    for (int32_t id = 1; id <= f->size; id++)
        for (int i = 0; i < f->nodes[id]->n_inputs; i++)
            start[f->nodes[id]->inputs[i].node + 1]++;
    for (int32_t id = 0; id <= f->size; id++) start[id + 1] += start[id];
    s->reader = eddy_flow_alloc(s->c, (size_t)start[f->size + 1], sizeof *s->reader);
    if (!s->reader) return false;
    for (int32_t id = 1; id <= f->size; id++)
        for (int i = 0; i < f->nodes[id]->n_inputs; i++) {
            const int32_t x = f->nodes[id]->inputs[i].node;
            s->reader[start[x] + fill[x]++] = id;
        }
    return true;
}

bool eddy_recompute(compile *c, int *changes)
{
    const eddy_flow *f = c->flow;
    const size_t     n = (size_t)f->size + 1;
    search           s = { .c = c, .flow = c->flow, .least = c->session->recompute_least };
    if (s.least == 0) s.least = LEAST_BYTES;
    s.run_of = eddy_flow_alloc(c, n, sizeof *s.run_of);
    s.runs = eddy_flow_alloc(c, n, sizeof *s.runs);
    s.remade = eddy_flow_alloc(c, n, 1);
    s.copies_of = eddy_flow_alloc(c, n, sizeof *s.copies_of);
    if (!s.run_of || !s.runs || !s.remade || !s.copies_of || !find_updates(&s) ||
        !find_readers(&s))
        return false;
    find_runs(&s);
    for (int32_t id = 1; id <= f->size; id++)
        if (!decide(&s, f->nodes[id])) return false;
    if (s.n_copies == 0) return true;
    for (int32_t id = 1; id <= f->size; id++) *changes += s.remade[id];
    int dropped = 0;
    return rebuild(&s) && eddy_flow_sweep(c, NULL, false, &dropped);
}
