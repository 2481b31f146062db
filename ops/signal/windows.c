/* windows.c -- window functions of signals (Hann, Hamming, Blackman, Kaiser, ...), which are
 * constants; fftshift and ifftshift. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/vector_elementary_f64.h"
#include "ops/short_names.h"

#include <math.h>

/* --------------------------------------------------------------- windows -- */

static const double pi = 3.14159265358979323846;

/* The value at position i of n; b is the parameter of the window. */
typedef double window_fn(double i, double n, double b);

static eddy_tensor window_of(eddy_graph *g, const char *what, int64_t length, double n,
                             window_fn *fn, double b, eddy_dtype dtype)
{
    const eddy_dtype d = dtype ? dtype : EDDY_FLOAT32;
    if (!eddy__graph_ready(g)) return eddy_none(g);
    if (length < 1 || length > INT32_MAX)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: a length of %lld is not in [1, 2^31)", what,
                         (long long)length);
    if (!eddy__expect_type(g, what, "dtype", d, EDDY_TAKES_FLOATS)) return eddy_none(g);
    eddy_array *a = eddy_array_new_in(eddy__graph_allocator(g), d, EDDY_SHAPE(length));
    if (!a) return eddy_fail(g, EDDY_NO_MEMORY, "%s: out of memory for %lld numbers", what,
                             (long long)length);
    for (int64_t i = 0; i < length; i++)
        eddy_array_set(a, i, length == 1 ? 1 : fn((double)i, n, b));
    const eddy_tensor y = eddy_constant(g, a, what);
    eddy_array_free(a);
    return y;
}

/* The length of a period: TensorFlow's Hann and Hamming windows of odd length are symmetric. */
static double period(int64_t length, bool periodic)
{
    return (double)(periodic && length % 2 == 0 ? length : length - 1);
}

static double raised_cosine(double i, double n, double b)
{
    return b - (1 - b) * eddy__cos_f64(2 * pi * i / n);
}

#ifdef EDDY_HEADER
typedef struct eddy_window_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_window_args));
    eddy_graph *graph;
    int64_t     window_length;
    bool        periodic EDDY_DEFAULT(true);
    eddy_dtype  dtype;           /* default: float32 */
} eddy_window_args;

typedef struct eddy_kaiser_window_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_kaiser_window_args));
    eddy_graph *graph;
    int64_t     window_length;
    double      beta EDDY_DEFAULT(12);
    eddy_dtype  dtype;           /* default: float32 */
} eddy_kaiser_window_args;

typedef struct eddy_vorbis_window_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_vorbis_window_args));
    eddy_graph *graph;
    int64_t     window_length;
    eddy_dtype  dtype;           /* default: float32 */
} eddy_vorbis_window_args;
#endif

/** y[i] = 0.5 - 0.5 cos(2 pi i / n): the Hann window.
 *
 *  window_length  at least 1; a window of length 1 is 1
 *  periodic       n is window_length if that is even; otherwise, and for symmetric windows,
 *                 window_length - 1
 *  dtype          float32 (default) or float64
 *
 *  y is a constant of the graph.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid length, EDDY_BAD_DTYPE.
 *  TensorFlow: tf.signal.hann_window. */
eddy_tensor eddy_hann_window_with(const eddy_window_args *given)
{
    eddy_window_args a = EDDY_TAKE(eddy_window_args, given);
    const double n = period(a.window_length, a.periodic);
    return window_of(a.graph, "hann_window", a.window_length, n, raised_cosine, 0.5, a.dtype);
}

/** y[i] = 0.54 - 0.46 cos(2 pi i / n): the Hamming window.
 *
 *  window_length, periodic, dtype  as for eddy_hann_window
 *
 *  Errors: as for eddy_hann_window.  TensorFlow: tf.signal.hamming_window. */
