/* run_training.c -- the loop of a training: steps, and after each epoch the validation, a line, a
 * checkpoint. */
#include "command/train/running.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { MOST_FETCHES = 4 };      /* of a step, besides summaries */

/* Ctrl-C ends the training after the step, with a checkpoint. */
static volatile sig_atomic_t interrupted = 0;
static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static bool failed(const running *r)
{
    return fail(NULL, "%s", eddy_session_message(r->s)) == SUCCESS;
}

static bool is_first(const running *r)
{
    return eddy_communicator_rank(r->t->communicator) == 0;
}

/* The value that decides, after an epoch. */
static double monitored(const training *t, const epoch_result *e)
{
    if (t->monitor >= 0) return e->metrics[t->monitor];
    return t->held.n > 0 ? e->held_loss : e->loss;
}

static bool improves(const training *t, double value, double best, double least_change)
{
    if (isnan(best)) return !isnan(value);
    return t->larger_is_better ? value > best + least_change : value < best - least_change;
}

/* ------------------------------------------------------------------- steps -- */

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Part `part` of the records of a batch, without copying. */
static const eddy_array *part_of(const eddy_array *a, int64_t part, int64_t parts,
                                 eddy_array_room *to)
{
    eddy_shape   s = eddy_array_shape(a);
    const size_t bytes = (size_t)(eddy_array_count(a) / parts) *
                         (size_t)eddy_dtype_size(eddy_array_dtype(a));
    s.dim[0] /= parts;
    return eddy_array_view(to, eddy_array_dtype(a), s,
                           (const char *)eddy_array_data(a) + (size_t)part * bytes);
}

/* A run with a part of a batch, the last one of a step or not. */
static bool run_part(running *r, const eddy_array *const *batch, int64_t part, bool is_last)
{
    const training   *t = r->t;
    const eddy_array *fed[MOST_PARTS];
    eddy_array_room   rooms[MOST_PARTS];
    eddy_feed         feeds[MOST_PARTS + 1];
    eddy_tensor      *fetches = r->fetches;
    eddy_array      **out = r->out;
    int               n = 0;
    for (int i = 0; i < t->train.n; i++) fed[i] = part_of(batch[i], part, t->parts, &rooms[i]);
    fetches[n++] = t->loss;
    fetches[n++] = t->step;
    if (eddy_is_valid(t->updates)) fetches[n++] = t->updates;
    if (eddy_is_valid(t->learning_rate)) fetches[n++] = t->learning_rate;
    const int own = n;
    /* Ranks meet in the order of their plans, so all fetch what the first one writes. */
    if (!is_first(r) && t->events && is_last && (r->now.step + 1) % t->event_steps == 0)
        n += eddy_collection_get(t->b.graph, EDDY_SUMMARIES, NULL, fetches + n, r->n_summaries);
    if (eddy_events_run(.events = is_last ? r->report.events : NULL, .session = r->s,
                        .feeds = training_feeds(t, fed, true, feeds), .fetches = { n, fetches },
                        .out = out, .step = r->now.step + 1, .every = t->event_steps) != EDDY_OK)
        return failed(r);
    eddy_array_set(r->losses, part, eddy_array_item(out[0]));
    if (eddy_is_valid(t->learning_rate)) r->now.rate = eddy_array_item(out[own - 1]);
    for (int i = 0; i < n; i++) {
        eddy_array_free(out[i]);
        out[i] = NULL;
    }
    return true;
}

/* The mean of the losses of all parts, which all ranks learn. */
static bool mean_loss(running *r, double *loss)
{
    const training *t = r->t;
    eddy_error      e = { 0 };
    if (t->communicator &&
        !eddy_array_all_reduce(t->communicator, EDDY_REDUCE_SUM, r->losses, &e))
        return fail(NULL, "%s", e.message) == SUCCESS;
    *loss = 0;
    for (int64_t p = 0; p < t->parts; p++) *loss += eddy_array_get(r->losses, p);
    *loss /= (double)t->parts;
    return true;
}

/* One step. *ends: the epoch was over before it. */
static bool step(running *r, bool *ends)
{
    const training   *t = r->t;
    const eddy_array *batch[MOST_PARTS];
    const double      begin = now_seconds();
    double            loss = 0;
    *ends = !eddy_dataset_next(r->batches, batch);
    if (eddy_dataset_status(r->batches) != EDDY_OK)
        return fail(NULL, "%s", eddy_dataset_message(r->batches)) == SUCCESS;
    if (*ends) return true;
    for (int64_t p = 0; p < t->parts; p++) eddy_array_set(r->losses, p, 0);
    for (int64_t p = eddy_communicator_rank(t->communicator); p < t->parts; p += t->ranks)
        if (!run_part(r, batch, p, p + t->ranks >= t->parts)) return false;
    if (!mean_loss(r, &loss)) return false;
    r->now.step++;
    r->now.loss_sum += loss;
    r->now.loss_count++;
    report_step(&r->report, r->now.step, loss, r->now.rate, now_seconds() - begin);
    if (isfinite(loss)) return true;
    return fail(NULL, "the loss is %s at step %lld; a smaller learning rate, or clipped gradients, "
                      "may help", isnan(loss) ? "not a number" : "infinite",
                (long long)r->now.step) == SUCCESS;
}

