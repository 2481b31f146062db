/* test_json.c -- the reader of JSON for TensorFlow.js: good texts and their values, and bad ones
 * with the place of the damage. */
#include "formats/json.h"

#include <check.h>
#include <math.h>
#include <string.h>

Suite *json_suite(void);

static const json *parsed(region *r, const char *text, size_t n, size_t *at)
{
    *r = (region){ 0 };
    return eddy__json_parse(r, (wire_bytes){ (const uint8_t *)text, n }, at);
}

/* ----------------------------------------------------------------- strings -- */

static const struct { const char *text, *value; } strings[] = {
    { "\"\"", "" },
    { "\"a b\"", "a b" },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
    { "\"\\u0041\\u007f\"", "A\x7f" },
    { "\"\\u0080\\u07ff\"", "\xc2\x80\xdf\xbf" },
    { "\"\\u09aA\"", "\xe0\xa6\xaa" },
    { "\"\\u0800\\uFfFf\"", "\xe0\xa0\x80\xef\xbf\xbf" },
    { "\"\\ud800\\udc00\"", "\xf0\x90\x80\x80" },
    { "\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf" },
    { "\"\\ud7ff\\ue000\"", "\xed\x9f\xbf\xee\x80\x80" },
    { "\"\xc3\xa9\"", "\xc3\xa9" },
};

START_TEST(good_strings)
{
    region      r;
    size_t      at;
    const json *v = parsed(&r, strings[_i].text, strlen(strings[_i].text), &at);
    ck_assert(v && v->kind == JSON_STRING);
    ck_assert_str_eq((const char *)v->text.at, strings[_i].value);
    ck_assert_uint_eq(v->text.size, strlen(strings[_i].value));
    ck_assert_str_eq(eddy__json_text(v, "no"), strings[_i].value);
    eddy__region_free(&r);
}
END_TEST

/* ----------------------------------------------------------------- numbers -- */

static const struct { const char *text; double number; int64_t integer; } numbers[] = {
    { "0", 0, 0 },
    { "-0", -0.0, 0 },
    { "-17", -17, -17 },
    { "1.75", 1.75, 1 },
    { "-1.75", -1.75, -1 },
    { "1e3", 1000, 1000 },
    { "2E-1", 0.2, 0 },
    { "1234567890123456789", 1234567890123456768.0, 1234567890123456789 },     /* exact */
    { "-9223372036854775807", -9223372036854775808.0, -9223372036854775807 },
    { "9223372036854775808", 9223372036854775808.0, INT64_MAX },
    { "-9223372036854775809", -9223372036854775808.0, INT64_MIN },
    { "100000000000000000000", 1e20, INT64_MAX },
    { "9.223372036854775808e18", 9223372036854775808.0, INT64_MAX },
    { "-9.223372036854775808e18", -9223372036854775808.0, INT64_MIN },
    { "999999999999999999", 1e18, 999999999999999999 },
    { "1000000000000000000", 1e18, 1000000000000000000 },
    { "9223372036854774784", 9223372036854774784.0, 9223372036854774784 },
    { "9223372036854775807", 9223372036854775808.0, INT64_MAX },
    { "-9223372036854775808", -9223372036854775808.0, INT64_MIN },
    { "1e300", 1e300, INT64_MAX },
    { "-1e300", -1e300, INT64_MIN },
    { "Infinity", INFINITY, INT64_MAX },
    { "-Infinity", -INFINITY, INT64_MIN },
    { "true", 1, 1 },
    { "false", 0, 0 },
};

START_TEST(good_numbers)
{
    region      r;
    size_t      at;
    const json *v = parsed(&r, numbers[_i].text, strlen(numbers[_i].text), &at);
    ck_assert_msg(v && (v->kind == JSON_NUMBER || v->kind == JSON_BOOL), "%s", numbers[_i].text);
    ck_assert_mem_eq(&v->number, &numbers[_i].number, sizeof v->number);
    ck_assert_int_eq(v->integer, numbers[_i].integer);
    ck_assert_int_eq(eddy__json_integer(v, 77), numbers[_i].integer);
    ck_assert_str_eq(eddy__json_text(v, "no"), "no");
    eddy__region_free(&r);
}
END_TEST

