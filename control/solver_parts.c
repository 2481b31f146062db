/* solver_parts.c -- checks of arguments, the test of convergence, and the node that gives a
 * solution its gradient. */
#include "control/solver_parts.h"
#include "graph/base/dtype.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- checks -- */

bool eddy__solver_takes(eddy_graph *g, const char *what, const char *name, eddy_list x)
{
    if (!eddy__list_is_of(g, what, name, x)) return false;
    if (x.count == 0) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is empty", what, name);
    for (int i = 0; i < x.count && eddy__graph_ready(g); i++) {
        const eddy_dtype d = eddy_dtype_of(x.at[i]), first = eddy_dtype_of(x.at[0]);
        if (d == first && eddy__dtype_is_float(d)) continue;
        eddy_fail(g, EDDY_BAD_DTYPE, "%s: %s[%d] is %s; %s expected [tensor '%.200s']", what, name,
                  i, eddy_dtype_name(d), i > 0 ? eddy_dtype_name(first) : "float32 or float64",
                  eddy_name_of(x.at[i]));
    }
    return eddy__graph_ready(g);
}

bool eddy__solver_tolerance(eddy_graph *g, const char *what, const char *name, eddy_dtype dtype,
                            double for_f32, double for_f64, double *tolerance)
{
    if (*tolerance == -1) *tolerance = dtype == EDDY_FLOAT32 ? for_f32 : for_f64;
    if (*tolerance > 0 && isfinite(*tolerance)) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is %g; expected a positive number", what, name,
              *tolerance);
    return false;
}

bool eddy__solver_count(eddy_graph *g, const char *what, const char *name, int64_t *count)
{
    const int64_t most = (int64_t)1 << 53;
    if (*count > most) *count = most;
    if (*count >= 1) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: %s is %lld; expected at least 1", what, name,
              (long long)*count);
    return false;
}

bool eddy__solver_out(eddy_graph *g, const char *what, const eddy_tensor *out)
{
    if (!out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", what);
    return out != NULL;
}

bool eddy__solver_room(eddy_graph *g, const char *what, const char *name, eddy_list x, int most)
{
    if (x.count <= most) return true;
    eddy_fail(g, EDDY_LIMIT, "%s: %s has %d tensors; the limit is %d", what, name, x.count, most);
    return false;
}

bool eddy__solver_shapes_are_known(eddy_graph *g, const char *what, const char *name, eddy_list x)
{
    char text[120];
    for (int k = 0; k < x.count; k++) {
        if (eddy_shape_count(eddy_shape_of(x.at[k])) >= 0) continue;
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: the shape of %s[%d] is %s; a known shape expected", what,
                  name, k, eddy_shape_print(eddy_shape_of(x.at[k]), text, sizeof text));
        return false;
    }
    return true;
}

bool eddy__solver_results_fit(const closure *c, const char *what, eddy_list x)
{
    char have[120], want[120];
    if (c->n_y != x.count) {
        eddy_fail(c->graph, EDDY_INVALID_ARGUMENT,
                  "%s: the number of results of the function is %d; expected %d", what, c->n_y,
                  x.count);
        return false;
    }
    for (int k = 0; k < x.count; k++) {
        const eddy_type y = eddy__type_of(eddy__closure_result(c, k)),
                        type = eddy__type_of(x.at[k]);
        if (y.dtype == type.dtype && eddy_shape_compatible(type.shape, y.shape)) continue;
        eddy_fail(c->graph, y.dtype == type.dtype ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                  "%s: result %d of the function is %s; expected %s, as '%.200s'", what, k,
                  eddy_type_print(y, have, sizeof have), eddy_type_print(type, want, sizeof want),
                  eddy_name_of(x.at[k]));
        return false;
    }
    return true;
}

/* ----------------------------------------------------------------- nodes -- */

void eddy__solver_copies(int n, const eddy_tensor *x, eddy_tensor *y)
{
    for (int i = 0; i < n; i++) y[i] = eddy_identity(x[i]);
}

eddy_tensor eddy__solver_joined(int n, const eddy_tensor *x)
{
    eddy_tensor flat[EDDY_MAX_RESULTS];
    for (int k = 0; k < n; k++) flat[k] = eddy_reshape(x[k], EDDY_SHAPE(EDDY_ANY));
    return n == 1 ? flat[0] : eddy_concat(((eddy_list){ n, flat }));
}

void eddy__solver_parted(eddy_tensor v, int n, const eddy_tensor *like, eddy_tensor *x)
{
    int64_t at = 0;
    if (n == 1) x[0] = eddy_reshape_like(v, like[0]);
    for (int k = 0; n > 1 && k < n; k++) {
        const eddy_shape s = eddy_shape_of(like[k]);
        const int64_t    count = eddy_shape_count(s);
        x[k] = eddy_reshape(eddy_slice(v, EDDY_DIMS(at), EDDY_DIMS(count)), s);
        at += count;
    }
}

static eddy_tensor largest(eddy_tensor x) { return Max(Abs(x)); }

eddy_tensor eddy__solver_excess(int n, const eddy_tensor *x, const eddy_tensor *y, double tolerance,
                                double least)
{
    eddy_tensor change = largest(Sub(y[0], x[0])), size = largest(y[0]);
    for (int k = 1; k < n; k++) {
        change = Maximum(change, largest(Sub(y[k], x[k])));
        size = Maximum(size, largest(y[k]));
    }
    return Sub(change, Mul(tolerance, Maximum(size, least)));
}

int eddy__solver_goes_on(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Greater(v.at[v.count - 1], 0);
    return 1;
}

void eddy__solver_converged(int n, eddy_tensor *y, eddy_tensor excess, const char *what,
                            int64_t iterations)
{
    char message[200];
    snprintf(message, sizeof message,
             "%s: no convergence in %lld iterations, or a value is not finite", what,
             (long long)iterations);
    eddy__solver_ensure(n, y, LessEqual(excess, 0), message);
}

void eddy__solver_ensure(int n, eddy_tensor *y, eddy_tensor holds, const char *message)
{
    for (int k = 0; k < n; k++) y[k] = eddy_ensure(y[k], holds, message);
}

void eddy__solver_attach(const closure *c, eddy_list y, eddy_list more, const char *name,
                         void (*rule)(eddy_rule *r), eddy_tensor *out)
{
    const int    n = more.count + c->n_captured + 1;
    eddy_tensor *x = eddy__tensors_new(c->graph, n);
    if (!x) return;
    memcpy(x, more.at, (size_t)more.count * sizeof *x);
    for (int i = 0; i < c->n_captured; i++) x[more.count + i] = eddy__closure_captured(c, i);
    x[n - 1] = eddy__closure_tensor(c);
    eddy_custom_gradient(y, ((eddy_list){ n, x }), out, rule, .name = name);
    eddy__tensors_free(c->graph, x, n);
}
