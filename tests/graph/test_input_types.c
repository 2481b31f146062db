/* test_input_types.c -- what tables of inputs accept, and what becomes of a node in a run whose
 * rule answers otherwise than when it was built. */
#include "tests/lib/checks.h"
#include "graph/internal.h"

Suite *input_types_suite(void);

static int outputs_now = 1;

static bool infer(eddy_infer *c)
{
    if (!eddy_infer_outputs(c, outputs_now)) return false;
    for (int i = 0; i < c->n_out; i++) c->out[i] = c->in[0];
    return true;
}

static const eddy_op_def table = {
    .name = "Table", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = EDDY_MANY, .infer = infer,
    .inputs = EDDY_INPUTS({ "a", EDDY_TAKES_WIDE_FLOATS | EDDY_RANK_FROM(1) },
                          { "b", EDDY_LIKE(0) }, { "c", EDDY_LIKE(1) },
                          { "d", EDDY_ANY_TYPE | EDDY_RANK(2) },
                          { "e", EDDY_TAKES_INDICES | EDDY_LIKE(3) }, { "f", EDDY_LIKE(5) },
                          { "rest", EDDY_TAKES_BOOLS }),
};
static const eddy_op_def without = { .name = "Without", .max_inputs = 1, .outputs = EDDY_MANY,
                                     .infer = infer };
static const eddy_op_def few = {
    .name = "Few", .min_inputs = 1, .max_inputs = 4, .outputs = EDDY_MANY, .infer = infer,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS }, { "ys", EDDY_LIKE(0) },
                          { "ys", EDDY_LIKE(0) }, { "n", EDDY_TAKES_INDICES | EDDY_RANK(0) }),
};

/* An input like another takes what that takes; one like itself takes anything. */
START_TEST(types_of_inputs)
{
    const uint32_t floats = EDDY_TAKES_WIDE_FLOATS, bools = EDDY_TAKES_BOOLS;
    const uint32_t want[] = { floats, floats, floats, 0,    EDDY_TAKES_INDICES,
                              0,      bools,  bools,  bools };
    for (int i = 0; i < 9; i++) ck_assert_uint_eq(eddy__input_types(&table, i), want[i]);
    ck_assert_uint_eq(eddy__input_types(&without, 0), 0);
}
END_TEST

static void refused(eddy_graph *g, int n, const eddy_tensor *x, const char *message)
{
    ck_assert(!eddy_is_valid(eddy_apply(&few, NULL, n, x, (eddy_apply_args){ .graph = g })));
    ck_assert_str_eq(eddy_graph_message(g), message);
    eddy_graph_clear_error(g);
}

START_TEST(names_of_inputs)
{
    eddy_graph *g = eddy_graph_new(), *other = eddy_graph_new();
    const eddy_tensor x = eddy_number(g, EDDY_FLOAT32, 1), n = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor row = eddy_ones(g, EDDY_INT64, EDDY_SHAPE(2)), far = eddy_scalar(other, 1);
    outputs_now = 1;
    ck_assert(eddy_is_valid(eddy_apply(&few, NULL, 4, (eddy_tensor[]){ x, x, x, n },
                                       (eddy_apply_args){ .graph = g })));
    refused(g, 1, &n, "Few(int32[]): x is int32; float32 or float64 expected [node 'Few_1']");
    refused(g, 2, (eddy_tensor[]){ x, n },
            "Few(float32[], int32[]): ys[0] is int32, but x is float32; cast one [node 'Few_1']");
    refused(g, 3, (eddy_tensor[]){ x, x, n },
            "Few(float32[], float32[], int32[]): ys[1] is int32, but x is float32; cast one [node "
            "'Few_1']");
    refused(g, 4, (eddy_tensor[]){ x, x, x, row },
            "Few(float32[], float32[], float32[], int64[2]): n has rank 1; rank 0 expected [node "
            "'Few_1']");
    refused(g, 0, NULL, "Few: the number of inputs is 0; expected 1 to 4");
    refused(g, 5, (eddy_tensor[]){ x, x, x, n, n },
            "Few: the number of inputs is 5; expected 1 to 4");
    refused(g, 2, (eddy_tensor[]){ x, far },
            "Few: input 1, 'Const', is not an element of this graph");
    refused(g, 2, (eddy_tensor[]){ x, EDDY_NO_TENSOR }, "Few: input 1 is not a valid tensor");
    refused(g, 2, (eddy_tensor[]){ x, { .graph = g } },
            "Few: input 1 is not a valid tensor (a missing gradient?)");
    refused(g, 2, (eddy_tensor[]){ x, { .graph = g, .node = 99 } },
            "Few: input 1 is not a valid tensor");
    eddy_graph_free(other);
    eddy_graph_free(g);
}
END_TEST

static bool again(const eddy_node *node, eddy_type in, eddy_error *e)
{
    const eddy_array *value[1] = { NULL };
    eddy_arena        arena = { .allocator = &eddy__libc };
    eddy_type        *out = NULL;
    const bool        fits = eddy__infer_node(node, &in, value, &arena, &out, e);
    eddy__arena_free(&arena);
    return fits;
}

START_TEST(nodes_in_runs)
{
    eddy_graph *g = eddy_graph_new();
    eddy_error  e = { 0 };
    const eddy_type two = { EDDY_FLOAT32, EDDY_SHAPE(2) }, three = { EDDY_FLOAT32, EDDY_SHAPE(3) };
    const eddy_tensor p = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    outputs_now = 2;
    const eddy_tensor y = eddy_apply(&without, NULL, 1, &p, (eddy_apply_args){ .graph = g });
    ck_assert(again(eddy_node_of(y), two, &e) && again(eddy_node_of(y), three, &e));
    eddy_set_shape(eddy_output(y, 1), EDDY_SHAPE(2));
    ck_assert(again(eddy_node_of(y), two, &e));
    ck_assert(!again(eddy_node_of(y), three, &e));
    ck_assert_str_eq(e.message, "Without(float32[3]): output 1 has shape [3], which is not "
                                "compatible with its static shape [2] [node 'Without']");
    e = (eddy_error){ 0 };
    outputs_now = 1;
    ck_assert(!again(eddy_node_of(y), two, &e));
    ck_assert_str_eq(e.message, "Without: the number of outputs is 1 now, but was 2 before [node "
                                "'Without']");
    eddy_graph_free(g);
}
END_TEST

START_TEST(operations_of_elements)
{
    const eddy_type x[] = { { EDDY_FLOAT32, EDDY_SHAPE(2, 3) }, { EDDY_FLOAT32, EDDY_SHAPE(4) } };
    ck_assert(eddy_flops_per_input(NULL, 0, NULL, x) == 0);
    ck_assert(eddy_flops_per_input(NULL, 1, x, NULL) == 6);
    ck_assert(eddy_flops_per_input(NULL, 2, x + 1, NULL) == 4);
    ck_assert(eddy_flops_per_output(NULL, 0, NULL, x) == 6);
}
END_TEST

Suite *input_types_suite(void)
{
    Suite *s = suite_create("input_types");
    TCase *c = tcase_create("input types");
    tcase_add_test(c, types_of_inputs);
    tcase_add_test(c, names_of_inputs);
    tcase_add_test(c, nodes_in_runs);
    tcase_add_test(c, operations_of_elements);
    suite_add_tcase(s, c);
    return s;
}
