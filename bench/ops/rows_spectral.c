/* rows_spectral.c -- Fourier transforms. */
#include "bench/ops/bench_ops.h"
#include "ops/math.h"

/* The square of the absolute value of complex numbers. */
static eddy_tensor power(eddy_tensor y) { return Add(Square(Real(y)), Square(Imag(y))); }

BUILD(fft, power(eddy_fft(Complex(x[0], x[1]))))
BUILD(fft_2, power(eddy_fft2d(Complex(x[0], x[1]))))
BUILD(rfft, power(eddy_rfft(x[0])))
BUILD(rfft_2, power(eddy_rfft2d(x[0])))
BUILD(irfft, eddy_irfft(Complex(x[0], x[1])))
BUILD(there_and_back, eddy_irfft(eddy_rfft(x[0])))

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
};
OPS_FAMILY(spectral, rows);
