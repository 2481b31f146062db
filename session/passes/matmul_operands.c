/* matmul_operands.c -- absorbs operations before or after a matrix product that are free as a
 * part of it: transposes, scalar factors, sums of products, batches that share an operand. */
#include "session/passes/match.h"
#include "ops/linear/fused_matmul.h"
#include "ops/weak_ops.h"

#include <string.h>

static eddy_type type_of(const rewrite *r, eddy_tensor t) { return eddy__ir_type(r->ir, t); }

static bool is_product(const ir_node *n)
{
    return !n->values && (n->op == &eddy_op_matmul || n->op == &eddy_op_batch_matmul);
}

/* ------------------------------------------------------------- transposes -- */

/* The input of x if x only transposes its last two dimensions; else x. */
static bool untranspose(const rewrite *r, eddy_tensor *x)
{
    const ir_node *n = eddy__match(r, *x, &eddy_op_transpose);
    if (!n || !eddy__match_exchanges(n)) return false;
    *x = n->inputs[0];
    return true;
}

static bool transposes_rule(rewrite *r)
{
    eddy_matmul_attrs t = *(const eddy_matmul_attrs *)r->node->attrs;
    eddy_tensor       x[2] = { r->node->inputs[0], r->node->inputs[1] };
    const bool        a = untranspose(r, &x[0]), b = untranspose(r, &x[1]);
    if (!a && !b) return false;
    t.transpose_a = t.transpose_a != a;
    t.transpose_b = t.transpose_b != b;
    return eddy__give(r, eddy__rewrite_add(r, r->node->op, &t, 2, x));
}

/* ---------------------------------------------------------------- batches -- */

/* The number of matrices in the last two dimensions. */
static int64_t matrices(eddy_shape s)
{
    int64_t n = 1;
    for (int i = 0; i < s.rank - 2; i++) n *= s.dim[i];
    return n;
}

/* True if the matrices of s, or their transposes if `transposed`, have their rows in memory one
 * after the other. A vector is its own transpose. */
static bool has_rows(eddy_shape s, bool transposed)
{
    return !transposed || s.dim[s.rank - 1] == 1 || s.dim[s.rank - 2] == 1;
}

/* x as one matrix of all its rows. */
static eddy_tensor as_rows(rewrite *r, eddy_tensor x, int64_t columns)
{
    const int64_t rows = columns > 0 ? eddy_shape_count(type_of(r, x).shape) / columns : 0;
    return eddy__rewrite_reshaped(r, x, EDDY_SHAPE(rows, columns));
}

/* x, one matrix, without the dimensions of size 1 before it. */
static eddy_tensor as_matrix(rewrite *r, eddy_tensor x)
{
    const eddy_shape s = type_of(r, x).shape;
    return eddy__rewrite_reshaped(r, x, EDDY_SHAPE(s.dim[s.rank - 2], s.dim[s.rank - 1]));
}

/* r->node becomes the product of the two matrices, reshaped. */
static bool give_product(rewrite *r, eddy_tensor a, eddy_tensor b, eddy_matmul_attrs t)
{
    const eddy_tensor x[] = { a, b }, p = eddy__rewrite_add(r, &eddy_op_matmul, &t, 2, x);
    return eddy__ir_valid(p) &&
           eddy__give(r, eddy__rewrite_reshaped(r, p, r->node->outputs[0].shape));
}

/* Many matrices times a single one are the product of all their rows: with y' = b' a', also if the
 * single one is the left operand, provided that the transposes need no copy. */
static bool batch_to_rows_rule(rewrite *r)
{
    const eddy_matmul_attrs t = *(const eddy_matmul_attrs *)r->node->attrs;
    const eddy_tensor       a = r->node->inputs[0], b = r->node->inputs[1];
    const eddy_shape        y = r->node->outputs[0].shape;
    const eddy_shape        sa = type_of(r, a).shape, sb = type_of(r, b).shape;
    const int64_t           k = sa.dim[sa.rank - 1 - t.transpose_a], n = matrices(y);
    if (r->node->op != &eddy_op_batch_matmul || eddy_shape_count(y) == 0 || k == 0) return false;
    if (n == 1) return give_product(r, as_matrix(r, a), as_matrix(r, b), t);
    if (matrices(sb) == 1 && matrices(sa) == n && has_rows(sa, t.transpose_a))
        return give_product(r, as_rows(r, a, k), as_matrix(r, b),
                            (eddy_matmul_attrs){ .transpose_b = t.transpose_b });
    return matrices(sa) == 1 && matrices(sb) == n && has_rows(sb, !t.transpose_b) &&
           has_rows(y, true) &&
           give_product(r, as_rows(r, b, k), as_matrix(r, a),
                        (eddy_matmul_attrs){ .transpose_b = !t.transpose_a });
}

/* True if the node reshapes all dimensions except the last two into rows, and q has the same
 * sizes. */
static bool folds_batch(const rewrite *r, eddy_shape q)
{
    const eddy_shape y = r->node->outputs[0].shape;
    if (r->node->op == &eddy_op_sum)
        return eddy__match_axes(r, r->node) == (1u << (q.rank - 2)) - 1;
    return y.rank >= 2 && y.dim[y.rank - 2] == q.dim[q.rank - 2];
}

