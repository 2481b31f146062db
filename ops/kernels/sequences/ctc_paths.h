/* ctc_paths.h -- sums over all CTC alignments of a sequence of labels; private to ops/.
 *
 * A path visits one class per step; it yields the labels when repeated classes are merged and
 * blanks removed. Z is the sum over the paths of the products of their probabilities. */
#ifndef EDDY_OPS_KERNELS_SEQUENCES_CTC_PATHS_H
#define EDDY_OPS_KERNELS_SEQUENCES_CTC_PATHS_H

#include "graph/op.h"

enum { EDDY_CTC_DIRECTIONS = 4 };            /* most of them */

/* The layout of log probabilities, labels and their lengths in inputs 0 to 3 of a kernel. */
typedef struct eddy_ctc {
    const eddy_kernel *k;
    int64_t batch, steps, classes, labels;   /* sizes of the inputs */
    int64_t step, example;                   /* strides of log probabilities */
    int64_t blank;
    bool    collapse;                        /* repeated labels are merged */
    int     directions;                      /* inputs from 4 on */
} eddy_ctc;

/* The number of doubles of memory per example; `all` steps are kept for posteriors. */
double eddy__ctc_numbers(int64_t steps, int64_t labels, int directions, bool all);

/* loss[b] = -ln Z of each example, infinite where no path has the right length. */
eddy_status eddy__ctc_losses(eddy_kernel *k, const eddy_ctc *c);

/* y = the derivative of ln Z for each log probability; with directions, that of its
 * derivatives along all of them. */
eddy_status eddy__ctc_posteriors(eddy_kernel *k, const eddy_ctc *c);

#endif
