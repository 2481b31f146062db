/* signal.c -- Fourier transforms, windows and mel bands. Complex numbers are a last axis of 1 or 2
 * real ones. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>

/* A tensor whose last axis is complex. */
static eddy_tensor complex_of(onnx_build *b, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    const int64_t    parts = s.rank > 0 ? s.dim[s.rank - 1] : 0;
    if (parts != 1 && parts != 2) {
        eddy__onnx_missing(b, "the last axis must be known to be 1 or 2");
        return x;
    }
    const eddy_tensor re = eddy_gather(x, eddy_number(b->graph, EDDY_INT32, 0), .axis = s.rank - 1);
    if (parts == 1) return Complex(re, ZerosLike(re));
    return Complex(re, eddy_gather(x, eddy_number(b->graph, EDDY_INT32, 1), .axis = s.rank - 1));
}

static eddy_tensor parts_of(eddy_tensor z) { return eddy_stack(EDDY_LIST(Real(z), Imag(z)), -1); }

/* z with n elements along its last axis, cut off or padded with zeros. */
static eddy_tensor resized(eddy_tensor z, int64_t n)
{
    const eddy_shape s = eddy_shape_of(z);
    if (s.rank < 1) return z;
    const int64_t    size = s.dim[s.rank - 1];
    eddy_dims begin = { .count = s.rank }, sizes = { .count = s.rank }, more = { .count = s.rank };
    if (n < 0 || n == size) return z;
    for (int i = 0; i < s.rank; i++) sizes.at[i] = -1;
    sizes.at[s.rank - 1] = n;
    more.at[s.rank - 1] = size < 0 ? n : n - size;
    if (n > size) z = Complex(eddy_pad(Real(z), begin, more), eddy_pad(Imag(z), begin, more));
    return eddy_slice(z, begin, sizes);
}

/* The axis is an attribute in operator set 17, then input 2. */
static bool dft(onnx_build *b)
{
    int64_t   list[ONNX_MAX_LIST], length[ONNX_MAX_LIST] = { -1 };
    const int rank = eddy__onnx_rank(b, 0);
    int64_t   axis = eddy__onnx_int(b, "axis", b->version < 20 ? 1 : -2);
    if (b->version >= 20) {
        const int n = eddy__onnx_list(b, 2, NULL, list);
        if (n == ONNX_FAILED) return false;
        if (n > 0) axis = list[0];
    }
    const int at = eddy__onnx_axis(b, axis, rank), m = eddy__onnx_list(b, 1, NULL, length);
    const bool inverse = eddy__onnx_int(b, "inverse", 0), half = eddy__onnx_int(b, "onesided", 0);
    if (at < 0 || m == ONNX_FAILED) return false;
    if (at == rank - 1) return eddy__onnx_invalid(b, "the axis is that of the complex parts");
    eddy_tensor z = complex_of(b, eddy__onnx_in(b, 0));
    if (b->reason) return false;
    z = resized(eddy_moveaxis(z, at, -1), m > 0 ? length[0] : -1);
    z = inverse ? eddy_ifft(z) : eddy_fft(z);
    const int64_t n = eddy_shape_of(z).dim[rank - 2];
    if (half && n < 0) return eddy__onnx_missing(b, "onesided needs a known length");
    if (half) z = resized(z, n / 2 + 1);
    return eddy__onnx_put(b, 0, parts_of(eddy_moveaxis(z, -1, at)));
}

static bool stft(onnx_build *b)
{
    int64_t           step[ONNX_MAX_LIST], length[ONNX_MAX_LIST];
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int n = eddy__onnx_list(b, 1, NULL, step), m = eddy__onnx_list(b, 3, NULL, length);
    if (n == ONNX_FAILED || m == ONNX_FAILED) return false;
    const bool        windowed = eddy__onnx_has(b, 2);
    const eddy_tensor window = eddy__onnx_in(b, 2);
    if (m == ONNX_ABSENT && windowed) length[0] = eddy_shape_of(window).dim[0];
    if (n != 1 || (m != 1 && !windowed) || length[0] < 1)
        return eddy__onnx_invalid(b, "the step or the length of a frame is missing");
    eddy_tensor z = complex_of(b, eddy_shape_of(x).rank == 2 ? ExpandDims(x, 2) : x);
    if (b->reason) return false;
    z = eddy_frame(z, length[0], step[0]);
    if (windowed) z = Mul(z, Complex(window, ZerosLike(window)));
    z = eddy_fft(z);
    if (eddy__onnx_int(b, "onesided", 1)) z = resized(z, length[0] / 2 + 1);
    return eddy__onnx_put(b, 0, parts_of(z));
}

