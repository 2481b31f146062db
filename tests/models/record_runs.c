/* record_runs.c -- writes the first runs of an example as ONNX models with their data. The script
 * links it to an example with the linker's --wrap (scripts/onnx_written.sh); EDDY_RECORD is the
 * beginning of the paths. Each pair of feeds and fetches is one model, of at most STEPS runs
 * between which no other run changes its variables. */
#include "tests/models/model_data.h"
#include "graph/op.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 20, MODELS = 40, MOST = 64, VARIABLES = 256 };

eddy_status __wrap_eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out);
eddy_status __real_eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out);
void        __wrap_eddy_session_free(eddy_session *s);
void        __real_eddy_session_free(eddy_session *s);

typedef struct recording {
    model_data  data;
    bool        on;
    eddy_tensor in[MOST], out[MOST];
    int         n_in, n_out;
    eddy_session *session;
    eddy_array *after[VARIABLES];       /* of its last run */
} recording;

static recording list[MODELS];
static int       n_recordings;
static bool      inside;                /* checking a model may run sessions itself */

static bool is_of(const recording *r, const eddy_session *s, eddy_feeds feeds, eddy_list fetches)
{
    if (r->session != s || r->n_in != feeds.count || r->n_out != fetches.count) return false;
    for (int i = 0; i < feeds.count; i++)
        if (!eddy_same(r->in[i], feeds.at[i].tensor)) return false;
    for (int i = 0; i < fetches.count; i++)
        if (!eddy_same(r->out[i], fetches.at[i])) return false;
    return true;
}

static void stop(recording *r)
{
    if (r->on) model_data_end(&r->data);
    r->on = false;
    for (int i = 0; i < VARIABLES; i++) {
        eddy_array_free(r->after[i]);
        r->after[i] = NULL;
    }
}

/* Keeps the values of the variables, or compares them with those kept. */
static bool variables(recording *r, bool keep)
{
    eddy_graph *g = r->data.graph;
    const int   n = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    bool        same = n <= VARIABLES;
    for (int i = 0; same && i < n; i++) {
        eddy_array *a =
            eddy_variable_value(r->session, eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i));
        if (!keep && r->after[i]) same = a && eddy_array_equal(a, r->after[i]);
        if (keep) {
            eddy_array_free(r->after[i]);
            r->after[i] = a;
        } else {
            eddy_array_free(a);
        }
    }
    return same;
}

static recording *begin(eddy_session *s, eddy_feeds feeds, eddy_list fetches)
{
    char       path[1000], title[1000], why[500] = "";
    const char *to = getenv("EDDY_RECORD");
    if (n_recordings == MODELS || !to || feeds.count > MOST || fetches.count > MOST) return NULL;
    recording *r = &list[n_recordings++];
    r->session = s;
    r->n_in = feeds.count;
    r->n_out = fetches.count;
    for (int i = 0; i < feeds.count; i++) r->in[i] = feeds.at[i].tensor;
    for (int i = 0; i < fetches.count; i++) r->out[i] = fetches.at[i];
    snprintf(path, sizeof path, "%s_%02d", to, n_recordings - 1);
    const char *slash = strrchr(to, '/');
    snprintf(title, sizeof title, "%s: %s", slash ? slash + 1 : to, eddy_name_of(fetches.at[0]));
    r->on = model_data_begin(&r->data, path, title, s, (eddy_list){ r->n_in, r->in },
                             (eddy_list){ r->n_out, r->out }, why);
    if (!r->on) fprintf(stderr, "%s: not written: %s\n", title, why);
    return r;
}

eddy_status __wrap_eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out)
{
    recording        *r = NULL;
    const eddy_array *fed[MOST];
    if (inside || fetches.count < 1) return __real_eddy_run(s, feeds, fetches, out);
    inside = true;
    for (int i = 0; i < n_recordings && !r; i++)
        if (is_of(&list[i], s, feeds, fetches)) r = &list[i];
    if (!r) r = begin(s, feeds, fetches);
    if (r && r->on && !variables(r, false)) stop(r);
    const eddy_status status = __real_eddy_run(s, feeds, fetches, out);
    if (r && r->on) {
        eddy_array *none[MOST] = { NULL };
        for (int i = 0; i < feeds.count; i++) fed[i] = feeds.at[i].value;
        if (status == EDDY_OK) model_data_step(&r->data, fed, out ? out : none);
        variables(r, true);
        if (status != EDDY_OK || r->data.steps == STEPS) stop(r);
    }
    inside = false;
    return status;
}

void __wrap_eddy_session_free(eddy_session *s)
{
    for (int i = 0; i < n_recordings; i++)
        if (list[i].session == s) {
            stop(&list[i]);
            list[i].session = NULL;
        }
    __real_eddy_session_free(s);
}
