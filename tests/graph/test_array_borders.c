/* test_array_borders.c -- arrays as text, in buffers of every size and of a limited number of
 * elements; single elements at the ends of an array and outside it. */
#include "tests/lib/checks.h"
#include "graph/base/new_array.h"

#include <math.h>

Suite *array_borders_suite(void);

/* Elements 1, 2, 3, ... */
static eddy_array *counted(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, (double)(i + 1));
    return a;
}

/* The whole text, and its beginning in smaller buffers. */
static void check(eddy_array *a, int64_t limit, const char *want)
{
    char text[200];
    ck_assert_str_eq(eddy_array_print(a, limit, text, sizeof text), want);
    for (size_t size = 1; size < 60; size++) {
        memset(text, '#', sizeof text);
        eddy_array_print(a, limit, text, size);
        for (size_t i = size; i < sizeof text; i++) ck_assert_int_eq(text[i], '#');
        ck_assert_uint_lt(strnlen(text, size), size);
        ck_assert(strncmp(text, want, size - 1) == 0);
    }
    eddy_array_free(a);
}

START_TEST(texts)
{
    check(counted(EDDY_INT32, EDDY_SHAPE(2, 3)), 6, "[[1, 2, 3], [4, 5, 6]]");
    check(counted(EDDY_INT32, EDDY_SHAPE(2, 3)), 5, "[[1, 2, 3], [4, 5, ...]]");
    check(counted(EDDY_INT32, EDDY_SHAPE(2, 3)), 3, "[[1, 2, 3], [...]]");
    check(counted(EDDY_INT32, EDDY_SHAPE(2, 3)), 2, "[[1, 2, ...]]");
    check(counted(EDDY_INT32, EDDY_SHAPE(2, 3)), 0, "[[...]]");
    check(counted(EDDY_INT64, EDDY_SHAPE(2, 1, 2)), 9, "[[[1, 2]], [[3, 4]]]");
    check(counted(EDDY_UINT8, EDDY_SHAPE(1)), 9, "[1]");
    check(counted(EDDY_FLOAT32, EDDY_SCALAR), 9, "1");
    check(counted(EDDY_BOOL, EDDY_SHAPE(2)), 9, "[true, true]");
    check(counted(EDDY_COMPLEX64, EDDY_SHAPE(2)), 9, "[(1,0), (2,0)]");
    check(eddy_array_new(EDDY_BOOL, EDDY_SHAPE(2)), 9, "[false, false]");
    check(eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(0, 3)), 9, "[] of shape [0,3]");
    check(eddy_array_of(EDDY_FLOAT32, 1 / 3.0), 9, "0.3333333");
    check(eddy_array_of(EDDY_FLOAT64, 1 / 3.0), 9, "0.3333333333");
    check(eddy_array_of(EDDY_BFLOAT16, 0.5), 9, "0.5");
    check(NULL, 9, "");
    ck_assert_ptr_null(eddy_array_print(NULL, 9, NULL, 9));
    char unchanged = '#';
    eddy_array_print(NULL, 9, &unchanged, 0);
    ck_assert_int_eq(unchanged, '#');
}
END_TEST

START_TEST(elements)
{
    eddy_array *a = counted(EDDY_FLOAT32, EDDY_SHAPE(3));
    eddy_array *z = counted(EDDY_COMPLEX128, EDDY_SHAPE(2));
    ck_assert(eddy_array_get(a, 0) == 1 && eddy_array_get(a, 2) == 3 && eddy_array_item(a) == 1);
    ck_assert(isnan(eddy_array_get(a, -1)) && isnan(eddy_array_get(a, 3)));
    ck_assert(isnan(eddy_array_get(NULL, 0)) && isnan(eddy_array_item(NULL)));
    ck_assert(eddy_array_set(a, 0, 7) && eddy_array_set(a, 2, 9));
    ck_assert(!eddy_array_set(a, -1, 5) && !eddy_array_set(a, 3, 5) && !eddy_array_set(NULL, 0, 5));
    ck_assert(eddy_array_get(a, 0) == 7 && eddy_array_get(a, 1) == 2 && eddy_array_get(a, 2) == 9);
    ck_assert(eddy_array_get_imag(a, 0) == 0 && eddy_array_get_imag(a, 2) == 0);
    ck_assert(isnan(eddy_array_get_imag(a, -1)) && isnan(eddy_array_get_imag(a, 3)));
    ck_assert(isnan(eddy_array_get_imag(NULL, 0)));
    ck_assert(eddy_array_set_complex(z, 0, 3, 4) && eddy_array_set_complex(z, 1, 5, 6));
    ck_assert(!eddy_array_set_complex(z, -1, 8, 9) && !eddy_array_set_complex(z, 2, 8, 9));
    ck_assert(!eddy_array_set_complex(a, 0, 8, 9) && !eddy_array_set_complex(NULL, 0, 8, 9));
    for (int i = 0; i < 2; i++) {
        ck_assert(eddy_array_get(z, i) == 3 + 2 * i && eddy_array_get_imag(z, i) == 4 + 2 * i);
        ck_assert(eddy_array_set(z, i, 1) && eddy_array_get_imag(z, i) == 0);
    }
    ck_assert(isnan(eddy_array_get_imag(z, 2)) && isnan(eddy_array_get_imag(z, -1)));
    eddy_array_free(a);
    eddy_array_free(z);
}
END_TEST

