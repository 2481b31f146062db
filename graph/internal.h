/* internal.h -- what the library's own files share about graphs; not installed. */
#ifndef EDDY_INTERNAL_H
#define EDDY_INTERNAL_H

#include <stdarg.h>
#include <stdatomic.h>
#include "graph/op.h"

/* ------------------------------------------------------- sizes, memory -- */

/* False on overflow; *out is then untouched. */
static inline bool eddy_size_mul(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}
static inline bool eddy_size_add(size_t a, size_t b, size_t *out)
{
    size_t r;
    if (__builtin_add_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

extern const eddy_allocator eddy_libc;
/* size 0 gives a pointer too; NULL only when memory is out. */
void *eddy_allocate(const eddy_allocator *a, size_t size);
void                       *eddy_allocate_zeroed(const eddy_allocator *a, size_t count,
                                                 size_t size); /* checked product */
void  eddy_release(const eddy_allocator *a, void *p, size_t size);               /* NULL is fine */
/* Grows *p from old to new elements of `size` bytes, keeping the contents and
 * zeroing the rest; false, with *p as it was, if memory is out. */
bool  eddy_grow(const eddy_allocator *a, void **p, size_t old_count, size_t new_count, size_t size);
/* `size` bytes at a 64-byte boundary; *base is what eddy_release_aligned takes. */
void *eddy_allocate_aligned(const eddy_allocator *a, size_t size, void **base);
void  eddy_release_aligned(const eddy_allocator *a, void *base, size_t size);

/* Bump allocation in chunks that never move; freed as a whole. */
typedef struct eddy_arena {
    const eddy_allocator *allocator;
    struct eddy_chunk    *chunks;
} eddy_arena;
void *eddy_arena_alloc(eddy_arena *a, size_t size); /* 16-byte aligned; NULL if out */
char *eddy_arena_text(eddy_arena *a, const char *s, size_t length);  /* copy, with a final 0 */
void  eddy_arena_free(eddy_arena *a);

bool eddy_array_is_shared(const eddy_array *a);     /* more than one reference */
bool eddy_array_is_borrowed(const eddy_array *a);   /* somebody else's memory */

/* ---------------------------------------------------------------- live -- */

/* The addresses of live objects, so that a freed handle is an error, not a
 * crash; with their kind, because memory of one is soon used for another.  The
 * only state that is not inside an object. */
typedef enum eddy_live_kind {
    EDDY_LIVE_GRAPH,
    EDDY_LIVE_SESSION,
    EDDY_LIVE_CALLABLE,
    EDDY_LIVE_OPTIMIZER,
    EDDY_LIVE_TAPE
} eddy_live_kind;
bool eddy_live_add(const void *object, eddy_live_kind kind);
void eddy_live_remove(const void *object);
bool eddy_live(const void *object, eddy_live_kind kind);   /* false for NULL */

/* -------------------------------------------------------------- errors -- */

/* Fill *e if it is free of an earlier error; e may be NULL.  Returns false. */
bool eddy_error_set(eddy_error *e, eddy_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool eddy_error_vset(eddy_error *e, eddy_status s, const char *fmt, va_list args);

/* "MatMul(float32[?,784], float32[785,128]): <reason> [node 'name']". */
void eddy_op_message(char *buf, size_t size, const eddy_op_def *op, int n, const eddy_type *in,
                     const char *reason, const char *node);

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
    int32_t  begin;              /* largest id when the block began */
    int32_t  root;               /* serial number of the innermost clearing block; 0: none */
    bool     clears;
} eddy_control_block;

typedef struct eddy_collection {
    const char  *key;
    eddy_tensor *items;
    int          count, capacity;
} eddy_collection;

/* Nodes of op type `op` made now take the registered gradient `rule` (NULL: none). */
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

enum { EDDY_NUMBER_CACHE = 64 };

struct eddy_graph {
    eddy_allocator      allocator;
    eddy_files          files;
    int64_t             seed;
    atomic_int          holders;        /* the user, and each session */
    bool                finalized;
    bool                whole;        /* without an error when it was finalized: it may run */
    eddy_error          error;
    void              (*on_error)(void *user, eddy_status s, const char *message);
    void               *on_error_user;

    eddy_arena          arena;
    eddy_node         **nodes;          /* [1..size] */
    int32_t             size, capacity;
    eddy_names          names;

    const char        **scopes;         /* stack; each with its slash, or "" */
    int                 n_scopes, scopes_capacity;
    eddy_control_block *controls;       /* stack */
    int                 n_controls, controls_capacity;
    int32_t             n_clears;       /* clearing blocks so far */
    uint8_t            *listed;         /* by id: scratch of eddy_controls_for, all 0 between */
    int32_t             listed_capacity;
    const char        **devices;        /* stack */
    int                 n_devices, devices_capacity;
    eddy_override      *overrides;      /* stack */
    int                 n_overrides, overrides_capacity;
    eddy_named_rule    *rules;          /* registered gradients */
    int                 n_rules, rules_capacity;
    eddy_collection    *collections;
    int                 n_collections, collections_capacity;
    eddy_owned         *owned;
    int                 n_owned, owned_capacity;

    /* Set by the differentiation pass around a rule. */
    bool                in_rule;        /* nodes are named by op->name */
    int32_t             origin, colocate;

    eddy_tensor numbers[EDDY_NUMBER_CACHE]; /* interned scalars, by hash of dtype and value */
};

/* Alive, not NULL.  `graph_ready` also: no error so far. */
bool eddy_graph_alive(const eddy_graph *g);
bool eddy_graph_ready(const eddy_graph *g);
const eddy_allocator *eddy_graph_allocator(const eddy_graph *g);
const eddy_files     *eddy_graph_files(const eddy_graph *g);
/* Sessions hold the graph's memory; the last holder frees it. */
void eddy_graph_hold(eddy_graph *g);
void eddy_graph_drop(eddy_graph *g);

/* Whether input i is in a set as op->shape_inputs is one. */
static inline bool eddy_input_is_in(uint32_t set, int i) { return set >> (i < 31 ? i : 31) & 1; }

/* Node by id without checks beyond the range; NULL outside. */
const eddy_node *eddy_graph_node(const eddy_graph *g, int32_t id);
static inline eddy_tensor eddy_tensor_at(eddy_graph *g, int32_t node, int32_t output)
{
    return (eddy_tensor){ g, node, output };
}
static inline eddy_tensor eddy_none(eddy_graph *g) { return (eddy_tensor){ g, 0, 0 }; }

/* Names (names.c).  `find` ignores case; returns the entry or NULL. */
eddy_name_entry *eddy_names_find(const eddy_graph *g, const char *name, size_t length);
/* The unique form of scope + name, in the arena; NULL with the error set. */
const char *eddy_names_make(eddy_graph *g, const char *name, int32_t node);
void        eddy_names_free(eddy_graph *g);
bool        eddy_name_is_valid(const char *name, bool at_root);
void        eddy_scopes_free(eddy_graph *g);
/* Enters exactly the scope `full` ("gradients/mul_grad/"), whatever the current one. */
bool        eddy_scope_enter(eddy_graph *g, const char *full);

/* Control inputs that a new node with these data inputs gets (scopes.c);
 * *out is in the arena.  False when memory is out. */
int32_t eddy_control_root(const eddy_graph *g);
bool eddy_controls_for(eddy_graph *g, int n, const eddy_tensor *in, int32_t **out, int32_t *count);

/* The name of a gradient that every graph has (eddy_recompute_grad). */
#define EDDY_RECOMPUTE "recompute_grad"
/* Registered gradients (overrides.c).  Of a node made now, from the scopes; by name. */
const char            *eddy_override_of(const eddy_graph *g, const eddy_op_def *op);
const eddy_named_rule *eddy_rule_named(const eddy_graph *g, const char *name);
void                   eddy_overrides_free(eddy_graph *g);

/* Attributes (attr.c). */
void *eddy_attrs_copy(eddy_graph *g, const eddy_op_def *op,
                      const void *attrs); /* NULL with the error set */
void  eddy_attrs_release(const eddy_op_def *op, const void *attrs);
/* Whether a node owns a graph: another node cannot have the same attributes. */
bool  eddy_attrs_own_graph(const eddy_op_def *op);
void  eddy_attrs_release_arrays(const eddy_op_def *op, const void *attrs);
void  eddy_attrs_release_graphs(const eddy_op_def *op, const void *attrs);

/* Appending with exact control inputs and types, for file readers: like
 * eddy_apply but control inputs come from the caller, and the name is taken
 * verbatim. */
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
} eddy_append_args;
eddy_tensor eddy_append(eddy_append_args args);

/* Runs op->infer on given types (infer.c).  `out` must have room for *n_out;
 * ops with EDDY_MANY outputs get memory from `arena` through *out. */
bool eddy_infer_types(const eddy_op_def *op, void *attrs, bool attrs_fixed, int n,
                      const eddy_type *in, const eddy_array *const *value, eddy_arena *arena,
                      eddy_type **out, int *n_out, const char *node, eddy_error *error);

#endif
