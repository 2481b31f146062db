/* header.c -- the headers of objects: blocks of messages, in two versions. */
#include "../elements.h"
#include "hdf5.h"

#include <string.h>

enum { MOST_BLOCKS = 64, MOST_VISITS = 1 << 20 };

bool eddy__hdf5_fail(hdf5_file *f, eddy_status status, const char *problem, const uint8_t *at)
{
    if (f->problem) return false;
    f->status = status;
    f->problem = problem;
    f->at = at ? (uint64_t)(at - f->bytes.at) : 0;
    return false;
}

const uint8_t *eddy__hdf5_place(hdf5_file *f, uint64_t address, uint64_t size)
{
    if (address <= f->bytes.size && size <= f->bytes.size - address) return f->bytes.at + address;
    eddy__hdf5_fail(f, EDDY_CORRUPT, "an address is not inside the file", NULL);
    f->at = address;
    return NULL;
}

bool eddy__hdf5_visit(hdf5_file *f)
{
    /* Every object takes some bytes; objects that are visited more often are linked in circles. */
    const size_t most = f->bytes.size / 4 + 64;
    return f->visits++ < (most < MOST_VISITS ? (int)most : MOST_VISITS) ||
           eddy__hdf5_fail(f, EDDY_LIMIT, "its objects are linked in circles or too many times",
                           NULL);
}

/* The blocks of a header. */
typedef struct header {
    hdf5_file *file;
    int        version;
    int        head;                    /* bytes in front of each message */
    wire_bytes blocks[MOST_BLOCKS];
    int        count;
} header;

/* Adds a block of messages, whose frame (a mark before and a checksum after it) is left out. */
static bool add_block(header *h, uint64_t address, uint64_t size)
{
    const int      frame = h->version == 2 && h->count > 0 ? 4 : 0;
    const uint8_t *at = eddy__hdf5_place(h->file, address, size);
    if (!at) return false;
    if (h->count == MOST_BLOCKS)
        return eddy__hdf5_fail(h->file, EDDY_LIMIT, "a header has more than 64 blocks", at);
    if (size < (uint64_t)(2 * frame) || (frame && memcmp(at, "OCHK", 4) != 0))
        return eddy__hdf5_fail(h->file, EDDY_CORRUPT, "a block of a header is damaged", at);
    h->blocks[h->count++] = (wire_bytes){ at + frame, (size_t)size - (size_t)(2 * frame) };
    return true;
}

/* Version 1: 16 bytes, of which the third 4 are the size of the messages that follow. */
static bool begin_old(header *h, uint64_t address, const uint8_t *at)
{
    h->version = 1;
    h->head = 8;
    return add_block(h, address + 16, eddy__number_at(at + 8, 4));
}

/* Version 2: times and limits of attributes, if the flags say so, and a size of 1 to 8 bytes. */
static bool begin_new(header *h, uint64_t address, const uint8_t *at)
{
    const int flags = at[5], width = 1 << (flags & 3);
    const int size_at = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0);
    h->version = 2;
    h->head = flags & 4 ? 6 : 4;
    at = eddy__hdf5_place(h->file, address, (uint64_t)(size_at + width));
    if (!at) return false;
    return add_block(h, address + (uint64_t)(size_at + width),
                     eddy__number_at(at + size_at, width));
}

static bool begin(header *h, uint64_t address)
{
    const uint8_t *at = eddy__hdf5_place(h->file, address, 16);
    if (!at) return false;
    if (memcmp(at, "OHDR", 4) == 0 && at[4] == 2) return begin_new(h, address, at);
    if (at[0] == 1) return begin_old(h, address, at);
    return eddy__hdf5_fail(h->file, EDDY_CORRUPT, "this is not an object header", at);
}

/* The messages of a block, which may name another one. */
static bool read_block(header *h, wire_bytes b, hdf5_take *take, void *context)
{
    while (b.size >= (size_t)h->head) {
        const int      wide = h->version == 1 ? 2 : 1;
        const int      kind = (int)eddy__number_at(b.at, wide);
        const uint64_t size = eddy__number_at(b.at + wide, 2);
        const wire_bytes data = { b.at + h->head, (size_t)size };
        const bool     shared = b.at[wide + 2] & 2;
        if (!eddy__hdf5_visit(h->file)) return false;
        if (size > b.size - (size_t)h->head)
            return eddy__hdf5_fail(h->file, EDDY_CORRUPT, "a message is longer than its block",
                                   b.at);
        if (kind == HDF5_CONTINUATION && size >= 16) {
            if (!add_block(h, eddy__number_at(data.at, 8), eddy__number_at(data.at + 8, 8)))
                return false;
        } else if (!take(context, (hdf5_message)kind, shared, data)) return false;
        b.at = data.at + data.size;
        b.size -= (size_t)h->head + data.size;
    }
    return true;
}

bool eddy__hdf5_messages(hdf5_file *f, uint64_t address, hdf5_take *take, void *context)
{
    header h = { .file = f };
    if (!begin(&h, address)) return false;
    for (int i = 0; i < h.count; i++)
        if (!read_block(&h, h.blocks[i], take, context)) return false;
    return true;
}
