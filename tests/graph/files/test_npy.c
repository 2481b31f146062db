/* test_npy.c -- valid and damaged .npy files; numbers and bytes as text. */
#include "graph/base/text.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

Suite *npy_suite(void);

/* ------------------------------------------------------------------ npy -- */

/* What NumPy writes for arange(6, dtype=float32).reshape(2, 3) and for True. */
#define BLANKS "          "
static const char numpy_f4[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" BLANKS
        BLANKS BLANKS BLANKS    BLANKS "        \n"
       "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40";
static const char               numpy_b1[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (), }" BLANKS BLANKS
        BLANKS BLANKS BLANKS BLANKS "  \n"
    "\x01";

START_TEST(npy_as_numpy_writes_it)
{
    const float   six[] = { 0, 1, 2, 3, 4, 5 };
    const uint8_t yes = 1;
    eddy_array *arrays[] = { eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2, 3), six),
                             eddy_array_copy_of(EDDY_BOOL, EDDY_SCALAR, &yes) };
    const char  *bytes[] = { numpy_f4, numpy_b1 };
    const size_t sizes[] = { sizeof numpy_f4 - 1, sizeof numpy_b1 - 1 };
    for (int i = 0; i < 2; i++) {
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        memory_files_put(&m, "in", bytes[i], sizes[i]);
        eddy_array *a = eddy_array_load("in", &m.table, &e);
        ck_assert_msg(eddy_array_equal(a, arrays[i]), "%s", e.message);
        ck_assert_int_eq(eddy_array_save(a, "out", &m.table, &e), EDDY_OK);
        const memory_content *c = memory_files_get(&m, "out");
        ck_assert_uint_eq(c->size, sizes[i]);
        ck_assert_mem_eq(c->bytes, bytes[i], sizes[i]);
        eddy_array_free(a);
        eddy_array_free(arrays[i]);
        memory_files_free(&m);
    }
}
END_TEST

static const eddy_dtype npy_dtypes[] = {
    EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_UINT8, EDDY_BOOL, EDDY_FLOAT16,
    EDDY_COMPLEX64, EDDY_COMPLEX128,
};

START_TEST(npy_round_trip)
{
    const eddy_shape shapes[] = { EDDY_SCALAR,      EDDY_SHAPE(0),
                                  EDDY_SHAPE(5),    EDDY_SHAPE(2, 0, 3),
                                  EDDY_SHAPE(3, 4), EDDY_SHAPE(1, 2, 1, 2, 1, 2, 1, 2) };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        eddy_array    *a = eddy_array_new(npy_dtypes[_i], shapes[k]);
        unsigned char *p = eddy_array_data(a);
        for (size_t i = 0; i < eddy_array_bytes(a); i++)
            p[i] = (unsigned char)(npy_dtypes[_i] == EDDY_BOOL ? i & 1 : 7 * i + 255);
        ck_assert_int_eq(eddy_array_save(a, "a", &m.table, &e), EDDY_OK);
        const memory_content *c = memory_files_get(&m, "a");
        ck_assert_uint_eq((c->size - eddy_array_bytes(a)) % 64, 0);
        eddy_array *b = eddy_array_load("a", &m.table, &e);
        ck_assert_msg(eddy_array_equal(a, b), "%s", e.message);
        eddy_array_free(a);
        eddy_array_free(b);
        memory_files_free(&m);
    }
}
END_TEST

/* A file of that version, header and n bytes 0, 1, 2, ... of elements. */
static eddy_array *load_npy(int version, const char *header, size_t n, eddy_error *e)
{
    char   bytes[1024];
    size_t length = strlen(header), at = version == 1 ? 10 : 12;
    memory_files m;
    memory_files_init(&m);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (char)version;
    bytes[7] = 0;
    memcpy(bytes + 8, (uint32_t[]){ (uint32_t)length }, at - 8);
    memcpy(bytes + at, header, length);
    for (size_t i = 0; i < n; i++) bytes[at + length + i] = (char)i;
    memory_files_put(&m, "f", bytes, at + length + n);
    eddy_array *a = eddy_array_load("f", &m.table, e);
    memory_files_free(&m);
    return a;
}

