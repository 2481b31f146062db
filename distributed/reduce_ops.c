/* reduce_ops.c -- AllReduce, ReduceFromRanks, CopyToRanks, ReduceToRoot and BroadcastFromRoot,
 * whose results have the shape of their input, and Barrier. */
#include "distributed/collective_op.h"
#include "distributed/parallel_layers.h"

#include "ops/short_names.h"

#include <string.h>

#define COLLECTIVE_FIELDS \
    EDDY_ATTRS(eddy_collective_attrs, communicator, ranks, rank, detail, from, node)
enum { COLLECTIVE = EDDY_OP_STATEFUL | EDDY_OP_UNSAVED | EDDY_OP_EXCHANGES };

/* -------------------------------------------------------------- AllReduce -- */

static bool all_reduce_infer(eddy_infer *c)
{
    const eddy_collective_attrs *a = c->attrs;
    char                         why[100];
    if (!eddy__reduction_fits((eddy_reduction)a->detail, c->in[0].dtype, why, sizeof why))
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s", why);
    if (!eddy_infer_outputs(c, c->n_in)) return false;
    memcpy(c->out, c->in, (size_t)c->n_in * sizeof *c->out);
    return true;
}

static int64_t count_of(const eddy_kernel *k)
{
    int64_t count = 0;
    for (int i = 0; i < k->n_in; i++) count += k->in[i]->count;
    return count;
}

/* Several inputs travel as one array. */
static eddy_status several_prepare(eddy_kernel *k)
{
    if (k->n_in > 1)
        k->scratch_size = (uint64_t)count_of(k) * eddy_dtype_size(k->in[0]->type.dtype);
    return EDDY_OK;
}

static void pack(const eddy_kernel *k, bool back)
{
    const size_t size = eddy_dtype_size(k->in[0]->type.dtype);
    char        *at = k->scratch;
    for (int i = 0; i < k->n_in; i++) {
        const size_t bytes = (size_t)k->in[i]->count * size;
        if (bytes == 0) continue;
        if (back) memcpy(k->out[i]->data, at, bytes);
        else memcpy(at, k->in[i]->data, bytes);
        at += bytes;
    }
}

/* Of several inputs, long ones are reduced where they are, and the others in one piece. */
enum { LONG_BYTES = 1 << 16 };

static bool is_long(const eddy_kernel *k, int i)
{
    return k->in[i]->count * (int64_t)eddy_dtype_size(k->in[i]->type.dtype) >= LONG_BYTES;
}

/* Copies short inputs one after the other, or from there to their outputs; their elements. */
static int64_t pack_short(const eddy_kernel *k, bool back)
{
    const int64_t size = (int64_t)eddy_dtype_size(k->in[0]->type.dtype);
    char         *at = k->scratch;
    int64_t       elements = 0;
    for (int i = 0; i < k->n_in; i++) {
        const int64_t count = k->in[i]->count;
        if (is_long(k, i) || count == 0) continue;
        if (back) memcpy(k->out[i]->data, at + elements * size, (size_t)(count * size));
        else memcpy(at + elements * size, k->in[i]->data, (size_t)(count * size));
        elements += count;
    }
    return elements;
}

static eddy_status all_reduce_kernel(eddy_kernel *k)
{
    const bool   several = k->n_in > 1;
    eddy_reduced arrays[EDDY_MAX_BUCKET + 1];
    eddy_call    call;
    int          n = 0;
    for (int i = 0; i < k->n_in; i++)
        if (!several || is_long(k, i))
            arrays[n++] = (eddy_reduced){ k->in[i]->data, k->out[i]->data, k->in[i]->count };
    const int64_t rest = several ? pack_short(k, false) : 0;
    if (rest > 0 || n == 0) arrays[n++] = (eddy_reduced){ k->scratch, k->scratch, rest };
    if (eddy__kernel_begin(k, &call, EDDY_ALL_REDUCE,
                           several ? EDDY_SHAPE(count_of(k)) : k->in[0]->type.shape, NULL))
        eddy__all_reduce_arrays(&call, n, arrays);
    if (rest > 0 && call.error.status == EDDY_OK) pack_short(k, true);
    return eddy__kernel_end(k, &call);
}

