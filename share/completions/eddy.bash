# Completion of eddy(1) for bash: the commands, their options, and names of files.
_eddy()
{
    local word=${COMP_WORDS[COMP_CWORD]} place=$COMP_CWORD name options
    COMPREPLY=()
    while read -r name options; do
        if [ "$place" = 1 ] || { [ "$place" = 2 ] && [ "${COMP_WORDS[1]}" = help ] && [[ $word != -* ]]; }; then
            [[ $name != "$word"* ]] || COMPREPLY+=("$name")
        elif [ "${COMP_WORDS[1]}" = "$name" ] && [[ $word = -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        fi
    done < <("${COMP_WORDS[0]}" words 2>/dev/null)
}
complete -o default -F _eddy eddy
