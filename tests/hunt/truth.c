/* truth.c -- see truth.h. With steps of 2^-100 of the size of a number the first difference has
 * thirty digits, from either side, so that a kink and the end of a domain need no other formula. */
#include "tests/hunt/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 100, SMALLER = 12, POINTS = 64 };

/* The outputs at x + a h e_k + b h e_j, times their weights. */
typedef struct sample {
    element k, j;
    int     a, b, side, step;
    mpfr_t *y;
} sample;

struct truths {
    exact_graph       *graph;
    int                n, bits, n_outputs;
    eddy_array *const *point;
    int64_t            outputs;
    int                n_samples;
    sample             samples[8 * POINTS];
};

double truth_weight(int64_t i) { return 1 + (double)(i % 8) / 4; }

static int exponent(double x) { return x == 0 || !isfinite(x) ? 0 : ilogb(x); }

truths *truths_new(exact_graph *e, int n, eddy_array *const *point, int outputs, bool wide)
{
    truths *t = calloc(1, sizeof *t);
    int     most = 0;
    for (int i = 0; i < n; i++)
        for (int64_t j = 0; j < eddy_array_count(point[i]); j++) {
            const int size = abs(exponent(eddy_array_get(point[i], j)));
            if (size > most) most = size;
        }
    t->graph = e, t->n = n, t->point = point, t->n_outputs = outputs;
    t->bits = (wide ? 1300 : 400) + 3 * (STEP + SMALLER + most);
    return t;
}

void truths_free(truths *t)
{
    for (int s = 0; s < t->n_samples; s++) {
        for (int64_t i = 0; i < t->outputs; i++) mpfr_clear(t->samples[s].y[i]);
        free(t->samples[s].y);
    }
    free(t);
}

/* The exponent of the step along an element: of its size, at most 1; at 0, of the smallest
 * other number. */
static int step_of(const truths *t, element k, int smaller)
{
    double x = fabs(eddy_array_get(t->point[k.input], k.at));
    int    size = 0;
    if (x != 0) size = exponent(x);
    else
        for (int i = 0; i < t->n; i++)
            for (int64_t j = 0; j < eddy_array_count(t->point[i]); j++)
                if (exponent(eddy_array_get(t->point[i], j)) < size)
                    size = exponent(eddy_array_get(t->point[i], j));
    return (size > 0 ? 0 : size) - STEP - smaller;
}

static void move(num x, int times, int side, int step)
{
    const num h = exact_number(times * side);
    mpfr_mul_2si(h, h, step, MPFR_RNDN);
    mpfr_add(x, x, h, MPFR_RNDN);
}

static bool is_element(element a, element b) { return a.input == b.input && a.at == b.at; }

static mpfr_t *weighted_outputs(truths *t)
{
    const num *y[TRUTH_OUTPUTS];
    int64_t    count[TRUTH_OUTPUTS], at = 0;
    t->outputs = 0;
    for (int k = 0; k < t->n_outputs; k++) {
        y[k] = exact_graph_output(t->graph, k, &count[k]);
        t->outputs += count[k];
    }
    mpfr_t *all = malloc(((size_t)t->outputs + 1) * sizeof *all);
    for (int k = 0; k < t->n_outputs; k++)
        for (int64_t i = 0; i < count[k]; i++, at++) {
            mpfr_init2(all[at], (mpfr_prec_t)t->bits);
            mpfr_mul_d(all[at], y[k][i], truth_weight(i + k), MPFR_RNDN);
        }
    return all;
}

static const sample *sample_at(truths *t, sample want)
{
    for (int s = 0; s < t->n_samples; s++) {
        const sample *at = &t->samples[s];
        if (at->side == want.side && at->step == want.step && at->a == want.a &&
            at->b == want.b && (!want.a || is_element(at->k, want.k)) &&
            (!want.b || is_element(at->j, want.j))) return at;
    }
    if (t->n_samples == 8 * POINTS) abort();
    num *x[TRUTH_INPUTS];
    exact_begin(t->bits);
    for (int i = 0; i < t->n; i++) {
        const int64_t count = eddy_array_count(t->point[i]);
        x[i] = malloc(((size_t)count + 1) * sizeof *x[i]);
        for (int64_t j = 0; j < count; j++) x[i][j] = exact_number(eddy_array_get(t->point[i], j));
    }
    if (want.a) move(x[want.k.input][want.k.at], want.a, want.side, step_of(t, want.k, want.step));
    if (want.b) move(x[want.j.input][want.j.at], want.b, want.side, step_of(t, want.j, want.step));
    exact_graph_run(t->graph, (const num *const *)x);
    want.y = weighted_outputs(t);
    for (int i = 0; i < t->n; i++) free(x[i]);
    t->samples[t->n_samples] = want;
    return &t->samples[t->n_samples++];
}

static truth new_truth(const truths *t)
{
    truth y = { .kind = TRUTH_NUMBER };
    mpfr_inits2(t->bits, y.y, y.left, y.scale, y.noise, (mpfr_ptr)NULL);
    mpfr_set_zero(y.y, 1), mpfr_set_zero(y.left, 1);
    mpfr_set_zero(y.scale, 1), mpfr_set_zero(y.noise, 1);
    return y;
}

