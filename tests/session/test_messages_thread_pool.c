/* test_messages_thread_pool.c -- error messages for the numbers of threads and of runs. */
#include "tests/lib/golden.h"

Suite *messages_thread_pool_suite(void);

START_TEST(of_threads)
{
    static const int threads[] = { -1, 1000000 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y = eddy_scalar(g, 1);
    golden_begin("session/thread_pool");
    for (int i = 0; i < 2; i++) {
        eddy_session *s = eddy_session_new(g, .threads = threads[i]);
        ck_assert_ptr_null(eddy_fetch(s, y));
        golden_line(eddy_session_message(s));
        eddy_session_free(s);
    }
    for (int i = 0; i < 2; i++) {
        eddy_session *s = eddy_session_new(g, .first_run = -i, .run_stride = i);
        ck_assert_ptr_null(eddy_fetch(s, y));
        golden_line(eddy_session_message(s));
        eddy_session_free(s);
    }
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *messages_thread_pool_suite(void)
{
    Suite *suite = suite_create("messages_thread_pool");
    TCase *c = tcase_create("messages_pool");
    tcase_add_test(c, of_threads);
    suite_add_tcase(suite, c);
    return suite;
}
