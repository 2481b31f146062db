/* extract.c -- eddy_extract: checks the call, runs the steps, names inputs and outputs. */
#include "session/extract/extract_parts.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/state/constraint.h"

#include <string.h>

void *eddy__extract_memory(extract *x, int64_t n, size_t size)
{
    const size_t bytes = (size_t)(n > 0 ? n : 1) * size;
    void        *p = eddy__arena_alloc(&x->arena, bytes);
    if (p) memset(p, 0, bytes);
    else eddy__error_set(&x->error, EDDY_NO_MEMORY, "extract: out of memory");
    return p;
}

/* ------------------------------------------------------------------ steps -- */

bool eddy__extract_step_begin(extract_step *s, extract *x, const extract_part *was)
{
    eddy_graph *from = was->graph;
    *s = (extract_step){ .x = x, .was = was };
    s->now.graph = eddy_graph_new(
        .allocator = x->args.allocator ? x->args.allocator : &from->allocator,
        .files = x->args.files ? x->args.files : &from->files, .seed = from->seed);
    if (!s->now.graph)
        return eddy__error_set(&x->error, EDDY_NO_MEMORY, "extract: out of memory for a graph");
    s->now.inputs = eddy__extract_memory(x, x->n_inputs, sizeof *s->now.inputs);
    s->now.outputs = eddy__extract_memory(x, x->n_outputs, sizeof *s->now.outputs);
    const bool ok = eddy__copy_begin(&s->copy, from, s->now.graph);
    s->copy.context = s;
    return ok && s->now.inputs && s->now.outputs;
}

static bool set_fresh(extract_step *s, int32_t id)
{
    extract_part *p = &s->now;
    if (id >= p->room) {
        const int32_t room = 2 * id + 64;
        uint8_t      *more = eddy__extract_memory(s->x, room, 1);
        if (!more) return false;
        if (p->room > 0) memcpy(more, p->fresh, (size_t)p->room);
        p->fresh = more;
        p->room = room;
    }
    p->fresh[id] = 1;
    return true;
}

static bool keep_fresh(extract_step *s)
{
    for (int32_t id = 1; id <= s->copy.size && id < s->was->room; id++) {
        if (!s->was->fresh[id] || !s->copy.needed[id]) continue;
        const eddy_tensor t = eddy__copy_image(&s->copy, eddy__tensor_at(s->was->graph, id, 0));
        if (eddy_constant_value(t) && !set_fresh(s, t.node)) return false;
    }
    return true;
}

static bool is_model(const char *key)
{
    return strcmp(key, EDDY_MODEL_INPUTS) == 0 || strcmp(key, EDDY_MODEL_OUTPUTS) == 0;
}

static bool finish(extract_step *s)
{
    extract   *x = s->x;
    eddy_copy *c = &s->copy;
    for (int i = 0; i < x->n_outputs; i++) eddy__copy_need(c, s->was->outputs[i]);
    eddy__copy_find(c);
    if (!eddy__copy_nodes(c) || !eddy__copy_collections(c, is_model) ||
        !eddy__copy_constraints(c) || !keep_fresh(s))
        return false;
    for (int i = 0; i < x->n_outputs; i++)
        s->now.outputs[i] = eddy__copy_image(c, s->was->outputs[i]);
    for (int i = 0; i < x->n_inputs; i++)
        if (s->now.inputs[i].node == 0)
            s->now.inputs[i] = eddy__copy_image(c, s->was->inputs[i]);
    return true;
}

bool eddy__extract_step_finish(extract_step *s, bool ok)
{
    extract    *x = s->x;
    eddy_graph *g = s->now.graph;
    ok = ok && finish(s);
    if (s->values)
        for (int32_t id = 1; id <= s->copy.size; id++) eddy_array_free(s->values[id]);
    eddy__copy_end(&s->copy);
    if (g && !eddy__graph_ready(g))
        eddy__error_set(&x->error, eddy_graph_status(g), "extract: %.900s", eddy_graph_message(g));
    if (ok && x->error.status == EDDY_OK) return true;
    eddy_graph_free(g);
    s->now.graph = NULL;
    return eddy__error_set(&x->error, EDDY_NO_MEMORY, "extract: out of memory");
}

