"""Changes one operator at a time in the code that checks shapes, options, files and plans, and
counts the changes that the tests notice.

    mutants.py BUILD COUNT [--seed N] [--only REGEX] [--again] [--jobs N]

REGEX selects files by their paths; --again tries what survived the last time. $COMPILE is the command
that compiles one file of the library; run-tests is linked with $OBJECTS and $LIBRARIES, the program in
which memory fails with $MEMORY instead, and $KINDS are its scenarios. One program has all changes: a
function has a copy of its body for each, and $EDDY_MUTANT chooses one. Of the suites that call the
function, without their slow cases, those that have noticed other changes in the folder run first, then
those beside it (tests/FOLDER for FOLDER), then all below the highest folder, then quick ones of other
folders, and then the scenarios, until one fails. One that takes five times as long as before counts as
failed, and undefined behavior ends a program. In the end, what has survived is compiled with the flags
$SANITIZE, linked with $SANITIZED, and tried with the first of its suites again, since most tests do not
notice by themselves that memory beyond an array is used. A survivor with the same machine code is left
out, and so is a change that EQUIVALENT lists.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import threading

# Files in which everything counts; in the files of ops/, functions that infer shapes count.
WHOLE = ("graph/append.c graph/attributes.c graph/infer_types.c graph/base/shape.c graph/base/array.c "
         "graph/files/*.c formats/*.c formats/onnx/*.c formats/tensorflow/*.c "
         "formats/torch/*.c formats/keras/*.c input/readers/*.c session/compile/memory_plan.c "
         "session/compile/liveness.c "
         "session/checkpoints/*.c formats/training_report/*.c").split()
INFER = "ops/*/*.c"
# Suites that take more seconds or bytes do not run.
LONGEST, MEMORY = 8, 8 << 30
# Suites of other folders run for a change until they have taken so many seconds; their distance is
# behind that of other suites and before that of scenarios.
ELSEWHERE, FOREIGN = 20, 75
# Of each scenario so many allocations fail (0: all), the first number for which this takes SECONDS.
FAILING, SECONDS = (4, 16, 64, 0), 0.5
# The suites that run with AddressSanitizer take as many seconds without it. They get as many times
# their time, and START seconds, since a whole program with it starts slowly.
SANITIZED, SLOWER, START = 4, 25, 10
SANITIZER_OPTIONS = "allocator_may_return_null=1:max_malloc_fill_size=65536:hard_rss_limit_mb=%d" % (MEMORY >> 20)
# Changes that provably change nothing that a caller can see; the reason is below each.
EQUIVALENT = "tests/mutants/equivalent.txt"
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&", "+": "-", "-": "+"}
OPERATOR = re.compile(r" (<=|>=|==|!=|&&|\|\||<|>|\+|-) ")
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
REFUSAL = re.compile(r"\bif \(")
# What is before a number that sizes a declared array, which may be larger, or that sizeof ignores.
SIZES = re.compile(r"(?:sizeof [\w.>-]+|(?:^|[;{}])\s*(?!return\b|else\b)(?:\w+\s+)+[\w\s*,\[\]]*\w(?:\[\])?)\[(?:\w+ [+*] )?$")

# Calls of which a number as an argument, or added there, takes memory that may be larger, too.
TAKES = re.compile(r"\b(?:malloc|calloc|realloc|eddy__region_take|eddy__parse_take|eddy__arena_alloc)$")


def masked(text):
    """The text with blanks for comments, strings, characters and directives."""
    pattern = r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:[^\n\\]|\\.|\\\n)*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def closing(code, at, pair="()"):
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == pair[0]) - (code[i] == pair[1])
        if depth == 0:
            return i
    return -1


def bodies(path, code):
    """Where each function's body begins and ends; in ops/, of functions that take an eddy_infer."""
    for m in re.finditer(r"^\w[^;{}=]*\)\s*\{", code, re.M):
        if not path.startswith("ops/") or "eddy_infer *" in m[0]:
            yield m.end() - 1, closing(code, m.end() - 1, "{}") + 1


class Change:
    """A change of one place in a function whose body begins at low and ends at high."""

    def __init__(self, path, text, body, at, length, to, what):
        self.path, self.body, self.by = path, body, ""
        low, high = body
        before = text[at:at + length]
        self.changed = text[low:at] + (to or "(%s) && 0" % before) + text[at + length:high]
        self.line = text.count("\n", 0, at) + 1
        start = text.rfind("\n", 0, at) + 1
        nth = text[start:at].count(before) + 1
        # How EQUIVALENT names it: PATH: CHANGE: LINE OF THE SOURCE.
        self.name = "%s: %s%s: %s" % (path, what, " (%d)" % nth if nth > 1 else "",
                                      text[start:].split("\n", 1)[0].strip())


