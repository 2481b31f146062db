/* clipped.c -- gradient clipping around any optimizer: the inner optimizer receives clipped
 * gradients. */
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"
#include "autodiff/internal.h"
#include "ops/short_names.h"

#include <math.h>

typedef struct clipped_state {
    eddy_optimizer *inner;
    eddy_tensor     value, norm, global_norm;    /* node 0: not clipped so */
} clipped_state;

static bool has_parts(const eddy_gradient_pair *pairs, int count)
{
    bool has = false;
    for (int i = 0; !has && i < count; i++)
        has = pairs[i].gradient.node != 0 && eddy__is_part(pairs[i].variable);
    return has;
}

/* Scales a gradient to a norm of at most `most`; it is part of one whose norm is `norm`. */
static void scale(eddy_tensor *gradient, eddy_tensor most, eddy_tensor norm)
{
    eddy_clip_by_global_norm(((eddy_list){ 1, gradient }), CastLike(most, *gradient), gradient,
                             .use_norm = norm);
}

/* The sum of the squares of the rows here; those that are skipped are of other processes. */
static eddy_tensor own_squares(eddy_tensor x)
{
    eddy_tensor values, indices;
    if (!eddy_slices_parts(x, &values, &indices)) return Sum(Square(x));
    if (!eddy_slices_skip_negative(x)) return Sum(Square(values));
    eddy_dims axes = { .count = eddy_shape_of(values).rank - 1 };
    for (int i = 0; i < axes.count; i++) axes.at[i] = i + 1;
    eddy_tensor rows = Square(values);
    if (axes.count > 0) rows = Sum(rows, axes);
    return Sum(Where(GreaterEqual(indices, 0), rows, ZerosLike(rows)));
}

/* The same as eddy_clip_gradients_by_norm where this process has parts of variables. */
static void clip_each(eddy_optimizer *o, eddy_gradient_pair *pairs, int count, eddy_tensor most)
{
    for (int i = 0; i < count && eddy__graph_ready(o->graph); i++) {
        eddy_gradient_pair *p = &pairs[i];
        if (p->gradient.node == 0) continue;
        if (!eddy__is_part(p->variable)) {
            eddy_clip_gradients_by_norm(p, 1, most);
            continue;
        }
        eddy_tensor sum = own_squares(p->gradient);
        eddy__sum_parts(o, 1, &p->variable, &sum);
        scale(&p->gradient, most, Sqrt(sum));
    }
}

/* The norm of all gradients. `parts` and `x` are room for those that this process has in part. */
static eddy_tensor norm_of_all(eddy_optimizer *o, const eddy_gradient_pair *pairs, int count,
                               eddy_tensor *x, eddy_tensor *parts)
{
    eddy_tensor sum = eddy_none(o->graph);
    int         n = 0;
    for (int i = 0; i < count; i++) {
        if (pairs[i].gradient.node == 0) continue;
        const eddy_tensor own = own_squares(pairs[i].gradient);
        if (eddy__is_part(pairs[i].variable)) {
            parts[n] = pairs[i].variable;
            x[n++] = own;
        } else sum = sum.node ? Add(sum, own) : own;
    }
    eddy__sum_parts(o, n, parts, x);
    for (int i = 0; i < n; i++) sum = sum.node ? Add(sum, x[i]) : x[i];
    return Sqrt(sum);
}

static void clip_together(eddy_optimizer *o, eddy_gradient_pair *pairs, int count, eddy_tensor most)
{
    eddy_tensor *room = eddy__tensors_new(o->graph, 2 * (int64_t)count);
    if (!room) return;
    const eddy_tensor norm = norm_of_all(o, pairs, count, room, room + count);
    for (int i = 0; i < count && eddy__graph_ready(o->graph); i++)
        if (pairs[i].gradient.node != 0) scale(&pairs[i].gradient, most, norm);
    eddy__tensors_free(o->graph, room, 2 * (int64_t)count);
}

static void clipped_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const clipped_state *s = eddy_optimizer_state(o);
    if (s->value.node != 0) eddy_clip_gradients_by_value(pairs, count, Neg(s->value), s->value);
    const bool           parts = has_parts(pairs, count);
    if (s->norm.node != 0 && parts) clip_each(o, pairs, count, s->norm);
    else if (s->norm.node != 0) eddy_clip_gradients_by_norm(pairs, count, s->norm);
    if (s->global_norm.node != 0 && parts) clip_together(o, pairs, count, s->global_norm);
    else if (s->global_norm.node != 0)
        eddy_clip_gradients_by_global_norm(pairs, count, s->global_norm);
    eddy__inner_transform(o, pairs, count);
}

static const eddy_optimizer_def clipped = {
    .name = "ClippedGradients", .state_size = sizeof(clipped_state),
    .transform = clipped_transform,
};

/* A bound that is given is a hyper-parameter. */
static bool bound_fits(eddy_graph *g, const char *what, eddy_tensor *bound)
{
    return (bound->node == 0 && !bound->graph) || eddy__hyper_settle(g, what, bound, NAN);
}

eddy_optimizer *eddy_clipped_gradients_with(const eddy_clipped_gradients_args *given)
{
    eddy_clipped_gradients_args a = EDDY_TAKE(eddy_clipped_gradients_args, given);
    const eddy_tensor bound = a.value.graph ? a.value : a.norm.graph ? a.norm : a.global_norm;
    eddy_graph       *g = eddy__inner_graph(bound.graph, "ClippedGradients", a.optimizer);
    if (!g || !bound_fits(g, "ClippedGradients: value", &a.value) ||
        !bound_fits(g, "ClippedGradients: norm", &a.norm) ||
        !bound_fits(g, "ClippedGradients: global_norm", &a.global_norm))
        return NULL;
    const clipped_state s = { a.optimizer, a.value, a.norm, a.global_norm };
    eddy_optimizer_def  def = clipped;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    def.takes_complex = a.optimizer->def.takes_complex && a.value.node == 0;
    eddy_optimizer *o = eddy__outer_new(g, &def, &s, a.name);
    if (o) o->combines = a.global_norm.node != 0;
    if (o) o->takes_parts = true;
    return o;
}
