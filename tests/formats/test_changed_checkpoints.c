/* test_changed_checkpoints.c -- checkpoints of other programs of which each byte is changed: the
 * answers are in tests/golden/formats. */
#include "build/gen/suites.h"
#include "formats.h"
#include "formats/checksum.h"
#include "formats/torch/pickle.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/hdf5_writer.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_writer.h"
#include "tests/lib/golden.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ PyTorch -- */

static void read_torch(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    answer_checkpoint(answer, room,
                      eddy_torch_checkpoint_open("f", .files = &m.table, .error = &e), &e);
    memory_files_free(&m);
}

static message torch_pickle(void)
{
    static const char text[] = "}U\1w" "ctorch._utils\n_rebuild_tensor_v2\n"
                               "((U\7storagectorch\nFloatStorage\nU\1kU\3cpuK\3tQ"
                               "K\1K\2\x85K\1\x85tRs.";
    message m = { NULL, 0 };
    message_put(&m, text, sizeof text - 1);
    return m;
}

static message storage(void)
{
    message m = { NULL, 0 };
    message_put(&m, (float[]){ 1, 2, 3 }, 12);
    return m;
}

/* Directories of both sizes, with a note and extra fields. */
START_TEST(torch)
{
    golden_begin("formats/changed_torch");
    for (int wide = 0; wide < 2; wide++) {
        zip_part f[] = { { .name = "x/data.pkl", .data = torch_pickle(), .extra = 3 },
                         { .name = "x/data/k", .data = storage(), .wide = wide } };
        message  m = zip_of(f, 2, (zip_ending){ .wide = wide, .note = "ab" });
        changed_bytes(wide ? "64 bits" : "32 bits", m.at, m.size, read_torch);
        message_free(&m);
    }
    golden_end();
}
END_TEST

static void answer_value(char *answer, size_t room, const pickle_value *v, int depth)
{
    static const char *const kinds[] = { "none", "number",  "text",   "list", "dict",
                                         "name", "storage", "tensor", "mark" };
    answer_add(answer, room, " %s %lld", kinds[v->kind], (long long)v->integer);
    if (v->text) answer_add(answer, room, " '%s'", v->text);
    if (v->type) answer_add(answer, room, " %s", v->type->code);
    if (depth == 4) return;
    for (size_t i = 0; i < v->count; i++) answer_value(answer, room, v->items[i], depth + 1);
    const pickle_value *const parts[] = { v->storage, v->size, v->stride };
    for (int i = 0; i < 3; i++)
        if (parts[i]) answer_value(answer, room, parts[i], depth + 1);
}

static void read_pickle(const void *file, size_t size, char *answer, size_t room)
{
    region              r = { 0 };
    const char         *problem = NULL;
    size_t              at = 0;
    const pickle_value *v = eddy__pickle_read(&r, (wire_bytes){ file, size }, &problem, &at);
    if (v) answer_value(answer, room, v, 0);
    else answer_add(answer, room, "byte %zu: %s", at, problem);
    eddy__region_free(&r);
}

/* Each instruction; what it yields is in a list. */
START_TEST(pickles)
{
    static const char text[] =
        "\x80\2\x95\7\0\0\0\0\0\0\0]q\0(NJ\xfe\xff\xff\xffM\1\2\x8a\3\1\2\xfd\x8b\2\0\0\0\3\1"
        "G\1\2\3\4\5\6\7\x8X\2\0\0\0abT\1\0\0\0cB\1\0\0\0d\x8c\1eC\1f\x8d\1\0\0\0\0\0\0\0g"
        "e(\x88\x89\x85K\1K\2K\3\x87h\0r\1\0\0\0j\1\0\0\0\x94h\2K\7K\x8" "0l" "a(K\1K\2d"
        "ccollections\nOrderedDict\n)R}(U\1aK\1uU\1bK\2s(K\1" "1\x87" "a.";
    message m = torch_pickle();
    golden_begin("formats/changed_pickles");
    changed_bytes("instructions", text, sizeof text - 1, read_pickle);
    changed_bytes("a tensor", m.at, m.size, read_pickle);
    message_free(&m);
    golden_end();
}
END_TEST

/* -------------------------------------------------------------------- Keras -- */

static void read_keras(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    answer_checkpoint(answer, room,
                      eddy_keras_checkpoint_open("f", .files = &m.table, .error = &e), &e);
    memory_files_free(&m);
}

