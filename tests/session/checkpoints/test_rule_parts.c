/* test_rule_parts.c -- what rules of checkpoints are made of: axes that are permuted, arrays that
 * are joined and divided, and elements of each type as those of each other. */
#include "session/checkpoints/internal.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include <check.h>
#include <math.h>
#include <string.h>

Suite *rule_parts_suite(void);

/* An array with the elements 0, 1, 2, ... */
static eddy_array *counted(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, (double)i);
    return a;
}

/* --------------------------------------------------------------------- axes -- */

static const struct { const char *text; bool good; } axes[] = {
    { "a -> a", true },
    { "a b -> b a", true },
    { "(a b) c -> c (b a)", true },
    { "1 a -> a 1", true },
    { "a->a", true },
    { "  a   ->   a  ", true },
    { " -> ", true },
    { "z _ -> _ z", true },
    { "a b c d e f g h -> (a b) c d e f g h", true },
    { "a b c d e f g h i -> a b c d e f g h i", false },        /* 9 axes */
    { "(a b c d e f g h i j k l) -> (a b c d e f g h i j k l)", true },
    { "(a b c d e f g h i j k l m) -> (a b c d e f g h i j k l m)", false },
    { "(1 1 1 1 1 1 1 1 1 1 1 a) -> a", true },
    { "(1 1 1 1 1 1 1 1 1 1 1 1 a) -> a", false },
    { "a", false },
    { "a - a", false },
    { "a -> b", false },
    { "a b -> a", false },
    { "a -> a b", false },
    { "a a -> a a", false },
    { "a -> a -> a", false },
    { "A -> A", false },
    { "a{ -> a{", false },
    { "a` -> a`", false },
    { "2 -> 2", false },
    { "(a -> a", false },
    { "a) -> a", false },
    { "() -> ", false },
};

START_TEST(parsing)
{
    axes_map m;
    ck_assert_msg(eddy__axes_parse(axes[_i].text, &m) == axes[_i].good, "%s", axes[_i].text);
}
END_TEST

