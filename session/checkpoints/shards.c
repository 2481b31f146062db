/* shards.c -- a checkpoint of several files: all of them have new names, so the index, which is
 * replaced last and atomically, always names files that belong together. */
#include "graph/files/json.h"
#include "session/checkpoints/saving.h"

#include <stdlib.h>
#include <string.h>

typedef struct shard_writer {
    const eddy_files    *files;
    const saved_entries *x;
    const char          *path;
    int64_t              generation;
    int                  shards;
    int                 *shard;          /* by entry, from 1 */
    eddy_error          *error;
} shard_writer;

static bool no_memory(const shard_writer *w)
{
    return eddy__error_set(w->error, EDDY_NO_MEMORY, "%.600s: out of memory", w->path);
}

/* "m" of "folder/m.safetensors.index.json", also without one of the endings. */
static int stem_of(const char *path, const char **stem)
{
    static const char *const endings[] = { ".json", ".index", ".safetensors" };
    const char *slash = strrchr(path, '/');
    *stem = slash ? slash + 1 : path;
    size_t n = strlen(*stem);
    for (int i = 0; i < 3; i++) {
        const size_t k = strlen(endings[i]);
        if (n > k && memcmp(*stem + n - k, endings[i], k) == 0) n -= k;
    }
    return (int)n;
}

/* Returns the length of the name, which may be more than there is room for. */
static size_t name_of_shard(const shard_writer *w, int k, char out[EDDY_MAX_PATH])
{
    const char *stem;
    const int   n = stem_of(w->path, &stem);
    return (size_t)snprintf(out, EDDY_MAX_PATH, "%.*s.%lld-%05d-of-%05d.safetensors", n, stem,
                            (long long)w->generation, k, w->shards);
}

/* No name is longer than that of the last file. */
static bool names_fit(const shard_writer *w)
{
    char file[EDDY_MAX_PATH], path[EDDY_MAX_PATH];
    return (name_of_shard(w, w->shards, file) < EDDY_MAX_PATH &&
            eddy__beside(w->path, file, path)) ||
           eddy__error_set(w->error, EDDY_LIMIT, "%.600s: the name of a file is too long", w->path);
}

/* Fills files one after the other, in the order of the entries. */
static void divide(shard_writer *w, int64_t most)
{
    int64_t bytes = 0;
    w->shards = 1;
    for (int i = 0; i < w->x->n; i++) {
        const int64_t more = (int64_t)eddy_array_bytes(w->x->arrays[i]);
        if (bytes > 0 && more > most - bytes) {
            w->shards++;
            bytes = 0;
        }
        bytes += more;
        w->shard[i] = w->shards;
    }
}

/* The number in the name of a file that this path's index may have; 0 if it is none. */
static int64_t generation_of(const char *path, const char *file)
{
    const char *stem;
    const int   n = stem_of(path, &stem);
    if (strncmp(file, stem, (size_t)n) != 0 || file[n] != '.') return 0;
    const size_t digits = strspn(file + n + 1, "0123456789");
    if (digits == 0 || digits > 18 || file[(size_t)n + 1 + digits] != '-') return 0;
    return strtoll(file + n + 1, NULL, 10);
}

/* The index that is there, empty if there is none or a damaged one. One that cannot be read now may
 * name files that must not be replaced. */
