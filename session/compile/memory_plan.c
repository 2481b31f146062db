/* memory_plan.c -- memory planning: offsets of temporaries in one arena.
 *
 * A plan of ordinary size places the largest temporaries first, each at the lowest offset that
 * is free for its whole lifetime (greedy by size; Pisarchyk and Lee 2020, "Efficient memory
 * management for deep neural net inference"). This is quadratic, so a plan with very many
 * temporaries is placed in one pass over the schedule with a free list for each size. */
#include "session/state/internal.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, FEW_ROOTS = 4096 };

static uint64_t rounded(uint64_t bytes)
{
    return bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static bool is_temp(const plan_root *r) { return r->kind == VALUE_TEMP && r->first >= 0; }

static int by_size(const void *a, const void *b)
{
    const plan_root *x = *(plan_root *const *)a, *y = *(plan_root *const *)b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x > y) - (x < y);
}

static bool overlap(const plan_root *a, const plan_root *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Places t[i] among t[0..i), which `placed` lists by offset. */
static uint64_t place(plan_root *r, plan_root **placed, int32_t n)
{
    uint64_t at = 0;
    for (int32_t k = 0; k < n; k++) {
        if (!overlap(r, placed[k])) continue;
        if (placed[k]->offset >= at + rounded(r->bytes)) break;
        uint64_t end = placed[k]->offset + rounded(placed[k]->bytes);
        if (end > at) at = end;
    }
    r->offset = at;
    int32_t k = n;
    while (k > 0 && placed[k - 1]->offset > at) {
        placed[k] = placed[k - 1];
        k--;
    }
    placed[k] = r;
    return at + rounded(r->bytes);
}

static uint64_t greedy(plan_root **t, int32_t n, plan_root **placed)
{
    uint64_t total = 0;
    for (int32_t i = 0; i < n; i++) {
        uint64_t end = place(t[i], placed, i);
        if (end > total) total = end;
    }
    return total;
}

/* Moves the temporary with the highest end to the front. */
static void move_highest_first(plan_root **t, int32_t n, uint64_t total)
{
    int32_t i = 0;
    while (i < n - 1 && t[i]->offset + rounded(t[i]->bytes) < total) i++;
    plan_root *highest = t[i];
    memmove(t + 1, t, (size_t)i * sizeof *t);
    t[0] = highest;
}

static int64_t lifetime(const plan_root *r) { return (int64_t)r->last - r->first; }

static int by_area(const void *a, const void *b)
{
    const plan_root *x = *(plan_root *const *)a, *y = *(plan_root *const *)b;
    const double     p = (double)x->bytes * (double)(lifetime(x) + 1);
    const double     q = (double)y->bytes * (double)(lifetime(y) + 1);
    return p != q ? (p < q) - (p > q) : by_size(a, b);
}

static int by_lifetime(const void *a, const void *b)
{
    const plan_root *x = *(plan_root *const *)a, *y = *(plan_root *const *)b;
    return lifetime(x) != lifetime(y) ? (lifetime(x) < lifetime(y)) - (lifetime(x) > lifetime(y))
                                      : by_size(a, b);
}

/* Places the largest first. While the arena is larger than the live memory and time permits,
 * tries other orders, and variants of each in which the highest temporary comes first. */
static uint64_t best_greedy(plan_root **t, int32_t n, plan_root **placed, plan_root *roots,
                            uint64_t *offset, uint64_t live)
{
    enum { COMPARISONS = 1 << 20, ORDERS = 3, ROUNDS = 40 };
    int  (*const orders[ORDERS])(const void *, const void *) = { by_size, by_area, by_lifetime };
    uint64_t least = UINT64_MAX;
    if (n == 0) return 0;
    for (int64_t round = 0; round < ORDERS * ROUNDS && least > live; round++) {
        if (round > 0 && round * n * n > COMPARISONS) break;
        if (round % ROUNDS == 0) qsort(t, (size_t)n, sizeof *t, orders[round / ROUNDS]);
        const uint64_t total = greedy(t, n, placed);
        if (total < least)
            for (int32_t i = 0; i < n; i++) offset[t[i] - roots] = t[i]->offset;
        if (total < least) least = total;
        move_highest_first(t, n, total);
    }
    for (int32_t i = 0; i < n; i++) t[i]->offset = offset[t[i] - roots];
    return least;
}

/* Size classes that waste at most an eighth. */
static int size_class(uint64_t bytes, uint64_t *size)
{
    uint64_t units = rounded(bytes) / ALIGN;
    int      shift = 0;
    while (units >> shift >= 16) shift++;
    uint64_t top = (units + ((uint64_t)1 << shift) - 1) >> shift;
    *size = (top << shift) * ALIGN;
    return shift * 16 + (int)(top % 16) + (top == 16 ? 16 : 0);
}

static int by_first(const void *a, const void *b)
{
    const plan_root *x = *(plan_root *const *)a, *y = *(plan_root *const *)b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x > y) - (x < y);
}

