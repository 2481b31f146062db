/* match.c -- recognising parts of a flow, and making others. */
#include "session/match.h"
#include "ops/reduce.h"
#include "build/gen/table.h"

#include <string.h>

/* ------------------------------------------------------------- looking -- */

bool eddy_match_real(const rewrite *r, eddy_tensor t)
{
    const eddy_dtype d = eddy_match_type(r, t).dtype;
    return d == EDDY_FLOAT32 || d == EDDY_FLOAT64;
}

const flow_node *eddy_match(const rewrite *r, eddy_tensor t, const eddy_op_def *op)
{
    const flow_node *n = eddy_flow_node(r->flow, t);
    return n->op == op && !n->values && n->n_controls == 0 && t.output == 0 ? n : NULL;
}

/* What t is under another shape; NULL if it is none. */
static const flow_node *reshape_of(const rewrite *r, eddy_tensor t)
{
    const flow_node *n = eddy_flow_node(r->flow, t);
    return n->alias && n->n_controls == 0 && t.output == 0 ? n : NULL;
}

enum { RESHAPES = 8 };         /* one after the other that are looked through */

eddy_tensor eddy_match_elements(const rewrite *r, eddy_tensor t)
{
    const flow_node *n;
    for (int i = 0; i < RESHAPES && (n = reshape_of(r, t)) != NULL; i++) t = n->inputs[0];
    return t;
}

bool eddy_match_number(const rewrite *r, eddy_tensor t, double *v)
{
    const eddy_array *a = eddy_flow_value(r->flow, t);
    if (!a || eddy_array_count(a) == 0 || !eddy_match_real(r, t)) return false;
    *v = eddy_array_get(a, 0);
    return eddy_flow_is_filled(r->flow, t, *v);
}

bool eddy_match_is(const rewrite *r, eddy_tensor t, double v)
{
    double found;
    return eddy_match_number(r, t, &found) && found == v;
}

bool eddy_match_with(const rewrite *r, const flow_node *n, double v, eddy_tensor *other)
{
    for (int i = 0; i < 2; i++) {
        *other = n->inputs[1 - i];
        if (eddy_match_is(r, n->inputs[i], v)) return true;
    }
    return false;
}

const flow_node *eddy_match_either(const rewrite *r, const flow_node *n, const eddy_op_def *op,
                                   int *i)
{
    const flow_node *found = eddy_match(r, n->inputs[*i], op);
    if (found) return found;
    found = eddy_match(r, n->inputs[1 - *i], op);
    if (found) *i = 1 - *i;
    return found;
}

unsigned eddy_match_axes(const rewrite *r, const flow_node *n)
{
    const eddy_dims *axes = eddy_flow_attr(n, "axes");
    const int        rank = eddy_match_type(r, n->inputs[0]).shape.rank;
    return axes && rank > 0 ? eddy_axes_mask(*axes, rank) : 0;
}

int eddy_match_axis(unsigned mask)
{
    return mask != 0 && (mask & (mask - 1)) == 0 ? __builtin_ctz(mask) : -1;
}

eddy_shape eddy_match_folded(eddy_shape s, unsigned mask)
{
    for (int i = 0; i < s.rank; i++)
        if (mask >> i & 1) s.dim[i] = 1;
    return s;
}

/* --------------------------------------------------------------- parts -- */

static bool is_part(const eddy_parts *p, const flow_node *n)
{
    for (int i = 0; i < p->n && i < EDDY_PARTS; i++)
        if (p->at[i] == n) return true;
    return false;
}

static void add_part(eddy_parts *p, const flow_node *n)
{
    if (is_part(p, n)) return;
    if (p->n < EDDY_PARTS) p->at[p->n] = n;
    p->n++;
}

const flow_node *eddy_match_part(const rewrite *r, eddy_parts *p, eddy_tensor t,
                                 const eddy_op_def *op)
{
    const flow_node *n = eddy_match(r, t, op);
    if (n) add_part(p, n);
    return n;
}

