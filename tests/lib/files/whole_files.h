/* whole_files.h -- whole files read and written by the library's readers and writers, and
 * comparison of all attributes of a node. */
#ifndef EDDY_TESTS_LIB_WHOLE_FILES_H
#define EDDY_TESTS_LIB_WHOLE_FILES_H

#include "graph/base/files.h"
#include "graph/internal.h"

/* The file in memory of `a`, *size bytes to be released as such; LIMIT if it is
 * larger than `limit`. */
bool file_read(const eddy_files *files, const eddy_allocator *a, const char *path, size_t limit,
               void **data, size_t *size, eddy_error *e);
/* Begins, writes and ends. */
bool file_replace(const eddy_files *files, const char *path, const void *p, size_t n,
                  eddy_error *e);

/* Whether all attributes of the op are equal, bit for bit. */
bool attrs_equal(const eddy_op_def *op, const void *a, const void *b);

#endif
