/* transformed.c -- any optimizer with gradients that a function of the caller transforms. */
#include "optim/wrappers/wrappers_internal.h"
#include "graph/call_options.h"

typedef struct transformed_state {
    eddy_optimizer *inner;
    void          (*transform)(void *context, eddy_gradient_pair *pairs, int count);
    void           *context;
} transformed_state;

static void transformed_transform(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    const transformed_state *s = eddy_optimizer_state(o);
    s->transform(s->context, pairs, count);
    eddy__inner_transform(o, pairs, count);
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
