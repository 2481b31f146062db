/* rows_spectral.c -- Fourier transforms. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

/* The square of the absolute value of complex numbers. */
static eddy_tensor power(eddy_tensor y) { return Add(Square(Real(y)), Square(Imag(y))); }

BUILD(fft, power(eddy_fft(Complex(x[0], x[1]))))
BUILD(fft_2, power(eddy_fft2d(Complex(x[0], x[1]))))
BUILD(rfft, power(eddy_rfft(x[0])))
BUILD(rfft_2, power(eddy_rfft2d(x[0])))
BUILD(irfft, eddy_irfft(Complex(x[0], x[1])))
BUILD(there_and_back, eddy_irfft(eddy_rfft(x[0])))
BUILD(ifft, power(eddy_ifft(Complex(x[0], x[1]))))
BUILD(ifft_2, power(eddy_ifft2d(Complex(x[0], x[1]))))
BUILD(irfft_2, eddy_irfft2d(Complex(x[0], x[1])))
BUILD(fft_3, power(eddy_fft3d(Complex(x[0], x[1]))))
BUILD(dct_2, eddy_dct(x[0]))
BUILD(dct_images, eddy_transpose(eddy_dct(eddy_transpose(eddy_dct(x[0]), EDDY_DIMS(0, 2, 1))),
                                 EDDY_DIMS(0, 2, 1)))
BUILD(idct_2, eddy_idct(x[0]))
BUILD(analytic, power(eddy_analytic_signal(x[0])))
BUILD(back, eddy_inverse_stft(eddy_stft(x[0], 512, 128), 512, 128))

static const ops_row rows[] = {
    OPS_ROW("fft 64", fft, 2, S(4000, 64), S(4000, 64)),
    OPS_ROW("fft 1024", fft, 2, S(256, 1024), S(256, 1024)),
    OPS_ROW("fft 1000", fft, 2, S(256, 1000), S(256, 1000)),
    OPS_ROW("fft 997", fft, 2, S(256, 997), S(256, 997)),
    OPS_ROW("fft 2^18", fft, 2, S(262144), S(262144)),
    OPS_ROW("fft2d", fft_2, 2, S(16, 128, 128), S(16, 128, 128)),
    OPS_ROW("rfft 64", rfft, 1, S(8000, 64)),
    OPS_ROW("rfft 1024", rfft, 1, S(512, 1024)),
    OPS_ROW("rfft2d", rfft_2, 1, S(16, 128, 128)),
    OPS_ROW("irfft 1024", irfft, 2, S(512, 513), S(512, 513)),
    OPS_ROW("rfft and irfft", there_and_back, 1, S(512, 1024)),
    OPS_GRADIENT("rfft 1024, gradient", rfft, 1, S(512, 1024)),
    OPS_GRADIENT("fft 1024, gradient", fft, 2, S(256, 1024), S(256, 1024)),
    OPS_ROW("ifft 1024", ifft, 2, S(256, 1024), S(256, 1024)),
    OPS_ROW("ifft2d", ifft_2, 2, S(16, 128, 128), S(16, 128, 128)),
    OPS_ROW("irfft2d", irfft_2, 2, S(16, 128, 65), S(16, 128, 65)),
    OPS_ROW("fft3d", fft_3, 2, S(2, 32, 32, 32), S(2, 32, 32, 32)),
    OPS_ROW("fft2d 81 x 75", fft_2, 2, S(16, 81, 75), S(16, 81, 75)),
    OPS_ROW("rfft 999", rfft, 1, S(512, 999)),
    OPS_GRADIENT("fft2d, gradient", fft_2, 2, S(16, 128, 128), S(16, 128, 128)),
    OPS_ROW("dct 1024", dct_2, 1, S(512, 1024)),
    OPS_ROW("dct 999", dct_2, 1, S(512, 999)),
    OPS_ROW("dct of images", dct_images, 1, S(64, 64, 64)),
    OPS_ROW("idct 1024", idct_2, 1, S(512, 1024)),
    OPS_GRADIENT("dct 1024, gradient", dct_2, 1, S(512, 1024)),
    OPS_ROW("analytic_signal", analytic, 1, S(256, 1024)),
    OPS_ROW("stft and back", back, 1, S(8, 16000)),
};
OPS_FAMILY(spectral, rows);
