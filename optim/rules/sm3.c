/* sm3.c -- SM3: Adagrad with less memory. The sum of squares of an element is bounded by the
 * smallest of the maxima that are stored for its row, its column, and so on (Anil et al. 2019,
 * SM3-II).
 *
 *   n   = min over the axes of a_i, + g^2
 *   a_i <- the maximum of n over the other axes
 *   m  <- momentum m + (1 - momentum) g / sqrt(n)
 *   x  <- x - lr m */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

static const char *const sm3_names[EDDY_MAX_RANK] = {
    "accumulator_0", "accumulator_1", "accumulator_2", "accumulator_3",
    "accumulator_4", "accumulator_5", "accumulator_6", "accumulator_7",
};

/* The number of slots: one for each axis, or one for a scalar. */
static int slots_of(eddy_tensor v)
{
    const int rank = eddy_shape_of(v).rank;
    return rank > 0 ? rank : 1;
}

/* All axes except one; none for a scalar or a vector. */
static eddy_dims other_axes(eddy_tensor v, int axis)
{
    eddy_dims others = EDDY_NO_DIMS;
    for (int i = 0; i < eddy_shape_of(v).rank; i++) {
        if (i == axis) continue;
        if (others.count < 0) others.count = 0;
        others.at[others.count++] = i;
    }
    return others;
}

static void sm3_slots(eddy_optimizer *o, eddy_tensor v)
{
    if (!eddy__requires_whole(o, v)) return;
    if (eddy_shape_of(v).rank < 0)
        eddy_fail(o->graph, EDDY_UNIMPLEMENTED, "%s: the rank of '%s' is unknown", o->name,
                  eddy_name_of(v));
    for (int i = 0; i < slots_of(v); i++) {
        eddy_tensor like = Sum(eddy_initialized_value(v), other_axes(v, i), .keepdims = true);
        eddy_make_slot(o, v, sm3_names[i], ZerosLike(like));
    }
    eddy__zero_slot(o, v, "momentum");
}

static eddy_tensor largest(eddy_tensor n, eddy_tensor v, int axis)
{
    return Max(n, other_axes(v, axis), .keepdims = true);
}

/* The new average, computed from the old one and the gradient. */
static eddy_tensor sm3_average(const eddy_sm3_args *s, eddy_tensor m, eddy_tensor g, eddy_tensor n)
{
    return eddy__moving(m, DivNoNan(g, Sqrt(n)), s->momentum);
}

static eddy_tensor sm3_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const eddy_sm3_args *s = eddy_optimizer_state(o);
    const int   axes = slots_of(v);
    eddy_tensor updates[EDDY_MAX_RANK + 2], m = eddy_get_slot(o, v, "momentum");
    eddy_tensor n = eddy_get_slot(o, v, sm3_names[0]);
    for (int i = 1; i < axes; i++) n = Minimum(n, eddy_get_slot(o, v, sm3_names[i]));
    n = Add(n, Square(g));
    for (int i = 0; i < axes; i++)
        updates[i] = eddy_assign(eddy_get_slot(o, v, sm3_names[i]), largest(n, v, i));
    m = updates[axes] = eddy_assign(m, sm3_average(s, m, g, n));
    updates[axes + 1] = eddy_assign_sub(v, Mul(eddy_hyper(s->learning_rate, v), m));
    return eddy_group(o->graph, (eddy_list){ axes + 2, updates }, NULL);
}

/* Rows have slots of axis 0 of their own. */
static eddy_tensor sm3_sparse(eddy_optimizer *o, eddy_tensor g, eddy_tensor indices, eddy_tensor v)
{
    const eddy_sm3_args *s = eddy_optimizer_state(o);
    eddy_tensor a = eddy_get_slot(o, v, sm3_names[0]), m = eddy_get_slot(o, v, "momentum");
    eddy_tensor at = Maximum(indices, 0), n = Add(Gather(a, at), Square(g));
    eddy_tensor rows = sm3_average(s, Gather(m, at), g, n);
    a = eddy_scatter_update(a, indices, largest(n, v, 0), .skip_negative = true);
    m = eddy_scatter_update(m, indices, rows, .skip_negative = true);
    v = eddy_scatter_sub(v, indices, Mul(eddy_hyper(s->learning_rate, v), rows),
                         .skip_negative = true);
    return eddy_group(o->graph, EDDY_LIST(a, m, v), NULL);
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_sm3_args, learning_rate),
    TENSOR(eddy_sm3_args, momentum),
    { 0 },
};

static const eddy_optimizer_rule sm3 = {
    { .name = "SM3", .state_size = sizeof(eddy_sm3_args), .create_slots = sm3_slots,
      .apply_dense = sm3_dense, .apply_sparse = sm3_sparse },
    sizeof(eddy_sm3_args), options,
};

eddy_optimizer *eddy_sm3_with(const eddy_sm3_args *given)
{
    eddy_sm3_args a = EDDY_TAKE(eddy_sm3_args, given);
    return eddy__optimizer_make(&sm3, &a, a.name);
}
