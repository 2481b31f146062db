/* model_data.h -- an ONNX model with the feeds and results of some runs, for compare_written.js:
 * PATH.json lists the inputs and outputs of PATH.onnx in each step, with their places in PATH.bin. */
#ifndef EDDY_TESTS_MODELS_MODEL_DATA_H
#define EDDY_TESTS_MODELS_MODEL_DATA_H

#include "formats.h"

#include <stdio.h>

typedef struct model_data {
    FILE         *json, *bin;
    eddy_session *session;
    eddy_graph   *graph;
    eddy_list     inputs, outputs;      /* borrowed */
    bool          listed;               /* some input is not a placeholder */
    int64_t       at;
    int           steps;
} model_data;

/* Whether an operation draws random numbers, which ONNX Runtime draws otherwise. */
bool draws_numbers(const char *op);

/* Writes the model with the present values of variables. False, with the reason in *why, if it cannot
 * be written, or draws random numbers. */
bool model_data_begin(model_data *d, const char *path, const char *title, eddy_session *s,
                      eddy_list inputs, eddy_list outputs, char why[500]);
/* Adds a run that has just ended. */
void model_data_step(model_data *d, const eddy_array *const *fed, eddy_array *const *got);
void model_data_end(model_data *d);

#endif
