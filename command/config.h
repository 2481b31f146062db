/* config.h -- a YAML file as a tree whose parts know their place, so that every message names the
 * file, the line and the column. */
#ifndef COMMAND_CONFIG_H
#define COMMAND_CONFIG_H

#include "command/command.h"

typedef enum config_kind { CONFIG_TEXT, CONFIG_LIST, CONFIG_MAP } config_kind;

typedef struct config config;
struct config {
    config_kind kind;
    const char *place;                  /* "digits.yaml:3:7" */
    const char *text;                   /* of CONFIG_TEXT */
    int         count;
    config    **keys;                   /* of CONFIG_MAP: texts */
    config    **at;
};

/* Reads a file. NULL after a message. */
config *config_read(const char *path);
/* The same from a text, whose name in messages is `file`. */
config *config_parse(const char *file, const char *bytes, size_t size);
/* Applies "epochs=5" or "optimizer.adam.learning_rate=0.01": the value is YAML. The maps of the
 * path are made if they do not exist; a number is the place in a list, from 0. */
bool    config_set(config *root, const char *assignment);

/* Prints "PLACE: sentence"; false. */
bool    config_fail(const config *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The part with that key; NULL if there is none. */
config *config_get(const config *map, const char *key);
/* Whether c is a map whose keys are all among `known`, ended by NULL. */
bool    config_check(const config *c, const char *what, const char *const *known);

/* Each reads c if it is not NULL, and else leaves *to alone. False after a message. */
bool config_text(const config *c, const char **to);
bool config_number(const config *c, double *to);
bool config_count(const config *c, int64_t least, int64_t *to);
bool config_bool(const config *c, bool *to);
/* Texts of a list, or one. */
bool config_names(const config *c, text_list *to);
/* A number without a message if it is none. */
bool config_is_number(const config *c, double *value);

#endif
