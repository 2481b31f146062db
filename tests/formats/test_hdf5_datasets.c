/* test_hdf5_datasets.c -- HDF5 files of one dataset, x, with wrong numbers in its header, and ZIP
 * archives that are almost right. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/hdf5_writer.h"
#include "tests/lib/files/memory_files.h"

/* Where the parts of the header are. */
enum { SPACE = 14, TYPE = 30, LAYOUT = 54, DATA = 176 };

typedef struct patch {
    int      at, bytes;
    uint64_t value;
} patch;

/* Changed together; the dataset has 2 elements. */
static const patch patches[][4] = {
    { { SPACE, 1, 0 } },
    { { SPACE, 1, 3 } },
    { { SPACE, 1, 1 } },
    { { SPACE - 3, 1, 3 } },
    { { SPACE + 1, 1, 2 } },
    { { SPACE + 1, 1, 0 } },
    { { SPACE + 3, 1, 2 } },
    { { SPACE + 4, 8, 0 } },
    { { SPACE + 4, 8, 1ull << 63 } },
    { { SPACE + 4, 8, 1ull << 62 } },
    { { SPACE + 4, 8, 3 } },
    { { TYPE - 3, 1, 7 } },
    { { TYPE, 1, 0x12 } },
    { { TYPE + 1, 1, 1 } },
    { { TYPE + 4, 4, 8 } },
    { { TYPE + 4, 4, 16 } },
    { { TYPE + 8, 2, 1 } },
    { { TYPE + 10, 2, 31 } },
    { { TYPE + 13, 1, 5 } },
    { { TYPE + 4, 4, 2 }, { TYPE + 10, 2, 16 }, { TYPE + 13, 1, 5 } },
    { { TYPE + 4, 4, 2 }, { TYPE + 10, 2, 16 }, { TYPE + 13, 1, 8 } },
    { { TYPE + 4, 4, 2 }, { TYPE + 10, 2, 16 }, { TYPE + 13, 1, 7 } },
    { { TYPE, 1, 0x10 } },
    { { TYPE, 1, 0x10 }, { TYPE + 1, 1, 8 } },
    { { TYPE, 1, 0x10 }, { TYPE + 4, 4, 3 }, { TYPE + 10, 2, 24 } },
    { { TYPE, 1, 0x10 }, { TYPE + 4, 4, 0 }, { TYPE + 10, 2, 0 } },
    { { TYPE, 1, 0x18 }, { TYPE + 4, 4, 1 }, { TYPE + 1, 2, 2 } },
    { { TYPE, 1, 0x18 }, { TYPE + 4, 4, 1 }, { TYPE + 1, 2, 1 } },
    { { LAYOUT - 3, 1, 1 } },
    { { LAYOUT - 3, 1, 17 } },
    { { LAYOUT, 1, 2 } },
    { { LAYOUT, 1, 5 } },
    { { LAYOUT, 1, 4 } },
    { { LAYOUT + 1, 1, 2 } },
    { { LAYOUT + 1, 1, 0 } },
    { { LAYOUT + 1, 1, 0 }, { LAYOUT + 2, 2, 8 } },
    { { LAYOUT + 2, 8, UINT64_MAX } },
    { { LAYOUT + 2, 8, DATA + 1 } },
    { { LAYOUT + 2, 8, 1 << 20 } },
    { { LAYOUT + 10, 8, 7 } },
    { { LAYOUT + 10, 8, 9 } },
    { { 4, 1, 3 } },
    { { 5, 1, 3 } },
    { { 5, 1, 0x32 } },
    { { 6, 4, 1 << 20 } },
    { { 6, 4, 61 } },
};

static eddy_checkpoint *opened(message m, memory_files *files, eddy_error *e)
{
    memory_files_init(files);
    memory_files_put(files, "f", m.at, m.size);
    message_free(&m);
    return eddy_keras_checkpoint_open("f", &files->table, .error = e);
}

/* Adds the result of reading the file to the golden file. */
static void tell(message m)
{
    char             line[300] = "";
    memory_files     files;
    eddy_error       e = { 0 };
    eddy_checkpoint *c = opened(m, &files, &e);
    eddy_array      *x = c && eddy_checkpoint_count(c) ? eddy_checkpoint_value(c, "x", &e) : NULL;
    if (e.status != EDDY_OK) golden_error(&e);
    else {
        snprintf(line, sizeof line, "%d entries", eddy_checkpoint_count(c));
        if (x)
            snprintf(line, sizeof line, "%s of %lld, the first %g",
                     eddy_dtype_name(eddy_array_dtype(x)), (long long)eddy_array_count(x),
                     eddy_array_count(x) ? eddy_array_get(x, 0) : 0.0);
        golden_line(line);
    }
    eddy_array_free(x);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
}

