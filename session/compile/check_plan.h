/* check_plan.h -- the state of the check of a plan; private to check_plan.c, check_access.c and
 * check_fused.c. */
#ifndef EDDY_SESSION_COMPILE_CHECK_PLAN_H
#define EDDY_SESSION_COMPILE_CHECK_PLAN_H

#include "session/compile/fused_loop.h"

#include <string.h>

enum { NEVER = -1 };

/* Bytes of the arena in use from one time to another, inclusive. */
typedef struct region {
    uint64_t offset, bytes;
    int32_t first, last, root;      /* root -1: scratch */
    int32_t chain;           /* the only chain that uses the region; -1 if other code uses it too */
} region;

/* An instruction of a chain that reads or writes this memory. */
typedef struct access {
    const eddy_buffer *of;
    int32_t            chain, other;    /* other: the access before of the same root; -1 */
    bool               writes;
} access;

typedef struct checker {
    const eddy_plan *p;
    eddy_error      *error;
    int32_t          at;            /* the instruction */
    int32_t          time;
    int32_t          chain, chains;  /* the current chain, or -1; chains so far */
    int32_t         *begin;         /* by instruction: its time */
    int32_t         *happens;       /* by time: its instruction */
    uint8_t         *written;       /* by buffer: an instruction writes it */
    int32_t         *holds;         /* by root: the buffer that was written there last */
    int32_t         *first, *last;  /* by root: times of the first and last access to its memory */
    int32_t         *chain_of;      /* by root: see region.chain */
    access          *accesses;      /* the accesses made by the chains of one instruction */
    int32_t         *last_access;   /* by root */
    int32_t          n_accesses;
    region          *regions;
    int32_t          n_regions;
    eddy_arena       arena;         /* owns all arrays above */
} checker;

/* n zeroed items, at least one; NULL if out of memory. */
static inline void *eddy__check_alloc(checker *c, size_t n, size_t size)
{
    void *p = eddy__arena_alloc(&c->arena, (n + 1) * size);
    return p ? memset(p, 0, (n + 1) * size) : NULL;
}

static inline int32_t buffer_number(const checker *c, const eddy_buffer *b)
{
    return (int32_t)(b - c->p->buffers);
}

static inline int32_t root_of(const checker *c, const eddy_buffer *b)
{
    return c->p->buffer_root[buffer_number(c, b)];
}

/* Bytes from the beginning of the root's memory to b. */
static inline uint64_t begin_of(const checker *c, const eddy_buffer *b)
{
    return c->p->buffer_at[buffer_number(c, b)];
}

/* check_access.c */
/* Records what is wrong at the instruction; returns false. */
bool eddy__check_fail(const checker *c, const char *what);
/* Both are in the same memory. */
bool eddy__check_overlap(const checker *c, const eddy_buffer *a, const eddy_buffer *b);
/* The buffer that holds the elements of b and was written by an instruction. */
int32_t eddy__check_source(const checker *c, const eddy_buffer *b);
/* Notes that memory is read or written now. */
bool eddy__check_note(checker *c, const eddy_buffer *b, bool writes);
/* An instruction reads, or writes, b. */
bool eddy__check_read(checker *c, const eddy_buffer *b);
bool eddy__check_write(checker *c, const eddy_buffer *b, const eddy_op_def *op);

/* check_fused.c */
bool eddy__check_fused(checker *c, const instruction *i);

#endif
