/* rank_threads.c -- ranks as threads of one process, of which one runs out of memory: all of them
 * must end, with its error or theirs. Which rank makes which allocation depends on the schedule. */
#include "tests/torture/scenario.h"

#include "../../distributed.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 2 };

typedef void (*rank_program)(eddy_communicator *c, outcome *o);

typedef struct rank_run {
    rank_program program;
    outcome      of[RANKS];
} rank_run;

static bool run_rank(eddy_communicator *c, void *context)
{
    rank_run *r = context;
    outcome  *o = &r->of[eddy_communicator_rank(c)];
    r->program(c, o);
    return o->status == EDDY_OK;
}

/* The failure of one rank closes the others. */
static void add_failures(outcome *o, const rank_run *r, const eddy_error *e, eddy_status status)
{
    for (int i = 0; i < RANKS; i++)
        if (r->of[i].status == status) outcome_of(o, status, r->of[i].message);
    if (e->status == status) outcome_of_error(o, e);
}

static void act_with(rank_program program, outcome *o)
{
    eddy_error e = { 0 };
    rank_run   r = { .program = program };
    const bool ok = eddy_run_threads(RANKS, run_rank, &r, &e);
    for (int i = 0; i < RANKS; i++) {
        if (r.of[i].status != EDDY_NO_MEMORY && r.of[i].status != EDDY_CLOSED)
            outcome_of(o, r.of[i].status, r.of[i].message);
        outcome_add(o, &r.of[i].hash, sizeof r.of[i].hash);
    }
    add_failures(o, &r, &e, EDDY_NO_MEMORY);
    add_failures(o, &r, &e, EDDY_CLOSED);
    if (ok != (o->status == EDDY_OK))
        outcome_of(o, EDDY_INTERNAL, "the answer of run_threads and the outcomes differ");
}

/* -------------------------------------------------------------- collectives -- */

static void group(eddy_communicator *c, outcome *o)
{
    eddy_error         e = { 0 };
    const int          ranks[] = { 1, 0 };
    eddy_communicator *of = eddy_communicator_group(c, ranks, RANKS, &e);
    outcome_of_made(o, &e, of);
    if (of) eddy_rank_barrier(of, &e);
    outcome_of_error(o, &e);
    outcome_add(o, &(int){ eddy_communicator_rank(of) }, sizeof(int));
    eddy_communicator_free(of);
}

static void reduce(eddy_communicator *c, outcome *o, int64_t n)
{
    eddy_error  e = { 0 };
    eddy_array *a = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(n), -1, 1 + eddy_communicator_rank(c));
    if (!a) outcome_of(o, EDDY_NO_MEMORY, "no array");
    else if (eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e)) outcome_add_array(o, a);
    outcome_of_error(o, &e);
    eddy_array_free(a);
}
static void reduce_short(eddy_communicator *c, outcome *o) { reduce(c, o, 8); }
static void reduce_long(eddy_communicator *c, outcome *o) { reduce(c, o, 200000); }

/* ---------------------------------------------------------------- trainings -- */

typedef eddy_optimizer *(*wrapper)(eddy_optimizer *adam, eddy_communicator *c);

static eddy_optimizer *averaged(eddy_optimizer *adam, eddy_communicator *c)
{
    return eddy_distributed(adam, c);
}
static eddy_optimizer *overlapped(eddy_optimizer *adam, eddy_communicator *c)
{
    return eddy_distributed(adam, c, .bucket_bytes = 64, .overlap = true);
}
static eddy_optimizer *sharded(eddy_optimizer *adam, eddy_communicator *c)
{
    return eddy_sharded(adam, c);
}

