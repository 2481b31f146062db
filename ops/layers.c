/* layers.c -- layers with variables of their own. */
#include "graph/op.h"
#include "ops/math.h"

#ifdef EDDY_HEADER
typedef struct eddy_dense_args {
    char                unused_;
    eddy_tensor         x;
    int64_t             units;               /* columns of y */
    const char         *name;                /* of the scope; default "dense" */
    eddy_tensor       (*activation)(eddy_tensor);  /* eddy_relu, ...; default none */
    bool                no_bias;
    eddy_initializer_fn kernel_initializer;  /* default eddy_init_glorot_uniform */
    eddy_initializer_fn bias_initializer;    /* default eddy_init_zeros */
    bool                not_trainable;
    int64_t             seed;                /* for the initializers */
} eddy_dense_args;
#endif

/* A variable in the current scope.  Its first value depends on nothing that
 * surrounds the layer: the initializer runs before all else. */
static eddy_tensor weight(const eddy_dense_args *a, const char *name, eddy_initializer_fn init,
                          eddy_shape shape)
{
    eddy_graph *g = a->x.graph;
    char        scope[32];
    snprintf(scope, sizeof scope, "%s/Initializer", name);
    eddy_control_clear(g);
    eddy_scope_begin(g, scope);
    eddy_tensor first = init(g, eddy_dtype_of(a->x), shape, a->seed);
    eddy_scope_end(g);
    eddy_tensor v = eddy_variable(g, .initial_value = first, .name = name,
                                  .not_trainable = a->not_trainable);
    eddy_control_end(g);
    return v;
}

/* x as a matrix: all dimensions but the last become one. */
static eddy_tensor flatten(eddy_tensor x)
{
    if (eddy_shape_of(x).rank == 2) return x;
    return eddy_merge_leading(x, eddy_sum(x, .axes = EDDY_AXES(-1)));
}

/* y under the leading dimensions of x. */
static eddy_tensor restore(eddy_tensor y, eddy_tensor x, int64_t units)
{
    eddy_shape s = eddy_shape_of(x);
    int        open = 0, zeros = 0;
    if (s.rank == 2) return y;
    for (int i = 0; i < s.rank - 1; i++) {
        open += s.dim[i] == EDDY_ANY;
        zeros += s.dim[i] == 0;
    }
    s.dim[s.rank - 1] = units;
    if (open == 0 || (open == 1 && zeros == 0)) return eddy_reshape(y, s);
    eddy_tensor leading = eddy_shape_tensor(eddy_sum(x, .axes = EDDY_AXES(-1)), EDDY_INT64);
    eddy_tensor last = eddy_const(x.graph, EDDY_INT64, EDDY_SHAPE(1), &units);
    y = eddy_reshape_to(y, eddy_concat(EDDY_LIST(leading, last), 0));
    return eddy_set_shape(y, s);
}

static eddy_tensor build_dense(const eddy_dense_args *a)
{
    eddy_shape  s = eddy_shape_of(a->x);
    int64_t     in = s.dim[s.rank - 1];
    eddy_tensor kernel = weight(a, "kernel", a->kernel_initializer ? a->kernel_initializer
                                : eddy_init_glorot_uniform, EDDY_SHAPE(in, a->units));
    eddy_tensor y = MatMul(flatten(a->x), kernel);
    if (!a->no_bias) {
        eddy_tensor bias = weight(a, "bias", a->bias_initializer ? a->bias_initializer
                                  : eddy_init_zeros, EDDY_SHAPE(a->units));
        y = BiasAdd(y, bias);
    }
    y = restore(y, a->x, a->units);
    return a->activation ? a->activation(y) : y;
}

/** A fully connected layer: y = f(x w + b), w and b being variables made here.
 *
 *  x                   float32 or float64 [..., in], rank 2 or more; the last
 *                      dimension is known; y is [..., units]
 *  units               how many columns y has, above 0
 *  name                of the name scope; default "dense".  The variables are
 *                      <name>/kernel [in, units] and <name>/bias [units]
 *  activation          f; default none
 *  no_bias             leaves b out
 *  kernel_initializer  default eddy_init_glorot_uniform
 *  bias_initializer    default eddy_init_zeros
 *  not_trainable       keeps optimizers off the variables
 *  seed                handed to the initializers; 0: the operations' own
 *
 *  Each call makes variables of its own.
 *  Errors: EDDY_BAD_SHAPE if x is of lower rank or its last dimension is open,
 *  EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT if units is not above 0.
 *  Gradient: that of the operations it is made of.  TensorFlow: layers.dense. */
eddy_tensor eddy_dense_with(eddy_dense_args a)
{
    eddy_graph *g = a.x.graph;
    const char *name = a.name ? a.name : "dense";
    eddy_dtype  dtype = eddy_dtype_of(a.x);
    eddy_shape  s = eddy_shape_of(a.x);
    char        text[200];
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* says so, or passes it on */
    if (dtype != EDDY_FLOAT32 && dtype != EDDY_FLOAT64)
        return eddy_fail(g, EDDY_BAD_DTYPE, "dense: x is %s; it must be float32 or float64 "
                         "[scope '%.200s']", eddy_dtype_name(dtype), name);
    if (s.rank < 2 || s.dim[s.rank - 1] < 0)
        return eddy_fail(g, EDDY_BAD_SHAPE, "dense: x has shape %s; it must have two dimensions or "
                         "more, the last of them known [scope '%.200s']",
                         eddy_shape_print(s, text, sizeof text), name);
    if (a.units <= 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "dense: units is %lld; it must be above 0 "
                         "[scope '%.200s']", (long long)a.units, name);
    eddy_scope_begin(g, name);
    eddy_tensor y = build_dense(&a);
    eddy_scope_end(g);
    return y;
}
