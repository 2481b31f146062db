/* changed_bytes.h -- what a reader answers for a file of which one byte is changed, or which ends
 * early, as golden lines (tests/lib/golden.h). */
#ifndef EDDY_TESTS_LIB_CHANGED_BYTES_H
#define EDDY_TESTS_LIB_CHANGED_BYTES_H

#include "session/checkpoint.h"

#include <stddef.h>

/* Reads a file of these bytes, and writes what was read, or the message. */
typedef void changed_read(const void *file, size_t size, char *answer, size_t room);

/* Lines between golden_begin and golden_end: the answer for the file as it is, then the other ones,
 * in the order of their bytes: for a byte that is 1 more, 1 less or 255, and for a file that ends
 * before the byte. Successive bytes with the same answer share a line. */
void changed_bytes(const char *what, const void *file, size_t size, changed_read *read);

/* Adds to the text in a buffer, which may be full. */
void answer_add(char *answer, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the type, the shape and the first elements of an array; of a product, whose last digits depend
 * on BLAS, as many digits as do not. */
void answer_add_array(char *answer, size_t room, const eddy_array *a);
void answer_add_product(char *answer, size_t room, const eddy_array *a);
/* The entries and values of a checkpoint, or the message; frees the checkpoint. */
void answer_checkpoint(char *answer, size_t room, eddy_checkpoint *c, const eddy_error *e);

#endif
