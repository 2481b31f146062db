/* test_csv.c -- tables: what ends a field and a row, which type a column gets, and what is
 * refused. */
#include "input.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *csv_suite(void);

static eddy_csv *read_text(const char *text, size_t n, eddy_csv_read_args a, eddy_error *e)
{
    memory_files files;
    memory_files_init(&files);
    memory_files_put(&files, "f", text, n);
    *e = (eddy_error){ 0 };
    a.size_ = sizeof a;
    a.path = "f";
    a.files = &files.table;
    a.error = e;
    if (!a.separator) a.separator = ',';
    eddy_csv *c = eddy_csv_read_with(&a);
    ck_assert((c != NULL) == (e->status == EDDY_OK));
    memory_files_free(&files);
    return c;
}

/* The table as text: "name:type value value|...". Words are their numbers. */
static char *table_text(const eddy_csv *c, char *to, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < eddy_csv_columns(c); i++) {
        const eddy_array *a = eddy_csv_array(c, i);
        n += (size_t)snprintf(to + n, size - n, "%s%s:%s", i ? "|" : "", eddy_csv_name(c, i),
                              a ? eddy_dtype_name(eddy_array_dtype(a)) : "none");
        for (int64_t k = 0; a && k < eddy_array_count(a); k++)
            n += (size_t)snprintf(to + n, size - n, " %g", eddy_array_get(a, k));
    }
    return to;
}

static const struct { const char *text, *table; } good[] = {
    { "a,b\n1,2\n", "a:int64 1|b:int64 2" },
    { "a,b\r\n1,2\r\n", "a:int64 1|b:int64 2" },
    { "a,b\n1,2", "a:int64 1|b:int64 2" },
    { "a,b\n1,2\r", "a:int64 1|b:int64 2" },
    { "a,b", "a:int64|b:int64" },
    { "\xef\xbb\xbf" "a\n1\n", "a:int64 1" },
    { "\xef\xbb" "a\n1\n", "\xef\xbb" "a:int64 1" },
    { "a,b\n1,2\n\n", "a:int64 1|b:int64 2" },                 /* an empty line at the end */
    { "a\n1\n\n", "a:float64 1 nan" },                         /* ... of one column: missing */
    { "a\n1\n", "a:int64 1" },
    { "a\n", "a:int64" },
    { "a,b\n\"1\",2\n", "a:int32 0|b:int64 2" },               /* a quote makes a word */
    { "a,b\n\"x\"\"y\",2\n", "a:int32 0|b:int64 2" },
    { "a,b\n\"x,\ny\",2\n\"x,\ny\",2\n", "a:int32 0 0|b:int64 2 2" },
    { "a,b\n\"\",2\nx,3\n", "a:int32 0 1|b:int64 2 3" },
    { "a,b\n\"\"\n", NULL },
    { "a,b\n1,\"2\"", "a:int64 1|b:int32 0" },
    { "a,b\n1,\"\"\r\n", "a:int64 1|b:int32 0" },
    { "a\nx\rz\n", "a:int32 0" },                              /* "\r" inside a row */
    { "a,b\n1,NA\n2,3\n", "a:int64 1 2|b:float64 nan 3" },
    { "a,b\n1,NA\n2,x\n", "a:int64 1 2|b:int32 -1 0" },
    { "a,b\n1,\"NA\"\n2,x\n", "a:int64 1 2|b:int32 0 1" },
    { "a,b\n,\n,\n", "a:float64 nan nan|b:float64 nan nan" },
    { "a\n1.5\n2\n", "a:float64 1.5 2" },
    { "a\n1 \n 2\n", "a:int64 1 2" },
    { "a\n1 x\n", "a:int32 0" },
    { "a\n1.5 x\n", "a:int32 0" },
    { "a\n \n", "a:int32 0" },
    { "a\n9223372036854775807\n", "a:int64 9.22337e+18" },
    { "a\n9223372036854775808\n", "a:float64 9.22337e+18" },
    { "a\n1e400\n", "a:float64 inf" },
    { "a\n1,5\n", NULL },
};

START_TEST(tables)
{
    char       text[500];
    eddy_error e;
    eddy_csv  *c = read_text(good[_i].text, strlen(good[_i].text),
                            (eddy_csv_read_args){ .missing = "NA" }, &e);
    ck_assert_msg((c != NULL) == (good[_i].table != NULL), "%s", e.message);
    if (c) ck_assert_str_eq(table_text(c, text, sizeof text), good[_i].table);
    eddy_csv_free(c);
}
END_TEST

