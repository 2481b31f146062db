/* hunt_row.c -- see hunt.h: a row of the sweep at special points, beside the truth. */
#include "tests/hunt/hunt.h"
#include "build/gen/table.h"
#include "ops/short_names.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALONG = 4, ELEMENTS = 6, ROOM = 1 + (1 + 2 * ALONG) * TRUTH_INPUTS };

/* A row with its derivatives. */
typedef struct hunted {
    const sweep_row *row;
    eddy_dtype    dtype;
    eddy_graph   *graph;
    eddy_session *session;
    exact_graph  *exact;
    eddy_tensor   x[TRUTH_INPUTS], y;
    eddy_shape    shape[TRUTH_INPUTS];
    int           n_along, n_elements;
    element       along[ALONG];           /* second and third derivatives are by these */
    element       elements[ELEMENTS];     /* ... and by these */
    int           n_fetches;
    eddy_tensor   fetches[ROOM];
    struct { int order, along, input; } what[ROOM];
    eddy_array   *values[ROOM], *point[TRUTH_INPUTS];
    hunt_report  *report;
    long         *compared;
} hunted;

/* ---------------------------------------------------------------- building -- */

static const eddy_op_def *op_named(const char *name)
{
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++)
        if (strcmp((*op)->name, name) == 0) return *op;
    return NULL;
}

/* An elementwise row needs one element. */
static bool is_elementwise(const sweep_row *r)
{
    return (op_named(r->op)->flags & EDDY_OP_ELEMENTWISE) && !r->keep[0];
}

static void place_inputs(hunted *h)
{
    for (int i = 0; i < h->row->n; i++) {
        h->shape[i] = h->row->shape[i];
        for (int d = 0; is_elementwise(h->row) && d < h->shape[i].rank; d++) h->shape[i].dim[d] = 1;
        h->x[i] = eddy_placeholder(h->graph, NULL, h->dtype, h->shape[i]);
        h->point[i] = eddy_array_new(h->dtype, h->shape[i]);
        const int64_t count = eddy_shape_count(h->shape[i]);
        const bool    constant = h->row->constant >> i & 1;
        for (int64_t j = 0; j < 2 && j < count && h->n_elements < ELEMENTS; j++)
            h->elements[h->n_elements++] = (element){ i, j };
        if (!constant && h->n_along < ALONG) h->along[h->n_along++] = (element){ i, 0 };
    }
    if (h->row->n == 1 && eddy_shape_count(h->shape[0]) > 1)
        h->along[h->n_along++] = (element){ 0, 1 };
}

static void fetch(hunted *h, eddy_tensor t, int order, int along, int input)
{
    if (!eddy_is_valid(t)) return;
    h->what[h->n_fetches].order = order;
    h->what[h->n_fetches].along = along;
    h->what[h->n_fetches].input = input;
    h->fetches[h->n_fetches++] = t;
}

static eddy_tensor weights(const hunted *h, eddy_tensor y)
{
    eddy_array *w = eddy_array_new(h->dtype, eddy_shape_of(y));
    for (int64_t i = 0; i < eddy_array_count(w); i++) eddy_array_set(w, i, truth_weight(i));
    const eddy_tensor t = eddy_constant(h->graph, w, NULL);
    eddy_array_free(w);
    return t;
}

static eddy_tensor element_of(eddy_tensor t, int64_t at)
{
    return eddy_slice(eddy_reshape(t, EDDY_SHAPE(EDDY_ANY)), EDDY_DIMS(at), EDDY_DIMS(1));
}

static bool build_derivatives(hunted *h, eddy_tensor f)
{
    const eddy_list xs = { h->row->n, h->x };
    eddy_tensor     first[TRUTH_INPUTS] = { EDDY_ZERO_TENSOR };
    fetch(h, f, 0, 0, 0);
    if (eddy_gradients(EDDY_LIST(f), xs, first) != EDDY_OK) return false;
    for (int i = 0; i < h->row->n; i++) fetch(h, first[i], 1, 0, i);
    for (int a = 0; a < h->n_along; a++) {
        eddy_tensor by = first[h->along[a].input];
        for (int order = 2; order <= 3 && eddy_is_valid(by); order++) {
            eddy_tensor next[TRUTH_INPUTS] = { EDDY_ZERO_TENSOR };
            const eddy_tensor of = element_of(by, h->along[a].at);
            if (eddy_gradients(EDDY_LIST(of), xs, next) != EDDY_OK) return false;
            for (int i = 0; i < h->row->n; i++) fetch(h, next[i], order, a, i);
            by = next[h->along[a].input];
        }
    }
    return true;
}

