/* matmul.c -- matmul, the matrix product, and bias_add. */
#include "ops/arrays/batching.h"
#include "graph/call_options.h"
#include "ops/fusion_targets.h"
#include "ops/linear/matmul.h"
#include "ops/math/elementwise_rows.h"

EDDY_FUSION_TARGETS(&eddy_op_fused_matmul, &eddy_op_scaled_dot_product_attention, &eddy_op_concat)

#ifdef EDDY_HEADER
typedef struct eddy_matmul_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_matmul_args));
    eddy_tensor a, b;             /* [...,m,k] and [...,k,n], or transposed, see below */
    bool        transpose_a;
    bool        transpose_b;
    bool        adjoint_a;        /* transposed and conjugated */
    bool        adjoint_b;
    const char *name;
} eddy_matmul_args;
#endif

const eddy_attr_field eddy__matmul_fields[] =
    EDDY_FIELDS(eddy_matmul_attrs, transpose_a, transpose_b);

/* The number of rows of a matrix, or of its transpose. */
static int64_t rows_of(eddy_shape s, bool transposed)
{
    return s.rank < 0 ? EDDY_ANY : s.dim[s.rank - 2 + transposed];
}

bool eddy__infer_product(eddy_infer *c, int64_t *m, int64_t *n)
{
    const eddy_matmul_attrs *t = c->attrs;
    const eddy_shape a = c->in[0].shape, b = c->in[1].shape;
    const int64_t k = rows_of(a, !t->transpose_a), l = rows_of(b, t->transpose_b);
    if (k >= 0 && l >= 0 && k != l)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "inner dimensions %lld and %lld differ",
                               (long long)k, (long long)l);
    *m = rows_of(a, t->transpose_a);
    *n = rows_of(b, !t->transpose_b);
    return true;
}

static bool matmul_infer(eddy_infer *c)
{
    int64_t m, n;
    if (!eddy__infer_product(c, &m, &n)) return false;
    c->out[0] = (eddy_type){ c->in[0].dtype, EDDY_SHAPE(m, n) };
    return true;
}

eddy_product eddy__product_like(eddy_matmul_attrs t, eddy_type a, eddy_type b, eddy_dtype y)
{
    eddy_product p =
        eddy__product_of(a.dtype, t.transpose_a, t.transpose_b, rows_of(a.shape, t.transpose_a),
                         rows_of(b.shape, !t.transpose_b), rows_of(a.shape, !t.transpose_a));
    p.halves = y == EDDY_BFLOAT16;
    p.pairs = p.pairs && !p.halves;
    p.round_a = p.halves && a.dtype == EDDY_FLOAT32;
    p.round_b = p.halves && b.dtype == EDDY_FLOAT32;
    return p;
}

static eddy_product product_of(const eddy_kernel *k)
{
    return eddy__product_like(*(const eddy_matmul_attrs *)k->attrs, k->in[0]->type, k->in[1]->type,
                              k->out[0]->type.dtype);
}

static eddy_status matmul_prepare(eddy_kernel *k)
{
    const eddy_product p = product_of(k);
    eddy__product_plan(k, &p, 1);
    return EDDY_OK;
}

static eddy_status matmul_kernel(eddy_kernel *k)
{
    eddy_product p = product_of(k);
    p.a = k->in[0]->data, p.b = k->in[1]->data, p.y = k->out[0]->data;
    p.plan = k->state, p.scratch = k->scratch;
    eddy__product_run(k, &p);
    return EDDY_OK;
}

