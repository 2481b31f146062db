/* onnx_cases.h -- the test models of ONNX (Debian's libonnx-testdata): a folder for each, with
 * model.onnx and test_data_set_N/input_K.pb and output_K.pb. */
#ifndef EDDY_TESTS_ONNX_CASES_H
#define EDDY_TESTS_ONNX_CASES_H

#include "formats.h"

#define ONNX_CASES "/usr/share/libonnx-testdata/data"

typedef enum onnx_outcome { ONNX_PASSED, ONNX_WRONG, ONNX_INEXPRESSIBLE } onnx_outcome;

typedef struct onnx_result {
    onnx_outcome outcome;
    bool         bound;             /* integer inputs had to be constants */
    int          sets;              /* data sets compared */
    int          point;             /* of a gradient: 0 at the data, else near them */
    char         why[1200];         /* "" if it passed */
} onnx_result;

/* Reads and runs one case, and compares with ONNX's tolerances: 1e-3 relative, 1e-7 absolute. */
onnx_result run_onnx_case(const char *folder);
/* The same, where only the ranks of the inputs are known while the model is read. */
onnx_result run_open_onnx_case(const char *folder);
/* The same model with its first data set: the gradients of its floating outputs by its floating
 * inputs, and their own gradients, against differences. passed also where there is nothing to differentiate: sets is 0. */
onnx_result check_onnx_gradient(const char *folder);

/* The names in a folder, sorted, in an array that ends with NULL; for free_names. */
char **names_in(const char *folder, int *count);
void   free_names(char **names);

#endif
