/* build.h -- building the nodes of a graph: what the files of operators use.
 *
 * An operator is a row of a table: its name and a function that builds it with Eddy's builders, or
 * the builder itself where that is enough. The function reads inputs and attributes and sets
 * outputs; it returns false with a reason if it cannot. Errors of Eddy's builders stay on the
 * graph, and the caller finds them there. */
#ifndef EDDY_FORMATS_TENSORFLOW_BUILD_H
#define EDDY_FORMATS_TENSORFLOW_BUILD_H

#include "../elements.h"
#include "../known.h"
#include "../reading.h"
#include "model.h"

typedef struct tf_build tf_build;
typedef struct tf_reader tf_reader;
typedef struct tf_scope tf_scope;

typedef enum tf_kind {
    TF_NOTHING,                 /* an output that is not computed */
    TF_VALUE,                   /* a tensor */
    TF_VARIABLE,                /* a reference to a variable */
    TF_ARRAY                    /* a tensor array or list */
} tf_kind;

/* An output of a node. */
typedef struct tf_value {
    tf_kind      kind;
    bool         unknown;       /* of a node that could not be built */
    bool         constant;      /* follows from constants alone */
    int          type;          /* tf_type of the elements */
    eddy_tensor  t;             /* of a VARIABLE: the variable; invalid for a weight not used yet */
    eddy_array  *array;         /* the elements, if they are known; belongs to the reader */
    const char  *weight;        /* of a constant of the file that has elements: its name */
    eddy_tensor_array list;     /* of an ARRAY */
    bool         growing;       /* of an ARRAY: its size changes, so the loops that carry it let it */
    int64_t     *known;         /* integers of rank 0 or 1 of which some are known, count_known */
    int          count_known;
} tf_value;

typedef struct tf_operator {
    const char *name;
    bool      (*build)(tf_build *b);                    /* NULL: one or two, below */
    eddy_tensor (*one)(eddy_tensor x);
    eddy_tensor (*two)(eddy_tensor a, eddy_tensor b);
    int         variant;        /* for rows that share a function; TF_OWN_ORDER */
} tf_operator;

/* variant: the function finds the inputs itself. */
enum { TF_OWN_ORDER = -1 };

/* The node that is being built. */
struct tf_build {
    tf_reader         *reader;
    tf_scope          *scope;
    eddy_graph        *graph;
    region            *memory;
    const tf_node     *node;
    const tf_operator *op;
    tf_value         **in, **out;
    int                n_in, n_out, room_out;
    eddy_model_support support;         /* of a failure */
    const char        *reason;          /* why it failed; NULL: it did not */
    eddy_status        status;
};

/* ------------------------------------------------------------------ inputs -- */

bool        eddy__tf_has(const tf_build *b, int i);
/* Input i as a tensor; an invalid one, with a reason, if there is none. */
eddy_tensor eddy__tf_in(tf_build *b, int i);
int         eddy__tf_type_in(const tf_build *b, int i);
/* The tensor of a value: a weight is built at its first use. */
eddy_tensor eddy__tf_tensor_of(tf_build *b, tf_value *v);
/* The elements of a value if they are known, else NULL. */
const eddy_array *eddy__tf_array_of(tf_build *b, tf_value *v);
/* Input i is there, and only a run tells its elements. */
bool        eddy__tf_is_computed(tf_build *b, int i);
/* Those of input i; without them, NULL with a reason: "the shape must be a constant". */
const eddy_array *eddy__tf_need(tf_build *b, int i, const char *what);

