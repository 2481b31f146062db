/* eval_body.c -- eager evaluation of Loop and Case nodes: the node is compiled for the types of
 * its inputs and run once. If only a run tells its shapes, its body runs node by node. */
#include "session/compile/program.h"
#include "session/eval_body.h"
#include "session/stages/rows_ops.h"
#include "session/stages/run_body.h"

#include <string.h>

typedef struct plan_call {
    plan_feed         *feeds;
    const eddy_array **arrays;
    eddy_tensor       *fetches;
    eddy_tensor       *sizes;   /* inputs whose elements decide shapes */
    int                n_feeds, n_sizes;
} plan_call;

/* Each input once: two may be the same tensor. */
static bool make_feeds(plan_call *call, const eddy_node *node, const eddy_buffer *in,
                       eddy_error *error)
{
    for (int i = 0; i < node->n_inputs; i++) {
        bool known = false;
        for (int f = 0; f < call->n_feeds; f++)
            known = known || eddy_same(call->feeds[f].tensor, node->inputs[i]);
        if (known) continue;
        call->arrays[call->n_feeds] =
            eddy_array_borrow(in[i].type.dtype, in[i].type.shape, in[i].data);
        if (!call->arrays[call->n_feeds])
            return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                                   node->name);
        call->feeds[call->n_feeds] =
            (plan_feed){ .tensor = node->inputs[i], .type = in[i].type,
                         .value = (eddy_array *)(uintptr_t)call->arrays[call->n_feeds] };
        call->n_feeds++;
    }
    return true;
}

/* Compiles again with one more size as long as shapes need the elements of another input. */
static eddy_plan *compile_call(eddy_session *s, const eddy_node *node, plan_call *call,
                               bool *alone, eddy_error *error)
{
    const eddy_list fetches = { node->n_outputs, call->fetches };
    for (;;) {
        eddy_tensor missing;
        eddy_plan  *p = eddy__compile(s, call->n_feeds, call->feeds, fetches,
                                      (eddy_list){ call->n_sizes, call->sizes }, &missing, error);
        *alone = !p && missing.output == EDDY_NODE_ITSELF;
        if (p || *alone || missing.node == 0 || call->n_sizes == call->n_feeds) return p;
        call->sizes[call->n_sizes++] = missing;
        *error = (eddy_error){ 0 };
    }
}

static bool run_plan(const eval_call *c, plan_call *call, bool *alone)
{
    eddy_plan *p = compile_call(c->session, c->node, call, alone, c->error);
    if (!p) return false;
    run_snapshot      snapshot = { .taken = c->taken };
    p->own_stop = c->stop;
    const eddy_status status = eddy__plan_run_locked(p, call->arrays, c->out, &snapshot);
    if (status != EDDY_OK) *c->error = p->error;
    eddy__plan_free(p);
    return status == EDDY_OK;
}

static bool no_memory(const eval_call *c)
{
    return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                           c->node->name);
}

/* Compiles and runs the node. *alone: it has to run without a plan. */
static bool run_compiled(const eval_call *c, bool *alone)
{
    const eddy_node *node = c->node;
    const size_t     n = (size_t)node->n_inputs + 1;
    plan_call call = { .feeds = eddy__arena_alloc(c->arena, n * sizeof *call.feeds),
                       .arrays = eddy__arena_alloc(c->arena, n * sizeof *call.arrays),
                       .fetches = eddy__arena_alloc(c->arena, ((size_t)node->n_outputs + 1) *
                                                    sizeof *call.fetches),
                       .sizes = eddy__arena_alloc(c->arena, n * sizeof *call.sizes) };
    if (!call.feeds || !call.arrays || !call.fetches || !call.sizes) return no_memory(c);
    for (int k = 0; k < node->n_outputs; k++)
        call.fetches[k] = eddy__tensor_at(c->session->graph, node->id, k);
    const bool ok = make_feeds(&call, node, c->in, c->error) && run_plan(c, &call, alone);
    for (int i = 0; i < call.n_feeds; i++) eddy_array_free((eddy_array *)(uintptr_t)call.arrays[i]);
    return ok;
}

/* -------------------------------------------------------------- node by node -- */

/* A variable may change while results that refer to its value stay. */
static eddy_array *input_array(const eval_call *c, int i)
{
    if (c->arrays[i]) return eddy_array_retain(c->arrays[i]);
    return eddy_array_copy_of(c->in[i].type.dtype, c->in[i].type.shape, c->in[i].data);
}

static bool run_alone(const eval_call *c)
{
    const eddy_node *node = c->node;
    const size_t     n = (size_t)node->n_inputs + 1, m = (size_t)node->n_outputs + 1;
    node_value *in = eddy__arena_alloc(c->arena, n * sizeof *in);
    node_value *out = eddy__arena_alloc(c->arena, m * sizeof *out);
    uint8_t    *wanted = eddy__arena_alloc(c->arena, m);
    node_run    r;
    bool        ok = in && out && wanted;
    if (!ok) return no_memory(c);
    memset(in, 0, n * sizeof *in);
    memset(out, 0, m * sizeof *out);
    memset(wanted, 1, m);
    for (int i = 0; ok && i < node->n_inputs; i++) {
        in[i] = (node_value){ .type = c->in[i].type, .rows = c->rows[i] };
        if (in[i].rows) continue;
        in[i].array = input_array(c, i);
        ok = in[i].array || no_memory(c);
    }
    eddy__node_run_begin(&r, c->session, false, c->stop, c->error);
    const body_call call = { node, wanted, out };
    const uint64_t  draw = eddy__draws_of(c->session, node->id, c->taken);
    if (ok && (node->op->flags & EDDY_OP_BODY))
        ok = eddy__run_body(&r, 1, &call, in, false, draw);
    else if (ok) ok = eddy__run_rows(&r, c->session->graph, node, in, out, draw);
    for (int k = 0; k < node->n_outputs; k++) {
        c->out[k] = out[k].array;
        c->out_rows[k] = out[k].rows;
    }
    for (int i = 0; i < node->n_inputs; i++) eddy_array_free(in[i].array);
    eddy__node_run_end(&r);
    return ok;
}

bool eddy__eval_body(const eval_call *c)
{
    bool alone = false;
    for (int i = 0; i < c->node->n_inputs; i++) alone = alone || c->rows[i];
    if (!alone && run_compiled(c, &alone)) return true;
    if (!alone) return false;
    *c->error = (eddy_error){ 0 };
    return run_alone(c);
}