/* Shapes of up to four axes; a rank of -1 is unknown, a result of rank -1 refused. */
static const struct {
    const char *text;
    bool        to_entry;
    int         heads;                   /* -1: INT64_MAX */
    eddy_shape  x, wanted, y;
} applied[] = {
#define ANY   { .rank = EDDY_UNKNOWN_RANK }
#define S(r, ...) { .rank = r, .dim = { __VA_ARGS__ } }
#define HUGE  ((int64_t)1 << 47)
    { "a b -> b a", true, 0, S(2, 2, 3), ANY, S(2, 3, 2) },
    { "a b -> b a", false, 0, S(2, 2, 3), ANY, S(2, 3, 2) },
    { "a b -> b a", true, 0, S(2, 2, 0), ANY, S(2, 0, 2) },
    { "a b -> b a", true, 0, S(2, 1, 1), ANY, S(2, 1, 1) },
    { "a b c -> c a b", true, 0, S(3, 0, 2, 3), ANY, S(3, 3, 0, 2) },
    { "a b -> b a", true, 0, S(2, 2, 3), S(2, 3, -1), S(2, 3, 2) },
    { "a b -> b a", true, 0, S(2, 2, 3), S(2, 4, 2), ANY },
    { "a b -> b a", true, 0, S(2, 2, 3), S(1, 6), ANY },
    { "a b -> b a", true, 0, S(1, 6), ANY, ANY },
    { "(a b) -> a b", true, 0, S(1, 6), ANY, ANY },
    { "(a b) -> a b", true, 0, S(1, 6), S(2, 2, -1), S(2, 2, 3) },
    { "(a b) -> a b", true, 0, S(1, 6), S(2, -1, 2), S(2, 3, 2) },
    { "(a b) -> a b", true, 0, S(1, 6), S(2, 4, -1), ANY },
    { "(a b) -> a b", true, 0, S(1, 6), S(2, 2, 2), ANY },
    { "(a b) -> a b", true, 0, S(1, 0), S(2, 0, 5), S(2, 0, 5) },
    { "(a b) c -> a c b", true, 0, S(2, 0, HUGE), S(3, HUGE, -1, 0), ANY },
    { "(heads a) c -> (heads c) a", true, -1, S(2, 0, 2), ANY, ANY },
    { "(lanes d) e -> lanes (d e)", true, 2, S(2, 6, 5), ANY, ANY },
    { "(a b) -> a b", true, 0, S(1, 6), S(2, 0, 5), ANY },
    { "(a b) -> a b", true, 0, S(1, 6), S(2, 0, 3), ANY },
    { "(heads d) e -> heads (d e)", true, 2, S(2, 6, 5), ANY, S(2, 2, 15) },
    { "(heads d) e -> heads (d e)", true, 1, S(2, 6, 5), ANY, S(2, 1, 30) },
    { "(heads d) e -> heads (d e)", true, 4, S(2, 6, 5), ANY, ANY },
    { "(heads d) e -> heads (d e)", true, 0, S(2, 6, 5), ANY, ANY },
    { "(heads d) e -> heads (d e)", false, 0, S(2, 2, 15), S(2, 6, -1), S(2, 6, 5) },
    { "(a b) c -> (c a) b", true, 0, S(2, 6, 2), S(2, -1, 3), S(2, 4, 3) },
    { "(a b) c -> b (c a)", false, 0, S(2, 3, 4), S(2, 6, 2), S(2, 6, 2) },
    { "a b c -> c b a", true, 0, S(3, 2, 2, 3), ANY, S(3, 3, 2, 2) },
    { "a b c d -> a c b d", true, 0, S(4, 2, 2, 3, 2), ANY, S(4, 2, 3, 2, 2) },
    { "a b c d -> d a c b", true, 0, S(4, 2, 2, 2, 3), ANY, S(4, 3, 2, 2, 2) },
    { "a b c -> a c b", true, 0, S(3, 1, 2, 3), ANY, S(3, 1, 3, 2) },
    { "1 a -> a", true, 0, S(2, 1, 3), ANY, S(1, 3) },
    { "(1 1 1 1 1 1 1 1 1 1 1 a) -> a", true, 0, S(1, 3), ANY, S(1, 3) },
    { "1 a -> a", false, 0, S(1, 3), ANY, S(2, 1, 3) },
    { "1 a -> a", true, 0, S(2, 2, 3), ANY, ANY },
    { "a -> a 1 1", true, 0, S(1, 3), ANY, S(3, 3, 1, 1) },
    { " -> 1", true, 0, S(0, 0), ANY, S(1, 1) },
    { " -> ", true, 0, S(0, 0), ANY, S(0, 0) },
};

START_TEST(applying)
{
    axes_map    m;
    eddy_error  e = { 0 };
    eddy_array *x = counted(EDDY_FLOAT32, applied[_i].x);
    ck_assert(eddy__axes_parse(applied[_i].text, &m));
    const int64_t heads = applied[_i].heads < 0 ? INT64_MAX : applied[_i].heads;
    eddy_array   *y = eddy__axes_apply(&eddy__libc, &m, applied[_i].to_entry, heads, x,
                                       applied[_i].wanted, "x", &e);
    if (applied[_i].y.rank < 0) {
        ck_assert_ptr_null(y);
        ck_assert_msg(e.status == EDDY_BAD_SHAPE && strstr(e.message, "does not fit the axes"),
                      "%s", e.message);
    } else {
        ck_assert_msg(y && eddy_shape_equal(eddy_array_shape(y), applied[_i].y), "%s", e.message);
        double sum = 0;
        for (int64_t i = 0; i < eddy_array_count(y); i++) sum += eddy_array_get(y, i);
        const double n = (double)eddy_array_count(x);
        ck_assert(sum == n * (n - 1) / 2);
    }
    eddy_array_free(x);
    eddy_array_free(y);
}
END_TEST

