/* test_messages_checkpoints.c -- error messages of checkpoints: damaged indexes, calls with wrong
 * arguments, values that do not fit, and memory that runs out. */
#include "graph/files/safetensors.h"
#include "tests/lib/golden.h"
#include "tests/lib/files_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

Suite *messages_checkpoints_suite(void);

static eddy_tensor zeros(const char *name, eddy_dtype d, eddy_shape shape)
{
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, d, shape), .name = name);
    eddy_array *a = eddy_array_new(d, shape);
    fits(g);
    ck_assert_int_eq(eddy_variable_set(s, v, a), EDDY_OK);
    eddy_array_free(a);
    return v;
}

static void says(eddy_status got, eddy_status want)
{
    ck_assert_msg(got == want, "%s, not %s; before: %s", eddy_status_name(got),
                  eddy_status_name(want), eddy_session_message(s));
    ck_assert_int_eq(eddy_session_status(s), want);
    golden_line(eddy_session_message(s));
}

/* ---------------------------------------------------------------- indexes -- */

#define MAP(text) "{\"metadata\":{\"total_size\":8},\"weight_map\":{" text "}}"

static const struct { const char *text; eddy_status status; } indexes[] = {
    { "", EDDY_CORRUPT },
    { "[]", EDDY_CORRUPT },
    { "{}", EDDY_CORRUPT },
    { "{\"metadata\":{}}", EDDY_CORRUPT },
    { "{\"weight_map\":[]}", EDDY_CORRUPT },
    { MAP("\"v\":\"part\\u0000\""), EDDY_CORRUPT },
    { "{\"weight_map\":{},\"weight_map\":{}}", EDDY_CORRUPT },
    { "{\"weight_map\":{}} x", EDDY_CORRUPT },
    { "{\"a\":}", EDDY_CORRUPT },
    { "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1", EDDY_CORRUPT },
    { "{\"a\":[1,{\"b\":null}", EDDY_CORRUPT },
    { "{\"\xff\":1}", EDDY_CORRUPT },
    { MAP("\"v\":1"), EDDY_CORRUPT },
    { MAP("\"v\""), EDDY_CORRUPT },
    { MAP("\"v\":\"\""), EDDY_CORRUPT },
    { MAP("\"v\":\"/part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"../part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"a/../../part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"a/..\""), EDDY_CORRUPT },
    { MAP("\"v\":\"./part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"a//part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"\\u002e\\u002e/part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"part\\u0000\""), EDDY_CORRUPT },
    { MAP("\"v\\u0000\":\"part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"part\",\"v\":\"part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"other\""), EDDY_NOT_FOUND },
    { MAP("\"w\":\"part\""), EDDY_CORRUPT },
    { MAP("\"v\":\"broken\""), EDDY_CORRUPT },
};

static void index_fails(const char *text, size_t n, eddy_status status)
{
    eddy_error e = { 0 };
    memory_files_put(&files, "d/i.json", text, n);
    ck_assert_ptr_null(eddy_checkpoint_open("d/i.json", &files.table, .error = &e));
    ck_assert_int_eq(e.status, status);
    ck_assert_ptr_null(eddy_checkpoint_open("d/i.json", &files.table));
    golden_error(&e);
}

START_TEST(of_indexes)
{
    const eddy_array *one = EDDY_FLOATS(1, 2);
    golden_begin("session/checkpoint_indexes");
    eddy__safetensors_write(&files.table, NULL, "d/part", 1, (const char *[]){ "v" }, &one, 0, NULL,
                            NULL);
    memory_files_put(&files, "d/broken", "broken", 6);
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        index_fails(indexes[i].text, strlen(indexes[i].text), indexes[i].status);
        files.entries[2].name[0] = 0;    /* the next one has the same name */
    }
    index_fails("{\"weight_map\":{}}\0", 18, EDDY_CORRUPT);
    files.entries[2].name[0] = 0;
    char *large = calloc(100000001, 1);
    ck_assert_ptr_nonnull(large);
    index_fails(large, 100000001, EDDY_LIMIT);
    free(large);
    golden_end();
    ck_assert_int_eq(eddy_save_checkpoint(s, "d/i.json"), EDDY_OK);      /* replaces it */
    eddy_checkpoint *empty = eddy_checkpoint_open("d/i.json", &files.table);
    ck_assert(empty && eddy_checkpoint_count(empty) == 0);
    eddy_checkpoint_free(empty);
    static const char good[] =
        " { \"x\" : [ 1, -2.5e3 , true, \"\\\"\", {} ] , \"weight_map\" : { \"v\" : \"part\" } } ";
    eddy_error e = { 0 };
    memory_files_put(&files, "d/good.json", good, sizeof good - 1);
    eddy_checkpoint *c = eddy_checkpoint_open("d/good.json", &files.table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_checkpoint_count(c), 1);
    eddy_checkpoint_free(c);
}
END_TEST

/* -------------------------------------------------------------- arguments -- */

static void lists(eddy_tensor v)
{
    const eddy_named_variable unnamed = { NULL, v };
    const eddy_metadata       pairs[] = { { "eddy.x", "1" } };
    says(eddy_save_checkpoint(s), EDDY_INVALID_ARGUMENT);
    says(eddy_restore_checkpoint(s), EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f", .n_named = 1), EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f", .named = &unnamed, .n_named = 1), EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f", EDDY_LIST(v), .named = &unnamed, .n_named = 1),
         EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f", .dtype = EDDY_INT32), EDDY_BAD_DTYPE);
    says(eddy_save_checkpoint(s, "f", .shard_bytes = 0), EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f", .n_metadata = 1), EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f", .metadata = pairs, .n_metadata = 1), EDDY_INVALID_ARGUMENT);
    says(eddy_save_checkpoint(s, "f.json", (eddy_list){ 2, (eddy_tensor[]){ v, v } }),
         EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(memory_files_count(&files), 0);
}

static void try_rule(eddy_checkpoint_rule r, eddy_list variables, eddy_status status)
{
    const eddy_checkpoint_map map = { .rules = &r, .n_rules = 1 };
    says(eddy_save_checkpoint(s, "f", variables, .map = &map), status);
}

static void rules(eddy_tensor v, eddy_tensor w)
{
    const eddy_list one = EDDY_LIST(v), other = EDDY_LIST(w);
    try_rule((eddy_checkpoint_rule){ { "v" }, { NULL }, .parts = 0 }, one, EDDY_INVALID_ARGUMENT);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "*" }, .parts = 0 }, one, EDDY_INVALID_ARGUMENT);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x" }, .parts = 5 }, one, EDDY_INVALID_ARGUMENT);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x" }, .parts = 2, .order = { 1, 1 } }, one,
             EDDY_INVALID_ARGUMENT);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x", "y" }, .rows = 2 }, one,
             EDDY_INVALID_ARGUMENT);
    static const char *const axes[] = {
        "",         "a",       "a -> b",   "a a -> a a",
        "a -> a a", "a ->",    "(a -> a",  "a -> (a",
        "A -> A",   "a ->> a", "2 a -> a", "a b c d e f g h i -> a b c d e f g h i"
    };
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        try_rule((eddy_checkpoint_rule){ { "v" }, { "x" }, .axes = axes[i] }, one,
                 EDDY_INVALID_ARGUMENT);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x" }, .axes = "(a b) c -> a b c" }, one,
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x", "y" }, .entries_axis = 1 }, one,
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x", "y" }, .entries_axis = 2 }, one,
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x" }, .parts = 2, .order = { 1, 0 } }, one,
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x", "y" }, .parts = 1, .state = "" }, one,
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "v" }, { "x", "y" }, .parts = 2, .added = 2 }, one,
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "v", "w" }, { "x" }, .parts = 0 }, one,
             EDDY_INVALID_ARGUMENT);
    try_rule((eddy_checkpoint_rule){ { "v", "w" }, { "x" }, .parts = 0 }, EDDY_LIST(v, w),
             EDDY_BAD_SHAPE);
    try_rule((eddy_checkpoint_rule){ { "*" }, { "x" }, .parts = 0 }, EDDY_LIST(v, w),
             EDDY_INVALID_ARGUMENT);
    (void)other;
    eddy_tensor eight = zeros("eight", EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 2));
    try_rule((eddy_checkpoint_rule){ { "eight" }, { "x" }, .rows = 1 }, EDDY_LIST(eight),
             EDDY_BAD_SHAPE);
}

