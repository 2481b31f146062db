/* parse.h -- what the files that parse TensorFlow's messages share. */
#ifndef EDDY_FORMATS_TENSORFLOW_PARSE_H
#define EDDY_FORMATS_TENSORFLOW_PARSE_H

#include "../parser.h"
#include "model.h"

bool        eddy__tf_is_text(wire_bytes b, const char *s);
/* TensorShapeProto; *rank is that of the file, -1 if it is unknown. */
eddy_shape  eddy__tf_shape(parser *p, wire w, int *rank);
void        eddy__tf_tensor(parser *p, wire w, tf_tensor *t);
void        eddy__tf_attr(parser *p, wire w, tf_attr *a);
void        eddy__tf_graph_def(parser *p, wire w, tf_file *file);

#endif
