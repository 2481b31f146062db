/* hunt.h -- what the hunt finds, and what is known and explained. */
#ifndef EDDY_TESTS_HUNT_HUNT_H
#define EDDY_TESTS_HUNT_HUNT_H

#include "tests/hunt/truth.h"
#include "tests/lib/sweep_rows.h"

/* How a result is wrong. */
enum {
    HUNT_NAN      = 1 << 0,       /* NaN, or infinite, and the truth is a number */
    HUNT_ZERO     = 1 << 1,       /* 0, and the truth is not */
    HUNT_ERROR    = 1 << 2,       /* another number than the truth */
    HUNT_KINK     = 1 << 3,       /* NaN or infinite at a kink */
    HUNT_ANY      = 15
};

typedef struct finding {
    const sweep_row *row;
    eddy_dtype       dtype;
    bool             is_formula;  /* of several operations */
    bool             is_complex, is_matrix, is_singular;
    int              kind, order;
    element          j, k;        /* see truth_of */
    double           got, want;
    int              n;           /* the point, as far as two elements of each input show it */
    double           at[TRUTH_INPUTS][2];
    double           largest, smallest;   /* elements of the point, except 0 */
} finding;

/* Why a finding is acceptable; NULL if nothing explains it. */
const char *hunt_explanation(const finding *f);

typedef struct hunt_counts {
    long points, compared;
    long refused;                 /* values and derivatives whose computation is an error */
} hunt_counts;

/* The rows of the sweep, followed by the hunt's own. */
int              hunt_count(void);
const sweep_row *hunt_row_at(int i);
/* Whether it is one of the hunt's own, and one whose inputs are matrices. */
bool             hunt_is_own(const sweep_row *r);
bool             hunt_of_matrices(const sweep_row *r);

/* Builds a row in an element type, or in the complex one of it, and looks for findings; each is
 * passed to `report`. False with the reason in *skipped if the row is not hunted. Adds to the
 * counts. */
typedef void hunt_report(const finding *f);
bool hunt_row(const sweep_row *r, eddy_dtype dtype, bool is_complex, hunt_report *report,
              const char **skipped, hunt_counts *counts);

#endif
