/* dataset.c -- what all stages have in common: making, freeing, reading one record after
 * another. */
#include "internal.h"
#include "../graph/base/sanitizer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *take_libc(void *context, size_t n)
{
    (void)context;
    return malloc(n);
}

static void release_libc(void *context, void *p, size_t n)
{
    (void)context;
    if (!eddy__has_size(p, n)) abort();
    free(p);
}

static const eddy_allocator libc = { .allocate = take_libc, .release = release_libc };

/* ---------------------------------------------------------------- making -- */

bool eddy__dataset_fail(eddy_dataset *d, eddy_status status, const char *format, ...)
{
    if (d->error.status != EDDY_OK) return false;
    va_list args;
    va_start(args, format);
    d->error.status = status;
    vsnprintf(d->error.message, sizeof d->error.message, format, args);
    va_end(args);
    return false;
}

void eddy__label(eddy_dataset *d, const char *format, ...)
{
    const size_t n = strlen(d->label);
    va_list      args;
    va_start(args, format);
    vsnprintf(d->label + n, sizeof d->label - n, format, args);
    va_end(args);
}

void eddy__label_sources(eddy_dataset *d)
{
    uint64_t h = 14695981039346656037u;              /* FNV-1a */
    for (int i = 1; i < d->n_sources; i++)
        for (const eddy_dataset *s = d->sources[i]; s; s = s->n_sources > 0 ? s->sources[0] : NULL)
            for (const char *c = s->label;; c++) {
                h = (h ^ (uint8_t)*c) * 1099511628211u;
                if (!*c) break;
            }
    if (d->n_sources > 1) eddy__label(d, "[%08x]", (unsigned)(h ^ h >> 32));
}

bool eddy__set_components(eddy_dataset *d, const eddy_component *c, int n, const char *who)
{
    if (n < 1 || n > EDDY_MAX_COMPONENTS || !c)
        return eddy__dataset_fail(d, EDDY_INVALID_ARGUMENT,
                                  "%s: the number of components is %d; expected 1 to %d", who, n,
                                  EDDY_MAX_COMPONENTS);
    for (int i = 0; i < n; i++) {
        char text[240];
        if (eddy_dtype_size(c[i].dtype) > 0 && eddy_shape_is_valid(c[i].shape)) continue;
        return eddy__dataset_fail(d, EDDY_INVALID_ARGUMENT,
                                  "%s: component %d cannot have the type %s", who, i,
                                  eddy__component_print(c[i], text, sizeof text));
    }
    eddy_component *copy = eddy__input_take(&d->allocator, (size_t)n * sizeof *copy);
    if (!copy) return eddy__input_no_memory(&d->error);
    memcpy(copy, c, (size_t)n * sizeof *copy);
    eddy__input_give(&d->allocator, d->components, (size_t)d->n * sizeof *d->components);
    d->components = copy;
    d->n = n;
    return true;
}

static eddy_dataset *make(size_t bytes, const stage *st, const eddy_allocator *a, const char *name)
{
    eddy_dataset *d = eddy__input_take(a, bytes);
    if (!d) return NULL;
    d->stage = st;
    d->allocator = *a;
    d->bytes = bytes;
    d->indexed = st->at != NULL;
    d->words = 2;
    d->depth = 1;
    pthread_mutex_init(&d->lock, NULL);
    eddy__label(d, "%s", name);
    return d;
}

void *eddy__source_new(size_t bytes, const stage *st, const eddy_allocator *a, const char *name)
{
    return make(bytes, st, a && a->allocate && a->release ? a : &libc, name);
}

/* Source i becomes d's. */
static void take_over(eddy_dataset *d, int i, eddy_dataset *source)
{
    if (source->taken) {
        eddy__dataset_fail(d, EDDY_INVALID_ARGUMENT,
                           "%s: the dataset is already part of another one", d->label);
        return;
    }
    source->taken = true;
    d->sources[i] = source;
    if (source->error.status != EDDY_OK)
        eddy__dataset_fail(d, source->error.status, "%s", source->error.message);
    d->indexed = d->indexed && source->indexed;
    if (d->depth <= source->depth) d->depth = source->depth + 1;
}

