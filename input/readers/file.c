/* file.c -- see file.h. A file is read and not mapped: a mapped file that another program shortens
 * kills the process. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* A byte more fits the addresses. */
static const int64_t most_bytes = PTRDIFF_MAX > INT32_MAX ? (int64_t)1 << 40 : INT32_MAX - 1;

enum { PATIENCE = 100 };                /* interruptions of one read in a row */

bool eddy__file_open(data_file *f, const char *path, const eddy_files *files, eddy_error *error)
{
    *f = (data_file){
        .files = files ? files : eddy_posix_files(), .path = path, .error = error, .fd = -1
    };
    if (!path) return eddy__input_fail(error, EDDY_INVALID_ARGUMENT, "no path is given");
    if (!f->files->open || !f->files->read || !f->files->size || !f->files->close)
        return eddy__input_fail(error, EDDY_INVALID_ARGUMENT,
                                "%.800s: the table of file functions lacks a function", path);
    f->fd = f->files->open(f->files->context, path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0)
        return eddy__input_fail(error, errno == ENOENT ? EDDY_NOT_FOUND : EDDY_IO,
                                "%.800s: cannot open: %s", path, strerror(errno));
    f->size = f->files->size(f->files->context, f->fd);
    if (f->size >= 0 && f->size <= most_bytes) return true;
    if (f->size < 0)
        eddy__input_fail(error, EDDY_IO, "%.800s: cannot read: %s", path,
                         errno == ESPIPE ? "this is not a regular file" : strerror(errno));
    else
        eddy__input_fail(error, EDDY_LIMIT, "%.800s: the file has %lld bytes; the limit is %lld",
                         path, (long long)f->size, (long long)most_bytes);
    eddy__file_free(f);
    return false;
}

int64_t eddy__file_some(data_file *f, void *p, size_t n)
{
    for (int retries = PATIENCE;;) {
        const int64_t got = f->files->read(f->files->context, f->fd, p, n);
        if (got >= 0 && (uint64_t)got <= n) return got;
        if (got < 0 && errno == EINTR && retries-- > 0) continue;
        eddy__input_fail(f->error, EDDY_IO, "%.800s: cannot read: %s", f->path,
                         got < 0 ? strerror(errno) : "too many bytes");
        return -1;
    }
}

static void close_file(data_file *f)
{
    if (f->fd >= 0) f->files->close(f->files->context, f->fd);
    f->fd = -1;
}

bool eddy__file_next(data_file *f, void *p, int64_t n)
{
    for (const int64_t end = f->at + n; f->at < end;) {
        const int64_t got = eddy__file_some(f, p, (size_t)(end - f->at));
        if (got < 0) return false;
        if (got == 0) return eddy__file_damaged(f, f->at, "the file ends early");
        p = (char *)p + got;
        f->at += got;
    }
    return true;
}

bool eddy__file_read(data_file *f, const char *path, const eddy_files *files, eddy_error *error)
{
    if (!eddy__file_open(f, path, files, error)) return false;
    f->bytes = malloc((size_t)f->size + 1);
    bool ok = f->bytes || eddy__input_fail(error, EDDY_NO_MEMORY,
                                           "%.800s: out of memory (bytes: %lld)", path,
                                           (long long)f->size);
    ok = ok && eddy__file_next(f, f->bytes, f->size);
    if (ok) f->bytes[f->size] = 0;
    close_file(f);
    if (!ok) eddy__file_free(f);
    return ok;
}

void eddy__file_free(data_file *f)
{
    close_file(f);
    free(f->bytes);
    f->bytes = NULL;
}

bool eddy__file_damaged(const data_file *f, int64_t at, const char *what)
{
    return eddy__input_fail(f->error, EDDY_CORRUPT, "%.800s: byte %lld: %s", f->path, (long long)at,
                            what);
}

uint64_t eddy__little(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = n; i-- > 0;) v = v << 8 | p[i];
    return v;
}

uint64_t eddy__big(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

eddy_array *eddy__file_array(const data_file *f, eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    char        text[200];
    if (!a)
        eddy__input_fail(f->error, EDDY_NO_MEMORY, "%.700s: out of memory for an array of shape %s",
                         f->path, eddy_shape_print(s, text, sizeof text));
    return a;
}
