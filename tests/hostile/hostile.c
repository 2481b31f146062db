/* hostile.c -- calls each builder of operations, layers and schedules repeatedly with random
 * arguments: types, shapes and lists that do not fit, wrong counts, extreme numbers, tensors
 * without a graph. Valid nodes are run with little memory. Every error must have a message; the
 * sanitizers find the rest.
 *
 *   hostile [ROUNDS [FIRST [BUILDER]]]        each round is another seed, from FIRST on */
#include <eddy/eddy.h>

#include "graph/internal.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct builder {
    const char *name;
    eddy_tensor (*call)(void);
} builder;

static eddy_graph *graph;
static uint64_t    state;

/* 0 to n - 1. */
static int draw(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static int64_t draw_integer(void)
{
    static const int64_t all[] = { 0, 1, 2, -1, 3, -2, 0, 1, 2, 7, 100, 1LL << 33, INT64_MAX,
                                   INT64_MIN };
    return all[draw(sizeof all / sizeof *all)];
}

static double draw_real(void)
{
    static const double all[] = { 0, 1, -1, 0.5, 2, 0, 1, 1e308, (double)NAN, (double)INFINITY,
                                  -(double)INFINITY };
    return all[draw(sizeof all / sizeof *all)];
}

static bool draw_bool(void) { return draw(2) == 1; }

static eddy_dtype draw_dtype(void) { return draw(3) ? EDDY_DEFAULT_DTYPE : (eddy_dtype)draw(14); }

static const char *draw_text(void)
{
    static const char *const all[] = { NULL, NULL, "x", "", "ij,jk->ik", "NCHW", "SAME", "%s%n" };
    return all[draw(sizeof all / sizeof *all)];
}

/* A rank or count that no struct holds. */
static int draw_wrong_count(void)
{
    static const int all[] = { -1, -5, 9, 100, INT_MAX, INT_MIN };
    return all[draw(sizeof all / sizeof *all)];
}

/* Mostly small; with `huge`, sometimes one that no memory holds. */
static eddy_shape shape_of(bool huge)
{
    static const int64_t all[] = { 0, 1, 2, 3, 4, EDDY_ANY, 5, INT64_MAX / 4 };
    if (draw(8) == 0) return EDDY_UNKNOWN_SHAPE;
    eddy_shape s = { .rank = draw(6) };
    for (int i = 0; i < s.rank; i++) s.dim[i] = all[draw(huge && draw(4) == 0 ? 8 : 7)];
    return s;
}

static eddy_shape draw_shape(void)
{
    eddy_shape s = shape_of(true);
    if (draw(24) == 0) s.rank = draw_wrong_count();
    return s;
}

static eddy_tensor draw_tensor(void)
{
    static const eddy_dtype all[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                      EDDY_BOOL, EDDY_COMPLEX64, EDDY_UINT8, EDDY_FLOAT16 };
    const int kind = draw(24);
    if (kind == 0) return eddy_none(NULL);
    if (kind == 1) return eddy_scalar(graph, draw_real());
    if (kind == 2) return eddy_number(graph, EDDY_INT64, (double)draw(5) - 2);
    const eddy_dtype d = all[draw(draw(2) ? 2 : 8)];
    if (kind == 3) return eddy_variable(graph, eddy_zeros(graph, d, EDDY_SHAPE(3, 2)));
    return eddy_placeholder(graph, NULL, d, shape_of(false));
}

static eddy_dims draw_dims(void)
{
    const intptr_t number = draw(9) - 4;
    eddy_dims      d = { .count = draw(6) };
    if (d.count == 0) d = EDDY_OMITTED_DIMS;
    if (draw(20) == 0) {                             /* as `.axes = 1` */
        d.count = 0;
        memcpy(&d, &number, sizeof number);
    }
    for (int i = 0; i < d.count; i++) d.at[i] = draw_integer();
    if (draw(24) == 0) d.count = draw_wrong_count();
    return d;
}

static eddy_list draw_list(void)
{
    static eddy_tensor room[16][4];
    static int         turn;
    eddy_tensor       *at = room[turn++ % 16];
    const int          n = draw(5);
    for (int i = 0; i < n; i++) at[i] = draw_tensor();
    if (draw(24) == 0) return (eddy_list){ draw(2) ? n : draw_wrong_count(), NULL };
    if (draw(24) == 0) return (eddy_list){ draw(2) ? -1 : INT_MIN, at };
    return (eddy_list){ n, at };
}

#include "build/gen/hostile.h"

/* -------------------------------------------------------------------- running -- */

enum { MOST_FEEDS = 64 };

typedef struct fed {
    eddy_feed at[MOST_FEEDS];
    int       n;
} fed;

/* Small whole numbers, some of them negative. */
static eddy_array *value_for(eddy_tensor t)
{
    eddy_shape s = eddy_shape_of(t);
    if (s.rank < 0) s = EDDY_SHAPE(2, 2);
    for (int i = 0; i < s.rank; i++)
        if (s.dim[i] < 0) s.dim[i] = 2;
    eddy_array *a = eddy_array_new(eddy_dtype_of(t), s);
    for (int64_t i = 0; a && i < eddy_array_count(a); i++) eddy_array_set(a, i, draw(7) - 2);
    return a;
}

static void feed_all(fed *f)
{
    for (int32_t id = 1; id <= eddy_graph_size(graph) && f->n < MOST_FEEDS; id++) {
        const eddy_tensor t = eddy_node_at(graph, id);
        if (!(eddy_node_of(t)->op->flags & EDDY_OP_PLACEHOLDER)) continue;
        eddy_array *a = value_for(t);
        if (a) f->at[f->n++] = (eddy_feed){ t, a };
    }
}

/* What was built, and that it is wrong. */
static void complain(const builder *b, const char *what)
{
    char type[100];
    printf("%s: %s\n", b->name, what);
    for (int32_t id = 1; id <= eddy_graph_size(graph); id++) {
        const eddy_tensor t = eddy_node_at(graph, id);
        const eddy_type   of = { eddy_dtype_of(t), eddy_shape_of(t) };
        printf("  %s %s %s\n", eddy_name_of(t), eddy_node_of(t)->op->name,
               eddy_type_print(of, type, sizeof type));
    }
    exit(1);
}

/* Whether it ran; a failure without a sentence ends the program. */
static bool run(const builder *b, eddy_tensor y)
{
    fed           f = { .n = 0 };
    eddy_array   *out = NULL;
    eddy_session *s = eddy_session_new(graph, .max_bytes = 1 << 26);
    feed_all(&f);
    eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_LIST(eddy_initializer(graph)), NULL);
    if (status == EDDY_OK)
        status = eddy_run(s, (eddy_feeds){ f.n, f.at }, EDDY_LIST(y), &out);
    if (status == EDDY_INTERNAL) complain(b, eddy_session_message(s));
    if (status != EDDY_OK && !*eddy_session_message(s)) complain(b, "failed without a sentence");
    eddy_array_free(out);
    eddy_session_free(s);
    for (int i = 0; i < f.n; i++) eddy_array_free((eddy_array *)(uintptr_t)f.at[i].value);
    return status == EDDY_OK;
}

