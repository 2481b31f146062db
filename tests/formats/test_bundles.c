/* test_bundles.c -- checkpoints of TensorFlow written field by field: each type, entries that are
 * not inside their file, damaged indexes, and names of objects. */
#include "formats.h"
#include "formats/checksum.h"
#include "formats/tensorflow/model.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_writer.h"
#include "tests/lib/files/zip_writer.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *bundles_suite(void);

static uint32_t masked(const void *p, size_t n)
{
    const uint32_t c = eddy__file_crc32c((wire_bytes){ p, n });
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* A pair of a block, whose key shares nothing with the one before. Frees the value. */
static void add_pair(message *block, const char *key, message value)
{
    ck_assert(strlen(key) < 128 && value.size < 128);
    message_put_number(block, 0, 1);
    message_put_number(block, strlen(key), 1);
    message_put_number(block, value.size, 1);
    message_put_text(block, key);
    if (value.size) message_put(block, value.at, value.size);
    message_free(&value);
}

static message header_of(uint64_t files, uint64_t order)
{
    message m = { NULL, 0 };
    message_number(&m, 1, files);
    if (order) message_number(&m, 2, order);
    return m;
}

typedef struct entry {
    int      type, rank;
    int64_t  dims[9];
    uint64_t shard, offset, size;
    bool     sliced;
    uint32_t wrong;                     /* added to the checksum */
} entry;

enum { DATA = 64 };
static uint8_t data[DATA];

static message entry_message(const entry *t)
{
    message m = { NULL, 0 }, shape = { NULL, 0 };
    for (int i = 0; i < t->rank; i++) {
        message dim = { NULL, 0 };
        message_number(&dim, 1, (uint64_t)t->dims[i]);
        message_inner(&shape, 2, dim);
    }
    message_number(&m, 1, (uint64_t)t->type);
    message_inner(&m, 2, shape);
    message_number(&m, 3, t->shard);
    message_number(&m, 4, t->offset);
    message_number(&m, 5, t->size);
    const bool inside = t->offset <= DATA && t->size <= DATA - t->offset;
    message_put_number(&m, 6 << 3 | 5, 1);
    message_put_number(&m, (inside ? masked(data + t->offset, (size_t)t->size) : 0) + t->wrong,
                       4);
    if (t->sliced) message_inner(&m, 7, (message){ NULL, 0 });
    return m;
}

/* A checkpoint "b" with this index, which is freed, and DATA bytes 1, 2, 3, ... */
static eddy_checkpoint *open_index(message index, memory_files *files, eddy_error *e)
{
    for (int i = 0; i < DATA; i++) data[i] = (uint8_t)(i + 1);
    memory_files_init(files);
    memory_files_put(files, "b.index", index.at, index.size);
    memory_files_put(files, "b.data-00000-of-00001", data, DATA);
    message_free(&index);
    *e = (eddy_error){ 0 };
    eddy_checkpoint *c = eddy_tensorflow_checkpoint_open("b", .files = &files->table, .error = e);
    ck_assert((c != NULL) == (e->status == EDDY_OK));
    return c;
}

static message index_of(const entry *t)
{
    message block = { NULL, 0 };
    for (int i = 0; i < DATA; i++) data[i] = (uint8_t)(i + 1);
    add_pair(&block, "", header_of(1, 0));
    add_pair(&block, "x", entry_message(t));
    return tf_table_of(block, 1);
}

/* ------------------------------------------------------------------ entries -- */

static const char damaged[] = "its entry in the index is damaged",
                  outside[] = "it is not inside its file",
                  unequal[] = "it does not have as many elements as its shape";

static const struct {
    entry       t;
    const char *opening, *reading;      /* what is wrong; NULL: nothing */
    double      first;
} entries[] = {
    { { TF_UINT8, 1, { 2 }, 0, 0, 2, false, 0 }, NULL, NULL, 1 },
    { { TF_INT8, 1, { 2 }, 0, 0, 2, false, 0 }, NULL, NULL, 1 },
    { { TF_INT16, 1, { 2 }, 0, 0, 4, false, 0 }, NULL, NULL, 0x201 },
    { { TF_UINT16, 1, { 2 }, 0, 0, 4, false, 0 }, NULL, NULL, 0x201 },
    { { TF_INT32, 1, { 2 }, 0, 0, 8, false, 0 }, NULL, NULL, 0x4030201 },
    { { TF_UINT32, 1, { 2 }, 0, 0, 8, false, 0 }, NULL, NULL, 0x4030201 },
    { { TF_INT64, 1, { 1 }, 0, 0, 8, false, 0 }, NULL, NULL, 578437695752307200.0 },
    { { TF_BOOL, 1, { 2 }, 0, 0, 2, false, 0 }, NULL, NULL, 1 },
    { { TF_FLOAT, 0, { 0 }, 0, 60, 4, false, 0 }, NULL, NULL, 0 },
    { { TF_DOUBLE, 2, { 2, 3 }, 0, 8, 48, false, 0 }, NULL, NULL, 0 },
    { { TF_COMPLEX64, 1, { 3 }, 0, 0, 24, false, 0 }, NULL, NULL, 0 },
    { { TF_COMPLEX128, 1, { 4 }, 0, 0, 64, false, 0 }, NULL, NULL, 0 },
    { { TF_HALF, 1, { 3 }, 0, 1, 6, false, 0 }, NULL, NULL, 0 },
    { { TF_BFLOAT16, 8, { 1, 1, 1, 1, 1, 1, 1, 3 }, 0, 0, 6, false, 0 }, NULL, NULL, 0 },
    { { TF_FLOAT, 1, { 0 }, 0, 64, 0, false, 0 }, NULL, NULL, 0 },
    { { TF_STRING, 1, { 1 }, 0, 0, 4, false, 0 }, NULL, "its type is not supported", 0 },
    { { 200, 1, { 1 }, 0, 0, 4, false, 0 }, NULL, "its type is not supported", 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 0, 4, true, 0 }, NULL, "it is stored in slices", 0 },
    { { TF_FLOAT, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 0, 0, 4, false, 0 }, NULL,
      "it has more than 8 dimensions", 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 0, 4, false, 1 }, NULL, "its checksum is wrong", 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 0, 5, false, 0 }, NULL, unequal, 0 },
    { { TF_FLOAT, 1, { 2 }, 0, 0, 4, false, 0 }, NULL, unequal, 0 },
    { { TF_COMPLEX64, 1, { 2 }, 0, 0, 8, false, 0 }, NULL, unequal, 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 61, 4, false, 0 }, outside, NULL, 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 65, 0, false, 0 }, outside, NULL, 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 65, 0, true, 0 }, NULL, "it is stored in slices", 0 },
    { { TF_FLOAT, 1, { 1 }, 0, INT64_MAX, INT64_MAX, false, 0 }, outside, NULL, 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 1ull << 63, 4, false, 0 }, damaged, NULL, 0 },
    { { TF_FLOAT, 1, { 1 }, 0, 0, 1ull << 63, false, 0 }, damaged, NULL, 0 },
    { { TF_FLOAT, 1, { 1 }, 1, 0, 4, false, 0 }, damaged, NULL, 0 },
    { { TF_FLOAT, 1, { -1 }, 0, 0, 4, false, 0 }, damaged, NULL, 0 },
    /* 2^62 + 1 elements of 4 bytes, which are 4 bytes modulo 2^64 */
    { { TF_FLOAT, 5, { 5, 5581, 8681, 49477, 384773 }, 0, 0, 4, false, 0 }, damaged, NULL, 0 },
};

