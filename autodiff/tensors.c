/* tensors.c -- lists of tensors, the arguments and results of the functions of autodiff. */
#include "autodiff/internal.h"

eddy_tensor *eddy__tensors_new(eddy_graph *g, int64_t n)
{
    eddy_tensor *t = eddy__allocate_zeroed(eddy__graph_allocator(g), (size_t)n, sizeof *t);
    if (!t) eddy_fail(g, EDDY_NO_MEMORY, "out of memory (tensors: %lld)", (long long)n);
    for (int64_t i = 0; t && i < n; i++) t[i] = eddy_none(g);
    return t;
}

void eddy__tensors_free(eddy_graph *g, eddy_tensor *t, int64_t n)
{
    eddy__release(eddy__graph_allocator(g), t, (size_t)n * sizeof *t);
}

eddy_graph *eddy__graph_of_any(eddy_list list)
{
    for (int i = 0; list.at && i < list.count; i++)
        if (eddy__graph_alive(list.at[i].graph)) return list.at[i].graph;
    return NULL;
}

eddy_status eddy__status_of(const eddy_graph *g)
{
    return eddy__graph_alive(g) ? eddy_graph_status(g) : EDDY_INVALID_ARGUMENT;
}

void eddy__tensors_clear(eddy_graph *g, eddy_tensor *out, int n)
{
    for (int i = 0; out && i < n; i++) out[i] = eddy_none(g);
}

bool eddy__list_is_of(eddy_graph *g, const char *who, const char *what, eddy_list list)
{
    if (list.count < 0 || (list.count > 0 && !list.at)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a valid list (count %d, at %s)",
                  who, what, list.count, list.at ? "given" : "NULL");
        return false;
    }
    for (int i = 0; i < list.count; i++)
        if (list.at[i].graph != g || eddy_outputs_of(list.at[i]) == 0) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s[%d] is not a tensor of this graph", who,
                      what, i);
            return false;
        }
    return true;
}

static bool weight_fits(eddy_graph *g, const eddy_weighted *w, int i)
{
    const eddy_tensor u = w->weights.at[i], y = w->tensors.at[i];
    char              a[110], b[110];
    if (!eddy_is_valid(u)) return true;
    if (u.graph != g || eddy_outputs_of(u) == 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s[%d] is not a tensor of this graph", w->who,
                  w->what, i);
        return false;
    }
    const eddy_type has = { eddy_dtype_of(u), eddy_shape_of(u) };
    const eddy_type want = { eddy_dtype_of(y), eddy_shape_of(y) };
    if (has.dtype == want.dtype && eddy_shape_compatible(has.shape, want.shape)) return true;
    eddy_fail(g, has.dtype == want.dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
              "%s: %s[%d] is %s; it must be %s, like %s[%d], '%.200s'", w->who, w->what, i,
              eddy_type_print(has, a, sizeof a), eddy_type_print(want, b, sizeof b), w->of, i,
              eddy_name_of(y));
    return false;
}

bool eddy__weights_fit(eddy_graph *g, const eddy_weighted *w)
{
    const int n = w->weights.count;
    if (n == 0) return true;
    if (n != w->tensors.count)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Passed %d %s for %d %s", n, w->what, w->tensors.count,
                  w->of);
    else if (!w->weights.at)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a valid list (count %d, at NULL)",
                  w->who, w->what, n);
    for (int i = 0; i < n && eddy__graph_ready(g); i++)
        if (!weight_fits(g, w, i)) break;
    return eddy__graph_ready(g);
}
