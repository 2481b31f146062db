/* parse_attr.c -- AttrValue, TensorProto and TensorShapeProto. */
#include "parse.h"

eddy_shape eddy__tf_shape(parser *p, wire w, int *rank)
{
    eddy_shape s = { 0 };
    wire_field f, d;
    *rank = 0;
    while (eddy__parse_next(p, &w, &f)) {
        if (f.number == 3 && f.value) *rank = -1;
        if (f.number != 2 || *rank < 0) continue;
        int64_t size = 0;
        for (wire dim = eddy__wire_enter(&w, &f); eddy__parse_next(p, &dim, &d);)
            if (d.number == 1) size = (int64_t)d.value;
        if (*rank < EDDY_MAX_RANK) s.dim[*rank] = size < 0 ? EDDY_ANY : size;
        ++*rank;
    }
    if (*rank < 0 || *rank > EDDY_MAX_RANK) return eddy_shape_unknown();
    s.rank = *rank;
    return s;
}

/* Which field has the elements of a type, and how they are written. */
static const struct { uint32_t number; wire_type as; } values[TF_TYPES] = {
    [TF_FLOAT] = { 5, WIRE_FIXED32 },    [TF_DOUBLE] = { 6, WIRE_FIXED64 },
    [TF_INT32] = { 7, WIRE_VARINT },     [TF_UINT8] = { 7, WIRE_VARINT },
    [TF_INT16] = { 7, WIRE_VARINT },     [TF_INT8] = { 7, WIRE_VARINT },
    [TF_QINT8] = { 7, WIRE_VARINT },     [TF_QUINT8] = { 7, WIRE_VARINT },
    [TF_QINT32] = { 7, WIRE_VARINT },    [TF_UINT16] = { 7, WIRE_VARINT },
    [TF_COMPLEX64] = { 9, WIRE_FIXED32 }, [TF_COMPLEX128] = { 12, WIRE_FIXED64 },
    [TF_INT64] = { 10, WIRE_VARINT },    [TF_BOOL] = { 11, WIRE_VARINT },
    [TF_HALF] = { 13, WIRE_VARINT },     [TF_BFLOAT16] = { 13, WIRE_VARINT },
    [TF_UINT32] = { 16, WIRE_VARINT },   [TF_UINT64] = { 17, WIRE_VARINT },
};

/* Packed floats, one for each element, are the same bytes as the content, so that they need not be
 * copied. */
static bool packed_content(parser *p, wire w, tf_tensor *t)
{
    const uint32_t field = values[t->type].number;
    const int64_t  size = t->type == TF_FLOAT ? 4 : t->type == TF_DOUBLE ? 8 : 0;
    wire_field     f, data = { 0 };
    if (size == 0 || t->has_content || eddy__wire_count(w, field) != 1) return false;
    while (eddy__parse_next(p, &w, &f))
        if (f.number == field) data = f;
    if (data.bytes.size == 0 || !eddy_shape_is_valid(t->shape) ||
        (int64_t)data.bytes.size != eddy_shape_count(t->shape) * size)
        return false;
    t->content = data.bytes;
    t->has_content = true;
    return true;
}

void eddy__tf_tensor(parser *p, wire w, tf_tensor *t)
{
    wire_field f;
    *t = (tf_tensor){ .rank = 0 };
    for (wire c = w; eddy__parse_next(p, &c, &f);) {
        if (f.number == 1) t->type = (int)(f.value & 0xff);
        if (f.number == 2) t->shape = eddy__tf_shape(p, eddy__wire_enter(&c, &f), &t->rank);
        if (f.number == 4) {
            t->content = f.bytes;
            t->has_content = f.bytes.size > 0;
        }
    }
    if (t->type < TF_TYPES && values[t->type].number && !packed_content(p, w, t))
        t->numbers = eddy__parse_numbers_in_place(p, w, values[t->type].number, values[t->type].as,
                                                  &t->count);
}

static void integers(parser *p, wire w, uint32_t number, tf_attr *a)
{
    size_t    n;
    uint64_t *at = eddy__parse_numbers(p, w, number, WIRE_VARINT, &n);
    if (n) a->ints = (int64_t *)at, a->n_ints = n;
}

/* AttrValue.ListValue: numbers of the fields for integers, booleans and types are one list. Lists
 * of floating-point numbers and tensors are not used. */
static void list(parser *p, wire w, tf_attr *a)
{
    wire_field f, g;
    int        rank;
    *a = (tf_attr){ .name = a->name, .kind = TF_ATTR_LIST, .text = "" };
    a->texts = eddy__parse_strings(p, w, 2, &a->n_texts);
    integers(p, w, 3, a);
    integers(p, w, 5, a);
    integers(p, w, 6, a);
    a->shapes = eddy__parse_take(p, eddy__wire_count(w, 7), sizeof *a->shapes);
    const char **functions = eddy__parse_take(p, eddy__wire_count(w, 9), sizeof *functions);
    size_t       n_functions = 0;
    while (eddy__parse_next(p, &w, &f)) {
        if (f.number == 7)
            a->shapes[a->n_shapes++] = eddy__tf_shape(p, eddy__wire_enter(&w, &f), &rank);
        if (f.number != 9) continue;
        const char **name = &functions[n_functions++];
        *name = "";
        for (wire c = eddy__wire_enter(&w, &f); eddy__parse_next(p, &c, &g);)
            if (g.number == 1) *name = eddy__parse_string(p, &g);
    }
    if (n_functions) a->texts = functions, a->n_texts = n_functions;
}

static void value(parser *p, wire w, tf_attr *a)
{
    wire_field f, g;
    int        rank;
    while (eddy__parse_next(p, &w, &f)) {
        switch (f.number) {
        case 1: list(p, eddy__wire_enter(&w, &f), a); break;
        case 2: a->kind = TF_ATTR_TEXT, a->text = eddy__parse_string(p, &f); break;
        case 3: a->kind = TF_ATTR_INT, a->i = (int64_t)f.value; break;
        case 4: a->kind = TF_ATTR_FLOAT, a->f = eddy__wire_float(f.value); break;
        case 5: a->kind = TF_ATTR_BOOL, a->i = f.value != 0; break;
        case 6: a->kind = TF_ATTR_TYPE, a->i = (int64_t)(f.value & 0xff); break;
        case 7:
            a->kind = TF_ATTR_SHAPE;
            a->shape = eddy__tf_shape(p, eddy__wire_enter(&w, &f), &rank);
            break;
        case 8:
            a->kind = TF_ATTR_TENSOR;
            a->tensor = eddy__parse_take(p, 1, sizeof *a->tensor);
            if (a->tensor) eddy__tf_tensor(p, eddy__wire_enter(&w, &f), a->tensor);
            break;
        case 10:
            a->kind = TF_ATTR_FUNCTION;
            for (wire c = eddy__wire_enter(&w, &f); eddy__parse_next(p, &c, &g);)
                if (g.number == 1) a->text = eddy__parse_string(p, &g);
            break;
        default: break;
        }
    }
}

void eddy__tf_attr(parser *p, wire w, tf_attr *a)
{
    wire_field f;
    *a = (tf_attr){ .name = "", .text = "" };
    while (eddy__parse_next(p, &w, &f)) {
        if (f.number == 1) a->name = eddy__parse_string(p, &f);
        if (f.number == 2) value(p, eddy__wire_enter(&w, &f), a);
    }
}
