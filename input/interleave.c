/* interleave.c -- several datasets in turn.
 *
 * A cycle of places reads one dataset each, and a place whose dataset has ended takes the next
 * of the list. The position has, for each place, the number of its dataset and the position of
 * that. */
#include "internal.h"

#include <string.h>

enum { MAX_CYCLE = 4096, MAX_WORDS = 1 << 24 };

typedef struct interleaved {
    eddy_dataset d;
    int          cycle;
    int64_t      block;
    int         *source;                 /* of each place; -1: none is left */
    int          next;                   /* the first dataset that no place has had */
    int          place;                  /* whose turn it is */
    int64_t      given;                  /* records of this turn */
    int64_t      epoch, number;
    int          each;                   /* the most words of a dataset */
} interleaved;

static void start(interleaved *p, int place)
{
    p->source[place] = p->next < p->d.n_sources ? p->next++ : -1;
    if (p->source[place] >= 0) eddy__rewind(p->d.sources[p->source[place]], p->epoch);
}

static void turn(interleaved *p)
{
    p->place = (p->place + 1) % p->cycle;
    p->given = 0;
}

static outcome interleave_next(eddy_dataset *d, eddy_record *out)
{
    interleaved *p = (interleaved *)d;
    for (int empty = 0; empty < p->cycle;) {
        const int k = p->source[p->place];
        if (k < 0) {
            empty++;
            turn(p);
            continue;
        }
        const outcome o = eddy__next(d->sources[k], out);
        if (o == INPUT_FAILED) return o;
        if (o == INPUT_END) {                /* the next dataset waits for the place's next turn */
            start(p, p->place);
            turn(p);
            empty = 0;
            continue;
        }
        out->epoch = p->epoch;
        out->number = p->number++;
        if (++p->given == p->block) turn(p);
        return o;
    }
    return INPUT_END;
}

static void interleave_rewind(eddy_dataset *d, int64_t epoch)
{
    interleaved *p = (interleaved *)d;
    p->epoch = epoch;
    p->number = p->given = p->place = p->next = 0;
    for (int i = 0; i < p->cycle; i++) start(p, i);
}

enum { OWN_WORDS = 5 };

static void interleave_save(eddy_dataset *d, int64_t *words)
{
    const interleaved *p = (interleaved *)d;
    const int64_t      own[OWN_WORDS] = { p->epoch, p->number, p->next, p->place, p->given };
    memcpy(words, own, sizeof own);
    words += OWN_WORDS;
    memset(words, 0, (size_t)p->cycle * ((size_t)p->each + 1) * sizeof *words);
    for (int i = 0; i < p->cycle; i++, words += p->each + 1) {
        words[0] = p->source[i];
        if (p->source[i] >= 0) eddy__save(d->sources[p->source[i]], words + 1);
    }
}

static bool interleave_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    interleaved *p = (interleaved *)d;
    bool ok = words[0] >= 0 && words[1] >= 0 && words[2] >= 0 && words[2] <= d->n_sources &&
              words[3] >= 0 && words[3] < p->cycle && words[4] >= 0 && words[4] < p->block;
    for (int i = 0; ok && i < p->cycle; i++) {
        const int64_t k = words[OWN_WORDS + i * (p->each + 1)];
        ok = k >= -1 && k < words[2];
        for (int j = 0; ok && j < i; j++)
            ok = k < 0 || k != words[OWN_WORDS + j * (p->each + 1)];
    }
    if (!ok)
        return eddy__input_fail(e, EDDY_CORRUPT, "dataset_seek: numbers of the position contradict "
                                                 "each other");
    p->epoch = words[0];
    p->number = words[1];
    p->next = (int)words[2];
    p->place = (int)words[3];
    p->given = words[4];
    words += OWN_WORDS;
    for (int i = 0; ok && i < p->cycle; i++, words += p->each + 1) {
        p->source[i] = (int)words[0];
        if (words[0] >= 0) ok = eddy__load(d->sources[words[0]], words + 1, e);
    }
    return ok;
}

static void interleave_release(eddy_dataset *d)
{
    interleaved *p = (interleaved *)d;
    if (p->source) eddy__input_give(&d->allocator, p->source, (size_t)p->cycle * sizeof *p->source);
}

static const stage interleave_stage = { .next = interleave_next, .rewind = interleave_rewind,
                                        .save = interleave_save, .load = interleave_load,
                                        .release = interleave_release };

static bool same_components(eddy_dataset *d, const eddy_dataset *s, int k)
{
    bool same = s->n == d->n;
    for (int i = 0; same && i < s->n; i++) {
        eddy_shape       *a = &d->components[i].shape;
        const eddy_shape *b = &s->components[i].shape;
        same = d->components[i].dtype == s->components[i].dtype;
        if (a->rank != b->rank) *a = (eddy_shape){ .rank = EDDY_UNKNOWN_RANK };
        for (int axis = 0; axis < a->rank; axis++)
            if (a->dim[axis] != b->dim[axis]) a->dim[axis] = EDDY_ANY;
    }
    return same || eddy__dataset_fail(d, EDDY_BAD_DTYPE,
                                      "dataset_interleave: dataset %d has other components", k);
}

eddy_dataset *eddy_dataset_interleave_with(const eddy_interleave_args *given)
{
    eddy_interleave_args a = { eddy_interleave_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    interleaved *p = eddy__stage_new(sizeof *p, &interleave_stage, a.datasets, a.count,
                                     "interleave");
    if (!p) return NULL;
    eddy__label(&p->d, "(%d,%d,%lld)", a.count, a.cycle, (long long)a.block);
    eddy__label_sources(&p->d);
    if (a.cycle < 1 || a.cycle > MAX_CYCLE || a.block < 1) {
        eddy__dataset_fail(
            &p->d, EDDY_INVALID_ARGUMENT,
            "dataset_interleave: a cycle of %d with blocks of %lld; expected 1 to %d "
            "and at least 1",
            a.cycle, (long long)a.block, MAX_CYCLE);
        return &p->d;
    }
    p->cycle = a.cycle;
    p->block = a.block;
    p->source = eddy__input_take(&p->d.allocator, (size_t)p->cycle * sizeof *p->source);
    if (!p->source) eddy__input_no_memory(&p->d.error);
    if (p->d.error.status != EDDY_OK) return &p->d;
    for (int k = 0; k < a.count && same_components(&p->d, a.datasets[k], k); k++)
        if (a.datasets[k]->words > p->each) p->each = a.datasets[k]->words;
    const int64_t words = OWN_WORDS + (int64_t)p->cycle * ((int64_t)p->each + 1);
    if (words > MAX_WORDS)
        eddy__dataset_fail(&p->d, EDDY_LIMIT,
                           "dataset_interleave: a position of %lld numbers; the limit is %d",
                           (long long)words, MAX_WORDS);
    if (p->d.error.status != EDDY_OK) return &p->d;
    p->d.words = (int)words;
    interleave_rewind(&p->d, 0);
    return &p->d;
}
