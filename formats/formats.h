/* formats.h -- models that other programs wrote, as graphs that can be run and trained.
 *
 * These functions are a library of their own, libeddy_formats, which uses only the public interface
 * of Eddy: include <eddy/formats.h> and link with pkg-config --libs eddy-formats. */
#ifndef EDDY_FORMATS_H
#define EDDY_FORMATS_H

#include "../eddy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------ what all readers share -- */

/* The tensors of the graph that replace an input of a model, instead of a new placeholder.
 * A constant lets the reader build nodes whose shape or form depends on its value. An input is one
 * tensor; an ONNX sequence is any number of tensors, an optional input of ONNX one or none. */
typedef struct eddy_model_binding {
    const char *name;               /* of the input in the file; of TensorFlow also of any node,
                                     * whose output 0 is replaced */
    eddy_list   tensors;
} eddy_model_binding;

/* How a node of a model can be built. */
typedef enum eddy_model_support {
    EDDY_MODEL_NATIVE,              /* as at most one operation of Eddy */
    EDDY_MODEL_COMPOSED,            /* as several */
    EDDY_MODEL_BOUND,               /* only if an input is constant that is not: see bindings */
    EDDY_MODEL_MISSING,             /* not at all */
    EDDY_MODEL_UNKNOWN              /* it depends on a node that cannot be built */
} eddy_model_support;

typedef struct eddy_model_entry {
    const char        *op, *domain; /* "Conv", ""; the domain is ONNX's */
    const char        *place;       /* "node 3 'conv1'", "node 7 'loop' body node 2" */
    int64_t            offset;      /* of the node in the file, bytes */
    eddy_model_support support;
    const char        *reason;      /* why it is not built; "" otherwise */
} eddy_model_entry;

/* The operations that a file needs, an entry for each node, also of subgraphs and functions: read
 * it before the model. */
typedef struct eddy_model_report eddy_model_report;

EDDY_API int  eddy_model_report_size(const eddy_model_report *r);
/* Entry i, which lives as long as the report; NULL if there is none. */
EDDY_API const eddy_model_entry *eddy_model_report_at(const eddy_model_report *r, int i);
EDDY_API void eddy_model_report_free(eddy_model_report *r);

/* ------------------------------------------------------------------ ONNX -- */

/* A model that was read into a graph: the tensors of its inputs, outputs and values by name. It
 * belongs to the caller (eddy_onnx_free); the nodes belong to the graph. */
typedef struct eddy_onnx_model eddy_onnx_model;

typedef struct eddy_onnx_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_onnx_args));
    eddy_graph  *graph;
    const char  *path;              /* of the file; with `data`, only used in messages and for
                                     * the folder of external data */
    bool         variables;         /* floating-point weights are trainable variables, with the
                                     * values of the file as initial values; else constants.
                                     * Weights are initializers, and Constant nodes of the main
                                     * graph with several elements. Running means and variances
                                     * are variables that are not trained */
    const char  *scope;             /* of all new nodes; default: none */
    const eddy_model_binding *inputs;/* input_count bindings; default: placeholders */
    int          input_count;
    const void  *data;              /* the bytes of the file, instead of reading it; copied */
    size_t       data_size;
    const eddy_files *files;        /* file access; default POSIX */
    int64_t      max_bytes EDDY_DEFAULT(2147483648); /* of each file; default 2 GiB */
    eddy_error  *error;             /* may be NULL */
} eddy_onnx_args;

/* Reads an ONNX model and appends its nodes to `graph`.
 *
 *   eddy_onnx_model *m = eddy_onnx_read(g, "model.onnx", .variables = true, .error = &e);
 *   eddy_tensor x = eddy_onnx_input(m, "x"), y = eddy_onnx_output(m, "y");
 *
 * Inputs are placeholders of their names; a dimension with a name or without a value is unknown.
 * Weights are constants or variables of their names, without copies where the file aligns them.
 * docs/inside/onnx.md lists the operators. Element types that Eddy lacks are computed in wider
 * ones: int8, int16, uint16 and 4-bit integers are int32, uint32 and uint64 are int64; results of
 * arithmetic wrap or saturate as in the type of the file, except that uint64 above 2^63 - 1 is an
 * error in a constant and not represented elsewhere. float16, bfloat16 and 8-bit floats are
 * computed in float32; inputs and outputs of the first two have these types themselves.
 *
 * Returns NULL with an error that says the file, the place and the reason; then the graph is as
 * before. Only if memory runs out in the last step can nodes remain. Errors: EDDY_NOT_FOUND,
 * EDDY_IO, EDDY_CORRUPT, EDDY_LIMIT, EDDY_UNIMPLEMENTED for operators that cannot be built,
 * EDDY_INVALID_ARGUMENT for bindings that do not match an input, EDDY_NO_MEMORY; a graph that has
 * an error returns that error. ONNX 1.16, operator sets 1 to 21. */
