/* bucket.c -- padded batches of records of similar length.
 *
 * The position is that of the source before its oldest record in a bucket, and which of the records
 * from there on are in which place: these are read again. */
#include "internal.h"

#include <string.h>

enum { MAX_PENDING = 1 << 20 };

typedef struct buckets {
    eddy_dataset  d;
    int64_t      *boundaries;
    int           n;                     /* buckets: one more than boundaries */
    int64_t       size;
    bool          drop, lengths;
    double        padding;
    int64_t       read;                  /* records of the source in this epoch */
    bool          source_ended;
    int64_t      *filled;                /* of each bucket */
    eddy_record **records;               /* [n, size] */
    int64_t      *number;                /* of each record in the source */
    int64_t      *before;                /* [n, size, words of the source] */
} buckets;

static size_t places(const buckets *b) { return (size_t)b->n * (size_t)b->size; }
static size_t source_words(const buckets *b) { return (size_t)b->d.sources[0]->words; }

static bool prepare(buckets *b, eddy_error *e)
{
    const eddy_allocator *a = &b->d.allocator;
    const size_t          n = places(b);
    if (!b->filled) b->filled = eddy__input_take(a, (size_t)b->n * sizeof *b->filled);
    if (!b->records) b->records = eddy__input_take(a, n * sizeof *b->records);
    if (!b->number) b->number = eddy__input_take(a, n * sizeof *b->number);
    if (!b->before) b->before = eddy__input_take(a, n * source_words(b) * sizeof *b->before);
    return (b->filled && b->records && b->number && b->before) || eddy__input_no_memory(e);
}

static int bucket_of(const buckets *b, int64_t length)
{
    int k = 0;
    while (k < b->n - 1 && length >= b->boundaries[k]) k++;
    return k;
}

/* Reads a record of the source and puts it into its bucket; the bucket is *k. */
static outcome read_one(buckets *b, eddy_error *e, int *k)
{
    eddy_dataset *source = b->d.sources[0];
    eddy_record  *r = eddy__borrow(source, e);
    int64_t       words[64], *before = words;
    const size_t  w = source_words(b);
    outcome       o = INPUT_FAILED;
    if (r && w > 64) before = eddy__input_take(&b->d.allocator, w * sizeof *before);
    if (r && before) {
        eddy__save(source, before);
        o = eddy__next(source, r);
    } else eddy__input_no_memory(e);
    if (o == INPUT_RECORD && r->slots[0].shape.rank == 0) {
        eddy__input_fail(e, EDDY_BAD_SHAPE, "dataset_bucket: component 0 has no length");
        o = INPUT_FAILED;
    }
    if (o == INPUT_RECORD) {
        *k = bucket_of(b, r->slots[0].shape.dim[0]);
        const size_t at = (size_t)*k * (size_t)b->size + (size_t)b->filled[*k];
        eddy_record *was = b->records[at];
        b->records[at] = r;
        b->number[at] = b->read++;
        memcpy(b->before + at * w, before, w * sizeof *before);
        b->filled[*k]++;
        r = was;
    }
    if (before != words) eddy__input_give(&b->d.allocator, before, w * sizeof *before);
    eddy__give_back(source, r);
    return o;
}

static outcome emit(buckets *b, int k, eddy_record *out)
{
    const int64_t n = b->filled[k];
    b->filled[k] = 0;
    return eddy__join_padded(b->records + (size_t)k * (size_t)b->size, n, b->padding, b->lengths,
                             out) ? INPUT_RECORD : INPUT_FAILED;
}

static outcome bucket_next(eddy_dataset *d, eddy_record *out)
{
    buckets *b = (buckets *)d;
    if (!prepare(b, out->error)) return INPUT_FAILED;
    while (!b->source_ended) {
        int           k = 0;
        const outcome o = read_one(b, out->error, &k);
        if (o == INPUT_FAILED) return o;
        if (o == INPUT_END) b->source_ended = true;
        else if (b->filled[k] == b->size) return emit(b, k, out);
    }
    for (int k = 0; k < b->n && !b->drop; k++)
        if (b->filled[k] > 0) return emit(b, k, out);
    return INPUT_END;
}

static void bucket_rewind(eddy_dataset *d, int64_t epoch)
{
    buckets *b = (buckets *)d;
    b->read = 0;
    b->source_ended = false;
    if (b->filled) memset(b->filled, 0, (size_t)b->n * sizeof *b->filled);
    eddy__rewind(d->sources[0], epoch);
}

/* Numbers: records read, the end of the source, the records from the oldest one on, for each place
 * the record in it, counted from the oldest one, or -1; and the source's before the oldest. */
enum { OWN_WORDS = 3 };

static void bucket_save(eddy_dataset *d, int64_t *words)
{
    const buckets *b = (buckets *)d;
    size_t         oldest = SIZE_MAX;
    words[0] = b->read;
    words[1] = b->source_ended;
    for (size_t i = 0; i < places(b); i++) {
        const size_t k = i / (size_t)b->size;
        const bool   is = b->filled && (int64_t)(i % (size_t)b->size) < b->filled[k];
        words[OWN_WORDS + i] = is ? b->number[i] : -1;
        if (is && (oldest == SIZE_MAX || b->number[i] < b->number[oldest])) oldest = i;
    }
    words[2] = oldest == SIZE_MAX ? 0 : b->read - b->number[oldest];
    for (size_t i = 0; i < places(b); i++)
        if (words[OWN_WORDS + i] >= 0) words[OWN_WORDS + i] -= b->read - words[2];
    int64_t *source = words + OWN_WORDS + places(b);
    if (oldest == SIZE_MAX) eddy__save(d->sources[0], source);
    else memcpy(source, b->before + oldest * source_words(b), source_words(b) * sizeof *source);
}

