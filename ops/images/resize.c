/* resize.c -- image resizing: nearest neighbor, bilinear, bicubic and area, channels last. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "ops/kernels/images/resize.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Arguments of the resizing operations. */
typedef struct eddy_resize_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_resize_args));
    eddy_tensor x;
    eddy_dims   size;              /* height and width */
    bool        align_corners, half_pixel_centers;
    const char *name;
} eddy_resize_args;

/* The same, with a size given by a tensor. */
typedef struct eddy_resize_to_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_resize_to_args));
    eddy_tensor x, size;           /* size: two integers, height and width */
    bool        align_corners, half_pixel_centers;
    const char *name;
} eddy_resize_to_args;
#endif

const eddy_attr_field eddy__resize_fields[] =
    EDDY_FIELDS(eddy_resize_attrs, size, align_corners, half_pixel_centers);

/* Indexed by method. */
static const eddy_op_def *const ops[] = {
    &eddy_op_resize_nearest, &eddy_op_resize_bilinear, &eddy_op_resize_bicubic,
    &eddy_op_resize_area
};
static const eddy_op_def *const grad_ops[] = {
    &eddy_op_resize_nearest_grad, &eddy_op_resize_bilinear_grad, &eddy_op_resize_bicubic_grad,
    &eddy_op_resize_area_grad
};

const eddy_op_def *eddy__resize_op(eddy_resize_method m) { return ops[m]; }

/* ----------------------------------------------------------------- shapes -- */

/* Heights and widths are computed in float32, in which integers up to this one are exact. */
static const int64_t longest = (int64_t)1 << 24;

static bool is_side(eddy_infer *c, int64_t side)
{
    return (side >= 1 && side <= longest) ||
        eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "size has the entry %lld, which is not in "
                        "[1, 2^24]", (long long)side);
}

bool eddy__infer_image_size(eddy_infer *c, int i, eddy_dims *size)
{
    const eddy_type t = c->in[i];
    char text[256];
    if (!eddy__dtype_is_index(t.dtype) ||
        !eddy_shape_compatible(t.shape, EDDY_SHAPE(2)))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the size is %s; int32 or int64 of "
                               "shape [2] expected", eddy_type_print(t, text, sizeof text));
    *size = EDDY_DIMS(EDDY_ANY, EDDY_ANY);
    for (int k = 0; c->value[i] && k < 2; k++) {
        size->at[k] = eddy__array_integer(c->value[i], k);
        if (!is_side(c, size->at[k])) return false;
    }
    return true;
}

/* *size = that of the last input or of the attributes; unknown entries are open. */
static bool find_size(eddy_infer *c, eddy_dims *size)
{
    const eddy_resize_attrs *a = c->attrs;
    *size = a->size;
    if (c->n_in == c->op->max_inputs) return eddy__infer_image_size(c, c->n_in - 1, size);
    if (size->count != 2)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of size is %d; "
                               "expected 2, height and width", size->count > 0 ? size->count : 0);
    return is_side(c, size->at[0]) && is_side(c, size->at[1]);
}

static bool check_options(eddy_infer *c)
{
    const eddy_resize_attrs *a = c->attrs;
    if (a->half_pixel_centers && c->op->variant == EDDY_RESIZE_AREA)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "area resizing does not support half_pixel_centers");
    if (a->half_pixel_centers && a->align_corners)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "align_corners and half_pixel_centers must not both be set");
    return true;
}

bool eddy__infer_resize(eddy_infer *c, eddy_shape *x, eddy_shape *y)
{
    eddy_dims size;
    if (!find_size(c, &size) || !check_options(c)) return false;
    *x = c->in[0].shape;
    if (x->rank < 0) *x = eddy__shape_open(4);
    for (int i = 1; i < 3; i++)
        if (x->dim[i] == 0 || x->dim[i] > longest)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "images have a side of %lld, which is not "
                                   "in [1, 2^24]", (long long)x->dim[i]);
    *y = *x;
    y->dim[1] = size.at[0];
    y->dim[2] = size.at[1];
    return true;
}

