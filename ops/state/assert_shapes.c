/* assert_shapes.c -- assertions about ranks, shapes and element types. They compute nothing:
 * conditions that are unknown while building are checked when a session compiles. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- ensure_shape -- */

typedef struct ensure_attrs {
    eddy_shape shape;
} ensure_attrs;

static bool ensure_infer(eddy_infer *c)
{
    const ensure_attrs *a = c->attrs;
    eddy_shape s = c->in[0].shape;
    char       want[128];
    if (!eddy_shape_compatible(s, a->shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the shape is not compatible with %s",
                               eddy_shape_print(a->shape, want, sizeof want));
    if (s.rank < 0) s = a->shape;
    for (int i = 0; i < a->shape.rank; i++) eddy__dim_unify(&s.dim[i], a->shape.dim[i]);
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static void ensure_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

static void ensure_batch(eddy_batch *b)
{
    ensure_attrs a = *(const ensure_attrs *)b->attrs;
    if (a.shape.rank >= EDDY_MAX_RANK) return;
    if (a.shape.rank >= 0) a.shape = eddy__shape_with(a.shape, 0, EDDY_ANY);
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_ensure_shape = {
    .name = "EnsureShape", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ALIAS, .attrs_size = sizeof(ensure_attrs),
    .attrs = EDDY_ATTRS(ensure_attrs, shape),
    .infer = ensure_infer, .gradient = ensure_gradient, .batch = ensure_batch,
};

/** y = x, and the run fails unless the shape of x is compatible with `shape`.
 *
 *  x      any element type and shape
 *  shape  dimensions may be EDDY_ANY; the static shape of y combines both shapes
 *
 *  In contrast, eddy_set_shape only refines the static shape of x.
 *  Errors: EDDY_BAD_SHAPE, while building or at run time.
 *  Gradient: dx = dy.  TensorFlow: EnsureShape. */
eddy_tensor eddy_ensure_shape(eddy_tensor x, eddy_shape shape)
{
    return eddy_apply1(&eddy_op_ensure_shape, &(ensure_attrs){ shape }, x);
}

/* ------------------------------------------------------------------------ rank -- */

typedef struct rank_attrs {
    eddy_dims   ranks;           /* the allowed ranks */
    bool        at_least;        /* or a minimum */
    const char *message;
} rank_attrs;

static bool rank_infer(eddy_infer *c)
{
    const rank_attrs *a = c->attrs;
    const int  rank = c->in[0].shape.rank;
    eddy_shape wanted = { .rank = a->ranks.count };
    char       text[128];
    if (a->ranks.count < 1 || a->ranks.count > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of 'ranks' is %d; "
                               "expected %d to %d", a->ranks.count, 1, EDDY_MAX_RANK);
    bool fits = rank < 0 || (a->at_least && rank >= a->ranks.at[0]);
    for (int i = 0; i < a->ranks.count; i++) {
        wanted.dim[i] = a->ranks.at[i];
        if (wanted.dim[i] < 0)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the rank %lld is negative",
                                   (long long)wanted.dim[i]);
        fits = fits || rank == wanted.dim[i];
    }
    if (fits) return true;
    return eddy_infer_fail(c, EDDY_CHECK_FAILED, "%s%sthe rank is %d, %s %s",
                           a->message ? a->message : "", a->message && *a->message ? ": " : "",
                           rank, a->at_least ? "not at least" : "not in",
                           eddy_shape_print(wanted, text, sizeof text));
}

static eddy_status nothing(eddy_kernel *k)
{
    (void)k;
    return EDDY_OK;
}

const eddy_op_def eddy_op_assert_rank = {
    .name = "AssertRank", .label = "assert_rank", .min_inputs = 1, .max_inputs = 1, .outputs = 0,
    .flags = EDDY_OP_SIDE_EFFECT | EDDY_OP_ASSERTS, .shape_inputs = 1,
    .attrs_size = sizeof(rank_attrs), .attrs = EDDY_ATTRS(rank_attrs, ranks, at_least, message),
    .infer = rank_infer, .kernel = nothing, .gradient = eddy_not_differentiable,
};

#ifdef EDDY_HEADER
typedef struct eddy_assert_rank_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_rank_args));
    eddy_tensor x;
    int64_t     rank;
    const char *message;     /* begins the error message */
    const char *name;
} eddy_assert_rank_args;

