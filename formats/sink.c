/* sink.c -- see sink.h. */
#include "sink.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ATTEMPTS = 100, PATIENCE = 100, LARGEST = 1 << 30 };

static bool fail(sink *s, const char *step)
{
    if (!s->failed && errno == ESPIPE)
        eddy__format_fail(s->error, EDDY_IO, "%.600s: this is not a regular file", s->path);
    else if (!s->failed)
        eddy__format_fail(s->error, EDDY_IO, "%.600s: cannot %s: %s", s->path, step,
                          strerror(errno));
    s->failed = true;
    return false;
}

bool eddy__sink_begin(sink *s, const char *path, const eddy_files *files, eddy_error *error)
{
    *s = (sink){
        .files = files ? files : eddy_posix_files(), .error = error, .fd = -1, .failed = true
    };
    const eddy_files *f = s->files;
    if (!path || !*path)
        return eddy__format_fail(error, EDDY_INVALID_ARGUMENT, "no path is given");
    if (strlen(path) >= SINK_LONGEST_PATH)
        return eddy__format_fail(error, EDDY_LIMIT,
                                 "%.100s...: the file name is longer than %d bytes", path,
                                 SINK_LONGEST_PATH - 1);
    if (!f->open || !f->write || !f->sync || !f->close || !f->rename || !f->unlink || !f->sync_dir)
        return eddy__format_fail(error, EDDY_INVALID_ARGUMENT,
                                 "%.600s: the table of file functions lacks a function", path);
    snprintf(s->path, sizeof s->path, "%s", path);
    s->failed = false;
    for (int i = 0; i < ATTEMPTS && s->fd < 0; i++) {
        snprintf(s->temporary, sizeof s->temporary, "%s.tmp-%ld-%d", path, (long)getpid(), i);
        for (int retries = PATIENCE; s->fd < 0 && retries > 0; retries--) {
            s->fd = f->open(f->context, s->temporary, O_WRONLY | O_CREAT | O_EXCL);
            if (s->fd < 0 && errno != EINTR) break;
        }
        if (s->fd < 0 && errno != EEXIST) break; /* a name that is taken belongs to another save */
    }
    return s->fd >= 0 || fail(s, "create a temporary file");
}

bool eddy__sink_write(sink *s, const void *p, size_t size)
{
    int retries = PATIENCE;
    for (const char *from = p; size > 0 && !s->failed;) {
        const size_t  part = size < LARGEST ? size : LARGEST;
        const int64_t n = s->files->write(s->files->context, s->fd, from, part);
        if (n < 0 && errno == EINTR && retries-- > 0) continue;
        if (n == 0) errno = ENOSPC;                 /* no progress and no error */
        if (n <= 0 || (uint64_t)n > part) {
            fail(s, "write the new file");
            break;
        }
        from += n;
        size -= (size_t)n;
    }
    return !s->failed;
}

static bool call_again(int r, int *retries) { return r != 0 && errno == EINTR && (*retries)-- > 0; }

bool eddy__sink_end(sink *s)
{
    const eddy_files *f = s->files;
    int               r, retries = PATIENCE;
    if (s->fd < 0) return false;
    if (!s->failed) {
        do r = f->sync(f->context, s->fd);
        while (call_again(r, &retries));
        if (r != 0) fail(s, "write the new file");
    }
    /* An interrupted close has closed. */
    r = f->close(f->context, s->fd);
    s->fd = -1;
    if (r != 0 && errno != EINTR) fail(s, "close the new file");
    if (!s->failed) {
        do r = f->rename(f->context, s->temporary, s->path);
        while (call_again(r, &retries));
        if (r != 0) fail(s, "replace the file");
    }
    if (s->failed) {
        f->unlink(f->context, s->temporary);
        return false;
    }
    do r = f->sync_dir(f->context, s->path);
    while (call_again(r, &retries));
    return r == 0 || fail(s, "make the new file durable");
}

void eddy__sink_abandon(sink *s)
{
    if (s->fd < 0) return;
    s->failed = true;
    eddy__sink_end(s);
}
