/* compare_derivatives.c -- derivatives at one point, compared with five-point finite differences.
 *
 * Complex elements are pairs of real numbers here: every count is a count of parts. The Jacobian
 * is examined by rows, weighted sums of the parts of ys: the parts themselves if there are few,
 * otherwise random sums. A large x is varied as a whole, in a random direction. */
#include "autodiff/check/compare_derivatives.h"
#include "ops/ops.h"
#include "ops/kernels/random/philox.h"
#include "session/state/internal.h"

#include <math.h>
#include <string.h>

enum { FEW_ROWS = 64, RANDOM_ROWS = 3, FEW_PARTS = 256 };

static bool fail(comparison *p, eddy_status s)
{
    if (p->status == EDDY_OK) p->status = s;
    return false;
}

void *eddy__comparison_alloc(comparison *p, int64_t n, size_t size)
{
    size_t bytes;
    void *at = eddy__size_mul((size_t)n, size, &bytes) ? eddy__arena_alloc(&p->arena, bytes) : NULL;
    if (at) memset(at, 0, bytes);
    else fail(p, EDDY_NO_MEMORY);
    return at;
}

double eddy__random_weight(int64_t row, int64_t part)
{
    const uint64_t key = eddy__philox_key((uint64_t)row, (uint64_t)part, 3);
    const double   size = 0.5 + 0.5 * eddy__unit_f64((uint32_t)key, (uint32_t)(key >> 32));
    return key >> 33 & 1 ? size : -size;
}

/* ------------------------------------------------------------------ parts -- */

static bool is_complex(const eddy_array *a) { return eddy_dtype_is_complex(eddy_array_dtype(a)); }

int64_t eddy__parts_of(const eddy_array *a)
{
    return eddy_array_count(a) * (is_complex(a) ? 2 : 1);
}

static double part_at(const eddy_array *a, int64_t part)
{
    if (!is_complex(a)) return eddy_array_get(a, part);
    return part % 2 ? eddy_array_get_imag(a, part / 2) : eddy_array_get(a, part / 2);
}

void eddy__part_set(eddy_array *a, int64_t part, double value)
{
    const int64_t e = part / 2;
    if (!is_complex(a)) eddy_array_set(a, part, value);
    else if (part % 2) eddy_array_set_complex(a, e, eddy_array_get(a, e), value);
    else eddy_array_set_complex(a, e, value, eddy_array_get_imag(a, e));
}

/* ---------------------------------------------------------------- running -- */

void eddy__comparison_feed(comparison *p, eddy_tensor t, const eddy_array *value)
{
    int i = 0;
    while (i < p->n_feeds && !eddy_same(p->feeds[i].tensor, t)) i++;
    if (i == p->n_feeds) p->n_feeds++;
    p->feeds[i] = (eddy_feed){ t, value };
}

bool eddy__comparison_fetch(comparison *p, int n, const eddy_tensor *fetches, eddy_array **out)
{
    const eddy_status s = eddy_run(p->session, (eddy_feeds){ p->n_feeds, p->feeds },
                                   (eddy_list){ n, fetches }, out);
    return s == EDDY_OK || fail(p, s);
}

void eddy__arrays_free(eddy_array **a, int n)
{
    for (int i = 0; a && i < n; i++) eddy_array_free(a[i]);
}

/* ------------------------------------------------------------- the comparison -- */

/* Copies the differentiable tensors of a list to `to`, and their indices to `number`. */
static int keep_differentiable(eddy_list from, eddy_tensor *to, int *number)
{
    int n = 0;
    for (int i = 0; i < from.count; i++) {
        if (!eddy_dtype_is_differentiable(eddy_dtype_of(from.at[i]))) continue;
        if (number) number[n] = i;
        to[n++] = from.at[i];
    }
    return n;
}

