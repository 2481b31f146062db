/* test_small_arrays.c -- arrays in the caller's block: their contents and uses, and that nothing
 * keeps their address. */
#include "tests/lib/files/memory_files.h"
#include "tests/lib/session_fixture.h"

#include <complex.h>
#include <math.h>

Suite *small_arrays_suite(void);

static void is_array(const eddy_array *a, eddy_dtype d, eddy_shape shape, const double *want)
{
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(eddy_array_dtype(a), d);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), shape));
    ck_assert_int_eq(eddy_array_count(a), eddy_shape_count(shape));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_double_eq(eddy_array_get(a, i), want[i]);
}

static void is_owned(eddy_array *a, eddy_dtype d, eddy_shape shape, const double *want)
{
    is_array(a, d, shape, want);
    eddy_array_free(a);
}

/* ------------------------------------------------------------ what they hold -- */

static const double numbers[] = { 1, 2, 3, 4, 5, 6 };

START_TEST(lists_have_the_type_of_their_name)
{
    is_array(EDDY_FLOATS(1, 2, 3), EDDY_FLOAT32, EDDY_SHAPE(3), numbers);
    is_array(EDDY_FLOATS(0.1f), EDDY_FLOAT32, EDDY_SHAPE(1), (double[]){ 0.1f });
    is_array(EDDY_DOUBLES(1, 2), EDDY_FLOAT64, EDDY_SHAPE(2), numbers);
    is_array(EDDY_INTS(-1, INT32_MAX), EDDY_INT32, EDDY_SHAPE(2), (double[]){ -1, INT32_MAX });
    is_array(EDDY_INT64S(1, 2), EDDY_INT64, EDDY_SHAPE(2), numbers);
    ck_assert_int_eq(*(int64_t *)eddy_array_data(EDDY_INT64S(INT64_MAX)), INT64_MAX);
    is_array(EDDY_BYTES(1, 255), EDDY_UINT8, EDDY_SHAPE(2), (double[]){ 1, 255 });
    is_array(EDDY_BOOLS(true, false, 2), EDDY_BOOL, EDDY_SHAPE(3), (double[]){ 1, 0, 1 });
}
END_TEST

START_TEST(numbers_are_converted)
{
    is_array(EDDY_NUMBER(EDDY_FLOAT32, 0.1), EDDY_FLOAT32, EDDY_SCALAR, (double[]){ 0.1f });
    is_array(EDDY_NUMBER(EDDY_INT32, 1e30), EDDY_INT32, EDDY_SCALAR, (double[]){ INT32_MAX });
    is_array(EDDY_NUMBER(EDDY_COMPLEX128, 2), EDDY_COMPLEX128, EDDY_SCALAR, (double[]){ 2 });
    ck_assert_double_eq(eddy_array_get_imag(EDDY_NUMBER(EDDY_COMPLEX128, 2), 0), 0);
    ck_assert_ptr_null(EDDY_NUMBER((eddy_dtype)99, 1));
    ck_assert_ptr_null(eddy_array_number(NULL, EDDY_FLOAT32, 1));
}
END_TEST

