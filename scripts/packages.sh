#!/bin/sh
# Installs the library into a temporary folder, builds a program in C and one in C++ against it
# with CMake, shared and static, and with pkg-config, and runs them; calls the shared library from
# Python and the program eddy with the examples; and uninstalls. Missing tools are skipped.
set -eu

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
libdir=$root/usr/lib
count=0

# pkg-config's file contains the prefix; CMake's package can be moved.
${MAKE:-make} --no-print-directory install BUILD="${BUILD:-build}" PREFIX="$root/usr" \
    LIBDIR="$libdir" >"$root/log" 2>&1 || { cat "$root/log" >&2; exit 1; }

cat >"$root/program.c" <<'END'
#include <eddy/eddy.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    const double  y = eddy_fetch_number(s, eddy_sum(eddy_floats(g, 1, 2, 3)));
    if (y != 6 || strcmp(eddy_version(), EDDY_VERSION) != 0)
        fprintf(stderr, "%g %s %s\n", y, eddy_version(), eddy_graph_message(g));
    eddy_session_free(s);
    eddy_graph_free(g);
    return y != 6;
}
END
cp "$root/program.c" "$root/program.cpp"

# The same with the readers of model files.
cat >"$root/formats.c" <<'END'
#include <eddy/formats.h>

#include <stdio.h>

int main(void)
{
    eddy_error       e = { EDDY_OK, "" };
    eddy_onnx_model *m = eddy_onnx_read_with(NULL);
    eddy_model_report *r = eddy_onnx_check("data/sine.onnx", .error = &e);
    const int        n = eddy_model_report_size(r);
    if (n != 3) fprintf(stderr, "%d nodes: %s\n", n, e.message);
    eddy_model_report_free(r);
    return n != 3 || m != NULL;
}
END

# And with pipelines and readers of data.
cat >"$root/input.c" <<'END'
#include <eddy/input.h>

#include <stdio.h>

int main(void)
{
    eddy_error        e = { EDDY_OK, "" };
    eddy_array       *a = eddy_idx_load("data/digits-labels.idx1-ubyte", NULL, &e);
    const eddy_array *one[] = { a }, *batch = NULL;
    eddy_dataset     *d = eddy_dataset_prefetch(eddy_dataset_batch(eddy_dataset_from_arrays(one, 1), 5));
    const bool        ok = eddy_dataset_next(d, &batch) && eddy_array_count(batch) == 5;
    if (!ok) fprintf(stderr, "%s %s\n", e.message, eddy_dataset_message(d));
    eddy_dataset_free(d);
    eddy_array_free(a);
    return !ok;
}
END

# And with ranks.
cat >"$root/distributed.c" <<'END'
#include <eddy/distributed.h>

#include <stdio.h>

static bool sum(eddy_communicator *c, void *context)
{
    eddy_error  e = { EDDY_OK, "" };
    eddy_array *a = eddy_array_of(EDDY_INT32, eddy_communicator_rank(c) + 1);
    const bool  ok = eddy_array_all_reduce(c, EDDY_REDUCE_SUM, a, &e) && eddy_array_item(a) == 6;
    if (!ok) fprintf(stderr, "%s\n", e.message);
    eddy_array_free(a);
    return ok && !context;
}

int main(void)
{
    return !eddy_run_threads(3, sum, NULL, NULL);
}
END

cat >"$root/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(program C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(eddy 0.1 REQUIRED)
foreach(kind eddy eddy_static)
  foreach(language c cpp)
    add_executable(${kind}-${language} program.${language})
    target_link_libraries(${kind}-${language} PRIVATE eddy::${kind})
  endforeach()
endforeach()
foreach(kind eddy_formats eddy_formats_static)
  add_executable(${kind}-c formats.c)
  target_link_libraries(${kind}-c PRIVATE eddy::${kind})
endforeach()
foreach(kind eddy_input eddy_input_static)
  add_executable(${kind}-c input.c)
  target_link_libraries(${kind}-c PRIVATE eddy::${kind})
endforeach()
foreach(kind eddy_distributed eddy_distributed_static)
  add_executable(${kind}-c distributed.c)
  target_link_libraries(${kind}-c PRIVATE eddy::${kind})