/* The sum over the batch of a' b is the product of all their rows. */
static bool summed_rule(rewrite *r)
{
    const ir_node *p = eddy__rewrite_sole(r, r->node->inputs[0], &eddy_op_batch_matmul);
    if (!p) return false;
    const eddy_matmul_attrs *t = p->attrs;
    const eddy_shape         a = type_of(r, p->inputs[0]).shape, b = type_of(r, p->inputs[1]).shape;
    const eddy_shape         y = r->node->outputs[0].shape, q = p->outputs[0].shape;
    if (!has_rows(a, !t->transpose_a) || !has_rows(b, t->transpose_b) || a.rank != b.rank ||
        !folds_batch(r, q) || eddy_shape_count(q) == 0 ||
        eddy_shape_count(y) != q.dim[q.rank - 2] * q.dim[q.rank - 1] ||
        y.dim[y.rank - 1] != q.dim[q.rank - 1])
        return false;
    for (int i = 0; i < a.rank - 2; i++)
        if (a.dim[i] != b.dim[i]) return false;
    return give_product(r, as_rows(r, p->inputs[0], q.dim[q.rank - 2]),
                        as_rows(r, p->inputs[1], q.dim[q.rank - 1]),
                        (eddy_matmul_attrs){ .transpose_a = true });
}

/* ---------------------------------------------------------------- factors -- */

/* The one number that is in all of t, if it is constant. */
static bool is_number(const rewrite *r, eddy_tensor t, double *v)
{
    const eddy_array *a = eddy__ir_value(r->ir, t);
    if (!a || eddy_array_count(a) != 1) return false;
    *v = eddy_array_get(a, 0);
    return true;
}

/* True if moving the factor cannot cause overflow or underflow earlier. With a factor 0 the
 * product would not be computed, and NaN would be lost. */
static bool is_safe_factor(double c)
{
    const double least = 1.0 / (1 << 20), v = c < 0 ? -c : c;
    return v >= least && v <= 1 / least;
}

/* c times a product: c is its alpha. */
static bool scaled(rewrite *r, eddy_tensor t, double c)
{
    eddy_fused_matmul_attrs f;
    const ir_node          *p = eddy__ir_node(r->ir, t);
    if (p->readers != 1 || !eddy__as_fused_product(p, &f) || f.activation > 0 || f.has_bias ||
        f.has_residual)
        return false;
    f.alpha *= c;
    return is_safe_factor(f.alpha) &&
           eddy__give(r, eddy__rewrite_add(r, &eddy_op_fused_matmul, &f, 2, p->inputs));
}

static bool factor_rule(rewrite *r)
{
    double c;
    if (r->node->op == &eddy_op_neg) return scaled(r, r->node->inputs[0], -1);
    for (int i = 0; i < 2; i++)
        if (is_number(r, r->node->inputs[i], &c) && scaled(r, r->node->inputs[1 - i], c))
            return true;
    return false;
}

/* A product of c times a matrix. */
static bool scaled_operand_rule(rewrite *r)
{
    eddy_fused_matmul_attrs f;
    if (!eddy__as_fused_product(r->node, &f)) return false;
    for (int i = 0; i < 2; i++) {
        double         c;
        const ir_node *m = eddy__rewrite_sole(r, r->node->inputs[i], &eddy_op_mul);
        for (int k = 0; m && k < 2; k++) {
            eddy_tensor x[] = { r->node->inputs[0], r->node->inputs[1] };
            if (!is_number(r, m->inputs[k], &c) || !is_safe_factor(c) ||
                !is_safe_factor(f.alpha * c) ||
                !eddy_shape_equal(type_of(r, m->inputs[1 - k]).shape, m->outputs[0].shape))
                continue;
            x[i] = m->inputs[1 - k];
            f.alpha *= c;
            return eddy__give(r, eddy__rewrite_add(r, &eddy_op_fused_matmul, &f, 2, x));
        }
    }
    return false;
}

/* ------------------------------------------------------------------- sums -- */

/* A sum of products a' b becomes one product of all rows, if copying the rows costs less than
 * adding the products. */
static bool sum_of_products_rule(rewrite *r)
{
    const ir_node          *n = r->node;
    const eddy_shape        y = n->outputs[0].shape;
    const eddy_matmul_attrs t = { .transpose_a = true };
    int64_t                 rows = 0;
    eddy_tensor            *a = eddy__ir_alloc(r->ir->c, (size_t)n->n_inputs * 2, sizeof *a);
    if (!a || y.rank != 2) return false;
    for (int i = 0; i < n->n_inputs; i++) {
        const ir_node *p = eddy__rewrite_sole(r, n->inputs[i], &eddy_op_matmul);
        if (!p || memcmp(p->attrs, &t, sizeof t) != 0) return false;
        rows += type_of(r, p->inputs[0]).shape.dim[0];
        a[i] = p->inputs[0];
        a[n->n_inputs + i] = p->inputs[1];
    }
    if (rows * (y.dim[0] + y.dim[1]) > n->n_inputs * y.dim[0] * y.dim[1]) return false;
    const eddy_tensor x[] = {      /* attributes of zeros: along axis 0 */
        eddy__rewrite_add(r, &eddy_op_concat, NULL, n->n_inputs, a),
        eddy__rewrite_add(r, &eddy_op_concat, NULL, n->n_inputs, a + n->n_inputs),
    };
    return eddy__give(r, eddy__rewrite_add(r, &eddy_op_matmul, &t, 2, x));
}

bool eddy__improve_products(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    if (is_product(r->node))
        return transposes_rule(r) || batch_to_rows_rule(r) || scaled_operand_rule(r);
    if (op == &eddy_op_mul || op == &eddy_op_neg) return factor_rule(r);
    if (op == &eddy_op_sum || op == &eddy_op_sum_like) return summed_rule(r);
    return op == &eddy_op_add_n && sum_of_products_rule(r);
}
