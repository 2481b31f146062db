/* test_format_parts.c -- what the readers of models share: files, names, elements, sizes that are
 * known before a model runs, and packed numbers. */
#include "formats/checksum.h"
#include "formats/elements.h"
#include "formats/known.h"
#include "formats/message.h"
#include "formats/names.h"
#include "formats/reading.h"
#include "formats/sink.h"
#include "formats/source.h"
#include "graph/base/sanitizer.h"
#include "tests/lib/files/odd_files.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

Suite *format_parts_suite(void);

/* -------------------------------------------------------------------- files -- */

static const struct {
    const char *path;
    odd_files   odd;
    int64_t     most;
    eddy_status status;
    const char *says;
} calls[] = {
    { "f", { 0 }, 100, EDDY_OK, "" },
    { "f", { 0 }, 99, EDDY_LIMIT, "f: 100 bytes are more than the limit of 99" },
    { NULL, { 0 }, 100, EDDY_INVALID_ARGUMENT, "no path is given" },
    { "", { 0 }, 100, EDDY_INVALID_ARGUMENT, "no path is given" },
    { "f", { .missing = 1 }, 100, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "f", { .missing = 2 }, 100, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "f", { .missing = 3 }, 100, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "f", { .missing = 4 }, 100, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "g", { 0 }, 100, EDDY_NOT_FOUND, "g: No such file" },
    { "f", { .size = -1, .number = ENXIO }, 100, EDDY_IO, "f: No such device or address" },
    { "f", { .size = -1, .number = ESPIPE }, 100, EDDY_IO, "f: this is not a regular file" },
    { "f", { .size = 101 }, 101, EDDY_IO, "f: the file ends early" },
    { "f", { .size = 101, .number = EINTR }, 101, EDDY_IO, "f: the file ends early" },
    { "f", { .size = 99 }, 100, EDDY_OK, "" },
    { "f", { .size = 99, .files.fault.at = 2 }, 100, EDDY_OK, "" },      /* one byte, then more */
    { "f", { .size = INT64_MAX }, INT64_MAX, EDDY_NO_MEMORY, "out of memory for a file" },
    { "f", { .extra = 1 }, 100, EDDY_IO, "f: the file ends early" },
    { "f", { .interrupted = 100, .number = EINTR }, 100, EDDY_OK, "" },
    { "f", { .interrupted = 101, .number = EINTR }, 100, EDDY_IO, "f: Interrupted" },
    { "f", { .interrupted = 1, .number = ENXIO }, 100, EDDY_IO, "f: No such device or address" },
};

START_TEST(failing_calls)
{
    eddy_error       e = { 0 };
    char             bytes[100] = "";
    odd_files        odd = calls[_i].odd;
    const eddy_files table = odd_files_begin(&odd, bytes, sizeof bytes);
    source          *s = eddy__source_read(calls[_i].path, &table, calls[_i].most, &e);
    ck_assert((s != NULL) == (e.status == EDDY_OK));
    ck_assert_msg(e.status == calls[_i].status && strstr(e.message, calls[_i].says), "%s: %s",
                  eddy_status_name(e.status), e.message);
    ck_assert_int_eq(odd.files.n_open, 0);
    ck_assert_int_lt(odd.files.calls, 10);      /* the end of a file is not read again and again */
    eddy__source_release(s);
    memory_files_free(&odd.files);
}
END_TEST

/* A limit that no file keeps. */
START_TEST(negative_limit)
{
    eddy_error       e = { 0 };
    odd_files        odd = { 0 };
    const eddy_files table = odd_files_begin(&odd, "", 0);
    ck_assert_ptr_null(eddy__source_read("f", &table, -1, &e));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    ck_assert_str_eq(e.message, "f: 0 bytes are more than the limit of -1");
    memory_files_free(&odd.files);
}
END_TEST

