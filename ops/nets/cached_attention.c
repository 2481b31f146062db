/* cached_attention.c -- attention to the rows of a table that are filled so far, for generation
 * step by step, which keeps the keys and values of earlier positions.
 *
 * The time of a step is proportional to the number of filled rows, not to the size of the table.
 * The gradient is that of attention with a mask, composed of ordinary operations, because
 * generation needs no fast gradient. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/kernels/sequences/attention_row.h"
#include "ops/nets/attention_gradient.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

enum { Q, KEYS, VALUES, LENGTHS };

static bool cached_infer(eddy_infer *c)
{
    eddy_shape s[3];
    int64_t    batch = c->in[LENGTHS].shape.rank == 1 ? c->in[LENGTHS].shape.dim[0] : EDDY_ANY;
    for (int i = 0; i < 3; i++)
        s[i] = c->in[i].shape.rank < 0 ? eddy__shape_open(4) : c->in[i].shape;
    bool fits = true;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 3; i++)
            fits = fits && eddy__dim_unify(&s[i].dim[0], batch) &&
                   eddy__dim_unify(&batch, s[i].dim[0]) &&
                   eddy__dim_unify(&s[i].dim[1], s[(i + 1) % 3].dim[1]);
    fits = fits && eddy__dim_unify(&s[Q].dim[3], s[KEYS].dim[3]) &&
           eddy__dim_unify(&s[KEYS].dim[2], s[VALUES].dim[2]);
    if (!fits)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "expected q [batch, heads, s, d], keys [batch, "
                               "heads, t, d], values [batch, heads, t, e] and lengths [batch]");
    s[Q].dim[3] = s[VALUES].dim[3];
    return eddy__infer_yield(c, 0, c->in[Q].dtype, s[Q]);
}

/* ---------------------------------------------------------------- the kernel -- */

typedef struct heads {
    const eddy_kernel *k;
    bool    causal;
    double  scale;
    int64_t count, s, t, d, e;      /* heads of an example; rows and columns */
    size_t  size;                   /* bytes of an element */
} heads;

static heads heads_of(const eddy_kernel *k)
{
    const eddy_attention_attrs *a = k->attrs;
    const eddy_shape q = k->in[Q]->type.shape, v = k->in[VALUES]->type.shape;
    return (heads){ .k = k, .causal = a->causal, .scale = eddy__attention_scale(a, q.dim[3]),
                    .count = q.dim[1], .s = q.dim[2], .t = v.dim[2], .d = q.dim[3], .e = v.dim[3],
                    .size = eddy_dtype_size(k->in[Q]->type.dtype) };
}

static const void *row(const heads *h, int input, int64_t at)
{
    return (const char *)h->k->in[input]->data + (size_t)at * h->size;
}

static void run_heads(void *heads_, int64_t from, int64_t to, int worker)
{
    const heads *h = heads_;
    char *scores = (char *)h->k->scratch + (size_t)(worker * h->t) * h->size;
    for (int64_t head = from; head < to; head++) {
        const int64_t length = eddy__index_at(h->k->in[LENGTHS], head / h->count);
        for (int64_t i = 0; i < h->s; i++) {
            const int64_t see = h->causal ? length - h->s + i + 1 : length, at = head * h->s + i;
            const eddy_attention_row one = {
                .t = see > 0 ? see : 0, .d = h->d, .e = h->e, .scale = h->scale,
                .q = row(h, Q, at * h->d), .k = row(h, KEYS, head * h->t * h->d),
                .v = row(h, VALUES, head * h->t * h->e),
                .y = (char *)h->k->out[0]->data + (size_t)(at * h->e) * h->size,
            };
            eddy__attention_row(h->k->in[Q]->type.dtype, &one, scores);
        }
    }
}

static eddy_status cached_kernel(eddy_kernel *k)
{
    heads h = heads_of(k);
    const eddy_buffer *lengths = k->in[LENGTHS];
    if (k->out[0]->count == 0) return EDDY_OK;
    for (int64_t b = 0; b < lengths->count; b++) {
        const int64_t n = eddy__index_at(lengths, b);
        if (n < 0 || n > h.t)
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE, "the length of example %lld is %lld; "
                                    "the keys have %lld rows", (long long)b, (long long)n,
                                    (long long)h.t);
    }
    const double work = 2.0 * (double)h.s * (double)h.t * (double)(h.d + h.e);
    eddy__parallel_or_stop(k, lengths->count * h.count, 1 + (int64_t)(1e5 / (work + 1)), run_heads,
                           &h);
    return EDDY_OK;
}

static eddy_status cached_prepare(eddy_kernel *k)
{
    const heads h = heads_of(k);
    k->scratch_size = (uint64_t)k->threads * (uint64_t)h.t * h.size;
    return EDDY_OK;
}

/* Counts all rows of the keys, since the number of filled rows is data. */
static double cached_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const eddy_shape q = in[Q].shape, v = in[VALUES].shape;
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy__shape_product(q, 0, 3) * (double)v.dim[2] *
           (2 * (double)q.dim[3] + 2 * (double)v.dim[3] + 5);
}

/* Merges the examples into the batch and separates them again. */
static void cached_batch(eddy_batch *b)
{
    eddy_tensor       x[4];
    const eddy_tensor like = eddy_sum(eddy_batch_input(b, 0), EDDY_AXES(2, 3, 4));
    for (int i = 0; i < b->n_in; i++) x[i] = eddy_merge_leading(eddy_batch_input(b, i), like);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, x, (eddy_apply_args){ 0 });
    b->y[0] = eddy_unflatten_like(y, like, 0, 0);
}

