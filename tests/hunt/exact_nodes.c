/* exact_nodes.c -- see exact_graph.h: elementwise, linear and selecting operations, and which kind
 * each operation is. */
#include "tests/hunt/exact_nodes.h"
#include "tests/hunt/exact_groups.h"
#include "tests/hunt/exact_matrices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

num exact_element(const exact_operand *o, int64_t i)
{
    return o->x ? o->x[i] : exact_number(exact_array_number(o->base, i));
}

static bool is_number(eddy_dtype d) { return eddy_dtype_is_differentiable(d); }

double exact_attribute(const eddy_node *node, const char *name)
{
    for (const eddy_attr_field *f = node->op->attrs; f && f->name; f++)
        if (strcmp(f->name, name) == 0) {
            const char *at = (const char *)node->attrs + f->offset;
            if (f->kind == EDDY_ATTR_FLOAT) return *(const double *)(const void *)at;
            if (f->kind == EDDY_ATTR_INT) return (double)*(const int64_t *)(const void *)at;
            if (f->kind == EDDY_ATTR_BOOL) return *(const bool *)(const void *)at;
        }
    return 0;
}

/* ------------------------------------------------------------ elementwise -- */

int64_t exact_broadcast_from(eddy_shape out, eddy_shape in, int64_t i)
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
            x[k] = exact_element(&in[k], exact_broadcast_from(n->shape[0], in[k].shape, i));
        n->y[0][i] = n->special ? exact_remembered(n->fn, n->node, inputs, x)
                                : n->fn(n->node, inputs, x);
    }
}

static void run_complex_elements(exact_node *n, const exact_operand *in)
{
    complex_num x[EXACT_INPUTS];
    const int   inputs = n->node->n_inputs;
    for (int64_t i = 0; i < n->count[0]; i++) {
        for (int k = 0; k < inputs; k++) {
            const int64_t at = exact_broadcast_from(n->shape[0], in[k].shape, i) * in[k].parts;
            x[k].re = exact_element(&in[k], at);
            x[k].im = in[k].parts == 2 ? exact_element(&in[k], at + 1) : exact_number(0);
        }
        const complex_num y = n->complex_fn(inputs, x);
        n->y[0][i * n->parts[0]] = y.re;
        if (n->parts[0] == 2) n->y[0][2 * i + 1] = y.im;
    }
}

/* An operation whose output 0 has the elements of input 0. */
static void run_copy(exact_node *n, const exact_operand *in)
{
    for (int k = 0; k < n->node->n_outputs; k++)
        for (int64_t i = 0; i < n->count[k] * n->parts[k]; i++)
            n->y[k][i] = exact_element(&in[k], i);
}

static void run_where(exact_node *n, const exact_operand *in)
{
    const int parts = n->parts[0];
    for (int64_t i = 0; i < n->count[0] * parts; i++) {
        const int64_t c = exact_broadcast_from(n->shape[0], in[0].shape, i / parts);
        const exact_operand *from = &in[eddy_array_get(in[0].base, c) != 0 ? 1 : 2];
        const int64_t at = exact_broadcast_from(n->shape[0], from->shape, i / parts);
        n->y[0][i] = exact_element(from, at * parts + i % parts);
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
        for (int64_t j = 0; a && j < exact_array_numbers(a); j++) exact_array_set(a, j, 0);
    }
}