START_TEST(each_entry)
{
    memory_files     files;
    eddy_error       e;
    const char      *wrong = entries[_i].opening;
    eddy_checkpoint *c = open_index(index_of(&entries[_i].t), &files, &e);
    ck_assert_msg((c == NULL) == (wrong != NULL), "%s", e.message);
    if (c) {
        const eddy_checkpoint_entry x = eddy_checkpoint_entry_at(c, 0);
        ck_assert(eddy_checkpoint_count(c) == 1 && strcmp(x.name, "x") == 0);
        ck_assert_int_eq(x.bytes, (int64_t)entries[_i].t.size);
        eddy_array *a = eddy_checkpoint_value(c, "x", &e);
        wrong = entries[_i].reading;
        ck_assert_msg((a == NULL) == (wrong != NULL), "%s", e.message);
        if (a) ck_assert_int_eq(eddy_array_shape(a).rank, entries[_i].t.rank);
        if (entries[_i].first != 0) ck_assert(eddy_array_get(a, 0) == entries[_i].first);
        eddy_array_free(a);
    }
    if (wrong) ck_assert_msg(strstr(e.message, wrong), "%s", e.message);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
}
END_TEST

/* ------------------------------------------------------------------ indexes -- */

static void refuses(message index, eddy_status status, const char *problem)
{
    memory_files files;
    eddy_error   e;
    ck_assert_ptr_null(open_index(index, &files, &e));
    ck_assert_msg(e.status == status && strstr(e.message, problem), "%s: %s",
                  eddy_status_name(e.status), e.message);
    memory_files_free(&files);
}

