/* test_readers.c -- readers of data files: what other programs wrote, damaged files, and the
 * messages of all errors. fixtures/ is made by make_fixtures.py. */
#include "build/gen/suites.h"
#include "tests/lib/datasets.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIXTURES "tests/input/fixtures/"

typedef eddy_array *(*reader)(const char *path, const eddy_files *files, eddy_error *error);

static eddy_array *must(eddy_array *a, const eddy_error *e)
{
    ck_assert_msg(a != NULL, "%s", e->message);
    return a;
}

static uint8_t *bytes_of(const char *path, size_t *n)
{
    FILE    *f = fopen(path, "rb");
    uint8_t *p = malloc(1 << 20);
    ck_assert_msg(f != NULL, "%s", path);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

/* Reads bytes as a file. */
static eddy_array *from_bytes(reader r, const void *p, size_t n, eddy_error *e)
{
    memory_files m;
    memory_files_init(&m);
    memory_files_put(&m, "f", p, n);
    *e = (eddy_error){ EDDY_OK, "" };
    eddy_array *a = r("f", &m.table, e);
    ck_assert((a != NULL) == (e->status == EDDY_OK));
    memory_files_free(&m);
    return a;
}

/* ------------------------------------------------------------------- npz -- */

static void check_numpy(const char *name, const eddy_array *a)
{
    static const struct { const char *code; eddy_dtype dtype;
    } types[] = {
        { "f2", EDDY_FLOAT16 },     { "f4", EDDY_FLOAT32 }, { "f8", EDDY_FLOAT64 },
        { "i1", EDDY_INT32 },       { "i2", EDDY_INT32 },   { "i4", EDDY_INT32 },
        { "i8", EDDY_INT64 },       { "u1", EDDY_UINT8 },   { "u2", EDDY_INT32 },
        { "u4", EDDY_INT64 },       { "u8", EDDY_INT64 },   { "c8", EDDY_COMPLEX64 },
        { "c16", EDDY_COMPLEX128 }, { "b1", EDDY_BOOL },    { "fortran", EDDY_INT32 },
        { "v", EDDY_INT32 },
    };
    size_t k = 0;
    while (k < 16 && strncmp(name, types[k].code, strlen(types[k].code)) != 0) k++;
    ck_assert_uint_lt(k, 16);
    ck_assert_int_eq(eddy_array_dtype(a), types[k].dtype);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(2, 3)));
    for (int64_t i = 0; i < 6; i++) {
        const double v = (double)(i * 3 - 5);
        const double want = name[0] == 'u' ? fabs(v) : name[0] == 'b' ? v > 0 : v;
        ck_assert_msg(eddy_array_get(a, i) == want, "%s: %g", name, eddy_array_get(a, i));
        if (name[0] == 'c') ck_assert(eddy_array_get_imag(a, i) == want + 1);
    }
}

START_TEST(npz)
{
    static const char *const paths[] = { FIXTURES "stored.npz", FIXTURES "deflated.npz",
                                         FIXTURES "versions.npz" };
    eddy_error e = { EDDY_OK, "" };
    eddy_npz  *z = eddy_npz_open(paths[_i], NULL, &e);
    ck_assert_msg(z != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_npz_count(z), _i == 2 ? 3 : 30);
    for (int i = 0; i < eddy_npz_count(z); i++) {
        const char *name = eddy_npz_name(z, i);
        eddy_array *a = must(eddy_npz_array(z, name, &e), &e);
        if (strcmp(name, "scalar") == 0) ck_assert(eddy_array_item(a) == 7);
        else if (strcmp(name, "empty") == 0)
            ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(0, 3)));
        else check_numpy(name, a);
        eddy_array_free(a);
    }
    ck_assert_ptr_null(eddy_npz_name(z, -1));
    eddy_npz_free(z);
}
END_TEST

/* ------------------------------------------------------------------- idx -- */

