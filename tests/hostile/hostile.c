/* hostile.c -- calls every function of the public interface in random order with random
 * arguments: types, shapes and lists that do not fit, wrong counts, extreme numbers, NULL, tensors
 * of other and of freed graphs, freed handles, functions that fail, files that are damaged. After
 * each call every error must have a message and none may be a defect; at the end the graph must
 * still work, and all memory must be freed. The sanitizers find the rest.
 *
 *   hostile [CALLS [SEED [FUNCTION]]]
 *
 * Each world of some calls is a seed, from SEED on, and runs in one of two processes, so that a
 * crash is counted and the others go on. With FUNCTION, each second call is of that function, in
 * this process, and calls are listed with the errors of graphs.
 *
 * Not among the arguments: pointers to freed or random memory where a handle is not recognized, and
 * counts above the number of entries, which C cannot check. */
#define _DEFAULT_SOURCE
#include "tests/hostile/by_hand.h"
#include "tests/hostile/random_arguments.h"
#include "tests/hostile/ranks.h"
#include "tests/hostile/world.h"
#include "tests/hostile/wrong.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often an argument was wrong in one way, by the number of the way; may miss some, when both
 * processes count at once. Functions that by_hand.h calls count only the options that they draw. */
static long *wrong_seen;
#define SAW(i, is_wrong) ((is_wrong) ? (void)wrong_seen[i]++ : (void)0)

typedef struct function {
    const char *name;
    void      (*call)(void);
    bool        builds;                 /* returns a tensor */
} function;

#include "build/gen/hostile.h"

enum {
    FUNCTIONS = sizeof functions / sizeof *functions,
    WAYS = sizeof wrong_arguments / sizeof *wrong_arguments,
    KINDS = sizeof object_kinds / sizeof *object_kinds,
    CALLS_OF_WORLD = 60, MOST_NODES = 3000, SECONDS = 20, JOBS = 2, TOLD = 40,
    MANY = 1000000
};

/* Shared with the processes. */
typedef struct progress {
    atomic_long next, calls, found;
    long        calls_of[FUNCTIONS], wrong_seen[WAYS];  /* may miss some, as said above */
    outcomes    outcomes[JOBS];
    const function *now[JOBS];
    long        world[JOBS];
} progress;

static progress *shared;
static int       job, depth;
static bool      tells;

static void call(const function *f)
{
    const function *outer = shared->now[job];
    shared->now[job] = f;
    shared->calls_of[f - functions]++;
    atomic_fetch_add(&shared->calls, 1);
    if (tells) fprintf(stderr, "%*s%s\n", 2 * depth, "", f->name);
    f->call();
    shared->now[job] = outer;
}

eddy_tensor nested_tensor(void)
{
    if (depth >= 2) return tensor_kept();
    for (int i = 0; i < 20; i++) {
        const function *f = &functions[draw(FUNCTIONS)];
        if (!f->builds) continue;
        const room outer = here;
        depth++;
        call(f);
        depth--;
        here = outer;
        break;
    }
    return tensor_kept();
}

static void take_too_long(int signal)
{
    (void)signal;
    const char *name = shared->now[job] ? shared->now[job]->name : "world_end";
    (void)!write(STDERR_FILENO, name, strlen(name));
    (void)!write(STDERR_FILENO, ": does not end\n", 15);
    abort();
}

/* Of the processor, and of the clock if nothing runs at all; 0: no limit. */
static void limit_time(int seconds)
{
    const struct itimerval t = { .it_value = { .tv_sec = seconds } };
    setitimer(ITIMER_PROF, &t, NULL);
    alarm(30 * (unsigned)seconds);
}

static void run_world(long seed, const function *chosen)
{
    shared->world[job] = seed;
    limit_time(SECONDS);
    draws_begin_world();
    world_begin((uint64_t)seed);
    forget_values();
    for (int i = 0; i < CALLS_OF_WORLD && eddy_graph_size(world_graph()) < MOST_NODES; i++) {
        const function *f = chosen && draw(2) ? chosen : &functions[draw(FUNCTIONS)];
        here = (room){ ENOUGH, 0 };
        call(f);
        world_check(f->name, tells);
        draws_end_call();
        scratch_free();
    }
    static const function runs = { "runs at the end", call_world_runs, false };
    shared->now[job] = &runs;
    runs.call();
    world_check(runs.name, tells);
    shared->now[job] = NULL;
    world_end();
    limit_time(0);
}

