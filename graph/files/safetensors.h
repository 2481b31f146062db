/* safetensors.h -- safetensors, a format for named arrays in one file; not installed.
 *
 * The format: eight bytes with the length of the header, a JSON object that gives the element
 * type, shape and offsets of each name, and the elements without gaps. Types are F64 F32 F16
 * BF16 I64 I32 U8 BOOL C64; an error names any other. The header may also hold metadata, an object
 * of strings named __metadata__. */
#ifndef EDDY_GRAPH_FILES_SAFETENSORS_H
#define EDDY_GRAPH_FILES_SAFETENSORS_H

#include "graph/base/files.h"

/* A pair of the metadata; both are UTF-8. */
typedef struct eddy_safetensors_text {
    const char *key, *value;
} eddy_safetensors_text;

/* Replaces the file `path` completely or leaves it unchanged. The same arrays and pairs give the
 * same bytes: arrays are sorted by descending element size, so that all are aligned, and then by
 * name; pairs by key. Names are UTF-8, different, at most 4096 bytes. Keys are different. */
eddy_status eddy__safetensors_write(const eddy_files *files, const eddy_allocator *a,
                                    const char *path, int n, const char *const *names,
                                    const eddy_array *const *arrays, int n_metadata,
                                    const eddy_safetensors_text *metadata, eddy_error *error);

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
    char                   *header;      /* contains the names and the metadata */
    size_t                  header_size;
    eddy_safetensors_entry *entries;     /* by name */
    int                     count, capacity;
    eddy_safetensors_text  *metadata;    /* by key, without pairs that contain a zero byte */
    int                     metadata_count, metadata_capacity;
} eddy_safetensors;

/* Reads the file into *out, which must be freed in any case. The header is checked completely
 * before the first element is read. */
eddy_status eddy__safetensors_read(const eddy_files *files, const eddy_allocator *a,
                                   const char *path, eddy_safetensors *out, eddy_error *error);
/* The array with that name, which belongs to the file; NULL if there is none. */
eddy_array *eddy__safetensors_find(const eddy_safetensors *s, const char *name);
/* The value of that key in the metadata, which belongs to the file; NULL if there is none. */
const char *eddy__safetensors_find_text(const eddy_safetensors *s, const char *key);
void        eddy__safetensors_free(eddy_safetensors *s);

#endif
