/* exact_attention.c -- see exact_matrices.h: softmax(scale q k' + mask) v, and what it is applied
 * to by the three operations of attention. */
#include "tests/hunt/exact_matrices.h"

#include <math.h>
#include <string.h>

/* One head. */
typedef struct head {
    exact_matrix q, k, v;
    exact_matrix mask;             /* no rows: none */
    double       scale;
    int          see[EXACT_ELEMENTS];     /* how many rows of k row i of q sees */
} head;

/* y, and the logarithms of the sums of the exponentials. */
static void attend(const head *h, exact_matrix *y, num *sums)
{
    *y = exact_zeros(h->q.m, h->v.n);
    exact_matrix scores = exact_times(h->q, exact_transposed(h->k));
    for (int i = 0; i < h->q.m; i++) {
        num most = exact_number(-INFINITY), sum = exact_number(0);
        for (int j = 0; j < h->see[i]; j++) {
            num *score = &AT(scores, i, j);
            *score = exact_mul(exact_number(h->scale), *score);
            if (h->mask.m) *score = exact_add(*score, AT(h->mask, i, j));
            if (mpfr_greater_p(*score, most)) most = *score;
        }
        for (int j = 0; j < h->see[i]; j++) {
            AT(scores, i, j) = exact_exp(exact_sub(AT(scores, i, j), most));
            sum = exact_add(sum, AT(scores, i, j));
        }
        for (int c = 0; c < h->v.n; c++) {
            num total = exact_number(0);
            for (int j = 0; j < h->see[i]; j++)
                total = exact_add(total, exact_mul(AT(scores, i, j), AT(h->v, j, c)));
            AT(*y, i, c) = h->see[i] ? exact_div(total, sum) : exact_number(0);
        }
        sums[i] = exact_add(most, exact_log(sum));
    }
}

static void prepare(const exact_node *n, head *h)
{
    const double scale = exact_attribute(n->node, "scale");
    const bool   causal = exact_attribute(n->node, "causal") != 0;
    h->scale = scale != 0 || signbit(scale) ? scale : 1 / sqrt((double)h->q.n);
    for (int i = 0; i < h->q.m; i++) h->see[i] = causal && i + 1 < h->k.m ? i + 1 : h->k.m;
}

/* Rows of n elements, one every `step` numbers, from an operand. */
static exact_matrix rows_from(const exact_operand *o, int m, int n, int64_t at, int64_t step)
{
    exact_matrix y = { .m = m, .n = n };
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) AT(y, i, j) = exact_element(o, at + i * step + j);
    return y;
}

static void store(exact_node *n, const exact_matrix *y, const num *sums, int64_t at, int64_t step,
                  int64_t sum_at, int64_t sum_step)
{
    for (int i = 0; i < y->m; i++) {
        for (int j = 0; j < y->n; j++) n->y[0][at + i * step + j] = AT(*y, i, j);
        if (n->node->n_outputs > 1) n->y[1][sum_at + i * sum_step] = sums[i];
    }
}

/* q, k and v [..., rows, columns]; input 3 is a mask, or the lengths of the examples. */
static void run_attention(exact_node *n, const exact_operand *in)
{
    const eddy_shape q = in[0].shape, v = in[2].shape;
    const int  s = (int)q.dim[q.rank - 2], d = (int)q.dim[q.rank - 1];
    const int  t = (int)v.dim[v.rank - 2], e = (int)v.dim[v.rank - 1];
    const bool cached = strcmp(n->node->op->name, "CachedAttention") == 0;
    num        sums[EXACT_ELEMENTS];
    eddy_shape scores = q;
    scores.dim[q.rank - 1] = t;
    for (int64_t i = 0; i < in[0].count / (s * d); i++) {
        head h = { .q = rows_from(&in[0], s, d, i * s * d, d), .k = rows_from(&in[1], t, d,
                   i * t * d, d), .v = rows_from(&in[2], t, e, i * t * e, e) };
        prepare(n, &h);
        if (n->node->n_inputs > 3 && !cached) {
            h.mask = (exact_matrix){ .m = s, .n = t };
            for (int j = 0; j < s * t; j++)
                h.mask.x[j] = exact_element(&in[3], exact_broadcast_from(scores, in[3].shape,
                                                                         i * s * t + j));
        }
        for (int row = 0; cached && row < s; row++) {
            const int length = (int)eddy_array_get(in[3].base, i / q.dim[1]);
            const int see = exact_attribute(n->node, "causal") != 0 ? length - s + row + 1 : length;
            h.see[row] = see < 0 ? 0 : see;
        }
        exact_matrix y;
        attend(&h, &y, sums);
        store(n, &y, sums, i * s * e, e, i * s, 1);
    }
}

/* [batch, s, 3, heads, d] */
static void run_packed(exact_node *n, const exact_operand *in)
{
    const eddy_shape x = in[0].shape;
    const int64_t s = x.dim[1], heads = x.dim[3], d = x.dim[4], row = heads * d;
    num sums[EXACT_ELEMENTS];
    for (int64_t i = 0; i < x.dim[0] * heads; i++) {
        const int64_t example = i / heads * s, of = i % heads, at = 3 * example * row + of * d;
        head h = { .q = rows_from(in, (int)s, (int)d, at, 3 * row),
                   .k = rows_from(in, (int)s, (int)d, at + row, 3 * row),
                   .v = rows_from(in, (int)s, (int)d, at + 2 * row, 3 * row) };
        prepare(n, &h);
        exact_matrix y;
        attend(&h, &y, sums);
        store(n, &y, sums, example * row + of * d, row, example * heads + of, heads);
    }
}

exact_run *exact_attention_run(const char *op)
{
    if (strcmp(op, "PackedSelfAttention") == 0) return run_packed;
    if (strcmp(op, "ScaledDotProductAttention") == 0) return run_attention;
    return strcmp(op, "CachedAttention") == 0 ? run_attention : NULL;
}
