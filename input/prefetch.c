/* prefetch.c -- threads that make records before they are asked for.
 *
 * A ring holds the records in order. A thread takes the next place of the ring together with the
 * next number of the source, makes the record without a lock, and marks the place as ready; the
 * user takes places in order. So the order does not depend on the threads. A stream is read by
 * one thread at a time, under a lock of its own; if its last stage is a map, only the map's
 * source is read so, and its function runs without the lock. With each record is kept the
 * position of the source after it: the position of this stage is that of the last record that
 * the user took. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 256, MAX_RING = 1 << 16 };

typedef enum place_state { PLACE_FREE, PLACE_BUSY, PLACE_READY } place_state;

typedef struct place {
    place_state  state;
    outcome      what;
    eddy_record *record, *raw;           /* raw: what a map gets */
    eddy_error   error;
    int64_t     *words;
} place;

typedef struct prefetch {
    eddy_dataset    d;
    int             threads, ring_size;
    pthread_mutex_t mutex;               /* of everything below */
    pthread_cond_t  room, ready;
    pthread_mutex_t reading; /* of the source, if it is a stream; taken before `mutex` */
    bool            made;                /* the four above exist */
    place          *ring;
    int64_t        *words;               /* after the last record that was taken, after the end of
                                          * the epoch, and those of the ring */
    int             head, tail;          /* the next place to take, to fill */
    pthread_t       thread[MAX_THREADS];
    int             running;             /* threads that were started */
    bool            stop, failed;        /* failed: no place is filled any more */
    pid_t           process;             /* whose threads these are */
    int64_t         epoch, at; /* the next record of an indexed source; of a stream: epoch */
    int64_t         user_epoch;          /* of the last record that was taken */
    bool            at_end;              /* it was the end of that epoch */
} prefetch;

static eddy_dataset *source_of(const prefetch *p) { return p->d.sources[0]; }

/* --------------------------------------------------------------- threads -- */

/* Takes a free place, with p->mutex held; NULL if the threads are to end. */
static place *take_place(prefetch *p)
{
    while (!p->stop && !p->failed && p->ring[p->tail].state != PLACE_FREE)
        pthread_cond_wait(&p->room, &p->mutex);
    if (p->stop || p->failed) return NULL;
    place *one = &p->ring[p->tail];
    p->tail = (p->tail + 1) % p->ring_size;
    one->state = PLACE_BUSY;
    one->error.status = EDDY_OK;
    one->record->error = &one->error;
    return one;
}

static void finish(prefetch *p, place *one, outcome what)
{
    pthread_mutex_lock(&p->mutex);
    one->what = what;
    one->state = PLACE_READY;
    if (what == INPUT_FAILED) {
        p->failed = true;
        pthread_cond_broadcast(&p->room);
    }
    pthread_cond_broadcast(&p->ready);
    pthread_mutex_unlock(&p->mutex);
}

/* False if the threads are to end. */
static bool fill_from_index(prefetch *p)
{
    eddy_error    e = { EDDY_OK, "" };
    const int64_t n = eddy__size(source_of(p), &e);
    pthread_mutex_lock(&p->mutex);
    place        *one = take_place(p);
    const int64_t epoch = p->epoch, at = p->at;
    const bool    end = at >= n;
    if (one) {
        if (end) p->epoch++;
        p->at = end ? 0 : at + 1;
        one->words[0] = p->epoch;
        one->words[1] = p->at;
    }
    pthread_mutex_unlock(&p->mutex);
    if (!one) return false;
    if (n < 0) {
        one->error = e;
        finish(p, one, INPUT_FAILED);
    } else if (end) finish(p, one, INPUT_END);
    else
        finish(p, one,
               eddy__at(source_of(p), epoch, at, one->record) ? INPUT_RECORD : INPUT_FAILED);
    return true;
}

