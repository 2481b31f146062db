/* npz.c -- archives of NumPy: each array as an .npy file, stored without compression. */
#include "command/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------ an .npy file in memory -- */

typedef struct memory {
    char  *bytes;
    size_t size, capacity;
} memory;

static int open_memory(void *context, const char *path, int flags)
{
    (void)context, (void)path, (void)flags;
    return 0;
}

static int64_t write_memory(void *context, int fd, const void *p, size_t n)
{
    memory *m = context;
    (void)fd;
    if (m->capacity - m->size < n) {
        const size_t capacity = 2 * m->capacity > m->size + n ? 2 * m->capacity : m->size + n;
        char        *bytes = realloc(m->bytes, capacity);
        if (!bytes) {
            errno = ENOMEM;
            return -1;
        }
        m->bytes = bytes;
        m->capacity = capacity;
    }
    memcpy(m->bytes + m->size, p, n);
    m->size += n;
    return (int64_t)n;
}

static int nothing(void *context, int fd)                 { (void)context, (void)fd; return 0; }
static int nothing_at(void *context, const char *path)    { (void)context, (void)path; return 0; }
static int64_t size_of(void *context, int fd)
{
    (void)fd;
    return (int64_t)((memory *)context)->size;
}
static int64_t read_none(void *context, int fd, void *p, size_t n)
{
    (void)context, (void)fd, (void)p, (void)n;
    return 0;
}
static int rename_none(void *context, const char *from, const char *to)
{
    (void)context, (void)from, (void)to;
    return 0;
}

static bool array_bytes(const eddy_array *a, memory *m, eddy_error *e)
{
    const eddy_files files = {
        .open = open_memory, .read = read_none, .write = write_memory, .size = size_of,
        .sync = nothing, .close = nothing, .rename = rename_none, .unlink = nothing_at,
        .sync_dir = nothing_at, .context = m,
    };
    m->size = 0;
    return eddy_array_save(a, "array.npy", &files, e) == EDDY_OK;
}

/* ---------------------------------------------------------------- the archive -- */

static uint32_t checksum(const char *bytes, size_t n)
{
    uint32_t table_[256], crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < 256; i++) {
        table_[i] = i;
        for (int k = 0; k < 8; k++) table_[i] = table_[i] >> 1 ^ (table_[i] & 1 ? 0xEDB88320u : 0);
    }
    for (size_t i = 0; i < n; i++) crc = crc >> 8 ^ table_[(crc ^ (unsigned char)bytes[i]) & 255];
    return ~crc;
}

static void put(FILE *f, uint32_t v, int bytes)
{
    for (; bytes > 0; bytes--, v >>= 8) fputc((int)(v & 255), f);
}

typedef struct member {
    const char *name;
    uint32_t    crc, size, at;
} member;

/* The fields that the headers at the member and at the end have in common. */
static void put_member(FILE *f, const member *m)
{
    put(f, 20, 2);                      /* the version that reads it */
    put(f, 0x800, 2);                   /* the name is UTF-8 */
    put(f, 0, 2);                       /* stored */
    put(f, 0x21u << 16, 4);             /* 1 January 1980: the same bytes each time */
    put(f, m->crc, 4);
    put(f, m->size, 4);
    put(f, m->size, 4);
    put(f, (uint32_t)strlen(m->name), 2);
    put(f, 0, 2);
}

static void put_directory(FILE *f, const member *members, int count, uint32_t from)
{
    uint32_t at = from;
    for (int i = 0; i < count; i++) {
        put(f, 0x02014b50, 4);
        put(f, 20, 2);
        put_member(f, &members[i]);
        put(f, 0, 4);                   /* comment, disk */
        put(f, 0, 4);
        put(f, 0, 2);
        put(f, members[i].at, 4);
        fputs(members[i].name, f);
        at += 46 + (uint32_t)strlen(members[i].name);
    }
    put(f, 0x06054b50, 4);
    put(f, 0, 4);
    put(f, (uint32_t)count, 2);
    put(f, (uint32_t)count, 2);
    put(f, at - from, 4);
    put(f, from, 4);
    put(f, 0, 2);
}

static bool put_arrays(FILE *f, const eddy_checkpoint *c, const char *path)
{
    const int n = eddy_checkpoint_count(c);
    member   *members = room((size_t)n, sizeof *members);
    uint64_t  at = 0;
    memory    bytes = { NULL, 0, 0 };
    bool      fine = n <= UINT16_MAX;
    if (!fine) fail(path, "an archive has at most %d arrays; write .safetensors", UINT16_MAX);
    for (int i = 0; fine && i < n; i++) {
        eddy_error  e = { 0 };
        const char *name = eddy_checkpoint_entry_at(c, i).name;
        eddy_array *a = eddy_checkpoint_value(c, name, &e);
        fine = a && array_bytes(a, &bytes, &e);
        eddy_array_free(a);
        if (!fine) fail(path, "the tensor '%s' cannot be written: %s", name, e.message);
        else if (at + bytes.size > UINT32_MAX / 2 || strlen(name) > UINT16_MAX - 4)
            fine = fail(path, "an archive has at most 2 GiB; write .safetensors") == SUCCESS;
        if (!fine) break;
        members[i] = (member){ text("%s.npy", name), checksum(bytes.bytes, bytes.size),
                               (uint32_t)bytes.size, (uint32_t)at };
        put(f, 0x04034b50, 4);
        put_member(f, &members[i]);
        fputs(members[i].name, f);
        fwrite(bytes.bytes, 1, bytes.size, f);
        at += 30 + strlen(members[i].name) + bytes.size;
    }
    free(bytes.bytes);
    if (fine) put_directory(f, members, n, (uint32_t)at);
    return fine;
}

int write_npz(const eddy_checkpoint *c, const char *path)
{
    FILE *f = new_file(path);
    return f && new_file_end(f, path, put_arrays(f, c, path)) ? SUCCESS : TROUBLE;
}
