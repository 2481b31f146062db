/* summaries.c -- operations that mark tensors for the event file, and runs that write them. */
#include "writer.h"
#include "../../graph/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum summary_kind { SUMMARY_SCALAR, SUMMARY_HISTOGRAM, SUMMARY_IMAGE } summary_kind;

typedef struct summary_attrs {
    int64_t most;               /* images */
} summary_attrs;

static bool summary_infer(eddy_infer *c)
{
    const eddy_shape s = c->in[0].shape;
    c->out[0] = c->in[0];
    if (c->op->variant == SUMMARY_SCALAR && eddy_shape_is_known(s) && eddy_shape_count(s) != 1)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a scalar summary has one element");
    if (c->op->variant == SUMMARY_IMAGE && s.rank >= 0 && s.rank != 3 && s.rank != 4)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "images are [n,height,width,channels] or [height,width,channels]");
    return true;
}

static void summary_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

static const eddy_op_def scalar_op = {
    .name = "ScalarSummary", .variant = SUMMARY_SCALAR, .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_TAKES_INTEGERS }),
    .flags = EDDY_OP_ALIAS, .infer = summary_infer, .gradient = summary_gradient,
    .batch = eddy_batch_as_is };
static const eddy_op_def histogram_op = {
    .name = "HistogramSummary", .variant = SUMMARY_HISTOGRAM, .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_TAKES_INTEGERS }),
    .flags = EDDY_OP_ALIAS, .infer = summary_infer, .gradient = summary_gradient,
    .batch = eddy_batch_as_is };
static const eddy_op_def image_op = {
    .name = "ImageSummary", .variant = SUMMARY_IMAGE, .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_TYPE(EDDY_UINT8) }),
    .flags = EDDY_OP_ALIAS, .attrs_size = sizeof(summary_attrs),
    .attrs = EDDY_ATTRS(summary_attrs, most), .infer = summary_infer,
    .gradient = summary_gradient, .batch = eddy_batch_as_is };

static eddy_tensor mark(const eddy_op_def *op, const void *attrs, const char *tag, eddy_tensor x)
{
    const eddy_tensor y = eddy_apply(op, attrs, 1, &x, (eddy_apply_args){ .name = tag });
    if (eddy_is_valid(y)) eddy_collection_add(y.graph, EDDY_SUMMARIES, y);
    return y;
}

eddy_tensor eddy_summary_scalar(const char *tag, eddy_tensor x)
{
    return mark(&scalar_op, NULL, tag, x);
}

eddy_tensor eddy_summary_histogram(const char *tag, eddy_tensor x)
{
    return mark(&histogram_op, NULL, tag, x);
}

eddy_tensor eddy_summary_image(const char *tag, eddy_tensor x, int most)
{
    return mark(&image_op, &(summary_attrs){ most }, tag, x);
}

/* ------------------------------------------------------------- training -- */

/* The norm of the gradient, and the relative change, which reads the variable after the step. */
static void norms_of(eddy_tensor train, eddy_gradient_pair p, eddy_tensor *norm, eddy_tensor *ratio)
{
    eddy_graph *const g = train.graph;
    const eddy_tensor before = eddy_identity(p.variable);
    eddy_control_begin(g, EDDY_LIST(train));
    const eddy_tensor after = eddy_read(p.variable);
    eddy_control_end(g);
    const eddy_tensor least = eddy_cast(eddy_scalar(g, 1e-12), eddy_dtype_of(before));
    *ratio = eddy_div(eddy_norm(eddy_sub(after, before)), eddy_maximum(eddy_norm(before), least));
    *norm = eddy_norm(p.gradient);
}

