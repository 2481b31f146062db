/* unit_norm.c -- vectors and matrices scaled to norm 1 (normalize); composed of other operations.
 * */
#include "ops/short_names.h"
#include "graph/call_options.h"

#ifdef EDDY_HEADER
typedef struct eddy_normalize_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_normalize_args));
    eddy_tensor x;
    const char *ord;               /* as for eddy_norm; default "euclidean" */
    eddy_dims   axes;              /* one or two; default: all of x */
    const char *name;
} eddy_normalize_args;
#endif

/** y[0] = x / n with n = eddy_norm(x, ord, axes); y[1] = n, keeping the axes with size 1.
 *
 *  x, ord, axes  as for eddy_norm
 *
 *  Returns output 0; eddy_output(y, 1) is n.  NaN where the norm is 0, as in TensorFlow;
 *  eddy_l2_normalize avoids that.
 *  Errors: as for eddy_norm.  Gradient: that of the formula.
 *  TensorFlow: tf.linalg.normalize. */
eddy_tensor eddy_normalize_with(const eddy_normalize_args *given)
{
    eddy_normalize_args a = EDDY_TAKE(eddy_normalize_args, given);
    const eddy_tensor n = eddy_norm(a.x, a.ord, a.axes, .keepdims = true);
    if (!eddy_is_valid(n)) return n;
    eddy_scope_begin(a.x.graph, a.name ? a.name : "normalize");
    const eddy_tensor y = eddy_identity_n(EDDY_LIST(Div(a.x, Cast(n, eddy_dtype_of(a.x))), n), 2);
    eddy_scope_end(a.x.graph);
    return y;
}
