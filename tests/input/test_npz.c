/* test_npz.c -- archives of NumPy written byte by byte: directories of 64 bits, and wrong numbers
 * in directories and entries. */
#include "input.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/zip_writer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *npz_suite(void);

/* float32 [2] as NumPy writes it. */
static message array_file(void)
{
    char head[128], start[] = "\x93NUMPY\1\0\x76";
    snprintf(head, sizeof head, "%-117s",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}");
    message m = { NULL, 0 };
    message_put(&m, start, 10);
    message_put(&m, head, 117);
    message_put_text(&m, "\n");
    message_put(&m, (float[]){ 1, 2 }, 8);
    return m;
}

static eddy_npz *open_bytes(memory_files *files, message m, eddy_error *e)
{
    memory_files_init(files);
    memory_files_put(files, "f", m.at, m.size);
    message_free(&m);
    *e = (eddy_error){ 0 };
    eddy_npz *z = eddy_npz_open("f", &files->table, e);
    ck_assert((z != NULL) == (e->status == EDDY_OK));
    return z;
}

static const char outside[] = "the directory is outside of the file",
                  unfit[] = "the sizes of the entry do not fit",
                  too_long[] = "an entry of the directory is too long";

static const struct {
    zip_part    part;
    zip_ending  end;
    const char *opening, *reading;      /* what is wrong; NULL: nothing */
} rows[] = {
    { .part = { .name = "x.npy" } },
    { .part = { .name = "x" } },
    { .part = { .name = "x.npy", .wide = true } },
    { .part = { .name = "x.npy", .half_wide = true, .extra = 5 } },
    { .part = { .name = "x.npy", .wide = true, .extra = -1 }, .opening = too_long },
    { .part = { .name = "x.npy", .extra = -2 }, .opening = too_long },
    { .part = { .name = "x.npy", .flags = 1 }, .opening = "encrypted" },
    { .part = { .name = "x.npy", .method = 9 }, .reading = "compression method 9" },
    { .part = { .name = "x.npy", .wrong = 1 }, .reading = "wrong CRC-32" },
    { .part = { .name = "x.npy", .beyond = 1 }, .reading = "the entry is not there" },
    { .part = { .name = "x.npy", .beyond = 1 << 20 }, .reading = "the entry is not there" },
    { .part = { .name = "x.npy", .half_wide = true, .beyond = 1ull << 63 },
      .reading = "the entry is not there" },
    { .part = { .name = "x.npy", .longer = 1 }, .reading = unfit },
    { .part = { .name = "x.npy", .more_stored = 1000 }, .reading = unfit },
    /* With the directory, 46 + 5 bytes, and the 22 behind it; one more is not there. */
    { .part = { .name = "x.npy", .more_stored = 73 },
      .reading = "the data has the length 81 in bytes" },
    { .part = { .name = "x.npy", .more_stored = 74 }, .reading = unfit },
    { .part = { .name = "x.npy", .method = 8, .longer = 1 << 20 }, .reading = unfit },
    { .part = { .name = "x.npy", .far = 50000 }, .reading = unfit },
    { .part = { .name = "x.npy", .wide = true, .more_stored = 1ull << 63 }, .reading = unfit },
    { .part = { .name = "x.npy", .wide = true, .method = 8, .longer = 1ull << 63 },
      .reading = unfit },
    { .part = { .name = "x.npy", .method = 8 }, .reading = "in the compressed bytes" },
    { .part = { .name = "x.npy" }, .end = { .wide = true } },
    { .part = { .name = "x.npy" }, .end = { .note = "a note" } },
    { .part = { .name = "x.npy" }, .end = { .more_at = 1 }, .opening = outside },
    { .part = { .name = "x.npy" }, .end = { .more_at = 1, .more_size = (uint64_t)-1 },
      .opening = "no entry of the directory" },
    { .part = { .name = "x.npy" }, .end = { .more_size = 1 }, .opening = outside },
    { .part = { .name = "x.npy" }, .end = { .more_size = (uint64_t)-1 }, .opening = too_long },
    { .part = { .name = "x.npy" }, .end = { .more_entries = 1 }, .opening = outside },
    { .part = { .name = "x.npy", .extra = 60 }, .end = { .more_entries = 1 },
      .opening = "no entry of the directory" },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_record = (uint64_t)-1 },
      .opening = "the directory's end is not there" },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_record = 1 },
      .opening = "the directory's end is not there" },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_record = 1ull << 50 },
      .opening = "the directory's end is not there" },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_record = 1ull << 63 },
      .opening = "the directory's end is not there" },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_at = 1ull << 63 },
      .opening = outside },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_size = 1ull << 63 },
      .opening = outside },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_entries = 1ull << 63 },
      .opening = outside },
    { .part = { .name = "x.npy" }, .end = { .wide = true, .more_at = 1ull << 40 },
      .opening = outside },
};

