/* training_events.c -- a training in event files, and the page that is made of them at the end. */
#include "command/train/results.h"

#include <math.h>
#include <string.h>

enum { MOST_HPARAMS = 100 };

/* The words of a configuration with their paths: "optimizer.adam.learning_rate". */
static void flatten(const config *c, const char *path, eddy_hparam *to, int *n)
{
    double v = NAN;
    if (c->kind == CONFIG_TEXT && *n < MOST_HPARAMS) {
        const bool number = config_is_number(c, &v);
        to[(*n)++] = (eddy_hparam){ path, v, number ? NULL : c->text };
    }
    for (int i = 0; c->kind != CONFIG_TEXT && i < c->count; i++) {
        const char *key = c->kind == CONFIG_MAP ? c->keys[i]->text : text("%d", i);
        flatten(c->at[i], *path ? text("%s.%s", path, key) : key, to, n);
    }
}

void events_begin(reporting *r, const state *now)
{
    const training *t = r->t;
    eddy_hparam     values[MOST_HPARAMS];
    const char     *tags[MOST_METRICS + 1];
    int             n = 0, n_tags = 0;
    r->events = eddy_events_new(t->folder);
    if (now->step > 0) return;
    eddy_events_graph(r->events, t->b.graph);
    flatten(t->root, "", values, &n);
    tags[n_tags++] = t->held.n > 0 ? "validation/loss" : "epoch/loss";
    for (int i = 0; i < t->n_metrics; i++)
        tags[n_tags++] = text("validation/%s", t->metrics[i].name);
    eddy_events_hparams(r->events, values, n, tags, n_tags);
}

/* The distribution of the elements of each variable. */
static void variables(const reporting *r, int64_t step)
{
    for (int i = 0; i < r->t->n_pairs; i++) {
        const eddy_tensor v = r->t->pairs[i].variable;
        eddy_array       *value = eddy_variable_value(r->session, v);
        if (value)
            eddy_events_histogram(r->events, text("values/%s", eddy_name_of(v)), step, value);
        eddy_array_free(value);
    }
}

void events_epoch(const reporting *r, const epoch_result *e)
{
    const training *t = r->t;
    eddy_events_scalar(r->events, "epoch/loss", e->step, e->loss);
    if (t->held.n > 0) eddy_events_scalar(r->events, "validation/loss", e->step, e->held_loss);
    for (int i = 0; i < t->n_metrics; i++)
        eddy_events_scalar(r->events, text("validation/%s", t->metrics[i].name), e->step,
                           e->metrics[i]);
    eddy_events_performance(r->events, e->step, r->session,
                            r->seconds > 0 ? (double)(r->steps * t->batch) / r->seconds : 0);
    variables(r, e->step);
}

void events_end(reporting *r)
{
    eddy_error e = { 0 };
    if (r->events && eddy_events_close(r->events, &e) != EDDY_OK) note(NULL, "%s", e.message);
    r->events = NULL;
}

bool events_report(reporting *r, int64_t step)
{
    const training *t = r->t;
    const char     *path = text("%s/report.html", t->folder);
    eddy_error      e = { 0 };
    if (!t->report) return true;
    if (!mistakes_write(t, r->session, step, r->events)) return false;
    events_end(r);
    if (eddy_events_report(t->folder, path, t->name, &e) != EDDY_OK)
        return fail_error(path, e.message) == SUCCESS;
    if (r->open) json_text("report", path);
    else printf("%s: how the training went\n", path);
    return true;
}
