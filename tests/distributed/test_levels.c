/* test_levels.c -- collectives of ranks that exchange in levels, with radices so small that a few
 * ranks have two or three of them: the same bits as those of one level, and the same errors. */
#include "build/gen/suites.h"
#include "distributed/internal.h"
#include "tests/lib/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void use_levels(int radix)
{
    eddy__level_limits = (struct eddy_level_limits){ .direct = 1, .radix = radix };
}

static void use_usual_levels(void)
{
    eddy__level_limits = (struct eddy_level_limits){ .direct = 32, .radix = 8 };
}

static void use_one_level(void) { eddy__level_limits.direct = EDDY_MAX_RANKS; }

/* ------------------------------------------------------------------- levels -- */

/* The radices of n ranks, as text. */
static const char *radices(int n)
{
    static char       text[100];
    eddy_communicator c = { .n = n, .me = n - 1 };
    int               stride = 1, length = 0;
    eddy__set_levels(&c);
    for (int l = 0; l < c.n_levels; l++) {
        const eddy_level *at = &c.levels[l];
        ck_assert_int_eq(at->stride, stride);
        ck_assert_int_eq(eddy__peer(at, at->digit), c.me);
        ck_assert_int_eq(at->digit, at->radix - 1);
        ck_assert_int_le(at->radix, c.radix);
        length += snprintf(text + length, sizeof text - (size_t)length, l ? " %d" : "%d",
                           at->radix);
        stride *= at->radix;
    }
    ck_assert_int_eq(stride, n);
    return text;
}

START_TEST(radices_multiply_to_the_number_of_ranks)
{
    static const struct {
        int         n;
        const char *radices;
    } expected[] = { { 1, "1" }, { 2, "2" }, { 31, "31" }, { 32, "32" }, { 33, "33" },
                     { 34, "2 17" }, { 48, "8 6" }, { 64, "8 8" }, { 100, "4 25" },
                     { 128, "8 16" }, { 256, "8 8 4" }, { 512, "8 8 8" }, { 999, "999" },
                     { 1024, "8 8 16" }, { 4096, "8 8 8 8" } };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_str_eq(radices(expected[i].n), expected[i].radices);
    for (int n = 1; n <= EDDY_MAX_RANKS; n++) radices(n);
    use_levels(2);
    ck_assert_str_eq(radices(EDDY_MAX_RANKS), "2 2 2 2 2 2 2 2 2 2 4");
}
END_TEST

/* --------------------------------------------------------------- same results -- */

/* The scenarios compare with one process. */
START_TEST(scenarios)
{
    eddy_error e = { 0 };
    use_levels(2);
    ck_assert_str_eq(radices(6), "2 3");
    ck_assert_msg(on_threads(6, rank_scenarios[_i].run, &e), "%s: %s", rank_scenarios[_i].name,
                  e.message);
}
END_TEST

/* Groups of four of eight ranks, in falling order, exchange in levels too. */
START_TEST(groups)
{
    eddy_error e = { 0 };
    use_levels(2);
    ck_assert_str_eq(radices(4), "2 2");
    ck_assert_msg(on_threads(8, groups_agree, &e), "%s", e.message);
}
END_TEST

enum { RESULTS = 12 };

/* What all ranks get, in the order of ranks. */
typedef struct results {
    eddy_dtype   dtype;
    int64_t      width;
    eddy_array **of;
} results;

static int64_t rows_of(int r) { return (3 * r) % 5; }

/* Rows whose sum depends on the order in which they are added. */
static eddy_tensor values(eddy_graph *g, eddy_dtype d, int64_t rows, int64_t width, int me)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(rows, width));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, d == EDDY_UINT8 || d == EDDY_INT32 || d == EDDY_INT64
                                 ? (double)((i * 7 + me * 5) % 9)
                                 : (double)((i * 7919 + me * 104729) % 1009 - 400) / 97);
    eddy_tensor x = eddy_constant(g, a);
    eddy_array_free(a);
    return x;
}

