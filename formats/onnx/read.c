/* read.c -- the public calls, inputs and outputs of a model. */
#include "reader.h"


#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ opening -- */

static bool open_file(onnx_reader *r, const eddy_onnx_args *given)
{
    r->options = (eddy_onnx_args){ eddy_onnx_args_DEFAULTS .size_ = sizeof r->options };
    eddy_copy_options(&r->options, given);
    const eddy_onnx_args *o = &r->options;
    if (!eddy__reading_begin(&r->base, o->error, o->path, o->data, "ONNX model")) return false;
    if (o->input_count < 0 || (o->input_count && !o->inputs))
        return eddy__onnx_error(r, EDDY_INVALID_ARGUMENT, "the bindings are missing");
    if (!eddy__reading_open(&r->base, o->data, o->data_size, o->files, o->max_bytes)) return false;
    const wire_bytes all = eddy__source_bytes(r->base.file);
    const uint8_t   *at = NULL;
    if (!eddy__onnx_parse(&r->base.memory, all, &r->model, &at))
        return r->base.memory.full ? eddy__reading_no_memory(&r->base)
            : eddy__onnx_error(r, EDDY_CORRUPT, "this is not an ONNX model: byte %lld is damaged",
                               at ? (long long)(at - all.at) : 0LL);
    if (!r->model.graph)
        return eddy__onnx_error(r, EDDY_CORRUPT, "this is not an ONNX model: it has no graph");
    return true;
}

void eddy__onnx_close(onnx_reader *r)
{
    for (onnx_external *k = r->external; k; k = k->next) eddy__source_release(k->file);
    eddy__reading_close(&r->base);
    *r = (onnx_reader){ 0 };
}

/* ------------------------------------------------------------------- inputs -- */

static const eddy_model_binding *binding_of(const onnx_reader *r, const char *name)
{
    for (int i = 0; i < r->options.input_count; i++)
        if (r->options.inputs[i].name && strcmp(r->options.inputs[i].name, name) == 0)
            return &r->options.inputs[i];
    return NULL;
}

