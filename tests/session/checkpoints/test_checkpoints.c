/* test_checkpoints.c -- saving and restoring with options: files of one and of several parts, maps,
 * casting, partial files, and failures. */
#include "graph/base/crc32c.h"
#include "graph/files/safetensors.h"
#include "tests/lib/golden.h"
#include "tests/lib/files_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Suite *checkpoints_suite(void);

#define WORKS(call) ck_assert_msg((call) == EDDY_OK, "%s", eddy_session_message(s))

/* A variable [n, ...] whose elements are 1, 2, 3, ... */
static eddy_tensor counting(const char *name, eddy_dtype d, eddy_shape shape)
{
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, d, shape), .name = name);
    eddy_array *a = eddy_array_new(d, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, (double)i + 1);
    fits(g);
    WORKS(eddy_variable_set(s, v, a));
    eddy_array_free(a);
    return v;
}

static void clear(eddy_tensor v)
{
    eddy_array *a = eddy_variable_value(s, v);
    if (eddy_array_bytes(a) > 0) memset(eddy_array_data(a), 0, eddy_array_bytes(a));
    WORKS(eddy_variable_set(s, v, a));
    eddy_array_free(a);
}

/* Elements 1, 2, 3 ... again. */
static void counts(eddy_tensor v)
{
    eddy_array *a = eddy_variable_value(s, v);
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(eddy_array_get(a, i) == (double)i + 1, "%s: element %d is %g",
                      eddy_name_of(v), (int)i, eddy_array_get(a, i));
    eddy_array_free(a);
}

static eddy_checkpoint *opened(const char *path)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_checkpoint_open(path, &files.table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    return c;
}

/* The entry has these elements. */
static void entry_has(const char *path, const char *name, eddy_shape shape, const double *want)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = opened(path);
    eddy_array      *a = eddy_checkpoint_value(c, name, &e);
    ck_assert_msg(a != NULL, "%s", e.message);
    eddy_checkpoint_free(c);             /* the array outlives it */
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(a), shape), "%s", name);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(eddy_array_get(a, i) == want[i], "%s: element %d is %g", name, (int)i,
                      eddy_array_get(a, i));
    eddy_array_free(a);
}

START_TEST(crc32c)
{
    char bytes[100];
    ck_assert_uint_eq(eddy__crc32c(0, "123456789", 9), 0xE3069283u);
    for (int i = 0; i < 100; i++) bytes[i] = (char)(i * 37);
    for (size_t at = 0; at <= 100; at++) {
        const uint32_t all = eddy__crc32c_by_table(0, bytes, 100);
        ck_assert_uint_eq(eddy__crc32c(eddy__crc32c(0, bytes, at), bytes + at, 100 - at), all);
    }
}
END_TEST

/* --------------------------------------------------------------- files -- */

