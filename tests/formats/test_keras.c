/* test_keras.c -- weights of Keras: files that h5py wrote with the names and layouts of Keras
 * (tests/formats/files/make_keras.py), and HDF5 files of other kinds. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/checkpoint_files.h"
#include "tests/lib/golden.h"

#include <stdio.h>

#define FILES "tests/formats/files/"

static const double numbers[] = { 0, 1, 2, 3, 4, 5 };

static eddy_checkpoint *opened(const char *path)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_keras_checkpoint_open(path, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    return c;
}

/* ------------------------------------------------------------------- Keras -- */

START_TEST(archive)
{
    eddy_checkpoint *c = opened(FILES "net.keras");
    ck_assert_int_eq(eddy_checkpoint_count(c), 5);
    has_entry(c, "layers/dense/vars/0", EDDY_FLOAT32, 4, (double[]){ 5, 6, 7, 8 });
    has_entry(c, "layers/dense_1/vars/0", EDDY_FLOAT32, 4, (double[]){ 7, 8, 9, 10 });
    has_entry(c, "layers/dense_1/vars/1", EDDY_FLOAT32, 2, numbers);
    has_entry(c, "optimizer/vars/0", EDDY_INT64, 1, (double[]){ 7 });
    const eddy_checkpoint_entry e =
        eddy_checkpoint_entry_at(c, eddy_checkpoint_find(c, "layers/dense/vars/0"));
    ck_assert_str_eq(e.element, "F32");
    ck_assert_int_eq(e.bytes, 16);
    ck_assert(eddy_shape_equal(e.shape, EDDY_SHAPE(2, 2)));
    eddy_checkpoint_free(c);
}
END_TEST

static eddy_session *restored(eddy_graph *g, const char *path, const eddy_checkpoint_map *map)
{
    eddy_checkpoint *c = opened(path);
    eddy_session    *s = eddy_session_new(g);
    fits(g);
    ck_assert_msg(eddy_restore_checkpoint(s, .checkpoint = c, .map = map) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_checkpoint_free(c);
    return s;
}

/* Weights by number, as Keras 3 has them, through rules of the program. */
START_TEST(numbered_weights)
{
    const eddy_checkpoint_rule rules[] = {
        { { "**/kernel" }, { "layers/**/vars/0" }, .axes = "i o -> i o" },
        { .variables = { "**/bias" }, .entries = { "layers/**/vars/1" } },
    };
    const eddy_checkpoint_map map = { .rules = rules, .n_rules = 2 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_constant(g, EDDY_VIEW(((float[]){ 1, 10 }), 1, 2));
    eddy_tensor   y = eddy_dense(eddy_dense(x, 2, "dense"), 2, "dense_1");
    eddy_session *s = restored(g, FILES "net.keras", &map);
    eddy_array   *out = eddy_fetch(s, y);   /* [75, 87] + [0, 1]; times [7 8; 9 10], + [0, 1] */
    ck_assert_msg(out != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_get(out, 0), 75 * 7 + 87 * 9);
    ck_assert_double_eq(eddy_array_get(out, 1), 75 * 8 + 87 * 10 + 1);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The names of Keras 2 through the map for Keras: those of layers stand twice. */
START_TEST(named_weights)
{
    const eddy_checkpoint_scope scopes[] = { { "dense", "dense/dense" },
                                             { "lstm", "lstm/lstm/lstm_cell" } };
    eddy_checkpoint_map map = eddy_keras_map();
    map.scopes = scopes;
    map.n_scopes = 2;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 1, 3));
    eddy_tensor   y = eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, 2), "lstm").outputs;
    eddy_dense(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 3)), 2, "dense");
    eddy_session *s = restored(g, FILES "keras2.h5", &map);
    eddy_array   *out = eddy_fetch(s, y);
    ck_assert_msg(out != NULL, "%s", eddy_session_message(s));
    for (int i = 0; i < 2; i++) {        /* sigmoid(o) tanh(sigmoid(i) tanh(c)) of the biases */
        const double in = 1 / (1 + exp(-i)), o = 1 / (1 + exp(-6 - i));
        ck_assert_double_eq_tol(eddy_array_get(out, i), o * tanh(in * tanh(4 + i)), 1e-6);
    }
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ any HDF5 -- */