/* Links in the header of the root. */
static message new_groups(void)
{
    enum { DATA = 260 };
    message      m = hdf5_begin();
    const size_t x = hdf5_floats(&m, 2, DATA), y = hdf5_floats(&m, 1, DATA + 4);
    const size_t root = hdf5_object(&m, 2 * (HDF5_LINK_BYTES + 1));
    hdf5_link(&m, "x", x);
    hdf5_link(&m, "y", y);
    hdf5_end(&m, root);
    ck_assert_uint_le(m.size, DATA);
    message_put_number(&m, 0, DATA - (int)m.size);
    message_put(&m, (float[]){ 1, 2 }, 8);
    return m;
}

/* A tree of two levels. */
static message old_groups(void)
{
    enum { DATA = 416 };
    message      m = hdf5_begin();
    const size_t x = hdf5_floats(&m, 2, DATA), heap = hdf5_heap(&m, "\0xy", 4);
    const size_t leaf = hdf5_tree(&m, 0, 1, hdf5_symbols(&m, 1, 1, x));
    hdf5_end(&m, hdf5_old_group(&m, hdf5_tree(&m, 1, 1, leaf), heap));
    ck_assert_uint_le(m.size, DATA);
    message_put_number(&m, 0, DATA - (int)m.size);
    message_put(&m, (float[]){ 1, 2 }, 8);
    return m;
}

START_TEST(keras)
{
    message m = new_groups();
    golden_begin("formats/changed_keras");
    changed_bytes("links", m.at, m.size, read_keras);
    message_free(&m);
    m = old_groups();
    changed_bytes("symbols", m.at, m.size, read_keras);
    message_free(&m);
    golden_end();
}
END_TEST

/* --------------------------------------------------------------- TensorFlow -- */

static void read_bundle(message index, const void *data, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "b.index", index.at, index.size);
    memory_files_put(&m, "b.data-00000-of-00001", data, size);
    answer_checkpoint(answer, room,
                      eddy_tensorflow_checkpoint_open("b", .files = &m.table, .error = &e), &e);
    memory_files_free(&m);
    message_free(&index);
}

static const float elements[] = { 1, 2, 3 };

/* The file of an index as it is. */
static void read_index(const void *file, size_t size, char *answer, size_t room)
{
    message copy = { NULL, 0 };
    message_put(&copy, file, size);
    read_bundle(copy, elements, sizeof elements, answer, room);
}

/* The pairs of an index, with right checksums around them. */
static void read_pairs(const void *file, size_t size, char *answer, size_t room)
{
    message copy = { NULL, 0 };
    message_put(&copy, file, size);
    read_bundle(tf_table_of(copy, 1), elements, sizeof elements, answer, room);
}

static uint32_t masked(const void *p, size_t n)
{
    const uint32_t c = eddy__file_crc32c((wire_bytes){ p, n });
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* The pair of a vector of so many elements from an offset on, or the header. */
static void add_pair(message *pairs, int shared, const char *key, int n, int offset)
{
    message value = { NULL, 0 }, shape = { NULL, 0 }, dim = { NULL, 0 };
    message_number(&value, 1, 1);
    if (n) {
        message_number(&dim, 1, (uint64_t)n);
        message_inner(&shape, 2, dim);
        message_inner(&value, 2, shape);
        message_number(&value, 4, (uint64_t)offset);
        message_number(&value, 5, 4 * (uint64_t)n);
        message_put_number(&value, 6 << 3 | 5, 1);
        message_put_number(&value, masked(elements + offset / 4, 4 * (size_t)n), 4);
    }
    message_put_number(pairs, (uint64_t)shared, 1);
    message_put_number(pairs, strlen(key), 1);
    message_put_number(pairs, value.size, 1);
    message_put_text(pairs, key);
    message_put(pairs, value.at, value.size);
    message_free(&value);
}

START_TEST(bundles)
{
    message pairs = { NULL, 0 }, copy = { NULL, 0 };
    add_pair(&pairs, 0, "", 0, 0);
    add_pair(&pairs, 0, "a/x", 2, 0);
    add_pair(&pairs, 2, "y", 1, 8);
    message_put(&copy, pairs.at, pairs.size);
    message index = tf_table_of(copy, 1);
    golden_begin("formats/changed_bundles");
    changed_bytes("index", index.at, index.size, read_index);
    changed_bytes("pairs", pairs.at, pairs.size, read_pairs);
    golden_end();
    message_free(&index);
    message_free(&pairs);
}
END_TEST

Suite *changed_checkpoints_suite(void)
{
    Suite *s = suite_create("changed_checkpoints");
    TCase *t = tcase_create("bytes");
    tcase_add_test(t, torch);
    tcase_add_test(t, pickles);
    tcase_add_test(t, keras);
    tcase_add_test(t, bundles);
    suite_add_tcase(s, t);
    return s;
}
