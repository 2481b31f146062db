/* recompute.c -- rematerialization: cheap values are recomputed where a later loop reads them.
 *
 * A value that only one loop over tiles computes and reads needs no memory (fuse.c). A value
 * that a later loop reads as well, as most gradients read values of the forward pass, is
 * written, kept, and read again. If that loop has the operands available, a copy of the node
 * there costs less: an addition, for example, takes less time than loading its result from
 * memory. The same operation on the same operands gives the same bits. */
#include "session/compile/loop_rules.h"
#include "session/compile/ir.h"
#include "ops/weak_ops.h"
#include "ops/math/fused_elementwise.h"

/* MIN_BYTES: smaller values stay in a cache, where reading them again is faster. The other
 * constants bound the search and the size of a loop. */
enum { MIN_BYTES = 1 << 21, LONGEST_CHAIN = 4, MAX_RUNS = 4, MAX_COPIES = 16, MAX_SEARCH = 64,
       MUCH_SMALLER = 16 };

/* Nodes in a row of which fuse.c makes one loop. */
typedef struct node_run {
    tile_loop loop;
    int32_t   first, last;          /* nodes */
} node_run;

/* A copy of a node, for the readers in one loop. */
typedef struct copy {
    int32_t of, run, next;          /* the node; where; another copy of it, or 0 */
    int32_t before;                 /* the node that it is put in front of */
    int32_t behind;                 /* another copy before the same node, or 0 */
    int32_t id;                     /* in the new IR */
} copy;

typedef struct search {
    compile  *c;
    ir_graph *ir;
    int32_t  *first_update, *last_update;       /* by variable: node ids; 0: none */
    int32_t  *reader_start, *reader;            /* by node: its readers, in order */
    int32_t  *run_of;                           /* by node: its loop; 0: none */
    node_run *runs;                             /* from 1 on */
    int32_t   n_runs;
    uint8_t  *fetched;                          /* by node */
    uint8_t  *recomputed;                       /* by node: its own memory is no longer needed */
    int32_t  *copies_of;                        /* by node: the first of its copies; 0: none */
    copy     *copies;                           /* from 1 on */
    int32_t   n_copies, capacity;
    size_t    least;                            /* bytes of a value worth a copy */
} search;

static int64_t count_of(const ir_node *n) { return eddy_shape_count(n->outputs[0].shape); }

/* The node in whose memory t lies. */
static const ir_node *origin_of(const ir_graph *f, eddy_tensor t)
{
    const ir_node *n = f->nodes[t.node];
    while (n->alias || eddy__ir_is_view(n)) n = f->nodes[n->inputs[0].node];
    return n;
}

/* ---------------------------------------------------------------------- runs -- */

/* The result of an update is the memory of its variable. */
static bool is_in_variable(const search *s, const ir_node *n)
{
    if (!(n->op->flags & EDDY_OP_UPDATES)) return false;
    const int32_t v = s->ir->nodes[n->inputs[0].node]->variable;
    return s->last_update[v] == n->id &&
           eddy_shape_is_known(s->c->plan->variables[v].node->outputs[0].shape);
}

/* True if the loop can include the node's future kernel; then adds it to the loop. */
static bool loop_takes(const search *s, tile_loop *l, const ir_node *n)
{
    eddy_buffer b[LOOP_OPERANDS + 1], *at[LOOP_OPERANDS + 1];
    if (n->values || n->n_outputs != 1 || n->n_inputs > LOOP_OPERANDS) return false;
    for (int i = 0; i <= n->n_inputs; i++) {
        b[i] = eddy__buffer_of(i > 0 ? eddy__ir_type(s->ir, n->inputs[i - 1]) : n->outputs[0],
                               NULL);
        at[i] = &b[i];
    }
    const eddy_kernel k = { .op = n->op, .attrs = n->attrs, .in = at + 1, .out = at,
                            .n_in = n->n_inputs, .n_out = 1 };
    return eddy__loop_takes(l, &k, is_in_variable(s, n));
}