START_TEST(headers)
{
    golden_begin("formats/hdf5_datasets");
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) {
        message      m = hdf5_begin();
        const size_t x = hdf5_floats(&m, 2, DATA);
        const size_t root = hdf5_object(&m, HDF5_LINK_BYTES + 1);
        hdf5_link(&m, "x", x);
        hdf5_end(&m, root);
        ck_assert_uint_le(m.size, DATA);
        message_put_number(&m, 0, DATA - (int)m.size);
        message_put(&m, (float[]){ 1, 2 }, 8);
        for (const patch *p = patches[i]; p < patches[i] + 4 && p->bytes; p++)
            for (int k = 0; k < p->bytes; k++)
                m.at[x + (size_t)p->at + (size_t)k] = (uint8_t)(p->value >> 8 * k);
        tell(m);
    }
    golden_end();
}
END_TEST

/* --------------------------------------------------------- other messages -- */

enum {
    SPACE_MESSAGE = 1,
    LINK_INFO_MESSAGE = 2,
    TYPE_MESSAGE = 3,
    LINK_MESSAGE = 6,
    LAYOUT_MESSAGE = 8,
    SYMBOLS_MESSAGE = 17
};

typedef struct bytes {
    size_t  size;
    uint8_t at[24];
} bytes;

static void put_message(message *m, int kind, const uint8_t *p, size_t n)
{
    message_put_number(m, (uint64_t)kind, 1);
    message_put_number(m, n, 3);
    message_put(m, p, n);
}

/* A root with this one message. */
static message with_root(int kind, bytes b)
{
    message      m = hdf5_begin();
    const size_t root = hdf5_object(&m, 4 + b.size);
    put_message(&m, kind, b.at, b.size);
    hdf5_end(&m, root);
    return m;
}

/* A dataset with these messages. */
static message with_messages(bytes space, bytes type, bytes layout, const char *name)
{
    message      m = hdf5_begin();
    const size_t x = hdf5_object(&m, 3 * 4 + space.size + type.size + layout.size);
    put_message(&m, SPACE_MESSAGE, space.at, space.size);
    put_message(&m, TYPE_MESSAGE, type.at, type.size);
    put_message(&m, LAYOUT_MESSAGE, layout.at, layout.size);
    const size_t root = hdf5_object(&m, HDF5_LINK_BYTES + strlen(name));
    hdf5_link(&m, name, x);
    hdf5_end(&m, root);
    return m;
}

/* Two elements; float32. */
static const bytes two = { 12, { 2, 1, 0, 0, 2 } },
    floats = { 20, { 0x11, 0, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127 } };

static message same_names(void)
{
    message      m = hdf5_begin();
    const size_t x = hdf5_floats(&m, 2, DATA);
    const size_t root = hdf5_object(&m, 2 * (HDF5_LINK_BYTES + 1));
    hdf5_link(&m, "x", x);
    hdf5_link(&m, "x", x);
    hdf5_end(&m, root);
    message_put_number(&m, 0, DATA);
    return m;
}

/* A name that its heap does not end. */
static message endless_name(void)
{
    message      m = hdf5_begin();
    const size_t heap = hdf5_heap(&m, "a", 1), to = hdf5_object(&m, 0);
    hdf5_end(&m, hdf5_old_group(&m, hdf5_tree(&m, 0, 1, hdf5_symbols(&m, 1, 0, to)), heap));
    return m;
}

/* A file with x whose superblock has version 0 or 1, at this address in itself; or its first bytes,
 * without so many of the address of the root. */
static message old_file(int version, uint64_t base, int left_out)
{
    enum { AT = 400 };
    message m = { NULL, 0 };
    message_put_text(&m, "\x89HDF\r\n\x1a\n");
    message_put_number(&m, (uint64_t)version, 5);
    message_put_number(&m, 8 | 8 << 8, 11);
    if (version == 1) message_put_number(&m, 32, 4);
    message_put_number(&m, base, 8);
    message_put_number(&m, UINT64_MAX, 8);
    message_put_number(&m, AT, 8);
    message_put_number(&m, UINT64_MAX, 8);
    message_put_number(&m, 0, 8);       /* the name of the root */
    const size_t root = m.size;
    message_put_number(&m, 0, 16);
    message_put_number(&m, 0, 24);
    const size_t x = hdf5_floats(&m, 2, AT), at = hdf5_object(&m, HDF5_LINK_BYTES + 1);
    hdf5_link(&m, "x", x);
    m.at[root] = (uint8_t)at;
    message_put_number(&m, 0, AT - (int)m.size);
    message_put(&m, (float[]){ 1, 2 }, 8);
    if (left_out) m.size = root + 8 - (size_t)left_out;
    return m;
}

