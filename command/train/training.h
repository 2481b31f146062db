/* training.h -- a training: its data, its network and what it does in each epoch. */
#ifndef COMMAND_TRAIN_TRAINING_H
#define COMMAND_TRAIN_TRAINING_H

#include "command/train/building.h"
#include "command/train/records.h"

#include <eddy/distributed.h>

enum { MOST_METRICS = 16, MOST_LAYERS = 512, MOST_CLASSES = 100 };

typedef struct metric {
    const char *name;
    eddy_tensor value, update;
} metric;

/* A layer, for the table of --dry-run. */
typedef struct layer_note {
    const char *name;
    eddy_tensor y;
    int64_t     parameters;
} layer_note;

typedef struct training {
    const config *root;
    const char   *name, *folder;        /* of the configuration; the folder of the results */
    building      b;
    records       train, held;          /* held.n is 0 without validation */
    eddy_tensor   inputs[MOST_PARTS];   /* the placeholder of each part */
    eddy_array   *learns[2];            /* what is fed to b.training: false, true */
    eddy_tensor   runs;                 /* a variable that counts runs, one or more in each step */
    eddy_tensor   x, output, loss, step, updates, learning_rate;
    eddy_tensor   predicted;            /* the class of each record, for the report; or invalid */
    eddy_gradient_pair *pairs;          /* the gradient of each variable */
    int           n_pairs;
    eddy_tensor   start_metrics;        /* sets them to 0 */
    metric        metrics[MOST_METRICS];
    int           n_metrics;
    layer_note    layers[MOST_LAYERS];
    int           n_layers;

    int64_t     seed, threads, epochs, steps, steps_per_epoch, batch;
    bool        shuffle, deterministic, events, report;
    eddy_dtype    precision;            /* of layers: float32, or a 16-bit type */
    bool          divided;              /* on ranks, which compute the parts of a batch */
    int64_t       ranks, parts;         /* 1 if it is not divided */
    eddy_communicator *communicator;    /* of this rank; NULL: none */
    int64_t     last_checkpoints, checkpoint_steps, event_steps;
    int         monitor;                /* the metric that decides; -1: the loss */
    int64_t     patience;               /* epochs without an improvement; 0: no limit */
    double      least_change;
    int64_t     sample;                 /* characters to write at the end; 0: none */
    double      temperature;
    bool        larger_is_better;
} training;

/* Reads the configuration: data, then network. False after a message. */
bool training_plan(training *t);
bool network_make(training *t);
/* The pipeline of the training and of the validation, from its first epoch. NULL after a message. */
eddy_dataset *training_batches(const training *t, bool held);
/* Feeds for a batch; room for t->train.n + 1. */
eddy_feeds  training_feeds(const training *t, const eddy_array *const *batch, bool learns,
                           eddy_feed *room);
void        network_free(training *t);
void        training_free(training *t);

/* Prints the model and its costs without training. */
int training_show(const training *t);

/* Values after an epoch. */
typedef struct epoch_result {
    int64_t epoch, step;
    double  loss, learning_rate, held_loss, metrics[MOST_METRICS];
} epoch_result;

/* Runs the training, from its last checkpoint if `resume`. */
int training_run(training *t, bool resume);

#endif
