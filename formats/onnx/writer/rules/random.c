/* random.c -- random numbers: those of the program that runs the model. */
#include "../rules.h"
#include "../writer.h"

/* Uniform or normal numbers (op) with the shape of the output, which is an attribute or that of the
 * only tensor that is given. */
static const char *draw(onnx_part *p, const char *op, const char *from, double a, const char *to,
                        double b, eddy_dtype d)
{
    const eddy_shape s = p->node->outputs[0].shape;
    const int        like = p->node->n_inputs - 1;
    onnx_call        c;
    if (eddy_shape_is_known(s)) {
        const int64_t one = 1;      /* ONNX's checker refuses a list without elements */
        c = eddy__call(p, op, 0, NULL);
        eddy__call_ints(&c, "shape", s.rank ? s.rank : 1, s.rank ? s.dim : &one);
    } else if (like >= 0) {
        const char *x = eddy__part_in(p, like);
        c = eddy__call(p, op[6] == 'N' ? "RandomNormalLike" : "RandomUniformLike", 1, &x);
    } else {
        eddy__part_missing(p, "the shape must be known");
        return "";
    }
    eddy__call_int(&c, "dtype", eddy__onnx_type_of(d));
    eddy__call_float(&c, from, a);
    eddy__call_float(&c, to, b);
    const char *y = eddy__call_end(&c);
    return s.rank == 0 ? eddy__part_unary(p, "Squeeze", y) : y;
}

/* In float64 if the output is that, else in float32. */
static bool put_drawn(onnx_part *p, const char *op, const char *from, double a, const char *to,
                      double b)
{
    const eddy_dtype want = p->node->outputs[0].dtype;
    const eddy_dtype d = want == EDDY_FLOAT64 ? EDDY_FLOAT64 : EDDY_FLOAT32;
    return eddy__part_put(p, 0, eddy__part_cast(p, draw(p, op, from, a, to, b, d), d, want));
}

static bool uniform(onnx_part *p)
{
    return put_drawn(p, "RandomUniform", "low", eddy__part_float(p, "minval"), "high",
                     eddy__part_float(p, "maxval"));
}

static bool normal(onnx_part *p)
{
    return put_drawn(p, "RandomNormal", "mean", eddy__part_float(p, "mean"), "scale",
                     eddy__part_float(p, "stddev"));
}

static const char *whole(onnx_part *p, int64_t v)
{
    eddy_array *a = eddy_array_copy_of(EDDY_INT64, EDDY_SCALAR, &v);
    const char *name = a ? eddy__part_array(p, a) : "";
    if (!a) eddy__writer_no_memory(p->writer);
    eddy_array_free(a);
    return name;
}

/* The whole part of u n, where u is in [0, 1) and n the number of integers; rounding, or a program
 * that draws a 1, may give n. */
static bool integers(onnx_part *p)
{
    const int64_t  least = eddy__part_int(p, "minval"), end = eddy__part_int(p, "maxval");
    const uint64_t n = (uint64_t)end - (uint64_t)least;
    if (n > (uint64_t)1 << 53)
        return eddy__part_missing(p, "it draws one of more than 2^53 integers");
    const char *u = draw(p, "RandomUniform", "low", 0, "high", 1, EDDY_FLOAT64);
    const char *y = eddy__part_formula(p, EDDY_FLOAT64, "Add(Min(int64(Mul(a, b)), c), d)", u,
                                       eddy__part_number(p, EDDY_FLOAT64, (double)n),
                                       whole(p, (int64_t)n - 1), whole(p, least));
    return eddy__part_put(p, 0, eddy__part_cast(p, y, EDDY_INT64, p->node->outputs[0].dtype));
}

/* Instead of drawing again beyond 2 standard deviations, the inverse of the distribution function
 * between them: sqrt(2) erfinv(u erf(sqrt(2))), where u is in [-1, 1). */
static bool truncated(onnx_part *p)
{
    const char *u = draw(p, "RandomUniform", "low", -1, "high", 1, EDDY_FLOAT64);
    const char *y = eddy__part_formula(
        p, EDDY_FLOAT64, "u=Mul(@Erfinv(Mul(a, 0.9544997361036416)), 1.4142135623730951); "
        "Add(Mul(u, #stddev), #mean)", u);
    return eddy__part_put(p, 0, eddy__part_cast(p, y, EDDY_FLOAT64, p->node->outputs[0].dtype));
}

static const onnx_row rows[] = {
    { "RandomUniform", uniform },
    { "RandomStandardNormal", normal },
    { "RandomUniformInt", integers },
    { "TruncatedNormal", truncated },
};

const onnx_family eddy__write_random = FAMILY_OF(rows);
