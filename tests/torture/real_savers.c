/* real_savers.c -- savers that use the files of the system only: checkpoints of several ranks,
 * event files, reports. */
#define _DEFAULT_SOURCE
#include "tests/torture/savers.h"

#include "../../distributed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- ranks -- */

enum { RANKS = 2 };

/* A save of all ranks. */
typedef struct rank_save {
    const char *folder, *path;
    int         version;
    eddy_error  errors[RANKS];
} rank_save;

static eddy_tensor divided(eddy_graph *g, const char *name)
{
    return eddy_dense(eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(1, 20)), SAVED_ELEMENTS / 20, name,
                      .no_bias = true);
}

/* Rank 0 writes the whole variables, and each rank one of those that are divided. */
static bool save_rank(eddy_communicator *c, void *context)
{
    rank_save   *r = context;
    eddy_error  *e = &r->errors[eddy_communicator_rank(c)];
    saved_model *m = saved_model_begin(NULL, r->folder);
    eddy_divide_variables_begin(c, m->graph, 1);
    divided(m->graph, "a");
    divided(m->graph, "b");
    eddy_divide_variables_end(m->graph);
    saved_model_set(m, r->version);
    const bool ok = eddy_save_ranks(c, m->graph, m->session, r->path, e);
    saved_model_end(m);
    return ok;
}

/* All ranks must agree. */
static eddy_status save_ranks(void *state, int version)
{
    const saved_model *m = state;
    rank_save r = { .folder = m->folder, .path = path_in(m->folder, "r.safetensors.index.json"),
                    .version = version };
    eddy_run_threads(RANKS, save_rank, &r, NULL);
    return r.errors[0].status == r.errors[1].status ? r.errors[0].status : EDDY_INTERNAL;
}
static int load_ranks(const eddy_files *files, const char *folder, eddy_status *status)
{
    static const char *const names[] = { "v0", "v1", "v2", "a/kernel", "b/kernel", NULL };
    return checkpoint_version(files, path_in(folder, "r.safetensors.index.json"), names, status);
}

/* ------------------------------------------------------------------- events -- */

typedef struct run_log {
    char         folder[128];
    eddy_events *events;
} run_log;

static void *begin_log(const eddy_files *files, const char *folder)
{
    run_log *l = calloc(1, sizeof *l);
    (void)files;
    snprintf(l->folder, sizeof l->folder, "%s", folder);
    return l;
}
static void end_log(void *state)
{
    run_log *l = state;
    if (l->events) eddy_events_close(l->events, NULL);
    free(l);
}

/* The first versions have a file each, and later ones share one: a report reads 4096 files. */
static eddy_status save_events(void *state, int version)
{
    run_log *l = state;
    char tag[32];
    if (!l->events) l->events = eddy_events_new(path_in(l->folder, "logs/run"));
    snprintf(tag, sizeof tag, "version%d.", version);
    eddy_events_scalar(l->events, tag, version, 1);
    eddy_status s = eddy_events_status(l->events);
    if (s != EDDY_OK || version < 8 || version % 64 == 0) {
        s = eddy_events_close(l->events, NULL);
        l->events = NULL;
    }
    return s;
}

/* The last version that is in a page, which must be whole; -1 if it is not. */
static int version_in(const char *path)
{
    static char page[1 << 22];
    static const char end[] = "</html>\n";
    FILE        *f = fopen(path, "rb");
    int          version = 0;
    const size_t n = f ? fread(page, 1, sizeof page - 1, f) : 0;
    if (f) fclose(f);
    else return 0;
    page[n] = '\0';
    for (const char *at = page; (at = strstr(at, "version")); at++) {
        int v = 0, length = 0;
        if (sscanf(at, "version%d.%n", &v, &length) == 1 && length > 0 && v > version) version = v;
    }
    return n > sizeof end && strcmp(page + n - strlen(end), end) == 0 ? version : -1;
}

static int load_events(const eddy_files *files, const char *folder, eddy_status *status)
{
    eddy_error e = { 0 };
    char       logs[256];
    (void)files;
    snprintf(logs, sizeof logs, "%s", path_in(folder, "logs"));
    *status = eddy_events_report(logs, path_in(folder, "events.html"), .error = &e);
    return *status == EDDY_OK ? version_in(path_in(folder, "events.html")) : no_version(&e, status);
}

/* ------------------------------------------------------------------- report -- */

static void *begin_report(const eddy_files *files, const char *folder)
{
    run_log *l = begin_log(files, folder);
    l->events = eddy_events_new(path_in(folder, "logs"));
    eddy_events_scalar(l->events, "loss", 1, 0.5);
    eddy_events_close(l->events, NULL);
    l->events = NULL;
    return l;
}

static eddy_status save_report(void *state, int version)
{
    const run_log *l = state;
    char       title[32], logs[256];
    snprintf(title, sizeof title, "version%d.", version);
    snprintf(logs, sizeof logs, "%s", path_in(l->folder, "logs"));
    return eddy_events_report(logs, path_in(l->folder, "report.html"), title);
}
static int load_report(const eddy_files *files, const char *folder, eddy_status *status)
{
    (void)files;
    *status = EDDY_OK;
    return version_in(path_in(folder, "report.html"));
}

const saver real_savers[] = {
    { "checkpoint of ranks", saved_model_begin, save_ranks, load_ranks, saved_model_end },
    { "event files", begin_log, save_events, load_events, end_log },
    { "report", begin_report, save_report, load_report, end_log },
    { .name = NULL },
};
