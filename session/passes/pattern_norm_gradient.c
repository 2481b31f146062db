/* pattern_norm_gradient.c -- recognizes the gradient of a normalization that is composed of
 * basic operations.
 *
 * There are many forms of it, so the pass compares values and not nodes: each node is a
 * polynomial in the numbers below, computed from the polynomials of its inputs, and is the
 * gradient if its polynomial equals that of the gradient. With the sums over a group of n
 * elements,
 *
 *   of rows:     a = sum(dy s),  b = sum(dy s d):  dx = r dy s - r a / n - r^3 d b / n
 *   of columns:  a = sum(dy),    b = sum(dy d):    the same with s in front of a and b
 *   of scale:    sum(r dy d) over all axes except the last */
#include "session/passes/pattern_norm.h"
#include "ops/nets/normalization.h"
#include "ops/weak_ops.h"

#include <math.h>
#include <string.h>

enum atom { R, D, MEAN, DY, S, OFFSET, A, B, OTHER, ATOMS };     /* r: rstd; d: x - mean */
enum { TERMS = 6, KNOWN = 192, OF_TERM = 40, SUMS = 4, DEPTH = 14, NEAR = 9, MAX_SEARCH = 64,
       REST = 3 };

typedef struct term {
    double factor;
    int8_t power[ATOMS];
} term;

typedef struct poly {
    int  n;                       /* number of terms; -1: unknown value */
    term at[TERMS];
} poly;

typedef struct algebra {
    rewrite        *r;
    eddy_norm_parts m;            /* the forward part */
    eddy_tensor     dy;
    eddy_tensor     other;        /* any factor that is constant within a group */
    bool            forward;      /* vectors that are not known become scale and offset */
    bool vanishing; /* the first factor of this kind becomes `other` */
    bool            rows;
    double          count;        /* number of elements of a group */
    int             n_rest;       /* terms of the node that do not belong to the gradient */
    eddy_tensor     rest[REST];
    int             n_known, most_known;
    int32_t         known[KNOWN];
    poly            value[KNOWN];
} algebra;

/* -------------------------------------------------------- polynomials -- */

static const poly UNKNOWN = { .n = -1 };

static void add_term(poly *p, term t)
{
    for (int i = 0; i < p->n; i++) {
        if (memcmp(p->at[i].power, t.power, sizeof t.power) != 0) continue;
        const double sum = p->at[i].factor + t.factor;
        const bool   gone = fabs(sum) <= 1e-6 * fabs(t.factor);
        p->at[i].factor = sum;
        if (gone) p->at[i] = p->at[--p->n];
        return;
    }
    if (p->n == TERMS) p->n = -1;
    else if (p->n >= 0 && t.factor != 0) p->at[p->n++] = t;
}

static poly number(double v)
{
    poly p = { .n = 0 };
    add_term(&p, (term){ .factor = v });
    return p;
}

static poly atom(enum atom a)
{
    poly p = number(1);
    p.at[0].power[a] = 1;
    return p;
}

static poly plus(poly a, poly b, double sign)
{
    if (a.n < 0 || b.n < 0) return UNKNOWN;
    for (int i = 0; i < b.n; i++) {
        b.at[i].factor *= sign;
        add_term(&a, b.at[i]);
    }
    return a;
}

static poly product(poly a, poly b, int sign)
{
    poly p = { .n = a.n < 0 || b.n < 0 ? -1 : 0 };
    for (int i = 0; i < a.n; i++)
        for (int k = 0; k < b.n && b.n > 0; k++) {
            term t = a.at[i];
            t.factor = sign > 0 ? t.factor * b.at[k].factor : t.factor / b.at[k].factor;
            for (int e = 0; e < ATOMS; e++)
                t.power[e] = (int8_t)(t.power[e] + sign * b.at[k].power[e]);
            add_term(&p, t);
        }
    return p;
}

/* Only by a number and by powers of rstd. */
static poly quotient(poly a, poly b)
{
    if (b.n != 1) return UNKNOWN;
    for (int e = 0; e < ATOMS; e++)
        if (e != R && b.at[0].power[e] != 0) return UNKNOWN;
    return product(a, b, -1);
}

