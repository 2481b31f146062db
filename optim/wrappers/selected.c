/* selected.c -- any optimizer that updates only some of the variables; a function of the caller
 * completes the step of the others.
 *
 * The inner optimizer does not see the gradients of the others, so its step must treat each
 * variable by itself. Optimizers of the library say whether they do, which does not depend on what
 * is selected. Functions of the program are called with the gradients of all variables first, and
 * checked on the nodes that they build: each depends on the gradient of at most one variable. So
 * they are refused whatever is selected. */
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"
#include "ops/ops.h"

/* A variable of the step, in the graph's arena: with the gradient that the inner optimizer gets,
 * or with its new value. */
typedef struct selected_item {
    eddy_tensor           variable, tensor;
    bool                  mine;
    struct selected_item *next;
} selected_item;

typedef struct selected_items {
    selected_item *first, *last;
    int            count;
} selected_items;

typedef struct selected_state {
    eddy_optimizer *inner;
    bool          (*selects)(void *context, eddy_tensor variable);
    eddy_tensor   (*complete)(void *context, int count, const eddy_tensor *variables,
                              const eddy_tensor *values);
    void           *context;
    bool            any;             /* a variable of the step is selected */
    int32_t         from;            /* id of the last node before the step */
    selected_items  gradients;       /* of variables that are selected, or tried */
    selected_items  updates;         /* of all; of others with their gradients */
} selected_state;

static bool is_selected(const selected_state *s, eddy_tensor v)
{
    return s->selects(s->context, v);
}

static void add(eddy_optimizer *o, selected_items *to, eddy_tensor variable, eddy_tensor tensor,
                bool mine)
{
    selected_item *item = eddy__arena_alloc(&o->graph->arena, sizeof *item);
    if (!item) {
        eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, 1);
        return;
    }
    *item = (selected_item){ variable, tensor, mine, NULL };
    *(to->first ? &to->last->next : &to->first) = item;
    to->last = item;
    to->count++;
}

static void selected_slots(eddy_optimizer *o, eddy_tensor v)
{
    selected_state *s = eddy_optimizer_state(o);
    if (!is_selected(s, v)) return;
    s->any = true;
    eddy__inner_slots(s->inner, v);
}

static void selected_prepare(eddy_optimizer *o)
{
    selected_state *s = eddy_optimizer_state(o);
    s->from = eddy_graph_size(o->graph);
    s->gradients = s->updates = (selected_items){ 0 };
    if (s->any) eddy__inner_prepare(s->inner);
}

/* --------------------------------------------------------------- gradients -- */

/* A node of its own for the gradient, since one tensor may be that of two variables. */
static eddy_tensor noted(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor variable)
{
    selected_state *s = eddy_optimizer_state(o);
    eddy_tensor     own = eddy_identity(gradient);
    add(o, &s->gradients, variable, own, true);
    return own;
}

/* The pair with nodes of its own for the gradient. */
static eddy_gradient_pair noted_pair(eddy_optimizer *o, eddy_gradient_pair p)
{
    eddy_tensor values;
    if (eddy_slices_parts(p.gradient, &values, NULL))
        p.gradient = eddy_slices_with_values(p.gradient, noted(o, values, p.variable));
    else p.gradient = noted(o, p.gradient, p.variable);
    return p;
}

/* Builds what functions of the program make of all gradients, only to be checked. */
static void try_functions(eddy_optimizer *o, const eddy_gradient_pair *pairs, int count,
                          eddy_gradient_pair *all)
{
    const selected_state *s = eddy_optimizer_state(o);
    int                   n = 0;
    if (!eddy__has_function(s->inner)) return;
    for (int i = 0; i < count; i++)
        if (pairs[i].gradient.node != 0) all[n++] = noted_pair(o, pairs[i]);
    if (n > 0) eddy__call_functions(s->inner, all, n);
}

/* The `transform` of the inner optimizer gets the pairs that are selected. */
static void transform_pairs(eddy_optimizer *o, eddy_gradient_pair *pairs, int count,
                            eddy_gradient_pair *some, int *at)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        const eddy_gradient_pair p = pairs[i];
        if (p.gradient.node == 0 || !is_selected(eddy_optimizer_state(o), p.variable)) continue;
        at[n] = i;
        some[n++] = noted_pair(o, p);
    }
    if (n > 0) eddy__inner_transform(o, some, n);
    for (int i = 0; i < n; i++) pairs[at[i]] = some[i];
}

static void selected_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const size_t        bytes = (size_t)count * (sizeof *pairs + sizeof(int));
    eddy_gradient_pair *some = eddy__allocate(&o->allocator, bytes);
    if (some) try_functions(o, pairs, count, some);
    if (some) transform_pairs(o, pairs, count, some, (int *)(some + count));
    else
        eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (gradients: %d)", o->name, count);
    eddy__release(&o->allocator, some, bytes);
}

/* ----------------------------------------------------------------- updates -- */

/* Instead of an update: keeps the gradient for `complete`. */
static eddy_tensor leave(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor v)
{
    selected_state *s = eddy_optimizer_state(o);
    add(o, &s->updates, v, gradient, false);
    return eddy_group(o->graph, (eddy_list){ 0, NULL }, NULL);
}

/* The gradient for the inner optimizer, whose update is recorded. */
static eddy_tensor handed_on(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor v)
{
    selected_state *s = eddy_optimizer_state(o);
    add(o, &s->updates, v, v, true);
    return o->def.transform ? gradient : noted(o, gradient, v);
}

