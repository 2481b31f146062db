"""Measures training steps of two ranks in turns: Eddy with MPI, plain and with overlap, PyTorch's
DistributedDataParallel over gloo, and Eddy in one process of two threads; how much of the time of
messages overlap hides; and all_reduce beside MPI's own.

    bench_ranks.py PROGRAM [--rounds R] [--steps N] [NAME]...

NAME is also overlap or all_reduce.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

import bench

NAMES = ["mlp", "lenet", "transformer", "words"]


def environment(threads):
    return {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads),
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def ranks(words):
    return ["mpirun", "--oversubscribe", "-n", "2", *words]


def output(words, threads=1, **variables):
    done = subprocess.run(words, env={**environment(threads), **variables}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def measured(words, threads=1):
    return float(output(words, threads).split()[-1])


def median_ratio(times, others):
    """Of each round, since the speed of a shared machine changes in between."""
    return statistics.median(a / b for a, b in zip(times, others))


def compare(options, name, torch):
    steps = ["--steps", str(options.steps)]
    commands = [(ranks([options.program, name, "--apart", *steps]), 1),
                (ranks([options.program, name, *steps]), 1),
                (ranks([options.program, name, "--overlap", *steps]), 1),
                ([options.program, name, "--threads", "2", *steps], 2)]
    if torch:
        commands.append(([*torch, name, *steps], 1))
    times = [[] for _ in commands]
    for _ in range(options.rounds):
        for (words, threads), into in zip(commands, times):
            into.append(measured(words, threads))
    apart, plain, overlap, alone, *ddp = [statistics.median(t) for t in times]
    better = times[1 if plain <= overlap else 2]
    of_ddp = f"{ddp[0]:9.2f} {median_ratio(better, times[4]):6.2f}" if ddp else 16 * " "
    print(f"{name:12} {apart:9.2f} {plain:9.2f} {overlap:9.2f} {of_ddp} {alone:9.2f} "
          f"{median_ratio(times[3], better):6.2f}", flush=True)


def waiting(text):
    """The mean of the ranks' shares of time, of the table of eddy_report_ranks."""
    rows = re.findall(r"^ *\d+ +[\d.]+ +[\d.]+% +([\d.]+)% +[\d.]+%$", text, re.MULTILINE)
    if not rows:
        sys.exit(f"no table of ranks in:\n{text}")
    return statistics.mean(map(float, rows))


def part_hidden(apart, plain, overlap):
    """In percent; messages that take a fiftieth of a step are too short to measure."""
    if plain - apart < 0.02 * plain:
        return "-"
    return f"{100 * (plain - overlap) / (plain - apart):.0f}" if overlap < plain else "none"


def hidden(options, name):
    """Messages take what a step takes longer than that of ranks that exchange nothing."""
    steps = ["--steps", str(options.steps), "--report"]
    for carrier, variables in [("memory", {}), ("MPI", {"EDDY_SHARED_MEMORY": "no"})]:
        kinds = [["--apart"], [], ["--overlap"], ["--sharded"]]
        texts = [[] for _ in kinds]
        for _ in range(options.rounds):
            for kind, into in zip(kinds, texts):
                into.append(output(ranks([options.program, name, *kind, *steps]), **variables))
        apart, plain, overlap, sharded = [
            statistics.median(float(t.split()[2]) for t in of_kind) for of_kind in texts]
        waits = [statistics.median(waiting(t) for t in of_kind) for of_kind in texts[1:3]]
        print(f"{name:12} {carrier:>8} {apart:9.2f} {plain:9.2f} {overlap:9.2f} "
              f"{part_hidden(apart, plain, overlap):>8} {waits[0]:8.1f} {waits[1]:8.1f} "
              f"{sharded:9.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_intermixed_args()
    torch = bench.torch_command("bench/torch/ddp.py")
    if not torch:
        print("PyTorch is not installed (Debian: python3-torch): Eddy alone")
    models = [n for n in options.names or NAMES if n not in ["all_reduce", "overlap"]]
    if models:
        print("ms a step, medians: two ranks of one thread, without messages and with them, beside\n"
              "DistributedDataParallel and one process of two threads; the ratio to DDP, the share of the\n"
              "speed of the process")
        print(f"{'':12} {'apart':>9} {'plain':>9} {'overlap':>9} {'DDP':>9} {'ratio':>6} "
              f"{'alone':>9} {'share':>6}")
    for name in models:
        compare(options, name, torch)
    if not options.names or "overlap" in options.names:
        print("ms a step, medians: without messages, plain, with overlap; the share of the time of messages\n"
              "that is hidden, %; the shares of their time that ranks wait, plain and with overlap, %; and\n"
              "with slots divided among the ranks")
        print(f"{'':12} {'by':>8} {'apart':>9} {'plain':>9} {'overlap':>9} {'hidden':>8} {'waits':>8} "
              f"{'waits':>8} {'sharded':>9}")
        for name in ["mlp", "transformer"]:
            hidden(options, name)
    if not options.names or "all_reduce" in options.names:
        print("microseconds of all_reduce between two ranks, float32")
        sys.stdout.flush()
        subprocess.run(ranks([options.program, "all_reduce"]), env=environment(1), check=True)


if __name__ == "__main__":
    main()
