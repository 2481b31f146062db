/* npz.c -- archives of NumPy: zip files of .npy files, stored or deflated. The directory is at
 * the end of the file (PKWARE's APPNOTE.TXT, sections 4.3 and 4.5 for the numbers of 64 bits).
 * The arrays themselves are read by eddy_array_load from the bytes of their entries. */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1 << 20, END = 22, ENTRY = 46, LOCAL = 30, STORED = 0, DEFLATED = 8 };

typedef struct entry {
    char    *name;                       /* without ".npy" */
    char    *whole;                      /* "FILE: NAME", for messages */
    int      method;
    uint32_t crc;
    int64_t  stored, size, at; /* bytes in the archive; of the file; of its local header */
} entry;

struct eddy_npz {
    data_file f;
    char     *path;
    entry    *entries;
    int       n;
};

/* ------------------------------------------------------------- directory -- */

/* The record at the end of the file, which a comment may follow; -1 if there is none. */
static int64_t find_end(const data_file *f)
{
    const int64_t last = f->size - END, first = last > 65535 ? last - 65535 : 0;
    for (int64_t at = last; at >= first; at--)
        if (memcmp(f->bytes + at, "PK\5\6", 4) == 0 &&
            at + END + (int64_t)eddy__little(f->bytes + at + 20, 2) == f->size)
            return at;
    return -1;
}

/* Where the directory is and how many entries it has. */
static bool directory(const data_file *f, int64_t *at, int64_t *n, int64_t *bytes)
{
    const int64_t end = find_end(f);
    if (end < 0) return eddy__file_damaged(f, f->size, "not an npz file: no directory at its end");
    const uint8_t *p = f->bytes + end;
    *n = (int64_t)eddy__little(p + 10, 2);
    *bytes = (int64_t)eddy__little(p + 12, 4);
    *at = (int64_t)eddy__little(p + 16, 4);
    if (end >= 20 && memcmp(p - 20, "PK\6\7", 4) == 0) {
        const int64_t big = (int64_t)eddy__little(p - 20 + 8, 8);
        if (big < 0 || big > end - 20 - 56 || memcmp(f->bytes + big, "PK\6\6", 4) != 0)
            return eddy__file_damaged(f, end - 20, "the directory's end is not there");
        *n = (int64_t)eddy__little(f->bytes + big + 32, 8);
        *bytes = (int64_t)eddy__little(f->bytes + big + 40, 8);
        *at = (int64_t)eddy__little(f->bytes + big + 48, 8);
    }
    if (*at < 0 || *bytes < 0 || *at > end || *bytes > end - *at || *n < 0 || *n > *bytes / ENTRY)
        return eddy__file_damaged(f, end, "the directory is outside of the file");
    return *n <= MAX_ENTRIES ||
           eddy__input_fail(f->error, EDDY_LIMIT, "%.800s: %lld arrays; the limit is %d", f->path,
                            (long long)*n, MAX_ENTRIES);
}

/* Numbers of 64 bits, in the order in which those of 32 bits are all ones. */
static bool extra(entry *e, const uint8_t *p, int64_t n)
{
    int64_t *const numbers[] = { &e->size, &e->stored, &e->at };
    while (n >= 4) {
        const int64_t  size = (int64_t)eddy__little(p + 2, 2);
        const uint8_t *v = p + 4;
        if (size > n - 4) return false;
        for (int i = 0; i < 3 && eddy__little(p, 2) == 1; i++) {
            if (*numbers[i] != UINT32_MAX) continue;
            if (v + 8 > p + 4 + size) return false;
            *numbers[i] = (int64_t)eddy__little(v, 8);
            v += 8;
        }
        p += 4 + size;
        n -= 4 + size;
    }
    return true;
}

