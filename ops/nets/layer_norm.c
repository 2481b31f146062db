/* layer_norm.c -- layer normalization: each row is normalized to mean 0 and variance 1.
 *
 * A row stays in the L1 cache while it is read for its mean and its variance, and while the
 * result is written. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/nets/normalization.h"
#include "ops/math/elementwise_rows.h"

#include <string.h>

#define PIECE (const eddy_norm_work *w, int64_t from, int64_t to)
#define TEMPLATE "ops/kernels/normalization/layer_norm_sets.h"
#include "ops/kernels/for_floats.h"

/* The number of elements that is worth another thread. */
enum { GRAIN = 32768 };

/* ------------------------------------------------------------ layer_norm -- */

#ifdef EDDY_HEADER
typedef struct eddy_layer_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_layer_norm_args));
    eddy_tensor x, scale, offset;
    double      epsilon EDDY_DEFAULT(1e-5);
    const char *name;
} eddy_layer_norm_args;
#endif

static eddy_status layer_norm_kernel(eddy_kernel *k)
{
    eddy_norm_work w = eddy__norm_work_of(k);
    w.loop = EDDY_BEST_FOR_TYPE(rows_forward, FOR_FLOATS, k->in[0]->type.dtype);
    eddy__norm_run(k, &w, w.rows, GRAIN / (w.width + 1));
    return EDDY_OK;
}

/* Per element: two additions, two subtractions, three products. */
static double layer_norm_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out)
{
    return 7 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_layer_norm = {
    .name = "LayerNorm", .min_inputs = 3, .max_inputs = 3, .outputs = 3,
    .variant = EDDY_NORM_ROWS, .inputs = EDDY_NORM_INPUTS,
    .attrs_size = sizeof(eddy_norm_attrs), .attrs = eddy__norm_fields,
    .flops = layer_norm_flops, .infer = eddy__norm_infer, .kernel = layer_norm_kernel,
    .gradient = eddy__norm_gradient, .batch = eddy__norm_batch,
};

/** y = (x - mean) rstd scale + offset, where mean and variance are those of each row of x
 *  along its last axis, and rstd = 1 / sqrt(variance + epsilon).
 *
 *  x        float32 or float64 [..., n], rank at least 1; y has its type and shape
 *  scale    same type, [n]
 *  offset   same type, [n]
 *  epsilon  not negative
 *
 *  Outputs 1 and 2 of the node are mean and rstd, [..., 1].  The variance is the mean
 *  of the squared deviations, that is, divided by n.
 *  Errors: EDDY_BAD_DTYPE for other or unequal element types; EDDY_BAD_SHAPE if
 *  the shapes do not match; EDDY_INVALID_ARGUMENT for a negative epsilon.
 *  Gradient: with z = (x - mean) rstd and g = dy scale, dx = rstd (g - mean(g) - z mean(g z)),
 *  dscale and doffset are the sums of dy z and dy; mean and rstd have a gradient, too.
 *  TensorFlow: keras.layers.LayerNormalization. */
eddy_tensor eddy_layer_norm_with(const eddy_layer_norm_args *given)
{
    eddy_layer_norm_args a = EDDY_TAKE(eddy_layer_norm_args, given);
    const eddy_norm_attrs attrs = { a.epsilon };
    return eddy__apply_named(a.name, &eddy_op_layer_norm, &attrs, 3,
                             (eddy_tensor[]){ a.x, a.scale, a.offset });
}

/* ------------------------------------------------------- layer_norm_grad -- */

static eddy_status layer_norm_grad_prepare(eddy_kernel *k)
{
    eddy_norm_work w = eddy__norm_work_of(k);
    const int64_t  blocks = eddy__norm_blocks(&w, GRAIN);
    k->scratch_size = (uint64_t)(blocks * 4 * w.width) * sizeof(double);
    return EDDY_OK;
}

static eddy_status layer_norm_grad_kernel(eddy_kernel *k)
{
    const eddy_dtype d = k->in[0]->type.dtype;
    eddy_norm_work   w = eddy__norm_work_of(k);
    const int64_t    blocks = eddy__norm_blocks(&w, GRAIN);
    if (w.width == 0) return EDDY_OK;
    w.loop = EDDY_BEST_FOR_TYPE(rows_backward, FOR_FLOATS, d);
    eddy__norm_run(k, &w, blocks, 1);
    EDDY_FOR_TYPE(rows_join, FOR_FLOATS, d)(&w, blocks, k->out[1]->data, k->out[2]->data);
    return EDDY_OK;
}

static double layer_norm_grad_flops(const void *attrs, int n_in, const eddy_type *in,
                                    const eddy_type *out)
{
    return 14 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_layer_norm_grad = {
    .name = "LayerNormGrad", .min_inputs = 5, .max_inputs = 5, .outputs = 3,
    .variant = EDDY_NORM_ROWS, .inputs = EDDY_NORM_GRAD_INPUTS,
    .flops = layer_norm_grad_flops, .infer = eddy__norm_grad_infer,
    .prepare = layer_norm_grad_prepare, .kernel = layer_norm_grad_kernel,
    .gradient = eddy__norm_grad_gradient, .batch = eddy__norm_grad_batch,
};