START_TEST(listed)
{
    counting("b", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    counting("a", EDDY_INT64, EDDY_SCALAR);
    const eddy_metadata pairs[] = { { "step", "12" }, { "by", "a test" } };
    WORKS(eddy_save_checkpoint(s, "f", .metadata = pairs, .n_metadata = 2));
    eddy_checkpoint      *c = opened("f");
    eddy_checkpoint_entry b = eddy_checkpoint_entry_at(c, 1);
    ck_assert_int_eq(eddy_checkpoint_count(c), 2);
    ck_assert_str_eq(eddy_checkpoint_entry_at(c, 0).name, "a");
    ck_assert_str_eq(b.name, "b");
    ck_assert_str_eq(b.element, "F32");
    ck_assert(b.dtype == EDDY_FLOAT32 && b.bytes == 24 && b.shape.rank == 2);
    ck_assert_int_eq(eddy_checkpoint_find(c, "b"), 1);
    ck_assert_int_eq(eddy_checkpoint_find(c, "c"), -1);
    ck_assert_int_eq(eddy_checkpoint_find(c, NULL), -1);
    ck_assert_ptr_null(eddy_checkpoint_entry_at(c, 2).name);
    ck_assert_int_eq(eddy_checkpoint_metadata_count(c), 2);
    ck_assert_str_eq(eddy_checkpoint_metadata_at(c, 0).key, "by");
    ck_assert_str_eq(eddy_checkpoint_text(c, "step"), "12");
    ck_assert_ptr_null(eddy_checkpoint_text(c, "eddy.crc32c"));
    ck_assert_ptr_null(eddy_checkpoint_metadata_at(c, -1).key);
    eddy_checkpoint_free(c);
    ck_assert_int_eq(eddy_checkpoint_count(NULL), 0);
    eddy_checkpoint_free(NULL);
}
END_TEST

/* The arrays of a mapped file outlive it, and writing to them does not change it. */
START_TEST(mapped)
{
    char path[64];
    eddy_graph   *h = eddy_graph_new();
    eddy_session *t = eddy_session_new(h);
    eddy_tensor   v = eddy_variable(h, vector(h, 3, (double[]){ 1, 2, 3 }), .name = "v");
    snprintf(path, sizeof path, "/tmp/eddy_checkpoints_%ld", (long)getpid());
    runs(t, eddy_initializer(h));
    ck_assert_int_eq(eddy_save(t, path, EDDY_LIST()), EDDY_OK);
    for (int turn = 0; turn < 2; turn++) {
        eddy_checkpoint *c = eddy_checkpoint_open(path);
        eddy_array      *a = eddy_checkpoint_value(c, "v", NULL);
        eddy_checkpoint_free(c);
        ck_assert_double_eq(eddy_array_get(a, 2), 3);
        eddy_array_set(a, 2, 7);
        eddy_array_free(a);
    }
    ck_assert_int_eq(eddy_restore(t, path, EDDY_LIST()), EDDY_OK);
    has(t, v, 3, (double[]){ 1, 2, 3 });
    remove(path);
    eddy_session_free(t);
    eddy_graph_free(h);
}
END_TEST

static int shards_in(const memory_files *m)
{
    int n = 0;
    for (int i = 0; i < MEMORY_FILES; i++) n += strstr(m->entries[i].name, "-of-") != NULL;
    return n;
}

START_TEST(several_files)
{
    static const char path[] = "d/m.safetensors.index.json";
    eddy_tensor v[5];
    const eddy_metadata pair = { "step", "1" };
    for (int i = 0; i < 5; i++)
        v[i] = counting((char[]){ (char)('a' + i), 0 }, EDDY_FLOAT64, EDDY_SHAPE(4));
    for (int turn = 0; turn < 3; turn++) {
        WORKS(eddy_save_checkpoint(s, path, .shard_bytes = turn == 1 ? 1 : 64,
                                   .metadata = &pair, .n_metadata = 1));
        ck_assert_int_eq(shards_in(&files), turn == 1 ? 5 : 3);
        ck_assert_int_eq(memory_files_count(&files), turn == 1 ? 6 : 4);
        const memory_content *index = memory_files_get(&files, path);
        ck_assert_msg(strstr(index->bytes, "\"total_size\": 160\n"), "%s", index->bytes);
        for (int i = 0; i < 5; i++) clear(v[i]);
        WORKS(eddy_restore_checkpoint(s, path));
        for (int i = 0; i < 5; i++) counts(v[i]);
        eddy_checkpoint *c = opened(path);
        ck_assert_int_eq(eddy_checkpoint_count(c), 5);
        ck_assert_str_eq(eddy_checkpoint_text(c, "step"), "1");
        eddy_checkpoint_free(c);
    }
    ck_assert_ptr_nonnull(memory_files_get(&files, "d/m.3-00001-of-00003.safetensors"));
    WORKS(eddy_save_checkpoint(s, "a-name-without-endings.json"));
    ck_assert_ptr_nonnull(
        memory_files_get(&files, "a-name-without-endings.1-00001-of-00001.safetensors"));
}
END_TEST

/* A save at whose every call the power is lost leaves the old checkpoint or the new one. */
START_TEST(several_files_or_the_old_ones)
{
    static const char path[] = "m.safetensors.index.json";
    eddy_tensor       v = counting("v", EDDY_FLOAT32, EDDY_SHAPE(8)),
                w = counting("w", EDDY_FLOAT32, EDDY_SHAPE(8));
    WORKS(eddy_save_checkpoint(s, path, .shard_bytes = 32));
    bool reached = true;
    for (int at = 1; reached; at++) {
        const int power = _i;
        memory_files m;
        memory_files_init(&m);
        for (int i = 0; i < MEMORY_FILES; i++) {
            const memory_content *c = memory_files_get(&files, files.entries[i].name);
            if (files.entries[i].name[0])
                memory_files_put(&m, files.entries[i].name, c->bytes, c->size);
        }
        eddy_graph   *h = eddy_graph_new(.files = &m.table);
        eddy_session *t = eddy_session_new(h);
        eddy_tensor   nines = Mul(eddy_ones(h, EDDY_FLOAT32, EDDY_SHAPE(8)), 9);
        eddy_tensor   two[2] = { eddy_variable(h, nines, .name = "v"),
                                 eddy_variable(h, nines, .name = "w") };
        runs(t, eddy_initializer(h));
        m.fault = (memory_fault){
            .at = m.calls + at, .number = EIO, .persistent = power, .power = power
        };
        const int begin = m.calls;
        const eddy_status status = eddy_save_checkpoint(t, path, .shard_bytes = 32);
        reached = m.calls >= begin + at;
        for (unsigned seed = 0; seed < (power ? 20u : 1u); seed++) {
            memory_files after;
            if (power) memory_files_crash(&m, seed, &after);
            m.fault.at = 0;
            eddy_error       e = { 0 };
            eddy_checkpoint *c =
                eddy_checkpoint_open(path, power ? &after.table : &m.table, .error = &e);
            ck_assert_msg(c != NULL, "%s", e.message);
            eddy_array *a = eddy_checkpoint_value(c, "v", NULL),
                       *b = eddy_checkpoint_value(c, "w", NULL);
            const bool is_new = eddy_array_get(a, 0) == 9;
            ck_assert(is_new || status != EDDY_OK);
            ck_assert(is_new == (eddy_array_get(b, 0) == 9));
            eddy_array_free(a);
            eddy_array_free(b);
            eddy_checkpoint_free(c);
            if (power) memory_files_free(&after);
        }
        (void)two, (void)v, (void)w;
        eddy_session_free(t);
        eddy_graph_free(h);
        memory_files_free(&m);
        ck_assert_int_lt(at, 200);
    }
}
END_TEST

static int (*open_any)(void *context, const char *path, int flags);

static int open_no_index(void *context, const char *path, int flags)
{
    if (!strstr(path, ".json") || (flags & O_CREAT)) return open_any(context, path, flags);
    errno = EIO;
    return -1;
}

/* The names of the old files are not known, so none of them is replaced. */
START_TEST(an_index_that_cannot_be_read)
{
    eddy_tensor v = counting("v", EDDY_FLOAT32, EDDY_SHAPE(8));
    WORKS(eddy_save_checkpoint(s, "m.json", EDDY_LIST(v)));
    eddy_files table = files.table;
    open_any = table.open;
    table.open = open_no_index;
    eddy_graph   *h = eddy_graph_new(.files = &table);
    eddy_session *t = eddy_session_new(h);
    eddy_variable(h, eddy_zeros(h, EDDY_FLOAT32, EDDY_SHAPE(8)), .name = "v");
    runs(t, eddy_initializer(h));
    ck_assert_int_eq(eddy_save_checkpoint(t, "m.json"), EDDY_IO);
    eddy_session_free(t);
    eddy_graph_free(h);
    clear(v);
    WORKS(eddy_restore_checkpoint(s, "m.json", EDDY_LIST(v)));
    counts(v);
}
END_TEST

/* ---------------------------------------------------------------- maps -- */

START_TEST(names_and_axes)
{
    static const eddy_checkpoint_rule rules[] = {
        { { "first/kernel" }, { "exact" }, .axes = "i o -> o i" },
        { { "block_*" "/kernel" }, { "layers.*.w" }, .axes = "i o -> o i" },
        { { "fused" }, { "q", "k" }, .axes = "i o -> o i", .entries_axis = 1 },
        { { "left", "right" }, { "both" }, .axes = "n -> n", .variables_axis = -1 },
        { { "image" }, { "oihw" }, .axes = "h w i o -> o i h w" },
        { { "split" }, { "three" }, .axes = "n (heads d) -> heads n d" },
        { { "one" }, { "ones" }, .axes = "n -> n 1" },
        { { "deep/**" }, { "shallow/**" }, .axes = NULL },
    };
    const eddy_checkpoint_map map = { .rules = rules, .n_rules = 8, .heads = 2 };
    eddy_tensor               v[] = {
                      counting("first/kernel", EDDY_FLOAT32, EDDY_SHAPE(2, 3)),
                      counting("block_12/kernel", EDDY_FLOAT64, EDDY_SHAPE(2, 2)),
                      counting("fused", EDDY_FLOAT32, EDDY_SHAPE(2, 4)),
                      counting("left", EDDY_FLOAT32, EDDY_SHAPE(2)),
                      counting("right", EDDY_FLOAT32, EDDY_SHAPE(1)),
                      counting("image", EDDY_UINT8, EDDY_SHAPE(1, 2, 2, 2)),
                      counting("split", EDDY_FLOAT32, EDDY_SHAPE(2, 4)),
                      counting("one", EDDY_FLOAT32, EDDY_SHAPE(2)),
                      counting("deep/a/b", EDDY_INT32, EDDY_SHAPE(2)),
                      counting("other", EDDY_FLOAT32, EDDY_SCALAR),
                      counting("none", EDDY_FLOAT32, EDDY_SHAPE(0, 3)),
    };
    enum { N = sizeof v / sizeof *v };
    WORKS(eddy_save_checkpoint(s, "f", .map = &map));
    entry_has("f", "exact", EDDY_SHAPE(3, 2), (double[]){ 1, 4, 2, 5, 3, 6 });
    entry_has("f", "layers.12.w", EDDY_SHAPE(2, 2), (double[]){ 1, 3, 2, 4 });
    entry_has("f", "q", EDDY_SHAPE(2, 2), (double[]){ 1, 5, 2, 6 });
    entry_has("f", "k", EDDY_SHAPE(2, 2), (double[]){ 3, 7, 4, 8 });
    entry_has("f", "both", EDDY_SHAPE(3), (double[]){ 1, 2, 1 });
    entry_has("f", "oihw", EDDY_SHAPE(2, 2, 1, 2), (double[]){ 1, 5, 3, 7, 2, 6, 4, 8 });
    entry_has("f", "three", EDDY_SHAPE(2, 2, 2), (double[]){ 1, 2, 5, 6, 3, 4, 7, 8 });
    entry_has("f", "ones", EDDY_SHAPE(2, 1), (double[]){ 1, 2 });
    entry_has("f", "shallow/a/b", EDDY_SHAPE(2), (double[]){ 1, 2 });
    entry_has("f", "other", EDDY_SCALAR, (double[]){ 1 });
    entry_has("f", "none", EDDY_SHAPE(0, 3), NULL);
    for (int i = 0; i < N; i++) clear(v[i]);
    WORKS(eddy_restore_checkpoint(s, "f", .map = &map));
    for (int i = 0; i < N; i++) counts(v[i]);
    /* A part of a fused entry can be restored alone, but not saved. */
    clear(v[3]);
    clear(v[4]);
    WORKS(eddy_restore_checkpoint(s, "f", EDDY_LIST(v[4]), .map = &map));
    counts(v[4]);
    ck_assert_int_eq(eddy_save_checkpoint(s, "g", EDDY_LIST(v[4]), .map = &map),
                     EDDY_INVALID_ARGUMENT);
}
END_TEST

START_TEST(scopes_and_separators)
{
    static const eddy_checkpoint_rule rules[] = {
        { { "**/w" }, { "model.**.weight" }, .axes = "n -> n" },
        { .variables = { "**" }, .entries = { "**" } }
    };
    static const eddy_checkpoint_scope scopes[] = { { "a/b", "ab" }, { "block_*", "layers.*" },
                                                    { "gone", "" } };
    const eddy_checkpoint_map map = { .rules = rules, .n_rules = 2, .scopes = scopes, .n_scopes = 3,
                                      .separator = "." };
    static const struct { const char *variable, *entry; } rows[] = {
        { "w", "model.weight" }, { "a/w", "model.a.weight" }, { "a/b/w", "model.ab.weight" },
        { "a/b/c/w", "model.ab.c.weight" }, { "x/block_3/gone/y/w", "model.x.layers.3.y.weight" },
        { "gone/w", "model.weight_of_none" }, { "x/y", "x.y" },
    };
    for (int i = 0; i < 7; i++) {
        if (i == 5) continue;            /* another variable has that entry's name */
        eddy_tensor v = counting(rows[i].variable, EDDY_FLOAT32, EDDY_SHAPE(2));
        WORKS(eddy_save_checkpoint(s, "f", EDDY_LIST(v), .map = &map));
        eddy_checkpoint *c = opened("f");
        ck_assert_str_eq(eddy_checkpoint_entry_at(c, 0).name, rows[i].entry);
        eddy_checkpoint_free(c);
    }
}
END_TEST

static bool upper_name(void *context, const char *variable, eddy_shape shape, char *entry,
                       size_t size, const char **axes)
{
    if (strncmp(variable, "my_", 3) != 0) return false;
    snprintf(entry, size, "%s%s", (const char *)context, variable + 3);
    if (shape.rank == 2) *axes = "i o -> o i";
    return true;
}

/* The names that are looked up need not be those of variables; `**` may stand for nothing before a
 * slash that stays. */
START_TEST(names_with_an_empty_part)
{
    static const char *const   names[] = { "/bias", "bias", "x/v", "xv", "x_1/v" };
    const eddy_tensor          a = counting("a", EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_checkpoint_map  map = eddy_torch_map();
    const eddy_checkpoint_rule own = { .variables = { "x**/v" }, .entries = { "y" } };
    const eddy_checkpoint_map  mine = { .rules = &own, .n_rules = 1 };
    for (int i = 0; i < 5; i++) {
        const eddy_named_variable  named = { names[i], a };
        const eddy_checkpoint_map *m = i < 2 ? &map : &mine;
        WORKS(eddy_save_checkpoint(s, "f", .named = &named, .n_named = 1, .map = m));
        clear(a);
        WORKS(eddy_restore_checkpoint(s, "f", .named = &named, .n_named = 1, .map = m));
        counts(a);
        eddy_checkpoint *c = opened("f");
        ck_assert_str_eq(eddy_checkpoint_entry_at(c, 0).name, i < 2 ? "bias" : "y");
        eddy_checkpoint_free(c);
    }
}
END_TEST

START_TEST(names_by_a_function)
{
    const eddy_checkpoint_map torch = eddy_torch_map();
    const eddy_checkpoint_map map = { .name = upper_name, .context = "your_", .then = &torch };
    eddy_tensor a = counting("my_matrix", EDDY_FLOAT32, EDDY_SHAPE(2, 3)),
                b = counting("x/beta", EDDY_FLOAT32, EDDY_SHAPE(3));
    WORKS(eddy_save_checkpoint(s, "f", .map = &map));
    entry_has("f", "your_matrix", EDDY_SHAPE(3, 2), (double[]){ 1, 4, 2, 5, 3, 6 });
    entry_has("f", "x.bias", EDDY_SHAPE(3), (double[]){ 1, 2, 3 });
    clear(a);
    clear(b);
    WORKS(eddy_restore_checkpoint(s, "f", .map = &map));
    counts(a);
    counts(b);
}
END_TEST

/* --------------------------------------------------------------- casting -- */

START_TEST(casting)
{
    static const struct { eddy_dtype file, variable; eddy_status exact, any; } rows[] = {
        { EDDY_FLOAT16, EDDY_FLOAT32, EDDY_OK, EDDY_OK },
        { EDDY_BFLOAT16, EDDY_FLOAT64, EDDY_OK, EDDY_OK },
        { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_OK, EDDY_OK },
        { EDDY_FLOAT64, EDDY_FLOAT32, EDDY_BAD_DTYPE, EDDY_OK },
        { EDDY_FLOAT32, EDDY_BFLOAT16, EDDY_BAD_DTYPE, EDDY_OK },
        { EDDY_FLOAT16, EDDY_BFLOAT16, EDDY_BAD_DTYPE, EDDY_OK },
        { EDDY_INT32, EDDY_INT64, EDDY_OK, EDDY_OK },
        { EDDY_INT64, EDDY_UINT8, EDDY_OK, EDDY_OK },
        { EDDY_UINT8, EDDY_INT32, EDDY_OK, EDDY_OK },
        { EDDY_INT64, EDDY_FLOAT32, EDDY_BAD_DTYPE, EDDY_OK },
        { EDDY_UINT8, EDDY_FLOAT16, EDDY_BAD_DTYPE, EDDY_OK },
        { EDDY_FLOAT32, EDDY_INT32, EDDY_BAD_DTYPE, EDDY_BAD_DTYPE },
        { EDDY_BOOL, EDDY_FLOAT32, EDDY_BAD_DTYPE, EDDY_BAD_DTYPE },
        { EDDY_COMPLEX64, EDDY_COMPLEX128, EDDY_OK, EDDY_OK },
        { EDDY_COMPLEX128, EDDY_COMPLEX64, EDDY_BAD_DTYPE, EDDY_OK },
        { EDDY_COMPLEX64, EDDY_FLOAT32, EDDY_BAD_DTYPE, EDDY_BAD_DTYPE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t n = rows[i].file == EDDY_BOOL ? 1 : 100;
        eddy_tensor from = counting("from", rows[i].file, EDDY_SHAPE(n)),
                    to = counting("to", rows[i].variable, EDDY_SHAPE(n));
        WORKS(eddy_save(s, "f", EDDY_LIST(from)));
        const eddy_named_variable pair = { eddy_name_of(from), to };
        for (int how = EDDY_CAST_EXACT; how <= EDDY_CAST_ANY; how++) {
            const eddy_status want = how == EDDY_CAST_NONE ? EDDY_BAD_DTYPE
                                     : how == EDDY_CAST_ANY ? rows[i].any : rows[i].exact;
            clear(to);
            ck_assert_int_eq(eddy_restore_checkpoint(s, "f", .named = &pair, .n_named = 1,
                                                     .casting = (eddy_casting)how), want);
            if (want == EDDY_OK) counts(to);
        }
    }
}
END_TEST

START_TEST(rounded_once)
{
    eddy_tensor v = counting("v", EDDY_FLOAT64, EDDY_SHAPE(2));
    WORKS(eddy_variable_set(s, v, EDDY_DOUBLES(1 + 0x1p-8 + 0x1p-40, -0.1)));
    WORKS(eddy_save_checkpoint(s, "f", .dtype = EDDY_BFLOAT16));
    entry_has("f", "v", EDDY_SHAPE(2), (double[]){ 1 + 0x1p-7, -0.10009765625 });
    WORKS(eddy_restore_checkpoint(s, "f"));
    has(s, v, 2, (double[]){ 1 + 0x1p-7, -0.10009765625 });
    counting("i", EDDY_INT32, EDDY_SHAPE(2));
    WORKS(eddy_save_checkpoint(s, "f", .dtype = EDDY_FLOAT16));
    entry_has("f", "i", EDDY_SHAPE(2), (double[]){ 1, 2 });
}
END_TEST

START_TEST(complex_numbers)
{
    eddy_tensor  z = eddy_variable(g, eddy_zeros(g, EDDY_COMPLEX128, EDDY_SHAPE(2)), .name = "z");
    eddy_array  *a = eddy_array_new(EDDY_COMPLEX128, EDDY_SHAPE(2));
    eddy_array_set_complex(a, 0, 1, 2);
    eddy_array_set_complex(a, 1, 3, -4);
    WORKS(eddy_variable_set(s, z, a));
    WORKS(eddy_save(s, "f", EDDY_LIST()));
    eddy_checkpoint      *c = opened("f");
    eddy_checkpoint_entry e = eddy_checkpoint_entry_at(c, 0);
    ck_assert_str_eq(e.element, "F64");
    ck_assert(e.dtype == EDDY_COMPLEX128 && e.shape.rank == 1);
    eddy_array *b = eddy_checkpoint_value(c, "z", NULL);
    ck_assert(eddy_array_equal(a, b));
    eddy_array_free(b);
    eddy_checkpoint_free(c);
    clear(z);
    WORKS(eddy_restore(s, "f", EDDY_LIST()));
    b = eddy_variable_value(s, z);
    ck_assert(eddy_array_equal(a, b));
    eddy_array_free(b);
    /* Also without the note: pairs of real numbers. */
    const eddy_array *pairs = EDDY_SHAPED(EDDY_DOUBLES(1, 2, 3, -4), 2, 2);
    eddy__safetensors_write(&files.table, NULL, "f", 1, (const char *[]){ "z" }, &pairs, 0, NULL,
                            NULL);
    clear(z);
    WORKS(eddy_restore(s, "f", EDDY_LIST()));
    b = eddy_variable_value(s, z);
    ck_assert(eddy_array_equal(a, b));
    eddy_array_free(b);
    eddy_array_free(a);
}
END_TEST

/* --------------------------------------------------------------- partial -- */

START_TEST(reported)
{
    eddy_restore_report r;
    eddy_tensor         a = counting("a", EDDY_FLOAT32, EDDY_SHAPE(2)),
                b = counting("b", EDDY_FLOAT32, EDDY_SHAPE(2)),
                c = counting("c", EDDY_FLOAT32, EDDY_SHAPE(2));
    WORKS(eddy_save(s, "f", EDDY_LIST(a, c)));
    clear(a);
    ck_assert_int_eq(eddy_restore_checkpoint(s, "f", EDDY_LIST(a, b), .report = &r),
                     EDDY_NOT_FOUND);
    ck_assert_int_eq(r.n_restored, 0);
    ck_assert_int_eq(r.n_missing, 1);
    eddy_restore_report_free(&r);
    has(s, a, 2, (double[]){ 0, 0 });
    WORKS(eddy_restore_checkpoint(s, "f", EDDY_LIST(a, b), .partial = true, .report = &r));
    counts(a);
    counts(b);
    ck_assert(r.n_restored == 1 && r.n_missing == 1 && r.n_left_over == 1);
    ck_assert_str_eq(r.restored[0], "a");
    ck_assert_str_eq(r.missing[0], "b");
    ck_assert_str_eq(r.left_over[0], "c");
    eddy_restore_report_free(&r);
    eddy_restore_report_free(&r);
    eddy_restore_report_free(NULL);
    ck_assert_int_eq(eddy_restore_checkpoint(s, "f", EDDY_LIST(b), .partial = true),
                     EDDY_NOT_FOUND);
}
END_TEST

/* The values of averages under the names of the variables. */
START_TEST(averages_to_restore)
{
    eddy_tensor    v = counting("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_averages *ema = eddy_exponential_moving_average(g, eddy_scalar(g, 0.5));
    eddy_tensor    apply = eddy_averages_apply(ema, EDDY_LIST(v));
    runs(s, eddy_initializer(g));
    WORKS(eddy_variable_set(s, v, EDDY_FLOATS(4, 8)));
    runs(s, apply);
    WORKS(eddy_save(s, "f", EDDY_LIST()));
    eddy_named_variable all[8];
    const int n = eddy_averages_to_restore(ema, all, 8);
    WORKS(eddy_restore_checkpoint(s, "f", .named = all, .n_named = n));
    has(s, v, 2, (double[]){ 2, 4 });
}
END_TEST

/* -------------------------------------------------------------- checksums -- */

START_TEST(a_flipped_bit)
{
    eddy_tensor v = counting("v", EDDY_FLOAT32, EDDY_SHAPE(4));
    WORKS(eddy_save(s, "f", EDDY_LIST(v)));
    const memory_content *c = memory_files_get(&files, "f");
    c->bytes[c->size - 1] ^= 4;
    ck_assert_int_eq(eddy_restore(s, "f", EDDY_LIST(v)), EDDY_CORRUPT);
    counts(v);
    WORKS(eddy_restore_checkpoint(s, "f", EDDY_LIST(v), .unchecked = true));
}
END_TEST

/* Another program has removed an entry and kept the metadata with the checksums of both. */
START_TEST(an_entry_less)
{
    static const char header[] =
        "{\"__metadata__\":{\"eddy.crc32c\":\"0000000000000000\","
        "\"eddy.header_crc32c\":\"00000000\"},"
        "\"v\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    const float    values[] = { 1, 2 };
    const uint64_t length = sizeof header - 1;
    char           file[sizeof length + sizeof header - 1 + sizeof values];
    memcpy(file, &length, sizeof length);
    memcpy(file + sizeof length, header, sizeof header - 1);
    memcpy(file + sizeof length + sizeof header - 1, values, sizeof values);
    memory_files_put(&files, "f", file, sizeof file);
    eddy_tensor v = counting("v", EDDY_FLOAT32, EDDY_SHAPE(2));
    clear(v);
    ck_assert_int_eq(eddy_restore(s, "f", EDDY_LIST(v)), EDDY_CORRUPT);
    WORKS(eddy_restore_checkpoint(s, "f", EDDY_LIST(v), .unchecked = true));
    counts(v);
}
END_TEST

/* A file that fails once is not opened again for its next entry. */
START_TEST(a_file_that_fails_once)
{
    static const char path[] = "m.json";            /* one file with both entries */
    counting("v", EDDY_FLOAT32, EDDY_SHAPE(8));
    counting("w", EDDY_FLOAT32, EDDY_SHAPE(8));
    WORKS(eddy_save_checkpoint(s, path));
    bool reached = true;
    for (int at = 1; reached; at++) {
        eddy_error e = { 0 };
        const int  begin = files.calls;
        files.fault = (memory_fault){ .at = begin + at, .number = EIO };
        eddy_checkpoint *c = eddy_checkpoint_open(path, &files.table, .error = &e);
        reached = files.calls >= begin + at;
        ck_assert_msg((c != NULL) == (e.status == EDDY_OK), "%d: %s", at, e.message);
        eddy_checkpoint_free(c);
    }
    files.fault.at = 0;
}
END_TEST

Suite *checkpoints_suite(void)
{
    Suite *suite = suite_create("checkpoints");
    TCase *c = tcase_create("checkpoints");
    const TTest *const tests[] = {
        crc32c, listed, mapped, several_files, an_index_that_cannot_be_read, names_and_axes,
        scopes_and_separators, names_with_an_empty_part, names_by_a_function, casting,
        rounded_once, complex_numbers, reported, averages_to_restore, a_flipped_bit,
        an_entry_less, a_file_that_fails_once,
    };
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    tcase_add_loop_test(c, several_files_or_the_old_ones, 0, 2);
    suite_add_tcase(suite, c);
    return suite;
}
