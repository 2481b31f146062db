/* matrix_exp.c -- matrix exponential, by scaling and squaring.
 *
 * x is halved s times until its 1-norm is below a limit; there e^x is p(x) / p(-x) with a Pade
 * approximant p; the result is squared s times (Higham 2005). */
#include "ops/arrays/arrays.h"
#include "graph/base/interruptible.h"
#include "graph/base/stop.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/libraries/lapack_blocks.h"
#include "ops/linear/linear.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The coefficients of the approximants, and the norm up to which each is accurate to rounding. */
typedef struct approximant {
    int    degree;
    double limit, b[14];
} approximant;

static const double thirteen[14] = {
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
    10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
};
static const approximant wide[] = {
    { 3, 1.495585217958292e-2, { 120, 60, 12, 1 } },
    { 5, 2.539398330063230e-1, { 30240, 15120, 3360, 420, 30, 1 } },
    { 7, 9.504178996162932e-1, { 17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1 } },
    { 9, 2.097847961257068, { 17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160,
                              110880, 3960, 90, 1 } },
};
static const approximant narrow[] = {
    { 3, 4.258730016922831e-1, { 120, 60, 12, 1 } },
    { 5, 1.880152677804762, { 30240, 15120, 3360, 420, 30, 1 } },
};

/* The approximant for this norm; the last one is for halved matrices. */
static approximant choose(eddy_dtype d, double norm, int *halvings)
{
    const approximant *list = d == EDDY_FLOAT32 ? narrow : wide;
    const int n = d == EDDY_FLOAT32 ? 2 : 4;
    approximant last = { 13, 5.371920351148152, { 0 } };
    *halvings = 0;
    for (int i = 0; i < n; i++)
        if (norm <= list[i].limit) return list[i];
    memcpy(last.b, thirteen, sizeof thirteen);
    if (d == EDDY_FLOAT32)
        last = (approximant){ 7, 3.925724783138660, { 17297280, 8648640, 1995840, 277200, 25200,
                                                      1512, 56, 1 } };
    if (norm > last.limit) *halvings = (int)ceil(log2(fmin(norm, DBL_MAX) / last.limit));
    return last;
}

/* The matrices of a worker. */
enum { X, SQUARE, POWER, EVEN, ODD, OTHER, PARTS };

typedef struct work {
    const eddy_kernel *k;
    eddy_dtype d;
    int64_t    n;
    char      *at[PARTS];
    int32_t   *pivots;
} work;

/* Elements of a matrix between two looks at the stop. */
typedef struct part {
    int64_t at, n;
} part;

/* The next part; false after the last one, or if the run must end. */
static bool next_part(const work *w, part *p)
{
    enum { MOST = 1 << 16 };
    const int64_t count = w->n * w->n;
    p->at += p->n;
    p->n = count - p->at < MOST ? count - p->at : MOST;
    return p->n > 0 && (p->at == 0 || !eddy__stopped(w->k->stop));
}

static void copy(const work *w, const void *x, void *y)
{
    eddy__copy_or_stop(w->k->stop, y, x, (size_t)(w->n * w->n) * eddy_dtype_size(w->d));
}

static bool is_finite(const work *w, const void *x)
{
    const size_t size = eddy_dtype_size(w->d);
    for (part p = { 0 }; next_part(w, &p);)
        if (!eddy__numbers_are_finite(w->d, p.n, (const char *)x + (size_t)p.at * size))
            return false;
    return true;
}

static void fill_nan(const work *w, void *y)
{
    const size_t size = eddy_dtype_size(w->d);
    for (part p = { 0 }; next_part(w, &p);)
        eddy__fill_nan(w->d, p.n, (char *)y + (size_t)p.at * size);
}

