/* safetensors.h -- safetensors, a format for named arrays in one file; not installed.
 *
 * The format: eight bytes with the length of the header, a JSON object that gives the element
 * type, shape and offsets of each name, and the elements without gaps. Types are F64 F32 F16
 * BF16 I64 I32 U8 BOOL; an error names any other. */
#ifndef EDDY_GRAPH_FILES_SAFETENSORS_H
#define EDDY_GRAPH_FILES_SAFETENSORS_H

#include "graph/base/files.h"

/* Replaces the file `path` as a whole or leaves it as it was.  The same arrays
 * give the same bytes: wide elements first, so that all are aligned, and those
 * of one width by name.  Names are UTF-8, different, at most 4096 bytes. */
eddy_status eddy__safetensors_write(const eddy_files *files, const eddy_allocator *a,
                                    const char *path, int n, const char *const *names,
                                    const eddy_array *const *arrays, eddy_error *error);

typedef struct eddy_safetensors_entry {
    const char *name;
    eddy_array *array;
    /* What the header said: */
    eddy_type   type;
    int64_t     begin, end;      /* bytes, from the end of the header */
    size_t      offset;          /* of the name in the file, for messages */
} eddy_safetensors_entry;

typedef struct eddy_safetensors {
    const eddy_allocator   *allocator;
    char                   *header;      /* the names stand in it */
    size_t                  header_size;
    eddy_safetensors_entry *entries;     /* by name */
    int                     count, capacity;
} eddy_safetensors;

/* Reads the file into *out, to be freed in any case.  Everything the header
 * says is checked before the first element is read. */
eddy_status eddy__safetensors_read(const eddy_files *files, const eddy_allocator *a,
                                   const char *path, eddy_safetensors *out, eddy_error *error);
/* The array of that name, which stays the file's; NULL if there is none. */
eddy_array *eddy__safetensors_find(const eddy_safetensors *s, const char *name);
void        eddy__safetensors_free(eddy_safetensors *s);

#endif
