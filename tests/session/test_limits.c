/* test_limits.c -- the limits that docs/guide/errors.md lists: values just within them work, and
 * values just beyond are refused with a message. */
#include "build/gen/suites.h"
#include "tests/lib/graph_fixture.h"

#include <math.h>
#include <stdlib.h>

START_TEST(rank)
{
    eddy_shape s = { .rank = 8, .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
    eddy_placeholder(g, "x", EDDY_FLOAT32, s);
    fits(g);
    const int ranks[] = { 9, 10, INT32_MAX, -2, INT32_MIN };
    for (int i = 0; i < 5; i++) {
        s.rank = ranks[i];
        ck_assert(!eddy_shape_is_valid(s));
        ck_assert_ptr_null(eddy_array_new(EDDY_FLOAT32, s));
        ck_assert(!eddy_is_valid(eddy_placeholder(g, "y", EDDY_FLOAT32, s)));
        ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
        eddy_graph_clear_error(g);
    }
    eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1));
    x = eddy_expand_dims(x, 0);
    fits(g);
    eddy_expand_dims(x, 0);
    fails(g, EDDY_LIMIT, "the limit is 8");
}
END_TEST

/* 2^48 elements, 2^47 bytes; beyond int64 as well. */
START_TEST(sizes)
{
    const int64_t most = (int64_t)1 << 48, bytes = (int64_t)1 << 47;
    ck_assert(eddy_shape_is_valid(EDDY_SHAPE(most)));
    ck_assert(eddy_shape_is_valid(EDDY_SHAPE(most / 2, 2)));
    ck_assert(!eddy_shape_is_valid(EDDY_SHAPE(most + 1)));
    ck_assert(!eddy_shape_is_valid(EDDY_SHAPE(most / 2, 2, 2)));
    ck_assert(!eddy_shape_is_valid(EDDY_SHAPE(INT64_MAX)));
    ck_assert(!eddy_shape_is_valid(EDDY_SHAPE((int64_t)1 << 32, (int64_t)1 << 32)));
    eddy_placeholder(g, "a", EDDY_UINT8, EDDY_SHAPE(bytes));
    eddy_placeholder(g, "b", EDDY_FLOAT32, EDDY_SHAPE(bytes / 4));
    fits(g);
    const int64_t beyond[] = { bytes / 4 + 1, (int64_t)1 << 46, most, INT64_MAX };
    for (int i = 0; i < 4; i++) {
        ck_assert(!eddy_is_valid(eddy_placeholder(g, "c", EDDY_FLOAT32, EDDY_SHAPE(beyond[i]))));
        ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
        eddy_graph_clear_error(g);
    }
}
END_TEST

START_TEST(names)
{
    static char name[5000];
    memset(name, 'n', 4080);
    eddy_placeholder(g, name + 1, EDDY_FLOAT32, EDDY_SCALAR);
    fits(g);
    eddy_placeholder(g, name, EDDY_FLOAT32, EDDY_SCALAR);
    fails(g, EDDY_LIMIT, "a name of 4080 characters is too long");
    memset(name, 'm', 4999);
    eddy_placeholder(g, name, EDDY_FLOAT32, EDDY_SCALAR);
    fails(g, EDDY_LIMIT, "too long");
}
END_TEST

START_TEST(messages)
{
    enum { MOST = 1011 };
    char text[MOST + 2] = "";
    memset(text, 'm', MOST);
    eddy_fail(g, EDDY_CORRUPT, "%s", text);
    ck_assert_str_eq(eddy_graph_message(g), text);
    eddy_graph_clear_error(g);
    text[MOST] = 'n';
    eddy_fail(g, EDDY_CORRUPT, "%s", text);
    ck_assert_uint_eq(strlen(eddy_graph_message(g)), MOST);
    ck_assert_mem_eq(eddy_graph_message(g), text, MOST);
}
END_TEST