static bool infer(eddy_infer *c)
{
    eddy_shape x, y;
    return eddy__infer_resize(c, &x, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

/* -------------------------------------------------------------- shared -- */

void eddy__resize_batch(eddy_batch *b)
{
    eddy_tensor in[3];
    const int   last = b->n_in - 1;
    const bool  sized = b->n_in == b->node->op->max_inputs;
    if (sized && b->batched[last]) return;          /* the sizes of examples may differ */
    for (int i = 0; i < b->n_in; i++)
        in[i] = sized && i == last ? b->x[i] : eddy__conv_as_images(b, i);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

/* Elements of the resized images; a gradient has them as input 1. */
static double made_of(int n_in, const eddy_type *in, const eddy_type *out)
{
    const bool back = n_in > 1 && in[1].shape.rank == 4;
    return (double)eddy_shape_count(back ? in[1].shape : out[0].shape);
}

/* Three linear interpolations. */
double eddy__resize_bilinear_flops(const void *attrs, int n_in, const eddy_type *in,
                                   const eddy_type *out)
{
    (void)attrs;
    return 9 * made_of(n_in, in, out);
}

/* Five sums of four terms. */
double eddy__resize_bicubic_flops(const void *attrs, int n_in, const eddy_type *in,
                                  const eddy_type *out)
{
    (void)attrs;
    return 35 * made_of(n_in, in, out);
}

double eddy__resize_area_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return 2 * (double)eddy_shape_count(in[0].shape);
}

static eddy_status prepare(eddy_kernel *k)
{
    return eddy__resample_prepare(k, k->in[0]->type.shape, false);
}

static eddy_status kernel(eddy_kernel *k) { return eddy__resample_run(k, 0); }

static void gradient(eddy_rule *r)
{
    const eddy_op_def *grad = grad_ops[r->node->op->variant];
    const eddy_tensor  in[] = { r->x[0], r->dy[0], r->n_in > 1 ? r->x[1] : r->dy[0] };
    r->dx[0] = eddy_apply(grad, r->attrs, r->n_in + 1, in, (eddy_apply_args){ 0 });
}

/* Images converted to floating point if op requires it. */
static eddy_tensor images_for(const eddy_op_def *op, eddy_tensor x)
{
    const eddy_dtype d = eddy_is_valid(x) ? eddy_dtype_of(x) : EDDY_FLOAT32;
    return eddy_dtype_is_integer(d) && op != ops[EDDY_RESIZE_NEAREST] ? Cast(x, EDDY_FLOAT32) : x;
}

static eddy_tensor resized(const eddy_op_def *op, const eddy_resize_args *given)
{
    const eddy_resize_args p = EDDY_TAKE(eddy_resize_args, given);
    const eddy_resize_attrs a = { p.size, p.align_corners, p.half_pixel_centers };
    const eddy_tensor x = images_for(op, p.x);
    return eddy__apply_named(p.name, op, &a, 1, &x);
}

static eddy_tensor resized_to(const eddy_op_def *op, const eddy_resize_to_args *given)
{
    const eddy_resize_to_args p = EDDY_TAKE(eddy_resize_to_args, given);
    const eddy_resize_attrs a = { .align_corners = p.align_corners,
                                  .half_pixel_centers = p.half_pixel_centers };
    return eddy__apply_named(p.name, op, &a, 2, (eddy_tensor[]){ images_for(op, p.x), p.size });
}

/* ---------------------------------------------------------------- nearest -- */

typedef struct nearest_work {
    int64_t        rows, from_rows, columns, from_columns;
    size_t         pixel;
    const int32_t *at[2];
    const char    *x;
    char          *y;
} nearest_work;

/* y = the pixels of a row of x; their size is constant where this is inlined. */
EDDY_INLINE void pick_nearest(const nearest_work *w, size_t size, const char *x, char *y)
{
    for (int64_t j = 0; j < w->columns; j++, y += size)
        memcpy(y, x + (size_t)w->at[1][j] * size, size);
}

/* Rows [from, to) of y, of all images; a row with the same source row as the previous is a copy. */
static void nearest_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const nearest_work *w = arg;
    const size_t row = (size_t)w->columns * w->pixel, x_row = (size_t)w->from_columns * w->pixel;
    (void)worker;
    for (int64_t r = from; r < to; r++) {
        const int64_t n = r / w->rows, i = r % w->rows;
        const char *x = w->x + (size_t)(n * w->from_rows + w->at[0][i]) * x_row;
        char *y = w->y + (size_t)r * row;
        if (r > from && i > 0 && w->at[0][i] == w->at[0][i - 1]) {
            memcpy(y, y - row, row);
            continue;
        }
        switch (w->pixel) {
        case 1:  pick_nearest(w, 1, x, y); break;
        case 3:  pick_nearest(w, 3, x, y); break;
        case 4:  pick_nearest(w, 4, x, y); break;
        case 8:  pick_nearest(w, 8, x, y); break;
        case 12: pick_nearest(w, 12, x, y); break;
        case 16: pick_nearest(w, 16, x, y); break;
        default: pick_nearest(w, w->pixel, x, y);
        }
    }
}

static eddy_status nearest_kernel(eddy_kernel *k)
{
    enum { GRAIN = 1 << 17 };
    if (k->out[0]->count == 0) return EDDY_OK;
    const eddy_resample *r = k->state;
    const eddy_terms *h = &r->axis[0], *v = &r->axis[1];
    nearest_work w = { h->n, h->read, v->n, v->read,
                       (size_t)r->channels * eddy_dtype_size(k->out[0]->type.dtype),
                       { h->at, v->at }, k->in[0]->data, k->out[0]->data };
    const int64_t row = (int64_t)w.pixel * w.columns;
    eddy__parallel_or_stop(k, r->batch * w.rows, GRAIN / (row + 1) + 1, nearest_rows, &w);
    return EDDY_OK;
}

const eddy_op_def eddy_op_resize_nearest = {
    .name = "ResizeNearestNeighbor", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .variant = EDDY_RESIZE_NEAREST,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS | EDDY_RANK(4) }, { "size", EDDY_ANY_TYPE }),
    .value_inputs = 1u << 1,
    .attrs_size = sizeof(eddy_resize_attrs), .attrs = eddy__resize_fields,
    .infer = infer, .prepare = prepare, .kernel = nearest_kernel, .gradient = gradient,
    .batch = eddy__resize_batch,
};

