/* norm_layers.c -- batch and layer normalization layers with variables of their own. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "layers/batch_moments.h"
#include "layers/internal.h"
#include "ops/short_names.h"

/* ----------------------------------------------------------- batch norm -- */

/* A batch normalization layer under construction. */
typedef struct norm {
    const eddy_batch_norm_layer_args *a;
    eddy_layer  layer;
    eddy_tensor gamma, beta;                    /* invalid if omitted */
    eddy_tensor mean, variance;                 /* the moving averages */
    eddy_dims   others;                         /* all axes except that of the channels */
    int64_t     channels;
    double      epsilon;
    bool        fused, second;                  /* rank 4; channels are axis 1 */
    eddy_moments_function moments;              /* NULL: of x alone */
    void       *context;
} norm;

static eddy_tensor variable(const norm *n, const char *name, eddy_init init, double otherwise,
                            eddy_regularizer r, bool fixed)
{
    return eddy__layer_variable(&n->layer, (eddy_layer_weight){
        .name = name, .shape = EDDY_SHAPE(n->channels), .init = init,
        .otherwise = eddy_constant_initializer(otherwise), .regularizer = r,
        .not_trainable = fixed });
}

static void make_variables(norm *n)
{
    const eddy_batch_norm_layer_args *a = n->a;
    const eddy_regularizer none = { 0 };
    if (!a->no_scale)
        n->gamma = variable(n, "gamma", a->gamma_initializer, 1, a->gamma_regularizer, false);
    if (!a->no_center)
        n->beta = variable(n, "beta", a->beta_initializer, 0, a->beta_regularizer, false);
    n->mean = variable(n, "moving_mean", a->moving_mean_initializer, 0, none, true);
    n->variance = variable(n, "moving_variance", a->moving_variance_initializer, 1, none, true);
}

/* y, and the mean and variance of the batch. */
typedef struct normed {
    eddy_tensor y, mean, variance;
} normed;

static eddy_tensor or_all(const norm *n, eddy_tensor v, double otherwise)
{
    return v.graph ? v : eddy_initial_value(n->layer.graph, eddy_constant_initializer(otherwise),
                                            n->layer.dtype, EDDY_SHAPE(n->channels), 0);
}

static normed normalize_fused(const norm *n, bool training)
{
    eddy_tensor y = eddy_fused_batch_norm(n->a->x, or_all(n, n->gamma, 1), or_all(n, n->beta, 0),
                                          n->mean, n->variance, n->epsilon, training,
                                          n->second ? "NCHW" : "NHWC");
    return (normed){ y, eddy_output(y, 1), eddy_output(y, 2) };
}

static normed normalize_by(const norm *n, eddy_tensor mean, eddy_tensor variance)
{
    return (normed){ eddy_batch_normalization(n->a->x, mean, variance, n->beta, n->gamma,
                                              n->epsilon), mean, variance };
}

/* Adds moving = moving momentum + batch (1 - momentum) to the collection. */
static void move_average(const norm *n, eddy_tensor moving, eddy_tensor batch)
{
    const double momentum = n->a->momentum;
    eddy_tensor  step = Mul(Sub(moving, eddy_stop_gradient(batch)), 1 - momentum);
    if (n->a->training_when.graph) step = Where(n->a->training_when, step, 0);
    eddy_tensor update = eddy_assign_sub(moving, step);
    if (eddy_is_valid(update)) eddy_collection_add(n->layer.graph, EDDY_UPDATE_OPS, update);
}

/* With one number for each channel, along the axis of the channels. */
static eddy_tensor along_channels(const norm *n, eddy_tensor v)
{
    return v.graph && n->second ? Reshape(v, EDDY_SHAPE(n->channels, 1, 1)) : v;
}

/* With the caller's moments. The moving variance of rank 4 is that of the fused operation. */
static normed normalize_by_function(const norm *n)
{
    const eddy_batch_moments m = n->moments(n->context, n->a->x, n->others);
    const eddy_shape         all = EDDY_SHAPE(n->channels);
    eddy_tensor              variance = m.variance;
    const eddy_tensor y = eddy_batch_normalization(n->a->x, m.mean, m.variance,
                                                   along_channels(n, n->beta),
                                                   along_channels(n, n->gamma), n->epsilon);
    if (n->fused)
        variance = Mul(variance, Where(Greater(m.count, 1), Div(m.count, Sub(m.count, 1)), 1));
    return (normed){ y, Reshape(m.mean, all), Reshape(variance, all) };
}

static eddy_tensor build_batch_norm(norm *n)
{
    const eddy_tensor when = n->a->training_when;
    make_variables(n);
    if (!when.graph && !n->a->training)
        return normalize_fused(n, false).y;
    normed r;
    if (n->fused || n->moments) {
        r = n->moments ? normalize_by_function(n) : normalize_fused(n, true);
        if (when.graph) r.y = Where(when, r.y, normalize_fused(n, false).y);
    } else {
        eddy_tensor mean = eddy_moments(n->a->x, n->others), variance = eddy_output(mean, 1);
        r = when.graph ? normalize_by(n, Where(when, mean, n->mean),
                                      Where(when, variance, n->variance))
                       : normalize_by(n, mean, variance);
    }
    move_average(n, n->mean, r.mean);
    move_average(n, n->variance, r.variance);
    return r.y;
}

