/* norm_formulas.c -- code shared by layer and batch normalization: their types, and their
 * formulas composed of ordinary operations, for gradients of gradients and for batching. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/gradient_terms.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/nets/normalization.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

const eddy_attr_field eddy__norm_fields[] = EDDY_FIELDS(eddy_norm_attrs, epsilon);

/* ----------------------------------------------------------------- types -- */

/* Checks that input i, a vector, is as long as the last dimension of x, which it may determine. */
static bool infer_vector(eddy_infer *c, int i, const char *what, eddy_shape *x)
{
    const eddy_shape v = c->in[i].shape;
    char text[128], whole[128];
    if (x->rank < 1 || v.rank < 0 || eddy__dim_unify(&x->dim[x->rank - 1], v.dim[0])) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s %s does not match the last dimension of %s", what,
                           eddy_shape_print(v, text, sizeof text),
                           eddy_shape_print(*x, whole, sizeof whole));
}

static eddy_dtype statistics_type(eddy_dtype x)
{
    return eddy__dtype_is_half(x) ? EDDY_FLOAT32 : x;
}

/* Checks that input i has the type of input 0, or float32 if that has 16 bits. */
static bool infer_type(eddy_infer *c, int i)
{
    const eddy_dtype x = c->in[0].dtype, d = c->in[i].dtype;
    if (d == x || d == statistics_type(x)) return true;
    return eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s is %s, but %s is %s; cast one",
                           c->op->inputs[i].name, eddy_dtype_name(d), c->op->inputs[0].name,
                           eddy_dtype_name(x));
}

/* Checks the types of scale and offset, which are the same. */
static bool infer_parameter_types(eddy_infer *c)
{
    const eddy_dtype scale = c->in[1].dtype, offset = c->in[2].dtype;
    if (!infer_type(c, 1) || !infer_type(c, 2)) return false;
    return scale == offset ||
           eddy_infer_fail(c, EDDY_BAD_DTYPE, "offset is %s, but scale is %s; cast one",
                           eddy_dtype_name(offset), eddy_dtype_name(scale));
}

/* The shape of the mean of each group. */
static eddy_shape group_shape(eddy_shape x, eddy_norm_groups groups)
{
    if (groups == EDDY_NORM_COLUMNS)
        return EDDY_SHAPE(x.rank > 0 ? x.dim[x.rank - 1] : EDDY_ANY);
    if (x.rank > 0) x.dim[x.rank - 1] = 1;
    return x;
}

bool eddy__norm_infer(eddy_infer *c)
{
    const eddy_norm_attrs *a = c->attrs;
    const eddy_dtype       d = c->in[0].dtype;
    eddy_shape x = c->in[0].shape;
    if (!(a->epsilon >= 0) || isinf(a->epsilon))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "epsilon is %g; it must be finite and "
                               "not negative", a->epsilon);
    if (!infer_parameter_types(c) || !infer_vector(c, 1, "scale", &x) ||
        !infer_vector(c, 2, "offset", &x) || !eddy__infer_yield(c, 0, d, x)) return false;
    for (int i = 1; i < c->n_out; i++)
        if (!eddy__infer_yield(c, i, statistics_type(d), group_shape(x, c->op->variant)))
            return false;
    return true;
}

/* Checks that input i has one number per group. */
static bool infer_groups(eddy_infer *c, int i, const char *what, eddy_shape want)
{
    char text[128], whole[128];
    return eddy_shape_compatible(c->in[i].shape, want) ||
           eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s has shape %s; expected %s", what,
                           eddy_shape_print(c->in[i].shape, text, sizeof text),
                           eddy_shape_print(want, whole, sizeof whole));
}

bool eddy__norm_grad_infer(eddy_infer *c)
{
    const eddy_norm_groups groups = c->op->variant;
    eddy_shape x = c->in[1].shape;
    if (!infer_type(c, 2) || !infer_type(c, 3) ||
        !infer_vector(c, 2, "scale", &x) ||
        !infer_groups(c, 0, "dy", x) || !infer_groups(c, 3, "mean", group_shape(x, groups)) ||
        !infer_groups(c, 4, "rstd", group_shape(x, groups))) return false;
    const eddy_dtype d = c->in[2].dtype;
    const eddy_shape v = EDDY_SHAPE(x.rank > 0 ? x.dim[x.rank - 1] : EDDY_ANY);
    return eddy__infer_yield(c, 0, c->in[0].dtype, x) && eddy__infer_yield(c, 1, d, v) &&
           eddy__infer_yield(c, 2, d, v);
}

