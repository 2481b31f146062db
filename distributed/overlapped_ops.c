/* overlapped_ops.c -- AllReduceBegin and AllReduceEnd, between which other nodes run while
 * messages travel. The compiler runs the first as soon as its inputs are there, since it
 * exchanges data, and the second in the order of building, after the gradients that were built
 * before. */
#include "distributed/collective_op.h"

#include <string.h>

#define COLLECTIVE_FIELDS \
    EDDY_ATTRS(eddy_collective_attrs, communicator, ranks, rank, detail, from, node)
enum { COLLECTIVE = EDDY_OP_STATEFUL | EDDY_OP_UNSAVED | EDDY_OP_EXCHANGES };

static int64_t count_of(const eddy_kernel *k, int from)
{
    int64_t count = 0;
    for (int i = from; i < k->n_in; i++) count += k->in[i]->count;
    return count;
}

static bool begin_infer(eddy_infer *c)
{
    const eddy_collective_attrs *a = c->attrs;
    char                         why[100];
    c->out[0] = (eddy_type){ EDDY_INT64, EDDY_SCALAR };
    return eddy__reduction_fits((eddy_reduction)a->detail, c->in[0].dtype, why, sizeof why) ||
           eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s", why);
}

static void fill(void *context, void *data)
{
    const eddy_kernel *k = context;
    char              *at = data;
    for (int i = 0; i < k->n_in; i++) {
        const size_t bytes = (size_t)k->in[i]->count * eddy_dtype_size(k->in[i]->type.dtype);
        if (bytes > 0) memcpy(at, k->in[i]->data, bytes);
        at += bytes;
    }
}

static eddy_status begin_kernel(eddy_kernel *k)
{
    const eddy_collective_attrs *a = k->attrs;
    const int64_t                count = count_of(k, 0);
    const uint64_t               bytes = (uint64_t)count * eddy_dtype_size(k->in[0]->type.dtype);
    eddy_communicator           *c = eddy__communicator_take(a->communicator);
    eddy_error                   e = { 0 };
    if (!c) return eddy_kernel_fail(k, EDDY_CLOSED, "its communicator has been freed");
    const eddy_call_header h = eddy__kernel_header(
        k, EDDY_ALL_REDUCE, k->n_in > 1 ? EDDY_SHAPE(count) : k->in[0]->type.shape, NULL);
    *(int64_t *)k->out[0]->data = eddy__job_begin(c, &h, count, bytes, fill, k, &e);
    eddy__communicator_give(c);
    return e.status == EDDY_OK ? EDDY_OK : eddy_kernel_fail(k, e.status, "%s", e.message);
}

/* The inputs after the number of the job only have the types of the outputs. */
static bool end_infer(eddy_infer *c)
{
    if (!eddy_infer_outputs(c, c->n_in - 1)) return false;
    memcpy(c->out, c->in + 1, (size_t)(c->n_in - 1) * sizeof *c->out);
    return true;
}

static eddy_status stopped(const void *kernel) { return eddy_kernel_stopped(kernel); }

static void take(void *context, const void *data)
{
    const eddy_kernel *k = context;
    const char        *at = data;
    for (int i = 0; i < k->n_out; i++) {
        const size_t bytes = (size_t)k->out[i]->count * eddy_dtype_size(k->out[i]->type.dtype);
        if (bytes > 0) memcpy(k->out[i]->data, at, bytes);
        at += bytes;
    }
}

static eddy_status end_kernel(eddy_kernel *k)
{
    const eddy_collective_attrs *a = k->attrs;
    eddy_communicator           *c = eddy__communicator_take(a->communicator);
    eddy_error                   e = { 0 };
    if (!c) return eddy_kernel_fail(k, EDDY_CLOSED, "its communicator has been freed");
    eddy__job_end(c, *(const int64_t *)k->in[0]->data, stopped, k, take, k, &e);
    eddy__communicator_give(c);
    return e.status == EDDY_OK ? EDDY_OK : eddy_kernel_fail(k, e.status, "%s", e.message);
}

static const eddy_op_def all_reduce_begin = {
    .name = "AllReduceBegin", .min_inputs = 1, .max_inputs = EDDY_MAX_BUCKET, .outputs = 1,
    .flags = COLLECTIVE, .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "x", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_collective_attrs), .attrs = COLLECTIVE_FIELDS,
    .infer = begin_infer, .kernel = begin_kernel,
};

static const eddy_op_def all_reduce_end = {
    .name = "AllReduceEnd", .min_inputs = 2, .max_inputs = EDDY_MAX_BUCKET + 1,
    .outputs = EDDY_MANY, .flags = EDDY_OP_STATEFUL | EDDY_OP_UNSAVED, .shape_inputs = ~1u,
    .inputs = EDDY_INPUTS({ "begun", EDDY_TYPE(EDDY_INT64) | EDDY_RANK(0) },
                          { "x", EDDY_ANY_TYPE }),
    .attrs_size = sizeof(eddy_collective_attrs), .attrs = COLLECTIVE_FIELDS,
    .infer = end_infer, .kernel = end_kernel,
};

bool eddy__all_reduce_overlapped(eddy_communicator *c, eddy_list x, eddy_reduction how,
                                 eddy_tensor *y)
{
    eddy_graph           *g = x.at[0].graph;
    eddy_tensor           in[EDDY_MAX_BUCKET + 1];
    eddy_collective_attrs a;
    if (!eddy__collective_attrs(g, &all_reduce_begin, c, &a)) return false;
    a.detail = how;
    in[0] = eddy__collective_apply(g, &all_reduce_begin, &a, x.count, x.at, NULL);
    memcpy(in + 1, x.at, (size_t)x.count * sizeof *in);
    const eddy_tensor first =
        eddy_apply(&all_reduce_end, &a, x.count + 1, in, (eddy_apply_args){ .graph = g });
    for (int i = 0; i < x.count; i++) y[i] = eddy_output(first, i);
    return eddy_is_valid(first);
}
