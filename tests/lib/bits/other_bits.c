/* other_bits.c -- see other_bits.h. */
#include "tests/lib/bits/other_bits.h"

#include <string.h>

enum {
    SINGLE  = 1 << EDDY_FLOAT32 | 1 << EDDY_FLOAT16 | 1 << EDDY_BFLOAT16,
    DOUBLE  = 1 << EDDY_FLOAT64,
    COMPLEX = 1 << EDDY_COMPLEX64 | 1 << EDDY_COMPLEX128,
    REAL    = SINGLE | DOUBLE,
    ALL     = REAL | COMPLEX
};

/* Where EDDY_CPU matters, the rows show it. Other libraries may round the few sums and arguments of
 * the rows alike. */
#define ONE_ROUNDING "tiles multiply and add with one rounding where the processor does"
#define TILES(op, types) { op, types, SETS | MACHINES, SETS, ONE_ROUNDING }
#define BLAS(op, types) { op, types, MACHINES, 0, "OpenBLAS chooses its kernel" }
#define LAPACK(op) { op, ALL, MACHINES, 0, "OpenBLAS chooses the kernels of its LAPACK" }
#define LIBM(op, types) \
    { op, types, MACHINES, 0, "the C library, or division of the compiler's, may use FMA" }
#define FFTW(op) { op, ALL, MACHINES | PINNED, 0, "FFTW chooses by itself" }

static const other_bits list[] = {
    TILES("MatMul", SINGLE), TILES("BatchMatMulV2", SINGLE), TILES("_FusedMatMul", SINGLE),
    TILES("_MatMulAccumulate", SINGLE), TILES("BlockLSTM", SINGLE),
    TILES("PackedSelfAttention", SINGLE), TILES("ScaledDotProductAttention", SINGLE),
    TILES("ScaledDotProductAttentionGrad", SINGLE), TILES("Conv2D", REAL),
    TILES("Conv2DBackpropInput", REAL), TILES("Conv2DBackpropFilter", REAL),
    /* differs with sizes above those of its rows */
    { "PackedSelfAttentionGrad", SINGLE, SETS | MACHINES, 0, ONE_ROUNDING },

    BLAS("MatMul", DOUBLE | COMPLEX), BLAS("BatchMatMulV2", DOUBLE | COMPLEX),
    BLAS("_FusedMatMul", DOUBLE | COMPLEX), BLAS("_MatMulAccumulate", DOUBLE | COMPLEX),

    LAPACK("Cholesky"), LAPACK("Eig"), LAPACK("LogMatrixDeterminant"), LAPACK("Lu"),
    LAPACK("MatrixDeterminant"), LAPACK("MatrixDeterminantGrad"), LAPACK("MatrixExponential"),
    LAPACK("MatrixInverse"), LAPACK("MatrixPseudoInverse"), LAPACK("MatrixSolve"),
    LAPACK("MatrixSquareRoot"), LAPACK("MatrixTriangularSolve"), LAPACK("Qr"),
    LAPACK("RandomOrthogonal"), LAPACK("SelfAdjointEigV2"), LAPACK("Svd"), LAPACK("Sylvester"),
    LAPACK("TridiagonalSolve"),

    LIBM("Pow", DOUBLE | COMPLEX), LIBM("Zeta", REAL), LIBM("Polygamma", REAL),
    LIBM("Acos", COMPLEX), LIBM("Acosh", COMPLEX), LIBM("Asin", COMPLEX), LIBM("Asinh", COMPLEX),
    LIBM("Atan", COMPLEX), LIBM("Atanh", COMPLEX), LIBM("Cos", COMPLEX), LIBM("Cosh", COMPLEX),
    LIBM("Exp", COMPLEX), LIBM("Expm1", COMPLEX), LIBM("Log", COMPLEX), LIBM("Log1p", COMPLEX),
    LIBM("Sigmoid", COMPLEX), LIBM("Sin", COMPLEX), LIBM("Sinh", COMPLEX), LIBM("Tan", COMPLEX),
    LIBM("Tanh", COMPLEX), LIBM("Xlogy", COMPLEX), LIBM("Xdivy", COMPLEX),
    LIBM("Sqrt", COMPLEX), LIBM("Rsqrt", COMPLEX), LIBM("RealDiv", COMPLEX),
    LIBM("DivNoNan", COMPLEX), LIBM("Reciprocal", COMPLEX), LIBM("Sign", COMPLEX),

    FFTW("FFT"), FFTW("IFFT"), FFTW("RFFT"), FFTW("IRFFT"),
};
enum { LISTED = sizeof list / sizeof *list };

int other_bits_count(void) { return LISTED; }
const other_bits *other_bits_at(int i) { return &list[i]; }

eddy_dtype other_bits_type(const eddy_node *n)
{
    for (int i = 0; i < n->n_outputs; i++)
        if (eddy_dtype_is_differentiable(n->outputs[i].dtype)) return n->outputs[i].dtype;
    for (int i = 0; i < n->n_inputs; i++) {
        const eddy_dtype d = eddy_dtype_of(n->inputs[i]);
        if (eddy_dtype_is_differentiable(d)) return d;
    }
    return EDDY_DEFAULT_DTYPE;
}

int other_bits_of(const eddy_node *n, bits_change change)
{
    for (int i = 0; i < LISTED; i++)
        if (list[i].changes & change && list[i].types >> other_bits_type(n) & 1 &&
            strcmp(list[i].op, n->op->name) == 0)
            return i;
    return -1;
}
