/* row_ops.c -- AllGather, ReduceScatter, AllToAll and SendReceive: collectives that move rows. */
#include "distributed/collective_op.h"

#include "ops/short_names.h"

enum { COLLECTIVE = EDDY_OP_STATEFUL | EDDY_OP_UNSAVED | EDDY_OP_EXCHANGES };

/* ----------------------------------------------------------------- shapes -- */

/* The sum of the rows in input i; EDDY_ANY if they are not known. *mine is this rank's. */
static bool rows_of(eddy_infer *c, int i, int64_t *sum, int64_t *mine)
{
    const eddy_collective_attrs *a = c->attrs;
    const eddy_shape             s = c->in[i].shape;
    *sum = *mine = EDDY_ANY;
    if (s.rank >= 0 && (s.rank != 1 || (s.dim[0] >= 0 && s.dim[0] != a->ranks)))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "rows needs a number for each rank; the number of ranks is %lld",
                               (long long)a->ranks);
    if (!c->value[i]) return true;
    *sum = 0;
    for (int64_t r = 0; r < a->ranks; r++) {
        const int64_t n = ((const int64_t *)eddy_array_data(c->value[i]))[r];
        if (n < 0 || n > INT32_MAX)
            return eddy_infer_fail(c, EDDY_OUT_OF_RANGE, "rows[%lld] is %lld", (long long)r,
                                   (long long)n);
        *sum += n;
    }
    *mine = ((const int64_t *)eddy_array_data(c->value[i]))[a->rank];
    return true;
}

/* y has the type of x with another number of rows. */
static bool yield_rows(eddy_infer *c, int64_t rows)
{
    c->out[0] = c->in[0];
    if (c->in[0].shape.rank > 0) c->out[0].shape.dim[0] = rows;
    return true;
}

/* Equal numbers of rows for all ranks: false if that is impossible. */
static bool divides(eddy_infer *c, int64_t *each)
{
    const eddy_collective_attrs *a = c->attrs;
    const int64_t                n = c->in[0].shape.rank > 0 ? c->in[0].shape.dim[0] : EDDY_ANY;
    *each = n < 0 ? EDDY_ANY : n / a->ranks;
    if (n < 0 || n % a->ranks == 0) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "%lld rows cannot be divided equally among %lld ranks; "
                           "`rows` gives unequal numbers",
                           (long long)n, (long long)a->ranks);
}

static bool sums_to(eddy_infer *c, int64_t sum)
{
    const int64_t n = c->in[0].shape.rank > 0 ? c->in[0].shape.dim[0] : EDDY_ANY;
    return n < 0 || sum < 0 || n == sum ||
           eddy_infer_fail(c, EDDY_BAD_SHAPE, "rows sums to %lld, and x has %lld rows",
                           (long long)sum, (long long)n);
}

static bool all_gather_infer(eddy_infer *c)
{
    const eddy_collective_attrs *a = c->attrs;
    const int64_t                n = c->in[0].shape.rank > 0 ? c->in[0].shape.dim[0] : EDDY_ANY;
    int64_t                      sum = n < 0 ? EDDY_ANY : n * a->ranks, mine = n;
    if (c->n_in > 1 && !rows_of(c, 1, &sum, &mine)) return false;
    if (n >= 0 && mine >= 0 && n != mine)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x has %lld rows, and rows[%lld] is %lld",
                               (long long)n, (long long)a->rank, (long long)mine);
    return yield_rows(c, sum);
}

static bool reduce_scatter_infer(eddy_infer *c)
{
    int64_t sum, mine;
    if (c->in[0].dtype == EDDY_BOOL)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "elements of type bool cannot be reduced");
    if (c->n_in == 1) return divides(c, &mine) && yield_rows(c, mine);
    return rows_of(c, 1, &sum, &mine) && sums_to(c, sum) && yield_rows(c, mine);
}

static bool all_to_all_infer(eddy_infer *c)
{
    int64_t sent, received, mine;
    if (c->n_in == 1) {
        int64_t each;
        return divides(c, &each) &&
               yield_rows(c, c->in[0].shape.rank > 0 ? c->in[0].shape.dim[0] : 0);
    }
    return rows_of(c, 1, &sent, &mine) && sums_to(c, sent) && rows_of(c, 2, &received, &mine) &&
           yield_rows(c, received);
}

/* ---------------------------------------------------------------- kernels -- */

static size_t row_bytes_of(const eddy_buffer *x)
{
    size_t bytes = eddy_dtype_size(x->type.dtype);
    for (int i = 1; i < x->type.shape.rank; i++) bytes *= (size_t)x->type.shape.dim[i];
    return bytes;
}

/* Room for the numbers of rows, where all are equal. */
static eddy_status rows_prepare(eddy_kernel *k)
{
    const eddy_collective_attrs *a = k->attrs;
    k->scratch_size = (uint64_t)a->ranks * sizeof(int64_t);
    return EDDY_OK;
}