START_TEST(views_have_the_type_of_their_pointer)
{
    const float          f[] = { 1, 2, 3, 4, 5, 6 };
    double               d[] = { 1, 2 };
    const int64_t        l[] = { 1, 2 };
    const double complex c[] = { 1 + 2 * I };
    const eddy_array    *a = EDDY_VIEW(f, 2, 3);
    is_array(a, EDDY_FLOAT32, EDDY_SHAPE(2, 3), numbers);
    ck_assert_ptr_eq(eddy_array_data(a), f);
    is_array(EDDY_VIEW(&f[1], 1), EDDY_FLOAT32, EDDY_SHAPE(1), (double[]){ 2 });
    is_array(EDDY_VIEW(d, 2), EDDY_FLOAT64, EDDY_SHAPE(2), numbers);
    is_array(EDDY_VIEW(l, 2), EDDY_INT64, EDDY_SHAPE(2), numbers);
    is_array(EDDY_VIEW(c, 1), EDDY_COMPLEX128, EDDY_SHAPE(1), numbers);
    is_array(EDDY_VIEW((float *)NULL, 0, 3), EDDY_FLOAT32, EDDY_SHAPE(0, 3), NULL);
    ck_assert_ptr_null(EDDY_VIEW((float *)NULL, 3));
    ck_assert_ptr_null(EDDY_VIEW(f, EDDY_ANY));
    ck_assert_ptr_null(EDDY_VIEW(f, INT64_MAX, 2));
    ck_assert_ptr_null(eddy_array_view(NULL, EDDY_FLOAT32, EDDY_SHAPE(6), f));
}
END_TEST

START_TEST(shaped_takes_as_many_elements_as_there_are)
{
    is_array(EDDY_SHAPED(EDDY_FLOATS(1, 2, 3, 4, 5, 6), 2, 3), EDDY_FLOAT32, EDDY_SHAPE(2, 3),
             numbers);
    ck_assert_ptr_null(EDDY_SHAPED(EDDY_FLOATS(1, 2, 3), 2, 2));
    ck_assert_ptr_null(EDDY_SHAPED(EDDY_FLOATS(1, 2, 3), 3, EDDY_ANY));
    ck_assert_ptr_null(EDDY_SHAPED(NULL, 1));
    eddy_array *owned = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(6), numbers);
    is_array(EDDY_SHAPED(owned, 3, 2), EDDY_FLOAT64, EDDY_SHAPE(3, 2), numbers);
    eddy_array_free(owned);
}
END_TEST

START_TEST(copies_and_references_are_arrays_of_their_own)
{
    eddy_array *copy, *kept;
    {
        eddy_array *a = (eddy_array *)(uintptr_t)EDDY_FLOATS(1, 2, 3);
        copy = eddy_array_copy(a);
        kept = eddy_array_retain(a);
        ck_assert_ptr_ne(kept, a);
        eddy_array_set(a, 0, 7);
        eddy_array_free(a);
        ck_assert_double_eq(eddy_array_get(a, 0), 7);
    }
    is_owned(copy, EDDY_FLOAT32, EDDY_SHAPE(3), numbers);
    is_owned(kept, EDDY_FLOAT32, EDDY_SHAPE(3), numbers);
    ck_assert_ptr_null(eddy_array_copy(NULL));
}
END_TEST

/* -------------------------------------------------------------- where they go -- */

START_TEST(feeds)
{
    const float px[] = { 1, 2, 3, 4 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor y = Add(Sum(x, EDDY_AXES(1)), eddy_placeholder(g, "z", EDDY_FLOAT32, EDDY_SCALAR));
    eddy_tensor z = eddy_graph_tensor(g, "z:0");
    eddy_array *out = NULL;
    for (int i = 1; i < 4; i++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(px, 2, 2) },
                                               { z, EDDY_NUMBER(EDDY_FLOAT32, i) }),
                                  EDDY_FETCH(y), &out), EDDY_OK);
        is_array(out, EDDY_FLOAT32, EDDY_SHAPE(2), (double[]){ 3 + i, 7 + i });
    }
    eddy_array_free(out);
    is_owned(eddy_fetch(s, x, EDDY_FEED({ x, EDDY_VIEW(px, 1, 2) })), EDDY_FLOAT32,
             EDDY_SHAPE(1, 2), numbers);
    eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(1, 2) }), EDDY_FETCH(x), NULL);
    run_fails(s, EDDY_BAD_SHAPE, "of shape [2] for Tensor 'x:0', which has shape [?,2]");
    eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, 2) }), EDDY_FETCH(x), NULL);
    run_fails(s, EDDY_BAD_DTYPE, "float64 is not compatible with Tensor 'x:0' of type float32");
    eddy_run(s, EDDY_FEED({ x, EDDY_SHAPED(EDDY_FLOATS(1, 2), 2, 2) }), EDDY_FETCH(x), NULL);
    run_fails(s, EDDY_INVALID_ARGUMENT, "feed 0, 'x:0' of shape [?,2], has no value");
    fits(g);
}
END_TEST

