/* draw_counts.c -- see draw_counts.h. */
#include "graph/body.h"
#include "session/state/internal.h"

#include <string.h>

/* -------------------------------------------------------------- sources -- */

/* The first entry that is not below the seed. */
static int32_t body_at(const draw_table *t, int64_t seed)
{
    int32_t low = 0, high = t->n_bodies;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (t->bodies[middle].seed < seed) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool has_body(const draw_table *t, int32_t at, int64_t seed)
{
    return at < t->n_bodies && t->bodies[at].seed == seed;
}

/* Two sources turn out to be one: the first. */
static int32_t join(draw_table *t, int32_t a, int32_t b)
{
    const int32_t first = a < b ? a : b, other = a < b ? b : a;
    if (t->nodes[other].count > t->nodes[first].count)
        t->nodes[first].count = t->nodes[other].count;
    for (int32_t i = 0; i < t->n; i++)
        if (t->nodes[i].source == other) t->nodes[i].source = first;
    for (int32_t i = 0; i < t->n_bodies; i++)
        if (t->bodies[i].source == other) t->bodies[i].source = first;
    return first;
}

/* The bodies of a node, at any depth, each once. */
typedef struct body_list {
    const eddy_graph **at;
    int32_t            n, capacity;
} body_list;

static bool list_body(const eddy_session *s, body_list *l, const eddy_graph *body)
{
    if (!eddy__graph_alive(body)) return true;      /* compiling the node is an error */
    for (int32_t i = 0; i < l->n; i++)
        if (l->at[i] == body) return true;
    if (l->n == l->capacity) {
        const int32_t bigger = l->capacity ? 2 * l->capacity : 16;
        if (!eddy__grow(&s->allocator, (void **)&l->at, (size_t)l->capacity, (size_t)bigger,
                        sizeof *l->at))
            return false;
        l->capacity = bigger;
    }
    l->at[l->n++] = body;
    return true;
}

static bool list_bodies(const eddy_session *s, body_list *l, const eddy_node *node)
{
    l->n = 0;
    if (!(node->op->flags & EDDY_OP_BODY)) return true;
    bool ok = list_body(s, l, eddy__body_of(node));
    for (int32_t i = 0; ok && i < l->n; i++)
        for (int32_t id = 1; ok && id <= l->at[i]->size; id++) {
            const eddy_node *inner = l->at[i]->nodes[id];
            if (inner->op->flags & EDDY_OP_BODY) ok = list_body(s, l, eddy__body_of(inner));
        }
    return ok;
}

static bool reserve(const eddy_session *s, draw_table *t, int32_t bodies)
{
    int32_t bigger = t->capacity ? 2 * t->capacity : 16;
    if (t->n == t->capacity) {
        if (!eddy__grow(&s->allocator, (void **)&t->nodes, (size_t)t->capacity, (size_t)bigger,
                        sizeof *t->nodes))
            return false;
        t->capacity = bigger;
    }
    if (t->n_bodies + bodies <= t->bodies_capacity) return true;
    bigger = 2 * t->bodies_capacity + bodies;
    if (!eddy__grow(&s->allocator, (void **)&t->bodies, (size_t)t->bodies_capacity, (size_t)bigger,
                    sizeof *t->bodies))
        return false;
    t->bodies_capacity = bigger;
    return true;
}

static void add_node(draw_table *t, int32_t id, const body_list *l)
{
    int32_t source = t->n;
    t->nodes[t->n++] = (draw_node){ .node = id, .source = source };
    for (int32_t i = 0; i < l->n; i++) {
        const int64_t seed = l->at[i]->seed;
        const int32_t at = body_at(t, seed);
        if (has_body(t, at, seed)) {
            if (t->bodies[at].source != source) source = join(t, source, t->bodies[at].source);
            continue;
        }
        memmove(&t->bodies[at + 1], &t->bodies[at],
                (size_t)(t->n_bodies++ - at) * sizeof *t->bodies);
        t->bodies[at] = (draw_body){ seed, source };
    }
}

bool eddy__draws_update(eddy_session *s, eddy_error *error)
{
    draw_table *t = &s->draws;
    body_list   l = { 0 };
    bool        ok = true;
    for (; ok && t->seen < s->graph->size; t->seen += ok) {
        const eddy_node *node = s->graph->nodes[t->seen + 1];
        if (!eddy__op_draws(node->op) && !(node->op->flags & EDDY_OP_BODY)) continue;
        pthread_mutex_lock(&t->lock);
        ok = list_bodies(s, &l, node) && reserve(s, t, l.n);
        if (ok) add_node(t, node->id, &l);
        pthread_mutex_unlock(&t->lock);
    }
    eddy__release(&s->allocator, l.at, (size_t)l.capacity * sizeof *l.at);
    return ok || eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while inspecting the graph");
}

int32_t eddy__draws_source(eddy_session *s, int32_t node)
{
    draw_table *t = &s->draws;
    pthread_mutex_lock(&t->lock);
    int32_t low = 0, high = t->n;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (t->nodes[middle].node < node) low = middle + 1;
        else high = middle;
    }
    const int32_t source = low < t->n && t->nodes[low].node == node ? t->nodes[low].source : -1;
    pthread_mutex_unlock(&t->lock);
    return source;
}

void eddy__draws_free(eddy_session *s)
{
    draw_table *t = &s->draws;
    eddy__release(&s->allocator, t->nodes, (size_t)t->capacity * sizeof *t->nodes);
    eddy__release(&s->allocator, t->bodies, (size_t)t->bodies_capacity * sizeof *t->bodies);
}

/* --------------------------------------------------------------- counts -- */

/* With the table's lock held. A source may have been joined to another since it was looked up. */
static uint64_t take(draw_table *t, int32_t source, uint64_t *taken)
{
    source = t->nodes[source].source;
    if (taken && taken[source] != EDDY_NOT_DRAWN) return taken[source];
    const uint64_t count = t->first + t->stride * t->nodes[source].count++;
    if (taken) taken[source] = count;
    return count;
}

uint64_t eddy__draws_take(eddy_session *s, int32_t source, uint64_t *taken)
{
    pthread_mutex_lock(&s->draws.lock);
    const uint64_t count = take(&s->draws, source, taken);
    pthread_mutex_unlock(&s->draws.lock);
    return count;
}

uint64_t eddy__draws_of(eddy_session *s, int32_t node, uint64_t *taken)
{
    const int32_t source = eddy__draws_source(s, node);
    return source >= 0 ? eddy__draws_take(s, source, taken) : 0;
}

void eddy__draws_begin(eddy_plan *p, uint64_t *taken)
{
    if (!p->draws) return;
    pthread_mutex_lock(&p->session->draws.lock);
    for (plan_draw *d = p->draws; d; d = d->next)
        d->count = take(&p->session->draws, d->source, taken);
    pthread_mutex_unlock(&p->session->draws.lock);
}

bool eddy__draws_room(eddy_session *s, uint64_t **taken, int32_t *n, eddy_error *error)
{
    if (!eddy__draws_update(s, error)) return false;
    const int32_t wanted = s->draws.n;
    if (wanted <= *n) return true;
    if (!eddy__grow(&s->allocator, (void **)taken, (size_t)*n, (size_t)wanted, sizeof **taken))
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while inspecting the graph");
    for (; *n < wanted; ++*n) (*taken)[*n] = EDDY_NOT_DRAWN;
    return true;
}
