/* test_safetensors.c -- safetensors files: their exact bytes, rejected files and the place of the
 * error. */
#include "graph/files/safetensors.h"
#include "build/gen/suites.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A file of that header (its length in front) and n bytes 0, 1, 2, ... */
static void put_file(memory_files *m, uint64_t length, const char *header, size_t n)
{
    char   bytes[8192];
    size_t h = strlen(header);
    ck_assert(h + n + 8 <= sizeof bytes);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, h);
    for (size_t i = 0; i < n; i++) bytes[8 + h + i] = (char)i;
    memory_files_put(m, "f", bytes, 8 + h + n);
}

/* The array with that name; it may outlive the file. */
static eddy_array *value(const eddy_safetensors *s, const char *name)
{
    eddy_error  e = { 0 };
    eddy_array *a = eddy__safetensors_value(s, eddy__safetensors_find(s, name), &e);
    ck_assert_msg(a != NULL, "%s", e.message);
    return a;
}

static void has_array(const eddy_safetensors *s, const char *name, const eddy_array *wanted)
{
    eddy_array *a = value(s, name);
    ck_assert(eddy_array_equal(a, wanted));
    eddy_array_free(a);
}

static eddy_status read_text(const char *header, size_t n, eddy_safetensors *out, eddy_error *e)
{
    memory_files m;
    memory_files_init(&m);
    put_file(&m, strlen(header), header, n);
    eddy_status s = eddy__safetensors_open(&m.table, NULL, "f", false, out, e);
    ck_assert_int_eq(m.n_open, 0);
    memory_files_free(&m);
    return s;
}

/* The header begins like that; CRCSnnnn stands for any checksum. */
static void has_header(const char *header, const char *expected)
{
    for (size_t i = 0; expected[i]; i++) {
        if (strncmp(expected + i, "CRCS", 4) == 0) {
            ck_assert_uint_eq(strspn(header + i, "0123456789abcdef"), strcspn(expected + i, "\""));
            i += 8;
        }
        if (strncmp(expected + i, "CRCS", 4) == 0) i--;
        else ck_assert_int_eq(header[i], expected[i]);
    }
}

/* ----------------------------------------------------------------- good -- */

START_TEST(bytes_of_a_file)
{
    static const char expected[] =
        "{\"__metadata__\":{\"eddy.crc32c\":\"CRCS0001CRCS0002CRCS0003\","
        "\"eddy.header_crc32c\":\"CRCS0004\"},\"b\":{\"dtype\":\"F64\",\"shape\":[],\"data_"
        "offsets\":[0,8]},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
        "\"q\\\"\\\\\\u0001\xc3\xa9\":{\"dtype\":\"BOOL\",\"shape\":[1,3],"
        "\"data_offsets\":[16,19]}}";
    memory_files m;
    memory_files_init(&m);
    const double  d = 1.5;
    const float   f[] = { 1, 2 };
    const uint8_t b[] = { 1, 0, 1 };
    const char   *names[] = { "q\"\\\001\xc3\xa9", "a", "b" };
    eddy_array   *arrays[] = { eddy_array_copy_of(EDDY_BOOL, EDDY_SHAPE(1, 3), b),
                               eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), f),
                               eddy_array_copy_of(EDDY_FLOAT64, EDDY_SCALAR, &d) };
    eddy_error e = { 0 };
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", 3, names,
                                             (const eddy_array *const *)arrays, 0, NULL, &e),
                     EDDY_OK);
    const memory_content *c = memory_files_get(&m, "f");
    uint64_t length;
    memcpy(&length, c->bytes, 8);
    ck_assert_uint_eq(length % 8, 0);
    ck_assert_uint_lt(length - (sizeof expected - 1), 8);
    has_header(c->bytes + 8, expected);
    for (size_t i = sizeof expected - 1; i < length; i++) ck_assert_int_eq(c->bytes[8 + i], ' ');
    ck_assert_uint_eq(c->size, 8 + length + 19);
    ck_assert_mem_eq(c->bytes + 8 + length, &d, 8);
    ck_assert_mem_eq(c->bytes + 8 + length + 8, f, 8);
    ck_assert_mem_eq(c->bytes + 8 + length + 16, b, 3);

    eddy_safetensors s;
    ck_assert_int_eq(eddy__safetensors_open(&m.table, NULL, "f", false, &s, &e), EDDY_OK);
    ck_assert_int_eq(s.count, 3);
    for (int i = 0; i < 3; i++) {
        has_array(&s, names[i], arrays[i]);
        eddy_array_free(arrays[i]);
    }
    ck_assert_ptr_null(eddy__safetensors_find(&s, "c"));
    ck_assert_ptr_null(eddy__safetensors_find(&s, NULL));
    eddy__safetensors_free(&s);
    memory_files_free(&m);
}
END_TEST