/* a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), n the size, or one less if it is symmetric. */
static bool window(onnx_build *b, double a0, double a1, double a2)
{
    int64_t   size[ONNX_MAX_LIST];
    const int n = eddy__onnx_list(b, 0, NULL, size),
              type = (int)eddy__onnx_int(b, "output_datatype", ONNX_FLOAT);
    if (n == ONNX_FAILED) return false;
    if (n != 1 || size[0] < 0 || !eddy__onnx_is_float(type))
        return eddy__onnx_missing(b, "the size or the element type is not supported");
    double       *w = eddy__onnx_computed(b, size[0]);
    const double  period = (double)(eddy__onnx_int(b, "periodic", 1) ? size[0] : size[0] - 1);
    const double  pi = 3.14159265358979323846;
    if (!w) return false;
    for (int64_t i = 0; i < size[0]; i++) {
        const double phase = period > 0 ? 2 * pi * (double)i / period : 0;
        w[i] = a0 - a1 * cos(phase) + a2 * cos(2 * phase);
    }
    const eddy_tensor y = eddy_const(b->graph, EDDY_FLOAT64, eddy_shape_of_dims(size, 1), w);
    return eddy__onnx_put_as(b, 0, Cast(y, eddy__onnx_dtype(type)), type);
}

static bool hann(onnx_build *b) { return window(b, 0.5, 0.5, 0); }
static bool hamming(onnx_build *b) { return window(b, 25.0 / 46, 21.0 / 46, 0); }
static bool blackman(onnx_build *b) { return window(b, 0.42, 0.5, 0.08); }

/* One number of any type; NaN with a reason. */
static double number(onnx_build *b, int i, const char *what)
{
    const eddy_array *a = eddy__onnx_need(b, i, what);
    return a && eddy_array_count(a) == 1 ? eddy_array_item(a) : NAN;
}

/* The bands' edges are frequency bins, equally spaced in mels and rounded down. */
static void mel_weights(double *w, int64_t bins, int64_t bands, const int64_t *edge)
{
    for (int64_t j = 0; j < bands; j++) {
        const int64_t low = edge[j], center = edge[j + 1], high = edge[j + 2];
        if (low == center && center < bins) w[center * bands + j] = 1;
        for (int64_t i = low; low != center && i <= center && i < bins; i++)
            w[i * bands + j] = (double)(i - low) / (double)(center - low);
        for (int64_t i = center; i < high && i < bins; i++)
            w[i * bands + j] = (double)(high - i) / (double)(high - center);
    }
}

static bool mel_matrix(onnx_build *b)
{
    const double bands = number(b, 0, "the number of bands"),
                 length = number(b, 1, "the length of the transform");
    const double rate = number(b, 2, "the sample rate"), low = number(b, 3, "the lower edge"),
                 high = number(b, 4, "the upper edge");
    const int    type = (int)eddy__onnx_int(b, "output_datatype", ONNX_FLOAT);
    if (b->reason) return false;
    if (!(bands >= 1 && bands <= 4096 && length >= 1 && length <= 1 << 20 && rate > 0 && low >= 0 &&
          high > low && high < 1e9) ||
        !eddy__onnx_is_float(type))
        return eddy__onnx_invalid(b, "the numbers of the bands are invalid");
    const int64_t n = (int64_t)bands, bins = (int64_t)length / 2 + 1;
    int64_t      *edge = eddy__region_take(b->memory, (size_t)n + 2, sizeof *edge);
    double       *w = eddy__onnx_computed(b, bins * n);
    const double  from = 2595 * log10(1 + low / 700), to = 2595 * log10(1 + high / 700);
    if (!edge || !w) return false;
    for (int64_t i = 0; i < n + 2; i++) {
        const double mel = from + (double)i * ((to - from) / (double)(n + 2));
        edge[i] = (int64_t)fmin((length + 1) * (700 * (pow(10, mel / 2595) - 1)) / rate, 1e15);
    }
    mel_weights(w, bins, n, edge);
    const eddy_tensor y = eddy_const(b->graph, EDDY_FLOAT64, EDDY_SHAPE(bins, n), w);
    return eddy__onnx_put_as(b, 0, Cast(y, eddy__onnx_dtype(type)), type);
}

const onnx_operator eddy__onnx_signal[] = {
    { "DFT", 17, dft },
    { "STFT", 17, stft },
    { "HannWindow", 17, hann },
    { "HammingWindow", 17, hamming },
    { "BlackmanWindow", 17, blackman },
    { "MelWeightMatrix", 17, mel_matrix },
    { NULL },
};
