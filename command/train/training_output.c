/* training_output.c -- a training on the terminal and as JSON. */
#include "command/train/results.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *value_text(double v)
{
    const double size = fabs(v);
    return text(size == 0 || (size >= 1e-3 && size < 1e4) ? "%.4f" : "%.3e", v);
}

/* A line on stdout, above the bar. */
static void line(const reporting *r, const char *words)
{
    if (as_json) return;
    if (r->bar && isatty(STDOUT_FILENO)) eddy_progress_log(r->bar, "%s", words);
    else {
        printf("%s\n", words);
        fflush(stdout);
    }
}

/* ------------------------------------------------------------------- lines -- */

static int64_t parameters_of(const training *t)
{
    int64_t n = 0;
    for (int i = 0; i < t->n_layers; i++) n += t->layers[i].parameters;
    return n;
}

void report_begin(reporting *r, const training *t, eddy_session *s, const state *now)
{
    *r = (reporting){ .t = t, .session = s, .before = now->step, .loss = NAN };
    if (t->events) events_begin(r, now);
    if (as_json) {
        json_open(NULL, '{');
        json_text("name", t->name);
        json_number("records", (double)t->train.size);
        json_number("validation_records", t->held.n > 0 ? (double)t->held.size : 0);
        json_number("parameters", (double)parameters_of(t));
        json_number("steps", (double)t->steps);
        json_number("resumed_at", (double)now->step);
        json_open("epochs", '[');
        r->open = true;
    }
    line(r, text("%s%s%s: %s%s, %s; %s an epoch, %s in all", bold(stdout), t->name, plain(stdout),
                 number_of(t->train.size, "record"),
                 t->held.n > 0 ? text(" and %s for validation", whole_text(t->held.size)) : "",
                 number_of(parameters_of(t), "parameter"), number_of(t->steps_per_epoch, "step"),
                 whole_text(t->steps)));
    const bool final = state_is_final(t, now);
    if (now->step > 0)
        line(r, text("resumed after step %s, in epoch %s", whole_text(now->step),
                     whole_text(now->epoch + !final)));
    if (!final && !as_json && isatty(STDERR_FILENO))
        r->bar = eddy_progress_new(.total = t->steps, .done = now->step, .label = t->name);
}

void report_step(reporting *r, int64_t step, double loss, double rate, double seconds)
{
    r->loss = isnan(r->loss) ? loss : 0.95 * r->loss + 0.05 * loss;
    r->seconds += seconds;
    r->steps++;
    if (r->events && step % r->t->event_steps == 0) {
        eddy_events_scalar(r->events, "loss", step, loss);
        if (!isnan(rate)) eddy_events_scalar(r->events, "learning_rate", step, rate);
    }
    if (!r->bar) return;
    eddy_progress_metric(r->bar, "loss", r->loss);
    eddy_progress_add(r->bar, 1);
}

static void json_epoch(const training *t, const epoch_result *e)
{
    json_open(NULL, '{');
    json_number("epoch", (double)e->epoch);
    json_number("step", (double)e->step);
    json_number("loss", e->loss);
    if (!isnan(e->learning_rate)) json_element("learning_rate", e->learning_rate, EDDY_FLOAT32);
    if (t->held.n > 0) json_number("validation_loss", e->held_loss);
    for (int i = 0; i < t->n_metrics; i++)
        json_element(t->metrics[i].name, e->metrics[i], EDDY_FLOAT32);
    json_close('}');
}

void report_epoch(reporting *r, const epoch_result *e, bool best)
{
    const training *t = r->t;
    if (r->events) events_epoch(r, e);
    r->seconds = 0;
    r->steps = 0;
    if (as_json) {
        json_epoch(t, e);
        fflush(stdout);
        return;
    }
    const char *last = text("%lld", (long long)t->epochs);
    const char *words = text("epoch %*lld/%s  loss %s", (int)strlen(last), (long long)e->epoch,
                             last, value_text(e->loss));
    if (t->held.n > 0) words = text("%s  validation loss %s", words, value_text(e->held_loss));
    for (int i = 0; i < t->n_metrics; i++)
        words = text("%s  %s %s", words, t->metrics[i].name, value_text(e->metrics[i]));
    line(r, text("%s%s", words, best ? "  best" : ""));
    if (!r->bar) return;
    if (t->monitor >= 0)
        eddy_progress_metric(r->bar, t->metrics[t->monitor].name, e->metrics[t->monitor]);
    else if (t->held.n > 0) eddy_progress_metric(r->bar, "validation", e->held_loss);
}

void report_end(reporting *r)
{
    eddy_progress_free(r->bar);
    r->bar = NULL;
    if (r->open) json_close(']');
}

void report_close(reporting *r)
{
    events_end(r);
    if (r->open) json_close('}');
    r->open = false;
}