static onnx_value *bound(onnx_reader *r, const onnx_info *info, eddy_tensor given)
{
    const eddy_dtype d = eddy_dtype_of(given), compute = eddy__onnx_dtype(info->type);
    onnx_value      *v = eddy__region_take(&r->base.memory, 1, sizeof *v);
    if (!v) return eddy__reading_no_memory(&r->base), NULL;
    if (!eddy_is_valid(given) || (!r->base.trial && given.graph != r->base.graph) ||
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
    v->t = eddy_cast(eddy__reading_stand_in(&r->base, given), compute);
    if (value && d == compute) {
        v->array = eddy_array_copy(value);
        if (!eddy__reading_keep(&r->base, v->array)) return NULL;
    }
    return v;
}

static onnx_value *placeholder(onnx_reader *r, const onnx_info *info)
{
    onnx_value *v = eddy__region_take(&r->base.memory, 1, sizeof *v);
    if (!v) return eddy__reading_no_memory(&r->base), NULL;
    *v = (onnx_value){ .kind = ONNX_TENSOR, .type = info->type };
    const eddy_dtype stored = eddy__onnx_stored(info->type);
    if (info->kind == ONNX_TENSOR && info->type == ONNX_STRING) return v;
    if (info->kind == ONNX_TENSOR && stored != EDDY_DEFAULT_DTYPE) {
        v->t = eddy_placeholder(r->base.graph, eddy__name_clean(&r->base.memory, info->name),
                                stored, info->shape);
        return v;
    }
    v->unknown = r->base.reporting;
    if (r->base.reporting) return v;
    eddy__onnx_error(r, EDDY_UNIMPLEMENTED, "input '%s' is %s: bind it to tensors", info->name,
                     info->kind == ONNX_SEQUENCE ? "a sequence"
                     : info->kind == ONNX_OPTIONAL ? "an optional value" : "no tensor");
    return NULL;
}

static onnx_value *sequence(onnx_reader *r, const onnx_info *info, eddy_list given)
{
    onnx_value  *v = eddy__region_take(&r->base.memory, 1, sizeof *v);
    onnx_value **items = eddy__region_take(&r->base.memory, (size_t)given.count, sizeof *items);
    if (!v || !items) return eddy__reading_no_memory(&r->base), NULL;
    for (int i = 0; i < given.count; i++) {
        items[i] = bound(r, info, given.at[i]);
        if (!items[i]) return NULL;
    }
    *v = (onnx_value){
        .kind = ONNX_SEQUENCE, .type = info->type, .items = items, .count = given.count
    };
    return v;
}

/* Also fills the port, with the tensors that a program feeds. */
static onnx_value *input(onnx_reader *r, const onnx_info *info)
{
    const eddy_model_binding *b = binding_of(r, info->name);
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
    if (many) return sequence(r, info, b->tensors);
    if (n == 1) return bound(r, info, b->tensors.at[0]);
    onnx_value *none = eddy__region_take(&r->base.memory, 1, sizeof *none);
    if (!none) eddy__reading_no_memory(&r->base);
    return none;
}

/* An initializer that is also an input is a weight, unless it is bound: operator sets before 9
 * list all weights as inputs. */
static bool inputs(onnx_reader *r)
{
    const onnx_graph *g = r->model.graph;
    for (size_t i = 0; i < g->n_inputs; i++) {
        const onnx_info *info = &g->inputs[i];
        if (eddy__onnx_lookup(r->main, info->name) && !binding_of(r, info->name)) continue;
        onnx_value *v = input(r, info);
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
        if (v->kind == ONNX_TENSOR && eddy_is_valid(v->t))
            v->t = eddy_cast(v->t, eddy__onnx_dtype(v->type));
    }
}

static eddy_tensor output_tensor(onnx_reader *r, onnx_value *v)
{
    onnx_build        b = { .reader = r, .graph = r->base.graph, .memory = &r->base.memory };
    const eddy_tensor t = eddy__onnx_tensor_of(&b, v);
    if (b.reason) eddy__onnx_error(r, b.status, "an output: %s", b.reason);
    return eddy_is_valid(t) ? eddy_cast(t, eddy__onnx_stored(v->type)) : t;
}

static bool ports(onnx_reader *r, onnx_port *p, onnx_value *v, const onnx_info *info,
                  bool is_output)
{
    *p = (onnx_port){ .name = info->name, .type = v->type, .single = v->kind == ONNX_TENSOR,
                 .count = v->kind == ONNX_TENSOR ? 1 : v->kind == ONNX_SEQUENCE ? v->count : 0 };
    p->tensors = eddy__region_take(&r->base.memory, (size_t)p->count, sizeof *p->tensors);
    if (!p->tensors) return eddy__reading_no_memory(&r->base);
    for (int i = 0; i < p->count; i++) {
        onnx_value *one = p->single ? v : v->items[i];
        p->tensors[i] = is_output ? output_tensor(r, one) : one->t;
    }
    return !r->base.failed;
}

/* ------------------------------------------------------------------- passes -- */

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

static bool pass(reading *base)
{
    onnx_reader      *r = (onnx_reader *)base;
    const onnx_graph *g = r->model.graph;
    eddy_onnx_model  *m = r->made;
    *m = (eddy_onnx_model){ .n_outputs = (int)g->n_outputs };
    m->main = r->main = eddy__onnx_scope(r, NULL, "");
    m->inputs = eddy__region_take(&base->memory, g->n_inputs, sizeof *m->inputs);
    m->outputs = eddy__region_take(&base->memory, g->n_outputs, sizeof *m->outputs);
    if (!r->main) return false;
    if (!m->inputs || !m->outputs) return eddy__reading_no_memory(base);
    r->main->imports = r->model.imports;
    r->main->n_imports = r->model.n_imports;
    if (!eddy__onnx_weights(r, r->main, g) || !inputs(r)) return false;
    for (size_t i = 0; i < g->n_inputs; i++) {
        onnx_value *v = eddy__onnx_lookup(r->main, g->inputs[i].name);
        if (v->weight) continue;
        if (!ports(r, &m->inputs[m->n_inputs++], v, &g->inputs[i], false)) return false;
    }
    return build_nodes(r) && (base->reporting || outputs(r, m->outputs));
}

eddy_onnx_model *eddy_onnx_read_with(const eddy_onnx_args *given)
{
    onnx_reader      r = { .made = calloc(1, sizeof(eddy_onnx_model)) };
    eddy_onnx_model *m = r.made;
    bool             ok = open_file(&r, given) && (m || eddy__reading_no_memory(&r.base));
    ok = ok && eddy__reading_build(&r.base, r.options.graph, r.options.scope, pass);
    if (ok) {
        m->memory = r.base.memory;      /* the names, and the values by name */
        r.base.memory = (region){ 0 };
    } else {
        free(m);
        m = NULL;
    }
    eddy__onnx_close(&r);
    return m;
}

eddy_model_report *eddy_onnx_check_with(const eddy_onnx_args *given)
{
    eddy_onnx_model    m;
    onnx_reader        r = { .made = &m };
    eddy_model_report *report =
        open_file(&r, given) ? eddy__reading_report(&r.base, r.options.scope, pass) : NULL;
    eddy__onnx_close(&r);
    return report;
}
