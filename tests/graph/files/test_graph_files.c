/* test_graph_files.c -- graphs written as YAML and read again, equal to the byte, also when memory
 * or disk space runs out. */
#include "build/gen/suites.h"
#include "tests/lib/golden.h"
#include "tests/lib/plain_ops.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/whole_files.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------- round trip -- */

/* Written, read and written again: the same bytes, the same listing. */
static eddy_graph *there_and_back(const eddy_graph *g)
{
    eddy_error  e = { 0 };
    char       *text = eddy_graph_to_yaml(g), *lines = eddy_graph_to_text(g);
    ck_assert_ptr_nonnull(text);
    eddy_graph *back = plain_read(text, NULL, &e);
    ck_assert_msg(back != NULL, "%s\n%s", e.message, text);
    char *text2 = eddy_graph_to_yaml(back), *lines2 = eddy_graph_to_text(back);
    ck_assert_str_eq(text, text2);
    ck_assert_str_eq(lines, lines2);
    eddy_string_free(text);
    eddy_string_free(text2);
    eddy_string_free(lines);
    eddy_string_free(lines2);
    return back;
}

/* control inputs: data inputs are left out by the scopes, so the text above is
 * written here rather than derived. */
START_TEST(text_of_a_graph)
{
    eddy_error  e = { 0 };
    eddy_graph *g = plain_read(plain_text, NULL, &e);
    ck_assert_msg(g != NULL, "%s", e.message);
    char *text = eddy_graph_to_yaml(g);
    ck_assert_str_eq(text, plain_text);
    eddy_string_free(text);
    eddy_graph_free(g);
}
END_TEST

START_TEST(small_round_trip)
{
    eddy_graph *g = plain_graph(NULL, NULL), *back = there_and_back(g);
    eddy_tensor p = eddy_graph_tensor(back, "layer1/Pair:1");
    ck_assert(eddy_shape_equal(eddy_shape_of(p), EDDY_SHAPE(7, 3)));
    ck_assert_int_eq(eddy_graph_seed(back), -7);
    ck_assert_str_eq(eddy_device_of(p), "/cpu:0");
    ck_assert_int_eq(eddy_collection_size(back, "my \"things\""), 3);
    ck_assert(eddy_same(eddy_collection_at(back, "my \"things\"", 1), p));
    /* Building goes on, with the names of nodes and scopes taken. */
    char name[64];
    ck_assert_str_eq(eddy_unique_name(back, "layer1", false, name, sizeof name), "layer1_1");
    ck_assert_str_eq(eddy_unique_name(back, "Y", false, name, sizeof name), "Y_1");
    ck_assert_ptr_null(eddy__names_find(back, "layer1/Pai", 10));
    eddy_graph_finalize(back);
    eddy_graph *again = there_and_back(back);
    ck_assert(eddy_graph_is_finalized(again));
    eddy_graph_free(g);
    eddy_graph_free(back);
    eddy_graph_free(again);
}
END_TEST

START_TEST(scope_of_the_last_node)
{
    char        name[64];
    eddy_graph *g = eddy_graph_new();
    plain_make_source(g, "last/x", EDDY_SCALAR);
    eddy_graph *back = there_and_back(g);
    ck_assert_str_eq(eddy_unique_name(back, "last", false, name, sizeof name), "last_1");
    eddy_graph_free(g);
    eddy_graph_free(back);
}
END_TEST

START_TEST(empty_graph)
{
    eddy_graph *g = eddy_graph_new(), *back = there_and_back(g);
    ck_assert_int_eq(eddy_graph_size(back), 0);
    eddy_graph_free(g);
    eddy_graph_free(back);
}
END_TEST

/* A node of a function of a loop, which has a copy of it. */
START_TEST(traced)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = plain_make_source(g, "x", EDDY_SCALAR), y = eddy_apply1(&plain_same, NULL, x);
    g->nodes[y.node]->traced = true;
    eddy_graph *back = there_and_back(g);
    ck_assert(eddy__graph_node(back, y.node)->traced && !eddy__graph_node(back, x.node)->traced);
    eddy_graph_free(g);
    eddy_graph_free(back);
}
END_TEST

