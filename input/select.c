/* select.c -- some of the records, or all of them several times. */
#include "internal.h"

#include <string.h>

/* ---------------------------------------------------- take, skip, shard -- */

/* Records first, first + step ..., at most `most`. */
typedef struct part {
    eddy_dataset d;
    int64_t      first, step, most;
    int64_t      read, given;            /* of a stream: records of the source, and of this stage */
} part;

static int64_t part_size(eddy_dataset *d, eddy_error *e)
{
    const part   *p = (part *)d;
    const int64_t n = eddy__size(d->sources[0], e);
    if (n < 0) return n;
    int64_t left = n > p->first ? n - p->first : 0;
    if (n == INT64_MAX && left) left = INT64_MAX;
    else left = left / p->step + (left % p->step != 0);
    return left < p->most ? left : p->most;
}

static bool part_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    const part *p = (part *)d;
    int64_t     at;
    if (__builtin_mul_overflow(i, p->step, &at) || __builtin_add_overflow(at, p->first, &at))
        return eddy__input_fail(out->error, EDDY_LIMIT, "%s: record %lld does not exist", d->label,
                                (long long)i);
    return eddy__at(d->sources[0], epoch, at, out);
}

static outcome part_next(eddy_dataset *d, eddy_record *out)
{
    part *p = (part *)d;
    if (p->given >= p->most) return INPUT_END;
    for (;;) {
        const outcome r = eddy__next(d->sources[0], out);
        if (r != INPUT_RECORD) return r;
        const int64_t i = p->read++;
        if (i < p->first || (i - p->first) % p->step != 0) continue;
        p->given++;
        return INPUT_RECORD;
    }
}

static void part_rewind(eddy_dataset *d, int64_t epoch)
{
    ((part *)d)->read = ((part *)d)->given = 0;
    eddy__rewind(d->sources[0], epoch);
}

static void part_save(eddy_dataset *d, int64_t *words)
{
    words[0] = ((part *)d)->read;
    words[1] = ((part *)d)->given;
    eddy__save(d->sources[0], words + 2);
}

static bool part_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    if (words[0] < 0 || words[1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    ((part *)d)->read = words[0];
    ((part *)d)->given = words[1];
    return eddy__load(d->sources[0], words + 2, e);
}

static const stage part_stage = { .size = part_size, .at = part_at, .next = part_next,
                                  .rewind = part_rewind, .save = part_save, .load = part_load };

/* n is at least `least`. */
static part *part_of(eddy_dataset *d, const char *name, int64_t n, int64_t least)
{
    part *p = eddy__stage_new(sizeof *p, &part_stage, &d, 1, name);
    if (!p) return NULL;
    p->step = 1;
    p->most = INT64_MAX;
    if (!p->d.indexed) p->d.words = d->words + 2;
    eddy__label(&p->d, "(%lld)", (long long)n);
    if (n < least)
        eddy__dataset_fail(&p->d, EDDY_INVALID_ARGUMENT, "dataset_%s: the number is negative",
                           name);
    return p;
}

eddy_dataset *eddy_dataset_take(eddy_dataset *d, int64_t n)
{
    part *p = part_of(d, "take", n, -1);
    if (p && n >= 0) p->most = n;
    return p ? &p->d : NULL;
}

eddy_dataset *eddy_dataset_skip(eddy_dataset *d, int64_t n)
{
    part *p = part_of(d, "skip", n, -1);
    if (p && n >= 0) p->first = n;
    else if (p) p->most = 0;
    return p ? &p->d : NULL;
}

eddy_dataset *eddy_dataset_shard(eddy_dataset *d, int64_t n, int64_t i)
{
    part *p = part_of(d, "shard", n, 0);
    if (!p) return NULL;
    eddy__label(&p->d, "(%lld)", (long long)i);
    p->step = n;
    p->first = i;
    if (n < 1 || i < 0 || i >= n)
        eddy__dataset_fail(&p->d, EDDY_INVALID_ARGUMENT,
                           "dataset_shard: there is no part %lld of %lld", (long long)i,
                           (long long)n);
    return &p->d;
}

/* ---------------------------------------------------------------- repeat -- */

typedef struct repeated {
    eddy_dataset d;
    int64_t      count;                  /* INT64_MAX: without end */
    int64_t      epoch, done;            /* of a stream: the epoch, and repetitions that ended */
    bool         some;                   /* this repetition had a record */
} repeated;

/* The epoch of the source in repetition `done`; numbers beyond 2^61 wrap, which is no harm. */
static int64_t source_epoch(const repeated *r, int64_t epoch, int64_t done)
{
    const uint64_t count = r->count == INT64_MAX ? 1 : (uint64_t)r->count;
    return (int64_t)(((uint64_t)epoch * count + (uint64_t)done) &
                     (uint64_t)(input_last_epoch - 1));
}

static int64_t repeat_size(eddy_dataset *d, eddy_error *e)
{
    const int64_t n = eddy__size(d->sources[0], e);
    int64_t       all;
    if (n <= 0) return n;
    return __builtin_mul_overflow(n, ((repeated *)d)->count, &all) ? INT64_MAX : all;
}

static bool repeat_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    const int64_t n = eddy__size(d->sources[0], out->error);
    if (n <= 0) return false;
    return eddy__at(d->sources[0], source_epoch((repeated *)d, epoch, i / n), i % n, out);
}

static outcome repeat_next(eddy_dataset *d, eddy_record *out)
{
    repeated *p = (repeated *)d;
    for (;;) {
        if (p->done >= p->count) return INPUT_END;
        const outcome r = eddy__next(d->sources[0], out);
        p->some = p->some || r == INPUT_RECORD;
        if (r != INPUT_END) return r;
        if (!p->some) return INPUT_END;      /* an empty source, which would never end */
        p->some = false;
        p->done++;
        if (p->done < p->count)
            eddy__rewind(d->sources[0], source_epoch(p, p->epoch, p->done));
    }
}

static void repeat_rewind(eddy_dataset *d, int64_t epoch)
{
    repeated *p = (repeated *)d;
    p->epoch = epoch;
    p->done = 0;
    p->some = false;
    eddy__rewind(d->sources[0], source_epoch(p, epoch, 0));
}

static void repeat_save(eddy_dataset *d, int64_t *words)
{
    const repeated *p = (repeated *)d;
    words[0] = p->epoch;
    words[1] = p->done;
    words[2] = p->some;
    eddy__save(d->sources[0], words + 3);
}

static bool repeat_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    repeated *p = (repeated *)d;
    if (words[0] < 0 || words[1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    p->epoch = words[0];
    p->done = words[1];
    p->some = words[2] != 0;
    return eddy__load(d->sources[0], words + 3, e);
}

static const stage repeat_stage = { .size = repeat_size, .at = repeat_at, .next = repeat_next,
                                    .rewind = repeat_rewind, .save = repeat_save,
                                    .load = repeat_load };

eddy_dataset *eddy_dataset_repeat(eddy_dataset *d, int64_t count)
{
    repeated *p = eddy__stage_new(sizeof *p, &repeat_stage, &d, 1, "repeat");
    if (!p) return NULL;
    p->count = count < 0 ? INT64_MAX : count;
    if (!p->d.indexed) p->d.words = d->words + 3;
    eddy__label(&p->d, "(%lld)", count < 0 ? -1LL : (long long)count);
    return &p->d;
}
