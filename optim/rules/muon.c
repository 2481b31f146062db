/* muon.c -- Muon: momentum, orthogonalized so that all its singular values approach 1 (Jordan et
 * al. 2024).
 *
 *   m <- m + (1 - momentum) (g - m)
 *   u  = g + momentum (m - g)
 *   U  = u as a matrix, over its norm; some times U <- a U + (b A + c A A) U with A = U U'
 *   x <- x - lr decay x - lr sqrt(max(1, columns / rows)) U
 *
 * The polynomial is the Newton-Schulz iteration toward U (U' U)^(-1/2), tuned by Jordan to be
 * fast and not exact: the resulting singular values are between 0.7 and 1.2. A is the smaller of
 * U U' and U' U, so tall matrices are transposed. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

static void muon_slots(eddy_optimizer *o, eddy_tensor v)
{
    char             text[128];
    const eddy_shape shape = eddy_shape_of(v);
    if (!eddy__requires_whole(o, v)) return;
    if (shape.rank < 2 || !eddy_shape_is_known(shape))
        eddy_fail(o->graph, EDDY_UNIMPLEMENTED, "%s: '%s' has shape %s; expected a matrix", o->name,
                  eddy_name_of(v), eddy_shape_print(shape, text, sizeof text));
    else eddy__step_slots(o, v);
}

/* The matrix of the last axis of v by all others. */
static eddy_shape matrix_of(eddy_tensor v)
{
    const eddy_shape shape = eddy_shape_of(v);
    int64_t          rows = 1;
    for (int i = 0; i + 1 < shape.rank; i++) rows *= shape.dim[i];
    return EDDY_SHAPE(rows, shape.dim[shape.rank - 1]);
}

static eddy_tensor orthogonalized(eddy_tensor u, const eddy_muon_args *s)
{
    if (eddy_shape_of(u).rank < 2) return eddy_none(u.graph);     /* the graph has an error */
    const eddy_shape shape = matrix_of(u);
    const bool       tall = shape.dim[0] > shape.dim[1];
    eddy_tensor      x = eddy_reshape(u, shape);
    x = Div(x, Maximum(eddy_euclidean_norm(x), eddy_hyper(s->epsilon, u)));
    if (tall) x = Transpose(x);
    for (int i = 0; i < s->newton_steps; i++) {
        eddy_tensor a = MatMul(x, x, .transpose_b = true);
        eddy_tensor b = Add(Mul(-4.775, a), Mul(2.0315, MatMul(a, a)));
        x = Add(Mul(3.4445, x), MatMul(b, x));
    }
    return eddy_reshape(tall ? Transpose(x) : x, eddy_shape_of(u));
}

static eddy_tensor muon_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const eddy_muon_args *s = eddy_optimizer_state(o);
    const eddy_shape      shape = matrix_of(v);
    const double          wide = (double)shape.dim[1] / (double)shape.dim[0];
    eddy_tensor m = eddy_get_slot(o, v, "momentum"), lr = eddy_hyper(s->learning_rate, v);
    m = eddy_assign(m, eddy__moving(m, g, s->momentum));
    eddy_tensor u = s->no_nesterov ? m : Add(g, Mul(eddy_hyper(s->momentum, v), Sub(m, g)));
    eddy_tensor step = Mul(wide > 1 ? sqrt(wide) : 1, orthogonalized(u, s));
    if (!eddy__picks(&s->without_decay, v))
        step = Add(step, Mul(eddy_hyper(s->weight_decay, v), v));
    return eddy_group(o->graph, EDDY_LIST(m, eddy_assign_sub(v, Mul(lr, step))), NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_muon_args, learning_rate),
    TENSOR(eddy_muon_args, momentum),
    TENSOR(eddy_muon_args, weight_decay),
    TENSOR(eddy_muon_args, epsilon),
    { 0 },
};

static const eddy_optimizer_rule muon = {
    { .name = "Muon", .state_size = sizeof(eddy_muon_args), .create_slots = muon_slots,
      .apply_dense = muon_dense, .slots = { "momentum" } },
    sizeof(eddy_muon_args), options,
};

eddy_optimizer *eddy_muon_with(const eddy_muon_args *given)
{
    eddy_muon_args a = EDDY_TAKE(eddy_muon_args, given);
    eddy_optimizer *o = eddy__optimizer_make(&muon, &a, a.name);
    if (o && a.newton_steps < 1)
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT, "Muon: newton_steps is %d; it must be positive",
                  a.newton_steps);
    return a.newton_steps > 0 ? o : NULL;
}
