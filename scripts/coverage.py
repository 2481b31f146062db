"""Prints the share of lines and branches of the library that a run of the tests reached.

    coverage.py OBJECTS [MISSING]      OBJECTS: a folder of objects that gcc --coverage compiled
                                       MISSING: a file for the lines and branches not reached

A line counts once, also if several objects or several instances of a template contain it; it is
reached if one of them reaches it. Likewise each branch of a line, by its position in the line.
"""
import collections
import json
import os
import re
import subprocess
import sys

FOLDERS = ("graph", "ops", "autodiff", "control", "layers", "optim", "session", "formats", "input")
# Where every branch must be tested: readers of files, arithmetic of sizes, the planner of memory.
CAREFUL = re.compile(r"^(formats/(?!onnx/writer|sink)|input/readers/|graph/files/|graph/base/shape|"
                     r"session/compile/(memory|place)|session/checkpoints/)")
AT_ONCE = 64


class Line:
    def __init__(self):
        self.count = 0
        self.branches = []

    def add(self, count, branches):
        self.count += count
        self.branches += [0] * (len(branches) - len(self.branches))
        for i, b in enumerate(branches):
            self.branches[i] += b["count"]


def read(objects):
    """files[path][line number] is a Line."""
    files = collections.defaultdict(lambda: collections.defaultdict(Line))
    notes = [os.path.join(d, f) for d, _, names in os.walk(objects) for f in names
             if f.endswith(".gcno")]
    notes = [n for n in sorted(notes) if os.path.relpath(n, objects).split("/")[0] in FOLDERS]
    for i in range(0, len(notes), AT_ONCE):
        text = subprocess.run(["gcov", "-b", "-j", "-t"] + notes[i:i + AT_ONCE], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for document in text.decode().splitlines():
            for f in json.loads(document)["files"] if document.startswith("{") else ():
                path = os.path.relpath(f["file"])
                if path.split("/")[0] not in FOLDERS:
                    continue
                for l in f["lines"]:
                    files[path][l["line_number"]].add(l["count"], l["branches"])
    return files


class Sum:
    def __init__(self):
        self.lines = self.reached = self.branches = self.taken = 0

    def add(self, line):
        self.lines += 1
        self.reached += line.count > 0
        self.branches += len(line.branches)
        self.taken += sum(b > 0 for b in line.branches)

    def row(self, name):
        return "%-34s %7d %6.1f %% %7d %6.1f %%" % (
            name, self.lines, 100 * self.reached / max(self.lines, 1),
            self.branches, 100 * self.taken / max(self.branches, 1))


def tell(files, out):
    for path in sorted(files):
        with open(path, encoding="utf-8") as f:
            source = f.read().split("\n")
        for n, line in sorted(files[path].items()):
            dead = [str(i) for i, b in enumerate(line.branches) if b == 0]
            if line.count and not dead:
                continue
            what = "branch %s of %d" % (",".join(dead), len(line.branches)) if line.count else "line"
            print("%s:%d: %s: %s" % (path, n, what, source[n - 1].strip()), file=out)


def main():
    files = read(sys.argv[1])
    folders, careful, total = collections.defaultdict(Sum), Sum(), Sum()
    for path in files:
        for line in files[path].values():
            folders[os.path.dirname(path)].add(line)
            total.add(line)
            if CAREFUL.match(path):
                careful.add(line)
    print("%-34s %7s %8s %7s %8s" % ("folder", "lines", "reached", "branch", "taken"))
    for name in sorted(folders):
        print(folders[name].row(name))
    print(careful.row("readers, sizes, planner"))
    print(total.row("total"))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            tell(files, out)


main()
