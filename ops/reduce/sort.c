/* sort.c -- sort and argsort along an axis, n-th element, median and quantiles. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/along_axis.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "graph/base/stop.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct sort_attrs {
    int64_t axis;
    bool    descending;
} sort_attrs;

static bool sort_infer(eddy_infer *c)
{
    return eddy__infer_with_indices(c, ((const sort_attrs *)c->attrs)->axis);
}

/* Neighboring lanes are loaded together, to use the cache well. */
enum { WIDTH = 16 };

typedef struct sorting {
    const eddy_kernel *k;
    const eddy_words  *words;
    eddy_lanes         lanes;
    int64_t            groups;          /* of WIDTH lanes, in each outer position */
    bool               descending;
} sorting;

static sorting sorting_of(const eddy_kernel *k)
{
    const sort_attrs *a = k->attrs;
    const eddy_type   x = k->in[0]->type;
    const eddy_lanes  l = eddy__lanes_of(x.shape, a->axis);
    return (sorting){ k, eddy__words_of(x.dtype), l, (l.inner + WIDTH - 1) / WIDTH, a->descending };
}

/* The words of a worker: those of at most WIDTH lanes, and scratch memory. */
static uint64_t scratch_of(const sorting *s)
{
    const int64_t width = s->lanes.inner < WIDTH ? s->lanes.inner : WIDTH;
    return (uint64_t)((width + 1) * s->lanes.n) * s->words->size;
}

static eddy_status sort_prepare(eddy_kernel *k)
{
    const sorting s = sorting_of(k);
    k->scratch_size = (uint64_t)k->threads * scratch_of(&s);
    return EDDY_OK;
}

/* Writes the elements of `width` lanes in the order of their words, beginning at element `at`. */
static void write_sorted(const sorting *s, const char *words, int64_t at, int64_t width)
{
    const size_t  size = eddy_dtype_size(s->k->in[0]->type.dtype);
    const int64_t n = s->lanes.n, inner = s->lanes.inner;
    const char   *x = s->k->in[0]->data;
    char         *y = s->k->out[0]->data;
    int32_t      *places = s->k->out[1]->data;
    for (int64_t j = 0; j < n && !eddy__stopped_at(s->k->stop, j); j++)
        for (int64_t c = 0; c < width; c++) {
            const int64_t place = s->words->place(words, c * n + j), to = at + j * inner + c;
            const size_t  from = (size_t)(at + place * inner + c);
            places[to] = (int32_t)place;
            if (size == 4) memcpy(y + 4 * to, x + 4 * from, 4);
            else memcpy(y + size * (size_t)to, x + size * from, size);
        }
}

/* Groups [from, to) of lanes. */
static void sort_some(void *arg, int64_t from, int64_t to, int worker)
{
    const sorting *s = arg;
    const eddy_lanes l = s->lanes;
    const size_t lane = (size_t)l.n * s->words->size;
    const size_t size = eddy_dtype_size(s->k->in[0]->type.dtype);
    char *room = (char *)s->k->scratch + (size_t)worker * scratch_of(s), *words = room + lane;
    for (int64_t g = from; g < to; g++) {
        const int64_t first = g % s->groups * WIDTH, left = l.inner - first;
        const int64_t width = left < WIDTH ? left : WIDTH;
        const int64_t at = g / s->groups * l.n * l.inner + first;
        s->words->load(words, (const char *)s->k->in[0]->data + (size_t)at * size, l.n, width,
                       l.inner, s->descending, s->k->stop);
        for (int64_t c = 0; c < width; c++)
            if (!s->words->sort(words + (size_t)c * lane, room, l.n, s->k->stop)) return;
        write_sorted(s, words, at, width);
    }
}

static eddy_status sort_kernel(eddy_kernel *k)
{
    enum { WORK = 1 << 12 };
    sorting s = sorting_of(k);
    if (k->out[0]->count == 0) return EDDY_OK;
    const int64_t width = s.lanes.inner < WIDTH ? s.lanes.inner : WIDTH;
    eddy__parallel_or_stop(k, s.lanes.outer * s.groups, WORK / (s.lanes.n * width) + 1, sort_some,
                           &s);
    return EDDY_OK;
}

static void sort_gradient(eddy_rule *r)
{
    const sort_attrs *a = r->attrs;
    r->dx[0] = eddy_put_along(r->dy[0], r->y[1], r->x[0], a->axis);
}

static void sort_batch(eddy_batch *b)
{
    sort_attrs a = *(const sort_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_sort = {
    .name = "Sort", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_ORDERED }),
    .attrs_size = sizeof(sort_attrs),
    .attrs = EDDY_ATTRS(sort_attrs, axis, descending),
    .flops = eddy_flops_per_input,
    .infer = sort_infer, .prepare = sort_prepare, .kernel = sort_kernel,
    .gradient = sort_gradient, .batch = sort_batch,
};

