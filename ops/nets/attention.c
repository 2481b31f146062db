/* attention.c -- scaled dot-product attention: softmax(scale q k' + mask) v.
 *
 * The scores are never stored. Besides y, the operation returns the logarithm of the sum of each
 * row's exponentials (log-sum-exp), from which the gradient recomputes the probabilities P. The
 * gradient is an operation, a smooth function of all its inputs, which include y and those
 * logarithms, so that its own rule does not depend on how they were computed; that rule is composed
 * of ordinary operations. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/kernels/sequences/attention_head.h"
#include "ops/nets/attention_gradient.h"
#include "ops/arrays/batching.h"
#include "ops/ops.h"
#include "ops/nets/expect_shape.h"

#include <math.h>

const eddy_attr_field eddy__attention_fields[] = EDDY_FIELDS(eddy_attention_attrs, causal, scale);

/* --------------------------------------------------------------- inferring -- */

/* Merges the known dimensions of q, k and v: all get the common leading dimensions. */
static bool shapes_fit(eddy_infer *c, eddy_shape *q, eddy_shape *k, eddy_shape *v)
{
    eddy_shape *const all[] = { q, k, v };
    int  rank = -1;
    bool same = true;
    for (int i = 0; i < 3; i++) {
        *all[i] = c->in[i].shape;
        if (all[i]->rank < 0) continue;
        same = same && all[i]->rank >= 2 && (rank < 0 || all[i]->rank == rank);
        rank = all[i]->rank;
    }
    for (int i = 0; i < 3 && rank >= 0; i++)
        if (all[i]->rank < 0) *all[i] = eddy__shape_open(rank);
    for (int a = 0; same && a < rank - 2; a++)
        for (int i = 0; i < 6; i++)
            same = same && eddy__dim_unify(&all[(i + 1) % 3]->dim[a], all[i % 3]->dim[a]);
    if (same && rank >= 0)
        same = eddy__dim_unify(&k->dim[rank - 1], q->dim[rank - 1]) &&
               eddy__dim_unify(&v->dim[rank - 2], k->dim[rank - 2]);
    return same || eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "expected q [..., s, d], k [..., t, d] and v [..., t, e]");
}

/* Checks that input i, a mask, broadcasts to the shape of the scores. */
static bool mask_fits(eddy_infer *c, int i, eddy_shape scores)
{
    const eddy_shape mask = c->in[i].shape;
    char m[128], s[128];
    bool fits = mask.rank <= scores.rank;
    for (int a = 0; fits && a < mask.rank; a++) {
        int64_t d = scores.dim[scores.rank - mask.rank + a];
        fits = mask.dim[a] == 1 || eddy__dim_unify(&d, mask.dim[a]);
    }
    return fits || scores.rank < 0 ||
           eddy_infer_fail(c, EDDY_BAD_SHAPE, "the mask %s does not broadcast to the scores %s",
                           eddy_shape_print(mask, m, sizeof m),
                           eddy_shape_print(scores, s, sizeof s));
}

/* The shapes of y and of the row sums; the mask, if given, is input `mask`. */
static bool attention_shapes(eddy_infer *c, int mask, eddy_shape *y, eddy_shape *sum)
{
    eddy_shape q, k, v;
    if (!shapes_fit(c, &q, &k, &v)) return false;
    *y = *sum = EDDY_UNKNOWN_SHAPE;
    if (q.rank >= 0) {
        *y = eddy__shape_with(eddy__shape_without(q, q.rank - 1), q.rank - 1, v.dim[q.rank - 1]);
        *sum = eddy__shape_without(q, q.rank - 1);
        q.dim[q.rank - 1] = k.dim[q.rank - 2];
    }
    return c->n_in <= mask || mask_fits(c, mask, q);
}

/* --------------------------------------------------------------- the kernels -- */

typedef struct heads {
    const eddy_kernel  *k;
    eddy_attention_head first;
    eddy_shape          scores;
    const eddy_buffer  *mask;
    size_t              size;               /* bytes of an element */
    uint64_t            scratch;            /* bytes of a worker's memory */
    bool                gradient;
} heads;

double eddy__attention_scale(const eddy_attention_attrs *a, int64_t d)
{
    return a->scale != 0 || signbit(a->scale) ? a->scale : 1 / sqrt((double)(d > 0 ? d : 1));
}

/* The variants of operations: the result, or its gradient.  The mask is the last input. */
enum { FORWARD, BACKWARD };

