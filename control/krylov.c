/* krylov.c -- see krylov.h. */
#include "control/krylov.h"
#include "control/linear_system.h"
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

/* V, w, V w: the coefficients V w and what is left of w. */
static int keep(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = x.at[2];
    y[1] = x.at[1];
    return 2;
}

static int orthogonalize(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor v = x.at[0], more = eddy_matvec(v, x.at[1]);
    y[0] = Add(x.at[2], more);
    y[1] = Sub(x.at[1], eddy_matvec(v, more, .transpose_a = true));
    return 2;
}

eddy_tensor eddy__krylov_rest(eddy_tensor v, eddy_tensor w, eddy_tensor *along)
{
    const eddy_function again = { .build = orthogonalize }, enough = { .build = keep };
    const eddy_tensor   first = eddy_matvec(v, w);
    const eddy_tensor   once = Sub(w, eddy_matvec(v, first, .transpose_a = true));
    const eddy_tensor   cancels =
        Less(eddy__vector_length(once), Mul(0.7, eddy__vector_length(w)));
    eddy_tensor y[2] = { eddy_none(v.graph), eddy_none(v.graph) };
    eddy_cond(cancels, again, enough, y, EDDY_LIST(v, once, first), .name = "orthogonal");
    if (along) *along = y[0];
    return y[1];
}
