/* test_checkpoint_calls.c -- calls of checkpoints with what is missing, of another graph, or
 * garbage, and maps of garbage: each is refused or does no harm, and the session is as before. */
#include "build/gen/suites.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static memory_files  files;
static eddy_graph   *g, *other;
static eddy_session *s;
static eddy_tensor   v, w, x, foreign;

static void begin(void)
{
    memory_files_init(&files);
    g = eddy_graph_new(.files = &files.table);
    other = eddy_graph_new();
    s = eddy_session_new(g);
    v = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)), .name = "v");
    w = eddy_variable(g, eddy_ones(g, EDDY_INT32, EDDY_SHAPE(4)), .name = "w");
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2));
    foreign = eddy_variable(other, eddy_ones(other, EDDY_FLOAT32, EDDY_SHAPE(2, 3)), .name = "v");
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_save_checkpoint(s, "good"), EDDY_OK);
}

/* The variables have their values, and the session saves and restores. */
static void end(void)
{
    eddy_array *a = eddy_variable_value(s, v), *b = eddy_variable_value(s, w);
    for (int i = 0; i < 6; i++) ck_assert_double_eq(eddy_array_get(a, i), 1);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(eddy_array_get(b, i), 1);
    ck_assert_int_eq(eddy_save_checkpoint(s, "last"), EDDY_OK);
    ck_assert_int_eq(eddy_restore_checkpoint(s, "last"), EDDY_OK);
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_session_free(s);
    eddy_graph_free(g);
    eddy_graph_free(other);
    memory_files_free(&files);
}

static void refused(eddy_status status)
{
    ck_assert_int_ne(status, EDDY_OK);
    ck_assert_str_ne(eddy_session_message(s), "");
}

