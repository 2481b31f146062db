/* checkpoint.c -- files of torch.save as checkpoints: an archive with a pickle, data.pkl, and a
 * member for each storage. */
#include "../elements.h"
#include "../entries.h"
#include "pickle.h"
#include "../zip.h"

#include <string.h>

enum { MOST_ENTRIES = 1 << 20, MOST_DEPTH = 32, MOST_NAME = 1000, MOST_REPEATED = 1 << 26 };

typedef struct torch_tensor {
    const torch_type *type;
    wire_bytes        storage;          /* its elements */
    const zip_member *member;
    eddy_shape        shape;
    int64_t           stride[EDDY_MAX_RANK], offset;    /* in elements */
} torch_tensor;

typedef struct opening {
    entries      *e;
    torch_tensor *tensors;
    zip_archive   zip;
    const char   *folder;               /* in the archive, with its slash */
    const char   *path;
    eddy_error   *error;
    bool          big_endian;
    int           visits, room;
} opening;

/* ------------------------------------------------------------------ values -- */

static eddy_array *fail(eddy_error *error, eddy_status s, const char *what, const char *name)
{
    eddy__format_fail(error, s, "'%.200s': %s", name, what);
    return NULL;
}

static int parts_of(const torch_type *t)
{
    return eddy_dtype_is_complex((eddy_dtype)t->dtype) ? 2 : 1;
}

static bool is_contiguous(const torch_tensor *t)
{
    int64_t step = 1;
    for (int i = t->shape.rank - 1; i >= 0; i--) {
        if (t->shape.dim[i] != 1 && t->stride[i] != step) return false;
        step *= t->shape.dim[i];
    }
    return true;
}

static bool same_bytes(const torch_type *t)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return eddy_dtype_size((eddy_dtype)t->dtype) * 8 == (size_t)(t->bits * parts_of(t));
#else
    return t->bits == 8 && t->dtype != EDDY_INT32;
#endif
}

/* The elements one by one, in the order of their positions. */
static eddy_array *copied(const torch_tensor *t)
{
    const int     parts = parts_of(t->type), bits = t->type->bits;
    eddy_array   *a = eddy_array_new((eddy_dtype)t->type->dtype, t->shape);
    const int64_t count = a ? eddy_array_count(a) : 0;
    int64_t       at[EDDY_MAX_RANK] = { 0 }, from = t->offset;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < parts; k++)
            eddy__element_store(a, bits, t->type->is_signed, i * parts + k,
                                eddy__element_bits(t->storage, bits, from * parts + k));
        for (int d = t->shape.rank - 1; d >= 0; d--) {
            from += t->stride[d];
            if (++at[d] < t->shape.dim[d]) break;
            from -= t->stride[d] * at[d];
            at[d] = 0;
        }
    }
    return a;
}

/* True if the elements of a view that reads some of them several times, such as an expanded one,
 * take much more memory than the file. */
static bool is_too_large(const torch_tensor *t, size_t size)
{
    return (uint64_t)eddy_shape_count(t->shape) > (t->storage.size + MOST_REPEATED) / size;
}

static bool all_bools(const torch_tensor *t)
{
    for (size_t i = 0; i < t->storage.size; i++)
        if (t->storage.at[i] > 1) return false;
    return true;
}

static eddy_array *value(void *context, int i, eddy_error *error)
{
    const entries      *e = context;
    const torch_tensor *t = (const torch_tensor *)e->details + i;
    const char         *name = e->at[i].name;
    if (e->at[i].shape.rank < 0)
        return fail(error, EDDY_UNIMPLEMENTED, "it has more than 8 dimensions", name);
    if (!eddy__zip_is_intact(t->member))
        return fail(error, EDDY_CORRUPT, "its checksum is wrong", name);
    if (t->type->dtype == EDDY_BOOL && !all_bools(t))
        return fail(error, EDDY_CORRUPT, "a bool is neither 0 nor 1", name);
    const size_t size = (size_t)(t->type->bits / 8 * parts_of(t->type));
    eddy_array  *a;
    if (is_contiguous(t) && same_bytes(t->type)) {
        const wire_bytes b = { t->storage.at + (size_t)t->offset * size,
                               (size_t)eddy_shape_count(t->shape) * size };
        a = eddy__source_array(e->files[0], b, (eddy_dtype)t->type->dtype, t->shape);
    } else if (is_too_large(t, size))
        return fail(error, EDDY_LIMIT, "a view that repeats elements has more than 64 MiB", name);
    else a = copied(t);
    return a ? a : fail(error, EDDY_NO_MEMORY, "out of memory", name);
}

