/* onnx_written.h -- graphs that are written as ONNX models: the rows of the sweep with their
 * gradients, and what a model gives that is read back. */
#ifndef EDDY_TESTS_LIB_ONNX_WRITTEN_H
#define EDDY_TESTS_LIB_ONNX_WRITTEN_H

#include "formats.h"
#include "tests/lib/bits/same_bits.h"
#include "tests/lib/sweep_rows.h"

/* A row of the sweep in float32, built on placeholders: its outputs and their gradients are the
 * fetches. False if this row has no such graph. Freed by trial_end. */
bool written_row(int row, trial *t, fetches *f, char title[96]);

/* Models of operations that no such row has (written_models.c). Freed by trial_end. */
int  written_models(void);
void written_model(int i, trial *t, fetches *f);

/* Why the first node that cannot be written cannot be; NULL if the graph can be written. The text
 * lives as long as the report, which the caller frees. */
const char *written_obstacle(const fetches *f, eddy_model_report **report);

/* The fetches of the model: written to a file in memory, read into a graph of its own and run on the
 * same feeds; variables have their values in t->session. The caller frees the arrays. False, with
 * the reason, if something failed. */
bool written_again(const trial *t, const fetches *f, eddy_array **out, eddy_error *error);

#endif
