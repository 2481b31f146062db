/* test_append.c -- appending a node: the order of its control inputs, ownership of graphs among its
 * attributes, tables of attributes. */
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/plain_ops.h"

#include <stdlib.h>

Suite *append_suite(void);

/* -------------------------------------------------------------- controls -- */

/* Each operation once, in the order of its first mention, less the inputs;
 * blocks and their lists may repeat each other. */
START_TEST(many_controls)
{
    enum { N = 1000 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor op[N], twice[2 * N];
    for (int i = 0; i < N; i++) op[i] = eddy_scalar(g, i + 0.5);
    for (int i = 0; i < 2 * N; i++) twice[i] = op[N - 1 - i / 2];
    for (int round = 0; round < 2; round++) {
        eddy_control_begin(g, (eddy_list){ N, op });
        eddy_control_begin(g, (eddy_list){ 2 * N, twice });
        eddy_tensor y = Add(op[3], op[N - 1]);
        eddy_control_end(g);
        eddy_control_end(g);
        ck_assert_int_eq(eddy_controls_of(y), N - 2);
        for (int i = 0, k = 0; i < N; i++)
            if (i != 3 && i != N - 1) ck_assert(eddy_same(eddy_control(y, k++), op[i]));
    }
    eddy_graph_free(g);
}
END_TEST

/* As many inputs as there can be, and one more. */
START_TEST(most_inputs)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_scalar(g, 1);
    eddy_tensor      *in = malloc((EDDY_MAX_INPUTS + 1) * sizeof *in);
    for (int i = 0; i <= EDDY_MAX_INPUTS; i++) in[i] = x;
    ck_assert(eddy_is_valid(eddy_add_n((eddy_list){ EDDY_MAX_INPUTS, in }, NULL)));
    eddy_add_n((eddy_list){ EDDY_MAX_INPUTS + 1, in }, NULL);
    fails(g, EDDY_INVALID_ARGUMENT, "the number of inputs is 65536; expected 1 to 65535");
    free(in);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------- graphs in attributes -- */

typedef struct holder_attrs {
    eddy_array *array;
    eddy_graph *graph;
    eddy_ints   ints;
    bool        refuse;
} holder_attrs;

static bool holder_infer(eddy_infer *c)
{
    const holder_attrs *a = c->attrs;
    if (a->refuse) return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "asked to refuse");
    c->out[0] = (eddy_type){ EDDY_FLOAT32, EDDY_SCALAR };
    return true;
}

static const eddy_attr_field holder_fields[] = {
    { "array", EDDY_ATTR_ARRAY, offsetof(holder_attrs, array) },
    { "graph", EDDY_ATTR_GRAPH, offsetof(holder_attrs, graph) },
    { "ints", EDDY_ATTR_INTS, offsetof(holder_attrs, ints) },
    { 0 },
};
static const eddy_op_def holder = {
    .name = "Holder", .max_inputs = 1, .outputs = 1, .attrs_size = sizeof(holder_attrs),
    .attrs = holder_fields, .infer = holder_infer,
};

/* The new node; *inner is the graph that was handed to it. */
static eddy_tensor hold(const eddy_op_def *op, eddy_graph *g, int n, eddy_tensor x, bool refuse,
                        eddy_ints ints, eddy_graph **inner)
{
    eddy_array  *array = eddy_array_of(EDDY_FLOAT32, 1);
    holder_attrs attrs = { array, *inner = eddy_graph_new(), ints, refuse };
    eddy_tensor  t = eddy_apply(op, &attrs, n, &x, (eddy_apply_args){ .graph = g });
    ck_assert_int_eq(eddy_is_valid(t), eddy_graph_status(*inner) == EDDY_OK);
    eddy_array_free(array);
    return t;
}

/* Whatever the reason of a failure, the graph is gone; that is all there is to
 * free, as the leak check sees. */
