"""Measures what is not a training step, in turns with its peer, and compares it with its mark.

    bench_marks.py FOLDER [--quick] [--page] [--check] [--store] [GROUP]...

FOLDER has the programs of `make benches`. The groups are operations (in turns with PyTorch), products
of float64 and complex numbers (OpenBLAS), jacobians (another way to the same matrix), bfloat16 (the same
step in float32), quantized (the same model in float32) and inference (PyTorch and ONNX Runtime). Figures
are ratios of processor time on one thread. bench/marks.json has the mark of each and the ratio of the
last run that was stored; an operation without an entry there has the mark 1.5.

--quick   few, short rounds              --store   writes the ratios there
--page    writes the table into docs/inside/performance.md, if all figures were measured
--check   fails if a ratio is above its mark and more than 15 % above the stored one
"""
import argparse
import json
import os
import subprocess
import sys
import time
from statistics import median

import bench
import bench_inference
import bench_ops

MARKS = "bench/marks.json"
OPERATION = 1.5
BEGIN, END = "<!-- marks: made by make bench-marks -->\n", "<!-- end of marks -->\n"


def in_turns(sides, rounds):
    """The medians of the ratios of the first side's time to the others'."""
    turns = [[side.turn() for side in sides] for _ in range(rounds)]
    return [median(t[0] / t[i] for t in turns) for i in range(1, len(sides))]


def figures(program, table, *words):
    """What a program of bench/ has printed about one of its tables: names and medians."""
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([program, *words], capture_output=True, text=True, env=env)
    if done.returncode != 0:
        raise RuntimeError(f"{program}: {done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line["figure"]: line["median"] for line in lines if line["bench"] == table}


# Each function yields the name of a figure, its ratio and what the ratio is to.

def operations(options, _):
    functions = bench_ops.functions_of(1)
    eddy = bench_ops.Eddy(os.path.join(options.folder, "bench", "ops"), 1)
    for row in eddy.rows:
        if row["name"] in functions:
            _, _, ratio, agrees = bench_ops.compare(eddy, row, functions[row["name"]], options)
            if not agrees:
                raise RuntimeError(f"{row['name']}: the sums differ")
            yield row["name"], ratio, "PyTorch"


def products(options, _):
    gains = figures(os.path.join(options.folder, "bench", "products"),
                    "products of 64 bits over OpenBLAS", "2", "thin")
    for name, gain in gains.items():
        yield name, 1 / gain, "OpenBLAS"


def jacobians(options, kept):
    times = figures(os.path.join(options.folder, "bench", "jacobians"), "jacobians, one thread")
    for name, entry in kept.items():
        if name not in times or entry.get("to") not in times:
            raise RuntimeError(f"jacobians: no figure {name}, or none that it is compared with")
        yield name, times[name] / times[entry["to"]], entry["to"]


def bfloat16(options, kept):
    program = os.path.join(options.folder, "bench", "workloads")
    for name in dict.fromkeys(key.split(", ")[0] for key in kept):
        sides = [bench.Side([program], name, options, 1, words=words)
                 for words in (["--bfloat16"], [])]
        ratio = in_turns(sides, options.rounds)[0]
        narrow, wide = [side.end() for side in sides]
        yield name, ratio, "float32"
        yield f"{name}, memory", narrow["arena_bytes"] / wide["arena_bytes"], "float32"


def quantized(options, _):
    for name, ratio in figures(os.path.join(options.folder, "bench", "quantized"), "quantized").items():
        yield name, ratio, "float32"


def inference(options, kept):
    options.program = os.path.join(options.folder, "bench", "inference")
    programs = bench_inference.programs_in_turns(options)
    for name in dict.fromkeys(key.split(" ")[0] for key in kept):
        row = bench_inference.measure(name, 1, options, programs)
        for key, peer in (("torch", "PyTorch"), ("ort", "ONNX Runtime")):
            if key in row:
                yield f"{name} {key}", row[key]["ratio"], peer


GROUPS = dict(operations=operations, products=products, jacobians=jacobians, bfloat16=bfloat16,
              quantized=quantized, inference=inference)


# ----------------------------------------------------------------------------- marks --

def most(row):
    return row["entry"].get("at most", OPERATION if row["group"] == "operations" else None)


def listed(row):
    """Of operations, only those with a mark of their own and those above the usual one."""
    return row["group"] != "operations" or row["entry"] or row["ratio"] > OPERATION


def failed(row):
    mark, before = most(row), row["entry"].get("ratio")
    return mark and row["ratio"] > mark and not (before and row["ratio"] <= bench.WORSE * before)


def store(rows, kept):
    for row in filter(listed, rows):
        entry = kept.setdefault(row["group"], {}).setdefault(row["name"], {})
        entry["ratio"] = round(row["ratio"], 3)
    groups = [f' "{group}": {{\n' + ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}"
                                              for name, entry in entries.items()) + "\n }"
              for group, entries in kept.items()]
    with open(MARKS, "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(groups) + "\n}\n")


def printed(row):
    mark = most(row)
    return f"| {row['group']} | {row['name']} | {row['ratio']:.3g} | {mark or '-'} | {row['peer']} |"


TITLE = "| group | figure | ratio | at most | to |\n|---|---|---:|---:|---|"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder")
    p.add_argument("groups", nargs="*", metavar="GROUP")
    for flag in ("--quick", "--page", "--check", "--store"):
        p.add_argument(flag, action="store_true")
    options = p.parse_intermixed_args()
    bench.restart_with_torch()
    options.cpu, options.out = True, os.path.join(options.folder, "bench")
    options.rounds, options.slice_ms = (3, 100) if options.quick else (9, 250)
    if set(options.groups) - set(GROUPS):
        sys.exit(f"the groups are {' '.join(GROUPS)}")
    if options.page and options.groups:
        sys.exit("the page shows all groups")
    with open(MARKS, encoding="utf-8") as f:
        kept = json.load(f)
    rows, missing = [], []
    print(TITLE)
    for group in options.groups or GROUPS:
        entries = kept.get(group, {})
        try:
            for name, ratio, peer in GROUPS[group](options, entries):
                rows.append(dict(group=group, name=name, ratio=ratio, peer=peer,
                                 entry=entries.get(name, {})))
                print(printed(rows[-1]) + (" above" if failed(rows[-1]) else ""), flush=True)
        except (RuntimeError, OSError, ValueError, IndexError) as e:
            sys.exit(f"{group}: {e}")
        missing += set(entries) - {r["name"] for r in rows if r["group"] == group}
    if missing:
        print("not measured:", ", ".join(missing))
    if options.page and missing:
        print(f"{bench.PAGE} was not written, since some figures were not measured; are PyTorch, ONNX Runtime "
              "and OpenBLAS installed?", file=sys.stderr)
    elif options.page:
        text = f"\n{bench.machine()}; {time.strftime('%Y-%m-%d')}.\n\n{TITLE}\n"
        bench.write_between(bench.PAGE, BEGIN, END,
                            text + "".join(printed(r) + "\n" for r in rows if listed(r)) + "\n")
    if options.store:
        store(rows, kept)
    wrong = options.check and (missing or any(failed(r) for r in rows))
    return 1 if wrong or (options.page and missing) else 0


if __name__ == "__main__":
    sys.exit(main())
