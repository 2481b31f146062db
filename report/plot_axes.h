/* plot_axes.h -- what plots in a terminal and as SVG share; not installed. */
#ifndef EDDY_REPORT_PLOT_AXES_H
#define EDDY_REPORT_PLOT_AXES_H

#include "report/plot.h"

/* The range of one axis; `log`: its numbers are logarithms of base 10. */
typedef struct eddy_axis {
    double least, most;
    bool   log;
} eddy_axis;

enum { EDDY_MOST_TICKS = 24 };

/* Checks the options and finds the ranges of all points. */
eddy_status eddy__plot_axes(const char *who, const eddy_plot_args *a, eddy_axis *x, eddy_axis *y);
/* Point i of a curve; false if it is not drawn. */
bool        eddy__plot_point(const eddy_plot_args *a, const eddy_curve *c, int i, double *x,
                             double *y);
/* The place of a value, from 0 to 1. */
double      eddy__axis_place(const eddy_axis *a, double value);
/* Round numbers on the axis, about `wanted` of them; how many. */
int         eddy__axis_ticks(const eddy_axis *a, int wanted, double *ticks);

/* The beginning of an SVG file, with the style sheet and the title; a text of it. */
void        eddy__svg_begin(FILE *to, int64_t width, int64_t height, const char *title);
void        eddy__svg_text(FILE *to, const char *text);

/* Whether letters with colors are understood. */
bool        eddy__is_colored(FILE *to);
/* EDDY_IO with a message if the stream has failed. */
eddy_status eddy__plot_end(const char *who, FILE *to, eddy_error *error);

#endif
