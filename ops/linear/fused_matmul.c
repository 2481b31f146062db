/* fused_matmul.c -- matrix products fused with bias, activation and similar operations, which a
 * session substitutes for several operations. Every element equals the result of the separate
 * operations, except that alpha is applied first. */
#include "ops/linear/fused_matmul.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/* ------------------------------------------------------------ _FusedMatMul -- */

#define TRANSPOSES(T)                                                           \
    { "transpose_a", EDDY_ATTR_BOOL, offsetof(T, transposes.transpose_a) },     \
    { "transpose_b", EDDY_ATTR_BOOL, offsetof(T, transposes.transpose_b) },     \
    { "alpha", EDDY_ATTR_FLOAT, offsetof(T, alpha) }

static const eddy_attr_field fused_matmul_fields[] = {
    TRANSPOSES(eddy_fused_matmul_attrs),
    { "activation", EDDY_ATTR_INT, offsetof(eddy_fused_matmul_attrs, activation) },
    { "has_bias", EDDY_ATTR_BOOL, offsetof(eddy_fused_matmul_attrs, has_bias) },
    { "has_residual", EDDY_ATTR_BOOL, offsetof(eddy_fused_matmul_attrs, has_residual) },
    { 0 },
};

/* The matrix product of inputs `first` and `first` + 1. */
static bool infer_real_product(eddy_infer *c, int first, int64_t *m, int64_t *n)
{
    eddy_infer product = *c;
    product.in += first;                     /* the transposition flags are the first attributes */
    product.n_in -= first;
    return eddy__infer_product(&product, m, n);
}

/* Checks that input i has the shape of the product. */
static bool infer_like_product(eddy_infer *c, int i, int64_t *m, int64_t *n)
{
    const eddy_shape s = c->in[i].shape;
    if (s.rank < 0) return true;
    if (s.rank == 2 && eddy__dim_unify(m, s.dim[0]) && eddy__dim_unify(n, s.dim[1])) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "input %d must have the shape of the product", i);
}

static bool fused_matmul_infer(eddy_infer *c)
{
    const eddy_fused_matmul_attrs *f = c->attrs;
    int64_t   m, n;
    const int wanted = 2 + f->has_bias + f->has_residual;
    if (c->n_in != wanted)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of inputs is %d; expected %d "
                               "with these attributes", c->n_in, wanted);
    if (f->activation < 0 || f->activation >= EDDY_FUSED_ACTIVATIONS)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "activation is %lld; expected 0 to %d",
                               (long long)f->activation, EDDY_FUSED_ACTIVATIONS - 1);
    if (!infer_real_product(c, 0, &m, &n)) return false;
    if (f->has_bias) {
        const eddy_shape s = c->in[2].shape;
        if (s.rank >= 0 && (s.rank != 1 || !eddy__dim_unify(&n, s.dim[0])))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "the bias must be a vector with one element per column");
    }
    if (f->has_residual && !infer_like_product(c, 2 + f->has_bias, &m, &n)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_SHAPE(m, n));
}

static eddy_product fused_product(const eddy_kernel *k)
{
    const eddy_fused_matmul_attrs *f = k->attrs;
    eddy_product p = eddy__product_like(f->transposes, k->in[0]->type, k->in[1]->type,
                                        k->out[0]->type.dtype);
    p.alpha = f->alpha;
    return p;
}

static eddy_status fused_matmul_prepare(eddy_kernel *k)
{
    const eddy_product p = fused_product(k);
    eddy__product_plan(k, &p, 1);
    return EDDY_OK;
}

static eddy_status fused_matmul_kernel(eddy_kernel *k)
{
    const eddy_fused_matmul_attrs *f = k->attrs;
    eddy_product p = fused_product(k);
    p.a = k->in[0]->data, p.b = k->in[1]->data, p.y = k->out[0]->data;
    p.plan = k->state, p.scratch = k->scratch;
    if (f->has_bias) p.bias = k->in[2]->data;
    if (f->has_residual) p.residual = k->in[2 + f->has_bias]->data;
    const eddy_type element = { .dtype = p.dtype };
    if (f->activation > 0)
        p.activation = eddy__fused_activations[f->activation]->tile(&element, &element);
    eddy__product_run(k, &p);
    return EDDY_OK;
}