#ifdef EDDY_HEADER
typedef struct eddy_sort_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sort_args));
    eddy_tensor x;
    eddy_dims   axis;           /* EDDY_AXES(a); default the last */
    bool        descending;
    const char *name;
} eddy_sort_args;
#endif

/** y = the elements of x along `axis` in ascending order; eddy_output(y, 1) holds their indices.
 *
 *  x           float32, float64, int32, int64, uint8 or bool, rank at least 1
 *  axis        EDDY_AXES(a), in [-rank, rank); default the last
 *  descending  the largest first
 *
 *  Returns output 0; output 1 holds the indices, int32.  The sort is stable in both directions,
 *  and 0 equals -0.  NaN counts as the largest value: it comes last, as in NumPy, or first if
 *  descending.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis; EDDY_LIMIT if the indices may not fit in
 *  int32.
 *  Gradient: dx = dy scattered to the original indices.  TensorFlow: tf.sort. */
eddy_tensor eddy_sort_with(const eddy_sort_args *given)
{
    eddy_sort_args a = EDDY_TAKE(eddy_sort_args, given);
    sort_attrs attrs = { .descending = a.descending };
    if (!eddy__take_axis(a.x.graph, &eddy_op_sort, a.axis, &attrs.axis))
        return eddy_none(a.x.graph);
    return eddy__apply_named(a.name, &eddy_op_sort, &attrs, 1, &a.x);
}

/** y = the indices that sort x along `axis`; int32.
 *
 *  x, axis, descending  as for eddy_sort, whose output 1 this is
 *
 *  Errors: as for eddy_sort.
 *  Gradient: none.  TensorFlow: tf.argsort, always stable. */
eddy_tensor eddy_argsort_with(const eddy_sort_args *given)
{
    eddy_sort_args a = EDDY_TAKE(eddy_sort_args, given);
    return eddy_output(eddy_sort_with(&a), 1);
}

/* ------------------------------------------------------------ order statistics -- */

/** y = the n-th smallest element of each row of x, with n counted from 0; the n-th largest with
 *  `reverse`.
 *
 *  x  as for eddy_sort, [..., m]
 *  n  in [0, m)
 *
 *  Errors: as for eddy_sort; EDDY_OUT_OF_RANGE for an n outside [0, m).
 *  Gradient: dy to the selected element; TensorFlow divides it among equal elements.
 *  TensorFlow: NthElement. */
eddy_tensor eddy_nth_element(eddy_tensor x, int64_t n, bool reverse)
{
    const eddy_shape s = eddy_shape_of(x);
    if (n < 0 || (s.rank > 0 && s.dim[s.rank - 1] >= 0 && n >= s.dim[s.rank - 1]))
        return eddy_fail(x.graph, EDDY_OUT_OF_RANGE,
                         "nth_element: n is %lld; expected a number in [0, %lld)", (long long)n,
                         (long long)(s.rank > 0 ? s.dim[s.rank - 1] : 0));
    const eddy_tensor y = eddy_sort(x, .descending = reverse);
    return eddy_gather(y, eddy_number(x.graph, EDDY_INT64, (double)n), .axis = -1);
}

#ifdef EDDY_HEADER
typedef enum eddy_between {
    EDDY_LINEAR, EDDY_LOWER, EDDY_HIGHER, EDDY_NEAREST, EDDY_MIDPOINT
} eddy_between;

typedef struct eddy_quantile_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_quantile_args));
    eddy_tensor  x;
    double       q;
    eddy_dims    axis;           /* EDDY_AXES(a); default all elements */
    eddy_between interpolation;
    bool         keepdims;
} eddy_quantile_args;
#endif

/* The elements at index `at`, a scalar, of the sorted rows. */
static eddy_tensor element(eddy_tensor sorted, eddy_tensor at, int64_t axis)
{
    return eddy_gather(sorted, Cast(at, EDDY_INT64), .axis = axis);
}