START_TEST(every_type_and_shape)
{
    static const eddy_dtype dtypes[] = { EDDY_FLOAT64, EDDY_FLOAT32, EDDY_FLOAT16, EDDY_BFLOAT16,
                                         EDDY_INT64, EDDY_INT32, EDDY_UINT8, EDDY_BOOL };
    const eddy_shape        shapes[] = { EDDY_SCALAR, EDDY_SHAPE(0), EDDY_SHAPE(3),
                                         EDDY_SHAPE(1, 2, 1, 2, 1, 2, 1, 1) };
    enum { N = 32 };
    char         texts[N][8];
    const char  *names[N];
    eddy_array  *arrays[N];
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    for (int i = 0; i < N; i++) {
        snprintf(texts[i], sizeof texts[i], "t%d", i * 7 % N);
        names[i] = texts[i];
        arrays[i] = eddy_array_new(dtypes[i / 4], shapes[i % 4]);
        memset(eddy_array_data(arrays[i]), dtypes[i / 4] == EDDY_BOOL ? 1 : 0xA0 + i,
               eddy_array_bytes(arrays[i]));
    }
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", N, names,
                                             (const eddy_array *const *)arrays, 0, NULL, &e),
                     EDDY_OK);
    eddy_safetensors s;
    ck_assert_int_eq(eddy__safetensors_open(&m.table, NULL, "f", false, &s, &e), EDDY_OK);
    ck_assert_int_eq(s.count, N);
    for (int i = 0; i < N; i++) {
        has_array(&s, names[i], arrays[i]);
        ck_assert_int_eq(s.entries[i].begin % (int64_t)eddy_dtype_size(s.entries[i].type.dtype), 0);
        if (i > 0) ck_assert_int_lt(strcmp(s.entries[i - 1].name, s.entries[i].name), 0);
        eddy_array_free(arrays[i]);
    }
    eddy__safetensors_free(&s);
    memory_files_free(&m);
}
END_TEST

START_TEST(metadata)
{
    static const char expected[] = "{\"__metadata__\":{\"\":\"0\",\"a \\\"b\\\"\":\"1\\u000a2\","
                                   "\"eddy.crc32c\":\"CRCS0001\","
                                   "\"eddy.header_crc32c\":\"CRCS0002\",\"\xc3\xa9\":"
                                   "\"\xe2\x82\xac\"},\"v\":{\"dtype\":\"F32\",";
    static const eddy_safetensors_text pairs[] = { { "\xc3\xa9", "\xe2\x82\xac" },
                                                   { "a \"b\"", "1\n2" }, { "", "0" } };
    memory_files     m;
    eddy_safetensors s;
    eddy_error       e = { 0 };
    eddy_array      *a = eddy_array_of(EDDY_FLOAT32, 1);
    memory_files_init(&m);
    for (int n = 1; n >= 0; n--) {
        ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", n, (const char *[]){ "v" },
                                                 (const eddy_array *[]){ a }, 3, pairs, &e),
                         EDDY_OK);
        if (n == 1)
            has_header(memory_files_get(&m, "f")->bytes + 8, expected);
        ck_assert_msg(eddy__safetensors_open(&m.table, NULL, "f", false, &s, &e) == EDDY_OK, "%s",
                      e.message);
        ck_assert_int_eq(s.count, n);
        ck_assert_int_eq(s.metadata_count, 3);
        for (int i = 0; i < 3; i++)
            ck_assert_str_eq(eddy__safetensors_find_text(&s, pairs[i].key), pairs[i].value);
        ck_assert_ptr_null(eddy__safetensors_find_text(&s, "a"));
        ck_assert_ptr_null(eddy__safetensors_find_text(&s, NULL));
        eddy__safetensors_free(&s);
        ck_assert_ptr_null(eddy__safetensors_find_text(&s, ""));
    }
    eddy_array_free(a);
    memory_files_free(&m);
}
END_TEST

