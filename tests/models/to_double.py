"""Writes an ONNX model whose float32 numbers are float64: to_double.py FROM TO. Operators that have
no kernel of float64 in ONNX Runtime still compute in float32."""
import sys
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
FLOAT_ONLY = {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "AveragePool", "Conv",
              "ConvTranspose", "Cos", "Cosh", "Det", "Elu", "Erf", "Selu", "Sinh", "Softplus",
              "Softsign", "Tan"}


def widen_tensor(tensor):
    if tensor.data_type == FLOAT:
        wide = numpy_helper.to_array(tensor).astype("float64")
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))


def widen_type(value):
    for kind in (value.type.tensor_type, value.type.sequence_type.elem_type.tensor_type):
        if kind.elem_type == FLOAT:
            kind.elem_type = DOUBLE


def between_casts(node):
    """The node with a cast before each input and one after each output."""
    before = [helper.make_node("Cast", [name], [name + "/narrow/" + node.output[0]], to=FLOAT)
              for name in node.input]
    after = [helper.make_node("Cast", [name + "/narrow"], [name], to=DOUBLE) for name in node.output]
    node.input[:] = [cast.output[0] for cast in before]
    node.output[:] = [cast.input[0] for cast in after]
    return before + [node] + after


def widen_graph(graph):
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        widen_type(value)
    nodes = []
    for node in graph.node:
        for attr in node.attribute:
            if attr.HasField("t"):
                widen_tensor(attr.t)
            if attr.HasField("g"):
                widen_graph(attr.g)
            if node.op_type == "Cast" and attr.name == "to" and attr.i == FLOAT:
                attr.i = DOUBLE
        nodes += between_casts(node) if node.op_type in FLOAT_ONLY else [node]
    del graph.node[:]
    graph.node.extend(nodes)


model = onnx.load(sys.argv[1])
widen_graph(model.graph)
onnx.save(model, sys.argv[2])
