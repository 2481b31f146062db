/* op.h -- the definition of an operation, for authors of operations inside or outside the
 * library. docs/inside/adding-an-op.md shows both.
 *
 * An operation is one constant eddy_op_def. Its functions receive small contexts and know nothing
 * else about graphs, sessions or plans. The graph, its files and the gradient pass know an
 * operation only through its definition. Code that treats some operations specially compares
 * definitions, never names: the passes of a session recognize a softmax or a sum of products by its
 * operations, and autodiff/sparse knows which of them are linear. A new operation works without any
 * change there.
 *
 * Unlike options, the structs below do not say how large they are: a definition is a constant that
 * the library reads in place. New members come last, with a new major number of the version and so
 * another name of the shared library: then compile again (docs/guide/embedding.md). */
#ifndef EDDY_OP_H
#define EDDY_OP_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eddy_op_def eddy_op_def;
struct eddy_blocks;
struct eddy_fold;

enum { EDDY_MANY = -1, EDDY_MAX_INPUTS = 65535, EDDY_MAX_NAME = 4096 };

/* An element type with a shape: the static type of a tensor. */
typedef struct eddy_type {
    eddy_dtype dtype;
    eddy_shape shape;
} eddy_type;

/* Prints "float32[?,784]"; truncated to size; returns buf. */
EDDY_API char *eddy_type_print(eddy_type t, char *buf, size_t size);

/* ---------------------------------------------------------- attributes -- */

/* A list of integers of any length, as an attribute. */
typedef struct eddy_ints {
    int64_t        count;
    const int64_t *at;
} eddy_ints;

/* Kinds of attributes, and the C type of the member that holds each. */
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
    EDDY_ATTR_GRAPH         /* eddy_graph * (eddy_apply takes ownership in any case) */
} eddy_attr_kind;

/* The attributes of an operation are the members of one plain struct; this table, ended by a
 * zeroed row, lets the library copy, print, save and load them. */
typedef struct eddy_attr_field {
    const char    *name;
    eddy_attr_kind kind;
    size_t         offset;
} eddy_attr_field;

/* The table of the members of a struct, at most 12, under their own names:
 * `.attrs = EDDY_ATTRS(roll_attrs, shift, axis)`. The kind of each follows from its C type; a
 * type that is not in the list above does not compile. EDDY_FIELDS initializes a named table,
 * which several definitions can share. */
