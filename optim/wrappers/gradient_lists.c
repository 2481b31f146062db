/* gradient_lists.c -- gradient clipping on a list of pairs of gradient and variable. */
#include "optim/internal.h"
#include "graph/call_options.h"
#include "optim/wrappers/wrappers.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"

/* ---------------------------------------------------------------- checks -- */

/* The graph of the first gradient; NULL if there is none. */
static eddy_graph *graph_of(const eddy_gradient_pair *pairs, int count)
{
    for (int i = 0; pairs && i < count; i++)
        if (pairs[i].gradient.node != 0 && eddy__graph_alive(pairs[i].gradient.graph))
            return pairs[i].gradient.graph;
    return NULL;
}

/* True if all gradients are absent or tensors of the graph; otherwise an error on the graph. */
static bool gradients_fit(eddy_graph *g, const char *what, const eddy_gradient_pair *pairs,
                          int count)
{
    for (int i = 0; i < count; i++) {
        const eddy_tensor t = pairs[i].gradient;
        if (t.node == 0 || (eddy_is_valid(t) && t.graph == g)) continue;
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the gradient of pair %d is not a tensor of this "
                  "graph", what, i);
        return false;
    }
    return true;
}

static bool bound_fits(eddy_graph *g, const char *what, const char *which, eddy_tensor bound)
{
    char text[128];
    if (!eddy_is_valid(bound) || bound.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a tensor of this graph", what, which);
    else if (eddy_shape_of(bound).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: %s has shape %s; expected a scalar", what, which,
                  eddy_shape_print(eddy_shape_of(bound), text, sizeof text));
    else return true;
    return false;
}

/* The graph, if the lists are valid and contain a gradient; else NULL. */
static eddy_graph *begin(const char *what, const eddy_gradient_pair *pairs, int count,
                         eddy_tensor bound)
{
    eddy_graph *g = graph_of(pairs, count);
    if (!eddy__graph_ready(g) || !gradients_fit(g, what, pairs, count) ||
        !bound_fits(g, what, "the bound", bound))
        return NULL;
    return g;
}

/* The same, for functions of norms, which need whole gradients. */
static eddy_graph *begin_norms(const char *what, const eddy_gradient_pair *pairs, int count,
                               eddy_tensor bound)
{
    eddy_graph *g = begin(what, pairs, count, bound);
    for (int i = 0; g && i < count; i++) {
        if (pairs[i].gradient.node == 0 || !eddy__is_part(pairs[i].variable)) continue;
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: this process has only a part of '%.200s'; eddy_clipped_gradients inside an "
                  "optimizer of the ranks clips it", what, eddy_name_of(pairs[i].variable));
        return NULL;
    }
    return g;
}

/* ------------------------------------------------------------- one by one -- */

void eddy_clip_gradients_by_value(eddy_gradient_pair *pairs, int count, eddy_tensor lo,
                                  eddy_tensor hi)
{
    eddy_graph *g = begin("clip_gradients_by_value", pairs, count, lo);
    if (!g || !bound_fits(g, "clip_gradients_by_value", "the upper bound", hi)) return;
    for (int i = 0; i < count; i++) {
        eddy_tensor *t = &pairs[i].gradient;
        if (t->node != 0) *t = eddy_clip_by_value(*t, CastLike(lo, *t), CastLike(hi, *t));
    }
}

void eddy_clip_gradients_by_norm(eddy_gradient_pair *pairs, int count, eddy_tensor clip)
{
    if (!begin_norms("clip_gradients_by_norm", pairs, count, clip)) return;
    for (int i = 0; i < count; i++) {
        eddy_tensor *t = &pairs[i].gradient;
        if (t->node != 0) *t = eddy_clip_by_norm(*t, CastLike(clip, *t));
    }
}

void eddy_clip_gradients_by_average_norm(eddy_gradient_pair *pairs, int count, eddy_tensor clip)
{
    if (!begin_norms("clip_gradients_by_average_norm", pairs, count, clip)) return;
    for (int i = 0; i < count; i++) {
        eddy_tensor *t = &pairs[i].gradient;
        if (t->node != 0) *t = eddy_clip_by_average_norm(*t, CastLike(clip, *t));
    }
}

/* ------------------------------------------------------------ global norm -- */

/* The gradients as a list in memory of the graph's; NULL with the error set. */
static eddy_tensor *gradients_of(eddy_graph *g, const eddy_gradient_pair *pairs, int count)
{
    eddy_tensor *list = eddy__allocate(eddy__graph_allocator(g), (size_t)count * sizeof *list);
    if (!list)
        eddy_fail(g, EDDY_NO_MEMORY, "clipping: out of memory (gradients: %d)", count);
    for (int i = 0; list && i < count; i++) list[i] = pairs[i].gradient;
    return list;
}

