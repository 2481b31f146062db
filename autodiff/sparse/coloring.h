/* coloring.h -- which columns of a sparse matrix can be computed together. Private to this
 * folder. */
#ifndef EDDY_AUTODIFF_SPARSE_COLORING_H
#define EDDY_AUTODIFF_SPARSE_COLORING_H

#include "graph/base/base.h"

/* The columns of the elements of each row, ascending: numbers splits[i] to splits[i + 1] - 1. */
typedef struct eddy_sparse_pattern {
    int64_t rows, columns;
    int64_t *splits, *column;
} eddy_sparse_pattern;

/* The pattern of the transpose, in memory of the arena; false if out of memory. */
bool eddy__pattern_transpose(const eddy_sparse_pattern *p, eddy_arena *a, eddy_sparse_pattern *out);

/* Colors of the columns, so that columns of one color have no row in common, and `across`, the
 * transpose of p. Returns the number of colors; -1 if out of memory. */
int64_t eddy__color_columns(const eddy_sparse_pattern *p, const eddy_sparse_pattern *across,
                            eddy_arena *a, int64_t *color);
/* Colors for a symmetric pattern, so that neighbors differ and no path of four elements has only
 * two colors. */
int64_t eddy__color_star(const eddy_sparse_pattern *p, eddy_arena *a, int64_t *color);

#endif