/* Origin and colocation, as a gradient pass leaves them. */
START_TEST(origins)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = plain_make_source(g, "x", EDDY_SCALAR), y = eddy_apply1(&plain_same, NULL, x);
    g->origin = y.node;
    g->colocate = x.node;
    eddy_tensor d = eddy_apply1(&plain_same, NULL, y);
    g->origin = g->colocate = 0;
    eddy_graph      *back = there_and_back(g);
    const eddy_node *node = eddy__graph_node(back, d.node);
    ck_assert(node->origin == y.node && node->colocate == x.node);
    eddy_graph_free(g);
    eddy_graph_free(back);
}
END_TEST

/* A session sees the same attributes, to the bit. */
static void check_all(const all_attrs *a, bool equal_graphs)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor t = eddy_apply(&plain_all, a, 0, NULL, (eddy_apply_args){ g, NULL });
    eddy_graph *back = there_and_back(g);
    all_attrs   in = *(const all_attrs *)eddy_node_of(t)->attrs;
    all_attrs   out = *(const all_attrs *)eddy__graph_node(back, 1)->attrs;
    if (!equal_graphs) out.graph = in.graph;
    ck_assert(attrs_equal(&plain_all, &in, &out));
    eddy_graph_free(g);
    eddy_graph_free(back);
}

START_TEST(attributes)
{
    static const char *const strings[] = {
        NULL,
        "",
        "plain",
        "true",
        "No",
        "~",
        "null",
        "1",
        "-",
        "- x",
        "a: b",
        "#c",
        " x ",
        "a\nb\n",
        "\t\r\"'\\",
        "{a}",
        "\x01\x7f",
        "\xc3\xa9\xf0\x9f\x98\x80",
        "\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xef\xbf\xbf",
        "\xf0\x9f\xbf\xbe",
        "\xff\xfe not UTF-8",
        "\xff 01234567890123456789012345678901234567890123456789012345678901234567890",
        "%d%n%s",
        "&a *a !b",
    };
    const eddy_shape shapes[] = { EDDY_SCALAR, EDDY_UNKNOWN_SHAPE, EDDY_SHAPE(0),
                                  EDDY_SHAPE(EDDY_ANY, 3, EDDY_ANY),
                                  EDDY_SHAPE(1, 2, 3, 4, 5, 6, 7, 8) };
    int64_t many[30] = { INT64_MIN, -1, 0, 1, INT64_MAX, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 };
    for (int i = 18; i < 30; i++) many[i] = 1234567890123;
    const double  floats[] = { 0,        -0.0,      1e-3, 1.0 / 3, 5e-324, 1.7976931348623157e308,
                               INFINITY, -INFINITY, NAN };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        check_all(&(all_attrs){ .s = strings[i] }, true);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_all(&(all_attrs){ .shape = shapes[i] }, true);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        check_all(&(all_attrs){ .f = floats[i] }, true);
    for (int d = 0; d < EDDY_DTYPES; d++) check_all(&(all_attrs){ .d = (eddy_dtype)d }, true);
    for (int i = 0; i < 30; i++) {
        check_all(&(all_attrs){ .ints = { i, many }, .i = many[i], .b = i & 1 }, true);
        eddy_dims dims = { .count = i % 10 - 1 };
        memcpy(dims.at, many, sizeof dims.at);
        check_all(&(all_attrs){ .dims = dims }, true);
    }
    double nan;
    memcpy(&nan, &(uint64_t){ 0xFFF0000000000001u }, sizeof nan);
    check_all(&(all_attrs){ .f = nan }, true);
}
END_TEST

/* The line of the text that begins with this key. */
static void golden_member(const eddy_graph *g, const char *key)
{
    char *text = eddy_graph_to_yaml(g), *at = strstr(text, key);
    ck_assert_ptr_nonnull(at);
    at[strcspn(at, "\n")] = 0;
    golden_line(at);
    eddy_string_free(text);
}

