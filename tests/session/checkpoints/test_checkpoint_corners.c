/* test_checkpoint_corners.c -- checkpoints at the corners of what is accepted: names with stars and
 * scopes, rules of two variables, complex numbers, odd indexes, long paths, and lists of kept
 * checkpoints that another program has changed. */
#include "graph/files/safetensors.h"
#include "tests/lib/golden.h"
#include "tests/lib/files_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

Suite *checkpoint_corners_suite(void);

#define WORKS(call) ck_assert_msg((call) == EDDY_OK, "%s", eddy_session_message(s))

static void refused(eddy_status got, eddy_status want, const char *message)
{
    ck_assert_msg(got == want && strstr(eddy_session_message(s), message), "%s: %s",
                  eddy_status_name(got), eddy_session_message(s));
}

/* A variable of the first numbers. */
static eddy_tensor numbers(const char *name, eddy_dtype d, eddy_shape shape)
{
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, d, shape), .name = name);
    eddy_array *a = eddy_array_new(d, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, (double)i + 1);
    fits(g);
    WORKS(eddy_variable_set(s, v, a));
    eddy_array_free(a);
    return v;
}

static eddy_checkpoint *opened(const char *path)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_checkpoint_open(path, &files.table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    return c;
}

static void has_entry(const char *path, const char *name, eddy_shape shape)
{
    eddy_checkpoint *c = opened(path);
    const int        i = eddy_checkpoint_find(c, name);
    ck_assert_msg(i >= 0, "%s", eddy_checkpoint_entry_at(c, 0).name);
    ck_assert(eddy_shape_equal(eddy_checkpoint_entry_at(c, i).shape, shape));
    eddy_checkpoint_free(c);
}

/* -------------------------------------------------------------------- names -- */

static const struct { const char *pattern, *entry, *name, *want; } stars[] = {
    { "*/kernel", "*.w", "a/kernel", "a.w" },
    { "*/kernel", "*.w", "a/b/kernel", "a/b/kernel" },         /* * stands for no slash */
    { "**y", "**x", "ay", "ax" },
    { "**y", "**x", "y", "x" },
    { "**y", "**.x", "y", "x" },
    { "**y", "**/x", "y", "x" },
    { "**y", "z**", "y", "z" },
    { "*y", "**", "y", "" },
    { "y", "", "y", "" },
};

START_TEST(stars_and_nothing)
{
    const eddy_tensor          v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_checkpoint_rule r = { { stars[_i].pattern }, { stars[_i].entry }, .parts = 0 };
    const eddy_checkpoint_map  map = { .rules = &r, .n_rules = 1 };
    const eddy_named_variable  pair = { stars[_i].name, v };
    WORKS(eddy_save_checkpoint(s, "f", .named = &pair, .n_named = 1, .map = &map));
    has_entry("f", stars[_i].want, EDDY_SHAPE(2));
}
END_TEST

static const struct { bool torch; const char *name, *want; } scopes[] = {
    { true, "enc/attention/w", "enc.self_attn.w" },
    { true, "enc/feed_forward/dense_1/w", "enc.linear2.w" },
    { true, "enc/dense/w", "enc.dense.w" },
    { false, "enc/attention/w", "enc.attention.w" },
    { false, "block_3/w", "layers.3..w" },
    { true, "block_3/layer_norm/w", "layers.3..norm1.w" },
};

/* A star too many in the name of a scope stands for nothing. */
START_TEST(names_of_scopes)
{
    static const eddy_checkpoint_rule  r = { { "**/w" }, { "**.w" }, .parts = 0 };
    static const eddy_checkpoint_scope own = { "block_*", "layers.*.*" };
    const eddy_checkpoint_map map = { .rules = &r, .n_rules = 1, .scopes = &own, .n_scopes = 1,
                                      .separator = ".", .torch_blocks = scopes[_i].torch };
    const eddy_named_variable pair = { scopes[_i].name,
                                       numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2)) };
    WORKS(eddy_save_checkpoint(s, "f", .named = &pair, .n_named = 1, .map = &map));
    has_entry("f", scopes[_i].want, EDDY_SHAPE(2));
}
END_TEST

