/* plot_print.c -- curves as letters of braille, each of which has 2 by 4 points. */
#include "report/plot_axes.h"
#include "graph/base/base.h"
#include "graph/call_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 10 };                    /* columns for the numbers of the y axis */

static const int colors[] = { 34, 31, 32, 35, 36, 33 };
enum { COLORS = sizeof colors / sizeof *colors };

/* The letters: points, the curve that was drawn last, and in its place a letter of the legend. */
typedef struct canvas {
    int            width, height;       /* in letters */
    unsigned char *points, *curve;
    char          *letter;
} canvas;

static void set_point(canvas *c, double x, double y, int curve)
{
    static const unsigned char bit[4][2] = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } };
    const int px = (int)(x * (2 * c->width - 1) + 0.5);
    const int py = (int)((1 - y) * (4 * c->height - 1) + 0.5);
    if (px < 0 || py < 0 || px >= 2 * c->width || py >= 4 * c->height) return;
    const int at = py / 4 * c->width + px / 2;
    c->points[at] |= bit[py % 4][px % 2];
    c->curve[at] = (unsigned char)curve;
}

static void draw_line(canvas *c, double x0, double y0, double x1, double y1, int curve)
{
    const int steps = (int)fmax(fabs(x1 - x0) * 2 * c->width, fabs(y1 - y0) * 4 * c->height) + 1;
    for (int i = 0; i <= steps; i++) {
        const double t = (double)i / steps;
        set_point(c, x0 + t * (x1 - x0), y0 + t * (y1 - y0), curve);
    }
}

static void draw_curve(canvas *c, const eddy_plot_args *a, int k, const eddy_axis *ax,
                       const eddy_axis *ay)
{
    const eddy_curve *curve = &a->curves[k];
    double            x, y, x0 = 0, y0 = 0;
    bool              begun = false, any = false;
    for (int i = 0; i < curve->count; i++) {
        if (!eddy__plot_point(a, curve, i, &x, &y)) {
            begun = false;
            continue;
        }
        x = eddy__axis_place(ax, x);
        y = eddy__axis_place(ay, y);
        draw_line(c, begun ? x0 : x, begun ? y0 : y, x, y, k);
        x0 = x;
        y0 = y;
        begun = any = true;
    }
    if (!any || a->count == 1) return;
    const int column = (int)(x0 * (c->width - 1) + 0.5);
    const int at = (int)((1 - y0) * (c->height - 1) + 0.5) * c->width + column;
    c->letter[at] = (char)('a' + k);
    c->curve[at] = (unsigned char)k;
}

static void put_letter(FILE *to, const canvas *c, int at, bool colored)
{
    const unsigned code = 0x2800u + c->points[at];
    const bool     drawn = c->points[at] || c->letter[at];
    if (drawn && colored) fprintf(to, "\033[%dm", colors[c->curve[at] % COLORS]);
    if (c->letter[at] && !colored) fputc(c->letter[at], to);
    else if (c->points[at])
        fprintf(to, "%c%c%c", (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 63)),
                (char)(0x80 | (code & 63)));
    else fputc(' ', to);
    if (drawn && colored) fputs("\033[0m", to);
}

static double shown(const eddy_axis *a, double v) { return a->log ? pow(10, v) : v; }

/* The last column of a row that is not blank, so that lines end where the picture does. */
static int end_of(const canvas *c, int row)
{
    int end = c->width;
    while (end > 0 && !c->points[row * c->width + end - 1] && !c->letter[row * c->width + end - 1])
        end--;
    return end;
}

static void put_rows(FILE *to, const canvas *c, const eddy_axis *y, bool colored)
{
    double    ticks[EDDY_MOST_TICKS];
    const int n = eddy__axis_ticks(y, c->height / 4 + 1, ticks);
    for (int row = 0; row < c->height; row++) {
        char label[32] = "";
        for (int i = 0; i < n; i++)
            if ((int)((1 - eddy__axis_place(y, ticks[i])) * (c->height - 1) + 0.5) == row)
                snprintf(label, sizeof label, "%.6g", shown(y, ticks[i]));
        fprintf(to, "%*.*s %s", LABEL, LABEL, label, *label ? "\u2524" : "\u2502");
        for (int i = 0; i < end_of(c, row); i++) put_letter(to, c, row * c->width + i, colored);
        fputc('\n', to);
    }
}

