/* exact_linear.c -- see exact_matrices.h: the operations of linear algebra, matrix by matrix. Where
 * a sign is arbitrary, it is that of the operation at the point. */
#include "tests/hunt/exact_matrices.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --------------------------------------------------------------- matrices -- */

static eddy_shape leading(eddy_shape s, int less)
{
    s.rank -= less;
    return s;
}

static int rows_of(eddy_shape s) { return (int)s.dim[s.rank - 2]; }
static int columns_of(eddy_shape s) { return (int)s.dim[s.rank - 1]; }

/* The matrix of an operand that belongs to matrix i of a result with these leading dimensions. */
static exact_matrix matrix_of(const exact_operand *o, eddy_shape batch, int64_t i)
{
    exact_matrix  y = { .m = rows_of(o->shape), .n = columns_of(o->shape) };
    const int64_t at = exact_broadcast_from(batch, leading(o->shape, 2), i);
    for (int j = 0; j < y.m * y.n; j++) y.x[j] = exact_element(o, at * y.m * y.n + j);
    return y;
}

static void store(exact_node *n, int output, int64_t i, const exact_matrix *x)
{
    const int count = x->m * x->n;
    if (n->count[output] < (i + 1) * count) return;          /* an output that is left empty */
    memcpy(n->y[output] + i * count, x->x, (size_t)count * sizeof *x->x);
}

/* Element j of the `count` ones of part i of an output at the point. */
static double at_point(const exact_node *n, int output, int64_t i, int count, int j)
{
    return eddy_array_get(n->base[output], i * count + j);
}

static exact_matrix lower(exact_matrix a)
{
    for (int i = 0; i < a.m; i++)
        for (int j = i + 1; j < a.n; j++) AT(a, i, j) = AT(a, j, i);
    return a;
}

/* Negates columns of a, and of b, that point away from those of the output at the point. */
static void align(const exact_node *n, int output, int64_t i, exact_matrix *a, exact_matrix *b)
{
    for (int j = 0; j < a->n; j++) {
        double product = 0;
        for (int row = 0; row < a->m; row++)
            product += mpfr_get_d(AT(*a, row, j), MPFR_RNDN) *
                       at_point(n, output, i, a->m * a->n, row * a->n + j);
        if (!(product < 0)) continue;
        for (int row = 0; row < a->m; row++) mpfr_neg(AT(*a, row, j), AT(*a, row, j), MPFR_RNDN);
        for (int row = 0; b && row < b->m; row++)
            mpfr_neg(AT(*b, row, j), AT(*b, row, j), MPFR_RNDN);
    }
}

/* ------------------------------------------------------------- operations -- */

/* Matrix i of an operation whose result has these leading dimensions. */
typedef struct piece {
    exact_node          *n;
    const exact_operand *in;
    eddy_shape           batch;
    int64_t              i;
} piece;
static exact_matrix input(const piece *p, int k) { return matrix_of(&p->in[k], p->batch, p->i); }
static void yield(const piece *p, exact_matrix y) { store(p->n, 0, p->i, &y); }
static bool option(const piece *p, const char *name)
{
    return exact_attribute(p->n->node, name) != 0;
}