/* The name of tensor t: that of its node; a later output has its number too. */
static const char *name_of(eddy_tensor t, char *buf, size_t size)
{
    if (t.output == 0) return eddy_name_of(t);
    snprintf(buf, size, "%s_%d", eddy_name_of(t), (int)t.output);
    return buf;
}

/* Of inputs, values and replacements. */
bool eddy__extract_once(extract_step *s, eddy_tensor t)
{
    if (!eddy_is_valid(eddy__copy_image(&s->copy, t))) return true;
    return eddy__error_set(&s->x->error, EDDY_INVALID_ARGUMENT,
                           "extract: '%.200s' is given twice", eddy_name_of(t));
}

bool eddy__extract_constant(extract_step *s, eddy_tensor t, eddy_array *value)
{
    char buf[EDDY_MAX_NAME];
    if (!value) {
        eddy_fail(s->now.graph, EDDY_NO_MEMORY, "out of memory for the value of '%.200s'",
                  eddy_name_of(t));
        return false;
    }
    const eddy_tensor y = eddy_constant(s->now.graph, value, .name = name_of(t, buf, sizeof buf));
    s->copy.changed[t.node] |= !eddy_shape_equal(eddy_array_shape(value), eddy_shape_of(t));
    eddy_array_free(value);
    return eddy_is_valid(y) && set_fresh(s, y.node) && eddy__copy_set_image(&s->copy, t, y);
}

bool eddy__extract_placeholder(extract_step *s, int i, const char *name, eddy_shape shape)
{
    char              buf[EDDY_MAX_NAME];
    const eddy_tensor t = s->was->inputs[i];
    if (!eddy__extract_once(s, t)) return false;
    s->now.inputs[i] = eddy_placeholder(s->now.graph, name ? name : name_of(t, buf, sizeof buf),
                                        eddy_dtype_of(t), shape);
    s->copy.changed[t.node] |= !eddy_shape_equal(shape, eddy_shape_of(t));
    return eddy_is_valid(s->now.inputs[i]) &&
           eddy__copy_set_image(&s->copy, t, s->now.inputs[i]);
}

/* Replaces the part by the next one. */
static void take(extract_part *part, const extract_part *next, const extract *x)
{
    if (part->graph != x->args.outputs.at[0].graph) eddy_graph_free(part->graph);
    *part = *next;
}

/* ------------------------------------------------------------- simplifying -- */

static bool put_values(extract_step *s, int n, const eddy_tensor *t, eddy_array **values)
{
    bool ok = true;
    for (int i = 0; i < n; i++) {
        if (ok) ok = eddy__extract_constant(s, t[i], values[i]);
        else eddy_array_free(values[i]);
    }
    return ok;
}

/* Each step computes what has become constant in the one before. The number of steps is that of
 * conditions that depend on each other, plus one that drops what is left over. */
static bool simplify(extract *x, extract_part *part)
{
    enum { MOST = 64 };
    extract_step s;
    for (int i = 0; i < MOST; i++) {
        eddy_tensor *t = NULL;
        eddy_array **values = NULL;
        const int    n = eddy__extract_fold(x, part, &t, &values);
        if (n < 0) return false;
        bool ok = eddy__extract_step_begin(&s, x, part);
        if (ok) ok = put_values(&s, n, t, values);
        else for (int k = 0; k < n; k++) eddy_array_free(values[k]);
        s.copy.instead = eddy__extract_simplify;
        ok = ok && eddy__copy_effects(&s.copy) && eddy__extract_samples(&s);
        if (!eddy__extract_step_finish(&s, ok)) return false;
        take(part, &s.now, x);
        if (n == 0 && s.changes == 0) return true;
    }
    return true;
}

/* ------------------------------------------------------------------- names -- */

