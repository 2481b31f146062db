/* odd_files.c -- see odd_files.h. */
#include "tests/lib/files/odd_files.h"

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

static int64_t odd_write(void *context, int fd, const void *p, size_t n)
{
    odd_files *odd = context;
    errno = odd->number;
    if (odd->interrupted > 0) {
        odd->interrupted--;
        return -1;
    }
    return odd->written ? odd->written - 1 : odd->files.table.write(&odd->files, fd, p, n);
}

static int odd_sync(void *context, int fd)
{
    odd_files *odd = context;
    return odd->files.table.sync(&odd->files, fd);
}

static int odd_rename(void *context, const char *from, const char *to)
{
    odd_files *odd = context;
    return odd->files.table.rename(&odd->files, from, to);
}

static int odd_unlink(void *context, const char *path)
{
    odd_files *odd = context;
    return odd->files.table.unlink(&odd->files, path);
}

static int odd_sync_dir(void *context, const char *path)
{
    odd_files *odd = context;
    return odd->files.table.sync_dir(&odd->files, path);
}

static int odd_close(void *context, int fd)
{
    odd_files *odd = context;
    return odd->files.table.close(&odd->files, fd);
}

eddy_files odd_files_begin(odd_files *odd, const void *p, size_t n)
{
    const memory_fault fault = odd->files.fault;
    memory_files_init(&odd->files);
    odd->files.fault = fault;
    memory_files_put(&odd->files, "f", p, n);
    eddy_files table = odd->files.table;
    table.context = odd;
    table.open = odd->missing == 1 ? NULL : odd_open;
    table.read = odd->missing == 2 ? NULL : odd_read;
    table.size = odd->missing == 3 ? NULL : odd_size;
    table.close = odd->missing == 4 ? NULL : odd_close;
    table.write = odd->missing == 5 ? NULL : odd_write;
    table.sync = odd_sync;
    table.rename = odd_rename;
    table.unlink = odd_unlink;
    table.sync_dir = odd_sync_dir;
    return table;
}