/* The second variable has what ** stands for in the first, which is nothing. */
START_TEST(two_variables)
{
    static const eddy_checkpoint_rule r = { { "**/a", "**b" }, { "x" }, .parts = 0 };
    const eddy_checkpoint_map         map = { .rules = &r, .n_rules = 1 };
    const eddy_tensor a = numbers("a", EDDY_FLOAT32, EDDY_SHAPE(2)),
                      b = numbers("b", EDDY_FLOAT32, EDDY_SHAPE(1));
    WORKS(eddy_save_checkpoint(s, "f", .map = &map));
    has_entry("f", "x", EDDY_SHAPE(3));
    WORKS(eddy_variable_set(s, b, EDDY_FLOATS(0)));
    WORKS(eddy_restore_checkpoint(s, "f", EDDY_LIST(a, b), .map = &map));
    has(s, b, 1, (double[]){ 1 });
    has(s, a, 2, (double[]){ 1, 2 });
}
END_TEST

/* A variable that a rule names twice gets the first part. */
START_TEST(a_variable_twice)
{
    static const eddy_checkpoint_rule r = { { "d", "d" }, { "four" }, .parts = 0 };
    const eddy_checkpoint_map         map = { .rules = &r, .n_rules = 1 };
    const eddy_tensor four = numbers("four", EDDY_FLOAT32, EDDY_SHAPE(4));
    WORKS(eddy_save(s, "f", EDDY_LIST(four)));
    const eddy_tensor d = numbers("d", EDDY_FLOAT32, EDDY_SHAPE(2));
    WORKS(eddy_variable_set(s, d, EDDY_FLOATS(7, 7)));
    WORKS(eddy_restore_checkpoint(s, "f", EDDY_LIST(d), .map = &map));
    has(s, d, 2, (double[]){ 1, 2 });
}
END_TEST

static bool bad_axes(void *context, const char *variable, eddy_shape shape, char *entry,
                     size_t size, const char **axes)
{
    (void)variable, (void)shape;
    snprintf(entry, size, "x");
    *axes = context;
    return true;
}

START_TEST(bad_rules)
{
    static const struct { eddy_checkpoint_rule rule; const char *problem; } rows[] = {
        { { { "v" }, { "x" }, .parts = -1 }, "parts that are not valid" },
        { { { "v" }, { "x" }, .parts = 1, .added = -1 }, "parts that are not valid" },
        { { { "v" }, { "x" }, .parts = 1, .forget_part = 2 }, "parts that are not valid" },
        { { { "v" }, { "x" }, .parts = 1, .order = { -1 } }, "parts that are not valid" },
        { { { "v" }, { "x" }, .rows = EDDY_RULE_NAMES + 1 }, "parts that are not valid" },
        { { { "v" }, { "x" }, .parts = 1, .state = "*" }, "has more stars in '*'" },
    };
    const eddy_list v = EDDY_LIST(numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const eddy_checkpoint_map map = { .rules = &rows[i].rule, .n_rules = 1 };
        refused(eddy_save_checkpoint(s, "f", v, .map = &map), EDDY_INVALID_ARGUMENT,
                rows[i].problem);
    }
    const eddy_checkpoint_map map = { .name = bad_axes, .context = "n -> m" };
    refused(eddy_save_checkpoint(s, "f", v, .map = &map), EDDY_INVALID_ARGUMENT,
            "the rule for 'v' has axes that are not valid");
}
END_TEST