typedef struct eddy_assert_rank_in_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_rank_in_args));
    eddy_tensor x;
    eddy_dims   ranks;
    const char *message;     /* begins the error message */
    const char *name;
} eddy_assert_rank_in_args;
#endif

static eddy_tensor assert_rank(eddy_tensor x, rank_attrs a, const char *name)
{
    return eddy__apply_named(name, &eddy_op_assert_rank, &a, 1, &x);
}

/** Returns an operation that fails the run unless x has this rank.
 *
 *  x        any element type, any shape; not computed
 *  rank     must not be negative
 *  message  begins the error message
 *
 *  Fetch the operation, or make others depend on it, as for eddy_assert.
 *  Errors: EDDY_CHECK_FAILED, while building if the rank is known; EDDY_INVALID_ARGUMENT for
 *  a negative rank.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_rank. */
eddy_tensor eddy_assert_rank_with(const eddy_assert_rank_args *given)
{
    eddy_assert_rank_args a = EDDY_TAKE(eddy_assert_rank_args, given);
    return assert_rank(a.x, (rank_attrs){ EDDY_DIMS(a.rank), false, a.message }, a.name);
}

/** Returns an operation that fails the run unless x has at least this rank.
 *
 *  Arguments and errors are as for eddy_assert_rank.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_rank_at_least. */
eddy_tensor eddy_assert_rank_at_least_with(const eddy_assert_rank_args *given)
{
    eddy_assert_rank_args a = EDDY_TAKE(eddy_assert_rank_args, given);
    return assert_rank(a.x, (rank_attrs){ EDDY_DIMS(a.rank), true, a.message }, a.name);
}

/** Returns an operation that fails the run unless x has one of these ranks.
 *
 *  x, message  as for eddy_assert_rank
 *  ranks       one to eight ranks
 *
 *  Errors: as for eddy_assert_rank.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_rank_in. */
eddy_tensor eddy_assert_rank_in_with(const eddy_assert_rank_in_args *given)
{
    eddy_assert_rank_in_args a = EDDY_TAKE(eddy_assert_rank_in_args, given);
    return assert_rank(a.x, (rank_attrs){ a.ranks, false, a.message }, a.name);
}

#ifdef EDDY_HEADER
typedef struct eddy_assert_message_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_message_args));
    eddy_tensor x;
    const char *message;    /* begins the error message */
} eddy_assert_message_args;

typedef struct eddy_assert_type_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_type_args));
    eddy_tensor x;
    eddy_dtype  dtype;      /* the expected element type */
    const char *message;    /* begins the error message */
} eddy_assert_type_args;
#endif

/** Returns an operation that fails the run unless x is a scalar.
 *
 *  x        any element type, any shape; not computed
 *  message  begins the error message; default none
 *
 *  Errors: as for eddy_assert_rank.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_scalar. */
eddy_tensor eddy_assert_scalar_with(const eddy_assert_message_args *given)
{
    eddy_assert_message_args a = EDDY_TAKE(eddy_assert_message_args, given);
    return assert_rank(a.x, (rank_attrs){ EDDY_DIMS(0), false, a.message }, "assert_scalar");
}

/* ----------------------------------------------------------------------- types -- */

static eddy_tensor of_type(eddy_tensor x, bool fits, const char *who, const char *wanted,
                           const char *message)
{
    if (!eddy_is_valid(x)) return eddy_identity(x);
    if (fits) return eddy_no_op(x.graph, who);
    return eddy_fail(x.graph, EDDY_BAD_DTYPE, "%s: %.500s%s'%.200s' is %s, not %s", who,
                     message ? message : "", message && *message ? ": " : "", eddy_name_of(x),
                     eddy_dtype_name(eddy_dtype_of(x)), wanted);
}

/** Records an error unless x has this element type; returns an operation that does nothing.
 *
 *  x        any shape
 *  dtype    the expected element type
 *  message  begins the error message; default none
 *
 *  Errors: EDDY_BAD_DTYPE, always while building.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_type. */
