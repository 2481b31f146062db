/* nodes.c -- the nodes of a graph, one after the other: finds the operator of each, builds it, and
 * says why it cannot be built. */
#include "reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool eddy__onnx_error(onnx_reader *r, eddy_status s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    eddy__reading_error(&r->base, s, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------- names -- */

static onnx_name *slot(const onnx_scope *s, const char *name)
{
    size_t i = eddy__name_hash(name, strlen(name)) & (s->room - 1);
    while (s->names[i].name && strcmp(s->names[i].name, name) != 0) i = (i + 1) & (s->room - 1);
    return &s->names[i];
}

onnx_value *eddy__onnx_lookup(const onnx_scope *s, const char *name)
{
    for (; s; s = s->outer) {
        const onnx_name *n = s->room ? slot(s, name) : NULL;
        if (n && n->name) return n->value;
    }
    return NULL;
}

bool eddy__onnx_define(onnx_reader *r, onnx_scope *s, const char *name, onnx_value *v)
{
    if (2 * s->used >= s->room) {
        const onnx_scope old = *s;
        s->room = old.room ? 4 * old.room : 64;
        s->names = eddy__region_take(&r->base.memory, s->room, sizeof *s->names);
        if (!s->names) {
            *s = old;
            return eddy__reading_no_memory(&r->base);
        }
        for (size_t i = 0; i < old.room; i++)
            if (old.names[i].name) *slot(s, old.names[i].name) = old.names[i];
    }
    onnx_name *n = slot(s, name);
    s->used += !n->name;
    *n = (onnx_name){ name, v };
    return true;
}

onnx_scope *eddy__onnx_scope(onnx_reader *r, onnx_scope *outer, const char *place)
{
    onnx_scope *s = eddy__region_take(&r->base.memory, 1, sizeof *s);
    if (!s || !place) {
        eddy__reading_no_memory(&r->base);
        return NULL;
    }
    *s = (onnx_scope){ .outer = outer, .place = place };
    if (outer) {
        s->imports = outer->imports;
        s->n_imports = outer->n_imports;
        s->depth = outer->depth + 1;
    }
    return s;
}

/* ---------------------------------------------------------------- entries -- */

static const char *place_of(const onnx_build *b, const onnx_scope *s, size_t index)
{
    const char *p =
        eddy__region_print(b->memory, b->node->name[0] ? "%snode %zu '%s'" : "%snode %zu", s->place,
                           index, b->node->name);
    return p ? p : "";
}

static void add_entry(onnx_reader *r, const onnx_build *b, const char *place)
{
    const int64_t offset = b->node->at - eddy__source_bytes(r->base.file).at;
    const eddy_model_entry e = { .op = b->node->op, .domain = b->node->domain, .place = place,
                                 .offset = offset, .support = b->support,
                                 .reason = b->reason ? b->reason : "" };
    if (!eddy__report_add(&r->base.entries, e)) eddy__reading_no_memory(&r->base);
}

/* ------------------------------------------------------------------- nodes -- */

static bool is_own(const char *domain) { return !*domain || strcmp(domain, "ai.onnx") == 0; }

static int64_t version_of(const onnx_scope *s, const char *domain)
{
    for (size_t i = 0; i < s->n_imports; i++)
        if (strcmp(s->imports[i].domain, domain) == 0 ||
            (is_own(domain) && is_own(s->imports[i].domain)))
            return s->imports[i].version > INT32_MAX ? INT32_MAX : s->imports[i].version;
    return 1;
}

static const onnx_function *function_of(const onnx_reader *r, const onnx_node *n)
{
    for (size_t i = 0; i < r->model.n_functions; i++)
        if (strcmp(r->model.functions[i].name, n->op) == 0 &&
            strcmp(r->model.functions[i].domain, n->domain) == 0)
            return &r->model.functions[i];
    return NULL;
}

