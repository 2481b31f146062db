/* test_profile_loops.c -- what profiles say of loops and branches: iterations, branches taken, and
 * the time of the instructions in bodies. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

#include <stdlib.h>

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g, .profile = true, .threads = 1);
    ck_assert_ptr_nonnull(s);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_tensor whole_number(double v) { return eddy_number(g, EDDY_INT32, v); }

static void run(eddy_tensor y, int times)
{
    for (int i = 0; i < times; i++)
        ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL) == EDDY_OK, "%s",
                      eddy_session_message(s));
}

static void run_with(eddy_tensor x, double v, eddy_tensor y)
{
    eddy_array *a = eddy_array_new(eddy_dtype_of(x), EDDY_SCALAR);
    eddy_array_set(a, 0, v);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_array_free(a);
}

/* The text of a profile, owned by the caller. */
static char *written(eddy_status (*profile)(eddy_session *, FILE *))
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(to);
    ck_assert_int_eq(profile(s, to), EDDY_OK);
    fclose(to);
    return text;
}

/* The profile has these texts, one after the other. */
static void has(eddy_status (*profile)(eddy_session *, FILE *), int n, const char *const *parts)
{
    char *text = written(profile), *at = text;
    for (int i = 0; i < n; i++) {
        at = strstr(at, parts[i]);
        ck_assert_msg(at != NULL, "no '%s' in its place in\n%s", parts[i], text);
        at += strlen(parts[i]);
    }
    free(text);
}
#define HAS(profile, ...)                                                                 \
    has(profile, (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *)),   \
        (const char *[]){ __VA_ARGS__ })

BODY(few, Less(x[0], c[0]))
BODY(halve, Add(x[0], 1), Mul(Tanh(x[1]), 0.5))
BODY(sine, Sin(x[0]))
BODY(cosine, Cos(x[0]))
BODY(as_twice, eddy_concat(EDDY_LIST(x[0], x[0]), 0))
BODY(as_sines, Sin(x[0]))
BODY(append, Add(x[0], 1), eddy_concat(EDDY_LIST(x[1], Sin(x[1])), 0))

START_TEST(loops)
{
    eddy_tensor n = whole_number(7), y[EDDY_MAX_RESULTS];
    eddy_while_loop(FUNCTION(few, n), PLAIN(halve),
                    EDDY_LIST(whole_number(0), eddy_random_uniform(g, EDDY_SHAPE(100))), y,
                    .name = "shrink");
    run(y[1], 4);
    HAS(eddy_session_profile, "plan 1: 4 runs", "loop 'shrink", "4 calls, 7.0 iterations a call",
        "instruction of the condition", "        32 ", "Less",
        "instruction of the body", "        28 ", "Fused(", "all plans: 4 runs");
    HAS(eddy_session_profile_json, "\"op\": \"Loop\"", "\"iterations\": 28, \"calls\": 4",
        "{\"plan\": 1, \"in\": \"shrink", "\"part\": \"condition\", \"runs\": 32",
        "{\"plan\": 1, \"in\": \"shrink", "\"part\": \"body\", \"runs\": 28", "\"op\": \"Fused\"");
}
END_TEST

static int inner_loop(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *numbers = context;
    eddy_tensor        r[EDDY_MAX_RESULTS];
    eddy_while_loop(FUNCTION(few, numbers[0]), PLAIN(halve), EDDY_LIST(numbers[1], in.at[1]), r,
                    .name = "inner");
    y[0] = Add(in.at[0], 1);
    y[1] = r[1];
    return 2;
}

START_TEST(nested_loops)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_while_loop(
        FUNCTION(few, whole_number(3)), FUNCTION(inner_loop, whole_number(2), whole_number(0)),
        EDDY_LIST(whole_number(0), eddy_random_uniform(g, EDDY_SHAPE(100))), y, .name = "outer");
    run(y[1], 2);
    HAS(eddy_session_profile, "loop 'outer", "2 calls, 3.0 iterations a call", "loop '",
        "inner", "6 calls, 2.0 iterations a call", "all plans: 2 runs");
}
END_TEST

BODY(as_sine, Sin(c[0]))
BODY(as_cosine, Cos(c[0]))