static void has_no_value(const eddy_checkpoint *c, const char *name, eddy_status status)
{
    eddy_error e = { 0 };
    ck_assert_ptr_null(eddy_checkpoint_value(c, name, &e));
    ck_assert_int_eq(e.status, status);
    golden_error(&e);
}

/* All types, and data in the header, outside of the file, in chunks, and nowhere. */
START_TEST(types)
{
    const double     less[] = { -3, -2, -1, 0, 1, 2 };
    eddy_checkpoint *c = opened(FILES "types.h5");
    ck_assert_int_eq(eddy_checkpoint_count(c), 27);
    has_entry(c, "f/f2", EDDY_FLOAT16, 6, numbers);
    has_entry(c, "f/f4", EDDY_FLOAT32, 6, numbers);
    has_entry(c, "f/f8", EDDY_FLOAT64, 6, numbers);
    has_entry(c, "i/i1", EDDY_INT32, 6, less);
    has_entry(c, "i/i2", EDDY_INT32, 6, less);
    has_entry(c, "i/i4", EDDY_INT32, 6, less);
    has_entry(c, "i/i8", EDDY_INT64, 6, less);
    has_entry(c, "u/u1", EDDY_UINT8, 6, numbers);
    has_entry(c, "u/u2", EDDY_INT32, 6, numbers);
    has_entry(c, "u/u4", EDDY_INT64, 6, numbers);
    has_entry(c, "u/u8", EDDY_INT64, 6, numbers);
    has_entry(c, "more/bool", EDDY_BOOL, 2, (double[]){ 1, 0 });
    has_entry(c, "more/scalar", EDDY_FLOAT64, 1, (double[]){ 2.5 });
    has_entry(c, "more/none", EDDY_FLOAT32, 0, NULL);
    has_entry(c, "more/empty", EDDY_FLOAT32, 0, NULL);
    has_entry(c, "other/compact", EDDY_FLOAT32, 2, numbers);
    golden_begin("formats/keras_values");
    has_no_value(c, "S/S3", EDDY_UNIMPLEMENTED);
    has_no_value(c, "big/f4", EDDY_UNIMPLEMENTED);
    has_no_value(c, "c/c8", EDDY_UNIMPLEMENTED);
    has_no_value(c, "more/deep", EDDY_UNIMPLEMENTED);
    has_no_value(c, "more/large", EDDY_OUT_OF_RANGE);
    has_no_value(c, "other/chunks", EDDY_UNIMPLEMENTED);
    has_no_value(c, "other/packed", EDDY_UNIMPLEMENTED);
    has_no_value(c, "other/outside", EDDY_UNIMPLEMENTED);
    has_no_value(c, "other/typed", EDDY_UNIMPLEMENTED);
    has_no_value(c, "other/unwritten", EDDY_UNIMPLEMENTED);
    golden_end();
    eddy_checkpoint_free(c);
}
END_TEST

/* Two names of one dataset are two entries; soft links and those to other files are left out. */
START_TEST(links)
{
    eddy_checkpoint *c = opened(FILES "links.h5");
    ck_assert_int_eq(eddy_checkpoint_count(c), 2);
    has_entry(c, "b", EDDY_FLOAT32, 2, numbers);
    eddy_checkpoint_free(c);
    c = opened(FILES "old_links.h5");
    ck_assert_int_eq(eddy_checkpoint_count(c), 1);
    has_entry(c, "a", EDDY_FLOAT32, 2, numbers);
    eddy_checkpoint_free(c);
}
END_TEST

/* ------------------------------------------------------------------- damage -- */

static void put_file(memory_files *m, const char *path)
{
    char  bytes[16384];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    ck_assert_uint_lt(n, sizeof bytes);
    memory_files_put(m, "x", bytes, n);
    fclose(f);
}

static eddy_checkpoint *open_again(memory_files *m, eddy_error *e)
{
    return eddy_keras_checkpoint_open("x", &m->table, .error = e);
}

