/* test_finalized.c -- every row of the sweep on valid inputs in a graph that takes no more nodes: a
 * builder must not rely on the nodes that it asked for. The sanitizers find what reads beyond a
 * shape. */
#include "tests/lib/random_graphs/row_graphs.h"

Suite *finalized_suite(void);

START_TEST(rows)
{
    const sweep_row *r = sweep_row_at(_i);
    const row_shapes v = row_shapes_with(r, 2);
    for (int j = 0; j < v.n; j++) {
        row_graph b;
        row_graph_begin(&b, r, v.of[j], "in a finalized graph", NULL);
        for (int k = 0; k < r->n; k++)
            b.t.tensor[b.t.n++] = eddy_ones(b.t.graph, EDDY_FLOAT64, v.of[j][k]);
        eddy_graph_finalize(b.t.graph);
        ck_assert_msg(!row_graph_build(&b), "%s: takes nodes", b.title);
        ck_assert_msg(eddy_graph_status(b.t.graph) != EDDY_OK, "%s", b.title);
        trial_end(&b.t);
    }
}
END_TEST

Suite *finalized_suite(void)
{
    Suite *s = suite_create("finalized");
    TCase *c = tcase_create("rows");
    tcase_add_loop_test(c, rows, 0, sweep_count());
    suite_add_tcase(s, c);
    return s;
}