START_TEST(not_a_number)
{
    region      r;
    size_t      at;
    const json *v = parsed(&r, "NaN", 3, &at);
    ck_assert(v && isnan(v->number) && v->integer == 0);
    eddy__region_free(&r);
}
END_TEST

/* -------------------------------------------------------------- structures -- */

START_TEST(objects)
{
    static const char text[] = " {\"a\" : 1 ,\r\n\"b\":[ ],\t\"c\":[1,[2],{}],\"a\":{\"x\":null}} ";
    region      r;
    size_t      at;
    const json *v = parsed(&r, text, sizeof text - 1, &at);
    ck_assert(v && v->kind == JSON_OBJECT && v->count == 4 && at == sizeof text - 1);
    ck_assert_str_eq(v->key, "");
    const json *a = eddy__json_get(v, "a"), *c = eddy__json_get(v, "c");
    ck_assert_int_eq(a->kind, JSON_OBJECT);                     /* the last one counts */
    ck_assert_int_eq(eddy__json_get(a, "x")->kind, JSON_NULL);
    ck_assert(eddy__json_get(v, "b")->count == 0 && !eddy__json_items(eddy__json_get(v, "b")));
    const json *item = eddy__json_items(c);
    ck_assert_uint_eq(c->count, 3);
    ck_assert_int_eq(item->integer, 1);
    ck_assert_uint_eq(item->offset, (size_t)(strstr(text, "1,[") - text));
    ck_assert_int_eq(item->next->kind, JSON_ARRAY);
    ck_assert_ptr_null(item->next->next->next);
    ck_assert(!eddy__json_get(v, "x") && !eddy__json_get(c, "a") && !eddy__json_get(NULL, "a"));
    ck_assert(!eddy__json_items(v) && !eddy__json_items(NULL));
    ck_assert_str_eq(eddy__json_text(NULL, "no"), "no");
    ck_assert_int_eq(eddy__json_integer(c, 77), 77);
    ck_assert_int_eq(eddy__json_integer(NULL, 77), 77);
    eddy__region_free(&r);
}
END_TEST

/* Integers of 64 bits are strings in protobuf's JSON. */
static const struct { const char *text; int64_t value; } texts[] = {
    { "\"12\"", 12 },
    { "\"-9223372036854775808\"", INT64_MIN },
    { "\"\"", 77 },
    { "\"12x\"", 77 },
    { "\"000000000000000000012\"", 77 },                        /* 21 characters */
    { "\"00000000000000000012\"", 12 },
};

START_TEST(integers_as_text)
{
    region      r;
    size_t      at;
    const json *v = parsed(&r, texts[_i].text, strlen(texts[_i].text), &at);
    ck_assert_int_eq(eddy__json_integer(v, 77), texts[_i].value);
    eddy__region_free(&r);
}
END_TEST

/* --------------------------------------------------------------------- bad -- */

