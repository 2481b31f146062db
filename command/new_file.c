/* new_file.c -- files that replace an old one as a whole, or leave it as it is. */
#include "command/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *part_of(const char *path) { return text("%s.part", path); }

FILE *new_file(const char *path)
{
    FILE *f = fopen(part_of(path), "wb");
    if (!f) fail(path, "%s", strerror(errno));
    return f;
}

bool new_file_end(FILE *f, const char *path, bool fine)
{
    const char *part = part_of(path);
    errno = EIO;                        /* an earlier write may have failed without a reason */
    bool        ok = fine && fflush(f) == 0 && !ferror(f) && fsync(fileno(f)) == 0;
    int         why = errno;
    if (fclose(f) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && rename(part, path) == 0) return true;
    if (fine) fail(path, "%s", strerror(ok ? errno : why));
    remove(part);
    return false;
}
