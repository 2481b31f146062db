/* simulated_kernels.c -- kernels of a program that runs under SimGrid's SMPI, which simulates MPI
 * in one process: each rank is a context, whose clock is that of a described machine.
 *
 * The program, its graph, the session and the collectives are those of a real run. Linked with
 * --wrap, calls of some functions of the library and of MPI come here first. Environment variables
 * decide what happens:
 *
 *   EDDY_MEASURE=FILE   run kernels, and write the processor time of each in the quickest run
 *   EDDY_MEAN=1         or the mean time of all runs after the first two
 *   EDDY_REPLAY=FILE    do not run kernels; the clock of the rank goes on by their times
 *   EDDY_MESSAGE_SECONDS=S  what a message costs the processor that sends it (1e-6)
 *   EDDY_THREADS=1          ranks have a thread for messages (simulated_threads.c)
 *   EDDY_RECEIVED_SECONDS=S what a byte costs the processor of its receiver, if messages are copies
 *                       in memory (0)
 *
 * Only plans with a collective are measured: those are the steps of a training. The longest one
 * counts: others gather sizes before it, and their kernels run. Where kernels do not run, data have
 * no meaning: variables are not broadcast, long copies only take time, and SMPI delivers headers
 * alone. */
#define _DEFAULT_SOURCE
#include "bench/scale/simulated_ranks.h"
#include "distributed/internal.h"
#include "session/state/internal.h"

#include <simgrid/actor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { LONG_COPY = 1 << 14, LONG_MESSAGE = 2048 };

static const double LOOKING = 6.4e-4;    /* seconds that looks without a pause take, as measured */

/* What a plan was measured to take, or is being measured. */
typedef struct timed_plan {
    struct timed_plan *next;
    eddy_plan         *plan;
    eddy_status     (**run)(eddy_kernel *k);     /* by instruction */
    double            *seconds, *least;          /* of this run, of the quickest one or the mean */
    double             total;
    int                runs;
} timed_plan;

/* Seconds a byte of long copies and of sums, measured or read. */
typedef struct rate {
    double seconds, bytes;
} rate;

static struct {
    const char *measure, *replay;
    int         n;                       /* what was read */
    double     *seconds;                 /* by instruction */
    char      (*names)[64];              /* of operations */
    rate        copy, combine;
    double      message;                 /* seconds of a processor for what is sent */
    double      received;                /* of a processor for a byte */
    bool        mean, threads;
    double      pause;                   /* by which the shortest pause of a thread is longer */
} all;

rank_state *simulated_rank(void)
{
    static rank_state outside;           /* before ranks begin, and after they end */
    int               started = 0;
    MPI_Initialized(&started);
    rank_state *r = started ? smpi_process_get_user_data() : &outside;
    return r ? r : &outside;
}

static void need(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "simulated_kernels: %s\n", what);
    exit(1);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------- the file -- */

/* SMPI's own copy of a message, a C++ function. */
void copy_message(smx_activity_t comm, void *data, size_t bytes) __asm__(
    "_Z30smpi_comm_copy_buffer_callbackPN7simgrid6kernel8activity8CommImplEPvm");

/* Packets of headers begin with the size of a header. */
static void deliver(smx_activity_t comm, void *data, size_t bytes)
{
    uint32_t first = 0;
    if (bytes >= LONG_MESSAGE) memcpy(&first, data, sizeof first);
    if (bytes < LONG_MESSAGE || first == sizeof(eddy_call_header)) copy_message(comm, data, bytes);
}

static void read_times(void)
{
    FILE *f = fopen(all.replay, "r");
    need(f && fscanf(f, "copy %lf combine %lf pause %lf kernels %d", &all.copy.seconds,
                     &all.combine.seconds, &all.pause, &all.n) == 4 && all.n > 0,
         "the file of EDDY_REPLAY is not one of EDDY_MEASURE");
    all.seconds = calloc((size_t)all.n, sizeof *all.seconds);
    all.names = calloc((size_t)all.n, sizeof *all.names);
    need(all.seconds && all.names, "out of memory");
    for (int i = 0; i < all.n; i++)
        need(fscanf(f, "%63s %lf", all.names[i], &all.seconds[i]) == 2, "a line is missing");
    fclose(f);
}