/* Conversions of a double to the element, at the ends of what the type holds. */
START_TEST(saturation)
{
    const struct { eddy_dtype d; double v, want; } rows[] = {
        { EDDY_UINT8, 255, 255 }, { EDDY_UINT8, 256, 255 }, { EDDY_UINT8, -1, 0 },
        { EDDY_UINT8, 254.9, 254 }, { EDDY_UINT8, 0.9, 0 }, { EDDY_UINT8, 1, 1 },
        { EDDY_INT32, 2147483647, 2147483647 }, { EDDY_INT32, 2147483648, 2147483647 },
        { EDDY_INT32, -2147483648.0, -2147483648.0 }, { EDDY_INT32, -2147483649.0, -2147483648.0 },
        { EDDY_INT64, 0x1p62, 0x1p62 }, { EDDY_INT64, 0x1p63, 0x1p63 },
        { EDDY_INT64, -0x1p63, -0x1p63 }, { EDDY_INT64, -0x1p64, -0x1p63 },
        { EDDY_INT32, (double)NAN, 0 }, { EDDY_BOOL, 0, 0 }, { EDDY_BOOL, 0.5, 1 },
        { EDDY_BOOL, -2, 1 }, { EDDY_BOOL, 1, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy_array *a = eddy_array_of(rows[i].d, rows[i].v);
        ck_assert_msg(eddy_array_item(a) == rows[i].want, "row %zu: %g", i, eddy_array_item(a));
        eddy_array_free(a);
    }
}
END_TEST

/* Of the contents, the element type and the shape, each counts. */
START_TEST(equality)
{
    eddy_array *a = counted(EDDY_INT32, EDDY_SHAPE(2, 3)), *b = eddy_array_copy(a);
    eddy_array *other[] = {
        counted(EDDY_INT32, EDDY_SHAPE(3, 2)), counted(EDDY_INT64, EDDY_SHAPE(2, 3)),
        counted(EDDY_INT32, EDDY_SHAPE(2, 3)), counted(EDDY_INT32, EDDY_SHAPE(0, 3)), NULL,
    };
    ck_assert(eddy_array_equal(a, b) && eddy_array_equal(a, a) && eddy_array_equal(NULL, NULL));
    eddy_array_set(other[2], 5, 0);
    for (int i = 0; i < 5; i++) {
        ck_assert(!eddy_array_equal(a, other[i]) && !eddy_array_equal(other[i], a));
        eddy_array_free(other[i]);
    }
    eddy_array *byte = eddy_array_of(EDDY_UINT8, 1), *changed = eddy_array_of(EDDY_UINT8, 2);
    ck_assert(!eddy_array_equal(byte, changed));
    eddy_array_free(byte), eddy_array_free(changed);
    eddy_array *none = eddy_array_new(EDDY_INT32, EDDY_SHAPE(0)), *too = eddy_array_copy(none);
    ck_assert(eddy_array_equal(none, too));
    eddy_array_free(none), eddy_array_free(too), eddy_array_free(a), eddy_array_free(b);
}
END_TEST

static int released;
static void release(void *context, void *data)
{
    ck_assert(context == &released && data != NULL);
    released++;
}

/* Memory of others is used as it is, and given back once. */
START_TEST(memory_of_others)
{
    float data[2] = { 1, 2 };
    ck_assert_ptr_null(eddy_array_adopt(EDDY_FLOAT32, EDDY_SHAPE(2), NULL, release, &released));
    ck_assert_ptr_null(eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), NULL));
    ck_assert_ptr_null(eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(2), NULL));
    ck_assert_ptr_null(eddy_array_adopt(EDDY_UINT8, EDDY_SHAPE(1), NULL, NULL, NULL));
    ck_assert_ptr_null(eddy_array_copy_of(EDDY_UINT8, EDDY_SHAPE(1), NULL));
    eddy_array *none[] = { eddy_array_adopt(EDDY_FLOAT32, EDDY_SHAPE(0), NULL, NULL, NULL),
                           eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(0), NULL),
                           eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(0), NULL) };
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(none[i]);
        ck_assert_uint_eq(eddy_array_bytes(none[i]), 0);
        eddy_array_free(none[i]);
    }
    eddy_array *a = eddy_array_adopt(EDDY_FLOAT32, EDDY_SHAPE(2), data, release, &released);
    ck_assert(eddy_array_data(a) == data && eddy_array_bytes(a) == 8);
    ck_assert(eddy__array_is_borrowed(a) && !eddy__array_is_shared(a));
    ck_assert_ptr_eq(eddy_array_retain(a), a);
    ck_assert(eddy__array_is_shared(a));
    eddy_array_free(a);
    ck_assert(released == 0 && !eddy__array_is_shared(a));
    eddy_array_free(a);
    ck_assert_int_eq(released, 1);
    eddy_array *own = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2));
    ck_assert(!eddy__array_is_borrowed(own) && !eddy__array_is_borrowed(NULL));
    ck_assert(!eddy__array_is_shared(NULL) && eddy_array_data(NULL) == NULL);
    ck_assert(eddy_array_bytes(NULL) == 0 && eddy_array_count(NULL) == 0);
    ck_assert(eddy_array_dtype(NULL) == EDDY_DEFAULT_DTYPE && eddy_array_shape(NULL).rank == -1);
    ck_assert(eddy_array_retain(NULL) == NULL && eddy_array_copy(NULL) == NULL);
    eddy_array_free(own);
}
END_TEST

