/* keep.c -- keeping the last checkpoints and the best one. The list in the folder says which there
 * are: a line for each, with the step and the metric. */
#include "graph/base/file_bytes.h"
#include "graph/call_options.h"
#include "session/checkpoints/internal.h"
#include "session/state/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 10000, LARGEST_LIST = 2000000 };
static const char list_name[] = "checkpoints.txt", first_line[] = "eddy checkpoints, best: ";

typedef struct kept {
    int64_t step;
    double  metric;
    bool    dropped;                     /* to be removed */
} kept;

typedef struct kept_list {
    const eddy_allocator *allocator;
    kept                 *at;            /* by step */
    int                   n, capacity;
    bool                  larger_is_better;
} kept_list;

static void free_list(kept_list *l)
{
    eddy__release(l->allocator, l->at, (size_t)l->capacity * sizeof *l->at);
}

static bool path_of(const char *folder, const char *file, char out[EDDY_MAX_PATH], eddy_error *e)
{
    const int n = snprintf(out, EDDY_MAX_PATH, "%s/%s", folder, file);
    return (n >= 0 && n < EDDY_MAX_PATH) ||
           eddy__error_set(e, EDDY_LIMIT, "%.600s: the name of a file is too long", folder);
}

static bool path_of_step(const char *folder, int64_t step, char out[EDDY_MAX_PATH], eddy_error *e)
{
    char file[64];
    snprintf(file, sizeof file, "checkpoint-%lld.safetensors", (long long)step);
    return path_of(folder, file, out, e);
}

/* ----------------------------------------------------------- the list file -- */

/* Inserts a checkpoint, or replaces that of the same step. */
static bool insert(kept_list *l, kept k, const char *path, eddy_error *e)
{
    int at = l->n;
    while (at > 0 && l->at[at - 1].step >= k.step) at--;
    if (at < l->n && l->at[at].step == k.step) return l->at[at] = k, true;
    if (l->n == l->capacity) {
        const int bigger = l->capacity ? l->capacity * 2 : 8;
        if (!eddy__grow(l->allocator, (void **)&l->at, (size_t)l->capacity, (size_t)bigger,
                        sizeof *l->at))
            return eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
        l->capacity = bigger;
    }
    memmove(l->at + at + 1, l->at + at, (size_t)(l->n - at) * sizeof *l->at);
    l->at[at] = k;
    l->n++;
    return true;
}

/* "STEP METRIC" or "STEP METRIC dropped"; no metric is "none". */
static bool parse_line(char *line, kept *k)
{
    char *metric = strchr(line, ' ');
    if (!metric) return false;
    *metric++ = 0;
    char *dropped = strchr(metric, ' ');
    if (dropped) *dropped++ = 0;
    k->dropped = dropped != NULL;
    k->metric = NAN;
    return (!dropped || strcmp(dropped, "dropped") == 0) && eddy__integer_parse(line, &k->step) &&
           k->step >= 0 &&
           (strcmp(metric, "none") == 0 ||
            (eddy__number_parse(metric, false, &k->metric) && !isnan(k->metric)));
}

/* Text with a final zero. */
static bool parse_list(kept_list *l, char *text, const char *path, eddy_error *e)
{
    const size_t n = sizeof first_line - 1;
    int          number = 1;
    char        *line = text, *end = strchr(text, '\n');
    bool         ok = end && strncmp(text, first_line, n) == 0;
    if (ok) {
        *end = 0;
        l->larger_is_better = strcmp(text + n, "largest") == 0;
        ok = l->larger_is_better || strcmp(text + n, "smallest") == 0;
        line = end + 1;
    }
    for (; ok && *line; line = end + 1) {
        kept k;
        number++;
        end = strchr(line, '\n');
        if (end) *end = 0;
        ok = end && parse_line(line, &k) && l->n < MOST_KEPT &&
             (l->n == 0 || k.step > l->at[l->n - 1].step);
        if (ok && !insert(l, k, path, e)) return false;
    }
    return ok ||
           eddy__error_set(e, EDDY_CORRUPT, "%.600s: line %d is not one of a list of checkpoints",
                           path, number);
}

