/* test_messages_graph.c -- error messages of graphs, names, scopes, graph files and array files. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/plain_ops.h"
#include "tests/lib/files/whole_files.h"

#include <errno.h>
#include <stdlib.h>

Suite *messages_graph_suite(void);

/* ------------------------------------------------------------ operations -- */

/* An operation with the given number of outputs of one type. */
typedef struct many_attrs {
    int64_t    n;
    eddy_dtype dtype;
    eddy_shape shape;
} many_attrs;

static bool many_infer(eddy_infer *c)
{
    const many_attrs *a = c->attrs;
    if (!eddy_infer_outputs(c, (int)a->n)) return false;
    for (int i = 0; i < c->n_out; i++) c->out[i] = (eddy_type){ a->dtype, a->shape };
    return true;
}
static bool mute_infer(eddy_infer *c)
{
    (void)c;
    return false;
}

static const eddy_op_def op_many = { .name = "Many", .outputs = EDDY_MANY, .infer = many_infer,
                                     .attrs_size = sizeof(many_attrs) };
static const eddy_op_def op_nameless = { .infer = mute_infer };
static const eddy_op_def op_mute = { .name = "Mute", .infer = mute_infer };
static const eddy_op_def op_large = { .name = "Large", .outputs = EDDY_MANY, .infer = many_infer,
                                      .attrs_size = 1 << 16 };

static void many(eddy_graph *g, int64_t n, eddy_dtype dtype, eddy_shape shape)
{
    eddy_apply(&op_many, &(many_attrs){ n, dtype, shape }, 0, NULL, (eddy_apply_args){ g, NULL });
    golden_graph(g);
}

static void appending(eddy_graph *g, eddy_tensor x)
{
    const all_attrs       no_list = { .ints = { 1, NULL } };
    const eddy_apply_args in_g = { g, NULL };
    const intptr_t        number = 1;
    eddy_dims             axes = { .count = 0 };
    memcpy(&axes, &number, sizeof number);   /* as compilers do that only warn */
    eddy_sum(x, axes), golden_graph(g);
    eddy_sum(x, (eddy_dims){ .count = 0 }), golden_graph(g);
    eddy_fftshift(x, (eddy_dims){ .count = 9 }), golden_graph(g);
    eddy_fftshift(x, (eddy_dims){ .count = -2 }), golden_graph(g);
    eddy_apply2(&plain_pair, NULL, x, x), golden_graph(g);
    eddy_apply(&plain_sink, NULL, 1, NULL, in_g), golden_graph(g);
    eddy_apply(&op_nameless, NULL, 0, NULL, in_g), golden_graph(g);
    eddy_apply(&plain_all, &no_list, 0, NULL, in_g), golden_graph(g);
    eddy_apply(&op_mute, NULL, 0, NULL, in_g), golden_graph(g);
    many(g, -1, EDDY_FLOAT32, EDDY_SCALAR);
    many(g, 2, EDDY_DEFAULT_DTYPE, EDDY_SCALAR);
    many(g, 1, EDDY_UINT8, EDDY_SHAPE((int64_t)1 << 25, (int64_t)1 << 25));
    many(g, 1, EDDY_FLOAT64, EDDY_SHAPE((int64_t)1 << 46));
    const int32_t size = g->size;
    g->size = 1 << 24;                       /* as many nodes as there may be */
    eddy_no_op(g, NULL), golden_graph(g);
    g->size = size;
}

static void names_and_scopes(eddy_graph *g, eddy_graph *other, eddy_tensor x)
{
    static char longest[EDDY_MAX_NAME + 1];
    memset(longest, 'n', sizeof longest - 1);
    eddy_no_op(g, longest), golden_graph(g);
    eddy_named(NULL, x), golden_graph(g);
    eddy_scope_begin(g, longest), golden_graph(g);
    eddy_scope_end(g);
    eddy_scope_end(g), golden_graph(g);
    eddy_control_end(g), golden_graph(g);
    eddy_device_end(g), golden_graph(g);
    eddy_control_begin(g, (eddy_list){ -1, NULL }), golden_graph(g);
    eddy_control_begin(g, EDDY_LIST(x, eddy_scalar(other, 1))), golden_graph(g);
    eddy_control_end(g);
    eddy_control_end(g);
    eddy_collection_add(g, "", x), golden_graph(g);
    eddy_collection_add(g, "losses", eddy_scalar(other, 1)), golden_graph(g);
}

static void no_rule(eddy_rule *r) { (void)r; }