/* Between the elements below and above position q (n - 1). */
static eddy_tensor between(eddy_tensor sorted, double q, int64_t axis, eddy_between how)
{
    const eddy_tensor n = Cast(eddy_size_along(sorted, axis), EDDY_FLOAT64);
    const eddy_tensor at = Mul(q, Sub(n, 1)), below = Floor(at);
    const eddy_tensor low = element(sorted, below, axis), high = element(sorted, Ceil(at), axis);
    switch ((int)how) {
    case EDDY_LOWER:    return low;
    case EDDY_HIGHER:   return high;
    case EDDY_NEAREST:  return element(sorted, Round(at), axis);
    case EDDY_MIDPOINT: return Add(Mul(0.5, low), Mul(0.5, high));
    default:            break;
    }
    /* An infinity that is one of the elements, or both, is not subtracted from itself. */
    const eddy_tensor t = CastLike(Sub(at, below), low);
    const eddy_tensor both = LogicalAnd(Equal(low, high), LogicalNot(IsFinite(low)));
    /* The difference of two elements may overflow. */
    const eddy_tensor near = IsFinite(Sub(high, low));
    const eddy_tensor sum = Add(Mul(Sub(1, t), low), Mul(t, high));
    const eddy_tensor y = Where(near, eddy_lerp(low, high, t), sum);
    return Where(LogicalOr(Equal(t, 0), both), low, y);
}

/* True, with an error, if it is known that the rows have none. */
static bool has_no_elements(eddy_tensor sorted, int64_t axis)
{
    char             text[100];
    const eddy_shape s = eddy_shape_of(sorted);
    const int64_t    at = axis < 0 ? axis + s.rank : axis;
    if (s.rank < 0 || at < 0 || at >= s.rank || s.dim[at] != 0) return false;
    eddy_fail(sorted.graph, EDDY_BAD_SHAPE, "quantile: Reduction axis %lld is empty in shape %s",
              (long long)axis, eddy_shape_print(s, text, sizeof text));
    return true;
}

/** y = the quantile q of x along `axis`: the sorted elements interpolated at position q (n - 1).
 *
 *  x              float32 or float64, with n >= 1 elements along the axis
 *  q              in [0, 1]; 0.5: the median
 *  axis           EDDY_AXES(a); default all elements
 *  interpolation  used where the position is between two elements: EDDY_LINEAR (default),
 *                 EDDY_LOWER, EDDY_HIGHER, EDDY_NEAREST (ties to the even index) or EDDY_MIDPOINT
 *  keepdims       keeps the axis, with size 1
 *
 *  y is NaN if any element is NaN.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid q or axis; EDDY_BAD_DTYPE for other element
 *  types; EDDY_BAD_SHAPE if the axis is empty, or in a run those of eddy_gather.
 *  Gradient: dx = dy times the interpolation weight at each of the two elements, and 0 elsewhere.
 *  TensorFlow: tfp.stats.percentile; NumPy's quantile. */
eddy_tensor eddy_quantile_with(const eddy_quantile_args *given)
{
    eddy_quantile_args a = EDDY_TAKE(eddy_quantile_args, given);
    const eddy_dtype d = eddy_dtype_of(a.x);
    if (eddy_is_valid(a.x) && !eddy_dtype_is_floating(d))
        return eddy_fail(a.x.graph, EDDY_BAD_DTYPE,
                         "quantile: x is %s; float32 or float64 expected", eddy_dtype_name(d));
    if (!(a.q >= 0 && a.q <= 1))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "quantile: q is %g; expected [0, 1]",
                         a.q);
    const bool        all = a.axis.count == 0 && !a.axis.no_number_;
    const int64_t     axis = all ? 0 : a.axis.at[0];
    const eddy_tensor x = all ? eddy_reshape(a.x, EDDY_SHAPE(EDDY_ANY)) : a.x;
    const eddy_tensor sorted = eddy_sort(x, all ? EDDY_AXES(0) : a.axis);
    if (has_no_elements(sorted, axis)) return eddy_none(a.x.graph);
    const eddy_tensor y = between(sorted, a.q, axis, a.interpolation);
    const eddy_tensor largest = Max(x, EDDY_AXES(axis));
    const eddy_tensor value = Where(IsNan(largest), largest, y);
    if (!a.keepdims) return value;
    return eddy_reshape_like(value, Max(a.x, .axes = a.axis, .keepdims = true));
}

/** y = the q-th percentile of x: eddy_quantile of q / 100, with the same options.
 *
 *  Errors, Gradient: as for eddy_quantile.  TensorFlow: tfp.stats.percentile. */
eddy_tensor eddy_percentile_with(const eddy_quantile_args *given)
{
    eddy_quantile_args a = EDDY_TAKE(eddy_quantile_args, given);
    a.q /= 100;
    return eddy_quantile_with(&a);
}

/** y = the median of x along `axis`: eddy_quantile of 0.5, with the same options; q is ignored.
 *
 *  Errors, Gradient: as for eddy_quantile.
 *  TensorFlow: none; NumPy's median; PyTorch's returns the lower of two middle elements. */
eddy_tensor eddy_median_with(const eddy_quantile_args *given)
{
    eddy_quantile_args a = EDDY_TAKE(eddy_quantile_args, given);
    a.q = 0.5;
    return eddy_quantile_with(&a);
}
