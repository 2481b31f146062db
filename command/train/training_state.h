/* training_state.h -- where a training is: what a checkpoint has besides variables, random draws
 * and the position of the data. */
#ifndef COMMAND_TRAIN_TRAINING_STATE_H
#define COMMAND_TRAIN_TRAINING_STATE_H

#include "command/train/training.h"

typedef struct state {
    int64_t step;                       /* steps done */
    int64_t epoch;                      /* epochs done */
    double  loss_sum;                   /* of the epoch so far */
    int64_t loss_count;
    double  rate;                       /* the learning rate of the last step; NAN: not known */
    double  best;                       /* of the monitored value; NAN: none yet */
    int64_t best_epoch;
    double  gain;                       /* the value after the last change by least_change */
    int64_t gain_epoch;
} state;

/* Whether the training is over: all steps are done, or epochs have brought no improvement. */
bool state_is_final(const training *t, const state *now);

/* Saves a checkpoint; `value` is that of the monitored metric, NAN if the epoch is not over. False after a message. */
bool state_save(const training *t, eddy_session *s, eddy_dataset *d, const state *now,
                double value);
/* Goes to the last checkpoint, if there is one. False after a message. */
bool state_restore(const training *t, eddy_session *s, eddy_dataset *d, state *now);
/* Whether the folder has a checkpoint. */
bool state_exists(const training *t, bool *exists);

/* The values of each epoch, in FOLDER/history.csv. */
typedef struct history {
    int           count, capacity;
    epoch_result *at;
} history;
/* Reads the epochs up to `epoch`. */
bool history_read(history *h, const training *t, int64_t epoch);
bool history_add(history *h, const training *t, const epoch_result *e);

#endif
