/* pattern_norm.c -- recognizes layer and batch normalization.
 *
 * The center of the pattern is a product of x - mean, of rstd = 1 / sqrt(variance + epsilon)
 * and perhaps of a scale, which becomes the operation. A later multiplication by a scale, and
 * then an addition of an offset, become operands of that operation. */
#include "session/passes/pattern_norm.h"
#include "ops/nets/normalization.h"
#include "ops/weak_ops.h"

typedef eddy_norm_parts norm;

static eddy_shape shape_of(const rewrite *r, eddy_tensor t) { return eddy__match_type(r, t).shape; }

const eddy_op_def *eddy__norm_op(const rewrite *r, const norm *m)
{
    const int rank = shape_of(r, m->x).rank;
    if (rank >= 1 && m->axes == 1u << (rank - 1)) return &eddy_op_layer_norm;
    return rank >= 2 && m->axes == (1u << (rank - 1)) - 1 ? &eddy_op_fused_batch_norm : NULL;
}

bool eddy__norm_is_of_groups(const rewrite *r, const norm *m, eddy_tensor t)
{
    const eddy_shape x = shape_of(r, m->x), s = shape_of(r, t);
    if (eddy_shape_equal(s, eddy__match_folded(x, m->axes))) return true;
    return eddy__norm_op(r, m) == &eddy_op_fused_batch_norm && s.rank == 1 &&
           s.dim[0] == x.dim[x.rank - 1];
}

eddy_tensor eddy__norm_vector(rewrite *r, const norm *m, eddy_tensor t)
{
    const eddy_shape x = shape_of(r, m->x), s = shape_of(r, t);
    if (s.rank < 1 || s.rank > x.rank || s.dim[s.rank - 1] != x.dim[x.rank - 1] ||
        eddy_shape_count(s) != x.dim[x.rank - 1])
        return EDDY_NO_TENSOR;
    return eddy__rewrite_reshaped(r, t, EDDY_SHAPE(x.dim[x.rank - 1]));
}

/* -------------------------------------------------------------- moments -- */

/* If t is a mean over all axes of m, returns its operand. The first mean determines the axes. */
static eddy_tensor mean_of(const rewrite *r, norm *m, eddy_tensor t)
{
    const eddy_tensor none = EDDY_NO_TENSOR;
    t = eddy__match_part_elements(r, &m->p, t);
    const ir_node *n = eddy__match_part(r, &m->p, t, &eddy_op_mean);
    if (!n) return none;
    const unsigned axes = eddy__match_axes(r, n);
    if (m->axes == 0) m->axes = axes;
    return axes == m->axes && axes != 0 ? n->inputs[0] : none;
}

/* t = x - mean. */
static bool is_centered(const rewrite *r, norm *m, eddy_tensor t)
{
    const ir_node *n = eddy__match_part(r, &m->p, t, &eddy_op_sub);
    if (!n || (eddy__ir_valid(m->x) && !eddy__match_same(n->inputs[0], m->x))) return false;
    m->x = n->inputs[0];
    const eddy_tensor of = mean_of(r, m, n->inputs[1]);
    return eddy__match_same(of, m->x) && eddy__norm_is_of_groups(r, m, n->inputs[1]);
}

/* t = (x - mean)^2. */
static bool is_squared(const rewrite *r, norm *m, eddy_tensor t)
{
    const ir_node *n = eddy__match_part(r, &m->p, t, &eddy_op_squared_difference);
    for (int i = 0; n && i < 2; i++)
        if (eddy__match_same(n->inputs[i], m->x))
            return eddy__norm_is_of_groups(r, m, n->inputs[1 - i]) &&
                   eddy__match_same(mean_of(r, m, n->inputs[1 - i]), m->x);
    n = eddy__match_part(r, &m->p, t, &eddy_op_square);
    if (n) return is_centered(r, m, n->inputs[0]);
    n = eddy__match_part(r, &m->p, t, &eddy_op_mul);
    return n && eddy__match_same(n->inputs[0], n->inputs[1]) && is_centered(r, m, n->inputs[0]);
}

/* t = mean((x - mean)^2), or mean(x^2) - mean^2. */
static bool is_variance(const rewrite *r, norm *m, eddy_tensor t)
{
    t = eddy__match_part_elements(r, &m->p, t);
    const ir_node *sub = eddy__match_part(r, &m->p, t, &eddy_op_sub);
    if (!sub) {
        const eddy_tensor squares = mean_of(r, m, t);
        return eddy__ir_valid(squares) && is_squared(r, m, squares);
    }
    const eddy_tensor squares = mean_of(r, m, sub->inputs[0]);
    const ir_node    *a = eddy__ir_valid(squares)
                             ? eddy__match_part(r, &m->p, squares, &eddy_op_square) : NULL;
    const ir_node  *b = eddy__match_part(r, &m->p, eddy__match_part_elements(r, &m->p,
                                                                             sub->inputs[1]),
                                           &eddy_op_square);
    return a && b && eddy__match_same(a->inputs[0], m->x) &&
           eddy__match_same(mean_of(r, m, b->inputs[0]), m->x);
}

