/* build.h -- building the nodes of a model: what the files of operators use.
 *
 * An operator is a row of a table: its name, the operator set that introduced this form of it, and
 * a function that builds it with Eddy's builders. The function reads inputs and attributes, and
 * sets outputs; it returns false with a reason if it cannot. Errors of Eddy's builders stay on the
 * graph, and the caller finds them there. */
#ifndef EDDY_FORMATS_ONNX_BUILD_H
#define EDDY_FORMATS_ONNX_BUILD_H

#include "../elements.h"
#include "../known.h"
#include "../reading.h"
#include "model.h"

typedef struct onnx_value onnx_value;
typedef struct onnx_build onnx_build;
typedef struct onnx_reader onnx_reader;
typedef struct onnx_scope onnx_scope;

/* A value of a graph. */
struct onnx_value {
    onnx_kind    kind;          /* ONNX_TENSOR, ONNX_SEQUENCE; ONNX_NO_TYPE: none */
    bool         unknown;       /* of a node that could not be built */
    bool         constant;      /* follows from constants alone */
    int          type;          /* onnx_type of the elements */
    eddy_tensor  t;             /* invalid for a weight that no node has used yet */
    eddy_array  *array;         /* the elements, if they are known; belongs to the reader */
    const char  *weight;        /* of a weight: its name */
    bool         statistic;     /* of a weight: a running mean or variance, which is not trained */
    onnx_value **items;         /* of a sequence */
    int          count;
    wire_bytes  *strings;       /* constant strings, count of them */
    eddy_shape   strings_shape;
    int64_t     *known;         /* integers of rank 0 or 1 of which some are known, count_known */
    int          count_known;
};

typedef struct onnx_operator {
    const char *name;
    int         since;          /* the first operator set with this form */
    bool      (*build)(onnx_build *b);
    eddy_tensor (*one)(eddy_tensor x);                  /* for rows that share a function */
    eddy_tensor (*two)(eddy_tensor a, eddy_tensor b);
    int         variant;
    const char *domain;         /* NULL: ONNX's own */
} onnx_operator;

/* The node that is being built. */
struct onnx_build {
    onnx_reader         *reader;
    onnx_scope          *scope;
    eddy_graph          *graph;
    region              *memory;
    const onnx_node     *node;
    bool                 alone;         /* the only node as which Eddy wrote one of its own */
    const onnx_operator *op;
    int                  version;       /* of the operator set */
    onnx_value         **in, **out;
    int                  n_in, n_out;
    eddy_model_support   support;       /* of a failure */
    const char          *reason;        /* why it failed; NULL: it did not */
    eddy_status          status;
    int                  absent;        /* the last input that was asked for and left out; -1: none */
};

/* ------------------------------------------------------------------ inputs -- */

bool        eddy__onnx_has(const onnx_build *b, int i);
/* Input i; an invalid tensor if it is left out, or with an error if it is not a tensor. */
eddy_tensor eddy__onnx_in(onnx_build *b, int i);
onnx_value *eddy__onnx_value_in(onnx_build *b, int i);   /* NULL if it is left out */
int         eddy__onnx_type_in(const onnx_build *b, int i);
int         eddy__onnx_rank(onnx_build *b, int i);      /* -1 if unknown */
/* If nothing is known of the rank of input i, takes it to be `rank`, which the operator asks for; a
 * run checks it. */
void        eddy__onnx_take_rank(onnx_build *b, int i, int rank);
/* The tensor of a value: a weight is built at its first use. Invalid for NULL. */
eddy_tensor eddy__onnx_tensor_of(onnx_build *b, onnx_value *v);
/* Fails if an input is a sequence or strings. */
void        eddy__onnx_only_tensors(onnx_build *b);
/* Input i as numbers of type d. A constant of int8, for which Eddy has no type, is stored in 8 bits
 * with 128 added. (quantized.c) */
eddy_tensor eddy__onnx_numbers(onnx_build *b, int i, eddy_dtype d);
/* The elements of a value if they are known, else NULL; NULL for NULL. */
const eddy_array *eddy__onnx_array_of(onnx_build *b, onnx_value *v);
/* Input i is there, and only a run tells its elements. */
bool        eddy__onnx_is_computed(onnx_build *b, int i);
/* Those of input i; without them, NULL with a reason: "the shape must be a constant". */
const eddy_array *eddy__onnx_need(onnx_build *b, int i, const char *what);

enum { ONNX_ABSENT = -1, ONNX_FAILED = -2, ONNX_MAX_LIST = MOST_KNOWN };
/* A list of integers that is attribute `name` in old operator sets and constant input i in new
 * ones. Returns its length; ONNX_ABSENT if there is neither; ONNX_FAILED with a reason. */
int  eddy__onnx_list(onnx_build *b, int i, const char *name, int64_t list[ONNX_MAX_LIST]);
/* The same as axes of a tensor of this rank, not negative. */
int  eddy__onnx_axes(onnx_build *b, int i, const char *name, int rank, int64_t list[ONNX_MAX_LIST]);
/* Input i as axes of a tensor of this rank, not negative, where only a run tells them. */
eddy_tensor eddy__onnx_axes_in(onnx_build *b, int i, int rank);
/* An axis in [-rank, rank) as one in [0, rank); ONNX_FAILED with a reason. */
int  eddy__onnx_axis(onnx_build *b, int64_t axis, int rank);
/* Memory for so many elements, of 8 bytes, of a constant that an operator computes; NULL with a
 * reason, also if there are too many. */