/* The size of the state is that of a variable, if it has one. */
START_TEST(sizes_of_states)
{
    static const struct { eddy_shape state; int64_t rows; } rows[] = {
        { { .rank = 0 }, 2 },
        { { .rank = 1, .dim = { 0 } }, 2 },
        { { .rank = 1, .dim = { 3 } }, 3 },
    };
    const eddy_list k = EDDY_LIST(numbers("k", EDDY_FLOAT32, EDDY_SHAPE(5, 8)));
    for (int i = 0; i < 3; i++) {
        const eddy_tensor state = numbers("state", EDDY_FLOAT32, rows[i].state);
        char              name[EDDY_MAX_NAME];
        snprintf(name, sizeof name, "%s", eddy_name_of(state));
        const eddy_checkpoint_rule r = { { "k" }, { "x", "h" }, .parts = 4, .state = name };
        const eddy_checkpoint_map  map = { .rules = &r, .n_rules = 1 };
        WORKS(eddy_save_checkpoint(s, "f", k, .map = &map));
        has_entry("f", "x", EDDY_SHAPE(5 - rows[i].rows, 8));
        has_entry("f", "h", EDDY_SHAPE(rows[i].rows, 8));
    }
}
END_TEST

/* ------------------------------------------------------------------- values -- */

START_TEST(complex_parts)
{
    static const struct { eddy_dtype variable, asked, part, back; } rows[] = {
        { EDDY_COMPLEX64, EDDY_FLOAT16, EDDY_FLOAT32, EDDY_COMPLEX64 },
        { EDDY_COMPLEX64, EDDY_BFLOAT16, EDDY_FLOAT32, EDDY_COMPLEX64 },
        { EDDY_COMPLEX64, EDDY_FLOAT64, EDDY_FLOAT64, EDDY_COMPLEX128 },
        { EDDY_COMPLEX128, EDDY_FLOAT32, EDDY_FLOAT32, EDDY_COMPLEX64 },
    };
    for (int i = 0; i < 4; i++) {
        const eddy_tensor z = numbers("z", rows[i].variable, EDDY_SHAPE(2));
        const eddy_named_variable pair = { "z", z };
        WORKS(eddy_save_checkpoint(s, "f", .named = &pair, .n_named = 1, .dtype = rows[i].asked));
        eddy_checkpoint      *c = opened("f");
        eddy_checkpoint_entry e = eddy_checkpoint_entry_at(c, 0);
        ck_assert_str_eq(e.element, rows[i].part == EDDY_FLOAT32 ? "F32" : "F64");
        ck_assert(e.dtype == rows[i].back && e.shape.rank == 1 && e.shape.dim[0] == 2);
        eddy_checkpoint_free(c);
        WORKS(eddy_restore_checkpoint(s, "f", .named = &pair, .n_named = 1,
                                      .casting = EDDY_CAST_ANY));
    }
}
END_TEST

