/* initial.c -- initializers and regularizers as values. */
#include "layers/internal.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <math.h>

enum { ALL_EQUAL = 1, UNIFORM, NORMAL, TRUNCATED, SCALED, ORTHOGONAL, DIAGONAL };

eddy_init eddy_zeros_initializer(void) { return eddy_constant_initializer(0); }
eddy_init eddy_ones_initializer(void) { return eddy_constant_initializer(1); }

eddy_init eddy_constant_initializer(double value)
{
    return (eddy_init){ .kind = ALL_EQUAL, .a = value };
}

eddy_init eddy_random_uniform_initializer(double minval, double maxval)
{
    return (eddy_init){ .kind = UNIFORM, .a = minval, .b = maxval };
}

eddy_init eddy_random_normal_initializer(double mean, double stddev)
{
    return (eddy_init){ .kind = NORMAL, .a = mean, .b = stddev };
}

eddy_init eddy_truncated_normal_initializer(double mean, double stddev)
{
    return (eddy_init){ .kind = TRUNCATED, .a = mean, .b = stddev };
}

eddy_init eddy_variance_scaling_initializer_with(const eddy_variance_scaling_args *given)
{
    eddy_variance_scaling_args args = EDDY_TAKE(eddy_variance_scaling_args, given);
    return (eddy_init){ .kind = SCALED, .a = args.scale, .mode = args.mode,
                        .distribution = args.distribution, .seed = args.seed };
}

eddy_init eddy_glorot_uniform_initializer(void)
{
    return (eddy_init){ .build = eddy_init_glorot_uniform };
}

eddy_init eddy_glorot_normal_initializer(void)
{
    return (eddy_init){ .build = eddy_init_glorot_normal };
}

eddy_init eddy_he_uniform_initializer(void) { return (eddy_init){ .build = eddy_init_he_uniform }; }
eddy_init eddy_he_normal_initializer(void) { return (eddy_init){ .build = eddy_init_he_normal }; }

eddy_init eddy_lecun_uniform_initializer(void)
{
    return (eddy_init){ .build = eddy_init_lecun_uniform };
}

eddy_init eddy_lecun_normal_initializer(void)
{
    return (eddy_init){ .build = eddy_init_lecun_normal };
}

eddy_init eddy_orthogonal_initializer(double gain)
{
    return (eddy_init){ .kind = ORTHOGONAL, .a = gain };
}

eddy_init eddy_identity_initializer(double gain)
{
    return (eddy_init){ .kind = DIAGONAL, .a = gain };
}

/* ------------------------------------------------------------------ tensors -- */

/* The initial value given as a tensor, after a check of its type. */
static eddy_tensor given(eddy_graph *g, eddy_tensor value, eddy_dtype dtype, eddy_shape shape)
{
    const eddy_type want = { dtype, shape }, is = { eddy_dtype_of(value), eddy_shape_of(value) };
    char            a[200], b[200];
    if (!eddy_is_valid(value)) return eddy_identity(value);
    if (is.dtype == dtype && eddy_shape_equal(is.shape, shape)) return value;
    return eddy_fail(g, is.dtype == dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                     "the initial value '%.200s' is %s; expected %s", eddy_name_of(value),
                     eddy_type_print(is, a, sizeof a), eddy_type_print(want, b, sizeof b));
}

static eddy_tensor diagonal(eddy_graph *g, eddy_dtype dtype, eddy_shape shape)
{
    char text[200];
    if (shape.rank != 2 || !eddy_shape_is_known(shape))
        return eddy_fail(g, EDDY_BAD_SHAPE, "an identity requires the shape of a matrix, not %s",
                         eddy_shape_print(shape, text, sizeof text));
    if (shape.dim[0] == 0 || shape.dim[1] == 0) return eddy_zeros(g, dtype, shape);
    return eddy_eye(g, shape.dim[0], shape.dim[1], dtype);
}

/* Without any spread, the initial value is a constant. */
static int kind_of(const eddy_init *init)
{
    const bool flat = init->kind == UNIFORM ? init->a == init->b
                    : (init->kind == NORMAL || init->kind == TRUNCATED) && init->b == 0;
    return flat ? ALL_EQUAL : init->kind;
}

static eddy_tensor times(eddy_tensor x, double gain)
{
    return gain == 1 ? x : Mul(x, gain);
}

eddy_tensor eddy_initial_value(eddy_graph *g, eddy_init init, eddy_dtype dtype, eddy_shape shape,
                               int64_t seed)
{
    if (init.seed) seed = init.seed;
    if (!dtype) dtype = EDDY_FLOAT32;
    if (eddy__refuse_text(g, "initializer", "eddy_init_he_normal", (void (*)(void))init.build))
        return eddy_none(g);
    if (init.build) return init.build(g, dtype, shape, seed);
    if (init.value.graph) return given(g, init.value, dtype, shape);
    switch (kind_of(&init)) {
    case UNIFORM:
        return eddy_random_uniform(g, shape, init.a, init.b, dtype, seed);
    case NORMAL:
        return eddy_random_normal(g, shape, init.a, init.b, dtype, seed);
    case TRUNCATED:
        return eddy_truncated_normal(g, shape, init.a, init.b, dtype, seed);
    case SCALED:
        return eddy_init_variance_scaling(g, shape, .scale = init.a, .mode = init.mode,
                                          .distribution = init.distribution, .dtype = dtype,
                                          .seed = seed);
    case ORTHOGONAL:
        return times(eddy_init_orthogonal(g, dtype, shape, seed), init.a);
    case DIAGONAL:
        return times(diagonal(g, dtype, shape), init.a);
    default:
        return eddy_broadcast_to(eddy_cast(eddy_const(g, EDDY_FLOAT64, EDDY_SCALAR, &init.a),
                                           dtype), shape);
    }
}
