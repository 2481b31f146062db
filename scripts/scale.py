"""Predicts training steps of 2 to 1024 ranks: SimGrid's SMPI runs the program of ranks on described
platforms, with kernels replaced by their measured times.

    scale.py FOLDER [--most N] [--check] [--overlap] [NAME]...

FOLDER has the programs ranks and simulated_ranks, and gets their files. More than --most ranks (256; 1024 need
12 GB of memory) are not simulated: the formula alone predicts their steps. --check compares 2 and 4 ranks with this
machine. --overlap tells how much of the time of collectives a thread for messages hides. Efficiency is
the time of the kernels that one rank needs for all examples, divided by the time of the step and by
the number of ranks.
"""
import argparse
import math
import os
import resource
import statistics
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

WEAK = {"mlp": 128, "lenet": 64, "transformer": 8}      # examples of each rank
STRONG = {"mlp": 4096, "lenet": 2048}       # of all ranks
PARAMETERS = {"mlp": 669706, "lenet": 857738}
GIGABITS = [10, 100]
RANKS = [2 << i for i in range(10)]
SPEED = "1Gf"                               # of a processor
LATENCY = 10e-6                             # seconds, from port to port
SENDING = 1e-6                              # of the processor, for each message
HEADER = 248                                # bytes
OVERLAP = [2, 4, 8, 16, 64]
BUCKETS = [64, 256, 1024, 4096]             # KiB, of gradients that travel while a rank computes
ROUNDS = 5                                  # of --check
PART = 1 << 19                              # bytes of a rank's share that are sent at once
DIRECT, RADIX = 32, 8                       # of levels (distributed/levels.c)

CLUSTER = """  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="{speed}"
           bw="{bytes}Bps" lat="{latency}s" core="{cores}"/>"""
MACHINE = """  <zone id="w" routing="Full">
    <host id="n0" speed="{speed}" core="{cores}"/>
    <link id="memory" bandwidth="1TBps" latency="{latency}s" sharing_policy="FATPIPE"/>
    <route src="n0" dst="n0"><link_ctn id="memory"/></route>
  </zone>"""
OPTIONS = {"contexts/factory": "raw", "contexts/stack-size": "1024", "network/crosstraffic": "0",
           "smpi/simulate-computation": "no", "smpi/privatization": "no", "smpi/test": "0",
           "smpi/send-is-detached-thresh": "0", "smpi/bw-factor": "0:1.0", "smpi/lat-factor": "0:1.0",
           "smpi/host-speed": SPEED, "smpi/cpu-threshold": "0"}


class Failed(SystemExit):
    """A run that fails. A simulation that SimGrid ends early prints nothing, and returns 0."""