/** y = images resized by nearest-neighbor interpolation.
 *
 *  x                   float32, float64, int32, int64 or uint8 [batch, height, width, channels];
 *                      y has its type
 *  size                height and width of y
 *  align_corners       position i of y is at i (old - 1) / (new - 1) in x, rounded, so that the
 *                      corner pixels of both coincide; default: at i old / new, rounded down
 *  half_pixel_centers  pixels have their centers at half integers: position i of y is at
 *                      (i + 0.5) old / new, rounded down
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE unless x has rank 4 and is not empty;
 *  EDDY_INVALID_ARGUMENT for an invalid size, or both options at once.
 *  Gradient: dx = for each pixel the sum of dy over its copies.
 *  TensorFlow: ResizeNearestNeighbor (tf.image.resize_nearest_neighbor). */
eddy_tensor eddy_resize_nearest_neighbor_with(const eddy_resize_args *given)
{
    return resized(&eddy_op_resize_nearest, given);
}

/** y = images resized by nearest-neighbor interpolation, to a size given by a tensor.
 *
 *  x                                  as for eddy_resize_nearest_neighbor
 *  size                               int32 or int64 [2], height and width of y, each in
 *                                     [1, 2^24]
 *  align_corners, half_pixel_centers  as for eddy_resize_nearest_neighbor
 *
 *  The size is known while building if it is a constant; otherwise a run computes it first.
 *  Errors: those of eddy_resize_nearest_neighbor; the size is checked while building or at run
 *  time.
 *  Gradient: as for eddy_resize_nearest_neighbor; the size has none.
 *  TensorFlow: ResizeNearestNeighbor (tf.image.resize_nearest_neighbor). */
eddy_tensor eddy_resize_nearest_neighbor_to_with(const eddy_resize_to_args *given)
{
    return resized_to(&eddy_op_resize_nearest, given);
}

/* --------------------------------------------------------------- bilinear -- */

const eddy_op_def eddy_op_resize_bilinear = {
    .name = "ResizeBilinear", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .variant = EDDY_RESIZE_BILINEAR,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "size", EDDY_ANY_TYPE }),
    .value_inputs = 1u << 1,
    .attrs_size = sizeof(eddy_resize_attrs), .attrs = eddy__resize_fields,
    .infer = infer, .prepare = prepare, .kernel = kernel, .gradient = gradient,
    .batch = eddy__resize_batch, .flops = eddy__resize_bilinear_flops,
};

/** y = images resized by bilinear interpolation between the four nearest pixels of x.
 *
 *  x                   float32 or float64 [batch, height, width, channels], y has its type;
 *                      or int32, int64 or uint8, for which y is float32
 *  size                height and width of y
 *  align_corners       position i of y is at i (old - 1) / (new - 1) in x; default: at i old / new
 *  half_pixel_centers  at (i + 0.5) old / new - 0.5, like PyTorch's interpolate without
 *                      align_corners
 *
 *  Images are not smoothed before they are made smaller: use eddy_resize_area for that.
 *  Errors: those of eddy_resize_nearest_neighbor.
 *  Gradient: dx = the transposed matrices applied to dy.
 *  TensorFlow: ResizeBilinear (tf.image.resize_bilinear), which converts float64 to float32. */
eddy_tensor eddy_resize_bilinear_with(const eddy_resize_args *given)
{
    return resized(&eddy_op_resize_bilinear, given);
}

