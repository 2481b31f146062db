"""Products of tensors and linear algebra: see bench/ops/bench_ops.h."""
import torch

L = torch.linalg


def shifted(x, n):
    return x + n * torch.eye(x.shape[-1])


def positive(x, n):
    return shifted(x @ x.mT, n)


ROWS = {
    "einsum bihd,bjhd->bhij": lambda a, b: torch.einsum("bihd,bjhd->bhij", a, b),
    "einsum bi,ijk,bj->bk, gradient": lambda a, b, c: torch.einsum("bi,ijk,bj->bk", a, b, c),
    "tensordot 2": lambda a, b: torch.tensordot(a, b, 2),
    "kron": torch.kron,
    "cross": lambda a, b: L.cross(a, b),
    "norm of rows": lambda x: L.vector_norm(x, dim=-1),
    "cholesky 1000 x 16": lambda x: L.cholesky(positive(x, 16)),
    "cholesky 512": lambda x: L.cholesky(positive(x, 512)),
    "cholesky 1000 x 16, gradient": lambda x: L.cholesky(positive(x, 16)),
    "triangular_solve 512": lambda a, b: L.solve_triangular(shifted(a, 512), b, upper=False),
    "solve 1000 x 16": lambda a, b: L.solve(shifted(a, 16), b),
    "solve 512": lambda a, b: L.solve(shifted(a, 512), b),
    "inverse 1000 x 16": lambda x: L.inv(shifted(x, 16)),
    "inverse 512": lambda x: L.inv(shifted(x, 512)),
    "slogdet 200 x 32": lambda x: L.slogdet(shifted(x, 32))[1],
    "qr 256 x 128": lambda x: L.qr(x)[1].abs(),
    "svd 128": lambda x: L.svd(x)[1],
    "svd values 200 x 16": L.svdvals,
    "pinv 128 x 64": L.pinv,
    "eigh 128": lambda x: L.eigh(positive(x, 1))[1].abs(),
    "matrix_exp 50 x 32": L.matrix_exp,
    "lu 128": lambda x: L.lu_factor(shifted(x, 128))[0],
    "lu 64 x 16": lambda x: L.lu_factor(shifted(x, 16))[0],
    "det 64 x 16": lambda x: L.det(shifted(x, 1)),
    "lstsq 256 x 64": lambda a, b: L.lstsq(a, b)[0],
    "lstsq 256 x 64, any rank": lambda a, b: L.lstsq(a, b, driver="gelsd")[0],
    "eigvals 64": lambda x: L.eigvals(x).abs().sum(),
    "eigvalsh 128": lambda x: L.eigvalsh(positive(x, 1)),
    "eigh 64 x 16": lambda x: L.eigh(positive(x, 1))[1].abs(),
    "qr 64 x 16": lambda x: L.qr(x)[1].abs(),
    "matrix_rank 64 x 16": lambda x: L.matrix_rank(x).float(),
    "cholesky_solve 128": lambda a, b: torch.cholesky_solve(b, L.cholesky(positive(a, 128))),
    "cholesky 128": lambda x: L.cholesky(positive(x, 128)),
    "solve 128": lambda a, b: L.solve(shifted(a, 128), b),
    "solve 128, gradient": lambda a, b: L.solve(shifted(a, 128), b),
    "inverse 128": lambda x: L.inv(shifted(x, 128)),
    "svd values 64 x 16, gradient": L.svdvals,
    "qr 64 x 16, gradient": lambda x: L.qr(x)[1].abs(),
    "inverse 64 x 16, gradient": lambda x: L.inv(shifted(x, 16)),
}
