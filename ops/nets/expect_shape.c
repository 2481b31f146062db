/* expect_shape.c -- checks for operations on several tensors; see expect_shape.h. */
#include "ops/nets/expect_shape.h"
#include "graph/base/dtype.h"

bool eddy__expect_shape(eddy_infer *c, int i, const char *what, eddy_shape want)
{
    char have[128], text[128];
    return i >= c->n_in || eddy_shape_compatible(c->in[i].shape, want) ||
           eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s has shape %s; expected %s", what,
                           eddy_shape_print(c->in[i].shape, have, sizeof have),
                           eddy_shape_print(want, text, sizeof text));
}

bool eddy__check_floats(const char *op, eddy_tensor x)
{
    const eddy_dtype d = eddy_dtype_of(x);
    if (eddy_dtype_is_floating(d)) return true;
    eddy_fail(x.graph, EDDY_BAD_DTYPE, "%s: x is %s; float32 or float64 expected", op,
              eddy_dtype_name(d));
    return false;
}