START_TEST(archives)
{
    memory_files files;
    eddy_error   e;
    zip_part     part = rows[_i].part;
    part.data = array_file();
    eddy_npz   *z = open_bytes(&files, zip_of(&part, 1, rows[_i].end), &e);
    const char *wrong = rows[_i].opening;
    ck_assert_msg((z == NULL) == (wrong != NULL), "%s", e.message);
    if (z) {
        ck_assert_int_eq(eddy_npz_count(z), 1);
        ck_assert_str_eq(eddy_npz_name(z, 0), "x");
        eddy_array *a = eddy_npz_array(z, "x", &e);
        wrong = rows[_i].reading;
        ck_assert_msg((a == NULL) == (wrong != NULL), "%s", e.message);
        ck_assert(!a || (eddy_array_count(a) == 2 && eddy_array_get(a, 1) == 2));
        eddy_array_free(a);
    }
    if (wrong) ck_assert_msg(strstr(e.message, wrong), "%s", e.message);
    eddy_npz_free(z);
    memory_files_free(&files);
}
END_TEST

/* One byte of elements. */
START_TEST(one_byte)
{
    static const char file[] = "\x93NUMPY\1\0\x34\0"
                               "{'descr':'|u1','shape':(1,),'fortran_order':False}\n\n\7";
    memory_files files;
    eddy_error   e;
    zip_part     part = { .name = "x.npy", .data = { NULL, 0 } };
    message_put(&part.data, file, sizeof file - 1);
    eddy_npz   *z = open_bytes(&files, zip_of(&part, 1, (zip_ending){ 0 }), &e);
    eddy_array *a = eddy_npz_array(z, "x", &e);
    ck_assert_msg(a != NULL, "%s", e.message);
    ck_assert(eddy_array_count(a) == 1 && eddy_array_get(a, 0) == 7);
    eddy_array_free(a);
    eddy_npz_free(z);
    memory_files_free(&files);
}
END_TEST

