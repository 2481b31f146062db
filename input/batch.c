/* batch.c -- several records as one. Records of equal shapes are made in the memory of the batch;
 * others are made first and then padded. */
#include "internal.h"

#include <string.h>

enum { MAX_BATCH = 1 << 24 };

/* The memory of one call; calls of several threads have several. */
typedef struct batch_memory {
    struct batch_memory *next;
    eddy_record **records;               /* of a padded batch: size of them; else one */
} batch_memory;

typedef struct batch {
    eddy_dataset d;                      /* its lock protects `free` */
    int64_t      size;
    bool         drop, padded, lengths;
    double       padding;
    batch_memory *free;
} batch;

static int64_t room_records(const batch *b) { return b->padded ? b->size : 1; }

static batch_memory *take_memory(batch *b, eddy_error *e)
{
    const eddy_allocator *a = &b->d.allocator;
    pthread_mutex_lock(&b->d.lock);
    batch_memory *r = b->free;
    if (r) b->free = r->next;
    pthread_mutex_unlock(&b->d.lock);
    if (r) return r;
    r = eddy__input_take(a, sizeof *r);
    if (r) r->records = eddy__input_take(a, (size_t)room_records(b) * sizeof *r->records);
    if (r && r->records) return r;
    eddy__input_give(a, r, sizeof *r);
    eddy__input_no_memory(e);
    return NULL;
}

static void give_memory(batch *b, batch_memory *r)
{
    if (!r) return;
    pthread_mutex_lock(&b->d.lock);
    r->next = b->free;
    b->free = r;
    pthread_mutex_unlock(&b->d.lock);
}

/* Record i of the memory, made when it is needed first. */
static eddy_record *memory_record(batch *b, batch_memory *r, int64_t i, eddy_error *e)
{
    if (!r->records[i])
        r->records[i] = eddy__record_new(&b->d.allocator, b->d.sources[0]->n);
    if (r->records[i]) r->records[i]->error = e;
    else eddy__input_no_memory(e);
    return r->records[i];
}

/* The source's record `at`, or its next one if it is a stream. */
static outcome read(eddy_dataset *source, int64_t epoch, int64_t at, bool stream, eddy_record *to)
{
    if (stream) return eddy__next(source, to);
    return eddy__at(source, epoch, at, to) ? INPUT_RECORD : INPUT_FAILED;
}

/* ------------------------------------------------------- equal shapes -- */

/* Lends row i of each component of `to`, which begins with as many rows as the type says. */
static void lend_rows(eddy_record *one, const eddy_record *to, int64_t i)
{
    for (int k = 0; k < one->n; k++) {
        const slot *s = &to->slots[k];
        const size_t row = s->bytes / (size_t)s->shape.dim[0];
        eddy__slot_lend(&one->slots[k], s->at + (size_t)i * row, s->dtype,
                        eddy_shape_of_dims(s->shape.dim + 1, (size_t)s->shape.rank - 1));
    }
}

static void lend_nothing(eddy_record *one)
{
    for (int k = 0; k < one->n; k++) one->slots[k].lent = NULL;
}

/* Makes the batch for n records like the first one, and copies it. */
static bool begin(const eddy_record *one, int64_t n, eddy_record *to)
{
    for (int k = 0; k < one->n; k++) {
        const slot *s = &one->slots[k];
        eddy_shape  all = { .rank = s->shape.rank + 1 };
        if (all.rank > EDDY_MAX_RANK)
            return eddy__input_fail(to->error, EDDY_BAD_SHAPE,
                                    "dataset_batch: component %d has %d dimensions already", k,
                                    EDDY_MAX_RANK);
        all.dim[0] = n;
        memcpy(all.dim + 1, s->shape.dim, (size_t)s->shape.rank * sizeof *all.dim);
        char *at = eddy_record_make(to, k, s->dtype, all);
        if (!at) return false;
        if (s->bytes) memcpy(at, s->at, s->bytes);
    }
    to->epoch = one->epoch;
    to->number = one->number;
    return true;
}

/* The record was made in the rows that were lent. */
static bool in_rows(const eddy_record *one, const eddy_record *to)
{
    for (int k = 0; k < one->n; k++) {
        const slot *s = &one->slots[k];
        char        is[240], was[240];
        if (s->dtype == s->lent_dtype && eddy_shape_equal(s->shape, s->lent_shape)) continue;
        return eddy__input_fail(to->error, EDDY_BAD_SHAPE,
                                "dataset_batch: component %d of record %lld is %s, and of those "
                                "before %s; .padded joins different shapes", k,
                                (long long)one->number,
                                eddy__component_print((eddy_component){ s->dtype, s->shape }, is,
                                                      sizeof is),
                                eddy__component_print((eddy_component){ s->lent_dtype,
                                                                        s->lent_shape },
                                                      was, sizeof was));
    }
    return true;
}

/* Fewer rows at the end of a stream. */
static void shorten(eddy_record *to, int64_t n)
{
    for (int k = 0; k < to->n; k++) {
        slot *s = &to->slots[k];
        s->bytes = s->bytes / (size_t)s->shape.dim[0] * (size_t)n;
        s->shape.dim[0] = n;
    }
}

