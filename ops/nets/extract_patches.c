/* extract_patches.c -- extract_image_patches (im2col): the windows of images, each as a vector;
 * and its adjoint, which sums patches back into images. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/convolution/depthwise_conv.h"
#include "ops/nets/conv2d.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_extract_image_patches_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_extract_image_patches_args));
    eddy_tensor x;
    eddy_dims   ksizes;            /* of a window: height and width, or one for both */
    eddy_dims   strides;           /* likewise; default: 1 */
    eddy_dims   rates;             /* likewise; default: 1 */
    const char *padding;           /* "VALID" (default), "SAME" */
    const char *name;
} eddy_extract_image_patches_args;
#endif

typedef struct patches_attrs {
    eddy_conv_attrs conv;
    eddy_dims       ksizes;
} patches_attrs;

static const eddy_attr_field patches_fields[] = {
    { "ksizes", EDDY_ATTR_DIMS, offsetof(patches_attrs, ksizes) },
    { "strides", EDDY_ATTR_DIMS, offsetof(patches_attrs, conv.strides) },
    { "rates", EDDY_ATTR_DIMS, offsetof(patches_attrs, conv.dilations) },
    { "padding", EDDY_ATTR_STRING, offsetof(patches_attrs, conv.padding) },
    { "explicit_paddings", EDDY_ATTR_DIMS, offsetof(patches_attrs, conv.explicit_paddings) },
    { "data_format", EDDY_ATTR_STRING, offsetof(patches_attrs, conv.data_format) },
    { 0 },
};

/* ----------------------------------------------------------------- shapes -- */

/* *y = the shape of the patches of images x. */
static bool infer_patches(eddy_infer *c, eddy_shape x, eddy_shape *y)
{
    const patches_attrs *a = c->attrs;
    const int64_t *k = a->ksizes.at;
    if (a->ksizes.count != 4 || k[0] != 1 || k[3] != 1 || k[1] < 1 || k[2] < 1 ||
        k[1] > INT32_MAX || k[2] > INT32_MAX)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "ksizes must be a height and a width "
                               "that are positive and below 2^31, or one for both");
    if (a->conv.data_format && strcmp(a->conv.data_format, "NCHW") == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "only channels last is supported; transpose");
    if (!eddy__infer_conv(c, x, EDDY_SHAPE(k[1], k[2], EDDY_ANY, EDDY_ANY), y)) return false;
    if (x.rank < 0 || x.dim[3] == EDDY_ANY) return true;
    if (x.dim[3] > ((int64_t)1 << 48) / k[1] / k[2])
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a patch would have more than 2^48 elements");
    y->dim[3] = k[1] * k[2] * x.dim[3];
    return true;
}

static eddy_conv_size size_of(const patches_attrs *a, eddy_shape x)
{
    const int64_t *k = a->ksizes.at;
    return eddy__conv_size_of(&a->conv, x, EDDY_SHAPE(k[1], k[2], 1, x.dim[3]));
}

static void patches_batch(eddy_batch *b)
{
    eddy_tensor in[2];
    for (int i = 0; i < b->n_in; i++) in[i] = eddy__conv_as_images(b, i);
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    b->y[0] = eddy_reshape_like(y, eddy__batch_result_like(b));
}

/* --------------------------------------------------------------- patches -- */

typedef struct patches_work {
    eddy_conv_size s;
    eddy_taps      axis[2];
    size_t         size;               /* of an element */
    eddy_row_fn    add;
    const char    *from;
    char          *to;
} patches_work;

/* Row `row` of a window whose first column is `col`: elements of the image, or zeros. */
static void copy_row(const patches_work *w, const char *image, int64_t row, int64_t col, char *to)
{
    const eddy_conv_size *s = &w->s;
    const size_t  pixel = (size_t)s->in_c * w->size;
    const int64_t n = s->filter[1], in = s->in[1];
    if (row < 0 || row >= s->in[0]) {
        memset(to, 0, (size_t)n * pixel);
        return;
    }
    const char *from = image + (size_t)(row * in) * pixel;
    if (s->gap[1] == 1 && col >= 0 && col + n <= in) {
        memcpy(to, from + (size_t)col * pixel, (size_t)n * pixel);
        return;
    }
    for (int64_t t = 0; t < n; t++, to += pixel, col += s->gap[1]) {
        if (col >= 0 && col < in) memcpy(to, from + (size_t)col * pixel, pixel);
        else memset(to, 0, pixel);
    }
}