static bool add_entry(eddy_npz *z, const uint8_t *p, int64_t left, int64_t *length)
{
    const int64_t at = p - z->f.bytes;
    if (left < ENTRY || memcmp(p, "PK\1\2", 4) != 0)
        return eddy__file_damaged(&z->f, at, "no entry of the directory");
    const int64_t name = (int64_t)eddy__little(p + 28, 2), more = (int64_t)eddy__little(p + 30, 2);
    entry        *e = &z->entries[z->n];
    *length = ENTRY + name + more + (int64_t)eddy__little(p + 32, 2);
    *e = (entry){ .method = (int)eddy__little(p + 10, 2),
                  .crc = (uint32_t)eddy__little(p + 16, 4),
                  .stored = (int64_t)eddy__little(p + 20, 4),
                  .size = (int64_t)eddy__little(p + 24, 4),
                  .at = (int64_t)eddy__little(p + 42, 4) };
    if (*length > left || !extra(e, p + ENTRY + name, more))
        return eddy__file_damaged(&z->f, at, "an entry of the directory is too long");
    if (eddy__little(p + 8, 2) & 1)
        return eddy__input_fail(z->f.error, EDDY_UNIMPLEMENTED, "%.800s: byte %lld: encrypted",
                                z->path, (long long)at);
    const int64_t kept = name > 4 && memcmp(p + ENTRY + name - 4, ".npy", 4) == 0 ? name - 4 : name;
    e->name = calloc(1, (size_t)kept + 1);
    e->whole = calloc(1, strlen(z->path) + (size_t)kept + 3);
    z->n++;
    if (!e->name || !e->whole)
        return eddy__input_fail(z->f.error, EDDY_NO_MEMORY, "%.800s: out of memory", z->path);
    memcpy(e->name, p + ENTRY, (size_t)kept);
    sprintf(e->whole, "%s: %s", z->path, e->name);
    return true;
}

static bool read_directory(eddy_npz *z)
{
    int64_t at = 0, n = 0, bytes = 0, length = 0;
    if (!directory(&z->f, &at, &n, &bytes)) return false;
    z->entries = calloc((size_t)n + 1, sizeof *z->entries);
    if (!z->entries)
        return eddy__input_fail(z->f.error, EDDY_NO_MEMORY, "%.800s: out of memory", z->path);
    for (; z->n < n; at += length, bytes -= length)
        if (!add_entry(z, z->f.bytes + at, bytes, &length)) return false;
    return true;
}

eddy_npz *eddy_npz_open(const char *path, const eddy_files *files, eddy_error *error)
{
    eddy_npz *z = calloc(1, sizeof *z);
    bool      ok = z != NULL;
    if (z) z->f.fd = -1;
    else eddy__input_fail(error, EDDY_NO_MEMORY, "npz_open: out of memory");
    ok = ok && eddy__file_read(&z->f, path, files, error);
    if (ok) {
        z->path = calloc(1, strlen(path) + 1);
        ok = z->path || eddy__input_fail(error, EDDY_NO_MEMORY, "%.800s: out of memory", path);
        if (ok) strcpy(z->path, path);
        z->f.path = z->path;
    }
    ok = ok && read_directory(z);
    if (z) z->f.error = NULL;
    if (ok) return z;
    eddy_npz_free(z);
    return NULL;
}

void eddy_npz_free(eddy_npz *z)
{
    if (!z) return;
    eddy__file_free(&z->f);
    for (int i = 0; i < z->n; i++) {
        free(z->entries[i].name);
        free(z->entries[i].whole);
    }
    free(z->entries);
    free(z->path);
    free(z);
}

int eddy_npz_count(const eddy_npz *z) { return z ? z->n : 0; }

const char *eddy_npz_name(const eddy_npz *z, int i)
{
    return z && i >= 0 && i < z->n ? z->entries[i].name : NULL;
}

/* ---------------------------------------------------------------- entries -- */

/* An entry as a file that eddy_array_load reads. */
typedef struct entry_file {
    data_file   f;
    const entry *e;
    int64_t     data, at;                /* the first byte; bytes read */
    inflater   *z;
    uint32_t    crc;
} entry_file;

