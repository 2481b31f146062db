/* test_passes.c -- compiled plans give the same values as running node by node: random graphs in
 * the interpreter, and in sessions with and without passes.
 *
 *   EDDY_GRAPHS=20000 EDDY_FIRST=0 CK_RUN_CASE=graphs
 *
 * takes so many, from that seed on, and leaves each pass out of each graph; else two take
 * turns. test_compiled_wrong.c has graphs that were once compiled wrong. */
#include "tests/lib/random_graphs/plan_truth.h"
#include "tests/lib/third_rows.h"
#include "build/gen/suites.h"
#include "graph/body.h"

#include <stdlib.h>

enum { GRAPHS = 300, CHUNKS = 10 };

static bool still_fails(random_graph *g, const fetches *f, const way *w, char *why, size_t size)
{
    truth      t = truth_of(g, f);
    const bool fails = !agrees(&t, w, why, size);
    free_truth(&t);
    return fails;
}

/* With as few fetches as show the difference; prints what was compiled for them. */
static void report(random_graph *g, const way *w, char *why, size_t size)
{
    fetches f = g->fetch;
    for (int i = f.n - 1; i >= 0 && f.n > 1; i--) {
        fetches less = f;
        memmove(&less.at[i], &less.at[i + 1], (size_t)(less.n - i - 1) * sizeof *less.at);
        less.n--;
        if (still_fails(g, &less, w, why, size)) f = less;
    }
    still_fails(g, &f, w, why, size);
    way noisy = *w;
    noisy.options.report = stderr;
    noisy.options.report_nodes = true;
    char again[600];
    fprintf(stderr, "%s\n", why);
    still_fails(g, &f, &noisy, again, sizeof again);
}

/* ------------------------------------------------------------------- the ways -- */

enum { WAYS = 9 + EDDY_PASSES };

static const eddy_session_args ALONE = { .threads = 1 };
static const eddy_session_args SETTLED = { .threads = 1, .deterministic = true };

static int list_ways(trial *t, unsigned seed, bool each, way *w)
{
    int n = 0;
    const unsigned some = (unsigned)pick(t, 1 << EDDY_PASSES);
    const unsigned late = (unsigned)pick(t, 1 << EDDY_PASSES) & LATE;
    w[n++] = (way){ .options = ALONE };
    w[n++] = (way){ .options = { .threads = 1, .without = INEXACT }, .bits = true };
    w[n++] = (way){ .options = { .threads = 1, .without = INEXACT | some }, .bits = true };
    w[n++] = (way){ .options = { .threads = 1, .without = EDDY_PASSES_ALL }, .bits = true };
    w[n++] = (way){ .options = { .threads = 1, .without = late }, .against = &ALONE, .bits = true };
    w[n++] = (way){ .options = { .threads = 2 + pick(t, 2), .deterministic = true },
                    .against = &SETTLED, .bits = true };
    w[n++] = (way){ .options = { .threads = 2 + (int)(seed % 2) } };
    w[n++] = (way){ .options = { .threads = 1, .check_numerics = EDDY_NUMERICS_NAN },
                    .against = &ALONE, .bits = true };
    for (int i = 0; i < (each ? EDDY_PASSES : 2); i++)
        w[n++] = (way){ .options = { .threads = 1 + pick(t, 3),
                                     .without = 1u << (seed * 2 + (unsigned)i) % EDDY_PASSES } };
    w[n++] = (way){ .options = { .threads = 1 + pick(t, 3),
                                 .without = (unsigned)pick(t, 1 << EDDY_PASSES) } };
    return n;
}

/* How many results were compared, and of how many nothing could be said. */
typedef struct tally {
    long compared, unsure, failed, second;
} tally;

static void check_graph(unsigned seed, tally *sum)
{
    char         why[600] = "", title[40];
    way          w[WAYS];
    random_graph g = random_graph_new(seed);
    ck_assert_msg(eddy_graph_status(g.t.graph) == EDDY_OK, "seed %u: %s", seed,
                  eddy_graph_message(g.t.graph));
    snprintf(title, sizeof title, "seed %u", seed);
    g.fetch.title = title;
    truth     t = truth_of(&g, &g.fetch);
    const int n = list_ways(&g.t, seed, getenv("EDDY_GRAPHS") != NULL, w);
    bool      ok = true;
    for (int i = 0; ok && i < n; i++) {
        ok = agrees(&t, &w[i], why, sizeof why);
        if (!ok) report(&g, &w[i], why, sizeof why);
    }
    sum->compared += t.compared;
    sum->unsure += t.unsure;
    sum->second += t.n_second;
    sum->failed += !ok;
    free_truth(&t);
    random_graph_free(&g);
}

static unsigned number_in(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

START_TEST(graphs)
{
    tally          sum = { 0 };
    const unsigned n = number_in("EDDY_GRAPHS", GRAPHS), first = number_in("EDDY_FIRST", 0);
    for (unsigned seed = first + (unsigned)_i; seed < first + n; seed += CHUNKS)
        check_graph(seed, &sum);
    if (getenv("EDDY_GRAPHS"))
        fprintf(stderr, "%ld results, %ld of them too ill-conditioned, %ld of other sizes, "
                "%ld graphs failed\n", sum.compared, sum.unsure, sum.second, sum.failed);
    ck_assert_int_eq(sum.failed, 0);
    ck_assert_int_le(sum.unsure, sum.compared / 10);
}
END_TEST

/* ------------------------------------------- operations that are made for a body -- */

enum { MOST_UPDATES = 500 };
typedef struct updates {
    const eddy_op_def *op[MOST_UPDATES];
    const eddy_graph  *body[MOST_UPDATES];
    int                n;
} updates;

static void note(updates *u, const eddy_graph *body, const eddy_op_def *op)
{
    for (int i = 0; i < u->n; i++)
        ck_assert_msg(u->op[i] != op || u->body[i] == body, "an operation of another body");
    ck_assert_int_lt(u->n, MOST_UPDATES);
    u->op[u->n] = op;
    u->body[u->n++] = body;
}

static void find_updates(updates *u, const eddy_graph *g)
{
    for (int32_t id = 1; id <= g->size; id++) {
        const eddy_node *node = g->nodes[id];
        if (eddy__update_of(node->op) != node->op) note(u, g, node->op);
        if (node->op->flags & EDDY_OP_BODY) find_updates(u, eddy__body_of(node));
    }
}

/* An update of a variable in a body has an operation in the memory of the body. A copy of the node
 * that kept it would be destroyed after it: graph 101078 has one. */
START_TEST(operations_of_bodies)
{
    updates      u = { .n = 0 };
    random_graph g = random_graph_new(101070 + (unsigned)_i);
    find_updates(&u, g.t.graph);
    if (_i == 8) ck_assert_int_gt(u.n, 0);
    random_graph_free(&g);
}
END_TEST

Suite *passes_suite(void)
{
    Suite *s = suite_create("passes");
    TCase *c = tcase_create("graphs");
    tcase_set_timeout(c, 0);
    TCase *many = tcase_create("other graphs");
    tcase_set_tags(many, "many");
    tcase_set_timeout(many, 0);
    add_third_rows(c, many, graphs, 0, CHUNKS);
    tcase_add_loop_test(c, operations_of_bodies, 0, 10);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
