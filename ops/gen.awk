# gen.awk -- reads ops/*.c and writes what would otherwise be written twice; after declared.awk.
#
#   mode=header   ops/FOLDER.h: every public builder of ops/FOLDER/*.c with the comment above it,
#                 with folder=FOLDER; #line lets a compiler name the sources of option structs
#   mode=table_h  declarations of all definitions
#   mode=table_c  the list of all definitions
#   mode=weak_ops_h declarations of them that link nothing (ops/weak_ops.h)
#   mode=weak_ops_c the list of those that a program has, NULL for the others
#   mode=docs     the reference of one folder, likewise
#   mode=index    a line for each call: its name, folder, arguments and first sentence
#                 (scripts/reference.sh makes the index of these)
#
# It looks for the following, each at the start of a line:
#   /** ... */                          the comment of what follows
#   #ifdef EDDY_HEADER ... #endif       text for the header, verbatim
#   eddy_tensor eddy_x(...)             a public builder (also void, int)
#   eddy_tensor eddy_x_with(eddy_y_args ...)  one with options: eddy_x(...) too
#   UNARY(x, ..., BINARY(x, ..., COMPARISON(x, ...  a row of ops/math/elementwise_rows.h
#   const eddy_op_def eddy_op_x = {     a definition (also ROW_DEF(x, ...)
#   /* ----- tools -- */                what follows is declared elsewhere, not a builder

