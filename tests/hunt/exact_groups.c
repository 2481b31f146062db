/* exact_groups.c -- see exact_groups.h. Which elements make an element of the result is found by
 * changing one after the other. */
#include "tests/hunt/exact_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By element of output 0 and input: whether the element of the input counts. */
typedef struct groups {
    int64_t from[EXACT_INPUTS + 1];      /* where the elements of an input begin; the total */
    bool    member[];
} groups;

static double some_number(int64_t i) { return 1 + fmod(0.37 * (double)(i + 1), 1); }

static void find_groups(exact_node *n, const exact_operand *in)
{
    const int inputs = n->node->n_inputs;
    int64_t   from[EXACT_INPUTS + 1] = { 0 };
    for (int i = 0; i < inputs; i++) from[i + 1] = from[i] + in[i].count;
    groups *g = calloc(1, sizeof *g + (size_t)(from[inputs] * n->count[0]));
    memcpy(g->from, from, sizeof from);
    eddy_array *first[EXACT_OUTPUTS] = { NULL }, *out[EXACT_OUTPUTS] = { NULL };
    for (int i = 0; i < inputs; i++)
        for (int64_t j = 0; n->probe.arrays[i] && j < in[i].count; j++)
            eddy_array_set(n->probe.arrays[i], j, some_number(from[i] + j));
    exact_probe_run(n, first);
    for (int i = 0; i < inputs; i++)
        for (int64_t j = 0; n->probe.arrays[i] && j < in[i].count; j++) {
            eddy_array_set(n->probe.arrays[i], j, some_number(from[i] + j) + 1.5);
            exact_probe_run(n, out);
            for (int64_t o = 0; o < n->count[0]; o++)
                g->member[o * from[inputs] + from[i] + j] =
                    fabs(eddy_array_get(out[0], o) - eddy_array_get(first[0], o)) > 1e-9;
            for (int k = 0; k < n->node->n_outputs; k++) eddy_array_free(out[k]), out[k] = NULL;
            eddy_array_set(n->probe.arrays[i], j, some_number(from[i] + j));
        }
    for (int k = 0; k < n->node->n_outputs; k++) eddy_array_free(first[k]);
    n->probe.matrix = (double *)(void *)g;
}

/* The elements of input i that make element o; a constant input has those of input `like`. */
static int members(const exact_node *n, const exact_operand *in, int64_t o, int i, int like, num *x)
{
    const groups *g = (const groups *)(const void *)n->probe.matrix;
    const int64_t total = g->from[n->node->n_inputs];
    int count = 0;
    for (int64_t j = 0; j < in[i].count; j++)
        if (g->member[o * total + g->from[in[i].x ? i : like] + j])
            x[count++] = exact_element(&in[i], j);
    return count;
}

/* --------------------------------------------------------------- formulas -- */

enum { MEMBERS = 256 };

static num log_sum_exp(int n, const num *x)
{
    num most = x[0], sum = exact_number(0);
    for (int i = 1; i < n; i++)
        if (mpfr_greater_p(x[i], most)) most = x[i];
    for (int i = 0; i < n; i++) sum = exact_add(sum, exact_exp(exact_sub(x[i], most)));
    return exact_add(most, exact_log(sum));
}

static num sum_of_squares(int n, const num *x)
{
    num sum = exact_number(0);
    for (int i = 0; i < n; i++) sum = exact_add(sum, exact_mul(x[i], x[i]));
    return sum;
}

typedef num group_fn(int n, const num *x);
static num product(int n, const num *x)
{
    num y = exact_number(1);
    for (int i = 0; i < n; i++) y = exact_mul(y, x[i]);
    return y;
}
static num length(int n, const num *x) { return exact_sqrt(sum_of_squares(n, x)); }
static num half_square(int n, const num *x)
{
    return exact_mul(exact_number(0.5), sum_of_squares(n, x));
}
static num logs(int n, const num *x) { return n ? log_sum_exp(n, x) : exact_number(-INFINITY); }

static void run_folds(exact_node *n, const exact_operand *in, group_fn *fn)
{
    num x[MEMBERS];
    if (exact_probe_begin(n, in)) find_groups(n, in);
    for (int64_t o = 0; o < n->count[0]; o++) n->y[0][o] = fn(members(n, in, o, 0, 0, x), x);
}
static void run_product(exact_node *n, const exact_operand *in) { run_folds(n, in, product); }
static void run_length(exact_node *n, const exact_operand *in) { run_folds(n, in, length); }
static void run_half_square(exact_node *n, const exact_operand *in)
{
    run_folds(n, in, half_square);
}
static void run_logs(exact_node *n, const exact_operand *in) { run_folds(n, in, logs); }

