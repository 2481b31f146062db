/* test_torch_archives.c -- files of PyTorch written byte by byte: tensors at the borders of their
 * storages, archives with wrong parts, and names that are too deep or too long. */
#include "formats.h"
#include "formats/zip.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/zip_writer.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *torch_archives_suite(void);

static eddy_checkpoint *open_bytes(message m, eddy_error *e)
{
    memory_files files;
    memory_files_init(&files);
    memory_files_put(&files, "f", m.at, m.size);
    *e = (eddy_error){ 0 };
    eddy_checkpoint *c = eddy_torch_checkpoint_open("f", .files = &files.table, .error = e);
    ck_assert((c != NULL) == (e->status == EDDY_OK));
    memory_files_free(&files);
    message_free(&m);
    return c;
}

/* ----------------------------------------------------------------- pickles -- */

static void add_integer(message *m, int64_t v)
{
    message_put(m, "\x8a\x08", 2);
    message_put_number(m, (uint64_t)v, 8);
}

static void add_list(message *m, int n, const int64_t *v)
{
    message_put_text(m, "(");
    for (int i = 0; i < n; i++) add_integer(m, v[i]);
    message_put_text(m, "t");
}

typedef struct tensor {
    const char *type;                   /* of its storage, the member "data/k" */
    int64_t     offset;
    int         rank;
    int64_t     dims[9], strides[9];
} tensor;

static void add_tensor(message *m, const tensor *t)
{
    message_put_text(m, "ctorch._utils\n_rebuild_tensor_v2\n((U\7storagectorch\n");
    message_put_text(m, t->type);
    message_put_text(m, "\nU\1kU\3cpuK\1tQ");
    add_integer(m, t->offset);
    add_list(m, t->rank, t->dims);
    add_list(m, t->rank, t->strides);
    message_put_text(m, "tR");
}

static message pickle_of(const tensor *t)
{
    message m = { NULL, 0 };
    add_tensor(&m, t);
    message_put_text(&m, ".");
    return m;
}

static message bytes_of(size_t n, int value)
{
    message m = { calloc(1, n + 1), n };
    memset(m.at, value, n);
    return m;
}

/* An archive of a pickle and a storage of so many bytes. */
static message two_members(message pickle, message storage)
{
    zip_part f[] = { { .name = "x/data.pkl", .data = pickle },
                   { .name = "x/data/k", .data = storage } };
    return zip_of(f, 2, (zip_ending){ 0 });
}

/* ----------------------------------------------------------------- tensors -- */

static const char outside[] = "the tensor is not inside its storage";

/* Of a storage of 24 bytes. */
static const struct {
    tensor      t;
    const char *problem;                /* NULL: none */
} tensors[] = {
    { { "FloatStorage", 0, 1, { 6 }, { 1 } }, NULL },
    { { "FloatStorage", 0, 1, { 7 }, { 1 } }, outside },
    { { "FloatStorage", 5, 1, { 1 }, { 1 } }, NULL },
    { { "FloatStorage", 6, 1, { 1 }, { 1 } }, outside },
    { { "FloatStorage", -1, 1, { 1 }, { 1 } }, outside },
    { { "FloatStorage", 6, 1, { 0 }, { 1 } }, NULL },
    { { "FloatStorage", 0, 1, { -1 }, { 1 } }, outside },
    { { "FloatStorage", 0, 1, { 2 }, { -1 } }, outside },
    { { "FloatStorage", 0, 1, { 2 }, { 5 } }, NULL },
    { { "FloatStorage", 0, 1, { 2 }, { 6 } }, outside },
    { { "FloatStorage", 0, 1, { INT64_MAX / 32 }, { 0 } }, "no valid shape" },
    { { "FloatStorage", 0, 1, { INT64_MAX / 32 + 1 }, { 0 } }, outside },
    { { "FloatStorage", 0, 1, { 4 }, { INT64_MAX / 2 } }, outside },
    { { "FloatStorage", 1, 2, { 2, 2 }, { INT64_MAX, 1 } }, outside },
    { { "FloatStorage", 0, 2, { 1 << 30, 1 << 30 }, { 0, 0 } }, "no valid shape" },
    { { "FloatStorage", 0, 0, { 0 }, { 0 } }, NULL },
    { { "ShortStorage", 0, 8, { 2, 1, 1, 1, 1, 1, 1, 2 }, { 1, 2, 2, 2, 2, 2, 2, 2 } }, NULL },
    { { "DoubleStorage", 2, 0, { 0 }, { 0 } }, NULL },
    { { "DoubleStorage", 3, 0, { 0 }, { 0 } }, outside },
    { { "ComplexFloatStorage", 2, 0, { 0 }, { 0 } }, NULL },
    { { "ComplexFloatStorage", 3, 0, { 0 }, { 0 } }, outside },
    { { "ComplexDoubleStorage", 0, 1, { 1 }, { 1 } }, NULL },
    { { "ComplexDoubleStorage", 0, 1, { 2 }, { 1 } }, outside },
};

