/* test_graph_damage.c -- graph files that are not what they should be: each is
 * refused, with the line and column of the reason. */
#include "build/gen/suites.h"
#include "tests/plain_ops.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "format: eddy-graph\nversion: 1\nseed: 1\nfinalized: false\n"
#define SOURCE(name)                                                                 \
    "- {name: " name ", op: Source, attributes: {dtype: float32, shape: \"[2]\"}, " \
    "outputs: [\"float32[2]\"]}\n"
/* At line 7, its rest at column 4. */
#define NODE(rest) HEAD "nodes:\n" SOURCE("x") "- {" rest "}\n"

static const struct { const char *text; eddy_status status; const char *message; } bad[] = {
    { "", EDDY_CORRUPT, "f:1:1: an empty file" },
    { "abc", EDDY_CORRUPT, "f:1:1: this is no graph file" },
    { "- a", EDDY_CORRUPT, "f:1:1: this is no graph file" },
    { "{}", EDDY_CORRUPT, "f: seed, finalized, nodes or version is missing" },
    { "format: other\n", EDDY_CORRUPT, "f:1:9: this is no graph file" },
    { "version: 1\n", EDDY_CORRUPT, "f:1:1: a graph file begins with its format" },
    { "format: eddy-graph\nversion: 2\n", EDDY_UNIMPLEMENTED,
      "f:2:10: format version 2 is not known" },
    { "format: eddy-graph\nversion: one\n", EDDY_CORRUPT, "f:2:10: 'one' is no 64-bit integer" },
    { "format: eddy-graph\nvirsion: 1\n", EDDY_CORRUPT, "f:2:1: unknown key 'virsion'" },
    { "format: eddy-graph\nformat: eddy-graph\n", EDDY_CORRUPT,
      "f:2:1: the key 'format' is there twice" },
    { "format: eddy-graph\n? [a]\n: 1\n", EDDY_CORRUPT, "f:2:3: unknown key ''" },
    { HEAD, EDDY_CORRUPT, "is missing" },
    { HEAD "nodes: {}\n", EDDY_CORRUPT, "f:5:8: a list is expected" },
    { HEAD "nodes: []\n---\na: 1\n", EDDY_CORRUPT, "f:6:1: a second document" },
    { HEAD "nodes: []\nseed: 2\n", EDDY_CORRUPT, "f:6:1: the key 'seed' is there twice" },
    { HEAD "nodes: [1]\n", EDDY_CORRUPT, "f:5:9: a map is expected" },
    { HEAD "nodes:\n- {}\n", EDDY_CORRUPT, "f:6:3: a node needs name, op and outputs" },
    { "format: eddy-graph\nseed: 99999999999999999999\n", EDDY_CORRUPT,
      "f:2:7: '99999999999999999999' is no 64-bit integer" },
    { "format: eddy-graph\nfinalized: yes\n", EDDY_CORRUPT,
      "f:2:12: 'yes' is neither true nor false" },
    /* YAML itself */
    { "format: eddy-graph\nseed: &a 1\n", EDDY_CORRUPT, "f:2:7: anchors are not allowed" },
    { "format: eddy-graph\nseed: *a\n", EDDY_CORRUPT, "f:2:7: aliases are not allowed" },
    { "format: eddy-graph\nseed: !!int 1\n", EDDY_CORRUPT, "f:2:7: tags are not allowed" },
    { "format: eddy-graph\nnodes: !x []\n", EDDY_CORRUPT, "f:2:8: tags are not allowed" },
    { "format: eddy-graph\nnodes: &x []\n", EDDY_CORRUPT, "f:2:8: anchors are not allowed" },
    { "format: eddy-graph\nnodes:\n- &x {}\n", EDDY_CORRUPT, "f:3:3: anchors are not allowed" },
    { "%YAML 1.1\n---\nformat: eddy-graph\n", EDDY_CORRUPT, "directives are not allowed" },
    { "format: eddy-graph\nseed: [1\n", EDDY_CORRUPT, "f:3:1: did not find expected ',' or ']'" },
    { "format: \"eddy\n", EDDY_CORRUPT, "while scanning a quoted scalar" },
    { "format: eddy-graph\n\tseed: 1\n", EDDY_CORRUPT, "f:2:" },
    { "format: \"a\\0b\"\n", EDDY_CORRUPT, "f:1:9: a zero character" },
    { "format: \xff\n", EDDY_CORRUPT, "f: byte 8: " },
    { "format: \x01\n", EDDY_CORRUPT, "f: byte 8: control characters are not allowed" },
    /* nodes */
    { NODE("name: y, op: Pair, outputs: [], extra: 1"), EDDY_CORRUPT,
      "f:7:36: unknown key 'extra'" },
    { NODE("name: y, name: z, op: Pair, outputs: []"), EDDY_CORRUPT,
      "f:7:13: the key 'name' is there twice" },
    { NODE("name: y, op: Pear, outputs: []"), EDDY_NOT_FOUND, "f:7:17: unknown operation 'Pear'" },
    { NODE("name: x, op: Pair, outputs: []"), EDDY_CORRUPT, "f:7:10: the name 'x' is there twice" },
    { NODE("name: X, op: Pair, outputs: []"), EDDY_CORRUPT, "f:7:10: the name 'X' is there twice" },
    { NODE("name: a b, op: Pair, outputs: []"), EDDY_INVALID_ARGUMENT,
      "f:7:10: 'a b' is not a valid name" },
    { NODE("name: \"\", op: Pair, outputs: []"), EDDY_INVALID_ARGUMENT,
      "f:7:10: '' is not a valid name" },
    { NODE("name: [], op: Sink, outputs: []"), EDDY_CORRUPT, "f:7:10: a string is expected" },
    { NODE("name: y, op: [], outputs: []"), EDDY_CORRUPT, "f:7:17: a string is expected" },
    { NODE("name: y, op: Sink, device: [], outputs: []"), EDDY_CORRUPT, "f:7:31: a string" },
    { NODE("name: y, op: Sink, origin: [], outputs: []"), EDDY_CORRUPT, "f:7:31: a string" },
    { NODE("name: y, op: Sink, controls: [[]], outputs: []"), EDDY_CORRUPT, "f:7:34: a string" },
    { NODE("name: y, op: Sink, inputs: [[]], outputs: []"), EDDY_CORRUPT, "f:7:32: a string" },
    { NODE("name: y, op: Pair, inputs: [\"x:1\"], outputs: []"), EDDY_OUT_OF_RANGE,
      "f:7:32: 'x:1': the node has 1 outputs" },
    { NODE("name: y, op: Pair, inputs: [\"x:4294967296\"], outputs: []"), EDDY_OUT_OF_RANGE,
      "f:7:32: 'x:4294967296'" },
    { NODE("name: y, op: Pair, inputs: [\"x:-1\"], outputs: []"), EDDY_CORRUPT,
      "f:7:32: 'x:-1' is no tensor" },
    { NODE("name: y, op: Pair, inputs: [\"x\"], outputs: []"), EDDY_CORRUPT,
      "f:7:32: 'x' is no tensor" },
    { NODE("name: y, op: Pair, inputs: [\"y:0\"], outputs: []"), EDDY_NOT_FOUND,
      "f:7:32: no node before this one is called 'y'" },
    { NODE("name: y, op: Pair, inputs: [\"z:0\"], outputs: []"), EDDY_NOT_FOUND,
      "f:7:32: no node before this one is called 'z'" },
    { NODE("name: y, op: Pair, inputs: [\"X:0\"], outputs: []"), EDDY_NOT_FOUND,
      "f:7:32: no node before this one is called 'X'" },
    { NODE("name: y, op: Pair, inputs: [], outputs: []"), EDDY_CORRUPT,
      "f:7:31: Pair does not take 0 inputs" },
    { NODE("name: y, op: Pair, outputs: []"), EDDY_CORRUPT, "f:7:3: Pair does not take 0 inputs" },
    { NODE("name: y, op: Pair, inputs: [\"x:0\", \"x:0\"], outputs: []"), EDDY_CORRUPT,
      "f:7:31: Pair does not take 2 inputs" },
    { NODE("name: y, op: Pair, inputs: \"x:0\", outputs: []"), EDDY_CORRUPT,
      "f:7:31: a list is expected" },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], controls: [z], outputs: []"), EDDY_NOT_FOUND,
      "f:7:51: no node" },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], controls: [y], outputs: []"), EDDY_NOT_FOUND,
      "f:7:51: no node" },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], origin: q, outputs: []"), EDDY_NOT_FOUND,
      "f:7:48: no node" },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], colocate: q, outputs: []"), EDDY_NOT_FOUND,
      "f:7:50: no node" },
    { NODE("name: y, op: Pair, inputs: [\"x:0\"], outputs: [\"float32[2]\"]"), EDDY_CORRUPT,
      "f:7:49: 1 outputs, but Pair has 2 here" },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[3]\"]"), EDDY_BAD_SHAPE,
      "f:7:50: the file says float32[3], but Same gives float32[2]" },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2,1]\"]"), EDDY_BAD_SHAPE,
      "f:7:50: the file says" },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float64[2]\"]"), EDDY_BAD_DTYPE,
      "f:7:50: the file says float64[2]" },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float31[2]\"]"), EDDY_CORRUPT,
      "f:7:50: 'float31[2]' is no type" },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2\"]"), EDDY_CORRUPT,
      "f:7:50: " },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2]]\"]"), EDDY_CORRUPT,
      "f:7:50: " },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[2,]\"]"), EDDY_CORRUPT,
      "f:7:50: " },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[-1]\"]"), EDDY_CORRUPT,
      "f:7:50: " },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[1,1,1,1,1,1,1,1,1]\"]"),
      EDDY_CORRUPT, "f:7:50: " },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], outputs: [\"float32[4294967296,4294967296]\"]"),
      EDDY_CORRUPT, "f:7:50: " },
    { NODE("name: y, op: Same, inputs: [\"x:0\"], attributes: {a: 1}, outputs: [\"float32[2]\"]"),
      EDDY_CORRUPT, "unknown key 'a'" },
    { NODE("name: y, op: Value, outputs: [\"float32[]\"]"), EDDY_CORRUPT,
      "f:7:3: Value needs attributes" },
    { NODE("name: y, op: Value, attributes: {}, outputs: [\"float32[]\"]"), EDDY_CORRUPT,
      "f:7:36: Value needs the attribute 'value'" },
    { NODE("name: y, op: Value, attributes: {value: ~}, outputs: [\"float32[]\"]"),
      EDDY_INVALID_ARGUMENT, "f:7:3: Value(): no value [node 'y']" },
    { NODE("name: y, op: Source, attributes: {dtype: default, shape: \"[]\"}, outputs: "
      "[\"float32[]\"]"), EDDY_BAD_DTYPE,
      "f:7:3: Source(): output 0 has no element type" },
    { HEAD "nodes:\n"
      SOURCE("x") "- {name: n, op: Sink, outputs: []}\n- {name: y, op: Pair, inputs: [\"n:0\"], "
      "outputs: []}\n",
      EDDY_OUT_OF_RANGE, "f:8:32: 'n:0': the node has 0 outputs" },
    /* collections */
    { HEAD "nodes:\n" SOURCE("x") "collections: {}\n", EDDY_CORRUPT, "f:7:14: a list is expected" },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- key: a\n", EDDY_CORRUPT,
      "f:8:3: a collection needs" },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- {key: \"\", tensors: []}\n", EDDY_CORRUPT,
      "f:8:9: a collection without" },
    { HEAD "nodes:\n" SOURCE("x") "collections:\n- {key: a, tensors: [\"x:1\"]}\n",
      EDDY_OUT_OF_RANGE, "f:8:22: 'x:1'" },
    { HEAD "nodes:\n"
      SOURCE("x") "collections:\n- {key: a, tensors: [\"x:0\"]}\n- {key: a, tensors: [\"x:0\"]}\n",
      EDDY_CORRUPT,
      "f:9:9: the collection 'a' is there twice" },
    { "format: eddy-graph\ncollections:\n- {key: a, tensors: [\"x:0\"]}\nnodes:\n" SOURCE("x"),
      EDDY_NOT_FOUND, "f:3:22: no node" },
};

