/* read.c -- the public calls, inputs and outputs of a model. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct port {
    const char *name, *value;       /* the key of the signature; "node:0" */
    eddy_tensor t;
} port;

struct eddy_tensorflow_model {
    region    memory;               /* of the reader */
    tf_scope *main;
    port     *inputs, *outputs;
    int       n_inputs, n_outputs;
};

/* ------------------------------------------------------------------- names -- */

/* The length of a name without ":0", since "x" and "x:0" are the same value. */
static size_t plain_length(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && strcmp(name + n - 2, ":0") == 0 ? n - 2 : n;
}

static bool same_value(const char *a, const char *b)
{
    const size_t n = plain_length(a);
    return n == plain_length(b) && memcmp(a, b, n) == 0;
}

/* ------------------------------------------------------------------- inputs -- */

static bool is_placeholder(const tf_node *n)
{
    return strcmp(n->op, "Placeholder") == 0 || strcmp(n->op, "PlaceholderV2") == 0;
}

static bool bind(tf_reader *r, const char *node, eddy_list tensors)
{
    const eddy_tensor t = tensors.count == 1 && tensors.at ? tensors.at[0] : EDDY_NO_TENSOR;
    int           output;
    const int32_t at = eddy__tf_resolve(r->main, node, &output);
    if (at <= 0 || output != 0)
        return eddy__tf_error(r, EDDY_INVALID_ARGUMENT, "there is no node '%.200s'", node);
    if (tensors.count != 1)
        return eddy__tf_error(r, EDDY_INVALID_ARGUMENT, "input '%.200s' cannot be %d tensors", node,
                              tensors.count);
    if (!eddy_is_valid(t) || (!r->base.trial && t.graph != r->base.graph))
        return eddy__tf_error(r, EDDY_INVALID_ARGUMENT,
                              "the tensor for input '%.200s' is not of this graph", node);
    const tf_node   *n = &r->model->main.nodes[at - 1];
    tf_build         b = { .reader = r, .graph = r->base.graph, .memory = &r->base.memory,
                           .node = n };
    const int        declared = is_placeholder(n) ? eddy__tf_type(&b, "dtype", TF_NO_TYPE)
                                                  : TF_NO_TYPE;
    const eddy_dtype want = eddy__tf_dtype(declared);
    if (want != EDDY_DEFAULT_DTYPE && eddy_dtype_of(t) != want)
        return eddy__tf_error(r, EDDY_INVALID_ARGUMENT,
                              "input '%.200s' is %s; the tensor given for it is not", node,
                              eddy_dtype_name(want));
    const int type = want != EDDY_DEFAULT_DTYPE ? declared : eddy__tf_type_of(eddy_dtype_of(t));
    if (!eddy__tf_put_as(&b, 0, eddy__reading_stand_in(&r->base, t), type)) return false;
    const eddy_array *value = eddy_constant_value(t);
    b.out[0]->constant = value != NULL;
    if (value && !eddy__reading_keep(&r->base, b.out[0]->array = eddy_array_copy(value)))
        return false;
    r->main->slots[at - 1] = (tf_slot){ TF_DONE, b.out, 1 };
    return true;
}

/* The name of a port of the signature as that of a value. */
static const char *value_named(const tf_reader *r, const char *name)
{
    const tf_signature *s = r->signature;
    for (size_t i = 0; s && i < s->n_inputs; i++)
        if (strcmp(s->inputs[i].key, name) == 0) return s->inputs[i].tensor;
    return name;
}

