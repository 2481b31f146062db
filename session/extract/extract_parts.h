/* extract_parts.h -- shared by the files of eddy_extract.
 *
 * The new graph is made in steps, each of which copies a graph to another: the first cuts the
 * inputs and freezes variables, the next ones replace what has become constant, and the last one
 * opens the batch. Each copies only what the outputs still need. */
#ifndef EDDY_SESSION_EXTRACT_PARTS_H
#define EDDY_SESSION_EXTRACT_PARTS_H

#include "graph/copy.h"
#include "session/extract.h"

/* A graph on the way. */
typedef struct extract_part {
    eddy_graph  *graph;
    eddy_tensor *inputs, *outputs;      /* those of the call, in this graph */
    uint8_t     *fresh;         /* by id, up to `room`: a constant that was none in the old graph */
    int32_t      room;
} extract_part;

/* One call. */
typedef struct extract {
    eddy_extract_args args;
    eddy_error        error;
    eddy_arena        arena;
    int               n_inputs, n_outputs;
} extract;

/* The step from one graph to the next. */
typedef struct extract_step {
    extract            *x;
    eddy_copy           copy;       /* its context is the step */
    const extract_part *was;
    extract_part        now;
    eddy_array        **values;     /* by id of the old graph: of frozen variables; or NULL */
    eddy_shape        **samples;    /* by id and output: shapes for which `where` is decided */
    int32_t            *readers;    /* by id of the old graph, or NULL: needed nodes and outputs */
    int                 changes;    /* nodes that were simplified */
} extract_step;

/* n zeroed objects that live until the call ends; NULL with the error set. */
void *eddy__extract_memory(extract *x, int64_t n, size_t size);

/* Begins a graph; then the caller sets images; finish copies what the outputs need. False with
 * the error set, also in x; a step that was begun is to be ended by finish in any case. */
bool eddy__extract_step_begin(extract_step *s, extract *x, const extract_part *was);
bool eddy__extract_step_finish(extract_step *s, bool ok);

/* False with the error set if t has already been replaced. */
bool eddy__extract_once(extract_step *s, eddy_tensor t);
/* A constant of the new graph that takes the place of t; owns the array. */
bool eddy__extract_constant(extract_step *s, eddy_tensor t, eddy_array *value);
/* The placeholder that takes the place of t. */
bool eddy__extract_placeholder(extract_step *s, int i, const char *name, eddy_shape shape);

/* The first step: from the graph of the call, with values, replacements and frozen variables. */
bool eddy__extract_cut(extract_step *s);
/* Sets the error that no output depends on input i. */
bool eddy__extract_unused(extract *x, int i);
/* Sets s->values and s->copy.frozen. */
bool eddy__extract_freeze(extract_step *s);
/* As eddy_copy.instead: frozen variables and what reads them. */
bool eddy__extract_frozen(eddy_copy *c, const eddy_node *node);

/* As eddy_copy.instead: what has become simpler. */
bool eddy__extract_simplify(eddy_copy *c, const eddy_node *node);
/* A part of it: factors of a convolution's channels. */
bool eddy__extract_scale(extract_step *s, const eddy_node *node);
/* Sample shapes of the old graph, in which all unknown first dimensions are equal. */
bool eddy__extract_samples(extract_step *s);
/* Computes what has become constant in the graph of the part; the number of values, -1 on an error.
 * tensors and values are in memory of the call; the caller frees the arrays. */
int  eddy__extract_fold(extract *x, const extract_part *part, eddy_tensor **tensors,
                        eddy_array ***values);

/* The graph of the part with 8-bit values in the place of matrices; fills the report. */
bool eddy__extract_quantize(extract *x, const extract_part *was, extract_part *now);

/* The graph of the part with an unknown number of examples. */
bool eddy__extract_open(extract *x, const extract_part *was, extract_part *now);

#endif