/* Characters beside those that are written otherwise. */
START_TEST(written_strings)
{
    static const char *const strings[] = {
        "a/b.c-d_E9", "zZ", "AZaz09", "a@", "a[", "a`", "a{", "a:", "9a", "_", ".a", "-a", "@", "{",
        "NULL", "nul", "nulls", "nULl", "y", "Y", "yy", "n", "N", "on", "onx", "off", "o", "yes",
        "\x1f", " ", "~", "\x7f", "\xc2\x80", "\xc2\x9f", "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80",
        "\xe2\x80\xa7", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa", "\xef\xbb\xbe",
        "\xef\xbb\xbf", "\xef\xbc\x80", "\xef\xbf\xbd", "\xef\xbf\xbe", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf0\x9f\xbf\xbd", "\xf0\x9f\xbf\xbe", "\xf4\x8f\xbf\xbf",
        "a\xc2\x85", "\xc3\xa9\n", "\xe2\x82\xac\x01", "\xf0\x90\x80\x80\x02\xc2\xa0\x03",
        "\xff", "\xff 01234567890123456789012345678901234567890123456789012345",
        "\xff 0123456789012345678901234567890123456789012345678901234",
    };
    golden_begin("graph/written_strings");
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        eddy_graph *g = eddy_graph_new();
        eddy_apply(&plain_all, &(all_attrs){ .s = strings[i] }, 0, NULL,
                   (eddy_apply_args){ g, NULL });
        golden_member(g, "s: ");
        eddy_graph_free(g);
    }
    golden_end();
}
END_TEST

static bool twelve_infer(eddy_infer *c)
{
    for (int i = 0; i < c->n_out; i++) c->out[i] = c->in[0];
    return true;
}

static const eddy_op_def twelve = { .name = "Twelve", .min_inputs = 1, .max_inputs = 1,
                                    .outputs = 12, .infer = twelve_infer };

/* Lists that are broken where the line would become too long: their first item has 1 to 4
 * characters, or each of their items, so that one of them ends in the last column. */
START_TEST(written_lists)
{
    enum { MANY = 60 };
    char     line[6000];
    int64_t  ints[MANY];
    golden_begin("graph/written_lists");
    for (int digits = 1, first = 1; digits <= 4; digits++, first *= 10) {
        eddy_graph *g = eddy_graph_new(), *inner = eddy_graph_new();
        eddy_tensor in[MANY];
        eddy_array *a = eddy_array_new(EDDY_INT32, EDDY_SHAPE(MANY));
        char        name[8];
        for (int i = 0; i < MANY; i++) {
            ints[i] = i == 0 ? first : 1;
            eddy_array_set(a, i, (double)ints[i]);
            snprintf(name, sizeof name, "n%.*s%d", i == 0 ? digits : 0, "xxxx", i);
            in[i] = plain_make_source(g, name, EDDY_SCALAR);
        }
        plain_make_source(inner, "s", EDDY_SHAPE(2));
        if (digits == 1)
            plain_make_value(inner, "many", eddy_array_new(EDDY_UINT8, EDDY_SHAPE(65)));
        const all_attrs attrs = { .ints = { MANY, ints }, .array = a, .graph = inner };
        eddy_control_begin(g, (eddy_list){ MANY, in });
        eddy_tensor y =
            eddy_apply(&plain_same, NULL, MANY - 1, in, (eddy_apply_args){ NULL, "sum" });
        eddy_apply(&plain_all, &attrs, 0, NULL, (eddy_apply_args){ g, "all" });
        eddy_control_end(g);
        eddy_apply1(&twelve, NULL, plain_make_source(g, "x", EDDY_SHAPE(first)));
        eddy_collection_add(g, "k", y);
        eddy_collection_add(g, "k", in[0]);
        char *text = eddy_graph_to_yaml(g), *end;
        for (char *at = strstr(text, "- name: sum\n"); *at; at = end + 1) {
            end = strchr(at, '\n');
            snprintf(line, sizeof line, "|%.*s", (int)(end - at), at);
            golden_line(line);
        }
        eddy_string_free(text);
        eddy_array_free(a);
        eddy_graph_free(g);
        eddy_graph_free(inner);
    }
    golden_end();
}
END_TEST

