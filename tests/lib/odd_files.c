/* odd_files.c -- see odd_files.h. */
#include "tests/lib/odd_files.h"

#include <errno.h>

static int odd_open(void *context, const char *path, int flags)
{
    odd_files *odd = context;
    return odd->files.table.open(&odd->files, path, flags);
}

static int64_t odd_size(void *context, int fd)
{
    odd_files *odd = context;
    if (odd->size == 0) return odd->files.table.size(&odd->files, fd);
    errno = odd->number;
    return odd->size;
}

static int64_t odd_read(void *context, int fd, void *p, size_t n)
{
    odd_files *odd = context;
    if (odd->interrupted > 0) {
        odd->interrupted--;
        errno = odd->number;
        return -1;
    }
    return odd->files.table.read(&odd->files, fd, p, n) + odd->extra;
}

static int odd_close(void *context, int fd)
{
    odd_files *odd = context;
    return odd->files.table.close(&odd->files, fd);
}

eddy_files odd_files_begin(odd_files *odd, const void *p, size_t n)
{
    memory_files_init(&odd->files);
    memory_files_put(&odd->files, "f", p, n);
    eddy_files table = odd->files.table;
    table.context = odd;
    table.open = odd->missing == 1 ? NULL : odd_open;
    table.read = odd->missing == 2 ? NULL : odd_read;
    table.size = odd->missing == 3 ? NULL : odd_size;
    table.close = odd->missing == 4 ? NULL : odd_close;
    return table;
}
