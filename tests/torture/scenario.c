/* scenario.c -- see scenario.h. */
#include "tests/torture/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS = 32 };

void outcome_of(outcome *o, eddy_status status, const char *message)
{
    if (o->status != EDDY_OK || status == EDDY_OK) return;
    o->status = status;
    snprintf(o->message, sizeof o->message, "%.299s", message ? message : "");
}

bool outcome_of_graph(outcome *o, const eddy_graph *g)
{
    if (!g) outcome_of(o, EDDY_NO_MEMORY, "no graph");
    else outcome_of(o, eddy_graph_status(g), eddy_graph_message(g));
    return g && eddy_graph_status(g) == EDDY_OK;
}

bool outcome_of_session(outcome *o, eddy_session *s, eddy_status status)
{
    outcome_of(o, status, status != EDDY_OK ? eddy_session_message(s) : "");
    return status == EDDY_OK;
}

void outcome_of_error(outcome *o, const eddy_error *e) { outcome_of(o, e->status, e->message); }

void outcome_of_made(outcome *o, const eddy_error *e, const void *made)
{
    if ((made == NULL) == (e->status == EDDY_OK))
        outcome_of(o, EDDY_INTERNAL, made ? "an object with an error" : "no object, no error");
    outcome_of_error(o, e);
}

void outcome_add(outcome *o, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        o->hash = (o->hash ^ ((const unsigned char *)p)[i]) * 1099511628211u;
}

void outcome_add_text(outcome *o, const char *s)
{
    if (s) outcome_add(o, s, strlen(s) + 1);
}

void outcome_add_array(outcome *o, const eddy_array *a)
{
    if (!a) return;
    const eddy_shape s = eddy_array_shape(a);
    const int        d = (int)eddy_array_dtype(a);
    outcome_add(o, &d, sizeof d);
    outcome_add(o, s.dim, (size_t)s.rank * sizeof *s.dim);
    outcome_add(o, eddy_array_data(a),
                (size_t)eddy_array_count(a) * eddy_dtype_size(eddy_array_dtype(a)));
}

void outcome_add_checkpoint(outcome *o, eddy_checkpoint *c, eddy_error *e)
{
    outcome_of_made(o, e, c);
    for (int i = 0; i < eddy_checkpoint_count(c) && e->status == EDDY_OK; i++) {
        eddy_array *a = eddy_checkpoint_value(c, eddy_checkpoint_entry_at(c, i).name, e);
        if (e->status == EDDY_UNIMPLEMENTED || e->status == EDDY_OUT_OF_RANGE)
            *e = (eddy_error){ 0 };      /* a text, or a number that no array holds */
        outcome_add_array(o, a);
        eddy_array_free(a);
    }
    outcome_of_error(o, e);
    eddy_checkpoint_free(c);
}

void free_results(eddy_array **a, int n)
{
    for (int i = 0; i < n; i++) eddy_array_free(a[i]);
}

void run_and_add(outcome *o, eddy_session *s, eddy_feeds feeds, eddy_list fetches)
{
    eddy_array *out[RESULTS] = { NULL };
    if (!s) {
        outcome_of(o, EDDY_NO_MEMORY, "no session");
        return;
    }
    if (fetches.count > RESULTS) abort();
    if (outcome_of_session(o, s, eddy_run(s, feeds, fetches, out)))
        for (int i = 0; i < fetches.count; i++) outcome_add_array(o, out[i]);
    free_results(out, fetches.count);
}

void run_once(outcome *o, eddy_graph *g, eddy_feeds feeds, eddy_list fetches)
{
    if (outcome_of_graph(o, g)) {
        eddy_session *s = eddy_session_new(g, .threads = 1);
        if (eddy_collection_size(g, EDDY_GLOBAL_VARIABLES) > 0) {
            const eddy_tensor init = eddy_initializer(g);
            if (outcome_of_graph(o, g) && s)
                outcome_of_session(o, s, eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL));
        }
        if (o->status == EDDY_OK) run_and_add(o, s, feeds, fetches);
        eddy_session_free(s);
    }
    eddy_graph_free(g);
}

eddy_array *numbers_in(eddy_dtype d, eddy_shape s, double low, double high)
{
    eddy_array  *a = eddy_array_new(d, s);
    const double n = (double)eddy_array_count(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, low + (high - low) * ((double)i + 0.5) / n);
    return a;
}

void fixture_end(void *state)
{
    fixture *f = state;
    eddy_session_free(f->session);
    eddy_graph_free(f->graph);
    eddy_array_free(f->value);
    eddy_array_free(f->larger);
    free(f);
}

const char *scratch(const char *name)
{
    static char paths[8][4096];
    static int  next;
    char       *path = paths[next++ % 8];
    const char *folder = getenv("EDDY_SCRATCH");
    snprintf(path, sizeof paths[0], "%s/%s", folder ? folder : ".", name);
    return path;
}

void scratch_put(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(scratch(name), "wb");
    if (!f) return;
    fwrite(p, 1, n, f);
    fclose(f);
}
