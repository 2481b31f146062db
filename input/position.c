/* position.c -- the place in a pipeline as text:
 *
 *   eddy 1: prefetch batch(32) shuffle(7) arrays(1797): 2 2 14
 *
 * The stages with what the order depends on, from the last one to the source; the epoch of the
 * user; and the numbers of the stages, of which an indexed dataset has two, the epoch and the
 * number of the next record. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 21 };                    /* " -9223372036854775808" */

static const char begin[] = "eddy 1:";

/* The labels down to the source. The other sources of a stage are in its label. */
static size_t print_stages(const eddy_dataset *d, char *to, size_t size)
{
    size_t n = (size_t)snprintf(to, size, "%s", begin);
    for (; d; d = d->n_sources > 0 ? d->sources[0] : NULL)
        n += (size_t)snprintf(to + n, size - n, " %s", d->label);
    return n + (size_t)snprintf(to + n, size - n, ":");
}

static size_t text_size(const eddy_dataset *d)
{
    return sizeof begin + 2 + (size_t)d->depth * (INPUT_LABEL + 1) +
           ((size_t)d->words + 1) * NUMBER;
}

/* Room for the text and the numbers. */
static bool make_room(eddy_dataset *d)
{
    if (d->text) return true;
    d->text = eddy__input_take(&d->allocator, text_size(d));
    if (!d->text) return eddy__input_no_memory(&d->error);
    d->text_bytes = text_size(d);
    d->saved = eddy__input_take(&d->allocator, (size_t)d->words * sizeof *d->saved);
    if (!d->saved) {
        eddy__input_give(&d->allocator, d->text, d->text_bytes);
        d->text = NULL;
        d->text_bytes = 0;
        return eddy__input_no_memory(&d->error);
    }
    d->n_saved = d->words;
    return true;
}

const char *eddy_dataset_position(eddy_dataset *d)
{
    if (!d || d->error.status != EDDY_OK || d->taken || !make_room(d)) return NULL;
    size_t n = print_stages(d, d->text, d->text_bytes);
    eddy__save(d, d->saved);
    n += (size_t)snprintf(d->text + n, d->text_bytes - n, " %lld", (long long)d->user_epoch);
    for (int i = 0; i < d->words; i++)
        n += (size_t)snprintf(d->text + n, d->text_bytes - n, " %lld", (long long)d->saved[i]);
    return d->text;
}

/* -------------------------------------------------------------- reading -- */

/* The text after the stages, if they are those of d; NULL if not. The text may be d->text. */
static const char *skip_stages(const eddy_dataset *d, const char *text)
{
    const char *at = text + sizeof begin - 1;
    for (; d; d = d->n_sources > 0 ? d->sources[0] : NULL) {
        const size_t n = strlen(d->label);
        if (*at != ' ' || strncmp(at + 1, d->label, n) != 0) return NULL;
        at += 1 + n;
    }
    return *at == ':' ? at + 1 : NULL;
}

static bool take_number(const char **at, int64_t *out)
{
    const char *from = *at;
    char       *end;
    if (from[0] != ' ' || (from[1] != '-' && (from[1] < '0' || from[1] > '9'))) return false;
    errno = 0;
    *out = strtoll(from + 1, &end, 10);
    *at = end;
    return errno == 0 && end > from + 1 && *out <= input_last_number;
}

/* The numbers of the text, to d->saved. */
static bool parse(eddy_dataset *d, const char *text, int64_t *epoch, eddy_error *e)
{
    if (strncmp(text, begin, sizeof begin - 1) != 0)
        return eddy__input_fail(e, EDDY_CORRUPT, "dataset_seek: '%.100s' is not a position", text);
    const char *at = skip_stages(d, text);
    if (!at) {
        print_stages(d, d->text, d->text_bytes);
        return eddy__input_fail(e, EDDY_INVALID_ARGUMENT,
                                "dataset_seek: the position is of another pipeline: '%.300s'; "
                                "expected '%.300s'", text, d->text);
    }
    bool        ok = take_number(&at, epoch) && *epoch >= 0;
    for (int i = 0; ok && i < d->words; i++) ok = take_number(&at, &d->saved[i]);
    return (ok && *at == 0) ||
           eddy__input_fail(e, EDDY_CORRUPT,
                            "dataset_seek: byte %zu of the position: expected %d numbers",
                            (size_t)(at - text), d->words + 1);
}