/* The least, or the sums, whose quotient is the mean. */
static void note_rate(rate *r, double seconds, double bytes)
{
    if (all.mean) *r = (rate){ seconds + r->seconds, bytes + r->bytes };
    else if (r->bytes == 0 || seconds * r->bytes < r->seconds * bytes)
        *r = (rate){ seconds, bytes };
}

static double per_byte(rate r) { return r.bytes > 0 ? r.seconds / r.bytes : 0; }

static void write_times(const timed_plan *t)
{
    FILE *f = fopen(all.measure, "w");
    need(f != NULL, "the file of EDDY_MEASURE cannot be written");
    fprintf(f, "copy %.4g combine %.4g pause %.4g kernels %d\n", per_byte(all.copy),
            per_byte(all.combine), all.pause, (int)t->plan->n_code);
    for (int32_t i = 0; i < t->plan->n_code; i++)
        fprintf(f, "%s %.4g\n", t->plan->code[i].kernel.op->name, t->least[i]);
    fclose(f);
}

static void measure_pauses(void)
{
    struct timespec from, to;
    for (int i = 0; i < 50; i++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
        clock_gettime(CLOCK_MONOTONIC, &to);
        const double took = difftime(to.tv_sec, from.tv_sec) +
                            1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        if (i == 0 || took < all.pause) all.pause = took;
    }
}

static double number(const char *name, double otherwise)
{
    const char *value = getenv(name);
    return value ? atof(value) : otherwise;
}

/* Before any rank begins. */
__attribute__((constructor)) static void begin(void)
{
    all.measure = getenv("EDDY_MEASURE");
    all.replay = getenv("EDDY_REPLAY");
    setenv("EDDY_SHARED_MEMORY", "no", 1);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);      /* of 1024 ranks, each touches a little memory */
    if (all.measure) measure_pauses();
    if (all.replay) read_times();
    all.message = number("EDDY_MESSAGE_SECONDS", 1e-6);
    all.received = number("EDDY_RECEIVED_SECONDS", 0);
    all.mean = number("EDDY_MEAN", 0) > 0;
    all.threads = number("EDDY_THREADS", 0) > 0;
}

/* ------------------------------------------------------------------- the clock -- */

/* Moves the clock of the rank on. Short times are added up, unless the clock must be right at once,
 * since each simulated computation takes time itself. */
static void take(double seconds, bool at_once)
{
    rank_state *r = simulated_rank();
    r->owed += seconds;
    if (r->owed < (at_once ? 1e-9 : 2e-5)) return;
    smpi_execute(r->owed);
    r->owed = 0;
}

/* ----------------------------------------------------------------- kernels -- */

static int32_t number_of(const timed_plan *t, const eddy_kernel *k)
{
    return (int32_t)((const instruction *)(const void *)k - t->plan->code);
}

static eddy_status measured(eddy_kernel *k)
{
    timed_plan   *t = simulated_rank()->now;
    const int32_t i = number_of(t, k);
    const double from = processor_seconds();
    const eddy_status s = t->run[i](k);
    t->seconds[i] = processor_seconds() - from;
    return s;
}

static eddy_status replayed(eddy_kernel *k)
{
    const timed_plan *t = simulated_rank()->now;
    if (t->seconds) take(all.seconds[number_of(t, k)], false);
    return EDDY_OK;
}

/* A collective runs; before it, the clock is right. */
static eddy_status exchanged(eddy_kernel *k)
{
    const timed_plan *t = simulated_rank()->now;
    if (all.replay) take(0, true);
    return t->run[number_of(t, k)](k);
}

static bool meets(const instruction *at)
{
    const eddy_op_def *op = at->kernel.op;
    return op->flags & EDDY_OP_EXCHANGES || strcmp(op->name, "AllReduceEnd") == 0;
}

