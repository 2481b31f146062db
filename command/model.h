/* model.h -- a file that the user names: a graph with its inputs and outputs, or tensors alone. */
#ifndef COMMAND_MODEL_H
#define COMMAND_MODEL_H

#include "command/command.h"

#include <eddy/formats.h>
#include <eddy/input.h>

typedef enum file_kind {
    KIND_UNKNOWN, KIND_YAML, KIND_ONNX, KIND_TENSORFLOW,
    KIND_SAFETENSORS, KIND_TORCH, KIND_BUNDLE, KIND_KERAS, KIND_NPZ, KIND_NPY, KIND_COUNT
} file_kind;

/* The kind of a file by its contents; KIND_UNKNOWN after a message. */
file_kind   kind_of(const char *path);
const char *kind_name(file_kind k);             /* "ONNX model" */
bool        kind_has_graph(file_kind k);

typedef struct named {
    const char *name;
    eddy_tensor tensor;
} named;

typedef struct model {
    const char      *path;
    file_kind        kind;
    eddy_graph      *graph;                     /* NULL for tensors alone */
    eddy_checkpoint *tensors;                   /* NULL for a graph */
    named           *inputs, *outputs;
    int              n_inputs, n_outputs;
    eddy_onnx_model *onnx;
    eddy_tensorflow_model *tensorflow;
} model;

/* Opens a file; `variables`: weights become variables, not constants. False after a message. The
 * caller closes it in any case. */
bool model_open(model *m, const char *path, bool variables);
/* The same, where only a graph will do. */
bool model_open_graph(model *m, const char *path, bool variables);
void model_close(model *m);

/* A tensor by the name of an input or output, a value of the file, or a node ("name", "name:1").
 * An invalid tensor after a message. */
eddy_tensor model_find(const model *m, const char *name);
/* The tensors of these names, m's outputs if there are none. NULL after a message. */
named *model_select(const model *m, text_list names, int *count);

/* A session in which the variables have their initial values, then those of the checkpoint
 * `weights` unless it is NULL; `profile`: it times its instructions; threads as for
 * eddy_session_new. NULL after a message. */
eddy_session *model_session(const model *m, const char *weights, bool profile, int threads);

/* Tensors of a file as a checkpoint, whatever its kind. NULL after a message. */
eddy_checkpoint *tensors_open(const char *path, file_kind kind);

/* marks[id] for the nodes on which the tensors depend; room for the whole graph. */
bool *needed_nodes(eddy_graph *g, const named *of, int count);
eddy_list tensors_of(const named *of, int count);

/* A copy of the part of the model that its outputs need, in which the dimensions of inputs are those
 * of `shapes`, texts "x=1,3,224,224", and other unknown dimensions are `unknown`, if that is not
 * 0. */
typedef struct concrete {
    eddy_graph  *graph;
    eddy_tensor *image;                         /* by the id of the node in the model; output 0 */
    named       *inputs, *outputs;
} concrete;
/* False after storing why in `error`: not every model works with these dimensions. */
bool concrete_make(concrete *c, const model *m, text_list shapes, int64_t unknown,
                   eddy_error *error);
void concrete_free(concrete *c);
/* Puts such a copy in the place of the model's graph, if dimensions are given. False
 * after a message. */
bool model_fix_shapes(model *m, text_list shapes, int64_t unknown);
/* Elements for each input, zeros or small random numbers: feeds as many as m->n_inputs. */
eddy_feed *feeds_made(const named *inputs, int count, bool random);
void       feeds_free(eddy_feed *feeds, int count);

#endif
