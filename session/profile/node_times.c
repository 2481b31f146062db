/* node_times.c -- counts the time of nodes that run one by one. */
#include "session/profile/node_times.h"

/* Two loops may have the same body, and two branches the same node. */
static node_time *place_of(const node_times *t, const eddy_node *node, node_place place)
{
    const uint64_t mix = 0x9e3779b97f4a7c15u;
    uint32_t       i =
        (uint32_t)(((uintptr_t)node / 16 * mix) >> 32) + (uint32_t)(uintptr_t)place.in / 16;
    for (;; i++) {
        node_time *at = &t->at[i & (uint32_t)(t->room - 1)];
        if (!at->node || (at->node == node && at->place.in == place.in &&
                          at->place.part == place.part))
            return at;
    }
}

/* At most half of the places are taken. */
static bool make_place(eddy_session *s)
{
    node_times *t = &s->node_times;
    if (t->n < t->room / 2) return true;
    node_times more = { .room = t->room > 0 ? 2 * t->room : 64 };
    more.at = eddy__allocate_zeroed(&s->allocator, (size_t)more.room, sizeof *more.at);
    if (!more.at) return false;
    for (int32_t i = 0; i < t->room; i++)
        if (t->at[i].node) *place_of(&more, t->at[i].node, t->at[i].place) = t->at[i];
    more.n = t->n;
    eddy__node_times_free(s);
    *t = more;
    return true;
}

void eddy__node_times_add(eddy_session *s, const eddy_node *node, node_place place, int64_t ticks,
                          int64_t iterations)
{
    pthread_mutex_lock(&s->report_lock);
    if (make_place(s)) {
        node_time *at = place_of(&s->node_times, node, place);
        if (!at->node) {
            *at = (node_time){ .node = node, .place = place };
            s->node_times.n++;
        }
        at->ticks += ticks;
        at->calls++;
        at->iterations += iterations;
    } else s->node_times.incomplete = true;
    pthread_mutex_unlock(&s->report_lock);
}

void eddy__node_times_free(eddy_session *s)
{
    eddy__release(&s->allocator, s->node_times.at,
                  (size_t)s->node_times.room * sizeof *s->node_times.at);
    s->node_times = (node_times){ 0 };
}
