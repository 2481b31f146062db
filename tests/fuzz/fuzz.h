/* fuzz.h -- code shared by the fuzzed programs: a file in memory. */
#ifndef EDDY_TESTS_FUZZ_H
#define EDDY_TESTS_FUZZ_H

#include "../../eddy.h"

/* The formats; fuzz_NAME reads one input of a format, and returns 0. It is the function that libFuzzer
 * calls, and the suite `corpus`. */
#define FUZZ_FORMATS(X)                                                                                 \
    X(bundle) X(csv) X(events) X(graph) X(idx) X(image) X(index) X(keras) X(npy) X(npz) X(onnx)         \
    X(safetensors) X(tensorflow) X(torch) X(wav)
#define FUZZ_DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
FUZZ_FORMATS(FUZZ_DECLARE)

/* The file that is read, which `require` names; NULL where the caller knows. */
extern const char *fuzz_input;

/* Aborts unless ok: a defect, which libFuzzer then reports with the input. */
void require(bool ok);

/* Reads all values of a checkpoint, which may be NULL with an error, and frees it. */
void use_values(eddy_checkpoint *c, const eddy_error *e);

/* For every path, reads return `in` and writes produce `out`. */
typedef struct one_file {
    eddy_files     table;            /* its context is this struct */
    const uint8_t *in;
    size_t         in_size, at;
    uint8_t       *out;
    size_t         out_size;
} one_file;

void one_file_init(one_file *f, const uint8_t *data, size_t size);
/* From now on reads see what was written. */
void one_file_rewind(one_file *f);
void one_file_free(one_file *f);

#endif
