/* crop_and_resize.c -- crop_and_resize: boxes cut out of images and resized to one size.
 *
 * Two operations, one the transpose of the other, suffice for gradients of any order. Each can
 * compute the slope between two rows, or two columns, instead of the interpolated value, and the
 * derivative with respect to the edges of a box is the sum of dy times that slope. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "graph/base/cpu.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "ops/kernels/images/resize.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_crop_and_resize_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_crop_and_resize_args));
    eddy_tensor image, boxes, box_ind;
    eddy_dims   crop_size;         /* height and width */
    const char *method;            /* "bilinear" (default), "nearest" */
    double      extrapolation_value;
    const char *name;
} eddy_crop_and_resize_args;

/* The same, with a size given by a tensor. */
typedef struct eddy_crop_and_resize_to_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_crop_and_resize_to_args));
    eddy_tensor image, boxes, box_ind, crop_size;    /* crop_size: two integers */
    const char *method;            /* "bilinear" (default), "nearest" */
    double      extrapolation_value;
    const char *name;
} eddy_crop_and_resize_to_args;
#endif

/* If the attributes have no size, it is the last input. */
typedef struct crop_attrs {
    eddy_dims   crop_size;
    const char *method;
    double      extrapolation_value;
    bool        slope_y, slope_x;
} crop_attrs;

static const eddy_attr_field crop_fields[] =
    EDDY_FIELDS(crop_attrs, crop_size, method, extrapolation_value, slope_y, slope_x);

static bool is_nearest(const crop_attrs *a) { return strcmp(a->method, "nearest") == 0; }

/* ----------------------------------------------------------------- shapes -- */

static bool is_sized(const eddy_op_def *op, int n_in) { return n_in == op->max_inputs; }

/* *size = height and width of the crops, as far as they are known. */
static bool check_attrs(eddy_infer *c, eddy_dims *size)
{
    const crop_attrs *a = c->attrs;
    const int64_t     most = (int64_t)1 << 24;
    *size = a->crop_size;
    if (!a->method || (!is_nearest(a) && strcmp(a->method, "bilinear") != 0))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "method is '%.40s'; it must be bilinear "
                               "or nearest", a->method ? a->method : "");
    if (is_sized(c->op, c->n_in)) return eddy__infer_image_size(c, c->n_in - 1, size);
    if (a->crop_size.count != 2 || a->crop_size.at[0] < 1 || a->crop_size.at[0] > most ||
        a->crop_size.at[1] < 1 || a->crop_size.at[1] > most)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "crop_size must be a height and a width "
                               "in [1, 2^24]");
    return true;
}

/* Checks input `boxes` and the image indices after it; *n = the number of boxes. */
static bool check_boxes(eddy_infer *c, int boxes, int64_t *n)
{
    const eddy_shape s = c->in[boxes].shape, owner = c->in[boxes + 1].shape;
    const eddy_shape want = EDDY_SHAPE(EDDY_ANY, 4);
    char text[2][128];
    *n = s.rank == 2 ? s.dim[0] : EDDY_ANY;
    if (eddy_shape_compatible(s, want) && eddy_shape_compatible(owner, EDDY_SHAPE(EDDY_ANY)) &&
        (owner.rank < 0 || eddy__dim_unify(n, owner.dim[0])))
        return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "boxes have shape %s and box_ind %s; [n,4] and [n] "
                           "expected", eddy_shape_print(s, text[0], sizeof text[0]),
                           eddy_shape_print(owner, text[1], sizeof text[1]));
}

/* *image = the shape of input 0, as far as it is known. */
static bool check_image(eddy_infer *c, eddy_shape *image)
{
    char text[128];
    *image = c->in[0].shape;
    if (image->rank < 0) *image = eddy__shape_open(4);
    if (image->rank == 4 && image->dim[1] != 0 && image->dim[2] != 0) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the image has shape %s; rank 4 and positive "
                           "height and width expected",
                           eddy_shape_print(*image, text, sizeof text));
}

/* The shape of n crops of these images. */
static eddy_shape crops_of(eddy_dims size, int64_t n, eddy_shape image)
{
    return EDDY_SHAPE(n, size.at[0], size.at[1], image.dim[3]);
}

/* ------------------------------------------------------------------ loops -- */

typedef struct crop_work {
    int64_t            n, in[2], out[2], c;
    bool               nearest, slope[2];
    double             outside;
    const eddy_buffer *owner;            /* the image of each box */
    const void        *image, *boxes, *dy;
    void              *y;
} crop_work;

#define PIECE (const crop_work *w, int64_t from, int64_t to)
#define TEMPLATE "ops/kernels/images/crop_and_resize_loops.h"
#include "ops/kernels/for_floats.h"

