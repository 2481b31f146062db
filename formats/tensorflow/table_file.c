/* table_file.c -- see table_file.h. A key shares its first bytes with the key before it. */
#include "table_file.h"
#include "../checksum.h"
#include "../elements.h"

#include <string.h>

enum { FOOTER = 48, TRAILER = 5, MOST_KEY = 4096, MOST_KEYS = 32 << 20 };

typedef struct table {
    region      *memory;
    wire_bytes   file;
    table_pair  *pairs;
    size_t       count, room;
    uint64_t     keys;          /* bytes of the keys so far, which share prefixes in the file */
    uint64_t     bytes;         /* of the blocks so far */
    const char  *problem;
    size_t       at;
} table;

static bool fail(table *t, const char *problem, const uint8_t *at)
{
    t->problem = problem;
    t->at = (size_t)(at - t->file.at);
    return false;
}

/* A block: its contents, a byte for the compression, and a checksum of both. */
static bool block(table *t, wire_bytes *handle, wire_bytes *out)
{
    uint64_t offset, size;
    const uint8_t *at = handle->at;
    if (!eddy__wire_unpack(handle, WIRE_VARINT, &offset) ||
        !eddy__wire_unpack(handle, WIRE_VARINT, &size) || offset > t->file.size ||
        size > t->file.size - offset || t->file.size - offset - size < TRAILER || size < 4)
        return fail(t, "a block is not inside the file", at);
    t->bytes += size; /* an index that names one block many times would grow without end */
    if (t->bytes > t->file.size) return fail(t, "blocks overlap", at);
    const uint8_t *b = t->file.at + offset;
    const uint32_t crc = eddy__file_crc32c((wire_bytes){ b, (size_t)size + 1 });
    if (b[size] != 0) return fail(t, "a block is compressed, which is not supported", b + size);
    if (eddy__number_at(b + size + 1, 4) != (crc >> 15 | crc << 17) + 0xa282ead8u)
        return fail(t, "the checksum of a block is wrong", b);
    const uint64_t restarts = 4 * (eddy__number_at(b + size - 4, 4) + 1);
    if (restarts > size) return fail(t, "a block is damaged", b);
    *out = (wire_bytes){ b, (size_t)(size - restarts) };
    return true;
}

/* Takes the next pair of a block; `key` holds the key before it. */
static bool next_pair(table *t, wire_bytes *b, char key[MOST_KEY + 1], wire_bytes *value)
{
    uint64_t       shared, more, size;
    const uint8_t *at = b->at, *end = b->at + b->size;
    if (!eddy__wire_unpack(b, WIRE_VARINT, &shared) || !eddy__wire_unpack(b, WIRE_VARINT, &more) ||
        !eddy__wire_unpack(b, WIRE_VARINT, &size) || shared > strlen(key) || more > MOST_KEY ||
        shared + more > MOST_KEY || more > b->size || size > b->size - more)
        return fail(t, "a pair is damaged", at);
    memcpy(key + shared, b->at, (size_t)more);
    key[shared + more] = 0;
    *value = (wire_bytes){ b->at + more, (size_t)size };
    b->at += more + size;
    b->size = (size_t)(end - b->at);
    return true;
}

static bool add(table *t, const char *key, wire_bytes value)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        table_pair  *more = eddy__region_take(t->memory, room, sizeof *more);
        if (!more) return fail(t, "out of memory", t->file.at);
        if (t->count) memcpy(more, t->pairs, t->count * sizeof *more);
        t->pairs = more;
        t->room = room;
    }
    t->keys += strlen(key);
    if (t->keys > MOST_KEYS + 2 * t->file.size)
        return fail(t, "the keys take too much memory", t->file.at);
    const char *copy = eddy__region_print(t->memory, "%s", key);
    t->pairs[t->count++] = (table_pair){ copy, value };
    return copy || fail(t, "out of memory", t->file.at);
}

static bool read_block(table *t, wire_bytes handle)
{
    char       key[MOST_KEY + 1] = "";
    wire_bytes b, value;
    if (!block(t, &handle, &b)) return false;
    while (b.size)
        if (!next_pair(t, &b, key, &value) || !add(t, key, value)) return false;
    return true;
}

static bool read_index(table *t)
{
    static const uint8_t mark[8] = { 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb };
    const uint8_t *end = t->file.at + t->file.size;
    char           key[MOST_KEY + 1] = "";
    uint64_t       skip;
    wire_bytes     b, handle, value;
    if (t->file.size < FOOTER || memcmp(end - 8, mark, 8) != 0)
        return fail(t, "this is not an index of a checkpoint of TensorFlow", t->file.at);
    handle = (wire_bytes){ end - FOOTER, FOOTER - 8 };
    if (!eddy__wire_unpack(&handle, WIRE_VARINT, &skip) ||
        !eddy__wire_unpack(&handle, WIRE_VARINT, &skip))
        return fail(t, "the footer is damaged", end - FOOTER);
    if (!block(t, &handle, &b)) return false;
    while (b.size)
        if (!next_pair(t, &b, key, &value) || !read_block(t, value)) return false;
    return true;
}

bool eddy__table_read(region *r, wire_bytes file, table_pair **pairs, size_t *count,
                      const char **problem, size_t *at)
{
    table t = { .memory = r, .file = file };
    const bool ok = read_index(&t);
    *pairs = t.pairs;
    *count = t.count;
    *problem = t.problem;
    *at = t.at;
    return ok;
}
