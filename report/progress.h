/* progress.h -- the progress of a loop, as a bar in the terminal or as plain lines.
 *
 *   eddy_progress *p = eddy_progress_new(.total = steps, .label = "training");
 *   for (int step = 0; step < steps; step++) {
 *       ...
 *       eddy_progress_metric(p, "loss", loss);
 *       eddy_progress_add(p, 1);
 *   }
 *   eddy_progress_free(p);
 *
 *   training  42% |############                  | 420/1000 [00:12 < 00:16, 35.1/s] loss 0.3141
 *
 * On a terminal the bar is redrawn in its line, at most ten times a second, and takes the width of
 * the terminal as it is then. Elsewhere, as in a file or a pipe, a line is written every
 * `interval` seconds and at the end. Nothing is written before the first step. */
#ifndef EDDY_PROGRESS_H
#define EDDY_PROGRESS_H

#include "../graph/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_progress eddy_progress;

typedef struct eddy_progress_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_progress_args));
    int64_t     total;            /* steps; 0: unknown, so there is no bar and no remaining time */
    const char *label;            /* default: none */
    const char *unit;             /* of the rate, "images": "35.1 images/s" */
    FILE       *to;               /* default: stderr */
    int64_t     done;             /* steps done before, as by a training that is resumed: they do
                                   * not count for the rate */
    double      interval EDDY_DEFAULT(10);  /* seconds between lines where there is no terminal; at
                                             * most 0: a line for each step */
} eddy_progress_args;

/* Begins now. NULL if out of memory; every function below then does nothing. A negative number
 * counts as 0. A process should have one bar for each stream at a time. */
EDDY_API eddy_progress *eddy_progress_new_with(const eddy_progress_args *given);
#define eddy_progress_new(...) eddy_progress_new_with(EDDY_ARGS(eddy_progress_args, __VA_ARGS__))
/* n more steps are done; several threads may call it. Takes some 30 nanoseconds if nothing is
 * drawn. */
EDDY_API void eddy_progress_add(eddy_progress *p, int64_t n);
/* Shows a number behind the bar from now on; the name is copied. At most 8 names of at most 31
 * bytes; further ones are ignored. */
EDDY_API void eddy_progress_metric(eddy_progress *p, const char *name, double value);
/* Writes a line of text above the bar, which is then drawn again, so that they do not mix. Without
 * a bar it is written as it is. Control characters become blanks. */
EDDY_API void eddy_progress_log(eddy_progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Steps done, steps per second and seconds that remain; NaN if that is not known. */
EDDY_API int64_t eddy_progress_done(const eddy_progress *p);
EDDY_API double  eddy_progress_rate(const eddy_progress *p);
EDDY_API double  eddy_progress_remaining(const eddy_progress *p);
/* Draws the last state, ends the line and frees p. */
EDDY_API void eddy_progress_free(eddy_progress *p);

#ifdef __cplusplus
}
#endif
#endif