/* The numbers of rows in input i, or `each` for every rank. */
static const int64_t *rows_in(const eddy_kernel *k, int i, int64_t each)
{
    const eddy_collective_attrs *a = k->attrs;
    int64_t                     *rows = k->scratch;
    if (k->n_in > i) return k->in[i]->data;
    for (int64_t r = 0; r < a->ranks; r++) rows[r] = each;
    return rows;
}

static eddy_status all_gather_kernel(eddy_kernel *k)
{
    const int64_t *rows = rows_in(k, 1, k->in[0]->type.shape.dim[0]);
    eddy_call      call;
    if (eddy__kernel_begin(k, &call, EDDY_ALL_GATHER, k->in[0]->type.shape, rows))
        eddy__all_gather(&call, k->in[0]->data, k->out[0]->data, rows, row_bytes_of(k->in[0]));
    return eddy__kernel_end(k, &call);
}

static eddy_status reduce_scatter_kernel(eddy_kernel *k)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    const int64_t   *rows = rows_in(k, 1, k->out[0]->type.shape.dim[0]);
    eddy_call        call;
    if (eddy__kernel_begin(k, &call, EDDY_REDUCE_SCATTER, k->in[0]->type.shape, rows))
        eddy__reduce_scatter(&call, k->in[0]->data, k->out[0]->data, rows,
                             (int64_t)(row_bytes_of(k->in[0]) / eddy_dtype_size(d)));
    return eddy__kernel_end(k, &call);
}

static eddy_status all_to_all_kernel(eddy_kernel *k)
{
    const eddy_collective_attrs *a = k->attrs;
    const int64_t                each = k->in[0]->type.shape.dim[0] / a->ranks;
    const int64_t               *sent = rows_in(k, 1, each), *received = rows_in(k, 2, each);
    eddy_call                    call;
    if (eddy__kernel_begin(k, &call, EDDY_ALL_TO_ALL, k->in[0]->type.shape, NULL))
        eddy__all_to_all(&call, k->in[0]->data, sent, k->out[0]->data, received,
                         row_bytes_of(k->in[0]));
    return eddy__kernel_end(k, &call);
}

/* --------------------------------------------------------------- gradients -- */

static void all_gather_gradient(eddy_rule *r)
{
    const eddy_tensor x[] = { r->dy[0], r->x[r->n_in - 1] };
    r->dx[0] = eddy__collective_again(&eddy__op_reduce_scatter, r->attrs, r->n_in, x);
}

static void reduce_scatter_gradient(eddy_rule *r)
{
    const eddy_tensor x[] = { r->dy[0], r->x[r->n_in - 1] };
    r->dx[0] = eddy__collective_again(&eddy__op_all_gather, r->attrs, r->n_in, x);
}

static void all_to_all_gradient(eddy_rule *r)
{
    const bool        uneven = r->n_in == 3;
    const eddy_tensor x[] = { r->dy[0], uneven ? r->x[2] : r->x[0], uneven ? r->x[1] : r->x[0] };
    r->dx[0] = eddy__collective_again(&eddy__op_all_to_all, r->attrs, r->n_in, x);
}

/* --------------------------------------------------------------- batching -- */

/* Exchanges axes 0 and 1: rows come first, and examples second. */
static eddy_tensor exchange_axes(eddy_tensor x)
{
    const int rank = eddy_shape_of(x).rank;
    eddy_dims axes = EDDY_DIMS(1, 0);
    for (int i = 2; i < rank; i++) axes.at[axes.count++] = i;
    return eddy_transpose(x, axes);
}

static void rows_batch(eddy_batch *b)
{
    eddy_tensor x[3];
    if (eddy_shape_of(b->node->inputs[0]).rank < 1) return;
    for (int i = 0; i < b->n_in; i++) {
        if (i > 0 && b->batched[i]) return;     /* numbers of rows differ between examples */
        x[i] = i == 0 ? exchange_axes(eddy_batch_input(b, 0)) : b->x[i];
    }
    b->y[0] = exchange_axes(eddy__collective_again(b->node->op, b->attrs, b->n_in, x));
}

/* ------------------------------------------------------------ definitions -- */

#define ROWS_OP(name_, most, rows, infer_, kernel_, gradient_) {                               \
    .name = name_, .min_inputs = 1, .max_inputs = most, .outputs = 1, .flags = COLLECTIVE,     \
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE | EDDY_RANK_FROM(1) },                          \
                          { "rows", EDDY_TYPE(EDDY_INT64) | EDDY_RANK(1) }),                   \
    .value_inputs = rows, .attrs_size = sizeof(eddy_collective_attrs),                         \
    .attrs = EDDY_ATTRS(eddy_collective_attrs, communicator, ranks, rank, detail, from, node), \
    .infer = infer_, .prepare = rows_prepare, .kernel = kernel_, .gradient = gradient_,        \
    .batch = rows_batch,                                                                       \
}

const eddy_op_def eddy__op_all_gather =
    ROWS_OP("AllGather", 2, 1 << 1, all_gather_infer, all_gather_kernel, all_gather_gradient);
const eddy_op_def eddy__op_reduce_scatter =
    ROWS_OP("ReduceScatter", 2, 1 << 1, reduce_scatter_infer, reduce_scatter_kernel,
            reduce_scatter_gradient);