/* One attribute of a node that is otherwise good. */
static const struct {
    const char *key, *value;
    eddy_status status;
    const char *message;
} bad_attributes[] = {
    { "i", "1.5", EDDY_CORRUPT, "f:9:8: '1.5' is no 64-bit integer" },
    { "i", "\"1\"", EDDY_CORRUPT, "f:9:8: '1' is no" },
    { "f", "one", EDDY_CORRUPT, "f:10:8: 'one' is no number" },
    { "f", "nan:0x3ff0000000000000", EDDY_CORRUPT, "f:10:8: " },
    { "b", "1", EDDY_CORRUPT, "f:11:8: '1' is neither" },
    { "s", "[a]", EDDY_CORRUPT, "f:12:8: a string" },
    { "s", "{base64: A}", EDDY_CORRUPT, "f:12:17: not the base64" },
    { "s", "{base64: AA==}", EDDY_CORRUPT, "f:12:17: not the base64" },
    { "d", "float", EDDY_BAD_DTYPE, "f:13:8: 'float' is no element type" },
    { "d", "11", EDDY_BAD_DTYPE, "f:13:8: '11' is no" },
    { "shape", "[2]", EDDY_CORRUPT, "f:14:12: a shape is expected" },
    { "shape", "\"[281474976710657]\"", EDDY_CORRUPT, "f:14:12: " },
    { "dims", "[1,2,3,4,5,6,7,8,9]", EDDY_CORRUPT, "f:15:11: more than 8" },
    { "dims", "\"~\"", EDDY_CORRUPT, "f:15:11: a list is expected" },
    { "ints", "~", EDDY_CORRUPT, "f:16:11: a list is expected" },
    { "ints", "[1, b]", EDDY_CORRUPT, "f:16:15: 'b' is no" },
    { "array", "{}", EDDY_CORRUPT, "f:17:12: an array has a type" },
    { "array", "{type: \"int32[]\", values: [1], base64: AA==}", EDDY_CORRUPT,
      "f:17:12: an array has a type and either" },
    { "array", "{type: \"int32[?]\", values: [1]}", EDDY_CORRUPT,
      "f:17:19: the shape of an array is known" },
    { "array", "{type: \"int32[2]\", values: [1]}", EDDY_CORRUPT,
      "f:17:39: 1 values for int32[2]" },
    { "array", "{type: \"float64[281474976710656]\", values: [1]}", EDDY_CORRUPT, "1 values for" },
    { "array", "{type: \"float64[281474976710656]\", base64: AAAA}", EDDY_CORRUPT, "3 bytes for" },
    { "array", "{type: \"int32[1]\", base64: AAAA!AA==}", EDDY_CORRUPT, "damaged base64" },
    { "array", "{type: \"int32[1]\", values: [1], x: 1}", EDDY_CORRUPT,
      "f:17:44: unknown key 'x'" },
    { "array", "{type: \"int32[1]\", values: [x]}", EDDY_CORRUPT,
      "f:17:40: 'x' is no 64-bit integer" },
    { "array", "{type: \"int64[1]\", values: [[1]]}", EDDY_CORRUPT,
      "f:17:40: an integer is expected" },
    { "array", "{type: \"int32[1]\", values: [2147483648]}", EDDY_CORRUPT,
      "does not fit into int32" },
    { "array", "{type: \"uint8[1]\", values: [-1]}", EDDY_CORRUPT, "does not fit into uint8" },
    { "array", "{type: \"bool[1]\", values: [1]}", EDDY_CORRUPT, "neither true nor false" },
    { "array", "{type: \"bool[1]\", base64: Ag==}", EDDY_CORRUPT, "element 0 is no bool" },
    { "array", "{type: \"float32[1]\", values: [1e39]}", EDDY_CORRUPT,
      "is no number of this type" },
    { "array", "{type: \"float16[1]\", values: [1]}", EDDY_CORRUPT, "are given in base64" },
    { "the graph", "{}", EDDY_CORRUPT, "f:18:16: a graph needs seed" },
    { "the graph", "{seed: 1, finalized: false, nodes: 3}", EDDY_CORRUPT, "f:18:51: a list" },
    { "the graph", "{seed: 1, finalized: false, nodes: [], format: x}", EDDY_CORRUPT,
      "unknown key 'format'" },
    { "the graph", "{seed: 1, finalized: false, nodes: [{}]}", EDDY_CORRUPT,
      "f:18:52: a node needs" },
};

