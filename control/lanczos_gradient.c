/* lanczos_gradient.c -- the gradient of eigenpairs.
 *
 * With e and v of A v = e v, de = v'dA v and dv = (e - A)^+ dA v. So with weights w[i] = de[i] v[i]
 * + (e[i] - A)^+ dv[i], where de and dv are now gradients, dtheta is the sum of (d(A v[i])/dtheta)'
 * w[i]. The part of dv[i] along another eigenvector v[j] that is known has the factor 1 / (e[i] -
 * e[j]). For the rest, which is orthogonal to all of them, e[i] - A is definite, since all other
 * eigenvalues are on one side: conjugate gradients solve for it, with gradients of their own. */
#include "control/lanczos.h"
#include "control/trace_functions.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <string.h>

void eddy__lanczos_parted(eddy_tensor vectors, int64_t k, int n, const eddy_tensor *like,
                          eddy_tensor *y)
{
    int64_t at = 0;
    for (int t = 0; t < n; t++) {
        eddy_shape    s = eddy_shape_of(like[t]);
        const int64_t count = eddy_shape_count(s);
        memmove(s.dim + 1, s.dim, (size_t)s.rank * sizeof *s.dim);
        s.dim[0] = k;
        s.rank++;
        y[t] = eddy_reshape(eddy_slice(vectors, EDDY_DIMS(0, at), EDDY_DIMS(k, count)), s);
        at += count;
    }
}

static eddy_tensor as_rows(int64_t k, int n, const eddy_tensor *x)
{
    eddy_tensor flat[EDDY_MAX_RESULTS];
    for (int t = 0; t < n; t++) flat[t] = eddy_reshape(x[t], EDDY_SHAPE(k, EDDY_ANY));
    return n == 1 ? flat[0] : eddy_concat(((eddy_list){ n, flat }), 1);
}

typedef struct pairs {
    linear_operator a;
    linearized     *l;
    eddy_tensor     vectors, e, size;   /* of all pairs; of the one in question; of e - A there */
    double          sign, tolerance;
    int64_t         k, iterations;
} pairs;

/* The part of x that is orthogonal to all vectors. */
static eddy_tensor rest_of(const pairs *p, eddy_tensor x)
{
    const eddy_tensor along = eddy_matvec(p->vectors, x);
    return Sub(x, eddy_matvec(p->vectors, along, .transpose_a = true));
}

/* |e - A| on the complement of the vectors, of which x is. */
static eddy_tensor on_complement(const pairs *p, eddy_tensor x)
{
    const eddy_tensor image = rest_of(p, eddy__operator_product(&p->a, x));
    return Mul(p->sign, Sub(Mul(p->e, x), image));
}

/* The same, and a number between its eigenvalues on the vectors. */
static int apply_rest(eddy_list x, eddy_tensor *y, void *context)
{
    const pairs      *p = context;
    const eddy_tensor rest = rest_of(p, x.at[0]);
    y[0] = Add(on_complement(p, rest), Mul(p->size, Sub(x.at[0], rest)));
    return 1;
}

/* Since |e - A| u = b, b'u / u'u is between the eigenvalues of |e - A|. If it is only rounding, e
 * has vectors that are not among the pairs, and u is rounding too. */
static void ensure_gap(const pairs *p, eddy_tensor largest, eddy_tensor b, eddy_tensor *u)
{
    const double      rounding = eddy_dtype_of(b) == EDDY_FLOAT32 ? 1e-5 : 1e-13;
    const eddy_tensor length = eddy__vector_length(*u);
    const eddy_tensor gap = eddy_dot(b, DivNoNan(*u, length));
    const eddy_tensor least = Mul(rounding, Mul(Add(largest, p->size), length));
    eddy__solver_ensure(1, u, GreaterEqual(gap, least),
                        "lanczos: not all eigenvectors of an eigenvalue are among the k; the "
                        "gradient of those that are is not defined");
}

/* (e - A)^+ of the rest of a row of dv; the arguments are e and the row. */
static int solve_rest(eddy_list x, eddy_tensor *y, void *context)
{
    pairs               p = *(const pairs *)context;
    const eddy_function f = { .build = apply_rest, .context = &p };
    const eddy_tensor   b = rest_of(&p, x.at[1]), largest = Max(Abs(p.e));
    p.e = x.at[0];
    const eddy_tensor direction = DivNoNan(b, eddy__vector_length(b));
    const eddy_tensor size = eddy_dot(direction, on_complement(&p, direction));
    p.size = eddy_stop_gradient(Where(Greater(size, 0), size, 1));
    if (eddy_conjugate_gradient(f, EDDY_LIST(b), y, .tolerance = p.tolerance,
                                .maximum_iterations = p.iterations) == 0)
        return 0;
    ensure_gap(&p, largest, b, y);
    y[0] = Mul(p.sign, y[0]);
    return 1;
}

/* A v of the closure with its own copies of the captured tensors; the argument is v. */
static int apply_again(eddy_list v, eddy_tensor *y, void *context)
{
    const pairs *p = context;
    eddy_tensor  x[EDDY_MAX_RESULTS], image[EDDY_MAX_RESULTS];
    eddy__solver_parted(v.at[0], p->a.n, p->a.like, x);
    if (!eddy__closure_build(&p->a.c, x, p->l->captured, image)) return 0;
    y[0] = eddy__solver_joined(p->a.n, image);
    return 1;
}

/* The weights w [k, n]. */
static eddy_tensor weights(pairs *p, eddy_tensor e, eddy_tensor de, eddy_tensor dv)
{
    const eddy_tensor   inner = eddy_matmul(dv, p->vectors, .transpose_b = true);
    const eddy_tensor   gap = Sub(ExpandDims(e, 1), ExpandDims(e, 0));
    const eddy_tensor   known = eddy_matmul(DivNoNan(inner, gap), p->vectors);
    const eddy_function f = { .build = solve_rest, .context = p };
    eddy_tensor         rest = eddy_none(e.graph);
    if (eddy_vmap(f, EDDY_LIST(e, dv), &rest, .name = "rest") == 0) return rest;
    return Add(Add(Mul(ExpandDims(de, 1), p->vectors), known), rest);
}

void eddy__lanczos_rule(eddy_rule *r)
{
    const int   n = r->n_out - 1;
    closure     c;
    linearized  l;
    eddy_tensor image = eddy_none(r->graph);
    if (!eddy__closure_of(&c, r, n)) return;
    const int64_t k = eddy_shape_count(eddy_shape_of(r->y[0]));
    if (eddy__linearize(&l, &c, r->x)) {
        pairs p = { .a = { .c = c, .n = n, .like = r->x }, .l = &l, .k = k,
                    .vectors = as_rows(k, n, r->y + 1), .e = r->y[0],
                    .tolerance = c.options[LANCZOS_TOLERANCE],
                    .sign = c.options[LANCZOS_SMALLEST] != 0 ? -1 : 1 };
        for (int t = 0; t < n; t++)
            p.iterations += 1000 + 10 * eddy_shape_count(eddy_shape_of(r->x[t]));
        const eddy_tensor   w = weights(&p, r->y[0], r->dy[0], as_rows(k, n, r->dy + 1));
        const eddy_function f = { .build = apply_again, .context = &p };
        if (eddy_vmap(f, EDDY_LIST(p.vectors), &image, .name = "image") > 0 && c.n_captured > 0)
            eddy_gradients(EDDY_LIST(image), ((eddy_list){ c.n_captured, l.captured }), r->dx + n,
                           .grad_ys = EDDY_LIST(w));
    }
    eddy__linearized_end(&l);
}
