/* rows_sequences.c -- sequence losses, sampled classes, decoders, signals; see rows.h. */
#include "tests/lib/rows.h"

/* Losses are real, though what they are made of takes complex numbers as well. */
#define A Real(x[0])
#define B Real(x[1])

/* ------------------------------------------------------------- alignments -- */

/* One number for each example along axis 1 of x: of int32. */
static eddy_tensor examples(eddy_tensor x)
{
    return eddy_row_numbers(eddy_transpose(x, EDDY_DIMS(1, 0, 2)), EDDY_INT32);
}
static eddy_tensor each(eddy_tensor x, double v) { return Add(Mul(examples(x), 0), v); }

/* Labels 0 1 and 1 0. */
static eddy_tensor two_labels(eddy_tensor x)
{
    const eddy_tensor odd = FloorMod(ExpandDims(examples(x), 1), 2);
    const eddy_tensor turn = row_numbers_from(x.graph, EDDY_SHAPE(1, 2), (const int32_t[]){ 0, 1 });
    return FloorMod(Add(odd, turn), 2);
}
#define STEPS(x) each(x, 4)
BUILD(ctc, eddy_ctc_loss(Add(two_labels(A), 1), A, each(A, 2), STEPS(A)))
BUILD(ctc_open, eddy_ctc_loss(Add(two_labels(A), 1), A,
                              Minimum(each(A, 1), Cast(eddy_size_along(A, 0), EDDY_INT32))))
BUILD(ctc_batch, eddy_ctc_loss(two_labels(A), Transpose(A, EDDY_DIMS(1, 0, 2)), each(A, 2),
                               STEPS(A), .blank_index = -1, .batch_major = true))
static eddy_tensor posteriors(eddy_graph *g, const eddy_tensor *x)
{
    (void)g;
    const eddy_tensor a = Identity(A), n = Cast(each(a, 2), EDDY_INT64);
    return eddy_gradient(Sum(eddy_ctc_loss(Add(two_labels(a), 1), a, n, STEPS(a))), a);
}

#define CLASSES(x, n) eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, n))
BUILD(collapse, eddy_collapse_repeated(Cast(Floor(A), EDDY_INT32),
                                       Add(Mul(eddy_row_numbers(A, EDDY_INT32), 0),
                                           Cast(eddy_size_along(A, 1), EDDY_INT32))))
BUILD(greedy, eddy_output(eddy_ctc_greedy_decoder(CLASSES(A, 3), each(A, 2), -1, true), 2))

BUILD(beams, eddy_ctc_beam_search_decoder(CLASSES(A, 3), each(A, 2), 4, 2, -1))

/* ---------------------------------------------------------------- classes -- */

/* Of [batch,steps,classes] the first two axes, 0, 1, 0, .. along the second. */
static eddy_tensor targets(eddy_tensor weights)
{
    return Cast(FloorMod(Cumsum(OnesLike(weights), .axis = 1), 2), EDDY_INT32);
}
BUILD(sequence, eddy_sequence_loss(A, targets(B), B))
BUILD(sequence_steps, eddy_sequence_loss(A, targets(B), B, .keep_timesteps = true))
BUILD(sequence_all, eddy_sequence_loss(A, targets(B), B, true, true))
BUILD(sequence_count, eddy_sequence_loss(A, targets(B), B, .over_count = true))

#define WEIGHED(name, fn)                                                       \
    { .op = "DivNoNan", .how = "sequence_loss" name, .build = fn, .n = 2, .keep = { 3 }, \
      .shape = { S(2, 4, 3), S(2, 4) }, .low = { -2, 0.5 }, .high = { 2, 2 } }

BUILD(log_uniform, eddy_log_uniform_candidate_sampler(Cast(Floor(Abs(A)), EDDY_INT64), 5, true, 9))
BUILD(uniform, eddy_uniform_candidate_sampler(Cast(Floor(Abs(A)), EDDY_INT64), 5, false, 9))
static eddy_tensor drawn(eddy_graph *g, eddy_tensor labels)
{
    const eddy_tensor list[] = {
        eddy_const(g, EDDY_INT64, EDDY_SHAPE(3), (int64_t[]){ 0, 3, 4 }),
        Mul(Add(Cast(labels, EDDY_FLOAT32), 1), 0.25),
        eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(3), (float[]){ 0.25f, 0.5f, 0.125f }) };
    return eddy_identity_n((eddy_list){ 3, list }, 3);
}
#define RANK_2(x) eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, EDDY_ANY))
static eddy_tensor sampled_softmax(eddy_graph *g, const eddy_tensor *x)
{
    const eddy_tensor labels = ExpandDims(pairs(RANK_2(x[2])), -1);
    return eddy_sampled_softmax_loss(A, B, labels, Real(RANK_2(x[2])), 3, 6, drawn(g, labels),
                                     .keep_accidental_hits = true);
}
static eddy_tensor nce(eddy_graph *g, const eddy_tensor *x)
{
    const eddy_tensor labels = ExpandDims(pairs(RANK_2(x[2])), -1);
    return eddy_nce_loss(A, B, labels, Real(RANK_2(x[2])), 3, 6, drawn(g, labels));
}

/* All of the last axis. */
static eddy_tensor full(eddy_tensor x)
{
    return Add(Mul(eddy_row_numbers(x, EDDY_INT64), 0), Cast(eddy_size_along(x, 1), EDDY_INT64));
}
BUILD(distance, eddy_edit_distance(Cast(Floor(A), EDDY_INT32), full(A), Cast(Floor(B), EDDY_INT32),
                                   full(B), false))

/* ---------------------------------------------------------------- signals -- */