START_TEST(inputs)
{
    enum { MOST = 65535 };
    eddy_tensor *x = malloc((MOST + 1) * sizeof *x);
    for (int i = 0; i <= MOST; i++) x[i] = i == 0 ? eddy_scalar(g, 1) : x[0];
    eddy_add_n(((eddy_list){ MOST, x }), NULL);
    fits(g);
    eddy_add_n(((eddy_list){ MOST + 1, x }), NULL);
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    eddy_graph_clear_error(g);
    eddy_unstack(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(MOST)));
    fits(g);
    eddy_unstack(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(MOST + 1)));
    fails(g, EDDY_LIMIT, "65535");
    free(x);
}
END_TEST

START_TEST(threads_and_timeouts)
{
    const eddy_tensor y = eddy_scalar(g, 1);
    const int         threads[] = { 0, 1, 256, 257, -1, INT32_MAX };
    for (int i = 0; i < 6; i++) {
        eddy_session *s = eddy_session_new(g, .threads = threads[i]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL),
                         i < 3 ? EDDY_OK : EDDY_INVALID_ARGUMENT);
        eddy_session_free(s);
    }
    const double beyond = nextafter(1e9, 2e9), timeouts[] = { 0, 1e9, beyond, -1e-9, (double)NAN };
    for (int i = 0; i < 5; i++) {
        const eddy_status want = i < 2 ? EDDY_OK : EDDY_INVALID_ARGUMENT;
        eddy_session     *s = eddy_session_new(g), *t = eddy_session_new(g, .timeout = timeouts[i]);
        ck_assert_int_eq(eddy_session_set_timeout(s, timeouts[i]), want);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL), EDDY_OK);
        ck_assert_int_eq(eddy_run(t, EDDY_FEED(), EDDY_FETCH(y), NULL), want);
        eddy_session_free(s);
        eddy_session_free(t);
    }
}
END_TEST

START_TEST(ranks_of_jacobians)
{
    const eddy_tensor four = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1));
    const eddy_tensor five = eddy_expand_dims(four, 0);
    eddy_tensor       j;
    eddy_jacobian(eddy_square(four), EDDY_LIST(four), &j);
    fits(g);
    ck_assert_int_eq(eddy_shape_of(j).rank, 8);
    is_number(j, 2);
    eddy_jacobian(eddy_square(five), EDDY_LIST(five), &j);
    fails(g, EDDY_LIMIT, "would have rank 10; the limit is 8");
    eddy_jacobian(eddy_expand_dims(eddy_square(four), 0), EDDY_LIST(four), &j);
    fails(g, EDDY_LIMIT, "would have rank 9; the limit is 8");
    eddy_hessians(eddy_sum(eddy_square(four)), EDDY_LIST(four), &j);
    fits(g);
    is_number(j, 2);
    eddy_hessians(eddy_sum(eddy_square(five)), EDDY_LIST(five), &j);
    fails(g, EDDY_LIMIT, "would have rank 10; the limit is 8");
}
END_TEST

/* ------------------------------------------------------------- functions -- */

/* The context is the number of results. */
static int as_many(eddy_list x, eddy_tensor *y, void *context)
{
    const int n = *(const int *)context;
    for (int i = 0; i < n && i < EDDY_MAX_RESULTS; i++) y[i] = eddy_add(x.at[0], eddy_scalar(g, i));
    return n;
}

START_TEST(results_of_a_function)
{
    const eddy_tensor   x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1));
    const eddy_tensor   yes = eddy_greater(eddy_sum(x), eddy_scalar(g, 0));
    eddy_tensor         y[EDDY_MAX_RESULTS];
    int                 n = EDDY_MAX_RESULTS;
    const eddy_function f = { .build = as_many, .context = &n };
    ck_assert_int_eq(n, 64);
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x), y), n);
    is_number(y[n - 1], n);
    ck_assert_int_eq(eddy_cond(yes, f, f, y, EDDY_LIST(x)), n);
    is_number(y[n - 1], n);
    n++;
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x), y), 0);
    fails(g, EDDY_LIMIT, "65; the limit is 64");
    ck_assert_int_eq(eddy_cond(yes, f, f, y, EDDY_LIST(x)), 0);
    fails(g, EDDY_LIMIT, "is 65; expected 1 to 64");
}
END_TEST

