/* match.c -- pattern matching on an IR, and creation of replacement nodes. */
#include "session/passes/match.h"
#include "graph/base/dtype.h"
#include "ops/arrays/transpose.h"
#include "ops/nets/softmax.h"
#include "ops/reduce/reductions.h"
#include "ops/weak_ops.h"

/* -------------------------------------------------------------- lookup -- */

bool eddy__match_real(const rewrite *r, eddy_tensor t)
{
    return eddy_dtype_is_floating(eddy__match_type(r, t).dtype);
}

const ir_node *eddy__match(const rewrite *r, eddy_tensor t, const eddy_op_def *op)
{
    const ir_node *n = eddy__ir_node(r->ir, t);
    return n->op == op && !n->values && n->n_controls == 0 && t.output == 0 ? n : NULL;
}

/* The tensor of which t is a reshape; NULL if t is not a reshape. */
static const ir_node *reshape_of(const rewrite *r, eddy_tensor t)
{
    const ir_node *n = eddy__ir_node(r->ir, t);
    return n->alias && n->n_controls == 0 && t.output == 0 ? n : NULL;
}

enum { RESHAPES = 8 };         /* one after the other that are looked through */

eddy_tensor eddy__match_elements(const rewrite *r, eddy_tensor t)
{
    const ir_node *n;
    for (int i = 0; i < RESHAPES && (n = reshape_of(r, t)) != NULL; i++) t = n->inputs[0];
    return t;
}

bool eddy__match_number(const rewrite *r, eddy_tensor t, double *v)
{
    const eddy_array *a = eddy__ir_value(r->ir, t);
    if (!a || eddy_array_count(a) == 0 || !eddy__match_real(r, t)) return false;
    *v = eddy_array_get(a, 0);
    return eddy__ir_is_filled(r->ir, t, *v);
}

bool eddy__match_is(const rewrite *r, eddy_tensor t, double v)
{
    double found;
    return eddy__match_number(r, t, &found) && found == v;
}

bool eddy__match_with(const rewrite *r, const ir_node *n, double v, eddy_tensor *other)
{
    for (int i = 0; i < 2; i++) {
        *other = n->inputs[1 - i];
        if (eddy__match_is(r, n->inputs[i], v)) return true;
    }
    return false;
}

const ir_node *eddy__match_either(const rewrite *r, const ir_node *n, const eddy_op_def *op,
                                  int *i)
{
    const ir_node *found = eddy__match(r, n->inputs[*i], op);
    if (found) return found;
    found = eddy__match(r, n->inputs[1 - *i], op);
    if (found) *i = 1 - *i;
    return found;
}

unsigned eddy__match_axes(const rewrite *r, const ir_node *n)
{
    const eddy_reduce_attrs *a = n->attrs;
    const int rank = eddy__match_type(r, n->inputs[0]).shape.rank;
    return rank > 0 ? eddy__axes_mask(a->axes, rank) : 0;
}

int eddy__match_axis(unsigned mask)
{
    return mask != 0 && (mask & (mask - 1)) == 0 ? __builtin_ctz(mask) : -1;
}

int eddy__match_permuted(const ir_node *transpose, int i)
{
    const eddy_dims perm = ((const eddy_transpose_attrs *)transpose->attrs)->perm;
    const int       rank = transpose->outputs[0].shape.rank;
    if (perm.count <= 0) return rank - 1 - i;
    return (int)(perm.at[i] < 0 ? perm.at[i] + rank : perm.at[i]);
}

bool eddy__match_exchanges(const ir_node *transpose)
{
    const int rank = transpose->outputs[0].shape.rank;
    for (int i = 0; i < rank; i++)
        if (eddy__match_permuted(transpose, i) != (i < rank - 2 ? i : 2 * rank - 3 - i))
            return false;
    return rank >= 2;
}

