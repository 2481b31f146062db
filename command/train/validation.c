/* validation.c -- the loss and the metrics over the records held out. */
#include "command/train/running.h"

static bool validate_with(const running *r, eddy_session *s, epoch_result *e)
{
    const training   *t = r->t;
    const eddy_array *batch[MOST_PARTS];
    eddy_feed         feeds[MOST_PARTS + 1];
    eddy_tensor       fetches[MOST_METRICS + 1];
    eddy_array       *out[MOST_METRICS + 1] = { NULL };
    double            sum = 0, count = 0;
    bool              fine = true;
    if (t->n_metrics > 0)
        fine = eddy_run(s, EDDY_FEED(), EDDY_FETCH(t->start_metrics), NULL) == EDDY_OK;
    fetches[0] = t->loss;
    for (int i = 0; i < t->n_metrics; i++) fetches[i + 1] = t->metrics[i].update;
    while (fine && eddy_dataset_next(r->held, batch)) {
        const double n = (double)eddy_array_shape(batch[0]).dim[0];
        fine = eddy_run(s, training_feeds(t, batch, false, feeds),
                        (eddy_list){ t->n_metrics + 1, fetches }, out) == EDDY_OK;
        if (fine) sum += n * eddy_array_item(out[0]);
        count += n;
    }
    e->held_loss = sum / count;
    for (int i = 0; i < t->n_metrics; i++) fetches[i] = t->metrics[i].value;
    if (fine && t->n_metrics > 0)
        fine = eddy_run(s, EDDY_FEED(), (eddy_list){ t->n_metrics, fetches }, out) == EDDY_OK;
    for (int i = 0; fine && i < t->n_metrics; i++) e->metrics[i] = eddy_array_item(out[i]);
    for (int i = 0; i <= t->n_metrics; i++) eddy_array_free(out[i]);
    if (!fine) return fail(NULL, "%s", eddy_session_message(s)) == SUCCESS;
    if (eddy_dataset_status(r->held) == EDDY_OK) return true;
    return fail(NULL, "%s", eddy_dataset_message(r->held)) == SUCCESS;
}

/* A session with the same values of variables. */
static eddy_session *copy_session(const running *r)
{
    eddy_graph   *g = r->t->b.graph;
    eddy_session *s = eddy_session_new(g, .threads = (int)r->t->threads, .deterministic = true);
    bool          fine = s != NULL;
    for (int i = 0; fine && i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *value = eddy_variable_value(r->s, v);
        fine = value && eddy_variable_set(s, v, value) == EDDY_OK;
        eddy_array_free(value);
    }
    if (fine) return s;
    fail(NULL, "validation: %s", s ? eddy_session_message(s) : "out of memory");
    eddy_session_free(s);
    return NULL;
}

bool validate(running *r, epoch_result *e)
{
    if (r->t->held.n == 0) return true;
    if (!r->t->divided) return validate_with(r, r->s, e);
    /* Runs of the first rank alone would draw random numbers that belong to other ranks. */
    eddy_session *s = copy_session(r);
    const bool    fine = s && validate_with(r, s, e);
    eddy_session_free(s);
    return fine;
}