/* A process takes worlds until all calls have been made. */
static void work(long first, long calls)
{
    while (atomic_load(&shared->calls) < calls)
        run_world(first + atomic_fetch_add(&shared->next, 1), NULL);
}

static pid_t start(int j, long first, long calls)
{
    const pid_t p = fork();
    if (p != 0) return p;
    job = j;
    /* some calls print */
    if (!freopen("/dev/null", "w", stdout)) exit(2);
    if (chdir(j == 0 ? "." : "../1") != 0) exit(2);
    objects_begin(object_kinds, KINDS, &shared->outcomes[j]);
    work(first, calls);
    exit(0);
}

/* Processes that end early are counted and replaced. */
static void supervise(long first, long calls)
{
    pid_t pids[JOBS];
    int   running = 0, status;
    for (int j = 0; j < JOBS; j++, running++) pids[j] = start(j, first, calls);
    while (running > 0) {
        const pid_t p = wait(&status);
        for (int j = 0; j < JOBS; j++) {
            if (pids[j] != p) continue;
            running--;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
            printf("FOUND in %s, seed %ld (status %#x)\n",
                   shared->now[j] ? shared->now[j]->name : "the end", shared->world[j],
                   (unsigned)status);
            fflush(stdout);
            if (atomic_fetch_add(&shared->found, 1) >= TOLD) break;
            pids[j] = start(j, first, calls);
            running++;
        }
    }
}

/* Files that calls write are in a folder for each process, and all are removed. */
static char folder[64];

static void enter_folder(void)
{
    char *home = getcwd(NULL, 0);
    snprintf(folder, sizeof folder, P_tmpdir "/eddy_hostile_%ld", (long)getpid());
    if (!home || mkdir(folder, 0700) != 0 || chdir(folder) != 0 || mkdir("whole", 0777) != 0 ||
        mkdir("0", 0777) != 0 || mkdir("1", 0777) != 0 || chdir("0") != 0)
        exit(2);
    draws_begin(home);
    free(home);
}

static void leave_folder(void)
{
    char command[sizeof folder + 20];
    if (chdir("/") != 0) exit(2);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) exit(2);
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    const struct rlimit most = { (rlim_t)3 << 30, (rlim_t)3 << 30 };
    setrlimit(RLIMIT_AS, &most);
#endif
    const struct rlimit file = { 1 << 26, 1 << 26 };
    setrlimit(RLIMIT_FSIZE, &file);
    signal(SIGXFSZ, SIG_IGN);
}

/* Ways in which no argument was wrong, which many calls name. */
static int count_untried(void)
{
    const bool many = atomic_load(&shared->calls) >= MANY;
    int        n = 0;
    for (int i = 0; i < WAYS; i++) {
        if (wrong_seen[i] > 0) continue;
        n++;
        if (many) printf("never tried: %s\n", wrong_arguments[i]);
    }
    return n;
}

static void report(void)
{
    int never = 0;
    for (int i = 0; i < FUNCTIONS; i++)
        if (shared->calls_of[i] == 0) never++;
    outcomes all = { 0 };
    for (int j = 0; j < JOBS; j++) {
        all.refused += shared->outcomes[j].refused;
        all.built += shared->outcomes[j].built;
        all.done += shared->outcomes[j].done;
    }
    printf("%d functions were never called; %ld errors, %ld tensors built, %ld statuses OK\n",
           never, all.refused, all.built, all.done);
    printf("figure: %ld calls of %d functions, %d of %d wrong arguments, %ld findings\n",
           atomic_load(&shared->calls), (int)FUNCTIONS, WAYS - count_untried(), (int)WAYS,
           atomic_load(&shared->found));
}

static const function *function_named(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? atol(argv[1]) : 10000, first = argc > 2 ? atol(argv[2]) : 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    wrong_seen = shared->wrong_seen;
    objects_begin(object_kinds, KINDS, &shared->outcomes[0]);
    signal(SIGALRM, take_too_long);
    signal(SIGPROF, take_too_long);
    limit_memory();
    enter_folder();
    if (argc > 3) {
        tells = true;
        while (atomic_load(&shared->calls) < calls)
            run_world(first + atomic_fetch_add(&shared->next, 1), function_named(argv[3]));
        leave_folder();
        return 0;
    }
    fflush(stdout);
    supervise(first, calls);
    leave_folder();
    report();
    return atomic_load(&shared->found) > 0;
}
