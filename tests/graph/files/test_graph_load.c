/* test_graph_load.c -- graphs of the library's own operations written and read, and files with
 * attributes that no builder would write. */
#include "graph/internal.h"
#include "graph/graph.h"
#include "layers/layers.h"
#include "ops/ops.h"
#include "build/gen/suites.h"
#include "build/gen/table.h"
#include "tests/lib/files/whole_files.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- graphs -- */

static eddy_tensor ints(eddy_graph *g, int n, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), v);
}

static void build_elementwise(eddy_graph *g)
{
    eddy_tensor a = eddy_placeholder(g, "a", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor b = eddy_placeholder_with_default(eddy_scalar(g, 0.5), "b", EDDY_UNKNOWN_SHAPE);
    eddy_tensor (*const unary[])(eddy_tensor) = {
        eddy_tanh, eddy_relu, eddy_sqrt, eddy_is_nan, eddy_identity, eddy_stop_gradient,
        eddy_zeros_like, eddy_ones_like
    };
    eddy_tensor (*const binary[])(eddy_tensor, eddy_tensor) = {
        eddy_add, eddy_mul, eddy_pow, eddy_less, eddy_squared_difference, eddy_sum_like
    };
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) unary[i](a);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) binary[i](a, eddy_mul(b, a));
    eddy_cast(a, EDDY_INT64);
    eddy_where(eddy_greater(a, b), a, eddy_neg(a));
    eddy_add_n(EDDY_LIST(a, a, a), "total");
    eddy_clip_by_value(a, eddy_scalar(g, -1), eddy_scalar(g, 1));
    eddy_prevent_gradient(a, "not \"here\"\n");
    eddy_broadcast_to(eddy_scalar(g, 2), EDDY_SHAPE(2, 3));
    eddy_broadcast_along(eddy_sum(a, .axes = EDDY_AXES(1)), a, EDDY_AXES(1), false);
}

static void build_arrays(eddy_graph *g)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(4, EDDY_ANY, 6));
    eddy_reshape(x, EDDY_SHAPE(-1, 6));
    eddy_reshape_to(x, ints(g, 2, (int32_t[]){ 4, -1 }));
    eddy_transpose(x, .perm = EDDY_DIMS(2, 0, 1));
    eddy_transpose(x);
    eddy_squeeze(eddy_expand_dims(x, -1), .axes = EDDY_AXES(3));
    eddy_concat(EDDY_LIST(x, x), -1);
    eddy_stack(EDDY_LIST(x, x), 1);
    eddy_neg(eddy_output(eddy_unstack(x, 0), 3));
    eddy_neg(eddy_output(eddy_split(x, 3, 2), 1));
    eddy_split_sizes(x, (int64_t[]){ 1, -1, 2 }, 3, 2);
    eddy_slice(x, EDDY_DIMS(1, 0, 2), EDDY_DIMS(2, -1, 3));
    eddy_pad(x, EDDY_DIMS(1, 0, 0), EDDY_DIMS(0, 0, 2), .value = -0.0);
    eddy_tile(x, EDDY_DIMS(1, 2, 3));
    eddy_gather(x, ints(g, 3, (int32_t[]){ 0, 5, 5 }), .axis = 2);
    eddy_one_hot(ints(g, 2, (int32_t[]){ 0, 1 }), 3, .on_value = 2.5, .dtype = EDDY_FLOAT32);
    eddy_shape_tensor(x, EDDY_INT64);
    eddy_size(x, EDDY_INT32);
    eddy_range(eddy_number(g, EDDY_INT32, 1), eddy_number(g, EDDY_INT32, 9),
               eddy_number(g, EDDY_INT32, 2));
    eddy_fill(ints(g, 2, (int32_t[]){ 2, 2 }), eddy_scalar(g, 7));
    eddy_indexed_slices(eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(1, 6), (double[6]){ 1 }),
                        ints(g, 1, (int32_t[]){ 2 }),
                        eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(9, 6)));
}

static void build_reductions(eddy_graph *g)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(5, 7));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(5));
    eddy_sum(x);
    eddy_mean(x, .axes = EDDY_AXES(-1), .keepdims = true);
    eddy_max(x, .axes = EDDY_AXES(0, 1));
    eddy_any(eddy_less(x, eddy_scalar(g, 0)));
    eddy_logsumexp(x, .axes = EDDY_AXES(1));
    eddy_argmax(x, .axis = 1, .output_type = EDDY_INT32);
    eddy_cumsum(x, .axis = -1, .exclusive = true, .reverse = true);
    eddy_softmax(x);
    eddy_log_softmax(x);
    eddy_mean(eddy_sparse_softmax_cross_entropy(y, x));
    eddy_softmax_cross_entropy(eddy_softmax(x), x);
    eddy_clip_by_norm(x, eddy_scalar(g, 3));
    eddy_matmul(x, x, .transpose_b = true);
}

