/* rows_sequences.c -- sequence losses, signals in frames. */
#include "bench/ops/bench_ops.h"
#include "ops/short_names.h"

/* As many labels of every example, none of them twice in a row. */
static eddy_tensor labels_of(eddy_tensor logits, int64_t n)
{
    const int64_t     batch = eddy_shape_of(logits).dim[1];
    const eddy_tensor one = eddy_ones(logits.graph, EDDY_INT32, EDDY_SHAPE(batch, n));
    return Add(FloorMod(Cumsum(one, .axis = 1), 27), 1);
}

BUILD(ctc, eddy_ctc_loss(labels_of(x[0], 50), x[0]))
BUILD(ctc_short, eddy_ctc_loss(labels_of(x[0], 10), x[0]))
BUILD(sequence, eddy_sequence_loss(x[0], Cast(Mul(x[1], 100), EDDY_INT32), x[1]))

/* The square of the absolute value of complex numbers. */
static eddy_tensor power(eddy_tensor y) { return Add(Square(Real(y)), Square(Imag(y))); }

BUILD(frame, eddy_frame(x[0], 400, 160))
BUILD(overlap, eddy_overlap_and_add(x[0], 160))
BUILD(stft, power(eddy_stft(x[0], 400, 160)))
BUILD(stft_power, power(eddy_stft(x[0], 512, 128)))
BUILD(dct, eddy_dct(x[0], .norm = "ortho"))

#define SOUND  S(8, 16000)
#define SPEECH S(300, 16, 28)
#define WORDS  S(100, 32, 1000)

static const ops_row rows[] = {
    OPS_ROW("ctc_loss", ctc, 1, SPEECH),
    OPS_GRADIENT("ctc_loss, gradient", ctc, 1, SPEECH),
    OPS_ROW("ctc_loss, many classes", ctc_short, 1, WORDS),
    OPS_GRADIENT("ctc_loss, many classes, gradient", ctc_short, 1, WORDS),
    { .name = "sequence_loss", .build = sequence, .n = 2, .shape = { S(32, 20, 1000), S(32, 20) },
      .low = { -1, 0 }, .high = { 1, 1 } },
    OPS_ROW("frame", frame, 1, SOUND),
    OPS_ROW("overlap_and_add", overlap, 1, S(8, 98, 400)),
    OPS_ROW("stft", stft, 1, SOUND),
    OPS_GRADIENT("stft, gradient", stft, 1, SOUND),
    OPS_ROW("stft 512", stft_power, 1, SOUND),
    OPS_GRADIENT("stft 512, gradient", stft_power, 1, SOUND),
    OPS_ROW("dct 40", dct, 1, S(4000, 40)),
};
OPS_FAMILY(sequences, rows);