static message only_header(const char *key, message value)
{
    message block = { NULL, 0 };
    add_pair(&block, key, value);
    return tf_table_of(block, 1);
}

START_TEST(headers)
{
    static const char no_header[] = "the index has no header",
                      bad_header[] = "the header of the index is damaged";
    refuses(tf_table_of((message){ NULL, 0 }, 1), EDDY_CORRUPT, no_header);
    refuses(only_header("x", header_of(1, 0)), EDDY_CORRUPT, no_header);
    refuses(only_header("", header_of(0, 0)), EDDY_CORRUPT, bad_header);
    refuses(only_header("", header_of(10001, 0)), EDDY_CORRUPT, bad_header);
    refuses(only_header("", header_of(10000, 0)), EDDY_NOT_FOUND, "b.data-00000-of-10000");
    message bytes = { NULL, 0 };
    message_put_number(&bytes, 8, 1);
    refuses(only_header("", bytes), EDDY_CORRUPT, bad_header);
    refuses(only_header("", header_of(1, 1)), EDDY_UNIMPLEMENTED, "big-endian files");
    memory_files     files;
    eddy_error       e;
    eddy_checkpoint *c = open_index(only_header("", header_of(1, 0)), &files, &e);
    ck_assert_msg(c && eddy_checkpoint_count(c) == 0, "%s", e.message);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
    ck_assert_ptr_null(eddy_tensorflow_checkpoint_open(NULL, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
}
END_TEST

/* Bytes of a pair: shared, other and value's length, and so on; whether it is damaged. */
static const struct { const char *bytes; size_t size; bool bad; } pairs[] = {
    { "\0\0\2\x08\1", 5, false },
    { "\0\0\2\x08\1" "\0\1\0x", 9, false },
    { "\0\0\2\x08\1" "\0\0\0", 8, false },                       /* again an empty key */
    { "\0\0\2\x08\1" "\1\1\0x", 9, true },                     /* more than the key before */
    { "\0\0\2\x08\1" "\0\2\0x", 9, true },
    { "\0\0\2\x08\1" "\0\1\1x", 9, true },
    /* 2 and 2^64 - 1 bytes, 1 of 2^64 */
    { "\0\0\2\x08\1" "\0\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1x", 18, true },
    { "\0\0\2\x08\1" "\0\1", 7, true },
    { "\0\0\2\x08\1" "\0", 6, true },
    { "\0\0\2\x08\1" "\x80", 6, true },
    { "\0\0\2\x08\1" "\0\x81\x20\0x", 10, true },               /* a key of 4097 bytes */
};

START_TEST(each_pair)
{
    memory_files files;
    eddy_error   e;
    message      block = { NULL, 0 };
    message_put(&block, pairs[_i].bytes, pairs[_i].size);
    eddy_checkpoint *c = open_index(tf_table_of(block, 1), &files, &e);
    ck_assert_msg((c == NULL) == pairs[_i].bad, "%s", e.message);
    if (!c) ck_assert_msg(strstr(e.message, "a pair is damaged"), "%s", e.message);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
}
END_TEST

/* The longest key, in two pairs. */
START_TEST(long_keys)
{
    for (int more = 0; more < 2; more++) {
        memory_files files;
        eddy_error   e;
        message      block = { NULL, 0 };
        const entry  t = { TF_UINT8, 1, { 1 }, 0, 0, 1, false, 0 };
        add_pair(&block, "", header_of(1, 0));
        message value = entry_message(&t);
        message_put_number(&block, 0, 1);
        message_put_number(&block, 0x1fff, 2);                  /* 4095 as a varint: ff 1f */
        message_put_number(&block, value.size, 1);
        for (int i = 0; i < 4095; i++) message_put_text(&block, "k");
        message_put(&block, value.at, value.size);
        message_put_number(&block, 0x1fff, 2);
        message_put_number(&block, (uint64_t)more + 1, 1);
        message_put_number(&block, value.size, 1);
        message_put(&block, "ll", (size_t)more + 1);
        message_put(&block, value.at, value.size);
        message_free(&value);
        eddy_checkpoint *c = open_index(tf_table_of(block, 1), &files, &e);
        ck_assert_int_eq(eddy_checkpoint_count(c), more ? 0 : 2);
        if (more) ck_assert_msg(strstr(e.message, "a pair is damaged"), "%s", e.message);
        eddy_checkpoint_free(c);
        memory_files_free(&files);
    }
}
END_TEST

/* Pairs that share a key of 4096 bytes take 4 bytes each; all keys may take 32 MiB and twice the
 * size of the file. */
START_TEST(keys_that_grow)
{
    static const uint8_t same[4] = { 0x80, 0x20, 0, 0 };
    for (int n = 8209; n <= 8211; n++) {
        memory_files files;
        eddy_error   e;
        message      block = { NULL, 0 };
        add_pair(&block, "", header_of(1, 0));
        message_put(&block, "\0\x80\x20\0", 4);
        for (int i = 0; i < 4096; i++) message_put_text(&block, "k");
        for (int i = 1; i < n; i++) message_put(&block, same, sizeof same);
        message          index = tf_table_of(block, 1);
        const bool       fits = (size_t)n * 4096 <= ((size_t)32 << 20) + 2 * index.size;
        eddy_checkpoint *c = open_index(index, &files, &e);
        ck_assert_int_eq(fits, n < 8211);
        ck_assert_msg(!c && strstr(e.message, fits ? "two entries" : "keys take too much memory"),
                      "%s", e.message);
        eddy_checkpoint_free(c);
        memory_files_free(&files);
    }
}
END_TEST

/* An entry that is no message, and one whose shape is none. */
START_TEST(damaged_entries)
{
    static const char *const bytes[] = { "\x08", "\x10\1", "\x12\1\x12", "\x12\3\x12\1\x08" };
    static const size_t      sizes[] = { 1, 2, 3, 5 };
    for (int i = 0; i < 4; i++) {
        message block = { NULL, 0 }, value = { NULL, 0 };
        message_put(&value, bytes[i], sizes[i]);
        add_pair(&block, "", header_of(1, 0));
        add_pair(&block, "x", value);
        refuses(tf_table_of(block, 1), EDDY_CORRUPT, damaged);
    }
}
END_TEST

/* More entries than there is room for at first; and more than there may be. */
START_TEST(many_entries)
{
    memory_files files;
    eddy_error   e;
    message      block = { NULL, 0 };
    char         name[8];
    const entry  t = { TF_UINT8, 1, { 1 }, 0, 3, 1, false, 0 };
    for (int i = 0; i < DATA; i++) data[i] = (uint8_t)(i + 1);
    add_pair(&block, "", header_of(1, 0));
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "x%03d", i);
        add_pair(&block, name, entry_message(&t));
    }
    eddy_checkpoint *c = open_index(tf_table_of(block, 1), &files, &e);
    ck_assert_msg(c && eddy_checkpoint_count(c) == 200, "%s", e.message);
    for (int i = 0; i < 200; i += 199) {
        snprintf(name, sizeof name, "x%03d", i);
        ck_assert_str_eq(eddy_checkpoint_entry_at(c, i).name, name);
        eddy_array *a = eddy_checkpoint_value(c, name, &e);
        ck_assert(a && eddy_array_get(a, 0) == 4);
        eddy_array_free(a);
    }
    eddy_checkpoint_free(c);
    memory_files_free(&files);
    enum { MOST = 1 << 18 };
    for (int more = 0; more < 2; more++) {              /* pairs of an empty key and value */
        message all = { NULL, 0 }, rest = { calloc(MOST, 3), 3 * (size_t)(MOST - 1 + more) };
        add_pair(&all, "", header_of(1, 0));
        message_put(&all, rest.at, rest.size);
        message_free(&rest);
        c = open_index(tf_table_of(all, 1), &files, &e);
        ck_assert_msg((c != NULL) == (more == 0), "%s", e.message);
        if (more) ck_assert_msg(e.status == EDDY_LIMIT && strstr(e.message, "too many"), "%s",
                                e.message);
        eddy_checkpoint_free(c);
        memory_files_free(&files);
    }
}
END_TEST