static void gradients_of_ones_own(eddy_graph *g)
{
    eddy_register_gradient(g, "Mine", NULL, NULL), golden_graph(g);
    eddy_register_gradient(g, "Mine", no_rule, NULL);
    eddy_register_gradient(g, "Mine", no_rule, NULL), golden_graph(g);
    eddy_gradient_override_begin(g, "", "Mine"), golden_graph(g);
    eddy_gradient_override_end(g);
    eddy_gradient_override_end(g), golden_graph(g);
}

/* ---------------------------------------------------------------- memory -- */

static void release_nothing(void *object) { (void)object; }

/* Allocations of every kind that are larger than the rest of the graph's memory block. */
static void build(eddy_graph *h)
{
    static char longer[3000], text[100000];
    eddy_tensor in[1000];
    many_attrs  large[(1 << 16) / sizeof(many_attrs) + 1] = { { 100, EDDY_INT32, { 0 } } };
    memset(longer, 'n', sizeof longer - 1);
    memset(text, 't', sizeof text - 1);
    eddy_tensor x = plain_make_source(h, longer, EDDY_SHAPE(2));
    eddy_scope_begin(h, longer);
    eddy_scope_end(h);
    for (int i = 0; i < 1000; i++) in[i] = x;
    eddy_control_begin(h, (eddy_list){ 1000, in });
    eddy_device_begin(h, "cpu");
    eddy_device_end(h);
    eddy_apply(&plain_same, NULL, 1000, in, (eddy_apply_args){ h, NULL });
    eddy_control_end(h);
    eddy_apply(&op_large, large, 0, NULL, (eddy_apply_args){ h, NULL });
    eddy_apply(&op_many, &(many_attrs){ 3000, EDDY_INT32, { 0 } }, 0, NULL,
               (eddy_apply_args){ h, NULL });
    eddy_apply(&plain_all, &(all_attrs){ .s = text }, 0, NULL, (eddy_apply_args){ h, NULL });
    eddy_collection_add(h, "losses", x);
    eddy_graph_own(h, h, release_nothing);
    eddy_register_gradient(h, "Mine", no_rule, NULL);
    eddy_gradient_override_begin(h, "Sin", "Mine");
    eddy_gradient_override_end(h);
}

static void graph_without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *h = eddy_graph_new(&f->table);
    if (h) build(h);
    if (h) *e = h->error;
    eddy_graph_free(h);
}

START_TEST(of_graphs)
{
    eddy_graph *g = eddy_graph_new(), *other = eddy_graph_new();
    eddy_tensor x = plain_make_source(g, "x", EDDY_SHAPE(2));
    golden_begin("graph/graph");
    appending(g, x);
    names_and_scopes(g, other, x);
    gradients_of_ones_own(g);
    golden_no_memory(graph_without_memory);
    golden_end();
    eddy_graph_free(g);
    eddy_graph_free(other);
}
END_TEST

/* ----------------------------------------------------------------- files -- */

/* Each call of one replacement and of one reading fails. */
static void faults(void)
{
    for (int k = 0; k < 2; k++) {
        bool reached = true;
        for (int at = 1; reached; at++) {
            memory_files m;
            eddy_error   e = { 0 };
            void        *data = NULL;
            size_t       size = 0;
            memory_files_init(&m);
            memory_files_put(&m, "f", "text", 4);
            m.fault = (memory_fault){ .at = at, .number = k ? ENXIO : ENOSPC };
            if (k) file_read(&m.table, &eddy__libc, "f", 9, &data, &size, &e);
            else file_replace(&m.table, "f", "new", 3, &e);
            reached = e.status != EDDY_OK;
            if (reached) golden_error(&e);
            eddy__release(&eddy__libc, data, size);
            memory_files_free(&m);
        }
    }
}

static void read_a_device(void)
{
    eddy_error e = { 0 };
    void      *data = NULL;
    size_t     size = 0;
    file_read(NULL, &eddy__libc, "/dev/null", 9, &data, &size, &e);
    golden_error(&e);
}

static int64_t three_more(void *context, int fd)
{
    memory_files *m = context;
    return (int64_t)m->contents[m->open[fd].content - 1].size + 3;
}

static void read_without_memory(failing_allocator *f, eddy_error *e)
{
    memory_files m;
    void        *data;
    size_t       size;
    memory_files_init(&m);
    memory_files_put(&m, "f", "text", 4);
    if (file_read(&m.table, &f->table, "f", 9, &data, &size, e))
        eddy__release(&f->table, data, size);
    memory_files_free(&m);
}

