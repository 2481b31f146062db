/* settings.c -- the parts of a configuration other than the network: data, length, checkpoints. */
#include "command/train/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {
    "data", "model", "loss", "optimizer", "metrics", "epochs", "steps", "seed", "threads",
    "deterministic", "checkpoints", "monitor", "early_stopping", "events", "report", "output",
    "sample", "precision", "ranks", NULL,
};
static const char *const data_keys[] = {
    "arrays", "csv", "images", "text", "package", "limit", "validation", "prepare", "augment",
    "normalize", "batch", "shuffle", "classes", NULL,
};

/* Numbers of classes mean the same in both. */
static bool same_classes(const training *t, const config *c)
{
    const records *a = &t->train, *b = &t->held;
    if (!a->words && !b->words) return true;
    for (int64_t k = 0; k < a->classes || k < b->classes; k++) {
        const char *one = k < a->classes && a->words ? a->words[k] : NULL,
                   *other = k < b->classes && b->words ? b->words[k] : NULL;
        if (one && other && strcmp(one, other) == 0) continue;
        return config_fail(c, "the classes differ from those of the training: %s%s%s",
                           one ? one : "none", " and ", other ? other : "none");
    }
    return true;
}

/* "20%", 0.2, or where the records of the validation are. */
static bool read_validation(training *t, const config *c, const char *package)
{
    double fraction = 0;
    char  *end;
    if (!c) return true;
    if (c->kind == CONFIG_MAP) {
        static const char *const known[] = { "arrays", "csv", "images", "text", NULL };
        if (!config_check(c, "validation", known) ||
            !records_read(&t->held, c, t->b.folder, package))
            return false;
        if (t->held.n != t->train.n)
            return config_fail(c, "validation has %s, the training has %s",
                               number_of(t->held.n, "part"), number_of(t->train.n, "part"));
        for (int i = 0; i < t->held.n; i++)
            if (strcmp(t->held.names[i], t->train.names[i]) != 0)
                return config_fail(c, "the parts of validation are not in the order of the "
                                      "training: '%s', '%s'", t->held.names[i], t->train.names[i]);
        return same_classes(t, c);
    }
    if (c->kind == CONFIG_TEXT) fraction = strtod(c->text, &end);
    if (c->kind == CONFIG_TEXT && *c->text && strcmp(end, "%") == 0) fraction /= 100;
    else if (!config_number(c, &fraction)) return false;
    if (!(fraction > 0 && fraction < 1))
        return config_fail(c, "validation is a part of the records, such as 0.2 or 20%%, or has "
                              "arrays of its own");
    return records_hold_out(&t->train, &t->held, fraction, t->seed, c);
}

/* Names of classes that the data has as numbers. */
static bool read_classes(training *t, const config *c)
{
    if (!c) return true;
    if (c->kind != CONFIG_LIST || c->count == 0)
        return config_fail(c, "classes is a list of names, such as [cat, dog]");
    if (t->train.words) return config_fail(c, "the data has names of the classes");
    if (c->count < t->train.classes)
        return config_fail(c, "the data has %lld classes, and there are %d names",
                           (long long)t->train.classes, (int)c->count);
    const char **words = room((size_t)c->count, sizeof *words);
    for (int i = 0; i < c->count; i++)
        if (!config_text(c->at[i], &words[i])) return false;
    t->train.words = t->held.words = words;
    t->train.classes = t->held.classes = c->count;
    return true;
}

static bool read_data(training *t, const config *c)
{
    const char *package = NULL;
    int64_t     limit = INT64_MAX;
    if (!c) return config_fail(t->root, "there is no 'data'");
    if (!config_check(c, "data", data_keys) ||
        !config_text(config_get(c, "package"), &package) ||
        !config_count(config_get(c, "limit"), 1, &limit) ||
        !config_count(config_get(c, "batch"), 1, &t->batch) ||
        !config_bool(config_get(c, "shuffle"), &t->shuffle) ||
        !records_read(&t->train, c, t->b.folder, package) || !records_limit(&t->train, limit) ||
        !read_validation(t, config_get(c, "validation"), package) ||
        !read_classes(t, config_get(c, "classes")))
        return false;
    if (t->batch > t->train.size) t->batch = t->train.size;
    t->b.classes = t->train.classes;
    return true;
}