endforeach()
find_package(eddy 99 QUIET)
if(eddy_FOUND)
  message(FATAL_ERROR "a version was found that is not there")
endif()
END

with_cmake() {
    mv "$root/usr" "$root/moved"
    { cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$root/moved" \
        -DCMAKE_C_FLAGS="${CFLAGS:-}" -DCMAKE_CXX_FLAGS="${CFLAGS:-}" \
        -DCMAKE_EXE_LINKER_FLAGS="${LDFLAGS:-}" && cmake --build "$root/build"; } \
        >"$root/log" 2>&1 || { cat "$root/log" >&2; exit 1; }
    for program in eddy-c eddy-cpp eddy_static-c eddy_static-cpp eddy_formats-c eddy_formats_static-c \
        eddy_input-c eddy_input_static-c eddy_distributed-c eddy_distributed_static-c; do
        "$root/build/$program"
        count=$((count + 1))
    done
    mv "$root/moved" "$root/usr"
}

with_pkg_config() {
    export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"
    for language in c cpp; do
        compiler=${CC:-cc}
        [ $language = c ] || compiler="${CXX:-c++} -std=c++17"
        # shellcheck disable=SC2046,SC2086  # flags are words
        $compiler ${CFLAGS:-} ${LDFLAGS:-} "$root/program.$language" -o "$root/program" \
            $(pkg-config --cflags --libs eddy)
        "$root/program"
        # shellcheck disable=SC2046,SC2086
        $compiler ${CFLAGS:-} ${LDFLAGS:-} "$root/program.$language" -o "$root/program" \
            $(pkg-config --cflags --libs --static eddy | sed 's/-leddy/-l:libeddy.a/')
        "$root/program"
        count=$((count + 2))
    done
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} ${CFLAGS:-} ${LDFLAGS:-} "$root/formats.c" -o "$root/program" \
        $(pkg-config --cflags --libs eddy-formats)
    "$root/program"
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} ${CFLAGS:-} ${LDFLAGS:-} "$root/input.c" -o "$root/program" \
        $(pkg-config --cflags --libs eddy-input)
    "$root/program"
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} ${CFLAGS:-} ${LDFLAGS:-} "$root/distributed.c" -o "$root/program" \
        $(pkg-config --cflags --libs eddy-distributed)
    "$root/program"
    count=$((count + 3))
}

with_python() {
    python3 tests/examples/from_python.py "$libdir/libeddy.so"
    count=$((count + 1))
}

with_command() {
    share=$root/usr/share
    for page in docs/man/*.1; do cmp "$page" "$share/man/man1/${page##*/}"; done
    cmp share/completions/eddy.bash "$share/bash-completion/completions/eddy"
    cmp share/completions/_eddy "$share/zsh/site-functions/_eddy"
    cmp share/completions/eddy.fish "$share/fish/vendor_completions.d/eddy.fish"
    cmp share/gdb/eddy.py "$share/eddy/gdb/eddy.py"
    test -s "$share/eddy/interface.json"
    test -s "$share/doc/eddy/index.md"
    for name in digits characters; do
        "$root/usr/bin/eddy" train "$share/doc/eddy/examples/train/$name.yaml" --dry-run >"$root/log" 2>&1 ||
            { cat "$root/log" >&2; exit 1; }
    done
    test -s "$share/doc/eddy/examples/train/fashion.yaml"
    count=$((count + 1))
}

uninstalled() {
    ${MAKE:-make} --no-print-directory uninstall PREFIX="$root/usr" LIBDIR="$libdir" >"$root/log"
    left=$(find "$root/usr" ! -type d)
    [ -z "$left" ] || { printf 'packages: make uninstall leaves\n%s\n' "$left" >&2; exit 1; }
}

if command -v cmake >/dev/null; then with_cmake; else echo "packages: no cmake, skipped"; fi
if command -v pkg-config >/dev/null; then with_pkg_config
else echo "packages: no pkg-config, skipped"; fi
if command -v python3 >/dev/null; then with_python
else echo "packages: no python3, skipped"; fi
with_command
uninstalled
echo "packages: $count programs ok"
