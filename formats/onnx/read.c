/* read.c -- the public calls. A model is built twice, first in a graph of its own as a trial, so
 * that an error leaves the caller's graph as it was. */
#include "reader.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ opening -- */

static bool open_file(onnx_reader *r, const eddy_onnx_args *given)
{
    /* The members that the caller's version of the struct has. */
    r->options = (eddy_onnx_args){ eddy_onnx_args_DEFAULTS .size_ = sizeof r->options };
    if (given) {
        const size_t size = given->size_ & ~EDDY_INSIDE_SIZE;
        memcpy(&r->options, given, size < sizeof r->options ? size : sizeof r->options);
    }
    if (r->options.error) *r->options.error = (eddy_error){ 0 };
    r->path = r->options.path ? r->options.path : "ONNX model";
    if (!r->options.path && !r->options.data)
        return eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "there is neither a path nor data");
    if (r->options.input_count < 0 || (r->options.input_count && !r->options.inputs))
        return eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "the bindings are missing");
    eddy_error e = { 0 };
    r->file = r->options.data ? eddy__source_copy(r->options.data, r->options.data_size, &e)
            : eddy__source_read(r->options.path, r->options.files, r->options.max_bytes, &e);
    if (!r->file) {
        r->failed = true;
        return eddy__format_fail(r->options.error, e.status, "%s", e.message);
    }
    const wire_bytes all = eddy__source_bytes(r->file);
    const uint8_t   *at = NULL;
    if (!eddy__onnx_parse(&r->memory, all, &r->model, &at))
        return r->memory.full ? eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory")
            : eddy__onnx_error(r, EDDY_CORRUPT, "this is not an ONNX model: byte %lld is damaged",
                               at ? (long long)(at - all.at) : 0LL);
    if (!r->model.graph)
        return eddy__onnx_error(r, EDDY_CORRUPT, "this is not an ONNX model: it has no graph");
    return true;
}

void eddy__onnx_close(onnx_reader *r)
{
    eddy_session_free(r->session);
    for (onnx_kept *k = r->kept; k; k = k->next) {
        eddy_array_free(k->array);
        eddy__source_release(k->file);
    }
    eddy__source_release(r->file);
    free(r->entries);
    eddy__region_free(&r->memory);
    *r = (onnx_reader){ 0 };
}

/* ------------------------------------------------------------------- inputs -- */

static const eddy_onnx_binding *binding_of(const onnx_reader *r, const char *name)
{
    for (int i = 0; i < r->options.input_count; i++)
        if (r->options.inputs[i].name && strcmp(r->options.inputs[i].name, name) == 0)
            return &r->options.inputs[i];
    return NULL;
}

/* In a trial, what takes the place of a tensor of the caller's graph. */
static eddy_tensor stand_in(onnx_reader *r, eddy_tensor t, bool trial)
{
    if (!trial) return t;
    const eddy_array *value = eddy_constant_value(t);
    if (value) return eddy_constant(r->graph, .value = value);
    return eddy_placeholder(r->graph, "bound", eddy_dtype_of(t), eddy_shape_of(t));
}

static onnx_value *bound(onnx_reader *r, const onnx_info *info, eddy_tensor given, bool trial)
{
    const eddy_dtype d = eddy_dtype_of(given), compute = eddy__onnx_dtype(info->type);
    onnx_value      *v = eddy__region_take(&r->memory, 1, sizeof *v);
    if (!v) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory"), NULL;
    if (!eddy_is_valid(given) || (!trial && given.graph != r->graph) ||
        compute == EDDY_DEFAULT_DTYPE || (d != compute && d != eddy__onnx_stored(info->type)) ||
        !eddy_shape_compatible(eddy_shape_of(given), info->shape)) {
        char shape[100];
        eddy__onnx_error(r, EDDY_INVALID_ARGUMENT,
                         "input '%s' is %s%s; the tensor given for it is not", info->name,
                         eddy__onnx_type_name(info->type),
                         eddy_shape_print(info->shape, shape, sizeof shape));
        return NULL;
    }
    *v = (onnx_value){ .kind = ONNX_TENSOR, .type = info->type };
    const eddy_array *value = eddy_constant_value(given);
    v->constant = value != NULL;
    v->t = eddy_cast(stand_in(r, given, trial), compute);
    if (value && d == compute) {
        v->array = eddy_array_copy(value);
        if (!eddy__onnx_keep(r, v->array)) return NULL;
    }
    return v;
}

