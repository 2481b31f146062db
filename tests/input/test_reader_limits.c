/* test_reader_limits.c -- readers of files that are no regular files or come in pieces, and wrong
 * arguments. */
#define _DEFAULT_SOURCE
#include "build/gen/suites.h"
#include "tests/lib/files/memory_files.h"

#include "input.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
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

static int reads;

/* Two bytes, then an error, then all. */
static int64_t failing_once(void *context, int fd, void *p, size_t n)
{
    if (++reads != 2) return whole(context, fd, p, reads == 1 ? 2 : n);
    errno = EIO;
    return -1;
}

/* The kind of an image is known, but its first bytes are not all read. */
START_TEST(image_fails_once)
{
    eddy_error   e = { EDDY_OK, "" };
    memory_files m;
    eddy_array  *bytes = eddy_bytes_load("tests/input/fixtures/rgb.jpg", NULL, &e);
    memory_files_init(&m);
    memory_files_put(&m, "f", eddy_array_data(bytes), eddy_array_bytes(bytes));
    whole = m.table.read;
    m.table.read = failing_once;
    reads = 0;
    ck_assert_ptr_null(eddy_image_load("f", &m.table, &e));
    ck_assert_int_eq(e.status, EDDY_IO);
    eddy_array_free(bytes);
    memory_files_free(&m);
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

/* A header that claims 10000 by 10000 pixels, in a file too short for them. */
START_TEST(short_png)
{
    static const uint8_t png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 26, '\n', 0, 0, 0, 13,
                                   'I', 'H', 'D', 'R', 0, 0, 39, 16, 0, 0, 39, 16,
                                   8, 6, 0, 0, 0, 186, 78, 98, 39,
                                   0, 0, 0, 1, 'I', 'D', 'A', 'T' };
    memory_files  m;
    eddy_error    e = { EDDY_OK, "" };
    struct rusage before, after;
    memory_files_init(&m);
    memory_files_put(&m, "f", png, sizeof png);
    getrusage(RUSAGE_SELF, &before);
    ck_assert_ptr_null(eddy_png_load("f", &m.table, &e));
    getrusage(RUSAGE_SELF, &after);
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_ptr_nonnull(strstr(e.message, "byte 16: the size of the image does not fit"));
    /* KiB; the pixels would take 400000 */
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 100000);
    memory_files_free(&m);
}
END_TEST

static void put_bytes(uint8_t **to, size_t n, const uint8_t *bytes)
{
    memcpy(*to, bytes, n);
    *to += n;
}
#define PUT(to, ...) \
    put_bytes(to, sizeof((const uint8_t[]){ __VA_ARGS__ }), (const uint8_t[]){ __VA_ARGS__ })

/* A progressive image of rows by columns, of one block, in n scans of a bit: first the mean, then
 * each frequency with ever more bits. */
static size_t scans_of(uint8_t *to, int rows, int columns, int n)
{
    const uint8_t *begin = to;
    PUT(&to, 0xff, 0xd8, 0xff, 0xdb, 0, 67, 0);
    memset(to, 1, 64);
    to += 64;
    PUT(&to, 0xff, 0xc2, 0, 11, 8, (uint8_t)(rows >> 8), (uint8_t)rows, (uint8_t)(columns >> 8),
        (uint8_t)columns, 1, 1, 0x11, 0);
    for (int table = 0; table < 2; table++)
        PUT(&to, 0xff, 0xc4, 0, 20, (uint8_t)(table << 4), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0);
    for (int i = 0; i < n; i++) {
        const int frequency = i == 0 ? 0 : 1 + (i - 1) / 14, low = i == 0 ? 0 : 13 - (i - 1) % 14,
                  high = i == 0 || low == 13 ? 0 : low + 1;
        PUT(&to, 0xff, 0xda, 0, 8, 1, 1, 0, (uint8_t)frequency, (uint8_t)frequency,
            (uint8_t)(high << 4 | low), 0x7f);
    }
    PUT(&to, 0xff, 0xd9);
    return (size_t)(to - begin);
}

/* Each scan goes through the whole image. */
START_TEST(scans_of_jpeg)
{
    static const struct {
        int         rows, columns, scans;
        eddy_status status;
        const char *problem;
    } cases[] = {
        { 8, 8, 1, EDDY_OK, "" },
        { 8, 8, 500, EDDY_OK, "" },
        { 8, 8, 501, EDDY_LIMIT, "more than 500 scans" },
        { 65500, 65500, 1, EDDY_LIMIT, "65500 by 65500 pixels; the limit is 2^28" },
        { 4096, 4096, 1, EDDY_CORRUPT, "byte 0: the size of the image does not fit" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static uint8_t bytes[10000];
        memory_files   m;
        eddy_error     e = { EDDY_OK, "" };
        memory_files_init(&m);
        memory_files_put(&m, "f", bytes,
                         scans_of(bytes, cases[i].rows, cases[i].columns, cases[i].scans));
        eddy_array *a = eddy_jpeg_load("f", &m.table, &e);
        ck_assert_msg(e.status == cases[i].status, "case %zu: %s", i, e.message);
        ck_assert_ptr_nonnull(strstr(e.message, cases[i].problem));
        for (int k = 0; a && k < 64; k++) ck_assert(eddy_array_get(a, k) == 128);
        ck_assert((a != NULL) == (e.status == EDDY_OK));
        eddy_array_free(a);
        memory_files_free(&m);
    }
}
END_TEST

/* As many pixels as a file of its size can have, of which it lacks the bits, and a row more. */
START_TEST(pixels_of_jpeg)
{
    static uint8_t bytes[1000];
    const int      columns = (int)scans_of(bytes, 1, 1, 1) + 16;
    for (int rows = 4096; rows <= 4097; rows++) {
        memory_files m;
        eddy_error   e = { EDDY_OK, "" };
        memory_files_init(&m);
        memory_files_put(&m, "f", bytes, scans_of(bytes, rows, columns, 1));
        ck_assert_ptr_null(eddy_jpeg_load("f", &m.table, &e));
        ck_assert_msg(strstr(e.message, rows == 4096 ? "premature end of data" : "does not fit"),
                      "%d rows: %s", rows, e.message);
        memory_files_free(&m);
    }
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
    tcase_add_test(t, image_fails_once);
    tcase_add_test(t, largest_image);
    tcase_add_test(t, short_png);
    tcase_add_test(t, scans_of_jpeg);
    tcase_add_test(t, pixels_of_jpeg);
    tcase_add_test(t, csv_arguments);
    tcase_add_test(t, huge_entry);
    suite_add_tcase(s, t);
    return s;
}