/* The four cases of y = op(a) op(b), without explicit transposes. */
void eddy__product_gradient(eddy_rule *r)
{
    const eddy_matmul_attrs *t = r->attrs;
    const eddy_op_def *op = r->node->op;
    const eddy_matmul_attrs none = { false, false }, first = { .transpose_a = true },
                            second = { .transpose_b = true }, both = { true, true };
    eddy_tensor a = Conj(r->x[0]), b = Conj(r->x[1]), dy = r->dy[0];
    if (!t->transpose_a && !t->transpose_b) {
        r->dx[0] = eddy_apply2(op, &second, dy, b);
        r->dx[1] = eddy_apply2(op, &first, a, dy);
    } else if (!t->transpose_a) {
        r->dx[0] = eddy_apply2(op, &none, dy, b);
        r->dx[1] = eddy_apply2(op, &first, dy, a);
    } else if (!t->transpose_b) {
        r->dx[0] = eddy_apply2(op, &second, b, dy);
        r->dx[1] = eddy_apply2(op, &none, a, dy);
    } else {
        r->dx[0] = eddy_apply2(op, &both, b, dy);
        r->dx[1] = eddy_apply2(op, &both, dy, a);
    }
}

static eddy_tensor rows_times(eddy_tensor rows, eddy_tensor b, bool transpose_b)
{
    const eddy_matmul_attrs t = { .transpose_b = transpose_b };
    return eddy_apply2(&eddy_op_matmul, &t, rows, b);
}

/* All rows of all examples times one b are a single product. */
static void batch_rows(eddy_batch *b, bool transpose_b)
{
    const eddy_tensor row = eddy_row_numbers(b->node->inputs[0], EDDY_INT64);
    const eddy_tensor rows = eddy_merge_leading(b->x[0], eddy_batch_like(row, b->examples));
    b->y[0] = eddy_reshape_like(rows_times(rows, b->x[1], transpose_b),
                                eddy__batch_result_like(b));
}

/* Operand i of each example is a vector, on axis `along`, and all examples share the other one:
 * the vectors are the rows of a single product. */
static void batch_vectors(eddy_batch *b, int i, int along, bool transpose_other)
{
    const eddy_tensor rows = Squeeze(b->x[i], EDDY_AXES(3 - along));
    b->y[0] = ExpandDims(rows_times(rows, b->x[1 - i], transpose_other), i + 1);
}

void eddy__product_batch(eddy_batch *b)
{
    const eddy_matmul_attrs *t = b->attrs;
    const eddy_shape x = eddy_shape_of(b->node->inputs[0]), y = eddy_shape_of(b->node->inputs[1]);
    if (!b->batched[1] && !t->transpose_a) batch_rows(b, t->transpose_b);
    else if (!b->batched[1] && rows_of(x, true) == 1) batch_vectors(b, 0, 1, t->transpose_b);
    else if (!b->batched[0] && rows_of(y, !t->transpose_b) == 1)
        batch_vectors(b, 1, 1 + t->transpose_b, !t->transpose_a);
    else b->y[0] = eddy_apply2(&eddy_op_batch_matmul, t, b->x[0], b->x[1]);
}

double eddy__product_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)n_in;
    const eddy_matmul_attrs *t = attrs;
    return 2 * (double)eddy_shape_count(out->shape) * (double)rows_of(in->shape, !t->transpose_a);
}

const eddy_op_def eddy_op_matmul = {
    .name = "MatMul", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS_COMPLEX | EDDY_TAKES_INDICES | EDDY_RANK(2) },
                          { "b", EDDY_LIKE(0) | EDDY_RANK(2) }),
    .attrs_size = sizeof(eddy_matmul_attrs), .attrs = eddy__matmul_fields,
    .infer = matmul_infer, .prepare = matmul_prepare, .kernel = matmul_kernel,
    .gradient = eddy__product_gradient, .batch = eddy__product_batch, .flops = eddy__product_flops,
};

