/* host_scalar.c -- host scalars: numbers that a C function of the program returns at each run. */
#include "ops/arrays/batching.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef double (*eddy_host_function)(void *data, double x);

typedef struct eddy_host_scalar_args {
    size_t             size_ EDDY_DEFAULT(sizeof(eddy_host_scalar_args));
    eddy_graph        *graph;
    eddy_host_function function;   /* called once per run in which the value is needed */
    void              *data;       /* passed to it */
    eddy_tensor        x;          /* its argument; default how often it ran before */
    const char        *name;
} eddy_host_scalar_args;
#endif

typedef struct host_attrs {
    eddy_host_function function;   /* not an attribute, because a file cannot hold it */
    void              *data;
} host_attrs;

static const eddy_attr_field host_fields[] = { { 0 } };

static bool host_infer(eddy_infer *c)
{
    const host_attrs *a = c->attrs;
    if (!a->function)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "there is no function to call; graph files do not store functions");
    c->out[0] = (eddy_type){ EDDY_FLOAT64, c->n_in > 0 ? c->in[0].shape : EDDY_SCALAR };
    return true;
}

static eddy_status host_kernel(eddy_kernel *k)
{
    const host_attrs *a = k->attrs;
    const double *x = k->n_in > 0 ? k->in[0]->data : NULL;
    double       *y = k->out[0]->data;
    for (int64_t i = 0; i < k->out[0]->count; i++)
        y[i] = a->function(a->data, x ? x[i] : (double)k->step);
    return EDDY_OK;
}

const eddy_op_def eddy_op_host_scalar = {
    .name = "HostScalar", .min_inputs = 0, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TYPE(EDDY_FLOAT64) }),
    .flags = EDDY_OP_STATEFUL | EDDY_OP_UNSAVED,
    .attrs_size = sizeof(host_attrs), .attrs = host_fields,
    .infer = host_infer, .kernel = host_kernel, .gradient = eddy_not_differentiable,
    .batch = eddy_batch_as_is,
};

/** y = function(data, x), float64, called in each run that needs y.
 *
 *  graph     the graph of the node; default that of x
 *  function  any C function, such as a learning-rate schedule or a number that the program
 *            changes during training
 *  data      passed to the function; must outlive all runs of the graph
 *  x         any type except complex, cast to float64, such as the global step; unless x is a
 *            scalar, the function is called for each element; default: the number of earlier runs
 *            of the session that needed y, which a checkpoint of all variables contains
 *
 *  The value is never folded, merged with another or reused in another run; if it is not needed,
 *  the function is not called.  The function may be called from any thread that runs the graph,
 *  and concurrently if two sessions run.  Under eddy_vmap, it is called once for all examples, or
 *  once per example if x is batched.  A graph file cannot contain the function: saving a graph
 *  that has this node fails.
 *  Errors: EDDY_INVALID_ARGUMENT without a function; EDDY_BAD_DTYPE for a complex x.
 *  Gradient: none.  TensorFlow: a callable as a hyperparameter of an optimizer. */
eddy_tensor eddy_host_scalar_with(const eddy_host_scalar_args *given)
{
    eddy_host_scalar_args a = EDDY_TAKE(eddy_host_scalar_args, given);
    eddy_graph      *g = a.graph ? a.graph : a.x.graph;
    const host_attrs attrs = { a.function, a.data };
    const int        n = a.x.graph || a.x.node ? 1 : 0;
    eddy_tensor      x = a.x;
    if (n > 0 && eddy_is_valid(x) &&
        !eddy__expect_type(x.graph, "HostScalar", "x", eddy_dtype_of(x), EDDY_TAKES_ORDERED))
        return eddy_none(x.graph);
    if (n > 0 && eddy_is_valid(x) && eddy_dtype_of(x) != EDDY_FLOAT64)
        x = eddy_cast(x, EDDY_FLOAT64);
    return eddy_apply(&eddy_op_host_scalar, &attrs, n, &x, (eddy_apply_args){ g, a.name });
}
