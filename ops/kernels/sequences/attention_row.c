/* attention_row.c -- attention of one row of q. The block kernels of attention_head.c compute many
 * rows at a time and would waste most of their work on a single one. */
#include "ops/kernels/sequences/attention_row.h"
#include "graph/base/cpu.h"
#include "ops/kernels/elementwise/vector_math_f64.h"

/* Partial sums of a dot product: as many as fit a vector. */
enum { LANES = 16 };

EDDY_INLINE float dot_f32(int64_t n, const float *a, const float *b)
{
    float   lane[LANES] = { 0 }, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += a[i + l] * b[i + l];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    for (; i < n; i++) sum += a[i] * b[i];
    return sum + lane[0];
}

EDDY_INLINE void row_f32_all(const eddy_attention_row *r, float *restrict score)
{
    const float *q = r->q, *k = r->k, *v = r->v, scale = (float)r->scale;
    float       *restrict y = r->y, top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < r->t; j++) {
        score[j] = scale * dot_f32(r->d, q, k + j * r->d);
        top = score[j] > top ? score[j] : top;
    }
    EDDY_INDEPENDENT
    for (int64_t j = 0; j < r->t; j++) score[j] = eddy__exp_f32(score[j] - top);
    for (int64_t j = 0; j < r->t; j++) sum += score[j];
    for (int64_t c = 0; c < r->e; c++) y[c] = 0;
    for (int64_t j = 0; j < r->t; j++)
        for (int64_t c = 0; c < r->e; c++) y[c] += score[j] * v[j * r->e + c];
    for (int64_t c = 0; c < r->e && r->t > 0; c++) y[c] /= sum;
}
EDDY_CLONES_OF(row_f32, (const eddy_attention_row *r, float *restrict score), (r, score))

EDDY_INLINE void row_f64_all(const eddy_attention_row *r, double *restrict score)
{
    const double *q = r->q, *k = r->k, *v = r->v;
    double       *y = r->y, top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < r->t; j++) {
        double dot = 0;
        for (int64_t c = 0; c < r->d; c++) dot += q[c] * k[j * r->d + c];
        score[j] = r->scale * dot;
        top = score[j] > top ? score[j] : top;
    }
    for (int64_t j = 0; j < r->t; j++) score[j] = eddy__exp_f64(score[j] - top);
    for (int64_t j = 0; j < r->t; j++) sum += score[j];
    for (int64_t c = 0; c < r->e; c++) y[c] = 0;
    for (int64_t j = 0; j < r->t; j++)
        for (int64_t c = 0; c < r->e; c++) y[c] += score[j] / sum * v[j * r->e + c];
}
EDDY_CLONES_OF(row_f64, (const eddy_attention_row *r, double *restrict score), (r, score))

void eddy__attention_row(eddy_dtype d, const eddy_attention_row *r, void *scores)
{
    if (d == EDDY_FLOAT32) EDDY_BEST_OF(row_f32)(r, scores);
    else EDDY_BEST_OF(row_f64)(r, scores);
}