/* Where each element goes, and which axes are groups. */
START_TEST(answers)
{
    golden_begin("session/rule_axes");
    for (size_t i = 0; i < sizeof applied / sizeof *applied; i++) {
        axes_map    m;
        eddy_error  e = { 0 };
        char        line[600];
        eddy_array *x = counted(EDDY_FLOAT32, applied[i].x);
        ck_assert(eddy__axes_parse(applied[i].text, &m));
        eddy_array *y = eddy__axes_apply(&eddy__libc, &m, applied[i].to_entry,
                                         applied[i].heads < 0 ? INT64_MAX : applied[i].heads, x,
                                         applied[i].wanted, "x", &e);
        snprintf(line, sizeof line, "%s of ", applied[i].text);
        answer_add_array(line, sizeof line, x);
        answer_add(line, sizeof line, ": %s", e.message);
        if (y) answer_add_array(line, sizeof line, y);
        golden_line(line);
        eddy_array_free(x);
        eddy_array_free(y);
    }
    golden_end();
}
END_TEST

/* Each element, of each size and beyond the edge of a tile, is where it belongs. */
START_TEST(permuting)
{
    static const eddy_dtype types[] = { EDDY_UINT8, EDDY_FLOAT16, EDDY_FLOAT32, EDDY_FLOAT64,
                                        EDDY_COMPLEX128 };
    axes_map m;
    ck_assert(eddy__axes_parse("a b c -> c a b", &m));
    for (int t = 0; t < 5; t++)
        for (int n = 1; n <= 33; n += 16) {
            eddy_error  e = { 0 };
            eddy_array *x = counted(types[t], EDDY_SHAPE(2, 3, n)),
                       *y = eddy__axes_apply(&eddy__libc, &m, true, 0, x, eddy_shape_unknown(), "x",
                                             &e);
            ck_assert_msg(y != NULL, "%s", e.message);
            for (int i = 0; i < 6; i++)
                for (int k = 0; k < n; k++)
                    ck_assert(eddy_array_get(y, k * 6 + i) == eddy_array_get(x, i * n + k));
            eddy_array_free(x);
            eddy_array_free(y);
        }
}
END_TEST

/* -------------------------------------------------------------------- casts -- */

static const eddy_dtype dtypes[] = { EDDY_FLOAT64, EDDY_FLOAT32, EDDY_FLOAT16, EDDY_BFLOAT16,
                                     EDDY_INT64, EDDY_INT32, EDDY_UINT8 };
enum { DTYPES = 7, FLOATS = 4, LONG = 1025 };

/* Numbers that all types hold, in more than one part. */
START_TEST(casts)
{
    for (int to = 0; to < DTYPES; to++) {
        if (_i < FLOATS && to >= FLOATS) continue;
        eddy_error  e = { 0 };
        eddy_array *x = eddy_array_new(dtypes[_i], EDDY_SHAPE(LONG));
        for (int i = 0; i < LONG; i++) eddy_array_set(x, i, i % 100);
        eddy_array *y = eddy__cast_array(&eddy__libc, x, dtypes[to], "x", &e);
        ck_assert_msg(y && eddy_array_dtype(y) == dtypes[to], "%s", e.message);
        for (int i = 0; i < LONG; i++) ck_assert(eddy_array_get(y, i) == i % 100);
        eddy_array_free(x);
        eddy_array_free(y);
    }
}
END_TEST

static const struct { double v; eddy_dtype to; bool fits; } borders[] = {
    { 255, EDDY_UINT8, true }, { 256, EDDY_UINT8, false }, { 0, EDDY_UINT8, true },
    { -1, EDDY_UINT8, false }, { 2147483647, EDDY_INT32, true }, { 2147483648, EDDY_INT32, false },
    { -2147483648.0, EDDY_INT32, true }, { -2147483649.0, EDDY_INT32, false },
};

/* The number is the last of three in the second part. */
START_TEST(outside)
{
    eddy_error  e = { 0 };
    eddy_array *x = eddy_array_new(EDDY_INT64, EDDY_SHAPE(LONG));
    eddy_array_set(x, LONG - 1, borders[_i].v);
    eddy_array *y = eddy__cast_array(&eddy__libc, x, borders[_i].to, "x", &e);
    ck_assert_msg((y != NULL) == borders[_i].fits, "%s", e.message);
    if (!y) ck_assert_int_eq(e.status, EDDY_OUT_OF_RANGE);
    if (!y) ck_assert_ptr_nonnull(strstr(e.message, "as element 1024"));
    eddy_array_free(x);
    eddy_array_free(y);
}
END_TEST