static bool opaque_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_status opaque_kernel(eddy_kernel *k)
{
    memcpy(k->out[0]->data, k->in[0]->data, sizeof(float));
    return EDDY_OK;
}
static const eddy_op_def opaque = { .name = "Opaque", .min_inputs = 1, .max_inputs = 1,
                                    .outputs = 1, .infer = opaque_infer, .kernel = opaque_kernel };

static int without_rule(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_apply1(&opaque, NULL, x.at[0]);
    return 1;
}

/* Of an operation that has no rule for batches. */
START_TEST(examples_of_a_map)
{
    enum { MOST = 1 << 14 };
    eddy_tensor y;
    for (int n = MOST; n <= MOST + 1; n++) {
        const eddy_tensor   x = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(n));
        const eddy_function f = { .build = without_rule };
        ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x), &y), n == MOST);
        if (n == MOST) ck_assert_int_eq(eddy_shape_of(y).dim[0], MOST);
        else fails(g, EDDY_UNIMPLEMENTED, "1 to 16384");
    }
    const eddy_tensor open = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_vmap((eddy_function){ .build = without_rule }, EDDY_LIST(open), &y);
    fails(g, EDDY_UNIMPLEMENTED, "a known number of examples");
}
END_TEST

/* ---------------------------------------------------------------- memory -- */

/* The status of a run of y with this limit. */
static eddy_status run_within(eddy_tensor y, size_t bytes, char *message)
{
    eddy_session     *s = eddy_session_new(g, .threads = 1, .max_bytes = bytes);
    const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL);
    snprintf(message, 1012, "%s", eddy_session_message(s));
    eddy_session_free(s);
    return status;
}

/* A run fits in the memory that it needs, and not in a byte less. The message names what is large.
 */
START_TEST(memory_of_a_run)
{
    char        says[1012];
    size_t      needs = 0, limit = 0;
    eddy_tensor x = eddy_random_uniform(g, EDDY_SHAPE(1000, 30), .name = "x");
    eddy_tensor y = eddy_cumsum(eddy_matmul(x, eddy_transpose(x), .name = "product"));
    y = eddy_sum(eddy_sort(y));
    ck_assert_int_eq(run_within(y, 3999999, says), EDDY_LIMIT);
    ck_assert_int_eq(sscanf(says, "the run needs at least %zu bytes", &needs), 1);
    ck_assert_uint_eq(needs, 4000000);
    ck_assert_int_eq(run_within(y, needs, says), EDDY_LIMIT);
    ck_assert_int_eq(
        sscanf(says, "the run needs %zu bytes; max_bytes of the session is %zu;", &needs, &limit),
        2);
    ck_assert_uint_eq(limit, 4000000);
    ck_assert_msg(strstr(says, "'product' 4000000") && strstr(says, "'x' 120000"), "%s", says);
    ck_assert_int_eq(run_within(y, needs, says), EDDY_OK);
    ck_assert_int_eq(run_within(y, needs - 1, says), EDDY_LIMIT);
}
END_TEST

/* The ten largest of twelve values, the largest first, whole even with the longest names. */
START_TEST(largest_values)
{
    enum { VALUES = 12, NAMED = 10, LONGEST = 4079, SHOWN = 50 };
    static const int order[VALUES] = { 5, 0, 11, 3, 8, 1, 10, 7, 2, 9, 4, 6 };
    char             says[1012], want[1012] = "; largest values: ", name[LONGEST + 1] = "";
    eddy_tensor      x[VALUES];
    size_t           largest = 0, all = 0;
    for (int i = 0; i < VALUES; i++) {
        memset(name, 'n', LONGEST);
        name[0] = (char)('a' + order[i]);
        const int64_t n = 1000000 - 1000 * order[i];
        x[i] = eddy_random_uniform(g, EDDY_SHAPE(n), .name = name);
        all += (size_t)n * sizeof(float);
    }
    fits(g);
    for (int k = 0; k < NAMED; k++)
        sprintf(strchr(want, 0), "%s'%c%.*s' %d", k ? ", " : "", 'a' + k, SHOWN - 1, name + 1,
                4000000 - 4000 * k);
    for (int least = 0; least < 2; least++) {
        eddy_session *s = eddy_session_new(g, .threads = 1, .max_bytes = least ? 3999999 : all - 1);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), (eddy_list){ VALUES, x }, NULL), EDDY_LIMIT);
        snprintf(says, sizeof says, "%s", eddy_session_message(s));
        ck_assert_ptr_nonnull(strstr(says, "; largest"));
        ck_assert_str_eq(strstr(says, "; largest"), want);
        ck_assert_uint_lt(strlen(says), sizeof says - 1);
        ck_assert_int_eq(sscanf(says, least ? "the run needs at least %zu" : "the run needs %zu",
                                &largest), 1);
        ck_assert_uint_eq(largest, least ? 4000000 : all);
        eddy_session_free(s);
    }
}
END_TEST

