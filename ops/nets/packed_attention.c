/* packed_attention.c -- packed self-attention: q, k and v of all heads in one tensor, as one
 * projection produces them.
 *
 * It is an operation of its own, not an attribute of scaled dot-product attention: it has one
 * input instead of three, and its gradient is one tensor in the layout that the gradient of the
 * projection needs. The kernel of a head accepts rows at any stride, so nothing is transposed. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/nets/attention_gradient.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"
#include "ops/nets/expect_shape.h"

/* *qkv = [batch, s, 3, heads, d], as far as it is known. */
static bool packed_shape(eddy_infer *c, eddy_shape *qkv)
{
    char text[128];
    *qkv = c->in[0].shape.rank < 0 ? eddy__shape_open(5) : c->in[0].shape;
    if (qkv->rank == 5 && (qkv->dim[2] == 3 || qkv->dim[2] == EDDY_ANY)) {
        qkv->dim[2] = 3;
        return true;
    }
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "qkv has shape %s; expected [batch, s, 3, heads, d]",
                           eddy_shape_print(*qkv, text, sizeof text));
}

/* [batch, s, heads, d] and [batch, s, heads]. */
static eddy_shape packed_result(eddy_shape qkv) { return eddy__shape_without(qkv, 2); }
static eddy_shape packed_sum(eddy_shape qkv)
{
    return eddy__shape_without(packed_result(qkv), 3);
}

/* --------------------------------------------------------------- the kernels -- */

typedef struct heads {
    const eddy_kernel  *k;
    eddy_attention_head first;
    int64_t             count;           /* heads of one example */
    size_t              size;
    uint64_t            scratch;
    bool                gradient;
} heads;

enum { FORWARD, BACKWARD };

static heads heads_of(const eddy_kernel *k)
{
    const bool gradient = k->op->variant == BACKWARD;
    const eddy_attention_attrs *a = k->attrs;
    const eddy_shape s = k->in[0]->type.shape;
    const int64_t n = s.dim[3], d = s.dim[4], row = n * d;
    heads h = { .k = k, .count = n, .gradient = gradient,
                .size = eddy_dtype_size(k->in[0]->type.dtype) };
    h.first = (eddy_attention_head){
        .s = s.dim[1], .t = s.dim[1], .d = d, .e = d, .scale = eddy__attention_scale(a, d),
        .causal = a->causal, .q.step = 3 * row, .k.step = 3 * row, .v.step = 3 * row,
        .y.step = row, .sum.step = n, .stop = k->stop,
    };
    h.scratch = eddy__attention_scratch(k->in[0]->type.dtype, &h.first, gradient);
    return h;
}

static void *element_at(void *data, int64_t i, size_t size)
{
    return data ? (char *)data + (size_t)i * size : NULL;
}

static void run_heads(void *heads_, int64_t from, int64_t to, int worker)
{
    const heads *h = heads_;
    eddy_buffer *const *in = h->k->in, *const *out = h->k->out;
    char *scratch = (char *)h->k->scratch + (size_t)worker * h->scratch;
    for (int64_t i = from; i < to; i++) {
        eddy_attention_head one = h->first;
        const int64_t row = h->count * one.d, head = i % h->count, first = i / h->count * one.s;
        const int64_t q = 3 * first * row + head * one.d, y = first * row + head * one.d;
        const int64_t sum = first * h->count + head;
        one.q.at = element_at(in[0]->data, q, h->size);
        one.k.at = element_at(in[0]->data, q + row, h->size);
        one.v.at = element_at(in[0]->data, q + 2 * row, h->size);
        if (h->gradient) {
            one.y.at = element_at(in[1]->data, y, h->size);
            one.sum.at = element_at(in[2]->data, sum, h->size);
            one.y.dy_at = element_at(in[3]->data, y, h->size);
            one.sum.dy_at = element_at(in[4]->data, sum, h->size);
            one.q.dx_to = element_at(out[0]->data, q, h->size);
            one.k.dx_to = element_at(out[0]->data, q + row, h->size);
            one.v.dx_to = element_at(out[0]->data, q + 2 * row, h->size);
            eddy__attention_backward(in[0]->type.dtype, &one, scratch);
        } else {
            one.y.to = element_at(out[0]->data, y, h->size);
            one.sum.to = element_at(out[1]->data, sum, h->size);
            eddy__attention_forward(in[0]->type.dtype, &one, scratch);
        }
    }
}

