/* test_rule_values.c -- values of variables from those of entries by each kind of rule and the
 * reverse: shapes that a rule does not fit, and each allocation failing. */
#include "session/checkpoints/internal.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include <check.h>
#include <string.h>

Suite *rule_values_suite(void);

enum { F32 = EDDY_FLOAT32, I32 = EDDY_INT32, U8 = EDDY_UINT8, MOST = 3 };
#define S(r, ...) { .rank = r, .dim = { __VA_ARGS__ } }
#define NONE      { .rank = 0 }

/* From n arrays to m; to_entries: the former are variables. */
typedef struct row {
    const char          *refusal;       /* NULL: it fits */
    bool                 to_entries;
    int                  dtype, n, m;
    eddy_shape           from[MOST], to[MOST];
    eddy_checkpoint_rule rule;
    double               forget_bias;
    int64_t              state_size;
} row;

static const char equal_parts[] = "the parts of its last axis are not equal";
static const char other_sizes[] = "its rule has variables of other sizes";
static const char other_rank[] = "a variable of its rule has another rank or an unknown shape";

static const row rows[] = {
    /* Entries that are joined, and a whole that is divided. */
    { NULL, false, F32, 2, 1, { S(2, 2, 3), S(2, 4, 3) }, { S(2, 6, 3) },
      .rule = { .entries_axis = 0 } },
    { NULL, false, F32, 1, 2, { S(2, 6, 3) }, { S(2, 2, 3), S(2, 4, 3) }, .state_size = 0 },
    { NULL, false, F32, 1, 2, { S(2, 3, 6) }, { S(2, 3, 2), S(2, 3, 4) },
      .rule = { .variables_axis = -1 } },
    { other_sizes, false, F32, 1, 2, { S(2, 6, 3) }, { S(2, 2, 3), S(2, 3, 3) },
      .state_size = 0 },
    { other_rank, false, F32, 1, 2, { S(2, 6, 3) }, { S(2, 2, 3), S(1, 4) }, .state_size = 0 },
    { other_rank, false, F32, 1, 2, { S(2, 6, 3) }, { S(2, -1, 3), S(2, 4, 3) },
      .state_size = 0 },
    { other_rank, false, F32, 1, 2, { S(2, 6, 3) }, { S(2, 2, 3), S(2, 4, 3) },
      .rule = { .variables_axis = 2 } },
    { other_rank, false, F32, 1, 2, { S(2, 6, 3) }, { S(2, 2, 3), S(2, 4, 3) },
      .rule = { .variables_axis = -3 } },
    { "cannot be divided as its rule says", false, F32, 1, 2,
      { S(2, 6, 3) }, { S(2, 7, 3), S(2, 4, 3) },
      .state_size = 0 },
    { NULL, true, F32, 1, 2, { S(2, 6, 3) }, { S(2, 3, 3), S(2, 3, 3) }, .state_size = 0 },
    { NULL, true, F32, 2, 1, { S(2, 2, 3), S(2, 4, 3) }, { S(2, 6, 3) }, .state_size = 0 },
    { "its entries have no equal sizes", true, F32, 1, 2, { S(2, 5, 3) }, { NONE, NONE },
      .state_size = 0 },
    { "it has no such axis", true, F32, 1, 2, { S(2, 6, 3) }, { NONE, NONE },
      .rule = { .entries_axis = 2 } },
    { "it has no such axis", true, F32, 1, 2, { S(2, 6, 3) }, { NONE, NONE },
      .rule = { .entries_axis = -3 } },
    /* Parts in another order, and axes. */
    { NULL, false, I32, 1, 1, { S(2, 2, 8) }, { S(2, 2, 8) },
      .rule = { .parts = 4, .order = { 0, 2, 1, 3 } } },
    { NULL, true, I32, 1, 1, { S(2, 2, 8) }, { S(2, 2, 8) },
      .rule = { .parts = 4, .order = { 0, 2, 1, 3 } } },
    { NULL, false, I32, 1, 1, { S(1, 6) }, { S(1, 6) },
      .rule = { .parts = 3, .order = { 1, 2, 0 } } },
    { NULL, true, I32, 1, 1, { S(1, 6) }, { S(1, 6) },
      .rule = { .parts = 3, .order = { 1, 2, 0 } } },
    { equal_parts, false, I32, 1, 1, { S(2, 2, 7) }, { S(2, 2, 7) },
      .rule = { .parts = 4, .order = { 0, 2, 1, 3 } } },
    { NULL, false, I32, 1, 1, { S(2, 2, 8) }, { S(2, 8, 2) }, .rule = { .axes = "a b -> b a" } },
    { NULL, true, I32, 1, 1, { S(2, 2, 8) }, { S(2, 8, 2) }, .rule = { .axes = "a b -> b a" } },
    { "does not fit the axes", true, I32, 1, 1, { S(1, 2) }, { NONE },
      .rule = { .axes = "a b -> b a" } },
    /* A number that is added to a part. */
    { NULL, false, F32, 1, 1, { S(1, 8) }, { S(1, 8) },
      .rule = { .parts = 4, .forget_part = 2 }, .forget_bias = 1 },
    { NULL, true, F32, 1, 1, { S(1, 8) }, { S(1, 8) },
      .rule = { .parts = 4, .forget_part = 2 }, .forget_bias = 1 },
    { NULL, false, I32, 1, 1, { S(1, 7) }, { S(1, 7) },
      .rule = { .parts = 4, .forget_part = 2 } },
    { "the parts of its only axis are not equal", false, F32, 1, 1, { S(1, 7) }, { NONE },
      .rule = { .parts = 4, .forget_part = 2 }, .forget_bias = 1 },
    { "the parts of its only axis are not equal", true, F32, 1, 1, { S(2, 1, 8) }, { NONE },
      .rule = { .parts = 4, .forget_part = 2 }, .forget_bias = 1 },
    { "is int32; its rule adds numbers", true, I32, 1, 1, { S(1, 8) }, { NONE },
      .rule = { .parts = 4, .forget_part = 2 }, .forget_bias = 1 },
    /* Entries whose first parts are added. */
    { NULL, false, F32, 2, 1, { S(1, 6), S(1, 6) }, { S(1, 8) },
      .rule = { .parts = 3, .added = 2 } },
    { NULL, true, F32, 1, 2, { S(1, 8) }, { S(1, 6), S(1, 6) },
      .rule = { .parts = 3, .added = 2 } },
    { NULL, true, F32, 1, 2, { S(1, 0) }, { S(1, 0), S(1, 0) },
      .rule = { .parts = 3, .added = 2 } },
    { "its entries have different shapes", false, F32, 2, 1, { S(1, 6), S(1, 9) }, { NONE },
      .rule = { .parts = 3, .added = 2 } },
    { "the parts of its entry are not equal", false, F32, 2, 1, { S(1, 7), S(1, 7) }, { NONE },
      .rule = { .parts = 3, .added = 2 } },
    { "is int32; its rule adds numbers", false, I32, 2, 1, { S(1, 6), S(1, 6) }, { NONE },
      .rule = { .parts = 3, .added = 2 } },
    { equal_parts, true, F32, 1, 2, { S(1, 7) }, { NONE, NONE },
      .rule = { .parts = 3, .added = 2 } },
    /* Rows of one entry. */
    { NULL, false, F32, 1, 1, { S(2, 2, 3) }, { S(1, 6) }, .rule = { .rows = 2 } },
    { NULL, false, F32, 1, 1, { S(2, 2, 0) }, { S(1, 0) }, .rule = { .rows = 2 } },
    { NULL, true, F32, 1, 1, { S(1, 6) }, { S(2, 2, 3) }, .rule = { .rows = 2 } },
    { NULL, true, F32, 1, 1, { S(1, 0) }, { S(2, 2, 0) }, .rule = { .rows = 2 } },
    { NULL, true, U8, 1, 1, { S(1, 2) }, { S(2, 2, 1) }, .rule = { .rows = 2 } },
    { NULL, false, F32, 1, 1, { S(2, 1, 6) }, { S(1, 6) }, .rule = { .rows = 1 } },
    { NULL, true, F32, 1, 1, { S(1, 6) }, { S(2, 1, 6) }, .rule = { .rows = 1 } },
    { "its entry has another number of rows", false, F32, 1, 1, { S(2, 3, 3) }, { NONE },
      .rule = { .rows = 2 } },
    { "its entry has another number of rows", false, F32, 1, 1, { NONE }, { NONE },
      .rule = { .rows = 2 } },
    { "its entry would have 9 dimensions", true, F32, 1, 1,
      { S(8, 2, 1, 1, 1, 1, 1, 1, 1) }, { NONE },
      .rule = { .rows = 2 } },
    /* The last rows are those of a state. */
    { NULL, true, F32, 1, 2, { S(2, 5, 8) }, { S(2, 3, 8), S(2, 2, 8) },
      .rule = { .parts = 4, .state = "" } },
    { NULL, true, F32, 1, 2, { S(2, 5, 8) }, { S(2, 1, 8), S(2, 4, 8) },
      .rule = { .parts = 4, .state = "" }, .state_size = 4 },
    { "it has no rows for the state", true, F32, 1, 2, { S(2, 5, 8) }, { NONE, NONE },
      .rule = { .parts = 4, .state = "" }, .state_size = 6 },
    { "it has no rows for the state", true, F32, 1, 3, { S(2, 5, 8) }, { NONE, NONE },
      .rule = { .parts = 4, .state = "" } },
};