EDDY_API eddy_onnx_model *eddy_onnx_read_with(const eddy_onnx_args *given);
#define eddy_onnx_read(...) eddy_onnx_read_with(EDDY_ARGS(eddy_onnx_args, __VA_ARGS__))

/* Frees the model, and not the nodes. NULL is allowed. */
EDDY_API void eddy_onnx_free(eddy_onnx_model *m);

/* The inputs of the model that are not weights, and its outputs, in the order of the file. An index
 * out of range gives NULL. The names live as long as the model. */
EDDY_API int         eddy_onnx_input_count(const eddy_onnx_model *m);
EDDY_API const char *eddy_onnx_input_name(const eddy_onnx_model *m, int i);
EDDY_API int         eddy_onnx_output_count(const eddy_onnx_model *m);
EDDY_API const char *eddy_onnx_output_name(const eddy_onnx_model *m, int i);

/* An input, an output, and any value of the main graph by its name in the file, weights included.
 * An invalid tensor if there is none, or if it is a sequence. */
EDDY_API eddy_tensor eddy_onnx_input(const eddy_onnx_model *m, const char *name);
EDDY_API eddy_tensor eddy_onnx_output(const eddy_onnx_model *m, const char *name);
EDDY_API eddy_tensor eddy_onnx_value(const eddy_onnx_model *m, const char *name);

/* The tensors of an input or output: those of a sequence, one for a tensor, none for an optional
 * value that is absent. The list lives as long as the model. */
EDDY_API eddy_list   eddy_onnx_items(const eddy_onnx_model *m, const char *name);

/* The element type of an input or output, or of the elements of a sequence, by ONNX's number
 * (TensorProto.DataType: 1 is float, 7 int64); 0 if there is none. */
EDDY_API int         eddy_onnx_element_type(const eddy_onnx_model *m, const char *name);

/* ---------------------------------------------------------- ONNX: report -- */

/* Reads a file as eddy_onnx_read does, without `graph` and beyond errors of nodes; bindings may be
 * of any graph. NULL with the error if the file is damaged. For eddy_model_report_free. */
EDDY_API eddy_model_report *eddy_onnx_check_with(const eddy_onnx_args *given);
#define eddy_onnx_check(...) eddy_onnx_check_with(EDDY_ARGS(eddy_onnx_args, NULL, __VA_ARGS__))

/* --------------------------------------------------------- ONNX: writing -- */

/* A function of a model: the argument of eddy_onnx_operator.compose. */
typedef struct eddy_onnx_body {
    eddy_graph        *graph;       /* of the function, empty except for x */
    const eddy_node   *node;        /* which the function stands for */
    const void        *attrs;       /* of the node */
    const eddy_tensor *x;           /* n_in placeholders with the types of the node's inputs */
    eddy_tensor       *y;           /* n_out, all invalid at first: to be set */
    int                n_in, n_out;
} eddy_onnx_body;

/* How an operation is written that a program defines, or that is to be written in another way. With
 * `compose`, a node is a call of a function of the model: compose builds the node's results of
 * operations that can be written, in a graph of its own, from placeholders; it is called once for
 * each node, and equal functions are written once. Programs that read the model need not know the
 * operation.
 *
 *   static void cube(eddy_onnx_body *b)
 *   {
 *       b->y[0] = eddy_mul(eddy_square(b->x[0]), b->x[0]);
 *   }
 *   eddy_onnx_operator cubes = { "Cube", .compose = cube };
 *   eddy_onnx_write(EDDY_LIST(y), "net.onnx", .operators = &cubes, .operator_count = 1);
 *
 * Without it, a node is an operator of the domain, with the inputs and outputs of Eddy's node and
 * its attributes: for programs that have a kernel for it. Numbers, lists of them and text are
 * attributes of these kinds, a bool is 0 or 1, an element type ONNX's number of it, a shape the list
 * of its sizes with -1 for unknown ones, an array a tensor; empty lists are left out. */
typedef struct eddy_onnx_operator {
    const char *op;                 /* the name in the operation's definition */
    const char *domain;             /* default: "eddy"; required without `compose`. Version 1 */
    void      (*compose)(eddy_onnx_body *b);
} eddy_onnx_operator;

