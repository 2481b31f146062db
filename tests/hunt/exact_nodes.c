/* exact_nodes.c -- see exact_graph.h: elementwise, linear and selecting operations, and which kind
 * each operation is. */
#include "tests/hunt/exact_nodes.h"
#include "tests/hunt/exact_groups.h"

#include <stdlib.h>
#include <string.h>

num exact_element(const exact_operand *o, int64_t i)
{
    return o->x ? o->x[i] : exact_number(eddy_array_get(o->base, i));
}

static bool is_float(eddy_dtype d) { return eddy_dtype_is_floating(d); }

/* ------------------------------------------------------------ elementwise -- */

/* The element of an operand that element i of the result is made of. */
static int64_t broadcast_from(eddy_shape out, eddy_shape in, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int d = 0; d < out.rank; d++) {
        const int     k = out.rank - 1 - d, m = in.rank - 1 - d;
        const int64_t place = i % out.dim[k];
        i /= out.dim[k];
        if (m < 0) continue;
        if (in.dim[m] != 1) at += place * stride;
        stride *= in.dim[m];
    }
    return at;
}

static void run_elements(exact_node *n, const exact_operand *in)
{
    num       x[EXACT_INPUTS];
    const int inputs = n->node->n_inputs;
    for (int64_t i = 0; i < n->count[0]; i++) {
        for (int k = 0; k < inputs; k++)
            x[k] = exact_element(&in[k], broadcast_from(n->shape[0], in[k].shape, i));
        n->y[0][i] = n->fn(n->node, inputs, x);
    }
}

/* An operation whose output 0 has the elements of input 0. */
static void run_copy(exact_node *n, const exact_operand *in)
{
    for (int k = 0; k < n->node->n_outputs; k++)
        for (int64_t i = 0; i < n->count[k]; i++) n->y[k][i] = exact_element(&in[k], i);
}

static void run_where(exact_node *n, const exact_operand *in)
{
    for (int64_t i = 0; i < n->count[0]; i++) {
        const int64_t c = broadcast_from(n->shape[0], in[0].shape, i);
        const exact_operand *from = &in[eddy_array_get(in[0].base, c) != 0 ? 1 : 2];
        n->y[0][i] = exact_element(from, broadcast_from(n->shape[0], from->shape, i));
    }
}

/* ----------------------------------------------------------------- linear -- */

typedef struct term {
    int     input[2], output;     /* input[1] is -1 if linear */
    int64_t at[2], to;
    double  factor;
} term;

typedef struct matrix {
    int   n, room;
    term *terms;
} matrix;

static void fill_zeros(exact_node *n)
{
    for (int i = 0; i < n->probe.n_inputs; i++) {
        eddy_array *a = n->probe.arrays[i];
        for (int64_t j = 0; a && j < eddy_array_count(a); j++) eddy_array_set(a, j, 0);
    }
}

/* Adds the outputs of a run as terms, less those of the run at 0. */
static void add_terms(exact_node *n, matrix *m, term t, eddy_array *const *zero)
{
    eddy_array *out[EXACT_OUTPUTS] = { NULL };
    exact_probe_run(n, out);
    for (t.output = 0; t.output < n->node->n_outputs; t.output++) {
        if (!is_float(eddy_array_dtype(out[t.output]))) continue;
        for (t.to = 0; t.to < eddy_array_count(out[t.output]); t.to++) {
            const double base = zero ? eddy_array_get(zero[t.output], t.to) : 0;
            const double v = eddy_array_get(out[t.output], t.to);
            t.factor = v - base;
            if (v == base) continue;
            if (m->n == m->room) {
                m->room = 2 * m->room + 64;
                m->terms = realloc(m->terms, (size_t)m->room * sizeof *m->terms);
            }
            m->terms[m->n++] = t;
        }
    }
    for (int k = 0; k < n->node->n_outputs; k++) eddy_array_free(out[k]);
}

static int changing(const exact_node *n)
{
    int count = 0;
    for (int i = 0; i < n->probe.n_inputs; i++) count += n->probe.arrays[i] != NULL;
    return count;
}

static void find_linear(exact_node *n, matrix *m)
{
    eddy_array *zero[EXACT_OUTPUTS] = { NULL };
    fill_zeros(n);
    exact_probe_run(n, zero);
    add_terms(n, m, (term){ .input = { -1, -1 } }, NULL);
    for (int i = 0; i < n->probe.n_inputs; i++) {
        eddy_array *a = n->probe.arrays[i];
        for (int64_t j = 0; a && j < eddy_array_count(a); j++) {
            eddy_array_set(a, j, 1);
            add_terms(n, m, (term){ .input = { i, -1 }, .at = { j, 0 } }, zero);
            eddy_array_set(a, j, 0);
        }
    }
    for (int k = 0; k < n->node->n_outputs; k++) eddy_array_free(zero[k]);
}

