/* reduce_logsumexp.c -- the log-sum-exp reduction. */
#include "graph/internal.h"
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

/** y = ln sum e^x over `axes`, computed as m + ln sum e^(x - m) with m the largest x.
 *
 *  x         float32 or float64, any shape
 *  axes      each in [-rank, rank), without repetition; default all; EDDY_NO_DIMS: none
 *  keepdims  keeps reduced dimensions, with size 1
 *  name      of the name scope of its nodes
 *
 *  No finite x overflows.  -infinity if there are no elements, or if all of them are -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an invalid or
 *  repeated axis.
 *  Gradient: dx = dy e^(x - y), the softmax along the axes.
 *  TensorFlow: tf.reduce_logsumexp. */
eddy_tensor eddy_logsumexp_with(const eddy_reduce_args *given)
{
    eddy_reduce_args a = EDDY_TAKE(eddy_reduce_args, given);
    const eddy_tensor x = a.x;
    if (eddy_is_valid(x) &&
        !eddy__expect_type(x.graph, "logsumexp", "x", eddy_dtype_of(x), EDDY_TAKES_FLOATS))
        return eddy_none(x.graph);
    eddy_scope_begin(x.graph, a.name ? a.name : "logsumexp");
    const eddy_tensor top = eddy_max(x, .axes = a.axes, .keepdims = true);
    /* An infinite maximum would make x - m NaN; any finite m is correct then. */
    const eddy_tensor m = eddy_stop_gradient(Where(eddy_is_finite(top), top, ZerosLike(top)));
    const eddy_tensor s = eddy_sum(Exp(Sub(x, m)), .axes = a.axes, .keepdims = a.keepdims);
    const eddy_tensor y = Add(Log(s), a.keepdims ? m : eddy_reshape_like(m, s));
    eddy_scope_end(x.graph);
    return y;
}
