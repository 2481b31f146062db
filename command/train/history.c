/* history.c -- the values of each epoch as a CSV file, which is replaced as a whole. */
#include "command/train/training_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool add(history *h, const epoch_result *e)
{
    if (h->count == h->capacity) {
        epoch_result *at = room((size_t)(h->capacity = 2 * h->capacity + 64), sizeof *at);
        if (h->count > 0) memcpy(at, h->at, (size_t)h->count * sizeof *at);
        h->at = at;
    }
    h->at[h->count++] = *e;
    return true;
}

static const char *path_of_history(const training *t) { return text("%s/history.csv", t->folder); }

/* Values after the numbers of epoch and step, in the order of the columns. */
static int values_of(const training *t, const epoch_result *e, double *to)
{
    int n = 0;
    to[n++] = e->loss;
    if (eddy_is_valid(t->learning_rate)) to[n++] = e->learning_rate;
    if (t->held.n > 0) to[n++] = e->held_loss;
    for (int i = 0; i < t->n_metrics; i++) to[n++] = e->metrics[i];
    return n;
}

static void set_values(const training *t, epoch_result *e, const double *from)
{
    e->loss = *from++;
    if (eddy_is_valid(t->learning_rate)) e->learning_rate = *from++;
    if (t->held.n > 0) e->held_loss = *from++;
    for (int i = 0; i < t->n_metrics; i++) e->metrics[i] = *from++;
}

static const char *heading(const training *t)
{
    const char *all = text("epoch,step,loss%s%s",
                           eddy_is_valid(t->learning_rate) ? ",learning_rate" : "",
                           t->held.n > 0 ? ",validation_loss" : "");
    for (int i = 0; i < t->n_metrics; i++) all = text("%s,%s", all, t->metrics[i].name);
    return all;
}

/* Only their headings give the columns a meaning, so a training goes on with the same ones. */
static bool same_heading(const training *t, const char *line)
{
    const char *expected = heading(t);
    const int   n = (int)strcspn(line, "\n");
    if ((size_t)n == strlen(expected) && strncmp(line, expected, (size_t)n) == 0) return true;
    return fail(path_of_history(t), "the columns are %.*s, with this configuration %s; --resume "
                                    "needs the same metrics", n, line, expected) == SUCCESS;
}

bool history_read(history *h, const training *t, int64_t epoch)
{
    FILE        *f = fopen(path_of_history(t), "r");
    epoch_result e = { 0 };
    double       values[MOST_METRICS + 3];
    const int    n = values_of(t, &e, values);
    char         line[2048];
    if (!f && epoch > 0) return fail(path_of_history(t), "%s", strerror(errno)) == SUCCESS;
    if (f && epoch > 0 && fgets(line, sizeof line, f) && !same_heading(t, line)) {
        fclose(f);
        return false;
    }
    while (f && fgets(line, sizeof line, f)) {
        char *at = line, *end;
        e.epoch = strtoll(at, &end, 10);
        if (end == at || e.epoch > epoch) continue;     /* the heading; after the checkpoint */
        e.step = strtoll(*end ? end + 1 : end, &at, 10);
        for (int i = 0; i < n; i++) values[i] = *at ? strtod(at + 1, &at) : NAN;
        set_values(t, &e, values);
        add(h, &e);
    }
    if (f) fclose(f);
    return true;
}

bool history_add(history *h, const training *t, const epoch_result *e)
{
    const char *path = path_of_history(t);
    FILE       *f = new_file(path);
    double      values[MOST_METRICS + 3];
    add(h, e);
    if (!f) return false;
    fprintf(f, "%s\n", heading(t));
    for (int k = 0; k < h->count; k++) {
        const int n = values_of(t, &h->at[k], values);
        fprintf(f, "%lld,%lld", (long long)h->at[k].epoch, (long long)h->at[k].step);
        for (int i = 0; i < n; i++) fprintf(f, ",%.9g", values[i]);
        fputc('\n', f);
    }
    return new_file_end(f, path, true);
}
