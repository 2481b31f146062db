/* internal.h -- declarations shared by the files of autodiff; not installed. */
#ifndef EDDY_AUTODIFF_INTERNAL_H
#define EDDY_AUTODIFF_INTERNAL_H

#include "autodiff/autodiff.h"
#include "autodiff/functions.h"
#include "graph/internal.h"

/* ------------------------------------------------------------ the sweep -- */

/* The nodes that a tape recorded, by node id: gradients flow only through recorded nodes, and
 * only to tensors on the tape. */
enum { EDDY_TAPED = 1, EDDY_RECORDED = 2 };
typedef struct eddy_recording {
    const uint8_t          *marks;  /* [1..size] */
    const int32_t          *since;  /* [1..size]; on the tape for nodes with larger ids */
    int32_t                 size;
    const struct eddy_tape *tape;
} eddy_recording;

/* True if x was on the tape when the node `user` was built. */
bool eddy__on_tape(const eddy_recording *r, eddy_tensor x, int32_t user);

/* eddy_gradients; if there is a recording, only along its nodes. */
eddy_status eddy__sweep(const eddy_gradients_args *args, const eddy_recording *recording);

/* The gradient of eddy_recompute_grad, by which every graph knows it. */
extern const eddy_named_rule eddy__recompute_rule;

/* ------------------------------------------------------------ temporaries -- */

/* n tensors from the graph's allocator, all invalid; NULL with the error set. */
eddy_tensor *eddy__tensors_new(eddy_graph *g, int64_t n);
void         eddy__tensors_free(eddy_graph *g, eddy_tensor *t, int64_t n);

/* The graph of the first tensor in the list that has one; else NULL. */
eddy_graph *eddy__graph_of_any(eddy_list list);
/* The status of a graph that may be NULL. */
eddy_status eddy__status_of(const eddy_graph *g);
/* All n invalid; `out` may be NULL. */
void eddy__tensors_clear(eddy_graph *g, eddy_tensor *out, int n);
/* The number of tensors that can be read from the list, and so of results; 0 without elements. */
static inline int eddy__list_length(eddy_list list) { return list.at ? list.count : 0; }

/* True if all tensors of `list` belong to g; otherwise an error on the graph that names `who`. */
bool eddy__list_is_of(eddy_graph *g, const char *who, const char *what, eddy_list list);

/* Two lists of which a sum of products is taken, with their names in the call `who`. */
typedef struct eddy_weighted {
    const char *who, *what, *of;
    eddy_list   weights, tensors;
} eddy_weighted;
/* True if each tensor has a weight of its type and shape (invalid weights are skipped), or if
 * there are no weights; otherwise an error on the graph. */
bool eddy__weights_fit(eddy_graph *g, const eddy_weighted *w);

/* ----------------------------------------------------------------- subgraphs -- */

/* The nodes between some tensors and results computed from them: each depends on the value of a
 * tensor in `from`, and some tensor in `to` depends on it. */
enum {
    EDDY_DEPENDS = 1, EDDY_NEEDED = 2, EDDY_BETWEEN = EDDY_DEPENDS | EDDY_NEEDED,
    EDDY_SOURCE = 4                 /* has one of `from`: the subgraph does not go past it */
};
typedef struct eddy_subgraph {
    eddy_graph   *graph;
    int32_t       first, last;      /* smallest id in `from`; largest id at the beginning */
    int32_t       random_after;     /* nodes with larger ids that draw numbers depend too */
    uint8_t      *marks;            /* by id - first */
    eddy_tensor **replacements;     /* by id - first: for each output, or NULL; set by the caller */
    eddy_arena    arena;
} eddy_subgraph;
/* False with the error set; to be ended in either case. */
bool  eddy__subgraph_begin(eddy_subgraph *s, eddy_graph *g, int n, const eddy_tensor *from, int m,
                           const eddy_tensor *to);
/* The same, but random nodes with ids above `after` also count as depending on `from`. */
bool  eddy__subgraph_begin_random(eddy_subgraph *s, eddy_graph *g, int n, const eddy_tensor *from, int m,
                                  const eddy_tensor *to, int32_t after);
/* True if the op says that the node draws random numbers: it is stateful and has no other
 * effect. */
bool  eddy__is_random(const eddy_node *node);
/* The attributes of a random node of a body for a copy of it in another body: with its id as seed,
 * if it has none, so that copies in several bodies of one seed draw the same numbers. room:
 * attrs_size bytes. */