/* Shapes are part of a plan's key, and stay when the block is gone. */
START_TEST(a_plan_keeps_no_feed)
{
    eddy_tensor shape = eddy_placeholder(g, "shape", EDDY_INT32, EDDY_SHAPE(2));
    eddy_tensor y = eddy_fill(shape, eddy_scalar(g, 1));
    for (int i = 1; i < 4; i++)
        is_owned(eddy_fetch(s, y, EDDY_FEED({ shape, EDDY_INTS(1, i) })), EDDY_FLOAT32,
                 EDDY_SHAPE(1, i), (double[]){ 1, 1, 1 });
}
END_TEST

START_TEST(runs_allocate_nothing_for_feeds)
{
    failing_allocator f;
    failing_allocator_init(&f);
    eddy_graph    *counted = eddy_graph_new(.allocator = &f.table);
    eddy_session  *t = eddy_session_new(counted);
    eddy_tensor    x = eddy_placeholder(counted, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 2));
    eddy_tensor    y = Sum(x);
    eddy_callable *c = eddy_callable_new(t, EDDY_LIST(x), EDDY_LIST(y));
    const float    px[] = { 1, 2, 3, 4 };
    eddy_array    *out = NULL;
    long           calls = 0;
    for (int i = 0; i < 10; i++) {
        eddy_run(t, EDDY_FEED({ x, EDDY_VIEW(px, 2, 2) }), EDDY_FETCH(y), &out);
        eddy_callable_run(c, (const eddy_array *[]){ EDDY_VIEW(px, 2, 2) }, &out);
        ck_assert_double_eq(eddy_array_item(out), 10);
        if (i < 2) calls = f.calls;
        ck_assert_int_eq(f.calls, calls);
    }
    eddy_array_free(out);
    eddy_session_free(t);
    eddy_graph_free(counted);
}
END_TEST

START_TEST(variables_and_looks_copy)
{
    eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3)));
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(3));
    {
        ck_assert_int_eq(eddy_variable_set(s, v, EDDY_FLOATS(1, 2, 3)), EDDY_OK);
        ck_assert_int_eq(eddy_eval_set(x, EDDY_FLOATS(4, 5, 6)), EDDY_OK);
    }
    is_owned(eddy_variable_value(s, v), EDDY_FLOAT32, EDDY_SHAPE(3), numbers);
    is_array(eddy_eval(x), EDDY_FLOAT32, EDDY_SHAPE(3), numbers + 3);
}
END_TEST

/* ------------------------------------------------------------------ constants -- */

START_TEST(constants_of_literals)
{
    const eddy_tensor all[] = {
        eddy_floats(g, 1, 2, 3), eddy_doubles(g, 1, 2, 3), eddy_ints(g, 1, 2, 3),
        eddy_int64s(g, 1, 2, 3),
    };
    const eddy_dtype d[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64 };
    for (int i = 0; i < 4; i++) is_owned(eddy_fetch(s, all[i]), d[i], EDDY_SHAPE(3), numbers);
    is_owned(eddy_fetch(s, eddy_bools(g, true, false)), EDDY_BOOL, EDDY_SHAPE(2),
             (double[]){ 1, 0 });
    eddy_tensor c = eddy_constant(g, EDDY_SHAPED(EDDY_FLOATS(1, 2, 3, 4), 2, 2), .name = "square");
    is_owned(eddy_fetch(s, c), EDDY_FLOAT32, EDDY_SHAPE(2, 2), numbers);
    ck_assert_str_eq(eddy_name_of(c), "square");
    fits(g);
    eddy_constant(g, EDDY_SHAPED(EDDY_FLOATS(1, 2, 3), 2, 2));
    fails(g, EDDY_INVALID_ARGUMENT, "the value is missing");
}
END_TEST

