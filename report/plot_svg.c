/* plot_svg.c -- curves as an SVG file. */
#include "report/plot_axes.h"
#include "graph/base/base.h"
#include "graph/call_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 70, RIGHT = 20, TOP = 50, BOTTOM = 55 };

static const char *const colors[] = { "#1f4e8c", "#d1495b", "#2e8b57", "#8e44ad", "#e08a00",
                                      "#008b9a" };
enum { COLORS = sizeof colors / sizeof *colors };

typedef struct frame {
    FILE     *to;
    int       width, height;
    eddy_axis x, y;
} frame;

static double across(const frame *f, double x)
{
    return LEFT + eddy__axis_place(&f->x, x) * (f->width - LEFT - RIGHT);
}

static double down(const frame *f, double y)
{
    return f->height - BOTTOM - eddy__axis_place(&f->y, y) * (f->height - TOP - BOTTOM);
}

void eddy__svg_text(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '&') fputs("&amp;", to);
        else if (*text == '<') fputs("&lt;", to);
        else if ((unsigned char)*text >= ' ') fputc(*text, to);
}

static void put_axes(const frame *f, const char *x_label, const char *y_label)
{
    double    ticks[EDDY_MOST_TICKS];
    const int bottom = f->height - BOTTOM, right = f->width - RIGHT;
    int       n = eddy__axis_ticks(&f->y, (f->height - TOP - BOTTOM) / 60 + 1, ticks);
    for (int i = 0; i < n; i++) {
        const double at = down(f, ticks[i]);
        fprintf(f->to, "<line class='grid' x1='%d' y1='%.1f' x2='%d' y2='%.1f'/>\n", LEFT, at,
                right, at);
        fprintf(f->to, "<text x='%d' y='%.1f' text-anchor='end'>%.6g</text>\n", LEFT - 8, at + 4,
                f->y.log ? pow(10, ticks[i]) : ticks[i]);
    }
    n = eddy__axis_ticks(&f->x, (f->width - LEFT - RIGHT) / 100 + 1, ticks);
    for (int i = 0; i < n; i++) {
        const double at = across(f, ticks[i]);
        fprintf(f->to, "<line class='axis' x1='%.1f' y1='%d' x2='%.1f' y2='%d'/>\n", at, bottom,
                at, bottom + 5);
        fprintf(f->to, "<text x='%.1f' y='%d' text-anchor='middle'>%.6g</text>\n", at,
                bottom + 20, ticks[i]);
    }
    fprintf(f->to, "<line class='axis' x1='%d' y1='%d' x2='%d' y2='%d'/>\n", LEFT, bottom, right,
            bottom);
    fprintf(f->to, "<text x='%d' y='%d' text-anchor='middle'>", (LEFT + right) / 2,
            f->height - 12);
    eddy__svg_text(f->to, x_label ? x_label : "");
    fprintf(f->to, "</text>\n<text transform='translate(18 %d) rotate(-90)' text-anchor='middle'>",
            (TOP + bottom) / 2);
    eddy__svg_text(f->to, y_label ? y_label : "");
    fputs("</text>\n", f->to);
}

/* Every k-th point of a long curve is enough, and keeps the file small. */
static void put_curve(const frame *f, const eddy_plot_args *a, int k)
{
    enum { POINTS = 4000 };
    const eddy_curve *c = &a->curves[k];
    const int         every = c->count / POINTS + 1;
    bool              begun = false;
    double            x, y;
    fprintf(f->to, "<path class='curve' stroke='%s' d='", colors[k % COLORS]);
    for (int i = 0; i < c->count; i += every) {
        const bool drawn = eddy__plot_point(a, c, i, &x, &y);
        if (drawn) fprintf(f->to, "%c%.1f %.1f", begun ? 'L' : 'M', across(f, x), down(f, y));
        begun = drawn;
    }
    fputs("'/>\n", f->to);
}

static void put_legend(const frame *f, const eddy_plot_args *a)
{
    const int x = f->width - RIGHT - 190;
    for (int k = 0, row = 0; k < a->count; k++) {
        const char *name = a->curves[k].name;
        if (!name) continue;
        const int y = TOP + 18 + 20 * row++;
        fprintf(f->to, "<line class='curve' x1='%d' y1='%d' x2='%d' y2='%d' stroke='%s'/>\n", x, y,
                x + 24, y, colors[k % COLORS]);
        fprintf(f->to, "<text x='%d' y='%d'>", x + 32, y + 4);
        eddy__svg_text(f->to, name);
        fputs("</text>\n", f->to);
    }
}

void eddy__svg_begin(FILE *to, int64_t width, int64_t height, const char *title)
{
    fprintf(to, "<svg xmlns='http://www.w3.org/2000/svg' width='%lld' height='%lld' "
            "viewBox='0 0 %lld %lld'>\n", (long long)width, (long long)height, (long long)width,
            (long long)height);
    fprintf(to, "<style>text { font: 13px sans-serif; fill: #333 } .grid { stroke: #e4e4e4 }"
            " .axis { stroke: #666 } .curve { fill: none; stroke-width: 2; stroke-linejoin: round }"
            " .title { font-size: 16px; font-weight: 600 }</style>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n"
            "<text class='title' x='%d' y='28'>", LEFT);
    eddy__svg_text(to, title ? title : "");
    fputs("</text>\n", to);
}

eddy_status eddy_plot_svg_with(const eddy_plot_args *given)
{
    eddy_plot_args a = EDDY_TAKE(eddy_plot_args, given);
    frame          f = { .to = a.to ? a.to : stdout, .width = a.width ? a.width : 760,
                         .height = a.height ? a.height : 420 };
    if (f.width < 100 || f.width > 10000 || f.height < 100 || f.height > 10000) {
        eddy__error_set(a.error, EDDY_INVALID_ARGUMENT,
                        "plot_svg: a picture of %d by %d pixels is not possible; both must be from "
                        "100 to 10000", f.width, f.height);
        return EDDY_INVALID_ARGUMENT;
    }
    const eddy_status status = eddy__plot_axes("plot_svg", &a, &f.x, &f.y);
    if (status != EDDY_OK) return status;
    eddy__svg_begin(f.to, f.width, f.height, a.title);
    put_axes(&f, a.x_label, a.y_label);
    for (int k = 0; k < a.count; k++) put_curve(&f, &a, k);
    put_legend(&f, &a);
    fputs("</svg>\n", f.to);
    return eddy__plot_end("plot_svg", f.to, a.error);
}
