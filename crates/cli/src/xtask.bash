
# Completes `cargo xtask` like `cargo-xtask`, and other commands of cargo as before.
_psci_bench_cargo() {
    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == xtask ]]; then
        local words=(cargo-xtask "${COMP_WORDS[@]:2}") index=$((COMP_CWORD - 1))
        local COMP_WORDS=("${words[@]}") COMP_CWORD=$index
        _cargo_xtask cargo-xtask "$2" "$3"
    elif [[ -n $_psci_bench_others ]]; then
        "$_psci_bench_others" "$@"
    fi
}

# bash-completion loads a command's completion when it is first used.
complete -p cargo &>/dev/null || _completion_loader cargo &>/dev/null
if [[ $(complete -p cargo 2>/dev/null) =~ ' -F '([^ ]+) ]] &&
    [[ ${BASH_REMATCH[1]} != _psci_bench_cargo ]]; then
    _psci_bench_others=${BASH_REMATCH[1]}
fi
complete -o bashdefault -o default -F _psci_bench_cargo cargo
