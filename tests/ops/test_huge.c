/* test_huge.c -- every row of the sweep with dimensions of 2^31 - 1, 2^31, 2^33 + 1 and 2^46: a
 * builder refuses them or gives a graph, and a run refuses what max_bytes cannot hold. Nothing
 * asks for much memory or time. */
#include "tests/lib/random_graphs/row_graphs.h"

#include <stdlib.h>

Suite *huge_suite(void);

static const int64_t sizes[] = { INT32_MAX, (int64_t)INT32_MAX + 1, ((int64_t)1 << 33) + 1,
                                 (int64_t)1 << 46 };
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_BYTES = 1 << 26 };

/* Memory of libc, and the largest block that was asked for. */
static size_t largest;

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (size > largest) largest = size;
    return size > 2 * (size_t)MOST_BYTES ? NULL : malloc(size ? size : 1);
}
static void release(void *context, void *p, size_t size)
{
    (void)context; (void)size;
    free(p);
}
static const eddy_allocator watched = { allocate, release, NULL };

static eddy_tensor huge_input(eddy_graph *g, eddy_shape s)
{
    return eddy_fill(eddy_const(g, EDDY_INT64, EDDY_SHAPE(s.rank), s.dim),
                     eddy_number(g, EDDY_FLOAT64, 0.3));
}

/* A run of the node that was built. It may succeed: the shape of a huge tensor is a small one. */
static void run(const row_graph *b)
{
    eddy_array   *y[FETCHES] = { NULL };
    eddy_session *s = eddy_session_new(b->t.graph, .threads = 1, .max_bytes = MOST_BYTES);
    const eddy_status status = eddy_run(s, EDDY_FEED(), (eddy_list){ b->fetch.n, b->fetch.at }, y);
    ck_assert_msg(status != EDDY_INTERNAL, "%s: %s", b->title, eddy_session_message(s));
    if (status != EDDY_OK) row_message_is_clear(b, eddy_session_message(s));
    eddy_session_free(s);
    free_arrays(FETCHES, y);
}

static void try_shapes(const sweep_row *r, const eddy_shape *shape)
{
    row_graph b;
    row_graph_begin(&b, r, shape, "huge shapes", &watched);
    for (int k = 0; k < r->n; k++)
        b.t.tensor[b.t.n++] = huge_input(b.t.graph, shape[k]);
    largest = 0;
    if (eddy_graph_status(b.t.graph) == EDDY_OK && row_graph_build(&b)) run(&b);
    else row_message_is_clear(&b, eddy_graph_message(b.t.graph));
    ck_assert_msg(largest <= MOST_BYTES, "%s: asks for %zu bytes", b.title, largest);
    trial_end(&b.t);
}

START_TEST(rows)
{
    const sweep_row *r = sweep_row_at(_i);
    for (int i = 0; i < SIZES; i++) {
        const row_shapes v = row_shapes_with(r, sizes[i]);
        for (int j = 0; j < v.n; j++) try_shapes(r, v.of[j]);
    }
}
END_TEST

Suite *huge_suite(void)
{
    Suite *s = suite_create("huge");
    TCase *c = tcase_create("rows");
    tcase_add_loop_test(c, rows, 0, sweep_count());
    suite_add_tcase(s, c);
    return s;
}
