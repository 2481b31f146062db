/* eval_body.c -- eager evaluation of Loop and Case nodes: the node is compiled for the types of
 * its inputs and run once. */
#include "session/compile/program.h"
#include "session/eval_body.h"

#include <string.h>

typedef struct body_call {
    plan_feed         *feeds;
    const eddy_array **arrays;
    eddy_tensor       *fetches;
    eddy_tensor       *sizes;   /* inputs whose elements decide shapes */
    int                n_feeds, n_sizes;
} body_call;

/* Each input once: two may be the same tensor. */
static bool make_feeds(body_call *call, const eddy_node *node, const eddy_buffer *in,
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
static eddy_plan *compile_call(eddy_session *s, const eddy_node *node, body_call *call,
                               eddy_error *error)
{
    const eddy_list fetches = { node->n_outputs, call->fetches };
    for (;;) {
        eddy_tensor missing;
        eddy_plan  *p = eddy__compile(s, call->n_feeds, call->feeds, fetches,
                                      (eddy_list){ call->n_sizes, call->sizes }, &missing, error);
        if (p || missing.node == 0 || call->n_sizes == call->n_feeds) return p;
        call->sizes[call->n_sizes++] = missing;
        *error = (eddy_error){ 0 };
    }
}

static bool run(eddy_session *s, const eddy_node *node, body_call *call, eddy_array **out,
                uint64_t *taken, eddy_error *error)
{
    eddy_plan *p = compile_call(s, node, call, error);
    if (!p) return false;
    run_snapshot      snapshot = { .taken = taken };
    const eddy_status status = eddy__plan_run_locked(p, call->arrays, out, &snapshot);
    if (status != EDDY_OK) *error = p->error;
    eddy__plan_free(p);
    return status == EDDY_OK;
}

bool eddy__eval_body(eddy_session *s, eddy_arena *arena, const eddy_node *node,
                     const eddy_buffer *in, eddy_array **out, uint64_t *taken, eddy_error *error)
{
    const size_t n = (size_t)node->n_inputs + 1;
    body_call    call = { .feeds = eddy__arena_alloc(arena, n * sizeof *call.feeds),
                          .arrays = eddy__arena_alloc(arena, n * sizeof *call.arrays),
                          .fetches = eddy__arena_alloc(arena, ((size_t)node->n_outputs + 1) *
                                                       sizeof *call.fetches),
                          .sizes = eddy__arena_alloc(arena, n * sizeof *call.sizes) };
    if (!call.feeds || !call.arrays || !call.fetches || !call.sizes)
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    for (int k = 0; k < node->n_outputs; k++)
        call.fetches[k] = eddy__tensor_at(s->graph, node->id, k);
    const bool ok = make_feeds(&call, node, in, error) && run(s, node, &call, out, taken, error);
    for (int i = 0; i < call.n_feeds; i++) eddy_array_free((eddy_array *)(uintptr_t)call.arrays[i]);
    return ok;
}