/* A graph with initial values and a training step; variables divided among the ranks, or whole. */
static void build(fixture *f, eddy_communicator *c, wrapper wrap, bool divides, outcome *o)
{
    eddy_error  e = { 0 };
    eddy_graph *g = f->graph = eddy_graph_new(.seed = 3);
    f->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(4, 3));
    if (divides) eddy_divide_variables_begin(c, g, 4);
    f->y = eddy_dense(eddy_relu(eddy_dense(f->x, 8, "a", .seed = 1)), 2, "b", .seed = 2);
    if (divides) eddy_divide_variables_end(g);
    f->train = eddy_minimize(wrap(eddy_adam(g, eddy_scalar(g, 0.1)), c),
                             eddy_mean(eddy_square(f->y)));
    f->value = numbers_in(EDDY_FLOAT32, EDDY_SHAPE(4, 3), -1, 1 + eddy_communicator_rank(c));
    f->session = eddy_session_new(g, .threads = 1);
    if (!f->value || !f->session) outcome_of(o, EDDY_NO_MEMORY, "no array or session");
    if (!outcome_of_graph(o, g) || o->status != EDDY_OK) return;
    eddy_initialize_variables(c, g, f->session, &e);
    outcome_of_error(o, &e);
}

static void step(const fixture *f, eddy_communicator *c, outcome *o)
{
    if (o->status == EDDY_OK)
        outcome_of_session(o, f->session,
                           eddy_run_ranks(c, f->session, EDDY_FEED({ f->x, f->value }),
                                          EDDY_FETCH(f->train), NULL));
}

static void add_variables(const fixture *f, outcome *o)
{
    const int n = f->graph ? eddy_collection_size(f->graph, EDDY_GLOBAL_VARIABLES) : 0;
    for (int i = 0; i < n && o->status == EDDY_OK; i++) {
        eddy_array *a = eddy_variable_value(
            f->session, eddy_collection_at(f->graph, EDDY_GLOBAL_VARIABLES, i));
        if (!a)
            outcome_of(o, eddy_session_status(f->session), eddy_session_message(f->session));
        outcome_add_array(o, a);
        eddy_array_free(a);
    }
}

static void finish(fixture *f)
{
    eddy_session_free(f->session);
    eddy_graph_free(f->graph);
    eddy_array_free(f->value);
}

static void train(eddy_communicator *c, outcome *o, wrapper wrap, bool divides)
{
    fixture f = { 0 };
    build(&f, c, wrap, divides, o);
    step(&f, c, o);
    add_variables(&f, o);
    finish(&f);
}
static void train_averaged(eddy_communicator *c, outcome *o) { train(c, o, averaged, false); }
static void train_overlapped(eddy_communicator *c, outcome *o) { train(c, o, overlapped, false); }
static void train_sharded(eddy_communicator *c, outcome *o) { train(c, o, sharded, false); }
static void train_divided(eddy_communicator *c, outcome *o) { train(c, o, sharded, true); }

/* The values of before a step. */
static void save_and_restore(eddy_communicator *c, outcome *o)
{
    eddy_error e = { 0 };
    fixture    f = { 0 };
    char       path[300];
    snprintf(path, sizeof path, "%s/ranks.safetensors.index.json", getenv("EDDY_SCRATCH"));
    build(&f, c, sharded, true, o);
    if (o->status == EDDY_OK) eddy_save_ranks(c, f.graph, f.session, path, &e);
    outcome_of_error(o, &e);
    step(&f, c, o);
    if (o->status == EDDY_OK) eddy_restore_part(f.graph, f.session, path, &e);
    outcome_of_error(o, &e);
    add_variables(&f, o);
    finish(&f);
}

static const struct {
    const char  *name;
    rank_program run;
} programs[] = {
    { "a group", group },
    { "all_reduce, short", reduce_short },
    { "all_reduce, long", reduce_long },
    { "a training step", train_averaged },
    { "an overlapped training step", train_overlapped },
    { "a sharded optimizer", train_sharded },
    { "divided variables", train_divided },
    { "saving and restoring", save_and_restore },
};

static int         count(void) { return sizeof programs / sizeof *programs; }
static const char *name(int i) { return programs[i].name; }
static void        act(int i, void *state, outcome *o)
{
    (void)state;
    act_with(programs[i].run, o);
}

const scenarios rank_threads[] = {
    { .kind = "ranks:", .count = count, .name = name, .act = act },
    { .kind = NULL },
};