START_TEST(borders)
{
    eddy_error       e;
    eddy_checkpoint *c = open_bytes(two_members(pickle_of(&tensors[_i].t), bytes_of(24, 1)), &e);
    if (tensors[_i].problem) {
        ck_assert_ptr_null(c);
        ck_assert_int_eq(e.status, EDDY_CORRUPT);
        ck_assert_msg(strstr(e.message, tensors[_i].problem), "%s", e.message);
        return;
    }
    ck_assert_msg(c != NULL, "%s", e.message);
    eddy_array      *a = eddy_checkpoint_value(c, "tensor", &e);
    const eddy_shape s = eddy_array_shape(a);
    ck_assert_msg(a != NULL, "%s", e.message);
    ck_assert_int_eq(s.rank, tensors[_i].t.rank);
    ck_assert(s.rank == 0 || s.dim[0] == tensors[_i].t.dims[0]);
    eddy_array_free(a);
    eddy_checkpoint_free(c);
}
END_TEST

/* Elements 0, 1, 2, ... of each type, transposed, so that they are copied one by one. */
static const struct {
    const char *type;
    eddy_dtype  dtype;
    int         bytes;
    bool        is_float;
} types[] = {
    { "ByteStorage", EDDY_UINT8, 1, false },   { "CharStorage", EDDY_INT32, 1, false },
    { "ShortStorage", EDDY_INT32, 2, false },  { "IntStorage", EDDY_INT32, 4, false },
    { "LongStorage", EDDY_INT64, 8, false },   { "HalfStorage", EDDY_FLOAT16, 2, true },
    { "BFloat16Storage", EDDY_BFLOAT16, 2, true }, { "FloatStorage", EDDY_FLOAT32, 4, true },
    { "DoubleStorage", EDDY_FLOAT64, 8, true }, { "ComplexFloatStorage", EDDY_COMPLEX64, 8, true },
};

static message elements(int i, int n)
{
    message m = { NULL, 0 };
    for (int k = 0; k < n; k++) {
        eddy_array *a = eddy_array_of(types[i].dtype, k);
        if (types[i].dtype == EDDY_COMPLEX64) ((float *)eddy_array_data(a))[1] = (float)(10 + k);
        if (types[i].is_float) message_put(&m, eddy_array_data(a), (size_t)types[i].bytes);
        else message_put_number(&m, (uint64_t)k, types[i].bytes);
        eddy_array_free(a);
    }
    return m;
}

START_TEST(copies)
{
    const tensor     t = { types[_i].type, 1, 2, { 2, 3 }, { 1, 2 } };
    eddy_error       e;
    eddy_checkpoint *c = open_bytes(two_members(pickle_of(&t), elements(_i, 7)), &e);
    eddy_array      *a = eddy_checkpoint_value(c, "tensor", &e);
    static const double want[] = { 1, 3, 5, 2, 4, 6 };
    ck_assert_msg(a != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_array_dtype(a), types[_i].dtype);
    for (int k = 0; k < 6; k++) ck_assert(eddy_array_get(a, k) == want[k]);
    for (int k = 0; k < 6; k++)
        ck_assert(eddy_array_get_imag(a, k) ==
                  (types[_i].dtype == EDDY_COMPLEX64 ? 10 + want[k] : 0));
    ck_assert_int_eq(eddy_checkpoint_entry_at(c, 0).bytes, 6 * types[_i].bytes);
    eddy_array_free(a);
    eddy_checkpoint_free(c);
}
END_TEST

