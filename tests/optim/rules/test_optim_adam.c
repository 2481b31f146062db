/* test_optim_adam.c -- Adam: TensorFlow's numbers, dense and sparse. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

Suite *optim_adam_suite(void);

/* B-01, B-03, and B-07 (_i = 1: the rate as a tensor).  The defaults are
 * float32, so the digits are those of a float64 reference only with _i = 2. */
START_TEST(b01_b03_b07_adam)
{
    two_variables m = constants(g);
    const double tolerance = _i == 2 ? 2e-10 : 1e-7;
    eddy_optimizer *o = _i == 0 ? eddy_adam(g) : _i == 1 ? eddy_adam(g, real(g, 0.001))
                        : eddy_adam(g, real(g, 0.001), real(g, 0.9), real(g, 0.999), real(g, 1e-8));
    eddy_tensor train = eddy_apply_gradients(o, m.pairs, 2);
    eddy_tensor slot[8];
    fits(g);
    ck_assert_int_eq(eddy_optimizer_variables(o, slot, 8), 6);
    ck_assert_str_eq(eddy_name_of(slot[0]), "beta1_power");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "m")), "v0/Adam");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "v")), "v0/Adam_1");
    ck_assert(!eddy_collection_has(g, EDDY_TRAINABLE_VARIABLES, slot[0]));
    const double want0[] = { 0.9990000032, 0.9980000054, 0.9970000072 };
    const double want1[] = { 2.9990000316, 2.9980000540, 2.9970000723 };
    eddy_session *s = started(g);
    for (int i = 0; i < 3; i++) {
        near(s, slot[0], 1, (double[]){ pow(0.9, i + 1) }, 1e-6);
        near(s, slot[1], 1, (double[]){ pow(0.999, i + 1) }, 1e-6);
        runs(s, train);
        near_pair(s, m.v0, want0[i], want0[i] + 1, tolerance);
        near_pair(s, m.v1, want1[i], want1[i] + 1, tolerance);
    }
    near_pair(s, eddy_get_slot(o, m.v0, "m"), 0.0271, 0.0271, 1e-7);
    near_pair(s, eddy_get_slot(o, m.v0, "v"), 2.997001e-05, 2.997001e-05, tolerance / 100);
    eddy_session_free(s);
}
END_TEST

START_TEST(b05_sparse_repeated)
{
    const double start_at[] = { 1, 2 };
    eddy_tensor a = variable_of(matrix(g, 2, 1, start_at), "a");
    eddy_tensor b = variable_of(matrix(g, 2, 1, start_at), "b");
    eddy_gradient_pair p[2] = {
        { eddy_indexed_slices_of(matrix(g, 2, 1, (double[]){ 0.1, 0.1 }),
                                 index_of(g, 2, (int32_t[]){ 1, 1 }), EDDY_SHAPE(2, 1)), a },
        { eddy_indexed_slices_of(matrix(g, 1, 1, (double[]){ 0.2 }),
                                 index_of(g, 1, (int32_t[]){ 1 }), EDDY_SHAPE(2, 1)), b } };
    eddy_tensor train = eddy_apply_gradients(eddy_adam(g), p, 2);
    const double want[] = { 1.9990000016, 1.9980000027, 1.9970000036 };
    eddy_session *s = started(g);
    for (int i = 0; i < 3; i++) {
        runs(s, train);
        near_pair(s, a, 1, want[i], 1e-7);
        near_pair(s, b, 1, want[i], 1e-7);
    }
    eddy_session_free(s);
}
END_TEST

/* A row that was listed once goes on moving while its moments decay: the
 * sparse step is the dense one with zeros elsewhere. */
START_TEST(sparse_adam_is_dense_adam)
{
    eddy_tensor a = variable_of(pair_of(g, 1, 2), "a"), b = variable_of(pair_of(g, 1, 2), "b");
    eddy_tensor x = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor rows = vector(g, 1, (double[]){ 0.3 });
    eddy_tensor dense = eddy_indexed_slices(rows, x, b);
    eddy_gradient_pair p[2] = { { dense, a }, { Identity(dense), b } };
    eddy_tensor train = eddy_apply_gradients(eddy_adam(g, real(g, 0.1)), p, 2);
    eddy_tensor difference = Sub(a, b);
    eddy_session *s = started(g);
    for (int i = 0; i < 4; i++) {
        eddy_array *at = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ i % 2 });
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, at }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(at);
        near_pair(s, difference, 0, 0, 1e-12);
    }
    eddy_session_free(s);
}
END_TEST

/* Two operations of one optimizer advance one clock. */
START_TEST(shared_adam)
{
    two_variables m = constants(g);
    eddy_optimizer *o = eddy_adam(g);
    eddy_tensor a = eddy_apply_gradients(o, m.pairs, 2), b = eddy_apply_gradients(o, m.pairs, 2);
    eddy_session *s = started(g);
    runs(s, a);
    runs(s, b);
    runs(s, a);
    near_pair(s, m.v0, 0.9970000072, 1.9970000072, 1e-7);
    eddy_session_free(s);
}
END_TEST

/* B-09: here an optimizer belongs to one graph; the same names in two do not clash. */
START_TEST(b09_two_graphs)
{
    eddy_graph *const first = g, *const second = eddy_graph_new();
    for (int i = 0; i < 2; i++) {
        g = i ? second : first;
        two_variables m = constants(g);
        eddy_optimizer *o = eddy_adam(g);
        eddy_tensor train = eddy_apply_gradients(o, m.pairs, 2);
        ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "m")), "v0/Adam");
        eddy_session *s = started(g);
        runs(s, train);
        near_pair(s, m.v0, 0.9990000032, 1.9990000032, 1e-7);
        eddy_session_free(s);
    }
    g = first;
    eddy_graph_free(second);
}
END_TEST

Suite *optim_adam_suite(void)
{
    Suite *suite = suite_create("optim_adam");
    TCase *c = tcase_create("optim_adam");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, b01_b03_b07_adam, 0, 3);
    tcase_add_test(c, b05_sparse_repeated);
    tcase_add_test(c, sparse_adam_is_dense_adam);
    tcase_add_test(c, shared_adam);
    tcase_add_test(c, b09_two_graphs);
    suite_add_tcase(suite, c);
    return suite;
}