/* Rows [from, to) of patches, of all images. */
static void patch_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const patches_work   *w = arg;
    const eddy_conv_size *s = &w->s;
    const size_t part = (size_t)(s->filter[1] * s->in_c) * w->size;
    (void)worker;
    for (int64_t r = from; r < to; r++) {
        const int64_t image = r / s->out[0] * s->in[0] * s->in[1] * s->in_c;
        const int64_t row = r % s->out[0] * s->step[0] - s->before[0];
        char *y = w->to + (size_t)(r * s->out[1] * s->filter[0]) * part;
        for (int64_t j = 0; j < s->out[1]; j++)
            for (int64_t t = 0; t < s->filter[0]; t++, y += part)
                copy_row(w, w->from + (size_t)image * w->size, row + t * s->gap[0],
                         j * s->step[1] - s->before[1], y);
    }
}

static void run_rows(const eddy_kernel *k, patches_work *w, int64_t rows, int64_t count,
                     eddy_parallel_fn body)
{
    enum { GRAIN = 65536 };
    if (count > 0) eddy__parallel_or_stop(k, rows, GRAIN / (count / rows + 1) + 1, body, w);
}

static bool patches_infer(eddy_infer *c)
{
    eddy_shape y;
    return infer_patches(c, c->in[0].shape, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status patches_kernel(eddy_kernel *k)
{
    const eddy_type x = k->in[0]->type;
    patches_work    w = { .s = size_of(k->attrs, x.shape), .size = eddy_dtype_size(x.dtype),
                          .from = k->in[0]->data, .to = k->out[0]->data };
    run_rows(k, &w, w.s.batch * w.s.out[0], k->out[0]->count, patch_rows);
    return EDDY_OK;
}

static void patches_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply2(&eddy_op_patches_grad, r->attrs, r->x[0], r->dy[0]);
}

const eddy_op_def eddy_op_patches = {
    .name = "ExtractImagePatches", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .attrs_size = sizeof(patches_attrs), .attrs = patches_fields,
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK(4) }),
    .infer = patches_infer, .kernel = patches_kernel, .gradient = patches_gradient,
    .batch = patches_batch,
};

/** y[n, i, j, :] = the window of images x that begins at (i*stride, j*stride), as a vector
 *  ordered by row, column, channel.
 *
 *  x        float32 or float64 [batch, height, width, channels];
 *           y is [batch, out height, out width, window height * window width * channels]
 *  ksizes   size of a window: height and width, one for both, or four, where those of batch and
 *           channels are 1
 *  strides  distance between windows, likewise; default: 1
 *  rates    spacing between the elements of a window, likewise; default: 1
 *  padding  "VALID" (default): windows lie within the image; "SAME": one window per stride,
 *           with zeros around the image
 *
 *  A convolution is the matrix product of these patches and its filter (im2col).
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE unless x has rank 4 and a window fits,
 *  EDDY_INVALID_ARGUMENT for invalid options.
 *  Gradient: dx = for each element the sum of dy over the windows that contain it.
 *  TensorFlow: ExtractImagePatches (tf.image.extract_patches). */
eddy_tensor eddy_extract_image_patches_with(const eddy_extract_image_patches_args *given)
{
    eddy_extract_image_patches_args a = EDDY_TAKE(eddy_extract_image_patches_args, given);
    const eddy_dims none = { 0 };
    const patches_attrs attrs = {
        .conv = eddy__conv_attrs_of(a.strides, a.padding, none, a.rates, NULL),
        .ksizes = eddy__conv_attrs_of(a.ksizes, NULL, none, none, NULL).strides,
    };
    return eddy__apply_named(a.name, &eddy_op_patches, &attrs, 1, &a.x);
}