/* What eddy_eval keeps, and a session reports, to the byte. */
START_TEST(memory_of_evaluations)
{
    char              want[100] = "";
    const eddy_tensor x = eddy_random_uniform(g, EDDY_SHAPE(1000), .name = "x");
    const eddy_tensor y = eddy_exp(eddy_reshape(x, EDDY_SHAPE(10, 100))), z = eddy_sum(y);
    for (int less = 0; less < 2; less++) {
        eddy_session *s = eddy_session_new(g, .threads = 1, .max_bytes = 8004 - (size_t)less);
        ck_assert_ptr_nonnull(eddy_eval_in(s, y));
        ck_assert_uint_eq(eddy_session_memory_info(s).evaluated_bytes, 8000);
        ck_assert_int_eq(eddy_eval_in(s, z) == NULL, less);
        ck_assert_uint_eq(eddy_session_memory_info(s).evaluated_bytes, less ? 8000 : 8004);
        snprintf(want, sizeof want, "[node '%s']; largest values: 'x' 4000, '%s' 4000",
                 eddy_name_of(z), eddy_name_of(y));
        if (less) run_fails(s, EDDY_LIMIT, want);
        eddy_eval_forget(s);
        ck_assert_uint_eq(eddy_session_memory_info(s).evaluated_bytes, 0);
        eddy_session_free(s);
    }
}
END_TEST

/* At most 16384 plans, and with little memory for them few. */
START_TEST(plans)
{
    enum { MOST = 1 << 14, SIZES = MOST + 100 };
    static const float v[SIZES];
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = eddy_exp(x);
    for (int k = 0; k < 2; k++) {
        eddy_session *s = eddy_session_new(g, .threads = 1, .kept_bytes = k ? 10000 : SIZE_MAX);
        for (int64_t n = 1; n <= (k ? 1000 : SIZES); n++) {
            ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(v, n) }), EDDY_FETCH(y), NULL),
                             EDDY_OK);
            ck_assert_int_le(eddy_session_plan_info(s).plans, k ? 20 : MOST);
        }
        if (k == 0) ck_assert_int_eq(eddy_session_plan_info(s).plans, MOST);
        eddy_session_free(s);
    }
}
END_TEST

/* The instructions of plans count in kept_bytes, as the values do that plans keep. */
START_TEST(instructions_count)
{
    static const float v[100];
    enum { KEPT = 1000000 };
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY)), y = x;
    for (int i = 0; i < 40; i++) y = eddy_sort(eddy_reverse(y, EDDY_AXES(0)));
    eddy_session *s = eddy_session_new(g, .threads = 1, .kept_bytes = KEPT);
    for (int64_t n = 1; n <= 100; n++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(v, n) }), EDDY_FETCH(y), NULL),
                         EDDY_OK);
        const eddy_memory_info m = eddy_session_memory_info(s);
        ck_assert_uint_le(m.plan_bytes + m.value_bytes + m.run_bytes, KEPT);
    }
    ck_assert_int_gt(eddy_session_plan_info(s).plans, 1);
    eddy_session_free(s);
}
END_TEST

