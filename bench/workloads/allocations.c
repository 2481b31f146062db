/* allocations.c -- counts the program's own calls of malloc and related functions, which the linker
 * replaces by these functions (-Wl,--wrap). */
#include "bench/workloads/allocations.h"

#include <stdatomic.h>
#include <stddef.h>

static atomic_long calls;

long allocations_so_far(void) { return atomic_load(&calls); }

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int   __real_posix_memalign(void **p, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int   __wrap_posix_memalign(void **p, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **p, size_t alignment, size_t size)
{
    atomic_fetch_add(&calls, 1);
    return __real_posix_memalign(p, alignment, size);
}
