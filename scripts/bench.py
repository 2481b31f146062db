"""Measures training steps of Eddy and of PyTorch in turns, and compares them.

    bench.py PROGRAM [--out FOLDER] [--quick] [--cpu] [--threads N]... [--page] [--check]
             [--store] [NAME...]

PROGRAM is build/bench/workloads.  Both programs are started, warmed up, and then take turns,
a fraction of a second each, so that a busy machine slows both; then the floor of Eddy's step is
measured.  The figures are medians over the rounds.  The first three losses of both must agree.

--quick   few, short rounds                --cpu    time of the process, not of the clock
--page    writes the table into docs/inside/performance.md
--check   fails if a ratio, to PyTorch or to the floor, is more than 15 % above the one in
          bench/ratios.json
--store   writes the ratios there
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import time
from statistics import median

PEER = "bench/torch/workloads.py"
RATIOS = "bench/ratios.json"
PAGE = "docs/inside/performance.md"
WORSE = 1.15
AGREE = 1e-4


class Side:
    """A running program that makes the requested number of steps."""

    def __init__(self, command, name, options, threads, with_torch=False, words=()):
        words = command + [name, "--threads", str(threads), "--slices", *words]
        self.process = subprocess.Popen(words + (["--cpu"] if options.cpu else []), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=surroundings(threads, with_torch))
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{' '.join(words)}: does not begin")
        first = self.steps(1)[0]
        self.each = max(1, int(options.slice_ms / max(first, 1e-3)))

    def steps(self, n):
        """The times of n steps, or, for the word "floor", that of the floor of a step."""
        print(n, file=self.process.stdin, flush=True)
        return [float(t) for t in self.process.stdout.readline().split()]

    def turn(self):
        return median(self.steps(self.each))

    def end(self):
        out, _ = self.process.communicate()
        return json.loads(out)


def surroundings(threads, with_torch):
    """PyTorch is fastest with OpenBLAS using OpenMP, if that is installed, and AVX-512."""
    e = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    if not with_torch:
        return e
    folders = glob.glob("/usr/lib/*/openblas-openmp")
    if folders:
        e["LD_LIBRARY_PATH"] = folders[0]
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        if " avx512dq" in f.read():
            e["ATEN_CPU_CAPABILITY"] = "avx512"
    return e


def torch_command(program):
    """Runs the program with a Python that has PyTorch; None if there is none."""
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3", "python3"]):
        try:
            if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
                return [python, "-W", "ignore", program]
        except OSError:
            pass
    return None


def restart_with_torch():
    """Goes on in a Python that has PyTorch, if there is one."""
    command = torch_command(sys.argv[0])
    if command and command[0] != sys.executable:
        os.execvp(command[0], command + sys.argv[1:])


def agree(a, b):
    return all(abs(x - y) <= AGREE * max(1, abs(y)) for x, y in zip(a[:3], b[:3]))


def measure(name, threads, options, peer):
    """One row of the table; milliseconds."""
    eddy = Side([options.program], name, options, threads)
    torch = Side(peer, name, options, threads, True) if peer else None
    turns = []
    for _ in range(options.rounds):
        turns.append((eddy.turn(), torch.turn() if torch else None, eddy.steps("floor")[0]))
        if threads > 1:
            time.sleep(0.03)           # waiting threads of either side go to sleep
    ours, theirs = eddy.end(), torch.end() if torch else None
    row = dict(workload=name, threads=threads, eddy_ms=median(t[0] for t in turns),
               floor_ms=median(t[2] for t in turns), eddy_mib=ours["peak_mib"], eddy=ours)
    row["over_floor"] = median(t[0] / t[2] for t in turns) if row["floor_ms"] > 1e-3 else None
    if torch:
        row.update(torch_ms=median(t[1] for t in turns), torch_mib=theirs["peak_mib"], torch=theirs,
                   ratio=median(t[0] / t[1] for t in turns),
                   same=agree(ours["losses"], theirs["losses"]))
    return row


# ----------------------------------------------------------------------------- table --

COLUMNS = [("workload", "workload", "{}"), ("threads", "threads", "{}"),
           ("eddy ms", "eddy_ms", "{:.4g}"), ("torch ms", "torch_ms", "{:.4g}"),
           ("ratio", "ratio", "{:.3f}"), ("at most", "target", "{:g}"),
           ("floor ms", "floor_ms", "{:.3g}"), ("eddy/floor", "over_floor", "{:.2f}"),
           ("at most", "most_over_floor", "{:g}"),
           ("eddy MiB", "eddy_mib", "{:.0f}"), ("torch MiB", "torch_mib", "{:.0f}"),
           ("allocations", "allocations", "{}")]


def cells(row):
    values = dict(row, allocations=row["eddy"]["allocations"])
    return [form.format(values[key]) if values.get(key) is not None else "-"
            for _, key, form in COLUMNS]


def printed(row):
    remark = "" if row.get("same", True) else "  LOSSES DIFFER"
    return " ".join(f"{c:>{18 if i == 0 else 10}}" for i, c in enumerate(cells(row))) + remark


def page_table(rows):
    lines = ["| " + " | ".join(title for title, _, _ in COLUMNS) + " |",
             "|---|" + "---:|" * (len(COLUMNS) - 1)]
    return "\n".join(lines + ["| " + " | ".join(cells(r)) + " |" for r in rows]) + "\n"


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} processors"


def write_between(page, begin, end, text):
    """Puts the text between two marks of the page."""
    with open(page, encoding="utf-8") as f:
        before, rest = f.read().split(begin)
    with open(page, "w", encoding="utf-8") as f:
        f.write(before + begin + text + end + rest.split(end)[1])


def write_page(rows):
    version = next((r["torch"]["version"] for r in rows if "torch" in r), "none")
    write_between(PAGE, "<!-- table: made by make bench -->\n", "<!-- end of table -->\n",
                  f"\n{machine()}; PyTorch {version}; {time.strftime('%Y-%m-%d')}.\n\n" +
                  page_table(rows) + "\n")


# ---------------------------------------------------------------------------- ratios --

def stored():
    try:
        with open(RATIOS, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def ratios(row):
    """Of a row: the key in the file, the ratio and what it is called."""
    return [(str(row["threads"]), row.get("ratio"), "ratio"),
            (f"floor {row['threads']}", row.get("over_floor"), "eddy/floor")]


def worse(rows, kept):
    """A message for each ratio that has risen."""
    out = []
    for r in rows:
        for key, now, title in ratios(r):
            before = kept.get(r["workload"], {}).get(key)
            if before and now and now > WORSE * before:
                out.append(f"{r['workload']}, {r['threads']} threads: {title} {now:.3f}, "
                           f"was {before:.3f}")
    return out


def store(rows, kept):
    for r in rows:
        for key, now, _ in ratios(r):
            if now:
                kept.setdefault(r["workload"], {})[key] = round(now, 4)
    with open(RATIOS, "w", encoding="utf-8") as f:
        lines = [f'  "{name}": {json.dumps(entry)}' for name, entry in kept.items()]
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


# ------------------------------------------------------------------------------ main --

def parse(doc, flags, slice_ms):
    """The options of a benchmark that runs programs in turns."""
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("program")
    p.add_argument("names", nargs="*")
    p.add_argument("--out", default="build/bench")
    p.add_argument("--threads", type=int, action="append")
    for flag in ("--quick", "--cpu", "--page", *flags):
        p.add_argument(flag, action="store_true")
    o = p.parse_intermixed_args()
    o.rounds, o.slice_ms = (3, 100) if o.quick else (9, slice_ms)
    o.threads = o.threads or [1, 2]
    return o


def main():
    options = parse(__doc__, ("--check", "--store"), 250)
    there = subprocess.run([options.program], capture_output=True, text=True, check=True)
    unknown = set(options.names) - set(there.stdout.split())
    if unknown:
        sys.exit(f"no such workload: {' '.join(sorted(unknown))}")
    peer, kept, rows = torch_command(PEER), stored(), []
    if not peer:
        print("PyTorch is not installed (Debian: python3-torch): Eddy alone")
    print(" ".join(f"{c[0]:>{18 if i == 0 else 10}}" for i, c in enumerate(COLUMNS)))
    for threads in options.threads:
        for name in options.names or there.stdout.split():
            row = measure(name, threads, options, peer)
            row["target"] = kept.get(name, {}).get("target")
            if threads == 1:
                row["most_over_floor"] = kept.get(name, {}).get("floor at most")
            rows.append(row)
            print(printed(row), flush=True)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w", encoding="utf-8") as f:
        json.dump(dict(machine=machine(), rows=rows), f, indent=1)
    if options.page and peer:
        write_page(rows)
    if options.store and peer:
        store(rows, kept)
    complaints = worse(rows, kept) if options.check else []
    complaints += [f"{r['workload']}: losses differ" for r in rows if not r.get("same", True)]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
