/* memory.c -- every allocation of many calls fails: once, from then on, and by chance.
 *
 *   torture-memory [MOST [KIND [NAME]]]
 *
 * MOST is the number of places to fail at, of each scenario and in each way (0: all). After each
 * failure the status must say so or the results must be the same; the same call, repeated with
 * memory, must give the same results; and everything must be freed. Each scenario runs in a process
 * of its own, two at a time, so that a crash is counted and the others go on. */
#define _DEFAULT_SOURCE
#include "tests/torture/faults.h"
#include "tests/torture/scenario.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yaml.h>

static const scenarios *const all[] = { building, derivatives, loops,   operations, running, small,
                                        training, saving,      reading, models,     rank_threads };

/* Of graph/base/memory.c as it is compiled for this program: whether each item of an arena is an
 * allocation. */
extern bool eddy__small_chunks;

enum { JOBS = 2, SECONDS = 60, BY_CHANCE = 100, TOLD = 5 };

/* Of one scenario, shared with the process that runs it. */
typedef struct tally {
    long   allocations, trials, failed, faults;
    faults now;                         /* what fails at the moment */
    char   name[100];
    pid_t  process;
} tally;

/* ----------------------------------------------------------------- a trial -- */

typedef struct subject {
    const scenarios *kind;
    int              i;
    uint64_t         hash;              /* of the results with enough memory */
    tally           *t;
} subject;

static void complain(const subject *s, const char *what, const outcome *o)
{
    const faults *f = &s->t->now;
    if (s->t->faults++ >= TOLD) return;
    printf("FAULT %s: ", s->t->name);
    if (f->one_in > 0) printf("one in %u, seed %u", f->one_in, f->seed);
    else printf("allocation %ld%s", f->at, f->persistent ? " and all later ones" : "");
    printf(": %s", what);
    if (o) printf(" (%s: %s)", eddy_status_name(o->status), o->message);
    printf("\n");
    fflush(stdout);
}

static outcome act(const subject *s, void *state)
{
    outcome o = { .hash = 14695981039346656037u };
    s->kind->act(s->i, state, &o);
    return o;
}

/* Blocks that are left over. */
static long trial(subject *s, faults f)
{
    const long before = faults_blocks();
    s->t->now = f;
    alarm(SECONDS);
    void *state = s->kind->begin ? s->kind->begin(s->i) : NULL;
    faults_begin(f);
    const outcome o = act(s, state);
    const long    calls = faults_calls(), failed = faults_failed();
    faults_end();
    if (o.status == EDDY_OK && o.hash != s->hash) complain(s, "other results", &o);
    if (o.status != EDDY_OK && (failed == 0 || o.status != EDDY_NO_MEMORY))
        complain(s, "another status", &o);
    if (failed > 0 && s->kind->begin) {
        const outcome again = act(s, state);
        if (again.status != EDDY_OK) complain(s, "the same call fails later", &again);
        else if (again.hash != s->hash) complain(s, "the same call has other results", &again);
    }
    faults_begin((faults){ .at = 1, .persistent = true });
    if (s->kind->end) s->kind->end(state);
    faults_end();
    s->t->allocations = failed == 0 ? calls : s->t->allocations;
    s->t->trials += failed > 0;
    s->t->failed += failed;
    return faults_blocks() - before;
}

/* Memory that is kept for good, such as the stack of a thread, remains only the first time. */
static void try(subject *s, faults f)
{
    long left = 0;
    for (int i = 0; i < 4; i++)
        if ((left = trial(s, f)) == 0) return;
    char what[60];
    snprintf(what, sizeof what, "%ld blocks are not freed", left);
    complain(s, what, NULL);
}

/* ---------------------------------------------------------------- a scenario -- */

static void reference(subject *s)
{
    for (int i = 0; i < 3; i++) {
        void         *state = s->kind->begin ? s->kind->begin(s->i) : NULL;
        const outcome o = act(s, state);
        if (s->kind->end) s->kind->end(state);
        if (o.status != EDDY_OK) complain(s, "it fails with enough memory", &o);
        if (i > 0 && o.hash != s->hash) complain(s, "other results with enough memory", &o);
        s->hash = o.hash;
    }
    try(s, (faults){ 0 });
}