static onnx_value *placeholder(onnx_reader *r, const onnx_info *info)
{
    onnx_value *v = eddy__region_take(&r->memory, 1, sizeof *v);
    if (!v) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory"), NULL;
    *v = (onnx_value){ .kind = ONNX_TENSOR, .type = info->type };
    const eddy_dtype stored = eddy__onnx_stored(info->type);
    if (info->kind == ONNX_TENSOR && info->type == ONNX_STRING) return v;
    if (info->kind == ONNX_TENSOR && stored != EDDY_DEFAULT_DTYPE) {
        v->t =
            eddy_placeholder(r->graph, eddy__onnx_clean_name(r, info->name), stored, info->shape);
        return v;
    }
    v->unknown = r->reporting;
    if (r->reporting) return v;
    eddy__onnx_error(r, EDDY_UNIMPLEMENTED, "input '%s' is %s: bind it to tensors", info->name,
                     info->kind == ONNX_SEQUENCE ? "a sequence"
                     : info->kind == ONNX_OPTIONAL ? "an optional value" : "no tensor");
    return NULL;
}

static onnx_value *sequence(onnx_reader *r, const onnx_info *info, eddy_list given, bool trial)
{
    onnx_value  *v = eddy__region_take(&r->memory, 1, sizeof *v);
    onnx_value **items = eddy__region_take(&r->memory, (size_t)given.count, sizeof *items);
    if (!v || !items) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory"), NULL;
    for (int i = 0; i < given.count; i++) {
        items[i] = bound(r, info, given.at[i], trial);
        if (!items[i]) return NULL;
    }
    *v = (onnx_value){
        .kind = ONNX_SEQUENCE, .type = info->type, .items = items, .count = given.count
    };
    return v;
}

/* Also fills the port, with the tensors that a program feeds. */
static onnx_value *input(onnx_reader *r, const onnx_info *info, bool trial)
{
    const eddy_onnx_binding *b = binding_of(r, info->name);
    if (!b) return placeholder(r, info);
    const int n = b->tensors.count;
    const bool many = info->kind == ONNX_SEQUENCE ||
        (info->kind == ONNX_OPTIONAL && info->element_kind == ONNX_SEQUENCE);
    if (n < 0 || (n && !b->tensors.at) || (!many && n > 1) ||
        (info->kind == ONNX_TENSOR && n != 1)) {
        eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "input '%s' cannot be %d tensors", info->name,
                         n);
        return NULL;
    }
    if (many) return sequence(r, info, b->tensors, trial);
    if (n == 1) return bound(r, info, b->tensors.at[0], trial);
    onnx_value *none = eddy__region_take(&r->memory, 1, sizeof *none);
    if (!none) eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory");
    return none;
}

static bool is_weight(const onnx_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializers; i++)
        if (strcmp(g->initializers[i].name, name) == 0) return true;
    return false;
}

/* An initializer that is also an input is a weight, unless it is bound: operator sets before 9
 * list all weights as inputs. */
static bool inputs(onnx_reader *r, bool trial)
{
    const onnx_graph *g = r->model.graph;
    for (size_t i = 0; i < g->n_inputs; i++) {
        const onnx_info *info = &g->inputs[i];
        if (eddy__onnx_lookup(r->main, info->name) && !binding_of(r, info->name)) continue;
        onnx_value *v = input(r, info, trial);
        if (!v || !eddy__onnx_define(r, r->main, info->name, v)) return false;
    }
    for (int i = 0; i < r->options.input_count; i++) {
        bool found = false;
        for (size_t k = 0; r->options.inputs[i].name && k < g->n_inputs; k++)
            found = found || strcmp(g->inputs[k].name, r->options.inputs[i].name) == 0;
        if (!found)
            return eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "there is no input '%s'",
                                    r->options.inputs[i].name ? r->options.inputs[i].name : "");
    }
    return true;
}

