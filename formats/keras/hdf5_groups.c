/* hdf5_groups.c -- the groups of an HDF5 file, from the root down: links in the messages of a
 * header, or a symbol table, which is a tree of lists of names in a heap. */
#include "../elements.h"
#include "hdf5.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 32, MOST_LEVELS = 16, MOST_NAME = 500, SYMBOL = 40 };

static bool read_object(hdf5_file *f, uint64_t address, const char *name, int depth);

/* An object, and the group that it may be. */
typedef struct object {
    hdf5_file       *file;
    const char      *name;
    int              depth;
    hdf5_description dataset;
    bool             is_dataset;
    wire_bytes       symbols;
} object;

/* ------------------------------------------------------------------- links -- */

/* An object with this name in the group. */
static bool enter(const object *group, wire_bytes name, uint64_t address)
{
    hdf5_file  *f = group->file;
    const char *slash = *group->name ? "/" : "";
    char        whole[MOST_NAME + 2];
    if (!eddy__hdf5_visit(f)) return false;
    if (group->depth == MOST_DEPTH)
        return eddy__hdf5_fail(f, EDDY_LIMIT, "groups are nested more than 32 deep", name.at);
    if (name.size == 0 || name.size + strlen(group->name) > MOST_NAME)
        return eddy__hdf5_fail(f, EDDY_LIMIT, "a name is empty or longer than 500 characters",
                               name.at);
    snprintf(whole, sizeof whole, "%s%s%.*s", group->name, slash, (int)name.size,
             (const char *)name.at);
    return read_object(f, address, whole, group->depth + 1);
}

static bool bad_link(const object *group, wire_bytes m)
{
    return eddy__hdf5_fail(group->file, EDDY_CORRUPT, "a link is damaged", m.at);
}

/* A link message: optional parts by its flags, a name, and for a hard link an address. Links to
 * names, also in other files, are left out. */
static bool read_link(const object *group, wire_bytes m)
{
    size_t at = 2;
    if (m.size < 2) return bad_link(group, m);
    const int flags = m.at[1], width = 1 << (flags & 3);
    bool      hard = true;
    if (flags & 8) hard = m.size > at && m.at[at] == 0, at++;
    if (flags & 4) at += 8;
    if (flags & 16) at++;
    if (m.size < at + (size_t)width) return bad_link(group, m);
    const uint64_t size = eddy__number_at(m.at + at, width);
    at += (size_t)width;
    if (!hard) return true;
    if (size > m.size - at || m.size - at - size < 8) return bad_link(group, m);
    return enter(group, (wire_bytes){ m.at + at, (size_t)size },
                 eddy__number_at(m.at + at + size, 8));
}

/* The links of a large group are elsewhere if the address of their heap is defined. */
static bool check_link_info(const object *group, wire_bytes m)
{
    const size_t at = m.size > 1 && (m.at[1] & 1) ? 10 : 2;
    if (m.size < at + 8)
        return eddy__hdf5_fail(group->file, EDDY_CORRUPT, "a group is damaged", m.at);
    return eddy__number_at(m.at + at, 8) == UINT64_MAX ||
           eddy__hdf5_fail(group->file, EDDY_UNIMPLEMENTED, "a group with many links in the newest "
                           "layout is not supported", m.at);
}

/* ----------------------------------------------------------- symbol tables -- */

/* The data of a local heap, where names are. */
static bool open_heap(hdf5_file *f, uint64_t address, wire_bytes *heap)
{
    const uint8_t *at = eddy__hdf5_place(f, address, 32);
    if (!at) return false;
    if (memcmp(at, "HEAP", 4) != 0)
        return eddy__hdf5_fail(f, EDDY_CORRUPT, "this is not a heap of names", at);
    const uint64_t size = eddy__number_at(at + 8, 8);
    heap->at = eddy__hdf5_place(f, eddy__number_at(at + 24, 8), size);
    heap->size = (size_t)size;
    return heap->at != NULL;
}

