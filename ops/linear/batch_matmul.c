/* batch_matmul.c -- batched matrix products (batch_matmul). */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/fusion_targets.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/linear/linear.h"
#include "ops/linear/matmul.h"
#include "build/gen/table.h"

EDDY_FUSION_TARGETS(&eddy_op_matmul, &eddy_op_fused_matmul, &eddy_op_scaled_dot_product_attention)

#ifdef EDDY_HEADER
typedef struct eddy_batch_matmul_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_batch_matmul_args));
    eddy_tensor x, y;             /* [...,m,k] and [...,k,n], or their adjoints, see below */
    bool        adj_x, adj_y;
    const char *name;
} eddy_batch_matmul_args;
#endif

/** The matrix product x y of the matrices in the last two dimensions of x and y.
 *
 *  x, y   float32, float64, int32, int64, complex64 or complex128, the same for both; [...,m,k]
 *         and [...,k,n]; the result is [...,m,n].  The leading dimensions broadcast: [2,1,m,k]
 *         and [3,k,n] give [2,3,m,n]
 *  adj_x  x is [...,k,m], and its adjoint is used; adj_y likewise
 *
 *  eddy_matmul computes the same unless both operands are known to be matrices.  k = 0 gives
 *  zeros.  Many rows times one matrix are computed as a single product.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE if the inner dimensions differ,
 *  the leading dimensions do not broadcast or a rank is below 2.
 *  Gradient: dx = g y', dy = x' g, with g the gradient of the result and ' the adjoint, each
 *  summed over the broadcast dimensions.  TensorFlow: BatchMatMulV2. */
/* The dimensions before the last two. */
static eddy_shape leading(eddy_shape s)
{
    if (s.rank >= 0) s.rank -= 2;
    return s;
}

static bool batch_matmul_infer(eddy_infer *c)
{
    int64_t    m, n;
    eddy_shape s;
    char       a[128], b[128];
    if (!eddy__infer_product(c, &m, &n)) return false;
    if (c->in[0].shape.rank < 0 || c->in[1].shape.rank < 0)
        return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_UNKNOWN_SHAPE);
    if (!eddy_shape_broadcast(leading(c->in[0].shape), leading(c->in[1].shape), &s))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the leading dimensions %s and %s do not broadcast",
                               eddy_shape_print(leading(c->in[0].shape), a, sizeof a),
                               eddy_shape_print(leading(c->in[1].shape), b, sizeof b));
    s.dim[s.rank] = m;
    s.dim[s.rank + 1] = n;
    s.rank += 2;
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

/* Many rows times one matrix are a single product: `count` becomes 1. */
static eddy_product product_of(const eddy_kernel *k, int64_t *count)
{
    const eddy_matmul_attrs t = *(const eddy_matmul_attrs *)k->attrs;
    eddy_product p = eddy__product_like(t, k->in[0]->type, k->in[1]->type,
                                        k->out[0]->type.dtype);
    *count = eddy__matrices_of(k->out[0]->type.shape);
    if (!t.transpose_a && eddy__matrices_of(k->in[1]->type.shape) == 1 &&
        eddy__matrices_of(k->in[0]->type.shape) == *count) {
        p.m *= *count;
        *count = 1;
    }
    return p;
}

static eddy_status batch_matmul_prepare(eddy_kernel *k)
{
    int64_t count;
    const eddy_product p = product_of(k, &count);
    if (count > 0) eddy__product_plan(k, &p, count == 1 ? 1 : -1);
    return EDDY_OK;
}

