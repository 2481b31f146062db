/* top_k_computed.c -- the largest elements of each row, whose number is a tensor. */
#include "ops/arrays/computed_sizes.h"
#include "ops/short_names.h"

/** y = the k largest elements of each row of x, as eddy_top_k, where k is a tensor.
 *
 *  x  float32, float64, int32, int64, uint8 or bool, [..., n]
 *  k  int32 or int64, one number in [0, n]; a run computes it first if it is not constant
 *
 *  Returns output 0, [..., k]; output 1 holds the indices, int32.  Rows are sorted as a whole.
 *  Errors: those of eddy_sort; EDDY_BAD_DTYPE or EDDY_BAD_SHAPE unless k is one integer; at run
 *  time, EDDY_CHECK_FAILED for a k outside [0, n].
 *  Gradient: dx = dy scattered to the indices, 0 elsewhere.  TensorFlow: TopKV2. */
eddy_tensor eddy_top_k_to(eddy_tensor x, eddy_tensor k)
{
    k = eddy__size_number("top_k_to", "k", k, x);
    if (!eddy_is_valid(k)) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "TopK");
    const eddy_tensor n = Cast(eddy_size_along(x, -1), EDDY_INT64);
    k = eddy_ensure(k, LogicalAnd(GreaterEqual(k, 0), LessEqual(k, n)),
                    "top_k_to: a row has fewer than k elements");
    const eddy_tensor s = eddy_sort(x, .descending = true), zero = ZerosLike(k), one = OnesLike(k);
    const eddy_tensor list[] = { eddy_slice_along(s, zero, k, one, -1),
                                 eddy_slice_along(eddy_output(s, 1), zero, k, one, -1) };
    const eddy_tensor y = eddy_identity_n((eddy_list){ 2, list }, 2);
    eddy_scope_end(x.graph);
    return y;
}