/* --------------------------------------------------------------- values -- */

static void try_restore(eddy_checkpoint_rule r, eddy_tensor v, eddy_status status)
{
    const eddy_checkpoint_map map = { .rules = &r, .n_rules = 1, .forget_bias = 1 };
    says(eddy_restore_checkpoint(s, "f", EDDY_LIST(v), .map = &map), status);
}

static void values(eddy_tensor v, eddy_tensor w)
{
    enum { MANY = 40 };
    eddy_tensor many[MANY];
    char        name[64];
    eddy_tensor eight = zeros("eight", EDDY_COMPLEX64, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1));
    says(eddy_save_checkpoint(s, "f", EDDY_LIST(eight)), EDDY_UNIMPLEMENTED);
    eddy_tensor whole = zeros("whole", EDDY_INT64, EDDY_SHAPE(2)),
                byte = zeros("byte", EDDY_UINT8, EDDY_SHAPE(2));
    ck_assert_int_eq(eddy_variable_set(s, whole, EDDY_INT64S(1, 256)), EDDY_OK);
    ck_assert_int_eq(eddy_save_checkpoint(
                         s, "f", EDDY_LIST(v, whole, zeros("six", EDDY_FLOAT32, EDDY_SHAPE(6)))),
                     EDDY_OK);
    const eddy_named_variable pair = { "whole", byte };
    says(eddy_restore_checkpoint(s, "f", .named = &pair, .n_named = 1), EDDY_OUT_OF_RANGE);
    try_restore((eddy_checkpoint_rule){ { "w" }, { "v" }, .parts = 0 }, w, EDDY_BAD_SHAPE);
    try_restore((eddy_checkpoint_rule){ { "w" }, { "none" }, .parts = 0 }, w, EDDY_NOT_FOUND);
    try_restore((eddy_checkpoint_rule){ { "w" }, { "v" }, .axes = "n -> n" }, w, EDDY_BAD_SHAPE);
    try_restore((eddy_checkpoint_rule){ { "w" }, { "v" }, .rows = 3 }, w, EDDY_BAD_SHAPE);
    try_restore((eddy_checkpoint_rule){ { "w" }, { "v", "whole" }, .parts = 0 }, w, EDDY_BAD_DTYPE);
    try_restore((eddy_checkpoint_rule){ { "v", "w" }, { "v" }, .parts = 0 }, w, EDDY_BAD_SHAPE);
    try_restore((eddy_checkpoint_rule){ { "whole" }, { "whole", "whole" }, .parts = 1, .added = 1 },
                whole, EDDY_BAD_DTYPE);
    try_restore((eddy_checkpoint_rule){ { "whole" }, { "whole" }, .parts = 1, .forget_part = 1 },
                whole, EDDY_BAD_DTYPE);
    zeros("like_w", EDDY_FLOAT32, EDDY_SHAPE(5));
    try_restore((eddy_checkpoint_rule){ { "like_w", "w" }, { "six" }, .parts = 0 }, w,
                EDDY_BAD_SHAPE);
    says(eddy_restore_checkpoint(s, "f", EDDY_LIST(w), .partial = true), EDDY_NOT_FOUND);
    says(eddy_restore_checkpoint(s, "f", EDDY_LIST(v, w, byte)), EDDY_NOT_FOUND);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "a_variable_of_a_rather_long_name_%d", i);
        many[i] = zeros(name, EDDY_FLOAT32, EDDY_SHAPE(2));
    }
    says(eddy_restore_checkpoint(s, "f", (eddy_list){ MANY, many }), EDDY_NOT_FOUND);
    eddy_error e = { 0 };
    ck_assert_ptr_null(eddy_checkpoint_value(NULL, "v", &e));
    golden_error(&e);
    eddy_checkpoint *c = eddy_checkpoint_open("f", &files.table);
    ck_assert_ptr_null(eddy_checkpoint_value(c, "none", &e));
    golden_error(&e);
    eddy_checkpoint_free(c);
}