const void *eddy__seeded_attrs(const eddy_node *node, void *room);
void  eddy__subgraph_end(eddy_subgraph *s);
void *eddy__subgraph_alloc(eddy_subgraph *s, int64_t n, size_t size);  /* zeroed; NULL with the error */
bool  eddy__subgraph_has(const eddy_subgraph *s, eddy_tensor t, int marks);
/* Input i of the node matters by its value, and depends on `from`. */
bool  eddy__subgraph_input_depends(const eddy_subgraph *s, const eddy_node *node, int i);
/* Whether a node in between has a gradient of its own, of eddy_custom_gradient or another
 * registered one: its rule need not be linear in dy, as forward mode requires. */
bool  eddy__subgraph_has_registered(const eddy_subgraph *s);
/* The replacement of t, or t itself. */
eddy_tensor eddy__subgraph_replacement(const eddy_subgraph *s, eddy_tensor t);
void        eddy__subgraph_replace(eddy_subgraph *s, eddy_tensor t, eddy_tensor image);
/* Builds the node again, on the replacements of its inputs; its outputs are replaced by the new
 * ones. */
void        eddy__subgraph_rebuild(eddy_subgraph *s, const eddy_node *node);

/* -------------------------------------------------------------- batching -- */

/* Vectorizes ys, which are built from placeholders for one example: out[k] is ys[k] for all
 * examples, along axis 0, where placeholders[i] represents each example of batches[i]. out[k] is
 * invalid if ys[k] depends on no placeholder. False with the error set. */
bool eddy__vectorize(eddy_graph *g, int n, const eddy_tensor *placeholders,
                     const eddy_tensor *batches,
                     int m, const eddy_tensor *ys, eddy_tensor *out);

/* The same for the nodes of a function: random nodes with ids above `after` draw numbers for
 * each example; the numbers of other nodes are shared. */
typedef struct eddy_examples {
    int                n;
    const eddy_tensor *placeholders, *batches;
    int32_t            after;
} eddy_examples;
bool eddy__vectorize_random(eddy_graph *g, eddy_examples e, int m, const eddy_tensor *ys,
                            eddy_tensor *out);
/* The replacements of a map: the placeholders of the examples, followed by random tensors in
 * the order in which they are mapped. */
typedef struct eddy_placeholders {
    eddy_allocator allocator;
    size_t         bytes;
    int            n, room;
    eddy_tensor    at[];            /* capacity `room`, followed by as many batches */
} eddy_placeholders;
/* Gives b->y the registered gradient of b->node, mapped over the examples. `all` is read when a
 * gradient is built, and freed with the graph. */
void eddy__vmap_keep_gradient(eddy_batch *b, const eddy_placeholders *all);

/* ----------------------------------------------------------- tapes -- */

/* Jacobians along a tape (autodiff/jacobians). `build` is called with the recorded nodes, if a
 * tape that rests has y and this is not its second use; otherwise there is an error. `what` is
 * "jacobian" or "batch_jacobian". */
typedef struct eddy_tape_jacobian_call {
    eddy_tensor y;
    eddy_list   xs;
    void      (*build)(const eddy_recording *r, void *context);
    void       *context;
} eddy_tape_jacobian_call;
eddy_status eddy__tape_jacobian(struct eddy_tape *t, const char *what,
                                const eddy_tape_jacobian_call *call);

/* The graph of a tape; NULL if t is not a tape. */
eddy_graph *eddy__tape_graph(const struct eddy_tape *t);

/* ------------------------------------------------------------- functions -- */

/* Builds f at x, for the call `who`: the number of results in y[EDDY_MAX_RESULTS], each a tensor of
 * g; 0 with the error set. */
int eddy__function_build(eddy_graph *g, const char *who, const eddy_function *f, eddy_list x,
                         eddy_tensor *y);
/* The graph of x. If x has none, NULL, with an error on the graph of the nodes that f builds
 * without arguments; arguments that f then reads are invalid tensors. */
eddy_graph *eddy__function_graph(const char *who, const eddy_function *f, eddy_list x,
                                 const char *missing);
/* For a node that eddy_custom_gradient or a map appended to results: the custom gradient, and the
 * number of the node's leading inputs that are results. All 0 for any other node. */
eddy_custom_rule eddy__custom_rule_of(const eddy_graph *g, const eddy_node *node);
/* The same for the node after a mapped node; all 0 if `rule` is not the rule of a map. */
eddy_custom_rule eddy__mapped_rule_of(const eddy_graph *g, const eddy_node *node,
                                      const eddy_named_rule *rule);

#endif
