/* save.c -- the file: constants are written from their arrays, piece by piece, so that a model of
 * large weights is never in memory twice. */
#include "writer.h"

#include <stdio.h>
#include <string.h>

/* Fields of StringStringEntryProto. */
enum { ENTRY_KEY = 1, ENTRY_VALUE };
enum { EXTERNAL = 1, ALIGN = 4096 };

/* protobuf reads at most this many bytes. */
static const uint64_t LARGEST_MODEL = 2147483647;

typedef struct model_file {
    onnx_writer *writer;
    const char  *data_name;             /* of the file of external data, without folders */
    message      piece;                 /* the fields before an array */
} model_file;

static void entry(message *m, const char *key, const char *value)
{
    message e = { 0 };
    eddy__message_text(&e, ENTRY_KEY, key);
    eddy__message_text(&e, ENTRY_VALUE, value);
    eddy__message_inner(m, TENSOR_EXTERNAL, &e);
}

message eddy__writer_tensor_head(const char *name, const eddy_array *a)
{
    message          m = { 0 };
    const eddy_shape s = eddy_array_shape(a);
    for (int i = 0; i < s.rank; i++) eddy__message_number(&m, TENSOR_DIMS, s.dim[i]);
    eddy__message_number(&m, TENSOR_TYPE, eddy__onnx_type_of(eddy_array_dtype(a)));
    eddy__message_text(&m, TENSOR_NAME, name);
    return m;
}

/* All of a tensor except its elements, which follow the last field, if they are in the model. */
static message tensor_head(const model_file *f, const writer_constant *c)
{
    message m = eddy__writer_tensor_head(c->name, c->array);
    if (c->offset < 0) {
        eddy__message_head(&m, TENSOR_RAW, eddy_array_bytes(c->array));
        return m;
    }
    char text[32];
    entry(&m, "location", f->data_name);
    snprintf(text, sizeof text, "%lld", (long long)c->offset);
    entry(&m, "offset", text);
    snprintf(text, sizeof text, "%zu", eddy_array_bytes(c->array));
    entry(&m, "length", text);
    eddy__message_number(&m, TENSOR_WHERE, EXTERNAL);
    return m;
}

/* Field GRAPH_INITIALIZER up to the elements, into `piece`; its size with the elements. */
static uint64_t begin_constant(model_file *f, const writer_constant *c)
{
    message        head = tensor_head(f, c);
    const uint64_t raw = c->offset < 0 ? eddy_array_bytes(c->array) : 0;
    f->piece.size = 0;
    eddy__message_head(&f->piece, GRAPH_INITIALIZER, head.size + raw);
    eddy__message_append(&f->piece, head.at, head.size);
    f->piece.full = f->piece.full || head.full;
    eddy__message_free(&head);
    return f->piece.size + raw;
}

static message model_head(const message *others, uint64_t graph_size)
{
    message m = { 0 };
    eddy__message_number(&m, MODEL_IR, WRITER_IR);
    eddy__message_text(&m, MODEL_PRODUCER, "eddy");
    eddy__message_append(&m, others->at, others->size);
    eddy__message_head(&m, MODEL_GRAPH, graph_size);
    return m;
}

static bool write_model(model_file *f, sink *to, const message *graph, const message *head)
{
    eddy__sink_write(to, head->at, head->size);
    eddy__sink_write(to, graph->at, graph->size);
    for (const writer_constant *c = f->writer->constants.first; c; c = c->next) {
        begin_constant(f, c);
        eddy__sink_write(to, f->piece.at, f->piece.size);
        if (c->offset < 0)
            eddy__sink_write(to, eddy_array_data(c->array), eddy_array_bytes(c->array));
    }
    return f->piece.full ? eddy__writer_no_memory(f->writer) : !to->failed;
}

/* ------------------------------------------------------------ external data -- */

/* Gives large constants a place in the second file; returns its size. */
static int64_t place_data(onnx_writer *w, int64_t external_bytes)
{
    int64_t at = 0;
    for (writer_constant *c = w->constants.first; c && external_bytes > 0; c = c->next) {
        const int64_t bytes = (int64_t)eddy_array_bytes(c->array);
        if (bytes < external_bytes) continue;
        c->offset = (at + ALIGN - 1) / ALIGN * ALIGN;
        at = c->offset + bytes;
    }
    return at;
}

static bool write_data(onnx_writer *w, sink *to)
{
    static const char zeros[ALIGN];
    int64_t           at = 0;
    for (const writer_constant *c = w->constants.first; c; c = c->next) {
        if (c->offset < 0) continue;
        eddy__sink_write(to, zeros, (size_t)(c->offset - at));
        eddy__sink_write(to, eddy_array_data(c->array), eddy_array_bytes(c->array));
        at = c->offset + (int64_t)eddy_array_bytes(c->array);
    }
    return !to->failed;
}

static bool save_model(model_file *f, const message *graph, const message *others,
                       const eddy_files *files)
{
    onnx_writer *w = f->writer;
    uint64_t     size = graph->size;
    sink         to;
    for (const writer_constant *c = w->constants.first; c; c = c->next)
        size += begin_constant(f, c);
    message head = model_head(others, size);
    bool    ok = !head.full && !f->piece.full && !others->full && !graph->full;
    if (!ok) eddy__writer_no_memory(w);
    else if (size + head.size > LARGEST_MODEL)
        ok = eddy__writer_fail(w, EDDY_LIMIT,
                               "%.600s: the model has %llu bytes, more than a file of "
                               "protobuf can have: set external_bytes",
                               w->path, (unsigned long long)(size + head.size));
    else {
        ok = eddy__sink_begin(&to, w->path, files, w->error) && write_model(f, &to, graph, &head);
        if (!ok) eddy__sink_abandon(&to);
        ok = ok && eddy__sink_end(&to);
        w->failed = w->failed || !ok;
    }
    eddy__message_free(&head);
    return ok;
}

bool eddy__writer_save(onnx_writer *w, const message *graph, const message *others,
                       const eddy_files *files, int64_t external_bytes)
{
    const char *slash = strrchr(w->path, '/');
    model_file  f = { .writer = w };
    bool        ok = true;
    if (place_data(w, external_bytes) > 0) {
        const char *path = eddy__region_print(&w->memory, "%s.data", w->path);
        sink        to;
        if (!path) return eddy__writer_no_memory(w);
        f.data_name = slash ? path + (slash - w->path) + 1 : path;
        ok = eddy__sink_begin(&to, path, files, w->error) && write_data(w, &to);
        if (!ok) eddy__sink_abandon(&to);
        ok = ok && eddy__sink_end(&to);
        w->failed = w->failed || !ok;
    }
    ok = ok && save_model(&f, graph, others, files);
    eddy__message_free(&f.piece);
    return ok;
}
