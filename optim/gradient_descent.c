/* gradient_descent.c -- v <- v - lr g. */
#include "optim/internal.h"
#include "ops/math.h"

#include <math.h>

typedef struct descent_state {
    eddy_tensor learning_rate;
} descent_state;

static eddy_tensor descent_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const descent_state *s = eddy_optimizer_state(o);
    return eddy_assign_sub(v, Mul(eddy_hyper(s->learning_rate, v), g));
}

/* Equal indices add up by themselves. */
static eddy_tensor descent_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                  eddy_tensor v)
{
    const descent_state *s = eddy_optimizer_state(o);
    return eddy_scatter_sub(v, indices, Mul(eddy_hyper(s->learning_rate, v), values),
                            .skip_negative = o->skip_negative);
}

static const eddy_optimizer_def descent = {
    .name = "GradientDescent", .state_size = sizeof(descent_state),
    .apply_dense = descent_dense, .apply_sparse = descent_sparse, .sums_duplicates = true,
    .takes_complex = true,
};

eddy_optimizer *eddy_gradient_descent_with(eddy_gradient_descent_args a)
{
    eddy_graph   *g = a.graph ? a.graph : a.learning_rate.graph;
    descent_state s = { a.learning_rate };
    if (!eddy_hyper_settle(g, "GradientDescent: learning_rate", &s.learning_rate, NAN)) return NULL;
    return eddy_optimizer_new(g, &descent, &s, a.name);
}