/* Elements of any bits, few and many, of every type. */
START_TEST(arrays)
{
    static const int64_t sizes[] = { 0, 1, 3, 64, 65, 1000 };
    uint64_t bits = 1;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (int kind = 0; kind < 2; kind++) {
            eddy_array    *a = eddy_array_new((eddy_dtype)_i, EDDY_SHAPE(sizes[k]));
            unsigned char *p = eddy_array_data(a);
            for (size_t i = 0; i < eddy_array_bytes(a); i++) {
                bits = bits * 6364136223846793005u + 1442695040888963407u;
                p[i] = (unsigned char)(_i == EDDY_BOOL ? bits >> 63 : bits >> 56);
            }
            for (int64_t i = 0; kind == 1 && _i != EDDY_BOOL && i < sizes[k]; i++)
                eddy_array_set(a, i, (double)(i * i) / 7 - 1);
            check_all(&(all_attrs){ .array = a }, true);
            eddy_array_free(a);
        }
    }
}
END_TEST

/* NaNs keep their bits, which numbers in decimal would not. */
START_TEST(bits_of_nans)
{
    static const uint32_t floats[] = { 0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7F800001,
                                       0x80000000, 1,          0x7F7FFFFF };
    static const uint64_t doubles[] = { 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001,
                                        0x8000000000000000, 1, 0x7FEFFFFFFFFFFFFF };
    for (int n = 1; n <= 7; n++) {
        eddy_array *a = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(n), floats);
        check_all(&(all_attrs){ .array = a }, true);
        eddy_array_free(a);
        a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(1, n - n / 7), doubles);
        check_all(&(all_attrs){ .array = a }, true);
        eddy_array_free(a);
    }
}
END_TEST

/* Infinities are written in decimal. */
START_TEST(infinities)
{
    eddy_graph *g = eddy_graph_new();
    eddy_array *a = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2),
                                       (float[]){ INFINITY, -INFINITY });
    eddy_apply(&plain_all, &(all_attrs){ .array = a }, 0, NULL, (eddy_apply_args){ g, "all" });
    char *text = eddy_graph_to_yaml(g);
    ck_assert_msg(strstr(text, "values: [.inf, -.inf]\n") != NULL, "%s", text);
    eddy_string_free(text);
    eddy_array_free(a);
    eddy_graph_free(g);
}
END_TEST

static eddy_graph *nested(int depth)
{
    eddy_graph *g = plain_graph(NULL, NULL);
    if (depth > 0)
        eddy_apply(&plain_all, &(all_attrs){ .graph = nested(depth - 1) }, 0, NULL,
                   (eddy_apply_args){ g, NULL });
    return g;
}

START_TEST(graphs_in_graphs)
{
    eddy_graph *g = nested(EDDY_YAML_GRAPHS - 1);
    eddy_graph_free(there_and_back(g));
    eddy_graph_free(g);
    g = nested(EDDY_YAML_GRAPHS);
    ck_assert_ptr_null(eddy_graph_to_yaml(g));
    eddy_graph_free(g);
    check_all(&(all_attrs){ .graph = plain_graph(NULL, NULL) }, false);
}
END_TEST

/* Many nodes, long lists, long names. */
START_TEST(larger)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor in[3000];
    char        name[3000];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = 0;
    in[0] = plain_make_source(g, name, EDDY_UNKNOWN_SHAPE);
    for (int i = 1; i < 3000; i++) in[i] = eddy_apply1(&plain_same, NULL, in[i / 2]);
    eddy_apply(&plain_same, NULL, 3000, in, (eddy_apply_args){ 0 });
    /* An item that is too wide for any line does not begin one, and ends the one that it is in. */
    char *text = eddy_graph_to_yaml(g);
    ck_assert(strstr(text, "  inputs: [\"aaaa") && strstr(text, "aaaa:0\",\n"));
    eddy_string_free(text);
    eddy_graph_free(there_and_back(g));
    eddy_graph_free(g);
}
END_TEST

