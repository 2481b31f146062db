/* beam_search.h -- beam search, a loop inside the graph: the most likely sequences of a model that
 * predicts the next id. */
#ifndef EDDY_LAYERS_BEAM_SEARCH_H
#define EDDY_LAYERS_BEAM_SEARCH_H

#include "../autodiff/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sequences found, the best first; n is batch. */
typedef struct eddy_beams {
    eddy_tensor ids;            /* int32 [n, beam_width, steps]; end_token from the end on */
    eddy_tensor lengths;        /* int32 [n, beam_width], including the end_token */
    eddy_tensor log_probs;      /* [n, beam_width]: the sum over the steps */
    eddy_tensor scores;         /* [n, beam_width]: with the length penalty */
} eddy_beams;

typedef struct eddy_beam_search_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_beam_search_args));
    /* of the last ids, int32 [m], and of the state, [m, ...] each: logits [m, classes] and the
     * next state. m is batch times beam_width, the beams of an example side by side */
    eddy_function f;
    eddy_list     initial_state;    /* [batch, ...] each, which all beams begin with */
    eddy_tensor   start_tokens;     /* int32 [batch] */
    int64_t       end_token;        /* in [0, classes) */
    int64_t       beam_width;       /* above 0 */
    int64_t       steps;            /* above 0: the longest sequence */
    double        length_penalty_weight;    /* default 0: no penalty */
    eddy_dtype    dtype;            /* of the logits; default float32 */
    const char   *name;             /* default "beam_search" */
} eddy_beam_search_args;

/* Each step extends all sequences by one id and keeps the beam_width best by score: the sum of log
 * softmax(logits) divided by the length penalty ((5 + length) / 6)^length_penalty_weight (Wu et
 * al., "Google's neural machine translation system", 2016). A sequence that has its end_token is
 * not extended; in scores the end_token counts from the next step on, as in TensorFlow. The number
 * of classes must be known.
 *
 * Tensors that f captures are shared by all beams; a tensor that differs between examples, such as
 * the memory of an attention, must be part of the state.
 * Errors: EDDY_INVALID_ARGUMENT for counts that are not above 0, an end_token that is not a class,
 * another number of results of f, or a length_penalty_weight that is not finite; EDDY_BAD_SHAPE,
 * EDDY_BAD_DTYPE for other logits, and for another batch of a state; those of eddy_loop. Gradient:
 * none. TensorFlow: contrib.seq2seq.BeamSearchDecoder with dynamic_decode and
 * maximum_iterations. */
EDDY_API eddy_beams eddy_beam_search_with(const eddy_beam_search_args *given);
#define eddy_beam_search(...) eddy_beam_search_with(EDDY_ARGS(eddy_beam_search_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