static bool equal(poly a, poly b)
{
    return a.n > 0 && plus(a, b, -1).n == 0;
}

/* The sum over a group. */
static poly summed(const algebra *a, poly p)
{
    poly sum = { .n = p.n < 0 ? -1 : 0 };
    for (int i = 0; i < p.n; i++) {
        term       t = p.at[i];
        const bool scaled = eddy__ir_valid(a->m.scale) && a->rows;
        const int  dy = t.power[DY], d = t.power[D];
        if (t.power[OFFSET] != 0 || dy < 0 || dy > 1 || d < 0 || d > 1) return UNKNOWN;
        if (a->rows && t.power[S] != (dy && scaled)) return UNKNOWN;
        if (!dy && d) continue;                        /* sum(d) = 0 */
        if (!dy) t.factor *= a->count;
        else t.power[d ? B : A]++;
        if (a->rows) t.power[S] = 0;
        t.power[DY] = t.power[D] = 0;
        add_term(&sum, t);
    }
    return sum;
}

/* --------------------------------------------------------- values of nodes -- */

static eddy_shape shape_of(const algebra *a, eddy_tensor t)
{
    return eddy__match_type(a->r, t).shape;
}

static bool is_full(const algebra *a, eddy_tensor t)
{
    return eddy_shape_equal(shape_of(a, t), shape_of(a, a->m.x));
}

static bool is_vector(const algebra *a, eddy_tensor t)
{
    const eddy_shape s = shape_of(a, t), x = shape_of(a, a->m.x);
    return s.rank >= 1 && s.rank <= x.rank && s.dim[s.rank - 1] == x.dim[x.rank - 1] &&
           eddy_shape_count(s) == x.dim[x.rank - 1];
}

/* The number that polynomial p gives each element if t is broadcast to x. */
static bool is_aligned(const algebra *a, eddy_tensor t, poly p)
{
    if (is_full(a, t) || p.n < 0) return true;
    const bool groups = eddy__norm_is_of_groups(a->r, &a->m, t), vector = is_vector(a, t);
    for (int i = 0; i < p.n; i++) {
        const int8_t *e = p.at[i].power;
        const bool of_group = e[R] || e[MEAN] || e[A] || e[B] || e[OTHER];
        const bool of_place = e[S] || e[OFFSET];
        if (e[D] || e[DY] || (of_group && !groups)) return false;
        if (of_place && !vector) return false;
    }
    return groups || vector || eddy_shape_count(shape_of(a, t)) == 1;
}

static poly value_of(algebra *a, eddy_tensor t, int depth);

static poly operand(algebra *a, const ir_node *n, int i, int depth)
{
    const eddy_tensor t = n->inputs[i];
    const eddy_shape  x = shape_of(a, a->m.x), left = eddy__match_folded(x, a->m.axes);
    if (a->vanishing && !eddy__ir_valid(a->other) && n->op == &eddy_op_mul &&
        eddy_shape_equal(shape_of(a, t), left) && eddy_shape_equal(n->outputs[0].shape, x))
        a->other = t;
    const poly p = value_of(a, t, depth);
    return is_aligned(a, t, p) ? p : UNKNOWN;
}

/* Names a vector in a forward part: a factor is the scale, a term the offset. */
static poly name_vector(algebra *a, const ir_node *n, int i)
{
    const bool   mul = n->op == &eddy_op_mul;
    eddy_tensor *v = mul ? &a->m.scale : &a->m.offset;
    if (!a->forward || !is_vector(a, n->inputs[i]) || eddy__ir_valid(*v)) return UNKNOWN;
    *v = n->inputs[i];
    return atom(mul ? S : OFFSET);
}

static poly binary(algebra *a, const ir_node *n, int depth)
{
    poly x[2];
    for (int i = 0; i < 2; i++) x[i] = operand(a, n, i, depth);
    for (int i = 0; i < 2; i++)
        if (x[i].n < 0 && x[1 - i].n >= 0) x[i] = name_vector(a, n, i);
    if (n->op == &eddy_op_sub) return plus(x[0], x[1], -1);
    if (n->op == &eddy_op_div) return quotient(x[0], x[1]);
    if (n->op == &eddy_op_mul || n->op == &eddy_op_mul_no_nan) return product(x[0], x[1], 1);
    return plus(x[0], x[1], 1);
}