static bool bindings(tf_reader *r)
{
    for (int i = 0; i < r->options.input_count; i++) {
        const eddy_model_binding *b = &r->options.inputs[i];
        if (!bind(r, b->name ? value_named(r, b->name) : "", b->tensors)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------- ports -- */

/* The inputs of the signature, else all placeholders. */
static bool list_inputs(tf_reader *r, eddy_tensorflow_model *m)
{
    const tf_signature *s = r->signature;
    const tf_graph     *g = &r->model->main;
    size_t              n = s ? s->n_inputs : 0;
    for (size_t i = 0; !(s && s->n_inputs) && i < g->n_nodes; i++)
        n += is_placeholder(&g->nodes[i]);
    m->inputs = eddy__region_take(&r->base.memory, n, sizeof *m->inputs);
    if (!m->inputs) return eddy__reading_no_memory(&r->base);
    for (size_t i = 0; s && i < s->n_inputs; i++)
        m->inputs[m->n_inputs++] = (port){ s->inputs[i].key, s->inputs[i].tensor, EDDY_NO_TENSOR };
    for (size_t i = 0; !(s && s->n_inputs) && i < g->n_nodes; i++)
        if (is_placeholder(&g->nodes[i]))
            m->inputs[m->n_inputs++] = (port){ g->nodes[i].name, g->nodes[i].name, EDDY_NO_TENSOR };
    return true;
}

static bool is_output(const tf_node *n)
{
    static const char *const none[] = { "Const", "NoOp", "Assert", "Placeholder", "VarHandleOp",
                                        "PlaceholderWithDefault", "VariableV2", "Variable" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strcmp(n->op, none[i]) == 0) return false;
    return true;
}

/* Marks the nodes that others use, also those for which they only wait. */
static bool *used_nodes(tf_reader *r)
{
    const tf_graph *g = &r->model->main;
    bool           *used = eddy__region_take(&r->base.memory, g->n_nodes, 1);
    int             output;
    for (size_t i = 0; used && i < g->n_nodes; i++)
        for (size_t k = 0; k < g->nodes[i].n_inputs; k++) {
            const char   *input = g->nodes[i].inputs[k];
            const int32_t at = eddy__tf_resolve(r->main, input + (input[0] == '^'), &output);
            if (at > 0) used[at - 1] = true;
        }
    return used;
}

/* Those that the caller names, else those of the signature, else all that no node uses. */
static bool list_outputs(tf_reader *r, eddy_tensorflow_model *m)
{
    const eddy_tensorflow_args *o = &r->options;
    const tf_signature         *s = r->signature;
    const tf_graph             *g = &r->model->main;
    const size_t n = o->output_count ? (size_t)o->output_count
                     : s && s->n_outputs ? s->n_outputs : g->n_nodes;
    m->outputs = eddy__region_take(&r->base.memory, n, sizeof *m->outputs);
    if (!m->outputs) return eddy__reading_no_memory(&r->base);
    m->n_outputs = 0;
    for (int i = 0; i < o->output_count; i++) {
        const char *name =
            eddy__region_print(&r->base.memory, "%s", o->outputs[i] ? o->outputs[i] : "");
        if (!name) return eddy__reading_no_memory(&r->base);
        const char *value = name;
        for (size_t k = 0; s && k < s->n_outputs; k++)
            if (strcmp(s->outputs[k].key, name) == 0) value = s->outputs[k].tensor;
        m->outputs[m->n_outputs++] = (port){ name, value, EDDY_NO_TENSOR };
    }
    if (o->output_count) return true;
    for (size_t i = 0; s && i < s->n_outputs; i++)
        m->outputs[m->n_outputs++] =
            (port){ s->outputs[i].key, s->outputs[i].tensor, EDDY_NO_TENSOR };
    if (m->n_outputs) return true;
    const bool *used = used_nodes(r);
    if (!used) return eddy__reading_no_memory(&r->base);
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!used[i] && is_output(&g->nodes[i]))
            m->outputs[m->n_outputs++] =
                (port){ g->nodes[i].name, g->nodes[i].name, EDDY_NO_TENSOR };
    return true;
}

/* ------------------------------------------------------------------- passes -- */

static bool build_port(tf_reader *r, port *p)
{
    tf_value *v = eddy__tf_value_of(r, r->main, p->value);
    if (!v || v->unknown) return v != NULL;
    tf_build b = { .reader = r, .graph = r->base.graph, .memory = &r->base.memory };
    p->t = eddy__tf_tensor_of(&b, v);
    if (!b.reason || r->base.reporting) return true;
    return eddy__tf_error(r, b.status, "'%.200s': %s", p->name, b.reason);
}

/* Builds what the outputs need. */
static bool pass(reading *base)
{
    tf_reader             *r = (tf_reader *)base;
    eddy_tensorflow_model *m = r->made;
    r->bodies = 0;
    r->effort = 0;
    *m = (eddy_tensorflow_model){ .n_inputs = 0 };
    m->main = r->main = eddy__tf_scope(r, &r->model->main, "", 0);
    if (!r->main || !bindings(r) || !list_inputs(r, m) || !list_outputs(r, m)) return false;
    for (int i = 0; i < m->n_inputs; i++)
        if (!build_port(r, &m->inputs[i])) return false;
    for (int i = 0; i < m->n_outputs; i++)
        if (!build_port(r, &m->outputs[i])) return false;
    return true;
}

eddy_tensorflow_model *eddy_tensorflow_read_with(const eddy_tensorflow_args *given)
{
    tf_reader              r = { .made = calloc(1, sizeof(eddy_tensorflow_model)) };
    eddy_tensorflow_model *m = r.made;
    bool                   ok = eddy__tf_open(&r, given) && (m || eddy__reading_no_memory(&r.base));
    ok = ok && eddy__reading_build(&r.base, r.options.graph, r.options.scope, pass);
    if (ok) {
        m->memory = r.base.memory;      /* the names, and the values by name */
        r.base.memory = (region){ 0 };
    } else {
        free(m);
        m = NULL;
    }
    eddy__tf_close(&r);
    return m;
}

eddy_model_report *eddy_tensorflow_check_with(const eddy_tensorflow_args *given)
{
    eddy_tensorflow_model m;
    tf_reader             r = { .made = &m };
    eddy_model_report    *report =
        eddy__tf_open(&r, given) ? eddy__reading_report(&r.base, r.options.scope, pass) : NULL;
    eddy__tf_close(&r);
    return report;
}

void eddy_tensorflow_free(eddy_tensorflow_model *m)
{
    if (m) eddy__region_free(&m->memory);
    free(m);
}

/* -------------------------------------------------------------- the model -- */

int eddy_tensorflow_input_count(const eddy_tensorflow_model *m) { return m ? m->n_inputs : 0; }
int eddy_tensorflow_output_count(const eddy_tensorflow_model *m) { return m ? m->n_outputs : 0; }

const char *eddy_tensorflow_input_name(const eddy_tensorflow_model *m, int i)
{
    return m && i >= 0 && i < m->n_inputs ? m->inputs[i].name : NULL;
}

const char *eddy_tensorflow_output_name(const eddy_tensorflow_model *m, int i)
{
    return m && i >= 0 && i < m->n_outputs ? m->outputs[i].name : NULL;
}

static eddy_tensor find_port(const port *p, int n, const char *name)
{
    if (!name) return EDDY_NO_TENSOR;
    for (int i = 0; i < n; i++)
        if (strcmp(p[i].name, name) == 0) return p[i].t;
    for (int i = 0; i < n; i++)
        if (same_value(p[i].value, name)) return p[i].t;
    return EDDY_NO_TENSOR;
}

eddy_tensor eddy_tensorflow_input(const eddy_tensorflow_model *m, const char *name)
{
    return m ? find_port(m->inputs, m->n_inputs, name) : EDDY_NO_TENSOR;
}

eddy_tensor eddy_tensorflow_output(const eddy_tensorflow_model *m, const char *name)
{
    return m ? find_port(m->outputs, m->n_outputs, name) : EDDY_NO_TENSOR;
}

eddy_tensor eddy_tensorflow_value(const eddy_tensorflow_model *m, const char *name)
{
    const tf_value *v = m && name ? eddy__tf_lookup(m->main, name) : NULL;
    return v && v->kind != TF_ARRAY ? v->t : EDDY_NO_TENSOR;
}
