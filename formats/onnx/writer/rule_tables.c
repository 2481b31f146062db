/* rule_tables.c -- the rows of all families, and those of operations without one. */
#include "rules.h"

#include <string.h>

static const onnx_family *const families[] = {
    &eddy__write_elementwise, &eddy__write_shapes, &eddy__write_slices, &eddy__write_indexing,
    &eddy__write_reductions, &eddy__write_products, &eddy__write_convolutions, &eddy__write_pools,
    &eddy__write_networks, &eddy__write_state, &eddy__write_control, &eddy__write_random,
    &eddy__write_moved, &eddy__write_attention, &eddy__write_lstm, &eddy__write_resize,
    &eddy__write_special, &eddy__write_scans, &eddy__write_bits, &eddy__write_scatters,
    &eddy__write_selection,
};

const onnx_row *eddy__onnx_row(const char *op)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (int i = 0; i < families[f]->n; i++)
            if (strcmp(families[f]->rows[i].op, op) == 0) return &families[f]->rows[i];
    return NULL;
}

const char *eddy__onnx_formula(const onnx_row *row, eddy_dtype d)
{
    return d == EDDY_FLOAT64 && row->doubles ? row->doubles
         : !eddy_dtype_is_floating(d) && row->integers ? row->integers : row->formula;
}

/* ----------------------------------------------------------------- absences -- */

static const char series[] = "the length of its series depends on the elements";
static const char factors[] = "ONNX has no decompositions of matrices";
static const char spectra[] = "operators of ONNX take no complex numbers";
static const char draws[] = "ONNX draws only uniform and normal numbers";
static const char serial[] = "it is a loop over elements, which ONNX has no operator for";
static const char resized[] = "the positions are data, and ONNX's operators have other ones";
static const char compiler[] = "only the compiler of a session makes it";
static const char host[] = "a C function computes it";

static const onnx_absence absences[] = {
    { "NextAfter", "ONNX has no operators on the bits of floating-point numbers" },
    { "Igamma", series },
    { "Igammac", series },
    { "IgammaGradA", series },
    { "Betainc", series },
    { "Cholesky", factors },
    { "Qr", factors },
    { "Lu", factors },
    { "Svd", factors },
    { "Eig", factors },
    { "SelfAdjointEigV2", factors },
    { "MatrixInverse", factors },
    { "MatrixPseudoInverse", factors },
    { "MatrixSolve", factors },
    { "MatrixTriangularSolve", factors },
    { "MatrixExponential", factors },
    { "MatrixSquareRoot", factors },
    { "LogMatrixDeterminant", factors },
    { "MatrixDeterminantGrad", factors },
    { "Sylvester", factors },
    { "TridiagonalSolve", factors },
    { "FFT", spectra },
    { "IFFT", spectra },
    { "RFFT", spectra },
    { "IRFFT", spectra },
    { "Complex", spectra },
    { "Real", spectra },
    { "Imag", spectra },
    { "Conj", spectra },
    { "Angle", spectra },
    { "ComplexAbs", spectra },
    { "RandomBinomial", draws },
    { "RandomGamma", draws },
    { "RandomPoissonV2", draws },
    { "RandomShuffle", draws },
    { "RandomOrthogonal", draws },
    { "Multinomial", draws },
    { "LogUniformCandidateSampler", draws },
    { "UniformCandidateSampler", draws },
    { "StatelessRandomNormal", draws },
    { "StatelessRandomUniform", draws },
    { "StatelessTruncatedNormal", draws },
    { "CTCLoss", serial },
    { "CTCPosteriors", serial },
    { "CTCBeamSearchDecoder", serial },
    { "CollapseRepeated", serial },
    { "EditDistance", serial },
    { "NonMaxSuppressionV5", serial },
    { "FirstEqual", serial },
    { "CropAndResize", resized },
    { "CropAndResizeGradImage", resized },
    { "ImageProjectiveTransformV3", resized },
    { "ImageProjectiveTransformGrad", resized },
    { "HostScalar", host },
    { "_FusedConv2D", compiler },
    { "_DepthwisePlanes", compiler },
    { "_FusedMatMul", compiler },
    { "_MatMulAccumulate", compiler },
    { "_Choice", compiler },
    { "_Chain", compiler },
    { "CountUpTo", "a counter fails at its limit" },
};

const char *eddy__onnx_absence(const char *op)
{
    for (size_t i = 0; i < sizeof absences / sizeof *absences; i++)
        if (strcmp(absences[i].op, op) == 0) return absences[i].why;
    return NULL;
}
