/* mirror_pad.c -- mirror padding (reflect and symmetric), and its adjoint.
 *
 * Element o of the padded dimension is element source(o) of the original. The last padded dimension
 * and all dimensions after it form a line; a line is copied in three pieces: a mirrored one, the
 * whole line, and another mirrored one. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct mirror_attrs {
    eddy_dims before, after;
    bool      symmetric;
} mirror_attrs;

static const eddy_attr_field mirror_fields[] = EDDY_FIELDS(mirror_attrs, before, after, symmetric);

/* Entry i of a list; 0 if the list was omitted. */
static int64_t entry(const eddy_dims *d, int i) { return d->count > 0 ? d->at[i] : 0; }

/* *padded = a dimension plus the padding at its ends; refuses more than can be mirrored. */
static bool pad_dim(eddy_infer *c, int i, int64_t dim, int64_t *padded)
{
    const mirror_attrs *a = c->attrs;
    const int64_t before = entry(&a->before, i), after = entry(&a->after, i);
    const int64_t more = before > after ? before : after, least = a->symmetric ? more : more + 1;
    *padded = EDDY_ANY;
    if (before < 0 || after < 0 || before > INT64_MAX / 4 || after > INT64_MAX / 4)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "dimension %d cannot be padded by %lld and %lld", i,
                               (long long)before, (long long)after);
    if (dim == EDDY_ANY) return true;
    if (more > 0 && dim < least)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "dimension %d is %lld, too small to be mirrored by %lld and %lld",
                               i, (long long)dim, (long long)before, (long long)after);
    return __builtin_add_overflow(dim, before + after, padded) ? (*padded = INT64_MAX, true) : true;
}

/* The padded shape of x; if the rank is unknown, as many open dimensions as there are entries. */
static bool padded_shape(eddy_infer *c, eddy_shape x, eddy_shape *out)
{
    const mirror_attrs *a = c->attrs;
    int rank;
    if (!eddy__infer_dims_pair(c, "before", a->before, "after", a->after, &rank)) return false;
    *out = eddy__shape_open(rank);
    if (x.rank >= 0 && out->rank >= 0 && x.rank != out->rank)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the rank of the padded tensor is %d; expected %d, that of the "
                               "reference", out->rank, x.rank);
    for (int i = 0; i < out->rank; i++)
        if (!pad_dim(c, i, x.rank < 0 ? EDDY_ANY : x.dim[i], &out->dim[i])) return false;
    return true;
}

/* --------------------------------------------------------------- moving -- */

/* Maps rows of the padded tensor, before the last padded dimension, to rows of the original. */
typedef struct mirror {
    const mirror_attrs *a;
    eddy_shape          x, y;          /* the tensor and the padded one */
    int                 last, first;   /* padded dimensions; -1 and the rank if there is none */
    int64_t             inner;         /* number of elements after the last one */
    size_t              size;
    const char         *from;
    char               *to;
    eddy_row_fn         add;           /* of the adjoint */
} mirror;

static mirror mirror_of(const mirror_attrs *a, eddy_shape x, eddy_shape y, eddy_dtype d)
{
    mirror m = { .a = a, .x = x, .y = y, .last = -1, .first = x.rank, .size = eddy_dtype_size(d) };
    for (int i = 0; i < x.rank; i++)
        if (x.dim[i] != y.dim[i]) {
            if (m.last < 0) m.first = i;
            m.last = i;
        }
    m.inner = eddy__shape_product(x, m.last + 1, x.rank);
    return m;
}

static int64_t source(const mirror *m, int i, int64_t o)
{
    const int64_t at = o - entry(&m->a->before, i), n = m->x.dim[i], shift = !m->a->symmetric;
    return at < 0 ? -at - 1 + shift : at >= n ? 2 * n - 1 - at - shift : at;
}

