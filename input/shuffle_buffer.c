/* shuffle_buffer.c -- a random order by a buffer: each record is drawn from the buffer, where the
 * next one of the source takes its place.
 *
 * Which record is where follows from the seed, the epoch and the number of records drawn, so the
 * buffer of an indexed source holds numbers only, and the position is how many were drawn. For a
 * stream the position is also that of the source before its oldest record in the buffer: from there
 * it is read again. */
#include "internal.h"

#include <string.h>

enum { MAX_BUFFER = 1 << 28 };
static const int64_t max_drawn = (int64_t)1 << 36;   /* of a position: minutes of replaying */

typedef struct buffered {
    eddy_dataset  d;
    uint64_t      seed;
    int64_t       size, filled;
    int64_t       epoch, drawn, read;    /* read: records of the source that were in the buffer */
    bool          source_ended;
    int64_t      *number;                /* of the record in the source's epoch */
    bool          streams;
    eddy_record **records;               /* of a stream, as is the rest: the records ... */
    int64_t      *before;                /* ... and the position before each */
} buffered;

static int source_words(const buffered *b) { return b->streams ? b->d.sources[0]->words : 0; }

/* Everything but the lock of the source is made when the first record is read. */
static bool prepare(buffered *b, eddy_error *e)
{
    const eddy_allocator *a = &b->d.allocator;
    const size_t          n = (size_t)b->size, w = (size_t)source_words(b);
    if (!b->number) b->number = eddy__input_take(a, n * sizeof *b->number);
    if (!b->number) return eddy__input_no_memory(e);
    if (!b->streams) return true;
    if (!b->records) b->records = eddy__input_take(a, n * sizeof *b->records);
    if (!b->before) b->before = eddy__input_take(a, n * w * sizeof *b->before);
    return (b->records && b->before) || eddy__input_no_memory(e);
}

/* Reads the source's next record to place i. */
static outcome read_to(buffered *b, int64_t i, eddy_error *e)
{
    eddy_dataset *source = b->d.sources[0];
    outcome       r = INPUT_RECORD;
    if (b->streams) {
        if (!b->records[i]) b->records[i] = eddy__record_new(&b->d.allocator, b->d.n);
        if (!b->records[i]) {
            eddy__input_no_memory(e);
            return INPUT_FAILED;
        }
        b->records[i]->error = e;
        eddy__save(source, b->before + i * source_words(b));
        r = eddy__next(source, b->records[i]);
    } else {
        const int64_t n = eddy__size(source, e);
        if (n < 0) return INPUT_FAILED;
        if (b->read >= n) r = INPUT_END;
    }
    if (r == INPUT_RECORD) b->number[i] = b->read++;
    if (r == INPUT_END) b->source_ended = true;
    return r;
}

static bool fill(buffered *b, eddy_error *e)
{
    while (b->filled < b->size && !b->source_ended) {
        const outcome r = read_to(b, b->filled, e);
        if (r == INPUT_FAILED) return false;
        if (r == INPUT_RECORD) b->filled++;
    }
    return true;
}

static int64_t choose(const buffered *b)
{
    return (int64_t)eddy__random_below(b->seed, (uint64_t)b->epoch, (uint64_t)b->drawn,
                                       (uint64_t)b->filled);
}

/* Place i becomes free: its record is exchanged with that of the last one. */
static void remove_at(buffered *b, int64_t i)
{
    const int64_t last = --b->filled, number = b->number[i];
    b->number[i] = b->number[last];
    b->number[last] = number;
    if (!b->streams || i == last) return;
    const size_t w = (size_t)source_words(b);
    eddy_record *r = b->records[i];
    b->records[i] = b->records[last];
    b->records[last] = r;
    memcpy(b->before + (size_t)i * w, b->before + (size_t)last * w, w * sizeof *b->before);
}

/* The same number of records is in the buffer at each draw, whether places are exchanged or
 * refilled, so that the numbers alone show where a record is. */
static outcome buffer_next(eddy_dataset *d, eddy_record *out)
{
    buffered *b = (buffered *)d;
    if (!prepare(b, out->error) || !fill(b, out->error)) return INPUT_FAILED;
    if (b->filled == 0) return INPUT_END;
    const int64_t i = choose(b);
    const bool    ok = b->streams ? eddy__record_move(out, b->records[i])
                                  : eddy__at(d->sources[0], b->epoch, b->number[i], out);
    if (!ok) return INPUT_FAILED;
    b->drawn++;
    remove_at(b, i);
    return INPUT_RECORD;
}

static void buffer_rewind(eddy_dataset *d, int64_t epoch)
{
    buffered *b = (buffered *)d;
    b->epoch = epoch;
    b->drawn = b->read = b->filled = 0;
    b->source_ended = false;
    eddy__rewind(d->sources[0], epoch);
}

static int64_t oldest(const buffered *b)
{
    int64_t k = -1;
    for (int64_t i = 0; i < b->filled; i++)
        if (k < 0 || b->number[i] < b->number[k]) k = i;
    return k;
}

