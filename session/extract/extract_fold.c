/* extract_fold.c -- computes what has become constant. */
#include "session/extract/extract_parts.h"
#include "session/session.h"

#include <string.h>

/* Of a node: it varies; it was constant in the old graph too; it has become constant. */
enum { VARIES, CONSTANT, FRESH };

typedef struct folding {
    extract            *x;
    const extract_part *part;
    uint8_t            *kind;           /* by id */
    uint8_t            *folded;         /* by id: has values, which replace the node */
    eddy_tensor        *tensors;        /* those that others read */
    int                 n;
} folding;

static uint8_t kind_of(const folding *f, const eddy_node *node)
{
    const unsigned never = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_VARIABLE |
                           EDDY_OP_PLACEHOLDER | EDDY_OP_REFERENCE | EDDY_OP_UPDATES |
                           EDDY_OP_BODY | EDDY_OP_SLICES | EDDY_OP_UNSAVED;
    if (node->op->flags & EDDY_OP_CONSTANT)
        return node->id < f->part->room && f->part->fresh[node->id] ? FRESH : CONSTANT;
    if ((node->op->flags & never) || node->n_controls > 0 || node->n_inputs == 0) return VARIES;
    uint8_t most = CONSTANT;
    for (int i = 0; i < node->n_inputs; i++) {
        const uint8_t kind = f->kind[node->inputs[i].node];
        if (kind == VARIES) return VARIES;
        if (kind == FRESH) most = FRESH;
    }
    return most;
}

static bool is_small(const folding *f, const eddy_node *node)
{
    int64_t left = f->x->args.fold_bytes;
    for (int k = 0; k < node->n_outputs; k++) {
        const eddy_type t = node->outputs[k];
        if (!eddy_shape_is_known(t.shape)) return false;
        left -= eddy_shape_count(t.shape) * (int64_t)eddy_dtype_size(t.dtype);
        if (left < 0) return false;
    }
    return node->n_outputs > 0;
}

static void add_tensor(folding *f, uint8_t *listed, eddy_tensor t)
{
    if (!f->folded[t.node] || listed[t.node]) return;
    const int n = f->part->graph->nodes[t.node]->n_outputs;
    for (int k = 0; k < n; k++)
        f->tensors[f->n++] = eddy__tensor_at(f->part->graph, t.node, k);
    listed[t.node] = 1;
}

static bool find_folded(folding *f)
{
    eddy_graph   *g = f->part->graph;
    const int64_t size = (int64_t)g->size + 1;
    int64_t       outputs = 0;
    uint8_t      *listed = eddy__extract_memory(f->x, size, 1);
    f->kind = eddy__extract_memory(f->x, size, 1);
    f->folded = eddy__extract_memory(f->x, size, 1);
    if (!listed || !f->kind || !f->folded) return false;
    for (int32_t id = 1; id < size; id++) {
        const eddy_node *node = g->nodes[id];
        f->kind[id] = kind_of(f, node);
        f->folded[id] = f->kind[id] == FRESH && !(node->op->flags & EDDY_OP_CONSTANT) &&
                        is_small(f, node);
        if (f->folded[id]) outputs += node->n_outputs;
    }
    f->tensors = eddy__extract_memory(f->x, outputs, sizeof *f->tensors);
    if (!f->tensors) return false;
    for (int32_t id = 1; id < size; id++)
        for (int i = 0; i < g->nodes[id]->n_inputs && !f->folded[id]; i++)
            add_tensor(f, listed, g->nodes[id]->inputs[i]);
    for (int i = 0; i < f->x->n_outputs; i++) add_tensor(f, listed, f->part->outputs[i]);
    return true;
}

/* A node that cannot be computed stays: the graph reports the error when it runs. */
int eddy__extract_fold(extract *x, const extract_part *part, eddy_tensor **tensors,
                       eddy_array ***values)
{
    folding f = { .x = x, .part = part };
    if (x->args.fold_bytes <= 0) return 0;
    if (!find_folded(&f)) return -1;
    if (f.n == 0) return 0;
    *tensors = f.tensors;
    *values = eddy__extract_memory(x, f.n, sizeof(eddy_array *));
    if (!*values) return -1;
    eddy_session *s = eddy_session_new(part->graph, .without = EDDY_PASSES_ALL);
    eddy_status   status = EDDY_NO_MEMORY;
    if (s) status = eddy_run(s, (eddy_feeds){ 0 }, (eddy_list){ f.n, f.tensors }, *values);
    eddy_session_free(s);
    if (status == EDDY_OK) return f.n;
    for (int i = 0; i < f.n; i++) eddy_array_free((*values)[i]);
    if (status != EDDY_NO_MEMORY) return 0;
    eddy__error_set(&x->error, status, "extract: out of memory for constants");
    return -1;
}