static eddy_status packed_kernel(eddy_kernel *k)
{
    heads h = heads_of(k);
    const int64_t n = k->in[0]->type.shape.dim[0] * h.count;
    eddy__parallel_or_stop(k, n, eddy__attention_grain(&h.first), run_heads, &h);
    return EDDY_OK;
}

static eddy_status packed_prepare(eddy_kernel *k)
{
    k->scratch_size = heads_of(k).scratch * (uint64_t)k->threads;
    return EDDY_OK;
}

/* Like eddy_scaled_dot_product_attention: `products` of s s d for each head. */
static double packed_flops_of(const eddy_type *in, double products)
{
    const eddy_shape s = in[0].shape;
    const double rows = (double)s.dim[0] * (double)s.dim[1] * (double)s.dim[3];
    return rows * (double)s.dim[1] * (2 * products * (double)s.dim[4] + 5);
}

static double packed_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return packed_flops_of(in, 2);
}

static double packed_grad_flops(const void *attrs, int n_in, const eddy_type *in,
                                const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return packed_flops_of(in, 5);
}

/* Merges the examples into the batch and separates them again. */
static void packed_batch(eddy_batch *b)
{
    eddy_tensor x[5];
    const eddy_tensor like = eddy_sum(eddy_batch_input(b, 0), EDDY_AXES(2, 3, 4, 5));
    for (int i = 0; i < b->n_in; i++)
        x[i] = eddy_merge_leading(eddy_batch_input(b, i), like);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, x, (eddy_apply_args){ 0 });
    for (int i = 0; i < b->n_out; i++) b->y[i] = eddy_unflatten_like(eddy_output(y, i), like, 0, 0);
}

/* ------------------------------------------------------------------ gradient -- */

static bool packed_grad_infer(eddy_infer *c)
{
    eddy_shape qkv;
    if (!packed_shape(c, &qkv)) return false;
    const eddy_shape y = packed_result(qkv), sum = packed_sum(qkv);
    return eddy__expect_shape(c, 1, "y", y) && eddy__expect_shape(c, 2, "log_sum", sum) &&
           eddy__expect_shape(c, 3, "dy", y) && eddy__expect_shape(c, 4, "dlog_sum", sum) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, qkv);
}

/* Moves heads before rows, or back: of y, and of a tensor with one number per row. */
static eddy_tensor swap_heads_and_steps(eddy_tensor x)
{
    return eddy_transpose(x, EDDY_DIMS(0, 2, 1, 3));
}
static eddy_tensor transposed_sum(eddy_tensor x) { return eddy_transpose(x, EDDY_DIMS(0, 2, 1)); }

static eddy_tensor part_of(eddy_tensor qkv, int i)
{
    return swap_heads_and_steps(eddy_output(eddy_unstack(qkv, 2, .num = 3), i));
}

static eddy_tensor packed(const eddy_tensor *x)
{
    const eddy_tensor parts[] = { swap_heads_and_steps(x[0]), swap_heads_and_steps(x[1]),
                                  swap_heads_and_steps(x[2]) };
    return eddy_stack((eddy_list){ 3, parts }, 2);
}

static void packed_grad_gradient(eddy_rule *r)
{
    const eddy_tensor *x = r->x, d = r->dy[0];
    const eddy_tensor g[] = { part_of(d, 0), part_of(d, 1), part_of(d, 2) };
    const eddy_attention_terms t = {
        .attrs = r->attrs, .q = part_of(x[0], 0), .k = part_of(x[0], 1), .v = part_of(x[0], 2),
        .y = swap_heads_and_steps(x[1]), .sum = transposed_sum(x[2]),
        .dy = swap_heads_and_steps(x[3]), .dsum = transposed_sum(x[4]), .mask = eddy_none(r->graph),
    };
    eddy_tensor dx[8];
    eddy__attention_second(&t, g, dx);
    r->dx[0] = packed(dx);
    for (int i = 1; i < 5; i += 2) {
        r->dx[i] = swap_heads_and_steps(dx[i + 2]);
        r->dx[i + 1] = transposed_sum(dx[i + 3]);
    }
}

