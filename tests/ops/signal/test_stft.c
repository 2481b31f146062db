/* test_stft.c -- frames, their spectra and cosine transforms against sums; short-time transforms
 * also against PyTorch 1.13, and inverted. */
#include "tests/lib/element_checks.h"

Suite *stft_suite(void);

static const double pi = 3.14159265358979323846;

static double sample(int i) { return ((i * 7919 + 31) % 1009) / 500.0 - 1; }

static eddy_tensor signal_of(eddy_dtype d, int n)
{
    double v[512];
    for (int i = 0; i < n; i++) v[i] = sample(i);
    return vec(d, n, v);
}

/* ------------------------------------------------------------------------ frames -- */

START_TEST(frames)
{
    const eddy_tensor x = vec(EDDY_INT32, V(1, 2, 3, 4, 5, 6, 7));
    IS(eddy_frame(x, 3, 2), 1, 2, 3, 3, 4, 5, 5, 6, 7);
    IS(eddy_frame(x, 4, 2), 1, 2, 3, 4, 3, 4, 5, 6);
    IS(eddy_frame(x, 4, 3, .pad_end = true), 1, 2, 3, 4, 4, 5, 6, 7, 7, 0, 0, 0);
    IS(eddy_frame(x, 2, 4, true, -1), 1, 2, 5, 6);
    IS(eddy_frame(x, 9, 4, true, -1), 1, 2, 3, 4, 5, 6, 7, -1, -1, 5, 6, 7, -1, -1, -1, -1, -1, -1);
    double got[ROOM];
    ck_assert_int_eq(values(eddy_frame(x, 8, 1), got), 0);
    const eddy_tensor two = shaped(F32, EDDY_SHAPE(3, 2), (double[]){ 1, 2, 3, 4, 5, 6 });
    IS(eddy_frame(two, 2, 1, .axis = EDDY_AXES(0)), 1, 2, 3, 4, 3, 4, 5, 6);
    IS(eddy_frame(two, 2, 1, .axis = EDDY_AXES(-2)), 1, 2, 3, 4, 3, 4, 5, 6);
    IS(slope(eddy_frame(two, 2, 1, .axis = EDDY_AXES(0)), two), 1, 1, 2, 2, 1, 1);
}
END_TEST

START_TEST(frames_added_up)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(3, 3), (double[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9 });
    IS(eddy_overlap_and_add(x, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9);
    IS(eddy_overlap_and_add(x, 2), 1, 2, 7, 5, 13, 8, 9);
    IS(eddy_overlap_and_add(x, 1), 1, 6, 15, 14, 9);
    IS(eddy_overlap_and_add(x, 4), 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9);
    double got[ROOM];
    ck_assert_int_eq(values(eddy_overlap_and_add(eddy_zeros(g, F32, EDDY_SHAPE(2, 0, 3)), 2), got),
                     0);
}
END_TEST

/* More frames than a block has, added up in parts: against a loop. */
START_TEST(long_signals)
{
    enum { FRAMES = 900, LENGTH = 70, STEP = 33, N = (FRAMES - 1) * STEP + LENGTH };
    static double want[N];
    eddy_array *a = eddy_array_new(F64, EDDY_SHAPE(FRAMES, LENGTH)), *y = NULL;
    for (int i = 0; i < FRAMES * LENGTH; i++) {
        eddy_array_set(a, i, sample(i));
        want[i / LENGTH * STEP + i % LENGTH] += sample(i);
    }
    ck_assert_int_eq(evaluate(eddy_overlap_and_add(eddy_constant(g, a, NULL), STEP), 0, NULL, &y),
                     EDDY_OK);
    ck_assert_int_eq(eddy_array_count(y), N);
    for (int i = 0; i < N; i++) ck_assert_double_eq_tol(eddy_array_get(y, i), want[i], 1e-15);
    eddy_array_free(a);
    eddy_array_free(y);
}
END_TEST

/* ------------------------------------------------------------- cosine transforms -- */