#define EDDY_ATTRS(type, ...) (const eddy_attr_field[])EDDY_FIELDS(type, __VA_ARGS__)
#define EDDY_FIELDS(type, ...) \
    { EDDY_FIELDS_OF(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(type, __VA_ARGS__), \
      { NULL, EDDY_ATTR_END, 0 } }
#define EDDY_FIELD(type, member) \
    { #member, EDDY_KIND_OF(((type *)0)->member), offsetof(type, member) }
#define EDDY_KIND_OF(member) _Generic((member), \
    int64_t: EDDY_ATTR_INT, double: EDDY_ATTR_FLOAT, bool: EDDY_ATTR_BOOL, \
    const char *: EDDY_ATTR_STRING, eddy_dtype: EDDY_ATTR_DTYPE, eddy_shape: EDDY_ATTR_SHAPE, \
    eddy_dims: EDDY_ATTR_DIMS, eddy_ints: EDDY_ATTR_INTS, eddy_array *: EDDY_ATTR_ARRAY, \
    eddy_graph *: EDDY_ATTR_GRAPH)
#define EDDY_FIELDS_OF(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) EDDY_FIELDS_##n
#define EDDY_FIELDS_1(type, a)      EDDY_FIELD(type, a)
#define EDDY_FIELDS_2(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_1(type, __VA_ARGS__)
#define EDDY_FIELDS_3(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_2(type, __VA_ARGS__)
#define EDDY_FIELDS_4(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_3(type, __VA_ARGS__)
#define EDDY_FIELDS_5(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_4(type, __VA_ARGS__)
#define EDDY_FIELDS_6(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_5(type, __VA_ARGS__)
#define EDDY_FIELDS_7(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_6(type, __VA_ARGS__)
#define EDDY_FIELDS_8(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_7(type, __VA_ARGS__)
#define EDDY_FIELDS_9(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_8(type, __VA_ARGS__)
#define EDDY_FIELDS_10(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_9(type, __VA_ARGS__)
#define EDDY_FIELDS_11(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_10(type, __VA_ARGS__)
#define EDDY_FIELDS_12(type, a, ...) EDDY_FIELD(type, a), EDDY_FIELDS_11(type, __VA_ARGS__)

/* ---------------------------------------------------------------- node -- */

/* A node, which the functions of an operation read and never write. Inputs and controls are
 * outputs of nodes with smaller ids. */
typedef struct eddy_node {
    const eddy_op_def *op;
    const char        *name;
    const char        *device;        /* NULL if none */
    const char        *gradient;      /* registered gradient instead of op->gradient; or NULL */
    const void        *attrs;         /* the op's struct; NULL if it has none */
    eddy_tensor       *inputs;
    int32_t           *controls;      /* node ids */
    eddy_type         *outputs;       /* static types */
    int32_t            id;
    int32_t            n_inputs, n_controls, n_outputs;
    int32_t            origin;        /* for a gradient node, the forward node's id; else 0 */
    int32_t            colocate;      /* id of the node it should live with; else 0 */
    int32_t            control_root;  /* the eddy_control_clear block it was built in; 0: none */
    bool               traced;        /* built for the body of a loop or branch, which has a copy */
    bool               narrowed;      /* a static shape is a claim, which every run checks */
} eddy_node;

EDDY_API const eddy_node *eddy_node_of(eddy_tensor t);   /* NULL if invalid */

/* --------------------------------------------------- shape and type rule -- */

/* The argument of `infer`: input types in, output types out. infer runs when the node is built,
 * perhaps with unknown dimensions, again with concrete ones when a session compiles, and when a
 * file is read: no other function checks types and shapes. It may change `attrs` while the node
 * is being built (to resolve a default), and only then (attrs_fixed is false). */
typedef struct eddy_infer {
    const eddy_op_def       *op;
    void                    *attrs;
    const eddy_type         *in;
    /* value[i]: input i's elements if they are known at this point, else NULL */
    const eddy_array *const *value;
    eddy_type               *out;     /* op->outputs of them, zeroed */
    int                      n_in, n_out;
    bool                     attrs_fixed;
    void                    *impl;
} eddy_infer;

/* For operations whose number of outputs depends on attributes or inputs: allocates `out` for n
 * types. False if n is negative or too large, or if out of memory. */
EDDY_API bool eddy_infer_outputs(eddy_infer *c, int n);
/* Records why the inputs are rejected. Give only the reason; the library adds the operation, the
 * types of all inputs and the node. Returns false. */
EDDY_API bool eddy_infer_fail(eddy_infer *c, eddy_status s, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* -------------------------------------------------------------- kernel -- */

/* The value of a variable in a session. */
typedef struct eddy_state {
    eddy_array *value;
    bool        initialized;
    uint64_t    version;    /* changes with each update */
} eddy_state;

/* Concrete elements that a kernel reads or writes: row-major, dense, 64-byte
 * aligned when the library owns them. */
typedef struct eddy_buffer {
    void       *data;
    int64_t     count;
    eddy_type   type;
    eddy_state *state;      /* for a variable passed by reference; else NULL */
} eddy_buffer;

/* The argument of `prepare`, which is called once, and of `kernel`, which is called in every
 * run. Types are concrete and outputs have memory; only a kernel whose input data can be invalid
 * may fail. */
typedef struct eddy_kernel {
    const eddy_op_def  *op;
    const void         *attrs;
    eddy_buffer *const *in;
    eddy_buffer *const *out;
    int                 n_in, n_out;
    void               *state;       /* allocated by prepare; freed with the plan */
    void               *scratch;     /* scratch_size bytes, uninitialized in each run */
    uint64_t            scratch_size;/* set by prepare, in 64 bits on every machine */
    int64_t             graph_seed;
    int64_t             op_seed;     /* of this node: its id */
    /* if STATEFUL and no input is a variable passed by reference: the number of earlier runs of the
     * session that executed this operation; in a loop, also a function of the iteration. Else 0 */
    uint64_t            step;
    int                 threads;     /* maximum workers of eddy_parallel; set before prepare */
    bool                deterministic;   /* the same bits whatever `threads` is */
    void               *impl;
    const struct eddy_stop *stop;   /* of the library: when to end early (graph/base/stop.h) */
} eddy_kernel;

/* Allocates k->state, which is freed with the plan; NULL if out of memory. Only in prepare. Sizes
 * in 64 bits do not overflow where size_t has 32. */
EDDY_API void       *eddy_kernel_state(eddy_kernel *k, uint64_t size);
/* Records the reason; returns s, for `return eddy_kernel_fail(...)`. */
EDDY_API eddy_status eddy_kernel_fail(eddy_kernel *k, eddy_status s, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* EDDY_OK, or EDDY_CANCELLED or EDDY_TIMED_OUT once the run must end early. A kernel that waits for
 * something outside of the process asks again and again, and returns the status with
 * eddy_kernel_fail. Only in a kernel. */
EDDY_API eddy_status eddy_kernel_stopped(const eddy_kernel *k);

/* Runs body on pieces [from, to) that together are [0, n), some of them concurrently on other
 * threads, and returns when all are done. A piece starts at a multiple of `grain` and has at
 * least `grain` items, except the last: choose a grain worth 20 microseconds. `worker` is less
 * than k->threads, and bodies that run concurrently have different ones; use it to select
 * scratch memory. The result for an item must not depend on the division of [0, n); then results
 * are the same for any number of threads. A call from inside a body runs everything on its own
 * thread. Only in a kernel. */
typedef void (*eddy_parallel_fn)(void *arg, int64_t from, int64_t to, int worker);
EDDY_API void eddy_parallel(const eddy_kernel *k, int64_t n, int64_t grain, eddy_parallel_fn body,
                            void *arg);

/* The inner loop of an elementwise operation: n elements, operands already broadcast and
 * contiguous, y possibly the same address as an operand. Returns EDDY_OK, or an error if an
 * element has no result (integer division by zero; see `no_result`). */
typedef eddy_status (*eddy_tile_fn)(int64_t n, void *y, const void *const *x, const void *attrs);

/* ------------------------------------------------------- gradient rule -- */

/* The argument of `gradient`: given y = op(x) and dy, set dx[i] for each input that has a
 * gradient, built from ordinary operations; an input whose dx[i] is not set has none. For an
 * elementwise operation dx[i] may have the broadcast shape: the caller sums it to the shape of
 * x[i]. dy[k] is a tensor of zeros if no gradient reaches output k, and invalid if output k is
 * not differentiable. Attributes are those of the node. */
typedef struct eddy_rule {
    eddy_graph        *graph;
    const eddy_node   *node;
    const void        *attrs;
    const eddy_tensor *x, *y, *dy;
    eddy_tensor       *dx;           /* n_in, all invalid at first */
    int                n_in, n_out;
    int                n_dx;         /* n_in; a rule that returns another number is rejected */
    void              *context;      /* of a registered gradient (eddy_register_gradient) */
} eddy_rule;

/* As op->gradient: declares that the operation has no gradient (floor, argmax, comparisons). A
 * NULL gradient instead means that none is implemented, and requesting it is the error
 * EDDY_NO_GRADIENT. */
EDDY_API void eddy_not_differentiable(eddy_rule *r);
/* Records an error of the rule on the graph: "gradients: <reason> [node ...]", and for a custom
 * gradient "gradients: <reason> [gradient ... of ...]". */
EDDY_API void eddy_rule_fail(eddy_rule *r, eddy_status s, const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* Registers a gradient under a name of this graph; `rule` gets `context` as r->context. Nodes
 * that use it are those built inside eddy_gradient_override_begin, and those of
 * eddy_custom_gradient. A graph file contains only the names; register them again before
 * differentiating a graph that was read. Errors: EDDY_INVALID_ARGUMENT if the name is taken. As
 * tf.RegisterGradient. */
EDDY_API bool eddy_register_gradient(eddy_graph *g, const char *name, void (*rule)(eddy_rule *r),
                                     void *context);

/* ------------------------------------------------------- batching rule -- */

/* The argument of `batch`: the node's operation on many examples at once (eddy_vmap). If
 * batched[i], x[i] has the examples along a new axis 0; otherwise it replaces the node's own
 * input and is the same for all examples. An input of which only the shape matters is always the
 * node's own. Set y[k], with the examples along axis 0. If an output is not set, the caller
 * loops over the examples instead. For an operation without outputs the last node built
 * represents it. Like a gradient rule, it builds ordinary operations. */
typedef struct eddy_batch {
    eddy_graph        *graph;
    const eddy_node   *node;
    const void        *attrs;
    const eddy_tensor *x;
    const bool        *batched;      /* at least one is true, except for random operations */
    eddy_tensor       *y;            /* n_out, all invalid at first */
    int                n_in, n_out;
    eddy_tensor        examples;     /* axis 0 counts the examples */
} eddy_batch;

/* x[i] with the examples along axis 0: broadcast if it is not batched. */
EDDY_API eddy_tensor eddy_batch_input(const eddy_batch *b, int i);
/* Applies the same operation to inputs that are all batched or all the node's own, with these
 * attributes. */
EDDY_API void eddy_batch_apply(eddy_batch *b, const void *attrs);
/* As op->batch, for an operation that treats each element separately, whatever the shape. */
EDDY_API void eddy_batch_as_is(eddy_batch *b);

/* -------------------------------------------------------------- inputs -- */

/* Sets of element types, and of ranks, that an input accepts: EDDY_TAKES_FLOATS | EDDY_RANK(2).
 * A set without types accepts every type, one without ranks every rank.
 * docs/inside/adding-a-type.md says what else a new type needs.
 *
 * Where a set names float16 and bfloat16, the kernel sees float32: the library casts such inputs
 * to float32, and the outputs that infer has given one of these types back, rounding once. Where a
 * set without types accepts them, the kernel gets the 16-bit elements, which it may only move. A
 * variable passed by reference is not cast: such an input refuses the two types, unless its set has
 * no types. Products of bfloat16 by instructions for them count denormal numbers as 0. */
#define EDDY_TYPE(dtype)     (1u << (dtype))
#define EDDY_TAKES_WIDE_FLOATS     (EDDY_TYPE(EDDY_FLOAT32) | EDDY_TYPE(EDDY_FLOAT64))
#define EDDY_TAKES_HALVES          (EDDY_TYPE(EDDY_FLOAT16) | EDDY_TYPE(EDDY_BFLOAT16))
#define EDDY_TAKES_FLOATS          (EDDY_TAKES_WIDE_FLOATS | EDDY_TAKES_HALVES)
#define EDDY_TAKES_COMPLEX         (EDDY_TYPE(EDDY_COMPLEX64) | EDDY_TYPE(EDDY_COMPLEX128))
#define EDDY_TAKES_INDICES         (EDDY_TYPE(EDDY_INT32) | EDDY_TYPE(EDDY_INT64))
#define EDDY_TAKES_INTEGERS        (EDDY_TAKES_INDICES | EDDY_TYPE(EDDY_UINT8))
#define EDDY_TAKES_BOOLS           EDDY_TYPE(EDDY_BOOL)
#define EDDY_TAKES_NUMBERS         (EDDY_TAKES_FLOATS | EDDY_TAKES_INTEGERS)
#define EDDY_TAKES_ORDERED         (EDDY_TAKES_NUMBERS | EDDY_TAKES_BOOLS)
#define EDDY_TAKES_FLOATS_COMPLEX  (EDDY_TAKES_FLOATS | EDDY_TAKES_COMPLEX)
#define EDDY_TAKES_NUMBERS_COMPLEX (EDDY_TAKES_NUMBERS | EDDY_TAKES_COMPLEX)
#define EDDY_TAKES_WIDE_FLOATS_COMPLEX  (EDDY_TAKES_WIDE_FLOATS | EDDY_TAKES_COMPLEX)
#define EDDY_TAKES_WIDE_NUMBERS    (EDDY_TAKES_WIDE_FLOATS | EDDY_TAKES_INTEGERS)
#define EDDY_TAKES_WIDE_NUMBERS_COMPLEX (EDDY_TAKES_WIDE_NUMBERS | EDDY_TAKES_COMPLEX)
#define EDDY_TAKES_ALL             (EDDY_TAKES_NUMBERS_COMPLEX | EDDY_TAKES_BOOLS)
#define EDDY_ANY_TYPE        0u
/* The same element type as input i. */
#define EDDY_LIKE(i)         (((i) + 1u) << 24)
/* This rank, or at least this rank. An unknown rank is accepted. */
#define EDDY_RANK(n)         (((n) + 1u) << 16)
#define EDDY_RANK_FROM(n)    (EDDY_RANK(n) | 1u << 20)

/* An input of an operation: its name in messages, and the types and ranks that it accepts. */
typedef struct eddy_input_def {
    const char *name;
    uint32_t    takes;
} eddy_input_def;

/* A table of inputs for eddy_op_def, EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }, { "n",
 * EDDY_TAKES_INDICES }). The last row also applies to all inputs that follow. Rows with the same
 * name form a list: xs[1]. */
#define EDDY_INPUTS(...) (const eddy_input_def[]){ __VA_ARGS__, { NULL, 0 } }

/* ---------------------------------------------------------- definition -- */

enum {
    EDDY_OP_ELEMENTWISE  = 1 << 0,   /* has `tile`; broadcasts; may run in place */
    EDDY_OP_ALIAS        = 1 << 1,   /* output 0 has input 0's elements, unchanged; no kernel */
    EDDY_OP_CONSTANT     = 1 << 2,   /* its first attribute is the value */
    EDDY_OP_PLACEHOLDER  = 1 << 3,   /* has a value only if fed */
    EDDY_OP_VARIABLE     = 1 << 4,   /* its value belongs to the session, from before the run */
    EDDY_OP_REFERENCE    = 1 << 5,   /* input 0 is a variable, passed by reference */
    EDDY_OP_UPDATES      = 1 << 6,   /* ... and changed; output 0, if any, is its new value */
    /* may give another value in each run (random): never folded or merged; see eddy_kernel.step.
     * An integer attribute `seed`, where 0 stands for a seed that follows from the node's id, is
     * copied with the seed that it stands for */
    EDDY_OP_STATEFUL     = 1 << 7,
    /* a control edge from it keeps it in the plan (assign, print, assert) */
    EDDY_OP_SIDE_EFFECT  = 1 << 8,
    /* ELEMENTWISE, and computing an element takes less time than loading it from memory: loops may
     * compute it again rather than read it */
    EDDY_OP_CHEAP        = 1 << 9,
    EDDY_OP_SLICES       = 1 << 10,  /* is the IndexedSlices op */
    /* the kernel allows output `in_place_output` in the memory of input `in_place_input`; for an
     * update: operands in the variable's memory */
    EDDY_OP_IN_PLACE     = 1 << 11,
    /* REFERENCE, and output 0 is the variable's value at this point */
    EDDY_OP_READ         = 1 << 12,
    /* UPDATES, and input 1 is the whole new value: may change an unknown shape (assign) */
    EDDY_OP_REPLACES     = 1 << 13,
    /* the operation is an ALIAS in runs where output 0 has as many elements as input 0 */
    EDDY_OP_ALIAS_IF_EQUAL = 1 << 14,
    /* output 0 consists of the elements of all inputs, only moved; has `parts` */
    EDDY_OP_JOINS        = 1 << 15,
    /* unknown dimensions of outputs depend on the elements of the inputs, and are at most the
     * number of elements of input 0: the kernel gets memory for that many and sets the type and
     * the count of each out[k] to those that it has written; see `settled` */
    EDDY_OP_DYNAMIC      = 1 << 16,
    /* calls LAPACK, which may fail on its data, and whose bits depend on the number of threads:
     * it runs on one */
    EDDY_OP_LAPACK       = 1 << 17,
    /* has a value that a graph file cannot contain (a function, for example): writing it is an
     * error */
    EDDY_OP_UNSAVED      = 1 << 18,
    /* owns a graph that the session runs in a loop, or a branch of it (graph/body.h) */
    EDDY_OP_LOOP         = 1 << 19,
    EDDY_OP_CASE         = 1 << 20,
    /* each element of a floating output is an element of a floating input or a constant, and which
     * one follows from shapes, attributes and integer inputs; the kernel takes float64, and every
     * JOINS operation is one (the patterns of sparse Jacobians follow) */
    EDDY_OP_MOVES        = 1 << 21,
    /* SIDE_EFFECT, and all it does is to fail a run: running it twice does no harm */
    EDDY_OP_ASSERTS      = 1 << 22,
    /* exchanges data with other sessions or processes, which expect it once in each run: a run that
     * has failed is not repeated to find out why (`check_numerics`) */
    EDDY_OP_EXCHANGES    = 1 << 23
};

struct eddy_op_def {
    const char *name;                /* TensorFlow's name, "MatMul"; files refer to it */
    /* the default name of nodes, if not `name`; gradient rules use `name` */
    const char *label;
    int         min_inputs, max_inputs;  /* max EDDY_MANY: no limit */
    int         outputs;             /* EDDY_MANY: infer sets the number */
    unsigned    flags;
    /* for functions shared by several definitions: identifies the definition; and for
     * reductions, the fold that they compute (ops/kernels/reduction/reduce_engine.h) */
    unsigned    variant;
    const struct eddy_fold *fold;
    /* for IN_PLACE: the output that may be computed in the memory of an input, and that input */
    int         in_place_output, in_place_input;
    /* types and ranks that each input accepts, ended by a zeroed row (EDDY_INPUTS); others are
     * rejected before infer is called. NULL: infer checks everything */
    const eddy_input_def *inputs;
    /* Sets of inputs: bit i is input i, bit 31 input 31 and all later ones. */
    uint32_t    shape_inputs;        /* only their shapes and types matter (zeros_like) */
    uint32_t    value_inputs;        /* infer needs their elements (fill's dims) */
    size_t      attrs_size;
    const eddy_attr_field *attrs;

    bool         (*infer)(eddy_infer *c);                /* required */
    /* for ELEMENTWISE, and for UPDATES that compute each new element from the element of the
     * variable, x[0], and those of the operands: the session may run them in one loop with
     * others. Returns NULL for unsupported dtypes */
    eddy_tile_fn (*tile)(const eddy_type *in, const eddy_type *out);
    eddy_status  (*prepare)(eddy_kernel *k);             /* optional */
    /* required, except for operations that the session itself implements */
    eddy_status  (*kernel)(eddy_kernel *k);
    void         (*gradient)(eddy_rule *r);
    /* optional: the operation over a batch of examples; ELEMENTWISE operations need none */
    void         (*batch)(eddy_batch *b);
    /* optional: the number of arithmetic operations of one run on concrete types. Without it, an
     * ELEMENTWISE operation counts one per element of its output, and any other only moves
     * elements and counts none. */
    double       (*flops)(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out);
    /* optional: true if, with the types of k, output 0 is a fold of all elements of input 0, or
     * of each of its rows, in these blocks (ops/kernels/reduction/reduce_engine.h); then a loop
     * that computes the elements may fold them too. False for any other kind of fold. */
    bool         (*folds)(const eddy_kernel *k, struct eddy_blocks *blocks);
    /* optional: true if, with these concrete types, each output is a contiguous part of input 0:
     * output k has its elements from first[k] on, in order; then the session need not copy them.
     * For an operation that JOINS: each input i is such a part of output 0. */
    bool         (*parts)(const void *attrs, int n_in, const eddy_type *in, int n_out,
                          const eddy_type *out, int64_t *first);
    /* optional, for a DYNAMIC operation: true if with these attributes no dimension of an output
     * depends on elements, so that a run need not compute the operation first. Without it, a
     * dimension does. */
    bool         (*settled)(const void *attrs);
    /* optional: the reason in the message if `tile` returns an error, "an integer is divided by 0";
     * default: an element has no result */
    const char  *no_result;
};

/* As op->flops: one operation per element of input 0, or of output 0. */
EDDY_API double eddy_flops_per_input(const void *attrs, int n_in, const eddy_type *in,
                                     const eddy_type *out);
EDDY_API double eddy_flops_per_output(const void *attrs, int n_in, const eddy_type *in,
                                      const eddy_type *out);

/* ----------------------------------------------------------- appending -- */

typedef struct eddy_apply_args {
    eddy_graph  *graph;      /* only needed for an op without inputs */
    const char  *name;       /* NULL: the op's label */
} eddy_apply_args;

/* Appends a node to a graph; every node is created by this function. It checks that the inputs
 * are valid, belong to one graph and have the right number, copies the attributes and infers the
 * types. Returns output 0 of the new node, or an invalid tensor. A graph among the attributes
 * belongs to the node afterwards; if no node is created, it is freed. */
EDDY_API eddy_tensor eddy_apply(const eddy_op_def *op, const void *attrs, int n,
                                const eddy_tensor *in, eddy_apply_args args);
/* The same for an operation with one or two inputs and the default name. */
EDDY_API eddy_tensor eddy_apply1(const eddy_op_def *op, const void *attrs, eddy_tensor x);
EDDY_API eddy_tensor eddy_apply2(const eddy_op_def *op, const void *attrs, eddy_tensor a,
                                 eddy_tensor b);

/* d, or `otherwise` if d was not given. */
static inline eddy_dims eddy_dims_or(eddy_dims d, eddy_dims otherwise)
{
    return d.count == 0 && !d.no_number_ ? otherwise : d;
}
/* True if a plain number was given instead of a list, .axes = 1, or the count is not one of a list;
 * then it records an error. `what` is the operation, `option` the list. */
EDDY_API bool eddy_refuse_number(eddy_graph *g, const char *what, const char *option, eddy_dims d);
/* The invalid tensor of a graph, which a builder returns if it was given an invalid one: the
 * next builder can then find the graph. g may be NULL, which gives EDDY_NO_TENSOR. */
static inline eddy_tensor eddy_none(eddy_graph *g)
{
    eddy_tensor t = EDDY_NO_TENSOR;
    t.graph = g;
    return t;
}
/* Records an error on g (only the first one is kept) and returns an invalid tensor of g; g may
 * be NULL. */
EDDY_API eddy_tensor eddy_fail(eddy_graph *g, eddy_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The elements of t if they are known without a run (a constant), else NULL. The array belongs
 * to the graph. */
EDDY_API const eddy_array *eddy_constant_value(eddy_tensor t);

/* Makes the graph own `object`: it calls release(object) when it is freed itself, or at once,
 * returning false, if it is not a graph or out of memory. */
EDDY_API bool eddy_graph_own(eddy_graph *g, void *object, void (*release)(void *object));

#ifdef __cplusplus
}
#endif
#endif
