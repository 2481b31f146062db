/* parse_tensor.c -- TensorProto, SparseTensorProto, TypeProto and ValueInfoProto. */
#include "parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

wire_bytes *eddy__onnx_byte_strings(parser *p, wire w, uint32_t number, size_t *count)
{
    wire_bytes *s = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *s);
    wire_field  f;
    for (*count = 0; s && eddy__wire_next(&w, &f);)
        if (f.number == number) s[(*count)++] = f.bytes;
    return s;
}

/* Which numbers of a tensor are written where: field 4 float_data, 5 int32_data, 7 int64_data, 10
 * double_data, 11 uint64_data. */
static wire_type number_type(uint32_t field)
{
    return field == 4 ? WIRE_FIXED32 : field == 10 ? WIRE_FIXED64 : WIRE_VARINT;
}

/* Packed floats are the same bytes as raw ones, so that they need not be copied. */
static void typed_data(parser *p, wire w, uint32_t field, onnx_tensor *t)
{
    wire_field f, data = { 0 };
    for (wire v = w; eddy__wire_next(&v, &f);)
        if (f.number == field) data = f;
    const bool whole = number_type(field) != WIRE_VARINT && data.type == WIRE_BYTES;
    if (whole && eddy__wire_count(w, field) == 1) {
        t->raw = data.bytes;
        t->has_raw = true;
    } else
        t->numbers =
            eddy__parse_numbers_in_place(p, w, field, number_type(field), &t->count);
}

/* A number of bytes, in decimal digits. */
static int64_t external_number(parser *p, const uint8_t *at, const char *text)
{
    char *end;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < 0) eddy__parse_damaged(p, at);
    return n;
}

/* StringStringEntryProto: where external data is. */
static void external_data(parser *p, wire w, onnx_tensor *t)
{
    const char *key = "", *value = "";
    wire_field  f;
    while (!p->bad && eddy__wire_next(&w, &f))
        if (f.number == 1) key = eddy__parse_string(p, &f);
        else if (f.number == 2) value = eddy__parse_string(p, &f);
    if (w.bad) eddy__parse_damaged(p, w.at);
    if (p->bad) return;
    if (strcmp(key, "location") == 0) t->location = value;
    else if (strcmp(key, "offset") == 0) t->offset = external_number(p, w.at, value);
    else if (strcmp(key, "length") == 0) t->length = external_number(p, w.at, value);
}

static void tensor_field(parser *p, wire *w, const wire_field *f, onnx_tensor *t)
{
    switch (f->number) {
    case 2: t->type = (int)(int32_t)f->value; break;
    case 8: t->name = eddy__parse_string(p, f); break;
    case 9: t->raw = f->bytes; t->has_raw = f->type == WIRE_BYTES; break;
    case 13: external_data(p, eddy__wire_enter(w, f), t); break;
    case 14: t->external = f->value == 1; break;
    default: break;
    }
}

void eddy__onnx_tensor(parser *p, wire w, onnx_tensor *t)
{
    *t = (onnx_tensor){ .name = "", .length = -1, .at = w.at };
    wire_field f;
    uint32_t   data = 0;
    t->dims = (int64_t *)eddy__parse_numbers(p, w, 1, WIRE_VARINT, &t->rank);
    wire v = w;
    while (!p->bad && eddy__wire_next(&v, &f)) {
        tensor_field(p, &v, &f, t);
        if ((f.number == 4 || f.number == 5 || f.number == 7 || f.number == 10 || f.number == 11) &&
            (f.type != WIRE_BYTES || f.bytes.size))
            data = f.number;
    }
    if (v.bad) eddy__parse_damaged(p, v.at);
    if (p->bad) return;
    if (t->type == ONNX_STRING) t->strings = eddy__onnx_byte_strings(p, w, 6, &t->count);
    else if (data && !t->has_raw) typed_data(p, w, data, t);
}

void eddy__onnx_sparse(parser *p, wire w, onnx_sparse *t)
{
    *t = (onnx_sparse){ .values = { .name = "" }, .indices = { .name = "" } };
    t->dims = (int64_t *)eddy__parse_numbers(p, w, 3, WIRE_VARINT, &t->rank);
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f))
        if (f.number == 1) eddy__onnx_tensor(p, eddy__wire_enter(&w, &f), &t->values);
        else if (f.number == 2) eddy__onnx_tensor(p, eddy__wire_enter(&w, &f), &t->indices);
    if (w.bad) eddy__parse_damaged(p, w.at);
}

static int64_t dimension(parser *p, wire w)
{
    int64_t    size = EDDY_ANY;
    wire_field f;
    while (eddy__wire_next(&w, &f))
        if (f.number == 1 && f.type == WIRE_VARINT) size = (int64_t)f.value;
    if (w.bad) eddy__parse_damaged(p, w.at);
    return size < 0 ? EDDY_ANY : size;
}

/* TensorShapeProto. */
static eddy_shape shape_of(parser *p, wire w)
{
    eddy_shape s = EDDY_SCALAR;
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f)) {
        if (f.number != 1) continue;
        const int64_t size = dimension(p, eddy__wire_enter(&w, &f));
        if (s.rank < EDDY_MAX_RANK) s.dim[s.rank] = size;
        s.rank++;
    }
    if (w.bad) eddy__parse_damaged(p, w.at);
    return s.rank > EDDY_MAX_RANK ? EDDY_UNKNOWN_SHAPE : s;
}

/* TypeProto.Tensor */
static void tensor_type(parser *p, wire w, onnx_info *info)
{
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f))
        if (f.number == 1) info->type = (int)(int32_t)f.value;
        else if (f.number == 2) info->shape = shape_of(p, eddy__wire_enter(&w, &f));
    if (w.bad) eddy__parse_damaged(p, w.at);
}

/* TypeProto. */
static void type_of(parser *p, wire w, onnx_info *info)
{
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f)) {
        if (f.number == 1 || f.number == 8) {
            info->kind = f.number == 1 ? ONNX_TENSOR : ONNX_SPARSE_TENSOR;
            tensor_type(p, eddy__wire_enter(&w, &f), info);
        } else if (f.number == 4 || f.number == 9) {
            wire       inner = eddy__wire_enter(&w, &f);
            wire_field e;
            while (!p->bad && eddy__wire_next(&inner, &e))
                if (e.number == 1) type_of(p, eddy__wire_enter(&inner, &e), info);
            if (inner.bad) eddy__parse_damaged(p, inner.at);
            info->element_kind = info->kind;
            info->kind = f.number == 4 ? ONNX_SEQUENCE : ONNX_OPTIONAL;
        } else if (f.number == 5) info->kind = ONNX_MAP;
    }
    if (w.bad) eddy__parse_damaged(p, w.at);
}

void eddy__onnx_info(parser *p, wire w, onnx_info *info)
{
    *info = (onnx_info){ .name = "", .shape = EDDY_UNKNOWN_SHAPE };
    wire_field f;
    while (!p->bad && eddy__wire_next(&w, &f))
        if (f.number == 1) info->name = eddy__parse_string(p, &f);
        else if (f.number == 2) type_of(p, eddy__wire_enter(&w, &f), info);
    if (w.bad) eddy__parse_damaged(p, w.at);
}

bool eddy__onnx_parse_tensor(region *r, wire_bytes b, onnx_tensor *t)
{
    parser p = { .memory = r };
    eddy__onnx_tensor(&p, eddy__wire_of(b), t);
    return !p.bad;
}