START_TEST(npy_fortran_order)
{
    static const char *const sizes[] = { "|u1", "<f2", "<i4", "<f8", "<c16" };
    static const int  widths[] = { 1, 2, 4, 8, 16 };
    for (int k = 0; k < 5; k++) {
        char       header[128];
        eddy_error e = { 0 };
        snprintf(header, sizeof header,
                 "{\"shape\":(2,3,4,),\n'fortran_order':True,'descr':'%s'}\n", sizes[k]);
        eddy_array *a = load_npy(1 + k % 3, header, (size_t)(24 * widths[k]), &e);
        ck_assert_msg(a != NULL, "%s", e.message);
        const unsigned char *p = eddy_array_data(a);
        for (int i = 0; i < 24 * widths[k]; i++) {
            int element = i / widths[k], z = element % 4, y = element / 4 % 3, x = element / 12;
            int from = (z * 3 + y) * 2 + x; /* x runs fastest in the file */
            ck_assert_int_eq(p[i], (from * widths[k] + i % widths[k]) & 255);
        }
        eddy_array_free(a);
    }
}
END_TEST

static const struct {
    int         version;
    const char *header;
    size_t      n;
    eddy_status status;
} bad_npy[] = {
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, EDDY_CORRUPT },
    { 1, "{'descr': '|f4', 'fortran_order': False, 'shape': (2,), }", 8, EDDY_CORRUPT },
    { 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, EDDY_CORRUPT },
    { 1, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", 3, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }", 8, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': [1], }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,), }", 8, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4,
      EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4,
      EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 0,
      EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (281474976710656, 0, 2), }", 0,
      EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (281474976710656,), }", 8,
      EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, }", 4, EDDY_CORRUPT },
    { 1, "{}", 4, EDDY_CORRUPT },
    { 1, "", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4,
      EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr' '<f4', 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4, EDDY_CORRUPT },
    { 1, "{'descr': '<f4", 4, EDDY_CORRUPT },
    { 1, "{'fortran_order': False", 4, EDDY_CORRUPT },
    { 1, "{1: 2}", 4, EDDY_CORRUPT },
    { 1, "{'shape': (1, 2 3)}", 4, EDDY_CORRUPT },
    { 1, "{'de\\scr': '<f4'}", 4, EDDY_CORRUPT },
    { 1, "{'a very long key that no reader of this format would ever ask for': 1}", 4,
      EDDY_CORRUPT },
    { 0, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
    { 4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, EDDY_CORRUPT },
};

/* One message a line in tests/golden/graph/npy.txt. */
START_TEST(npy_damaged)
{
    golden_begin("graph/npy");
    for (size_t i = 0; i < sizeof bad_npy / sizeof *bad_npy; i++) {
        eddy_error e = { 0 };
        ck_assert_ptr_null(load_npy(bad_npy[i].version, bad_npy[i].header, bad_npy[i].n, &e));
        ck_assert_msg(e.status == bad_npy[i].status, "%s: %s", eddy_status_name(e.status),
                      e.message);
        golden_error(&e);
    }
    golden_end();
}
END_TEST

/* Every prefix of a good file, and every byte of it changed, is refused or read;
 * arrays that are read have the right size. */
START_TEST(npy_cut_and_flipped)
{
    const size_t n = sizeof numpy_f4 - 1;
    for (size_t i = 0; i < n; i++) {
        for (int bit = -1; bit < 8; bit++) {
            memory_files m;
            char         bytes[sizeof numpy_f4];
            memory_files_init(&m);
            memcpy(bytes, numpy_f4, n);
            if (bit >= 0) bytes[i] = (char)(bytes[i] ^ 1 << bit);
            memory_files_put(&m, "f", bytes, bit < 0 ? i : n);
            eddy_array *a = eddy_array_load("f", &m.table, NULL);
            if (bit < 0) ck_assert_ptr_null(a);
            if (a) ck_assert_uint_eq(eddy_array_bytes(a), 24);
            eddy_array_free(a);
            memory_files_free(&m);
        }
    }
}
END_TEST

static void read_npy(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    eddy_array *a = eddy_array_load("f", &m.table, &e);
    if (a) answer_add_array(answer, room, a);
    else answer_add(answer, room, "%s", e.message);
    eddy_array_free(a);
    memory_files_free(&m);
}

/* Each byte changed, of a file of each version. */
START_TEST(npy_changed)
{
    static const char first[] = "\x93NUMPY\1\0\x3a\0"
                                "{'descr':'<c8','fortran_order':False,'shape':(1L,), } \t  \n"
                                "\0\0\x80\x3f\0\0\0\x40",
                      second[] = "\x93NUMPY\2\0\x36\0\0\0"
                                 "{'descr': '>i2', 'fortran_order':True,'shape':(2,3,)}\n"
                                 "\0\1\0\2\0\3\0\4\0\5\xff\xfa";
    static const char u8[] = "\x93NUMPY\1\0\x34\0"
                             "{'descr':'<u8','shape':(1,),'fortran_order':False}\n\n"
                             "\1\0\0\0\0\0\0\x7f",
                      b1[] = "\x93NUMPY\1\0\x34\0"
                             "{'shape':(2,),'descr':'|b1','fortran_order':False}\n\n\1\0";
    ck_assert_uint_eq(sizeof u8 - 1, 10 + 0x34 + 8);
    ck_assert_uint_eq(sizeof b1 - 1, 10 + 0x34 + 2);
    ck_assert_uint_eq(sizeof first - 1, 10 + 0x3a + 8);
    ck_assert_uint_eq(sizeof second - 1, 12 + 0x36 + 12);
    golden_begin("graph/changed_npy");
    changed_bytes("version 1", first, sizeof first - 1, read_npy);
    changed_bytes("uint64", u8, sizeof u8 - 1, read_npy);
    changed_bytes("bool", b1, sizeof b1 - 1, read_npy);
    changed_bytes("version 2", second, sizeof second - 1, read_npy);
    golden_end();
}
END_TEST

START_TEST(npy_misuse)
{
    memory_files m;
    eddy_error   e = { 0 };
    eddy_array  *a = eddy_array_new(EDDY_BFLOAT16, EDDY_SHAPE(2));
    memory_files_init(&m);
    ck_assert_int_eq(eddy_array_save(a, "f", &m.table, &e), EDDY_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(e.message, "bfloat16"));
    ck_assert_int_eq(eddy_array_save(NULL, "f", NULL, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_array_load(NULL, NULL, NULL));
    ck_assert_int_eq(m.calls, 0);
    memory_files_put(&m, "long", "\x93NUMPY\2\0\1\0\1\0 ", 13); /* a header of 65537 bytes */
    ck_assert_ptr_null(eddy_array_load("long", &m.table, (e = (eddy_error){ 0 }, &e)));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    eddy_array_free(a);
    memory_files_free(&m);
}
END_TEST

/* ----------------------------------------------------------------- text -- */

/* Pieces of every length, in memory and through a file. */
START_TEST(text_grows)
{
    memory_files m;
    eddy_writer  out;
    memory_files_init(&m);
    eddy_text kept = { .allocator = &eddy__libc },
              sent = { .allocator = &eddy__libc, .writer = &out };
    ck_assert(eddy__writer_begin(&out, &m.table, "f", NULL));
    for (int n = 0; n < 700; n++) {
        eddy__text_put(&kept, "%*d|", n, n);
        eddy__text_put(&sent, "%*d|", n, n);
    }
    eddy__text_flush(&sent);
    ck_assert(!sent.failed && eddy__writer_end(&out));
    const memory_content *c = memory_files_get(&m, "f");
    ck_assert_uint_eq(c->size, kept.length);
    ck_assert_uint_gt(c->size, 3 * 65536);
    ck_assert_uint_lt(sent.capacity, 2 * 65536 + 1);
    char *s = eddy__text_string(&kept);
    ck_assert_mem_eq(c->bytes, s, c->size);
    char *at = s;
    for (int n = 0; n < 700; n++, at++) {
        char *end = strchr(at, '|');
        ck_assert(end && end - at == (n == 0 ? 1 : n) && strtol(at, NULL, 10) == n);
        at = end;
    }
    ck_assert_int_eq(*at, 0);
    eddy_string_free(s);
    eddy__text_free(&sent);

    ck_assert(eddy__writer_begin(&out, &m.table, "f", NULL));
    m.fault = (memory_fault){ .at = m.calls + 1, .number = ENOSPC };
    sent = (eddy_text){ .allocator = &eddy__libc, .writer = &out };
    eddy__text_put(&sent, "lost");
    eddy__text_flush(&sent);
    ck_assert(sent.failed && !eddy__writer_end(&out));
    ck_assert_ptr_null(eddy__text_string(&sent));
    memory_files_free(&m);
}
END_TEST

START_TEST(numbers_round_trip)
{
    static const struct { double v; bool single; const char *text; } rows[] = {
        { 0, 0, "0" },
        { -0.0, 0, "-0" },
        { 0.1, 0, "0.1" },
        { 1e300, 0, "1.0e+300" },
        { 0.1f, 1, "0.1" },
        { 16777216, 1, "16777216" },
        { INFINITY, 0, ".inf" },
        { -INFINITY, 1, "-.inf" },
        { 5e-324, 0, "4.94065645841247e-324" },
        { 1.0 / 3, 0, "0.3333333333333333" },
    };
    char   text[EDDY_NUMBER_TEXT];
    double back;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy__number_print(rows[i].v, rows[i].single, text);
        ck_assert_str_eq(text, rows[i].text);
        ck_assert(eddy__number_parse(text, rows[i].single, &back));
        ck_assert_mem_eq(&back, &rows[i].v, sizeof back);
    }
    uint64_t bits = 0x7FF8000000000000u;
    for (int i = 0; i < 30000; i++) {
        double v;
        float  f;
        memcpy(&v, &bits, sizeof v);
        memcpy(&f, &bits, sizeof f);
        ck_assert(eddy__number_parse(eddy__number_print(v, false, text), false, &back));
        ck_assert_mem_eq(&back, &v, sizeof back);
        if (!isnan(f)) {
            ck_assert(eddy__number_parse(eddy__number_print((double)f, true, text), true, &back));
            ck_assert(memcmp(&(float){ (float)back }, &f, sizeof f) == 0);
        }
        bits = bits * 6364136223846793005u + 1442695040888963407u;
    }
}
END_TEST

START_TEST(numbers_refused)
{
    static const char *const bad[] = {
        "", " 1", "1 ", "0x1p3", "inf", "nan", "1e", "1,5", "--1", "1e999", ".", "infinity", "1_0",
        "nan:0x1", "nan:0x3ff0000000000000", "nan:0x7ff80000000000000",
    };
    static const char *const bad_integers[] = {
        "", "-", "+1", "1.0", "9223372036854775808", "-9223372036854775809", "1e3"
    };
    double  v;
    int64_t n;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!eddy__number_parse(bad[i], false, &v), "%s", bad[i]);
    for (size_t i = 0; i < sizeof bad_integers / sizeof *bad_integers; i++)
        ck_assert_msg(!eddy__integer_parse(bad_integers[i], &n), "%s", bad_integers[i]);
    ck_assert(eddy__integer_parse("-9223372036854775808", &n) && n == INT64_MIN);
    ck_assert(eddy__integer_parse("9223372036854775807", &n) && n == INT64_MAX);
}
END_TEST