/* A call of a function of the file: its nodes, in a scope of their own. */
static bool inline_function(onnx_build *b, const onnx_function *f, const char *place)
{
    onnx_reader *r = b->reader;
    if (b->scope->depth >= ONNX_MAX_DEPTH)
        return eddy__onnx_missing(b, "functions are nested too deeply");
    onnx_scope *s =
        eddy__onnx_scope(r, NULL, eddy__region_print(&r->base.memory, "%s function ", place));
    if (!s) return false;
    s->imports = f->imports;
    s->n_imports = f->n_imports;
    s->function = f;
    s->call = b->node;
    s->caller = b->scope;
    s->depth = b->scope->depth + 1;
    for (size_t i = 0; i < f->n_inputs; i++) {
        onnx_value *v = i < (size_t)b->n_in ? b->in[i] : NULL;
        if (!v) v = eddy__onnx_new_value(b);
        if (!v || !eddy__onnx_define(r, s, f->inputs[i], v)) return false;
    }
    if (!eddy__onnx_nodes(r, s, f->nodes, f->n_nodes)) return false;
    for (size_t i = 0; i < f->n_outputs && i < (size_t)b->n_out; i++) {
        b->out[i] = eddy__onnx_lookup(s, f->outputs[i]);
        if (!b->out[i])
            return eddy__onnx_invalid(b, "the function does not define '%s'", f->outputs[i]);
    }
    return true;
}

/* The inputs by name. */
static bool find_inputs(onnx_build *b, bool *unknown)
{
    b->n_in = (int)b->node->n_inputs;
    b->in = eddy__region_take(b->memory, b->node->n_inputs, sizeof *b->in);
    for (int i = 0; b->in && i < b->n_in; i++) {
        if (!b->node->inputs[i][0]) continue;
        b->in[i] = eddy__onnx_lookup(b->scope, b->node->inputs[i]);
        if (!b->in[i])
            return eddy__onnx_invalid(b, "input '%s' is not defined", b->node->inputs[i]);
        if (b->in[i]->unknown) *unknown = true;
    }
    return b->in != NULL;
}

/* Whether a builder complains of an input that is not a tensor. */
static bool is_of_no_tensor(const char *text)
{
    return strstr(text, "not a valid tensor") || strstr(text, " to ?");
}

/* Errors of builders, and outputs that were not set. An input that is missing or no tensor makes
 * its builder fail: the reason for that says more. */
static bool check_outputs(onnx_build *b)
{
    const eddy_status status = eddy_graph_status(b->graph);
    const char       *text = eddy_graph_message(b->graph);
    if (status != EDDY_OK) eddy__onnx_only_tensors(b);
    if (status != EDDY_OK && (!b->reason || status == EDDY_NO_MEMORY)) {
        b->reason = b->absent >= 0 && is_of_no_tensor(text)
                        ? eddy__region_print(b->memory, "input %d is missing", b->absent)
                        : eddy__region_print(b->memory, "%s", text);
        b->status = status;
        b->support = EDDY_MODEL_MISSING;
        if (!b->reason) b->reason = "out of memory";
    }
    if (status != EDDY_OK) return false;
    for (int i = 0; i < b->n_out; i++)
        if (b->node->outputs[i][0] && !b->out[i])
            return eddy__onnx_missing(b, "output %d is not supported", i);
    return true;
}

static bool is_random(const onnx_build *b)
{
    return strncmp(b->node->op, "Random", 6) == 0 || strcmp(b->node->op, "Bernoulli") == 0 ||
        strcmp(b->node->op, "Multinomial") == 0 || strcmp(b->node->op, "Dropout") == 0;
}

static void mark_constants(onnx_build *b)
{
    bool constant = !is_random(b);
    for (int i = 0; i < b->n_in; i++)
        if (b->in[i] && b->in[i]->kind == ONNX_TENSOR && !b->in[i]->constant) constant = false;
        else if (b->in[i] && b->in[i]->kind == ONNX_SEQUENCE) constant = false;
        else if (b->in[i] && b->reader->options.variables && b->in[i]->weight &&
                 eddy__onnx_is_float(b->in[i]->type))
            constant = false;
    for (int i = 0; i < b->n_out; i++)
        if (b->out[i] && b->out[i]->kind == ONNX_TENSOR &&
            (constant || eddy_constant_value(b->out[i]->t)))
            b->out[i]->constant = true;
}

static void unknown_operator(onnx_build *b)
{
    const char          *op = b->node->op, *domain = b->node->domain;
    const onnx_operator *later = eddy__onnx_find(is_own(domain) ? "" : domain, op, INT32_MAX);
    if (later)
        eddy__onnx_missing(b, "operator %s is not in operator set %d", op, b->version);
    else if (*domain) eddy__onnx_missing(b, "operator %s of domain '%s' is not known", op, domain);
    else eddy__onnx_missing(b, "operator %s is not known", op);
}