static int entry_open(void *context, const char *path, int flags)
{
    (void)context, (void)path, (void)flags;
    return 0;
}

static int64_t entry_read(void *context, int fd, void *p, size_t n)
{
    entry_file *in = context;
    (void)fd;
    if ((int64_t)n > in->e->size - in->at) n = (size_t)(in->e->size - in->at);
    if (n == 0) return 0;
    if (!in->z) memcpy(p, in->f.bytes + in->data + in->at, n);
    else if (!eddy__inflate(in->z, p, n)) {
        errno = EIO;
        return -1;
    }
    in->crc = eddy__crc32(in->crc, p, n);
    in->at += (int64_t)n;
    return (int64_t)n;
}

static int64_t entry_size(void *context, int fd)
{
    return (void)fd, ((entry_file *)context)->e->size;
}
static int     entry_close(void *context, int fd) { return (void)context, (void)fd, 0; }

/* Where the bytes of the entry begin, behind its local header. */
static bool find_data(entry_file *in)
{
    const entry     *e = in->e;
    const data_file *f = &in->f;
    if (e->method != STORED && e->method != DEFLATED)
        return eddy__input_fail(f->error, EDDY_UNIMPLEMENTED,
                                "%.800s: byte %lld: compression method %d", e->whole,
                                (long long)e->at, e->method);
    if (e->at < 0 || e->at > f->size - LOCAL || memcmp(f->bytes + e->at, "PK\3\4", 4) != 0)
        return eddy__file_damaged(f, e->at, "the entry is not there");
    in->data = e->at + LOCAL + (int64_t)eddy__little(f->bytes + e->at + 26, 2) +
               (int64_t)eddy__little(f->bytes + e->at + 28, 2);
    const int64_t room = f->size - in->data, stored = e->stored, size = e->size;
    if (stored < 0 || size < 0 || stored > room ||
        (e->method == STORED ? size != stored : size > eddy__inflate_most(stored)))
        return eddy__file_damaged(f, e->at, "the sizes of the entry do not fit");
    return true;
}

static eddy_array *load(entry_file *in)
{
    eddy_files table = *eddy_posix_files();      /* the functions that write are not called */
    eddy_error e = { EDDY_OK, "" };
    table.open = entry_open;
    table.read = entry_read;
    table.size = entry_size;
    table.close = entry_close;
    table.context = in;
    if (!find_data(in)) return NULL;
    if (in->e->method == DEFLATED) {
        in->z = eddy__inflate_begin(&in->f, in->data, in->e->stored, DEFLATED_RAW);
        if (!in->z) return NULL;
    }
    eddy_array *a = eddy_array_load(in->e->whole, &table, &e);
    bool        ok = a != NULL;
    if (!ok) eddy__input_fail(in->f.error, e.status, "%s", e.message);
    ok = ok && (!in->z || eddy__inflate_ended(in->z));
    if (ok && in->crc != in->e->crc) ok = eddy__file_damaged(&in->f, in->data, "wrong CRC-32");
    if (ok) return a;
    eddy_array_free(a);
    return NULL;
}

eddy_array *eddy_npz_array(const eddy_npz *z, const char *name, eddy_error *error)
{
    for (int i = 0; z && name && i < z->n; i++) {
        if (strcmp(z->entries[i].name, name) != 0) continue;
        entry_file in = { .f = z->f, .e = &z->entries[i] };
        in.f.error = error;
        in.f.path = z->entries[i].whole;
        eddy_array *a = load(&in);
        eddy__inflate_free(in.z);
        return a;
    }
    eddy__input_fail(error, z && name ? EDDY_NOT_FOUND : EDDY_INVALID_ARGUMENT,
                     "%.600s: there is no array '%.200s'", z ? z->path : "npz_array",
                     name ? name : "");
    return NULL;
}