typedef struct eddy_onnx_write_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_onnx_write_args));
    eddy_list     outputs;          /* at least one tensor or operation of one graph */
    const char   *path;
    eddy_list     inputs;           /* any tensors; default: the placeholders that are needed, in the
                                     * order in which they were built */
    eddy_session *session;          /* the values of variables; may be NULL if none is read */
    bool          no_initial_values;/* variables that the run updates are inputs without a default: for
                                     * programs that cannot feed an input that has one, such as
                                     * onnxruntime-node */
    int64_t       external_bytes;   /* constants of at least this many bytes go to a second file,
                                     * `path`.data; 0: none */
    const eddy_files *files;        /* file access; default POSIX */
    eddy_error   *error;            /* may be NULL */
    const eddy_onnx_operator *operators;    /* operator_count of them; the first of an operation
                                     * counts, also for Eddy's own operations */
    int           operator_count;
} eddy_onnx_write_args;

/* Writes what the outputs need as an ONNX model of operator set 17.
 *
 *   eddy_onnx_write(EDDY_LIST(probabilities), "net.onnx", .session = s, .error = &e);
 *   eddy_onnx_write(EDDY_LIST(train, loss), "step.onnx", .session = s, .error = &e);
 *
 * Inputs and outputs have the names of their nodes ("loss", "moments:1" for a second output; with
 * ":output" if the output is an input or a variable); a tensor that is listed twice is one output.
 * Variables have the values of the session. A variable that the run updates is also an input,
 * whose value in the file is its default, and its new value is the output "name:next": whoever
 * runs the model feeds it as "name" to the next run. Reads see the updates that they see in a
 * session. The metadata of the model list these pairs.
 *
 * Gradients and updates are written as other nodes are, loops and branches as Loop and If. Prints
 * and assertions are left out; random numbers are drawn by the program that runs the model, and are
 * other ones than Eddy's. docs/inside/onnx.md lists the operations that cannot be written;
 * operations that a program defines can be with `operators`.
 *
 * The file is replaced as a whole, or is as before; a second file is replaced before it. Errors:
 * EDDY_INVALID_ARGUMENT for tensors that
 * are invalid or of several graphs, for inputs that are variables or listed twice, and for operators
 * without a name or a domain, or in ONNX's own domain; EDDY_NOT_FED
 * if the outputs need a placeholder that is not among the inputs; EDDY_UNIMPLEMENTED for a node
 * that cannot be written; EDDY_UNINITIALIZED for a variable that is read and has no value;
 * EDDY_LIMIT for a model above 2 GiB without external_bytes; EDDY_IO; EDDY_NO_MEMORY; the error of
 * the graph, if it has one. */
EDDY_API eddy_status eddy_onnx_write_with(const eddy_onnx_write_args *given);
#define eddy_onnx_write(...) eddy_onnx_write_with(EDDY_ARGS(eddy_onnx_write_args, __VA_ARGS__))

/* Which nodes can be written: entries with Eddy's operations, one for each node that the outputs
 * need; path and session may be NULL. NULL with the error. For eddy_model_report_free. */
EDDY_API eddy_model_report *eddy_onnx_write_check_with(const eddy_onnx_write_args *given);
#define eddy_onnx_write_check(...) \
    eddy_onnx_write_check_with(EDDY_ARGS(eddy_onnx_write_args, __VA_ARGS__))

/* ------------------------------------------------------------ TensorFlow -- */

/* A model of TensorFlow that was read into a graph: the tensors of its inputs, outputs and values
 * by name. It belongs to the caller (eddy_tensorflow_free); the nodes belong to the graph. */
typedef struct eddy_tensorflow_model eddy_tensorflow_model;

typedef struct eddy_tensorflow_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_tensorflow_args));
    eddy_graph  *graph;
    const char  *path;              /* of a frozen graph (.pb), of the folder of a SavedModel or its
                                     * saved_model.pb, or of the model.json of a graph model of
                                     * TensorFlow.js; with `data`, only used in messages and for the
                                     * folder of the other files */
    bool         variables;         /* weights are trainable variables, with the values of the file
                                     * as initial values; else constants */
    const char  *scope;             /* of all new nodes; default: none */
    const char  *signature;         /* of a SavedModel; default: "serving_default", else the first */
    const eddy_model_binding *inputs;/* input_count bindings; default: placeholders */
    int          input_count;
    const char *const *outputs;     /* output_count values, "node" or "node:1"; default: those of
                                     * the signature, else all that no other node uses */
    int          output_count;
    const void  *data;              /* the bytes of the file, instead of reading it; copied */
    size_t       data_size;
    const eddy_files *files;        /* file access; default POSIX */
    int64_t      max_bytes EDDY_DEFAULT(2147483648); /* of each file; default 2 GiB */
    eddy_error  *error;             /* may be NULL */
} eddy_tensorflow_args;

