
# Completes `cargo xtask` like `cargo-xtask`.
function __psci_bench_xtask
    set -l words (commandline -opc)
    complete -C "cargo-xtask $words[3..-1] "(commandline -ct)
end
complete -c cargo -n '__fish_seen_subcommand_from xtask' -f -a '(__psci_bench_xtask)'
