"""Measures training steps of two ranks in turns: Eddy with MPI, plain and with overlap, PyTorch's
DistributedDataParallel over gloo, and Eddy in one process of two threads; and all_reduce beside
MPI's own.

    bench_ranks.py PROGRAM [--rounds R] [--steps N] [NAME]...
"""
import argparse
import os
import statistics
import subprocess
import sys

NAMES = ["mlp", "lenet", "transformer", "words"]


def python_with_torch():
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3", "python3"]):
        try:
            if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    return None


def environment(threads):
    return {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def ranks(words):
    return ["mpirun", "--oversubscribe", "-n", "2", *words]


def measured(words, threads=1):
    done = subprocess.run(words, env=environment(threads), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return float(done.stdout.split()[-1])


def compare(options, name, torch):
    steps = ["--steps", str(options.steps)]
    commands = [(ranks([options.program, name, *steps]), 1),
                (ranks([options.program, name, "--overlap", *steps]), 1),
                ([options.program, name, "--threads", "2", *steps], 2)]
    if torch:
        commands.append(([torch, "bench/torch/ddp.py", name, *steps], 1))
    times = [[] for _ in commands]
    for _ in range(options.rounds):
        for (words, threads), into in zip(commands, times):
            into.append(measured(words, threads))
    plain, overlap, alone, *ddp = [statistics.median(t) for t in times]
    of_ddp = f"{ddp[0]:9.2f} {min(plain, overlap) / ddp[0]:6.2f}" if ddp else 16 * " "
    print(f"{name:12} {plain:9.2f} {overlap:9.2f} {of_ddp} {alone:9.2f} "
          f"{alone / min(plain, overlap):6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_intermixed_args()
    torch = python_with_torch()
    if not torch:
        print("PyTorch is not installed (Debian: python3-torch): Eddy alone")
    models = [n for n in options.names or NAMES if n != "all_reduce"]
    if models:
        print("ms a step, medians: two ranks of one thread, beside DistributedDataParallel, and\n"
              "one process of two threads; the ratio to DDP, the share of the speed of the process")
        print(f"{'':12} {'plain':>9} {'overlap':>9} {'DDP':>9} {'ratio':>6} "
              f"{'alone':>9} {'share':>6}")
    for name in models:
        compare(options, name, torch)
    if not options.names or "all_reduce" in options.names:
        print("microseconds of all_reduce between two ranks, float32")
        sys.stdout.flush()
        subprocess.run(ranks([options.program, "all_reduce"]), env=environment(1), check=True)


if __name__ == "__main__":
    main()
