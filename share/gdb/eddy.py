"""Shows tensors of Eddy in gdb: the name of the node, the output, the type and the operation.

    (gdb) source /usr/local/share/eddy/gdb/eddy.py
    (gdb) print loss
    $1 = 'loss' float32[] = Mean('Square', 'Const')

If the library was compiled with -g, the graph is read from memory, so that core files can be looked at
too. Otherwise (the Makefile's -g1 has lines only) functions of the library are called, which needs a
process that can go on.
"""
import gdb


def by_memory(t):
    graph = t["graph"].cast(gdb.lookup_type("struct eddy_graph").pointer()).dereference()
    number = int(t["node"])
    if number < 1 or number > int(graph["size"]):
        return None
    node = graph["nodes"][number].dereference()
    inputs = []
    for i in range(int(node["n_inputs"])):
        x = node["inputs"][i]
        name = graph["nodes"][int(x["node"])]["name"].string()
        inputs.append("'%s'%s" % (name, ":%d" % int(x["output"]) if int(x["output"]) else ""))
    kind = ""
    if int(node["n_outputs"]) > 0:
        of = node["outputs"][int(t["output"])]
        kind = type_text(str(of["dtype"]).split("_")[-1].lower(), of["shape"])
    return text(node["name"].string(), int(t["output"]), kind, node["op"]["name"].string(), inputs)


def function(name, result, arguments):
    return gdb.parse_and_eval("(%s (*)(%s)) %s" % (result, arguments, name)).dereference()


def by_calls(t):
    def ask(name, result):
        return function(name, result, "eddy_tensor")(t)
    if not int(ask("eddy_is_valid", "unsigned char")):
        return None
    name_of = function("eddy_name_of", "const char *", "eddy_tensor")
    inputs = []
    for i in range(int(ask("eddy_inputs_of", "int"))):
        x = function("eddy_input", "eddy_tensor", "eddy_tensor, int")(t, i)
        output = ":%d" % int(x["output"]) if int(x["output"]) else ""
        inputs.append("'%s'%s" % (name_of(x).string(), output))
    kind = ""
    if int(ask("eddy_outputs_of", "int")) > 0:
        dtype = function("eddy_dtype_name", "const char *", "int")(ask("eddy_dtype_of", "int"))
        kind = type_text(dtype.string(), ask("eddy_shape_of", "eddy_shape"))
    return text(name_of(t).string(), int(t["output"]), kind,
                ask("eddy_type_of", "const char *").string(), inputs)


def type_text(dtype, shape):
    rank = int(shape["rank"])
    if rank < 0:
        return dtype + "[...]"
    dims = [int(shape["dim"][i]) for i in range(rank)]
    return dtype + "[" + ",".join("?" if d < 0 else str(d) for d in dims) + "]"


def text(name, output, kind, op, inputs):
    where = "'%s'%s" % (name, ":%d" % output if output else "")
    return " ".join(w for w in (where, kind, "=", "%s(%s)" % (op, ", ".join(inputs))) if w)


class TensorPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        if not int(self.value["graph"]) or not int(self.value["node"]):
            return "no tensor"
        for read in (by_memory, by_calls):
            try:
                return read(self.value) or "no tensor"
            except (gdb.error, RuntimeError, KeyError):
                continue
        return "node %d, output %d" % (int(self.value["node"]), int(self.value["output"]))


def printer_of(value):
    kind = value.type.strip_typedefs().unqualified()
    if value.type.unqualified().name == "eddy_tensor" or kind.name == "eddy_tensor":
        return TensorPrinter(value)
    return None


gdb.pretty_printers.append(printer_of)