void truth_free(truth *t) { mpfr_clears(t->y, t->left, t->scale, t->noise, (mpfr_ptr)NULL); }

/* The quotient of differences into t->y, from one side. */
static void differentiate(truths *t, truth *out, int order, element j, element k, int side,
                          int step)
{
    static const int binomial[3][3] = { { 1, 0, 0 }, { -1, 1, 0 }, { 1, -2, 1 } };
    const int  by_k = order > 0 ? order - 1 : 0, by_j = order > 0;
    const bool same = is_element(j, k);
    const sample *at[6] = { NULL };
    double factor[6];
    int    n = 0;
    for (int a = 0; a <= by_k; a++)
        for (int b = 0; b <= by_j; b++) {
            const sample want = { k, j, same ? a + b : a, same ? 0 : b, side, step, NULL };
            at[n] = sample_at(t, want);
            factor[n++] = binomial[by_k][a] * (by_j && !b ? -1 : 1);
        }
    const int shift = by_k * step_of(t, k, step) + by_j * step_of(t, j, step);
    const int odd = side < 0 && (by_k + by_j) % 2;
    mpfr_t sum, term;
    mpfr_inits2(t->bits, sum, term, (mpfr_ptr)NULL);
    mpfr_set_zero(out->y, 1);
    for (int64_t i = 0; i < t->outputs; i++) {
        mpfr_set_zero(sum, 1);
        for (int s = 0; s < n; s++) {
            mpfr_mul_d(term, at[s]->y[i], factor[s], MPFR_RNDN);
            mpfr_add(sum, sum, term, MPFR_RNDN);
            if (mpfr_cmpabs(term, out->noise) > 0) mpfr_abs(out->noise, term, MPFR_RNDN);
        }
        mpfr_mul_2si(sum, sum, -shift, MPFR_RNDN);
        if (odd) mpfr_neg(sum, sum, MPFR_RNDN);
        mpfr_add(out->y, out->y, sum, MPFR_RNDN);
        if (mpfr_cmpabs(sum, out->scale) > 0) mpfr_abs(out->scale, sum, MPFR_RNDN);
    }
    mpfr_mul_2si(out->noise, out->noise, -shift - t->bits + 80, MPFR_RNDN);
    if (order == 0) mpfr_set_zero(out->noise, 1);
    if (mpfr_cmpabs(out->y, out->noise) < 0) mpfr_set_zero(out->y, 1);
    if (!mpfr_number_p(out->y)) out->kind = TRUTH_NONE;
    mpfr_clears(sum, term, (mpfr_ptr)NULL);
}

truth truth_of(truths *t, int order, element j, element k)
{
    truth y = new_truth(t);
    differentiate(t, &y, order, j, k, 1, 0);
    return y;
}

/* To twenty digits. */
static bool is_near(const truth *t, mpfr_t a, mpfr_t b)
{
    mpfr_t d, most;
    mpfr_inits2(64, d, most, (mpfr_ptr)NULL);
    mpfr_sub(d, a, b, MPFR_RNDN);
    mpfr_abs(d, d, MPFR_RNDN);
    mpfr_mul_2si(most, t->scale, -66, MPFR_RNDN);
    mpfr_add(most, most, t->noise, MPFR_RNDN);
    const bool near = mpfr_lessequal_p(d, most) != 0;
    mpfr_clears(d, most, (mpfr_ptr)NULL);
    return near;
}

truth truth_checked(truths *t, int order, element j, element k)
{
    truth y = truth_of(t, order, j, k), finer = new_truth(t), left = new_truth(t);
    if (order > 0) {
        differentiate(t, &finer, order, j, k, 1, SMALLER);
        differentiate(t, &left, order, j, k, -1, 0);
        mpfr_set(y.left, left.y, MPFR_RNDN);
        const bool right_side = y.kind == TRUTH_NUMBER, left_side = left.kind == TRUTH_NUMBER;
        if (right_side && finer.kind == TRUTH_NUMBER && !is_near(&y, y.y, finer.y))
            y.kind = TRUTH_INFINITE;
        else if (right_side && left_side && !is_near(&y, y.y, left.y)) y.kind = TRUTH_KINK;
        else if (!right_side && left_side) {
            truth_free(&y);
            y = new_truth(t);
            differentiate(t, &y, order, j, k, -1, 0);
            mpfr_set(y.left, y.y, MPFR_RNDN);
            differentiate(t, &finer, order, j, k, -1, SMALLER);
            if (!is_near(&y, y.y, finer.y)) y.kind = TRUTH_INFINITE;
        }
    }
    truth_free(&finer);
    truth_free(&left);
    if (order > 1 && y.kind == TRUTH_NUMBER) {           /* none has derivatives at a kink */
        truth below = truth_checked(t, order - 1, j, k);
        if (below.kind == TRUTH_KINK) y.kind = TRUTH_KINK;
        truth_free(&below);
    }
    return y;
}
