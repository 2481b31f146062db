/* test_shapes.c -- shapes against their definitions, for all pairs of small shapes; limits; texts
 * in buffers of every size. */
#include "graph/base/base.h"
#include "graph/base/text.h"
#include "tests/lib/checks.h"

Suite *shapes_suite(void);

/* All shapes up to rank 3 of these sizes, the unknown shape, and one of too many dimensions. */
enum { SIZES = 4, SHAPES = 1 + 1 + 4 + 16 + 64 + 1 };
static eddy_shape all[SHAPES];

static void begin(void)
{
    static const int64_t sizes[SIZES] = { EDDY_ANY, 0, 1, 3 };
    int n = 0;
    all[n++] = EDDY_UNKNOWN_SHAPE;
    for (int rank = 0, count = 1; rank <= 3; rank++, count *= SIZES)
        for (int i = 0; i < count; i++) {
            all[n].rank = rank;
            for (int d = 0, rest = i; d < rank; d++, rest /= SIZES)
                all[n].dim[d] = sizes[rest % SIZES];
            n++;
        }
    all[n++] = (eddy_shape){ .rank = EDDY_MAX_RANK + 1 };
    ck_assert_int_eq(n, SHAPES);
}

/* The size of axis `end` from the last one, 1 in front of all. */
static int64_t from_end(const eddy_shape *s, int end)
{
    return end < s->rank ? s->dim[s->rank - 1 - end] : 1;
}

/* NumPy's rule: equal, or one of them is 1. Of an unknown size and another, the other; 1 may be
 * any size. */
static bool both(int64_t a, int64_t b, int64_t *y)
{
    *y = a == 1 ? b : b == 1 ? a : a == EDDY_ANY ? b : a;
    return a == b || a == 1 || b == 1 || a == EDDY_ANY || b == EDDY_ANY;
}

static bool too_many(const eddy_shape *s) { return s->rank > EDDY_MAX_RANK; }

static void check_broadcast(const eddy_shape *a, const eddy_shape *b)
{
    eddy_shape y = EDDY_SHAPE(7, 7), want = { .rank = a->rank > b->rank ? a->rank : b->rank };
    bool       fits = !too_many(a) && !too_many(b);
    for (int end = 0; end < want.rank && end < 3 && fits; end++)
        fits = both(from_end(a, end), from_end(b, end), &want.dim[want.rank - 1 - end]);
    if (a->rank < 0 || b->rank < 0) want = EDDY_UNKNOWN_SHAPE, fits = !too_many(a) && !too_many(b);
    ck_assert(eddy_shape_broadcast(*a, *b, NULL) == fits);
    ck_assert(eddy_shape_broadcast(*a, *b, &y) == fits);
    ck_assert(eddy_shape_equal(y, fits ? want : EDDY_SHAPE(7, 7)));
}

START_TEST(pairs)
{
    const eddy_shape *a = &all[_i];
    for (const eddy_shape *b = all; b < all + SHAPES; b++) {
        bool equal = a->rank == b->rank && !too_many(a), compatible = equal;
        for (int d = 0; equal && d < a->rank; d++) equal = a->dim[d] == b->dim[d];
        for (int d = 0; compatible && d < a->rank; d++)
            compatible = a->dim[d] == b->dim[d] || a->dim[d] == EDDY_ANY || b->dim[d] == EDDY_ANY;
        if (a->rank < 0 || b->rank < 0) compatible = !too_many(a) && !too_many(b);
        ck_assert(eddy_shape_equal(*a, *b) == equal);
        ck_assert(eddy_shape_compatible(*a, *b) == compatible);
        check_broadcast(a, b);
    }
}
END_TEST

START_TEST(one)
{
    const eddy_shape *s = &all[_i];
    bool    known = s->rank >= 0 && !too_many(s);
    int64_t count = 1;
    for (int d = 0; known && d < s->rank; d++) known = s->dim[d] >= 0, count *= s->dim[d];
    ck_assert(eddy_shape_is_known(*s) == known);
    ck_assert(eddy_shape_is_valid(*s) == !too_many(s));
    ck_assert_int_eq(eddy_shape_count(*s), known ? count : -1);
}
END_TEST

START_TEST(sizes)
{
    size_t n = 7;
    ck_assert(!eddy__size_mul(SIZE_MAX, 2, &n) && !eddy__size_mul(SIZE_MAX / 2 + 1, 2, &n));
    ck_assert(!eddy__size_add(SIZE_MAX, 1, &n) && n == 7);
    ck_assert(eddy__size_mul(SIZE_MAX / 2, 2, &n) && n == SIZE_MAX - 1);
    ck_assert(eddy__size_add(n, 1, &n) && n == SIZE_MAX);
}
END_TEST

