/* dct.c -- discrete cosine transforms (DCT) and the analytic signal, composed of Fourier
 * transforms. */
#include "ops/signal/frames.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_dct_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_dct_args));
    eddy_tensor x;
    int64_t     type EDDY_DEFAULT(2); /* 1 to 4 */
    int64_t     n EDDY_DEFAULT(EDDY_OMITTED); /* length of the transform; default: that of x */
    const char *norm;              /* "ortho"; default: none */
    const char *name;
} eddy_dct_args;
#endif

static const double pi = 3.14159265358979323846;

/* 0, 1, ..: n numbers in the graph of x, as float64. */
static eddy_tensor numbers(eddy_tensor x, int64_t n)
{
    eddy_graph *g = x.graph;
    return eddy_range(eddy_number(g, EDDY_FLOAT64, 0), eddy_number(g, EDDY_FLOAT64, (double)n),
                      eddy_number(g, EDDY_FLOAT64, 1));
}

/* 2 exp(i angle k) for k = 0 .. n - 1, of the complex type of x. */
static eddy_tensor twiddles(eddy_tensor x, int64_t n, double angle)
{
    const eddy_tensor at = Mul(numbers(x, n), angle);
    return Complex(CastLike(Mul(Cos(at), 2), x), CastLike(Mul(Sin(at), 2), x));
}

/* `first` at index 0, followed by `others`, with the type of x. */
static eddy_tensor weights(eddy_tensor x, int64_t n, double first, double others)
{
    const eddy_tensor k = numbers(x, n), rest = Mul(OnesLike(k), others);
    return CastLike(Where(Equal(k, 0), first, rest), x);
}

/* --------------------------------------------------------- the four types -- */

/* x followed by its inner elements reversed is a signal with a real transform. */
static eddy_tensor type_1(eddy_tensor x, int64_t n)
{
    const eddy_tensor back = eddy_index(eddy_reverse(x, EDDY_AXES(-1)), "..., 1:-1");
    return Real(eddy_rfft(n > 2 ? eddy_concat(EDDY_LIST(x, back), -1) : x));
}

/* The elements at `text` along the last axis, reversed. */
static eddy_tensor backwards(eddy_tensor x, const char *text)
{
    return eddy_reverse(eddy_index(x, text), EDDY_AXES(-1));
}

/* The even elements followed by the odd ones reversed are a signal of length n, whose transform has
 * the first half of y as real parts and the second half, reversed, as imaginary parts (Makhoul, "A
 * fast cosine transform in one and two dimensions", 1980). */
static eddy_tensor type_2(eddy_tensor x, int64_t n, bool ortho)
{
    char text[40];
    snprintf(text, sizeof text, "..., 1:%lld", (long long)(n - n / 2));
    const eddy_tensor v = eddy_concat(EDDY_LIST(eddy_index(x, "..., ::2"),
                                                backwards(x, "..., 1::2")), -1);
    const eddy_tensor f = Mul(eddy_rfft(v), twiddles(x, n / 2 + 1, -pi / 2 / (double)n));
    const eddy_tensor y = eddy_concat(EDDY_LIST(Real(f), Neg(backwards(Imag(f), text))), -1);
    return ortho ? Mul(y, weights(x, n, sqrt(0.25 / (double)n), sqrt(0.5 / (double)n))) : y;
}

static eddy_tensor type_3(eddy_tensor x, int64_t n, bool ortho)
{
    x = ortho ? Mul(x, weights(x, n, sqrt((double)n), sqrt(0.5 * (double)n))) : Mul(x, (double)n);
    const eddy_tensor f = Mul(twiddles(x, n, pi / 2 / (double)n), Complex(x, ZerosLike(x)));
    return eddy__fit_last(eddy_irfft(f, 2 * n), n);
}

static eddy_tensor type_4(eddy_tensor x, int64_t n, bool ortho)
{
    const eddy_tensor y = eddy_index(type_2(eddy__fit_last(x, 2 * n), 2 * n, false), "..., 1::2");
    return ortho ? Mul(y, sqrt(0.5 / (double)n)) : y;
}

/* The length of the transform; -1, after reporting an error, if it is not possible. */
static int64_t places(const char *who, const eddy_dct_args *a, int64_t type)
{
    const eddy_shape s = eddy_shape_of(a->x);
    const int64_t    n = a->n == EDDY_OMITTED ? (s.rank > 0 ? s.dim[s.rank - 1] : 0) : a->n;
    char text[128];
    if (!eddy_is_valid(a->x)) return -1;
    if (type < 1 || type > 4)
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "%s: type is %lld; expected 1 to 4", who,
                  (long long)type);
    else if (a->norm && (strcmp(a->norm, "ortho") || type == 1))
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "%s: type %lld does not support norm \"%s\"",
                  who, (long long)type, a->norm);
    else if (s.rank < 1 || s.dim[s.rank - 1] == EDDY_ANY)
        eddy_fail(a->x.graph, EDDY_BAD_SHAPE,
                  "%s: x has shape %s; its last dimension must be known", who,
                  eddy_shape_print(s, text, sizeof text));
    else if (n < (type == 1 ? 2 : 1) || n > INT32_MAX / 4)
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT,
                  "%s: the number of elements is %lld; expected %d to %d for type %lld", who,
                  (long long)n, type == 1 ? 2 : 1, INT32_MAX / 4, (long long)type);
    else return n;
    return -1;
}

