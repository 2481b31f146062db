/* krylov.c -- see krylov.h. */
#include "control/krylov.h"
#include "ops/ops.h"
#include "ops/short_names.h"

eddy_tensor eddy__krylov_put(eddy_tensor matrix, eddy_tensor i, eddy_tensor row)
{
    return eddy_tensor_scatter_update(matrix, eddy_reshape(i, EDDY_SHAPE(1, 1)),
                                      ExpandDims(row, 0));
}

eddy_tensor eddy__krylov_begin(int64_t m, eddy_tensor v)
{
    const eddy_tensor zero = eddy_number(v.graph, EDDY_INT32, 0);
    return Mul(ExpandDims(OneHot(zero, m, .dtype = eddy_dtype_of(v)), 1), ExpandDims(v, 0));
}

eddy_tensor eddy__krylov_first(eddy_tensor x, int64_t m, eddy_tensor count)
{
    const eddy_tensor zero = eddy_number(x.graph, EDDY_INT32, 0), one = NumberLike(1, zero);
    const eddy_tensor i = eddy_range(zero, NumberLike((double)m, zero), one);
    return Where(Less(i, count), x, 0);
}

eddy_tensor eddy__krylov_rest(eddy_tensor v, eddy_tensor w, eddy_tensor *along)
{
    const eddy_tensor first = eddy_matvec(v, w);
    const eddy_tensor once = Sub(w, eddy_matvec(v, first, .transpose_a = true));
    const eddy_tensor second = eddy_matvec(v, once);
    if (along) *along = Add(first, second);
    return Sub(once, eddy_matvec(v, second, .transpose_a = true));
}