static double of_type(int type, int n, int k)
{
    double sum = type == 1 ? sample(0) + (k % 2 ? -1 : 1) * sample(n - 1) : 0;
    for (int j = 0; j < n; j++) {
        const double x = sample(j);
        if (type == 1 && j > 0 && j < n - 1) sum += 2 * x * cos(pi * k * j / (n - 1));
        if (type == 2) sum += 2 * x * cos(pi * k * (2 * j + 1) / (2 * n));
        if (type == 3) sum += (j ? 2 : 1) * x * cos(pi * (2 * k + 1) * j / (2 * n));
        if (type == 4) sum += 2 * x * cos(pi * (2 * k + 1) * (2 * j + 1) / (4 * n));
    }
    return sum;
}

START_TEST(cosine_transforms)
{
    static const int lengths[] = { 1, 2, 3, 4, 7, 16, 25 };
    for (int i = 0; i < 7; i++)
        for (int type = lengths[i] > 1 ? 1 : 2; type <= 4; type++)
            for (int single = 0; single < 2; single++) {
                const int n = lengths[i];
                double    want[ROOM];
                for (int k = 0; k < n; k++) want[k] = of_type(type, n, k);
                const eddy_tensor x = signal_of(single ? F32 : F64, n);
                near("dct", single ? 3e-6 : 2e-14, eddy_dct(x, type), n, want);
            }
}
END_TEST

/* An orthogonal matrix keeps lengths; the inverse of each undoes it. */
START_TEST(inverse_cosine_transforms)
{
    enum { N = 9 };
    double want[N];
    for (int i = 0; i < N; i++) want[i] = sample(i);
    for (int type = 1; type <= 4; type++) {
        const eddy_tensor x = signal_of(F64, N), y = eddy_dct(x, type);
        const double scale = type == 1 ? 2 * (N - 1) : 2 * N;
        near("idct", 1e-14, Div(eddy_idct(y, type), scale), N, want);
        if (type == 1) continue;
        const eddy_tensor o = eddy_dct(x, type, .norm = "ortho");
        near("idct", 1e-14, eddy_idct(o, type, .norm = "ortho"), N, want);
        NEAR(Sub(Sum(Square(o)), Sum(Square(x))), 0);
    }
    const eddy_tensor x = signal_of(F64, N);
    near("cut", 1e-14, eddy_idct(eddy_dct(x, 2, 4, "ortho"), .norm = "ortho"), 4, want);
    want[N - 1] = 0;
    const eddy_tensor grown = eddy_dct(signal_of(F64, N - 1), 3, N, "ortho");
    near("grown", 1e-14, eddy_idct(grown, 3, .norm = "ortho"), N, want);
}
END_TEST

/* ------------------------------------------------------- short-time transforms -- */

/* Frame 1 by torch.fft.rfft of unfold times hann_window, in float64. */
START_TEST(short_time_transform)
{
    const double tolerance = _i ? 2e-6 : 1e-14;
    const eddy_tensor x = signal_of(_i ? F32 : F64, 20), y = eddy_stft(x, 6, 3);
    const eddy_tensor row = eddy_slice(y, EDDY_DIMS(1, 0), EDDY_DIMS(1, -1));
    near("real", tolerance, Real(row), V(-0.24999999999999956, -0.3227879694885001, 1.0545,
         -1.1112120305115003, 1.0090000000000001));
    near("imaginary", tolerance, Imag(row), V(0.0, 1.0124334226425598, -0.8825000000000002,
         0.3374334226425598, 0.0));
    ck_assert_int_eq(eddy_shape_of(y).dim[0], 5);
    ck_assert_int_eq(eddy_shape_of(eddy_stft(x, 6, 3, .pad_end = true)).dim[0], 7);
}
END_TEST

