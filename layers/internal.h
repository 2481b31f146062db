/* internal.h -- declarations shared by the layers' own files; not installed. */
#ifndef EDDY_LAYERS_INTERNAL_H
#define EDDY_LAYERS_INTERNAL_H

#include "graph/op.h"
#include "layers/layers.h"

enum { LAYER_NAME = EDDY_MAX_NAME + 1 };

/* A layer that is being built: its scope, and what its variables have in common. */
typedef struct eddy_layer {
    eddy_graph *graph;
    const char *who;            /* "dense", for messages; the default of `name`, too */
    const char *name;           /* of the scope */
    const char *reuse;          /* the scope whose variables are taken; NULL: new ones */
    eddy_dtype  dtype;
    bool        not_trainable;
    int64_t     seed;
} eddy_layer;

/* x is float32 or float64; then *l has its type and graph.  If not, the graph says so. */
bool eddy__layer_takes(eddy_layer *l, eddy_tensor x);

/* The option `what` is above 0; if not, the graph says so. */
bool eddy__layer_count(const eddy_layer *l, const char *what, int64_t n);

/* x has this rank, and dimension `known` of it is known; if not, the graph says so. */
bool eddy__layer_rank(const eddy_layer *l, eddy_tensor x, int rank, int known);

void        eddy__layer_begin(const eddy_layer *l);
eddy_tensor eddy__layer_end(const eddy_layer *l, eddy_tensor y);

/* A variable of a layer: as a rule an option of it, and what that is if left out. */
typedef struct eddy_layer_weight {
    const char      *name;
    eddy_shape       shape;
    eddy_init        init, otherwise;
    eddy_regularizer regularizer;
    bool             not_trainable;
    int              part;           /* of the layer: its random numbers are others */
} eddy_layer_weight;

/* The variable in the scope of the layer, or the one of that name to be used again. */
eddy_tensor eddy__layer_variable(const eddy_layer *l, eddy_layer_weight w);

/* What .reuse is of a layer `name` inside l, in buf; NULL if l makes variables. */
const char *eddy__layer_inside(const eddy_layer *l, const char *name, char buf[LAYER_NAME]);

/* y, whose first dimension is the first `leading` ones of x merged into one, under those
 * and its others. */
eddy_tensor eddy__layer_under(eddy_tensor y, eddy_tensor x, int leading);

/* Which places of sequences there are: bool, of the two first dimensions of x, which are the
 * places, on axis `along`, and the sequences. */
eddy_tensor eddy__layer_within(eddy_tensor x, eddy_tensor lengths, int along);

/* The seed of part k of a layer: another one for each, or none. */
static inline int64_t eddy__layer_seed(int64_t seed, int k)
{
    return seed ? (int64_t)((uint64_t)seed + (uint64_t)k) : 0;
}

/* Whether f is no function but a word, .activation = "relu", of which compilers of C only
 * warn; says so.  `like` is a function that could be meant. */
bool eddy__refuse_text(eddy_graph *g, const char *option, const char *like, void (*f)(void));

/* f(y), or y without an f. */
static inline eddy_tensor eddy__layer_activate(eddy_activation f, eddy_tensor y)
{
    if (eddy__refuse_text(y.graph, "activation", "eddy_relu", (void (*)(void))f))
        return eddy_none(y.graph);
    return f ? f(y) : y;
}

#endif