static void misuse(memory_files *m)
{
    static char deep[5000];
    eddy_error  e = { 0 };
    eddy_files  gap = m->table;
    void       *data;
    size_t      size;
    memset(deep, 'd', sizeof deep - 1);
    gap.sync = NULL;
    file_replace(&m->table, "", "", 0, &e), golden_error(&e);
    file_replace(&m->table, deep, "", 0, &e), golden_error(&e);
    file_replace(&gap, "f", "", 0, &e), golden_error(&e);
    file_read(&m->table, &eddy__libc, "absent", 9, &data, &size, &e), golden_error(&e);
    file_read(&m->table, &eddy__libc, "f", 3, &data, &size, &e), golden_error(&e);
    gap = m->table;
    gap.size = three_more;
    file_read(&gap, &eddy__libc, "f", 9, &data, &size, &e), golden_error(&e);
}

/* ------------------------------------------------------------------- npy -- */

/* The header of the file says 2^47 bytes, and so does the table of functions. */
static int64_t larger_than_memory(void *context, int fd)
{
    memory_files *m = context;
    return (int64_t)m->contents[m->open[fd].content - 1].size + ((int64_t)1 << 47);
}

static void arrays(memory_files *m)
{
    static const char huge[] =
        "\x93NUMPY\1\0I\0"
        "{'descr': '|u1', 'fortran_order': False, 'shape': (140737488355328,), } \n";
    eddy_error  e = { 0 };
    eddy_files  lies = m->table;
    eddy_array *a = eddy_array_of(EDDY_BFLOAT16, 1);
    memory_files_put(m, "long.npy", "\x93NUMPY\2\0\1\0\1\0 ", 13);
    memory_files_put(m, "f.png", "\x89PNG\r\n\x1a\n..", 10);
    memory_files_put(m, "huge.npy", huge, sizeof huge - 1);
    lies.size = larger_than_memory;
    eddy_array_save(NULL, "f.npy", &m->table, &e), golden_error(&e);
    eddy_array_save(a, "f.npy", &m->table, &e), golden_error(&e);
    eddy_array_load("long.npy", &m->table, &e), golden_error(&e);
    eddy_array_load("f.png", &m->table, &e), golden_error(&e);
    eddy_array_load("huge.npy", &lies, &e), golden_error(&e);
    eddy_array_free(a);
}

START_TEST(of_files)
{
    memory_files m;
    memory_files_init(&m);
    memory_files_put(&m, "f", "text", 4);
    golden_begin("graph/graph_files");
    faults();
    read_a_device();
    misuse(&m);
    golden_no_memory(read_without_memory);
    arrays(&m);
    golden_end();
    memory_files_free(&m);
}
END_TEST

/* ----------------------------------------------------------- graph files -- */

#define HEAD "format: eddy-graph\nversion: 1\nseed: 1\nfinalized: false\n"

enum { FIELDS = EDDY_YAML_ATTRS + 1 };
static eddy_attr_field   wide_fields[FIELDS + 1];
static const eddy_op_def op_wide = { .name = "Wide", .infer = mute_infer, .attrs_size = 8,
                                     .attrs = wide_fields };

static void unreadable(const eddy_yaml_source *limits, const char *text)
{
    eddy_error       e = { 0 };
    eddy_yaml_source s = *limits;
    s.path = "f";
    s.text = text;
    s.size = strlen(text);
    s.ops = plain_ops;
    ck_assert_ptr_null(eddy__yaml_read(&s, &e));
    golden_error(&e);
}

static void limits_of_reading(void)
{
    static char text[1 << 15];
    const eddy_op_def *const wide[] = { &op_wide, NULL };
    const eddy_op_def *const nameless[] = { &op_nameless, NULL };
    const int64_t size = (int64_t)strlen(plain_text);
    for (int i = 0; i < FIELDS; i++) wide_fields[i] = (eddy_attr_field){ "a", EDDY_ATTR_INT, 0 };
    unreadable(&(eddy_yaml_source){ .more_ops = wide },
               HEAD "nodes:\n- {name: w, op: Wide, attributes: {}, outputs: []}\n");
    unreadable(&(eddy_yaml_source){ .more_ops = nameless }, HEAD);
    unreadable(&(eddy_yaml_source){ .max_bytes = size - 1 }, plain_text);
    unreadable(&(eddy_yaml_source){ .max_nodes = 4 }, plain_text);
    unreadable(&(eddy_yaml_source){ .max_items = 16 }, plain_text);
    int n = sprintf(text, HEAD "nodes:\n- {op: Sink, outputs: [], name: ");
    sprintf(text + n + sprintf(text + n, "%0*d", EDDY_MAX_NAME, 0), "}\n");
    unreadable(&(eddy_yaml_source){ 0 }, text);
    n = sprintf(text, HEAD "nodes: []\ncollections:\n");
    for (int i = 0; i <= EDDY_YAML_COLLECTIONS; i++) n += sprintf(text + n, "- {}\n");
    unreadable(&(eddy_yaml_source){ 0 }, text);
}

