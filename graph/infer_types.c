/* infer_types.c -- type and shape inference: calls an operation's infer function when a node is
 * built, and again when a session compiles the graph with concrete shapes. */
#include "graph/internal.h"
#include "graph/type_errors.h"

#include <string.h>

typedef struct infer_call {
    eddy_arena *arena;
    eddy_error *error;
    const char *node;
} infer_call;

bool eddy_infer_fail(eddy_infer *c, eddy_status s, const char *reason, ...)
{
    if (!c || !c->impl || !reason) return false;
    infer_call *call = c->impl;
    char        why[600], message[sizeof call->error->message];
    va_list     args;
    va_start(args, reason);
    vsnprintf(why, sizeof why, reason, args);
    va_end(args);
    eddy__op_message(message, sizeof message, c->op, c->n_in, c->in, why, call->node);
    return eddy__error_set(call->error, s, "%s", message);
}

bool eddy_infer_outputs(eddy_infer *c, int n)
{
    if (!c || !c->impl) return false;
    infer_call *call = c->impl;
    if (n < 0 || n > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_LIMIT, "the number of outputs is %d; expected 0 to %d", n,
                               EDDY_MAX_INPUTS);
    c->out = eddy__arena_alloc(call->arena, (size_t)n * sizeof *c->out);
    if (!c->out) return eddy_infer_fail(c, EDDY_NO_MEMORY, "out of memory (outputs: %d)", n);
    memset(c->out, 0, (size_t)n * sizeof *c->out);
    c->n_out = n;
    return true;
}

/* ---------------------------------------------------------------- inputs -- */

enum { TYPES = 0xffff, RANK_AT = 16, OR_MORE = 1 << 20, LIKE_AT = 24 };

/* The row of input i: its own, or the last one. */
static int row_of(const eddy_input_def *rows, int i)
{
    int row = 0;
    while (row < i && rows[row + 1].name) row++;
    return row;
}

uint32_t eddy__input_types(const eddy_op_def *op, int i)
{
    uint32_t takes = op->inputs ? op->inputs[row_of(op->inputs, i)].takes : 0;
    for (int steps = 0; (takes & TYPES) == 0 && takes >> LIKE_AT != 0 && steps < 8; steps++)
        takes = op->inputs[row_of(op->inputs, (int)(takes >> LIKE_AT) - 1)].takes;
    return takes & TYPES;
}

/* "x"; "xs[2]" in a list. */
static const char *input_name(const eddy_op_def *op, int i, char *buf, size_t size)
{
    const eddy_input_def *rows = op->inputs;
    const int row = row_of(rows, i);
    int first = row;
    while (first > 0 && strcmp(rows[first - 1].name, rows[row].name) == 0) first--;
    const bool last = !rows[row + 1].name;
    const bool more = last ? op->max_inputs < 0 || op->max_inputs > row + 1
                           : strcmp(rows[row + 1].name, rows[row].name) == 0;
    if (first == row && !more) snprintf(buf, size, "%s", rows[row].name);
    else snprintf(buf, size, "%s[%d]", rows[row].name, i - first);
    return buf;
}

/* "float32, float64 or int32". */
static const char *print_types(uint32_t types, char *buf, size_t size)
{
    size_t at = 0;
    buf[0] = 0;
    for (int d = 1; d < EDDY_DTYPES && at < size; d++) {
        const uint32_t left = types >> d;
        const char    *before = at == 0 ? "" : left > 1 ? ", " : " or ";
        if (left & 1)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", before,
                                   eddy_dtype_name((eddy_dtype)d));
    }
    return buf;
}

/* d is in the set; callers may pass a number that is not a type. */
static bool is_in(uint32_t types, eddy_dtype d) { return (uint32_t)d < 32 && types >> d & 1; }

bool eddy__error_expects(eddy_error *error, const char *who, const char *what, eddy_dtype d,
                         uint32_t types)
{
    char list[160];
    return is_in(types, d) ||
           eddy__error_set(error, EDDY_BAD_DTYPE, "%s%s%s is %s; %s expected", who ? who : "",
                           who ? ": " : "", what, eddy_dtype_name(d),
                           print_types(types, list, sizeof list));
}

bool eddy__expect_type(eddy_graph *g, const char *who, const char *what, eddy_dtype d,
                       uint32_t types)
{
    eddy_error e = { 0 };
    if (eddy__error_expects(&e, who, what, d, types)) return true;
    eddy_fail(g, e.status, "%s", e.message);
    return false;
}

bool eddy__infer_expects(eddy_infer *c, const char *what, eddy_dtype d, uint32_t types)
{
    char list[160];
    return is_in(types, d) ||
           eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s is %s; %s expected", what, eddy_dtype_name(d),
                           print_types(types, list, sizeof list));
}

static bool type_is_accepted(eddy_infer *c, int i, uint32_t takes)
{
    const bool       cannot_cast = i == 0 && (c->op->flags & EDDY_OP_REFERENCE) != 0;
    const uint32_t   types = takes & TYPES & (cannot_cast ? ~EDDY_TAKES_HALVES : ~0u);
    const int        like = (int)(takes >> LIKE_AT) - 1;
    const eddy_dtype d = c->in[i].dtype;
    char name[64], other[64];
    if (types != 0 &&
        !eddy__infer_expects(c, input_name(c->op, i, name, sizeof name), d, types))
        return false;
    if (like >= 0 && like < c->n_in && d != c->in[like].dtype)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s is %s, but %s is %s; cast one",
                               input_name(c->op, i, name, sizeof name), eddy_dtype_name(d),
                               input_name(c->op, like, other, sizeof other),
                               eddy_dtype_name(c->in[like].dtype));
    return true;
}

