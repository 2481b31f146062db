/* frames.c -- frame and overlap_and_add: a signal is split into overlapping frames, and frames
 * are summed to a signal; each is the gradient of the other. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/signal/frames.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct frame_attrs {
    int64_t frame_length, frame_step; /* length 0: that of input 1 */
    int64_t inner;                    /* number of axes after that of the signal */
    bool    pad_end;
    double  pad_value;
} frame_attrs;

static const eddy_attr_field frame_fields[] =
    EDDY_FIELDS(frame_attrs, frame_length, frame_step, inner, pad_end, pad_value);

/* --------------------------------------------------------------- shared -- */

static bool infer_attrs(eddy_infer *c, int extra)
{
    const frame_attrs *a = c->attrs;
    const int rank = c->in[0].shape.rank;
    if (a->frame_step < 1 || a->frame_length < 0 || a->inner < 0)
        return eddy_infer_fail(
            c, EDDY_INVALID_ARGUMENT,
            "the frame length is %lld and the step is %lld; they must be positive",
            (long long)a->frame_length, (long long)a->frame_step);
    if (rank >= 0 && a->inner + extra > rank)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "x has rank %d; expected an axis before the last %lld", rank,
                               (long long)(a->inner + extra - 1));
    return true;
}

/* Checks that the last frame begins at a position that int64 can represent. */
static bool infer_end(eddy_infer *c, int64_t frames, int64_t length, int64_t *n)
{
    const int64_t step = ((const frame_attrs *)c->attrs)->frame_step;
    if (!__builtin_mul_overflow(frames - 1, step, n) && !__builtin_add_overflow(*n, length, n))
        return true;
    return eddy_infer_fail(c, EDDY_LIMIT, "%lld frames with step %lld are too long",
                           (long long)frames, (long long)step);
}

/* The layout of the elements: outer signals of n positions with `inner` elements; their frames. */
typedef struct layout {
    const eddy_kernel *k;
    int64_t outer, n, inner, frames, length, step;
    size_t  size;
} layout;

static layout layout_of(const eddy_kernel *k, const eddy_type *signal, const eddy_type *framed)
{
    const frame_attrs *a = k->attrs;
    const eddy_shape   s = signal->shape, f = framed->shape;
    const int          at = s.rank - 1 - (int)a->inner;
    return (layout){ k, eddy__shape_product(s, 0, at), s.dim[at],
                     eddy__shape_product(s, at + 1, s.rank), f.dim[at], f.dim[at + 1],
                     a->frame_step, eddy_dtype_size(signal->dtype) };
}

/* ---------------------------------------------------------------- frame -- */

/* The shape of the frames of n positions, as far as it is known. */
static int64_t frames_of(const frame_attrs *a, int64_t n)
{
    if (n == EDDY_ANY) return EDDY_ANY;
    if (a->pad_end) return n / a->frame_step + (n % a->frame_step > 0);
    return n < a->frame_length ? 0 : 1 + (n - a->frame_length) / a->frame_step;
}

static bool frame_infer(eddy_infer *c)
{
    const frame_attrs *a = c->attrs;
    const eddy_shape   x = c->in[0].shape;
    eddy_shape         y = { .rank = x.rank + 1 };
    if (!infer_attrs(c, 1)) return false;
    if (x.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, x);
    if (y.rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "frames would have rank %d; the limit is %d", y.rank,
                               EDDY_MAX_RANK);
    const int at = x.rank - 1 - (int)a->inner;
    for (int i = 0; i < y.rank; i++) y.dim[i] = x.dim[i > at ? i - 1 : i];
    y.dim[at] = frames_of(a, x.dim[at]);
    y.dim[at + 1] = a->frame_length;
    if (c->n_in > 1) {
        const eddy_shape ref = c->in[1].shape;
        const int        from = ref.rank - 2 - (int)a->inner;
        if (ref.rank >= 0 && from < 0)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "input 1 has rank %d, too low for frames",
                                   ref.rank);
        for (int i = 0; i < 2; i++) y.dim[at + i] = ref.rank < 0 ? EDDY_ANY : ref.dim[from + i];
        int64_t end;
        if (y.dim[at] > 0 && y.dim[at + 1] >= 0 && !infer_end(c, y.dim[at], y.dim[at + 1], &end))
            return false;
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

/* The value after the end of the signal, as an element. */
static eddy_status frame_prepare(eddy_kernel *k)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    void       *element = eddy_kernel_state(k, eddy_dtype_size(d));
    eddy_array *a = eddy_array_new(d, EDDY_SCALAR);
    const bool  ok = element && a;
    if (ok) {
        eddy_array_set(a, 0, ((const frame_attrs *)k->attrs)->pad_value);
        memcpy(element, eddy_array_data(a), eddy_dtype_size(d));
    }
    eddy_array_free(a);
    return ok ? EDDY_OK : eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the element");
}