/* A record into place i, which is the next of its bucket. */
static bool put(buckets *b, const int64_t *places_of, int64_t i, eddy_error *e)
{
    int k = 0;
    for (size_t at = 0; at < places(b); at++) {
        if (places_of[at] != i) continue;
        /* A full bucket is given at once, so a position with one is damaged. */
        return read_one(b, e, &k) == INPUT_RECORD && k == (int)(at / (size_t)b->size) &&
               b->filled[k] == (int64_t)(at % (size_t)b->size) + 1 && b->filled[k] < b->size;
    }
    eddy_record *skipped = eddy__borrow(b->d.sources[0], e);
    const bool   ok = skipped && eddy__next(b->d.sources[0], skipped) == INPUT_RECORD;
    eddy__give_back(b->d.sources[0], skipped);
    b->read++;
    return ok;
}

static bool bucket_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    buckets *b = (buckets *)d;
    if (words[0] < 0 || words[2] < 0 || words[2] > words[0])
        return eddy__input_fail(e, EDDY_CORRUPT, "dataset_seek: numbers of the position contradict "
                                                 "each other");
    if (!prepare(b, e)) return false;
    memset(b->filled, 0, (size_t)b->n * sizeof *b->filled);
    if (!eddy__load(d->sources[0], words + OWN_WORDS + places(b), e)) return false;
    b->source_ended = words[1] != 0;
    b->read = words[0] - words[2];
    for (int64_t i = 0; i < words[2]; i++)
        if (!put(b, words + OWN_WORDS, i, e))
            return eddy__input_fail(e, EDDY_OUT_OF_RANGE,
                                    "dataset_seek: the source has other records");
    return true;
}

static void bucket_release(eddy_dataset *d)
{
    buckets              *b = (buckets *)d;
    const eddy_allocator *a = &d->allocator;
    for (size_t i = 0; b->records && i < places(b); i++) eddy__record_free(b->records[i]);
    if (b->records) eddy__input_give(a, b->records, places(b) * sizeof *b->records);
    if (b->number) eddy__input_give(a, b->number, places(b) * sizeof *b->number);
    if (b->filled) eddy__input_give(a, b->filled, (size_t)b->n * sizeof *b->filled);
    if (b->before) eddy__input_give(a, b->before, places(b) * source_words(b) * sizeof *b->before);
    if (b->boundaries)
        eddy__input_give(a, b->boundaries, (size_t)(b->n - 1) * sizeof *b->boundaries);
}

static const stage bucket_stage = { .next = bucket_next, .rewind = bucket_rewind,
                                    .save = bucket_save, .load = bucket_load,
                                    .release = bucket_release };

static bool check(buckets *b, const eddy_bucket_args *a)
{
    if (a->size < 1 || a->n < 0 || (a->n > 0 && !a->boundaries) || a->n >= MAX_PENDING ||
        a->size > MAX_PENDING / ((int64_t)a->n + 1))
        return eddy__dataset_fail(
            &b->d, EDDY_INVALID_ARGUMENT,
            "dataset_bucket: %lld records in each of %lld buckets; expected at "
            "least 1 and at most %d in all",
            (long long)a->size, (long long)a->n + 1, MAX_PENDING);
    for (int i = 1; i < a->n; i++)
        if (a->boundaries[i] <= a->boundaries[i - 1])
            return eddy__dataset_fail(
                &b->d, EDDY_INVALID_ARGUMENT,
                "dataset_bucket: boundary %d is not larger than the one before", i);
    b->boundaries = eddy__input_take(&b->d.allocator, (size_t)a->n * sizeof *b->boundaries);
    if (!b->boundaries) return eddy__input_no_memory(&b->d.error);
    if (a->n > 0) memcpy(b->boundaries, a->boundaries, (size_t)a->n * sizeof *b->boundaries);
    b->n = a->n + 1;
    b->size = a->size;
    return true;
}

eddy_dataset *eddy_dataset_bucket_with(const eddy_bucket_args *given)
{
    eddy_bucket_args a = { eddy_bucket_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    buckets *b = eddy__stage_new(sizeof *b, &bucket_stage, &a.dataset, 1, "bucket");
    if (!b) return NULL;
    b->drop = a.drop_remainder;
    b->lengths = a.lengths;
    b->padding = a.padding;
    eddy__label(&b->d, "(%d,%lld%s)", a.n, (long long)a.size, a.drop_remainder ? ",drop" : "");
    if (b->d.error.status == EDDY_OK && check(b, &a)) {
        b->d.words = OWN_WORDS + (int)places(b) + a.dataset->words;
        eddy__batch_components(&b->d, a.dataset, EDDY_ANY, true, a.lengths, "dataset_bucket");
    }
    return &b->d;
}
