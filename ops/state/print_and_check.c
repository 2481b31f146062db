/* print_and_check.c -- debugging operations: check_numerics, print, assert. */
#include "graph/op.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/kernels/reduction/finiteness.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ------------------------------------------------------ check_numerics -- */

typedef struct numerics_attrs {
    const char *message;
} numerics_attrs;

static bool numerics_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static int64_t find_bad(const eddy_buffer *x, int64_t at)
{
    return eddy__find_not_finite(x->type.dtype, x->data, at, x->count, EDDY_INFINITE);
}

/* The position of element i, "[2,0,7]". */
static char *print_position(eddy_shape s, int64_t i, char *buf, size_t size)
{
    eddy_shape at = { .rank = s.rank };
    for (int d = s.rank - 1; d >= 0; d--) {
        at.dim[d] = i % s.dim[d];
        i /= s.dim[d];
    }
    return eddy_shape_print(at, buf, size);
}

static eddy_status numerics_kernel(eddy_kernel *k)
{
    const numerics_attrs *a = k->attrs;
    const eddy_buffer    *x = k->in[0];
    int64_t first = find_bad(x, 0), nans = 0, infs = 0;
    if (first == x->count) {
        size_t bytes = (size_t)x->count * eddy_dtype_size(x->type.dtype);
        if (bytes > 0 && k->out[0]->data != x->data) memcpy(k->out[0]->data, x->data, bytes);
        return EDDY_OK;
    }
    for (int64_t i = first; i < x->count; i = find_bad(x, i + 1)) {
        if (isnan(eddy__real_at(x, i))) nans++;
        else infs++;
    }
    const char *what = nans > 0 && infs > 0 ? "Inf and NaN" : nans > 0 ? "NaN" : "Inf";
    char        place[200];
    print_position(x->type.shape, first, place, sizeof place);
    return eddy_kernel_fail(k, EDDY_CHECK_FAILED,
                            "%s%sTensor had %s values; the first is %g at "
                            "%s, and there are %" PRId64 " of %" PRId64,
                            a->message, *a->message ? " : " : "", what,
                            eddy__real_at(x, first), place, nans + infs,
                            x->count);
}

/* dx = dy, also checked. */
static void numerics_gradient(eddy_rule *r)
{
    const numerics_attrs *a = r->attrs;
    char message[1024];
    snprintf(message, sizeof message, "Not finite in the gradient. %s", a->message);
    r->dx[0] = eddy_check_numerics(r->dy[0], message);
}

const eddy_op_def eddy_op_check_numerics = {
    .name = "CheckNumerics", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .flags = EDDY_OP_SIDE_EFFECT | EDDY_OP_IN_PLACE,
    .attrs_size = sizeof(numerics_attrs), .attrs = EDDY_ATTRS(numerics_attrs, message),
    .infer = numerics_infer, .kernel = numerics_kernel, .gradient = numerics_gradient,
    .batch = eddy_batch_as_is };

/** y = x, and the run fails if an element of x is infinite or NaN.
 *
 *  x        float32 or float64, any shape
 *  message  begins the error message, which also tells which of the two occurred, and the
 *           position of the first one
 *
 *  The check is made whenever y is computed; a control dependency on y is enough.
 *  Errors: EDDY_CHECK_FAILED at run time.
 *  Gradient: dx = dy, checked in the same way.  TensorFlow: CheckNumerics. */
eddy_tensor eddy_check_numerics(eddy_tensor x, const char *message)
{
    numerics_attrs a = { message };
    return eddy_apply1(&eddy_op_check_numerics, &a, x);
}

/* ------------------------------------------------------ values as text -- */

enum { MAX_DATA = 63, DEFAULT_SUMMARIZE = 3, MAX_LINE = 1 << 20 };

typedef struct line {
    char  *text;
    size_t size, used;
} line;

/* Appends text, as far as there is room. */
static void put_text(line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_text(line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(l->text + l->used, l->size - l->used, fmt, args);
    va_end(args);
    if (n < 0) return;
    l->used = (size_t)n < l->size - l->used ? l->used + (size_t)n : l->size - 1;
}

static void put_element(line *l, const eddy_buffer *x, int64_t i)
{
    const eddy_dtype d = x->type.dtype, part = eddy_dtype_real(d);
    if (eddy_dtype_is_complex(d))
        put_text(l, "(%g,%g)", eddy__float_at(part, x->data, 2 * i),
                 eddy__float_at(part, x->data, 2 * i + 1));
    else if (eddy__dtype_is_float(d)) put_text(l, "%g", eddy__real_at(x, i));
    else put_text(l, "%" PRId64, eddy__whole_at(d, x->data, i));
}

static int64_t shown_of(const eddy_buffer *x, int64_t summarize)
{
    if (summarize == 0) summarize = DEFAULT_SUMMARIZE;
    return summarize < 0 || summarize > x->count ? x->count : summarize;
}

/* The attribute for the option `summarize`; records an error and returns false if it is 0. */
static bool elements_shown(eddy_tensor x, const char *op, int64_t summarize, int64_t *attribute)
{
    *attribute = summarize == DEFAULT_SUMMARIZE ? 0 : summarize;
    if (summarize != 0) return true;
    eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
              "%s: summarize is 0; expected a positive number, or -1 for all", op);
    return false;
}

