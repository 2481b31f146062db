/* hdf5_dataset.c -- the shape, the type and the place of a dataset, from the messages of its
 * header. */
#include "../elements.h"
#include "hdf5.h"

#include <string.h>

static bool damaged(hdf5_file *f, wire_bytes message)
{
    return eddy__hdf5_fail(f, EDDY_CORRUPT, "a message of a dataset is damaged", message.at);
}

/* A rank, flags, and the dimensions; largest sizes may follow. A dataset without elements, which
 * only version 2 has, has the shape [0]. */
static bool read_shape(hdf5_file *f, wire_bytes m, eddy_shape *shape)
{
    if (m.size < 4) return damaged(f, m);
    const int version = m.at[0], rank = m.at[1], head = version == 1 ? 8 : 4;
    int64_t   dims[EDDY_MAX_RANK];
    if (version < 1 || version > 2 || m.size < (size_t)(head + 8 * rank)) return damaged(f, m);
    if (version == 2 && m.at[3] == 2) {
        *shape = EDDY_SHAPE(0);
        return true;
    }
    for (int i = 0; i < rank; i++) {
        const uint64_t n = eddy__number_at(m.at + head + 8 * i, 8);
        if (n > INT64_MAX) return damaged(f, m);
        if (i < EDDY_MAX_RANK) dims[i] = (int64_t)n;
    }
    *shape = rank > EDDY_MAX_RANK ? eddy_shape_unknown() : eddy_shape_of_dims(dims, (size_t)rank);
    return rank > EDDY_MAX_RANK || eddy_shape_is_valid(*shape) || damaged(f, m);
}

/* Floating-point numbers by their sizes and those of their exponents. */
static hdf5_type floating(int size, int exponent)
{
    if (size == 2 && exponent == 5) return (hdf5_type){ "F16", EDDY_FLOAT16, 16, false };
    if (size == 2 && exponent == 8) return (hdf5_type){ "BF16", EDDY_BFLOAT16, 16, false };
    if (size == 4 && exponent == 8) return (hdf5_type){ "F32", EDDY_FLOAT32, 32, false };
    if (size == 8 && exponent == 11) return (hdf5_type){ "F64", EDDY_FLOAT64, 64, false };
    return (hdf5_type){ "?", EDDY_DEFAULT_DTYPE, 0, false };
}

/* Integers; h5py writes bools as an enumeration of two bytes. */
static hdf5_type integer(int size, bool is_signed)
{
    switch (size) {
    case 1: return is_signed ? (hdf5_type){ "I8", EDDY_INT32, 8, true }
                             : (hdf5_type){ "U8", EDDY_UINT8, 8, false };
    case 2: return (hdf5_type){ is_signed ? "I16" : "U16", EDDY_INT32, 16, is_signed };
    case 4: return is_signed ? (hdf5_type){ "I32", EDDY_INT32, 32, true }
                             : (hdf5_type){ "U32", EDDY_INT64, 32, false };
    case 8: return (hdf5_type){ is_signed ? "I64" : "U64", EDDY_INT64, 64, is_signed };
    default: return (hdf5_type){ "?", EDDY_DEFAULT_DTYPE, 0, false };
    }
}

/* A class, 24 bits of flags, the size of an element, and the properties of the class. */
static bool read_type(hdf5_file *f, wire_bytes m, hdf5_type *type, uint64_t *size)
{
    enum { INTEGERS = 0, FLOATS = 1, ENUMERATIONS = 8 };
    if (m.size < 8) return damaged(f, m);
    const int  kind = m.at[0] & 15, flags = (int)eddy__number_at(m.at + 1, 2);
    *size = eddy__number_at(m.at + 4, 4);
    const int  bytes = *size <= 8 ? (int)*size : 0;
    *type = (hdf5_type){ "?", EDDY_DEFAULT_DTYPE, 0, false };
    if (kind == ENUMERATIONS && bytes == 1 && flags == 2)
        *type = (hdf5_type){ "BOOL", EDDY_BOOL, 8, false };
    if (kind > FLOATS || (flags & 1) || m.size < (kind == FLOATS ? 20 : 12)) return true;
    const uint64_t first = eddy__number_at(m.at + 8, 2), bits = eddy__number_at(m.at + 10, 2);
    if (first != 0 || bits != 8 * *size) return true;
    *type = kind == INTEGERS ? integer(bytes, flags & 8) : floating(bytes, m.at[13]);
    return true;
}