/* A sum or a mean over the groups. */
static poly fold(algebra *a, const ir_node *n, int depth)
{
    const eddy_shape x = shape_of(a, a->m.x), y = n->outputs[0].shape;
    const bool       like = n->op == &eddy_op_sum_like;
    const bool       dropped = !a->rows && y.rank == 1 && y.dim[0] == x.dim[x.rank - 1];
    if (!is_full(a, n->inputs[0])) return UNKNOWN;
    if (like ? !dropped && !eddy_shape_equal(y, eddy__match_folded(x, a->m.axes))
             : eddy__match_axes(a->r, n) != a->m.axes)
        return UNKNOWN;
    const poly sum = summed(a, value_of(a, n->inputs[0], depth));
    return n->op == &eddy_op_mean ? quotient(sum, number(a->count)) : sum;
}

static bool is_binary(const ir_node *n)
{
    return n->op == &eddy_op_add || n->op == &eddy_op_sub || n->op == &eddy_op_mul ||
           n->op == &eddy_op_div || n->op == &eddy_op_mul_no_nan || n->op == &eddy_op_bias_add;
}

static bool is_transparent(const ir_node *n)
{
    return is_binary(n) || n->alias || n->op == &eddy_op_neg || n->op == &eddy_op_reciprocal ||
           n->op == &eddy_op_sum || n->op == &eddy_op_sum_like;
}

static poly node_value(algebra *a, const ir_node *n, int depth)
{
    eddy_norm_parts   m = { .x = a->m.x, .axes = a->m.axes };
    const eddy_tensor t = eddy__ir_tensor(n->id, 0);
    const bool        root = n->op == &eddy_op_sqrt;
    if (n->op == &eddy_op_rsqrt || root) {
        if (!eddy__norm_is_rstd(a->r, &m, t, root) || m.epsilon != a->m.epsilon) return UNKNOWN;
        return root ? quotient(number(1), atom(R)) : atom(R);
    }
    if (n->alias) return value_of(a, n->inputs[0], depth);
    if (is_binary(n)) return binary(a, n, depth);
    if (n->op == &eddy_op_neg) return product(number(-1), operand(a, n, 0, depth), 1);
    if (n->op == &eddy_op_reciprocal) return quotient(number(1), operand(a, n, 0, depth));
    if (n->op == &eddy_op_square) {
        const poly p = operand(a, n, 0, depth);
        return product(p, p, 1);
    }
    if (n->op == &eddy_op_sum || n->op == &eddy_op_sum_like || n->op == &eddy_op_mean)
        return fold(a, n, depth);
    return UNKNOWN;
}

static poly value_of(algebra *a, eddy_tensor t, int depth)
{
    const ir_node *n = eddy__ir_node(a->r->ir, t);
    double         v;
    if (eddy__match_same(t, a->m.x)) return plus(atom(D), atom(MEAN), 1);
    if (eddy__match_same(t, a->dy)) return atom(DY);
    if (eddy__match_same(t, a->other)) return atom(OTHER);
    if (eddy__match_same(t, a->m.scale)) return atom(S);
    if (eddy__match_same(t, a->m.offset)) return atom(OFFSET);
    if (eddy__match_number(a->r, t, &v)) return number(v);
    if (depth == 0 || n->values || n->n_controls > 0 || n->n_inputs == 0 || t.output != 0)
        return UNKNOWN;
    for (int i = 0; i < a->n_known; i++)
        if (a->known[i] == t.node) return a->value[i];
    if (a->n_known >= a->most_known) return UNKNOWN;
    const int  place = a->n_known++;
    a->known[place] = t.node;
    a->value[place] = UNKNOWN;
    const poly p = node_value(a, n, depth - 1);
    return a->value[place] = p;
}