/* "[1 2 3...]" for each input except the first. */
static void put_data(line *l, const eddy_kernel *k, int64_t summarize)
{
    for (int n = 1; n < k->n_in; n++) {
        const eddy_buffer *x = k->in[n];
        int64_t            shown = shown_of(x, summarize);
        put_text(l, "[");
        for (int64_t i = 0; i < shown && l->used < l->size - 1; i++) {
            if (i > 0) put_text(l, " ");
            put_element(l, x, i);
        }
        put_text(l, shown < x->count ? "...]" : "]");
    }
}

/* The inputs of a node: `first`, then the data; 0 if there are too many. */
static int gather_inputs(eddy_tensor first, eddy_list data, eddy_tensor *in)
{
    if (data.count < 0 || data.count > MAX_DATA || (data.count > 0 && !data.at)) return 0;
    in[0] = first;
    for (int i = 0; i < data.count; i++) in[i + 1] = data.at[i];
    return data.count + 1;
}

static eddy_tensor refuse_data(eddy_tensor t, const char *op, eddy_list data)
{
    return eddy_fail(t.graph, EDDY_INVALID_ARGUMENT, "%s: data has %d tensors; expected 0 to %d",
                     op, data.count, MAX_DATA);
}

/* --------------------------------------------------------------- print -- */

#ifdef EDDY_HEADER
typedef struct eddy_print_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_print_args));
    eddy_tensor x;
    eddy_list   data;        /* printed tensors; default x */
    const char *message;     /* begins the line */
    /* prints only in the first n runs of a session; -1: always */
    int64_t     first_n EDDY_DEFAULT(-1);
    int64_t     summarize EDDY_DEFAULT(3); /* elements printed of each; -1: all */
    void      (*write)(void *user, const char *line);
    void       *user;
    const char *name;
} eddy_print_args;
#endif

/* The function and its argument are stored in the graph only, not in files. */
typedef struct print_attrs {
    const char *message;
    int64_t     summarize, first_n;
    void      (*write)(void *user, const char *line);
    void       *user;
} print_attrs;

static bool print_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

/* Room for the line, up to a limit; put() truncates longer lines. */
static eddy_status print_prepare(eddy_kernel *k)
{
    const print_attrs *a = k->attrs;
    size_t size = strlen(a->message) + 64;
    for (int i = 1; i < k->n_in && size < MAX_LINE; i++) {
        int64_t shown = shown_of(k->in[i], a->summarize);
        size += 8 + 36 * (size_t)(shown < MAX_LINE ? shown : MAX_LINE);
    }
    k->scratch_size = size < MAX_LINE ? size : MAX_LINE;
    return EDDY_OK;
}

static eddy_status print_kernel(eddy_kernel *k)
{
    const print_attrs *a = k->attrs;
    const eddy_buffer *x = k->in[0];
    size_t bytes = (size_t)x->count * eddy_dtype_size(x->type.dtype);
    if (bytes > 0 && k->out[0]->data != x->data) memcpy(k->out[0]->data, x->data, bytes);
    if (a->first_n > 0 && k->step >= (uint64_t)a->first_n) return EDDY_OK;
    line l = { .text = k->scratch, .size = (size_t)k->scratch_size };
    put_text(&l, "%s", a->message);
    put_data(&l, k, a->summarize);
    if (a->write) a->write(a->user, l.text);
    else fprintf(stderr, "%s\n", l.text);
    return EDDY_OK;
}

static void print_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

const eddy_op_def eddy_op_print = {
    .name = "Print", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "data", EDDY_TAKES_ALL }),
    .flags = EDDY_OP_STATEFUL | EDDY_OP_SIDE_EFFECT | EDDY_OP_IN_PLACE,
    .attrs_size = sizeof(print_attrs),
    .attrs = EDDY_ATTRS(print_attrs, message, summarize, first_n),
    .infer = print_infer, .prepare = print_prepare, .kernel = print_kernel,
    .gradient = print_gradient, .batch = eddy_batch_as_is };

