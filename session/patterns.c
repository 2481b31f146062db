/* patterns.c -- ops that are made of parts, as people write them: attention and softmax
 * here, normalisations and gelu in files of their own.
 *
 * All parts must have no other readers: what a gradient reads is computed anyway, and
 * then the whole op would be computed besides.  Cross entropies are none of the patterns:
 * a loop that adds up labels times log_softmax is faster than the op, whose second result
 * nobody reads then; and a one-hot row of zeros is no error there. */
#include "session/patterns.h"
#include "ops/attention_rules.h"
#include "ops/matmul.h"
#include "build/gen/table.h"

static eddy_tensor in(const rewrite *r, int i) { return r->node->inputs[i]; }

static int last_axis(eddy_shape s) { return s.rank - 1; }

/* The axis of a softmax, counted from the front. */
static int axis_of(const flow_node *n)
{
    const int64_t axis = *(const int64_t *)eddy_flow_attr(n, "axis");
    return (int)(axis < 0 ? axis + n->outputs[0].shape.rank : axis);
}

/* ------------------------------------------------------------- attention -- */

static const flow_node *product(const rewrite *r, eddy_parts *p, eddy_tensor t)
{
    const flow_node *n = eddy_match_part(r, p, t, &eddy_op_batch_matmul);
    return n ? n : eddy_match_part(r, p, t, &eddy_op_matmul);
}

/* x = k' becomes k: its last two dimensions alone are exchanged. */
static bool untransposed(const rewrite *r, eddy_parts *p, eddy_tensor *x)
{
    const flow_node *n = eddy_match_part(r, p, *x, &eddy_op_transpose);
    if (!n) return false;
    const eddy_dims *perm = eddy_flow_attr(n, "perm");
    const int        rank = n->outputs[0].shape.rank;
    for (int i = 0; i < rank; i++) {
        const int64_t from = perm->count > 0 ? perm->at[i] : rank - 1 - i;
        if ((from < 0 ? from + rank : from) != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
    }
    *x = n->inputs[0];
    return true;
}

/* t = scale q k', with q and k as inputs 0 and 1. */
static bool scores(const rewrite *r, eddy_parts *p, eddy_tensor t, double *scale, eddy_tensor *x)
{
    eddy_tensor      inner;
    const flow_node *n = eddy_match_part(r, p, t, &eddy_op_mul);
    *scale = 1;
    if (n) {
        const int i = eddy_match_number(r, n->inputs[0], scale) ? 1 : 0;
        if (i == 0 && !eddy_match_number(r, n->inputs[1], scale)) return false;
        inner = n->inputs[i];
    } else if ((n = eddy_match_part(r, p, t, &eddy_op_div)) != NULL) {
        if (!eddy_match_number(r, n->inputs[1], scale)) return false;
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
    const flow_node *add = eddy_match_part(r, p, t, &eddy_op_add);
    *n_in = add ? 4 : 3;
    if (!add) return scores(r, p, t, scale, x);
    const int before = p->n;
    for (int i = 0; i < 2; i++) {
        p->n = before;
        x[3] = add->inputs[1 - i];
        if (scores(r, p, add->inputs[i], scale, x)) return true;
    }
    return false;
}

/* softmax(scale q k' + mask) v. */
static bool attention(rewrite *r)
{
    const eddy_matmul_attrs *a = r->node->attrs;
    eddy_parts       p = { .n = 0 };
    const flow_node *softmax = eddy_match_part(r, &p, in(r, 0), &eddy_op_softmax);
    eddy_attention_attrs attrs = { .causal = false };
    eddy_tensor      x[4];
    int              n_in;
    if (a->transpose_a || a->transpose_b || !softmax ||
        axis_of(softmax) != last_axis(softmax->outputs[0].shape) ||
        !masked_scores(r, &p, softmax->inputs[0], &attrs.scale, x, &n_in) ||
        !eddy_match_closed(r, &p))
        return false;
    x[2] = in(r, 1);
    const eddy_op_def *op = &eddy_op_scaled_dot_product_attention;
    return eddy_give(r, eddy_rewrite_add(r, op, &attrs, n_in, x));
}

/* --------------------------------------------------------------- softmax -- */

/* e / sum e with e = e^(x - m), m the largest x. */
static bool softmax(rewrite *r)
{
    eddy_parts       p = { .n = 0 };
    const flow_node *e = eddy_match_part(r, &p, in(r, 0), &eddy_op_exp);
    const flow_node *less = e ? eddy_match_part(r, &p, e->inputs[0], &eddy_op_sub) : NULL;
    if (!less) return false;
    const eddy_tensor x = less->inputs[0], s = eddy_match_part_elements(r, &p, in(r, 1));
    const eddy_tensor m = eddy_match_part_elements(r, &p, less->inputs[1]);
    const flow_node  *sum = eddy_match_part(r, &p, s, &eddy_op_sum);
    const flow_node  *max = eddy_match_part(r, &p, m, &eddy_op_max);
    if (!sum || !max || sum->inputs[0].node != e->id || !eddy_match_same(max->inputs[0], x))
        return false;
    const unsigned   axes = eddy_match_axes(r, sum);
    const eddy_shape left = eddy_match_folded(e->outputs[0].shape, axes);
    if (eddy_match_axis(axes) < 0 || axes != eddy_match_axes(r, max) ||
        !eddy_shape_equal(eddy_match_type(r, in(r, 1)).shape, left) ||
        !eddy_shape_equal(eddy_match_type(r, less->inputs[1]).shape, left) ||
        !eddy_match_closed(r, &p))
        return false;
    return eddy_give(r, eddy_make_along(r, &eddy_op_softmax, 1, &x, eddy_match_axis(axes)));
}

bool eddy_find_patterns(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (!eddy_match_real(r, in(r, 0))) return false;
    if (op == &eddy_op_matmul || op == &eddy_op_batch_matmul) return attention(r);
    if (op == &eddy_op_div && softmax(r)) return true;
    if (op == &eddy_op_mul && eddy_pattern_gelu(r)) return true;
    return eddy_pattern_norm(r) || eddy_pattern_norm_slope(r);
}