enum { TF_FAILED = -2, TF_MAX_LIST = MOST_KNOWN };
/* The integers of constant input i. Returns their number; TF_FAILED with a reason. */
int  eddy__tf_list(tf_build *b, int i, const char *what, int64_t list[TF_MAX_LIST]);
/* The same as Eddy takes them: at most 8. */
bool eddy__tf_dims_in(tf_build *b, int i, const char *what, eddy_dims *dims);
/* The only integer of constant input i. */
bool eddy__tf_number_in(tf_build *b, int i, const char *what, int64_t *value);
/* The known elements of input i, UNKNOWN_SIZE for others; NULL if nothing is known. */
const int64_t *eddy__tf_partly(tf_build *b, int i, int *count);
eddy_dims eddy__tf_dims(const int64_t *v, int n);   /* EDDY_NO_DIMS if n is 0 */

/* -------------------------------------------------------------- attributes -- */

const tf_attr *eddy__tf_attr_of(const tf_node *n, const char *name);    /* NULL: none */
int64_t     eddy__tf_int(const tf_build *b, const char *name, int64_t otherwise);
double      eddy__tf_float(const tf_build *b, const char *name, double otherwise);
bool        eddy__tf_flag(const tf_build *b, const char *name);         /* false without one */
const char *eddy__tf_text(const tf_build *b, const char *name, const char *otherwise);
/* A list of at most 8 integers; of none if it is left out. */
eddy_dims   eddy__tf_dims_attr(const tf_build *b, const char *name);
int         eddy__tf_type(const tf_build *b, const char *name, int otherwise);
/* The function that an attribute names; NULL with a reason. */
const tf_graph *eddy__tf_function(tf_build *b, const char *name);
const tf_graph *eddy__tf_function_named(tf_build *b, const char *function);

/* ----------------------------------------------------------------- outputs -- */

/* Sets output i, the next one, with the element type of the tensor. False if out of memory. */
bool      eddy__tf_put(tf_build *b, int i, eddy_tensor t);
bool      eddy__tf_put_as(tf_build *b, int i, eddy_tensor t, int type);
bool      eddy__tf_put_value(tf_build *b, int i, tf_value *v);
tf_value *eddy__tf_new_value(tf_build *b, tf_kind kind);
tf_value *eddy__tf_new_tensor(tf_build *b, eddy_tensor t, int type);

/* ------------------------------------------------------------------- types -- */

/* The type in which Eddy computes; EDDY_DEFAULT_DTYPE if there is none. */
eddy_dtype  eddy__tf_dtype(int type);
/* The type of a stored weight. */
eddy_dtype  eddy__tf_stored(int type);
int         eddy__tf_type_of(eddy_dtype d);
const char *eddy__tf_type_name(int type);
/* The bits of an element of a file; 0 if it has no elements of its own. */
int         eddy__tf_bits(int type);
/* Stores an element of a file, by its bits, in an array of type eddy__tf_stored; of complex types,
 * the parts one after the other. */
void        eddy__tf_store(eddy_array *a, int type, int64_t i, uint64_t bits);

/* --------------------------------------------------------------- functions -- */

/* Builds a function on these values, as many as it has arguments; its results are stored in out, as
 * many as it has. `what` names it: "body". False with a reason. */
bool eddy__tf_call(tf_build *b, const tf_graph *g, const char *what, tf_value *const *in,
                   tf_value **out);

/* ---------------------------------------------------------------- failures -- */

/* Each records why the node is not built, unless it has failed already, and returns false:
 * the operator or its option is missing; an input must be constant; the graph is invalid. */
bool eddy__tf_missing(tf_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool eddy__tf_unbound(tf_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool eddy__tf_invalid(tf_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------ tables -- */

extern const tf_operator eddy__tf_math[], eddy__tf_arrays[], eddy__tf_shapes[], eddy__tf_indexing[],
    eddy__tf_reduce[], eddy__tf_nets[], eddy__tf_images[], eddy__tf_linear[], eddy__tf_random[],
    eddy__tf_control[], eddy__tf_lists[], eddy__tf_fused[], eddy__tf_variables[], eddy__tf_frames[];
const tf_operator *eddy__tf_find(const char *name);     /* NULL: not known */
/* The number of the output of this name, of operators with several. */
int eddy__tf_output_number(const char *op, const char *output);

#endif