static const struct { odd_files odd; eddy_status status; const char *says; } saves[] = {
    { { 0 }, EDDY_OK, "" },
    { { .interrupted = 100, .number = EINTR }, EDDY_OK, "" },
    { { .interrupted = 101, .number = EINTR }, EDDY_IO, "Interrupted" },
    { { .interrupted = 1, .number = ENOSPC }, EDDY_IO, "No space left" },
    { { .written = 1 }, EDDY_IO, "No space left" },
    { { .written = 1, .number = EINTR }, EDDY_IO, "No space left" },
    { { .written = 5 }, EDDY_IO, "write the new file" },
    { { .missing = 5 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { { .missing = 1 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { { .missing = 4 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
};

/* Three bytes replace the file, or it stays as it was. */
START_TEST(saving)
{
    eddy_error       e = { 0 };
    odd_files        odd = saves[_i].odd;
    const eddy_files table = odd_files_begin(&odd, "old", 3);
    sink             s;
    bool ok = eddy__sink_begin(&s, "f", &table, &e) && eddy__sink_write(&s, "new", 3);
    ok = eddy__sink_end(&s) && ok;
    ck_assert_msg(ok == (saves[_i].status == EDDY_OK) && e.status == saves[_i].status, "%s",
                  e.message);
    ck_assert_msg(strstr(e.message, saves[_i].says), "%s", e.message);
    ck_assert_mem_eq(memory_files_get(&odd.files, "f")->bytes, ok ? "new" : "old", 3);
    ck_assert(memory_files_count(&odd.files) == 1 && odd.files.n_open == 0);
    memory_files_free(&odd.files);
}
END_TEST

static int  names_taken, interrupted;
static char first_name[300];

/* Opens files, except by the first names of temporary ones. */
static int open_untaken(void *context, const char *path, int flags)
{
    odd_files *odd = context;
    if (!(flags & O_EXCL)) return odd->files.table.open(&odd->files, path, flags);
    if (interrupted-- > 0) {
        errno = EINTR;
        return -1;
    }
    if (!*first_name) snprintf(first_name, sizeof first_name, "%s", path);
    if (names_taken-- <= 0) return odd->files.table.open(&odd->files, path, flags);
    errno = EEXIST;
    return -1;
}

/* Names are tried until one is free, the 100th being the last. */
START_TEST(temporary_names)
{
    for (int taken = 99; taken <= 100; taken++) {
        odd_files  odd = { 0 };
        eddy_files table = odd_files_begin(&odd, "old", 3);
        eddy_error e = { 0 };
        sink       s;
        table.open = open_untaken;
        names_taken = taken;
        first_name[0] = 0;
        bool ok = eddy__sink_begin(&s, "f", &table, &e) && eddy__sink_write(&s, "new", 3);
        ok = eddy__sink_end(&s) && ok;
        ck_assert_msg(ok == (taken == 99), "%s", e.message);
        ck_assert(ok || strstr(e.message, "f: cannot create a temporary file: File exists"));
        ck_assert_str_eq(strrchr(first_name, '-'), "-0");
        ck_assert_int_eq(memory_files_count(&odd.files), 1);
        memory_files_free(&odd.files);
    }
}
END_TEST

static int sync_later(void *context, int fd)
{
    odd_files *odd = context;
    errno = EINTR;
    return interrupted-- > 0 ? -1 : odd->files.table.sync(&odd->files, fd);
}

/* Each step is tried again after an interruption, 100 times at most. */
START_TEST(interruptions)
{
    for (int i = 0; i < 4; i++) {
        odd_files  odd = { 0 };
        eddy_files table = odd_files_begin(&odd, "old", 3);
        eddy_error e = { 0 };
        sink       s;
        if (i < 2) table.open = open_untaken;
        else table.sync = sync_later;
        names_taken = 0;
        interrupted = (i < 2 ? 99 : 100) + i % 2;
        bool ok = eddy__sink_begin(&s, "f", &table, &e) && eddy__sink_write(&s, "new", 3);
        ok = eddy__sink_end(&s) && ok;
        ck_assert_msg(ok == (i % 2 == 0), "%d: %s", i, e.message);
        ck_assert(ok || strstr(e.message, "Interrupted"));
        memory_files_free(&odd.files);
    }
    interrupted = 0;
}
END_TEST

/* Appended pieces, of which the second fills the room of 256 bytes and the third exceeds it. */
START_TEST(growing_messages)
{
    message m = { 0 };
    uint8_t bytes[600];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i % 251);
    eddy__message_append(&m, bytes, 1);
    eddy__message_append(&m, bytes + 1, 255);
    ck_assert(!m.full && m.size == 256);
    eddy__message_append(&m, bytes + 256, 0);
    eddy__message_append(&m, bytes + 256, 344);
    ck_assert(!m.full && m.size == 600);
    ck_assert_mem_eq(m.at, bytes, 600);
    eddy__message_free(&m);
    for (size_t i = 0; i < 2; i++) {            /* it fills the room, or the room twice, at once */
        eddy__message_append(&m, bytes, (size_t)256 << i);
        ck_assert(!m.full && m.size == (size_t)256 << i);
        eddy__message_free(&m);
    }
    message inner = { .full = true };
    eddy__message_inner(&m, 1, &inner);
    ck_assert(m.full);
    eddy__message_inner(&m, 1, &inner);
    ck_assert(m.full);
    eddy__message_free(&m);
    eddy__message_number(&m, 1, 127);
    eddy__message_number(&m, 16, 128);
    eddy__message_number(&m, 1, -1);
    ck_assert_uint_eq(m.size, 2 + 4 + 11);
    ck_assert_mem_eq(m.at, "\x08\x7f\x80\x01\x80\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                     17);
    eddy__message_free(&m);
}
END_TEST

/* So many elements of constants are computed, and no more. */
START_TEST(computed_elements)
{
    reading r = { 0 };
    ck_assert(eddy__reading_computes(&r, 1 << 19) && eddy__reading_computes(&r, 1 << 19));
    ck_assert(eddy__reading_computes(&r, 0) && !eddy__reading_computes(&r, 1));
    r.computed = 0;
    ck_assert(!eddy__reading_computes(&r, (1 << 20) + 1) && eddy__reading_computes(&r, 1 << 20));
}
END_TEST

/* From the ends of a report, on both sides. */
START_TEST(reports)
{
    region     memory = { 0 };
    entry_list l = { 0 };
    for (int i = 0; i < 200; i++)
        ck_assert(eddy__report_add(&l, (eddy_model_entry){ .op = i == 199 ? "last" : "op" }));
    eddy_model_report *r = eddy__report_new(&memory, &l);
    ck_assert(eddy_model_report_size(r) == 200 && eddy_model_report_size(NULL) == 0);
    ck_assert_str_eq(eddy_model_report_at(r, 0)->op, "op");
    ck_assert_str_eq(eddy_model_report_at(r, 199)->op, "last");
    ck_assert(!eddy_model_report_at(r, 200) && !eddy_model_report_at(r, -1));
    ck_assert_ptr_null(eddy_model_report_at(NULL, 0));
    eddy_model_report_free(r);
}
END_TEST

/* A view of aligned bytes, which outlives its source; else a copy. */
START_TEST(views)
{
    static const float x[] = { 1, 2, 3, 4 };
    eddy_error         e = { 0 };
    source            *s = eddy__source_copy(x, sizeof x, &e);
    const wire_bytes   b = eddy__source_bytes(s), odd = { b.at + 2, 8 };
    eddy_array        *view = eddy__source_array(s, b, EDDY_FLOAT32, EDDY_SHAPE(4)),
               *pairs = eddy__source_array(s, (wire_bytes){ b.at + 4, 8 }, EDDY_COMPLEX64,
                                           EDDY_SHAPE(1)),
               *byte = eddy__source_array(s, (wire_bytes){ b.at + 3, 1 }, EDDY_UINT8,
                                          EDDY_SHAPE(1)),
               *copy = eddy__source_array(s, odd, EDDY_FLOAT32, EDDY_SHAPE(2)),
               *none = eddy__source_array(s, (wire_bytes){ b.at, 0 }, EDDY_FLOAT32, EDDY_SHAPE(0));
    ck_assert(view && pairs && copy && none);
    ck_assert_ptr_eq(eddy_array_data(view), b.at);
    ck_assert_ptr_eq(eddy_array_data(pairs), b.at + 4);
    ck_assert_ptr_eq(eddy_array_data(byte), b.at + 3);
    ck_assert_mem_eq(eddy_array_data(copy), odd.at, 8);
    ck_assert_ptr_null(eddy__source_array(s, b, EDDY_FLOAT32, EDDY_SHAPE(-1)));
    eddy__source_release(s);
    ck_assert(eddy_array_get(view, 3) == 4 && eddy_array_get_imag(pairs, 0) == 3);
    eddy_array_free(view);
    eddy_array_free(pairs);
    eddy_array_free(byte);
    eddy_array_free(copy);
    eddy_array_free(none);
    s = eddy__source_copy(NULL, 3, &e);
    ck_assert_uint_eq(eddy__source_bytes(s).size, 3);
    eddy__source_release(s);
}
END_TEST

/* -------------------------------------------------------------------- names -- */

START_TEST(names)
{
    static const char *const clean[][2] = {
        { "a", "a" }, { "", "unnamed" }, { "/_-a", "a" }, { "_", "unnamed" }, { "a b:c", "a_b_c" },
        { "azAZ09._-/x", "azAZ09._-/x" }, { "a//", "a" }, { "a/", "a" }, { "[`{@", "unnamed" },
        { ":", "unnamed" }, { "a\xc3\xa9", "a__" }, { "0", "0" }, { ".", "." },
    };
    static const struct { const char *path; bool inside;
    } paths[] = {
        { NULL, false },   { "", false },     { "/a", false },   { "a", true },
        { "..", false },   { "../a", false }, { "a/..", false }, { "a/../b", false },
        { "a/..b", true }, { "..a", true },   { "a/.", true },   { "a..", true },
        { "a/b..", true }, { "a./b", true },  { ".a./b", true }, { "a//..", false },
        { ".", true },     { "a/.b/", true },
    };
    region r = { 0 };
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
        ck_assert_str_eq(eddy__name_clean(&r, clean[i][0]), clean[i][1]);
    char text[300] = "";
    memset(text, 'a', 299);
    ck_assert_uint_eq(strlen(eddy__name_clean(&r, text)), 200);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        ck_assert_msg(eddy__name_is_inside(paths[i].path) == paths[i].inside, "%s", paths[i].path);
    ck_assert_str_eq(eddy__name_beside(&r, "a/b", "c"), "a/c");
    ck_assert_str_eq(eddy__name_beside(&r, "b", "c"), "c");
    ck_assert_str_eq(eddy__name_beside(&r, "/b", "c"), "/c");
    eddy__region_free(&r);
}
END_TEST

/* A block of memory ends with its last byte, and a larger piece has a block of its own; so has each
 * piece under AddressSanitizer. */
START_TEST(regions)
{
    region r = { 0 };
    char  *first = eddy__region_take(&r, 65536 - 16, 1), *second = eddy__region_take(&r, 16, 1);
#ifdef EDDY_ADDRESS_SANITIZER
    ck_assert(first && second);
#else
    ck_assert_ptr_eq(second, first + 65536 - 16);
#endif
    char *third = eddy__region_take(&r, 1, 1), *large = eddy__region_take(&r, 65537, 1);
    ck_assert(third && large && large[65536] == 0);
    ck_assert_ptr_nonnull(eddy__region_take(&r, 0, 8));
    ck_assert(!r.full && !eddy__region_take(&r, SIZE_MAX / 8, 8) && r.full);
    eddy__region_free(&r);
    ck_assert(!r.full && !r.blocks);
    ck_assert_str_eq(eddy__region_text(&r, (wire_bytes){ NULL, 0 }), "");
    eddy__region_free(&r);
}
END_TEST

/* ---------------------------------------------------------------- checksums -- */

/* A bit at a time. */
static uint32_t plain_crc(const uint8_t *p, size_t n, uint32_t polynomial)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < 8 * n; i++) {
        const uint32_t bit = (c ^ (uint32_t)p[i / 8] >> i % 8) & 1;
        c = c >> 1 ^ (bit ? polynomial : 0);
    }
    return ~c;
}

/* Those of the catalogs, and of each byte at each place of eight and behind them. */
START_TEST(checksums)
{
    uint8_t          bytes[24] = { 0 };
    const wire_bytes digits = { (const uint8_t *)"123456789", 9 };
    ck_assert_uint_eq(eddy__file_crc32(digits), 0xcbf43926u);
    ck_assert_uint_eq(eddy__file_crc32c(digits), 0xe3069283u);
    for (size_t n = 0; n <= sizeof bytes; n++)
        for (int value = 0; value < 256; value++) {
            bytes[n / 2] = (uint8_t)value;
            const wire_bytes b = { bytes, n };
            ck_assert(eddy__file_crc32(b) == plain_crc(bytes, n, 0xedb88320u));
            ck_assert(eddy__file_crc32c(b) == plain_crc(bytes, n, 0x82f63b78u));
        }
}
END_TEST

/* ----------------------------------------------------------------- elements -- */

static const struct {
    eddy_dtype d;
    int        bits;
    bool       is_signed;
    uint64_t   value;
    double     stored;
} stored[] = {
    { EDDY_UINT8, 8, false, 0x1ff, 255 },
    { EDDY_BOOL, 8, false, 0x100, 0 },
    { EDDY_BOOL, 8, false, 2, 1 },
    { EDDY_INT32, 8, true, 0x80, -128 },
    { EDDY_INT32, 8, false, 0x80, 128 },
    { EDDY_INT32, 16, true, 0x17fff, 32767 },
    { EDDY_INT32, 16, true, 0xffff, -1 },
    { EDDY_INT32, 32, true, 0xffffffff, -1 },
    { EDDY_INT64, 32, false, 0xffffffff, 4294967295.0 },
    { EDDY_INT64, 64, true, UINT64_MAX, -1 },
    { EDDY_FLOAT16, 16, false, 0x3e00, 1.5 },
    { EDDY_BFLOAT16, 16, false, 0x3fc0, 1.5 },
    { EDDY_FLOAT32, 32, false, 0x3fc00000, 1.5 },
    { EDDY_FLOAT64, 64, false, 0x3ff8000000000000, 1.5 },
    { EDDY_COMPLEX64, 32, false, 0x3fc00000, 1.5 },
    { EDDY_COMPLEX128, 64, false, 0x3ff8000000000000, 1.5 },
};

START_TEST(element)
{
    eddy_array *a = eddy_array_new(stored[_i].d, EDDY_SHAPE(3));
    const int   part = eddy_dtype_is_complex(stored[_i].d) ? 2 : 1;
    uint8_t    *bytes = eddy_array_data(a), around[48];
    const size_t size = eddy_array_bytes(a) / 3, changed = size / (size_t)part;
    memset(around, 0xa5, sizeof around);
    memset(bytes, 0xa5, 3 * size);
    memset(bytes + size, 0, size);
    eddy__element_store(a, stored[_i].bits, stored[_i].is_signed, part, stored[_i].value);
    ck_assert(eddy_array_get(a, 1) == stored[_i].stored);
    ck_assert_mem_eq(bytes, around, size);
    ck_assert_mem_eq(bytes + 2 * size, around, size);
    memset(around, 0, sizeof around);
    ck_assert_mem_eq(bytes + size + changed, around, size - changed);
    eddy_array_free(a);
}
END_TEST

START_TEST(integers)
{
    static const struct { double v; int64_t i; } cases[] = {
        { 0, 0 }, { -1.5, -1 }, { 9e18, INT64_MAX }, { -9e18, -INT64_MAX }, { 1e300, INT64_MAX },
        { -INFINITY, -INT64_MAX }, { NAN, 0 }, { 8e18, 8000000000000000000 },
        { -8e18, -8000000000000000000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_array *a = eddy_array_of(EDDY_FLOAT64, cases[i].v);
        ck_assert_int_eq(eddy__element_integer(a, 0), cases[i].i);
        eddy_array_free(a);
    }
    eddy_array *a = eddy_array_new(EDDY_INT64, EDDY_SHAPE(1));
    ((int64_t *)eddy_array_data(a))[0] = INT64_MAX - 1;        /* not a double */
    ck_assert_int_eq(eddy__element_integer(a, 0), INT64_MAX - 1);
    eddy_array_free(a);
    ck_assert(eddy__element_is_same(EDDY_COMPLEX64, 32) && !eddy__element_is_same(EDDY_BOOL, 8));
    ck_assert(eddy__element_is_same(EDDY_INT32, 32) && !eddy__element_is_same(EDDY_INT32, 16));
}
END_TEST

/* -------------------------------------------------------------- known sizes -- */

START_TEST(combinations)
{
    static const struct { int64_t x; char op; int64_t y, z; } cases[] = {
        { 7, '+', 2, 9 }, { 7, '-', 2, 5 }, { 7, '*', 2, 14 }, { 7, '/', 2, 3 }, { -7, '/', 2, -3 },
        { 7, 'f', 2, 3 }, { 7, '<', 2, 2 }, { 2, '<', 7, 2 }, { 7, '>', 2, 7 }, { 2, '>', 7, 7 },
        { 7, '/', 0, UNKNOWN_SIZE }, { 7, '/', -1, UNKNOWN_SIZE }, { 7, 'f', 0, UNKNOWN_SIZE },
        { 7, 'f', -2, UNKNOWN_SIZE }, { -7, 'f', 2, UNKNOWN_SIZE }, { 0, 'f', 1, 0 },
        { INT64_MAX, '+', 1, UNKNOWN_SIZE }, { INT64_MIN + 1, '-', 2, UNKNOWN_SIZE },
        { INT64_MAX / 2, '*', 3, UNKNOWN_SIZE }, { UNKNOWN_SIZE, '+', 1, UNKNOWN_SIZE },
        { 1, '+', UNKNOWN_SIZE, UNKNOWN_SIZE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const known_sizes k = eddy__known_combine(eddy__known_of(&cases[i].x, 1), cases[i].op,
                                                  eddy__known_of(&cases[i].y, 1));
        ck_assert_msg(k.count == 1 && k.at[0] == cases[i].z, "case %zu: %lld", i,
                      (long long)k.at[0]);
    }
    const known_sizes three = eddy__known_of((int64_t[]){ 1, 2, 3 }, 3),
                      two = eddy__known_of((int64_t[]){ 5, 6 }, 2),
                      one = eddy__known_of((int64_t[]){ 10 }, 1), no = eddy__known_of(NULL, 1);
    ck_assert(eddy__known_combine(three, '+', one).at[2] == 13);
    ck_assert(eddy__known_combine(one, '-', three).at[2] == 7);
    ck_assert_int_eq(eddy__known_combine(three, '+', two).count, -1);
    ck_assert(eddy__known_combine(no, '+', one).count < 0 &&
              eddy__known_combine(one, '+', no).count < 0);
    ck_assert(eddy__known_join(three, two).count == 5 && eddy__known_join(three, two).at[4] == 6);
    ck_assert(eddy__known_join(no, two).count < 0 && eddy__known_join(two, no).count < 0);
    const known_sizes none = eddy__known_of((int64_t[]){ 7 }, 0);
    ck_assert(eddy__known_join(none, two).count == 2 && eddy__known_join(none, two).at[1] == 6);
    ck_assert_int_eq(eddy__known_combine(none, '+', one).count, 0);
    ck_assert_int_eq(eddy__known_combine(one, '+', none).count, 0);
    ck_assert_int_eq(eddy__known_combine(none, '+', none).count, 0);
    ck_assert_int_eq(eddy__known_combine(none, '+', two).count, -1);
    int64_t           many[MOST_KNOWN + 1] = { 0 };
    const known_sizes most = eddy__known_of(many, MOST_KNOWN);
    ck_assert(most.count == MOST_KNOWN && eddy__known_of(many, MOST_KNOWN + 1).count < 0);
    ck_assert(eddy__known_join(most, eddy__known_of(many, 0)).count == MOST_KNOWN);
    ck_assert_int_lt(eddy__known_join(most, one).count, 0);
}
END_TEST

START_TEST(known_arrays)
{
    region      r = { 0 };
    int         count = 7;
    eddy_array *a = eddy_array_new(EDDY_INT64, EDDY_SHAPE(MOST_KNOWN)),
               *b = eddy_array_new(EDDY_INT64, EDDY_SHAPE(MOST_KNOWN + 1)),
               *c = eddy_array_new(EDDY_INT64, EDDY_SHAPE(1, 1)),
               *d = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(1));
    eddy_array_set(a, 1, 5);
    const int64_t *at = eddy__known_elements(&r, a, &count);
    ck_assert(at && count == MOST_KNOWN && at[0] == 0 && at[1] == 5);
    ck_assert(!eddy__known_elements(&r, b, &count) && !eddy__known_elements(&r, c, &count));
    ck_assert(!eddy__known_elements(&r, d, &count) && !eddy__known_elements(&r, NULL, &count));
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(c);
    eddy_array_free(d);
    const known_sizes k = eddy__known_of((int64_t[]){ INT32_MAX, INT32_MIN, INT32_MAX + 1ll,
                                                      INT32_MIN - 1ll }, 4);
    at = eddy__known_store(&r, k, true);
    ck_assert(at[0] == INT32_MAX && at[1] == INT32_MIN && at[2] == UNKNOWN_SIZE &&
              at[3] == UNKNOWN_SIZE);
    at = eddy__known_store(&r, k, false);
    ck_assert(at[2] == INT32_MAX + 1ll && at[3] == INT32_MIN - 1ll);
    static const struct { int64_t v; eddy_dtype d; bool known; } cases[] = {
        { INT32_MAX, EDDY_INT32, true }, { -INT32_MAX, EDDY_INT32, true },
        { INT32_MAX + 1ll, EDDY_INT32, false }, { 1ll << 53, EDDY_INT64, true },
        { (1ll << 53) + 1, EDDY_INT64, false }, { UNKNOWN_SIZE, EDDY_INT64, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a = eddy__known_array(&r, &cases[i].v, 1, cases[i].d, EDDY_SHAPE(1));
        ck_assert_msg((a != NULL) == cases[i].known, "case %zu", i);
        if (a) ck_assert_int_eq(eddy__element_integer(a, 0), cases[i].v);
        eddy_array_free(a);
    }
    ck_assert(!r.full);
    eddy__region_free(&r);
}
END_TEST

/* ----------------------------------------------------------- packed numbers -- */

/* How many packed numbers are skipped behind the first. */
static const struct { wire_type as; const char *bytes; size_t size, skipped; } packed[] = {
    { WIRE_VARINT, "\0\1\2\3", 4, 3 },
    { WIRE_VARINT, "\0", 1, 0 },
    { WIRE_VARINT, "\0\x80", 2, 0 },
    { WIRE_VARINT, "\0\x80\1\x80\x80\1", 6, 2 },
    { WIRE_VARINT, "\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11, 1 },
    { WIRE_VARINT, "\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12, 0 },
    { WIRE_FIXED32, "abcdabcdabcd", 12, 2 },
    { WIRE_FIXED32, "abcdabcdabc", 11, 0 },
    { WIRE_FIXED64, "abcdefghabcdefgh", 16, 1 },
    { WIRE_FIXED64, "abcdefghabcdefg", 15, 0 },
};

START_TEST(skipping)
{
    uint8_t bytes[20] = { 1 << 3 | WIRE_BYTES, (uint8_t)packed[_i].size };
    memcpy(bytes + 2, packed[_i].bytes, packed[_i].size);
    wire_numbers n = { .left = eddy__wire_of((wire_bytes){ bytes, packed[_i].size + 2 }),
                       .field = 1, .as = packed[_i].as };
    uint64_t     v;
    ck_assert(eddy__wire_next_number(&n, &v));
    const size_t left = n.packed.size, skipped = eddy__wire_skip_packed(&n);
    ck_assert_uint_eq(skipped, packed[_i].skipped);
    ck_assert_uint_eq(n.packed.size, skipped ? 0 : left);
}
END_TEST

START_TEST(longest_numbers)
{
    static const struct { const char *bytes; size_t size; bool ok; uint64_t value; } cases[] = {
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10, true, UINT64_MAX },
        { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", 10, true, 1ull << 63 },
        { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1", 11, false, 0 },
        { "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9, true, UINT64_MAX >> 1 },
        { "\x80", 1, false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wire_bytes b = { (const uint8_t *)cases[i].bytes, cases[i].size };
        uint64_t   v = 0;
        ck_assert(eddy__wire_unpack(&b, WIRE_VARINT, &v) == cases[i].ok);
        if (cases[i].ok) ck_assert_uint_eq(v, cases[i].value);
        ck_assert_uint_eq(b.size, 0);
    }
}
END_TEST

Suite *format_parts_suite(void)
{
    Suite *s = suite_create("format_parts");
    TCase *t = tcase_create("parts");
    tcase_add_loop_test(t, failing_calls, 0, sizeof calls / sizeof *calls);
    tcase_add_test(t, negative_limit);
    tcase_add_loop_test(t, saving, 0, sizeof saves / sizeof *saves);
    tcase_add_test(t, temporary_names);
    tcase_add_test(t, interruptions);
    tcase_add_test(t, growing_messages);
    tcase_add_test(t, computed_elements);
    tcase_add_test(t, reports);
    tcase_add_test(t, views);
    tcase_add_test(t, names);
    tcase_add_test(t, regions);
    tcase_add_test(t, checksums);
    tcase_add_loop_test(t, element, 0, sizeof stored / sizeof *stored);
    tcase_add_test(t, integers);
    tcase_add_test(t, combinations);
    tcase_add_test(t, known_arrays);
    tcase_add_loop_test(t, skipping, 0, sizeof packed / sizeof *packed);
    tcase_add_test(t, longest_numbers);
    suite_add_tcase(s, t);
    return s;
}
