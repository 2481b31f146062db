"""Calls the shared library from Python: from_python.py LIBRARY"""
import sys
from ctypes import (CDLL, POINTER, Structure, addressof, byref, c_bool, c_char_p, c_double,
                    c_float, c_int, c_int32, c_int64, c_size_t, c_uint, c_void_p,
                    sizeof)

# The structs of the headers: the same members in the same order.  Those of options begin with
# their size and with the defaults that are not 0; the NULL of a list is the number 0.
SIZE_MAX, OMITTED = c_size_t(-1).value, -1073741824

class Options(Structure):
    defaults = {}

    def __init__(self, **given):
        super().__init__(size_=sizeof(self), **{**self.defaults, **given})

class Tensor(Structure):
    _fields_ = [("graph", c_void_p), ("node", c_int32), ("output", c_int32)]

class Shape(Structure):
    _fields_ = [("rank", c_int), ("dim", c_int64 * 8)]

class Dims(Structure):
    _fields_ = [("no_number_", c_void_p), ("count", c_int), ("at", c_int64 * 8)]

class List(Structure):
    _fields_ = [("count", c_int), ("at", POINTER(Tensor))]

class Feed(Structure):
    _fields_ = [("tensor", Tensor), ("value", c_void_p)]

class Feeds(Structure):
    _fields_ = [("count", c_int), ("at", POINTER(Feed))]

class GraphArgs(Options):
    defaults = {"seed": 87654321}
    _fields_ = [("size_", c_size_t), ("allocator", c_void_p), ("files", c_void_p),
                ("seed", c_int64)]

class SessionArgs(Options):
    defaults = {"kept_bytes": SIZE_MAX}
    _fields_ = [("size_", c_size_t), ("graph", c_void_p), ("without", c_uint),
                ("report", c_void_p), ("report_nodes", c_bool), ("max_bytes", c_size_t),
                ("kept_bytes", c_size_t), ("threads", c_int), ("deterministic", c_bool),
                ("profile", c_bool)]

class ReduceArgs(Options):
    defaults = {"axes": Dims(no_number_=OMITTED)}
    _fields_ = [("size_", c_size_t), ("x", Tensor), ("axes", Dims), ("keepdims", c_bool),
                ("name", c_char_p)]

FLOAT32 = 1                                     # EDDY_FLOAT32: the enum counts from 0
eddy = CDLL(sys.argv[1])
for name, result, arguments in [                # without these, ctypes takes int for a pointer
    ("eddy_graph_new_with", c_void_p, [POINTER(GraphArgs)]),
    ("eddy_graph_free", None, [c_void_p]),
    ("eddy_placeholder", Tensor, [c_void_p, c_char_p, c_int, Shape]),
    ("eddy_square", Tensor, [Tensor]),
    ("eddy_sum_with", Tensor, [POINTER(ReduceArgs)]),
    ("eddy_gradient", Tensor, [Tensor, Tensor]),
    ("eddy_session_new_with", c_void_p, [POINTER(SessionArgs)]),
    ("eddy_session_free", None, [c_void_p]),
    ("eddy_session_message", c_char_p, [c_void_p]),
    ("eddy_array_borrow", c_void_p, [c_int, Shape, c_void_p]),
    ("eddy_array_get", c_double, [c_void_p, c_int64]),
    ("eddy_array_free", None, [c_void_p]),
    ("eddy_run", c_int, [c_void_p, Feeds, List, POINTER(c_void_p)]),
]:
    getattr(eddy, name).restype, getattr(eddy, name).argtypes = result, arguments

def shape(*sizes):
    return Shape(len(sizes), (c_int64 * 8)(*sizes))

g = eddy.eddy_graph_new_with(byref(GraphArgs(seed=7)))
x = eddy.eddy_placeholder(g, b"x", FLOAT32, shape(-1, 2))
rows = Dims(count=1, at=(c_int64 * 8)(1))
y = eddy.eddy_sum_with(byref(ReduceArgs(x=eddy.eddy_square(x), axes=rows)))
dx = eddy.eddy_gradient(y, x)

numbers = (c_float * 4)(1, 2, 3, 4)             # kept by Python as long as the array
value = eddy.eddy_array_borrow(FLOAT32, shape(2, 2), addressof(numbers))
s = eddy.eddy_session_new_with(byref(SessionArgs(graph=g, threads=1)))
out = (c_void_p * 2)()
status = eddy.eddy_run(s, Feeds(1, (Feed * 1)(Feed(x, value))), List(2, (Tensor * 2)(y, dx)), out)
message = eddy.eddy_session_message(s).decode()
got = [eddy.eddy_array_get(out[0], i) for i in range(2)]
got += [eddy.eddy_array_get(out[1], i) for i in range(4)]
for array in (value, out[0], out[1]):
    eddy.eddy_array_free(array)
eddy.eddy_session_free(s)
eddy.eddy_graph_free(g)
if status != 0 or got != [5, 25, 2, 4, 6, 8]:
    sys.exit(f"{status} {message} {got}")