/** y = a b, the product of the matrices a [m,k] and b [k,n], giving [m,n].
 *
 *  a, b         float32, float64, int32, int64, complex64 or complex128, the same for both
 *  transpose_a  a is [k,m] and used transposed; transpose_b likewise
 *  adjoint_a    a is [k,m], and its adjoint is used; adjoint_b likewise
 *
 *  With more than two dimensions, the products are those of the matrices in the last two.  The
 *  leading dimensions broadcast: [2,1,m,k] and [3,k,n] give [2,3,m,n].  A rank that is unknown
 *  while building may be any rank from 2 at run time.  k = 0 gives zeros.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if the inner
 *  dimensions differ, the leading dimensions do not broadcast or a rank is below 2;
 *  EDDY_INVALID_ARGUMENT if both transpose_a and adjoint_a, or both transpose_b and adjoint_b,
 *  are set.
 *  Gradient: da = dy b', db = a' dy, with ' the adjoint.  TensorFlow: MatMul, BatchMatMulV2. */
eddy_tensor eddy_matmul_with(const eddy_matmul_args *given)
{
    eddy_matmul_args args = EDDY_TAKE(eddy_matmul_args, given);
    const bool both_a = args.transpose_a && args.adjoint_a;
    if (both_a || (args.transpose_b && args.adjoint_b))
        return eddy_fail(args.a.graph, EDDY_INVALID_ARGUMENT,
                         "MatMul: Only one of transpose_%s and adjoint_%s can be True.",
                         both_a ? "a" : "b", both_a ? "a" : "b");
    const eddy_tensor in[] = { args.adjoint_a ? Conj(args.a) : args.a,
                               args.adjoint_b ? Conj(args.b) : args.b };
    const eddy_matmul_attrs t = { args.transpose_a || args.adjoint_a,
                                  args.transpose_b || args.adjoint_b };
    const int  a = eddy_shape_of(args.a).rank, b = eddy_shape_of(args.b).rank;
    const bool many = a > 2 || b > 2 || a < 0 || b < 0;
    return eddy_apply(many ? &eddy_op_batch_matmul : &eddy_op_matmul, &t, 2, in,
                      (eddy_apply_args){ .name = args.name });
}

/* ------------------------------------------------------------- bias_add -- */

static bool bias_add_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, b = c->in[1].shape;
    if (x.rank > 0 && b.rank == 1 && x.dim[x.rank - 1] >= 0 && b.dim[0] >= 0 &&
        x.dim[x.rank - 1] != b.dim[0])
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of channels is %lld in x and %lld in the bias; "
                               "expected equal numbers",
                               (long long)x.dim[x.rank - 1], (long long)b.dim[0]);
    if (!eddy__infer_elementwise(c)) return false;
    c->out[0].shape = x;
    return true;
}
DECLARE_NUMBERS_COMPLEX(TILE_BINARY, bias_add, a + b)
ROW_PICK(bias_add, NUMBERS_COMPLEX)
static void bias_add_gradient(eddy_rule *r)
{
    r->dx[0] = r->dy[0];
    r->dx[1] = r->dy[0];                 /* the reverse sweep sums it over the rows */
}
/* If each example has its own bias, it is added to all rows of that example. */
static void bias_add_batch(eddy_batch *b)
{
    const int rank = eddy__batch_rank(b, 0);
    if (!b->batched[1]) eddy__batch_elementwise(b);
    else if (rank >= 0) b->y[0] = Add(b->x[0], eddy__batch_widen(b->x[1], 1, rank - 1));
}

const eddy_op_def eddy_op_bias_add = {
    .name = "BiasAdd", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX | EDDY_RANK_FROM(1) },
                          { "bias", EDDY_LIKE(0) | EDDY_RANK(1) }),
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP,
    .infer = bias_add_infer, .tile = bias_add_tile,
    .gradient = bias_add_gradient, .batch = bias_add_batch,
};

/** y[..., c] = x[..., c] + b[c].
 *
 *  x  any numeric type except float16 and bfloat16, rank at least 1, channels last
 *  b  same type as x, a vector with one element per channel
 *
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if x is a
 *  scalar, b is not a vector or their sizes differ.
 *  Gradient: dx = dy, db = dy summed over all axes except the last.  TensorFlow: BiasAdd. */
eddy_tensor eddy_bias_add(eddy_tensor x, eddy_tensor b)
{
    return eddy_apply2(&eddy_op_bias_add, NULL, x, b);
}