typedef void crop_loop(const crop_work *w, int64_t from, int64_t to);

typedef struct crop_run {
    const crop_work *work;
    crop_loop       *loop;
} crop_run;

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const crop_run *r = arg;
    (void)worker;
    r->loop(r->work, from, to);
}

/* For images and crops of these shapes; the boxes are input `boxes`. */
static crop_work work_of(const eddy_kernel *k, eddy_shape image, eddy_shape crops, int boxes)
{
    const crop_attrs *a = k->attrs;
    return (crop_work){
        .n = k->in[boxes]->type.shape.dim[0], .in = { image.dim[1], image.dim[2] },
        .out = { crops.dim[1], crops.dim[2] }, .c = image.dim[3], .nearest = is_nearest(a),
        .slope = { a->slope_y, a->slope_x }, .outside = a->extrapolation_value,
        .owner = k->in[boxes + 1], .boxes = k->in[boxes]->data, .y = k->out[0]->data,
    };
}

/* -------------------------------------------------------------- shared -- */

/* Boxes, the indices of their images and, if it is a tensor, the size. */
typedef struct places {
    const eddy_tensor *at;
    int                n;
} places;

/* Applies the op to one tensor or two, followed by these. */
static eddy_tensor apply(const eddy_op_def *op, const crop_attrs *a, eddy_list x, places p)
{
    eddy_tensor in[5];
    memcpy(in, x.at, (size_t)x.count * sizeof *in);
    memcpy(in + x.count, p.at, (size_t)p.n * sizeof *in);
    return eddy_apply(op, a, x.count + p.n, in, (eddy_apply_args){ 0 });
}

/* The weight of the last position of an axis in each position of the crops: 0 to 1; 0.5 if there
 * is only one. */
static eddy_tensor shares(const crop_attrs *a, int axis, eddy_tensor dy, bool sized)
{
    if (!sized) {
        const double from = a->crop_size.at[axis] == 1 ? 0.5 : 0;
        return eddy_linspace(NumberLike(from, dy), NumberLike(1, dy), a->crop_size.at[axis]);
    }
    const eddy_tensor n = eddy_size_along(dy, 1 + axis), zero = NumberLike(0, n);
    const eddy_tensor i = CastLike(eddy_range(zero, n, NumberLike(1, n)), dy);
    return Where(Equal(n, 1), 0.5, Div(i, CastLike(Maximum(Sub(n, 1), 1), dy)));
}

/* The gradient with respect to the first and the last position of an axis, [n, 2]: the sums of dy
 * times the slope along the axis, weighted by the weight of either edge at each position. */
static eddy_tensor edges(const crop_attrs *a, int axis, eddy_tensor image, eddy_tensor dy,
                         places p)
{
    crop_attrs slope = *a;
    (axis == 0 ? &slope.slope_y : &slope.slope_x)[0] = true;
    slope.extrapolation_value = 0;
    const eddy_tensor crops = apply(&eddy_op_crop_and_resize, &slope, EDDY_LIST(image), p);
    const eddy_tensor each = Sum(Mul(dy, crops), .axes = EDDY_AXES(2 - axis, 3));
    const eddy_tensor t = shares(a, axis, dy, p.n > 2);
    const eddy_tensor parts = eddy_stack(EDDY_LIST(Sub(1, t), t), 1);
    const eddy_tensor last = Sub(CastLike(eddy_size_along(image, 1 + axis), dy), 1);
    return Mul(MatMul(each, parts), last);
}

/* The gradient of the boxes for dy times crops of `image`; invalid if there is none. */
static eddy_tensor boxes_gradient(const crop_attrs *a, eddy_tensor image, eddy_tensor dy,
                                  places p)
{
    eddy_tensor y = EDDY_NO_TENSOR, x = EDDY_NO_TENSOR;
    if (is_nearest(a) || (a->slope_y && a->slope_x)) return y;
    if (!a->slope_y) y = edges(a, 0, image, dy, p);
    if (!a->slope_x) x = edges(a, 1, image, dy, p);
    if (a->slope_y) y = ZerosLike(x);
    if (a->slope_x) x = ZerosLike(y);
    return ReshapeLike(eddy_stack(EDDY_LIST(y, x), 2), p.at[0]);
}

/* The indices of the images among those of all examples, [examples, n]. */
static eddy_tensor owners(const eddy_batch *b, int i)
{
    const eddy_tensor own = eddy_batch_input(b, i);
    const eddy_tensor images = CastLike(eddy_size_along(b->node->inputs[0], 0), own);
    const eddy_tensor before = Mul(CastLike(eddy_row_numbers(own, EDDY_INT32), own), images);
    return Add(own, ExpandDims(before, 1));
}

