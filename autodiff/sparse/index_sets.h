/* index_sets.h -- sets of indices, each stored once. Private to this folder. */
#ifndef EDDY_AUTODIFF_SPARSE_INDEX_SETS_H
#define EDDY_AUTODIFF_SPARSE_INDEX_SETS_H

#include "graph/base/base.h"

typedef struct eddy_index_set {
    const int64_t *at;             /* ascending */
    int64_t        n;
    uint64_t       hash;
    int32_t        next;           /* in its list of the hash table; 0: the last one */
    int32_t        stamp;          /* of the latest sum that it is in */
    bool           joined;         /* its elements are partners already; for dependence.c */
} eddy_index_set;

/* The most members of all sets, or elements of a matrix, 2 GiB. */
enum { EDDY_MOST_MEMBERS = 1 << 28 };

/* Set 0 is empty. A sum is made of sets and indices, one at a time. */
typedef struct eddy_index_sets {
    const eddy_allocator *allocator;
    eddy_arena            arena;
    int64_t               limit;          /* indices are below */
    int32_t               size, room;     /* of sets */
    eddy_index_set       *sets;
    int32_t              *buckets;        /* as many as `room` */
    int32_t               stamp;
    int32_t              *stamps;         /* of each index */
    int64_t              *sum, n_sum;
    int64_t               members;        /* of all sets */
    eddy_status           status;         /* EDDY_NO_MEMORY, EDDY_LIMIT: all sums are set 0 then */
} eddy_index_sets;

/* False if out of memory; to be ended in either case. */
bool eddy__index_sets_begin(eddy_index_sets *s, const eddy_allocator *a, int64_t limit);
void eddy__index_sets_end(eddy_index_sets *s);

void    eddy__sum_begin(eddy_index_sets *s);
void    eddy__sum_add(eddy_index_sets *s, int32_t set);
void    eddy__sum_add_index(eddy_index_sets *s, int64_t i);
int32_t eddy__sum_end(eddy_index_sets *s);

int32_t eddy__union_of(eddy_index_sets *s, int32_t a, int32_t b);

#endif
