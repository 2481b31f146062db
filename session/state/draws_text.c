/* draws_text.c -- counts of draws as text, for checkpoints. They are of all sessions that share the
 * runs of a training, so that another number of sessions can go on. */
#include "session/state/internal.h"

#include <string.h>

void eddy__draws_print(eddy_session *s, eddy_text *t)
{
    const draw_table *d = &s->draws;
    pthread_mutex_lock(&s->draws.lock);
    for (int32_t i = 0; i < d->n; i++) {
        if (d->nodes[i].source != i || d->nodes[i].count == 0) continue;
        eddy__text_put(t, "%s%s=%llu", t->length > 0 ? " " : "",
                       s->graph->nodes[d->nodes[i].node]->name,
                       (unsigned long long)(d->nodes[i].count * d->stride));
    }
    pthread_mutex_unlock(&s->draws.lock);
}

/* The number at *at, which ends before a blank or at the end. */
static bool parse_count(const char **at, uint64_t *out)
{
    const char *c = *at;
    int64_t     v = 0;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c - '0', &v))
            return false;
    const bool ok = c > *at && (*c == 0 || *c == ' ');
    *at = c;
    *out = (uint64_t)v;
    return ok;
}

bool eddy__draws_parse(eddy_session *s, const char *path, const char *text, uint64_t *counts,
                       eddy_error *error)
{
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, "= ");
        const char  *name = at;
        uint64_t     count = 0;
        at += length;
        if (length == 0 || *at++ != '=' || !parse_count(&at, &count))
            return eddy__error_set(error, EDDY_CORRUPT,
                                   "%.300s: eddy.draws has no number for '%.*s'", path,
                                   (int)(length < 200 ? length : 200), name);
        if (*at == ' ') at++;
        count /= s->draws.stride;
        const eddy_name_entry *e = eddy__names_find(s->graph, name, length);
        const int32_t          source = e ? eddy__draws_source(s, e->node) : -1;
        if (source >= 0 && count > counts[source]) counts[source] = count;
    }
    return true;
}

void eddy__draws_set(eddy_session *s, const uint64_t *counts)
{
    pthread_mutex_lock(&s->draws.lock);
    for (int32_t i = 0; i < s->draws.n; i++) s->draws.nodes[i].count = counts[i];
    pthread_mutex_unlock(&s->draws.lock);
}