void *eddy__onnx_computed(onnx_build *b, int64_t count);
/* The known elements of input i, UNKNOWN_SIZE for others; NULL if nothing is known. */
const int64_t *eddy__onnx_partly(onnx_build *b, int i, int *count);

/* -------------------------------------------------------------- attributes -- */

/* NULL if the node has none. Attributes of the function around the node are resolved. */
const onnx_attr *eddy__onnx_attr(const onnx_build *b, const char *name);
int64_t       eddy__onnx_int(const onnx_build *b, const char *name, int64_t otherwise);
double        eddy__onnx_float(const onnx_build *b, const char *name, double otherwise);
const char   *eddy__onnx_text(onnx_build *b, const char *name, const char *otherwise);
bool          eddy__onnx_is(const onnx_build *b, const char *name, const char *text, bool otherwise);
const int64_t *eddy__onnx_ints(const onnx_build *b, const char *name, int *count);
const double *eddy__onnx_floats(const onnx_build *b, const char *name, int *count);

/* ----------------------------------------------------------------- outputs -- */

/* Sets output i, with the element type of input 0 if the tensor has its type in Eddy, else the type
 * itself. Nothing happens if the node does not have this output. True, or false with a reason; callers
 * may ignore that, since the reason is checked when the node is built. */
bool eddy__onnx_put(onnx_build *b, int i, eddy_tensor t);
bool eddy__onnx_put_as(onnx_build *b, int i, eddy_tensor t, int type);
bool eddy__onnx_put_value(onnx_build *b, int i, onnx_value *v);
bool eddy__onnx_wants(const onnx_build *b, int i);      /* the node has output i */
onnx_value *eddy__onnx_new_value(onnx_build *b);
/* A sequence of count items, which are copied; NULL if out of memory. */
onnx_value *eddy__onnx_new_sequence(onnx_build *b, onnx_value *const *items, int count, int type);
onnx_value *eddy__onnx_new_tensor(onnx_build *b, eddy_tensor t, int type);

/* ------------------------------------------------------------------- types -- */

/* The type in which Eddy computes; EDDY_DEFAULT_DTYPE if there is none. */
eddy_dtype eddy__onnx_dtype(int type);
/* The type of a placeholder or a stored weight. */
eddy_dtype eddy__onnx_stored(int type);
int        eddy__onnx_type_of(eddy_dtype d);
const char *eddy__onnx_type_name(int type);
bool       eddy__onnx_range(int type, double *least, double *most);   /* of an integer type */
bool       eddy__onnx_is_float(int type);
/* x as the element type represents it: integers wrap, halves are rounded. */
eddy_tensor eddy__onnx_narrow(eddy_tensor x, int type);

/* --------------------------------------------------------------- subgraphs -- */

/* The inputs of a subgraph, as many values as it has, are in[]; its outputs are stored in out[], as
 * many as it has. `what` names it: "body". */
bool eddy__onnx_subgraph(onnx_build *b, const onnx_graph *g, const char *what, onnx_value *const *in,
                         onnx_value **out);
/* A graph in an attribute; NULL with a reason. */
const onnx_graph *eddy__onnx_graph_attr(onnx_build *b, const char *name);

/* ---------------------------------------------------------------- failures -- */

/* Each records why the node is not built, unless it has failed already, and returns false:
 * the operator or its option is missing; an input must be constant; the model is invalid. */
bool eddy__onnx_missing(onnx_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool eddy__onnx_unbound(onnx_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool eddy__onnx_invalid(onnx_build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --------------------------------------------------------------- constants -- */

eddy_tensor eddy__onnx_int64s(onnx_build *b, const int64_t *v, int n);
eddy_dims   eddy__onnx_dims(const int64_t *v, int n);   /* EDDY_NO_DIMS if n is 0 */

/* ------------------------------------------------------------------ tables -- */

extern const onnx_operator eddy__onnx_math[], eddy__onnx_arrays[], eddy__onnx_shapes[],
    eddy__onnx_reduce[], eddy__onnx_linear[], eddy__onnx_conv[], eddy__onnx_pool[], eddy__onnx_norm[],
    eddy__onnx_rnn[], eddy__onnx_branch[], eddy__onnx_loop[], eddy__onnx_scan[], eddy__onnx_quantized[], eddy__onnx_sequences[],
    eddy__onnx_sampling[], eddy__onnx_regions[], eddy__onnx_signal[], eddy__onnx_random[], eddy__onnx_losses[],
    eddy__onnx_training[], eddy__onnx_indexing[], eddy__onnx_resize[],
    eddy__onnx_grams[], eddy__onnx_attention[], eddy__onnx_conv_transpose[],
    eddy__onnx_deform_conv[];
/* The row for this operator in this version; NULL if there is none. */
const onnx_operator *eddy__onnx_find(const char *domain, const char *name, int version);

#endif
