/* plot_array.c -- the elements of an array as a histogram and as a picture, in a terminal. */
#include "report/plot_array.h"
#include "graph/base/base.h"
#include "graph/call_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static eddy_status refuse(eddy_error *e, eddy_status s, const char *who, const char *why)
{
    eddy__error_set(e, s, "%s: %s", who, why);
    return s;
}

/* The range of the finite elements; how many there are. */
static int64_t range_of(const eddy_array *a, double *least, double *most)
{
    int64_t n = 0;
    *least = INFINITY;
    *most = -INFINITY;
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double v = eddy_array_get(a, i);
        if (!isfinite(v)) continue;
        if (v < *least) *least = v;
        if (v > *most) *most = v;
        n++;
    }
    return n;
}

/* ------------------------------------------------------------- histograms -- */

/* A bar of so many columns, with eighths of a letter. */
static void put_bar(FILE *to, double columns)
{
    static const char *const eighths[] = { "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
                                           "\u258a", "\u2589" };
    const int n = (int)(8 * columns + 0.5);
    for (int i = 0; i < n / 8; i++) fputs("\u2588", to);
    fputs(eighths[n % 8], to);
}

double eddy__bin_edge(const bins *b, int n, int i)
{
    return b->least * ((double)(n - i) / n) + b->most * ((double)i / n);
}

static void put_histogram(const eddy_histogram_args *a, FILE *to, const bins *b)
{
    enum { NUMBERS = 34 };              /* columns of a line besides the bar */
    if (a->title) fprintf(to, "%s\n", a->title);
    for (int i = 0; i < a->bins; i++) {
        fprintf(to, "%11.4g \u2502", eddy__bin_edge(b, a->bins, i));
        put_bar(to, (double)b->counts[i] / (double)b->largest * (a->width - NUMBERS));
        fprintf(to, " %lld\n", (long long)b->counts[i]);
    }
    fprintf(to, "%11.4g \u2518\n", b->most);
}

/* The place of v between least (0) and most (1). The difference of the largest numbers is infinite,
 * and halves of the smallest ones are 0. */
static double place_of(double v, double least, double most)
{
    if (!(most > least)) return 0;
    return isfinite(most - least) ? (v - least) / (most - least)
                                  : (v / 2 - least / 2) / (most / 2 - least / 2);
}

eddy_status eddy__histogram_count(const char *who, const eddy_histogram_args *a, bins *b)
{
    if (!a->values) return refuse(a->error, EDDY_INVALID_ARGUMENT, who, "there is no array");
    if (a->bins < 1 || a->bins > 1000)
        return refuse(a->error, EDDY_INVALID_ARGUMENT, who,
                      "the number of bins must be from 1 to 1000");
    if (a->width < 40 || a->width > 500)
        return refuse(a->error, EDDY_INVALID_ARGUMENT, who, "the width must be from 40 to 500");
    if (eddy_dtype_is_complex(eddy_array_dtype(a->values)))
        return refuse(a->error, EDDY_BAD_DTYPE, who, "the elements are complex");
    const int64_t n = eddy_array_count(a->values);
    double        least, most;
    const int64_t finite = range_of(a->values, &least, &most);
    *b = (bins){ .others = n - finite, .largest = 1, .least = least, .most = most };
    if (finite == 0) return refuse(a->error, EDDY_OUT_OF_RANGE, who, "no element is finite");
    b->counts = calloc((size_t)a->bins, sizeof *b->counts);
    if (!b->counts) return refuse(a->error, EDDY_NO_MEMORY, who, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        const double v = eddy_array_get(a->values, i);
        if (!isfinite(v)) continue;
        const int bin = (int)(place_of(v, b->least, b->most) * a->bins);
        const int64_t count = ++b->counts[bin < a->bins ? bin : a->bins - 1];
        if (count > b->largest) b->largest = count;
    }
    return EDDY_OK;
}

eddy_status eddy_histogram_print_with(const eddy_histogram_args *given)
{
    const eddy_histogram_args a = EDDY_TAKE(eddy_histogram_args, given);
    FILE                     *to = a.to ? a.to : stdout;
    bins                      b;
    const eddy_status         status = eddy__histogram_count("histogram_print", &a, &b);
    if (status != EDDY_OK) return status;
    put_histogram(&a, to, &b);
    free(b.counts);
    if (b.others > 0) fprintf(to, "%lld not finite\n", (long long)b.others);
    return eddy__plot_end("histogram_print", to, a.error);
}

/* --------------------------------------------------------------- pictures -- */

/* The mean of a square of pixels, from 0 to 1; NaN and infinities count as the nearest bound. */
static double shade(const picture *p, int64_t row, int64_t column, int64_t channel)
{
    double  sum = 0;
    int64_t n = 0;
    for (int64_t i = row * p->step; i < (row + 1) * p->step && i < p->height; i++)
        for (int64_t k = column * p->step; k < (column + 1) * p->step && k < p->width; k++) {
            const double v = eddy_array_get(p->values, (i * p->width + k) * p->channels + channel);
            const double s = (v - p->least) / (p->most - p->least);
            sum += s > 0 ? (s < 1 ? s : 1) : 0;
            n++;
        }
    return n > 0 ? sum / (double)n : 0;
}

