#include "plot.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 420, LEFT = 70, RIGHT = 20, TOP = 50, BOTTOM = 55 };

typedef struct axis {
    double from, to, step;      /* in the data's units */
    double at, length;          /* in pixels; length is negative for y, which grows upwards */
} axis;

static double place(const axis *a, double v)
{
    return a->at + (v - a->from) / (a->to - a->from) * a->length;
}

/* Ends of the axis at multiples of 1, 2 or 5 times a power of ten. */
static void round_axis(axis *a, double low, double high, bool keep_end)
{
    double span = high > low ? high - low : 1, power = pow(10, floor(log10(span / 5)));
    double ratio = span / 5 / power;
    a->step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    a->from = a->step * floor(low / a->step);
    a->to = keep_end ? high : a->step * ceil(high / a->step - 1e-9);
    if (!(a->to > a->from)) a->to = a->from + a->step;
}

static void draw_axes(FILE *f, const axis *x, const axis *y, const char *x_label,
                      const char *y_label)
{
    double left = x->at, right = x->at + x->length, bottom = y->at;
    for (int i = 0; y->from + i * y->step <= y->to + 1e-9 * y->step; i++) {
        double v = y->from + i * y->step, py = place(y, v);
        fprintf(f, "<line class='grid' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", left, py,
                right, py);
        fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n", left - 8, py + 4, v);
    }
    for (int i = 0; x->from + i * x->step <= x->to + 1e-9 * x->step; i++) {
        double v = x->from + i * x->step, px = place(x, v);
        fprintf(f, "<line class='axis' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", px, bottom, px,
                bottom + 5);
        fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n", px, bottom + 20, v);
    }
    fprintf(f, "<line class='axis' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", left, bottom,
            right, bottom);
    fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", (left + right) / 2,
            HEIGHT - 12, x_label);
    fprintf(f, "<text transform='translate(18 %.1f) rotate(-90)' text-anchor='middle'>%s</text>\n",
            bottom + y->length / 2, y_label);
}

/* Every k-th point of a long curve is enough, and keeps the file small. */
static void draw_curve(FILE *f, const axis *x, const axis *y, const curve *c)
{
    int every = c->n / 4000 + 1;
    fprintf(f,
            "<polyline fill='none' stroke='%s' stroke-width='%g' stroke-linejoin='round' points='",
            c->colour, c->width);
    for (int i = 0; i < c->n; i += every)
        if (isfinite(c->y[i])) fprintf(f, "%.1f,%.1f ", place(x, c->x[i]), place(y, c->y[i]));
    fprintf(f, "'/>\n");
}

static void draw_legend(FILE *f, const curve *curves, int n)
{
    for (int i = 0; i < n; i++) {
        int py = TOP + 18 + 20 * i, px = WIDTH - RIGHT - 190;
        fprintf(f, "<line x1='%d' y1='%d' x2='%d' y2='%d' stroke='%s' stroke-width='%g'/>\n",
                px, py, px + 24, py, curves[i].colour, curves[i].width < 2 ? 2 : curves[i].width);
        fprintf(f, "<text x='%d' y='%d'>%s</text>\n", px + 32, py + 4, curves[i].name);
    }
}

bool plot_save(const char *path, const char *title, const char *x_label, const char *y_label,
               const curve *curves, int n)
{
    double x_max = 0, low = INFINITY, high = -INFINITY;
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < curves[c].n; i++) {
            if (!isfinite(curves[c].y[i])) continue;
            x_max = fmax(x_max, curves[c].x[i]);
            low = fmin(low, curves[c].y[i]);
            high = fmax(high, curves[c].y[i]);
        }
    }
    axis x = { .at = LEFT, .length = WIDTH - LEFT - RIGHT };
    axis y = { .at = HEIGHT - BOTTOM, .length = -(HEIGHT - TOP - BOTTOM) };
    round_axis(&x, 0, x_max, true);
    round_axis(&y, low <= high ? fmin(low, 0) : 0, low <= high ? high : 1, false);

    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return false;
    }
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d'>\n"
            "<style>text { font: 13px sans-serif; fill: #333 } .grid { stroke: #e4e4e4 }"
            " .axis { stroke: #666 } .title { font-size: 16px; font-weight: 600 }</style>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n"
            "<text class='title' x='%d' y='28'>%s</text>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, title);
    draw_axes(f, &x, &y, x_label, y_label);
    for (int c = 0; c < n; c++) draw_curve(f, &x, &y, &curves[c]);
    draw_legend(f, curves, n);
    fprintf(f, "</svg>\n");
    bool ok = !ferror(f);
    return fclose(f) == 0 && ok;
}
