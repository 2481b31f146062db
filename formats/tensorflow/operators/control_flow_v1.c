/* control_flow_v1.c -- the control flow of TensorFlow 1, rebuilt as loops and branches.
 *
 * A loop variable i is  Enter -> Merge -> Switch -> body -> NextIteration -> Merge, and leaves the
 * loop by Exit from the other output of Switch; all of its Switches have one LoopCond. A branch has
 * the nodes between the Switches of one predicate and a Merge. Both are built in scopes of the same
 * graph, in which these Merges or Switches already have values. */
#include "../carry.h"
#include "../reader.h"
#include "../../../ops/short_names.h"

#include <string.h>

static const tf_node *node_at(const tf_scope *s, int32_t at) { return &s->graph->nodes[at - 1]; }

static bool is_op(const tf_scope *s, int32_t at, const char *op)
{
    return at > 0 && strcmp(node_at(s, at)->op, op) == 0;
}

/* The node of data input i; 0 if there is none. */
static int32_t input_node(const tf_scope *s, int32_t at, size_t i)
{
    int            output;
    const tf_node *n = node_at(s, at);
    return i < n->n_inputs && n->inputs[i][0] != '^' ? eddy__tf_resolve(s, n->inputs[i], &output)
                                                     : 0;
}

/* The value of input 0 of a node; NULL with a reason. */
static tf_value *first_value(tf_build *b, tf_scope *s, int32_t at, const char *what)
{
    const tf_node *n = node_at(s, at);
    tf_value      *v = n->n_inputs ? eddy__tf_value_of(b->reader, s, n->inputs[0]) : NULL;
    if (!n->n_inputs) eddy__tf_invalid(b, "%s '%.200s' has no inputs", n->op, n->name);
    if (v && v->unknown) eddy__tf_missing(b, "%s cannot be built", what);
    return v && !v->unknown ? v : NULL;
}

static bool preset(tf_build *b, tf_scope *s, int32_t at, tf_value *v)
{
    tf_value **out = eddy__region_take(b->memory, 2, sizeof *out);
    if (!out) return eddy__reading_no_memory(&b->reader->base);
    out[0] = out[1] = v;
    s->slots[at - 1] = (tf_slot){ TF_DONE, out, 2 };
    return true;
}

/* A scope for a part of the graph of b. */
static tf_scope *part(tf_build *b)
{
    if (b->scope->depth >= TF_MAX_DEPTH) {
        eddy__tf_missing(b, "loops and branches are nested too deeply");
        return NULL;
    }
    tf_scope *s = eddy__tf_scope(b->reader, b->scope->graph, b->scope->place, b->scope->depth + 1);
    if (!s) return NULL;
    s->args = b->scope->args;
    s->outer = b->scope;
    return s;
}

/* -------------------------------------------------------------------- loops -- */

typedef struct frame {
    int32_t  cond;                      /* LoopCond */
    int32_t *merges, *switches, *enters, *nexts;    /* of n loop variables */
    int      n;
} frame;

/* A variable of the loop: Merge of Enter and NextIteration, in any order. */
static bool add_variable(tf_build *b, frame *f, int32_t at)
{
    const tf_scope *s = b->scope;
    const int32_t   merge = input_node(s, at, 0);
    if (!is_op(s, merge, "Merge")) return eddy__tf_invalid(b, "a Switch of the loop has no Merge");
    for (size_t i = 0; i < 2; i++) {
        const int32_t in = input_node(s, merge, i);
        if (is_op(s, in, "Enter")) f->enters[f->n] = in;
        if (is_op(s, in, "NextIteration")) f->nexts[f->n] = in;
    }
    if (!f->enters[f->n] || !f->nexts[f->n])
        return eddy__tf_invalid(b, "a Merge of the loop lacks Enter or NextIteration");
    f->merges[f->n] = merge;
    f->switches[f->n++] = at;
    return true;
}

