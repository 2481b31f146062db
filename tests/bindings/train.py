"""Trains a linear regression with bindings made only from the description of the interface:
python3 tests/bindings/train.py interface.json libeddy.so

Structs, functions and enums come from the JSON; nothing here repeats a declaration."""
import ctypes
import json
import sys

PLAIN = {"void": None, "char": ctypes.c_char, "int": ctypes.c_int, "unsigned": ctypes.c_uint,
         "bool": ctypes.c_bool, "double": ctypes.c_double, "float": ctypes.c_float,
         "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64,
         "uint8_t": ctypes.c_uint8, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
         "long": ctypes.c_long, "long long": ctypes.c_longlong, "uintptr_t": ctypes.c_void_p}


class Bindings:
    def __init__(self, description, library):
        self.library = ctypes.CDLL(library)
        self.described = {s["name"]: s for s in description["structs"]}
        self.enums = {e["name"] for e in description["enums"] if e["name"]}
        self.callbacks = {c["name"] for c in description["callbacks"]}
        self.structs = {}
        self.values = {v["name"]: v["value"] for e in description["enums"] for v in e["values"]}
        self.constants = {c["name"]: c["value"] for c in description["constants"]}
        self.macros = {m["name"]: m for m in description["macros"] if m["function"]}
        self.functions = {f["name"]: f for f in description["functions"]}
        for name in self.functions:
            getattr(self.library, name)         # each that is described is there

    def type_of(self, text):
        text = text.replace("const ", "").replace(" const", "").strip()
        if "(*)" in text or text.endswith("*") or text in self.callbacks:
            return ctypes.c_char_p if text == "char *" else ctypes.c_void_p
        if text in self.enums:
            return ctypes.c_int
        return PLAIN[text] if text in PLAIN else self.struct(text)

    def struct(self, name):
        if name not in self.structs:
            described = self.described[name]
            if "alias_of" in described:
                return self.struct(described["alias_of"])
            fields = []
            for member in described["members"]:
                kind = self.type_of(member["type"])
                for size in reversed(member.get("array", [])):
                    kind = kind * size
                fields.append((member["name"], kind))
            self.structs[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        return self.structs[name]

    def options(self, name):
        """The struct of a call with its size and its defaults, of which nothing is given."""
        made = self.struct(name)()
        described = self.described[name]
        while "alias_of" in described:
            described = self.described[described["alias_of"]]
        for member in described["members"]:
            text, omitted = member.get("default"), self.constants["EDDY_OMITTED"]
            if text == "EDDY_OMITTED_DIMS":
                getattr(made, member["name"]).no_number_ = omitted
            elif text == "EDDY_OMITTED_TENSOR":
                getattr(made, member["name"]).graph = omitted
            elif text is not None and not text.startswith("sizeof"):
                known = {"EDDY_OMITTED": omitted, "true": True, "SIZE_MAX": -1}
                value = known[text] if text in known else float(text)
                whole = member["type"] not in ("double", "bool")
                setattr(made, member["name"], int(value) if whole else value)
        made.size_ = ctypes.sizeof(made)
        return made

    def call(self, name, *given, **named):
        """eddy_sum(x, keepdims=True), as in C: through the macro's struct if there is one."""
        if name in self.macros:
            macro = self.macros[name]
            name = macro["function"]
            arguments = self.options(macro["struct"])
            members = [m for m, _ in arguments._fields_][1:]
            for member, value in list(zip(members, given)) + list(named.items()):
                setattr(arguments, member, value)
            given = [arguments]
        described = self.functions[name]
        function = getattr(self.library, name)
        function.restype = self.type_of(described["result"])
        function.argtypes = [self.type_of(p["type"]) for p in described["parameters"]]
        assert len(given) == len(described["parameters"]), name
        passed = [ctypes.cast(ctypes.pointer(value), ctypes.c_void_p)
                  if isinstance(value, (ctypes.Structure, ctypes.Array)) and kind is ctypes.c_void_p
                  else value for value, kind in zip(given, function.argtypes)]
        return function(*passed)

    def tensors(self, *tensors):
        at = (self.struct("eddy_tensor") * len(tensors))(*tensors)
        made = self.struct("eddy_list")(len(tensors), ctypes.cast(at, ctypes.c_void_p))
        made.kept = at
        return made

    def shape(self, *dims):
        made = self.struct("eddy_shape")(rank=len(dims))
        for i, size in enumerate(dims):
            made.dim[i] = size
        return made


def main(description, library):
    with open(description, encoding="utf-8") as file:
        eddy = Bindings(json.load(file), library)
    call, values = eddy.call, eddy.values
    for name in eddy.described:
        if "opaque" not in eddy.described[name]:
            eddy.struct(name)                   # each that is described can be laid out

    def array(numbers, *dims):
        data = (ctypes.c_double * len(numbers))(*numbers)
        return call("eddy_array_copy_of", values["EDDY_FLOAT64"], eddy.shape(*dims), data)

    x_numbers = [[1, 0], [0, 1], [1, 1], [2, -1], [-1, 3], [0.5, 2]]
    targets = [3 * a - 2 * b + 0.5 for a, b in x_numbers]
    graph = call("eddy_graph_new", seed=7)
    x = call("eddy_constant", graph, array(sum(x_numbers, []), 6, 2))
    y = call("eddy_constant", graph, array(targets, 6, 1))
    w = call("eddy_variable", graph, call("eddy_constant", graph, array([0.1, -0.2], 2, 1)))
    b = call("eddy_variable", graph, call("eddy_constant", graph, array([0.0], 1)))
    error = call("eddy_sub", call("eddy_add", call("eddy_matmul", x, w), b), y)
    loss = call("eddy_mean", call("eddy_square", error))
    gradient = eddy.struct("eddy_tensor")()
    call("eddy_gradients", eddy.tensors(loss), eddy.tensors(w), ctypes.cast(
        ctypes.pointer(gradient), ctypes.c_void_p).value)
    rate = call("eddy_number", graph, values["EDDY_FLOAT64"], 0.1)
    step = call("eddy_minimize", call("eddy_gradient_descent", graph, rate), loss)
    start = call("eddy_initializer", graph)
    session = call("eddy_session_new", graph)

    def run(tensor):
        out = (ctypes.c_void_p * 1)()
        status = call("eddy_run", session, eddy.struct("eddy_feeds")(), eddy.tensors(tensor), out)
        assert status == values["EDDY_OK"], call("eddy_session_message", session)
        return out[0]

    def number(tensor):
        return call("eddy_array_item", run(tensor))

    run(start)
    slope, h, losses = number(gradient), 1e-6, []
    for moved in (0.1 + h, 0.1 - h, 0.1):
        call("eddy_variable_set", session, w, array([moved, -0.2], 2, 1))
        losses.append(number(loss))
    difference = (losses[0] - losses[1]) / (2 * h)
    assert abs(slope - difference) < 1e-6 * max(1, abs(slope)), (slope, difference)
    for _ in range(1000):
        run(step)
    last = number(loss)
    assert last < 1e-8 < losses[2], (losses[2], last)
    wrong = call("eddy_matmul", x, x)           # an error reaches Python as a sentence
    assert not call("eddy_is_valid", wrong) and call("eddy_graph_message", graph)
    call("eddy_session_free", session)
    call("eddy_graph_free", graph)
    print(f"bindings: {len(eddy.functions)} functions, {len(eddy.described)} structs; "
          f"loss {losses[2]:.3g} to {last:.1g}, gradient {slope:.6f}, difference {difference:.6f}")


main(*sys.argv[1:])