static bool fill_from_stream(prefetch *p)
{
    eddy_dataset *source = source_of(p);
    const bool    mapped = eddy__is_map(source);
    pthread_mutex_lock(&p->reading);
    pthread_mutex_lock(&p->mutex);
    place *one = take_place(p);
    pthread_mutex_unlock(&p->mutex);
    outcome o = INPUT_END;
    if (one) {
        if (mapped) one->raw->error = &one->error;
        o = eddy__next(mapped ? source->sources[0] : source, mapped ? one->raw : one->record);
        if (o == INPUT_END) eddy__rewind(source, ++p->epoch);
        if (o != INPUT_FAILED) eddy__save(source, one->words);
    }
    pthread_mutex_unlock(&p->reading);
    if (!one) return false;
    if (mapped && o == INPUT_RECORD && !eddy__map_apply(source, one->raw, one->record))
        o = INPUT_FAILED;
    finish(p, one, o);
    return true;
}

static void *work(void *context)
{
    prefetch *p = context;
    while (source_of(p)->indexed ? fill_from_index(p) : fill_from_stream(p)) continue;
    return NULL;
}

static void stop_threads(prefetch *p)
{
    if (!p->running) return;
    pthread_mutex_lock(&p->mutex);
    p->stop = true;
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->mutex);
    for (int i = 0; i < p->running; i++) pthread_join(p->thread[i], NULL);
    p->running = 0;
    p->stop = false;
}

