/* cache.c -- keeps records in memory. Those of an indexed source are read when they are needed,
 * those of a stream all at once. Always those of epoch 0, so that a cache that is filled after a
 * position was restored has the same records. */
#include "internal.h"

#include <string.h>

typedef struct cache {
    eddy_dataset  d;
    pthread_mutex_t filling;
    bool          streams;
    eddy_record **records;               /* NULL where none was read */
    int64_t       n, room;               /* n: -1 before the size is known */
} cache;

static bool grow(cache *c, int64_t room)
{
    if ((uint64_t)room > SIZE_MAX / sizeof *c->records) return false;
    eddy_record **more = eddy__input_take(&c->d.allocator, (size_t)room * sizeof *more);
    if (!more) return false;
    if (c->room > 0) memcpy(more, c->records, (size_t)c->room * sizeof *more);
    eddy__input_give(&c->d.allocator, c->records, (size_t)c->room * sizeof *more);
    c->records = more;
    c->room = room;
    return true;
}

/* All records of a stream. After a failure it begins anew. */
static bool read_all(cache *c, eddy_error *e)
{
    eddy_dataset *source = c->d.sources[0];
    int64_t       n = 0;
    eddy__rewind(source, 0);
    for (;; n++) {
        if (n == c->room && !grow(c, c->room ? 2 * c->room : 64)) return eddy__input_no_memory(e);
        if (!c->records[n]) c->records[n] = eddy__record_new(&c->d.allocator, c->d.n);
        if (!c->records[n]) return eddy__input_no_memory(e);
        c->records[n]->error = e;
        const outcome o = eddy__next(source, c->records[n]);
        if (o == INPUT_FAILED) return false;
        if (o == INPUT_END) break;
    }
    c->n = n;
    return true;
}

static int64_t cache_size(eddy_dataset *d, eddy_error *e)
{
    cache *c = (cache *)d;
    pthread_mutex_lock(&c->filling);
    if (c->n < 0) {
        if (c->streams) read_all(c, e);
        else {
            const int64_t n = eddy__size(d->sources[0], e);
            if (n == INT64_MAX)
                eddy__input_fail(e, EDDY_INVALID_ARGUMENT, "dataset_cache: the dataset has no end");
            else if (n >= 0 && (n <= c->room || grow(c, n))) c->n = n;
            else eddy__input_no_memory(e);
        }
    }
    const int64_t n = c->n;
    pthread_mutex_unlock(&c->filling);
    return n;
}

static eddy_record *cached(cache *c, int64_t i)
{
    pthread_mutex_lock(&c->filling);
    eddy_record *r = c->records[i];
    pthread_mutex_unlock(&c->filling);
    return r;
}

/* The first of several threads that read record i keeps it. */
static eddy_record *fetch(cache *c, int64_t i, eddy_error *e)
{
    eddy_record *r = eddy__record_new(&c->d.allocator, c->d.n);
    if (!r) {
        eddy__input_no_memory(e);
        return NULL;
    }
    r->error = e;
    if (!eddy__at(c->d.sources[0], 0, i, r)) {
        eddy__record_free(r);
        return NULL;
    }
    pthread_mutex_lock(&c->filling);
    eddy_record *kept = c->records[i];
    if (!kept) c->records[i] = r;
    pthread_mutex_unlock(&c->filling);
    if (kept) eddy__record_free(r);
    return kept ? kept : r;
}

static bool cache_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    cache *c = (cache *)d;
    if (cache_size(d, out->error) <= i) return false;
    eddy_record *r = cached(c, i);
    if (!r) r = fetch(c, i, out->error);
    if (!r || !eddy__record_copy(out, r)) return false;
    out->epoch = epoch;
    out->number = i;
    return true;
}

static void cache_release(eddy_dataset *d)
{
    cache *c = (cache *)d;
    for (int64_t i = 0; i < c->room; i++) eddy__record_free(c->records[i]);
    eddy__input_give(&d->allocator, c->records, (size_t)c->room * sizeof *c->records);
    pthread_mutex_destroy(&c->filling);
}

static const stage cache_stage = { .size = cache_size, .at = cache_at, .release = cache_release };

eddy_dataset *eddy_dataset_cache(eddy_dataset *d)
{
    cache *c = eddy__stage_new(sizeof *c, &cache_stage, &d, 1, "cache");
    if (!c) return NULL;
    pthread_mutex_init(&c->filling, NULL);
    c->n = -1;
    c->streams = !c->d.indexed;
    c->d.indexed = true;
    return &c->d;
}