static bool end_epoch(running *r)
{
    const training *t = r->t;
    epoch_result    e = { .epoch = ++r->now.epoch, .step = r->now.step,
                          .learning_rate = r->now.rate,
                          .loss = r->now.loss_sum / (double)r->now.loss_count };
    if (!is_first(r)) {         /* the first rank judges the epoch */
        r->now.loss_sum = 0;
        r->now.loss_count = 0;
        return true;
    }
    if (!validate(r, &e)) return false;
    const double value = monitored(t, &e);
    const bool   best = improves(t, value, r->now.best, 0);
    if (best) {
        r->now.best = value;
        r->now.best_epoch = e.epoch;
    }
    if (improves(t, value, r->now.gain, t->least_change)) {
        r->now.gain = value;
        r->now.gain_epoch = e.epoch;
    }
    r->now.loss_sum = 0;
    r->now.loss_count = 0;
    if (!history_add(&r->past, t, &e) || !state_save(t, r->s, r->batches, &r->now, value))
        return false;
    report_epoch(&r->report, &e, best);
    return true;
}

/* Whether there is another step, which the first rank decides. */
static bool goes_on(const running *r, bool *fine)
{
    const bool  on = !state_is_final(r->t, &r->now) && !interrupted;
    eddy_error  e = { 0 };
    if (!r->t->communicator) return on;
    eddy_array *all = eddy_array_of(EDDY_INT32, on);
    *fine = all && eddy_array_broadcast(r->t->communicator, 0, all, &e);
    if (!*fine) fail(NULL, "%s", e.message);
    const bool also = *fine && eddy_array_item(all) != 0;
    eddy_array_free(all);
    return also;
}

/* Until the last step, or a signal. */
static bool loop(running *r)
{
    const training *t = r->t;
    bool            ends = false, fine = true;
    while (goes_on(r, &fine)) {
        if (!step(r, &ends)) return false;
        if (ends || r->now.step >= t->steps) {
            if (r->now.loss_count > 0 && !end_epoch(r)) return false;
        } else if (is_first(r) && t->checkpoint_steps > 0 &&
                   r->now.step % t->checkpoint_steps == 0 &&
                   !state_save(t, r->s, r->batches, &r->now, NAN))
            return false;
    }
    if (!fine || !is_first(r) || state_is_final(t, &r->now)) return fine;
    if (!state_save(t, r->s, r->batches, &r->now, NAN)) return false;
    report_end(&r->report);
    return fail(NULL, "interrupted after step %lld; with --resume the training goes on",
                (long long)r->now.step) == SUCCESS;
}

/* ------------------------------------------------------------ from start to end -- */

/* The state is read from a checkpoint by each rank; otherwise all begin with the same variables. */
static bool start(running *r, bool resume)
{
    const training *t = r->t;
    const int       me = eddy_communicator_rank(t->communicator);
    eddy_error      e = { 0 };
    r->s = eddy_session_new(t->b.graph, .threads = (int)t->threads,
                            .deterministic = t->deterministic, .first_run = me,
                            .run_stride = t->ranks);
    r->batches = training_batches(t, false);
    r->n_summaries = eddy_collection_size(t->b.graph, EDDY_SUMMARIES);
    r->fetches = room((size_t)r->n_summaries + MOST_FETCHES, sizeof *r->fetches);
    r->out = room((size_t)r->n_summaries + MOST_FETCHES, sizeof *r->out);
    r->losses = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(t->parts));
    if (me == 0 && t->held.n > 0) r->held = training_batches(t, true);
    if (!r->s || !r->batches || !r->losses || (me == 0 && t->held.n > 0 && !r->held)) return false;
    if (t->communicator && !eddy_initialize_variables(t->communicator, t->b.graph, r->s, &e))
        return fail(NULL, "%s", e.message) == SUCCESS;
    if (!t->communicator && eddy_run(r->s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t->b.graph)),
                                     NULL) != EDDY_OK)
        return failed(r);
    if (!weights_restore(&t->b, r->s)) return false;
    if (resume && !state_restore(t, r->s, r->batches, &r->now)) return false;
    return me > 0 || history_read(&r->past, t, r->now.epoch);
}

bool training_loop(const training *t, bool resume)
{
    running r = { .t = t, .now = { .best = NAN, .gain = NAN, .rate = NAN },
                  .report = { .t = t, .loss = NAN } };
    bool    fine = start(&r, resume);
    if (fine && is_first(&r)) {
        const struct sigaction now = { .sa_handler = interrupt,
                                       .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
        sigaction(SIGINT, &now, NULL);
        sigaction(SIGTERM, &now, NULL);
        report_begin(&r.report, t, r.s, &r.now);
    }
    if (fine) fine = loop(&r);
    if (is_first(&r)) report_end(&r.report);
    if (fine && is_first(&r)) fine = results_write(t, r.s, &r.now, &r.past, &r.report);
    report_close(&r.report);
    eddy_dataset_free(r.batches);
    eddy_dataset_free(r.held);
    eddy_array_free(r.losses);
    eddy_session_free(r.s);
    return fine;
}

int training_run(training *t, bool resume)
{
    if (!results_folder(t, resume)) return TROUBLE;
    const bool fine = t->divided ? ranks_run(t, resume) : training_loop(t, resume);
    return fine ? SUCCESS : TROUBLE;
}