/* Only pairs of floating numbers are complex ones. */
START_TEST(no_pairs)
{
    const eddy_tensor         two = numbers("two", EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_named_variable single = { "two", numbers("y", EDDY_COMPLEX64, EDDY_SCALAR) };
    WORKS(eddy_save(s, "f", EDDY_LIST(two)));
    WORKS(eddy_restore_checkpoint(s, "f", .named = &single, .n_named = 1));
    eddy_array *y = eddy_variable_value(s, single.variable);
    ck_assert(eddy_array_get(y, 0) == 1 && eddy_array_get_imag(y, 0) == 2);
    eddy_array_free(y);
    const struct { eddy_dtype d; eddy_shape shape;
    } rows[] = { { EDDY_FLOAT64, EDDY_SCALAR },
                 { EDDY_INT32, EDDY_SHAPE(2) },
                 { EDDY_FLOAT32, EDDY_SHAPE(3) } };
    const eddy_tensor z = numbers("z", EDDY_COMPLEX128, EDDY_SCALAR);
    WORKS(eddy_save(s, "g", EDDY_LIST(z)));
    has_entry("g", "z", EDDY_SCALAR);
    for (int i = 0; i < 3; i++) {
        const eddy_tensor         x = numbers("x", rows[i].d, rows[i].shape);
        const eddy_named_variable pair = { eddy_name_of(x), z };
        WORKS(eddy_save(s, "f", EDDY_LIST(x)));
        refused(eddy_restore_checkpoint(s, "f", .named = &pair, .n_named = 1,
                                        .casting = EDDY_CAST_ANY), EDDY_BAD_DTYPE, "'z'");
    }
}
END_TEST

/* More axes than an array has: listed, also with a note that its elements are complex. */
START_TEST(nine_axes)
{
    static const char header[] =
        "{\"__metadata__\":{\"eddy.complex.x\":\"yes\"},"
        "\"x\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]}}";
    const uint64_t length = sizeof header - 1;
    char           file[sizeof length + sizeof header - 1 + 8] = { 0 };
    eddy_error     e = { 0 };
    memcpy(file, &length, sizeof length);
    memcpy(file + sizeof length, header, sizeof header - 1);
    memory_files_put(&files, "f", file, sizeof file);
    eddy_checkpoint            *c = opened("f");
    const eddy_checkpoint_entry entry = eddy_checkpoint_entry_at(c, 0);
    ck_assert(entry.dtype == EDDY_FLOAT32 && entry.shape.rank == EDDY_UNKNOWN_RANK);
    ck_assert_ptr_null(eddy_checkpoint_value(c, "x", &e));
    ck_assert_int_eq(e.status, EDDY_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(e.message, "has 9 dimensions; the limit is 8"));
    eddy_checkpoint_free(c);
}
END_TEST

/* One variable was added after the session was made, the other was read by a run that failed. */
START_TEST(uninitialized)
{
    const eddy_tensor zeros = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor read = eddy_variable(g, zeros, .name = "read");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(read), (eddy_array *[1]){ NULL }),
                     EDDY_UNINITIALIZED);
    refused(eddy_save(s, "f", EDDY_LIST(read)), EDDY_UNINITIALIZED,
            "Attempting to use uninitialized value read");
    for (int i = 0; i < 100; i++) eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor added = eddy_variable(g, zeros, .name = "added");
    refused(eddy_save(s, "f", EDDY_LIST(added)), EDDY_UNINITIALIZED,
            "Attempting to use uninitialized value added");
    ck_assert_int_eq(memory_files_count(&files), 0);
}
END_TEST

/* -------------------------------------------------------------------- calls -- */

START_TEST(names_and_lists)
{
    static char               name[EDDY_MAX_NAME + 2];
    const eddy_tensor         v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_metadata       pair = { NULL, "1" };
    const eddy_named_variable named = { name, v };
    memset(name, 'n', sizeof name - 1);
    refused(eddy_save_checkpoint(s, "f", .named = &named, .n_named = 1), EDDY_INVALID_ARGUMENT,
            "the name for the variable 'v' is NULL or too long");
    name[EDDY_MAX_NAME] = 0;
    WORKS(eddy_save_checkpoint(s, "f", .named = &named, .n_named = 1));
    WORKS(eddy_restore_checkpoint(s, "f", .named = &named, .n_named = 1));
    refused(eddy_save_checkpoint(s, "f", .variables = { 2, NULL }), EDDY_INVALID_ARGUMENT,
            "variables");
    refused(eddy_save_checkpoint(s, "f", .metadata = &pair, .n_metadata = 1),
            EDDY_INVALID_ARGUMENT, "pair 0 of the metadata has no key or no value");
}
END_TEST

/* Half of a rule is restored; what the file lacks is reported for that half. */
START_TEST(half_of_a_rule)
{
    static const eddy_checkpoint_rule r = { { "v", "w" }, { "none" }, .parts = 0 };
    const eddy_checkpoint_map         map = { .rules = &r, .n_rules = 1 };
    const eddy_tensor v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2)),
                      w = numbers("w", EDDY_FLOAT32, EDDY_SHAPE(2));
    WORKS(eddy_save(s, "f", EDDY_LIST(v)));
    refused(eddy_restore_checkpoint(s, "f", EDDY_LIST(w), .map = &map), EDDY_NOT_FOUND,
            "f: the file has no 'none' for the variable 'w'");
}
END_TEST

START_TEST(no_variables)
{
    WORKS(eddy_save_checkpoint(s, "f"));
    WORKS(eddy_restore_checkpoint(s, "f"));
    WORKS(eddy_restore_checkpoint(s, "f", .partial = true));
}
END_TEST

