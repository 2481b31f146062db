/* zip_datasets.c -- the components of several datasets as one record. */
#include "internal.h"

#include <string.h>

/* The part of a record that source k makes, which begins at component *at. */
static eddy_record part_of(const eddy_dataset *d, int k, const eddy_record *out, int *at)
{
    eddy_record part = *out;
    part.n = d->sources[k]->n;
    part.slots += *at;
    part.rooms += *at;
    *at += part.n;
    return part;
}

/* The key of a record is that of the first source. */
static void take_key(eddy_record *out, const eddy_record *part, int k)
{
    if (k > 0) return;
    out->epoch = part->epoch;
    out->number = part->number;
}

static int64_t zip_size(eddy_dataset *d, eddy_error *e)
{
    int64_t least = INT64_MAX;
    for (int k = 0; k < d->n_sources && least >= 0; k++) {
        const int64_t n = eddy__size(d->sources[k], e);
        if (n < least) least = n;
    }
    return least;
}

static bool zip_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    for (int k = 0, at = 0; k < d->n_sources; k++) {
        eddy_record part = part_of(d, k, out, &at);
        if (!eddy__at(d->sources[k], epoch, i, &part)) return false;
        take_key(out, &part, k);
    }
    return true;
}

static outcome zip_next(eddy_dataset *d, eddy_record *out)
{
    for (int k = 0, at = 0; k < d->n_sources; k++) {
        eddy_record   part = part_of(d, k, out, &at);
        const outcome o = eddy__next(d->sources[k], &part);
        if (o != INPUT_RECORD) return o;
        take_key(out, &part, k);
    }
    return INPUT_RECORD;
}

static void zip_rewind(eddy_dataset *d, int64_t epoch)
{
    for (int k = 0; k < d->n_sources; k++) eddy__rewind(d->sources[k], epoch);
}

static void zip_save(eddy_dataset *d, int64_t *words)
{
    for (int k = 0; k < d->n_sources; words += d->sources[k++]->words)
        eddy__save(d->sources[k], words);
}

static bool zip_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    bool ok = true;
    for (int k = 0; ok && k < d->n_sources; words += d->sources[k++]->words)
        ok = eddy__load(d->sources[k], words, e);
    return ok;
}

static const stage zip_stage = { .size = zip_size, .at = zip_at, .next = zip_next,
                                 .rewind = zip_rewind, .save = zip_save, .load = zip_load };

eddy_dataset *eddy_dataset_zip(eddy_dataset *const *datasets, int count)
{
    eddy_dataset *d = eddy__stage_new(sizeof *d, &zip_stage, datasets, count, "zip");
    if (!d || d->error.status != EDDY_OK) return d;
    eddy_component c[EDDY_MAX_COMPONENTS];
    int            n = 0, words = 0;
    for (int k = 0; k < count; k++) {
        const eddy_dataset *s = datasets[k];
        words += s->words;
        if (n + s->n <= EDDY_MAX_COMPONENTS)
            memcpy(c + n, s->components, (size_t)s->n * sizeof *c);
        n += s->n;
        if (n > EDDY_MAX_COMPONENTS) break;
    }
    if (!d->indexed) d->words = words;
    eddy__label(d, "(%d)", count);
    eddy__label_sources(d);
    eddy__set_components(d, c, n, "dataset_zip");
    return d;
}
