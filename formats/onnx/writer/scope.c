/* scope.c -- the nodes of one graph: which of them the outputs need, and writing these in order. */
#include "writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool eddy__writer_fail(onnx_writer *w, eddy_status s, const char *format, ...)
{
    if (w->failed) return false;
    w->failed = true;
    char    text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (w->error) {
        w->error->status = s;
        snprintf(w->error->message, sizeof w->error->message, "onnx_write: %s", text);
    }
    return false;
}

bool eddy__writer_no_memory(onnx_writer *w)
{
    return eddy__writer_fail(w, EDDY_NO_MEMORY, "out of memory");
}

/* ------------------------------------------------------------------- scopes -- */

static const eddy_node *node_at(const writer_scope *s, int32_t id)
{
    return eddy_node_of(eddy_node_at(s->graph, id));
}

writer_scope *eddy__scope_begin(onnx_writer *w, eddy_graph *g, const char *prefix)
{
    writer_scope *s = eddy__region_take(&w->memory, 1, sizeof *s);
    const size_t  n = (size_t)eddy_graph_size(g) + 1;
    if (s) {
        *s = (writer_scope){ .outer = w->scope, .graph = g, .size = (int32_t)n - 1,
                             .prefix = prefix };
        s->names = eddy__region_take(&w->memory, n, sizeof *s->names);
        s->live = eddy__region_take(&w->memory, n, sizeof *s->live);
        s->wanted = eddy__region_take(&w->memory, n, sizeof *s->wanted);
        s->effect = eddy__region_take(&w->memory, n, sizeof *s->effect);
        s->uses = eddy__region_take(&w->memory, n, sizeof *s->uses);
        s->reads_now = eddy__region_take(&w->memory, n, sizeof *s->reads_now);
    }
    if (!s || !prefix || !s->names || !s->live || !s->wanted || !s->effect || !s->uses ||
        !s->reads_now)
        return eddy__writer_no_memory(w), NULL;
    return w->scope = s;
}

void eddy__scope_end(onnx_writer *w)
{
    eddy__message_free(&w->scope->nodes);
    w->scope = w->scope->outer;
}

bool eddy__scope_bind(onnx_writer *w, eddy_tensor t, const char *name)
{
    writer_scope *s = w->scope;
    const int     n = eddy_outputs_of(t);
    if (t.node < 1 || t.node > s->size || t.output < 0 || t.output >= n)
        return eddy__writer_fail(w, EDDY_INVALID_ARGUMENT, "a tensor is invalid");
    if (!s->names[t.node])
        s->names[t.node] = eddy__region_take(&w->memory, (size_t)n, sizeof **s->names);
    if (!s->names[t.node] || !name) return eddy__writer_no_memory(w);
    s->names[t.node][t.output] = name;
    return true;
}

const char *eddy__scope_name(const writer_scope *s, eddy_tensor t)
{
    if (t.node < 1 || t.node > s->size || !s->names[t.node]) return NULL;
    return s->names[t.node][t.output];
}

/* ----------------------------------------------------------------- liveness -- */

static void mark_effects(const writer_scope *s)
{
    for (int32_t id = 1; id <= s->size; id++) {
        const eddy_node *node = node_at(s, id);
        bool             effect = (node->op->flags & EDDY_OP_SIDE_EFFECT) != 0;
        for (int i = 0; i < node->n_inputs; i++)
            effect = effect || (eddy__writer_needs(node, i) && s->effect[node->inputs[i].node]);
        for (int i = 0; i < node->n_controls; i++) effect = effect || s->effect[node->controls[i]];
        s->effect[id] = effect;
    }
}

/* Whether input i is computed for the node, which is live. */
static bool takes(const writer_scope *s, const eddy_node *node, int i)
{
    const writer_use *u = s->uses[node->id];
    return (u ? u->takes[i] : eddy__writer_needs(node, i)) && !eddy__scope_name(s, node->inputs[i]);
}

static bool mark_live(onnx_writer *w)
{
    writer_scope *s = w->scope;
    for (int32_t id = s->size; id >= 1; id--) {
        if (!s->live[id]) continue;
        const eddy_node *node = node_at(s, id);
        if (node->op->flags & EDDY_OP_PLACEHOLDER) continue; /* it is fed and waits for nothing */
        if (!eddy__writer_find_use(w, node)) return false;
        for (int i = 0; i < node->n_inputs; i++)
            if (takes(s, node, i) && !eddy__writer_want(w, node->inputs[i])) return false;
        for (int i = 0; i < node->n_controls; i++)
            if (s->effect[node->controls[i]]) s->live[node->controls[i]] = true;
    }
    return true;
}

/* ------------------------------------------------------------------ writing -- */