static bool is_number(const char *s) { return *s && !s[strspn(s, "0123456789")]; }

/* eddy_onnx_write names a node "a/b/hidden:Tanh5": the length of "a/b/hidden"; 0 for
 * other names. */
static size_t own_length(const onnx_node *node)
{
    const size_t n = strlen(node->op);
    const char  *colon = strchr(node->name, ':');
    if (!colon || strncmp(colon + 1, node->op, n) != 0 || !is_number(colon + 1 + n)) return 0;
    return (size_t)(colon - node->name);
}

/* Whether a node of Eddy has become this one alone: its neighbors have other names. */
static bool is_alone(const onnx_node *nodes, size_t count, size_t i)
{
    const size_t n = own_length(&nodes[i]);
    for (size_t k = i > 0 ? i - 1 : i + 1; k < count && k <= i + 1; k += 2)
        if (own_length(&nodes[k]) == n && strncmp(nodes[k].name, nodes[i].name, n) == 0)
            return false;
    return n > 0;
}

/* The scope for the nodes that are built; "" for none. A node of Eddy is built in the scope that it
 * had, any other one in a scope with its own name. */
static const char *scope_of(const onnx_build *b)
{
    region     *memory = &b->reader->base.memory;
    const char *name = b->node->name[0] ? b->node->name : b->node->op;
    size_t      n = own_length(b->node);
    if (n == 0) return eddy__name_clean(memory, name);
    while (n > 0 && name[n] != '/') n--;
    const char *outer = eddy__region_print(memory, "%.*s", (int)n, name);
    if (!outer || !*outer) return "";
    return eddy__region_print(memory, "%s%s/", eddy_scope_name(b->graph),
                              eddy__name_clean(memory, outer));
}

/* Gives the last node that was built the name that the node had in Eddy. */
static void name_again(onnx_build *b)
{
    const unsigned    weight = EDDY_OP_CONSTANT | EDDY_OP_VARIABLE;
    region           *memory = &b->reader->base.memory;
    const eddy_tensor last = eddy_node_at(b->graph, eddy_graph_size(b->graph));
    const char *own = b->node->name, *end = own + own_length(b->node), *at = end;
    while (at > own && at[-1] != '/') at--;
    const char *text = eddy__region_print(memory, "%.*s", (int)(end - at), at);
    /* a scope may be almost as long as a name may be */
    if (text && *text && strlen(eddy_scope_name(b->graph)) < EDDY_MAX_NAME / 2 &&
        !(eddy_node_of(last)->op->flags & weight))
        eddy_named(eddy__name_clean(memory, text), last);
}

static void build(onnx_build *b, const char *place)
{
    onnx_reader         *r = b->reader;
    const onnx_function *f = function_of(r, b->node);
    const int32_t        before = eddy_graph_size(r->base.graph);
    if (!b->op && !f) {
        unknown_operator(b);
        return;
    }
    const char *scope = scope_of(b);
    const bool  scoped = scope && *scope;
    if (scoped) eddy_scope_begin(r->base.graph, scope);
    const bool ok = f ? inline_function(b, f, place) : b->op->build(b);
    if (ok && b->alone && eddy_graph_size(r->base.graph) > before) name_again(b);
    if (scoped) eddy_scope_end(r->base.graph);
    if (!ok || b->reason) {
        if (eddy_graph_status(b->graph) != EDDY_OK) check_outputs(b);
        eddy__onnx_missing(b, "it cannot be built");
        return;
    }
    if (!check_outputs(b)) return;
    b->support =
        eddy_graph_size(r->base.graph) - before > 1 ? EDDY_MODEL_COMPOSED : EDDY_MODEL_NATIVE;
    if (b->op) mark_constants(b);
    eddy__onnx_propagate(b);
}

/* Defines the outputs, as unknown ones if the node was not built. */
static bool define_outputs(onnx_build *b, bool built)
{
    for (int i = 0; i < b->n_out; i++) {
        if (!b->node->outputs[i][0]) continue;
        onnx_value *v = built ? b->out[i] : eddy__onnx_new_value(b);
        if (!v) return eddy__reading_no_memory(&b->reader->base);
        if (!built) *v = (onnx_value){ .kind = ONNX_TENSOR, .unknown = true };
        if (!eddy__onnx_define(b->reader, b->scope, b->node->outputs[i], v)) return false;
    }
    return true;
}