static bool copy_and_parse(kept_list *l, const eddy_file_bytes *b, const char *path, eddy_error *e)
{
    if (b->size > LARGEST_LIST)
        return eddy__error_set(e, EDDY_LIMIT, "%.600s: the list has %zu bytes; the limit is %d",
                               path, b->size, LARGEST_LIST);
    if (memchr(b->at, 0, b->size))
        return eddy__error_set(e, EDDY_CORRUPT, "%.600s: the list contains a zero byte", path);
    char *text = eddy__allocate_zeroed(l->allocator, b->size + 1, 1);
    if (!text) return eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
    memcpy(text, b->at, b->size);
    const bool ok = parse_list(l, text, path, e);
    eddy__release(l->allocator, text, b->size + 1);
    return ok;
}

/* Without a file, an empty list. */
static bool read_list(kept_list *l, const eddy_files *files, const char *path, eddy_error *e)
{
    eddy_error       why = { 0 };
    eddy_file_bytes *b = eddy__file_bytes(files, l->allocator, path, &why);
    if (!b && why.status == EDDY_NOT_FOUND) return true;
    if (!b) return eddy__error_set(e, why.status, "%s", why.message);
    const bool ok = b->size == 0
                        ? eddy__error_set(e, EDDY_CORRUPT, "%.600s: the list is empty", path)
                        : copy_and_parse(l, b, path, e);
    eddy__file_bytes_release(b);
    return ok;
}

static bool write_list(const kept_list *l, const eddy_files *files, const char *path, eddy_error *e)
{
    eddy_text   t = { .allocator = l->allocator };
    eddy_writer out;
    char        number[EDDY_NUMBER_TEXT];
    eddy__text_put(&t, "%s%s\n", first_line, l->larger_is_better ? "largest" : "smallest");
    for (int i = 0; i < l->n; i++)
        eddy__text_put(&t, "%lld %s%s\n", (long long)l->at[i].step,
                       isnan(l->at[i].metric) ? "none"
                                              : eddy__number_print(l->at[i].metric, false, number),
                       l->at[i].dropped ? " dropped" : "");
    bool ok = !t.failed || eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
    if (ok && (ok = eddy__writer_begin(&out, files, path, e))) {
        eddy__writer_write(&out, t.at, t.length);
        ok = eddy__writer_end(&out);
    }
    eddy__text_free(&t);
    return ok;
}

/* ----------------------------------------------------------- what to keep -- */

/* The number of the best checkpoint; -1 if none has a metric. */
static int best_of(const kept_list *l)
{
    int best = -1;
    for (int i = 0; i < l->n; i++) {
        const kept *k = &l->at[i];
        if (k->dropped || isnan(k->metric)) continue;
        if (best < 0 || (l->larger_is_better ? k->metric > l->at[best].metric
                                             : k->metric < l->at[best].metric))
            best = i;
    }
    return best;
}

static int latest_of(const kept_list *l)
{
    int i = l->n - 1;
    while (i >= 0 && l->at[i].dropped) i--;
    return i;
}

/* Marks what is neither one of the last nor the best. */
static void drop(kept_list *l, int last)
{
    const int best = best_of(l);
    for (int i = l->n - 1; i >= 0; i--) {
        if (l->at[i].dropped) continue;
        if (last > 0) last--;
        else if (i != best) l->at[i].dropped = true;
    }
}

static bool exists(const eddy_files *files, const char *path)
{
    eddy_reader in;
    const bool  there = eddy__reader_open(&in, files, path, NULL);
    eddy__reader_close(&in);
    return there;
}

/* Removes the files of dropped checkpoints. */
static bool remove_dropped(const kept_list *l, const eddy_files *files, const char *folder,
                           eddy_error *e)
{
    char path[EDDY_MAX_PATH];
    for (int i = 0; i < l->n; i++) {
        if (!l->at[i].dropped) continue;
        if (!path_of_step(folder, l->at[i].step, path, e)) return false;
        if (files->unlink(files->context, path) != 0 && exists(files, path))
            return eddy__error_set(e, EDDY_IO, "%.600s: the old checkpoint cannot be removed",
                                   path);
    }
    return true;
}