START_TEST(names)
{
    memory_files files;
    eddy_error   e;
    zip_part     parts[] = { { .name = "a.npy", .data = array_file() },
                             { .name = ".npy", .data = array_file() },
                             { .name = "b.npx", .data = array_file() } };
    eddy_npz    *z = open_bytes(&files, zip_of(parts, 3, (zip_ending){ 0 }), &e);
    ck_assert_int_eq(eddy_npz_count(z), 3);
    ck_assert_str_eq(eddy_npz_name(z, 0), "a");
    ck_assert_str_eq(eddy_npz_name(z, 1), ".npy");
    ck_assert_str_eq(eddy_npz_name(z, 2), "b.npx");
    ck_assert(!eddy_npz_name(z, 3) && !eddy_npz_name(z, -1) && !eddy_npz_name(NULL, 0));
    ck_assert_int_eq(eddy_npz_count(NULL), 0);
    ck_assert_ptr_null(eddy_npz_array(z, "c", &e));
    ck_assert_int_eq(e.status, EDDY_NOT_FOUND);
    e = (eddy_error){ 0 };
    ck_assert_ptr_null(eddy_npz_array(z, NULL, &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    e = (eddy_error){ 0 };
    ck_assert_ptr_null(eddy_npz_array(NULL, "a", &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    eddy_npz_free(z);
    memory_files_free(&files);
}
END_TEST

/* Bytes that only look like the end of an archive. */
START_TEST(ends)
{
    static const struct { size_t size, at; const char *text;
    } cases[] = {
        { 21, 0, "" },       { 22, 0, "" },          { 22, 0, "PK\5\6" },
        { 30, 0, "PK\5\6" }, { 70000, 0, "PK\5\6" }, { 70000, 70000 - 22, "PK\5\7" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_files files;
        eddy_error   e;
        message      m = { NULL, 0 };
        for (size_t k = 0; k < cases[i].size; k++) message_put_number(&m, 0, 1);
        memcpy(m.at + cases[i].at, cases[i].text, strlen(cases[i].text));
        eddy_npz *z = open_bytes(&files, m, &e);
        ck_assert_msg((z != NULL) == (i == 2), "case %zu: %s", i, e.message);
        ck_assert_int_eq(eddy_npz_count(z), 0);
        eddy_npz_free(z);
        memory_files_free(&files);
    }
}
END_TEST

/* A directory without entries that has a negative size. */
START_TEST(negative_size)
{
    memory_files files;
    eddy_error   e;
    zip_part     none = { .name = "" };
    message      m = zip_of(&none, 0, (zip_ending){ .wide = true, .more_size = (uint64_t)-1 });
    ck_assert_ptr_null(open_bytes(&files, m, &e));
    ck_assert_msg(strstr(e.message, outside), "%s", e.message);
    memory_files_free(&files);
}
END_TEST

/* Behind the directory, and one byte more than there may be. */
START_TEST(longest_note)
{
    enum { MOST = 65535 };
    static char note[MOST + 1];
    memset(note, 'n', MOST);
    for (int more = 0; more < 2; more++) {
        memory_files files;
        eddy_error   e;
        zip_part     part = { .name = "x.npy", .data = array_file() };
        message      m = zip_of(&part, 1, (zip_ending){ .note = note });
        if (more) message_put_text(&m, "n");
        eddy_npz *z = open_bytes(&files, m, &e);
        ck_assert_msg((z != NULL) == !more, "%s", e.message);
        eddy_npz_free(z);
        memory_files_free(&files);
    }
}
END_TEST

/* A directory of zeros for one entry more than the limit. */
START_TEST(too_many)
{
    enum { MOST = 1 << 20, ENTRY = 46 };
    memory_files files;
    eddy_error   e;
    message      m = { NULL, 0 };
    uint8_t     *zeros = calloc(MOST + 1, ENTRY);
    zip_part     none = { .name = "" };
    message      end = zip_of(&none, 0,
                              (zip_ending){ .wide = true,
                                            .more_entries = MOST + 1,
                                            .more_size = (uint64_t)(MOST + 1) * ENTRY,
                                            .more_record = (uint64_t)(MOST + 1) * ENTRY });
    message_put(&m, zeros, (size_t)(MOST + 1) * ENTRY);
    message_put(&m, end.at, end.size);
    message_free(&end);
    free(zeros);
    ck_assert_ptr_null(open_bytes(&files, m, &e));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    ck_assert_str_eq(e.message, "f: 1048577 arrays; the limit is 1048576");
    memory_files_free(&files);
}
END_TEST

/* A record of 64 bits just before its locator, one that reaches into it, and none. */
START_TEST(wide_ends)
{
    enum { WIDE = 56, LOCATOR = 20, END = 22 };
    static const int sizes[] = { WIDE, WIDE - 1, 0 };
    for (int k = 0; k < 3; k++) {
        const int    before = sizes[k];
        memory_files files;
        eddy_error   e;
        message      m = { NULL, 0 };
        for (int i = 0; i < before + LOCATOR + END; i++) message_put_number(&m, 0, 1);
        if (before) memcpy(m.at, "PK\6\6", 4);
        memcpy(m.at + before, "PK\6\7", 4);
        memcpy(m.at + before + LOCATOR, "PK\5\6", 4);
        eddy_npz *z = open_bytes(&files, m, &e);
        ck_assert_msg((z != NULL) == (before == WIDE), "%d: %s", before, e.message);
        ck_assert(z || strstr(e.message, "the directory's end is not there"));
        ck_assert_int_eq(eddy_npz_count(z), 0);
        eddy_npz_free(z);
        memory_files_free(&files);
    }
}
END_TEST

Suite *npz_suite(void)
{
    Suite *s = suite_create("npz");
    TCase *t = tcase_create("npz");
    tcase_add_loop_test(t, archives, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, one_byte);
    tcase_add_test(t, names);
    tcase_add_test(t, negative_size);
    tcase_add_test(t, longest_note);
    tcase_add_test(t, too_many);
    tcase_add_test(t, ends);
    tcase_add_test(t, wide_ends);
    suite_add_tcase(s, t);
    return s;
}