START_TEST(branches)
{
    eddy_tensor p = eddy_placeholder(g, "p", EDDY_BOOL, EDDY_SCALAR), y;
    eddy_tensor x = eddy_random_uniform(g, EDDY_SHAPE(100));
    eddy_cond(p, FUNCTION(as_sine, x), FUNCTION(as_cosine, x), &y, .name = "choice");
    for (int i = 0; i < 5; i++) run_with(p, i < 3, y);
    HAS(eddy_session_profile, "branches of 'choice", "5 calls", "branch 0 (3 calls)", "Sin(",
        "branch 1 (2 calls)", "Cos(");
    HAS(eddy_session_profile_json, "\"part\": \"branch 0\", \"runs\": 3", "\"op\": \"Sin\"",
        "\"part\": \"branch 1\", \"runs\": 2", "\"op\": \"Cos\"");
}
END_TEST

/* Such loops run outside of plans. */
START_TEST(loops_whose_shapes_change)
{
    const eddy_shape shapes[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };
    eddy_tensor      y[EDDY_MAX_RESULTS], n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    eddy_while_loop(FUNCTION(few, n), PLAIN(append),
                    EDDY_LIST(whole_number(0), eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2))), y,
                    shapes, .name = "grow");
    eddy_tensor sum = eddy_sum(y[1]);
    for (int i = 0; i < 3; i++) run_with(n, 5, sum);
    HAS(eddy_session_profile, "node by node, because shapes change in a run", "loop 'grow",
        "3 calls, 5.0 iterations a call", "node of the body", "        15 ", "all plans:");
    HAS(eddy_session_profile_json, "{\"plan\": null", "\"op\": \"Loop\"", "\"iterations\": 15");
    HAS(eddy_session_profile_json, "{\"plan\": null, \"in\": \"grow", "\"calls\": 15");
}
END_TEST

static int twice_or_sine(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_function wide = { .build = as_twice, .context = context };
    const eddy_function sine = { .build = as_sines, .context = context };
    y[0] = Add(x.at[0], 1);
    eddy_cond(eddy_less(x.at[0], whole_number(2)), wide, sine, &y[1], .x = EDDY_LIST(x.at[1]),
              .name = "choice");
    return 2;
}

/* Nodes of branches and conditions that run one by one. */
START_TEST(parts_of_bodies)
{
    const eddy_shape shapes[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };
    eddy_tensor      y[EDDY_MAX_RESULTS];
    eddy_while_loop(FUNCTION(few, whole_number(5)), PLAIN(twice_or_sine),
                    EDDY_LIST(whole_number(0), eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2))), y,
                    shapes, .name = "grow");
    run(eddy_sum(y[1]), 1);
    const char *const parts[] = { "\"part\": \"branch 0\", \"op\": \"ConcatV2\"",
                                  "\"part\": \"branch 1\", \"op\": \"Sin\"",
                                  "\"part\": \"condition\", \"op\": \"Less\"",
                                  "\"part\": \"body\", \"op\": \"Case\"" };
    for (int i = 0; i < 4; i++) HAS(eddy_session_profile_json, parts[i]);
    HAS(eddy_session_profile, "Sin [node '", "', branch 1]");
}
END_TEST

/* The report of a compilation says which plan belongs to which node. */
START_TEST(reports)
{
    char       *text = NULL;
    size_t      size = 0;
    FILE       *to = open_memstream(&text, &size);
    eddy_tensor n = whole_number(7), x = eddy_fill(eddy_ints(g, 3), eddy_number(g, F64, 1));
    eddy_tensor y[EDDY_MAX_RESULTS], z;
    eddy_while_loop(FUNCTION(few, n), PLAIN(halve), EDDY_LIST(whole_number(0), x), y,
                    .name = "shrink");
    eddy_cond(Greater(Sum(y[1]), 0), PLAIN(sine), PLAIN(cosine), &z, EDDY_LIST(y[1]),
              .name = "turn");
    eddy_session *told = eddy_session_new(g, .report = to);
    eddy_array   *out = eddy_fetch(told, z);
    ck_assert_ptr_nonnull(out);
    eddy_array_free(out);
    eddy_session_free(told);
    fclose(to);
    const char *const parts[] = { "condition of 'shrink/loop': plan of ",
                                  "body of 'shrink/loop': plan of ",
                                  "branch 0 of 'turn/case': plan of ",
                                  "branch 1 of 'turn/case': plan of ", "\nplan of " };
    for (int i = 0; i < 5; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "no '%s' in\n%s", parts[i], text);
    free(text);
}
END_TEST

Suite *profile_loops_suite(void)
{
    Suite *suite = suite_create("profile_loops");
    TCase *c = tcase_create("profiles");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, loops);
    tcase_add_test(c, nested_loops);
    tcase_add_test(c, branches);
    tcase_add_test(c, loops_whose_shapes_change);
    tcase_add_test(c, parts_of_bodies);
    tcase_add_test(c, reports);
    suite_add_tcase(suite, c);
    return suite;
}
