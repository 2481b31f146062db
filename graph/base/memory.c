/* memory.c -- memory allocation for the whole library, and the arena from which graphs and plans
 * are allocated. */
#define _DEFAULT_SOURCE
#include "graph/base/base.h"
#include "graph/base/sanitizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 };

/* Under AddressSanitizer, no code may touch what lies before or behind a block or an item, or items
 * of an arena that was reset. */
#ifdef EDDY_ADDRESS_SANITIZER
enum { guard = 16 };
#else
enum { guard = 0 };
#endif

/* Asks the system to use huge pages where the block fills them, which reduces TLB misses. */
static void advise_huge_pages(void *p, size_t size)
{
#ifdef MADV_HUGEPAGE
    const int       kept = errno;
    const uintptr_t at = (uintptr_t)p, mask = HUGE_PAGE - 1;
    const uintptr_t from = (at + mask) & ~mask, to = (at + size) & ~mask;
    if (from < to) madvise((char *)p + (from - at), to - from, MADV_HUGEPAGE);   /* or without */
    errno = kept;
#else
    (void)p, (void)size;
#endif
}

/* On 64 bits, the GNU C library takes blocks of at most KEPT_PAGES huge pages from its heap once a
 * block of that size was freed, with pages that the system need not provide and clear again:
 * results of 4 MB took 6 times as long with an alignment, for which it maps memory each time. The
 * advice stays with the pages, for what the heap holds there later. */
static void *libc_allocate(void *context, size_t size)
{
    enum { KEPT_PAGES = 15 };
    (void)context;
    if (size < HUGE_PAGE) return malloc(size);
    void *p = NULL;
    if (size <= (size_t)KEPT_PAGES * HUGE_PAGE) p = malloc(size);
    else if (posix_memalign(&p, HUGE_PAGE, size) != 0) return NULL;
    if (p) advise_huge_pages(p, size);
    return p;
}
static void libc_release(void *context, void *p, size_t size)
{
    (void)context;
    if (!eddy__has_size(p, size)) abort();
    free(p);
}
const eddy_allocator eddy__libc = { libc_allocate, libc_release, NULL };

void *eddy__allocate(const eddy_allocator *a, size_t size)
{
    if (!a->allocate || !a->release) return NULL;
    return a->allocate(a->context, size ? size : 1);
}