int eddy__picture_byte(const picture *p, int64_t row, int64_t column, int channel)
{
    return (int)(255 * shade(p, row, column, p->channels == 3 ? channel : 0) + 0.5);
}

/* The color of what follows: 38 of letters, 48 behind them. */
static void put_color(const picture *p, FILE *to, int of, int64_t row, int64_t column)
{
    fprintf(to, "\033[%d;2;%d;%d;%dm", of, eddy__picture_byte(p, row, column, 0),
            eddy__picture_byte(p, row, column, 1), eddy__picture_byte(p, row, column, 2));
}

/* Two rows in one line: the upper half of a letter has its color, the lower one that behind it. */
static void put_colors(const picture *p, FILE *to, int64_t rows, int64_t columns)
{
    for (int64_t row = 0; row < rows; row += 2) {
        for (int64_t k = 0; k < columns; k++) {
            put_color(p, to, 38, row, k);
            if (row + 1 < rows) put_color(p, to, 48, row + 1, k);
            fputs("\u2580\033[0m", to);
        }
        fputc('\n', to);
    }
}

/* Two letters for each pixel, since letters are twice as high as wide. */
static void put_shades(const picture *p, FILE *to, int64_t rows, int64_t columns)
{
    static const char *const letters[] = { " ", "\u2591", "\u2592", "\u2593", "\u2588" };
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t k = 0; k < columns; k++) {
            double gray = shade(p, row, k, 0);
            if (p->channels == 3)
                gray = 0.299 * gray + 0.587 * shade(p, row, k, 1) + 0.114 * shade(p, row, k, 2);
            const char *letter = letters[(int)(4 * gray + 0.5)];
            fprintf(to, "%s%s", letter, letter);
        }
        fputc('\n', to);
    }
}

static eddy_status shape_of(const char *who, const eddy_picture_args *a, picture *p)
{
    const eddy_shape s = eddy_array_shape(a->values);
    if (eddy_dtype_is_complex(eddy_array_dtype(a->values)))
        return refuse(a->error, EDDY_BAD_DTYPE, who, "the elements are complex");
    *p = (picture){ .values = a->values, .height = s.dim[0], .width = s.dim[1],
                    .channels = s.rank == 3 ? s.dim[2] : 1, .step = 1 };
    if (s.rank < 2 || s.rank > 3 || (p->channels != 1 && p->channels != 3) ||
        eddy_array_count(a->values) == 0) {
        char is[200];
        eddy__error_set(a->error, EDDY_BAD_SHAPE,
                        "%s: the shape is %s; it must be [height, width] with 1 or 3 channels or "
                        "none", who, eddy_shape_print(s, is, sizeof is));
        return EDDY_BAD_SHAPE;
    }
    return EDDY_OK;
}

eddy_status eddy__picture_open(const char *who, const eddy_picture_args *a, int64_t columns,
                               picture *p)
{
    if (!a->values) return refuse(a->error, EDDY_INVALID_ARGUMENT, who, "there is no array");
    if (a->width < 1 || a->width > 500)
        return refuse(a->error, EDDY_INVALID_ARGUMENT, who, "the width must be from 1 to 500");
    if (!(a->least <= a->most) || !isfinite(a->least) || !isfinite(a->most))
        return refuse(a->error, EDDY_INVALID_ARGUMENT, who,
                      "the least value must not be above the most, and both must be finite");
    const eddy_status status = shape_of(who, a, p);
    if (status != EDDY_OK) return status;
    p->least = a->least;
    p->most = a->most;
    if (p->least == p->most && range_of(a->values, &p->least, &p->most) == 0)
        p->least = p->most = 0;
    if (!(p->most > p->least)) p->most = p->least + 1;
    p->step = (p->width + columns - 1) / columns;
    p->rows = (p->height + p->step - 1) / p->step;
    p->columns = (p->width + p->step - 1) / p->step;
    return EDDY_OK;
}

eddy_status eddy_picture_print_with(const eddy_picture_args *given)
{
    const eddy_picture_args a = EDDY_TAKE(eddy_picture_args, given);
    FILE                   *to = a.to ? a.to : stdout;
    const bool              colored = eddy__is_colored(to), sixel = eddy__has_sixel(to);
    const int64_t           columns = sixel ? eddy__sixel_columns(a.width)
                                      : colored || a.width < 2 ? a.width : a.width / 2;
    picture                 p;
    const eddy_status       status = eddy__picture_open("picture_print", &a, columns, &p);
    if (status != EDDY_OK) return status;
    if (a.title) fprintf(to, "%s\n", a.title);
    if (sixel) eddy__put_sixels(&p, to, a.width);
    else if (colored) put_colors(&p, to, p.rows, p.columns);
    else put_shades(&p, to, p.rows, p.columns);
    return eddy__plot_end("picture_print", to, a.error);
}
