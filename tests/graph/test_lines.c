/* test_lines.c -- the lines of C that build nodes: what nodes remember, and messages that name
 * them. */
#define EDDY_LINES
#include "tests/lib/checks.h"
#include "graph/lines.h"

#include <math.h>

Suite *lines_suite(void);

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void)
{
    eddy_line_(NULL, 0);
    eddy_graph_free(g);
}

/* The line of t is `line` of this file. */
static void is_line(eddy_tensor t, int line)
{
    const char *file = NULL;
    ck_assert_int_eq(eddy_line_of(t, &file), line);
    ck_assert_str_eq(file, __FILE__);
}

/* The message ends in this file and line, behind the name of a node or in brackets. */
static void names_line(const char *message, int line, bool node)
{
    char want[200];
    snprintf(want, sizeof want, node ? "', %s:%d]" : " [%s:%d]", __FILE__, line);
    const size_t n = strlen(message), m = strlen(want);
    ck_assert_msg(n > m && strcmp(message + n - m, want) == 0, "%s does not end in %s", message,
                  want);
}

START_TEST(nodes)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 3)); int line = __LINE__;
    eddy_tensor y = eddy_sum(eddy_square(x), .axes = EDDY_DIMS(1));
    eddy_tensor z = eddy_dense(x, 4, "hidden", .activation = eddy_relu);
    eddy_tensor dx = eddy_gradient(y, x);
    is_line(x, line);
    is_line(y, line + 1);
    is_line(eddy_input(y, 0), line + 1);
    is_line(z, line + 2);
    is_line(eddy_input(z, 0), line + 2);
    is_line(dx, line + 3);
    ck_assert_int_eq(eddy_line_of(EDDY_NO_TENSOR, NULL), 0);
}
END_TEST

/* Nodes whose line is not known, before and behind others. */
START_TEST(without_lines)
{
    const char *file = NULL;
    eddy_line_(NULL, 0);
    eddy_tensor x = (eddy_placeholder)(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2)), y = eddy_square(x);
    const int   line = __LINE__ - 1;
    eddy_line_(NULL, 0);
    eddy_tensor z = (eddy_square)(y);
    ck_assert_int_eq(eddy_line_of(x, &file), 0);
    ck_assert_str_eq(file, "");
    is_line(y, line);
    ck_assert_int_eq(eddy_line_of(z, &file), 0);
}
END_TEST

/* Errors while building: a node that cannot be, a missing input, a call without a node. */
START_TEST(building)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 3));
    eddy_matmul(x, x, .name = "product"); int line = __LINE__;
    names_line(eddy_graph_message(g), line, true);
    eddy_graph_clear_error(g);
    eddy_square(EDDY_NO_TENSOR);
    eddy_add(x, eddy_none(g)); line = __LINE__;
    names_line(eddy_graph_message(g), line, false);
}
END_TEST

/* Errors of runs name the line of the node, and so does the check for NaN. */
START_TEST(running)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = eddy_add(x, eddy_doubles(g, 1, 2)); int line = __LINE__;
    eddy_tensor z = eddy_sum(eddy_log(x));
    eddy_session *s = eddy_session_new(g, .check_numerics = true);
    eddy_array   *three = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(3), (double[]){ 1, 2, -1 });
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(y), NULL), EDDY_OK);
    names_line(eddy_session_message(s), line, true);
    eddy_array *out[1] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(z), out), EDDY_CHECK_FAILED);
    names_line(eddy_session_message(s), line + 1, true);
    eddy_array_free(three);
    eddy_session_free(s);
}
END_TEST

/* The line of a node is added once, also where a call repeats the error of another. */
START_TEST(once)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 3));
    eddy_matmul(x, x, .name = "product");
    const char *first = strstr(eddy_graph_message(g), __FILE__);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, __FILE__));
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(x), NULL);
    first = strstr(eddy_session_message(s), __FILE__);
    ck_assert(!first || !strstr(first + 1, __FILE__));
    eddy_session_free(s);
}
END_TEST

/* A long name of a file fits, and the message stays whole. */
START_TEST(long_files)
{
    char file[600];
    memset(file, 'f', sizeof file);
    file[sizeof file - 1] = 0;
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2, 3));
    eddy_line_(file, 7);
    (eddy_matmul_with)(EDDY_ARGS(eddy_matmul_args, x, x));
    eddy_line_(NULL, 0);
    const char *message = eddy_graph_message(g);
    ck_assert_ptr_nonnull(strstr(message, "inner dimensions 3 and 2 differ [node 'MatMul', fff"));
    ck_assert_ptr_nonnull(strstr(message, "ff:7]"));
}
END_TEST

Suite *lines_suite(void)
{
    Suite *suite = suite_create("lines");
    TCase *c = tcase_create("lines");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, nodes);
    tcase_add_test(c, without_lines);
    tcase_add_test(c, building);
    tcase_add_test(c, running);
    tcase_add_test(c, once);
    tcase_add_test(c, long_files);
    suite_add_tcase(suite, c);
    return suite;
}
