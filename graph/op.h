/* op.h -- what an operation is.  For those who write one, inside the library
 * or outside it; docs/adding-an-op.md shows both.
 *
 * An operation is one constant eddy_op_def.  Its functions are handed small
 * contexts and know nothing of graphs, sessions or plans beyond them.  Nothing
 * else in the library knows operations by name. */
#ifndef EDDY_OP_H
#define EDDY_OP_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_op_def eddy_op_def;
struct eddy_blocks;

enum { EDDY_MANY = -1, EDDY_MAX_INPUTS = 65535, EDDY_MAX_NAME = 4096 };

/* An element type with a shape: what is known of a tensor. */
typedef struct eddy_type {
    eddy_dtype dtype;
    eddy_shape shape;
} eddy_type;

/* "float32[?,784]"; cut to size; returns buf. */
EDDY_API char *eddy_type_print(eddy_type t, char *buf, size_t size);

/* ---------------------------------------------------------- attributes -- */

/* A list of integers of any length, as an attribute. */
typedef struct eddy_ints {
    int64_t        count;
    const int64_t *at;
} eddy_ints;

/* Kinds of attribute and the C type of the member that holds each. */
typedef enum eddy_attr_kind {
    EDDY_ATTR_END = 0,
    EDDY_ATTR_INT,          /* int64_t      */
    EDDY_ATTR_FLOAT,        /* double       */
    EDDY_ATTR_BOOL,         /* bool         */
    EDDY_ATTR_STRING,       /* const char * (NULL is the empty string) */
    EDDY_ATTR_DTYPE,        /* eddy_dtype   */
    EDDY_ATTR_SHAPE,        /* eddy_shape   */
    EDDY_ATTR_DIMS,         /* eddy_dims    */
    EDDY_ATTR_INTS,         /* eddy_ints    */
    EDDY_ATTR_ARRAY,        /* eddy_array * */
    EDDY_ATTR_GRAPH         /* eddy_graph * (eddy_apply takes it over, whatever comes of it) */
} eddy_attr_kind;

/* An op's attributes are the members of one plain struct; this table, ended by
 * a zeroed row, lets the library copy, print, save and load them. */
typedef struct eddy_attr_field {
    const char    *name;
    eddy_attr_kind kind;
    size_t         offset;
} eddy_attr_field;

/* ---------------------------------------------------------------- node -- */

/* A node as the library sees it: read, never written, by the functions of an
 * op.  Inputs and controls are outputs of nodes with smaller ids. */
typedef struct eddy_node {
    const eddy_op_def *op;
    const char        *name;
    const char        *device;        /* NULL if none */
    const char        *gradient;      /* registered gradient in place of op->gradient; or NULL */
    const void        *attrs;         /* the op's struct; NULL if it has none */
    eddy_tensor       *inputs;
    int32_t           *controls;      /* node ids */
    eddy_type         *outputs;       /* static types */
    int32_t            id;
    int32_t            n_inputs, n_controls, n_outputs;
    int32_t            origin;        /* for a gradient node, the forward node's id; else 0 */
    int32_t            colocate;      /* id of the node it should live with; else 0 */
    int32_t            control_root;  /* which eddy_control_clear block it was made in; 0: none */
} eddy_node;

EDDY_API const eddy_node *eddy_node_of(eddy_tensor t);   /* NULL if invalid */

/* --------------------------------------------------- shape and type rule -- */

/* Handed to `infer`: input types in, output types out.  It runs when the node
 * is built, perhaps with unknown dimensions, again with concrete ones when a
 * session compiles, and when a file is read: it is the only place that says
 * what fits.  It may change `attrs` while the node is being built (to settle a
 * default), and only then (attrs_fixed is false). */
typedef struct eddy_infer {
    const eddy_op_def       *op;
    void                    *attrs;
    const eddy_type         *in;
    /* value[i]: input i's elements if they are known now, else NULL */
    const eddy_array *const *value;
    eddy_type               *out;     /* op->outputs of them, zeroed */
    int                      n_in, n_out;
    bool                     attrs_fixed;
    void                    *impl;
} eddy_infer;

/* For ops whose number of outputs depends on attributes or inputs: makes `out`
 * n types long.  False if n is negative, too large, or memory is out. */
EDDY_API bool eddy_infer_outputs(eddy_infer *c, int n);
/* Says why the inputs are refused.  Write only the reason; the op, the types of
 * all inputs and the node are put around it.  Returns false. */
