/* parse.h -- what the files that parse ONNX messages share. */
#ifndef EDDY_FORMATS_ONNX_PARSE_H
#define EDDY_FORMATS_ONNX_PARSE_H

#include "../parser.h"
#include "model.h"

/* All byte strings of a repeated field. */
wire_bytes *eddy__onnx_byte_strings(parser *p, wire w, uint32_t number, size_t *count);

void eddy__onnx_tensor(parser *p, wire w, onnx_tensor *t);
void eddy__onnx_sparse(parser *p, wire w, onnx_sparse *t);
void eddy__onnx_info(parser *p, wire w, onnx_info *info);

#endif