START_TEST(freed_graph)
{
    eddy_graph   *h = eddy_graph_new(.files = &files.table);
    eddy_session *t = eddy_session_new(h);
    eddy_graph_free(h);
    ck_assert_int_eq(eddy_save_checkpoint(t, "f"), EDDY_CLOSED);
    ck_assert_int_eq(eddy_restore_checkpoint(t, "f"), EDDY_CLOSED);
    ck_assert_int_eq(eddy_keep_checkpoint(t, "d", 1), EDDY_CLOSED);
    ck_assert_int_eq(eddy_restore_latest(t, "d"), EDDY_CLOSED);
    ck_assert_str_eq(eddy_session_message(t), "the session's graph has been freed");
    eddy_session_free(t);
}
END_TEST

/* ------------------------------------------------------------------ indexes -- */

/* More entries than the first room. */
START_TEST(many_entries)
{
    enum { N = 40 };
    eddy_tensor v[N];
    char        name[8];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "v%d", i);
        v[i] = numbers(name, EDDY_FLOAT32, EDDY_SHAPE(1));
    }
    WORKS(eddy_save_checkpoint(s, "m.json", .shard_bytes = 40));
    WORKS(eddy_variable_set(s, v[N - 1], EDDY_FLOATS(0)));
    WORKS(eddy_restore_checkpoint(s, "m.json"));
    has(s, v[N - 1], 1, (double[]){ 1 });
}
END_TEST

/* A name that is nothing except an ending is the stem of the files' names. */
START_TEST(name_of_an_ending)
{
    numbers("v", EDDY_FLOAT32, EDDY_SHAPE(1));
    WORKS(eddy_save_checkpoint(s, "d/.json", .shard_bytes = 40));
    ck_assert_ptr_nonnull(memory_files_get(&files, "d/.json.1-00001-of-00001.safetensors"));
    WORKS(eddy_restore_checkpoint(s, "d/.json"));
}
END_TEST

/* A save removes the files of the old index that have names as it writes them, and no others. */
START_TEST(other_names_in_the_index)
{
    static char              index[10000];
    static const char *const others[] = { "other-1", "m", "m.x", "m.7_", "m.-1", "mm.7-1",
                                          "m.1234567890123456789-1", "m.8-x/y" };
    enum { N = sizeof others / sizeof *others };
    char path[64];
    int  n = sprintf(index, "{\"weight_map\":{\"mine\":\"m.7-00001-of-00001.safetensors\"");
    for (int i = 0; i < N; i++) {
        n += sprintf(index + n, ",\"%d\":\"%s\"", i, others[i]);
        snprintf(path, sizeof path, "d/%s", others[i]);
        memory_files_put(&files, path, "x", 1);
    }
    n += sprintf(index + n, ",\"long\":\"m.9-%0*d\"}}", EDDY_MAX_PATH - 6, 1);
    memory_files_put(&files, "d/m.json", index, (size_t)n);
    memory_files_put(&files, "d/m.7-00001-of-00001.safetensors", "x", 1);
    const eddy_tensor v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    WORKS(eddy_save_checkpoint(s, "d/m.json", EDDY_LIST(v)));
    ck_assert_ptr_nonnull(memory_files_get(&files, "d/m.10-00001-of-00001.safetensors"));
    ck_assert_ptr_null(memory_files_get(&files, "d/m.7-00001-of-00001.safetensors"));
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "d/%s", others[i]);
        ck_assert_msg(memory_files_get(&files, path) != NULL, "%s", path);
    }
    WORKS(eddy_restore_checkpoint(s, "d/m.json"));
}
END_TEST

