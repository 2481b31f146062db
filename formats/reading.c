/* reading.c -- see reading.h. */
#include "reading.h"

#include <stdlib.h>

struct kept {
    struct kept *next;
    eddy_array  *array;
};

/* ------------------------------------------------------------------ errors -- */

bool eddy__reading_error(reading *r, eddy_status s, const char *format, va_list args)
{
    if (r->failed) return false;
    r->failed = true;
    /* Once memory has run out, whatever else seems to be wrong comes of that. */
    if (r->memory.full || (r->graph && eddy_graph_status(r->graph) == EDDY_NO_MEMORY))
        return eddy__format_fail(r->error, EDDY_NO_MEMORY, "%.100s: out of memory", r->path);
    char text[900];
    vsnprintf(text, sizeof text, format, args);
    return eddy__format_fail(r->error, s, "%.100s: %s", r->path, text);
}

static bool fail(reading *r, eddy_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(reading *r, eddy_status s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    eddy__reading_error(r, s, format, args);
    va_end(args);
    return false;
}

bool eddy__reading_no_memory(reading *r)
{
    r->memory.full = true;
    return fail(r, EDDY_NO_MEMORY, "out of memory");
}

const char *eddy__reading_reason(region *memory, const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    const char *reason = eddy__region_print(memory, "%s", text);
    return reason ? reason : "out of memory";
}

bool eddy__reading_file_error(reading *r, const eddy_error *e)
{
    r->failed = true;
    return eddy__format_fail(r->error, e->status, "%s", e->message);
}

/* ------------------------------------------------------------------ passes -- */

bool eddy__reading_begin(reading *r, eddy_error *error, const char *path, const void *data,
                         const char *what)
{
    if (error) *error = (eddy_error){ 0 };
    r->error = error;
    r->path = path ? path : what;
    return path || data ||
           fail(r, EDDY_INVALID_ARGUMENT, "there is neither a path nor data");
}

bool eddy__reading_open(reading *r, const void *data, size_t size, const eddy_files *files,
                        int64_t max_bytes)
{
    eddy_error e = { 0 };
    r->file = data ? eddy__source_copy(data, size, &e)
                   : eddy__source_read(r->path, files, max_bytes, &e);
    return r->file || eddy__reading_file_error(r, &e);
}

static bool build(reading *r, eddy_graph *g, const char *scope, reading_pass *pass)
{
    r->graph = g;
    r->nodes = 0;
    r->computed = 0;                /* both builds come to the same end */
    eddy_scope_begin(g, scope);
    r->root = eddy__region_print(&r->memory, "%s", eddy_scope_name(g));
    const bool ok = r->root && pass(r) && !r->memory.full;
    eddy_scope_end(g);
    if (r->memory.full) return eddy__reading_no_memory(r);
    if (ok && eddy_graph_status(g) != EDDY_OK)
        return fail(r, eddy_graph_status(g), "%s", eddy_graph_message(g));
    return ok;
}

static bool run_trial(reading *r, const char *scope, reading_pass *pass)
{
    eddy_graph *g = eddy_graph_new();
    if (!g) return eddy__reading_no_memory(r);
    r->trial = true;
    const bool ok = build(r, g, scope, pass);
    r->trial = false;
    eddy_session_free(r->session);
    r->session = NULL;
    r->graph = NULL;
    eddy_graph_free(g);
    return ok;
}

bool eddy__reading_build(reading *r, eddy_graph *g, const char *scope, reading_pass *pass)
{
    if (!g) return fail(r, EDDY_INVALID_ARGUMENT, "there is no graph");
    if (eddy_graph_status(g) != EDDY_OK)
        return fail(r, eddy_graph_status(g), "the graph has an error: %s", eddy_graph_message(g));
    if (eddy_graph_is_finalized(g)) return fail(r, EDDY_FINALIZED, "the graph is finalized");
    return run_trial(r, scope, pass) && build(r, g, scope, pass);
}

eddy_model_report *eddy__reading_report(reading *r, const char *scope, reading_pass *pass)
{
    r->reporting = true;
    if (!run_trial(r, scope, pass)) return NULL;
    eddy_model_report *report = eddy__report_new(&r->memory, &r->entries);
    if (!report) eddy__reading_no_memory(r);
    return report;
}

void eddy__reading_close(reading *r)
{
    eddy_session_free(r->session);
    for (struct kept *k = r->kept; k; k = k->next) eddy_array_free(k->array);
    eddy__source_release(r->file);
    free(r->entries.at);
    eddy__region_free(&r->memory);
}

/* ------------------------------------------------------------------ arrays -- */

bool eddy__reading_keep(reading *r, eddy_array *a)
{
    struct kept *k = a ? eddy__region_take(&r->memory, 1, sizeof *k) : NULL;
    if (!k) {
        eddy_array_free(a);
        return eddy__reading_no_memory(r);
    }
    *k = (struct kept){ r->kept, a };
    r->kept = k;
    return true;
}

/* Shapes, axes and the like are short: what is larger is left to the session of the program. */
enum { MOST_EVALUATED = 1 << 16, MOST_COMPUTED = 1 << 20 };

bool eddy__reading_computes(reading *r, int64_t count)
{
    if (count > MOST_COMPUTED - r->computed) return false;
    r->computed += count;
    return true;
}

static const eddy_array *evaluated(reading *r, eddy_tensor t)
{
    if (!r->session) r->session = eddy_session_new(r->graph, .threads = 1, .max_bytes = 1 << 26);
    const eddy_array *v = eddy_eval_in(r->session, t);
    if (!r->session || (!v && eddy_session_status(r->session) == EDDY_NO_MEMORY))
        r->memory.full = true;
    return v;
}

eddy_array *eddy__reading_elements(reading *r, eddy_tensor t, bool constant)
{
    const eddy_array *v = eddy_constant_value(t);
    const bool        is_small = eddy_shape_count(eddy_shape_of(t)) <= MOST_EVALUATED;
    if (!v && constant && is_small && eddy_graph_status(r->graph) == EDDY_OK) v = evaluated(r, t);
    if (!v || !eddy__reading_computes(r, eddy_array_count(v))) return NULL;
    eddy_array *a = eddy_array_copy(v);
    return eddy__reading_keep(r, a) ? a : NULL;
}

eddy_tensor eddy__reading_weight(reading *r, eddy_array *a, const char *name, eddy_dtype compute,
                                 bool variable, bool not_trainable)
{
    eddy_scope_begin(r->graph, r->root);
    eddy_tensor t = eddy_constant(r->graph, .value = a, .name = variable ? NULL : name);
    t = eddy_cast(t, compute);
    if (variable)
        t = eddy_variable(r->graph, .initial_value = t, .name = name,
                          .not_trainable = not_trainable);
    eddy_scope_end(r->graph);
    return t;
}

eddy_tensor eddy__reading_stand_in(reading *r, eddy_tensor t)
{
    if (!r->trial) return t;
    const eddy_array *value = eddy_constant_value(t);
    if (value) return eddy_constant(r->graph, .value = value);
    return eddy_placeholder(r->graph, "bound", eddy_dtype_of(t), eddy_shape_of(t));
}