static bool apply(const row *r, const eddy_allocator *a, eddy_array *const *from, eddy_array **to,
                  eddy_error *e)
{
    static char names[2][MOST][2] = { { "a", "b", "c" }, { "d", "e", "f" } };
    const eddy_checkpoint_map map = { .forget_bias = r->forget_bias };
    rule_match m = { .map = &map, .rule = r->rule,
                     .n_variables = r->to_entries ? r->n : r->m,
                     .n_entries = r->to_entries ? r->m : r->n };
    for (int i = 0; i < MOST; i++) m.variables[i] = names[0][i], m.entries[i] = names[1][i];
    ck_assert(!r->rule.axes || eddy__axes_parse(r->rule.axes, &m.axes));
    *e = (eddy_error){ 0 };
    return r->to_entries ? eddy__rule_to_entries(a, &m, from, r->state_size, to, e)
                         : eddy__rule_to_variables(a, &m, from, r->to, to, e);
}

static void free_arrays(eddy_array **x)
{
    for (int i = 0; i < MOST; i++) eddy_array_free(x[i]), x[i] = NULL;
}

START_TEST(values)
{
    const row  *r = &rows[_i];
    eddy_array *from[MOST] = { NULL }, *to[MOST] = { NULL }, *again[MOST] = { NULL };
    eddy_error  e;
    double      sum = 0, taken = 0;
    for (int i = 0; i < r->n; i++) {
        from[i] = eddy_array_new((eddy_dtype)r->dtype, r->from[i]);
        for (int64_t k = 0; k < eddy_array_count(from[i]); k++)
            eddy_array_set(from[i], k, (double)k + 1), sum += (double)k + 1;
    }
    const bool fits = apply(r, &eddy__libc, from, to, &e);
    ck_assert_msg(fits == !r->refusal, "%s", e.message);
    if (!fits) {
        ck_assert_msg(strstr(e.message, r->refusal) != NULL, "%s", e.message);
        ck_assert(e.status == EDDY_BAD_SHAPE || e.status == EDDY_BAD_DTYPE);
        ck_assert(!to[0] && !to[1]);
    }
    for (int i = 0; fits && i < r->m; i++) {
        ck_assert(eddy_shape_equal(eddy_array_shape(to[i]), r->to[i]));
        for (int64_t k = 0; k < eddy_array_count(to[i]); k++) taken += eddy_array_get(to[i], k);
    }
    /* Two of the eight elements change by the bias. */
    if (fits) ck_assert_double_eq(taken, sum + (r->to_entries ? 2 : -2) * r->forget_bias);
    bool done = false;
    for (long at = 1; fits && !done; at++) {
        failing_allocator f;
        failing_allocator_init(&f);
        f.at = at;
        done = apply(r, &f.table, from, again, &e);
        ck_assert_msg(done || e.status == EDDY_NO_MEMORY, "%ld: %s", at, e.message);
        /* It names the first variable, or the first entry where only entries are known. */
        ck_assert_msg(done || strstr(e.message, "'a'") || strstr(e.message, "'d'"), "%s",
                      e.message);
        for (int i = 0; i < r->m; i++)
            ck_assert(done ? eddy_array_equal(to[i], again[i]) : again[i] == NULL);
        free_arrays(again);
        ck_assert_int_eq(f.live, 0);
    }
    free_arrays(from);
    free_arrays(to);
}
END_TEST