/* ----------------------------------------------------------- patches_grad -- */

/* Inputs: x, of which only the shape is used, and dy. */
static bool grad_infer(eddy_infer *c)
{
    const eddy_shape dy = c->in[1].shape;
    eddy_shape x = c->in[0].shape, y;
    char text[2][128];
    if (!infer_patches(c, x, &y)) return false;
    if (!eddy_shape_compatible(dy, y))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dy has shape %s; expected %s",
                               eddy_shape_print(dy, text[0], sizeof text[0]),
                               eddy_shape_print(y, text[1], sizeof text[1]));
    if (x.rank < 0) x = eddy__shape_open(4);
    if (dy.rank == 4) eddy__dim_unify(&x.dim[0], dy.dim[0]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, x);
}

static eddy_status grad_prepare(eddy_kernel *k)
{
    const eddy_conv_size s = size_of(k->attrs, k->out[0]->type.shape);
    const eddy_dtype     d = k->out[0]->type.dtype;
    patches_work *w = eddy_kernel_state(k, sizeof *w +
                                        (uint64_t)(s.in[0] + s.in[1]) * sizeof(eddy_tap_run));
    if (!w) return EDDY_NO_MEMORY;
    *w = (patches_work){ .s = s, .size = eddy_dtype_size(d), .add = eddy__row_add(d) };
    eddy_tap_run *at = (eddy_tap_run *)(void *)(w + 1);
    for (int i = 0; i < 2; i++) w->axis[i] = eddy__taps_of(&s, i, true, at + (i > 0 ? s.in[0] : 0));
    return EDDY_OK;
}

/* Rows [from, to) of images. */
static void fold_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const patches_work   *w = arg;
    const eddy_conv_size *s = &w->s;
    const eddy_taps      *h = &w->axis[0], *v = &w->axis[1];
    const size_t pixel = (size_t)s->in_c * w->size;
    (void)worker;
    memset(w->to + (size_t)(from * s->in[1]) * pixel, 0, (size_t)((to - from) * s->in[1]) * pixel);
    for (int64_t p = from * s->in[1]; p < to * s->in[1]; p++) {
        const eddy_tap_run *a = &h->at[p / s->in[1] % s->in[0]], *b = &v->at[p % s->in[1]];
        const int64_t image = p / s->in[1] / s->in[0] * s->out[0];
        for (int64_t i = 0; i < a->count; i++)
            for (int64_t j = 0; j < b->count; j++) {
                const int64_t row = image + a->from + i * h->from_step;
                const int64_t tap = (a->tap + i * h->tap_step) * s->filter[1] +
                                    b->tap + j * v->tap_step;
                const int64_t at = (row * s->out[1] + b->from + j * v->from_step) *
                                   s->filter[0] * s->filter[1] + tap;
                w->add(s->in_c, w->to + (size_t)p * pixel, w->from + (size_t)at * pixel);
            }
    }
}

static eddy_status grad_kernel(eddy_kernel *k)
{
    patches_work w = *(const patches_work *)k->state;
    w.from = k->in[1]->data;
    w.to = k->out[0]->data;
    run_rows(k, &w, w.s.batch * w.s.in[0], k->out[0]->count, fold_rows);
    return EDDY_OK;
}

static void grad_gradient(eddy_rule *r)
{
    r->dx[1] = eddy_apply1(&eddy_op_patches, r->attrs, r->dy[0]);
}

static double grad_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return (double)eddy_shape_count(in[1].shape);
}

const eddy_op_def eddy_op_patches_grad = {
    .name = "ExtractImagePatchesGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX | EDDY_RANK(4) },
                          { "dy", EDDY_LIKE(0) }),
    .shape_inputs = 1u << 0, .attrs_size = sizeof(patches_attrs), .attrs = patches_fields,
    .infer = grad_infer, .prepare = grad_prepare, .kernel = grad_kernel,
    .gradient = grad_gradient, .batch = patches_batch, .flops = grad_flops,
};
