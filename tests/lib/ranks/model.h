/* model.h -- a small model that ranks train with different examples. */
#ifndef EDDY_TESTS_LIB_RANKS_MODEL_H
#define EDDY_TESTS_LIB_RANKS_MODEL_H

#include "tests/lib/ranks/ranks.h"

/* The trainable variables of a rank_model, and the most examples of a step. */
enum { RANK_VARIABLES = 5, RANK_EXAMPLES = 24 };

typedef struct rank_model {
    eddy_graph *graph;
    eddy_tensor x, words, y, examples, loss;
    eddy_tensor step;                   /* the caller's: what rank_model_steps runs */
} rank_model;

/* Two dense layers on inputs and a row of a table for each example. */
rank_model rank_model_build(void);
/* Runs steps from..to-1, each with `count` examples from number `first` on. */
bool rank_model_steps(const eddy_communicator *c, const rank_model *m, eddy_session *s, int from,
                      int to, int first, int count);

#endif
