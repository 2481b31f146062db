"""fits.py -- the problems of bench/fits.c with SciPy, in turns with it: processor time of a call
and evaluations of the function, on one thread; medians of the ratios.

    python3 bench/scipy/fits.py build/bench/fits [rounds]
"""
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import statistics
import subprocess
import sys
import time

import numpy as np
from scipy import optimize
from scipy.sparse import linalg

VALLEY, GRID = 200, 100


def valley():
    return np.where(np.arange(VALLEY) % 2, 1.0, -1.2)


def check(ok, what):
    if not ok:
        raise SystemExit(f"{what} did not converge")


def lbfgs(upper=None):
    bounds = optimize.Bounds(-np.inf, upper) if upper else None
    r = optimize.minimize(optimize.rosen, valley(), jac=optimize.rosen_der, method="L-BFGS-B",
                          bounds=bounds, options={"gtol": 1e-5, "ftol": 0, "maxiter": 15000,
                                                  "maxfun": 15000, "maxcor": 10})
    check(r.success, "L-BFGS-B")
    return r.nfev


def newton():
    r = optimize.minimize(optimize.rosen, valley(), jac=optimize.rosen_der, method="trust-ncg",
                          hessp=optimize.rosen_hess_prod, options={"gtol": 1e-5, "maxiter": 15000})
    check(r.success, "trust-ncg")
    return r.nfev


X = np.array([-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481,
              -2.363, -2.322, -1.501, -1.460, -1.274, -1.212, -1.100, -1.046, -0.915, -0.714,
              -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010, 0.119, 0.377, 0.790, 0.963,
              1.006, 1.115, 1.572, 1.841, 2.047, 2.200])
Y = np.array([80.574, 84.248, 87.264, 87.195, 89.076, 89.608, 89.868, 90.101, 92.405, 95.854,
              100.696, 101.060, 401.672, 390.724, 567.534, 635.316, 733.054, 759.087, 894.206,
              990.785, 1090.109, 1080.914, 1122.643, 1178.351, 1260.531, 1273.514, 1288.339,
              1327.543, 1353.863, 1414.509, 1425.208, 1421.384, 1442.962, 1464.350, 1468.705,
              1447.894, 1457.628])


def residuals(b):
    above = b[0] + X * (b[1] + X * (b[2] + X * b[3]))
    return above / (1 + X * (b[4] + X * (b[5] + X * b[6]))) - Y


def least_squares():
    calls = [0]

    def counted(b):
        calls[0] += 1
        return residuals(b)

    r = optimize.least_squares(counted, [1300, 1500, 500, 75, 1, 0.4, 0.05], method="lm")
    check(abs(2 * r.cost - 5.6427082397e3) < 1e-4, "least_squares")
    return calls[0]


SIDE = (np.sin(0.1 * (np.arange(GRID * GRID) % 97)) + 1).ravel()


def laplacian(v):
    u = np.pad(v.reshape(GRID, GRID), 1)
    return 4 * v.reshape(GRID, GRID) - (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def diffusion(v):
    return laplacian(v).ravel()


def transport(v):
    x = v.reshape(GRID, GRID)
    u = np.pad(x, ((0, 0), (1, 0)))
    return (laplacian(v) + 0.5 * (x - u[:, :-1]) + 0.1 * x).ravel()


def operator(f):
    return linalg.LinearOperator((GRID * GRID, GRID * GRID), matvec=f, dtype=np.float64)


def conjugate_gradients():
    check(linalg.cg(operator(diffusion), SIDE, tol=1e-10, atol=0)[1] == 0, "cg")
    return 0


def gmres():
    check(linalg.gmres(operator(transport), SIDE, tol=1e-10, atol=0, restart=20)[1] == 0, "gmres")
    return 0


def lanczos():
    linalg.eigsh(operator(diffusion), 6, which="LA", v0=SIDE, ncv=20, tol=1e-10, maxiter=10000)
    return 0


PEERS = {
    "L-BFGS, valley of 200": lbfgs,
    "L-BFGS-B, valley of 200": lambda: lbfgs(0.9),
    "Newton-CG, valley of 200": newton,
    "least squares, Thurber": least_squares,
    "conjugate gradients, 100 x 100": conjugate_gradients,
    "GMRES, 100 x 100": gmres,
    "Lanczos, 6 of 100 x 100": lanczos,
}


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    eddy = subprocess.Popen([sys.argv[1], "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    print(f"{'':32} {'ms':>9} {'SciPy':>9} {'ratio':>6} {'calls':>6} {'SciPy':>6}")
    for name, peer in PEERS.items():
        ours, theirs = [], []
        for i in range(rounds + 1):
            eddy.stdin.write(name + "\n")
            eddy.stdin.flush()
            seconds, calls = eddy.stdout.readline().split()
            before = time.process_time()
            peer_calls = peer()
            after = time.process_time()
            if i > 0:
                ours.append(float(seconds))
                theirs.append(after - before)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        print(f"{name:32} {1e3 * statistics.median(ours):9.2f} "
              f"{1e3 * statistics.median(theirs):9.2f} {ratio:6.2f} {calls:>6} {peer_calls:6}")
    print(f"{rounds} rounds; load {os.getloadavg()[0]:.1f}")


main()
