/* scaled_loss.c -- gradients of a loss that is multiplied by the scale of an optimizer, and then
 * divided by it. */
#include "optim/internal.h"
#include "autodiff/internal.h"
#include "ops/short_names.h"

static eddy_optimizer *inside_at(const eddy_optimizer *o, int i)
{
    return ((eddy_optimizer *const *)o->state)[i];
}

/* True if t depends on the scale: it has been multiplied by it. */
static bool depends(eddy_tensor t, eddy_tensor scale)
{
    eddy_subgraph s;
    const bool ok = eddy__subgraph_begin(&s, t.graph, 1, &scale, 1, &t);
    const bool found = ok && eddy__subgraph_has(&s, t, EDDY_DEPENDS);
    eddy__subgraph_end(&s);
    return found;
}

/* Gathers the scales of o and of the optimizers inside: *first is the first, and *present the
 * product of those that the loss contains. */
static void gather(eddy_optimizer *o, eddy_tensor loss, eddy_tensor *first, eddy_tensor *present)
{
    if (o->loss_scale.node) {
        const bool has = depends(loss, o->loss_scale);
        if (!first->node) *first = o->loss_scale;
        if (has) *present = present->node ? Mul(*present, o->loss_scale) : o->loss_scale;
        o->takes_unscaled = true;
    }
    for (int i = 0; i < o->n_inside; i++) gather(inside_at(o, i), loss, first, present);
}

eddy_scaling eddy__scaling_of(eddy_optimizer *o, eddy_tensor loss)
{
    eddy_graph  *g = eddy__optimizer_ready(o);
    eddy_scaling s = { eddy_none(g), eddy_none(g) };
    eddy_tensor  first = eddy_none(g), present = first;
    if (!g || !eddy_is_valid(loss)) return s;
    gather(o, loss, &first, &present);
    if (!present.node) s.factor = first;
    s.divisor = present.node ? present : first;
    return s;
}

eddy_tensor eddy__scaled_weight(const eddy_scaling *s, eddy_tensor loss, eddy_tensor weight)
{
    if (!s->factor.node) return weight;
    const eddy_tensor by = eddy_hyper(s->factor, loss);
    return Mul(weight.node ? weight : OnesLike(loss), by);
}

eddy_tensor eddy__unscaled(const eddy_scaling *s, eddy_tensor gradient)
{
    eddy_tensor values;
    if (!s->divisor.node || !gradient.node) return gradient;
    if (!eddy_slices_parts(gradient, &values, NULL))
        return Div(gradient, eddy_hyper(s->divisor, gradient));
    return eddy_slices_with_values(gradient, Div(values, eddy_hyper(s->divisor, values)));
}
