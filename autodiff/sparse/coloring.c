/* coloring.c -- greedy colorings of sparse patterns, in the order of the columns. Color 0 is none
 * yet.
 *
 * Columns: Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices (1974). Star
 * coloring: algorithm 4.1 of Gebremedhin, Tarafdar, Manne and Pothen, New acyclic and star coloring
 * algorithms with application to computing Hessians (2007). */
#include "autodiff/sparse/coloring.h"

#include <string.h>

static int64_t *zeros(eddy_arena *a, int64_t n)
{
    int64_t *at = eddy__arena_alloc(a, (size_t)(n + 1) * sizeof *at);
    if (at) memset(at, 0, (size_t)(n + 1) * sizeof *at);
    return at;
}

bool eddy__pattern_transpose(const eddy_sparse_pattern *p, eddy_arena *a, eddy_sparse_pattern *out)
{
    const int64_t entries = p->splits[p->rows];
    int64_t      *next = zeros(a, p->columns);
    *out = (eddy_sparse_pattern){ p->columns, p->rows, zeros(a, p->columns + 1),
                                  zeros(a, entries) };
    if (!next || !out->splits || !out->column) return false;
    for (int64_t e = 0; e < entries; e++) out->splits[p->column[e] + 1]++;
    for (int64_t j = 0; j < p->columns; j++) out->splits[j + 1] += out->splits[j];
    for (int64_t j = 0; j < p->columns; j++) next[j] = out->splits[j];
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t e = p->splits[i]; e < p->splits[i + 1]; e++)
            out->column[next[p->column[e]]++] = i;
    return true;
}

/* The colors that element `of` must not have are those whose entry is `of`, counted from 1. */
typedef struct greedy {
    int64_t *color, *forbidden, colors;
} greedy;

static void forbid(greedy *g, int64_t color, int64_t of)
{
    if (color > 0) g->forbidden[color] = of + 1;
}

static void give_color(greedy *g, int64_t of)
{
    int64_t c = 1;
    while (g->forbidden[c] == of + 1) c++;
    g->color[of] = c;
    if (c > g->colors) g->colors = c;
}

static int64_t finish(greedy *g, int64_t n)
{
    for (int64_t i = 0; i < n; i++) g->color[i]--;
    return g->colors;
}

int64_t eddy__color_columns(const eddy_sparse_pattern *p, const eddy_sparse_pattern *across,
                            eddy_arena *a, int64_t *color)
{
    greedy g = { .color = color, .forbidden = zeros(a, p->columns + 1) };
    if (!g.forbidden) return -1;
    memset(color, 0, (size_t)p->columns * sizeof *color);
    for (int64_t j = 0; j < p->columns; j++) {
        for (int64_t e = across->splits[j]; e < across->splits[j + 1]; e++) {
            const int64_t row = across->column[e];
            for (int64_t f = p->splits[row]; f < p->splits[row + 1]; f++)
                forbid(&g, color[p->column[f]], j);
        }
        give_color(&g, j);
    }
    return finish(&g, p->columns);
}

/* The colors of elements at three steps from v over w and x, where w has the same color. */
static void forbid_paths(greedy *g, const eddy_sparse_pattern *p, int64_t v, int64_t w)
{
    for (int64_t e = p->splits[w]; e < p->splits[w + 1]; e++) {
        const int64_t x = p->column[e];
        if (x == v || x == w || g->color[x] == 0) continue;
        if (g->color[w] == 0) forbid(g, g->color[x], v);
        for (int64_t f = p->splits[x]; f < p->splits[x + 1] && g->color[w] > 0; f++) {
            const int64_t y = p->column[f];
            if (y != w && y != x && g->color[y] == g->color[w]) forbid(g, g->color[x], v);
        }
    }
}

int64_t eddy__color_star(const eddy_sparse_pattern *p, eddy_arena *a, int64_t *color)
{
    greedy g = { .color = color, .forbidden = zeros(a, p->columns + 1) };
    if (!g.forbidden) return -1;
    memset(color, 0, (size_t)p->columns * sizeof *color);
    for (int64_t v = 0; v < p->columns; v++) {
        for (int64_t e = p->splits[v]; e < p->splits[v + 1]; e++) {
            const int64_t w = p->column[e];
            if (w == v) continue;
            forbid(&g, color[w], v);
            forbid_paths(&g, p, v, w);
        }
        give_color(&g, v);
    }
    return finish(&g, p->columns);
}
