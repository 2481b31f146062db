/* handles.c -- the set of live handles: detects freed graphs, sessions and other objects that
 * users hold by pointer.
 *
 * C cannot distinguish a freed pointer from a valid one; this set can. It is sharded, so that
 * unrelated objects do not contend for one lock. Each thread remembers its last positive answer
 * until an object is removed, so that a typical lookup costs a few nanoseconds. */
#include "graph/base/base.h"

#include <pthread.h>
#include <stdlib.h>

enum { SHARDS = 32 };

typedef struct item {
    const void    *object;
    eddy_live_kind kind;
} item;

typedef struct shard {
    pthread_mutex_t lock;
    item           *items;
    size_t          count, capacity;
} shard;

static shard shards[SHARDS] = {
#define S { PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0 }
#define S8 S, S, S, S, S, S, S, S
    S8, S8, S8, S8
#undef S8
#undef S
};
static atomic_uint removals;            /* changes whenever an object is freed */

static _Thread_local struct {
    item         known;
    unsigned int removals;
} last;

/* A child of fork() finds the set as it is between two changes. Holders of other locks whose
 * handlers constructors register must not look up handles, since the order of constructors is not
 * known; locks whose handlers are registered later are taken first. */
static void before_fork(void)
{
    for (int i = 0; i < SHARDS; i++) pthread_mutex_lock(&shards[i].lock);
}
static void after_fork(void)
{
    for (int i = 0; i < SHARDS; i++) pthread_mutex_unlock(&shards[i].lock);
}
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static shard *shard_of(const void *object)
{
    uint64_t h = (uint64_t)(uintptr_t)object * 0x9E3779B97F4A7C15u;
    return &shards[h >> 59];
}

/* Index of the object in s, or s->count. */
static size_t shard_find(const shard *s, const void *object)
{
    size_t i = 0;
    while (i < s->count && s->items[i].object != object) i++;
    return i;
}

bool eddy__live_add(const void *object, eddy_live_kind kind)
{
    shard *s = shard_of(object);
    bool   ok = true;
    pthread_mutex_lock(&s->lock);
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 8;
        item  *items = realloc(s->items, capacity * sizeof *items);
        ok = items != NULL;
        if (ok) {
            s->items = items;
            s->capacity = capacity;
        }
    }
    if (ok) s->items[s->count++] = (item){ object, kind };
    pthread_mutex_unlock(&s->lock);
    return ok;
}

void eddy__live_remove(const void *object)
{
    shard *s = shard_of(object);
    pthread_mutex_lock(&s->lock);
    size_t i = shard_find(s, object);
    if (i < s->count) s->items[i] = s->items[--s->count];
    if (s->count == 0) {
        free(s->items);
        s->items = NULL;
        s->capacity = 0;
    }
    atomic_fetch_add(&removals, 1);
    pthread_mutex_unlock(&s->lock);
}

bool eddy__live(const void *object, eddy_live_kind kind)
{
    if (!object) return false;
    unsigned int now = atomic_load_explicit(&removals, memory_order_acquire);
    if (last.known.object == object && last.known.kind == kind && last.removals == now) return true;
    shard *s = shard_of(object);
    pthread_mutex_lock(&s->lock);
    size_t i = shard_find(s, object);
    bool   found = i < s->count && s->items[i].kind == kind;
    pthread_mutex_unlock(&s->lock);
    if (found) {
        last.known = (item){ object, kind };
        last.removals = now;
    }
    return found;
}