static eddy_tensor transform(const char *who, const eddy_dct_args *a, int64_t type)
{
    const int64_t n = places(who, a, type);
    const bool    ortho = a->norm != NULL;
    if (n < 0) return eddy_none(a->x.graph);
    eddy_scope_begin(a->x.graph, a->name ? a->name : who);
    const eddy_tensor x = eddy__fit_last(a->x, n);
    const eddy_tensor y = type == 1 ? type_1(x, n) : type == 2 ? type_2(x, n, ortho)
                        : type == 3 ? type_3(x, n, ortho) : type_4(x, n, ortho);
    eddy_scope_end(a->x.graph);
    return y;
}

/** y = the cosine transform of the last axis, of length n:
 *  type 1: y[k] = x[0] + (-1)^k x[n-1] + 2 sum_{0<j<n-1} x[j] cos(pi k j / (n - 1)),
 *  type 2: y[k] = 2 sum_j x[j] cos(pi k (2j + 1) / 2n),
 *  type 3: y[k] = x[0] + 2 sum_{j>0} x[j] cos(pi (2k + 1) j / 2n),
 *  type 4: y[k] = 2 sum_j x[j] cos(pi (2k + 1) (2j + 1) / 4n).
 *
 *  x     float32 or float64, rank at least 1, its last size known; y has its type
 *  type  1 to 4
 *  n     x is truncated or padded with zeros to this length; default: that of x; at least 2 for
 *        type 1
 *  norm  "ortho": scaled so that the matrix of the transform is orthogonal (not for type 1)
 *
 *  Errors: EDDY_BAD_SHAPE for an unknown size; EDDY_INVALID_ARGUMENT for an invalid type, norm or
 *  length; those of eddy_rfft.
 *  Gradient: that of the formula.  TensorFlow: tf.signal.dct. */
eddy_tensor eddy_dct_with(const eddy_dct_args *given)
{
    eddy_dct_args a = EDDY_TAKE(eddy_dct_args, given);
    return transform("dct", &a, a.type);
}

/** y = the inverse of the eddy_dct of this type, up to a factor 2n without a norm
 *  (2(n - 1) for type 1): type 3 for 2 and 2 for 3.
 *
 *  x, type, n, norm  as for eddy_dct
 *
 *  Errors, Gradient: as for eddy_dct.  TensorFlow: tf.signal.idct. */
eddy_tensor eddy_idct_with(const eddy_dct_args *given)
{
    eddy_dct_args a = EDDY_TAKE(eddy_dct_args, given);
    const int64_t type = a.type;
    return transform("idct", &a, type == 2 ? 3 : type == 3 ? 2 : type);
}

/* ------------------------------------------------------ the analytic signal -- */

/** y = x + i h, where h is the Hilbert transform of x along the last axis: the signal without its
 *  negative frequencies; |y| is the envelope.
 *
 *  x  float32 or float64, rank at least 1, its last size n known and positive; y is complex
 *
 *  Errors: EDDY_BAD_SHAPE for an unknown size or 0; those of eddy_fft.
 *  Gradient: that of the formula.  TensorFlow: none; SciPy: signal.hilbert. */
eddy_tensor eddy_analytic_signal(eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    const int64_t    n = s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY;
    char text[128];
    if (!eddy_is_valid(x)) return x;
    if (n < 1)
        return eddy_fail(
            x.graph, EDDY_BAD_SHAPE,
            "analytic_signal: x has shape %s; its last dimension must be known and positive",
            eddy_shape_print(s, text, sizeof text));
    eddy_scope_begin(x.graph, "analytic_signal");
    const eddy_tensor k = numbers(x, n), twice = Mul(OnesLike(k), 2);
    const eddy_tensor edge = LogicalOr(Equal(k, 0), Equal(k, 0.5 * (double)n));
    const eddy_tensor w = Where(edge, 1, Where(Less(k, 0.5 * (double)n), twice, ZerosLike(k)));
    const eddy_tensor f = eddy_fft(Complex(x, ZerosLike(x)));
    const eddy_tensor y = eddy_ifft(Mul(f, Complex(CastLike(w, x), ZerosLike(CastLike(w, x)))));
    eddy_scope_end(x.graph);
    return y;
}
