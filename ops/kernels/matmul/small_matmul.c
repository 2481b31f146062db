/* small_matmul.c -- products of small float32 matrices that stay in cache; see small_matmul.h. */
#include "ops/kernels/matmul/small_matmul.h"

#include "graph/base/cpu.h"
#include "graph/base/min_max.h"
#include "ops/kernels/matmul/gemm_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <string.h>

/* ------------------------------------------------------------------- tiles -- */

/* Divides the rows into parts of about equal size, none longer than a tile. */
static void panel_of_tiles(const eddy_gemm_tiles *tiles, const eddy_panel *p, int64_t apart,
                           int64_t strip)
{
    for (int64_t j = 0; j < p->n; j += 2 * tiles->lanes) {
        const bool two = p->n - j > tiles->lanes;
        const int  columns = two ? 2 * tiles->lanes : tiles->lanes;
        const float *b = p->b + j / (2 * tiles->lanes) * apart;
        int64_t    parts = eddy__pieces(p->m, tiles->rows);
        for (int64_t i = 0, rows, x = 0; i < p->m; i += rows, parts--, x++) {
            rows = eddy__pieces(p->m - i, parts);
            const eddy_gemm_tile t = {
                .s = p->a + (strip ? x * strip : i * p->a_row), .v = b,
                .y = p->c + i * p->c_row + j, .s_row = strip ? 1 : p->a_row,
                .s_step = strip ? tiles->step : p->a_column, .v_step = p->b_row,
                .ldy = p->c_row, .k = p->k, .columns = columns, .onto = p->add,
            };
            eddy__gemm_tile_fn(tiles, &t, rows)(&t);
        }
    }
}

/* ------------------------------------------------------------------- plain -- */

/* A vector that every current processor can add and multiply. */
typedef float four __attribute__((vector_size(16)));
enum { FOURS = EDDY_LINE / 4 };

/* Some rows of one line; their number is known to the compiler. */
EDDY_INLINE void tile_plain(const eddy_panel *p, const float *a, const float *b, float *c,
                            const int rows)
{
    four y[2][FOURS] = { { { 0 } } };
    for (int i = 0; i < rows; i++)
        if (p->add) memcpy(y[i], c + i * p->c_row, sizeof y[i]);
    for (int64_t q = 0; q < p->k; q++, a += p->a_column, b += p->b_row) {
        four x[FOURS];
        memcpy(x, b, sizeof x);
        for (int i = 0; i < rows; i++) {
            const float w = a[i * p->a_row];
            for (int j = 0; j < FOURS; j++) y[i][j] += (four){ w, w, w, w } * x[j];
        }
    }
    for (int i = 0; i < rows; i++) memcpy(c + i * p->c_row, y[i], sizeof y[i]);
}

static void panel_plain(const eddy_panel *p, int64_t apart)
{
    for (int64_t j = 0; j < p->n; j += EDDY_LINE)
        for (int64_t i = 0; i < p->m; i += 2) {
            const float *a = p->a + i * p->a_row, *b = p->b + j / EDDY_LINE * apart;
            float       *c = p->c + i * p->c_row + j;
            if (p->m - i >= 2) tile_plain(p, a, b, c, 2);
            else tile_plain(p, a, b, c, 1);
        }
}

int64_t eddy__panel_columns(const eddy_gemm_tiles *tiles)
{
    return tiles ? 2 * tiles->lanes : EDDY_LINE;
}

void eddy__panel_run_parts(const eddy_gemm_tiles *tiles, const eddy_panel *p, int64_t apart,
                           int64_t strip)
{
    if (tiles) panel_of_tiles(tiles, p, apart, strip);
    else panel_plain(p, apart);
}

void eddy__panel_run(const eddy_panel *p)
{
    const eddy_gemm_tiles *tiles = eddy__gemm_tiles_used();
    eddy__panel_run_parts(tiles, p, eddy__panel_columns(tiles), 0);
}

/* ------------------------------------------------------------- transposing -- */

/* Four rows and columns at a time, with a row of four in each register. */
void eddy__panel_transpose(int64_t rows, int64_t columns, float factor, const float *from,
                           int64_t from_row, float *to, int64_t to_row)
{
    for (int64_t i = 0; i < rows; i += 4)
        for (int64_t j = 0; j < columns; j += 4) {
            const float *x = from + i * from_row + j;
            float       *y = to + j * to_row + i;
#if defined(__x86_64__)
            const __m128 by = _mm_set1_ps(factor);
            __m128 a = _mm_loadu_ps(x), b = _mm_loadu_ps(x + from_row);
            __m128 c = _mm_loadu_ps(x + 2 * from_row), d = _mm_loadu_ps(x + 3 * from_row);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(y, _mm_mul_ps(by, a));
            _mm_storeu_ps(y + to_row, _mm_mul_ps(by, b));
            _mm_storeu_ps(y + 2 * to_row, _mm_mul_ps(by, c));
            _mm_storeu_ps(y + 3 * to_row, _mm_mul_ps(by, d));
#else
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++) y[q * to_row + p] = factor * x[p * from_row + q];
#endif
        }
}