/* A pair with a zero byte is left out, so that no string is cut. */
START_TEST(metadata_with_zero_bytes)
{
    eddy_safetensors s;
    eddy_error       e = { 0 };
    ck_assert_int_eq(read_text("{\"__metadata__\":{\"a\\u0000\":\"1\",\"b\":\"2\\u00003\","
                               "\"a\":\"4\",\"a\\u0000\":\"5\"}}", 0, &s, &e), EDDY_OK);
    ck_assert_int_eq(s.metadata_count, 1);
    ck_assert_str_eq(eddy__safetensors_find_text(&s, "a"), "4");
    eddy__safetensors_free(&s);
}
END_TEST

#define T(name, at) "\"" name "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[" at "]}"

static const struct { const char *header; size_t n; int count; const char *first; } good[] = {
    { "{}", 0, 0, "" },
    { "{}    ", 0, 0, "" },
    { "{ \"a\" : { \"shape\" : [ 2 ] ,\t\"data_offsets\":\r\n[0,2], \"dtype\":\"U8\" } } ", 2, 1,
      "a" },
    { "{" T("b", "2,4") "," T("a", "0,2") "}", 4, 2, "a" },
    { "{\"__metadata__\":{\"format\":\"pt\",\"\\u0000\":\"\"}," T("a", "0,2") "}", 2, 1, "a" },
    { "{\"__metadata__\":{}}", 0, 0, "" },
    { "{\"__metadata__\":{\"ab\":\"\",\"a\":\"\",\"\":\"\",\"aa\":\"\",\"a\\u0000\":\"\"}}",
      0, 0, "" },
    { "{\"e\":{\"dtype\":\"U8\",\"shape\":[0,5],\"data_offsets\":[2,2]}," T("a", "0,2")
      ",\"d\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}", 2, 3, "a" },
    { "{" T("\\u00eF\\uD83d\\ude00\\n\\/", "0,2") "}", 2, 1, "\xc3\xaf\xf0\x9f\x98\x80\n/" },
    { "{" T("", "0,2") "}", 2, 1, "" },
    { "{" T("\\ud800\\udc00", "0,2") "}", 2, 1, "\xf0\x90\x80\x80" },
    { "{" T("\\uDBFF\\uDFFF", "0,2") "}", 2, 1, "\xf4\x8f\xbf\xbf" },
    { "{" T("\\ud7ff\\ue000", "0,2") "}", 2, 1, "\xed\x9f\xbf\xee\x80\x80" },
};

START_TEST(accepted)
{
    eddy_safetensors s;
    eddy_error       e = { 0 };
    ck_assert_msg(read_text(good[_i].header, good[_i].n, &s, &e) == EDDY_OK, "%s", e.message);
    ck_assert_int_eq(s.count, good[_i].count);
    if (s.count > 0) ck_assert_str_eq(s.entries[0].name, good[_i].first);
    eddy__safetensors_free(&s);
}
END_TEST

/* ------------------------------------------------------------------ bad -- */

#define E(shape, at) "{\"a\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" at "}}"

