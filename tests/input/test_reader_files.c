/* test_reader_files.c -- readers of data files whose calls of the file system fail or lie; IDX
 * files and streams of lines at their borders. */
#include "input.h"
#include "tests/lib/files/odd_files.h"
#include "tests/lib/files/zip_writer.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Suite *reader_files_suite(void);

/* ------------------------------------------------------- calls of the file system -- */

typedef eddy_array *load_fn(const char *path, const eddy_files *files, eddy_error *error);

/* The error of reading "f", or OK. */
static eddy_status load(load_fn *f, const char *path, const eddy_files *files, eddy_error *e)
{
    *e = (eddy_error){ 0 };
    eddy_array *a = f(path, files, e);
    ck_assert((a != NULL) == (e->status == EDDY_OK));
    eddy_array_free(a);
    return e->status;
}

static const struct {
    const char *path;
    odd_files   odd;
    eddy_status status;
    const char *says;
} calls[] = {
    { "f", { 0 }, EDDY_OK, "" },
    { NULL, { 0 }, EDDY_INVALID_ARGUMENT, "no path is given" },
    { "f", { .missing = 1 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "f", { .missing = 2 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "f", { .missing = 3 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "f", { .missing = 4 }, EDDY_INVALID_ARGUMENT, "lacks a function" },
    { "g", { 0 }, EDDY_NOT_FOUND, "cannot open" },
    { "f", { .size = -1, .number = ENXIO }, EDDY_IO, "cannot read: No such device or address" },
    { "f", { .size = -1, .number = ESPIPE }, EDDY_IO, "this is not a regular file" },
    { "f", { .size = ((int64_t)1 << 40) + 1 }, EDDY_LIMIT, "the limit is " },
    { "f", { .size = 101 }, EDDY_CORRUPT, "byte 100: the file ends early" },
    { "f", { .size = 99 }, EDDY_OK, "" },
    { "f", { .extra = 1 }, EDDY_IO, "too many bytes" },
    { "f", { .interrupted = 100, .number = EINTR }, EDDY_OK, "" },
    { "f", { .interrupted = 101, .number = EINTR }, EDDY_IO, "Interrupted" },
    { "f", { .interrupted = 1, .number = ENXIO }, EDDY_IO, "No such device or address" },
};

START_TEST(failing_calls)
{
    load_fn *const loads[] = { eddy_bytes_load, eddy_characters_load };
    for (int i = 0; i < 2; i++) {
        eddy_error       e;
        char             bytes[100] = "";
        odd_files        odd = calls[_i].odd;
        const eddy_files table = odd_files_begin(&odd, bytes, sizeof bytes);
        ck_assert_msg(load(loads[i], calls[_i].path, &table, &e) == calls[_i].status, "%s",
                      e.message);
        ck_assert_msg(strstr(e.message, calls[_i].says), "%s", e.message);
        ck_assert_int_eq(odd.files.n_open, 0);
        memory_files_free(&odd.files);
    }
}
END_TEST

/* There is no file, or the first bytes of an image, which say its kind, cannot be read. */
START_TEST(unreadable_image)
{
    eddy_error       e;
    odd_files        odd = { .interrupted = 1, .number = EIO };
    const eddy_files table = odd_files_begin(&odd, "\xff\xd8", 2);
    ck_assert_int_eq(load(eddy_image_load, "g", &table, &e), EDDY_NOT_FOUND);
    ck_assert_int_eq(load(eddy_image_load, "f", &table, &e), EDDY_IO);
    ck_assert_int_eq(odd.files.n_open, 0);
    memory_files_free(&odd.files);
}
END_TEST

/* Each of the two bytes that begin a JPEG image without the other. */
START_TEST(half_of_a_mark)
{
    static const char *const starts[] = { "\xff\xd9\xff", "\xfe\xd8\xff", "\xff" };
    for (int i = 0; i < 3; i++) {
        memory_files files;
        eddy_error   e;
        memory_files_init(&files);
        memory_files_put(&files, "f", starts[i], strlen(starts[i]));
        ck_assert_int_eq(load(eddy_image_load, "f", &files.table, &e), EDDY_CORRUPT);
        ck_assert_str_eq(e.message, "f: byte 0: neither a PNG nor a JPEG image");
        memory_files_free(&files);
    }
}
END_TEST

/* Each reader says so if there is no file, and does not read from it. */
START_TEST(no_file)
{
    static load_fn *const loads[] = { eddy_bytes_load, eddy_characters_load, eddy_idx_load,
                                      eddy_image_load, eddy_wav_load };
    memory_files files;
    memory_files_init(&files);
    for (size_t i = 0; i < sizeof loads / sizeof *loads + 3; i++) {
        const size_t more = i - sizeof loads / sizeof *loads;
        eddy_error   e = { 0 };
        if (i < sizeof loads / sizeof *loads) load(loads[i], "f", &files.table, &e);
        else if (more == 0) ck_assert_int_eq(eddy_wav_rate("f", &files.table, &e), 0);
        else if (more == 1) ck_assert_ptr_null(eddy_npz_open("f", &files.table, &e));
        else ck_assert_ptr_null(eddy_csv_read("f", .files = &files.table, .error = &e));
        ck_assert_int_eq(e.status, EDDY_NOT_FOUND);
        ck_assert_int_eq(files.n_open, 0);
    }
    memory_files_free(&files);
}
END_TEST

/* --------------------------------------------------------------------- IDX -- */

static const struct {
    const char *bytes;
    size_t      size;
    const char *problem;                /* NULL: none */
    eddy_dtype  dtype;
    int         count;
    double      last;
} idx[] = {
#define IDX(bytes, ...) { bytes, sizeof bytes - 1, __VA_ARGS__ }
    IDX("\0\0\x08\1\0\0\0\2\1\xff", NULL, EDDY_UINT8, 2, 255),
    IDX("\0\0\x09\1\0\0\0\2\1\xff", NULL, EDDY_INT32, 2, -1),
    IDX("\0\0\x0b\1\0\0\0\1\xff\xfe", NULL, EDDY_INT32, 1, -2),
    IDX("\0\0\x0c\1\0\0\0\1\xff\xff\xff\xfe", NULL, EDDY_INT32, 1, -2),
    IDX("\0\0\x0d\1\0\0\0\1\x3f\xc0\0\0", NULL, EDDY_FLOAT32, 1, 1.5),
    IDX("\0\0\x0e\1\0\0\0\1\x3f\xf8\0\0\0\0\0\0", NULL, EDDY_FLOAT64, 1, 1.5),
    IDX("\0\0\x0d\1\0\0\0\0", NULL, EDDY_FLOAT32, 0, 0),
    IDX("\0\0\x08\0\7", NULL, EDDY_UINT8, 1, 7),
    IDX("\0\0\x08\2\0\0\0\1\0\0\0\2\1\2", NULL, EDDY_UINT8, 2, 2),
    IDX("\1\0\x08\1\0\0\0\2\1\2", "not an IDX file", 0, 0, 0),
    IDX("\0\1\x08\1\0\0\0\2\1\2", "not an IDX file", 0, 0, 0),
    IDX("\0\0\x0a\1\0\0\0\2\1\2", "not an IDX file", 0, 0, 0),
    IDX("\0\x8b\x08\1\0\0\0\2\1\2", "not an IDX file", 0, 0, 0),
    IDX("\x1f\0\x08\1\0\0\0\2\1\2", "not an IDX file", 0, 0, 0),
    IDX("\0\0\x08\x09", "more than 8 dimensions", 0, 0, 0),
    IDX("\0\0\x08\1\0\0\0\2\1", "the dimensions do not fit", 0, 0, 0),
    IDX("\0\0\x08\1\0\0\0\2\1\2\3", "the dimensions do not fit", 0, 0, 0),
    IDX("\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", "the dimensions do not fit", 0, 0, 0),
    IDX("\0\0\x0e\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "the dimensions do not fit",
        0, 0, 0),
    IDX("\0\0\x08\1\0\0\0", "the file ends early", 0, 0, 0),
    IDX("\0\0\x08", "the file ends early", 0, 0, 0),
};

START_TEST(idx_files)
{
    memory_files files;
    eddy_error   e = { 0 };
    memory_files_init(&files);
    memory_files_put(&files, "f", idx[_i].bytes, idx[_i].size);
    eddy_array *a = eddy_idx_load("f", &files.table, &e);
    ck_assert_msg((a != NULL) == (idx[_i].problem == NULL), "%s", e.message);
    if (a) {
        ck_assert_int_eq(eddy_array_dtype(a), idx[_i].dtype);
        ck_assert_int_eq(eddy_array_count(a), idx[_i].count);
        if (idx[_i].count) ck_assert(eddy_array_get(a, idx[_i].count - 1) == idx[_i].last);
    } else ck_assert_msg(strstr(e.message, idx[_i].problem), "%s", e.message);
    eddy_array_free(a);
    memory_files_free(&files);
}
END_TEST

/* An IDX file of 3 bytes in a stored block of gzip, and what is wrong with it. */
static const struct { const char *bytes; size_t size; const char *problem; } gzips[] = {
#define HEAD "\x1f\x8b\x08\0\0\0\0\0\0\3"
#define BLOCK "\1\x0b\0\xf4\xff\0\0\x08\1\0\0\0\3\1\2\3"
#define GZIP(bytes, problem) { bytes, sizeof bytes - 1, problem }
    GZIP(HEAD BLOCK "\1\2\3\4\x0b\0\0\0", "incorrect data check"),
    GZIP(HEAD BLOCK, "they end early"),
    GZIP(HEAD "\1\x0b\0\xf5\xff", "invalid stored block lengths"),
    GZIP(HEAD "\1\x0a\0\xf5\xff\0\0\x08\1\0\0\0\3\1\2", "they end early"),
    GZIP(HEAD "\1\x0c\0\xf3\xff\0\0\x08\1\0\0\0\3\1\2\3\4", "more compressed bytes than expected"),
    GZIP("\x1f\x8b\x07\0\0\0\0\0\0\3" BLOCK, "unknown compression method"),
    GZIP(HEAD "\7", "invalid block type"),
    GZIP(HEAD "\0\x0b\0\xf4\xff\0\0\x08\1\0\0\0\3\1\2\3", "they end early"),   /* not the last */
    GZIP("\x1f\x8b", "they end early"),
};

START_TEST(damaged_gzip)
{
    memory_files files;
    eddy_error   e = { 0 };
    memory_files_init(&files);
    memory_files_put(&files, "f", gzips[_i].bytes, gzips[_i].size);
    ck_assert_ptr_null(eddy_idx_load("f", &files.table, &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_msg(strstr(e.message, gzips[_i].problem), "%s", e.message);
    memory_files_free(&files);
}
END_TEST

/* A good file of gzip, then other bytes, or once more the same. */
START_TEST(gzip_and_more)
{
    eddy_error  e = { 0 };
    eddy_array *good = eddy_bytes_load("tests/input/fixtures/labels.idx.gz", NULL, &e);
    ck_assert_msg(good != NULL, "%s", e.message);
    for (int i = 0; i < 3; i++) {
        memory_files files;
        message      m = { NULL, 0 };
        message_put(&m, eddy_array_data(good), eddy_array_bytes(good));
        if (i == 1) message_put_text(&m, "x");
        if (i == 2) message_put(&m, eddy_array_data(good), eddy_array_bytes(good));
        memory_files_init(&files);
        memory_files_put(&files, "f", m.at, m.size);
        eddy_array *a = eddy_idx_load("f", &files.table, &e);
        ck_assert_msg((a != NULL) == (i == 0), "%d: %s", i, e.message);
        char more[60];
        snprintf(more, sizeof more, "byte %zu: there is more after", eddy_array_bytes(good));
        if (i) ck_assert_msg(strstr(e.message, more), "%s", e.message);
        e = (eddy_error){ 0 };
        eddy_array_free(a);
        message_free(&m);
        memory_files_free(&files);
    }
    eddy_array_free(good);
}
END_TEST

/* -------------------------------------------------------------- characters -- */

static const struct { const char *bytes; int count; int32_t first;
} texts[] = {
    { "", 0, 0 },
    { "ab", 2, 'a' },
    { "\x7f", 1, 0x7f },
    { "\xc2\x80", 1, 0x80 },
    { "\xdf\xbf", 1, 0x7ff },
    { "\xe0\xa0\x80", 1, 0x800 },
    { "\xed\x9f\xbf", 1, 0xd7ff },
    { "\xee\x80\x80", 1, 0xe000 },
    { "\xef\xbf\xbf", 1, 0xffff },
    { "\xf0\x90\x80\x80", 1, 0x10000 },
    { "\xf4\x8f\xbf\xbf", 1, 0x10ffff },
    { "\x80", -1, 0 },
    { "\xc1\xbf", -1, 0 },
    { "\xc2", -1, 0 },
    { "\xc2 ", -1, 0 },
    { "\xe0\x9f\xbf", -1, 0 },
    { "\xed\xa0\x80", -1, 0 },
    { "\xed\xbf\xbf", -1, 0 },
    { "\xf0\x8f\xbf\xbf", -1, 0 },
    { "\xf4\x90\x80\x80", -1, 0 },
    { "\xf8\x88\x80\x80\x80", -1, 0 },
    { "a\xe2\x82", -1, 0 },
    { "\xff", -1, 0 },
};

START_TEST(characters)
{
    memory_files files;
    eddy_error   e = { 0 };
    memory_files_init(&files);
    memory_files_put(&files, "f", texts[_i].bytes, strlen(texts[_i].bytes));
    eddy_array *a = eddy_characters_load("f", &files.table, &e);
    ck_assert_msg((a != NULL) == (texts[_i].count >= 0), "%s", e.message);
    if (!a) ck_assert_msg(strstr(e.message, "not UTF-8"), "%s", e.message);
    if (a) ck_assert_int_eq(eddy_array_count(a), texts[_i].count);
    if (texts[_i].count > 0) ck_assert_int_eq(((int32_t *)eddy_array_data(a))[0], texts[_i].first);
    eddy_array_free(a);
    memory_files_free(&files);
}
END_TEST

/* -------------------------------------------------------------------- lines -- */

/* The lines of the text, with "|" behind each; the longest may have so many bytes. */
static const struct { const char *text; int most; const char *lines, *problem; } lines[] = {
    { "", 5, "", NULL },
    { "a", 5, "a|", NULL },
    { "a\n", 5, "a|", NULL },
    { "a\n\nb", 5, "a||b|", NULL },
    { "a\r\nb\r", 5, "a|b|", NULL },
    { "\r\n", 5, "|", NULL },
    { "\n", 5, "|", NULL },
    { "abcde\nx", 5, "abcde|x|", NULL },
    { "x\nabcdef\n", 5, "x|", "line 2 has more than 5 bytes" },
    { "abcde\r\n", 5, "", "line 1 has more than 5 bytes" },
};

START_TEST(streams)
{
    char          text[100] = "";
    memory_files  files;
    const eddy_array *line[1];
    memory_files_init(&files);
    memory_files_put(&files, "f", lines[_i].text, strlen(lines[_i].text));
    eddy_dataset *d =
        eddy_dataset_from_lines("f", .files = &files.table, .max_line = lines[_i].most);
    while (eddy_dataset_next(d, line)) {
        strncat(text, eddy_array_data(line[0]), (size_t)eddy_array_count(line[0]));
        strcat(text, "|");
    }
    ck_assert_str_eq(text, lines[_i].lines);
    ck_assert_int_eq(eddy_dataset_status(d), lines[_i].problem ? EDDY_LIMIT : EDDY_OK);
    if (lines[_i].problem)
        ck_assert_ptr_nonnull(strstr(eddy_dataset_message(d), lines[_i].problem));
    eddy_dataset_free(d);
    memory_files_free(&files);
}
END_TEST

/* A line of more than the piece that is in memory, a read that fails in it, and a limit in it. */
START_TEST(long_line)
{
    enum { LONG = 200000, LIMIT = 70000 };
    char             *text = malloc(LONG + 2);
    const eddy_array *line[1];
    memory_files      files;
    memset(text, 'x', LONG);
    memcpy(text + LONG, "\ny", 2);
    memory_files_init(&files);
    memory_files_put(&files, "f", text, LONG + 2);
    eddy_dataset *short_one =
        eddy_dataset_from_lines("f", .files = &files.table, .max_line = LIMIT);
    ck_assert(!eddy_dataset_next(short_one, line));
    ck_assert_int_eq(eddy_dataset_status(short_one), EDDY_LIMIT);
    ck_assert_ptr_nonnull(strstr(eddy_dataset_message(short_one), "more than 70000 bytes"));
    eddy_dataset_free(short_one);
    memory_files_free(&files);
    for (int at = 0; at < 7; at++) {
        memory_files_init(&files);
        memory_files_put(&files, "f", text, LONG + 2);
        files.fault = (memory_fault){ .at = at, .number = EIO };
        eddy_dataset *d = eddy_dataset_from_lines("f", .files = &files.table);
        if (eddy_dataset_next(d, line)) {
            ck_assert_int_eq(eddy_array_count(line[0]), LONG);
            ck_assert(eddy_dataset_next(d, line) || at > 0);
        } else ck_assert_int_eq(eddy_dataset_status(d), EDDY_IO);
        eddy_dataset_free(d);
        memory_files_free(&files);
    }
    free(text);
}
END_TEST

/* A message counts lines from 0, as it counts the records of other datasets. */
START_TEST(number_of_a_line)
{
    const eddy_array *batch[1];
    memory_files      files;
    memory_files_init(&files);
    memory_files_put(&files, "f", "a\nb\nlonger\n", 11);
    eddy_dataset *d = eddy_dataset_batch(eddy_dataset_from_lines("f", .files = &files.table), 3);
    ck_assert(!eddy_dataset_next(d, batch));
    ck_assert_msg(strstr(eddy_dataset_message(d), "component 0 of record 2 is uint8[6]"), "%s",
                  eddy_dataset_message(d));
    eddy_dataset_free(d);
    memory_files_free(&files);
}
END_TEST

Suite *reader_files_suite(void)
{
    Suite *s = suite_create("reader_files");
    TCase *t = tcase_create("files");
    tcase_add_loop_test(t, failing_calls, 0, sizeof calls / sizeof *calls);
    tcase_add_test(t, unreadable_image);
    tcase_add_test(t, half_of_a_mark);
    tcase_add_test(t, no_file);
    tcase_add_loop_test(t, idx_files, 0, sizeof idx / sizeof *idx);
    tcase_add_loop_test(t, damaged_gzip, 0, sizeof gzips / sizeof *gzips);
    tcase_add_test(t, gzip_and_more);
    tcase_add_loop_test(t, characters, 0, sizeof texts / sizeof *texts);
    tcase_add_loop_test(t, streams, 0, sizeof lines / sizeof *lines);
    tcase_add_test(t, long_line);
    tcase_add_test(t, number_of_a_line);
    suite_add_tcase(s, t);
    return s;
}