def takes_more(code, at):
    """Whether a larger number there makes a call take more memory, and nothing else."""
    if not re.search(r"(?:[+*?:,] |\()$", code[at - 2:at]):
        return False
    depth = 0
    while at > 0 and code[at] not in ";{}":
        at -= 1
        depth += (code[at] == ")") - (code[at] == "(")
        if depth < 0:
            depth = 0
            if re.match(r"\w", code[at - 1]):
                return bool(TAKES.search(code[max(0, at - 40):at])) or code[at - 5:at + 3] == " take(p,"
    return False


def places(code, low, high):
    """(offset, length, replacement, what) of each change between low and high."""
    for m in OPERATOR.finditer(code, low, high):
        yield m.start(1), len(m[1]), SWAPS[m[1]], m[1] + " -> " + SWAPS[m[1]]
    for m in NUMBER.finditer(code, low, high):
        if not takes_more(code, m.start()) and not SIZES.search(code, max(low, m.start() - 200), m.start()):
            yield m.start(), len(m[0]), str(int(m[0]) + 1), "%s -> %d" % (m[0], int(m[0]) + 1)
    for m in REFUSAL.finditer(code, low, high):
        end = closing(code, m.end() - 1)
        if re.match(r"\)\s*return", code[end:end + 200]):
            yield m.end(), end - m.end(), None, "refusal removed"


def changes_of(path):
    text = read(path)
    code = masked(text)
    return [Change(path, text, body, *place) for body in bodies(path, code) for place in places(code, *body)]


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


TRAP = "-fsanitize=undefined,bounds-strict -fsanitize-undefined-trap-on-error"


