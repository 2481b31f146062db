/* faults.c -- see faults.h. A program's own malloc takes the place of libc's in all shared
 * libraries; libc's, or that of a sanitizer, is the next one of this name. */
#define _GNU_SOURCE
#include "tests/torture/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static faults      plan;
static atomic_bool armed;
static atomic_long calls, failed, blocks;

void faults_begin(faults f)
{
    plan = f;
    atomic_store(&calls, 0);
    atomic_store(&failed, 0);
    atomic_store(&armed, true);
}

void faults_end(void) { atomic_store(&armed, false); }
long faults_calls(void) { return atomic_load(&calls); }
long faults_failed(void) { return atomic_load(&failed); }
long faults_blocks(void) { return atomic_load(&blocks); }

static uint32_t scrambled(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

static bool is_hit(long call)
{
    if (plan.one_in > 0)
        return scrambled((uint64_t)plan.seed << 32 | (uint64_t)call) % plan.one_in == 0;
    return plan.at > 0 && (plan.persistent ? call >= plan.at : call == plan.at);
}

static bool fails(void)
{
    if (!atomic_load_explicit(&armed, memory_order_relaxed)) return false;
    if (!is_hit(atomic_fetch_add(&calls, 1) + 1)) return false;
    atomic_fetch_add(&failed, 1);
    errno = ENOMEM;
    return true;
}

/* ----------------------------------------------------------- the real ones -- */

typedef void *(*malloc_fn)(size_t);
typedef void *(*calloc_fn)(size_t, size_t);
typedef void *(*realloc_fn)(void *, size_t);
typedef void *(*aligned_fn)(size_t, size_t);
typedef void  (*free_fn)(void *);

static struct {
    malloc_fn  malloc;
    calloc_fn  calloc;
    realloc_fn realloc;
    aligned_fn aligned;
    free_fn    free;
} real;

/* Memory that dlsym itself asks for; never freed. */
static char   early[8192];
static size_t early_used;

static void *early_block(size_t n)
{
    const size_t at = early_used;
    n = (n + 15) & ~(size_t)15;
    if (n > sizeof early - at) abort();
    early_used += n;
    return early + at;
}
static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

static void *next_of(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f) abort();
    return f;
}

/* False while dlsym looks for them. */
static bool found(void)
{
    static bool looking;
    if (real.free) return true;
    if (looking) return false;
    looking = true;
    void *f[] = { next_of("malloc"), next_of("calloc"), next_of("realloc"),
                  next_of("aligned_alloc"), next_of("free") };
    memcpy(&real, f, sizeof real);
    looking = false;
    return true;
}

static void *counted(void *p)
{
    if (p) atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    return p;
}

/* -------------------------------------------------------------- the new ones -- */

/* Shared libraries must see them, whatever the compiler's options say of other functions. */
#pragma GCC visibility push(default)

void *malloc(size_t n)
{
    if (!found()) return early_block(n);
    return fails() ? NULL : counted(real.malloc(n));
}

void *calloc(size_t n, size_t size)
{
    if (!found()) return early_block(n * size);
    return fails() ? NULL : counted(real.calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    if (!p) return malloc(n);
    if (is_early(p)) abort();
    return fails() ? NULL : real.realloc(p, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    if (!found()) return early_block(n);
    return fails() ? NULL : counted(real.aligned(alignment, n));
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    void *block = aligned_alloc(alignment, n);
    if (block) *p = block;
    return block ? 0 : ENOMEM;
}

/* Takes no memory in glibc for the locale "C", but may elsewhere. */
locale_t newlocale(int mask, const char *name, locale_t base)
{
    typedef locale_t (*newlocale_fn)(int, const char *, locale_t);
    static newlocale_fn next;
    if (!next) memcpy(&next, (void *[]){ next_of("newlocale") }, sizeof next);
    return fails() ? (locale_t)0 : next(mask, name, base);
}

void free(void *p)
{
    if (!p || is_early(p) || !found()) return;
    atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
    real.free(p);
}

#pragma GCC visibility pop
