/* pooling_rules.c -- attributes, shape rule, batching rule and builders that the pooling
 * operations share. */
#include "ops/nets/pooling_rules.h"
#include "graph/base/min_max.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"

#include <string.h>

static int64_t common_divisor(int64_t a, int64_t b)
{
    for (int64_t rest; b != 0; a = b, b = rest) rest = a % b;
    return a;
}

/* -------------------------------------------------------------- inferring -- */

static bool fail_entry(eddy_infer *c, const char *what, int64_t v, const char *must)
{
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%s has the entry %lld; it must %s", what,
                           (long long)v, must);
}

static bool check_count(eddy_infer *c, const char *what, eddy_dims d, int n)
{
    return d.count == n ||
           eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of %s is %d; expected "
                           "%d", what, d.count > 0 ? d.count : 0, n);
}

static bool check_list(eddy_infer *c, const char *what, eddy_dims d, int n)
{
    if (!check_count(c, what, d, n)) return false;
    for (int i = 0; i < n; i++)
        if (d.at[i] < 1 || d.at[i] > INT32_MAX)
            return fail_entry(c, what, d.at[i], "be positive and fit in int32");
    return true;
}

static bool of_images(const eddy_infer *c) { return c->op->variant == EDDY_WINDOWS_OF_IMAGES; }

static bool check_paddings(eddy_infer *c, int n)
{
    const eddy_window_attrs *a = c->attrs;
    if (eddy__window_padding_is(a, "SAME") || eddy__window_padding_is(a, "VALID"))
        return a->paddings.count <= 0 ||
               eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "explicit_paddings requires padding EXPLICIT");
    if (of_images(c) || !eddy__window_padding_is(a, "EXPLICIT"))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "padding is '%.40s'; it must be SAME, "
                               "VALID or EXPLICIT", a->padding ? a->padding : "");
    if (!check_count(c, "explicit_paddings", a->paddings, 2 * n)) return false;
    for (int i = 0; i < 2 * n; i++)
        if (a->paddings.at[i] < 0 || a->paddings.at[i] >= eddy__window_span(a, i / 2))
            return fail_entry(c, "explicit_paddings", a->paddings.at[i],
                              "not be negative and must be less than the window");
    return true;
}

static bool check_attrs(eddy_infer *c)
{
    const eddy_window_attrs *a = c->attrs;
    const int n = of_images(c) ? 2 : a->ksize.count;
    if (n < 1 || n > EDDY_WINDOW_AXES)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of ksize is %d; "
                               "expected 1 to 3", n > 0 ? n : 0);
    if (eddy__window_padding_is(a, "ADAPTIVE") && !of_images(c)) {
        for (int i = 0; i < n; i++)
            if (a->ksize.at[i] != EDDY_ANY && (a->ksize.at[i] < 1 || a->ksize.at[i] > INT32_MAX))
                return fail_entry(c, "the number of windows", a->ksize.at[i],
                                  "be positive and fit in int32");
        return true;
    }
    return check_list(c, "ksize", a->ksize, n) && check_list(c, "strides", a->strides, n) &&
           (of_images(c) || check_list(c, "dilations", a->dilations, n)) && check_paddings(c, n);
}

/* Axis i of y, from the size n of that axis in x. */
static bool infer_axis(eddy_infer *c, int i, int64_t n, int64_t *out)
{
    const eddy_window_attrs *a = c->attrs;
    *out = eddy__window_count(a, i, n);
    if (*out < 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "a window of %lld does not fit in dimension "
                               "%d of x, which is %lld",
                               (long long)eddy__window_span(a, i), 1 + i, (long long)n);
    if (n == 0 && *out > 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dimension %d of x is 0 and cannot be "
                               "divided into windows", 1 + i);
    return true;
}

/* Loops count in 32 bits: the positions of an example; for images only those from the first of a
 * window to its last, and only for float32. */
static bool check_places(eddy_infer *c, eddy_shape x)
{
    const eddy_window_attrs *a = c->attrs;
    const int64_t rows = eddy__min(a->ksize.at[0], x.dim[1]);
    int64_t       places = 1;
    char          text[128];
    for (int i = 0; i < a->ksize.count && !of_images(c); i++) {
        if (x.dim[1 + i] == EDDY_ANY) continue;
        if (x.dim[1 + i] > INT32_MAX / eddy__max(places, 1))
            return eddy_infer_fail(c, EDDY_LIMIT,
                                   "an example of shape %s has 2^31 positions or more",
                                   eddy_shape_print(x, text, sizeof text));
        places *= x.dim[1 + i];
    }
    if (!of_images(c) || x.dim[1] == EDDY_ANY || x.dim[2] == EDDY_ANY ||
        c->in[0].dtype == EDDY_FLOAT64 || x.dim[2] <= INT32_MAX / eddy__max(rows, 1)) return true;
    return eddy_infer_fail(c, EDDY_LIMIT,
                           "a window of %lld rows of x, which has %lld columns, spans 2^31 "
                           "positions or more", (long long)rows, (long long)x.dim[2]);
}

