/* running.h -- a training that runs. */
#ifndef COMMAND_TRAIN_RUNNING_H
#define COMMAND_TRAIN_RUNNING_H

#include "command/train/results.h"

typedef struct running {
    const training *t;
    eddy_session   *s;
    eddy_dataset   *batches, *held;     /* held: of the first rank */
    eddy_array     *losses;             /* of the parts of a batch */
    int             n_summaries;
    eddy_tensor    *fetches;            /* room for those of a step */
    eddy_array    **out;
    state           now;
    history         past;
    reporting       report;
} running;

/* The mean loss and the metrics over all records held out. False after a message. */
bool validate(running *r, epoch_result *e);
/* The training, or the part of it of one rank. False after a message. */
bool training_loop(const training *t, bool resume);
/* The training on several ranks. False after a message. */
bool ranks_run(const training *t, bool resume);

#endif
