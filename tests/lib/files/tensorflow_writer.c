/* tensorflow_writer.c -- see tensorflow_writer.h. */
#include "tests/lib/files/tensorflow_writer.h"
#include "formats/checksum.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- nodes -- */

static void list(message *m, uint32_t field, const char *names)
{
    while (*names) {
        const size_t n = strcspn(names, ",");
        message_bytes(m, field, names, n);
        names += n + (names[n] == ',');
    }
}

message tf_node_message(const char *name, const char *op, const char *inputs)
{
    message m = { NULL, 0 };
    message_text(&m, 1, name);
    message_text(&m, 2, op);
    list(&m, 3, inputs);
    return m;
}

static void add(message *node, const char *name, message value)
{
    message entry = { NULL, 0 };
    message_text(&entry, 1, name);
    message_inner(&entry, 2, value);
    message_inner(node, 5, entry);
}

void tf_add_int(message *node, const char *name, int64_t value)
{
    message v = { NULL, 0 };
    message_number(&v, 3, (uint64_t)value);
    add(node, name, v);
}

void tf_add_float(message *node, const char *name, float value)
{
    message v = { NULL, 0 };
    message_float(&v, 4, value);
    add(node, name, v);
}

void tf_add_flag(message *node, const char *name, bool value)
{
    message v = { NULL, 0 };
    message_number(&v, 5, value);
    add(node, name, v);
}

void tf_add_text(message *node, const char *name, const char *value)
{
    message v = { NULL, 0 };
    message_text(&v, 2, value);
    add(node, name, v);
}

void tf_add_type(message *node, const char *name, int type)
{
    message v = { NULL, 0 };
    message_number(&v, 6, (uint64_t)type);
    add(node, name, v);
}

void tf_add_function(message *node, const char *name, const char *function)
{
    message v = { NULL, 0 }, f = { NULL, 0 };
    message_text(&f, 1, function);
    message_inner(&v, 10, f);
    add(node, name, v);
}

void tf_add_functions(message *node, const char *name, const char *functions)
{
    message v = { NULL, 0 }, l = { NULL, 0 };
    while (*functions) {
        const size_t n = strcspn(functions, "&");
        message      f = { NULL, 0 };
        message_bytes(&f, 1, functions, n);
        message_inner(&l, 9, f);
        functions += n + (functions[n] == '&');
    }
    message_inner(&v, 1, l);
    add(node, name, v);
}

void tf_add_ints(message *node, const char *name, int n, const int64_t *values)
{
    message v = { NULL, 0 }, l = { NULL, 0 };
    for (int i = 0; i < n; i++) message_number(&l, 3, (uint64_t)values[i]);
    message_inner(&v, 1, l);
    add(node, name, v);
}

void tf_add_texts(message *node, const char *name, const char *texts)
{
    message v = { NULL, 0 }, l = { NULL, 0 };
    list(&l, 2, texts);
    message_inner(&v, 1, l);
    add(node, name, v);
}

static message shape_message(int rank, const int64_t *dims)
{
    message s = { NULL, 0 };
    for (int i = 0; i < rank; i++) {
        message d = { NULL, 0 };
        message_number(&d, 1, (uint64_t)dims[i]);
        message_inner(&s, 2, d);
    }
    return s;
}

void tf_add_shape(message *node, const char *name, int rank, const int64_t *dims)
{
    message v = { NULL, 0 };
    message_inner(&v, 7, shape_message(rank, dims));
    add(node, name, v);
}

void tf_add_shapes(message *node, const char *name, const char *sizes)
{
    message v = { NULL, 0 }, l = { NULL, 0 };
    for (;;) {
        const int64_t size = strtoll(sizes, NULL, 10);
        const size_t  n = strcspn(sizes, "&");
        message_inner(&l, 7, shape_message(n > 0, &size));
        if (!sizes[n]) break;
        sizes += n + 1;
    }
    message_inner(&v, 1, l);
    add(node, name, v);
}

message tf_input_message(const char *name, int rank, const int64_t *dims)
{
    message m = tf_node_message(name, "Placeholder", "");
    tf_add_type(&m, "dtype", 1);
    tf_add_shape(&m, "shape", rank, dims);
    return m;
}