eddy_tensor eddy_assert_type_with(const eddy_assert_type_args *given)
{
    eddy_assert_type_args a = EDDY_TAKE(eddy_assert_type_args, given);
    return of_type(a.x, eddy_dtype_of(a.x) == a.dtype, "assert_type", eddy_dtype_name(a.dtype),
                   a.message);
}

/** Records an error unless x has an integer type; returns an operation that does nothing.
 *
 *  x        any shape
 *  message  begins the error message; default none
 *
 *  Errors: EDDY_BAD_DTYPE, always while building.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_integer. */
eddy_tensor eddy_assert_integer_with(const eddy_assert_message_args *given)
{
    eddy_assert_message_args a = EDDY_TAKE(eddy_assert_message_args, given);
    return of_type(a.x, eddy_dtype_is_integer(eddy_dtype_of(a.x)), "assert_integer", "an integer",
                   a.message);
}

/* ---------------------------------------------------------------------- shapes -- */

enum { MOST_SPECS = 32, MOST_NAMES = MOST_SPECS * EDDY_MAX_RANK };

typedef struct shapes_attrs {
    const char *shapes;          /* one for each input, separated by ";" */
} shapes_attrs;

/* A name and its size; where the name first occurred. */
typedef struct named_size {
    const char *name;
    int         length, input;
    int64_t     size;
} named_size;

/* One entry of a shape: a size, a minimum size, a name, any size, or any number of dimensions. */
typedef struct entry {
    enum { SIZE, LEAST, NAME, ANYTHING, REST } kind;
    const char *name;
    int         length;
    int64_t     size;
} entry;

static const char *read_size(const char *p, int64_t *size)
{
    for (*size = 0; isdigit((unsigned char)*p); p++)
        *size = *size > (INT64_MAX - 9) / 10 ? INT64_MAX : 10 * *size + (*p - '0');
    return p;
}

/* Reads one entry; false if it is invalid. */
static bool read_entry(const char **at, entry *e)
{
    const char *p = *at;
    *e = (entry){ .kind = ANYTHING, .name = p };
    if (*p == '*') p++;
    else if (strncmp(p, "...", 3) == 0) e->kind = REST, p += 3;
    else if (strncmp(p, ">=", 2) == 0) e->kind = LEAST, p = read_size(p + 2, &e->size);
    else if (isdigit((unsigned char)*p)) e->kind = SIZE, p = read_size(p, &e->size);
    else
        for (e->kind = NAME; isalnum((unsigned char)*p) || *p == '_'; p++) { }
    e->length = (int)(p - *at);
    while (isspace((unsigned char)*p)) p++;
    *at = p;
    if (e->kind == LEAST && e->length < 3) return false;
    return e->length > 0 && (!*p || *p == ',' || *p == ';');
}

/* Reads the entries of one shape, up to ";" or the end; false if one is invalid. */
static bool read_entries(const char **at, entry e[EDDY_MAX_RANK + 1], int *n)
{
    const char *p = *at;
    for (*n = 0;; p++) {
        while (isspace((unsigned char)*p)) p++;
        if (*n == 0 && (!*p || *p == ';')) break;
        if (*n > EDDY_MAX_RANK) return false;
        if (!read_entry(&p, &e[(*n)++])) return false;
        if (*p != ',') break;
    }
    *at = *p ? p + 1 : p;
    return true;
}

/* Compares the size of a dimension with its entry; records an error and returns false if they
 * differ. */
static bool size_fits(eddy_infer *c, int input, int axis, int64_t size, const entry *e,
                      named_size *known, int *n)
{
    if (e->kind == ANYTHING || size == EDDY_ANY) return true;
    if (e->kind == SIZE || e->kind == LEAST) {
        if (e->kind == SIZE ? size == e->size : size >= e->size) return true;
        return eddy_infer_fail(c, EDDY_CHECK_FAILED, "dimension %d of input %d is %lld, not %s%lld",
                               axis, input, (long long)size, e->kind == LEAST ? "at least " : "",
                               (long long)e->size);
    }
    for (int i = 0; i < *n; i++) {
        if (known[i].length != e->length || strncmp(known[i].name, e->name, (size_t)e->length) != 0)
            continue;
        if (known[i].size == size) return true;
        return eddy_infer_fail(c, EDDY_CHECK_FAILED, "dimension %d of input %d is %lld, but %.*s "
                               "is %lld in input %d", axis, input, (long long)size, e->length,
                               e->name, (long long)known[i].size, known[i].input);
    }
    known[(*n)++] = (named_size){ e->name, e->length, input, size };
    return true;
}