static void some_frames(void *arg, int64_t from, int64_t to, int worker)
{
    const layout *l = arg;
    const size_t  place = (size_t)l->inner * l->size, row = (size_t)l->length * place;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = i % l->frames * l->step, left = l->n - at;
        const int64_t have = left < 0 ? 0 : left < l->length ? left : l->length;
        const char   *x = (const char *)l->k->in[0]->data
                        + (size_t)(i / l->frames * l->n + (have > 0 ? at : 0)) * place;
        char         *y = (char *)l->k->out[0]->data + (size_t)i * row, *end = y + row;
        if (have > 0) memcpy(y, x, (size_t)have * place);
        for (y += (size_t)have * place; y < end; y += l->size) memcpy(y, l->k->state, l->size);
    }
}

static eddy_status frame_kernel(eddy_kernel *k)
{
    enum { WORK = 1 << 14 };                   /* the number of elements that is worth a thread */
    layout l = layout_of(k, &k->in[0]->type, &k->out[0]->type);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, l.outer * l.frames, 1 + WORK / (l.length * l.inner), some_frames, &l);
    return EDDY_OK;
}

static void frame_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->dy[0], r->x[0] };
    r->dx[0] = eddy_apply(&eddy_op_overlap_and_add, r->attrs, 2, in, (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_frame = {
    .name = "Frame", .label = "frame", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 1u << 1, .attrs_size = sizeof(frame_attrs), .attrs = frame_fields,
    .infer = frame_infer, .prepare = frame_prepare, .kernel = frame_kernel,
    .gradient = frame_gradient, .batch = eddy_batch_as_is,
};

#ifdef EDDY_HEADER
typedef struct eddy_frame_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_frame_args));
    eddy_tensor signal;
    int64_t     frame_length, frame_step;
    bool        pad_end;
    double      pad_value;
    eddy_dims   axis;              /* a list of one entry; default: the last */
    const char *name;
} eddy_frame_args;
#endif

/** y = frames of the signal: y[..., f, j] = signal[..., f frame_step + j].
 *
 *  signal        any element type, rank in [1, 7]
 *  frame_length  the number of positions of a frame, at least 1
 *  frame_step    the distance between frames, at least 1
 *  pad_end       true: a frame begins at every step inside the signal, and is padded with
 *                pad_value; false: there are only complete frames
 *  axis          the axis of the signal, EDDY_AXES(0), which becomes two: frames and positions
 *
 *  Errors: EDDY_INVALID_ARGUMENT for a length or step below 1 or an axis that does not exist;
 *  EDDY_BAD_SHAPE for a scalar, or an axis counted from the front if the rank is unknown;
 *  EDDY_LIMIT for rank 8.
 *  Gradient: dsignal = the sum of the overlapping frames of dy.  TensorFlow: tf.signal.frame. */
eddy_tensor eddy_frame_with(const eddy_frame_args *given)
{
    eddy_frame_args a = EDDY_TAKE(eddy_frame_args, given);
    const int  rank = eddy_shape_of(a.signal).rank;
    int64_t    axis = a.axis.count > 0 ? a.axis.at[0] : -1;
    if (!eddy_is_valid(a.signal)) return a.signal;
    if (eddy_refuse_number(a.signal.graph, "frame", "axis", a.axis))
        return eddy_none(a.signal.graph);
    if (a.frame_length < 1 || a.frame_step < 1)
        return eddy_fail(a.signal.graph, EDDY_INVALID_ARGUMENT,
                         "frame: the length is %lld and the step is %lld; both must be at least 1",
                         (long long)a.frame_length, (long long)a.frame_step);
    if (axis >= 0 && rank < 0)
        return eddy_fail(a.signal.graph, EDDY_BAD_SHAPE,
                         "frame: axis %lld requires a signal of known rank", (long long)axis);
    if (a.axis.count > 1 || (rank > 0 && (axis >= rank || axis < -rank)) || axis < -EDDY_MAX_RANK)
        return eddy_fail(a.signal.graph, EDDY_INVALID_ARGUMENT, "frame: a signal of rank %d has no "
                         "axis %lld", rank, (long long)axis);
    if (axis >= 0) axis -= rank;
    const frame_attrs attrs = { a.frame_length, a.frame_step, -1 - axis, a.pad_end, a.pad_value };
    return eddy__apply_named(a.name, &eddy_op_frame, &attrs, 1, &a.signal);
}

/* ------------------------------------------------------ overlap_and_add -- */

static bool overlap_infer(eddy_infer *c)
{
    const frame_attrs *a = c->attrs;
    const eddy_shape   x = c->in[0].shape;
    if (!infer_attrs(c, 2)) return false;
    if (x.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, x);
    const int  at = x.rank - 2 - (int)a->inner;
    eddy_shape y = eddy__shape_without(x, at + 1);
    if (c->n_in > 1) {
        const eddy_shape ref = c->in[1].shape;
        const int        from = ref.rank - 1 - (int)a->inner;
        if (ref.rank >= 0 && from < 0)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "input 1 has rank %d, too low for a signal",
                                   ref.rank);
        y.dim[at] = ref.rank < 0 ? EDDY_ANY : ref.dim[from];
        return eddy__infer_yield(c, 0, c->in[0].dtype, y);
    }
    const int64_t frames = x.dim[at], length = x.dim[at + 1];
    int64_t       n = 0;
    if (frames == EDDY_ANY || length == EDDY_ANY) n = frames == 0 ? 0 : EDDY_ANY;
    else if (frames > 0 && !infer_end(c, frames, length, &n)) return false;
    y.dim[at] = n;
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