/* A definition given by the caller comes before one of the library. */
START_TEST(user_operations)
{
    eddy_op_def own = plain_same;
    const eddy_op_def *const more[] = { &own, NULL };
    eddy_yaml_source         s = {
                .text = plain_text, .size = strlen(plain_text), .ops = plain_ops, .more_ops = more
    };
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy__yaml_read(&s, &e);
    ck_assert_msg(g != NULL, "%s", e.message);
    ck_assert_ptr_eq(eddy_node_of(eddy_graph_operation(g, "y"))->op, &own);
    eddy_graph_free(g);
}
END_TEST

/* Attributes that no table describes are not written, and no device is none. */
START_TEST(nothing_to_write)
{
    static const eddy_attr_field none[] = { { .name = NULL } };
    eddy_op_def                  bare = plain_same, empty = plain_same;
    eddy_error                   e = { 0 };
    bare.attrs_size = empty.attrs_size = sizeof(int64_t);
    bare.attrs = NULL;
    empty.attrs = none;
    eddy_graph *g = plain_read(plain_text, NULL, &e);
    eddy_tensor x = eddy_graph_tensor(g, "x:0");
    const int   before = eddy_graph_size(g);
    eddy_device_begin(g, "");
    eddy_apply1(&bare, &(int64_t){ 1 }, x);
    eddy_apply1(&empty, &(int64_t){ 1 }, x);
    eddy_device_end(g);
    ck_assert_int_eq(eddy_graph_size(g), before + 2);
    char       *text = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(text);
    const char *last = strstr(text, "- name: Same");
    ck_assert_ptr_nonnull(last);
    const char *end = strstr(last, "collections:");
    ck_assert_ptr_nonnull(end);
    const char *attrs = strstr(last, "attributes"), *device = strstr(last, "device");
    ck_assert((!attrs || attrs > end) && (!device || device > end));
    eddy_string_free(text);
    eddy_graph_free(g);
}
END_TEST

/* An attribute without a kind is written without a value, and is 0 in the graph that is read. */
START_TEST(attribute_without_a_kind)
{
    typedef struct two { int64_t lost, kept; } two;
    static const eddy_attr_field rows[] = {
        { "lost", EDDY_ATTR_END, 0 }, { "kept", EDDY_ATTR_INT, offsetof(two, kept) }, { 0 }
    };
    eddy_op_def              own = plain_same;
    const eddy_op_def *const more[] = { &own, NULL };
    eddy_error               e = { 0 };
    own.name = "Own";
    own.attrs = rows;
    own.attrs_size = sizeof(two);
    eddy_graph *g = plain_read(plain_text, NULL, &e);
    eddy_apply1(&own, &(two){ 1, 2 }, eddy_graph_tensor(g, "x:0"));
    char *text = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(text);
    eddy_yaml_source s = { .text = text, .size = strlen(text), .ops = plain_ops, .more_ops = more };
    eddy_graph      *back = eddy__yaml_read(&s, &e);
    ck_assert_msg(back != NULL, "%s\n%s", e.message, text);
    const two *a = eddy_node_of(eddy_graph_operation(back, "Own"))->attrs;
    ck_assert(a->lost == 0 && a->kept == 2);
    eddy_string_free(text);
    eddy_graph_free(back);
    eddy_graph_free(g);
}
END_TEST

/* --------------------------------------------------------------- faults -- */

START_TEST(files_fail)
{
    static const int numbers[] = { 0, EIO, ENOSPC, EINTR };
    int  number = numbers[_i / 2];
    bool reached = true;
    for (int at = 1; reached; at++) {
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        memory_files_put(&m, "f", plain_text, strlen(plain_text));
        eddy_graph *g = plain_graph(NULL, &m.table);
        m.fault = (memory_fault){ .at = at, .number = number, .persistent = _i % 2 };
        eddy_status s = eddy_graph_save(g, "f", &e);
        reached = m.calls >= at;
        ck_assert(s == e.status && (s == EDDY_OK || s == EDDY_IO));
        m.fault = (memory_fault){ 0 };
        eddy_yaml_source in = { .path = "f", .ops = plain_ops, .files = &m.table };
        eddy_graph      *back = eddy__yaml_read(&in, NULL);
        ck_assert_ptr_nonnull(back);
        if (s == EDDY_OK) ck_assert_int_eq(eddy_collection_size(back, "train_op"), 1);
        eddy_graph_free(back);
        m.fault = (memory_fault){ .at = m.calls + at, .number = number, .persistent = _i % 2 };
        back = eddy__yaml_read(&in, (e = (eddy_error){ 0 }, &e));
        ck_assert(back ? e.status == EDDY_OK : e.status == EDDY_IO);
        eddy_graph_free(back);
        eddy_graph_free(g);
        ck_assert_int_eq(m.n_open, 0);
        memory_files_free(&m);
        ck_assert_int_lt(at, 1000);
    }
}
END_TEST

