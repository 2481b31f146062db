/* memory_files.c -- see memory_files.h. */
#include "tests/lib/files/memory_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- faults -- */

typedef enum verdict { FINE, FAILS, SHORT, OFF } verdict;

static verdict next_call(memory_files *m)
{
    int  call = ++m->calls;
    bool hit = m->fault.at > 0 && (m->fault.persistent ? call >= m->fault.at : call == m->fault.at);
    if (!hit) return FINE;
    errno = m->fault.number;
    return m->fault.power ? OFF : m->fault.number ? FAILS : SHORT;
}

static bool fails(memory_files *m, verdict *v)
{
    *v = next_call(m);
    return *v == FAILS || *v == OFF;
}

/* -------------------------------------------------------------- entries -- */

static memory_entry *find(memory_entry *entries, const char *name)
{
    for (int i = 0; i < MEMORY_FILES; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

static void set_entry(memory_entry *entries, const char *name, int content)
{
    memory_entry *e = find(entries, name);
    if (!e) e = find(entries, "");
    assert(e);
    snprintf(e->name, sizeof e->name, "%s", name);
    e->content = content;
}

static void apply(memory_entry *entries, const memory_step *s)
{
    memory_entry *from = find(entries, s->from);
    if (s->kind == STEP_CREATE) set_entry(entries, s->to, s->content);
    else if (s->kind == STEP_UNLINK && from) from->name[0] = 0;
    else if (s->kind == STEP_RENAME) {
        if (from) from->name[0] = 0;
        set_entry(entries, s->to, s->content);
    }
}

static void log_step(memory_files *m, memory_step_kind kind, const char *from, const char *to,
                     int content)
{
    assert(m->n_steps < 2 * MEMORY_FILES);
    memory_step *s = &m->steps[m->n_steps++];
    *s = (memory_step){ .kind = kind, .content = content };
    snprintf(s->from, sizeof s->from, "%s", from);
    snprintf(s->to, sizeof s->to, "%s", to);
    apply(m->entries, s);
}

static int new_content(memory_files *m, const void *p, size_t n)
{
    assert(m->n_contents < MEMORY_FILES);
    memory_content *c = &m->contents[m->n_contents];
    c->bytes = malloc(n + 1);
    c->durable = malloc(n + 1);
    if (n > 0) memcpy(c->bytes, p, n);
    if (n > 0) memcpy(c->durable, p, n);
    c->size = c->durable_size = n;
    c->room = n + 1;
    return m->n_contents++;
}

/* ---------------------------------------------------------------- calls -- */

static int file_open(void *context, const char *path, int flags)
{
    memory_files *m = context;
    verdict       v;
    if (fails(m, &v)) return -1;
    memory_entry *e = find(m->entries, path);
    if (!e && !(flags & O_CREAT)) errno = ENOENT;
    else if (e && (flags & O_EXCL)) errno = EEXIST;
    else {
        int content = e ? e->content : new_content(m, NULL, 0);
        if (!e) log_step(m, STEP_CREATE, "", path, content);
        assert(m->n_open < MEMORY_FILES);
        for (int fd = 0; fd < MEMORY_FILES; fd++) {
            if (m->open[fd].content) continue;
            m->open[fd].content = content + 1;
            m->open[fd].at = 0;
            m->open[fd].writes = (flags & O_ACCMODE) != O_RDONLY;
            m->n_open++;
            return fd;
        }
    }
    return -1;
}

static memory_content *content_of(memory_files *m, int fd)
{
    assert(fd >= 0 && fd < MEMORY_FILES && m->open[fd].content > 0);
    return &m->contents[m->open[fd].content - 1];
}

static int64_t file_read(void *context, int fd, void *p, size_t n)
{
    memory_files *m = context;
    verdict       v;
    if (fails(m, &v)) return -1;
    const memory_content *c = content_of(m, fd);
    size_t left = c->size - m->open[fd].at;
    if (n > left) n = left;
    if (v == SHORT && n > 1) n = 1;
    memcpy(p, c->bytes + m->open[fd].at, n);
    m->open[fd].at += n;
    return (int64_t)n;
}

static int64_t file_write(void *context, int fd, const void *p, size_t n)
{
    memory_files *m = context;
    verdict       v;
    if (fails(m, &v)) return -1;
    memory_content *c = content_of(m, fd);
    assert(m->open[fd].writes && m->open[fd].at == c->size);
    if (v == SHORT && n > 1) n = 1;
    if (c->size + n + 1 > c->room) {
        c->room = 2 * (c->size + n + 1);        /* a copy for each write would be quadratic */
        c->bytes = realloc(c->bytes, c->room);
    }
    memcpy(c->bytes + c->size, p, n);
    m->open[fd].at = c->size += n;
    return (int64_t)n;
}

static int64_t file_size(void *context, int fd)
{
    memory_files *m = context;
    verdict       v;
    return fails(m, &v) ? -1 : (int64_t)content_of(m, fd)->size;
}

static int file_sync(void *context, int fd)
{
    memory_files *m = context;
    verdict       v;
    if (fails(m, &v)) return -1;
    memory_content *c = content_of(m, fd);
    if (m->lazy) return 0;
    c->durable = realloc(c->durable, c->size + 1);
    memcpy(c->durable, c->bytes, c->size);
    c->durable_size = c->size;
    return 0;
}

/* A close that fails has closed all the same. */
static int file_close(void *context, int fd)
{
    memory_files *m = context;
    verdict       v;
    bool          failed = fails(m, &v);
    content_of(m, fd);
    m->open[fd].content = 0;
    m->n_open--;
    return failed ? -1 : 0;
}

static int file_rename(void *context, const char *from, const char *to)
{
    memory_files *m = context;
    verdict       v;
    if (fails(m, &v)) return -1;
    memory_entry *e = find(m->entries, from);
    if (!e) {
        errno = ENOENT;
        return -1;
    }
    log_step(m, STEP_RENAME, from, to, e->content);
    return 0;
}

static int file_unlink(void *context, const char *path)
{
    memory_files *m = context;
    verdict       v;
    if (fails(m, &v)) return -1;
    assert(find(m->entries, path));
    log_step(m, STEP_UNLINK, path, "", 0);
    return 0;
}

static int file_sync_dir(void *context, const char *path)
{
    memory_files *m = context;
    verdict       v;
    (void)path;
    if (fails(m, &v)) return -1;
    memcpy(m->durable, m->entries, sizeof m->durable);
    m->n_steps = 0;
    return 0;
}

/* ------------------------------------------------------------ the whole -- */

void memory_files_init(memory_files *m)
{
    memset(m, 0, sizeof *m);
    m->table = (eddy_files){ file_open, file_read, file_write, file_size, file_sync, file_close,
                             file_rename, file_unlink, file_sync_dir, m };
}

void memory_files_free(memory_files *m)
{
    for (int i = 0; i < m->n_contents; i++) {
        free(m->contents[i].bytes);
        free(m->contents[i].durable);
    }
    memset(m, 0, sizeof *m);
}

void memory_files_put(memory_files *m, const char *name, const void *p, size_t n)
{
    int content = new_content(m, p, n);
    set_entry(m->entries, name, content);
    set_entry(m->durable, name, content);
}

const memory_content *memory_files_get(const memory_files *m, const char *name)
{
    const memory_entry *e = find((memory_entry *)(uintptr_t)m->entries, name);
    return e ? &m->contents[e->content] : NULL;
}

int memory_files_count(const memory_files *m)
{
    int n = 0;
    for (int i = 0; i < MEMORY_FILES; i++) n += m->entries[i].name[0] != 0;
    return n;
}

static unsigned roll(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

enum { SECTOR = 64 };

/* Some sectors of the bytes are as written, the others as they were. */
static void tear(char *bytes, const memory_content *c, unsigned *state)
{
    for (size_t at = 0; at < c->size; at += SECTOR)
        if (roll(state) & 1)
            memcpy(bytes + at, c->bytes + at, c->size - at < SECTOR ? c->size - at : SECTOR);
}

/* Unsynced bytes may be there, missing, cut anywhere, torn, or zeros; unsynced changes
 * of the folder may have happened or not, each for itself. */
void memory_files_crash(const memory_files *m, unsigned seed, memory_files *after)
{
    unsigned     state = seed * 2654435761u + 1;
    memory_entry entries[MEMORY_FILES];
    memory_files_init(after);
    memcpy(entries, m->durable, sizeof entries);
    for (int i = 0; i < m->n_steps; i++)
        if (roll(&state) & 1) apply(entries, &m->steps[i]);
    for (int i = 0; i < MEMORY_FILES; i++) {
        if (!entries[i].name[0]) continue;
        const memory_content *c = &m->contents[entries[i].content];
        size_t n = c->size;
        bool   synced = c->size == c->durable_size && memcmp(c->bytes, c->durable, n) == 0;
        char  *bytes = calloc(n + 1, 1);
        memcpy(bytes, c->durable, c->durable_size < n ? c->durable_size : n);
        switch (synced ? 0 : roll(&state) % 5) {
        case 0: memcpy(bytes, c->bytes, n); break;
        case 1: n = c->durable_size; break;
        case 2: break;
        case 3: tear(bytes, c, &state); break;
        default:
            n = roll(&state) % (n + 1);
            memcpy(bytes, c->bytes, n);
            break;
        }
        memory_files_put(after, entries[i].name, bytes, n);
        free(bytes);
    }
}

/* ------------------------------------------------------------ allocator -- */

static void *failing_allocate(void *context, size_t size)
{
    failing_allocator *f = context;
    long call = ++f->calls;
    if (f->at > 0 && (f->persistent ? call >= f->at : call == f->at)) return NULL;
    void *p = malloc(size);
    if (p) f->live += (long)size;
    return p;
}

static void failing_release(void *context, void *p, size_t size)
{
    failing_allocator *f = context;
    f->live -= (long)size;
    free(p);
}

void failing_allocator_init(failing_allocator *f)
{
    *f = (failing_allocator){ .table = { failing_allocate, failing_release, f } };
}