static void one_inverse(const piece *p)
{
    const exact_matrix a = input(p, 0);
    yield(p, exact_solution(a, exact_identity(a.n)));
}
static void one_solve(const piece *p)
{
    const exact_matrix a = input(p, 0);
    yield(p, exact_solution(option(p, "adjoint") ? exact_transposed(a) : a, input(p, 1)));
}
static void one_triangular(const piece *p)
{
    exact_matrix a = input(p, 0);
    const bool   upper = option(p, "upper");
    for (int i = 0; i < a.m; i++)
        for (int j = 0; j < a.n; j++)
            if (upper ? j < i : j > i) AT(a, i, j) = exact_number(0);
    yield(p, exact_solution(option(p, "adjoint") ? exact_transposed(a) : a, input(p, 1)));
}
static void one_tridiagonal(const piece *p)
{
    const exact_matrix d = input(p, 0);
    exact_matrix       a = exact_zeros(d.n, d.n);
    for (int i = 0; i < d.n; i++) {
        AT(a, i, i) = AT(d, 1, i);
        if (i + 1 < d.n) AT(a, i, i + 1) = AT(d, 0, i), AT(a, i + 1, i) = AT(d, 2, i + 1);
    }
    yield(p, exact_solution(a, input(p, 1)));
}
static void one_determinant(const piece *p)
{
    p->n->y[0][p->i] = exact_determinant(input(p, 0));
}
static void one_cofactors(const piece *p)
{
    const num w = exact_element(&p->in[1], p->i);
    yield(p, exact_scaled(w, exact_cofactors(input(p, 0))));
}
static void one_log_determinant(const piece *p)
{
    const num det = exact_determinant(input(p, 0));
    p->n->y[0][p->i] = exact_number(mpfr_sgn(det));
    const num size = exact_number(0);
    mpfr_abs(size, det, MPFR_RNDN);
    p->n->y[1][p->i] = exact_log(size);
}
/* Of the symmetric part: the gradient is symmetric, as in TensorFlow. */
static void one_cholesky(const piece *p)
{
    const exact_matrix a = input(p, 0);
    yield(p, exact_cholesky(exact_scaled(exact_number(0.5), exact_plus(a, exact_transposed(a)))));
}
static void one_lu(const piece *p)
{
    int                rows[EXACT_ELEMENTS];
    const exact_matrix a = input(p, 0);
    exact_matrix       y = a;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.n; j++)
            AT(y, i, j) = AT(a, (int)at_point(p->n, 1, p->i, a.n, i), j);
    exact_lu(&y, false, rows);
    yield(p, y);
}
static void one_qr(const piece *p)
{
    exact_matrix q, r;
    exact_qr(input(p, 0), &q, &r);
    exact_matrix turned = exact_transposed(r);
    align(p->n, 0, p->i, &q, &turned);
    r = exact_transposed(turned);
    store(p->n, 0, p->i, &q), store(p->n, 1, p->i, &r);
}
static void one_singular(const piece *p)
{
    exact_matrix u, s, v;
    exact_singular(input(p, 0), &u, &s, &v);
    const bool vectors = p->n->count[1] > 0;
    if (vectors) align(p->n, 1, p->i, &u, &v);
    store(p->n, 0, p->i, &s);
    if (vectors) store(p->n, 1, p->i, &u), store(p->n, 2, p->i, &v);
}
static void one_eigen(const piece *p)
{
    exact_matrix values, vectors;
    exact_eigen(lower(input(p, 0)), &values, &vectors);
    const bool wanted = p->n->count[1] > 0;
    if (wanted) align(p->n, 1, p->i, &vectors, NULL);
    store(p->n, 0, p->i, &values);
    if (wanted) store(p->n, 1, p->i, &vectors);
}
static void one_exponential(const piece *p) { yield(p, exact_exponential(input(p, 0))); }
static void one_root(const piece *p) { yield(p, exact_root(input(p, 0))); }
static void one_pseudo_inverse(const piece *p)
{
    const exact_matrix a = input(p, 0);
    const double given = exact_attribute(p->n->node, "rcond");
    const double epsilon =
        p->n->node->outputs[0].dtype == EDDY_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const bool   omitted = given == 0 && !signbit(given);
    yield(p, exact_pseudo_inverse(a, omitted ? 10 * (a.m > a.n ? a.m : a.n) * epsilon : given));
}
static void one_sylvester(const piece *p)
{
    yield(p, exact_sylvester(input(p, 0), input(p, 1), input(p, 2)));
}

/* The dimensions of output 0 after the leading ones; `batch` are those of the result. */
typedef struct kind {
    const char *op;
    void      (*one)(const piece *p);
    int         less;
} kind;
static const kind kinds[] = {
    { "MatrixInverse", one_inverse, 2 }, { "MatrixSolve", one_solve, 2 },
    { "MatrixTriangularSolve", one_triangular, 2 }, { "TridiagonalSolve", one_tridiagonal, 2 },
    { "MatrixDeterminant", one_determinant, 0 }, { "MatrixDeterminantGrad", one_cofactors, 2 },
    { "LogMatrixDeterminant", one_log_determinant, 0 }, { "Cholesky", one_cholesky, 2 },
    { "Lu", one_lu, 2 }, { "Qr", one_qr, 2 }, { "Svd", one_singular, 1 },
    { "SelfAdjointEigV2", one_eigen, 1 }, { "MatrixExponential", one_exponential, 2 },
    { "MatrixSquareRoot", one_root, 2 }, { "MatrixPseudoInverse", one_pseudo_inverse, 2 },
    { "Sylvester", one_sylvester, 2 },
};

static const kind *kind_of(const char *op)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].op, op) == 0) return &kinds[i];
    return NULL;
}

static void run_matrices(exact_node *n, const exact_operand *in)
{
    const kind *k = kind_of(n->node->op->name);
    piece       p = { n, in, leading(n->shape[0], k->less), 0 };
    int64_t     count = 1;
    for (int d = 0; d < p.batch.rank; d++) count *= p.batch.dim[d];
    for (; p.i < count; p.i++) k->one(&p);
}

exact_run *exact_matrix_run(const char *op) { return kind_of(op) ? run_matrices : NULL; }
