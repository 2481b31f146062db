/* test_row_updates.c -- loops that read and replace rows of a table: an iteration works in the
 * table's own memory, and so do its gradients. A plan that copied the table, or kept one for each
 * iteration, would need memory for more tables. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

enum { ROWS = 4096, COLUMNS = 4, TABLE = ROWS * COLUMNS * 8 };

static eddy_tensor row_at(eddy_tensor i) { return eddy_reshape(i, EDDY_SHAPE(1, 1)); }
static eddy_tensor put(eddy_tensor table, eddy_tensor i, eddy_tensor row)
{
    return eddy_tensor_scatter_update(table, row_at(i), eddy_expand_dims(row, 0));
}
static eddy_tensor get_nd(eddy_tensor table, eddy_tensor i)
{
    return eddy_gather_nd(table, eddy_reshape(i, EDDY_SHAPE(1)));
}

/* The iteration, the table, a row; a captured table. */
BODY(write, Add(x[0], 1), put(x[1], x[0], Mul(x[2], 1.25)), Sin(x[2]))
BODY(write_then_read_old, Add(x[0], 1), put(x[1], x[0], Sin(x[2])),
     Add(Mul(x[2], 0.5), eddy_gather(x[1], x[0])))
BODY(read_captured, Add(x[0], 1), x[1], Add(Mul(x[2], 0.5), Sin(eddy_gather(c[0], x[0]))))
BODY(read_carried, Add(x[0], 1), x[1], Add(Mul(x[2], 0.5), Sin(eddy_gather(x[1], x[0]))))
BODY(read_tuple, Add(x[0], 1), x[1], Mul(x[2], get_nd(c[0], x[0])))
BODY(read_twice, Add(x[0], 1), x[1],
     Mul(Add(x[2], eddy_gather(x[1], x[0])), Sin(eddy_gather(x[1], x[0]))))
BODY(add_row, Add(x[0], 1), eddy_tensor_scatter_add(x[1], row_at(x[0]), eddy_expand_dims(x[2], 0)),
     Sin(Add(x[2], eddy_gather(x[1], FloorMod(x[0], 2)))))

static int read_new(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(in.at[0], 1);
    y[1] = put(in.at[1], in.at[0], Sin(in.at[2]));
    y[2] = Add(Mul(in.at[2], 0.5), eddy_gather(y[1], FloorMod(in.at[0], 2)));
    return 3;
}
static int two_rows(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor i = in.at[0], j = Add(i, 1), table = in.at[1];
    (void)context;
    y[0] = j;
    y[1] = put(put(table, i, Square(in.at[2])), j, eddy_gather(table, i));
    y[2] = Sin(Add(in.at[2], eddy_gather(y[1], j)));
    return 3;
}

static const struct {
    const char *name;
    int       (*f)(eddy_list in, eddy_tensor *y, void *context);
} bodies[] = {
    { "write", write }, { "write_then_read_old", write_then_read_old },
    { "read_captured", read_captured }, { "read_carried", read_carried },
    { "read_tuple", read_tuple }, { "read_twice", read_twice }, { "add_row", add_row },
    { "read_new", read_new }, { "two_rows", two_rows },
};
enum { BODIES = sizeof bodies / sizeof *bodies };

BODY(fewer, Less(x[0], c[0]))

/* The sum of the two results of the loop. */
static eddy_tensor run_loop(int body, eddy_tensor table, eddy_tensor row, eddy_tensor n)
{
    eddy_tensor   y[3];
    eddy_function f = { .build = bodies[body].f, .name = bodies[body].name, .context = &table };
    const int     m = eddy_while_loop(FUNCTION(fewer, n), f,
                                      EDDY_LIST(eddy_number(n.graph, I32, 0), Mul(table, 1.5), row),
                                      y, .maximum_iterations = 40);
    ck_assert_msg(m == 3, "%s", eddy_graph_message(n.graph));
    return Add(Sum(Mul(y[1], y[1])), Sum(y[2]));
}

static const int counts[] = { 0, 1, 2, 7 };
enum { COUNTS = 4 };

START_TEST(derivatives_are_differences)
{
    trial       t = trial_begin((unsigned)_i % 95);
    eddy_tensor n = integer(&t, counts[_i % COUNTS]);
    eddy_tensor table = fed_numbers(&t, EDDY_SHAPE(9, 3), -0.8, 0.8);
    eddy_tensor row = fed_numbers(&t, EDDY_SHAPE(3), -0.8, 0.8);
    const eddy_tensor fed[2] = { t.tensor[1], t.tensor[2] };
    table = eddy_set_shape(table, EDDY_SHAPE(9, 3)), row = eddy_set_shape(row, EDDY_SHAPE(3));
    check_slopes(&t, run_loop(_i / COUNTS, table, row, n), 2, fed, 3);
    trial_end(&t);
}
END_TEST

/* Tables in the memory of a plan, which has also the results that are summed up. */
static double tables_of(int body, int order)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor table = eddy_variable(g, eddy_ones(g, F64, EDDY_SHAPE(ROWS, COLUMNS)));
    eddy_tensor row = eddy_variable(g, eddy_ones(g, F64, EDDY_SHAPE(COLUMNS)));
    eddy_tensor y = run_loop(body, table, row, eddy_number(g, I32, 30)), d[2];
    for (int k = 0; k < order; k++) {
        ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(table, row), d), EDDY_OK);
        y = Add(Sum(Square(d[0])), Sum(Square(d[1])));
    }
    eddy_session *s = eddy_session_new(g, .threads = 1);
    eddy_array   *a = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK &&
                      eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &a) == EDDY_OK,
                  "%s", eddy_session_message(s));
    const double bytes = (double)eddy_session_plan_info(s).arena_bytes;
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
    return bytes / TABLE;
}

/* The table before the loop and in it, and one for each gradient, but none for an iteration. */
START_TEST(no_table_is_copied)
{
    static const double most[3] = { 2.2, 3.2, 5.2 };
    const int           order = _i % 3;
    const double        tables = tables_of(_i / 3, order);
    ck_assert_msg(tables <= most[order], "%s, order %d: %g tables", bodies[_i / 3].name, order,
                  tables);
}
END_TEST

Suite *row_updates_suite(void)
{
    Suite *s = suite_create("row_updates");
    TCase *c = tcase_create("rows");
    tcase_add_loop_test(c, derivatives_are_differences, 0, BODIES * COUNTS);
    tcase_add_loop_test(c, no_table_is_copied, 0, BODIES * 3);
    suite_add_tcase(s, c);
    return s;
}