START_TEST(idx)
{
    static const struct { uint8_t code, size; eddy_dtype dtype; const char *bytes; } rows[] = {
        { 8, 1, EDDY_UINT8, "\3\376" }, { 9, 1, EDDY_INT32, "\3\376" },
        { 0xb, 2, EDDY_INT32, "\0\3\377\376" }, { 0xc, 4, EDDY_INT32, "\0\0\0\3\377\377\377\376" },
        { 0xd, 4, EDDY_FLOAT32, "\x40\x40\0\0\xc0\0\0\0" },
        { 0xe, 8, EDDY_FLOAT64, "\x40\x08\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0" },
    };
    eddy_error e;
    uint8_t    bytes[40] = { 0, 0, rows[_i].code, 2, 0, 0, 0, 2, 0, 0, 0, 1 };
    memcpy(bytes + 12, rows[_i].bytes, 2u * rows[_i].size);
    eddy_array *a = must(from_bytes(eddy_idx_load, bytes, 12 + 2u * rows[_i].size, &e), &e);
    ck_assert_int_eq(eddy_array_dtype(a), rows[_i].dtype);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(2, 1)));
    ck_assert(eddy_array_get(a, 0) == 3 && eddy_array_get(a, 1) == (_i == 0 ? 254 : -2));
    eddy_array_free(a);
}
END_TEST

START_TEST(idx_files)
{
    eddy_error  e = { EDDY_OK, "" };
    eddy_array *a = must(eddy_idx_load(FIXTURES "labels.idx.gz", NULL, &e), &e);
    ck_assert_int_eq(eddy_array_count(a), 300);
    for (int64_t i = 0; i < 300; i++) ck_assert(eddy_array_get(a, i) == (double)(i % 10));
    eddy_array_free(a);
    a = must(eddy_idx_load("data/digits-images.idx3-ubyte", NULL, &e), &e);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(1797, 8, 8)));
    eddy_array_free(a);
}
END_TEST

/* ---------------------------------------------------------------- images -- */

START_TEST(images)
{
    static const struct { const char *name; int channels, off; } rows[] = {
        { "rgb.png", 3, 0 }, { "interlaced.png", 3, 0 }, { "palette.png", 3, 0 },
        { "gray.png", 1, 0 }, { "bits.png", 1, 0 }, { "rgba.png", 4, 0 }, { "deep.png", 1, 0 },
        { "rgb.jpg", 3, 3 }, { "gray.jpg", 1, 3 }, { "progressive.jpg", 3, 3 },
    };
    eddy_error e = { EDDY_OK, "" };
    char       path[200], raw[220];
    size_t     n;
    snprintf(path, sizeof path, FIXTURES "%s", rows[_i].name);
    snprintf(raw, sizeof raw, "%s.raw", path);
    uint8_t    *want = bytes_of(raw, &n);
    eddy_array *a = must(eddy_image_load(path, NULL, &e), &e);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(7, 9, rows[_i].channels)));
    ck_assert_uint_eq(eddy_array_bytes(a), n);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_le(abs((int)((uint8_t *)eddy_array_data(a))[i] - (int)want[i]), rows[_i].off);
    free(want);
    eddy_array_free(a);
}
END_TEST

/* ----------------------------------------------------------------- sound -- */

static size_t wav(uint8_t *to, int format, int channels, int bits, const void *data, uint32_t n)
{
    const uint32_t head[] = { 36 + n, 16, (uint32_t)format | (uint32_t)channels << 16, 8000,
                              8000u * (uint32_t)(channels * bits / 8),
                              (uint32_t)(channels * bits / 8) | (uint32_t)bits << 16, n };
    memcpy(to, "RIFF....WAVEfmt ........................data....", 48);
    memcpy(to + 4, head, 4);
    memcpy(to + 16, head + 1, 20);
    memcpy(to + 36, "data", 4);
    memcpy(to + 40, head + 6, 4);
    memcpy(to + 44, data, n);
    return 44 + n;
}