/* ------------------------------------------------------- the forward part -- */

/* The x and the axes of a variance + epsilon, as far as can be seen at once. */
static bool find_source(const rewrite *r, const ir_node *root, eddy_norm_parts *m)
{
    double         v;
    const ir_node *n = eddy__match(r, eddy__match_elements(r, root->inputs[0]), &eddy_op_add);
    if (!n) return false;
    eddy_tensor t = eddy__match_elements(r, n->inputs[eddy__match_number(r, n->inputs[0], &v)]);
    if ((n = eddy__match(r, t, &eddy_op_sub)) != NULL) t = eddy__match_elements(r, n->inputs[0]);
    if (!(n = eddy__match(r, t, &eddy_op_mean))) return false;
    m->axes = eddy__match_axes(r, n);
    t = n->inputs[0];
    n = eddy__match(r, t, &eddy_op_squared_difference);
    m->x = n ? n->inputs[0] : t;
    if (n) return true;
    n = eddy__match(r, t, &eddy_op_square);
    if (!n && !(n = eddy__match(r, t, &eddy_op_mul))) return false;
    m->x = n->inputs[0];
    n = eddy__match(r, m->x, &eddy_op_sub);
    if (n) m->x = n->inputs[0];
    return true;
}

/* Searches the inputs of t for rstd. */
static const ir_node *find_rstd(algebra *a, eddy_tensor t, int depth, int *left)
{
    const ir_node *n = eddy__ir_node(a->r->ir, t), *found = NULL;
    if (--*left < 0 || n->values || n->n_inputs == 0) return NULL;
    const bool root = n->op == &eddy_op_sqrt;
    if (root || n->op == &eddy_op_rsqrt) {
        eddy_norm_parts m = { .axes = 0 };
        if (!find_source(a->r, n, &m) || !eddy__norm_op(a->r, &m)) return NULL;
        if (!eddy__norm_is_rstd(a->r, &m, t, root)) return NULL;
        a->m = m;
        return n;
    }
    if (depth == 0 || !is_transparent(n)) return NULL;
    for (int i = 0; i < n->n_inputs && i < 2 && !found; i++)
        found = find_rstd(a, n->inputs[i], depth - 1, left);
    return found;
}

/* The last node shortly after rstd that equals r d s + offset; scale and offset are optional. */
static bool find_forward(algebra *a, const ir_node *rstd)
{
    eddy_norm_parts best = { .axes = 0 };
    const int32_t   end = rstd->id + MAX_SEARCH;
    for (int32_t id = rstd->id + 1; id <= a->r->ir->size && id < end; id++) {
        const ir_node *n = a->r->ir->nodes[id];
        if (!is_binary(n) || n->n_controls > 0 || !is_full(a, eddy__ir_tensor(id, 0))) continue;
        a->m.scale = a->m.offset = EDDY_NO_TENSOR;
        a->n_known = 0;
        const poly p = value_of(a, eddy__ir_tensor(id, 0), DEPTH);
        poly       want = product(atom(R), atom(D), 1);
        if (eddy__ir_valid(a->m.scale)) want = product(want, atom(S), 1);
        if (eddy__ir_valid(a->m.offset)) want = plus(want, atom(OFFSET), 1);
        if (equal(p, want)) best = a->m;
    }
    a->m = best;
    a->n_known = 0;
    return best.axes != 0;
}

static poly gradient_poly(const algebra *a)
{
    const poly r = atom(R), each = number(-1 / a->count);
    const poly s = eddy__ir_valid(a->m.scale) ? atom(S) : number(1);
    const poly outside = a->rows ? number(1) : s;
    const poly first = product(product(r, atom(DY), 1), s, 1);
    const poly mean = product(product(product(r, atom(A), 1), each, 1), outside, 1);
    const poly bend = product(product(product(r, r, 1), r, 1), product(atom(D), atom(B), 1), 1);
    return plus(plus(first, mean, 1), product(product(bend, each, 1), outside, 1), 1);
}

/* --------------------------------------------------------------- rewriting -- */

