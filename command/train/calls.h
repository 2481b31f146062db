/* calls.h -- the calls of the library that a configuration can name: layers and operations,
 * losses, metrics, initializers, optimizers and schedules, with their options.
 *
 * The table is generated from the public headers by calls.awk, so a new operation or option can be
 * used as soon as it is declared. */
#ifndef COMMAND_TRAIN_CALLS_H
#define COMMAND_TRAIN_CALLS_H

#include <eddy/eddy.h>

typedef enum member_kind {
    MEMBER_OTHER,                       /* cannot be written: keeps its default */
    MEMBER_TENSOR, MEMBER_LIST, MEMBER_INT64, MEMBER_INT, MEMBER_DOUBLE, MEMBER_BOOL, MEMBER_TEXT,
    MEMBER_DIMS, MEMBER_SHAPE, MEMBER_DTYPE, MEMBER_ENUM, MEMBER_ACTIVATION, MEMBER_INITIALIZER,
    MEMBER_STRUCT, MEMBER_OPTIMIZER, MEMBER_GRAPH,
    MEMBER_UPDATE                       /* eddy_tensor *: receives the update of a metric */
} member_kind;

typedef struct call_value {
    const char *name;                   /* "EDDY_LSTM_CELL" */
    int         value;
} call_value;

typedef struct call_struct call_struct;

typedef struct call_member {
    const char        *name;
    member_kind        kind;
    size_t             offset;
    const char        *otherwise;       /* the default as it is written in C; NULL: none */
    const char        *comment;         /* may be NULL */
    const call_struct *members;         /* of MEMBER_STRUCT */
    const call_value  *values;          /* of MEMBER_ENUM, ended by a NULL name */
} call_member;

struct call_struct {
    size_t             size;
    void             (*defaults)(void *s);
    const call_member *at;              /* ended by a NULL name */
};

typedef enum result_kind {
    RESULT_TENSOR, RESULT_OPTIMIZER, RESULT_INITIALIZER,
    RESULT_STRUCT                       /* of tensors, the first of which is the main one */
} result_kind;

typedef struct call {
    const char        *name;            /* without eddy_ */
    const char        *header, *comment;
    result_kind        result;
    const call_struct *arguments, *results;     /* results: of RESULT_STRUCT */
    void             (*make)(const void *arguments, void *result);
    eddy_activation    activation;      /* the function itself, if it takes one tensor */
} call;

extern const call calls[];              /* sorted by name */
extern const int  calls_count;

#endif