/* An array has at most 2^47 bytes, or what addresses of 32 bits allow. */
START_TEST(sizes)
{
    static float data[1];
    const int64_t most = ((int64_t)1 << (sizeof(void *) > 4 ? 47 : 30)) / 4;
    eddy_array   *a = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(most), data);
    ck_assert_ptr_nonnull(a);
    ck_assert(eddy_array_count(a) == most);
    eddy_array_free(a);
    ck_assert_ptr_null(eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(most + 1), data));
    ck_assert_ptr_null(eddy_array_borrow(EDDY_COMPLEX64, EDDY_SHAPE(most), data));
    ck_assert_ptr_null(eddy_array_borrow(EDDY_DEFAULT_DTYPE, EDDY_SHAPE(1), data));
    ck_assert_ptr_null(eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY), data));
    ck_assert_ptr_null(eddy_array_borrow(EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE, data));
    eddy_array_room room;
    ck_assert_ptr_null(eddy_array_view(NULL, EDDY_FLOAT32, EDDY_SHAPE(1), data));
    ck_assert_ptr_null(eddy_array_view(&room, EDDY_FLOAT32, EDDY_SHAPE(1), NULL));
    ck_assert_ptr_null(eddy_array_view(&room, EDDY_UINT8, EDDY_SHAPE(1), NULL));
    ck_assert_ptr_nonnull(eddy_array_view(&room, EDDY_FLOAT32, EDDY_SHAPE(0), NULL));
    ck_assert(eddy__array_is_borrowed(eddy_array_view(&room, EDDY_UINT8, EDDY_SHAPE(1), data)));
    const eddy_array *v = eddy_array_view(&room, EDDY_FLOAT32, EDDY_SHAPE(1), data);
    ck_assert(eddy_array_bytes(v) == 4 && eddy_array_count(v) == 1 && eddy_array_data(v) == data);
    ck_assert_ptr_null(eddy_array_number(NULL, EDDY_FLOAT32, 1));
    ck_assert(eddy_array_item(eddy_array_number(&room, EDDY_COMPLEX128, 3)) == 3);
}
END_TEST

Suite *array_borders_suite(void)
{
    Suite *s = suite_create("array_borders");
    TCase *c = tcase_create("arrays");
    tcase_add_test(c, texts);
    tcase_add_test(c, elements);
    tcase_add_test(c, saturation);
    tcase_add_test(c, equality);
    tcase_add_test(c, memory_of_others);
    tcase_add_test(c, sizes);
    suite_add_tcase(s, c);
    return s;
}