/* Both parts of a complex y. */
static eddy_tensor parts(eddy_tensor y)
{
    const eddy_tensor list[] = { Real(y), Imag(y) };
    return eddy_identity_n((eddy_list){ 2, list }, 2);
}
#define PLACES(x, n) eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, n))
BUILD(frame, eddy_frame(x[0], 3, 2))
BUILD(frame_padded, eddy_frame(x[0], 4, 3, .pad_end = true, .pad_value = 2))
BUILD(frame_gaps, eddy_frame(eddy_set_shape(x[0], EDDY_SHAPE(EDDY_ANY, EDDY_ANY)), 2, 3,
                             .axis = EDDY_AXES(0)))
BUILD(overlap, eddy_overlap_and_add(x[0], 2))
BUILD(overlap_gaps, eddy_overlap_and_add(x[0], 5))
BUILD(dct_1, eddy_dct(PLACES(A, 5), 1))
BUILD(dct_2, eddy_dct(PLACES(A, 5), .norm = "ortho"))
BUILD(dct_3, eddy_dct(PLACES(A, 6), 3, 4))
BUILD(dct_4, eddy_dct(PLACES(A, 3), 4, 5, "ortho"))
BUILD(idct, eddy_idct(PLACES(A, 4)))
BUILD(analytic, parts(eddy_analytic_signal(PLACES(A, 5))))
BUILD(stft, parts(eddy_stft(A, 4, 3)))
BUILD(stft_windowed, parts(eddy_stft(PLACES(A, EDDY_ANY), 3, 2, 8, Real(x[1]), true)))
BUILD(inverse, eddy_inverse_stft(eddy_set_shape(Complex(A, B), EDDY_SHAPE(EDDY_ANY, EDDY_ANY,
                                                                         EDDY_ANY)), 3, 2, 6))
BUILD(inverse_window, eddy_inverse_stft_window(eddy_set_shape(A, EDDY_SHAPE(5)), 2))
BUILD(mfcc, eddy_mfccs_from_log_mel_spectrograms(PLACES(A, 6)))

static const sweep_row rows[] = {
    OP_KEEP("CTCLoss", "", ctc, 1, KEEP(4, 3), S(4, 2, 3)),
    OP_KEEP("CTCLoss", "all steps", ctc_open, 1, KEEP(3), S(5, 2, 3)),
    OP_KEEP("CTCLoss", "batch major", ctc_batch, 1, KEEP(4, 3), S(4, 2, 3)),
    OP_KEEP("CTCPosteriors", "", posteriors, 1, KEEP(4, 3), S(4, 2, 3)),
    OP("CollapseRepeated", "", collapse, 1, S(3, 5)),
    OP_KEEP("CTCBeamSearchDecoder", "", beams, 1, KEEP(4, 3), S(4, 2, 3)),
    OP_KEEP("Neg", "ctc_greedy_decoder", greedy, 1, KEEP(4, 3), S(4, 2, 3)),

    WEIGHED("", sequence),
    WEIGHED(", steps", sequence_steps),
    OP_KEEP("SparseSoftmaxCrossEntropyWithLogits", "sequence_loss", sequence_all, 2, KEEP(3),
            S(2, 4, 3), S(2, 4)),
    WEIGHED(", count", sequence_count),
    { .op = "LogUniformCandidateSampler", .build = log_uniform, .n = 1, .shape = { S(3, 2) },
      .options = SWEEP_RANDOM },
    { .op = "UniformCandidateSampler", .build = uniform, .n = 1, .shape = { S(3, 2) },
      .options = SWEEP_RANDOM },
    OP_KEEP("SoftmaxCrossEntropyWithLogits", "sampled_softmax_loss", sampled_softmax, 3, KEEP(6),
            S(6, 3), S(6), S(2, 3)),
    OP_KEEP("SigmoidCrossEntropyWithLogits", "nce_loss", nce, 3, KEEP(6), S(6, 3), S(6), S(2, 3)),
    OP("EditDistance", "", distance, 2, S(3, 4), S(3, 5)),

    OP("Frame", "", frame, 1, S(2, 8)),
    OP("Frame", "padded", frame_padded, 1, S(2, 8)),
    OP("Frame", "with gaps", frame_gaps, 1, S(7, 2)),
    OP("OverlapAndAdd", "", overlap, 1, S(2, 4, 3)),
    OP("OverlapAndAdd", "with gaps", overlap_gaps, 1, S(4, 3)),
    OP_KEEP("RFFT", "dct 1", dct_1, 1, KEEP(5), S(2, 5)),
    OP_KEEP("RFFT", "dct 2", dct_2, 1, KEEP(5), S(2, 5)),
    OP_KEEP("IRFFT", "dct 3", dct_3, 1, KEEP(6), S(2, 6)),
    OP_KEEP("RFFT", "dct 4", dct_4, 1, KEEP(3), S(2, 3)),
    OP_KEEP("IRFFT", "idct", idct, 1, KEEP(4), S(2, 4)),
    OP_KEEP("IFFT", "analytic_signal", analytic, 1, KEEP(5), S(2, 5)),
    OP("RFFT", "stft", stft, 1, S(2, 9)),
    OP_KEEP("RFFT", "stft, windowed", stft_windowed, 2, KEEP(3), S(2, 6), S(3)),
    OP_KEEP("OverlapAndAdd", "inverse_stft", inverse, 2, KEEP(4), S(2, 3, 4), S(2, 3, 4)),
    { .op = "RealDiv", .how = "inverse_stft_window", .build = inverse_window, .n = 1,
      .shape = { S(5) }, .low = { 0.5 }, .high = { 2 }, .keep = { 5 } },
    OP_KEEP("RFFT", "mfccs", mfcc, 1, KEEP(6), S(2, 6)),
};
FAMILY_OF_ROWS(sequences, rows);