static void count_release(void *context, void *data)
{
    (void)data;
    ++*(int *)context;
}

static eddy_array *watched(int *released)
{
    static float x[3] = { 1, 2, 3 };
    return eddy_array_adopt(EDDY_FLOAT32, EDDY_SHAPE(3), x, count_release, released);
}

/* The leak check sees the references. */
START_TEST(adopted_constants_go_with_their_graph)
{
    int          released = 0;
    eddy_graph  *other = eddy_graph_new();
    eddy_tensor  c = eddy_constant_adopt(other, watched(&released));
    const double want[] = { 1, 2, 3 };
    has_value(c, 3, want);
    ck_assert_int_eq(released, 0);
    eddy_graph_finalize(other);
    ck_assert(!eddy_is_valid(eddy_constant_adopt(other, watched(&released))));
    ck_assert_int_eq(released, 1);
    eddy_graph_free(other);
    ck_assert_int_eq(released, 2);
    ck_assert(!eddy_is_valid(eddy_constant_adopt(NULL, watched(&released))));
    ck_assert_int_eq(released, 3);
    eddy_constant_adopt(g, NULL);
    fails(g, EDDY_INVALID_ARGUMENT, "the value is missing");
    is_number(eddy_constant_adopt(g, eddy_array_of(EDDY_FLOAT64, 5)), 5);
}
END_TEST

/* ---------------------------------------------------------------------- fetch -- */

START_TEST(fetches_a_number)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 0));
    ck_assert_double_eq(eddy_fetch_number(s, eddy_scalar(g, 3)), 3);
    ck_assert_double_eq(eddy_fetch_number(s, Sum(x), EDDY_FEED({ x, EDDY_FLOATS(1, 2) })), 3);
    ck_assert_double_eq(eddy_fetch_number(s, x, .feeds = EDDY_FEED({ x, EDDY_FLOATS(4) })), 4);
    const double none = eddy_fetch_number(s, x, EDDY_FEED({ x, EDDY_FLOATS(1, 2) }));
    ck_assert(isnan(none));
    run_fails(s, EDDY_BAD_SHAPE, "fetch_number: 'x:0' has the shape [2], not one element");
    ck_assert(isnan(eddy_fetch_number(s, x)));
    run_fails(s, EDDY_NOT_FED, "'x'");
    ck_assert(isnan(eddy_fetch_number(s, eddy_initializer(g))));
    run_fails(s, EDDY_INVALID_ARGUMENT, "has no value");
    ck_assert(isnan(eddy_fetch_number(NULL, v)));
    ck_assert_ptr_null(eddy_fetch(NULL, v));
    fits(g);
}
END_TEST

Suite *small_arrays_suite(void)
{
    Suite *suite = suite_create("small_arrays");
    TCase *t = tcase_create("small_arrays");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, lists_have_the_type_of_their_name);
    tcase_add_test(t, numbers_are_converted);
    tcase_add_test(t, views_have_the_type_of_their_pointer);
    tcase_add_test(t, shaped_takes_as_many_elements_as_there_are);
    tcase_add_test(t, copies_and_references_are_arrays_of_their_own);
    tcase_add_test(t, feeds);
    tcase_add_test(t, a_plan_keeps_no_feed);
    tcase_add_test(t, runs_allocate_nothing_for_feeds);
    tcase_add_test(t, variables_and_looks_copy);
    tcase_add_test(t, constants_of_literals);
    tcase_add_test(t, adopted_constants_go_with_their_graph);
    tcase_add_test(t, fetches_a_number);
    suite_add_tcase(suite, t);
    return suite;
}