typedef struct counts {
    long refused, built, ran;
} counts;

enum { MOST_SECONDS = 60 };

static const char *trying;

static void takes_too_long(int signal)
{
    (void)signal;
    const bool told = write(STDOUT_FILENO, trying, strlen(trying)) > 0 &&
                      write(STDOUT_FILENO, ": does not end\n", 15) > 0;
    _exit(told ? 1 : 2);
}

static void try_one(const builder *b, uint64_t seed, counts *c)
{
    state = seed * 0x9E3779B97F4A7C15u + 12345;
    trying = b->name;
    alarm(MOST_SECONDS);
    graph = eddy_graph_new(NULL);
    const eddy_tensor y = b->call();
    if (eddy_graph_status(graph) != EDDY_OK || !eddy_is_valid(y)) {
        c->refused++;
        if (eddy_graph_status(graph) != EDDY_OK && !*eddy_graph_message(graph))
            complain(b, "refused without a sentence");
    } else {
        c->built++;
        c->ran += run(b, y);
    }
    eddy_graph_free(graph);
}

int main(int argc, char **argv)
{
    const int      rounds = argc > 1 ? atoi(argv[1]) : 10;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const int      n = (int)(sizeof builders / sizeof *builders);
    const bool     tells = argc > 3;
    counts         c = { 0 };
    signal(SIGALRM, takes_too_long);
    for (uint64_t r = first; r < first + (uint64_t)rounds; r++)
        for (int i = 0; i < n; i++) {
            if (tells && strcmp(argv[3], builders[i].name) != 0 && strcmp(argv[3], "all") != 0)
                continue;
            if (tells) fprintf(stderr, "%s, seed %llu\n", builders[i].name, (unsigned long long)r);
            try_one(&builders[i], r * 1000003 + (uint64_t)i, &c);
        }
    printf("%d builders, %d rounds: %ld refused, %ld built, %ld of them run\n", n, rounds,
           c.refused, c.built, c.ran);
    return 0;
}
