/* random.c -- random numbers. A seed of the file is a number of any kind; it is rounded. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>

static int64_t seed_of(const onnx_build *b)
{
    const double s = eddy__onnx_float(b, "seed", 0);
    return fabs(s) < 1e15 ? (int64_t)rint(s) : 1;
}

static int type_of(const onnx_build *b, int otherwise)
{
    return (int)eddy__onnx_int(b, "dtype", otherwise);
}

/* float64 if that is asked for, else float32. */
static eddy_dtype drawn_in(int type) { return type == ONNX_DOUBLE ? EDDY_FLOAT64 : EDDY_FLOAT32; }

static bool put(onnx_build *b, eddy_tensor y, int type)
{
    if (!eddy__onnx_is_float(type))
        return eddy__onnx_missing(b, "random numbers of type %s are not supported",
                                  eddy__onnx_type_name(type));
    return eddy__onnx_put_as(b, 0, Cast(y, eddy__onnx_dtype(type)), type);
}

static eddy_tensor normal_like(onnx_build *b, eddy_tensor x, int type)
{
    return eddy_random_normal_like(x, eddy__onnx_float(b, "mean", 0),
                                   eddy__onnx_float(b, "scale", 1), drawn_in(type),
                                   .seed = seed_of(b));
}

static eddy_tensor uniform_like(onnx_build *b, eddy_tensor x, int type)
{
    return eddy_random_uniform_like(x, eddy__onnx_float(b, "low", 0),
                                    eddy__onnx_float(b, "high", 1), drawn_in(type),
                                    .seed = seed_of(b));
}

/* Zeros of the shape in the attribute. */
static bool of_shape(onnx_build *b, eddy_tensor *x)
{
    int            n;
    const int64_t *shape = eddy__onnx_ints(b, "shape", &n);
    if (!shape || n > EDDY_MAX_RANK)
        return eddy__onnx_invalid(b, shape ? "the shape has more than 8 dimensions"
                                           : "the shape is missing");
    *x = eddy_zeros(b->graph, EDDY_FLOAT32, eddy_shape_of_dims(shape, (size_t)n));
    return true;
}

static bool normal(onnx_build *b)
{
    eddy_tensor x;
    const int   type = type_of(b, ONNX_FLOAT);
    return of_shape(b, &x) && put(b, normal_like(b, x, type), type);
}

static bool uniform(onnx_build *b)
{
    eddy_tensor x;
    const int   type = type_of(b, ONNX_FLOAT);
    return of_shape(b, &x) && put(b, uniform_like(b, x, type), type);
}

static bool as_normal(onnx_build *b)
{
    const int type = type_of(b, eddy__onnx_type_in(b, 0));
    return put(b, normal_like(b, eddy__onnx_in(b, 0), type), type);
}

static bool as_uniform(onnx_build *b)
{
    const int type = type_of(b, eddy__onnx_type_in(b, 0));
    return put(b, uniform_like(b, eddy__onnx_in(b, 0), type), type);
}

/* 1 with the probability x. */
static bool bernoulli(onnx_build *b)
{
    const int         type = type_of(b, eddy__onnx_type_in(b, 0));
    const eddy_tensor x = eddy__onnx_in(b, 0);
    if (eddy__onnx_dtype(type) == EDDY_DEFAULT_DTYPE)
        return eddy__onnx_missing(b, "the element type is not supported");
    const eddy_tensor u =
        eddy_random_uniform_like(x, .seed = seed_of(b), .dtype = eddy_dtype_of(x));
    return eddy__onnx_put_as(b, 0, Cast(Less(u, x), eddy__onnx_dtype(type)), type);
}

static bool multinomial(onnx_build *b)
{
    const int type = type_of(b, ONNX_INT32);
    if (type != ONNX_INT32 && type != ONNX_INT64)
        return eddy__onnx_invalid(b, "dtype is %s; int32 or int64 expected",
                                  eddy__onnx_type_name(type));
    return eddy__onnx_put_as(b, 0,
                             eddy_random_categorical(eddy__onnx_in(b, 0),
                                                     eddy__onnx_int(b, "sample_size", 1),
                                                     eddy__onnx_dtype(type), seed_of(b)),
                             type);
}

const onnx_operator eddy__onnx_random[] = {
    { "RandomNormal", 1, normal },
    { "RandomUniform", 1, uniform },
    { "RandomNormalLike", 1, as_normal },
    { "RandomUniformLike", 1, as_uniform },
    { "Bernoulli", 15, bernoulli },
    { "Multinomial", 7, multinomial },
    { NULL },
};
