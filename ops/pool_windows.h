/* pool_windows.h -- windows along one to three axes of what has channels last; private to ops/.
 *
 * A window is a box of places of x.  Along each axis it begins at some place and takes some
 * number of them, which lie the same gap apart; what is padding is left out of it.  So windows
 * of a size and a stride, those with gaps and those of any number of outputs are one loop. */
#ifndef EDDY_POOL_WINDOWS_H
#define EDDY_POOL_WINDOWS_H

#include "graph/op.h"

enum { EDDY_WINDOW_AXES = 3 };

/* An entry an axis; of paddings two, before and after.  With "ADAPTIVE" ksize says how many
 * windows there are, EDDY_ANY for one at each place, and the others are nothing. */
typedef struct eddy_window_attrs {
    eddy_dims   ksize, strides, dilations, paddings;
    const char *padding;
    bool        count_include_pad;   /* means divide by the whole window */
} eddy_window_attrs;
extern const eddy_attr_field eddy_window_fields[];

/* ------------------------------------------------------------ definitions -- */

/* *y = the shape of x, input 0, pooled; *x has its rank then. */
bool eddy_window_infer(eddy_infer *c, eddy_shape *x, eddy_shape *y);
/* One operation for each element of each window; and the rule of an op whose inputs and output
 * all have examples in front. */
double eddy_window_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
void   eddy_window_batch(eddy_batch *b);

/* --------------------------------------------------------------- builders -- */

/* Whether channels come second; false after an error if data_format names no layout of this
 * many axes. */
bool eddy_window_format(const char *op, eddy_graph *g, const char *data_format, int axes,
                        bool *planes);
/* The entries of the axes: of one, of one for each, or of one for each dimension of x. */
bool eddy_window_entries(const char *op, eddy_graph *g, const char *what, eddy_dims d, int axes,
                         bool planes, eddy_dims *out);
/* op on x; where channels come second, they are moved to the end and back, or made an axis. */
eddy_tensor eddy_window_apply(const eddy_op_def *op, const eddy_window_attrs *a, eddy_tensor x,
                              bool planes, const char *name);

/* ---------------------------------------------------------------- kernels -- */

typedef struct eddy_window_axis {
    int64_t  out, apart;         /* windows; places of x from one in a window to the next */
    int64_t *first, *count;      /* of each window, in places of x */
} eddy_window_axis;

/* What loops read and write.  `v` is dy, or what is picked at the maxima; `where` the places
 * of those, as numbers of elements of x, of all examples or of their own. */
typedef struct eddy_window_work {
    int64_t          batch, c, places, windows;  /* an example's places and windows */
    eddy_window_axis axis[EDDY_WINDOW_AXES];
    int64_t          alike[2], step;         /* windows of a single channel, `step` apart */
    double           share;                  /* what means divide by; 0: as many as are inside */
    const void      *x, *v;
    void            *y;
    int64_t         *where;
    bool             all;
} eddy_window_work;

/* How x and its windows lie, as k->state. */
eddy_status eddy_window_prepare(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x,
                                eddy_shape y);
/* A copy of that, to be given its arrays; then y = maxima, means, or, with v or `where`, what
 * stands where the maxima are; and dx, of maxima if there is x. */
eddy_window_work eddy_window_work_of(const eddy_kernel *k);
void eddy_window_max(const eddy_kernel *k, const eddy_window_work *w);
void eddy_window_mean(const eddy_kernel *k, const eddy_window_work *w);
void eddy_window_pick(const eddy_kernel *k, const eddy_window_work *w);
void eddy_window_back(const eddy_kernel *k, const eddy_window_work *w);

#endif
