/* checkpoint.c -- weights of Keras as checkpoints: an HDF5 file, or a .keras archive that contains
 * one. */
#include "../elements.h"
#include "../entries.h"
#include "../zip.h"
#include "hdf5.h"

#include <stdlib.h>
#include <string.h>

typedef struct opening {
    entries    *e;
    const char *path;
    eddy_error *error;
} opening;

static bool fail(const opening *o, eddy_status s, const char *what)
{
    return eddy__format_fail(o->error, s, "%.300s: %s", o->path, what);
}

/* ------------------------------------------------------------------ values -- */

static bool all_bools(wire_bytes b)
{
    for (size_t i = 0; i < b.size; i++)
        if (b.at[i] > 1) return false;
    return true;
}

/* Whether integers of 64 bits without a sign are all below 2^63. */
static bool all_fit(wire_bytes b)
{
    for (size_t i = 7; i < b.size; i += 8)
        if (b.at[i] & 0x80) return false;
    return true;
}

static eddy_array *array_of(const entries *e, const hdf5_dataset *d)
{
    if (d->type.dtype == EDDY_BOOL || eddy__element_is_same(d->type.dtype, d->type.bits))
        return eddy__source_array(e->files[0], d->data, d->type.dtype, d->shape);
    eddy_array *a = eddy_array_new(d->type.dtype, d->shape);
    for (int64_t i = 0; a && i < eddy_array_count(a); i++)
        eddy__element_store(a, d->type.bits, d->type.is_signed, i,
                            eddy__element_bits(d->data, d->type.bits, i));
    return a;
}

static eddy_array *value(void *context, int i, eddy_error *error)
{
    const entries      *e = context;
    const hdf5_dataset *d = (const hdf5_dataset *)e->details + i;
    const hdf5_type    *t = &d->type;
    const char         *what = d->missing;
    eddy_status         status = EDDY_UNIMPLEMENTED;
    if (!what && t->dtype == EDDY_BOOL && !all_bools(d->data))
        what = "a bool is neither 0 nor 1", status = EDDY_CORRUPT;
    if (!what && t->bits == 64 && t->dtype == EDDY_INT64 && !t->is_signed && !all_fit(d->data))
        what = "a number is above 2^63 - 1", status = EDDY_OUT_OF_RANGE;
    eddy_array *a = what ? NULL : array_of(e, d);
    if (!what && !a) what = "out of memory", status = EDDY_NO_MEMORY;
    if (what) eddy__format_fail(error, status, "'%.200s': %s", d->name, what);
    return a;
}

/* ----------------------------------------------------------------- entries -- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const hdf5_dataset *)a)->name, ((const hdf5_dataset *)b)->name);
}

static bool list_entries(opening *o, const hdf5_file *f)
{
    o->e->at = eddy__region_take(&o->e->memory, (size_t)f->count, sizeof *o->e->at);
    if (!o->e->at) return fail(o, EDDY_NO_MEMORY, "out of memory");
    if (f->count) qsort(f->datasets, (size_t)f->count, sizeof *f->datasets, by_name);
    for (int i = 0; i < f->count; i++) {
        const hdf5_dataset *d = &f->datasets[i];
        if (i > 0 && strcmp(d[-1].name, d->name) == 0)
            return eddy__format_fail(o->error, EDDY_CORRUPT,
                                     "%.300s: there are two datasets '%.200s'", o->path, d->name);
        o->e->at[i] = (eddy_checkpoint_entry){ .name = d->name, .element = d->type.code,
                                               .dtype = d->type.dtype, .shape = d->shape,
                                               .bytes = (int64_t)d->data.size };
    }
    o->e->count = f->count;
    o->e->details = f->datasets;
    return true;
}

/* ----------------------------------------------------------------- opening -- */

/* The weights in an archive. */
static bool find_weights(opening *o, wire_bytes *file)
{
    zip_archive zip;
    size_t      at = 0;
    const char *problem = eddy__zip_open(&o->e->memory, *file, &zip, &at);
    if (o->e->memory.full) return fail(o, EDDY_NO_MEMORY, "out of memory");
    if (problem)
        return eddy__format_fail(o->error, EDDY_CORRUPT, "%.300s: byte %zu: %s", o->path, at,
                                 problem);
    const zip_member *m = eddy__zip_find(&zip, "model.weights.h5");
    if (!m) return fail(o, EDDY_CORRUPT, "the archive has no model.weights.h5");
    if (!m->stored) return fail(o, EDDY_UNIMPLEMENTED, "model.weights.h5 is compressed");
    if (!eddy__zip_is_intact(m))
        return fail(o, EDDY_CORRUPT, "the checksum of model.weights.h5 is wrong");
    *file = m->data;
    return true;
}

static bool read_weights(entries *e, const char *path, wire_bytes file, eddy_error *error)
{
    opening o = { e, path, error };
    if (file.size > 1 && memcmp(file.at, "PK", 2) == 0 && !find_weights(&o, &file)) return false;
    hdf5_file f = { .memory = &e->memory, .bytes = file };
    if (eddy__hdf5_read(&f)) return list_entries(&o, &f);
    if (f.status == EDDY_NO_MEMORY) return fail(&o, EDDY_NO_MEMORY, "out of memory");
    return eddy__format_fail(error, f.status, "%.300s: byte %llu: %s", path,
                             (unsigned long long)f.at, f.problem);
}

eddy_checkpoint *eddy_keras_checkpoint_open_with(const eddy_foreign_checkpoint_args *given)
{
    return eddy__entries_open(given, "keras_checkpoint_open", read_weights, value);
}