/** y = images resized by bilinear interpolation between the four nearest pixels of x, to a size
 *  given by a tensor.
 *
 *  x, align_corners, half_pixel_centers  as for eddy_resize_bilinear
 *  size                                  as for eddy_resize_nearest_neighbor_to
 *
 *  eddy_resize_bilinear_to(x, eddy_index(eddy_shape_tensor(like, EDDY_INT32), "1:3")) resizes x
 *  to the size of other images.
 *  Errors and gradient: those of eddy_resize_bilinear; the size is checked while building or at
 *  run time.
 *  TensorFlow: ResizeBilinear (tf.image.resize_bilinear). */
eddy_tensor eddy_resize_bilinear_to_with(const eddy_resize_to_args *given)
{
    return resized_to(&eddy_op_resize_bilinear, given);
}

/* ---------------------------------------------------------------- bicubic -- */

const eddy_op_def eddy_op_resize_bicubic = {
    .name = "ResizeBicubic", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .variant = EDDY_RESIZE_BICUBIC,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "size", EDDY_ANY_TYPE }),
    .value_inputs = 1u << 1,
    .attrs_size = sizeof(eddy_resize_attrs), .attrs = eddy__resize_fields,
    .infer = infer, .prepare = prepare, .kernel = kernel, .gradient = gradient,
    .batch = eddy__resize_batch, .flops = eddy__resize_bicubic_flops,
};

/** y = images resized by bicubic interpolation between the sixteen nearest pixels of x.
 *
 *  x, size, align_corners, half_pixel_centers  as for eddy_resize_bilinear
 *
 *  The cubic has the coefficient -0.75, and the edge is repeated outside; with half_pixel_centers
 *  the coefficient is -0.5, and pixels outside have no weight.  Weights are tabulated in 1024
 *  steps from pixel to pixel, as in TensorFlow.
 *  Errors: those of eddy_resize_nearest_neighbor.
 *  Gradient: dx = the transposed matrices applied to dy.
 *  TensorFlow: ResizeBicubic (tf.image.resize_bicubic). */
eddy_tensor eddy_resize_bicubic_with(const eddy_resize_args *given)
{
    return resized(&eddy_op_resize_bicubic, given);
}

/** y = images resized by bicubic interpolation between the sixteen nearest pixels of x, to a
 *  size given by a tensor.
 *
 *  x, align_corners, half_pixel_centers  as for eddy_resize_bicubic
 *  size                                  as for eddy_resize_nearest_neighbor_to
 *
 *  Errors and gradient: those of eddy_resize_bicubic; the size is checked while building or at
 *  run time.
 *  TensorFlow: ResizeBicubic (tf.image.resize_bicubic). */
eddy_tensor eddy_resize_bicubic_to_with(const eddy_resize_to_args *given)
{
    return resized_to(&eddy_op_resize_bicubic, given);
}

/* ------------------------------------------------------------------- area -- */

const eddy_op_def eddy_op_resize_area = {
    .name = "ResizeArea", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .variant = EDDY_RESIZE_AREA,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) }, { "size", EDDY_ANY_TYPE }),
    .value_inputs = 1u << 1,
    .attrs_size = sizeof(eddy_resize_attrs), .attrs = eddy__resize_fields,
    .infer = infer, .prepare = prepare, .kernel = kernel, .gradient = gradient,
    .batch = eddy__resize_batch, .flops = eddy__resize_area_flops,
};

/** y = resized images, where each pixel is the mean over the rectangle of x that it covers.
 *
 *  x, size        as for eddy_resize_bilinear
 *  align_corners  rectangles begin at i (old - 1) / (new - 1), and their size is the ratio
 *                 (old - 1) / (new - 1); default: old / new
 *
 *  Pixels that a rectangle covers partially are weighted by the fraction covered.
 *  Errors: those of eddy_resize_nearest_neighbor; EDDY_INVALID_ARGUMENT for half_pixel_centers.
 *  Gradient: dx = the transposed matrices applied to dy; TensorFlow has no gradient.
 *  TensorFlow: ResizeArea (tf.image.resize_area); for integer ratios it equals PyTorch's adaptive
 *  average pooling. */
eddy_tensor eddy_resize_area_with(const eddy_resize_args *given)
{
    return resized(&eddy_op_resize_area, given);
}

/** y = images resized to a size given by a tensor, where each pixel is the mean over the rectangle
 *  of x that it covers.
 *
 *  x, align_corners  as for eddy_resize_area
 *  size              as for eddy_resize_nearest_neighbor_to
 *
 *  Errors and gradient: those of eddy_resize_area; the size is checked while building or at run
 *  time.
 *  TensorFlow: ResizeArea (tf.image.resize_area). */
eddy_tensor eddy_resize_area_to_with(const eddy_resize_to_args *given)
{
    return resized_to(&eddy_op_resize_area, given);
}
