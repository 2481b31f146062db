/* internal.h -- declarations shared by the layers' own files; not installed. */
#ifndef EDDY_LAYERS_INTERNAL_H
#define EDDY_LAYERS_INTERNAL_H

#include "graph/op.h"
#include "layers/layers.h"

enum { LAYER_NAME = EDDY_MAX_NAME + 1 };

/* A layer under construction: its scope, and options that its variables share. */
typedef struct eddy_layer {
    eddy_graph *graph;
    const char *who;            /* "dense", for messages; the default of `name`, too */
    const char *name;           /* name of the scope */
    const char *reuse;          /* the scope whose variables are reused; NULL: new variables */
    eddy_dtype  dtype;
    bool        not_trainable;
    int64_t     seed;
} eddy_layer;

/* If x is float32 or float64, sets the type and graph of *l; otherwise reports an error. */
bool eddy__layer_check_input(eddy_layer *l, eddy_tensor x);

/* Checks that the option `what` is positive; otherwise reports an error. */
bool eddy__layer_check_count(const eddy_layer *l, const char *what, int64_t n);

/* Checks that x has this rank and that dimension `known` is known; otherwise reports an error. */
bool eddy__layer_check_rank(const eddy_layer *l, eddy_tensor x, int rank, int known);

/* Checks the lengths of sequences, the option `what` of `who`: int32 or int64 [batch] in the graph
 * of x, `axis` being the batch of x, or omitted; otherwise reports an error. Their rank may be
 * unknown. */
bool eddy__layer_check_lengths(const char *who, const char *what, eddy_tensor lengths,
                               eddy_tensor x, int axis);
/* The lengths, which must be checked. If a run decides how many there are, it fails unless they are
 * one per example: broadcasting would take one length for all, and groups would leave out
 * examples. */
eddy_tensor eddy__layer_lengths(const char *what, eddy_tensor lengths, eddy_tensor x, int axis);

void        eddy__layer_begin(const eddy_layer *l);
eddy_tensor eddy__layer_end(const eddy_layer *l, eddy_tensor y);

/* A variable of a layer, usually described by an option, and its default. */
typedef struct eddy_layer_weight {
    const char      *name;
    eddy_shape       shape;
    eddy_init        init, otherwise;
    eddy_regularizer regularizer;
    bool             not_trainable;
    int              part;  /* number of the variable in the layer, which has its own random numbers */
} eddy_layer_weight;

/* What the creator of the graph makes (variable_creator.h), or a variable. */
struct eddy_variable_request;
eddy_tensor eddy__requested_variable(const struct eddy_variable_request *r);

/* The variable in the scope of the layer, or the variable of that name that is reused. */
eddy_tensor eddy__layer_variable(const eddy_layer *l, eddy_layer_weight w);

/* The value of .reuse for a layer `name` inside l, stored in buf; NULL if l creates variables. */
const char *eddy__layer_inner_reuse(const eddy_layer *l, const char *name, char buf[LAYER_NAME]);

/* y with its first dimension split into the first `leading` dimensions of x. */
eddy_tensor eddy__layer_restore_dims(eddy_tensor y, eddy_tensor x, int leading);

/* The valid positions of sequences: bool, with the two leading dimensions of x, of rank 2 or more,
 * the positions on axis `along` and the sequences on the other. */
eddy_tensor eddy__layer_valid_positions(eddy_tensor x, eddy_tensor lengths, int along);

/* The seed of part k of a layer: different for each part; 0 if the layer has none. */
static inline int64_t eddy__layer_seed(int64_t seed, int k)
{
    return seed ? (int64_t)((uint64_t)seed + (uint64_t)k) : 0;
}

/* True if f is a string, .activation = "relu", for which C compilers only warn; then reports
 * an error that suggests `like`. */
bool eddy__refuse_text(eddy_graph *g, const char *option, const char *like, void (*f)(void));

/* f(y), or y without an f. */
static inline eddy_tensor eddy__layer_activate(eddy_activation f, eddy_tensor y)
{
    if (eddy__refuse_text(y.graph, "activation", "eddy_relu", (void (*)(void))f))
        return eddy_none(y.graph);
    return f ? f(y) : y;
}

#endif