/** y = x, and a line with the values of `data` is written whenever y is computed.
 *
 *  x          any element type, any shape
 *  data       up to 63 tensors of any type except float16 and bfloat16; default x
 *  message    begins the line; the values follow, "[1 2 3...]" for each tensor
 *  summarize  the number of elements printed of each, at least 1; -1: all, as long as the line is
 *             shorter than a megabyte
 *  first_n    prints only in the first n runs of a session that compute y, of which a checkpoint
 *             of all variables contains the number; 0: never; negative (default): always
 *  write      called with each line, without a newline, from any thread that runs the graph;
 *             default: writes to stderr.  Graph files do not contain it: a graph read from a file
 *             writes to stderr.  The function may ask the running session for its message; any
 *             other call on that session is refused
 *  user       passed to write
 *
 *  No other operation writes output.
 *  Gradient: dx = dy; none for the data.  TensorFlow: Print. */
eddy_tensor eddy_print_with(const eddy_print_args *given)
{
    eddy_print_args a = EDDY_TAKE(eddy_print_args, given);
    eddy_tensor in[MAX_DATA + 1];
    print_attrs attrs = { a.message, 0, a.first_n < 0 ? 0 : a.first_n, a.write, a.user };
    if (!elements_shown(a.x, "Print", a.summarize, &attrs.summarize)) return eddy_none(a.x.graph);
    if (a.first_n == 0) return eddy_apply(&eddy_op_identity, NULL, 1, &a.x,
                                          (eddy_apply_args){ .name = a.name });
    eddy_list   data = a.data.count == 0 ? (eddy_list){ 1, &a.x } : a.data;
    int         n = gather_inputs(a.x, data, in);
    if (n == 0) return refuse_data(a.x, "Print", data);
    return eddy_apply(&eddy_op_print, &attrs, n, in, (eddy_apply_args){ .name = a.name });
}

/* -------------------------------------------------------------- assert -- */

#ifdef EDDY_HEADER
typedef struct eddy_assert_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_args));
    eddy_tensor condition;
    eddy_list   data;        /* shown in the error message */
    const char *message;
    int64_t     summarize EDDY_DEFAULT(3); /* elements shown of each; -1: all */
    const char *name;
} eddy_assert_args;
#endif

typedef struct assert_attrs {
    const char *message;
    int64_t     summarize;
} assert_attrs;

static bool assert_infer(eddy_infer *c)
{
    (void)c;
    return true;
}

static eddy_status assert_kernel(eddy_kernel *k)
{
    const assert_attrs *a = k->attrs;
    int64_t n = k->in[0]->count;
    if (n == 0 || !memchr(k->in[0]->data, 0, (size_t)n)) return EDDY_OK;
    char text[800];
    line l = { .text = text, .size = sizeof text };
    put_text(&l, "assertion failed: %s%s", a->message, a->message[0] && k->n_in > 1 ? " " : "");
    put_data(&l, k, a->summarize);
    return eddy_kernel_fail(k, EDDY_CHECK_FAILED, "%s", text);
}

const eddy_op_def eddy_op_assert = { .name = "Assert",
                                     .min_inputs = 1,
                                     .max_inputs = EDDY_MANY,
                                     .outputs = 0,
                                     .inputs =
                                         EDDY_INPUTS({ "condition", EDDY_TAKES_BOOLS },
                                                     { "data", EDDY_TAKES_ALL }),
                                     .flags = EDDY_OP_SIDE_EFFECT | EDDY_OP_ASSERTS,
                                     .attrs_size = sizeof(assert_attrs),
                                     .attrs = EDDY_ATTRS(assert_attrs, message, summarize),
                                     .infer = assert_infer,
                                     .kernel = assert_kernel,
                                     .gradient = eddy_not_differentiable,
                                     .batch = eddy_batch_as_is };

/** Returns an operation that fails the run unless every element of `condition` is true.
 *
 *  condition  bool, any shape; holds if it has no elements
 *  data       up to 63 tensors, of any type except float16 and bfloat16, whose values the error
 *             message shows
 *  message    begins the error message
 *  summarize  the number of elements shown of each, at least 1; -1: all
 *
 *  It has no value: fetch it, or build the operations that depend on it between
 *  eddy_control_begin(g, EDDY_LIST(assertion)) and eddy_control_end(g).
 *  Errors: EDDY_CHECK_FAILED at run time.
 *  Gradient: none.  TensorFlow: Assert. */
eddy_tensor eddy_assert_with(const eddy_assert_args *given)
{
    eddy_assert_args a = EDDY_TAKE(eddy_assert_args, given);
    eddy_tensor  in[MAX_DATA + 1];
    assert_attrs attrs = { a.message, 0 };
    if (!elements_shown(a.condition, "Assert", a.summarize, &attrs.summarize))
        return eddy_none(a.condition.graph);
    int          n = gather_inputs(a.condition, a.data, in);
    if (n == 0) return refuse_data(a.condition, "Assert", a.data);
    return eddy_apply(&eddy_op_assert, &attrs, n, in, (eddy_apply_args){ .name = a.name });
}