bool eddy__comparison_begin(comparison *p, eddy_list ys, eddy_list xs, eddy_feeds feeds, int more)
{
    p->arena.allocator = eddy__graph_allocator(p->graph);
    p->xs = eddy__comparison_alloc(p, xs.count, sizeof *p->xs);
    p->ys = eddy__comparison_alloc(p, ys.count, sizeof *p->ys);
    p->number = eddy__comparison_alloc(p, xs.count, sizeof *p->number);
    p->feeds =
        eddy__comparison_alloc(p, (int64_t)feeds.count + ys.count + more + 1, sizeof *p->feeds);
    if (p->status != EDDY_OK) return false;
    p->n_x = keep_differentiable(xs, p->xs, p->number);
    p->n_y = keep_differentiable(ys, p->ys, NULL);
    for (int i = 0; i < feeds.count; i++) p->feeds[i] = feeds.at[i];
    p->n_feeds = feeds.count;
    p->weights = eddy__comparison_alloc(p, p->n_y, sizeof *p->weights);
    p->dx = eddy__comparison_alloc(p, p->n_x, sizeof *p->dx);
    p->x = eddy__comparison_alloc(p, p->n_x, sizeof *p->x);
    p->y = eddy__comparison_alloc(p, p->n_y, sizeof *p->y);
    p->w = eddy__comparison_alloc(p, p->n_y, sizeof *p->w);
    p->analytic = eddy__comparison_alloc(p, p->n_x, sizeof *p->analytic);
    return p->status == EDDY_OK;
}

void eddy__comparison_end(comparison *p)
{
    eddy__arrays_free(p->x, p->n_x);
    eddy__arrays_free(p->y, p->n_y);
    eddy__arrays_free(p->w, p->n_y);
    eddy__arena_free(&p->arena);
}

/* ------------------------------------------------------------- the session -- */

bool eddy__comparison_is_variable(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && (node->op->flags & EDDY_OP_VARIABLE);
}

static bool set_variable(comparison *p, eddy_tensor variable, const eddy_array *value)
{
    const eddy_status s = eddy_variable_set(p->session, variable, value);
    return s == EDDY_OK || fail(p, s);
}

/* Variables without a value in the caller's session have none here. */
static bool copy_variables(comparison *p)
{
    bool ok = true;
    for (int32_t id = 1; ok && id <= p->graph->size; id++) {
        const eddy_tensor t = eddy__tensor_at(p->graph, id, 0);
        if (!eddy__comparison_is_variable(t)) continue;
        eddy_error  e = { 0 };
        eddy_array *value = eddy__variable_value(p->args->session, t, &e);
        ok = value ? set_variable(p, t, value) : e.status == EDDY_OK || fail(p, e.status);
        eddy_array_free(value);
    }
    return ok;
}

/* Sets the variables among xs that are fed to the fed values, because they will be varied. */
static bool set_fed_variables(comparison *p)
{
    int n = 0;
    for (int i = 0; i < p->n_feeds; i++) {
        const eddy_feed f = p->feeds[i];
        int             k = 0;
        while (k < p->n_x && !eddy_same(p->xs[k], f.tensor)) k++;
        if (k == p->n_x || !eddy__comparison_is_variable(f.tensor)) p->feeds[n++] = f;
        else if (!set_variable(p, f.tensor, f.value)) return false;
    }
    p->n_feeds = n;
    return true;
}

bool eddy__comparison_open_session(comparison *p)
{
    eddy_session  *from = p->args->session;
    eddy_callable *c = eddy_callable_new(from, EDDY_LIST(), p->args->ys);
    if (!c) {       /* the error says why ys cannot be run; nothing was run */
        const eddy_status s = eddy_session_status(from);
        return fail(p, s != EDDY_OK ? s : EDDY_INVALID_ARGUMENT);
    }
    eddy_callable_free(c);
    p->session = eddy_session_new(p->graph);
    return (p->session || fail(p, EDDY_NO_MEMORY)) && copy_variables(p) && set_fed_variables(p);
}