/* Where each element goes; those of array i are 100 i + 1, 100 i + 2, ... */
START_TEST(answers)
{
    golden_begin("session/rule_values");
    for (size_t row_at = 0; row_at < sizeof rows / sizeof *rows; row_at++) {
        const row  *r = &rows[row_at];
        eddy_array *from[MOST] = { NULL }, *to[MOST] = { NULL };
        eddy_error  e;
        char        line[600];
        for (int i = 0; i < r->n; i++) {
            from[i] = eddy_array_new((eddy_dtype)r->dtype, r->from[i]);
            for (int64_t k = 0; k < eddy_array_count(from[i]); k++)
                eddy_array_set(from[i], k, 100 * i + (double)k + 1);
        }
        const bool fits = apply(r, &eddy__libc, from, to, &e);
        snprintf(line, sizeof line, "row %zu:%s", row_at, fits ? "" : " ");
        for (int i = 0; fits && i < r->m; i++) {
            answer_add(line, sizeof line, "%s ", i ? ";" : "");
            answer_add_array(line, sizeof line, to[i]);
        }
        if (!fits) answer_add(line, sizeof line, "%s", e.message);
        golden_line(line);
        free_arrays(from);
        free_arrays(to);
    }
    golden_end();
}
END_TEST

/* Parts, orders and rows at their limits. */
START_TEST(sane_rules)
{
    static const struct { bool good; eddy_checkpoint_rule rule; } cases[] = {
        { true, { .parts = 4 } },
        { false, { .parts = 5 } },
        { false, { .parts = -1 } },
        { true, { .parts = 2, .order = { 1, 0 } } },
        { true, { .parts = 4, .order = { 3, 2, 1, 0 } } },
        { false, { .parts = 2, .order = { 0, 2 } } },
        { false, { .parts = 2, .order = { 0, -1 } } },
        { false, { .parts = 2, .order = { 1, 1 } } },
        { false, { .parts = 3, .order = { 0, 1, 1 } } },
        { true, { .parts = 1, .added = 1 } },
        { true, { .parts = 2, .added = 2 } },
        { false, { .parts = 2, .added = 3 } },
        { false, { .parts = 2, .added = -1 } },
        { true, { .parts = 2, .forget_part = 2 } },
        { false, { .parts = 2, .forget_part = 3 } },
        { false, { .parts = 2, .forget_part = -1 } },
        { true, { .rows = 4 } },
        { false, { .rows = 5 } },
        { false, { .rows = -1 } },
        { true, { .parts = 1, .state = "" } },
        { false, { .state = "" } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_checkpoint_rule rule = cases[i].rule;
        rule.variables[0] = "w";
        rule.entries[0] = "x";
        const eddy_checkpoint_map map = { .rules = &rule, .n_rules = 1 };
        eddy_graph *g = eddy_graph_new();
        eddy_arena  texts = { .allocator = &eddy__libc };
        eddy_error  e = { 0 };
        rule_match  m;
        const bool  good = eddy__match_rule(&map, g, "w", EDDY_SCALAR, &texts, &m, &e);
        ck_assert_msg(good == cases[i].good, "case %zu: %s", i, e.message);
        ck_assert(good || strstr(e.message, "has parts that are not valid"));
        eddy__arena_free(&texts);
        eddy_graph_free(g);
    }
}
END_TEST

START_TEST(row_of_two_entries)
{
    eddy_checkpoint_rule rule = { .variables = { "w" }, .entries = { "x", "y" }, .rows = 1 };
    const eddy_checkpoint_map map = { .rules = &rule, .n_rules = 1 };
    eddy_graph *g = eddy_graph_new();
    eddy_arena  texts = { .allocator = &eddy__libc };
    eddy_error  e = { 0 };
    rule_match  m;
    ck_assert(!eddy__match_rule(&map, g, "w", EDDY_SCALAR, &texts, &m, &e));
    ck_assert_msg(strstr(e.message, "has rows of several entries"), "%s", e.message);
    eddy__arena_free(&texts);
    eddy_graph_free(g);
}
END_TEST

/* As many variables and entries as a rule may have, equal but for one axis. */
START_TEST(most_names)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    eddy_graph *g = eddy_graph_new();
    for (int i = 0; i < 4; i++)
        eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(i + 1, 3)), .name = names[i]);
    for (int axis = -2; axis < 2; axis++) {
        eddy_checkpoint_rule rule = { .variables = { "a", "b", "c", "d" },
                                      .entries = { "w", "x", "y", "z" },
                                      .variables_axis = axis,
                                      .equal = true };
        const eddy_checkpoint_map map = { .rules = &rule, .n_rules = 1 };
        eddy_arena texts = { .allocator = &eddy__libc };
        eddy_error e = { 0 };
        rule_match m;
        ck_assert_msg(eddy__match_rule(&map, g, "c", EDDY_SHAPE(3, 3), &texts, &m, &e), "%s",
                      e.message);
        const bool fits = axis % 2 == 0;         /* else the entry has the variable's name */
        ck_assert_int_eq(m.n_variables, fits ? 4 : 1);
        ck_assert_int_eq(m.n_entries, fits ? 4 : 1);
        ck_assert_str_eq(m.variables[m.n_variables - 1], fits ? "d" : "c");
        ck_assert_str_eq(m.entries[m.n_entries - 1], fits ? "z" : "c");
        eddy__arena_free(&texts);
    }
    eddy_graph_free(g);
}
END_TEST

