/* write.h -- models and tensors as files. */
#ifndef COMMAND_WRITE_H
#define COMMAND_WRITE_H

#include "command/model.h"

/* The kind of file that the ending of a path names; KIND_UNKNOWN after a message if none is
 * written. */
file_kind kind_to_write(const char *path);
/* Outputs under their own names: one whose node has another name gets a node of that name. */
void outputs_name(const model *m, named *outputs, int count);
/* The same for the inputs of a TensorFlow model: their nodes get the names of the signature. */
void inputs_name(const model *m);
/* The ONNX model of these outputs, with the values of the checkpoint `weights` or NULL. */
int  write_onnx(const model *m, const named *outputs, int count, const char *path,
                const char *weights);
/* The graph of the model, whole, with its inputs and outputs listed in it. */
int  write_yaml(const model *m, const named *outputs, int count, const char *path);
/* Arrays with names, as safetensors, .npz or .npy. */
int  write_npz(const eddy_checkpoint *c, const char *path);
int  write_tensors(const eddy_checkpoint *c, const char *path, file_kind kind);

#endif