/* Signals are for the other threads of the program. */
static bool start_threads(prefetch *p, eddy_error *e)
{
    sigset_t all, before;
    int      failed = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->process = getpid();
    pthread_mutex_lock(&p->mutex);
    while (p->running < p->threads && failed == 0) {
        failed = pthread_create(&p->thread[p->running], NULL, work, p);
        if (failed == 0) p->running++;
    }
    pthread_mutex_unlock(&p->mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->running > 0 ||
           eddy__input_fail(e, EDDY_LIMIT, "dataset_prefetch: a thread cannot be started: %s",
                            strerror(failed));
}

/* ------------------------------------------------------------------ ring -- */

static size_t words_bytes(const prefetch *p)
{
    return (size_t)p->d.words * ((size_t)p->ring_size + 2) * sizeof *p->words;
}

/* The ring; the part that exists after a failure is used at the next attempt. */
static bool make_ring(prefetch *p, eddy_error *e)
{
    const eddy_allocator *a = &p->d.allocator;
    const eddy_dataset   *source = source_of(p);
    const bool            mapped = !source->indexed && eddy__is_map(source);
    if (!p->ring) p->ring = eddy__input_take(a, (size_t)p->ring_size * sizeof *p->ring);
    if (!p->words) p->words = eddy__input_take(a, words_bytes(p));
    bool ok = p->ring && p->words;
    for (int i = 0; ok && i < p->ring_size; i++) {
        place *one = &p->ring[i];
        one->words = p->words + (size_t)(i + 2) * (size_t)p->d.words;
        if (!one->record) one->record = eddy__record_new(a, p->d.n);
        if (mapped && !one->raw) one->raw = eddy__record_new(a, source->sources[0]->n);
        ok = one->record && (one->raw || !mapped);
    }
    return ok || eddy__input_no_memory(e);
}

/* Threads, from where the source is. */
static bool begin(prefetch *p, eddy_error *e)
{
    if (!make_ring(p, e)) return false;
    for (int i = 0; i < p->ring_size; i++) p->ring[i].state = PLACE_FREE;
    p->head = p->tail = 0;
    p->failed = p->at_end = false;
    eddy__save(source_of(p), p->words);
    if (source_of(p)->indexed) {
        p->epoch = p->words[0];
        p->at = p->words[1];
    } else p->epoch = p->user_epoch;
    return start_threads(p, e);
}

static outcome prefetch_next(eddy_dataset *d, eddy_record *out)
{
    prefetch *p = (prefetch *)d;
    if (p->running && p->process != getpid()) {
        eddy__input_fail(out->error, EDDY_CLOSED,
                         "dataset_prefetch: the threads are in the process that forked this one");
        return INPUT_FAILED;
    }
    if (!p->running && !begin(p, out->error)) return INPUT_FAILED;
    pthread_mutex_lock(&p->mutex);
    place *one = &p->ring[p->head];
    while (one->state != PLACE_READY) pthread_cond_wait(&p->ready, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
    const outcome o = one->what;
    if (o == INPUT_FAILED) {
        eddy__input_fail(out->error, one->error.status, "%s", one->error.message);
        return o;
    }
    if (o == INPUT_RECORD && !eddy__record_move(out, one->record)) return INPUT_FAILED;
    p->at_end = o == INPUT_END;
    memcpy(p->words + (p->at_end ? d->words : 0), one->words,
           (size_t)d->words * sizeof *p->words);
    pthread_mutex_lock(&p->mutex);
    one->state = PLACE_FREE;
    p->head = (p->head + 1) % p->ring_size;
    pthread_cond_signal(&p->room);
    pthread_mutex_unlock(&p->mutex);
    return o;
}

/* The threads go on to the next epoch by themselves. */
static void prefetch_rewind(eddy_dataset *d, int64_t epoch)
{
    prefetch  *p = (prefetch *)d;
    const bool expected = p->running && p->at_end && epoch == p->user_epoch + 1;
    p->user_epoch = epoch;
    p->at_end = false;
    if (expected) memcpy(p->words, p->words + d->words, (size_t)d->words * sizeof *p->words);
    if (expected || (p->running && p->process != getpid())) return;
    stop_threads(p);
    eddy__rewind(source_of(p), epoch);
}

/* The numbers of the source, and the epoch. */
static void prefetch_save(eddy_dataset *d, int64_t *words)
{
    const prefetch *p = (prefetch *)d;
    if (p->running) memcpy(words, p->words, (size_t)(d->words - 1) * sizeof *words);
    else eddy__save(source_of(p), words);
    words[d->words - 1] = p->user_epoch;
}

static bool prefetch_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    prefetch *p = (prefetch *)d;
    if (p->running && p->process != getpid())
        return eddy__input_fail(
            e, EDDY_CLOSED,
            "dataset_prefetch: the threads are in the process that forked this one");
    if (words[d->words - 1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    stop_threads(p);
    p->user_epoch = words[d->words - 1];
    p->at_end = false;
    return eddy__load(source_of(p), words, e);
}

/* In a child of fork() the threads do not exist, and their locks may be held: what they use
 * stays. */
static void prefetch_release(eddy_dataset *d)
{
    prefetch             *p = (prefetch *)d;
    const eddy_allocator *a = &d->allocator;
    if (p->running && p->process != getpid()) return;
    stop_threads(p);
    for (int i = 0; p->ring && i < p->ring_size; i++) {
        eddy__record_free(p->ring[i].record);
        eddy__record_free(p->ring[i].raw);
    }
    eddy__input_give(a, p->ring, (size_t)p->ring_size * sizeof *p->ring);
    eddy__input_give(a, p->words, words_bytes(p));
    if (!p->made) return;
    pthread_mutex_destroy(&p->mutex);
    pthread_mutex_destroy(&p->reading);
    pthread_cond_destroy(&p->room);
    pthread_cond_destroy(&p->ready);
}

static const stage prefetch_stage = { .next = prefetch_next, .rewind = prefetch_rewind,
                                      .save = prefetch_save, .load = prefetch_load,
                                      .release = prefetch_release };

eddy_dataset *eddy_dataset_prefetch_with(const eddy_prefetch_args *given)
{
    eddy_prefetch_args a = { eddy_prefetch_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    prefetch *p = eddy__stage_new(sizeof *p, &prefetch_stage, &a.dataset, 1, "prefetch");
    if (!p) return NULL;
    p->threads = a.threads;
    p->ring_size = a.buffer != 0 || a.threads > MAX_THREADS ? a.buffer : a.threads + 1;
    p->d.words = a.dataset->words + 1;
    if (a.threads < 1 || a.threads > MAX_THREADS || p->ring_size < 1 || p->ring_size > MAX_RING)
        eddy__dataset_fail(
            &p->d, EDDY_INVALID_ARGUMENT,
            "dataset_prefetch: %d threads with %d records; expected 1 to %d and 1 to %d", a.threads,
            p->ring_size, MAX_THREADS, MAX_RING);
    pthread_mutex_init(&p->mutex, NULL);
    pthread_mutex_init(&p->reading, NULL);
    pthread_cond_init(&p->room, NULL);
    pthread_cond_init(&p->ready, NULL);
    p->made = true;
    return &p->d;
}
