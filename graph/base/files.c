/* files.c -- file access through a table of functions: the POSIX table, and reading and
 * atomically replacing whole files with any table. Interrupted calls are repeated here, so that
 * a table need not do it. */
#include "graph/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATIENCE  = 100,             /* interruptions of one call in a row */
    ATTEMPTS  = 100,             /* temporary names that may be taken */
    LARGEST   = 1 << 30          /* size of one read or write */
};

/* --------------------------------------------------------------- POSIX -- */

static int posix_open(void *context, const char *path, int flags)
{
    (void)context;
    return open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666); /* not to wait for a pipe's writer */
}

static int64_t posix_read(void *context, int fd, void *p, size_t n)
{
    (void)context;
    return read(fd, p, n);
}

static int64_t posix_write(void *context, int fd, const void *p, size_t n)
{
    (void)context;
    return write(fd, p, n);
}

/* Only regular files have a size. */
static int64_t posix_size(void *context, int fd)
{
    struct stat st;
    (void)context;
    if (fstat(fd, &st) != 0) return -1;
    if (S_ISREG(st.st_mode)) return st.st_size;
    errno = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
    return -1;
}

static int posix_sync(void *context, int fd)
{
    (void)context;
    return fsync(fd);
}

static int close_file_number(void *context, int fd)
{
    (void)context;
    return close(fd);
}

/* Only a regular file is replaced: root could replace /dev/null. */
static int posix_rename(void *context, const char *from, const char *to)
{
    struct stat st;
    (void)context;
    if (lstat(to, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
        return -1;
    }
    return rename(from, to);
}

static int posix_unlink(void *context, const char *path)
{
    (void)context;
    return unlink(path);
}

static int posix_sync_dir(void *context, const char *path)
{
    char        folder[EDDY_MAX_PATH];
    const char *slash = strrchr(path, '/');
    size_t      n = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    (void)context;
    if (n >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, slash ? path : ".", n);
    folder[n] = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int r = fsync(fd), why = errno;
    if (r != 0 && why == EINVAL) r = 0;      /* a file system without it */
    close(fd);
    errno = why;
    return r;
}

static const eddy_files posix = {
    .open = posix_open, .read = posix_read, .write = posix_write, .size = posix_size,
    .sync = posix_sync, .close = close_file_number, .rename = posix_rename, .unlink = posix_unlink,
    .sync_dir = posix_sync_dir
};

const eddy_files *eddy_posix_files(void) { return &posix; }

const eddy_files *eddy__files_or_posix(const eddy_files *files) { return files ? files : &posix; }

/* -------------------------------------------------------------- common -- */

static bool failure(eddy_error *e, const char *path, const char *step)
{
    char why[128];
    int  number = errno;
    if (strerror_r(number, why, sizeof why) != 0) snprintf(why, sizeof why, "errno %d", number);
    return eddy__error_set(e, EDDY_IO, "%.600s: cannot %s: %s", path, step, why);
}

/* True if a call that returned r should be repeated. */
static bool should_retry(int64_t r, int *retries)
{
    return r < 0 && errno == EINTR && (*retries)-- > 0;
}

static bool check(const eddy_files *f, const char *path, eddy_error *e)
{
    if (!path || !*path) return eddy__error_set(e, EDDY_INVALID_ARGUMENT, "no path is given");
    if (strlen(path) >= EDDY_MAX_PATH)
        return eddy__error_set(e, EDDY_LIMIT, "%.100s...: the file name is longer than %d bytes",
                               path, EDDY_MAX_PATH - 1);
    if (!f->open || !f->read || !f->write || !f->size || !f->sync || !f->close || !f->rename ||
        !f->unlink || !f->sync_dir)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "%.600s: the table of file functions lacks a function", path);
    return true;
}

static int open_file(const eddy_files *f, const char *path, int flags)
{
    int fd, retries = PATIENCE;
    do fd = f->open(f->context, path, flags);
    while (should_retry(fd, &retries));
    return fd;
}

/* An interrupted close has closed: it is the data that counts, and that was
 * synced before. */
static bool close_file(const eddy_files *f, int *fd)
{
    int r = f->close(f->context, *fd);
    *fd = -1;
    return r == 0 || errno == EINTR;
}

/* ------------------------------------------------------------- reading -- */

static int64_t size_of(const eddy_reader *in)
{
    int64_t size;
    int     retries = PATIENCE;
    do size = in->files->size(in->files->context, in->fd);
    while (should_retry(size, &retries));
    return size;
}

bool eddy__reader_open(eddy_reader *in, const eddy_files *files, const char *path, eddy_error *e)
{
    *in = (eddy_reader){ .files = eddy__files_or_posix(files), .path = path, .error = e, .fd = -1 };
    if (!check(in->files, path, e)) return false;
    in->fd = open_file(in->files, path, O_RDONLY);
    if (in->fd < 0 && errno == ENOENT)
        return eddy__error_set(e, EDDY_NOT_FOUND, "%.600s: there is no such file", path);
    if (in->fd < 0) return failure(e, path, "open");
    in->size = size_of(in);
    if (in->size >= 0) return true;
    if (errno == ESPIPE) eddy__error_set(e, EDDY_IO, "%.600s: this is not a regular file", path);
    else failure(e, path, "get the size");
    eddy__reader_close(in);
    return false;
}

