# torture_bar.awk -- fails if there is no figure, or if it is less than the number with which the bar
# begins. Bars with a unit such as % or ms are for the command of the row.
#   awk -v bar='100 000 calls fail' -v figure='998666 failing calls' -f torture_bar.awk
BEGIN {
    least = 0
    if (match(bar, /^[0-9][0-9 ]* [a-z]/)) {
        least = substr(bar, 1, RLENGTH - 1)
        gsub(/ /, "", least)
    }
    exit figure == "" || figure + 0 < least + 0
}
