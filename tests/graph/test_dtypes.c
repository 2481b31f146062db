/* test_dtypes.c -- properties of element types, and elements of arrays of each. */
#include "graph/base/dtype.h"
#include "tests/lib/checks.h"

#include <float.h>

Suite *dtypes_suite(void);

START_TEST(floats)
{
    ck_assert(eddy__dtype_epsilon(EDDY_FLOAT32) == (double)FLT_EPSILON);
    ck_assert(eddy__dtype_smallest(EDDY_FLOAT32) == (double)FLT_MIN);
    ck_assert(eddy__dtype_largest(EDDY_FLOAT32) == (double)FLT_MAX);
    ck_assert(eddy__dtype_epsilon(EDDY_FLOAT64) == DBL_EPSILON);
    ck_assert(eddy__dtype_smallest(EDDY_FLOAT64) == DBL_MIN);
    ck_assert(eddy__dtype_largest(EDDY_FLOAT64) == DBL_MAX);
    ck_assert(eddy__dtype_largest(EDDY_FLOAT16) == 65504);
    ck_assert(eddy__dtype_epsilon(EDDY_BFLOAT16) == 0x1p-7);
    ck_assert(eddy__dtype_largest(EDDY_INT32) == (double)INFINITY);
    ck_assert(eddy__dtype_is_float(EDDY_FLOAT64) && !eddy__dtype_is_float(EDDY_FLOAT16) &&
              !eddy__dtype_is_float(EDDY_DTYPES) && !eddy__dtype_is_float((eddy_dtype)-1));
}
END_TEST

START_TEST(integers)
{
    ck_assert(eddy__dtype_holds(EDDY_UINT8, 255) && !eddy__dtype_holds(EDDY_UINT8, 256) &&
              !eddy__dtype_holds(EDDY_UINT8, -1) && !eddy__dtype_holds(EDDY_UINT8, 0.5));
    ck_assert(eddy__dtype_holds(EDDY_INT32, -0x1p31) && !eddy__dtype_holds(EDDY_INT32, 0x1p31));
    ck_assert(eddy__dtype_holds(EDDY_INT64, -0x1p63) && !eddy__dtype_holds(EDDY_INT64, 0x1p63));
    ck_assert(!eddy__dtype_holds(EDDY_INT64, (double)NAN) && eddy__dtype_holds(EDDY_FLOAT32, 0.5));
    ck_assert(eddy__dtype_lowest(EDDY_INT64) == INT64_MIN && eddy__dtype_highest(EDDY_BOOL) == 1);
    ck_assert(eddy__dtype_is_index(EDDY_INT32) && !eddy__dtype_is_index(EDDY_UINT8));
}
END_TEST

/* Every type stores and returns 1, and converts what it cannot represent. */
START_TEST(elements)
{
    for (int d = 1; d < EDDY_DTYPES; d++) {
        eddy_array *a = eddy_array_of((eddy_dtype)d, 1);
        ck_assert_msg(a && eddy_array_get(a, 0) == 1, "%s", eddy_dtype_name((eddy_dtype)d));
        ck_assert(eddy_array_set(a, 0, 1e30) && !eddy_array_set(a, 1, 0));
        if (eddy_dtype_is_integer((eddy_dtype)d))
            ck_assert(eddy_array_get(a, 0) == (double)eddy__dtype_highest((eddy_dtype)d));
        eddy_array_free(a);
    }
    eddy_array *z = eddy_array_of(EDDY_COMPLEX64, 0);
    ck_assert(eddy_array_set_complex(z, 0, 1, 2) && eddy_array_get(z, 0) == 1 &&
              eddy_array_get_imag(z, 0) == 2);
    eddy_array_free(z);
}
END_TEST

START_TEST(integers_are_printed_in_full)
{
    char text[40];
    eddy_array *a = eddy_array_of(EDDY_INT32, 2147483647);
    ck_assert_str_eq(eddy_array_print(a, 1, text, sizeof text), "2147483647");
    eddy_array_free(a);
}
END_TEST

Suite *dtypes_suite(void)
{
    Suite *s = suite_create("dtypes");
    TCase *c = tcase_create("dtypes");
    tcase_add_test(c, floats);
    tcase_add_test(c, integers);
    tcase_add_test(c, elements);
    tcase_add_test(c, integers_are_printed_in_full);
    suite_add_tcase(s, c);
    return s;
}