/* The sizes of all heads, from q, k, v. */
static heads heads_of(const eddy_kernel *k)
{
    const bool gradient = k->op->variant == BACKWARD;
    const eddy_attention_attrs *a = k->attrs;
    const eddy_shape q = k->in[0]->type.shape, v = k->in[2]->type.shape;
    const int r = q.rank, mask = k->op->min_inputs;
    heads h = { .k = k, .scores = q, .gradient = gradient,
                .size = eddy_dtype_size(k->in[0]->type.dtype) };
    h.first = (eddy_attention_head){
        .s = q.dim[r - 2],
        .t = v.dim[r - 2],
        .d = q.dim[r - 1],
        .e = v.dim[r - 1],
        .scale = eddy__attention_scale(a, q.dim[r - 1]),
        .causal = a->causal,
        .q.step = q.dim[r - 1],
        .k.step = q.dim[r - 1],
        .v.step = v.dim[r - 1],
        .y.step = v.dim[r - 1],
        .sum.step = 1,
        .stop = k->stop,
    };
    h.scores.dim[r - 1] = h.first.t;
    h.mask = k->n_in > mask ? k->in[mask] : NULL;
    h.scratch = eddy__attention_scratch(k->in[0]->type.dtype, &h.first, gradient);
    return h;
}

/* The mask of head i. */
static void find_mask(const heads *h, int64_t i, eddy_attention_head *head)
{
    const eddy_shape m = h->mask->type.shape, s = h->scores;
    int64_t steps[EDDY_MAX_RANK] = { 0 }, step = 1, at = 0;
    for (int a = s.rank - 1; a >= s.rank - m.rank; a--) {
        const int64_t d = m.dim[a - (s.rank - m.rank)];
        steps[a] = d > 1 ? step : 0;
        step *= d;
    }
    for (int a = s.rank - 3; a >= 0; i /= s.dim[a--]) at += i % s.dim[a] * steps[a];
    head->mask = (const char *)h->mask->data + (size_t)at * h->size;
    head->mask_row = steps[s.rank - 2];
    head->mask_column = steps[s.rank - 1];
}

/* Matrix i, of n elements, in a tensor; NULL for NULL. */
static void *matrix(void *data, int64_t i, int64_t n, size_t size)
{
    return data ? (char *)data + (size_t)(i * n) * size : NULL;
}

static void run_heads(void *heads_, int64_t from, int64_t to, int worker)
{
    const heads *h = heads_;
    eddy_buffer *const *in = h->k->in, *const *out = h->k->out;
    char *scratch = (char *)h->k->scratch + (size_t)worker * h->scratch;
    for (int64_t i = from; i < to; i++) {
        eddy_attention_head one = h->first;
        const int64_t q = one.s * one.d, k = one.t * one.d, v = one.t * one.e, y = one.s * one.e;
        one.q.at = matrix(in[0]->data, i, q, h->size);
        one.k.at = matrix(in[1]->data, i, k, h->size);
        one.v.at = matrix(in[2]->data, i, v, h->size);
        if (h->mask) find_mask(h, i, &one);
        if (h->gradient) {
            one.y.at = matrix(in[3]->data, i, y, h->size);
            one.sum.at = matrix(in[4]->data, i, one.s, h->size);
            one.y.dy_at = matrix(in[5]->data, i, y, h->size);
            one.sum.dy_at = matrix(in[6]->data, i, one.s, h->size);
            one.q.dx_to = matrix(out[0]->data, i, q, h->size);
            one.k.dx_to = matrix(out[1]->data, i, k, h->size);
            one.v.dx_to = matrix(out[2]->data, i, v, h->size);
            eddy__attention_backward(in[0]->type.dtype, &one, scratch);
        } else {
            one.y.to = matrix(out[0]->data, i, y, h->size);
            one.sum.to = matrix(out[1]->data, i, one.s, h->size);
            eddy__attention_forward(in[0]->type.dtype, &one, scratch);
        }
    }
}

int64_t eddy__attention_grain(const eddy_attention_head *h)
{
    const double flops = 4.0 * (double)h->s * (double)h->t * (double)(h->d + h->e + 16);
    return 1 + (int64_t)(1e6 / (flops + 1));
}

