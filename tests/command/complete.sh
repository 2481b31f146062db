#!/bin/sh
# Prints how share/completions completes some lines in bash, and names shells that complete them
# otherwise, where they are installed.
set -eu
lines='eddy d;eddy help s;eddy help h;eddy help --j;eddy run --f'
completions=$(dirname "$0")/../../share/completions
export lines completions

in_bash() {
    bash -c '. "$completions/eddy.bash"
        IFS=";" read -ra all <<< "$lines"
        for line in "${all[@]}"; do
            read -ra COMP_WORDS <<< "$line"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _eddy
            printf "%s\n" "${COMPREPLY[@]}"
        done'
}
in_fish() {
    fish -c 'source $completions/eddy.fish
        for line in (string split ";" $lines); complete -C $line; end'
}
in_zsh() {      # compadd is a builtin of the line editor only
    zsh -fc 'compadd() { shift; print -l -- ${(M)@:#$words[CURRENT]*} | sort }
        for line in ${(s:;:)lines}; do
            words=(${=line})
            CURRENT=$#words
            . $completions/_eddy
        done'
}

expected=$(in_bash)
echo "$expected"
for shell in zsh fish; do
    command -v $shell >/dev/null || continue
    [ "$(in_$shell)" = "$expected" ] || echo "$shell: $(in_$shell)"
done