/* The argument of the activation, computed by separate operations. Under vmap, x has an axis of
 * examples, and so has the bias. */
static eddy_tensor unfused(const eddy_fused_matmul_attrs *f, const eddy_op_def *product,
                           const eddy_tensor *x, bool bias_each)
{
    eddy_tensor y = eddy_apply2(product, &f->transposes, x[0], x[1]);
    if (f->alpha != 1) y = Mul(y, f->alpha);
    if (f->has_bias) y = Add(y, bias_each ? ExpandDims(x[2], 1) : x[2]);
    return f->has_residual ? Add(y, x[2 + f->has_bias]) : y;
}

/* dy of the argument of the activation, by the activation's own rule. */
static eddy_tensor before_activation(const eddy_rule *r, const eddy_op_def *activation)
{
    const eddy_tensor x = unfused(r->attrs, &eddy_op_matmul, r->x, false);
    const eddy_tensor y = eddy_apply1(activation, NULL, x);
    eddy_tensor dx = EDDY_NO_TENSOR;
    eddy_rule   rule = { .graph = r->graph, .node = eddy_node_of(y), .x = &x, .y = &y,
                         .dy = r->dy, .dx = &dx, .n_in = 1, .n_out = 1, .n_dx = 1 };
    if (rule.node) activation->gradient(&rule);
    return dx;
}

/* da and db of scale * op(a) op(b), for the gradient dy. */
static void product_rule(const eddy_rule *r, const eddy_matmul_attrs *t, double scale,
                         const eddy_tensor *x, eddy_tensor dy, eddy_tensor *dx)
{
    const eddy_tensor y = eddy_apply2(&eddy_op_matmul, t, x[0], x[1]);
    const eddy_tensor scaled = scale == 1 ? dy : Mul(dy, scale);
    eddy_rule rule = { .graph = r->graph, .node = eddy_node_of(y), .attrs = t, .x = x, .y = &y,
                       .dy = &scaled, .dx = dx, .n_in = 2, .n_out = 1, .n_dx = 2 };
    if (rule.node) eddy__product_gradient(&rule);
}

static void fused_matmul_gradient(eddy_rule *r)
{
    const eddy_fused_matmul_attrs *f = r->attrs;
    const eddy_op_def *activation = eddy__fused_activations[f->activation];
    const eddy_tensor  dy = activation ? before_activation(r, activation) : r->dy[0];
    product_rule(r, &f->transposes, f->alpha, r->x, dy, r->dx);
    if (f->has_bias) r->dx[2] = eddy_sum_like(dy, r->x[2]);
    if (f->has_residual) r->dx[2 + f->has_bias] = dy;
}

static void fused_matmul_batch(eddy_batch *b)
{
    const eddy_fused_matmul_attrs *f = b->attrs;
    const eddy_op_def *activation = eddy__fused_activations[f->activation];
    const eddy_tensor  x[] = { eddy_batch_input(b, 0), b->x[1], b->n_in > 2 ? b->x[2] : b->x[1],
                               b->n_in > 3 ? b->x[3] : b->x[1] };
    const bool  each = f->has_bias && b->batched[2];
    eddy_tensor y = unfused(f, &eddy_op_batch_matmul, x, each);
    b->y[0] = activation ? eddy_apply1(activation, NULL, y) : y;
}

static double fused_matmul_flops(const void *attrs, int n_in, const eddy_type *in,
                                 const eddy_type *out)
{
    const eddy_fused_matmul_attrs *f = attrs;
    const int after = (f->alpha != 1) + f->has_bias + f->has_residual + (f->activation > 0);
    return eddy__product_flops(&f->transposes, n_in, in, out) +
           after * (double)eddy_shape_count(out->shape);
}

const eddy_op_def eddy_op_fused_matmul = {
    .name = "_FusedMatMul", .label = "FusedMatMul", .min_inputs = 2, .max_inputs = 4, .outputs = 1,
    .attrs_size = sizeof(eddy_fused_matmul_attrs), .attrs = fused_matmul_fields,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_FLOATS | EDDY_RANK(2) },
                          { "b", EDDY_LIKE(0) | EDDY_RANK(2) }, { "addend", EDDY_LIKE(0) }),
    .infer = fused_matmul_infer, .prepare = fused_matmul_prepare, .kernel = fused_matmul_kernel,
    .gradient = fused_matmul_gradient, .batch = fused_matmul_batch, .flops = fused_matmul_flops,
};