/* t = variance + epsilon. */
static bool is_variance_plus_epsilon(const rewrite *r, norm *m, eddy_tensor t)
{
    const ir_node *n = eddy__match_part(r, &m->p, eddy__match_part_elements(r, &m->p, t),
                                          &eddy_op_add);
    if (!n) return false;
    const int i = eddy__match_number(r, n->inputs[0], &m->epsilon) ? 1 : 0;
    if (i == 0 && !eddy__match_number(r, n->inputs[1], &m->epsilon)) return false;
    return m->epsilon > 0 && is_variance(r, m, n->inputs[i]);
}

bool eddy__norm_is_rstd(const rewrite *r, norm *m, eddy_tensor t, bool root)
{
    const ir_node *n = eddy__match_part(r, &m->p, eddy__match_part_elements(r, &m->p, t),
                                        root ? &eddy_op_sqrt : &eddy_op_rsqrt);
    if (!n || !eddy__norm_is_of_groups(r, m, t)) return false;
    return is_variance_plus_epsilon(r, m, n->inputs[0]);
}

/* ----------------------------------------------------------- the center -- */

enum { MAX_FACTORS = 3, DEPTH = 4 };

typedef struct factors {
    eddy_tensor at[MAX_FACTORS], root;       /* root: their divisor */
    int         n;
} factors;

static bool collect_factors(const rewrite *r, eddy_parts *p, const ir_node *n, factors *f,
                            int depth)
{
    const bool quotient = n->op == &eddy_op_div;
    for (int i = 0; i < 2 - quotient; i++) {
        if (depth == 0) return false;
        const ir_node *more = eddy__match_part(r, p, n->inputs[i], &eddy_op_mul);
        if (!more) more = eddy__match_part(r, p, n->inputs[i], &eddy_op_div);
        if (more) {
            if (!collect_factors(r, p, more, f, depth - 1)) return false;
        } else {
            if (f->n == MAX_FACTORS) return false;
            f->at[f->n++] = n->inputs[i];
        }
    }
    if (!quotient) return true;
    const bool first = !eddy__ir_valid(f->root);
    f->root = n->inputs[1];
    return first;
}

/* True if the factors are rstd and perhaps a scale, besides factor number `done`. */
static bool is_scaled_rstd(rewrite *r, norm *m, const factors *f, int done)
{
    const norm before = *m;
    const bool root = eddy__ir_valid(f->root);
    if (f->n - (done >= 0) > 2 - root) return false;
    for (int k = 0; k < (root ? 1 : f->n); k++) {
        *m = before;
        if (k == done && !root) continue;
        if (!eddy__norm_is_rstd(r, m, root ? f->root : f->at[k], root)) continue;
        for (int i = 0; i < f->n; i++)
            if (i != done && (root || i != k)) m->scale = f->at[i];
        return true;
    }
    return false;
}

eddy_tensor eddy__norm_filled(rewrite *r, double v, const norm *m)
{
    const eddy_type x = eddy__match_type(r, m->x);
    eddy_array     *a = eddy_array_new_in(&r->ir->c->session->allocator, x.dtype,
                                          EDDY_SHAPE(x.shape.dim[x.shape.rank - 1]));
    for (int64_t i = 0; a && i < eddy_array_count(a); i++) eddy_array_set(a, i, v);
    return eddy__ir_constant(r->ir, r->node->source, a);
}

static bool replace_norm(rewrite *r, norm *m)
{
    const eddy_op_def *op = eddy__norm_op(r, m);
    const bool scaled = eddy__ir_valid(m->scale), moved = eddy__ir_valid(m->offset);
    if (!op || !eddy__match_closed(r, &m->p)) return false;
    if (!eddy_shape_equal(shape_of(r, m->x), r->node->outputs[0].shape)) return false;
    if (scaled) m->scale = eddy__norm_vector(r, m, m->scale);
    if (moved) m->offset = eddy__norm_vector(r, m, m->offset);
    if (scaled != eddy__ir_valid(m->scale) || moved != eddy__ir_valid(m->offset)) return false;
    const eddy_tensor x[] = { m->x, scaled ? m->scale : eddy__norm_filled(r, 1, m),
                              moved ? m->offset : eddy__norm_filled(r, 0, m) };
    return eddy__give(r, eddy__rewrite_add(r, op, &(eddy_norm_attrs){ m->epsilon }, 3, x));
}