static void put_x_axis(FILE *to, const canvas *c, const eddy_axis *x, const char *label)
{
    double    ticks[EDDY_MOST_TICKS];
    const int n = eddy__axis_ticks(x, c->width / 12 + 1, ticks);
    int       used = 0;
    fprintf(to, "%*s \u2514", LABEL, "");
    for (int i = 0, k = 0; i < c->width; i++) {
        while (k < n && (int)(eddy__axis_place(x, ticks[k]) * (c->width - 1) + 0.5) < i) k++;
        const bool tick = k < n && (int)(eddy__axis_place(x, ticks[k]) * (c->width - 1) + 0.5) == i;
        fputs(tick ? "\u252c" : "\u2500", to);
    }
    fprintf(to, "\n%*s", LABEL + 2, "");
    for (int k = 0; k < n; k++) {
        char      text[32];
        const int size = snprintf(text, sizeof text, "%.6g", ticks[k]);
        const int at = (int)(eddy__axis_place(x, ticks[k]) * (c->width - 1) + 0.5) - size / 2;
        if (at < used + (k > 0)) continue;
        fprintf(to, "%*s%s", at - used, "", text);
        used = at + size;
    }
    fprintf(to, "%s%s\n", label ? "  " : "", label ? label : "");
}

static void put_legend(FILE *to, const eddy_plot_args *a, bool colored)
{
    bool any = false;
    for (int k = 0; k < a->count; k++) {
        const char *name = a->curves[k].name;
        if (!name) continue;
        fprintf(to, any ? "   " : "%*s", LABEL + 2, "");
        any = true;
        if (colored) fprintf(to, "\033[%dm\u2500\u2500\033[0m %s", colors[k % COLORS], name);
        else if (a->count > 1) fprintf(to, "%c: %s", 'a' + k, name);
        else fputs(name, to);
    }
    if (any) fputc('\n', to);
}

eddy_status eddy_plot_print_with(const eddy_plot_args *given)
{
    eddy_plot_args a = EDDY_TAKE(eddy_plot_args, given);
    eddy_axis      x, y;
    if (a.width == 0) a.width = 72;
    if (a.height == 0) a.height = 16;
    if (a.width < 10 || a.width > 500 || a.height < 10 || a.height > 500) {
        eddy__error_set(a.error, EDDY_INVALID_ARGUMENT,
                        "plot_print: a plot of %d columns and %d lines is not possible; both must "
                        "be from 10 to 500", a.width, a.height);
        return EDDY_INVALID_ARGUMENT;
    }
    const eddy_status status = eddy__plot_axes("plot_print", &a, &x, &y);
    if (status != EDDY_OK) return status;
    FILE          *to = a.to ? a.to : stdout;
    const size_t   size = (size_t)a.width * (size_t)a.height;
    unsigned char *memory = calloc(size, 3);
    canvas c = { a.width, a.height, memory, memory + size, (char *)memory + 2 * size };
    if (!memory) {
        eddy__error_set(a.error, EDDY_NO_MEMORY, "plot_print: out of memory");
        return EDDY_NO_MEMORY;
    }
    const bool colored = eddy__is_colored(to);
    for (int k = 0; k < a.count; k++) draw_curve(&c, &a, k, &x, &y);
    if (a.title) fprintf(to, "%*s%s\n", LABEL + 2, "", a.title);
    if (a.y_label) fprintf(to, "%*s\n", LABEL, a.y_label);
    put_rows(to, &c, &y, colored);
    put_x_axis(to, &c, &x, a.x_label);
    put_legend(to, &a, colored);
    free(memory);
    return eddy__plot_end("plot_print", to, a.error);
}