/* True if the node becomes no instruction and therefore ends no loop. */
static bool emits_nothing(const ir_graph *f, const ir_node *n)
{
    if (n->values || n->feed >= 0 || n->variable >= 0 || !eddy__kernel_of(n->op))
        return !n->alias || n->n_inputs == 0 || f->nodes[n->inputs[0].node]->variable < 0 ||
               n->inputs[0].output == BEFORE_RUN;
    return n->alias || n->parts;
}

/* True if an operand is the result of a reduction in the loop, which is not available before
 * the loop ends. */
static bool reads_reduction(const search *s, const ir_node *n, int32_t number)
{
    for (int i = 0; i < n->n_inputs; i++) {
        const ir_node *x = origin_of(s->ir, n->inputs[i]);
        if (eddy__may_fold(x->op) && s->run_of[x->id] == number) return true;
    }
    return false;
}

static void find_runs(search *s)
{
    bool open = false;
    for (int32_t id = 1; id <= s->ir->size; id++) {
        const ir_node *n = s->ir->nodes[id];
        if (emits_nothing(s->ir, n)) continue;
        node_run next = open ? s->runs[s->n_runs] : (node_run){ 0 };
        if (open && (reads_reduction(s, n, s->n_runs) || !loop_takes(s, &next.loop, n))) {
            open = false;
            next = (node_run){ 0 };
        }
        if (!open && !loop_takes(s, &next.loop, n)) continue;
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

static bool is_cheap(const ir_node *n)
{
    if (n->values) return false;        /* folded: it has no attributes any more */
    if (n->op == &eddy_op_chain) return !eddy__chain_is_slow(n->attrs);
    return n->op->flags & EDDY_OP_CHEAP;
}

/* True if the node can be copied: it has no effect and waits for no other node. */
static bool is_repeatable_node(const search *s, const ir_node *n)
{
    tile_loop l = { 0 };
    if (!is_cheap(n) || !loop_takes(s, &l, n) || !eddy__ir_is_pure(n) || n->n_controls > 0 ||
        n->effect)
        return false;
    for (int i = 0; i < n->n_inputs; i++)
        if (s->ir->nodes[n->inputs[i].node]->variable >= 0 && n->inputs[i].output == STORAGE)
            return false;
    return true;
}

static copy *copy_in(const search *s, int32_t node, int32_t run)
{
    int32_t at = s->copies_of[node];
    while (at > 0 && s->copies[at].run != run) at = s->copies[at].next;
    return at > 0 ? &s->copies[at] : NULL;
}

/* True if the node has so many copies that searching them would take long. */
static bool has_many_copies(const search *s, int32_t node)
{
    int n = 0;
    for (int32_t at = s->copies_of[node]; at > 0; at = s->copies[at].next) n++;
    return n >= MAX_COPIES;
}

static bool reads_tensor(const ir_node *n, eddy_tensor x)
{
    for (int i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].node == x.node && n->inputs[i].output == x.output) return true;
    return false;
}

/* True if nodes of the loop read x anyway; *later: some after `before` do. Of many readers only
 * the last are examined. */
static bool is_read_in(const search *s, eddy_tensor x, int32_t number, bool *later)
{
    const int32_t start = s->reader_start[x.node];
    int32_t       at = s->reader_start[x.node + 1] - 1;
    *later = s->fetched[x.node];
    for (int i = 0; i < MAX_SEARCH && at >= start; i++, at--) {
        const ir_node *n = s->ir->nodes[s->reader[at]];
        if (s->run_of[n->id] == number && reads_tensor(n, x)) return true;
        if (n->id > s->runs[number].last && n->op != &eddy_op_type_only) *later = true;
    }
    return false;
}

/* True if a join reads x, so that it may lie in memory that it shares with others. */
static bool is_joined(const search *s, int32_t node)
{
    const int32_t start = s->reader_start[node], end = s->reader_start[node + 1];
    for (int32_t at = start; at < end; at++)
        if (at - start == MAX_SEARCH || (s->ir->nodes[s->reader[at]]->op->flags & EDDY_OP_JOINS))
            return true;
    return false;
}

/* The cost of copying a node to a loop, before its node `before`. */
typedef struct candidate {
    int32_t run, before;
    int32_t chain[LONGEST_CHAIN];   /* nodes to be copied, operands first */
    int     n;
    tile_loop loop;                 /* of the loop with the copies (fits_in_run) */
    uint64_t bytes, read;     /* of the result; of the operands that the loop did not read before */
} candidate;

/* How the run gets the elements of an operand that it does not make itself. */
typedef enum availability { AWAY, COSTS, FREE } availability;

/* Not at the cost of a longer life for much memory, nor of a copy of a variable. */
static availability availability_of(const search *s, eddy_tensor x, const candidate *m)
{
    const ir_node *o = origin_of(s->ir, x);
    bool           later;
    if (o->op == &eddy_op_type_only) return FREE;
    if (s->recomputed[x.node]) return AWAY;
    if (o->variable >= 0 && s->first_update[o->variable] > 0 &&
        m->before > s->first_update[o->variable])
        return AWAY;
    if (is_read_in(s, x, m->run, &later)) return FREE;
    if (o->values || o->feed >= 0 || o->variable >= 0) return COSTS;
    if (later && s->ir->nodes[x.node] == o) return COSTS;
    return MUCH_SMALLER * eddy__type_bytes(o->outputs[0]) <= m->bytes && o->n_outputs == 1 &&
                   !is_joined(s, o->id)
               ? COSTS
               : AWAY;
}

static bool can_recompute(const search *s, const ir_node *n, candidate *m, int depth);

/* True if x is available in the loop or can be recomputed there; chooses the way with the
 * fewest reads. */
static bool can_obtain(const search *s, eddy_tensor x, candidate *m, int depth)
{
    const uint64_t     bytes = eddy__type_bytes(eddy__ir_type(s->ir, x));
    const availability direct = availability_of(s, x, m);
    candidate          made = *m;
    if (direct == FREE || copy_in(s, x.node, m->run)) return true;
    if (can_recompute(s, s->ir->nodes[x.node], &made, depth + 1) &&
        (direct == AWAY || made.read < m->read + bytes)) {
        *m = made;
        return true;
    }
    m->read += bytes;
    return direct == COSTS;
}

/* True if the loop can recompute n. */
static bool can_recompute(const search *s, const ir_node *n, candidate *m, int depth)
{
    for (int i = 0; i < m->n; i++)
        if (m->chain[i] == n->id) return true;
    if (depth == LONGEST_CHAIN || !is_repeatable_node(s, n) ||
        count_of(n) != s->runs[m->run].loop.count || has_many_copies(s, n->id))
        return false;
    for (int i = 0; i < n->n_inputs; i++)
        if (!can_obtain(s, n->inputs[i], m, depth)) return false;
    if (m->n == LONGEST_CHAIN) return false;
    m->chain[m->n++] = n->id;
    return true;
}

/* True if n can be recomputed in a loop without splitting the loop or increasing its reads. */
static bool fits_in_run(const search *s, const ir_node *n, candidate *m)
{
    m->loop = s->runs[m->run].loop;
    if (m->loop.count != count_of(n) || !can_recompute(s, n, m, 0) ||
        m->read > m->bytes + m->bytes / MUCH_SMALLER)
        return false;
    for (int i = 0; i < m->n; i++)
        if (!loop_takes(s, &m->loop, s->ir->nodes[m->chain[i]])) return false;
    return true;
}

/* ------------------------------------------------------------------ deciding -- */

/* The later loops that read n, each with its first reader of n; none if another node needs the
 * memory of n or there are too many. *stays: its own loop also reads it. */
static int later_runs(const search *s, const ir_node *n, candidate *m, bool *stays)
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
        if (k == MAX_RUNS) return 0;
        m[k++] = (candidate){ .run = number, .before = reader,
                              .bytes = eddy__type_bytes(n->outputs[0]) };
    }
    return k;
}

