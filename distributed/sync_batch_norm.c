/* sync_batch_norm.c -- batch normalization with the mean and variance of all ranks' examples. */
#include "distributed/collectives.h"
#include "distributed/internal.h"
#include "distributed/sync_batch_norm.h"

#include "layers/batch_moments.h"
#include "ops/short_names.h"

/* The ranks, and the weight of this rank's loss, if there is one. */
typedef struct sharing {
    eddy_communicator *c;
    eddy_tensor        examples;
} sharing;

/* y[i] = the sums of x[i] over the ranks.
 *
 * Derivatives of collectives are those of the sum of the ranks' losses. With weights w the loss of
 * all is sum w L, and dx of a rank must be sum(w dy) / w, because its gradient is multiplied by its
 * own w later. So dy is multiplied by w, and dx divided by it. Without examples w is 0, and dy
 * might be NaN. */
static void sum_over_ranks(const sharing *s, int n, const eddy_tensor *x, eddy_tensor *y)
{
    eddy_tensor own[2], w = s->examples;
    for (int i = 0; i < n; i++) {
        if (w.graph) w = eddy_cast(w, eddy_dtype_of(x[i]));
        own[i] = w.graph ? eddy_grad_pass_through(x[i], DivNoNan(x[i], w)) : x[i];
    }
    if (!eddy_all_reduce_list(s->c, (eddy_list){ n, own }, EDDY_REDUCE_SUM, y)) return;
    for (int i = 0; w.graph && i < n; i++)
        y[i] = eddy_grad_pass_through(y[i], Where(Greater(w, 0), Mul(y[i], w), 0));
}

/* The mean from sum and count, and the variance from the squares of the differences from this mean:
 * averages of the ranks' own moments would be wrong for uneven shares, and the mean of the squares
 * less the square of the mean loses digits. So the ranks meet twice. */
static eddy_batch_moments moments_of_ranks(void *context, eddy_tensor x, eddy_dims axes)
{
    const sharing    *s = context;
    eddy_tensor       count = eddy_number(x.graph, EDDY_INT64, 1), all[2], squares;
    for (int i = 0; i < axes.count; i++)
        count = Mul(count, eddy_size_along(x, (int)axes.at[i]));
    eddy_tensor own[2] = { Sum(x, axes, .keepdims = true), eddy_cast(count, eddy_dtype_of(x)) };
    sum_over_ranks(s, 2, own, all);
    const eddy_tensor mean = Div(all[0], all[1]);
    own[0] = Sum(SquaredDifference(x, mean), axes, .keepdims = true);
    sum_over_ranks(s, 1, own, &squares);
    return (eddy_batch_moments){ mean, Div(squares, all[1]), all[1] };
}

eddy_tensor eddy_sync_batch_norm_layer_with(eddy_communicator *c, eddy_tensor examples,
                                            const eddy_batch_norm_layer_args *given)
{
    eddy_batch_norm_layer_args a = { .size_ = sizeof a };
    eddy_copy_options(&a, given);
    sharing     s = { c, examples };
    eddy_graph *g = a.x.graph;
    char        text[128];
    if (!g) return eddy_none(NULL);
    if (!c)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "sync_batch_normalization: there is no "
                         "communicator");
    if (examples.graph && eddy_shape_of(examples).rank != 0)
        return eddy_fail(g, EDDY_BAD_SHAPE, "sync_batch_normalization: examples has shape %s; "
                         "expected a scalar",
                         eddy_shape_print(eddy_shape_of(examples), text, sizeof text));
    return eddy_batch_norm_layer_by(moments_of_ranks, &s, given);
}