static bool read_old(shard_writer *w, shard_index *old)
{
    eddy_error why = { 0 };
    if (!eddy__shard_index_read(old, w->files, w->x->allocator, w->path, &why)) {
        *old = (shard_index){ .allocator = w->x->allocator };
        if (why.status != EDDY_NOT_FOUND && why.status != EDDY_CORRUPT && why.status != EDDY_LIMIT)
            return eddy__error_set(w->error, why.status, "%s", why.message);
    }
    w->generation = 1;
    for (int i = 0; i < old->count; i++) {
        const int64_t g = generation_of(w->path, old->entries[i].file);
        if (g >= w->generation) w->generation = g + 1;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The writer of a file sees only the names in it. */
static bool names_differ(const shard_writer *w, const char **sorted)
{
    const int n = w->x->n;
    memcpy(sorted, w->x->names, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_text);
    for (int i = 1; i < n; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return eddy__error_set(w->error, EDDY_INVALID_ARGUMENT,
                                   "%.300s: the name '%.300s' appears twice", w->path, sorted[i]);
    return true;
}

/* --------------------------------------------------------------- writing -- */

static bool write_shard(const shard_writer *w, int k, const char **names, const eddy_array **arrays)
{
    const saved_entries *x = w->x;
    char file[EDDY_MAX_PATH], path[EDDY_MAX_PATH];
    int  n = 0;
    for (int i = 0; i < x->n; i++) {
        if (w->shard[i] != k) continue;
        names[n] = x->names[i];
        arrays[n++] = x->arrays[i];
    }
    name_of_shard(w, k, file);
    eddy__beside(w->path, file, path);
    return eddy__safetensors_write(w->files, x->allocator, path, n, names, arrays, x->n_metadata,
                                   x->metadata, w->error) == EDDY_OK;
}

static bool write_all(const shard_writer *w)
{
    const size_t       n = (size_t)w->x->n;
    const char       **names = eddy__allocate_zeroed(w->x->allocator, n, sizeof *names);
    const eddy_array **arrays = eddy__allocate_zeroed(w->x->allocator, n, sizeof *arrays);
    bool               ok = ((names && arrays) || no_memory(w)) && names_differ(w, names);
    for (int k = 1; k <= w->shards && ok; k++) ok = write_shard(w, k, names, arrays);
    eddy__release(w->x->allocator, names, n * sizeof *names);
    eddy__release(w->x->allocator, arrays, n * sizeof *arrays);
    return ok;
}

static bool put_index(const shard_writer *w, eddy_text *t)
{
    char    file[EDDY_MAX_PATH];
    int64_t bytes = 0;
    for (int i = 0; i < w->x->n; i++) bytes += (int64_t)eddy_array_bytes(w->x->arrays[i]);
    eddy__text_put(t, "{\n  \"metadata\": {\n    \"total_size\": %lld\n  },\n  \"weight_map\": {",
                   (long long)bytes);
    for (int i = 0; i < w->x->n; i++) {
        name_of_shard(w, w->shard[i], file);
        eddy__text_put(t, "%s\n    ", i > 0 ? "," : "");
        eddy__json_put(t, w->x->names[i]);
        eddy__text_put(t, ": ");
        eddy__json_put(t, file);
    }
    eddy__text_put(t, "\n  }\n}\n");
    return !t->failed || no_memory(w);
}

static bool write_index(const shard_writer *w)
{
    eddy_text   t = { .allocator = w->x->allocator };
    eddy_writer out;
    bool        ok = put_index(w, &t);
    if (ok && (ok = eddy__writer_begin(&out, w->files, w->path, w->error))) {
        eddy__writer_write(&out, t.at, t.length);
        ok = eddy__writer_end(&out);
    }
    eddy__text_free(&t);
    return ok;
}

static int by_file(const void *a, const void *b)
{
    return strcmp(((const shard_entry *)a)->file, ((const shard_entry *)b)->file);
}

/* Only files that a save to this path has written; one that cannot be removed does no harm. */
static void remove_old(const shard_writer *w, const shard_index *old)
{
    const eddy_files *f = eddy__files_or_posix(w->files);
    char path[EDDY_MAX_PATH];
    if (old->count > 1) qsort(old->entries, (size_t)old->count, sizeof *old->entries, by_file);
    for (int i = 0; i < old->count; i++) {
        const char *file = old->entries[i].file;
        if (i > 0 && by_file(&old->entries[i - 1], &old->entries[i]) == 0) continue;
        if (generation_of(w->path, file) > 0 && !strchr(file, '/') &&
            eddy__beside(w->path, file, path))
            f->unlink(f->context, path);
    }
}

bool eddy__write_shards(const eddy_files *files, const char *path, const saved_entries *x,
                        int64_t shard_bytes, eddy_error *e)
{
    shard_writer w = { .files = files, .x = x, .path = path, .error = e };
    shard_index  old;
    w.shard = eddy__allocate_zeroed(x->allocator, (size_t)x->n, sizeof *w.shard);
    if (!w.shard) return no_memory(&w);
    divide(&w, shard_bytes);
    const bool ok = read_old(&w, &old) && names_fit(&w) && write_all(&w) && write_index(&w);
    if (ok) remove_old(&w, &old);
    eddy__shard_index_free(&old);
    eddy__release(x->allocator, w.shard, (size_t)x->n * sizeof *w.shard);
    return ok;
}