static bool add_entry(onnx_writer *w, const onnx_part *p)
{
    const char *place =
        eddy__region_print(&w->memory, "node '%s%s'", w->scope->prefix, p->node->name);
    const char *op = eddy__region_print(&w->memory, "%s", p->node->op->name);
    if (!place || !op) return eddy__writer_no_memory(w);
    const eddy_model_entry e = {
        .op = op, .domain = "", .place = place, .reason = p->failed ? p->reason : "",
        .support = p->failed ? EDDY_MODEL_MISSING : p->nodes > 1 ? EDDY_MODEL_COMPOSED
                                                                 : EDDY_MODEL_NATIVE
    };
    return eddy__report_add(&w->entries, e) || eddy__writer_no_memory(w);
}

static bool has_complex(const eddy_node *node)
{
    for (int i = 0; i < node->n_inputs; i++)
        if (eddy_dtype_is_complex(eddy_dtype_of(node->inputs[i]))) return true;
    for (int i = 0; i < node->n_outputs; i++)
        if (eddy_dtype_is_complex(node->outputs[i].dtype)) return true;
    return false;
}

static void apply_rule(onnx_part *p)
{
    const eddy_node *node = p->node;
    const onnx_row  *row = eddy__onnx_row(node->op->name);
    const char      *absence = row ? NULL : eddy__onnx_absence(node->op->name);
    const eddy_onnx_operator *own = eddy__writer_operator(p->writer, node->op->name);
    if (own) {
        eddy__writer_call_operator(p, own);
    } else if (!row) {
        eddy__part_missing(p, "%s", absence ? absence : "a program defines it: list it in "
                                                        "operators");
    } else if (has_complex(node)) {
        eddy__part_missing(p, "operators of ONNX take no complex numbers");
    } else if (row->rule) {
        row->rule(p);
    } else {
        const char *in[3] = { "", "", "" };
        const eddy_dtype d = eddy__part_dtype(p, node->n_inputs - 1);
        const char      *formula = eddy__onnx_formula(row, d);
        for (int i = 0; i < node->n_inputs && i < 3; i++) in[i] = eddy__part_in(p, i);
        if (!p->failed)
            eddy__part_put(p, 0, eddy__part_formula(p, d, formula, in[0], in[1], in[2]));
    }
}

/* The value of a variable after its update; the same update in a body has the same row. */
static void note_update(onnx_part *p)
{
    writer_scope *s = p->writer->scope;
    if (!(p->node->op->flags & EDDY_OP_UPDATES) || !s->variables || p->failed) return;
    writer_variable *v = s->variables[p->node->inputs[0].node];
    if (v && p->node->n_outputs > 0 && p->out[0]) v->now = p->out[0];
}

static bool is_read(const writer_scope *s, int32_t id, int output)
{
    return s->uses[id] ? s->uses[id]->read[output]
                       : (s->wanted[id] & eddy__output_bit(output)) != 0;
}

static bool write_node(onnx_writer *w, const eddy_node *node)
{
    const char **out = eddy__region_take(&w->memory, (size_t)node->n_outputs, sizeof *out);
    if (!out) return eddy__writer_no_memory(w);
    onnx_part p = { .writer = w, .scope = w->scope, .node = node, .out = out };
    apply_rule(&p);
    note_update(&p);
    for (int k = 0; k < node->n_outputs && !p.failed && !w->failed; k++)
        if (!out[k] && is_read(w->scope, node->id, k))
            eddy__part_missing(&p, "output %d is not written", k);
    if (w->failed) return false;
    if (p.failed && !w->reporting)
        return eddy__writer_fail(w, EDDY_UNIMPLEMENTED, "%.200s: %.400s [node '%.200s'%s%.100s]",
                                 node->op->name, p.reason, node->name,
                                 w->in_function ? " of the function of " : "",
                                 w->in_function ? w->in_function : "");
    for (int k = 0; k < node->n_outputs; k++)
        if (p.failed) out[k] = "?";
    if (w->scope->names[node->id])      /* some outputs are bound */
        for (int k = 0; k < node->n_outputs; k++)
            if (w->scope->names[node->id][k]) out[k] = w->scope->names[node->id][k];
    w->scope->names[node->id] = out;
    return !w->reporting || add_entry(w, &p);
}

bool eddy__scope_mark(onnx_writer *w, int n, const eddy_tensor *outputs)
{
    writer_scope *s = w->scope;
    memset(s->live, 0, ((size_t)s->size + 1) * sizeof *s->live);
    memset(s->wanted, 0, ((size_t)s->size + 1) * sizeof *s->wanted);
    mark_effects(s);
    for (int i = 0; i < n; i++)
        if (!eddy__scope_name(s, outputs[i]) && !eddy__writer_want(w, outputs[i])) return false;
    return mark_live(w) && (!s->variables || eddy__scope_order_reads(w));
}

bool eddy__scope_write_marked(onnx_writer *w)
{
    writer_scope *s = w->scope;
    for (int32_t id = 1; id <= s->size; id++) {
        if (!s->live[id] || (s->variables && s->variables[id])) continue;
        const eddy_node *node = node_at(s, id);
        bool             written = s->names[id] != NULL;
        for (int k = 0; k < node->n_outputs && written; k++)
            written = s->names[id][k] || !is_read(s, id, k);
        if (!written && !write_node(w, node)) return false;
    }
    return !w->failed;
}