const eddy_op_def eddy__op_all_to_all =
    ROWS_OP("AllToAll", 3, 1 << 1 | 1 << 2, all_to_all_infer, all_to_all_kernel,
            all_to_all_gradient);

/* --------------------------------------------------------------- builders -- */

/* The number of rows of x, as int64[1]. */
static eddy_tensor number_of_rows(eddy_tensor x)
{
    return eddy_slice(eddy_shape_tensor(x, EDDY_INT64), EDDY_DIMS(0), EDDY_DIMS(1));
}

static eddy_tensor apply_rows(const eddy_op_def *op, eddy_communicator *c, int n,
                              const eddy_tensor *x, const char *name)
{
    eddy_graph           *g = x[0].graph;
    eddy_collective_attrs attrs;
    if (!eddy__collective_attrs(g, op, c, &attrs)) return eddy_none(g);
    return eddy__collective_apply(g, op, &attrs, n, x, name);
}

eddy_tensor eddy_all_gather_with(const eddy_all_gather_args *given)
{
    eddy_all_gather_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    eddy_tensor x[2] = { a.x };
    if (a.uneven) {
        const eddy_tensor rows = number_of_rows(a.x);
        x[1] = apply_rows(&eddy__op_all_gather, a.communicator, 1, &rows, NULL);
    }
    return apply_rows(&eddy__op_all_gather, a.communicator, 1 + a.uneven, x, a.name);
}

eddy_tensor eddy_reduce_scatter_with(const eddy_reduce_scatter_args *given)
{
    eddy_reduce_scatter_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    return apply_rows(&eddy__op_reduce_scatter, a.communicator, 1 + (a.rows.graph != NULL),
                      (eddy_tensor[]){ a.x, a.rows }, a.name);
}

eddy_tensor eddy_all_to_all_with(const eddy_all_to_all_args *given)
{
    eddy_all_to_all_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    eddy_tensor x[3] = { a.x, a.rows };
    const bool  uneven = a.rows.graph != NULL;
    if (uneven) x[2] = apply_rows(&eddy__op_all_to_all, a.communicator, 1, &a.rows, NULL);
    return apply_rows(&eddy__op_all_to_all, a.communicator, uneven ? 3 : 1, x, a.name);
}

/* ------------------------------------------------------------ SendReceive -- */

static bool send_receive_infer(eddy_infer *c)
{
    const eddy_collective_attrs *a = c->attrs;
    if (a->detail < -1 || a->detail >= a->ranks || a->from < -1 || a->from >= a->ranks)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "to is %lld and from is %lld; the number of ranks is %lld",
                               (long long)a->detail, (long long)a->from, (long long)a->ranks);
    if ((a->detail == a->rank) != (a->from == a->rank))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "rank %lld sends to itself or receives from "
                               "itself, not both",
                               (long long)a->rank);
    c->out[0] = c->in[0];
    return true;
}

static eddy_status send_receive_kernel(eddy_kernel *k)
{
    const eddy_collective_attrs *a = k->attrs;
    const size_t bytes = (size_t)k->in[0]->count * eddy_dtype_size(k->in[0]->type.dtype);
    eddy_call    call;
    if (eddy__kernel_begin(k, &call, EDDY_SEND_RECEIVE, k->in[0]->type.shape, NULL))
        eddy__send_receive(&call, k->in[0]->data, (int)a->detail, k->out[0]->data, (int)a->from,
                           bytes);
    return eddy__kernel_end(k, &call);
}

static void send_receive_gradient(eddy_rule *r)
{
    const eddy_collective_attrs *a = r->attrs;
    eddy_collective_attrs        back = *a;
    back.detail = a->from;
    back.from = a->detail;
    r->dx[0] = eddy__collective_again(&eddy__op_send_receive, &back, 1, r->dy);
}

static void send_receive_batch(eddy_batch *b)
{
    const eddy_tensor x = eddy_batch_input(b, 0);
    b->y[0] = eddy__collective_again(&eddy__op_send_receive, b->attrs, 1, &x);
}

const eddy_op_def eddy__op_send_receive = {
    .name = "SendReceive", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = COLLECTIVE,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }), .attrs_size = sizeof(eddy_collective_attrs),
    .attrs = EDDY_ATTRS(eddy_collective_attrs, communicator, ranks, rank, detail, from, node),
    .infer = send_receive_infer, .kernel = send_receive_kernel, .gradient = send_receive_gradient,
    .batch = send_receive_batch,
};

eddy_tensor eddy_send_receive_with(const eddy_send_receive_args *given)
{
    eddy_send_receive_args a = { .size_ = sizeof a, .to = -1, .from = -1 };
    eddy_collective_attrs  attrs;
    eddy_copy_options(&a, given);
    if (!eddy__collective_attrs(a.x.graph, &eddy__op_send_receive, a.communicator, &attrs))
        return eddy_none(a.x.graph);
    attrs.detail = a.to;
    attrs.from = a.from;
    return eddy__collective_apply(a.x.graph, &eddy__op_send_receive, &attrs, 1, &a.x, a.name);
}
