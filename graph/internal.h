/* internal.h -- internal declarations about graphs for the library's own files; not installed. */
#ifndef EDDY_INTERNAL_H
#define EDDY_INTERNAL_H

#include <stdatomic.h>
#include "graph/op.h"
#include "graph/base/base.h"

/* ----------------------------------------------------------- the graph -- */

typedef struct eddy_name_entry {
    const char *name;            /* NULL: never used; dead entries keep theirs */
    uint64_t    hash;
    int32_t     node;            /* 0: a scope, or reserved; -1: dead */
    int32_t     next;            /* suffix to try next */
} eddy_name_entry;

typedef struct eddy_names {
    eddy_name_entry *entries;
    size_t           capacity, used;   /* capacity a power of two */
} eddy_names;

typedef struct eddy_control_block {
    int32_t *nodes;
    int32_t  count;
    int32_t  begin;              /* largest id at the start of the block */
    int32_t  root;               /* serial number of the innermost clearing block; 0: none */
    bool     clears;
} eddy_control_block;

typedef struct eddy_collection {
    const char  *key;
    eddy_tensor *items;
    int          count, capacity;
} eddy_collection;

/* New nodes of operation type `op` use the registered gradient `rule` (NULL: none). */
typedef struct eddy_override {
    const char *op, *rule;
} eddy_override;

typedef struct eddy_named_rule {
    const char *name;
    void      (*rule)(eddy_rule *r);
    void       *context;
} eddy_named_rule;

typedef struct eddy_owned {
    void  *object;
    void (*release)(void *object);
} eddy_owned;

/* A line of C; file NULL: not known. */
typedef struct eddy_line {
    const char *file;
    int         line;
} eddy_line;

enum { EDDY_NUMBER_CACHE = 64 };

/* The custom gradient whose rule is called, which messages name; all 0 if there is none. */
typedef struct eddy_custom_rule {
    const eddy_node *node;           /* whose gradient it is */
    const char      *name, *of;      /* its name, and the name of its y[0] */
    int              first;          /* the number of inputs of the node before x[0] */
} eddy_custom_rule;

struct eddy_graph {
    void               *block;          /* the memory that the graph is in (graph.c) */
    eddy_allocator      allocator;
    eddy_files          files;
    int64_t             seed;
    atomic_int          holders;        /* the user, and each session */
    bool                finalized;
    bool                is_body;        /* belongs to a node (graph/body.h) */
    eddy_graph         *outer;          /* of a body: the graph of the node that owns it; or NULL */
    bool                whole;        /* without an error when it was finalized: it may run */
    eddy_error          error;
    void              (*on_error)(void *user, eddy_status s, const char *message);
    void               *on_error_user;
    bool                telling;        /* on_error runs, and cannot clear the error */

    eddy_arena          arena;
    eddy_node         **nodes;          /* [1..size] */
    int32_t             size, capacity;
    eddy_names          names;

    const char        **scopes;         /* stack; each with its slash, or "" */
    int                 n_scopes, scopes_capacity;
    eddy_control_block *controls;       /* stack */
    int                 n_controls, controls_capacity;
    int32_t             n_clears;       /* clearing blocks so far */
    uint8_t            *listed;         /* by id: scratch of eddy__controls_for, otherwise all 0 */
    int32_t             listed_capacity;
    const char        **devices;        /* stack */
    int                 n_devices, devices_capacity;
    /* scopes, control blocks and devices that began without memory: as many ends are ignored */
    int                 lost_scopes, lost_controls, lost_devices;
    eddy_override      *overrides;      /* stack */
    int                 n_overrides, overrides_capacity;
    eddy_named_rule    *rules;          /* registered gradients */
    int                 n_rules, rules_capacity;
    eddy_collection    *collections;
    int                 n_collections, collections_capacity;
    eddy_owned         *owned;
    int                 n_owned, owned_capacity;
    eddy_line          *lines;          /* by id, of the calls that built the nodes; or NULL */
    int32_t             lines_capacity;
    const char         *last_file;      /* the file of the last line */

    /* Set by the differentiation pass around a rule. */
    bool                in_rule;        /* nodes are named by op->name */
    int32_t             origin, colocate;
    eddy_custom_rule    custom;

    /* Casts the inputs of an operation that the program builds, to `precision` or from it; NULL:
     * none (optim/mixed_precision.h). */
    void              (*cast_inputs)(eddy_graph *g, const eddy_op_def *op, int n, eddy_tensor *in);
    eddy_dtype          precision;

    eddy_tensor numbers[EDDY_NUMBER_CACHE]; /* interned scalars, by hash of dtype and value */
};

/* Alive, not NULL.  `graph_ready` also: no error so far. */
bool eddy__graph_alive(const eddy_graph *g);
bool eddy__graph_ready(const eddy_graph *g);
const eddy_allocator *eddy__graph_allocator(const eddy_graph *g);
const eddy_files     *eddy__graph_files(const eddy_graph *g);
/* Sessions hold the graph's memory; the last holder frees it. */
void eddy__graph_hold(eddy_graph *g);
void eddy__graph_drop(eddy_graph *g);
/* Gives up a graph among the attributes of a node; several nodes may have the same
 * (graph/body.h). */
void eddy__graph_release(eddy_graph *body);

/* For a node in the body g that updates a value: the operation that yields the new value, in memory
 * of g. It is made of the update `given`, or of such an operation of another body. `given` itself if
 * it is neither or takes too many inputs; NULL without memory. */
const eddy_op_def *eddy__updated_op(eddy_graph *g, const eddy_op_def *given);
/* The operation from which that one was made; `op` itself if it is none of these. */
const eddy_op_def *eddy__update_of(const eddy_op_def *op);