/* Elements that are in order are those of the file; others are copied. */
START_TEST(views)
{
    static const struct { tensor t; bool view; } cases[] = {
        { { "FloatStorage", 1, 2, { 2, 2 }, { 2, 1 } }, true },
        { { "FloatStorage", 1, 2, { 2, 2 }, { 1, 2 } }, false },
        { { "FloatStorage", 1, 2, { 2, 1 }, { 1, 9 } }, true },
        { { "FloatStorage", 1, 2, { 2, 1 }, { 2, 1 } }, false },
        { { "FloatStorage", 1, 1, { 2 }, { 2 } }, false },
        { { "CharStorage", 0, 1, { 2 }, { 1 } }, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_error       e;
        eddy_checkpoint *c = open_bytes(two_members(pickle_of(&cases[i].t), bytes_of(24, 1)), &e);
        eddy_array      *a = eddy_checkpoint_value(c, "tensor", &e),
                   *b = eddy_checkpoint_value(c, "tensor", &e);
        ck_assert_msg(a && eddy_array_equal(a, b), "%s", e.message);
        /* A view may have to be copied so that it is aligned. */
        if (!cases[i].view) ck_assert_ptr_ne(eddy_array_data(a), eddy_array_data(b));
        else if ((uintptr_t)eddy_array_data(a) % 64)
            ck_assert_ptr_eq(eddy_array_data(a), eddy_array_data(b));
        eddy_array_free(a);
        eddy_array_free(b);
        eddy_checkpoint_free(c);
    }
}
END_TEST

START_TEST(signs)
{
    const tensor     t = { "CharStorage", 0, 1, { 2 }, { 1 } };
    eddy_error       e;
    eddy_checkpoint *c = open_bytes(two_members(pickle_of(&t), bytes_of(2, 0x80)), &e);
    eddy_array      *a = eddy_checkpoint_value(c, "tensor", &e);
    ck_assert(a && eddy_array_get(a, 0) == -128 && eddy_array_get(a, 1) == -128);
    eddy_array_free(a);
    eddy_checkpoint_free(c);
}
END_TEST

static void refuses_value(message file, eddy_status status, const char *problem)
{
    eddy_error       e;
    eddy_checkpoint *c = open_bytes(file, &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_ptr_null(eddy_checkpoint_value(c, "tensor", &e));
    ck_assert_int_eq(e.status, status);
    const eddy_checkpoint_entry x = eddy_checkpoint_entry_at(c, 0);
    ck_assert_int_eq(x.bytes, x.shape.rank < 0 ? 0 : 2);
    ck_assert_msg(strstr(e.message, problem), "%s", e.message);
    eddy_checkpoint_free(c);
}

START_TEST(values)
{
    const tensor nine = { "FloatStorage", 0, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, { 0 } };
    refuses_value(two_members(pickle_of(&nine), bytes_of(24, 1)), EDDY_UNIMPLEMENTED,
                  "it has more than 8 dimensions");
    const tensor bools = { "BoolStorage", 0, 1, { 2 }, { 1 } };
    for (size_t i = 0; i < 2; i++) {
        message storage = bytes_of(2, 1);
        storage.at[i] = 2;
        refuses_value(two_members(pickle_of(&bools), storage), EDDY_CORRUPT,
                      "a bool is neither 0 nor 1");
    }
    zip_part f[] = { { .name = "x/data.pkl", .data = pickle_of(&bools) },
                   { .name = "x/data/k", .data = bytes_of(2, 1), .wrong = 1 } };
    refuses_value(zip_of(f, 2, (zip_ending){ 0 }), EDDY_CORRUPT, "its checksum is wrong");
}
END_TEST

/* ---------------------------------------------------------------- archives -- */

static void refuses(message m, eddy_status status, const char *problem)
{
    eddy_error e;
    ck_assert_ptr_null(open_bytes(m, &e));
    ck_assert_msg(e.status == status && strstr(e.message, problem), "%s: %s",
                  eddy_status_name(e.status), e.message);
}

static void reads(message m, int count)
{
    eddy_error       e;
    eddy_checkpoint *c = open_bytes(m, &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_checkpoint_count(c), count);
    eddy_checkpoint_free(c);
}

static const tensor plain = { "FloatStorage", 0, 1, { 2 }, { 1 } };

START_TEST(parts)
{
    static const struct {
        zip_part      pickle, storage, order;
        zip_ending      end;
        eddy_status status;
        const char *problem;
    } rows[] = {
        { .end = { .wide = true } },
        { .end = { .note = "a note" } },
        { .end = { .wide = true, .more_record = 1 }, .status = EDDY_CORRUPT,
          .problem = "this is no ZIP archive" },
        { .end = { .wide = true, .more_record = 1ull << 50 }, .status = EDDY_CORRUPT,
          .problem = "this is no ZIP archive" },
        { .end = { .more_at = 1000 }, .status = EDDY_CORRUPT,
          .problem = "the directory is not inside the file" },
        { .end = { .more_size = 1000 }, .status = EDDY_CORRUPT,
          .problem = "the directory is not inside the file" },
        { .end = { .more_entries = 1 }, .status = EDDY_CORRUPT,
          .problem = "the directory is not inside the file" },
        { .end = { .more_at = 1 }, .status = EDDY_CORRUPT,
          .problem = "the directory is damaged" },
        { .pickle = { .wide = true }, .storage = { .wide = true, .extra = 3 } },
        { .storage = { .wide = true, .extra = -1 }, .status = EDDY_CORRUPT,
          .problem = "the directory is damaged" },
        { .storage = { .extra = -2 }, .status = EDDY_CORRUPT,
          .problem = "the directory is damaged" },
        { .storage = { .half_wide = true } },
        { .storage = { .half_wide = true, .beyond = 1ull << 40 }, .status = EDDY_CORRUPT,
          .problem = "a member is not inside the file" },
        { .storage = { .beyond = 1 }, .status = EDDY_CORRUPT,
          .problem = "a member is not inside the file" },
        { .pickle = { .wrong = 1 }, .status = EDDY_CORRUPT, .problem = "its checksum is wrong" },
        { .pickle = { .method = 8 }, .status = EDDY_UNIMPLEMENTED, .problem = "it is compressed" },
        { .pickle = { .flags = 1 }, .status = EDDY_UNIMPLEMENTED, .problem = "it is compressed" },
        { .pickle = { .name = "x/pickle" }, .status = EDDY_CORRUPT,
          .problem = "the archive has no data.pkl" },
        { .pickle = { .name = "data.pkl" }, .storage = { .name = "data/k" } },
        { .pickle = { .name = "a" }, .status = EDDY_CORRUPT,
          .problem = "the archive has no data.pkl" },
        { .storage = { .method = 8 }, .status = EDDY_UNIMPLEMENTED,
          .problem = "its storage is compressed" },
        { .storage = { .name = "x/data/l" }, .status = EDDY_CORRUPT,
          .problem = "the archive has no such storage" },
        { .order = { .data = { (uint8_t *)(uintptr_t) "big", 3 } }, .status = EDDY_UNIMPLEMENTED,
          .problem = "big-endian elements are not supported" },
        { .order = { .data = { (uint8_t *)(uintptr_t) "little", 6 } } },
        { .order = { .data = { (uint8_t *)(uintptr_t) "bit", 3 } } },
        { .order = { .data = { (uint8_t *)(uintptr_t) "big", 3 }, .method = 8 } },
    };
    zip_part f[] = { rows[_i].pickle, rows[_i].storage, rows[_i].order };
    if (!f[0].name) f[0].name = "x/data.pkl";
    if (!f[1].name) f[1].name = "x/data/k";
    f[2].name = "x/byteorder";
    f[0].data = pickle_of(&plain);
    f[1].data = bytes_of(8, 0);
    if (f[2].data.at) {
        message order = { NULL, 0 };
        message_put(&order, f[2].data.at, f[2].data.size);
        f[2].data = order;
    }
    message m = zip_of(f, f[2].data.at ? 3 : 2, rows[_i].end);
    if (rows[_i].problem) refuses(m, rows[_i].status, rows[_i].problem);
    else reads(m, 1);
}
END_TEST

/* Behind the directory, and one byte more than there may be. */
START_TEST(longest_note)
{
    enum { MOST = 65535 };
    static char note[MOST + 1];
    memset(note, 'n', MOST);
    for (int more = 0; more < 2; more++) {
        zip_part f[] = { { .name = "x/data.pkl", .data = pickle_of(&plain) },
                         { .name = "x/data/k", .data = bytes_of(8, 0) } };
        message  m = zip_of(f, 2, (zip_ending){ .note = note });
        if (more) message_put_text(&m, "n");
        if (more) refuses(m, EDDY_CORRUPT, "this is no ZIP archive");
        else reads(m, 1);
    }
}
END_TEST
enum { PARTS = 26 };

/* Bytes have no order. */
START_TEST(big_endian_bytes)
{
    const tensor t = { "ByteStorage", 0, 1, { 2 }, { 1 } };
    message      order = { NULL, 0 };
    message_put_text(&order, "big");
    zip_part f[] = { { .name = "x/data.pkl", .data = pickle_of(&t) },
                   { .name = "x/data/k", .data = bytes_of(8, 0) },
                   { .name = "x/byteorder", .data = order } };
    reads(zip_of(f, 3, (zip_ending){ 0 }), 1);
}
END_TEST

START_TEST(no_archive)
{
    refuses(bytes_of(0, 0), EDDY_CORRUPT, "this is no ZIP archive");
    refuses(bytes_of(1, 0x80), EDDY_CORRUPT, "this is no ZIP archive");
    refuses(bytes_of(2, 0x80), EDDY_UNIMPLEMENTED, "the format before PyTorch 1.6");
    refuses(bytes_of(21, 0), EDDY_CORRUPT, "this is no ZIP archive");
    refuses(bytes_of(22, 0), EDDY_CORRUPT, "this is no ZIP archive");
    refuses(bytes_of(70000, 0), EDDY_CORRUPT, "this is no ZIP archive");
    refuses(bytes_of(100, 0x80), EDDY_UNIMPLEMENTED, "the format before PyTorch 1.6");
    refuses(two_members(bytes_of(1, 'N'), bytes_of(0, 0)), EDDY_CORRUPT, "it ends early");
    eddy_error e = { 0 };
    ck_assert_ptr_null(eddy_torch_checkpoint_open(NULL, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    refuses(zip_of(NULL, 0, (zip_ending){ 0 }), EDDY_CORRUPT, "the archive has no data.pkl");
    refuses(zip_of(NULL, 0, (zip_ending){ .wide = true }), EDDY_CORRUPT,
            "the archive has no data.pkl");
}
END_TEST

/* Each byte of the parts of the archive, changed: it is refused or gives the same tensor. */
START_TEST(changed_bytes)
{
    message m = two_members(pickle_of(&plain), bytes_of(8, 0));
    for (size_t at = 0; at < m.size; at++)
        for (int k = 0; k < 3; k++) {
            message copy = { NULL, 0 };
            message_put(&copy, m.at, m.size);
            copy.at[at] = (uint8_t)(k == 0 ? copy.at[at] + 1 : k == 1 ? 0xff : 0);
            eddy_error       e;
            eddy_checkpoint *c = open_bytes(copy, &e);
            for (int i = 0; i < eddy_checkpoint_count(c); i++) {
                eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, i).name, &e);
                ck_assert((a != NULL) == (e.status == EDDY_OK));
                if (a) ck_assert_int_eq(eddy_array_count(a), 2);
                eddy_array_free(a);
            }
            eddy_checkpoint_free(c);
        }
    message_free(&m);
}
END_TEST

/* ------------------------------------------------------------------- names -- */

static message file_of(message pickle) { return two_members(pickle, bytes_of(8, 0)); }

/* {"a...": {"a...": ... tensor}}, each name of so many bytes. */
static message nested(int depth, size_t length)
{
    message m = { NULL, 0 };
    for (int i = 0; i < depth; i++) {
        message_put_text(&m, "}X");
        message_put_number(&m, length, 4);
        for (size_t k = 0; k < length; k++) message_put_text(&m, "a");
    }
    add_tensor(&m, &plain);
    for (int i = 0; i < depth; i++) message_put_text(&m, "s");
    message_put_text(&m, ".");
    return m;
}

START_TEST(names)
{
    reads(file_of(nested(32, 1)), 1);
    refuses(file_of(nested(33, 1)), EDDY_LIMIT, "nested too deeply");
    reads(file_of(nested(1, 1000)), 1);
    refuses(file_of(nested(1, 1001)), EDDY_LIMIT, "the names within are too long");
    refuses(file_of(nested(2, 500)), EDDY_LIMIT, "the names within are too long");
    message m = { NULL, 0 };            /* a key that is neither a text nor a number, and a text */
    message_put_text(&m, "}N");
    add_tensor(&m, &plain);
    message_put_text(&m, "sU\1bU\1csK\7");
    add_tensor(&m, &plain);
    message_put_text(&m, "s.");
    eddy_error       e;
    eddy_checkpoint *c = open_bytes(file_of(m), &e);
    ck_assert_msg(c && eddy_checkpoint_count(c) == 1, "%s", e.message);
    ck_assert_str_eq(eddy_checkpoint_entry_at(c, 0).name, "7");
    eddy_checkpoint_free(c);
}
END_TEST

/* More tensors than the first room, and a list that contains itself. */
START_TEST(many)
{
    message m = { NULL, 0 };
    message_put_text(&m, "](");
    for (int i = 0; i < 200; i++) add_tensor(&m, &plain);
    message_put_text(&m, "e.");
    reads(file_of(m), 200);
    m = (message){ NULL, 0 };
    message_put_text(&m, "]q");
    message_put_number(&m, 1, 1);
    message_put_text(&m, "h");
    message_put_number(&m, 1, 1);
    message_put_text(&m, "a.");
    refuses(file_of(m), EDDY_LIMIT, "nested too deeply");
}
END_TEST

/* Each list has the one before twice. */
START_TEST(shared)
{
    message m = { NULL, 0 };
    message_put_text(&m, "N");
    for (int i = 0; i < 20; i++) message_put_text(&m, "2\x86");
    message_put_text(&m, ".");
    refuses(file_of(m), EDDY_LIMIT, "or too many");
}
END_TEST

#define ROWS(table) sizeof table / sizeof *table

/* ------------------------------------------------------------ the smallest ones -- */

/* A directory with an entry for a member of no bytes at `place`, behind `before` bytes; or only the
 * end of an archive, behind the place of a directory of 64 bits. */
static message archive(size_t before, uint64_t place, bool entry)
{
    message m = { NULL, 0 };
    for (size_t i = 0; i < before; i++) message_put_number(&m, 0, 1);
    if (entry) {
        message_put_text(&m, "PK\1\2");
        for (int i = 0; i < 3; i++) message_put_number(&m, 0, 8);
        message_put_number(&m, 1, 2);           /* the length of its name */
        for (int i = 0; i < 12; i++) message_put_number(&m, 0, 1);
        message_put_number(&m, place, 4);
        message_put_text(&m, "a");
    } else {
        message_put_text(&m, "PK\6\7");
        message_put_number(&m, 0, 8);
        message_put_number(&m, 0, 8);
    }
    message_put_text(&m, "PK\5\6");
    message_put_number(&m, 0, 4);
    message_put_number(&m, entry, 2);
    message_put_number(&m, entry, 2);
    message_put_number(&m, entry ? 47 : 0, 4);
    message_put_number(&m, before, 4);
    message_put_number(&m, 0, 2);
    return m;
}

START_TEST(archives)
{
    static const struct { size_t before; uint64_t place; bool entry; const char *says;
    } rows[] = {
        { 0, 0, false, "this is no ZIP archive" },
        { 0, 60, true, "a member is not inside the file" },
        { 0, 70, true, "a member is not inside the file" },
        { 0, 0, true, "a member is not inside the file" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        region      r = { 0 };
        zip_archive z;
        size_t      at;
        message     m = archive(rows[i].before, rows[i].place, rows[i].entry);
        const char *says = eddy__zip_open(&r, (wire_bytes){ m.at, m.size }, &z, &at);
        ck_assert_str_eq(says, rows[i].says);
        eddy__region_free(&r);
        message_free(&m);
    }
    region      r = { 0 };
    zip_archive z;
    size_t      at;
    message     none = zip_of(NULL, 0, (zip_ending){ 0 });
    ck_assert_ptr_null(eddy__zip_open(&r, (wire_bytes){ none.at, none.size }, &z, &at));
    ck_assert_ptr_null(eddy__zip_find(&z, "a"));
    eddy__region_free(&r);
    message_free(&none);
}
END_TEST

Suite *torch_archives_suite(void)
{
    Suite *s = suite_create("torch_archives");
    TCase *t = tcase_create("archives");
    tcase_add_loop_test(t, borders, 0, ROWS(tensors));
    tcase_add_loop_test(t, copies, 0, ROWS(types));
    tcase_add_test(t, views);
    tcase_add_test(t, signs);
    tcase_add_test(t, values);
    tcase_add_loop_test(t, parts, 0, PARTS);
    tcase_add_test(t, longest_note);
    tcase_add_test(t, big_endian_bytes);
    tcase_add_test(t, no_archive);
    tcase_add_test(t, changed_bytes);
    tcase_add_test(t, names);
    tcase_add_test(t, many);
    tcase_add_test(t, shared);
    tcase_add_test(t, archives);
    suite_add_tcase(s, t);
    return s;
}