/* Those of functions and bodies count each time: a small file must not take much memory. */
static int64_t most_nodes(const onnx_reader *r)
{
    return (1 << 16) + (int64_t)(eddy__source_bytes(r->base.file).size / 4);
}

static bool one_node(onnx_reader *r, onnx_scope *s, const onnx_node *nodes, size_t count,
                     size_t index)
{
    const onnx_node *n = &nodes[index];
    onnx_build  b = { .reader = r,
                      .scope = s,
                      .graph = r->base.graph,
                      .memory = &r->base.memory,
                      .node = n,
                      .alone = is_alone(nodes, count, index),
                      .n_out = (int)n->n_outputs,
                      .support = EDDY_MODEL_UNKNOWN,
                      .absent = -1 };
    const char *place = place_of(&b, s, index);
    const int   entry = r->base.entries.count;
    bool        unknown = false;
    if (++r->base.nodes > most_nodes(r)) return eddy__onnx_error(r, EDDY_LIMIT, "too many nodes");
    b.version = (int)version_of(s, n->domain);
    b.op = eddy__onnx_find(is_own(n->domain) ? "" : n->domain, n->op, b.version);
    b.out = eddy__region_take(&r->base.memory, n->n_outputs, sizeof *b.out);
    if (!b.out) return eddy__reading_no_memory(&r->base);
    if (find_inputs(&b, &unknown) && !unknown) build(&b, place);
    if (unknown && !b.reason) b.reason = "it depends on a node that cannot be built";
    if (r->base.failed) return false;
    if (b.reason) {
        if (b.status == EDDY_OK) b.status = EDDY_UNIMPLEMENTED;
        /* The nodes of a function or a body say more than the call. */
        if (!r->base.reporting || b.status == EDDY_NO_MEMORY)
            return eddy__onnx_error(r, b.status, "%s (%s): %s", place, n->op, b.reason);
        eddy_graph_clear_error(r->base.graph);
    }
    if (r->base.reporting && (!function_of(r, n) || r->base.entries.count == entry))
        add_entry(r, &b, place);
    return define_outputs(&b, !b.reason);
}

bool eddy__onnx_nodes(onnx_reader *r, onnx_scope *s, const onnx_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!one_node(r, s, nodes, count, i)) return false;
    return !r->base.failed;
}

/* --------------------------------------------------------------- subgraphs -- */

bool eddy__onnx_weights(onnx_reader *r, onnx_scope *s, const onnx_graph *g)
{
    for (size_t i = 0; i < g->n_initializers; i++) {
        onnx_value *v = eddy__onnx_tensor_value(r, &g->initializers[i]);
        if (!v || !eddy__onnx_define(r, s, g->initializers[i].name, v)) return false;
    }
    for (size_t i = 0; i < g->n_sparse; i++) {
        onnx_value *v = eddy__onnx_sparse_value(r, &g->sparse[i]);
        if (!v || !eddy__onnx_define(r, s, g->sparse[i].values.name, v)) return false;
    }
    return true;
}

bool eddy__onnx_subgraph(onnx_build *b, const onnx_graph *g, const char *what,
                         onnx_value *const *in, onnx_value **out)
{
    onnx_reader *r = b->reader;
    if (b->scope->depth >= ONNX_MAX_DEPTH)
        return eddy__onnx_missing(b, "graphs are nested too deeply");
    const char *place =
        eddy__region_print(&r->base.memory, b->node->name[0] ? "%snode '%s' %s " : "%s%s %s ",
                           b->scope->place, b->node->name[0] ? b->node->name : b->node->op, what);
    onnx_scope *s = eddy__onnx_scope(r, b->scope, place);
    if (!s || !eddy__onnx_weights(r, s, g)) return false;
    for (size_t i = 0; i < g->n_inputs; i++)
        if (!eddy__onnx_define(r, s, g->inputs[i].name, in[i])) return false;
    if (!eddy__onnx_nodes(r, s, g->nodes, g->n_nodes)) return false;
    for (size_t i = 0; i < g->n_outputs; i++) {
        out[i] = eddy__onnx_lookup(s, g->outputs[i].name);
        if (!out[i])
            return eddy__onnx_invalid(b, "the %s does not define '%s'", what, g->outputs[i].name);
        if (out[i]->unknown) return eddy__onnx_missing(b, "a node of the %s cannot be built", what);
    }
    return true;
}