/* (x - mean) rstd scale, in any order. */
static bool centered_norm(rewrite *r)
{
    factors f = { .n = 0 };
    norm    m = { .axes = 0 };
    if (!collect_factors(r, &m.p, r->node, &f, DEPTH)) return false;
    const norm before = m;
    for (int i = 0; i < f.n; i++) {
        m = before;
        if (is_centered(r, &m, f.at[i]) && is_scaled_rstd(r, &m, &f, i)) return replace_norm(r, &m);
    }
    return false;
}

/* ------------------------------------------------------ x g + (o - mean g) -- */

/* u, if t = u g; else an invalid tensor. */
static eddy_tensor times_rstd(const rewrite *r, norm *m, eddy_tensor t, eddy_tensor g)
{
    const ir_node *n = eddy__match_part(r, &m->p, t, &eddy_op_mul);
    for (int i = 0; n && i < 2; i++)
        if (eddy__match_same(n->inputs[i], g)) return n->inputs[1 - i];
    return EDDY_NO_TENSOR;
}

/* The gain of a node, rstd or rstd scale. */
static bool match_scaled_rstd(rewrite *r, norm *m, eddy_tensor g)
{
    factors        f = { .n = 0 };
    const ir_node *n = eddy__match_part(r, &m->p, g, &eddy_op_mul);
    if (!n) n = eddy__match_part(r, &m->p, g, &eddy_op_div);
    if (!n) return eddy__norm_is_rstd(r, m, g, false);
    return collect_factors(r, &m->p, n, &f, DEPTH) && is_scaled_rstd(r, m, &f, -1);
}

/* Matches x g + (offset - mean g) or x g - mean g, given the product x g. */
static bool expanded_norm(rewrite *r, eddy_tensor product, eddy_tensor shift, bool less)
{
    const ir_node *mul = eddy__match(r, product, &eddy_op_mul);
    for (int i = 0; mul && i < 2; i++) {
        norm m = { .x = mul->inputs[i] };
        eddy__match_part(r, &m.p, product, &eddy_op_mul);
        eddy_tensor mean_gain = shift;
        if (!less) {
            const ir_node *sub = eddy__match_part(r, &m.p, shift, &eddy_op_sub);
            if (!sub) return false;
            m.offset = sub->inputs[0];
            mean_gain = sub->inputs[1];
        }
        const eddy_tensor g = mul->inputs[1 - i], mean = times_rstd(r, &m, mean_gain, g);
        if (eddy__ir_valid(mean) && eddy__match_same(mean_of(r, &m, mean), m.x) &&
            eddy__norm_is_of_groups(r, &m, mean) && match_scaled_rstd(r, &m, g))
            return replace_norm(r, &m);
    }
    return false;
}

/* ----------------------------------------------------- scale and offset -- */

static bool is_norm(const ir_node *n)
{
    return n->op == &eddy_op_layer_norm || n->op == &eddy_op_fused_batch_norm;
}

/* The node is n, an operation that this pass has created, multiplied by t or plus t. */
static bool fold_scale_or_offset(rewrite *r, const ir_node *n, eddy_tensor t, bool scale)
{
    norm       m = { .x = n->inputs[0] };
    const bool plain = eddy__match_is(r, n->inputs[2], 0) &&
                       (!scale || eddy__match_is(r, n->inputs[1], 1));
    if (!plain || n->readers != 1 || n->n_controls > 0) return false;
    const eddy_tensor v = eddy__norm_vector(r, &m, t);
    const eddy_tensor x[] = { m.x, scale ? v : n->inputs[1], scale ? n->inputs[2] : v };
    return eddy__ir_valid(v) && eddy__give(r, eddy__rewrite_add(r, n->op, n->attrs, 3, x));
}

bool eddy__pattern_norm(rewrite *r)
{
    const eddy_op_def *op = r->node->op;
    const eddy_tensor *x = r->node->inputs;
    const bool mul = op == &eddy_op_mul, add = op == &eddy_op_add || op == &eddy_op_bias_add;
    const bool roots = r->ir->has_roots;    /* without one there is no rstd */
    for (int i = 0; (mul || add) && i < 2; i++) {
        const ir_node *n = eddy__ir_node(r->ir, x[i]);
        if (is_norm(n) && x[i].output == 0 && fold_scale_or_offset(r, n, x[1 - i], mul))
            return true;
        if (add && roots && expanded_norm(r, x[i], x[1 - i], false)) return true;
    }
    if (op == &eddy_op_sub) return roots && expanded_norm(r, x[0], x[1], true);
    return roots && (mul || op == &eddy_op_div) && centered_norm(r);
}