/* One pass over the schedule: at each position, takes free memory of the size class, then frees
 * the memory of roots that end there. `next` links the roots that end at a position, and the
 * free ones. */
static uint64_t walk(const eddy_allocator *a, plan_root **t, int32_t n, int32_t positions)
{
    enum { CLASSES = 64 * 16 };
    uint64_t total = 0, size;
    size_t   bytes_ends = (size_t)(positions + 1) * sizeof(int32_t),
           bytes_next = (size_t)n * sizeof(int32_t);
    int32_t *ends = eddy__allocate(a, bytes_ends), *next = eddy__allocate(a, bytes_next),
            free_list[CLASSES];
    if (ends && next) {
        memset(ends, -1, bytes_ends);
        memset(free_list, -1, sizeof free_list);
        qsort(t, (size_t)n, sizeof *t, by_first);
        for (int32_t pos = 0, i = 0; pos <= positions; pos++) {
            for (; i < n && t[i]->first == pos; i++) {
                int c = size_class(t[i]->bytes, &size);
                if (free_list[c] >= 0) {
                    t[i]->offset = t[free_list[c]]->offset;
                    free_list[c] = next[free_list[c]];
                } else {
                    t[i]->offset = total;
                    total += size;
                }
                if (t[i]->last > positions) continue;
                next[i] = ends[t[i]->last];
                ends[t[i]->last] = i;
            }
            for (int32_t k = ends[pos], after; k >= 0; k = after) {
                after = next[k];
                int c = size_class(t[k]->bytes, &size);
                next[k] = free_list[c];
                free_list[c] = k;
            }
        }
    } else total = UINT64_MAX;
    eddy__release(a, ends, bytes_ends);
    eddy__release(a, next, bytes_next);
    return total;
}

/* The largest number of bytes alive at one position, a lower bound for any placement; UINT64_MAX if
 * out of memory. */
static uint64_t lower_bound(const eddy_allocator *a, plan_root **t, int32_t n, int32_t positions)
{
    size_t   bytes = (size_t)(positions + 2) * sizeof(int64_t);
    uint64_t most = 0;
    int64_t *change = eddy__allocate_zeroed(a, (size_t)positions + 2, sizeof *change), alive = 0;
    if (!change) return UINT64_MAX;
    for (int32_t i = 0; i < n; i++) {
        int32_t last = t[i]->last > positions ? positions : t[i]->last;
        change[t[i]->first] += (int64_t)rounded(t[i]->bytes);
        change[last + 1] -= (int64_t)rounded(t[i]->bytes);
    }
    for (int32_t p = 0; p <= positions; p++) {
        alive += change[p];
        if (alive > 0 && (uint64_t)alive > most) most = (uint64_t)alive;
    }
    eddy__release(a, change, bytes);
    return most;
}

bool eddy__plan_memory(const eddy_allocator *a, plan_root *roots, int32_t n_roots,
                       int32_t positions, bool reuse, uint64_t *arena_bytes, uint64_t *live_bytes)
{
    size_t      bytes = (size_t)n_roots * (2 * sizeof(plan_root *) + sizeof(uint64_t));
    plan_root **t = eddy__allocate(a, bytes);
    int32_t     n = 0;
    if (!t) return false;
    for (int32_t i = 0; i < n_roots; i++)
        if (is_temp(&roots[i])) t[n++] = &roots[i];
    *arena_bytes = *live_bytes = lower_bound(a, t, n, positions);
    if (*live_bytes == UINT64_MAX) {
        eddy__release(a, t, bytes);
        return false;
    }
    if (!reuse) {
        *arena_bytes = 0;
        for (int32_t i = 0; i < n; i++) {
            t[i]->offset = *arena_bytes;
            *arena_bytes += rounded(t[i]->bytes);
        }
    } else if (n <= FEW_ROOTS) {
        uint64_t *offset = (uint64_t *)(void *)(t + 2 * n_roots);
        *arena_bytes = best_greedy(t, n, t + n_roots, roots, offset, *live_bytes);
    } else *arena_bytes = walk(a, t, n, positions);
    eddy__release(a, t, bytes);
    return *arena_bytes != UINT64_MAX;
}
