/* open_checkpoint.c -- open checkpoints: one file, or an index and its files, as one list of
 * entries. */
#include "graph/call_options.h"
#include "session/checkpoints/internal.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- items -- */

/* True for real elements in pairs with a note that they are complex numbers. */
static bool is_complex(const eddy_safetensors *file, const eddy_safetensors_entry *entry)
{
    const eddy_shape s = entry->type.shape;
    char             key[sizeof EDDY_COMPLEX_NOTE + EDDY_MAX_NAME];
    if (entry->rank < 1 || entry->rank > EDDY_MAX_RANK || s.dim[s.rank - 1] != 2) return false;
    if (entry->type.dtype != EDDY_FLOAT32 && entry->type.dtype != EDDY_FLOAT64) return false;
    snprintf(key, sizeof key, "%s%s", EDDY_COMPLEX_NOTE, entry->name);
    return eddy__safetensors_find_text(file, key) != NULL;
}

static checkpoint_item item_of(const eddy_safetensors *file, const eddy_safetensors_entry *entry)
{
    return (checkpoint_item){
        .name = entry->name, .file = file, .entry = entry, .is_complex = is_complex(file, entry)
    };
}

const checkpoint_item *eddy__checkpoint_item(const eddy_checkpoint *c, const char *name)
{
    int low = 0, high = name ? c->n_items : 0;
    while (low < high) {
        const int middle = low + (high - low) / 2, order = strcmp(c->items[middle].name, name);
        if (order == 0) return &c->items[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

eddy_array *eddy__checkpoint_item_value(const checkpoint_item *i, eddy_error *e)
{
    eddy_array *x = i->reader ? i->reader->value(i->reader->context, i->number, e)
                              : eddy__safetensors_value(i->file, i->entry, e);
    if (!x && i->reader)
        eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                        "checkpoint: the function for values gave none for '%.200s', and no reason",
                        i->name);
    if (!x || !i->is_complex) return x;
    eddy_array *y = eddy__as_complex(x);
    eddy_array_free(x);
    if (!y) eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", i->name);
    return y;
}

static eddy_checkpoint_entry entry_of(const checkpoint_item *i)
{
    if (i->reader) return i->reader->entries[i->number];
    eddy_checkpoint_entry e = {
        .name = i->name, .element = i->entry->code, .dtype = i->entry->type.dtype,
        .shape = i->entry->type.shape, .bytes = i->entry->end - i->entry->begin,
    };
    if (i->entry->rank > EDDY_MAX_RANK) e.shape = eddy_shape_unknown();
    if (!i->is_complex) return e;
    e.dtype = e.dtype == EDDY_FLOAT64 ? EDDY_COMPLEX128 : EDDY_COMPLEX64;
    e.shape.rank--;
    return e;
}

/* -------------------------------------------------------------- opening -- */

static bool no_memory(const char *path, eddy_error *e)
{
    return eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
}

static bool allocate_items(eddy_checkpoint *c, int files, int items, const char *path,
                           eddy_error *e)
{
    c->files = eddy__allocate_zeroed(c->allocator, (size_t)files, sizeof *c->files);
    if (c->files) c->n_files = files;
    c->items = eddy__allocate_zeroed(c->allocator, (size_t)items, sizeof *c->items);
    if (c->items) c->n_items = items;
    return (c->files && c->items) || no_memory(path, e);
}

/* One file has been read into c->files[0]; its entries are sorted already. */
static bool take_file(eddy_checkpoint *c, const char *path, eddy_error *e)
{
    const eddy_safetensors *f = &c->files[0];
    c->items = eddy__allocate_zeroed(c->allocator, (size_t)f->count, sizeof *c->items);
    if (!c->items) return no_memory(path, e);
    c->n_items = f->count;
    for (int i = 0; i < f->count; i++) c->items[i] = item_of(f, &f->entries[i]);
    return true;
}

static int by_file(const void *a, const void *b)
{
    return strcmp((*(shard_entry *const *)a)->file, (*(shard_entry *const *)b)->file);
}

/* Numbers the files of the index; their number, or -1. */
static int number_files(const shard_index *x, shard_entry ***sorted)
{
    int n = 0;
    *sorted = eddy__allocate_zeroed(x->allocator, (size_t)x->count, sizeof **sorted);
    for (int i = 0; *sorted && i < x->count; i++) (*sorted)[i] = &x->entries[i];
    if (!*sorted) return -1;
    if (x->count > 1) qsort(*sorted, (size_t)x->count, sizeof **sorted, by_file);
    for (int i = 0; i < x->count; i++) {
        n += i == 0 || by_file(&(*sorted)[i - 1], &(*sorted)[i]) != 0;
        (*sorted)[i]->number = n - 1;
    }
    return n;
}

static bool open_shards(eddy_checkpoint *c, const eddy_files *files, const char *path,
                        shard_entry *const *sorted, bool unchecked, eddy_error *e)
{
    char file[EDDY_MAX_PATH];
    for (int i = 0; i < c->index->count; i++) {
        eddy_safetensors *f = &c->files[sorted[i]->number];
        if (f->bytes) continue;
        if (!eddy__beside(path, sorted[i]->file, file))
            return eddy__error_set(e, EDDY_LIMIT, "%.600s: the name of a file is too long", path);
        if (eddy__safetensors_open(files, c->allocator, file, unchecked, f, e) != EDDY_OK)
            return false;
    }
    return true;
}

static bool take_shards(eddy_checkpoint *c, const char *path, eddy_error *e)
{
    for (int i = 0; i < c->n_items; i++) {
        const shard_entry            *s = &c->index->entries[i];
        const eddy_safetensors       *f = &c->files[s->number];
        const eddy_safetensors_entry *entry = eddy__safetensors_find(f, s->name);
        if (!entry)
            return eddy__error_set(e, EDDY_CORRUPT,
                                   "%.300s: byte %zu: the file '%.200s' has no '%.200s'", path,
                                   s->offset, s->file, s->name);
        c->items[i] = item_of(f, entry);
    }
    return true;
}

static bool open_index(eddy_checkpoint *c, const eddy_files *files, const char *path,
                       bool unchecked, eddy_error *e)
{
    shard_entry **sorted = NULL;
    c->index = eddy__allocate_zeroed(c->allocator, 1, sizeof *c->index);
    if (!c->index) return no_memory(path, e);
    if (!eddy__shard_index_read(c->index, files, c->allocator, path, e)) return false;
    const int n = number_files(c->index, &sorted);
    const bool ok = (n >= 0 || no_memory(path, e)) &&
                    allocate_items(c, n, c->index->count, path, e) &&
                    open_shards(c, files, path, sorted, unchecked, e) && take_shards(c, path, e);
    eddy__release(c->allocator, sorted, (size_t)c->index->count * sizeof *sorted);
    return ok;
}

static bool open_file(eddy_checkpoint *c, const eddy_files *files, const char *path, bool unchecked,
                      eddy_error *e)
{
    c->files = eddy__allocate_zeroed(c->allocator, 1, sizeof *c->files);
    if (!c->files) return no_memory(path, e);
    c->n_files = 1;
    return eddy__safetensors_open(files, c->allocator, path, unchecked, &c->files[0], e) ==
               EDDY_OK &&
           take_file(c, path, e);
}

/* ------------------------------------------------------------- metadata -- */

static int by_key(const void *a, const void *b)
{
    const eddy_metadata *x = a, *y = b;
    const int            order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->value, y->value);
}

/* The pairs of all files, without those of the library. */
static bool take_metadata(eddy_checkpoint *c, const char *path, eddy_error *e)
{
    int n = 0;
    for (int i = 0; i < c->n_files; i++) c->metadata_capacity += c->files[i].metadata_count;
    c->metadata = eddy__allocate_zeroed(c->allocator, (size_t)c->metadata_capacity,
                                        sizeof *c->metadata);
    if (!c->metadata) return no_memory(path, e);
    for (int i = 0; i < c->n_files; i++)
        for (int k = 0; k < c->files[i].metadata_count; k++) {
            const eddy_safetensors_text *t = &c->files[i].metadata[k];
            if (strncmp(t->key, "eddy.", 5) != 0)
                c->metadata[n++] = (eddy_metadata){ t->key, t->value };
        }
    if (n > 1) qsort(c->metadata, (size_t)n, sizeof *c->metadata, by_key);
    for (int i = 0; i < n; i++)
        if (c->n_metadata == 0 ||
            strcmp(c->metadata[i].key, c->metadata[c->n_metadata - 1].key) != 0)
            c->metadata[c->n_metadata++] = c->metadata[i];
    return true;
}

eddy_checkpoint *eddy__checkpoint_open(const eddy_files *files, const eddy_allocator *a,
                                       const char *path, bool unchecked, eddy_error *e)
{
    eddy_checkpoint *c = eddy__allocate_zeroed(a, 1, sizeof *c);
    if (!c) return (void)no_memory(path, e), NULL;
    c->allocator = a;
    const bool ok = eddy__is_index(path) ? open_index(c, files, path, unchecked, e)
                                         : open_file(c, files, path, unchecked, e);
    if (ok && take_metadata(c, path, e)) return c;
    eddy_checkpoint_free(c);
    return NULL;
}

/* -------------------------------------------------- the public functions -- */

eddy_checkpoint *eddy_checkpoint_open_with(const eddy_checkpoint_open_args *given)
{
    eddy_checkpoint_open_args a = EDDY_TAKE(eddy_checkpoint_open_args, given);
    return eddy__checkpoint_open(a.files, &eddy__libc, a.path ? a.path : "", a.unchecked, a.error);
}

void eddy_checkpoint_free(eddy_checkpoint *c)
{
    if (!c) return;
    const eddy_allocator *a = c->allocator;
    for (int i = 0; i < c->n_files; i++)
        if (c->files[i].allocator) eddy__safetensors_free(&c->files[i]);
    if (c->index) eddy__shard_index_free(c->index);
    eddy__release(a, c->index, sizeof *c->index);
    eddy__release(a, c->files, (size_t)c->n_files * sizeof *c->files);
    eddy__release(a, c->items, (size_t)c->n_items * sizeof *c->items);
    eddy__release(a, c->metadata, (size_t)c->metadata_capacity * sizeof *c->metadata);
    if (c->reader.free) c->reader.free(c->reader.context);
    eddy__release(a, c, sizeof *c);
}

int eddy_checkpoint_count(const eddy_checkpoint *c) { return c ? c->n_items : 0; }

eddy_checkpoint_entry eddy_checkpoint_entry_at(const eddy_checkpoint *c, int i)
{
    if (!c || i < 0 || i >= c->n_items) return (eddy_checkpoint_entry){ .name = NULL };
    return entry_of(&c->items[i]);
}

int eddy_checkpoint_find(const eddy_checkpoint *c, const char *name)
{
    const checkpoint_item *i = c ? eddy__checkpoint_item(c, name) : NULL;
    return i ? (int)(i - c->items) : -1;
}

eddy_array *eddy_checkpoint_value(const eddy_checkpoint *c, const char *name, eddy_error *error)
{
    const checkpoint_item *i = c ? eddy__checkpoint_item(c, name) : NULL;
    if (i) return eddy__checkpoint_item_value(i, error);
    if (c)
        eddy__error_set(error, EDDY_NOT_FOUND, "checkpoint_value: there is no entry '%.200s'",
                        name ? name : "");
    else
        eddy__error_set(error, EDDY_INVALID_ARGUMENT, "checkpoint_value: there is no checkpoint");
    return NULL;
}

int eddy_checkpoint_metadata_count(const eddy_checkpoint *c) { return c ? c->n_metadata : 0; }

eddy_metadata eddy_checkpoint_metadata_at(const eddy_checkpoint *c, int i)
{
    return c && i >= 0 && i < c->n_metadata ? c->metadata[i] : (eddy_metadata){ NULL, NULL };
}

const char *eddy_checkpoint_text(const eddy_checkpoint *c, const char *key)
{
    int low = 0, high = c && key ? c->n_metadata : 0;
    while (low < high) {
        const int middle = low + (high - low) / 2, order = strcmp(c->metadata[middle].key, key);
        if (order == 0) return c->metadata[middle].value;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}
