/* show.h -- terminal output of a training program: a progress bar, a confusion matrix, images. */
#ifndef EXAMPLES_SHOW_H
#define EXAMPLES_SHOW_H

#include <stdbool.h>
#include <stdint.h>

/* One line that is redrawn on a terminal, or occasional plain lines if stdout is not a terminal. */
typedef struct progress {
    int    total, batch;       /* steps; samples in a step */
    int    plain_every;        /* steps between plain lines */
    bool   terminal;
    double start, drawn;       /* seconds */
    double loss, accuracy;     /* running averages */
} progress;

void progress_begin(progress *p, int total_steps, int samples_per_step, int plain_every);
void progress_step(progress *p, int step, double loss, double accuracy);   /* step from 1 */
void progress_end(progress *p);
double seconds_now(void);

enum { CLASSES = 10 };

/* count[true][predicted], with the share that was found of each class. */
void show_confusion(int count[CLASSES][CLASSES], const char *const names[CLASSES]);

/* n images side by side with what they are and what was predicted. */
void show_images(int n, const uint8_t *const *pixels, int rows, int cols, int white,
                 const char *const *truth, const char *const *predicted);

#endif
