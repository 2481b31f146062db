/* bounds.c -- bounds of variables. See bounds.h. */
#include "optim/minimizers/bounds.h"

#include <math.h>

/* ----------------------------------------------------------------- arguments -- */

static bool check_tensor(objective *o, const char *what, int i, eddy_tensor t)
{
    if (!eddy_is_valid(t) || t.graph != o->graph)
        return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                               "%s: %s[%d] is not a tensor of the graph", o->who, what, i);
    char which[64];
    snprintf(which, sizeof which, "%.50s[%d]", what, i);
    return eddy__objective_takes(o, which, t);
}

/* The elements of the tensors to `to`, each rounded to the type of its variable. */
static bool copy_values(objective *o, const char *what, const evaluation *e, double *to)
{
    for (int v = 0; v < o->n_variables; v++) {
        const eddy_array *a = e->out[v];
        const int64_t     n = eddy_array_count(o->values[v]), count = eddy_array_count(a);
        const bool        narrow = eddy_dtype_of(o->variables[v]) == EDDY_FLOAT32;
        if (count != n && count != 1)
            return eddy__error_set(&o->error, EDDY_BAD_SHAPE,
                                   "%s: %s[%d] has %lld elements; 1 or %lld expected, as '%.200s'",
                                   o->who, what, v, (long long)count, (long long)n,
                                   eddy_name_of(o->variables[v]));
        for (int64_t i = 0; i < n; i++) {
            const double x = eddy_array_get(a, count == 1 ? 0 : i);
            *to++ = narrow ? (double)(float)x : x;
        }
    }
    return true;
}

/* Every element is `otherwise` if the list is left out. */
static bool read_list(objective *o, const char *what, eddy_list list, double otherwise, double **to)
{
    evaluation e = { 0 };
    *to = eddy__objective_alloc(o, o->n, sizeof **to);
    if (!*to || !eddy__objective_list(o, what, list)) return false;
    for (int64_t i = 0; i < o->n; i++) (*to)[i] = otherwise;
    if (!list.at) return true;
    if (list.count != o->n_variables)
        return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                               "%s: the number of tensors in %s is %d; expected %d, one per "
                               "variable", o->who, what, list.count, o->n_variables);
    eddy_tensor *fetches = eddy__objective_alloc(o, list.count, sizeof *fetches);
    for (int i = 0; fetches && i < list.count; i++) {
        fetches[i] = list.at[i];
        if (!check_tensor(o, what, i, list.at[i])) return false;
    }
    const bool ok = fetches &&
                    eddy__objective_evaluation(o, &e, list.count, fetches, (eddy_list){ 0 }) &&
                    eddy__objective_run(o, &e, NULL) && copy_values(o, what, &e, *to);
    eddy__evaluation_end(&e);
    return ok;
}

bool eddy__bounds_begin(bounds *b, objective *o, eddy_list lower, eddy_list upper)
{
    if (!lower.at && !upper.at && lower.count == 0 && upper.count == 0) return true;
    if (!read_list(o, "lower", lower, -INFINITY, &b->lower) ||
        !read_list(o, "upper", upper, INFINITY, &b->upper))
        return false;
    for (int64_t i = 0; i < o->n; i++)
        if (!(b->lower[i] <= b->upper[i]) || b->lower[i] == INFINITY || b->upper[i] == -INFINITY)
            return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                                   "%s: the bounds of element %lld are %g and %g", o->who,
                                   (long long)i, b->lower[i], b->upper[i]);
    b->given = true;
    return true;
}

/* ------------------------------------------------------------------- points -- */

void eddy__bounds_clamp(const bounds *b, int64_t n, double *x)
{
    for (int64_t i = 0; b->given && i < n; i++) {
        if (x[i] < b->lower[i]) x[i] = b->lower[i];
        if (x[i] > b->upper[i]) x[i] = b->upper[i];
    }
}

double eddy__bounds_gradient(const bounds *b, int64_t n, const double *x, const double *g)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double step = fabs(g[i]);
        if (b->given && g[i] > 0) step = fmin(step, x[i] - b->lower[i]);
        if (b->given && g[i] < 0) step = fmin(step, b->upper[i] - x[i]);
        if (!(step <= most)) most = step;
    }
    return most;
}

double eddy__bounds_longest(const bounds *b, int64_t n, const double *x, const double *d)
{
    double longest = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (d[i] < 0) longest = fmin(longest, (b->lower[i] - x[i]) / d[i]);
        if (d[i] > 0) longest = fmin(longest, (b->upper[i] - x[i]) / d[i]);
    }
    return fmax(longest, 0);
}
