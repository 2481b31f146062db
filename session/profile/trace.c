/* trace.c -- the events of a session in Chrome's trace format: an object with a list of events, of
 * which "X" has a duration, "C" is the value of a counter, and "M" names a thread. Times are
 * microseconds. Events of one thread that lie within each other are shown so.
 *
 * Where an event ends when the next one begins, readers that round begin and duration would let
 * both overlap, and drop one. So both ends are whole nanoseconds, and the last one is left out. */
#include "session/profile/profile_rows.h"
#include "session/state/run_events.h"

/* Threads by the order of their first events. */
typedef struct threads {
    pthread_t *at;
    int        n;
} threads;

static int number_of(threads *t, pthread_t thread)
{
    int i = 0;
    while (i < t->n && !pthread_equal(t->at[i], thread)) i++;
    if (i == t->n) t->at[t->n++] = thread;
    return i + 1;
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

static int64_t nanoseconds_of(const summary *s, const eddy_session *from, int64_t ticks)
{
    return (int64_t)((double)(ticks - from->began_ticks) * s->nanoseconds);
}

void eddy__trace_lines(summary *s, eddy_session *from)
{
    trace     *t = &from->trace;
    eddy_arena arena = { .allocator = &from->allocator };
    threads    known = { .at = eddy__arena_alloc(&arena, (t->n + 1) * sizeof *known.at) };
    fprintf(s->to, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
    for (size_t i = 0; known.at && i < t->n; i++) {
        const trace_event *e = &t->at[i];
        const int64_t      begin = nanoseconds_of(s, from, e->begin),
                      length = nanoseconds_of(s, from, e->end) - begin;
        const double       at = (double)begin / 1000;
        fprintf(s->to, "{\"ph\": \"X\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, ",
                number_of(&known, e->thread), at, length > 0 ? (double)(length - 1) / 1000 : 0);
        put_name(s->to, e);
        fprintf(s->to, "},\n");
        if (e->kind == TRACE_NODE && e->number >= 0)
            fprintf(s->to, "{\"ph\": \"C\", \"pid\": 1, \"ts\": %.3f, \"name\": \"memory\", "
                           "\"args\": {\"bytes\": %lld}},\n", at, (long long)e->number);
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