/* Those that no stage has taken over, of a list that may have one several times. */
static void free_sources(eddy_dataset *const *sources, int n)
{
    for (int i = 0; sources && i < n; i++) {
        bool again = false;
        for (int j = 0; j < i && !again; j++) again = sources[j] == sources[i];
        if (!again) eddy_dataset_free(sources[i]);
    }
}

void *eddy__stage_new(size_t bytes, const stage *st, eddy_dataset *const *sources, int n,
                      const char *name)
{
    eddy_dataset *d = NULL;
    if (n < 1 || !sources) {
        d = make(bytes, st, &libc, name);
        if (d)
            eddy__dataset_fail(d, EDDY_INVALID_ARGUMENT,
                               "dataset_%s: there is no dataset; expected at least 1", name);
        return d;
    }
    bool given = true;
    for (int i = 0; given && i < n; i++) given = sources[i] != NULL;
    if (given) d = make(bytes, st, &sources[0]->allocator, name);
    if (d) {
        d->sources = eddy__input_take(&d->allocator, (size_t)n * sizeof *d->sources);
        if (d->sources) d->n_sources = n;
        else {
            eddy_dataset_free(d);
            d = NULL;
        }
    }
    if (!d) {
        free_sources(sources, n);
        return NULL;
    }
    for (int i = 0; i < n; i++) take_over(d, i, sources[i]);
    if (d->depth > INPUT_MAX_DEPTH)
        eddy__dataset_fail(d, EDDY_LIMIT, "%s: more than %d stages", name, INPUT_MAX_DEPTH);
    if (d->error.status == EDDY_OK)
        eddy__set_components(d, sources[0]->components, sources[0]->n, name);
    return d;
}

/* The stages below are freed in a loop, as far as they are a chain. */
static void free_all(eddy_dataset *d)
{
    while (d) {
        const eddy_allocator a = d->allocator;
        eddy_dataset        *first = d->n_sources > 0 ? d->sources[0] : NULL;
        if (d->stage->release) d->stage->release(d);
        for (int i = 1; i < d->n_sources; i++) free_all(d->sources[i]);
        for (eddy_record *r = d->spare, *next; r; r = next) {
            next = r->next;
            eddy__record_free(r);
        }
        eddy__record_free(d->current);
        eddy__input_give(&a, d->sources, (size_t)d->n_sources * sizeof *d->sources);
        eddy__input_give(&a, d->components, (size_t)d->n * sizeof *d->components);
        eddy__input_give(&a, d->text, d->text_bytes);
        eddy__input_give(&a, d->saved, (size_t)d->n_saved * sizeof *d->saved);
        pthread_mutex_destroy(&d->lock);
        eddy__input_give(&a, d, d->bytes);
        d = first;
    }
}

void eddy_dataset_free(eddy_dataset *d)
{
    if (d && !d->taken) free_all(d);
}

eddy_record *eddy__borrow(eddy_dataset *d, eddy_error *e)
{
    pthread_mutex_lock(&d->lock);
    eddy_record *r = d->spare;
    if (r) d->spare = r->next;
    pthread_mutex_unlock(&d->lock);
    if (!r) r = eddy__record_new(&d->allocator, d->n);
    if (r) r->error = e;
    else eddy__input_no_memory(e);
    return r;
}

void eddy__give_back(eddy_dataset *d, eddy_record *r)
{
    if (!r) return;
    pthread_mutex_lock(&d->lock);
    r->next = d->spare;
    d->spare = r;
    pthread_mutex_unlock(&d->lock);
}

/* --------------------------------------------------------------- reading -- */

int64_t eddy__size(eddy_dataset *d, eddy_error *e)
{
    return d->stage->size(d, e);
}

bool eddy__at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out)
{
    return d->stage->at(d, epoch, i, out);
}

