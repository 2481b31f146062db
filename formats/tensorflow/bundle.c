/* bundle.c -- checkpoints of TensorFlow: an index with a message for each tensor, and the files of
 * elements to which they point. */
#include "../checksum.h"
#include "../elements.h"
#include "../entries.h"
#include "build.h"
#include "parse.h"
#include "table_file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 10000, MOST_ENTRIES = 1 << 18 };

typedef struct bundle_tensor {
    const char *name;
    int         type, shard;
    eddy_shape  shape;
    int64_t     offset, size;
    uint32_t    crc;
    bool        sliced;
} bundle_tensor;

typedef struct opening {
    entries      *e;
    bundle_tensor *tensors;
    int           count, room;
    const char   *path;
    eddy_error   *error;
} opening;

static bool fail(opening *o, eddy_status s, const char *name, const char *what)
{
    return eddy__format_fail(o->error, s, *name ? "%.300s: '%.300s': %s" : "%.300s%.300s: %s",
                             o->path, name, what);
}

static bool no_memory(opening *o) { return fail(o, EDDY_NO_MEMORY, "", "out of memory"); }

/* ------------------------------------------------------------------ values -- */

static wire_bytes bytes_of(const entries *e, const bundle_tensor *t)
{
    const wire_bytes file = eddy__source_bytes(e->files[t->shard]);
    return (wire_bytes){ file.at + t->offset, (size_t)t->size };
}

static bool is_intact(wire_bytes b, uint32_t crc)
{
    const uint32_t is = eddy__file_crc32c(b);
    return (is >> 15 | is << 17) + 0xa282ead8u == crc;
}