/* -------------------------------------------------------------- formulas -- */

/* How elements are summed by groups: along axes that are kept with size 1, or down to the
 * shape of `like`, which does not require a known rank of x. */
typedef struct grouping {
    eddy_dims   axes;
    eddy_tensor like;
} grouping;

static grouping grouping_of(eddy_norm_groups groups, eddy_tensor scale)
{
    grouping by = { .axes = EDDY_AXES(-1) };
    if (groups == EDDY_NORM_COLUMNS) by.like = scale;
    return by;
}

static eddy_tensor sum_by(const grouping *by, eddy_tensor t)
{
    if (eddy_is_valid(by->like)) return SumLike(t, by->like);
    return Sum(t, .axes = by->axes, .keepdims = true);
}

/* The number of elements of x in each group. */
static eddy_tensor group_size(eddy_tensor x, eddy_tensor mean)
{
    const eddy_tensor all = Cast(eddy_size(x, EDDY_INT64), EDDY_FLOAT64);
    const eddy_tensor groups = Cast(eddy_size(mean, EDDY_INT64), EDDY_FLOAT64);
    return CastLike(Div(all, groups), x);
}

/* -------------------------------------------------------------- gradients -- */

/* The contribution to dx of the gradients of mean, variance (of columns only) and rstd. */
static eddy_tensor statistics_gradient(const eddy_rule *r)
{
    const int last = r->n_out - 1;
    const eddy_tensor rstd = r->y[last], x = CastLike(r->x[0], rstd), n = group_size(x, rstd);
    eddy_tensor sum = EDDY_NO_TENSOR, along = EDDY_NO_TENSOR;
    if (eddy__has_gradient(r->dy[1])) sum = Div(r->dy[1], n);
    if (last == 3 && eddy__has_gradient(r->dy[2]))
        along = Div(Mul(2, r->dy[2]), Maximum(Sub(n, 1), 1));
    if (eddy__has_gradient(r->dy[last])) {
        const eddy_tensor slope = Neg(Div(Mul(rstd, Square(rstd)), n));
        along = eddy__add_terms(along, Mul(r->dy[last], slope));
    }
    if (eddy_is_valid(along)) along = Mul(along, Sub(x, r->y[1]));
    if (eddy_is_valid(sum) && !eddy_is_valid(along)) return BroadcastLike(sum, x);
    return eddy__add_terms(along, sum);
}

void eddy__norm_gradient(eddy_rule *r)
{
    const eddy_op_def *grad = r->node->op->variant == EDDY_NORM_ROWS
                            ? &eddy_op_layer_norm_grad : &eddy_op_fused_batch_norm_grad;
    if (eddy__has_gradient(r->dy[0])) {
        const eddy_tensor in[] = { r->dy[0], r->x[0], r->x[1], r->y[1], r->y[r->n_out - 1] };
        const eddy_tensor dx = eddy_apply(grad, NULL, 5, in, (eddy_apply_args){ 0 });
        for (int i = 0; i < 3; i++) r->dx[i] = eddy_output(dx, i);
    }
    const eddy_tensor more = statistics_gradient(r);
    if (eddy_is_valid(more)) r->dx[0] = eddy__add_terms(r->dx[0], CastLike(more, r->x[0]));
}

/* t with the type of x, if there is a gradient; else t itself. */
static eddy_tensor like(eddy_tensor t, eddy_tensor x)
{
    return eddy__has_gradient(t) ? CastLike(t, x) : t;
}

/* With z = (x - mean) rstd, g = dy scale and means over groups of n: dx is
 * rstd (g - mean(g) - z mean(g z)), dscale and doffset sum dy z and dy.  Their gradients
 * are a, b and c; the product of a and dx sums to rstd p. */
