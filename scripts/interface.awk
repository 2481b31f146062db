# interface.awk -- the public interface as JSON, read from the public headers, for authors of
# bindings.
#   awk -f scripts/interface.awk HEADER...
#
# An object with
#   version    of the headers
#   constants  name, value (a number or a text), comment, header
#   enums      name (null where it has none), values (name, value, comment), comment, header
#   structs    name, members in their order, comment, header.  opaque: handled by pointer only;
#              alias_of: the same struct under another name
#   callbacks  types of functions: name, result, parameters, comment, header
#   functions  name, result, parameters, variadic, comment, header
#   macros     what a call in C is written with: name, parameters, the function behind it (null
#              if none) and the struct that it fills
# A member has name, type, array (sizes, where it is one), default (the text in
# EDDY_DEFAULT(...)), default_scalar (the number in EDDY_DEFAULT_SCALAR(...)), comment; where it is
# a pointer to a function, its result and parameters.
# Types are those of C on the machine at hand.  A comment is the one above the declaration, for
# all of a group without blank lines, and what stands behind it on its line.

# --- text -----------------------------------------------------------------------------------
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
function quote(s) {
    gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); gsub(/\t/, "\\t", s); gsub(/\n/, "\\n", s)
    return "\"" s "\""
}
function field(name, value) { return quote(name) ": " value }
function comment_of(s) {
    sub(/^[ \t\n]+/, "", s); sub(/[ \t\n]+$/, "", s)
    return s == "" ? "" : ", " field("comment", quote(s))
}
function add(section, object) {
    list[section] = list[section] (list[section] == "" ? "" : ",\n") "    { " object " }"
}
function fail(what) { print "interface.awk: " FILENAME ":" FNR ": " what > "/dev/stderr"; bad = 1 }
function public(name) { return name ~ /^(eddy|EDDY)_/ && name !~ /_$/ }

# The place of the parenthesis that closes the one at `from`.
function closing(s, from,    i, depth, c) {
    for (i = from; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")" && --depth == 0) return i
    }
    return length(s)
}
# The parts of s between commas that are in no parentheses.
function parts_of(s, part,    n, i, c, depth, from) {
    from = 1
    for (i = 1; i <= length(s) + 1; i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (i > length(s) || (c == "," && depth == 0)) {
            part[++n] = trim(substr(s, from, i - from))
            from = i + 1
        }
    }
    return n
}

# --- numbers: what stands in an enum or behind #define ---------------------------------------
function number(s,    value) {
    expression = s; known = 1
    value = sum_of_bits()
    if (trim(expression) != "") known = 0
    return value
}
function next_is(sign) {
    expression = trim(expression)
    if (substr(expression, 1, length(sign)) != sign) return 0
    expression = substr(expression, length(sign) + 1)
    return 1
}
# 1 << n and sums are all that the headers have besides products; no bit is set twice.
function sum_of_bits(    v) { v = shifted(); while (known && next_is("|")) v += shifted(); return v }
function shifted(    v) { v = summed(); while (known && next_is("<<")) v *= 2 ^ summed(); return v }
function summed(    v) {
    v = multiplied()
    while (known)
        if (next_is("+")) v += multiplied()
        else if (next_is("-")) v -= multiplied()
        else break
    return v
}
function multiplied(    v) { v = atom(); while (known && next_is("*")) v *= atom(); return v }
function atom(    v, name) {
    if (next_is("-")) return -atom()
    if (next_is("(")) { v = sum_of_bits(); if (!next_is(")")) known = 0; return v }
    if (match(expression, /^[0-9]+(\.[0-9]+)?(e-?[0-9]+)?/)) {
        v = substr(expression, 1, RLENGTH) + 0
        expression = substr(expression, RLENGTH + 1)
        return v
    }
    if (match(expression, /^[A-Z][A-Z_0-9]*/)) {
        name = substr(expression, 1, RLENGTH)
        expression = substr(expression, RLENGTH + 1)
        if (name in value_of) return value_of[name]
    }
    known = 0
    return 0
}