static const struct {
    const char *header;
    size_t      n;
    eddy_status status;
} bad[] = {
    { "", 0, EDDY_CORRUPT },
    { " {}", 0, EDDY_CORRUPT },
    { "[]", 0, EDDY_CORRUPT },
    { "{} x", 0, EDDY_CORRUPT },
    { "{", 0, EDDY_CORRUPT },
    { "{}", 1, EDDY_CORRUPT },
    { "{" T("a", "0,2") "}", 3, EDDY_CORRUPT },
    { "{" T("a", "0,2") "}", 1, EDDY_CORRUPT },
    { "{" T("a", "0,2") "," T("b", "3,5") "}", 5, EDDY_CORRUPT },
    { "{" T("a", "1,3") "}", 3, EDDY_CORRUPT },
    { "{" T("a", "0,2") "," T("b", "1,3") "}", 3, EDDY_CORRUPT },
    { "{" T("a", "0,2") "," T("b", "0,2") "}", 2, EDDY_CORRUPT },
    { "{\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]}," T("a", "0,2") "}", 2,
      EDDY_CORRUPT },
    { "{" T("a", "0,2") "," T("a", "2,4") "}", 4, EDDY_CORRUPT },
    { "{" T("a", "0,2") "," T("\\u0061", "2,4") "}", 4, EDDY_CORRUPT },
    { "{" T("a\\u0000", "0,2") "}", 2, EDDY_CORRUPT },
    { E("[1]", "[0,8]"), 8, EDDY_CORRUPT },
    { E("[3]", "[0,8]"), 8, EDDY_CORRUPT },
    { E("[]", "[4,0]"), 4, EDDY_CORRUPT },
    { E("[]", "[0,4,4]"), 4, EDDY_CORRUPT },
    { E("[]", "[0]"), 4, EDDY_CORRUPT },
    { E("[]", "[-4,0]"), 4, EDDY_CORRUPT },
    { E("[]", "[0,4.0]"), 4, EDDY_CORRUPT },
    { E("[]", "[0,4e0]"), 4, EDDY_CORRUPT },
    { E("[]", "[00,4]"), 4, EDDY_CORRUPT },
    { E("[]", "[0,18446744073709551620]"), 4, EDDY_CORRUPT },
    { E("[]", "[9223372036854775807,9223372036854775807]"), 4, EDDY_CORRUPT },
    { E("[]", "[9223372036854775800,9223372036854775804]"), 4, EDDY_CORRUPT },
    { E("[4611686018427387905]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("[4294967296,4294967296]", "[0,0]"), 0, EDDY_CORRUPT },
    { E("[4294967296,4294967296,0]", "[0,0]"), 0, EDDY_CORRUPT },
    { E("[9223372036854775808]", "[0,0]"), 0, EDDY_CORRUPT },
    { E("[-1]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("[1,1,1,1,1,1,1,1,2]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("[1,1,1,1,1,1,1,1,4294967296,4294967296]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("[1,]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("[1 1]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("[[1]]", "[0,4]"), 4, EDDY_CORRUPT },
    { E("{}", "[0,4]"), 4, EDDY_CORRUPT },
    { E("null", "[0,4]"), 4, EDDY_CORRUPT },
    { "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[],\"data_offsets\":[0,2]}}", 2, EDDY_CORRUPT },
    { "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, EDDY_CORRUPT },
    { "{\"a\":{\"dtype\":3,\"shape\":[],\"data_offsets\":[0,1]}}", 1, EDDY_CORRUPT },
    { "{\"a\":{\"shape\":[],\"data_offsets\":[0,1]}}", 1, EDDY_CORRUPT },
    { "{\"a\":{}}", 0, EDDY_CORRUPT },
    { "{\"a\":[]}", 0, EDDY_CORRUPT },
    { "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1,
      EDDY_CORRUPT },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":0}}", 1, EDDY_CORRUPT },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],}}", 1, EDDY_CORRUPT },
    { "{" T("a", "0,2") ",}", 2, EDDY_CORRUPT },
    { "{" T("a", "0,2") " " T("b", "2,4") "}", 4, EDDY_CORRUPT },
    { "{'a':{}}", 0, EDDY_CORRUPT },
    { "{\"a\"", 0, EDDY_CORRUPT },
    { "{\"a", 0, EDDY_CORRUPT },
    { "{\"a\\", 0, EDDY_CORRUPT },
    { "{\"a\\\"", 0, EDDY_CORRUPT },
    { "{\"a\\x\":{}}", 0, EDDY_CORRUPT },
    { "{\"\\u12\":{}}", 0, EDDY_CORRUPT },
    { "{\"\\u12g4\":{}}", 0, EDDY_CORRUPT },
    { "{\"\\ud800\":{}}", 0, EDDY_CORRUPT },
    { "{\"\\udfff\":{}}", 0, EDDY_CORRUPT },
    { "{\"\\ude00\\ud83d\":{}}", 0, EDDY_CORRUPT },
    { "{\"\\ud83d\\u0041\":{}}", 0, EDDY_CORRUPT },
    { "{\"\n\":{}}", 0, EDDY_CORRUPT },
    { "{\"\xff\":{}}", 0, EDDY_CORRUPT },
    { "{\"\xed\xa0\x80\":{}}", 0, EDDY_CORRUPT },
    { "{\"\xc0\x80\":{}}", 0, EDDY_CORRUPT },
    { "{\"__metadata__\":{\"a\":\"1\",\"b\":\"2\",\"a\":\"3\"}}", 0, EDDY_CORRUPT },
    { "{\"__metadata__\":{\"a\":\"\",\"ab\":\"\",\"aa\":\"\",\"b\":\"\",\"\":\"\",\"aa\":\"\"}}", 0,
      EDDY_CORRUPT },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, EDDY_CORRUPT },
    { "{\"__metadata__\":{\"a\\x\":\"1\"}}", 0, EDDY_CORRUPT },
    { "{\"__metadata__\":{\"a\":1}}", 0, EDDY_CORRUPT },
    { "{\"__metadata__\":{\"a\":{}}}", 0, EDDY_CORRUPT },
    { "{\"__metadata__\":[]}", 0, EDDY_CORRUPT },
    { "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, EDDY_CORRUPT },
};

static void header_is_refused(const char *header, size_t n, eddy_status status)
{
    eddy_safetensors s;
    eddy_error       e = { 0 };
    ck_assert_int_eq(read_text(header, n, &s, &e), status);
    ck_assert_int_eq(e.status, status);
    ck_assert(s.count == 0 && !s.entries && !s.header);
    eddy__safetensors_free(&s);
    ck_assert_int_eq(read_text(header, n, &s, NULL), status);
    golden_error(&e);
}

static void file_is_refused(memory_files *m, eddy_status status)
{
    eddy_safetensors s;
    eddy_error       e = { 0 };
    ck_assert_int_eq(eddy__safetensors_open(&m->table, NULL, "f", false, &s, &e), status);
    golden_error(&e);
    memory_files_free(m);
}

/* A header that the file has, and that is longer than one may be. */
static void too_long(void)
{
    const uint64_t length = 100000001;
    memory_files   m;
    char          *whole = calloc(length + sizeof length, 1);
    ck_assert_ptr_nonnull(whole);
    memcpy(whole, &length, sizeof length);
    memory_files_init(&m);
    memory_files_put(&m, "f", whole, length + sizeof length);
    free(whole);
    file_is_refused(&m, EDDY_LIMIT);
}

/* Lengths of headers that the file does not have, deep nesting, a long name, and
 * a zero byte. */
static void lengths(void)
{
    static const struct { uint64_t length; eddy_status status; } rows[] = {
        { 3, EDDY_CORRUPT },         { 4, EDDY_CORRUPT },
        { 100000000, EDDY_CORRUPT }, { 100000001, EDDY_CORRUPT },
        { UINT32_MAX, EDDY_CORRUPT },  { INT64_MAX, EDDY_CORRUPT },
        { UINT64_MAX, EDDY_CORRUPT },  { UINT64_MAX - 7, EDDY_CORRUPT },
    };
    memory_files m;
    too_long();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memory_files_init(&m);
        put_file(&m, rows[i].length, "{}", 1);
        file_is_refused(&m, rows[i].status);
    }
    for (size_t n = 0; n < 8; n++) {
        memory_files_init(&m);
        memory_files_put(&m, "f", "\2\0\0\0\0\0\0\0", n);
        file_is_refused(&m, EDDY_CORRUPT);
    }
    memory_files_init(&m);
    memory_files_put(&m, "f", "\3\0\0\0\0\0\0\0{\0}", 11);
    file_is_refused(&m, EDDY_CORRUPT);
    char deep[6000] = "{\"a\":";
    memset(deep + 5, '{', sizeof deep - 6);
    deep[sizeof deep - 1] = 0;
    header_is_refused(deep, 0, EDDY_CORRUPT);
    snprintf(deep, sizeof deep, "{\"%0*d\":{}}", EDDY_MAX_NAME + 1, 0);
    header_is_refused(deep, 0, EDDY_CORRUPT);
}

/* Up to two arrays under these names. */
static void write_is_refused(const char *path, int n, const char *const *names,
                             const eddy_array *array, eddy_status status)
{
    const eddy_array *arrays[] = { array, array };
    memory_files      m;
    eddy_error        e = { 0 };
    memory_files_init(&m);
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, path, n, names, arrays, 0, NULL,
                                             &e), status);
    ck_assert_int_eq(m.calls, 0);
    golden_error(&e);
    memory_files_free(&m);
}

