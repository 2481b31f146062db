/* extract_quantize.c -- the step of eddy_extract that replaces float32 matrices by 8-bit values. */
#include "session/extract/extract_parts.h"
#include "build/gen/table.h"
#include "graph/base/text.h"
#include "ops/arrays/gather.h"
#include "ops/linear/matmul.h"
#include "ops/short_names.h"
#include "session/session.h"

#include <math.h>

enum { LEAST = 1024 };

/* How a matrix is read: as the right operand of a product, as its transpose, or by rows. */
typedef enum weight_use { PRODUCT, TRANSPOSED, ROWS, USES, NONE } weight_use;

typedef struct weight {
    uint8_t     uses;               /* a bit for each */
    int32_t     against;            /* a node that reads it in another way; 0: none */
    bool        is_output, chosen;
    eddy_tensor values[USES], scales[USES];     /* in the new graph */
} weight;

typedef struct quantizing {
    extract_step step;
    int32_t     *constant;          /* by id: the constant that a node passes on unchanged, or 0 */
    weight     **weights;           /* by id of the constant */
    eddy_text    text;
    eddy_quantize_report report;
} quantizing;

/* -------------------------------------------------------------------- uses -- */

static weight_use use_of(const eddy_node *node, int input)
{
    const bool product = node->op == &eddy_op_matmul || node->op == &eddy_op_batch_matmul;
    if (product && input == 1) {
        const eddy_matmul_attrs *a = node->attrs;
        return a->transpose_a ? NONE : a->transpose_b ? TRANSPOSED : PRODUCT;
    }
    if (node->op == &eddy_op_gather && input == 0) {
        const eddy_gather_attrs *a = node->attrs;
        return (a->axis == 0 || a->axis == -2) && a->batch_dims == 0 ? ROWS : NONE;
    }
    return NONE;
}

static bool is_weight(const eddy_node *node)
{
    return (node->op->flags & EDDY_OP_CONSTANT) && node->outputs[0].dtype == EDDY_FLOAT32;
}

static bool passes_on(const eddy_node *node)
{
    return node->op == &eddy_op_identity && node->n_controls == 0;
}

static bool find_use(quantizing *q, const eddy_node *node, int i)
{
    const int32_t id = q->constant[node->inputs[i].node];
    if (id == 0) return true;
    const weight_use use = use_of(node, i);
    if (use == NONE) q->weights[id]->against = node->id;
    else q->weights[id]->uses |= (uint8_t)(1 << use);
    return true;
}

/* Finds the constants that the outputs need, and who reads them. */
static bool find_weights(quantizing *q)
{
    extract_step     *s = &q->step;
    const eddy_graph *g = s->was->graph;
    q->constant = eddy__extract_memory(s->x, (int64_t)g->size + 1, sizeof *q->constant);
    q->weights = eddy__extract_memory(s->x, (int64_t)g->size + 1, sizeof *q->weights);
    if (!q->constant || !q->weights) return false;
    for (int i = 0; i < s->x->n_outputs; i++) eddy__copy_need(&s->copy, s->was->outputs[i]);
    eddy__copy_find(&s->copy);
    for (int32_t id = 1; id <= s->copy.size; id++) {
        const eddy_node *node = g->nodes[id];
        if (!s->copy.needed[id]) continue;
        if (is_weight(node)) {
            q->constant[id] = id;
            q->weights[id] = eddy__extract_memory(s->x, 1, sizeof *q->weights[id]);
            if (!q->weights[id]) return false;
        } else if (passes_on(node)) q->constant[id] = q->constant[node->inputs[0].node];
        else for (int i = 0; i < node->n_inputs; i++) find_use(q, node, i);
    }
    for (int i = 0; i < s->x->n_outputs; i++) {
        const int32_t id = q->constant[s->was->outputs[i].node];
        if (id > 0) q->weights[id]->is_output = true;
    }
    return true;
}

/* ------------------------------------------------------------------ values -- */