/* Name i of a list such as "pixels, mask" in buf; false if there is none. */
static bool listed_name(const char *list, int i, char *buf, size_t size)
{
    for (; list; i--) {
        list += strspn(list, ", ");
        const size_t n = strcspn(list, ", ");
        if (n == 0 || n >= size) return false;
        if (i == 0) snprintf(buf, size, "%.*s", (int)n, list);
        if (i == 0) return true;
        list += n;
    }
    return false;
}

static bool names_fit(extract *x, const char *list, int count, const char *what)
{
    char buf[EDDY_MAX_NAME];
    if (!list) return true;
    for (int i = 0; i < count; i++)
        if (!listed_name(list, i, buf, sizeof buf) || !eddy__name_is_valid(buf, true))
            return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                                   "extract: %s, '%.200s', has no valid name for number %d", what,
                                   list, i);
    return !listed_name(list, count, buf, sizeof buf) ||
           eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                           "extract: %s, '%.200s', has more than %d names", what, list, count);
}

static bool cut_inputs(extract_step *s)
{
    const extract *x = s->x;
    char           name[EDDY_MAX_NAME];
    for (int i = 0; i < x->n_inputs; i++) {
        const bool named = listed_name(x->args.input_names, i, name, sizeof name);
        if (!eddy__extract_placeholder(s, i, named ? name : NULL, eddy_shape_of(s->was->inputs[i])))
            return false;
    }
    return true;
}

/* An output has the name that was chosen, or the name that it had. */
static bool name_output(extract *x, extract_part *part, int i)
{
    char              chosen[EDDY_MAX_NAME];
    const eddy_tensor was = x->args.outputs.at[i];
    eddy_tensor      *t = &part->outputs[i];
    const bool        given = listed_name(x->args.output_names, i, chosen, sizeof chosen);
    const char       *want = given ? chosen : was.output == 0 ? eddy_name_of(was) : NULL;
    if (!want || strcmp(eddy_name_of(*t), want) == 0) return true;
    if (eddy__names_find(part->graph, want, strlen(want)))
        return !given || eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                                         "extract: the output name '%.200s' is taken", want);
    *t = eddy_outputs_of(*t) > 0 ? eddy_named(want, eddy_identity(*t)) : eddy_named(want, *t);
    return true;
}

static bool is_input(const extract *x, const extract_part *part, int32_t id)
{
    for (int i = 0; i < x->n_inputs; i++)
        if (part->inputs[i].node == id) return true;
    return false;
}

/* With .inputs, these are all placeholders; without, all placeholders are inputs. */
static bool collect_inputs(extract *x, const extract_part *part)
{
    eddy_graph *g = part->graph;
    for (int i = 0; i < x->n_inputs; i++) {
        if (part->inputs[i].node == 0) return eddy__extract_unused(x, i);
        eddy_collection_add(g, EDDY_MODEL_INPUTS, part->inputs[i]);
    }
    for (int32_t id = 1; id <= g->size; id++) {
        const eddy_node *node = g->nodes[id];
        if (!(node->op->flags & EDDY_OP_PLACEHOLDER) || is_input(x, part, id)) continue;
        if (x->n_inputs > 0)
            return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                                   "extract: the outputs also depend on the placeholder '%.200s'; "
                                   "add it to the inputs, or give its value", node->name);
        eddy_collection_add(g, EDDY_MODEL_INPUTS, eddy__tensor_at(g, id, 0));
    }
    return true;
}

static bool complete(extract *x, extract_part *part)
{
    for (int i = 0; i < x->n_outputs; i++)
        if (!name_output(x, part, i)) return false;
    if (!collect_inputs(x, part)) return false;
    for (int i = 0; i < x->n_outputs; i++)
        eddy_collection_add(part->graph, EDDY_MODEL_OUTPUTS, part->outputs[i]);
    if (x->args.new_outputs)
        for (int i = 0; i < x->n_outputs; i++) x->args.new_outputs[i] = part->outputs[i];
    if (x->args.new_inputs)
        for (int i = 0; i < x->args.inputs.count; i++) x->args.new_inputs[i] = part->inputs[i];
    return eddy__graph_ready(part->graph) ||
           eddy__error_set(&x->error, eddy_graph_status(part->graph), "extract: %.900s",
                           eddy_graph_message(part->graph));
}