static const eddy_csv_type ints[] = { EDDY_CSV_INT64, EDDY_CSV_INT64 },
                           floats[] = { EDDY_CSV_FLOAT32, EDDY_CSV_FLOAT64 },
                           words[] = { EDDY_CSV_CATEGORY, EDDY_CSV_SKIP },
                           low[] = { (eddy_csv_type)(EDDY_CSV_INFER - 1) },
                           high[] = { (eddy_csv_type)(EDDY_CSV_SKIP + 1) };

static const struct {
    const char        *text;
    eddy_csv_read_args a;
    const char        *table, *problem;
} options[] = {
    { "1,2\n3,4\n", { .no_header = true }, "0:int64 1 3|1:int64 2 4", NULL },
    { "\xef\xbb\xbf", { .no_header = true }, NULL, "the file has no row" },
    { "\xef\xbb\xbf"
      "1\n2\n",
      { .no_header = true },
      "0:int64 1 2",
      NULL },
    { "a;b\n1;2\n", { .separator = ';' }, "a:int64 1|b:int64 2", NULL },
    { "a\tb\n1\t\"2\"\t\n", { .separator = '\t' }, NULL, "more than 2 fields" },
    { "a,b\nNA,2\n", { .missing = NULL }, "a:int32 0|b:int64 2", NULL },
    { "a,b\n,-\n", { .missing = "-" }, "a:float64 nan|b:float64 nan", NULL },
    { "a,b\n,\n",
      { .types = ints, .n = 2, .integer_for_missing = -7 },
      "a:int64 -7|b:int64 -7",
      NULL },
    { "a,b\n1,2\n", { .types = ints, .n = 1 }, "a:int64 1|b:int64 2", NULL },
    { "a,b\nx,2\n", { .types = words, .n = 1 }, "a:int32 0|b:int64 2", NULL },
    { "a,b\n1,x\n", { .types = ints, .n = 2 }, NULL, "'x' is not an int64" },
    { "a,b\n1,1.5\n", { .types = ints, .n = 2 }, NULL, "'1.5' is not an int64" },
    { "a,b\n,\n", { .types = floats, .n = 2 }, "a:float32 nan|b:float64 nan", NULL },
    { "a,b\n1,2.5\n", { .types = floats, .n = 2 }, "a:float32 1|b:float64 2.5", NULL },
    { "a,b\nx,2\n", { .types = floats, .n = 2 }, NULL, "'x' is not a number" },
    { "a,b\n1x,2\n", { .types = floats, .n = 2 }, NULL, "'1x' is not a number" },
    { "a,b\n1,x\n", { .types = floats, .n = 2 }, NULL, "'x' is not a number" },
    { "a,b\n1,x\n2,y\n1,\n", { .types = words, .n = 2 }, "a:int32 0 1 0|b:none", NULL },
    { "a\n1\n", { .types = ints, .n = 2 }, NULL, "2 types for 1 columns" },
    { "a\n1\n", { .types = low, .n = 1 }, NULL, "-1 is not a type" },
    { "a\n1\n", { .types = high, .n = 1 }, NULL, "6 is not a type" },
    { "a\n1\n", { .types = ints, .n = -1 }, NULL, "a negative number" },
    { "a\n1\n", { .n = 1 }, NULL, "but no list of them is given" },
    { "a\n1\n", { .separator = '\n' }, NULL, "not a separator: 10" },
    { "a\n1\n", { .separator = '\r' }, NULL, "not a separator: 13" },
    { "a\n1\n", { .separator = '"' }, NULL, "not a separator: 34" },
    { "a\n1\n", { .integer_for_missing = 0x1p53 }, "a:int64 1", NULL },
    { "a\n1\n", { .integer_for_missing = -0x1p53 }, "a:int64 1", NULL },
    { "a\n1\n", { .integer_for_missing = 0x1p53 + 2 }, NULL, "expected an integer" },
    { "a\n1\n", { .integer_for_missing = -0x1p53 - 2 }, NULL, "expected an integer" },
    { "a\n1\n", { .integer_for_missing = 1.5 }, NULL, "expected an integer" },
    { "a\n1\n", { .integer_for_missing = NAN }, NULL, "expected an integer" },
    { "", { 0 }, NULL, "the file has no row" },
    { "a,b\n1\n", { 0 }, NULL, "row 0 has fewer than 2 fields" },
    { "a,b\n1,2\n1,2,3\n", { 0 }, NULL, "row 1 has more than 2 fields" },
    { "a,b\n\n1,2\n", { 0 }, NULL, "row 0 has fewer than 2 fields" },
    { "a,b\n1,\"2\n", { 0 }, NULL, "the quote does not end" },
    { "a,b\n1,\"2\"\"\n", { 0 }, NULL, "the quote does not end" },
    { "a,b\n1,\"2\"x\n", { 0 }, NULL, "text behind the end of a quote" },
    { "\"a", { 0 }, NULL, "the quote does not end" },
};