START_TEST(sound)
{
    static const float  floats[] = { 0.25f, -1.5f };
    static const double doubles[] = { 0.25, -1.5 };
    static const struct { int format, bits; const void *data; float want[2]; } rows[] = {
        { 1, 8, "\x80\x00", { 0, -1 } }, { 1, 16, "\0\x40\0\x80", { 0.5f, -1 } },
        { 1, 24, "\0\0\x40\1\0\x80", { 0.5f, -8388607 / 8388608.0f } },
        { 1, 32, "\0\0\0\x40\0\0\0\x80", { 0.5f, -1 } }, { 3, 32, floats, { 0.25f, -1.5f } },
        { 3, 64, doubles, { 0.25f, -1.5f } },
    };
    uint8_t      bytes[100];
    eddy_error   e;
    const size_t n = wav(bytes, rows[_i].format, 2, rows[_i].bits, rows[_i].data,
                         (uint32_t)rows[_i].bits / 4);
    eddy_array *a = must(from_bytes(eddy_wav_load, bytes, n, &e), &e);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(1, 2)));
    ck_assert_mem_eq(eddy_array_data(a), rows[_i].want, 8);
    eddy_array_free(a);
    a = must(eddy_wav_load(FIXTURES "stereo.wav", NULL, &e), &e);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), EDDY_SHAPE(4, 2)));
    ck_assert(eddy_array_get(a, 3) == 0.5 && eddy_array_get(a, 4) == -1);
    ck_assert_int_eq(eddy_wav_rate(FIXTURES "stereo.wav", NULL, &e), 8000);
    eddy_array_free(a);
}
END_TEST

/* ------------------------------------------------------------------- CSV -- */

static eddy_csv *csv(const char *text, eddy_csv_read_args a, eddy_error *e)
{
    memory_files m;
    memory_files_init(&m);
    memory_files_put(&m, "f", text, strlen(text));
    *e = (eddy_error){ EDDY_OK, "" };
    a.path = "f";
    a.files = &m.table;
    a.error = e;
    eddy_csv *c = eddy_csv_read_with(&a);
    ck_assert((c != NULL) == (e->status == EDDY_OK));
    memory_files_free(&m);
    return c;
}
#define CSV(text, ...) \
    csv(text, \
        (eddy_csv_read_args){ eddy_csv_read_args_DEFAULTS.size_ = sizeof(eddy_csv_read_args), \
                              __VA_ARGS__ }, \
        &e)

static void column_is(const eddy_csv *c, int column, eddy_dtype dtype, int n, const double *want)
{
    const eddy_array *a = eddy_csv_array(c, column);
    ck_assert_int_eq(eddy_array_dtype(a), dtype);
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++)
        ck_assert(eddy_array_get(a, i) == want[i] ||
                  (isnan(want[i]) && isnan(eddy_array_get(a, i))));
}
#define COLUMN(c, i, dtype, ...) column_is(c, i, dtype, \
    (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ })

START_TEST(csv_tables)
{
    eddy_error e = { EDDY_OK, "" };
    eddy_csv  *c = eddy_csv_read(FIXTURES "table.csv", .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_csv_rows(c), 3);
    ck_assert_int_eq(eddy_csv_columns(c), 4);
    ck_assert_int_eq(eddy_csv_find(c, "the, name"), 2);
    COLUMN(c, 0, EDDY_INT64, 1, 2, -3);
    COLUMN(c, 1, EDDY_FLOAT64, 1.5, NAN, NAN);
    COLUMN(c, 2, EDDY_INT32, 0, 1, 2);
    COLUMN(c, 3, EDDY_INT32, 0, 1, 0);
    ck_assert_int_eq(eddy_csv_words(c, 3), 2);
    ck_assert_str_eq(eddy_csv_word(c, 2, 0), "a \"quoted\"\nname");
    ck_assert_str_eq(eddy_csv_word(c, 3, 1), "blue");
    ck_assert_ptr_null(eddy_csv_word(c, 3, 2));
    eddy_csv_free(c);
    const eddy_csv_type types[] = { EDDY_CSV_FLOAT32, EDDY_CSV_SKIP, EDDY_CSV_INT64 };
    c = CSV("1;x;\n2;y;7", .no_header = true, .separator = ';', .types = types, .n = 3,
            .integer_for_missing = -9);
    ck_assert_msg(c != NULL, "%s", e.message);
    COLUMN(c, 0, EDDY_FLOAT32, 1, 2);
    ck_assert_ptr_null(eddy_csv_array(c, 1));
    COLUMN(c, 2, EDDY_INT64, -9, 7);
    ck_assert_str_eq(eddy_csv_name(c, 2), "2");
    eddy_csv_free(c);
    c = CSV("\xef\xbb\xbf" "a,b\r\n1,\"2\"\r\n3,\r\n", .n = 0);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_str_eq(eddy_csv_name(c, 0), "a");
    COLUMN(c, 0, EDDY_INT64, 1, 3);
    COLUMN(c, 1, EDDY_INT32, 0, -1);
    eddy_csv_free(c);
    c = CSV("a\n1\n\n2\n", .n = 0);
    COLUMN(c, 0, EDDY_FLOAT64, 1, NAN, 2);
    eddy_csv_free(c);
    c = CSV("a,b\n", .n = 0);
    ck_assert_int_eq(eddy_csv_rows(c), 0);
    eddy_csv_free(c);
}
END_TEST