/* Where d is, so that a failure changes nothing. */
static bool seek(eddy_dataset *d, const char *text, eddy_error *e)
{
    const size_t bytes = (size_t)d->words * sizeof(int64_t);
    int64_t      epoch = 0, *before = NULL;
    if (!make_room(d)) return eddy__input_no_memory(e);
    if (!parse(d, text, &epoch, e)) return false;
    before = eddy__input_take(&d->allocator, bytes);
    if (!before) return eddy__input_no_memory(e);
    eddy__save(d, before);
    const bool ok = eddy__load(d, d->saved, e);
    if (ok) d->user_epoch = epoch;
    else eddy__load(d, before, &d->error);
    eddy__input_give(&d->allocator, before, bytes);
    return ok || eddy__input_fail(e, EDDY_CORRUPT, "dataset_seek: there is no such position");
}

eddy_status eddy_dataset_seek(eddy_dataset *d, const char *position)
{
    eddy_error e = { EDDY_OK, "" };
    if (!d || d->error.status != EDDY_OK) return eddy_dataset_status(d);
    if (!position || d->taken)
        eddy__input_fail(&e, EDDY_INVALID_ARGUMENT, position
                             ? "dataset_seek: the dataset is part of another one"
                             : "dataset_seek: no position is given");
    else seek(d, position, &e);
    if (e.status != EDDY_OK)
        snprintf(d->error.message, sizeof d->error.message, "%s", e.message);
    return e.status;
}

/* ----------------------------------------------------------- checkpoints -- */

eddy_status eddy_save_with_dataset(eddy_session *s, const char *path, eddy_dataset *d,
                                   eddy_error *error)
{
    eddy_error          e = { EDDY_OK, "" };
    const eddy_metadata pair = { EDDY_DATASET_POSITION, eddy_dataset_position(d) };
    if (!pair.value)
        eddy__input_fail(&e,
                         d && d->error.status != EDDY_OK ? d->error.status : EDDY_INVALID_ARGUMENT,
                         "save_with_dataset: there is no position: %.800s",
                         d ? d->error.message : "no dataset is given");
    else if (eddy_save_checkpoint(s, path, .metadata = &pair, .n_metadata = 1) != EDDY_OK)
        eddy__input_fail(&e, s ? eddy_session_status(s) : EDDY_INVALID_ARGUMENT, "%s",
                         s ? eddy_session_message(s) : "save_with_dataset: no session is given");
    if (error && e.status != EDDY_OK) *error = e;
    return e.status;
}

/* The position in the file, which is gone to before the variables change. */
static bool seek_file(eddy_dataset *d, const char *path, eddy_error *e)
{
    eddy_checkpoint *c = eddy_checkpoint_open(path, .error = e);
    const char      *text = c ? eddy_checkpoint_text(c, EDDY_DATASET_POSITION) : NULL;
    bool             ok = text != NULL;
    const eddy_status status = ok ? eddy_dataset_seek(d, text) : EDDY_OK;
    if (status != EDDY_OK)
        ok = eddy__input_fail(e, status, "%.300s: %.700s", path, eddy_dataset_message(d));
    else if (c && !ok)
        eddy__input_fail(e, EDDY_NOT_FOUND, "%.600s: the file has no position of a dataset", path);
    eddy_checkpoint_free(c);
    return ok;
}

eddy_status eddy_restore_with_dataset(eddy_session *s, const char *path, eddy_dataset *d,
                                      eddy_error *error)
{
    eddy_error  e = { EDDY_OK, "" };
    const char *now = eddy_dataset_position(d);
    char       *before = NULL;
    size_t      bytes = 0;
    if (!s || !path || !now)
        eddy__input_fail(&e, EDDY_INVALID_ARGUMENT, "restore_with_dataset: %s",
                         !s ? "no session is given" : !path ? "no path is given"
                            : "the dataset has no position");
    else {
        bytes = strlen(now) + 1;
        before = eddy__input_take(&d->allocator, bytes);
        if (!before) eddy__input_no_memory(&e);
    }
    if (before) memcpy(before, now, bytes);
    if (before && seek_file(d, path, &e) && eddy_restore(s, path, EDDY_LIST()) != EDDY_OK) {
        eddy__input_fail(&e, eddy_session_status(s), "%s", eddy_session_message(s));
        eddy_dataset_seek(d, before);
    }
    if (before) eddy__input_give(&d->allocator, before, bytes);
    if (error && e.status != EDDY_OK) *error = e;
    return e.status;
}