static bool add_copy(search *s, int32_t of, const candidate *m)
{
    if (s->n_copies + 1 >= s->capacity) {
        const int32_t bigger = s->capacity ? 2 * s->capacity : 32;
        copy         *copies = eddy__stage_alloc(s->c, (size_t)bigger, sizeof *copies);
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

/* Bytes of the widest operand or result, which decides the time of a loop over n's elements. */
static size_t width_of(const search *s, const ir_node *n)
{
    size_t widest = eddy_dtype_size(n->outputs[0].dtype);
    for (int i = 0; i < n->n_inputs; i++) {
        const size_t size = eddy_dtype_size(eddy__ir_type(s->ir, n->inputs[i]).dtype);
        if (size > widest) widest = size;
    }
    return widest;
}

/* True if the memory traffic that is saved takes longer than the copies. One copy costs nothing
 * if n itself is dropped. Computing two bytes costs as much as moving one. */
static bool is_profitable(const search *s, const ir_node *n, const candidate *m, int runs,
                          bool stays)
{
    const uint64_t count = (uint64_t)count_of(n), each = m->bytes / count;
    uint64_t       saved = each, made = 0;
    for (int k = 0; k < runs; k++) {
        const uint64_t read = m[k].read / count;
        saved += each - (read < each ? read : each);
        for (int i = 0; i < m[k].n; i++) made += width_of(s, s->ir->nodes[m[k].chain[i]]);
    }
    if (!stays) made -= width_of(s, n);
    return made == 0 || (m->bytes >= s->least && 2 * saved >= made);
}

/* Makes n again in every later run that reads it, or in none. */
static bool decide(search *s, const ir_node *n)
{
    candidate m[MAX_RUNS];
    bool      stays;
    if (!is_repeatable_node(s, n)) return true;
    const int runs = later_runs(s, n, m, &stays);
    if (stays && eddy__type_bytes(n->outputs[0]) < s->least) return true;
    for (int k = 0; k < runs; k++)
        if (!fits_in_run(s, n, &m[k])) return true;
    if (runs == 0 || !is_profitable(s, n, m, runs, stays)) return true;
    for (int k = 0; k < runs; k++) {
        s->runs[m[k].run].loop = m[k].loop;
        for (int i = 0; i < m[k].n; i++)
            if (!add_copy(s, m[k].chain[i], &m[k])) return false;
    }
    s->recomputed[n->id] = 1;
    return true;
}

/* ----------------------------------------------------------------- rewriting -- */

/* Lists the copies by the node before which they are inserted. A copy that another copy reads
 * comes first. */
static int32_t *place_copies(search *s)
{
    const ir_graph *f = s->ir;
    int32_t        *first = eddy__stage_alloc(s->c, (size_t)f->size + 1, sizeof *first);
    for (int32_t id = f->size; first && id >= 1; id--)
        for (int32_t at = s->copies_of[id]; at > 0; at = s->copies[at].next) {
            copy          *c = &s->copies[at];
            const ir_node *n = f->nodes[id];
            for (int i = 0; i < n->n_inputs; i++) {
                copy *x = copy_in(s, n->inputs[i].node, c->run);
                if (x && x->before > c->before) x->before = c->before;
            }
            c->behind = first[c->before];
            first[c->before] = at;
        }
    return first;
}

/* Appends a copy of n in a loop, or in none. A node before the first node of a loop must not
 * extend the previous loop. */
static ir_node *append_copy(search *s, ir_graph *to, const ir_node *n, int32_t number,
                            const int32_t *now)
{
    ir_node *again = eddy__ir_alloc(s->c, 1, sizeof *again);
    if (!again) return NULL;
    *again = *n;
    again->inputs = eddy__ir_alloc(s->c, (size_t)n->n_inputs, sizeof *again->inputs);
    again->controls = eddy__ir_alloc(s->c, (size_t)n->n_controls, sizeof *again->controls);
    if (!again->inputs || !again->controls) return NULL;
    for (int i = 0; i < n->n_controls; i++) again->controls[i] = now[n->controls[i]];
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_tensor x = n->inputs[i];
        const copy       *c = number > 0 ? copy_in(s, x.node, number) : NULL;
        again->inputs[i] = eddy__ir_tensor(c ? c->id : now[x.node], x.output);
    }
    return eddy__ir_append(to, again);
}

/* The IR with the copies in it. */
static bool rebuild(search *s)
{
    const ir_graph *f = s->ir;
    ir_graph       *to = eddy__ir_new(s->c, f->size + s->n_copies);
    int32_t        *now = eddy__stage_alloc(s->c, (size_t)f->size + 1, sizeof *now);
    const int32_t  *first = place_copies(s);
    if (!to || !now || !first) return false;
    for (int32_t id = 1; id <= f->size; id++) {
        for (int32_t at = first[id]; at > 0; at = s->copies[at].behind) {
            copy    *c = &s->copies[at];
            ir_node *n = append_copy(s, to, f->nodes[c->of], c->run, now);
            if (!n) return false;
            c->id = n->id;
            n->starts_loop = at == first[id] && s->runs[c->run].first == id;
        }
        const ir_node *n = append_copy(s, to, f->nodes[id], s->run_of[id], now);
        if (!n) return false;
        now[id] = n->id;
    }
    for (int i = 0; i < s->c->plan->n_fetches; i++)
        to->fetches[i] = eddy__ir_tensor(now[f->fetches[i].node], f->fetches[i].output);
    s->c->ir = to;
    return true;
}

/* ------------------------------------------------------------------ the pass -- */

static bool find_updates(search *s)
{
    const size_t n = (size_t)s->c->plan->n_variables;
    s->first_update = eddy__stage_alloc(s->c, n, sizeof(int32_t));
    s->last_update = eddy__stage_alloc(s->c, n, sizeof(int32_t));
    if (!s->first_update || !s->last_update) return false;
    for (int32_t id = 1; id <= s->ir->size; id++) {
        const ir_node *node = s->ir->nodes[id];
        if (!(node->op->flags & EDDY_OP_UPDATES)) continue;
        const int32_t v = s->ir->nodes[node->inputs[0].node]->variable;
        if (s->first_update[v] == 0) s->first_update[v] = id;
        s->last_update[v] = id;
    }
    return true;
}

static bool find_readers(search *s)
{
    const ir_graph *f = s->ir;
    const size_t    size = (size_t)f->size;
    int32_t        *start = s->reader_start = eddy__stage_alloc(s->c, size + 2, sizeof *start);
    int32_t        *fill = eddy__stage_alloc(s->c, size + 1, sizeof *fill);
    s->fetched = eddy__stage_alloc(s->c, size + 1, 1);
    if (!start || !fill || !s->fetched) return false;
    for (int i = 0; i < s->c->plan->n_fetches; i++) s->fetched[f->fetches[i].node] = 1;
    for (int32_t id = 1; id <= f->size; id++)
        for (int i = 0; i < f->nodes[id]->n_inputs; i++)
            start[f->nodes[id]->inputs[i].node + 1]++;
    for (int32_t id = 0; id <= f->size; id++) start[id + 1] += start[id];
    s->reader = eddy__stage_alloc(s->c, (size_t)start[f->size + 1], sizeof *s->reader);
    if (!s->reader) return false;
    for (int32_t id = 1; id <= f->size; id++)
        for (int i = 0; i < f->nodes[id]->n_inputs; i++) {
            const int32_t x = f->nodes[id]->inputs[i].node;
            s->reader[start[x] + fill[x]++] = id;
        }
    return true;
}

bool eddy__recompute(compile *c, int *changes)
{
    const ir_graph *f = c->ir;
    const size_t    n = (size_t)f->size + 1;
    search          s = { .c = c, .ir = c->ir, .least = c->session->recompute_least };
    if (s.least == 0) s.least = MIN_BYTES;
    eddy__stage_begin(c);
    s.run_of = eddy__stage_alloc(c, n, sizeof *s.run_of);
    s.runs = eddy__stage_alloc(c, n, sizeof *s.runs);
    s.recomputed = eddy__stage_alloc(c, n, 1);
    s.copies_of = eddy__stage_alloc(c, n, sizeof *s.copies_of);
    if (!s.run_of || !s.runs || !s.recomputed || !s.copies_of || !find_updates(&s) ||
        !find_readers(&s))
        return false;
    find_runs(&s);
    for (int32_t id = 1; id <= f->size; id++)
        if (!decide(&s, f->nodes[id])) return false;
    if (s.n_copies == 0) return true;
    for (int32_t id = 1; id <= f->size; id++) *changes += s.recomputed[id];
    int dropped = 0;
    return rebuild(&s) && eddy__ir_transform(c, NULL, false, &dropped);
}
