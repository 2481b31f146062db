/* sequences.c -- sequences and optional values, of lengths that are known while building. */
#include "../reader.h"
#include "../../../ops/short_names.h"

static onnx_value *sequence_in(onnx_build *b, int i)
{
    onnx_value *v = eddy__onnx_value_in(b, i);
    if (v && v->kind == ONNX_SEQUENCE) return v;
    eddy__onnx_invalid(b, "input %d is not a sequence", i);
    return NULL;
}

static bool construct(onnx_build *b)
{
    const int type = b->n_in ? eddy__onnx_type_in(b, 0) : ONNX_FLOAT;
    return eddy__onnx_put_value(b, 0, eddy__onnx_new_sequence(b, b->in, b->n_in, type));
}

static bool empty(onnx_build *b)
{
    const int type = (int)eddy__onnx_int(b, "dtype", ONNX_FLOAT);
    return eddy__onnx_put_value(b, 0, eddy__onnx_new_sequence(b, NULL, 0, type));
}

/* A position in input i, counted from the end if negative; `otherwise` if it is left out; -1 with a
 * reason. */
static int position(onnx_build *b, int i, int count, int most, int otherwise)
{
    int64_t   at[ONNX_MAX_LIST];
    const int n = eddy__onnx_list(b, i, NULL, at);
    if (n == ONNX_ABSENT) return otherwise;
    if (n == ONNX_FAILED) return -1;
    if (n == 1 && at[0] < 0) at[0] += count;
    if (n == 1 && at[0] >= 0 && at[0] <= most) return (int)at[0];
    eddy__onnx_invalid(b, "the position is not in the sequence");
    return -1;
}

static bool insert(onnx_build *b)
{
    const onnx_value *s = sequence_in(b, 0);
    onnx_value       *x = eddy__onnx_value_in(b, 1);
    const int at = s ? position(b, 2, s->count, s->count, s->count) : -1;
    if (at < 0 || !x) return eddy__onnx_invalid(b, "there is nothing to insert");
    if (s->count >= 1 << 16) return eddy__onnx_missing(b, "the sequence is too long");
    onnx_value **items = eddy__region_take(b->memory, (size_t)s->count + 1, sizeof *items);
    if (!items) return eddy__onnx_missing(b, "out of memory");
    for (int i = 0; i <= s->count; i++) items[i] = i == at ? x : s->items[i < at ? i : i - 1];
    return eddy__onnx_put_value(b, 0, eddy__onnx_new_sequence(b, items, s->count + 1, x->type));
}

static bool erase(onnx_build *b)
{
    const onnx_value *s = sequence_in(b, 0);
    const int at = s ? position(b, 1, s->count, s->count - 1, s->count - 1) : -1;
    if (at < 0) return eddy__onnx_invalid(b, "the sequence is empty");
    onnx_value **items = eddy__region_take(b->memory, (size_t)s->count, sizeof *items);
    if (!items) return eddy__onnx_missing(b, "out of memory");
    for (int i = 0; i < s->count - 1; i++) items[i] = s->items[i < at ? i : i + 1];
    return eddy__onnx_put_value(b, 0, eddy__onnx_new_sequence(b, items, s->count - 1, s->type));
}

static bool item(onnx_build *b)
{
    const onnx_value *s = sequence_in(b, 0);
    const int at = s ? position(b, 1, s->count, s->count - 1, -1) : -1;
    return at < 0 ? eddy__onnx_invalid(b, "the position is missing")
                  : eddy__onnx_put_value(b, 0, s->items[at]);
}

static bool length(onnx_build *b)
{
    const onnx_value *s = sequence_in(b, 0);
    const int64_t     n = s ? s->count : 0;
    return eddy__onnx_put_as(b, 0, eddy_const(b->graph, EDDY_INT64, EDDY_SCALAR, &n), ONNX_INT64);
}

static eddy_tensor *tensors(onnx_build *b, const onnx_value *s)
{
    eddy_tensor *t = eddy__region_take(b->memory, (size_t)s->count, sizeof *t);
    for (int i = 0; t && i < s->count; i++) t[i] = eddy__onnx_tensor_of(b, s->items[i]);
    return t;
}

static bool concat(onnx_build *b)
{
    const onnx_value *s = sequence_in(b, 0);
    eddy_tensor      *t = s && s->count ? tensors(b, s) : NULL;
    const int64_t     axis = eddy__onnx_int(b, "axis", 0);
    if (!t) return eddy__onnx_invalid(b, "the sequence is empty");
    const bool        new_axis = eddy__onnx_int(b, "new_axis", 0);
    const eddy_tensor y = new_axis ? eddy_stack((eddy_list){ s->count, t }, axis)
                                   : eddy_concat((eddy_list){ s->count, t }, axis);
    return eddy__onnx_put_as(b, 0, y, s->type);
}