eddy_tensor eddy_hamming_window_with(const eddy_window_args *given)
{
    eddy_window_args a = EDDY_TAKE(eddy_window_args, given);
    const double n = period(a.window_length, a.periodic);
    return window_of(a.graph, "hamming_window", a.window_length, n, raised_cosine, 0.54, a.dtype);
}

static double blackman(double i, double n, double b)
{
    (void)b;
    const double t = 2 * pi * i / n, twice = eddy__cos_f64(2 * t);
    const double y = 0.42 - 0.5 * eddy__cos_f64(t) + 0.08 * twice;
    return y > 0 ? y : 0;
}

/** y[i] = 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n): the Blackman window.
 *
 *  window_length  at least 1; a window of length 1 is 1
 *  periodic       true: n is window_length; false: window_length - 1
 *  dtype          float32 (default) or float64
 *
 *  Errors: as for eddy_hann_window.  TensorFlow: none; PyTorch: blackman_window. */
eddy_tensor eddy_blackman_window_with(const eddy_window_args *given)
{
    eddy_window_args a = EDDY_TAKE(eddy_window_args, given);
    const double n = (double)(a.window_length - !a.periodic);
    return window_of(a.graph, "blackman_window", a.window_length, n, blackman, 0, a.dtype);
}

static double bartlett(double i, double n, double b)
{
    (void)b;
    return 1 - fabs(2 * i / n - 1);
}

/** y[i] = 1 - |2 i / n - 1|: the Bartlett window, which is a triangle.
 *
 *  window_length, periodic, dtype  as for eddy_blackman_window
 *
 *  Errors: as for eddy_hann_window.  TensorFlow: none; PyTorch: bartlett_window. */
eddy_tensor eddy_bartlett_window_with(const eddy_window_args *given)
{
    eddy_window_args a = EDDY_TAKE(eddy_window_args, given);
    const double n = (double)(a.window_length - !a.periodic);
    return window_of(a.graph, "bartlett_window", a.window_length, n, bartlett, 0, a.dtype);
}

/* exp(-x) I0(x), x >= 0: the integral of exp(x (cos t - 1)) over a period; its trapezoidal sum
 * is accurate to rounding once the spacing is smaller than the width of the peak. */
static double scaled_i0(double x)
{
    const int n = x < 1e8 ? 64 + 16 * (int)sqrt(x) : 0;
    double sum = 0;
    if (n == 0) return 1 / sqrt(2 * pi * x);
    for (int k = 0; k < n; k++) {
        const double s = eddy__sin_f64(pi * k / n);
        sum += eddy__exp_f64(-2 * x * s * s);
    }
    return sum / n;
}

static double kaiser(double i, double n, double beta)
{
    const double t = 2 * i / n - 1, at = fabs(beta) * sqrt(fmax(0, 1 - t * t));
    return eddy__exp_f64(at - fabs(beta)) * scaled_i0(at) / scaled_i0(fabs(beta));
}

/** y[i] = I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta), n = window_length - 1: the Kaiser window.
 *
 *  window_length  at least 1; a window of length 1 is 1
 *  beta           shape parameter; larger values give a narrower window
 *  dtype          float32 (default) or float64
 *
 *  Errors: as for eddy_hann_window; EDDY_INVALID_ARGUMENT if beta is not finite.
 *  TensorFlow: tf.signal.kaiser_window. */
eddy_tensor eddy_kaiser_window_with(const eddy_kaiser_window_args *given)
{
    eddy_kaiser_window_args a = EDDY_TAKE(eddy_kaiser_window_args, given);
    if (!isfinite(a.beta))
        return eddy_fail(a.graph, EDDY_INVALID_ARGUMENT,
                         "kaiser_window: beta is %g; it must be finite", a.beta);
    return window_of(a.graph, "kaiser_window", a.window_length, (double)(a.window_length - 1),
                     kaiser, a.beta,
                     a.dtype);
}

static double vorbis(double i, double n, double b)
{
    (void)b;
    const double s = eddy__sin_f64(pi / n * (i + 0.5));
    return eddy__sin_f64(pi / 2 * s * s);
}

