/* test_messages_sorting.c -- error messages of sorting, cumulative operations, statistics, bins and
 * metrics. */
#include "graph/internal.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

Suite *messages_sorting_suite(void);

static eddy_graph *g;

static eddy_tensor of(const char *name, eddy_dtype d, eddy_shape s)
{
    return eddy_placeholder(g, name, d, s);
}

static void along(eddy_tensor x, eddy_tensor i)
{
    const eddy_tensor flags = of("flags", EDDY_BOOL, EDDY_SHAPE(5, 2));
    eddy_take_along(x, of("three", EDDY_INT32, EDDY_SHAPE(3, 3)), 1), golden_graph(g);
    eddy_put_along(flags, i, x, 1), golden_graph(g);
    eddy_put_along(x, i, x, 1), golden_graph(g);
}

static void sorting(eddy_tensor x, eddy_tensor pairs, eddy_tensor endless)
{
    eddy_sort(pairs), golden_graph(g);
    eddy_sort(endless), golden_graph(g);
    eddy_nth_element(x, 3, false), golden_graph(g);
    eddy_quantile(pairs, 0.5), golden_graph(g);
    eddy_quantile(x, 1.5), golden_graph(g);
    eddy_quantile(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3, 0)), 0.5, EDDY_AXES(-1)),
        golden_graph(g);
    eddy_top_k(pairs, 1), golden_graph(g);
    eddy_top_k(eddy_scalar(g, 1), 1), golden_graph(g);
    eddy_top_k(x, 4), golden_graph(g);
    eddy_top_k(endless, 1), golden_graph(g);
    eddy_cumulative_logsumexp(pairs), golden_graph(g);
    eddy_cummax(pairs), golden_graph(g);
    eddy_cummin(endless), golden_graph(g);
}

static void counting(eddy_tensor x, eddy_tensor i)
{
    const eddy_tensor none = { .graph = g };
    eddy_reduce_variance(i), golden_graph(g);
    eddy_bincount(i, -1), golden_graph(g);
    eddy_bincount(x, 3), golden_graph(g);
    eddy_confusion_matrix(i, i, -2, none), golden_graph(g);
    eddy_confusion_matrix(i, ExpandDims(i, -1), 2, none), golden_graph(g);
    eddy_histogram_fixed_width(x, x, 0), golden_graph(g);
    const eddy_tensor range = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 1 });
    eddy_histogram_fixed_width(x, range, 4), golden_graph(g);
    eddy_metric_auc(x, x, .num_thresholds = 1), golden_graph(g);
}

static void local_without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *h = eddy_graph_new(&f->table);
    if (h) {
        eddy_local_variable(eddy_scalar(h, 1), "total");
        eddy_local_initializer(h);
        *e = h->error;
    }
    eddy_graph_free(h);
}

START_TEST(refusals)
{
    g = eddy_graph_new();
    const eddy_tensor x = of("x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor i = of("i", EDDY_INT32, EDDY_SHAPE(5, 2));
    golden_begin("ops/sorting");
    along(x, i);
    sorting(x, of("pairs", EDDY_COMPLEX64, EDDY_SHAPE(2, 3)),
            of("endless", EDDY_FLOAT32, EDDY_SHAPE((int64_t)1 << 32)));
    counting(x, i);
    golden_no_memory(local_without_memory);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *messages_sorting_suite(void)
{
    Suite *suite = suite_create("messages_sorting");
    TCase *c = tcase_create("messages_sorting");
    tcase_add_test(c, refusals);
    suite_add_tcase(suite, c);
    return suite;
}