eddy_shape eddy__match_folded(eddy_shape s, unsigned mask)
{
    for (int i = 0; i < s.rank; i++)
        if (mask >> i & 1) s.dim[i] = 1;
    return s;
}

/* --------------------------------------------------------------- parts -- */

static bool is_matched(const eddy_parts *p, const ir_node *n)
{
    for (int i = 0; i < p->n && i < EDDY_PARTS; i++)
        if (p->at[i] == n) return true;
    return false;
}

static void add_part(eddy_parts *p, const ir_node *n)
{
    if (is_matched(p, n)) return;
    if (p->n < EDDY_PARTS) p->at[p->n] = n;
    p->n++;
}

const ir_node *eddy__match_part(const rewrite *r, eddy_parts *p, eddy_tensor t,
                                const eddy_op_def *op)
{
    const ir_node *n = eddy__match(r, t, op);
    if (n) add_part(p, n);
    return n;
}

eddy_tensor eddy__match_part_elements(const rewrite *r, eddy_parts *p, eddy_tensor t)
{
    const ir_node *n;
    for (int i = 0; i < RESHAPES && (n = reshape_of(r, t)) != NULL; i++) {
        add_part(p, n);
        t = n->inputs[0];
    }
    return t;
}

static int uses_of(const ir_node *n, const ir_node *of)
{
    int count = 0;
    for (int i = 0; i < n->n_inputs; i++) count += n->inputs[i].node == of->id;
    return count;
}

bool eddy__match_closed(const rewrite *r, const eddy_parts *p)
{
    if (p->n > EDDY_PARTS) return false;
    for (int i = 0; i < p->n; i++) {
        int inside = uses_of(r->node, p->at[i]);
        for (int k = 0; k < p->n; k++) inside += uses_of(p->at[k], p->at[i]);
        if (inside != p->at[i]->readers) return false;
    }
    return true;
}

/* -------------------------------------------------------- construction -- */

bool eddy__give(rewrite *r, eddy_tensor t)
{
    if (!eddy__ir_valid(t)) return false;
    if (!eddy__same_type(eddy__match_type(r, t), r->node->outputs[0])) return false;
    r->y[0] = t;
    return true;
}

eddy_tensor eddy__make1(rewrite *r, const eddy_op_def *op, eddy_tensor a)
{
    return eddy__rewrite_add(r, op, NULL, 1, &a);
}

eddy_tensor eddy__make2(rewrite *r, const eddy_op_def *op, eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor x[] = { a, b };
    return eddy__rewrite_add(r, op, NULL, 2, x);
}

eddy_tensor eddy__make_number(rewrite *r, double v, eddy_tensor like)
{
    return eddy__ir_scalar(r->ir, r->node->source, eddy__match_type(r, like).dtype, v);
}

eddy_tensor eddy__make_negative(rewrite *r, eddy_tensor t)
{
    double v;
    if (!eddy__ir_valid(t)) return t;
    if (eddy__match_number(r, t, &v)) return eddy__make_number(r, -v, t);
    const ir_node *n = eddy__match(r, t, &eddy_op_neg);
    return n ? n->inputs[0] : eddy__make1(r, &eddy_op_neg, t);
}

eddy_tensor eddy__make_fold(rewrite *r, const eddy_op_def *op, eddy_tensor t, unsigned mask)
{
    eddy_reduce_attrs attrs = { .keep_dims = true };
    if (!op || !eddy__ir_valid(t)) return EDDY_NO_TENSOR;
    for (int i = 0; i < EDDY_MAX_RANK; i++)
        if (mask >> i & 1) attrs.axes.at[attrs.axes.count++] = i;
    return eddy__rewrite_add(r, op, &attrs, 1, &t);
}

eddy_tensor eddy__make_along(rewrite *r, const eddy_op_def *op, int n, const eddy_tensor *in,
                             int axis)
{
    const eddy_softmax_attrs attrs = { axis };
    return eddy__rewrite_add(r, op, &attrs, n, in);
}
