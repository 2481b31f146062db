/* ranks.c -- a training on several ranks, which are threads: each computes parts of a batch. The
 * bits do not depend on the number of ranks: gradients are summed in one order, and random numbers
 * follow the number of the part. */
#include "command/train/running.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef struct ranks {
    const training *t;
    bool            resume;
    pthread_mutex_t lock;               /* of the failure */
    int             failed;             /* the rank whose failure is shown; -1: none */
    bool            own;                /* it had not heard of another rank's */
    char            message[1024];
} ranks;

/* The same training with a graph of its own. */
static training *training_of_rank(const training *t, eddy_communicator *c)
{
    training *own = room(1, sizeof *own);
    *own = (training){
        .root = t->root, .name = t->name, .folder = t->folder,
        .b = { .folder = t->b.folder, .classes = t->b.classes, .steps = t->b.steps,
               .steps_per_epoch = t->b.steps_per_epoch },
        .train = t->train, .held = t->held, .seed = t->seed, .threads = t->threads,
        .epochs = t->epochs, .steps = t->steps, .steps_per_epoch = t->steps_per_epoch,
        .batch = t->batch, .shuffle = t->shuffle, .deterministic = true,
        .events = t->events, .report = t->report, .precision = t->precision,
        .divided = true, .ranks = t->ranks, .parts = t->parts, .communicator = c,
        .last_checkpoints = t->last_checkpoints, .checkpoint_steps = t->checkpoint_steps,
        .event_steps = t->event_steps, .patience = t->patience, .least_change = t->least_change,
        .sample = t->sample, .temperature = t->temperature,
    };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (own->threads == 0) own->threads = cores > t->ranks ? cores / t->ranks : 1;
    return own;
}

/* Whether this rank had heard of another one that failed or ended. */
static bool heard_of_failure(const eddy_communicator *c)
{
    int from;
    return sscanf(eddy_communicator_message(c), "rank %d ", &from) == 1 &&
           from != eddy_communicator_rank(c);
}

/* The failure of a rank that had not heard of another one is shown; of several, that of the lowest
 * rank. */
static void keep_failure(ranks *all, const eddy_communicator *c)
{
    const int  rank = eddy_communicator_rank(c);
    const bool own = !heard_of_failure(c);
    pthread_mutex_lock(&all->lock);
    if (all->failed < 0 || (own && !all->own) || (own == all->own && rank < all->failed)) {
        all->failed = rank;
        all->own = own;
        snprintf(all->message, sizeof all->message, "%s", messages_kept());
    }
    pthread_mutex_unlock(&all->lock);
}

static bool run_rank(eddy_communicator *c, void *context)
{
    ranks *all = context;
    messages_keep(eddy_communicator_rank(c) == 0);
    training  *own = training_of_rank(all->t, c);
    const bool fine = network_make(own) && training_loop(own, all->resume);
    if (!fine && *messages_kept()) {
        keep_failure(all, c);
        eddy_communicator_fail(c, messages_kept());
    }
    network_free(own);
    return fine;
}

bool ranks_run(const training *t, bool resume)
{
    ranks      all = { .t = t, .resume = resume, .lock = PTHREAD_MUTEX_INITIALIZER, .failed = -1 };
    eddy_error e = { 0 };
    if (eddy_run_threads((int)t->ranks, run_rank, &all, &e)) return true;
    const char *message = all.failed >= 0 ? all.message : e.message;
    return *message ? fail(NULL, "%s", message) == SUCCESS : false;
}