/* Of the first two inputs. */
static void find_bilinear(exact_node *n, matrix *m)
{
    eddy_array *a = n->probe.arrays[0], *b = n->probe.arrays[1];
    fill_zeros(n);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        for (int64_t j = 0; j < eddy_array_count(b); j++) {
            eddy_array_set(a, i, 1), eddy_array_set(b, j, 1);
            add_terms(n, m, (term){ .input = { 0, 1 }, .at = { i, j } }, NULL);
            eddy_array_set(a, i, 0), eddy_array_set(b, j, 0);
        }
}

/* The number of terms is kept before them. */
static void keep_matrix(exact_node *n, const matrix *m)
{
    n->probe.matrix = malloc(sizeof(matrix) + 1);
    memcpy(n->probe.matrix, m, sizeof *m);
}

static void run_matrix(exact_node *n, const exact_operand *in, bool products)
{
    if (exact_probe_begin(n, in)) {
        matrix m = { 0 };
        if (products && changing(n) == 2) find_bilinear(n, &m);
        else find_linear(n, &m);
        keep_matrix(n, &m);
    }
    const matrix *m = (const matrix *)(const void *)n->probe.matrix;
    for (int k = 0; k < n->node->n_outputs; k++)
        for (int64_t i = 0; is_float(n->node->outputs[k].dtype) && i < n->count[k]; i++)
            n->y[k][i] = exact_number(0);
    for (int i = 0; i < m->n; i++) {
        const term *t = &m->terms[i];
        num v = exact_number(t->factor);
        for (int k = 0; k < 2 && t->input[k] >= 0; k++) {
            const num x = exact_element(&in[t->input[k]], t->at[k]);
            v = t->factor == 1 && k == 0 ? x : exact_mul(v, x);
        }
        num *to = &n->y[t->output][t->to];
        *to = mpfr_zero_p(*to) ? v : exact_add(*to, v);
    }
}

static void run_linear(exact_node *n, const exact_operand *in) { run_matrix(n, in, false); }
static void run_bilinear(exact_node *n, const exact_operand *in) { run_matrix(n, in, true); }

/* -------------------------------------------------------------- selection -- */

/* Of what the elements of all inputs that change are sorted by. */
static void run_ranked(exact_node *n, const exact_operand *in)
{
    eddy_array *out[EXACT_OUTPUTS] = { NULL };
    const exact_operand *x = &in[0];
    exact_probe_begin(n, in);
    for (int64_t i = 0; i < x->count; i++) {
        int64_t rank = 1;
        for (int64_t j = 0; j < x->count; j++) rank += mpfr_less_p(x->x[j], x->x[i]) != 0;
        eddy_array_set(n->probe.arrays[0], i, (double)rank);
    }
    exact_probe_run(n, out);
    for (int k = 0; k < n->node->n_outputs; k++) {
        for (int64_t i = 0; is_float(eddy_array_dtype(out[k])) && i < n->count[k]; i++) {
            const double rank = eddy_array_get(out[k], i);
            n->y[k][i] = exact_number(rank);
            for (int64_t j = 0; j < x->count; j++)
                if (eddy_array_get(n->probe.arrays[0], j) == rank) n->y[k][i] = x->x[j];
        }
        eddy_array_free(out[k]);
    }
}

/* ------------------------------------------------------------------ kinds -- */

static bool is_in(const char *name, const char *list)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

static const char *const linear =
    "Sum Mean Cumsum BiasAdd AvgPool AvgPool3D SumLike MeanLike BroadcastLike BroadcastAlong "
    "BroadcastTo ReshapeLike ReshapeTo Fill ExtractImagePatches MatrixDiagPartV3 MatrixDiagV3 "
    "MatrixBandPart MatrixTranspose Shift SegmentSum UnsortedSegmentSum";
static const char *const bilinear =
    "MatMul BatchMatMulV2 Conv2D DepthwiseConv2dNative Cross";
static const char *const ranked =
    "Max Min MaxPool MaxPool3D MaxPoolWithArgmax Sort TopKV2 Cummax Cummin SegmentMax "
    "UnsortedSegmentMax";

bool exact_node_begin(exact_node *n)
{
    const char *op = n->node->op->name;
    n->fn = exact_function(op);
    if (n->fn) n->run = run_elements;
    else if (is_in(op, "SelectV2")) n->run = run_where;
    else if (is_in(op, "IdentityN GradPassThrough Ensure")) n->run = run_copy;
    else if (is_in(op, bilinear)) n->run = run_bilinear;
    else if (is_in(op, ranked)) n->run = run_ranked;
    else if ((n->run = exact_group_run(op)) != NULL) return true;
    else if (is_in(op, linear) || n->node->op->flags & (EDDY_OP_MOVES | EDDY_OP_JOINS))
        n->run = run_linear;
    return n->run != NULL && n->node->n_inputs <= EXACT_INPUTS;
}

void exact_node_end(exact_node *n)
{
    matrix *m = (matrix *)(void *)n->probe.matrix;
    if (m && (n->run == run_linear || n->run == run_bilinear)) free(m->terms);
    exact_probe_end(n);
    for (int k = 0; k < EXACT_OUTPUTS; k++) free(n->y[k]);
}

void exact_node_run(exact_node *n, const exact_operand *in) { n->run(n, in); }