/* Compares the dimensions of one input with its entries. */
static bool shape_fits(eddy_infer *c, int input, const entry *e, int n, named_size *known,
                       int *names)
{
    const eddy_shape s = c->in[input].shape;
    int rest = 0, at = 0;
    for (int i = 0; i < n; i++) rest += e[i].kind == REST;
    if (rest > 1)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "two ellipses in the shape of input %d",
                               input);
    if (s.rank < 0) return true;
    if (rest ? s.rank < n - 1 : s.rank != n)
        return eddy_infer_fail(c, EDDY_CHECK_FAILED, "input %d has rank %d, not %s%d", input,
                               s.rank, rest ? "at least " : "", n - rest);
    for (int i = 0; i < n; i++) {
        if (e[i].kind == REST) at += s.rank - (n - 1);
        else if (!size_fits(c, input, at, s.dim[at], &e[i], known, names)) return false;
        else at++;
    }
    return true;
}

static bool shapes_infer(eddy_infer *c)
{
    const shapes_attrs *a = c->attrs;
    const char *at = a->shapes ? a->shapes : "";
    named_size     known[MOST_NAMES];
    entry       e[EDDY_MAX_RANK + 1];
    int         names = 0, n;
    for (int i = 0; i < c->n_in; i++) {
        if (!read_entries(&at, e, &n))
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "the shape of input %d in \"%.200s\" cannot be parsed", i,
                                   a->shapes);
        if (!shape_fits(c, i, e, n, known, &names)) return false;
    }
    return true;
}

const eddy_op_def eddy_op_assert_shapes = {
    .name = "AssertShapes", .label = "assert_shapes", .min_inputs = 1, .max_inputs = MOST_SPECS,
    .outputs = 0, .flags = EDDY_OP_SIDE_EFFECT | EDDY_OP_ASSERTS,
    .shape_inputs = ~(uint32_t)0,
    .attrs_size = sizeof(shapes_attrs), .attrs = EDDY_ATTRS(shapes_attrs, shapes),
    .infer = shapes_infer, .kernel = nothing, .gradient = eddy_not_differentiable,
};

/** Returns an operation that fails the run unless the tensors have these shapes, with equal names
 *  standing for equal sizes.
 *
 *  xs      one to 32 tensors of any element type; not computed
 *  shapes  the shape of each, separated by ";".  A shape is a list of entries, separated by
 *          commas: a number is that size; >= and a number is a minimum size; a name stands for
 *          the same size everywhere; * is any size; ... is any number of dimensions, at most once
 *          in a shape; an empty list is a scalar
 *
 *  eddy_assert_shapes(EDDY_LIST(x, y, q), "n, d; n; ...") asserts that x has as many rows as y
 *  has elements.  Fetch the operation, or make others depend on it, as for eddy_assert.
 *  Errors: EDDY_CHECK_FAILED, while building if enough is known; EDDY_INVALID_ARGUMENT if the
 *  numbers of shapes and tensors differ, or if `shapes` cannot be parsed.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_shapes. */
eddy_tensor eddy_assert_shapes(eddy_list xs, const char *shapes)
{
    int          specs = 1;
    shapes_attrs a = { .shapes = shapes };
    eddy_graph  *g = xs.count > 0 && xs.at ? xs.at[0].graph : NULL;
    for (const char *p = shapes; p && *p; p++) specs += *p == ';';
    if (!g || !shapes || xs.count > MOST_SPECS || xs.count != specs)
        return eddy_fail(
            g, EDDY_INVALID_ARGUMENT, "assert_shapes: the number of shapes is %d and that of "
            "tensors %d; expected equal numbers, 1 to %d",
            shapes ? specs : 0, xs.count, MOST_SPECS);
    return eddy_apply(&eddy_op_assert_shapes, &a, xs.count, xs.at,
                      (eddy_apply_args){ .name = NULL });
}