# --- declarations ----------------------------------------------------------------------------
# Reads "const eddy_tensor *at[2]" or "void (*f)(int x)" into name, type, array, result and
# parameters.
function declare(s,    i, from, inner, formal, sizes) {
    gsub(/[ \t]+/, " ", s)
    s = trim(s); array = ""; result = ""; parameters = ""
    if (match(s, /\( *\*+ *[a-z_A-Z0-9]* *\) *\(/)) {
        i = RSTART; from = RSTART + RLENGTH; inner = substr(s, i, RLENGTH)
        formal = substr(s, from, closing(s, from - 1) - from)
        result = trim(substr(s, 1, i - 1)); parameters = parameter_list(formal)
        type = result " (*)(" trim(formal) ")"
        gsub(/[^a-z_A-Z0-9]/, "", inner); name = inner
        return
    }
    while (match(s, /\[[^]]*\]$/)) {
        i = RSTART
        sizes = number(substr(s, i + 1, length(s) - i - 1))
        if (!known) fail("no number: " s)
        array = sizes (array == "" ? "" : ", " array)
        s = trim(substr(s, 1, i - 1))
    }
    name = ""; type = s
    if (s !~ /^[a-z_0-9]+$/ && match(s, /[a-zA-Z_][a-zA-Z_0-9]*$/)) {
        name = substr(s, RSTART); type = trim(substr(s, 1, RSTART - 1))
    }
}
function declared(    s) {
    s = field("name", name == "" ? "null" : quote(name)) ", " field("type", quote(type))
    if (array != "") s = s ", " field("array", "[" array "]")
    if (result != "") s = s ", " field("result", quote(result)) ", " field("parameters", "[" parameters "]")
    return s
}
# declare writes over its results, so what a list needs of them is kept by the caller.
function parameter_list(s,    n, i, part, all, outer_result, outer_parameters) {
    if (trim(s) == "void" || trim(s) == "") return ""
    n = parts_of(s, part)
    outer_result = result; outer_parameters = parameters
    for (i = 1; i <= n; i++) {
        if (part[i] == "...") continue
        declare(part[i])
        all = all (all == "" ? "" : ", ") "{ " declared() " }"
    }
    result = outer_result; parameters = outer_parameters; array = ""
    return all
}

