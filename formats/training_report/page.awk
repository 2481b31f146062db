# page.awk -- page.html as a table of lines in C; the lines @CSS@ and @JS@ stand for page.css and page.js,
# which are in the same folder.
function quote(line) {
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    print "    \"" line "\\n\","
}
function include(file,    line) { while ((getline line < file) > 0) quote(line) }
BEGIN {
    print "/* GENERATED from formats/training_report/page.html. */"
    print "static const char *const report_page[] = {"
}
{ folder = FILENAME; sub(/[^\/]*$/, "", folder) }
/^@CSS@$/ { include(folder "page.css"); next }
/^@JS@$/ { include(folder "page.js"); next }
{ quote($0) }
END { print "    0"; print "};" }
