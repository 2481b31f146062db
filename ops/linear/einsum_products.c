/* einsum_products.c -- tensor contraction for einsum: products of tensors with labeled axes,
 * summed over some.
 *
 * Labels that occur in only one tensor are summed first. Then pairs of tensors are multiplied,
 * the cheapest pair first: elementwise if nothing is summed, otherwise as matrices whose
 * dimensions are the free labels of the first, the summed labels, and the free labels of the
 * second. Labels that both tensors keep become batch dimensions in front of the matrices. */
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/linear/einsum.h"
#include "ops/short_names.h"

#include <string.h>

/* -------------------------------------------------------------- equal sizes -- */

/* y = x, whose dimension `axis` equals dimension `other` of the second input, of which only the
 * shape is used. A dimension that is unknown while building is checked at run time. */
typedef struct same_attrs {
    int64_t axis, other;
} same_attrs;

static bool same_infer(eddy_infer *c)
{
    const same_attrs *a = c->attrs;
    eddy_shape       y = c->in[0].shape;
    const eddy_shape z = c->in[1].shape;
    int axis, other;
    if ((y.rank >= 0 && !eddy__infer_axis(c, a->axis, y.rank, &axis)) ||
        (z.rank >= 0 && !eddy__infer_axis(c, a->other, z.rank, &other)))
        return false;
    if (y.rank >= 0 && z.rank >= 0) {
        const int64_t own = y.dim[axis];
        if (!eddy__dim_unify(&y.dim[axis], z.dim[other]))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "axis %d is %lld, but another axis with its label is %lld", axis,
                                   (long long)own, (long long)z.dim[other]);
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static void same_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

static void same_batch(eddy_batch *b)
{
    const same_attrs *a = b->attrs;
    eddy_batch_apply(b, &(same_attrs){ eddy__batch_axis(a->axis), eddy__batch_axis(a->other) });
}

const eddy_op_def eddy_op_same_size = {
    .name = "SameSize", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS, .shape_inputs = 1u << 1,
    .attrs_size = sizeof(same_attrs), .attrs = EDDY_ATTRS(same_attrs, axis, other),
    .infer = same_infer, .gradient = same_gradient, .batch = same_batch,
};

/* x, after a check that these axes of x and z have the same size, now or at run time. */
static eddy_tensor with_equal_sizes(eddy_tensor x, int axis, eddy_tensor z, int other)
{
    const eddy_shape s = eddy_shape_of(x), t = eddy_shape_of(z);
    if (s.rank >= 0 && t.rank >= 0 && s.dim[axis] >= 0 && t.dim[other] >= 0) return x;
    return eddy_apply2(&eddy_op_same_size, &(same_attrs){ axis, other }, x, z);
}

/* ---------------------------------------------------------------- labels -- */

typedef struct term {
    eddy_tensor  t;
    eddy_axes_of axes;
} term;

typedef uint64_t set;                      /* of labels */

static set set_of_label(int label) { return (set)1 << label; }

static set set_of(const eddy_axes_of *a)
{
    set s = 0;
    for (int i = 0; i < a->n; i++) s |= set_of_label(a->label[i]);
    return s;
}

/* Appends the labels that are in s to `to`, in their order. */
static void append(eddy_axes_of *to, const eddy_axes_of *from, set s)
{
    for (int i = 0; i < from->n && to->n < EDDY_MAX_RANK; i++)
        if (s & set_of_label(from->label[i])) to->label[to->n++] = from->label[i];
}

static int place_of(const eddy_axes_of *a, int label)
{
    int i = 0;
    while (i < a->n && a->label[i] != label) i++;
    return i;
}

/* x, of known rank, with its axes in this order. */
static void arrange(term *x, const eddy_axes_of *order)
{
    eddy_dims perm = { .count = order->n };
    bool      same = eddy_shape_of(x->t).rank >= 0;
    for (int i = 0; i < order->n; i++) {
        perm.at[i] = place_of(&x->axes, order->label[i]);
        same = same && perm.at[i] == i;
    }
    if (!same && order->n > 0) x->t = eddy_transpose(x->t, perm);
    if (order->n == 0 && eddy_shape_of(x->t).rank != 0) x->t = eddy_reshape(x->t, EDDY_SCALAR);
    x->axes = *order;
}

/* ------------------------------------------------------------ one tensor -- */

/* Takes the diagonal of the first two axes that have the same label. */
static bool take_diagonal(term *x)
{
    for (int i = 0; i < x->axes.n; i++)
        for (int j = i + 1; j < x->axes.n; j++) {
            if (x->axes.label[i] != x->axes.label[j]) continue;
            eddy_dims    perm = { .count = x->axes.n };
            eddy_axes_of left = { .n = 0 };
            for (int a = 0, n = 0; a < x->axes.n; a++) {
                if (a == i || a == j) continue;
                left.label[left.n++] = x->axes.label[a];
                perm.at[n++] = a;
            }
            perm.at[perm.count - 2] = i;
            perm.at[perm.count - 1] = j;
            left.label[left.n++] = x->axes.label[i];
            x->t = with_equal_sizes(x->t, i, x->t, j);
            x->t = eddy_matrix_diag_part(eddy_transpose(x->t, perm));
            x->axes = left;
            return true;
        }
    return false;
}

/* Sums over the labels that are not kept. */
static void sum_out(term *x, set keep)
{
    const eddy_axes_of all = x->axes;
    eddy_dims axes = { .count = 0 };
    x->axes.n = 0;
    append(&x->axes, &all, keep);
    for (int i = 0; i < all.n; i++)
        if (!(keep & set_of_label(all.label[i]))) axes.at[axes.count++] = i;
    if (axes.count > 0) x->t = eddy_sum(x->t, axes);
}

/* ------------------------------------------------------------ two tensors -- */

/* The labels of a pair: in both and kept, in both and summed, in only one. */
typedef struct kinds {
    eddy_axes_of both, summed, a, b;
} kinds;

static kinds kinds_of(const term *a, const term *b, set keep)
{
    const set in_a = set_of(&a->axes), in_b = set_of(&b->axes);
    kinds k = { .both = { .n = 0 } };
    append(&k.both, &a->axes, in_b & keep);
    append(&k.summed, &a->axes, in_b & ~keep);
    append(&k.a, &a->axes, ~in_b);
    append(&k.b, &b->axes, ~in_a);
    return k;
}

/* Checks that axes with these labels have the same size in both tensors, unless they broadcast. */
static void check_shared_axes(term *a, const term *b, const eddy_axes_of *labels)
{
    for (int i = 0; i < labels->n; i++) {
        const int label = labels->label[i];
        if (label < EDDY_ELLIPSIS_LABEL)
            a->t =
                with_equal_sizes(a->t, place_of(&a->axes, label), b->t, place_of(&b->axes, label));
    }
}

static eddy_axes_of joined(const eddy_axes_of *x, const eddy_axes_of *y, const eddy_axes_of *z)
{
    eddy_axes_of all = *x;
    append(&all, y, ~(set)0);
    append(&all, z, ~(set)0);
    return all;
}

/* The elementwise product a b: a gets axes of size 1 for the labels of b alone, and vice versa. */
static void multiply(term *a, term *b, const kinds *k)
{
    static const eddy_axes_of none = { .n = 0 };
    const eddy_axes_of of_a = joined(&k->both, &k->a, &none), of_b = joined(&k->both, &k->b, &none);
    arrange(a, &of_a);
    arrange(b, &of_b);
    for (int i = 0; i < k->b.n; i++) a->t = ExpandDims(a->t, -1);
    for (int i = 0; i < k->a.n; i++) b->t = ExpandDims(b->t, k->both.n);
    a->t = Mul(a->t, b->t);
    a->axes = joined(&k->both, &k->a, &k->b);
}

/* x with `count` axes, beginning at `first`, merged into one; their sizes may be unknown. */
static eddy_tensor merge(eddy_tensor x, int first, int count)
{
    const eddy_shape s = eddy_shape_of(x);
    if (count == 1 || s.rank < 0) return x;
    if (count == 0) return ExpandDims(x, first);
    eddy_shape y = { .rank = s.rank - count + 1 };
    int  open = 0;
    bool empty = false;
    for (int i = 0; i < y.rank; i++) {
        y.dim[i] = i <= first ? s.dim[i] : s.dim[i + count - 1];
        for (int j = 1; i == first && j < count; j++)
            y.dim[i] = y.dim[i] < 0 || s.dim[i + j] < 0 ? EDDY_ANY : y.dim[i] * s.dim[i + j];
        open += y.dim[i] < 0;
        empty = empty || y.dim[i] == 0;
    }
    if (open == 0 || (open == 1 && !empty)) return eddy_reshape(x, y);
    const eddy_tensor all = eddy_shape_tensor(x, EDDY_INT64);
    const eddy_tensor sizes[] = {
        eddy_slice(all, EDDY_DIMS(0), EDDY_DIMS(first)),
        Prod(eddy_slice(all, EDDY_DIMS(first), EDDY_DIMS(count)), .keepdims = true),
        eddy_slice(all, EDDY_DIMS(first + count), EDDY_DIMS(s.rank - first - count)),
    };
    return eddy_set_shape(eddy_reshape_to(x, eddy_concat((eddy_list){ 3, sizes }, 0)), y);
}

/* Splits the axis after the first `front` axes into those that `like` has there. */
static eddy_tensor split(eddy_tensor y, int front, eddy_tensor like, int at)
{
    const int count = eddy_shape_of(like).rank - front;
    return count == 1 ? y : eddy_unflatten_like(y, like, at, front);
}

/* x transposed to [both, free, summed] or, if it already has that order, [both, summed, free],
 * with the last two merged to a matrix; of *like, only the shape, [both, free], is used. */
static bool matrices(term *x, const kinds *k, const eddy_axes_of *free, eddy_tensor *like)
{
    const eddy_axes_of rows = joined(&k->both, free, &k->summed);
    const eddy_axes_of columns = joined(&k->both, &k->summed, free);
    const size_t bytes = (size_t)columns.n * sizeof *columns.label;
    const bool   transposed = eddy_shape_of(x->t).rank >= 0 &&
                              memcmp(x->axes.label, columns.label, bytes) == 0;
    const int  front = k->both.n, first = transposed ? k->summed.n : free->n;
    const int  second = transposed ? free->n : k->summed.n;
    eddy_dims  summed = { .count = k->summed.n };
    arrange(x, transposed ? &columns : &rows);
    for (int i = 0; i < k->summed.n; i++) summed.at[i] = front + i + (transposed ? 0 : free->n);
    *like = eddy_sum(x->t, summed);
    x->t = merge(merge(x->t, front + first, second), front, first);
    return transposed;
}

static void multiply_matrices(term *a, term *b, const kinds *k)
{
    eddy_tensor like_a, like_b;
    const int   front = k->both.n;
    const bool  transposed_a = matrices(a, k, &k->a, &like_a);
    const bool  transposed_b = matrices(b, k, &k->b, &like_b);
    eddy_tensor y = eddy_matmul(a->t, b->t, .transpose_a = transposed_a,
                                .transpose_b = !transposed_b);
    y = split(y, front, like_b, front + 1);
    a->t = split(y, front, like_a, front);
    a->axes = joined(&k->both, &k->a, &k->b);
}

/* Many rows times one matrix need no merging: a is [free, summed]. */
static void multiply_rows(term *a, term *b, const kinds *k)
{
    eddy_tensor like;
    const eddy_axes_of rows = joined(&k->both, &k->a, &k->summed);
    arrange(a, &rows);
    const bool transposed = matrices(b, k, &k->b, &like);
    a->t = merge(a->t, k->a.n, k->summed.n);
    a->t = eddy_matmul(a->t, b->t, .transpose_b = !transposed);
    a->t = split(a->t, 0, like, k->a.n);
    a->axes = joined(&k->both, &k->a, &k->b);
}

/* Replaces a by the product of a and b, summed over the labels that are not kept. */
static void multiply_pair(term *a, term *b, set keep)
{
    kinds k = kinds_of(a, b, keep);
    if (k.b.n > k.a.n) {
        const term other = *a;
        *a = *b;
        *b = other;
        k = kinds_of(a, b, keep);
    }
    const bool elements = k.summed.n == 0 || k.a.n + k.b.n == 0;
    check_shared_axes(a, b, &k.both);
    if (elements || k.summed.n > 1)
        check_shared_axes(a, b, &k.summed); /* a single one is checked by the matrix product */
    if (elements) {
        const kinds all = kinds_of(a, b, ~(set)0);
        multiply(a, b, &all);
        sum_out(a, keep);
    } else if (k.both.n == 0 && k.a.n > 1) {
        multiply_rows(a, b, &k);
    } else {
        multiply_matrices(a, b, &k);
    }
}

/* ----------------------------------------------------------- many tensors -- */

/* The size of each label; unknown sizes count as 32. */
typedef struct sizes {
    int64_t of[EDDY_LABELS];
} sizes;

static bool unify(eddy_graph *g, sizes *z, const term *x, int number)
{
    const eddy_shape s = eddy_shape_of(x->t);
    for (int i = 0; i < x->axes.n && s.rank >= 0; i++) {
        const int label = x->axes.label[i];
        int64_t  *size = &z->of[label];
        const bool broadcasts = label >= EDDY_ELLIPSIS_LABEL;
        if (s.dim[i] < 0 || s.dim[i] == *size || (broadcasts && s.dim[i] == 1)) continue;
        if (*size >= 0 && !(broadcasts && *size == 1)) {
            eddy_fail(
                g, EDDY_BAD_SHAPE,
                "einsum: axis %d of tensor %d is %lld, but another axis with its label is %lld", i,
                number, (long long)s.dim[i], (long long)*size);
            return false;
        }
        *size = s.dim[i];
    }
    return true;
}

static double cost(const sizes *z, set labels)
{
    double n = 1;
    for (int i = 0; i < EDDY_LABELS; i++)
        if (labels & set_of_label(i)) n *= z->of[i] < 0 ? 32 : (double)z->of[i];
    return n;
}

/* All labels of the result and of the tensors except a and b. */
static set labels_of_others(const term *x, int n, int a, int b, set out)
{
    for (int i = 0; i < n; i++)
        if (i != a && i != b) out |= set_of(&x[i].axes);
    return out;
}

/* Multiplies all tensors, each time the pair that takes the fewest multiplications; among ties,
 * the one with the smallest result. */
static void multiply_all(term *x, int n, const sizes *z, set out)
{
    for (; n > 1; n--) {
        int    a = 0, b = 1;
        double least = -1, smallest = 0;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                const set    all = set_of(&x[i].axes) | set_of(&x[j].axes);
                const double c = cost(z, all), r = cost(z, all & labels_of_others(x, n, i, j, out));
                if (least >= 0 && (c > least || (c == least && r >= smallest))) continue;
                least = c, smallest = r;
                a = i, b = j;
            }
        multiply_pair(&x[a], &x[b], labels_of_others(x, n, a, b, out));
        memmove(x + b, x + b + 1, (size_t)(n - b - 1) * sizeof *x);
    }
}

/* --------------------------------------------------------------- tools -- */

eddy_tensor eddy__contract(eddy_list tensors, const eddy_axes_of *axes, const eddy_axes_of *out)
{
    eddy_graph *g = tensors.at[0].graph;
    term  x[EDDY_EINSUM_INPUTS];
    sizes z;
    for (int i = 0; i < EDDY_LABELS; i++) z.of[i] = EDDY_ANY;
    for (int i = 0; i < tensors.count; i++) {
        x[i] = (term){ tensors.at[i], axes[i] };
        if (!unify(g, &z, &x[i], i)) return eddy_none(g);
        while (take_diagonal(&x[i])) continue;
    }
    for (int i = 0; i < tensors.count; i++)
        sum_out(&x[i], labels_of_others(x, tensors.count, i, i, set_of(out)));
    multiply_all(x, tensors.count, &z, set_of(out));
    arrange(&x[0], out);
    return x[0].t;
}
