/* compressed.c -- gradients that travel as bfloat16, and what rounding loses is added in the next
 * step (error feedback, Seide et al. 2014; on both ways, Tang et al. 2019).
 *
 * Each rank combines one share: it gets the rounded shares of all ranks, sums them in float32,
 * and sends the rounded result to all. Both roundings have an error that a variable keeps. */
#include "distributed/averaging.h"

#include "ops/short_names.h"

/* A variable of this rank alone, of so many zeros. */
static eddy_tensor error_variable(eddy_graph *g, const eddy_communicator *c, const char *what,
                                  int64_t count)
{
    char name[64];
    snprintf(name, sizeof name, "%s_error_of_rank_%d", what, c->me);
    return eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(count)), .not_trainable = true,
                         .name = name);
}

/* x and the error of the last step, rounded; *kept is the assignment of the new error.
 * Infinities and NaN, which skip a step, leave none. */
static eddy_tensor rounded(eddy_tensor x, eddy_tensor error, eddy_tensor *kept)
{
    const eddy_tensor sum = Add(x, error), y = eddy_cast(sum, EDDY_BFLOAT16);
    const eddy_tensor lost = Sub(sum, eddy_cast(y, EDDY_FLOAT32));
    *kept = eddy_assign(error, Where(IsFinite(lost), lost, ZerosLike(lost)));
    return y;
}

/* All tensors in a row, with zeros behind them; `padded` elements. */
static eddy_tensor joined(eddy_list x, int64_t count, int64_t padded)
{
    eddy_tensor flat[EDDY_MAX_BUCKET + 1];
    int         n = 0;
    for (; n < x.count; n++) flat[n] = eddy_reshape(x.at[n], EDDY_SHAPE(-1));
    if (padded > count)
        flat[n++] = eddy_zeros(x.at[0].graph, EDDY_FLOAT32, EDDY_SHAPE(padded - count));
    return n == 1 ? flat[0] : eddy_concat((eddy_list){ n, flat }, .axis = 0);
}

static int64_t count_of(eddy_list x)
{
    int64_t count = 0;
    for (int i = 0; i < x.count; i++) count += eddy_shape_count(eddy_shape_of(x.at[i]));
    return count;
}

bool eddy__can_compress(eddy_tensor x)
{
    return eddy_dtype_of(x) == EDDY_FLOAT32 && eddy_shape_is_known(eddy_shape_of(x)) &&
           eddy_shape_count(eddy_shape_of(x)) > 0;
}

bool eddy__all_reduce_compressed(eddy_communicator *c, eddy_list x, eddy_reduction how,
                                 eddy_tensor *y)
{
    eddy_graph   *g = x.at[0].graph;
    const int64_t count = count_of(x), share = (count + c->n - 1) / c->n;
    eddy_tensor   kept[2];
    eddy_tensor   q = rounded(joined(x, count, share * c->n),
                              error_variable(g, c, "sent", share * c->n), &kept[0]);
    q = eddy_all_to_all(c, eddy_reshape(q, EDDY_SHAPE(c->n, share)));
    eddy_tensor sum = eddy_sum(eddy_cast(q, EDDY_FLOAT32), EDDY_DIMS(0));
    if (how == EDDY_REDUCE_MEAN) sum = Div(sum, (double)c->n);
    q = eddy_all_gather(c, rounded(sum, error_variable(g, c, "combined", share), &kept[1]));
    eddy_control_begin(g, (eddy_list){ 2, kept });
    eddy_tensor all = eddy_cast(q, EDDY_FLOAT32);
    eddy_control_end(g);
    int64_t at = 0;
    for (int i = 0; i < x.count; i++) {
        const eddy_shape shape = eddy_shape_of(x.at[i]);
        const int64_t    n = eddy_shape_count(shape);
        y[i] = eddy_reshape(eddy_slice(all, EDDY_DIMS(at), EDDY_DIMS(n)), shape);
        at += n;
    }
    return eddy_is_valid(all);
}