static void write_misuse(void)
{
    char         longest[EDDY_MAX_NAME + 2];
    const char  *one[] = { longest };
    memory_files m;
    eddy_array  *a = eddy_array_of(EDDY_FLOAT32, 1), *c = eddy_array_of(EDDY_COMPLEX128, 1);
    memory_files_init(&m);
    memset(longest, 'n', sizeof longest);
    longest[EDDY_MAX_NAME] = 0;
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", 1, one,
                                             (const eddy_array *[]){ a }, 0, NULL, NULL),
                     EDDY_OK);
    ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", 0, NULL, NULL, 0, NULL, NULL),
                     EDDY_OK);
    longest[EDDY_MAX_NAME] = 'n';
    longest[EDDY_MAX_NAME + 1] = 0;
    write_is_refused("f", 1, one, a, EDDY_LIMIT);
    write_is_refused("f", 2, (const char *[]){ "x", "x" }, a, EDDY_INVALID_ARGUMENT);
    write_is_refused("f", 2, (const char *[]){ "x", NULL }, a, EDDY_INVALID_ARGUMENT);
    write_is_refused("f", 1, (const char *[]){ "\xff" }, a, EDDY_INVALID_ARGUMENT);
    write_is_refused("f", 1, (const char *[]){ "__metadata__" }, a, EDDY_INVALID_ARGUMENT);
    write_is_refused("f", -1, (const char *[]){ "x" }, a, EDDY_INVALID_ARGUMENT);
    write_is_refused("f", 1, NULL, a, EDDY_INVALID_ARGUMENT);
    write_is_refused(NULL, 0, NULL, a, EDDY_INVALID_ARGUMENT);
    write_is_refused("f", 1, (const char *[]){ "x" }, c, EDDY_UNIMPLEMENTED);
    eddy_array_free(a);
    eddy_array_free(c);
    memory_files_free(&m);
}

