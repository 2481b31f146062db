/* plot.h -- curves over a common x axis, written as an SVG file. */
#ifndef EXAMPLES_PLOT_H
#define EXAMPLES_PLOT_H

#include <stdbool.h>

typedef struct curve {
    const char   *name;
    const char   *color;       /* "#4c78a8" */
    double        width;        /* of the line, in pixels */
    int           n;
    const double *x, *y;
} curve;

/* x runs from 0 to its largest value, y from `low` > 0 to its largest value on a logarithmic scale;
 * smaller values are drawn at the bottom. False, with a message on stderr, if the file cannot be
 * written. */
bool plot_save(const char *path, const char *title, const char *x_label, const char *y_label,
               double low, const curve *curves, int n);

#endif