START_TEST(tables_with_options)
{
    char       text[500];
    eddy_error e;
    eddy_csv  *c = read_text(options[_i].text, strlen(options[_i].text), options[_i].a, &e);
    ck_assert_msg((c != NULL) == (options[_i].table != NULL), "%s", e.message);
    if (c) ck_assert_str_eq(table_text(c, text, sizeof text), options[_i].table);
    else ck_assert_msg(strstr(e.message, options[_i].problem), "%s", e.message);
    eddy_csv_free(c);
}
END_TEST

START_TEST(zero_bytes)
{
    static const struct { const char *text; size_t n; } cases[] = {
        { "a\n1\0\n", 5 }, { "a\n\"\0\"\n", 6 }, { "\0\n1\n", 4 }, { "a\n1\n\0", 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_error e;
        ck_assert_ptr_null(read_text(cases[i].text, cases[i].n, (eddy_csv_read_args){ 0 }, &e));
        ck_assert_msg(strstr(e.message, "a zero byte"), "%s", e.message);
    }
}
END_TEST

/* One more column than allowed, long fields, and more words than the first table has room for. */
START_TEST(sizes)
{
    enum { COLUMNS = 4096, WORDS = 1000, LONG = 5000 };
    char      *text = malloc(2 * COLUMNS + 10 + LONG + WORDS * 10), *at;
    eddy_error e;
    for (int n = COLUMNS; n <= COLUMNS + 1; n++) {
        memset(text, ',', (size_t)n - 1);
        eddy_csv *c = read_text(text, (size_t)n - 1, (eddy_csv_read_args){ 0 }, &e);
        ck_assert_int_eq(eddy_csv_columns(c), n == COLUMNS ? n : 0);
        ck_assert_int_eq(e.status, n == COLUMNS ? EDDY_OK : EDDY_LIMIT);
        eddy_csv_free(c);
    }
    at = text + sprintf(text, "a\n");
    memset(at, 'x', LONG);
    at += LONG;
    for (int i = 0; i < WORDS; i++) at += sprintf(at, "\nw%d", i);
    eddy_csv *c = read_text(text, (size_t)(at - text), (eddy_csv_read_args){ 0 }, &e);
    ck_assert_msg(c && eddy_csv_words(c, 0) == WORDS + 1, "%s", e.message);
    ck_assert_uint_eq(strlen(eddy_csv_word(c, 0, 0)), LONG);
    ck_assert_str_eq(eddy_csv_word(c, 0, WORDS), "w999");
    ck_assert(!eddy_csv_word(c, 0, WORDS + 1) && !eddy_csv_word(c, 0, -1));
    ck_assert(!eddy_csv_word(c, 1, 0) && !eddy_csv_word(NULL, 0, 0) && !eddy_csv_word(c, -1, 0));
    ck_assert(eddy_csv_words(c, 1) == 0 && !eddy_csv_name(c, 1) && !eddy_csv_array(c, 1));
    ck_assert(eddy_csv_rows(NULL) == 0 && eddy_csv_find(NULL, "a") == -1);
    ck_assert(eddy_csv_find(c, "a") == 0 && eddy_csv_find(c, "b") == -1);
    ck_assert(eddy_csv_find(c, NULL) == -1 && eddy_csv_rows(c) == WORDS + 1);
    eddy_csv_free(c);
    free(text);
}
END_TEST

Suite *csv_suite(void)
{
    Suite *s = suite_create("csv");
    TCase *t = tcase_create("csv");
    tcase_add_loop_test(t, tables, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(t, tables_with_options, 0, sizeof options / sizeof *options);
    tcase_add_test(t, zero_bytes);
    tcase_add_test(t, sizes);
    suite_add_tcase(s, t);
    return s;
}
