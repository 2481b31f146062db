/* base.h -- services that need no graph: checked sizes, memory, live handles, errors; not
 * installed. */
#ifndef EDDY_GRAPH_BASE_BASE_H
#define EDDY_GRAPH_BASE_BASE_H

#include <stdarg.h>
#include <stdatomic.h>
#include "graph/op.h"

/* ------------------------------------------------------- sizes, memory -- */

/* The most bytes of an array, so that they fit size_t. */
static const int64_t eddy__most_bytes = (int64_t)1 << (sizeof(void *) > 4 ? 47 : 30);

/* False on overflow; *out is then unchanged. */
static inline bool eddy__size_mul(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}
static inline bool eddy__size_add(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_add_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

extern const eddy_allocator eddy__libc;
/* A valid pointer even if size is 0; NULL only if out of memory. */
void *eddy__allocate(const eddy_allocator *a, size_t size);
void                       *eddy__allocate_zeroed(const eddy_allocator *a, size_t count,
                                                  size_t size); /* checked product */
void  eddy__release(const eddy_allocator *a, void *p, size_t size);              /* NULL is fine */
/* Grows *p from old_count to new_count elements of `size` bytes, keeping the contents and
 * zeroing the rest; false, with *p unchanged, if out of memory. */
bool  eddy__grow(const eddy_allocator *a, void **p, size_t old_count, size_t new_count, size_t size);
/* `size` bytes aligned to 64 bytes, in 64 bits on every machine; pass *base to
 * eddy__release_aligned. */
void *eddy__allocate_aligned(const eddy_allocator *a, uint64_t size, void **base);
void  eddy__release_aligned(const eddy_allocator *a, void *base, uint64_t size);

/* A bump allocator, in chunks that never move; freed or reused as a whole. */
typedef struct eddy_arena {
    const eddy_allocator *allocator;
    struct eddy_chunk    *chunks, *spare;   /* spare: of items that eddy__arena_reset ended */
    size_t                bytes;            /* of all chunks, including spare ones */
} eddy_arena;
void *eddy__arena_alloc(eddy_arena *a, size_t size); /* 16-byte aligned; NULL if out */
char *eddy__arena_text(eddy_arena *a, const char *s, size_t length); /* copy, with a final 0 */
/* The latest item is not needed; its memory is reused if it is not in a chunk of its own. */
void  eddy__arena_return(eddy_arena *a, void *item);
void  eddy__arena_reset(eddy_arena *a);     /* ends all items; new ones reuse their memory */
void  eddy__arena_free(eddy_arena *a);      /* ends all items and frees all memory */

bool eddy__array_is_shared(const eddy_array *a);    /* more than one reference */
bool eddy__array_is_borrowed(const eddy_array *a);  /* refers to memory that it does not own */

/* -------------------------------------------------------- live handles -- */

/* The addresses of live objects, so that using a freed handle is an error and not a crash; with
 * their kind, because freed memory is soon reused for another kind. */
typedef enum eddy_live_kind {
    EDDY_LIVE_GRAPH,
    EDDY_LIVE_SESSION,
    EDDY_LIVE_CALLABLE,
    EDDY_LIVE_OPTIMIZER,
    EDDY_LIVE_TAPE
} eddy_live_kind;
bool eddy__live_add(const void *object, eddy_live_kind kind);
void eddy__live_remove(const void *object);
bool eddy__live(const void *object, eddy_live_kind kind);  /* false for NULL */

/* -------------------------------------------------------------- errors -- */

/* Set *e unless it already holds an error; e may be NULL. Returns false. */
bool eddy__error_set(eddy_error *e, eddy_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool eddy__error_vset(eddy_error *e, eddy_status s, const char *fmt, va_list args);

/* "MatMul(float32[?,784], float32[785,128]): <reason> [node 'name']". */
void eddy__op_message(char *buf, size_t size, const eddy_op_def *op, int n, const eddy_type *in,
                      const char *reason, const char *node);

#endif
