/* test_messages_spectral.c -- error messages of Fourier transforms and windows. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>

Suite *messages_spectral_suite(void);

START_TEST(of_transforms)
{
    eddy_graph *g = eddy_graph_new();
    golden_begin("ops/spectral");
    const eddy_tensor r = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 5));
    const eddy_tensor z = eddy_zeros(g, EDDY_COMPLEX64, EDDY_SHAPE(2, 5));
    const eddy_tensor open = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    eddy_fft(r), golden_graph(g);
    eddy_rfft(z), golden_graph(g);
    eddy_fft3d(z), golden_graph(g);
    eddy_rfft2d(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(0, (int64_t)1 << 32))), golden_graph(g);
    eddy_rfft(r, -1), golden_graph(g);
    eddy_rfft2d(r, EDDY_DIMS(4)), golden_graph(g);
    eddy_irfft2d(z, EDDY_DIMS(0, 4)), golden_graph(g);
    eddy_rfft(open, 8), golden_graph(g);
    const struct { int64_t dims, length; bool adjoint; } four = { 4, -1, false },
                                                         nine = { 1, 9, false },
                                                         one = { 1, 4, false };
    const eddy_op_def *op = eddy_node_of(eddy_irfft(z))->op;
    eddy_apply1(op, &four, z), golden_graph(g);
    eddy_apply1(op, &nine, z);
    eddy_apply1(op, &one, z), golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

START_TEST(of_signals)
{
    eddy_graph *g = eddy_graph_new();
    golden_begin("ops/spectral_signal");
    eddy_hann_window(g, 0, true, 0), golden_graph(g);
    eddy_hamming_window(g, 4, true, EDDY_INT32), golden_graph(g);
    eddy_kaiser_window(g, 4, HUGE_VAL, 0), golden_graph(g);
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 5));
    eddy_fftshift(x, EDDY_AXES(2)), golden_graph(g);
    eddy_ifftshift(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE)), golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

static void window_without_memory(failing_allocator *f, eddy_error *e)
{
    const long at = f->at;
    f->at = 0;
    eddy_graph *g = eddy_graph_new(.allocator = &f->table);
    f->at = f->calls + at;
    eddy_hann_window(g, 100, true, 0);
    e->status = eddy_graph_status(g);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(g));
    golden_forget_nodes(e);
    eddy_graph_free(g);
}

START_TEST(of_memory)
{
    golden_begin("ops/spectral_signal_memory");
    golden_no_memory(window_without_memory);
    golden_end();
}
END_TEST

Suite *messages_spectral_suite(void)
{
    Suite *suite = suite_create("messages_spectral");
    TCase *c = tcase_create("messages_spectral");
    tcase_add_test(c, of_transforms);
    tcase_add_test(c, of_signals);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
