/* interruptible.h -- calls that do not look at the stop, such as those of LAPACK and FFTW, in runs
 * that must end early all the same: each runs in a thread of its own, and a run that must end does
 * not wait for it. */
#ifndef EDDY_GRAPH_BASE_INTERRUPTIBLE_H
#define EDDY_GRAPH_BASE_INTERRUPTIBLE_H

#include "graph/base/base.h"
#include "graph/base/stop.h"

/* The first member of the struct of a call, which begins a block with all memory that it uses. */
typedef struct eddy_call_block {
    struct eddy_call_block *next;        /* among those that are not in use */
    const atomic_uint      *requests;    /* of the session */
    eddy_allocator          allocator;
    void                   *base;
    uint64_t                bytes;
    bool                    late;        /* memory of a stopped run, which the next run frees */
} eddy_call_block;

/* A block of at least so many bytes, aligned to 64 bytes, of which only that struct is initialized;
 * NULL if out of memory. The session of these requests keeps it for later calls. */
void *eddy__call_block(const eddy_allocator *a, const atomic_uint *requests, uint64_t bytes);
void  eddy__call_block_give(void *block);
/* Of the blocks that the session keeps: their bytes; frees them. */
uint64_t eddy__call_blocks_bytes(const atomic_uint *requests);
void     eddy__call_blocks_free(const atomic_uint *requests);

/* Releases aligned memory of a run. If the run was stopped and the block is large, the next run of
 * the session does it, since the system may take many milliseconds to get its pages back. Then the
 * allocator, or the one below its limit, must outlive the session. */
void eddy__release_late(const eddy_stop *stop, const eddy_allocator *a, void *base, uint64_t bytes);
/* Of blocks that stopped runs have left. */
void eddy__late_blocks_free(const atomic_uint *requests);

/* True after call(block), which ran in another thread with the floating-point environment of this
 * one. False if the run must end first; then the block belongs to the call, which uses no memory of
 * the run, and is freed after it. Runs in this thread if nothing can stop the run, or if no thread
 * can be made. While as many calls as there are cores have been left behind, no other one
 * begins. */
bool eddy__interruptible(const eddy_stop *stop, void (*call)(void *block), void *block);

/* Waits until the calls that were left behind by runs with these requests have ended. At exit, and
 * when the library is unloaded, all are waited for. */
void eddy__interruptible_wait(const atomic_uint *requests);

/* Copies n bytes, or some of them if the run must end. */
void eddy__copy_or_stop(const eddy_stop *stop, void *to, const void *from, size_t n);

#endif