/* Memory and text of more bytes than a size can count. */
START_TEST(too_many_bytes)
{
    eddy_text t = { .allocator = &eddy__libc };
    ck_assert_ptr_null(eddy__allocate_zeroed(&eddy__libc, SIZE_MAX, 2));
    eddy__text_add(&t, "ab", 2);
    ck_assert(!t.failed && t.length == 2);
    eddy__text_add(&t, "", SIZE_MAX - 1);
    ck_assert(t.failed && t.length == 2);
    ck_assert_ptr_null(eddy__text_string(&t));
}
END_TEST

START_TEST(limits)
{
    const int64_t  most = (int64_t)1 << 48;
    const struct { eddy_shape s; bool valid; } rows[] = {
        { { -2, { 0 } }, false }, { { 8, { 1, 1, 1, 1, 1, 1, 1, 1 } }, true },
        { { 9, { 0 } }, false }, { { 1, { -2 } }, false }, { { 1, { most } }, true },
        { { 1, { most + 1 } }, false }, { { 2, { most, 1 } }, true }, { { 2, { 1, most } }, true },
        { { 2, { most, 2 } }, false }, { { 2, { 1 << 24, 1 << 24 } }, true },
        { { 2, { 1 << 24, (1 << 24) + 1 } }, false }, { { 2, { 0, most } }, true },
        { { 3, { 0, most, 2 } }, false }, { { 3, { EDDY_ANY, most, EDDY_ANY } }, true },
        { { 3, { 1 << 16, 1 << 16, 1 << 16 } }, true },
        { { 3, { 1 << 16, 1 << 16, 65537 } }, false },
        { { 3, { 1 << 16, EDDY_ANY, 0 } }, true }, { { 2, { most, EDDY_ANY } }, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(eddy_shape_is_valid(rows[i].s) == rows[i].valid, "row %zu", i);
    int64_t dims[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    const eddy_shape eight = eddy_shape_of_dims(dims, 8);
    ck_assert_int_eq(eight.rank, 8);
    for (int d = 0; d < 8; d++) ck_assert_int_eq(eight.dim[d], d + 1);
    ck_assert_int_eq(eddy_shape_of_dims(dims, 9).rank, 9);
    ck_assert_int_eq(eddy_shape_of_dims(dims, 10).rank, 9);
    ck_assert_int_eq(eddy_shape_of_dims(dims, 1).dim[0], 1);
    ck_assert_int_eq(eddy_shape_of_dims(NULL, 0).rank, 0);
    ck_assert(!eddy_shape_is_valid(eddy_shape_of_dims(NULL, 1)));
}
END_TEST

/* A buffer of any size holds the beginning of the text and its end mark, and nothing behind. */
static void check_text(eddy_type t, const char *want)
{
    char       text[80];
    const char *of_shape = strpbrk(want, "[?");
    for (size_t size = 0; size < 60; size++)
        for (int of_type = 0; of_type < 2; of_type++) {
            const char *full = of_type ? want : of_shape;
            memset(text, '#', sizeof text);
            char *got = of_type ? eddy_type_print(t, text, size)
                                : eddy_shape_print(t.shape, text, size);
            ck_assert_ptr_eq(got, text);
            for (size_t i = size; i < sizeof text; i++) ck_assert_int_eq(text[i], '#');
            if (size == 0) continue;
            ck_assert_uint_lt(strnlen(text, size), size);
            ck_assert(strncmp(text, full, size - 1) == 0);
        }
    ck_assert_ptr_null(eddy_shape_print(t.shape, NULL, 9));
    ck_assert_ptr_null(eddy_type_print(t, NULL, 9));
}

START_TEST(texts)
{
    check_text((eddy_type){ EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 784, 10) }, "float32[?,784,10]");
    check_text((eddy_type){ EDDY_BOOL, EDDY_SCALAR }, "bool[]");
    check_text((eddy_type){ EDDY_INT64, EDDY_UNKNOWN_SHAPE }, "int64?");
    check_text((eddy_type){ EDDY_FLOAT64, EDDY_SHAPE(1, 2, 3, 4, 5, 6, 7, 123456789) },
               "float64[1,2,3,4,5,6,7,123456789]");
    check_text((eddy_type){ EDDY_UINT8, { .rank = 9 } }, "uint8[too many dimensions]");
    check_text((eddy_type){ EDDY_UINT8, { .rank = -2 } }, "uint8[too many dimensions]");
}
END_TEST

Suite *shapes_suite(void)
{
    Suite *s = suite_create("shapes");
    TCase *c = tcase_create("shapes");
    tcase_add_checked_fixture(c, begin, NULL);
    tcase_add_loop_test(c, pairs, 0, SHAPES);
    tcase_add_loop_test(c, one, 0, SHAPES);
    tcase_add_test(c, sizes);
    tcase_add_test(c, too_many_bytes);
    tcase_add_test(c, limits);
    tcase_add_test(c, texts);
    suite_add_tcase(s, c);
    return s;
}