int64_t eddy__reader_some(eddy_reader *in, void *p, size_t n)
{
    int64_t r;
    int     retries = PATIENCE;
    if (n > LARGEST) n = LARGEST;
    do r = in->files->read(in->files->context, in->fd, p, n);
    while (should_retry(r, &retries));
    if (r < 0 || (uint64_t)r > n) {
        failure(in->error, in->path, "read");
        return -1;
    }
    in->at += r;
    return r;
}

bool eddy__reader_read(eddy_reader *in, void *p, size_t n)
{
    for (char *to = p; n > 0;) {
        int64_t r = eddy__reader_some(in, to, n);
        if (r < 0) return false;
        if (r == 0)
            return eddy__error_set(in->error, EDDY_CORRUPT,
                                   "%.600s: the file ends at byte %lld; bytes missing: %zu",
                                   in->path, (long long)in->at, n);
        to += r;
        n -= (size_t)r;
    }
    return true;
}

void eddy__reader_close(eddy_reader *in)
{
    if (in->fd >= 0) close_file(in->files, &in->fd);
}

/* ------------------------------------------------------------- writing -- */

/* A name that is taken belongs to another save going on, or to one that was
 * killed: neither is ours to remove. */
static bool open_temporary(eddy_writer *out)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        snprintf(out->temporary, sizeof out->temporary, "%s.tmp-%ld-%d", out->path, (long)getpid(),
                 i);
        out->fd = open_file(out->files, out->temporary, O_WRONLY | O_CREAT | O_EXCL);
        if (out->fd >= 0) return true;
        if (errno != EEXIST) break;
    }
    return failure(out->error, out->path, "create a temporary file");
}

bool eddy__writer_begin(eddy_writer *out, const eddy_files *files, const char *path, eddy_error *e)
{
    out->files = eddy__files_or_posix(files);
    out->path = path;
    out->error = e;
    out->fd = -1;
    out->failed = !check(out->files, path, e) || !open_temporary(out);
    return !out->failed;
}

bool eddy__writer_write(eddy_writer *out, const void *p, size_t n)
{
    const eddy_files *f = out->files;
    int               retries = PATIENCE;
    for (const char *from = p; n > 0 && !out->failed;) {
        size_t  part = n < LARGEST ? n : LARGEST;
        int64_t r = f->write(f->context, out->fd, from, part);
        if (should_retry(r, &retries)) continue;
        if (r == 0) errno = ENOSPC;          /* no progress and no error: stop */
        if (r <= 0 || (uint64_t)r > part) {
            failure(out->error, out->path, "write the new file");
            out->failed = true;
            break;
        }
        retries = PATIENCE;
        from += r;
        n -= (size_t)r;
    }
    return !out->failed;
}

static bool sync_output(eddy_writer *out)
{
    int r, retries = PATIENCE;
    do r = out->files->sync(out->files->context, out->fd);
    while (should_retry(r, &retries));
    return r == 0 || failure(out->error, out->path, "sync the new file");
}

static bool rename_output(eddy_writer *out)
{
    int r, retries = PATIENCE;
    do r = out->files->rename(out->files->context, out->temporary, out->path);
    while (should_retry(r, &retries));
    if (r == 0) return true;
    if (errno != ESPIPE) return failure(out->error, out->path, "replace the file");
    return eddy__error_set(out->error, EDDY_IO, "%.600s: this is not a regular file", out->path);
}

static bool sync_folder(eddy_writer *out)
{
    int r, retries = PATIENCE;
    do r = out->files->sync_dir(out->files->context, out->path);
    while (should_retry(r, &retries));
    return r == 0 || failure(out->error, out->path, "sync its folder; the new file is in place");
}

static void unlink_temporary(eddy_writer *out)
{
    int r, retries = PATIENCE;
    do r = out->files->unlink(out->files->context, out->temporary);
    while (should_retry(r, &retries));
}

void eddy__writer_abandon(eddy_writer *out)
{
    if (out->fd >= 0) {
        close_file(out->files, &out->fd);
        unlink_temporary(out);
    }
    out->failed = true;
}

bool eddy__writer_end(eddy_writer *out)
{
    if (!out->failed && !sync_output(out)) out->failed = true;
    if (out->failed) {
        eddy__writer_abandon(out);
        return false;
    }
    if (!close_file(out->files, &out->fd)) {
        failure(out->error, out->path, "close the new file");
        out->failed = true;
    }
    if (out->failed || !rename_output(out)) {
        out->failed = true;
        unlink_temporary(out);
        return false;
    }
    return sync_folder(out);
}
