/* test_graph_damage.c -- invalid graph files: each is rejected with the line and column of the
 * reason. */
#include "build/gen/suites.h"
#include "tests/lib/golden.h"
#include "tests/lib/plain_ops.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "format: eddy-graph\nversion: 1\nseed: 1\nfinalized: false\n"
#define SOURCE(name)                                                                 \
    "- {name: " name ", op: Source, attributes: {dtype: float32, shape: \"[2]\"}, " \
    "outputs: [\"float32[2]\"]}\n"
#define LONG "a_name_of_seventy_characters_that_is_not_shown_whole_in_a_message_at_all"
/* At line 7, its rest at column 4. */
#define NODE(rest) HEAD "nodes:\n" SOURCE("x") "- {" rest "}\n"

static const struct { const char *text; eddy_status status;
} bad[] = {
    { "", EDDY_CORRUPT },
    { "abc", EDDY_CORRUPT },
    { "- a", EDDY_CORRUPT },
    { "{}", EDDY_CORRUPT },
    { "format: other\n", EDDY_CORRUPT },
    { "version: 1\n", EDDY_CORRUPT },
    { "format: eddy-graph\nversion: 2\n", EDDY_UNIMPLEMENTED },
    { "format: eddy-graph\nversion: one\n", EDDY_CORRUPT },
    { "format: eddy-graph\nvirsion: 1\n", EDDY_CORRUPT },
    { "format: eddy-graph\nformat: eddy-graph\n", EDDY_CORRUPT },
    { "format: eddy-graph\n? [a]\n: 1\n", EDDY_CORRUPT },
    { HEAD, EDDY_CORRUPT },
    { HEAD "nodes: {}\n", EDDY_CORRUPT },
    { HEAD "nodes: []\n---\na: 1\n", EDDY_CORRUPT },
    { "{format: eddy-graph, version: 1, seed: 1,\nfinalized: false, nodes: []} }", EDDY_CORRUPT },
    { "{format: eddy-graph, version: 1, seed: 1,\nfinalized: false, nodes: []} @", EDDY_CORRUPT },
    { HEAD "nodes: []\nseed: 2\n", EDDY_CORRUPT },
    { HEAD "nodes: [1]\n", EDDY_CORRUPT },
    { HEAD "nodes:\n- {}\n", EDDY_CORRUPT },
    { "format: eddy-graph\nseed: 99999999999999999999\n", EDDY_CORRUPT },
    { "format: eddy-graph\nfinalized: yes\n", EDDY_CORRUPT },
    /* YAML itself */
    { "format: eddy-graph\nseed: &a 1\n", EDDY_CORRUPT },
    { "format: eddy-graph\nseed: *a\n", EDDY_CORRUPT },
    { "format: eddy-graph\nseed: !!int 1\n", EDDY_CORRUPT },
    { "format: eddy-graph\nnodes: !x []\n", EDDY_CORRUPT },
    { "format: eddy-graph\nnodes: &x []\n", EDDY_CORRUPT },
    { "format: eddy-graph\nnodes:\n- &x {}\n", EDDY_CORRUPT },
    { "%YAML 1.1\n---\nformat: eddy-graph\n", EDDY_CORRUPT },
    { "format: eddy-graph\nseed: [1\n", EDDY_CORRUPT },
    { "format: \"eddy\n", EDDY_CORRUPT },
    { "format: eddy-graph\n\tseed: 1\n", EDDY_CORRUPT },
    { "format: \"a\\0b\"\n", EDDY_CORRUPT },
    { "format: \xff\n", EDDY_CORRUPT },
    { "format: \x01\n", EDDY_CORRUPT },
    /* nodes */
    { NODE("name: y, op: Pair, outputs: [], extra: 1"), EDDY_CORRUPT },
    { NODE("name: y, name: z, op: Pair, outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pear, outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: x, op: Pair, outputs: []"), EDDY_CORRUPT },
    { NODE("name: X, op: Pair, outputs: []"), EDDY_CORRUPT },
    { NODE("name: a b, op: Pair, outputs: []"), EDDY_INVALID_ARGUMENT },
    { NODE("name: \"\", op: Pair, outputs: []"), EDDY_INVALID_ARGUMENT },
    { NODE("name: [], op: Sink, outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: [], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Sink, device: [], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Sink, origin: [], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Sink, controls: [[]], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Sink, inputs: [[]], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: [\"x:1\"], outputs: []"), EDDY_OUT_OF_RANGE },
    { NODE("name: y, op: Pair, inputs: [\"x:4294967296\"], outputs: []"), EDDY_OUT_OF_RANGE },
    { NODE("name: y, op: Pair, inputs: [\"x:-1\"], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: [\"x\"], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: [\"y:0\"], outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"z:0\"], outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"X:0\"], outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"" LONG LONG LONG ":0\"], outputs: []"), EDDY_NOT_FOUND },
    { HEAD "nodes:\n" SOURCE("s/x") "- {name: y, op: Pair, inputs: [\"s:0\"], outputs: []}\n",
      EDDY_NOT_FOUND },
    { NODE("name: y, op: Source, attributes: {dtype: float32, shape: \"[2]\"}, outputs: "
           "[\"float32_of_32_bits[2]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Source, attributes: {dtype: float32, shape: \"[2]\"}, outputs: "
           "[\"float32[1,1,1,1,1,1,1,1,1]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Source, attributes: {dtype: float32, shape: \"[2]\"}, outputs: "
           "[\"float32[1 2]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Source, attributes: {dtype: float32, shape: \"[2]\"}, outputs: "
           "[\"float32[99999999999999999999]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Source, attributes: {dtype: float32, shape: \"[2]\"}, outputs: "
           "[\"float32[9223372036854775808]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: [], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: [\"x:0\", \"x:0\"], outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: \"x:0\", outputs: []"), EDDY_CORRUPT },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], controls: [z], outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], controls: [y], outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], origin: q, outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], colocate: q, outputs: []"), EDDY_NOT_FOUND },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], outputs: [\"float32[2]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[3]\"]"), EDDY_BAD_SHAPE },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2,1]\"]"), EDDY_BAD_SHAPE },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float64[2]\"]"), EDDY_BAD_DTYPE },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float31[2]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2]]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2,]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[-1]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[1,1,1,1,1,1,1,1,1]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[4294967296,4294967296]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], attributes: {a: 1}, outputs: [\"float32[2]\"]"),
      EDDY_CORRUPT },
    { NODE("name: y, op: Value, outputs: [\"float32[]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Value, attributes: {}, outputs: [\"float32[]\"]"), EDDY_CORRUPT },
    { NODE("name: y, op: Value, attributes: {value: ~}, outputs: [\"float32[]\"]"),
      EDDY_INVALID_ARGUMENT },
    { NODE("name: y, op: Source, attributes: {dtype: default, shape: \"[]\"}, outputs: "
           "[\"float32[]\"]"),
      EDDY_BAD_DTYPE },
    { HEAD "nodes:\n" SOURCE(
          "x") "- {name: n, op: Sink, outputs: []}\n- {name: y, op: Pair, inputs: [\"n:0\"], "
               "outputs: []}\n",
      EDDY_OUT_OF_RANGE },
    /* collections */
    { HEAD "nodes:\n" SOURCE("x") "collections: {}\n", EDDY_CORRUPT },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- key: a\n", EDDY_CORRUPT },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- {key: a, tensors: [\"x:0\"], more: 1}\n",
      EDDY_CORRUPT },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- 7\n", EDDY_CORRUPT },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- {key: \"\", tensors: []}\n", EDDY_CORRUPT },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- {key: a, tensors: [\"x:1\"]}\n",
      EDDY_OUT_OF_RANGE },
    { HEAD "nodes:\n" SOURCE(
          "x") "collections:\n- {key: a, tensors: [\"x:0\"]}\n- {key: a, tensors: [\"x:0\"]}\n",
      EDDY_CORRUPT },
    { "format: eddy-graph\ncollections:\n- {key: a, tensors: [\"x:0\"]}\nnodes:\n" SOURCE("x"),
      EDDY_NOT_FOUND },
};

