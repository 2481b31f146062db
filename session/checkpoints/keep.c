/* keep.c -- keeping the last checkpoints and the best one. The list in the folder (kept_list.c)
 * says which there are. */
#include "graph/call_options.h"
#include "session/checkpoints/kept_list.h"
#include "session/state/internal.h"

static const char list_name[] = "checkpoints.txt";

static bool path_of(const char *folder, const char *file, char out[EDDY_MAX_PATH], eddy_error *e)
{
    return (size_t)snprintf(out, EDDY_MAX_PATH, "%s/%s", folder, file) < EDDY_MAX_PATH ||
           eddy__error_set(e, EDDY_LIMIT, "%.600s: the name of a file is too long", folder);
}

static bool path_of_step(const char *folder, int64_t step, char out[EDDY_MAX_PATH], eddy_error *e)
{
    char file[64];
    snprintf(file, sizeof file, "checkpoint-%lld.safetensors", (long long)step);
    return path_of(folder, file, out, e);
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
                        const char *list, eddy_error *e)
{
    const kept k = { .step = a->step, .metric = a->metric };
    forget_removed(l, files, a->folder);
    if (!eddy__kept_list_add(l, k, list, e)) return false;
    l->larger_is_better = a->larger_is_better;
    drop(l, a->last);
    return eddy__kept_list_write(l, files, list, e) && remove_dropped(l, files, a->folder, e);
}

static bool check_args(const eddy_keep_checkpoint_args *a, eddy_error *e)
{
    if (!a->folder || !*a->folder)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT, "keep_checkpoint: no folder is given");
    if (a->step < 0)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "keep_checkpoint: the step is %lld; expected 0 or more",
                               (long long)a->step);
    return (a->last >= 1 && a->last < EDDY_MOST_KEPT) ||
           eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                           "keep_checkpoint: last is %d; expected 1 to %d", a->last,
                           EDDY_MOST_KEPT - 1);
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
              path_of_step(a.folder, a.step, path, &e) && eddy__kept_list_read(&l, files, list, &e);
    if (ok) {
        const eddy_status status = save_step(&a, path);
        if (status != EDDY_OK) return eddy__kept_list_free(&l), status;
        update_list(&l, &a, files, list, &e);
    }
    eddy__kept_list_free(&l);
    if (e.status != EDDY_OK) eddy__session_note(s, &e);
    return e.status;
}

/* ------------------------------------------------------------ restoring the last -- */

/* Restores the file of a step; whether an older one could be whole where this one is not. */
static eddy_status restore_step(const eddy_restore_latest_args *a, const eddy_files *files,
                                const char *path, bool *is_spoilt)
{
    eddy_restore_checkpoint_args options = EDDY_TAKE(eddy_restore_checkpoint_args, a->options);
    options.session = a->session;
    options.path = path;
    options.checkpoint = NULL;
    const eddy_status status = eddy_restore_checkpoint_with(&options);
    *is_spoilt = status == EDDY_CORRUPT || status == EDDY_IO || status == EDDY_LIMIT ||
                 (status == EDDY_NOT_FOUND && !exists(files, path));
    if (*is_spoilt) eddy_restore_report_free(options.report);
    return status;
}

static eddy_status restore_newest(const eddy_restore_latest_args *a, const kept_list *l,
                                  const eddy_files *files, eddy_kept_checkpoint *out,
                                  eddy_error *e)
{
    eddy_status status = EDDY_OK;
    bool        is_spoilt = true;
    const kept *k = NULL;
    for (int i = l->n - 1; i >= 0 && is_spoilt; i--) {
        if (l->at[i].dropped) continue;
        k = &l->at[i];
        if (!path_of_step(a->folder, k->step, out->path, e)) return e->status;
        status = restore_step(a, files, out->path, &is_spoilt);
    }
    if (!k) eddy__error_set(e, EDDY_NOT_FOUND, "%.600s: there is no checkpoint", a->folder);
    else if (status == EDDY_OK) {
        out->step = k->step;
        out->metric = k->metric;
    }
    return k ? status : e->status;
}

eddy_status eddy_restore_latest_with(const eddy_restore_latest_args *given)
{
    eddy_restore_latest_args a = EDDY_TAKE(eddy_restore_latest_args, given);
    eddy_session            *s = a.session;
    eddy_kept_checkpoint     room, *out = a.restored ? a.restored : &room;
    eddy_error               e = { 0 };
    char                     list[EDDY_MAX_PATH];
    eddy_status              status = EDDY_OK;
    *out = (eddy_kept_checkpoint){ .step = -1, .metric = NAN };
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    if (!eddy__session_is_usable(s, &e)) return eddy__session_note(s, &e), e.status;
    const eddy_files *files = eddy__graph_files(s->graph);
    kept_list         l = { .allocator = &s->allocator };
    if (!a.folder || !*a.folder)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "restore_latest: no folder is given");
    else if (path_of(a.folder, list_name, list, &e) && eddy__kept_list_read(&l, files, list, &e))
        status = restore_newest(&a, &l, files, out, &e);
    eddy__kept_list_free(&l);
    if (e.status == EDDY_OK) return status;
    eddy__session_note(s, &e);
    return e.status;
}

/* ------------------------------------------------------------------ looking up -- */

static eddy_status look_up(const char *folder, const eddy_files *files, bool best,
                           eddy_kept_checkpoint *out, eddy_error *error)
{
    eddy_error e = { 0 };
    char       list[EDDY_MAX_PATH];
    kept_list  l = { .allocator = &eddy__libc };
    if (!folder || !*folder || !out)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "a folder and a result are required");
    if (out) *out = (eddy_kept_checkpoint){ .step = -1, .metric = NAN };
    if (e.status == EDDY_OK && path_of(folder, list_name, list, &e) &&
        eddy__kept_list_read(&l, files, list, &e)) {
        const int i = best ? best_of(&l) : latest_of(&l);
        if (i >= 0 && path_of_step(folder, l.at[i].step, out->path, &e)) {
            out->step = l.at[i].step;
            out->metric = l.at[i].metric;
        }
    }
    eddy__kept_list_free(&l);
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
