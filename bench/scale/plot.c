/* plot.c -- draws the predicted efficiencies that scripts/scale.py writes:
 *
 *   plot weak < scale.tsv > weak.svg
 *
 * Lines have a kind, a curve, ranks and an efficiency, with tabs between. */
#include <eddy/report/plot.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 32, NAME = 64 };

typedef struct points {
    char   name[NAME];
    double x[POINTS], y[POINTS];
} points;

int main(int argc, char **argv)
{
    static points all[EDDY_PLOT_CURVES];
    eddy_curve    curves[EDDY_PLOT_CURVES];
    char          kind[NAME], name[NAME];
    double        ranks, efficiency;
    int           n = 0;
    if (argc != 2) return fprintf(stderr, "plot weak|strong\n"), 2;
    while (scanf("%63s\t%63[^\t]\t%lf\t%lf", kind, name, &ranks, &efficiency) == 4) {
        if (strcmp(kind, argv[1]) != 0) continue;
        int i = 0;
        while (i < n && strcmp(all[i].name, name) != 0) i++;
        if (i == EDDY_PLOT_CURVES || (i < n && curves[i].count == POINTS)) return 1;
        if (i == n) {
            memcpy(all[i].name, name, sizeof name);
            curves[n++] = (eddy_curve){ all[i].name, 0, all[i].x, all[i].y };
        }
        all[i].x[curves[i].count] = log2(ranks);
        all[i].y[curves[i].count++] = efficiency;
    }
    snprintf(name, sizeof name, "Efficiency, %s scaling", argv[1]);
    return eddy_plot_svg(curves, n, .title = name, .x_label = "log2 of ranks") != EDDY_OK;
}