static int64_t ten_bytes(void *context, int fd)
{
    (void)context;
    (void)fd;
    return 10;
}

/* A file that grows while it is read. */
static void growing(memory_files *m)
{
    eddy_error       e = { 0 };
    eddy_files       lies = m->table;
    eddy_yaml_source s = { .path = "f", .files = &lies, .ops = plain_ops, .max_bytes = 20 };
    lies.size = ten_bytes;
    memory_files_put(m, "f", plain_text, strlen(plain_text));
    ck_assert_ptr_null(eddy__yaml_read(&s, &e));
    golden_error(&e);
}

static void unwritable(const eddy_graph *g)
{
    eddy_error e = { 0 };
    eddy_graph_save(g, "f", &e);
    golden_error(&e);
}

static eddy_graph *around(eddy_graph *inner)
{
    eddy_graph *g = eddy_graph_new();
    eddy_apply(&plain_all, &(all_attrs){ .graph = inner }, 0, NULL, (eddy_apply_args){ g, NULL });
    fits(g);
    return g;
}

static void limits_of_writing(void)
{
    char        key[16];
    eddy_graph *inner = eddy_graph_new(), *outer = around(inner), *many_keys = eddy_graph_new();
    eddy_tensor x = plain_make_source(many_keys, "x", EDDY_SCALAR);
    unwritable(NULL);
    for (int i = 0; i < EDDY_YAML_GRAPHS; i++) outer = around(outer);
    unwritable(outer);
    eddy_graph_free(outer);
    inner = eddy_graph_new();
    outer = around(inner);
    eddy_graph_free(inner);
    unwritable(outer);
    eddy_graph_free(outer);
    for (int i = 0; i <= EDDY_YAML_COLLECTIONS; i++) {
        sprintf(key, "key%d", i);
        eddy_collection_add(many_keys, key, x);
    }
    unwritable(many_keys);
    eddy_graph_free(many_keys);
}

/* The string and the list are larger than the pieces in which memory is taken, so that each needs
 * one of its own. */
static char *large_text(void)
{
    enum { QUADS = 400000, INTS = 140000 };
    char *text = malloc(4 * QUADS + 3 * INTS + 2000), *at = text;
    at += sprintf(at, HEAD "nodes:\n- name: a\n  op: All of them\n  attributes:\n    s: {base64: ");
    for (int i = 0; i < QUADS; i++) at += sprintf(at, "YWFh");
    at += sprintf(at, "}\n    i: 0\n    f: 0\n    b: true\n    d: float32\n    shape: '?'\n"
                  "    dims: ~\n    ints: [1");
    for (int i = 1; i < INTS; i++) at += sprintf(at, ", 1");
    sprintf(at, "]\n    array: {type: 'int32[2]', values: [1, 2]}\n"
            "    the graph: {seed: 1, finalized: false, nodes: []}\n"
            "  outputs: ['int32[]']\n");
    return text;
}

static char *large;

static void yaml_without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph_free(plain_read(large, &f->table, e));
}

static void saved_without_memory(failing_allocator *f, eddy_error *e)
{
    const long   at = f->at;
    memory_files m;
    memory_files_init(&m);
    f->at = 0;
    eddy_graph *g = plain_graph(&f->table, &m.table);
    f->at = f->calls + at;
    eddy_graph_save(g, "f", e);
    eddy_graph_free(g);
    memory_files_free(&m);
}

START_TEST(of_graph_files)
{
    memory_files m;
    memory_files_init(&m);
    large = large_text();
    golden_begin("graph/graph_files_messages");
    limits_of_reading();
    growing(&m);
    limits_of_writing();
    golden_no_memory(yaml_without_memory);
    golden_no_memory(saved_without_memory);
    golden_end();
    free(large);
    memory_files_free(&m);
}
END_TEST

Suite *messages_graph_suite(void)
{
    Suite *suite = suite_create("messages_graph");
    TCase *c = tcase_create("messages_graph");
    tcase_add_test(c, of_graphs);
    tcase_add_test(c, of_files);
    tcase_add_test(c, of_graph_files);
    suite_add_tcase(suite, c);
    return suite;
}
