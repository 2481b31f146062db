/* source.c -- see source.h. A file is read and not mapped: a mapped file that another program
 * shortens kills the process. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct source {
    atomic_int count;
    size_t     size;
    _Alignas(64) uint8_t bytes[];
};

bool eddy__format_fail(eddy_error *error, eddy_status status, const char *format, ...)
{
    if (!error) return false;
    va_list args;
    va_start(args, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

enum { PATIENCE = 100 };                /* interruptions of one read in a row */

static source *allocate(uint64_t size, eddy_error *error)
{
    source *s = NULL;
    if (size > PTRDIFF_MAX - sizeof *s - 64 ||
        posix_memalign((void **)&s, _Alignof(source), sizeof *s + (size_t)size + 64) != 0) {
        eddy__format_fail(error, EDDY_NO_MEMORY, "out of memory for a file of %llu bytes",
                          (unsigned long long)size);
        return NULL;
    }
    atomic_init(&s->count, 1);
    s->size = (size_t)size;
    return s;
}

static source *read_open(const char *path, int fd, const eddy_files *f, int64_t most,
                         eddy_error *error)
{
    const int64_t size = f->size(f->context, fd);
    if (size < 0 || size > most) {
        if (size < 0)
            eddy__format_fail(error, EDDY_IO, "%.800s: %s", path,
                              errno == ESPIPE ? "this is not a regular file" : strerror(errno));
        else
            eddy__format_fail(error, EDDY_LIMIT,
                              "%.800s: %lld bytes are more than the limit of %lld", path,
                              (long long)size, (long long)most);
        return NULL;
    }
    source *s = allocate((uint64_t)size, error);
    int     retries = PATIENCE;
    for (size_t at = 0; s && at < s->size;) {
        const int64_t n = f->read(f->context, fd, s->bytes + at, s->size - at);
        if (n > 0 && (uint64_t)n <= s->size - at) {
            at += (size_t)n;
            retries = PATIENCE;
            continue;
        }
        if (n < 0 && errno == EINTR && retries-- > 0) continue;
        eddy__format_fail(error, EDDY_IO, "%.800s: %s", path,
                          n < 0 ? strerror(errno) : "the file ends early");
        free(s);
        s = NULL;
    }
    return s;
}

static bool is_usable(const char *path, const eddy_files *f, eddy_error *error)
{
    if (!path || !*path)
        return eddy__format_fail(error, EDDY_INVALID_ARGUMENT, "no path is given");
    return (f->open && f->read && f->size && f->close) ||
           eddy__format_fail(error, EDDY_INVALID_ARGUMENT,
                             "%.800s: the table of file functions lacks a function", path);
}

source *eddy__source_read(const char *path, const eddy_files *files, int64_t max_bytes,
                          eddy_error *error)
{
    const eddy_files *f = files ? files : eddy_posix_files();
    if (!is_usable(path, f, error)) return NULL;
    const int fd = f->open(f->context, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        eddy__format_fail(error, errno == ENOENT ? EDDY_NOT_FOUND : EDDY_IO, "%.800s: %s", path,
                          strerror(errno));
        return NULL;
    }
    source *s = read_open(path, fd, f, max_bytes, error);
    f->close(f->context, fd);
    return s;
}

source *eddy__source_copy(const void *data, size_t size, eddy_error *error)
{
    source *s = allocate(size, error);
    if (s && data) memcpy(s->bytes, data, size);
    return s;
}

wire_bytes eddy__source_bytes(const source *s)
{
    return (wire_bytes){ s->bytes, s->size };
}

source *eddy__source_retain(source *s)
{
    atomic_fetch_add(&s->count, 1);
    return s;
}

void eddy__source_release(source *s)
{
    if (s && atomic_fetch_sub(&s->count, 1) == 1) free(s);
}

static void release_view(void *context, void *data)
{
    (void)data;
    eddy__source_release(context);
}

eddy_array *eddy__source_array(source *s, wire_bytes b, eddy_dtype dtype, eddy_shape shape)
{
    const size_t part = eddy_dtype_is_complex(dtype) ? 2 : 1;
    if (b.size == 0 || (uintptr_t)b.at % (eddy_dtype_size(dtype) / part) != 0)
        return eddy_array_copy_of(dtype, shape, b.at);
    eddy_array *a = eddy_array_adopt(dtype, shape, (void *)(uintptr_t)b.at, release_view,
                                     eddy__source_retain(s));
    if (!a) eddy__source_release(s);
    return a;
}