/* A number of 18 digits is one of a save; the next one has 19. */
START_TEST(largest_number_of_a_save)
{
    static const char old[] = "m.999999999999999999-00001-of-00001.safetensors";
    char              index[200];
    const int         n = sprintf(index, "{\"weight_map\":{\"mine\":\"%s\"}}", old);
    memory_files_put(&files, "m.json", index, (size_t)n);
    memory_files_put(&files, old, "x", 1);
    const eddy_tensor v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    WORKS(eddy_save_checkpoint(s, "m.json", EDDY_LIST(v)));
    ck_assert_ptr_null(memory_files_get(&files, old));
    WORKS(eddy_restore_checkpoint(s, "m.json"));
}
END_TEST

START_TEST(damaged_index)
{
    const eddy_tensor v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    memory_files_put(&files, "m.json", "{", 1);
    WORKS(eddy_save_checkpoint(s, "m.json", EDDY_LIST(v)));
    ck_assert_ptr_nonnull(memory_files_get(&files, "m.1-00001-of-00001.safetensors"));
    WORKS(eddy_restore_checkpoint(s, "m.json"));
}
END_TEST

/* Names of files that are too long in the index, or only together with their folder. */
START_TEST(long_names_in_the_index)
{
    static char index[6000];
    for (int more = 0; more < 2; more++) {
        eddy_error e = { 0 };
        const int  n =
            sprintf(index, "{\"weight_map\":{\"v\":\"%0*d\"}}", EDDY_MAX_PATH - 1 + more, 7);
        memory_files_put(&files, "d/m.json", index, (size_t)n);
        ck_assert_ptr_null(eddy_checkpoint_open("d/m.json", &files.table, .error = &e));
        ck_assert_int_eq(e.status, more ? EDDY_CORRUPT : EDDY_LIMIT);
        ck_assert_ptr_nonnull(strstr(e.message, more ? "a file is not in the folder of the index"
                                                     : "the name of a file is too long"));
    }
}
END_TEST