bool eddy__window_infer(eddy_infer *c, eddy_shape *x, eddy_shape *y)
{
    const eddy_window_attrs *a = c->attrs;
    const int n = a->ksize.count;
    char      text[128];
    if (!check_attrs(c)) return false;
    if (x->rank >= 0 && x->rank != n + 2)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x has shape %s; rank %d expected",
                               eddy_shape_print(*x, text, sizeof text), n + 2);
    if (x->rank < 0) *x = eddy__shape_open(n + 2);
    *y = *x;
    for (int i = 0; i < n; i++) {
        const bool settled = eddy__window_padding_is(a, "ADAPTIVE") && a->ksize.at[i] != EDDY_ANY;
        if (x->dim[1 + i] == EDDY_ANY) y->dim[1 + i] = settled ? a->ksize.at[i] : EDDY_ANY;
        else if (!infer_axis(c, i, x->dim[1 + i], &y->dim[1 + i])) return false;
    }
    return check_places(c, *x);
}

/* -------------------------------------------------------------- shared -- */

double eddy__window_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const eddy_window_attrs *a = attrs;
    const eddy_shape         x = in[0].shape;
    const int                n = a->ksize.count;
    double all = (double)x.dim[0] * (double)x.dim[n + 1];
    (void)n_in; (void)out;
    for (int i = 0; i < n; i++) {
        const int64_t n_at = x.dim[1 + i], windows = eddy__window_count(a, i, n_at);
        double        elements = (double)windows;
        if (!eddy__window_padding_is(a, "ADAPTIVE")) elements *= (double)a->ksize.at[i];
        else elements += (double)(n_at - common_divisor(n_at, windows));
        all *= elements;
    }
    return all;
}

void eddy__window_batch(eddy_batch *b)
{
    const int   axes = ((const eddy_window_attrs *)b->attrs)->ksize.count;
    eddy_tensor in[3], both = { 0 };
    eddy_dims   inner = { .count = axes + 1 };
    for (int i = 0; i <= axes; i++) inner.at[i] = 2 + i;
    for (int i = 0; i < b->n_in; i++) {
        const bool lent = eddy__input_is_in(b->node->op->shape_inputs, i);
        in[i] = lent ? eddy_batch_like(b->x[i], b->examples) : eddy_batch_input(b, i);
        both = Sum(in[i], .axes = inner);               /* only its shape is used */
        in[i] = eddy_merge_leading(in[i], both);
    }
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, b->n_in, in, (eddy_apply_args){ 0 });
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_unflatten_like(eddy_output(y, k), both, 0, 0);
}

/* ---------------------------------------------------- max_pool, avg_pool -- */

const eddy_attr_field eddy__window_fields[2][7] = {
    [EDDY_WINDOWS_OF_BOXES] = EDDY_FIELDS(eddy_window_attrs, ksize, strides, dilations, paddings,
                                          padding, count_include_pad),
    [EDDY_WINDOWS_OF_IMAGES] = EDDY_FIELDS(eddy_window_attrs, ksize, strides, padding),
};

bool eddy__window_op_infer(eddy_infer *c)
{
    eddy_shape x = c->in[0].shape, y;
    return eddy__window_infer(c, &x, &y) && eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

eddy_status eddy__window_op_prepare(eddy_kernel *k)
{
    const eddy_shape  x = k->in[0]->type.shape;
    const eddy_shape  y = k->n_in > 1 ? k->in[1]->type.shape : k->out[0]->type.shape;
    const eddy_status s = eddy__window_prepare(k, k->attrs, x, y);
    if (s == EDDY_OK && k->op->variant == EDDY_WINDOWS_OF_IMAGES)
        eddy__window_of_images(k, k->attrs, x);
    return s;
}

const eddy_op_def *eddy__window_alike(const eddy_rule *r, const eddy_op_def *of_boxes,
                                      const eddy_op_def *of_images)
{
    return r->node->op->variant == EDDY_WINDOWS_OF_IMAGES ? of_images : of_boxes;
}

/* ----------------------------------------------------------------- tools -- */

bool eddy__window_format(const char *op, eddy_graph *g, const char *data_format, int axes,
                         bool *planes)
{
    static const char *const names[][2] = { { "NWC", "NCW" }, { "NHWC", "NCHW" },
                                            { "NDHWC", "NCDHW" } };
    const char *const *known = names[axes - 1];
    *planes = data_format && strcmp(data_format, known[1]) == 0;
    if (!data_format || *planes || strcmp(data_format, known[0]) == 0) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: data_format is '%.40s'; it must be %s or %s", op,
              data_format, known[0], known[1]);
    return false;
}

bool eddy__window_entries(const char *op, eddy_graph *g, const char *what, eddy_dims d, int axes,
                          bool planes, eddy_dims *out)
{
    const int at = d.count == axes + 2 ? (planes ? 2 : 1) : 0;
    if (eddy_refuse_number(g, op, what, d)) return false;
    if (d.count != 1 && d.count != axes && d.count != axes + 2) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of entries of %s is %d; expected 1, "
                  "%d or %d", op, what, d.count > 0 ? d.count : 0, axes, axes + 2);
        return false;
    }
    if (d.count == axes + 2 && (d.at[0] != 1 || d.at[planes ? 1 : axes + 1] != 1)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s must be 1 in the batch and channel dimensions",
                  op, what);
        return false;
    }
    *out = (eddy_dims){ .count = axes };
    for (int i = 0; i < axes; i++) out->at[i] = d.at[d.count == 1 ? 0 : at + i];
    return true;
}