def compile_errors(path, source, out, flags=TRAP):
    """What the compiler says if it cannot compile the file at path, which is changed to source."""
    pathlib.Path(out[:-1] + "c").write_text(source, encoding="utf-8")
    inside = [] if path.startswith(("formats/", "input/")) else ["-DEDDY_INSIDE"]
    p = subprocess.run(shlex.split(os.environ["COMPILE"]) + shlex.split(flags) + inside + [
        "-w", "-iquote", os.path.dirname(path), "-c", out[:-1] + "c", "-o", out], stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    return p.returncode and (p.stderr or "no reason given")


def switched(path, changes):
    """The text of the file with a copy of each function for each of its changes."""
    text, pos = read(path), 0
    out = "extern int eddy_mutant;\nextern unsigned char eddy_reached[];\n#line 1 \"%s\"\n" % path
    for low, high in sorted({c.body for c in changes}):
        mine = [c for c in changes if c.body == (low, high)]
        out += text[pos:low] + "{ eddy_reached[%d] = 1; switch (eddy_mutant) {" % mine[0].function
        for c in mine:
            out += "\n#line 1 \"mutant%d\"\ncase %d: %s break;" % (c.number, c.number, c.changed)
        out += "\n#line %d \"%s\"\ndefault: %s }}" % (text.count("\n", 0, low) + 1, path, text[low:high])
        pos = high
    return out + text[pos:]


def compile_switched(folder, path, changes, flags):
    """The object with all changes that compile; the others are taken out of the list."""
    out = os.path.join(folder, path.replace("/", "@")[:-1] + "o")
    while errors := compile_errors(path, switched(path, changes), out, flags):
        wrong = {int(n) for n in re.findall(r"^mutant(\d+):\S* error", errors, re.M)}
        if not wrong:
            sys.exit("mutants: %s does not compile: %s" % (path, errors))
        changes[:] = [c for c in changes if c.number not in wrong]
    return out


# Reads $EDDY_MUTANT, and maps the file $EDDY_REACHED, which says of a function whether it was called.
RUNTIME = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
int eddy_mutant;
unsigned char eddy_reached[%d] __attribute__((aligned(4096)));
__attribute__((constructor)) static void start(void)
{
    const char *number = getenv("EDDY_MUTANT"), *file = getenv("EDDY_REACHED");
    if (number) eddy_mutant = atoi(number);
    if (file && mmap(eddy_reached, sizeof eddy_reached, PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     open(file, O_RDWR), 0) == MAP_FAILED) abort();
}
"""


def build_programs(folder, changes, pool, programs, flags):
    """Links the programs with the changes; those that do not compile are taken out of the list."""
    by_path = {}
    for c in changes:
        by_path.setdefault(c.path, []).append(c)
    objects = list(pool.map(lambda f: compile_switched(folder, f, by_path[f], flags), by_path))
    changes[:] = [c for c in changes if c in by_path[c.path]]
    size = -(-(max((c.number for c in changes), default=0) + 1) // 4096) * 4096
    objects.append(os.path.join(folder, "runtime.o"))
    if error := compile_errors("runtime.c", RUNTIME % size, objects[-1]):
        sys.exit("mutants: " + error)
    for program, of, libraries in programs:
        # The program whose memory fails has its own formats/region.c.
        subprocess.run(shlex.split(os.environ["LINK"] + " " + flags) + os.environ[of].split() +
                       [o for o in objects if program != "memory" or not o.endswith("@region.o")] +
                       shlex.split(os.environ[libraries]) + ["-o", folder + "/" + program], check=True)
    return size


class Tests:
    """The suites. One process runs each at a time, since some use files of fixed names."""

    def __init__(self, folder, size):
        self.folder, self.size = os.path.abspath(folder), size
        self.times, self.reached, self.kills, self.most, self.sound = {}, {}, {}, {}, {}
        self.folders = {os.path.basename(f)[5:-2]: os.path.dirname(f)
                        for f in glob.glob("tests/**/test_*.c", recursive=True)}
        self.folders.update((kind, "memory") for kind in shlex.split(os.environ["KINDS"]))
        self.locks = {suite: threading.Lock() for suite in self.folders}
        # Programs run in a folder with links to the files here, and a build of its own.
        shutil.rmtree(folder + "/tree", ignore_errors=True)     # of another working tree, if the build is a copy
        os.makedirs(folder + "/tree/build")
        for name in [n for n in os.listdir(".") if n not in ("build", ".git")] + ["build/gen", "build/include"]:
            os.symlink(os.path.abspath(name), folder + "/tree/" + name)

    def run(self, suite, limit, program="run-tests", **settings):
        """Whether the suite passes, and its processor time."""
        def bounded():
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if program != "sanitized":      # it maps more than any machine has
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        env = dict(os.environ, CK_RUN_SUITE=suite, CK_FORK="no", CK_EXCLUDE_TAGS="slow",
                   OPENBLAS_NUM_THREADS="1", MALLOC_PERTURB_="165", **settings)
        arguments = [self.folder + "/" + program]
        if self.folders[suite] == "memory":
            arguments = [self.folder + "/memory", str(self.most[suite]), suite]
        with self.locks[suite], subprocess.Popen(
                arguments, cwd=self.folder + "/tree", env=env, preexec_fn=bounded,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            overdue = threading.Timer(30 * limit + 60, p.kill)      # it waits for what never comes
            overdue.start()
            _, p.returncode, usage = os.wait4(p.pid, 0)
            overdue.cancel()
            return p.returncode == 0, usage.ru_utime + usage.ru_stime

    def record(self, suite):
        """Which functions the suite calls, and how long it takes; those that take too long are not used."""
        path = pathlib.Path(self.folder, "reached " + suite)
        path.write_bytes(bytes(self.size))
        for self.most[suite] in FAILING:
            passed, self.times[suite] = self.run(suite, LONGEST, EDDY_REACHED=str(path))
            if self.folders[suite] != "memory" or self.times[suite] > SECONDS:
                break
        self.reached[suite] = path.read_bytes() if passed else bytes(self.size)
        if not passed:
            print("not used, since it fails or takes too long: %s" % suite, flush=True)

    def distance(self, suite, path):
        """How many folders above the file's tests those of the suite are."""
        folder, at = self.folders[suite], "tests/" + os.path.dirname(path)
        if folder == "memory" or folder.split("/")[1] != path.split("/")[0]:
            return 100 if folder == "memory" else FOREIGN
        return (at + "/").count("/") - folder.count("/") if (at + "/").startswith(folder + "/") else 50

    def killer(self, change):
        """The first suite that notices the change; "" if none does."""
        kills = self.kills.setdefault(os.path.dirname(change.path), {})
        suites = {s: self.distance(s, change.path) for s in self.folders}
        change.suites = sorted((s for s in suites if self.reached[s][change.function]),
                               key=lambda s: (0 if s in kills else suites[s], self.times[s] / kills.get(s, 1)))
        left = ELSEWHERE
        for suite in change.suites:
            if suites[suite] == FOREIGN and suite not in kills:
                left -= self.times[suite]
                if left < 0:
                    continue
            if not self.run(suite, 5 * self.times[suite], EDDY_MUTANT=str(change.number))[0]:
                kills[suite] = kills.get(suite, 0) + 1
                return suite
        return ""

    def sanitizer(self, change):
        """The first suite in which a sanitizer finds the change, and no error without a change."""
        left = SANITIZED
        for suite in (s for s in change.suites if self.folders[s] != "memory"):
            left -= self.times[suite]
            if left < 0:
                break
            limit = SLOWER * self.times[suite] + START
            settings = {"program": "sanitized", "ASAN_OPTIONS": SANITIZER_OPTIONS}
            if not self.run(suite, limit, EDDY_MUTANT=str(change.number), **settings)[0]:
                if suite not in self.sound:
                    self.sound[suite] = self.run(suite, limit, **settings)[0]
                if self.sound[suite]:
                    return suite
        return ""


def is_same(folder, change):
    """Whether the compiler makes the same code of the file with and without the change."""
    text, (low, high), code = read(change.path), change.body, []
    out = os.path.join(folder, "alone-%d.o" % threading.get_ident())
    for source in text, text[:low] + change.changed + text[high:]:
        compile_errors(change.path, source, out)
        code.append(subprocess.run(["objdump", "-drs", "-j", ".text", "-j", ".rodata", out], check=False,
                                   stdout=subprocess.PIPE).stdout)
    return code[0] == code[1]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--only", default="")
    p.add_argument("--again", action="store_true")
    for name, default in ("count", None), ("--seed", 1), ("--jobs", os.cpu_count()):
        p.add_argument(name, type=int, default=default)
    a = p.parse_args()
    folder = os.path.join(a.build, "mutants")
    equal = {l for l in read(EQUIVALENT).split("\n") if l.strip() and not l.startswith((" ", "#"))}
    os.makedirs(folder, exist_ok=True)
    paths = sorted({f for g in WHOLE + [INFER] for f in glob.glob(g)})
    changes = [c for f in paths for c in changes_of(f)]
    print("".join("no such change: %s\n" % n for n in sorted(equal - {c.name for c in changes})), end="")
    changes = [c for c in changes if re.search(a.only, c.path)]
    print("%d possible changes in %d files" % (len(changes), len({c.path for c in changes})), flush=True)
    if a.again:
        survived = re.findall(r"^survives: line \d+: (.*)", read(folder + "/log.txt"), re.M)
        changes = [c for c in changes if c.name in survived]
    # By hash, so that a change of the sources leaves the rest of the sample as it was.
    changes.sort(key=lambda c: hashlib.sha256(f"{a.seed} {c.name}".encode()).digest())
    known = sum(c.name in equal for c in changes)
    changes = [c for c in changes if c.name not in equal][:a.count]
    for i, c in enumerate(changes):
        c.number = i + 1
    first = {}
    for c in changes:
        c.function = first.setdefault((c.path, c.body), c.number)
    with open(folder + "/log.txt", "w", encoding="utf-8") as log, \
            concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        programs = ("run-tests", "OBJECTS", "LIBRARIES"), ("memory", "MEMORY", "LIBRARIES")
        tests = Tests(folder, build_programs(folder, changes, pool, programs, TRAP))
        list(pool.map(tests.record, tests.folders))

        def tell(change, by):
            change.by = by
            print("%s: line %d: %s" % (by, change.line, change.name), file=log, flush=True)

        def one(change):
            if by := tests.killer(change) or is_same(folder, change) and "same":
                tell(change, by)

        def again(change):
            by = tests.sanitizer(change)
            tell(change, by and by + ", sanitized" or "survives")
        list(pool.map(one, changes))
        if left := [c for c in changes if not c.by]:
            programs = ("sanitized", "SANITIZED", "SANITIZED_LIBRARIES"),
            os.makedirs(folder + "/again", exist_ok=True)
            build_programs(folder + "/again", left, pool, programs, os.environ["SANITIZE"])
            os.replace(folder + "/again/sanitized", folder + "/sanitized")
            list(pool.map(again, left))
        for c in changes:
            if not c.by:        # it does not compile with the sanitizers
                tell(c, "survives")
    for c in changes:
        if c.by == "survives":
            print("survives: line %d: %s" % (c.line, c.name))
    n = sum(c.by != "same" for c in changes)
    survive = sum(c.by == "survives" for c in changes)
    found = sum(c.by.endswith(", sanitized") for c in changes)
    print("%d mutants: %d killed (%.1f %%), %d of them with sanitizers, %d survive; %d in %s do not count; "
          "%.0f s of processor time" % (
              n, n - survive, 100 * (n - survive) / max(n, 1), found, survive, known, EQUIVALENT,
              sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])))


main()