static bool is_measured(const eddy_plan *p)
{
    bool same = p->n_code == all.n;
    for (int32_t i = 0; same && i < p->n_code; i++)
        same = strcmp(p->code[i].kernel.op->name, all.names[i]) == 0;
    return same;
}

static timed_plan *plan_of(eddy_plan *p)
{
    rank_state *r = simulated_rank();
    timed_plan *t = r->plans;
    while (t && t->plan != p) t = t->next;
    if (t) return t;
    const size_t n = (size_t)p->n_code + 1;
    bool         exchanges = false;
    for (int32_t i = 0; i < p->n_code; i++) exchanges = exchanges || meets(&p->code[i]);
    const bool is_step = exchanges && (all.measure || is_measured(p));
    need(is_step || !exchanges || p->n_code < all.n, "the plan is not that of EDDY_MEASURE");
    t = calloc(1, sizeof *t);
    need(t && (t->run = calloc(n, sizeof *t->run)), "out of memory");
    t->plan = p;
    for (int32_t i = 0; i < p->n_code; i++) {
        instruction *at = &p->code[i];
        t->run[i] = at->run;
        if (meets(at)) at->run = exchanged;
        else if (all.measure) at->run = measured;
        else if (is_step || !exchanges) at->run = replayed;
    }
    t->seconds = all.measure || is_step ? calloc(n, sizeof *t->seconds) : NULL;
    t->least = is_step ? calloc(n, sizeof *t->least) : NULL;
    need((t->seconds || !(all.measure || is_step)) && (t->least || !is_step), "out of memory");
    t->next = r->plans;
    return r->plans = t;
}

/* The first rank writes what its quickest run took, or the mean of its runs but the first two. */
static void note(timed_plan *t)
{
    double total = 0;
    int    rank = 0;
    for (int32_t i = 0; i < t->plan->n_code; i++) total += t->seconds[i];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0 || !t->least || t->plan->n_code < all.n) return;
    all.n = t->plan->n_code;
    t->runs++;
    if (all.mean) {
        const double n = t->runs > 2 ? t->runs - 2 : 1;
        for (int32_t i = 0; i < t->plan->n_code; i++)
            t->least[i] += (t->seconds[i] - t->least[i]) / n;
    } else if (t->runs > 1 && total >= t->total) return;
    else memcpy(t->least, t->seconds, (size_t)t->plan->n_code * sizeof *t->least);
    t->total = total;
    write_times(t);
}

eddy_status __real_eddy__plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                                  run_snapshot *snapshot, eddy_stop stop, eddy_error *error);
eddy_status __wrap_eddy__plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                                  run_snapshot *snapshot, eddy_stop stop, eddy_error *error);
eddy_status __wrap_eddy__plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                                  run_snapshot *snapshot, eddy_stop stop, eddy_error *error)
{
    if (!all.measure && !all.replay)
        return __real_eddy__plan_run(p, feeds, out, snapshot, stop, error);
    rank_state *r = simulated_rank();
    timed_plan *before = r->now;
    r->now = plan_of(p);
    const eddy_status s = __real_eddy__plan_run(p, feeds, out, snapshot, stop, error);
    if (all.measure) note(r->now);
    else take(0, true);
    for (int32_t v = 0; all.replay && v < p->n_variables; v++)
        p->variables[v].state->initialized |= p->variables[v].updated;
    r->now = before;
    return s;
}

/* ------------------------------------------------------- messages and their sums -- */

void __real_eddy__combine(const eddy_combining *x, void **parts, int64_t count, void *out,
                          void *work);
void __wrap_eddy__combine(const eddy_combining *x, void **parts, int64_t count, void *out,
                          void *work);
void __wrap_eddy__combine(const eddy_combining *x, void **parts, int64_t count, void *out,
                          void *work)
{
    const double bytes = (double)x->n * (double)count * (double)eddy_dtype_size(x->from);
    if (all.replay) {
        take(bytes * all.combine.seconds, true);
        return;
    }
    const double from = processor_seconds();
    __real_eddy__combine(x, parts, count, out, work);
    if (bytes >= LONG_COPY) note_rate(&all.combine, processor_seconds() - from, bytes);
}

