/* test_file_limits.c -- the limits of graph files that docs/guide/graph-files.md lists: files just
 * within them are read, and files just beyond are refused. Those of inputs, names and of the caller
 * are in test_graph_damage.c, that of nodes is in tests/session/test_limits.c. */
#include "build/gen/suites.h"
#include "tests/lib/plain_ops.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "format: eddy-graph\nversion: 1\nseed: 1\nfinalized: false\n"

/* Reads the text of a file "f" with these operations; if it is beyond the limit, it must be
 * refused with this message. */
static void reads(const char *text, const eddy_op_def *const *ops, bool beyond, const char *says)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy__yaml_read(&(eddy_yaml_source){ .path = "f", .text = text,
                                                         .size = strlen(text), .ops = ops }, &e);
    ck_assert_msg((g == NULL) == beyond, "%s", e.message);
    ck_assert_int_eq(e.status, beyond ? EDDY_LIMIT : EDDY_OK);
    if (beyond) ck_assert_msg(strstr(e.message, says) != NULL, "%s", e.message);
    eddy_graph_free(g);
}

START_TEST(depth)
{
    char text[200] = "format: ";
    for (int n = 63; n <= 64; n++) {
        eddy_error e = { 0 };
        memset(text + 8, '[', (size_t)n);
        memset(text + 8 + n, ']', (size_t)n);
        text[8 + 2 * n] = '\n';
        text[9 + 2 * n] = 0;
        ck_assert_ptr_null(plain_read(text, NULL, &e));
        ck_assert_int_eq(e.status, n < 64 ? EDDY_CORRUPT : EDDY_LIMIT);
        ck_assert_int_eq(strstr(e.message, "nested too deep") != NULL, n == 64);
    }
}
END_TEST

/* Appends a graph with so many graphs within one another to the text. */
static char *put_graphs(char *at, int n, int indent)
{
    at += sprintf(at, "%*sseed: 1\n%*sfinalized: false\n%*snodes:\n", indent, "", indent, "",
                  indent, "");
    if (n == 0) return at + sprintf(at - 1, " []\n") - 1;
    at += sprintf(at, "%*s- name: y\n%*s  op: Holds\n%*s  attributes:\n%*s    inner:\n", indent, "",
                  indent, "", indent, "", indent, "");
    at = put_graphs(at, n - 1, indent + 6);
    return at + sprintf(at, "%*s  outputs: []\n", indent, "");
}

static bool no_outputs(eddy_infer *c) { return c->n_out == 0; }

static const eddy_op_def holds = {
    .name = "Holds", .flags = EDDY_OP_SIDE_EFFECT, .infer = no_outputs,
    .attrs_size = sizeof(eddy_graph *),
    .attrs = (const eddy_attr_field[]){ { "inner", EDDY_ATTR_GRAPH, 0 }, { 0 } },
};

START_TEST(graphs_in_graphs)
{
    static char text[20000];
    for (int n = 12; n <= 15; n++) {
        char *at = text + sprintf(text, "format: eddy-graph\nversion: 1\n");
        put_graphs(at, n - 1, 0);
        reads(text, (const eddy_op_def *const[]){ &holds, NULL }, n > 12,
              "graphs are nested more than 12 deep");
    }
}
END_TEST

START_TEST(attributes)
{
    enum { MOST = 256 };
    static char            names[MOST + 1][16], text[10000];
    static eddy_attr_field fields[MOST + 2];
    for (int n = MOST; n <= MOST + 1; n++) {
        char *at = text + sprintf(text, HEAD "nodes:\n- name: y\n  op: Many\n  attributes:\n");
        for (int i = 0; i < n; i++) {
            sprintf(names[i], "a%d", i);
            fields[i] = (eddy_attr_field){ names[i], EDDY_ATTR_INT, (size_t)i * sizeof(int64_t) };
            at += sprintf(at, "    %s: %d\n", names[i], i);
        }
        sprintf(at, "  outputs: []\n");
        const eddy_op_def many = { .name = "Many", .flags = EDDY_OP_SIDE_EFFECT,
                                   .infer = no_outputs, .attrs = fields,
                                   .attrs_size = (size_t)n * sizeof(int64_t) };
        const eddy_op_def *const ops[] = { &many, NULL };
        eddy_graph              *g = eddy_graph_new();
        int64_t                  values[MOST + 1] = { 0 };
        eddy_apply(&many, values, 0, NULL, (eddy_apply_args){ g, "y" });
        ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
        char *written = eddy_graph_to_yaml(g);
        ck_assert_int_eq(written == NULL, n > MOST);
        reads(text, ops, n > MOST, "Many has more than 256 attributes");
        if (written) reads(written, ops, false, NULL);
        eddy_string_free(written);
        eddy_graph_free(g);
    }
}
END_TEST

