/* transformed.c -- any optimizer with gradients that a function of the caller transforms. */
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"
#include "ops/ops.h"

#include <string.h>

typedef struct transformed_state {
    eddy_optimizer *inner;
    void          (*transform)(void *context, eddy_gradient_pair *pairs, int count);
    void           *context;
} transformed_state;

/* The function may replace gradients by others of the same variables. */
static bool pair_fits(const eddy_optimizer *o, eddy_gradient_pair was, eddy_gradient_pair p)
{
    eddy_tensor values;
    const char *name = eddy_name_of(was.variable);
    if (!eddy_same(was.variable, p.variable) ||
        (was.gradient.node == 0) != (p.gradient.node == 0))
        eddy_fail(o->graph, EDDY_INVALID_ARGUMENT,
                  "%s: the function changes which variables have a gradient: '%s'", o->name, name);
    else if (p.gradient.node == 0) return true;
    else if (!eddy_is_valid(p.gradient) || p.gradient.graph != o->graph)
        eddy_fail(
            o->graph, EDDY_INVALID_ARGUMENT,
            "%s: the gradient that the function returns for '%s' is not a tensor of the graph",
            o->name, name);
    else if (eddy_dtype_of(p.gradient) != eddy_dtype_of(was.gradient) ||
             (!eddy_slices_parts(p.gradient, &values, NULL) &&
              !eddy_shape_compatible(eddy_shape_of(p.gradient), eddy_shape_of(was.variable))))
        eddy_fail(o->graph, EDDY_BAD_SHAPE,
                  "%s: the gradient that the function returns for '%s' has another type or shape",
                  o->name, name);
    else return true;
    return false;
}

static void transformed_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const transformed_state *s = eddy_optimizer_state(o);
    const size_t             bytes = (size_t)count * sizeof *pairs;
    eddy_gradient_pair      *was = eddy__allocate(&o->allocator, bytes);
    bool                     ok = was != NULL;
    if (!was)
        eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, count);
    if (ok) {
        memcpy(was, pairs, bytes);
        s->transform(s->context, pairs, count);
    }
    for (int i = 0; ok && i < count; i++) ok = pair_fits(o, was[i], pairs[i]);
    if (was && !ok) memcpy(pairs, was, bytes);
    eddy__release(&o->allocator, was, bytes);
    if (ok) eddy__inner_transform(o, pairs, count);
}

bool eddy__has_function(const eddy_optimizer *o)
{
    eddy_optimizer *const *inside = o->state;
    bool                   has = o->def.transform == transformed_transform;
    for (int i = 0; !has && i < o->n_inside; i++) has = eddy__has_function(inside[i]);
    return has;
}

void eddy__call_functions(const eddy_optimizer *o, const eddy_gradient_pair *pairs, int count)
{
    eddy_optimizer *const *inside = o->state;
    const size_t           bytes = (size_t)count * sizeof *pairs;
    if (o->def.transform == transformed_transform) {
        const transformed_state *s = o->state;
        eddy_gradient_pair      *own = eddy__allocate(&o->allocator, bytes);
        if (own) {
            memcpy(own, pairs, bytes);
            s->transform(s->context, own, count);
        } else
            eddy_fail(o->graph, EDDY_NO_MEMORY, "%s: out of memory (updates: %d)", o->name, count);
        eddy__release(&o->allocator, own, bytes);
    }
    for (int i = 0; i < o->n_inside; i++) eddy__call_functions(inside[i], pairs, count);
}

static const eddy_optimizer_def transformed = {
    .name = "TransformedGradients", .state_size = sizeof(transformed_state),
    .transform = transformed_transform,
};

eddy_optimizer *eddy_transformed_gradients_with(const eddy_transformed_gradients_args *given)
{
    eddy_transformed_gradients_args a = EDDY_TAKE(eddy_transformed_gradients_args, given);
    eddy_graph *g = eddy__inner_graph(NULL, "TransformedGradients", a.optimizer);
    if (!g) return NULL;
    if (!a.transform) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "TransformedGradients: there is no function");
        return NULL;
    }
    const transformed_state s = { a.optimizer, a.transform, a.context };
    eddy_optimizer_def      def = transformed;
    def.sums_duplicates = a.optimizer->def.sums_duplicates;
    def.takes_complex = a.optimizer->def.takes_complex;
    return eddy__outer_new(g, &def, &s, a.name);
}
