#!/bin/sh
# Measures a modified TF-A and the commit that it is based on under QEMU, compares
# the figures, and finds the commits and functions that changed them. Also finds the
# commits at which a PSCI function stopped working.
#
#   tools/profiler/ci/tf-a-fork.sh TF_A BASE [OPTIONS]
#
# TF_A is a Git checkout with its history; HEAD is the modified TF-A. It is compared
# with the newest commit that it has in common with BASE, which is a branch or a
# commit. OPTIONS, such as --smp and --variant, are passed to both `cargo xtask qemu` and
# `ledger`. Paths in OPTIONS must be absolute, because this script runs in
# psci-bench's directory.
#
# Exit codes: 0: no figure is worse, and every function that worked still works.
# 1: a figure is worse, a function stopped working, or a run did not pass. 2: bad
# usage, or something cannot be built. 3: a run, the comparison or a ledger is
# incomplete. If several apply, the highest is returned.
#
# Environment:
#   OUT        directory for the logs and the reports   [psci-bench-results]
#   BOARDS     boards to run, each with a directory in OUT   [qemu qemu-sbsa]
#   ARGS       boot arguments for measuring figures     []
#   TOLERANCE  largest change in a figure to ignore     [2%]
#   XTASK      the host tool                            [cargo xtask]
set -eu

refuse() {
    printf '%s\n' "$1" >&2
    exit 2
}
[ $# -ge 2 ] || refuse "usage: $0 TF_A BASE [OPTIONS]"
tf_a=$(cd "$1" && pwd) || refuse "$1: there is no such directory"
# In a container, the checkout may belong to another user.
from_tf_a() {
    git -c safe.directory='*' -C "$tf_a" "$@"
}
head=$(from_tf_a rev-parse HEAD) || refuse "$tf_a: this is not a Git checkout"
base=$(from_tf_a merge-base "$2" HEAD) ||
    refuse "$2: it has no commit in common with HEAD; is the checkout complete?"
[ "$base" != "$head" ] || refuse "$2: it has all commits of HEAD, so there is nothing to compare"
shift 2
all=${OUT:-psci-bench-results}
mkdir -p "$all" || refuse "$all: cannot create this directory for the results"
all=$(cd "$all" && pwd)
boards=${BOARDS:-qemu qemu-sbsa}
arguments=${ARGS:-}
tolerance=${TOLERANCE:-2%}
xtask=${XTASK:-cargo xtask}
# Any files left afterwards are from this run.
for board in $boards; do
    out=$all/$board
    rm -f "$out/base.log" "$out/new.log" "$out/junit.xml" "$out"/comparison.* "$out"/ledger.* \
        "$out"/verdicts.* || refuse "$out: cannot remove the old results"
    mkdir -p "$out" || refuse "$out: cannot create this directory for the results"
done
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
cd "$(dirname "$0")/../../.."

for name in base new; do
    commit=$base
    [ "$name" = base ] || commit=$head
    mkdir "$sources/$name"
    from_tf_a archive --output="$sources/$name.tar" "$commit" &&
        tar -xf "$sources/$name.tar" -C "$sources/$name" || refuse "$commit: cannot unpack it"
done

code=0
# Keeps the highest exit code.
keep() {
    [ "$1" -le "$code" ] || code=$1
}
# Runs one of the two TF-A builds. QEMU's instruction clock makes the figures independent
# of the CI machine.
measure() {
    name=$1
    shift
    status=0
    $xtask qemu --icount --board "$board" --tf-a "$sources/$name" --args "$arguments" \
        --log "$out/$name.log" "$@" >/dev/null || status=$?
    [ "$status" != 0 ] || return 0
    printf '%s\n' "$board/$name.log: the run did not pass, so no figures are compared" >&2
    [ ! -s "$out/$name.log" ] ||
        $xtask report "$out/$name.log" --format junit -o "$out/junit.xml" || :
    keep "$status"
    return 1
}
compare() {
    $xtask compare "$out/base.log" "$out/new.log" --tolerance "$tolerance" \
        --format "$1" -o "$out/$2" || keep $?
}
ledger() {
    name=$1
    format=$2
    shift 2
    $xtask ledger "$base..$head" --tf-a "$tf_a" --first-parent --board "$board" \
        --format "$format" -o "$out/$name.$format" "$@" || keep $?
}

for board in $boards; do
    out=$all/$board
    # The second call in each pair reuses the first one's measurements.
    ledger verdicts json --verdicts "$@"
    ledger verdicts html --verdicts "$@"
    measure base "$@" && measure new "$@" || continue
    compare json comparison.json
    compare html comparison.html
    compare md comparison.md
    compare junit junit.xml
    ledger ledger json --tolerance "$tolerance" --args "$arguments" "$@"
    ledger ledger html --tolerance "$tolerance" --args "$arguments" "$@"
done
exit "$code"
