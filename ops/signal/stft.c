/* stft.c -- short-time Fourier transform (STFT) and its inverse. */
#include "ops/signal/frames.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#ifdef EDDY_HEADER
typedef struct eddy_stft_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_stft_args));
    eddy_tensor signals;
    int64_t     frame_length, frame_step;
    /* default: the smallest power of 2 that is not below frame_length */
    int64_t     fft_length EDDY_DEFAULT(EDDY_OMITTED);
    eddy_tensor window;            /* [frame_length]; default: periodic Hann window */
    bool        pad_end;
    const char *name;
} eddy_stft_args;

typedef struct eddy_inverse_stft_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_inverse_stft_args));
    eddy_tensor stfts;
    int64_t     frame_length, frame_step;
    /* default: the smallest power of 2 that is not below frame_length */
    int64_t     fft_length EDDY_DEFAULT(EDDY_OMITTED);
    eddy_tensor window;            /* [frame_length]; default: periodic Hann window */
    const char *name;
} eddy_inverse_stft_args;
#endif

/* The smallest power of 2 that is not below n; too small for lengths that lengths_fit rejects. */
static int64_t enclosing_power(int64_t n)
{
    int64_t p = 1;
    while (p < n && p <= INT32_MAX) p *= 2;
    return p;
}

/* Checks the lengths; otherwise reports an error. */
static bool lengths_fit(eddy_graph *g, const char *who, int64_t length, int64_t step, int64_t fft)
{
    if (length >= 1 && length <= INT32_MAX && step >= 1 && fft >= 1 && fft <= INT32_MAX)
        return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT,
              "%s: frame_length is %lld, frame_step is %lld and fft_length is %lld; expected "
              "positive numbers",
              who, (long long)length, (long long)step, (long long)fft);
    return false;
}

static eddy_tensor window_or_hann(eddy_tensor window, eddy_tensor like, int64_t length)
{
    if (window.graph) return eddy_set_shape(window, EDDY_SHAPE(length));
    return eddy_hann_window(like.graph, length, true, eddy_dtype_real(eddy_dtype_of(like)));
}

/** y[..., f, k] = the eddy_rfft of frame f of the signals times the window: the short-time
 *  Fourier transform.
 *
 *  signals       float32 or float64 [..., samples]; y is complex [..., frames, fft_length / 2 + 1]
 *  frame_length, frame_step, pad_end  as for eddy_frame
 *  fft_length    frames are truncated or padded with zeros to this length; the rank of the
 *                signals must then be known
 *  window        same type as the signals, [frame_length]
 *
 *  Errors: EDDY_INVALID_ARGUMENT for lengths below 1; those of eddy_frame, of eddy_set_shape
 *  for a window of another shape, and of eddy_rfft.
 *  Gradient: that of the formula.  TensorFlow: tf.signal.stft. */
eddy_tensor eddy_stft_with(const eddy_stft_args *given)
{
    eddy_stft_args a = EDDY_TAKE(eddy_stft_args, given);
    const int64_t n = a.fft_length == EDDY_OMITTED ? enclosing_power(a.frame_length)
                                                   : a.fft_length;
    eddy_graph *g = a.signals.graph;
    if (!eddy_is_valid(a.signals)) return a.signals;
    if (!lengths_fit(g, "stft", a.frame_length, a.frame_step, n))
        return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : "stft");
    const eddy_tensor frames = eddy_frame(a.signals, a.frame_length, a.frame_step, a.pad_end);
    const eddy_tensor w = window_or_hann(a.window, a.signals, a.frame_length);
    const eddy_tensor y = eddy_rfft(Mul(frames, w), n == a.frame_length ? EDDY_OMITTED : n);
    eddy_scope_end(g);
    return y;
}

/** y = the eddy_irfft of the frames, times the window, summed where they overlap: the signals whose
 *  eddy_stft is `stfts`, if the products of both windows add up to 1, as those with
 *  eddy_inverse_stft_window do.
 *
 *  stfts   complex64 or complex128 [..., frames, fft_length / 2 + 1], rank known; y is real
 *          [..., (frames - 1) frame_step + frame_length]
 *  frame_length, frame_step, fft_length, window  as for eddy_stft
 *
 *  Errors: as for eddy_stft; EDDY_BAD_SHAPE for an unknown rank.
 *  Gradient: that of the formula.  TensorFlow: tf.signal.inverse_stft. */
eddy_tensor eddy_inverse_stft_with(const eddy_inverse_stft_args *given)
{
    eddy_inverse_stft_args a = EDDY_TAKE(eddy_inverse_stft_args, given);
    const int64_t n = a.fft_length == EDDY_OMITTED ? enclosing_power(a.frame_length)
                                                   : a.fft_length;
    eddy_graph *g = a.stfts.graph;
    if (!eddy_is_valid(a.stfts)) return a.stfts;
    if (!lengths_fit(g, "inverse_stft", a.frame_length, a.frame_step, n))
        return eddy_none(g);
    eddy_scope_begin(g, a.name ? a.name : "inverse_stft");
    const eddy_tensor frames = eddy__fit_last(eddy_irfft(a.stfts, n), a.frame_length);
    const eddy_tensor w = window_or_hann(a.window, a.stfts, a.frame_length);
    const eddy_tensor y = eddy_overlap_and_add(Mul(frames, w), a.frame_step);
    eddy_scope_end(g);
    return y;
}

/** y = the window divided by the sum of its squares over all shifts by multiples of frame_step:
 *  with it eddy_inverse_stft is the inverse of an eddy_stft with that window.
 *
 *  window      float32 or float64 [frame_length], the length known: that of eddy_stft
 *  frame_step  the distance between frames, at least 1
 *
 *  Errors: EDDY_BAD_SHAPE for any other rank or an unknown length; EDDY_INVALID_ARGUMENT for a
 *  step below 1.
 *  Gradient: that of the formula.  TensorFlow: tf.signal.inverse_stft_window_fn. */
eddy_tensor eddy_inverse_stft_window(eddy_tensor window, int64_t frame_step)
{
    const eddy_shape s = eddy_shape_of(window);
    char text[128];
    if (!eddy_is_valid(window)) return window;
    if (s.rank != 1 || s.dim[0] < 1)
        return eddy_fail(
            window.graph, EDDY_BAD_SHAPE,
            "inverse_stft_window: the window has shape %s; expected a vector of known length",
            eddy_shape_print(s, text, sizeof text));
    if (!lengths_fit(window.graph, "inverse_stft_window", s.dim[0], frame_step, 1))
        return eddy_none(window.graph);
    const int64_t n = s.dim[0], step = frame_step < n ? frame_step : n;
    const int64_t meet = (n + step - 1) / step;
    const eddy_tensor squares = eddy__fit_last(Square(window), meet * step);
    const eddy_tensor sums = Sum(Reshape(squares, EDDY_SHAPE(meet, step)), EDDY_AXES(0));
    return Div(window, eddy__fit_last(eddy_tile(sums, EDDY_DIMS(meet)), n));
}
