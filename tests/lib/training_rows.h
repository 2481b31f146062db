/* training_rows.h -- every optimizer and wrapper, each with a model that it trains. */
#ifndef EDDY_TESTS_LIB_TRAINING_ROWS_H
#define EDDY_TESTS_LIB_TRAINING_ROWS_H

#include "../../eddy.h"

/* The tensors that a row may use. */
typedef struct training_problem {
    eddy_graph *g;
    eddy_tensor rate, step, loss;   /* a schedule, its global step, the loss */
} training_problem;

typedef struct training_row {
    const char     *name;
    eddy_optimizer *(*make)(const training_problem *p);
    eddy_tensor     (*train)(const training_problem *p, eddy_optimizer *o);
} training_row;

enum { TRAINING_ROWS = 42 };
extern const training_row training_rows[TRAINING_ROWS];

/* A classifier with dropout in front of its last layer, and what a row trains it with: x
 * float32[?,4], y int32[?], the operations "train" and "init", and "loss", "look" and "noise". The
 * graph may have an error. */
eddy_graph *training_graph(const training_row *r, const eddy_files *files);

#endif