/* Where a footer says that the index is: behind two numbers, the offset and the size of a block.
 * The file begins with a block of no pairs, of 8 bytes, one of a pair whose block is not in the
 * file, at 13, one that is damaged, at 32, and one of a damaged pair, at 41. */
static const struct {
    const char *at;
    size_t      size;
    bool        cut_off;
    const char *problem;
} footers[] = {
    { "\0\0\0\x08", 4, false, "the index has no header" },
    { "", 0, true, "the footer is damaged" },
    { "\0", 1, true, "the footer is damaged" },
    { "\0\0", 2, true, "a block is not inside the file" },
    { "\0\0\0", 3, true, "a block is not inside the file" },
    { "\0\0\x64\x08", 4, false, "a block is not inside the file" },
    { "\0\0\0\x7f", 4, false, "a block is not inside the file" },
    { "\0\0\0\x66", 4, false, "a block is not inside the file" },
    { "\0\0\0\3", 4, false, "a block is not inside the file" },
    { "\0\0\x0d\x0e", 4, false, "byte 17: a block is not inside the file" },
    { "\0\0\x20\4", 4, false, "byte 32: a block is damaged" },
    { "\0\0\x29\x0c", 4, false, "byte 41: a pair is damaged" },
};

static void put_block(message *file, const char *p, size_t n)
{
    const size_t from = file->size;
    message_put(file, p, n);
    message_put(file, "", 1);
    message_put_number(file, masked(file->at + from, n + 1), 4);
}