/* y = factor times the identity matrix. */
static void fill_diagonal(const work *w, double factor, void *y)
{
    const size_t size = eddy_dtype_size(w->d);
    for (part p = { 0 }; next_part(w, &p);)
        memset((char *)y + (size_t)p.at * size, 0, (size_t)p.n * size);
    for (int64_t i = 0; i < w->n; i++) {
        if (w->d == EDDY_FLOAT32) ((float *)y)[i * (w->n + 1)] = (float)factor;
        else ((double *)y)[i * (w->n + 1)] = factor;
    }
}

/* y += factor x. */
static void add(const work *w, double factor, const void *x, void *y)
{
    for (part p = { 0 }; next_part(w, &p);) {
        if (w->d == EDDY_FLOAT32)
            for (int64_t i = p.at; i < p.at + p.n; i++)
                ((float *)y)[i] += (float)factor * ((const float *)x)[i];
        else
            for (int64_t i = p.at; i < p.at + p.n; i++)
                ((double *)y)[i] += factor * ((const double *)x)[i];
    }
}

static void scale(const work *w, double factor, void *x)
{
    for (part p = { 0 }; next_part(w, &p);) {
        if (w->d == EDDY_FLOAT32)
            for (int64_t i = p.at; i < p.at + p.n; i++) ((float *)x)[i] *= (float)factor;
        else
            for (int64_t i = p.at; i < p.at + p.n; i++) ((double *)x)[i] *= factor;
    }
}

static double largest_column_sum(const work *w, const void *x)
{
    enum { COLUMNS = 64 };      /* at a time, which are next to each other in memory */
    double most = 0;
    for (int64_t j = 0; j < w->n && !eddy__stopped(w->k->stop); j += COLUMNS) {
        const int64_t end = j + COLUMNS < w->n ? j + COLUMNS : w->n;
        double        sums[COLUMNS] = { 0 };
        for (int64_t i = 0; i < w->n; i++)
            for (int64_t c = j; c < end; c++)
                sums[c - j] += fabs(w->d == EDDY_FLOAT32 ? (double)((const float *)x)[i * w->n + c]
                                                         : ((const double *)x)[i * w->n + c]);
        for (int64_t c = j; c < end; c++) most = sums[c - j] > most ? sums[c - j] : most;
    }
    return most;
}

/* EVEN and ODD / x, the sums of the even powers of x with the even and the odd coefficients. */
static void sum_powers(const work *w, const approximant *p)
{
    const int64_t n = w->n;
    char *power = w->at[POWER], *next = w->at[OTHER];
    fill_diagonal(w, p->b[0], w->at[EVEN]);
    fill_diagonal(w, p->b[1], w->at[ODD]);
    eddy__matrix_product(w->k, w->d, n, n, n, w->at[X], w->at[X], w->at[SQUARE]);
    if (eddy__stopped(w->k->stop)) return;
    copy(w, w->at[SQUARE], power);
    for (int i = 2; i < p->degree && !eddy__stopped(w->k->stop); i += 2) {
        if (i > 2) {
            eddy__matrix_product(w->k, w->d, n, n, n, power, w->at[SQUARE], next);
            char *was = power;
            power = next;
            next = was;
        }
        add(w, p->b[i], power, w->at[EVEN]);
        add(w, p->b[i + 1], power, w->at[ODD]);
    }
}

/* (even - x odd) y = even + x odd, with even and x odd from sum_powers. */
static void exponential(const work *w, void *y)
{
    const int64_t n = w->n;
    int halvings;
    const approximant p = choose(w->d, largest_column_sum(w, w->at[X]), &halvings);
    scale(w, ldexp(1, -halvings), w->at[X]);
    sum_powers(w, &p);
    if (eddy__stopped(w->k->stop)) return;
    eddy__matrix_product(w->k, w->d, n, n, n, w->at[X], w->at[ODD], w->at[OTHER]);
    if (eddy__stopped(w->k->stop)) return;
    copy(w, w->at[EVEN], y);
    add(w, 1, w->at[OTHER], y);
    add(w, -1, w->at[OTHER], w->at[EVEN]);
    eddy__blocks_lu(w->k, w->d, n, w->at[EVEN], w->pivots);
    if (eddy__stopped(w->k->stop)) return;
    eddy__blocks_lu_solve(w->k, w->d, false, n, n, w->at[EVEN], w->pivots, y);
    for (int i = 0; i < halvings && !eddy__stopped(w->k->stop); i++) {
        eddy__matrix_product(w->k, w->d, n, n, n, y, y, w->at[OTHER]);
        copy(w, w->at[OTHER], y);
    }
}

