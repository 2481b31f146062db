/* test_placing.c -- offsets of temporaries in the arena, for few and for very many: no two that are
 * alive together share a byte, and the arena is as small as it can be where that is known. */
#include "session/state/internal.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include <check.h>
#include <stdlib.h>

Suite *placing_suite(void);

enum { ALIGN = 64 };

static int64_t rounded(const plan_root *r)
{
    return r->bytes ? ((int64_t)r->bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static bool placed(const plan_root *r) { return r->kind == VALUE_TEMP && r->first >= 0; }

/* The most bytes alive at one position. */
static int64_t most_alive(const plan_root *r, int n, int positions)
{
    int64_t *change = calloc((size_t)positions + 2, sizeof *change), alive = 0, most = 0;
    for (int i = 0; i < n; i++) {
        if (!placed(&r[i])) continue;
        change[r[i].first] += rounded(&r[i]);
        if (r[i].last < positions) change[r[i].last + 1] -= rounded(&r[i]);
    }
    for (int p = 0; p <= positions; p++) {
        alive += change[p];
        if (alive > most) most = alive;
    }
    free(change);
    return most;
}

/* Whether both have a byte in common while both are needed. */
static bool share(const plan_root *a, const plan_root *b, bool reuse)
{
    if (!placed(b) || (reuse && (a->first > b->last || b->first > a->last))) return false;
    return (int64_t)a->offset + rounded(a) > (int64_t)b->offset &&
           (int64_t)b->offset + rounded(b) > (int64_t)a->offset;
}

/* Places the roots and checks everything. The size of the arena. */
static int64_t place(plan_root *r, int n, int positions, bool reuse)
{
    plan_root sum = { .bytes = 0 };             /* for two numbers of the planner's type */
    ck_assert(eddy__plan_memory(&eddy__libc, r, n, positions, reuse, &sum.bytes, &sum.offset));
    const int64_t arena = (int64_t)sum.bytes, live = (int64_t)sum.offset;
    ck_assert_int_eq(live, most_alive(r, n, positions));
    ck_assert_int_ge(arena, live);
    int wrong = 0;                              /* an assertion for each pair takes minutes */
    for (int i = 0; i < n; i++) {
        if (!placed(&r[i])) continue;
        wrong += r[i].offset % ALIGN != 0 || (int64_t)r[i].offset + rounded(&r[i]) > arena;
        for (int k = 0; k < i; k++) wrong += share(&r[i], &r[k], reuse);
    }
    ck_assert_int_eq(wrong, 0);
    return arena;
}

static plan_root root(int bytes, int first, int last)
{
    return (plan_root){
        .kind = VALUE_TEMP, .bytes = (uint32_t)bytes, .first = first, .last = last
    };
}

/* -------------------------------------------------------------------- a few -- */

static const struct {
    int n, bytes[4], first[4], last[4], arena, without;        /* with reuse, and without */
} few[] = {
    { 0, { 0 }, { 0 }, { 0 }, 0, 0 },
    { 1, { 0 }, { 0 }, { 0 }, 64, 64 },
    { 1, { 64 }, { 0 }, { 0 }, 64, 64 },
    { 1, { 65 }, { 0 }, { 0 }, 128, 128 },
    { 2, { 64, 64 }, { 0, 1 }, { 0, 1 }, 64, 128 },            /* one after the other */
    { 2, { 64, 64 }, { 0, 1 }, { 1, 1 }, 128, 128 },           /* both at position 1 */
    { 2, { 64, 200 }, { 0, 2 }, { 1, 3 }, 256, 320 },
    { 3, { 64, 64, 128 }, { 0, 0, 1 }, { 0, 0, 1 }, 128, 256 },
    { 3, { 64, 64, 64 }, { 0, 1, 2 }, { 1, 2, 3 }, 128, 192 },
    { 4, { 64, 128, 64, 128 }, { 0, 1, 2, 3 }, { 1, 2, 3, 4 }, 192, 384 },
    { 2, { 64, 64 }, { 0, 1 }, { INT32_MAX, 1 }, 128, 128 },   /* kept */
    { 2, { 64, 64 }, { 3, 4 }, { INT32_MAX, 4 }, 128, 128 },
};

START_TEST(a_few)
{
    plan_root r[6];
    const int n = few[_i].n;
    for (int i = 0; i < n; i++) r[i] = root(few[_i].bytes[i], few[_i].first[i], few[_i].last[i]);
    ck_assert_int_eq(place(r, n, 4, true), few[_i].arena);
    ck_assert_int_eq(place(r, n, 4, false), few[_i].without);
    /* Feeds, and temporaries that are never made, take no memory. */
    r[n] = (plan_root){ .kind = VALUE_TEMP, .bytes = 999, .first = -1, .last = 4, .offset = 7 };
    r[n + 1] = (plan_root){ .kind = VALUE_FEED, .bytes = 999, .first = 0, .last = 4, .offset = 7 };
    ck_assert_int_eq(place(r, n + 2, 4, true), few[_i].arena);
    ck_assert(r[n].offset == 7 && r[n + 1].offset == 7);
}
END_TEST

/* ---------------------------------------------------------------- very many -- */

/* Up to 4096 are placed by size, more in one pass. */
static const int counts[] = { 50, 1000, 4096, 4097 };

START_TEST(many)
{
    const int  n = counts[_i], positions = n / 4;
    plan_root *r = calloc((size_t)n, sizeof *r);
    uint32_t   seed = 1;
    int64_t    sum = 0;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        const int first = (int)((seed >> 8) % (uint32_t)positions);
        const int more = (int)(seed >> 20 & 7), bytes = (int)((seed >> 4) % 100000 >> (seed >> 28));
        r[i] = root(bytes, first, first + more > positions ? positions : first + more);
        if (i % 500 == 0) r[i].last = INT32_MAX;
        sum += rounded(&r[i]);
    }
    const int64_t arena = place(r, n, positions, true);
    ck_assert_int_lt(arena, n > 50 ? sum / 10 : sum);
    ck_assert_int_eq(place(r, n, positions, false), sum);
    free(r);
}
END_TEST

/* Equal sizes in one pass need no more memory than is alive. */
START_TEST(equal_sizes)
{
    enum { N = 4200 };
    plan_root *r = calloc(N, sizeof *r);
    for (int bytes = 60; bytes <= 70000; bytes = bytes * 30 + 1) {
        for (int i = 0; i < N; i++) r[i] = root(bytes, i / 2, i / 2 + i % 3);
        const int64_t arena = place(r, N, N / 2 + 2, true);
        const int64_t live = most_alive(r, N, N / 2 + 2);
        ck_assert_int_le(arena, live + live / 8);
    }
    free(r);
}
END_TEST

/* The same plans on every machine: a line of the golden file has the arena and the offsets, as a
 * checksum for more than eight roots. Lifetimes are short or long, sizes equal or not. */
static void record(int n, int positions, uint32_t seed, int longest, uint32_t most)
{
    plan_root *r = calloc((size_t)n, sizeof *r);
    char       line[300];
    uint64_t   sum = 0;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        const int first = (int)((seed >> 8) % (uint32_t)positions);
        const int last = first + (int)((seed >> 20) % (uint32_t)longest);
        r[i] = root((int)((seed >> 5) % most), first, i % 97 == 96 ? INT32_MAX : last);
    }
    const int64_t arena = place(r, n, positions, true);
    int at = snprintf(line, sizeof line, "%d roots, %d positions: %lld bytes at", n, positions,
                      (long long)arena);
    for (int i = 0; i < n; i++) {
        if (n <= 8) at += snprintf(line + at, sizeof line - (size_t)at, " %d", (int)r[i].offset);
        sum = sum * 31 + r[i].offset;
    }
    if (n > 8) snprintf(line + at, sizeof line - (size_t)at, " %016llx", (unsigned long long)sum);
    golden_line(line);
    free(r);
}