static eddy_status all_reduce_prepare(eddy_kernel *k)
{
    int64_t rest = 0;
    for (int i = 0; k->n_in > 1 && i < k->n_in; i++) rest += is_long(k, i) ? 0 : k->in[i]->count;
    k->scratch_size = (uint64_t)rest * eddy_dtype_size(k->in[0]->type.dtype);
    return EDDY_OK;
}

static void all_reduce_gradient(eddy_rule *r)
{
    eddy_collective_attrs a = *(const eddy_collective_attrs *)r->attrs;
    const bool extreme = a.detail == EDDY_REDUCE_MIN || a.detail == EDDY_REDUCE_MAX;
    if (extreme) a.detail = EDDY_REDUCE_SUM;
    eddy_tensor sum = eddy__collective_again(&eddy__op_all_reduce, &a, r->n_out, r->dy);
    for (int i = 0; i < r->n_in; i++) {
        r->dx[i] = eddy_output(sum, i);
        if (!extreme) continue;
        eddy_tensor has = eddy_cast(Equal(r->x[i], r->y[i]), eddy_dtype_of(r->x[i]));
        eddy_tensor all = eddy__collective_again(&eddy__op_all_reduce, &a, 1, &has);
        r->dx[i] = Mul(r->dx[i], DivNoNan(has, all));
    }
}

/* Inputs that are the same for all examples are repeated, so that all ranks agree. */
static void same_shape_batch(eddy_batch *b)
{
    eddy_tensor y = eddy_none(b->graph), x[EDDY_MAX_BUCKET];
    for (int i = 0; i < b->n_in; i++) x[i] = eddy_batch_input(b, i);
    y = eddy__collective_again(b->node->op, b->attrs, b->n_in, x);
    for (int i = 0; i < b->n_out; i++) b->y[i] = eddy_output(y, i);
}

const eddy_op_def eddy__op_all_reduce = {
    .name = "AllReduce", .min_inputs = 1, .max_inputs = EDDY_MAX_BUCKET, .outputs = EDDY_MANY,
    .flags = COLLECTIVE | EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "x", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_collective_attrs), .attrs = COLLECTIVE_FIELDS,
    .infer = all_reduce_infer, .prepare = all_reduce_prepare, .kernel = all_reduce_kernel,
    .gradient = all_reduce_gradient, .batch = same_shape_batch,
};

static eddy_tensor all_reduce(eddy_communicator *c, eddy_list x, eddy_reduction how,
                              const char *name)
{
    eddy_graph           *g = x.count > 0 ? x.at[0].graph : NULL;
    eddy_collective_attrs a;
    if (!eddy__collective_attrs(g, &eddy__op_all_reduce, c, &a)) return eddy_none(g);
    a.detail = how;
    return eddy__collective_apply(g, &eddy__op_all_reduce, &a, x.count, x.at, name);
}

eddy_tensor eddy_all_reduce_with(const eddy_all_reduce_args *given)
{
    eddy_all_reduce_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    return all_reduce(a.communicator, EDDY_LIST(a.x), a.reduction, a.name);
}

bool eddy_all_reduce_list(eddy_communicator *c, eddy_list x, eddy_reduction how, eddy_tensor *y)
{
    if (x.count < 1 || !x.at || !y) return false;
    eddy_tensor first = all_reduce(c, x, how, NULL);
    for (int i = 0; i < x.count; i++) y[i] = eddy_output(first, i);
    return eddy_is_valid(first);
}

/* -------------------------------------------- ReduceFromRanks, CopyToRanks -- */

static void reduce_from_ranks_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__collective_again(&eddy__op_copy_to_ranks, r->attrs, 1, r->dy);
}

