/* test_reader_limits.c -- readers of files that are no regular files or come in pieces, and wrong
 * arguments. */
#include "build/gen/suites.h"
#include "tests/lib/files/memory_files.h"

#include "input.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody writes to the pipe: opening it must not wait. */
START_TEST(pipes)
{
    const char *path = "/tmp/eddy-reader-limits";
    eddy_error  e = { EDDY_OK, "" };
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_ptr_null(eddy_bytes_load(path, NULL, &e));
    ck_assert_int_eq(e.status, EDDY_IO);
    eddy_dataset *d = eddy_dataset_from_lines(path);
    ck_assert(!eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_dataset_status(d), EDDY_IO);
    eddy_dataset_free(d);
    unlink(path);
}
END_TEST

static int64_t (*whole)(void *context, int fd, void *p, size_t n);

static int64_t one_byte(void *context, int fd, void *p, size_t n)
{
    return whole(context, fd, p, n > 1 ? 1 : n);
}

/* A read function may give one byte at a time. */
START_TEST(images_in_pieces)
{
    static const char *const paths[] = { "tests/input/fixtures/rgb.png",
                                         "tests/input/fixtures/rgb.jpg" };
    for (int i = 0; i < 2; i++) {
        eddy_error   e = { EDDY_OK, "" };
        memory_files m;
        eddy_array  *bytes = eddy_bytes_load(paths[i], NULL, &e);
        memory_files_init(&m);
        memory_files_put(&m, "f", eddy_array_data(bytes), eddy_array_bytes(bytes));
        whole = m.table.read;
        m.table.read = one_byte;
        eddy_array *image = eddy_image_load("f", &m.table, &e);
        ck_assert_msg(image != NULL, "%s", e.message);
        eddy_array_free(image);
        eddy_array_free(bytes);
        memory_files_free(&m);
    }
}
END_TEST

/* 2^31 - 1 by 2^31 - 1 pixels are a limit, not damage, except where libpng cannot address a row. */
START_TEST(largest_image)
{
    static const uint8_t png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 26, '\n', 0, 0, 0, 13,
                                   'I', 'H', 'D', 'R', 127, 255, 255, 255, 127, 255, 255, 255,
                                   8, 0, 0, 0, 0, 49, 162, 84, 186,
                                   0, 0, 0, 1, 'I', 'D', 'A', 'T' };
    memory_files m;
    eddy_error   e = { EDDY_OK, "" };
    memory_files_init(&m);
    memory_files_put(&m, "f", png, sizeof png);
    ck_assert_ptr_null(eddy_png_load("f", &m.table, &e));
    ck_assert_int_eq(e.status, sizeof(void *) > 4 ? EDDY_LIMIT : EDDY_CORRUPT);
    memory_files_free(&m);
}
END_TEST

/* Arguments that do not make a table are errors. */
START_TEST(csv_arguments)
{
    memory_files m;
    eddy_error   e = { EDDY_OK, "" };
    memory_files_init(&m);
    memory_files_put(&m, "f", "a\n1\0002\n", 6);
    ck_assert_ptr_null(eddy_csv_read("f", .files = &m.table, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    memory_files_put(&m, "g", "a\n1\n", 4);
    ck_assert_ptr_null(eddy_csv_read("g", .files = &m.table, .n = 3, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    const eddy_csv_type type = EDDY_CSV_INT64;
    ck_assert_ptr_null(
        eddy_csv_read("g", .files = &m.table, .types = &type, .n = -1, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(
        eddy_csv_read("g", .files = &m.table, .integer_for_missing = 0.5, .error = &e));
    ck_assert_int_eq(e.status, EDDY_INVALID_ARGUMENT);
    memory_files_free(&m);
}
END_TEST

/* An archive whose directory promises 2^63 - 1 compressed bytes. */
START_TEST(huge_entry)
{
    static const uint8_t zip[] = {
        'P', 'K', 1,   2,   20,  0,   20,  0,   0,   0,   8,   0,   0,   0,   0,   0,   0,
        0,   0,   0,   255, 255, 255, 255, 255, 255, 255, 255, 1,   0,   20,  0,   0,   0,
        0,   0,   0,   0,   0,   0,   0,   0,   67,  0,   0,   0,   'x', 1,   0,   16,  0,
        255, 255, 255, 255, 255, 255, 255, 127, 255, 255, 255, 255, 255, 255, 255, 127, 'P',
        'K', 3,   4,   20,  0,   0,   0,   8,   0,   0,   0,   0,   0,   0,   0,   0,   0,
        0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   'P', 'K', 5,   6,   0,
        0,   0,   0,   1,   0,   1,   0,   67,  0,   0,   0,   0,   0,   0,   0,   0,   0
    };
    memory_files m;
    eddy_error   e = { EDDY_OK, "" };
    memory_files_init(&m);
    memory_files_put(&m, "f", zip, sizeof zip);
    eddy_npz *z = eddy_npz_open("f", &m.table, &e);
    ck_assert_msg(z != NULL, "%s", e.message);
    ck_assert_ptr_null(eddy_npz_array(z, "x", &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_ptr_nonnull(strstr(e.message, "sizes"));
    eddy_npz_free(z);
    memory_files_free(&m);
}
END_TEST

Suite *reader_limits_suite(void)
{
    Suite *s = suite_create("reader_limits");
    TCase *t = tcase_create("files");
    tcase_add_test(t, pipes);
    tcase_add_test(t, images_in_pieces);
    tcase_add_test(t, largest_image);
    tcase_add_test(t, csv_arguments);
    tcase_add_test(t, huge_entry);
    suite_add_tcase(s, t);
    return s;
}
