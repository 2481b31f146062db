/* fetch.c -- convenience functions that run a graph for one value. */
#include "session/state/internal.h"
#include "graph/call_options.h"

#include <math.h>

eddy_array *eddy_fetch_with(const eddy_fetch_args *given)
{
    eddy_fetch_args a = EDDY_TAKE(eddy_fetch_args, given);
    eddy_array *out = NULL;
    eddy_run(a.session, a.feeds, EDDY_FETCH(a.tensor), &out);
    return out;
}

double eddy_fetch_number_with(const eddy_fetch_args *given)
{
    eddy_fetch_args a = EDDY_TAKE(eddy_fetch_args, given);
    char        shape[100];
    eddy_array *out = NULL;
    eddy_error  e = { 0 };
    if (eddy_run(a.session, a.feeds, EDDY_FETCH(a.tensor), &out) != EDDY_OK) return NAN;
    const double value = eddy_array_item(out);
    if (!out)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "fetch_number: '%s' has no value",
                        eddy_name_of(a.tensor));
    else if (eddy_array_count(out) != 1)
        eddy__error_set(&e, EDDY_BAD_SHAPE,
                        "fetch_number: '%s:%d' has the shape %s, not one element",
                        eddy_name_of(a.tensor), (int)a.tensor.output,
                        eddy_shape_print(eddy_array_shape(out), shape, sizeof shape));
    eddy_array_free(out);
    if (e.status != EDDY_OK) eddy__session_note(a.session, &e);
    return e.status == EDDY_OK ? value : NAN;
}
