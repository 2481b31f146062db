/* test_messages_matmul_fused.c -- error messages of fused products. */
#include "tests/lib/golden.h"
#include "ops/math/fused_elementwise.h"
#include "ops/linear/fused_matmul.h"
#include "build/gen/table.h"

Suite *messages_matmul_fused_suite(void);

static eddy_graph *g;

static eddy_tensor zeros(eddy_dtype d, int64_t rows, int64_t columns)
{
    return eddy_zeros(g, d, EDDY_SHAPE(rows, columns));
}

static void fuse(eddy_fused_matmul_attrs f, int n, eddy_tensor a, eddy_tensor b, eddy_tensor c)
{
    const eddy_tensor x[] = { a, b, c };
    eddy_apply(&eddy_op_fused_matmul, &f, n, x, (eddy_apply_args){ 0 });
    golden_graph(g);
}

static void accumulate(eddy_tensor c, eddy_tensor a, eddy_tensor b)
{
    const eddy_matmul_accumulate_attrs t = { .alpha = 1 };
    eddy_apply(&eddy_op_matmul_accumulate, &t, 3, (eddy_tensor[]){ c, a, b },
               (eddy_apply_args){ 0 });
    golden_graph(g);
}

START_TEST(of_products)
{
    g = eddy_graph_new();
    golden_begin("ops/matmul_fused");
    const eddy_tensor a = zeros(EDDY_FLOAT32, 2, 3), b = zeros(EDDY_FLOAT32, 3, 4);
    const eddy_tensor whole = zeros(EDDY_INT32, 2, 3), wide = zeros(EDDY_FLOAT64, 3, 4);
    const eddy_tensor c = zeros(EDDY_FLOAT32, 2, 4), line = eddy_zeros(g, EDDY_FLOAT32,
                                                                       EDDY_SHAPE(3));
    fuse((eddy_fused_matmul_attrs){ .alpha = 1, .has_bias = true }, 2, a, b, a);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1, .activation = 99 }, 2, a, b, a);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1, .activation = -1 }, 2, a, b, a);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1 }, 2, whole, whole, a);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1 }, 2, a, wide, a);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1 }, 2, a, a, a);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1, .has_bias = true }, 3, a, b, line);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1, .has_bias = true }, 3, a, b, c);
    fuse((eddy_fused_matmul_attrs){ .alpha = 1, .has_residual = true }, 3, a, b, a);
    accumulate(a, a, b);
    accumulate(c, a, a);
    accumulate(c, a, line);
    eddy_apply(&eddy_op_chain, &(eddy_chain_attrs){ EDDY_CHAIN_OPS }, 3,
               (eddy_tensor[]){ c, c, c }, (eddy_apply_args){ 0 });
    golden_graph(g);
    int64_t steps = 0;                      /* one more than there may be */
    for (int i = 0; i <= EDDY_CHAIN_MOST; i++)
        steps |= (int64_t)EDDY_CHAIN_NEG << i * EDDY_CHAIN_BITS;
    eddy_apply(&eddy_op_chain, &(eddy_chain_attrs){ steps }, 1, (eddy_tensor[]){ c },
               (eddy_apply_args){ 0 });
    golden_graph(g);
    eddy_apply(&eddy_op_choice, &(eddy_choice_attrs){ 3 }, 4, (eddy_tensor[]){ c, c, c, c },
               (eddy_apply_args){ 0 });
    golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *messages_matmul_fused_suite(void)
{
    Suite *suite = suite_create("messages_matmul_fused");
    TCase *c = tcase_create("messages_product");
    tcase_add_test(c, of_products);
    suite_add_tcase(suite, c);
    return suite;
}