/* One attribute of a node that is otherwise good. */
static const struct {
    const char *key, *value;
    eddy_status status;
} bad_attributes[] = {
    { "i", "1.5", EDDY_CORRUPT },
    { "i", "\"1\"", EDDY_CORRUPT },
    { "f", "one", EDDY_CORRUPT },
    { "f", "nan:0x3ff0000000000000", EDDY_CORRUPT },
    { "b", "1", EDDY_CORRUPT },
    { "s", "[a]", EDDY_CORRUPT },
    { "s", "{base64: A}", EDDY_CORRUPT },
    { "s", "{base64: AA==}", EDDY_CORRUPT },
    { "s", "{base64: []}", EDDY_CORRUPT },
    { "s", "{base64: YQ==, extra: 1}", EDDY_CORRUPT },
    { "d", "float", EDDY_BAD_DTYPE },
    { "d", "11", EDDY_BAD_DTYPE },
    { "d", "[]", EDDY_CORRUPT },
    { "i", "{}", EDDY_CORRUPT },
    { "f", "[0]", EDDY_CORRUPT },
    { "b", "[true]", EDDY_CORRUPT },
    { "s", "{}", EDDY_CORRUPT },
    { "s", "{[a]: b}", EDDY_CORRUPT },
    { "shape", "[2]", EDDY_CORRUPT },
    { "shape", "\"[281474976710657]\"", EDDY_CORRUPT },
    { "dims", "[1,2,3,4,5,6,7,8,9]", EDDY_CORRUPT },
    { "dims", "\"~\"", EDDY_CORRUPT },
    { "dims", "[1, x]", EDDY_CORRUPT },
    { "ints", "~", EDDY_CORRUPT },
    { "ints", "[1, b]", EDDY_CORRUPT },
    { "array", "{}", EDDY_CORRUPT },
    { "array", "{type: \"int32[]\", values: [1], base64: AA==}", EDDY_CORRUPT },
    { "array", "{type: \"int32[?]\", values: [1]}", EDDY_CORRUPT },
    { "array", "{type: \"int32[2]\", values: [1]}", EDDY_CORRUPT },
    { "array", "{type: \"float64[281474976710656]\", values: [1]}", EDDY_CORRUPT },
    { "array", "{type: \"float64[281474976710656]\", base64: AAAA}", EDDY_CORRUPT },
    { "array", "{type: \"int32[1]\", base64: AAAA!AA==}", EDDY_CORRUPT },
    { "array", "{type: \"int32[1]\", base64: []}", EDDY_CORRUPT },
    { "array", "{type: \"int32[1]\", values: 1}", EDDY_CORRUPT },
    { "array", "{type: [], values: [1]}", EDDY_CORRUPT },
    { "array", "{type: \"int32[1]\", values: [1], x: 1}", EDDY_CORRUPT },
    { "array", "{type: \"int32[1]\", values: [x]}", EDDY_CORRUPT },
    { "array", "{type: \"int64[1]\", values: [[1]]}", EDDY_CORRUPT },
    { "array", "{type: \"float64[1]\", values: [x]}", EDDY_CORRUPT },
    { "array", "{type: \"int32[1]\", values: [2147483648]}", EDDY_CORRUPT },
    { "array", "{type: \"uint8[1]\", values: [-1]}", EDDY_CORRUPT },
    { "array", "{type: \"bool[1]\", values: [1]}", EDDY_CORRUPT },
    { "array", "{type: \"bool[1]\", base64: Ag==}", EDDY_CORRUPT },
    { "array", "{type: \"float32[1]\", values: [1e39]}", EDDY_CORRUPT },
    { "array", "{type: \"float16[1]\", values: [1]}", EDDY_CORRUPT },
    { "the graph", "{}", EDDY_CORRUPT },
    { "the graph", "{seed: 1, finalized: false, nodes: 3}", EDDY_CORRUPT },
    { "the graph", "{seed: 1, nodes: []}", EDDY_CORRUPT },
    { "the graph", "{seed: 1, finalized: false}", EDDY_CORRUPT },
    { "the graph", "{seed: x, finalized: false, nodes: []}", EDDY_CORRUPT },
    { "the graph", "{seed: 1, finalized: false, nodes: [], collections: 3}", EDDY_CORRUPT },
    { "the graph", "{seed: 1, finalized: false, nodes: [], format: x}", EDDY_CORRUPT },
    { "the graph", "{seed: 1, finalized: false, nodes: [{}]}", EDDY_CORRUPT },
};

