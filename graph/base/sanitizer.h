/* sanitizer.h -- whether this is compiled for AddressSanitizer, and what it is told and asked about
 * memory. */
#ifndef EDDY_GRAPH_BASE_SANITIZER_H
#define EDDY_GRAPH_BASE_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)       /* gcc */
#define EDDY_ADDRESS_SANITIZER
#elif defined(__has_feature)            /* clang */
#if __has_feature(address_sanitizer)
#define EDDY_ADDRESS_SANITIZER
#endif
#endif

/* No code may touch this memory; it may again; malloc was asked for so many bytes. */
#ifdef EDDY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
size_t __sanitizer_get_allocated_size(const volatile void *p);      /* gcc has no header for it */
static inline void eddy__forbid(void *p, size_t n) { __asan_poison_memory_region(p, n); }
static inline void eddy__permit(void *p, size_t n) { __asan_unpoison_memory_region(p, n); }
static inline bool eddy__has_size(void *p, size_t n)
{
    return __sanitizer_get_allocated_size(p) == n;
}
#else
static inline void eddy__forbid(void *p, size_t n) { (void)p, (void)n; }
static inline void eddy__permit(void *p, size_t n) { (void)p, (void)n; }
static inline bool eddy__has_size(void *p, size_t n) { return (void)p, (void)n, true; }
#endif

#endif
