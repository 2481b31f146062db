/* plot_array.h -- what histograms and pictures in a terminal and as SVG share; not installed. */
#ifndef EDDY_REPORT_PLOT_ARRAY_H
#define EDDY_REPORT_PLOT_ARRAY_H

#include "report/plot_axes.h"

typedef struct bins {
    int64_t *counts;                    /* the caller frees them */
    int64_t  largest, others;           /* count of a bin; elements that are not finite */
    double   least, most;
} bins;

/* Checks the options and counts the elements of each bin. */
eddy_status eddy__histogram_count(const char *who, const eddy_histogram_args *a, bins *b);
/* Where bin i of n begins. */
double eddy__bin_edge(const bins *b, int n, int i);

typedef struct picture {
    const eddy_array *values;
    int64_t           height, width, channels;
    double            least, most;
    int64_t           step;             /* pixels in a column and in a row that become one */
    int64_t           rows, columns;    /* of the pixels that are drawn */
} picture;

/* Checks the options; at most `columns` pixels in a row. */
eddy_status eddy__picture_open(const char *who, const eddy_picture_args *a, int64_t columns,
                               picture *p);
/* The red, green or blue part of a pixel that is drawn, from 0 to 255. */
int         eddy__picture_byte(const picture *p, int64_t row, int64_t column, int channel);

/* Whether the stream is a terminal that draws sixels: one of a few names in TERM, or EDDY_SIXEL=1. */
bool        eddy__has_sixel(FILE *to);
/* The most pixels in a row of so many columns of letters, for eddy__picture_open. */
int64_t     eddy__sixel_columns(int64_t width);
void        eddy__put_sixels(const picture *p, FILE *to, int64_t width);

#endif
