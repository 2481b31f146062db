"""Changes one operator at a time in the code that checks shapes, options, files and plans, and
counts the changes that the tests notice.

    mutants.py BUILD COUNT [--seed N] [--only PART] [--jobs N]      PART: a part of a file's path

BUILD has run-tests; $COMPILE is the command that compiles one file of the library, $OBJECTS and
$LIBRARIES are what run-tests is linked with. A mutant is compiled by itself and linked before the
library. The suites that have noticed others, those beside it (tests/FOLDER for FOLDER), then all below
the highest folder, run without their slow cases until one fails; a suite that takes five times as long
as before counts as failed. Undefined behavior ends a program, as in `make sanitize`, which runs these
suites too. A mutant with the same machine code is left out, and so is one that EQUIVALENT lists.
"""
import argparse
import concurrent.futures
import glob
import os
import queue
import random
import re
import resource
import shlex
import subprocess
import sys
import threading
import time

# Files in which everything counts; in the files of ops/, functions that infer shapes count.
WHOLE = ("graph/append.c graph/attributes.c graph/infer_types.c graph/base/shape.c graph/base/array.c "
         "graph/files/*.c formats/*.c formats/onnx/*.c formats/tensorflow/*.c "
         "formats/torch/*.c formats/keras/*.c input/readers/*.c session/compile/memory_plan.c "
         "session/compile/liveness.c "
         "session/checkpoints/*.c formats/training_report/*.c").split()
INFER = "ops/*/*.c"
# Suites that take longer than this (s) do not run.
LONGEST = 8
# Changes that provably change nothing that a caller can see.
EQUIVALENT = "tests/mutants/equivalent.txt"
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+": "-", "-": "+"}
OPERATOR = re.compile(r" (<=|>=|==|!=|&&|\|\||<|>|\+|-) ")
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
REFUSAL = re.compile(r"\bif \(")
# What is before a number that sizes a declared array, which may be larger, or that sizeof ignores.
SIZES = re.compile(r"(?:sizeof [\w.>-]+|(?:^|[;{}])\s*(?!return\b|else\b)(?:\w+\s+)+[\w\s*,\[\]]*\w)\[$")


def masked(text):
    """The text with blanks for comments, strings, characters and directives."""
    pattern = r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:[^\n\\]|\\.|\\\n)*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                  flags=re.S | re.M)


def infer_functions(code):
    """The ranges of the functions that take an eddy_infer."""
    return [m.span() for m in re.finditer(r"^\w[^;{}]*\beddy_infer \*[^;{}]*\{.*?^\}", code, re.S | re.M)]


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return -1


def mutations(path):
    """(offset, length, replacement, what) of each."""
    with open(path, encoding="utf-8") as f:
        code = masked(f.read())
    ranges = infer_functions(code) if path.startswith("ops/") else [
        m.span() for m in re.finditer(r"^\w[^;{}=]*\)\n?\s*\{.*?^\}", code, re.S | re.M)]
    for low, high in ranges:
        low = code.index("{", low)
        body = code[low:high]
        for m in OPERATOR.finditer(body):
            yield low + m.start(1), len(m[1]), SWAPS[m[1]], m[1] + " -> " + SWAPS[m[1]]
        for m in NUMBER.finditer(body):
            if SIZES.search(body, max(0, m.start() - 200), m.start()):
                continue
            yield low + m.start(1), len(m[1]), str(int(m[1]) + 1), m[1] + " -> " + str(int(m[1]) + 1)
        for m in REFUSAL.finditer(body):
            end = closing(body, m.end() - 1)
            inside = body[m.end():end]
            if re.match(r"\)\s*return", body[end:]):
                yield low + m.end(), len(inside), None, "refusal removed"