/* The memory that a session reports as kept: none at first, and never more than its limit. */
START_TEST(kept_memory)
{
    static const float v[64 * 64];
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 64));
    eddy_tensor   w = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(64, 32)));
    eddy_tensor   y = eddy_sum(eddy_sort(eddy_matmul(x, w))), init = eddy_initializer(g);
    eddy_session *s = eddy_session_new(g, .threads = 1, .kept_bytes = 20000);
    eddy_memory_info m = eddy_session_memory_info(s);
    ck_assert(m.plans == 0 && m.plan_bytes == 0 && m.run_bytes == 0 && m.variable_bytes == 0);
    runs(s, init);
    ck_assert_uint_eq(eddy_session_memory_info(s).variable_bytes, 4 * 64 * 32);
    for (int64_t n = 1; n <= 64; n++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(v, n, 64) }), EDDY_FETCH(y), NULL),
                         EDDY_OK);
        m = eddy_session_memory_info(s);
        ck_assert(m.plans > 0 && m.plan_bytes > 0 && m.run_bytes >= 4 * 32 * (size_t)n);
        ck_assert_uint_le(m.plan_bytes + m.value_bytes, 60000);
    }
    ck_assert_int_eq(m.plans, eddy_session_plan_info(s).plans);
    eddy_session_free(s);
    ck_assert_int_eq(eddy_session_memory_info(s).plans, 0);
    ck_assert_int_eq(eddy_session_memory_info(NULL).plans, 0);
}
END_TEST

START_TEST(graph_files)
{
    eddy_error e = { 0 };
    eddy_scalar(g, 1), eddy_scalar(g, 2);
    char         *text = eddy_graph_to_yaml(g);
    const int64_t n = (int64_t)strlen(text);
    for (int less = 0; less < 2; less++) {
        eddy_graph *h = eddy_graph_load("f", text, .max_bytes = n - less, .error = &e);
        ck_assert_int_eq(e.status, less ? EDDY_LIMIT : EDDY_OK);
        eddy_graph_free(h);
        e = (eddy_error){ 0 };
        h = eddy_graph_load("f", text, .max_nodes = 2 - less, .error = &e);
        ck_assert_int_eq(e.status, less ? EDDY_LIMIT : EDDY_OK);
        eddy_graph_free(h);
    }
    eddy_string_free(text);
}
END_TEST

/* They take 5 GB and a minute, so only EDDY_LARGE=1 makes them. */
START_TEST(nodes)
{
    const eddy_tensor x = eddy_scalar(g, 2);
    for (int i = 1; i < 1 << 24; i++) eddy_neg(x);
    fits(g);
    ck_assert_int_eq(eddy_graph_size(g), 1 << 24);
    ck_assert(!eddy_is_valid(eddy_neg(x)));
    fails(g, EDDY_LIMIT, "a graph holds at most 16777216 nodes");
    ck_assert_int_eq(eddy_graph_size(g), 1 << 24);
    ck_assert_ptr_nonnull(eddy_eval(x));
    ck_assert_double_eq(eddy_array_get(eddy_eval(x), 0), 2);
}
END_TEST

Suite *limits_suite(void)
{
    Suite *s = suite_create("limits");
    TCase *c = tcase_create("limits");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, rank);
    tcase_add_test(c, sizes);
    tcase_add_test(c, names);
    tcase_add_test(c, messages);
    tcase_add_test(c, inputs);
    tcase_add_test(c, threads_and_timeouts);
    tcase_add_test(c, ranks_of_jacobians);
    tcase_add_test(c, results_of_a_function);
    tcase_add_test(c, examples_of_a_map);
    tcase_add_test(c, memory_of_a_run);
    tcase_add_test(c, largest_values);
    tcase_add_test(c, memory_of_evaluations);
    tcase_add_test(c, plans);
    tcase_add_test(c, instructions_count);
    tcase_add_test(c, kept_memory);
    tcase_add_test(c, graph_files);
    suite_add_tcase(s, c);
    TCase *large = tcase_create("large");
    tcase_add_checked_fixture(large, setup, teardown);
    tcase_set_timeout(large, 300);
    if (getenv("EDDY_LARGE")) tcase_add_test(large, nodes);
    suite_add_tcase(s, large);
    return s;
}