/* Epochs, steps, or whichever ends first. */
static bool read_length(training *t)
{
    const config *epochs = config_get(t->root, "epochs"), *steps = config_get(t->root, "steps");
    int64_t       most = INT64_MAX;
    if (!epochs && !steps) return config_fail(t->root, "there is no 'epochs' and no 'steps'");
    if (!config_count(epochs, 1, &t->epochs) || !config_count(steps, 1, &most)) return false;
    t->steps_per_epoch = t->train.size / t->batch;
    if (t->epochs > INT64_MAX / t->steps_per_epoch) return config_fail(epochs, "too many steps");
    t->steps = epochs && t->epochs * t->steps_per_epoch < most ? t->epochs * t->steps_per_epoch
                                                               : most;
    t->epochs = (t->steps - 1) / t->steps_per_epoch + 1;
    t->b.steps = t->steps;
    t->b.steps_per_epoch = t->steps_per_epoch;
    return true;
}

static bool read_results(training *t)
{
    static const char *const known[] = { "last", "steps", NULL };
    static const char *const stop[] = { "patience", "least_change", NULL };
    const config *c = config_get(t->root, "checkpoints"),
                 *early = config_get(t->root, "early_stopping"),
                 *events = config_get(t->root, "events");
    const config *report = config_get(t->root, "report");
    double        on;
    if (c && (!config_check(c, "checkpoints", known) ||
              !config_count(config_get(c, "last"), 1, &t->last_checkpoints) ||
              !config_count(config_get(c, "steps"), 1, &t->checkpoint_steps)))
        return false;
    if (t->last_checkpoints > INT32_MAX) t->last_checkpoints = INT32_MAX;
    if (early && early->kind == CONFIG_TEXT) {
        if (!config_count(early, 1, &t->patience)) return false;
    } else if (early && (!config_check(early, "early_stopping", stop) ||
                         !config_count(config_get(early, "patience"), 1, &t->patience) ||
                         !config_number(config_get(early, "least_change"), &t->least_change)))
        return false;
    if (events && config_is_number(events, &on)
            ? !config_count(events, 1, &t->event_steps) : !config_bool(events, &t->events))
        return false;
    t->report = t->events;
    if (!config_bool(report, &t->report)) return false;
    return t->events || !t->report ||
           config_fail(report, "a report is made of event files, which 'events: false' turns off");
}

static bool read_precision(training *t, const config *c)
{
    const char *word = "float32";
    if (!config_text(c, &word)) return false;
    t->precision = eddy_dtype_named(word);
    return t->precision == EDDY_FLOAT32 || t->precision == EDDY_BFLOAT16 ||
           t->precision == EDDY_FLOAT16 ||
           config_fail(c, "precision is bfloat16, float16 or float32, not '%s'", word);
}

static bool is_power(int64_t n) { return (n & (n - 1)) == 0; }

/* A number of ranks, or also of the parts of a batch, on which the bits depend. */
static bool read_ranks(training *t, const config *c)
{
    enum { MOST = 64, USUAL_PARTS = 4 };
    static const char *const known[] = { "count", "parts", NULL };
    const bool    map = c && c->kind == CONFIG_MAP;
    const config *count = map ? config_get(c, "count") : c,
                 *parts = map ? config_get(c, "parts") : NULL;
    t->ranks = t->parts = 1;
    if (!c) return true;
    if ((map && !config_check(c, "ranks", known)) || !config_count(count, 1, &t->ranks))
        return false;
    t->parts = t->ranks > USUAL_PARTS ? t->ranks : USUAL_PARTS;
    if (!config_count(parts, 1, &t->parts)) return false;
    if (t->parts > MOST || t->parts < t->ranks || !is_power(t->ranks) || !is_power(t->parts))
        return config_fail(c, "ranks and parts are 1, 2, 4, ... up to %d, with at least as many "
                              "parts as ranks; found %lld and %lld", MOST, (long long)t->ranks,
                           (long long)t->parts);
    if (t->batch % t->parts != 0)
        return config_fail(c, "a batch of %lld records cannot be divided into %lld parts",
                           (long long)t->batch, (long long)t->parts);
    t->divided = t->deterministic = true;
    return true;
}