EDDY_API bool eddy_infer_fail(eddy_infer *c, eddy_status s, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* -------------------------------------------------------------- kernel -- */

/* The value of a variable in a session. */
typedef struct eddy_state {
    eddy_array *value;
    bool        initialized;
    uint64_t    version;    /* another one after each change */
} eddy_state;

/* Concrete elements that a kernel reads or writes: row-major, dense, 64-byte
 * aligned when the library owns them. */
typedef struct eddy_buffer {
    void       *data;
    int64_t     count;
    eddy_type   type;
    eddy_state *state;      /* for a variable passed by reference; else NULL */
} eddy_buffer;

/* Handed to `prepare` once and to `kernel` at every run.  Types are concrete,
 * outputs have their memory; only a kernel that can meet bad data may fail. */
typedef struct eddy_kernel {
    const eddy_op_def  *op;
    const void         *attrs;
    eddy_buffer *const *in;
    eddy_buffer *const *out;
    int                 n_in, n_out;
    void               *state;       /* what prepare left; freed with the plan */
    void               *scratch;     /* scratch_size bytes, garbage at each run */
    size_t              scratch_size;/* set by prepare */
    int64_t             graph_seed;
    int64_t             op_seed;     /* of this node: its id */
    uint64_t            step;        /* how many runs the session had before this one */
    int                 threads;     /* most workers that eddy_parallel uses; from prepare on */
    bool                deterministic;   /* the same bits whatever `threads` is */
    void               *impl;
} eddy_kernel;

/* Memory for k->state, freed with the plan; NULL if there is none.  Only in prepare. */
EDDY_API void       *eddy_kernel_state(eddy_kernel *k, size_t size);
/* Records why; returns s, for `return eddy_kernel_fail(...)`. */
EDDY_API eddy_status eddy_kernel_fail(eddy_kernel *k, eddy_status s, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs body on pieces [from, to) that together are [0, n), some of them at the same
 * time on other threads, and returns when all are done.  A piece starts at a multiple
 * of `grain` and is never smaller but at the end: make a grain worth 20 microseconds.
 * `worker` is less than k->threads, and no two bodies that run at once have the same:
 * it picks scratch memory.  What an item gets must not depend on how [0, n) was cut;
 * then results are the same for any number of threads.  From a body, a call runs all
 * of it in place.  Only in a kernel. */
typedef void (*eddy_parallel_fn)(void *arg, int64_t from, int64_t to, int worker);
EDDY_API void eddy_parallel(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body,
                            void *arg);

/* The inner loop of an elementwise op: n elements, operands already broadcast
 * and contiguous, y possibly the same address as an operand.  Returns EDDY_OK,
 * or why an element is impossible (integer division by zero). */
typedef eddy_status (*eddy_tile_fn)(int64_t n, void *y, const void *const *x, const void *attrs);

/* ------------------------------------------------------- gradient rule -- */

/* Handed to `gradient`: given y = op(x) and dy, set dx[i] for each input that
 * has a gradient, built from ordinary ops; what is left alone has none.  For
 * an elementwise op dx[i] may have the broadcast shape: the caller sums it to
 * the shape of x[i].  dy[k] is made of zeros where nothing arrived, and invalid
 * where output k is not differentiable.  Attributes are as in the node. */
typedef struct eddy_rule {
    eddy_graph        *graph;
    const eddy_node   *node;
    const void        *attrs;
    const eddy_tensor *x, *y, *dy;
    eddy_tensor       *dx;           /* n_in, all invalid at first */
    int                n_in, n_out;
    int                n_dx;         /* n_in; a rule that yields another number is refused */
    void              *context;      /* of a registered gradient (eddy_register_gradient) */
} eddy_rule;

/* As op->gradient: the op is declared to have no gradient (floor, argmax,
 * comparisons).  A NULL gradient instead means that nobody wrote one, and
 * needing it is the error NO_GRADIENT. */
EDDY_API void eddy_not_differentiable(eddy_rule *r);
/* Records an error of the rule on the graph: "gradients: <reason> [node ...]". */
EDDY_API void eddy_rule_fail(eddy_rule *r, eddy_status s, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* Registers a gradient under a name of this graph; `rule` sees `context` as
 * r->context.  Nodes ask for it by name: those built inside
 * eddy_gradient_override_begin, and those of eddy_custom_gradient.  A graph file
 * holds the names; register them again before differentiating what was read.
 * Errors: INVALID_ARGUMENT if the name is taken.  tf.RegisterGradient. */
EDDY_API bool eddy_register_gradient(eddy_graph *g, const char *name, void (*rule)(eddy_rule *r),
                                     void *context);

/* ------------------------------------------------------- batching rule -- */

/* Handed to `batch`: the node's op on many examples at once (eddy_vmap).  x[i]
 * has the examples along a new axis 0 where batched[i], and is otherwise what
 * stands for the node's own input, the same for all; an input of which only the
 * shape matters is always the node's own.  Set y[k], the examples along axis 0.
 * An output left alone makes the caller loop over the examples instead.  Of an op
 * without outputs the last node built is taken for it.  Built, like a gradient
 * rule, from ordinary ops. */
typedef struct eddy_batch {
    eddy_graph        *graph;
    const eddy_node   *node;
    const void        *attrs;
    const eddy_tensor *x;
    const bool        *batched;      /* at least one is true, but of an op that draws */
    eddy_tensor       *y;            /* n_out, all invalid at first */
    int                n_in, n_out;
    eddy_tensor        examples;     /* axis 0 counts the examples */
} eddy_batch;

/* x[i] with the examples along axis 0: repeated if it is not batched. */
EDDY_API eddy_tensor eddy_batch_input(const eddy_batch *b, int i);
/* The same op on inputs that are all batched or all its own, with these attributes. */
EDDY_API void eddy_batch_apply(eddy_batch *b, const void *attrs);
/* As op->batch, for an op that treats each element alone, whatever the shape. */
EDDY_API void eddy_batch_as_is(eddy_batch *b);

/* ---------------------------------------------------------- definition -- */

enum {
    EDDY_OP_ELEMENTWISE  = 1 << 0,   /* has `tile`; broadcasts; may run in place */
    EDDY_OP_ALIAS        = 1 << 1,   /* output 0 is input 0's elements, unchanged; no kernel */
    EDDY_OP_CONSTANT     = 1 << 2,   /* its first attribute is the value */
    EDDY_OP_PLACEHOLDER  = 1 << 3,   /* has a value only when fed */
    EDDY_OP_VARIABLE     = 1 << 4,   /* its value is the session's, from before the run */
    EDDY_OP_REFERENCE    = 1 << 5,   /* input 0 is a variable, handed over by reference */
    EDDY_OP_UPDATES      = 1 << 6,   /* ... and changed; output 0, if any, is its new value */
    /* may give another value each time (random): never folded or merged */
    EDDY_OP_STATEFUL     = 1 << 7,
    /* a control edge from it keeps it in the plan (assign, print, assert) */
    EDDY_OP_SIDE_EFFECT  = 1 << 8,
    EDDY_OP_SLICES       = 1 << 10,  /* is the IndexedSlices op */
    /* the kernel allows out[0]->data == in[0]->data; an update's: operands in the variable */
    EDDY_OP_IN_PLACE     = 1 << 11,
    /* REFERENCE, and output 0 is the variable's value at this point */
    EDDY_OP_READ         = 1 << 12,
    /* UPDATES, and input 1 is the whole new value: may change an open shape (assign) */
    EDDY_OP_REPLACES     = 1 << 13,
    /* with as many elements in output 0 as in input 0, the op is an ALIAS in that run */
    EDDY_OP_ALIAS_IF_EQUAL = 1 << 14,
    /* output 0 is the elements of all inputs, only moved; has `parts` */
    EDDY_OP_JOINS        = 1 << 15,
    /* unknown dimensions of outputs depend on the elements of the inputs, and are at most
     * the number of those of input 0: the kernel finds memory for so many and sets the
     * type and the count of each out[k] to what it has written */
    EDDY_OP_DYNAMIC      = 1 << 16,
    /* calls LAPACK, which may refuse what it finds, and gives other bits where it takes
     * several threads: it gets one */
    EDDY_OP_LAPACK       = 1 << 17,
    /* has what no graph file can hold (a function, say): writing refuses it */
    EDDY_OP_UNSAVED      = 1 << 18
};

struct eddy_op_def {
    const char *name;                /* TensorFlow's, "MatMul"; files refer to it */
    /* how nodes are called by default, if not `name`; gradient rules use `name` */
    const char *label;
    int         min_inputs, max_inputs;  /* max EDDY_MANY: any number */
    int         outputs;             /* EDDY_MANY: infer says */
    unsigned    flags;
    /* Sets of inputs: bit i is input i, bit 31 input 31 and all later ones. */
    uint32_t    shape_inputs;        /* only their types matter (zeros_like) */
    uint32_t    value_inputs;        /* infer wants their elements (fill's dims) */
    size_t      attrs_size;
    const eddy_attr_field *attrs;

    bool         (*infer)(eddy_infer *c);                /* required */
    /* ELEMENTWISE; and UPDATES that give each element a new value by itself, from the
     * variable's, x[0], and the operands': the session may run them in one loop with
     * others.  NULL for a dtype it cannot */
    eddy_tile_fn (*tile)(const eddy_type *in, const eddy_type *out);
    eddy_status  (*prepare)(eddy_kernel *k);             /* optional */
    /* all but the ones the session itself provides */
    eddy_status  (*kernel)(eddy_kernel *k);
    void         (*gradient)(eddy_rule *r);
    /* optional: the op over a batch of examples; ELEMENTWISE ops need none */
    void         (*batch)(eddy_batch *b);
    /* optional: arithmetic operations of one run on concrete types.  Without it, an ELEMENTWISE
     * op has one an element of its output, and any other only moves elements and has none. */
    double       (*flops)(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
    /* optional: with the types of k, output 0 is a fold of all elements of input 0, or of
     * all its rows, in these blocks (ops/reduce.h); then a loop that makes the elements
     * may take them in.  False if it is another kind of fold. */
    bool         (*folds)(const eddy_kernel *k, struct eddy_blocks *blocks);
    /* optional: whether with these concrete types each output is elements of input 0 that
     * lie together there, output k those from first[k] on, in their order; then the session
     * need not copy them.  Of an op that JOINS: each input i those of output 0. */
    bool         (*parts)(const void *attrs, int n_in, const eddy_type *in, int n_out,
                          const eddy_type *out, int64_t *first);
};

/* As op->flops: one operation an element of input 0, or of output 0. */
EDDY_API double eddy_flops_per_input(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
EDDY_API double eddy_flops_per_output(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);

/* ----------------------------------------------------------- appending -- */

typedef struct eddy_apply_args {
    eddy_graph  *graph;      /* only needed for an op without inputs */
    const char  *name;       /* NULL: the op's label */
} eddy_apply_args;

/* The one door into a graph: checks that the inputs are valid, of one graph and
 * of the right number, copies the attributes, infers the types, appends.
 * Returns output 0 of the new node, or an invalid tensor.  A graph among the
 * attributes belongs to the node from then on; if there is none, it is freed. */
EDDY_API eddy_tensor eddy_apply(const eddy_op_def *op, const void *attrs, int n,
                                const eddy_tensor *in, eddy_apply_args args);
/* The same for an op of one and of two inputs and the default name. */
EDDY_API eddy_tensor eddy_apply1(const eddy_op_def *op, const void *attrs, eddy_tensor x);
EDDY_API eddy_tensor eddy_apply2(const eddy_op_def *op, const void *attrs, eddy_tensor a,
                                 eddy_tensor b);

/* d, or what a list that was left out stands for. */
static inline eddy_dims eddy_dims_or(eddy_dims d, eddy_dims otherwise)
{
    return d.count == 0 && !d.no_number_ ? otherwise : d;
}
/* Whether a plain number stands where a list is wanted, .axes = 1, which is an error; says so.
 * `what` is the operation, `option` the list. */
EDDY_API bool eddy_refuse_number(eddy_graph *g, const char *what, const char *option, eddy_dims d);
/* Records an error on g (the first one wins) and returns an invalid tensor of
 * it; g may be NULL. */
EDDY_API eddy_tensor eddy_fail(eddy_graph *g, eddy_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The elements of t if they are known without a run (a constant), else NULL.
 * Belongs to the graph. */
EDDY_API const eddy_array *eddy_constant_value(eddy_tensor t);

/* The graph frees `object` with release(object) when it is freed itself; at
 * once, returning false, if memory is out. */
EDDY_API bool eddy_graph_own(eddy_graph *g, void *object, void (*release)(void *object));

#ifdef __cplusplus
}
#endif
#endif
