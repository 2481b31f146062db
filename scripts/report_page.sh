#!/bin/sh
# Opens the page of a report in headless Chromium, if it is installed, and checks that its script draws
# every section without an error.
#   sh scripts/report_page.sh PAGE SECTION...
set -eu

page=$1
shift
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
timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
    --enable-logging=stderr --virtual-time-budget=2000 --dump-dom "file://$(realpath "$page")" \
    >"$work/dom" 2>"$work/log"
bad=0
if grep 'CONSOLE' "$work/log" >&2; then bad=1; fi
for section in "$@"; do
    grep -q "<section id=\"$section\"" "$work/dom" ||
        { echo "report page: $page has no section '$section'" >&2; bad=1; }
done
[ $bad = 0 ] && echo "report page: $# sections ok"
exit $bad