/* Reads a model of TensorFlow and appends the nodes that its outputs need to `graph`.
 *
 *   eddy_tensorflow_model *m = eddy_tensorflow_read(g, "model.pb", .variables = true, .error = &e);
 *   eddy_tensor x = eddy_tensorflow_input(m, "x"), y = eddy_tensorflow_output(m, "y");
 *
 * Inputs are placeholders of their names. The variables of a SavedModel are read from its
 * checkpoint. In a frozen graph or a graph model of TensorFlow.js nothing tells weights from other
 * constants: with `variables`, floating-point constants with at least one dimension are variables.
 * Control dependencies are left out, so that assertions and prints are not built. Element types
 * that Eddy lacks are computed in wider ones, without wrapping: int8, int16 and uint16 are int32,
 * uint32 and uint64 are int64, float16 and bfloat16 are float32. docs/inside/tensorflow.md lists
 * the operators.
 *
 * Returns NULL with an error that says the file, the node and the reason; then the graph is as
 * before. Only if memory runs out in the last step can nodes remain. Errors: EDDY_IO, EDDY_CORRUPT,
 * EDDY_LIMIT (a constant may leave out elements at its end that equal the last one: of all constants
 * together 32 MiB, as Eddy stores them); EDDY_UNIMPLEMENTED for nodes that cannot be built,
 * EDDY_INVALID_ARGUMENT for bindings and outputs that the graph lacks, EDDY_NOT_FOUND for a file, a
 * signature or a variable, EDDY_NO_MEMORY; a graph that has an error returns that error. TensorFlow 1
 * and 2; TensorFlow.js 4. */
EDDY_API eddy_tensorflow_model *eddy_tensorflow_read_with(const eddy_tensorflow_args *given);
#define eddy_tensorflow_read(...) \
    eddy_tensorflow_read_with(EDDY_ARGS(eddy_tensorflow_args, __VA_ARGS__))

/* Frees the model, and not the nodes. NULL is allowed. */
EDDY_API void eddy_tensorflow_free(eddy_tensorflow_model *m);

/* The inputs and outputs, in the order of the signature, else of the file. Their names are the keys
 * of the signature, else those of nodes. An index out of range gives NULL. The names live as long
 * as the model. */
EDDY_API int         eddy_tensorflow_input_count(const eddy_tensorflow_model *m);
EDDY_API const char *eddy_tensorflow_input_name(const eddy_tensorflow_model *m, int i);
EDDY_API int         eddy_tensorflow_output_count(const eddy_tensorflow_model *m);
EDDY_API const char *eddy_tensorflow_output_name(const eddy_tensorflow_model *m, int i);

/* An input, an output, and any value of the main graph that was built: "node" or "node:1". Inputs
 * and outputs are also found by the names of their nodes. An invalid tensor if there is none. */
EDDY_API eddy_tensor eddy_tensorflow_input(const eddy_tensorflow_model *m, const char *name);
EDDY_API eddy_tensor eddy_tensorflow_output(const eddy_tensorflow_model *m, const char *name);
EDDY_API eddy_tensor eddy_tensorflow_value(const eddy_tensorflow_model *m, const char *name);

/* Reads a file as eddy_tensorflow_read does, without `graph` and beyond errors of nodes; bindings
 * may be of any graph. The entries are those of nodes that the outputs depend on. NULL with the
 * error if the file is damaged. For eddy_model_report_free. */
EDDY_API eddy_model_report *eddy_tensorflow_check_with(const eddy_tensorflow_args *given);
#define eddy_tensorflow_check(...) \
    eddy_tensorflow_check_with(EDDY_ARGS(eddy_tensorflow_args, NULL, __VA_ARGS__))

/* ----------------------------------------------------------- checkpoints -- */

typedef struct eddy_foreign_checkpoint_args {
    size_t            size_ EDDY_DEFAULT(sizeof(eddy_foreign_checkpoint_args));
    const char       *path;
    const eddy_files *files;        /* default: POSIX */
    int64_t           max_bytes EDDY_DEFAULT(17179869184); /* of each file; default 16 GiB */
    eddy_error       *error;        /* set on a failure, if not NULL */
} eddy_foreign_checkpoint_args;

