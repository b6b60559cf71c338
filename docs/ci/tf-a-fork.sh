#!/bin/sh
# Measures a modified TF-A and the commit that it is based on under QEMU, compares
# the figures, and finds the commits and functions that changed them.
#
#   docs/ci/tf-a-fork.sh TF_A BASE [OPTIONS]
#
# TF_A is a Git checkout with its history; HEAD is the modified TF-A. It is compared
# with the newest commit that it has in common with BASE, a branch or a commit.
# OPTIONS are those of the run, the same for `cargo xtask qemu` and `ledger`, such as
# --smp and --args. Paths in them must be absolute, because this runs in psci-bench's
# directory.
#
# Exit codes: 0: no figure is worse. 1: one is, or a run did not pass. 2: bad usage,
# or something cannot be built. 3: a run, the comparison or the ledger is incomplete.
# If several apply, the highest is returned.
#
# Environment:
#   OUT        directory for the logs and the reports   [psci-bench-results]
#   TOLERANCE  largest change of a figure to ignore     [2%]
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
out=${OUT:-psci-bench-results}
mkdir -p "$out" || refuse "$out: cannot create this directory for the results"
out=$(cd "$out" && pwd)
tolerance=${TOLERANCE:-2%}
xtask=${XTASK:-cargo xtask}
# Any files left afterwards are from this run.
rm -f "$out/base.log" "$out/new.log" "$out/junit.xml" "$out"/comparison.* "$out"/ledger.* ||
    refuse "$out: cannot remove the old results"
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
cd "$(dirname "$0")/../.."

# Runs the TF-A of a commit. QEMU's instruction clock makes the figures independent
# of the CI machine.
measure() {
    name=$1
    commit=$2
    shift 2
    mkdir "$sources/$name"
    from_tf_a archive --output="$sources/$name.tar" "$commit" &&
        tar -xf "$sources/$name.tar" -C "$sources/$name" || refuse "$commit: cannot unpack it"
    code=0
    $xtask qemu --icount --tf-a "$sources/$name" --log "$out/$name.log" "$@" >/dev/null || code=$?
    if [ "$code" != 0 ]; then
        printf '%s\n' "$name.log, $commit: the run did not pass, so nothing is compared" >&2
        [ ! -s "$out/$name.log" ] ||
            $xtask report "$out/$name.log" --format junit -o "$out/junit.xml" || :
        exit "$code"
    fi
}
measure base "$base" "$@"
measure new "$head" "$@"

code=0
# Keeps the highest exit code.
keep() {
    [ "$1" -le "$code" ] || code=$1
}
compare() {
    $xtask compare "$out/base.log" "$out/new.log" --tolerance "$tolerance" \
        --format "$1" -o "$out/$2" || keep $?
}
ledger() {
    format=$1
    shift
    $xtask ledger "$base..$head" --tf-a "$tf_a" --first-parent --tolerance "$tolerance" \
        --format "$format" -o "$out/ledger.$format" "$@" || keep $?
}
compare json comparison.json
compare html comparison.html
compare md comparison.md
compare junit junit.xml
# The second call measures nothing again.
ledger json "$@"
ledger html "$@"
exit "$code"