START_TEST(of_calls)
{
    eddy_tensor v = zeros("v", EDDY_FLOAT32, EDDY_SHAPE(2, 3)),
                w = zeros("w", EDDY_FLOAT32, EDDY_SHAPE(5));
    golden_begin("session/checkpoints");
    lists(v);
    rules(v, w);
    values(v, w);
    char longest[EDDY_MAX_PATH];
    memset(longest, 'n', sizeof longest);
    memcpy(longest + sizeof longest - 6, ".json", 6);
    says(eddy_save_checkpoint(s, longest, EDDY_LIST(v)), EDDY_LIMIT);
    golden_end();
}
END_TEST

/* ---------------------------------------------------------------- memory -- */

static void without_memory(failing_allocator *f, eddy_error *e)
{
    memory_files m;
    const long   at = f->at;
    memory_files_init(&m);
    f->at = 0;
    eddy_graph   *h = eddy_graph_new(&f->table, .files = &m.table);
    eddy_session *t = eddy_session_new(h);
    eddy_tensor   x = eddy_placeholder(h, "x", EDDY_FLOAT32, EDDY_SHAPE(1, 2, 3));
    eddy_rnn(x, EDDY_CELL(EDDY_GRU_CELL, 2, .reset_after = true), "gru");
    eddy_tensor   z = eddy_variable(h, eddy_zeros(h, EDDY_COMPLEX64, EDDY_SHAPE(2)), .name = "z");
    fits(h);
    runs(t, eddy_initializer(h));
    eddy_checkpoint_map map = eddy_torch_map();
    eddy_restore_report r = { 0 };
    f->at = f->calls + at;
    if (eddy_save_checkpoint(t, "i.json", .map = &map, .dtype = EDDY_BFLOAT16, .shard_bytes = 20) ==
        EDDY_OK)
        eddy_restore_checkpoint(t, "i.json", .map = &map, .report = &r);
    (void)z;
    ck_assert(eddy_session_status(t) == EDDY_OK || r.n_restored == 0);
    eddy_restore_report_free(&r);
    e->status = eddy_session_status(t);
    snprintf(e->message, sizeof e->message, "%s", eddy_session_message(t));
    eddy_session_free(t);
    eddy_graph_free(h);
    memory_files_free(&m);
}