/* The sizes of parts: one size for all, or one for each part, or 1. */
static int parts_of(onnx_build *b, int64_t size, int64_t *list)
{
    int64_t   given[ONNX_MAX_LIST] = { 1 };
    const int n = eddy__onnx_list(b, 1, NULL, given);
    const onnx_value *v = eddy__onnx_value_in(b, 1);
    if (n == ONNX_FAILED) return -1;
    if (n > 0 && eddy_array_shape(v->array).rank == 1) {
        for (int i = 0; i < n; i++) list[i] = given[i];
        return n;
    }
    if (size < 0 || given[0] < 1 || (size - 1) / given[0] >= ONNX_MAX_LIST)
        return eddy__onnx_missing(b, "the size of the axis must be known, and the parts at most %d",
                                  ONNX_MAX_LIST),
               -1;
    int count = 0;
    for (int64_t left = size; left > 0; left -= given[0])
        list[count++] = left < given[0] ? left : given[0];
    return count;
}

static bool split(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", 0), eddy__onnx_rank(b, 0));
    int64_t   list[ONNX_MAX_LIST];
    const int n = axis < 0 ? -1 : parts_of(b, eddy_shape_of(x).dim[axis], list);
    if (n < 0) return false;
    onnx_value **items = eddy__region_take(b->memory, (size_t)n, sizeof *items);
    const eddy_tensor y = n ? eddy_split_sizes(x, list, n, axis) : x;
    const bool drop = !eddy__onnx_has(b, 1) && !eddy__onnx_int(b, "keepdims", 1);
    for (int i = 0; items && i < n; i++) {
        const eddy_tensor part = eddy_output(y, i);
        items[i] = eddy__onnx_new_tensor(b, drop ? Squeeze(part, EDDY_AXES(axis)) : part,
                                         eddy__onnx_type_in(b, 0));
    }
    if (!items) return false;
    return eddy__onnx_put_value(b, 0,
                                eddy__onnx_new_sequence(b, items, n, eddy__onnx_type_in(b, 0)));
}

/* The body for each item; inputs that are tensors are the same for all. */
static bool map(onnx_build *b)
{
    const onnx_value *s = sequence_in(b, 0);
    const onnx_graph *g = eddy__onnx_graph_attr(b, "body");
    if (!s || !g) return false;
    if (g->n_inputs != (size_t)b->n_in || g->n_outputs < (size_t)b->n_out || s->count > 1 << 16)
        return eddy__onnx_invalid(b, "the body does not have the inputs and outputs of the node");
    onnx_value **in = eddy__region_take(b->memory, g->n_inputs, sizeof *in);
    onnx_value **out =
        eddy__region_take(b->memory, g->n_outputs * (size_t)(s->count + 1), sizeof *out);
    if (!in || !out) return eddy__onnx_missing(b, "out of memory");
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k < b->n_in; k++) {
            in[k] = b->in[k];
            if (in[k] && in[k]->kind == ONNX_SEQUENCE) {
                if (in[k]->count != s->count)
                    return eddy__onnx_invalid(b, "the sequences differ in length");
                in[k] = in[k]->items[i];
            }
        }
        if (!eddy__onnx_subgraph(b, g, "body", in, out + (size_t)i * g->n_outputs)) return false;
    }
    onnx_value **items = eddy__region_take(b->memory, (size_t)s->count + 1, sizeof *items);
    for (int k = 0; items && k < b->n_out; k++) {
        for (int i = 0; i < s->count; i++) items[i] = out[(size_t)i * g->n_outputs + (size_t)k];
        const int type = s->count ? items[0]->type : g->outputs[k].type;
        eddy__onnx_put_value(b, k, eddy__onnx_new_sequence(b, items, s->count, type));
    }
    return items != NULL;
}

/* ------------------------------------------------------------------ optional -- */

/* An optional value is the value, or none. */
static bool optional(onnx_build *b)
{
    onnx_value *v = eddy__onnx_value_in(b, 0);
    return eddy__onnx_put_value(b, 0, v ? v : eddy__onnx_new_value(b));
}

static bool has_element(onnx_build *b)
{
    const bool has = eddy__onnx_has(b, 0);
    return eddy__onnx_put_as(b, 0, eddy_const(b->graph, EDDY_BOOL, EDDY_SCALAR, &has), ONNX_BOOL);
}

static bool get_element(onnx_build *b)
{
    onnx_value *v = eddy__onnx_value_in(b, 0);
    return v ? eddy__onnx_put_value(b, 0, v)
             : eddy__onnx_invalid(b, "the optional value is absent");
}

const onnx_operator eddy__onnx_sequences[] = {
    { "SequenceConstruct", 11, construct },
    { "SequenceEmpty", 11, empty },
    { "SequenceInsert", 11, insert },
    { "SequenceErase", 11, erase },
    { "SequenceAt", 11, item },
    { "SequenceLength", 11, length },
    { "ConcatFromSequence", 11, concat },
    { "SplitToSequence", 11, split },
    { "SequenceMap", 17, map },
    { "Optional", 15, optional },
    { "OptionalHasElement", 15, has_element },
    { "OptionalGetElement", 15, get_element },
    { NULL },
};