/* ------------------------------------------------------- _MatMulAccumulate -- */

static const eddy_attr_field matmul_accumulate_fields[] = {
    TRANSPOSES(eddy_matmul_accumulate_attrs),
    { 0 },
};

static bool matmul_accumulate_infer(eddy_infer *c)
{
    int64_t m, n;
    return infer_real_product(c, 1, &m, &n) && infer_like_product(c, 0, &m, &n) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_SHAPE(m, n));
}

static eddy_product accumulated_product(const eddy_kernel *k)
{
    const eddy_matmul_accumulate_attrs *t = k->attrs;
    eddy_product p = eddy__product_like(t->transposes, k->in[1]->type, k->in[2]->type,
                                        k->out[0]->type.dtype);
    p.alpha = t->alpha;
    p.beta = 1;
    return p;
}

/* A factor that may share memory with c, and so be overwritten, is copied to scratch memory,
 * after that of the product. */
static eddy_status matmul_accumulate_prepare(eddy_kernel *k)
{
    const eddy_product p = accumulated_product(k);
    const int64_t      n = k->in[0]->count;
    eddy__product_plan(k, &p, 2);
    if (n == k->in[1]->count || n == k->in[2]->count)
        k->scratch_size += (uint64_t)n * eddy_dtype_size(p.dtype);
    return EDDY_OK;
}

static eddy_status matmul_accumulate_kernel(eddy_kernel *k)
{
    eddy_product p = accumulated_product(k);
    const size_t bytes = (size_t)k->in[0]->count * eddy_dtype_size(p.dtype);
    const void  *c = k->in[0]->data;
    p.a = k->in[1]->data, p.b = k->in[2]->data, p.y = k->out[0]->data;
    p.plan = k->state, p.scratch = k->scratch;
    if (bytes == 0) return EDDY_OK;
    if (p.y != c) memcpy(p.y, c, bytes);
    else if (p.a == c || p.b == c) {
        void *kept = (char *)k->scratch + (k->scratch_size - bytes);
        memcpy(kept, c, bytes);
        if (p.a == c) p.a = kept;
        if (p.b == c) p.b = kept;
    }
    eddy__product_run(k, &p);
    return EDDY_OK;
}

static void matmul_accumulate_gradient(eddy_rule *r)
{
    const eddy_matmul_accumulate_attrs *t = r->attrs;
    r->dx[0] = r->dy[0];
    product_rule(r, &t->transposes, t->alpha, r->x + 1, r->dy[0], r->dx + 1);
}

static void matmul_accumulate_batch(eddy_batch *b)
{
    const eddy_matmul_accumulate_attrs *t = b->attrs;
    const eddy_tensor y = eddy_apply2(&eddy_op_batch_matmul, &t->transposes, b->x[1],
                                      eddy_batch_input(b, 2));
    b->y[0] = Add(b->x[0], t->alpha == 1 ? y : Mul(y, t->alpha));
}

static double matmul_accumulate_flops(const void *attrs, int n_in, const eddy_type *in,
                                      const eddy_type *out)
{
    const eddy_matmul_accumulate_attrs *t = attrs;
    return eddy__product_flops(&t->transposes, n_in, in + 1, out) +
           (1 + (t->alpha != 1)) * (double)eddy_shape_count(out->shape);
}

const eddy_op_def eddy_op_matmul_accumulate = {
    .name = "_MatMulAccumulate", .label = "MatMulAccumulate", .min_inputs = 3,
    .max_inputs = 3, .outputs = 1, .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "sum", EDDY_TAKES_FLOATS }, { "a", EDDY_LIKE(0) | EDDY_RANK(2) },
                          { "b", EDDY_LIKE(0) | EDDY_RANK(2) }),
    .attrs_size = sizeof(eddy_matmul_accumulate_attrs), .attrs = matmul_accumulate_fields,
    .infer = matmul_accumulate_infer, .prepare = matmul_accumulate_prepare,
    .kernel = matmul_accumulate_kernel, .gradient = matmul_accumulate_gradient,
    .batch = matmul_accumulate_batch, .flops = matmul_accumulate_flops,
};