/* A list of links: the place of a name, an address, and the kind, 2 for a soft link. */
static bool read_symbols(const object *group, wire_bytes heap, uint64_t address)
{
    hdf5_file     *f = group->file;
    const uint8_t *at = eddy__hdf5_place(f, address, 8);
    if (!at || !eddy__hdf5_visit(f)) return false;
    const uint64_t count = eddy__number_at(at + 6, 2);
    if (memcmp(at, "SNOD", 4) != 0 || !eddy__hdf5_place(f, address, 8 + SYMBOL * count))
        return eddy__hdf5_fail(f, EDDY_CORRUPT, "a list of links is damaged", at);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *link = at + 8 + SYMBOL * i;
        const uint64_t name = eddy__number_at(link, 8);
        if (!eddy__hdf5_visit(f)) return false;
        if (eddy__number_at(link + 16, 4) == 2) continue;
        if (name >= heap.size || !memchr(heap.at + name, 0, heap.size - (size_t)name))
            return eddy__hdf5_fail(f, EDDY_CORRUPT, "a name is not inside its heap", link);
        const wire_bytes text = { heap.at + name, strlen((const char *)heap.at + name) };
        if (!enter(group, text, eddy__number_at(link + 8, 8))) return false;
    }
    return true;
}

/* A node of the tree: keys and addresses in turn; those of level 0 are lists. */
static bool read_tree(const object *group, wire_bytes heap, uint64_t address, int levels)
{
    hdf5_file     *f = group->file;
    const uint8_t *at = eddy__hdf5_place(f, address, 24);
    if (!at || !eddy__hdf5_visit(f)) return false;
    const uint64_t count = eddy__number_at(at + 6, 2);
    if (memcmp(at, "TREE", 4) != 0 || at[4] != 0 || levels == MOST_LEVELS ||
        !eddy__hdf5_place(f, address, 24 + 16 * count))
        return eddy__hdf5_fail(f, EDDY_CORRUPT, "a tree of links is damaged", at);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t child = eddy__number_at(at + 24 + 16 * i + 8, 8);
        if (at[5] == 0 ? !read_symbols(group, heap, child)
                       : !read_tree(group, heap, child, levels + 1))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ objects -- */

static bool take_message(void *context, hdf5_message kind, bool shared, wire_bytes data)
{
    object *o = context;
    switch (kind) {
    case HDF5_DATASPACE: o->dataset.space = data; break;
    case HDF5_DATATYPE: o->dataset.type = data; break;
    case HDF5_LAYOUT:
        o->dataset.layout = data;
        o->is_dataset = true;
        break;
    case HDF5_EXTERNAL: o->dataset.external = true; return true;
    case HDF5_SYMBOLS: o->symbols = data; break;
    case HDF5_LINK_INFO: return check_link_info(o, data);
    case HDF5_LINK: return read_link(o, data);
    case HDF5_CONTINUATION:
    default: return true;
    }
    o->dataset.shared = o->dataset.shared || shared;
    return true;
}

static bool read_object(hdf5_file *f, uint64_t address, const char *name, int depth)
{
    wire_bytes heap;
    object     o = { .file = f, .name = name, .depth = depth };
    if (!eddy__hdf5_messages(f, address, take_message, &o)) return false;
    if (o.is_dataset) return eddy__hdf5_dataset(f, &o.dataset, name);
    if (o.symbols.size == 0) return true;
    if (o.symbols.size < 16)
        return eddy__hdf5_fail(f, EDDY_CORRUPT, "a group is damaged", o.symbols.at);
    return open_heap(f, eddy__number_at(o.symbols.at + 8, 8), &heap) &&
           read_tree(&o, heap, eddy__number_at(o.symbols.at, 8), 0);
}

/* The superblock: the sizes of addresses, the address of the file in itself, that of the root. */
bool eddy__hdf5_read(hdf5_file *f)
{
    static const uint8_t mark[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
    const uint8_t       *at = f->bytes.at;
    if (f->bytes.size < 48 || memcmp(at, mark, 8) != 0)
        return eddy__hdf5_fail(f, EDDY_CORRUPT, "this is no HDF5 file", at);
    const int version = at[8], old = version < 2, base = old ? 24 + 4 * version : 12;
    if (version > 3)
        return eddy__hdf5_fail(f, EDDY_UNIMPLEMENTED, "its version is not supported", at + 8);
    if (!eddy__hdf5_place(f, 0, (uint64_t)base + 48)) return false;
    if (at[old ? 13 : 9] != 8 || at[old ? 14 : 10] != 8)
        return eddy__hdf5_fail(f, EDDY_UNIMPLEMENTED, "addresses that have not 8 bytes are not "
                               "supported", at);
    if (eddy__number_at(at + base, 8) != 0)
        return eddy__hdf5_fail(f, EDDY_UNIMPLEMENTED, "a file inside another one is not supported",
                               at + base);
    return read_object(f, eddy__number_at(at + base + (old ? 40 : 24), 8), "", 0);
}