static void build_states(eddy_graph *g)
{
    eddy_scope_begin(g, "model");
    eddy_tensor step =
        eddy_variable(g, eddy_number(g, EDDY_INT64, 0), .not_trainable = true, .name = "step");
    eddy_tensor w =
        eddy_variable(g, eddy_random_normal(g, EDDY_SHAPE(3, 2), .stddev = 0.1, .seed = 5));
    eddy_tensor next = eddy_assign_add(step, eddy_number(g, EDDY_INT64, 1));
    eddy_control_begin(g, EDDY_LIST(next));
    eddy_assign(w, eddy_truncated_normal(g, EDDY_SHAPE(3, 2)));
    eddy_read(w);
    eddy_control_end(g);
    eddy_scope_end(g);
    eddy_is_initialized(w);
    eddy_initialized_value(w);
    eddy_scatter_add(w, ints(g, 1, (int32_t[]){ 1 }),
                     eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2), (float[]){ 1, 2 }));
    eddy_dropout(eddy_random_uniform(g, EDDY_SHAPE(4), .minval = -1), 0.25);
    eddy_random_shuffle(w);
    eddy_check_numerics(w, "w: \xff");
    eddy_print(w, .message = "w = ");
    eddy_assert(eddy_all(eddy_is_finite(w)), EDDY_LIST(w));
    eddy_group(g, EDDY_LIST(w, next), "both");
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_device_begin(g, "/cpu:0");
    eddy_tensor h = eddy_dense(x, 8, "hidden");
    eddy_device_end(g);
    eddy_set_shape(h, EDDY_SHAPE(16, 8));
    eddy_initializer(g);
}

static void (*const builders[])(eddy_graph *g) = { build_elementwise, build_arrays,
                                                   build_reductions, build_states };
enum { BUILDERS = sizeof builders / sizeof *builders };

START_TEST(round_trip)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new(.seed = 3);
    builders[_i](g);
    ck_assert_str_eq(eddy_graph_message(g), "");
    char       *text = eddy_graph_to_yaml(g);
    eddy_graph *back = eddy_graph_load(.text = text, .error = &e);
    ck_assert_msg(back != NULL, "%s", e.message);
    char *again = eddy_graph_to_yaml(back);
    ck_assert_str_eq(text, again);
    ck_assert_int_eq(eddy_graph_size(g), eddy_graph_size(back));
    for (int32_t id = 1; id <= eddy_graph_size(g); id++) {
        const eddy_node *a = eddy__graph_node(g, id), *b = eddy__graph_node(back, id);
        ck_assert_ptr_eq(a->op, b->op);
        ck_assert_msg(attrs_equal(a->op, a->attrs, b->attrs), "%s", a->op->name);
    }
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(g);
    eddy_graph_free(back);
}
END_TEST

START_TEST(load_misuse)
{
    eddy_error e = { 0 };
    ck_assert_ptr_null(eddy_graph_load(NULL));
    ck_assert_ptr_null(eddy_graph_load("/nonexistent/graph.yaml", .error = &e));
    ck_assert_int_eq(e.status, EDDY_NOT_FOUND);
    ck_assert_ptr_null(eddy_graph_load(.text = "", .allocator = &(eddy_allocator){ 0 }));
    ck_assert_ptr_null(eddy_graph_load(.path = "x", .files = &(eddy_files){ 0 }));
}
END_TEST

/* ----------------------------------------------------- the table of ops -- */

/* Files refer to operations by name and to attributes by the table of fields. */
START_TEST(definitions)
{
    static const size_t sizes[] = {
        [EDDY_ATTR_INT] = sizeof(int64_t),        [EDDY_ATTR_FLOAT] = sizeof(double),
        [EDDY_ATTR_BOOL] = sizeof(bool),          [EDDY_ATTR_STRING] = sizeof(char *),
        [EDDY_ATTR_DTYPE] = sizeof(eddy_dtype),   [EDDY_ATTR_SHAPE] = sizeof(eddy_shape),
        [EDDY_ATTR_DIMS] = sizeof(eddy_dims),     [EDDY_ATTR_INTS] = sizeof(eddy_ints),
        [EDDY_ATTR_ARRAY] = sizeof(eddy_array *), [EDDY_ATTR_GRAPH] = sizeof(eddy_graph *),
    };
    for (int i = 0; eddy_op_table[i]; i++) {
        const eddy_op_def *op = eddy_op_table[i];
        for (int k = 0; k < i; k++) ck_assert_str_ne(op->name, eddy_op_table[k]->name);
        ck_assert_msg((op->attrs != NULL && op->attrs->name != NULL) ==
                      (op->attrs_size > 0 && !(op->flags & EDDY_OP_UNSAVED)), "%s", op->name);
        for (const eddy_attr_field *f = op->attrs; f && f->name; f++) {
            ck_assert_msg(f->kind > EDDY_ATTR_END && f->kind <= EDDY_ATTR_GRAPH, "%s.%s", op->name,
                          f->name);
            ck_assert_msg(f->offset + sizes[f->kind] <= op->attrs_size, "%s.%s", op->name, f->name);
            ck_assert_msg(f == op->attrs || f->offset != f[-1].offset, "%s.%s", op->name, f->name);
        }
    }
}
END_TEST