/* The kernel is that of a sum: only the gradient is another one. */
const eddy_op_def eddy__op_reduce_from_ranks = {
    .name = "ReduceFromRanks",
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .flags = COLLECTIVE | EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS_COMPLEX }),
    .attrs_size = sizeof(eddy_collective_attrs),
    .attrs = COLLECTIVE_FIELDS,
    .infer = all_reduce_infer,
    .prepare = all_reduce_prepare,
    .kernel = all_reduce_kernel,
    .gradient = reduce_from_ranks_gradient,
    .batch = same_shape_batch,
};

static bool copy_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static void copy_to_ranks_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__collective_again(&eddy__op_reduce_from_ranks, r->attrs, 1, r->dy);
}

/* Exchanges nothing, and has no place in the order of collectives. */
const eddy_op_def eddy__op_copy_to_ranks = {
    .name = "CopyToRanks",
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .flags = EDDY_OP_ALIAS | EDDY_OP_UNSAVED,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS_COMPLEX }),
    .attrs_size = sizeof(eddy_collective_attrs),
    .attrs = COLLECTIVE_FIELDS,
    .infer = copy_infer,
    .gradient = copy_to_ranks_gradient,
    .batch = eddy_batch_as_is,
};

static eddy_tensor between_ranks(const eddy_op_def *op, eddy_communicator *c, eddy_tensor x)
{
    eddy_collective_attrs a;
    if (!eddy__collective_attrs(x.graph, op, c, &a)) return eddy_none(x.graph);
    return eddy__collective_apply(x.graph, op, &a, 1, &x, NULL);
}

eddy_tensor eddy_copy_to_ranks(eddy_communicator *c, eddy_tensor x)
{
    return between_ranks(&eddy__op_copy_to_ranks, c, x);
}

eddy_tensor eddy_reduce_from_ranks(eddy_communicator *c, eddy_tensor x)
{
    return between_ranks(&eddy__op_reduce_from_ranks, c, x);
}

/* ------------------------------------------------ ReduceToRoot, BroadcastFromRoot -- */

static bool rooted_infer(eddy_infer *c)
{
    const eddy_collective_attrs *a = c->attrs;
    if (a->detail < 0 || a->detail >= a->ranks)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "root is %lld; the number of ranks is %lld", (long long)a->detail,
                               (long long)a->ranks);
    if (c->op == &eddy__op_reduce_to_root && c->in[0].dtype == EDDY_BOOL)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "elements of type bool cannot be reduced");
    if (!eddy_infer_outputs(c, c->n_in)) return false;
    memcpy(c->out, c->in, (size_t)c->n_in * sizeof *c->out);
    return true;
}

/* What other ranks than the root have does not matter for a broadcast. */
static eddy_status rooted_kernel(eddy_kernel *k)
{
    const eddy_collective_attrs *a = k->attrs;
    const bool    several = k->n_in > 1, reduces = k->op == &eddy__op_reduce_to_root;
    const int64_t count = count_of(k);
    const size_t  bytes = (size_t)count * eddy_dtype_size(k->in[0]->type.dtype);
    const void   *in = several ? k->scratch : k->in[0]->data;
    void         *out = several ? k->scratch : k->out[0]->data;
    eddy_call     call;
    if (several && (reduces || a->detail == a->rank)) pack(k, false);
    if (eddy__kernel_begin(k, &call, reduces ? EDDY_REDUCE : EDDY_BROADCAST,
                           several ? EDDY_SHAPE(count) : k->in[0]->type.shape, NULL)) {
        if (reduces) eddy__reduce(&call, in, out, count);
        else eddy__broadcast(&call, in, out, bytes);
    }
    if (several && call.error.status == EDDY_OK) pack(k, true);
    return eddy__kernel_end(k, &call);
}

static void rooted_gradient(eddy_rule *r, const eddy_op_def *op)
{
    const eddy_tensor dx = eddy__collective_again(op, r->attrs, r->n_out, r->dy);
    for (int i = 0; i < r->n_in; i++) r->dx[i] = eddy_output(dx, i);
}