void eddy__norm_grad_gradient(eddy_rule *r)
{
    const eddy_tensor dy = r->x[0], scale = CastLike(r->x[2], dy), rstd = CastLike(r->x[4], dy);
    const eddy_tensor a = r->dy[0], b = like(r->dy[1], dy), c = like(r->dy[2], dy);
    const grouping    by = grouping_of(r->node->op->variant, scale);
    const eddy_tensor off = Sub(r->x[1], CastLike(r->x[3], dy)), z = Mul(off, rstd);
    eddy_tensor to_dy = EDDY_NO_TENSOR, to_z = EDDY_NO_TENSOR, p = EDDY_NO_TENSOR;
    if (eddy__has_gradient(a)) {
        const eddy_tensor n = group_size(r->x[1], rstd), g = Mul(dy, scale);
        const eddy_tensor mean_g = Div(sum_by(&by, g), n), mean_gz = Div(sum_by(&by, Mul(g, z)), n);
        const eddy_tensor mean_a = Div(sum_by(&by, a), n), mean_az = Div(sum_by(&by, Mul(a, z)), n);
        const eddy_tensor to_g = Mul(rstd, Sub(Sub(a, mean_a), Mul(z, mean_az)));
        to_dy = Mul(scale, to_g);
        to_z = Neg(Mul(rstd, Add(Mul(a, mean_gz), Mul(g, mean_az))));
        p = Sub(sum_by(&by, Mul(a, g)), Mul(n, Add(Mul(mean_a, mean_g), Mul(mean_az, mean_gz))));
        r->dx[2] = CastLike(SumLike(Mul(dy, to_g), scale), r->x[2]);
    }
    if (eddy__has_gradient(b)) {
        to_dy = eddy__add_terms(to_dy, Mul(b, z));
        to_z = eddy__add_terms(to_z, Mul(b, dy));
    }
    if (eddy__has_gradient(c)) to_dy = eddy_is_valid(to_dy) ? Add(to_dy, c) : BroadcastLike(c, dy);
    r->dx[0] = to_dy;
    if (!eddy_is_valid(to_z)) return;
    r->dx[1] = Mul(rstd, to_z);
    r->dx[3] = CastLike(Neg(sum_by(&by, r->dx[1])), r->x[3]);
    r->dx[4] = CastLike(eddy__add_terms(p, sum_by(&by, Mul(to_z, off))), r->x[4]);
}

/* --------------------------------------------------------------- batching -- */

/* Axes 1 to `last`, after the batch axis. */
static eddy_dims middle_axes(int last)
{
    eddy_dims d = { .count = last > 0 ? last : -1 };
    for (int i = 0; i < d.count; i++) d.at[i] = i + 1;
    return d;
}

static grouping batch_grouping(eddy_norm_groups groups, int rank)
{
    return (grouping){ .axes = groups == EDDY_NORM_ROWS ? EDDY_AXES(-1) : middle_axes(rank - 1) };
}

/* Input i, one vector per example, expanded to broadcast with x of this rank. */
static eddy_tensor batch_vector(const eddy_batch *b, int i, int rank)
{
    const eddy_tensor v = Cast(b->x[i], b->node->outputs[0].dtype);
    return b->batched[i] ? eddy__batch_widen(v, 1, rank - 1) : v;
}

/* The statistics of a group, with the shape that those of one example have. */
static eddy_tensor batch_statistics(const eddy_batch *b, eddy_tensor t, eddy_norm_groups groups,
                                    int rank)
{
    t = Cast(t, b->node->outputs[1].dtype);
    if (groups == EDDY_NORM_ROWS || rank < 2) return t;
    return Squeeze(t, .axes = middle_axes(rank - 1));
}

void eddy__norm_batch(eddy_batch *b)
{
    const eddy_norm_groups groups = b->node->op->variant;
    const int         rank = eddy__batch_rank(b, 0);
    const double      epsilon = ((const eddy_norm_attrs *)b->attrs)->epsilon;
    const bool        alone = !b->batched[1] && !b->batched[2];
    const eddy_tensor x = eddy_batch_input(b, 0);
    if (groups == EDDY_NORM_ROWS && alone) {
        const eddy_tensor y = eddy_apply(b->node->op, b->attrs, 3, b->x, (eddy_apply_args){ 0 });
        for (int i = 0; i < b->n_out; i++) b->y[i] = eddy_output(y, i);
        return;
    }
    if (rank < 1) return;
    const grouping    by = batch_grouping(groups, rank);
    const eddy_tensor sum = sum_by(&by, x), n = group_size(x, sum), mean = Div(sum, n);
    const eddy_tensor off = Sub(x, mean), squares = sum_by(&by, Square(off));
    const eddy_tensor rstd = Rsqrt(Add(Div(squares, n), epsilon));
    b->y[0] = Add(Mul(Mul(off, rstd), batch_vector(b, 1, rank)), batch_vector(b, 2, rank));
    b->y[1] = batch_statistics(b, mean, groups, rank);
    if (b->n_out == 4)
        b->y[2] = batch_statistics(b, Div(squares, Maximum(Sub(n, 1), 1)), groups, rank);
    b->y[b->n_out - 1] = batch_statistics(b, rstd, groups, rank);
}