/* Adds the outputs of a run as terms, less those of the run at 0. */
static void add_terms(exact_node *n, matrix *m, term t, eddy_array *const *zero)
{
    eddy_array *out[EXACT_OUTPUTS] = { NULL };
    exact_probe_run(n, out);
    for (t.output = 0; t.output < n->node->n_outputs; t.output++) {
        if (!is_number(eddy_array_dtype(out[t.output]))) continue;
        for (t.to = 0; t.to < exact_array_numbers(out[t.output]); t.to++) {
            const double base = zero ? exact_array_number(zero[t.output], t.to) : 0;
            const double v = exact_array_number(out[t.output], t.to);
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

/* How many inputs change elements, and the first two of them. */
static int changing(const exact_node *n, int *which)
{
    int count = 0;
    for (int i = 0; i < n->probe.n_inputs; i++) {
        const bool of_shape = i < 31 && n->node->op->shape_inputs >> i & 1;
        if (!n->probe.arrays[i] || of_shape) continue;
        if (count < 2) which[count] = i;
        count++;
    }
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
        for (int64_t j = 0; a && j < exact_array_numbers(a); j++) {
            exact_array_set(a, j, 1);
            add_terms(n, m, (term){ .input = { i, -1 }, .at = { j, 0 } }, zero);
            exact_array_set(a, j, 0);
        }
    }
    for (int k = 0; k < n->node->n_outputs; k++) eddy_array_free(zero[k]);
}

static void find_bilinear(exact_node *n, const int *which, matrix *m)
{
    eddy_array *a = n->probe.arrays[which[0]], *b = n->probe.arrays[which[1]];
    fill_zeros(n);
    for (int64_t i = 0; i < exact_array_numbers(a); i++)
        for (int64_t j = 0; j < exact_array_numbers(b); j++) {
            exact_array_set(a, i, 1), exact_array_set(b, j, 1);
            add_terms(n, m, (term){ .input = { which[0], which[1] }, .at = { i, j } }, NULL);
            exact_array_set(a, i, 0), exact_array_set(b, j, 0);
        }
}

/* Stops unless the matrix gives the results of the operation at other numbers. */
static void check_matrix(exact_node *n, const matrix *m)
{
    eddy_array *out[EXACT_OUTPUTS] = { NULL };
    for (int i = 0; i < n->probe.n_inputs; i++) {
        eddy_array *a = n->probe.arrays[i];
        for (int64_t j = 0; a && j < exact_array_numbers(a); j++)
            exact_array_set(a, j, 1 + (double)((7 * j + 3 * i) % 11) / 4);
    }
    exact_probe_run(n, out);
    for (int i = 0; i < m->n; i++) {
        const term *t = &m->terms[i];
        double v = t->factor;
        for (int k = 0; k < 2 && t->input[k] >= 0; k++)
            v *= exact_array_number(n->probe.arrays[t->input[k]], t->at[k]);
        const double had = exact_array_number(out[t->output], t->to);
        exact_array_set(out[t->output], t->to, had == v ? 0 : had - v);     /* infinities, too */
    }
    for (int k = 0; k < n->node->n_outputs; k++) {
        for (int64_t i = 0; is_number(eddy_array_dtype(out[k])) && i < exact_array_numbers(out[k]);
             i++) {
            if (fabs(exact_array_number(out[k], i)) < 1e-9) continue;
            fprintf(stderr, "%s is not linear\n", n->node->op->name);
            exit(2);
        }
        eddy_array_free(out[k]);
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
        int    which[2];
        if (products && changing(n, which) == 2) find_bilinear(n, which, &m);
        else find_linear(n, &m);
        check_matrix(n, &m);
        keep_matrix(n, &m);
    }
    const matrix *m = (const matrix *)(const void *)n->probe.matrix;
    for (int k = 0; k < n->node->n_outputs; k++)
        for (int64_t i = 0; is_number(n->node->outputs[k].dtype) &&
                            i < n->count[k] * n->parts[k]; i++)
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

enum { RANKED = 512 };

/* The elements of all inputs that change, sorted, have the numbers 1, 2, ...; equal ones have the
 * same. */
static void run_ranked(exact_node *n, const exact_operand *in)
{
    eddy_array *out[EXACT_OUTPUTS] = { NULL };
    num         all[RANKED];
    double      ranks[RANKED];
    int64_t     count = 0;
    exact_probe_begin(n, in);
    for (int k = 0; k < n->probe.n_inputs; k++)
        for (int64_t i = 0; n->probe.arrays[k] && i < in[k].count && count < RANKED; i++)
            all[count++] = in[k].x[i];
    for (int64_t i = 0; i < count; i++) {
        ranks[i] = 1;
        for (int64_t j = 0; j < count; j++) ranks[i] += mpfr_less_p(all[j], all[i]) != 0;
    }
    for (int64_t k = 0, at = 0; k < n->probe.n_inputs; k++)
        for (int64_t i = 0; n->probe.arrays[k] && i < in[k].count && at < count; i++)
            eddy_array_set(n->probe.arrays[k], i, ranks[at++]);
    exact_probe_run(n, out);
    for (int k = 0; k < n->node->n_outputs; k++) {
        for (int64_t i = 0; is_number(eddy_array_dtype(out[k])) && i < n->count[k]; i++) {
            const double rank = eddy_array_get(out[k], i);
            n->y[k][i] = exact_number(rank);
            for (int64_t j = 0; j < count; j++)
                if (ranks[j] == rank) n->y[k][i] = all[j];
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
    "BroadcastTo Reshape ReshapeLike ReshapeTo MergeLeading UnflattenLike ExpandDims Squeeze Fill "
    "TileGrad SliceLike SliceGrad SplitLike GatherGrad IndexedSlices InplaceAdd SumDuplicates "
    "StridedSliceGrad MirrorPadGrad ReverseSequence ScatterNdLike TensorScatterUpdate "
    "TensorScatterAdd TensorScatterSub PutAlong SpaceToBatchND BatchToSpaceND "
    "ExtractImagePatches ExtractImagePatchesGrad AvgPoolGrad AvgPool3DGrad "
    "MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 MatrixBandPart MatrixTranspose "
    "Shift SegmentSum SegmentMean UnsortedSegmentSum "
    "ResizeNearestNeighbor ResizeBilinear ResizeBicubic ResizeArea ResizeNearestNeighborGrad "
    "ResizeBilinearGrad ResizeBicubicGrad ResizeAreaGrad ImageProjectiveTransformV3 "
    "ImageProjectiveTransformGrad "
    "FFT IFFT RFFT IRFFT Frame OverlapAndAdd DistinctValues SameSize";
static const char *const bilinear =
    "MatMul BatchMatMulV2 Conv2D Conv2DBackpropInput Conv2DBackpropFilter DepthwiseConv2dNative "
    "DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter Cross";
static const char *const ranked =
    "Max Min MaxPool MaxPool3D MaxPoolWithArgmax Sort TopKV2 Cummax Cummin SegmentMax SegmentMin "
    "UnsortedSegmentMax UnsortedSegmentMin TensorScatterMin TensorScatterMax";

/* Whether an operand or the result is complex. */
static bool is_complex(const eddy_node *n)
{
    bool any = eddy_dtype_is_complex(n->outputs[0].dtype);
    for (int i = 0; i < n->n_inputs; i++)
        any = any || eddy_dtype_is_complex(eddy_dtype_of(n->inputs[i]));
    return any;
}

bool exact_node_begin(exact_node *n)
{
    const char *op = n->node->op->name;
    const bool  two = is_complex(n->node);
    n->fn = two ? NULL : exact_function(op);
    n->special = exact_special_function(op) != NULL;
    n->complex_fn = two ? exact_complex_function(op) : NULL;
    if (n->fn) n->run = run_elements;
    else if (n->complex_fn) n->run = run_complex_elements;
    else if (is_in(op, "SelectV2")) n->run = run_where;
    else if (is_in(op, "IdentityN GradPassThrough Ensure")) n->run = run_copy;
    else if (is_in(op, bilinear)) n->run = run_bilinear;
    else if (is_in(op, ranked)) n->run = two ? NULL : run_ranked;
    else if ((n->run = exact_group_run(op)) || (n->run = exact_matrix_run(op)) ||
             (n->run = exact_attention_run(op))) return !two;
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
