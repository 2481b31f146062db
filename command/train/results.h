/* results.h -- what a training prints and writes. */
#ifndef COMMAND_TRAIN_RESULTS_H
#define COMMAND_TRAIN_RESULTS_H

#include "command/train/training_state.h"

/* Output while the training runs: a bar, a line for each epoch, event files, or JSON. */
typedef struct reporting {
    const training *t;
    eddy_session   *session;
    eddy_progress  *bar;
    eddy_events    *events;
    int64_t         before;             /* steps of earlier runs of the program */
    double          loss;               /* a moving average */
    double          seconds;            /* of the steps of this epoch, which the program ran */
    int64_t         steps;
    bool            open;               /* JSON has been begun */
} reporting;

void report_begin(reporting *r, const training *t, eddy_session *s, const state *now);
void report_step(reporting *r, int64_t step, double loss, double rate, double seconds);
void report_epoch(reporting *r, const epoch_result *e, bool best);
void report_end(reporting *r);          /* of the bar */
void report_close(reporting *r);         /* of the event file and of JSON */

/* The event file: from its beginning, after an epoch, at its end. */
void events_begin(reporting *r, const state *now);
void events_epoch(const reporting *r, const epoch_result *e);
void events_end(reporting *r);
/* Adds what the network with the best weights gets wrong, and makes the page FOLDER/report.html. False
 * after a message. */
bool events_report(reporting *r, int64_t step);
/* The matrix of classes and pictures of wrong examples, if the network tells classes apart. */
bool mistakes_write(const training *t, eddy_session *s, int64_t step, eddy_events *to);

/* Makes the folder; refuses one with checkpoints unless the training is resumed. */
bool results_folder(const training *t, bool resume);
/* Prints what a network of characters writes. */
bool sample_text(const training *t, eddy_session *s);
/* Writes the network with the best weights, and the names of classes. */
bool results_write(const training *t, eddy_session *s, const state *now, const history *past,
                   reporting *r);

#endif