/* ------------------------------------------------------------------ gradient -- */

/* 0, 1, 2, ..., one number for each element of x along an axis, of the type of `like`. */
static eddy_tensor numbers_along(eddy_tensor x, int64_t axis, eddy_tensor like)
{
    return eddy_range(NumberLike(0, like), CastLike(eddy_size_along(x, axis), like),
                      NumberLike(1, like));
}

/* The number of rows of the keys that each row of q sees, [batch, 1, s, 1]. */
static eddy_tensor rows_seen(const eddy_rule *r)
{
    const eddy_attention_attrs *a = r->attrs;
    const eddy_tensor lengths = Reshape(r->x[LENGTHS], EDDY_SHAPE(EDDY_ANY, 1, 1, 1));
    const eddy_tensor i = ExpandDims(numbers_along(r->x[Q], 2, lengths), 1);
    if (!a->causal) return Add(lengths, ZerosLike(i));
    const eddy_tensor before = Sub(lengths, CastLike(eddy_size_along(r->x[Q], 2), lengths));
    return Add(before, Add(i, 1));
}

/* The gradient of attention with a mask. A row of q that sees no row yields 0 and has no
 * gradient. */
static void cached_gradient(eddy_rule *r)
{
    const eddy_attention_attrs *a = r->attrs, plain = { .scale = a->scale };
    const eddy_tensor seen = rows_seen(r), none = LessEqual(seen, 0);
    const eddy_tensor column = numbers_along(r->x[KEYS], 2, seen);
    const eddy_tensor open = LogicalOr(Less(column, seen), none);
    const eddy_tensor zero = NumberLike(0, r->x[Q]);
    const eddy_tensor mask = Where(open, zero, -(double)INFINITY);
    const eddy_tensor y = eddy_apply(&eddy_op_scaled_dot_product_attention, &plain, 4,
                                     (eddy_tensor[]){ r->x[Q], r->x[KEYS], r->x[VALUES], mask },
                                     (eddy_apply_args){ 0 });
    const eddy_tensor sum = eddy_output(y, 1), dy = Where(none, ZerosLike(r->dy[0]), r->dy[0]);
    const eddy_tensor dx = eddy_apply(&eddy_op_scaled_dot_product_attention_grad, &plain, 8,
                                      (eddy_tensor[]){ r->x[Q], r->x[KEYS], r->x[VALUES], y, sum,
                                                       dy, ZerosLike(sum), mask },
                                      (eddy_apply_args){ 0 });
    for (int i = 0; i < 3; i++) r->dx[i] = eddy_output(dx, i);
}

#ifdef EDDY_HEADER
typedef struct eddy_cached_attention_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_cached_attention_args));
    eddy_tensor q, keys, values;  /* [batch,heads,s,d], [batch,heads,t,d], [batch,heads,t,e] */
    eddy_tensor lengths;          /* [batch]: rows of keys and values that are filled */
    bool        causal;           /* row i of q sees only lengths - s + i + 1 of them */
    double      scale EDDY_DEFAULT(EDDY_OMITTED); /* default: 1 / sqrt(d) */
    const char *name;
} eddy_cached_attention_args;
#endif

const eddy_op_def eddy_op_cached_attention = {
    .name = "CachedAttention", .label = "attention", .min_inputs = 4, .max_inputs = 4, .outputs = 1,
    .inputs = EDDY_INPUTS({ "q", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "keys", EDDY_LIKE(0) | EDDY_RANK(4) },
                          { "values", EDDY_LIKE(0) | EDDY_RANK(4) },
                          { "lengths", EDDY_TAKES_INDICES | EDDY_RANK(1) }),
    .attrs_size = sizeof(eddy_attention_attrs), .attrs = eddy__attention_fields,
    .infer = cached_infer, .prepare = cached_prepare, .kernel = cached_kernel,
    .gradient = cached_gradient, .batch = cached_batch, .flops = cached_flops,
};

/** y = P v with P = softmax(scale q k'), like eddy_scaled_dot_product_attention, where k and v are
 *  only the first rows of keys and values, those filled so far. eddy_attention_cache fills them.
 *
 *  q        float32 or float64 [batch, heads, s, d]
 *  keys     same type, [batch, heads, t, d]
 *  values   same type, [batch, heads, t, e]
 *  lengths  int32 or int64 [batch]: the number of filled rows of each example, in [0, t]
 *  causal   row i of q sees lengths - s + i + 1 rows: the rows of q are the last of those filled
 *  scale    default: 1 / sqrt(d)
 *
 *  Returns y [batch, heads, s, e]; 0 for a row of q that sees no row. The rows that are not filled
 *  cost nothing and may hold anything.
 *  Errors: EDDY_BAD_SHAPE for shapes that do not match; at run time, EDDY_OUT_OF_RANGE for a length
 *  outside [0, t].
 *  Gradient: as for eddy_scaled_dot_product_attention, with a mask of s t elements; `lengths` has
 *  none.
 *  TensorFlow: SequenceMask, MatMul, Softmax, MatMul. */
eddy_tensor eddy_cached_attention_with(const eddy_cached_attention_args *given)
{
    eddy_cached_attention_args a = EDDY_TAKE(eddy_cached_attention_args, given);
    const eddy_attention_attrs attrs = { a.causal, eddy__attribute_number(a.scale) };
    return eddy__apply_named(a.name, &eddy_op_cached_attention, &attrs, 4,
                             (eddy_tensor[]){ a.q, a.keys, a.values, a.lengths });
}