/* The files of the checkpoint would have longer names than the index. */
START_TEST(long_folder)
{
    static char       path[EDDY_MAX_PATH];
    const eddy_tensor v = numbers("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    memset(path, 'd', EDDY_MAX_PATH - 20);
    strcpy(path + EDDY_MAX_PATH - 20, "/m.json");
    refused(eddy_save_checkpoint(s, path, EDDY_LIST(v)), EDDY_LIMIT,
            "the name of a file is too long");
    /* The first name without a folder for which there is no room. */
    memset(path, 'd', EDDY_MAX_PATH);
    strcpy(path + EDDY_MAX_PATH - strlen(".1-00001-of-00001.safetensors"), ".json");
    refused(eddy_save_checkpoint(s, path, EDDY_LIST(v)), EDDY_LIMIT,
            "the name of a file is too long");
    ck_assert_int_eq(memory_files_count(&files), 0);
}
END_TEST

/* --------------------------------------------------------- kept checkpoints -- */

static eddy_files inner;

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
static int open_last(void *context, const char *path, int flags)
{
    return inner.open(context, last_part(path), flags);
}
static int unlink_last(void *context, const char *path)
{
    return inner.unlink(context, last_part(path));
}
static int rename_last(void *context, const char *from, const char *to)
{
    return inner.rename(context, last_part(from), last_part(to));
}

#define LIST "eddy checkpoints, best: smallest\n"

/* In a folder with a long path, names of small steps fit and those of large ones do not. */
START_TEST(long_paths_of_steps)
{
    static const char    list[] = LIST "1000000000000000000 none\n";
    static const char    cut[] = "checkpoint-1000000000000000000.safetens";
    static char          folder[EDDY_MAX_PATH];
    eddy_kept_checkpoint k;
    eddy_error           e = { 0 };
    inner = files.table;
    files.table.open = open_last;
    files.table.unlink = unlink_last;
    files.table.rename = rename_last;
    eddy_graph   *h = eddy_graph_new(.files = &files.table);
    eddy_session *t = eddy_session_new(h);
    memset(folder, 'd', EDDY_MAX_PATH - 41);
    memory_files_put(&files, "checkpoints.txt", list, sizeof list - 1);
    memory_files_put(&files, cut, "", 0);
    ck_assert_int_eq(eddy_latest_checkpoint(folder, &files.table, &k, &e), EDDY_LIMIT);
    ck_assert_int_eq(k.step, -1);
    ck_assert_int_eq(eddy_restore_latest(t, folder, .restored = &k), EDDY_LIMIT);
    ck_assert_int_eq(k.step, -1);
    ck_assert_int_eq(eddy_keep_checkpoint(t, folder, 5, 1), EDDY_LIMIT);
    ck_assert_ptr_nonnull(strstr(eddy_session_message(t), "the name of a file is too long"));
    ck_assert_int_eq(eddy_keep_checkpoint(t, folder, 1000000000000000000, 1), EDDY_LIMIT);
    /* The list has the new checkpoint and forgets the one without a name. */
    for (int step = 6; step < 8; step++)
        ck_assert_msg(eddy_keep_checkpoint(t, folder, step, 1) == EDDY_OK, "%s",
                      eddy_session_message(t));
    ck_assert_int_eq(eddy_latest_checkpoint(folder, &files.table, &k, &e), EDDY_OK);
    ck_assert_int_eq(k.step, 7);
    ck_assert_int_eq(memory_files_count(&files), 3);
    ck_assert_ptr_nonnull(memory_files_get(&files, cut));      /* no file of the list */
    /* There is no room for the name of the list, by one character. */
    memset(folder, 'd', EDDY_MAX_PATH - 1);
    folder[EDDY_MAX_PATH - strlen("/checkpoints.txt")] = 0;
    ck_assert_int_eq(eddy_latest_checkpoint(folder, &files.table, &k, &e), EDDY_LIMIT);
    memset(folder, 'd', EDDY_MAX_PATH - 1);
    ck_assert_int_eq(eddy_keep_checkpoint(t, folder, 1), EDDY_LIMIT);
    ck_assert_int_eq(eddy_restore_latest(t, folder), EDDY_LIMIT);
    eddy_session_free(t);
    eddy_graph_free(h);
}
END_TEST

START_TEST(lists_of_dropped)
{
    static const char    list[] = LIST "1 2 dropped\n2 none dropped\n";
    static const char    bad[] = LIST "x 1\n";
    eddy_kept_checkpoint k;
    eddy_error           e = { 0 };
    memory_files_put(&files, "d/checkpoints.txt", list, sizeof list - 1);
    ck_assert_int_eq(eddy_latest_checkpoint("d", &files.table, &k, &e), EDDY_OK);
    ck_assert(k.step == -1 && isnan(k.metric));
    ck_assert_int_eq(eddy_best_checkpoint("d", &files.table, &k, &e), EDDY_OK);
    ck_assert_int_eq(k.step, -1);
    refused(eddy_restore_latest(s, "d"), EDDY_NOT_FOUND, "d: there is no checkpoint");
    refused(eddy_keep_checkpoint(s, "d", 1, 10000), EDDY_INVALID_ARGUMENT,
            "last is 10000; expected 1 to 9999");
    memory_files_put(&files, "e/checkpoints.txt", bad, sizeof bad - 1);
    ck_assert_int_eq(eddy_latest_checkpoint("e", &files.table, &k, &e), EDDY_CORRUPT);
    ck_assert_ptr_nonnull(strstr(e.message, "line 2 is not one of a list of checkpoints"));
}
END_TEST

Suite *checkpoint_corners_suite(void)
{
    Suite *suite = suite_create("checkpoint_corners");
    TCase *c = tcase_create("corners");
    const TTest *const tests[] = {
        two_variables, a_variable_twice, bad_rules, sizes_of_states, complex_parts, no_pairs,
        nine_axes, uninitialized, names_and_lists, half_of_a_rule, no_variables, freed_graph,
        many_entries, name_of_an_ending, other_names_in_the_index, largest_number_of_a_save,
        damaged_index, long_names_in_the_index, long_folder, long_paths_of_steps, lists_of_dropped,
    };
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, stars_and_nothing, 0, sizeof stars / sizeof *stars);
    tcase_add_loop_test(c, names_of_scopes, 0, sizeof scopes / sizeof *scopes);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    return suite;
}