enum { BLOCK = 1 << 14 };                      /* the number of elements that is worth a thread */

static int64_t block_of(const layout *l) { return 1 + BLOCK / l->inner; }
static int64_t blocks_of(const layout *l) { return (l->n + block_of(l) - 1) / block_of(l); }

/* Positions [first, end) of one signal: adds the part of each frame there, in order. */
static void add_frames(const layout *l, int64_t signal, int64_t first, int64_t end)
{
    const eddy_row_fn add = eddy__row_add(l->k->out[0]->type.dtype);
    const size_t      place = (size_t)l->inner * l->size;
    char *y = (char *)l->k->out[0]->data + (size_t)(signal * l->n) * place;
    memset(y + (size_t)first * place, 0, (size_t)(end - first) * place);
    int64_t f = first < l->length ? 0 : (first - l->length) / l->step + 1;
    for (; f < l->frames && f <= (end - 1) / l->step; f++) {
        const int64_t begin = f * l->step, from = begin < first ? first : begin;
        const int64_t to = end - begin < l->length ? end : begin + l->length;
        const char   *x = (const char *)l->k->in[0]->data
                        + (size_t)((signal * l->frames + f) * l->length + from - begin) * place;
        if (from < to) add((to - from) * l->inner, y + (size_t)from * place, x);
    }
}

static void some_blocks(void *arg, int64_t from, int64_t to, int worker)
{
    const layout *l = arg;
    const int64_t blocks = blocks_of(l), size = block_of(l);
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int64_t first = i % blocks * size, end = first + size;
        add_frames(l, i / blocks, first, end < l->n ? end : l->n);
    }
}

static eddy_status overlap_kernel(eddy_kernel *k)
{
    layout l = layout_of(k, &k->out[0]->type, &k->in[0]->type);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, l.outer * blocks_of(&l), 1 + BLOCK / (l.n * l.inner), some_blocks,
                           &l);
    return EDDY_OK;
}

static void overlap_gradient(eddy_rule *r)
{
    const eddy_tensor in[] = { r->dy[0], r->x[0] };
    frame_attrs a = *(const frame_attrs *)r->attrs;
    a.frame_length = 0;
    a.pad_value = 0;
    r->dx[0] = eddy_apply(&eddy_op_frame, &a, 2, in, (eddy_apply_args){ 0 });
}

const eddy_op_def eddy_op_overlap_and_add = {
    .name = "OverlapAndAdd", .label = "overlap_and_add", .min_inputs = 1, .max_inputs = 2,
    .outputs = 1, .shape_inputs = 1u << 1, .attrs_size = sizeof(frame_attrs),
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX }, { "like", EDDY_ANY_TYPE }),
    .attrs = frame_fields, .flops = eddy_flops_per_input, .infer = overlap_infer,
    .kernel = overlap_kernel, .gradient = overlap_gradient, .batch = eddy_batch_as_is,
};

/** y = the signal that these frames yield when they are summed where they overlap.
 *
 *  signal      a numeric element type [..., frames, frame_length]
 *  frame_step  the distance between frames, at least 1
 *
 *  y is [..., (frames - 1) frame_step + frame_length], or [..., 0] without frames.
 *  Errors: EDDY_BAD_SHAPE below rank 2; EDDY_INVALID_ARGUMENT for a step below 1; EDDY_LIMIT for
 *  a signal that is too long.
 *  Gradient: dsignal = the frames of dy.  TensorFlow: tf.signal.overlap_and_add. */
eddy_tensor eddy_overlap_and_add(eddy_tensor signal, int64_t frame_step)
{
    return eddy_apply1(&eddy_op_overlap_and_add, &(frame_attrs){ .frame_step = frame_step },
                       signal);
}

/* --------------------------------------------------------------- tools -- */

eddy_tensor eddy__fit_last(eddy_tensor x, int64_t n)
{
    const eddy_shape s = eddy_shape_of(x);
    eddy_dims after = { .count = s.rank }, begin = { .count = s.rank }, size = { .count = s.rank };
    if (s.rank < 1 || s.dim[s.rank - 1] == n) return x;
    const int64_t more = n - s.dim[s.rank - 1];
    for (int i = 0; i < s.rank; i++) size.at[i] = i == s.rank - 1 ? n : -1;
    if (more < 0) return eddy_slice(x, begin, size);
    after.at[s.rank - 1] = more;
    return eddy_pad(x, .after = after);
}