START_TEST(a_graph_is_taken_over)
{
    eddy_graph *g = eddy_graph_new(), *other = eddy_graph_new(), *inner;
    const eddy_ints few = { 2, (int64_t[]){ 1, 2 } }, bad = { -1, NULL };
    eddy_op_def nameless = holder;
    nameless.name = NULL;
    eddy_tensor none = { 0 };
    ck_assert(eddy_is_valid(hold(&holder, g, 0, none, false, few, &inner)));
    ck_assert_int_eq(eddy_graph_status(inner), EDDY_OK);
    hold(&holder, NULL, 0, none, false, few, &inner);
    hold(&nameless, g, 0, none, false, few, &inner);
    fails(g, EDDY_INVALID_ARGUMENT, "no name");
    hold(&holder, g, 2, none, false, few, &inner);
    fails(g, EDDY_INVALID_ARGUMENT, "the number of inputs is 2");
    hold(&holder, g, 1, eddy_scalar(other, 1), false, few, &inner);
    fails(g, EDDY_INVALID_ARGUMENT, "not an element of this graph");
    hold(&holder, g, 0, none, true, few, &inner);
    hold(&holder, g, 0, none, false, few, &inner);
    fails(g, EDDY_INVALID_ARGUMENT, "asked to refuse");
    hold(&holder, g, 0, none, false, bad, &inner);
    eddy_graph_clear_error(g);
    eddy_graph_finalize(g);
    hold(&holder, g, 0, none, false, few, &inner);
    fails(g, EDDY_FINALIZED, "finalized");
    eddy_graph_free(other);
    eddy_graph_free(g);
    hold(&holder, g, 0, none, false, few, &inner);
}
END_TEST

START_TEST(a_graph_is_taken_over_without_memory)
{
    failing_allocator a;
    eddy_graph *inner;
    long all = 1;
    for (long k = 0; k <= all; k++) {
        failing_allocator_init(&a);
        eddy_graph *g = eddy_graph_new(&a.table);
        a.at = k > 0 ? a.calls + k : 0;
        const long before = a.calls;
        eddy_control_begin(g, EDDY_LIST(eddy_no_op(g, "first")));
        for (int i = 0; i < 70; i++)
            hold(&holder, g, 0, EDDY_NO_TENSOR, false,
                 (eddy_ints){ 300, (int64_t[300]){ i } }, &inner);
        eddy_control_end(g);
        if (k == 0) all = a.calls - before;
        ck_assert_int_eq(eddy_graph_status(g), k > 0 ? EDDY_NO_MEMORY : EDDY_OK);
        eddy_graph_free(g);
        ck_assert_int_eq(a.live, 0);
    }
    ck_assert_int_gt(all, 4);
}
END_TEST

/* ---------------------------------------------------- tables of attributes -- */

/* Made from the members, they are the rows of plain_all, which are written out. */
START_TEST(tables_follow_from_the_members)
{
    static const eddy_attr_field first[] = EDDY_FIELDS(all_attrs, i, f, b, s, d, shape, dims, ints);
    static const eddy_attr_field more[] = EDDY_FIELDS(all_attrs, array, graph);
    for (int i = 0; i < 10; i++) {
        const eddy_attr_field have = i < 8 ? first[i] : more[i - 8], want = plain_all.attrs[i];
        if (i < 9) ck_assert_str_eq(have.name, want.name);
        ck_assert_int_eq(have.kind, want.kind);
        ck_assert_uint_eq(have.offset, want.offset);
    }
    ck_assert_str_eq(more[1].name, "graph");
    ck_assert_ptr_null(first[8].name);
    ck_assert_ptr_null(more[2].name);
}
END_TEST

Suite *append_suite(void)
{
    Suite *suite = suite_create("append");
    TCase *c = tcase_create("append");
    tcase_add_test(c, many_controls);
    tcase_add_test(c, most_inputs);
    tcase_add_test(c, a_graph_is_taken_over);
    tcase_add_test(c, a_graph_is_taken_over_without_memory);
    tcase_add_test(c, tables_follow_from_the_members);
    suite_add_tcase(suite, c);
    return suite;
}
