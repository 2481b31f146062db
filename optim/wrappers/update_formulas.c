/* update_formulas.c -- rewrites the updates that some nodes perform as one formula for each
 * variable.
 *
 * An update that may have to be undone needs the old value besides the new one, which is a copy
 * of every updated variable. If the nodes are formulas and plain assignments, the formulas are
 * used instead, without the assignments between them: nodes that depend on the new value of a
 * variable are rebuilt from the formula of that value, and each variable gets one assignment in
 * the end, which one loop over memory performs. */
#include "optim/wrappers/wrappers_internal.h"
#include "build/gen/table.h"
#include "ops/short_names.h"

typedef struct replay {
    eddy_graph  *g;
    int32_t      first, size;    /* ids from first + 1 to first + size */
    uint8_t     *inside;         /* of a span */
    eddy_tensor *replacement;    /* replacement of output 0; node 0: the node itself */
    eddy_tensor *variable, *value;
    int          n;              /* of these */
    int32_t     *places;     /* hash table of variables: index in the list above plus 1; 0: empty */
    uint32_t     mask;           /* size of the table minus 1 */
    eddy_tensor *controls;       /* outside the ranges, of updates and of groups */
    int          n_controls, most_controls;
} replay;

static bool is_in_ranges(const replay *r, int32_t id)
{
    const int32_t at = id - r->first - 1;
    return at >= 0 && at < r->size && r->inside[at];
}

static eddy_tensor replacement_of(const replay *r, eddy_tensor t)
{
    if (!is_in_ranges(r, t.node)) return t;
    const eddy_tensor replacement = r->replacement[t.node - r->first - 1];
    return replacement.node == 0 ? t
           : t.output == 0       ? replacement
                                 : eddy_output(replacement, t.output);
}

/* Looks up a variable in the hash table: the entry contains its index plus 1, or 0 if it is not
 * in the list. */
static int32_t *entry_of(const replay *r, eddy_tensor v)
{
    uint32_t at = (uint32_t)v.node * 2654435761u;
    while (r->places[at & r->mask] != 0 && !eddy_same(r->variable[r->places[at & r->mask] - 1], v))
        at++;
    return &r->places[at & r->mask];
}

static int index_of(const replay *r, eddy_tensor v) { return *entry_of(r, v) - 1; }

static bool is_update(const eddy_node *node) { return (node->op->flags & EDDY_OP_UPDATES) != 0; }

/* ------------------------------------------------------------- conditions -- */

/* True if an input is a value that one of the updates has set, or depends on such a value. */
static bool depends_on_update(const replay *r, const eddy_node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (is_in_ranges(r, node->inputs[i].node) &&
            r->replacement[node->inputs[i].node - r->first - 1].node != 0)
            return true;
    return false;
}

static bool waits_for_ranges(const replay *r, const eddy_node *node)
{
    for (int i = 0; i < node->n_controls; i++)
        if (is_in_ranges(r, node->controls[i])) return true;
    return false;
}

enum { FEW = 16 };

/* True if rebuilding the node gives the same value. */
static bool is_formula(const replay *r, const eddy_node *node)
{
    const unsigned not = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_REFERENCE |
                         EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER;
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH) return false;
    return (node->op->flags & not) == 0 && node->n_inputs <= FEW && node->n_controls <= FEW &&
           !waits_for_ranges(r, node);
}

/* The value that an assignment sets; node 0 if the node is not an assignment. */
static eddy_tensor assigned(replay *r, const eddy_node *node)
{
    const int   i = index_of(r, node->inputs[0]);
    eddy_tensor old = i >= 0 ? r->value[i] : node->inputs[0],
                by = replacement_of(r, node->inputs[1]);
    /* After an update, the variable itself would be read too late. */
    if (waits_for_ranges(r, node) && eddy__is_variable(by)) return eddy_none(r->g);
    if (node->op == &eddy_op_assign) return by;
    if (node->op == &eddy_op_assign_add) return Add(old, by);
    if (node->op == &eddy_op_assign_sub) return Sub(old, by);
    return eddy_none(r->g);
}

/* Collects the control inputs outside of the ranges, which must precede the updates. */
static bool collect_controls(replay *r, const eddy_node *node)
{
    for (int k = 0; k < node->n_controls; k++) {
        if (is_in_ranges(r, node->controls[k])) continue;
        if (r->n_controls == r->most_controls) return false;
        r->controls[r->n_controls++] = eddy_node_at(r->g, node->controls[k]);
    }
    return true;
}

static bool record_update(replay *r, const eddy_node *node)
{
    eddy_tensor value = assigned(r, node);
    if (value.node == 0) return false;
    int i = index_of(r, node->inputs[0]);
    if (i < 0) {
        r->variable[i = r->n++] = node->inputs[0];
        *entry_of(r, node->inputs[0]) = r->n;
    }
    r->value[i] = r->replacement[node->id - r->first - 1] = value;
    return true;
}

