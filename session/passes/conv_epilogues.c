/* conv_epilogues.c -- convolution epilogues: fuses bias, residual and relu into a convolution,
 * so that they are applied while its result is in the cache; and the two transpositions around a
 * depthwise convolution of NCHW. */
#include "session/passes/match.h"
#include "ops/nets/conv2d_fused.h"
#include "ops/weak_ops.h"

#include <string.h>

/* The convolution that computes t, with its epilogue so far, if t has no other reader and there
 * is no activation yet; else NULL. */
static const ir_node *open_convolution(const rewrite *r, eddy_tensor t,
                                       eddy_fused_conv_attrs *f)
{
    const ir_node *n = eddy__ir_node(r->ir, t);
    if (n->values || n->readers != 1 || n->n_controls > 0) return NULL;
    if (n->op == &eddy_op_fused_conv2d) *f = *(const eddy_fused_conv_attrs *)n->attrs;
    else if (n->op == &eddy_op_conv2d)
        *f = (eddy_fused_conv_attrs){ .conv = *(const eddy_conv_attrs *)n->attrs };
    else return NULL;
    return strcmp(f->conv.data_format, "NHWC") == 0 && f->activation == 0 ? n : NULL;
}

/* The convolution with these attributes, and with one more operand if it is valid. */
static bool finish(rewrite *r, const ir_node *conv, const eddy_fused_conv_attrs *f,
                   const eddy_tensor *more)
{
    eddy_tensor x[4];
    int         n = conv->n_inputs;
    for (int i = 0; i < n; i++) x[i] = conv->inputs[i];
    if (more) x[n++] = *more;
    r->y[0] = eddy__rewrite_add(r, &eddy_op_fused_conv2d, f, n, x);
    return eddy__ir_valid(r->y[0]);
}

/* convolution + x, for input i the convolution. */
static bool add_rule(rewrite *r, int i)
{
    eddy_fused_conv_attrs f;
    const ir_node        *conv = open_convolution(r, r->node->inputs[i], &f);
    const eddy_tensor     other = r->node->inputs[1 - i];
    const eddy_shape      y = r->node->outputs[0].shape, s = eddy__ir_type(r->ir, other).shape;
    if (!conv || f.has_residual || !eddy_shape_equal(conv->outputs[0].shape, y)) return false;
    if (!f.has_bias && s.rank == 1 && s.dim[0] == y.dim[3] && y.dim[3] > 1) f.has_bias = 1;
    else if (eddy_shape_equal(s, y) && !eddy__is_passing(r->ir, other)) f.has_residual = 1;
    else return false;
    return finish(r, conv, &f, &other);
}

static bool relu_rule(rewrite *r)
{
    eddy_fused_conv_attrs f;
    const ir_node *conv = open_convolution(r, r->node->inputs[0], &f);
    if (!conv) return false;
    f.activation = 1;
    return finish(r, conv, &f, NULL);
}

/* Whether n is a transpose with this permutation of four axes. */
static bool permutes(const ir_node *n, const int *permutation)
{
    if (n->op != &eddy_op_transpose || n->outputs[0].shape.rank != 4) return false;
    for (int i = 0; i < 4; i++)
        if (eddy__match_permuted(n, i) != permutation[i]) return false;
    return true;
}

static bool planes_rule(rewrite *r)
{
    static const int to_planes[] = { 0, 3, 1, 2 }, to_last[] = { 0, 2, 3, 1 };
    if (!permutes(r->node, to_planes)) return false;
    const ir_node *conv = eddy__match(r, r->node->inputs[0], &eddy_op_depthwise);
    if (!conv || conv->readers != 1) return false;
    const eddy_conv_attrs *a = conv->attrs;
    const ir_node         *first = eddy__match(r, conv->inputs[0], &eddy_op_transpose);
    if (!first || !permutes(first, to_last) || a->strides.at[2] != 1) return false;
    const eddy_tensor x[] = { first->inputs[0], conv->inputs[1] };
    r->y[0] = eddy__rewrite_add(r, &eddy_op_depthwise_planes, a, 2, x);
    return eddy__ir_valid(r->y[0]);
}

bool eddy__take_in_conv_epilogues(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (op == &eddy_op_transpose) return planes_rule(r);
    if (op == &eddy_op_relu) return relu_rule(r);
    if (op == &eddy_op_bias_add) return add_rule(r, 0);
    if (op != &eddy_op_add) return false;
    const int later = r->node->inputs[1].node > r->node->inputs[0].node;
    return add_rule(r, later) || add_rule(r, 1 - later);
}