static const char *build(hunted *h)
{
    const sweep_row *r = h->row;
    place_inputs(h);
    h->y = r->unary ? r->unary(h->x[0])
         : r->binary ? r->binary(h->x[0], h->x[1]) : r->build(h->graph, h->x);
    if (eddy_graph_status(h->graph) != EDDY_OK) return "does not take these sizes";
    if (!eddy_dtype_is_floating(eddy_dtype_of(h->y)) || eddy_dtype_of(h->y) != h->dtype)
        return "has no floating-point value";
    if (!eddy_shape_is_known(eddy_shape_of(h->y))) return "has a value of unknown shape";
    const eddy_tensor f = Sum(Mul(h->y, weights(h, h->y)));
    const char *missing;
    h->exact = exact_graph_new(h->graph, (eddy_list){ r->n, h->x }, (eddy_list){ 1, &h->y },
                               &missing);
    if (!h->exact) return missing;
    if (!build_derivatives(h, f)) return "has no derivatives to the third order";
    h->session = eddy_session_new(h->graph, .threads = 1);
    return NULL;
}

/* --------------------------------------------------------------- comparing -- */

static double largest(const hunted *h)
{
    return h->dtype == EDDY_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
}
static double smallest(const hunted *h)
{
    return h->dtype == EDDY_FLOAT32 ? (double)FLT_MIN : DBL_MIN;
}

/* How it is wrong; 0 if it is right. The scale explains what sums cancel. */
static int judge(const hunted *h, double got, mpfr_t want, mpfr_t scale)
{
    const bool   single = h->dtype == EDDY_FLOAT32;
    const double tolerance = single ? 1e-3 : 1e-9, of_scale = single ? 1e-5 : 1e-13;
    if (mpfr_nan_p(want)) return 0;
    const double w = mpfr_get_d(want, MPFR_RNDN), s = mpfr_get_d(scale, MPFR_RNDN);
    if (fabs(w) > largest(h) * 0.999)                    /* a true overflow, by any way */
        return isnan(got) || (fabs(got) > largest(h) * 0.99 && (got > 0) == (w > 0)) ? 0
                                                                                     : HUNT_ERROR;
    if (!isfinite(got)) return s > largest(h) ? 0 : HUNT_NAN;
    if (fabs(got - w) <= tolerance * fabs(w) + 4 * smallest(h)) return 0;
    if (fabs(got - w) <= of_scale * s) return 0;
    return got == 0 ? HUNT_ZERO : HUNT_ERROR;
}

static void report(hunted *h, int kind, int order, element j, element k, double got, double want)
{
    finding f = { .row = h->row, .dtype = h->dtype,
                  .is_formula = exact_graph_operations(h->exact) > 1, .kind = kind,
                  .order = order, .j = j, .k = k, .got = got, .want = want, .n = h->row->n };
    for (int i = 0; i < h->row->n; i++)
        for (int64_t e = 0; e < 2 && e < eddy_array_count(h->point[i]); e++)
            f.at[i][e] = eddy_array_get(h->point[i], e);
    h->report(&f);
}

/* A rounding of each input, alone or with others. */
static void shake(hunted *h, int way)
{
    const double eps = h->dtype == EDDY_FLOAT32 ? 0x1p-22 : 0x1p-51;
    for (int i = 0; i < h->row->n; i++)
        for (int64_t j = 0; j < eddy_array_count(h->point[i]); j++) {
            const int sign = way == 0 ? 1 : way == 1 ? (i % 2 ? -1 : 1) : j % 2 ? -1 : 1;
            const double x = eddy_array_get(h->point[i], j);
            eddy_array_set(h->point[i], j, x * (1 + sign * eps));
        }
}

/* Whether roundings of the inputs change the truth by as much as it differs from what was got. */
static bool is_ill_conditioned(hunted *h, int order, element j, element k, double got, mpfr_t want)
{
    eddy_array *kept[TRUTH_INPUTS] = { NULL };
    double      most = 0;
    mpfr_t      d;
    mpfr_init2(d, 64);
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < h->row->n; i++)
            kept[i] = eddy_array_copy_of(h->dtype, h->shape[i], eddy_array_data(h->point[i]));
        shake(h, way);
        if (exact_graph_at(h->exact, h->point)) {
            truths *t = truths_new(h->exact, h->row->n, h->point, h->dtype == EDDY_FLOAT64);
            truth   y = truth_of(t, order, j, k);
            mpfr_sub(d, y.y, want, MPFR_RNDN);
            if (y.kind == TRUTH_NUMBER) most = fmax(most, fabs(mpfr_get_d(d, MPFR_RNDN)));
            truth_free(&y);
            truths_free(t);
        }
        for (int i = 0; i < h->row->n; i++) {
            memcpy(eddy_array_data(h->point[i]), eddy_array_data(kept[i]),
                   eddy_array_bytes(kept[i]));
            eddy_array_free(kept[i]);
        }
    }
    exact_graph_at(h->exact, h->point);
    mpfr_sub_d(d, want, got, MPFR_RNDN);
    const bool ill = fabs(mpfr_get_d(d, MPFR_RNDN)) <= 8 * most;
    mpfr_clear(d);
    return ill;
}