static bool frame_of(tf_build *b, int32_t exit, frame *f)
{
    const tf_scope *s = b->scope;
    const int32_t   from = input_node(s, exit, 0);
    int32_t        *all = eddy__region_take(b->memory, 4 * EDDY_MAX_RESULTS, sizeof *all);
    *f = (frame){ .cond = is_op(s, from, "Switch") ? input_node(s, from, 1) : 0 };
    if (!all) return eddy__reading_no_memory(&b->reader->base);
    eddy__tf_effort(b->reader, 4 * s->graph->n_nodes);      /* its error ends all that follows */
    if (!is_op(s, f->cond, "LoopCond")) return eddy__tf_invalid(b, "it does not leave a loop");
    f->merges = all;
    f->switches = all + EDDY_MAX_RESULTS;
    f->enters = all + 2 * EDDY_MAX_RESULTS;
    f->nexts = all + 3 * EDDY_MAX_RESULTS;
    for (size_t i = 0; i < s->graph->n_nodes; i++) {
        const int32_t at = (int32_t)i + 1;
        if (!is_op(s, at, "Switch") || input_node(s, at, 1) != f->cond) continue;
        if (f->n == EDDY_MAX_RESULTS)
            return eddy__tf_missing(b, "the loop has more than %d variables", EDDY_MAX_RESULTS);
        if (!add_variable(b, f, at)) return false;
    }
    return true;
}

static const char *frame_name(const tf_node *enter)
{
    const tf_attr *a = eddy__tf_attr_of(enter, "frame_name");
    return a ? a->text : "";
}

/* Values that enter the loop are built before it. */
static bool build_constants(tf_build *b, const frame *f)
{
    tf_scope   *s = b->scope;
    const char *name = frame_name(node_at(s, f->enters[0]));
    for (size_t i = 0; i < s->graph->n_nodes; i++) {
        const tf_node *n = &s->graph->nodes[i];
        if (strcmp(n->op, "Enter") != 0 || strcmp(frame_name(n), name) != 0) continue;
        const tf_attr *constant = eddy__tf_attr_of(n, "is_constant");
        if (constant && constant->i && !eddy__tf_value_of(b->reader, s, n->name)) return false;
    }
    return true;
}

static bool loop_condition(tf_loop *l, tf_value *const *in, tf_value **out)
{
    const frame *f = l->context;
    tf_scope    *s = part(l->b);
    if (!s) return false;
    for (int i = 0; i < f->n; i++)
        if (!preset(l->b, s, f->merges[i], in[i])) return false;
    out[0] = first_value(l->b, s, f->cond, "a node of the condition");
    return out[0] != NULL;
}

static bool loop_body(tf_loop *l, tf_value *const *in, tf_value **out)
{
    const frame *f = l->context;
    tf_scope    *s = part(l->b);
    if (!s) return false;
    for (int i = 0; i < f->n; i++)
        if (!preset(l->b, s, f->merges[i], in[i]) || !preset(l->b, s, f->switches[i], in[i]))
            return false;
    for (int i = 0; i < f->n; i++) {
        out[i] = first_value(l->b, s, f->nexts[i], "a node of the body");
        if (!out[i]) return false;
    }
    return true;
}

/* All Exits of the loop get their values at once. */
static bool leave(tf_build *b, const frame *f, tf_value **out)
{
    tf_scope     *s = b->scope;
    const int32_t self = (int32_t)(b->node - s->graph->nodes) + 1;
    for (size_t i = 0; i < s->graph->n_nodes; i++) {
        const int32_t at = (int32_t)i + 1;
        if (!is_op(s, at, "Exit")) continue;
        for (int k = 0; k < f->n; k++) {
            if (input_node(s, at, 0) != f->switches[k]) continue;
            if (!(at == self ? eddy__tf_put_value(b, 0, out[k]) : preset(b, s, at, out[k])))
                return false;
        }
    }
    return true;
}

static bool loop(tf_build *b)
{
    frame      f;
    tf_value  *start[EDDY_MAX_RESULTS], *out[EDDY_MAX_RESULTS];
    if (!frame_of(b, (int32_t)(b->node - b->scope->graph->nodes) + 1, &f)) return false;
    for (int i = 0; i < f.n; i++) {
        start[i] = first_value(b, b->scope, f.enters[i], "a value that enters");
        if (!start[i]) return false;
        eddy__tf_share_weight(b, start[i]);
    }
    if (!build_constants(b, &f)) return false;
    tf_loop l = { .b = b, .start = start, .n = f.n, .condition = loop_condition, .body = loop_body,
                  .context = &f };
    return eddy__tf_while(&l, out) && leave(b, &f, out);
}

