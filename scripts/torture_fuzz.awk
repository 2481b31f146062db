# The inputs of all formats from the output of `make fuzz`.
/number_of_executed_units/ { sum += $2; n++ }
END { printf "figure: %d inputs of %d formats\n", sum, n; exit n == 0 }