START_TEST(each_footer)
{
    message file = { NULL, 0 }, footer = { NULL, 0 };
    put_block(&file, "\0\0\0\0\1\0\0\0", 8);
    put_block(&file, "\0\1\2~\x64\x08\0\0\0\0\1\0\0\0", 14);
    put_block(&file, "\xff\0\0\0", 4);
    put_block(&file, "\1\1\0~\0\0\0\0\1\0\0\0", 12);
    message_put(&footer, footers[_i].at, footers[_i].size);
    while (footer.size < 40) message_put(&footer, footers[_i].cut_off ? "\x80" : "", 1);
    message_put(&file, footer.at, footer.size);
    message_free(&footer);
    message_put(&file, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    refuses(file, EDDY_CORRUPT, footers[_i].problem);
}
END_TEST

/* A footer alone is long enough to be read. */
START_TEST(shortest)
{
    for (int missing = 0; missing < 2; missing++) {
        message file = { NULL, 0 };
        for (int i = missing; i < 40; i++) message_put(&file, "", 1);
        message_put(&file, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
        refuses(file, EDDY_CORRUPT, missing ? "this is not an index of a checkpoint"
                                            : "a block is not inside the file");
    }
}
END_TEST

/* Each byte of an index, changed, and each prefix. */
START_TEST(damage)
{
    const entry t = { TF_UINT8, 1, { 2 }, 0, 0, 2, false, 0 };
    message     m = index_of(&t);
    for (size_t at = 0; at < m.size; at++)
        for (int k = 0; k < 4; k++) {
            memory_files files;
            eddy_error   e;
            message      copy = { NULL, 0 };
            message_put(&copy, m.at, k == 3 ? at : m.size);
            if (k < 3) copy.at[at] = k == 0 ? (uint8_t)(m.at[at] + 1) : k == 1 ? 0xff : 0x80;
            eddy_checkpoint *c = open_index(copy, &files, &e);
            if (c) ck_assert_int_eq(eddy_checkpoint_count(c), 1);
            ck_assert(k != 3 || !c);
            eddy_checkpoint_free(c);
            memory_files_free(&files);
        }
    message_free(&m);
    message block = { NULL, 0 };
    add_pair(&block, "", header_of(1, 0));
    add_pair(&block, "x", entry_message(&t));
    refuses(tf_table_of(block, 9), EDDY_CORRUPT, "blocks overlap");
}
END_TEST

/* ------------------------------------------------------------------ objects -- */

/* An attribute of an object: its full name and its key in the checkpoint. */
static void add_attribute(message *node, const char *full, const char *key)
{
    message a = { NULL, 0 };
    message_text(&a, 1, "VARIABLE_VALUE");
    if (full) message_text(&a, 2, full);
    if (key) message_text(&a, 3, key);
    message_inner(node, 2, a);
}

/* The text of an object graph, with its length, and a checkpoint "b" of it and of "x". */
static eddy_checkpoint *open_objects(message graph, uint64_t size, memory_files *files, bool sliced)
{
    message bytes = { NULL, 0 }, block = { NULL, 0 };
    message_put_number(&bytes, (size & 127) | 128 | size >> 7 << 8, 2);     /* a varint */
    message_put_number(&bytes, 0, 4);
    message_put(&bytes, graph.at, graph.size);
    const entry x = { TF_UINT8, 1, { 2 }, 0, 0, 2, false, 0 };
    const entry g = { TF_STRING, 0, { 0 }, 0, 0, bytes.size, sliced, 1 };
    add_pair(&block, "", header_of(1, 0));
    add_pair(&block, "_CHECKPOINTABLE_OBJECT_GRAPH", entry_message(&g));
    add_pair(&block, "x", entry_message(&x));
    message index = tf_table_of(block, 1);
    memory_files_init(files);
    memory_files_put(files, "b.index", index.at, index.size);
    memory_files_put(files, "b.data-00000-of-00001", bytes.at, bytes.size);
    message_free(&index);
    message_free(&bytes);
    message_free(&graph);
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_tensorflow_checkpoint_open("b", .files = &files->table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    return c;
}

static message objects(void)
{
    message g = { NULL, 0 }, node = { NULL, 0 };
    add_attribute(&node, "full", "x");
    add_attribute(&node, "full", "x");  /* the first counts */
    add_attribute(&node, "x", "x");     /* a name that is there */
    add_attribute(&node, "", "x");
    add_attribute(&node, NULL, "x");
    add_attribute(&node, "lost", NULL);
    add_attribute(&node, "lost", "y");
    message_number(&node, 1, 7);
    message_inner(&g, 1, node);
    message_number(&g, 2, 7);
    return g;
}

START_TEST(object_names)
{
    memory_files     files;
    message          g = objects();
    const size_t     size = g.size;
    eddy_checkpoint *c = open_objects(g, size, &files, false);
    ck_assert_int_eq(eddy_checkpoint_count(c), 3);
    ck_assert_str_eq(eddy_checkpoint_entry_at(c, 1).name, "full");
    ck_assert_str_eq(eddy_checkpoint_entry_at(c, 2).name, "x");
    ck_assert_int_eq(eddy_checkpoint_entry_at(c, 1).bytes, 2);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
    c = open_objects(objects(), size + 1, &files, false);       /* longer than the text */
    ck_assert_int_eq(eddy_checkpoint_count(c), 2);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
    c = open_objects(objects(), size, &files, true);
    ck_assert_int_eq(eddy_checkpoint_count(c), 2);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
}
END_TEST

/* An entry of that name which is no text of an object graph, or one that is too short. */
START_TEST(other_objects)
{
    static const struct { int type; const char *bytes; size_t size; } rows[] = {
        { TF_FLOAT, "\0\0\0\0", 4 }, { TF_STRING, "", 0 }, { TF_STRING, "\x80", 1 },
        { TF_STRING, "\0abc", 4 }, { TF_STRING, "\2abcd\x0a", 6 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memory_files files;
        eddy_error   e = { 0 };
        message      block = { NULL, 0 };
        const entry  g = { rows[i].type, 1, { 1 }, 0, 0, rows[i].size, false, 0 };
        add_pair(&block, "", header_of(1, 0));
        add_pair(&block, "_CHECKPOINTABLE_OBJECT_GRAPH", entry_message(&g));
        message index = tf_table_of(block, 1);
        memory_files_init(&files);
        memory_files_put(&files, "b.index", index.at, index.size);
        memory_files_put(&files, "b.data-00000-of-00001", rows[i].bytes, rows[i].size);
        message_free(&index);
        eddy_checkpoint *c =
            eddy_tensorflow_checkpoint_open("b", .files = &files.table, .error = &e);
        ck_assert_msg(c && eddy_checkpoint_count(c) == 1, "%s", e.message);
        eddy_checkpoint_free(c);
        memory_files_free(&files);
    }
}
END_TEST

Suite *bundles_suite(void)
{
    Suite *s = suite_create("bundles");
    TCase *t = tcase_create("bundles");
    tcase_add_loop_test(t, each_entry, 0, sizeof entries / sizeof *entries);
    tcase_add_test(t, headers);
    tcase_add_loop_test(t, each_pair, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(t, long_keys);
    tcase_add_test(t, keys_that_grow);
    tcase_add_test(t, damaged_entries);
    tcase_add_test(t, many_entries);
    tcase_add_loop_test(t, each_footer, 0, sizeof footers / sizeof *footers);
    tcase_add_test(t, shortest);
    tcase_add_test(t, damage);
    tcase_add_test(t, object_names);
    tcase_add_test(t, other_objects);
    suite_add_tcase(s, t);
    return s;
}