/* Examples become additional images and boxes. */
static void crop_batch(eddy_batch *b)
{
    eddy_tensor in[5];
    const bool sized = is_sized(b->node->op, b->n_in);
    const int  size = b->n_in - sized, last = size - 1;
    if (sized && b->batched[size]) return;          /* the sizes of examples may differ */
    const eddy_tensor owner = owners(b, last);
    in[0] = eddy__conv_as_images(b, 0);
    for (int i = 1; i < last; i++) in[i] = eddy_merge_leading(eddy_batch_input(b, i), owner);
    in[last] = eddy_merge_leading(owner, owner);
    if (sized) in[size] = b->x[size];
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

/* Three linear interpolations for each element of the crops; a gradient has them as input 1. */
static double crop_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const bool back = in[1].shape.rank == 4;
    (void)n_in;
    if (is_nearest(attrs)) return 0;
    return 9 * (double)eddy_shape_count(back ? in[1].shape : out[0].shape);
}

/* -------------------------------------------------------- crop_and_resize -- */

static bool crop_infer(eddy_infer *c)
{
    eddy_shape image;
    eddy_dims  size;
    int64_t    n;
    return check_image(c, &image) && check_attrs(c, &size) && check_boxes(c, 1, &n) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, crops_of(size, n, image));
}

static eddy_status crop_kernel(eddy_kernel *k)
{
    enum { GRAIN = 16384 };
    const eddy_shape image = k->in[0]->type.shape;
    crop_work w = work_of(k, image, k->out[0]->type.shape, 1);
    crop_run  run = { &w, EDDY_BEST_FOR_TYPE(crop, FOR_FLOATS, k->out[0]->type.dtype) };
    const eddy_status s = eddy__check_indices(k, k->in[2], image.dim[0], false);
    if (s != EDDY_OK || k->out[0]->count == 0) return s;
    w.image = k->in[0]->data;
    eddy__parallel_or_stop(k, w.n * w.out[0], GRAIN / (w.out[1] * w.c + 1) + 1, run_piece, &run);
    return EDDY_OK;
}

static void crop_gradient(eddy_rule *r)
{
    const places p = { r->x + 1, r->n_in - 1 };
    r->dx[0] = apply(&eddy_op_crop_and_resize_grad_image, r->attrs, EDDY_LIST(r->x[0], r->dy[0]),
                     p);
    r->dx[1] = boxes_gradient(r->attrs, r->x[0], r->dy[0], p);
}

const eddy_op_def eddy_op_crop_and_resize = {
    .name = "CropAndResize", .min_inputs = 3, .max_inputs = 4, .outputs = 1,
    .inputs = EDDY_INPUTS({ "image", EDDY_TAKES_FLOATS }, { "boxes", EDDY_LIKE(0) },
                          { "box_ind", EDDY_TAKES_INDICES }, { "crop_size", EDDY_ANY_TYPE }),
    .value_inputs = 1u << 3,
    .attrs_size = sizeof(crop_attrs), .attrs = crop_fields,
    .infer = crop_infer, .kernel = crop_kernel, .gradient = crop_gradient,
    .batch = crop_batch, .flops = crop_flops,
};

static eddy_tensor floating(eddy_tensor image)
{
    const eddy_dtype d = eddy_is_valid(image) ? eddy_dtype_of(image) : EDDY_FLOAT32;
    return eddy_dtype_is_integer(d) ? Cast(image, EDDY_FLOAT32) : image;
}

/** y[i] = the region of image box_ind[i] given by boxes[i], resized to `crop_size`.
 *
 *  image                float32 or float64 [batch, height, width, channels], y has its type; or
 *                       int32, int64 or uint8, for which y is float32
 *  boxes                the type of y, [n, 4]: y1, x1, y2, x2, where 0 is the first row or
 *                       column and 1 the last; if y1 > y2, the region is flipped vertically
 *  box_ind              int32 or int64 [n], in [0, batch)
 *  crop_size            height and width of y, [n, height, width, channels]: positions evenly
 *                       spaced between the edges, inclusive; a single one lies in the middle
 *  method               "bilinear" (default): interpolation between the four nearest pixels; or
 *                       "nearest"
 *  extrapolation_value  for positions outside the image; default: 0
 *
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; EDDY_INVALID_ARGUMENT for an invalid size or
 *  method; at run time, EDDY_OUT_OF_RANGE for an image that does not exist.
 *  Gradient: that of the formula for image and boxes, to any order; with "nearest", boxes have
 *  none, whereas TensorFlow's is that of "bilinear".
 *  TensorFlow: CropAndResize (tf.image.crop_and_resize). */
