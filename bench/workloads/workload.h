/* workload.h -- training steps to be timed: a workload builds its model and its data into a trial,
 * and the driver (main.c) runs it. Models, data and initial values are those of
 * bench/torch/workloads.py, so both programs compute the same losses. */
#ifndef EDDY_WORKLOAD_H
#define EDDY_WORKLOAD_H

#include "bench/bench.h"
#include "bench/workloads/allocations.h"

enum { TRIAL_FEEDS = 4, TRIAL_FETCHES = 8, TRIAL_BATCHES = 64, TRIAL_VARIABLES = 80 };

/* A workload being run. */
typedef struct trial {
    eddy_graph   *graph;
    int           n_feeds, n_fetches, n_batches, n_variables;
    eddy_tensor   feeds[TRIAL_FEEDS], fetches[TRIAL_FETCHES];
    /* Step i feeds batch[i % n_batches]. */
    eddy_array   *batch[TRIAL_BATCHES][TRIAL_FEEDS];
    eddy_tensor   variables[TRIAL_VARIABLES];
    eddy_array   *initial[TRIAL_VARIABLES];
    /* A feed that changes with every step, Adam's scaled epsilon; or NULL. */
    float        *epsilon;
    /* The loss, computed from the fetched values; NULL: the first of them. */
    double      (*value)(const eddy_array *const *out);
    const char   *data;                     /* name of the data, for the report */
    void         *memory;                   /* that batches borrow */
} trial;

/* ------------------------------------------------------------ models -- */

/* Variables with the numbers of stream `seed`, uniform in +-bound; or all `fill`. */
eddy_tensor trial_uniform(trial *t, eddy_shape s, uint64_t seed, double bound);
eddy_tensor trial_filled(trial *t, eddy_shape s, float fill);
/* ... a matrix in +-scale sqrt(6 / rows). */
eddy_tensor trial_matrix(trial *t, int64_t rows, int64_t columns, uint64_t seed, double scale);
/* ... from elements that the trial takes over. */
eddy_tensor trial_variable(trial *t, eddy_array *value);
/* A variable that exists gets such numbers: a matrix as in trial_matrix, or all `fill`. */
void        trial_set_matrix(trial *t, eddy_tensor variable, uint64_t seed, double scale);
void        trial_set_filled(trial *t, eddy_tensor variable, float fill);

/* A step of an LSTM: the next h, and in c the next c, from z, the input's share of the gates. */
eddy_tensor trial_lstm_step(eddy_tensor z, eddy_tensor wh, eddy_tensor h, eddy_tensor *c);

/* The number of batches, at most TRIAL_BATCHES; the others are ignored. */
void        trial_batches(trial *t, int64_t n);
/* A placeholder; the data of its batches follow one another in `all`. */
eddy_tensor trial_feed(trial *t, eddy_dtype d, eddy_shape s, void *all);
void        trial_fetch(trial *t, eddy_tensor x);

/* Fetches the loss and a step of Adam, rate 1e-3, as in algorithm 1 of Kingma and Ba;
 * with decay, AdamW.  trial_adam_by: the step alone, for one given gradient. */
void        trial_adam(trial *t, eddy_tensor loss, double decay);
void        trial_adam_by(trial *t, eddy_tensor gradient, eddy_tensor variable);

/* -------------------------------------------------------------- data -- */

/* `pixels` [n, 784] in [0, 1] and `labels` [n]: from Fashion-MNIST if it is installed. */
void trial_images(trial *t, int64_t n, float **pixels, int32_t **labels);
/* `n` rows of `width` numbers, labeled by the largest of ten outputs of a linear map. */
void trial_labeled(trial *t, int64_t n, int64_t width, float **x, int32_t **labels);
/* `windows` pieces of text, [windows, length], and the same shifted by one character. */
void trial_text(trial *t, int windows, int length, int32_t **x, int32_t **y);
/* Zeroed memory that lives as long as the trial; ends the program if there is none. */
void *trial_memory(trial *t, int64_t n, size_t size);

enum { VOCABULARY = 65 };

/* --------------------------------------------------------- workloads -- */

void build_logistic(trial *t, int64_t batch);
void build_perceptron(trial *t, int64_t batch);
void build_small(trial *t, int64_t batch);
void build_hessian(trial *t, int64_t batch);
void build_lenet(trial *t, int64_t batch);
void build_residual(trial *t, int64_t batch);
void build_lstm(trial *t, int64_t batch);
void build_unrolled(trial *t, int64_t batch);
void build_scan(trial *t, int64_t batch);
void build_gpt(trial *t, int64_t batch);
void build_ragged(trial *t, int64_t batch);
void build_branches(trial *t, int64_t batch);
void build_writing(trial *t, int64_t letters);
void build_writing_gpt(trial *t, int64_t letters);
void build_elementwise(trial *t, int64_t n);
void build_chain(trial *t, int64_t n);
void build_adam(trial *t, int64_t n);

/* ----------------------------------------------------------- machine -- */

/* By the clock `now`, in seconds: operations a second of sgemm; bytes a second of
 * y = a x + y, x and y being `bytes` in all; elements a second of tanh, sigmoid and exp, one after
 * the other, by the library's inner loops in the fastest cache. */
double limit_products(double (*now)(void), int threads);
double limit_bytes(double (*now)(void), int threads, size_t bytes);
double limit_functions(double (*now)(void), int threads);

#endif