static void compare(hunted *h, truths *t, int order, element j, element k, double got)
{
    truth y = truth_of(t, order, j, k);
    int   kind = y.kind == TRUTH_NUMBER ? judge(h, got, y.y, y.scale) : HUNT_ANY;
    (*h->compared)++;
    if (kind) {
        truth_free(&y);
        y = truth_checked(t, order, j, k);
        kind = y.kind == TRUTH_NUMBER ? judge(h, got, y.y, y.scale)
             : y.kind == TRUTH_KINK && !isfinite(got) ? HUNT_KINK : 0;
        if (isfinite(got) && fabs(got - mpfr_get_d(y.y, MPFR_RNDN)) <=
                             mpfr_get_d(y.noise, MPFR_RNDN)) kind = 0;
        if ((kind == HUNT_ERROR || kind == HUNT_ZERO) &&
            is_ill_conditioned(h, order, j, k, got, y.y)) kind = 0;
        if (kind) report(h, kind, order, j, k, got, mpfr_get_d(y.y, MPFR_RNDN));
    }
    truth_free(&y);
}

/* At the point that stands in h->point. */
static void look(hunted *h)
{
    eddy_feed feeds[TRUTH_INPUTS];
    for (int i = 0; i < h->row->n; i++) feeds[i] = (eddy_feed){ h->x[i], h->point[i] };
    if (eddy_run(h->session, (eddy_feeds){ h->row->n, feeds },
                 (eddy_list){ h->n_fetches, h->fetches }, h->values) != EDDY_OK) return;
    if (exact_graph_at(h->exact, h->point)) {
        truths *t = truths_new(h->exact, h->row->n, h->point, h->dtype == EDDY_FLOAT64);
        for (int f = 0; f < h->n_fetches; f++) {
            const int order = h->what[f].order, input = h->what[f].input;
            if (order == 0)
                compare(h, t, 0, h->elements[0], h->elements[0], eddy_array_get(h->values[f], 0));
            for (int e = 0; order > 0 && e < h->n_elements; e++)
                if (h->elements[e].input == input)
                    compare(h, t, order, h->elements[e], h->along[h->what[f].along],
                            eddy_array_get(h->values[f], h->elements[e].at));
        }
        truths_free(t);
    }
    for (int f = 0; f < h->n_fetches; f++) eddy_array_free(h->values[f]), h->values[f] = NULL;
}

/* ------------------------------------------------------------------ points -- */

/* Numbers of one sign, by how many inputs share them. An input of the row that is above 0 there is
 * above 0 here, and one within 0 and 1 stays there. */
static const double singles[] = {
    0, 1e-320, 1e-40, 0x1p-1022, 0x1p-126, 1e-300, 1e-200, 1e-160, 1e-30, 1e-20, 1e-10,
    1e-7, 1e-4, 0.01, 0.25, 0.5, 1 - 0x1p-52, 1 - 0x1p-23, 1, 1 + 0x1p-52, 1 + 0x1p-23, 2,
    3, 3.75, 6, 10, 20, 40, 85, 100, 300, 700, 1e3, 1e6, 1e10, 1e15, 1e19, 1e25, 3e38,
    1e100, 1e155, 1e200, 1e300, 1.7e308, INFINITY,
};
static const double doubles[] = {
    0, 1e-320, 1e-40, 1e-200, 1e-20, 0.5, 1, 3, 30, 1e10, 1e20, 1e37, 1e160, 1e300,
};
static const double triples[] = { 0, 1e-20, 0.5, 3, 1e10 };
static const double of_formulas[] = { 0, 1e-30, 1e-8, 0.5, 1, 3, 30, 1e4, 1e20, 1e160 };
static const double vectors[] = {
    0, 1e-40, 1e-20, 1e-8, 1, 30, 200, 1e10, 1e20, 1e37, 1e-200, 1e200,
};
#define COUNT(list) (int)(sizeof list / sizeof *list)

