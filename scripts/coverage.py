"""Prints the share of lines and branches of the library that a run of the tests reached.

    coverage.py OBJECTS [MISSING]      OBJECTS: a folder of objects that gcc --coverage compiled
                                       MISSING: a file for the lines and branches not reached

A line counts once, also if several objects or several instances of a template contain it; it is
reached if one of them reaches it. Likewise each branch of a line, by its position in the line.

`return x > 0 || fail(e, "...")` is usual in this code, where fail() always returns false. gcov has a
branch for the case that it returns true; it does not count here. Nor do branches of a line with a
comment `/* unreached: REASON */` that nothing reached; all such lines are printed.
"""
import collections
import json
import os
import re
import subprocess
import sys

FOLDERS = ("graph", "ops", "autodiff", "control", "layers", "optim", "session", "report",
           "distributed", "formats", "input")
# Where every branch must be tested: readers of files, arithmetic of sizes, the planner of memory.
CAREFUL = re.compile(r"^(formats/(?!onnx/writer|tensorboard|message|sink)|input/readers/|graph/files/|"
                     r"graph/base/(shape\.c|base\.h)|session/compile/(memory_plan|liveness)\.c|"
                     r"session/checkpoints/)")
UNREACHED = re.compile(r"/\* unreached: (.*?) \*/")
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
    # Those of files that no longer exist are from an earlier build; small_blocks is formats/region.c
    # in the torture.
    notes = [n for n in sorted(notes) if n.endswith("/small_blocks.gcno") or
             (os.path.relpath(n, objects).split("/")[0] in FOLDERS and
              os.path.exists(os.path.relpath(n, objects)[:-5] + ".c"))]
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


# ------------------------------------------------- functions that always return false

BLANKED = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
FUNCTION = re.compile(r"^(static )?(?:inline )?bool (\w+)\([^;{}]*\)\n?\s*\{(.*?)^\}|"
                      r"^(static )?(?:inline )?bool (\w+)\([^;{}]*\) \{([^\n]*)\}$", re.S | re.M)
RETURN = re.compile(r"\breturn\b([^;]*);")


def blanked(path):
    """The text of a file without comments, strings and characters; its lines stay in place."""
    with open(path, encoding="utf-8") as f:
        return BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), f.read())


def is_false(value, names):
    """Whether the value of a return statement is false or a call of one of the names."""
    value = value.strip()
    call = re.match(r"(\w+)\(", value)
    return value == "false" or (call and call[1] in names and closing(value, call.end()) == len(value))


def closing(text, at):
    """Where the parenthesis that was opened before `at` is closed."""
    depth = 1
    while at < len(text) and depth:
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return at


def failures(texts):
    """For each file, the names of its own functions and of public ones that always return false."""
    public, own = set(), {path: set() for path in texts}
    found = [(path, m[1] or m[4], m[2] or m[5], RETURN.findall(m[3] or m[6]))
             for path, text in texts.items() for m in FUNCTION.finditer(text)]
    grew = True
    while grew:
        grew = False
        for path, static, name, values in found:
            names = own[path] if static and path.endswith(".c") else public
            if values and name not in names and all(is_false(v, own[path] | public) for v in values):
                names.add(name)
                grew = True
    return {path: names | public for path, names in own.items()}


def forget_failures(lines, text, names):
    """Takes out the branch for the case that an operand returns true that always returns false. The
    operand is the last one of its condition, so its branch is the last of those not taken."""
    if not names:
        return
    operand = re.compile(r"\|\|\s*(?:%s)\(" % "|".join(sorted(names)))
    for statement in re.finditer(r"[^;{}]+", text):
        count = len(operand.findall(statement.group()))
        first = text.count("\n", 0, statement.start()) + 1
        last = first + statement.group().count("\n")
        if count == 0:
            continue
        never = [(n, i) for n in range(first, last + 1) if n in lines
                 for i, b in enumerate(lines[n].branches)
                 if i % 2 == 0 and b == 0 and lines[n].count]
        for n, i in sorted(never, reverse=True)[:count]:
            lines[n].branches[i] = None
    for line in lines.values():
        line.branches = [b for b in line.branches if b is not None]


def forget_unreached(path, lines):
    """Takes out the untaken branches of lines that say why; returns these lines."""
    with open(path, encoding="utf-8") as f:
        marked = [(n, UNREACHED.search(text)) for n, text in enumerate(f, 1)]
    marked = [(n, m[1]) for n, m in marked if m and n in lines]
    for n, _ in marked:
        lines[n].branches = [b for b in lines[n].branches if b]
    return ["%s:%d: %s" % (path, n, reason) for n, reason in marked]


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
            name, self.lines, percent(self.reached, self.lines),
            self.branches, percent(self.taken, self.branches))


def percent(part, whole):
    """Rounded down to tenths, so that 100 means all."""
    return 1000 * part // max(whole, 1) / 10


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
    texts = {path: blanked(path) for path in files if path.endswith((".c", ".h"))}
    unreached = []
    for path, names in failures(texts).items():
        forget_failures(files[path], texts[path], names)
        unreached += forget_unreached(path, files[path])
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
    if unreached:
        print("unreached, and not counted:\n" + "\n".join(sorted(unreached)))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            tell(files, out)


main()