static outcome next_of_index(eddy_dataset *d, eddy_record *out)
{
    const int64_t n = eddy__size(d, out->error);
    if (n < 0) return INPUT_FAILED;
    if (d->at >= n) return INPUT_END;
    if (!eddy__at(d, d->epoch, d->at, out)) return INPUT_FAILED;
    d->at++;
    return INPUT_RECORD;
}

outcome eddy__next(eddy_dataset *d, eddy_record *out)
{
    if (d->ended) return INPUT_END;
    const outcome r = d->indexed ? next_of_index(d, out) : d->stage->next(d, out);
    d->ended = r == INPUT_END;
    return r;
}

void eddy__rewind(eddy_dataset *d, int64_t epoch)
{
    d->ended = false;
    d->epoch = epoch;
    d->at = 0;
    if (!d->indexed) d->stage->rewind(d, epoch);
}

void eddy__save(eddy_dataset *d, int64_t *words)
{
    if (!d->indexed) d->stage->save(d, words);
    else {
        words[0] = d->epoch;
        words[1] = d->at;
    }
}

bool eddy__load(eddy_dataset *d, const int64_t *words, eddy_error *e)
{
    d->ended = false;
    if (!d->indexed) return d->stage->load(d, words, e);
    if (words[0] < 0 || words[1] < 0)
        return eddy__input_fail(e, EDDY_CORRUPT,
                                "dataset_seek: a number of the position is negative");
    d->epoch = words[0];
    d->at = words[1];
    return true;
}

/* ------------------------------------------------------------- for the user -- */

bool eddy_dataset_next(eddy_dataset *d, const eddy_array **arrays)
{
    if (!d || d->error.status != EDDY_OK) return false;
    if (d->taken)
        return eddy__dataset_fail(d, EDDY_INVALID_ARGUMENT,
                                  "dataset_next: the dataset is part of another one");
    if (!d->current) d->current = eddy__record_new(&d->allocator, d->n);
    if (!d->current) return eddy__input_no_memory(&d->error);
    d->current->error = &d->error;
    const outcome r = eddy__next(d, d->current);
    if (r == INPUT_END) {
        if (d->user_epoch < INT64_MAX) d->user_epoch++;
        eddy__rewind(d, d->user_epoch);
    }
    if (r == INPUT_FAILED)
        eddy__dataset_fail(d, EDDY_INTERNAL, "dataset_next: an error without a message");
    if (r != INPUT_RECORD || d->error.status != EDDY_OK) return false;
    for (int i = 0; arrays && i < d->n; i++) arrays[i] = eddy_record_array(d->current, i);
    return true;
}

eddy_status eddy_dataset_status(const eddy_dataset *d)
{
    return d ? d->error.status : EDDY_NO_MEMORY;
}

const char *eddy_dataset_message(const eddy_dataset *d)
{
    return d ? d->error.message : "dataset: out of memory";
}

int eddy_dataset_width(const eddy_dataset *d)
{
    return d && d->error.status == EDDY_OK ? d->n : 0;
}

eddy_component eddy_dataset_component(const eddy_dataset *d, int i)
{
    if (i < 0 || i >= eddy_dataset_width(d))
        return (eddy_component){ EDDY_DEFAULT_DTYPE, { .rank = EDDY_UNKNOWN_RANK } };
    return d->components[i];
}

int64_t eddy_dataset_size(eddy_dataset *d)
{
    if (!d || d->error.status != EDDY_OK || !d->indexed) return -1;
    return eddy__size(d, &d->error);
}

int64_t eddy_dataset_epoch(const eddy_dataset *d) { return d ? d->user_epoch : 0; }

eddy_status eddy_dataset_begin(eddy_dataset *d, int64_t epoch)
{
    if (!d || d->error.status != EDDY_OK) return eddy_dataset_status(d);
    if (epoch < 0 || epoch > input_last_epoch || d->taken) return EDDY_INVALID_ARGUMENT;
    d->user_epoch = epoch;
    eddy__rewind(d, epoch);
    return EDDY_OK;
}