START_TEST(complex_casts)
{
    for (int rank = 0; rank <= EDDY_MAX_RANK; rank += 4) {
        eddy_error  e = { 0 };
        eddy_shape  s = { .rank = rank };
        for (int i = 0; i < rank; i++) s.dim[i] = 1;
        eddy_array *x = eddy_array_new(EDDY_COMPLEX64, s);
        eddy_array_set_complex(x, 0, 1.5, -2);
        eddy_array *y = eddy__cast_array(&eddy__libc, x, EDDY_COMPLEX128, "x", &e),
                   *z = eddy__cast_array(&eddy__libc, y, EDDY_COMPLEX64, "x", &e);
        ck_assert(y && eddy_array_get(y, 0) == 1.5 && eddy_array_get_imag(y, 0) == -2);
        ck_assert(eddy_shape_equal(eddy_array_shape(y), s) && eddy_array_equal(x, z));
        eddy_array_free(x);
        eddy_array_free(y);
        eddy_array_free(z);
    }
}
END_TEST

START_TEST(casting)
{
    static const struct { eddy_dtype from, to; bool none, exact, any; } rows[] = {
        { EDDY_FLOAT32, EDDY_FLOAT32, true, true, true },
        { EDDY_FLOAT32, EDDY_FLOAT64, false, true, true },
        { EDDY_FLOAT64, EDDY_FLOAT32, false, false, true },
        { EDDY_FLOAT16, EDDY_FLOAT32, false, true, true },
        { EDDY_BFLOAT16, EDDY_FLOAT32, false, true, true },
        { EDDY_FLOAT16, EDDY_BFLOAT16, false, false, true },
        { EDDY_UINT8, EDDY_INT32, false, true, true },
        { EDDY_INT64, EDDY_UINT8, false, true, true },
        { EDDY_INT32, EDDY_FLOAT32, false, false, true },
        { EDDY_FLOAT32, EDDY_INT32, false, false, false },
        { EDDY_BOOL, EDDY_INT32, false, false, false },
        { EDDY_BOOL, EDDY_FLOAT32, false, false, false },
        { EDDY_FLOAT32, EDDY_BOOL, false, false, false },
        { EDDY_INT32, EDDY_FLOAT64, false, false, true },
        { EDDY_COMPLEX64, EDDY_COMPLEX128, false, true, true },
        { EDDY_COMPLEX128, EDDY_COMPLEX64, false, false, true },
        { EDDY_COMPLEX64, EDDY_FLOAT32, false, false, false },
        { EDDY_FLOAT32, EDDY_COMPLEX64, false, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert(eddy__may_cast(rows[i].from, rows[i].to, EDDY_CAST_NONE) == rows[i].none);
        ck_assert_msg(eddy__may_cast(rows[i].from, rows[i].to, EDDY_CAST_EXACT) == rows[i].exact,
                      "row %zu", i);
        ck_assert_msg(eddy__may_cast(rows[i].from, rows[i].to, EDDY_CAST_ANY) == rows[i].any,
                      "row %zu", i);
    }
}
END_TEST

/* --------------------------------------------------------- pieces and sums -- */

START_TEST(slices)
{
    static const struct { int axis, begin, size; bool good; } rows[] = {
        { 1, 0, 5, true }, { 1, 2, 3, true }, { -1, 1, 1, true }, { -2, 2, 1, true },
        { 1, 5, 0, true }, { 1, 3, 3, false }, { 1, 0, 6, false }, { 1, -1, 2, false },
        { 1, 0, -1, false }, { 2, 0, 1, false }, { -3, 0, 1, false },
    };
    eddy_array *x = counted(EDDY_INT32, EDDY_SHAPE(3, 5));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy_error  e = { 0 };
        eddy_array *y = eddy__slice_array(&eddy__libc, x, rows[i].axis, rows[i].begin, rows[i].size,
                                          "x", &e);
        ck_assert_msg((y != NULL) == rows[i].good, "row %zu: %s", i, e.message);
        const int  axis = rows[i].axis < 0 ? rows[i].axis + 2 : rows[i].axis;
        const int  columns = axis == 1 ? rows[i].size : 5;
        for (int k = 0; k < eddy_array_count(y); k++) {
            const int row = k / columns + (axis == 0 ? rows[i].begin : 0),
                      column = k % columns + (axis == 1 ? rows[i].begin : 0);
            ck_assert(eddy_array_get(y, k) == row * 5 + column);
        }
        eddy_array_free(y);
    }
    eddy_array_free(x);
}
END_TEST