/** y[i] = sin(pi/2 sin(pi/n (i + 1/2))^2), n = window_length: the Vorbis window, whose
 *  squares half a window apart add up to 1.
 *
 *  window_length  at least 1
 *  dtype          float32 (default) or float64
 *
 *  Errors: as for eddy_hann_window.  TensorFlow: tf.signal.vorbis_window. */
eddy_tensor eddy_vorbis_window_with(const eddy_vorbis_window_args *given)
{
    eddy_vorbis_window_args a = EDDY_TAKE(eddy_vorbis_window_args, given);
    return window_of(a.graph, "vorbis_window", a.window_length, (double)a.window_length, vorbis, 0,
                     a.dtype);
}

/* --------------------------------------------------------- frequency shifts -- */

/* Exchanges the halves of x along the axis; if the length is odd, the first half is the longer
 * one, and in the inverse the second. */
static eddy_tensor exchange_halves(eddy_tensor x, int axis, bool inverse)
{
    const int64_t n = eddy_shape_of(x).dim[axis];
    if (n >= 0) return eddy_roll(x, inverse ? n - n / 2 : n / 2, axis);
    const eddy_tensor size = eddy_size_along(x, axis), half = FloorDiv(size, 2);
    const eddy_tensor first = inverse ? half : Sub(size, half);
    const eddy_tensor at = eddy_row_numbers(eddy__batch_swap(x, 0, axis), EDDY_INT64);
    return Gather(x, FloorMod(Add(at, first), size), axis);
}

static eddy_tensor shift_of(eddy_tensor x, const char *what, eddy_dims axes, bool inverse)
{
    const int rank = eddy_shape_of(x).rank;
    if (!eddy_is_valid(x)) return x;
    if (rank < 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: the rank of x is unknown", what);
    if (eddy_refuse_number(x.graph, what, "axes", axes)) return eddy_none(x.graph);
    if (axes.count == 0)
        for (; axes.count < rank; axes.count++) axes.at[axes.count] = axes.count;
    for (int i = 0; i < axes.count; i++) {
        if (i >= EDDY_MAX_RANK || axes.at[i] < -rank || axes.at[i] >= rank)
            return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: x of rank %d has no axis %lld",
                             what, rank, (long long)axes.at[i]);
        x = exchange_halves(x, eddy__axis_of(axes.at[i], rank), inverse);
    }
    return axes.count < 1 ? eddy_identity(x) : x;
}

#ifdef EDDY_HEADER
typedef struct eddy_fftshift_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_fftshift_args));
    eddy_tensor x;
    eddy_dims   axes;          /* default: all */
} eddy_fftshift_args;
#endif

/** y = x with the halves exchanged along each axis, which brings frequency 0 to the middle.
 *
 *  x     any element type, rank known
 *  axes  a list, where negative axes count from the end; default: all
 *
 *  Errors: EDDY_BAD_SHAPE for an unknown rank, EDDY_INVALID_ARGUMENT for an axis that x does
 *  not have.
 *  Gradient: dx = eddy_ifftshift of dy.  TensorFlow: tf.signal.fftshift. */
eddy_tensor eddy_fftshift_with(const eddy_fftshift_args *given)
{
    eddy_fftshift_args a = EDDY_TAKE(eddy_fftshift_args, given);
    return shift_of(a.x, "fftshift", a.axes, false);
}

/** y = x with the inverse permutation of eddy_fftshift.
 *
 *  x, axes  as for eddy_fftshift
 *
 *  Errors: as for eddy_fftshift.
 *  Gradient: dx = eddy_fftshift of dy.  TensorFlow: tf.signal.ifftshift. */
eddy_tensor eddy_ifftshift_with(const eddy_fftshift_args *given)
{
    eddy_fftshift_args a = EDDY_TAKE(eddy_fftshift_args, given);
    return shift_of(a.x, "ifftshift", a.axes, true);
}
