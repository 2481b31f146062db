/* compare_derivatives.h -- one point at which derivatives are compared with finite differences; not
 * installed. */
#ifndef EDDY_AUTODIFF_CHECK_COMPARE_DERIVATIVES_H
#define EDDY_AUTODIFF_CHECK_COMPARE_DERIVATIVES_H

#include "autodiff/check/gradient_check.h"
#include "autodiff/internal.h"

/* The largest disagreement between derivatives, relative to the tolerance. */
typedef struct mismatch {
    double  absolute, relative;     /* the largest, wherever */
    double  excess;
    int     x;                      /* number among the comparison's xs */
    int64_t element;
    bool    imaginary;              /* that part of a complex element */
    double  analytic, numeric;
} mismatch;

typedef struct comparison {
    eddy_session *session;          /* the check's own */
    eddy_graph   *graph;
    const eddy_gradient_check_args *args;
    int           n_x, n_y, n_feeds;
    eddy_tensor  *xs, *ys;          /* only those of floating or complex type */
    int          *number;           /* by x: its index in the caller's list */
    eddy_feed    *feeds;            /* with room for the weights and one x */
    bool          alone;        /* compares a single op: only its dependence on its inputs counts */

    eddy_tensor *weights, *dx;      /* by y: a placeholder; by x: its gradient */
    eddy_array **x, **y, **w;       /* the values of xs, of ys, of the weights */
    int64_t      parts, rows;       /* number of parts of all ys; rows of the Jacobian */
    double      *row;               /* rows of weights of the parts; NULL: unit vectors */
    double     **analytic;          /* by x: the rows of its gradient */
    double      *numeric_derivative;   /* of each part of ys */
    double       delta, absolute, relative;
    eddy_arena   arena;
    eddy_status  status;
    bool         varies;            /* ys differ from run to run */
    mismatch     worst;
} comparison;

/* Selects the floating and complex tensors of ys and xs; `feeds` gets room for `more` feeds.
 * False with the status set, like the functions below; call eddy__comparison_end in any case. */
bool eddy__comparison_begin(comparison *p, eddy_list ys, eddy_list xs, eddy_feeds feeds, int more);
void eddy__comparison_end(comparison *p);
/* Makes the session, with the variables of the caller's; for eddy_session_free. */
bool eddy__comparison_open_session(comparison *p);
/* Compares the derivatives and stores the result in p->worst. */
bool eddy__comparison_run(comparison *p);

/* Memory for n items until the end, zeroed. */
void *eddy__comparison_alloc(comparison *p, int64_t n, size_t size);
/* Adds a feed of t, or replaces its value. */
void  eddy__comparison_feed(comparison *p, eddy_tensor t, const eddy_array *value);
/* True if t must be varied by setting it in the session, because a feed would not reach
 * eddy_read. */
bool  eddy__comparison_is_variable(eddy_tensor t);
bool  eddy__comparison_fetch(comparison *p, int n, const eddy_tensor *fetches, eddy_array **out);
void  eddy__arrays_free(eddy_array **a, int n);
/* In [-1, 1), away from 0, the same each time. */
double eddy__random_weight(int64_t row, int64_t part);

/* Access to arrays as lists of real numbers (parts): the elements, or the real and the
 * imaginary part of each element. */
int64_t eddy__parts_of(const eddy_array *a);
void    eddy__part_set(eddy_array *a, int64_t part, double value);

#endif
