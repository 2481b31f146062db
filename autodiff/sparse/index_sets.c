/* index_sets.c -- sets of indices: unions, and a hash table by which equal sets are the same. */
#include "autodiff/sparse/index_sets.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

/* Doubles the table and enters all sets again. */
static bool make_room(eddy_index_sets *s)
{
    const int32_t room = s->room > 0 ? 2 * s->room : FIRST_ROOM;
    void         *sets = s->sets, *buckets = NULL;
    if (s->room > INT32_MAX / 2 ||
        !eddy__grow(s->allocator, &buckets, 0, (size_t)room, sizeof *s->buckets))
        return false;
    if (!eddy__grow(s->allocator, &sets, (size_t)s->room, (size_t)room, sizeof *s->sets)) {
        eddy__release(s->allocator, buckets, (size_t)room * sizeof *s->buckets);
        return false;
    }
    eddy__release(s->allocator, s->buckets, (size_t)s->room * sizeof *s->buckets);
    s->sets = sets;
    s->buckets = buckets;
    s->room = room;
    for (int32_t id = 1; id < s->size; id++) {
        int32_t *first = &s->buckets[s->sets[id].hash & (uint64_t)(room - 1)];
        s->sets[id].next = *first;
        *first = id;
    }
    return true;
}

bool eddy__index_sets_begin(eddy_index_sets *s, const eddy_allocator *a, int64_t limit)
{
    size_t stamps, sum;
    *s = (eddy_index_sets){ .allocator = a, .arena.allocator = a, .limit = limit, .size = 1 };
    if (!eddy__size_mul((size_t)limit + 1, sizeof *s->stamps, &stamps) ||
        !eddy__size_mul((size_t)limit + 1, sizeof *s->sum, &sum))
        return false;
    s->stamps = eddy__arena_alloc(&s->arena, stamps);
    s->sum = eddy__arena_alloc(&s->arena, sum);
    if (!s->stamps || !s->sum) return false;
    memset(s->stamps, 0, stamps);
    return make_room(s);
}

void eddy__index_sets_end(eddy_index_sets *s)
{
    eddy__release(s->allocator, s->sets, (size_t)s->room * sizeof *s->sets);
    eddy__release(s->allocator, s->buckets, (size_t)s->room * sizeof *s->buckets);
    eddy__arena_free(&s->arena);
}

void eddy__sum_begin(eddy_index_sets *s)
{
    s->n_sum = 0;
    if (s->stamp++ < INT32_MAX - 1) return;
    for (int64_t i = 0; i < s->limit; i++) s->stamps[i] = 0;
    for (int32_t id = 0; id < s->size; id++) s->sets[id].stamp = 0;
    s->stamp = 1;
}

void eddy__sum_add_index(eddy_index_sets *s, int64_t i)
{
    if (s->stamps[i] == s->stamp) return;
    s->stamps[i] = s->stamp;
    s->sum[s->n_sum++] = i;
}

void eddy__sum_add(eddy_index_sets *s, int32_t set)
{
    eddy_index_set *from = &s->sets[set];
    if (from->stamp == s->stamp) return;
    from->stamp = s->stamp;
    for (int64_t i = 0; i < from->n; i++) eddy__sum_add_index(s, from->at[i]);
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int32_t eddy__sum_end(eddy_index_sets *s)
{
    uint64_t     hash = 0;
    const size_t bytes = (size_t)s->n_sum * sizeof *s->sum;
    if (s->n_sum == 0 || s->status != EDDY_OK) return 0;
    qsort(s->sum, (size_t)s->n_sum, sizeof *s->sum, ascending);
    for (int64_t i = 0; i < s->n_sum; i++)
        hash = (hash ^ (uint64_t)s->sum[i]) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29;
    for (int32_t id = s->buckets[hash & (uint64_t)(s->room - 1)]; id; id = s->sets[id].next)
        if (s->sets[id].hash == hash && s->sets[id].n == s->n_sum &&
            memcmp(s->sets[id].at, s->sum, bytes) == 0)
            return id;
    s->members += s->n_sum;
    int64_t *at = s->members <= EDDY_MOST_MEMBERS ? eddy__arena_alloc(&s->arena, bytes) : NULL;
    if (!at || (s->size == s->room && !make_room(s))) {
        s->status = s->members <= EDDY_MOST_MEMBERS ? EDDY_NO_MEMORY : EDDY_LIMIT;
        return 0;
    }
    memcpy(at, s->sum, bytes);
    int32_t *first = &s->buckets[hash & (uint64_t)(s->room - 1)];
    s->sets[s->size] = (eddy_index_set){ .at = at, .n = s->n_sum, .hash = hash, .next = *first };
    *first = s->size;
    return s->size++;
}

/* Each element of a is in b. */
static bool is_part(const eddy_index_set *a, const eddy_index_set *b)
{
    bool in = a->n <= b->n;
    for (int64_t i = 0; in && i < a->n; i++)
        in = bsearch(&a->at[i], b->at, (size_t)b->n, sizeof *b->at, ascending) != NULL;
    return in;
}

int32_t eddy__union_of(eddy_index_sets *s, int32_t a, int32_t b)
{
    if (a == b || b == 0) return a;
    if (a == 0 || is_part(&s->sets[a], &s->sets[b])) return b;
    if (is_part(&s->sets[b], &s->sets[a])) return a;
    eddy__sum_begin(s);
    eddy__sum_add(s, a);
    eddy__sum_add(s, b);
    return eddy__sum_end(s);
}
