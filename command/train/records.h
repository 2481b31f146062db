/* records.h -- the records of a training, in memory: arrays with names, of which record i has row
 * i. */
#ifndef COMMAND_TRAIN_RECORDS_H
#define COMMAND_TRAIN_RECORDS_H

#include "command/config.h"

#include <eddy/input.h>

enum { MOST_PARTS = 16 };

typedef struct records {
    int         n;                      /* parts of a record, usually "x" and "y" */
    const char *names[MOST_PARTS];
    eddy_array *arrays[MOST_PARTS];
    int64_t     size;
    int64_t     classes;                /* 0: not known */
    const char **words;                 /* names of the classes; NULL: none */
} records;

/* Reads what `data` names: arrays, csv, images or text. `package` is the Debian package with the
 * files, or NULL. False after a message; free r in any case. */
bool records_read(records *r, const config *data, const char *folder, const char *package);
void records_free(records *r);
/* Moves a part of the records, chosen at random, to `held`. False after a message. */
bool records_hold_out(records *all, records *held, double fraction, int64_t seed, const config *at);
/* Only the first ones. */
bool records_limit(records *r, int64_t size);
/* The mean and standard deviation of each entry along the last axis of a part. */
bool records_moments(const records *r, int part, const config *at, double *mean, double *deviation);

/* Random bits: splitmix64 (Steele, Lea and Flood, 2014). */
uint64_t random_next(uint64_t *state);

/* Compares two texts, for qsort and bsearch on lists of them. */
int text_order(const void *a, const void *b);

/* Each kind of data. */
bool records_arrays(records *r, const config *c, const char *folder, const char *package);
bool records_csv(records *r, const config *c, const char *folder, const char *package);
bool records_images(records *r, const config *c, const char *folder, const char *package);
bool records_text(records *r, const config *c, const char *folder, const char *package);

/* Adds a part, and takes the array over. False after a message. */
bool records_add(records *r, const config *at, const char *name, eddy_array *a);
/* The message for a file that cannot be read. */
bool records_missing(const config *at, const char *message, const char *package);

#endif