/* The line of x that line o of y mirrors. */
static int64_t source_line(const mirror *m, int64_t o)
{
    int64_t line = 0, step = 1;
    for (int i = m->last - 1; i >= 0; i--) {
        line += source(m, i, o % m->y.dim[i]) * step;
        o /= m->y.dim[i];
        step *= m->x.dim[i];
    }
    return line;
}

/* Lines [from, to) of y, copied from those of x. */
static void pad_lines(void *arg, int64_t from, int64_t to, int worker)
{
    const mirror *m = arg;
    const int64_t n = m->x.dim[m->last], wide = m->y.dim[m->last];
    const int64_t before = entry(&m->a->before, m->last);
    const size_t  bytes = (size_t)m->inner * m->size;
    (void)worker;
    for (int64_t o = from; o < to; o++) {
        const char *x = m->from + (size_t)(source_line(m, o) * n) * bytes;
        char       *y = m->to + (size_t)(o * wide) * bytes;
        for (int64_t j = 0; j < before; j++)
            memcpy(y + (size_t)j * bytes, x + (size_t)source(m, m->last, j) * bytes, bytes);
        memcpy(y + (size_t)before * bytes, x, (size_t)n * bytes);
        for (int64_t j = before + n; j < wide; j++)
            memcpy(y + (size_t)j * bytes, x + (size_t)source(m, m->last, j) * bytes, bytes);
    }
}

/* Parts [from, to) of x, each of which contains all dimensions from the first padded one on: the
 * lines of y are added in order. */
static void fold_parts(void *arg, int64_t from, int64_t to, int worker)
{
    const mirror *m = arg;
    const int64_t n = m->x.dim[m->last], wide = m->y.dim[m->last];
    const int64_t before = entry(&m->a->before, m->last);
    const int64_t lines = eddy__shape_product(m->y, m->first, m->last);
    const size_t  bytes = (size_t)m->inner * m->size;
    const size_t  part = (size_t)eddy__shape_product(m->x, m->first, m->last + 1) * bytes;
    (void)worker;
    memset(m->to + (size_t)from * part, 0, (size_t)(to - from) * part);
    for (int64_t o = from * lines; o < to * lines; o++) {
        const char *y = m->from + (size_t)(o * wide) * bytes;
        char       *x = m->to + (size_t)(source_line(m, o) * n) * bytes;
        for (int64_t j = 0; j < before; j++)
            m->add(m->inner, x + (size_t)source(m, m->last, j) * bytes, y + (size_t)j * bytes);
        m->add(n * m->inner, x, y + (size_t)before * bytes);
        for (int64_t j = before + n; j < wide; j++)
            m->add(m->inner, x + (size_t)source(m, m->last, j) * bytes, y + (size_t)j * bytes);
    }
}

static void mirror_batch(eddy_batch *b)
{
    mirror_attrs a = *(const mirror_attrs *)b->attrs;
    if (eddy__batch_entries(&a.before, 0) && eddy__batch_entries(&a.after, 0))
        eddy_batch_apply(b, &a);
}

/* ------------------------------------------------------------ mirror_pad -- */

/** y = x padded with before[i] elements before dimension i and after[i] after it, which mirror
 *  the elements of x.
 *
 *  x          any element type and shape
 *  before     one entry per dimension, >= 0; default: all 0
 *  after      likewise
 *  symmetric  true: mirrored at the edge, so the edge element is repeated: 2 1 | 1 2 3;
 *             false: mirrored at the edge element, which is not repeated: 3 2 | 1 2 3
 *
 *  Errors: EDDY_BAD_SHAPE if a list does not have one entry per dimension or a dimension is too
 *  small to be mirrored that far, EDDY_INVALID_ARGUMENT if an entry is negative.
 *  Gradient: dx = dy with each mirrored element added to its source.  TensorFlow: MirrorPad. */