def run(words, **variables):
    done = subprocess.run(words, capture_output=True, text=True,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **variables})
    if done.returncode != 0 or not done.stdout:
        raise Failed(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
    return [float(word) for word in done.stdout.split()]


class Programs:
    def __init__(self, folder):
        self.folder = folder
        self.kernels = {}                    # by name and examples of a rank: file and seconds

    def real(self, n, *words):
        start = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(n)]
        return run([*start, f"{self.folder}/ranks", *words])

    def simulated(self, platform, hosts, words, **variables):
        base = f"{self.folder}/scale-{threading.get_ident()}"
        with open(base + ".xml", "w") as out:
            out.write("<?xml version='1.0'?>\n"
                      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                      f"<platform version=\"4.1\">\n{platform}\n</platform>\n")
        hosts = list(hosts) * (2 if "EDDY_THREADS" in variables else 1)
        with open(base + ".hosts", "w") as out:
            out.writelines(f"n{i}\n" for i in hosts)
        options = [f"--cfg={key}:{value}" for key, value in OPTIONS.items()]
        return run(["smpirun", "-np", str(len(hosts)), "-platform", base + ".xml", "-hostfile", base + ".hosts",
                    *options, "--log=root.thres:error", f"{self.folder}/simulated_ranks", *words],
                   **variables)

    def cluster(self, n, gigabits, words, cores=1, **variables):
        platform = CLUSTER.format(last=n - 1, bytes=gigabits * 125e6, latency=LATENCY / 2, cores=cores, speed=SPEED)
        return self.simulated(platform, range(n), words, **variables)

    def measure(self, name, examples, at_once=1, more=(), **variables):
        """The file of the least times of kernels on so many examples, and their sum; with several measured at
        once, of the mean times, in the process in the middle."""
        key = name, examples, at_once, *more
        if key in self.kernels:
            return self.kernels[key]
        words = [name, *more, "--batch", str(2 * examples), "--warm-up", "2",
                 "--steps", "30" if examples < 1000 else "5"]
        paths = [f"{self.folder}/{''.join([name, *more])}-{examples}-{i}.times" for i in range(at_once)]
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda path: self.cluster(2, 10, words, EDDY_MEASURE=path,
                                                    EDDY_MEAN=str(int(at_once > 1)), **variables),
                          paths))
        sums = []
        for path in paths:
            with open(path) as lines:
                sums.append((sum(float(line.split()[-1]) for line in list(lines)[1:]), path))
        total, path = sorted(sums)[len(sums) // 2]
        self.kernels[key] = path, total
        return self.kernels[key]

    def predict(self, n, gigabits, name, examples, more=(), cores=1, **variables):
        path, _ = self.measure(name, examples, more=more, **variables)
        return self.cluster(n, gigabits, [name, *more, "--batch", str(n * examples), "--steps", "1",
                                          "--warm-up", "0"], cores,
                            EDDY_REPLAY=path, EDDY_MESSAGE_SECONDS=str(SENDING), **variables)[0] / 1e3


def processor_seconds(programs, n, words):
    """Of all ranks together, for a step: a long run without a short one; and the least step's time."""
    def used(steps):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        times = programs.real(n, *words, "--steps", str(steps))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, times[0]

    short, long = used(10), used(110)
    return (long[0] - short[0]) / 100, long[1] / 1e3


def check_once(programs, name, n):
    """Milliseconds of kernels, of the simulated step and of the real one, and of its least time. Messages
    are two copies, of which the sender's is simulated as the transport's. Processors are busy all the time:
    so a step takes as long as all ranks need of them, divided by their number."""
    latency, byte = programs.real(2, "messages")
    cores = len(os.sched_getaffinity(0))
    machine = MACHINE.format(cores=cores, latency=latency, speed=SPEED)
    words = [name, "--batch", str(n * WEAK[name])]
    programs.kernels.clear()
    path, kernels = programs.measure(name, WEAK[name], at_once=n)
    foreseen = programs.simulated(machine, [0] * n, [*words, "--steps", "1", "--warm-up", "0"],
                                  EDDY_REPLAY=path, EDDY_MESSAGE_SECONDS=str(latency),
                                  EDDY_RECEIVED_SECONDS=str(byte))[0]
    used, least = processor_seconds(programs, n, words)
    return kernels * 1e3, foreseen, used * 1e3 / min(n, cores), least * 1e3


def check(programs, name):
    """The simulated step on this machine beside the real one: medians of rounds, in each of which the
    kernels are measured before the step, since the speed of a shared machine changes in minutes."""
    for n in [2, 4]:
        rounds = [check_once(programs, name, n) for _ in range(ROUNDS)]
        ratios = [foreseen / used for _, foreseen, used, _ in rounds]
        kernels, foreseen, used, _ = (statistics.median(column) for column in zip(*rounds))
        least = min(least for _, _, _, least in rounds)
        print(f"| {name} | {n} | {kernels:.2f} | {foreseen:.2f} | {used:.2f} | {statistics.median(ratios):.2f} | "
              f"{min(ratios):.2f} to {max(ratios):.2f} | {least:.2f} |", flush=True)


def radices(ranks, direct=DIRECT):
    """Of the levels in which ranks exchange messages."""
    radix = 1
    if ranks <= direct:
        return [ranks]
    while 2 * radix <= RADIX and ranks % (2 * radix) == 0:
        radix *= 2
    return [radix, *radices(ranks // radix, 2 * RADIX)] if radix > 1 else [ranks]


def formula(n, gigabits, kernels, bytes, copying, combining):
    """The step by latency and bandwidth alone: at each level an exchange of headers; for each part of an
    all_reduce, one that adds and one that spreads. The spreading of a part at the first level goes on while the
    next part is exchanged there. What is sent is copied once."""
    levels = radices(n)
    parts = -(-bytes // (levels[0] * PART))
    byte = 8e-9 / gigabits
    each = [LATENCY + (radix - 1) * SENDING for radix in levels]
    headers = sum(radix - 1 for radix in levels)
    sums = sum(1 / math.prod(levels[:i]) for i in range(len(levels)))
    sent = 2 * (n - 1) / n * bytes
    return (kernels + sum(each) + parts * (sum(each) + sum(each[1:])) + each[0] + headers * HEADER * byte +
            sent * byte + sent * copying + bytes * combining * sums)


def scale(programs, name, most, out):
    """The number of runs that failed."""
    bytes, failures = 4 * PARAMETERS[name], 0
    for strong in [False, True]:
        for gigabits in GIGABITS:
            for n in RANKS:
                examples = STRONG[name] // n if strong else WEAK[name]
                whole = programs.measure(name, STRONG[name] if strong else WEAK[name])[1]
                path, kernels = programs.measure(name, examples)
                with open(path) as lines:
                    words = next(lines).split()
                plain = formula(n, gigabits, kernels, bytes, float(words[1]), float(words[3]))
                efficient = whole / (n if strong else 1)
                kind = "strong" if strong else "weak"
                foreseen = " | "
                try:
                    if n <= most:
                        step = programs.predict(n, gigabits, name, examples)
                        foreseen = f"{step * 1e3:.2f} | {efficient / step:.2f}"
                        out.write(f"{kind}\t{name}, {gigabits} Gbit/s\t{n}\t{efficient / step:.4f}\n")
                except Failed as failed:
                    failures += 1
                    print(failed, file=sys.stderr)
                print(f"| {name} | {kind} | {gigabits} | {n} | {examples} | {kernels * 1e3:.2f} | {foreseen} | "
                      f"{plain * 1e3:.2f} | {efficient / plain:.2f} |", flush=True)
    return failures


def overlap(programs, name):
    """A step without overlap takes longer than its kernels, and one with overlap less so: the share of this
    time that is hidden. A thread for messages shares the processor of its rank, or has one for itself."""
    examples = WEAK[name]
    kernels = programs.measure(name, examples)[1]
    for gigabits in GIGABITS:
        for n in OVERLAP:
            plain = programs.predict(n, gigabits, name, examples)
            print(f"| {name} | {gigabits} | {n} | {kernels * 1e3:.2f} | {(plain - kernels) * 1e3:.2f}", end="")
            for cores in [1, 2]:
                for bucket in BUCKETS:
                    more = "--overlap", "--bucket", str(bucket << 10)
                    computing = programs.measure(name, examples, more=more, EDDY_THREADS="1")[1]
                    step = programs.predict(n, gigabits, name, examples, more, cores, EDDY_THREADS="1")
                    hidden = 1 - (step - computing) / (plain - kernels)
                    print(f" | {100 * hidden:.0f}", end="", flush=True)
            print(" |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=256)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--overlap", action="store_true")
    options = parser.parse_intermixed_args()
    programs = Programs(options.folder)
    names = options.names or list(WEAK if options.overlap else STRONG)
    unknown = set(names) - set(WEAK if options.overlap or options.check else STRONG)
    if unknown:
        sys.exit(f"not one of the models: {' '.join(sorted(unknown))}")
    if options.check:
        print("| model | ranks | kernels, ms | predicted, ms | processor time, ms | predicted / that | range "
              "| least time, ms |\n|" + 8 * " --- |")
        for name in names:
            check(programs, name)
        return
    if options.overlap:
        shares = "".join(f" | {cores}: {bucket} KiB, %" for cores in [1, 2] for bucket in BUCKETS)
        print(f"| model | Gbit/s | ranks | kernels, ms | messages, ms{shares} |\n|" + 13 * " --- |")
        for name in names:
            overlap(programs, name)
        return
    print("| model | scaling | Gbit/s | ranks | examples of a rank | kernels, ms | step, ms | efficiency "
          "| by formula, ms | efficiency |\n|" + 10 * " --- |")
    with open(f"{options.folder}/scale.tsv", "w") as out:
        failures = sum(scale(programs, name, options.most, out) for name in names)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