static void reduce_to_root_gradient(eddy_rule *r)
{
    rooted_gradient(r, &eddy__op_broadcast_from_root);
}
static void broadcast_from_root_gradient(eddy_rule *r)
{
    rooted_gradient(r, &eddy__op_reduce_to_root);
}

const eddy_op_def eddy__op_reduce_to_root = {
    .name = "ReduceToRoot", .min_inputs = 1, .max_inputs = EDDY_MAX_BUCKET, .outputs = EDDY_MANY,
    .flags = COLLECTIVE | EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "x", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_collective_attrs), .attrs = COLLECTIVE_FIELDS,
    .infer = rooted_infer, .prepare = several_prepare, .kernel = rooted_kernel,
    .gradient = reduce_to_root_gradient,
    .batch = same_shape_batch,
};

const eddy_op_def eddy__op_broadcast_from_root = {
    .name = "BroadcastFromRoot",
    .min_inputs = 1,
    .max_inputs = EDDY_MAX_BUCKET,
    .outputs = EDDY_MANY,
    .flags = COLLECTIVE | EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "x", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_collective_attrs),
    .attrs = COLLECTIVE_FIELDS,
    .infer = rooted_infer,
    .prepare = several_prepare,
    .kernel = rooted_kernel,
    .gradient = broadcast_from_root_gradient,
    .batch = same_shape_batch,
};

static eddy_tensor rooted(const eddy_op_def *op, const eddy_rooted_args *given)
{
    eddy_rooted_args      a = { .size_ = sizeof a };
    eddy_collective_attrs attrs;
    eddy_copy_options(&a, given);
    if (!eddy__collective_attrs(a.x.graph, op, a.communicator, &attrs)) return eddy_none(a.x.graph);
    attrs.detail = a.root;
    return eddy__collective_apply(a.x.graph, op, &attrs, 1, &a.x, a.name);
}

void eddy__rooted_list(const eddy_op_def *op, eddy_communicator *c, int root, int n,
                       const eddy_tensor *x, eddy_tensor *y)
{
    eddy_collective_attrs attrs;
    eddy_tensor           first = eddy_none(x[0].graph);
    if (eddy__collective_attrs(x[0].graph, op, c, &attrs)) {
        attrs.detail = root;
        first = eddy__collective_apply(x[0].graph, op, &attrs, n, x, NULL);
    }
    for (int i = 0; i < n; i++) y[i] = eddy_output(first, i);
}

eddy_tensor eddy_reduce_to_root_with(const eddy_rooted_args *given)
{
    return rooted(&eddy__op_reduce_to_root, given);
}

eddy_tensor eddy_broadcast_from_root_with(const eddy_rooted_args *given)
{
    return rooted(&eddy__op_broadcast_from_root, given);
}

/* ---------------------------------------------------------------- Barrier -- */

static bool barrier_infer(eddy_infer *c) { return (void)c, true; }

static eddy_status barrier_kernel(eddy_kernel *k)
{
    eddy_call call;
    if (eddy__kernel_begin(k, &call, EDDY_BARRIER, EDDY_SCALAR, NULL))
        eddy__collective_meet_all(&call);
    return eddy__kernel_end(k, &call);
}

const eddy_op_def eddy__op_barrier = {
    .name = "Barrier", .min_inputs = 0, .max_inputs = 0, .outputs = 0,
    .flags = COLLECTIVE | EDDY_OP_SIDE_EFFECT,
    .attrs_size = sizeof(eddy_collective_attrs), .attrs = COLLECTIVE_FIELDS,
    .infer = barrier_infer, .kernel = barrier_kernel, .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_barrier(eddy_graph *g, eddy_communicator *c)
{
    eddy_collective_attrs a;
    if (!eddy__collective_attrs(g, &eddy__op_barrier, c, &a)) return eddy_none(g);
    return eddy__collective_apply(g, &eddy__op_barrier, &a, 0, NULL, NULL);
}
