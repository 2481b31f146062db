/* plot.h -- pictures of numbers without another program: curves, histograms and images in a terminal
 * and as SVG.
 *
 *   const eddy_curve curves[] = { { "training", epochs, NULL, loss }, { "validation", epochs, NULL, held } };
 *   eddy_plot_print(curves, 2, .title = "loss");
 *   FILE *f = fopen("loss.svg", "w");
 *   eddy_plot_svg(curves, 2, .to = f, .title = "loss", .x_label = "epoch");
 *
 *   3.06 |e.
 *        | '-._          letters of braille, 2 by 4 points each
 *   1.77 |     '--...
 *        +------------
 *         0         12
 *
 * In a terminal, curves have colors; elsewhere a curve ends with its letter, a, b, ..., which the
 * legend explains. Texts are UTF-8. */
#ifndef EDDY_PLOT_H
#define EDDY_PLOT_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EDDY_PLOT_CURVES = 26 };          /* the most curves of a plot */

/* Points that are joined by lines. */
typedef struct eddy_curve {
    const char   *name;                  /* in the legend; NULL: none */
    int           count;                 /* of points */
    const double *x;                     /* NULL: 0, 1, 2, ... */
    const double *y;                     /* a point that is not finite interrupts the line */
} eddy_curve;

typedef struct eddy_plot_args {
    size_t            size_ EDDY_DEFAULT(sizeof(eddy_plot_args));
    const eddy_curve *curves;            /* count of them */
    int               count;
    FILE             *to;                /* default: stdout */
    const char       *title, *x_label, *y_label;    /* default: none */
    bool              log_y;             /* a logarithmic scale; only values above 0 are drawn */
    int               width, height;     /* in columns and lines (default 72 and 16), 10 to 500; of an
                                          * SVG in pixels (default 760 and 420), 100 to 10000 */
    eddy_error       *error;             /* receives the error; default: nothing */
} eddy_plot_args;

/* Prints curves. Errors: EDDY_INVALID_ARGUMENT without curves or points, for more than
 * EDDY_PLOT_CURVES of them, and for another width or height; EDDY_OUT_OF_RANGE if no point can be drawn;
 * EDDY_NO_MEMORY; EDDY_IO if the stream fails. */
EDDY_API eddy_status eddy_plot_print_with(const eddy_plot_args *given);
#define eddy_plot_print(...) eddy_plot_print_with(EDDY_ARGS(eddy_plot_args, __VA_ARGS__))
/* Writes them as an SVG file, which needs no other file. Errors: the same. */
EDDY_API eddy_status eddy_plot_svg_with(const eddy_plot_args *given);
#define eddy_plot_svg(...) eddy_plot_svg_with(EDDY_ARGS(eddy_plot_args, __VA_ARGS__))

typedef struct eddy_histogram_args {
    size_t            size_ EDDY_DEFAULT(sizeof(eddy_histogram_args));
    const eddy_array *values;            /* real, of any shape */
    int               bins EDDY_DEFAULT(20); /* of equal width, 1 to 1000 */
    FILE             *to;                /* default: stdout */
    const char       *title;             /* default: none */
    int               width EDDY_DEFAULT(72); /* in columns, 40 to 500 */
    eddy_error       *error;
} eddy_histogram_args;

/* Prints how many elements lie in each of the bins between the smallest and the largest one, a line for
 * each; those that are not finite are counted below. Errors: EDDY_INVALID_ARGUMENT for no array, and
 * for another number of bins or width; EDDY_BAD_DTYPE for complex elements; EDDY_OUT_OF_RANGE if no
 * element is finite; EDDY_NO_MEMORY; EDDY_IO. */
EDDY_API eddy_status eddy_histogram_print_with(const eddy_histogram_args *given);
#define eddy_histogram_print(...) eddy_histogram_print_with(EDDY_ARGS(eddy_histogram_args, __VA_ARGS__))
/* Writes it as an SVG file, in which a column is 10 pixels wide. Errors: the same. */
EDDY_API eddy_status eddy_histogram_svg_with(const eddy_histogram_args *given);
#define eddy_histogram_svg(...) eddy_histogram_svg_with(EDDY_ARGS(eddy_histogram_args, __VA_ARGS__))

typedef struct eddy_picture_args {
    size_t            size_ EDDY_DEFAULT(sizeof(eddy_picture_args));
    /* a matrix [height, width], or an image [height, width, 1] or [height, width, 3] */
    const eddy_array *values;
    FILE             *to;                /* default: stdout */
    const char       *title;             /* default: none */
    double            least, most;       /* black and white; default, if equal: those of the elements */
    int               width EDDY_DEFAULT(72); /* the most columns, 1 to 500 */
    eddy_error       *error;
} eddy_picture_args;

/* Prints a matrix or an image: in a terminal with two pixels in each letter and 24 bits of color, or as
 * sixels, 10 in a column, if TERM names foot, mlterm, yaft, contour or sixel, or EDDY_SIXEL is 1;
 * elsewhere with letters from blank, the least, to a full block. A picture with more pixels than that is
 * reduced: each pixel shows a mean. Errors: EDDY_INVALID_ARGUMENT for no array, other bounds and
 * widths; EDDY_BAD_SHAPE for another shape and for one without elements; EDDY_BAD_DTYPE for complex
 * elements; EDDY_NO_MEMORY; EDDY_IO. */
EDDY_API eddy_status eddy_picture_print_with(const eddy_picture_args *given);
#define eddy_picture_print(...) eddy_picture_print_with(EDDY_ARGS(eddy_picture_args, __VA_ARGS__))
/* Writes it as an SVG file, with squares of 10 by 10 pixels, at most `width` of them in a row. Errors:
 * the same. */
EDDY_API eddy_status eddy_picture_svg_with(const eddy_picture_args *given);
#define eddy_picture_svg(...) eddy_picture_svg_with(EDDY_ARGS(eddy_picture_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
