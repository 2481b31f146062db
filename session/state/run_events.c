/* run_events.c -- records the events of a session. */
#include "session/state/run_events.h"

static bool make_room(eddy_session *s, trace *t)
{
    if (t->n < t->room) return true;
    const size_t room = t->room > 0 ? 2 * t->room : 1024;
    return t->n < MOST_EVENTS &&
           eddy__grow(&s->allocator, (void **)&t->at, t->room, room, sizeof *t->at) &&
           ((t->room = room), true);
}

void eddy__trace_add(eddy_session *s, trace_event e)
{
    e.thread = pthread_self();
    pthread_mutex_lock(&s->report_lock);
    trace *t = &s->trace;
    if (make_room(s, t)) t->at[t->n++] = e;
    else t->dropped++;
    pthread_mutex_unlock(&s->report_lock);
}

void eddy__trace_instruction(const eddy_plan *p, int32_t number, const instruction *i,
                             int64_t begin, int64_t end)
{
    const bool counts = number >= 0 && !p->embedded;
    eddy__trace_add(p->session,
                    (trace_event){ .kind = TRACE_NODE, .begin = begin, .end = end,
                                   .node = i->call.node, .op = i->kernel.op, .label = i->label,
                                   .number = counts ? (int64_t)p->profile->each[number].live
                                                    : -1 });
}

void eddy__trace_free(eddy_session *s)
{
    eddy__release(&s->allocator, s->trace.at, s->trace.room * sizeof *s->trace.at);
    s->trace = (trace){ 0 };
}
