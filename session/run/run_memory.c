/* run_memory.c -- the memory in which plans compute. A session has as many blocks as it has had
 * runs at the same time. A plan takes one for each run, mostly the one that it had before, so a new
 * plan begins in memory that the processor and the operating system know, and many plans need no
 * more memory than the largest. Plans that keep values from run to run have memory of their own. */
#include "session/run/run_memory.h"
#include "graph/base/interruptible.h"

typedef struct run_memory {
    struct run_memory *next;
    void              *memory, *base;
    size_t             bytes;
    atomic_bool        busy;
} run_memory;

static bool try_take(run_memory *m)
{
    return !atomic_load_explicit(&m->busy, memory_order_relaxed) &&
           !atomic_exchange_explicit(&m->busy, true, memory_order_acquire);
}

static void give(run_memory *m) { atomic_store_explicit(&m->busy, false, memory_order_release); }

/* A free block with room for the plan; else the last free one that is too small, or NULL. */
static run_memory *find(eddy_session *s, size_t bytes)
{
    run_memory *small = NULL;
    for (run_memory *m = s->memory; m; m = m->next) {
        if (!try_take(m)) continue;
        if (small) give(small);
        if (m->bytes >= bytes) return m;
        small = m;
    }
    return small;
}

static void release(const eddy_session *s, run_memory *m)
{
    if (m->base) eddy__release_aligned(&s->allocator, m->base, m->bytes);
    m->base = m->memory = NULL;
    m->bytes = 0;
}

/* Gives a block that is taken at least this size. */
static bool grow(const eddy_session *s, run_memory *m, size_t bytes)
{
    if (m->bytes >= bytes) return true;
    release(s, m);
    m->memory = eddy__allocate_aligned(&s->allocator, bytes, &m->base);
    if (m->memory) m->bytes = bytes;
    return m->memory != NULL;
}

static run_memory *find_or_add(eddy_session *s, size_t bytes)
{
    pthread_mutex_lock(&s->memory_lock);
    run_memory *m = find(s, bytes);
    if (!m && (m = eddy__allocate_zeroed(&s->allocator, 1, sizeof *m))) {
        atomic_store(&m->busy, true);
        m->next = s->memory;
        s->memory = m;
    }
    if (m && !grow(s, m, bytes)) {
        give(m);
        m = NULL;
    }
    pthread_mutex_unlock(&s->memory_lock);
    return m;
}

bool eddy__run_memory_take(eddy_plan *p)
{
    if (p->memory_bytes == 0 || p->memory_base) return true;
    const size_t bytes = (size_t)p->memory_bytes;       /* of a plan that runs: they fit */
    run_memory *m = p->run_memory;
    if (!m || !try_take(m)) m = find_or_add(p->session, bytes);
    else if (m->bytes < bytes) {
        give(m);
        m = find_or_add(p->session, bytes);
    }
    if (!m) return false;
    p->run_memory = m;
    if (p->memory != m->memory) {
        p->memory = m->memory;
        eddy__plan_set_addresses(p);
    }
    return true;
}

void eddy__run_memory_give(const eddy_plan *p)
{
    if (p->memory_bytes > 0 && !p->memory_base) give(p->run_memory);
}

size_t eddy__run_memory_bytes(eddy_session *s)
{
    size_t bytes = 0;
    pthread_mutex_lock(&s->memory_lock);
    for (const run_memory *m = s->memory; m; m = m->next) bytes += m->bytes;
    pthread_mutex_unlock(&s->memory_lock);
    return bytes + (size_t)eddy__call_blocks_bytes(&s->stop_requests);
}

void eddy__run_memory_trim(eddy_session *s)
{
    eddy__call_blocks_free(&s->stop_requests);
    pthread_mutex_lock(&s->memory_lock);
    for (run_memory *m = s->memory; m; m = m->next) {
        if (!try_take(m)) continue;
        release(s, m);
        give(m);
    }
    pthread_mutex_unlock(&s->memory_lock);
}

void eddy__run_memory_free(eddy_session *s)
{
    for (run_memory *m = s->memory, *next; m; m = next) {
        next = m->next;
        release(s, m);
        eddy__release(&s->allocator, m, sizeof *m);
    }
    s->memory = NULL;
}