const eddy_op_def eddy_op_packed_self_attention_grad = {
    .name = "PackedSelfAttentionGrad", .min_inputs = 5, .max_inputs = 5, .outputs = 1,
    .variant = BACKWARD,
    .inputs = EDDY_INPUTS({ "qkv", EDDY_TAKES_FLOATS }, { "y", EDDY_LIKE(0) },
                          { "log_sum", EDDY_LIKE(0) }, { "dy", EDDY_LIKE(0) },
                          { "dlog_sum", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_attention_attrs), .attrs = eddy__attention_fields,
    .infer = packed_grad_infer, .prepare = packed_prepare, .kernel = packed_kernel,
    .gradient = packed_grad_gradient, .batch = packed_batch, .flops = packed_grad_flops,
};

/* ----------------------------------------------------------------- attention -- */

#ifdef EDDY_HEADER
typedef struct eddy_packed_self_attention_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_packed_self_attention_args));
    eddy_tensor qkv;              /* [batch,s,3,heads,d] */
    bool        causal;           /* row i attends only to rows 0 to i */
    double      scale EDDY_DEFAULT(EDDY_OMITTED); /* default: 1 / sqrt(d) */
    const char *name;
} eddy_packed_self_attention_args;
#endif

static bool packed_infer(eddy_infer *c)
{
    eddy_shape qkv;
    return packed_shape(c, &qkv) && eddy__infer_yield(c, 0, c->in[0].dtype, packed_result(qkv)) &&
           eddy__infer_yield(c, 1, c->in[0].dtype, packed_sum(qkv));
}

static void packed_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->x[0], r->y[0], r->y[1], r->dy[0], r->dy[1] };
    r->dx[0] = eddy_apply(&eddy_op_packed_self_attention_grad, r->attrs, 5, in,
                          (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_packed_self_attention = {
    .name = "PackedSelfAttention", .label = "attention", .min_inputs = 1, .max_inputs = 1,
    .outputs = 2, .variant = FORWARD, .inputs = EDDY_INPUTS({ "qkv", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(eddy_attention_attrs), .attrs = eddy__attention_fields,
    .infer = packed_infer, .prepare = packed_prepare, .kernel = packed_kernel,
    .gradient = packed_gradient, .batch = packed_batch, .flops = packed_flops,
};

/** y = the self-attention of each head of qkv, as in eddy_scaled_dot_product_attention.
 *
 *  qkv     float32 or float64 [batch, s, 3, heads, d]: for each position of a sequence its
 *          rows of q, of k and of v, each with all heads adjacent; this is one projection
 *          [batch, s, 3 heads d], reshaped
 *  causal  position i attends only to positions 0 to i
 *  scale   default: 1 / sqrt(d)
 *
 *  Returns y [batch, s, heads, d], which eddy_reshape can reshape to [batch, s, heads d];
 *  eddy_output(y, 1) is the logarithm of the sum of the exponentials, [batch, s, heads].
 *  Nothing is transposed, and the gradient has the layout of qkv.
 *  Errors: EDDY_BAD_SHAPE for other shapes.
 *  Gradient: as for eddy_scaled_dot_product_attention.
 *  TensorFlow: Split, Transpose, MatMul, Softmax, MatMul, Transpose. */
eddy_tensor eddy_packed_self_attention_with(const eddy_packed_self_attention_args *given)
{
    eddy_packed_self_attention_args a = EDDY_TAKE(eddy_packed_self_attention_args, given);
    const eddy_attention_attrs attrs = { a.causal, eddy__attribute_number(a.scale) };
    return eddy__apply_named(a.name, &eddy_op_packed_self_attention, &attrs, 1, &a.qkv);
}