/* All but the ends, where windows that add up to 1 are not complete. */
START_TEST(there_and_back)
{
    enum { N = 64, LENGTH = 12 };
    static const int steps[] = { 3, 4, 5, 6 };
    const int step = steps[_i];
    double got[ROOM];
    const eddy_tensor x = signal_of(F64, N), w = eddy_hamming_window(g, LENGTH, true, F64);
    const eddy_tensor y = eddy_stft(x, LENGTH, step, .window = w);
    const eddy_tensor v = eddy_inverse_stft_window(w, step);
    const eddy_tensor z = eddy_inverse_stft(y, LENGTH, step, .window = v);
    const int n = values(z, got);
    ck_assert_int_gt(n, N - step);
    for (int i = LENGTH; i < n - LENGTH; i++)
        ck_assert_msg(fabs(got[i] - sample(i)) < 1e-14, "%d: %.17g", i, got[i]);
}
END_TEST

/* A frame longer than its transform is cut, and one that comes back has zeros behind. */
START_TEST(short_transforms)
{
    const eddy_tensor x = vec(F64, V(1, 2, 3, 4, 5)), one = vec(F64, V(1, 1, 1, 1, 1));
    const eddy_tensor y = eddy_stft(x, 5, 5, .fft_length = 4, .window = one);
    NEAR(Real(y), 10, -2, -2);
    NEAR(Imag(y), 0, 2, 0);
    NEAR(eddy_inverse_stft(y, 5, 5, 4, one), 1, 2, 3, 4, 0);
}
END_TEST

/* ------------------------------------------------------------------- mel, Hilbert -- */

/* Three bands between 0 and 4000 hertz, by hand: mels are at 0, 536.5, 1073, 1609.5, 2146. */
START_TEST(mel_bands)
{
    const eddy_tensor w = eddy_linear_to_mel_weight_matrix(g, 3, 9, .lower_edge_hertz = -1,
                                                           .upper_edge_hertz = 4000, .dtype = F64);
    double got[ROOM], mel[9];
    ck_assert_int_eq(values(w, got), 27);
    const double wide = 1127 * log(1 + 4000.0 / 700) / 4;
    for (int i = 0; i < 9; i++) {
        mel[i] = 1127 * log(1 + 500.0 * i / 700);
        for (int j = 0; j < 3; j++) {
            const double up = (mel[i] - j * wide) / wide, down = ((j + 2) * wide - mel[i]) / wide;
            const double want = i == 0 ? 0 : fmax(0, fmin(up, down));
            ck_assert_double_eq_tol(got[3 * i + j], want, 1e-12);
        }
    }
    ck_assert_int_eq(eddy_shape_of(eddy_linear_to_mel_weight_matrix(g)).dim[0], 129);
    ck_assert_int_eq(eddy_shape_of(eddy_linear_to_mel_weight_matrix(g)).dim[1], 20);
}
END_TEST

START_TEST(cepstra)
{
    enum { N = 8 };
    double want[N];
    for (int k = 0; k < N; k++) want[k] = of_type(2, N, k) / sqrt(2 * N);
    near("mfcc", 1e-14, eddy_mfccs_from_log_mel_spectrograms(signal_of(F64, N)), N, want);
}
END_TEST

/* A cosine becomes a turning number; by scipy.signal's definition also of odd lengths. */
START_TEST(analytic_signals)
{
    for (int n = 11; n < 13; n++) {
        double x[ROOM], turn[ROOM];
        for (int i = 0; i < n; i++) x[i] = 0.5 + cos(6 * pi * i / n), turn[i] = sin(6 * pi * i / n);
        const eddy_tensor y = eddy_analytic_signal(vec(F64, n, x));
        near("real", 1e-14, Real(y), n, x);
        near("imaginary", 1e-14, Imag(y), n, turn);
    }
}
END_TEST

Suite *stft_suite(void)
{
    Suite *s = suite_create("stft");
    TCase *t = tcase_create("signals");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, frames);
    tcase_add_test(t, frames_added_up);
    tcase_add_test(t, long_signals);
    tcase_add_test(t, cosine_transforms);
    tcase_add_test(t, inverse_cosine_transforms);
    tcase_add_loop_test(t, short_time_transform, 0, 2);
    tcase_add_loop_test(t, there_and_back, 0, 4);
    tcase_add_test(t, short_transforms);
    tcase_add_test(t, mel_bands);
    tcase_add_test(t, cepstra);
    tcase_add_test(t, analytic_signals);
    suite_add_tcase(s, t);
    return s;
}
