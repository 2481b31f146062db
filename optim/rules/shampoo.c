/* shampoo.c -- Shampoo: each axis of a variable has a matrix that preconditions the gradient
 * along that axis (Gupta, Koren and Singer 2018).
 *
 *   L_i <- L_i + G G'               G the gradient as a matrix with axis i in front
 *   p    = g times L_i^(-1/2k) along each of the k axes
 *   x   <- x - lr p
 *
 * Roots are computed from eigenvalues, which are at least epsilon, the initial L_i; only
 * rounding can make them smaller. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

#include <string.h>

static const char *const statistics[EDDY_MAX_RANK] = { "l0", "l1", "l2", "l3",
                                                       "l4", "l5", "l6", "l7" };
static const char *const roots[EDDY_MAX_RANK] = { "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7" };

static bool has_matrix(const eddy_shampoo_args *s, eddy_tensor v, int axis)
{
    return eddy_shape_of(v).dim[axis] <= s->max_size;
}

/* k, the number of axes with a matrix. */
static int matrices_of(const eddy_shampoo_args *s, eddy_tensor v)
{
    int k = 0;
    for (int i = 0; i < eddy_shape_of(v).rank; i++) k += has_matrix(s, v, i);
    return k;
}

static void shampoo_slots(eddy_optimizer *o, eddy_tensor v)
{
    const eddy_shampoo_args *s = eddy_optimizer_state(o);
    const eddy_shape         shape = eddy_shape_of(v);
    char                     text[128];
    if (!eddy__requires_whole(o, v)) return;
    if (!eddy_shape_is_known(shape)) {
        eddy_fail(o->graph, EDDY_UNIMPLEMENTED, "%s: the shape of '%s', %s, is unknown", o->name,
                  eddy_name_of(v), eddy_shape_print(shape, text, sizeof text));
        return;
    }
    if (s->momentum.node != 0) eddy__zero_slot(o, v, "momentum");
    if (matrices_of(s, v) == 0) eddy__zero_slot(o, v, "sum");
    for (int i = 0; i < shape.rank; i++) {
        if (!has_matrix(s, v, i)) continue;
        eddy_tensor one = eddy_eye(o->graph, shape.dim[i], shape.dim[i], eddy_dtype_of(v));
        eddy_make_slot(o, v, statistics[i], Mul(eddy_hyper(s->epsilon, v), one));
        if (s->separate_roots) eddy_make_slot(o, v, roots[i], one);
    }
}

/* l^(-1/2k) */
static eddy_tensor inverse_root(const eddy_shampoo_args *s, eddy_tensor l, int k)
{
    eddy_tensor e = eddy_eigh(l), vectors = eddy_output(e, 1);
    eddy_tensor power = Pow(Maximum(e, eddy_hyper(s->epsilon, e)), -0.5 / k);
    return MatMul(Mul(vectors, power), vectors, .transpose_b = true);
}

/* The product of x and y summed over all axes except one: a matrix of that axis. */
static eddy_tensor gram(eddy_tensor x, int axis)
{
    eddy_dims others = { .count = 0 };
    for (int i = 0; i < eddy_shape_of(x).rank; i++)
        if (i != axis) others.at[others.count++] = i;
    return eddy_tensordot(x, x, .a_axes = others, .b_axes = others);
}

/* The gradient times the roots; its statistics join the updates. */
static eddy_tensor shampoo_turned(eddy_optimizer *o, eddy_tensor g, eddy_tensor v,
                                  eddy_tensor *updates, int *n)
{
    const eddy_shampoo_args *s = eddy_optimizer_state(o);
    const int   k = matrices_of(s, v);
    eddy_tensor p = g;
    if (k == 0) {
        eddy_tensor sum = eddy_assign_add(eddy_get_slot(o, v, "sum"), Square(g));
        updates[(*n)++] = sum;
        return Mul(g, Rsqrt(Add(sum, eddy_hyper(s->epsilon, v))));
    }
    for (int i = 0; i < eddy_shape_of(v).rank; i++) {
        if (!has_matrix(s, v, i)) continue;
        eddy_tensor l = eddy_assign_add(eddy_get_slot(o, v, statistics[i]), gram(g, i)), root;
        if (s->separate_roots) root = eddy_get_slot(o, v, roots[i]);
        else root = inverse_root(s, l, k);
        updates[(*n)++] = l;
        p = eddy_moveaxis(eddy_tensordot(root, p, .a_axes = EDDY_AXES(1), .b_axes = EDDY_AXES(i)),
                          0, i);
    }
    return p;
}

static eddy_tensor shampoo_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const eddy_shampoo_args *s = eddy_optimizer_state(o);
    eddy_tensor updates[EDDY_MAX_RANK + 2];
    int         n = 0;
    eddy_tensor p = shampoo_turned(o, g, v, updates, &n);
    if (s->momentum.node != 0) {
        eddy_tensor a = eddy_get_slot(o, v, "momentum");
        p = updates[n++] = eddy_assign(a, Add(Mul(eddy_hyper(s->momentum, v), a), p));
    }
    updates[n++] = eddy_assign_sub(v, Mul(eddy_hyper(s->learning_rate, v), p));
    return eddy_group(o->graph, (eddy_list){ n, updates }, NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_shampoo_args, learning_rate),
    TENSOR(eddy_shampoo_args, epsilon),
    OPTIONAL(eddy_shampoo_args, momentum),
    { 0 },
};

static const eddy_optimizer_rule shampoo = {
    { .name = "Shampoo", .state_size = sizeof(eddy_shampoo_args),
      .create_slots = shampoo_slots, .apply_dense = shampoo_dense },
    sizeof(eddy_shampoo_args), options,
};

eddy_optimizer *eddy_shampoo_with(const eddy_shampoo_args *given)
{
    eddy_shampoo_args a = EDDY_TAKE(eddy_shampoo_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&shampoo, &a, a.name);
    if (o && a.max_size < 1)
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
                  "Shampoo: max_size is %lld; it must be positive", (long long)a.max_size);
    return o && a.max_size > 0 ? o : NULL;
}

/* ----------------------------------------------------------------- separate roots -- */

/* The assignment to the root that belongs to a slot of statistics; invalid for other slots. */
static eddy_tensor update_root(eddy_optimizer *o, const eddy_slot *slot)
{
    const eddy_shampoo_args *s = eddy_optimizer_state(o);
    eddy_tensor v = { .graph = o->graph, .node = slot->owner };
    for (int i = 0; i < EDDY_MAX_RANK; i++)
        if (strcmp(slot->name, statistics[i]) == 0)
            return eddy_assign(eddy_get_slot(o, v, roots[i]),
                               inverse_root(s, slot->variable, matrices_of(s, v)));
    return eddy_none(o->graph);
}

eddy_tensor eddy_shampoo_roots(eddy_optimizer *o)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    const eddy_shampoo_args *s = eddy_optimizer_state(o);
    if (o->def.apply_dense != shampoo_dense || !s->separate_roots)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "shampoo_roots: '%s' is not a Shampoo with separate_roots", o->name);
    eddy_scope_begin(g, "shampoo_roots");
    eddy_tensor last = eddy_group(g, (eddy_list){ 0 }, NULL);
    for (int i = 0; i < o->n_slots; i++) {
        eddy_tensor root = update_root(o, &o->slots[i]);
        if (eddy_is_valid(root)) last = eddy_group(g, EDDY_LIST(last, root), NULL);
    }
    eddy_scope_end(g);
    return last;
}