/* One message a line in tests/golden/graph/graph_damage.txt: first of texts, then of attributes. */
static void is_refused(const char *text, eddy_status status)
{
    eddy_error e = { 0 };
    ck_assert_ptr_null(plain_read(text, NULL, &e));
    ck_assert_msg(e.status == status, "%s %s\n%s", eddy_status_name(e.status), e.message, text);
    golden_error(&e);
}

static void attribute_is_refused(size_t row)
{
    static const char *const good[][2] = {
        { "i", "1" },       { "f", "0" },          { "b", "true" }, { "s", "a" },
        { "d", "float32" }, { "shape", "\"[]\"" }, { "dims", "~" }, { "ints", "[]" },
        { "array", "~" },   { "the graph", "~" },
    };
    char text[2000];
    int  n = sprintf(text, HEAD "nodes:\n- name: a\n  op: All of them\n  attributes:\n");
    for (int i = 0; i < 10; i++) {
        bool this = strcmp(good[i][0], bad_attributes[row].key) == 0;
        n += sprintf(text + n, "    %s: %s\n", good[i][0],
                     this ? bad_attributes[row].value : good[i][1]);
    }
    sprintf(text + n, "  outputs: [int32?]\n");
    is_refused(text, bad_attributes[row].status);
}

START_TEST(damaged)
{
    golden_begin("graph/graph_damage");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) is_refused(bad[i].text, bad[i].status);
    for (size_t i = 0; i < sizeof bad_attributes / sizeof *bad_attributes; i++)
        attribute_is_refused(i);
    golden_end();
}
END_TEST

