/* mel.c -- mel filter banks and MFCCs (mel-frequency cepstral coefficients). */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <math.h>

#ifdef EDDY_HEADER
typedef struct eddy_mel_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_mel_args));
    eddy_graph *graph;
    int64_t     num_mel_bins EDDY_DEFAULT(20);
    int64_t     num_spectrogram_bins EDDY_DEFAULT(129);
    double      sample_rate EDDY_DEFAULT(8000);
    double      lower_edge_hertz EDDY_DEFAULT(125); /* negative: 0 */
    double      upper_edge_hertz EDDY_DEFAULT(3800);
    eddy_dtype  dtype;                 /* float32 (default) or float64 */
    const char *name;
} eddy_mel_args;
#endif

static double mel_of(double hertz) { return 1127 * eddy__log1p_f64(hertz / 700); }

/* Checks the edges and numbers of the bands; otherwise reports an error. */
static bool options_fit(eddy_graph *g, const eddy_mel_args *a, double rate, double lower,
                        double upper)
{
    if (a->num_mel_bins < 1 || a->num_spectrogram_bins < 1 || a->num_mel_bins > INT32_MAX ||
        a->num_spectrogram_bins > INT32_MAX)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "linear_to_mel_weight_matrix: num_mel_bins is %lld and num_spectrogram_bins is "
                  "%lld; they must be positive",
                  (long long)a->num_mel_bins, (long long)a->num_spectrogram_bins);
    else if (!(rate > 0 && lower < upper && upper <= rate / 2))
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "linear_to_mel_weight_matrix: edges of %g and %g Hz are not valid for a sample "
                  "rate of %g",
                  lower, upper, rate);
    else
        return !a->dtype || eddy__expect_type(g, "linear_to_mel_weight_matrix", "dtype", a->dtype,
                                              EDDY_TAKES_FLOATS);
    return false;
}

/** y[i, j] = the weight of frequency i in band j of the mel scale: triangles of height 1,
 *  each from the center of the previous one to that of the next.
 *
 *  graph                 the graph of the constant
 *  num_mel_bins          the number of bands, at least 1
 *  num_spectrogram_bins  the number of frequencies from 0 to half the sample rate:
 *                        fft_length / 2 + 1
 *  sample_rate           samples per second
 *  lower_edge_hertz      the beginning of the first band; negative: 0
 *  upper_edge_hertz      the end of the last band, at most half the sample rate
 *  dtype                 float32 (default) or float64
 *
 *  A spectrogram [..., num_spectrogram_bins] times y is [..., num_mel_bins].  Frequency 0 has
 *  weight 0 in all bands.  Mels are 1127 ln(1 + hertz / 700).
 *  Errors: EDDY_INVALID_ARGUMENT for invalid edges and numbers; EDDY_BAD_DTYPE; EDDY_NO_MEMORY.
 *  TensorFlow: tf.signal.linear_to_mel_weight_matrix. */
eddy_tensor eddy_linear_to_mel_weight_matrix_with(const eddy_mel_args *given)
{
    eddy_mel_args a = EDDY_TAKE(eddy_mel_args, given);
    const double rate = a.sample_rate;
    const double lower = fmax(a.lower_edge_hertz, 0);
    const double upper = a.upper_edge_hertz;
    if (!eddy__graph_ready(a.graph) || !options_fit(a.graph, &a, rate, lower, upper))
        return eddy_none(a.graph);
    const int64_t bands = a.num_mel_bins;
    const int64_t n = a.num_spectrogram_bins;
    const double  first = mel_of(lower), wide = (mel_of(upper) - first) / (double)(bands + 1);
    eddy_array *w = eddy_array_new_in(eddy__graph_allocator(a.graph),
                                      a.dtype ? a.dtype : EDDY_FLOAT32, EDDY_SHAPE(n, bands));
    if (!w) return eddy_fail(a.graph, EDDY_NO_MEMORY, "linear_to_mel_weight_matrix: out of memory "
                             "for %lld x %lld numbers", (long long)n, (long long)bands);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < bands; j++) {
            const double hertz = n > 1 ? rate / 2 * (double)i / (double)(n - 1) : 0;
            const double at = (mel_of(hertz) - first) / wide - (double)j;
            eddy_array_set(w, i * bands + j, i == 0 ? 0 : fmax(0, fmin(at, 2 - at)));
        }
    const char       *name = a.name ? a.name : "linear_to_mel_weight_matrix";
    const eddy_tensor y = eddy_constant(a.graph, w, name);
    eddy_array_free(w);
    return y;
}

/** y = eddy_dct of type 2 of the logarithms of mel bands, divided by sqrt(2 num_mel_bins): the
 *  cepstral coefficients of each spectrum.
 *
 *  x  float32 or float64 [..., num_mel_bins], the last size known and positive; y likewise.
 *     Speech recognition commonly uses the first 13, y[..., :13]
 *
 *  Errors: as for eddy_dct.
 *  Gradient: that of the formula.  TensorFlow: tf.signal.mfccs_from_log_mel_spectrograms. */
eddy_tensor eddy_mfccs_from_log_mel_spectrograms(eddy_tensor x)
{
    const eddy_shape  s = eddy_shape_of(x);
    const eddy_tensor y = eddy_dct(x, .name = "mfccs_from_log_mel_spectrograms");
    return eddy_is_valid(y) ? Mul(y, sqrt(0.5 / (double)s.dim[s.rank - 1])) : y;
}
