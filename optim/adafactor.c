/* adafactor.c -- Adam without its memory: the second moment of a matrix is the product of
 * those of its rows and of its columns (Shazeer and Stern 2018).
 *
 *   q  = g^2 + epsilon1,  b = 1 - t^-c
 *   R <- b R + (1 - b) mean of q over a row,  C likewise over a column
 *   u  = g / sqrt(R C / mean(R)),  clipped to u / max(1, rms(u) / d)
 *   x <- x - rate max(epsilon2, rms(x)) u
 *
 * Means stand for the paper's sums: the factors fall out.  The two roots are taken one
 * by one, for R C of small gradients is below the smallest float32. */
#include "optim/modern_internal.h"

typedef struct adafactor_state {
    eddy_tensor learning_rate, beta1, decay_rate, clipping_threshold, epsilon1, epsilon2;
    bool        without_parameter_scale;
    eddy_tensor rate, beta2;         /* of this step */
} adafactor_state;

/* Zeros in the shape of v, but for an axis that is 1. */
static eddy_tensor zeros_without(eddy_tensor v, int64_t axis)
{
    return ZerosLike(Sum(eddy_initialized_value(v), EDDY_AXES(axis), .keepdims = true));
}

static void adafactor_slots(eddy_optimizer *o, eddy_tensor v)
{
    const adafactor_state *a = eddy_optimizer_state(o);
    const int rank = eddy_shape_of(v).rank;
    eddy_counted_slots(o, v);
    if (a->beta1.node != 0) eddy_zero_slot(o, v, "m");
    if (rank < 0)
        eddy_fail(o->graph, EDDY_UNIMPLEMENTED, "%s: '%s' has no known rank", o->name,
                  eddy_name_of(v));
    if (rank < 2) {
        eddy_zero_slot(o, v, "v");
        return;
    }
    eddy_make_slot(o, v, "vr", zeros_without(v, -1));
    eddy_make_slot(o, v, "vc", zeros_without(v, -2));
}

static void adafactor_prepare(eddy_optimizer *o)
{
    adafactor_state *a = eddy_optimizer_state(o);
    eddy_tensor      t = eddy_step_number(o);
    a->beta2 = Sub(1, Pow(t, Neg(eddy_exact(a->decay_rate))));
    a->rate = a->learning_rate.node != 0 ? eddy_exact(a->learning_rate) : Minimum(0.01, Rsqrt(t));
}

static eddy_tensor rms(eddy_tensor x) { return Sqrt(Mean(Square(x))); }

/* A moving average in a slot; joins the updates. */
static eddy_tensor keep(eddy_optimizer *o, eddy_tensor v, const char *slot, eddy_tensor x,
                        eddy_tensor beta, eddy_tensor *updates, int *n)
{
    eddy_tensor old = eddy_get_slot(o, v, slot);
    return updates[(*n)++] = eddy_assign(old, eddy_moving(old, x, beta));
}

/* The gradient over the root of its second moment. */
static eddy_tensor scaled(eddy_optimizer *o, eddy_tensor g, eddy_tensor v, eddy_tensor *updates,
                          int *n)
{
    const adafactor_state *a = eddy_optimizer_state(o);
    eddy_tensor q = Square(g), epsilon = eddy_hyper(a->epsilon1, v);
    if (eddy_shape_of(v).rank < 2)
        return Mul(g, Rsqrt(keep(o, v, "v", Add(q, epsilon), a->beta2, updates, n)));
    eddy_tensor of_rows = Add(Mean(q, EDDY_AXES(-1), .keepdims = true), epsilon);
    eddy_tensor of_columns = Add(Mean(q, EDDY_AXES(-2), .keepdims = true), epsilon);
    eddy_tensor r = keep(o, v, "vr", of_rows, a->beta2, updates, n);
    eddy_tensor c = keep(o, v, "vc", of_columns, a->beta2, updates, n);
    r = Div(r, Mean(r, EDDY_AXES(-2), .keepdims = true));
    return Mul(Mul(g, Rsqrt(r)), Rsqrt(c));
}

static eddy_tensor adafactor_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const adafactor_state *a = eddy_optimizer_state(o);
    eddy_tensor updates[4], rate = eddy_hyper(a->rate, v);
    int         n = 0;
    eddy_tensor u = scaled(o, g, v, updates, &n);
    if (!a->without_parameter_scale)
        rate = Mul(rate, Maximum(eddy_hyper(a->epsilon2, v), rms(v)));
    rate = Div(rate, Maximum(1, Div(rms(u), eddy_hyper(a->clipping_threshold, v))));
    u = Mul(rate, u);
    if (a->beta1.node != 0) u = keep(o, v, "m", u, a->beta1, updates, &n);
    updates[n++] = eddy_assign_sub(v, u);
    return eddy_group(o->graph, (eddy_list){ n, updates }, NULL);
}

static const eddy_optimizer_def adafactor = {
    .name = "Adafactor", .state_size = sizeof(adafactor_state), .create_slots = adafactor_slots,
    .prepare = adafactor_prepare, .apply_dense = adafactor_dense, .finish = eddy_count_step,
};

eddy_optimizer *eddy_adafactor_with(eddy_adafactor_args a)
{
    eddy_graph     *g = a.graph ? a.graph : a.learning_rate.graph;
    adafactor_state s = { .learning_rate = a.learning_rate, .beta1 = a.beta1,
                          .decay_rate = a.decay_rate, .clipping_threshold = a.clipping_threshold,
                          .epsilon1 = a.epsilon1, .epsilon2 = a.epsilon2,
                          .without_parameter_scale = a.without_parameter_scale };
    const eddy_hyper_row rows[] = {
        { "Adafactor: learning_rate", &s.learning_rate, INFINITY },
        { "Adafactor: beta1", &s.beta1, INFINITY },
        { "Adafactor: decay_rate", &s.decay_rate, 0.8 },
        { "Adafactor: clipping_threshold", &s.clipping_threshold, 1 },
        { "Adafactor: epsilon1", &s.epsilon1, 1e-30 },
        { "Adafactor: epsilon2", &s.epsilon2, 0.001 } };
    if (!eddy_hypers_settle(g, rows, sizeof rows / sizeof *rows)) return NULL;
    return eddy_optimizer_new(g, &adafactor, &s, a.name);
}