message tf_const_message(const char *name, int type, size_t element, int rank, const int64_t *dims,
                         const void *x)
{
    message m = tf_node_message(name, "Const", ""), t = { NULL, 0 }, v = { NULL, 0 };
    size_t  n = element;
    for (int i = 0; i < rank; i++) n *= (size_t)dims[i];
    message_number(&t, 1, (uint64_t)type);
    message_inner(&t, 2, shape_message(rank, dims));
    message_bytes(&t, 4, x, n);
    message_inner(&v, 8, t);
    tf_add_type(&m, "dtype", type);
    add(&m, "value", v);
    return m;
}

message tf_floats_message(const char *name, int rank, const int64_t *dims, const float *x)
{
    return tf_const_message(name, 1, 4, rank, dims, x);
}

message tf_ints_message(const char *name, int rank, const int64_t *dims, const int32_t *x)
{
    return tf_const_message(name, 3, 4, rank, dims, x);
}

message tf_constant_message(const char *name, int type, uint64_t count, uint32_t field,
                            const void *bytes, size_t n)
{
    message shape = { NULL, 0 }, tensor = { NULL, 0 }, value = { NULL, 0 }, entry = { NULL, 0 };
    message dim = { NULL, 0 }, node = tf_node_message(name, "Const", "");
    message_number(&dim, 1, count);
    message_inner(&shape, 2, dim);
    message_number(&tensor, 1, (uint64_t)type);
    message_inner(&tensor, 2, shape);
    message_bytes(&tensor, field, bytes, n);
    message_inner(&value, 8, tensor);
    message_text(&entry, 1, "value");
    message_inner(&entry, 2, value);
    tf_add_type(&node, "dtype", type);
    message_inner(&node, 5, entry);
    return node;
}

/* ---------------------------------------------------------------- functions -- */

message tf_function_message(const char *name, const char *args, const char *results)
{
    message m = { NULL, 0 }, signature = { NULL, 0 };
    message_text(&signature, 1, name);
    while (*args) {
        const size_t n = strcspn(args, ",");
        message      arg = { NULL, 0 };
        message_bytes(&arg, 1, args, n);
        message_number(&arg, 3, 1);
        message_inner(&signature, 2, arg);
        args += n + (args[n] == ',');
    }
    for (int i = 0; *results; i++) {
        const size_t n = strcspn(results, ",");
        char         key[8] = { 'r', (char)('0' + i) };
        message      arg = { NULL, 0 }, ret = { NULL, 0 };
        message_text(&arg, 1, key);
        message_inner(&signature, 3, arg);
        message_text(&ret, 1, key);
        message_bytes(&ret, 2, results, n);
        message_inner(&m, 4, ret);
        results += n + (results[n] == ',');
    }
    message_inner(&m, 1, signature);
    return m;
}

void tf_add_library(message *graph, message *functions, int n)
{
    message library = { NULL, 0 };
    for (int i = 0; i < n; i++) message_inner(&library, 1, functions[i]);
    message_inner(graph, TF_GRAPH_LIBRARY, library);
}

static void ports(message *signature, uint32_t field, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, ","), key = strcspn(text, "=");
        message      entry = { NULL, 0 }, info = { NULL, 0 };
        message_bytes(&entry, 1, text, key);
        message_bytes(&info, 1, text + key + 1, n - key - 1);
        message_number(&info, 2, 1);
        message_inner(&entry, 2, info);
        message_inner(signature, field, entry);
        text += n + (text[n] == ',');
    }
}

message tf_saved_model_message(message graph, const char *inputs, const char *outputs)
{
    message m = { NULL, 0 }, meta = { NULL, 0 }, info = { NULL, 0 }, entry = { NULL, 0 },
            signature = { NULL, 0 };
    message_text(&info, 4, "serve");
    message_inner(&meta, 1, info);
    message_inner(&meta, 2, graph);
    ports(&signature, 1, inputs);
    ports(&signature, 2, outputs);
    message_text(&entry, 1, "serving_default");
    message_inner(&entry, 2, signature);
    message_inner(&meta, 5, entry);
    message_number(&m, 1, 1);
    message_inner(&m, 2, meta);
    return m;
}

