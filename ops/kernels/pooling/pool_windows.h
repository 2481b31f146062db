/* pool_windows.h -- pooling windows along one to three axes of tensors with channels last;
 * private to ops/.
 *
 * A window is a box of positions of x. Along each axis it has a first position, a number of
 * positions, and a constant gap between them; padding is excluded. One loop therefore serves
 * windows of a given size and stride, dilated windows and adaptive pooling to any number of
 * outputs. */
#ifndef EDDY_OPS_KERNELS_POOLING_POOL_WINDOWS_H
#define EDDY_OPS_KERNELS_POOLING_POOL_WINDOWS_H

#include "graph/op.h"

enum { EDDY_WINDOW_AXES = 3 };

/* One entry per axis; paddings two, before and after; empty dilations are 1.  With "ADAPTIVE", ksize
 * is the number of windows, EDDY_ANY for one at each position, and the others are unused. */
typedef struct eddy_window_attrs {
    eddy_dims   ksize, strides, dilations, paddings;
    const char *padding;
    bool        count_include_pad;   /* means divide by the whole window */
} eddy_window_attrs;

/* Whether `padding` is `what`; the number of elements of x from the first of a window to its last;
 * the number of windows along axis i of n elements, negative if none fits. */
bool    eddy__window_padding_is(const eddy_window_attrs *a, const char *what);
int64_t eddy__window_span(const eddy_window_attrs *a, int i);
int64_t eddy__window_count(const eddy_window_attrs *a, int i, int64_t n);

/* ---------------------------------------------------------------- kernels -- */

typedef struct eddy_window_axis {
    int64_t  out, apart;         /* number of windows; distance in x between elements of a window */
    int64_t *first, *count;      /* of each window, as positions in x */
} eddy_window_axis;

/* The operands of the loops.  `v` is dy, or the tensor that is read at the maxima; `where` receives
 * the indices of the maxima in x, or in their example if `all` is false. */
typedef struct eddy_window_work {
    int64_t          batch, c, places, windows;  /* positions and windows of an example */
    eddy_window_axis axis[EDDY_WINDOW_AXES];
    int64_t          alike[2], step;         /* equal windows of a single channel, `step` apart */
    int64_t          chunk;                  /* channels of a piece of dx */
    bool             plain, alone, covered;  /* eddy__window_of_images */
    double           share;                  /* divisor of means; 0: the elements inside */
    const void      *x, *v;
    void            *y;
    int64_t         *where;
    bool             all;
} eddy_window_work;

/* Whether the kernels for maxima of x take and yield bfloat16: they convert an example at a time,
 * in the cache. */
static inline bool eddy__window_widens(eddy_type x)
{
    enum { FEWEST = 8, MOST = 1 << 16 };
    return x.dtype == EDDY_BFLOAT16 && x.shape.dim[0] >= FEWEST &&
           eddy_shape_count(x.shape) / x.shape.dim[0] <= MOST;
}

/* The arrangement of x and its windows, as k->state. */
eddy_status eddy__window_prepare(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x,
                                 eddy_shape y);
/* For windows along height and width, without gaps, whose zeros have the signs of TensorFlow's
 * kernels: `plain`, windows of two by two do not start their sum with 0; `alone`, windows do not
 * overlap, so that dx is assigned; `covered`, each element has a window. Others add to
 * zeros, where -0 becomes 0. */
void eddy__window_of_images(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x);
/* A copy of k->state that reads x and v (or NULL) and writes output 0; then y = the maxima, the
 * means, or, with v or `where`, the elements of v or the indices at the maxima; and dx, for maxima
 * if x is given. */
eddy_window_work eddy__window_work_of(const eddy_kernel *k, const eddy_buffer *x,
                                      const eddy_buffer *v);
void eddy__window_max(const eddy_kernel *k, const eddy_window_work *w);
void eddy__window_mean(const eddy_kernel *k, const eddy_window_work *w);
void eddy__window_pick(const eddy_kernel *k, const eddy_window_work *w);
void eddy__window_back(const eddy_kernel *k, const eddy_window_work *w);

#endif