static eddy_status attention_kernel(eddy_kernel *k)
{
    heads h = heads_of(k);
    const eddy_shape q = k->in[0]->type.shape;
    const int64_t n = eddy__shape_product(q, 0, q.rank - 2);
    eddy__parallel_or_stop(k, n, eddy__attention_grain(&h.first), run_heads, &h);
    return EDDY_OK;
}

static eddy_status attention_prepare(eddy_kernel *k)
{
    k->scratch_size = heads_of(k).scratch * (uint64_t)k->threads;
    return EDDY_OK;
}

/* Two products of s t d and s t e, and five operations per exponential; the gradient has five
 * products.  Causal attention is counted like full attention. */
static double flops_of(const eddy_type *in, double products_d, double products_e, double others)
{
    const eddy_shape q = in[0].shape, v = in[2].shape;
    const double rows = (double)eddy__shape_product(q, 0, q.rank - 1);
    const double d = (double)q.dim[q.rank - 1], e = (double)v.dim[q.rank - 1];
    return rows * (double)v.dim[q.rank - 2] * (2 * products_d * d + 2 * products_e * e + others);
}

static double attention_flops(const void *attrs, int n_in, const eddy_type *in,
                              const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return flops_of(in, 1, 1, 5);
}

static double attention_grad_flops(const void *attrs, int n_in, const eddy_type *in,
                                   const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)out;
    return flops_of(in, 3, 2, 5);
}

/* All inputs with the batch axis in front; a mask is then broadcast to the size of the scores. */
static void attention_batch(eddy_batch *b)
{
    eddy_tensor x[8];
    const int rank = eddy__batch_rank(b, 0), mask = b->node->op->min_inputs;
    for (int i = 0; i < b->n_in; i++) x[i] = i == mask ? b->x[i] : eddy_batch_input(b, i);
    if (b->n_in > mask && b->batched[mask]) {
        const int narrow = eddy__batch_rank(b, mask);
        if (rank < 0 || narrow < 0) return;
        x[mask] = eddy__batch_widen(x[mask], 1, rank - narrow);
    }
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, x, (eddy_apply_args){ 0 });
    for (int i = 0; i < b->n_out; i++) b->y[i] = eddy_output(y, i);
}

/* ------------------------------------------------------------------ gradient -- */

static bool attention_grad_infer(eddy_infer *c)
{
    eddy_shape y, sum;
    if (!attention_shapes(c, 7, &y, &sum) || !eddy__expect_shape(c, 3, "y", y) ||
        !eddy__expect_shape(c, 4, "log_sum", sum) || !eddy__expect_shape(c, 5, "dy", y) ||
        !eddy__expect_shape(c, 6, "dlog_sum", sum))
        return false;
    for (int i = 0; i < 3; i++) eddy__infer_yield(c, i, c->in[i].dtype, c->in[i].shape);
    return true;
}

static eddy_attention_terms terms_of(const eddy_rule *r, const eddy_tensor *more, int mask)
{
    const eddy_tensor *x = r->x;
    return (eddy_attention_terms){
        .attrs = r->attrs, .q = x[0], .k = x[1], .v = x[2], .y = more[0], .sum = more[1],
        .dy = more[2], .dsum = more[3], .mask = mask < r->n_in ? x[mask] : eddy_none(r->graph),
    };
}

static void attention_grad_gradient(eddy_rule *r)
{
    const eddy_attention_terms t = terms_of(r, r->x + 3, 7);
    eddy__attention_second(&t, r->dy, r->dx);
}

const eddy_op_def eddy_op_scaled_dot_product_attention_grad = {
    .name = "ScaledDotProductAttentionGrad", .min_inputs = 7, .max_inputs = 8, .outputs = 3,
    .variant = BACKWARD,
    .inputs = EDDY_INPUTS({ "q", EDDY_TAKES_FLOATS }, { "k", EDDY_LIKE(0) }, { "v", EDDY_LIKE(0) },
                          { "y", EDDY_LIKE(0) }, { "log_sum", EDDY_LIKE(0) },
                          { "dy", EDDY_LIKE(0) }, { "dlog_sum", EDDY_LIKE(0) },
                          { "mask", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_attention_attrs), .attrs = eddy__attention_fields,
    .infer = attention_grad_infer, .prepare = attention_prepare, .kernel = attention_kernel,
    .gradient = attention_grad_gradient, .batch = attention_batch, .flops = attention_grad_flops,
};

/* ----------------------------------------------------------------- attention -- */

#ifdef EDDY_HEADER
typedef struct eddy_scaled_dot_product_attention_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_scaled_dot_product_attention_args));
    eddy_tensor q, k, v;          /* [...,s,d], [...,t,d] and [...,t,e] */
    eddy_tensor mask;             /* added to the scores; default: none */
    bool        causal;           /* row i of q attends only to rows 0 to i of k */
    double      scale EDDY_DEFAULT(EDDY_OMITTED); /* default: 1 / sqrt(d) */
    const char *name;
} eddy_scaled_dot_product_attention_args;
#endif