static const struct { const char *text; size_t at; } bad[] = {
    { "", 0 },
    { " ", 1 },
    { "1 2", 2 },
    { "\"a", 1 },
    { "\"a\\\"", 1 },
    { "\"a\\", 1 },
    { "\"\x1f\"", 2 },
    { "\"\\x\"", 3 },
    { "\"\\u12\"", 3 },
    { "\"\\u123\"", 7 },
    { "\"\\u12g4\"", 6 },
    { "\"\\u12:4\"", 6 },
    { "\"\\u12/4\"", 6 },
    { "\"\\u12@4\"", 6 },
    { "\"\\u12`4\"", 6 },
    { "\"\\u12G4\"", 6 },
    { "\"\\udc00\"", 7 },
    { "\"\\udfff\\udc00\"", 7 },
    { "\"\\ud800\"", 7 },
    { "\"\\ud800\\n\"", 7 },
    { "\"\\ud800\\u12\"", 9 },
    { "\"\\ud800\\u0041\"", 13 },
    { "\"\\ud800\\ue000\"", 13 },
    { "\"\\ud800\\udbff\"", 13 },
    { "nul", 0 },
    { "tru", 0 },
    { "fals", 0 },
    { "-", 1 },
    { "+1", 2 },
    { ".5", 2 },
    { "e5", 2 },
    { "/", 0 },
    { ":", 0 },
    { "1.2.3", 5 },
    { "1e", 2 },
    { "1234567890123456789012345678901234567890123456789012345678901234", 63 },
    { "[1 2]", 3 },
    { "[1,]", 3 },
    { "[", 1 },
    { "{1:2}", 1 },
    { "{\"a\"1}", 4 },
    { "{\"a:1}", 2 },
    { "{\"a\":}", 5 },
    { "{\"a\":1", 6 },
    { "{\"a\":1,}", 7 },
};

START_TEST(damage)
{
    region r;
    size_t at = 1000;
    ck_assert_msg(!parsed(&r, bad[_i].text, strlen(bad[_i].text), &at), "%s", bad[_i].text);
    ck_assert_msg(at == bad[_i].at, "%s: %zu", bad[_i].text, at);
    ck_assert(!r.full);
    eddy__region_free(&r);
}
END_TEST

/* Bytes after the text are not read. */
START_TEST(ends)
{
    static const struct { const char *text; size_t n; int64_t value; } cases[] = {
        { "12", 1, 1 }, { "1 2", 1, 1 }, { "truex", 4, 1 }, { "5]", 1, 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        region      r;
        size_t      at;
        const json *v = parsed(&r, cases[i].text, cases[i].n, &at);
        ck_assert(v && v->integer == cases[i].value && at == cases[i].n);
        eddy__region_free(&r);
    }
    region r;
    size_t at;
    static const struct { const char *text; size_t n; } cut[] = {
        { "\"a\"", 2 }, { "[1]", 2 }, { "\"\\u0041\"", 6 }, { "null", 3 }, { "{\"a\":1}", 6 },
    };
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        ck_assert_msg(!parsed(&r, cut[i].text, cut[i].n, &at), "%s", cut[i].text);
        eddy__region_free(&r);
    }
}
END_TEST

START_TEST(zero_bytes)
{
    region r;
    size_t at;
    ck_assert_ptr_null(parsed(&r, "1\0", 2, &at));
    ck_assert_uint_eq(at, 1);
    eddy__region_free(&r);
    ck_assert_ptr_null(parsed(&r, "\"\\\0\"", 4, &at));
    ck_assert_uint_eq(at, 3);
    eddy__region_free(&r);
}
END_TEST

START_TEST(depth)
{
    char   text[2 * JSON_MAX_DEPTH + 2];
    region r;
    size_t at;
    for (int n = JSON_MAX_DEPTH; n <= JSON_MAX_DEPTH + 1; n++) {
        memset(text, '[', (size_t)n);
        memset(text + n, ']', (size_t)n);
        ck_assert((parsed(&r, text, 2 * (size_t)n, &at) != NULL) == (n == JSON_MAX_DEPTH));
        eddy__region_free(&r);
    }
}
END_TEST

#define ROWS(table) sizeof table / sizeof *table

Suite *json_suite(void)
{
    Suite *s = suite_create("json");
    TCase *t = tcase_create("json");
    tcase_add_loop_test(t, good_strings, 0, ROWS(strings));
    tcase_add_loop_test(t, good_numbers, 0, ROWS(numbers));
    tcase_add_test(t, not_a_number);
    tcase_add_test(t, objects);
    tcase_add_loop_test(t, integers_as_text, 0, ROWS(texts));
    tcase_add_loop_test(t, damage, 0, ROWS(bad));
    tcase_add_test(t, ends);
    tcase_add_test(t, zero_bytes);
    tcase_add_test(t, depth);
    suite_add_tcase(s, t);
    return s;
}
