/* rows_spectral.c -- Fourier transforms; see rows.h.  Inputs and results of rows are real:
 * the two parts of a complex number are two of them. */
#include "tests/lib/rows.h"

#define LENGTHS(...) .fft_length = EDDY_DIMS(__VA_ARGS__)

/* Both parts of a complex y; numbers with these parts, or x and 1 - x/2. */
static eddy_tensor parts(eddy_tensor y)
{
    const eddy_tensor list[] = { Real(y), Imag(y) };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
static eddy_tensor whole(eddy_tensor x)
{
    return eddy_dtype_is_floating(eddy_dtype_of(x)) ? Complex(x, Sub(1, Mul(0.5, x))) : x;
}
/* Lengths need a known rank. */
static eddy_tensor of_rank(eddy_tensor x, int rank)
{
    const int64_t open[] = { -1, -1, -1, -1 };
    return eddy_set_shape(x, eddy_shape_of_dims(open, (size_t)rank));
}

BUILD(fft, parts(eddy_fft(Complex(x[0], x[1]))))
BUILD(fft_2, parts(eddy_fft2d(Complex(x[0], x[1]))))
BUILD(fft_3, parts(eddy_fft3d(Complex(x[0], x[1]))))
BUILD(ifft, parts(eddy_ifft(Complex(x[0], x[1]))))
BUILD(ifft_2, parts(eddy_ifft2d(Complex(x[0], x[1]))))
BUILD(ifft_3, parts(eddy_ifft3d(Complex(x[0], x[1]))))
/* The constant keeps values away from 0, where the absolute value has a kink. */
BUILD(fft_squared, Abs(Square(Add(eddy_fft(whole(x[0])), 30))))
BUILD(rfft, parts(eddy_rfft(x[0])))
BUILD(rfft_cut, parts(eddy_rfft(of_rank(x[0], 2), 3)))
BUILD(rfft_grown, parts(eddy_rfft(of_rank(x[0], 2), 8)))
BUILD(rfft_2, parts(eddy_rfft2d(x[0])))
BUILD(rfft_2_sized, parts(eddy_rfft2d(of_rank(x[0], 3), LENGTHS(2, 6))))
BUILD(rfft_3, parts(eddy_rfft3d(x[0])))
BUILD(rfft_power, eddy_irfft(Square(eddy_rfft(x[0]))))
BUILD(irfft, eddy_irfft(Complex(x[0], x[1])))
BUILD(irfft_odd, eddy_irfft(of_rank(Complex(x[0], x[1]), 2), 7))
BUILD(irfft_cut, eddy_irfft(of_rank(Complex(x[0], x[1]), 2), 4))
BUILD(irfft_grown, eddy_irfft(of_rank(Complex(x[0], x[1]), 2), 9))
BUILD(irfft_2, eddy_irfft2d(Complex(x[0], x[1])))
BUILD(irfft_2_sized, eddy_irfft2d(of_rank(Complex(x[0], x[1]), 3), LENGTHS(4, 5)))
BUILD(irfft_3, eddy_irfft3d(Complex(x[0], x[1])))

static const sweep_row rows[] = {
    OP("FFT", "", fft, 2, S(3, 4), S(3, 4)),
    OP("FFT", "an odd length", fft, 2, S(2, 5), S(2, 5)),
    OP("FFT", "2d", fft_2, 2, S(2, 3, 4), S(2, 3, 4)),
    OP("FFT", "3d", fft_3, 2, S(2, 3, 2), S(2, 3, 2)),
    OP("FFT", "squared", fft_squared, 1, S(3, 4)),
    OP("IFFT", "", ifft, 2, S(3, 4), S(3, 4)),
    OP("IFFT", "2d", ifft_2, 2, S(2, 3, 3), S(2, 3, 3)),
    OP("IFFT", "3d", ifft_3, 2, S(2, 3, 2), S(2, 3, 2)),
    OP("RFFT", "", rfft, 1, S(3, 6)),
    OP("RFFT", "an odd length", rfft, 1, S(3, 5)),
    OP("RFFT", "cut", rfft_cut, 1, S(3, 5)),
    OP("RFFT", "grown", rfft_grown, 1, S(3, 5)),
    OP("RFFT", "2d", rfft_2, 1, S(2, 3, 4)),
    OP("RFFT", "2d, sized", rfft_2_sized, 1, S(2, 3, 4)),
    OP("RFFT", "3d", rfft_3, 1, S(2, 3, 4)),
    OP("RFFT", "and back", rfft_power, 1, S(2, 6)),
    OP("IRFFT", "", irfft, 2, S(3, 4), S(3, 4)),
    OP_KEEP("IRFFT", "an odd length", irfft_odd, 2, KEEP(4), S(3, 4), S(3, 4)),
    OP("IRFFT", "cut", irfft_cut, 2, S(2, 4), S(2, 4)),
    OP("IRFFT", "grown", irfft_grown, 2, S(2, 4), S(2, 4)),
    OP("IRFFT", "2d", irfft_2, 2, S(2, 3, 3), S(2, 3, 3)),
    OP("IRFFT", "2d, sized", irfft_2_sized, 2, S(2, 3, 3), S(2, 3, 3)),
    OP("IRFFT", "3d", irfft_3, 2, S(2, 3, 2), S(2, 3, 2)),
};
FAMILY_OF_ROWS(spectral, rows);
