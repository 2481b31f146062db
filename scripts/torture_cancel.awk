# The slowest kind of run in the output of bench/cancel: 99 % of the cancels and the longest one, in
# milliseconds of the processor, which do not count waits for a core.
NF > 6 && $NF ~ /^[0-9.]+$/ {
    n++
    if ($(NF - 1) > late) late = $(NF - 1)
    if ($NF > most) { most = $NF; name = $1 }
}
END {
    printf "figure: %d kinds, 99 %% within %.1f ms, all within %.1f ms (%s)\n", n, late, most, name
    exit n == 0 || late > 5 || most > 20
}