/* The axis of the channels; -1 if it is not a valid one. */
static int channel_axis(eddy_shape s, int64_t axis)
{
    if (s.rank < 2) return -1;
    if (axis == -1 || axis == s.rank - 1) return s.rank - 1;
    return s.rank == 4 && (axis == 1 || axis == -3) ? 1 : -1;
}

static eddy_tensor batch_norm_layer(eddy_moments_function moments, void *context,
                                    const eddy_batch_norm_layer_args *given)
{
    eddy_batch_norm_layer_args a = EDDY_TAKE(eddy_batch_norm_layer_args, given);
    const eddy_tensor none = eddy_none(a.x.graph);
    const eddy_shape  s = eddy_shape_of(a.x);
    const int         axis = channel_axis(s, a.axis);
    norm n = { .a = &a, .epsilon = a.epsilon, .fused = s.rank == 4,
               .second = axis == 1 && s.rank == 4, .moments = moments, .context = context,
               .layer = { .who = "batch_normalization", .name = a.name, .reuse = a.reuse,
                          .not_trainable = a.not_trainable } };
    char text[200];
    if (!eddy__layer_check_input(&n.layer, a.x)) return none;
    if (axis < 0 || s.dim[axis] < 0)
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE,
                         "batch_normalization: x has shape %s and axis is %lld; the number of "
                         "channels must be known, and axis must be the last, or 1 for rank 4",
                         eddy_shape_print(s, text, sizeof text), (long long)a.axis);
    if (!(a.momentum >= 0 && a.momentum <= 1))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "batch_normalization: momentum is %g; "
                         "it must be in [0, 1]", a.momentum);
    n.channels = s.dim[axis];
    for (int i = 0; i < s.rank; i++)
        if (i != axis) n.others.at[n.others.count++] = i;
    eddy__layer_begin(&n.layer);
    return eddy__layer_end(&n.layer, build_batch_norm(&n));
}

eddy_tensor eddy_batch_norm_layer_with(const eddy_batch_norm_layer_args *given)
{
    return batch_norm_layer(NULL, NULL, given);
}

eddy_tensor eddy_batch_norm_layer_by(eddy_moments_function moments, void *context,
                                     const eddy_batch_norm_layer_args *given)
{
    if (moments) return batch_norm_layer(moments, context, given);
    return eddy_fail(EDDY_TAKE(eddy_batch_norm_layer_args, given).x.graph, EDDY_INVALID_ARGUMENT,
                     "batch_normalization: there is no function for the moments");
}

eddy_tensor eddy_update_ops(eddy_graph *g, const char *scope)
{
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    const int    count = eddy_collection_get(g, EDDY_UPDATE_OPS, scope, NULL, 0);
    const size_t bytes = (size_t)count * sizeof(eddy_tensor);
    eddy_tensor *all = eddy__allocate(eddy__graph_allocator(g), bytes);
    if (!all) return eddy_fail(g, EDDY_NO_MEMORY, "update_ops: out of memory");
    eddy_collection_get(g, EDDY_UPDATE_OPS, scope, all, count);
    eddy_tensor y = eddy_group(g, (eddy_list){ count, all }, "update_ops");
    eddy__release(eddy__graph_allocator(g), all, bytes);
    return y;
}

/* ----------------------------------------------------------- layer norm -- */

eddy_tensor eddy_layer_norm_layer_with(const eddy_layer_norm_layer_args *given)
{
    eddy_layer_norm_layer_args a = EDDY_TAKE(eddy_layer_norm_layer_args, given);
    const eddy_shape s = eddy_shape_of(a.x);
    eddy_layer l = { .who = "layer_norm", .name = a.name, .reuse = a.reuse,
                     .not_trainable = a.not_trainable };
    char text[200];
    if (!eddy__layer_check_input(&l, a.x)) return eddy_none(a.x.graph);
    if (s.rank < 1 || s.dim[s.rank - 1] < 0)
        return eddy_fail(l.graph, EDDY_BAD_SHAPE, "layer_norm: x has shape %s; its last dimension "
                         "must be known", eddy_shape_print(s, text, sizeof text));
    const eddy_shape row = EDDY_SHAPE(s.dim[s.rank - 1]);
    eddy__layer_begin(&l);
    eddy_tensor gamma = eddy__layer_variable(&l, (eddy_layer_weight){
        .name = "gamma", .shape = row, .init = a.gamma_initializer,
        .otherwise = eddy_ones_initializer() });
    eddy_tensor beta = eddy__layer_variable(&l, (eddy_layer_weight){
        .name = "beta", .shape = row, .init = a.beta_initializer });
    return eddy__layer_end(&l, eddy_layer_norm(a.x, gamma, beta, a.epsilon));
}
