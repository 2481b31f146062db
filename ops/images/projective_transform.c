/* projective_transform.c -- projective transforms of images.
 *
 * A transform maps each pixel of y to a point in x, which is rounded to a pixel (nearest) or lies
 * between four (bilinear). The part that is linear in x has a transpose with the same positions and
 * weights, so that two operations suffice for gradients of any order. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

#include <math.h>
#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_image_transform_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_image_transform_args));
    eddy_tensor x;
    eddy_tensor by;                /* [n,8] transforms; [n] angles; [n,2] shifts */
    const char *interpolation;     /* "NEAREST" (default) or "BILINEAR" */
    const char *fill_mode;         /* "CONSTANT" (default), "REFLECT", "WRAP", "NEAREST" */
    double      fill_value;
    eddy_dims   size;              /* height and width of y; default: those of x */
    const char *name;
} eddy_image_transform_args;
#endif

typedef struct transform_attrs {
    const char *interpolation, *fill_mode;
    double      fill_value;
    eddy_dims   size;
} transform_attrs;

static const eddy_attr_field transform_fields[] =
    EDDY_FIELDS(transform_attrs, interpolation, fill_mode, fill_value, size);

/* ----------------------------------------------------------------- shapes -- */

typedef enum fill_mode { CONSTANT, REFLECT, WRAP, NEAREST, MODES } fill_mode;

static fill_mode mode_of(const char *text)
{
    static const char *const names[MODES] = { "CONSTANT", "REFLECT", "WRAP", "NEAREST" };
    int i = 0;
    while (i < MODES && !(text && strcmp(text, names[i]) == 0)) i++;
    return (fill_mode)i;
}

static bool is_bilinear(const transform_attrs *a)
{
    return strcmp(a->interpolation, "BILINEAR") == 0;
}

static bool check_attrs(eddy_infer *c)
{
    const transform_attrs *a = c->attrs;
    if (!a->interpolation || (!is_bilinear(a) && strcmp(a->interpolation, "NEAREST") != 0))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "interpolation is '%.40s'; it must be "
                               "NEAREST or BILINEAR", a->interpolation ? a->interpolation : "");
    if (mode_of(a->fill_mode) == MODES)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "fill_mode is '%.40s'; it must be "
                               "CONSTANT, REFLECT, WRAP or NEAREST",
                               a->fill_mode ? a->fill_mode : "");
    if (!eddy__dtype_holds(c->in[0].dtype, trunc(a->fill_value)))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "fill_value is %g, which is not a value of %s", a->fill_value,
                               eddy_dtype_name(c->in[0].dtype));
    if (a->size.count <= 0) return true;
    for (int i = 0; i < 2; i++)
        if (a->size.count != 2 || a->size.at[i] < 1 || a->size.at[i] > INT32_MAX)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "size must be a height and a width that are positive and fit in "
                                   "int32");
    return true;
}

/* *x = the shape of the images, input i, and *y that of the result of the transforms, input 1, as
 * far as they are known. */
static bool check_shapes(eddy_infer *c, int i, eddy_shape *x, eddy_shape *y)
{
    const transform_attrs *a = c->attrs;
    const eddy_shape       maps = c->in[1].shape;
    char text[2][128];
    *x = c->in[i].shape;
    if (x->rank < 0) *x = eddy__shape_open(4);
    int64_t n = x->dim[0];
    if (x->rank != 4 || !eddy_shape_compatible(maps, EDDY_SHAPE(EDDY_ANY, 8)) ||
        (maps.rank == 2 && maps.dim[0] != 1 && !eddy__dim_unify(&n, maps.dim[0])))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "images have shape %s and transforms %s; rank 4 "
                               "and [1,8] or [batch,8] expected",
                               eddy_shape_print(c->in[i].shape, text[0], sizeof text[0]),
                               eddy_shape_print(maps, text[1], sizeof text[1]));
    *y = *x;
    for (int d = 0; d < 2 && a->size.count > 0; d++) y->dim[1 + d] = a->size.at[d];
    return true;
}

/* ------------------------------------------------------------------ loops -- */

typedef struct transform_work {
    int64_t      batch, in[2], out[2], c;
    bool         bilinear, each;         /* each image has its own transform */
    fill_mode    mode;
    double       fill;
    const float *maps;
    const void  *from;
    void        *to;
} transform_work;

/* Pixels of x, row by row, -1 for the fill value; and the weights of their rows and columns. */
typedef struct sample_point {
    int64_t at[4];
    float   rows[2], columns[2];
} sample_point;