/* Rebuilds the node from the replacements of its inputs. */
static bool rebuild_formula(replay *r, const eddy_node *node)
{
    eddy_tensor in[FEW], after[FEW];
    if (!is_formula(r, node)) return false;
    for (int i = 0; i < node->n_inputs; i++) in[i] = replacement_of(r, node->inputs[i]);
    for (int i = 0; i < node->n_controls; i++) after[i] = eddy_node_at(r->g, node->controls[i]);
    eddy_control_begin(r->g, (eddy_list){ node->n_controls, after });
    eddy_tensor y = eddy_apply(node->op, node->attrs, node->n_inputs, in,
                               (eddy_apply_args){ .graph = r->g });
    eddy_control_end(r->g);
    r->replacement[node->id - r->first - 1] = y;
    return eddy_is_valid(y);
}

/* Nodes that depend on no update are kept; those without outputs only define an order. */
static bool replay_node(replay *r, const eddy_node *node)
{
    if (node->op->flags & EDDY_OP_SIDE_EFFECT && !is_update(node)) return false;
    if (node->n_outputs == 0) return collect_controls(r, node);
    if (is_update(node)) return record_update(r, node) && collect_controls(r, node);
    if (depends_on_update(r, node)) return rebuild_formula(r, node);
    return !waits_for_ranges(r, node);
}

/* No other node has updated one of the variables since. */
static bool are_last(const replay *r)
{
    for (int32_t id = r->first + 1; id <= eddy_graph_size(r->g); id++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(r->g, id));
        if (!is_in_ranges(r, id) && is_update(node) && index_of(r, node->inputs[0]) >= 0)
            return false;
    }
    return true;
}

/* --------------------------------------------------------------- all steps -- */

static bool mark_ranges(replay *r, const eddy_id_range *ranges)
{
    int n = 0;
    for (const eddy_id_range *s = ranges; s; s = s->before)
        for (int32_t id = s->from + 1; id <= s->to; id++) {
            r->inside[id - r->first - 1] = 1;
            n++;
        }
    return n > 0;
}

static eddy_tensor rewritten(replay *r, const eddy_id_range *ranges, eddy_tensor keep)
{
    bool ok = mark_ranges(r, ranges);
    for (int32_t id = r->first + 1; ok && id <= r->first + r->size; id++)
        if (is_in_ranges(r, id)) ok = replay_node(r, eddy_node_of(eddy_node_at(r->g, id)));
    if (!ok || r->n == 0 || !are_last(r)) return eddy_none(r->g);
    eddy_control_begin(r->g, (eddy_list){ r->n_controls, r->controls });
    for (int i = 0; i < r->n; i++) {
        eddy_tensor v = r->variable[i], value = r->value[i];
        r->value[i] = eddy_assign(v, keep.node == 0 ? value : Where(keep, value, v));
    }
    eddy_tensor done = eddy_group(r->g, (eddy_list){ r->n, r->value }, NULL);
    eddy_control_end(r->g);
    return done;
}

eddy_tensor eddy__replay_if(eddy_graph *g, const eddy_id_range *ranges, eddy_tensor keep)
{
    replay  r = { .g = g, .first = INT32_MAX };
    int32_t last = 0;
    for (const eddy_id_range *s = ranges; s; s = s->before) {
        r.first = s->from < r.first ? s->from : r.first;
        last = s->to > last ? s->to : last;
    }
    r.size = last > r.first ? last - r.first : 0;
    r.most_controls = r.size;
    const eddy_allocator *memory = eddy__graph_allocator(g);
    const size_t bytes = 4 * (size_t)r.size * sizeof(eddy_tensor);
    r.replacement = eddy__allocate_zeroed(memory, 4 * (size_t)r.size, sizeof(eddy_tensor));
    r.inside = eddy__allocate_zeroed(memory, (size_t)r.size, 1);
    for (r.mask = 1; r.mask < 2 * (uint32_t)r.size; r.mask *= 2) continue;
    const size_t places = r.mask-- * sizeof *r.places;
    r.places = eddy__allocate_zeroed(memory, 1, places);
    eddy_tensor done = eddy_none(g);
    if (r.replacement && r.inside && r.places) {
        r.variable = r.replacement + r.size;
        r.value = r.variable + r.size;
        r.controls = r.value + r.size;
        done = rewritten(&r, ranges, keep);
    }
    eddy__release(memory, r.replacement, bytes);
    eddy__release(memory, r.inside, (size_t)r.size);
    eddy__release(memory, r.places, places);
    return done;
}