void eddy_summary_training(eddy_tensor train, const eddy_gradient_pair *pairs, int n)
{
    for (int i = 0; pairs && i < n; i++) {
        char        tag[EDDY_MAX_NAME + 32];
        eddy_tensor norm, ratio;
        if (!eddy_is_valid(train) || !eddy_is_valid(pairs[i].gradient)) continue;
        eddy_scope_begin(train.graph, "training_summary/");
        norms_of(train, pairs[i], &norm, &ratio);
        eddy_scope_end(train.graph);
        snprintf(tag, sizeof tag, "gradient_norm/%s", eddy_name_of(pairs[i].variable));
        eddy_summary_scalar(tag, norm);
        snprintf(tag, sizeof tag, "update_ratio/%s", eddy_name_of(pairs[i].variable));
        eddy_summary_scalar(tag, ratio);
    }
}

/* ----------------------------------------------------------------- runs -- */

static void put_summary(eddy_events *w, int64_t step, eddy_tensor t, const eddy_array *value)
{
    const eddy_node *node = eddy_node_of(t);
    if (node->op == &image_op)
        eddy_events_image(w, node->name, step, value,
                          (int)((const summary_attrs *)node->attrs)->most);
    else if (node->op == &scalar_op)
        eddy_events_scalar(w, node->name, step, eddy_array_item(value));
    else eddy_events_histogram(w, node->name, step, value);
}

/* The first fetches are the caller's, whose results go to its arrays. */
static eddy_status run_with(const eddy_events_run_args *a, const eddy_tensor *fetches,
                            eddy_array **out, int n)
{
    const int own = a->fetches.count;
    for (int i = 0; a->out && i < own; i++) out[i] = a->out[i];
    const eddy_status s = eddy_run(a->session, a->feeds, (eddy_list){ own + n, fetches }, out);
    for (int i = 0; a->out && i < own; i++) a->out[i] = out[i];
    for (int i = a->out ? own : 0; i < own; i++) eddy_array_free(out[i]);
    for (int i = 0; i < n; i++) {
        if (s == EDDY_OK && out[own + i])
            put_summary(a->events, a->step, fetches[own + i], out[own + i]);
        eddy_array_free(out[own + i]);
    }
    return s;
}

/* The summaries of the collection, or those that were given. */
static int list_summaries(const eddy_events_run_args *a, eddy_graph *g, eddy_tensor *to)
{
    if (a->summaries.count > 0) {
        if (to) memcpy(to, a->summaries.at, (size_t)a->summaries.count * sizeof *to);
        return a->summaries.count;
    }
    return eddy_collection_get(g, EDDY_SUMMARIES, NULL, to, to ? INT32_MAX : 0);
}

static eddy_graph *graph_of(const eddy_events_run_args *a)
{
    if (a->fetches.count > 0 && a->fetches.at) return a->fetches.at[0].graph;
    return a->summaries.count > 0 ? a->summaries.at[0].graph : NULL;
}

eddy_status eddy_events_run_with(const eddy_events_run_args *given)
{
    eddy_events_run_args a = { eddy_events_run_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    if (!a.summaries.at) a.summaries.count = 0;
    const bool writes = eddy__events_usable(a.events) && (a.every <= 1 || a.step % a.every == 0) &&
                        a.fetches.count >= 0 && (a.fetches.at || a.fetches.count == 0);
    const int  n = writes ? list_summaries(&a, graph_of(&a), NULL) : 0;
    if (n <= 0) return eddy_run(a.session, a.feeds, a.fetches, a.out);
    const size_t all = (size_t)(a.fetches.count + n);
    eddy_tensor *fetches = calloc(all, sizeof *fetches);
    eddy_array **out = calloc(all, sizeof *out);
    eddy_status  s = EDDY_NO_MEMORY;
    if (fetches && out) {
        if (a.fetches.count > 0)
            memcpy(fetches, a.fetches.at, (size_t)a.fetches.count * sizeof *fetches);
        list_summaries(&a, graph_of(&a), fetches + a.fetches.count);
        s = run_with(&a, fetches, out, n);
    } else eddy__events_fail(a.events, s, "events_run: out of memory for %d summaries", n);
    free(fetches);
    free(out);
    return s;
}
