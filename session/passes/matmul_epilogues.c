/* matmul_epilogues.c -- matrix product epilogues: fuses bias, residual and activation into a
 * matrix product, so that they are applied while its result is in the cache. conv_epilogues.c
 * does this for convolutions. */
#include "session/passes/passes.h"
#include "graph/base/dtype.h"
#include "ops/linear/fused_matmul.h"
#include "ops/weak_ops.h"

bool eddy__as_fused_product(const ir_node *n, eddy_fused_matmul_attrs *f)
{
    if (n->values || n->n_controls > 0) return false;
    const eddy_dtype d = n->n_outputs > 0 ? n->outputs[0].dtype : EDDY_BOOL;
    if (n->op == &eddy_op_fused_matmul) *f = *(const eddy_fused_matmul_attrs *)n->attrs;
    else if (n->op == &eddy_op_matmul && eddy_dtype_is_floating(d))
        *f = (eddy_fused_matmul_attrs){ .transposes = *(const eddy_matmul_attrs *)n->attrs,
                                        .alpha = 1 };
    else return false;
    return true;
}

/* The product that computes t, if t has no other reader and its epilogue so far is described by
 * f; else NULL. */
static const ir_node *open_product(const rewrite *r, eddy_tensor t, eddy_fused_matmul_attrs *f)
{
    const ir_node *p = eddy__ir_node(r->ir, t);
    return p->readers == 1 && eddy__as_fused_product(p, f) && f->activation == 0 ? p : NULL;
}

/* The product with one operand more, at its end. */
static bool with_operand(rewrite *r, const ir_node *p, const eddy_fused_matmul_attrs *f,
                         eddy_tensor more)
{
    eddy_tensor x[4];
    for (int i = 0; i < p->n_inputs; i++) x[i] = p->inputs[i];
    x[p->n_inputs] = more;
    r->y[0] = eddy__rewrite_add(r, &eddy_op_fused_matmul, f, p->n_inputs + 1, x);
    return eddy__ir_valid(r->y[0]);
}

bool eddy__is_passing(const ir_graph *f, eddy_tensor t)
{
    const ir_node *n = eddy__ir_node(f, t);
    return (n->op->flags & EDDY_OP_ELEMENTWISE) && !n->values && n->readers == 1;
}

/* product + x, for input i the product. */
static bool add_rule(rewrite *r, int i)
{
    eddy_fused_matmul_attrs f;
    const eddy_tensor       other = r->node->inputs[1 - i];
    const ir_node          *p = open_product(r, r->node->inputs[i], &f);
    if (!p || f.has_residual) return false;
    const eddy_shape  y = p->outputs[0].shape, s = eddy__ir_type(r->ir, other).shape;
    if (!f.has_bias && s.rank == 1 && s.dim[0] == y.dim[1] && y.dim[1] > 1) {
        f.has_bias = true;
        return with_operand(r, p, &f, other);
    }
    if (!eddy_shape_equal(s, y) || eddy__is_passing(r->ir, other)) return false;
    f.has_residual = true;
    return with_operand(r, p, &f, other);
}

static bool sum_rule(rewrite *r)
{
    /* if both operands are products, the later one gets the epilogue */
    const int later = r->node->inputs[1].node > r->node->inputs[0].node;
    return add_rule(r, later) || add_rule(r, 1 - later);
}

static bool activation_rule(rewrite *r)
{
    eddy_fused_matmul_attrs f;
    const int64_t           activation = eddy__fused_activation(r->node->op);
    const ir_node          *p = activation > 0 ? open_product(r, r->node->inputs[0], &f) : NULL;
    if (!p) return false;
    f.activation = activation;
    r->y[0] = eddy__rewrite_add(r, &eddy_op_fused_matmul, &f, p->n_inputs, p->inputs);
    return eddy__ir_valid(r->y[0]);
}

bool eddy__take_in_epilogues(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (eddy__take_in_conv_epilogues(r)) return true;
    if (op == &eddy_op_bias_add) return add_rule(r, 0);
    if (op == &eddy_op_add) return sum_rule(r);
    return r->node->n_inputs == 1 && activation_rule(r);
}