START_TEST(joins)
{
    eddy_array *a = counted(EDDY_INT32, EDDY_SHAPE(2, 3)),
               *b = counted(EDDY_INT32, EDDY_SHAPE(2, 1)),
               *c = counted(EDDY_INT64, EDDY_SHAPE(2, 1)), *d = counted(EDDY_INT32, EDDY_SHAPE(2)),
               *f = counted(EDDY_INT32, EDDY_SHAPE(3, 1));
    const struct { eddy_array *with; int axis; bool good; } rows[] = {
        { b, 1, true }, { b, -1, true }, { a, 0, true }, { a, -2, true }, { b, 0, false },
        { c, 1, false }, { d, 1, false }, { f, 1, false }, { b, 2, false }, { b, -3, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy_error        e = { 0 };
        eddy_array *const x[] = { a, rows[i].with };
        eddy_array       *y = eddy__join_arrays(&eddy__libc, 2, x, rows[i].axis, "x", &e);
        ck_assert_msg((y != NULL) == rows[i].good, "row %zu: %s", i, e.message);
        ck_assert(y || e.status == EDDY_BAD_SHAPE);
        if (i < 2) ck_assert(eddy_array_count(y) == 8 && eddy_array_get(y, 3) == 0 &&
                             eddy_array_get(y, 4) == 3 && eddy_array_get(y, 7) == 1);
        if (i == 2) ck_assert(eddy_array_count(y) == 12 && eddy_array_get(y, 11) == 5);
        eddy_array_free(y);
    }
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_array_free(c);
    eddy_array_free(d);
    eddy_array_free(f);
}
END_TEST

START_TEST(sums)
{
    for (int t = 0; t < FLOATS; t++) {
        eddy_array *x = eddy_array_new(dtypes[t], EDDY_SHAPE(2 * LONG)),
                   *y = eddy_array_new(dtypes[t], EDDY_SHAPE(2 * LONG));
        for (int i = 0; i < 2 * LONG; i++) eddy_array_set(x, i, i % 10);
        eddy__add_array(y, x);
        eddy__add_number(y, 1, 2 * LONG - 2, 2);
        for (int i = 0; i < 2 * LONG; i++)
            ck_assert(eddy_array_get(y, i) == i % 10 + (i > 0 && i < 2 * LONG - 1 ? 2 : 0));
        eddy_array_free(x);
        eddy_array_free(y);
    }
}
END_TEST

/* ------------------------------------------------------------------ indexes -- */

#define MAP(text) "{\"weight_map\":{" text "}}"

static const struct { const char *text, *problem; int count; } indexes[] = {
    { MAP("\"a\":\"f\""), "", 1 },
    { MAP("\"a\":\"f\",\"b\":\"g/h.x\""), "", 2 },
    { MAP(""), "", 0 },
    { "{\"metadata\":{\"total_size\":7},\"weight_map\":{\"a\":\"f\"},\"x\":[1,{}]}", "", 1 },
    { "{}", "no weight_map", 0 },
    { "{\"metadata\":{}}", "no weight_map", 0 },
    { "{\"weight_maps\":{}}", "no weight_map", 0 },
    { "{\"weight_map\":{},\"weight_map\":{}}", "weight_map appears twice", 0 },
    { "", "expected '{'", 0 },
    { "[]", "expected '{'", 0 },
    { "{7}", "expected '\"'", 0 },
    { "{\"a\" 7}", "expected ':'", 0 },
    { "{\"a\":}", "expected a value", 0 },
    { "{\"a\":7 8}", "expected ','", 0 },
    { "{\"a\":7", "expected ','", 0 },
    { "{\"a\":", "expected a value", 0 },
    { "{\"a\":{7}}", "expected '\"'", 0 },
    { "{\"a\":{\"b\" 7}}", "expected ':'", 0 },
    { "{\"a\":1E5,\"weight_map\":{}}", "", 0 },
    { "{\"a\":~}", "expected a value", 0 },
    { MAP("\"a\":7"), "expected '\"'", 0 },
    { MAP("7"), "expected '\"'", 0 },
    { MAP("\"a\" \"f\""), "expected ':'", 0 },
    { MAP("\"a\":\"\""), "", -1 },
    { MAP("\"a\":\".\""), "", -1 },
    { MAP("\"a\":\"..\""), "", -1 },
    { MAP("\"a\":\"../f\""), "", -1 },
    { MAP("\"a\":\"g/../f\""), "", -1 },
    { MAP("\"a\":\"g//f\""), "", -1 },
    { MAP("\"a\":\"/f\""), "", -1 },
    { MAP("\"a\":\"f/\""), "", -1 },
    { MAP("\"a\":\"f\\u0000g\""), "", -1 },
    { MAP("\"a\":\"..f\""), "", 1 },
    { MAP("\"a\":\".f\""), "", 1 },
    { MAP("\"a\":\"f..\""), "", 1 },
    { MAP("\"a\":\"ab/f\""), "", 1 },
};

START_TEST(index_files)
{
    memory_files m;
    shard_index  x;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "i", indexes[_i].text, strlen(indexes[_i].text));
    const bool ok = eddy__shard_index_read(&x, &m.table, &eddy__libc, "i", &e);
    ck_assert_msg(ok == (!indexes[_i].problem[0] && indexes[_i].count >= 0), "%s: %s",
                  indexes[_i].text, e.message);
    ck_assert_msg(strstr(e.message, indexes[_i].problem), "%s", e.message);
    if (ok) ck_assert_int_eq(x.count, indexes[_i].count);
    eddy__shard_index_free(&x);
    memory_files_free(&m);
}
END_TEST

