/* mistakes.c -- what a network takes for what, over the records held out: a matrix, and pictures of
 * wrong examples, in the event file. */
#include "command/train/results.h"

#include <math.h>
#include <string.h>

enum { MOST_PICTURES = 24 };

typedef struct judging {
    const training *t;
    eddy_events    *to;
    int64_t         step;
    int             x, y;               /* places of parts; x is -1 without pictures */
    double          black, white;
    eddy_array     *count;              /* [true class, predicted class] */
    int             pictures;           /* written so far */
} judging;

/* A network may have more outputs than there are classes. */
static const char *class_name(const training *t, int64_t k)
{
    return t->train.words && k < t->train.classes ? t->train.words[k] : text("%lld", (long long)k);
}

static int part_named(const training *t, const char *name)
{
    for (int i = 0; i < t->held.n; i++)
        if (strcmp(t->held.names[i], name) == 0) return i;
    return -1;
}

/* Images are [n,height,width] of uint8, as in IDX files, or [n,height,width,channels]. */
static bool has_pictures(const eddy_array *x)
{
    const eddy_shape s = eddy_array_shape(x);
    const eddy_dtype d = eddy_array_dtype(x);
    if (s.rank == 3) return d == EDDY_UINT8;
    return s.rank == 4 && (s.dim[3] == 1 || s.dim[3] == 3) &&
           (d == EDDY_UINT8 || eddy_dtype_is_floating(d));
}

/* The pixels of record `row`, of which `black` becomes 0 and `white` 1. */
static void write_picture(judging *j, const eddy_array *x, int64_t row, const char *what)
{
    const eddy_shape s = eddy_array_shape(x);
    const int64_t    channels = s.rank == 4 ? s.dim[3] : 1, n = s.dim[1] * s.dim[2] * channels;
    eddy_array *p = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(s.dim[1], s.dim[2], channels));
    for (int64_t i = 0; p && i < n; i++)
        eddy_array_set(p, i, (eddy_array_get(x, row * n + i) - j->black) / (j->white - j->black));
    eddy_events_image(j->to, text("wrong at step %lld/%d: %s", (long long)j->step, ++j->pictures,
                                  what), j->step, p, 1);
    eddy_array_free(p);
}

static void judge(judging *j, const eddy_array *const *batch, const eddy_array *predicted)
{
    const eddy_array *y = batch[j->y];
    const int64_t     classes = eddy_array_shape(j->count).dim[0];
    int64_t          *count = eddy_array_data(j->count);
    for (int64_t i = 0; i < eddy_array_count(y); i++) {
        const int64_t is = (int64_t)eddy_array_get(y, i),
                      got = (int64_t)eddy_array_get(predicted, i);
        if (is < 0 || is >= classes || got < 0 || got >= classes) continue;
        count[is * classes + got]++;
        if (is == got || j->x < 0 || j->pictures == MOST_PICTURES) continue;
        write_picture(j, batch[j->x], i, text("%s taken for %s", class_name(j->t, is),
                                              class_name(j->t, got)));
    }
}

static bool judge_all(judging *j, eddy_session *s)
{
    const training   *t = j->t;
    const eddy_array *batch[MOST_PARTS];
    eddy_feed         feeds[MOST_PARTS + 1];
    eddy_dataset     *held = training_batches(t, true);
    bool              fine = held != NULL;
    while (fine && eddy_dataset_next(held, batch)) {
        eddy_array *got = NULL;
        fine = eddy_run(s, training_feeds(t, batch, false, feeds), EDDY_FETCH(t->predicted),
                        &got) == EDDY_OK;
        if (fine) judge(j, batch, got);
        else fail(NULL, "%s", eddy_session_message(s));
        eddy_array_free(got);
    }
    if (fine && eddy_dataset_status(held) != EDDY_OK)
        fine = fail(NULL, "%s", eddy_dataset_message(held)) == SUCCESS;
    eddy_dataset_free(held);
    return fine;
}

static void find_range(judging *j, const eddy_array *x)
{
    j->black = 0;
    j->white = 0;
    for (int64_t i = 0; i < eddy_array_count(x); i++) {
        const double v = eddy_array_get(x, i);
        if (v < j->black) j->black = v;
        if (v > j->white && isfinite(v)) j->white = v;
    }
    if (!(j->white > j->black)) j->white = j->black + 1;
}

bool mistakes_write(const training *t, eddy_session *s, int64_t step, eddy_events *to)
{
    judging j = { .t = t, .to = to, .step = step, .x = part_named(t, "x"),
                  .y = part_named(t, "y") };
    if (!eddy_is_valid(t->predicted) || !to) return true;
    const int64_t n = eddy_shape_of(t->output).dim[1];
    const char  **names = room((size_t)n, sizeof *names);
    for (int64_t k = 0; k < n; k++)
        names[k] = !t->train.words || k < t->train.classes ? class_name(t, k) : "";
    if (j.x < 0 || !has_pictures(t->held.arrays[j.x])) j.x = -1;
    else find_range(&j, t->held.arrays[j.x]);
    j.count = eddy_array_new(EDDY_INT64, EDDY_SHAPE(n, n));
    const bool fine = j.count && judge_all(&j, s);
    if (fine)
        eddy_events_table(to, "classes (rows) and what they are taken for (columns)", step,
                          j.count, names, names);
    eddy_array_free(j.count);
    return fine;
}