static bool run_all(eddy_communicator *c, void *context)
{
    const results *to = context;
    const int      n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_graph    *g = eddy_graph_new();
    int64_t       *rows = malloc((size_t)n * sizeof *rows), all = 0;
    for (int r = 0; r < n; r++) all += rows[r] = rows_of(r);
    eddy_tensor x = values(g, to->dtype, 3, to->width, me), y[RESULTS];
    eddy_tensor whole = values(g, to->dtype, all, to->width, me);
    eddy_tensor part = values(g, to->dtype, rows_of(me), to->width, me);
    eddy_tensor even = values(g, to->dtype, 2 * n, to->width, me);
    eddy_tensor counts = eddy_const(g, EDDY_INT64, EDDY_SHAPE(n), rows);
    const bool  floats = eddy_dtype_is_differentiable(to->dtype);
    int         k = 0;
    y[k++] = eddy_all_reduce(c, x);
    if (floats) y[k++] = eddy_all_reduce(c, x, EDDY_REDUCE_MEAN);
    if (!eddy_dtype_is_complex(to->dtype)) {
        y[k++] = eddy_all_reduce(c, x, EDDY_REDUCE_MIN);
        y[k++] = eddy_all_reduce(c, x, EDDY_REDUCE_MAX);
    }
    y[k++] = eddy_reduce_scatter(c, whole, .rows = counts);
    y[k++] = eddy_reduce_scatter(c, even);
    y[k++] = eddy_all_gather(c, part, .uneven = true);
    y[k++] = eddy_all_gather(c, x);
    y[k++] = eddy_broadcast_from_root(c, x, .root = n / 2);
    y[k++] = eddy_reduce_to_root(c, x, .root = n - 2);
    y[k++] = eddy_all_to_all(c, even);
    eddy_session *s = eddy_session_new(g, .threads = 1);
    const bool ok = eddy_run_ranks(c, s, EDDY_FEED(), (eddy_list){ k, y }, to->of + me * RESULTS) ==
                    EDDY_OK;
    expect(c, ok, "%s%s", eddy_graph_message(g), eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    free(rows);
    return ok;
}

static results results_of(int ranks, eddy_dtype d, int64_t width)
{
    results    r = { d, width, calloc((size_t)ranks * RESULTS, sizeof *r.of) };
    eddy_error e = { 0 };
    ck_assert_msg(eddy_run_threads(ranks, run_all, &r, &e), "%d ranks: %s", ranks, e.message);
    return r;
}

static void compare(int ranks, int radix, eddy_dtype d, int64_t width)
{
    use_one_level();
    const results one = results_of(ranks, d, width);
    use_levels(radix);
    const results levels = results_of(ranks, d, width);
    for (int i = 0; i < ranks * RESULTS; i++) {
        ck_assert_msg(!one.of[i] || eddy_array_equal(one.of[i], levels.of[i]),
                      "%d ranks, radix %d, %s of width %lld: result %d of rank %d differs", ranks,
                      radix, eddy_dtype_name(d), (long long)width, i % RESULTS, i / RESULTS);
        eddy_array_free(one.of[i]);
        eddy_array_free(levels.of[i]);
    }
    free(one.of);
    free(levels.of);
}

/* Short data travel with headers, longer ones do not. */
START_TEST(same_bits)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64,   EDDY_FLOAT16,
                                        EDDY_BFLOAT16, EDDY_COMPLEX64, EDDY_COMPLEX128,
                                        EDDY_INT32,    EDDY_INT64,     EDDY_UINT8 };
    compare(12, 2, types[_i], 0);
    compare(12, 2, types[_i], 5);
    compare(12, 2, types[_i], 700);
    compare(16, 4, types[_i], 301);
    compare(24, 4, types[_i], 40);
}
END_TEST

START_TEST(same_bits_of_many)
{
    compare(40, 8, EDDY_FLOAT32, 400);
    compare(64, 4, EDDY_BFLOAT16, 3);
    compare(34, 8, EDDY_FLOAT32, 60);
}
END_TEST

/* Several parts of a long array, whose messages are under way at once. */
START_TEST(same_bits_of_parts) { compare(8, 2, _i ? EDDY_FLOAT16 : EDDY_FLOAT32, 300001); }
END_TEST

/* -------------------------------------------------------------------- errors -- */

/* Ranks from `from` on differ from the others. */
typedef struct difference {
    int  from;
    bool leaves, fails;
} difference;

static bool differ(eddy_communicator *c, void *context)
{
    const difference *d = context;
    const bool        odd = eddy_communicator_rank(c) >= d->from;
    eddy_error        e = { 0 };
    eddy_array       *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(odd ? 4 : 3)),
               *same = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3000));
    bool ok = eddy_array_all_reduce(c, EDDY_REDUCE_MAX, same, &e);
    if (ok && odd && d->fails) eddy_communicator_fail(c, "out of luck");
    if (odd && (d->leaves || d->fails)) {
        ok = true;      /* another one may have ended before */
    } else {
        ok = !ok || !eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e);
        const char *text = d->leaves  ? "has ended"
                           : d->fails ? "failed: out of luck"
                                      : "the ranks do not agree: rank ";
        ok = expect(c, ok && strstr(e.message, text), "unexpected: %s", e.message);
        if (ok && !d->leaves && !d->fails)
            ok = expect(c, strstr(e.message, "has AllReduce(float32[3], sum), rank") &&
                               strstr(e.message, "has AllReduce(float32[4], sum)"),
                        "%s", e.message);
    }
    eddy_array_free(a);
    eddy_array_free(same);
    return ok;
}

/* A difference is noticed where ranks meet that differ: at the first, second or third level. */
START_TEST(differences_at_each_level)
{
    use_levels(2);
    ck_assert_str_eq(radices(12), "2 2 3");
    for (int from = 1; from < 12; from++) {
        difference plain = { .from = from }, leaves = { .from = from, .leaves = true },
                   fails = { .from = from, .fails = true };
        ck_assert_int_eq(eddy_run_threads(12, differ, &plain, NULL), true);
        ck_assert_int_eq(eddy_run_threads(12, differ, &leaves, NULL), true);
        ck_assert_int_eq(eddy_run_threads(12, differ, &fails, NULL), true);
    }
}
END_TEST