START_TEST(collections)
{
    enum { MOST = 1024 };
    static char text[100000];
    for (int n = MOST; n <= MOST + 1; n++) {
        eddy_graph       *g = eddy_graph_new();
        const eddy_tensor x = plain_make_source(g, "x", EDDY_SHAPE(2));
        char              key[16], *at = text;
        at += sprintf(at, HEAD "nodes:\n- {name: x, op: Source, attributes: {dtype: float32, "
                      "shape: \"[2]\"}, outputs: [\"float32[2]\"]}\ncollections:\n");
        for (int i = 0; i < n; i++) {
            sprintf(key, "k%d", i);
            eddy_collection_add(g, key, x);
            at += sprintf(at, "- {key: %s, tensors: [\"x:0\"]}\n", key);
        }
        char *written = eddy_graph_to_yaml(g);
        ck_assert_int_eq(written == NULL, n > MOST);
        reads(text, plain_ops, n > MOST, "the list has 1025 items; the limit is 1024");
        if (written) reads(written, plain_ops, false, NULL);
        eddy_string_free(written);
        eddy_graph_free(g);
    }
}
END_TEST

/* ------------------------------------------------------------------ large -- */

static const eddy_op_def counts = {
    .name = "Counts", .flags = EDDY_OP_SIDE_EFFECT, .infer = no_outputs,
    .attrs_size = sizeof(eddy_ints),
    .attrs = (const eddy_attr_field[]){ { "of", EDDY_ATTR_INTS, 0 }, { 0 } },
};

/* These take gigabytes or many seconds, so only EDDY_LARGE=1 makes them. Besides its numbers, the
 * node has 11 items. */
START_TEST(items)
{
    enum { MOST = 1 << 22, OTHERS = 11 };
    char *text = malloc((size_t)MOST * 2 + 1000);
    for (int beyond = 0; beyond < 2; beyond++) {
        char *at = text + sprintf(text, HEAD "nodes:\n- name: y\n  op: Counts\n  attributes:\n"
                                  "    of: [");
        for (int i = 0; i < MOST - OTHERS + beyond; i++) *at++ = '7', *at++ = ',';
        sprintf(at - 1, "]\n  outputs: []\n");
        reads(text, (const eddy_op_def *const[]){ &counts, NULL }, beyond,
              "a node has too many items; the limit is 4194304");
    }
    free(text);
}
END_TEST

START_TEST(bytes)
{
    const size_t most = (size_t)1 << 30;
    char        *text = malloc(most + 2);
    memset(text, ' ', most + 2);
    for (int beyond = 0; beyond < 2; beyond++) {
        const int n = sprintf(text, HEAD "nodes: []\n#");
        text[n] = ' ';
        text[most - 1 + (size_t)beyond] = '\n';
        text[most + (size_t)beyond] = 0;
        reads(text, plain_ops, beyond, "the file has 1073741825 bytes; the limit is 1073741824");
        text[most - 1] = ' ';
    }
    free(text);
}
END_TEST

Suite *file_limits_suite(void)
{
    Suite *s = suite_create("file_limits");
    TCase *c = tcase_create("file_limits"), *large = tcase_create("large");
    tcase_add_test(c, depth);
    tcase_add_test(c, graphs_in_graphs);
    tcase_add_test(c, attributes);
    tcase_add_test(c, collections);
    suite_add_tcase(s, c);
    tcase_set_timeout(large, 300);
    if (getenv("EDDY_LARGE")) {
        tcase_add_test(large, items);
        tcase_add_test(large, bytes);
    }
    suite_add_tcase(s, large);
    return s;
}
