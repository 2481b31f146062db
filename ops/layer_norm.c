/* layer_norm.c -- layer normalisation: each row made of mean 0 and variance 1.
 *
 * A row stays in the nearest cache while it is read for its mean, for its variance and
 * for what is written. */
#include "ops/arrays.h"
#include "ops/batch.h"
#include "ops/normalise.h"
#include "ops/rows.h"

#include <string.h>

#define T float
#define NAME(name) name##_f32
#define LOOP(name) name##_f32_all
#include "ops/norm_rows.h"
#undef T
#undef NAME
#undef LOOP
#define T double
#define NAME(name) name##_f64
#define LOOP(name) name##_f64_all
#include "ops/norm_rows.h"
#undef T
#undef NAME
#undef LOOP

#define PIECE (const eddy_norm_work *w, int64_t from, int64_t to)
EDDY_CLONES_OF(rows_forward_f32, PIECE, (w, from, to))
EDDY_CLONES_OF(rows_forward_f64, PIECE, (w, from, to))
EDDY_CLONES_OF(rows_backward_f32, PIECE, (w, from, to))
EDDY_CLONES_OF(rows_backward_f64, PIECE, (w, from, to))

/* Work worth handing to another thread, in elements. */
enum { GRAIN = 32768 };

/* ------------------------------------------------------------ layer_norm -- */

#ifdef EDDY_HEADER
typedef struct eddy_layer_norm_args {
    char        unused_;
    eddy_tensor x, scale, offset;
    double      epsilon;           /* default 1e-5 */
    const char *name;
} eddy_layer_norm_args;
#endif

static bool layer_norm_infer(eddy_infer *c) { return eddy_norm_infer(c, EDDY_NORM_ROWS); }

static eddy_status layer_norm_kernel(eddy_kernel *k)
{
    const eddy_norm_attrs *a = k->attrs;
    const bool     single = k->in[0]->type.dtype == EDDY_FLOAT32;
    eddy_norm_work w = eddy_norm_work_of(k->in[0]->type.shape);
    w.x = k->in[0]->data;
    w.scale = k->in[1]->data;
    w.offset = k->in[2]->data;
    w.y = k->out[0]->data;
    w.mean = k->out[1]->data;
    w.rstd = k->out[2]->data;
    w.epsilon = a->epsilon;
    w.loop = single ? EDDY_BEST_OF(rows_forward_f32) : EDDY_BEST_OF(rows_forward_f64);
    eddy_norm_run(k, &w, w.rows, GRAIN / (w.width + 1));
    return EDDY_OK;
}

static void layer_norm_gradient(eddy_rule *r) { eddy_norm_gradient(r, &eddy_op_layer_norm_grad); }
static void layer_norm_batch(eddy_batch *b) { eddy_norm_batch(b, EDDY_NORM_ROWS); }

/* Of each element: two additions, two subtractions, three products. */
static double layer_norm_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out)
{
    return 7 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_layer_norm = {
    .name = "LayerNorm", .min_inputs = 3, .max_inputs = 3, .outputs = 3,
    .attrs_size = sizeof(eddy_norm_attrs), .attrs = eddy_norm_fields,
    .flops = layer_norm_flops,
    .infer = layer_norm_infer, .kernel = layer_norm_kernel, .gradient = layer_norm_gradient,
    .batch = layer_norm_batch,
};

/** y = (x - mean) rstd scale + offset, mean and variance being those of each row of x
 *  along its last axis, and rstd = 1 / sqrt(variance + epsilon).
 *
 *  x        float32 or float64 [..., n], rank 1 at least; y has its type and shape
 *  scale    the same type, [n]
 *  offset   the same type, [n]
 *  epsilon  not negative; 0 is the default, 1e-5
 *
 *  Outputs 1 and 2 of the node are mean and rstd, [..., 1].  The variance is the mean
 *  of squares, divided by n.
 *  Errors: EDDY_BAD_DTYPE for other element types or if they differ; EDDY_BAD_SHAPE if
 *  the shapes do not fit; EDDY_INVALID_ARGUMENT for an epsilon below 0.
 *  Gradient: with z = (x - mean) rstd and g = dy scale, dx = rstd (g - mean(g) - z mean(g z)),
 *  dscale and doffset the sums of dy z and dy; mean and rstd have one too.
 *  TensorFlow: keras.layers.LayerNormalization. */
eddy_tensor eddy_layer_norm_with(eddy_layer_norm_args a)
{
    const eddy_norm_attrs attrs = { a.epsilon == 0 ? 1e-5 : a.epsilon };
    return eddy_apply_named(a.name, &eddy_op_layer_norm, &attrs, 3,
                            (eddy_tensor[]){ a.x, a.scale, a.offset });
}

/* ------------------------------------------------------- layer_norm_grad -- */

static bool layer_norm_grad_infer(eddy_infer *c) { return eddy_norm_grad_infer(c, EDDY_NORM_ROWS); }

static eddy_status layer_norm_grad_prepare(eddy_kernel *k)
{
    eddy_norm_work w = eddy_norm_work_of(k->in[1]->type.shape);
    const int64_t  blocks = eddy_norm_blocks(&w, GRAIN);
    k->scratch_size = (size_t)(blocks * 4 * w.width) * sizeof(double);
    return EDDY_OK;
}

static eddy_status layer_norm_grad_kernel(eddy_kernel *k)
{
    const bool     single = k->in[0]->type.dtype == EDDY_FLOAT32;
    eddy_norm_work w = eddy_norm_work_of(k->in[1]->type.shape);
    const int64_t  blocks = eddy_norm_blocks(&w, GRAIN);
    if (w.width == 0) return EDDY_OK;
    w.dy = k->in[0]->data;
    w.x = k->in[1]->data;
    w.scale = k->in[2]->data;
    w.mean = k->in[3]->data;
    w.rstd = k->in[4]->data;
    w.y = k->out[0]->data;
    w.part = k->scratch;
    w.loop = single ? EDDY_BEST_OF(rows_backward_f32) : EDDY_BEST_OF(rows_backward_f64);
    eddy_norm_run(k, &w, blocks, 1);
    if (single) rows_join_f32(&w, blocks, k->out[1]->data, k->out[2]->data);
    else rows_join_f64(&w, blocks, k->out[1]->data, k->out[2]->data);
    return EDDY_OK;
}

static void layer_norm_grad_gradient(eddy_rule *r) { eddy_norm_grad_gradient(r, EDDY_NORM_ROWS); }
static void layer_norm_grad_batch(eddy_batch *b) { eddy_norm_grad_batch(b, EDDY_NORM_ROWS); }

static double layer_norm_grad_flops(const void *attrs, int n_in, const eddy_type *in,
                                    const eddy_type *out)
{
    return 14 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_layer_norm_grad = {
    .name = "LayerNormGrad", .min_inputs = 5, .max_inputs = 5, .outputs = 3,
    .flops = layer_norm_grad_flops,
    .infer = layer_norm_grad_infer, .prepare = layer_norm_grad_prepare,
    .kernel = layer_norm_grad_kernel, .gradient = layer_norm_grad_gradient,
    .batch = layer_norm_grad_batch,
};