static void read_index(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    shard_index  x;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "i", file, size);
    eddy__shard_index_read(&x, &m.table, &eddy__libc, "i", &e);
    answer_add(answer, room, "%d entries%s", x.count, e.message);
    for (int i = 0; i < x.count; i++)
        answer_add(answer, room, "; %s in %s at %zu", x.entries[i].name, x.entries[i].file,
                   x.entries[i].offset);
    eddy__shard_index_free(&x);
    memory_files_free(&m);
}

START_TEST(changed_index)
{
    static const char file[] = "{ \"metadata\":{\"n\":-1.09E3,\"t\":[za,{ }]},\n\"weight_map\" : "
                               "{\"b\":\"g/x.y\", \"a\\u0041\" : \"f\"}}\n";
    ck_assert(!eddy__is_index(".json") && eddy__is_index("a.json") && !eddy__is_index("a.jsoo"));
    golden_begin("session/changed_index");
    changed_bytes("index", file, sizeof file - 1, read_index);
    golden_end();
}
END_TEST

/* -------------------------------------------------------------------- names -- */

/* A rule for a variable of the graph, a name of a scope, and what is then the entry. */
static const struct {
    const char *variable, *entry, *scope, *name, *separator, *of;
} names[] = {
    { "w", "x", NULL, NULL, NULL, "w" },
    { "w", "x", NULL, NULL, NULL, "w2" },
    { "w", "x", NULL, NULL, NULL, "v" },
    { "*/w", "x.*", NULL, NULL, NULL, "a/w" },
    { "*/w", "x.*", NULL, NULL, NULL, "a/b/w" },
    { "a*c/w", "*", NULL, NULL, NULL, "abc/w" },
    { "a*c/w", "*x", NULL, NULL, NULL, "ac/w" },
    { "a*b", "*", NULL, NULL, NULL, "a/b" },
    { "a*b", "*", NULL, NULL, NULL, "ac/b" },
    { "a*c*/w", "*.*", NULL, NULL, NULL, "acbcd/w" },
    { "*_*", "*.*", NULL, NULL, NULL, "a_b_c" },
    { "*", "*.*", NULL, NULL, NULL, "a" },
    { "**/w", "**.x", NULL, NULL, ".", "a/b/w" },
    { "**/w", "**.x", NULL, NULL, ".", "w" },
    { "**/w", "**/x", NULL, NULL, NULL, "w" },
    { "**/w", "**_x", NULL, NULL, NULL, "w" },
    { "**/w", "**.x", NULL, NULL, ".", "aw" },
    { "**w", "**.x", NULL, NULL, ".", "a/w" },
    { "**/w/**", "**.x.**", NULL, NULL, ".", "a/w/w/b" },
    { "**/*/w", "*.**", NULL, NULL, ".", "a/w" },
    { "**/*/w", "**.*", NULL, NULL, ".", "a/b/c/w" },
    { "**/w", "**.x", "b", "c", ".", "a/b/w" },
    { "**/w", "**.x", "b", "c", ".", "b/a/w" },
    { "**/w", "**.x", "b", "", ".", "b/a/w" },
    { "**/w", "**.x", "b", "", ".", "b/w" },
    { "**/w", "**.x", "a/b", "c", ".", "a/b/a/w" },
    { "**/w", "**.x", "a/b", "c", ".", "b/a/b/w" },
    { "**/w", "**.x", "block_*", "layers.*", ".", "block_12/a/w" },
    { "**/w", "**.x", "block_*", "layers.*.*", ".", "block_12/a/w" },
    { "**/w", "**.x", "a*/b*", "*c*", ".", "a1/b2/a3/w" },
    /* The second star fails where 130 characters are left and fits where 66 are. */
    { "**x*y", "**.*", NULL, NULL, NULL,
      "xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"
      "xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaay" },
    { "*/*/*/*/*/*/*/*", "*********", NULL, NULL, NULL, "a/b/c/d/e/f/g/h" },
    { "*/*/*/*/*/*/*/*", "********", NULL, NULL, NULL, "a/b/c/d/e/f/g/h" },
    { "*/*/*/*/*/*/*/*/*", "*", NULL, NULL, NULL, "a/b/c/d/e/f/g/h/i" },
};