/* Replaces the node by output k of the gradient operation. */
static bool replace_gradient(algebra *a, int k)
{
    rewrite           *r = a->r;
    eddy_norm_parts   *m = &a->m;
    const eddy_op_def *op = eddy__norm_op(r, m);
    const bool         scaled = eddy__ir_valid(m->scale), moved = eddy__ir_valid(m->offset);
    const eddy_tensor  x[] = {
        m->x, scaled ? eddy__norm_vector(r, m, m->scale) : eddy__norm_filled(r, 1, m),
        moved ? eddy__norm_vector(r, m, m->offset) : eddy__norm_filled(r, 0, m),
    };
    const eddy_tensor y = eddy__rewrite_add(r, op, &(eddy_norm_attrs){ m->epsilon }, 3, x);
    if (!eddy__ir_valid(y)) return false;
    const eddy_tensor more[] = { a->dy, m->x, x[1], eddy__ir_tensor(y.node, 1),
                                 eddy__ir_tensor(y.node, a->rows ? 2 : 3) };
    const eddy_op_def *grad = a->rows ? &eddy_op_layer_norm_grad : &eddy_op_fused_batch_norm_grad;
    const eddy_tensor  dx = eddy__rewrite_add(r, grad, NULL, 5, more);
    if (!eddy__ir_valid(dx)) return false;
    eddy_tensor sum = eddy__ir_tensor(dx.node, k);
    for (int i = 0; i < a->n_rest; i++) sum = eddy__make2(r, &eddy_op_add, a->rest[i], sum);
    return eddy__give(r, sum);
}

/* Each term has dy in it. */
static bool is_of_dy(poly p)
{
    for (int i = 0; i < p.n; i++)
        if (!p.at[i].power[DY] && !p.at[i].power[A] && !p.at[i].power[B]) return false;
    return p.n >= 0;
}

static bool is_remaining_term(algebra *a, eddy_tensor t)
{
    if (a->n_rest < REST) a->rest[a->n_rest] = t;
    return ++a->n_rest <= REST;
}

/* The terms of n except those that do not depend on dy. */
static poly terms(algebra *a, const ir_node *n, int depth)
{
    poly sum = { .n = 0 };
    for (int i = 0; i < 2; i++) {
        const ir_node *add = depth > 0 ? eddy__match(a->r, n->inputs[i], &eddy_op_add) : NULL;
        const int      before = a->n_rest;
        a->most_known = a->n_known + OF_TERM < KNOWN ? a->n_known + OF_TERM : KNOWN;
        const poly p = add ? terms(a, add, depth - 1) : operand(a, n, i, DEPTH);
        if (add ? p.n != 0 : is_of_dy(p)) {
            sum = plus(sum, p, 1);
        } else {
            a->n_rest = before;
            if (!is_remaining_term(a, n->inputs[i])) return UNKNOWN;
        }
    }
    return sum;
}

/* The node is dx, perhaps with other terms, or the gradient of the scale, with a->dy. */
static bool is_norm_gradient(algebra *a, bool full)
{
    const ir_node *n = a->r->node;
    a->n_known = a->n_rest = 0;
    a->most_known = OF_TERM;
    if (full && n->op == &eddy_op_add) return equal(terms(a, n, SUMS), gradient_poly(a));
    if (full) return equal(is_binary(n) ? binary(a, n, DEPTH) : UNKNOWN, gradient_poly(a));
    if (!a->rows) return equal(node_value(a, n, DEPTH), product(atom(R), atom(B), 1));
    const poly want = product(product(atom(R), atom(DY), 1), atom(D), 1);
    if (n->op != &eddy_op_sum_like &&
        (n->op != &eddy_op_sum || (eddy__match_axes(a->r, n) ^ a->m.axes) !=
                                      (1u << shape_of(a, a->m.x).rank) - 1))
        return false;
    return is_full(a, n->inputs[0]) && equal(value_of(a, n->inputs[0], DEPTH), want);
}

