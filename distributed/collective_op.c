/* collective_op.c -- what the operations of collectives share: their order, and the calls of their
 * kernels. */
#include "distributed/collective_op.h"

#include <string.h>

/* --------------------------------------------------------------- building -- */

bool eddy__collective_attrs(eddy_graph *g, const eddy_op_def *op, const eddy_communicator *c,
                            eddy_collective_attrs *out)
{
    *out = (eddy_collective_attrs){ 0 };
    if (!c) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: there is no communicator", op->name);
    else *out = (eddy_collective_attrs){ .communicator = c->id, .ranks = c->n, .rank = c->me };
    return c != NULL;
}

/* The last collective of the graph. The body of a loop or branch has copies of its own, which the
 * graph does not run. */
static eddy_tensor last_of(eddy_graph *g)
{
    int i = eddy_collection_size(g, EDDY_COLLECTIVES) - 1;
    while (i >= 0 && eddy_node_of(eddy_collection_at(g, EDDY_COLLECTIVES, i))->traced) i--;
    return eddy_collection_at(g, EDDY_COLLECTIVES, i);
}

eddy_tensor eddy__collective_apply(eddy_graph *g, const eddy_op_def *op,
                                   const eddy_collective_attrs *attrs, int n, const eddy_tensor *x,
                                   const char *name)
{
    char                  node[EDDY_CALL_NAME];
    eddy_collective_attrs a = *attrs;
    const bool            exchanges = op->flags & EDDY_OP_EXCHANGES;
    const eddy_tensor     before = exchanges ? last_of(g) : eddy_none(g);
    a.node = eddy_unique_name(g, name ? name : op->name, false, node, sizeof node);
    eddy_control_begin(g, (eddy_list){ before.node != 0, &before });
    eddy_tensor y = eddy_apply(op, &a, n, x, (eddy_apply_args){ .graph = g, .name = name });
    eddy_control_end(g);
    if (exchanges && eddy_is_valid(y)) eddy_collection_add(g, EDDY_COLLECTIVES, y);
    return y;
}

eddy_tensor eddy__collective_again(const eddy_op_def *op, const void *attrs, int n,
                                   const eddy_tensor *x)
{
    return eddy__collective_apply(x[0].graph, op, attrs, n, x, NULL);
}

/* ---------------------------------------------------------------- kernels -- */

static eddy_status stopped(const void *kernel) { return eddy_kernel_stopped(kernel); }

/* Of the shapes of several inputs, or of numbers of rows. */
static uint64_t hash_of(const eddy_kernel *k, int64_t ranks, const int64_t *rows)
{
    uint64_t h = 0;
    for (int64_t r = 0; rows && r < ranks; r++) h = h * 31 + (uint64_t)rows[r] + 1;
    for (int i = 0; k->n_in > 1 && !rows && i < k->n_in; i++) {
        const eddy_shape s = k->in[i]->type.shape;
        h = h * 31 + 7;
        for (int j = 0; j < s.rank; j++) h = h * 31 + (uint64_t)s.dim[j];
    }
    return h;
}

eddy_call_header eddy__kernel_header(const eddy_kernel *k, eddy_collective kind, eddy_shape shape,
                                     const int64_t *rows)
{
    const eddy_collective_attrs *a = k->attrs;
    const bool lists = kind == EDDY_ALL_REDUCE || kind == EDDY_BROADCAST || kind == EDDY_REDUCE;
    eddy_call_header h = { .kind = (int32_t)kind };
    if (lists) h.detail = (int32_t)a->detail;
    if (k->n_in > 0) h.dtype = (int32_t)k->in[0]->type.dtype;
    h.shape = shape;
    if (a->node) snprintf(h.name, sizeof h.name, "%s", a->node);
    h.parts = lists ? k->n_in : 1;
    if (kind != EDDY_ALL_TO_ALL) h.hash = hash_of(k, a->ranks, rows);
    return h;
}

bool eddy__kernel_begin(eddy_kernel *k, eddy_call *call, eddy_collective kind, eddy_shape shape,
                        const int64_t *rows)
{
    const eddy_collective_attrs *a = k->attrs;
    eddy_communicator           *c = eddy__communicator_take(a->communicator);
    *call = (eddy_call){ .stopped = stopped, .run = k };
    if (!c)
        return eddy__distributed_fail(&call->error, EDDY_CLOSED, "its communicator has been freed");
    const eddy_call_header h = eddy__kernel_header(k, kind, shape, rows);
    return eddy__collective_begin(call, c, &h);
}

eddy_status eddy__kernel_end(eddy_kernel *k, eddy_call *call)
{
    if (call->c) {
        eddy__collective_end(call);
        eddy__communicator_give(call->c);
    }
    if (call->error.status == EDDY_OK) return EDDY_OK;
    return eddy_kernel_fail(k, call->error.status, "%s", call->error.message);
}
