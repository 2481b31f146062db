/* internal.h -- declarations shared by the files of autodiff; not installed. */
#ifndef EDDY_AUTODIFF_INTERNAL_H
#define EDDY_AUTODIFF_INTERNAL_H

#include "autodiff/autodiff.h"
#include "autodiff/functions.h"
#include "graph/internal.h"

/* ------------------------------------------------------------ the sweep -- */

/* What a tape saw, by node id: gradients flow only through recorded nodes, and
 * only to tensors on the tape. */
enum { EDDY_TAPED = 1, EDDY_RECORDED = 2 };
typedef struct eddy_recording {
    const uint8_t          *marks;  /* [1..size] */
    const int32_t          *since;  /* [1..size]; on the tape for nodes with larger ids */
    int32_t                 size;
    const struct eddy_tape *tape;
} eddy_recording;

/* Whether x was on the tape when the node `user` was built. */
bool eddy__on_tape(const eddy_recording *r, eddy_tensor x, int32_t user);

/* eddy_gradients; with a recording, of what it saw alone. */
eddy_status eddy__sweep(const eddy_gradients_args *args, const eddy_recording *recording);

/* The gradient of eddy_recompute_grad, by which every graph knows it. */
extern const eddy_named_rule eddy__recompute_rule;

/* ------------------------------------------------------------ temporaries -- */

/* n tensors from the graph's allocator, all invalid; NULL with the error set. */
eddy_tensor *eddy__tensors_new(eddy_graph *g, int64_t n);
void         eddy__tensors_free(eddy_graph *g, eddy_tensor *t, int64_t n);

/* The graph of the first of them that lives; NULL if there is none. */
eddy_graph *eddy__graph_of_any(eddy_list list);
/* The status of a graph that may be NULL. */
eddy_status eddy__status_of(const eddy_graph *g);
/* All n invalid; `out` may be NULL. */
void eddy__tensors_clear(eddy_graph *g, eddy_tensor *out, int n);

/* Whether `list` holds tensors of g; says on the graph what does not, naming `who`. */
bool eddy__list_is_of(eddy_graph *g, const char *who, const char *what, eddy_list list);

/* The two lists that a sum of products takes, as the call `who` names them. */
typedef struct eddy_weighted {
    const char *who, *what, *of;
    eddy_list   weights, tensors;
} eddy_weighted;
/* Whether there is a weight for each tensor, of its type and shape, invalid ones left out; or
 * none at all.  Says on the graph what is not so. */
bool eddy__weights_fit(eddy_graph *g, const eddy_weighted *w);

/* ----------------------------------------------------------------- subgraphs -- */

/* The nodes between some tensors and what was built from them: a value of
 * theirs depends on a value of `from`, and a value of `to` on theirs. */
enum {
    EDDY_DEPENDS = 1, EDDY_NEEDED = 2, EDDY_BETWEEN = EDDY_DEPENDS | EDDY_NEEDED,
    EDDY_SOURCE = 4                 /* has one of `from`: the subgraph does not go past it */
};
typedef struct eddy_subgraph {
    eddy_graph   *graph;
    int32_t       first, last;      /* ids: the smallest of `from`; the largest then */
    int32_t       random_after;     /* nodes with larger ids that draw numbers depend too */
    uint8_t      *marks;            /* by id - first */
    eddy_tensor **replacements;     /* by id - first: one an output, or NULL; for the caller */
    eddy_arena    arena;
} eddy_subgraph;
/* False with the error set; to be ended in either case. */
bool  eddy__subgraph_begin(eddy_subgraph *s, eddy_graph *g, int n, const eddy_tensor *from, int m,
                       const eddy_tensor *to);
/* The same, where nodes with larger ids than `after` depend on `from` too if they draw. */
bool  eddy__subgraph_begin_random(eddy_subgraph *s, eddy_graph *g, int n, const eddy_tensor *from, int m,
                               const eddy_tensor *to, int32_t after);
/* The node makes random numbers, as far as its op says: it may give others each time, and acts
 * on nothing. */
bool  eddy__is_random(const eddy_node *node);
void  eddy__subgraph_end(eddy_subgraph *s);
void *eddy__subgraph_alloc(eddy_subgraph *s, int64_t n, size_t size);  /* zeroed; NULL with the error */
bool  eddy__subgraph_has(const eddy_subgraph *s, eddy_tensor t, int marks);
/* Input i of the node matters by its value, and depends on `from`. */
bool  eddy__subgraph_input_depends(const eddy_subgraph *s, const eddy_node *node, int i);
/* What stands for t, or t itself. */
eddy_tensor eddy__subgraph_replacement(const eddy_subgraph *s, eddy_tensor t);
void        eddy__subgraph_replace(eddy_subgraph *s, eddy_tensor t, eddy_tensor image);

/* -------------------------------------------------------------- batching -- */

/* ys, built from stand-ins for one example, for all examples: out[k] is ys[k]
 * where stands[i] is each example of batches[i], examples along axis 0; invalid
 * where ys[k] depends on none of the stand-ins.  False with the error set. */
bool eddy__vectorize(eddy_graph *g, int n, const eddy_tensor *stand_ins, const eddy_tensor *batches,
                     int m, const eddy_tensor *ys, eddy_tensor *out);

/* The same for what a function has built: random numbers of nodes with larger ids than `after`
 * are drawn for each example.  Those of others are shared. */
typedef struct eddy_examples {
    int                n;
    const eddy_tensor *stand_ins, *batches;
    int32_t            after;
} eddy_examples;
bool eddy__vectorize_random(eddy_graph *g, eddy_examples e, int m, const eddy_tensor *ys,
                             eddy_tensor *out);
/* What stands for what in a map: the stand-ins of the examples, and behind them, as the map goes
 * on, what was drawn. */
typedef struct eddy_stand_ins {
    eddy_allocator allocator;
    size_t         bytes;
    int            n, room;
    eddy_tensor    at[];            /* room of them, then as many batches */
} eddy_stand_ins;
/* Gives b->y the registered gradient of b->node, mapped over the examples; `all` is read when a
 * gradient is asked, and freed with the graph. */
void eddy__vmap_keep_gradient(eddy_batch *b, const eddy_stand_ins *all);

/* ------------------------------------------------------------- jacobians -- */

eddy_status eddy__jacobian_of(const eddy_jacobian_args *args, const eddy_recording *recording);
eddy_tensor eddy__batch_jacobian_of(const eddy_batch_jacobian_args *args,
                                    const eddy_recording *recording);

/* ------------------------------------------------------------- functions -- */

/* Builds f at x: the number of results in y[EDDY_MAX_RESULTS], each a tensor of
 * g; 0 with the error set. */
int eddy__function_build(eddy_graph *g, const eddy_function *f, eddy_list x, eddy_tensor *y);
/* The graph of x; where x has none, says so on the graph of what f builds of no arguments, and is
 * NULL.  An argument that f reads all the same is an invalid tensor. */
eddy_graph *eddy__function_graph(const char *who, const eddy_function *f, eddy_list x,
                                 const char *missing);
/* Of a node that eddy_custom_gradient, or a map, has put behind results: how many of its inputs
 * are those, in front of what the gradient is of.  0 of any other node. */
int eddy__custom_results(const eddy_graph *g, const eddy_node *node);
/* The same of a node behind one that was mapped; 0 if `rule` is not that of a map. */
int eddy__mapped_results(const eddy_graph *g, const eddy_node *node, const eddy_named_rule *rule);

#endif