static bool rank_is_accepted(eddy_infer *c, int i, uint32_t takes)
{
    const int  want = (int)(takes >> RANK_AT & 0xf) - 1, rank = c->in[i].shape.rank;
    const bool more = (takes & OR_MORE) != 0;
    char name[64];
    if (want < 0 || rank < 0 || rank == want || (more && rank > want)) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s has rank %d; rank %d%s expected",
                           input_name(c->op, i, name, sizeof name), rank, want,
                           more ? " or more" : "");
}

/* Checks the inputs against op->inputs: all types before any rank, because shapes have no
 * meaning with a wrong type. */
static bool inputs_are_accepted(eddy_infer *c)
{
    const eddy_input_def *rows = c->op->inputs;
    if (!rows) return true;
    for (int i = 0; i < c->n_in; i++)
        if (!type_is_accepted(c, i, rows[row_of(rows, i)].takes)) return false;
    for (int i = 0; i < c->n_in; i++)
        if (!rank_is_accepted(c, i, rows[row_of(rows, i)].takes)) return false;
    return true;
}

/* --------------------------------------------------------------- outputs -- */

/* A tensor's bytes stay within 2^47. */
static bool output_is_valid(eddy_infer *c, int i)
{
    char text[100];
    eddy_type t = c->out[i];
    if (eddy_dtype_size(t.dtype) == 0)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "output %d has no element type", i);
    if (!eddy_shape_is_valid(t.shape))
        return eddy_infer_fail(
            c, EDDY_LIMIT,
            "output %d would have shape %s; the limits are rank %d and 2^48 elements", i,
            eddy_shape_print(t.shape, text, sizeof text), EDDY_MAX_RANK);
    int64_t count = eddy_shape_count(t.shape);
    if (count > ((int64_t)1 << 47) / (int64_t)eddy_dtype_size(t.dtype))
        return eddy_infer_fail(c, EDDY_LIMIT,
                               "output %d would have shape %s; the limit is 2^47 bytes", i,
                               eddy_shape_print(t.shape, text, sizeof text));
    return true;
}

bool eddy__infer_types(const eddy_op_def *op, void *attrs, bool attrs_fixed, int n,
                       const eddy_type *in, const eddy_array *const *value, eddy_arena *arena,
                       eddy_type **out, int *n_out, const char *node, eddy_error *error)
{
    infer_call call = { arena, error, node };
    eddy_infer c = {
        .op = op, .attrs = attrs, .in = in, .value = value, .n_in = n,
        .attrs_fixed = attrs_fixed, .impl = &call,
    };
    int outputs = op->outputs > 0 ? op->outputs : 0;
    if (!eddy_infer_outputs(&c, outputs)) return false;
    if (!inputs_are_accepted(&c)) return false;
    if (!op->infer(&c))
        return error->status != EDDY_OK
                   ? false
                   : eddy_infer_fail(&c, EDDY_INTERNAL,
                                     "the op rejects its inputs without giving a reason");
    for (int i = 0; i < c.n_out; i++)
        if (!output_is_valid(&c, i)) return false;
    *out = c.out;
    *n_out = c.n_out;
    return true;
}

/* Builders have relied on a narrowed shape. Others may be wrong if a constant is fed. */
static bool claims_hold(const eddy_node *node, const eddy_type *in, const eddy_type *out,
                        eddy_error *error)
{
    for (int k = 0; node->narrowed && k < node->n_outputs; k++) {
        char why[300], text[2][100], message[sizeof error->message];
        if (eddy_shape_compatible(out[k].shape, node->outputs[k].shape)) continue;
        snprintf(why, sizeof why, "output %d has shape %s, which is not compatible with its static "
                 "shape %s", k, eddy_shape_print(out[k].shape, text[0], sizeof text[0]),
                 eddy_shape_print(node->outputs[k].shape, text[1], sizeof text[1]));
        eddy__op_message(message, sizeof message, node->op, node->n_inputs, in, why,
                         node->name);
        return eddy__error_set(error, EDDY_BAD_SHAPE, "%s", message);
    }
    return true;
}

bool eddy__infer_node(const eddy_node *node, const eddy_type *in, const eddy_array *const *value,
                      eddy_arena *arena, eddy_type **out, eddy_error *error)
{
    int n_out = 0;
    if (!eddy__infer_types(node->op, (void *)(uintptr_t)node->attrs, true, node->n_inputs, in,
                           value, arena, out, &n_out, node->name, error))
        return false;
    if (n_out != node->n_outputs)
        return eddy__error_set(error, EDDY_INTERNAL,
                               "%s: the number of outputs is %d now, but was %d before [node '%s']",
                               node->op->name, n_out, (int)node->n_outputs, node->name);
    return claims_hold(node, in, *out, error);
}

/* -------------------------------------------------------------- counting -- */

double eddy_flops_per_input(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)out;
    return n_in > 0 ? (double)eddy_shape_count(in->shape) : 0;
}

double eddy_flops_per_output(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs; (void)n_in; (void)in;
    return (double)eddy_shape_count(out->shape);
}