/* Where a text first stands in the file. */
static size_t place_of(const memory_content *c, const char *text)
{
    for (size_t i = 0; i + strlen(text) <= c->size; i++)
        if (memcmp(c->bytes + i, text, strlen(text)) == 0) return i;
    ck_abort_msg("the file has no '%s'", text);
    return 0;
}

typedef struct change {
    const char *file, *near;             /* the byte so far behind this text, or from the start */
    int         at, value;
    eddy_status status;
} change;

/* The kinds of damage: marks, addresses, sizes, and archives. */
static const change changes[] = {
    { FILES "keras2.h5", NULL, 0, 'x', EDDY_CORRUPT },
    { FILES "keras2.h5", NULL, 8, 9, EDDY_UNIMPLEMENTED },
    { FILES "keras2.h5", NULL, 13, 4, EDDY_UNIMPLEMENTED },
    { FILES "keras2.h5", NULL, 25, 2, EDDY_UNIMPLEMENTED },
    { FILES "keras2.h5", NULL, 70, 1, EDDY_CORRUPT },
    { FILES "keras2.h5", NULL, 96, 7, EDDY_CORRUPT },
    { FILES "keras2.h5", "TREE", 4, 1, EDDY_CORRUPT },
    { FILES "keras2.h5", "TREE", 5, 1, EDDY_CORRUPT },
    { FILES "keras2.h5", "HEAP", 0, 'x', EDDY_CORRUPT },
    { FILES "keras2.h5", "SNOD", 7, 255, EDDY_CORRUPT },
    { FILES "keras2.h5", "SNOD", 10, 255, EDDY_CORRUPT },
    { FILES "keras2.h5", "SNOD", 8, 1, EDDY_LIMIT },
    { FILES "types.h5", "OHDR", 25, 255, EDDY_CORRUPT },
    { FILES "net.keras", "PK\1\2", 0, 'x', EDDY_CORRUPT },
    { FILES "net.keras", "layers", 0, 'x', EDDY_CORRUPT },
};

START_TEST(messages)
{
    memory_files m;
    eddy_error   e = { 0 };
    static const char *const refused[] = { FILES "loop.h5", FILES "many.h5", FILES "net.pt",
                                           FILES "model.json", FILES "none.h5" };
    golden_begin("formats/keras");
    ck_assert_ptr_null(eddy_keras_checkpoint_open(.error = &e));
    ck_assert_ptr_null(eddy_keras_checkpoint_open_with(NULL));
    golden_error(&e);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_ptr_null(eddy_keras_checkpoint_open(refused[i], .error = &e));
        golden_error(&e);
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        memory_files_init(&m);
        put_file(&m, changes[i].file);
        memory_content *c = (memory_content *)memory_files_get(&m, "x");
        const size_t    near = changes[i].near ? place_of(c, changes[i].near) : 0;
        c->bytes[near + (size_t)changes[i].at] = (char)changes[i].value;
        ck_assert_ptr_null(open_again(&m, &e));
        ck_assert_msg(e.status == changes[i].status, "change %d: %s", (int)i, e.message);
        golden_error(&e);
        memory_files_free(&m);
    }
    golden_end();
}
END_TEST

static void use(memory_files *m)
{
    eddy_error e = { 0 };
    use_checkpoint(open_again(m, &e), &e);
}

START_TEST(damaged)
{
    static const char *const files[] = { "keras2.h5", "net.keras", "types.h5", "links.h5" };
    char         path[64];
    memory_files m;
    memory_files_init(&m);
    snprintf(path, sizeof path, FILES "%s", files[_i]);
    put_file(&m, path);
    damage_file(&m, "x", use);
    memory_files_free(&m);
}
END_TEST

Suite *keras_suite(void)
{
    Suite *s = suite_create("keras");
    TCase *t = tcase_create("keras");
    tcase_add_test(t, archive);
    tcase_add_test(t, numbered_weights);
    tcase_add_test(t, named_weights);
    tcase_add_test(t, types);
    tcase_add_test(t, links);
    tcase_add_test(t, messages);
    tcase_add_loop_test(t, damaged, 0, 4);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    return s;
}
