/* safetensors.h -- safetensors, a format for named arrays in one file; not installed.
 *
 * The format: eight bytes with the length of the header, a JSON object that gives the element
 * type, shape and offsets of each name, and the elements without gaps. The header may also hold
 * metadata, an object of strings named __metadata__. */
#ifndef EDDY_GRAPH_FILES_SAFETENSORS_H
#define EDDY_GRAPH_FILES_SAFETENSORS_H

#include "graph/base/files.h"

/* A pair of the metadata; both are UTF-8. */
typedef struct eddy_safetensors_text {
    const char *key, *value;
} eddy_safetensors_text;

/* Replaces the file `path` completely or leaves it unchanged. The same arrays and pairs give the
 * same bytes: arrays are sorted by descending element size, so that all are aligned, and then by
 * name; pairs by key. Names are UTF-8, different, at most 4096 bytes. Keys are different, and
 * neither eddy.crc32c nor eddy.header_crc32c, which hold checksums. */
eddy_status eddy__safetensors_write(const eddy_files *files, const eddy_allocator *a,
                                    const char *path, int n, const char *const *names,
                                    const eddy_array *const *arrays, int n_metadata,
                                    const eddy_safetensors_text *metadata, eddy_error *error);

/* An element type of files. */
typedef struct eddy_safetensors_element {
    const char *code;            /* "F32", "F8_E4M3" */
    int         bits;            /* of an element */
    eddy_dtype  dtype;           /* of a value read here; EDDY_DEFAULT_DTYPE: cannot be read */
    /* Converts n elements; false, with the index of the first that does not fit; NULL: a copy */
    bool      (*decode)(const void *from, void *to, int64_t n, int64_t *bad);
} eddy_safetensors_element;

/* NULL for a code that the format does not define. */
const eddy_safetensors_element *eddy__safetensors_element_of(const char *code);
/* The code that arrays of this type are written with; NULL if there is none. */
const char *eddy__safetensors_code_of(eddy_dtype d);

typedef struct eddy_safetensors_entry {
    const char *name, *code;     /* code: as it stands in the file */
    const eddy_safetensors_element *element;     /* NULL: not known */
    eddy_type   type;            /* of the value; the first dimensions of more than 8 */
    int         rank;
    int64_t     count;           /* elements */
    int64_t     begin, end;      /* bytes, from the end of the header */
    size_t      offset;          /* the file's name, for messages */
    uint32_t    crc;
} eddy_safetensors_entry;

typedef struct eddy_safetensors {
    const eddy_allocator   *allocator;
    char                   *path;
    struct eddy_file_bytes *bytes;       /* of the whole file */
    char                   *header;      /* contains the names and the metadata */
    size_t                  header_size;
    eddy_safetensors_entry *entries;     /* by name */
    int                     count, capacity;
    eddy_safetensors_text  *metadata;    /* by key, without pairs that contain a zero byte */
    int                     metadata_count, metadata_capacity;
    bool                    has_crcs, unchecked;
} eddy_safetensors;

/* Opens the file as *out, which must be freed in any case. The header is checked completely, and no
 * element is read. unchecked: checksums are not compared. */
eddy_status eddy__safetensors_open(const eddy_files *files, const eddy_allocator *a,
                                   const char *path, bool unchecked, eddy_safetensors *out,
                                   eddy_error *error);
/* The entry with that name; NULL if there is none. */
const eddy_safetensors_entry *eddy__safetensors_find(const eddy_safetensors *s, const char *name);
/* The entry's value as a new array: a view of the file's bytes if they need no conversion, so it
 * may outlive s. NULL with the error set: EDDY_UNIMPLEMENTED for a type or a rank that cannot be
 * read, EDDY_CORRUPT for another checksum and bools that are not 0 or 1, EDDY_OUT_OF_RANGE for
 * numbers beyond int64. */
eddy_array *eddy__safetensors_value(const eddy_safetensors *s, const eddy_safetensors_entry *entry,
                                    eddy_error *error);
/* The value of that key in the metadata, which belongs to the file; NULL if there is none. */
const char *eddy__safetensors_find_text(const eddy_safetensors *s, const char *key);
void        eddy__safetensors_free(eddy_safetensors *s);

#endif