/* ----------------------------------------------------------------- branches -- */

/* The Switches from which the inputs of a Merge come. */
typedef struct hit {
    int32_t at, pred;
    int     side, input;                /* output of the Switch; input of the Merge */
} hit;

enum { MOST_HITS = 4096 };

typedef struct search {
    tf_build *b;
    uint8_t  *seen;                     /* bits: the sides of a node, and that it is on the stack */
    int32_t  *stack;
    size_t    top;
    hit      *hits;
    int       n, room;
} search;

static bool add_hit(search *w, hit h)
{
    if (w->n == MOST_HITS) return eddy__tf_missing(w->b, "it joins too many branches");
    if (w->n == w->room) {
        const int room = w->room ? 2 * w->room : 16;
        hit      *more = eddy__region_take(w->b->memory, (size_t)room, sizeof *more);
        if (!more) return eddy__tf_error(w->b->reader, EDDY_NO_MEMORY, "out of memory");
        if (w->n) memcpy(more, w->hits, (size_t)w->n * sizeof *more);
        w->hits = more;
        w->room = room;
    }
    w->hits[w->n++] = h;
    return true;
}

/* Goes back along an edge; values that the scope has already end the search. */
static bool visit(search *w, const char *edge, int input)
{
    const tf_scope *s = w->b->scope;
    int             output;
    const int32_t   at = eddy__tf_resolve(s, edge[0] == '^' ? edge + 1 : edge, &output);
    if (at <= 0) return true;
    const int bit = is_op(s, at, "Switch") && output ? 2 : 1;
    if (w->seen[at - 1] & bit) return true;
    w->seen[at - 1] |= (uint8_t)bit;
    for (const tf_scope *o = s; o; o = o->outer)
        if (o->slots[at - 1].progress == TF_DONE && !is_op(s, at, "Const")) return true;
    if (!(w->seen[at - 1] & 4)) w->stack[w->top++] = at;
    w->seen[at - 1] |= 4;
    return !is_op(s, at, "Switch") ||
           add_hit(w, (hit){ at, input_node(s, at, 1), bit == 2, input });
}

/* The Switches that an input of the Merge comes from: also those before others, since a branch may
 * contain branches. */
static bool walk(search *w, const tf_node *merge, int input)
{
    const tf_scope *s = w->b->scope;
    memset(w->seen, 0, s->graph->n_nodes);
    if (!visit(w, merge->inputs[input], input)) return false;
    while (w->top) {
        const tf_node *n = node_at(s, w->stack[--w->top]);
        for (size_t i = 0; i < n->n_inputs; i++)
            if (!visit(w, n->inputs[i], input)) return false;
    }
    return true;
}

static bool has_hit(const search *w, int32_t pred, int side, int input)
{
    for (int i = 0; i < w->n; i++)
        if (w->hits[i].pred == pred && w->hits[i].side == side && w->hits[i].input == input)
            return true;
    return false;
}

/* The predicate that tells the inputs apart: one comes only from its false side, the other only
 * from its true side. An input without a Switch is a constant, and the other one decides. */
static int32_t predicate(const search *w, int *true_input)
{
    for (int strict = 1; strict >= 0; strict--)
        for (int i = 0; i < w->n; i++) {
            const hit h = w->hits[i];
            const int other = 1 - h.input;
            if (has_hit(w, h.pred, !h.side, h.input) || has_hit(w, h.pred, h.side, other)) continue;
            if (strict && !has_hit(w, h.pred, !h.side, other)) continue;
            *true_input = h.side ? h.input : other;
            return h.pred;
        }
    return 0;
}

typedef struct side {
    tf_build     *b;
    const search *found;
    int32_t       pred;
    int           input;
    tf_value     *out;
} side;

