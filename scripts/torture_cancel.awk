# The slowest kind of run in the output of bench/cancel: 99 % of the stops and the longest one, in
# milliseconds of the processor, which do not count waits for a core.
/no run was stopped/ { bad = 1 }
NF > 6 && $NF ~ /^[0-9.]+$/ {
    n++
    if ($(NF - 1) > late) late = $(NF - 1)
    if ($NF > most) {
        most = $NF
        name = $1
        for (i = 2; i <= NF - 8; i++) name = name " " $i
    }
}
END {
    printf "figure: %d kinds and ways, 99 %% within %.1f ms, all within %.1f ms (%s)\n", n, late, most, name
    exit n == 0 || bad || late > 5 || most > 20
}