static bool exp_one(const eddy_kernel *k, int64_t i, char *scratch)
{
    const eddy_buffer *x = k->in[0];
    work w = { .k = k, .d = x->type.dtype, .n = eddy__rows_of(x->type.shape) };
    const int64_t count = w.n * w.n, size = (int64_t)eddy_dtype_size(w.d);
    void *y = eddy__matrix_of(k->out[0], i);
    for (int j = 0; j < PARTS; j++) w.at[j] = scratch + j * count * size;
    w.pivots = (int32_t *)(void *)(scratch + PARTS * count * size);
    if (!is_finite(&w, eddy__matrix_of(x, i))) {
        fill_nan(&w, y);
        return true;
    }
    copy(&w, eddy__matrix_of(x, i), w.at[X]);
    exponential(&w, y);
    return true;
}

static eddy_status exp_prepare(eddy_kernel *k)
{
    const int64_t n = eddy__rows_of(k->in[0]->type.shape);
    const int64_t size = (int64_t)eddy_dtype_size(k->in[0]->type.dtype);
    eddy__matrix_scratch(k, PARTS * n * n * size + n * (int64_t)sizeof(int32_t));
    return EDDY_OK;
}

/* Six products and a solution, as for a norm below 2; the number of squarings depends on x. */
static double exp_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return 14 * (double)eddy_shape_count(in->shape) * (double)eddy__rows_of(in->shape);
}

static eddy_status exp_kernel(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    const double     n = (double)eddy__rows_of(x);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__each_matrix(k, eddy__matrices_of(x), 14 * n * n * n, exp_one);
    return EDDY_OK;
}

/* The upper right quarter of the exponential of [[x', dy], [0, x']]. */
static void exp_gradient(eddy_rule *r)
{
    const eddy_tensor x = eddy_matrix_transpose(r->x[0]), dy = r->dy[0];
    const eddy_tensor upper = eddy_concat(EDDY_LIST(x, dy), -1);
    const eddy_tensor lower = eddy_concat(EDDY_LIST(ZerosLike(x), x), -1);
    const eddy_tensor all = eddy_apply1(r->node->op, NULL,
                                        eddy_concat(EDDY_LIST(upper, lower), -2));
    const eddy_tensor rows = eddy_split_like(all, EDDY_LIST(upper, lower), -2);
    r->dx[0] = eddy_output(eddy_split_like(rows, EDDY_LIST(x, dy), -1), 1);
}

const eddy_op_def eddy_op_matrix_exp = {
    .name = "MatrixExponential", .label = "matrix_exponential", .min_inputs = 1, .max_inputs = 1,
    .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS | EDDY_RANK_FROM(2) }),
    .flags = EDDY_OP_LAPACK, .infer = eddy__infer_square_as_is, .prepare = exp_prepare,
    .kernel = exp_kernel,
    .gradient = exp_gradient, .batch = eddy_batch_as_is, .flops = exp_flops,
};

/** y = 1 + x + x x / 2 + x x x / 6 + ..., the exponential of each matrix of x.
 *
 *  x  float32 or float64, [...,n,n]
 *
 *  Computed by scaling, a Pade approximant and squaring (Higham 2005).  NaN for a matrix with a
 *  non-finite element.
 *  Errors: EDDY_BAD_SHAPE for non-square matrices.
 *  Gradient: dx = the upper right quarter of the exponential of [[x', dy], [0, x']].
 *  TensorFlow: tf.linalg.expm. */
eddy_tensor eddy_matrix_exp(eddy_tensor x) { return eddy_apply1(&eddy_op_matrix_exp, NULL, x); }