eddy_tensor eddy_match_part_elements(const rewrite *r, eddy_parts *p, eddy_tensor t)
{
    const flow_node *n;
    for (int i = 0; i < RESHAPES && (n = reshape_of(r, t)) != NULL; i++) {
        add_part(p, n);
        t = n->inputs[0];
    }
    return t;
}

static int reads(const flow_node *n, const flow_node *of)
{
    int count = 0;
    for (int i = 0; i < n->n_inputs; i++) count += n->inputs[i].node == of->id;
    return count;
}

bool eddy_match_closed(const rewrite *r, const eddy_parts *p)
{
    if (p->n > EDDY_PARTS) return false;
    for (int i = 0; i < p->n; i++) {
        int inside = reads(r->node, p->at[i]);
        for (int k = 0; k < p->n; k++) inside += reads(p->at[k], p->at[i]);
        if (inside != p->at[i]->readers) return false;
    }
    return true;
}

/* -------------------------------------------------------------- making -- */

bool eddy_give(rewrite *r, eddy_tensor t)
{
    if (!eddy_flow_valid(t)) return false;
    const eddy_type a = eddy_match_type(r, t), b = r->node->outputs[0];
    if (a.dtype != b.dtype || !eddy_shape_equal(a.shape, b.shape)) return false;
    r->y[0] = t;
    return true;
}

eddy_tensor eddy_make1(rewrite *r, const eddy_op_def *op, eddy_tensor a)
{
    return eddy_rewrite_add(r, op, NULL, 1, &a);
}

eddy_tensor eddy_make2(rewrite *r, const eddy_op_def *op, eddy_tensor a, eddy_tensor b)
{
    const eddy_tensor x[] = { a, b };
    return eddy_rewrite_add(r, op, NULL, 2, x);
}

eddy_tensor eddy_make_number(rewrite *r, double v, eddy_tensor like)
{
    return eddy_flow_scalar(r->flow, r->node->source, eddy_match_type(r, like).dtype, v);
}

eddy_tensor eddy_make_negative(rewrite *r, eddy_tensor t)
{
    double v;
    if (!eddy_flow_valid(t)) return t;
    if (eddy_match_number(r, t, &v)) return eddy_make_number(r, -v, t);
    const flow_node *n = eddy_match(r, t, &eddy_op_neg);
    return n ? n->inputs[0] : eddy_make1(r, &eddy_op_neg, t);
}

static void set_attr(const eddy_op_def *op, void *attrs, const char *name, const void *value,
                     size_t size)
{
    for (const eddy_attr_field *f = op->attrs; f->name; f++)
        if (strcmp(f->name, name) == 0) memcpy((char *)attrs + f->offset, value, size);
}

eddy_tensor eddy_make_fold(rewrite *r, const eddy_op_def *op, eddy_tensor t, unsigned mask)
{
    union { long double aligned; char room[sizeof(eddy_dims) + 64]; } attrs = { .room = { 0 } };
    const bool keepdims = true;
    eddy_dims  axes = { .count = 0 };
    if (!eddy_flow_valid(t) || op->attrs_size > sizeof attrs) return (eddy_tensor){ 0 };
    for (int i = 0; i < EDDY_MAX_RANK; i++)
        if (mask >> i & 1) axes.at[axes.count++] = i;
    set_attr(op, &attrs, "axes", &axes, sizeof axes);
    set_attr(op, &attrs, "keep_dims", &keepdims, sizeof keepdims);
    return eddy_rewrite_add(r, op, &attrs, 1, &t);
}

eddy_tensor eddy_make_along(rewrite *r, const eddy_op_def *op, int n, const eddy_tensor *in,
                            int axis)
{
    const int64_t attrs = axis;
    return eddy_rewrite_add(r, op, &attrs, n, in);
}