static void buffer_save(eddy_dataset *d, int64_t *words)
{
    const buffered *b = (buffered *)d;
    words[0] = b->epoch;
    words[1] = b->drawn;
    if (!b->streams) return;
    const int64_t k = oldest(b);
    words[2] = b->read;
    words[3] = b->source_ended;
    if (k < 0) eddy__save(d->sources[0], words + 4);
    else
        memcpy(words + 4, b->before + k * source_words(b), (size_t)source_words(b) * sizeof *words);
}

/* Where the numbers are after `drawn` draws from a source of n records. */
static bool replay(buffered *b, int64_t drawn, int64_t n, eddy_error *e)
{
    for (b->drawn = b->read = b->filled = 0;;) {
        const bool last = b->drawn == drawn;
        while (b->filled < b->size && b->read < n && !(last && drawn > 0 && b->streams))
            b->number[b->filled++] = b->read++;
        if (last) return true;
        if (b->filled == 0)
            return eddy__input_fail(e, EDDY_OUT_OF_RANGE,
                                    "dataset_seek: the source has no record %lld",
                                    (long long)drawn - 1);
        const int64_t i = choose(b), to = --b->filled, number = b->number[i];
        b->drawn++;
        b->number[i] = b->number[to];
        b->number[to] = number;
    }
}

/* Reads the records of the buffer again, from the oldest on. */
static bool read_again(buffered *b, const int64_t *source_position, eddy_error *e)
{
    eddy_dataset         *source = b->d.sources[0];
    const eddy_allocator *a = &b->d.allocator;
    const int64_t         k = oldest(b), from = k < 0 ? b->read : b->number[k];
    const int64_t         span = b->read - from, filled = b->filled;
    const size_t          bytes = (size_t)span * sizeof(int64_t);
    if (!eddy__load(source, source_position, e)) return false;
    int64_t     *places = eddy__input_take(a, bytes);
    eddy_record *skipped = eddy__borrow(source, e);
    bool         ok = places && skipped;
    if (!places) eddy__input_no_memory(e);
    for (int64_t i = 0; ok && i < span; i++) places[i] = -1;
    for (int64_t i = 0; ok && i < filled; i++) places[b->number[i] - from] = i;
    b->read = from;
    for (int64_t i = 0; ok && i < span; i++) {
        if (places[i] >= 0) ok = read_to(b, places[i], e) == INPUT_RECORD;
        else {
            ok = eddy__next(source, skipped) == INPUT_RECORD;
            b->read++;
        }
    }
    eddy__give_back(source, skipped);
    eddy__input_give(a, places, bytes);
    return ok ||
           eddy__input_fail(e, EDDY_OUT_OF_RANGE, "dataset_seek: the source has fewer records");
}

static bool buffer_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    buffered *b = (buffered *)d;
    if (words[0] < 0 || words[1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    if (words[1] > max_drawn)
        return eddy__input_fail(e, EDDY_LIMIT, "dataset_seek: more than 2^36 records of an epoch");
    if (!prepare(b, e)) return false;
    buffer_rewind(d, words[0]);
    if (!b->streams) {
        const int64_t n = eddy__size(d->sources[0], e);
        return n >= 0 && replay(b, words[1], n, e);
    }
    /* Nothing was read when no record was drawn, or else the buffer was full before the last
     * draw. */
    const int64_t n = words[2];
    if (n < words[1] || (words[1] == 0 && n > b->size) ||
        (words[1] > 0 && n - words[1] > b->size - 1))
        return eddy__input_fail(e, EDDY_CORRUPT, "dataset_seek: numbers of the position contradict "
                                                 "each other");
    if (!replay(b, words[1], n, e)) return false;
    b->source_ended = words[3] != 0;
    return read_again(b, words + 4, e);
}

static void buffer_release(eddy_dataset *d)
{
    buffered             *b = (buffered *)d;
    const eddy_allocator *a = &d->allocator;
    const size_t          n = (size_t)b->size;
    for (size_t i = 0; b->records && i < n; i++) eddy__record_free(b->records[i]);
    eddy__input_give(a, b->records, n * sizeof *b->records);
    eddy__input_give(a, b->number, n * sizeof *b->number);
    if (b->before)
        eddy__input_give(a, b->before, n * (size_t)source_words(b) * sizeof *b->before);
}

static const stage buffer_stage = { .next = buffer_next, .rewind = buffer_rewind,
                                    .save = buffer_save, .load = buffer_load,
                                    .release = buffer_release };

eddy_dataset *eddy__shuffle_buffer(eddy_dataset *d, int64_t seed, int64_t buffer)
{
    buffered *b = eddy__stage_new(sizeof *b, &buffer_stage, &d, 1, "shuffle");
    if (!b) return NULL;
    b->seed = (uint64_t)seed;
    b->size = buffer;
    b->streams = !d->indexed;
    b->d.words = b->streams ? 4 + d->words : 2;
    eddy__label(&b->d, "(%lld,%lld)", (long long)seed, (long long)buffer);
    if (buffer < 1 || buffer > MAX_BUFFER)
        eddy__dataset_fail(&b->d, EDDY_INVALID_ARGUMENT,
                           "dataset_shuffle: the buffer is %lld; expected 0 to %d",
                           (long long)buffer, MAX_BUFFER);
    return &b->d;
}