/* Names for a state, or a variable beside, with a star that the variable's name lacks. */
START_TEST(stars_of_a_state)
{
    for (int beside = 0; beside < 2; beside++) {
        eddy_checkpoint_rule rule = { .variables = { "w" }, .entries = { "x" }, .parts = 1 };
        const eddy_checkpoint_map map = { .rules = &rule, .n_rules = 1 };
        eddy_graph *g = eddy_graph_new();
        eddy_arena  texts = { .allocator = &eddy__libc };
        eddy_error  e = { 0 };
        rule_match  m;
        if (beside) rule.beside = "*";
        else rule.state = "*";
        ck_assert(!eddy__match_rule(&map, g, "w", EDDY_SCALAR, &texts, &m, &e));
        ck_assert_msg(strstr(e.message, "more stars in '*'"), "%s", e.message);
        eddy__arena_free(&texts);
        eddy_graph_free(g);
    }
}
END_TEST

Suite *rule_values_suite(void)
{
    Suite *s = suite_create("rule_values");
    TCase *t = tcase_create("values");
    tcase_add_loop_test(t, values, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, answers);
    tcase_add_test(t, sane_rules);
    tcase_add_test(t, row_of_two_entries);
    tcase_add_test(t, most_names);
    tcase_add_test(t, stars_of_a_state);
    suite_add_tcase(s, t);
    return s;
}
