/* kernel.h -- the state of a kernel, as the library sees it; not installed. */
#ifndef EDDY_KERNEL_H
#define EDDY_KERNEL_H

#include "graph/internal.h"

/* The form in which a kernel reads an operand, such as panels of a matrix: `bytes` bytes at a
 * multiple of 64, which pack(how, from, to, stop) writes, if no stop is requested meanwhile. Forms of
 * one operand with the same layout have the same bytes. */
typedef struct eddy_packing {
    int64_t     layout[15];
    uint64_t    bytes;
    void      (*pack)(const void *how, const void *from, void *to, const struct eddy_stop *stop);
    const void *how;
} eddy_packing;

/* The packed form of an operand that several calls of a run read, in memory of the plan. The call
 * that finds it not ready packs it. */
typedef struct eddy_shared_packing {
    void *data;
    bool  ready;
} eddy_shared_packing;

/* eddy_kernel.impl. */
typedef struct eddy_kernel_call {
    const eddy_node *node;      /* named in messages */
    eddy_arena      *arena;     /* owns the memory that prepare allocates */
    eddy_error      *error;     /* where the kernel records why it failed */
    /* during prepare: the packed form of an operand that is the same in all runs, which stays until
     * the plan is freed; else NULL. Then *shared, if not NULL, is that of an operand which other
     * calls of a run read, too; else NULL. `packer` is NULL where no plan is compiled */
    const void    *(*pack)(void *packer, const eddy_buffer *operand, const eddy_packing *p,
                           eddy_shared_packing **shared);
    void            *packer;
    bool             no_memory; /* for a state; a kernel without one might compute other bits */
} eddy_kernel_call;

/* Calls `prepare`, which may be NULL. EDDY_NO_MEMORY if the kernel found none for its state. */
eddy_status eddy__kernel_prepare(eddy_kernel *k, eddy_status (*prepare)(eddy_kernel *));

/* Input i in a form that stays until the plan is freed, if its elements are the same in all runs
 * and there is memory for it; NULL if the kernel has to pack it in each run. Only in prepare. */
const void *eddy__kernel_packed(const eddy_kernel *k, int i, const eddy_packing *p);
/* The same, or *shared, if the elements stay the same while several calls of a run read them; NULL
 * if they do not. */
const void *eddy__kernel_packed_or_shared(const eddy_kernel *k, int i, const eddy_packing *p,
                                          eddy_shared_packing **shared);

/* As eddy_kernel_fail, for a message that names the call by itself: without the operation and the
 * types of its inputs. */
eddy_status eddy__kernel_fail_for_call(eddy_kernel *k, eddy_status s, const char *message);

#endif