eddy_tensor eddy_crop_and_resize_with(const eddy_crop_and_resize_args *given)
{
    eddy_crop_and_resize_args p = EDDY_TAKE(eddy_crop_and_resize_args, given);
    const crop_attrs a = { .crop_size = p.crop_size, .method = p.method ? p.method : "bilinear",
                           .extrapolation_value = p.extrapolation_value };
    return eddy__apply_named(p.name, &eddy_op_crop_and_resize, &a, 3,
                             (eddy_tensor[]){ floating(p.image), p.boxes, p.box_ind });
}

/** y[i] = the region of image box_ind[i] given by boxes[i], resized to a size given by a tensor.
 *
 *  image, boxes, box_ind, method, extrapolation_value  as for eddy_crop_and_resize
 *  crop_size  int32 or int64 [2], as for eddy_resize_nearest_neighbor_to
 *
 *  Errors and gradient: those of eddy_crop_and_resize; the size is checked while building or at
 *  run time.
 *  TensorFlow: CropAndResize (tf.image.crop_and_resize). */
eddy_tensor eddy_crop_and_resize_to_with(const eddy_crop_and_resize_to_args *given)
{
    eddy_crop_and_resize_to_args p = EDDY_TAKE(eddy_crop_and_resize_to_args, given);
    const crop_attrs a = { .method = p.method ? p.method : "bilinear",
                           .extrapolation_value = p.extrapolation_value };
    const eddy_tensor in[] = { floating(p.image), p.boxes, p.box_ind, p.crop_size };
    return eddy__apply_named(p.name, &eddy_op_crop_and_resize, &a, 4, in);
}

/* --------------------------------------------- crop_and_resize_grad_image -- */

/* Inputs: the images, of which only the shape is used, dy, boxes, the indices of the images and
 * optionally the size. */
static bool back_infer(eddy_infer *c)
{
    const eddy_shape dy = c->in[1].shape;
    eddy_shape image;
    eddy_dims  size;
    int64_t    n;
    char       text[2][128];
    if (!check_image(c, &image) || !check_attrs(c, &size) || !check_boxes(c, 2, &n)) return false;
    const eddy_shape want = crops_of(size, n, image);
    if (!eddy_shape_compatible(dy, want))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dy has shape %s; expected %s",
                               eddy_shape_print(dy, text[0], sizeof text[0]),
                               eddy_shape_print(want, text[1], sizeof text[1]));
    if (dy.rank == 4) eddy__dim_unify(&image.dim[3], dy.dim[3]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, image);
}

static eddy_status back_kernel(eddy_kernel *k)
{
    const eddy_shape image = k->out[0]->type.shape;
    crop_work w = work_of(k, image, k->in[1]->type.shape, 2);
    crop_run  run = { &w, EDDY_BEST_FOR_TYPE(crop_back, FOR_FLOATS, k->out[0]->type.dtype) };
    const eddy_status s = eddy__check_indices(k, k->in[3], image.dim[0], false);
    const int64_t rows = image.dim[0] * image.dim[1];
    if (s != EDDY_OK || k->out[0]->count == 0) return s;
    w.dy = k->in[1]->data;
    eddy__parallel_or_stop(k, rows, rows / 16 + 1, run_piece, &run);
    return EDDY_OK;
}

static void back_gradient(eddy_rule *r)
{
    crop_attrs a = *(const crop_attrs *)r->attrs;
    a.extrapolation_value = 0;
    const places p = { r->x + 2, r->n_in - 2 };
    r->dx[1] = apply(&eddy_op_crop_and_resize, &a, EDDY_LIST(r->dy[0]), p);
    r->dx[2] = boxes_gradient(&a, r->dy[0], r->x[1], p);
}

const eddy_op_def eddy_op_crop_and_resize_grad_image = {
    .name = "CropAndResizeGradImage", .min_inputs = 4, .max_inputs = 5, .outputs = 1,
    .inputs = EDDY_INPUTS({ "image", EDDY_TAKES_FLOATS }, { "dy", EDDY_LIKE(0) },
                          { "boxes", EDDY_LIKE(0) }, { "box_ind", EDDY_TAKES_INDICES },
                          { "crop_size", EDDY_ANY_TYPE }),
    .shape_inputs = 1u << 0, .value_inputs = 1u << 4,
    .attrs_size = sizeof(crop_attrs), .attrs = crop_fields,
    .infer = back_infer, .kernel = back_kernel, .gradient = back_gradient,
    .batch = crop_batch, .flops = crop_flops,
};
