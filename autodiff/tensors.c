/* tensors.c -- lists of tensors that the calls of autodiff take and make. */
#include "autodiff/internal.h"

eddy_tensor *eddy_tensors_new(eddy_graph *g, int64_t n)
{
    eddy_tensor *t = eddy_allocate_zeroed(eddy_graph_allocator(g), (size_t)n, sizeof *t);
    if (!t) eddy_fail(g, EDDY_NO_MEMORY, "out of memory for %lld tensors", (long long)n);
    for (int64_t i = 0; t && i < n; i++) t[i] = eddy_none(g);
    return t;
}

void eddy_tensors_free(eddy_graph *g, eddy_tensor *t, int64_t n)
{
    eddy_release(eddy_graph_allocator(g), t, (size_t)n * sizeof *t);
}

bool eddy_list_is_of(eddy_graph *g, const char *who, const char *what, eddy_list list)
{
    if (list.count < 0 || (list.count > 0 && !list.at)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is not a list", who, what);
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