static void release(eddy_graph *g, eddy_tensor *list, int count)
{
    eddy__release(eddy__graph_allocator(g), list, (size_t)count * sizeof *list);
}

eddy_tensor eddy_clip_gradients_by_global_norm(eddy_gradient_pair *pairs, int count,
                                               eddy_tensor clip)
{
    eddy_graph  *g = begin_norms("clip_gradients_by_global_norm", pairs, count, clip);
    eddy_tensor *list = g ? gradients_of(g, pairs, count) : NULL;
    if (!list) return eddy_none(graph_of(pairs, count));
    eddy_tensor first = list[0], norm;
    for (int i = 0; first.node == 0; i++) first = list[i];
    norm = eddy_clip_by_global_norm(((eddy_list){ count, list }), CastLike(clip, first), list);
    for (int i = 0; eddy__graph_ready(g) && i < count; i++)
        if (pairs[i].gradient.node != 0) pairs[i].gradient = list[i];
    release(g, list, count);
    return norm;
}

eddy_tensor eddy_gradients_global_norm(const eddy_gradient_pair *pairs, int count)
{
    eddy_graph *g = graph_of(pairs, count);
    for (int i = 0; !g && pairs && i < count; i++)
        if (eddy__graph_alive(pairs[i].variable.graph)) g = pairs[i].variable.graph;
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (!graph_of(pairs, count))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "gradients_global_norm: no pair has a gradient");
    eddy_tensor *list = gradients_fit(g, "gradients_global_norm", pairs, count)
                            ? gradients_of(g, pairs, count)
                            : NULL;
    if (!list) return eddy_none(g);
    eddy_tensor norm = eddy_global_norm((eddy_list){ count, list });
    release(g, list, count);
    return norm;
}

/* --------------------------------------------------------------- adaptive -- */

/* The norm of each unit of x, a variable of that rank. */
static eddy_tensor unit_norms(eddy_tensor x, int rank)
{
    eddy_dims axes = { 0 };
    for (int i = 0; i + 1 < rank; i++) axes.at[axes.count++] = i;
    return eddy__norm_of(x, axes, true);
}

/* The gradient of v, no longer in any unit than `clip` of the unit. */
static eddy_tensor adapted(eddy_tensor gradient, eddy_tensor v, eddy_tensor clip,
                           eddy_tensor epsilon)
{
    const int rank = eddy_shape_of(v).rank;
    if (rank < 0)
        return eddy_fail(v.graph, EDDY_BAD_SHAPE,
                         "clip_gradients_adaptively: the rank of '%s' is unknown",
                         eddy_name_of(v));
    eddy_tensor most = Mul(CastLike(clip, v), Maximum(unit_norms(v, rank), CastLike(epsilon, v)));
    eddy_tensor norm = unit_norms(gradient, rank);
    eddy_tensor scaled = Mul(gradient, Div(most, Maximum(norm, 1e-6)));
    return Where(Greater(norm, most), scaled, gradient);
}

void eddy_clip_gradients_adaptively_with(const eddy_adaptive_clip_args *given)
{
    eddy_adaptive_clip_args a = EDDY_TAKE(eddy_adaptive_clip_args, given);
    eddy_graph *g = graph_of(a.pairs, a.count);
    if (!eddy__graph_ready(g) || !gradients_fit(g, "clip_gradients_adaptively", a.pairs, a.count) ||
        !eddy__hyper_settle(g, "clip_gradients_adaptively: clip", &a.clip,
                            EDDY_DEFAULT_OF(eddy_adaptive_clip_args, clip)) ||
        !eddy__hyper_settle(g, "clip_gradients_adaptively: epsilon", &a.epsilon,
                            EDDY_DEFAULT_OF(eddy_adaptive_clip_args, epsilon)))
        return;
    for (int i = 0; i < a.count && eddy__graph_ready(g); i++) {
        const eddy_gradient_pair p = a.pairs[i];
        if (p.gradient.node == 0) continue;
        if (!eddy_is_valid(p.variable) || p.variable.graph != g)
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "clip_gradients_adaptively: pair %d has no variable of this graph", i);
        else if (eddy__is_part(p.variable))
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "clip_gradients_adaptively: this process has only a part of '%.200s'",
                      eddy_name_of(p.variable));
        else a.pairs[i].gradient = adapted(p.gradient, p.variable, a.clip, a.epsilon);
    }
}