/* The casts of placeholders of halves. */
static void compute_inputs(onnx_reader *r)
{
    const onnx_graph *g = r->model.graph;
    for (size_t i = 0; i < g->n_inputs; i++) {
        onnx_value *v = eddy__onnx_lookup(r->main, g->inputs[i].name);
        if (v && v->kind == ONNX_TENSOR && eddy_is_valid(v->t) && !v->weight)
            v->t = eddy_cast(v->t, eddy__onnx_dtype(v->type));
    }
}

static eddy_tensor output_tensor(onnx_reader *r, onnx_value *v)
{
    onnx_build        b = { .reader = r, .graph = r->graph, .memory = &r->memory };
    const eddy_tensor t = eddy__onnx_tensor_of(&b, v);
    if (b.reason) eddy__onnx_error(r, b.status, "an output: %s", b.reason);
    return eddy_is_valid(t) ? eddy_cast(t, eddy__onnx_stored(v->type)) : t;
}

static bool ports(onnx_reader *r, onnx_port *p, onnx_value *v, const onnx_info *info,
                  bool is_output)
{
    *p = (onnx_port){ .name = info->name, .type = v->type, .single = v->kind == ONNX_TENSOR,
                 .count = v->kind == ONNX_TENSOR ? 1 : v->kind == ONNX_SEQUENCE ? v->count : 0 };
    p->tensors = eddy__region_take(&r->memory, (size_t)p->count, sizeof *p->tensors);
    if (!p->tensors) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory");
    for (int i = 0; i < p->count; i++) {
        onnx_value *one = p->single ? v : v->items[i];
        p->tensors[i] = is_output ? output_tensor(r, one) : one->t;
    }
    return !r->failed;
}

/* ------------------------------------------------------------------- passes -- */

/* Weights and inputs of the model in g, in its current scope; in a trial with stand-ins for the
 * caller's tensors. */
static bool begin_pass(onnx_reader *r, eddy_graph *g, bool trial)
{
    r->graph = g;
    r->nodes = 0;
    r->main = eddy__onnx_scope(r, NULL, "");
    if (!r->main) return false;
    r->main->imports = r->model.imports;
    r->main->n_imports = r->model.n_imports;
    r->root = eddy__region_print(&r->memory, "%s", eddy_scope_name(g));
    if (!r->root) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory");
    return eddy__onnx_weights(r, r->main, r->model.graph) && inputs(r, trial);
}

static bool build_nodes(onnx_reader *r)
{
    compute_inputs(r);
    if (!eddy__onnx_nodes(r, r->main, r->model.graph->nodes, r->model.graph->n_nodes)) return false;
    for (size_t i = 0; i < r->model.graph->n_outputs; i++)
        if (!eddy__onnx_lookup(r->main, r->model.graph->outputs[i].name))
            return eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "output '%s' is not defined",
                                    r->model.graph->outputs[i].name);
    return true;
}

/* The ports of the outputs, which may need nodes too. */
static bool outputs(onnx_reader *r, onnx_port *p)
{
    const onnx_graph *g = r->model.graph;
    for (size_t i = 0; i < g->n_outputs; i++) {
        onnx_value *v = eddy__onnx_lookup(r->main, g->outputs[i].name);
        if (!ports(r, &p[i], v, &g->outputs[i], true)) return false;
    }
    return true;
}

static bool trial_outputs(onnx_reader *r)
{
    onnx_port *p = eddy__region_take(&r->memory, r->model.graph->n_outputs, sizeof *p);
    return p ? outputs(r, p) : eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory");
}