void *eddy__allocate_zeroed(const eddy_allocator *a, size_t count, size_t size)
{
    size_t bytes;
    if (!eddy__size_mul(count, size, &bytes)) return NULL;
    void *p = eddy__allocate(a, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void eddy__release(const eddy_allocator *a, void *p, size_t size)
{
    if (p) a->release(a->context, p, size ? size : 1);
}

bool eddy__grow(const eddy_allocator *a, void **p, size_t old_count, size_t new_count, size_t size)
{
    void *bigger = eddy__allocate_zeroed(a, new_count, size);
    if (!bigger) return false;
    if (*p) memcpy(bigger, *p, old_count * size);
    eddy__release(a, *p, old_count * size);
    *p = bigger;
    return true;
}

enum { ALIGNMENT = 64 };

/* Large blocks begin at huge pages. Without a shift, elements of one index would lie in the same
 * set of the first cache in every array, and loops over several arrays would wait for it: a step
 * of Adam with ten million parameters takes a third longer. */
enum { SHIFTS = 13, SHIFT = 17 * ALIGNMENT };

static size_t with_margin(size_t size)
{
    return size < HUGE_PAGE ? ALIGNMENT : ALIGNMENT + SHIFTS * SHIFT;
}

void *eddy__allocate_aligned(const eddy_allocator *a, uint64_t bytes, void **base)
{
    if (bytes > PTRDIFF_MAX) return NULL;
    const size_t size = (size_t)bytes;
    *base = eddy__allocate(a, size + with_margin(size));
    if (!*base) return NULL;
    uintptr_t at = ((uintptr_t)*base + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    if (size >= HUGE_PAGE) at += at / HUGE_PAGE % SHIFTS * SHIFT;
    eddy__forbid(*base, size + with_margin(size));
    eddy__permit((void *)at, size);
    return (void *)at;
}

void eddy__release_aligned(const eddy_allocator *a, void *base, uint64_t bytes)
{
    const size_t size = (size_t)bytes + with_margin((size_t)bytes);
    if (base) eddy__permit(base, size);
    eddy__release(a, base, size);
}

/* --------------------------------------------------------------- arena -- */

typedef struct eddy_chunk {
    struct eddy_chunk *next;
    size_t             size, used;      /* bytes of the whole chunk, header included */
} eddy_chunk;

/* Where EDDY_SMALL_BLOCKS is defined, tests may ask for a chunk for each item, so that any item can
 * find no memory. */
#ifdef EDDY_SMALL_BLOCKS
extern bool eddy__small_chunks;
bool        eddy__small_chunks;
#else
enum { eddy__small_chunks = false };
#endif

static const size_t header_size = (sizeof(eddy_chunk) + 15) / 16 * 16, first_chunk = 4096,
                    doubled_chunk = 1 << 20, large_item = 1 << 17;

/* Chunks double up to a size, and then grow with the arena, by whole huge pages. */
static size_t next_chunk(const eddy_arena *a)
{
    const size_t size = a->chunks ? a->chunks->size * 2 : first_chunk,
                 part = a->bytes / 8 / HUGE_PAGE * HUGE_PAGE;
    if (part > 0) return part;
    return size < doubled_chunk ? size : doubled_chunk;
}

/* The smallest spare chunk of this size; NULL if there is none. */
static eddy_chunk *take_spare(eddy_arena *a, size_t size)
{
    eddy_chunk **best = NULL;
    for (eddy_chunk **at = &a->spare; *at; at = &(*at)->next)
        if ((*at)->size >= size && (!best || (*at)->size < (*best)->size)) best = at;
    eddy_chunk *c = best ? *best : NULL;
    if (c) *best = c->next;
    return c;
}

static eddy_chunk *new_chunk(eddy_arena *a, size_t size)
{
    eddy_chunk *c = eddy__allocate(a->allocator, size);
    if (!c) return NULL;
    c->size = size;
    a->bytes += size;
    return c;
}

/* A large item gets a chunk of its own, behind the one that smaller items continue to fill. */
static eddy_chunk *arena_grow(eddy_arena *a, size_t need)
{
    size_t     size = next_chunk(a);
    const bool alone = a->chunks && need > large_item;
    if (alone || eddy__small_chunks || size < need + header_size) size = need + header_size;
    eddy_chunk *c = take_spare(a, size);
    if (!c) c = new_chunk(a, size);
    if (!c) return NULL;
    c->used = header_size;
    eddy__forbid((char *)c + header_size, c->size - header_size);
    eddy_chunk **at = alone ? &a->chunks->next : &a->chunks;
    c->next = *at;
    *at = c;
    return c;
}

void *eddy__arena_alloc(eddy_arena *a, size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    const size_t room = ((size + 15) & ~(size_t)15) + guard;
    eddy_chunk  *c = a->chunks;
    if (!c || c->size - c->used < room) c = arena_grow(a, room);
    if (!c) return NULL;
    void *p = (char *)c + c->used;
    eddy__permit(p, size);
    c->used += room;
    return p;
}

char *eddy__arena_text(eddy_arena *a, const char *s, size_t length)
{
    char *p = eddy__arena_alloc(a, length + 1);
    if (!p) return NULL;
    memcpy(p, s, length);
    p[length] = 0;
    return p;
}

void eddy__arena_return(eddy_arena *a, void *item)
{
    eddy_chunk *c = a->chunks;
    if (!c || (char *)item <= (char *)c || (char *)item >= (char *)c + c->used) return;
    c->used = (size_t)((char *)item - (char *)c);
    eddy__forbid(item, c->size - c->used);
}

void eddy__arena_reset(eddy_arena *a)
{
    while (a->chunks) {
        eddy_chunk *c = a->chunks;
        eddy__forbid((char *)c + header_size, c->size - header_size);
        a->chunks = c->next;
        c->next = a->spare;
        a->spare = c;
    }
}

void eddy__arena_free(eddy_arena *a)
{
    eddy__arena_reset(a);
    while (a->spare) {
        eddy_chunk *next = a->spare->next;
        eddy__permit(a->spare, a->spare->size);
        eddy__release(a->allocator, a->spare, a->spare->size);
        a->spare = next;
    }
    a->bytes = 0;
}