void *__real_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    const rank_state *r = n < LONG_COPY ? NULL : simulated_rank();
    if (!r || !(r->now || r->is_thread)) return __real_memcpy(to, from, n);
    if (all.replay) {
        take((double)n * all.copy.seconds, false);
        return to;
    }
    const double begun = processor_seconds();
    __real_memcpy(to, from, n);
    note_rate(&all.copy, processor_seconds() - begun, (double)n);
    return to;
}

bool __real_eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g, eddy_session *s,
                                     eddy_error *error);
bool __wrap_eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g, eddy_session *s,
                                     eddy_error *error);
bool __wrap_eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g, eddy_session *s,
                                     eddy_error *error)
{
    return all.replay || __real_eddy_broadcast_variables(c, root, g, s, error);
}

/* ------------------------------------------------------------------------ MPI -- */

/* SMPI promises no more than one thread. */
int __wrap_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int __wrap_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    *provided = required;
    const int code = MPI_Init(argc, argv);
    rank_state *r = calloc(1, sizeof *r);
    need(r != NULL, "out of memory");
    smpi_process_set_user_data(r);
    if (all.replay) smpi_comm_set_copy_data_callback(deliver);
    if (all.threads) simulated_threads_begin(r);
    return code;
}

/* Ranks end without telling each other: nothing follows that is measured. */
void __real_eddy_communicator_free(eddy_communicator *c);
void __wrap_eddy_communicator_free(eddy_communicator *c);
void __wrap_eddy_communicator_free(eddy_communicator *c)
{
    if (all.replay) {
        simulated_threads_end(simulated_rank());
        MPI_Finalize();
    } else __real_eddy_communicator_free(c);
}

/* The processor's part of a message. Messages travel meanwhile, so it is taken when the rank begins
 * to wait. */
int __real_MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c,
                     MPI_Request *request);
int __wrap_MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c,
                     MPI_Request *request);
int __wrap_MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm c,
                     MPI_Request *request)
{
    rank_state *r = simulated_rank();
    if (r->is_thread) c = r->comm;
    if (all.replay) r->owed += all.message;
    return __real_MPI_Isend(data, n, type, to, tag, c, request);
}

int __real_MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm c,
                     MPI_Request *request);
int __wrap_MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm c,
                     MPI_Request *request);
int __wrap_MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm c,
                     MPI_Request *request)
{
    rank_state *r = simulated_rank();
    if (r->is_thread) c = r->comm;
    if (all.replay && n >= LONG_COPY) r->owed += n * all.received;
    return __real_MPI_Irecv(data, n, type, from, tag, c, request);
}

/* A simulated test waits for the end of the message in one event, where the transport would look
 * again and again. Then it is as late as the transport, which pauses between looks (mpi_wait). */
static double late_by(double waited)
{
    double looked = LOOKING;
    for (double pause = 1e-6; looked < waited; pause *= pause < 2e-4 ? 1.25 : 1)
        looked += pause + all.pause;
    return waited > LOOKING ? looked - waited : 0;
}

int __real_MPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int __wrap_MPI_Test(MPI_Request *request, int *done, MPI_Status *status);
int __wrap_MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    if (!(all.replay || all.threads) || *request == MPI_REQUEST_NULL)
        return __real_MPI_Test(request, done, status);
    take(0, true);
    const double from = MPI_Wtime();
    const int    code = MPI_Wait(request, status);
    const double late = late_by(MPI_Wtime() - from);
    if (!all.threads) take(late, true);
    else if (late > 0) sg_actor_sleep_for(late);     /* meanwhile the other one uses the core */
    *done = 1;
    return code;
}

/* Nested runs of a thread are not those of one rank here. */
void __wrap_eddy__running_begin(eddy_running *r, const eddy_session *s);
void __wrap_eddy__running_begin(eddy_running *r, const eddy_session *s)
{
    *r = (eddy_running){ s, NULL };
}

void __wrap_eddy__running_end(const eddy_running *r);
void __wrap_eddy__running_end(const eddy_running *r) { (void)r; }
