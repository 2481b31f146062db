/* safetensors.h -- safetensors, a format for named arrays in one file; not installed.
 *
 * The format: eight bytes with the length of the header, a JSON object that gives the element
 * type, shape and offsets of each name, and the elements without gaps. Types are F64 F32 F16
 * BF16 I64 I32 U8 BOOL; an error names any other. */
#ifndef EDDY_GRAPH_FILES_SAFETENSORS_H
#define EDDY_GRAPH_FILES_SAFETENSORS_H

#include "graph/base/files.h"

/* Replaces the file `path` completely or leaves it unchanged. The same arrays give the same
 * bytes: arrays are sorted by descending element size, so that all are aligned, and then by
 * name. Names are UTF-8, different, at most 4096 bytes. */
eddy_status eddy__safetensors_write(const eddy_files *files, const eddy_allocator *a,
                                    const char *path, int n, const char *const *names,
                                    const eddy_array *const *arrays, eddy_error *error);

typedef struct eddy_safetensors_entry {
    const char *name;
    eddy_array *array;
    /* The contents of the header: */
    eddy_type   type;
    int64_t     begin, end;      /* bytes, from the end of the header */
    size_t      offset;          /* the file's name, for messages */
} eddy_safetensors_entry;

typedef struct eddy_safetensors {
    const eddy_allocator   *allocator;
    char                   *header;      /* contains the names */
    size_t                  header_size;
    eddy_safetensors_entry *entries;     /* by name */
    int                     count, capacity;
} eddy_safetensors;

/* Reads the file into *out, which must be freed in any case. The header is checked completely
 * before the first element is read. */
eddy_status eddy__safetensors_read(const eddy_files *files, const eddy_allocator *a,
                                   const char *path, eddy_safetensors *out, eddy_error *error);
/* The array with that name, which belongs to the file; NULL if there is none. */
eddy_array *eddy__safetensors_find(const eddy_safetensors *s, const char *name);
void        eddy__safetensors_free(eddy_safetensors *s);

#endif
