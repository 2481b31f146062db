/* patterns.c -- recognizes composed operations as users write them: attention and softmax here,
 * normalizations and GELU in files of their own.
 *
 * No part of a pattern may have other readers: a value that a gradient reads is computed anyway,
 * and the whole operation would be computed in addition. Cross entropies are not among the
 * patterns: a loop that sums labels times log_softmax is faster than the operation, whose second
 * result would be unused; and a one-hot row of zeros is not an error there. */
#include "session/passes/patterns.h"
#include "ops/nets/attention_gradient.h"
#include "ops/nets/softmax.h"
#include "ops/linear/matmul.h"
#include "ops/weak_ops.h"

static eddy_tensor input(const rewrite *r, int i) { return r->node->inputs[i]; }

static int last_axis(eddy_shape s) { return s.rank - 1; }

/* The axis of a softmax, counted from the front. */
static int axis_of(const ir_node *n)
{
    const int64_t axis = ((const eddy_softmax_attrs *)n->attrs)->axis;
    return (int)(axis < 0 ? axis + n->outputs[0].shape.rank : axis);
}

/* ------------------------------------------------------------- attention -- */

static const ir_node *product(const rewrite *r, eddy_parts *p, eddy_tensor t)
{
    const ir_node *n = eddy__match_part(r, p, t, &eddy_op_batch_matmul);
    return n ? n : eddy__match_part(r, p, t, &eddy_op_matmul);
}

/* If x = k', returns k: x only exchanges the last two dimensions of k. */
static bool untransposed(const rewrite *r, eddy_parts *p, eddy_tensor *x)
{
    const ir_node *n = eddy__match_part(r, p, *x, &eddy_op_transpose);
    if (!n || !eddy__match_exchanges(n)) return false;
    *x = n->inputs[0];
    return true;
}

/* t = scale q k', with q and k as inputs 0 and 1. */
static bool attention_scores(const rewrite *r, eddy_parts *p, eddy_tensor t, double *scale,
                             eddy_tensor *x)
{
    eddy_tensor    inner;
    const ir_node *n = eddy__match_part(r, p, t, &eddy_op_mul);
    *scale = 1;
    if (n) {
        const int i = eddy__match_number(r, n->inputs[0], scale) ? 1 : 0;
        if (i == 0 && !eddy__match_number(r, n->inputs[1], scale)) return false;
        inner = n->inputs[i];
    } else if ((n = eddy__match_part(r, p, t, &eddy_op_div)) != NULL) {
        if (!eddy__match_number(r, n->inputs[1], scale)) return false;
        *scale = 1 / *scale;
        inner = n->inputs[0];
    } else {
        inner = t;
    }
    if (!(n = product(r, p, inner))) return false;
    const eddy_matmul_attrs *a = n->attrs;
    x[0] = n->inputs[0], x[1] = n->inputs[1];
    if (a->transpose_a || *scale == 0) return false;
    return a->transpose_b || untransposed(r, p, &x[1]);
}

/* The same with a mask, as input 3, added on either side; *n_in counts the inputs. */
static bool masked_scores(const rewrite *r, eddy_parts *p, eddy_tensor t, double *scale,
                          eddy_tensor *x, int *n_in)
{
    const ir_node *add = eddy__match_part(r, p, t, &eddy_op_add);
    *n_in = add ? 4 : 3;
    if (!add) return attention_scores(r, p, t, scale, x);
    const int before = p->n;
    for (int i = 0; i < 2; i++) {
        p->n = before;
        x[3] = add->inputs[1 - i];
        if (attention_scores(r, p, add->inputs[i], scale, x)) return true;
    }
    return false;
}

/* softmax(scale q k' + mask) v. */
static bool attention(rewrite *r)
{
    const eddy_matmul_attrs *a = r->node->attrs;
    eddy_parts               p = { .n = 0 };
    const ir_node           *softmax = eddy__match_part(r, &p, input(r, 0), &eddy_op_softmax);
    eddy_attention_attrs     attrs = { .causal = false };
    eddy_tensor              x[4];
    int                      n_in;
    if (a->transpose_a || a->transpose_b || !softmax ||
        axis_of(softmax) != last_axis(softmax->outputs[0].shape) ||
        !masked_scores(r, &p, softmax->inputs[0], &attrs.scale, x, &n_in) ||
        !eddy__match_closed(r, &p))
        return false;
    x[2] = input(r, 1);
    const eddy_op_def *op = &eddy_op_scaled_dot_product_attention;
    return eddy__give(r, eddy__rewrite_add(r, op, &attrs, n_in, x));
}

/* --------------------------------------------------------------- softmax -- */

/* e / sum e with e = e^(x - m), m the largest x. */
static bool softmax(rewrite *r)
{
    eddy_parts     p = { .n = 0 };
    const ir_node *e = eddy__match_part(r, &p, input(r, 0), &eddy_op_exp);
    const ir_node *less = e ? eddy__match_part(r, &p, e->inputs[0], &eddy_op_sub) : NULL;
    if (!less) return false;
    const eddy_tensor x = less->inputs[0], s = eddy__match_part_elements(r, &p, input(r, 1));
    const eddy_tensor m = eddy__match_part_elements(r, &p, less->inputs[1]);
    const ir_node    *sum = eddy__match_part(r, &p, s, &eddy_op_sum);
    const ir_node    *max = eddy__match_part(r, &p, m, &eddy_op_max);
    if (!sum || !max || sum->inputs[0].node != e->id || !eddy__match_same(max->inputs[0], x))
        return false;
    const unsigned   axes = eddy__match_axes(r, sum);
    const eddy_shape left = eddy__match_folded(e->outputs[0].shape, axes);
    if (eddy__match_axis(axes) < 0 || axes != eddy__match_axes(r, max) ||
        !eddy_shape_equal(eddy__match_type(r, input(r, 1)).shape, left) ||
        !eddy_shape_equal(eddy__match_type(r, less->inputs[1]).shape, left) ||
        !eddy__match_closed(r, &p))
        return false;
    return eddy__give(r, eddy__make_along(r, &eddy_op_softmax, 1, &x, eddy__match_axis(axes)));
}

bool eddy__find_patterns(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (!eddy__match_real(r, input(r, 0))) return false;
    if (op == &eddy_op_matmul || op == &eddy_op_batch_matmul) return attention(r);
    if (op == &eddy_op_div && softmax(r)) return true;
    if (op == &eddy_op_mul && eddy__pattern_gelu(r)) return true;
    return eddy__pattern_norm(r) || (r->ir->has_roots && eddy__pattern_norm_gradient(r));
}