/* ----------------------------------------------------------------- entries -- */

static bool refuse(opening *o, eddy_status s, const char *name, const char *what)
{
    return eddy__format_fail(o->error, s, "%.300s: '%.200s': %s", o->path, name, what);
}

static bool no_memory(opening *o)
{
    return eddy__format_fail(o->error, EDDY_NO_MEMORY, "%.300s: out of memory", o->path);
}

/* The shape, of which the last element must be inside the storage. */
static bool describe(opening *o, const pickle_value *v, const char *name, torch_tensor *t)
{
    const size_t rank = v->size->count;
    int64_t      dims[EDDY_MAX_RANK], last = v->integer, step;
    bool         empty = false, over = v->integer < 0;
    t->type = v->storage->type;
    t->offset = v->integer;
    for (size_t i = 0; i < rank; i++) {
        const int64_t n = v->size->items[i]->integer, s = v->stride->items[i]->integer;
        if (i < EDDY_MAX_RANK) dims[i] = n, t->stride[i] = s;
        empty = empty || n == 0;
        over = over || n < 0 || s < 0 || n > INT64_MAX / 32 ||
               (n > 0 && __builtin_mul_overflow(n - 1, s, &step)) ||
               (n > 0 && __builtin_add_overflow(last, step, &last));
    }
    const int64_t size = t->type->bits / 8 * parts_of(t->type);
    if (over || (!empty && last >= (int64_t)t->storage.size / size))
        return refuse(o, EDDY_CORRUPT, name, "the tensor is not inside its storage");
    t->shape = rank > EDDY_MAX_RANK ? eddy_shape_unknown() : eddy_shape_of_dims(dims, rank);
    if (rank <= EDDY_MAX_RANK && !eddy_shape_is_valid(t->shape))
        return refuse(o, EDDY_CORRUPT, name, "the tensor has no valid shape");
    return true;
}

static bool grow(opening *o)
{
    if (o->e->count < o->room) return true;
    const int              room = o->room ? 2 * o->room : 64;
    eddy_checkpoint_entry *at = eddy__region_take(&o->e->memory, (size_t)room, sizeof *at);
    torch_tensor *t = eddy__region_take(&o->e->memory, (size_t)room, sizeof *t);
    if (!at || !t) return no_memory(o);
    if (o->e->count) {
        memcpy(at, o->e->at, (size_t)o->e->count * sizeof *at);
        memcpy(t, o->tensors, (size_t)o->e->count * sizeof *t);
    }
    o->e->at = at;
    o->e->details = o->tensors = t;
    o->room = room;
    return true;
}

static bool add_tensor(opening *o, const pickle_value *v, const char *name)
{
    if (!grow(o)) return false;
    torch_tensor *t = &o->tensors[o->e->count];
    const char   *file =
        eddy__region_print(&o->e->memory, "%sdata/%s", o->folder, v->storage->text);
    if (!file) return no_memory(o);
    *t = (torch_tensor){ .member = eddy__zip_find(&o->zip, file) };
    if (!t->member) return refuse(o, EDDY_CORRUPT, name, "the archive has no such storage");
    if (!t->member->stored) return refuse(o, EDDY_UNIMPLEMENTED, name, "its storage is compressed");
    if (o->big_endian && v->storage->type->bits > 8)
        return refuse(o, EDDY_UNIMPLEMENTED, name, "big-endian elements are not supported");
    t->storage = t->member->data;
    if (!describe(o, v, name, t)) return false;
    const int64_t count = eddy_shape_count(t->shape);
    o->e->at[o->e->count++] = (eddy_checkpoint_entry){
        .name = name, .element = t->type->code, .dtype = (eddy_dtype)t->type->dtype,
        .shape = t->shape, .bytes = count < 0 ? 0 : count * (t->type->bits / 8) * parts_of(t->type)
    };
    return true;
}