/* A tree of so many levels, the lowest of which has a link to an empty group. */
static message deep_tree(int levels)
{
    message      m = hdf5_begin();
    const size_t heap = hdf5_heap(&m, "a", 2), to = hdf5_object(&m, 4);
    message_put_number(&m, 0, 4);
    size_t       child = hdf5_symbols(&m, 1, 0, to);
    for (int i = 0; i < levels; i++) child = hdf5_tree(&m, i, 1, child);
    hdf5_end(&m, hdf5_old_group(&m, child, heap));
    return m;
}

/* The header of a root without messages, in version 1, which the file ends with. */
static message last_header(void)
{
    message      m = hdf5_begin();
    const size_t root = m.size;
    hdf5_end(&m, root);
    m.at[root] = 1;
    return m;
}

/* A message about the links of a group, with the address of a heap for many of them. */
static bytes link_info(int flags, int size, uint64_t address)
{
    bytes b = { (size_t)size, { 0, (uint8_t)flags } };
    for (int i = 0; i < 8; i++) b.at[(flags & 1 ? 10 : 2) + i] = (uint8_t)(address >> 8 * i);
    return b;
}

START_TEST(odd_messages)
{
    static const bytes layouts[] = {
        { 12, { 3, 0, 8, 0, 0, 0, 128, 63, 0, 0, 0, 64 } },     /* compact: 1 and 2 */
        { 11, { 3, 0, 8, 0, 0, 0, 128, 63, 0, 0, 0 } },
        { 12, { 3, 0, 7, 0, 0, 0, 128, 63, 0, 0, 0, 64 } },
        { 3, { 3, 0, 8 } },
        { 1, { 3 } },
        { 2, { 2, 0 } },
        { 2, { 5, 0 } },
        { 2, { 3, 2 } },
    };
    static const bytes spaces[] = {
        { 3, { 2 } },                                           /* too short */
        { 4, { 2 } },                                           /* a scalar */
        { 4, { 1 } },
        { 7, { 1 } },
        { 8, { 1 } },                                           /* a scalar in version 1 */
        { 8, { 0 } },
        { 8, { 3 } },
        { 11, { 2, 1, 0, 0, 1 } },
        { 12, { 2, 1, 0, 0, 1 } },
        { 15, { 1, 1, 0, 0, 0, 0, 0, 0, 1 } },
        { 16, { 1, 1, 0, 0, 0, 0, 0, 0, 1 } },
        { 4, { 2, 0, 0, 2 } },                                  /* no elements */
        { 8, { 1, 0, 0, 2 } },
    };
    static const bytes types[] = {
        { 7, { 0x10, 0, 0, 0, 1, 0, 0 } },
        { 8, { 0x10, 0, 0, 0, 1 } },
        { 11, { 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8 } },
        { 12, { 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8 } },         /* uint8 */
        { 12, { 0x10, 8, 0, 0, 1, 0, 0, 0, 0, 0, 8 } },         /* int8 */
        { 12, { 0x10, 0, 0, 0, 1, 0, 0, 0, 1, 0, 7 } },         /* not from the first bit on */
        { 12, { 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 7 } },
        { 12, { 0x10, 1, 0, 0, 1, 0, 0, 0, 0, 0, 8 } },         /* big-endian */
        { 12, { 0x10, 8, 0, 0, 9, 0, 0, 0, 0, 0, 72 } },
        { 8, { 0x18, 2, 0, 0, 1 } },                            /* an enumeration of two */
        { 8, { 0x18, 3, 0, 0, 1 } },
        { 8, { 0x18, 2, 0, 0, 2 } },
        { 19, { 0x11, 0, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127 } },
        { 12, { 0x12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8 } },
        { 20, { 0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 5 } },        /* no size of a float */
        { 20, { 0x11, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0, 0, 11 } },      /* exponents of others */
        { 20, { 0x11, 0, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0, 0, 5 } },
        { 20, { 0x11, 0, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0, 0, 11 } },
        { 20, { 0x11, 0, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0, 0, 5 } },
        { 20, { 0x11, 0, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0, 0, 8 } },
    };
    static const bytes links[] = {
        { 2, { 1, 8 } },                                        /* no kind */
        { 4, { 1, 8, 1, 5 } },                                  /* soft, without its name */
        { 3, { 1, 8, 1 } },
        { 6, { 1, 8, 1, 1, 'a', 0 } },                          /* soft: left out */
        { 13, { 1, 8, 0, 1, 'a' } },                            /* hard: an object at 0 */
        { 6, { 1, 0, 9, 'a', 0, 0 } },                          /* a name beyond the end */
        { 13, { 1, 1, 1, 0, 'a' } },                            /* two bytes of a size */
        { 12, { 1, 0, 1, 'a' } },
        { 11, { 1, 0, 1, 'a' } },
        { 20, { 1, 4, 9, 9, 9, 9, 9, 9, 9, 9, 1, 'a' } },       /* a number of the link */
        { 13, { 1, 16, 9, 1, 'a' } },                           /* a set of characters */
        { 2, { 1, 0 } },
        { 1, { 1 } },
        { 3, { 1, 0, 0 } },
        { 10, { 1, 3 } },
        { 9, { 1, 3 } },
    };
    golden_begin("formats/hdf5_messages");
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        tell(with_messages(two, floats, layouts[i], "x"));
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        tell(with_messages(spaces[i], floats, (bytes){ 8, { 3, 0, 4, 0, 0, 0, 128, 63 } }, "x"));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        tell(with_messages(two, types[i], (bytes){ 6, { 3, 0, 2, 0, 7, 255 } }, "x"));
    tell(with_messages((bytes){ 12, { 2, 1 } }, floats, (bytes){ 4, { 3 } }, "x"));
    tell(with_messages((bytes){ 12, { 2, 1 } }, floats, (bytes){ 3, { 3 } }, "x"));
    tell(with_messages(two, floats, layouts[0], "x:0"));
    for (uint8_t first = 0; first < 3; first++)
        tell(with_messages(two, (bytes){ 8, { 0x18, 2, 0, 0, 1 } },
                           (bytes){ 6, { 3, 0, 2, 0, first, 1 } }, "x"));
    tell(with_messages(two, (bytes){ 20, { 0x11, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0, 0, 5 } },
                       (bytes){ 8, { 3, 0, 4, 0, 0, 0x3e, 0, 0x40 } }, "x"));
    tell(with_messages(two, (bytes){ 20, { 0x11, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0, 0, 8 } },
                       (bytes){ 8, { 3, 0, 4, 0, 0xc0, 0x3f, 0, 0x40 } }, "x"));
    for (int high = 0; high < 2; high++)
        tell(with_messages(two, (bytes){ 12, { 0x10, 0, 0, 0, 8, 0, 0, 0, 0, 0, 64 } },
                           (bytes){ 20, { 3, 0, 16, 0, [19] = (uint8_t)(high ? 0x80 : 0x7f) } },
                           "x"));
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        tell(with_root(LINK_MESSAGE, links[i]));
    for (int size = 8; size <= 16; size += 4)
        tell(with_root(SYMBOLS_MESSAGE, (bytes){ (size_t)size, { 0 } }));
    for (int flags = 0; flags < 4; flags++) {
        const int size = flags & 1 ? 18 : 10;
        tell(with_root(LINK_INFO_MESSAGE, link_info(flags, size, UINT64_MAX)));
        tell(with_root(LINK_INFO_MESSAGE, link_info(flags, size, 0)));
        tell(with_root(LINK_INFO_MESSAGE, link_info(flags, size - 1, UINT64_MAX)));
    }
    tell(with_root(LINK_INFO_MESSAGE, (bytes){ 1, { 0 } }));
    for (int version = 0; version < 2; version++) {
        tell(old_file(version, 0, 0));
        tell(old_file(version, 1, 0));
        tell(old_file(version, 0, 1));
    }
    tell(last_header());
    tell(deep_tree(16));
    tell(deep_tree(17));
    tell(same_names());
    tell(endless_name());
    golden_end();
}
END_TEST