START_TEST(names_of_entries)
{
    golden_begin("session/rule_names");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const eddy_checkpoint_rule  rule = { .variables = { names[i].variable },
                                             .entries = { names[i].entry } };
        const eddy_checkpoint_scope scope = { names[i].scope, names[i].name };
        const eddy_checkpoint_map   map = { .rules = &rule, .n_rules = 1, .scopes = &scope,
                                            .n_scopes = 1, .separator = names[i].separator };
        eddy_graph *g = eddy_graph_new();
        eddy_arena  texts = { .allocator = &eddy__libc };
        rule_match  m;
        eddy_error  e = { 0 };
        char        line[1300];
        eddy_variable(g, .initial_value = eddy_scalar(g, 0), .name = names[i].of);
        const bool ok = eddy__match_rule(&map, g, names[i].of, EDDY_SCALAR, &texts, &m, &e);
        snprintf(line, sizeof line, "%s by '%s' to '%s' is %s%s", names[i].of, names[i].variable,
                 names[i].entry, ok ? m.entries[0] : e.message,
                 ok && !m.map ? " without a rule" : "");
        golden_line(line);
        eddy__arena_free(&texts);
        eddy_graph_free(g);
    }
    golden_end();
}
END_TEST

/* The 100th map of a list counts, and no map after it. */
START_TEST(lists_of_maps)
{
    enum { MAPS = 101 };
    const eddy_checkpoint_rule rule = { .variables = { "w" }, .entries = { "x" } };
    for (int at = MAPS - 2; at < MAPS; at++) {
        eddy_checkpoint_map maps[MAPS] = { { .rules = NULL } };
        eddy_graph         *g = eddy_graph_new();
        eddy_arena          texts = { .allocator = &eddy__libc };
        eddy_error          e = { 0 };
        rule_match          m;
        for (int i = 0; i + 1 < MAPS; i++) maps[i].then = &maps[i + 1];
        maps[at].rules = &rule;
        maps[at].n_rules = 1;
        ck_assert(eddy__match_rule(maps, g, "w", EDDY_SCALAR, &texts, &m, &e));
        ck_assert_str_eq(m.entries[0], at == 99 ? "x" : "w");
        eddy__arena_free(&texts);
        eddy_graph_free(g);
    }
}
END_TEST

