/* gradient_descent.c -- gradient descent (SGD): v <- v - lr g. */
#include "optim/option_table.h"
#include "graph/call_options.h"
#include "optim/rules/tf_train.h"
#include "ops/short_names.h"

static eddy_tensor descent_dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor v)
{
    const eddy_gradient_descent_args *s = eddy_optimizer_state(o);
    return eddy_assign_sub(v, Mul(eddy_hyper(s->learning_rate, v), g));
}

/* Equal indices add up by themselves. */
static eddy_tensor descent_sparse(eddy_optimizer *o, eddy_tensor values, eddy_tensor indices,
                                  eddy_tensor v)
{
    const eddy_gradient_descent_args *s = eddy_optimizer_state(o);
    return eddy_scatter_sub(v, indices, Mul(eddy_hyper(s->learning_rate, v), values),
                            .skip_negative = o->skip_negative);
}

static const eddy_option_row options[] = {
    REQUIRED(eddy_gradient_descent_args, learning_rate),
    { 0 },
};

static const eddy_optimizer_rule descent = {
    { .name = "GradientDescent", .state_size = sizeof(eddy_gradient_descent_args),
      .apply_dense = descent_dense, .apply_sparse = descent_sparse, .sums_duplicates = true,
      .takes_complex = true },
    sizeof(eddy_gradient_descent_args), options,
};

eddy_optimizer *eddy_gradient_descent_with(const eddy_gradient_descent_args *given)
{
    eddy_gradient_descent_args a = EDDY_TAKE(eddy_gradient_descent_args, given);
    return eddy__optimizer_make(&descent, &a, a.name);
}