/* A file that begins like an archive is one, whatever its size. */
START_TEST(first_bytes)
{
    for (int n = 1; n <= 2; n++) {
        memory_files files;
        eddy_error   e = { 0 };
        message      m = { NULL, 0 };
        message_put(&m, "PK", (size_t)n);
        ck_assert_ptr_null(opened(m, &files, &e));
        ck_assert_msg(strstr(e.message, n == 2 ? "no ZIP archive" : "no HDF5 file"), "%s",
                      e.message);
        memory_files_free(&files);
    }
}
END_TEST

/* The mark of a directory of 64 bits, at the beginning of the file and without a directory. */
START_TEST(archives)
{
    memory_files files;
    eddy_error   e = { 0 };
    message      m = { NULL, 0 };
    message_put_text(&m, "PK\6\7");
    message_put_number(&m, 0, 16);
    message_put_text(&m, "PK\5\6");
    message_put_number(&m, 0, 18);
    ck_assert_ptr_null(opened(m, &files, &e));
    ck_assert_msg(e.status == EDDY_CORRUPT && strstr(e.message, "no ZIP archive"), "%s", e.message);
    memory_files_free(&files);
}
END_TEST

Suite *hdf5_datasets_suite(void)
{
    Suite *s = suite_create("hdf5_datasets");
    TCase *t = tcase_create("datasets");
    tcase_add_test(t, headers);
    tcase_add_test(t, odd_messages);
    tcase_add_test(t, first_bytes);
    tcase_add_test(t, archives);
    suite_add_tcase(s, t);
    return s;
}
