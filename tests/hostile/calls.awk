# calls.awk -- generates a call of each builder in the public headers, with arguments drawn by
# hostile.c.
#
# Builders with arguments that cannot be drawn (a function, a file) are omitted.

# The call that draws a value of the type; "" for other types.
function draws(type) {
    if (type == "eddy_tensor") return "draw_tensor()"
    if (type == "eddy_graph *") return "graph"
    if (type == "int64_t") return "draw_integer()"
    if (type == "int") return "(int)draw_integer()"
    if (type == "double") return "draw_real()"
    if (type == "bool") return "draw_bool()"
    if (type == "eddy_dtype") return "draw_dtype()"
    if (type == "eddy_shape") return "draw_shape()"
    if (type == "eddy_dims") return "draw_dims()"
    if (type == "eddy_list") return "draw_list()"
    if (type == "const char *") return "draw_text()"
    return ""
}

# The type of a declaration, and its names in n[1..]; how many.
function declared(text, n,    count, i) {
    gsub(/\/\*[^*]*\*\//, "", text)
    gsub(/ *EDDY_DEFAULT(_SCALAR)?\(.*\)/, "", text)
    gsub(/[ \t]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    if (!match(text, /^(const char \*|eddy_graph \*|[a-z_0-9]+ )/)) return 0
    type = substr(text, 1, RLENGTH)
    if (type !~ /\*$/) sub(/ $/, "", type)
    count = split(substr(text, RLENGTH + 1), n, ",")
    for (i = 1; i <= count; i++) gsub(/ /, "", n[i])
    return count
}

/^typedef struct eddy_[a-z_0-9]+_args \{/ { inside = $3; body = ""; next }
inside && /^\}/ { fields[inside] = body; inside = ""; next }
inside { line = $0; sub(/\/\*.*/, "", line); body = body line; next }

# A declaration may go over several lines.
/^EDDY_API eddy_tensor / { text = ""; open = 1 }
open {
    text = text " " $0
    if ($0 !~ /\);/) next
    open = 0
    match(text, /eddy_[a-z_0-9]+\(/)
    name = substr(text, RSTART, RLENGTH - 1)
    arguments = substr(text, RSTART + RLENGTH)
    sub(/\);.*/, "", arguments)
    if (name ~ /_with$/) with_struct(name, arguments)
    else plain(name, arguments)
}

function with_struct(name, arguments,    struct, parts, n, names, i, k, sets) {
    match(arguments, /eddy_[a-z0-9_]+_args/)
    struct = substr(arguments, RSTART, RLENGTH)
    if (!(struct in fields)) return
    n = split(fields[struct], parts, ";")
    for (i = 1; i <= n; i++) {
        k = declared(parts[i], names)
        for (; k > 0; k--)
            if (names[k] ~ /^[a-z_0-9]+$/ && names[k] != "size_" && draws(type) != "")
                sets = sets "    a." names[k] " = " draws(type) ";\n"
    }
    print "static eddy_tensor call_" ++calls "(void)\n{\n    " struct " a = *EDDY_ARGS(" struct ", .size_ = sizeof(" struct "));\n" sets \
          "    return " name "(&a);\n}\n"
    list = list "    { \"" name "\", call_" calls " },\n"
}

function plain(name, arguments,    parts, n, names, i, given) {
    n = split(arguments, parts, ",")
    for (i = 1; i <= n; i++) {
        if (declared(parts[i], names) != 1 || draws(type) == "" || names[1] ~ /\*/) return
        given = given (i > 1 ? ", " : "") draws(type)
    }
    print "static eddy_tensor call_" ++calls "(void)\n{\n    return " name "(" given ");\n}\n"
    list = list "    { \"" name "\", call_" calls " },\n"
}

END { print "static const struct builder builders[] = {\n" list "};" }