function flush_file() {
    if (shown != FILENAME) {
        shown = FILENAME
        family = FILENAME; sub(/^.*\//, "", family); sub(/\.c$/, "", family)
        out("\n/* ---- " family " ---- */")
    }
}
# A line, or several, of a header.
function out(text) {
    if (mode != "header") return
    print text
    lines += 1 + gsub(/\n/, "", text)
}
# The beginning of the first sentence of the head of a file, `/* NAME.c -- ... */`.
function title_of(family,    text) {
    text = head[family]
    sub(/^[^-]*-- /, "", text); sub(/ *\*\/.*$/, "", text)
    sub(/[:;.]( .*)?$/, "", text)
    if (text !~ /^[a-z]+_/) text = toupper(substr(text, 1, 1)) substr(text, 2)
    gsub(/[*_<]/, "\\\\&", text)
    return text
}
# A section of the reference: the call with its arguments in their order, and the comment.
function print_page(i,    call) {
    call = page_call[i]
    if (page_args[i] in members) {
        sub(/eddy_[a-z0-9_]+\(.*/, "", call)
        call = call page_name[i] "(...);" members[page_args[i]]
    }
    if (of_family[i] != of_family[i - 1]) printf "\n## %s\n", title_of(of_family[i])
    printf "\n### `%s`\n\n```c\n%s\n```\n\n```text\n%s\n```\n", page_name[i], call, page_text[i]
}
function names_in(declarations, separator,    part, n, i, name, list) {
    gsub(/\/\*([^*]|\*[^\/])*\*\//, "", declarations)
    gsub(/ *EDDY_DEFAULT(_SCALAR)?\([^;]*\)/, "", declarations)
    gsub(/\[[^]]*\]|\)\([^)]*\)/, "", declarations)
    n = split(declarations, part, separator)
    for (i = 1; i <= n; i++) {
        name = part[i]
        gsub(/[ \n]+$/, "", name); gsub(/^.*[ *\n(]/, "", name)
        if (name ~ /^([a-z]|\.\.\.)/ && name != "void") list = list (list == "" ? "" : ", ") name
    }
    return list
}
function print_index(i,    text, end, list) {
    text = page_text[i]; sub(/\n\n.*/, "", text); gsub(/[ \n]+/, " ", text)
    if (match(text, /[^.][.;]( |$)/)) text = substr(text, 1, RSTART)
    list = page_call[i]; sub(/^[^(]*\(/, "", list); sub(/\);?$/, "", list)
    if (list ~ /_args/ && !(page_args[i] in members)) list = "..."
    list = page_args[i] in members ? names_in(members[page_args[i]], "[;,]") : names_in(list, ",")
    printf "%s\t%s\t%s\t%s\n", page_name[i], of_folder[i], list, text
}
function add_page(name, call, text) {
    sub(/^\/\*\*? ?/, "", text); sub(/ *\*\/ *$/, "", text); gsub(/\n \* ?/, "\n", text)
    of_family[++pages] = family; page_name[pages] = name; page_text[pages] = text
    page_call[pages] = call
    of_folder[pages] = FILENAME; sub(/\/[^\/]*$/, "", of_folder[pages]); sub(/^.*\//, "", of_folder[pages])
}
function emit(proto, name, kind, set,    text) {
    flush_file()
    if (doc == "") { printf "gen.awk: %s: no comment above %s\n", FILENAME, name > "/dev/stderr"; bad = 1 }
    short = name; sub(/^eddy_/, "", short); sub(/_with$/, "", short)
    if (doc != "") doc = declared(doc, short, kind, set)
    if (mode == "header") {
        text = doc; sub(/^\/\*\* /, "/* ", text)
        out("\n" text "\nEDDY_API " proto ";")
        if (name ~ /_with$/) {
            short = name; sub(/_with$/, "", short)
            match(proto, /eddy_[a-z0-9_]+_args/); args = substr(proto, RSTART, RLENGTH)
            out("#define " short "(...) " name "(EDDY_ARGS(" args ", __VA_ARGS__))")
        }
    }
    short = name; sub(/_with$/, "", short)
    add_page(short, proto ";", doc)
    if (name ~ /_with$/ && match(proto, /eddy_[a-z0-9_]+_args/)) page_args[pages] = substr(proto, RSTART, RLENGTH)
    doc = ""
}
FNR == 1 { doc = ""; indoc = 0; inheader = 0; tools = 0; inhead = 1; base = FILENAME; sub(/^.*\//, "", base); sub(/\.c$/, "", base) }
inhead { line = $0; sub(/^ \* ?/, "", line); head[base] = head[base] (head[base] == "" ? "" : " ") line; inhead = !/\*\/ *$/ && FNR < 4 }
/^\/\* -+ tools -- \*\/$/ { tools = 1 }
/^#ifdef EDDY_HEADER/ { inheader = 1; flush_file(); out("\n#line " FNR + 1 " \"" FILENAME "\""); next }
inheader && /^#endif/ { inheader = 0; out("#line " lines + 2 " \"ops/" folder ".h\""); next }
inheader && /^typedef struct eddy_[a-z0-9_]+_args \{/ { struct = $3; members[struct] = "" }
inheader && /^\}/ { struct = "" }
inheader && struct != "" && /^ / && !/size_t +size_ EDDY_DEFAULT/ { members[struct] = members[struct] "\n" $0 }
inheader && /^\/\* / { remark = $0 }
inheader && /^#define eddy_[a-z0-9_]+\(/ { name = $2; sub(/\(.*/, "", name); call = $0; sub(/^#define /, "", call); sub(/\).*/, ")", call); add_page(name, call, remark) }
inheader { out($0); next }
/^\/\*\* / { indoc = 1; doc = "" }
indoc { doc = doc (doc == "" ? "" : "\n") $0; if (/\*\/[ \t]*$/) indoc = 0; next }
/^(eddy_tensor|void|int|bool|eddy_list) eddy_[a-z0-9_]+\(/ {
    proto = $0
    while (proto !~ /\)/) { getline more; sub(/^[ \t]+/, " ", more); proto = proto more }
    sub(/[ \t]*\{.*$/, "", proto)
    name = proto; sub(/\(.*$/, "", name); sub(/^.* /, "", name)
    if (doc != "") emit(proto, name)
    else if (proto ~ /^eddy_tensor/ && !tools && name !~ /^eddy__/) emit(proto, name)
}
/^(UNARY(_FLAT|_TEST|_OF)?|BINARY(_FLAT)?(_OF)?|COMPARISON)\(/ {
    kind = $0; sub(/\(.*$/, "", kind)
    name = $0; sub(/^[A-Z_]+\(/, "", name); sub(/,.*$/, "", name)
    defs[++ndefs] = name
    set = $0; for (i = 0; i < 3; i++) sub(/^[^,]*, */, "", set)
    sub(/,.*$/, "", set)
    emit("eddy_tensor eddy_" name (kind ~ /^UNARY/ ? "(eddy_tensor x)" : "(eddy_tensor a, eddy_tensor b)"), "eddy_" name, kind, set)
}
/^ROW_DEF\(/ {
    name = $0; sub(/^ROW_DEF\(/, "", name); sub(/,.*$/, "", name)
    defs[++ndefs] = name
}
/^const eddy_op_def eddy_op_[a-z0-9_]+ *=/ {
    name = $0; sub(/^const eddy_op_def eddy_op_/, "", name); sub(/ *=.*$/, "", name)
    defs[++ndefs] = name
}
BEGIN {
    if (mode == "header") {
        guard = "EDDY_OPS_" toupper(folder) "_H"
        out("/* " folder ".h -- operations with their comments.  GENERATED by ops/gen.awk from the\n * .c files in ops/" (folder == "graphs" ? "" : folder "/") "; change them there, then run make. */")
        out("#ifndef " guard "\n#define " guard "\n\n#include \"../graph/graph.h\"\n#include \"../graph/op.h\"\n")
        out("#ifdef __cplusplus\nextern \"C\" {\n#endif")
    }
    if (mode == "docs") print "# Operations: " folder "\n\nGenerated from the comments in `ops/`.\n\nThe arguments of a call `eddy_NAME(...)` are the members of the struct below it: the first ones may be given\nby position, all by name, as in `eddy_sum(x, .keepdims = true)`. An omitted argument has the value in its\n`EDDY_DEFAULT`, or 0. Lists are written with a macro: `EDDY_AXES(1)`, `EDDY_DIMS(2, 2)`. Index of all folders: [index.md](index.md)."
    if (mode ~ /^(table|linked)/) print "/* GENERATED by ops/gen.awk. */"
    if (mode == "table_h") print "#ifndef EDDY_TABLE_H\n#define EDDY_TABLE_H\n#include \"graph/op.h\"\n"
    if (mode == "table_c") print "#include \"build/gen/table.h\"\n"
    if (mode == "weak_ops_c") print "#include \"ops/weak_ops.h\"\n"
}
END {
    if (mode == "docs") for (i = 1; i <= pages; i++) print_page(i)
    if (mode == "index") for (i = 1; i <= pages; i++) print_index(i)
    out("\n#ifdef __cplusplus\n}\n#endif\n#endif")
    if (mode == "table_h") {
        for (i = 1; i <= ndefs; i++) printf "extern const eddy_op_def eddy_op_%s;\n", defs[i]
        print "\n/* All of them, ended by NULL. */\nextern const eddy_op_def *const eddy_op_table[];\n\n#endif"
    }
    if (mode == "table_c") {
        print "const eddy_op_def *const eddy_op_table[] = {"
        for (i = 1; i <= ndefs; i++) printf "    &eddy_op_%s,\n", defs[i]
        print "    NULL\n};"
    }
    if (mode == "weak_ops_h")
        for (i = 1; i <= ndefs; i++) printf "extern const eddy_op_def eddy_op_%s EDDY_WEAK;\n", defs[i]
    if (mode == "weak_ops_c") {
        print "const eddy_op_def *const eddy__linked_ops[] = {"
        for (i = 1; i <= ndefs; i++) printf "    &eddy_op_%s,\n", defs[i]
        print "};\nconst int eddy__linked_op_count = sizeof eddy__linked_ops / sizeof *eddy__linked_ops;"
    }
    exit bad
}
