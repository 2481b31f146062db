/* restore_part.c -- a checkpoint of whole variables for a rank that has parts of some of them. */
#include "distributed/division.h"
#include "distributed/training.h"

#include "optim/wrappers/gradient_sums.h"

typedef struct restoring {
    eddy_graph      *graph;
    eddy_session    *session;
    const char      *path;
    eddy_checkpoint *file;
    eddy_error      *error;
} restoring;

static bool failed(restoring *r)
{
    return eddy__distributed_fail(r->error, eddy_session_status(r->session), "%s",
                                  eddy_session_message(r->session));
}

static eddy_tensor variable_at(const restoring *r, int i)
{
    return eddy_collection_at(r->graph, EDDY_GLOBAL_VARIABLES, i);
}

/* Parts are looked up under a name that no variable has, so that they stay as they are. */
static bool hides(void *context, const char *variable, eddy_shape shape, char *entry, size_t size,
                  const char **axes)
{
    restoring *r = context;
    (void)shape, (void)axes;
    if (!eddy__division_of(eddy__variable_named(r->graph, variable))) return false;
    snprintf(entry, size, "a part");
    return true;
}

/* After a step, sums of gradients do not matter. */
static bool may_lack(const restoring *r, eddy_tensor v)
{
    return eddy_checkpoint_find(r->file, eddy_name_of(v)) < 0 &&
           eddy_collection_has(r->graph, EDDY_GRADIENT_SUMS, v);
}

static bool set_to_zero(restoring *r, eddy_tensor v)
{
    eddy_array *zero = eddy_array_new(eddy_dtype_of(v), eddy_shape_of(v));
    if (!zero)
        return eddy__distributed_fail(r->error, EDDY_NO_MEMORY, "restore_part: out of memory");
    const bool ok = eddy_variable_set(r->session, v, zero) == EDDY_OK || failed(r);
    eddy_array_free(zero);
    return ok;
}

/* All variables that are whole, and the counts of draws. */
static bool restore_wholes(restoring *r)
{
    const int                 n = eddy_collection_size(r->graph, EDDY_GLOBAL_VARIABLES);
    const eddy_checkpoint_map map = { .name = hides, .context = r };
    int                       wholes = 0;
    for (int i = 0; i < n; i++) {
        const eddy_tensor v = variable_at(r, i);
        if (eddy__division_of(v) || may_lack(r, v)) continue;
        wholes++;
        if (eddy_checkpoint_find(r->file, eddy_name_of(v)) < 0)    /* it says what is missing */
            return eddy_restore(r->session, r->path, EDDY_LIST(v)) == EDDY_OK || failed(r);
    }
    return wholes == 0 ||
           eddy_restore_checkpoint(r->session, r->path, .map = &map, .partial = true,
                                   .casting = EDDY_CAST_NONE) == EDDY_OK ||
           failed(r);
}

static bool restore_one(restoring *r, eddy_tensor v, const eddy_division *d)
{
    const eddy_dtype t = eddy_dtype_of(v);
    char             is[200], want[200];
    if (eddy_checkpoint_find(r->file, eddy_name_of(v)) < 0)
        return eddy_restore(r->session, r->path, EDDY_LIST(v)) == EDDY_OK || failed(r);
    eddy_array     *whole = eddy_checkpoint_value(r->file, eddy_name_of(v), r->error), *part = NULL;
    const eddy_type has = { eddy_array_dtype(whole), eddy_array_shape(whole) };
    bool            ok = whole != NULL;
    if (ok && (has.dtype != t || !eddy_shape_equal(has.shape, d->whole)))
        ok = eddy__distributed_fail(r->error, EDDY_BAD_SHAPE,
                                    "restore_part: %.300s: '%.200s' is %s; the parts are of %s",
                                    r->path, eddy_name_of(v), eddy_type_print(has, is, sizeof is),
                                    eddy_type_print((eddy_type){ t, d->whole }, want, sizeof want));
    if (ok) part = eddy_array_new(t, eddy__division_shape(d, d->rank));
    if (ok && !part)
        ok = eddy__distributed_fail(r->error, EDDY_NO_MEMORY, "restore_part: out of memory");
    if (part) {
        eddy__division_copy(d, d->rank, eddy_dtype_size(t), eddy_array_data(whole),
                            eddy_array_data(part), false);
        ok = eddy_variable_set(r->session, v, part) == EDDY_OK || failed(r);
    }
    eddy_array_free(whole);
    eddy_array_free(part);
    return ok;
}

bool eddy_restore_part(eddy_graph *g, eddy_session *s, const char *path, eddy_error *error)
{
    eddy_error own = { 0 };
    restoring  r = { g, s, path, NULL, &own };
    if (!g || !s || !path)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "restore_part: no graph, session or path");
    r.file = eddy_checkpoint_open(path, .error = &own);
    bool ok = r.file && restore_wholes(&r);
    for (int i = 0; ok && i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor    v = variable_at(&r, i);
        const eddy_division *d = eddy__division_of(v);
        if (may_lack(&r, v)) ok = set_to_zero(&r, v);
        else if (d) ok = restore_one(&r, v, d);
    }
    eddy_checkpoint_free(r.file);
    if (!ok && error && error->status == EDDY_OK) *error = own;
    return ok;
}