/* ----------------------------------------------------------------- values -- */

/* Steps and tolerances for the least precise element type. */
static void set_tolerances(comparison *p)
{
    const eddy_gradient_check_args *a = p->args;
    size_t least = sizeof(double);
    double size = 1;
    for (int i = 0; i < p->n_x + p->n_y; i++) {
        const eddy_tensor t = i < p->n_x ? p->xs[i] : p->ys[i - p->n_x];
        const size_t      bytes = eddy_dtype_size(eddy_dtype_real(eddy_dtype_of(t)));
        if (bytes < least) least = bytes;
    }
    for (int j = 0; j < p->n_y; j++)
        for (int64_t e = 0; e < eddy__parts_of(p->y[j]); e++)
            size = fmax(size, fabs(part_at(p->y[j], e)));
    if (!isfinite(size)) size = 1;
    const int of = least == sizeof(double) ? 0 : least == sizeof(float) ? 1 : 2;
    p->delta = a->delta != EDDY_OMITTED ? a->delta : (double[]){ 0x1p-13, 0x1p-7, 0x1p-4 }[of];
    p->absolute =
        a->absolute != EDDY_OMITTED ? a->absolute : (double[]){ 1e-5, 1e-3, 0.1 }[of] * size;
    p->relative = a->relative != EDDY_OMITTED ? a->relative : (double[]){ 1e-3, 1e-2, 0.1 }[of];
}

/* Computes the values at this point twice, to detect ys that vary from run to run. */
static bool compute_values(comparison *p)
{
    if (!eddy__comparison_fetch(p, p->n_x, p->xs, p->x) ||
        !eddy__comparison_fetch(p, p->n_y, p->ys, p->y) ||
        !eddy__comparison_fetch(p, p->n_y, p->ys, p->w))
        return false;
    for (int j = 0; j < p->n_y; j++) {
        p->varies = p->varies || !eddy_array_equal(p->y[j], p->w[j]);
        p->parts += eddy__parts_of(p->y[j]);
    }
    set_tolerances(p);
    return !p->varies || fail(p, EDDY_CHECK_FAILED);
}

static bool build_gradients(comparison *p)
{
    for (int j = 0; j < p->n_y; j++)
        p->weights[j] = eddy_placeholder(p->graph, "gradient_check/weights",
                                         eddy_dtype_of(p->ys[j]), eddy_shape_of(p->ys[j]));
    const eddy_list   xs = { p->n_x, p->xs };
    const eddy_status s = eddy_gradients((eddy_list){ p->n_y, p->ys }, xs, p->dx,
                                         .grad_ys = { p->n_y, p->weights },
                                         .stop_gradients = { p->alone ? p->n_x : 0, p->xs },
                                         .name = "gradient_check/gradients");
    return s == EDDY_OK || fail(p, s);
}

/* --------------------------------------------------------------- analytic -- */

static double row_weight(const comparison *p, int64_t row, int64_t part)
{
    return p->row ? p->row[row * p->parts + part] : row == part;
}

/* The weights of a row as the values that are fed. */
static void set_weights(comparison *p, int64_t row)
{
    int64_t at = 0;
    for (int j = 0; j < p->n_y; j++)
        for (int64_t e = 0; e < eddy__parts_of(p->w[j]); e++)
            eddy__part_set(p->w[j], e, row_weight(p, row, at++));
}

static bool choose_rows(comparison *p)
{
    p->rows = p->parts <= FEW_ROWS ? p->parts : RANDOM_ROWS;
    p->numeric_derivative = eddy__comparison_alloc(p, p->parts, sizeof *p->numeric_derivative);
    if (p->parts > FEW_ROWS) p->row = eddy__comparison_alloc(p, p->rows * p->parts, sizeof *p->row);
    for (int64_t r = 0; p->row && r < p->rows; r++)
        for (int64_t e = 0; e < p->parts; e++)
            p->row[r * p->parts + e] = eddy__random_weight(r, e);
    for (int k = 0; k < p->n_x; k++)
        p->analytic[k] =
            eddy__comparison_alloc(p, p->rows * eddy__parts_of(p->x[k]), sizeof **p->analytic);
    return p->status == EDDY_OK;
}