/* A decimal comma in the program's locale changes nothing. */
START_TEST(numbers_and_locale)
{
    char   text[EDDY_NUMBER_TEXT];
    double v = 0;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) return;
    ck_assert_str_eq(eddy__number_print(0.5, false, text), "0.5");
    ck_assert(eddy__number_parse("0.5", false, &v) && v == 0.5);
    setlocale(LC_NUMERIC, "C");
}
END_TEST

START_TEST(base64)
{
    unsigned char bytes[200], back[200];
    for (size_t n = 0; n < sizeof bytes; n++) {
        eddy_text t = { .allocator = &eddy__libc };
        bytes[n] = (unsigned char)(37 * n + 251);
        eddy__base64_put(&t, bytes, n, 3);
        ck_assert(!t.failed && eddy__base64_size(t.at, t.length) == n);
        ck_assert(eddy__base64_parse(t.at, t.length, back, n));
        ck_assert_mem_eq(bytes, back, n);
        ck_assert(!eddy__base64_parse(t.at, t.length, back, n + 1));
        ck_assert(n == 0 || !eddy__base64_parse(t.at, t.length, back, n - 1));
        eddy__text_free(&t);
    }
    static const struct { const char *text; size_t n; bool ok; } rows[] = {
        { "TWFu", 3, true },      { "TWE=", 2, true },   { "TQ==", 1, true },
        { "T Q\n=\t=", 1, true }, { "TQ=", 1, false },   { "TQ", 1, false },
        { "TR==", 1, false },     { "TWF=", 2, false },  { "T===", 0, false },
        { "TQ==TQ==", 2, false }, { "TWFu=", 3, false }, { "TW!u", 3, false },
        { "", 0, true },          { "====", 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(eddy__base64_parse(rows[i].text, strlen(rows[i].text), back, rows[i].n) ==
                      rows[i].ok,
                      "%s", rows[i].text);
}
END_TEST

START_TEST(utf8)
{
    static const struct { const char *text; size_t bad;
    } rows[] = {
        { "abc", 3 },
        { "\xc3\xa9", 2 },
        { "\xf0\x9f\x98\x80", 4 },
        { "a\x80", 1 },
        { "\xc0\xaf", 0 },
        { "\xe0\x80\xaf", 0 },
        { "\xed\xa0\x80", 0 },
        { "\xff", 0 },
        { "\xc2\x80", 2 },
        { "\xdf\xbf", 2 },
        { "\xe0\xa0\x80", 3 },
        { "\xed\x9f\xbf", 3 },
        { "\xef\xbf\xbf", 3 },
        { "\xf0\x90\x80\x80", 4 },
        { "\xf4\x8f\xbf\xbf", 4 },
        { "\xc1\xbf", 0 },
        { "\xf5\x80\x80\x80", 0 },
        { "\x7f", 1 },
        { "\xf0\x8f\xbf\xbf", 0 },
        { "\xf4\x90\x80\x80", 0 },
        { "\xf8\x88\x80\x80\x80", 0 },
        { "ab\xc3", 2 },
    };
    char buf[4];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_uint_eq(eddy__utf8_check(rows[i].text, strlen(rows[i].text)), rows[i].bad);
    for (uint32_t c = 1; c < 0x110000; c += c < 0x11000 ? 1 : 97)
        if (c < 0xD800 || c > 0xDFFF) {
            size_t n = eddy__utf8_put(c, buf);
            ck_assert_uint_eq(eddy__utf8_check(buf, n), n);
        }
}
END_TEST

/* ---------------------------------------------------------------- suite -- */

Suite *npy_suite(void)
{
    Suite *s = suite_create("npy");
    TCase *npy = tcase_create("npy"), *text = tcase_create("text");
    tcase_add_test(npy, npy_as_numpy_writes_it);
    tcase_add_loop_test(npy, npy_round_trip, 0, sizeof npy_dtypes / sizeof *npy_dtypes);
    tcase_add_test(npy, npy_fortran_order);
    tcase_add_test(npy, npy_damaged);
    tcase_add_test(npy, npy_cut_and_flipped);
    tcase_add_test(npy, npy_changed);
    tcase_add_test(npy, npy_misuse);
    tcase_add_test(text, text_grows);
    tcase_add_test(text, numbers_round_trip);
    tcase_add_test(text, numbers_refused);
    tcase_add_test(text, numbers_and_locale);
    tcase_add_test(text, base64);
    tcase_add_test(text, utf8);
    suite_add_tcase(s, npy);
    suite_add_tcase(s, text);
    return s;
}
