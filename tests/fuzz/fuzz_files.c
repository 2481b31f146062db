/* fuzz_files.c -- bytes from anywhere as a file of each format, for libFuzzer:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -I. -DFUZZ_FORMAT=0 \
 *       tests/fuzz/fuzz_files.c graph/<all>.c session/safetensors<all>.c -lyaml -lm
 *
 * FUZZ_FORMAT is 0 for npy, 1 for safetensors, 2 for graphs.  What is accepted is
 * written and read again, and must come back. */
#define _POSIX_C_SOURCE 200809L
#include "graph/yaml.h"
#include "session/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUZZ_FORMAT
#define FUZZ_FORMAT 2
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One file in memory: reads see `in`, writes make `out`. */
typedef struct memory {
    const uint8_t *in;
    size_t         in_size, at;
    uint8_t       *out;
    size_t         out_size;
} memory;

static int open_memory(void *context, const char *path, int flags)
{
    memory *m = context;
    (void)path;
    (void)flags;
    m->at = 0;
    return 0;
}
static int64_t read_memory(void *context, int fd, void *p, size_t n)
{
    memory *m = context;
    (void)fd;
    if (n > m->in_size - m->at) n = m->in_size - m->at;
    if (n > 0) memcpy(p, m->in + m->at, n);
    m->at += n;
    return (int64_t)n;
}
static int64_t write_memory(void *context, int fd, const void *p, size_t n)
{
    memory *m = context;
    (void)fd;
    m->out = realloc(m->out, m->out_size + n);
    memcpy(m->out + m->out_size, p, n);
    m->out_size += n;
    return (int64_t)n;
}
static int64_t size_memory(void *context, int fd)
{
    return (void)fd, (int64_t)((memory *)context)->in_size;
}
static int sync_memory(void *context, int fd) { return (void)context, (void)fd, 0; }
static int     rename_memory(void *context, const char *from, const char *to)
{
    return (void)context, (void)from, (void)to, 0;
}
static int path_memory(void *context, const char *path) { return (void)context, (void)path, 0; }

static __attribute__((unused)) eddy_files table(memory *m)
{
    return (eddy_files){ open_memory, read_memory,   write_memory, size_memory, sync_memory,
                         sync_memory, rename_memory, path_memory,  path_memory, m };
}

static void require(bool ok)
{
    if (!ok) abort();
}

#if FUZZ_FORMAT == 0

static void check(const uint8_t *data, size_t size)
{
    memory      m = { data, size, 0, NULL, 0 };
    eddy_files  files = table(&m);
    eddy_error  e = { 0 };
    eddy_array *a = eddy_array_load("f", &files, &e);
    require(a ? e.status == EDDY_OK : e.status != EDDY_OK);
    if (!a) return;
    require(eddy_array_save(a, "f", &files, &e) == EDDY_OK);
    m.in = m.out;
    m.in_size = m.out_size;
    eddy_array *b = eddy_array_load("f", &files, &e);
    require(eddy_array_equal(a, b));
    eddy_array_free(a);
    eddy_array_free(b);
    free(m.out);
}

#elif FUZZ_FORMAT == 1

static void check(const uint8_t *data, size_t size)
{
    memory           m = { data, size, 0, NULL, 0 };
    eddy_files       files = table(&m);
    eddy_error       e = { 0 };
    eddy_safetensors s, t;
    eddy_status      status = eddy_safetensors_read(&files, NULL, "f", &s, &e);
    require(status == e.status && (status == EDDY_OK || s.count == 0));
    const char       **names = calloc((size_t)s.count + 1, sizeof *names);
    const eddy_array **arrays = calloc((size_t)s.count + 1, sizeof *arrays);
    for (int i = 0; i < s.count; i++) {
        names[i] = s.entries[i].name;
        arrays[i] = s.entries[i].array;
    }
    if (status == EDDY_OK) {
        require(eddy_safetensors_write(&files, NULL, "f", s.count, names, arrays, &e) == EDDY_OK);
        m.in = m.out;
        m.in_size = m.out_size;
        require(eddy_safetensors_read(&files, NULL, "f", &t, &e) == EDDY_OK && t.count == s.count);
        for (int i = 0; i < s.count; i++)
            require(eddy_array_equal(s.entries[i].array, t.entries[i].array));
        eddy_safetensors_free(&t);
    }
    eddy_safetensors_free(&s);
    free(names);
    free(arrays);
    free(m.out);
}

#else

typedef struct attrs {
    int64_t     i;
    double      f;
    bool        b;
    const char *s;
    eddy_dtype  d;
    eddy_shape  shape;
    eddy_dims   dims;
    eddy_ints   ints;
    eddy_array *array;
    eddy_graph *graph;
} attrs;

static bool infer(eddy_infer *c)
{
    const attrs *a = c->attrs;
    for (int i = 0; i < c->n_out; i++)
        c->out[i] = c->n_in > 0
                        ? c->in[0]
                        : (eddy_type){ a ? a->d : EDDY_FLOAT32, a ? a->shape : EDDY_UNKNOWN_SHAPE };
    return true;
}
#define FIELD(name, kind) { #name, EDDY_ATTR_##kind, offsetof(attrs, name) }
static const eddy_op_def        op_a = { .name = "A",
                                         .max_inputs = EDDY_MANY,
                                         .outputs = 2,
                                         .infer = infer,
                                         .attrs_size = sizeof(attrs),
                                         .attrs = (const eddy_attr_field[]){ FIELD(i, INT),
                                                                             FIELD(f, FLOAT),
                                                                             FIELD(b, BOOL),
                                                                             FIELD(s, STRING),
                                                                             FIELD(d, DTYPE),
                                                                             FIELD(shape, SHAPE),
                                                                             FIELD(dims, DIMS),
                                                                             FIELD(ints, INTS),
                                                                             FIELD(array, ARRAY),
                                                                             FIELD(graph, GRAPH),
                                                                             { 0 } } };
static const eddy_op_def op_b = { .name = "B", .max_inputs = 2, .outputs = 1, .infer = infer };
static const eddy_op_def op_c = { .name = "C", .max_inputs = EDDY_MANY, .infer = infer };
static const eddy_op_def *const ops[] = { &op_a, &op_b, &op_c, NULL };

static void check(const uint8_t *data, size_t size)
{
    eddy_yaml_source s = { .text = (const char *)data, .size = size, .ops = ops };
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_yaml_read(&s, &e);
    require(g ? e.status == EDDY_OK : e.status != EDDY_OK);
    if (!g) return;
    char *text = eddy_graph_to_yaml(g);
    require(text != NULL);
    s = (eddy_yaml_source){ .text = text, .size = strlen(text), .ops = ops };
    eddy_graph *back = eddy_yaml_read(&s, &e);
    char       *again = eddy_graph_to_yaml(back);
    require(again && strcmp(text, again) == 0);
    eddy_string_free(eddy_graph_to_dot(g));
    eddy_string_free(eddy_graph_to_text(g));
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(g);
    eddy_graph_free(back);
}

#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(data, size);
    return 0;
}