/* The input of the Merge, built where the Switches of the predicate pass their values. */
static bool build_side(side *c)
{
    tf_scope *s = part(c->b);
    if (!s) return false;
    for (int i = 0; i < c->found->n; i++) {
        const int32_t at = c->found->hits[i].at;
        if (c->found->hits[i].pred != c->pred) continue;
        tf_value *v = eddy__tf_lookup(c->b->scope, node_at(s, at)->inputs[0]);
        if (!preset(c->b, s, at, v)) return false;
    }
    c->out = eddy__tf_value_of(c->b->reader, s, c->b->node->inputs[c->input]);
    if (!c->out) return false;
    return !c->out->unknown || eddy__tf_missing(c->b, "a node of the branch cannot be built");
}

static int branch(eddy_list x, eddy_tensor *y, void *context)
{
    side *c = context;
    (void)x;
    c->b->reader->bodies++;
    const bool ok = build_side(c);
    const int  n = ok ? eddy__tf_carry(c->b, &c->out, 1, y) : -1;
    c->b->reader->bodies--;
    return n < 0 ? 0 : n;
}

/* The values of the Switches, and of the predicate, before the branches. */
static tf_value *build_switches(tf_build *b, const search *w, int32_t pred)
{
    tf_value *p = eddy__tf_value_of(b->reader, b->scope, node_at(b->scope, pred)->name);
    for (int i = 0; p && i < w->n; i++) {
        const tf_node *n = node_at(b->scope, w->hits[i].at);
        if (w->hits[i].pred != pred) continue;
        tf_value *v = eddy__tf_value_of(b->reader, b->scope, n->inputs[0]);
        if (!v) return NULL;
        eddy__tf_share_weight(b, v);
    }
    return p;
}

static bool merge(tf_build *b)
{
    const size_t n = b->scope->graph->n_nodes;
    search       w = { .b = b, .seen = eddy__region_take(b->memory, n, 1),
                       .stack = eddy__region_take(b->memory, n + 1, sizeof *w.stack) };
    int          true_input = 0;
    eddy_tensor  y[EDDY_MAX_RESULTS];
    eddy__tf_effort(b->reader, 2 * n);          /* its error ends all that follows */
    if (!w.seen || !w.stack) return eddy__reading_no_memory(&b->reader->base);
    if (b->node->n_inputs < 2 || b->node->inputs[0][0] == '^' || b->node->inputs[1][0] == '^')
        return eddy__tf_invalid(b, "it does not have two inputs");
    if (!walk(&w, b->node, 0) || !walk(&w, b->node, 1)) return false;
    const int32_t pred = predicate(&w, &true_input);
    if (pred <= 0) return eddy__tf_missing(b, "the branches that it joins are not found");
    tf_value *p = build_switches(b, &w, pred);
    if (!p) return false;
    if (p->unknown) return eddy__tf_missing(b, "the condition cannot be built");
    side yes = { b, &w, pred, true_input, NULL }, no = yes;
    no.input = 1 - true_input;
    const eddy_array *known = eddy__tf_array_of(b, p);
    if (known && eddy_array_count(known) == 1) {
        side *c = eddy_array_item(known) != 0 ? &yes : &no;
        return build_side(c) && eddy__tf_put_value(b, 0, c->out);
    }
    if (eddy_cond(Reshape(eddy__tf_tensor_of(b, p), EDDY_SCALAR), { branch, &yes, "true" },
                  { branch, &no, "false" }, y) == 0)
        return false;
    tf_value *out;
    return eddy__tf_carried(b, &yes.out, 1, y, &out) && eddy__tf_put_value(b, 0, out);
}

static bool pass(tf_build *b)
{
    return b->n_in > 0 ? eddy__tf_put_value(b, 0, b->in[0])
                       : eddy__tf_invalid(b, "input 0 is missing");
}

const tf_operator eddy__tf_frames[] = {
    { "Enter", pass },
    { "Exit", loop, .variant = TF_OWN_ORDER },
    { "LoopCond", pass },
    { "Merge", merge, .variant = TF_OWN_ORDER },
    { NULL },
};