START_TEST(recorded)
{
    static const int counts_of_few[] = { 1,  2,  3,   4,   5,   6,    7,   8,
                                         20, 50, 103, 162, 300, 1024, 1025 };
    static const int lengths[] = { 1, 4, 12 };
    golden_begin("session/placing");
    for (size_t i = 0; i < sizeof counts_of_few / sizeof *counts_of_few; i++)
        for (int k = 0; k < 3; k++) {
            const int n = counts_of_few[i];
            record(n, n < 9 ? n : n / 2, (uint32_t)(i * 3) + (uint32_t)k, lengths[k], 1000);
            record(n, n < 9 ? 3 : 9, (uint32_t)(i * 5) + (uint32_t)k, lengths[k], 200);
        }
    record(8, 3, 1, 3, 1000);       /* which the order by lifetimes places best */
    for (uint32_t most = 64; most < 1u << 25; most *= 17) {
        record(4096, 500, most, 3, most);
        record(4097, 500, most, 3, most);
        record(4500, 4500, most, 9, most + 1);
    }
    golden_end();
}
END_TEST

/* Temporaries of the last position are placed, too. */
START_TEST(the_last_position)
{
    static const int sizes[] = { 10, 4200 };
    for (int k = 0; k < 2; k++) {
        const int  n = sizes[k], last = n / 2 - 1;
        plan_root *r = calloc((size_t)n, sizeof *r);
        for (int i = 0; i < n; i++) r[i] = root(64, i / 2, i / 2);
        ck_assert_int_eq(place(r, n, last, true), 128);
        free(r);
    }
}
END_TEST

START_TEST(without_memory)
{
    static const int sizes[] = { 10, 5000 };
    for (int k = 0; k < 2; k++) {
        plan_root *r = calloc((size_t)sizes[k], sizeof *r);
        bool       ok = false;
        int        at = 1;
        for (int i = 0; i < sizes[k]; i++) r[i] = root(64, i, i + 1);
        for (; !ok; at++) {
            failing_allocator f;
            plan_root         sum;
            failing_allocator_init(&f);
            f.at = at;
            ok = eddy__plan_memory(&f.table, r, sizes[k], sizes[k], true, &sum.bytes, &sum.offset);
            ck_assert(ok == (f.calls < at) && f.live == 0);
        }
        ck_assert_int_eq(at, k ? 6 : 4);
        free(r);
    }
}
END_TEST

Suite *placing_suite(void)
{
    Suite *s = suite_create("placing");
    TCase *t = tcase_create("placing");
    tcase_add_loop_test(t, a_few, 0, sizeof few / sizeof *few);
    tcase_add_loop_test(t, many, 0, sizeof counts / sizeof *counts);
    tcase_add_test(t, equal_sizes);
    tcase_add_test(t, recorded);
    tcase_add_test(t, the_last_position);
    tcase_add_test(t, without_memory);
    suite_add_tcase(s, t);
    return s;
}
