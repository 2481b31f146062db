/* mutate.h -- mutators for libFuzzer that keep the structure of a format. Bytes changed at random are
 * mostly refused by the first check of a reader: a length, a bracket or a checksum. These change
 * names, numbers and items, and repair what depends on them. */
#ifndef EDDY_TESTS_FUZZ_MUTATE_H
#define EDDY_TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutator; returns the new size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* The formats with a mutator; libFuzzer calls mutate_NAME for it. */
#define MUTATED_FORMATS(X)                                                                              \
    X(bundle) X(events) X(graph) X(index) X(keras) X(npy) X(npz) X(onnx) X(safetensors) X(tensorflow)   \
    X(torch)
#define MUTATE_DECLARE(name) \
    size_t mutate_##name(uint8_t *data, size_t size, size_t most, unsigned seed);
MUTATED_FORMATS(MUTATE_DECLARE)
/* Puts a field of the second message into the first one. */
size_t cross_protobuf(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                      size_t most, unsigned seed);

/* Bytes that are changed in place, at most `most`. */
typedef struct mutation {
    uint8_t           *at;
    size_t             size, most;
    unsigned           random;          /* the state of `draw` */
    const char *const *words;           /* that may replace one of a text; ends with NULL */
} mutation;

/* A number below n; 0 if n is 0. */
unsigned draw(mutation *m, size_t n);
/* Replaces the bytes from begin to end, which p may not overlap; false if there is no room. */
bool splice(mutation *m, size_t begin, size_t end, const void *p, size_t n);
uint64_t number_at(const mutation *m, size_t at, int bytes);      /* little-endian */
void     put_number(mutation *m, size_t at, uint64_t v, int bytes);

typedef void mutator(mutation *m);
/* Changes the bytes from begin to end, and leaves `reserve` bytes of room; the new end. */
size_t mutate_part(mutation *m, size_t begin, size_t end, size_t reserve, mutator *with);

mutator mutate_bytes;                   /* by libFuzzer */
mutator mutate_text;                    /* JSON, or a literal of Python */
mutator mutate_words;                   /* the same without its lists; reaches more of graph files */
mutator mutate_message;                 /* of protobuf */
mutator mutate_array;                   /* an .npy file */
/* Members of a ZIP archive that are stored without compression. */
void mutate_zip(mutation *m, mutator *with);

#endif