static void torture(const scenarios *kind, int i, long most, tally *t)
{
    subject s = { .kind = kind, .i = i, .t = t };
    eddy__small_chunks = most > 0 || kind->every_item;      /* all of all would take hours */
    reference(&s);
    if (t->faults > 0) return;
    const long n = t->allocations, step = most > 0 && n > most ? (n + most - 1) / most : 1;
    for (int persistent = 0; persistent < 2; persistent++)
        for (long at = 1 + (i + persistent) % step; at <= n; at += step)
            try(&s, (faults){ .at = at, .persistent = persistent == 1 });
    const long chances = n / step / 10 + 1;
    for (unsigned seed = 0; seed < chances; seed++)
        try(&s, (faults){ .one_in = BY_CHANCE, .seed = seed + 1000u * (unsigned)i });
}

static void start(const scenarios *kind, int i, long most, tally *t)
{
    fflush(stdout);
    const pid_t p = fork();
    if (p != 0) {
        t->process = p;         /* the other process shares t and must not write its 0 */
        return;
    }
    torture(kind, i, most, t);
    exit(0);            /* not _exit, which loses what gcov counted */
}

/* Waits for a process; if it was killed, that is a fault of its scenario. */
static void finish(tally *tallies, int n)
{
    int         status = 0;
    const pid_t p = wait(&status);
    for (int i = 0; i < n; i++) {
        tally *t = &tallies[i];
        if (t->process != p || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
        t->faults++;
        printf("FAULT %s: allocation %ld%s, one in %u, seed %u: %s %d\n", t->name, t->now.at,
               t->now.persistent ? " and all later ones" : "", t->now.one_in, t->now.seed,
               WIFSIGNALED(status) ? "killed by signal" : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* --------------------------------------------------------------------- all -- */

enum { MOST_SCENARIOS = 4000 };

static int start_all(tally *tallies, int argc, char **argv)
{
    const long most = argc > 1 ? atol(argv[1]) : 0;
    int        n = 0, running_now = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (const scenarios *kind = all[k]; kind->kind; kind++) {
            if (argc > 2 && strcmp(argv[2], kind->kind) != 0) continue;
            for (int i = 0; i < (kind->count ? kind->count() : 1) && n < MOST_SCENARIOS; i++) {
                tally *t = &tallies[n];
                snprintf(t->name, sizeof t->name, "%s%s%s", kind->kind, kind->name ? " " : "",
                         kind->name ? kind->name(i) : "");
                if (argc > 3 && !strstr(t->name, argv[3])) continue;
                if (running_now++ >= JOBS) finish(tallies, n);
                start(kind, i, most, t);
                n++;
            }
        }
    for (int i = 0; i < n && i < JOBS; i++) finish(tallies, n);
    return n;
}

static int print_all(const tally *tallies, int n)
{
    tally sum = { 0 };
    for (int i = 0; i < n; i++) {
        const tally *t = &tallies[i];
        printf("%-60s %7ld allocations %7ld calls that fail %9ld failures%s\n", t->name,
               t->allocations, t->trials, t->failed, t->faults ? "  FAULTS" : "");
        sum.allocations += t->allocations;
        sum.trials += t->trials;
        sum.failed += t->failed;
        sum.faults += t->faults;
    }
    printf("figure: %ld failing calls in %d scenarios, %ld failed allocations, %ld faults\n",
           sum.trials, n, sum.failed, sum.faults);
    return sum.faults > 0 || sum.trials == 0;
}

/* Whether allocations of shared libraries fail, too. */
static bool libraries_fail(void)
{
    yaml_parser_t p;
    faults_begin((faults){ .at = 1 });
    const int begun = yaml_parser_initialize(&p);
    faults_end();
    if (begun) yaml_parser_delete(&p);
    return !begun;
}

int main(int argc, char **argv)
{
    static char folder[64];
    char        remove[100];
    snprintf(folder, sizeof folder, "/tmp/eddy-torture-%ld", (long)getpid());
    if (mkdir(folder, 0700) != 0 || setenv("EDDY_SCRATCH", folder, 1) != 0) return 2;
    if (!libraries_fail()) {
        printf("FAULT: allocations of libraries are not counted\n");
        return 2;
    }
    tally *tallies = mmap(NULL, MOST_SCENARIOS * sizeof *tallies, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED) return 2;
    const int n = start_all(tallies, argc, argv), bad = print_all(tallies, n);
    snprintf(remove, sizeof remove, "rm -r %s", folder);
    return system(remove) != 0 || bad;
}
