#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 420, LEFT = 70, RIGHT = 20, TOP = 50, BOTTOM = 55 };

typedef struct axes {
    double x_max, y_min, y_max;
} axes;

static double place_x(const axes *a, double x)
{
    return LEFT + x / a->x_max * (WIDTH - LEFT - RIGHT);
}

static double place_y(const axes *a, double y)
{
    double height = log(fmax(y, a->y_min) / a->y_min) / log(a->y_max / a->y_min);
    return HEIGHT - BOTTOM - height * (HEIGHT - TOP - BOTTOM);
}

static void draw_tick_y(FILE *f, const axes *a, double y)
{
    double at = place_y(a, y);
    fprintf(f, "<line class='grid' x1='%d' y1='%.1f' x2='%d' y2='%.1f'/>\n", LEFT, at,
            WIDTH - RIGHT, at);
    fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", LEFT - 8, at + 4, y);
}

static void draw_tick_x(FILE *f, const axes *a, double x)
{
    double at = place_x(a, x);
    int    bottom = HEIGHT - BOTTOM;
    fprintf(f, "<line class='axis' x1='%.1f' y1='%d' x2='%.1f' y2='%d'/>\n", at, bottom, at,
            bottom + 5);
    fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n", at, bottom + 20, x);
}

static void draw_axes(FILE *f, const axes *a, const char *x_label, const char *y_label)
{
    static const int steps[] = { 1, 2, 5 };
    for (int decade = -12; decade <= 12; decade++) {
        for (int i = 0; i < 3; i++) {
            double y = steps[i] * pow(10, decade);
            if (y >= a->y_min && y <= a->y_max * 1.0001) draw_tick_y(f, a, y);
        }
    }
    /* About five steps, each 1, 2 or 5 times a power of ten. */
    double power = pow(10, floor(log10(a->x_max / 5))), ratio = a->x_max / 5 / power;
    double step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
    for (int i = 0; i * step <= a->x_max * 1.0001; i++) draw_tick_x(f, a, i * step);

    fprintf(f, "<line class='axis' x1='%d' y1='%d' x2='%d' y2='%d'/>\n", LEFT, HEIGHT - BOTTOM,
            WIDTH - RIGHT, HEIGHT - BOTTOM);
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 12, x_label);
    fprintf(f, "<text transform='translate(18 %d) rotate(-90)' text-anchor='middle'>%s</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, y_label);
}

/* Every k-th point of a long curve is enough, and keeps the file small. */
static void draw_curve(FILE *f, const axes *a, const curve *c)
{
    int every = c->n / 4000 + 1;
    fprintf(f, "<polyline class='curve' stroke='%s' stroke-width='%g' points='", c->color,
            c->width);
    for (int i = 0; i < c->n; i += every)
        if (isfinite(c->y[i])) fprintf(f, "%.1f,%.1f ", place_x(a, c->x[i]), place_y(a, c->y[i]));
    fprintf(f, "'/>\n");
}

static void draw_legend(FILE *f, const curve *curves, int n)
{
    for (int i = 0; i < n; i++) {
        int y = TOP + 18 + 20 * i, x = WIDTH - RIGHT - 190;
        fprintf(f, "<line x1='%d' y1='%d' x2='%d' y2='%d' stroke='%s' stroke-width='%g'/>\n", x, y,
                x + 24, y, curves[i].color, fmax(curves[i].width, 2));
        fprintf(f, "<text x='%d' y='%d'>%s</text>\n", x + 32, y + 4, curves[i].name);
    }
}

bool plot_save(const char *path, const char *title, const char *x_label, const char *y_label,
               double low, const curve *curves, int n)
{
    axes a = { .x_max = 0, .y_min = low, .y_max = 2 * low };
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < curves[c].n; i++) {
            if (!isfinite(curves[c].y[i])) continue;
            a.x_max = fmax(a.x_max, curves[c].x[i]);
            a.y_max = fmax(a.y_max, curves[c].y[i]);
        }
    }
    FILE *f = low > 0 && a.x_max > 0 ? fopen(path, "w") : NULL;
    if (!f) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return false;
    }
    fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' "
               "width='%d' height='%d' viewBox='0 0 %d %d'>\n", WIDTH, HEIGHT, WIDTH, HEIGHT);
    fprintf(f, "<style>text { font: 13px sans-serif; fill: #333 } .grid { stroke: #e4e4e4 }"
               " .axis { stroke: #666 } .curve { fill: none; stroke-linejoin: round }"
               " .title { font-size: 16px; font-weight: 600 }</style>\n"
               "<rect width='100%%' height='100%%' fill='white'/>\n"
               "<text class='title' x='%d' y='28'>%s</text>\n", LEFT, title);
    draw_axes(f, &a, x_label, y_label);
    for (int c = 0; c < n; c++) draw_curve(f, &a, &curves[c]);
    draw_legend(f, curves, n);
    fprintf(f, "</svg>\n");
    bool ok = !ferror(f);
    return fclose(f) == 0 && ok;
}
