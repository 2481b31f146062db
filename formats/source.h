/* source.h -- the bytes of a model file, shared by the arrays that are views of them. */
#ifndef EDDY_FORMATS_SOURCE_H
#define EDDY_FORMATS_SOURCE_H

#include "../graph/graph.h"
#include "wire.h"

typedef struct source source;

/* Reads a whole file, which must not be longer than max_bytes; NULL with the error otherwise. files
 * NULL is POSIX. */
source *eddy__source_read(const char *path, const eddy_files *files, int64_t max_bytes,
                          eddy_error *error);
/* Copies bytes; data NULL: room for them. */
source *eddy__source_copy(const void *data, size_t size, eddy_error *error);
wire_bytes eddy__source_bytes(const source *s);
source *eddy__source_retain(source *s);
void    eddy__source_release(source *s);        /* NULL is allowed */
/* An array of these bytes of s: a view that retains s if they are aligned for the type, else a
 * copy. b.size must be that of the array. NULL if out of memory. */
eddy_array *eddy__source_array(source *s, wire_bytes b, eddy_dtype dtype, eddy_shape shape);

/* Records an error and returns false; error may be NULL. */
bool eddy__format_fail(eddy_error *error, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
