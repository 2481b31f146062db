"""Updates of variables and of tensors: see bench/ops/bench_ops.h."""
import torch


def whole(change):
    return lambda x, v: change(v, x)


def rows(change):
    return lambda i, x, v: change(v, i.long(), x)


def places(change):
    def f(ij, x, v):
        i, j = ij.long().unbind(1)
        return change(v, i, j, x)
    return f


def put(v, *at):
    v[at[:-1]] = at[-1]
    return v


def add(v, *at):
    return v.index_put_(at[:-1], at[-1], accumulate=True)


def reduced(kind):
    return lambda v, i, x: v.index_reduce_(0, i, x, kind)


def reduced_pairs(kind):
    """index_reduce_ takes one index, so the first two axes are merged."""
    return lambda v, i, j, x: v.reshape(-1, v.shape[-1]).index_reduce_(0, i * v.shape[1] + j, x,
                                                                       kind)


def slices(x, v):
    v[10:-10, ::2] = x
    return v


def every_other(x, v):
    v[::2] = x
    return v


def with_rows(change):
    return lambda x, i, v: change(x, 0, i.long(), v)


def scatter_nd(ij, x):
    i, j = ij.long().unbind(1)
    return torch.zeros(1000, 1000).index_put_((i, j), x, accumulate=True)


ROWS = {
    "assign": whole(torch.Tensor.copy_),
    "assign_add": whole(torch.Tensor.add_),
    "assign_sub": whole(torch.Tensor.sub_),
    "assign_sub of a product": lambda x, v: v.sub_(x, alpha=0.1),
    "scatter_update": rows(lambda v, i, x: v.index_copy_(0, i, x)),
    "scatter_add": rows(lambda v, i, x: v.index_add_(0, i, x)),
    "scatter_sub": rows(lambda v, i, x: v.index_add_(0, i, x, alpha=-1)),
    "scatter_mul": rows(reduced("prod")),
    "scatter_div": lambda i, x, v: reduced("prod")(v, i.long(), 1 / x),
    "scatter_min": rows(reduced("amin")),
    "scatter_max": rows(reduced("amax")),
    "scatter_add of numbers": rows(lambda v, i, x: v.index_add_(0, i, x)),
    "scatter_nd_update": places(put),
    "scatter_nd_add": places(add),
    "scatter_nd_max": places(reduced_pairs("amax")),
    "scatter_nd_add of numbers": places(add),
    "index_assign": slices,
    "index_assign, rows": every_other,
    "tensor_scatter_update": with_rows(torch.index_copy),
    "tensor_scatter_sub": with_rows(lambda x, a, i, v: x.index_add(a, i, v, alpha=-1)),
    "tensor_scatter_sub, gradient": with_rows(lambda x, a, i, v: x.index_add(a, i, v, alpha=-1)),
    "tensor_scatter_max": with_rows(lambda x, a, i, v: x.index_reduce(a, i, v, "amax")),
    "tensor_scatter_min": with_rows(lambda x, a, i, v: x.index_reduce(a, i, v, "amin")),
    "scatter_nd": scatter_nd,
    "put_along_axis": lambda x, i, v: torch.scatter(x, 1, i.long(), v),
}
