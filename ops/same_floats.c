/* same_floats.c -- see same_floats.h. */
#include "ops/same_floats.h"

bool eddy_infer_same_floats(eddy_infer *c)
{
    const eddy_dtype d = c->in[0].dtype;
    if (d != EDDY_FLOAT32 && d != EDDY_FLOAT64)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "float32 or float64 expected, not %s",
                               eddy_dtype_name(d));
    for (int i = 1; i < c->n_in; i++)
        if (c->in[i].dtype != d)
            return eddy_infer_fail(c, EDDY_BAD_DTYPE, "element types %s and %s differ; cast one",
                                   eddy_dtype_name(d), eddy_dtype_name(c->in[i].dtype));
    return true;
}

bool eddy_infer_like(eddy_infer *c, int i, const char *what, eddy_shape want)
{
    char have[128], text[128];
    return i >= c->n_in || eddy_shape_compatible(c->in[i].shape, want) ||
           eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s has the shape %s, not %s", what,
                           eddy_shape_print(c->in[i].shape, have, sizeof have),
                           eddy_shape_print(want, text, sizeof text));
}