#ifdef EDDY_HEADER
typedef struct eddy_mirror_pad_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_mirror_pad_args));
    eddy_tensor x;
    eddy_dims   before, after;
    bool        symmetric;
    const char *name;
} eddy_mirror_pad_args;
#endif
static bool mirror_pad_infer(eddy_infer *c)
{
    eddy_shape s;
    return padded_shape(c, c->in[0].shape, &s) && eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static eddy_status mirror_pad_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 17 };
    const eddy_buffer *x = k->in[0], *y = k->out[0];
    mirror m = mirror_of(k->attrs, x->type.shape, y->type.shape, y->type.dtype);
    m.from = x->data;
    m.to = y->data;
    if (y->count == 0) return EDDY_OK;
    if (m.last < 0) {
        memcpy(m.to, m.from, (size_t)y->count * m.size);
        return EDDY_OK;
    }
    const int64_t lines = eddy__shape_product(m.y, 0, m.last);
    eddy__parallel_or_stop(k, lines, BYTES * lines / (y->count * (int64_t)m.size) + 1, pad_lines,
                           &m);
    return EDDY_OK;
}

static eddy_tensor folded(eddy_tensor dy, eddy_tensor ref, const void *attrs)
{
    return eddy_apply2(&eddy_op_mirror_pad_grad, attrs, dy, ref);
}

static void mirror_pad_gradient(eddy_rule *r) { r->dx[0] = folded(r->dy[0], r->x[0], r->attrs); }

const eddy_op_def eddy_op_mirror_pad = {
    .name = "MirrorPad", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(mirror_attrs), .attrs = mirror_fields,
    .infer = mirror_pad_infer, .kernel = mirror_pad_kernel, .gradient = mirror_pad_gradient,
    .batch = mirror_batch,
};

eddy_tensor eddy_mirror_pad_with(const eddy_mirror_pad_args *given)
{
    eddy_mirror_pad_args a = EDDY_TAKE(eddy_mirror_pad_args, given);
    return eddy__apply_named(a.name, &eddy_op_mirror_pad,
                             &(mirror_attrs){ a.before, a.after, a.symmetric }, 1, &a.x);
}

/* ------------------------------------------------------- mirror_pad_grad -- */

static bool mirror_grad_infer(eddy_infer *c)
{
    const eddy_shape dy = c->in[0].shape, ref = c->in[1].shape;
    eddy_shape want;
    char got[128], text[128];
    if (!padded_shape(c, ref, &want)) return false;
    if (!eddy_shape_compatible(want, dy))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dy has shape %s; expected %s",
                               eddy_shape_print(dy, got, sizeof got),
                               eddy_shape_print(want, text, sizeof text));
    return eddy__infer_yield(c, 0, c->in[0].dtype, ref);
}

static eddy_status mirror_grad_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 17 };
    const eddy_buffer *y = k->in[0], *x = k->out[0];
    mirror m = mirror_of(k->attrs, x->type.shape, y->type.shape, y->type.dtype);
    m.from = y->data;
    m.to = x->data;
    m.add = eddy__row_add(x->type.dtype);
    if (x->count == 0) return EDDY_OK;
    if (m.last < 0) {
        memcpy(m.to, m.from, (size_t)x->count * m.size);
        return EDDY_OK;
    }
    const int64_t parts = eddy__shape_product(m.y, 0, m.first);
    eddy__parallel_or_stop(k, parts, BYTES * parts / (y->count * (int64_t)m.size) + 1, fold_parts,
                           &m);
    return EDDY_OK;
}

static void mirror_grad_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(&eddy_op_mirror_pad, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_mirror_pad_grad = {
    .name = "MirrorPadGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "dy", EDDY_TAKES_NUMBERS_COMPLEX }, { "x", EDDY_ANY_TYPE }),
    .shape_inputs = 1u << 1, .attrs_size = sizeof(mirror_attrs), .attrs = mirror_fields,
    .flops = eddy_flops_per_input,
    .infer = mirror_grad_infer, .kernel = mirror_grad_kernel, .gradient = mirror_grad_gradient,
    .batch = mirror_batch,
};