static void refuse(const char *text, eddy_status status, const char *message)
{
    eddy_error e = { 0 };
    ck_assert_ptr_null(plain_read(text, NULL, &e));
    ck_assert_msg(e.status == status && strstr(e.message, message), "%s", e.message);
}

START_TEST(limits)
{
    enum { N = 70000 };
    char *text = malloc(N * 12);
    /* depth, by brackets and by blocks */
    memcpy(text, "format: ", 9);
    memset(text + 8, '[', 100000);
    text[100008] = 0;
    refuse(text, EDDY_LIMIT, "f:1:72: nested too deep");
    char *at = text + sprintf(text, "format: eddy-graph\nseed: ");
    for (int i = 0; i < 100; i++) at += sprintf(at, "\n%*sa:", i + 1, "");
    refuse(text, EDDY_LIMIT, "nested too deep");
    /* inputs, names: the most there can be, and one more */
    for (int n = EDDY_MAX_INPUTS; n <= EDDY_MAX_INPUTS + 1; n++) {
        at = text + sprintf(text, HEAD "nodes:\n" SOURCE("x") "- name: y\n  op: Same\n  inputs: [");
        for (int i = 0; i < n; i++) at += sprintf(at, "'x:0', ");
        sprintf(at, "]\n  outputs: ['float32[2]']\n");
        if (n > EDDY_MAX_INPUTS) refuse(text, EDDY_LIMIT, "f:9:11: the list has 65536 items");
        else eddy_graph_free(plain_read(text, NULL, NULL));
    }
    for (int n = EDDY_MAX_NAME - 17; n <= EDDY_MAX_NAME; n++) {
        at = text + sprintf(text, HEAD "nodes:\n- name: ");
        memset(at, 'n', (size_t)n);
        sprintf(at + n, "\n  op: Sink\n  outputs: []\n");
        eddy_error e = { 0 };
        eddy_graph *g = plain_read(text, NULL, &e);
        ck_assert(g ? n < EDDY_MAX_NAME - 16 : e.status == EDDY_LIMIT);
        eddy_graph_free(g);
    }
    free(text);
}
END_TEST

/* Whether the good text is read under these limits. */
static bool is_read(int64_t bytes, int64_t nodes, int64_t items)
{
    eddy_yaml_source s = {
        .text = plain_text, .size = strlen(plain_text), .ops = plain_ops,
        .max_bytes = bytes, .max_nodes = nodes, .max_items = items
    };
    eddy_error  e = { 0 };
    eddy_graph *g = eddy__yaml_read(&s, &e);
    ck_assert(e.status == (g ? EDDY_OK : EDDY_LIMIT));
    eddy_graph_free(g);
    return g != NULL;
}

START_TEST(limits_of_the_caller)
{
    int64_t size = (int64_t)strlen(plain_text);
    ck_assert(is_read(size, 5, 17));            /* five nodes, of 17 items at most */
    ck_assert(!is_read(size - 1, 5, 17));
    ck_assert(!is_read(size, 4, 17));
    ck_assert(!is_read(size, 5, 16));
    /* A size that no text has, and an error that nobody asks for. */
    eddy_yaml_source s = { .text = plain_text, .size = SIZE_MAX, .ops = plain_ops };
    eddy_error       e = { 0 };
    ck_assert_ptr_null(eddy__yaml_read(&s, &e));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    ck_assert_ptr_null(plain_read("[", NULL, NULL));
    ck_assert_ptr_null(plain_read("format: eddy-graph\nseed: [1\n", NULL, NULL));
}
END_TEST

/* Every prefix of a file and every byte of it changed: refused, or a graph. */
START_TEST(cut_and_flipped)
{
    const size_t n = strlen(plain_text);
    char        *text = malloc(n + 1);
    for (size_t i = 0; i < n; i++) {
        for (int bit = -1; bit < 7; bit++) {
            memcpy(text, plain_text, n + 1);
            if (bit < 0) text[i] = 0;
            else text[i] = (char)(text[i] ^ 1 << bit);
            eddy_error  e = { 0 };
            eddy_graph *g = plain_read(text, NULL, &e);
            ck_assert(g ? e.status == EDDY_OK : e.status != EDDY_OK && e.message[0]);
            eddy_graph_free(g);
        }
    }
    free(text);
}
END_TEST

/* ---------------------------------------------------------------- suite -- */

Suite *graph_damage_suite(void)
{
    Suite *s = suite_create("graph_damage");
    TCase *damage = tcase_create("damage");
    tcase_add_test(damage, damaged);
    tcase_add_test(damage, limits);
    tcase_add_test(damage, limits_of_the_caller);
    tcase_add_test(damage, cut_and_flipped);
    suite_add_tcase(s, damage);
    return s;
}
