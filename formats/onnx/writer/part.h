/* part.h -- what a rule sees: one node of a graph, for which it writes nodes of ONNX.
 *
 * A value is a name. Functions that give a name give "" where something failed; then the writing
 * has failed, and rules need not look. */
#ifndef EDDY_FORMATS_ONNX_PART_H
#define EDDY_FORMATS_ONNX_PART_H

#include "../../formats.h"
#include "../../message.h"
#include "../../../graph/op.h"

typedef struct onnx_writer onnx_writer;

typedef struct onnx_part {
    onnx_writer     *writer;
    struct writer_scope *scope;     /* of the graph that the node is in */
    const eddy_node *node;
    const char     **out;           /* names of the outputs */
    int              nodes;         /* written so far */
    bool             failed;        /* the node cannot be written: reason */
    const char      *reason;
} onnx_part;

/* Writes one node; false if it cannot be written (eddy__part_missing). */
typedef bool (*onnx_rule)(onnx_part *p);

/* How an operation is written: by a function, or by a formula of its inputs a, b, c. */
typedef struct onnx_row {
    const char *op;
    onnx_rule   rule;
    const char *formula;
    const char *integers;           /* of integers, if that is another one */
    const char *doubles;            /* of float64, where ONNX Runtime has no kernel for that */
} onnx_row;

/* An operation that is not written, and why. */
typedef struct onnx_absence {
    const char *op, *why;
} onnx_absence;

/* A function of one float64 tensor, as nodes of ONNX. */
typedef struct onnx_special {
    const char *op;                 /* Eddy's operation */
    const char *(*write)(onnx_part *p, const char *x);
} onnx_special;

/* NULL if there is none. (special.c) */
const onnx_special *eddy__onnx_special(const char *op);

/* The formula of a row for numbers of this type. */
const char     *eddy__onnx_formula(const onnx_row *row, eddy_dtype d);
/* The row of an operation; NULL if it has none. (rule_tables.c) */
const onnx_row *eddy__onnx_row(const char *op);
/* Why an operation has none; NULL if that is not known. */
const char     *eddy__onnx_absence(const char *op);

/* ---------------------------------------------------------- the node's side -- */

const char *eddy__part_in(onnx_part *p, int i);
eddy_type   eddy__part_type(const onnx_part *p, int i);
eddy_dtype  eddy__part_dtype(const onnx_part *p, int i);
/* Whether a node reads output k, or the model has it; a rule need not write others. */
bool        eddy__part_wants(const onnx_part *p, int k);
/* Output k is this value; returns true. */
bool        eddy__part_put(onnx_part *p, int k, const char *name);
/* The node cannot be written, for this reason; returns false. */
bool        eddy__part_missing(onnx_part *p, const char *reason, ...)
    __attribute__((format(printf, 2, 3)));
/* Both fail if the rank, or a dimension, of input i is unknown. */
bool        eddy__part_known_rank(onnx_part *p, int i, int *rank);
bool        eddy__part_known_shape(onnx_part *p, int i, eddy_shape *s);
/* Attributes of the node; 0 or empty if it has no such attribute. */
int64_t     eddy__part_int(const onnx_part *p, const char *name);
bool        eddy__part_bool(const onnx_part *p, const char *name);
double      eddy__part_float(const onnx_part *p, const char *name);
const char *eddy__part_text(const onnx_part *p, const char *name);
eddy_dims   eddy__part_dims(const onnx_part *p, const char *name);
eddy_ints   eddy__part_int_list(const onnx_part *p, const char *name);
eddy_graph *eddy__part_graph(const onnx_part *p, const char *name);
eddy_shape  eddy__part_shape_attr(const onnx_part *p, const char *name);
eddy_dtype  eddy__part_dtype_attr(const onnx_part *p, const char *name);
/* The attribute `axis`, counted from the front for this rank. */
int64_t     eddy__part_axis(const onnx_part *p, int rank);

/* ------------------------------------------------------------- ONNX's side -- */

/* Constants: a scalar; a vector of int64; any array (not NULL, not changed). */
const char *eddy__part_number(onnx_part *p, eddy_dtype d, double v);
const char *eddy__part_ints(onnx_part *p, int n, const int64_t *v);
const char *eddy__part_array(onnx_part *p, eddy_array *a);
/* A vector of one int64. */
const char *eddy__part_one(onnx_part *p, int64_t v);

/* The shape of a value with this static type, as int64 vector: a constant if it is known. */
const char *eddy__part_shape_of(onnx_part *p, const char *x, eddy_shape s);
const char *eddy__part_shape(onnx_part *p, int i);
/* Its size along an axis, as a vector of one int64. */
const char *eddy__part_size(onnx_part *p, const char *x, eddy_shape s, int axis);

/* Casts unless it has the type already. */
const char *eddy__part_cast(onnx_part *p, const char *x, eddy_dtype from, eddy_dtype to);
/* A node of one output without attributes. */
const char *eddy__part_unary(onnx_part *p, const char *op, const char *a);
const char *eddy__part_binary(onnx_part *p, const char *op, const char *a, const char *b);

/* Nodes, as an expression in which a, b, c ... are the names that follow, and numbers are
 * constants of type d (2i: of int64):
 *
 *   eddy__part_formula(p, d, "Mul(a, Sigmoid(Mul(a, 1.702)))", x)
 *
 * Attributes of nodes are in brackets, #axis is the number that Eddy's node has as this attribute:
 * Softmax[axis=#axis](a). The words real, bool, int32, int64, float, double and uint8 are casts, to
 * d and to the type; an empty argument is `_`. @Erf(a) is what Eddy's operation of that name is
 * written as: the formula of its row, or a special function, which takes and yields float64. */
const char *eddy__part_formula(onnx_part *p, eddy_dtype d, const char *text, ...);

/* A node with attributes:  onnx_call c = eddy__call(p, "Conv", 2, in); eddy__call_int(&c, "group",
 * 1); y = eddy__call_end(&c). outputs is for several; a name may be NULL where it is not needed. */
typedef struct onnx_call {
    onnx_part  *part;
    message     node;
    const char *op, *domain;        /* NULL: ONNX's own */
} onnx_call;

onnx_call   eddy__call(onnx_part *p, const char *op, int n, const char *const *in);
void        eddy__call_int(onnx_call *c, const char *name, int64_t v);
void        eddy__call_float(onnx_call *c, const char *name, double v);
void        eddy__call_text(onnx_call *c, const char *name, const char *v);
void        eddy__call_ints(onnx_call *c, const char *name, int n, const int64_t *v);
void        eddy__call_tensor(onnx_call *c, const char *name, const eddy_array *v);
/* Frees the graph. */
void        eddy__call_graph(onnx_call *c, const char *name, message *graph);
const char *eddy__call_end(onnx_call *c);
void        eddy__call_outputs(onnx_call *c, int n, const char **names);

#endif
