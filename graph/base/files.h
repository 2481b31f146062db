/* files.h -- reading and writing whole files through an eddy_files table; not installed.
 *
 * A file is read from beginning to end; a write replaces the whole file or leaves it unchanged.
 * Failures are recorded on an eddy_error as "path: cannot do this: why"; the error may be NULL. */
#ifndef EDDY_GRAPH_BASE_FILES_H
#define EDDY_GRAPH_BASE_FILES_H

#include "graph/base/base.h"

enum { EDDY_MAX_PATH = 4096 };

const eddy_files *eddy__files_or_posix(const eddy_files *files);  /* POSIX for NULL */

/* ------------------------------------------------------------- reading -- */

typedef struct eddy_reader {
    const eddy_files *files;
    const char       *path;
    eddy_error       *error;
    int64_t           size;      /* bytes in the file when it was opened */
    int64_t           at;        /* bytes read so far */
    int               fd;        /* -1 when closed */
} eddy_reader;

/* EDDY_NOT_FOUND if there is no such file; after a failure nothing is open. */
bool    eddy__reader_open(eddy_reader *in, const eddy_files *files, const char *path, eddy_error *e);
/* Exactly n bytes; EDDY_CORRUPT if the file ends before. */
bool    eddy__reader_read(eddy_reader *in, void *p, size_t n);
/* 1 to n bytes, 0 at the end of the file, -1 after a failure. */
int64_t eddy__reader_some(eddy_reader *in, void *p, size_t n);
void    eddy__reader_close(eddy_reader *in);

/* ------------------------------------------------------------- writing -- */

/* A file being written, under a temporary name in the directory of the final one. */
typedef struct eddy_writer {
    const eddy_files *files;
    const char       *path;      /* the caller's, until the end */
    eddy_error       *error;
    int               fd;        /* -1 when closed */
    bool              failed;
    char              temporary[EDDY_MAX_PATH + 64];
} eddy_writer;

/* begin, any number of writes, then end or abandon. After a failure the other calls do nothing,
 * so that only the result of end must be checked. `end` makes the bytes durable, renames the
 * file to `path` and makes that durable. After any failure before the renaming, the temporary
 * file is removed and `path` is unchanged. */
bool eddy__writer_begin(eddy_writer *out, const eddy_files *files, const char *path, eddy_error *e);
bool eddy__writer_write(eddy_writer *out, const void *p, size_t n);
bool eddy__writer_end(eddy_writer *out);
void eddy__writer_abandon(eddy_writer *out);

#endif
