/* building.h -- calls of the library from a configuration: the layers of a network, its loss,
 * metrics and optimizer. */
#ifndef COMMAND_TRAIN_BUILDING_H
#define COMMAND_TRAIN_BUILDING_H

#include "command/model.h"
#include "command/train/calls.h"
#include "command/config.h"

enum { MOST_NAMES = 64 };

/* The tensors and settings that a call can refer to. */
typedef struct building {
    eddy_graph *graph;
    const char *folder;                 /* of the configuration: its paths begin there */
    eddy_tensor x;                      /* what the next layer takes */
    eddy_tensor labels;                 /* of losses and metrics; x is then the network's output */
    eddy_tensor training, global_step;
    eddy_tensor update;                 /* of the last metric */
    eddy_tensor learning_rate;          /* of an optimizer, if it is given */
    int64_t     classes;                /* "classes" in a configuration; 0: not known */
    int64_t     steps, steps_per_epoch; /* of the whole training */
    const config *weights[MOST_NAMES];  /* checkpoints for the variables of models from files */
    int         n_weights;
    named       names[MOST_NAMES];      /* parts of records, and layers with `as` */
    int         n_names;
} building;

typedef enum call_role {
    ROLE_LAYER, ROLE_LOSS, ROLE_METRIC, ROLE_OPTIMIZER, ROLE_SCHEDULE, ROLE_INITIALIZER,
    ROLE_ACTIVATION
} call_role;

/* The call that c names: "dense", or the only key of {dense: OPTIONS}. *options is NULL without
 * options. NULL after a message. */
const call *call_find(const config *c, call_role role, const config **options);
/* The calls that a name means in any role; how many. */
int         calls_named(const char *name, const call **found, int most);
/* The words of "layers", "losses", "metrics", "optimizers", "schedules", "initializers" or
 * "activations", ended by NULL, and their calls; NULL for another name. */
const char **calls_of_role(const char *name, const call ***of);
/* Prints what is known of a name, or the words of a role. */
int         call_describe(const char *name);
/* Calls it; *result gets a tensor, an optimizer or an initializer. `at` is the place for messages.
 * False after a message. */
bool        call_make(building *b, const call *k, call_role role, const config *at,
                      const config *options, void *result);
/* Fills a member from its configuration. */
bool        member_fill(building *b, const call_member *m, call_role role, const config *c, void *to);

/* The place of the name among the keys of a layer, which may have `as` before it. */
int         layer_key(const config *layer);
/* The result of these layers, a list, for b->x, which is left as it was. */
bool        chain_make(building *b, const config *layers, eddy_tensor *y);
/* Restores the variables that are in b->weights. False after a message. */
bool        weights_restore(const building *b, eddy_session *s);
/* Makes `name` refer to t. */
bool        name_add(building *b, const config *at, const char *name, eddy_tensor t);
/* Whether the graph has no error; else a message at this place. */
bool        graph_is_fine(const building *b, const config *at);
/* A path of the configuration. */
const char *path_of(const char *folder, const char *path);

#endif
