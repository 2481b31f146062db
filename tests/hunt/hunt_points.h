/* hunt_points.h -- the points at which a row is hunted. */
#ifndef EDDY_TESTS_HUNT_HUNT_POINTS_H
#define EDDY_TESTS_HUNT_HUNT_POINTS_H

#include "tests/hunt/hunt.h"

enum { HUNT_ALONG = 4, HUNT_ELEMENTS = 8, HUNT_ROOM = 1 + (1 + 2 * HUNT_ALONG) * TRUTH_INPUTS };

/* A row with its derivatives, in one element type. */
typedef struct hunted {
    const sweep_row *row;
    eddy_dtype    dtype;
    bool          is_singular;            /* the matrix of the point */
    bool          is_complex;             /* inputs 2 i and 2 i + 1 are the parts of the row's i */
    int           n;                      /* inputs, real ones */
    eddy_graph   *graph;
    eddy_session *session;
    exact_graph  *exact;
    eddy_tensor   x[TRUTH_INPUTS], y[TRUTH_OUTPUTS];
    int           n_outputs;
    eddy_shape    shape[TRUTH_INPUTS];
    int           n_along, n_elements;
    element       along[HUNT_ALONG];           /* second and third derivatives are by these */
    element       elements[HUNT_ELEMENTS];     /* ... and by these */
    int           n_fetches;
    eddy_tensor   fetches[HUNT_ROOM];
    struct { int order, along, input; } what[HUNT_ROOM];
    eddy_array   *values[HUNT_ROOM], *point[TRUTH_INPUTS];
    double        most[4];                /* by the order: the size of derivatives */
    hunt_report  *report;
    hunt_counts  *counts;
} hunted;

/* Compares at the point that stands in h->point. */
void hunt_look(hunted *h);
/* Calls it at each point of the row. */
void hunt_points(hunted *h);

#endif
