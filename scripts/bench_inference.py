"""Runs models in Eddy, PyTorch and ONNX Runtime in turns, and compares them.

    bench_inference.py PROGRAM [--out FOLDER] [--quick] [--cpu] [--threads N]... [--page] [NAME...]

PROGRAM is build/bench/inference, which also writes the models and their weights for the others.
They are started and warmed up one after the other, and then take turns, a fraction of a second
each; the figures are medians over the rounds, and a ratio is Eddy's time divided by another's.

--quick   few, short rounds             --cpu    time of the process, not of the clock
--page    writes the table into docs/inside/performance.md
"""
import json
import os
import shutil
import subprocess
import sys
import time
from statistics import median

import bench

TORCH = "bench/torch/inference.py"
ONNX_RUNTIME = "bench/onnxruntime/inference.js"
VERSION = "1.20.1"
AGREE = 1e-4            # of the largest output


def onnx_runtime_command(out):
    """Installs ONNX Runtime in a folder of its own; None without node or a network."""
    folder = os.path.abspath(os.path.join(out, "onnxruntime"))
    if not shutil.which("node") or not shutil.which("npm"):
        return None
    os.makedirs(folder, exist_ok=True)
    if not os.path.isdir(os.path.join(folder, "node_modules", "onnxruntime-node")):
        words = ["npm", "install", "--silent", "--ignore-scripts", "--prefix", folder,
                 f"onnxruntime-node@{VERSION}"]
        if subprocess.run(words, check=False).returncode != 0:
            return None
    os.environ["NODE_PATH"] = os.path.join(folder, "node_modules")
    return ["node", ONNX_RUNTIME]


def programs_in_turns(options):
    """The commands that exist here."""
    programs = dict(eddy=[options.program], torch=bench.torch_command(TORCH),
                    ort=onnx_runtime_command(options.out))
    for key, what in (("torch", "PyTorch (Debian: python3-torch)"),
                      ("ort", "ONNX Runtime (npm: onnxruntime-node)")):
        if not programs[key]:
            print(what, "is not installed: compared without it")
            del programs[key]
    return programs


def measure(name, threads, options, programs):
    """One row of the table; milliseconds."""
    folder = os.path.join(options.out, "models")
    os.makedirs(folder, exist_ok=True)
    sides = {key: bench.Side(command + ["--folder", folder], name, options, threads,
                             key == "torch") for key, command in programs.items()}
    turns = []
    for _ in range(options.rounds):
        turns.append({})
        for key, side in sides.items():
            turns[-1][key] = side.turn()
            if threads > 1:
                time.sleep(0.03)            # waiting threads go to sleep
    row = dict(model=name, threads=threads)
    for key, side in sides.items():
        row[key] = dict(side.end(), ms=median(t[key] for t in turns))
        if key != "eddy":
            row[key]["ratio"] = median(t["eddy"] / t[key] for t in turns)
    for path in os.listdir(folder):
        os.remove(os.path.join(folder, path))
    return row


# ----------------------------------------------------------------------------- table --

TITLES = ["model", "threads", "eddy ms", "torch ms", "ort ms", "eddy/torch", "eddy/ort",
          "torch differs", "ort differs", "torch code"]


def cells(row):
    def cell(key, member, form):
        return form.format(row[key][member]) if key in row else "-"
    return [row["model"], str(row["threads"]), cell("eddy", "ms", "{:.4g}"),
            cell("torch", "ms", "{:.4g}"), cell("ort", "ms", "{:.4g}"),
            cell("torch", "ratio", "{:.3f}"), cell("ort", "ratio", "{:.3f}"),
            cell("torch", "difference", "{:.0e}"), cell("ort", "difference", "{:.0e}"),
            cell("torch", "variant", "{}")]


def printed(words):
    return " ".join(f"{w:>13}" for w in words[:-1]) + "  " + words[-1]


def write_page(rows):
    lines = ["| " + " | ".join(TITLES) + " |", "|---|" + "---:|" * (len(TITLES) - 2) + "---|"]
    lines += ["| " + " | ".join(cells(r)) + " |" for r in rows]
    versions = "; ".join(f"{name} {rows[0][key]['version']}"
                         for key, name in (("torch", "PyTorch"), ("ort", "ONNX Runtime"))
                         if key in rows[0])
    bench.write_between(bench.PAGE, "<!-- inference: made by make bench-inference -->\n",
                        "<!-- end of inference -->\n",
                        f"\n{bench.machine()}; {versions}; {time.strftime('%Y-%m-%d')}.\n\n" +
                        "\n".join(lines) + "\n\n")


# ------------------------------------------------------------------------------ main --

def main():
    options = bench.parse(__doc__, (), 200)
    known = subprocess.run([options.program], capture_output=True, text=True, check=True)
    known = known.stdout.split()
    unknown = set(options.names) - set(known)
    if unknown:
        sys.exit(f"no such model: {' '.join(sorted(unknown))}")
    programs = programs_in_turns(options)
    rows = []
    print(printed(TITLES))
    for threads in options.threads:
        for name in options.names or known:
            rows.append(measure(name, threads, options, programs))
            print(printed(cells(rows[-1])), flush=True)
    with open(os.path.join(options.out, "inference.json"), "w", encoding="utf-8") as f:
        json.dump(dict(machine=bench.machine(), rows=rows), f, indent=1)
    if options.page:
        write_page(rows)
    wrong = [f"{r['model']}: the output of {key} differs" for r in rows for key in programs
             if not r[key]["difference"] <= AGREE]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
