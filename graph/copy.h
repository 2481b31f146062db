/* copy.h -- copies nodes of one graph into another.
 *
 * Each tensor of the first graph has an image in the second one. The caller sets the images of
 * tensors that others replace, says which tensors it needs, and copies: nodes that these need are
 * appended to the second graph in the order of the first, through the same function as all nodes,
 * on the images of their inputs.
 *
 *   eddy__copy_begin(&c, from, to);
 *   eddy__copy_set_image(&c, x, y);             y of `to` stands for x
 *   eddy__copy_need(&c, t);                     ... for each result
 *   eddy__copy_find(&c);                        c.needed is then complete
 *   eddy__copy_nodes(&c);
 *   ... eddy__copy_image(&c, t)
 *   eddy__copy_end(&c);
 *
 * Errors are recorded on `to`; `from` is only read, and may be `to` itself. Names, devices, names
 * of gradients, origins, colocation and static shapes are kept, and so are control edges to nodes
 * with side effects. Variables that are needed bring their initializers. Bodies of loops and
 * branches are copied as a whole; nodes that share one still do. */
#ifndef EDDY_GRAPH_COPY_H
#define EDDY_GRAPH_COPY_H

#include "graph/body.h"

typedef struct eddy_copied_body {
    const eddy_graph        *from;
    eddy_graph              *to;
    struct eddy_copied_body *next;
} eddy_copied_body;

typedef struct eddy_copy {
    eddy_graph   *from, *to;
    eddy_arena    arena;        /* freed at the end */
    int32_t       size;         /* of `from`: nodes that are appended later are not seen */
    eddy_tensor **images;       /* by id: one for each output, or NULL */
    uint8_t      *needed;       /* by id: 2 if it has been copied */
    /* By id: something differs from `from`, an image or a shape. Static shapes of other nodes are
     * kept as they are; shapes of these are inferred again. */
    uint8_t      *changed;
    const uint8_t *frozen;      /* by id: the variable needs no initializer; NULL: none */
    const uint8_t *acts;        /* by id: a control edge from it is followed; NULL: none is */
    /* Called before a node is copied: true if the callback has set its images, or failed. */
    bool        (*instead)(struct eddy_copy *c, const eddy_node *node);
    void         *context;      /* the caller's */
    /* The same in bodies of loops and branches, at any depth. */
    bool        (*inside)(struct eddy_copy *c, const eddy_node *node);
    void         *inside_context;
    int32_t      *waiting;      /* needed nodes whose inputs have not been looked at */
    int32_t       n_waiting;
    bool          has_variables;    /* among the needed nodes */
    eddy_copied_body *bodies;
} eddy_copy;

/* False with the error set; to be ended in either case. */
bool eddy__copy_begin(eddy_copy *c, eddy_graph *from, eddy_graph *to);
void eddy__copy_end(eddy_copy *c);
/* n zeroed objects that live until the end; NULL with the error set. */
void *eddy__copy_room(eddy_copy *c, int64_t n, size_t size);

/* Lets copies wait for the nodes with side effects for which the original nodes wait. */
bool eddy__copy_effects(eddy_copy *c);
void eddy__copy_need(eddy_copy *c, eddy_tensor t);
/* Finds all nodes that are needed. */
void eddy__copy_find(eddy_copy *c);
/* Copies those that have not been copied yet. */
bool eddy__copy_nodes(eddy_copy *c);
/* After eddy__copy_find: a node that is needed reads t. */
bool eddy__copy_reads(const eddy_copy *c, eddy_tensor t);

/* The image of t; invalid if it has none. */
eddy_tensor eddy__copy_image(const eddy_copy *c, eddy_tensor t);
/* False with the error set. */
bool eddy__copy_set_image(eddy_copy *c, eddy_tensor t, eddy_tensor image);

/* Adds the images of the entries of all collections, except those for which `skips` is true, to
 * the collections of `to`, in order. A variable whose image is none is left out. */
bool eddy__copy_collections(eddy_copy *c, bool (*skips)(const char *key));

/* Appends a node of this operation in the place of `node`, with its name, control edges and so on;
 * its outputs are the images. False with the error set. */
bool eddy__copy_as(eddy_copy *c, const eddy_node *node, const eddy_op_def *op, const void *attrs,
                   int n, const eddy_tensor *in);

/* The attributes of the copy of a node, whose inputs are `in`: with copies of its graphs, which
 * belong to the node that is appended next. NULL with the error set. */
const void *eddy__copy_attrs(eddy_copy *c, const eddy_node *node, const eddy_tensor *in);

#endif
