/* zip.c -- see zip.h. */
#include "zip.h"
#include "checksum.h"
#include "elements.h"

#include <stdlib.h>
#include <string.h>

enum { END = 22, ENTRY = 46, LOCAL = 30 };

static bool is_mark(const uint8_t *at, uint32_t mark) { return eddy__number_at(at, 4) == mark; }

typedef struct directory {
    uint64_t at, size, count;
} directory;

/* The record at the end, before a comment of up to 65535 bytes; its 64-bit form says what does not
 * fit. */
static bool find_directory(wire_bytes f, directory *d)
{
    if (f.size < END) return false;
    size_t end = f.size - END;
    for (size_t tries = 0; !is_mark(f.at + end, 0x06054b50); tries++, end--)
        if (end == 0 || tries == 65535) return false;
    const uint8_t *e = f.at + end;
    *d = (directory){ eddy__number_at(e + 16, 4), eddy__number_at(e + 12, 4),
                      eddy__number_at(e + 10, 2) };
    if (end < 20 || !is_mark(e - 20, 0x07064b50)) return true;
    const uint64_t at = eddy__number_at(e - 12, 8);
    if (f.size < 56 || at > f.size - 56 || !is_mark(f.at + at, 0x06064b50)) return false;
    *d = (directory){ eddy__number_at(f.at + at + 48, 8), eddy__number_at(f.at + at + 40, 8),
                      eddy__number_at(f.at + at + 32, 8) };
    return true;
}

/* Replaces sizes that do not fit into 32 bits by those of the extra field 1. */
static bool wide_sizes(const uint8_t *extra, size_t n, uint64_t *full, uint64_t *packed,
                       uint64_t *offset)
{
    uint64_t *const wide[] = { full, packed, offset };
    while (n >= 4) {
        const uint64_t kind = eddy__number_at(extra, 2), size = eddy__number_at(extra + 2, 2);
        if (size > n - 4) return false;
        const uint8_t *at = extra + 4, *end = at + size;
        for (int i = 0; kind == 1 && i < 3; i++) {
            if (*wide[i] != UINT32_MAX) continue;
            if (end - at < 8) return false;
            *wide[i] = eddy__number_at(at, 8);
            at += 8;
        }
        extra += 4 + size;
        n -= 4 + (size_t)size;
    }
    return true;
}

/* The data follow a header of their own, with names of its own lengths. */
static bool place(wire_bytes f, uint64_t offset, uint64_t size, zip_member *m)
{
    if (offset > f.size || f.size - offset < LOCAL || !is_mark(f.at + offset, 0x04034b50))
        return false;
    const uint8_t *h = f.at + offset;
    const uint64_t skip = LOCAL + eddy__number_at(h + 26, 2) + eddy__number_at(h + 28, 2);
    if (skip > f.size - offset || size > f.size - offset - skip) return false;
    m->data = (wire_bytes){ h + skip, (size_t)size };
    return true;
}

/* One entry of the directory; *at moves behind it. */
static const char *entry(region *r, wire_bytes f, const directory *d, uint64_t *at, zip_member *m)
{
    const uint64_t end = d->at + d->size;
    if (end - *at < ENTRY || !is_mark(f.at + *at, 0x02014b50)) return "the directory is damaged";
    const uint8_t *e = f.at + *at;
    const uint64_t name = eddy__number_at(e + 28, 2), extra = eddy__number_at(e + 30, 2),
                   note = eddy__number_at(e + 32, 2);
    uint64_t packed = eddy__number_at(e + 20, 4), full = eddy__number_at(e + 24, 4),
             offset = eddy__number_at(e + 42, 4);
    if (end - *at - ENTRY < name + extra + note ||
        !wide_sizes(e + ENTRY + name, (size_t)extra, &full, &packed, &offset))
        return "the directory is damaged";
    m->name = eddy__region_text(r, (wire_bytes){ e + ENTRY, (size_t)name });
    m->crc = (uint32_t)eddy__number_at(e + 16, 4);
    m->stored = eddy__number_at(e + 10, 2) == 0 && packed == full &&
                !(eddy__number_at(e + 8, 2) & 1);
    if (!m->name) return "out of memory";
    if (m->stored && !place(f, offset, full, m)) return "a member is not inside the file";
    *at += ENTRY + name + extra + note;
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const zip_member *)a)->name, ((const zip_member *)b)->name);
}

const char *eddy__zip_open(region *r, wire_bytes file, zip_archive *z, size_t *at)
{
    directory d;
    *z = (zip_archive){ .count = 0 };
    *at = file.size;
    if (!find_directory(file, &d)) return "this is no ZIP archive";
    if (d.at > file.size || d.size > file.size - d.at || d.count > d.size / ENTRY)
        return "the directory is not inside the file";
    z->members = eddy__region_take(r, (size_t)d.count, sizeof *z->members);
    if (!z->members) return "out of memory";
    uint64_t next = d.at;
    for (; z->count < d.count; z->count++) {
        *at = (size_t)next;
        const char *problem = entry(r, file, &d, &next, &z->members[z->count]);
        if (problem) return problem;
    }
    qsort(z->members, z->count, sizeof *z->members, by_name);
    return NULL;
}

const zip_member *eddy__zip_find(const zip_archive *z, const char *name)
{
    const zip_member key = { .name = name };
    return bsearch(&key, z->members, z->count, sizeof key, by_name);
}

bool eddy__zip_is_intact(const zip_member *m) { return eddy__file_crc32(m->data) == m->crc; }
