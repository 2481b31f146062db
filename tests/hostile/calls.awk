# calls.awk -- generates a call of every function of the public interface with arguments drawn by
# random_arguments.c:
#   awk -f calls.awk random_arguments.h wrong.h by_hand.h not_called.txt interface.json
#
# random_arguments.h declares `draw_TYPE` for types that are drawn by hand, where TYPE is the C type
# with p for each star; wrong.h `wrong_NAME` for functions that the library calls back, by the name
# of the parameter; by_hand.h `call_NAME` for functions that need a call of their own. Everything
# else is drawn by its type: structs member by member, pointers as arrays. A function that can be
# called in none of these ways must be listed in not_called.txt, and only such a function.

function mangled(type) { gsub(/\*/, "p", type); gsub(/[^a-zA-Z_0-9]+/, "_", type); return type }
function fail(text) { print "calls.awk: " text > "/dev/stderr"; bad = 1 }

# The parts between top-level braces of a JSON list, in part[1..]; how many.
function objects_of(text, part,    n, i, c, depth, from, quoted) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (quoted) { if (c == "\\") i++; else if (c == "\"") quoted = 0; continue }
        if (c == "\"") quoted = 1
        else if (c == "{" || c == "[") { if (depth++ == 1 && c == "{") from = i }
        else if (c == "}" || c == "]") { if (--depth == 1 && c == "}") part[++n] = substr(text, from, i - from + 1) }
        if (depth == 0 && i > 1) break
    }
    return n
}
function text_of(object, key,    i) {
    i = index(object, "\"" key "\": \"")
    if (!i) return ""
    object = substr(object, i + length(key) + 5)
    return substr(object, 1, index(object, "\"") - 1)
}
function folder_of(object) { sub(/.*"header": "/, "", object); sub(/\/.*/, "", object); return object }
function sizes_of(object,    i) {
    i = index(object, "\"array\": [")
    if (!i) return ""
    object = substr(object, i + 10)
    return substr(object, 1, index(object, "]") - 1)
}

FILENAME ~ /\.h$/ {
    if (match($0, /(draw|wrong|call)_[a-zA-Z_0-9]+\(/)) by_hand[substr($0, RSTART, RLENGTH - 1)]
    next
}
FILENAME ~ /\.txt$/ { if ($0 !~ /^#/ && NF > 1) not_called[$1]; next }

/^  "[a-z]+": \[/ { section = $1; gsub(/[":]/, "", section); next }
/^    \{/ && section != "functions" { name = text_of($0, "name") }
section == "structs" && /^    \{/ {
    if (/"opaque": true/) { opaque[name] = ++n_opaque; opaque_name[n_opaque] = name }
    else if (/"alias_of"/) alias[name] = text_of($0, "alias_of")
    else struct[name]
}
section == "structs" && /^        \{/ { member[name, ++members[name]] = $0 }
section == "enums" && /^        \{/ { values[name]++ }
section == "functions" && /^    \{/ { line[++n_functions] = $0; folder[text_of($0, "name")] = folder_of($0) }
section == "macros" && /^    \{/ && (name in folder) && folder[name] != folder_of($0) {
    fail(name " is declared in " folder[name] "/ and in " folder_of($0) "/")
}

# ------------------------------------------------------------------------------- drawing
# The expression that draws a value of the type; "" if there is none.
function draws(type,    t, base) {
    t = mangled(type); sub(/^_|_$/, "", t)
    if (("draw_" t) in by_hand) return "draw_" t "()"
    sub(/^const_/, "", t)
    if (("draw_" t) in by_hand) return "draw_" t "()"
    base = type; sub(/^const /, "", base)
    if (base in alias) base = alias[base]
    if (base in values) return "(" base ")draw_enum(" values[base] ")"
    if (base in struct) return struct_drawer(base) ? "draw_" base "()" : ""
    if (base !~ /\*$/) return ""
    sub(/ ?\*$/, "", base); sub(/ ?const$/, "", base)
    if (base in opaque) return "object_any(" opaque[base] - 1 ")"
    return array_drawer(base)
}

function is_count(name, type, owner) {
    if (type !~ /^(int|int64_t|size_t)$/) return 0
    if (owner == "eddy_iterate_args" || owner == "eddy_loop_args") return 0
    if (name == "size") return type == "size_t"
    return name ~ /^(count|n|max|max_out|room|rank|n_(rules|scopes|named|metadata|metrics|state)|(in|out)put_count|data_size)$/
}
# Whether the arrays of a struct or of parameters have a count.
function counted(n, names, types, owner,    i) {
    for (i = 1; i <= n; i++) if (is_count(names[i], types[i], owner)) return 1
    return 0
}
function value_of(name, type, owner,    w) {
    if (type ~ /\(\*/) { w = "wrong_" name; return w in by_hand ? w "()" : "" }
    if (is_count(name, type, owner)) return type == "size_t" ? "draw_bytes()" : "(" type ")draw_count()"
    return draws(type)
}
# Results need enough room, whatever the count of arguments is.
function is_result(name, type, limited) {
    return type !~ /^const|^char|\(/ && type ~ /\*$/ && (!limited || name ~ /^(value|results)$/)
}

function array_drawer(base,    of, f, inner) {
    inner = base
    if (base !~ /\*/) sub(/^const /, "", inner)
    f = "array_of_" mangled(base)
    if (f in made) return made[f]
    if (inner ~ /_args$/) return made[f] = options_drawer(inner)
    of = draws(base)
    if (of == "" || base == "void") return ""
    print "static void *" f "(int n)\n{"
    print "    if (seldom(12)) return NULL;"
    print "    " inner " *a = scratch((size_t)(n > 0 ? n : 1) * sizeof *a);"
    print "    here.arrays++;"
    print "    const int arrays = here.arrays;"
    print "    for (int i = 0; a && (i == 0 || (i < n && i < 8)); i++) a[i] = " of ";"
    print "    here.arrays = arrays;"
    print "    return a;\n}\n"
    return made[f] = f "(here.entries)"
}

function options_drawer(name,    f) {
    f = "options_" name
    if (!struct_drawer(name)) return ""
    print "static const " name " *" f "(void)\n{"
    print "    if (seldom(24)) return NULL;"
    print "    const " name " a = draw_" name "();"
    print "    const size_t size = " (name in owns ? "" : "seldom(24) ? draw_size(sizeof a) : ") "sizeof a;"
    
    print "    " name " *p = scratch(size < sizeof size ? sizeof size : size < sizeof a ? size : sizeof a);"
    print "    memcpy(p, &a, size < sizeof a ? size : sizeof a);"
    print "    memcpy(p, &size, sizeof size);"
    print "    return p;\n}\n"
    return f "()"
}

# Writes draw_NAME; whether it could.
function struct_drawer(name,    n, i, names, types, arrays, sets, seen, is_args, what, pass, limited) {
    if (("struct " name) in made) return made["struct " name]
    made["struct " name] = 0                        # for a struct that contains itself
    n = members[name]; is_args = name ~ /_args$/ && text_of(member[name, 1], "name") == "size_"
    for (i = 1; i <= n; i++) {
        names[i] = text_of(member[name, i], "name"); types[i] = text_of(member[name, i], "type")
        arrays[i] = sizes_of(member[name, i])
        if (names[i] ~ /^(max|max_out|room)$/) limited = 1
    }
    for (pass = 0; pass < 2; pass++)
        for (i = 1; i <= n; i++) {
            if (names[i] ~ /_$/ || is_count(names[i], types[i], name) != pass) continue
            if (name == "eddy_attention_cache") continue    # programs do not set its members
            what = value_of(names[i], types[i], name)
            if (what == "") { why[name] = types[i] " " names[i]; return 0 }
            if (is_result(names[i], types[i], limited)) sub(/\(here\.entries\)/, "(ENOUGH)", what)
            if (is_args && types[i] == "eddy_dataset *" && sub(/^object_any/, "object_take", what)) owns[name]
            if (arrays[i] ~ /,/) { why[name] = names[i]; return 0 }
            if (arrays[i] != "")
                sets = sets "    for (int i = 0; i < " arrays[i] "; i++) a." names[i] "[i] = " what ";\n"
            else if (pass == 0 && is_args)
                sets = sets "    if (" (member[name, i] ~ /"default/ ? "draw(3) == 0" : \
                              types[i] ~ /^eddy_tensor$|eddy_list|\*$/ ? "!seldom(6)" : "draw(2)") \
                       ") a." names[i] " = " what ";\n"
            else sets = sets "    a." names[i] " = " what ";\n"
        }
    for (i = 1; i <= n && is_args; i++)
        if (names[i] !~ /_$/ && arrays[i] == "")
            seen = seen watches(name "." names[i], types[i], "a." names[i])
    print "static " name " draw_" name "(void)\n{"
    if (is_args) print "    " name " a = *EDDY_ARGS(" name ", .size_ = sizeof(" name "));"
    else print "    " name " a;\n    memset(&a, 0, sizeof a);"
    if (kept_values[name]) print "    if (n_kept_" name " > 0 && draw(8)) return kept_" name "[draw(n_kept_" name ")];"
    print "    const room outer = room_begin(" counted(n, names, types, name) ");"
    print sets seen "    room_end(outer);\n    return a;\n}\n"
    return made["struct " name] = 1
}

# ------------------------------------------------------------------------------- counting
# Counts that an argument was wrong in this way; hostile.c prints what never was.
function saw(what, condition) {
    wrong[n_wrong++] = what
    return "    SAW(" n_wrong - 1 ", " condition ");\n"
}
# Of an argument or member, the ways in which it can be wrong: NULL, a handle that was freed, a tensor of
# no graph and of another one. hostile/world.c has the same list of handles.
function watches(what, type, given,    text) {
    if (type == "eddy_tensor")
        return saw(what " of no graph", "!" given ".graph") saw(what " of another graph", "is_foreign(" given ")")
    if (type !~ /\*$|\(\*/) return ""
    text = saw(what " NULL", "!" given)
    if (type ~ /^(const )?eddy_(graph|session|optimizer|tape|callable) \*$/)
        text = text saw(what " freed", "object_is_freed(" given ")")
    return text
}

# ------------------------------------------------------------------------------- calling
# The statement that keeps or frees a result.
function kept(type, call, strings,    base) {
    base = type; sub(/^const /, "", base)
    if (type == "void") return call
    if (type == "eddy_tensor") return "tensor_keep(" call ")"
    if (type == "eddy_status") return "check_status(" call ")"
    if (type == "char *" && !strings) return "char *text = " call ";\n    text_is_whole(text);\n    eddy_string_free(text)"
    if (type ~ /char \*$/) return "text_is_whole(" call ")"
    if (type == "const eddy_array *") return "array_is_whole(" call ")"
    if (base in struct) return kept_values[base] ? "keep_" base "(" call ")" : "(void)" call
    sub(/ \*$/, "", base)
    if (type !~ /^const/ && base in opaque) return "object_keep(" opaque[base] - 1 ", " call ")"
    return "(void)" call
}
function frees(name, n, types, result,    base) {
    base = types[1]; sub(/ \*$/, "", base)
    return base in opaque && (name ~ /_free$/ && n == 1 && result == "void" || name == "eddy_events_close") ? base : ""
}
function call_of(k,    name, result, parts, n, i, names, types, given, what, order, seen, pass, strings, takes, limited, base) {
    name = text_of(line[k], "name"); result = text_of(line[k], "result")
    if (("call_" name) in by_hand) { listed(name, "call_" name, result); return }
    n = objects_of(substr(line[k], index(line[k], "\"parameters\": ") + 14), parts)
    for (i = 1; i <= n; i++) {
        names[i] = text_of(parts[i], "name"); types[i] = text_of(parts[i], "type")
        if (types[i] ~ /^(const )?char \*$/ && types[i] !~ /const/) strings = 1
        if (names[i] ~ /^(max|max_out|room)$/) limited = 1
    }
    takes = frees(name, n, types, result) != "" || result == "eddy_dataset *"
    if (line[k] ~ /"variadic": true/) { missing(name, "variadic"); return }
    for (pass = 0; pass < 2; pass++)
        for (i = 1; i <= n; i++) {
            if (is_count(names[i], types[i], name) != pass) continue
            what = value_of(names[i], types[i], name)
            if (is_result(names[i], types[i], limited)) sub(/\(here\.entries\)/, "(ENOUGH)", what)
            base = types[i]; sub(/ \*$/, "", base)
            if (takes && base in opaque) what = "object_take(" opaque[base] - 1 ")"
            if (what == "") { missing(name, types[i] " " names[i] " " why_of(types[i])); return }
            given[i] = types[i]
            if (types[i] ~ /\(\*/) { sub(/\(\*/, "(*p" i, given[i]); given[i] = given[i] " = " what }
            else given[i] = types[i] (types[i] ~ /\*$/ ? "" : " ") "p" i " = " what
            order = order "    " given[i] ";\n"
            seen = seen watches(name " " names[i], types[i], "p" i)
        }
    print "static void call_" name "(void)\n{"
    if (n > 0) print "    const room outer = room_begin(" counted(n, names, types, name) ");\n" order "    room_end(outer);\n" seen "    arguments_end();"
    what = name "("
    for (i = 1; i <= n; i++) what = what (i > 1 ? ", " : "") "p" i
    print "    " kept(result, what ")", strings) ";\n}\n"
    listed(name, "call_" name, result)
}
function why_of(type) {
    sub(/^const /, "", type); sub(/ \*$/, "", type)
    return type in why ? "(" why[type] ")" : ""
}
function listed(name, call, result) {
    if (name in not_called) fail(name " is called, and listed in not_called.txt")
    table = table "    { \"" name "\", " call ", " (result == "eddy_tensor" ? "true" : "false") " },\n"
}
function missing(name, reason) {
    if (!(name in not_called)) fail(name " is not called: " reason)
    delete not_called[name]
}

END {
    for (i = 1; i <= n_functions; i++) {
        type = text_of(line[i], "result"); base = type; sub(/^const /, "", base)
        if (base in struct && base !~ /^eddy_(tensor|list|shape)$/ && !(("draw_" base) in by_hand)) kept_values[base] = 1
    }
    for (base in kept_values) {
        print "static " base " kept_" base "[8];\nstatic int n_kept_" base ";"
        print "static void keep_" base "(" base " a) { kept_" base "[n_kept_" base " < 8 ? n_kept_" base "++ : draw(8)] = a; }"
        reset = reset "    n_kept_" base " = 0;\n"
    }
    for (i = 1; i <= n_functions; i++) {
        name = text_of(line[i], "name"); delete parts
        n = objects_of(substr(line[i], index(line[i], "\"parameters\": ") + 14), parts)
        types[1] = n > 0 ? text_of(parts[1], "type") : ""
        base = frees(name, n, types, text_of(line[i], "result"))
        if (base == "") continue
        print "static void release_" opaque[base] "(void *object) { " name "(object" (n == 2 ? ", NULL" : "") "); }"
        released[base]
    }
    print "\nstatic const object_kind object_kinds[] = {"
    for (i = 1; i <= n_opaque; i++)
        print "    { \"" opaque_name[i] "\", " (opaque_name[i] in released ? "release_" i : "NULL") " },"
    print "};\n"
    for (i = 1; i <= n_functions; i++) call_of(i)
    print "void forget_values(void)\n{\n" reset "}\n"
    print "static const struct function functions[] = {\n" table "};"
    print "static const char *const wrong_arguments[] = {"
    for (i = 0; i < n_wrong; i++) print "    \"" wrong[i] "\","
    print "};"
    exit bad
}