/* mean or rstd, expanded to broadcast with x: for columns, from a vector. */
static eddy_tensor batch_groups(const eddy_batch *b, int i, eddy_norm_groups groups, int rank)
{
    return groups == EDDY_NORM_COLUMNS ? batch_vector(b, i, rank)
                                       : Cast(b->x[i], b->node->outputs[0].dtype);
}

void eddy__norm_grad_batch(eddy_batch *b)
{
    const eddy_norm_groups groups = b->node->op->variant;
    const int rank = eddy__batch_rank(b, 1);
    if (rank < 1) return;
    const grouping    by = batch_grouping(groups, rank);
    const eddy_dims   rows = middle_axes(rank - 1);
    const eddy_tensor dy = eddy_batch_input(b, 0), rstd = batch_groups(b, 4, groups, rank);
    const eddy_tensor off = Sub(eddy_batch_input(b, 1), batch_groups(b, 3, groups, rank));
    const eddy_tensor z = Mul(off, rstd), g = Mul(dy, batch_vector(b, 2, rank));
    const eddy_tensor sum = sum_by(&by, g), n = group_size(g, sum);
    const eddy_tensor along = Mul(z, Div(sum_by(&by, Mul(g, z)), n));
    b->y[0] = Mul(rstd, Sub(Sub(g, Div(sum, n)), along));
    b->y[1] = Cast(Sum(Mul(dy, z), .axes = rows), b->node->outputs[1].dtype);
    b->y[2] = Cast(Sum(dy, .axes = rows), b->node->outputs[1].dtype);
}

/* ----------------------------------------------------------------- loops -- */

eddy_dtype eddy__norm_type(const eddy_kernel *k)
{
    return k->n_in == 3 ? k->out[1]->type.dtype : k->in[3]->type.dtype;
}

eddy_norm_work eddy__norm_work_of(const eddy_kernel *k)
{
    const eddy_shape s = k->out[0]->type.shape;
    eddy_norm_work w = { .rows = eddy__shape_product(s, 0, s.rank - 1), .width = s.dim[s.rank - 1],
                         .y = k->out[0]->data, .part = k->scratch,
                         .halves = k->out[0]->type.dtype == EDDY_BFLOAT16 };
    if (k->n_in == 3) {
        const eddy_norm_attrs *a = k->attrs;
        w.x = k->in[0]->data, w.scale = k->in[1]->data, w.offset = k->in[2]->data;
        w.mean = k->out[1]->data, w.rstd = k->out[k->n_out - 1]->data, w.epsilon = a->epsilon;
    } else {
        w.dy = k->in[0]->data, w.x = k->in[1]->data, w.scale = k->in[2]->data;
        w.mean = k->in[3]->data, w.rstd = k->in[4]->data;
    }
    return w;
}

int64_t eddy__norm_blocks(eddy_norm_work *w, int64_t least)
{
    enum { MOST = 64, MULTIPLE = 128 };
    const int64_t width = w->width > 0 ? w->width : 1;
    w->block = (w->rows + MOST - 1) / MOST;
    if (w->block * width < least) w->block = (least + width - 1) / width;
    w->block = (w->block + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    return (w->rows + w->block - 1) / w->block;
}

static void run_piece(void *arg, int64_t from, int64_t to, int worker)
{
    const eddy_norm_work *w = arg;
    (void)worker;
    w->loop(w, from, to);
}

void eddy__norm_run(const eddy_kernel *k, const eddy_norm_work *w, int64_t n, int64_t grain)
{
    eddy_norm_work run = *w;
    eddy__parallel_or_stop(k, n, grain > 0 ? grain : 1, run_piece, &run);
}