/* The set of element types that the definition names for input i; empty: all, which it moves. */
uint32_t eddy__input_types(const eddy_op_def *op, int i);
/* True if the kernel gets the elements of input i as they are, whatever their type. */
static inline bool eddy__input_moves(const eddy_op_def *op, int i)
{
    return eddy__input_types(op, i) == 0;
}

/* True if input i is in a set such as op->shape_inputs. */
static inline bool eddy__input_is_in(uint32_t set, int i) { return set >> (i < 31 ? i : 31) & 1; }

/* Node by id, with a range check only; NULL outside. */
const eddy_node *eddy__graph_node(const eddy_graph *g, int32_t id);
static inline eddy_tensor eddy__tensor_at(eddy_graph *g, int32_t node, int32_t output)
{
    return (eddy_tensor){ .graph = g, .node = node, .output = output };
}

/* The lines of C that build nodes (lines.c): keeps the line of the thread for a node, false without
 * memory; adds to a message the line of the node that it names, or in a call that fails while building,
 * that of the thread. */
bool eddy__lines_note(eddy_graph *g, int32_t id);
void eddy__lines_add(const eddy_graph *g, eddy_error *e);
void eddy__lines_add_here(const eddy_graph *g, eddy_error *e);

/* The longest name of a node: EDDY_MAX_NAME has room for a suffix and the end too. */
enum { EDDY_LONGEST_NAME = EDDY_MAX_NAME - 17 };

/* Names (names.c). `find` ignores case; returns the entry or NULL. */
eddy_name_entry *eddy__names_find(const eddy_graph *g, const char *name, size_t length);
/* The unique form of scope + name, in the arena; NULL with the error set. */
const char *eddy__names_make(eddy_graph *g, const char *name, int32_t node);
/* Reserves the names that are scopes of a node of this name, as when it was built there. False with
 * the error set. */
bool        eddy__names_reserve_scopes(eddy_graph *g, const char *name);
void        eddy__names_free(eddy_graph *g);
bool        eddy__name_is_valid(const char *name, bool at_root);
void        eddy__scopes_free(eddy_graph *g);
/* Enters exactly the scope `full` ("gradients/mul_grad/"), independent of the current one. */
bool        eddy__scope_enter(eddy_graph *g, const char *full);

/* The control inputs of a new node with these data inputs (scopes.c); *out is in the arena.
 * False if out of memory. */
int32_t eddy__control_root(const eddy_graph *g);
bool eddy__controls_for(eddy_graph *g, int n, const eddy_tensor *in, int32_t **out, int32_t *count);

/* The name of a gradient that is registered in every graph (eddy_recompute_grad). */
#define EDDY_RECOMPUTE "recompute_grad"
/* Registered gradients (gradient_overrides.c): for a new node, by the scopes; and by name. */
const char            *eddy__override_of(const eddy_graph *g, const eddy_op_def *op);
const eddy_named_rule *eddy__rule_named(const eddy_graph *g, const char *name);
void                   eddy__overrides_free(eddy_graph *g);

/* Attributes (attributes.c). */
void *eddy__attrs_copy(eddy_graph *g, const eddy_op_def *op,
                       const void *attrs); /* NULL with the error set */
void  eddy__attrs_release(const eddy_op_def *op, const void *attrs);
/* Another node is about to have the same attributes, and with them the same graphs. */
void  eddy__attrs_share_graphs(const eddy_op_def *op, const void *attrs);
void  eddy__attrs_release_arrays(const eddy_op_def *op, const void *attrs);
void  eddy__attrs_release_graphs(const eddy_op_def *op, const void *attrs);

/* Appends a node for file readers: like eddy_apply, but the caller passes the control inputs,
 * and the name is used verbatim. */
typedef struct eddy_append_args {
    eddy_graph        *graph;
    const eddy_op_def *op;
    const void        *attrs;
    int                n;
    const eddy_tensor *in;
    const char        *name;            /* full name; NULL: label, made unique in scope */
    int                n_controls;      /* -1: from the scopes */
    const int32_t     *controls;
    const char        *device;
    const char        *gradient;        /* registered gradient; NULL: from the scopes */
    int32_t            origin, colocate;
    bool               casts;           /* graph->cast_inputs applies */
} eddy_append_args;
eddy_tensor eddy__append(eddy_append_args args);

/* Calls op->infer with the given types (infer_types.c). `out` must have room for *n_out types; for
 * operations with EDDY_MANY outputs it is allocated from `arena`. */
bool eddy__infer_types(const eddy_op_def *op, void *attrs, bool attrs_fixed, int n,
                       const eddy_type *in, const eddy_array *const *value, eddy_arena *arena,
                       eddy_type **out, int *n_out, const char *node, eddy_error *error);
/* The same for a node that is in a graph, with the types of its inputs in a run. An error also if
 * the number of outputs differs, or a shape contradicts a narrowed one (EDDY_BAD_SHAPE). */
bool eddy__infer_node(const eddy_node *node, const eddy_type *in, const eddy_array *const *value,
                      eddy_arena *arena, eddy_type **out, eddy_error *error);

/* True if element type d is one of `types` (EDDY_TAKES_FLOATS); else false, with the error "who:
 * what is int32; float32 or float64 expected" on g. If who is NULL, `what` names both. */
bool eddy__expect_type(eddy_graph *g, const char *who, const char *what, eddy_dtype d,
                       uint32_t types);
/* The same about an attribute, for op->infer. */
bool eddy__infer_expects(eddy_infer *c, const char *what, eddy_dtype d, uint32_t types);

#endif