/* Version 3 and 4: compact data in the message, or an address and a size. */
static bool read_place(hdf5_file *f, wire_bytes m, uint64_t size, hdf5_dataset *d)
{
    enum { COMPACT = 0, CONTIGUOUS = 1 };
    if (m.size < 2) return damaged(f, m);
    const int version = m.at[0], kind = m.at[1];
    d->missing = "its data are in chunks, which are not supported";
    if (version < 3 || version > 4 || kind > CONTIGUOUS) return true;
    d->missing = NULL;
    if (kind == COMPACT) {
        if (m.size < 4 || eddy__number_at(m.at + 2, 2) != size || size > m.size - 4)
            return damaged(f, m);
        d->data = (wire_bytes){ m.at + 4, (size_t)size };
        return true;
    }
    if (m.size < 18) return damaged(f, m);
    const uint64_t address = eddy__number_at(m.at + 2, 8);
    d->data = (wire_bytes){ f->bytes.at, 0 };
    if (size == 0) return true;
    d->missing = "it has no data";
    if (address == UINT64_MAX) return true;
    d->missing = NULL;
    if (eddy__number_at(m.at + 10, 8) < size) return damaged(f, m);
    d->data = (wire_bytes){ eddy__hdf5_place(f, address, size), (size_t)size };
    return d->data.at != NULL;
}

static hdf5_dataset *next_dataset(hdf5_file *f)
{
    enum { MOST_DATASETS = 1 << 16 };
    if (f->count == f->room) {
        const int     room = f->room ? 2 * f->room : 64;
        hdf5_dataset *more = NULL;
        if (room > MOST_DATASETS)
            eddy__hdf5_fail(f, EDDY_LIMIT, "the file has more than 65536 datasets", NULL);
        else more = eddy__region_take(f->memory, (size_t)room, sizeof *more);
        if (!more) return NULL;
        if (f->count) memcpy(more, f->datasets, (size_t)f->count * sizeof *more);
        f->datasets = more;
        f->room = room;
    }
    return &f->datasets[f->count];
}

/* A copy without the ":0" that variables of TensorFlow have. */
static const char *short_name(hdf5_file *f, const char *name)
{
    const size_t n = strlen(name), end = n > 2 && strcmp(name + n - 2, ":0") == 0 ? n - 2 : n;
    return eddy__region_text(f->memory, (wire_bytes){ (const uint8_t *)name, end });
}

bool eddy__hdf5_dataset(hdf5_file *f, const hdf5_description *d, const char *name)
{
    uint64_t      size = 0;
    hdf5_dataset *out = next_dataset(f);
    name = out ? short_name(f, name) : NULL;
    if (!name) return eddy__hdf5_fail(f, EDDY_NO_MEMORY, "out of memory", NULL);
    *out = (hdf5_dataset){ .name = name, .type = { "?", EDDY_DEFAULT_DTYPE, 0, false },
                           .shape = eddy_shape_unknown() };
    f->count++;
    if (d->shared || d->external) {
        out->missing = "its type or its data are elsewhere, which is not supported";
        return true;
    }
    if (!read_shape(f, d->space, &out->shape) || !read_type(f, d->type, &out->type, &size))
        return false;
    out->missing = "it has more than 8 dimensions";
    if (out->shape.rank < 0) return true;
    out->missing = "its type is not supported";
    if (out->type.bits == 0) return true;
    /* At most 8 bytes for each of 2^48 elements. */
    return read_place(f, d->layout, (uint64_t)eddy_shape_count(out->shape) * size, out);
}