class Tests:
    """The suites of run-tests. One process runs each at a time, since some use files of fixed names."""

    def __init__(self, build):
        self.build = build
        self.folders, self.times, self.locks, self.timing = {}, {}, {}, threading.Lock()
        self.kills = {}
        for path in glob.glob("tests/**/test_*.c", recursive=True):
            suite = os.path.basename(path)[5:-2]
            self.folders[suite], self.locks[suite] = os.path.dirname(path), threading.Lock()

    def tree(self, worker):
        """A folder in which a worker runs programs: links to the files here, and its own build."""
        tree = os.path.join(self.build, "tree%d" % worker)
        os.makedirs(tree + "/build", exist_ok=True)
        for name in os.listdir("."):
            if name not in ("build", ".git") and not os.path.lexists(tree + "/" + name):
                os.symlink(os.path.abspath(name), tree + "/" + name)
        for name in ("gen", "include"):
            if not os.path.lexists(tree + "/build/" + name):
                os.symlink(os.path.abspath("build/" + name), tree + "/build/" + name)
        return tree

    def run(self, program, tree, suite, limit):
        """Whether the suite passes."""
        def bounded():
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        env = dict(os.environ, CK_RUN_SUITE=suite, CK_FORK="no", CK_EXCLUDE_TAGS="slow",
                   OPENBLAS_NUM_THREADS="1")
        with self.locks[suite], subprocess.Popen(
                [os.path.abspath(program)], cwd=tree, env=env, preexec_fn=bounded,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            try:
                return p.wait(4 * limit + 10) == 0
            except subprocess.TimeoutExpired:
                p.kill()
                return False

    def time_of(self, suite, tree):
        """How many seconds the suite takes; None if it fails or takes too long."""
        with self.timing:
            if suite not in self.times:
                start = time.time()
                passed = self.run(os.path.join(self.build, "run-tests"), tree, suite, LONGEST)
                self.times[suite] = time.time() - start if passed else None
            return self.times[suite]

    def near(self, path, tree):
        """First the suites that have noticed others, by the time that each of these took. Then those
        of the file's folder, of the folders above, and all others below the highest folder; of each
        the quick ones first."""
        folder = os.path.dirname(path)
        top = "tests/%s/" % path.split("/", maxsplit=1)[0]
        groups = [[s for s, f in self.folders.items() if self.kills.get(s) and (f + "/").startswith(top)]]
        while folder:
            groups.append([s for s, f in self.folders.items() if f == "tests/" + folder])
            folder = os.path.dirname(folder)
        groups.append([s for s, f in self.folders.items() if (f + "/").startswith(top)])
        tried = set()
        for group in groups:
            group = [s for s in group if s not in tried and self.time_of(s, tree) is not None]
            tried |= set(group)
            yield from sorted(group, key=lambda s: self.times[s] / self.kills.get(s, 1))


def compile_one(path, source, out):
    inside = [] if path.startswith(("formats/", "input/")) else ["-DEDDY_INSIDE"]
    command = shlex.split(os.environ["COMPILE"]) + inside + [
        "-w", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-iquote", os.path.dirname(path), "-x", "c", "-c", source, "-o", out]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def code_of(path):
    return subprocess.run(["objdump", "-d", "-r", "-s", "-j", ".text", "-j", ".rodata", "--no-show-raw-insn",
                           path], stdout=subprocess.PIPE, check=False).stdout.split(b"\n", 3)[-1]


plain = {}              # the machine code of each file without a change


def try_one(tests, objects, tree, path, change):
    """killed by which suite, "" if it survives, None if it is not a mutant."""
    at, length, to, _ = change
    source, mutant, program = (os.path.join(tree, n) for n in ("mutant.c", "mutant.o", "run-mutant"))
    with open(path, encoding="utf-8") as f:
        text = f.read()
    before = text[at:at + length]
    if path not in plain:
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        if not compile_one(path, source, mutant):
            sys.exit("mutants: %s does not compile" % path)
        plain[path] = code_of(mutant)
    with open(source, "w", encoding="utf-8") as f:
        f.write(text[:at] + (to if to is not None else "(%s) && 0" % before) + text[at + length:])
    if not compile_one(path, source, mutant) or code_of(mutant) == plain[path]:
        return None
    if subprocess.run(shlex.split(os.environ["LINK"]) + objects + [mutant] +
                      shlex.split(os.environ["LIBRARIES"]) + ["-o", program], check=False).returncode != 0:
        sys.exit("mutants: the mutant of %s cannot be linked" % path)
    for suite in tests.near(path, tree):
        if not tests.run(program, tree, suite, 5 * tests.times[suite] + 2):
            tests.kills[suite] = tests.kills.get(suite, 0) + 1
            return suite
    return ""


def described(path, change):
    """The line and text by which a change is known: PATH: CHANGE: LINE OF THE SOURCE."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    line = text.count("\n", 0, change[0])
    start = text.rfind("\n", 0, change[0]) + 1
    nth = text[start:change[0]].count(text[change[0]:change[0] + change[1]]) + 1
    return line + 1, "%s: %s%s: %s" % (path, change[3], " (%d)" % nth if nth > 1 else "",
                                      text.split("\n")[line].strip())


def equivalents():
    """The changes of which the list says that they change nothing; each has a reason below it."""
    with open(EQUIVALENT, encoding="utf-8") as f:
        return {l.rstrip("\n") for l in f if l.strip() and not l.startswith((" ", "#"))}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("count", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    a = p.parse_args()
    paths = sorted({f for g in WHOLE + [INFER] for f in glob.glob(g)})
    changes = [(f, c) for f in paths if a.only in f for c in mutations(f)]
    random.Random(a.seed).shuffle(changes)
    objects = os.environ["OBJECTS"].split()
    tests, equal, start = Tests(a.build), equivalents(), time.time()
    for known in sorted(equal - {described(f, c)[1] for f, c in changes} if not a.only else ()):
        print("no such change: " + known)
    print("%d possible changes in %d files" % (len(changes), len(paths)), flush=True)
    trees = queue.Queue()
    for i in range(a.jobs):
        trees.put(tests.tree(i))
    done = {"killed": 0, "alive": 0, "equal": 0}

    def one(item):
        path, change = item
        line, name = described(path, change)
        if done["killed"] + done["alive"] >= a.count:
            return
        if name in equal:
            done["equal"] += 1
            return
        tree = trees.get()
        try:
            by = try_one(tests, objects, tree, path, change)
        finally:
            trees.put(tree)
        if by is None or done["killed"] + done["alive"] >= a.count:
            return
        done["killed" if by else "alive"] += 1
        print("%s: line %d: %s" % (by or "survives", line, name), file=log, flush=True)
        if not by:
            print("survives: line %d: %s" % (line, name), flush=True)

    with open(a.build + "/mutants.txt", "w", encoding="utf-8") as log, \
            concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for _ in pool.map(one, changes):
            pass
    n = done["killed"] + done["alive"]
    print("%d mutants: %d killed (%.1f %%), %d survive; %d in %s do not count; %.0f s" % (
        n, done["killed"], 100 * done["killed"] / max(n, 1), done["alive"], done["equal"], EQUIVALENT,
        time.time() - start))


main()