/* n records from number `first`, or from a stream; *got is how many there were. */
static outcome equal(batch *b, batch_memory *r, int64_t epoch, int64_t first, int64_t n,
                     int64_t *got, eddy_record *out)
{
    const bool   stream = !b->d.indexed;
    eddy_record *one = memory_record(b, r, 0, out->error);
    outcome      o = INPUT_FAILED;
    if (!one) return o;
    o = read(b->d.sources[0], epoch, first, stream, one);
    if (o != INPUT_RECORD) return o;
    if (!begin(one, n, out)) return INPUT_FAILED;
    for (*got = 1; *got < n && o == INPUT_RECORD; *got += o == INPUT_RECORD) {
        lend_rows(one, out, *got);
        o = read(b->d.sources[0], epoch, first + *got, stream, one);
        if (o == INPUT_RECORD && !in_rows(one, out)) o = INPUT_FAILED;
        lend_nothing(one);
    }
    if (o != INPUT_END) return o;
    shorten(out, *got);
    return INPUT_RECORD;
}

/* ------------------------------------------------------------- padded -- */

static outcome padded(batch *b, batch_memory *r, int64_t epoch, int64_t first, int64_t n,
                      int64_t *got, eddy_record *out)
{
    outcome o = INPUT_RECORD;
    for (*got = 0; *got < n && o == INPUT_RECORD; *got += o == INPUT_RECORD) {
        eddy_record *one = memory_record(b, r, *got, out->error);
        o = one ? read(b->d.sources[0], epoch, first + *got, !b->d.indexed, one) : INPUT_FAILED;
    }
    if (o == INPUT_FAILED || *got == 0) return o;
    return eddy__join_padded(r->records, *got, b->padding, b->lengths, out) ? INPUT_RECORD
                                                                            : INPUT_FAILED;
}

static outcome make(batch *b, int64_t epoch, int64_t first, int64_t n, eddy_record *out)
{
    batch_memory *r = take_memory(b, out->error);
    int64_t got = 0;
    outcome o = !r ? INPUT_FAILED : b->padded ? padded(b, r, epoch, first, n, &got, out)
                                              : equal(b, r, epoch, first, n, &got, out);
    give_memory(b, r);
    if (o == INPUT_RECORD && got < n && b->drop) o = INPUT_END;
    return o;
}

/* -------------------------------------------------------------- stage -- */

static int64_t batch_size(eddy_dataset *d, eddy_error *e)
{
    const batch  *b = (batch *)d;
    const int64_t n = eddy__size(d->sources[0], e);
    if (n < 0 || n == INT64_MAX) return n;
    return n / b->size + (n % b->size != 0 && !b->drop);
}

static bool batch_at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    batch        *b = (batch *)d;
    const int64_t n = eddy__size(d->sources[0], out->error);
    int64_t       first;
    if (n < 0) return false;
    if (__builtin_mul_overflow(i, b->size, &first) || first >= n)
        return eddy__input_fail(out->error, EDDY_LIMIT, "dataset_batch: batch %lld does not exist",
                                (long long)i);
    return make(b, epoch, first, n - first < b->size ? n - first : b->size, out) == INPUT_RECORD;
}

static outcome batch_next(eddy_dataset *d, eddy_record *out)
{
    return make((batch *)d, 0, 0, ((batch *)d)->size, out);
}

static void batch_rewind(eddy_dataset *d, int64_t epoch) { eddy__rewind(d->sources[0], epoch); }
static void batch_save(eddy_dataset *d, int64_t *words) { eddy__save(d->sources[0], words); }
static bool batch_load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    return eddy__load(d->sources[0], words, e);
}

static void batch_release(eddy_dataset *d)
{
    batch        *b = (batch *)d;
    const int64_t n = room_records(b);
    for (batch_memory *r = b->free, *next; r; r = next) {
        next = r->next;
        for (int64_t i = 0; i < n; i++) eddy__record_free(r->records[i]);
        eddy__input_give(&d->allocator, r->records, (size_t)n * sizeof *r->records);
        eddy__input_give(&d->allocator, r, sizeof *r);
    }
}

static const stage batch_stage = { .size = batch_size, .at = batch_at, .next = batch_next,
                                   .rewind = batch_rewind, .save = batch_save,
                                   .load = batch_load, .release = batch_release };

eddy_dataset *eddy_dataset_batch_with(const eddy_batch_args *given)
{
    eddy_batch_args a = { eddy_batch_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    batch *b = eddy__stage_new(sizeof *b, &batch_stage, &a.dataset, 1, "batch");
    if (!b) return NULL;
    b->size = a.size;
    b->drop = a.drop_remainder;
    b->padded = a.padded;
    b->padding = a.padding;
    b->lengths = a.lengths;
    if (!b->d.indexed) b->d.words = a.dataset->words;
    eddy__label(&b->d, "(%lld%s)", (long long)a.size, a.drop_remainder ? ",drop" : "");
    if (a.size < 1 || a.size > MAX_BATCH)
        eddy__dataset_fail(&b->d, EDDY_INVALID_ARGUMENT,
                           "dataset_batch: the size is %lld; expected 1 to %d", (long long)a.size,
                           MAX_BATCH);
    if (b->d.error.status == EDDY_OK)
        eddy__batch_components(&b->d, a.dataset, a.drop_remainder ? a.size : EDDY_ANY, a.padded,
                               a.lengths, "dataset_batch");
    return &b->d;
}