/* -------------------------------------------------------------- checkpoints -- */

static void put32(message *m, uint32_t v) { message_put_number(m, v, 4); }

static void put_varint(message *m, uint64_t v)
{
    for (; v >= 128; v >>= 7) message_put(m, &(uint8_t){ (uint8_t)(v & 127) | 128 }, 1);
    message_put(m, &(uint8_t){ (uint8_t)v }, 1);
}

static uint32_t masked(wire_bytes b)
{
    const uint32_t c = eddy__file_crc32c(b);
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* A pair whose key shares bytes with the key before it. */
static void pair(message *b, const char *before, const char *key, const message *value)
{
    size_t shared = 0;
    while (before[shared] && before[shared] == key[shared]) shared++;
    put_varint(b, shared);
    put_varint(b, strlen(key) - shared);
    put_varint(b, value->size);
    message_put(b, key + shared, strlen(key) - shared);
    message_put(b, value->at, value->size);
}

/* Ends a block and appends it to the file; its place is a pair of numbers. */
static message finish(message *file, message block)
{
    message handle = { NULL, 0 };
    put32(&block, 0);
    put32(&block, 1);
    put_varint(&handle, file->size);
    put_varint(&handle, block.size);
    message_put(&block, &(uint8_t){ 0 }, 1);
    const uint32_t crc = masked((wire_bytes){ block.at, block.size });
    message_put(file, block.at, block.size);
    put32(file, crc);
    message_free(&block);
    return handle;
}

static void put_elements(message *data, const tf_bundle_entry *e)
{
    if (!e->text) {
        message_put(data, eddy_array_data(e->array), eddy_array_bytes(e->array));
        return;
    }
    message size = { NULL, 0 };
    put_varint(&size, e->text_size);
    message_put(data, size.at, size.size);
    put32(data, masked((wire_bytes){ size.at, size.size }));
    message_put(data, e->text, e->text_size);
    message_free(&size);
}

message tf_table_of(message pairs, int times)
{
    static const uint8_t mark[8] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };
    message file = { NULL, 0 }, index = { NULL, 0 };
    message handle = finish(&file, pairs);
    for (int i = 0; i < times; i++) pair(&index, i ? "~" : "", "~", &handle);
    message_free(&handle);
    message footer = finish(&file, (message){ NULL, 0 });
    handle = finish(&file, index);
    message_put(&footer, handle.at, handle.size);
    while (footer.size < 40) message_put(&footer, "", 1);
    message_put(&footer, mark, 8);
    message_put(&file, footer.at, footer.size);
    message_free(&footer);
    message_free(&handle);
    return file;
}

tf_bundle tf_bundle_of(const tf_bundle_entry *entries, int n)
{
    tf_bundle b = { { NULL, 0 }, { NULL, 0 } };
    message   block = { NULL, 0 }, value = { NULL, 0 };
    message_number(&value, 1, 1);
    pair(&block, "", "", &value);
    message_free(&value);
    for (int i = 0; i < n; i++) {
        const size_t     from = b.data.size;
        const eddy_shape s = entries[i].array ? eddy_array_shape(entries[i].array) : EDDY_SCALAR;
        put_elements(&b.data, &entries[i]);
        message_number(&value, 1, (uint64_t)entries[i].type);
        message_inner(&value, 2, shape_message(s.rank, s.dim));
        message_number(&value, 4, from);
        message_number(&value, 5, b.data.size - from);
        const uint32_t crc = masked((wire_bytes){ b.data.at + from, b.data.size - from });
        put_varint(&value, 6 << 3 | 5);
        put32(&value, crc);
        pair(&block, i ? entries[i - 1].name : "", entries[i].name, &value);
        message_free(&value);
    }
    b.index = tf_table_of(block, 1);
    return b;
}

void tf_bundle_free(tf_bundle *b)
{
    message_free(&b->index);
    message_free(&b->data);
}