START_TEST(csv_many_words)
{
    enum { N = 3000 };
    char      *table = malloc(N * 12), *at = table + sprintf(table, "w\n");
    eddy_error e;
    for (int i = 0; i < N; i++) at += sprintf(at, "w%d\n", i * 7 % (N / 2));
    eddy_csv *c = CSV(table, .n = 0);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_csv_words(c, 0), N / 2);
    for (int i = 0; i < N; i++) {
        char want[20];
        snprintf(want, sizeof want, "w%d", i * 7 % (N / 2));
        ck_assert_str_eq(eddy_csv_word(c, 0, (int)eddy_array_get(eddy_csv_array(c, 0), i)), want);
    }
    eddy_csv_free(c);
    free(table);
}
END_TEST

/* ------------------------------------------------------------------ text -- */

START_TEST(text_files)
{
    static const char utf8[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    static const double want[] = { 'a', 0xe9, 0x20ac, 0x1f600 };
    eddy_error  e;
    eddy_array *a = must(from_bytes(eddy_characters_load, utf8, sizeof utf8 - 1, &e), &e);
    ck_assert_int_eq(eddy_array_count(a), 4);
    for (int i = 0; i < 4; i++) ck_assert(eddy_array_get(a, i) == want[i]);
    eddy_array_free(a);
    a = must(from_bytes(eddy_bytes_load, utf8, sizeof utf8 - 1, &e), &e);
    ck_assert_mem_eq(eddy_array_data(a), utf8, sizeof utf8 - 1);
    eddy_array_free(a);
}
END_TEST

/* With a line longer than the piece that is read at a time. */
START_TEST(lines)
{
    enum { LONG = 100000 };
    char        *text = malloc(LONG + 100);
    const size_t head = (size_t)sprintf(text, "one\r\n\nthree\n");
    memset(text + head, 'x', LONG);
    strcpy(text + head + LONG, "\nlast");
    memory_files m;
    memory_files_init(&m);
    memory_files_put(&m, "f", text, strlen(text));
    static const int64_t lengths[] = { 3, 0, 5, LONG, 4 };
    const eddy_array    *line;
    eddy_dataset        *d = eddy_dataset_from_lines("f", &m.table);
    for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; i < 5; i++) {
            ck_assert_msg(eddy_dataset_next(d, &line), "%s", eddy_dataset_message(d));
            ck_assert_int_eq(eddy_array_count(line), lengths[i]);
        }
        ck_assert_mem_eq(eddy_array_data(line), "last", 4);
        ck_assert(!eddy_dataset_next(d, &line));
    }
    ck_assert_int_eq(eddy_dataset_seek(d, "eddy 1: lines: 3 3 4"), EDDY_OK);
    ck_assert(eddy_dataset_next(d, &line));
    ck_assert_mem_eq(eddy_array_data(line), "last", 4);
    ck_assert_int_eq(eddy_dataset_seek(d, "eddy 1: lines: 3 3 9"), EDDY_OUT_OF_RANGE);
    eddy_dataset_free(d);
    memory_files_free(&m);
    free(text);
}
END_TEST