/* The text that is written at the end. */
static bool read_sample(training *t, const config *c)
{
    static const char *const known[] = { "length", "temperature", NULL };
    t->temperature = 1;
    if (!c) return true;
    if (c->kind == CONFIG_TEXT ? !config_count(c, 0, &t->sample)
                               : !config_check(c, "sample", known) ||
                                     !config_count(config_get(c, "length"), 0, &t->sample) ||
                                     !config_number(config_get(c, "temperature"), &t->temperature))
        return false;
    if (t->sample > 100000) return config_fail(c, "at most 100,000 characters are written");
    if (!(t->temperature > 0)) return config_fail(c, "the temperature must be above 0");
    return (config_get(config_get(t->root, "data"), "text") && t->train.n == 2) ||
           config_fail(c, "only a network of characters writes a text");
}

bool training_plan(training *t)
{
    t->batch = 32;
    t->seed = 1;
    t->shuffle = t->events = true;
    t->last_checkpoints = 2;
    t->event_steps = 10;
    const config *threads = config_get(t->root, "threads");
    if (!config_check(t->root, "the configuration", keys) ||
        !config_count(config_get(t->root, "seed"), 0, &t->seed) ||
        !config_count(threads, 0, &t->threads) ||
        !config_bool(config_get(t->root, "deterministic"), &t->deterministic))
        return false;
    if (t->threads > 256) return config_fail(threads, "at most 256 threads are possible");
    return read_data(t, config_get(t->root, "data")) && read_length(t) && read_results(t) &&
           read_precision(t, config_get(t->root, "precision")) &&
           read_ranks(t, config_get(t->root, "ranks")) &&
           read_sample(t, config_get(t->root, "sample"));
}

eddy_dataset *training_batches(const training *t, bool held)
{
    const records    *r = held ? &t->held : &t->train;
    const eddy_array *arrays[MOST_PARTS];
    for (int i = 0; i < r->n; i++) arrays[i] = r->arrays[i];
    eddy_dataset *d = eddy_dataset_from_arrays(arrays, r->n);
    if (!held && t->shuffle) d = eddy_dataset_shuffle(d, .seed = t->seed);
    d = eddy_dataset_batch(d, t->batch, .drop_remainder = !held);
    d = eddy_dataset_prefetch(d);
    if (eddy_dataset_status(d) == EDDY_OK) return d;
    config_fail(config_get(t->root, "data"), "%s", eddy_dataset_message(d));
    eddy_dataset_free(d);
    return NULL;
}

eddy_feeds training_feeds(const training *t, const eddy_array *const *batch, bool learns,
                          eddy_feed *feeds)
{
    int n = 0;
    for (int i = 0; i < t->train.n; i++)
        if (eddy_is_valid(t->inputs[i])) feeds[n++] = (eddy_feed){ t->inputs[i], batch[i] };
    feeds[n++] = (eddy_feed){ t->b.training, t->learns[learns] };
    return (eddy_feeds){ n, feeds };
}

void network_free(training *t)
{
    for (int i = 0; i < 2; i++) eddy_array_free(t->learns[i]);
    eddy_graph_free(t->b.graph);
}

void training_free(training *t)
{
    records_free(&t->train);
    records_free(&t->held);
    network_free(t);
}
