/* control_models.h -- smooth functions with loops and branches inside, for tests of derivatives,
 * options of sessions and files. */
#ifndef EDDY_TESTS_LIB_CONTROL_MODELS_H
#define EDDY_TESTS_LIB_CONTROL_MODELS_H

#include "tests/lib/control_checks.h"

/* The number of iterations, as a number and as a fed int32 scalar; x, a vector of three; and
 * a, a matrix of three by three or, for a model with rows, of `count` by three. */
typedef struct model_args {
    int         count;
    eddy_tensor n, x, a;
} model_args;

typedef struct control_model {
    const char *name;
    eddy_tensor (*build)(const model_args *m);
    bool        rows;
    eddy_tensor (*limited)(const model_args *m);    /* the same with .maximum_iterations */
} control_model;

enum { CONTROL_MODELS = 34 };
extern const control_model control_models[CONTROL_MODELS];

/* The model with these options in all of its loops. */
eddy_tensor control_model_in_segments(const control_model *c, const model_args *m,
                                      eddy_recompute scheme, int64_t length);

#endif
