/* reader.h -- the state of one reading: what the files that drive it share. */
#ifndef EDDY_FORMATS_TENSORFLOW_READER_H
#define EDDY_FORMATS_TENSORFLOW_READER_H

#include "build.h"
#include "parse_json.h"

/* The numbers of a graph's nodes and arguments by name: a hash table. */
typedef struct tf_index {
    struct tf_index *next;
    const tf_graph  *graph;
    int32_t         *at;            /* 1 + the number of a node; minus that of an argument; 0: none */
    size_t           room;          /* a power of two */
} tf_index;

typedef enum tf_progress { TF_NEW, TF_OPEN, TF_DONE } tf_progress;

/* The known facts about a node in one scope. */
typedef struct tf_slot {
    tf_progress progress;
    tf_value  **out;
    int         n_out;
} tf_slot;

/* One building of a graph: the main graph, a call of a function, or a part of an outer scope that
 * becomes a branch or a body. */
struct tf_scope {
    const tf_graph *graph;
    const tf_index *index;
    tf_slot        *slots;          /* of each node */
    tf_value      **args;
    tf_scope       *outer;          /* whose values are used where they are built; NULL: none */
    const char     *place;          /* before "node 'x'": "", "function 'f' " */
    int             depth;
};

struct tf_reader {
    reading          base;
    source         **groups;        /* of weights, of the manifest */
    eddy_tensorflow_args options;
    tf_file         *model;         /* in `memory`, which the caller's model keeps */
    tf_manifest      manifest;
    eddy_checkpoint *checkpoint;    /* the variables of a SavedModel */
    const tf_signature *signature;  /* NULL: none */
    tf_index        *indices;
    tf_scope        *main;
    eddy_tensorflow_model *made;    /* the result */
    int64_t          effort;        /* nodes looked at: see eddy__tf_effort */
    int64_t          repeated;      /* bytes of elements that the file does not have */
    int              bodies;        /* branches and bodies that are being built */
};

enum { TF_MAX_DEPTH = 32, TF_MAX_NODES = 1 << 20, TF_MAX_EFFORT = 1 << 28,
       TF_MAX_REPEATED = 32 << 20 };

/* Counts work on n nodes; false with the error once a file has asked for too much, as functions
 * that call others twice, again and again, would. */
bool      eddy__tf_effort(tf_reader *r, size_t n);

/* A new scope of a graph; NULL with the error. */
tf_scope *eddy__tf_scope(tf_reader *r, const tf_graph *g, const char *place, int depth);
/* The node or argument that an input names, "x:1", and the number of the output; 1 + the number of
 * a node, minus that of an argument, 0 if there is none. */
int32_t   eddy__tf_resolve(const tf_scope *s, const char *input, int *output);
/* The value that an input names, built if need be; NULL with the error of the reader. */
tf_value *eddy__tf_value_of(tf_reader *r, tf_scope *s, const char *input);
/* The same of a value that is built; NULL if it is not. */
tf_value *eddy__tf_lookup(const tf_scope *s, const char *input);

/* The elements of a constant of the file; NULL with the error of the reader. It is kept until the
 * reader is freed. */
eddy_array *eddy__tf_elements(tf_reader *r, const char *name, tf_tensor *t);
/* The same of a weight in the manifest of TensorFlow.js; NULL without an error if there is none. */
eddy_array *eddy__tf_weight(tf_reader *r, const char *name);
/* The bits of an element in a file of weights; 0 for other types and texts. */
int         eddy__tf_weight_bits(const char *dtype);
/* The known elements of integer outputs. */
void        eddy__tf_propagate(tf_build *b);
/* Records the first error of the reader, with the path; returns false. */
bool        eddy__tf_error(tf_reader *r, eddy_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Opens what the options name; false with the error. */
bool        eddy__tf_open(tf_reader *r, const eddy_tensorflow_args *given);
void        eddy__tf_close(tf_reader *r);

#endif