/* Each entry and each text is found by its name, and no other. */
START_TEST(found_by_name)
{
    static const char header[] =
        "{\"__metadata__\":{\"b\":\"1\",\"d\":\"2\",\"f\":\"3\",\"h\":\"4\",\"j\":\"5\"},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},"
        "\"d\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[1,2]},"
        "\"f\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[2,3]},"
        "\"h\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[3,4]},"
        "\"j\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[4,5]}}12345";
    memory_files   files;
    eddy_error     e = { 0 };
    char           file[600];
    const uint64_t size = sizeof header - 1 - 5;
    memcpy(file, &size, 8);
    memcpy(file + 8, header, sizeof header);
    memory_files_init(&files);
    memory_files_put(&files, "f", file, 8 + sizeof header - 1);
    eddy_checkpoint *c = eddy_checkpoint_open("f", .files = &files.table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    for (int i = 0; i < 11; i++) {
        const char  name[2] = { (char)('a' + i), 0 };
        const char *text = eddy_checkpoint_text(c, name);
        ck_assert((text != NULL) == (i % 2 == 1));
        ck_assert(!text || (text[0] == '1' + i / 2 && !text[1]));
        ck_assert_int_eq(eddy_checkpoint_find(c, name), i % 2 ? i / 2 : -1);
    }
    ck_assert(!eddy_checkpoint_text(c, NULL) && !eddy_checkpoint_text(NULL, "b"));
    ck_assert_int_eq(eddy_checkpoint_metadata_count(c), 5);
    ck_assert_str_eq(eddy_checkpoint_metadata_at(c, 0).key, "b");
    ck_assert_str_eq(eddy_checkpoint_metadata_at(c, 4).key, "j");
    ck_assert(!eddy_checkpoint_metadata_at(c, 5).key && !eddy_checkpoint_metadata_at(c, -1).key);
    ck_assert(!eddy_checkpoint_entry_at(c, 5).name && !eddy_checkpoint_entry_at(c, -1).name);
    ck_assert_int_eq(eddy_checkpoint_find(NULL, "b"), -1);
    eddy_checkpoint_free(c);
    memory_files_free(&files);
}
END_TEST

Suite *rule_parts_suite(void)
{
    Suite *s = suite_create("rule_parts");
    TCase *t = tcase_create("parts");
    tcase_add_loop_test(t, parsing, 0, sizeof axes / sizeof *axes);
    tcase_add_loop_test(t, applying, 0, sizeof applied / sizeof *applied);
    tcase_add_test(t, answers);
    tcase_add_test(t, permuting);
    tcase_add_loop_test(t, casts, 0, DTYPES);
    tcase_add_loop_test(t, outside, 0, sizeof borders / sizeof *borders);
    tcase_add_test(t, complex_casts);
    tcase_add_test(t, casting);
    tcase_add_test(t, slices);
    tcase_add_test(t, joins);
    tcase_add_test(t, sums);
    tcase_add_loop_test(t, index_files, 0, sizeof indexes / sizeof *indexes);
    tcase_add_test(t, changed_index);
    tcase_add_test(t, names_of_entries);
    tcase_add_test(t, lists_of_maps);
    tcase_add_test(t, found_by_name);
    suite_add_tcase(s, t);
    return s;
}