/* -------------------------------------------------------------------- call -- */

static bool tensors_fit(extract *x, eddy_list l, const char *what)
{
    const eddy_graph *g = x->args.outputs.at[0].graph;
    for (int i = 0; i < l.count; i++) {
        const eddy_node *node = l.at[i].graph == g ? eddy_node_of(l.at[i]) : NULL;
        if (!node)
            return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                                   "extract: %s %d is not a tensor of the graph", what, i);
    }
    return true;
}

static bool is_list(extract *x, int count, const void *at, const char *what)
{
    return (count >= 0 && (count == 0 || at)) ||
           eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                           "extract: `%s` is not a valid list (count %d)", what, count);
}

static bool call_is_valid(extract *x)
{
    const eddy_extract_args *a = &x->args;
    if (!is_list(x, a->outputs.count, a->outputs.at, "outputs") ||
        !is_list(x, a->inputs.count, a->inputs.at, "inputs") ||
        !is_list(x, a->keep.count, a->keep.at, "keep") ||
        !is_list(x, a->values.count, a->values.at, "values") ||
        !is_list(x, a->replace.count, a->replace.at, "replace"))
        return false;
    if (a->outputs.count == 0)
        return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT, "extract: no outputs are given");
    const eddy_graph *g = a->outputs.at[0].graph;
    if (!eddy__graph_alive(g) || g->is_body)
        return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                               "extract: output 0 is not a tensor of a graph");
    if (!eddy__graph_ready(g))
        return eddy__error_set(&x->error, eddy_graph_status(g), "extract: %.900s",
                               eddy_graph_message(g));
    if (a->allocator && (!a->allocator->allocate || !a->allocator->release))
        return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                               "extract: the allocator has no allocate or no release function");
    x->n_inputs = a->inputs.count;
    x->n_outputs = a->outputs.count;
    x->arena.allocator = a->allocator ? a->allocator : eddy__graph_allocator(g);
    return tensors_fit(x, a->outputs, "output") && tensors_fit(x, a->inputs, "input") &&
           tensors_fit(x, a->keep, "entry of `keep`") &&
           names_fit(x, a->input_names, x->n_inputs, "input_names") &&
           names_fit(x, a->output_names, x->n_outputs, "output_names");
}

static bool run_steps(extract *x, extract_part *part)
{
    const bool   simpler = x->args.values.count > 0 || x->args.freeze;
    extract_part next = { 0 };
    extract_step s;
    bool ok = eddy__extract_step_begin(&s, x, part) && cut_inputs(&s) && eddy__extract_cut(&s);
    if (!eddy__extract_step_finish(&s, ok)) return false;
    take(part, &s.now, x);
    if (simpler && !simplify(x, part)) return false;
    if (x->args.open_batch) {
        if (!eddy__extract_open(x, part, &next)) return false;
        take(part, &next, x);
    }
    if (x->args.quantize) {
        if (!eddy__extract_quantize(x, part, &next)) return false;
        take(part, &next, x);
    }
    return complete(x, part);
}

eddy_graph *eddy_extract_with(const eddy_extract_args *given)
{
    extract      x = { .args = EDDY_TAKE(eddy_extract_args, given) };
    eddy_graph  *made = NULL;
    extract_part part = { 0 };
    if (x.args.quantized) *x.args.quantized = (eddy_quantize_report){ .text = NULL };
    if (call_is_valid(&x)) {
        eddy_graph *g = x.args.outputs.at[0].graph;
        part = (extract_part){ .graph = g,
                               .inputs = (eddy_tensor *)(uintptr_t)x.args.inputs.at,
                               .outputs = (eddy_tensor *)(uintptr_t)x.args.outputs.at };
        if (run_steps(&x, &part)) made = part.graph;
        else if (part.graph != g) eddy_graph_free(part.graph);
    }
    eddy__arena_free(&x.arena);
    if (!made) eddy__error_set(x.args.error, x.error.status, "%s", x.error.message);
    return made;
}
