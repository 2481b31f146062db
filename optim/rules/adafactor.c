/* adafactor.c -- Adafactor: Adam with less memory. The second moment of a matrix is approximated
 * by the product of those of its rows and of its columns (Shazeer and Stern 2018).
 *
 *   q  = g^2 + epsilon1,  b = 1 - t^-c
 *   R <- b R + (1 - b) mean of q over a row,  C likewise over a column
 *   u  = g / sqrt(R C / mean(R)),  clipped to u / max(1, rms(u) / d)
 *   x <- x - rate max(epsilon2, rms(x)) u
 *
 * The paper's sums are means here: the factors cancel. The two roots are computed separately,
 * because R C of small gradients is below the smallest float32. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

typedef struct adafactor_state {
    eddy_adafactor_args a;
    eddy_tensor         rate, beta2;    /* of this step */
} adafactor_state;

/* Zeros in the shape of v, except that one axis has size 1. */
static eddy_tensor zeros_without(eddy_tensor v, int64_t axis)
{
    return ZerosLike(Sum(eddy_initialized_value(v), EDDY_AXES(axis), .keepdims = true));
}

static void adafactor_slots(eddy_optimizer *o, eddy_tensor v)
{
    const adafactor_state *s = eddy_optimizer_state(o);
    const int rank = eddy_shape_of(v).rank;
    if (!eddy__requires_whole(o, v)) return;
    eddy__counted_slots(o, v);
    if (s->a.beta1.node != 0) eddy__zero_slot(o, v, "m");
    if (rank < 0)
        eddy_fail(o->graph, EDDY_UNIMPLEMENTED, "%s: the rank of '%s' is unknown", o->name,
                  eddy_name_of(v));
    if (rank < 2) {
        eddy__zero_slot(o, v, "v");
        return;
    }
    eddy_make_slot(o, v, "vr", zeros_without(v, -1));
    eddy_make_slot(o, v, "vc", zeros_without(v, -2));
}

static void adafactor_prepare(eddy_optimizer *o)
{
    adafactor_state *s = eddy_optimizer_state(o);
    eddy_tensor      t = eddy__step_number(o);
    s->beta2 = Sub(1, Pow(t, Neg(eddy__exact(s->a.decay_rate))));
    s->rate = s->a.learning_rate.node != 0 ? eddy__exact(s->a.learning_rate)
                                           : Minimum(0.01, Rsqrt(t));
}

static eddy_tensor rms(eddy_tensor x) { return Sqrt(Mean(Square(x))); }

/* A moving average in a slot; joins the updates. */
static eddy_tensor update_average(eddy_optimizer *o, eddy_tensor v, const char *slot, eddy_tensor x,
                                  eddy_tensor beta, eddy_tensor *updates, int *n)
{
    eddy_tensor old = eddy_get_slot(o, v, slot);
    return updates[(*n)++] = eddy_assign(old, eddy__moving(old, x, beta));
}

/* The gradient over the root of its second moment. */
static eddy_tensor scaled(eddy_optimizer *o, eddy_tensor g, eddy_tensor v, eddy_tensor *updates,
                          int *n)
{
    const adafactor_state *s = eddy_optimizer_state(o);
    eddy_tensor q = Square(g), epsilon = eddy_hyper(s->a.epsilon1, v);
    if (eddy_shape_of(v).rank < 2)
        return Mul(g, Rsqrt(update_average(o, v, "v", Add(q, epsilon), s->beta2, updates, n)));
    eddy_tensor of_rows = Add(Mean(q, EDDY_AXES(-1), .keepdims = true), epsilon);
    eddy_tensor of_columns = Add(Mean(q, EDDY_AXES(-2), .keepdims = true), epsilon);
    eddy_tensor r = update_average(o, v, "vr", of_rows, s->beta2, updates, n);
    eddy_tensor c = update_average(o, v, "vc", of_columns, s->beta2, updates, n);
    r = Div(r, Mean(r, EDDY_AXES(-2), .keepdims = true));
    return Mul(Mul(g, Rsqrt(r)), Rsqrt(c));
}

static eddy_tensor adafactor_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const adafactor_state *s = eddy_optimizer_state(o);
    eddy_tensor updates[4], rate = eddy_hyper(s->rate, v);
    int         n = 0;
    eddy_tensor u = scaled(o, g, v, updates, &n);
    if (!s->a.without_parameter_scale)
        rate = Mul(rate, Maximum(eddy_hyper(s->a.epsilon2, v), rms(v)));
    rate = Div(rate, Maximum(1, Div(rms(u), eddy_hyper(s->a.clipping_threshold, v))));
    u = Mul(rate, u);
    if (s->a.beta1.node != 0) u = update_average(o, v, "m", u, s->a.beta1, updates, &n);
    updates[n++] = eddy_assign_sub(v, u);
    return eddy_group(o->graph, (eddy_list){ n, updates }, NULL);
}

static const eddy_option_row options[] = {
    OPTIONAL(eddy_adafactor_args, learning_rate),
    OPTIONAL(eddy_adafactor_args, beta1),
    TENSOR(eddy_adafactor_args, decay_rate),
    TENSOR(eddy_adafactor_args, clipping_threshold),
    TENSOR(eddy_adafactor_args, epsilon1),
    TENSOR(eddy_adafactor_args, epsilon2),
    { 0 },
};

static const eddy_optimizer_rule adafactor = {
    { .name = "Adafactor", .state_size = sizeof(adafactor_state),
      .create_slots = adafactor_slots, .prepare = adafactor_prepare,
      .apply_dense = adafactor_dense, .finish = eddy__count_step },
    sizeof(eddy_adafactor_args), options,
};

eddy_optimizer *eddy_adafactor_with(const eddy_adafactor_args *given)
{
    eddy_adafactor_args a = EDDY_TAKE(eddy_adafactor_args, given);
    return eddy__optimizer_make(&adafactor, &a, a.name);
}
