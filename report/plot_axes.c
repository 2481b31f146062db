/* plot_axes.c -- ranges and round numbers of axes. */
#include "report/plot_axes.h"
#include "graph/base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool eddy__plot_point(const eddy_plot_args *a, const eddy_curve *c, int i, double *x, double *y)
{
    *x = c->x ? c->x[i] : i;
    *y = a->log_y ? log10(c->y[i]) : c->y[i];
    return isfinite(*x) && isfinite(*y) && fabs(*x) < 1e300 && fabs(*y) < 1e300;
}

static void widen(eddy_axis *a, double v)
{
    if (v < a->least) a->least = v;
    if (v > a->most) a->most = v;
}

/* An axis of one value gets a little room on both sides; a tenth of the smallest numbers is 0. */
static void open_range(eddy_axis *a)
{
    double room = fabs(a->least) / 10;
    if (a->most > a->least) return;
    if (room == 0) room = 1;
    a->least -= room;
    a->most += room;
}

eddy_status eddy__plot_axes(const char *who, const eddy_plot_args *a, eddy_axis *x, eddy_axis *y)
{
    int    n = 0;
    double v, w;
    *x = (eddy_axis){ INFINITY, -INFINITY, false };
    *y = (eddy_axis){ INFINITY, -INFINITY, a->log_y };
    if (!a->curves || a->count < 1 || a->count > EDDY_PLOT_CURVES) {
        eddy__error_set(a->error, EDDY_INVALID_ARGUMENT,
                        "%s: the number of curves is %d; it must be from 1 to %d", who,
                        a->curves ? a->count : 0, EDDY_PLOT_CURVES);
        return EDDY_INVALID_ARGUMENT;
    }
    for (int k = 0; k < a->count; k++) {
        const eddy_curve *c = &a->curves[k];
        if (c->count < 0 || (c->count > 0 && !c->y)) {
            eddy__error_set(a->error, EDDY_INVALID_ARGUMENT, "%s: curve %d has no points", who, k);
            return EDDY_INVALID_ARGUMENT;
        }
        for (int i = 0; i < c->count; i++) {
            if (!eddy__plot_point(a, c, i, &v, &w)) continue;
            widen(x, v);
            widen(y, w);
            n++;
        }
    }
    if (n == 0) {
        eddy__error_set(a->error, EDDY_OUT_OF_RANGE, "%s: no point can be drawn", who);
        return EDDY_OUT_OF_RANGE;
    }
    open_range(x);
    open_range(y);
    return EDDY_OK;
}

double eddy__axis_place(const eddy_axis *a, double value)
{
    return (value - a->least) / (a->most - a->least);
}

/* Steps of 1, 2 or 5 times a power of ten; on a logarithmic axis of more than two decades, whole
 * ones. */
int eddy__axis_ticks(const eddy_axis *a, int wanted, double *ticks)
{
    const double rough = (a->most - a->least) / wanted, power = pow(10, floor(log10(rough)));
    const double ratio = rough / power;
    double       step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
    int          n = 0;
    if (a->log && a->most - a->least > 2 && step < 1) step = 1;
    for (double i = ceil(a->least / step - 1e-9); n < EDDY_MOST_TICKS; i++) {
        if (!(i * step <= a->most + 1e-9 * step)) break;
        ticks[n++] = i == 0 ? 0 : i * step;
    }
    return n;
}

bool eddy__is_colored(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(to)) == 1 && !(no && *no) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

eddy_status eddy__plot_end(const char *who, FILE *to, eddy_error *error)
{
    if (fflush(to) == 0 && !ferror(to)) return EDDY_OK;
    eddy__error_set(error, EDDY_IO, "%s: the stream cannot be written: %s", who, strerror(errno));
    return EDDY_IO;
}
