/* file_bytes.c -- all bytes of a file, by a private memory map or read into memory. */
#include "graph/base/file_bytes.h"

#include <stdlib.h>
#include <sys/mman.h>

static bool is_posix(const eddy_files *f)
{
    const eddy_files *posix = eddy_posix_files();
    return f->open == posix->open && f->read == posix->read;
}

/* False if the file cannot be mapped; it can still be read. */
static bool map(eddy_file_bytes *b, const eddy_reader *in)
{
    if (!is_posix(in->files) || in->size == 0 || in->size > PTRDIFF_MAX) return false;
    void *at = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, in->fd, 0);
    if (at == MAP_FAILED) return false;
    b->at = at;
    return true;
}

static bool read_all(eddy_file_bytes *b, const eddy_allocator *a, eddy_reader *in)
{
    b->at = in->size <= PTRDIFF_MAX ? eddy__allocate(a, b->size) : NULL;
    if (!b->at)
        return eddy__error_set(in->error, EDDY_NO_MEMORY, "%.600s: out of memory (bytes: %lld)",
                               in->path, (long long)in->size);
    b->allocator = a;
    return eddy__reader_read(in, b->at, b->size);
}

eddy_file_bytes *eddy__file_bytes(const eddy_files *files, const eddy_allocator *a,
                                  const char *path, eddy_error *e)
{
    eddy_reader in;
    if (!eddy__reader_open(&in, files, path, e)) return NULL;
    eddy_file_bytes *b = calloc(1, sizeof *b);
    if (!b) eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
    if (b) {
        b->size = (size_t)in.size;
        atomic_init(&b->references, 1);
        if (!map(b, &in) && !read_all(b, a, &in)) {
            eddy__file_bytes_release(b);
            b = NULL;
        }
    }
    eddy__reader_close(&in);
    return b;
}

eddy_file_bytes *eddy__file_bytes_retain(eddy_file_bytes *b)
{
    atomic_fetch_add(&b->references, 1);
    return b;
}

void eddy__file_bytes_release(eddy_file_bytes *b)
{
    if (!b || atomic_fetch_sub(&b->references, 1) != 1) return;
    if (b->allocator) eddy__release(b->allocator, b->at, b->size);
    else if (b->at) munmap(b->at, b->size);
    free(b);
}