/* All tensors of a value. It may contain itself, or be shared many times. */
static bool collect(opening *o, const pickle_value *v, const char *prefix, int depth)
{
    if (++o->visits > MOST_ENTRIES || depth > MOST_DEPTH)
        return refuse(o, EDDY_LIMIT, prefix, "the values are nested too deeply, or too many");
    if (v->kind == PICKLE_TENSOR) return add_tensor(o, v, *prefix ? prefix : "tensor");
    if (v->kind != PICKLE_DICT && v->kind != PICKLE_LIST) return true;
    const size_t step = v->kind == PICKLE_DICT ? 2 : 1;
    for (size_t i = 0; i + step <= v->count; i += step) {
        const pickle_value *key = v->items[i], *item = v->items[i + step - 1];
        const char         *dot = *prefix ? "." : "", *name = NULL;
        if (step == 1) name = eddy__region_print(&o->e->memory, "%s%s%zu", prefix, dot, i);
        else if (key->kind == PICKLE_TEXT)
            name = eddy__region_print(&o->e->memory, "%s%s%.1001s", prefix, dot, key->text);
        else if (key->kind == PICKLE_NUMBER)
            name = eddy__region_print(&o->e->memory, "%s%s%lld", prefix, dot,
                                      (long long)key->integer);
        else continue;
        if (name && strlen(name) > MOST_NAME)
            return refuse(o, EDDY_LIMIT, prefix, "the names within are too long");
        if (!name) return no_memory(o);
        if (!collect(o, item, name, depth + 1)) return false;
    }
    return true;
}

/* ----------------------------------------------------------------- opening -- */

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* The member with the pickle, in the folder of the archive. */
static const zip_member *find_pickle(opening *o)
{
    for (size_t i = 0; i < o->zip.count; i++) {
        const char *name = o->zip.members[i].name;
        if (!ends_with(name, "data.pkl")) continue;
        o->folder = eddy__region_print(&o->e->memory, "%.*s", (int)(strlen(name) - 8), name);
        return o->folder ? &o->zip.members[i] : NULL;
    }
    return NULL;
}

static bool is_big_endian(opening *o)
{
    const char       *name = eddy__region_print(&o->e->memory, "%sbyteorder", o->folder);
    const zip_member *m = name ? eddy__zip_find(&o->zip, name) : NULL;
    return m && m->stored && m->data.size == 3 && memcmp(m->data.at, "big", 3) == 0;
}

static bool open_archive(opening *o, wire_bytes file)
{
    size_t      at = 0;
    const char *problem = eddy__zip_open(&o->e->memory, file, &o->zip, &at);
    const bool  old = file.size > 1 && file.at[0] == 0x80;      /* begins with a pickle */
    if (o->e->memory.full) return no_memory(o);
    if (problem && old)
        return eddy__format_fail(o->error, EDDY_UNIMPLEMENTED,
                                 "%.300s: the format before PyTorch 1.6 is not supported", o->path);
    if (problem)
        return eddy__format_fail(o->error, EDDY_CORRUPT, "%.300s: byte %zu: %s", o->path, at,
                                 problem);
    const zip_member *m = find_pickle(o);
    o->big_endian = m && is_big_endian(o);
    if (o->e->memory.full) return no_memory(o);
    if (!m)
        return eddy__format_fail(o->error, EDDY_CORRUPT, "%.300s: the archive has no data.pkl",
                                 o->path);
    if (!m->stored) return refuse(o, EDDY_UNIMPLEMENTED, m->name, "it is compressed");
    if (!eddy__zip_is_intact(m)) return refuse(o, EDDY_CORRUPT, m->name, "its checksum is wrong");
    const pickle_value *v = eddy__pickle_read(&o->e->memory, m->data, &problem, &at);
    if (!v && o->e->memory.full) return no_memory(o);
    if (!v) {
        const bool refused = strstr(problem, "not allowed") != NULL;
        return eddy__format_fail(o->error, refused ? EDDY_UNIMPLEMENTED : EDDY_CORRUPT,
                                 "%.300s: '%.100s': byte %zu: %s", o->path, m->name, at, problem);
    }
    return collect(o, v, "", 0);
}

static bool read_archive(entries *e, const char *path, wire_bytes file, eddy_error *error)
{
    opening o = { .e = e, .path = path, .error = error };
    return open_archive(&o, file);
}

eddy_checkpoint *eddy_torch_checkpoint_open_with(const eddy_foreign_checkpoint_args *given)
{
    return eddy__entries_open(given, "torch_checkpoint_open", read_archive, value);
}