static eddy_tensor selected_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const selected_state *s = eddy_optimizer_state(o);
    if (!is_selected(s, v)) return leave(o, g, v);
    return eddy__inner_dense(s->inner, handed_on(o, g, v), v);
}

static eddy_tensor selected_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                   eddy_tensor v)
{
    const selected_state *s = eddy_optimizer_state(o);
    if (is_selected(s, v))
        return eddy__inner_sparse(o, s->inner, handed_on(o, values, v), indices, v);
    eddy_tensor rows = eddy_indexed_slices(values, indices, v);
    return leave(o, eddy_slices_padded(rows), v);
}

/* ------------------------------------------------------------------- check -- */

/* What a node depends on: NULL, no gradient; else the item of one. *other: of another one, too. */
static const selected_item *source_of(const selected_state *s, const selected_item *const *sources,
                                      const eddy_node *node, const selected_item **other)
{
    const selected_item *source = NULL;
    for (const selected_item *i = s->gradients.first; i; i = i->next)
        if (i->tensor.node == node->id) return i;
    for (int i = 0; i < node->n_inputs; i++) {
        const int32_t        at = node->inputs[i].node - s->from;
        const selected_item *input = at > 0 ? sources[at] : NULL;
        if (input && source && !eddy_same(input->variable, source->variable)) {
            *other = input;
            return source;
        }
        if (input) source = input;
    }
    return source;
}

/* False with the error set if a node combines the gradients of two variables. */
static bool is_separable(eddy_optimizer *o)
{
    const selected_state *s = eddy_optimizer_state(o);
    eddy_graph           *g = o->graph;
    const int32_t         n = eddy_graph_size(g) - s->from;
    const size_t          bytes = ((size_t)n + 1) * sizeof(selected_item *);
    const selected_item **sources = eddy__allocate_zeroed(&o->allocator, 1, bytes), *other = NULL;
    if (!sources)
        eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, s->updates.count);
    for (int32_t k = 1; sources && k <= n && !other; k++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(g, s->from + k));
        sources[k] = source_of(s, sources, node, &other);
        if (other)
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "%s: %s combines the gradients of several variables, such as '%.200s' and "
                      "'%.200s', in '%.200s': it belongs around this optimizer", o->name,
                      s->inner->name, eddy_name_of(sources[k]->variable),
                      eddy_name_of(other->variable), node->name);
    }
    eddy__release(&o->allocator, sources, bytes);
    return sources && !other;
}

/* ------------------------------------------------------------------ finish -- */

static eddy_tensor complete(eddy_optimizer *o)
{
    const selected_state *s = eddy_optimizer_state(o);
    const size_t          n = (size_t)s->updates.count, bytes = 2 * n * sizeof(eddy_tensor);
    eddy_tensor          *variables = eddy__allocate(&o->allocator, bytes), *values = variables + n;
    int                   at = 0;
    if (!variables)
        return eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name,
                         (int)n);
    for (const selected_item *i = s->updates.first; i; i = i->next) {
        variables[at] = i->variable;
        values[at++] = i->mine ? eddy__latest(i->variable, s->from) : i->tensor;
    }
    eddy_tensor done = s->complete(s->context, at, variables, values);
    eddy__release(&o->allocator, variables, bytes);
    if (eddy__graph_ready(o->graph) && !eddy_is_valid(done))
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
                  "%s: the function that completes the step returns no operation", o->name);
    return done;
}

static eddy_tensor selected_finish(eddy_optimizer *o, eddy_list updates)
{
    selected_state *s = eddy_optimizer_state(o);
    eddy_graph     *g = o->graph;
    eddy_tensor     all[2];
    all[0] = s->any ? eddy__inner_finish(s->inner, updates) : eddy_group(g, updates, NULL);
    s->any = false;
    if (!eddy__graph_ready(g) || !is_separable(o)) return eddy_none(g);
    all[1] = complete(o);
    return eddy_group(g, (eddy_list){ 2, all }, NULL);
}

static const eddy_optimizer_def selected = {
    .name = "SelectedUpdates", .state_size = sizeof(selected_state),
    .create_slots = selected_slots, .prepare = selected_prepare, .apply_dense = selected_dense,
    .apply_sparse = selected_sparse, .finish = selected_finish,
};

eddy_optimizer *eddy_selected_updates_with(const eddy_selected_updates_args *given)
{
    eddy_selected_updates_args a = EDDY_TAKE(eddy_selected_updates_args, given);
    eddy_graph *g = eddy__inner_graph(NULL, "SelectedUpdates", a.optimizer);
    if (!g) return NULL;
    if (!a.selects || !a.complete) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "SelectedUpdates: a function is missing");
        return NULL;
    }
    const eddy_optimizer *joint = eddy__combining(a.optimizer);
    if (joint) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s combines the gradients of several variables: "
                  "it belongs around this optimizer", a.name ? a.name : "SelectedUpdates",
                  joint->name);
        return NULL;
    }
    const selected_state s = { .inner = a.optimizer, .selects = a.selects, .complete = a.complete,
                               .context = a.context };
    eddy_optimizer_def   def = selected;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    def.takes_complex = a.optimizer->def.takes_complex;
    if (a.optimizer->def.transform) def.transform = selected_transform;
    return eddy__outer_new(g, &def, &s, a.name);
}
