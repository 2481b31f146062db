/* hdf5_writer.c -- see hdf5_writer.h. Superblock 2 and headers of version 2, and the older groups.
 * Checksums are zeros, which the reader does not look at. */
#include "tests/lib/files/hdf5_writer.h"

#include <string.h>

enum { ROOT = 36 };

message hdf5_begin(void)
{
    message m = { NULL, 0 };
    message_put_text(&m, "\x89HDF\r\n\x1a\n");
    message_put_number(&m, 2 | 8 << 8 | 8 << 16, 4);
    message_put_number(&m, 0, 8);
    message_put_number(&m, UINT64_MAX, 8);
    message_put_number(&m, 0, 8);
    message_put_number(&m, 0, 12);      /* the root, a checksum */
    return m;
}

void hdf5_end(message *m, size_t root)
{
    for (int i = 0; i < 8; i++) m->at[ROOT + i] = (uint8_t)((uint64_t)root >> 8 * i);
    message_put_number(m, 0, 16);       /* the checksum of the last header, and a rest */
}

size_t hdf5_object(message *m, size_t bytes)
{
    const size_t at = m->size;
    message_put_text(m, "OHDR\2\2");
    message_put_number(m, bytes, 4);
    return at;
}

static void put_head(message *m, int kind, size_t size)
{
    message_put_number(m, (uint64_t)kind, 1);
    message_put_number(m, size, 3);
}

void hdf5_link(message *m, const char *name, size_t to)
{
    const size_t n = strlen(name);
    put_head(m, 6, n + 11);
    message_put_number(m, 1, 2);
    message_put_number(m, n, 1);
    message_put_text(m, name);
    message_put_number(m, to, 8);
}

size_t hdf5_floats(message *m, size_t n, size_t data)
{
    const size_t at = hdf5_object(m, 16 + 24 + 22);
    put_head(m, 1, 12);
    message_put_number(m, 2 | 1 << 8, 4);
    message_put_number(m, n, 8);
    put_head(m, 3, 20);
    message_put_number(m, 0x11 | 31 << 16, 4);
    message_put_number(m, 4, 4);
    message_put_number(m, 32 << 16, 4);
    message_put_number(m, 23 | 8 << 8 | 23 << 24, 4);
    message_put_number(m, 127, 4);
    put_head(m, 8, 18);
    message_put_number(m, 3 | 1 << 8, 2);
    message_put_number(m, data, 8);
    message_put_number(m, 4 * n, 8);
    return at;
}

size_t hdf5_old_group(message *m, size_t tree, size_t heap)
{
    const size_t at = hdf5_object(m, 4 + 16);
    put_head(m, 17, 16);
    message_put_number(m, tree, 8);
    message_put_number(m, heap, 8);
    return at;
}

size_t hdf5_heap(message *m, const char *names, size_t bytes)
{
    const size_t at = m->size;
    message_put_text(m, "HEAP");
    message_put_number(m, 0, 4);
    message_put_number(m, bytes, 8);
    message_put_number(m, 0, 8);
    message_put_number(m, at + 32, 8);
    message_put(m, names, bytes);
    return at;
}

size_t hdf5_tree(message *m, int level, int count, size_t child)
{
    const size_t at = m->size;
    message_put_text(m, "TREE");
    message_put_number(m, (uint64_t)level << 8 | (uint64_t)count << 16, 4);
    message_put_number(m, UINT64_MAX, 8);
    message_put_number(m, UINT64_MAX, 8);
    for (int i = 0; i < count; i++) {
        message_put_number(m, 0, 8);
        message_put_number(m, child, 8);
    }
    return at;
}

size_t hdf5_symbols(message *m, int count, size_t name, size_t to)
{
    const size_t at = m->size;
    message_put_text(m, "SNOD");
    message_put_number(m, 1 | (uint64_t)count << 16, 4);
    for (int i = 0; i < count; i++) {
        message_put_number(m, name, 8);
        message_put_number(m, to, 8);
        message_put_number(m, 0, 24);
    }
    return at;
}