/* Lists the nodes from which n is computed, nearest first, each once. Returns their number. */
static int ancestors(const algebra *a, const ir_node *n, eddy_tensor *at)
{
    int count = 0;
    for (int next = -1; next < count; next++) {
        if (next >= 0) n = eddy__ir_node(a->r->ir, at[next]);
        if (n->values || (next >= 0 && !is_transparent(n))) continue;
        for (int i = 0; i < n->n_inputs && i < 2 && count < MAX_SEARCH; i++) {
            int k = 0;
            while (k < count && !eddy__match_same(at[k], n->inputs[i])) k++;
            if (k == count) at[count++] = n->inputs[i];
        }
    }
    return count;
}

/* Finds the dy with which the node is a gradient. */
static bool find_dy(algebra *a, bool full)
{
    eddy_tensor at[MAX_SEARCH];
    const int   count = ancestors(a, a->r->node, at);
    for (int i = 0; i < count; i++) {
        if (!is_full(a, at[i]) || eddy__match_same(at[i], a->m.x)) continue;
        a->dy = at[i];
        if (is_norm_gradient(a, full)) return true;
    }
    return false;
}

/* True if one of the two operands is 0 for any x: the derivative of the variance through the
 * mean. */
static bool drop_zero(algebra *a)
{
    const ir_node *n = a->r->node;
    a->forward = false;
    a->vanishing = true;
    for (int i = 0; i < 2; i++) {
        a->n_known = 0;
        a->other = EDDY_NO_TENSOR;
        if (operand(a, n, i, DEPTH).n == 0) return eddy__give(a->r, n->inputs[1 - i]);
    }
    a->vanishing = false;
    a->other = EDDY_NO_TENSOR;
    return false;
}

/* True if a term of the sum n is repeated, as the derivative through the mean is. */
static bool has_repeated_term(const rewrite *r, const ir_node *n, int depth)
{
    for (int i = 0; i < 2; i++) {
        const ir_node *add = depth > 0 ? eddy__match(r, n->inputs[i], &eddy_op_add) : NULL;
        if (!eddy_shape_equal(eddy__match_type(r, n->inputs[i]).shape, n->outputs[0].shape) ||
            (add && has_repeated_term(r, add, depth - 1)))
            return true;
    }
    return false;
}

/* Rejects most nodes quickly, which are not such gradients. */
static bool may_be_norm_gradient(const rewrite *r)
{
    enum { TERMS_BEHIND = 2 };
    const ir_node *n = r->node;
    if (n->op == &eddy_op_add || n->op == &eddy_op_sub)
        return has_repeated_term(r, n, TERMS_BEHIND);
    return n->outputs[0].shape.rank == 1 && is_transparent(n);
}

static bool replace_norm_gradient(rewrite *r)
{
    const ir_node *n = r->node, *rstd = NULL;
    algebra        a = { .r = r, .most_known = OF_TERM };
    int            left = MAX_SEARCH;
    const bool     folds = n->op == &eddy_op_sum || n->op == &eddy_op_sum_like;
    for (int i = 0; i < 2 && i < n->n_inputs && !rstd; i++)
        rstd = find_rstd(&a, n->inputs[i], NEAR, &left);
    if (!rstd) return false;
    const eddy_shape x = shape_of(&a, a.m.x), s = n->outputs[0].shape;
    const bool       full = eddy_shape_equal(s, x);
    if (eddy_shape_count(x) == 0) return false;
    if ((!full && (s.rank != 1 || s.dim[0] != x.dim[x.rank - 1])) || (full && folds)) return false;
    a.rows = eddy__norm_op(r, &a.m) == &eddy_op_layer_norm;
    a.count = a.rows ? (double)x.dim[x.rank - 1]
                     : (double)(eddy_shape_count(x) / x.dim[x.rank - 1]);
    if (a.count < 1 || (full && n->op == &eddy_op_add && drop_zero(&a))) return a.count >= 1;
    a.forward = true;
    if (!find_forward(&a, rstd)) return false;
    a.forward = false;
    return find_dy(&a, full) && replace_gradient(&a, full ? 0 : 1);
}

bool eddy__pattern_norm_gradient(rewrite *r)
{
    return may_be_norm_gradient(r) && replace_norm_gradient(r);
}