/* Opens a file of torch.save (.pt, .pth; the format since PyTorch 1.6) as a checkpoint, for
 * eddy_checkpoint_value and eddy_restore_checkpoint (session/checkpoint.h). The whole file is read
 * into memory.
 *
 *   eddy_checkpoint *c = eddy_torch_checkpoint_open("model.pt", .error = &e);
 *   eddy_checkpoint_map torch = eddy_torch_map();
 *   eddy_restore_checkpoint(s, .checkpoint = c, .map = &torch);
 *
 * Entries are all tensors in the dicts, lists and tuples of the file, with keys joined by dots:
 * "conv1.weight" of a state_dict, "model.conv1.weight" of a dict that contains one; a single tensor
 * is "tensor". Values are views of the file where their elements follow one another in the type of
 * the array, else copies. int8 and int16 are int32. Numbers and texts are left out.
 *
 * The pickle in the file is never executed: it may only contain tensors and dicts, and other names
 * are errors. NULL on an error, with the file and the byte in the message: EDDY_NOT_FOUND; EDDY_IO;
 * EDDY_CORRUPT;
 * EDDY_LIMIT; EDDY_UNIMPLEMENTED for compressed archives, the format before PyTorch 1.6, and
 * instructions and names that are not allowed; EDDY_NO_MEMORY. Values: EDDY_CORRUPT for a wrong
 * checksum (CRC-32), for a tensor beyond its storage, and for a bool that is not 0 or 1; EDDY_LIMIT
 * for an expanded tensor of 64 MiB more than its storage. */
EDDY_API eddy_checkpoint *eddy_torch_checkpoint_open_with(const eddy_foreign_checkpoint_args *given);
#define eddy_torch_checkpoint_open(...) \
    eddy_torch_checkpoint_open_with(EDDY_ARGS(eddy_foreign_checkpoint_args, __VA_ARGS__))

/* Opens weights of Keras as a checkpoint: an HDF5 file that Model.save_weights or Model.save wrote
 * (.h5, .weights.h5), or an archive of Keras 3 (.keras). The whole file is read into memory.
 *
 *   eddy_checkpoint *c = eddy_keras_checkpoint_open("model.weights.h5", .error = &e);
 *
 * Entries are the datasets, with the names of the groups around them: "dense/dense/kernel" of Keras
 * 2, where ":0" at the end is left out, and "layers/dense/vars/0" of Keras 3. int8, int16 and
 * uint16 are int32, uint32 and uint64 int64. Links to other files are not followed; attributes and
 * the description of the model are not read. Files of other programs are read if their datasets are
 * contiguous.
 *
 * NULL on an error, with the file and the byte in the message: EDDY_NOT_FOUND; EDDY_IO;
 * EDDY_CORRUPT; EDDY_LIMIT for groups nested more than 32 deep, 65 536 datasets or 2^20 objects;
 * EDDY_UNIMPLEMENTED for compressed archives and for groups of many links in the newest layout;
 * EDDY_NO_MEMORY. Values: EDDY_UNIMPLEMENTED for datasets in chunks and for other types;
 * EDDY_CORRUPT for a bool that is not 0 or 1; EDDY_OUT_OF_RANGE for a uint64 above 2^63 - 1. */
EDDY_API eddy_checkpoint *eddy_keras_checkpoint_open_with(const eddy_foreign_checkpoint_args *given);
#define eddy_keras_checkpoint_open(...) \
    eddy_keras_checkpoint_open_with(EDDY_ARGS(eddy_foreign_checkpoint_args, __VA_ARGS__))

/* Opens a checkpoint of TensorFlow (tf.train.Saver, tf.train.Checkpoint, or the "variables" of a
 * SavedModel) by its prefix: "model.ckpt-100" for "model.ckpt-100.index" and
 * "model.ckpt-100.data-00000-of-00001". All files are read into memory.
 *
 * Entries have the names in the index; for those of tf.train.Checkpoint, which end in
 * "/.ATTRIBUTES/VARIABLE_VALUE", the full name of the variable ("dense/kernel") is an entry as well
 * where no other entry has it. Values are views where the file aligns them. int8, int16 and uint16
 * are int32, uint32 and uint64 int64; entries of texts have no value.
 *
 * NULL on an error, with the file in the message: EDDY_NOT_FOUND; EDDY_IO; EDDY_CORRUPT, also for
 * wrong checksums;
 * EDDY_LIMIT; EDDY_UNIMPLEMENTED for compressed blocks, big-endian files and sliced variables;
 * EDDY_NO_MEMORY. */
EDDY_API eddy_checkpoint *eddy_tensorflow_checkpoint_open_with(
    const eddy_foreign_checkpoint_args *given);
#define eddy_tensorflow_checkpoint_open(...) \
    eddy_tensorflow_checkpoint_open_with(EDDY_ARGS(eddy_foreign_checkpoint_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
