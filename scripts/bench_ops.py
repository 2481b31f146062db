"""Single operations, in turns with PyTorch: see bench/ops/bench_ops.h.

    python3 scripts/bench_ops.py PROGRAM [--threads N] [--cpu] [--quick] [--family NAME]
                                 [part of a name]...

The ratio is the median over the rounds of Eddy's time divided by PyTorch's; --cpu measures
processor time, which depends less on the load of the machine.
"""
import argparse
import glob
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import time

import bench

SUM_AGREES = 2e-3


def numbers(np, shape, seed, low, high, dtype="float32"):
    """As bench_uniform: SplitMix64 of a counter, in float32 at first."""
    mask, parts = (1 << 64) - 1, 2 if dtype.startswith("complex") else 1
    z = np.arange(1, parts * math.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(seed * 0xD1342543DE82EF95 & mask)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    unit = ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype(np.float64) / 2.0 ** 24
    v = (low + (high - low) * unit).astype(np.float32)
    if parts == 2:
        return v.astype(np.float64).view(np.complex128).reshape(shape)
    return v.astype(dtype).reshape(shape)


def torch_rows():
    rows = {}
    for path in sorted(glob.glob(os.path.join("bench", "torch", "ops_*.py"))):
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        rows.update(module.ROWS)
    return rows


class Torch:
    """A row's inputs, variables and function; `convert` says which variables need a gradient."""

    def __init__(self, row, function):
        import numpy as np
        import torch
        self.torch, self.function, self.row = torch, function, row

        def drawn(of, dtype):
            return [torch.from_numpy(numbers(np, i["shape"], i["seed"], i["low"], i["high"], dtype))
                    .requires_grad_(row["gradient"]) for i in row[of]]

        self.inputs, variables = drawn("inputs", row["dtype"]), drawn("variables", "float32")
        with torch.no_grad():
            if hasattr(function, "convert"):
                variables = [v.detach().contiguous().requires_grad_(row["gradient"] and wanted)
                             for v, wanted in function.convert(*variables)]
        self.all = self.inputs + variables
        self.first = self.sum_of(self.call()) if row["updates"] else None

    def call(self):
        if not self.row["gradient"]:
            with self.torch.no_grad():
                return [self.function(*self.all)]
        y = self.function(*self.all).sum()
        return self.torch.autograd.grad(y, [x for x in self.all if x.requires_grad],
                                        allow_unused=True)

    def sum_of(self, out):
        dtype, total = getattr(self.torch, self.row["dtype"]), 0.0
        for o in out:
            if o is not None and o.dtype == dtype:
                o = self.torch.view_as_real(o) if o.is_complex() else o
                total += float(o.double().sum())
        return total

    def measure(self, seconds, clock):
        begun, from_, calls = time.perf_counter(), clock(), 0
        while calls < 1 or time.perf_counter() - begun < seconds:
            out = self.call()
            calls += 1
        spent = (clock() - from_) / calls
        return spent, self.sum_of(out) if self.first is None else self.first


class Eddy:
    def __init__(self, program, threads):
        self.process = subprocess.Popen([program, "--threads", str(threads)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rows = []
        for line in iter(self.process.stdout.readline, "\n"):
            self.rows.append(json.loads(line))

    def measure(self, name, seconds, cpu):
        self.process.stdin.write(f"{name}\t{seconds}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        return float(answer[0 if cpu else 1]), float(answer[3])


def compare(eddy, row, function, options):
    clock = time.process_time if options.cpu else time.perf_counter
    slice_, rounds = (0.05, 5) if options.quick else (0.1, 9)
    other = Torch(row, function) if function else None
    eddy.measure(row["name"], 0, options.cpu)
    ours, theirs, ratios = [], [], []
    for _ in range(rounds):
        e, total = eddy.measure(row["name"], slice_, options.cpu)
        ours.append(e)
        if other:
            t, expected = other.measure(slice_, clock)
            theirs.append(t)
            ratios.append(e / t)
    if not other:
        return statistics.median(ours), None, None, True
    agrees = row["random"] or abs(total - expected) <= SUM_AGREES * max(1, abs(expected))
    return statistics.median(ours), statistics.median(theirs), statistics.median(ratios), agrees


def functions_of(threads):
    """PyTorch's functions of the rows; none if it is not installed."""
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        import torch
        torch.set_num_threads(threads)
        return torch_rows()
    except ImportError:
        print("bench: python3-torch is not installed: no comparison", file=sys.stderr)
        return {}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--cpu", action="store_true")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--most", type=float, default=math.inf, help="fail above this ratio")
    p.add_argument("--family", action="append", help="bench/ops/rows_FAMILY.c alone")
    p.add_argument("names", nargs="*")
    options = p.parse_intermixed_args()
    bench.restart_with_torch()
    functions, failed = functions_of(options.threads), False
    eddy = Eddy(options.program, options.threads)
    print(f"| operation | eddy ms | torch ms | ratio |\n|---|---:|---:|---:|")
    for row in eddy.rows:
        name = row["name"]
        if options.family and row["family"] not in options.family:
            continue
        if options.names and not any(n in name for n in options.names):
            continue
        e, t, ratio, agrees = compare(eddy, row, functions.get(name), options)
        if t is None:
            print(f"| {name} | {1e3 * e:.4g} | - | - |", flush=True)
            continue
        bad = not agrees or ratio > options.most
        failed = failed or bad
        print(f"| {name} | {1e3 * e:.4g} | {1e3 * t:.4g} | {ratio:.2f} |"
              + ("" if agrees else " the sums differ"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