/* Maps a position back into an axis of n pixels, like TensorFlow's MapCoordinate. */
static float mapped(fill_mode mode, float at, float n)
{
    const float most = n - 1, twice = 2 * n;
    if (mode == CONSTANT) return at;
    if (mode != NEAREST && n <= 1 && (at < 0 || at > most)) return 0;
    if (mode == REFLECT && at < 0) {
        at += twice * truncf(-at / twice);
        at = at < -n ? at + twice : -at - 1;
    } else if (mode == REFLECT && at > most) {
        at -= twice * truncf(at / twice);
        if (at >= n) at = twice - at - 1;
    } else if (mode == WRAP && at < 0) {
        at += n * (truncf(-at / most) + 1);
    } else if (mode == WRAP && at > most) {
        at -= n * truncf(at / most);
    }
    return at < 0 ? 0 : at > most ? most : at;          /* NaN stays NaN */
}

/* The position in x of pixel [i, j] of image b of y. */
static sample_point sample_point_at(const transform_work *v, int64_t b, int64_t i, int64_t j)
{
    sample_point l = { .at = { -1, -1, -1, -1 }, .rows = { 1, 0 }, .columns = { 1, 0 } };
    const float *m = v->maps + (v->each ? 8 * b : 0), row = (float)i, column = (float)j;
    const float  depth = m[6] * column + m[7] * row + 1;
    const float  h = (float)v->in[0], w = (float)v->in[1];
    const float  x = mapped(v->mode, (m[0] * column + m[1] * row + m[2]) / depth, w);
    const float  y = mapped(v->mode, (m[3] * column + m[4] * row + m[5]) / depth, h);
    if (depth == 0 || !(x > -1 && x < w && y > -1 && y < h)) return l;
    const float left = v->bilinear ? floorf(x) : roundf(x);
    const float top = v->bilinear ? floorf(y) : roundf(y);
    for (int k = 0; k < (v->bilinear ? 4 : 1); k++) {
        const int64_t r = (int64_t)top + k / 2, s = (int64_t)left + k % 2;
        if (r >= 0 && r < v->in[0] && s >= 0 && s < v->in[1]) l.at[k] = r * v->in[1] + s;
    }
    if (!v->bilinear) return l;
    l.rows[0] = top + 1 - y, l.rows[1] = y - top;
    l.columns[0] = left + 1 - x, l.columns[1] = x - left;
    return l;
}

#define TEMPLATE "ops/kernels/images/projective_transform_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

static transform_work work_of(const eddy_kernel *k, eddy_shape x, eddy_shape y)
{
    const transform_attrs *a = k->attrs;
    return (transform_work){
        .batch = x.dim[0], .in = { x.dim[1], x.dim[2] }, .out = { y.dim[1], y.dim[2] },
        .c = x.dim[3], .bilinear = is_bilinear(a), .each = k->in[1]->type.shape.dim[0] != 1,
        .mode = mode_of(a->fill_mode), .fill = a->fill_value, .maps = k->in[1]->data,
        .from = k->in[0]->data, .to = k->out[0]->data,
    };
}

/* ------------------------------------------------------------ definitions -- */

static bool transform_infer(eddy_infer *c)
{
    eddy_shape x, y;
    return check_attrs(c) && check_shapes(c, 0, &x, &y) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status transform_kernel(eddy_kernel *k)
{
    enum { GRAIN = 8192 };
    transform_work v = work_of(k, k->in[0]->type.shape, k->out[0]->type.shape);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, v.batch * v.out[0], GRAIN / (v.out[1] * (v.c + 4)) + 1,
                           EDDY_FOR_TYPE(seen, FOR_NUMBERS, k->out[0]->type.dtype), &v);
    return EDDY_OK;
}

static void transform_gradient(eddy_rule *r)
{
    r->dx[0] = eddy__apply3(&eddy_op_image_transform_grad, r->attrs, r->dy[0], r->x[1], r->x[0]);
}

/* Merges the examples and the images of each into one axis, and separates them again. */
static void transform_batch(eddy_batch *b)
{
    const eddy_shape maps = eddy_shape_of(b->node->inputs[1]);
    const bool       shared = maps.rank == 2 && maps.dim[0] == 1;
    if (maps.rank != 2 || maps.dim[0] < 0 || (shared && b->batched[1])) return;
    eddy_tensor in[3] = { eddy_batch_input(b, 0), shared ? b->x[1] : eddy_batch_input(b, 1) };
    const eddy_tensor both = Sum(in[0], .axes = EDDY_AXES(2, 3, 4));    /* only its shape is used */
    in[0] = eddy_merge_leading(in[0], both);
    if (!shared) in[1] = eddy_merge_leading(in[1], Sum(in[1], .axes = EDDY_AXES(2)));
    if (b->n_in == 3) {
        const eddy_tensor x = b->batched[2] ? b->x[2] : eddy_batch_like(b->x[2], b->examples);
        in[2] = eddy_merge_leading(x, both);
    }
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_unflatten_like(y, both, 0, 0);
}

