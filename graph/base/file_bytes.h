/* file_bytes.h -- all bytes of a file: mapped into memory where the files are POSIX's, otherwise
 * read; not installed. */
#ifndef EDDY_GRAPH_BASE_FILE_BYTES_H
#define EDDY_GRAPH_BASE_FILE_BYTES_H

#include "graph/base/files.h"

/* The bytes may be written to; the file does not change. Counted references, since arrays may be
 * views of the bytes. */
typedef struct eddy_file_bytes {
    const eddy_allocator *allocator;     /* NULL: mapped */
    char                 *at;
    size_t                size;
    atomic_int            references;
} eddy_file_bytes;

/* NULL with the error set: those of eddy__reader_open and eddy__reader_read, EDDY_NO_MEMORY.
 * Release it with eddy__file_bytes_release. Another program must not shorten a mapped file;
 * replacing it by rename, as eddy__writer_end does, is safe. */
eddy_file_bytes *eddy__file_bytes(const eddy_files *files, const eddy_allocator *a,
                                  const char *path, eddy_error *e);
eddy_file_bytes *eddy__file_bytes_retain(eddy_file_bytes *b);
void             eddy__file_bytes_release(eddy_file_bytes *b);       /* NULL is fine */

#endif
