/* cross.c -- the cross product of vectors of three elements. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <complex.h>

static bool cross_infer(eddy_infer *c)
{
    eddy_shape       a = c->in[0].shape;
    const eddy_shape b = c->in[1].shape;
    const eddy_dtype d = c->in[0].dtype;
    if (a.rank < 0) a = b;
    bool fits = a.rank < 0 || ((b.rank < 0 || a.rank == b.rank) && a.rank > 0);
    for (int i = 0; fits && b.rank >= 0 && i < a.rank; i++)
        fits = eddy__dim_unify(&a.dim[i], b.dim[i]);
    if (fits && a.rank > 0) fits = eddy__dim_unify(&a.dim[a.rank - 1], 3);
    if (!fits)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a and b must have the same shape, ending in 3");
    return eddy__infer_yield(c, 0, d, a);
}

#define TEMPLATE "ops/kernels/elementwise/cross_loops.h"
#define TYPES    FOR_NUMBERS_COMPLEX
#include "ops/kernels/for_types.h"

static eddy_status cross_kernel(eddy_kernel *k)
{
    eddy_parallel_fn fn = EDDY_FOR_TYPE(cross, FOR_NUMBERS_COMPLEX, k->out[0]->type.dtype);
    if (k->out[0]->count > 0) eddy__parallel_or_stop(k, k->out[0]->count / 3, 8192, fn, k);
    return EDDY_OK;
}

static void cross_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_cross(Conj(r->x[1]), r->dy[0]);
    r->dx[1] = eddy_cross(r->dy[0], Conj(r->x[0]));
}

static double cross_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 3 * eddy_flops_per_output(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_cross = {
    .name = "Cross", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_NUMBERS_COMPLEX }, { "b", EDDY_LIKE(0) }),
    .infer = cross_infer, .kernel = cross_kernel, .gradient = cross_gradient,
    .batch = eddy_batch_as_is, .flops = cross_flops,
};

/** y = a x b, the cross product of vectors along the last axis.
 *
 *  a, b  any numeric type except float16 and bfloat16, the same shape [...,3]
 *
 *  y0 = a1 b2 - a2 b1, and so on cyclically.  Integers wrap around.
 *  Errors: EDDY_BAD_SHAPE if the shapes differ or do not end in 3.
 *  Gradient: da = b x dy, db = dy x a.  TensorFlow: Cross. */
eddy_tensor eddy_cross(eddy_tensor a, eddy_tensor b)
{
    return eddy_apply2(&eddy_op_cross, NULL, a, b);
}