/* Selects pair i of matrices. */
static void place(const void *kernel, int64_t i, eddy_product *p)
{
    const eddy_kernel *k = kernel;
    const int64_t     a_size = (int64_t)eddy_dtype_size(k->in[0]->type.dtype);
    const int64_t     b_size = (int64_t)eddy_dtype_size(k->in[1]->type.dtype);
    const int64_t     y_size = (int64_t)eddy_dtype_size(k->out[0]->type.dtype);
    const eddy_shape  y = k->out[0]->type.shape;
    const int64_t     a = eddy__matrix_at(y, k->in[0]->type.shape, i);
    const int64_t     b = eddy__matrix_at(y, k->in[1]->type.shape, i);
    p->a = (const char *)k->in[0]->data + a * p->m * p->k * a_size;
    p->b = (const char *)k->in[1]->data + b * p->k * p->n * b_size;
    p->y = (char *)k->out[0]->data + i * p->m * p->n * y_size;
}

static eddy_status batch_matmul_kernel(eddy_kernel *k)
{
    int64_t      count;
    eddy_product p = product_of(k, &count);
    p.plan = k->state, p.scratch = k->scratch;
    p.a = k->in[0]->data, p.b = k->in[1]->data, p.y = k->out[0]->data;
    if (count == 1) eddy__product_run(k, &p);
    else eddy__product_many(k, &p, count, place, k);
    return EDDY_OK;
}

/* x with all dimensions except the last merged into one; restored to those of `like`, of which
 * only the shape is used. */
static eddy_tensor rows(eddy_tensor x, eddy_tensor like)
{
    return eddy_merge_leading(x, Sum(like, EDDY_AXES(-1)));
}

/* For many rows times one matrix b, the gradient of b is a single product too. */
static void gradient_by_one(eddy_rule *r, bool transpose_b)
{
    const eddy_matmul_attrs back = { .transpose_b = !transpose_b };
    const eddy_tensor a = r->x[0], b = r->x[1], dy = r->dy[0];
    const eddy_tensor as = rows(Conj(a), a), ds = rows(dy, a);
    r->dx[0] = eddy_apply2(r->node->op, &back, dy, Conj(b));
    r->dx[1] = MatMul(transpose_b ? ds : as, transpose_b ? as : ds, .transpose_a = true);
}

static void batch_matmul_gradient(eddy_rule *r)
{
    const eddy_matmul_attrs *t = r->attrs;
    if (!t->transpose_a && eddy_shape_of(r->x[0]).rank > 0 && eddy_shape_of(r->x[1]).rank == 2) {
        gradient_by_one(r, t->transpose_b);
        return;
    }
    eddy__product_gradient(r);
    for (int i = 0; i < 2; i++) r->dx[i] = eddy_sum_like(r->dx[i], r->x[i]);
}

/* Examples of one matrix each, as eddy_matvec builds them, may have simpler products. */
static void batch_matmul_batch(eddy_batch *b)
{
    if (eddy__batch_rank(b, 0) == 2 && eddy__batch_rank(b, 1) == 2) eddy__product_batch(b);
    else eddy__batch_elementwise(b);
}

const eddy_op_def eddy_op_batch_matmul = {
    .name = "BatchMatMulV2", .label = "MatMul", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs =
        EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS_COMPLEX | EDDY_TAKES_INDICES | EDDY_RANK_FROM(2) },
                    { "y", EDDY_LIKE(0) | EDDY_RANK_FROM(2) }),
    .attrs_size = sizeof(eddy_matmul_attrs), .attrs = eddy__matmul_fields,
    .infer = batch_matmul_infer, .prepare = batch_matmul_prepare, .kernel = batch_matmul_kernel,
    .gradient = batch_matmul_gradient, .batch = batch_matmul_batch,
    .flops = eddy__product_flops,
};

eddy_tensor eddy_batch_matmul_with(const eddy_batch_matmul_args *given)
{
    eddy_batch_matmul_args a = EDDY_TAKE(eddy_batch_matmul_args, given);
    const eddy_tensor       in[] = { a.adj_x ? Conj(a.x) : a.x, a.adj_y ? Conj(a.y) : a.y };
    const eddy_matmul_attrs t = { a.adj_x, a.adj_y };
    return eddy__apply_named(a.name, &eddy_op_batch_matmul, &t, 2, in);
}