START_TEST(damaged_attributes)
{
    static const char *const good[][2] = {
        { "i", "1" },       { "f", "0" },          { "b", "true" }, { "s", "a" },
        { "d", "float32" }, { "shape", "\"[]\"" }, { "dims", "~" }, { "ints", "[]" },
        { "array", "~" },   { "the graph", "~" },
    };
    char       text[2000];
    eddy_error e = { 0 };
    int        n = sprintf(text, HEAD "nodes:\n- name: a\n  op: All of them\n  attributes:\n");
    for (int i = 0; i < 10; i++) {
        bool this = strcmp(good[i][0], bad_attributes[_i].key) == 0;
        n += sprintf(text + n, "    %s: %s\n", good[i][0],
                     this ? bad_attributes[_i].value : good[i][1]);
    }
    sprintf(text + n, "  outputs: [int32?]\n");
    ck_assert_ptr_null(plain_read(text, NULL, &e));
    ck_assert_msg(e.status == bad_attributes[_i].status &&
                      strstr(e.message, bad_attributes[_i].message),
                  "%s %s\n%s", eddy_status_name(e.status), e.message, text);
}
END_TEST

START_TEST(damaged)
{
    eddy_error e = { 0 };
    ck_assert_ptr_null(plain_read(bad[_i].text, NULL, &e));
    ck_assert_msg(e.status == bad[_i].status && strstr(e.message, bad[_i].message), "%s %s\n%s",
                  eddy_status_name(e.status), e.message, bad[_i].text);
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
        if (n > EDDY_MAX_INPUTS) refuse(text, EDDY_LIMIT, "f:9:11: 65536 are more than 65535");
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
static bool fits(int64_t bytes, int64_t nodes, int64_t items)
{
    eddy_yaml_source s = {
        .text = plain_text, .size = strlen(plain_text), .ops = plain_ops,
        .max_bytes = bytes, .max_nodes = nodes, .max_items = items
    };
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_yaml_read(&s, &e);
    ck_assert(e.status == (g ? EDDY_OK : EDDY_LIMIT));
    eddy_graph_free(g);
    return g != NULL;
}

START_TEST(limits_of_the_caller)
{
    int64_t size = (int64_t)strlen(plain_text);
    ck_assert(fits(size, 5, 17));            /* five nodes, of 17 items at most */
    ck_assert(!fits(size - 1, 5, 17));
    ck_assert(!fits(size, 4, 17));
    ck_assert(!fits(size, 5, 16));
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
    tcase_add_loop_test(damage, damaged, 0, sizeof bad / sizeof *bad);
    tcase_add_loop_test(damage, damaged_attributes, 0,
                        sizeof bad_attributes / sizeof *bad_attributes);
    tcase_add_test(damage, limits);
    tcase_add_test(damage, limits_of_the_caller);
    tcase_add_test(damage, cut_and_flipped);
    suite_add_tcase(s, damage);
    return s;
}
