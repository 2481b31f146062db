/* hunt_row.c -- see hunt.h: a row of the sweep at special points, beside the truth. */
#include "tests/hunt/hunt_points.h"
#include "build/gen/table.h"
#include "ops/short_names.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The first elements of an input, of matrices also elements of other rows. */
static void choose_elements(hunted *h, int i, bool constant)
{
    const int64_t count = eddy_shape_count(h->shape[i]);
    const int     rank = h->shape[i].rank;
    const bool    matrix = hunt_is_own(h->row) && rank == 2 && count > 3;
    const int64_t at[] = { 0, 1, matrix ? h->shape[i].dim[1] + 1 : count, count - 1 };
    for (int j = 0; j < (matrix ? 4 : 2); j++)
        if (at[j] < count && h->n_elements < HUNT_ELEMENTS)
            h->elements[h->n_elements++] = (element){ i, at[j] };
    if (!constant && h->n_along < HUNT_ALONG) h->along[h->n_along++] = (element){ i, 0 };
}

static void place_inputs(hunted *h)
{
    const int parts = h->is_complex ? 2 : 1;
    h->n = h->row->n * parts;
    for (int i = 0; i < h->n; i++) {
        h->shape[i] = h->row->shape[i / parts];
        for (int d = 0; is_elementwise(h->row) && d < h->shape[i].rank; d++) h->shape[i].dim[d] = 1;
        h->x[i] = eddy_placeholder(h->graph, NULL, h->dtype, h->shape[i]);
        h->point[i] = eddy_array_new(h->dtype, h->shape[i]);
        choose_elements(h, i, h->row->constant >> (i / parts) & 1);
    }
    if (h->n == 1 && eddy_shape_count(h->shape[0]) > 1)
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

static eddy_tensor weights(const hunted *h, int output)
{
    eddy_array *w = eddy_array_new(h->dtype, eddy_shape_of(h->y[output]));
    for (int64_t i = 0; i < eddy_array_count(w); i++)
        eddy_array_set(w, i, truth_weight(i + output));
    const eddy_tensor t = eddy_constant(h->graph, w, NULL);
    eddy_array_free(w);
    return t;
}

static eddy_tensor weighted_sum(const hunted *h)
{
    eddy_tensor f = Sum(Mul(h->y[0], weights(h, 0)));
    for (int k = 1; k < h->n_outputs; k++) f = Add(f, Sum(Mul(h->y[k], weights(h, k))));
    return f;
}

static eddy_tensor element_of(eddy_tensor t, int64_t at)
{
    return eddy_slice(eddy_reshape(t, EDDY_SHAPE(EDDY_ANY)), EDDY_DIMS(at), EDDY_DIMS(1));
}

static bool build_derivatives(hunted *h, eddy_tensor f)
{
    const eddy_list xs = { h->n, h->x };
    eddy_tensor     first[TRUTH_INPUTS] = { EDDY_ZERO_TENSOR };
    fetch(h, f, 0, 0, 0);
    if (eddy_gradients(EDDY_LIST(f), xs, first) != EDDY_OK) return false;
    for (int i = 0; i < h->n; i++) fetch(h, first[i], 1, 0, i);
    for (int a = 0; a < h->n_along; a++) {
        eddy_tensor by = first[h->along[a].input];
        for (int order = 2; order <= 3 && eddy_is_valid(by); order++) {
            eddy_tensor next[TRUTH_INPUTS] = { EDDY_ZERO_TENSOR };
            const eddy_tensor of = element_of(by, h->along[a].at);
            if (eddy_gradients(EDDY_LIST(of), xs, next) != EDDY_OK) return false;
            for (int i = 0; i < h->n; i++) fetch(h, next[i], order, a, i);
            by = next[h->along[a].input];
        }
    }
    return true;
}

static eddy_tensor of_row(hunted *h)
{
    const sweep_row *r = h->row;
    eddy_tensor      x[TRUTH_INPUTS];
    for (int i = 0; i < r->n; i++)
        x[i] = h->is_complex ? Complex(h->x[2 * i], h->x[2 * i + 1]) : h->x[i];
    return r->unary ? r->unary(x[0])
         : r->binary ? r->binary(x[0], x[1]) : r->build(h->graph, x);
}

/* A real output, or both parts of a complex one. */
static void add_output(hunted *h, eddy_tensor y)
{
    const eddy_dtype d = eddy_dtype_of(y);
    if (d == h->dtype && h->n_outputs < TRUTH_OUTPUTS) h->y[h->n_outputs++] = y;
    if (!eddy_dtype_is_complex(d) || h->n_outputs + 1 >= TRUTH_OUTPUTS) return;
    h->y[h->n_outputs++] = Real(y);
    h->y[h->n_outputs++] = Imag(y);
}

/* All outputs of the row's node, except what normalizations and losses keep for gradients. */
static void list_outputs(hunted *h, eddy_tensor y)
{
    const eddy_node *n = eddy_node_of(y);
    const char      *op = n->op->name;
    const bool       one = y.output != 0 || strstr(op, "SoftmaxCrossEntropy") ||
                           strcmp(op, "LayerNorm") == 0 || strcmp(op, "FusedBatchNormV3") == 0;
    for (int k = 0; k < (one ? 1 : n->n_outputs); k++)
        add_output(h, one ? y : eddy_output(y, k));
}

/* The exact graph of the outputs that depend on the inputs. */
static const char *build_exact(hunted *h)
{
    const char     *missing;
    const eddy_list in = { h->n, h->x };
    int             kept = 0;
    h->exact = exact_graph_new(h->graph, in, (eddy_list){ h->n_outputs, h->y }, &missing);
    if (!h->exact) return missing;
    for (int k = 0; k < h->n_outputs; k++)
        if (exact_graph_depends(h->exact, k)) h->y[kept++] = h->y[k];
    if (kept == h->n_outputs) return NULL;
    exact_graph_free(h->exact);
    h->n_outputs = kept;
    h->exact = exact_graph_new(h->graph, in, (eddy_list){ kept, h->y }, &missing);
    return kept ? NULL : "does not depend on its inputs";
}

static const char *build(hunted *h)
{
    place_inputs(h);
    const eddy_tensor y = of_row(h);
    if (eddy_graph_status(h->graph) != EDDY_OK) return "does not take these inputs";
    list_outputs(h, y);
    if (!h->n_outputs) return "has no floating-point value";
    for (int k = 0; k < h->n_outputs; k++)
        if (!eddy_shape_is_known(eddy_shape_of(h->y[k]))) return "has a value of unknown shape";
    const char *missing = build_exact(h);
    if (missing) return missing;
    if (!build_derivatives(h, weighted_sum(h))) return "has no derivatives to the third order";
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

/* How it is wrong; 0 if it is right. The scale explains what sums cancel; of matrices, elements are
 * as exact as the largest one. */
static int judge(const hunted *h, int order, double got, mpfr_t want, mpfr_t scale)
{
    const bool   single = h->dtype == EDDY_FLOAT32;
    const double tolerance = single ? 1e-3 : 1e-9, of_scale = single ? 1e-5 : 1e-13;
    if (mpfr_nan_p(want)) return 0;
    const double w = mpfr_get_d(want, MPFR_RNDN);
    const double s = fmax(mpfr_get_d(scale, MPFR_RNDN),
                          hunt_of_matrices(h->row) ? 100 * h->most[order] : 0);
    if (fabs(w) > largest(h) * 0.999)                    /* a true overflow, by any way */
        return isnan(got) || (h->is_complex && isinf(got)) ||
               (fabs(got) > largest(h) * 0.99 && (got > 0) == (w > 0)) ? 0 : HUNT_ERROR;
    if (!isfinite(got)) return s > largest(h) ? 0 : HUNT_NAN;
    if (fabs(got - w) <= tolerance * fabs(w) + 4 * smallest(h)) return 0;
    if (fabs(got - w) <= of_scale * s) return 0;
    return got == 0 ? HUNT_ZERO : HUNT_ERROR;
}

static void report(hunted *h, int kind, int order, element j, element k, double got, double want)
{
    const int simple = h->is_complex ? 3 + h->row->n : 1;      /* operations */
    finding   f = {
        .row = h->row, .dtype = h->dtype, .kind = kind, .order = order, .j = j, .k = k,
        .is_formula = exact_graph_operations(h->exact) > simple, .is_complex = h->is_complex,
        .is_matrix = hunt_of_matrices(h->row), .is_singular = h->is_singular,
        .got = got, .want = want, .n = h->n, .smallest = INFINITY,
    };
    for (int i = 0; i < h->n; i++)
        for (int64_t e = 0; e < 2 && e < eddy_array_count(h->point[i]); e++)
            f.at[i][e] = eddy_array_get(h->point[i], e);
    for (int i = 0; i < h->n; i++)
        for (int64_t e = 0; e < eddy_array_count(h->point[i]); e++) {
            const double size = fabs(eddy_array_get(h->point[i], e));
            f.largest = fmax(f.largest, size);
            if (size != 0) f.smallest = fmin(f.smallest, size);
        }
    h->report(&f);
}

static double largest_of(const eddy_array *a)
{
    double most = 0;
    for (int64_t j = 0; j < eddy_array_count(a); j++) most = fmax(most, fabs(eddy_array_get(a, j)));
    return most;
}

/* A rounding of each input, alone or with others; of a matrix, one of its largest element. */
static void shake(hunted *h, int way)
{
    const double eps = h->dtype == EDDY_FLOAT32 ? 0x1p-22 : 0x1p-51;
    const bool   matrix = hunt_of_matrices(h->row);
    for (int i = 0; i < h->n; i++) {
        const double most = largest_of(h->point[i]);
        for (int64_t j = 0; j < eddy_array_count(h->point[i]); j++) {
            const int some = way == 0 ? 1 : way == 1 ? (i % 2 ? -1 : 1) : j % 2 ? -1 : 1;
            const int sign = matrix ? ((5 * j + 3 * i + way * j * j) % 7 < 3 ? -1 : 1) : some;
            const double x = eddy_array_get(h->point[i], j);
            eddy_array_set(h->point[i], j, x + sign * eps * (matrix ? most : x));
        }
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
        for (int i = 0; i < h->n; i++)
            kept[i] = eddy_array_copy_of(h->dtype, h->shape[i], eddy_array_data(h->point[i]));
        shake(h, way);
        if (exact_graph_at(h->exact, h->point)) {
            truths *t = truths_new(h->exact, h->n, h->point, h->n_outputs,
                                   h->dtype == EDDY_FLOAT64);
            truth   y = truth_of(t, order, j, k);
            mpfr_sub(d, y.y, want, MPFR_RNDN);
            if (y.kind == TRUTH_NUMBER) most = fmax(most, fabs(mpfr_get_d(d, MPFR_RNDN)));
            truth_free(&y);
            truths_free(t);
        }
        for (int i = 0; i < h->n; i++) {
            memcpy(eddy_array_data(h->point[i]), eddy_array_data(kept[i]),
                   eddy_array_bytes(kept[i]));
            eddy_array_free(kept[i]);
        }
    }
    exact_graph_at(h->exact, h->point);
    mpfr_sub_d(d, want, got, MPFR_RNDN);
    const bool ill = fabs(mpfr_get_d(d, MPFR_RNDN)) <=
                     (hunt_of_matrices(h->row) ? 64 : 8) * most;
    mpfr_clear(d);
    return ill;
}

static void compare(hunted *h, truths *t, int order, element j, element k, double got)
{
    truth y = truth_of(t, order, j, k);
    int   kind = y.kind == TRUTH_NUMBER ? judge(h, order, got, y.y, y.scale) : HUNT_ANY;
    h->counts->compared++;
    if (kind) {
        truth_free(&y);
        y = truth_checked(t, order, j, k);
        kind = y.kind == TRUTH_NUMBER ? judge(h, order, got, y.y, y.scale)
             : y.kind == TRUTH_KINK && !isfinite(got) ? HUNT_KINK : 0;
        if (isfinite(got) && fabs(got - mpfr_get_d(y.y, MPFR_RNDN)) <=
                             mpfr_get_d(y.noise, MPFR_RNDN)) kind = 0;
        if ((kind == HUNT_ERROR || kind == HUNT_ZERO) &&
            is_ill_conditioned(h, order, j, k, got, y.y)) kind = 0;
        if (kind) report(h, kind, order, j, k, got, mpfr_get_d(y.y, MPFR_RNDN));
    }
    truth_free(&y);
}

/* All at once, or one by one if one of them fails; false if the value does. */
static bool run_fetches(hunted *h)
{
    eddy_feed feeds[TRUTH_INPUTS];
    for (int i = 0; i < h->n; i++) feeds[i] = (eddy_feed){ h->x[i], h->point[i] };
    const eddy_feeds fed = { h->n, feeds };
    if (eddy_run(h->session, fed, (eddy_list){ h->n_fetches, h->fetches }, h->values) == EDDY_OK)
        return true;
    for (int f = 0; f < h->n_fetches; f++) {
        h->values[f] = NULL;
        if (eddy_run(h->session, fed, (eddy_list){ 1, &h->fetches[f] }, &h->values[f]) == EDDY_OK)
            continue;
        h->counts->refused++;
        h->values[f] = NULL;
        if (f == 0) return false;
    }
    return true;
}

static void find_most(hunted *h)
{
    memset(h->most, 0, sizeof h->most);
    for (int f = 0; f < h->n_fetches; f++)
        for (int64_t i = 0; h->values[f] && i < eddy_array_count(h->values[f]); i++) {
            const double size = fabs(eddy_array_get(h->values[f], i));
            double      *most = &h->most[h->what[f].order];
            if (isfinite(size)) *most = fmax(*most, size);
        }
    double size = 0;
    for (int i = 0; i < h->n; i++) size = fmax(size, largest_of(h->point[i]));
    for (int order = 1; size > 0 && order < 4; order++)
        h->most[order] = fmax(h->most[order], h->most[order - 1] / size);
}

static void compare_all(hunted *h, truths *t)
{
    find_most(h);
    for (int f = 0; f < h->n_fetches; f++) {
        const int order = h->what[f].order, input = h->what[f].input;
        if (!h->values[f]) continue;
        if (order == 0)
            compare(h, t, 0, h->elements[0], h->elements[0], eddy_array_get(h->values[f], 0));
        for (int e = 0; order > 0 && e < h->n_elements; e++)
            if (h->elements[e].input == input)
                compare(h, t, order, h->elements[e], h->along[h->what[f].along],
                        eddy_array_get(h->values[f], h->elements[e].at));
    }
}

void hunt_look(hunted *h)
{
    h->counts->points++;
    if (run_fetches(h) && exact_graph_at(h->exact, h->point)) {
        truths *t = truths_new(h->exact, h->n, h->point, h->n_outputs, h->dtype == EDDY_FLOAT64);
        compare_all(h, t);
        truths_free(t);
    }
    for (int f = 0; f < h->n_fetches; f++) eddy_array_free(h->values[f]), h->values[f] = NULL;
}

bool hunt_row(const sweep_row *r, eddy_dtype dtype, bool is_complex, hunt_report *to,
              const char **skipped, hunt_counts *counts)
{
    hunted h = { .row = r, .dtype = dtype, .is_complex = is_complex, .graph = eddy_graph_new(),
                 .report = to, .counts = counts };
    *skipped = r->options & (SWEEP_REFUSES | SWEEP_RANDOM) ? "random, or refuses gradients"
             : op_named(r->op)->gradient == eddy_not_differentiable ? "not differentiable"
             : build(&h);
    if (!*skipped) hunt_points(&h);
    exact_graph_free(h.exact);
    for (int i = 0; i < TRUTH_INPUTS; i++) eddy_array_free(h.point[i]);
    eddy_session_free(h.session);
    eddy_graph_free(h.graph);
    return !*skipped;
}
