#!/bin/sh
# Opens the page of a report in headless Chromium, if it is installed, and checks that its script draws
# every section without an error, that it is no wider than a phone, and that it can be printed. With
# Node.js, unfolds and searches its graph.
#   sh scripts/report_page.sh PAGE SECTION...
set -eu

page=$1
shift
if command -v node >/dev/null; then node tests/formats/report_graph.js "$page"
else echo "report page: its graph is not unfolded: Node.js is not installed"
fi
for browser in chromium chromium-browser google-chrome; do
    command -v "$browser" >/dev/null && break
    browser=
done
if [ -z "$browser" ]; then
    echo "report page: not opened: Chromium is not installed (Debian: chromium)"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$(realpath "$page")
cat >"$work/phone.html" <<PHONE
<iframe src="file://$page" width="360" height="640" style="border: 0"
onload="const page = this.contentDocument.documentElement;
    document.body.append('fits ' + (page.scrollWidth <= page.clientWidth))"></iframe>
PHONE
browse() {      # browse PAGE OPTION...: after its script has run
    address=file://$1
    shift
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --enable-logging=stderr --allow-file-access-from-files \
        --virtual-time-budget=2000 "$@" "$address" 2>"$work/log"
}
visit() { browse "$1" --dump-dom; }             # its elements
echo '<p>started' >"$work/empty.html"
if ! visit "$work/empty.html" | grep -q started; then
    echo "report page: not opened: $browser does not start here"
    exit 0
fi
visit "$work/phone.html" >"$work/phone"
browse "$page" --print-to-pdf="$work/page.pdf" || :
visit "$page" >"$work/dom"
bad=0
if grep 'CONSOLE' "$work/log" >&2; then bad=1; fi
grep -q 'fits true' "$work/phone" || { echo "report page: $page is wider than a phone" >&2; bad=1; }
head -c 5 "$work/page.pdf" 2>/dev/null | grep -q '%PDF-' ||
    { echo "report page: $page is not printed" >&2; bad=1; }
for section in "$@"; do
    grep -q "<section id=\"$section\"" "$work/dom" ||
        { echo "report page: $page has no section '$section'" >&2; bad=1; }
done
[ $bad = 0 ] && echo "report page: $# sections ok"
exit $bad
