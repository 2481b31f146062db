/* test_lookup.c -- looking up rows of a table, and the rows of the gradient. */
#include "tests/lib/checks.h"

Suite *lookup_suite(void);

START_TEST(rows_and_their_gradient)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor table = matrix(g, 3, 2, (const double[]){ 1, 2, 3, 4, 5, 6 });
    const eddy_tensor ids = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2, 2),
                                       (const int32_t[]){ 2, 0, 2, 2 });
    const eddy_tensor y = eddy_embedding_lookup(table, ids);
    const eddy_tensor dx = eddy_gradient(y, table);
    eddy_tensor values, indices;
    has_value(y, 8, (const double[]){ 5, 6, 1, 2, 5, 6, 5, 6 });
    ck_assert(eddy_slices_parts(dx, &values, &indices));
    has_value(indices, 4, (const double[]){ 2, 0, 2, 2 });
    has_value(dx, 6, (const double[]){ 1, 1, 0, 0, 3, 3 });
    ck_assert_str_eq(eddy_name_of(y), "embedding_lookup");
    eddy_graph_free(g);
}
END_TEST

Suite *lookup_suite(void)
{
    Suite *suite = suite_create("lookup");
    TCase *all = tcase_create("lookup");
    tcase_add_test(all, rows_and_their_gradient);
    suite_add_tcase(suite, all);
    return suite;
}