# A tensor whose default is a number has this number, which is for the reader, and what a call
# writes to leave it out; after a default of 0 that is zeros, as for members without a default.
function default_of(macro, value) {
    if (macro !~ /SCALAR/) return ", " field("default", quote(value))
    return (value + 0 == 0 ? "" : ", " field("default", quote("EDDY_OMITTED_TENSOR"))) ", " \
           field("default_scalar", value)
}
function struct_member(s, comment,    n, i, part, given, base, from, end) {
    s = trim(s); given = ""
    if (s == "") return
    sub(/^eddy_write_eddy_scalar_ \*/, "eddy_graph *", s)
    if (match(s, /EDDY_DEFAULT(_SCALAR)?\(/)) {
        from = RSTART; end = closing(s, RSTART + RLENGTH - 1)
        given = default_of(substr(s, RSTART, RLENGTH), trim(substr(s, RSTART + RLENGTH, end - RSTART - RLENGTH)))
        s = trim(substr(s, 1, from - 1)) substr(s, end + 1)
    }
    if (given == "" && body_name ~ /_args/ && s ~ /^eddy_dims /)
        given = ", " field("default", quote("EDDY_OMITTED_DIMS"))
    n = parts_of(s, part)
    for (i = 1; i <= n; i++) {
        if (i > 1) part[i] = base " " part[i]
        declare(part[i])
        if (i == 1) { base = type; sub(/[ *]+$/, "", base) }
        items = items (items == "" ? "" : ",\n") "        { " declared() given comment_of(comment) " }"
    }
}
function enum_value(s, comment,    at, lead, i) {
    s = trim(s)
    if (s == "") return
    if (match(s, /\([A-Z_]+\)$/)) {            # a list in a macro: EDDY_STATUS_LIST(EDDY_STATUS_ENUM)
        lead = macro_text[substr(s, RSTART + 1, RLENGTH - 2)]; sub(/##.*/, "", lead)
        s = macro_text[trim(substr(s, 1, RSTART - 1))]
        while (match(s, /X\([A-Z_0-9]+/)) {
            i = RSTART + RLENGTH
            enum_value(lead substr(s, RSTART + 2, RLENGTH - 2), "")
            s = substr(s, i)
        }
        return
    }
    at = index(s, "=")
    if (at) {
        next_value = number(substr(s, at + 1))
        if (!known) fail("no number: " s)
        s = trim(substr(s, 1, at - 1))
    }
    value_of[s] = next_value
    items = items (items == "" ? "" : ",\n") "        { " field("name", quote(s)) ", " \
            field("value", next_value) comment_of(comment) " }"
    next_value++
}
function bodied(kind, name, comment) {
    add(kind, field("name", name == "" ? "null" : quote(name)) ", " field("header", quote(header)) \
        comment_of(comment) ",\n      " field(kind == "enums" ? "values" : "members", "[\n" items " ]"))
    if (kind == "structs") whole[name]
}
function opaque(name, comment) {
    waiting[++n_waiting] = name
    waiting_text[n_waiting] = field("name", quote(name)) ", " field("header", quote(header)) ", " \
                              field("opaque", "true") comment_of(comment)
}

# A whole statement outside of braces.
function statement(s, comment,    from, end, list_of, name_of, args) {
    gsub(/__attribute__ *\(\([^;]*\)\)( *$)?/, "", s)
    gsub(/[ \t]+/, " ", s); s = trim(s)
    if (s ~ / eddy_write_eddy_scalar_$/) return
    if (s ~ /^typedef (struct|enum|union)? ?eddy_[a-z0-9_]+ eddy_[a-z0-9_]+$/) {
        name_of = s; sub(/.* /, "", name_of)
        args = s; sub(/^typedef (struct )?/, "", args); sub(/ .*/, "", args)
        if (args == name_of) opaque(name_of, comment)
        else add("structs", field("name", quote(name_of)) ", " field("alias_of", quote(args)) ", " \
                 field("header", quote(header)) comment_of(comment))
        alias[name_of] = args
        return
    }
    if (s ~ /^typedef /) {
        declare(substr(s, 9))
        if (result == "") { fail("not understood: " s); return }
        add("callbacks", field("name", quote(name)) ", " field("result", quote(result)) ", " \
            field("parameters", "[" parameters "]") ", " field("header", quote(header)) comment_of(comment))
        return
    }
    if (s !~ /^EDDY_API /) return
    sub(/^EDDY_API /, "", s)
    if (match(s, /\(eddy_[a-z0-9_]+\)\(/))      # (eddy_gelu)(x): the macro of that name is not meant
        s = substr(s, 1, RSTART - 1) substr(s, RSTART + 1, RLENGTH - 3) substr(s, RSTART + RLENGTH - 1)
    from = index(s, "("); end = closing(s, from)
    if (!from) { fail("not understood: " s); return }
    args = substr(s, from + 1, end - from - 1)
    list_of = parameter_list(args)
    declare(substr(s, 1, from - 1))
    functions[name]
    first_args[name] = match(args, /eddy_[a-z0-9_]+_args/) ? substr(args, RSTART, RLENGTH) : ""
    add("functions", field("name", quote(name)) ", " field("result", quote(type)) ", " \
        field("parameters", "[" list_of "]") (args ~ /\.\.\./ ? ", " field("variadic", "true") : "") ", " \
        field("header", quote(header)) comment_of(comment))
}

# --- macros ----------------------------------------------------------------------------------
function macro(s, comment,    name, rest, formal) {
    sub(/^# *define +/, "", s)
    match(s, /^[a-zA-Z_0-9]+/); name = substr(s, 1, RLENGTH); rest = substr(s, RLENGTH + 1)
    if (rest ~ /^\(/) {
        formal = substr(rest, 2, closing(rest, 1) - 2)
        rest = trim(substr(rest, closing(rest, 1) + 1))
        macro_text[name] = rest
        if (!public(name)) return
        macros[++n_macros] = name; macro_formal[n_macros] = formal
        macro_head[n_macros] = field("header", quote(header)) comment_of(comment)
        return
    }
    rest = trim(rest)
    macro_text[name] = rest
    if (!public(name) || rest == "") return
    value_of[name] = number(rest)
    if (known) rest = value_of[name]
    else {
        delete value_of[name]
        if (rest !~ /^"[^"]*"$/) return
    }
    add("constants", field("name", quote(name)) ", " field("value", rest) ", " field("header", quote(header)) \
        comment_of(comment))
}
# Only at the end is it known which functions there are.
function print_macro(i,    text, call, struct) {
    text = macro_text[macros[i]]; call = struct = ""
    if (match(text, /eddy_[a-z0-9_]+_with *\(/)) {
        call = substr(text, RSTART, RLENGTH); sub(/ *\(/, "", call)
        if (!(call in functions)) return
        struct = first_args[call]
    } else if (match(text, /^\(\(eddy_[a-z0-9_]+\) *\{/)) {
        struct = substr(text, 3, RLENGTH - 3); sub(/\).*/, "", struct)
    } else if (match(text, /^\(\*EDDY_ARGS\(eddy_[a-z0-9_]+/)) struct = substr(text, 13, RLENGTH - 12)
    if (struct == "") return
    add("macros", field("name", quote(macros[i])) ", " field("parameters", quote(macro_formal[i])) ", " \
        field("function", call == "" ? "null" : quote(call)) ", " field("struct", quote(struct)) ", " macro_head[i])
}

# --- reading ---------------------------------------------------------------------------------
function begin_body(s) {
    gsub(/__attribute__ *\(\([^)]*\)\) */, "", s)
    body_comment = above; body_lead = ""; items = ""; next_value = 0; last_item = ""; last_comment = ""
    body = s ~ /^(typedef )?enum/ ? "enums" : "structs"
    body_name = s
    sub(/^(typedef )?(enum|struct) */, "", body_name)
}
# An item of a body waits until it is known whether a comment stands behind it.
function put_item() {
    if (last_item == "") return
    if (body == "enums") enum_value(last_item, last_comment)
    else struct_member(last_item, last_comment)
    last_item = ""; last_comment = ""
}
function end_item() {
    put_item()
    last_item = trim(text); last_comment = body_lead
    body_lead = ""; text = ""
}
function end_statement() {
    put_statement()
    last_statement = text; text = ""
    last_above = above
}
function put_statement() {
    if (last_statement != "") statement(last_statement, last_above)
    last_statement = ""
}
function character(c) {
    if (c == "{") {
        if (depth++ == 0) {
            put_statement()
            text = trim(text)
            if (text ~ /^(typedef )?(struct|enum)/) begin_body(text)
            else body = "skip"
            text = ""
            return
        }
    } else if (c == "}") {
        if (--depth == 0) {
            if (body != "skip") { end_item(); closing_of_body = 1 }
            else body = ""
            text = ""
            return
        }
    } else if (c == ";" && depth == 0) {
        if (closing_of_body) {
            put_item()
            bodied(body, trim(text) == "" ? trim(body_name) : trim(text), body_comment)
            closing_of_body = 0; body = ""; text = ""; above = ""
        } else end_statement()
        return
    } else if (depth == 1 && (c == ";" && body == "structs" || c == "," && body == "enums")) {
        end_item()
        return
    }
    text = text c
}
function code(s,    c, i) {
    if (trim(s) == "") { if (text != "") text = text " "; return }
    code_on_line = 1
    while (match(s, /[{};,]/)) {
        c = substr(s, RSTART, 1); i = RSTART
        text = text substr(s, 1, i - 1)
        character(c)
        s = substr(s, i + 1)
    }
    text = text s " "
}
# A comment, whole: of what stands before it on its line, or of what follows.
function remark(s) {
    if (depth > 0 && body == "skip") return
    if (!comment_behind) {
        if (depth > 0) body_lead = body_lead (body_lead == "" ? "" : "\n") s
        else { put_statement(); above = s }
        return
    }
    if (depth > 0) {
        if (trim(text) != "") body_lead = body_lead (body_lead == "" ? "" : "\n") s
        else last_comment = last_comment (last_comment == "" ? "" : "\n") s
    } else if (last_statement != "") last_above = last_above (last_above == "" ? "" : "\n") s
}

FNR == 1 { put_statement(); header = FILENAME; sub(prefix, "", header); off = levels = depth = 0; above = text = "" }
in_comment {
    line = $0
    if (match(line, /\*\//)) {
        comment = comment "\n" substr(line, 1, RSTART - 1)
        rest = substr(line, RSTART + 2)
        gsub(/\n[ \t]*\* ?/, "\n", comment); remark(trim(comment))
        in_comment = 0; code_on_line = 0
        $0 = rest
        if (trim($0) == "") next
    } else { comment = comment "\n" line; next }
}
/^ *#/ {
    line = $0
    while (line ~ /\\$/) { sub(/[ \t]*\\$/, " ", line); getline more; line = line trim(more) }
    if (line ~ /^ *# *if/) {
        levels++
        open[levels] = line !~ /ifdef +__cplusplus/
        if (!open[levels]) off++
    } else if (line ~ /^ *# *else/) {
        if (open[levels]) off++; else off--
        open[levels] = !open[levels]
    } else if (line ~ /^ *# *endif/) { if (!open[levels]) off--; levels-- }
    else if (!off && line ~ /^ *# *define/) {
        put_statement()
        behind = ""
        if (line !~ /_LIST\(X\)/ && match(line, /\/\*.*\*\/ *$/)) {
            behind = substr(line, RSTART + 2, RLENGTH - 4); line = substr(line, 1, RSTART - 1)
        }
        macro(line, above (behind == "" ? "" : "\n" trim(behind)))
    }
    next
}
off { next }
/^[ \t]*$/ { if (depth == 0) { put_statement(); above = "" } next }
{
    line = $0; code_on_line = 0
    while ((at = index(line, "/*")) > 0) {
        code(substr(line, 1, at - 1))
        comment_behind = code_on_line
        line = substr(line, at + 2)
        at = index(line, "*/")
        if (!at) { comment = line; in_comment = 1; next }
        remark(trim(substr(line, 1, at - 1)))
        line = substr(line, at + 2)
    }
    code(line)
}
END {
    put_statement()
    for (i = 1; i <= n_waiting; i++)
        if (!(waiting[i] in whole)) add("structs", waiting_text[i])
    for (i = 1; i <= n_macros; i++) print_macro(i)
    print "{\n  " field("version", quote(value_of["EDDY_VERSION_MAJOR"] "." value_of["EDDY_VERSION_MINOR"] "." \
                                          value_of["EDDY_VERSION_PATCH"])) ","
    n = split("constants enums structs callbacks functions macros", section, " ")
    for (i = 1; i <= n; i++) printf "  %s: [\n%s\n  ]%s\n", quote(section[i]), list[section[i]], i < n ? "," : ""
    print "}"
    exit bad
}