static void metadata_misuse(void)
{
    static const struct { int n; eddy_safetensors_text pairs[2]; } rows[] = {
        { 2, { { "a", "1" }, { "a", "2" } } }, { 2, { { "a", "1" }, { "b", NULL } } },
        { 1, { { NULL, "1" } } },              { 1, { { "\xff", "1" } } },
        { 1, { { "a", "\xc0\x80" } } },        { -1, { { "a", "1" } } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        ck_assert_int_eq(eddy__safetensors_write(&m.table, NULL, "f", 0, NULL, NULL, rows[i].n,
                                                 rows[i].pairs, &e),
                         EDDY_INVALID_ARGUMENT);
        ck_assert_int_eq(m.calls, 0);
        golden_error(&e);
        memory_files_free(&m);
    }
}

/* One message a line in tests/golden/graph/safetensors.txt. */
START_TEST(refused)
{
    golden_begin("graph/safetensors");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        header_is_refused(bad[i].header, bad[i].n, bad[i].status);
    lengths();
    write_misuse();
    metadata_misuse();
    golden_end();
}
END_TEST

/* Names that make a header above the limit: pieces of a few long ones. */
START_TEST(large_header)
{
    enum { LETTERS = 13, N = LETTERS * EDDY_MAX_NAME };
    static char              text[LETTERS][EDDY_MAX_NAME + 1];
    static const char       *names[N];
    static const eddy_array *arrays[N];
    eddy_array  *a = eddy_array_of(EDDY_UINT8, 1);
    eddy_error   e = { 0 };
    memory_files m;
    memory_files_init(&m);
    for (int i = 0; i < N; i++) {
        text[i / EDDY_MAX_NAME][i % EDDY_MAX_NAME] = (char)('a' + i / EDDY_MAX_NAME);
        names[i] = &text[i / EDDY_MAX_NAME][i % EDDY_MAX_NAME];
        arrays[i] = a;
    }
    eddy_status status =
        eddy__safetensors_write(&m.table, NULL, "f", N, names, arrays, 0, NULL, &e);
    ck_assert_int_eq(status, EDDY_LIMIT);
    golden_begin("graph/safetensors_header");
    golden_error(&e);
    golden_end();
    eddy_array_free(a);
    memory_files_free(&m);
}
END_TEST

/* Every type that arrays lack, by its codes. */
START_TEST(foreign_types)
{
    static const struct {
        const char *code;
        size_t      width;
        uint8_t     bytes[8];        /* of an element */
        eddy_dtype  dtype;
        double      value;
    } rows[] = {
        { "I8", 1, { 0x80 }, EDDY_INT32, -128 },
        { "I16", 2, { 0xfe, 0xff }, EDDY_INT32, -2 },
        { "U16", 2, { 0xfe, 0xff }, EDDY_INT32, 65534 },
        { "U32", 4, { 0xff, 0xff, 0xff, 0xff }, EDDY_INT64, 4294967295. },
        { "U64", 8, { 255, 255, 255, 255, 255, 255, 255, 127 }, EDDY_INT64, 0x1p63 /* - 1 */ },
        { "U64", 8, { 1, 2 }, EDDY_INT64, 513 }, { "F8_E4M3", 1, { 0x7e }, EDDY_FLOAT32, 448 },
        { "F8_E4M3", 1, { 0x81 }, EDDY_FLOAT32, -0x1p-9 },
        { "F8_E4M3", 1, { 0x3c }, EDDY_FLOAT32, 1.5 },
        { "F8_E5M2", 1, { 0x7b }, EDDY_FLOAT32, 57344 },
        { "F8_E5M2", 1, { 0x01 }, EDDY_FLOAT32, 0x1p-16 },
        { "F8_E5M2", 1, { 0xfc }, EDDY_FLOAT32, -INFINITY },
        { "F8_E4M3FNUZ", 1, { 0x7f }, EDDY_FLOAT32, 240 },
        { "F8_E5M2FNUZ", 1, { 0x7f }, EDDY_FLOAT32, 57344 },
        { "F8_E8M0", 1, { 0x80 }, EDDY_FLOAT32, 2 },
        { "F8_E8M0", 1, { 0x00 }, EDDY_FLOAT32, 0x1p-127 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char             header[200], bytes[400] = { 0 };
        memory_files     m;
        eddy_safetensors s;
        const size_t     w = rows[i].width;
        snprintf(header, sizeof header,
                 "{\"a\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[0,%zu]}}", rows[i].code,
                 2 * w);
        const uint64_t n = strlen(header);
        memcpy(bytes, &n, 8);
        memcpy(bytes + 8, header, (size_t)n);
        memcpy(bytes + 8 + n + w, rows[i].bytes, w);
        memory_files_init(&m);
        memory_files_put(&m, "f", bytes, 8 + (size_t)n + 2 * w);
        ck_assert_int_eq(eddy__safetensors_open(&m.table, NULL, "f", false, &s, NULL), EDDY_OK);
        eddy_array *a = value(&s, "a");
        ck_assert_int_eq(eddy_array_dtype(a), rows[i].dtype);
        const double zero = strcmp(rows[i].code, "F8_E8M0") == 0 ? 0x1p-127 : 0;
        ck_assert(eddy_array_get(a, 0) == zero);
        ck_assert_msg(eddy_array_get(a, 1) == rows[i].value, "%s: %g", rows[i].code,
                      eddy_array_get(a, 1));
        eddy_array_free(a);
        eddy__safetensors_free(&s);
        memory_files_free(&m);
    }
}
END_TEST

/* The header is accepted, and the value of "a" refused. */
static void value_is_refused(const char *header, size_t n, eddy_status status)
{
    eddy_safetensors s;
    eddy_error       e = { 0 };
    ck_assert_msg(read_text(header, n, &s, &e) == EDDY_OK, "%s", e.message);
    ck_assert_ptr_null(eddy__safetensors_value(&s, eddy__safetensors_find(&s, "a"), &e));
    ck_assert_int_eq(e.status, status);
    ck_assert_ptr_null(eddy__safetensors_value(&s, eddy__safetensors_find(&s, "a"), NULL));
    golden_error(&e);
    eddy__safetensors_free(&s);
}

/* A damaged tensor that nobody asks for causes no error. */
START_TEST(refused_values)
{
    static const char crcs[] =
        "{\"__metadata__\":{\"eddy.crc32c\":\"00000000\"}," T("a", "0,2") "}";
    golden_begin("graph/safetensors_values");
    value_is_refused("{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}}", 2,
                     EDDY_UNIMPLEMENTED);
    value_is_refused("{\"a\":{\"dtype\":\"Q7\",\"shape\":[4],\"data_offsets\":[0,9]}}", 9,
                     EDDY_UNIMPLEMENTED);
    value_is_refused("{\"a\":{\"dtype\":\"U8\\u0000\",\"shape\":[],\"data_offsets\":[0,1]}}", 1,
                     EDDY_UNIMPLEMENTED);
    value_is_refused(E("[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, EDDY_UNIMPLEMENTED);
    value_is_refused("{\"a\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3,
                     EDDY_CORRUPT);
    value_is_refused("{\"a\":{\"dtype\":\"U64\",\"shape\":[20],\"data_offsets\":[0,160]}}", 160,
                     EDDY_OUT_OF_RANGE);
    header_is_refused(crcs, 2, EDDY_CORRUPT);
    golden_end();
}
END_TEST

Suite *safetensors_suite(void)
{
    Suite *s = suite_create("safetensors");
    TCase *format = tcase_create("format"), *large = tcase_create("large");
    tcase_add_test(format, bytes_of_a_file);
    tcase_add_test(format, every_type_and_shape);
    tcase_add_test(format, metadata);
    tcase_add_test(format, metadata_with_zero_bytes);
    tcase_add_loop_test(format, accepted, 0, sizeof good / sizeof *good);
    tcase_add_test(format, refused);
    tcase_add_test(format, foreign_types);
    tcase_add_test(format, refused_values);
    tcase_add_test(large, large_header);
    tcase_set_tags(large, "slow");
    suite_add_tcase(s, format);
    suite_add_tcase(s, large);
    return s;
}
