/* scenario.h -- calls of the library that are repeated while memory runs out; see memory.c. */
#ifndef EDDY_TESTS_TORTURE_SCENARIO_H
#define EDDY_TESTS_TORTURE_SCENARIO_H

#include "../../formats.h"
#include "../../input.h"

/* The outcome of a scenario: status and message of its first failure; a hash of all results. */
typedef struct outcome {
    eddy_status status;
    char        message[300];
    uint64_t    hash;
} outcome;

/* Scenarios of one kind, which differ in a number from 0 to count() - 1. */
typedef struct scenarios {
    const char *kind;                       /* NULL behind the last */
    int        (*count)(void);              /* NULL: one */
    const char *(*name)(int i);
    void       *(*begin)(int i);            /* with enough memory; NULL: nothing is prepared */
    void        (*act)(int i, void *state, outcome *o);   /* must give the same results each time */
    void        (*end)(void *state);        /* must not need memory */
    bool          every_item;               /* items of arenas fail, even where all allocations do */
} scenarios;

extern const scenarios building[], derivatives[], loops[], operations[], running[], small[], training[],
    saving[], reading[], models[], rank_threads[];

/* ------------------------------------------------------------------ for acts -- */

/* A graph with a session, for scenarios that have no other state; and its end. */
typedef struct fixture {
    eddy_graph   *graph;
    eddy_session *session;
    eddy_tensor   x, y, train, init;
    eddy_array   *value, *larger;           /* of x */
} fixture;
void fixture_end(void *state);

/* Keeps the first failure. */
void outcome_of(outcome *o, eddy_status status, const char *message);
/* Of the graph; NO_MEMORY if there is none. True if it has no error. */
bool outcome_of_graph(outcome *o, const eddy_graph *g);
bool outcome_of_session(outcome *o, eddy_session *s, eddy_status status);
void outcome_of_error(outcome *o, const eddy_error *e);
/* The same of a call that makes an object, which must be NULL with an error, and only then. */
void outcome_of_made(outcome *o, const eddy_error *e, const void *made);
/* Adds to the hash. */
void outcome_add(outcome *o, const void *p, size_t n);
void outcome_add_text(outcome *o, const char *s);
void outcome_add_array(outcome *o, const eddy_array *a);
/* All values of a checkpoint, which is freed; or the error that opening it gave. */
void outcome_add_checkpoint(outcome *o, eddy_checkpoint *c, eddy_error *e);

/* Frees its arrays. */
void free_results(eddy_array **a, int n);
/* Runs the fetches, which are at most 32, and adds the results. */
void run_and_add(outcome *o, eddy_session *s, eddy_feeds feeds, eddy_list fetches);
/* The same in a session of its own, after the initializer if there are variables; the graph is freed. */
void run_once(outcome *o, eddy_graph *g, eddy_feeds feeds, eddy_list fetches);
/* Fixed numbers in [low, high); an array of rank `s.rank`. */
eddy_array *numbers_in(eddy_dtype d, eddy_shape s, double low, double high);
/* A folder for files, which is removed when the program ends; and a path in it, valid until the
 * eighth next call. */
const char *scratch(const char *name);
void scratch_put(const char *name, const void *p, size_t n);

#endif
