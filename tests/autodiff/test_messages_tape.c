/* test_messages_tape.c -- error messages of tapes; tapes that are missing. */
#include "build/gen/suites.h"
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

/* The gradient of y along the tape with respect to x. */
static eddy_tensor along(eddy_tape *tape, eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx;
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &dx);
    return dx;
}

START_TEST(messages)
{
    eddy_graph *other = eddy_graph_new();
    eddy_tensor x = real(g, 1), far = real(other, 1), d[2], j;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true), *fresh = eddy_tape_new(g);
    golden_begin("autodiff/tape");
    eddy_tape_begin(tape), eddy_tape_begin(tape), golden_graph(g);
    eddy_tape_watch(tape, EDDY_LIST(far)), golden_graph(g);
    eddy_tape_watch(tape, (eddy_list){ 2, NULL }), golden_graph(g);
    eddy_tape_stop_recording(fresh), golden_graph(g);
    eddy_tape_stop_recording(tape), eddy_tape_stop_recording(tape), golden_graph(g);
    eddy_tape_reset(tape), golden_graph(g);
    eddy_tape_resume(tape), eddy_tape_resume(tape), golden_graph(g);
    eddy_tape_end(tape), eddy_tape_stop_recording(tape), golden_graph(g);
    eddy_tape_watch(tape, EDDY_LIST(x)), golden_graph(g);
    along(fresh, x, x), golden_graph(g);
    along(tape, far, x), golden_graph(g);
    eddy_tape_gradient(tape, EDDY_LIST(x), EDDY_LIST(far), d), golden_graph(g);
    eddy_tape_gradient(tape, EDDY_LIST(x), EDDY_LIST(x), NULL), golden_graph(g);
    eddy_tape_gradient(tape, EDDY_LIST(x, x), EDDY_LIST(x), d, .output_gradients = EDDY_LIST(x));
    golden_graph(g);
    eddy_tape_gradient(tape, EDDY_LIST(x), EDDY_LIST(x), d, .output_gradients = { 1, NULL });
    golden_graph(g);
    eddy_tape_gradient(tape, EDDY_LIST(x), EDDY_LIST(x), d,
                       .unconnected_gradients = (eddy_unconnected)9), golden_graph(g);
    eddy_tape_jacobian(tape, far, EDDY_LIST(x), &j), golden_graph(g);
    eddy_tape_batch_jacobian(tape, far, x), golden_graph(g);
    eddy_tape_batch_jacobian(tape, x, x), golden_graph(g);
    eddy_tape_watched_variables(tape, NULL, 2), golden_graph(g);
    eddy_tape_gradient(NULL, EDDY_LIST(x), EDDY_LIST(x), d), golden_graph(g);
    golden_end();
    eddy_graph_free(other);
}
END_TEST

START_TEST(no_tape)
{
    eddy_tensor x = real(g, 1), d;
    eddy_tape  *gone = eddy_tape_new(g);
    eddy_tape_free(gone);
    eddy_tape_free(gone);
    eddy_tape *const bad[] = { NULL, gone };
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_null(eddy_tape_begin(bad[i]));
        EDDY_RECORD(bad[i]) eddy_tape_watch(bad[i], EDDY_LIST(x));
        fails(g, EDDY_INVALID_ARGUMENT, "tape_watch: the tape is NULL");
        EDDY_STOP_RECORDING(bad[i]) eddy_tape_reset(bad[i]);
        eddy_tape_stop_recording(bad[i]);
        eddy_tape_resume(bad[i]);
        ck_assert(!eddy_tape_is_recording(bad[i]));
        ck_assert_int_eq(eddy_tape_watched_variables(bad[i], NULL, 0), 0);
        ck_assert_int_ne(eddy_tape_gradient(bad[i], EDDY_LIST(x), EDDY_LIST(x), &d), EDDY_OK);
        ck_assert(!eddy_is_valid(d));
        fails(g, EDDY_INVALID_ARGUMENT, "tape_gradient: the tape is NULL");
        ck_assert_int_ne(eddy_tape_jacobian(bad[i], x, EDDY_LIST(x), &d), EDDY_OK);
        fails(g, EDDY_INVALID_ARGUMENT, "tape_jacobian: the tape is NULL");
        ck_assert(!eddy_is_valid(eddy_tape_batch_jacobian(bad[i], x, x)));
        fails(g, EDDY_INVALID_ARGUMENT, "tape_batch_jacobian: the tape is NULL");
    }
    ck_assert_ptr_null(eddy_tape_new(NULL));
    fits(g);
}
END_TEST

Suite *messages_tape_suite(void)
{
    Suite *suite = suite_create("messages_tape");
    TCase *c = tcase_create("messages");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, messages);
    tcase_add_test(c, no_tape);
    suite_add_tcase(suite, c);
    return suite;
}
