/* random.c -- random numbers: those of the program that runs the model. */
#include "../rules.h"

#include <string.h>

/* The shape is an attribute, or that of the only tensor that is given; a stateless operation has
 * its seeds before that. */
static bool draw(onnx_part *p, const char *op, const char *from, double a, const char *to, double b)
{
    const eddy_type  t = p->node->outputs[0];
    const eddy_dtype d = t.dtype == EDDY_FLOAT64 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    const int        like = p->node->n_inputs - 1;
    onnx_call        c;
    if (eddy_shape_is_known(t.shape)) {
        c = eddy__call(p, op, 0, NULL);
        eddy__call_ints(&c, "shape", t.shape.rank, t.shape.dim);
    } else if (like >= 0) {
        const char *x = eddy__part_in(p, like);
        c = eddy__call(p, op[6] == 'N' ? "RandomNormalLike" : "RandomUniformLike", 1, &x);
    } else {
        return eddy__part_missing(p, "the shape must be known");
    }
    eddy__call_int(&c, "dtype", d == EDDY_FLOAT64 ? 11 : 1);
    eddy__call_float(&c, from, a);
    eddy__call_float(&c, to, b);
    return eddy__part_put(p, 0, eddy__part_cast(p, eddy__call_end(&c), d, t.dtype));
}

static bool uniform(onnx_part *p)
{
    return draw(p, "RandomUniform", "low", eddy__part_float(p, "minval"), "high",
                eddy__part_float(p, "maxval"));
}

static bool normal(onnx_part *p)
{
    return draw(p, "RandomNormal", "mean", eddy__part_float(p, "mean"), "scale",
                eddy__part_float(p, "stddev"));
}

static const onnx_row rows[] = {
    { "RandomUniform", uniform },
    { "RandomStandardNormal", normal },
};

const onnx_family eddy__write_random = FAMILY_OF(rows);
