/* test_file_borders.c -- files of the core at the borders of what is accepted: each condition of
 * the readers of JSON, safetensors, npy and YAML on both sides. */
#include "eddy.h"
#include "graph/base/crc32c.h"
#include "graph/files/json.h"
#include "graph/files/safetensors.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *file_borders_suite(void);

/* -------------------------------------------------------------- safetensors -- */

/* The header with n bytes behind it. */
static eddy_status open_header(const char *header, size_t n, eddy_safetensors *s, eddy_error *e)
{
    memory_files   m;
    const size_t   length = strlen(header);
    const uint64_t size = length;
    char          *bytes = calloc(1, 8 + length + n);
    memcpy(bytes, &size, 8);
    memcpy(bytes + 8, header, length);
    memory_files_init(&m);
    memory_files_put(&m, "f", bytes, 8 + length + n);
    free(bytes);
    *e = (eddy_error){ 0 };
    const eddy_status status = eddy__safetensors_open(&m.table, NULL, "f", false, s, e);
    memory_files_free(&m);
    return status;
}

#define META(text) "{\"__metadata__\":" text "}"
#define ENTRY(type, shape, begin, end)                                                     \
    "{\"x\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}}"

/* Headers, each with the error that the reader reports; "" for none. */
static const struct { const char *header; size_t n; const char *problem; } headers[] = {
    { META("{\"a\":\"\\u00e9\\uD83D\\uDE00\\\"\\\\\\/\\b\\f\\n\\r\\t\"}"), 0, "" },
    { META("{\"a\":\"\\ud7ff\\ue000\\uABCD\\uabcd\"}"), 0, "" },
    { META("{\"a\":\"\\u12\"}"), 0, "four hexadecimal digits" },
    { META("{\"a\":\"\\u12/4\"}"), 0, "four hexadecimal digits" },
    { META("{\"a\":\"\\u12:4\"}"), 0, "four hexadecimal digits" },
    { META("{\"a\":\"\\u12@4\"}"), 0, "four hexadecimal digits" },
    { META("{\"a\":\"\\u12G4\"}"), 0, "four hexadecimal digits" },
    { META("{\"a\":\"\\u12`4\"}"), 0, "four hexadecimal digits" },
    { META("{\"a\":\"\\u12g4\"}"), 0, "four hexadecimal digits" },
    { "{\"a\\u\"", 0, "four hexadecimal digits" },
    { "{\"a\\u123\"", 0, "byte 16: expected four hexadecimal digits" },
    { META("{\"a\":\"\\ud800\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\ud800\\n\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\ud800n\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\ud800\\ndc00\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\ud800xudc00\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\ud800\\udbff\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\ud800\\ue000\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\udc00\"}"), 0, "unpaired surrogate" },
    { META("{\"a\":\"\\udfff\"}"), 0, "unpaired surrogate" },
    { "{\"\\ud800\"", 0, "unpaired surrogate" },
    { "{\"\\ud800\\u", 0, "unterminated string" },
    { "{\"__metadata__\":{\"a\"}", 0, "expected ':'" },
    { META("{\"a\":\"\\x\"}"), 0, "unknown escape" },
    { META("{\"a\":\"\x1f\"}"), 0, "control character" },
    { META("{\"a\":\"b"), 0, "unterminated string" },
    { META("{\"a\":\"b\\\""), 0, "unterminated string" },
    { META("{\"a\":7}"), 0, "expected '\"'" },
    { META("{\"a\" \"b\"}"), 0, "expected ':'" },
    { META("{\"a\":\"b\" \"c\"}"), 0, "expected ','" },
    { META("{\"a\":\"b\",\"a\":\"c\"}"), 0, "duplicate key in __metadata__" },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__ appears twice" },

    { ENTRY("U8", "3", "0", "3"), 3, "" },
    { ENTRY("U8", "3", "0", "3"), 2, "the data has the length 2" },
    { ENTRY("U8", "3", "0", "3"), 4, "the data has the length 4" },
    { ENTRY("U8", "3", "1", "4"), 4, "'x' begins at 1; expected 0" },
    { ENTRY("U8", "3", "0", "2"), 2, "has the length 2 in bytes; expected 3" },
    { ENTRY("U8", "3", "3", "0"), 0, "data_offsets end before they begin" },
    { ENTRY("F32", "", "0", "4"), 4, "" },
    { ENTRY("F32", "0", "0", "0"), 0, "" },
    { ENTRY("F32", "1,1,1,1,1,1,1,1", "0", "4"), 4, "" },
    { ENTRY("F32", "1,1,1,1,1,1,1,1,1", "0", "4"), 4, "" },    /* refused when it is read */
    { ENTRY("F32", "281474976710656,0", "0", "0"), 0, "" },
    { ENTRY("U8", "281474976710656", "0", "0"), 0, "has the length 0 in bytes" },
    { ENTRY("F32", "281474976710657,0", "0", "0"), 0, "the shape is too large" },
    { ENTRY("F32", "0,281474976710656,2", "0", "0"), 0, "the shape is too large" },
    { ENTRY("XX", "281474976710656,2", "0", "0"), 0, "the shape is too large" },
    { ENTRY("XX", "281474976710656,1,1,1,1,1,1,1,2", "0", "0"), 0, "the shape is too large" },
    { ENTRY("XX", "4294967296,4294967296,4294967296", "0", "0"), 0, "the shape is too large" },
    { ENTRY("U8", "01", "0", "1"), 1, "a leading zero" },
    { ENTRY("U8", "-1", "0", "1"), 1, "a non-negative integer" },
    { ENTRY("U8", "9223372036854775808", "0", "1"), 1, "a number is too large" },
    { ENTRY("U8", "92233720368547758070", "0", "1"), 1, "a number is too large" },
    { "{\"x\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "is missing" },
    { "{\"x\":{}}", 0, "is missing" },
    { "{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, "duplicate key" },
    { "{\"x\":{\"dtypes\":\"U8\"}}", 0, "unknown key" },
    { "{\"x\":{\"dtypf\":\"U8\"}}", 0, "unknown key" },
    { "{\"x\":{\"dtype\":\"U8\",\"shape\":[1 2]}}", 0, "expected ','" },
    { "{\"x\":{\"dtype\":\"U8\",\"shape\":1}}", 0, "expected '['" },
    { "{\"x\":7}", 0, "expected '{'" },
    { "{\"a\\u0000\":{}}", 0, "a name contains a zero byte" },
    { "", 0, "does not begin with '{'" },
    { " {}", 0, "does not begin with '{'" },
    { "{}x", 0, "unexpected text after" },
    { "{}\xff", 0, "not UTF-8" },
};

START_TEST(header)
{
    eddy_safetensors s;
    eddy_error       e;
    const bool       good = !headers[_i].problem[0];
    const eddy_status status = open_header(headers[_i].header, headers[_i].n, &s, &e);
    ck_assert_msg((status == EDDY_OK) == good, "%s: %s", headers[_i].header, e.message);
    ck_assert_msg(strstr(e.message, headers[_i].problem), "%s: %s", headers[_i].header, e.message);
    if (status == EDDY_OK) eddy__safetensors_free(&s);
}
END_TEST

/* Values that are skipped, up to the place behind them, or what is wrong. */
START_TEST(skipped)
{
    static const struct { const char *text, *problem; size_t end;
    } rows[] = {
        { "1,", "", 1 },
        { " -1.09E+3e }", "", 10 },
        { "az:", "", 2 },
        { "null]", "", 4 },
        { "\"a\\\"b\" ", "", 6 },
        { "[]]", "", 2 },
        { "[ ] ", "", 3 },
        { "{ }}", "", 3 },
        { "[1,[2], {\"a\":3}]x", "", 16 },
        { "{\"a\":1,\"b\":[]},", "", 14 },
        { "~", "expected a value", 0 },
        { "/", "expected a value", 0 },
        { ":", "expected a value", 0 },
        { "`", "expected a value", 0 },
        { "{", "expected '\"'", 0 },
        { "", "expected a value", 0 },
        { "[1 2]", "expected ','", 0 },
        { "[1", "expected ','", 0 },
        { "{1:2}", "expected '\"'", 0 },
        { "{\"a\" 1}", "expected ':'", 0 },
        { "{\"a\":1 \"b\"}", "expected ','", 0 },
        { "\"a", "unterminated string", 0 },
        { "\"\\x\"", "unknown escape", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char       text[100];
        eddy_error e = { 0 };
        snprintf(text, sizeof text, "%s", rows[i].text);
        tokens     p = { .path = "f", .place = "byte", .error = &e, .start = text, .at = text,
                         .end = text + strlen(text) };
        const bool ok = eddy__json_skip(&p);
        ck_assert_msg(ok == !rows[i].problem[0], "%s: %s", rows[i].text,
                      e.message);
        if (!ok)
            ck_assert_msg(strstr(e.message, rows[i].problem), "%s: %s", rows[i].text, e.message);
        else ck_assert_msg(p.at == text + rows[i].end, "%s", rows[i].text);
    }
    for (int depth = EDDY_JSON_DEPTH; depth <= EDDY_JSON_DEPTH + 1; depth++) {
        char       text[2 * EDDY_JSON_DEPTH + 2];
        eddy_error e = { 0 };
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        tokens p = { .path = "f", .place = "byte", .error = &e, .start = text, .at = text,
                     .end = text + 2 * depth };
        ck_assert_msg(eddy__json_skip(&p) == (depth == EDDY_JSON_DEPTH), "%d: %s", depth,
                      e.message);
    }
}
END_TEST

/* More pairs of metadata, and more entries, than the first room. */
START_TEST(many)
{
    enum { N = 40 };
    char             text[8000];
    eddy_safetensors s;
    eddy_error       e;
    int              n = sprintf(text, "{\"__metadata__\":{");
    for (int i = 0; i < N; i++) n += sprintf(text + n, "%s\"k%d\":\"v%d\"", i ? "," : "", i, i);
    n += sprintf(text + n, "}");
    for (int i = 0; i < N; i++)
        n += sprintf(text + n, ",\"x%d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                     i, i, i + 1);
    sprintf(text + n, "}");
    ck_assert_msg(open_header(text, N, &s, &e) == EDDY_OK, "%s", e.message);
    ck_assert(s.count == N && s.metadata_count == N);
    ck_assert_str_eq(eddy__safetensors_find_text(&s, "k39"), "v39");
    ck_assert_int_eq(eddy__safetensors_find(&s, "x39")->begin, 39);
    eddy__safetensors_free(&s);
}
END_TEST

#define CRCS(text) \
    "{\"__metadata__\":{" text "},\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"

/* The checksum of a header whose own digits are zeros takes their place. */
static void put_checksum(char *text)
{
    const uint64_t length = strlen(text);
    char          *digits = strstr(text, "\"00000000\"");
    char           sum[9];
    if (!digits) return;
    snprintf(sum, sizeof sum, "%08lx",
             (unsigned long)eddy__crc32c(eddy__crc32c(0, &length, 8), text, (size_t)length));
    memcpy(digits + 1, sum, 8);
}

/* Checksums of the elements, a zero byte, and of the header: both or none, for all elements. */
START_TEST(checksums)
{
    static const struct { const char *metadata; bool good; } rows[] = {
        { CRCS(""), true },
        { CRCS("\"eddy.crc32c\":\"527d5351\""), false },
        { CRCS("\"eddy.header_crc32c\":\"00000000\""), false },
        { CRCS("\"eddy.crc32c\":\"527d5351\",\"eddy.header_crc32c\":\"00000000\""), true },
        { CRCS("\"eddy.crc32c\":\"527d5351\",\"eddy.header_crc32c\":\"0000000\""), false },
        { CRCS("\"eddy.crc32c\":\"527d535\",\"eddy.header_crc32c\":\"00000000\""), false },
        { CRCS("\"eddy.crc32c\":\"527d535g\",\"eddy.header_crc32c\":\"00000000\""), false },
        { CRCS("\"eddy.crc32c\":\"527d535152\",\"eddy.header_crc32c\":\"00000000\""), false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char             text[300];
        eddy_safetensors s;
        eddy_error       e;
        snprintf(text, sizeof text, "%s", rows[i].metadata);
        put_checksum(text);
        const eddy_status status = open_header(text, 1, &s, &e);
        ck_assert_msg(status == (rows[i].good ? EDDY_OK : EDDY_CORRUPT), "row %zu: %s", i,
                      e.message);
        if (status != EDDY_OK) {
            ck_assert_ptr_nonnull(strstr(e.message, "the header does not have its checksum"));
            continue;
        }
        eddy_array *a = eddy__safetensors_value(&s, eddy__safetensors_find(&s, "x"), &e);
        ck_assert_msg(a != NULL, "%s", e.message);
        eddy_array_free(a);
        eddy__safetensors_free(&s);
    }
}
END_TEST

/* Elements at an odd address of the file. */
START_TEST(unaligned)
{
    static const char text[] =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[1,9]}}";
    eddy_safetensors s;
    eddy_error       e;
    ck_assert_msg(open_header(text, 9, &s, &e) == EDDY_OK, "%s", e.message);
    eddy_array *b = eddy__safetensors_value(&s, eddy__safetensors_find(&s, "b"), &e);
    ck_assert_msg(b && eddy_array_get(b, 0) == 0 && eddy_array_get(b, 1) == 0, "%s", e.message);
    ck_assert_uint_eq((uintptr_t)eddy_array_data(b) % sizeof(float), 0);
    eddy_array_free(b);
    eddy__safetensors_free(&s);
}
END_TEST

/* Names of 4096 and of 4097 bytes. */
START_TEST(long_names)
{
    for (int n = 4096; n <= 4097; n++) {
        char            *text = malloc(5000);
        eddy_safetensors s;
        eddy_error       e;
        sprintf(text, "{\"%0*d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", n, 7);
        const eddy_status status = open_header(text, 0, &s, &e);
        ck_assert_msg(status == (n == 4096 ? EDDY_OK : EDDY_CORRUPT), "%s", e.message);
        if (status == EDDY_OK) eddy__safetensors_free(&s);
        free(text);
    }
}
END_TEST

START_TEST(writing)
{
    memory_files                m;
    eddy_error                  e = { 0 };
    const char                 *name = "x", *none = NULL;
    eddy_array                 *x = eddy_array_of(EDDY_FLOAT32, 1);
    const eddy_array           *a = x, *no = NULL;
    const eddy_safetensors_text text = { "k", "v" };
    memory_files_init(&m);
#define WRITE(...) eddy__safetensors_write(&m.table, NULL, __VA_ARGS__, &e)
    ck_assert_int_eq(WRITE("f", 1, &name, &a, 1, &text), EDDY_OK);
    ck_assert_int_eq(WRITE("f", 0, NULL, NULL, 0, NULL), EDDY_OK);
    ck_assert_int_eq(WRITE(NULL, 1, &name, &a, 0, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", -1, &name, &a, 0, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", 1, NULL, &a, 0, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", 1, &name, NULL, 0, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", 1, &name, &a, -1, &text), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", 1, &name, &a, 1, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", 1, &none, &a, 0, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(WRITE("f", 1, &name, &no, 0, NULL), EDDY_INVALID_ARGUMENT);
#undef WRITE
    eddy_safetensors s;
    ck_assert_int_eq(eddy__safetensors_open(&m.table, NULL, "f", false, &s, &e), EDDY_OK);
    ck_assert(!eddy__safetensors_find(&s, "x") && !eddy__safetensors_find(&s, NULL));
    eddy__safetensors_free(&s);
    const eddy_safetensors_text odd = { "k\\", "\"v\\\n\x7f" };
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", 0, NULL, NULL, 1, &odd, &e),
                     EDDY_OK);
    ck_assert_int_eq(eddy__safetensors_open(&m.table, NULL, "f", false, &s, &e), EDDY_OK);
    ck_assert_str_eq(eddy__safetensors_find_text(&s, "k\\"), "\"v\\\n\x7f");
    eddy__safetensors_free(&s);
    eddy_array_free(x);
    x = eddy_array_of(EDDY_BFLOAT16, 1);
    for (int i = 0; i < 2; i++) {
        e = (eddy_error){ 0 };
        ck_assert_int_eq(eddy_array_save(x, i ? "f.npy" : NULL, &m.table, &e), EDDY_UNIMPLEMENTED);
        ck_assert_str_eq(e.message, i ? "f.npy: npy files do not support bfloat16"
                                      : "array_save: npy files do not support bfloat16");
    }
    eddy_array_free(x);
    memory_files_free(&m);
}
END_TEST

/* ---------------------------------------------------------------------- npy -- */

#define TYPE(descr, order, shape)                                                          \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape "}"

static const struct { const char *header; size_t n; const char *problem; } npys[] = {
    { TYPE("<f4", "False", "(2,)"), 8, "" },
    { TYPE("<f4", "True", "(2,)"), 8, "" },
    { TYPE("<f4", "False", "()"), 4, "" },
    { TYPE("<f4", "True", "()"), 4, "" },
    { TYPE("|i1", "False", "(2,)"), 2, "" },
    { TYPE("|i2", "False", "(2,)"), 4, "'|i2' is not supported" },
    { TYPE("|f8", "False", "(2,)"), 16, "'|f8' is not supported" },
    { TYPE("=f4", "False", "(0,3)"), 0, "" },
    { TYPE(">f4", "False", "(2,)"), 8, "" },
    { TYPE("|u1", "False", "(2L, 1L)"), 2, "" },
    { TYPE("<u1", "False", "(1,1,1,1,1,1,1,1)"), 1, "" },
    { TYPE("<u1", "False", "(1,1,1,1,1,1,1,1,1)"), 1, "more than 8 dimensions" },
    { TYPE("<u1", "False", "(281474976710656,)"), 1, "the data has the length 1" },
    { TYPE("<u1", "False", "(281474976710657,)"), 1, "the shape is too large" },
    { TYPE("<f4", "Falsy", "(2,)"), 8, "fortran_order is neither" },
    { TYPE("<f4", "False", "(2)"), 8, "the shape is not a tuple" },
    { TYPE("<f4", "False", "(2,3 4)"), 8, "expected a comma in the shape" },
    { TYPE("<f4", "False", "(,)"), 8, "expected a dimension" },
    { TYPE("<f4", "False", "(9223372036854775808,)"), 8, "a dimension is too large" },
    { TYPE("!f4", "False", "(2,)"), 8, "is not supported" },
    { TYPE("<f5", "False", "(2,)"), 8, "is not supported" },
    { "{'descr': [", 0, "structured element types" },
    { "{'descr': ", 0, "expected a string" },
    { "{'descr': '<f4", 0, "unterminated string" },
    { "{'descr': '0123456789012345678901234567890', ", 0, "is not supported" },
    { "{'descr': '01234567890123456789012345678901', ", 0, "unexpected text in a string" },
    { "{'descr': '\x1f', ", 0, "unexpected text in a string" },
    { "{'fortran_order': Tru", 0, "fortran_order is neither" },
    { "{", 0, "expected a string" },
};

START_TEST(npy)
{
    char         bytes[400] = "\x93NUMPY\1\0";
    memory_files m;
    eddy_error   e = { 0 };
    const size_t n = strlen(npys[_i].header);
    bytes[8] = (char)n;
    memcpy(bytes + 10, npys[_i].header, n);
    memory_files_init(&m);
    memory_files_put(&m, "f", bytes, 10 + n + npys[_i].n);
    eddy_array *a = eddy_array_load("f", &m.table, &e);
    ck_assert_msg((a != NULL) == !npys[_i].problem[0], "%s: %s", npys[_i].header, e.message);
    ck_assert_msg(strstr(e.message, npys[_i].problem), "%s: %s", npys[_i].header, e.message);
    eddy_array_free(a);
    memory_files_free(&m);
}
END_TEST

/* Integers of sizes that arrays do not have, in both orders of bytes. */
START_TEST(npy_integers)
{
    static const struct { const char *descr, *bytes; size_t n; double first, last; } rows[] = {
        { "|i1", "\xfe\3", 2, -2, 3 },
        { "<i2", "\xfe\xff\3\1", 4, -2, 259 },
        { ">i2", "\xff\xfe\1\3", 4, -2, 259 },
        { "<u2", "\xfe\xff\3\1", 4, 65534, 259 },
        { "<u4", "\xfe\xff\xff\xff\3\1\0\0", 8, 4294967294.0, 259 },
        { ">u4", "\xff\xff\xff\xfe\0\0\1\3", 8, 4294967294.0, 259 },
        { "<u8", "\3\0\0\0\0\0\0\0\3\1\0\0\0\0\0\0", 16, 3, 259 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char         bytes[200] = "\x93NUMPY\1\0";
        memory_files m;
        eddy_error   e = { 0 };
        const int    n = sprintf(bytes + 10, TYPE("%s", "False", "(2,)"), rows[i].descr);
        bytes[8] = (char)n;
        memcpy(bytes + 10 + n, rows[i].bytes, rows[i].n);
        memory_files_init(&m);
        memory_files_put(&m, "f", bytes, 10 + (size_t)n + rows[i].n);
        eddy_array *a = eddy_array_load("f", &m.table, &e);
        ck_assert_msg(a != NULL, "%s: %s", rows[i].descr, e.message);
        ck_assert_double_eq(eddy_array_get(a, 0), rows[i].first);
        ck_assert_double_eq(eddy_array_get(a, 1), rows[i].last);
        eddy_array_free(a);
        memory_files_free(&m);
    }
}
END_TEST

/* Files that end in the length of the header. */
START_TEST(npy_cut)
{
    static const struct { const char *bytes; size_t n; const char *problem; } cases[] = {
        { "\x93NUMPY\1\0\1", 9, "ends" },
        { "\x93NUMPY\2\0\1\0\0", 11, "ends" },
        { "\x93NUMPY\1\0\1\0", 10, "ends" },
        { "\x93NUMPX\1\0\1\0", 10, "not an npy file" },
        { "\x93NUMPY\0\0\1\0", 10, "npy format 0.0 is not supported" },
        { "\x93NUMPY\4\0\1\0", 10, "npy format 4.0 is not supported" },
        { "\x93NUMPY\1\1\1\0", 10, "npy format 1.1 is not supported" },
        { "\x93NUMPY\2\0\1\0\1\0", 12, "the limit is 65536" },
        { "\x93NUMPY\2\0\0\0\1\0", 12, "ends" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        memory_files_put(&m, "f", cases[i].bytes, cases[i].n);
        ck_assert_ptr_null(eddy_array_load("f", &m.table, &e));
        ck_assert_msg(strstr(e.message, cases[i].problem), "case %zu: %s", i, e.message);
        memory_files_free(&m);
    }
}
END_TEST

/* --------------------------------------------------------------------- YAML -- */

#define HEAD "format: eddy-graph\nversion: 1\nseed: 1\nfinalized: false\nnodes:\n"
#define NODE(name, shape)                                                                  \
    "- {name: " name ", op: Placeholder, attributes: {dtype: float32, shape: \"" shape "\"}, " \
    "outputs: [\"float32" shape "\"]}\n"
#define NEG(rest) \
    HEAD NODE("a", "[2]") "- {name: b, op: Neg, " rest ", outputs: [\"float32[2]\"]}\n"

static const struct { const char *text, *problem; } graphs[] = {
    { HEAD NODE("a", "[2]"), "" },
    { HEAD NODE("a", "?"), "" },
    { HEAD NODE("a", "[]"), "" },
    { HEAD NODE("a", "[1,1,1,1,1,1,1,1]"), "" },
    { HEAD NODE("a", "[1,1,1,1,1,1,1,1,1]"), "is not a shape" },
    { HEAD NODE("a", "2]"), "is not a shape" },
    { HEAD NODE("a", "(2]"), "is not a shape" },
    { HEAD NODE("a", "[18446744073709551621]"), "is not a shape" },     /* 2^64 + 5 */
    { HEAD NODE("a", "[?,281474976710656]"), "" },
    { HEAD NODE("a", "[?,281474976710657]"), "is not a shape" },
    { HEAD NODE("a", "[9223372036854775807]"), "is not a shape" },
    { HEAD NODE("a", "[9223372036854775808]"), "is not a shape" },
    { HEAD NODE("a", "[92233720368547758070]"), "is not a shape" },
    { HEAD NODE("a", "[-1]"), "is not a shape" },
    { HEAD NODE("a", "[2"), "is not a shape" },
    { HEAD NODE("a", "[2]x"), "is not a shape" },
    { HEAD NODE("a", "[2:3]"), "is not a shape" },
    { HEAD NODE("a", "[,2]"), "is not a shape" },
    { NEG("inputs: [\"a:0\"]"), "" },
    { NEG("inputs: [\"a:1\"]"), "'a:1' does not exist" },
    { NEG("inputs: [\"a\"]"), "is not a tensor" },
    { NEG("inputs: [\":0\"]"), "is not a tensor" },
    { NEG("inputs: [\"a:-0\"]"), "is not a tensor" },
    { NEG("inputs: [\"a:x\"]"), "is not a tensor" },
    { NEG("inputs: [\"A:0\"]"), "no earlier node is named" },
    { NEG("inputs: [\"c:0\"]"), "no earlier node is named" },
    { NEG("inputs: []"), "does not take this number of inputs: 0" },
    { NEG("inputs: [\"a:0\", \"a:0\"]"), "does not take this number of inputs: 2" },
    { NEG("inputs: 7"), "expected a list" },
    { NEG("inputs: [\"a:0\"], controls: [a]"), "" },
    { NEG("inputs: [\"a:0\"], controls: [x]"), "no earlier node is named" },
    { NEG("inputs: [\"a:0\"], controls: 7"), "expected a list" },
    { NEG("inputs: [\"a:0\"], device: d, gradient: g, colocate: a, origin: a"), "" },
    { NEG("inputs: [\"a:0\"], traced: true"), "" },
    { NEG("inputs: [\"a:0\"], traced: 1"), "neither true nor false" },
    { NEG("inputs: [\"a:0\"], device: []"), "expected" },
    { NEG("inputs: [\"a:0\"], gradient: []"), "expected" },
    { NEG("inputs: [\"a:0\"], colocate: x"), "no earlier node is named" },
    { NEG("inputs: [\"a:0\"], origin: x"), "no earlier node is named" },
    { HEAD NODE("a", "[2]") "collections:\n- {key: k, tensors: [\"a:0\"]}\n", "" },
    { HEAD NODE("a", "[2]") "collections:\n- {key: k}\n", "requires key and tensors" },
    { HEAD NODE("a", "[2]") "collections:\n- {tensors: [\"a:0\"]}\n", "requires key and tensors" },
    { HEAD NODE("a", "[2]") "collections:\n- {key: [], tensors: []}\n", "expected" },
    { HEAD NODE("a", "[2]") "collections:\n- {key: k, tensors: 7}\n", "expected a list" },
    { HEAD NODE("a", "[2]") "collections:\n- {key: \"\", tensors: []}\n", "has no name" },
    { HEAD NODE("a", "[2]") "collections:\n- {key: k, tensors: [\"a:1\"]}\n", "does not exist" },
    { "format: [a]\n", "expected" },
    { "format: eddy-graph\nversion: [1]\n", "expected" },
    { "%TAG ! x:\n---\nformat: eddy-graph\n", "directives are not allowed" },
};

START_TEST(yaml)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_load(.text = graphs[_i].text, .error = &e);
    ck_assert_msg((g != NULL) == !graphs[_i].problem[0], "%s: %s", graphs[_i].text, e.message);
    ck_assert_msg(strstr(e.message, graphs[_i].problem), "%s: %s", graphs[_i].text, e.message);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- shapes -- */

/* Printed into every size of buffer, a shape is cut. */
START_TEST(printing)
{
    const eddy_shape shapes[] = { EDDY_SHAPE(12, EDDY_ANY, 3), EDDY_SCALAR, eddy_shape_unknown(),
                                  eddy_shape_of_dims(NULL, 2), eddy_shape_of_dims(NULL, 0) };
    const char *const texts[] = { "[12,?,3]", "[]", "?", "[too many dimensions]", "[]" };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t n = 1; n <= 24; n++) {
            char text[24] = "", type[40], whole[40];
            eddy_shape_print(shapes[i], text, n);
            ck_assert_uint_eq(strlen(text), strlen(texts[i]) < n ? strlen(texts[i]) : n - 1);
            ck_assert(strncmp(text, texts[i], strlen(text)) == 0);
            eddy_type_print((eddy_type){ EDDY_INT32, shapes[i] }, type, n);
            snprintf(whole, sizeof whole, "int32%s", texts[i]);
            whole[n - 1] = 0;
            ck_assert_str_eq(type, whole);
        }
    ck_assert_ptr_null(eddy_shape_print(EDDY_SCALAR, NULL, 5));
    ck_assert_ptr_null(eddy_type_print((eddy_type){ EDDY_INT32, EDDY_SCALAR }, NULL, 5));
    char kept = 'x';
    ck_assert_ptr_eq(eddy_type_print((eddy_type){ EDDY_INT32, EDDY_SCALAR }, &kept, 0), &kept);
    ck_assert_ptr_eq(eddy_shape_print(EDDY_SCALAR, &kept, 0), &kept);
    ck_assert_int_eq(kept, 'x');
}
END_TEST

Suite *file_borders_suite(void)
{
    Suite *s = suite_create("file_borders");
    TCase *t = tcase_create("borders");
    tcase_add_loop_test(t, header, 0, sizeof headers / sizeof *headers);
    tcase_add_test(t, skipped);
    tcase_add_test(t, many);
    tcase_add_test(t, long_names);
    tcase_add_test(t, checksums);
    tcase_add_test(t, unaligned);
    tcase_add_test(t, writing);
    tcase_add_loop_test(t, npy, 0, sizeof npys / sizeof *npys);
    tcase_add_test(t, npy_integers);
    tcase_add_test(t, npy_cut);
    tcase_add_loop_test(t, yaml, 0, sizeof graphs / sizeof *graphs);
    tcase_add_test(t, printing);
    suite_add_tcase(s, t);
    return s;
}