bool eddy__window_paddings(const char *op, eddy_graph *g, eddy_dims d, int axes, bool planes,
                           eddy_dims *out)
{
    const bool whole = d.count == 2 * (axes + 2);
    const int  at = whole ? (planes ? 4 : 2) : 0, channels = planes ? 2 : 2 * axes + 2;
    *out = EDDY_NO_DIMS;
    if (eddy_refuse_number(g, op, "explicit_paddings", d)) return false;
    if (d.count <= 0) return true;
    if (!whole && d.count != 2 * axes) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the number of entries of explicit_paddings is "
                  "%d; expected %d or %d", op, d.count, 2 * axes, 2 * (axes + 2));
        return false;
    }
    if (whole && (d.at[0] || d.at[1] || d.at[channels] || d.at[channels + 1])) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: explicit_paddings must be 0 in the batch and "
                  "channel dimensions", op);
        return false;
    }
    out->count = 2 * axes;
    for (int i = 0; i < 2 * axes; i++) out->at[i] = d.at[at + i];
    return true;
}

/* d with another entry prepended. */
static eddy_dims entry_before(eddy_dims d, int64_t first)
{
    memmove(d.at + 1, d.at, sizeof d.at - sizeof *d.at);
    d.at[0] = first;
    d.count++;
    return d;
}

/* [batch, channels, width] as images of that height and width with one channel. */
static eddy_tensor apply_to_lines(const eddy_op_def *op, eddy_window_attrs a, eddy_tensor x,
                                  const char *name)
{
    if (eddy_shape_of(x).rank < 0) x = eddy_set_shape(Identity(x), eddy__shape_open(3));
    a.ksize = entry_before(a.ksize, 1);
    a.strides = entry_before(a.strides, 1);
    a.dilations = entry_before(a.dilations, 1);
    if (a.paddings.count > 0) a.paddings = entry_before(entry_before(a.paddings, 0), 0);
    return eddy_squeeze(eddy_apply1(op, &a, eddy_expand_dims(x, 3)), EDDY_AXES(3), name);
}

eddy_tensor eddy__window_apply(const eddy_op_def *op, const eddy_window_attrs *a, eddy_tensor x,
                               bool planes, const char *name)
{
    const int axes = a->ksize.count, rank = eddy_is_valid(x) ? eddy_shape_of(x).rank : 0;
    eddy_dims last = { .count = axes + 2 }, second = { .count = axes + 2, .at = { 0, axes + 1 } };
    if (!planes) return eddy__apply_named(name, op, a, 1, &x);
    if (axes == 1 && (rank < 0 || rank == 3) && !eddy__window_padding_is(a, "ADAPTIVE"))
        return apply_to_lines(op, *a, x, name);
    for (int i = 0; i < axes; i++) last.at[1 + i] = 2 + i, second.at[2 + i] = 1 + i;
    last.at[axes + 1] = 1;
    return eddy_transpose(eddy_apply1(op, a, Transpose(x, last)), second, .name = name);
}

eddy_tensor eddy__window_pool(const eddy_op_def *of_boxes, const eddy_op_def *of_images,
                              const char *called, int axes, const eddy_pool_nd_args *p)
{
    eddy_graph       *g = p->x.graph;
    const eddy_dims   strides = eddy_dims_or(p->strides, p->ksize);
    const eddy_dims   gaps = eddy_dims_or(p->dilations, EDDY_DIMS(1));
    const char       *padding = p->explicit_paddings.count > 0 ? "EXPLICIT" : "VALID";
    eddy_window_attrs a = { .padding = p->padding ? p->padding : padding,
                            .count_include_pad = p->count_include_pad };
    bool planes;
    if (eddy__window_padding_is(&a, "ADAPTIVE"))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: padding is 'ADAPTIVE'; it must be SAME, "
                         "VALID or EXPLICIT", called);
    if (!eddy__window_format(called, g, p->data_format, axes, &planes) ||
        !eddy__window_entries(called, g, "ksize", p->ksize, axes, planes, &a.ksize) ||
        !eddy__window_entries(called, g, "strides", strides, axes, planes, &a.strides) ||
        !eddy__window_entries(called, g, "dilations", gaps, axes, planes, &a.dilations) ||
        !eddy__window_paddings(called, g, p->explicit_paddings, axes, planes, &a.paddings))
        return eddy_none(g);
    const bool images = axes == 2 && p->dilations.count == 0 && p->explicit_paddings.count == 0 &&
                        !p->count_include_pad && !eddy__window_padding_is(&a, "EXPLICIT");
    return eddy__window_apply(images ? of_images : of_boxes, &a, p->x, planes, p->name);
}
