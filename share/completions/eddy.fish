# Completion of eddy(1) for fish: the commands, their options, and names of files.
function __eddy_commands
    eddy words 2>/dev/null | string replace -r ' .*' ''
end

function __eddy_options
    set -l words (commandline -opc)
    set -q words[2]; and eddy words 2>/dev/null | string match -r "^$words[2] .*" | string split ' ' | string match -e -- --
end

complete -c eddy -n __fish_use_subcommand -f -a '(__eddy_commands)'
complete -c eddy -n '__fish_seen_subcommand_from help' -f -a '(__eddy_commands)'
complete -c eddy -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__eddy_options)'
