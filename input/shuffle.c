/* shuffle.c -- the records of an epoch in a random order: a permutation by Fisher and Yates,
 * whose choices are functions of the seed, the epoch and the place. Two permutations are kept,
 * since threads that read ahead cross from one epoch to the next. */
#include "internal.h"

#include <string.h>

typedef struct permutation {
    int64_t   epoch;
    uint32_t *at;                        /* NULL: none yet */
} permutation;

typedef struct shuffled {
    eddy_dataset d;                      /* its lock protects the rest */
    uint64_t     seed;
    permutation  kept[2];                /* the first was used last */
    int64_t      n;                      /* entries of each */
} shuffled;

static int64_t shuffle_size(eddy_dataset *d, eddy_error *e)
{
    const int64_t n = eddy__size(d->sources[0], e);
    if (n <= (int64_t)UINT32_MAX) return n;
    eddy__input_fail(e, EDDY_LIMIT,
                     "dataset_shuffle: more than 2^32 - 1 records; shuffle with a buffer");
    return -1;
}

static bool draw(shuffled *s, permutation *p, int64_t epoch, int64_t n)
{
    if (!p->at) p->at = eddy__input_take(&s->d.allocator, (size_t)n * sizeof *p->at);
    if (!p->at) return false;
    s->n = n;
    p->epoch = epoch;
    for (uint32_t i = 0; i < (uint32_t)n; i++) p->at[i] = i;
    for (uint32_t i = (uint32_t)n - 1; i > 0; i--) {
        const uint64_t j = eddy__random_below(s->seed, (uint64_t)epoch, i, (uint64_t)i + 1);
        const uint32_t t = p->at[i];
        p->at[i] = p->at[j];
        p->at[j] = t;
    }
    return true;
}

/* The record at place i; -1 if out of memory. */
static int64_t place(shuffled *s, int64_t epoch, int64_t i, int64_t n)
{
    bool ok = true;
    pthread_mutex_lock(&s->d.lock);
    if (!s->kept[0].at || s->kept[0].epoch != epoch) {
        const permutation other = s->kept[1];
        s->kept[1] = s->kept[0];
        s->kept[0] = other;
        if (!other.at || other.epoch != epoch) ok = draw(s, &s->kept[0], epoch, n);
    }
    const int64_t to = ok ? (int64_t)s->kept[0].at[i] : -1;
    pthread_mutex_unlock(&s->d.lock);
    return to;
}

static bool shuffle_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    const int64_t n = shuffle_size(d, out->error);
    const int64_t from = n > i ? place((shuffled *)d, epoch, i, n) : -1;
    if (from < 0) return eddy__input_no_memory(out->error);
    return eddy__at(d->sources[0], epoch, from, out);
}

static void shuffle_release(eddy_dataset *d)
{
    shuffled *s = (shuffled *)d;
    for (int k = 0; k < 2; k++)
        eddy__input_give(&d->allocator, s->kept[k].at, (size_t)s->n * sizeof *s->kept[k].at);
}

static const stage shuffle_stage = { .size = shuffle_size, .at = shuffle_at,
                                     .release = shuffle_release };

eddy_dataset *eddy_dataset_shuffle_with(const eddy_shuffle_args *given)
{
    eddy_shuffle_args a = { eddy_shuffle_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    if (a.buffer != 0) return eddy__shuffle_buffer(a.dataset, a.seed, a.buffer);
    shuffled *s = eddy__stage_new(sizeof *s, &shuffle_stage, &a.dataset, 1, "shuffle");
    if (!s) return NULL;
    s->seed = (uint64_t)a.seed;
    if (!s->d.indexed)
        eddy__dataset_fail(&s->d, EDDY_INVALID_ARGUMENT,
                           "dataset_shuffle: the dataset is a stream, which needs .buffer, or "
                           "eddy_dataset_cache before");
    eddy__label(&s->d, "(%lld)", (long long)a.seed);
    return &s->d;
}
