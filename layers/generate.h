/* generate.h -- sequences that a model writes id by id, in a loop inside the graph. */
#ifndef EDDY_LAYERS_GENERATE_H
#define EDDY_LAYERS_GENERATE_H

#include "../autodiff/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_generated {
    eddy_tensor ids;            /* int32 [batch, steps]; pad_token after the end_token */
    eddy_tensor lengths;        /* int32 [batch], with the end_token */
} eddy_generated;

typedef struct eddy_generate_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_generate_args));
    /* of the last ids, int32 [batch], and of the state, [batch, ...] each: logits [batch, classes]
     * and the next state; the same function as for eddy_beam_search */
    eddy_function f;
    eddy_list     initial_state;    /* [batch, ...] each */
    eddy_tensor   start_tokens;     /* int32 [batch]: the last id of each prompt */
    int64_t       steps;            /* above 0: the longest sequence */
    int64_t       end_token EDDY_DEFAULT(EDDY_OMITTED);  /* default: none, all are `steps` long */
    int64_t       pad_token EDDY_DEFAULT(EDDY_OMITTED);  /* any int32; default: end_token */
    /* as for eddy_sample_logits */
    double        temperature EDDY_DEFAULT(1);
    int64_t       top_k EDDY_DEFAULT(EDDY_OMITTED);
    double        top_p EDDY_DEFAULT(1);
    double        min_p;
    double        repetition_penalty EDDY_DEFAULT(1);    /* eddy_repetition_penalty */
    int64_t       seed;
    const char   *name;             /* default "generate" */
} eddy_generate_args;

/* Sequences of ids, each chosen by eddy_sample_logits from the logits that f returns for the ids
 * before it: the most likely one if temperature is 0. The loop ends after `steps` iterations, or as
 * soon as each sequence has its end_token. For a sequence that has ended, f gets the end_token, and
 * its logits are ignored. The penalty applies to the start_token and the ids of the sequence so
 * far.
 *
 * With eddy_attention_cache, an id takes the computations of one position. The cache needs room for
 * the prompt and all steps except the last.
 *
 * Errors: EDDY_INVALID_ARGUMENT for steps that are not above 0, an end_token that is not a class, a
 * pad_token beyond int32, another number of results of f; EDDY_BAD_SHAPE, EDDY_BAD_DTYPE for other
 * logits, and for another batch of a state; EDDY_LIMIT for a state of too many tensors; those of
 * eddy_sample_logits, eddy_repetition_penalty and eddy_while_loop. Gradient: none. TensorFlow:
 * contrib.seq2seq.BasicDecoder with GreedyEmbeddingHelper or SampleEmbeddingHelper and
 * dynamic_decode with maximum_iterations. */
EDDY_API eddy_generated eddy_generate_with(const eddy_generate_args *given);
#define eddy_generate(...) eddy_generate_with(EDDY_ARGS(eddy_generate_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