/* The first ranks exchange messages with a partner, or run a collective of a group with it, while
 * all others run one of all ranks. */
typedef struct circle {
    int         n, partner[3];
    bool        grouped;
    const char *text;                   /* that all ranks say */
} circle;

static bool wait_in_circle(eddy_communicator *c, void *context)
{
    const circle *x = context;
    const int     me = eddy_communicator_rank(c), partner = me < x->n ? x->partner[me] : -1;
    const bool    grouped = partner >= 0 && x->grouped;
    const char   *own = partner >= 0 && !grouped ? "SendReceive" : "AllReduce";
    char          begin[100];
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   a = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2000));
    eddy_communicator *group =
        grouped ? eddy_communicator_group(c, (int[]){ me, partner }, 2, NULL) : NULL;
    const eddy_tensor y = group          ? eddy_all_reduce(group, a)
                          : partner >= 0 ? eddy_send_receive(c, a, .to = partner, .from = partner)
                                         : eddy_all_reduce(c, a);
    eddy_session *s = eddy_session_new(g, .threads = 1);
    const bool    failed = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL) == EDDY_INVALID_ARGUMENT;
    const char   *said = eddy_session_message(s);
    snprintf(begin, sizeof begin, "%s(float32[2000]): the ranks do not agree: rank ", own);
    const bool ok = failed && strstr(said, begin) == said && strstr(said, x->text);
    expect(c, ok, "unexpected: %s", said);
    eddy_session_free(s);
    eddy_graph_free(g);
    eddy_communicator_free(group);
    return ok;
}

/* Above 32 ranks, a partner need not exchange messages with those that notice the difference. */
START_TEST(ranks_that_wait_in_a_circle)
{
    circle circles[] = {
        { .n = 1, .partner = { 39 },
          .text = "rank 0 waits in SendReceive(float32[2000]) 'SendReceive' for rank 39" },
        { .n = 1, .partner = { 39 }, .grouped = true,
          .text = "rank 0 waits in AllReduce(float32[2000], sum) 'AllReduce' for rank 39" },
        { .n = 3, .partner = { 1, 2, 0 },
          .text = "rank 2 waits in SendReceive(float32[2000]) 'SendReceive' for rank 0" },
    };
    ck_assert_str_eq(radices(40), "8 5");
    for (size_t i = 0; i < sizeof circles / sizeof *circles; i++)
        ck_assert_int_eq(eddy_run_threads(40, wait_in_circle, &circles[i], NULL), true);
}
END_TEST

/* Waits of more than a quarter of a second for slow ranks, one after the other, are no circle. */
static bool wait_for_slow_ranks(eddy_communicator *c, void *context)
{
    (void)context;
    const struct timespec pause = { .tv_nsec = 300000000 };
    const int             n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    eddy_graph           *g = eddy_graph_new();
    const eddy_tensor     ones = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2000));
    const eddy_tensor     x = eddy_mul(ones, eddy_scalar(g, me));
    const eddy_tensor     sum = eddy_all_reduce(c, x);
    const eddy_tensor     from = eddy_send_receive(c, x, .to = (me + 1) % n,
                                                   .from = (me + n - 1) % n);
    eddy_session         *s = eddy_session_new(g, .threads = 1);
    eddy_array           *out[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++) {
        if (me == (i == 0 ? 0 : n - 1)) nanosleep(&pause, NULL);
        const eddy_tensor y = i == 0 ? sum : from;
        const bool        ran = eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out[i]) == EDDY_OK;
        expect(c, ran, "unexpected: %s", eddy_session_message(s));
    }
    const bool ok = out[0] && out[1] && eddy_array_get(out[0], 1999) == n * (n - 1) / 2.0 &&
                    eddy_array_get(out[1], 1999) == (me + n - 1) % n;
    expect(c, ok, "wrong values");
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok;
}

START_TEST(slow_ranks_are_no_circle)
{
    ck_assert(eddy_run_threads(40, wait_for_slow_ranks, NULL, NULL));
}
END_TEST

Suite *levels_suite(void)
{
    Suite *s = suite_create("levels");
    TCase *few = tcase_create("few"), *many = tcase_create("many");
    int    scenario_count = 0;
    while (rank_scenarios[scenario_count].name) scenario_count++;
    tcase_set_tags(few, "threads");
    tcase_set_tags(many, "threads many");
    tcase_add_checked_fixture(few, use_usual_levels, use_usual_levels);
    tcase_add_checked_fixture(many, use_usual_levels, use_usual_levels);
    tcase_add_test(few, radices_multiply_to_the_number_of_ranks);
    tcase_add_test(few, differences_at_each_level);
    tcase_add_test(few, ranks_that_wait_in_a_circle);
    tcase_add_test(few, slow_ranks_are_no_circle);
    tcase_add_test(few, groups);
    tcase_add_loop_test(few, same_bits, 0, 9);
    tcase_add_loop_test(many, same_bits_of_parts, 0, 2);
    tcase_add_test(many, same_bits_of_many);
    tcase_add_loop_test(many, scenarios, 0, scenario_count);
    suite_add_tcase(s, few);
    suite_add_tcase(s, many);
    return s;
}
