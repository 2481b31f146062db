/* profile_session.c -- profiling: the time that a session's runs spend in each instruction.
 *
 * Runs count the ticks of each instruction (run.c, program_run.c, run_nodes.c); here the ticks are
 * calibrated against the clock. */
#include "session/profile/profile_rows.h"

#include <stdlib.h>
#include <string.h>

static int by_plan(const void *a, const void *b)
{
    const eddy_plan *x = *(const eddy_plan *const *)a, *y = *(const eddy_plan *const *)b;
    return (x->profile->ticks < y->profile->ticks) - (x->profile->ticks > y->profile->ticks);
}

static int by_node_ticks(const void *a, const void *b)
{
    const node_time *x = a, *y = b;
    return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

/* Copies the nodes that ran one by one; with the report_lock held. */
static bool copy_nodes(summary *s, const node_times *from, eddy_arena *arena)
{
    s->nodes = eddy__arena_alloc(arena, ((size_t)from->n + 1) * sizeof *s->nodes);
    for (int32_t i = 0; s->nodes && i < from->room; i++)
        if (from->at[i].node) s->nodes[s->n_nodes++] = from->at[i];
    return s->nodes && !from->incomplete;
}

/* The most instructions of a plan, or of one of its bodies at any depth. */
static int32_t most_rows(const eddy_plan *p)
{
    int32_t most = p ? p->n_code : 0;
    for (const eddy_program *q = p ? p->programs : NULL; q; q = q->next)
        for (int b = -1; b < q->n_bodies; b++) {
            const int32_t n = most_rows(b < 0 ? q->condition.plan : q->bodies[b].plan);
            if (n > most) most = n;
        }
    return most;
}

/* Lists what ran, and allocates rows for all plans' instructions, and for those of any body. */
static bool gather(summary *s, eddy_session *from, eddy_arena *arena)
{
    const int64_t ticks = eddy__ticks() - from->began_ticks;
    s->nanoseconds = ticks > 0 ? (double)(eddy__monotonic_nanoseconds() - from->began_nanoseconds) /
                                     (double)ticks
                               : 0;
    s->plans = eddy__arena_alloc(arena, (size_t)(from->n_plans + 1) * sizeof *s->plans);
    pthread_mutex_lock(&from->report_lock);
    const bool copied = copy_nodes(s, &from->node_times, arena);
    pthread_mutex_unlock(&from->report_lock);
    if (!s->plans || !copied) return false;
    int32_t most = 0;
    for (const eddy_plan *p = from->plans; p; p = p->next) {
        if (p->profile->runs == 0) continue;
        s->plans[s->n_plans++] = p;
        s->n_rows += p->n_code;
        if (most_rows(p) > most) most = most_rows(p);
        s->ticks += p->profile->ticks;
    }
    if (most > s->n_rows) s->n_rows = most;
    if (s->n_nodes > 0) qsort(s->nodes, (size_t)s->n_nodes, sizeof *s->nodes, by_node_ticks);
    qsort(s->plans, (size_t)s->n_plans, sizeof(const eddy_plan *), by_plan);
    s->rows = eddy__arena_alloc(arena, ((size_t)s->n_rows + 1) * sizeof *s->rows);
    return s->rows != NULL;
}

/* put: NULL for a trace. */
static eddy_status report(eddy_session *s, FILE *to, void (*put)(summary *))
{
    eddy_error e = { 0 };
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    if (eddy__session_check(s, &e) && put && !s->options.profile)
        eddy__error_set(
            &e, EDDY_INVALID_ARGUMENT,
            "session_profile: the session has no profile; create it with .profile = true");
    else if (e.status == EDDY_OK && !put && !s->options.trace)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT,
                        "session_trace: the session has no trace; create it with .trace = true");
    if (e.status == EDDY_OK) {
        summary    all = { .to = to ? to : stdout };
        eddy_arena arena = { .allocator = &s->allocator };
        pthread_rwlock_wrlock(&s->state_lock);
        if (gather(&all, s, &arena)) {
            if (put) put(&all);
            else eddy__trace_lines(&all, s);
        } else eddy__error_set(&e, EDDY_NO_MEMORY, "out of memory for a profile");
        pthread_rwlock_unlock(&s->state_lock);
        eddy__arena_free(&arena);
    }
    return eddy__session_finish(s, &e);
}

eddy_status eddy_session_profile(eddy_session *s, FILE *to)
{
    return report(s, to, eddy__profile_tables);
}

eddy_status eddy_session_profile_json(eddy_session *s, FILE *to)
{
    return report(s, to, eddy__profile_lines);
}

eddy_status eddy_session_trace(eddy_session *s, FILE *to) { return report(s, to, NULL); }
