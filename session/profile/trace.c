/* trace.c -- the events of a session in Chrome's trace format: an object with a list of events, of
 * which "X" has a duration, "C" is the value of a counter, and "M" names a thread. Times are
 * microseconds. Events of one thread that lie within each other are shown so.
 *
 * Readers add and round in their own ways, and drop events of a thread that overlap then. So an
 * event leaves out its last nanosecond, in which the next one may begin; times lie a fifth of a
 * nanosecond above whole ones, which are then safe from being cut off to the one before; and what
 * contains an event that ends in the same nanosecond ends a hundredth of one later. */
#include "session/profile/profile_rows.h"
#include "session/state/run_events.h"

/* Threads by the order of their first events. */
typedef struct thread_row {
    pthread_t thread;
    int64_t   end;              /* the last one of its events, in nanoseconds */
    int       same;             /* the number of further events with that end */
} thread_row;

typedef struct threads {
    thread_row *at;
    int         n;
} threads;

static int number_of(threads *t, pthread_t thread)
{
    int i = 0;
    while (i < t->n && !pthread_equal(t->at[i].thread, thread)) i++;
    if (i == t->n) t->at[t->n++] = (thread_row){ .thread = thread, .end = -1 };
    return i + 1;
}

static int64_t nanoseconds_of(const summary *s, const eddy_session *from, int64_t ticks)
{
    return (int64_t)((double)(ticks - from->began_ticks) * s->nanoseconds);
}

/* Where and when; inner events come before what contains them. */
static void put_span(FILE *to, threads *known, const trace_event *e, int64_t begin, int64_t end)
{
    enum { MOST_SAME = 50 };
    const double fifth = 0.0002, hundredth = 0.00001;       /* of a nanosecond, in microseconds */
    const int    number = number_of(known, e->thread);
    thread_row  *at = &known->at[number - 1];
    if (end > at->end) *at = (thread_row){ e->thread, end, 0 };
    else if (end == at->end && at->same < MOST_SAME) at->same++;
    const double later = end == at->end ? at->same * hundredth : 0;
    fprintf(to, "{\"ph\": \"X\", \"pid\": 1, \"tid\": %d, \"ts\": %.5f, \"dur\": %.5f, ", number,
            (double)begin / 1000 + fifth,
            (end > begin ? (double)(end - begin - 1) / 1000 : 0) + fifth + later);
}

static void put_name(FILE *to, const trace_event *e)
{
    switch (e->kind) {
    case TRACE_RUN: fprintf(to, "\"name\": \"run\", \"cat\": \"run\""); break;
    case TRACE_WAIT: fprintf(to, "\"name\": \"wait for other runs\", \"cat\": \"wait\""); break;
    case TRACE_NODE:
        eddy__profile_put_string(to, "\"name\": ", e->label ? e->label : e->op->name);
        eddy__profile_put_string(to, ", \"cat\": \"node\", \"args\": {\"node\": ", e->node->name);
        fprintf(to, "}");
        break;
    case TRACE_ITERATION:
        fprintf(to, "\"name\": \"%s %lld\", \"cat\": \"iteration\"",
                e->node->op->flags & EDDY_OP_LOOP ? "iteration" : "branch", (long long)e->number);
        eddy__profile_put_string(to, ", \"args\": {\"node\": ", e->node->name);
        fprintf(to, "}");
        break;
    }
}

void eddy__trace_lines(summary *s, eddy_session *from)
{
    trace     *t = &from->trace;
    eddy_arena arena = { .allocator = &from->allocator };
    threads    known = { .at = eddy__arena_alloc(&arena, (t->n + 1) * sizeof *known.at) };
    fprintf(s->to, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
    for (size_t i = 0; known.at && i < t->n; i++) {
        const trace_event *e = &t->at[i];
        const int64_t      begin = nanoseconds_of(s, from, e->begin);
        put_span(s->to, &known, e, begin, nanoseconds_of(s, from, e->end));
        put_name(s->to, e);
        fprintf(s->to, "},\n");
        if (e->kind == TRACE_NODE && e->number >= 0)
            fprintf(s->to, "{\"ph\": \"C\", \"pid\": 1, \"ts\": %.3f, \"name\": \"memory\", "
                           "\"args\": {\"bytes\": %lld}},\n", (double)begin / 1000,
                    (long long)e->number);
    }
    for (int i = 0; i < known.n; i++)
        fprintf(s->to, "{\"ph\": \"M\", \"pid\": 1, \"tid\": %d, \"name\": \"thread_name\", "
                       "\"args\": {\"name\": \"thread %d\"}},\n", i + 1, i + 1);
    fprintf(s->to, "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", "
                   "\"args\": {\"name\": \"eddy\"}}], \"droppedEvents\": %zu}\n",
            known.at ? t->dropped : t->n + t->dropped);
    eddy__arena_free(&arena);
    t->n = t->dropped = 0;
}