static bool trial(onnx_reader *r)
{
    eddy_graph *g = eddy_graph_new();
    if (!g) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory");
    eddy_scope_begin(g, r->options.scope);
    bool ok = begin_pass(r, g, true) && build_nodes(r) && (r->reporting || trial_outputs(r));
    eddy_scope_end(g);
    if (ok && eddy_graph_status(g) != EDDY_OK)
        ok = eddy__onnx_error(r, eddy_graph_status(g), "%s", eddy_graph_message(g));
    eddy_session_free(r->session);
    r->session = NULL;
    eddy_graph_free(g);
    return ok;
}

/* In the caller's graph. */
static bool finish(onnx_reader *r, eddy_onnx_model *m)
{
    const onnx_graph *g = r->model.graph;
    m->inputs = eddy__region_take(&r->memory, g->n_inputs, sizeof *m->inputs);
    m->outputs = eddy__region_take(&r->memory, g->n_outputs, sizeof *m->outputs);
    if (!m->inputs || !m->outputs) return eddy__onnx_error(r, EDDY_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < g->n_inputs; i++) {
        onnx_value *v = eddy__onnx_lookup(r->main, g->inputs[i].name);
        if (v->weight || (is_weight(g, g->inputs[i].name) && !binding_of(r, g->inputs[i].name)))
            continue;
        if (!ports(r, &m->inputs[m->n_inputs++], v, &g->inputs[i], false)) return false;
    }
    if (!build_nodes(r)) return false;
    if (!outputs(r, m->outputs)) return false;
    m->n_outputs = (int)g->n_outputs;
    if (eddy_graph_status(r->graph) != EDDY_OK)
        return eddy__onnx_error(r, eddy_graph_status(r->graph), "%s", eddy_graph_message(r->graph));
    m->main = r->main;
    return true;
}

static bool read_into(onnx_reader *r, eddy_onnx_model *m)
{
    eddy_graph *g = r->options.graph;
    if (!g) return eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "there is no graph");
    if (eddy_graph_status(g) != EDDY_OK)
        return eddy__onnx_error(r, eddy_graph_status(g), "the graph has an error: %s",
                                eddy_graph_message(g));
    if (eddy_graph_is_finalized(g))
        return eddy__onnx_error(r, EDDY_FINALIZED, "the graph is finalized");
    if (!trial(r)) return false;
    eddy_scope_begin(g, r->options.scope);
    const bool ok = begin_pass(r, g, false) && finish(r, m);
    eddy_scope_end(g);
    return ok;
}

eddy_onnx_model *eddy_onnx_read_with(const eddy_onnx_args *given)
{
    onnx_reader      r = { 0 };
    eddy_onnx_model *m = calloc(1, sizeof *m);
    bool             ok = open_file(&r, given);
    if (ok && !m) ok = eddy__onnx_error(&r, EDDY_NO_MEMORY, "out of memory");
    if (ok && read_into(&r, m)) {
        m->memory = r.memory;           /* the names, and the values by name */
        r.memory = (region){ 0 };
    } else {
        free(m);
        m = NULL;
    }
    eddy__onnx_close(&r);
    return m;
}

/* ------------------------------------------------------------------- report -- */

eddy_onnx_report *eddy_onnx_check_with(const eddy_onnx_args *given)
{
    onnx_reader       r = { 0 };
    eddy_onnx_report *report = calloc(1, sizeof *report);
    bool              ok = open_file(&r, given);
    if (ok && !report) ok = eddy__onnx_error(&r, EDDY_NO_MEMORY, "out of memory");
    r.reporting = true;
    if (ok && trial(&r)) {
        *report = (eddy_onnx_report){ r.memory, r.entries, r.n_entries };
        r.memory = (region){ 0 };
        r.entries = NULL;
    } else {
        free(report);
        report = NULL;
    }
    eddy__onnx_close(&r);
    return report;
}

int eddy_onnx_report_size(const eddy_onnx_report *r) { return r ? r->count : 0; }

const eddy_onnx_entry *eddy_onnx_report_at(const eddy_onnx_report *r, int i)
{
    return r && i >= 0 && i < r->count ? &r->entries[i] : NULL;
}

void eddy_onnx_report_free(eddy_onnx_report *r)
{
    if (!r) return;
    free(r->entries);
    eddy__region_free(&r->memory);
    free(r);
}
