# declared.awk -- what the declaration of an operation says of its inputs, in words; gen.awk adds
# it to the comment of the builder of the same name, so that it is written once.
#
#   EDDY_INPUTS(...)       the element types and ranks, as the first sentence under "Errors:",
#                          unless the comment names BAD_DTYPE itself
#   UNARY(x, ...), ...     the same of a row, and its operands, unless the comment has them

# The sets of graph/op.h and of the rows, as lists: takes["EDDY_TAKES_FLOATS"].
function read_sets(file,    line, word) {
    while ((getline line < file) > 0) {
        if (line !~ /^#define (EDDY_TAKES|SET)_[A-Z_]+ /) continue
        split(line, word, " ")
        sub(/^#define [A-Z_]+ +/, "", line)
        takes[word[2]] = types_of(line)
    }
    close(file)
}
function types_of(set,    part, n, i, list) {
    gsub(/EDDY_TYPE|[() ]/, "", set)
    n = split(set, part, "|")
    for (i = 1; i <= n; i++) {
        if (part[i] in takes) list = list " " takes[part[i]]
        else if (part[i] !~ /RANK|LIKE|ANY_TYPE/) list = list " " tolower(substr(part[i], 6))
    }
    sub(/^ /, "", list)
    return list
}
function listed(list, last,    part, n, i, text) {
    n = split(list, part, " ")
    for (i = 1; i <= n; i++) text = text (i == 1 ? "" : i < n ? ", " : " " last " ") part[i]
    return text
}
function in_words(types) {
    if (types == takes["EDDY_TAKES_WIDE_NUMBERS_COMPLEX"]) return "of a numeric type other than float16 and bfloat16"
    if (types == takes["EDDY_TAKES_NUMBERS_COMPLEX"]) return "of a numeric type"
    if (types == takes["EDDY_TAKES_ALL"]) return "of any type"
    return listed(types, "or")
}
# "x is float32 or float64, and y and z are int32": inputs of which the same holds, together.
function clauses(what, n, one, many,    i, j, list, text, count, done) {
    for (i = 1; i <= n; i++) {
        if (what[i] == "" || i in done) continue
        list = ""; count = 0
        for (j = i; j <= n; j++) if (what[j] == what[i]) { list = list " " input[j]; done[j]; count++ }
        text = text (text == "" ? "" : ", and ") listed(list, "and") (count > 1 ? many : one) what[i]
    }
    return text
}
function errors_of(inputs,    row, part, n, i, type, same, rank, text, more) {
    n = split(inputs, row, "}") - 1
    for (i = 1; i <= n; i++) {
        split(row[i], part, "\"")
        input[i] = part[2]; row[i] = part[3]; sub(/^, */, "", row[i])
    }
    for (i = 1; i <= n; i++) {
        type[i] = in_words(types_of(row[i])); same[i] = rank[i] = ""
        if (match(row[i], /LIKE\([0-9]\)/)) same[i] = input[substr(row[i], RSTART + 5, 1) + 1]
        if (!match(row[i], /RANK(_FROM)?\([0-9]\)/)) continue
        rank[i] = substr(row[i], RSTART + RLENGTH - 2, 1) (row[i] ~ /RANK_FROM/ ? " or more" : "")
    }
    if (n == 2 && input[1] == input[2]) { n = 1; more = ", all of one type" }
    text = clauses(type, n, " is ", " are ") more
    more = clauses(same, n, " has the type of ", " have the type of ")
    text = text (text == "" || more == "" ? "" : ", and ") more
    if (text != "") text = "EDDY_BAD_DTYPE unless " text
    more = clauses(rank, n, " has rank ", " have rank ")
    return text (text == "" || more == "" ? "" : "; ") (more == "" ? "" : "EDDY_BAD_SHAPE unless " more)
}

# ---- comments: lines that begin with " *  ", the last without its end
function wrapped(text, hang,    part, n, i, line, all) {
    n = split(text, part, / /)
    line = " * "
    for (i = 1; i <= n; i++) {
        if (length(line) + 1 + length(part[i]) > 98) { all = all line "\n"; line = " * " hang }
        line = line " " part[i]
    }
    return all line
}
# The paragraph "Errors:" of the comment begins with `said`, which was written nowhere.
function with_errors(text, said,    has, line, n, i, own, before, after, place) {
    has = text ~ /\n \*  Errors: /
    n = split(text, line, "\n")
    for (i = 1; i <= n; i++) {
        if (place != "after" && line[i] ~ /^ \*  Errors: /) place = "errors"
        else if ((place == "errors" || !has) && line[i] ~ /^ \*  (Gradient|TensorFlow|PyTorch|NumPy)[:. ']/)
            place = "after"
        else if (place == "errors" && line[i] == " *") place = "after"
        if (place == "after") after = after "\n" line[i]
        else if (place == "errors") { sub(/^ \* +(Errors:)? */, "", line[i]); own = own " " line[i] }
        else before = before (i > 1 ? "\n" : "") line[i]
    }
    if (place == "") before = before "\n *"
    if (said ~ /BAD_SHAPE unless/ && sub(/^ EDDY_BAD_SHAPE /, " or ", own)) own = "," own
    else own = own == "" ? "." : ";" own
    return before "\n" wrapped("Errors: " said own) after
}
# The operands of a row come after its first paragraph.
function with_operands(text, kind, types,    bools, unary, operands, any, at) {
    unary = kind ~ /^UNARY/
    bools = kind ~ /TEST|COMPARISON/ || types == "bool"
    operands = in_words(types)
    any = sub(/^of (a|any) /, "any ", operands); sub(/other than/, "except", operands)
    operands = (unary ? "x  " : "a, b  ") operands
    if (!unary && types != "bool") operands = operands (any ? ", the same for both" : ", of the same type")
    operands = operands (unary ? ", any shape; y " : ", shapes that broadcast; y ")
    operands = operands (bools ? "is bool" : unary ? "has its type" : "has their type")
    at = index(text, "\n *\n")
    if (at == 0) at = length(text) + 1
    return substr(text, 1, at - 1) "\n *\n" wrapped(operands, unary ? "   " : "      ") substr(text, at)
}

# The comment of builder `name` with what its definition declares; of a row of this kind and set.
function declared(text, name, kind, set,    own) {
    sub(/ \*\/[ \t]*$/, "", text)
    own = text ~ /BAD_DTYPE|Errors, /
    if (kind != "") {
        if (text !~ /\n \*  [abxy](, [abxy])*  /) text = with_operands(text, kind, takes["SET_" set])
        if (!own && kind ~ /^UNARY/) text = with_errors(text, "EDDY_BAD_DTYPE for other element types")
        else if (!own) text = with_errors(text, "EDDY_BAD_DTYPE for other or unequal element types; " \
                                                "EDDY_BAD_SHAPE if the shapes do not broadcast")
    } else if (!own && inputs_of[name] != "") text = with_errors(text, errors_of(inputs_of[name]))
    return text " */"
}

BEGIN { read_sets("graph/op.h"); read_sets("ops/math/elementwise_rows.h"); read_sets("ops/math/bitwise.c") }
# A definition: its table of inputs, if that stands in it.
/^const eddy_op_def eddy_op_[a-z0-9_]+ *= *\{/ {
    of = $0; sub(/^const eddy_op_def eddy_op_/, "", of); sub(/ *=.*$/, "", of)
    definition = ""
}
of != "" {
    definition = definition " " $0
    if (/^\};|; *$/) {
        if (match(definition, /EDDY_INPUTS\(.*\} *\)/)) {
            inputs_of[of] = substr(definition, RSTART, RLENGTH)
            sub(/\} *\).*/, "}", inputs_of[of])
        }
        of = ""
    }
}