START_TEST(from_files)
{
    static const char *const paths[] = { FIXTURES "rgb.png", FIXTURES "rgb.jpg",
                                         FIXTURES "palette.png", FIXTURES "progressive.jpg" };
    const eddy_array *batch;
    eddy_dataset     *d = eddy_dataset_from_files(
        paths, 4, eddy_image_load, .component = { EDDY_UINT8, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 3) });
    d = eddy_dataset_prefetch(eddy_dataset_batch(d, 4), .threads = 2);
    ck_assert_msg(eddy_dataset_next(d, &batch), "%s", eddy_dataset_message(d));
    ck_assert(eddy_shape_equal(eddy_array_shape(batch), EDDY_SHAPE(4, 7, 9, 3)));
    eddy_dataset_free(d);
}
END_TEST

/* ---------------------------------------------------------------- damage -- */

static void read_all_ways(const uint8_t *p, size_t n)
{
    static const reader readers[] = { eddy_idx_load, eddy_image_load, eddy_wav_load,
                                      eddy_characters_load, eddy_array_load };
    memory_files m;
    memory_files_init(&m);
    memory_files_put(&m, "f", p, n);
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++) {
        eddy_error  e = { EDDY_OK, "" };
        eddy_array *a = readers[k]("f", &m.table, &e);
        ck_assert((a != NULL) == (e.status == EDDY_OK));
        ck_assert_int_ne(e.status, EDDY_INTERNAL);
        eddy_array_free(a);
    }
    eddy_error e = { EDDY_OK, "" };
    eddy_npz  *z = eddy_npz_open("f", &m.table, &e);
    ck_assert((z != NULL) == (e.status == EDDY_OK));
    for (int i = 0; i < eddy_npz_count(z); i++) {
        e.status = EDDY_OK;
        eddy_array *a = eddy_npz_array(z, eddy_npz_name(z, i), &e);
        ck_assert((a != NULL) == (e.status == EDDY_OK));
        eddy_array_free(a);
    }
    eddy_npz_free(z);
    eddy_csv_free(eddy_csv_read("f", .files = &m.table));
    memory_files_free(&m);
}

/* Every fixture, whole, cut short and with changed bytes, by every reader. */
START_TEST(damaged)
{
    DIR     *folder = opendir(FIXTURES);
    int      files = 0;
    uint32_t seed = 1;
    ck_assert(folder != NULL);
    for (struct dirent *one; (one = readdir(folder)) != NULL;) {
        char   path[400];
        size_t n;
        if (one->d_name[0] == '.' || strstr(one->d_name, ".raw")) continue;
        snprintf(path, sizeof path, FIXTURES "%s", one->d_name);
        uint8_t *whole = bytes_of(path, &n), *copy = malloc(n + 1);
        read_all_ways(whole, n);
        for (int i = 0; i < 100; i++) {
            memcpy(copy, whole, n);
            seed = seed * 1664525 + 1013904223;
            const size_t at = (seed >> 8) % n;
            copy[at] = (uint8_t)(i % 2 ? copy[at] ^ 1u << (seed & 7) : seed >> 3);
            read_all_ways(copy, i % 4 == 3 ? at : n);
        }
        free(whole);
        free(copy);
        files++;
    }
    closedir(folder);
    ck_assert_int_ge(files, 15);
}
END_TEST

Suite *readers_suite(void)
{
    Suite *s = suite_create("readers");
    TCase *t = tcase_create("files");
    tcase_add_loop_test(t, npz, 0, 3);
    tcase_add_loop_test(t, idx, 0, 6);
    tcase_add_test(t, idx_files);
    tcase_add_loop_test(t, images, 0, 10);
    tcase_add_loop_test(t, sound, 0, 6);
    tcase_add_test(t, csv_tables);
    tcase_add_test(t, csv_many_words);
    tcase_add_test(t, text_files);
    tcase_add_test(t, lines);
    tcase_add_test(t, from_files);
    tcase_add_test(t, damaged);
    suite_add_tcase(s, t);
    return s;
}
