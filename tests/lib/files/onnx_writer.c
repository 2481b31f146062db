/* onnx_writer.c -- see onnx_writer.h. */
#include "onnx_writer.h"
#include "graph/base/sanitizer.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 65536 };

void message_free(message *m)
{
    free(m->at);
    *m = (message){ NULL, 0 };
}

/* The bytes that a message of so many has. Large ones double: to copy them for each field would be
 * quadratic. */
static size_t room(size_t size)
{
    size_t n = size + 1;
    if (n > LARGE)
        for (n = LARGE; n <= size;) n *= 2;
    return n;
}

void message_put(message *m, const void *data, size_t size)
{
    const size_t before = room(m->size), after = room(m->size + size);
    if (!m->at || after != before) {
        if (m->at) eddy__permit(m->at, before);
        m->at = realloc(m->at, after);
        eddy__forbid(m->at + m->size, after - m->size);
    }
    eddy__permit(m->at + m->size, size + 1);
    if (size) memcpy(m->at + m->size, data, size);
    m->size += size;
}

void message_put_text(message *m, const char *s) { message_put(m, s, strlen(s)); }

void message_put_number(message *m, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        message_put(m, &(uint8_t){ (uint8_t)(i < 8 ? v >> 8 * i : 0) }, 1);
}

static void varint(message *m, uint64_t v)
{
    for (; v >= 128; v >>= 7) message_put(m, &(uint8_t){ (uint8_t)(v & 127) | 128 }, 1);
    message_put(m, &(uint8_t){ (uint8_t)v }, 1);
}

void message_number(message *m, uint32_t field, uint64_t value)
{
    varint(m, (uint64_t)field << 3);
    varint(m, value);
}

void message_float(message *m, uint32_t field, float value)
{
    varint(m, (uint64_t)field << 3 | 5);
    message_put(m, &value, 4);
}

void message_bytes(message *m, uint32_t field, const void *data, size_t size)
{
    varint(m, (uint64_t)field << 3 | 2);
    varint(m, size);
    message_put(m, data, size);
}

void message_text(message *m, uint32_t field, const char *s)
{
    message_bytes(m, field, s, strlen(s));
}

void message_inner(message *m, uint32_t field, message inner)
{
    message_bytes(m, field, inner.at, inner.size);
    message_free(&inner);
}

static void names(message *m, uint32_t field, const char *list)
{
    while (*list) {
        const size_t n = strcspn(list, ",");
        message_bytes(m, field, list, n);
        list += n + (list[n] == ',');
    }
}

message onnx_node_message(const char *op, const char *inputs, const char *outputs)
{
    message m = { NULL, 0 };
    names(&m, 1, inputs);
    names(&m, 2, outputs);
    message_text(&m, 4, op);
    return m;
}

message onnx_int_attribute(const char *name, int64_t value)
{
    message m = { NULL, 0 };
    message_text(&m, 1, name);
    message_number(&m, 3, (uint64_t)value);
    message_number(&m, 20, 2);
    return m;
}

message onnx_float_attribute(const char *name, float value)
{
    message m = { NULL, 0 };
    message_text(&m, 1, name);
    message_float(&m, 2, value);
    message_number(&m, 20, 1);
    return m;
}

message onnx_ints_attribute(const char *name, int n, const int64_t *values)
{
    message m = { NULL, 0 };
    message_text(&m, 1, name);
    for (int i = 0; i < n; i++) message_number(&m, 8, (uint64_t)values[i]);
    message_number(&m, 20, 7);
    return m;
}

message onnx_graph_attribute(const char *name, message graph)
{
    message m = { NULL, 0 };
    message_text(&m, 1, name);
    message_inner(&m, 6, graph);
    message_number(&m, 20, 5);
    return m;
}

void onnx_add_attribute(message *node, message attribute) { message_inner(node, 5, attribute); }

message onnx_tensor_message(const char *name, int type, int rank, const int64_t *dims,
                            const void *data, size_t size)
{
    message m = { NULL, 0 };
    for (int i = 0; i < rank; i++) message_number(&m, 1, (uint64_t)dims[i]);
    message_number(&m, 2, (uint64_t)type);
    message_text(&m, 8, name);
    if (data) message_bytes(&m, 9, data, size);
    return m;
}

message onnx_floats(const char *name, int n, const float *x)
{
    return onnx_tensor_message(name, 1, 1, &(int64_t){ n }, x, (size_t)n * sizeof *x);
}

message onnx_int64s(const char *name, int n, const int64_t *x)
{
    return onnx_tensor_message(name, 7, 1, &(int64_t){ n }, x, (size_t)n * sizeof *x);
}

message onnx_value_message(const char *name, int type, int rank, const int64_t *dims)
{
    message shape = { NULL, 0 }, tensor = { NULL, 0 }, of = { NULL, 0 }, m = { NULL, 0 };
    for (int i = 0; i < rank; i++) {
        message dim = { NULL, 0 };
        if (dims[i] < 0) message_text(&dim, 2, "n");
        else message_number(&dim, 1, (uint64_t)dims[i]);
        message_inner(&shape, 1, dim);
    }
    message_number(&tensor, 1, (uint64_t)type);
    if (rank >= 0) message_inner(&tensor, 2, shape);
    message_inner(&of, 1, tensor);
    message_text(&m, 1, name);
    message_inner(&m, 2, of);
    return m;
}

message onnx_model_message(message graph, int opset)
{
    message import = { NULL, 0 }, m = { NULL, 0 };
    message_number(&m, 1, 8);
    message_text(&import, 1, "");
    message_number(&import, 2, (uint64_t)opset);
    message_inner(&m, 8, import);
    message_inner(&m, 7, graph);
    return m;
}