/* ------------------------------------------------------------- attributes -- */

static const char *const hostile[] = {
    "-1", "0", "1", "2", "9", "-9", "65536", "2147483647", "2147483648", "-2147483648",
    "4294967296", "281474976710656", "9223372036854775807", "-9223372036854775808", ".nan",
    ".inf", "-.inf", "1.0e+300", "true", "false", "~", "\"\"", "x", "default", "float32",
    "complex128", "float16", "bool", "\"?\"", "\"[]\"", "\"[0]\"", "\"[?,?]\"",
    "\"[0,?,281474976710656]\"", "\"[1,1,1,1,1,1,1,1]\"", "\"[16777216,16777216]\"", "[]",
    "[-1]", "[0]", "[0, 0]", "[-9223372036854775808]",
    "[9223372036854775807, 9223372036854775807]", "[-1, -1, -1]", "[0, 1, 2, 3, 4, 5, 6, 7]",
    "[8]", "[2147483648]", "[2, 1, 0]",
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static bool is_attribute(const char *line)
{
    return strncmp(line, "    ", 4) == 0 && line[4] != ' ' && line[4] != '-';
}

/* The text with the value of the attribute on the line at `at` replaced, and
 * with nothing behind that node, so that what follows is no reason to refuse it. */
static char *replaced(const char *text, size_t at, const char *with)
{
    const char *colon = strchr(text + at, ':'), *end = strchr(text + at, '\n');
    const char *rest = strstr(end, "\n- name: ");
    if (!rest) rest = strstr(end, "\ncollections:");
    size_t stop = rest ? (size_t)(rest - text) + 1 : strlen(text);
    char  *s = malloc(strlen(text) + strlen(with) + 4);
    size_t n = (size_t)(colon - text) + 2;
    memcpy(s, text, n);
    n += (size_t)sprintf(s + n, "%s", with);
    memcpy(s + n, end, stop - (size_t)(end - text));
    s[n + stop - (size_t)(end - text)] = 0;
    return s;
}

/* Refused with a reason, or a graph; never a crash or a defect of the library. */
static bool try(const char *text, size_t at, const char *with)
{
    eddy_error  e = { 0 };
    char       *bad = replaced(text, at, with);
    eddy_graph *g = eddy_graph_load(.text = bad, .error = &e);
    ck_assert(g ? e.status == EDDY_OK : e.status != EDDY_OK && e.message[0]);
    ck_assert_msg(e.status != EDDY_INTERNAL, "%s", e.message);
    eddy_graph_free(g);
    free(bad);
    return g != NULL;
}

START_TEST(hostile_attributes)
{
    eddy_graph *g = eddy_graph_new();
    builders[_i](g);
    char *text = eddy_graph_to_yaml(g);
    int   tried = 0, taken = 0;
    for (size_t at = 0; text[at]; at += strcspn(text + at, "\n") + 1) {
        if (!is_attribute(text + at) || text[at + strcspn(text + at, "\n") - 1] == ':') continue;
        for (int k = 0; k < HOSTILE; k++, tried++) taken += try(text, at, hostile[k]);
    }
    ck_assert_int_gt(tried, 100);
    ck_assert_int_gt(taken, 0);
    ck_assert_int_lt(taken, tried / 2);
    eddy_string_free(text);
    eddy_graph_free(g);
}
END_TEST

/* Inputs of other types and shapes, and of another number. */
START_TEST(hostile_inputs)
{
    eddy_graph *g = eddy_graph_new();
    builders[_i](g);
    char   *text = eddy_graph_to_yaml(g);
    int32_t id = 0;
    for (size_t at = 0; text[at]; at += strcspn(text + at, "\n") + 1) {
        id += strncmp(text + at, "- name: ", 8) == 0;
        if (strncmp(text + at, "  inputs: ", 10) != 0) continue;
        for (int32_t other = 1; other < id; other += 1 + id / 8) {
            char list[1024];
            int  n = sprintf(list, "[");
            for (int count = 1; count <= 3; count++) {
                n += sprintf(list + n, "\"%s:0\", ", eddy_name_of(eddy_node_at(g, other)));
                sprintf(list + n, "]");
                try(text, at, list);
            }
        }
        try(text, at, "[]");
    }
    eddy_string_free(text);
    eddy_graph_free(g);
}
END_TEST

Suite *graph_load_suite(void)
{
    Suite *s = suite_create("graph_load");
    TCase *t = tcase_create("load");
    tcase_add_loop_test(t, round_trip, 0, BUILDERS);
    tcase_add_test(t, load_misuse);
    tcase_add_test(t, definitions);
    tcase_add_loop_test(t, hostile_attributes, 0, BUILDERS);
    tcase_add_loop_test(t, hostile_inputs, 0, BUILDERS);
    suite_add_tcase(s, t);
    return s;
}
