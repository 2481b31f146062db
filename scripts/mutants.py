"""Changes one operator at a time in the code that checks shapes, options, files and plans, and
counts the changes that the tests notice.

    mutants.py BUILD COUNT [--seed N] [--only PART]      PART: a part of the path of a file

BUILD has run-tests with its objects; $COMPILE is the command that compiles one file of the library,
$LIBRARIES what run-tests is linked with. A mutant is compiled by itself and linked before the
library. The suites beside it (tests/FOLDER for FOLDER) run until one fails; a suite that takes five
times as long as before counts as failed. A mutant with the same machine code is left out.
"""
import argparse
import glob
import os
import random
import re
import resource
import shlex
import subprocess
import sys
import time

# Files in which everything counts; in the files of ops/, functions that infer shapes count.
WHOLE = ("graph/append.c graph/attributes.c graph/infer.c graph/base/shape.c graph/base/array.c "
         "graph/files/*.c formats/*.c formats/onnx/parse*.c formats/onnx/window.c "
         "formats/tensorflow/parse*.c formats/tensorflow/table_file.c formats/tensorflow/bundle.c "
         "formats/torch/*.c formats/keras/*.c input/readers/*.c session/compile/memory_plan.c "
         "session/compile/liveness.c").split()
INFER = "ops/*/*.c"
# Suites of a folder above also run, except those that take longer than this (s).
LONGEST = 8
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+": "-", "-": "+"}
OPERATOR = re.compile(r" (<=|>=|==|!=|&&|\|\||<|>|\+|-) ")
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
REFUSAL = re.compile(r"\bif \(")


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
            yield low + m.start(1), len(m[1]), str(int(m[1]) + 1), m[1] + " -> " + str(int(m[1]) + 1)
        for m in REFUSAL.finditer(body):
            end = closing(body, m.end() - 1)
            inside = body[m.end():end]
            if re.match(r"\)\s*return", body[end:]):
                yield low + m.end(), len(inside), None, "refusal removed"


class Tests:
    def __init__(self, build):
        self.build = build
        self.tree = os.path.join(build, "tree")
        self.times = {}
        os.makedirs(self.tree + "/build", exist_ok=True)
        for name in os.listdir("."):
            if name not in ("build", ".git") and not os.path.lexists(self.tree + "/" + name):
                os.symlink(os.path.abspath(name), self.tree + "/" + name)
        for name in ("gen", "include"):
            if not os.path.lexists(self.tree + "/build/" + name):
                os.symlink(os.path.abspath("build/" + name), self.tree + "/build/" + name)

    def run(self, program, suite, limit):
        """Whether the suite passes, in a tree of its own."""
        def bounded():
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        env = dict(os.environ, CK_RUN_SUITE=suite, CK_FORK="no", CK_EXCLUDE_TAGS="slow")
        try:
            p = subprocess.run([os.path.abspath(program)], cwd=self.tree, env=env, timeout=4 * limit + 10,
                               preexec_fn=bounded, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return False
        return p.returncode == 0

    def time_of(self, suite):
        """Seconds of processor time; None if it fails or takes too long."""
        if suite not in self.times:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            passed = self.run(os.path.join(self.build, "run-tests"), suite, LONGEST)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.times[suite] = took if passed else None
        return self.times[suite]

    def beside(self, path):
        """The suites of the folder of a file, then those of the folders above; quick ones first."""
        suites, folder = [], os.path.dirname(path)
        while folder:
            here = [os.path.basename(t)[5:-2] for t in glob.glob("tests/%s/test_*.c" % folder)]
            here = [s for s in here if self.time_of(s) is not None]
            suites += sorted(here, key=self.time_of)
            folder = os.path.dirname(folder)
        return suites


def compile_one(path, source, out):
    inside = [] if path.startswith(("formats/", "input/")) else ["-DEDDY_INSIDE"]
    command = shlex.split(os.environ["COMPILE"]) + inside + [
        "-w", "-iquote", os.path.dirname(path), "-x", "c", "-c", source, "-o", out]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def code_of(path):
    return subprocess.run(["objdump", "-d", "-r", "-s", "-j", ".text", "-j", ".rodata", "--no-show-raw-insn",
                           path], stdout=subprocess.PIPE, check=False).stdout.split(b"\n", 3)[-1]


plain = {}              # the machine code of each file without a change


def try_one(tests, objects, path, change):
    """killed by which suite, "" if it survives, None if it is not a mutant."""
    at, length, to, _ = change
    source, mutant, program = (os.path.join(tests.tree, n) for n in ("mutant.c", "mutant.o", "run-mutant"))
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
    for suite in tests.beside(path):
        if not tests.run(program, suite, 5 * tests.time_of(suite) + 2):
            return suite
    return ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("count", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    a = p.parse_args()
    paths = sorted({f for g in WHOLE + [INFER] for f in glob.glob(g)})
    changes = [(f, c) for f in paths if a.only in f for c in mutations(f)]
    random.Random(a.seed).shuffle(changes)
    objects = sorted(glob.glob(a.build + "/obj/tests/main.o") +
                     [o for d in ("lib", "formats", "input", "graph", "ops", "autodiff", "control", "layers",
                                  "optim", "session")
                      for o in glob.glob(a.build + "/obj/tests/%s/**/*.o" % d, recursive=True)])
    objects = [o for o in objects if os.path.exists(o[len(a.build) + 5:-2] + ".c")]
    tests, killed, alive, start = Tests(a.build), 0, [], time.time()
    print("%d possible changes in %d files" % (len(changes), len(paths)), flush=True)
    log = open(a.build + "/mutants.txt", "w", encoding="utf-8")
    for path, change in changes:
        if killed + len(alive) == a.count:
            break
        by = try_one(tests, objects, path, change)
        if by is None:
            continue
        killed += by != ""
        with open(path, encoding="utf-8") as f:
            text = f.read()
        line = text.count("\n", 0, change[0])
        where = "%s:%d: %s: %s" % (path, line + 1, change[3], text.split("\n")[line].strip())
        print("%s: %s" % (by or "survives", where), file=log, flush=True)
        if not by:
            alive.append(path)
            print("survives: " + where, flush=True)
    n = killed + len(alive)
    print("%d mutants: %d killed (%.1f %%), %d survive; %.0f s" % (
        n, killed, 100 * killed / max(n, 1), len(alive), time.time() - start))


main()