/* Some numbers of float64 are none of float32. */
static bool fits(const hunted *h, double v)
{
    if (h->dtype == EDDY_FLOAT64) return true;
    return v == 0 || isinf(v) || (fabs(v) >= 1e-44 && fabs(v) <= (double)FLT_MAX &&
                                  (fabs(v - 1) > 0x1p-30 || v == 1));
}

/* Whether input i of the row may be v: of the sign and within the bounds of its interval. */
static bool takes(const hunted *h, int i, double v)
{
    const double low = h->row->low[i], high = h->row->high[i];
    const bool   share = low >= 0 && high <= 1 && high > 0;
    /* The derivative of the incomplete gamma functions by a takes time that grows with a. */
    const double most = share ? 1 : strstr(h->row->op, "Igamma") ? 1e4 : INFINITY;
    if ((low > 0 || share) && signbit(v)) return false;
    if (low > 0 && h->row->n > 2 && v == 0) return false;
    return fits(h, v) && v <= most;
}

/* All combinations of the numbers, with both signs. */
static void look_at_numbers(hunted *h, const double *list, int count)
{
    const int n = h->row->n;
    long      all = 1;
    for (int i = 0; i < n; i++) all *= 2 * count;
    for (long c = 0; c < all; c++) {
        long rest = c;
        bool good = true;
        for (int i = 0; good && i < n; i++, rest /= 2 * count) {
            const double size = list[rest % (2 * count) / 2], v = rest % 2 ? -size : size;
            good = takes(h, i, v);
            if (good) eddy_array_set(h->point[i], 0, v);
        }
        if (good) look(h);
    }
}

/* Ordinary numbers of the row. */
static void fill(hunted *h)
{
    for (int i = 0; i < h->row->n; i++) {
        const double low = h->row->low[i], high = h->row->high[i];
        const double a = low == high ? -2 : low, b = low == high ? 2 : high;
        for (int64_t j = 0; j < eddy_array_count(h->point[i]); j++)
            eddy_array_set(h->point[i], j,
                           a + (b - a) * fmod(0.618 * (double)(j + 1) + 0.29 * i, 1));
    }
}

/* One element, two equal, opposite, near or distant ones, all equal ones, all scaled. */
static void look_at_vectors(hunted *h)
{
    enum { ONE, EQUAL, OPPOSITE, NEAR, APART, ALL, SCALED, PATTERNS };
    fill(h);
    look(h);
    for (int i = 0; i < h->row->n; i++)
        for (int v = 0; v < COUNT(vectors); v++)
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                eddy_array *a = h->point[i];
                const double x = vectors[v];
                if (!fits(h, x) || (pattern != ONE && eddy_array_count(a) < 2)) continue;
                fill(h);
                eddy_array_set(a, 0, pattern == OPPOSITE ? -x : x);
                if (pattern == EQUAL || pattern == OPPOSITE) eddy_array_set(a, 1, x);
                if (pattern == NEAR) eddy_array_set(a, 1, x * (1 + 0x1p-20));
                if (pattern == APART) eddy_array_set(a, 1, x == 0 || x > 1 ? -1 : 1 / x);
                for (int64_t j = 0; pattern >= ALL && j < eddy_array_count(a); j++)
                    eddy_array_set(a, j, pattern == ALL ? x : x * eddy_array_get(a, j));
                look(h);
            }
}

bool hunt_row(const sweep_row *r, eddy_dtype dtype, hunt_report *to, const char **skipped,
              long *compared)
{
    hunted h = { .row = r, .dtype = dtype, .graph = eddy_graph_new(), .report = to,
                 .compared = compared };
    *skipped = r->options & (SWEEP_REFUSES | SWEEP_RANDOM) ? "random, or refuses gradients"
             : op_named(r->op)->gradient == eddy_not_differentiable ? "not differentiable"
             : build(&h);
    if (!*skipped) {
        bool single = true;
        for (int i = 0; i < r->n; i++) single = single && eddy_array_count(h.point[i]) == 1;
        if (!single) look_at_vectors(&h);
        else if (r->n == 1) look_at_numbers(&h, singles, COUNT(singles));
        else if (r->n == 2 && exact_graph_operations(h.exact) > 1)
            look_at_numbers(&h, of_formulas, COUNT(of_formulas));
        else if (r->n == 2) look_at_numbers(&h, doubles, COUNT(doubles));
        else look_at_numbers(&h, triples, COUNT(triples));
    }
    exact_graph_free(h.exact);
    for (int i = 0; i < TRUTH_INPUTS; i++) eddy_array_free(h.point[i]);
    eddy_session_free(h.session);
    eddy_graph_free(h.graph);
    return !*skipped;
}