static bool attention_infer(eddy_infer *c)
{
    eddy_shape y, sum;
    return attention_shapes(c, 3, &y, &sum) && eddy__infer_yield(c, 0, c->in[0].dtype, y) &&
           eddy__infer_yield(c, 1, c->in[0].dtype, sum);
}

/* The gradient of the mask needs a matrix of the size of the scores, which is computed only if
 * that gradient is requested. */
static void attention_gradient(eddy_rule *r)
{
    const eddy_tensor in[8] = { r->x[0], r->x[1], r->x[2], r->y[0], r->y[1], r->dy[0], r->dy[1],
                                r->n_in > 3 ? r->x[3] : r->x[0] };
    const eddy_attention_terms t = terms_of(r, in + 3, 3);
    const eddy_tensor dx = eddy_apply(&eddy_op_scaled_dot_product_attention_grad, r->attrs,
                                      r->n_in > 3 ? 8 : 7, in, (eddy_apply_args){ 0 });
    for (int i = 0; i < 3; i++) r->dx[i] = eddy_output(dx, i);
    if (r->n_in > 3) r->dx[3] = eddy__attention_dmask(&t);
}

const eddy_op_def eddy_op_scaled_dot_product_attention = {
    .name = "ScaledDotProductAttention", .label = "attention", .min_inputs = 3, .max_inputs = 4,
    .outputs = 2, .variant = FORWARD,
    .inputs = EDDY_INPUTS({ "q", EDDY_TAKES_FLOATS }, { "k", EDDY_LIKE(0) }, { "v", EDDY_LIKE(0) },
                          { "mask", EDDY_LIKE(0) }),
    .attrs_size = sizeof(eddy_attention_attrs), .attrs = eddy__attention_fields,
    .infer = attention_infer, .prepare = attention_prepare, .kernel = attention_kernel,
    .gradient = attention_gradient, .batch = attention_batch, .flops = attention_flops,
};

/** y = P v with P = softmax(scale q k' + mask) over the last axis: each row of q gives the mean of
 *  the rows of v, weighted by how well the corresponding rows of k match it.
 *
 *  q       float32 or float64 [..., s, d]
 *  k, v    same type, [..., t, d] and [..., t, e]; the leading dimensions must be equal
 *  mask    same type, added to the scores; broadcasts to [..., s, t]
 *  causal  row i of q attends only to rows 0 to i of k; halves the work if s = t
 *  scale   default: 1 / sqrt(d)
 *
 *  Returns y [..., s, e]; eddy_output(y, 1) is the logarithm of the sum of the exponentials
 *  of each row of scores, [..., s].  The scores themselves are never stored: memory grows
 *  with s + t and not with s t.  A mask of -infinity hides a row of k; if all rows are hidden
 *  from a row of q, its result is NaN, as with eddy_softmax.  If t = 0, y is 0.
 *  Errors: EDDY_BAD_SHAPE for shapes that do not match, or a mask that does not broadcast.
 *  Gradient: with G = P (dy v' - s), s the sum of dy y over a row: dq = scale G k,
 *  dk = scale G' q, dv = P' dy, dmask = G summed over the broadcast dimensions.
 *  TensorFlow: MatMul, Softmax, MatMul (tf.keras.layers.Attention with use_scale). */
eddy_tensor eddy_scaled_dot_product_attention_with(
    const eddy_scaled_dot_product_attention_args *given)
{
    eddy_scaled_dot_product_attention_args a =
        EDDY_TAKE(eddy_scaled_dot_product_attention_args, given);
    const eddy_attention_attrs attrs = { a.causal, eddy__attribute_number(a.scale) };
    const bool masked = a.mask.graph != NULL;
    return eddy__apply_named(a.name, &eddy_op_scaled_dot_product_attention, &attrs, masked ? 4 : 3,
                             (eddy_tensor[]){ a.q, a.k, a.v, a.mask });
}
