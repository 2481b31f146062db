/* plot_array_svg.c -- the elements of an array as a histogram and as a picture, as an SVG file. */
#include "report/plot_array.h"
#include "graph/call_options.h"

#include <stdlib.h>

enum { COLUMN = 10, TOP = 40, BIN = 16, NUMBERS = 90, END = 20 };

/* A bar for each bin, from above to below, as in a terminal. */
static void put_bars(const eddy_histogram_args *a, const bins *b, FILE *to)
{
    const double room = a->width * COLUMN - 2 * NUMBERS;
    for (int i = 0; i <= a->bins; i++) {
        const int y = TOP + i * BIN;
        fprintf(to, "<text x='%d' y='%d' text-anchor='end'>%.4g</text>\n", NUMBERS - 8, y + 4,
                eddy__bin_edge(b, a->bins, i));
        if (i == a->bins) break;
        const double wide = (double)b->counts[i] / (double)b->largest * room;
        fprintf(to, "<rect x='%d' y='%d' width='%.1f' height='%d' fill='#1f4e8c'/>\n", NUMBERS,
                y + 1, wide, BIN - 2);
        fprintf(to, "<text x='%.1f' y='%d'>%lld</text>\n", NUMBERS + wide + 6, y + BIN - 4,
                (long long)b->counts[i]);
    }
    fprintf(to, "<line class='axis' x1='%d' y1='%d' x2='%d' y2='%d'/>\n", NUMBERS, TOP, NUMBERS,
            TOP + a->bins * BIN);
    if (b->others > 0)
        fprintf(to, "<text x='%d' y='%d'>%lld not finite</text>\n", NUMBERS,
                TOP + a->bins * BIN + END, (long long)b->others);
}

eddy_status eddy_histogram_svg_with(const eddy_histogram_args *given)
{
    const eddy_histogram_args a = EDDY_TAKE(eddy_histogram_args, given);
    FILE                     *to = a.to ? a.to : stdout;
    bins                      b;
    const eddy_status         status = eddy__histogram_count("histogram_svg", &a, &b);
    if (status != EDDY_OK) return status;
    eddy__svg_begin(to, a.width * COLUMN, TOP + a.bins * BIN + 2 * END, a.title);
    put_bars(&a, &b, to);
    fputs("</svg>\n", to);
    free(b.counts);
    return eddy__plot_end("histogram_svg", to, a.error);
}

/* Pixels of a row that have one color are one rectangle. */
static void put_row(const picture *p, FILE *to, int64_t row, int top, int size)
{
    int64_t from = 0;
    int     last[3] = { 0, 0, 0 };
    for (int64_t k = 0; k <= p->columns; k++) {
        int  now[3] = { -1, -1, -1 };
        bool same = k > 0 && k < p->columns;
        for (int c = 0; k < p->columns && c < 3; c++) {
            now[c] = eddy__picture_byte(p, row, k, c);
            same = same && now[c] == last[c];
        }
        if (same) continue;
        if (k > 0)
            fprintf(to, "<rect x='%lld' y='%lld' width='%lld' height='%d' "
                    "fill='#%02x%02x%02x'/>\n", (long long)(from * size),
                    (long long)(top + row * size), (long long)((k - from) * size), size,
                    (unsigned)last[0], (unsigned)last[1], (unsigned)last[2]);
        from = k;
        for (int c = 0; c < 3; c++) last[c] = now[c];
    }
}

eddy_status eddy_picture_svg_with(const eddy_picture_args *given)
{
    const eddy_picture_args a = EDDY_TAKE(eddy_picture_args, given);
    FILE                   *to = a.to ? a.to : stdout;
    picture                 p;
    const eddy_status       status = eddy__picture_open("picture_svg", &a, a.width, &p);
    if (status != EDDY_OK) return status;
    const int top = a.title ? TOP : 0;
    eddy__svg_begin(to, p.columns * COLUMN, top + p.rows * COLUMN, a.title);
    fputs("<g shape-rendering='crispEdges'>\n", to);
    for (int64_t row = 0; row < p.rows; row++) put_row(&p, to, row, top, COLUMN);
    fputs("</g>\n</svg>\n", to);
    return eddy__plot_end("picture_svg", to, a.error);
}