/* Computes all rows of the gradients; missing gradients are 0. */
static bool compute_gradients(comparison *p)
{
    const int before = p->n_feeds;
    if (!choose_rows(p)) return false;
    for (int j = 0; j < p->n_y; j++) eddy__comparison_feed(p, p->weights[j], p->w[j]);
    for (int64_t r = 0; r < p->rows && p->status == EDDY_OK; r++) {
        set_weights(p, r);
        for (int k = 0; k < p->n_x; k++) {
            eddy_array   *d = NULL;
            const int64_t n = eddy__parts_of(p->x[k]);
            if (!eddy_is_valid(p->dx[k]) || !eddy__comparison_fetch(p, 1, &p->dx[k], &d)) continue;
            for (int64_t e = 0; e < n; e++) p->analytic[k][r * n + e] = part_at(d, e);
            eddy_array_free(d);
        }
    }
    p->n_feeds = before;
    return p->status == EDDY_OK;
}

/* ---------------------------------------------------------------- numeric -- */

/* Parts [low, high) of x number k, moved together, each up or down. */
typedef struct element_range {
    int     k;
    int64_t low, high;
} element_range;

static double direction(const element_range *s, int64_t part)
{
    return s->high - s->low == 1 || eddy__random_weight(s->k, part) > 0 ? 1 : -1;
}

static bool feed_x(comparison *p, int k, const eddy_array *value)
{
    if (eddy__comparison_is_variable(p->xs[k])) return set_variable(p, p->xs[k], value);
    eddy__comparison_feed(p, p->xs[k], value);
    return true;
}

/* Adds the values of ys, times the factor, to the derivatives, with xs moved by `step`. */
static bool add_shifted(comparison *p, const element_range *s, eddy_array *shifted, double step,
                        double factor)
{
    int64_t at = 0;
    for (int64_t e = s->low; e < s->high; e++)
        eddy__part_set(shifted, e, part_at(p->x[s->k], e) + step * direction(s, e));
    if (!feed_x(p, s->k, shifted) || !eddy__comparison_fetch(p, p->n_y, p->ys, p->y)) return false;
    for (int j = 0; j < p->n_y; j++) {
        p->varies = at + eddy__parts_of(p->y[j]) > p->parts;
        if (p->varies) return fail(p, EDDY_CHECK_FAILED);
        for (int64_t e = 0; e < eddy__parts_of(p->y[j]); e++)
            p->numeric_derivative[at++] += factor * part_at(p->y[j], e);
    }
    return true;
}

/* The derivatives of the parts of ys along the range, by the five-point formula, in which the
 * middle point has weight 0. */
static bool compute_numeric(comparison *p, const element_range *s)
{
    static const double steps[] = { 1, -1, 2, -2 }, factors[] = { 8, -8, -1, 1 };
    const int           before = p->n_feeds;
    eddy_array         *x = p->x[s->k];
    eddy_array         *shifted = eddy_array_copy_of(eddy_array_dtype(x), eddy_array_shape(x),
                                                     eddy_array_data(x));
    const int64_t n = s->high - s->low;
    const double  size = n == 1 ? fabs(part_at(x, s->low)) : 1;
    const double  h = p->delta * (size > 1 && isfinite(size) ? size : 1) / sqrt((double)n);
    if (!shifted) return fail(p, EDDY_NO_MEMORY);
    eddy_feed kept = { .value = NULL };
    for (int i = 0; i < before; i++)
        if (eddy_same(p->feeds[i].tensor, p->xs[s->k])) kept = p->feeds[i];
    for (int64_t e = 0; e < p->parts; e++) p->numeric_derivative[e] = 0;
    bool ok = true;
    for (int i = 0; ok && i < 4; i++)
        ok = add_shifted(p, s, shifted, steps[i] * h, factors[i] / (12 * h));
    p->n_feeds = before;
    if (kept.value) eddy__comparison_feed(p, kept.tensor, kept.value);
    if (eddy__comparison_is_variable(p->xs[s->k])) ok = set_variable(p, p->xs[s->k], x) && ok;
    eddy_array_free(shifted);
    return ok;
}