/* Checkpoints that an earlier call dropped have no file any more. */
static void forget_removed(kept_list *l, const eddy_files *files, const char *folder)
{
    char path[EDDY_MAX_PATH];
    int  n = 0;
    for (int i = 0; i < l->n; i++)
        if (!l->at[i].dropped || (path_of_step(folder, l->at[i].step, path, NULL) &&
                                  exists(files, path)))
            l->at[n++] = l->at[i];
    l->n = n;
}

/* ---------------------------------------------------------------- the calls -- */

static bool update_list(kept_list *l, const eddy_keep_checkpoint_args *a, const eddy_files *files,
                        eddy_error *e)
{
    char       list[EDDY_MAX_PATH];
    const kept k = { .step = a->step, .metric = a->metric };
    if (!path_of(a->folder, list_name, list, e)) return false;
    forget_removed(l, files, a->folder);
    if (!insert(l, k, list, e)) return false;
    l->larger_is_better = a->larger_is_better;
    drop(l, a->last);
    return write_list(l, files, list, e) && remove_dropped(l, files, a->folder, e);
}

static bool check_args(const eddy_keep_checkpoint_args *a, eddy_error *e)
{
    if (!a->folder)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT, "keep_checkpoint: no folder is given");
    if (a->step < 0)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "keep_checkpoint: the step is %lld; expected 0 or more",
                               (long long)a->step);
    return (a->last >= 1 && a->last < MOST_KEPT) ||
           eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                           "keep_checkpoint: last is %d; expected 1 to %d", a->last, MOST_KEPT - 1);
}

static eddy_status save_step(const eddy_keep_checkpoint_args *a, const char *path)
{
    eddy_save_checkpoint_args options = EDDY_TAKE(eddy_save_checkpoint_args, a->options);
    options.session = a->session;
    options.path = path;
    return eddy_save_checkpoint_with(&options);
}

eddy_status eddy_keep_checkpoint_with(const eddy_keep_checkpoint_args *given)
{
    eddy_keep_checkpoint_args a = EDDY_TAKE(eddy_keep_checkpoint_args, given);
    eddy_session *s = a.session;
    eddy_error    e = { 0 };
    char          list[EDDY_MAX_PATH], path[EDDY_MAX_PATH];
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    if (!eddy__session_is_usable(s, &e)) return eddy__session_note(s, &e), e.status;
    const eddy_files *files = eddy__graph_files(s->graph);
    kept_list l = { .allocator = &s->allocator };
    bool      ok = check_args(&a, &e) && path_of(a.folder, list_name, list, &e) &&
              path_of_step(a.folder, a.step, path, &e) && read_list(&l, files, list, &e);
    if (ok) {
        const eddy_status status = save_step(&a, path);
        if (status != EDDY_OK) return free_list(&l), status;
        update_list(&l, &a, files, &e);
    }
    free_list(&l);
    if (e.status != EDDY_OK) eddy__session_note(s, &e);
    return e.status;
}

static eddy_status look_up(const char *folder, const eddy_files *files, bool best,
                           eddy_kept_checkpoint *out, eddy_error *error)
{
    eddy_error e = { 0 };
    char       list[EDDY_MAX_PATH];
    kept_list  l = { .allocator = &eddy__libc };
    if (!folder || !out)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "a folder and a result are required");
    if (out) *out = (eddy_kept_checkpoint){ .step = -1, .metric = NAN };
    if (e.status == EDDY_OK && path_of(folder, list_name, list, &e) &&
        read_list(&l, files, list, &e)) {
        const int i = best ? best_of(&l) : latest_of(&l);
        if (i >= 0 && path_of_step(folder, l.at[i].step, out->path, &e)) {
            out->step = l.at[i].step;
            out->metric = l.at[i].metric;
        }
    }
    free_list(&l);
    if (e.status != EDDY_OK) eddy__error_set(error, e.status, "%s", e.message);
    return e.status;
}

eddy_status eddy_latest_checkpoint(const char *folder, const eddy_files *files,
                                   eddy_kept_checkpoint *out, eddy_error *error)
{
    return look_up(folder, files, false, out, error);
}

eddy_status eddy_best_checkpoint(const char *folder, const eddy_files *files,
                                 eddy_kept_checkpoint *out, eddy_error *error)
{
    return look_up(folder, files, true, out, error);
}
