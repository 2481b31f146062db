/* run_training.c -- the loop of a training: steps, and after each epoch the validation, a line, a
 * checkpoint. */
#include "command/train/results.h"
#include "command/train/state.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

/* Ctrl-C ends the training after the step, with a checkpoint. */
static volatile sig_atomic_t interrupted = 0;
static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* The parts of a training that runs. */
typedef struct running {
    const training *t;
    eddy_session   *s;
    eddy_dataset   *batches, *held;
    state           now;
    history         past;
    reporting       report;
} running;

static bool failed(const running *r)
{
    return fail(NULL, "%s", eddy_session_message(r->s)) == SUCCESS;
}

/* -------------------------------------------------------------- validation -- */

/* The mean loss and the metrics over all records held out. */
static bool evaluate(running *r, epoch_result *e)
{
    const training   *t = r->t;
    const eddy_array *batch[MOST_PARTS];
    eddy_feed         feeds[MOST_PARTS + 1];
    eddy_tensor       fetches[MOST_METRICS + 1];
    eddy_array       *out[MOST_METRICS + 1] = { NULL };
    double            sum = 0, count = 0;
    bool              fine = true;
    if (t->held.n == 0) return true;
    if (t->n_metrics > 0)
        fine = eddy_run(r->s, EDDY_FEED(), EDDY_FETCH(t->start_metrics), NULL) == EDDY_OK;
    fetches[0] = t->loss;
    for (int i = 0; i < t->n_metrics; i++) fetches[i + 1] = t->metrics[i].update;
    while (fine && eddy_dataset_next(r->held, batch)) {
        const double n = (double)eddy_array_shape(batch[0]).dim[0];
        fine = eddy_run(r->s, training_feeds(t, batch, false, feeds),
                        (eddy_list){ t->n_metrics + 1, fetches }, out) == EDDY_OK;
        if (fine) sum += n * eddy_array_item(out[0]);
        count += n;
    }
    e->held_loss = sum / count;
    for (int i = 0; i < t->n_metrics; i++) fetches[i] = t->metrics[i].value;
    if (fine && t->n_metrics > 0)
        fine = eddy_run(r->s, EDDY_FEED(), (eddy_list){ t->n_metrics, fetches }, out) == EDDY_OK;
    for (int i = 0; fine && i < t->n_metrics; i++) e->metrics[i] = eddy_array_item(out[i]);
    for (int i = 0; i <= t->n_metrics; i++) eddy_array_free(out[i]);
    if (!fine) return failed(r);
    if (eddy_dataset_status(r->held) == EDDY_OK) return true;
    return fail(NULL, "%s", eddy_dataset_message(r->held)) == SUCCESS;
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

/* One step. *ends: the epoch was over before it. */
static bool step(running *r, bool *ends)
{
    const training   *t = r->t;
    const eddy_array *batch[MOST_PARTS];
    eddy_feed         feeds[MOST_PARTS + 1];
    eddy_tensor       fetches[4] = { t->loss, t->step };
    eddy_array       *out[4] = { NULL };
    int               n = 2;
    const double      begin = now_seconds();
    *ends = !eddy_dataset_next(r->batches, batch);
    if (eddy_dataset_status(r->batches) != EDDY_OK)
        return fail(NULL, "%s", eddy_dataset_message(r->batches)) == SUCCESS;
    if (*ends) return true;
    if (eddy_is_valid(t->updates)) fetches[n++] = t->updates;
    if (eddy_is_valid(t->learning_rate)) fetches[n++] = t->learning_rate;
    if (eddy_events_run(.events = r->report.events, .session = r->s,
                        .feeds = training_feeds(t, batch, true, feeds),
                        .fetches = { n, fetches }, .out = out, .step = r->now.step + 1,
                        .every = t->event_steps) != EDDY_OK)
        return failed(r);
    const double loss = eddy_array_item(out[0]);
    if (eddy_is_valid(t->learning_rate)) r->now.rate = eddy_array_item(out[n - 1]);
    for (int i = 0; i < n; i++) eddy_array_free(out[i]);
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
    if (!evaluate(r, &e)) return false;
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

/* Until the last step, or a signal. */
static bool loop(running *r)
{
    const training *t = r->t;
    bool            ends = false;
    while (!state_is_final(t, &r->now) && !interrupted) {
        if (!step(r, &ends)) return false;
        if (ends || r->now.step >= t->steps) {
            if (r->now.loss_count > 0 && !end_epoch(r)) return false;
        } else if (t->checkpoint_steps > 0 && r->now.step % t->checkpoint_steps == 0 &&
                   !state_save(t, r->s, r->batches, &r->now, NAN))
            return false;
    }
    if (state_is_final(t, &r->now)) return true;
    if (!state_save(t, r->s, r->batches, &r->now, NAN)) return false;
    report_end(&r->report);
    return fail(NULL, "interrupted after step %lld; with --resume the training goes on",
                (long long)r->now.step) == SUCCESS;
}

/* ------------------------------------------------------------ from start to end -- */

static bool start(running *r, bool resume)
{
    const training *t = r->t;
    r->s = eddy_session_new(t->b.graph, .threads = (int)t->threads,
                            .deterministic = t->deterministic);
    r->batches = training_batches(t, false);
    if (t->held.n > 0) r->held = training_batches(t, true);
    if (!r->s || !r->batches || (t->held.n > 0 && !r->held)) return false;
    if (eddy_run(r->s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(t->b.graph)), NULL) != EDDY_OK)
        return failed(r);
    if (!weights_restore(&t->b, r->s)) return false;
    if (resume && !state_restore(t, r->s, r->batches, &r->now)) return false;
    return history_read(&r->past, t, r->now.epoch);
}

int training_run(training *t, bool resume)
{
    running r = { .t = t, .now = { .best = NAN, .gain = NAN, .rate = NAN } };
    bool    fine = results_folder(t, resume) && start(&r, resume);
    if (fine) {
        const struct sigaction now = { .sa_handler = interrupt,
                                       .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
        sigaction(SIGINT, &now, NULL);
        sigaction(SIGTERM, &now, NULL);
        report_begin(&r.report, t, r.s, &r.now);
        fine = loop(&r);
        report_end(&r.report);
    }
    if (fine) fine = results_write(t, r.s, &r.now, &r.past, &r.report);
    report_close(&r.report);
    eddy_dataset_free(r.batches);
    eddy_dataset_free(r.held);
    eddy_session_free(r.s);
    return fine ? SUCCESS : TROUBLE;
}