START_TEST(without_handles)
{
    eddy_kept_checkpoint k;
    eddy_error           e = { 0 };
    ck_assert_int_eq(eddy_checkpoint_count(NULL), 0);
    ck_assert_int_eq(eddy_checkpoint_find(NULL, "v"), -1);
    ck_assert_int_eq(eddy_checkpoint_metadata_count(NULL), 0);
    ck_assert_ptr_null(eddy_checkpoint_text(NULL, "key"));
    ck_assert_ptr_null(eddy_checkpoint_entry_at(NULL, 0).name);
    ck_assert_ptr_null(eddy_checkpoint_metadata_at(NULL, 0).key);
    ck_assert_ptr_null(eddy_checkpoint_open_with(NULL));
    eddy_checkpoint *empty = eddy_checkpoint_new_with(NULL);
    ck_assert_int_eq(eddy_checkpoint_count(empty), 0);
    refused(eddy_restore_checkpoint(s, .checkpoint = empty, .partial = true));
    eddy_checkpoint_free(empty);
    eddy_checkpoint_free(NULL);
    eddy_restore_report_free(NULL);
    ck_assert_int_eq(eddy_save_checkpoint_with(NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_restore_checkpoint_with(NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_keep_checkpoint_with(NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_restore_latest_with(NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_latest_checkpoint(NULL, NULL, &k, &e), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_best_checkpoint(".", NULL, NULL, &e), EDDY_INVALID_ARGUMENT);
    ck_assert_int_ne(eddy_latest_checkpoint(".", &(const eddy_files){ 0 }, &k, NULL), EDDY_OK);
}
END_TEST

/* Numbers and names that an open checkpoint does not have. */
START_TEST(absent_entries)
{
    eddy_checkpoint *c = eddy_checkpoint_open("good", &files.table);
    static const int numbers[] = { -1, INT_MIN, 2, INT_MAX };
    ck_assert_int_eq(eddy_checkpoint_count(c), 2);
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(eddy_checkpoint_entry_at(c, numbers[i]).name);
        ck_assert_ptr_null(eddy_checkpoint_metadata_at(c, numbers[i]).value);
    }
    ck_assert_int_eq(eddy_checkpoint_find(c, NULL), -1);
    ck_assert_ptr_null(eddy_checkpoint_text(c, NULL));
    ck_assert_ptr_null(eddy_checkpoint_value(c, NULL, NULL));
    eddy_checkpoint_free(c);
}
END_TEST

START_TEST(of_other_graphs)
{
    const eddy_named_variable pairs[] = { { "v", foreign }, { NULL, v }, { "v", x } };
    const eddy_tensor         wrong[] = { foreign, x, EDDY_NO_TENSOR };
    for (int i = 0; i < 3; i++) {
        refused(eddy_save_checkpoint(s, "f", EDDY_LIST(wrong[i])));
        refused(eddy_restore_checkpoint(s, "good", EDDY_LIST(wrong[i])));
        refused(eddy_save_checkpoint(s, "f", .named = &pairs[i], .n_named = 1));
        refused(eddy_restore_checkpoint(s, "good", .named = &pairs[i], .n_named = 1));
    }
    refused(eddy_save_checkpoint(s, "f", .n_named = -2, .named = pairs));
    refused(eddy_restore_checkpoint(s, "good", .n_named = 2));
    refused(eddy_save_checkpoint(s, "f", .n_metadata = -1));
    ck_assert_ptr_null(memory_files_get(&files, "f"));
    eddy_session_free(s);
    ck_assert_int_eq(eddy_save_checkpoint(s, "f"), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_restore_checkpoint(s, "good"), EDDY_INVALID_ARGUMENT);
    s = eddy_session_new(g);
    ck_assert_int_eq(eddy_restore_checkpoint(s, "good"), EDDY_OK);
}
END_TEST

/* ---------------------------------------------------------- maps of garbage -- */

static bool fills(void *context, const char *variable, eddy_shape shape, char *entry, size_t size,
                  const char **axes)
{
    (void)context, (void)variable, (void)shape, (void)axes;
    memset(entry, 'a', size);
    return true;
}

static char longest[9000];

/* It worked, or there is a message. */
static void tried(eddy_status status)
{
    if (status != EDDY_OK) refused(status);
}

static void try_map(const eddy_checkpoint_map *m)
{
    tried(eddy_save_checkpoint(s, "f", EDDY_LIST(v), .map = m));
    tried(eddy_restore_checkpoint(s, "good", EDDY_LIST(v), .map = m));
    memory_files_free(&files);               /* it holds few files */
    memory_files_init(&files);
    ck_assert_int_eq(eddy_save_checkpoint(s, "good"), EDDY_OK);
}

static const eddy_checkpoint_rule garbage[] = {
    { .variables = { NULL } },
    { { "v" }, { "v", "v", "v", "v" }, .parts = 0 },
    { { "v" }, { "v" }, .entries_axis = INT_MAX },
    { { "v" }, { "v", "q" }, .entries_axis = INT_MIN },
    { { "v", "w" }, { "v" }, .variables_axis = INT_MAX },
    { { "v", "w" }, { "v" }, .variables_axis = INT_MIN, .equal = true },
    { { "v", "v" }, { "v" }, .variables_axis = 1 },
    { { "v" }, { "v" }, .parts = 4, .order = { 9, 9, 9, 9 } },
    { { "v" }, { "v" }, .parts = 3, .added = INT_MAX },
    { { "v" }, { "v" }, .forget_part = INT_MIN },
    { { "v" }, { "v" }, .rows = INT_MAX },
    { { "v" }, { "v" }, .rows = -1 },
    { { "v" }, { "v" }, .state = "nothing" },
    { { "v" }, { "v" }, .beside = "*" },
    { { "v" }, { "v" }, .beside = "nothing" },
    { { "*" }, { "*" }, .beside = "*" },
    { { "*********" }, { "v" }, .parts = 0 },
    { { "**/**/**/**/**/**/**/**/**" }, { "v" }, .parts = 0 },
    { { "**" }, { "**.**" }, .parts = 0 },
    { { longest }, { "v" }, .parts = 0 },
    { { "v" }, { longest }, .parts = 0 },
    { { "v" }, { "v" }, .axes = longest },
    { { "v" }, { "v" }, .axes = "a (heads b) -> heads b a" },
    { { "v" }, { "v" }, .axes = "(heads a) b -> heads a b" },
    { { "**" }, { "**" }, .parts = 0 },
};

START_TEST(maps)
{
    static const char        fillings[] = { '*', 'n', '(', '/' };
    static const int64_t     heads[] = { 0, -3, INT64_MAX, 2 };
    const eddy_checkpoint_scope scopes[] = {
        { NULL, NULL }, { "v", NULL }, { "*", longest }, { "v", "*.*.*" }
    };
    memset(longest, fillings[_i], sizeof longest - 1);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        const eddy_checkpoint_map m = { .rules = &garbage[i], .n_rules = 1, .heads = heads[_i],
                                        .separator = _i == 1 ? longest : _i == 2 ? "" : NULL,
                                        .scopes = _i == 3 ? scopes : NULL, .n_scopes = 4 };
        try_map(&m);
    }
}
END_TEST

START_TEST(maps_without_rules)
{
    eddy_checkpoint_map itself = { .then = &itself };
    const eddy_checkpoint_map others[] = {
        { .n_rules = 5 }, { .n_rules = -5, .n_scopes = -3 }, { .n_scopes = 9 }, { .name = fills }
    };
    try_map(&itself);
    for (int i = 0; i < 4; i++) try_map(&others[i]);
}
END_TEST

Suite *checkpoint_calls_suite(void)
{
    Suite *suite = suite_create("checkpoint_calls");
    TCase *t = tcase_create("calls");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, without_handles);
    tcase_add_test(t, absent_entries);
    tcase_add_test(t, of_other_graphs);
    tcase_add_loop_test(t, maps, 0, 4);
    tcase_add_test(t, maps_without_rules);
    suite_add_tcase(suite, t);
    return suite;
}