const eddy_op_def eddy_op_image_transform = {
    .name = "ImageProjectiveTransformV3", .label = "ImageTransform",
    .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS }, { "by", EDDY_TYPE(EDDY_FLOAT32) }),
    .attrs_size = sizeof(transform_attrs), .attrs = transform_fields,
    .flops = eddy_flops_per_output, .infer = transform_infer, .kernel = transform_kernel,
    .gradient = transform_gradient, .batch = transform_batch,
};

/** y = the images x under projective transforms: y[b, i, j, c] = x[b, v, u, c] with
 *
 *    u = (t0 j + t1 i + t2) / (t6 j + t7 i + 1),  v = (t3 j + t4 i + t5) / (t6 j + t7 i + 1)
 *
 *  x              float32, float64, int32, int64 or uint8 [batch, height, width, channels];
 *                 y has its type
 *  by             float32 [batch, 8], t0 to t7 of each image, or [1, 8] for all
 *  interpolation  "NEAREST" (default): the pixel at the rounded position; "BILINEAR": the weighted
 *                 mean of the four nearest pixels, truncated for integers
 *  fill_mode      values outside x: "CONSTANT" (default), fill_value; "REFLECT", dcba|abcd|dcba;
 *                 "WRAP", abcd|abcd|abcd, exact up to one side length minus one pixel outside, as
 *                 in TensorFlow; "NEAREST", aaaa|abcd|dddd
 *  fill_value     also used if the divisor is 0 or a position is not finite; default: 0
 *  size           height and width of y; default: those of x
 *
 *  Positions are computed in float32, as in TensorFlow.  BILINEAR interpolates with fill_value
 *  less than a pixel outside x.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for other shapes;
 *  EDDY_INVALID_ARGUMENT for invalid options, or a fill_value that x cannot represent.
 *  Gradient: dx = dy scattered to the source pixels, times their weights; `by` has none.
 *  TensorFlow: ImageProjectiveTransformV3, whose gradient applies the inverse transform, which is
 *  only an approximation; here it is the derivative. */
eddy_tensor eddy_image_transform_with(const eddy_image_transform_args *given)
{
    eddy_image_transform_args a = EDDY_TAKE(eddy_image_transform_args, given);
    const transform_attrs t = {
        .interpolation = a.interpolation ? a.interpolation : "NEAREST",
        .fill_mode = a.fill_mode ? a.fill_mode : "CONSTANT",
        .fill_value = a.fill_value, .size = a.size,
    };
    if (eddy_refuse_number(a.x.graph, "image_transform", "size", a.size))
        return eddy_none(a.x.graph);
    return eddy__apply_named(a.name, &eddy_op_image_transform, &t, 2, (eddy_tensor[]){ a.x, a.by });
}

/* Inputs: dy, the transforms and x, of which only the shape is used. */
static bool transform_grad_infer(eddy_infer *c)
{
    eddy_shape x, y;
    return check_attrs(c) && check_shapes(c, 2, &x, &y) &&
           eddy__expect_shape(c, 0, "dy", y) && eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status transform_grad_kernel(eddy_kernel *k)
{
    transform_work v = work_of(k, k->out[0]->type.shape, k->in[0]->type.shape);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, v.batch, 1, EDDY_FOR_TYPE(back, FOR_FLOATS, k->out[0]->type.dtype),
                           &v);
    return EDDY_OK;
}

/* Linear in dy. */
static void transform_grad_gradient(eddy_rule *r)
{
    transform_attrs   a = *(const transform_attrs *)r->attrs;
    const eddy_tensor in[] = { r->dy[0], r->x[1] };
    a.fill_value = 0;
    r->dx[0] = eddy_apply(&eddy_op_image_transform, &a, 2, in, (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_image_transform_grad = {
    .name = "ImageProjectiveTransformGrad", .label = "ImageTransformGrad",
    .min_inputs = 3, .max_inputs = 3, .outputs = 1, .shape_inputs = 1u << 2,
    .inputs = EDDY_INPUTS({ "dy", EDDY_TAKES_FLOATS }, { "by", EDDY_TYPE(EDDY_FLOAT32) },
                          { "x", EDDY_ANY_TYPE }),
    .attrs_size = sizeof(transform_attrs), .attrs = transform_fields,
    .flops = eddy_flops_per_input, .infer = transform_grad_infer, .kernel = transform_grad_kernel,
    .gradient = transform_grad_gradient, .batch = transform_batch,
};
