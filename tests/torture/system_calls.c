/* system_calls.c -- see system_calls.h. */
#define _DEFAULT_SOURCE
#include "tests/torture/system_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static call_fault  fault;
static atomic_bool armed;
static atomic_int  calls, opened;

void system_calls_begin(call_fault f)
{
    fault = f;
    atomic_store(&calls, 0);
    atomic_store(&armed, true);
}

int system_calls_end(void)
{
    atomic_store(&armed, false);
    return atomic_load(&calls);
}

int system_calls_open(void) { return atomic_load(&opened); }

static bool is_hit(int call)
{
    if (fault.one_in > 0) {
        uint64_t x = ((uint64_t)fault.seed << 32 | (unsigned)call) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
        return (x >> 32) % fault.one_in == 0;
    }
    return fault.at > 0 && (fault.persistent ? call >= fault.at : call == fault.at);
}

/* Whether this call fails; a short one does not, and moves at most one byte. */
static bool fails(size_t *bytes)
{
    if (!atomic_load(&armed) || !is_hit(atomic_fetch_add(&calls, 1) + 1)) return false;
    if (fault.number == 0) {
        if (bytes && *bytes > 1) *bytes = 1;
        return false;
    }
    errno = fault.number;
    return true;
}

/* ----------------------------------------------------------- the real ones -- */

int     __real_open(const char *path, int flags, ...);
int     __real_close(int fd);
ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __real_write(int fd, const void *p, size_t n);
int     __real_fstat(int fd, struct stat *to);
void   *__real_mmap(void *at, size_t n, int protection, int flags, int fd, off_t from);
int     __real_rename(const char *from, const char *to);
int     __real_unlink(const char *path);
int     __real_mkdir(const char *path, mode_t mode);
DIR    *__real_opendir(const char *path);

/* ------------------------------------------------------------ the new ones -- */

int     __wrap_open(const char *path, int flags, ...);
int     __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
int     __wrap_fstat(int fd, struct stat *to);
int     __wrap_fsync(int fd);
void   *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t from);
int     __wrap_rename(const char *from, const char *to);
int     __wrap_unlink(const char *path);
int     __wrap_mkdir(const char *path, mode_t mode);
DIR    *__wrap_opendir(const char *path);

int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    const int fd = fails(NULL) ? -1 : __real_open(path, flags, mode);
    if (fd >= 0) atomic_fetch_add(&opened, 1);
    return fd;
}

/* A close that fails has closed. */
int __wrap_close(int fd)
{
    const bool failed = fails(NULL);
    const int  why = errno, r = __real_close(fd);
    if (r == 0) atomic_fetch_sub(&opened, 1);
    if (failed) errno = why;
    return failed ? -1 : r;
}

ssize_t __wrap_read(int fd, void *p, size_t n) { return fails(&n) ? -1 : __real_read(fd, p, n); }

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    return fails(&n) ? -1 : __real_write(fd, p, n);
}

int __wrap_fstat(int fd, struct stat *to) { return fails(NULL) ? -1 : __real_fstat(fd, to); }

/* No test cuts the power of a real disk, so nothing needs to be durable. */
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails(NULL) ? -1 : 0;
}

/* Of files; memory.c fails the others. */
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    if (fd >= 0 && fails(NULL)) return MAP_FAILED;
    return __real_mmap(at, n, protection, flags, fd, from);
}

int __wrap_rename(const char *from, const char *to)
{
    return fails(NULL) ? -1 : __real_rename(from, to);
}

int __wrap_unlink(const char *path) { return fails(NULL) ? -1 : __real_unlink(path); }

int __wrap_mkdir(const char *path, mode_t mode)
{
    return fails(NULL) ? -1 : __real_mkdir(path, mode);
}

DIR *__wrap_opendir(const char *path) { return fails(NULL) ? NULL : __real_opendir(path); }
