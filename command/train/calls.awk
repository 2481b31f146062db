# calls.awk -- the table of calls.h, from the public interface as JSON:
#   awk -f calls.awk interface.json
#
# Takes each function of ops/, layers/ and optim/ that makes a tensor, an initializer or an
# optimizer, unless it has a parameter that a configuration cannot give.

function text_of(object, key,    i, s) {
    i = index(object, "\"" key "\": \"")
    if (!i) return ""
    s = substr(object, i + length(key) + 5)
    for (i = 1; i <= length(s); i++) {
        if (substr(s, i, 1) == "\\") { i++; continue }
        if (substr(s, i, 1) == "\"") break
    }
    return substr(s, 1, i - 1)
}
function literal(s) { return s == "" ? "NULL" : "\"" s "\"" }

/^  "[a-z]+": \[/ { section = $1; gsub(/[":]/, "", section); next }
/^    \{/ && section != "functions" { name = text_of($0, "name") }
section == "structs" && /^    \{/ && /"alias_of"/ { alias[name] = text_of($0, "alias_of") }
section == "structs" && /^        \{/ { member[name, ++members[name]] = $0 }
section == "enums" && /^        \{/ {
    value[name, ++values[name]] = text_of($0, "name")
    match($0, /"value": -?[0-9]+/)
    number[name, values[name]] = substr($0, RSTART + 9, RLENGTH - 9)
}
section == "functions" && /^    \{/ {
    header = text_of(substr($0, index($0, "\"header\"")), "header")
    if (header !~ /^(ops|layers|optim)\//) next
    what = text_of($0, "name"); result = text_of($0, "result")
    if (result ~ /^eddy_(tensor|init|optimizer \*|rnn_result|bidirectional_rnn_result)$/) {
        order[++n] = what; line[what] = $0; made[what] = result; from[what] = header
        if (/"parameters": \[\{ "name": "[a-z]+", "type": "eddy_tensor" \}\]/ && result == "eddy_tensor")
            unary[short(what)] = 1
    }
}

function kind_of(type,    base) {
    if (type == "eddy_tensor") return "TENSOR"
    if (type == "eddy_list") return "LIST"
    if (type == "int64_t") return "INT64"
    if (type == "int") return "INT"
    if (type == "double") return "DOUBLE"
    if (type == "bool") return "BOOL"
    if (type == "const char *") return "TEXT"
    if (type == "eddy_dims") return "DIMS"
    if (type == "eddy_shape") return "SHAPE"
    if (type == "eddy_dtype") return "DTYPE"
    if (type == "eddy_activation") return "ACTIVATION"
    if (type == "eddy_init") return "INITIALIZER"
    if (type == "eddy_optimizer *") return "OPTIMIZER"
    if (type == "eddy_graph *") return "GRAPH"
    if (type == "eddy_tensor *") return "UPDATE"
    if (type == "eddy_cell" || type == "eddy_regularizer") return "STRUCT"
    if (type in values) return "ENUM"
    return "OTHER"
}

function write_enum(type,    i) {
    if (type in enum_written) return
    enum_written[type]
    print "static const call_value " type "_values[] = {"
    for (i = 1; i <= values[type]; i++)
        print "    { \"" value[type, i] "\", " number[type, i] " },"
    print "    { NULL, 0 }\n};\n"
}

# The members of the struct `type`, whose rows are row[1..count].
function write_members(type, count, row, with_defaults,    i, name, kind, of, inner, body, part) {
    body = ""
    for (i = 1; i <= count; i++) {
        name = text_of(row[i], "name"); of = text_of(row[i], "type"); kind = kind_of(of)
        if (name ~ /_$/ || row[i] ~ /"array"/) continue
        inner = "NULL, NULL"
        if (kind == "ENUM") { write_enum(of); inner = "NULL, " of "_values" }
        if (kind == "STRUCT") {
            part = of in alias ? alias[of] : of
            write_struct(part)
            inner = "&" part "_struct, NULL"
        }
        if (kind == "OTHER") continue
        body = body "    { \"" name "\", MEMBER_" kind ", offsetof(" type ", " name "), " \
               literal(text_of(row[i], "default")) ",\n      " \
               literal(text_of(row[i], "comment")) ", " inner " },\n"
    }
    print "static const call_member " type "_members[] = {"
    printf "%s", body
    print "    { NULL, MEMBER_OTHER, 0, NULL, NULL, NULL, NULL }\n};"
    if (with_defaults)
        print "static void " type "_defaults(void *s) { *(" type " *)s = *EDDY_ARGS(" type ", ); }"
    print "static const call_struct " type "_struct = { sizeof(" type "), " \
          (with_defaults ? type "_defaults" : "NULL") ", " type "_members };\n"
}
function write_struct(type,    i, row) {
    if (type in struct_written) return
    struct_written[type]
    for (i = 1; i <= members[type]; i++) row[i] = member[type, i]
    write_members(type, members[type], row, text_of(row[1], "name") == "size_")
}

# The parameters of a function, in part[1..].
function parameters_of(object, part,    i, k) {
    object = substr(object, index(object, "\"parameters\": [") + 15)
    for (k = 0; substr(object, 1, 1) == "{"; object = substr(object, i + 1)) {
        i = index(object, "}")
        part[++k] = substr(object, 1, i)
        sub(/^[^{\]]*/, "", object)
        if (substr(object, i + 1, 2) == ", ") i += 2
    }
    return k
}

function short(what) { sub(/^eddy_/, "", what); sub(/_with$/, "", what); return what }
# One function; whether it could be written.
function write_call(what,    count, part, i, type, given, name, arguments, makes, activation) {
    count = parameters_of(line[what], part)
    type = text_of(part[1], "type")
    name = short(what)
    if ((what "_with") in made) return 0            # the same function without options
    if (name ~ /^(multi_optimizer|transformed_gradients|selected_updates)$/) return 0    # need values of a program
    activation = unary[name] ? "eddy_" name : "NULL"
    if (count == 1 && type ~ /_args \*$/) {
        sub(/^const /, "", type); sub(/ \*$/, "", type)
        if (type in alias) type = alias[type]
        write_struct(type)
        given = "arguments"
    } else {
        type = name "_arguments"
        arguments = ""
        for (i = 1; i <= count; i++) {
            if (kind_of(text_of(part[i], "type")) ~ /OTHER|UPDATE|ACTIVATION/) return 0
            arguments = arguments "    " text_of(part[i], "type") " " text_of(part[i], "name") ";\n"
            given = given (i > 1 ? ", " : "") "((const " type " *)arguments)->" text_of(part[i], "name")
        }
        if (count == 0) { arguments = "    int none;\n"; given = "" }
        print "typedef struct " type " {\n" arguments "} " type ";"
        write_members(type, count, part, 0)
    }
    makes = made[what] == "eddy_tensor" ? "TENSOR" : made[what] == "eddy_init" ? "INITIALIZER" : \
            made[what] ~ /\*/ ? "OPTIMIZER" : "STRUCT"
    if (makes == "STRUCT") write_struct(made[what])
    print "static void make_" name "(const void *arguments, void *result)\n{"
    if (given == "") print "    (void)arguments;"
    print "    *(" made[what] (made[what] ~ /\*$/ ? "" : " ") "*)result = " what "(" given ");\n}\n"
    row[name] = "    { \"" name "\", \"" from[what] "\", COMMENT, RESULT_" makes ", &" type \
                "_struct, " (makes == "STRUCT" ? "&" made[what] "_struct" : "NULL") ",\n      make_" name \
                ", " activation " },"
    return 1
}

END {
    print "/* GENERATED by command/train/calls.awk from the public headers. */"
    print "#include \"command/train/calls.h\"\n"
    for (i = 1; i <= n; i++) if (write_call(order[i])) {
        name = names[++rows] = short(order[i])
        comment = text_of(substr(line[order[i]], index(line[order[i]], "\"header\"")), "comment")
        sub(/COMMENT/, "@", row[name])
        about[name] = literal(comment)
    }
    for (i = 2; i <= rows; i++) {                   # insertion: they are nearly in order
        name = names[i]
        for (k = i - 1; k >= 1 && names[k] > name; k--) names[k + 1] = names[k]
        names[k + 1] = name
    }
    print "const call calls[] = {"
    for (i = 1; i <= rows; i++) {
        k = index(row[names[i]], "@")
        print substr(row[names[i]], 1, k - 1) about[names[i]] substr(row[names[i]], k + 1)
    }
    print "};\nconst int calls_count = (int)(sizeof calls / sizeof *calls);"
}
