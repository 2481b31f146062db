/* shard_index.c -- the index of a checkpoint of several files, in the form of Hugging Face: a JSON
 * object whose member weight_map gives the file of each entry. Other members are skipped. */
#include "graph/base/file_bytes.h"
#include "graph/files/json.h"
#include "session/checkpoints/internal.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_INDEX = 100000000 };      /* bytes */

bool eddy__is_index(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

bool eddy__beside(const char *path, const char *file, char out[EDDY_MAX_PATH])
{
    const char *slash = strrchr(path, '/');
    const int   folder = slash ? (int)(slash - path) + 1 : 0;
    return (size_t)snprintf(out, EDDY_MAX_PATH, "%.*s%s", folder, path, file) < EDDY_MAX_PATH;
}

/* True for a relative path without a part ".." or an empty part. */
static bool stays_in_folder(json_text file)
{
    const char *part = file.at;
    if (strlen(file.at) != file.length || file.length == 0 || file.length >= EDDY_MAX_PATH)
        return false;
    for (;;) {
        const size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && memcmp(part, "..", 2) == 0))
            return false;
        if (!part[n]) return true;
        part += n + 1;
    }
}

static bool add_entry(tokens *p, json_text name, size_t where, json_text file)
{
    shard_index *x = p->out;
    if (strlen(name.at) != name.length) return damaged_at(p, where, "a name contains a zero byte");
    if (x->count == x->capacity) {
        const int bigger = x->capacity ? x->capacity * 2 : 16;
        if (!eddy__grow(x->allocator, (void **)&x->entries, (size_t)x->capacity, (size_t)bigger,
                        sizeof *x->entries))
            return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory", p->path);
        x->capacity = bigger;
    }
    x->entries[x->count++] = (shard_entry){ .name = name.at, .file = file.at, .offset = where };
    return true;
}

static bool read_weight_map(tokens *p)
{
    bool      ok = eddy__json_expect(p, '{');
    json_text name, file;
    if (!ok || accept_char(p, '}')) return ok;
    do {
        skip_space(p);
        const size_t where = offset(p);
        if (!eddy__json_string(p, &name) || !eddy__json_expect(p, ':')) return false;
        skip_space(p);
        const size_t file_at = offset(p);
        if (!eddy__json_string(p, &file)) return false;
        if (!stays_in_folder(file))
            return damaged_at(p, file_at, "a file is not in the folder of the index");
        if (!add_entry(p, name, where, file)) return false;
    } while (eddy__json_next(p, '}', &ok));
    return ok;
}

static bool read_object(tokens *p)
{
    bool      ok = eddy__json_expect(p, '{'), has_map = false;
    json_text key;
    if (!ok) return false;
    if (accept_char(p, '}')) return damaged(p, "the index has no weight_map");
    do {
        skip_space(p);
        const size_t where = offset(p);
        if (!eddy__json_string(p, &key) || !eddy__json_expect(p, ':')) return false;
        const bool is_map = strcmp(key.at, "weight_map") == 0;
        if (is_map && has_map) return damaged_at(p, where, "weight_map appears twice");
        has_map = has_map || is_map;
        if (!(is_map ? read_weight_map(p) : eddy__json_skip(p))) return false;
    } while (eddy__json_next(p, '}', &ok));
    return ok && (has_map || damaged(p, "the index has no weight_map"));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const shard_entry *)a)->name, ((const shard_entry *)b)->name);
}

static bool parse(shard_index *x, const char *path, eddy_error *e)
{
    tokens p = { .path = path, .place = "byte", .error = e, .start = x->text, .at = x->text,
                 .end = x->text + x->size, .out = x };
    const size_t bad = eddy__utf8_check(x->text, x->size);
    const char  *zero = memchr(x->text, 0, x->size);
    if (bad < x->size) return damaged_at(&p, bad, "the index is not UTF-8");
    if (zero) return damaged_at(&p, (size_t)(zero - x->text), "the index contains a zero byte");
    if (!read_object(&p)) return false;
    skip_space(&p);
    if (p.at < p.end) return damaged(&p, "unexpected text after the index");
    if (x->count > 1) qsort(x->entries, (size_t)x->count, sizeof *x->entries, by_name);
    for (int i = 1; i < x->count; i++)
        if (by_name(&x->entries[i - 1], &x->entries[i]) == 0)
            return damaged_at(&p, x->entries[i].offset, "duplicate name");
    return true;
}

bool eddy__shard_index_read(shard_index *x, const eddy_files *files, const eddy_allocator *a,
                            const char *path, eddy_error *e)
{
    *x = (shard_index){ .allocator = a };
    eddy_file_bytes *bytes = eddy__file_bytes(files, a, path, e);
    if (!bytes) return false;
    bool ok = bytes->size <= LARGEST_INDEX ||
              eddy__error_set(e, EDDY_LIMIT, "%.600s: the index has %zu bytes; the limit is %d",
                              path, bytes->size, LARGEST_INDEX);
    if (ok) {
        x->text = eddy__allocate(a, bytes->size);
        ok = x->text || eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
    }
    if (ok) {
        x->size = bytes->size;
        if (x->size > 0) memcpy(x->text, bytes->at, x->size);
        ok = parse(x, path, e);
    }
    eddy__file_bytes_release(bytes);
    if (!ok) eddy__shard_index_free(x);
    return ok;
}

void eddy__shard_index_free(shard_index *x)
{
    eddy__release(x->allocator, x->entries, (size_t)x->capacity * sizeof *x->entries);
    eddy__release(x->allocator, x->text, x->size);
    *x = (shard_index){ .allocator = x->allocator };
}