/* Building, writing, listing and reading with the k-th allocation failing. */
static bool out_of_memory(failing_allocator *f)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    eddy_graph *g = plain_graph(&f->table, &m.table);
    char       *texts[3] = { eddy_graph_to_yaml(g), eddy_graph_to_text(g), eddy_graph_to_dot(g) };
    eddy_status s = eddy_graph_save(g, "f", &e);
    bool        ok = s == EDDY_OK && texts[0] && texts[1] && texts[2];
    ck_assert(s == EDDY_OK || s == EDDY_NO_MEMORY || !g);
    eddy_graph *back = plain_read(plain_text, &f->table, (e = (eddy_error){ 0 }, &e));
    ck_assert(back ? e.status == EDDY_OK : e.status == EDDY_NO_MEMORY);
    for (int i = 0; i < 3; i++) eddy_string_free(texts[i]);
    eddy_graph_free(g);
    ok = ok && back;
    eddy_graph_free(back);
    memory_files_free(&m);
    return ok;
}

START_TEST(memory_fails)
{
    bool ok = false;
    for (int at = 1; !ok; at++) {
        failing_allocator f;
        failing_allocator_init(&f);
        f.at = at;
        f.persistent = _i;
        ok = out_of_memory(&f);
        ck_assert_int_eq(f.live, 0);
        ck_assert(ok == (f.calls < at));
        ck_assert_int_lt(at, 2000);
    }
}
END_TEST

START_TEST(misuse)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert_int_eq(eddy_graph_save(NULL, "x", &e), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_graph_save(g, NULL, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_graph_to_yaml(NULL));
    ck_assert_ptr_null(eddy_graph_to_text(NULL));
    ck_assert_ptr_null(eddy_graph_to_dot(NULL));
    eddy_string_free(NULL);
    eddy_fail(g, EDDY_BAD_SHAPE, "something is wrong");
    ck_assert_int_eq(eddy_graph_save(g, "/nonexistent/x", (e = (eddy_error){ 0 }, &e)),
                     EDDY_BAD_SHAPE);
    ck_assert_str_eq(e.message, "something is wrong");
    ck_assert_ptr_null(eddy_graph_to_yaml(g));
    eddy_graph_free(g);
}
END_TEST

/* ---------------------------------------------------------------- suite -- */

Suite *graph_files_suite(void)
{
    Suite *s = suite_create("graph_files");
    TCase *format = tcase_create("format"), *faults = tcase_create("faults");
    tcase_add_test(format, text_of_a_graph);
    tcase_add_test(format, small_round_trip);
    tcase_add_test(format, scope_of_the_last_node);
    tcase_add_test(format, empty_graph);
    tcase_add_test(format, traced);
    tcase_add_test(format, origins);
    tcase_add_test(format, attributes);
    tcase_add_test(format, written_strings);
    tcase_add_test(format, written_lists);
    tcase_add_loop_test(format, arrays, 1, EDDY_DTYPES);
    tcase_add_test(format, bits_of_nans);
    tcase_add_test(format, infinities);
    tcase_add_test(format, graphs_in_graphs);
    tcase_add_test(format, larger);
    tcase_add_test(format, user_operations);
    tcase_add_test(format, nothing_to_write);
    tcase_add_test(format, attribute_without_a_kind);
    tcase_add_loop_test(faults, files_fail, 0, 8);
    tcase_add_loop_test(faults, memory_fails, 0, 2);
    tcase_add_test(faults, misuse);
    suite_add_tcase(s, format);
    suite_add_tcase(s, faults);
    return s;
}