/* ------------------------------------------- checkpoints of other formats -- */

static int freed;

static eddy_array *constant_value(void *context, int i, eddy_error *error)
{
    (void)context;
    (void)error;
    return eddy_array_of(EDDY_FLOAT32, 10 + i);
}

/* Breaks the rule to set the error. */
static eddy_array *no_value(void *context, int i, eddy_error *error)
{
    (void)context, (void)i, (void)error;
    return NULL;
}

static void count_free(void *context)
{
    (void)context;
    freed++;
}

static void refused(const eddy_checkpoint_entry *entries, int n, bool has_value)
{
    eddy_error e = { 0 };
    freed = 0;
    ck_assert_ptr_null(
        eddy_checkpoint_new(entries, n, has_value ? constant_value : NULL, count_free, NULL, &e));
    ck_assert_int_eq(freed, 1);
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    golden_line(e.message);
}

START_TEST(of_foreign)
{
    const eddy_checkpoint_entry two[] = {
        { "w", "F32", EDDY_FLOAT32, { 0 }, 4 }, { "a", "F32", EDDY_FLOAT32, { 0 }, 4 }
    };
    const eddy_checkpoint_entry same[] = { two[0], two[1], two[0] }, none[] = { { .name = NULL } };
    golden_begin("session/checkpoint_foreign");
    refused(two, 2, false);
    refused(NULL, 1, true);
    refused(two, -1, true);
    refused(none, 1, true);
    refused(same, 3, true);
    eddy_error       e = { 0 };
    eddy_tensor      v = zeros("w", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_checkpoint *c = eddy_checkpoint_new(two, 2, no_value);
    ck_assert_int_eq(eddy_restore_checkpoint(s, .checkpoint = c, .partial = true),
                     EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(s));
    ck_assert_ptr_null(eddy_checkpoint_value(c, "a", &e));
    golden_line(e.message);
    eddy_checkpoint_free(c);
    golden_end();
    e = (eddy_error){ 0 };
    c = eddy_checkpoint_new(NULL, 0, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_checkpoint_count(c), 0);
    eddy_checkpoint_free(c);
    c = eddy_checkpoint_new(two, 2, constant_value, count_free, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_str_eq(eddy_checkpoint_entry_at(c, 0).name, "a");
    ck_assert_int_eq(eddy_checkpoint_find(c, "w"), 1);
    ck_assert_int_eq(eddy_checkpoint_metadata_count(c), 0);
    eddy_tensor b = zeros("b", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_restore_report r;
    ck_assert_int_eq(eddy_restore_checkpoint(s, .checkpoint = c, .partial = true, .report = &r),
                     EDDY_OK);
    ck_assert_int_eq(r.n_restored, 1);
    ck_assert_str_eq(r.left_over[0], "a");
    eddy_restore_report_free(&r);
    eddy_array *got = eddy_variable_value(s, v);
    ck_assert_double_eq(eddy_array_item(got), 10);
    eddy_array_free(got);
    (void)b;
    freed = 0;
    eddy_checkpoint_free(c);
    ck_assert_int_eq(freed, 1);
}
END_TEST

START_TEST(of_memory)
{
    golden_begin("session/checkpoint_memory");
    golden_no_memory(without_memory);
    golden_end();
}
END_TEST

Suite *messages_checkpoints_suite(void)
{
    Suite *suite = suite_create("messages_checkpoints");
    TCase *c = tcase_create("messages");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_indexes);
    tcase_add_test(c, of_calls);
    tcase_add_test(c, of_foreign);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