/* --------------------------------------------------------------- comparing -- */

static double numeric_of(const comparison *p, int64_t row)
{
    double sum = 0;
    if (!p->row) return p->numeric_derivative[row];
    for (int64_t e = 0; e < p->parts; e++) sum += row_weight(p, row, e) * p->numeric_derivative[e];
    return sum;
}

/* Compares one row along the element_range; how far off it is, 1 being allowed. */
static double compare(comparison *p, const element_range *s, int64_t row)
{
    const int64_t n = eddy__parts_of(p->x[s->k]);
    double analytic = 0, size = 0;
    for (int64_t e = s->low; e < s->high; e++) {
        analytic += p->analytic[s->k][row * n + e] * direction(s, e);
        size = hypot(size, p->analytic[s->k][row * n + e]);
    }
    const double numeric = numeric_of(p, row), larger = fmax(fabs(analytic), fabs(numeric));
    const double scale = s->high - s->low == 1 ? fabs(numeric) : size;
    const bool   finite = isfinite(analytic) && isfinite(numeric);
    const double error = finite ? fabs(analytic - numeric) : INFINITY;
    const double excess = finite ? error / (p->absolute + p->relative * scale) : INFINITY;
    mismatch    *f = &p->worst;
    f->absolute = fmax(f->absolute, error);
    f->relative = fmax(f->relative, finite ? (larger > 0 ? error / larger : 0) : INFINITY);
    if (excess > f->excess && s->high - s->low == 1) {
        const bool pairs = is_complex(p->x[s->k]);
        *f = (mismatch){ .absolute = f->absolute, .relative = f->relative, .excess = excess,
                        .x = s->k, .element = pairs ? s->low / 2 : s->low,
                        .imaginary = pairs && s->low % 2, .analytic = analytic,
                        .numeric = numeric };
    }
    return excess;
}

/* The worst row along the element_range; negative after a failure. */
static double compare_rows(comparison *p, const element_range *s)
{
    double worst = 0;
    if (!compute_numeric(p, s)) return -1;
    for (int64_t r = 0; r < p->rows; r++) worst = fmax(worst, compare(p, s, r));
    return worst;
}

/* Varies a large x as a whole, and halves a range that disagrees until one part is left. */
static bool compare_large(comparison *p, int k)
{
    element_range s = { k, 0, eddy__parts_of(p->x[k]) };
    if (!(compare_rows(p, &s) > 1)) return p->status == EDDY_OK;
    while (s.high - s.low > 1) {
        element_range half = { k, s.low, s.low + (s.high - s.low) / 2 };
        const double worst = compare_rows(p, &half);
        if (worst < 0) return false;
        if (worst > 1) s = half;
        else s.low = half.high;
    }
    return compare_rows(p, &s) >= 0;
}

static bool compare_all(comparison *p)
{
    for (int k = 0; k < p->n_x; k++) {
        const int64_t n = eddy__parts_of(p->x[k]);
        if (n > FEW_PARTS && !compare_large(p, k)) return false;
        for (int64_t e = 0; n <= FEW_PARTS && e < n; e++)
            if (compare_rows(p, &(element_range){ k, e, e + 1 }) < 0) return false;
    }
    return true;
}

bool eddy__comparison_run(comparison *p)
{
    if (p->n_x == 0 || p->n_y == 0) return true;
    return compute_values(p) && build_gradients(p) && compute_gradients(p) && compare_all(p);
}
