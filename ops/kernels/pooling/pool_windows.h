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

/* An entry an axis; of paddings two, before and after.  With "ADAPTIVE" ksize says how many
 * windows there are, EDDY_ANY for one at each place, and the others are nothing. */
typedef struct eddy_window_attrs {
    eddy_dims   ksize, strides, dilations, paddings;
    const char *padding;
    bool        count_include_pad;   /* means divide by the whole window */
} eddy_window_attrs;

/* Whether `padding` is that; the elements of x from the first of a window to its last, and one;
 * the windows along axis i of n elements, negative if none fits. */
bool    eddy__window_padding_is(const eddy_window_attrs *a, const char *what);
int64_t eddy__window_span(const eddy_window_attrs *a, int i);
int64_t eddy__window_count(const eddy_window_attrs *a, int i, int64_t n);

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
    int64_t          chunk;                  /* channels of a piece of dx */
    bool             plain, alone, covered;  /* eddy__window_of_images */
    double           share;                  /* what means divide by; 0: as many as are inside */
    const void      *x, *v;
    void            *y;
    int64_t         *where;
    bool             all;
} eddy_window_work;

/* How x and its windows lie, as k->state. */
eddy_status eddy__window_prepare(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x,
                                 eddy_shape y);
/* For windows along height and width, without gaps, whose zeros have the signs of TensorFlow's
 * kernels: `plain`, windows of two by two sum without a 0 to begin with; `alone`, no window has
 * an element of another, so that dx is set; `covered`, each element has a window. Others add to
 * zeros, where -0 becomes 0. */
void eddy__window_of_images(eddy_kernel *k, const eddy_window_attrs *a, eddy_shape x);
/* A copy of that, to be given its arrays; then y = maxima, means, or, with v or `where`, what
 * stands where the maxima are; and dx, of maxima if there is x. */
eddy_window_work eddy__window_work_of(const eddy_kernel *k);
void eddy__window_max(const eddy_kernel *k, const eddy_window_work *w);
void eddy__window_mean(const eddy_kernel *k, const eddy_window_work *w);
void eddy__window_pick(const eddy_kernel *k, const eddy_window_work *w);
void eddy__window_back(const eddy_kernel *k, const eddy_window_work *w);

#endif