static eddy_array *value(void *context, int i, eddy_error *error)
{
    const entries       *e = context;
    const bundle_tensor *t = (const bundle_tensor *)e->details + i;
    const int            bits = eddy__tf_bits(t->type);
    const eddy_dtype     d = eddy__tf_stored(t->type);
    const int            parts = eddy_dtype_is_complex(d) ? 2 : 1;
    const wire_bytes     b = bytes_of(e, t);
    const char          *what = NULL;
    eddy_status          status = EDDY_UNIMPLEMENTED;
    if (bits == 0) what = "its type is not supported";
    else if (t->sliced) what = "it is stored in slices";
    else if (t->shape.rank < 0) what = "it has more than 8 dimensions";
    else if (status = EDDY_CORRUPT, !is_intact(b, t->crc)) what = "its checksum is wrong";
    else if (b.size != (uint64_t)eddy_shape_count(t->shape) * (uint64_t)(bits / 8 * parts))
        what = "it does not have as many elements as its shape";
    if (what) {
        eddy__format_fail(error, status, "'%.200s': %s", t->name, what);
        return NULL;
    }
    eddy_array *a = NULL;
    if (8 * eddy_dtype_size(d) == (size_t)(bits * parts) && d != EDDY_BOOL &&
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        a = eddy__source_array(e->files[t->shard], b, d, t->shape);
    else {
        a = eddy_array_new(d, t->shape);
        for (int64_t k = 0; a && k < eddy_shape_count(t->shape) * parts; k++)
            eddy__tf_store(a, t->type, k, eddy__element_bits(b, bits, k));
    }
    if (!a) eddy__format_fail(error, EDDY_NO_MEMORY, "'%.200s': out of memory", t->name);
    return a;
}

/* ------------------------------------------------------------------- index -- */

/* BundleHeaderProto: the number of files; their byte order must be little-endian. */
static bool header(opening *o, wire_bytes b)
{
    wire_field f;
    wire       w = eddy__wire_of(b);
    uint64_t   shards = 1, order = 0;
    while (eddy__wire_next(&w, &f)) {
        if (f.number == 1) shards = f.value;
        if (f.number == 2) order = f.value;
    }
    if (w.bad || shards < 1 || shards > MOST_SHARDS)
        return fail(o, EDDY_CORRUPT, "", "the header of the index is damaged");
    if (order) return fail(o, EDDY_UNIMPLEMENTED, "", "big-endian files are not supported");
    o->e->files = eddy__region_take(&o->e->memory, (size_t)shards, sizeof *o->e->files);
    if (!o->e->files) return no_memory(o);
    o->e->n_files = (int)shards;
    return true;
}

static bool grow(opening *o)
{
    if (o->count < o->room) return true;
    const int      room = o->room ? 2 * o->room : 64;
    bundle_tensor *more = eddy__region_take(&o->e->memory, (size_t)room, sizeof *more);
    if (!more) return no_memory(o);
    if (o->count) memcpy(more, o->tensors, (size_t)o->count * sizeof *more);
    o->tensors = more;
    o->room = room;
    return true;
}

/* BundleEntryProto. */
static bool tensor(opening *o, const table_pair *p)
{
    parser        q = { .memory = &o->e->memory, .file = p->value };
    wire          w = eddy__wire_of(p->value);
    wire_field    f;
    int           rank;
    bundle_tensor t = { .name = p->key };
    uint64_t      shard = 0;
    while (eddy__parse_next(&q, &w, &f)) {
        if (f.number == 1) t.type = (int)(f.value & 0xff);
        if (f.number == 2) t.shape = eddy__tf_shape(&q, eddy__wire_enter(&w, &f), &rank);
        if (f.number == 3) shard = f.value;
        if (f.number == 4) t.offset = (int64_t)f.value;
        if (f.number == 5) t.size = (int64_t)f.value;
        if (f.number == 6) t.crc = (uint32_t)f.value;
        if (f.number == 7) t.sliced = true;
    }
    if (q.bad || shard >= (uint64_t)o->e->n_files || t.offset < 0 || t.size < 0 ||
        !eddy_shape_is_valid(t.shape) || (t.shape.rank >= 0 && !eddy_shape_is_known(t.shape)))
        return fail(o, EDDY_CORRUPT, p->key, "its entry in the index is damaged");
    t.shard = (int)shard;
    if (!grow(o)) return false;
    o->tensors[o->count++] = t;
    return true;
}

static bool read_index(opening *o, wire_bytes b)
{
    table_pair *pairs;
    size_t      n, at;
    const char *problem;
    if (!eddy__table_read(&o->e->memory, b, &pairs, &n, &problem, &at)) {
        if (o->e->memory.full) return no_memory(o);
        const bool refused = strstr(problem, "not supported") != NULL;
        return eddy__format_fail(o->error, refused ? EDDY_UNIMPLEMENTED : EDDY_CORRUPT,
                                 "%.300s.index: byte %zu: %s", o->path, at, problem);
    }
    if (n == 0 || pairs[0].key[0]) return fail(o, EDDY_CORRUPT, "", "the index has no header");
    if (n > MOST_ENTRIES) return fail(o, EDDY_LIMIT, "", "the index has too many entries");
    if (!header(o, pairs[0].value)) return false;
    for (size_t i = 1; i < n; i++)
        if (pairs[i].key[0] && !tensor(o, &pairs[i])) return false;
    return true;
}

/* ------------------------------------------------------------------- files -- */

static bool read_files(opening *o, const eddy_foreign_checkpoint_args *a)
{
    for (int i = 0; i < o->e->n_files; i++) {
        const char *path = eddy__region_print(&o->e->memory, "%s.data-%05d-of-%05d", o->path, i,
                                              o->e->n_files);
        if (!path) return no_memory(o);
        o->e->files[i] = eddy__source_read(path, a->files, a->max_bytes, a->error);
        if (!o->e->files[i]) return false;
    }
    for (int i = 0; i < o->count; i++) {
        const bundle_tensor *t = &o->tensors[i];
        const int64_t        size = (int64_t)eddy__source_bytes(o->e->files[t->shard]).size;
        if (!t->sliced && (t->offset > size || t->size > size - t->offset))
            return fail(o, EDDY_CORRUPT, t->name, "it is not inside its file");
    }
    return true;
}

/* ----------------------------------------------------------- object graphs -- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const bundle_tensor *)a)->name, ((const bundle_tensor *)b)->name);
}

static const bundle_tensor *find(const opening *o, const char *name, int count)
{
    const bundle_tensor key = { .name = name };
    return count ? bsearch(&key, o->tensors, (size_t)count, sizeof key, by_name) : NULL;
}

/* One attribute of an object: its full name as another name of its entry. */
static bool alias(opening *o, wire w, int sorted)
{
    wire_field  f;
    const char *full = NULL, *key = NULL;
    while (eddy__wire_next(&w, &f)) {
        if (f.number == 2) full = eddy__region_text(&o->e->memory, f.bytes);
        if (f.number == 3) key = eddy__region_text(&o->e->memory, f.bytes);
    }
    if (o->e->memory.full) return no_memory(o);
    const bundle_tensor *t = full && *full && key ? find(o, key, sorted) : NULL;
    if (!t || find(o, full, sorted)) return true;
    bundle_tensor copy = *t;
    copy.name = full;
    if (!grow(o)) return false;
    o->tensors[o->count++] = copy;
    return true;
}

/* TrackableObjectGraph, the text of one entry: its size, a checksum of that, and the message. */
static bool aliases(opening *o)
{
    const int            sorted = o->count;
    const bundle_tensor *t = find(o, "_CHECKPOINTABLE_OBJECT_GRAPH", sorted);
    uint64_t             size;
    if (!t || t->type != TF_STRING || t->sliced) return true;
    wire_bytes b = bytes_of(o->e, t);
    if (!eddy__wire_unpack(&b, WIRE_VARINT, &size) || b.size < 4 || size > b.size - 4) return true;
    wire       w = eddy__wire_of((wire_bytes){ b.at + 4, (size_t)size });
    wire_field f, g;
    while (eddy__wire_next(&w, &f)) {
        if (f.number != 1) continue;
        for (wire node = eddy__wire_enter(&w, &f); eddy__wire_next(&node, &g);)
            if (g.number == 2 && !alias(o, eddy__wire_enter(&node, &g), sorted)) return false;
    }
    qsort(o->tensors, (size_t)o->count, sizeof *o->tensors, by_name);
    int n = 0;                          /* two objects may have one full name: the first counts */
    for (int i = 0; i < o->count; i++)
        if (n == 0 || strcmp(o->tensors[n - 1].name, o->tensors[i].name) != 0)
            o->tensors[n++] = o->tensors[i];
    o->count = n;
    return true;
}

static bool list_entries(opening *o)
{
    o->e->at = eddy__region_take(&o->e->memory, (size_t)o->count, sizeof *o->e->at);
    if (!o->e->at) return no_memory(o);
    for (int i = 0; i < o->count; i++) {
        const bundle_tensor *t = &o->tensors[i];
        o->e->at[i] = (eddy_checkpoint_entry){
            .name = t->name, .element = eddy__tf_type_name(t->type),
            .dtype = eddy__tf_stored(t->type), .shape = t->shape, .bytes = t->size
        };
    }
    o->e->count = o->count;
    o->e->details = o->tensors;
    return true;
}

static bool open_bundle(opening *o, const eddy_foreign_checkpoint_args *a)
{
    if (!a->path)
        return eddy__format_fail(a->error, EDDY_INVALID_ARGUMENT,
                                 "tensorflow_checkpoint_open: no path is given");
    const char *path = eddy__region_print(&o->e->memory, "%s.index", a->path);
    source     *index = path ? eddy__source_read(path, a->files, a->max_bytes, a->error) : NULL;
    if (!path) return no_memory(o);
    const bool ok = index && read_index(o, eddy__source_bytes(index)) && read_files(o, a);
    eddy__source_release(index);        /* names are copies */
    if (!ok) return false;
    if (o->count) qsort(o->tensors, (size_t)o->count, sizeof *o->tensors, by_name);
    return aliases(o) && list_entries(o);
}

eddy_checkpoint *eddy_tensorflow_checkpoint_open_with(const eddy_foreign_checkpoint_args *given)
{
    const eddy_foreign_checkpoint_args a = eddy__entries_options(given);
    opening o = { .e = calloc(1, sizeof *o.e), .path = a.path ? a.path : "", .error = a.error };
    if (!o.e) return no_memory(&o), NULL;
    if (open_bundle(&o, &a)) return eddy__entries_checkpoint(o.e, value, a.error);
    eddy__entries_free(o.e);
    return NULL;
}