static void run_log_softmax(exact_node *n, const exact_operand *in)
{
    num x[MEMBERS];
    if (exact_probe_begin(n, in)) find_groups(n, in);
    for (int64_t o = 0; o < n->count[0]; o++)
        n->y[0][o] = exact_sub(in[0].x[o], log_sum_exp(members(n, in, o, 0, 0, x), x));
}
static void run_softmax(exact_node *n, const exact_operand *in)
{
    run_log_softmax(n, in);
    for (int64_t o = 0; o < n->count[0]; o++) n->y[0][o] = exact_exp(n->y[0][o]);
}

/* The sum of labels (log sum of exponentials - logits). */
static void run_cross_entropy(exact_node *n, const exact_operand *in)
{
    num labels[MEMBERS], x[MEMBERS];
    if (exact_probe_begin(n, in)) find_groups(n, in);
    for (int64_t o = 0; o < n->count[0]; o++) {
        const int count = members(n, in, o, in[1].x ? 1 : 0, in[1].x ? 1 : 0, x);
        members(n, in, o, 0, 1, labels), members(n, in, o, 1, 0, x);
        const num all = log_sum_exp(count, x);
        n->y[0][o] = exact_number(0);
        for (int i = 0; i < count; i++)
            n->y[0][o] = exact_add(n->y[0][o], exact_mul(labels[i], exact_sub(all, x[i])));
    }
}

static void run_sparse_cross_entropy(exact_node *n, const exact_operand *in)
{
    num x[MEMBERS];
    if (exact_probe_begin(n, in)) find_groups(n, in);
    for (int64_t o = 0; o < n->count[0]; o++) {
        const int count = members(n, in, o, 1, 1, x);
        const int label = (int)eddy_array_get(in[0].base, o);
        n->y[0][o] = exact_sub(log_sum_exp(count, x), x[label]);
    }
}

static num logistic(num labels, num x)
{
    const num positive = mpfr_sgn(x) > 0 ? x : exact_number(0), far = exact_number(0);
    mpfr_abs(far, x, MPFR_RNDN), mpfr_neg(far, far, MPFR_RNDN);
    const num small = exact_exp(far);
    mpfr_log1p(small, small, MPFR_RNDN);
    return exact_add(exact_sub(positive, exact_mul(x, labels)), small);
}
static void run_logistic(exact_node *n, const exact_operand *in)
{
    for (int64_t i = 0; i < n->count[0]; i++)
        n->y[0][i] = logistic(exact_element(&in[0], in[0].count == 1 ? 0 : i),
                              exact_element(&in[1], in[1].count == 1 ? 0 : i));
}

/* (x - mean) / sqrt(variance + epsilon) scale + offset; the last two are single elements. */
static void run_normalization(exact_node *n, const exact_operand *in)
{
    num x[MEMBERS], scale[MEMBERS], offset[MEMBERS];
    if (exact_probe_begin(n, in)) find_groups(n, in);
    for (int64_t o = 0; o < n->count[0]; o++) {
        const int count = members(n, in, o, 0, 0, x);
        num mean = exact_number(0);
        for (int i = 0; i < count; i++) mean = exact_add(mean, x[i]);
        mean = exact_div(mean, exact_number(count));
        for (int i = 0; i < count; i++) x[i] = exact_sub(x[i], mean);
        const num variance = exact_div(sum_of_squares(count, x), exact_number(count));
        const num epsilon = exact_number(exact_attribute(n->node, "epsilon"));
        const num deviation = exact_sqrt(exact_add(variance, epsilon));
        num y = exact_div(exact_sub(in[0].x[o], mean), deviation);
        if (members(n, in, o, 1, 1, scale) == 1) y = exact_mul(y, scale[0]);
        if (members(n, in, o, 2, 2, offset) == 1) y = exact_add(y, offset[0]);
        n->y[0][o] = y;
    }
    for (int k = 1; k < n->node->n_outputs; k++)       /* not asked for */
        for (int64_t i = 0; i < n->count[k]; i++) n->y[k][i] = exact_number(NAN);
}

exact_run *exact_group_run(const char *op)
{
    static const struct {
        const char *op;
        exact_run  *run;
    } kinds[] = {
        { "Prod", run_product }, { "Cumprod", run_product }, { "SegmentProd", run_product },
        { "UnsortedSegmentProd", run_product }, { "EuclideanNorm", run_length },
        { "L2Loss", run_half_square }, { "CumulativeLogsumexp", run_logs },
        { "Softmax", run_softmax }, { "LogSoftmax", run_log_softmax },
        { "SoftmaxCrossEntropyWithLogits", run_cross_entropy },
        { "SparseSoftmaxCrossEntropyWithLogits", run_sparse_cross_entropy },
        { "SigmoidCrossEntropyWithLogits", run_logistic },
        { "LayerNorm", run_normalization }, { "FusedBatchNormV3", run_normalization },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].op, op) == 0) return kinds[i].run;
    return NULL;
}