static bool is_finite(const eddy_array *a)
{
    const float *x = eddy_array_data((eddy_array *)(uintptr_t)a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* The largest divisor of k up to the group that was asked for. Where that is less than a quarter of
 * it, the scales would take as much memory as they save, and a column has one scale: k. */
static int64_t group_of(int64_t wanted, int64_t k)
{
    int64_t group = wanted < k ? wanted : k;
    while (group > 1 && k % group != 0) group--;
    return 4 * group >= wanted || group == k ? group : k;
}

static eddy_tensor quantized_for(const extract *x, eddy_tensor w, weight_use use)
{
    if (use != PRODUCT) w = eddy_transpose(w, EDDY_DIMS(1, 0));
    if (use == ROWS || x->args.quantize_group == EDDY_OMITTED) return eddy_quantize(w);
    return eddy_quantize(w, .group = group_of(x->args.quantize_group, eddy_shape_of(w).dim[0]));
}

/* Computes values and scales in a graph of their own; the caller frees the arrays. */
static bool compute(const extract *x, const eddy_array *w, weight_use use, eddy_array *out[2])
{
    eddy_graph *g = eddy_graph_new(.allocator = x->arena.allocator);
    eddy_tensor both = quantized_for(x, eddy_constant(g, w), use), values = both;
    eddy_tensor scales = eddy_output(both, 1);
    if (use == ROWS) {
        values = eddy_transpose(both, EDDY_DIMS(1, 0));
        scales = ExpandDims(scales, 1);
    }
    eddy_session *s = eddy_session_new(g);
    const bool    ok = eddy_run(s, EDDY_FEED(), EDDY_FETCH(values, scales), out) == EDDY_OK;
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

static eddy_tensor constant_of(extract_step *s, const eddy_node *node, eddy_array *value,
                               const char *of)
{
    char name[EDDY_MAX_NAME];
    snprintf(name, sizeof name, "%.2000s_%s", node->name, of);
    const eddy_tensor t = eddy_constant(s->now.graph, value, name);
    eddy_array_free(value);
    return t;
}

static bool make_weight(quantizing *q, const eddy_node *node)
{
    static const char *const values_of[] = { "values", "transposed", "rows" };
    static const char *const scales_of[] = { "scales", "transposed_scales", "row_scales" };
    extract_step     *s = &q->step;
    weight           *w = q->weights[node->id];
    const eddy_tensor t = eddy__tensor_at(s->was->graph, node->id, 0);
    for (int use = 0; use < USES; use++) {
        eddy_array *out[2] = { NULL };
        if (!(w->uses & 1 << use)) continue;
        if (!compute(s->x, eddy_constant_value(t), (weight_use)use, out))
            return eddy__error_set(&s->x->error, EDDY_NO_MEMORY,
                                   "extract: out of memory for the 8-bit values of '%.200s'",
                                   node->name);
        q->report.bytes += (int64_t)(eddy_array_bytes(out[0]) + eddy_array_bytes(out[1]));
        w->values[use] = constant_of(s, node, out[0], values_of[use]);
        w->scales[use] = constant_of(s, node, out[1], scales_of[use]);
        s->copy.changed[node->id] = 1;
        if (!eddy__copy_set_image(&s->copy, t, w->values[use])) return false;
    }
    return eddy__graph_ready(s->now.graph);
}

/* ------------------------------------------------------------------ report -- */

static void say(quantizing *q, const eddy_node *node, const char *what, const eddy_node *reader)
{
    char type[200];
    eddy__text_put(&q->text, "%s %s: %s", node->name,
                   eddy_type_print(node->outputs[0], type, sizeof type), what);
    if (reader) eddy__text_put(&q->text, " '%s' (%s)", reader->name, reader->op->name);
    eddy__text_put(&q->text, "\n");
}

static bool choose(quantizing *q, const eddy_node *node)
{
    const eddy_graph *g = q->step.was->graph;
    weight           *w = q->weights[node->id];
    const eddy_shape  s = node->outputs[0].shape;
    const eddy_array *value = eddy_constant_value(eddy__tensor_at(q->step.was->graph, node->id, 0));
    const char       *why = NULL;
    const eddy_node  *reader = NULL;
    q->report.bytes_before += (int64_t)eddy_array_bytes(value);
    if (eddy_array_count(value) < LEAST || s.rank < 2) {
        q->report.bytes += (int64_t)eddy_array_bytes(value);
        return false;
    }
    if (w->is_output) why = "stays float32: it is an output";
    else if (w->against) why = "stays float32: it is read by", reader = g->nodes[w->against];
    else if (!w->uses) why = "stays float32: no product reads it";
    else if (s.rank != 2) why = "stays float32: it is not a matrix";
    else if (!is_finite(value)) why = "stays float32: it has an infinity or NaN";
    if (why) {
        q->report.n_left++;
        q->report.bytes += (int64_t)eddy_array_bytes(value);
    } else q->report.n_quantized++;
    say(q, node, why ? why : "8 bits", reader);
    return !why;
}

/* ------------------------------------------------------------------- nodes -- */

static weight *weight_of(const quantizing *q, eddy_tensor t)
{
    const int32_t id = q->constant[t.node];
    return id > 0 && q->weights[id]->chosen ? q->weights[id] : NULL;
}

static bool replace_product(eddy_copy *c, const eddy_node *node, const weight *w, weight_use use)
{
    const eddy_tensor in[] = { eddy__copy_image(c, node->inputs[0]), w->values[use],
                               w->scales[use] };
    return eddy__copy_as(c, node, &eddy_op_quantized_matmul, NULL, 3, in);
}

/* The rows that are gathered, times their scales. */
static bool replace_gather(eddy_copy *c, const eddy_node *node, const weight *w)
{
    const eddy_tensor at = eddy__copy_image(c, node->inputs[1]);
    const eddy_tensor rows = eddy_apply2(&eddy_op_gather, node->attrs, w->values[ROWS], at);
    const eddy_tensor in[] = { Sub(Cast(rows, EDDY_FLOAT32), 128),
                               eddy_apply2(&eddy_op_gather, node->attrs, w->scales[ROWS], at) };
    return eddy__copy_as(c, node, &eddy_op_mul, NULL, 2, in);
}

static bool instead(eddy_copy *c, const eddy_node *node)
{
    quantizing *q = c->context;
    if (q->constant[node->id] == node->id) {
        weight *w = q->weights[node->id];
        w->chosen = choose(q, node);
        if (w->chosen) make_weight(q, node);
        return w->chosen;
    }
    if (passes_on(node)) {
        if (!weight_of(q, node->inputs[0])) return false;
        eddy__copy_set_image(c, eddy__tensor_at(c->from, node->id, 0),
                             eddy__copy_image(c, node->inputs[0]));
        return true;
    }
    for (int i = 0; i < node->n_inputs; i++) {
        const weight    *w = weight_of(q, node->inputs[i]);
        const weight_use use = w ? use_of(node, i) : NONE;
        if (use == NONE) continue;
        if (use == ROWS) replace_gather(c, node, w);
        else replace_product(c, node, w, use);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------- step -- */

static void finish_report(quantizing *q, bool ok)
{
    extract *x = q->step.x;
    eddy__text_put(&q->text, "weights: %lld bytes, %lld before\n", (long long)q->report.bytes,
                   (long long)q->report.bytes_before);
    if (!ok || !x->args.quantized) {
        eddy__text_free(&q->text);
        return;
    }
    q->report.text = eddy__text_string(&q->text);
    *x->args.quantized = q->report;
}

bool eddy__extract_quantize(extract *x, const extract_part *was, extract_part *now)
{
    quantizing q = { .text.allocator = &eddy__libc };
    if (x->args.quantize_group != EDDY_OMITTED && x->args.quantize_group < 1)
        return eddy__error_set(&x->error, EDDY_INVALID_ARGUMENT,
                               "extract: quantize_group is %lld; expected at least 1",
                               (long long)x->args.quantize_group);
    bool ok = eddy__extract_step_begin(&q.step, x, was);
    q.step.copy.instead = instead;
    q.step.copy.context = &q;
    ok = ok && eddy__copy_effects(&q.step.copy) && find_weights(&q);
    ok = eddy__extract_step_finish(&q.step, ok);
    finish_report(&q, ok);
    *now = q.step.now;
    return ok;
}
